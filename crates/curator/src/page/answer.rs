//! The draws, and the figures that follow from them.

use super::asked::{Asked, Form, Need};
use super::groups::{GroupSource, key_of, labels_of};
use super::outcome::{PageRow, PageUnit};
use super::pass::Pass;
use super::plan::PlannedPage;
use crate::refusal::Refusal;
use crate::watch::Watch;
use reticent_core::{Confidence, Event};
use reticent_noise::Releaser;
use reticent_noise::query::parts::{Figure, NoisyPart, consistent_counts, release_part};
use reticent_report::digits::exactly;
use std::collections::BTreeMap;

/// What was drawn.
pub(super) struct Drawn {
    pub(super) rows: Vec<PageRow>,
    pub(super) events: Vec<Event>,
    /// The number of groups.
    pub(super) groups: usize,
}

/// Draws the page: the selection of groups, then every part, in sequence.
pub(super) fn draw(
    plan: &PlannedPage,
    pass: Pass,
    source: &mut impl Releaser,
    watch: &dyn Watch,
) -> Result<Drawn, Refusal> {
    let mut events = Vec::new();
    let labels = match (&plan.groups.source, &plan.selection) {
        (GroupSource::Declared { labels, .. }, _) => labels.clone(),
        (GroupSource::Selected(_), Some(selection)) => {
            if source.neighboring().is_some_and(|own| own != plan.neighboring) {
                return Err(Refusal::internal("a permit for another neighboring relation"));
            }
            let released = source.release(selection, &pass.gathered.units_by_group())?;
            events.push(released.event);
            let mut labels: Vec<Vec<String>> = released.value.keys().map(|key| labels_of(key)).collect();
            labels.sort();
            labels
        }
        (GroupSource::Selected(_), None) => return Err(Refusal::internal("groups without a selection")),
    };
    let key = |(place, labels): (usize, &Vec<String>)| (key_of(labels.iter().map(String::as_str)), place);
    let places: BTreeMap<String, usize> = labels.iter().enumerate().map(key).collect();
    let sums = pass.gathered.sums(plan, places, watch)?;
    let mut noisy = Vec::with_capacity(plan.pieces.len());
    for (place, (piece, noise)) in plan.pieces.iter().zip(&plan.priced.noises).enumerate() {
        let mut settled = sums.settled(place, &piece.part);
        settled.resize(plan.noisy_groups(labels.len()) * piece.part.width(), 0);
        let limits = &plan.unit.limits;
        let released = release_part(source, &piece.part, limits, plan.neighboring, noise, &settled)?;
        events.push(released.event());
        noisy.push(released);
    }
    let mut rows = Vec::new();
    for (group, labels) in labels.iter().enumerate() {
        for (question, asked) in plan.asked.iter().enumerate() {
            let piece = plan.serving[question];
            let answer = Answer {
                asked,
                need: &plan.pieces[piece].need,
                noisy: &noisy[piece],
                group,
                confidence: plan.confidence,
                consistent: plan.consistent,
            };
            for (cell, figure, unit) in answer.figures()? {
                let figure = if unit.is_whole() && !plan.consistent { whole(figure) } else { figure };
                let interval = figure.interval.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
                let question = asked.name.clone();
                rows.push(PageRow {
                    group: labels.clone(),
                    question,
                    cell,
                    estimate: Some(figure.value),
                    interval,
                    unit,
                });
            }
        }
    }
    Ok(Drawn { rows, events, groups: labels.len() })
}

/// A figure that is a whole number without noise: the whole numbers of its interval, and the one next to its estimate.
fn whole(figure: Figure) -> Figure {
    // Adding zero turns -0 into 0.
    let value = figure.value.round() + 0.0;
    let ends = figure.interval.map(|[low, high]| [low.ceil() + 0.0, high.floor() + 0.0]);
    match ends {
        Some([low, high]) if low <= value && value <= high => Figure { value, interval: ends },
        _ => figure,
    }
}

/// The answer to one question about one group.
struct Answer<'a> {
    asked: &'a Asked,
    need: &'a Need,
    noisy: &'a NoisyPart,
    group: usize,
    confidence: Confidence,
    consistent: bool,
}

type Cells = Vec<(Option<String>, Figure, PageUnit)>;

impl Answer<'_> {
    /// The figures, each with its cell if there are several.
    fn figures(&self) -> Result<Cells, Refusal> {
        let (noisy, group, confidence) = (self.noisy, self.group, self.confidence);
        let unit = self.asked.form.unit();
        let one = |figure: Figure| vec![(None, figure, unit.clone())];
        Ok(match &self.asked.form {
            Form::Count | Form::People => one(self.counted(noisy.rows(group, confidence)?)),
            Form::Sum => one(noisy.sum(group, confidence)?),
            Form::Mean => one(noisy.mean(group, confidence)?),
            Form::Variance => one(noisy.variance(group, confidence)?),
            Form::StandardDeviation => one(noisy.standard_deviation(group, confidence)?),
            Form::Distinct => one(noisy.distinct(group, confidence)?),
            Form::Covariance => one(noisy.covariance(group, confidence)?),
            Form::Correlation => one(noisy.correlation(group, confidence)?),
            Form::Trend => {
                let trend = noisy.trend(group, confidence)?;
                let cell = |name: &str, figure, unit| (Some(name.to_owned()), figure, unit);
                vec![
                    cell("slope", trend.slope, PageUnit::PerUnit),
                    cell("intercept", trend.intercept, PageUnit::Column),
                ]
            }
            Form::Quantiles(levels) => {
                let found = noisy.quantiles(group, levels, confidence)?;
                let is_one = levels.len() == 1;
                let cell = |level: &f64| (!is_one || self.asked.kind != "median").then(|| exactly(*level));
                levels.iter().zip(found).map(|(level, figure)| (cell(level), figure, unit.clone())).collect()
            }
            // The value is the first cell, all other rows the second.
            Form::Proportion => one(noisy.proportion(group, 0, confidence)?),
            Form::Histogram => {
                let cells = noisy.cells(group, confidence)?;
                let cells = if self.consistent {
                    let total = cells.iter().map(|cell| cell.value).sum::<f64>();
                    consistent_counts(&cells, total)
                } else {
                    cells
                };
                self.labels()
                    .into_iter()
                    .zip(cells)
                    .map(|(label, cell)| (Some(label), cell, unit.clone()))
                    .collect()
            }
            Form::Mode => self.top(1)?,
            Form::TopK(k) => self.top(*k)?,
            Form::Contingency { margins } => self.table(*margins)?,
        })
    }

    /// A count, not negative where the page is to be consistent.
    fn counted(&self, figure: Figure) -> Figure {
        if self.consistent { Figure { value: figure.value.max(0.0), ..figure } } else { figure }
    }

    fn top(&self, k: usize) -> Result<Cells, Refusal> {
        let labels = self.labels();
        let found = self.noisy.top(self.group, k, self.confidence)?;
        let named = |(place, figure): (usize, Figure)| {
            (labels.get(place).cloned(), self.counted(figure), PageUnit::Rows)
        };
        Ok(found.into_iter().map(named).collect())
    }

    /// What the cells of one column are called.
    fn labels(&self) -> Vec<String> {
        match self.need {
            Need::Cells { axis, .. } => axis.labels(),
            _ => Vec::new(),
        }
    }

    /// A table of counts, with the totals of each column on request: `total` stands for all cells of a column.
    fn table(&self, margins: bool) -> Result<Cells, Refusal> {
        let Need::Table { axes, .. } = self.need else {
            return Err(Refusal::internal("a contingency table without its columns"));
        };
        let labels: Vec<Vec<String>> = axes.iter().map(|(_, axis)| axis.labels()).collect();
        let (noisy, group, confidence) = (self.noisy, self.group, self.confidence);
        let (cells, totals, all) = if self.consistent {
            let table = noisy.consistent_table(group, confidence)?;
            (table.cells, table.margins, table.total)
        } else {
            let totals = (0..axes.len()).map(|axis| noisy.margin(group, axis, confidence));
            let totals = totals.collect::<Result<Vec<_>, _>>()?;
            (noisy.cells(group, confidence)?, totals, noisy.rows(group, confidence)?)
        };
        let mut found = Vec::new();
        for (place, cell) in cells.into_iter().enumerate() {
            let (mut names, mut rest) = (Vec::new(), place);
            for labels in labels.iter().rev() {
                names.push(labels[rest % labels.len()].as_str());
                rest /= labels.len();
            }
            names.reverse();
            found.push((Some(names.join(" / ")), cell, PageUnit::Rows));
        }
        if margins {
            for (axis, figures) in totals.into_iter().enumerate() {
                for (label, figure) in labels[axis].iter().zip(figures) {
                    let name = |at: usize| if at == axis { label.as_str() } else { TOTAL };
                    let names: Vec<&str> = (0..axes.len()).map(name).collect();
                    found.push((Some(names.join(" / ")), figure, PageUnit::Rows));
                }
            }
            found.push((Some(vec![TOTAL; axes.len()].join(" / ")), all, PageUnit::Rows));
        }
        Ok(found)
    }
}

/// What all cells of a column are called.
const TOTAL: &str = "total";
