//! Functions of one number that need their argument again, and random zeros.

use super::super::kernels::Kernel;
use super::super::machine::Argument::{Address, Single, Word};
use super::super::run::Run;
use super::{At, Below, Needs, Op, flag, long};
use crate::TrainError;
use crate::graph::Activation;
use reticent_noise::Entropy;
use reticent_noise::entropy::Bits;

/// x·Φ(x), by the hyperbolic tangent, or x·sigmoid(x).
#[derive(Debug, Clone, Copy)]
pub(super) struct Smooth {
    pub(super) is_gelu: bool,
    /// Numbers per row.
    pub(super) size: usize,
}

impl Op for Smooth {
    fn forward(&self, at: &At, _: Option<Activation>, run: &mut Run) -> Result<(), TrainError> {
        let count = at.rows * self.size;
        let arguments = [Address(at.input), Address(at.output), long(count), flag(self.is_gelu)];
        run.each(Kernel::Smooth, count, &arguments)
    }

    fn backward(&self, at: &At, below: Option<Below>, run: &mut Run) -> Result<(), TrainError> {
        let Some(Below { gradient, add }) = below else { return Ok(()) };
        let count = at.rows * self.size;
        let arguments = [
            Address(at.input),
            Address(at.gradient),
            Address(gradient),
            long(count),
            flag(self.is_gelu),
            flag(add),
        ];
        run.each(Kernel::SmoothBack, count, &arguments)
    }
}

/// Sets a random share to 0 in training and enlarges the rest.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dropout {
    pub(super) rate: f32,
    pub(super) size: usize,
}

impl Op for Dropout {
    fn needs(&self) -> Needs {
        Needs { saved: self.size, ..Needs::default() }
    }

    fn forward(&self, at: &At, _: Option<Activation>, run: &mut Run) -> Result<(), TrainError> {
        let count = at.rows * self.size;
        if !at.training {
            return run.copy(at.input, at.output, count);
        }
        let mut entropy = Entropy::new()?;
        let threshold = (f64::from(self.rate) * 65536.0) as u32;
        let mut arguments = vec![
            Address(at.input),
            Address(at.saved),
            Address(at.output),
            long(count),
            Word(threshold),
            Single(1.0 / (1.0 - self.rate)),
        ];
        for _ in 0..4 {
            let word = entropy.word();
            arguments.extend([Word(word as u32), Word((word >> 32) as u32)]);
        }
        run.each(Kernel::Drop, count.div_ceil(32), &arguments)
    }

    fn backward(&self, at: &At, below: Option<Below>, run: &mut Run) -> Result<(), TrainError> {
        let Some(Below { gradient, add }) = below else { return Ok(()) };
        let count = at.rows * self.size;
        let arguments = [Address(at.gradient), Address(at.saved), Address(gradient), long(count), flag(add)];
        run.each(Kernel::DeliverProduct, count, &arguments)
    }
}
