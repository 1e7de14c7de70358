//! Flags to requests: text becomes numbers and names, and nothing is decided.

use crate::args::audit::{AttackRun, Audit, Statement, Table};
use crate::fail::Fail;
use crate::file::Target;
use crate::read;
use reticent::curator::audit::{self, Drawn, Scores, WORST};
use std::ops::RangeInclusive;

/// What is stated; where the curves are to be drawn is checked first.
pub(crate) fn statement(flags: &Statement) -> Result<audit::Statement, Fail> {
    if let Some(path) = &flags.plot {
        Target::plot(path).check()?;
    }
    let number =
        |flag: &str, text: &Option<String>| text.as_deref().map(|text| read::number(flag, text)).transpose();
    Ok(audit::Statement {
        confidence: read::number("--confidence", &flags.confidence)?,
        prior: number("--prior", &flags.prior)?,
        delta: number("--delta", &flags.delta)?,
        bound: flags.bound.as_deref().map(str::parse).transpose()?,
        guesses: number("--guesses", &flags.guesses)?,
        worst: count("--worst", &flags.worst, &WORST)?,
        key: flags.key.clone(),
    })
}

/// An audit of a table.
pub(crate) fn scores(arguments: &Audit) -> Result<Scores, Fail> {
    if let Some((flag, value)) = arguments.fitting.for_models() {
        let remedy = "is for models of ours, and a table of scores does not use it: leave it out (--references-from gives \
                      reference models)";
        return Err(Fail::conflict(flag, &value, remedy));
    }
    let drawn = arguments.fitting.drawn.as_deref();
    let request = of_table(&arguments.table, &arguments.statement, drawn)?;
    Ok(Scores { attacks: arguments.attacks.clone(), out: arguments.out.clone(), ..request })
}

/// One attack on a table.
pub(crate) fn single(arguments: &AttackRun) -> Result<Scores, Fail> {
    let request = of_table(&arguments.table, &arguments.statement, arguments.drawn.as_deref())?;
    Ok(Scores { attacks: vec![arguments.name.clone()], ..request })
}

fn of_table(table: &Table, flags: &Statement, drawn: Option<&str>) -> Result<Scores, Fail> {
    let statement = statement(flags)?;
    Ok(Scores {
        scores: table.scores.clone().unwrap_or_default(),
        references_from: table.references_from.clone(),
        groups: table.groups.clone(),
        features: table.features.clone(),
        drawn: drawn.map(str::parse::<Drawn>).transpose()?,
        statement,
        ..Scores::default()
    })
}

/// A whole number in a range.
pub(crate) fn count(flag: &str, text: &str, range: &RangeInclusive<u64>) -> Result<u64, Fail> {
    match text.trim().parse::<u64>() {
        Ok(number) if range.contains(&number) => Ok(number),
        _ => {
            let remedy = format!("give a whole number from {} to {}", range.start(), range.end());
            Err(Fail::flag(flag, text, remedy))
        }
    }
}
