//! Every case of `testdata/accounting/vectors.json`.

use super::events::{budget, delta, epsilon, multiplier, rate, sampled};
use reticent_accounting::tight::{Direction, TightAccountant};
use reticent_accounting::{
    Accountant, AccountingError, CertifiedBounds, CompositionMethod, calibrate, composition, group, moments,
    optimal, rdp, tradeoff,
};
use reticent_core::profile::gaussian_noise_multiplier_up;
use reticent_core::{EventLog, Neighboring, Order, Probability};
use reticent_testkit::vectors::{Case, Expect, Question, Way, cases};

/// How far an answer may be from the truth, relative, by kind: the width of a bracket, or what a rounded-up
/// number adds.
const TOLERANCES: &[(&str, f64)] = &[
    // One mechanism in closed form.
    ("gaussian_delta", 1e-9),
    ("gaussian_epsilon", 1e-9),
    ("gaussian_sigma", 2e-6),
    ("replace_one", 1e-9),
    ("gdp", 1e-9),
    ("tree", 1e-9),
    ("one_step", 1e-9),
    ("sampled_laplace", 1e-9),
    ("discrete_gaussian", 1e-9),
    ("discrete_laplace", 1e-9),
    ("replaced_delta", 1e-6),
    ("trade_off_gaussian", 1e-6),
    ("trade_off_sampled", 1e-6),
    // Rényi curves and conversions.
    ("tree_rdp", 1e-9),
    ("laplace_rdp", 1e-9),
    ("response_rdp", 1e-9),
    ("kary_rdp", 1e-9),
    ("pure_rdp", 1e-9),
    ("sampled_gaussian_rdp", 1e-6),
    ("replaced_rdp", 1e-6),
    ("mixture_rdp", 1e-9),
    ("without_replacement_rdp", 1e-9),
    ("without_replacement_epsilon", 1e-6),
    ("rdp_to_dp", 1e-12),
    ("zcdp", 1e-6),
    ("renyi_epsilon", 1e-6),
    ("moments", 1e-9),
    ("strong_composition", 1e-6),
    ("bad_outcome", 1e-12),
    // Sums over outcomes.
    ("laplace_composed_delta", 1e-4),
    ("laplace_composed_epsilon", 1e-4),
    ("kary_composed", 1e-9),
    ("kov", 1e-9),
    ("mv", 1e-6),
    ("approximate", 1e-6),
    ("exponential", 1e-6),
    ("shuffled", 1e-6),
    // Claims.
    ("parallel", 1e-12),
    ("group", 1e-12),
    // Long compositions.
    ("training_epsilon", 1e-6),
    ("tiny_delta", 1e-6),
    ("training_delta", 1e-6),
    ("one_way_delta", 1e-6),
    ("training_sigma", 2e-6),
    ("training_steps", 1e-3),
    ("heterogeneous", 1e-6),
    ("group_training", 1e-6),
    ("trade_off_training", 1e-6),
];

/// A number known from both sides must hold the truth and be narrow; where only bounds on it are known, the claim
/// must lie between them.
fn bracketed(answer: CertifiedBounds, expect: Expect, tolerance: f64) -> Result<(), String> {
    let CertifiedBounds { lower, upper, .. } = answer;
    let fine = match expect {
        Expect::Exact(exact) => {
            let narrow = answer.method != CompositionMethod::Pld || upper - lower <= tolerance * upper;
            lower <= exact.get() && narrow && just_above(upper, exact.get(), tolerance)
        }
        Expect::Between(floor, ceiling) => {
            lower <= upper && upper >= floor.get() && upper <= ceiling.get() * (1.0 + tolerance)
        }
        Expect::Claim(..) => false,
    };
    if fine { Ok(()) } else { Err(format!("{answer:?} against {expect:?}")) }
}

/// A rounded-up number must not be below the truth.
fn above(value: f64, expect: Expect, tolerance: f64) -> Result<(), String> {
    let fine = match expect {
        Expect::Exact(exact) => just_above(value, exact.get(), tolerance),
        Expect::Between(floor, ceiling) => value >= floor.get() && value <= ceiling.get() * (1.0 + tolerance),
        Expect::Claim(..) => false,
    };
    if fine { Ok(()) } else { Err(format!("{value:e} against {expect:?}")) }
}

fn just_above(value: f64, exact: f64, tolerance: f64) -> bool {
    value >= exact && value <= exact * (1.0 + tolerance)
}

fn one(expect: Expect) -> f64 {
    let Expect::Exact(exact) = expect else { panic!("an exact value is needed: {expect:?}") };
    exact.get()
}

fn training(q: f64, z: f64, steps: u64) -> Result<Accountant, AccountingError> {
    let mut account = Accountant::new(Neighboring::AddRemove, CompositionMethod::Pld);
    account.compose(&sampled(q, z), steps)?;
    Ok(account)
}

fn pld(log: &EventLog) -> Accountant {
    Accountant::of_log(log, CompositionMethod::Pld).unwrap()
}

fn check(case: &Case, tolerance: f64) -> Result<(), String> {
    let expect = case.expect;
    match &case.question {
        Question::Epsilon { log, delta: d, accountant } => {
            let method: CompositionMethod = accountant.parse().unwrap();
            let account = Accountant::of_log(log, method).unwrap();
            bracketed(account.epsilon(delta(*d)).unwrap(), expect, tolerance)
        }
        Question::Delta { log, epsilon: e } => {
            bracketed(pld(log).delta(epsilon(*e)).unwrap(), expect, tolerance)
        }
        Question::OneWay { log, epsilon: e, direction } => {
            let direction = match direction {
                Way::Remove => Direction::Remove,
                Way::Add => Direction::Add,
            };
            let account = TightAccountant::of_log(log).unwrap();
            above(account.delta_one_way(epsilon(*e), direction).unwrap(), expect, tolerance)
        }
        Question::Rdp { log, order } => above(pld(log).divergence(*order).unwrap(), expect, tolerance),
        Question::KullbackLeibler { event } => {
            above(rdp::kullback_leibler(event).unwrap(), expect, tolerance)
        }
        Question::NoiseMultiplier { rate: q, steps, epsilon: e, delta: d } => {
            if *q == 1.0 && *steps == 1 {
                let closed = gaussian_noise_multiplier_up(epsilon(*e), delta(*d)).unwrap();
                above(closed.get(), expect, tolerance)?;
            }
            let found = calibrate::noise_multiplier(budget(*e, *d), |z| training(*q, z, *steps)).unwrap();
            above(found, expect, tolerance)
        }
        Question::Steps { rate: q, noise_multiplier, epsilon: e, delta: d } => {
            let plan = |steps| training(*q, *noise_multiplier, steps);
            let found = calibrate::steps(budget(*e, *d), plan).unwrap() as f64;
            let fine = found <= one(expect) && found >= one(expect) * (1.0 - tolerance);
            if fine { Ok(()) } else { Err(format!("{found} steps against {expect:?}")) }
        }
        Question::Optimal { claims, delta: d } => {
            let claims: Vec<_> = claims.iter().map(|(e, d)| budget(*e, *d)).collect();
            let found = if claims.windows(2).all(|pair| pair[0] == pair[1]) {
                optimal::equal_epsilon_up(claims[0], claims.len() as u64, delta(*d))
            } else {
                optimal::unequal_epsilon_up(&claims, delta(*d))
            };
            above(found.unwrap().get(), expect, tolerance)
        }
        Question::Parallel { claims, neighboring } => {
            let claims: Vec<_> = claims.iter().map(|(e, d)| budget(*e, *d)).collect();
            claimed(composition::parallel(&claims, *neighboring).unwrap(), expect, tolerance)
        }
        Question::Group { claim, size } => {
            claimed(group::approximate(budget(claim.0, claim.1), *size).unwrap(), expect, tolerance)
        }
        Question::GroupEpsilon { log, size, delta: d } => {
            let answer = pld(&group::log(log, *size).unwrap()).epsilon(delta(*d)).unwrap();
            bracketed(answer, expect, tolerance)
        }
        Question::Conversion { order, divergence, delta: d } => {
            above(rdp::epsilon_at_order(*divergence, *order, delta(*d)), expect, tolerance)
        }
        Question::Outcome { order, divergence, probability } => {
            let (order, probability) = (Order::new(*order).unwrap(), Probability::new(*probability).unwrap());
            let range = rdp::bad_outcome(order, epsilon(*divergence), probability).unwrap();
            let Expect::Between(floor, ceiling) = expect else { return Err(format!("{range:?}")) };
            let low = range.lower <= floor.get() && range.lower >= floor.get() * (1.0 - tolerance);
            let high = just_above(range.upper, ceiling.get(), tolerance);
            if low && high { Ok(()) } else { Err(format!("{range:?} against {expect:?}")) }
        }
        Question::StrongComposition { rate: q, noise_multiplier: z, steps, delta: d } => {
            let found = moments::strong_composition_as_published(rate(*q), multiplier(*z), *steps, delta(*d))
                .unwrap();
            let fine = (found / one(expect) - 1.0).abs() <= tolerance;
            if fine { Ok(()) } else { Err(format!("{found} against {expect:?}")) }
        }
        Question::TradeOff { log, fpr } => {
            let found = tradeoff::false_negative_rate(&pld(log), Probability::new(*fpr).unwrap()).unwrap();
            // A floor: rounded down.
            let fine = found <= one(expect) && found >= one(expect) * (1.0 - tolerance);
            if fine { Ok(()) } else { Err(format!("{found} against {expect:?}")) }
        }
    }
}

fn claimed(found: reticent_core::Guarantee, expect: Expect, tolerance: f64) -> Result<(), String> {
    let fine = match expect {
        Expect::Claim(e, d) => {
            just_above(found.epsilon.get(), e.get(), tolerance)
                && just_above(found.delta.get(), d.get(), tolerance)
        }
        _ => false,
    };
    if fine { Ok(()) } else { Err(format!("{found:?} against {expect:?}")) }
}

#[test]
fn every_reference_value() {
    let cases = cases().unwrap();
    let mut wrong = Vec::new();
    for case in &cases {
        let Some((_, tolerance)) = TOLERANCES.iter().find(|(kind, _)| *kind == case.kind) else {
            panic!("case {}: state how far its kind may be off", case.id);
        };
        if let Err(how) = check(case, *tolerance) {
            wrong.push(format!("case {}: {how}", case.id));
        }
    }
    assert!(wrong.is_empty(), "{} of {} cases:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
    for (kind, _) in TOLERANCES {
        assert!(cases.iter().any(|case| case.kind == *kind), "there is no case of {kind}");
    }
}

#[test]
fn closed_forms_of_gaussian_trade_offs_agree_with_the_account() {
    for case in cases().unwrap().iter().filter(|case| case.kind == "trade_off_gaussian") {
        let Question::TradeOff { log, fpr } = &case.question else { panic!("{}", case.id) };
        let reticent_core::Event::Gaussian { noise_multiplier } = log.events[0] else {
            panic!("{}", case.id)
        };
        let mu = reticent_core::Mu::new(1.0 / noise_multiplier.get()).unwrap();
        let closed = tradeoff::gaussian(mu, Probability::new(*fpr).unwrap());
        assert!((closed / one(case.expect) - 1.0).abs() < 1e-12, "{}: {closed}", case.id);
    }
}

#[test]
fn calibrated_noise_and_steps_meet_their_budget_and_no_more() {
    for case in cases().unwrap() {
        let (within, beyond, spent) = match case.question {
            Question::NoiseMultiplier { rate: q, steps, epsilon: e, delta: d } => {
                let z = calibrate::noise_multiplier(budget(e, d), |z| training(q, z, steps)).unwrap();
                (training(q, z, steps), training(q, z * 0.995, steps), budget(e, d))
            }
            Question::Steps { rate: q, noise_multiplier: z, epsilon: e, delta: d } => {
                let steps = calibrate::steps(budget(e, d), |steps| training(q, z, steps)).unwrap();
                (training(q, z, steps), training(q, z, steps + 1 + steps / 200), budget(e, d))
            }
            _ => continue,
        };
        assert!(within.unwrap().meets(spent).unwrap(), "{}", case.id);
        assert!(!beyond.unwrap().meets(spent).unwrap(), "{}", case.id);
    }
}

#[test]
fn the_references_cover_both_directions_and_relations() {
    let cases = cases().unwrap();
    assert!(cases.len() >= 100, "{} cases", cases.len());
    let ways = |way| {
        cases
            .iter()
            .any(|case| matches!(case.question, Question::OneWay { direction, .. } if direction == way))
    };
    assert!(ways(Way::Remove) && ways(Way::Add));
    assert!(cases.iter().any(|case| match &case.question {
        Question::Epsilon { log, .. } => log.neighboring == Neighboring::ReplaceOne,
        _ => false,
    }));
}
