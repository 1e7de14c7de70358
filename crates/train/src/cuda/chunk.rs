//! The buffers of a chunk of rows, and the passes over them.

use super::kernels::Kernel;
use super::machine::Argument::{self, Double, Int};
use super::machine::{Address, Matrix, Product};
use super::op::{At, Below, Needs, Op, SHARERS, Way, activation, flag, long, op};
use super::run::{Buffer, Run};
use crate::clip::RoundingMargin;
use crate::graph::{Activation, Graph, Operation};
use crate::{Clipping, TrainError};
use std::ops::Range;

/// Factors of a product with a squared length above this count as not finite, as on the CPU.
const LONGEST: f64 = 1e32;

/// Tokens of a text that an embedding is trained on, at most: the kernels compare them in shared memory.
const MOST_PLACES: usize = 2048;

/// Words of an entry of the table that says how gradients are found.
const ENTRY: usize = 8;

/// One step of a pass: a node of the graph with its arithmetic.
#[derive(Debug)]
struct Step {
    kind: Kind,
    input: usize,
    output: usize,
    weights: Range<usize>,
    /// Where its gradient lies in the sum, and its group.
    trained: Option<(Range<usize>, usize)>,
    below: bool,
    add: bool,
    skip: Option<bool>,
    needs: Needs,
    table: Buffer,
    saved: Buffer,
    slopes: Buffer,
    kept: Buffer,
}

#[derive(Debug)]
enum Kind {
    Op(Box<dyn Op>),
    /// In place; nothing where the step before has applied it.
    Activation(Activation, bool),
    /// Adds the buffer of a residual connection.
    Add {
        skip: usize,
    },
}

impl Step {
    fn way(&self) -> Way {
        match (&self.kind, &self.trained) {
            (Kind::Op(op), Some(_)) => op.way(),
            _ => Way::None,
        }
    }

    fn places(&self) -> usize {
        if let Kind::Op(op) = &self.kind { op.places() } else { 1 }
    }

    fn kept_size(&self) -> usize {
        if let Way::Kept { size } = self.way() { size } else { 0 }
    }
}

/// The buffers of a network for so many rows at a time.
pub(super) struct Chunk {
    steps: Vec<Step>,
    sizes: Vec<usize>,
    values: Vec<Buffer>,
    gradients: Vec<Buffer>,
    work: Buffer,
    ones: Buffer,
    squares: Buffer,
    factors: Buffer,
    table: Buffer,
    entries: usize,
    groups: usize,
    /// Rows that there is room for.
    rows: usize,
    /// Rows of a unit, as the table has it.
    unit: usize,
}

impl Chunk {
    /// A chunk without rows.
    pub(super) fn new(graph: &Graph, run: &mut Run) -> Result<Self, TrainError> {
        let sizes = graph.sizes().to_vec();
        let mut steps: Vec<Step> = Vec::new();
        for node in graph.nodes() {
            let kind = match (node.operation, op(node.operation, sizes[node.output])?) {
                (Operation::Activation(function), _) => {
                    let is_applied = matches!(
                        steps.last(),
                        Some(Step { kind: Kind::Op(op), output, .. })
                            if op.takes_activation() && *output == node.input
                    );
                    Kind::Activation(function, is_applied)
                }
                (Operation::Add { skip }, _) => Kind::Add { skip },
                (_, Some(op)) => Kind::Op(op),
                (other, None) => return Err(TrainError::Device(format!("{other:?} has no kernel"))),
            };
            let (needs, table) = match &kind {
                Kind::Op(op) => (op.needs(), op.table()),
                _ => (Needs::default(), Vec::new()),
            };
            let table = if table.is_empty() {
                Buffer::default()
            } else {
                run.holding(&super::run::bytes_of(&table))?
            };
            steps.push(Step {
                kind,
                input: node.input,
                output: node.output,
                weights: node.weights.clone(),
                trained: node.trained.as_ref().map(|place| (place.gradient.clone(), place.group)),
                below: node.below,
                add: node.add,
                skip: node.skip,
                needs,
                table,
                saved: Buffer::default(),
                slopes: Buffer::default(),
                kept: Buffer::default(),
            });
        }
        for step in &steps {
            if let Way::Tokens { places, .. } | Way::Bag { places, .. } = step.way()
                && places > MOST_PLACES
            {
                let why = format!("texts of {places} tokens: a GPU takes {MOST_PLACES} at most");
                return Err(TrainError::Device(format!("{why}; shorten them, or train with --device cpu")));
            }
        }
        let empty = || sizes.iter().map(|_| Buffer::default()).collect();
        Ok(Self {
            values: empty(),
            gradients: empty(),
            steps,
            sizes,
            work: Buffer::default(),
            ones: Buffer::default(),
            squares: Buffer::default(),
            factors: Buffer::default(),
            table: Buffer::default(),
            entries: 0,
            groups: graph.layout().groups(),
            rows: 0,
            unit: 1,
        })
    }

    /// Bytes that one row occupies.
    pub(super) fn footprint(&self) -> usize {
        let remembered: usize =
            self.steps.iter().map(|step| step.needs.saved + step.needs.slopes + step.kept_size()).sum();
        let work = self.steps.iter().map(|step| step.needs.work).max().unwrap_or(0);
        4 * (2 * self.sizes.iter().sum::<usize>() + remembered + work + 3 * self.groups + 2)
    }

    /// Rows that there is room for.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Makes room for so many rows.
    pub(super) fn reserve(&mut self, rows: usize, run: &mut Run) -> Result<(), TrainError> {
        if rows <= self.rows {
            return Ok(());
        }
        self.release(run);
        let Self { steps, sizes, values, gradients, work, ones, squares, factors, groups, .. } = self;
        for ((size, values), gradients) in sizes.iter().zip(values).zip(gradients) {
            run.reserve(values, 4 * rows * size)?;
            run.reserve(gradients, 4 * rows * size)?;
        }
        for step in steps.iter_mut() {
            let kept = step.kept_size();
            run.reserve(&mut step.saved, 4 * rows * step.needs.saved)?;
            run.reserve(&mut step.slopes, 4 * rows * step.needs.slopes)?;
            run.reserve(&mut step.kept, 4 * rows * kept)?;
        }
        let most = steps.iter().map(|step| step.needs.work).max().unwrap_or(0);
        run.reserve(work, 4 * rows * most)?;
        run.reserve(squares, 8 * rows * (*groups).max(1))?;
        run.reserve(factors, 4 * rows * (*groups).max(1))?;
        let count = rows * steps.iter().map(Step::places).max().unwrap_or(1);
        run.reserve(ones, 4 * count)?;
        run.each(Kernel::Fill, count, &[Argument::Address(ones.at()), Argument::Single(1.0), long(count)])?;
        self.rows = rows;
        self.write_table(run)
    }

    /// Gives the memory of rows back.
    pub(super) fn release(&mut self, run: &mut Run) {
        let of_steps =
            self.steps.iter_mut().flat_map(|step| [&mut step.saved, &mut step.slopes, &mut step.kept]);
        let shared = [&mut self.work, &mut self.ones, &mut self.squares, &mut self.factors];
        let buffers = self.values.iter_mut().chain(&mut self.gradients).chain(of_steps).chain(shared);
        buffers.for_each(|buffer| run.free(buffer));
        self.rows = 0;
    }

    /// Writes how the gradient of each layer is found; see the kernel `measure`.
    fn write_table(&mut self, run: &mut Run) -> Result<(), TrainError> {
        let (mut words, rows): (Vec<u64>, u64) = (Vec::new(), self.unit as u64);
        for step in &self.steps {
            let Some((_, group)) = &step.trained else { continue };
            let (input, gradient) = (self.values[step.input].at().0, self.gradients[step.output].at().0);
            let group = *group as u64;
            words.extend(match step.way() {
                Way::None => continue,
                Way::Outer { inner, out, bias } => {
                    [1, input, gradient, inner as u64, out as u64, u64::from(bias), group, rows]
                }
                Way::Kept { size } => [2, step.kept.at().0, 0, size as u64, 0, 0, group, rows],
                Way::Tokens { places, width } => {
                    [3, input, gradient, places as u64, width as u64, 0, group, 1]
                }
                Way::Bag { places, width } => {
                    [3, input, step.slopes.at().0, places as u64, width as u64, 0, group, 1]
                }
            });
        }
        self.entries = words.len() / ENTRY;
        if self.entries != self.groups {
            let why = format!("{} layers with weights in {} groups", self.entries, self.groups);
            return Err(TrainError::Device(format!("{why}: the kernels take one group a layer")));
        }
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        run.reserve(&mut self.table, bytes.len().max(8))?;
        run.upload(&self.table, &bytes)
    }

    /// Whether units of several rows can be clipped together.
    pub(super) fn takes_units(&self) -> bool {
        !self.steps.iter().any(|step| matches!(step.way(), Way::Tokens { .. } | Way::Bag { .. }))
    }

    /// Says how many rows a unit has from now on.
    fn set_unit(&mut self, rows: usize, run: &mut Run) -> Result<(), TrainError> {
        if self.unit == rows {
            return Ok(());
        }
        self.unit = rows;
        self.write_table(run)
    }

    /// Where the input of the network is put.
    pub(super) fn input(&self) -> Address {
        self.values[0].at()
    }

    /// The scores of the last pass.
    pub(super) fn scores(&self) -> &Buffer {
        &self.values[self.last()]
    }

    /// Where the gradient of the scores is put.
    pub(super) fn loss(&self) -> Address {
        self.gradients[self.last()].at()
    }

    fn last(&self) -> usize {
        self.steps.last().map_or(0, |step| step.output)
    }

    fn at(&self, step: &Step, rows: usize, weights: Address, training: bool) -> At {
        At {
            rows,
            input: self.values[step.input].at(),
            output: self.values[step.output].at(),
            gradient: self.gradients[step.output].at(),
            weights: weights.after(step.weights.start),
            saved: step.saved.at(),
            slopes: step.slopes.at(),
            work: self.work.at(),
            kept: step.kept.at(),
            ones: self.ones.at(),
            table: step.table.at(),
            training,
        }
    }

    /// From the input to the scores.
    pub(super) fn forward(
        &self,
        rows: usize,
        weights: Address,
        training: bool,
        run: &mut Run,
    ) -> Result<(), TrainError> {
        for (place, step) in self.steps.iter().enumerate() {
            let at = self.at(step, rows, weights, training);
            let count = rows * self.sizes[step.output];
            match &step.kind {
                Kind::Op(op) => {
                    let then = match self.steps.get(place + 1).map(|step| &step.kind) {
                        Some(Kind::Activation(function, true)) => Some(*function),
                        _ => None,
                    };
                    op.forward(&at, then, run)?;
                }
                Kind::Activation(_, true) => {}
                Kind::Activation(function, false) => {
                    let [kind, scale, temperature, offset] = activation(Some(*function));
                    let output = Argument::Address(at.output);
                    let arguments = [
                        output,
                        output,
                        flag(false),
                        long(count),
                        long(1),
                        long(1),
                        kind,
                        scale,
                        temperature,
                        offset,
                    ];
                    run.each(Kernel::BiasActivate, count, &arguments)?;
                }
                Kind::Add { skip } => {
                    let arrays = [at.input, self.values[*skip].at(), at.output].map(Argument::Address);
                    let arguments = [arrays.as_slice(), &[long(count)]].concat();
                    run.each(Kernel::AddTwo, count, &arguments)?;
                }
            }
        }
        Ok(())
    }

    /// From the gradient of the scores to the gradients of all layers' outputs.
    pub(super) fn backward(&self, rows: usize, weights: Address, run: &mut Run) -> Result<(), TrainError> {
        for step in self.steps.iter().rev() {
            if !step.below && step.trained.is_none() && step.skip.is_none() {
                continue;
            }
            let at = self.at(step, rows, weights, true);
            let count = rows * self.sizes[step.output];
            match &step.kind {
                Kind::Activation(function, _) => {
                    let [kind, scale, temperature, offset] = activation(Some(*function));
                    let arrays = [at.gradient, at.output].map(Argument::Address);
                    let arguments =
                        [arrays.as_slice(), &[long(count), kind, scale, temperature, offset]].concat();
                    run.each(Kernel::ActivateBack, count, &arguments)?;
                }
                Kind::Add { skip } => {
                    let skipped = (*skip, step.skip == Some(true), step.skip.is_some());
                    for (slot, add, is_wanted) in [(step.input, step.add, step.below), skipped] {
                        if is_wanted {
                            let arrays = [at.gradient, self.gradients[slot].at()].map(Argument::Address);
                            let arguments = [arrays.as_slice(), &[long(count), flag(add)]].concat();
                            run.each(Kernel::Deliver, count, &arguments)?;
                        }
                    }
                }
                Kind::Op(op) => {
                    let gradient = self.gradients[step.input].at();
                    let below = step.below.then_some(Below { gradient, add: step.add });
                    op.backward(&at, below, run)?;
                }
            }
        }
        Ok(())
    }

    /// Adds the rows' gradients to `sum`. With `clipping`, those of each unit of so many rows are added up and multiplied by its clip
    /// factor; without it they are taken as they are.
    pub(super) fn collect(
        &mut self,
        rows: usize,
        weights: Address,
        clipping: Option<(&Clipping, usize)>,
        sum: Address,
        run: &mut Run,
    ) -> Result<(), TrainError> {
        let unit = clipping.map_or(1, |(_, unit)| unit);
        self.set_unit(unit, run)?;
        let units = rows / unit;
        let mut summed = vec![false; self.steps.len()];
        for (step, is_summed) in self.steps.iter().zip(&mut summed) {
            let (Kind::Op(op), Some((range, _)), Way::Kept { .. }) = (&step.kind, &step.trained, step.way())
            else {
                continue;
            };
            let at = self.at(step, rows, weights, true);
            *is_summed = clipping.is_none() && op.total(&at, sum.after(range.start), run)?;
            if !*is_summed {
                op.keep(&at, run)?;
            }
            if unit > 1 {
                let size = step.kept_size();
                let arguments = [&[Argument::Address(step.kept.at())], &[units, size, unit].map(long)[..]];
                run.each(Kernel::AddRows, units * size, &arguments.concat())?;
            }
        }
        let factors = match clipping {
            Some((clipping, _)) => {
                self.clip(units, clipping, run)?;
                Matrix::new(self.factors.at(), 1)
            }
            None => Matrix::new(self.ones.at(), 1),
        };
        for (step, is_summed) in self.steps.iter().zip(summed) {
            let Some((range, group)) = step.trained.as_ref().filter(|_| !is_summed) else { continue };
            let into = sum.after(range.start);
            let (input, gradient) = (self.values[step.input].at(), self.gradients[step.output].at());
            match step.way() {
                Way::None => {}
                Way::Outer { inner, out, bias } => {
                    // The gradient has been multiplied by the factors already.
                    run.multiply(Product {
                        rows: out,
                        columns: inner,
                        inner: rows,
                        left: Matrix::new(gradient, out).transposed(),
                        right: Matrix::new(input, inner),
                        into: Matrix::new(into, inner),
                        add: true,
                        batch: 1,
                    })?;
                    if bias {
                        let ones = Matrix::new(self.ones.at(), rows);
                        let matrix = Matrix::new(gradient, out);
                        run.add_weighted_rows((rows, out), matrix, ones, into.after(inner * out))?;
                    }
                }
                Way::Kept { size } => {
                    let weights = match clipping {
                        // The factors of a group lie `groups` apart: a column of a matrix with one row per unit.
                        Some(_) => {
                            let column = self.factors.at().after(*group);
                            Matrix::new(column, self.groups).transposed()
                        }
                        None => Matrix::new(self.ones.at(), units),
                    };
                    let kept = Matrix::new(step.kept.at(), unit * size);
                    run.add_weighted_rows((units, size), kept, weights, into)?;
                }
                Way::Tokens { places, width } | Way::Bag { places, width } => {
                    let is_bag = matches!(step.way(), Way::Bag { .. });
                    let gradient = if is_bag { step.slopes.at() } else { gradient };
                    let (groups, group) = if clipping.is_some() { (self.groups, *group) } else { (1, 0) };
                    let arrays = [input, gradient, factors.at].map(Argument::Address);
                    let arguments = [
                        arrays.as_slice(),
                        &[Int(groups as i32), Int(group as i32), Argument::Address(into)],
                        &[rows, places, width].map(long),
                    ]
                    .concat();
                    run.blocks(Kernel::AddTokens, rows, &arguments)?;
                }
            }
        }
        Ok(())
    }

    /// Finds the factors of all units and applies them to what is summed.
    fn clip(&self, units: usize, clipping: &Clipping, run: &mut Run) -> Result<(), TrainError> {
        let table = [Argument::Address(self.table.at()), Int(self.entries as i32)];
        let squares = [Argument::Address(self.squares.at()), long(units)];
        let pairs = units * self.entries;
        let is_outer = |step: &Step| matches!(step.way(), Way::Outer { .. });
        let trained = || self.steps.iter().filter(|step| step.way() != Way::None);
        if trained().any(|step| !is_outer(step)) {
            run.blocks(Kernel::Measure, pairs, &[table.as_slice(), &squares].concat())?;
        }
        if trained().any(is_outer) {
            let arguments = [table.as_slice(), &squares, &[Double(LONGEST)]].concat();
            if self.unit == 1 {
                run.each(Kernel::MeasureOuter, SHARERS * pairs, &arguments)?;
            } else {
                run.blocks(Kernel::MeasureRows, pairs, &arguments)?;
            }
        }
        let arrays = [self.squares.at(), self.factors.at()].map(Argument::Address);
        let arguments = [table.as_slice(), &arrays, &[long(units)], &rule(clipping)].concat();
        run.each(Kernel::FindFactors, units, &arguments)?;
        let arguments = [table.as_slice(), &[Argument::Address(self.factors.at()), long(units)]].concat();
        run.each(Kernel::ApplyFactors, SHARERS * pairs, &arguments)
    }
}

/// A clipping rule as kernels take it: which one, the bound that leaves room for rounding, and the stability.
pub(super) fn rule(clipping: &Clipping) -> [Argument; 3] {
    let bound = clipping.norm() * (1.0 - RoundingMargin::SINGLE_PRECISION.get());
    let (kind, bound, stability) = match clipping {
        Clipping::Flat { .. } => (1, bound, 0.0),
        Clipping::PerLayer { .. } => (2, bound, 0.0),
        Clipping::Automatic { stability, .. } => (3, bound, *stability),
        // The engine refuses it; a bound of 0 lets nothing through.
        Clipping::Encoded { .. } | Clipping::Quantile(_) | Clipping::Threshold { .. } => (1, 0.0, 0.0),
    };
    [Int(kind), Double(bound), Double(stability)]
}
