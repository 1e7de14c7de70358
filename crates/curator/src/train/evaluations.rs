//! Early stopping by noisy scores on held-out units.
//!
//! With `patience` and `held_out`, and without public validation data, a run is scored on its held-out units at planned steps, and ends
//! when the score has not become better for so many of them. How many scores there may be and how much noise each has is settled before
//! an example is read, and all of them are charged, whether or not the run gets that far. The certificate states all steps and all scores.
//!
//! **Claim.** Let the steps, adaptively composed, be (ε₁, δ₁)-private about the units T that are trained on, and all scores with the
//! final test, adaptively composed, (ε₂, δ₂)-private about the held-out units H. Then everything that is given out, the weights, every
//! score and the step at which the run ends, is (max ε, max δ)-private under add-remove about all units.
//!
//! **Proof.** A unit is in T or in H by a keyed hash of its content and of how many equal units there are; one unit more or less changes
//! one of the two by that unit and leaves the other as it is (`held_out`). So neighbours differ in one part alone.
//!
//! *They differ in T.* H is the same set on both sides. Given everything that was given out before it, a score is drawn by a law that
//! depends on H and on that alone, so it is the same function of the past, with its own coins, on both sides. The decision to stop and
//! the order of steps and scores are such functions, too. What is given out is therefore a randomized post-processing, between the steps
//! as well as after them, of an adaptive sequence of at most the planned steps on T. Composition bounds such a sequence: each step's
//! mechanism has the event of the plan, whatever the weights are that it is applied to. A run that ends early gives out less than one that
//! took all its steps and kept the rest to itself. So it is (ε₁, δ₁)-private.
//!
//! *They differ in H.* The same with the parts exchanged: steps are functions of T and of the past with their own coins. A score counts
//! every held-out unit once, in one of two cells, whatever the network is that predicts, so its mechanism has the event of the plan for
//! any past. There are at most the planned number of scores and one final test: (ε₂, δ₂)-private.
//!
//! The larger of the two bounds both cases. A score of a run that goes on is drawn once: it is stored before anyone sees it, and an
//! attempt that comes to the same evaluation again takes the stored one.
//!
//! References: McSherry, *Privacy integrated queries* (2009), theorem 4; Dwork, Roth (2014), theorem 3.16 and its proof for mechanisms
//! that are chosen adaptively.

use super::held_out::{HeldOut, HeldOutScore, HeldOutTest};
use super::request::Train;
use crate::folder::Writer;
use crate::folder::layout::EVALUATIONS_FILE;
use crate::refusal::Refusal;
use reticent_core::{Code, Permit};
use reticent_noise::NoiseSession;
use reticent_train::Aggregation;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The most parts that a run is divided into by its evaluations: each takes a share of the noise.
const MOST_PARTS: u64 = 20;

/// A noisy score on held-out units during a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HeldOutEvaluation {
    /// Which of the planned evaluations it is, from 1.
    pub number: u64,
    /// After how many steps.
    pub step: u64,
    /// The score.
    pub score: HeldOutScore,
}

/// How many evaluations a run pays for; none where it does not end by its held-out score. Public data, where there are any, decide
/// instead, and cost nothing.
pub(super) fn planned(run: &Train, has_public: bool) -> Result<Option<u64>, Refusal> {
    let (Some(patience), Some(_), false) = (run.patience, run.held_out, has_public) else { return Ok(None) };
    let parts = match (run.steps, run.epochs) {
        (Some(steps), _) => steps,
        (None, epochs) => epochs.unwrap_or(1.0).ceil() as u64,
    };
    // The end of the run has a test of its own.
    let count = parts.clamp(1, MOST_PARTS) - 1;
    if patience >= count {
        let remedy = match count {
            0 | 1 => "too short a run to end early: give at least 3 epochs or steps, or leave it out".to_owned(),
            _ => format!("this run has {count} held-out scores: give a number from 1 to {}", count - 1),
        };
        return Err(Refusal::value("patience", patience, remedy));
    }
    Ok(Some(count))
}

/// Which evaluation is due after a step, of so many in so many steps; none where there is none.
fn due(step: u64, steps: u64, count: u64) -> Option<u64> {
    let passed = |step: u64| (u128::from(step) * u128::from(count + 1) / u128::from(steps.max(1))) as u64;
    let number = passed(step);
    (step > 0 && step < steps && number > passed(step - 1)).then_some(number)
}

/// The best score so far, and how many there have been since.
#[derive(Debug, Default)]
pub(super) struct Standstill {
    best: Option<f64>,
    since: u64,
}

impl Standstill {
    /// Takes in a score; whether it has not become better for this long.
    pub(super) fn lasts(&mut self, score: Option<f64>, patience: u64) -> bool {
        match score.filter(|score| self.best.is_none_or(|best| *score > best)) {
            Some(better) => (self.best, self.since) = (Some(better), 0),
            None => self.since += 1,
        }
        self.since >= patience
    }
}

/// The evaluations of a run.
pub(crate) struct Evaluations<'a> {
    pub(crate) held: HeldOut<'a>,
    /// The noise of the scores and the right to draw them; none without privacy.
    pub(crate) test: Option<(&'a HeldOutTest, &'a mut Permit)>,
    pub(crate) payer: &'a mut NoiseSession,
    /// How many are planned.
    pub(crate) count: u64,
    /// Those that were drawn, here and in earlier attempts.
    pub(crate) drawn: Vec<HeldOutEvaluation>,
    pub(crate) writer: Option<&'a Writer>,
}

impl Evaluations<'_> {
    /// The evaluation after this step; none where none is due. One that was drawn before is not drawn again.
    pub(super) fn at(
        &mut self,
        step: u64,
        steps: u64,
        network: &mut Aggregation,
    ) -> Result<Option<HeldOutEvaluation>, Refusal> {
        let Some(number) = due(step, steps, self.count) else { return Ok(None) };
        if let Some(known) = self.drawn.iter().find(|known| known.number == number) {
            return Ok(Some(known.clone()));
        }
        let test = self.test.as_mut().map(|(test, permit)| (*test, &mut **permit));
        let score = self.held.evaluate(network, test, self.payer)?;
        let found = HeldOutEvaluation { number, step, score };
        self.drawn.push(found.clone());
        if let Some(writer) = self.writer {
            let text = serde_json::to_string(&self.drawn).map_err(Refusal::internal)?;
            writer.write_durably(EVALUATIONS_FILE, format!("{text}\n").as_bytes())?;
        }
        Ok(Some(found))
    }

    /// How the scores stand that were drawn up to a step.
    pub(super) fn standstill(&self, step: u64, steps: u64) -> Standstill {
        let mut found = Standstill::default();
        for before in 1..=step {
            let number = due(before, steps, self.count);
            if let Some(known) = self.drawn.iter().find(|known| Some(known.number) == number) {
                found.lasts(Some(known.score.merit()), u64::MAX);
            }
        }
        found
    }
}

/// The evaluations that were drawn before in a folder.
pub(super) fn stored(folder: &Path) -> Result<Vec<HeldOutEvaluation>, Refusal> {
    let path = folder.join(EVALUATIONS_FILE);
    let Ok(text) = std::fs::read_to_string(&path) else { return Ok(Vec::new()) };
    serde_json::from_str(&text).map_err(|error| {
        let why = format!("{}: {error}: restore it from a backup", path.display());
        Refusal::new(Code::Broken, why).because(error)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(epochs: f64, patience: u64) -> Train {
        Train { epochs: Some(epochs), patience: Some(patience), held_out: Some(0.1), ..Train::default() }
    }

    #[test]
    fn evaluations_are_planned_from_the_request_alone() {
        assert_eq!(planned(&run(5.0, 2), false).unwrap(), Some(4));
        assert_eq!(planned(&run(4.5, 2), false).unwrap(), Some(4));
        assert_eq!(planned(&run(100.0, 5), false).unwrap(), Some(19));
        assert_eq!(planned(&Train { steps: Some(7), ..run(100.0, 5) }, false).unwrap(), Some(6));
        // Public data cost nothing.
        assert_eq!(planned(&run(5.0, 2), true).unwrap(), None);
        assert_eq!(planned(&Train { held_out: None, ..run(5.0, 2) }, false).unwrap(), None);
        assert_eq!(planned(&Train { patience: None, ..run(5.0, 2) }, false).unwrap(), None);
        for (epochs, patience, part) in [(5.0, 4, "from 1 to 3"), (2.0, 1, "too short"), (1.0, 1, "too short")] {
            let refusal = planned(&run(epochs, patience), false).unwrap_err();
            assert_eq!(refusal.field(), Some("patience"));
            assert!(refusal.to_string().contains(part), "{refusal}");
        }
    }

    #[test]
    fn there_are_never_more_than_planned() {
        for steps in 1..200 {
            for count in 1..20 {
                let numbers: Vec<u64> = (0..=steps).filter_map(|step| due(step, steps, count)).collect();
                assert!(numbers.is_sorted_by(|a, b| a < b), "{steps} {count}");
                assert!(numbers.iter().all(|number| (1..=count).contains(number)), "{steps} {count}");
                assert!(steps <= count || numbers.len() as u64 == count, "{steps} {count}");
            }
        }
    }

    #[test]
    fn a_run_stands_still_after_so_many_scores_that_are_not_better() {
        let mut own = Standstill::default();
        let scores = [0.1, 0.3, 0.3, 0.2, 0.4, 0.4, 0.1];
        let ends: Vec<bool> = scores.iter().map(|score| own.lasts(Some(*score), 2)).collect();
        assert_eq!(ends, [false, false, false, true, false, false, true]);
    }
}
