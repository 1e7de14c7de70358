//! A module's parameters as one vector of weights with stable names.

use super::backend::{
    AutodiffBackend, Backend, Device, Module, ModuleMapper, ModuleVisitor, Param, ParamId, Tensor, TensorData,
};
use reticent_noise::entropy::{Bits, Entropy};
use reticent_train::{Layout, Parameter, TrainError};
use std::collections::HashMap;
use std::ops::Range;

/// What is known of a module's parameters before they are touched.
struct Survey<B: Backend> {
    path: Vec<String>,
    /// Names and identities, in order.
    found: Vec<(String, ParamId)>,
    device: Option<Device<B>>,
    /// Whether a parameter waits to be drawn.
    lazy: bool,
    refused: Option<TrainError>,
}

impl<B: Backend> ModuleVisitor<B> for Survey<B> {
    fn enter_module(&mut self, name: &str, container: &str) {
        if container == "Struct:BatchNorm" && self.refused.is_none() {
            let layer = if self.path.is_empty() { "BatchNorm".to_owned() } else { self.path.join(".") };
            let why = "BatchNorm mixes the examples of a batch and keeps their averages, so no example has a gradient of \
                       its own and the averages are released without protection: use GroupNorm";
            self.refused = Some(TrainError::Layer { layer, why: why.to_owned() });
        }
        self.path.push(name.to_owned());
    }

    fn exit_module(&mut self, _name: &str, _container: &str) {
        self.path.pop();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<B, D>>) {
        self.found.push((self.path.join("."), param.id));
        self.device.get_or_insert_with(|| param.lazy_device());
        self.lazy |= !param.is_initialized();
    }
}

/// Draws what waits to be drawn, notes all values and which parameters are trained, and stops tracking them.
struct Settle {
    values: Vec<(ParamId, Vec<usize>, Vec<f32>, bool)>,
    refused: Option<String>,
}

impl<B: Backend> ModuleMapper<B> for Settle {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<B, D>>) -> Param<Tensor<B, D>> {
        let (id, tensor, mapper) = param.consume();
        let trained = tensor.is_require_grad();
        let tensor = tensor.set_require_grad(false);
        match tensor.clone().try_into_data().map_err(|e| format!("{e:?}")).map(TensorData::into_vec::<f32>) {
            Ok(Ok(values)) => self.values.push((id, tensor.dims().to_vec(), values, trained)),
            Ok(Err(_)) => {
                self.refused =
                    Some("its numbers are not of 32 bits: build the module on a back end of f32".to_owned());
            }
            Err(error) => self.refused = Some(error),
        }
        Param::from_mapped_value(id, tensor, mapper)
    }
}

/// A module with the names and places of its weights.
#[derive(Debug)]
pub(crate) struct Settled<B: Backend, M> {
    /// The module; its parameters are not tracked.
    pub(crate) module: M,
    pub(crate) layout: Layout,
    pub(crate) weights: Vec<f32>,
    /// The numbers of all parameters in the layout.
    pub(crate) numbers: HashMap<ParamId, usize>,
    pub(crate) device: Device<B>,
}

/// Reads a module. Parameters that have no value yet get one from the module's own initialisers, with Burn's generator
/// seeded by the operating system.
pub(crate) fn settle<B: Backend, M: Module<B>>(module: M) -> Result<Settled<B, M>, TrainError> {
    let mut survey =
        Survey::<B> { path: Vec::new(), found: Vec::new(), device: None, lazy: false, refused: None };
    module.visit(&mut survey);
    if let Some(refused) = survey.refused {
        return Err(refused);
    }
    let Some(device) = survey.device else {
        return Err(TrainError::Layer {
            layer: "module".to_owned(),
            why: "it has no parameters: add a layer to train".to_owned(),
        });
    };
    let mut numbers = HashMap::new();
    for (number, (name, id)) in survey.found.iter().enumerate() {
        if let Some(first) = numbers.insert(*id, number) {
            let why = format!(
                "it is a clone of {}, and clones of a parameter are not tied in Burn: keep one field and use it \
                 twice, or make each layer from its configuration",
                survey.found[first].0
            );
            return Err(TrainError::Layer { layer: name.clone(), why });
        }
    }
    if survey.lazy {
        B::seed(&device, Entropy::new()?.word());
    }
    let mut settle = Settle { values: Vec::new(), refused: None };
    let module = module.map(&mut settle);
    if let Some(why) = settle.refused {
        return Err(TrainError::Layer { layer: "module".to_owned(), why });
    }
    let mut groups: HashMap<&str, usize> = HashMap::new();
    let (mut parameters, mut weights) = (Vec::new(), Vec::new());
    for ((name, id), (mapped, shape, values, trainable)) in survey.found.iter().zip(settle.values) {
        if *id != mapped {
            let why = "the module maps its parameters in another order than it visits them".to_owned();
            return Err(TrainError::Layer { layer: name.clone(), why });
        }
        let layer = name.rsplit_once('.').map_or("", |(layer, _)| layer);
        let next = groups.len();
        let group = if trainable { *groups.entry(layer).or_insert(next) } else { 0 };
        weights.extend_from_slice(&values);
        parameters.push(Parameter { name: name.clone(), shape, group, trainable });
    }
    Ok(Settled { module, layout: Layout::new(parameters), weights, numbers, device })
}

/// Puts weights into a module.
pub(crate) struct Load<'a> {
    pub(crate) layout: &'a Layout,
    pub(crate) numbers: &'a HashMap<ParamId, usize>,
    pub(crate) weights: &'a [f32],
    /// Whether the trained parameters are tracked.
    pub(crate) tracked: bool,
}

impl<B: Backend> ModuleMapper<B> for Load<'_> {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<B, D>>) -> Param<Tensor<B, D>> {
        let device = param.device();
        let (id, tensor, mapper) = param.consume();
        let Some(&number) = self.numbers.get(&id) else {
            return Param::from_mapped_value(id, tensor, mapper);
        };
        let parameter = &self.layout.parameters()[number];
        let values = self.weights[self.layout.weight_range(number)].to_vec();
        let tensor = Tensor::from_data(TensorData::new(values, parameter.shape.clone()), &device);
        let tracked = self.tracked && parameter.trainable;
        Param::from_mapped_value(id, tensor.set_require_grad(tracked), mapper)
    }
}

/// Adds the gradients of tracked parameters to a vector.
pub(crate) struct Collect<'a, B: AutodiffBackend> {
    pub(crate) layout: &'a Layout,
    pub(crate) numbers: &'a HashMap<ParamId, usize>,
    pub(crate) gradients: &'a B::Gradients,
    pub(crate) into: &'a mut [f32],
    pub(crate) failed: Option<TrainError>,
}

impl<B: AutodiffBackend> ModuleVisitor<B> for Collect<'_, B> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<B, D>>) {
        let Some(&number) = self.numbers.get(&param.id) else { return };
        let range = self.layout.gradient_range(number);
        if let (false, Some(gradient)) = (range.is_empty(), param.grad(self.gradients))
            && let Err(error) = add(gradient.try_into_data(), range, self.into)
        {
            self.failed = Some(error);
        }
    }
}

/// Adds numbers that come from a device.
pub(crate) fn add<E: std::fmt::Debug>(
    data: Result<TensorData, E>,
    range: Range<usize>,
    into: &mut [f32],
) -> Result<(), TrainError> {
    for (place, number) in into[range].iter_mut().zip(numbers(data)?) {
        *place += number;
    }
    Ok(())
}

/// The numbers of a tensor that comes from a device.
pub(crate) fn numbers<E: std::fmt::Debug>(data: Result<TensorData, E>) -> Result<Vec<f32>, TrainError> {
    let data = data.map_err(|error| TrainError::Device(format!("{error:?}")))?;
    data.into_vec().map_err(|error| TrainError::Device(format!("{error:?}")))
}
