//! An audit of anybody's scores: a table to a study, and how its members were drawn.

use super::Audited;
use super::folder::{self, Subject, Writer};
use super::statement::{AuditStatement, BoundChoice, Stated, share};
use crate::watch::Work;
use crate::{Refusal, Session};
use reticent_audit::table::{TableSettings, read_references, read_scores};
use reticent_audit::{Draw, Game, Study, examine};
use reticent_core::Code;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::str::FromStr;

/// How the members of a table were drawn.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Drawn {
    /// Each record by a coin of its own with this probability.
    Coins(f64),
    /// One record of each pair (column `pair`) by a fair coin.
    Pairs,
    /// A fixed number of records, all such sets being equally likely.
    Fixed,
}

impl Drawn {
    fn check(self) -> Result<Draw, Refusal> {
        Ok(match self {
            Self::Coins(probability) => Draw::Coins(share("drawn", probability)?),
            Self::Pairs => Draw::Pairs,
            Self::Fixed => Draw::Fixed,
        })
    }
}

impl FromStr for Drawn {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        match text {
            "pairs" => Ok(Self::Pairs),
            "fixed" => Ok(Self::Fixed),
            _ => match text.trim().parse::<f64>() {
                Ok(number) if number.is_finite() => Ok(Self::Coins(number)),
                Ok(_) => Err(Refusal::value("drawn", text, "give a finite number")),
                Err(_) => {
                    let remedy = "not a number: give one, such as 1 or 0.5 or 1e-6";
                    Err(Refusal::value("drawn", text, remedy).coded(Code::NotANumber))
                }
            },
        }
    }
}

/// An audit of a table of scores, whoever trained the model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct ScoreAudit {
    /// The table (.csv, .parquet or .npz): columns `score` and `member`, or probabilities or logits per class.
    pub scores: PathBuf,
    /// Reference models' outputs and who was in them (.npz, or a long table), matched by id.
    #[serde(alias = "references_from")]
    pub references_from: Option<PathBuf>,
    /// Columns whose groups are compared.
    pub groups: Vec<String>,
    /// Columns that are known without the model, for the baseline; those named `feature_…` are always taken.
    pub features: Vec<String>,
    /// How members were drawn; without a draw, declared here or by the column `drawn`, no bound on ε follows.
    pub drawn: Option<Drawn>,
    /// The attacks to run, by name; all that can be run if there are none.
    pub attacks: Vec<String>,
    /// What is stated.
    pub statement: AuditStatement,
    /// The folder that the audit is written to; none for nowhere.
    pub out: Option<PathBuf>,
}

/// A checked audit of a table.
#[derive(Debug)]
pub(super) struct ScoresPlan {
    request: ScoreAudit,
    stated: Stated,
    drawn: Option<Draw>,
}

impl ScoreAudit {
    pub(super) fn plan(&self) -> Result<ScoresPlan, Refusal> {
        let stated = Stated::of(&self.statement, &self.attacks)?;
        let drawn = self.drawn.map(Drawn::check).transpose()?;
        self.out.as_deref().map(folder::check_out).transpose()?;
        if self.scores.as_os_str().is_empty() {
            return Err(Refusal::missing("scores", "give a table with the columns score and member"));
        }
        Ok(ScoresPlan { request: self.clone(), stated, drawn })
    }
}

impl ScoresPlan {
    pub(super) fn run(self, session: &mut Session) -> Result<Audited, Refusal> {
        let study = drawn(study(&self.request)?, self.drawn, self.stated.statement())?;
        let writer = self.request.out.as_deref().map(Writer::open).transpose()?;
        let settings = self.stated.settings(None, session);
        let stage = session.watch().begin(Work::Thinking);
        let examination = examine(&study, &settings, &|words| stage.say(words))?;
        drop(stage);
        if let Some(writer) = &writer {
            writer.audit(&study, &examination, &Subject::Scores, None)?;
        }
        Ok(Audited::new(examination, study, None, self.request.out))
    }
}

/// Reads the table, and the reference models where they are in a file of their own.
fn study(request: &ScoreAudit) -> Result<Study, Refusal> {
    let settings = TableSettings {
        groups: request.groups.clone(),
        features: request.features.clone(),
        ..TableSettings::default()
    };
    let study = read_scores(&request.scores, &settings)?;
    Ok(match &request.references_from {
        Some(file) => read_references(file, study)?,
        None => study,
    })
}

/// The value of `drawn` that means this.
fn spelt(draw: Draw) -> String {
    match draw {
        Draw::Coins(p) => p.to_string(),
        Draw::Pairs => "pairs".to_owned(),
        Draw::Fixed => "fixed".to_owned(),
        Draw::Undeclared | Draw::Parties | Draw::Runs(_) => String::new(),
    }
}

/// The study with its draw, as declared or by its column `drawn`. What is said about a bound that would not be used is refused.
fn drawn(study: Study, given: Option<Draw>, statement: &AuditStatement) -> Result<Study, Refusal> {
    let column = study.parts().draw;
    let bound = statement.bound;
    let declared = match (given, column) {
        (Some(given), Draw::Undeclared) => given,
        (Some(given), column) if given == column => given,
        (Some(given), _) => {
            let remedy = "contradicts the column drawn of the table: leave one of them out";
            return Err(Refusal::conflict("drawn", spelt(given), remedy));
        }
        (None, column) => column,
    };
    let is_declared = declared != Draw::Undeclared;
    match (bound, given) {
        (Some(BoundChoice::None), Some(given)) => {
            let remedy = "is for a bound on epsilon, and ⟦bound⟧ none asks for none";
            return Err(Refusal::conflict("drawn", spelt(given), remedy));
        }
        (Some(bound), _) if bound.is_of_runs() && is_declared => {
            let remedy = "says that every row is a training run of its own, and ⟦drawn⟧ that one run had them all: give one of \
                          the two";
            return Err(Refusal::conflict("bound", bound.name(), remedy));
        }
        // Whoever asks for these by name declares their premise.
        (Some(bound), _) if bound.is_of_runs() => return Ok(study.drawn(Draw::Runs(Game::RUNS))),
        _ if is_declared => return Ok(study.drawn(declared)),
        _ => {}
    }
    let unused = [
        ("bound", bound.filter(|bound| *bound != BoundChoice::None).map(|bound| bound.name().to_owned())),
        ("guesses", statement.guesses.map(|guesses| guesses.to_string())),
        ("delta", statement.delta.map(|delta| delta.to_string())),
    ];
    match unused.into_iter().find_map(|(field, value)| Some((field, value?))) {
        Some((field, value)) => Err(Refusal::conflict(
            field,
            value,
            "is for a bound on epsilon, which needs to know how members were drawn: add ⟦drawn⟧ P if each record was included by \
             its own coin flip with probability P",
        )),
        None => Ok(study),
    }
}
