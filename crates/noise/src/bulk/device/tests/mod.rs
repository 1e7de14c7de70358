mod harness;
mod twin;

use super::super::{Parallelism, add_cells};
use super::*;
use crate::entropy::{Bits, SeededForTests};
use crate::sampler::normal::{BASE_WIDTH, LAYERS, TAIL_SCALE, TAIL_START, layers};
use crate::sampler::{CELL_BITS, geometric, normal_big as exact, uniform_below};
use dashu_int::UBig;
use harness::Harness;
use reticent_core::special::normal_cdf;
use reticent_core::{Event, Plan, Scale, Sensitivity, Unlimited, charge};
use std::collections::BTreeMap;

const KEY: [u32; 8] = [1, 0x8000_0000, 3, u32::MAX, 5, 0x1234_5678, 7, 0xfedc_ba98];

fn fresh_key() -> [u32; 8] {
    let mut entropy = Entropy::new().unwrap();
    std::array::from_fn(|_| entropy.word() as u32)
}

#[test]
fn the_table_has_the_layout_that_the_kernels_read() {
    let place = |name: &str| -> usize {
        let (_, rest) = SOURCE.split_once(&format!("    {name} = ")).unwrap();
        rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse().unwrap()
    };
    let table = table();
    assert_eq!(table.len(), place("BASE_WIDTH") + 1);
    assert_eq!(table[place("BASE_WIDTH")], u64::from(BASE_WIDTH));
    assert_eq!(table[place("TAIL_START")], u64::from(TAIL_START));
    assert_eq!(table[7], u64::from(layers().width(7)) | u64::from(layers().sure(7)) << 32);
    assert_eq!(f64::from_bits(table[place("FLOORS") + 7]), layers().floor(7));
    let area = f64::from_bits(table[place("AREA")]);
    assert_eq!(table[place("MANTISSA")] as f64 / (table[place("SHIFT")] as f64).exp2(), area);
    // The fixed-point numbers are close to the doubles, in units of 2⁻³⁸⁴.
    let wide =
        |at: usize| (0..8).map(|i| table[at + i] as f64 * (64.0 * i as f64 - 384.0).exp2()).sum::<f64>();
    for layer in 0..LAYERS {
        let floor = layers().floor(layer);
        assert!((wide(place("LEVELS") + 8 * layer) - floor).abs() <= 1e-12 * floor, "layer {layer}");
    }
    assert!((wide(place("CORRECTION")) - 1.0).abs() < 1e-12);
    assert!((table[place("INVERSE_E")] as f64 / (64f64).exp2() - (-1f64).exp()).abs() < 1e-15);
}

#[test]
fn cells_are_those_of_the_processor() {
    let harness = Harness::new();
    for (n, key) in [(1_200_123, KEY), (300_000, fresh_key()), (1, KEY), (255, KEY), (257, KEY), (0, KEY)] {
        // Not `assert_eq`, which would print a million numbers.
        assert!(harness.cells(n, &key) == twin::cells(n, &key), "{n} cells of {key:?}");
    }
}

/// A word that a layer turns into this cell.
fn word_of_cell(bits: &mut SeededForTests, layer: usize, cell: i64) -> u64 {
    let width = i64::from(layers().width(layer));
    assert!((-width..width).contains(&cell));
    let (cells, wanted) = (2 * width as u64, (cell + width) as u128);
    let first = (wanted << 56) / u128::from(cells) + 1;
    let upper = first as u64 + uniform_below(bits, (1 << 56) / cells - 2);
    upper << 8 | layer as u64
}

/// A magnitude of a layer that its sure part does not have; not one of the tail.
fn unsure_magnitude(bits: &mut SeededForTests, layer: usize) -> u32 {
    let (sure, end) = (layers().sure(layer), layers().width(layer).min(TAIL_START));
    sure + uniform_below(bits, u64::from(end - sure)) as u32
}

/// First words that reach the wedge of every layer on both sides, the tail, and surplus words whose cell is redrawn.
fn open_words(bits: &mut SeededForTests, rounds: usize, tails: usize) -> Vec<u64> {
    let sides = |magnitude: u32| [i64::from(magnitude), -i64::from(magnitude) - 1];
    let mut words = Vec::new();
    for layer in 0..LAYERS {
        words.push(layer as u64);
        for _ in 0..rounds {
            let cells = sides(unsure_magnitude(bits, layer));
            words.extend(cells.map(|cell| word_of_cell(bits, layer, cell)));
        }
    }
    for _ in 0..tails {
        let magnitude = TAIL_START + uniform_below(bits, u64::from(BASE_WIDTH - TAIL_START)) as u32;
        words.extend(sides(magnitude).map(|cell| word_of_cell(bits, 0, cell)));
    }
    words
}

#[test]
fn every_wedge_and_the_tail_are_those_of_the_processor() {
    let mut bits = SeededForTests::new(3);
    let words = open_words(&mut bits, 100, 20_000);
    let settled = Harness::new().settle(&words, &KEY, table());
    for (i, (word, cell)) in words.iter().zip(&settled).enumerate() {
        assert_eq!(*cell, twin::settle(*word, &mut twin::Further::new(&KEY, i as u64)), "{word:#x}");
    }
    // The tail was reached, and more than two units of its scale beyond.
    assert!(settled.iter().filter(|cell| **cell >= TAIL_START as i32).count() > 10_000);
    assert!(settled.iter().any(|cell| *cell < -(TAIL_START as i32) - 2 * (BASE_WIDTH - TAIL_START) as i32));
}

#[test]
fn where_doubles_never_decide_the_cells_are_those_of_integers() {
    let mut bits = SeededForTests::new(4);
    let words = open_words(&mut bits, 3, 300);
    let mut table = table().to_vec();
    let clear = table.iter().position(|word| *word == crate::sampler::normal::CLEAR.to_bits()).unwrap();
    table[clear] = (4.0f64).to_bits();
    let settled = Harness::new().settle(&words, &KEY, &table);
    for (i, (word, cell)) in words.iter().zip(&settled).enumerate() {
        assert_eq!(*cell, twin::settle_exactly(*word, &mut twin::Further::new(&KEY, i as u64)), "{word:#x}");
    }
}

/// Hands out the given words.
struct Given<'a>(std::slice::Iter<'a, u64>);

impl Bits for Given<'_> {
    fn word(&mut self) -> u64 {
        *self.0.next().unwrap()
    }
}

/// What the fixed-point comparison of the processor says.
fn exactly(case: &[u64; 8]) -> bool {
    let [kind, at, position, height, ..] = *case;
    let mut more = Given(case[4..].iter());
    match kind as usize {
        LAYERS => exact::tail(&mut more, at, position as u32, height),
        layer => exact::wedge(&mut more, layer, at as u32, position, height),
    }
}

/// The case with another height, of 320 bits.
fn with_height(case: &[u64; 8], height: &UBig) -> [u64; 8] {
    let mut case = *case;
    for (i, word) in case[3..].iter_mut().enumerate() {
        let shifted: UBig = height >> (64 * (4 - i));
        *word = u64::try_from(shifted & UBig::from(u64::MAX)).unwrap();
    }
    case
}

/// The lowest height that is not under the density; 2³²⁰ where all are.
fn lowest_above(case: &[u64; 8]) -> UBig {
    let (mut low, mut high) = (UBig::ZERO, UBig::ONE << 320);
    while low < high {
        let middle: UBig = (&low + &high) >> 1;
        if exactly(&with_height(case, &middle)) {
            low = middle + UBig::ONE;
        } else {
            high = middle;
        }
    }
    low
}

#[test]
fn fixed_point_comparisons_are_those_of_the_processor_to_the_last_bit() {
    let mut bits = SeededForTests::new(5);
    let mut random = |i: usize| {
        let mut case: [u64; 8] = std::array::from_fn(|_| bits.word());
        let layer = i % (LAYERS + 32);
        (case[0], case[1]) = if layer < LAYERS {
            (layer as u64, u64::from(unsure_magnitude(&mut bits, layer)))
        } else {
            (LAYERS as u64, geometric(&mut bits, TAIL_SCALE).min(1 << 60) as u64)
        };
        case[2] &= u64::from(u32::MAX) | if layer < LAYERS { u64::MAX } else { 0 };
        case
    };
    let mut cases: Vec<[u64; 8]> = (0..12 * (LAYERS + 32)).map(&mut random).collect();
    // The ends of what can be asked.
    for height in [0, u64::MAX] {
        cases.extend(
            [0, 1, 1 << 60].map(|steps| [LAYERS as u64, steps, 0, height, height, height, height, height]),
        );
        cases.push([255, 0, 0, height, height, height, height, height]);
    }
    let mut crossings = 0;
    for i in (0..LAYERS + 32).step_by(5) {
        let case = random(i);
        let edge = lowest_above(&case);
        if edge == UBig::ZERO || edge >= UBig::ONE << 320 {
            continue;
        }
        crossings += 1;
        for k in 0..48 {
            // The edge itself and its neighbours, then further and further away.
            let distance = if k < 4 { UBig::from(k as u64) } else { UBig::ONE << (k - 3) };
            cases.push(with_height(&case, &(&edge + &distance)));
            cases.push(with_height(&case, &(&edge - &distance.min(edge.clone()))));
        }
    }
    assert!(crossings >= 30, "{crossings} cases have an edge");
    let (found, mut under) = (Harness::new().exact(&cases), 0);
    for (case, found) in cases.iter().zip(found) {
        assert_eq!(found, exactly(case), "{case:?}");
        under += usize::from(found);
    }
    assert!(under > cases.len() / 5 && under < cases.len() * 4 / 5, "{under} of {}", cases.len());
}

#[test]
fn values_are_rounded_as_on_the_processor() {
    let harness = Harness::new();
    let mut bits = SeededForTests::new(6);
    let odd =
        [0.0, -0.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN, f32::MIN_POSITIVE, 1e-45];
    for sigma in [1e-250, 1e-38, 0.7, 2.0, 1e33] {
        let step = sigma / f64::from(1 << CELL_BITS);
        // Bit patterns of all kinds, and values around the grid and its ends.
        let mut values = odd.to_vec();
        values.extend((0..2000).map(|_| f32::from_bits(bits.word() as u32)));
        values.extend((0..4000).map(|i| {
            let share = bits.word() as i64 as f64 / (63f64).exp2();
            (share * step * f64::from(i % 48).exp2()) as f32
        }));
        let found = harness.add(&values, step, &KEY);
        add_cells(&mut values, &mut twin::cells(found.len(), &KEY), step);
        for (i, (found, expected)) in found.iter().zip(&values).enumerate() {
            assert_eq!(found.to_bits(), expected.to_bits(), "sigma {sigma}, value {i}");
            assert!(found.is_finite());
        }
    }
}

/// Intervals of 1/16, from −4.5 to 4.5; the outermost ones have no end.
const INTERVALS: usize = 144;

/// Pearson's statistic of cells, in standard deviations above its mean.
fn misfit(cells: &[i32]) -> f64 {
    let mut counts = [0u64; INTERVALS];
    for cell in cells {
        let interval = (cell >> (CELL_BITS - 4)) + INTERVALS as i32 / 2;
        counts[interval.clamp(0, INTERVALS as i32 - 1) as usize] += 1;
    }
    let below = |end: usize| match end {
        0 => 0.0,
        INTERVALS => 1.0,
        _ => normal_cdf((end as f64 - INTERVALS as f64 / 2.0) / 16.0),
    };
    let (total, freedom) = (cells.len() as f64, INTERVALS as f64 - 1.0);
    let term = |i: usize| {
        let expected = total * (below(i + 1) - below(i));
        (counts[i] as f64 - expected).powi(2) / expected
    };
    ((0..INTERVALS).map(term).sum::<f64>() - freedom) / (2.0 * freedom).sqrt()
}

/// Pairs of equal cells within chunks. Independent cells have less than 0.001 of them per chunk.
fn repeats(cells: &[i32]) -> usize {
    let in_chunk = |chunk: &[i32]| {
        let mut counts = BTreeMap::<i32, usize>::new();
        chunk.iter().for_each(|cell| *counts.entry(*cell).or_default() += 1);
        counts.values().map(|n| n * (n - 1) / 2).sum::<usize>()
    };
    cells.chunks(CHUNK).map(in_chunk).sum()
}

#[test]
fn cells_are_normal_and_broken_twins_are_not() {
    let (n, key) = (1 << 21, fresh_key());
    let cells = Harness::new().cells(n, &key);
    // 8192 chunks of 32 640 pairs, which are equal with probability 2⁻²⁴/√(4π) each: 4.5 pairs.
    let (misfit_of_own, repeats_of_own) = (misfit(&cells), repeats(&cells));
    assert!(misfit_of_own < 7.0 && repeats_of_own < 30, "{misfit_of_own} {repeats_of_own}");
    // The layer from bits that the cell is made of as well.
    let twin = Harness::broken("u64 layer = table[low & 255];", "u64 layer = table[high >> 24];");
    let misfit_of_twin = misfit(&twin.cells(n, &key));
    assert!(misfit_of_twin > 100.0, "{misfit_of_twin}");
    // Words that are left open keep their cells.
    let decided = "bool is_open = cell_at_once(words[j], table, cell)";
    let twin = Harness::broken(decided, &format!("{decided} && false"));
    let misfit_of_twin = misfit(&twin.cells(n, &key));
    assert!(misfit_of_twin > 9.0, "{misfit_of_twin}");
    // Further words are the first ones again: an open word of a group becomes the cell of another.
    let twin = Harness::broken("stream.nonce = 0;", "stream.nonce = ~0ull;");
    let repeats_of_twin = repeats(&twin.cells(n, &key));
    assert!(repeats_of_twin > 300, "{repeats_of_twin}");
}

fn bulk(length: usize) -> BulkGaussian {
    BulkGaussian::new(Sensitivity::new(1.0).unwrap(), Scale::new(2.0).unwrap(), length).unwrap()
}

fn paid(noise: &BulkGaussian, count: u64) -> NoiseAhead {
    let event = Event::Repeated { count, event: Box::new(noise.event()) };
    let mut permit = charge(&mut Unlimited::new(), &Plan::new(vec![event.clone()]).unwrap()).unwrap();
    NoiseAhead::new(noise, &mut permit, &event).unwrap()
}

#[test]
fn a_call_is_counted_wherever_it_is_drawn() {
    let noise = bulk(100);
    let mut ahead = paid(&noise, 3);
    let key = |taken: DeviceNoise| taken.launch(100, |arguments| *arguments.key).unwrap();
    let first = key(noise.take_for_device(&mut ahead).unwrap());
    assert_ne!(first, [0; 8]);
    assert_ne!(first, key(noise.take_for_device(&mut ahead).unwrap()));
    assert!(matches!(bulk(99).take_for_device(&mut ahead), Err(NoiseError::Unpaid)));
    noise.draw_ahead(&mut ahead).finish().unwrap();
    noise.add_ahead(&mut [0.0; 100], &mut ahead, Parallelism { threads: 1 }).unwrap();
    assert!(matches!(noise.take_for_device(&mut ahead), Err(NoiseError::Unpaid)));
}

#[test]
fn taken_noise_is_for_one_vector_and_one_process() {
    let noise = bulk(100);
    let mut ahead = paid(&noise, 3);
    let taken = noise.take_for_device(&mut ahead).unwrap();
    assert_eq!(taken.length(), 100);
    assert!(taken.launch(101, |_| panic!("it is for another length")).is_err());
    let mut taken = noise.take_for_device(&mut ahead).unwrap();
    taken.made_in += 1;
    assert!(taken.launch(100, |_| panic!("it is of another process")).is_err());
    let taken = noise.take_for_device(&mut ahead).unwrap();
    taken.launch(100, |arguments| assert_eq!((arguments.length, arguments.step), (100, noise.step))).unwrap();
}
