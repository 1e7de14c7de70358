//! The weights' gradients of recurrent layers: those of the inputs, of the states before, and of two biases.

use super::super::kernel::product::{MatrixView, multiply};
use super::super::kernel::transpose::transposed;
use super::super::kernel::vector::{add_rows, squared};
use super::{Packed, Units, add_kept, sized};

/// `gates` pre-activations from `inner` inputs and `hidden` states at each of `time` places; weights `[gates][inner]`,
/// `[gates][hidden]`, then a bias for each.
#[derive(Debug, Clone, Copy)]
pub(in crate::native) struct Recurrent {
    pub(in crate::native) inner: usize,
    pub(in crate::native) hidden: usize,
    pub(in crate::native) gates: usize,
    pub(in crate::native) time: usize,
}

/// What happened at every place of a chunk.
#[derive(Clone, Copy)]
pub(in crate::native) struct Trace<'a> {
    pub(in crate::native) inputs: &'a [f32],
    /// The states; the last of each example is 0.
    pub(in crate::native) states: &'a [f32],
    /// Gradients of the pre-activations on the input's side and on the state's side.
    pub(in crate::native) of_inputs: &'a [f32],
    pub(in crate::native) of_states: &'a [f32],
}

impl Recurrent {
    /// Number of weights and biases.
    pub(in crate::native) fn size(self) -> usize {
        self.gates * (self.inner + self.hidden + 2)
    }

    /// What is saved of a chunk: gates, one more number per state, and states.
    pub(in crate::native) fn saved(
        self,
        rows: usize,
        saved: &mut Vec<f32>,
    ) -> (&mut [f32], &mut [f32], &mut [f32]) {
        let places = rows * self.time;
        let whole = sized(saved, places * (self.gates + 2 * self.hidden));
        let (of_gates, rest) = whole.split_at_mut(places * self.gates);
        let (more, states) = rest.split_at_mut(places * self.hidden);
        (of_gates, more, states)
    }

    /// Sets the last state of every example to 0: nothing comes after it, and [`Trace`] needs that.
    pub(in crate::native) fn drop_last(self, states: &mut [f32]) {
        for states in states.chunks_exact_mut(self.time * self.hidden) {
            states[(self.time - 1) * self.hidden..].fill(0.0);
        }
    }

    /// The matrices and biases in the weights.
    pub(in crate::native) fn split(
        self,
        weights: &[f32],
    ) -> (MatrixView<'_>, MatrixView<'_>, &[f32], &[f32]) {
        let (inputs, rest) = weights.split_at(self.gates * self.inner);
        let (states, biases) = rest.split_at(self.gates * self.hidden);
        let (first, second) = biases.split_at(self.gates);
        (
            MatrixView::new(inputs, self.gates, self.inner),
            MatrixView::new(states, self.gates, self.hidden),
            first,
            second,
        )
    }

    /// The matrices with rows and columns exchanged, for products at every place; kept in `packed` until the weights change.
    pub(in crate::native) fn turned<'a>(
        self,
        weights: &[f32],
        packed: &'a mut [Packed; 2],
    ) -> [MatrixView<'a>; 2] {
        let (inputs, rest) = weights.split_at(self.gates * self.inner);
        let [of_inputs, of_states] = packed;
        let of_inputs = of_inputs.get(|turned| transposed(inputs, self.inner, turned));
        let states = &rest[..self.gates * self.hidden];
        let of_states = of_states.get(|turned| transposed(states, self.hidden, turned));
        [
            MatrixView::new(of_inputs, self.inner, self.gates),
            MatrixView::new(of_states, self.hidden, self.gates),
        ]
    }

    /// The gradient of some examples, written to `into` or added to it.
    fn gather(self, rows: std::ops::Range<usize>, trace: Trace<'_>, into: &mut [f32], add: bool) {
        let Self { inner, hidden, gates, time } = self;
        let (places, first) = (rows.len() * time, rows.start * time);
        let (inputs, rest) = into.split_at_mut(gates * inner);
        let (states, biases) = rest.split_at_mut(gates * hidden);
        let of_inputs = &trace.of_inputs[first * gates..][..places * gates];
        let of_states = &trace.of_states[first * gates..][..places * gates];
        let left = MatrixView::new(of_inputs, places, gates).transposed();
        multiply(inputs, inner, left, MatrixView::new(&trace.inputs[first * inner..], places, inner), add);
        // The first place of an example has no state before it: what lies there is the last state of another one, which is 0.
        let slopes = &trace.of_states[(first + 1) * gates..(first + places) * gates];
        let left = MatrixView::new(slopes, places - 1, gates).transposed();
        multiply(
            states,
            hidden,
            left,
            MatrixView::new(&trace.states[first * hidden..], places - 1, hidden),
            add,
        );
        if !add {
            biases.fill(0.0);
        }
        let (bias, state_bias) = biases.split_at_mut(gates);
        add_rows(bias, of_inputs);
        add_rows(state_bias, of_states);
    }

    /// Adds the squared norms of the units' gradients, which are kept.
    pub(in crate::native) fn squares(
        self,
        units: Units<'_>,
        trace: Trace<'_>,
        kept: &mut Vec<f32>,
        squares: &mut [f64],
    ) {
        let size = self.size();
        let kept = sized(kept, units.len() * size);
        for ((range, kept), square) in units.ranges().zip(kept.chunks_exact_mut(size)).zip(squares) {
            if range.is_empty() {
                kept.fill(0.0);
                continue;
            }
            self.gather(range, trace, kept, false);
            *square += squared(kept);
        }
    }

    pub(in crate::native) fn sum(self, units: Units<'_>, factors: &[f32], kept: &[f32], sum: &mut [f32]) {
        add_kept(&kept[..units.len() * self.size()], self.size(), factors, sum);
    }

    pub(in crate::native) fn total(self, trace: Trace<'_>, sum: &mut [f32]) {
        self.gather(0..trace.inputs.len() / (self.time * self.inner), trace, sum, true);
    }
}
