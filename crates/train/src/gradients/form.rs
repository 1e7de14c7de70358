//! The gradient of one parameter for the examples of a batch, in the form in which a framework has it.

use super::GradientError;
use crate::native::factored::{Buffers, Ends, Product, Table};
use crate::{Layout, Parameter};
use std::ops::Range;

/// The most rows of a table: rows are compared as single-precision numbers.
const MOST_ROWS: usize = 1 << 24;

/// The gradient of one parameter, for the examples of a batch in the order of the selection.
#[derive(Debug, Clone, Copy)]
pub struct Term<'a> {
    /// The parameter's number in the layout.
    pub parameter: usize,
    /// Its gradient.
    pub form: Form<'a>,
}

/// How a gradient is given. Arrays hold one example after the other.
///
/// A parameter that is used more than once has a term for every use; they are added up before anything is measured.
#[derive(Debug, Clone, Copy)]
pub enum Form<'a> {
    /// Every example's gradient as it is: `[examples][size]`.
    Whole(&'a [f32]),
    /// The sum over the places of an example of `leftₜ·rightₜᵀ`. A linear layer with the weight `[out, in]` has the gradient at its
    /// output on the left and its input on the right; places are steps in time, or pixels of a convolution.
    ///
    /// With more than one block the parameter is `[blocks][p][q]`, as of a convolution in groups of channels.
    Product {
        /// Places of one example.
        places: usize,
        /// Blocks along the diagonal; 1 for most layers.
        blocks: usize,
        /// `[blocks][examples][places][p]`.
        left: &'a [f32],
        /// `[blocks][examples][places][q]`.
        right: &'a [f32],
    },
    /// Every place adds numbers to one row of a table, as an embedding does.
    Rows {
        /// `[examples][places]`: the rows.
        rows: &'a [u32],
        /// `[examples][places][width]`: what is added to them.
        added: &'a [f32],
    },
}

/// Adds the gradient of all examples of a batch to `into`, without clipping: for a unit that is larger than a batch, whose gradient
/// is then handed over whole.
///
/// # Errors
/// [`GradientError`] for arrays that do not fit; nothing has been added then.
pub fn add_terms(
    layout: &Layout,
    examples: usize,
    terms: &[Term<'_>],
    into: &mut [f32],
) -> Result<(), GradientError> {
    if into.len() != layout.gradients() {
        let (what, given, expected) = ("the model".to_owned(), into.len(), layout.gradients());
        return Err(GradientError::Length { what, given, expected });
    }
    if examples == 0 {
        return Ok(());
    }
    let checked = terms.iter().map(|term| Checked::new(layout, term, examples));
    let checked = checked.collect::<Result<Vec<_>, _>>()?;
    let mut buffers = [Buffers::default()];
    for (term, checked) in terms.iter().zip(&checked) {
        checked.write(0..examples, &mut buffers, &mut into[layout.gradient_range(term.parameter)]);
    }
    Ok(())
}

/// A form that fits its parameter and its examples.
#[derive(Debug, Clone)]
pub(super) enum Checked<'a> {
    Whole { numbers: &'a [f32], size: usize },
    Product(Vec<Product<'a>>),
    Rows { rows: Vec<f32>, added: &'a [f32], places: usize, width: usize },
}

impl<'a> Checked<'a> {
    /// Checks a term for a batch of this many examples, at least one.
    pub(super) fn new(layout: &Layout, term: &Term<'a>, examples: usize) -> Result<Self, GradientError> {
        let untrained = GradientError::Untrained { parameter: term.parameter };
        let parameter = layout.parameters().get(term.parameter).filter(|p| p.trainable).ok_or(untrained)?;
        let size = parameter.size();
        let name = || parameter.name.clone();
        match term.form {
            Form::Whole(numbers) if numbers.len() == examples * size => Ok(Self::Whole { numbers, size }),
            Form::Whole(numbers) => {
                Err(GradientError::Length { what: name(), given: numbers.len(), expected: examples * size })
            }
            Form::Product { places, blocks, left, right } => {
                product(parameter, [examples, places, blocks], left, right).map(Self::Product)
            }
            Form::Rows { rows, added } => {
                let places = rows.len() / examples;
                let width = added.len().checked_div(rows.len()).unwrap_or(0);
                let count = size.checked_div(width).unwrap_or(0);
                let fits = places * examples == rows.len() && width * rows.len() == added.len();
                if !fits || width == 0 || count * width != size || count > MOST_ROWS {
                    let expected = rows.len() * parameter.shape.last().copied().unwrap_or(1);
                    return Err(GradientError::Length { what: name(), given: added.len(), expected });
                }
                if let Some(row) = rows.iter().find(|row| **row as usize >= count) {
                    return Err(GradientError::UnknownRow {
                        parameter: name(),
                        row: *row as usize,
                        rows: count,
                    });
                }
                Ok(Self::Rows { rows: rows.iter().map(|row| *row as f32).collect(), added, places, width })
            }
        }
    }

    fn table(&self) -> Option<Table<'_>> {
        match self {
            Self::Rows { rows, added, places, width } => {
                Some(Table { rows, added, places: *places, q: *width })
            }
            _ => None,
        }
    }

    /// Adds the gradient of these examples to an array of the parameter's size.
    pub(super) fn write(&self, examples: Range<usize>, buffers: &mut [Buffers], into: &mut [f32]) {
        match self {
            Self::Whole { numbers, size } => {
                for row in numbers[examples.start * size..examples.end * size].chunks_exact((*size).max(1)) {
                    into.iter_mut().zip(row).for_each(|(sum, g)| *sum += g);
                }
            }
            Self::Product(blocks) => {
                for (block, into) in blocks.iter().zip(parts(into, blocks.len())) {
                    block.of(examples.clone()).total(into);
                }
            }
            Self::Rows { .. } => {
                if let (Some(table), Some(buffers)) = (self.table(), buffers.first_mut()) {
                    table.of(examples).total(buffers, into);
                }
            }
        }
    }

    /// Buffers that norms and sums of this form need.
    pub(super) fn buffers(&self) -> usize {
        match self {
            Self::Product(blocks) => blocks.len(),
            _ => 1,
        }
    }

    /// Whether norms and sums of units can do without the gradients written out by [`write`](Self::write).
    pub(super) fn is_direct(&self, one_each: bool) -> bool {
        one_each || !matches!(self, Self::Whole { .. })
    }

    /// Numbers that are kept for a unit of one example.
    pub(super) fn memory(&self) -> usize {
        match self {
            Self::Product(blocks) => blocks.iter().map(|block| block.memory()).sum(),
            _ => 0,
        }
    }

    /// Adds the squared norms of these units' gradients. `ends` counts from the first of the examples.
    pub(super) fn squares(
        &self,
        examples: Range<usize>,
        ends: Ends<'_>,
        buffers: &mut [Buffers],
        squares: &mut [f64],
    ) {
        match self {
            Self::Whole { numbers, size } => {
                let own = &numbers[examples.start * size..examples.end * size];
                for (gradient, square) in own.chunks_exact((*size).max(1)).zip(squares) {
                    *square += crate::native::factored::squared(gradient);
                }
            }
            Self::Product(blocks) => {
                for (block, buffers) in blocks.iter().zip(buffers) {
                    block.of(examples.clone()).squares(ends, buffers, squares);
                }
            }
            Self::Rows { .. } => {
                if let (Some(table), Some(buffers)) = (self.table(), buffers.first_mut()) {
                    table.of(examples).squares(ends, buffers, squares);
                }
            }
        }
    }

    /// Adds these units' gradients times their factors, after [`squares`](Self::squares).
    pub(super) fn sum(
        &self,
        examples: Range<usize>,
        ends: Ends<'_>,
        factors: &[f32],
        buffers: &mut [Buffers],
        sum: &mut [f32],
    ) {
        match self {
            Self::Whole { numbers, size } => {
                let own = &numbers[examples.start * size..examples.end * size];
                for (gradient, factor) in own.chunks_exact((*size).max(1)).zip(factors) {
                    crate::native::factored::add_clipped(sum, *factor, gradient);
                }
            }
            Self::Product(blocks) => {
                let count = blocks.len();
                for ((block, buffers), sum) in blocks.iter().zip(buffers).zip(parts(sum, count)) {
                    block.of(examples.clone()).sum(ends, factors, buffers, sum);
                }
            }
            Self::Rows { .. } => {
                if let (Some(table), Some(buffers)) = (self.table(), buffers.first_mut()) {
                    table.of(examples).sum(ends, factors, buffers, sum);
                }
            }
        }
    }
}

/// A parameter's array block by block.
fn parts(array: &mut [f32], blocks: usize) -> std::slice::ChunksExactMut<'_, f32> {
    let size = (array.len() / blocks.max(1)).max(1);
    array.chunks_exact_mut(size)
}

fn product<'a>(
    parameter: &Parameter,
    [examples, places, blocks]: [usize; 3],
    left: &'a [f32],
    right: &'a [f32],
) -> Result<Vec<Product<'a>>, GradientError> {
    let size = parameter.size();
    let misfit = || GradientError::Factors {
        parameter: parameter.name.clone(),
        left: left.len(),
        right: right.len(),
        places: examples.saturating_mul(places),
        blocks,
        size,
    };
    let rows = examples.checked_mul(places).and_then(|rows| rows.checked_mul(blocks)).ok_or_else(misfit)?;
    if rows == 0 {
        return Err(misfit());
    }
    let (p, q) = (left.len() / rows, right.len() / rows);
    let whole = p * rows == left.len() && q * rows == right.len();
    if !whole || p == 0 || q == 0 || p.checked_mul(q).and_then(|each| each.checked_mul(blocks)) != Some(size)
    {
        return Err(misfit());
    }
    let each = examples * places;
    let block = |block: usize| Product {
        left: &left[block * each * p..(block + 1) * each * p],
        right: &right[block * each * q..(block + 1) * each * q],
        places,
        p,
        q,
    };
    Ok((0..blocks).map(block).collect())
}
