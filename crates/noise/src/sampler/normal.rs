//! The standard normal, cut to cells of width 2⁻²⁴, by an integer ziggurat.
//!
//! | name | meaning |
//! |---|---|
//! | cell K | the interval [K, K + 1) · 2⁻²⁴ |
//! | `width[i]` | half-width of layer i in cells; layer 0 also stands for the tail |
//! | `sure[i]` | cells of layer i with |x| below this lie under the density whatever the height |
//! | A | area of each layer (one side) |
//!
//! Layers have integer widths and exactly equal areas A = width · height, so a uniform layer and a
//! uniform cell in it are a uniform point of the covered region; points above the density are
//! thrown away. See the proof for the tail and for the precision of the height comparison.

use super::{geometric, normal_big as exact};
use crate::entropy::{Bits, Block, Stream};
use pulp::{Arch, Simd, WithSimd};
use std::sync::OnceLock;

/// Cells per unit, as a power of two.
pub const CELL_BITS: u32 = 24;

/// Statistical distance of one draw from the ideal distribution is at most 2 to this power.
pub const NORMAL_DISTANCE_LOG2: i32 = -120;

pub(crate) const LAYERS: usize = 256;
/// Where the tail begins, in cells: chosen so that 256 layers just cover the peak.
pub(crate) const TAIL_START: u32 = 61_327_852;
/// Half-width of layer 0, in cells: at least r + 1/r for r the tail's start, so that the exponential
/// through the tail's start stays above the density.
pub(crate) const BASE_WIDTH: u32 = 65_917_531;
/// Extra bits of position drawn in the tail.
pub(crate) const TAIL_BITS: u32 = 32;
/// Scale of the tail's exponential in units of 2⁻⁵⁶.
pub(crate) const TAIL_SCALE: u64 = ((BASE_WIDTH - TAIL_START) as u64) << TAIL_BITS;

/// Doubles whose relative distance is above this compare as the exact numbers do.
pub(crate) const CLEAR: f64 = 1.0 / (1u64 << 36) as f64;

pub(super) const CELL: f64 = 1.0 / (1u64 << CELL_BITS) as f64;

pub(crate) struct Layers {
    width: [u32; LAYERS],
    sure: [u32; LAYERS],
    /// Height at which each layer begins, divided by A.
    floor: [f64; LAYERS],
    /// Area of a layer; the double itself is the definition.
    pub(crate) area: f64,
}

impl Layers {
    /// Half-width of a layer in cells.
    pub(crate) fn width(&self, layer: usize) -> u32 {
        self.width[layer]
    }

    /// The cell that a word gives, from its halves, and whether it is left open: [`Normal::attempt_with`] decides those
    /// words. For all others that function accepts the same cell without drawing anything. There is no branch and no
    /// product of more than 64 bits, so a loop over words runs in vectors.
    #[inline(always)]
    pub(crate) fn cell_at_once(&self, low: u32, high: u32) -> (i32, bool) {
        let layer = (low & 255) as usize;
        let width = self.width[layer];
        let cells = u64::from(2 * width);
        // The 56 bits above the layer times the number of cells, without the last 24 bits of the product.
        let product = u64::from(high) * cells + ((u64::from(low >> 8) * cells) >> 24);
        let cell = (product >> 32) as i32 - width as i32;
        let magnitude = (cell ^ (cell >> 31)) as u32;
        // The last 56 bits of a surplus word's product are below 2·width < 2²⁷.
        (cell, (magnitude >= self.sure[layer]) | ((product as u32) < 8))
    }

    /// Cells below this are under the density at every height of the layer.
    pub(crate) fn sure(&self, layer: usize) -> u32 {
        self.sure[layer]
    }

    /// Height at which a layer begins, divided by the area.
    pub(crate) fn floor(&self, layer: usize) -> f64 {
        self.floor[layer]
    }
}

/// The table, built once. Widths are rounded outward and sure parts inward by two cells, far more
/// than the error of the doubles they come from.
pub(crate) fn layers() -> &'static Layers {
    static LAYERS_ONCE: OnceLock<Layers> = OnceLock::new();
    LAYERS_ONCE.get_or_init(|| {
        let start = f64::from(TAIL_START) * CELL;
        let area = f64::from(BASE_WIDTH) * CELL * libm::exp(-0.5 * start * start) * (1.0 + 1.0 / 65536.0);
        let mut table = Layers { width: [0; LAYERS], sure: [0; LAYERS], floor: [0.0; LAYERS], area };
        (table.width[0], table.width[1]) = (BASE_WIDTH, TAIL_START);
        let mut height = 0.0;
        for layer in 0..LAYERS {
            table.floor[layer] = height;
            height += 1.0 / (f64::from(table.width[layer]) * CELL);
            if layer + 1 < LAYERS {
                let edge = (-2.0 * libm::log(area * height)).sqrt() / CELL;
                table.sure[layer] = edge.floor() as u32 - 2;
                // Layer 1 is as wide as the tail's start, which its lower edge falls short of by design.
                table.width[layer + 1] = if layer == 0 { TAIL_START } else { edge.ceil() as u32 + 2 };
            }
        }
        debug_assert!(area * height >= 1.0);
        table
    })
}

/// A standard normal, known to lie in one cell and refined only on demand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Normal {
    /// The cell K: the value lies in [K, K + 1) · 2⁻²⁴.
    pub cell: i32,
    /// The first 64 bits of the position inside the cell, where drawing needed them.
    within: Option<u64>,
}

impl Normal {
    /// One draw.
    #[inline]
    pub fn sample<B: Bits>(bits: &mut B) -> Self {
        let table = layers();
        loop {
            if let Some(normal) = Self::attempt(bits, table) {
                return normal;
            }
        }
    }

    #[inline]
    fn attempt<B: Bits>(bits: &mut B, table: &Layers) -> Option<Self> {
        let word = bits.word();
        Self::attempt_with(word, bits, table)
    }

    /// An attempt whose first word is given.
    #[inline]
    pub(crate) fn attempt_with<B: Bits>(mut word: u64, bits: &mut B, table: &Layers) -> Option<Self> {
        let layer = (word & 255) as usize;
        let width = table.width[layer];
        // A uniform cell in [−width, width) from the other 56 bits (multiply and reject). The layer is kept
        // when a cell is redrawn, so that layers stay equally likely.
        let cells = u128::from(2 * width);
        let mut product = u128::from(word & !255) * cells;
        while (product as u64) < (cells as u64) << 8 && below_reject(product as u64, cells as u64) {
            word = bits.word();
            product = u128::from(word & !255) * cells;
        }
        let cell = (product >> 64) as i32 - width as i32;
        let magnitude = (cell ^ (cell >> 31)) as u32;
        if magnitude < table.sure[layer] {
            return Some(Self { cell, within: None });
        }
        Self::unsure(bits, table, layer, magnitude, cell < 0)
    }

    /// A cell that the layer covers only in part, or the tail.
    #[cold]
    fn unsure<B: Bits>(
        bits: &mut B,
        table: &Layers,
        layer: usize,
        magnitude: u32,
        negative: bool,
    ) -> Option<Self> {
        if layer == 0 && magnitude >= TAIL_START {
            return Self::tail(bits, table, negative);
        }
        let (position, height) = (bits.word(), bits.word());
        let accept = match wedge_in_doubles(table, layer, magnitude, position, height) {
            Some(clear) => clear,
            None => exact::wedge(bits, layer, magnitude, position, height),
        };
        accept.then(|| Self::from_magnitude(magnitude, position, negative))
    }

    /// Beyond the tail's start: a staircase under an exponential, thinned to the density.
    fn tail<B: Bits>(bits: &mut B, table: &Layers, negative: bool) -> Option<Self> {
        let steps = geometric(bits, TAIL_SCALE).min(1 << 60) as u64;
        let (inside, height) = (bits.word() as u32, bits.word());
        let accept = match tail_in_doubles(table, steps, height) {
            Some(clear) => clear,
            None => exact::tail(bits, steps, inside, height),
        };
        let magnitude = TAIL_START + (steps >> TAIL_BITS) as u32;
        let position = (steps << (64 - TAIL_BITS)) | u64::from(inside);
        accept.then(|| Self::from_magnitude(magnitude, position, negative))
    }

    fn from_magnitude(magnitude: u32, position: u64, negative: bool) -> Self {
        if negative {
            Self { cell: -(magnitude as i32) - 1, within: Some(!position) }
        } else {
            Self { cell: magnitude as i32, within: Some(position) }
        }
    }

    /// The value in units of 2⁻⁸⁸, rounded down; further bits are uniform.
    #[inline]
    pub fn fixed<B: Bits>(self, bits: &mut B) -> i128 {
        let within = self.within.unwrap_or_else(|| bits.word());
        (i128::from(self.cell) << 64) | i128::from(within)
    }
}

/// Whether `low` is one of the surplus values that would make some cell likelier than others.
#[cold]
fn below_reject(low: u64, cells: u64) -> bool {
    (low >> 8) < (1u64 << 56) % cells
}

pub(super) fn unit(word: u64) -> f64 {
    word as f64 * (1.0 / 18_446_744_073_709_551_616.0)
}

pub(super) fn wedge_in_doubles(
    table: &Layers,
    layer: usize,
    magnitude: u32,
    position: u64,
    height: u64,
) -> Option<bool> {
    let x = (f64::from(magnitude) + unit(position)) * CELL;
    let y = table.area * (table.floor[layer] + unit(height) / (f64::from(table.width[layer]) * CELL));
    clear_order(y, libm::exp(-0.5 * x * x))
}

pub(super) fn tail_in_doubles(table: &Layers, steps: u64, height: u64) -> Option<bool> {
    let (start, base) = (f64::from(TAIL_START) * CELL, f64::from(BASE_WIDTH) * CELL);
    let beyond = steps as f64 / (1u64 << (CELL_BITS + TAIL_BITS)) as f64;
    // f(x) / e^{−λ·beyond} with x = start + beyond and λ = 1/(base − start).
    let exponent = -0.5 * start * start - beyond * (start - 1.0 / (base - start)) - 0.5 * beyond * beyond;
    clear_order(unit(height) * table.area / base, libm::exp(exponent))
}

/// Whether y < f, when the doubles are far enough apart to tell.
fn clear_order(y: f64, f: f64) -> Option<bool> {
    if y < f * (1.0 - CLEAR) {
        Some(true)
    } else if y > f * (1.0 + CLEAR) {
        Some(false)
    } else {
        None
    }
}

/// The cell of one standard normal: ⌊2²⁴·Z⌋.
#[inline]
pub fn normal_cell<B: Bits>(bits: &mut B) -> i32 {
    Normal::sample(bits).cell
}

/// Fills `cells` with independent draws of [`normal_cell`]. The block is working space.
pub(crate) fn normal_cells(stream: &mut Stream, block: &mut Block, cells: &mut [i32; Block::WORDS]) {
    let table = layers();
    let mut open = [0; Block::WORDS];
    stream.fill(block);
    cells_at_once(table, block.halves(), cells, &mut open);
    for (group, flags) in open.as_chunks().0.iter().enumerate() {
        // One byte a word, the first word in the lowest byte.
        let mut flags = u64::from_le_bytes(*flags);
        while flags != 0 {
            let index = 8 * group + flags.trailing_zeros() as usize / 8;
            flags &= flags - 1;
            let normal = Normal::attempt_with(block.word(index), stream, table);
            cells[index] = normal.unwrap_or_else(|| Normal::sample(stream)).cell;
        }
    }
}

/// [`Layers::cell_at_once`] for every word of a block; `open` gets 1 where the cell is left open, 0 elsewhere.
pub(super) fn cells_at_once(
    table: &Layers,
    halves: [&[u32; Block::WORDS]; 2],
    cells: &mut [i32; Block::WORDS],
    open: &mut [u8; Block::WORDS],
) {
    struct AtOnce<'a> {
        table: &'a Layers,
        halves: [&'a [u32; Block::WORDS]; 2],
        cells: &'a mut [i32; Block::WORDS],
        open: &'a mut [u8; Block::WORDS],
    }
    impl WithSimd for AtOnce<'_> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) {
            run(self.table, self.halves, self.cells, self.open);
        }
    }
    // Arguments, unlike fields, are known not to overlap; without that the loop would run word by word.
    #[inline(always)]
    fn run(
        table: &Layers,
        [low, high]: [&[u32; Block::WORDS]; 2],
        cells: &mut [i32; Block::WORDS],
        open: &mut [u8; Block::WORDS],
    ) {
        for i in 0..Block::WORDS {
            let (cell, is_open) = table.cell_at_once(low[i], high[i]);
            (cells[i], open[i]) = (cell, u8::from(is_open));
        }
    }
    Arch::new().dispatch(AtOnce { table, halves, cells, open });
}

/// ⌊σ·Z⌋ for a standard normal Z and an integer 1 ≤ σ < 2³⁴.
#[inline]
pub fn rounded_normal<B: Bits>(bits: &mut B, sigma: u64) -> i128 {
    assert!(sigma > 0 && sigma < 1 << 34, "sigma must be from 1 to 2^34 - 1");
    const POINT: u32 = CELL_BITS + 64;
    let product = Normal::sample(bits).fixed(bits) * i128::from(sigma);
    let whole = product >> POINT;
    // The draw is known to one unit of 2⁻⁸⁸, so the product to sigma units: is an integer in between?
    let mut to_next = (1u128 << POINT) - (product & ((1 << POINT) - 1)) as u128;
    loop {
        // The next integer is `to_next` units away and the value `sigma`·u further on, u uniform in [0, 1).
        if to_next >= u128::from(sigma) {
            return whole;
        }
        let (needed, gained) = (to_next << 64, u128::from(bits.word()) * u128::from(sigma));
        if gained >= needed {
            return whole + 1;
        }
        to_next = needed - gained;
    }
}
