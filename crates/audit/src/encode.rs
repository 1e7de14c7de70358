//! Cells of a column as numbers that a learner can split: what is known of a record without a model.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// The most values of a text column, the most frequent ones, that become a column each.
const MOST_VALUES: usize = 50;
/// Up to this many different texts are categories and nothing else.
const CATEGORIES: usize = 10;
/// The most words of texts that become a column each, and the share of texts that must have such a word, and lack it.
const MOST_WORDS: usize = 30;
const WORD_SHARE: f64 = 0.01;

/// A column as numbers.
pub(crate) struct Encoded {
    /// Columns with a number per record, finite.
    pub(crate) columns: Vec<Vec<f32>>,
    /// Whether it is mostly different texts, of which a few sides are all that is seen.
    pub(crate) is_free_text: bool,
}

/// Numbers as they are, an infinite one as the largest finite one; texts, also single ones among numbers, as categories and by
/// what texts that are never repeated may share: their order, length, words and the numbers in them.
///
/// A cell that is not a number takes the median of those that are, beside a column that says so.
pub(crate) fn encode(cells: &[String]) -> Encoded {
    let parsed: Vec<Option<f64>> =
        cells.iter().map(|cell| cell.trim().parse().ok().filter(|number: &f64| !number.is_nan())).collect();
    let has_finite = parsed.iter().flatten().any(|number| number.is_finite());
    let is_text = |row: usize| parsed[row].is_none() || !has_finite;
    let texts: Vec<Option<&str>> =
        (0..cells.len()).map(|row| is_text(row).then_some(cells[row].as_str())).collect();
    let mut columns = if has_finite { numbers(&parsed) } else { Vec::new() };
    let is_free_text = of_texts(&texts, &mut columns);
    Encoded { columns, is_free_text }
}

/// The column of numbers, and flags of cells that are not finite numbers.
fn numbers(cells: &[Option<f64>]) -> Vec<Vec<f32>> {
    let mut finite: Vec<f64> = cells.iter().flatten().copied().filter(|number| number.is_finite()).collect();
    finite.sort_unstable_by(f64::total_cmp);
    let (least, most, median) = (finite[0], finite[finite.len() - 1], finite[finite.len() / 2]);
    let values: Vec<f64> = cells.iter().map(|cell| cell.map_or(median, |x| x.clamp(least, most))).collect();
    finite.dedup();
    let narrow = |value: f64| value as f32;
    let is_narrow = finite.iter().all(|value| narrow(*value).is_finite())
        && finite.windows(2).all(|pair| pair[0] == pair[1] || narrow(pair[0]) < narrow(pair[1]));
    let column = values.iter().map(|value| match is_narrow {
        true => narrow(*value),
        // Numbers that single precision cannot tell apart keep their order.
        false => finite.partition_point(|other| other < value) as f32,
    });
    let mut columns = vec![column.collect()];
    let mut flag = |is_odd: &dyn Fn(&Option<f64>) -> bool| {
        if cells.iter().any(is_odd) {
            columns.push(cells.iter().map(|cell| f32::from(u8::from(is_odd(cell)))).collect());
        }
    };
    flag(&|cell| cell.is_none());
    flag(&|cell| cell.is_some_and(f64::is_infinite));
    columns
}

/// Adds what texts are known by; whether they are mostly different ones.
fn of_texts(cells: &[Option<&str>], columns: &mut Vec<Vec<f32>>) -> bool {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    cells.iter().flatten().for_each(|text| *counts.entry(text).or_default() += 1);
    let (different, all) = (counts.len(), cells.iter().flatten().count());
    let mut frequent: Vec<(&str, usize)> = counts.iter().map(|(text, count)| (*text, *count)).collect();
    frequent.sort_by_key(|(_, count)| Reverse(*count));
    frequent.truncate(MOST_VALUES);
    let mut frequent: Vec<&str> = frequent
        .into_iter()
        .filter_map(|(text, count)| (count > 1 || different <= CATEGORIES).then_some(text))
        .collect();
    frequent.sort_unstable();
    for value in frequent {
        columns.push(cells.iter().map(|cell| f32::from(u8::from(*cell == Some(value)))).collect());
    }
    if different <= CATEGORIES {
        return false;
    }
    let mut by = |number: &dyn Fn(&str) -> f64| {
        columns.push(cells.iter().map(|cell| cell.map_or(-1.0, |text| number(text) as f32)).collect());
    };
    by(&|text| counts[text] as f64);
    by(&|text| text.chars().count() as f64);
    by(&|text| text.chars().filter(char::is_ascii_digit).count() as f64);
    by(&|text| text.chars().filter(|c| c.is_uppercase()).count() as f64);
    by(&|text| text.chars().filter(|c| c.is_whitespace()).count() as f64);
    by(&|text| year(&digits(text)));
    let mut ranked = |key: &dyn Fn(&str) -> Vec<u64>| {
        let order: BTreeSet<Vec<u64>> = counts.keys().map(|text| key(text)).collect();
        let rank: BTreeMap<Vec<u64>, usize> = order.into_iter().zip(0..).collect();
        by(&|text| rank[&key(text)] as f64);
    };
    // From the front, from the back, by their numbers, and by their numbers from the last to the first, as in 31.12.2024.
    ranked(&|text| text.chars().map(u64::from).collect());
    ranked(&|text| text.chars().rev().map(u64::from).collect());
    ranked(&|text| digits(text));
    ranked(&|text| digits(text).into_iter().rev().collect());
    let mut words: BTreeMap<String, usize> = BTreeMap::new();
    let own: Vec<BTreeSet<String>> =
        cells.iter().map(|cell| cell.map(self::words).unwrap_or_default()).collect();
    own.iter().flatten().for_each(|word| *words.entry(word.clone()).or_default() += 1);
    let share = |count: usize| count as f64 / all as f64;
    let mut words: Vec<(String, usize)> = words
        .into_iter()
        .filter(|(_, count)| *count > 1 && share(*count) >= WORD_SHARE && share(*count) <= 1.0 - WORD_SHARE)
        .collect();
    words.sort_by_key(|(_, count)| Reverse(*count));
    for (word, _) in words.into_iter().take(MOST_WORDS) {
        columns.push(own.iter().map(|own| f32::from(u8::from(own.contains(&word)))).collect());
    }
    // Dates and times are seen whole.
    let is_date = |text: &&str| !text.chars().any(char::is_alphabetic);
    2 * different > all && 2 * all > cells.len() && !counts.keys().all(is_date)
}

/// The numbers in a text.
fn digits(text: &str) -> Vec<u64> {
    let runs = text.split(|c: char| !c.is_ascii_digit()).filter(|run| !run.is_empty());
    runs.map(|run| run.parse().unwrap_or(u64::MAX)).collect()
}

/// The first number that may be a year; 0 without one.
fn year(numbers: &[u64]) -> f64 {
    // Also the beginning of 20241231.
    let years = numbers.iter().map(|n| if (10_000_000..100_000_000).contains(n) { n / 10_000 } else { *n });
    years.into_iter().find(|n| (1800..2200).contains(n)).unwrap_or(0) as f64
}

/// The words of a text in lower case; numbers are not words.
fn words(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(texts: impl IntoIterator<Item = impl ToString>) -> Vec<String> {
        texts.into_iter().map(|text| text.to_string()).collect()
    }

    #[test]
    fn odd_cells_leave_numbers_numbers() {
        let found = encode(&cells(["1", "2.5", "n/a", "inf", "-1", "7"]));
        assert_eq!(found.columns[0], [1.0, 2.5, 2.5, 7.0, -1.0, 7.0]);
        assert_eq!(found.columns[1], [0.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
        assert_eq!(found.columns[2], [0.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
        let plain = encode(&cells(["1", "2", "3"]));
        assert_eq!(plain.columns, [[1.0, 2.0, 3.0]]);
        assert!(!plain.is_free_text);
        // Beyond single precision: order is kept.
        let near = encode(&cells(["1700000002", "1700000001", "1e300"]));
        assert_eq!(near.columns, [[1.0, 0.0, 2.0]]);
        for odd in [encode(&cells(["nan", "NaN"])), encode(&cells(["inf", "-inf"])), encode(&[])] {
            assert!(odd.columns.iter().flatten().all(|value| value.is_finite()));
        }
    }

    #[test]
    fn texts_that_never_repeat_are_told_apart_by_what_they_share() {
        let separates = |texts: Vec<String>, half: usize| {
            let found = encode(&texts);
            assert!(found.columns.iter().all(|column| column.len() == texts.len()));
            found.columns.iter().any(|column| {
                let ends = |rows: &[f32]| {
                    rows.iter().fold((f32::INFINITY, f32::NEG_INFINITY), |(a, b), x| (a.min(*x), b.max(*x)))
                };
                let (first, second) = (ends(&column[..half]), ends(&column[half..]));
                first.1 < second.0 || second.1 < first.0
            })
        };
        let both = |first: &dyn Fn(usize) -> String, second: &dyn Fn(usize) -> String| {
            (0..40).map(first).chain((0..40).map(second)).collect::<Vec<_>>()
        };
        let day = |n: usize| (n % 28 + 1, n / 28 + 1);
        assert!(separates(
            both(&|n| format!("2023-{:02}-{:02}", day(n).1, day(n).0), &|n| format!(
                "2024-{:02}-{:02}",
                day(n).1,
                day(n).0
            )),
            40
        ));
        assert!(separates(
            both(&|n| format!("{:02}.{:02}.2023", day(n).0, day(n).1), &|n| format!(
                "{:02}.{:02}.2024",
                day(n).0,
                day(n).1
            )),
            40
        ));
        assert!(separates(both(&|n| format!("train/{n}.png"), &|n| format!("test/{n}.png")), 40));
        assert!(separates(both(&|n| format!("{n} of train, x"), &|n| format!("{n} of test, x")), 40));
        assert!(separates(both(&|n| format!("{n:03}a"), &|n| format!("{n:03}b")), 40));
        assert!(encode(&cells((0..80).map(|n| format!("{n} text")))).is_free_text);
        assert!(!encode(&cells((0..80).map(|n| format!("2024-01-{n}")))).is_free_text);
        assert!(!encode(&cells((0..80).map(|n| if n % 2 == 0 { "a" } else { "b" }))).is_free_text);
    }
}
