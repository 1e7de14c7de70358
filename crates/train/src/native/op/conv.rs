//! Convolution over planes; a line is a plane of height 1.

use super::super::kernel::slide::{BLOCK, CHANNELS, Gather, SLACK, Slide, pack};
use super::super::kernel::transpose::transpose;
use super::super::kernel::vector::{squared, sum};
use super::{Below, Flow, Op, Scratch, Units, add_kept, sized};
use crate::describe::windows;
use crate::graph::Geometry;

/// One residue of the stride: the input rows y and columns x with (y + padding) mod stride = residue.
#[derive(Debug)]
struct Phase {
    /// The kernel weights that meet this residue: place in the kernel, and distance in the plane.
    taps: Vec<(usize, usize)>,
    /// Plane rows and columns that hold input: first, and how many.
    rows: (usize, usize),
    cols: (usize, usize),
    residue: [usize; 2],
}

impl Phase {
    /// Whether no input or no weight meets this residue.
    fn is_idle(&self) -> bool {
        self.rows.1 == 0 || self.cols.1 == 0 || self.taps.is_empty()
    }
}

/// A convolution; weights `[out][in of a group][kernel]`, then the bias.
#[derive(Debug)]
pub(in crate::native) struct Conv {
    geometry: Geometry,
    places: [usize; 2],
    phases: Vec<Phase>,
    /// Columns of a plane.
    pitch: usize,
    /// Numbers of a plane.
    plane: usize,
    /// For each input channel of a group and kernel place: where its stretch starts among the planes of a group.
    starts: Vec<usize>,
    /// For each phase: for each output channel of a group and tap, where its stretch of gradients starts.
    back: Vec<Vec<usize>>,
    /// Zeros before the first gradient.
    margin: usize,
    /// Length of one output channel's gradients with zeros.
    lane: usize,
}

impl Conv {
    /// Nothing if the window does not fit the input.
    pub(in crate::native) fn new(geometry: Geometry) -> Option<Self> {
        let Geometry { channels, size, out, groups, window, .. } = geometry;
        let places = windows(size, window)?;
        let [sh, sw] = window.stride;
        let along = |i: usize| (size[i] + 2 * window.padding[i]).div_ceil(window.stride[i]);
        let (height, pitch) = (along(0), along(1));
        let plane = height * pitch;
        let phase_of = |y: usize, x: usize| (y % sh) * sw + x % sw;
        let held = |i: usize, residue: usize| {
            let (pad, stride) = (window.padding[i], window.stride[i]);
            let first = pad.saturating_sub(residue).div_ceil(stride);
            let end = (pad + size[i]).saturating_sub(residue).div_ceil(stride);
            (first, end.saturating_sub(first))
        };
        let mut phases: Vec<Phase> = (0..sh * sw)
            .map(|i| {
                let residue = [i / sw, i % sw];
                Phase { taps: Vec::new(), rows: held(0, residue[0]), cols: held(1, residue[1]), residue }
            })
            .collect();
        let inner = channels / groups;
        let taps = window.kernel[0] * window.kernel[1];
        let mut starts = Vec::with_capacity(inner * taps);
        for channel in 0..inner {
            for tap in 0..taps {
                let y = tap / window.kernel[1] * window.dilation[0];
                let x = tap % window.kernel[1] * window.dilation[1];
                let distance = y / sh * pitch + x / sw;
                starts.push((channel * sh * sw + phase_of(y, x)) * plane + distance);
                if channel == 0 {
                    phases[phase_of(y, x)].taps.push((tap, distance));
                }
            }
        }
        let margin = phases.iter().flat_map(|phase| phase.taps.iter().map(|tap| tap.1)).max().unwrap_or(0);
        let lane = margin + plane.max(places[0] * pitch) + SLACK;
        let back = phases
            .iter()
            .map(|phase| {
                let starts = |c: usize| phase.taps.iter().map(move |tap| c * lane + margin - tap.1);
                (0..out / groups).flat_map(starts).collect()
            })
            .collect();
        Some(Self { geometry, places, phases, pitch, plane, starts, back, margin, lane })
    }

    fn inner(&self) -> usize {
        self.geometry.channels / self.geometry.groups
    }

    pub(in crate::native) fn outer(&self) -> usize {
        self.geometry.out / self.geometry.groups
    }

    /// Output channels of a group, padded for the gathering of weight gradients.
    pub(in crate::native) fn padded(&self) -> usize {
        self.outer().div_ceil(CHANNELS) * CHANNELS
    }

    pub(in crate::native) fn weights(&self) -> usize {
        self.geometry.out * self.starts.len()
    }

    /// Numbers kept per unit: the weights' gradients in the order of gathering, then the bias.
    pub(in crate::native) fn kept(&self) -> usize {
        self.geometry.groups * self.starts.len() * self.padded() + self.geometry.out
    }

    /// The weights for the backward pass: for each group and phase, from output channels and taps to input channels.
    fn turned(&self, weights: &[f32], packed: &mut Vec<f32>) {
        let (outer, inner) = (self.outer(), self.inner());
        let taps = self.starts.len() / inner;
        packed.clear();
        for group in 0..self.geometry.groups {
            for (phase, starts) in self.phases.iter().zip(&self.back).filter(|(phase, _)| !phase.is_idle()) {
                let of = |channel: usize, k: usize| {
                    let (c, tap) = (k / phase.taps.len(), phase.taps[k % phase.taps.len()].0);
                    weights[((group * outer + c) * inner + channel) * taps + tap]
                };
                pack(inner, starts.len(), of, packed);
            }
        }
    }

    /// Copies one example's channels of a group into planes. Padding is 0 and stays so.
    pub(in crate::native) fn spread(&self, input: &[f32], planes: &mut [f32]) {
        let Geometry { size: [_, width], window, .. } = self.geometry;
        let [sh, sw] = window.stride;
        let count = self.phases.len();
        for (channel, image) in input.chunks_exact(self.geometry.size[0] * width).enumerate() {
            for (index, phase) in self.phases.iter().enumerate() {
                let plane = &mut planes[(channel * count + index) * self.plane..][..self.plane];
                if phase.is_idle() {
                    continue;
                }
                let x = phase.cols.0 * sw + phase.residue[1] - window.padding[1];
                for row in phase.rows.0..phase.rows.0 + phase.rows.1 {
                    let y = row * sh + phase.residue[0] - window.padding[0];
                    let from = &image[y * width..(y + 1) * width];
                    let into = &mut plane[row * self.pitch + phase.cols.0..][..phase.cols.1];
                    if sw == 1 {
                        into.copy_from_slice(&from[x..x + phase.cols.1]);
                    } else {
                        for (place, value) in into.iter_mut().zip(from.iter().skip(x).step_by(sw)) {
                            *place = *value;
                        }
                    }
                }
            }
        }
    }

    /// Zeroed planes for one group, with slack.
    pub(in crate::native) fn planes<'a>(&self, buffer: &'a mut Vec<f32>) -> &'a mut [f32] {
        let length = self.inner() * self.phases.len() * self.plane + SLACK + self.pitch;
        buffer.clear();
        buffer.resize(length, 0.0);
        buffer
    }

    pub(in crate::native) fn places(&self) -> usize {
        self.places[0] * self.places[1]
    }

    pub(in crate::native) fn image(&self) -> usize {
        self.geometry.channels * self.geometry.size[0] * self.geometry.size[1]
    }

    /// Numbers of one example's outputs.
    pub(in crate::native) fn output(&self) -> usize {
        self.geometry.out * self.places()
    }

    /// Numbers of one example's input channels of a group.
    pub(in crate::native) fn group_image(&self) -> usize {
        self.image() / self.geometry.groups
    }

    /// Weights of one output channel.
    pub(in crate::native) fn depth(&self) -> usize {
        self.starts.len()
    }

    /// The stretches of some weights of an output channel, from a weight on: `[weight][places]`, in rows of `pitch` numbers from `first`
    /// on.
    pub(in crate::native) fn unfold(
        &self,
        planes: &[f32],
        from: usize,
        columns: &mut [f32],
        pitch: usize,
        first: usize,
    ) {
        let width = self.places[1];
        for (start, column) in self.starts[from..].iter().zip(columns.chunks_exact_mut(pitch)) {
            for (row, into) in column[first..][..self.places()].chunks_exact_mut(width).enumerate() {
                into.copy_from_slice(&planes[start + row * self.pitch..][..width]);
            }
        }
    }

    /// The sum of the squares of all numbers that meet a weight, place by place.
    pub(in crate::native) fn patch_squares(&self, planes: &[f32], squares: &mut [f32]) {
        let size = self.phases.len() * self.plane;
        let mut whole = vec![0.0f32; size];
        for channel in planes.chunks_exact(size).take(self.inner()) {
            whole.iter_mut().zip(channel).for_each(|(sum, value)| *sum += value * value);
        }
        squares.fill(0.0);
        let taps = self.starts.len() / self.inner();
        for start in &self.starts[..taps] {
            for (row, squares) in squares.chunks_exact_mut(self.places[1]).enumerate() {
                let from = &whole[start + row * self.pitch..];
                squares.iter_mut().zip(from).for_each(|(sum, value)| *sum += value);
            }
        }
    }

    /// Gathers the weights' gradient of one example, `[group][k][padded]`, then the bias.
    pub(in crate::native) fn gather(
        &self,
        input: &[f32],
        gradient: &[f32],
        planes: &mut [f32],
        turned: &mut [f32],
        out: &mut [f32],
        add: bool,
    ) {
        let (groups, padded, places) = (self.geometry.groups, self.padded(), self.places());
        let (weights, bias) = out.split_at_mut(groups * self.starts.len() * padded);
        let group_image = self.image() / groups;
        for group in 0..groups {
            self.spread(&input[group * group_image..(group + 1) * group_image], planes);
            let gradient = &gradient[group * self.outer() * places..][..self.outer() * places];
            transpose(gradient, places, turned, padded, false);
            Gather {
                planes,
                starts: &self.starts,
                gradient: turned,
                channels: padded,
                rows: self.places[0],
                cols: self.places[1],
                pitch: self.pitch,
                out: &mut weights[group * self.starts.len() * padded..][..self.starts.len() * padded],
                add,
            }
            .run();
        }
        for (bias, channel) in bias.iter_mut().zip(gradient.chunks_exact(places)) {
            *bias = sum(channel) + if add { *bias } else { 0.0 };
        }
    }

    /// What is kept of one unit as a squared norm: padding is 0 in it.
    pub(in crate::native) fn square(&self, kept: &[f32]) -> f64 {
        let weights = kept.len() - self.geometry.out;
        squared(&kept[..weights]) + if self.geometry.bias { squared(&kept[weights..]) } else { 0.0 }
    }

    /// Adds a sum in the order of gathering to one in the order of the weights.
    pub(in crate::native) fn settle(&self, gathered: &[f32], sum: &mut [f32]) {
        let (depth, padded, outer) = (self.starts.len(), self.padded(), self.outer());
        for (group, gathered) in gathered.chunks_exact(depth * padded).take(self.geometry.groups).enumerate()
        {
            for (k, row) in gathered.chunks_exact(padded).enumerate() {
                for (c, value) in row[..outer].iter().enumerate() {
                    sum[(group * outer + c) * depth + k] += value;
                }
            }
        }
        if self.geometry.bias {
            let bias = &gathered[self.geometry.groups * depth * padded..];
            for (sum, value) in sum[self.weights()..].iter_mut().zip(bias) {
                *sum += value;
            }
        }
    }
}

impl Op for Conv {
    fn forward(
        &self,
        weights: &[f32],
        rows: usize,
        input: &[f32],
        output: &mut [f32],
        scratch: &mut Scratch,
    ) {
        let (groups, outer, depth) = (self.geometry.groups, self.outer(), self.starts.len());
        let [height, width] = self.places;
        let count = (height - 1) * self.pitch + width;
        let pitch = (height * self.pitch).max(count).div_ceil(CHANNELS) * CHANNELS;
        let packed = scratch.packed[0].get(|packed| {
            packed.clear();
            for part in weights[..self.weights()].chunks_exact(outer * depth) {
                pack(outer, depth, |c, k| part[c * depth + k], packed);
            }
        });
        let packed_size = packed.len() / groups;
        let planes = self.planes(&mut scratch.work);
        let lanes = sized(&mut scratch.more, outer.div_ceil(BLOCK) * BLOCK * pitch);
        let group_image = self.image() / groups;
        for group in 0..groups {
            let packed = &packed[group * packed_size..][..packed_size];
            for row in 0..rows {
                self.spread(&input[row * self.image() + group * group_image..][..group_image], planes);
                Slide {
                    planes,
                    starts: &self.starts,
                    shift: 0,
                    weights: packed,
                    out: lanes,
                    pitch,
                    width: count,
                }
                .run();
                let output =
                    &mut output[(row * groups + group) * outer * height * width..][..outer * height * width];
                for (c, output) in output.chunks_exact_mut(height * width).enumerate() {
                    let offset =
                        if self.geometry.bias { weights[self.weights() + group * outer + c] } else { 0.0 };
                    for (y, output) in output.chunks_exact_mut(width).enumerate() {
                        for (output, value) in output.iter_mut().zip(&lanes[c * pitch + y * self.pitch..]) {
                            *output = value + offset;
                        }
                    }
                }
            }
        }
    }

    fn backward(
        &self,
        weights: &[f32],
        rows: usize,
        flow: Flow<'_>,
        below: Option<Below<'_>>,
        scratch: &mut Scratch,
    ) {
        let Some(Below { gradient: below, add }) = below else { return };
        let (groups, outer, inner) = (self.geometry.groups, self.outer(), self.inner());
        let [height, width] = self.places;
        let Geometry { size, window, .. } = self.geometry;
        let image = size[0] * size[1];
        scratch.work.clear();
        scratch.work.resize(outer * self.lane + SLACK, 0.0);
        let pitch = self.plane.div_ceil(CHANNELS) * CHANNELS;
        let lanes = sized(&mut scratch.more, inner.div_ceil(BLOCK) * BLOCK * pitch);
        if !add {
            below.fill(0.0);
        }
        let mut packed = scratch.packed[1].get(|packed| self.turned(weights, packed));
        for group in 0..groups {
            for (phase, starts) in self.phases.iter().zip(&self.back) {
                if phase.is_idle() {
                    continue;
                }
                let length = inner.div_ceil(BLOCK) * BLOCK * starts.len();
                let (weights, rest) = packed.split_at(length);
                packed = rest;
                let first = phase.rows.0 * self.pitch + phase.cols.0;
                let count = (phase.rows.1 - 1) * self.pitch + phase.cols.1;
                let (y, x) = (
                    phase.rows.0 * window.stride[0] + phase.residue[0] - window.padding[0],
                    phase.cols.0 * window.stride[1] + phase.residue[1] - window.padding[1],
                );
                for row in 0..rows {
                    let gradient = &flow.gradient[(row * groups + group) * outer * height * width..];
                    for (c, channel) in gradient.chunks_exact(height * width).take(outer).enumerate() {
                        let lane = &mut scratch.work[c * self.lane + self.margin..];
                        for (g, into) in channel.chunks_exact(width).zip(lane.chunks_mut(self.pitch)) {
                            into[..width].copy_from_slice(g);
                        }
                    }
                    Slide {
                        planes: &scratch.work,
                        starts,
                        shift: first,
                        weights,
                        out: lanes,
                        pitch,
                        width: count,
                    }
                    .run();
                    let below = &mut below[(row * groups + group) * inner * image..][..inner * image];
                    for (c, below) in below.chunks_exact_mut(image).enumerate() {
                        for r in 0..phase.rows.1 {
                            let from = &lanes[c * pitch + r * self.pitch..][..phase.cols.1];
                            let into = &mut below[(y + r * window.stride[0]) * size[1] + x..];
                            if window.stride[1] == 1 {
                                for (into, value) in into.iter_mut().zip(from) {
                                    *into += value;
                                }
                            } else {
                                for (into, value) in into.iter_mut().step_by(window.stride[1]).zip(from) {
                                    *into += value;
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    fn squares(&self, units: Units<'_>, flow: Flow<'_>, scratch: &mut Scratch, squares: &mut [f64]) {
        let (size, image, out) = (self.kept(), self.image(), self.geometry.out * self.places());
        let planes = self.planes(&mut scratch.work);
        scratch.more.clear();
        let turned = sized(&mut scratch.more, self.places() * self.padded());
        let kept = sized(&mut scratch.kept, units.len() * size);
        for ((range, kept), square) in units.ranges().zip(kept.chunks_exact_mut(size)).zip(squares) {
            if range.is_empty() {
                kept.fill(0.0);
            }
            for (i, row) in range.enumerate() {
                let (input, gradient) =
                    (&flow.input[row * image..][..image], &flow.gradient[row * out..][..out]);
                self.gather(input, gradient, planes, turned, kept, i > 0);
            }
            *square += self.square(kept);
        }
    }

    fn sum(&self, units: Units<'_>, factors: &[f32], _: Flow<'_>, scratch: &mut Scratch, _: &mut [f32]) {
        let size = self.kept();
        let total = sized(&mut scratch.total, size);
        add_kept(&scratch.kept[..units.len() * size], size, factors, total);
    }

    fn total(&self, flow: Flow<'_>, scratch: &mut Scratch, _: &mut [f32]) {
        let (size, image, out) = (self.kept(), self.image(), self.geometry.out * self.places());
        let planes = self.planes(&mut scratch.work);
        scratch.more.clear();
        let turned = sized(&mut scratch.more, self.places() * self.padded());
        let total = sized(&mut scratch.total, size);
        for (input, gradient) in flow.input.chunks_exact(image).zip(flow.gradient.chunks_exact(out)) {
            self.gather(input, gradient, planes, turned, total, true);
        }
    }

    fn finish(&self, scratch: &mut Scratch, sum: &mut [f32]) {
        if !scratch.total.is_empty() {
            self.settle(&scratch.total, sum);
            scratch.total.clear();
        }
    }

    fn memory(&self) -> (usize, usize) {
        (0, self.kept())
    }
}
