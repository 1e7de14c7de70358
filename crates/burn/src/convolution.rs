//! The places that a convolution reads, laid out as the rows of a matrix.

use super::backend::{
    Backend, Conv1d, Conv2d, PadMode, PaddingConfig1d, PaddingConfig2d, Tensor, UnfoldOptions, unfold4d,
};

/// Where a convolution reads its input. One-dimensional ones have a height of 1.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window {
    kernel: [usize; 2],
    stride: [usize; 2],
    dilation: [usize; 2],
    /// Before and after, per axis.
    padding: [(usize, usize); 2],
    /// Groups of channels that do not see each other.
    pub(crate) groups: usize,
}

impl Window {
    /// Of a two-dimensional layer on an input of this height and width.
    pub(crate) fn of_plane<B: Backend>(layer: &Conv2d<B>, size: [usize; 2]) -> Self {
        let padding = match &layer.padding {
            PaddingConfig2d::Valid => [(0, 0); 2],
            PaddingConfig2d::Same => {
                [0, 1].map(|axis| same(layer.kernel_size[axis], layer.stride[axis], size[axis]))
            }
            PaddingConfig2d::Explicit(top, left, bottom, right) => [(*top, *bottom), (*left, *right)],
        };
        Self {
            kernel: layer.kernel_size,
            stride: layer.stride,
            dilation: layer.dilation,
            padding,
            groups: layer.groups,
        }
    }

    /// Of a one-dimensional layer on an input of this length.
    pub(crate) fn of_line<B: Backend>(layer: &Conv1d<B>, length: usize) -> Self {
        let padding = match &layer.padding {
            PaddingConfig1d::Valid => (0, 0),
            PaddingConfig1d::Same => same(layer.kernel_size, layer.stride, length),
            PaddingConfig1d::Explicit(left, right) => (*left, *right),
        };
        Self {
            kernel: [1, layer.kernel_size],
            stride: [1, layer.stride],
            dilation: [1, layer.dilation],
            padding: [(0, 0), padding],
            groups: layer.groups,
        }
    }

    /// `[examples, channels · kernel, places]` of an input `[examples, channels, height, width]`.
    pub(crate) fn unfold<B: Backend>(&self, input: Tensor<B, 4>) -> Tensor<B, 3> {
        let [rows, columns] = self.padding;
        let even = rows.0 == rows.1 && columns.0 == columns.1;
        let (input, padding) = if even {
            (input, [rows.0, columns.0])
        } else {
            (input.pad((columns.0, columns.1, rows.0, rows.1), PadMode::Constant(0.0)), [0, 0])
        };
        unfold4d(input, self.kernel, UnfoldOptions::new(self.stride, padding, self.dilation))
    }
}

/// The padding that keeps the size, the odd one behind.
fn same(kernel: usize, stride: usize, size: usize) -> (usize, usize) {
    let outputs = size.div_ceil(stride);
    let total = (outputs.saturating_sub(1) * stride + kernel).saturating_sub(size);
    (total / 2, total - total / 2)
}
