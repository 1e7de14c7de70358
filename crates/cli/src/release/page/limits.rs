//! `reticent release limits`: limits per person from a private estimate.

use super::request::list;
use crate::Output;
use crate::args::statistic::Limits;
use crate::budget::{self, charged};
use crate::cost::{Whole, certificate_text, cost};
use crate::digits;
use crate::fail::{Fail, warnings};
use crate::file;
use crate::read::number;
use crate::release::render::{CERTIFICATE_FLAG, percent};
use crate::screen::present;
use crate::text::{aligned, columns};
use reticent::curator::Request;
use reticent::curator::page::{PeopleUpTo, SuggestLimits};
use reticent::curator::quantity::neighboring;

/// Suggests limits.
pub(in crate::release) fn limits(arguments: Limits, progress: bool) -> Result<Output, Fail> {
    let request = SuggestLimits {
        file: arguments.file,
        reading: arguments.reading.reading(),
        unit: arguments.unit,
        filter: arguments.filter,
        group_by: arguments.group_by.map_or_else(|| Ok(Vec::new()), |text| list("--group-by", &text))?,
        epsilon: number("--epsilon", &arguments.epsilon)?,
        share: number("--share", &arguments.share)?,
        neighboring: neighboring(&arguments.neighboring)?,
        confidence: number("--confidence", &arguments.confidence)?,
    };
    let certificate = arguments.certificate;
    certificate.iter().try_for_each(|path| file::certificate(path).check())?;
    let planned = request.check()?;
    let (found, standing) = charged(&request, planned, &arguments.budget, None, progress)?;
    if let Some(path) = &certificate {
        file::certificate(path).write(&certificate_text(&found.certificate)?)?;
    }
    let warnings = warnings(&found.warnings);
    if arguments.json {
        return Ok(Output {
            stdout: budget::json(&found, standing.as_ref())?,
            warnings,
            ..Output::default()
        });
    }
    let level = percent(found.confidence);
    let mut text = people("rows in the largest group", &found.people_by_rows, found.rows, &level);
    if let Some(groups) = found.groups {
        text += &people("groups", &found.people_by_groups, groups, &level);
    }
    let share = percent(found.share);
    let mut flags = format!("--unit {} --rows-per-person {}", found.column, found.rows);
    if let Some(groups) = found.groups {
        flags += &format!(" --groups-per-person {groups}");
    }
    let mut lines = vec![("suggested".to_owned(), format!("{flags} (covers about {share} of people)"))];
    let whole = certificate.as_deref().map_or(Whole::Flag(CERTIFICATE_FLAG), Whole::File);
    lines.extend(cost(&found.certificate, "noisy histograms of people".to_owned(), whole));
    lines.extend(budget::lines(standing.as_ref()));
    Ok(Output { stdout: present(&(text + &aligned(&lines))), warnings, ..Output::default() })
}

/// People by how much they have, up to twice the suggested limit.
fn people(what: &str, cells: &[PeopleUpTo], limit: u64, level: &str) -> String {
    let mut rows = vec![vec![what.to_owned(), format!("people (each interval: {level})")]];
    let mut least = 1;
    for cell in cells.iter().take_while(|cell| cell.up_to.is_some_and(|most| most <= 2 * limit)) {
        let range = match cell.up_to {
            Some(most) if most > least => format!("{least} to {most}"),
            _ => least.to_string(),
        };
        least = cell.up_to.map_or(least, |most| most + 1);
        let [value, low, high] = digits::with_interval(cell.people, cell.interval, true);
        rows.push(vec![range, format!("{value} ({low} to {high})")]);
    }
    rows.push(vec![format!("{least} or more"), "see --json".to_owned()]);
    columns(&rows).into_iter().map(|line| format!("{line}\n")).collect()
}
