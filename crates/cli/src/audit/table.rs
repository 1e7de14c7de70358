//! A score table to a study, and how its members were drawn.

use super::settings::share;
use crate::args::audit::{Statement, Table};
use crate::fail::Fail;
use reticent::audit::table::{TableSettings, read_references, read_scores};
use reticent::audit::{Draw, Game, Study};

/// Reads the table, and the reference models where they are in a file of their own.
pub(crate) fn study(table: &Table) -> Result<Study, Fail> {
    let Some(scores) = &table.scores else {
        return Err(Fail::missing("--scores", "give a table with the columns score and member"));
    };
    let settings = TableSettings {
        groups: table.groups.clone(),
        features: table.features.clone(),
        ..TableSettings::default()
    };
    let study = read_scores(scores, &settings)?;
    Ok(match &table.references_from {
        Some(file) => read_references(file, study)?,
        None => study,
    })
}

/// How members of a table were drawn, as the flag says; without it, none.
pub(crate) fn draw(flag: Option<&str>) -> Result<Option<Draw>, Fail> {
    flag.map(|text| match text {
        "pairs" => Ok(Draw::Pairs),
        "fixed" => Ok(Draw::Fixed),
        _ => Ok(Draw::Coins(share("--drawn", text)?)),
    })
    .transpose()
}

/// The value of `--drawn` that means this.
fn spelt(draw: Draw) -> String {
    match draw {
        Draw::Coins(p) => p.to_string(),
        Draw::Pairs => "pairs".to_owned(),
        Draw::Fixed => "fixed".to_owned(),
        Draw::Undeclared | Draw::Runs(_) => String::new(),
    }
}

/// The study with its draw, by the flag or by its column `drawn`. Flags about a bound that would not be used are refused.
pub(crate) fn drawn(study: Study, flag: Option<Draw>, statement: &Statement) -> Result<Study, Fail> {
    let column = study.parts().draw;
    let bound = statement.bound.as_deref();
    let declared = match (flag, column) {
        (Some(flag), Draw::Undeclared) => flag,
        (Some(flag), column) if flag == column => flag,
        (Some(flag), _) => {
            let remedy = "contradicts the column drawn of the table: leave one of them out";
            return Err(Fail::conflict("--drawn", &spelt(flag), remedy));
        }
        (None, column) => column,
    };
    let is_declared = declared != Draw::Undeclared;
    match bound {
        Some("none") if flag.is_some() => {
            return Err(Fail::conflict(
                "--drawn",
                &flag.map(spelt).unwrap_or_default(),
                "is for a bound on epsilon, and --bound none asks for none",
            ));
        }
        Some(method @ ("clopper-pearson" | "gaussian")) if is_declared => {
            let remedy = "says that every row is a training run of its own, and --drawn that one run had them all: give one of \
                          the two";
            return Err(Fail::conflict("--bound", method, remedy));
        }
        // Whoever asks for these by name declares their premise.
        Some("clopper-pearson" | "gaussian") => return Ok(study.drawn(Draw::Runs(Game::RUNS))),
        _ if is_declared => return Ok(study.drawn(declared)),
        _ => {}
    }
    let unused = [
        ("--bound", bound.filter(|bound| *bound != "none")),
        ("--guesses", statement.guesses.as_deref()),
        ("--delta", statement.delta.as_deref()),
    ];
    match unused.into_iter().find_map(|(flag, value)| Some((flag, value?))) {
        Some((flag, value)) => Err(Fail::conflict(
            flag,
            value,
            "is for a bound on epsilon, which needs to know how members were drawn: add --drawn P if each record was put in by a \
             coin of its own with probability P",
        )),
        None => Ok(study),
    }
}
