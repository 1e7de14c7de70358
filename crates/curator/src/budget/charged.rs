//! Requests that are charged to a stored budget, answers that are remembered, and what is left.

use super::names::{MEMORY, STDIN};
use super::question::CanonicalQuestion;
use super::stored::{StoredBudget, watched};
use crate::refusal::Refusal;
use crate::watch::Watch;
use crate::{Planned, Request};
use reticent_core::{Code, Guarantee, Plan};
use reticent_data::Reading;
use reticent_ledger::{
    Asking, BudgetScope, BudgetStore, Moment, QuestionDigest, RememberedAnswer, StoreError,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::PathBuf;

/// The smallest part of a limit that is called something: below it, nothing useful is left.
const LEAST_PART: f64 = 1e-3;

/// A request that a stored budget can be charged for.
pub trait Budgeted: Request + Serialize {
    /// The request in public words, for the history.
    fn about(&self) -> String;

    /// The same, with what only the plan knows.
    fn about_planned(&self, _: &Self::Planned) -> String {
        self.about()
    }

    /// How its data are read, which has to be the way that the budget says; none where it does not say so itself.
    fn reading(&self, _: &Self::Planned) -> Option<Reading> {
        let fields = serde_json::to_value(self).ok()?;
        // A request that names no data continues an earlier one, which was checked.
        let names_data = fields.get("file").is_some() || fields.get("data").is_some();
        // The usual way may be left out.
        names_data
            .then(|| fields.get("reading").and_then(|own| Reading::deserialize(own).ok()).unwrap_or_default())
    }

    /// Files that are taken as public, which must not be the data of the budget.
    fn public_files(&self) -> Vec<(&'static str, PathBuf)> {
        Vec::new()
    }

    /// The private data that it reads, by their paths; an empty path for a table in memory.
    fn data(&self, planned: &Self::Planned) -> Vec<PathBuf>;

    /// What the same request would cost at another ε; none where that is known only after data are read.
    fn pricing(&self, _: &Self::Planned) -> Option<Pricing> {
        None
    }
}

/// What a request would cost at any ε.
pub struct Pricing {
    /// What is asked, such as `count`.
    pub noun: String,
    /// The plan at this ε; none where it cannot be met.
    pub plan_at: Box<dyn Fn(f64) -> Option<Plan>>,
    /// Whether a plan is made so fast that what is left is told after every answer, and not only after a refusal.
    pub is_quick: bool,
}

/// A request whose answer a budget remembers.
pub trait Remembered: Budgeted {
    /// What is asked, with these names of the data in place of their paths and without the places of outputs.
    ///
    /// # Errors
    /// [`Refusal`] when a public file that is part of the question cannot be read.
    fn question(&self, planned: &Self::Planned, data: &[String]) -> Result<CanonicalQuestion, Refusal>;

    /// The outcome as it is kept.
    fn keep(outcome: &<Self::Planned as Planned>::Outcome) -> Option<Value>;

    /// The outcome that was kept.
    fn recall(kept: Value) -> Option<<Self::Planned as Planned>::Outcome>;
}

/// An outcome, and how the budget stands after it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Charged<T> {
    /// The outcome.
    #[serde(flatten)]
    pub outcome: T,
    /// How the budget stands.
    #[serde(rename = "budget")]
    pub standing: BudgetStanding,
}

/// How a budget stands after a request.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BudgetStanding {
    /// Its file.
    pub file: PathBuf,
    /// Its name.
    pub name: String,
    /// The numbers of the charges that were made; for a remembered answer the one to the part of who asked, if it had not paid yet.
    pub charges: Vec<u64>,
    /// When the answer was given for the first time, if it was remembered: then the whole budget was not charged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remembered: Option<Moment>,
    /// The limit of the budget.
    pub limit: Guarantee,
    /// The largest ε of one more pure question, rounded down; of all limits that hold for who asked.
    pub left: f64,
    /// The same in terms of what was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub still: Option<StillAskable>,
}

/// At which ε a question could still be asked.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StillAskable {
    /// What was asked, such as `count`.
    pub question: String,
    /// The largest ε that fits, rounded down; none where nothing useful does.
    pub epsilon: Option<f64>,
}

impl StillAskable {
    /// `this count could still be asked at epsilon = 0.21`.
    pub fn words(&self) -> String {
        let question = &self.question;
        match self.epsilon {
            Some(epsilon) => format!("this {question} could still be asked at epsilon = {epsilon}"),
            None => format!("this {question} cannot be asked any more"),
        }
    }
}

impl StoredBudget {
    /// Answers a request: with the remembered answer, or by charging the budget and running it. A remembered answer costs nothing but
    /// in one case: the part of an analyst or a purpose that has not paid for it is charged what it cost. With `refresh` the
    /// question is paid for anew, and the new answer is remembered. Questions about tables in memory and standard input are always
    /// paid for, because nothing tells one table from another.
    ///
    /// # Guarantee
    /// Whether an answer is remembered depends on the questions that were asked before, and not on the data. The charge is on
    /// record before a value is read, and counts as spent whether or not an answer is given.
    ///
    /// # Reference
    /// [`BudgetStore`].
    ///
    /// # Errors
    /// [`Refusal`] when the data do not belong to the budget, when it does not cover the request, or of the request itself.
    pub fn answer<R: Remembered>(
        &self,
        request: &R,
        planned: R::Planned,
        refresh: bool,
        watch: Option<Box<dyn Watch>>,
    ) -> Result<Charged<<R::Planned as Planned>::Outcome>, Refusal> {
        let data = self.check(request, &planned)?;
        let about = request.about_planned(&planned);
        if data.iter().any(|name| name == MEMORY || name == STDIN) {
            return self.run(request, planned, self.asking(about), watch, |_| None);
        }
        let question = QuestionDigest::of(request.question(&planned, &data)?.text().as_bytes());
        let asking = Asking { question: Some(question), ..self.asking(about) };
        if !refresh && let Some(found) = self.recall(&asking)? {
            let unreadable = || {
                let text = format!(
                    "{}: the remembered answer of charge {} was kept by another version: pay for a new one with ⟦refresh⟧",
                    self.file().display(),
                    found.entry
                );
                Refusal::new(Code::Format, text)
            };
            let kept = serde_json::from_slice(&found.answer).ok().and_then(R::recall);
            let outcome = kept.ok_or_else(unreadable)?;
            let charges: Vec<u64> = found.charged.iter().map(|entry| entry.number()).collect();
            let pricing = request.pricing(&planned);
            let standing = self.standing(&asking, pricing.as_ref(), &charges, Some(found.time))?;
            return Ok(Charged { outcome, standing });
        }
        self.run(request, planned, asking, watch, |outcome| {
            // What does not come back is not remembered.
            let kept = R::keep(outcome)?;
            R::recall(kept.clone())?;
            serde_json::to_vec(&kept).ok()
        })
    }

    /// Charges the budget for a request and runs it. Its outcome is not remembered.
    ///
    /// # Guarantee
    /// As [`answer`](Self::answer).
    ///
    /// # Reference
    /// [`BudgetStore`].
    ///
    /// # Errors
    /// As [`answer`](Self::answer).
    pub fn charge_for<R: Budgeted>(
        &self,
        request: &R,
        planned: R::Planned,
        watch: Option<Box<dyn Watch>>,
    ) -> Result<Charged<<R::Planned as Planned>::Outcome>, Refusal> {
        self.check(request, &planned)?;
        let asking = self.asking(request.about_planned(&planned));
        self.run(request, planned, asking, watch, |_| None)
    }

    /// The data of a request, which belong to the budget and are read as it says.
    fn check<R: Budgeted>(&self, request: &R, planned: &R::Planned) -> Result<Vec<String>, Refusal> {
        let reading = request.reading(planned);
        let data = self.check_read(&request.data(planned), reading.as_ref())?;
        request.public_files().iter().try_for_each(|(field, file)| self.check_public(field, file))?;
        Ok(data)
    }

    /// A remembered answer, for which the part of who asks pays if it has not.
    fn recall(&self, asking: &Asking) -> Result<Option<RememberedAnswer>, Refusal> {
        self.store()?.remembered(asking).map_err(|error| match error {
            StoreError::Exceeded { scope, .. } => {
                let text = format!(
                    "{}: the answer is remembered, and {scope} has less left than it cost: ask at a smaller epsilon, or have \
                     the part enlarged",
                    self.file().display()
                );
                Refusal::new(Code::Spent, text)
            }
            error => error.into(),
        })
    }

    /// How the budget stands before a request, and at which ε the request could be asked. Nothing is charged, and no value is read.
    /// A request that does not fit is not refused here.
    ///
    /// # Errors
    /// As [`answer`](Self::answer).
    pub fn foresee<R: Budgeted>(&self, request: &R, planned: &R::Planned) -> Result<BudgetStanding, Refusal> {
        self.check(request, planned)?;
        self.standing(&self.asking(""), request.pricing(planned).as_ref(), &[], None)
    }

    fn run<R: Budgeted>(
        &self,
        request: &R,
        planned: R::Planned,
        asking: Asking,
        watch: Option<Box<dyn Watch>>,
        keep: impl FnOnce(&<R::Planned as Planned>::Outcome) -> Option<Vec<u8>>,
    ) -> Result<Charged<<R::Planned as Planned>::Outcome>, Refusal> {
        let pricing = request.pricing(&planned);
        let (session, receipt) = self.charging(asking.clone())?;
        let outcome = match planned.run(&mut watched(session, watch)) {
            Ok(outcome) => outcome,
            Err(refusal) if refusal.code() == Code::Spent && receipt.entries().is_empty() => {
                return Err(self.in_terms_of_the_question(refusal, &asking, pricing.as_ref()));
            }
            Err(refusal) => return Err(refusal),
        };
        let charges: Vec<u64> = receipt.entries().iter().map(|entry| entry.number()).collect();
        receipt.commit(keep(&outcome).as_deref())?;
        let standing = self.standing(&asking, pricing.as_ref(), &charges, None)?;
        Ok(Charged { outcome, standing })
    }

    /// How the budget stands for who asks.
    fn standing(
        &self,
        asking: &Asking,
        pricing: Option<&Pricing>,
        charges: &[u64],
        remembered: Option<Moment>,
    ) -> Result<BudgetStanding, Refusal> {
        let mut store = self.store()?;
        let status = store.status()?;
        let counts = |scope: &BudgetScope| match scope {
            BudgetScope::Total => true,
            BudgetScope::Analyst(name) => asking.analyst.as_ref() == Some(name),
            BudgetScope::Purpose(name) => asking.purpose.as_ref() == Some(name),
        };
        let is_open = !status.is_closed && !status.is_expired;
        let left = status.limits.iter().filter(|limit| counts(&limit.scope)).map(|limit| limit.left.get());
        let left = if is_open { left.fold(f64::INFINITY, f64::min) } else { 0.0 };
        let still = pricing.filter(|pricing| pricing.is_quick).map(|pricing| StillAskable {
            question: pricing.noun.clone(),
            epsilon: is_open.then(|| largest(&mut *store, asking, pricing, status.terms.limit)).flatten(),
        });
        Ok(BudgetStanding {
            file: self.file().to_path_buf(),
            name: status.terms.name,
            charges: charges.to_vec(),
            remembered,
            limit: status.terms.limit,
            left,
            still,
        })
    }

    /// The refusal of a question that no longer fits, with what could be asked instead.
    fn in_terms_of_the_question(
        &self,
        refusal: Refusal,
        asking: &Asking,
        pricing: Option<&Pricing>,
    ) -> Refusal {
        let still = pricing.and_then(|pricing| {
            let mut store = self.store().ok()?;
            let limit = store.terms().ok()?.limit;
            let epsilon = largest(&mut *store, asking, pricing, limit);
            Some(StillAskable { question: pricing.noun.clone(), epsilon }.words())
        });
        match still {
            Some(words) => {
                let text = format!("{}: {}; {words}", self.file().display(), refusal.message());
                Refusal::new(Code::Spent, text).because(refusal)
            }
            None => refusal.within(&self.file().display().to_string()),
        }
    }
}

/// The largest ε at which a question fits, to three digits and rounded down.
fn largest(store: &mut dyn BudgetStore, asking: &Asking, pricing: &Pricing, limit: Guarantee) -> Option<f64> {
    let most = limit.epsilon.get();
    let part = store.largest(asking, &|part| (pricing.plan_at)(part * most)).ok()??;
    let epsilon = three_digits_down(part * most);
    // Rounded down, it still fits, because less costs less.
    (part >= LEAST_PART && epsilon > 0.0).then_some(epsilon)
}

/// A number of at most three digits that is not above the given one.
fn three_digits_down(value: f64) -> f64 {
    let text = reticent_report::digits::significant(value, 3, reticent_report::digits::RoundingSide::Down);
    text.parse().ok().filter(|rounded| *rounded <= value).unwrap_or(0.0)
}
