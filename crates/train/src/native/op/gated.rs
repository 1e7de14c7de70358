//! Gated recurrent unit, with gates in the order reset, update, new.

use super::super::kernel::activation::{sigmoid, tanh};
use super::super::kernel::product::MatrixView;
use super::recurrent::{Recurrent, Trace};
use super::{Below, Flow, Op, Scratch, Units, sized};

/// Yields the state at every place.
#[derive(Debug, Clone, Copy)]
pub(in crate::native) struct Gru(Recurrent);

impl Gru {
    pub(in crate::native) fn new(inner: usize, hidden: usize, time: usize) -> Self {
        Self(Recurrent { inner, hidden, gates: 3 * hidden, time })
    }

    fn trace<'a>(&self, inputs: &'a [f32], scratch: &'a mut Scratch) -> (Trace<'a>, &'a mut Vec<f32>) {
        let places = inputs.len() / self.0.inner;
        let (_, _, states) = self.0.saved(places / self.0.time, &mut scratch.saved);
        let (of_inputs, of_states) =
            scratch.slopes[..2 * places * self.0.gates].split_at(places * self.0.gates);
        (Trace { inputs, states, of_inputs, of_states }, &mut scratch.kept)
    }
}

impl Op for Gru {
    fn forward(
        &self,
        weights: &[f32],
        rows: usize,
        input: &[f32],
        output: &mut [f32],
        scratch: &mut Scratch,
    ) {
        let Recurrent { inner, hidden, gates, time } = self.0;
        let product = scratch.row_product();
        let (_, _, bias, state_bias) = self.0.split(weights);
        let [of_inputs, of_states] = self.0.turned(weights, &mut scratch.packed);
        let (pre, shares, states) = self.0.saved(rows, &mut scratch.saved);
        pre.chunks_exact_mut(gates).for_each(|row| row.copy_from_slice(bias));
        product(pre, gates, MatrixView::new(input, rows * time, inner), of_inputs, true);
        let from_state = sized(&mut scratch.work, rows * gates);
        for t in 0..time {
            from_state.chunks_exact_mut(gates).for_each(|row| row.copy_from_slice(state_bias));
            if t > 0 {
                let before = MatrixView::strided(&states[(t - 1) * hidden..], rows, hidden, time * hidden);
                product(from_state, gates, before, of_states, true);
            }
            for row in 0..rows {
                let place = row * time + t;
                let gates_here = &mut pre[place * gates..][..gates];
                let from = &from_state[row * gates..][..gates];
                for j in 0..hidden {
                    let reset = sigmoid(gates_here[j] + from[j]);
                    let update = sigmoid(gates_here[hidden + j] + from[hidden + j]);
                    let share = from[2 * hidden + j];
                    let fresh = tanh(gates_here[2 * hidden + j] + reset * share);
                    let before = if t > 0 { states[(place - 1) * hidden + j] } else { 0.0 };
                    gates_here[j] = reset;
                    gates_here[hidden + j] = update;
                    gates_here[2 * hidden + j] = fresh;
                    shares[place * hidden + j] = share;
                    states[place * hidden + j] = (1.0 - update) * fresh + update * before;
                }
            }
        }
        output.copy_from_slice(states);
        self.0.drop_last(states);
    }

    fn backward(
        &self,
        weights: &[f32],
        rows: usize,
        flow: Flow<'_>,
        below: Option<Below<'_>>,
        scratch: &mut Scratch,
    ) {
        let Recurrent { inner, hidden, gates, time } = self.0;
        let product = scratch.row_product();
        let (of_inputs, of_states, _, _) = self.0.split(weights);
        let (of_gates, shares, states) = self.0.saved(rows, &mut scratch.saved);
        let places = rows * time;
        let (to_input, to_state) =
            sized(&mut scratch.slopes, 2 * places * gates).split_at_mut(places * gates);
        let carry = sized(&mut scratch.work, rows * hidden);
        carry.fill(0.0);
        for t in (0..time).rev() {
            for row in 0..rows {
                let place = row * time + t;
                let here = &of_gates[place * gates..][..gates];
                let slopes = &mut to_input[place * gates..][..gates];
                let state_slopes = &mut to_state[place * gates..][..gates];
                for j in 0..hidden {
                    let (reset, update, fresh) = (here[j], here[hidden + j], here[2 * hidden + j]);
                    let before = if t > 0 { states[(place - 1) * hidden + j] } else { 0.0 };
                    let gradient = flow.gradient[place * hidden + j] + carry[row * hidden + j];
                    let of_fresh = gradient * (1.0 - update) * (1.0 - fresh * fresh);
                    let of_update = gradient * (before - fresh) * update * (1.0 - update);
                    let of_reset = of_fresh * shares[place * hidden + j] * reset * (1.0 - reset);
                    (slopes[j], slopes[hidden + j], slopes[2 * hidden + j]) = (of_reset, of_update, of_fresh);
                    state_slopes[j] = of_reset;
                    state_slopes[hidden + j] = of_update;
                    state_slopes[2 * hidden + j] = of_fresh * reset;
                    carry[row * hidden + j] = gradient * update;
                }
            }
            if t > 0 {
                let here = MatrixView::strided(&to_state[t * gates..], rows, gates, time * gates);
                product(carry, hidden, here, of_states, true);
            }
        }
        if let Some(Below { gradient, add }) = below {
            product(gradient, inner, MatrixView::new(to_input, places, gates), of_inputs, add);
        }
    }

    fn squares(&self, units: Units<'_>, flow: Flow<'_>, scratch: &mut Scratch, squares: &mut [f64]) {
        let (trace, kept) = self.trace(flow.input, scratch);
        self.0.squares(units, trace, kept, squares);
    }

    fn sum(&self, units: Units<'_>, factors: &[f32], _: Flow<'_>, scratch: &mut Scratch, sum: &mut [f32]) {
        self.0.sum(units, factors, &scratch.kept, sum);
    }

    fn total(&self, flow: Flow<'_>, scratch: &mut Scratch, sum: &mut [f32]) {
        let (trace, _) = self.trace(flow.input, scratch);
        self.0.total(trace, sum);
    }

    fn memory(&self) -> (usize, usize) {
        let Recurrent { hidden, gates, time, .. } = self.0;
        (time * (3 * gates + 2 * hidden), self.0.size())
    }
}
