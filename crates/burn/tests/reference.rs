//! A loop of one-example backward passes over Burn's own losses, and made-up examples.

use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::Tensor;
use burn::tensor::activation::log_softmax;
use burn::tensor::backend::AutodiffBackend;
use reticent_burn::{Batch, BatchValues, BurnModel, Cpu, ModuleInput, Taps, Trainable};
use reticent_noise::entropy::{Bits, SeededForTests};
use reticent_train::gradients::clipped_sum;
use reticent_train::{Clipping, Examples, Gradients, Inputs, Selection, Targets};

/// A number between -1 and 1.
pub(crate) fn number(bits: &mut SeededForTests) -> f32 {
    (bits.word() >> 40) as f32 / (1u64 << 23) as f32 - 1.0
}

/// Examples for a module of this many scores; one score means numbers.
pub(crate) fn examples(accepts: &ModuleInput, count: usize, scores: usize, seed: u64) -> Examples {
    let mut bits = SeededForTests::new(seed);
    let (shape, inputs) = match accepts {
        ModuleInput::Numbers(shape) => {
            let size = count * shape.iter().product::<usize>();
            (shape.clone(), Inputs::Real((0..size).map(|_| number(&mut bits)).collect()))
        }
        ModuleInput::Tokens { length, vocabulary } => {
            let token = |bits: &mut SeededForTests| (bits.word() % *vocabulary as u64) as u32;
            (vec![*length], Inputs::Tokens((0..count * length).map(|_| token(&mut bits)).collect()))
        }
    };
    let targets = if scores == 1 {
        Targets::Numbers((0..count).map(|_| number(&mut bits)).collect())
    } else {
        Targets::Classes((0..count).map(|_| (bits.word() % scores as u64) as u32).collect())
    };
    Examples::new(&shape, inputs, targets).unwrap()
}

struct Flat<'a, B: AutodiffBackend> {
    gradients: &'a B::Gradients,
    flat: Vec<f64>,
}

impl<B: AutodiffBackend> ModuleVisitor<B> for Flat<'_, B> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<B, D>>) {
        let size = param.val().shape().num_elements();
        match param.val().grad(self.gradients) {
            Some(gradient) => {
                self.flat.extend(gradient.into_data().to_vec::<f32>().unwrap().into_iter().map(f64::from));
            }
            None => self.flat.extend(std::iter::repeat_n(0.0, size)),
        }
    }
}

/// The gradient of one example's loss, with a backward pass of Burn's own.
pub(crate) fn gradient<M: Trainable<Cpu>>(
    module: &M,
    accepts: &ModuleInput,
    examples: &Examples,
    example: usize,
) -> Vec<f64> {
    let device = Default::default();
    let size = examples.size();
    let mut shape = vec![1];
    shape.extend_from_slice(examples.shape());
    let values = match (accepts, examples.inputs()) {
        (ModuleInput::Tokens { .. }, Inputs::Tokens(ids)) => BatchValues::Tokens(
            ids[example * size..(example + 1) * size].iter().map(|id| i64::from(*id)).collect(),
        ),
        _ => {
            let mut numbers = vec![0.0; size];
            examples.read(example, &mut numbers);
            BatchValues::Numbers(numbers)
        }
    };
    let scores = module.forward(M::Inputs::new(values, shape, &device), &mut Taps::off());
    let loss = match examples.targets() {
        Targets::Classes(classes) => {
            let class = classes[example] as usize;
            -log_softmax(scores, 1).slice([0..1, class..class + 1]).sum()
        }
        Targets::Numbers(numbers) => (scores - numbers[example]).square().sum() / 2.0,
        Targets::Next(_) => panic!("modules have no next tokens"),
    };
    let gradients = loss.backward();
    let mut flat = Flat::<Cpu> { gradients: &gradients, flat: Vec::new() };
    module.visit(&mut flat);
    flat.flat
}

/// The relative distance of two vectors.
pub(crate) fn distance(one: &[f32], two: &[f64]) -> f64 {
    assert_eq!(one.len(), two.len());
    let norm = |numbers: &mut dyn Iterator<Item = f64>| numbers.map(|x| x * x).sum::<f64>().sqrt();
    let apart = norm(&mut one.iter().zip(two).map(|(a, b)| f64::from(*a) - b));
    apart / norm(&mut two.iter().copied()).max(1e-12)
}

/// The model's clipped sum.
pub(crate) fn clipped<M: Trainable<Cpu>>(
    model: &mut BurnModel<Cpu, M>,
    examples: &Examples,
    selection: &Selection,
    clipping: Option<&Clipping>,
) -> Vec<f32> {
    let weights = model.initial_weights().unwrap();
    clipped_sum(model, &weights, examples, selection, clipping).unwrap()
}

/// Draws a module's weights, so that copies of it agree.
pub(crate) fn drawn<M: Module<Cpu>>(module: M) -> M {
    assert!(module.num_params() > 0);
    module
}
