//! `reticent budget`, and the budget of other commands: flags → request of the curator → output.
//!
//! | file | step |
//! |---|---|
//! | `paying` | verbs with `--budget` |
//! | `render` | text and JSON of `reticent budget` |

mod paying;
mod render;

pub(crate) use paying::{answered, charged, foreseen, json, lines};

use crate::args::budget::Question;
use crate::fail::Fail;
use crate::read;
use crate::typed::Typed;
use crate::{MISTAKE, Output};
use reticent::core::Neighboring;
use reticent::curator::budget::{
    AddData, AllotBudget, BudgetHistory, CloseBudget, CreateBudget, DrawSpending, ExportBudget, ShowBudget,
    VerifyBudget,
};
use reticent::curator::{Planned, Request, Session, quantity};

/// Fields that are checked before the neighboring relation is read.
const BEFORE_RELATION: &[&str] = &["epsilon", "delta"];

/// Runs one of its commands.
pub(crate) fn run(question: &Question) -> Result<Output, Fail> {
    let stdout = match question {
        Question::Create(given) => {
            let mut typed = Typed::default();
            let relation =
                typed.chosen("neighboring", quantity::neighboring(&given.neighboring), BEFORE_RELATION);
            let request = CreateBudget {
                file: given.file.clone(),
                name: given.name.clone(),
                epsilon: typed.number("epsilon", &given.epsilon),
                delta: typed.optional("delta", given.delta.as_deref()),
                unit: given.unit.clone(),
                neighboring: relation.unwrap_or(Neighboring::AddRemove),
                data: given.data.clone(),
                reading: given.dialect.reading(),
                valid_until: given.valid_until.clone(),
            };
            let planned = typed.checked(request.check())?;
            render::changed(&planned.run(&mut Session::without_limit()?)?, given.json)?
        }
        Question::Show(given) => render::shown(&done(&ShowBudget { file: given.file.clone() })?, given.json)?,
        Question::History(given) => {
            let last = given.last.as_deref().map(|text| read::whole("--last", text, u64::MAX)).transpose()?;
            let (file, analyst, purpose) = (given.file.clone(), given.analyst.clone(), given.purpose.clone());
            render::history(&done(&BudgetHistory { file, analyst, purpose, last })?, given.json)?
        }
        Question::AddData(given) => {
            let (file, data) = (given.file.clone(), given.data.clone());
            let request = AddData { file, data, reading: given.dialect.reading() };
            render::changed(&done(&request)?, given.json)?
        }
        Question::Allot(given) => {
            let mut typed = Typed::default();
            let request = AllotBudget {
                file: given.file.clone(),
                analyst: given.analyst.clone(),
                purpose: given.purpose.clone(),
                epsilon: typed.number("epsilon", &given.epsilon),
                delta: typed.optional("delta", given.delta.as_deref()),
                valid_until: given.valid_until.clone(),
            };
            let planned = typed.checked(request.check())?;
            render::changed(&planned.run(&mut Session::without_limit()?)?, given.json)?
        }
        Question::Close(given) => {
            let request = CloseBudget { file: given.file.clone(), reason: given.reason.clone() };
            render::changed(&done(&request)?, given.json)?
        }
        Question::Verify(given) => {
            let verified = done(&VerifyBudget { file: given.file.clone() })?;
            let status = if verified.problems.is_empty() { 0 } else { MISTAKE };
            let stdout = render::verified(&verified, given.json)?;
            return Ok(Output { stdout, status, ..Output::default() });
        }
        Question::Export(given) => {
            let request = ExportBudget { file: given.file.clone(), out: given.out.clone() };
            render::exported(&done(&request)?, given.json)?
        }
        Question::Page(given) => {
            let request = DrawSpending { file: given.file.clone(), out: given.out.clone() };
            render::drawn(&done(&request)?, given.json)?
        }
    };
    Ok(Output { stdout, ..Output::default() })
}

fn done<R: Request>(request: &R) -> Result<<R::Planned as Planned>::Outcome, Fail> {
    Ok(request.check()?.run(&mut Session::without_limit()?)?)
}
