//! Whole trainings on worst-case neighbours: the ε that outputs prove must stay below the claim, and the same
//! training with too little noise must be caught.

use super::{Table, budget, plain, session};
use crate::gradient::DescentSchedule;
use crate::problem::Problem;
use crate::{FitMethod, MarginLoss, Scope, Settings};
use reticent_core::{Guarantee, Neighboring, Plan};
use reticent_testkit::hockey::{Counts, bin, epsilon_lower};

/// Trainings on each of the two data sets.
const TRAININGS: usize = 10_000;

/// Chance of a false alarm in one audit.
const ALPHA: f64 = 1e-7;

const BINS: usize = 60;

/// The rounded hinge far inside its straight part: every slope is −1 or 1, the worst there is.
const LOSS: MarginLoss = MarginLoss::Huber { h: 0.5 };

/// Λ that keeps weights, noise included, in the straight part.
const REGULARIZATION: f64 = 100.0;

fn settings(neighboring: Neighboring) -> Settings {
    let settings = match neighboring {
        Neighboring::AddRemove => Settings::add_remove(2),
        Neighboring::ReplaceOne => Settings::default(),
    };
    plain(settings, REGULARIZATION)
}

fn pair(neighboring: Neighboring) -> (Table, Table) {
    let (one, other) = ((vec![1.0], 1.0), (vec![1.0], -1.0));
    match neighboring {
        Neighboring::ReplaceOne => {
            (Table::dense(1, &[one.clone(), one.clone()]), Table::dense(1, &[one, other]))
        }
        Neighboring::AddRemove => (Table::dense(1, &[one.clone(), one.clone()]), Table::dense(1, &[one])),
    }
}

fn schedule(method: FitMethod) -> Option<DescentSchedule> {
    let sampling_rate = (method == FitMethod::Sgd).then_some(0.5);
    matches!(method, FitMethod::Descent | FitMethod::Sgd).then_some(DescentSchedule {
        steps: 4,
        learning_rate: 1e-3,
        momentum: 0.0,
        radius: 1e3,
        sampling_rate,
    })
}

/// The ε that trainings with noise for `noise` prove at `claim`'s δ.
fn proven(method: FitMethod, neighboring: Neighboring, noise: Guarantee, claim: Guarantee) -> f64 {
    let settings = settings(neighboring);
    let (a, b) = pair(neighboring);
    let first = Problem::new(a.rows(), LOSS, 0.0).unwrap();
    let second = Problem::new(b.rows(), LOSS, 0.0).unwrap();
    let scope = Scope::of(&first, &settings).unwrap();
    let plan = method.plan(&scope, noise, schedule(method), 1).unwrap();
    let charges = Plan::new(plan.events(scope.width).unwrap()).unwrap();
    let mut session = session(&settings);
    let mut train = |problem: &Problem<'_>, count: usize| -> Vec<f64> {
        (0..count)
            .map(|_| {
                let mut permit = session.charge(&charges).unwrap();
                let outcome = plan.run(problem, &mut session.with(&mut permit));
                assert!(permit.is_used_up());
                outcome.unwrap().weights[0]
            })
            .collect()
    };
    // Bins around the outputs of a few trainings that are not used otherwise.
    let mut scout: Vec<f64> = train(&first, 400);
    scout.extend(train(&second, 400));
    scout.sort_by(f64::total_cmp);
    let (low, high) = (scout[4], scout[795]);
    let width = (high - low) / (BINS - 2) as f64;
    let mut count = |problem: &Problem<'_>| {
        let outputs = train(problem, TRAININGS);
        Counts::gather(BINS, outputs.into_iter().map(|w| bin(w, low - width, width, BINS)))
    };
    let (p, q) = (count(&first), count(&second));
    epsilon_lower(&p, &q, claim.delta.get(), ALPHA)
}

/// The twin has noise for `less` times the claim's ε.
fn audit(method: FitMethod, neighboring: Neighboring, claim: Guarantee, less: f64) {
    let honest = proven(method, neighboring, claim, claim);
    assert!(honest <= claim.epsilon.get(), "{method} {neighboring}: {honest} proven of {claim}");
    let twin = budget(less * claim.epsilon.get(), claim.delta.get());
    let broken = proven(method, neighboring, twin, claim);
    assert!(broken > claim.epsilon.get(), "{method} {neighboring}: only {broken} proven of a broken twin");
}

#[test]
fn output_perturbation() {
    audit(FitMethod::Output, Neighboring::ReplaceOne, budget(1.0, 0.0), 2.0);
    audit(FitMethod::Output, Neighboring::AddRemove, budget(1.0, 0.01), 3.0);
}

#[test]
fn objective_perturbation() {
    audit(FitMethod::Objective, Neighboring::ReplaceOne, budget(1.0, 0.0), 2.0);
    audit(FitMethod::Objective, Neighboring::AddRemove, budget(1.0, 0.01), 3.0);
}

#[test]
fn published_objective_perturbation() {
    audit(FitMethod::Chaudhuri, Neighboring::ReplaceOne, budget(1.0, 0.0), 2.0);
    // The published Gaussian noise is several times what is needed, so their twins have a tenth of it.
    for (method, neighboring) in
        [(FitMethod::Kifer, Neighboring::AddRemove), (FitMethod::Iyengar, Neighboring::ReplaceOne)]
    {
        let claim = budget(1.0, 0.01);
        assert!(proven(method, neighboring, claim, claim) <= 1.0);
        assert!(proven(method, neighboring, budget(10.0, 0.01), claim) > 1.0, "{method}");
    }
}

#[test]
fn gradient_perturbation() {
    audit(FitMethod::Descent, Neighboring::ReplaceOne, budget(1.0, 0.01), 3.0);
    // One number of four noisy, sampled steps tells less of the noise than a whole transcript would.
    audit(FitMethod::Sgd, Neighboring::AddRemove, budget(1.0, 0.01), 6.0);
}
