use crate::{amplification, composition, group, moments, optimal};
use reticent_core::profile::gaussian_epsilon_up;
use reticent_core::{Delta, Epsilon, Guarantee, Neighboring, NoiseMultiplier, Order, SamplingRate};

fn epsilon(v: f64) -> Epsilon {
    Epsilon::new(v).unwrap()
}
fn delta(v: f64) -> Delta {
    Delta::new(v).unwrap()
}
fn claim(e: f64, d: f64) -> Guarantee {
    Guarantee { epsilon: epsilon(e), delta: delta(d) }
}

#[track_caller]
fn within(value: f64, low: f64, high: f64) {
    assert!(value >= low && value <= high, "{value} not in {low}..{high}");
}

#[test]
fn composition_theorems() {
    let ten = composition::basic(&[claim(0.1, 1e-7); 10]).unwrap();
    within(ten.epsilon.get(), 1.0 - 1e-15, 1.0 + 1e-14);
    within(ten.delta.get(), 1e-6 * (1.0 - 1e-14), 1e-6 * (1.0 + 1e-14));
    let advanced = composition::advanced(claim(0.1, 0.0), 100, delta(1e-6)).unwrap();
    let formula = 0.1 * (200.0 * (1e6f64).ln()).sqrt() + 10.0 * 0.1f64.exp_m1();
    within(advanced.epsilon.get(), formula, formula * (1.0 + 1e-14));
    // One use is never charged more than itself.
    within(composition::advanced(claim(0.1, 0.0), 1, delta(1e-6)).unwrap().epsilon.get(), 0.1, 0.1 + 1e-15);
    let course = composition::renyi_course(epsilon(0.1), 100, delta(1e-6)).unwrap().get();
    within(
        course,
        0.4 * (200.0 * (1e6f64).ln()).sqrt(),
        0.4 * (200.0 * (1e6f64).ln()).sqrt() * (1.0 + 1e-14),
    );
    assert!(composition::renyi_course(epsilon(1.0), 100, delta(1e-6)).is_err());
    assert!(composition::advanced(claim(0.1, 0.0), 10, Delta::ZERO).is_err());
}

#[test]
fn parallel_composition_depends_on_the_relation() {
    let parts = [claim(1.0, 0.0), claim(0.5, 1e-6)];
    assert_eq!(composition::parallel(&parts, Neighboring::AddRemove).unwrap(), claim(1.0, 1e-6));
    assert_eq!(composition::parallel(&parts, Neighboring::ReplaceOne).unwrap(), claim(1.5, 1e-6));
}

#[test]
fn optimal_composition_of_equal_mechanisms() {
    within(
        optimal::equal_epsilon_up(claim(0.1, 0.0), 100, delta(1e-6)).unwrap().get(),
        4.774_567_578_107_987,
        4.774_572_372_675_574,
    );
    // One mechanism is itself.
    within(
        optimal::equal_delta_up(claim(1.0, 1e-5), 1, epsilon(1.0)),
        1e-5 * (1.0 - 1e-12),
        1e-5 * (1.0 + 1e-9),
    );
    assert!(optimal::equal_epsilon_up(claim(0.1, 1e-3), 100, delta(1e-6)).is_err());
    // Many small ones stay close to a Gaussian: certified, and far below basic composition.
    let many = optimal::equal_epsilon_up(claim(1e-4, 0.0), 10_000_000, delta(1e-6)).unwrap().get();
    let limit = gaussian_epsilon_up(NoiseMultiplier::new(1.0 / (1e-4 * 1e7f64.sqrt())).unwrap(), delta(1e-6))
        .unwrap()
        .get();
    within(many, limit * 0.999, limit * 1.001);
}

#[test]
fn optimal_composition_of_unequal_mechanisms() {
    let three = [claim(0.1, 0.0), claim(0.2, 0.0), claim(0.3, 0.0)];
    within(
        optimal::unequal_epsilon_up(&three, delta(1e-3)).unwrap().get(),
        0.593_950_863_918_310_5,
        0.594_950_873_918_310_6,
    );
    // Equal ones, counted either way, agree; the convolution may only round up.
    let equal = optimal::equal_epsilon_up(claim(0.1, 1e-8), 40, delta(1e-5)).unwrap().get();
    let listed = optimal::unequal_epsilon_up(&[claim(0.1, 1e-8); 40], delta(1e-5)).unwrap().get();
    within(listed, equal * (1.0 - 1e-9), equal * (1.0 + 1e-3));
    let ten = optimal::unequal_epsilon_up(&[claim(0.1, 1e-8); 10], delta(1e-5)).unwrap().get();
    within(
        ten,
        optimal::equal_epsilon_up(claim(0.1, 1e-8), 10, delta(1e-5)).unwrap().get() * (1.0 - 1e-9),
        1.0 + 1e-9,
    );
}

#[test]
fn amplification_and_groups() {
    let sampled = amplification::subsampled(claim(1.0, 1e-5), SamplingRate::new(0.01).unwrap()).unwrap();
    within(sampled.epsilon.get(), 0.017_036_8, 0.017_036_9);
    within(sampled.delta.get(), 1e-7 * (1.0 - 1e-12), 1e-7 * (1.0 + 1e-12));
    let huge = amplification::subsampled(claim(1000.0, 0.0), SamplingRate::new(0.5).unwrap()).unwrap();
    assert_eq!(huge.epsilon.get(), 1000.0);
    let three = group::approximate(claim(0.5, 1e-6), 3).unwrap();
    within(three.epsilon.get(), 1.5, 1.5 + 1e-14);
    within(three.delta.get(), 1e-6, 5.367_003_104_526_177e-6 * (1.0 + 1e-9));
    assert!(group::approximate(claim(0.5, 0.0), 0).is_err());
    let (order, grown) = group::renyi(Order::new(16.0).unwrap(), epsilon(0.1), 4).unwrap();
    assert_eq!(order.get(), 4.0);
    within(grown.get(), 0.9, 0.9 + 1e-14);
    assert!(group::renyi(Order::new(16.0).unwrap(), epsilon(0.1), 3).is_err());
}

#[test]
fn moments_accountant_reproduces_figure_two() {
    let value = moments::epsilon_up(
        SamplingRate::new(0.01).unwrap(),
        NoiseMultiplier::new(4.0).unwrap(),
        1000,
        delta(1e-5),
    )
    .unwrap();
    within(value.get(), 0.468_405_290_776_603_8 * (1.0 - 1e-9), 0.468_405_290_776_603_8 * (1.0 + 1e-6));
}

#[test]
fn optimal_composition_at_its_ends() {
    let pure = |e: f64| Guarantee::pure(Epsilon::new(e).unwrap());
    // The total is one rounding away from 13ε: the largest loss is above it.
    let one = pure(0.077_803_002_046_084_62);
    let up = optimal::equal_delta_up(one, 13, Epsilon::new(1.011_439_026_599_1).unwrap());
    assert!(up >= 5.56e-21, "{up:e}");
    let tiny = Delta::new(1e-14).unwrap();
    let two = optimal::unequal_epsilon_up(&[pure(1.0), pure(1.0)], tiny).unwrap().get();
    assert!(two <= 2.0 && two > 1.999_999, "{two}");
    assert!(optimal::unequal_epsilon_up(&[pure(1e-312)], Delta::new(1e-314).unwrap()).is_ok());
    for count in [1_000_000_000_000, u64::MAX] {
        let total = optimal::equal_epsilon_up(pure(1e-6), count, Delta::new(1e-6).unwrap()).unwrap().get();
        let k = count as f64;
        // √(2k ln(1/δ))·ε + kε²/2 is larger, the deviation that happens with probability 10⁻⁶ smaller.
        assert!(total < 1e-6 * (2.0 * k * 13.82).sqrt() + k * 0.5e-12 * 1.01 + 1.0, "{total}");
        assert!(total > 1e-6 * 4.0 * k.sqrt(), "{total}");
    }
}

#[test]
fn groups_of_every_size() {
    let (order, epsilon) = (Order::new(4.0).unwrap(), Epsilon::new(1.0).unwrap());
    assert!(group::renyi(order, epsilon, 1 << 63).is_err());
    assert!(group::renyi(order, epsilon, 3).is_err());
    let nothing = amplification::subsampled(
        Guarantee::pure(Epsilon::new(1000.0).unwrap()),
        SamplingRate::new(0.0).unwrap(),
    );
    assert_eq!(nothing.unwrap().epsilon.get(), 0.0);
}
