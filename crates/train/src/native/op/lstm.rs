//! Long short-term memory, with gates in the order input, forget, cell, output.

use super::super::kernel::activation::{sigmoid, tanh};
use super::super::kernel::product::MatrixView;
use super::recurrent::{Recurrent, Trace};
use super::{Below, Flow, Op, Scratch, Units, sized};
use pulp::{Arch, Simd, WithSimd};

/// Yields the state at every place.
#[derive(Debug, Clone, Copy)]
pub(in crate::native) struct Lstm(Recurrent);

/// One place of one example, forward: pre-activations become gates.
struct Cell<'a> {
    gates: &'a mut [f32],
    before: Option<&'a [f32]>,
    cell: &'a mut [f32],
    state: &'a mut [f32],
}

impl WithSimd for Cell<'_> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let hidden = self.cell.len();
        let (input, rest) = self.gates.split_at_mut(hidden);
        let (forget, rest) = rest.split_at_mut(hidden);
        let (fresh, output) = rest.split_at_mut(hidden);
        let output = &mut output[..hidden];
        let before = self.before.map(|before| &before[..hidden]);
        let state = &mut self.state[..hidden];
        for j in 0..hidden {
            input[j] = sigmoid(input[j]);
            forget[j] = sigmoid(forget[j]);
            fresh[j] = tanh(fresh[j]);
            output[j] = sigmoid(output[j]);
        }
        match before {
            Some(before) => {
                for j in 0..hidden {
                    self.cell[j] = forget[j] * before[j] + input[j] * fresh[j];
                }
            }
            None => {
                for j in 0..hidden {
                    self.cell[j] = input[j] * fresh[j];
                }
            }
        }
        for j in 0..hidden {
            state[j] = output[j] * tanh(self.cell[j]);
        }
    }
}

/// One place of one example, backward.
struct Back<'a> {
    gates: &'a [f32],
    before: Option<&'a [f32]>,
    cell: &'a [f32],
    /// Of the state, from above.
    gradient: &'a [f32],
    /// Of the state, from the place after; and of the cell, which is replaced.
    state: &'a [f32],
    carry: &'a mut [f32],
    slopes: &'a mut [f32],
}

impl WithSimd for Back<'_> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let hidden = self.cell.len();
        let (input, rest) = self.gates.split_at(hidden);
        let (forget, rest) = rest.split_at(hidden);
        let (fresh, output) = rest.split_at(hidden);
        let output = &output[..hidden];
        let (of_input, rest) = self.slopes.split_at_mut(hidden);
        let (of_forget, rest) = rest.split_at_mut(hidden);
        let (of_fresh, of_output) = rest.split_at_mut(hidden);
        let of_output = &mut of_output[..hidden];
        let (gradient, state) = (&self.gradient[..hidden], &self.state[..hidden]);
        let carry = &mut self.carry[..hidden];
        for j in 0..hidden {
            let of_state = gradient[j] + state[j];
            let squashed = tanh(self.cell[j]);
            of_output[j] = of_state * squashed * output[j] * (1.0 - output[j]);
            let of_cell = carry[j] + of_state * output[j] * (1.0 - squashed * squashed);
            of_input[j] = of_cell * fresh[j] * input[j] * (1.0 - input[j]);
            of_fresh[j] = of_cell * input[j] * (1.0 - fresh[j] * fresh[j]);
            carry[j] = of_cell * forget[j];
            of_forget[j] = of_cell * forget[j] * (1.0 - forget[j]);
        }
        match self.before {
            Some(before) => of_forget.iter_mut().zip(before).for_each(|(slope, before)| *slope *= before),
            None => of_forget.fill(0.0),
        }
    }
}

impl Lstm {
    pub(in crate::native) fn new(inner: usize, hidden: usize, time: usize) -> Self {
        Self(Recurrent { inner, hidden, gates: 4 * hidden, time })
    }

    fn trace<'a>(&self, inputs: &'a [f32], scratch: &'a mut Scratch) -> (Trace<'a>, &'a mut Vec<f32>) {
        let rows = inputs.len() / (self.0.time * self.0.inner);
        let (_, _, states) = self.0.saved(rows, &mut scratch.saved);
        let slopes = &scratch.slopes;
        (Trace { inputs, states, of_inputs: slopes, of_states: slopes }, &mut scratch.kept)
    }
}

impl Op for Lstm {
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
        let (pre, cells, states) = self.0.saved(rows, &mut scratch.saved);
        for row in pre.chunks_exact_mut(gates) {
            for ((place, first), second) in row.iter_mut().zip(bias).zip(state_bias) {
                *place = first + second;
            }
        }
        product(pre, gates, MatrixView::new(input, rows * time, inner), of_inputs, true);
        for t in 0..time {
            if t > 0 {
                let before = MatrixView::strided(&states[(t - 1) * hidden..], rows, hidden, time * hidden);
                product(&mut pre[t * gates..], time * gates, before, of_states, true);
            }
            for row in 0..rows {
                let place = row * time + t;
                let (earlier, cell) = cells.split_at_mut(place * hidden);
                Arch::new().dispatch(Cell {
                    gates: &mut pre[place * gates..][..gates],
                    before: (t > 0).then(|| &earlier[(place - 1) * hidden..]),
                    cell: &mut cell[..hidden],
                    state: &mut states[place * hidden..][..hidden],
                });
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
        let (of_gates, cells, _) = self.0.saved(rows, &mut scratch.saved);
        let slopes = sized(&mut scratch.slopes, rows * time * gates);
        let (state, carry) = sized(&mut scratch.work, 2 * rows * hidden).split_at_mut(rows * hidden);
        state.fill(0.0);
        carry.fill(0.0);
        for t in (0..time).rev() {
            for row in 0..rows {
                let place = row * time + t;
                Arch::new().dispatch(Back {
                    gates: &of_gates[place * gates..][..gates],
                    before: (t > 0).then(|| &cells[(place - 1) * hidden..][..hidden]),
                    cell: &cells[place * hidden..][..hidden],
                    gradient: &flow.gradient[place * hidden..][..hidden],
                    state: &state[row * hidden..][..hidden],
                    carry: &mut carry[row * hidden..][..hidden],
                    slopes: &mut slopes[place * gates..][..gates],
                });
            }
            if t > 0 {
                let here = MatrixView::strided(&slopes[t * gates..], rows, gates, time * gates);
                product(state, hidden, here, of_states, false);
            }
        }
        if let Some(Below { gradient, add }) = below {
            product(gradient, inner, MatrixView::new(slopes, rows * time, gates), of_inputs, add);
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
        (time * (2 * gates + 2 * hidden), self.0.size())
    }
}
