//! A network on a machine: weights, sum, optimizer and average stay there.

use super::chunk::{Chunk, rule};
use super::data::Shelf;
use super::kernels::Kernel;
use super::machine::Argument::{self, Int, Single};
use super::machine::{Address, Machine};
use super::noise::Cells;
use super::op::long;
use super::run::{Buffer, Run};
use crate::average::Average;
use crate::clip::RoundingMargin;
use crate::engine::{
    Background, Engine, EngineState, FixedSum, Weights, check_coordinates, check_sum, check_weights,
};
use crate::graph::Graph;
use crate::noise::StepNoise;
use crate::optimizer::{Adam, AdamRule, OptimizerSettings, Segments, StepInput};
use crate::trainer::Recipe;
use crate::{Clipping, Examples, Layout, Resources, Selection, TrainError};
use reticent_noise::Entropy;
use reticent_noise::entropy::Repeatable;

/// Rows of a chunk, at most.
const MOST_ROWS: usize = 1 << 16;

/// How much of the room the buffers of a chunk may take up, in tenths.
const TENTHS: usize = 8;

/// The most examples of a unit whose gradients are clipped with those of other units at once: norms take time with the square of it.
const MOST_TOGETHER: usize = 16;

/// What a step moves besides the weights.
struct State {
    optimizer: OptimizerSettings,
    steps: u64,
    first: Buffer,
    second: Buffer,
    /// Numbers of each of the two.
    moments: [usize; 2],
    /// The decay, the steps taken in, and the unscaled average.
    average: Option<(f64, u64, Buffer)>,
}

/// An engine that keeps everything a step changes on a machine.
pub(super) struct MachineEngine {
    run: Run,
    graph: Graph,
    segments: Segments,
    chunk: Chunk,
    shelf: Shelf,
    weights: Buffer,
    sum: Buffer,
    /// The gradient of one unit, its squared norms and factors.
    own: Buffer,
    squares: Buffer,
    factors: Buffer,
    /// Where the gradients of parameters lie, and their groups.
    ranges: Buffer,
    noise: Cells,
    /// Weights that are evaluated: the average.
    averaged: Buffer,
    /// Absent before a training begins.
    state: Option<State>,
    /// Whether there is a sum.
    has_sum: bool,
    asked: Option<usize>,
}

impl MachineEngine {
    pub(super) fn new(
        machine: Box<dyn Machine>,
        graph: Graph,
        resources: Resources,
    ) -> Result<Self, TrainError> {
        let mut run = Run::new(machine);
        let layout = graph.layout();
        let (weights, gradients) = (layout.weights(), layout.gradients());
        let trained = layout.parameters().iter().enumerate().filter(|(_, parameter)| parameter.trainable);
        let ranges: Vec<u8> = trained
            .flat_map(|(number, parameter)| {
                let range = layout.gradient_range(number);
                [range.start, range.end, parameter.group]
            })
            .flat_map(|number| (number as i64).to_le_bytes())
            .collect();
        let groups = layout.groups().max(1);
        Ok(Self {
            chunk: Chunk::new(&graph, &mut run)?,
            shelf: Shelf::default(),
            weights: run.zeros(weights)?,
            sum: run.zeros(gradients)?,
            own: run.zeros(gradients)?,
            squares: run.zeros(2 * groups)?,
            factors: run.zeros(groups)?,
            ranges: run.holding(&ranges)?,
            noise: Cells::new(&mut run)?,
            averaged: Buffer::default(),
            state: None,
            has_sum: false,
            asked: resources.chunk,
            segments: Segments::of(layout),
            run,
            graph,
        })
    }

    fn dimension(&self) -> usize {
        self.graph.layout().gradients()
    }

    /// Makes room for up to `rows` rows, fewer if memory does not allow it, and says for how many.
    fn make_room(&mut self, rows: usize) -> Result<usize, TrainError> {
        let wanted = self.asked.unwrap_or(MOST_ROWS).min(rows).max(1);
        if wanted <= self.chunk.rows() {
            return Ok(wanted);
        }
        self.run.wait()?;
        self.chunk.release(&mut self.run);
        let (room, each) = (self.run.room()?, self.chunk.footprint().max(1));
        let fits = (room / 10 * TENTHS / each).max(1);
        if self.asked.is_some() && wanted > fits {
            return Err(self.no_room(wanted, fits));
        }
        // Chunks of about one size; a little more than asked for, since batches differ in size.
        let most = (wanted + wanted / 4).min(fits);
        match self.chunk.reserve(most, &mut self.run) {
            Ok(()) => Ok(most.min(wanted)),
            Err(TrainError::Memory(_)) => {
                self.chunk.release(&mut self.run);
                Err(self.no_room(wanted, most / 2))
            }
            Err(other) => Err(other),
        }
    }

    fn no_room(&self, rows: usize, fits: usize) -> TrainError {
        let each = self.chunk.footprint() as f64 / f64::from(1 << 20);
        TrainError::Memory(format!(
            "{} has no room for {rows} examples at once, which take {each:.1} MiB each; try --chunk {}, which changes neither the \
             batch nor the guarantee",
            self.run.name(),
            fits.max(1)
        ))
    }

    /// Examples through the network and back.
    fn pass(&mut self, examples: &Examples, which: &[usize]) -> Result<(), TrainError> {
        let rows = which.len();
        self.forward(examples, which, self.weights.at(), true)?;
        let slots = (self.chunk.scores().at(), self.chunk.loss());
        let loss = (self.graph.objective(), self.graph.label_smoothing());
        self.shelf.loss(examples, rows, loss, slots, self.graph.outputs(), &mut self.run)?;
        self.chunk.backward(rows, self.weights.at(), &mut self.run)
    }

    fn forward(
        &mut self,
        examples: &Examples,
        which: &[usize],
        weights: Address,
        training: bool,
    ) -> Result<(), TrainError> {
        self.shelf.read(examples, which, self.chunk.input(), &mut self.run)?;
        self.chunk.forward(which.len(), weights, training, &mut self.run)
    }

    /// Adds the gradients of examples to a buffer: those of each unit of so many, one after the other, clipped together, or as they are.
    /// There must be room for a unit.
    fn accumulate(
        &mut self,
        examples: &Examples,
        which: &[usize],
        clipping: Option<(&Clipping, usize)>,
        into: Address,
    ) -> Result<(), TrainError> {
        if which.is_empty() {
            return Ok(());
        }
        let unit = clipping.map_or(1, |(_, unit)| unit);
        let (units, most) = (which.len() / unit, (self.make_room(which.len())? / unit).max(1));
        let even = unit * units.div_ceil(units.div_ceil(most));
        for part in which.chunks(even) {
            self.pass(examples, part)?;
            self.chunk.collect(part.len(), self.weights.at(), clipping, into, &mut self.run)?;
        }
        Ok(())
    }

    /// Writes the gradient of one unit out and finds its factors.
    fn measure_unit(
        &mut self,
        examples: &Examples,
        unit: &[usize],
        clipping: &Clipping,
    ) -> Result<(), TrainError> {
        self.run.clear(self.own.at(), self.dimension())?;
        self.accumulate(examples, unit, None, self.own.at())?;
        let arguments = [
            &self.ranges()[..],
            &[self.squares.at(), self.factors.at()].map(Argument::Address),
            &[Int(self.graph.layout().groups() as i32)],
            &rule(clipping),
        ]
        .concat();
        self.run.blocks(Kernel::MeasureOne, 1, &arguments)
    }

    /// The gradient of one unit, and where it lies.
    fn ranges(&self) -> [Argument; 3] {
        let count = self.graph.layout().parameters().iter().filter(|parameter| parameter.trainable).count();
        [Argument::Address(self.own.at()), Argument::Address(self.ranges.at()), Int(count as i32)]
    }

    /// Adds the gradient of the measured unit to a buffer.
    fn add_unit(&mut self, into: Address) -> Result<(), TrainError> {
        let arguments = [&self.ranges()[..], &[self.factors.at(), into].map(Argument::Address)].concat();
        self.run.each(Kernel::AddOne, self.dimension(), &arguments)
    }

    fn check(&mut self, examples: &Examples, selection: &Selection) -> Result<(), TrainError> {
        self.graph.fits(examples)?;
        examples.check_numbers(selection.examples())?;
        self.shelf.load(&self.graph, examples, &mut self.run)?;
        Ok(())
    }

    /// Where the weights to use lie, after they have been written there.
    fn write_average(&mut self) -> Result<Address, TrainError> {
        let Some(State { average: Some((decay, steps, mean)), .. }) = &self.state else {
            return Ok(self.weights.at());
        };
        if *steps == 0 {
            return Ok(self.weights.at());
        }
        let (count, scale) = (self.graph.layout().weights(), Average::scale(*decay, *steps));
        self.run.reserve(&mut self.averaged, 4 * count)?;
        self.run.copy(self.weights.at(), self.averaged.at(), count)?;
        for (place, own) in self.segments.iter() {
            let into = self.averaged.at().after(place.start);
            let arrays = [mean.at().after(own.start), into].map(Argument::Address);
            let arguments = [arrays.as_slice(), &[long(own.len()), Single(scale)]].concat();
            self.run.each(Kernel::Scaled, own.len(), &arguments)?;
        }
        Ok(self.averaged.at())
    }
}

impl Engine for MachineEngine {
    fn layout(&self) -> &Layout {
        self.graph.layout()
    }

    fn rounding_margin(&self) -> RoundingMargin {
        RoundingMargin::SINGLE_PRECISION
    }

    fn draws_noise(&self) -> bool {
        true
    }

    fn initial_weights(&self) -> Result<Vec<f32>, TrainError> {
        Ok(self.graph.initial_weights(&mut Entropy::new()?))
    }

    fn repeatable_weights(&self, _: &mut Repeatable) -> Result<Vec<f32>, TrainError> {
        let remedy =
            "leave it out, or train on the CPU: the order of additions on a GPU changes from run to run";
        Err(TrainError::invalid("key", "given", remedy))
    }

    fn check(&self, examples: &Examples) -> Result<(), TrainError> {
        self.graph.check(examples)
    }

    fn begin(&mut self, recipe: &Recipe) -> Result<(), TrainError> {
        recipe.optimizer.check()?;
        let dimension = self.dimension();
        let moments = recipe.optimizer.moments(dimension);
        let average = match recipe.average {
            Some(decay) => {
                Average::check(decay)?;
                Some((decay, 0, self.run.zeros(dimension)?))
            }
            None => None,
        };
        if let Some(mut old) = self.state.take() {
            self.run.wait()?;
            self.run.free(&mut old.first);
            self.run.free(&mut old.second);
            if let Some((_, _, mean)) = &mut old.average {
                self.run.free(mean);
            }
        }
        let (first, second) = (self.run.zeros(moments[0])?, self.run.zeros(moments[1])?);
        self.state = Some(State { optimizer: recipe.optimizer, steps: 0, first, second, moments, average });
        Ok(())
    }

    fn load_weights(&mut self, weights: &[f32]) -> Result<(), TrainError> {
        check_weights(self.layout(), weights)?;
        self.run.upload_floats(&self.weights, weights)
    }

    fn read_weights(&mut self, which: Weights) -> Result<Vec<f32>, TrainError> {
        let count = self.layout().weights();
        let at = match which {
            Weights::Current => self.weights.at(),
            Weights::Averaged => self.write_average()?,
        };
        let buffer = if at == self.weights.at() { &self.weights } else { &self.averaged };
        self.run.floats(buffer, count)
    }

    fn sum(
        &mut self,
        examples: &Examples,
        selection: &Selection,
        clipping: Option<&Clipping>,
        background: Background<'_>,
    ) -> Result<(), TrainError> {
        self.check(examples, selection)?;
        if let Some(clipping) = clipping {
            clipping.check()?;
            clipping.check_by_norm("a GPU (or train with the device cpu)")?;
            if clipping.further() > 0 {
                let why =
                    "unclipped units are counted on the CPU alone: train with the device cpu".to_owned();
                return Err(TrainError::Unsupported { what: "quantile clipping", why });
            }
        }
        self.run.clear(self.sum.at(), self.dimension())?;
        self.has_sum = true;
        if self.dimension() > 0 {
            match clipping {
                None => self.accumulate(examples, selection.examples(), None, self.sum.at())?,
                Some(clipping) => {
                    let units = || (0..selection.units()).map(|unit| selection.unit(unit));
                    let room = self.make_room(selection.examples().len())?;
                    let most = if self.chunk.takes_units() { room.min(MOST_TOGETHER) } else { 1 };
                    for rows in 1..=most {
                        let alike: Vec<usize> =
                            units().filter(|unit| unit.len() == rows).flatten().copied().collect();
                        self.accumulate(examples, &alike, Some((clipping, rows)), self.sum.at())?;
                    }
                    for unit in units().filter(|unit| unit.len() > most) {
                        self.measure_unit(examples, unit, clipping)?;
                        self.add_unit(self.sum.at())?;
                    }
                }
            }
        }
        background();
        Ok(())
    }

    fn fixed_sum(
        &mut self,
        examples: &Examples,
        selection: &Selection,
        clipping: &Clipping,
        sum: &mut FixedSum,
    ) -> Result<(), TrainError> {
        self.check(examples, selection)?;
        clipping.check()?;
        sum.check(clipping, self.dimension(), selection.units())?;
        let inner = sum.grid().clipping(clipping)?;
        let mut clipped = self.run.zeros(self.dimension())?;
        for unit in 0..selection.units() {
            self.run.clear(clipped.at(), self.dimension())?;
            self.measure_unit(examples, selection.unit(unit), &inner)?;
            self.add_unit(clipped.at())?;
            sum.add_unit(&self.run.floats(&clipped, self.dimension())?);
        }
        self.run.free(&mut clipped);
        Ok(())
    }

    fn read_sum(&mut self) -> Result<Vec<f32>, TrainError> {
        self.run.floats(&self.sum, self.dimension())
    }

    fn load_sum(&mut self, sum: &[f32]) -> Result<(), TrainError> {
        check_sum(self.layout(), sum)?;
        self.has_sum = true;
        self.run.upload_floats(&self.sum, sum)
    }

    fn add_to_sum(&mut self, added: &[(usize, f32)]) -> Result<(), TrainError> {
        check_coordinates(self.layout(), added)?;
        let mut sum = self.read_sum()?;
        added.iter().for_each(|(coordinate, value)| sum[*coordinate] += value);
        self.load_sum(&sum)
    }

    fn draw_noise(&mut self, noise: &mut StepNoise) -> Result<(), TrainError> {
        let dimension = self.dimension();
        self.noise.draw(&mut self.run, noise, dimension)
    }

    fn add_noise(&mut self, noise: &mut StepNoise) -> Result<(), TrainError> {
        let dimension = self.dimension();
        self.noise.add(&mut self.run, noise, self.sum.at(), dimension)
    }

    fn update(&mut self, input: StepInput) -> Result<(), TrainError> {
        let Some(state) = self.state.as_mut().filter(|_| self.has_sum) else {
            return Err(TrainError::invalid("step", "without a beginning", "begin, and make a sum first"));
        };
        state.steps += 1;
        for (place, own) in self.segments.iter() {
            let count = own.len();
            let arrays = [self.weights.at().after(place.start), self.sum.at().after(own.start)];
            let mut arguments: Vec<Argument> = arrays.map(Argument::Address).to_vec();
            let kernel = match state.optimizer {
                OptimizerSettings::Sgd { momentum: 0.0, weight_decay, .. } => {
                    let numbers = [1.0 - input.rate * weight_decay, input.rate * input.scale];
                    arguments.push(long(count));
                    arguments.extend(numbers.map(|number| Single(number as f32)));
                    Kernel::Descend
                }
                OptimizerSettings::Sgd { momentum, nesterov, weight_decay } => {
                    let (keep, rate) = (momentum as f32, input.rate as f32);
                    let (along, ahead) = if nesterov { (rate * keep, rate) } else { (rate, 0.0) };
                    arguments.push(Argument::Address(state.first.at().after(own.start)));
                    arguments.push(long(count));
                    let numbers = [input.scale as f32, weight_decay as f32, keep, along, ahead];
                    arguments.extend(numbers.map(Single));
                    Kernel::DescendVelocity
                }
                OptimizerSettings::Adam(adam) => {
                    let moments = [&state.first, &state.second];
                    let moments = moments.map(|buffer| buffer.at().after(own.start));
                    arguments.extend(moments.map(Argument::Address));
                    arguments.push(long(count));
                    arguments.extend(adam_numbers(&adam, state.steps, input).map(Single));
                    Kernel::DescendMoments
                }
            };
            self.run.each(kernel, count, &arguments)?;
            if let Some((decay, _, mean)) = &state.average {
                let arrays = [mean.at().after(own.start), self.weights.at().after(place.start)];
                let share = Single((1.0 - decay) as f32);
                let arguments = [arrays.map(Argument::Address).as_slice(), &[long(count), share]].concat();
                self.run.each(Kernel::Blend, count, &arguments)?;
            }
        }
        if let Some((_, steps, _)) = &mut state.average {
            *steps += 1;
        }
        Ok(())
    }

    fn read_state(&mut self) -> Result<EngineState, TrainError> {
        let dimension = self.dimension();
        let Some(state) = &self.state else { return Ok(EngineState::default()) };
        let average = match &state.average {
            Some((_, _, mean)) => Some(self.run.floats(mean, dimension)?),
            None => None,
        };
        Ok(EngineState {
            first: self.run.floats(&state.first, state.moments[0])?,
            second: self.run.floats(&state.second, state.moments[1])?,
            optimizer_steps: state.steps,
            average,
            average_steps: state.average.as_ref().map_or(0, |(_, steps, _)| *steps),
        })
    }

    fn load_state(&mut self, given: EngineState) -> Result<(), TrainError> {
        let dimension = self.dimension();
        let misfit = || TrainError::Shape("the state belongs to another recipe or network".to_owned());
        let lengths = (given.first.len(), given.second.len(), given.average.as_ref().map(Vec::len));
        let Some(state) = &mut self.state else {
            return if lengths == (0, 0, None) { Ok(()) } else { Err(misfit()) };
        };
        let own = (state.moments[0], state.moments[1], state.average.as_ref().map(|_| dimension));
        if lengths != own {
            return Err(misfit());
        }
        self.run.upload_floats(&state.first, &given.first)?;
        self.run.upload_floats(&state.second, &given.second)?;
        state.steps = given.optimizer_steps;
        if let (Some((_, steps, mean)), Some(given_mean)) = (&mut state.average, given.average) {
            self.run.upload_floats(mean, &given_mean)?;
            *steps = given.average_steps;
        }
        Ok(())
    }

    fn outputs(
        &mut self,
        weights: Weights,
        examples: &Examples,
        which: &[usize],
    ) -> Result<Vec<f32>, TrainError> {
        self.graph.fits(examples)?;
        examples.check_numbers(which)?;
        self.shelf.load(&self.graph, examples, &mut self.run)?;
        let weights = match weights {
            Weights::Current => self.weights.at(),
            Weights::Averaged => self.write_average()?,
        };
        let outputs = self.graph.outputs();
        let mut scores = Vec::with_capacity(which.len() * outputs);
        if which.is_empty() {
            return Ok(scores);
        }
        let most = self.make_room(which.len())?;
        for part in which.chunks(most) {
            self.forward(examples, part, weights, false)?;
            scores.extend(self.run.floats(self.chunk.scores(), part.len() * outputs)?);
        }
        Ok(scores)
    }
}

/// The numbers of one step of Adam, in the order of the kernel.
fn adam_numbers(adam: &Adam, steps: u64, input: StepInput) -> [f32; 10] {
    AdamRule::new(adam, steps, input).numbers()
}
