//! Engines that keep weights, sum, optimizer and average in main memory.

use super::threads::Threads;
use super::{
    Background, Engine, EngineState, FixedSum, Weights, check_coordinates, check_sum, check_weights,
    unsteered,
};
use crate::average::Average;
use crate::clip::RoundingMargin;
use crate::gradients::{ClippedSum, Gradients, UnitTarget, add_clipped_sum};
use crate::noise::StepNoise;
use crate::optimizer::{Optimizer, Segments, StepInput};
use crate::trainer::Recipe;
use crate::{Clipping, Examples, Layout, Selection, TrainError};
use reticent_noise::entropy::Repeatable;

/// What a host engine computes with: a network or a model, with weights that are held elsewhere. It is called on the engine's threads.
pub(crate) trait Passes: Send {
    fn layout(&self) -> &Layout;

    /// See [`Gradients::separates_units`].
    fn separates_units(&self) -> bool;

    fn initial_weights(&self) -> Result<Vec<f32>, TrainError>;

    fn repeatable_weights(&self, bits: &mut Repeatable) -> Result<Vec<f32>, TrainError>;

    fn check(&self, examples: &Examples) -> Result<(), TrainError>;

    /// Adds the units' clipped gradients to `sum`; see [`Engine::sum`].
    fn accumulate(
        &mut self,
        weights: &[f32],
        examples: &Examples,
        selection: &Selection,
        clipping: Option<&Clipping>,
        background: Background<'_>,
        sum: &mut [f32],
    ) -> Result<(), TrainError>;

    /// Adds the units' gradients with further slopes at the outputs; see [`Engine::sum_steered`].
    fn accumulate_steered(
        &mut self,
        _weights: &[f32],
        _examples: &Examples,
        _selection: &Selection,
        _slopes: &[f32],
        _sum: &mut [f32],
    ) -> Result<(), TrainError> {
        Err(unsteered())
    }

    /// Adds the units' clipped gradients, each computed by itself; see [`Engine::fixed_sum`]. The sum has room for all of them.
    fn accumulate_fixed(
        &mut self,
        weights: &[f32],
        examples: &Examples,
        selection: &Selection,
        clipping: &Clipping,
        sum: &mut FixedSum,
    ) -> Result<(), TrainError>;

    fn outputs(
        &mut self,
        weights: &[f32],
        examples: &Examples,
        which: &[usize],
    ) -> Result<Vec<f32>, TrainError>;
}

/// A model that is not described.
pub(super) struct Modelled(pub(super) Box<dyn Gradients>);

impl UnitTarget for FixedSum {
    fn add(&mut self, _: usize, clipped: &[f32]) {
        self.add_unit(clipped);
    }
}

impl Passes for Modelled {
    fn layout(&self) -> &Layout {
        self.0.layout()
    }

    fn separates_units(&self) -> bool {
        self.0.separates_units()
    }

    fn initial_weights(&self) -> Result<Vec<f32>, TrainError> {
        self.0.initial_weights()
    }

    fn repeatable_weights(&self, bits: &mut Repeatable) -> Result<Vec<f32>, TrainError> {
        self.0.repeatable_weights(bits)
    }

    fn check(&self, examples: &Examples) -> Result<(), TrainError> {
        self.0.check(examples)
    }

    fn accumulate(
        &mut self,
        weights: &[f32],
        examples: &Examples,
        selection: &Selection,
        clipping: Option<&Clipping>,
        background: Background<'_>,
        sum: &mut [f32],
    ) -> Result<(), TrainError> {
        add_clipped_sum(&mut *self.0, weights, examples, selection, clipping, sum)?;
        background();
        Ok(())
    }

    fn accumulate_fixed(
        &mut self,
        weights: &[f32],
        examples: &Examples,
        selection: &Selection,
        clipping: &Clipping,
        sum: &mut FixedSum,
    ) -> Result<(), TrainError> {
        let layout = self.0.layout().clone();
        let mut one = Selection::default();
        for unit in 0..selection.units() {
            one.clear();
            one.push(selection.unit(unit).iter().copied());
            let mut sink = ClippedSum::by_unit(&layout, &one, Some(clipping), &mut *sum)?;
            self.0.gradients(weights, examples, &mut sink)?;
            sink.finish()?;
        }
        Ok(())
    }

    fn outputs(
        &mut self,
        weights: &[f32],
        examples: &Examples,
        which: &[usize],
    ) -> Result<Vec<f32>, TrainError> {
        self.0.outputs(weights, examples, which)
    }
}

/// Passes with the state of a training in main memory.
pub(super) struct HostEngine<P> {
    passes: P,
    threads: Threads,
    segments: Segments,
    weights: Vec<f32>,
    /// Empty before the first step.
    sum: Vec<f32>,
    /// Absent before a training begins.
    optimizer: Option<Optimizer>,
    average: Option<Average>,
}

impl<P: Passes> HostEngine<P> {
    pub(super) fn new(passes: P, threads: Threads) -> Self {
        let segments = Segments::of(passes.layout());
        let weights = vec![0.0; passes.layout().weights()];
        Self { passes, threads, segments, weights, sum: Vec::new(), optimizer: None, average: None }
    }

    fn averaged(&self) -> Vec<f32> {
        let mut weights = self.weights.clone();
        if let Some(average) = &self.average {
            average.write(&mut weights, &self.segments);
        }
        weights
    }
}

impl<P: Passes> Engine for HostEngine<P> {
    fn layout(&self) -> &Layout {
        self.passes.layout()
    }

    fn rounding_margin(&self) -> RoundingMargin {
        RoundingMargin::SINGLE_PRECISION
    }

    fn separates_units(&self) -> bool {
        self.passes.separates_units()
    }

    fn initial_weights(&self) -> Result<Vec<f32>, TrainError> {
        self.passes.initial_weights()
    }

    fn repeatable_weights(&self, bits: &mut Repeatable) -> Result<Vec<f32>, TrainError> {
        self.passes.repeatable_weights(bits)
    }

    fn check(&self, examples: &Examples) -> Result<(), TrainError> {
        self.passes.check(examples)
    }

    fn begin(&mut self, recipe: &Recipe) -> Result<(), TrainError> {
        let dimension = self.layout().gradients();
        let optimizer = Optimizer::new(recipe.optimizer, dimension)?;
        self.average = recipe.average.map(|decay| Average::new(decay, dimension)).transpose()?;
        self.optimizer = Some(optimizer);
        Ok(())
    }

    fn load_weights(&mut self, weights: &[f32]) -> Result<(), TrainError> {
        check_weights(self.layout(), weights)?;
        self.weights.copy_from_slice(weights);
        Ok(())
    }

    fn read_weights(&mut self, which: Weights) -> Result<Vec<f32>, TrainError> {
        Ok(match which {
            Weights::Current => self.weights.clone(),
            Weights::Averaged => self.averaged(),
        })
    }

    fn sum(
        &mut self,
        examples: &Examples,
        selection: &Selection,
        clipping: Option<&Clipping>,
        background: Background<'_>,
    ) -> Result<(), TrainError> {
        examples.check_numbers(selection.examples())?;
        let dimension = self.layout().gradients();
        let Self { passes, threads, weights, sum, .. } = self;
        sum.clear();
        sum.resize(dimension + clipping.map_or(0, Clipping::further), 0.0);
        if selection.units() == 0 {
            return Ok(());
        }
        let (own, further) = sum.split_at_mut(dimension);
        threads.run(|| passes.accumulate(weights, examples, selection, clipping, background, own))?;
        if let (Some(Clipping::Threshold { weight, unclipped, .. }), [count]) = (clipping, further) {
            *count = (weight * unclipped.take(selection.units())) as f32;
        }
        Ok(())
    }

    fn read_count(&mut self) -> Result<Option<f32>, TrainError> {
        Ok(self.sum.get(self.passes.layout().gradients()).copied())
    }

    fn sum_steered(
        &mut self,
        examples: &Examples,
        selection: &Selection,
        slopes: &[f32],
    ) -> Result<(), TrainError> {
        examples.check_numbers(selection.examples())?;
        let dimension = self.layout().gradients();
        let Self { passes, threads, weights, sum, .. } = self;
        sum.clear();
        sum.resize(dimension, 0.0);
        if selection.units() == 0 {
            return Ok(());
        }
        threads.run(|| passes.accumulate_steered(weights, examples, selection, slopes, sum))
    }

    fn fixed_sum(
        &mut self,
        examples: &Examples,
        selection: &Selection,
        clipping: &Clipping,
        sum: &mut FixedSum,
    ) -> Result<(), TrainError> {
        examples.check_numbers(selection.examples())?;
        clipping.check()?;
        sum.check(clipping, self.layout().gradients(), selection.units())?;
        let inner = sum.grid().clipping(clipping)?;
        let Self { passes, threads, weights, .. } = self;
        threads.run(|| passes.accumulate_fixed(weights, examples, selection, &inner, sum))
    }

    fn read_sum(&mut self) -> Result<Vec<f32>, TrainError> {
        let dimension = self.layout().gradients();
        let mut sum = self.sum.clone();
        sum.resize(dimension, 0.0);
        Ok(sum)
    }

    fn load_sum(&mut self, sum: &[f32]) -> Result<(), TrainError> {
        check_sum(self.layout(), sum)?;
        self.sum.clear();
        self.sum.extend_from_slice(sum);
        Ok(())
    }

    fn add_to_sum(&mut self, added: &[(usize, f32)]) -> Result<(), TrainError> {
        let dimension = self.layout().gradients();
        check_coordinates(self.layout(), added)?;
        if self.sum.len() < dimension {
            self.sum.resize(dimension, 0.0);
        }
        added.iter().for_each(|(coordinate, value)| self.sum[*coordinate] += value);
        Ok(())
    }

    fn add_noise(&mut self, noise: &mut StepNoise) -> Result<(), TrainError> {
        if !noise.is_drawn() {
            noise.draw_on(|tasks, work| self.threads.spread(tasks, work))?;
        }
        noise.add_on(&mut self.sum, |tasks, work| self.threads.spread(tasks, work))
    }

    fn update(&mut self, input: StepInput) -> Result<(), TrainError> {
        let Self { threads, segments, weights, sum, optimizer, average, .. } = self;
        let Some(optimizer) = optimizer.as_mut().filter(|_| sum.len() >= self.passes.layout().gradients())
        else {
            return Err(TrainError::invalid("step", "without a beginning", "begin, and make a sum first"));
        };
        let is_single = threads.is_single();
        threads.run(|| {
            optimizer.step_on(weights, segments, sum, input, is_single);
            if let Some(average) = average {
                average.take(weights, segments, is_single);
            }
        });
        Ok(())
    }

    fn read_state(&mut self) -> Result<EngineState, TrainError> {
        let mut state = EngineState::default();
        if let Some(optimizer) = &self.optimizer {
            let ([(_, first), (_, second)], steps) = optimizer.state();
            (state.first, state.second, state.optimizer_steps) = (first.to_vec(), second.to_vec(), steps);
        }
        if let Some(average) = &self.average {
            let (mean, steps) = average.state();
            (state.average, state.average_steps) = (Some(mean.to_vec()), steps);
        }
        Ok(state)
    }

    fn load_state(&mut self, state: EngineState) -> Result<(), TrainError> {
        let lengths = |state: &EngineState| {
            (state.first.len(), state.second.len(), state.average.as_ref().map(Vec::len))
        };
        let own = self.read_state()?;
        if lengths(&own) != lengths(&state) {
            return Err(TrainError::Shape("the state belongs to another recipe or network".to_owned()));
        }
        if let Some(optimizer) = &mut self.optimizer {
            optimizer.restore(state.first, state.second, state.optimizer_steps);
        }
        if let (Some(average), Some(mean)) = (&mut self.average, state.average) {
            average.restore(mean, state.average_steps);
        }
        Ok(())
    }

    fn outputs(
        &mut self,
        weights: Weights,
        examples: &Examples,
        which: &[usize],
    ) -> Result<Vec<f32>, TrainError> {
        examples.check_numbers(which)?;
        let averaged = match (weights, &self.average) {
            (Weights::Averaged, Some(_)) => Some(self.averaged()),
            _ => None,
        };
        let Self { passes, threads, weights, .. } = self;
        let weights = averaged.as_ref().unwrap_or(weights);
        threads.run(|| passes.outputs(weights, examples, which))
    }
}
