//! Every way into the sum against clipped gradients written out in double precision.

use super::*;
use crate::{Inputs, Parameter, Targets};
use reticent_noise::entropy::{Bits, SeededForTests};

fn number(bits: &mut SeededForTests) -> f32 {
    (bits.word() >> 40) as f32 / (1u64 << 23) as f32 - 1.0
}

fn layout() -> Layout {
    let parameter = |name: &str, shape: &[usize], group, trainable| Parameter {
        name: name.to_owned(),
        shape: shape.to_vec(),
        group,
        trainable,
    };
    Layout::new(vec![
        parameter("linear.weight", &[3, 5], 0, true),
        parameter("frozen", &[7], 0, false),
        parameter("linear.bias", &[3], 0, true),
        parameter("conv.weight", &[4, 2, 3], 1, true),
        parameter("table", &[6, 2], 2, true),
        parameter("tied", &[2, 2], 3, true),
    ])
}

/// Places of the linear layer and of the convolution, tokens of an example.
#[derive(Clone, Copy)]
struct Sizes {
    times: usize,
    places: usize,
    tokens: usize,
}

/// The arrays that a framework would have after its backward pass, for all examples.
struct Pass {
    sizes: Sizes,
    output: Vec<f32>,
    input: Vec<f32>,
    bias: Vec<f32>,
    conv: [Vec<f32>; 2],
    rows: Vec<u32>,
    added: Vec<f32>,
    tied: [Vec<f32>; 3],
}

impl Pass {
    fn new(examples: usize, sizes: Sizes, seed: u64) -> Self {
        let mut bits = SeededForTests::new(seed);
        let mut numbers = |count: usize| (0..count).map(|_| number(&mut bits)).collect::<Vec<f32>>();
        let Sizes { times, places, tokens } = sizes;
        Self {
            output: numbers(examples * times * 3),
            input: numbers(examples * times * 5),
            bias: numbers(examples * 3),
            conv: [numbers(2 * examples * places * 2), numbers(2 * examples * places * 6)],
            added: numbers(examples * tokens * 2),
            tied: [numbers(examples * 2), numbers(examples * 2), numbers(examples * 4)],
            rows: (0..examples * tokens).map(|i| (i * i % 6) as u32).collect(),
            sizes,
        }
    }

    fn terms(&self) -> Vec<Term<'_>> {
        let term = |parameter, form| Term { parameter, form };
        let product = |places, blocks, left, right| Form::Product { places, blocks, left, right };
        vec![
            term(5, product(1, 1, &self.tied[0], &self.tied[1])),
            term(0, product(self.sizes.times, 1, &self.output, &self.input)),
            term(2, Form::Whole(&self.bias)),
            term(3, product(self.sizes.places, 2, &self.conv[0], &self.conv[1])),
            term(4, Form::Rows { rows: &self.rows, added: &self.added }),
            term(5, Form::Whole(&self.tied[2])),
        ]
    }

    /// The gradient of one example.
    fn gradient(&self, example: usize, examples: usize) -> Vec<f64> {
        let layout = layout();
        let Sizes { times, places, tokens } = self.sizes;
        let mut gradient = vec![0.0; layout.gradients()];
        let mut add = |parameter: usize, place: usize, value: f64| {
            gradient[layout.gradient_range(parameter).start + place] += value;
        };
        let entry = |array: &[f32], place: usize| f64::from(array[place]);
        for t in example * times..(example + 1) * times {
            for (i, j) in (0..3).flat_map(|i| (0..5).map(move |j| (i, j))) {
                add(0, i * 5 + j, entry(&self.output, t * 3 + i) * entry(&self.input, t * 5 + j));
            }
        }
        (0..3).for_each(|i| add(2, i, entry(&self.bias, example * 3 + i)));
        for block in 0..2 {
            for t in (block * examples + example) * places..(block * examples + example + 1) * places {
                for (i, j) in (0..2).flat_map(|i| (0..6).map(move |j| (i, j))) {
                    let value = entry(&self.conv[0], t * 2 + i) * entry(&self.conv[1], t * 6 + j);
                    add(3, block * 12 + i * 6 + j, value);
                }
            }
        }
        for t in example * tokens..(example + 1) * tokens {
            (0..2).for_each(|j| add(4, self.rows[t] as usize * 2 + j, entry(&self.added, t * 2 + j)));
        }
        for (i, j) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let product = entry(&self.tied[0], example * 2 + i) * entry(&self.tied[1], example * 2 + j);
            add(5, i * 2 + j, product + entry(&self.tied[2], example * 4 + i * 2 + j));
        }
        gradient
    }
}

/// Units of these sizes over successive examples.
fn selection(sizes: &[usize]) -> Selection {
    let mut selection = Selection::default();
    let mut next = 0;
    for size in sizes {
        selection.push(next..next + size);
        next += size;
    }
    selection
}

fn rules() -> [Option<Clipping>; 5] {
    [
        None,
        Some(Clipping::Flat { norm: 2.0 }),
        Some(Clipping::Flat { norm: 1e3 }),
        Some(Clipping::PerLayer { norm: 1.5 }),
        Some(Clipping::Automatic { norm: 1.0, stability: 0.01 }),
    ]
}

/// The clipped sum of units in double precision.
fn expected(units: &[Vec<f64>], rule: Option<&Clipping>) -> Vec<f64> {
    let layout = layout();
    let mut sum = vec![0.0; layout.gradients()];
    for gradient in units {
        let mut factors = vec![1.0; layout.groups()];
        let mut squares = vec![0.0; layout.groups()];
        for (number, parameter) in layout.parameters().iter().enumerate() {
            squares[parameter.group] +=
                gradient[layout.gradient_range(number)].iter().map(|g| g * g).sum::<f64>();
        }
        if let Some(rule) = rule {
            rule.factors(
                crate::clip::RoundingMargin::SINGLE_PRECISION,
                layout.groups(),
                &squares,
                &mut factors,
            );
        }
        for (number, parameter) in layout.parameters().iter().enumerate() {
            for place in layout.gradient_range(number) {
                sum[place] += f64::from(factors[parameter.group]) * gradient[place];
            }
        }
    }
    sum
}

fn assert_close(found: &[f32], expected: &[f64], what: &str) {
    let length = expected.iter().map(|g| g * g).sum::<f64>().sqrt();
    let apart = found.iter().zip(expected).map(|(f, e)| (f64::from(*f) - e).powi(2)).sum::<f64>().sqrt();
    assert!(apart <= 1e-5 * (1.0 + length), "{what}: {apart:e} beside {length:e}");
}

#[derive(Default)]
struct Listed(Vec<(usize, Vec<f32>)>);

impl UnitTarget for Listed {
    fn add(&mut self, unit: usize, clipped: &[f32]) {
        self.0.push((unit, clipped.to_vec()));
    }
}

#[test]
fn every_way_in_gives_the_same_clipped_sum() {
    let layout = layout();
    let sizes = [
        Sizes { times: 1, places: 1, tokens: 1 },
        Sizes { times: 4, places: 9, tokens: 5 },
        Sizes { times: 30, places: 2, tokens: 1 },
    ];
    for (seed, sizes) in sizes.into_iter().enumerate() {
        for units in [&[1, 1, 1, 1, 1, 1][..], &[2, 0, 1, 3], &[6]] {
            let selection = selection(units);
            let pass = Pass::new(6, sizes, seed as u64);
            let gradients: Vec<Vec<f64>> = (0..selection.units())
                .map(|unit| {
                    let mut sum = vec![0.0; layout.gradients()];
                    for example in selection.unit(unit) {
                        sum.iter_mut().zip(pass.gradient(*example, 6)).for_each(|(s, g)| *s += g);
                    }
                    sum
                })
                .collect();
            for rule in rules() {
                let expected = expected(&gradients, rule.as_ref());
                let what = format!("{units:?} {rule:?}");
                let mut sum = vec![0.0; layout.gradients()];
                let mut sink = ClippedSum::new(&layout, &selection, rule.as_ref(), &mut sum).unwrap();
                sink.units(0..selection.units(), &pass.terms()).unwrap();
                sink.finish().unwrap();
                assert_close(&sum, &expected, &format!("factors {what}"));

                let flat = |unit: usize| gradients[unit].iter().map(|g| *g as f32).collect::<Vec<f32>>();
                let mut sum = vec![0.0; layout.gradients()];
                let mut sink = ClippedSum::new(&layout, &selection, rule.as_ref(), &mut sum).unwrap();
                for unit in (0..selection.units()).rev() {
                    if unit % 2 == 0 {
                        sink.unit(unit, &flat(unit)).unwrap();
                    } else {
                        let flat = flat(unit);
                        let trained = [0, 2, 3, 4, 5].map(|p| &flat[layout.gradient_range(p)]);
                        sink.unit_by_parameter(unit, &trained).unwrap();
                    }
                }
                sink.finish().unwrap();
                assert_close(&sum, &expected, &format!("whole {what}"));

                let mut listed = Listed::default();
                let mut sink = ClippedSum::by_unit(&layout, &selection, rule.as_ref(), &mut listed).unwrap();
                sink.units(0..selection.units(), &pass.terms()).unwrap();
                sink.finish().unwrap();
                let mut sum = vec![0.0; layout.gradients()];
                listed.0.iter().for_each(|(_, own)| sum.iter_mut().zip(own).for_each(|(s, g)| *s += g));
                assert_close(&sum, &expected, &format!("by unit {what}"));
            }
        }
    }
}

#[test]
fn units_that_are_not_finite_add_exactly_nothing() {
    let layout = layout();
    let sizes = Sizes { times: 3, places: 2, tokens: 2 };
    let good = Pass::new(4, sizes, 3);
    let units = selection(&[1, 1, 1, 1]);
    for rule in rules().into_iter().flatten() {
        let sum_of = |pass: &Pass, selection: &Selection| {
            let mut sum = vec![0.0; layout.gradients()];
            let mut sink = ClippedSum::new(&layout, selection, Some(&rule), &mut sum).unwrap();
            sink.units(0..selection.units(), &pass.terms()).unwrap();
            sink.finish().unwrap();
            sum
        };
        let whole = sum_of(&good, &units);
        for odd in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX] {
            for place in 0..8 {
                let mut bad = Pass::new(4, sizes, 3);
                let array = match place {
                    0 => &mut bad.output,
                    1 => &mut bad.input,
                    2 => &mut bad.bias,
                    3 => &mut bad.conv[0],
                    4 => &mut bad.conv[1],
                    5 => &mut bad.added,
                    6 => &mut bad.tied[1],
                    _ => &mut bad.tied[2],
                };
                // The last example's numbers lie at the end of every array.
                let last = array.len() - 1;
                array[last] = odd;
                let sum = sum_of(&bad, &units);
                assert!(sum.iter().all(|g| g.is_finite()), "{odd} at {place}, {rule:?}");
                let moved = sum.iter().zip(&whole).map(|(a, b)| f64::from(a - b).powi(2)).sum::<f64>().sqrt();
                // The unit adds nothing, or at most the norm, where it added at most the norm before.
                assert!(moved <= 2.0 * rule.norm(), "{odd} at {place}, {rule:?}: {moved}");
                if !odd.is_finite() {
                    let three = {
                        let mut sum = vec![0.0; layout.gradients()];
                        let mut sink = ClippedSum::new(&layout, &units, Some(&rule), &mut sum).unwrap();
                        let flat = |e| good.gradient(e, 4).into_iter().map(|g| g as f32).collect::<Vec<_>>();
                        (0..3).for_each(|unit| sink.unit(unit, &flat(unit)).unwrap());
                        sink.unit(3, &vec![odd; layout.gradients()]).unwrap();
                        sink.finish().unwrap();
                        sum.into_iter().map(f64::from).collect::<Vec<_>>()
                    };
                    assert_close(&sum, &three, &format!("{odd} at {place}, {rule:?}"));
                }
            }
        }
    }
}

#[test]
fn what_does_not_fit_is_refused_and_remembered() {
    let layout = layout();
    let selection = selection(&[1, 1, 1]);
    let rule = Clipping::Flat { norm: 1.0 };
    let pass = Pass::new(3, Sizes { times: 2, places: 2, tokens: 2 }, 1);
    let size = layout.gradients();
    let refused = |work: &dyn Fn(&mut ClippedSum<'_>) -> Result<(), GradientError>| {
        let mut sum = vec![0.0; size];
        let mut sink = ClippedSum::new(&layout, &selection, Some(&rule), &mut sum).unwrap();
        let error = work(&mut sink).unwrap_err();
        assert_eq!(sink.finish(), Err(TrainError::Gradient(error.clone())));
        error
    };
    assert_eq!(
        refused(&|sink| sink.unit(3, &vec![0.0; size])),
        GradientError::UnknownUnit { unit: 3, units: 3 }
    );
    let twice = |sink: &mut ClippedSum<'_>| {
        sink.unit(1, &vec![1.0; size])?;
        sink.units(0..3, &pass.terms())
    };
    assert_eq!(refused(&twice), GradientError::RepeatedUnit { unit: 1 });
    assert_eq!(refused(&|sink| sink.units(1..4, &[])), GradientError::UnknownUnit { unit: 3, units: 3 });
    let short = GradientError::Length { what: "the model".to_owned(), given: size - 1, expected: size };
    assert_eq!(refused(&|sink| sink.unit(0, &vec![0.0; size - 1])), short);
    let one =
        |parameter, form| move |sink: &mut ClippedSum<'_>| sink.units(0..3, &[Term { parameter, form }]);
    assert!(matches!(
        refused(&one(2, Form::Whole(&[0.0; 8]))),
        GradientError::Length { given: 8, expected: 9, .. }
    ));
    for parameter in [1, 6] {
        let error = refused(&one(parameter, Form::Whole(&[0.0; 21])));
        assert_eq!(error, GradientError::Untrained { parameter });
    }
    let product = |left, right| Form::Product { places: 1, blocks: 1, left, right };
    let misfit = refused(&one(0, product(&[0.0; 9], &[0.0; 12])));
    assert!(matches!(misfit, GradientError::Factors { left: 9, right: 12, places: 3, size: 15, .. }));
    let row = refused(&one(4, Form::Rows { rows: &[0, 5, 6], added: &[0.0; 6] }));
    assert_eq!(row, GradientError::UnknownRow { parameter: "table".to_owned(), row: 6, rows: 6 });
    assert!(matches!(
        refused(&one(4, Form::Rows { rows: &[0; 3], added: &[0.0; 15] })),
        GradientError::Length { .. }
    ));
    // An error that the model ignores does not pass as success, and a refused unit is not added.
    let mut sum = vec![0.0; size];
    let mut sink = ClippedSum::new(&layout, &selection, None, &mut sum).unwrap();
    sink.unit(0, &vec![1.0; size]).unwrap();
    assert!(sink.unit(0, &vec![1.0; size]).is_err());
    assert!(sink.finish().is_err());
    assert!(sum.iter().all(|g| *g == 1.0));
}

/// A model that hands over what it is told, in another order than asked.
struct Backwards(Layout);

impl Gradients for Backwards {
    fn layout(&self) -> &Layout {
        &self.0
    }

    fn initial_weights(&self) -> Result<Vec<f32>, TrainError> {
        Ok(vec![0.0; self.0.weights()])
    }

    fn check(&self, _: &Examples) -> Result<(), TrainError> {
        Ok(())
    }

    fn gradients(&mut self, _: &[f32], _: &Examples, sink: &mut ClippedSum<'_>) -> Result<(), TrainError> {
        for unit in (1..sink.selection().units()).rev() {
            sink.unit(unit, &vec![1.0; self.0.gradients()])?;
        }
        let _ = sink.unit(1, &[]);
        Ok(())
    }

    fn outputs(&mut self, _: &[f32], _: &Examples, _: &[usize]) -> Result<Vec<f32>, TrainError> {
        Ok(Vec::new())
    }
}

#[test]
fn a_model_that_hides_an_error_gets_no_sum() {
    let mut model = Backwards(layout());
    let examples = Examples::new(&[1], Inputs::Real(vec![0.0; 3]), Targets::Classes(vec![0; 3])).unwrap();
    let weights = vec![0.0; model.0.weights()];
    let sum = |model: &mut Backwards, weights: &[f32], which: Vec<usize>| {
        clipped_sum(model, weights, &examples, &Selection::of_examples(which), None)
    };
    assert!(matches!(
        sum(&mut model, &weights, vec![0, 1]),
        Err(TrainError::Gradient(GradientError::RepeatedUnit { unit: 1 }))
    ));
    assert!(matches!(sum(&mut model, &weights[1..], vec![0]), Err(TrainError::Shape(_))));
    assert!(matches!(sum(&mut model, &weights, vec![3]), Err(TrainError::Shape(_))));
    assert_eq!(sum(&mut model, &weights, vec![]), Ok(vec![0.0; model.0.gradients()]));
}

#[test]
fn a_long_factor_beside_zeros_does_not_overflow() {
    // The gradient is 0, so the factor of automatic clipping is far above 1, and it multiplies one of the two sides.
    let huge = [f32::MAX, 1e30, 1e20];
    let own = Layout::new(vec![Parameter {
        name: "linear.weight".to_owned(),
        shape: vec![3, 2],
        group: 0,
        trainable: true,
    }]);
    for stability in [0.01, 1e-9] {
        let rule = Clipping::Automatic { norm: 1e9, stability };
        for places in [1, 2] {
            let (long, zero) = (huge.repeat(places), vec![0.0; 2 * places]);
            let (short, nothing) = (vec![f32::MAX; 2 * places], vec![0.0; 3 * places]);
            for (left, right) in [(&long, &zero), (&nothing, &short)] {
                let selection = Selection::of_examples(vec![0]);
                let mut sum = [0.0; 6];
                let mut sink = ClippedSum::new(&own, &selection, Some(&rule), &mut sum).unwrap();
                let form = Form::Product { places, blocks: 1, left, right };
                sink.units(0..1, &[Term { parameter: 0, form }]).unwrap();
                sink.finish().unwrap();
                assert_eq!(sum, [0.0; 6], "{left:?} {right:?} {rule:?}");
            }
        }
    }
}
