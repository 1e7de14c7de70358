//! Where the numbers of a column lie, from one noisy histogram over powers of two; and round numbers.

use crate::refusal::Refusal;
use reticent_core::{Confidence, Epsilon};
use reticent_data::{Cell, NumberError};
use reticent_noise::Releaser;
use reticent_noise::query::{self, QueryTerms};

/// The exponents of the smallest and the largest cell; numbers beyond count in those.
const EXPONENTS: [i32; 2] = [-30, 61];
/// Cells of one sign.
const SIDE: usize = (EXPONENTS[1] - EXPONENTS[0] + 1) as usize;
/// Cells in the order of the numbers they hold: negative ones, 0, positive ones; then the two others.
const ZERO: usize = SIDE;
const NUMBERS: usize = 2 * SIDE + 1;
/// Missing cells, and numbers that are not finite.
const MISSING: usize = NUMBERS;
/// Text that is not a number.
const TEXT: usize = NUMBERS + 1;
const CELLS: usize = NUMBERS + 2;

/// The chance that any empty cell is taken for an occupied one.
const FALSE_CELL: f64 = 1e-3;

/// How many cells of a column fall where: each in exactly one place.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Magnitudes([u64; CELLS]);

/// What a noisy histogram says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Outline {
    /// Mostly numbers, between these.
    Numbers([f64; 2]),
    /// Mostly text.
    Text,
    /// Nothing: no cell stands out of the noise but that of missing values.
    Blank,
}

impl Magnitudes {
    pub(super) fn new() -> Self {
        Self([0; CELLS])
    }

    pub(super) fn add(&mut self, cell: &Cell<'_>) {
        self.0[place(cell)] += 1;
    }

    /// The outer edges of the outermost occupied cells, from one histogram under add-remove.
    pub(super) fn outline(&self, source: &mut impl Releaser, epsilon: Epsilon) -> Result<Outline, Refusal> {
        // A cell is occupied if its interval lies above 0.
        let confidence = Confidence::new(1.0 - FALSE_CELL / CELLS as f64)?;
        let answer =
            query::histogram(source, &QueryTerms { confidence, ..QueryTerms::pure(epsilon) }, &self.0)?;
        let occupied = |cell: &usize| answer.interval[*cell][0] > 0.0;
        let numbers: Vec<usize> = (0..NUMBERS).filter(occupied).collect();
        let rows: i128 = numbers.iter().map(|cell| answer.value[*cell]).sum();
        Ok(match (numbers.first(), numbers.last()) {
            _ if occupied(&TEXT) && answer.value[TEXT] >= rows => Outline::Text,
            (Some(first), Some(last)) => Outline::Numbers([edges(*first)[0], edges(*last)[1]]),
            _ => Outline::Blank,
        })
    }
}

fn place(cell: &Cell<'_>) -> usize {
    let number = match cell.number() {
        Ok(Some(number)) => number.to_f64(),
        Ok(None) | Err(NumberError::NotFinite) => return MISSING,
        Err(NumberError::NotANumber(_)) => return TEXT,
    };
    if number == 0.0 {
        return ZERO;
    }
    // The exponent of a double as it is stored; below 2^-1022 it is lower than any cell's.
    let exponent = ((number.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    let step = (exponent.clamp(EXPONENTS[0], EXPONENTS[1]) - EXPONENTS[0]) as usize;
    if number > 0.0 { ZERO + 1 + step } else { ZERO - 1 - step }
}

/// The ends of a cell of numbers; the smallest cells reach down to 0.
fn edges(cell: usize) -> [f64; 2] {
    let step = cell.abs_diff(ZERO);
    let power = |step: usize| 2f64.powi(EXPONENTS[0] + step as i32);
    let outer = if step == 0 { 0.0 } else { power(step) };
    let inner = if step <= 1 { 0.0 } else { power(step - 1) };
    if cell < ZERO { [-outer, -inner] } else { [inner, outer] }
}

/// Numbers that people find round, in rising order: `mantissas` (two digits) times powers of ten, either sign, and 0.
/// They reach beyond every cell.
pub(super) fn ladder(mantissas: &[u8]) -> Vec<f64> {
    let decades = -12..=18;
    let rung = |decade: i32, mantissa: &u8| format!("{mantissa}e{decade}").parse::<f64>().unwrap_or(0.0);
    let up: Vec<f64> = decades.flat_map(|decade| mantissas.iter().map(move |m| rung(decade, m))).collect();
    let down = up.iter().rev().map(|rung| -rung);
    down.chain([0.0]).chain(up.iter().copied()).collect()
}

/// The part of a ladder that just holds an interval.
pub(super) fn around(ladder: &[f64], [low, high]: [f64; 2]) -> &[f64] {
    let first = ladder.partition_point(|rung| *rung <= low).saturating_sub(1);
    let last = ladder.partition_point(|rung| *rung < high).min(ladder.len() - 1);
    &ladder[first..=last]
}

#[cfg(test)]
mod tests {
    use super::*;
    use reticent_core::Neighboring;
    use reticent_noise::NoiseSession;

    #[test]
    fn every_number_lies_in_its_cell() {
        for number in [1.0, 1f64.next_down(), 2.0, 3.5, 1e-9, 1e18, 0.1] {
            for number in [number, -number] {
                let [low, high] = edges(place(&Cell::Float(number)));
                assert!((low..=high).contains(&number), "{number} in {low}, {high}");
                assert!(low.abs().max(high.abs()) <= 2.0 * number.abs());
            }
        }
        assert_eq!(edges(place(&Cell::Integer(0))), [0.0, 0.0]);
        assert_eq!(place(&Cell::Float(5e-324)), ZERO + 1);
        assert_eq!(place(&Cell::Float(f64::MIN)), 0);
        assert_eq!(edges(ZERO + 1)[0], 0.0);
        assert_eq!(place(&Cell::Text("x")), TEXT);
        assert!(
            [Cell::Null, Cell::Float(f64::NAN), Cell::Text("inf")].iter().all(|cell| place(cell) == MISSING)
        );
        assert_eq!((0..NUMBERS).map(edges).filter(|[low, high]| low >= high).count(), 1);
        assert!((1..NUMBERS).all(|cell| edges(cell - 1)[1] == edges(cell)[0]));
    }

    #[test]
    fn ladders_rise_and_hold() {
        let fine = ladder(&(10..100).collect::<Vec<u8>>());
        let coarse = ladder(&[10, 20, 25, 50]);
        assert!([&fine, &coarse].iter().all(|ladder| ladder.windows(2).all(|pair| pair[0] < pair[1])));
        assert!(coarse[coarse.len() - 1] > edges(NUMBERS - 1)[1]);
        let bounds = |low: f64, high: f64| {
            let part = around(&coarse, [low, high]);
            [part[0], part[part.len() - 1]]
        };
        assert_eq!(bounds(17.0, 90.0), [10.0, 100.0]);
        assert_eq!(bounds(-0.3, 2.5), [-0.5, 2.5]);
        assert_eq!(bounds(0.0, 99_999.0), [0.0, 100_000.0]);
        assert_eq!(around(&fine, [16.0, 128.0]).first(), Some(&16.0));
        assert_eq!(around(&fine, [16.0, 128.0]).last(), Some(&130.0));
    }

    #[test]
    fn the_outline_follows_the_many() {
        let mut session = NoiseSession::without_limit("row", Neighboring::AddRemove).unwrap();
        let mut outline = |cells: &[(Cell<'_>, u64)]| {
            let mut magnitudes = Magnitudes::new();
            cells.iter().for_each(|(cell, rows)| magnitudes.0[place(cell)] += rows);
            magnitudes.outline(&mut session.charging(), Epsilon::new(1.0).unwrap()).unwrap()
        };
        // An empty cell passes for an occupied one in fewer than one of 10⁻³ runs: only what must be there is asked for.
        let many = 1_000_000;
        let Outline::Numbers([low, high]) = outline(&[(Cell::Integer(20), many), (Cell::Integer(70), many)])
        else {
            panic!("numbers were expected")
        };
        assert!(low <= 16.0 && high >= 128.0);
        assert_eq!(outline(&[(Cell::Text("a"), many), (Cell::Text("3"), 1000)]), Outline::Text);
    }
}
