use super::{Numbers, Table, budget, plain, scope};
use crate::draw::PerturbationLaw;
use crate::gradient::course_sigma;
use crate::objective::{self, Profile, redberg_delta_up};
use crate::plan::NoisePlacement;
use crate::{FitMethod, MarginLoss, Scope, Settings, output, utility};
use reticent_accounting::{Accountant, CompositionMethod};
use reticent_core::{Delta, Epsilon, Event, Neighboring, NoiseMultiplier, SamplingRate};

fn near(a: f64, b: f64, relative: f64) -> bool {
    (a / b - 1.0).abs() < relative
}

fn thousand(neighboring: Neighboring, regularization: f64) -> Scope {
    Scope {
        size: 1000,
        width: 10,
        l1_bound: 4.0,
        loss: MarginLoss::Logistic,
        neighboring,
        regularization: Some(regularization),
    }
}

#[test]
fn losses_keep_to_their_constants() {
    let mut numbers = Numbers::new(2);
    for loss in [
        MarginLoss::Logistic,
        MarginLoss::SVM,
        MarginLoss::Huber { h: 0.02 },
        MarginLoss::Squared { radius: 3.0 },
    ] {
        let constants = loss.constants();
        for _ in 0..20_000 {
            let (m, y) = (20.0 * numbers.next() - 10.0, if numbers.next() < 0.5 { -1.0 } else { 1.0 });
            let (slope, curvature) = loss.derivatives(m, y);
            assert!(slope.abs() <= constants.lipschitz && (0.0..=constants.smoothness).contains(&curvature));
            assert!(!constants.monotone || y * slope <= 0.0);
            let h = 1e-6;
            let numeric = (loss.value(m + h, y) - loss.value(m - h, y)) / (2.0 * h);
            assert!((numeric - slope).abs() < 1e-4, "{loss:?} {m} {numeric} {slope}");
        }
    }
    assert_eq!(MarginLoss::Logistic.probability(0.0), Some(0.5));
    assert_eq!(MarginLoss::SVM.probability(0.0), None);
}

#[test]
fn output_noise_is_that_of_the_paper() {
    // β = nΛε/2 for L = 1, ε being the 99 % that the main noise gets.
    let plan = output::plan(&thousand(Neighboring::ReplaceOne, 0.01), budget(0.5, 0.0)).unwrap();
    let NoisePlacement::Output { shape: PerturbationLaw::Spherical, scale } = plan.place else { panic!() };
    assert!(near(1.0 / scale, 1000.0 * 0.01 * 0.99 * 0.5 / 2.0, 1e-9));
    let single = output::plan(&thousand(Neighboring::AddRemove, 0.01), budget(0.5, 0.0)).unwrap();
    let NoisePlacement::Output { scale: half, .. } = single.place else { panic!() };
    assert!(near(scale, 2.0 * half, 1e-9));
    // With δ the sensitivity 2/(nΛ) = 0.2 grows by the solver's part alone.
    let gaussian = output::plan(&thousand(Neighboring::ReplaceOne, 0.01), budget(0.5, 1e-6)).unwrap();
    let sensitivity = gaussian.finishing_sensitivity_up();
    assert!(sensitivity > 0.2 && sensitivity < 0.2 * (1.0 + 1e-5), "{sensitivity}");
}

#[test]
fn chaudhuri_is_that_of_the_paper() {
    let c = 0.25;
    let (lambda, left) = objective::chaudhuri_constants(c, 10.0, 1.0);
    let ratio: f64 = c / 10.0;
    assert!(lambda == 10.0 && near(left, 1.0 - (1.0 + 2.0 * ratio + ratio * ratio).ln(), 1e-12));
    // ε so small that nothing is left: Λ + Δ = c/(n(e^{ε/4} − 1)), ε′ = ε/2.
    let (lambda, left) = objective::chaudhuri_constants(c, 0.01, 0.1);
    assert!(near(lambda, c / ((0.025f64).exp() - 1.0), 1e-12) && left == 0.05);
    let scope = thousand(Neighboring::ReplaceOne, 0.01);
    let plan = objective::chaudhuri(&scope, budget(1.0, 0.0)).unwrap();
    let NoisePlacement::Objective { shape: PerturbationLaw::Spherical, scale } = plan.place else { panic!() };
    assert!(near(scale, 2.0 / (0.99 - 2.0 * (1.025f64).ln()), 1e-9));
    assert!(objective::chaudhuri(&thousand(Neighboring::AddRemove, 0.01), budget(1.0, 0.0)).is_err());
    assert!(objective::chaudhuri(&scope, budget(1.0, 1e-6)).is_err());
    // The determinant once: never more noise than the paper's.
    let ours = objective::plan(&scope, budget(1.0, 0.0)).unwrap();
    let NoisePlacement::Objective { scale: less, .. } = ours.place else { panic!() };
    assert!(less < scale && near(less, 2.0 / (0.99 - (1.025f64).ln()), 1e-9));
}

#[test]
fn few_non_zeros_bring_independent_noise() {
    let mut scope = thousand(Neighboring::ReplaceOne, 0.1);
    (scope.width, scope.l1_bound) = (105, 13f64.sqrt());
    let plan = objective::plan(&scope, budget(1.0, 0.0)).unwrap();
    assert!(matches!(plan.place, NoisePlacement::Objective { shape: PerturbationLaw::Laplace, .. }));
    scope.l1_bound = 105f64.sqrt();
    let plan = objective::plan(&scope, budget(1.0, 0.0)).unwrap();
    assert!(matches!(plan.place, NoisePlacement::Objective { shape: PerturbationLaw::Spherical, .. }));
}

#[test]
fn published_gaussian_schedules_are_borne_out_by_the_profile() {
    for epsilon in [0.05, 0.1, 0.5, 1.0, 3.0] {
        for delta in [1e-9, 1e-5, 1e-3] {
            let budget = budget(epsilon, delta);
            let add = Scope { regularization: None, ..thousand(Neighboring::AddRemove, 0.1) };
            let replace = Scope { neighboring: Neighboring::ReplaceOne, ..add };
            let kifer = objective::kifer(&add, budget).unwrap();
            let NoisePlacement::Objective { scale, .. } = kifer.place else { panic!() };
            let (e, d) = (0.99 * epsilon, 0.99 * delta);
            assert!(near(scale, (8.0 * (2.0 / d).ln() + 4.0 * e).sqrt() / e, 1e-6));
            assert!(near(kifer.lambda, 2.0 * 0.25 / e, 1e-6));
            let iyengar = objective::iyengar(&replace, budget).unwrap();
            let best =
                objective::plan(&Scope { regularization: Some(iyengar.lambda / 1000.0), ..replace }, budget);
            let (
                NoisePlacement::Objective { scale: theirs, .. },
                NoisePlacement::Objective { shape, scale: ours },
            ) = (iyengar.place, best.unwrap().place)
            else {
                panic!()
            };
            assert!(shape != PerturbationLaw::Gaussian || ours < theirs, "{epsilon} {delta} {ours} {theirs}");
            assert!(objective::kifer(&replace, budget).is_err() && objective::iyengar(&add, budget).is_err());
        }
    }
    let (part, lambda, sigma) = objective::iyengar_constants(1.0, 0.25, 0.1, 1e-9);
    assert!(near(part, 0.1 * (0.887 + 0.0187 / 0.1f64.powf(0.373)), 1e-12));
    assert!(near(lambda, 0.5 / (0.1 - part), 1e-9));
    assert!(near(sigma, 2.0 * (1.0 + (2.0 * 1e9f64.ln()).sqrt()) / part, 1e-12));
}

#[test]
fn the_profile_is_the_published_one_where_signs_are_free() {
    // The integrals E(1 − e^{ε̃ − X})₊ over the folded normal, by mpmath.
    for (shifted, lipschitz, sigma, delta) in [
        (0.5, 1.0, 2.0, 0.104880646575339),
        (0.05, 2.0, 2.0, 0.666420634507321),
        (-0.3, 2.0, 2.0, 0.764930594161384),
    ] {
        assert!(near(redberg_delta_up(shifted, lipschitz, sigma), delta, 1e-12), "{shifted}");
    }
    let profile = Profile {
        constants: MarginLoss::Squared { radius: 1.0 }.constants(),
        lambda: 50.0,
        sigma: 8.0,
        neighboring: Neighboring::AddRemove,
    };
    let epsilon = Epsilon::new(1.0).unwrap();
    let expected = redberg_delta_up(1.0 - (1.0f64 + 1.0 / 50.0).ln(), 2.0, 8.0);
    assert!(near(profile.delta_up(epsilon), expected, 1e-6));
    // Below the middle it continues without a jump, and never exceeds the plain 2·H.
    let middle = 2.0 * 2.0 / (2.0 * 64.0);
    let (above, below) =
        (redberg_delta_up(middle + 1e-9, 2.0, 8.0), redberg_delta_up(middle - 1e-9, 2.0, 8.0));
    assert!((above - below).abs() < 1e-7, "{above} {below}");
    let calibrated = profile.calibrated(epsilon, Delta::new(1e-5).unwrap()).unwrap();
    assert!(near(calibrated.delta_up(epsilon), 1e-5, 1e-6) && calibrated.delta_up(epsilon) <= 1e-5);
}

#[test]
fn the_course_formula_holds_and_wastes() {
    let (epsilon, delta, n) = (Epsilon::new(0.5).unwrap(), Delta::new(1e-5).unwrap(), 200u64);
    let found = course_sigma(1.0, n, n * n, epsilon, delta).unwrap();
    let t = (n * n) as f64;
    let form = 16.0 * (t * (2e5f64).ln() * (2.5 * t / (1e-5 * n as f64)).ln()).sqrt() / (n as f64 * 0.5);
    assert!(near(found.sigma, form, 1e-12));
    let event = Event::PoissonSampled {
        rate: SamplingRate::new(1.0 / n as f64).unwrap(),
        event: Box::new(Event::Gaussian {
            noise_multiplier: NoiseMultiplier::new(found.sigma / 2.0).unwrap(),
        }),
    };
    let mut account = Accountant::new(Neighboring::AddRemove, CompositionMethod::Rdp);
    account.compose(&event, n * n).unwrap();
    assert!(account.epsilon(delta).unwrap().upper < 0.5);
    assert!(course_sigma(1.0, 0, 1, epsilon, delta).is_err());
    assert!(course_sigma(1.0, 10, 1, epsilon, Delta::ZERO).is_err());
}

#[test]
fn the_choice_is_made_without_data() {
    let table = Table::dense(2, &[(vec![1.0, 0.0], 1.0), (vec![0.0, 1.0], -1.0)]);
    let settings = plain(Settings::default(), 0.1);
    let small = scope(table.rows(), MarginLoss::Logistic, &settings);
    let adult = Scope { size: 32_561, width: 106, l1_bound: 4.0, ..small };
    assert_eq!(FitMethod::auto(&adult, budget(1.0, 0.0)).unwrap(), FitMethod::Objective);
    assert!(FitMethod::auto(&adult, budget(0.0, 0.0)).is_err());
    let large = Scope { size: 1_000_000, width: 100, ..small };
    let pure = utility::bounds(&large, budget(0.1, 0.0), 10.0);
    assert!(pure.iter().all(|bound| bound.method != FitMethod::Descent && bound.excess > 0.0));
    let chosen = FitMethod::auto(&large, budget(0.1, 1e-9)).unwrap();
    let bounds = utility::bounds(&large, budget(0.1, 1e-9), utility::USUAL_RADIUS);
    assert!(bounds.iter().all(|b| b.excess >= bounds.iter().find(|c| c.method == chosen).unwrap().excess));
    // More records for more privacy, and the number returned is the least.
    let need =
        |e: f64| utility::records_needed(&large, FitMethod::Objective, budget(e, 0.0), 10.0, 0.1).unwrap();
    assert!(need(0.1) > need(1.0));
    let at = |size: u64| utility::objective_excess(&Scope { size, ..large }, budget(1.0, 0.0), 10.0).excess;
    assert!(at(need(1.0)) <= 0.1 && at(need(1.0) - 1) > 0.1);
    assert!(utility::records_needed(&large, FitMethod::Kifer, budget(1.0, 0.0), 10.0, 0.1).is_err());
}
