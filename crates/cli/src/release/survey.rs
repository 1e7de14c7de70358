//! `release randomize` and `release estimate`: surveys in the local model.

use super::render::{CERTIFICATE_FLAG, percent};
use super::{plot, session};
use crate::Output;
use crate::args;
use crate::budget::{self, charged};
use crate::cost::{Whole, certificate_text, cost};
use crate::digits;
use crate::fail::{Fail, plain};
use crate::file;
use crate::screen::present;
use crate::text::{aligned, json_line, quoted};
use crate::typed::Typed;
use reticent::curator::release::join_names;
use reticent::curator::release::survey::{EstimateShares, Randomize, Share};
use reticent::curator::{Planned, Request};

/// Writes a column after randomized response.
pub(super) fn randomize(arguments: args::Randomize, progress: bool) -> Result<Output, Fail> {
    let mut typed = Typed::default();
    let request = Randomize {
        categories: typed.names("categories", &arguments.categories),
        epsilon: typed.number("epsilon", &arguments.epsilon),
        keep_columns: arguments.keep_columns.map(|list| typed.names("keep_columns", &list)),
        reading: arguments.reading.reading(),
        file: arguments.file,
        column: arguments.column,
        out: arguments.out,
    };
    let certificate = arguments.certificate;
    let planned = typed.checked(request.check())?;
    certificate.iter().try_for_each(|path| file::certificate(path).check())?;
    let (randomized, standing) = charged(&request, planned, &arguments.budget, None, progress)?;
    if let Some(path) = &certificate {
        file::certificate(path).write(&certificate_text(&randomized.certificate)?)?;
    }
    let mut warnings = String::new();
    if !randomized.kept.is_empty() {
        let names = plain(&randomized.kept.join(", "));
        warnings = format!("warning: --keep-columns: these columns are copied and NOT protected: {names}\n");
    }
    if arguments.json {
        return Ok(Output {
            stdout: budget::json(&randomized, standing.as_ref())?,
            warnings,
            ..Output::default()
        });
    }
    let (column, output) = (&randomized.column, randomized.out.display().to_string());
    let again = format!(
        "reticent release estimate {} --column {} --categories {} --epsilon {}",
        quoted(&output),
        quoted(column),
        quoted(&join_names(&randomized.categories)),
        randomized.epsilon
    );
    let keep = randomized.keep_probability;
    let mechanism = format!("randomized response, each answer kept with probability {}", digits::brief(keep));
    let mut lines = vec![
        (format!("randomized {column}"), format!("{} answers written to {output}", randomized.rows)),
        ("keep probability".to_owned(), keep.to_string()),
    ];
    let whole = certificate.as_deref().map_or(Whole::Flag(CERTIFICATE_FLAG), Whole::File);
    lines.extend(cost(&randomized.certificate, mechanism, whole));
    lines.extend(budget::lines(standing.as_ref()));
    lines.push(("to estimate".to_owned(), again));
    Ok(Output { stdout: present(&aligned(&lines)), warnings, ..Output::default() })
}

/// Estimates the proportions of all categories from randomized answers.
pub(super) fn estimate(arguments: args::Estimate, progress: bool) -> Result<Output, Fail> {
    if let Some(path) = &arguments.plot {
        file::plot(path).check()?;
    }
    let mut typed = Typed::default();
    let request = EstimateShares {
        categories: typed.names("categories", &arguments.categories),
        confidence: typed.number("confidence", &arguments.confidence),
        epsilon: typed.optional("epsilon", arguments.epsilon.as_deref()),
        keep_probability: typed.optional("keep_probability", arguments.keep_probability.as_deref()),
        reading: arguments.reading.reading(),
        file: arguments.file,
        column: arguments.column,
    };
    let estimated = typed.checked(request.check())?.run(&mut session(progress)?)?;
    let (column, rows, level) = (&estimated.column, estimated.rows, percent(estimated.confidence));
    if let Some(path) = &arguments.plot {
        let answers: Vec<(String, f64, [f64; 2])> = estimated
            .categories
            .iter()
            .zip(&estimated.shares)
            .map(|(name, share)| (name.clone(), share.value, share.interval))
            .collect();
        let of = format!("from {rows} randomized answers, {level}");
        let svg =
            plot::rows(&format!("estimated proportions of {column}"), &of, "proportion", &answers, false);
        file::plot(path).write(&svg)?;
    }
    if arguments.json {
        return Ok(Output { stdout: json_line(&estimated)?, ..Output::default() });
    }
    let mut lines =
        vec![(format!("estimated proportions of {column}"), format!("from {rows} randomized answers"))];
    lines.extend(estimated.categories.iter().zip(&estimated.shares).map(|(name, share)| {
        let Share { value, standard_error, interval } = *share;
        let [value, low, high] = digits::with_interval(value, interval, false);
        let spread = digits::error(standard_error);
        (format!("  {name}"), format!("{value}  ({level}: {low} to {high}; standard error {spread})"))
    }));
    let keep = digits::brief(estimated.keep_probability);
    lines.push((
        "privacy spent".to_owned(),
        format!("none: the answers are randomized already (kept with probability {keep})"),
    ));
    if let Some(path) = &arguments.plot {
        lines.push(("plot".to_owned(), path.display().to_string()));
    }
    Ok(Output { stdout: present(&aligned(&lines)), ..Output::default() })
}
