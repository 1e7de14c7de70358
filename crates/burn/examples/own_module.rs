//! Trains a module of one's own privately: `cargo run --release -p reticent-burn --example own_module`.
//!
//! The module is an ordinary Burn module. What makes it trainable with a guarantee is that the layers with parameters are
//! called through `taps`.

use burn::module::Module;
use burn::nn::{LayerNorm, LayerNormConfig, Linear, LinearConfig};
use burn::tensor::Tensor;
use burn::tensor::activation::{gelu, tanh};
use burn::tensor::backend::Backend;
use reticent_burn::{BurnModel, Cpu, ModuleInput, PrivateModule, Taps};
use reticent_core::{Delta, Epsilon, Guarantee, Neighboring};
use reticent_noise::NoiseSession;
use reticent_train::{
    Clipping, Examples, Inputs, OptimizerSettings, PlanSettings, PrivacyPlan, Recipe, Resources, Schedule,
    Targets, Trainer, Units, model_engine,
};
use std::error::Error;
use std::sync::Arc;

/// A residual network of two blocks.
#[derive(Module, Debug)]
struct Residual<B: Backend> {
    enter: Linear<B>,
    blocks: Vec<Block<B>>,
    leave: Linear<B>,
}

#[derive(Module, Debug)]
struct Block<B: Backend> {
    norm: LayerNorm<B>,
    wide: Linear<B>,
    narrow: Linear<B>,
}

impl<B: Backend> Residual<B> {
    fn new(inputs: usize, width: usize, classes: usize, device: &B::Device) -> Self {
        let block = |_| Block {
            norm: LayerNormConfig::new(width).init(device),
            wide: LinearConfig::new(width, 2 * width).init(device),
            narrow: LinearConfig::new(2 * width, width).init(device),
        };
        Self {
            enter: LinearConfig::new(inputs, width).init(device),
            blocks: (0..2).map(block).collect(),
            leave: LinearConfig::new(width, classes).init(device),
        }
    }
}

impl<B: Backend> PrivateModule<B> for Residual<B> {
    type Inputs = Tensor<B, 2>;

    fn forward(&self, inputs: Tensor<B, 2>, taps: &mut Taps<B>) -> Tensor<B, 2> {
        let mut state = tanh(taps.linear(&self.enter, inputs));
        for block in &self.blocks {
            let inner = taps.layer_norm(&block.norm, state.clone());
            let inner = gelu(taps.linear(&block.wide, inner));
            state = state + taps.linear(&block.narrow, inner);
        }
        taps.linear(&self.leave, state)
    }
}

/// Points on three arms of a spiral.
fn spiral(count: usize, shift: f64) -> Result<Examples, Box<dyn Error>> {
    let spread = |i: usize, step: f64| ((i as f64 + shift) * step).fract();
    let (mut points, mut arms) = (Vec::new(), Vec::new());
    for i in 0..count {
        let arm = i % 3;
        let radius = spread(i, 2f64.sqrt());
        let angle = 3.0 * radius + arm as f64 * 2.0944 + 0.3 * (spread(i, 3f64.sqrt()) - 0.5);
        points.extend([(radius * angle.cos()) as f32, (radius * angle.sin()) as f32]);
        arms.push(arm as u32);
    }
    Ok(Examples::new(&[2], Inputs::Real(points), Targets::Classes(arms))?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let (private, public) = (spiral(6000, 0.0)?, spiral(600, 0.5)?);
    let module = Residual::<Cpu>::new(2, 32, 3, &Default::default());
    let model = BurnModel::tapped(module, ModuleInput::Numbers(vec![2]))?;
    let engine = model_engine(Box::new(model), Resources::default())?;

    let settings = PlanSettings {
        neighboring: Neighboring::AddRemove,
        unit: "example".to_owned(),
        size: 6000,
        sampling_rate: 0.05,
        steps: 300,
        clipping: Clipping::Flat { norm: 1.0 },
        dimension: engine.layout().gradients(),
        cyclic: None,
        growth: None,
    };
    let budget = Guarantee { epsilon: Epsilon::new(3.0)?, delta: Delta::new(1e-5)? };
    let plan = PrivacyPlan::target(settings, budget)?;
    let recipe = Recipe {
        optimizer: OptimizerSettings::Sgd { momentum: 0.9, nesterov: false, weight_decay: 0.0 },
        schedule: Schedule::constant(0.2),
        average: None,
        denoise: None,
    };
    let units = Units::examples(private.len());
    // The points are drawn above and belong to nobody: no budget limits what is learnt about them.
    let mut session = NoiseSession::without_limit("example", Neighboring::AddRemove)?;
    let permit = plan.charge(&mut session)?;
    let mut trainer = Trainer::private(engine, Arc::new(private), units, plan, recipe, permit)?;
    while !trainer.is_finished() {
        let progress = trainer.step()?;
        if progress.taken % 100 == 0 {
            let accuracy = trainer.evaluate(&public)?.accuracy.unwrap_or(f64::NAN);
            let spent = trainer.spent()?.map_or(f64::INFINITY, |epsilon| epsilon.get());
            println!("step {}: accuracy on public points {accuracy:.3}, epsilon {spent:.3}", progress.taken);
        }
    }
    if let Some(certificate) = trainer.certificate()? {
        println!("{certificate:?}");
    }
    Ok(())
}
