//! Numbers known from elsewhere: closed forms and exact sums worked out with 40 digits, exact contour integrals
//! of the privacy loss, and formulas of the cited papers. What is reported is at least the exact value and at
//! most a stated distance above it.

use super::{json, json_about};
use serde_json::{Value, json};

fn gaussian(noise: f64) -> Value {
    json!({"gaussian": {"noise_multiplier": noise}})
}

fn laplace(noise: f64) -> Value {
    json!({"laplace": {"noise_multiplier": noise}})
}

fn repeated(count: u64, event: &Value) -> Value {
    json!({"repeated": {"count": count, "event": event}})
}

fn number(found: &Value, field: &str) -> f64 {
    found[field].as_f64().unwrap_or_else(|| panic!("{field} of {found}"))
}

fn close(found: f64, exact: f64, relative: f64) {
    assert!((found - exact).abs() <= relative * exact.abs(), "{found} is not {exact}");
}

/// At least the exact value, as far as that is known, and at most `room` above it.
fn just_above(found: f64, exact: f64, room: f64) {
    assert!(found >= exact * (1.0 - 1e-9) && found <= exact + room, "{found} for {exact}");
}

/// One order of the Rényi curve of events.
fn divergence(neighboring: &str, event: &Value, order: f64) -> f64 {
    let found = json_about(&format!("rdp --orders {order}"), neighboring, &json!([event]));
    found["rdp"][0].as_f64().unwrap()
}

/// Balle, Wang (2018), theorem 8: δ = Φ(1/2σ − εσ) − e^ε Φ(−1/2σ − εσ).
#[test]
fn gaussian_noise() {
    close(number(&json("delta --noise-multiplier 1 --epsilon 1"), "delta"), 0.126_936_737_506_643_94, 1e-9);
    close(number(&json("delta --noise-multiplier 5 --epsilon 2"), "delta"), 4.043_703_566_764_897e-25, 1e-9);
    just_above(
        number(&json("epsilon --noise-multiplier 2 --delta 1e-6"), "epsilon"),
        2.254_084_650_219_741,
        1e-8,
    );
    just_above(
        number(&json("epsilon --noise-multiplier 0.5 --delta 1e-10"), "epsilon"),
        14.274_089_645_078_005,
        1.4e-8,
    );
    for (target, exact) in [
        ("--epsilon 1 --delta 1e-5", 3.730_631_634_815_942),
        ("--epsilon 10 --delta 1e-6", 0.541_086_831_818_366),
    ] {
        just_above(number(&json(&format!("noise {target}")), "noise_multiplier"), exact, 1e-6 * exact);
    }
    // A sum clipped to C moves by up to 2C when a record is replaced.
    let replaced = json("epsilon --noise-multiplier 2 --delta 1e-6 --neighboring replace-one");
    just_above(number(&replaced, "epsilon"), 4.886_554_117_462_212, 1e-3);
    // In a Poisson sample, from +C to −C and mostly not at all: by an independent contour integral of that pair.
    let steps = "--noise-multiplier 1 --sampling-rate 0.01 --steps 1000 --delta 1e-5";
    let sampled = json(&format!("epsilon {steps} --neighboring replace-one"));
    just_above(number(&sampled, "epsilon"), 2.843_440_259_274_48, 1e-3);
    // μ-Gaussian differential privacy is Gaussian noise with σ = 1/μ.
    let gdp = json_about("epsilon --delta 1e-5", "add-remove", &json!([{"gdp": {"mu": 1.0}}]));
    just_above(number(&gdp, "epsilon"), 4.377_178_095_681_224_5, 1e-7);
    // The exact sum over the integers (Canonne, Kamath, Steinke 2020).
    let discrete = json!([{"discrete_gaussian": {"noise_multiplier": 2.0, "sensitivity": 1}}]);
    let found = json_about("delta --epsilon 0.5", "add-remove", &discrete);
    just_above(number(&found, "delta"), 0.054_007_223_694_154_42, 1.1e-4);
}

/// Mironov (2017), table II; composition by exact convolution.
#[test]
fn laplace_noise() {
    close(divergence("add-remove", &laplace(2.0), 1.5), 0.155_977_878_485_739_5, 1e-9);
    close(divergence("add-remove", &laplace(1.0), 1.0), (-1.0f64).exp(), 1e-9);
    let three = json_about("delta --epsilon 0.5", "add-remove", &json!([repeated(3, &laplace(2.0))]));
    just_above(number(&three, "delta"), 0.147_066_259_779_109_25, 1.4e-4);
    let four = json_about("epsilon --delta 0.01", "add-remove", &json!([repeated(4, &laplace(5.0))]));
    just_above(number(&four, "epsilon"), 0.650_846_920_209_005_5, 2e-3);
}

/// Randomized response, binary and with four categories; ten answers by the exact trinomial sum.
#[test]
fn randomized_response() {
    let response = |keep: f64, categories: u64| json!({"randomized_response": {"keep_probability": keep, "categories": categories}});
    close(divergence("replace-one", &response(0.6, 2), 3.5), 0.234_794_654_452_243_96, 1e-9);
    close(divergence("replace-one", &response(0.625, 4), 6.0), 1.515_462_789_042_168_8, 1e-9);
    let ten = json_about("epsilon --delta 1e-6", "replace-one", &json!([repeated(10, &response(0.625, 4))]));
    just_above(number(&ten, "epsilon"), 16.094_269_167_133_152, 0.016);
    // Anything ε-private is at most as bad as randomized response.
    close(divergence("add-remove", &json!({"pure": {"epsilon": 1.0}}), 3.5), 0.875_685_599_047_803_1, 1e-9);
}

/// Mironov, Talwar, Zhang (2019): exact moments of the sampled Gaussian, by quadrature with 40 digits.
#[test]
fn sampled_gaussian_divergences() {
    for (rate, noise, order, exact) in [
        (0.01, 1.0, 1.5, 0.000_127_253_743_327_449_83),
        (0.01, 1.0, 2.5, 0.000_217_575_332_281_880_47),
        (0.01, 4.0, 32.0, 0.000_105_263_606_590_817_26),
        (0.1, 10.0, 1.5, 7.533_832_009_729_102e-5),
        (0.5, 2.0, 1.6, 0.053_480_164_995_811_49),
        (1e-8, 1.0, 2.0, 1.718_281_828_459_045_2e-16),
    ] {
        let found = json(&format!("rdp --noise-multiplier {noise} --sampling-rate {rate} --orders {order}"));
        close(found["rdp"][0].as_f64().unwrap(), exact, 1e-6);
    }
}

/// Wang, Balle, Kasiviswanathan (2019), theorem 27, from above; the sampled Gaussian pair from below.
#[test]
fn batches_without_replacement() {
    let batch = json!({"sampled_without_replacement":
        {"dataset_size": 10_000, "batch_size": 100, "event": gaussian(5.0)}});
    let found = divergence("replace-one", &batch, 8.0);
    assert!((1.636_450_316e-5..=6.579_060_233e-5).contains(&found), "{found}");
    let run = json_about("epsilon --delta 1e-5", "replace-one", &json!([repeated(1000, &batch)]));
    assert!((0.211_413_947..=0.498_247_265).contains(&number(&run, "epsilon")), "{run}");
}

/// Exact values by the contour integral of the cumulants on two contours; the Rényi bound at the best real order.
#[test]
fn training_runs() {
    for (run, exact, renyi) in [
        (
            "--noise-multiplier 1 --sampling-rate 0.01 --steps 10000 --delta 1e-5",
            6.187_712_389_971_868,
            6.712_271_8,
        ),
        (
            "--noise-multiplier 1.1 --sampling-rate 0.004266666666666667 --steps 14040 --delta 1e-5",
            2.379_554_518_826_175_5,
            2.594_342_4,
        ),
        (
            "--noise-multiplier 0.6 --sampling-rate 0.001 --steps 100000 --delta 1e-6",
            6.960_843_884_230_054,
            7.752_099_2,
        ),
        (
            "--noise-multiplier 2 --sampling-rate 0.5 --steps 1000 --delta 1e-5",
            67.168_374_239_406_59,
            70.743_654,
        ),
    ] {
        let found = json(&format!("epsilon {run}"));
        just_above(number(&found, "epsilon"), exact, 1e-4 * exact);
        assert!(number(&found, "lower") <= exact * (1.0 + 1e-9), "{found}");
        let found = json(&format!("epsilon {run} --accountant rdp"));
        close(number(&found, "epsilon"), renyi, 1e-5);
    }
    let run = "--sampling-rate 0.01";
    let delta = json(&format!("delta {run} --noise-multiplier 1 --steps 1000 --epsilon 4"));
    just_above(number(&delta, "delta"), 5.351_478_627_658_939e-13, 1e-17);
    let noise = json(&format!("noise {run} --steps 1000 --epsilon 1 --delta 1e-5"));
    just_above(number(&noise, "noise_multiplier"), 1.414_619_406_538_159, 0.007);
    let steps = json(&format!("steps {run} --noise-multiplier 1 --epsilon 2 --delta 1e-5"));
    assert_eq!(steps["steps"], 1202);
}

#[test]
fn events_of_several_kinds() {
    let step = json!({"poisson_sampled": {"rate": 0.01, "event": gaussian(1.0)}});
    let list = json!([repeated(20, &gaussian(10.0)), repeated(1000, &step), repeated(5, &laplace(20.0))]);
    let found = json_about("epsilon --delta 1e-6", "add-remove", &list);
    just_above(number(&found, "epsilon"), 2.989_841_688_064_091, 3e-3);
}

/// Canonne, Kamath, Steinke (2020), proposition 12.
#[test]
fn conversions() {
    let order = json!([{"rdp": {"order": 10.0, "epsilon": 0.5}}]);
    close(
        number(&json_about("epsilon --delta 1e-5", "add-remove", &order), "epsilon"),
        1.418_010_636_783_971_8,
        1e-9,
    );
    // At least what Gaussian noise of that ρ loses, at most the best order.
    let found = number(
        &json_about("epsilon --delta 1e-6", "add-remove", &json!([{"zcdp": {"rho": 0.1}}])),
        "epsilon",
    );
    assert!((1.994_526_900..=2.141_941_071).contains(&found), "{found}");
    // Bun, Steinke (2016) from below and ε²/8-zCDP (Cesar, Rogers 2021) from above.
    let selections = json!([repeated(50, &json!({"exponential": {"epsilon": 0.2}}))]);
    let found = number(&json_about("epsilon --delta 1e-6", "add-remove", &selections), "epsilon");
    assert!((3.172_902_730..=3.542_294_843).contains(&found), "{found}");
    // ⌈log₂(n + 1)⌉ levels of a tree.
    let tree = json!({"tree_aggregation": {"noise_multiplier": 1.5, "steps": 100}});
    close(divergence("add-remove", &tree, 4.0), 56.0 / 9.0, 1e-9);
}

/// Kairouz, Oh, Viswanath (2015), theorem 3.3; Murtagh, Vadhan (2016), by all subsets.
#[test]
fn optimal_composition() {
    let equal = json!([repeated(100, &json!({"approximate": {"epsilon": 0.1, "delta": 0.0}}))]);
    let found = json_about("epsilon --delta 1e-6 --accountant optimal", "add-remove", &equal);
    just_above(number(&found, "epsilon"), 4.774_567_588_107_986_5, 4.8e-6);
    let unequal =
        json!([0.1, 0.2, 0.3].map(|epsilon| json!({"approximate": {"epsilon": epsilon, "delta": 0.0}})));
    let found = json_about("epsilon --delta 1e-3 --accountant optimal", "add-remove", &unequal);
    just_above(number(&found, "epsilon"), 0.593_950_873_918_310_6, 1e-3);
}

/// The larger ε and the larger δ of parts that hold different records; under replace-one a record may move.
#[test]
fn parallel_composition() {
    let parts = json!([{"parallel": {"events":
        [{"approximate": {"epsilon": 1.0, "delta": 0.0}}, {"approximate": {"epsilon": 0.5, "delta": 1e-6}}]}}]);
    let found = json_about("epsilon --delta 1e-6", "add-remove", &parts);
    close(number(&found, "epsilon"), 1.0, 1e-12);
    let claim = json_about("group --size 1", "add-remove", &parts);
    close(number(&claim, "epsilon"), 1.0, 1e-12);
    close(number(&claim, "delta"), 1e-6, 1e-12);
    let moved = json_about("group --size 1", "replace-one", &parts);
    close(number(&moved, "epsilon"), 1.5, 1e-12);
}

/// Vadhan (2017), lemma 2.2; Ganesh (2024) for sampled steps; Mironov (2017), proposition 2.
#[test]
fn groups() {
    let claim = json!([{"approximate": {"epsilon": 0.5, "delta": 1e-6}}]);
    let found = json_about("group --size 3", "add-remove", &claim);
    close(number(&found, "epsilon"), 1.5, 1e-12);
    just_above(number(&found, "delta"), 5.367_003_099_159_173_5e-6, 5e-15);
    let run = json("group --size 2 --noise-multiplier 2 --sampling-rate 0.01 --steps 1000 --delta 1e-5");
    just_above(number(&run, "epsilon"), 1.332_567_161_812_561_2, 1e-3);
    let order = json!([{"rdp": {"order": 16.0, "epsilon": 0.25}}]);
    for size in [3, 4] {
        let found = json_about(&format!("group --size {size}"), "add-remove", &order);
        close(number(&found, "order"), 4.0, 0.0);
        close(number(&found, "rdp"), 2.25, 1e-12);
    }
}

/// Chua et al. (2024): shuffled batches lose at least what one threshold event shows, at most what fixed ones do.
#[test]
fn shuffled_batches() {
    let epoch = json!([{"shuffled": {"steps_per_epoch": 10_000, "epochs": 1, "event": gaussian(0.4)}}]);
    let found = number(&json_about("delta --epsilon 4", "add-remove", &epoch), "delta");
    assert!((0.226_055_41..=0.243_820_15).contains(&found), "{found}");
}

/// Abadi et al. (2016), figure 2, at ten epochs.
#[test]
fn the_curves_of_the_moments_paper() {
    let found = json("compare --noise-multiplier 4 --sampling-rate 0.01 --steps 1000 --delta 1e-5");
    let by = |name: &str| {
        let rows = found["accountants"].as_array().unwrap();
        number(rows.iter().find(|row| row["accountant"] == name).unwrap(), "epsilon")
    };
    close(by("moments"), 0.468_405_290_776_603_8, 1e-6);
    just_above(by("pld"), 0.272_136_057_415_901_6, 1e-4);
    close(number(&found["not_bounds"], "strong_composition_as_published"), 2.305_630_901_534_098_3, 2e-3);
}

/// Mironov (2017), proposition 10.
#[test]
fn bad_outcomes() {
    let order = json!([{"rdp": {"order": 5.0, "epsilon": 0.1}}]);
    let found = json_about("outcome --probability 0.01", "add-remove", &order);
    close(number(&found, "upper"), 0.027_210_940_867_225_288, 1e-9);
    close(number(&found, "lower"), 0.002_861_347_153_139_552, 1e-9);
    // e^ε and e^−ε for pure events, and the same for the absence of the outcome.
    let pure = json!([{"pure": {"epsilon": 0.1}}]);
    let found = json_about("outcome --probability 0.01", "add-remove", &pure);
    close(number(&found, "upper"), 0.011_051_709_180_756_477, 1e-9);
    close(number(&found, "lower"), 0.01 * (-0.1f64).exp(), 1e-9);
    let found = json_about("outcome --probability 0.9", "add-remove", &pure);
    close(number(&found, "upper"), 1.0 - 0.1 * (-0.1f64).exp(), 1e-9);
    close(number(&found, "lower"), 1.0 - 0.1 * 0.1f64.exp(), 1e-9);
}

/// Dong, Roth, Su (2022), equation 6: Φ(Φ⁻¹(1 − fpr) − μ), here with fpr = Φ(−2), μ = 1.
#[test]
fn trade_offs() {
    let found = json("tradeoff --noise-multiplier 1 --fpr 0.02275013194817921");
    // Φ(1)
    let exact = 0.841_344_746_068_542_9;
    let fnr = found["fnr"][0].as_f64().unwrap();
    assert!(fnr <= exact && fnr > exact - 1e-6, "{fnr}");
}
