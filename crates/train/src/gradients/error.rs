use thiserror::Error;

/// What a [`ClippedSum`](super::ClippedSum) refuses to add.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum GradientError {
    /// The unit is not in the selection.
    #[error("the model handed over unit {unit}, and the selection has {units} units: number them from 0")]
    UnknownUnit {
        /// The number that was given.
        unit: usize,
        /// How many units the selection has.
        units: usize,
    },
    /// The unit has been handed over before.
    #[error("the model handed over unit {unit} twice: add up the gradients of its examples first")]
    RepeatedUnit {
        /// Its number in the selection.
        unit: usize,
    },
    /// A gradient does not have the size of what it belongs to.
    #[error("the gradient of {what} has {given} numbers, not {expected}")]
    Length {
        /// A parameter, or the whole model.
        what: String,
        /// How many numbers were given.
        given: usize,
        /// How many there should be.
        expected: usize,
    },
    /// A product's factors do not give a gradient of the parameter's size.
    #[error(
        "the factors of {parameter} have {left} and {right} numbers for {places} places in {blocks} blocks, which gives no \
         gradient of {size} numbers"
    )]
    Factors {
        /// The parameter's name.
        parameter: String,
        /// How many numbers the left factor has.
        left: usize,
        /// How many numbers the right factor has.
        right: usize,
        /// Places of all examples together.
        places: usize,
        /// Blocks along the diagonal.
        blocks: usize,
        /// The parameter's size.
        size: usize,
    },
    /// A row is not in the table.
    #[error("the gradient of {parameter} names row {row}, and the table has {rows} rows")]
    UnknownRow {
        /// The parameter's name.
        parameter: String,
        /// The row that was given.
        row: usize,
        /// How many rows the table has.
        rows: usize,
    },
    /// The parameter is frozen, or not in the layout.
    #[error("the model handed over a gradient of parameter {parameter}, which is not trained")]
    Untrained {
        /// Its number in the layout.
        parameter: usize,
    },
}
