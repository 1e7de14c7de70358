//! `reticent explain`: what the code of an error means and how to fix it. The explanations are those of [`Code::explanation`]; the
//! examples are here: a command that is refused with the code, and a corrected one.
//!
//! | module | examples of |
//! |---|---|
//! | `command` | R1xx: the command line |
//! | `value` | R2xx: values |
//! | `file` | R3xx: files and tables |
//! | `guarantee` | R4xx: limits of guarantees |
//! | `model` | R5xx: stored models and runs |
//! | `audit` | R6xx: audits |
//! | `budget` | R7xx: stored budgets, and R405 |

mod audit;
mod budget;
mod command;
mod file;
mod guarantee;
mod model;
mod render;
mod value;

pub(crate) use reticent::core::Code;

use crate::Output;
use crate::args::Explain;
use crate::fail::Fail;

/// A command that is refused with the code, and one that is not.
struct Example {
    /// Files of the example by name, besides those that all examples share.
    files: &'static [(&'static str, &'static str)],
    wrong: &'static str,
    mended: &'static str,
}

/// How a command can end.
const STATUSES: [(u8, &str); 5] = [
    (0, "success"),
    (crate::MISTAKE, "refused: one error with a code on standard error, nothing on standard output"),
    (crate::DEFECT, "internal error: a defect of the program"),
    (crate::INTERRUPTED, "interrupted by Ctrl-C"),
    (crate::BROKEN_PIPE, "the reader of standard output closed it early"),
];

/// A command line that is refused with the code, and one that is not; none where no command line causes it by itself.
fn example(code: Code) -> Option<Example> {
    Some(match code {
        Code::UnknownWord => command::UNKNOWN_WORD,
        Code::Missing => command::MISSING,
        Code::Conflict => command::CONFLICT,
        Code::Words => command::WORDS,
        Code::Unexplained => command::UNEXPLAINED,
        Code::Range => value::RANGE,
        Code::NotANumber => value::NOT_A_NUMBER,
        Code::UnknownName => value::UNKNOWN_NAME,
        Code::Bounds => value::BOUNDS,
        Code::List => value::LIST,
        Code::Filter => value::FILTER,
        Code::Useless => value::USELESS,
        Code::NotFound => file::NOT_FOUND,
        Code::Unreadable => file::UNREADABLE,
        Code::Unwritable => file::UNWRITABLE,
        Code::Taken => file::TAKEN,
        Code::Format => file::FORMAT,
        Code::Column => file::COLUMN,
        Code::Row => file::ROW,
        Code::NoRows => file::NO_ROWS,
        Code::Type => file::TYPE,
        Code::Dataset => file::DATASET,
        Code::TomlSyntax => file::TOML_SYNTAX,
        Code::TomlValue => file::TOML_VALUE,
        Code::TomlKey => file::TOML_KEY,
        Code::Json => file::JSON,
        Code::Schema => file::SCHEMA,
        Code::Vocabulary => file::VOCABULARY,
        Code::TooLarge => file::TOO_LARGE,
        Code::Layer => file::LAYER,
        Code::Unsupported => guarantee::UNSUPPORTED,
        Code::Relation => guarantee::RELATION,
        Code::Kind => guarantee::KIND,
        Code::Unreachable => guarantee::UNREACHABLE,
        Code::NoModel => model::NO_MODEL,
        Code::Broken => model::BROKEN,
        Code::Changed => model::CHANGED,
        Code::Misfit => model::MISFIT,
        Code::NotMeasurable => audit::NOT_MEASURABLE,
        Code::Premise => audit::PREMISE,
        Code::References => audit::REFERENCES,
        Code::NoAudit => audit::NO_AUDIT,
        Code::Scores => audit::SCORES,
        Code::Spent => budget::SPENT,
        Code::BudgetClosed => budget::CLOSED,
        Code::SubBudget => budget::SUB_BUDGET,
        Code::OtherData => budget::OTHER_DATA,
        Code::NotConverged
        | Code::BudgetAltered
        | Code::BudgetBusy
        | Code::Internal
        | Code::Entropy
        | Code::Thread
        | Code::Device
        | Code::Output => {
            return None;
        }
    })
}

/// One code, or all of them.
pub(crate) fn run(arguments: &Explain) -> Result<Output, Fail> {
    if arguments.markdown {
        return Ok(Output { stdout: render::markdown(), ..Output::default() });
    }
    let stdout = match &arguments.code {
        None if arguments.json => render::json_list()?,
        None => render::list(),
        Some(text) => {
            let code = Code::parse(text).ok_or_else(|| unknown(text))?;
            if arguments.json { render::json(code)? } else { render::text(code) }
        }
    };
    Ok(Output { stdout, ..Output::default() })
}

/// The refusal of a code that no error has, with the nearest ones.
fn unknown(text: &str) -> Fail {
    const NEAREST: usize = 3;
    let digits: String = text.chars().filter(char::is_ascii_digit).take(5).collect();
    let mut near: Vec<Code> = Code::ALL.to_vec();
    if let Ok(number) = digits.parse::<u32>() {
        near.sort_by_key(|code| u32::from(code.number()).abs_diff(number));
    }
    let near: Vec<String> = near.iter().take(NEAREST).map(Code::to_string).collect();
    let remedy = format!("unknown code: the nearest are {}; 'reticent explain' lists all", near.join(", "));
    Fail::flag("explain", text, remedy).coded(Code::Unexplained)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_codes_are_named() {
        assert!(unknown("R199").to_string().contains("R201"));
        assert!(unknown("99999").to_string().contains("R905"));
    }
}
