//! Recurrent layers, which yield the state at every place.

use super::super::kernels::Kernel;
use super::super::machine::{Address, Argument, Matrix, Product};
use super::super::run::Run;
use super::{At, Below, Needs, Op, Way, long, place_sums};
use crate::TrainError;
use crate::graph::Activation;

/// Weights `[gates][inner]`, `[gates][hidden]`, and two biases `[gates]`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Recurrent {
    inner: usize,
    hidden: usize,
    gates: usize,
    time: usize,
    is_lstm: bool,
}

/// What is kept of the forward pass, each `[row][time][…]`.
struct Saved {
    /// Gates.
    gates: Address,
    /// Cells, or what the state gives to the fresh part.
    more: Address,
    /// The state before every place; 0 before the first one.
    states: Address,
}

impl Recurrent {
    /// Long short-term memory, with gates in the order input, forget, cell, output.
    pub(super) fn lstm(inner: usize, hidden: usize, time: usize) -> Self {
        Self { inner, hidden, gates: 4 * hidden, time, is_lstm: true }
    }

    /// A gated recurrent unit, with gates in the order reset, update, new.
    pub(super) fn gru(inner: usize, hidden: usize, time: usize) -> Self {
        Self { inner, hidden, gates: 3 * hidden, time, is_lstm: false }
    }

    fn size(&self) -> usize {
        self.gates * (self.inner + self.hidden + 2)
    }

    /// The matrix of the state, and the two biases.
    fn weights(&self, base: Address) -> (Address, Address, Address) {
        let of_states = base.after(self.gates * self.inner);
        let bias = of_states.after(self.gates * self.hidden);
        (of_states, bias, bias.after(self.gates))
    }

    fn saved(&self, at: &At) -> Saved {
        let places = at.rows * self.time;
        let more = at.saved.after(places * self.gates);
        Saved { gates: at.saved, more, states: more.after(places * self.hidden) }
    }

    /// Slopes at the gates as the inputs see them, and as the states see them.
    fn slopes(&self, at: &At) -> (Address, Address) {
        let second = if self.is_lstm { 0 } else { at.rows * self.time * self.gates };
        (at.slopes, at.slopes.after(second))
    }

    /// Rows, time, hidden, and the place in time.
    fn sizes(&self, rows: usize, t: usize) -> [Argument; 4] {
        [rows, self.time, self.hidden, t].map(long)
    }

    /// One place in time of an array `[row][time][width]`.
    fn place(&self, base: Address, t: usize, width: usize) -> Matrix {
        Matrix::new(base.after(t * width), self.time * width)
    }
}

impl Op for Recurrent {
    fn needs(&self) -> Needs {
        Needs {
            saved: self.time * (self.gates + 2 * self.hidden),
            slopes: self.time * self.gates * if self.is_lstm { 1 } else { 2 },
            work: 2 * self.hidden + self.gates,
        }
    }

    fn way(&self) -> Way {
        Way::Kept { size: self.size() }
    }

    fn forward(&self, at: &At, _: Option<Activation>, run: &mut Run) -> Result<(), TrainError> {
        let Self { inner, hidden, gates, time, .. } = *self;
        let (of_states, bias, state_bias) = self.weights(at.weights);
        let saved = self.saved(at);
        run.multiply(Product {
            rows: at.rows * time,
            columns: gates,
            inner,
            left: Matrix::new(at.input, inner),
            right: Matrix::new(at.weights, inner).transposed(),
            into: Matrix::new(saved.gates, gates),
            add: false,
            batch: 1,
        })?;
        for t in 0..time {
            if t > 0 {
                let into = match self.is_lstm {
                    true => self.place(saved.gates, t, gates),
                    false => Matrix::new(at.work, gates),
                };
                run.multiply(Product {
                    rows: at.rows,
                    columns: gates,
                    inner: hidden,
                    left: self.place(at.output, t - 1, hidden),
                    right: Matrix::new(of_states, hidden).transposed(),
                    into,
                    add: self.is_lstm,
                    batch: 1,
                })?;
            }
            let (kernel, arrays): (Kernel, &[Address]) = match self.is_lstm {
                true => {
                    (Kernel::LstmCell, &[saved.gates, bias, state_bias, saved.more, saved.states, at.output])
                }
                false => (
                    Kernel::GruCell,
                    &[saved.gates, at.work, bias, state_bias, saved.more, saved.states, at.output],
                ),
            };
            let arguments: Vec<Argument> =
                arrays.iter().copied().map(Argument::Address).chain(self.sizes(at.rows, t)).collect();
            run.each(kernel, at.rows * hidden, &arguments)?;
        }
        Ok(())
    }

    fn backward(&self, at: &At, below: Option<Below>, run: &mut Run) -> Result<(), TrainError> {
        let Self { inner, hidden, gates, time, .. } = *self;
        let (of_states, _, _) = self.weights(at.weights);
        let saved = self.saved(at);
        let (to_input, to_state) = self.slopes(at);
        let (carried, carry) = (at.work, at.work.after(at.rows * hidden));
        for t in (0..time).rev() {
            let (kernel, arrays): (Kernel, &[Address]) = match self.is_lstm {
                true => (Kernel::LstmBack, &[saved.gates, saved.more, at.gradient, carried, carry, to_input]),
                false => (
                    Kernel::GruBack,
                    &[saved.gates, saved.more, saved.states, at.gradient, carry, to_input, to_state],
                ),
            };
            let arguments: Vec<Argument> =
                arrays.iter().copied().map(Argument::Address).chain(self.sizes(at.rows, t)).collect();
            run.each(kernel, at.rows * hidden, &arguments)?;
            if t > 0 {
                run.multiply(Product {
                    rows: at.rows,
                    columns: hidden,
                    inner: gates,
                    left: self.place(to_state, t, gates),
                    right: Matrix::new(of_states, hidden),
                    into: Matrix::new(if self.is_lstm { carried } else { carry }, hidden),
                    add: !self.is_lstm,
                    batch: 1,
                })?;
            }
        }
        let Some(Below { gradient, add }) = below else { return Ok(()) };
        run.multiply(Product {
            rows: at.rows * time,
            columns: inner,
            inner: gates,
            left: Matrix::new(to_input, gates),
            right: Matrix::new(at.weights, inner),
            into: Matrix::new(gradient, inner),
            add,
            batch: 1,
        })
    }

    fn places(&self) -> usize {
        self.time
    }

    fn total(&self, at: &At, into: Address, run: &mut Run) -> Result<bool, TrainError> {
        let Self { inner, hidden, gates, time, .. } = *self;
        let (to_input, to_state) = self.slopes(at);
        let (states, count) = (self.saved(at).states, at.rows * time);
        let mut into = into;
        for (slopes, values, width) in [(to_input, at.input, inner), (to_state, states, hidden)] {
            run.multiply(Product {
                rows: gates,
                columns: width,
                inner: count,
                left: Matrix::new(slopes, gates).transposed(),
                right: Matrix::new(values, width),
                into: Matrix::new(into, width),
                add: true,
                batch: 1,
            })?;
            into = into.after(gates * width);
        }
        for slopes in [to_input, to_state] {
            let ones = Matrix::new(at.ones, count);
            run.add_weighted_rows((count, gates), Matrix::new(slopes, gates), ones, into)?;
            into = into.after(gates);
        }
        Ok(true)
    }

    fn keep(&self, at: &At, run: &mut Run) -> Result<(), TrainError> {
        let Self { inner, hidden, gates, time, .. } = *self;
        let (to_input, to_state) = self.slopes(at);
        let states = self.saved(at).states;
        let mut into = at.kept;
        for (slopes, values, width) in [(to_input, at.input, inner), (to_state, states, hidden)] {
            run.multiply(Product {
                rows: gates,
                columns: width,
                inner: time,
                left: Matrix::new(slopes, gates).every(time * gates).transposed(),
                right: Matrix::new(values, width).every(time * width),
                into: Matrix::new(into, width).every(self.size()),
                add: false,
                batch: at.rows,
            })?;
            into = into.after(gates * width);
        }
        let sizes = [at.rows, time, gates, self.size()];
        if self.is_lstm {
            return place_sums(to_input, into, sizes, 2, run);
        }
        place_sums(to_input, into, sizes, 1, run)?;
        place_sums(to_state, into.after(gates), sizes, 1, run)
    }
}
