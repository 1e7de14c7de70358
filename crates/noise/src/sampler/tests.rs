use super::normal::{LAYERS, cells_at_once, layers, tail_in_doubles, wedge_in_doubles};
use super::normal_big;
use super::*;
use crate::entropy::{Bits, Block, Entropy, SeededForTests, Stream};
use dashu_int::{IBig, UBig};
use num_bigint::BigUint;
use proptest::prelude::*;
use reticent_core::special::normal_cdf;

/// Hands out given words, then random ones: for steering a sampler into a chosen branch.
struct Script(std::vec::IntoIter<u64>, SeededForTests);

impl Bits for Script {
    fn word(&mut self) -> u64 {
        self.0.next().unwrap_or_else(|| self.1.word())
    }
}

fn script(words: &[u64]) -> Script {
    Script(Vec::from(words).into_iter(), SeededForTests::new(99))
}

/// Whether 0.w₁w₂w₃ (base 2⁶⁴) is below num/den, by an independent big-number library.
fn below_by_num_bigint(words: &[u64], num: u128, den: u128) -> bool {
    let digits = words.iter().fold(BigUint::ZERO, |sum, word| (sum << 64) + BigUint::from(*word));
    digits * BigUint::from(den) < (BigUint::from(num) << (64 * words.len()))
}

proptest! {
    #[test]
    fn bernoulli_is_the_comparison_it_claims(words in prop::collection::vec(any::<u64>(), 6), den in 1u128.., part in any::<u128>()) {
        let num = part % (den + u128::from(den < u128::MAX));
        // Six words always decide: the seventh would matter with probability 2^-256.
        prop_assert_eq!(bernoulli(&mut script(&words), num, den), below_by_num_bigint(&words, num, den));
    }

    #[test]
    fn bernoulli_is_right_next_to_the_boundary(den in 1u128.., part in any::<u128>(), nudge in -1i8..=1) {
        let num = part % den;
        // The first words of num/den itself, moved by one in the last place.
        let digits: BigUint = (BigUint::from(num) << 256) / BigUint::from(den);
        let digits = match nudge { -1 if digits > BigUint::ZERO => digits - 1u8, 1 => digits + 1u8, _ => digits };
        let mut words = digits.to_u64_digits();
        words.resize(4, 0);
        words.reverse();
        words.extend([u64::MAX / 3, 12345]);
        prop_assert_eq!(bernoulli(&mut script(&words), num, den), below_by_num_bigint(&words, num, den));
    }

    #[test]
    fn a_cell_at_once_is_what_the_attempt_gives(word in any::<u64>(), shift in 0u32..56) {
        // Shifted words have a small low half now and then, where a word may be surplus.
        for word in [word, ((word >> 8) >> shift) << 8 | word & 255] {
            let (cell, is_open) = layers().cell_at_once(word as u32, (word >> 32) as u32);
            if !is_open {
                let attempt = Normal::attempt_with(word, &mut script(&[]), layers());
                prop_assert_eq!(attempt.map(|normal| normal.cell), Some(cell));
            }
        }
    }

    #[test]
    fn dyadics_bound_from_above(value in 1e-17f64..1e30, bits in 1u32..=53) {
        let dyadic = Dyadic::at_least("scale", value, bits).unwrap();
        let back = dyadic.numerator as f64 * (2f64).powi(-(dyadic.shift as i32));
        prop_assert!(back >= value && back <= value * (1.0 + (2f64).powi(1 - bits as i32)), "{} {}", value, back);
    }

    #[test]
    fn extreme_scales_are_typed_errors_or_work(value in any::<f64>(), seed in any::<u64>()) {
        if let Ok(dyadic) = Dyadic::at_least("scale", value, 53) {
            let mut bits = SeededForTests::new(seed);
            DiscreteLaplaceSampler::new(dyadic).sample(&mut bits);
            DiscreteGaussianSampler::new(Dyadic::at_least("sigma", value, 20).unwrap()).sample(&mut bits);
        }
    }
}

#[test]
fn dashu_divides_correctly() {
    // Two divisions that an earlier release of the library got wrong.
    assert_eq!(UBig::from(10u8) / UBig::from(10u8), UBig::ONE);
    assert_eq!(IBig::from(-2) * IBig::from(6) / IBig::from(3 * 4), IBig::from(-1));
}

#[test]
fn layers_cover_the_density() {
    let table = layers();
    let height =
        |n: usize| table.area * (0..n).map(|i| (2f64).powi(24) / f64::from(table.width(i))).sum::<f64>();
    let density = |cells: f64| (-0.5 * (cells * (2f64).powi(-24)).powi(2)).exp();
    assert!(height(LAYERS) >= 1.0 && height(LAYERS) < 1.001);
    for layer in 1..LAYERS {
        // Points as high as this layer and under the density lie within its width.
        assert!(density(f64::from(table.width(layer))) <= height(layer) * (1.0 + 1e-12), "layer {layer}");
    }
    for layer in 0..LAYERS - 1 {
        // What is accepted without a look at the height lies under the density.
        assert!(density(f64::from(table.sure(layer))) >= height(layer + 1) * (1.0 - 1e-12), "layer {layer}");
    }
    let (r, x0) = (f64::from(super::normal::TAIL_START), f64::from(super::normal::BASE_WIDTH));
    let unit = (2f64).powi(24);
    assert!(x0 / unit >= r / unit + unit / r, "the exponential must dominate the tail");
    assert!(height(1) >= density(r) * (1.0 + 1e-6));
}

#[test]
fn fixed_point_exponential_is_right() {
    // e^-1 and e^-10 to 40 digits.
    for (x, digits) in
        [(1u32, "3678794411714423215955237701614608674458"), (10, "453999297624848515355915155605506102")]
    {
        let decimal = UBig::from_str_radix(digits, 10).unwrap();
        let scaled = (decimal << normal_big::PRECISION) / UBig::from(10u8).pow(40);
        let value = normal_big::exp_neg(&UBig::from(x), &UBig::ONE);
        let gap = if value > scaled { &value - &scaled } else { &scaled - &value };
        assert!(gap << 115 < UBig::ONE << normal_big::PRECISION, "e^-{x}");
    }
}

#[test]
fn doubles_and_integers_agree_where_doubles_decide() {
    let mut bits = SeededForTests::new(7);
    let table = layers();
    let (mut wedges, mut tails) = ([0; 2], [0; 2]);
    for _ in 0..400 {
        let layer = 1 + uniform_below(&mut bits, 255) as usize;
        // Near the layer's edge, where the density crosses it.
        let magnitude = table.width(layer) - 1 - uniform_below(&mut bits, 500_000) as u32;
        let (position, height) = (bits.word(), bits.word());
        if let Some(clear) = wedge_in_doubles(table, layer, magnitude, position, height) {
            assert_eq!(clear, normal_big::wedge(&mut bits, layer, magnitude, position, height));
            wedges[usize::from(clear)] += 1;
        }
        let steps = geometric(&mut bits, super::normal::TAIL_SCALE) as u64;
        if let Some(clear) = tail_in_doubles(table, steps, height) {
            assert_eq!(clear, normal_big::tail(&mut bits, steps, 77, height));
            tails[usize::from(clear)] += 1;
        }
    }
    assert!(wedges.iter().chain(&tails).all(|n| *n > 0), "{wedges:?} {tails:?}");
}

#[test]
fn rounded_normal_resolves_an_integer_inside_the_last_unit() {
    // σ·x sits one unit below an integer: whether the floor moves depends on the next word alone.
    let sigma = 3u64;
    let cell = 5_592_405u64; // ⌊2^24/3⌋, so that x just below 1/3 makes σ·x just below 1
    let width = u128::from(2 * layers().width(128));
    let wanted = u128::from(cell + u64::from(layers().width(128)));
    let first = ((((wanted << 64) + (1 << 63)) / width) as u64 & !255) | 128;
    let last = u64::MAX / 3; // x = (cell + last/2^64)/2^24: 3·(cell·2^64 + last) = 2^88 − 1
    for (next, expected) in [(0u64, 0i128), (u64::MAX / 2, 1)] {
        let value = rounded_normal(&mut script(&[first, last, next]), sigma);
        assert_eq!(value, expected, "next word {next}");
    }
}

#[test]
fn a_redrawn_cell_keeps_its_layer() {
    // Layer 77 with the surplus value 0 in the other bits, then a word of layer 3: the cell comes from the
    // second word, the layer from the first.
    let table = layers();
    assert_ne!((1u64 << 56) % u64::from(2 * table.width(77)), 0);
    let second = 0x8123_4567_89ab_cd03u64;
    let cell = Normal::sample(&mut script(&[77, second])).cell;
    let width = u128::from(table.width(77));
    assert_eq!(i128::from(cell), ((u128::from(second & !255) * 2 * width) >> 64) as i128 - width as i128);
}

#[test]
fn layer_zero_is_tested_near_the_tail() {
    // The last cell before the tail lies partly above the density: its height is drawn.
    let base = u128::from(2 * super::normal::BASE_WIDTH);
    let wanted = u128::from(super::normal::BASE_WIDTH + super::normal::TAIL_START - 1);
    let first = (((wanted << 64) + (1 << 63)) / base) as u64 & !255;
    // At the very top of the layer the point is rejected, and the next word (layer 128, cell 0) is used.
    let centre = 0x8000_0001_2345_6780u64;
    let drawn = Normal::sample(&mut script(&[first, 0, u64::MAX, centre]));
    assert_eq!(drawn.cell, 0);
    let drawn = Normal::sample(&mut script(&[first, 0, 0, centre]));
    assert_eq!(drawn.cell, super::normal::TAIL_START as i32 - 1);
}

#[test]
fn student_doubles_and_integers_agree() {
    let mut bits = SeededForTests::new(11);
    for nu in [1, 2, 5, 30] {
        let sampler = StudentSampler::new(1 << 33, nu);
        for _ in 0..200 {
            let numbers: Vec<i128> = (0..=nu).map(|_| Normal::sample(&mut bits).fixed(&mut bits)).collect();
            if let Some(floor) = sampler.floor_in_doubles(numbers[0], &numbers[1..]) {
                assert_eq!(floor, sampler.floor_exactly(&mut bits, numbers[0], &numbers[1..]));
            }
        }
    }
}

#[test]
fn digits_of_one_over_e() {
    let digits: Vec<u64> = (0..4).map(super::big::inverse_e_digit).collect();
    assert_eq!(digits, super::bernoulli::INVERSE_E);
    for nudge in [-1i64, 1] {
        for place in 0..6 {
            let mut words: Vec<u64> = (0..=place).map(super::big::inverse_e_digit).collect();
            words[place] = words[place].wrapping_add_signed(nudge);
            assert_eq!(super::bernoulli::bernoulli_exp_one(&mut script(&words)), nudge < 0);
        }
    }
}

/// Intervals of 1/16, from −4.5 to 4.5; the outermost ones have no end.
const INTERVALS: usize = 144;

/// Pearson's statistic of counts.
fn chi_square(counts: &[u64], probabilities: impl Iterator<Item = f64>) -> f64 {
    let total = counts.iter().sum::<u64>() as f64;
    let terms =
        counts.iter().zip(probabilities).map(|(count, p)| (*count as f64 - total * p).powi(2) / (total * p));
    terms.sum()
}

/// Seven standard deviations above the mean of Pearson's statistic.
fn limit(classes: usize) -> f64 {
    let freedom = (classes - 1) as f64;
    freedom + 7.0 * (2.0 * freedom).sqrt()
}

fn interval(cell: i32) -> usize {
    ((cell >> (CELL_BITS - 4)) + INTERVALS as i32 / 2).clamp(0, INTERVALS as i32 - 1) as usize
}

#[test]
fn cells_drawn_in_vectors_are_normal() {
    let mut stream = Stream::new(&mut Entropy::new().unwrap());
    let (mut block, mut cells) = (Block::new(), [0; Block::WORDS]);
    let (mut counts, mut of_twin, mut last_digits) = ([0; INTERVALS], [0; INTERVALS], [0; 16]);
    for _ in 0..1 << 15 {
        normal_cells(&mut stream, &mut block, &mut cells);
        for cell in cells {
            counts[interval(cell)] += 1;
            last_digits[cell.rem_euclid(16) as usize] += 1;
        }
        // The broken twin keeps the cells of words that are left open.
        stream.fill(&mut block);
        cells_at_once(layers(), block.halves(), &mut cells, &mut [0; Block::WORDS]);
        cells.iter().for_each(|cell| of_twin[interval(*cell)] += 1);
    }
    let below = |end: usize| match end {
        0 => 0.0,
        INTERVALS => 1.0,
        _ => normal_cdf((end as f64 - INTERVALS as f64 / 2.0) / 16.0),
    };
    let probabilities = || (0..INTERVALS).map(|i| below(i + 1) - below(i));
    let statistic = chi_square(&counts, probabilities());
    assert!(statistic < limit(INTERVALS), "{statistic}");
    let statistic = chi_square(&last_digits, (0..16).map(|_| 1.0 / 16.0));
    assert!(statistic < limit(16), "{statistic}");
    let statistic = chi_square(&of_twin, probabilities());
    assert!(statistic > 1.2 * limit(INTERVALS), "{statistic}");
}

#[test]
fn vectors_and_single_words_give_the_same_cells() {
    let mut stream = Stream::new(&mut Entropy::new().unwrap());
    let mut block = Block::new();
    let (mut cells, mut open, mut opened) = ([0; Block::WORDS], [0; Block::WORDS], 0);
    for _ in 0..64 {
        stream.fill(&mut block);
        cells_at_once(layers(), block.halves(), &mut cells, &mut open);
        let [low, high] = block.halves();
        for i in 0..Block::WORDS {
            assert_eq!(layers().cell_at_once(low[i], high[i]), (cells[i], open[i] == 1));
            opened += usize::from(open[i]);
        }
    }
    // About 1.2 % of words are left open.
    assert!((400..1400).contains(&opened), "{opened}");
}
