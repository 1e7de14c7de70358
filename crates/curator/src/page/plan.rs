//! A request becomes a checked plan. The file is opened for its columns; no value is read.

use super::asked::{Asked, Context, asked};
use super::declared::Declared;
use super::expected;
use super::groups::Groups;
use super::input::Layout;
use super::pieces::{Piece, pieces};
use super::price::{Priced, Terms};
use super::request::{BudgetSplit, Page};
use super::unit::Unit;
use crate::quantity;
use crate::refusal::Refusal;
use crate::release::NoiseChoice;
use reticent_core::{Code, Confidence, Delta, Epsilon, Fact, Guarantee, Neighboring};
use reticent_data::{Predicate, Reading, Table, open_table_with, with_derived, with_literal};
use reticent_noise::mechanism::StableHistogram;
use reticent_noise::query::NoiseKind;
use reticent_noise::query::parts::Part;
use std::path::Path;
use std::sync::Arc;

/// Below this ε a part is all noise.
const LEAST_EPSILON: f64 = 1e-6;
/// The most numbers that a page gathers: sixteen bytes each.
const MOST_NUMBERS: usize = 1 << 27;

/// A checked page; only the data themselves are unread.
#[derive(Debug, Clone)]
pub struct PlannedPage {
    pub(super) table: Arc<dyn Table>,
    pub(super) filter: Option<Predicate>,
    pub(super) unit: Unit,
    pub(super) groups: Groups,
    pub(super) asked: Vec<Asked>,
    /// The releases, in sequence.
    pub(super) pieces: Vec<Piece>,
    /// The release that each question is answered from.
    pub(super) serving: Vec<usize>,
    pub(super) layout: Layout,
    pub(super) neighboring: Neighboring,
    pub(super) confidence: Confidence,
    pub(super) consistent: bool,
    pub(super) split: BudgetSplit,
    pub(super) kind: NoiseKind,
    /// Why this noise.
    pub(super) why: String,
    pub(super) priced: Priced,
    pub(super) selection: Option<StableHistogram>,
    pub(super) has_schema: bool,
    pub(super) warnings: Vec<String>,
}

impl PlannedPage {
    /// The parts, in sequence.
    pub(super) fn parts(&self) -> Vec<Part> {
        self.pieces.iter().map(|piece| piece.part.clone()).collect()
    }

    /// What the noise of the page is worked out from.
    pub(super) fn terms(&self) -> Terms<'_> {
        Terms {
            limits: &self.unit.limits,
            neighboring: self.neighboring,
            kind: self.kind,
            groups: self.noisy_groups(self.groups.count().unwrap_or(0)),
            selection: self.selection,
        }
    }

    /// How many groups noise is drawn for, of so many that there are: where they are selected, empty ones are added until one
    /// unit's sensitivity no longer depends on their number.
    pub(super) fn noisy_groups(&self, groups: usize) -> usize {
        noisy_groups(&self.unit, &self.groups, groups)
    }

    /// What is taken as public.
    pub(super) fn public(&self) -> Vec<Fact> {
        let mut facts = self.unit.facts();
        facts.extend(self.groups.facts());
        for piece in &self.pieces {
            for fact in piece.need.facts() {
                if !facts.contains(&fact) {
                    facts.push(fact);
                }
            }
        }
        if let Some(filter) = &self.filter {
            facts.push(Fact::Filter(filter.to_string()));
        }
        facts.extend(self.table.derivations().iter().map(|derivation| Fact::Derived(derivation.to_string())));
        if self.has_schema {
            facts.push(Fact::Schema);
        }
        facts
    }
}

fn noisy_groups(unit: &Unit, groups: &Groups, count: usize) -> usize {
    if groups.selection().is_none() {
        return count;
    }
    let reached = usize::try_from(unit.limits.groups()).unwrap_or(usize::MAX);
    count.max(reached.saturating_mul(2).saturating_add(2))
}

/// Checks a page.
pub(super) fn plan(page: &Page, given: Option<&Arc<dyn Table>>) -> Result<PlannedPage, Refusal> {
    let confidence = quantity::confidence(page.confidence)?;
    let epsilon = page.epsilon.map(|epsilon| quantity::epsilon(epsilon, LEAST_EPSILON)).transpose()?;
    let delta = page.delta.map(quantity::delta).transpose()?;
    let declared = Declared::read(page.schema.as_deref(), &page.reading.derive)?;
    let mut table = opened(&page.file, &page.reading, given)?;
    // A person may be called anything: in the column of their names, only blank is missing.
    let named = page.unit.as_ref().and_then(|unit| unit.column.as_deref()).or(declared.unit());
    if let Some(column) = named {
        table = with_literal(table, column).map_err(Refusal::data("unit"))?;
    }
    let filter = filter(page.filter.as_deref(), &table)?;
    let groups = Groups::of(page.group_by.as_ref(), &declared, &table)?;
    let context = Context { table: &table, declared: &declared, unit: page.unit.as_ref() };
    let asked = asked(&page.questions, &context)?;
    let about_rows = asked.iter().any(|asked| asked.need.is_about_rows());
    let unit = Unit::of(page.unit.as_ref(), &declared, &groups, about_rows, &table)?;
    let split = split(page, &asked)?;
    let mut warnings = Vec::new();
    if let Some(cost) = declared.spent(unit.is_row(), page.neighboring)? {
        warnings.push(format!(
            "the schema was learnt from the data at {cost}: that is in addition to what the page costs"
        ));
    }
    let settled =
        Settled { page, epsilon, delta, confidence, split, unit: &unit, groups: &groups, asked: &asked };
    let chosen = settled.choose()?;
    let numbers = chosen.pieces.iter().map(|piece| piece.part.gathered_width()).sum::<usize>();
    let count = groups.count().unwrap_or(1);
    if numbers.checked_mul(count).is_none_or(|numbers| numbers > MOST_NUMBERS) {
        let remedy = format!(
            "{count} groups with {numbers} numbers each are more than {MOST_NUMBERS}: ask for fewer groups, cells or candidates"
        );
        return Err(Refusal::about(Code::List, "questions", remedy));
    }
    let needs: Vec<_> = chosen.pieces.iter().map(|piece| piece.need.clone()).collect();
    let layout = Layout::new(filter.as_ref(), &unit, &groups, &needs);
    let Chosen { pieces, serving, kind, why, priced, selection } = chosen;
    Ok(PlannedPage {
        has_schema: declared.is_given(),
        table,
        filter,
        unit,
        groups,
        asked,
        pieces,
        serving,
        layout,
        neighboring: page.neighboring,
        confidence,
        consistent: page.consistent,
        split,
        kind,
        why,
        priced,
        selection,
        warnings,
    })
}

/// The table of a request: the file, or the one that is given beside it, with the columns that are derived.
pub(super) fn opened(
    file: &Path,
    reading: &Reading,
    given: Option<&Arc<dyn Table>>,
) -> Result<Arc<dyn Table>, Refusal> {
    let is_empty = file.as_os_str().is_empty();
    match given {
        None if is_empty => Err(Refusal::missing("file", "give the table that the page is about")),
        None => Ok(open_table_with(file, reading)?),
        Some(table) if is_empty => Ok(with_derived(table.clone(), reading)?),
        Some(_) => {
            Err(Refusal::conflict("file", file.display(), "leave it empty: the table itself is given"))
        }
    }
}

/// The filter of a request, if there is one.
pub(super) fn filter(text: Option<&str>, table: &dyn Table) -> Result<Option<Predicate>, Refusal> {
    let parsed = text.map(Predicate::parse).transpose().map_err(Refusal::data("filter"))?;
    parsed.map(|filter| filter.check(table)).transpose().map_err(Refusal::data("filter"))
}

/// How the budget is divided.
fn split(page: &Page, asked: &[Asked]) -> Result<BudgetSplit, Refusal> {
    let (errors, weights) = (
        page.questions.iter().filter(|question| question.error.is_some()).count(),
        page.questions.iter().any(|question| question.weight.is_some()),
    );
    let split = page.split.unwrap_or(match (errors > 0, weights) {
        (true, _) => BudgetSplit::ByError,
        (false, true) => BudgetSplit::Weights,
        (false, false) => BudgetSplit::Equally,
    });
    match split {
        BudgetSplit::ByError => {
            if let Some(without) = asked.iter().find(|asked| asked.error.is_none()) {
                let remedy =
                    format!("give the error wanted of {}: this budget is split by error", without.name);
                return Err(Refusal::missing("error", remedy));
            }
            if weights {
                let remedy = "has no effect where the budget is split by error: leave weights out";
                return Err(Refusal::about(Code::Conflict, "weight", remedy));
            }
        }
        BudgetSplit::Equally | BudgetSplit::Weights => {
            if errors > 0 {
                let remedy = "has an effect only where the budget is split by error: choose ⟦split⟧ by-error";
                return Err(Refusal::about(Code::Conflict, "error", remedy));
            }
            if split == BudgetSplit::Equally && weights {
                let remedy = "has no effect where the budget is split equally: choose ⟦split⟧ weights";
                return Err(Refusal::about(Code::Conflict, "weight", remedy));
            }
            if page.epsilon.is_none() {
                return Err(Refusal::missing(
                    "epsilon",
                    "give the privacy budget of the page, e.g. ⟦epsilon⟧ 1",
                ));
            }
        }
    }
    Ok(split)
}

/// What the choice of noise depends on: public numbers.
struct Settled<'a> {
    page: &'a Page,
    epsilon: Option<Epsilon>,
    delta: Option<Delta>,
    confidence: Confidence,
    split: BudgetSplit,
    unit: &'a Unit,
    groups: &'a Groups,
    asked: &'a [Asked],
}

/// Parts and their noise.
struct Chosen {
    pieces: Vec<Piece>,
    serving: Vec<usize>,
    kind: NoiseKind,
    why: String,
    priced: Priced,
    selection: Option<StableHistogram>,
}

impl Settled<'_> {
    /// The noise that is asked for, or the better one.
    fn choose(&self) -> Result<Chosen, Refusal> {
        match (self.page.mechanism, self.delta) {
            (Some(NoiseChoice::DiscreteGaussian), _) => {
                let remedy = "a page has laplace or gaussian noise: give one of them, or leave it out";
                Err(Refusal::conflict("mechanism", "discrete-gaussian", remedy))
            }
            (Some(NoiseChoice::Gaussian), None) => {
                Err(Refusal::missing("delta", "Gaussian noise needs a delta, e.g. ⟦delta⟧ 1e-6"))
            }
            (Some(NoiseChoice::Gaussian), Some(_)) => self.with(NoiseKind::Gaussian, "asked for"),
            (Some(NoiseChoice::Laplace), _) => self.with(NoiseKind::Laplace, "asked for"),
            (None, None) => self.with(NoiseKind::Laplace, "no delta is given"),
            (None, Some(_)) => self.better(),
        }
    }

    /// Gaussian noise, or Laplace noise where that has the smaller errors.
    fn better(&self) -> Result<Chosen, Refusal> {
        let why = "the other kind of noise does not meet the budget";
        let (gaussian, laplace) =
            match (self.with(NoiseKind::Gaussian, why), self.with(NoiseKind::Laplace, why)) {
                (Ok(gaussian), Ok(laplace)) => (gaussian, laplace),
                (found, Err(_)) | (Err(_), found) => return found,
            };
        let ratio = self.ratio(&laplace, &gaussian)?;
        let percent = |ratio: f64| format!("{:.0} %", 100.0 * (1.0 - ratio));
        Ok(if ratio < 1.0 {
            let why =
                format!("at this delta its errors are {} below those of Gaussian noise", percent(ratio));
            Chosen { why, ..laplace }
        } else {
            let why =
                format!("at this delta its errors are {} below those of Laplace noise", percent(1.0 / ratio));
            Chosen { why, ..gaussian }
        })
    }

    /// The geometric mean over questions of the errors of one choice over those of another; by error, what the one costs over what
    /// the other does.
    fn ratio(&self, one: &Chosen, other: &Chosen) -> Result<f64, Refusal> {
        if self.split == BudgetSplit::ByError {
            return Ok(one.priced.guarantee.epsilon.get() / other.priced.guarantee.epsilon.get());
        }
        let mut logs = 0.0;
        for (place, asked) in self.asked.iter().enumerate() {
            let error = |of: &Chosen| {
                let piece = of.serving[place];
                let terms = self.terms(of.kind, of.selection);
                expected::comparable(
                    asked,
                    &of.pieces[piece],
                    &of.priced.noises[piece],
                    &terms,
                    self.confidence,
                )
            };
            logs += (error(one)? / error(other)?).ln();
        }
        Ok((logs / self.asked.len() as f64).exp())
    }

    /// The page with one kind of noise.
    fn with(&self, kind: NoiseKind, why: &str) -> Result<Chosen, Refusal> {
        let (mut pieces, serving) = pieces(self.asked, self.split == BudgetSplit::Weights, kind)?;
        let selection = self.selection()?;
        let terms = self.terms(kind, selection);
        let priced = match (self.split, self.epsilon, self.delta) {
            (BudgetSplit::ByError, ..) => self.by_error(&mut pieces, &serving, &terms)?,
            (_, Some(epsilon), Some(delta)) if kind == NoiseKind::Gaussian => {
                terms.scaled(&pieces, Guarantee { epsilon, delta })?
            }
            (_, Some(epsilon), _) => terms.shares(&pieces, epsilon)?,
            (_, None, _) => return Err(Refusal::internal("a page without a budget")),
        };
        Ok(Chosen { pieces, serving, kind, why: why.to_owned(), priced, selection })
    }

    fn terms(&self, kind: NoiseKind, selection: Option<StableHistogram>) -> Terms<'_> {
        let groups = noisy_groups(self.unit, self.groups, self.groups.count().unwrap_or(0));
        Terms { limits: &self.unit.limits, neighboring: self.page.neighboring, kind, groups, selection }
    }

    /// The selection of groups, if they are selected.
    fn selection(&self) -> Result<Option<StableHistogram>, Refusal> {
        let Some(selected) = self.groups.selection() else { return Ok(None) };
        let Some(delta) = self.delta else {
            let remedy =
                "selecting groups from the data needs a delta, e.g. ⟦delta⟧ 1e-6; or declare the groups";
            return Err(Refusal::missing("delta", remedy));
        };
        let Some(epsilon) = self.epsilon else {
            let remedy = "give the budget of which the selection of groups gets a share";
            return Err(Refusal::missing("epsilon", remedy));
        };
        let share = quantity::finite("share", selected.share)?;
        if !(share > 0.0 && share < 1.0) {
            return Err(Refusal::value(
                "share",
                share,
                "give a share of epsilon between 0 and 1, such as 0.1",
            ));
        }
        let own = match selected.delta {
            None => Delta::new(delta.get() / 2.0)?,
            Some(own) if own < delta.get() => quantity::delta(own)?,
            Some(own) => {
                let remedy = format!("give a part of the page's delta, below {delta}");
                return Err(Refusal::value("delta", own, remedy).within("keys"));
            }
        };
        let epsilon = Epsilon::new(share * epsilon.get())?;
        let labels = self.unit.limits.groups();
        Ok(Some(StableHistogram::for_units(labels, self.page.neighboring, epsilon, own)?))
    }

    /// The least noise with which every question has its wanted error.
    fn by_error(
        &self,
        pieces: &mut [Piece],
        serving: &[usize],
        terms: &Terms<'_>,
    ) -> Result<Priced, Refusal> {
        let mut noises = Vec::with_capacity(pieces.len());
        for (place, piece) in pieces.iter_mut().enumerate() {
            let questions = self.asked.iter().enumerate().filter(|(question, _)| serving[*question] == place);
            let (noise, from) = expected::noise(questions, piece, terms, self.confidence)?;
            piece.weight_from = from;
            noises.push(noise);
        }
        let most = match self.epsilon {
            Some(epsilon) => epsilon,
            None => Epsilon::new(quantity::LARGEST_EPSILON)?,
        };
        let budget = Guarantee { epsilon: most, delta: self.delta.unwrap_or(Delta::ZERO) };
        let priced = terms.accounted(pieces, noises, budget)?;
        let needed = priced.guarantee.epsilon;
        if needed > most {
            let remedy = match self.epsilon {
                Some(_) => "allow more, or larger errors",
                None => "above that there is no protection: allow larger errors",
            };
            let text = format!("the wanted errors need epsilon = {:.4}: {remedy}", needed.get());
            return Err(Refusal::value("epsilon", most, text).coded(Code::Useless));
        }
        Ok(priced)
    }
}
