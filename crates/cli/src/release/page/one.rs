//! A command of one statistic as a page of one question.

use super::Wanted;
use super::question::question as words;
use super::request::{groups, list, person};
use crate::args::statistic::{Declared, Spread, Terms};
use crate::args::{Ask, Noise, Numeric, Question};
use crate::fail::Fail;
use crate::read::{number, whole};
use reticent::curator::page::{
    BudgetSplit, CellColumn, NumberColumn, Page, PageQuestion, PageStatistic, RankedColumn,
};
use reticent::curator::quantity::neighboring;
use std::path::PathBuf;

/// A command that is a page, or one that is not.
pub(in crate::release) enum Single {
    /// A page of one question.
    Page(Box<(Page, Wanted)>),
    /// Another command.
    Other(Box<Question>),
}

/// One question and its terms.
struct Asked {
    question: PageQuestion,
    schema: Option<PathBuf>,
    delta: Option<String>,
    mechanism: Option<String>,
    ask: Ask,
}

/// The page of a command of one statistic; the seven statistics that need no page are returned unless they ask for one.
pub(in crate::release) fn single(question: Question) -> Result<Single, Fail> {
    let is_page = match &question {
        Question::Count(own) => own.ask.is_page(),
        Question::Sum(own) => own.numeric.ask.is_page(),
        Question::Mean(own) => own.numeric.ask.is_page(),
        Question::Quantile(own) => own.numeric.ask.is_page(),
        Question::Histogram(own) => own.ask.is_page(),
        Question::Mode(own) => own.ask.is_page(),
        Question::Proportion(own) => own.ask.is_page(),
        Question::Page(_) | Question::Limits(_) | Question::Randomize(_) | Question::Estimate(_) => false,
        _ => true,
    };
    if !is_page {
        return Ok(Single::Other(Box::new(question)));
    }
    Ok(Single::Page(Box::new(page(asked(question)?)?)))
}

fn asked(question: Question) -> Result<Asked, Fail> {
    Ok(match question {
        Question::Count(own) => {
            let mut question = PageQuestion::from(PageStatistic::Count { column: own.column });
            question.error = real("--error", own.error.as_deref())?;
            additive(question, own.noise, own.ask)
        }
        Question::Sum(own) => {
            let error = real("--error", own.error.as_deref())?;
            let (numbers, schema, ask) = numeric(own.numeric)?;
            let mut question = PageQuestion::from(PageStatistic::Sum(numbers));
            question.error = error;
            Asked { schema, ..additive(question, own.noise, ask) }
        }
        Question::Mean(own) => {
            let (numbers, schema, ask) = numeric(own.numeric)?;
            Asked { schema, ..additive(PageStatistic::Mean(numbers).into(), own.noise, ask) }
        }
        Question::Quantile(own) => {
            let (NumberColumn { column, bounds, integers }, schema, ask) = numeric(own.numeric)?;
            let quantiles = vec![number("--quantile", &own.quantile)?];
            let candidates = Some(whole("--candidates", &own.candidates, 1_000_000)?);
            let statistic = PageStatistic::Quantiles { column, bounds, integers, quantiles, candidates };
            let noise = Noise { delta: own.choice.delta, mechanism: None };
            Asked { schema, ..additive(statistic.into(), noise, ask) }
        }
        Question::Histogram(own) => {
            let categories = own.categories.map(|text| list("--categories", &text)).transpose()?;
            let bins = own.bins.map(|text| numbers("--bins", &text)).transpose()?;
            let cells = CellColumn { column: own.column, categories, bins, dates: None };
            additive(PageStatistic::Histogram(cells).into(), own.noise, own.ask)
        }
        Question::Mode(own) => {
            let categories = Some(list("--categories", &own.categories)?);
            let cells = CellColumn { column: own.column, categories, ..CellColumn::default() };
            let noise = Noise { delta: own.choice.delta, mechanism: None };
            additive(PageStatistic::Mode(cells).into(), noise, own.ask)
        }
        Question::Proportion(own) => {
            let statistic = PageStatistic::Proportion { column: own.column, value: own.value };
            additive(statistic.into(), own.noise, own.ask)
        }
        Question::People(own) => terms(PageStatistic::People.into(), None, own.terms),
        Question::Variance(own) => spread(PageStatistic::Variance, own)?,
        Question::Stddev(own) => spread(PageStatistic::StandardDeviation, own)?,
        Question::Median(own) => {
            let candidates = Some(whole("--candidates", &own.candidates, 1_000_000)?);
            spread(
                |NumberColumn { column, bounds, integers }| {
                    PageStatistic::Median(RankedColumn { column, bounds, integers, candidates })
                },
                own.spread,
            )?
        }
        Question::Quantiles(own) => {
            let candidates = Some(whole("--candidates", &own.median.candidates, 1_000_000)?);
            let quantiles = numbers("--quantiles", &own.quantiles)?;
            spread(
                |NumberColumn { column, bounds, integers }| PageStatistic::Quantiles {
                    column,
                    bounds,
                    integers,
                    quantiles,
                    candidates,
                },
                own.median.spread,
            )?
        }
        Question::Covariance(own) => terms(paired("covariance", &own.columns)?, own.schema, own.terms),
        Question::Correlation(own) => terms(paired("correlation", &own.columns)?, own.schema, own.terms),
        Question::Trend(own) => terms(paired("trend", &own.columns)?, own.schema, own.terms),
        Question::Contingency(own) => terms(paired("contingency", &own.columns)?, own.schema, own.terms),
        Question::Distinct(own) => {
            declared(own, |column, categories| PageStatistic::DistinctCount { column, categories })?
        }
        Question::Top(own) => {
            let k = whole("--k", &own.k, u64::MAX)?;
            declared(own.declared, |column, categories| PageStatistic::TopK { k, column, categories })?
        }
        Question::Page(_) | Question::Limits(_) | Question::Randomize(_) | Question::Estimate(_) => {
            return Err(Fail::new(crate::explain::Code::Internal, "a command that is not one statistic"));
        }
    })
}

/// The words of two columns, refused as `--columns`.
fn paired(name: &str, text: &str) -> Result<PageQuestion, Fail> {
    words(name, text).map_err(|failure| failure.typed("--columns", text))
}

fn additive(question: PageQuestion, noise: Noise, ask: Ask) -> Asked {
    Asked { question, schema: None, delta: noise.delta, mechanism: noise.mechanism, ask }
}

fn terms(question: PageQuestion, schema: Option<PathBuf>, terms: Terms) -> Asked {
    Asked { schema, ..additive(question, terms.noise, terms.ask) }
}

fn spread(statistic: impl FnOnce(NumberColumn) -> PageStatistic, own: Spread) -> Result<Asked, Fail> {
    let bounds = own.bounds.as_deref().map(bounds).transpose()?;
    let column = NumberColumn { column: own.column, bounds, integers: false };
    Ok(terms(statistic(column).into(), own.schema, own.terms))
}

fn declared(
    own: Declared,
    statistic: impl FnOnce(String, Option<Vec<String>>) -> PageStatistic,
) -> Result<Asked, Fail> {
    let categories = own.categories.map(|text| list("--categories", &text)).transpose()?;
    Ok(terms(statistic(own.column, categories).into(), own.schema, own.terms))
}

fn numeric(own: Numeric) -> Result<(NumberColumn, Option<PathBuf>, Ask), Fail> {
    if own.count_clamped {
        let remedy = "cannot be combined with --unit, --group-by or the files of a page: leave it out";
        return Err(Fail::new(crate::explain::Code::Conflict, format!("--count-clamped: {remedy}")));
    }
    let bounds = Some(bounds(&own.bounds)?);
    Ok((NumberColumn { column: own.column, bounds, integers: own.integers }, own.schema, own.ask))
}

fn bounds(text: &str) -> Result<[f64; 2], Fail> {
    let ends = numbers("--bounds", text)?;
    let remedy = "give two numbers, the lower one first, e.g. 0,120";
    <[f64; 2]>::try_from(ends)
        .map_err(|_| Fail::flag("--bounds", text, remedy).coded(crate::explain::Code::Bounds))
}

fn numbers(flag: &str, text: &str) -> Result<Vec<f64>, Fail> {
    text.split(',').map(|part| number(flag, part.trim())).collect()
}

fn real(flag: &str, text: Option<&str>) -> Result<Option<f64>, Fail> {
    text.map(|text| number(flag, text)).transpose()
}

fn page(asked: Asked) -> Result<(Page, Wanted), Fail> {
    let Asked { question, schema, delta, mechanism, ask } = asked;
    let split = question.error.map(|_| BudgetSplit::ByError);
    let mut page = Page {
        epsilon: real("--epsilon", ask.epsilon.as_deref())?,
        delta: real("--delta", delta.as_deref())?,
        mechanism: mechanism.as_deref().map(str::parse).transpose()?,
        neighboring: neighboring(&ask.neighboring)?,
        confidence: number("--confidence", &ask.confidence)?,
        filter: ask.filter,
        reading: ask.reading.reading(),
        schema,
        split,
        ..Page::new(ask.file, vec![question], 1.0)
    };
    person(&mut page, ask.person)?;
    groups(&mut page, ask.groups)?;
    let wanted = Wanted {
        json: ask.json,
        dry_run: ask.dry_run,
        files: ask.files,
        certificate: ask.certificate,
        plot: ask.plot,
        budget: ask.budget,
    };
    Ok((page, wanted))
}
