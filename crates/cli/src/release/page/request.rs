//! Flags, and a `report.toml`, to a request of the curator.

use super::Wanted;
use super::question::{bounded, question};
use crate::args::page::{Groups, Page as Flags, Person};
use crate::explain::Code;
use crate::fail::Fail;
use crate::read::{number, whole};
use crate::typed::names;
use reticent::curator::page::{BudgetSplit, GroupBy, Keys, Page, SelectedKeys, UnitLimits};
use reticent::curator::quantity::neighboring;
use std::collections::BTreeMap;
use std::path::Path;

/// The request of the flags; what they leave out is taken from the report, if there is one.
pub(super) fn request(flags: Flags) -> Result<(Page, Wanted), Fail> {
    let mut page = match &flags.report {
        Some(report) => Page::read(report)?,
        None => Page { epsilon: None, ..Page::new("", Vec::new(), 1.0) },
    };
    page.file = flags.file;
    let asked: Vec<_> =
        flags.statistics.0.iter().map(|(name, text)| question(name, text)).collect::<Result<_, _>>()?;
    if !asked.is_empty() {
        page.questions = asked;
    }
    if page.questions.is_empty() {
        let remedy =
            "no statistic is asked for: give some, e.g. --count --mean 'age in 0,120', or a report.toml";
        return Err(Fail::new(Code::Missing, remedy));
    }
    let real = |flag: &str, text: &Option<String>| text.as_deref().map(|text| number(flag, text)).transpose();
    if let Some(epsilon) = real("--epsilon", &flags.epsilon)? {
        page.epsilon = Some(epsilon);
    }
    if let Some(delta) = real("--delta", &flags.delta)? {
        page.delta = Some(delta);
    }
    if let Some(split) = &flags.split {
        page.split = Some(split.parse::<BudgetSplit>()?);
    }
    if let Some(mechanism) = &flags.mechanism {
        page.mechanism = Some(mechanism.parse()?);
    }
    if let Some(relation) = &flags.neighboring {
        page.neighboring = neighboring(relation)?;
    }
    if let Some(confidence) = real("--confidence", &flags.confidence)? {
        page.confidence = confidence;
    }
    if flags.filter.is_some() {
        page.filter = flags.filter;
    }
    if flags.schema.is_some() {
        page.schema = flags.schema;
    }
    page.consistent |= flags.consistent;
    let reading = flags.reading.reading();
    if !reading.is_default() {
        page.reading = reading;
    }
    person(&mut page, flags.person)?;
    groups(&mut page, flags.groups)?;
    let wanted = Wanted {
        json: flags.json,
        dry_run: flags.dry_run,
        files: flags.files,
        certificate: flags.certificate,
        plot: None,
        budget: flags.budget,
    };
    Ok((page, wanted))
}

/// Who is protected.
pub(super) fn person(page: &mut Page, flags: Person) -> Result<(), Fail> {
    if !flags.is_any() {
        return Ok(());
    }
    let unit = page.unit.get_or_insert_with(UnitLimits::default);
    if flags.unit.is_some() {
        unit.column = flags.unit;
    }
    if let Some(text) = &flags.rows_per_person {
        unit.rows = Some(whole("--rows-per-person", text, u64::MAX)?);
    }
    if let Some(text) = &flags.groups_per_person {
        unit.groups = Some(whole("--groups-per-person", text, u64::MAX)?);
    }
    for text in &flags.total_per_person {
        let (column, bounds) = bounded("--total-per-person", text)?;
        unit.totals.insert(column, bounds);
    }
    if flags.bounding_key.is_some() {
        unit.key = flags.bounding_key;
    }
    Ok(())
}

/// By which groups.
pub(super) fn groups(page: &mut Page, flags: Groups) -> Result<(), Fail> {
    let columns = flags.group_by.as_deref().map(|text| list("--group-by", text)).transpose()?;
    let Some(columns) = columns.or_else(|| page.group_by.as_ref().map(|own| own.columns.clone())) else {
        return match flags.is_any() {
            false => Ok(()),
            true => {
                Err(Fail::missing("--group-by", "give the columns of the groups, e.g. --group-by carrier"))
            }
        };
    };
    let selected = flags.select_keys.as_deref().map(selected).transpose()?;
    let keys = match selected {
        Some(selected) => Some(selected),
        None if flags.keys.is_empty() => page.group_by.take().and_then(|own| own.keys),
        None => Some(keys(&flags.keys)?),
    };
    page.group_by = Some(GroupBy { columns, keys });
    Ok(())
}

fn selected(share: &str) -> Result<Keys, Fail> {
    let share = if share.is_empty() { 0.1 } else { number("--select-keys", share)? };
    Ok(Keys::Selected(SelectedKeys { share, delta: None }))
}

/// `keys.csv`, or `carrier=AA,UA` for each column.
fn keys(texts: &[String]) -> Result<Keys, Fail> {
    let is_file = |text: &str| {
        Path::new(text).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("csv"))
            && !text.contains('=')
    };
    if let [file] = texts
        && is_file(file)
    {
        return Ok(Keys::File(file.into()));
    }
    let mut lists = BTreeMap::new();
    for text in texts {
        let Some((column, values)) = text.split_once('=') else {
            let remedy = "give a .csv file, or the values of a column: --keys carrier=AA,UA";
            return Err(Fail::flag("--keys", text, remedy).coded(Code::List));
        };
        let values = list("--keys", values).map_err(|failure| failure.shown(text.clone()))?;
        if lists.insert(column.trim().to_owned(), values).is_some() {
            let remedy = "this column is given twice: put all its values in one list";
            return Err(Fail::flag("--keys", text, remedy).coded(Code::List));
        }
    }
    Ok(Keys::Lists(lists))
}

/// Comma-separated names.
pub(super) fn list(flag: &str, text: &str) -> Result<Vec<String>, Fail> {
    names(text).map_err(|remedy| Fail::flag(flag, text, remedy).coded(Code::List))
}
