//! Parts of a page: people with many rows replayed, what samples prove about each part, intervals that cover.

use reticent_core::profile::gaussian_epsilon_up;
use reticent_core::{Confidence, Delta, Epsilon, Event, Guarantee, Neighboring, NoiseMultiplier};
use reticent_noise::entropy::Bits;
use reticent_noise::mechanism::StableHistogram;
use reticent_noise::query::NoiseKind;
use reticent_noise::query::parts::{
    ContributionLimits, Figure, NoisyPart, Part, PartColumn, PartMechanism, PartNoise, RankTree, RowValue,
    release_part,
};
use reticent_noise::{Entropy, Mechanism, PaidSource};
use reticent_testkit::budget::{ALPHA_PER_TEST, Ledger};
use reticent_testkit::free::Free;
use reticent_testkit::goodness::too_many;
use reticent_testkit::hockey::{Counts, bin, epsilon_lower};
use reticent_testkit::replay::{Query, compare};
use std::collections::BTreeMap;

const BOTH: [Neighboring; 2] = [Neighboring::AddRemove, Neighboring::ReplaceOne];
const GROUPS: usize = 5;
/// Groups where two people's groups fit side by side.
const WIDE: usize = 9;

fn column(low: f64, high: f64) -> PartColumn {
    PartColumn::new(low, high, false).unwrap()
}

fn laplace(epsilon: f64) -> PartNoise {
    PartNoise::Laplace { epsilon: Epsilon::new(epsilon).unwrap() }
}

fn gaussian(multiplier: f64) -> PartNoise {
    PartNoise::Gaussian { noise_multiplier: NoiseMultiplier::new(multiplier).unwrap() }
}

fn all_parts() -> Vec<Part> {
    let candidates = (-3..=12).map(f64::from).collect();
    vec![
        Part::Rows,
        Part::People,
        Part::Sum(column(-3.0, 12.0)),
        Part::Sum(column(-12.0, 12.0)),
        Part::PersonSum(column(-20.0, 30.0)),
        Part::moments(column(-3.0, 12.0), 1).unwrap(),
        Part::moments(column(-3.0, 12.0), 2).unwrap(),
        Part::Joint(column(-3.0, 12.0), column(0.0, 1.0)),
        Part::cells(4).unwrap(),
        Part::contingency(vec![2, 2], true).unwrap(),
        Part::Tree(RankTree::with_branching(candidates, 4).unwrap()),
        Part::distinct(4).unwrap(),
    ]
}

/// A person: rows with their group.
type Person = Vec<(usize, f64)>;

/// What a row brings to a part.
fn row_value(part: &Part, value: f64) -> RowValue {
    match part {
        Part::Rows | Part::People => RowValue::Present,
        Part::Joint(..) => RowValue::Numbers(value, if value > 4.0 { 1.0 } else { value / 12.0 }),
        Part::Cells(_) | Part::Contingency { .. } | Part::Distinct(_) => {
            RowValue::Cell(if value.is_nan() { 0 } else { (value.clamp(-3.0, 12.0) + 3.0) as usize % 4 })
        }
        _ => RowValue::Number(value),
    }
}

/// The first rows of a person within the limits.
fn bounded(person: &Person, limits: &ContributionLimits) -> Person {
    let (mut kept, mut rows): (Person, BTreeMap<usize, u64>) = (Vec::new(), BTreeMap::new());
    for (group, value) in person {
        let used = rows.len() as u64;
        let own = rows.get(group).copied();
        let fits = own.map_or(used < limits.groups(), |own| own < limits.rows_per_group());
        if fits && (kept.len() as u64) < limits.rows() {
            *rows.entry(*group).or_insert(0) += 1;
            kept.push((*group, *value));
        }
    }
    kept
}

/// The settled sums of people.
fn gathered(part: &Part, people: &[Person], groups: usize) -> Vec<i128> {
    let width = part.gathered_width();
    let mut sums = vec![0; groups * width];
    for person in people {
        for group in 0..groups {
            let sums = &mut sums[group * width..(group + 1) * width];
            let own: Vec<f64> = person.iter().filter(|(g, _)| *g == group).map(|(_, value)| *value).collect();
            match part {
                Part::People if !own.is_empty() => part.add(sums, RowValue::Present),
                Part::PersonSum(_) if !own.is_empty() => {
                    part.add_total(sums, own.iter().map(|value| part.steps(*value)).sum());
                }
                Part::People | Part::PersonSum(_) => {}
                _ => own.iter().for_each(|value| part.add(sums, row_value(part, *value))),
            }
        }
    }
    sums.chunks(width).flat_map(|group| part.settled(group)).collect()
}

/// A page's question: bound, gather, release, compute figures.
struct Ask {
    part: Part,
    limits: ContributionLimits,
    neighboring: Neighboring,
    noise: PartNoise,
    /// The twin that adds all rows up and bounds nothing.
    is_late: bool,
}

impl Query for Ask {
    type Data = [Person];
    type Answer = String;

    fn run(&self, people: &[Person], source: &mut impl PaidSource) -> String {
        let people: Vec<Person> = people
            .iter()
            .map(|person| if self.is_late { person.clone() } else { bounded(person, &self.limits) })
            .collect();
        let sums = gathered(&self.part, &people, GROUPS);
        let noisy = release_part(source, &self.part, &self.limits, self.neighboring, &self.noise, &sums);
        noisy.map_or_else(|error| error.to_string(), |noisy| format!("{:?}", all_figures(&noisy)))
    }
}

/// Everything that the part has to say.
fn all_figures(noisy: &NoisyPart) -> Vec<String> {
    let c = Confidence::P95;
    (0..noisy.groups())
        .map(|group| {
            format!(
                "{:?}",
                (
                    noisy.rows(group, c),
                    noisy.sum(group, c),
                    noisy.mean(group, c),
                    noisy.variance(group, c),
                    noisy.covariance(group, c),
                    noisy.correlation(group, c),
                    noisy.trend(group, c),
                    noisy.quantiles(group, &[0.1, 0.5], c),
                    noisy.cells(group, c),
                    noisy.consistent_table(group, c),
                    noisy.top(group, 2, c),
                    noisy.distinct(group, c),
                )
            )
        })
        .collect()
}

/// A person of 1 to 10 000 rows: all at one end, or a mixture, in one group or all.
fn person(entropy: &mut Entropy) -> Person {
    let word = entropy.word();
    let rows = 10f64.powf((word % 401) as f64 / 100.0) as usize;
    let ends = [-3.0, 12.0, f64::NAN, f64::INFINITY, -1e300, 0.0, 4.5, 12.0, -3.0];
    let (kind, first) = ((word >> 20) % 4, (word >> 30) as usize);
    (0..rows)
        .map(|i| {
            let word = entropy.word();
            let value = if kind < 3 { ends[first % ends.len()] } else { ends[word as usize % ends.len()] };
            let group = if kind == 0 { first % GROUPS } else { i % GROUPS };
            (group, value)
        })
        .collect()
}

fn people(entropy: &mut Entropy, neighboring: Neighboring, is_extreme: bool) -> (Vec<Person>, Vec<Person>) {
    let mut data: Vec<Person> = (0..4).map(|_| person(entropy)).collect();
    if is_extreme {
        // Many rows at one end in all groups, against a single row in the last one.
        data[1] = (0..10_000).map(|i| (i % GROUPS, 12.0)).collect();
    }
    let mut neighbour = data.clone();
    match neighboring {
        Neighboring::AddRemove => _ = neighbour.remove(1),
        Neighboring::ReplaceOne if is_extreme => neighbour[1] = vec![(GROUPS - 1, 12.0)],
        Neighboring::ReplaceOne => neighbour[1] = person(entropy),
    }
    if entropy.bit() { (data, neighbour) } else { (neighbour, data) }
}

#[test]
fn people_with_many_rows_are_private_in_every_part() {
    let mut entropy = Entropy::new().unwrap();
    let limits = |m, k, rows| ContributionLimits::new(m, k, rows).unwrap();
    for part in all_parts() {
        for neighboring in BOTH {
            let (mut worst, mut caught) = (0f64, 0);
            for round in 0..60 {
                let limits = [limits(1, 1, None), limits(3, 2, None), limits(20, 5, Some(33))][round % 3];
                let noise = if round % 2 == 0 { laplace(1.0) } else { gaussian(1.5) };
                let (data, neighbour) = people(&mut entropy, neighboring, round == 0);
                let ask = Ask { part: part.clone(), limits, neighboring, noise, is_late: false };
                let report = compare(&ask, &data, &neighbour).unwrap();
                assert!(report.clean() && report.releases == 1, "{part:?} {neighboring}: {report:?}");
                worst = worst.max(report.worst_distance);
                let late = compare(&Ask { is_late: true, ..ask }, &data, &neighbour).unwrap();
                caught += u32::from(late.leaks.iter().any(|leak| leak.contains("times the declared")));
            }
            println!(
                "{part:?}, {neighboring}: at most {worst} of the sensitivity; late bounding caught {caught} times"
            );
            assert!(worst > 0.7, "{part:?} {neighboring}: the pairs only reach {worst}");
            assert!(caught > 0, "{part:?} {neighboring}: bounding after summing is not caught");
        }
    }
}

const CALLS: usize = 15_000;

/// The two units that move a part furthest, of those that are all at one end.
fn furthest(
    mechanism: &PartMechanism,
    part: &Part,
    limits: &ContributionLimits,
    groups: usize,
) -> [Vec<i128>; 2] {
    let (m, k) = (limits.rows_per_group() as usize, limits.groups() as usize);
    let mut units: Vec<Person> = vec![vec![]];
    for value in [-20.0, -3.0, 0.0, 2.0, 12.0, 30.0] {
        for first in [0, k] {
            let rows = (0..k).flat_map(|g| std::iter::repeat_n(((first + g) % groups, value), m));
            units.push(rows.collect());
            let spread = (0..k).flat_map(|g| (0..m).map(move |row| ((first + g) % groups, row as f64)));
            units.push(spread.collect());
        }
    }
    let sums: Vec<Vec<i128>> =
        units.iter().map(|unit| gathered(part, std::slice::from_ref(unit), groups)).collect();
    let mut best = (0.0, [0, 0]);
    for i in 0..sums.len() {
        for j in 0..sums.len() {
            let distance = mechanism.distance(&sums[i], &sums[j]);
            if distance <= 1.0 + 1e-9 && distance > best.0 {
                best = (distance, [i, j]);
            }
        }
    }
    assert!(best.0 > 0.9, "{part:?}: {best:?}");
    best.1.map(|index| sums[index].clone())
}

/// The log-likelihood ratio of an output, or a multiple of it, in 81 bins.
fn ratio_bin(output: &[i128], pair: &[Vec<i128>; 2], noise: &PartNoise, sensitivity: f64) -> usize {
    let entries = output.iter().zip(&pair[0]).zip(&pair[1]);
    let score: f64 = match noise {
        PartNoise::Laplace { .. } => {
            entries.map(|((z, a), b)| z.abs_diff(*b) as f64 - z.abs_diff(*a) as f64).sum::<f64>()
                / sensitivity
        }
        PartNoise::Gaussian { .. } => {
            entries.map(|((z, a), b)| (*z as f64 - *b as f64) * (*a as f64 - *b as f64)).sum::<f64>()
                / sensitivity
                / sensitivity
                / 4.0
        }
    };
    bin(score, -1.0125, 0.025, 81)
}

fn outputs(mechanism: &PartMechanism, input: &[i128], bins: impl Fn(&[i128]) -> usize) -> Counts {
    let mut free = Free::new().unwrap();
    let mut draws = free.draws(&mechanism.event()).unwrap();
    Counts::gather(81, (0..CALLS).map(|_| bins(&draws.draw(mechanism, input).unwrap())))
}

/// What the event claims: pure ε, or ε at δ = 1 %.
fn claim(mechanism: &PartMechanism) -> Guarantee {
    let delta = Delta::new(0.01).unwrap();
    match mechanism.event() {
        Event::Gaussian { noise_multiplier } => {
            Guarantee { epsilon: gaussian_epsilon_up(noise_multiplier, delta).unwrap(), delta }
        }
        _ => mechanism.guarantee(),
    }
}

#[test]
fn samples_prove_no_more_than_is_claimed() {
    let mut ledger = Ledger::open("parts::hockey_sticks");
    let parts = all_parts();
    for (index, part) in parts.iter().enumerate().filter(|(index, _)| *index != 3) {
        for noise in [laplace(1.0), gaussian(1.0)] {
            let is_laplace = matches!(noise, PartNoise::Laplace { .. });
            let neighboring = BOTH[(index + usize::from(is_laplace)) % 2];
            // Laplace noise on many numbers loses its full ε on rare outputs only.
            let limits = ContributionLimits::new(2, if is_laplace { 2 } else { 4 }, None).unwrap();
            let proven = |own: &ContributionLimits, relation: Neighboring, alpha: f64| {
                let drawn = PartMechanism::new(part, own, relation, &noise, WIDE).unwrap();
                let honest = PartMechanism::new(part, &limits, neighboring, &noise, WIDE).unwrap();
                let pair = furthest(&honest, part, &limits, WIDE);
                let size = match noise {
                    PartNoise::Laplace { .. } => honest.sensitivity().l1 as f64,
                    PartNoise::Gaussian { .. } => honest.sensitivity().l2,
                };
                let counts = |input: &[i128]| outputs(&drawn, input, |z| ratio_bin(z, &pair, &noise, size));
                let claim = claim(&honest);
                (epsilon_lower(&counts(&pair[0]), &counts(&pair[1]), claim.delta.get(), alpha), claim)
            };
            let (bound, claim) = proven(&limits, neighboring, ledger.alpha());
            println!("{part:?}, {neighboring}, {noise:?}: claimed {claim}, proven at least {bound:.3}");
            assert!(bound <= claim.epsilon.get(), "{part:?}, {neighboring}: {bound} of {claim}");
            assert!(bound >= 0.1 * claim.epsilon.get(), "{part:?}: the test is too weak: {bound} of {claim}");
            // The twin whose noise is for one row that is added to one group.
            let (bound, claim) = proven(&ContributionLimits::ROW, Neighboring::AddRemove, ALPHA_PER_TEST);
            assert!(
                bound > claim.epsilon.get(),
                "{part:?}, {neighboring}: the twin is not caught at {bound}"
            );
        }
    }
}

#[test]
fn keys_of_units_with_several_groups() {
    let mut ledger = Ledger::open("parts::keys_of_units");
    let (epsilon, delta) = (Epsilon::new(1.0).unwrap(), Delta::new(0.02).unwrap());
    let counts = |list: &[(&str, u64)]| list.iter().map(|(k, n)| ((*k).to_owned(), *n)).collect();
    let honest = StableHistogram::for_units(2, Neighboring::AddRemove, epsilon, delta).unwrap();
    let single = StableHistogram::for_units(1, Neighboring::AddRemove, epsilon, delta).unwrap();
    let high = honest.threshold() + 3;
    let pairs: [[BTreeMap<String, u64>; 2]; 2] = [
        // Two labels that only this unit has; two that others have too.
        [counts(&[("a", 1), ("b", 1)]), BTreeMap::new()],
        [counts(&[("a", high + 1), ("b", high + 1)]), counts(&[("a", high), ("b", high)])],
    ];
    let proven = |mechanism: &StableHistogram, pair: &[BTreeMap<String, u64>; 2], alpha: f64| {
        let run = |input: &BTreeMap<String, u64>| {
            let mut free = Free::new().unwrap();
            let mut draws = free.draws(&mechanism.event()).unwrap();
            let place = |out: &BTreeMap<String, i128>, key: &str| {
                out.get(key).map_or(0, |n| 1 + (n - i128::from(high)).clamp(-4, 3) + 4) as usize
            };
            Counts::gather(
                81,
                (0..CALLS).map(|_| {
                    let out = draws.draw(mechanism, input).unwrap();
                    9 * place(&out, "a").min(8) + place(&out, "b").min(8)
                }),
            )
        };
        epsilon_lower(&run(&pair[0]), &run(&pair[1]), honest.guarantee().delta.get(), alpha)
    };
    for pair in &pairs {
        let bound = proven(&honest, pair, ledger.alpha());
        println!("keys: claimed {}, proven at least {bound:.3}", honest.guarantee());
        assert!(bound <= honest.guarantee().epsilon.get(), "{bound}");
    }
    assert!(proven(&honest, &pairs[1], ALPHA_PER_TEST) > 0.2);
    let twin = proven(&single, &pairs[1], ALPHA_PER_TEST);
    assert!(twin > honest.guarantee().epsilon.get(), "noise for one label is not caught: {twin}");
}

/// Answers per kind of interval.
const ANSWERS: u64 = 2000;

#[test]
fn intervals_of_figures_cover() {
    let mut ledger = Ledger::open("parts::coverage");
    let c = Confidence::P95;
    let rows: Vec<(f64, f64)> = (0..400)
        .map(|i| (f64::from(i % 37) * 0.31, f64::from(i % 37) * 0.2 + f64::from(i % 11) * 0.3))
        .collect();
    let n = rows.len() as f64;
    let mean = |f: &dyn Fn(&(f64, f64)) -> f64| rows.iter().map(f).sum::<f64>() / n;
    let (x, y) = (mean(&|p| p.0), mean(&|p| p.1));
    let (vx, vy) = (mean(&|p| (p.0 - x).powi(2)), mean(&|p| (p.1 - y).powi(2)));
    let cov = mean(&|p| (p.0 - x) * (p.1 - y));
    let mut sorted: Vec<f64> = rows.iter().map(|p| p.0).collect();
    sorted.sort_by(f64::total_cmp);
    let (bounds, second) = (column(-1.0, 12.0), column(0.0, 11.0));
    let gathered = |part: &Part, value: &dyn Fn(&(f64, f64)) -> RowValue| {
        let mut sums = vec![0; part.gathered_width()];
        rows.iter().for_each(|row| part.add(&mut sums, value(row)));
        part.settled(&sums)
    };
    let number: &dyn Fn(&(f64, f64)) -> RowValue = &|p| RowValue::Number(p.0);
    let both: &dyn Fn(&(f64, f64)) -> RowValue = &|p| RowValue::Numbers(p.0, p.1);
    let cell: &dyn Fn(&(f64, f64)) -> RowValue = &|p| RowValue::Cell((p.0 as usize).min(11));
    let in_cell =
        |cells: &[usize]| rows.iter().filter(|p| cells.contains(&(p.0 as usize).min(11))).count() as f64;
    type Ask<'a> = Box<dyn Fn(&NoisyPart) -> Vec<(&'static str, Figure, f64)> + 'a>;
    let tree = RankTree::new((0..=120).map(|i| f64::from(i) / 10.0).collect(), NoiseKind::Laplace).unwrap();
    let asks: Vec<(Part, Vec<i128>, Ask<'_>)> = vec![
        {
            let part = Part::Rows;
            let sums = vec![400];
            (part, sums, Box::new(|noisy| vec![("rows", noisy.rows(0, c).unwrap(), n)]))
        },
        {
            let part = Part::Sum(bounds);
            let sums = gathered(&part, number);
            (part, sums, Box::new(|noisy| vec![("sum", noisy.sum(0, c).unwrap(), x * n)]))
        },
        {
            let part = Part::moments(bounds, 1).unwrap();
            let sums = gathered(&part, number);
            (
                part,
                sums,
                Box::new(|noisy| {
                    vec![
                        ("mean", noisy.mean(0, c).unwrap(), x),
                        ("sum of moments", noisy.sum(0, c).unwrap(), x * n),
                    ]
                }),
            )
        },
        {
            let part = Part::moments(bounds, 2).unwrap();
            let sums = gathered(&part, number);
            (
                part,
                sums,
                Box::new(|noisy| {
                    vec![
                        ("mean of order 2", noisy.mean(0, c).unwrap(), x),
                        ("variance", noisy.variance(0, c).unwrap(), vx),
                        ("standard deviation", noisy.standard_deviation(0, c).unwrap(), vx.sqrt()),
                    ]
                }),
            )
        },
        {
            let part = Part::Joint(bounds, second);
            let sums = gathered(&part, both);
            (
                part,
                sums,
                Box::new(|noisy| {
                    let trend = noisy.trend(0, c).unwrap();
                    vec![
                        ("covariance", noisy.covariance(0, c).unwrap(), cov),
                        ("correlation", noisy.correlation(0, c).unwrap(), cov / (vx * vy).sqrt()),
                        ("slope", trend.slope, cov / vx),
                        ("intercept", trend.intercept, y - cov / vx * x),
                        ("second mean", noisy.mean_of(0, 1, c).unwrap(), y),
                    ]
                }),
            )
        },
        {
            let part = Part::Tree(tree);
            let sums = gathered(&part, number);
            let sorted = &sorted;
            (
                part,
                sums,
                Box::new(|noisy| {
                    let found = noisy.quantiles(0, &[0.25, 0.5, 0.95], c).unwrap();
                    vec![
                        ("quartile", found[0], sorted[99]),
                        ("median", found[1], sorted[199]),
                        ("95 %", found[2], sorted[379]),
                    ]
                }),
            )
        },
        {
            let part = Part::contingency(vec![3, 4], true).unwrap();
            let sums = gathered(&part, cell);
            let in_cell = &in_cell;
            (
                part,
                sums,
                Box::new(move |noisy| {
                    let table = noisy.consistent_table(0, c).unwrap();
                    vec![
                        ("margin", noisy.margin(0, 0, c).unwrap()[1], in_cell(&[4, 5, 6, 7])),
                        ("consistent cell", table.cells[11], in_cell(&[11])),
                    ]
                }),
            )
        },
        {
            let part = Part::cells(12).unwrap();
            let sums = gathered(&part, cell);
            let in_cell = &in_cell;
            (
                part,
                sums,
                Box::new(move |noisy| {
                    let (top, figure) = noisy.top(0, 1, c).unwrap()[0];
                    vec![
                        ("share", noisy.proportion(0, 2, c).unwrap(), in_cell(&[2]) / n),
                        ("top", figure, in_cell(&[top])),
                    ]
                }),
            )
        },
    ];
    let mut free = Free::new().unwrap();
    for noise in [laplace(1.0), gaussian(1.2)] {
        for (part, sums, ask) in &asks {
            let mut misses: BTreeMap<&str, (u64, f64)> = BTreeMap::new();
            for _ in 0..ANSWERS {
                let limits = ContributionLimits::ROW;
                let noisy =
                    release_part(&mut free, part, &limits, Neighboring::AddRemove, &noise, sums).unwrap();
                for (name, figure, truth) in ask(&noisy) {
                    let entry = misses.entry(name).or_insert((0, 0.0));
                    if let Some([low, high]) = figure.interval {
                        entry.0 += u64::from(!(low <= truth && truth <= high));
                        entry.1 += (high - low) / 2.0 / ANSWERS as f64;
                    }
                }
            }
            for (name, (missed, width)) in misses {
                println!("{name}, {noise:?}: {missed} of {ANSWERS} intervals of ± {width:.4} miss");
                ledger.expect(name, too_many(missed, ANSWERS, 0.05));
            }
        }
    }
}
