//! Attribute inference: what a model adds to a guess of one column of a record from all its other columns.
//!
//! The attacker knows every other column of a record and its label, has records of the same kind that are not training data, and asks the
//! model about the record with every value in the place of the unknown one. Two guesses are made from its answers:
//!
//! - *Inversion*: argmax ln P(v | others) + ln p(label | others, v), with P from an imputation that does not know the label and p from the
//!   model (Fredrikson et al., 2014).
//! - *Calibrated*: argmax ln P(v | others, label) + ln p(label | others, v) − mean over reference models of ln p′(label | others, v).
//!   What every model of such data says is in the imputation already; what this model says more is about its training data. It is the
//!   likelihood ratio of membership, for each value (Jayaraman, Evans, 2022, for why imputation is subtracted).
//!
//! The baseline is the imputation argmax P(v | others, label), which never sees the model. Only the difference counts: a column that
//! follows from others is guessed well from any release, and from none. Members stand beside non-members, on which a model can only tell about
//! the population.
//!
//! Imputation and reference models learn from the attacker's own records, which are not judged. Both guesses are fixed beforehand; neither is
//! chosen by its results.

mod impute;

use crate::AttackError;
use impute::Imputation;
use reticent_audit::Features;
use reticent_audit::attacks::AttackKind;
use reticent_audit::disclosure::{Disclosure, DisclosureMeasure};
use reticent_audit::findings::Threat;
use reticent_audit::interval::{difference_of_proportions, paired_difference, proportion};
use std::collections::BTreeMap;

/// The most values of a column.
pub const MOST_VALUES: usize = 64;

/// The fewest records that an imputation learns from, and the fewest members and non-members that are judged.
pub const FEWEST: usize = 20;

/// Records with a column that is to be guessed, and what models say about them.
#[derive(Debug, Clone)]
pub struct AttributeStudy {
    /// The name of the column.
    pub column: String,
    /// How many values it may have.
    pub values: usize,
    /// All other columns of the attacker's records and then of the judged ones.
    pub known: Features,
    /// The class of all of them.
    pub labels: Vec<u32>,
    /// The true value of all of them.
    pub truth: Vec<u32>,
    /// Who of the judged records is a member, so how many there are.
    pub members: Vec<bool>,
    /// ln p(label | others, v) by the target, for every judged record and every value v.
    pub target: Vec<f64>,
    /// The same by every reference model.
    pub references: Vec<Vec<f64>>,
}

/// What is stated, and what choices depend on.
#[derive(Debug, Clone, PartialEq)]
pub struct AttributeSettings {
    /// How sure every interval is.
    pub confidence: f64,
    /// What the trees of imputations depend on.
    pub key: String,
}

impl AttributeStudy {
    /// How many records are the attacker's own.
    fn own(&self) -> usize {
        self.truth.len().saturating_sub(self.members.len())
    }

    fn check(&self) -> Result<(), AttackError> {
        if !(2..=MOST_VALUES).contains(&self.values) {
            let remedy = format!("give a column of 2 to {MOST_VALUES} values");
            return Err(AttackError::invalid(
                "column",
                format!("{} with {} values", self.column, self.values),
                remedy,
            ));
        }
        let judged = self.members.len();
        let members = self.members.iter().filter(|member| **member).count();
        if [self.own(), members, judged - members].into_iter().any(|count| count < FEWEST) {
            let value = format!(
                "{} of the attacker, {members} members, {} non-members",
                self.own(),
                judged - members
            );
            return Err(AttackError::invalid("records", value, format!("give at least {FEWEST} of each")));
        }
        let rows = self.truth.len();
        let fits = self.labels.len() == rows
            && self.known.values.len() == rows * self.known.columns
            && self.truth.iter().all(|value| (*value as usize) < self.values);
        let of_models = [&self.target].into_iter().chain(&self.references);
        if !fits || of_models.clone().any(|said| said.len() != judged * self.values) {
            return Err(AttackError::invalid(
                "records",
                rows,
                "give columns, labels and answers for all of them",
            ));
        }
        if of_models.flatten().any(|said| said.is_nan()) {
            return Err(AttackError::invalid("outputs", "NaN", "the model must give probabilities"));
        }
        Ok(())
    }

    /// Guesses the column of every judged record in both ways, and compares with imputation.
    ///
    /// # Errors
    /// [`AttackError::Invalid`] for a column of too many values, too few records, or parts that do not fit each other.
    pub fn run(&self, settings: &AttributeSettings) -> Result<Vec<Disclosure>, AttackError> {
        self.check()?;
        let judged = self.own()..self.truth.len();
        let blind = Imputation::fit(self, None, &settings.key)?.predict(judged.clone())?;
        let imputed = Imputation::fit(self, Some(&self.labels), &settings.key)?.predict(judged)?;
        let baseline = self.guesses(|place| imputed[place]);
        let inversion = self.guesses(|place| blind[place] + self.target[place]);
        let mut found = vec![self.disclosure(INVERSION, &inversion, &baseline, settings)];
        if !self.references.is_empty() {
            let usual = |place: usize| {
                self.references.iter().map(|said| said[place]).sum::<f64>() / self.references.len() as f64
            };
            let calibrated = self.guesses(|place| imputed[place] + self.target[place] - usual(place));
            found.push(self.disclosure(CALIBRATED, &calibrated, &baseline, settings));
        }
        Ok(found)
    }

    /// Whether the value with the largest score is the true one, for every judged record; of equal scores the first counts.
    fn guesses(&self, score: impl Fn(usize) -> f64) -> Vec<bool> {
        let truth = &self.truth[self.own()..];
        let guess = |record: usize| {
            let better = |best: usize, other: usize| {
                let at = |value: usize| score(record * self.values + value);
                if at(other) > at(best) { other } else { best }
            };
            (1..self.values).fold(0, better)
        };
        truth.iter().enumerate().map(|(record, truth)| guess(record) == *truth as usize).collect()
    }

    fn disclosure(
        &self,
        (name, about, extra): (&str, &str, &str),
        attack: &[bool],
        baseline: &[bool],
        settings: &AttributeSettings,
    ) -> Disclosure {
        let confidence = settings.confidence;
        let right = |guesses: &[bool], is_member: bool| -> (u64, u64) {
            let own = guesses.iter().zip(&self.members).filter(|(_, member)| **member == is_member);
            own.fold((0, 0), |(right, all), (guess, _)| (right + u64::from(*guess), all + 1))
        };
        let share = |(right, all): (u64, u64)| proportion(right, all, confidence);
        let side = |is_member: bool| {
            let only = |first: &[bool], second: &[bool]| {
                let pairs = first.iter().zip(second).zip(&self.members);
                pairs.filter(|((a, b), member)| **a && !**b && **member == is_member).count() as u64
            };
            let (gained, lost) = (only(attack, baseline), only(baseline, attack));
            let trials = right(attack, is_member).1;
            DisclosureMeasure {
                what: format!("{} guessed rightly (share)", self.column),
                condition: if is_member { "members" } else { "non-members" }.to_owned(),
                rises: true,
                attack: share(right(attack, is_member)),
                baseline: Some(share(right(baseline, is_member))),
                difference: Some(paired_difference(gained, lost, trials, confidence)),
            }
        };
        let advantage = DisclosureMeasure {
            what: format!("{} guessed rightly (share)", self.column),
            condition: "members less non-members".to_owned(),
            rises: true,
            attack: difference_of_proportions(right(attack, true), right(attack, false), confidence),
            baseline: Some(difference_of_proportions(
                right(baseline, true),
                right(baseline, false),
                confidence,
            )),
            difference: None,
        };
        let settings = [
            ("values", self.values.to_string()),
            ("attacker's own records", self.own().to_string()),
            ("reference models", self.references.len().to_string()),
        ];
        Disclosure {
            name: format!("{name}-{}", self.column),
            kind: AttackKind::AttributeInference,
            about: about.to_owned(),
            settings: settings
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect::<BTreeMap<_, _>>(),
            threat: Threat {
                access: "the probability of the label, with every value in the place of the unknown one"
                    .to_owned(),
                knowledge: format!(
                    "all other columns and the label of the record, and {} records that are not training data{extra}",
                    self.own()
                ),
                goal: AttackKind::AttributeInference.goal().to_owned(),
            },
            records: self.members.len() as u64,
            measures: vec![side(true), side(false), advantage],
            bound: None,
            warnings: Vec::new(),
        }
    }
}

const INVERSION: (&str, &str, &str) = (
    "attribute-inversion",
    "the value under which the model's answer and the other columns are likeliest, beside an imputation without the model",
    "",
);

const CALIBRATED: (&str, &str, &str) = (
    "attribute-calibrated",
    "the value under which the model fits the record better than reference models do, beside an imputation without the model",
    ", with models like the target trained on them",
);

#[cfg(test)]
mod tests;
