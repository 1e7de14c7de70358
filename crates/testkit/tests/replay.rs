//! Every query on neighbouring data sets with its noise frozen: the same releases, each input within
//! the declared sensitivity, the same answer. And queries that leak, which the harness must catch.

use reticent_core::{Delta, Epsilon, Neighboring};
use reticent_noise::entropy::Bits;
use reticent_noise::mechanism::{DiscreteLaplace, PrivateSelection, SelectionRule};
use reticent_noise::query::{
    BoundedSum, NoiseKind, Quantile, QueryTerms, RankTable, best_price, count, counts, even_candidates,
    histogram, mean, mode, proportion, quote, stable_histogram, sum,
};
use reticent_noise::{Entropy, NoiseError, NoiseSession, PaidSource, Releaser};
use reticent_testkit::replay::{Query, Report, compare};
use std::collections::BTreeMap;

/// Pairs per query, neighbouring relation and noise.
const PAIRS: usize = 220;

#[derive(Debug, Clone, Copy)]
enum Operator {
    Count,
    Counts,
    Histogram,
    StableHistogram,
    Proportion,
    ProportionOfPublicRows,
    Sum { integers: bool },
    Mean { integers: bool },
    MeanOfPublicRows,
    Quantile(f64),
    Choice(f64),
    Mode(SelectionRule),
    BestPrice(SelectionRule),
}

const BOUNDS: [f64; 2] = [-3.0, 12.0];

struct Ask {
    operator: Operator,
    terms: QueryTerms,
    /// Rows that are not a number are left out, as a filter or a missing value leaves them out.
    filtered: bool,
}

fn count_where(rows: &[f64], test: impl Fn(f64) -> bool) -> u64 {
    rows.iter().filter(|row| test(**row)).count() as u64
}

/// Three categories; a value outside all of them is in none.
fn cells(rows: &[f64]) -> Vec<u64> {
    [(-3.0, 0.0), (0.0, 5.0), (5.0, 1e300)]
        .map(|(low, high)| count_where(rows, |row| row >= low && row < high))
        .to_vec()
}

fn gathered(rows: &[f64], integers: bool) -> BoundedSum {
    let mut gathered = BoundedSum::new(BOUNDS[0], BOUNDS[1], integers).unwrap();
    rows.iter().for_each(|row| gathered.add(*row));
    gathered
}

fn ranks(rows: &[f64]) -> RankTable {
    let mut table = RankTable::new(even_candidates(BOUNDS[0], BOUNDS[1], 31, false).unwrap()).unwrap();
    rows.iter().for_each(|row| table.add(*row));
    table
}

impl Query for Ask {
    type Data = [f64];
    type Answer = String;

    fn run(&self, rows: &[f64], source: &mut impl PaidSource) -> String {
        self.answer(rows, source)
    }
}

impl Ask {
    /// The answer through any source: the question about no rows is also quoted.
    fn answer(&self, rows: &[f64], source: &mut impl Releaser) -> String {
        let t = &self.terms;
        let kept: Vec<f64> = rows.iter().copied().filter(|row| !(self.filtered && row.is_nan())).collect();
        let rows = &kept[..];
        let matching = count_where(rows, |row| row >= 5.0);
        let others = rows.len() as u64 - matching;
        let public = Some(rows.len() as u64);
        match self.operator {
            Operator::Count => format!("{:?}", count(source, t, matching)),
            Operator::Counts => {
                let overlapping = [-1.0, 0.0, 5.0, 11.0].map(|least| count_where(rows, |row| row >= least));
                format!("{:?}", counts(source, t, &overlapping))
            }
            Operator::Histogram => format!("{:?}", histogram(source, t, &cells(rows))),
            Operator::StableHistogram => {
                let mut found = BTreeMap::new();
                rows.iter().for_each(|row| *found.entry(row.floor().to_string()).or_insert(0) += 1);
                format!(
                    "{:?}",
                    stable_histogram(source, &QueryTerms { delta: Delta::new(1e-6).unwrap(), ..*t }, &found)
                )
            }
            Operator::Proportion => format!("{:?}", proportion(source, t, matching, others, None)),
            Operator::ProportionOfPublicRows => {
                format!("{:?}", proportion(source, t, matching, others, public))
            }
            Operator::Sum { integers } => format!("{:?}", sum(source, t, &gathered(rows, integers))),
            Operator::Mean { integers } => format!("{:?}", mean(source, t, &gathered(rows, integers), None)),
            Operator::MeanOfPublicRows => format!("{:?}", mean(source, t, &gathered(rows, false), public)),
            Operator::Quantile(level) => {
                format!("{:?}", ranks(rows).quantile(source, t, Quantile::new(level).unwrap()))
            }
            Operator::Choice(level) => {
                format!("{:?}", ranks(rows).choose(source, t, Quantile::new(level).unwrap()))
            }
            Operator::Mode(rule) => format!("{:?}", mode(source, t, rule, &cells(rows))),
            Operator::BestPrice(rule) => {
                format!("{:?}", best_price(source, t, rule, &[1.0, 2.5, 9.99, 100.0], rows))
            }
        }
    }
}

/// A value as an adversary would pick it, or an ordinary one.
fn value(entropy: &mut Entropy) -> f64 {
    let odd = [
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::MAX,
        f64::MIN,
        0.0,
        -0.0,
        5e-324,
        BOUNDS[0],
        BOUNDS[0].next_up(),
        BOUNDS[0].next_down(),
        BOUNDS[1],
        BOUNDS[1].next_down(),
        BOUNDS[1].next_up(),
        5.0,
        5.0f64.next_down(),
        4.5,
        // Halfway between two points of the sum's grid.
        (2f64).powi(-42),
        0.5 + (2f64).powi(-42),
        -1e-17,
        100.0,
        9.99,
        0.5,
        1.5,
    ];
    let word = entropy.word();
    if word & 1 == 0 {
        odd[(word >> 1) as usize % odd.len()]
    } else {
        -5.0 + 20.0 * ((word >> 11) as f64 * (2f64).powi(-53))
    }
}

/// A data set and a neighbour: sizes from nothing up, many of them with all rows equal.
fn pair(entropy: &mut Entropy, neighboring: Neighboring) -> (Vec<f64>, Vec<f64>) {
    let replace = neighboring == Neighboring::ReplaceOne;
    let size = (entropy.word() % 40) as usize + usize::from(replace);
    let same = value(entropy);
    let equal = entropy.word().is_multiple_of(4);
    let data: Vec<f64> = (0..size).map(|_| if equal { same } else { value(entropy) }).collect();
    let mut neighbour = data.clone();
    let place = (entropy.word() % (size as u64).max(1)) as usize;
    if replace {
        neighbour[place] = value(entropy);
    } else if size > 0 && entropy.bit() {
        neighbour.remove(place);
    } else {
        neighbour.insert(place, value(entropy));
    }
    if entropy.bit() { (data, neighbour) } else { (neighbour, data) }
}

fn terms(neighboring: Neighboring, noise: NoiseKind) -> QueryTerms {
    let delta = if noise == NoiseKind::Laplace { 0.0 } else { 1e-6 };
    let delta = Delta::new(delta).unwrap();
    QueryTerms { neighboring, noise, delta, ..QueryTerms::pure(Epsilon::new(1.0).unwrap()) }
}

/// What was quoted for a table without rows pays for the same question about these rows, and nothing of it is left.
fn paid_by_its_quote(ask: &Ask, rows: &[f64], session: &mut NoiseSession) {
    let plan = quote(|source| Ok::<_, NoiseError>(ask.answer(&[], source))).unwrap();
    let mut permit = session.charge(&plan).unwrap();
    let answer = ask.run(rows, &mut session.with(&mut permit));
    assert!(permit.is_used_up() && answer.starts_with("Ok"), "{:?}: {answer}", ask.operator);
}

/// Replays many pairs; the releases of one run and the largest Δ_actual / Δ_declared.
fn replay(operator: Operator, neighboring: Neighboring, noise: NoiseKind) -> (usize, f64) {
    let mut entropy = Entropy::new().unwrap();
    // The number of rows is only public when none is left out.
    let public = matches!(operator, Operator::ProportionOfPublicRows | Operator::MeanOfPublicRows);
    let mut session = NoiseSession::without_limit("row", neighboring).unwrap();
    let (mut releases, mut worst) = (0, 0.0f64);
    for round in 0..PAIRS {
        let ask = Ask { operator, terms: terms(neighboring, noise), filtered: round % 2 == 1 && !public };
        let (data, neighbour) = pair(&mut entropy, neighboring);
        // A table without rows has no public number of rows to divide by: an error without a release.
        let report = compare(&ask, &data, &neighbour).unwrap();
        assert!(
            report.clean(),
            "{operator:?}, {neighboring}, {noise:?}: {report:?}\n{data:?}\n{neighbour:?}"
        );
        if !public {
            paid_by_its_quote(&ask, &data, &mut session);
        }
        releases = releases.max(report.releases);
        worst = worst.max(report.worst_distance);
    }
    println!(
        "{operator:?}, {neighboring}, {noise:?}: {releases} releases, at most {worst} of the sensitivity"
    );
    (releases, worst)
}

const BOTH: [Neighboring; 2] = [Neighboring::AddRemove, Neighboring::ReplaceOne];
const NOISES: [NoiseKind; 3] = [NoiseKind::Laplace, NoiseKind::Gaussian, NoiseKind::DiscreteGaussian];

fn replay_additive(operator: Operator, relations: &[Neighboring]) {
    for neighboring in relations {
        for noise in NOISES {
            let (releases, worst) = replay(operator, *neighboring, noise);
            assert_eq!(releases, 1);
            // The adversarial values reach the sensitivity in full, so an understated one would show.
            let reached = if matches!(operator, Operator::Counts) { 0.9 } else { 0.99 };
            assert!(worst >= reached, "{operator:?}, {neighboring}: the pairs only reach {worst}");
        }
    }
}

#[test]
fn counts_are_private() {
    replay_additive(Operator::Count, &BOTH);
    replay_additive(Operator::Counts, &BOTH);
    replay_additive(Operator::Histogram, &BOTH);
}

#[test]
fn proportions_are_private() {
    replay_additive(Operator::Proportion, &BOTH);
    replay_additive(Operator::ProportionOfPublicRows, &[Neighboring::ReplaceOne]);
}

#[test]
fn sums_are_private() {
    replay_additive(Operator::Sum { integers: false }, &BOTH);
    replay_additive(Operator::Sum { integers: true }, &BOTH);
}

#[test]
fn means_are_private() {
    replay_additive(Operator::Mean { integers: false }, &BOTH);
    replay_additive(Operator::Mean { integers: true }, &BOTH);
    replay_additive(Operator::MeanOfPublicRows, &[Neighboring::ReplaceOne]);
}

#[test]
fn quantiles_are_private() {
    for neighboring in BOTH {
        for level in [0.5, 0.25, 0.999, 0.001, 0.1] {
            let (releases, worst) = replay(Operator::Quantile(level), neighboring, NoiseKind::Laplace);
            assert_eq!(releases, 5);
            assert!(worst >= 0.99, "{level}, {neighboring}: the pairs only reach {worst}");
            assert_eq!(replay(Operator::Choice(level), neighboring, NoiseKind::Laplace).0, 1);
        }
    }
}

#[test]
fn labels_are_found_privately() {
    for neighboring in BOTH {
        let (releases, worst) = replay(Operator::StableHistogram, neighboring, NoiseKind::Laplace);
        assert_eq!(releases, 1);
        assert!(worst >= 0.99, "{neighboring}: the pairs only reach {worst}");
    }
}

#[test]
fn choices_are_private() {
    for neighboring in BOTH {
        for rule in [SelectionRule::Exponential, SelectionRule::PermuteAndFlip, SelectionRule::ReportNoisyMax]
        {
            for operator in [Operator::Mode(rule), Operator::BestPrice(rule)] {
                let (releases, worst) = replay(operator, neighboring, NoiseKind::Laplace);
                assert!(releases == 1 && worst >= 0.99, "{operator:?}: {releases}, {worst}");
            }
        }
    }
}

/// Counts as they are given to a query, with no rows behind them.
struct Cells(SelectionRule, QueryTerms, bool);

impl Query for Cells {
    type Data = [u64];
    type Answer = String;

    fn run(&self, cells: &[u64], source: &mut impl PaidSource) -> String {
        if self.2 {
            format!("{:?}", mode(source, &self.1, self.0, cells))
        } else {
            format!("{:?}", histogram(source, &self.1, cells))
        }
    }
}

/// Counts of a size where doubles skip whole numbers.
fn huge_counts(choice: bool) {
    for neighboring in BOTH {
        for base in [1u64 << 53, (1 << 53) + 1, (1 << 54) + 2, (1 << 60) + 127, u64::MAX - 1] {
            let ask = Cells(SelectionRule::PermuteAndFlip, terms(neighboring, NoiseKind::Laplace), choice);
            let report = compare(&ask, &[base, 7], &[base + 1, 7]).unwrap();
            assert!(report.clean(), "{base}, {neighboring}: {report:?}");
        }
    }
}

#[test]
fn huge_histograms_are_private() {
    huge_counts(false);
}

#[test]
fn huge_modes_are_private() {
    huge_counts(true);
}

/// Queries with one mistake each.
#[derive(Debug, Clone, Copy)]
enum Leak {
    BoundsFromData,
    BranchOnData,
    RetryOnData,
    UnderstatedByTwo,
    MonotoneUnderReplaceOne,
    ErrorFromData,
    ExactCountBesideTheAnswer,
    EpsilonFromData,
}

impl Query for Leak {
    type Data = [f64];
    type Answer = String;

    fn run(&self, rows: &[f64], source: &mut impl PaidSource) -> String {
        let t = terms(Neighboring::ReplaceOne, NoiseKind::Laplace);
        let laplace =
            |sensitivity, loss| DiscreteLaplace::new(sensitivity, Epsilon::new(loss).unwrap()).unwrap();
        let big = count_where(rows, |row| row > 50.0);
        match self {
            Self::BoundsFromData => {
                let top = rows.iter().copied().fold(1.0, f64::max);
                let mut gathered = BoundedSum::new(0.0, top, false).unwrap();
                rows.iter().for_each(|row| gathered.add(*row));
                format!("{:?}", sum(source, &t, &gathered))
            }
            Self::BranchOnData => {
                if big > 0 {
                    return format!("{:?}", count(source, &t, big));
                }
                format!("{:?}", mode(source, &t, SelectionRule::Exponential, &[1, 2]))
            }
            Self::RetryOnData => {
                let answers =
                    (0..=big).map(|_| source.release(&laplace(1, 1.0), &[big as i128][..]).unwrap().value[0]);
                format!("{:?}", answers.max())
            }
            Self::UnderstatedByTwo => {
                let cells = [big as i128, rows.len() as i128 - big as i128];
                format!("{:?}", source.release(&laplace(1, 1.0), &cells[..]).unwrap().value)
            }
            Self::MonotoneUnderReplaceOne => {
                let choice =
                    PrivateSelection::for_integers(SelectionRule::Exponential, 1, t.epsilon).unwrap();
                let scores = [big as i128, rows.len() as i128 - big as i128];
                format!("{:?}", source.release(&choice.monotone().unwrap(), &scores[..]).unwrap().value)
            }
            Self::ErrorFromData => {
                let answer = count(source, &t, 3).unwrap();
                if big > 0 { "out of range".into() } else { format!("{answer:?}") }
            }
            Self::ExactCountBesideTheAnswer => format!("{:?} of {big}", count(source, &t, big)),
            Self::EpsilonFromData => {
                let loss = 1.0 / (1.0 + big as f64);
                format!("{:?}", source.release(&laplace(1, loss), &[0][..]).unwrap().value)
            }
        }
    }
}

#[test]
fn leaks_are_caught() {
    let data: Vec<f64> = (0..20).map(f64::from).collect();
    let mut neighbour = data.clone();
    neighbour[7] = 80.0;
    let found = |leak: Leak| -> Report { compare(&leak, &data, &neighbour).unwrap() };
    for (leak, word) in [
        (Leak::BoundsFromData, "answer"),
        (Leak::BranchOnData, "instead of"),
        (Leak::RetryOnData, "not recorded"),
        (Leak::UnderstatedByTwo, "moved 2 times"),
        (Leak::MonotoneUnderReplaceOne, "moved inf times"),
        (Leak::ErrorFromData, "answer"),
        (Leak::ExactCountBesideTheAnswer, "answer"),
        (Leak::EpsilonFromData, "event"),
    ] {
        let report = found(leak);
        println!("{leak:?}: {:?}", report.leaks);
        assert!(report.leaks.iter().any(|text| text.contains(word)), "{leak:?} not caught: {report:?}");
    }
}
