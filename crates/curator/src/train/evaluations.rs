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
    /// The score.
    pub score: HeldOutScore,
    /// After how many steps.
    pub step: u64,
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
            0 | 1 => {
                "too short a run to end early: give at least 3 epochs or steps, or leave it out".to_owned()
            }
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
            let known = self.drawn.iter().find(|known| Some(known.number) == number);
            if let Some(merit) = known.map(|known| known.score.merit()).filter(|merit| merit.is_finite()) {
                found.lasts(Some(merit), u64::MAX);
            }
        }
        found
    }
}

/// Warns if scores were too noisy to end a run by.
pub(super) fn blind(drawn: &[HeldOutEvaluation]) -> Option<String> {
    let lost = drawn.iter().filter(|own| !own.score.merit().is_finite()).count();
    (lost > 0).then(|| {
        format!(
            "{lost} of {} held-out scores were too noisy to tell anything, and did not count for ⟦patience⟧: give a larger ⟦held_out⟧, fewer \
             ⟦epochs⟧ or a larger ⟦epsilon⟧",
            drawn.len()
        )
    })
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
    use crate::bill::covers;
    use crate::train::{Resume, Trained};
    use crate::{Planned, Request, Session};
    use reticent_accounting::{Verdict, verify};
    use reticent_core::{Epsilon, Event, Guarantee, Ledger, LedgerError, Neighboring, Plan};
    use std::sync::{Arc, Mutex};

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
        for (epochs, patience, part) in
            [(5.0, 4, "from 1 to 3"), (2.0, 1, "too short"), (1.0, 1, "too short")]
        {
            let refusal = planned(&run(epochs, patience), false).unwrap_err();
            assert_eq!(refusal.field(), Some("patience"));
            assert!(refusal.to_string().contains(part), "{refusal}");
        }
    }

    /// A run on the bundled records that learns nothing, so that noise decides which score is the best.
    fn idle() -> Train {
        Train {
            model: Some("logistic".to_owned()),
            epsilon: Some(2.0),
            delta: Some(1e-6),
            dataset_size: Some(20_000),
            batch_size: Some(64),
            steps: Some(20),
            learning_rate: Some(1e-6),
            held_out: Some(0.1),
            patience: Some(1),
            threads: Some(1),
            ..Train::default()
        }
    }

    /// A ledger that keeps what was charged where the test sees it.
    struct Kept(Arc<Mutex<Vec<Plan>>>);

    impl Ledger for Kept {
        fn reserve(&mut self, plan: &Plan) -> Result<(), LedgerError> {
            self.0.lock().unwrap().push(plan.clone());
            Ok(())
        }

        fn neighboring(&self) -> Option<Neighboring> {
            Some(Neighboring::AddRemove)
        }
    }

    /// How many scores during the run an event has, and of which kind.
    fn scores(event: &Event) -> (u64, &Event) {
        let Event::Parallel { events } = event else { panic!("{event:?}") };
        let [_, Event::Composed { events: beside }] = &events[..] else { panic!("{events:?}") };
        let [Event::Repeated { count, event }, _] = &beside[..] else { panic!("{beside:?}") };
        (*count, event)
    }

    #[test]
    fn a_run_that_stops_early_has_paid_for_its_whole_plan() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("run");
        let request = Train { out: Some(folder.clone()), ..idle() };
        let charged = Arc::new(Mutex::new(Vec::new()));
        let ledger = Box::new(Kept(charged.clone()));
        let mut session = Session::new("census", "row", Neighboring::AddRemove, ledger).unwrap();
        let Trained::Finished(run) = request.check().unwrap().run(&mut session).unwrap() else { panic!() };
        // Nineteen scores in a row, each better than all before: one chance in 19!.
        assert!(run.steps < 20 && !run.evaluations.is_empty(), "{}", run.steps);
        assert_eq!(run.evaluations.len() as u64, run.steps);
        let last: Vec<f64> = run.evaluations.iter().rev().take(2).map(|own| own.score.merit()).collect();
        assert!(last[0] <= last[1], "{last:?}");
        assert!(run.evaluations.iter().all(|own| own.score.is_noisy && own.score.accuracy_doubt.is_some()));
        // The network hardly changes, so a score is the test's but for noise, whose 95 % margin is 0.024.
        let (first, test) = (run.evaluations[0].score.accuracy.unwrap(), run.held_out.as_ref().unwrap());
        assert!((first - test.accuracy.unwrap()).abs() < 0.11, "{first} {test:?}");
        // Everything was charged before, and everything is certified: all steps, and all scores.
        let certificate = run.certificate.clone().unwrap();
        let plans = charged.lock().unwrap().clone();
        assert_eq!(plans.len(), 1);
        assert_eq!(plans[0].events(), certificate.events);
        assert_eq!(scores(&certificate.events[0]).0, 19);
        let text = serde_json::to_string(&certificate.events).unwrap();
        assert!(text.contains(r#""count":20"#), "{text}");
        assert!(certificate.guarantee.epsilon.get() <= 2.0);
        assert!(matches!(verify(&certificate).unwrap(), Verdict::Holds(_)));
        // Going on draws nothing again.
        let again = Resume::new(folder).check().unwrap().run(&mut Session::without_limit().unwrap()).unwrap();
        let Trained::Finished(again) = again else { panic!() };
        let accuracy = |run: &crate::train::Finished| run.held_out.as_ref().and_then(|score| score.accuracy);
        assert_eq!((accuracy(&again), &again.evaluations), (accuracy(&run), &run.evaluations));
        assert_eq!(again.certificate, Some(certificate));
    }

    /// What a run of these settings pays for on held-out units.
    fn test_of(run: &Train, evaluations: Option<u64>) -> HeldOutTest {
        let reader = idle().check().unwrap().reader;
        HeldOutTest::of(run, &reader, Epsilon::new(2.0).unwrap(), evaluations).unwrap().unwrap()
    }

    #[test]
    fn scores_that_are_not_paid_for_are_refuted_and_not_drawn() {
        let (plain, paid) = (test_of(&idle(), None), test_of(&idle(), Some(19)));
        let holds = |claim: Guarantee, event: &Event| {
            matches!(
                covers(claim, std::slice::from_ref(event), Neighboring::AddRemove).unwrap(),
                Verdict::Holds(_)
            )
        };
        assert!(holds(paid.guarantee, &paid.event) && paid.guarantee.epsilon.get() <= 2.0);
        // The broken twin claims the final test, and gives out nineteen scores beside it.
        let Event::Composed { events } = &paid.event else { panic!("{:?}", paid.event) };
        let [Event::Repeated { count: 19, event: one }, last] = &events[..] else { panic!("{events:?}") };
        let half = Guarantee::pure(Epsilon::new(1.0).unwrap());
        assert!(holds(half, last) && !holds(half, &paid.event));
        // Of a plan with the final test alone no score is drawn, and of one with nineteen no twentieth.
        let charge = |event: &Event| {
            let mut session = Session::without_limit().unwrap();
            let payment = session.payment("row", Neighboring::AddRemove).unwrap();
            payment.payer.charge(&Plan::new(vec![event.clone()]).unwrap()).unwrap()
        };
        assert!(charge(last).spend(one).is_err() && charge(&plain.event).spend(one).is_err());
        let mut permit = charge(&paid.event);
        for _ in 0..19 {
            permit.spend(one).unwrap();
        }
        assert!(permit.spend(one).is_err() && permit.spend(last).is_ok() && permit.is_used_up());
    }

    #[test]
    fn public_data_or_held_out_units_decide() {
        let refusal = Train { held_out: None, ..idle() }.check().unwrap_err();
        assert_eq!(refusal.field(), Some("patience"), "{refusal}");
        assert!(refusal.to_string().contains("held_out"), "{refusal}");
        let plain =
            Train { non_private: Some(true), epsilon: None, delta: None, dataset_size: None, ..idle() };
        let done = plain.check().unwrap().run(&mut Session::without_limit().unwrap()).unwrap();
        let Trained::Finished(run) = done else { panic!() };
        assert!(run.certificate.is_none() && run.evaluations.iter().all(|own| !own.score.is_noisy));
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

    /// The law of everything that a small run gives out. A step is a randomized response of ε about the bit of the training unit, and a
    /// score one about the bit of the held-out unit, which the last step decides how to ask; a score of 0 ends the run.
    fn transcripts(trained: bool, held: bool, [step, score]: [f64; 2], left: u32) -> Vec<(Vec<bool>, f64)> {
        let truth = |epsilon: f64| epsilon.exp() / (1.0 + epsilon.exp());
        let chance = |bit: bool, said: bool, epsilon: f64| {
            if bit == said { truth(epsilon) } else { 1.0 - truth(epsilon) }
        };
        let mut found = Vec::new();
        for (one, other) in [(false, false), (false, true), (true, false), (true, true)] {
            let own = chance(trained, one, step) * chance(held ^ one, other, score);
            let rest = match other && left > 1 {
                true => transcripts(trained, held, [step, score], left - 1),
                false => vec![(Vec::new(), 1.0)],
            };
            found.extend(
                rest.into_iter().map(|(said, share)| ([vec![one, other], said].concat(), own * share)),
            );
        }
        found
    }

    /// The largest loss between two runs.
    fn loss(one: [bool; 2], other: [bool; 2], costs: [f64; 2]) -> f64 {
        let [one, other] = [one, other].map(|[trained, held]| transcripts(trained, held, costs, 3));
        let law: std::collections::BTreeMap<_, _> = other.into_iter().collect();
        one.into_iter().map(|(said, share)| (share / law[&said]).ln().abs()).fold(0.0, f64::max)
    }

    #[test]
    fn parts_that_take_turns_cost_as_much_as_the_dearer() {
        let costs = [0.3, 0.2];
        let (steps, scores) = (3.0 * costs[0], 3.0 * costs[1]);
        for bit in [false, true] {
            let trained = loss([false, bit], [true, bit], costs);
            let held = loss([bit, false], [bit, true], costs);
            assert!(trained <= steps + 1e-12 && held <= scores + 1e-12, "{trained} {held}");
            // Both are reached: a score that is not charged is seen.
            assert!(trained > steps - 1e-12 && held > scores - 1e-12, "{trained} {held}");
        }
        // The broken twin has one unit in both parts.
        assert!(loss([false, true], [true, false], costs) > steps + 0.5);
    }

    #[test]
    fn a_run_stands_still_after_so_many_scores_that_are_not_better() {
        let mut own = Standstill::default();
        let scores = [0.1, 0.3, 0.3, 0.2, 0.4, 0.4, 0.1];
        let ends: Vec<bool> = scores.iter().map(|score| own.lasts(Some(*score), 2)).collect();
        assert_eq!(ends, [false, false, false, true, false, false, true]);
    }
}
