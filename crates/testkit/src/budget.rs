//! How often the whole suite may cry wolf.
//!
//! A statistical test fails now and then although nothing is wrong. The suite's allowance for that is
//! [`TOTAL_ALPHA`] per run, shared equally by at most [`MAX_TESTS`] comparisons. Test processes know
//! nothing of each other, so the sharing is fixed beforehand: [`TABLE`] says how many comparisons
//! each test makes, a test asserts that the table fits, and a [`Ledger`] holds every test to its line.

/// The probability that a run of the whole suite fails by chance is at most this.
pub const TOTAL_ALPHA: f64 = 1e-4;

/// The most comparisons a run may make.
pub const MAX_TESTS: u32 = 1000;

/// The significance level of one comparison.
pub const ALPHA_PER_TEST: f64 = TOTAL_ALPHA / MAX_TESTS as f64;

/// The comparisons of every statistical test, by `suite::test`.
pub const TABLE: &[(&str, u32)] = &[
    ("samplers::bernoulli", 6),
    ("samplers::bernoulli_exp", 9),
    ("samplers::geometric", 8),
    ("samplers::discrete_laplace", 12),
    ("samplers::discrete_laplace_wide", 3),
    ("samplers::discrete_gaussian", 15),
    ("samplers::discrete_gaussian_wide", 2),
    ("samplers::uniform_below", 6),
    ("samplers::normal_cell_body", 2),
    ("samplers::normal_cell_low_bits", 4),
    ("samplers::normal_cell_tails", 8),
    ("samplers::rounded_normal", 8),
    ("samplers::student", 15),
    ("distributions::machine_and_big_integers_agree", 5),
    ("distributions::bulk_gaussian", 10),
    ("distributions::bulk_counts", 1),
    ("distributions::bulk_ahead", 8),
    ("distributions::randomized_response", 6),
    ("distributions::selection", 9),
    ("distributions::additive", 16),
    ("mechanisms::discrete_laplace", 4),
    ("mechanisms::laplace", 5),
    ("mechanisms::discrete_gaussian", 3),
    ("mechanisms::gaussian", 4),
    ("mechanisms::integer_gaussian", 3),
    ("mechanisms::student", 4),
    ("mechanisms::bulk", 2),
    ("mechanisms::randomized_response", 3),
    ("mechanisms::selection", 9),
    ("mechanisms::stable_histogram", 4),
    ("attacks::gaussian_inversion", 2),
    ("attacks::generators", 1),
    ("timing::release_path", 9),
    ("timing::randomized_response", 2),
    ("accuracy::coverage_of_errors", 36),
    ("accuracy::coverage_of_intervals", 25),
    ("parts::hockey_sticks", 22),
    ("parts::keys_of_units", 2),
    ("parts::coverage", 38),
    ("training::inclusion", 12),
    ("training::independence", 9),
    ("training::batch_sizes", 6),
    ("training::full_batches", 4),
    ("training::poisson_batches", 4),
    ("training::replaced_units", 4),
    ("training::rare_inclusion", 4),
    ("training::honest_twin", 4),
    ("encoded::full_batches", 3),
    ("encoded::poisson_batches", 3),
    ("encoded::honest_twin", 3),
    ("cyclic::the_canary", 3),
    ("cyclic::a_known_batch", 3),
    ("cyclic::the_others", 3),
    ("growth::the_canary", 6),
];

/// The comparisons of all tests together.
pub fn declared() -> u32 {
    TABLE.iter().map(|(_, comparisons)| comparisons).sum()
}

/// One test's line of the [`TABLE`], ticked off as its comparisons are made.
#[must_use = "a ledger that is dropped at once has made none of its comparisons"]
pub struct Ledger {
    test: &'static str,
    declared: u32,
    made: u32,
}

impl Ledger {
    /// The line of `suite::test`.
    ///
    /// # Panics
    /// When the table has no such line.
    pub fn open(test: &str) -> Self {
        let Some((test, declared)) = TABLE.iter().find(|(name, _)| *name == test) else {
            panic!("{test}: declare its comparisons in reticent_testkit::budget::TABLE");
        };
        Self { test, declared: *declared, made: 0 }
    }

    /// The level of the next comparison.
    ///
    /// # Panics
    /// When the test has made all the comparisons it declared.
    pub fn alpha(&mut self) -> f64 {
        self.made += 1;
        assert!(self.made <= self.declared, "{}: more than {} comparisons", self.test, self.declared);
        ALPHA_PER_TEST
    }

    /// Makes a comparison: the p-value must not be below the level.
    ///
    /// # Panics
    /// When the p-value is below it, or the test has made all its comparisons.
    pub fn expect(&mut self, what: &str, p_value: f64) {
        let alpha = self.alpha();
        assert!(p_value >= alpha, "{} {what}: p = {p_value:e} is below {alpha:e}", self.test);
    }
}

impl Drop for Ledger {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            assert_eq!(self.made, self.declared, "{}: comparisons made and declared", self.test);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_fits_and_names_each_test_once() {
        assert!(declared() <= MAX_TESTS, "{} comparisons", declared());
        assert!(f64::from(declared()) * ALPHA_PER_TEST <= TOTAL_ALPHA);
        for (index, (name, comparisons)) in TABLE.iter().enumerate() {
            assert!(*comparisons > 0, "{name}");
            assert!(TABLE[..index].iter().all(|(other, _)| other != name), "{name} twice");
        }
    }

    #[test]
    fn every_line_belongs_to_a_test() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
        let mut source = String::new();
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|e| e == "rs") {
                source += &std::fs::read_to_string(path).unwrap();
            }
        }
        for (name, _) in TABLE {
            assert!(source.contains(&format!("Ledger::open(\"{name}\")")), "{name} is used nowhere");
        }
        assert_eq!(source.matches("Ledger::open(").count(), TABLE.len(), "each line once");
    }

    #[test]
    #[should_panic(expected = "more than")]
    fn a_test_cannot_overdraw() {
        let mut ledger = Ledger::open("samplers::bernoulli");
        (0..100).for_each(|_| ledger.expect("p", 1.0));
    }

    #[test]
    #[should_panic(expected = "made and declared")]
    fn a_test_cannot_skip() {
        let mut ledger = Ledger::open("samplers::bernoulli");
        ledger.expect("p", 1.0);
    }

    #[test]
    #[should_panic(expected = "is below")]
    fn a_small_p_value_fails() {
        Ledger::open("samplers::bernoulli").expect("p", 1e-9);
    }
}
