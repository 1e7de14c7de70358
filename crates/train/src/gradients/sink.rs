//! The sum that models hand their units' gradients to.

use super::GradientError;
use super::form::{Checked, Term};
use crate::clip::RoundingMargin;
use crate::native::factored::{Buffers, add_clipped, squared};
use crate::{Clipping, Layout, Selection, TrainError};
use rayon::prelude::*;
use std::ops::Range;

/// Numbers that may be written out for the units of a batch at a time.
const ROOM: usize = 1 << 23;

/// Something that takes clipped unit gradients one at a time, written out.
pub(crate) trait UnitTarget: Send {
    /// Takes the clipped gradient of a unit: [`Layout::gradients`] numbers. Units that count for nothing are not handed over.
    fn add(&mut self, unit: usize, clipped: &[f32]);
}

enum Target<'a> {
    Sum(&'a mut [f32]),
    Units(&'a mut dyn UnitTarget),
}

/// The sum of a selection's unit gradients, each clipped before it is added.
///
/// A model hands over the gradient of a unit, whole ([`unit`](Self::unit)) or in factors for many units at once
/// ([`units`](Self::units)); it cannot see or change the sum. Units that are never handed over add nothing.
///
/// # Guarantee
/// Whatever is handed over, each unit of the selection adds a vector of ℓ2 norm at most [`Clipping::norm`], up to the rounding of
/// single precision, and with [`Clipping::Encoded`] one whose sorted magnitudes are at most the profile's; it is added at most once;
/// and a unit with a number that is not finite adds nothing. Without clipping units are added as they are. Neighbouring relation: add or remove one unit; under replace-one the sum moves by at most twice the norm.
///
/// # Errors
/// [`GradientError`] from every method, which then has changed nothing. The first error is kept: the sum is not used after it, even
/// if the model ignores it.
pub struct ClippedSum<'a> {
    layout: &'a Layout,
    selection: &'a Selection,
    clipping: Option<&'a Clipping>,
    target: Target<'a>,
    given: Vec<bool>,
    fault: Option<GradientError>,
    buffers: Vec<Vec<Buffers>>,
    flat: Vec<f32>,
}

impl std::fmt::Debug for ClippedSum<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClippedSum").field("units", &self.given.len()).finish_non_exhaustive()
    }
}

/// The terms of one parameter.
struct Part<'a> {
    range: Range<usize>,
    group: usize,
    terms: Vec<Checked<'a>>,
    /// Whether norms and sums come from the only term itself.
    direct: bool,
}

/// Some units of a batch: their examples, counted from the batch's first, and where those of each unit end, counted from their first.
struct Slice {
    units: Range<usize>,
    examples: Range<usize>,
    ends: Vec<usize>,
}

impl Slice {
    /// The examples of every unit, counted from the batch's first.
    fn ranges(&self) -> impl Iterator<Item = Range<usize>> {
        let first = self.examples.start;
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(move |(start, end)| first + start..first + end)
    }
}

impl<'a> ClippedSum<'a> {
    /// A sum that is added to `sum`.
    pub(crate) fn new(
        layout: &'a Layout,
        selection: &'a Selection,
        clipping: Option<&'a Clipping>,
        sum: &'a mut [f32],
    ) -> Result<Self, TrainError> {
        if sum.len() != layout.gradients() {
            let (expected, given) = (layout.gradients(), sum.len());
            return Err(GradientError::Length { what: "the sum".to_owned(), given, expected }.into());
        }
        Self::to(layout, selection, clipping, Target::Sum(sum))
    }

    /// Clipped gradients that go to `target` unit by unit.
    pub(crate) fn by_unit(
        layout: &'a Layout,
        selection: &'a Selection,
        clipping: Option<&'a Clipping>,
        target: &'a mut dyn UnitTarget,
    ) -> Result<Self, TrainError> {
        Self::to(layout, selection, clipping, Target::Units(target))
    }

    fn to(
        layout: &'a Layout,
        selection: &'a Selection,
        clipping: Option<&'a Clipping>,
        target: Target<'a>,
    ) -> Result<Self, TrainError> {
        clipping.map_or(Ok(()), Clipping::check)?;
        let given = vec![false; selection.units()];
        Ok(Self {
            layout,
            selection,
            clipping,
            target,
            given,
            fault: None,
            buffers: Vec::new(),
            flat: Vec::new(),
        })
    }

    /// The first error of a hand-over, if there was one.
    pub(crate) fn finish(self) -> Result<(), TrainError> {
        self.fault.map_or(Ok(()), |fault| Err(fault.into()))
    }

    /// The units whose gradients are wanted, and their examples.
    pub fn selection(&self) -> &'a Selection {
        self.selection
    }

    /// The clipping rule; none where units are added as they are.
    pub fn clipping(&self) -> Option<&'a Clipping> {
        self.clipping
    }

    /// Hands over the gradient of a unit: the sum over its examples, parameter after parameter, [`Layout::gradients`] numbers.
    ///
    /// # Errors
    /// [`GradientError`] for a unit that is not in the selection or was handed over before, and for another length.
    pub fn unit(&mut self, unit: usize, gradient: &[f32]) -> Result<(), GradientError> {
        let taken = self.take(unit..unit.saturating_add(1));
        let checked = taken.and_then(|()| {
            let (given, expected) = (gradient.len(), self.layout.gradients());
            let what = "the model".to_owned();
            if given == expected { Ok(()) } else { Err(GradientError::Length { what, given, expected }) }
        });
        self.note(checked)?;
        self.given[unit] = true;
        self.clip(unit, gradient);
        Ok(())
    }

    /// Hands over the gradient of a unit as one slice for every trained parameter, in the order of the layout.
    ///
    /// # Errors
    /// As [`unit`](Self::unit).
    pub fn unit_by_parameter(&mut self, unit: usize, gradient: &[&[f32]]) -> Result<(), GradientError> {
        let trained = || self.layout.parameters().iter().filter(|parameter| parameter.trainable);
        let length = |what: String, given: usize, expected: usize| {
            Err(GradientError::Length { what, given, expected })
        };
        let mut checked = Ok(());
        if gradient.len() != trained().count() {
            checked = length("the model, in parameters,".to_owned(), gradient.len(), trained().count());
        } else if let Some((own, parameter)) =
            gradient.iter().zip(trained()).find(|(g, p)| g.len() != p.size())
        {
            checked = length(parameter.name.clone(), own.len(), parameter.size());
        }
        self.note(checked)?;
        self.unit(unit, &gradient.concat())
    }

    /// Hands over the gradients of successive units, parameter by parameter. The arrays hold the examples of these units in the order
    /// of the selection. The gradient of a parameter without a term is 0.
    ///
    /// # Errors
    /// [`GradientError`] for a unit that is not in the selection or was handed over before, and for arrays that do not fit.
    pub fn units(&mut self, units: Range<usize>, terms: &[Term<'_>]) -> Result<(), GradientError> {
        let checked = self.take(units.clone()).and_then(|()| self.parts(&units, terms));
        let parts = self.note(checked)?;
        self.given[units.clone()].fill(true);
        let examples = self.first(units.end) - self.first(units.start);
        if examples == 0 || parts.is_empty() {
            return Ok(());
        }
        let each = parts.iter().flat_map(|part| &part.terms).map(Checked::buffers).max().unwrap_or(1);
        self.buffers.resize_with(self.buffers.len().max(parts.len()), Vec::new);
        self.buffers.iter_mut().for_each(|own| own.resize_with(own.len().max(each), Buffers::default));
        match (&mut self.target, self.clipping) {
            (Target::Sum(sum), None) => {
                let work = parts.par_iter().zip(apart(sum, &parts)).zip(&mut self.buffers);
                work.for_each(|((part, sum), buffers)| {
                    part.terms.iter().for_each(|term| term.write(0..examples, buffers, sum));
                });
            }
            (Target::Sum(_), Some(clipping)) if clipping.profile().is_none() => {
                for slice in self.slices(&units, &parts) {
                    self.clip_together(&slice, &parts, clipping);
                }
            }
            _ => {
                let mut flat = std::mem::take(&mut self.flat);
                for unit in units.clone() {
                    let start = self.first(units.start);
                    let own = self.first(unit) - start..self.first(unit + 1) - start;
                    flat.clear();
                    flat.resize(self.layout.gradients(), 0.0);
                    for (part, buffers) in parts.iter().zip(&mut self.buffers) {
                        let into = &mut flat[part.range.clone()];
                        part.terms.iter().for_each(|term| term.write(own.clone(), buffers, into));
                    }
                    self.clip(unit, &flat);
                }
                self.flat = flat;
            }
        }
        Ok(())
    }

    /// Where the examples of a unit begin in the selection.
    fn first(&self, unit: usize) -> usize {
        if unit == 0 { 0 } else { self.selection.ends()[unit - 1] }
    }

    /// Checks that units are there and have not been handed over.
    fn take(&self, units: Range<usize>) -> Result<(), GradientError> {
        let count = self.given.len();
        if units.end > count || units.start > units.end {
            return Err(GradientError::UnknownUnit {
                unit: units.end.saturating_sub(1).max(units.start),
                units: count,
            });
        }
        match units.clone().find(|unit| self.given[*unit]) {
            Some(unit) => Err(GradientError::RepeatedUnit { unit }),
            None => Ok(()),
        }
    }

    /// Keeps the first error.
    fn note<T>(&mut self, outcome: Result<T, GradientError>) -> Result<T, GradientError> {
        if let Err(error) = &outcome {
            self.fault.get_or_insert_with(|| error.clone());
        }
        outcome
    }

    /// The terms of every parameter, in the order of the layout.
    fn parts<'t>(&self, units: &Range<usize>, terms: &[Term<'t>]) -> Result<Vec<Part<'t>>, GradientError> {
        let examples = self.first(units.end) - self.first(units.start);
        if examples == 0 {
            return Ok(Vec::new());
        }
        let one_each = units.clone().all(|unit| self.selection.unit(unit).len() == 1);
        let mut order: Vec<&Term<'t>> = terms.iter().collect();
        order.sort_by_key(|term| term.parameter);
        let mut parts = Vec::with_capacity(order.len());
        for same in order.chunk_by(|a, b| a.parameter == b.parameter) {
            let checked = same.iter().map(|term| Checked::new(self.layout, term, examples));
            let terms = checked.collect::<Result<Vec<_>, _>>()?;
            let number = same[0].parameter;
            let direct = terms.len() == 1 && terms[0].is_direct(one_each);
            let group = self.layout.parameters()[number].group;
            parts.push(Part { range: self.layout.gradient_range(number), group, terms, direct });
        }
        Ok(parts)
    }

    /// Units in slices for which what is written out fits.
    fn slices(&self, units: &Range<usize>, parts: &[Part<'_>]) -> Vec<Slice> {
        let kept = |part: &Part<'_>| if part.direct { part.terms[0].memory() } else { part.range.len() };
        let each: usize = parts.iter().map(kept).sum();
        let step = ROOM.checked_div(each).unwrap_or(units.len()).max(1);
        let start = self.first(units.start);
        let slice = |first: usize| {
            let units = first..units.end.min(first.saturating_add(step));
            let examples = self.first(units.start) - start..self.first(units.end) - start;
            let ends =
                units.clone().map(|unit| self.selection.ends()[unit] - start - examples.start).collect();
            Slice { units, examples, ends }
        };
        units.clone().step_by(step).map(slice).collect()
    }

    /// Measures, clips and adds some units.
    fn clip_together(&mut self, slice: &Slice, parts: &[Part<'_>], clipping: &Clipping) {
        let (groups, count) = (self.layout.groups(), slice.units.len());
        let measured: Vec<(Vec<f64>, Vec<f32>)> = parts
            .par_iter()
            .zip(&mut self.buffers)
            .map(|(part, buffers)| {
                let (mut squares, mut written) = (vec![0.0; count], Vec::new());
                if part.direct {
                    part.terms[0].squares(slice.examples.clone(), &slice.ends, buffers, &mut squares);
                } else {
                    let size = part.range.len();
                    written.resize(count * size, 0.0);
                    let rows = slice.ranges().zip(written.chunks_exact_mut(size.max(1)));
                    for ((own, row), square) in rows.zip(&mut squares) {
                        part.terms.iter().for_each(|term| term.write(own.clone(), buffers, row));
                        *square += squared(row);
                    }
                }
                (squares, written)
            })
            .collect();
        let mut squares = vec![0.0; groups * count];
        for (part, (own, _)) in parts.iter().zip(&measured) {
            own.iter().enumerate().for_each(|(unit, square)| squares[unit * groups + part.group] += square);
        }
        let mut factors = vec![0.0; groups * count];
        clipping.factors(RoundingMargin::SINGLE_PRECISION, groups, &squares, &mut factors);
        let Target::Sum(sum) = &mut self.target else { return };
        let work = parts.par_iter().zip(apart(sum, parts)).zip(&mut self.buffers).zip(&measured);
        work.for_each(|(((part, sum), buffers), (_, written))| {
            let own: Vec<f32> = factors.iter().skip(part.group).step_by(groups).copied().collect();
            if part.direct {
                part.terms[0].sum(slice.examples.clone(), &slice.ends, &own, buffers, sum);
            } else {
                let rows = written.chunks_exact(part.range.len().max(1));
                rows.zip(&own).for_each(|(row, factor)| add_clipped(sum, *factor, row));
            }
        });
    }

    /// Measures, clips and adds one unit that is written out.
    fn clip(&mut self, unit: usize, gradient: &[f32]) {
        let layout = self.layout;
        if let Some(clipping) = self.clipping.filter(|rule| rule.profile().is_some()) {
            let encoded = clipping.clipped(RoundingMargin::SINGLE_PRECISION, layout, gradient);
            return match &mut self.target {
                Target::Sum(sum) => add_clipped(sum, 1.0, &encoded),
                Target::Units(target) => target.add(unit, &encoded),
            };
        }
        let trained = || layout.parameters().iter().enumerate().filter(|(_, parameter)| parameter.trainable);
        let mut factors = vec![1.0; layout.groups()];
        if let Some(clipping) = self.clipping {
            let mut squares = vec![0.0; layout.groups()];
            for (number, parameter) in trained() {
                squares[parameter.group] += squared(&gradient[layout.gradient_range(number)]);
            }
            clipping.factors(RoundingMargin::SINGLE_PRECISION, layout.groups(), &squares, &mut factors);
            if factors.iter().all(|factor| *factor == 0.0) {
                return;
            }
        }
        let factor = |group: usize| factors[group];
        match &mut self.target {
            Target::Sum(sum) => {
                for (number, parameter) in trained() {
                    let range = layout.gradient_range(number);
                    add_clipped(&mut sum[range.clone()], factor(parameter.group), &gradient[range]);
                }
            }
            Target::Units(target) => {
                let mut clipped = vec![0.0; gradient.len()];
                for (number, parameter) in trained() {
                    let range = layout.gradient_range(number);
                    add_clipped(&mut clipped[range.clone()], factor(parameter.group), &gradient[range]);
                }
                target.add(unit, &clipped);
            }
        }
    }
}

/// The part of the sum that belongs to each parameter.
fn apart<'s>(sum: &'s mut [f32], parts: &[Part<'_>]) -> Vec<&'s mut [f32]> {
    let (mut rest, mut start) = (sum, 0);
    let mut own = Vec::with_capacity(parts.len());
    for part in parts {
        let (_, from) = std::mem::take(&mut rest).split_at_mut(part.range.start - start);
        let (this, after) = from.split_at_mut(part.range.len());
        own.push(this);
        (rest, start) = (after, part.range.end);
    }
    own
}
