//! Examples on a machine.

use super::kernels::Kernel;
use super::machine::{Address, Argument};
use super::op::long;
use super::run::{Buffer, Run, bytes_of};
use crate::describe::Objective;
use crate::examples::Identity;
use crate::graph::Graph;
use crate::{Examples, Inputs, Targets, TrainError};

/// How much of the room of a machine examples may take up that are kept there.
const SHARE: usize = 3;

/// Sets of examples that are kept at most: those that are trained on, and those that are evaluated.
const SETS: usize = 4;

/// Examples that lie on the machine.
struct Loaded {
    identity: Identity,
    inputs: Buffer,
    targets: Buffer,
    /// How many classes stand before the same as numbers; none where targets are numbers.
    classes: Option<usize>,
    /// Shifts and scales of pixels.
    constants: Option<(Buffer, Buffer)>,
}

/// The examples that lie on a machine, those used last at the end.
#[derive(Default)]
pub(super) struct Shelf {
    sets: Vec<Loaded>,
    /// Examples that are too large to be kept: those of one chunk.
    passing: Option<Loaded>,
    which: Buffer,
}

impl Shelf {
    /// Makes sure that examples lie on the machine; whether all of them do. If there is no room, those of each chunk are sent with it.
    pub(super) fn load(
        &mut self,
        graph: &Graph,
        examples: &Examples,
        run: &mut Run,
    ) -> Result<bool, TrainError> {
        let identity = examples.identity();
        if let Some(place) = self.sets.iter().position(|set| set.identity.is(identity)) {
            let set = self.sets.remove(place);
            self.sets.push(set);
            return Ok(true);
        }
        // Kernels read rows of tables by tokens without looking whether they exist.
        graph.check(examples)?;
        while self.sets.len() >= SETS {
            let mut oldest = self.sets.remove(0);
            oldest.free(run)?;
        }
        if bytes(examples) > run.room()? / SHARE {
            return Ok(false);
        }
        let set = Loaded::new(examples, run)?;
        self.sets.push(set);
        Ok(true)
    }

    /// Writes the inputs of these examples to `into`.
    pub(super) fn read(
        &mut self,
        examples: &Examples,
        which: &[usize],
        into: Address,
        run: &mut Run,
    ) -> Result<(), TrainError> {
        let is_kept = self.sets.last().is_some_and(|set| set.identity.is(examples.identity()));
        let numbers: Vec<u8> = match is_kept {
            true => which.iter().flat_map(|example| (*example as u32).to_le_bytes()).collect(),
            false => (0..which.len() as u32).flat_map(u32::to_le_bytes).collect(),
        };
        run.reserve(&mut self.which, numbers.len().next_power_of_two())?;
        run.upload(&self.which, &numbers)?;
        if !is_kept {
            if let Some(mut passing) = self.passing.take() {
                passing.free(run)?;
            }
            self.passing = Some(Loaded::new(&examples.subset(which), run)?);
        }
        let Some(set) = self.current(examples) else { return Ok(()) };
        let (rows, size) = (which.len(), examples.size());
        let arrays = [set.inputs.at(), self.which.at()].map(Argument::Address);
        let into = Argument::Address(into);
        match (examples.inputs(), &set.constants) {
            (Inputs::Pixels { .. }, Some((shift, scale))) => {
                let constants = [shift.at(), scale.at()].map(Argument::Address);
                let sizes = [rows, size, size / examples.shape()[0]].map(long);
                let arguments = [arrays.as_slice(), &constants, &[into], &sizes].concat();
                run.each(Kernel::GatherPixels, rows * size, &arguments)
            }
            (inputs, _) => {
                let kernel = match inputs {
                    Inputs::Tokens(_) => Kernel::GatherTokens,
                    _ => Kernel::GatherReal,
                };
                let arguments = [arrays.as_slice(), &[into], &[rows, size].map(long)].concat();
                run.each(kernel, rows * size, &arguments)
            }
        }
    }

    /// Writes the gradient of the loss of the examples that were read last.
    pub(super) fn loss(
        &self,
        examples: &Examples,
        rows: usize,
        objective: Objective,
        (scores, gradient): (Address, Address),
        outputs: usize,
        run: &mut Run,
    ) -> Result<(), TrainError> {
        let Some(set) = self.current(examples) else { return Ok(()) };
        let kernel = match (objective, examples.targets()) {
            (Objective::CrossEntropy, Targets::Classes(_)) => Kernel::LossClasses,
            (_, Targets::Next(_)) => Kernel::LossNext,
            _ => Kernel::LossNumbers,
        };
        let arrays = [scores, set.target(objective), self.which.at(), gradient].map(Argument::Address);
        let length = examples.size();
        let (sizes, count) = match kernel {
            Kernel::LossClasses => (vec![rows, outputs], rows),
            Kernel::LossNext => (vec![rows, length, outputs / length], rows * length),
            _ => (vec![rows, outputs], rows * outputs),
        };
        let sizes: Vec<Argument> = sizes.into_iter().map(long).collect();
        run.each(kernel, count, &[arrays.as_slice(), &sizes].concat())
    }

    fn current(&self, examples: &Examples) -> Option<&Loaded> {
        let kept = self.sets.last().filter(|set| set.identity.is(examples.identity()));
        kept.or(self.passing.as_ref())
    }
}

/// Bytes that examples take up on a machine.
fn bytes(examples: &Examples) -> usize {
    let each = if matches!(examples.inputs(), Inputs::Pixels { .. }) { 1 } else { 4 };
    let targets = if matches!(examples.targets(), Targets::Next(_)) { 4 * examples.size() } else { 8 };
    examples.len() * (each * examples.size() + targets)
}

impl Loaded {
    fn new(examples: &Examples, run: &mut Run) -> Result<Self, TrainError> {
        let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
        let (inputs, constants) = match examples.inputs() {
            Inputs::Real(values) => (run.holding(&bytes_of(values))?, None),
            Inputs::Tokens(tokens) => (run.holding(&words(tokens))?, None),
            Inputs::Pixels { values, shift, scale } => {
                let constants = (run.holding(&bytes_of(shift))?, run.holding(&bytes_of(scale))?);
                (run.holding(values)?, Some(constants))
            }
        };
        // Classes as words, and then as numbers, for either loss.
        let targets = match examples.targets() {
            Targets::Numbers(numbers) => run.holding(&bytes_of(numbers))?,
            Targets::Next(next) => run.holding(&words(next))?,
            Targets::Classes(classes) => {
                let numbers: Vec<f32> = classes.iter().map(|class| *class as f32).collect();
                run.holding(&[words(classes), bytes_of(&numbers)].concat())?
            }
        };
        let classes = matches!(examples.targets(), Targets::Classes(_)).then_some(examples.len());
        Ok(Self { identity: examples.identity(), inputs, targets, classes, constants })
    }

    /// The targets as this loss reads them.
    fn target(&self, objective: Objective) -> Address {
        match (objective, self.classes) {
            (Objective::Squared, Some(count)) => self.targets.at().after(count),
            _ => self.targets.at(),
        }
    }

    fn free(&mut self, run: &mut Run) -> Result<(), TrainError> {
        run.wait()?;
        run.free(&mut self.inputs);
        run.free(&mut self.targets);
        if let Some((shift, scale)) = &mut self.constants {
            run.free(shift);
            run.free(scale);
        }
        Ok(())
    }
}
