//! Noise that a machine draws and adds.

use super::kernels::Kernel;
use super::machine::Address;
use super::machine::Argument::{self, Word};
use super::op::long;
use super::run::{Buffer, Run};
use crate::TrainError;
use crate::noise::{StepNoise, Ticket};
use reticent_noise::bulk::device;

/// The memory of noise on a machine: what the kernel reads, and what it drew.
pub(super) struct Cells {
    table: Buffer,
    cells: Buffer,
    /// For whom noise is drawn, and the step of its grid.
    drawn: Option<(Ticket, f64)>,
}

impl Cells {
    pub(super) fn new(run: &mut Run) -> Result<Self, TrainError> {
        let table: Vec<u8> = device::table().iter().flat_map(|word| word.to_le_bytes()).collect();
        Ok(Self { table: run.holding(&table)?, cells: Buffer::default(), drawn: None })
    }

    /// Makes room for the noise of a vector.
    pub(super) fn reserve(&mut self, run: &mut Run, length: usize) -> Result<(), TrainError> {
        run.reserve(&mut self.cells, 4 * length.max(1)).map(|_| ())
    }

    /// Gives all memory back.
    pub(super) fn free(&mut self, run: &mut Run) {
        run.free(&mut self.table);
        run.free(&mut self.cells);
    }

    /// Begins to draw the noise of a step, beside what is launched from now on.
    pub(super) fn draw(
        &mut self,
        run: &mut Run,
        noise: &mut StepNoise,
        length: usize,
    ) -> Result<(), TrainError> {
        let threads = drawing_threads(length);
        self.drawn = Some(self.launch(run, noise, length, |run, arguments| {
            run.each_beside(Kernel::NoiseDraw, threads, arguments)
        })?);
        Ok(())
    }

    /// Draws the noise of a step by a launch; for whom, and the step of its grid.
    fn launch(
        &mut self,
        run: &mut Run,
        noise: &mut StepNoise,
        length: usize,
        launch: impl FnOnce(&mut Run, &[Argument]) -> Result<(), TrainError>,
    ) -> Result<(Ticket, f64), TrainError> {
        run.join()?;
        self.reserve(run, length)?;
        self.drawn = None;
        let taken = noise.take_for_device()?;
        let Some(ticket) = noise.ticket() else {
            return Err(TrainError::Device("no noise was taken".to_owned()));
        };
        let step = taken.launch(length, |given| {
            let mut arguments = [Argument::Int(0); 11];
            arguments[0] = Argument::Address(self.cells.at());
            arguments[1] = Argument::Long(given.length);
            arguments[2..10].iter_mut().zip(given.key).for_each(|(into, word)| *into = Word(*word));
            arguments[10] = Argument::Address(self.table.at());
            let launched = launch(run, &arguments);
            arguments[2..10].fill(Word(0));
            launched.map(|()| given.step)
        })??;
        Ok((ticket, step))
    }

    /// Adds the noise of a step to a sum, and draws it first if that was not done.
    pub(super) fn add(
        &mut self,
        run: &mut Run,
        noise: &mut StepNoise,
        sum: Address,
        length: usize,
    ) -> Result<(), TrainError> {
        // Noise serves the one it was drawn for.
        let drawn = self.drawn.take().filter(|(ticket, _)| noise.ticket() == Some(*ticket));
        let step = match drawn {
            Some((_, step)) => step,
            // Nothing runs beside it.
            None => {
                let threads = device::threads(length);
                let launch =
                    |run: &mut Run, arguments: &[Argument]| run.each(Kernel::NoiseDraw, threads, arguments);
                self.launch(run, noise, length, launch)?.1
            }
        };
        noise.use_ticket();
        run.join()?;
        let arrays = [sum, self.cells.at()].map(Argument::Address);
        let arguments = [arrays.as_slice(), &[long(length), Argument::Double(step)]].concat();
        run.each(Kernel::NoiseAdd, length, &arguments)
    }
}

/// Threads that draw noise: fewer than could, so that they leave room for what runs beside.
fn drawing_threads(length: usize) -> usize {
    let most = device::threads(length);
    most.min((1 << 14).max(most / 4))
}
