//! What the taps remember of a backward pass, as arrays on the host.

use super::backend::{Backend, Int, Tensor};
use super::parameters::numbers;
use reticent_train::TrainError;
use reticent_train::gradients::{Form, Term};

/// The gradient of one parameter at one use, for every example.
#[derive(Debug)]
pub(crate) struct Factors {
    parameter: usize,
    arrays: Arrays,
}

#[derive(Debug)]
enum Arrays {
    /// `[examples][size]`.
    Whole(Vec<f32>),
    /// `[blocks][examples][places]` rows on both sides.
    Product { places: usize, blocks: usize, left: Vec<f32>, right: Vec<f32> },
    /// Rows of a table, and what is added to them.
    Rows { rows: Vec<u32>, added: Vec<f32> },
}

impl Factors {
    /// As it is, `[examples, size]`.
    pub(crate) fn whole<I: Backend>(parameter: usize, gradient: Tensor<I, 2>) -> Result<Self, TrainError> {
        Ok(Self { parameter, arrays: Arrays::Whole(numbers(gradient.try_into_data())?) })
    }

    /// The sum over places of products of rows, both sides `[blocks, examples, places, width]`.
    pub(crate) fn product<I: Backend>(
        parameter: usize,
        left: Tensor<I, 4>,
        right: Tensor<I, 4>,
    ) -> Result<Self, TrainError> {
        let [blocks, _, places, _] = left.dims();
        let (left, right) = (numbers(left.try_into_data())?, numbers(right.try_into_data())?);
        Ok(Self { parameter, arrays: Arrays::Product { places, blocks, left, right } })
    }

    /// Numbers `[examples, places, width]` added to rows `[examples, places]` of a table.
    pub(crate) fn rows<I: Backend>(
        parameter: usize,
        rows: Tensor<I, 2, Int>,
        added: Tensor<I, 3>,
    ) -> Result<Self, TrainError> {
        let device = |error: String| TrainError::Device(error);
        let rows = rows.try_into_data().map_err(|error| device(format!("{error:?}")))?;
        let row = |row: i64| {
            u32::try_from(row).map_err(|_| device(format!("an embedding was asked for row {row}")))
        };
        let rows = rows.iter::<i64>().map(row).collect::<Result<_, _>>()?;
        Ok(Self { parameter, arrays: Arrays::Rows { rows, added: numbers(added.try_into_data())? } })
    }

    /// As the clipped sum takes it.
    pub(crate) fn term(&self) -> Term<'_> {
        let form = match &self.arrays {
            Arrays::Whole(numbers) => Form::Whole(numbers),
            Arrays::Product { places, blocks, left, right } => {
                Form::Product { places: *places, blocks: *blocks, left, right }
            }
            Arrays::Rows { rows, added } => Form::Rows { rows, added },
        };
        Term { parameter: self.parameter, form }
    }
}
