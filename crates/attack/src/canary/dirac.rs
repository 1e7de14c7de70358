use crate::AttackError;
use reticent_data::keyed_hash;
use reticent_noise::entropy::Repeatable;
use reticent_train::engine::{Background, EngineState, FixedSum};
use reticent_train::noise::StepNoise;
use reticent_train::optimizer::StepInput;
use reticent_train::{
    Clipping, Engine, Examples, Layout, Recipe, RoundingMargin, Selection, TrainError, Weights,
};

/// The length of a canary's gradient over the clipping norm: so long that every clipping rule brings it to all but a
/// 10⁻⁶th of what it lets through, within the rounding margin of the rule.
const LENGTH: f64 = 1e6;

/// A network in which the examples from a certain one on are canaries: the gradient of each is zero but for one
/// coordinate of its own, and clipped like any other.
///
/// # Guarantee
/// The contract of [`Engine::sum`] holds: a canary's vector depends on its own number alone, and its factor is the
/// clipping rule's. Under flat and automatic clipping it adds all but a thousandth of C at its coordinate; under clipping
/// by layer C/√(number of layers), since only one layer has any of it; encoded, the largest magnitude of the profile.
///
/// # Reference
/// Nasr et al., *Adversary instantiation* (2021), and Steinke, Nasr, Jagielski, *Privacy auditing with one (1) training
/// run* (2023), for gradient canaries.
pub struct Dirac {
    inner: Box<dyn Engine>,
    ordinary: usize,
    /// Where the gradient of each canary in the data is not zero, and the group of that place.
    places: Vec<(usize, usize)>,
    plain: Selection,
}

impl Dirac {
    /// The network with canaries at these coordinates of the gradient, the first being the example with the number
    /// `ordinary`.
    ///
    /// # Errors
    /// [`AttackError::Invalid`] for a coordinate that is not there.
    pub fn new(inner: Box<dyn Engine>, ordinary: usize, coordinates: &[usize]) -> Result<Self, AttackError> {
        let layout = inner.layout();
        let group = |coordinate: usize| {
            let parameters = layout.parameters().iter().enumerate();
            let mut owner =
                parameters.filter(|(place, _)| layout.gradient_range(*place).contains(&coordinate));
            owner.next().map(|(_, parameter)| (coordinate, parameter.group)).ok_or_else(|| {
                let remedy = format!("give a number below {}", layout.gradients());
                AttackError::invalid("coordinate", coordinate, remedy)
            })
        };
        let places = coordinates.iter().map(|coordinate| group(*coordinate)).collect::<Result<_, _>>()?;
        Ok(Self { inner, ordinary, places, plain: Selection::default() })
    }

    /// Coordinates of the gradient for so many canaries, no two the same, by a key.
    ///
    /// # Errors
    /// [`AttackError::Invalid`] when the network has fewer trained weights.
    pub fn coordinates(layout: &Layout, count: usize, key: &str) -> Result<Vec<usize>, AttackError> {
        if count > layout.gradients() {
            let remedy = format!("give at most {}, the number of trained weights", layout.gradients());
            return Err(AttackError::invalid("canaries", count, remedy));
        }
        let hash = |place: usize| keyed_hash(key, format!("coordinate {place}").as_bytes());
        let mut order: Vec<(u64, usize)> =
            (0..layout.gradients()).map(|place| (hash(place), place)).collect();
        order.sort_unstable();
        Ok(order.into_iter().take(count).map(|(_, place)| place).collect())
    }

    /// Where a coordinate of the gradient lies among the weights.
    pub fn weight_of(layout: &Layout, coordinate: usize) -> Option<usize> {
        (0..layout.parameters().len()).find_map(|parameter| {
            let range = layout.gradient_range(parameter);
            range
                .contains(&coordinate)
                .then(|| layout.weight_range(parameter).start + coordinate - range.start)
        })
    }
}

impl Engine for Dirac {
    fn sum(
        &mut self,
        examples: &Examples,
        selection: &Selection,
        clipping: Option<&Clipping>,
        background: Background<'_>,
    ) -> Result<(), TrainError> {
        let groups = self.inner.layout().groups();
        let refused = |why: &str| Err(TrainError::Shape(why.to_owned()));
        let Some(clipping) = clipping else {
            return refused("gradient canaries have the clipping norm's length: train with a plan");
        };
        clipping.check()?;
        self.plain.clear();
        let mut canaries = Vec::new();
        for unit in 0..selection.units() {
            match selection.unit(unit) {
                [one] if *one >= self.ordinary => match self.places.get(one - self.ordinary) {
                    Some(place) => canaries.push(*place),
                    None => return refused("the selection names a canary that is not there"),
                },
                several if several.iter().all(|example| *example < self.ordinary) => {
                    self.plain.push(several.iter().copied());
                }
                _ => return refused("a gradient canary is a unit by itself: train with examples as units"),
            }
        }
        self.inner.sum(examples, &self.plain, Some(clipping), background)?;
        let (length, margin) = (LENGTH * clipping.norm(), self.inner.rounding_margin());
        let (mut squares, mut factors) = (vec![0.0; groups], vec![0.0; groups]);
        let mut added = Vec::with_capacity(canaries.len());
        for (coordinate, group) in canaries {
            if let Some(profile) = clipping.profile() {
                added.push((coordinate, profile.largest_down()));
                continue;
            }
            squares.fill(0.0);
            squares[group] = length * length;
            clipping.factors(margin, groups, &squares, &mut factors);
            if factors[group] != 0.0 {
                added.push((coordinate, length as f32 * factors[group]));
            }
        }
        self.inner.add_to_sum(&added)
    }

    fn fixed_sum(
        &mut self,
        _: &Examples,
        _: &Selection,
        _: &Clipping,
        _: &mut FixedSum,
    ) -> Result<(), TrainError> {
        Err(TrainError::Shape("gradient canaries are for training in one process".to_owned()))
    }

    fn layout(&self) -> &Layout {
        self.inner.layout()
    }

    fn rounding_margin(&self) -> RoundingMargin {
        self.inner.rounding_margin()
    }

    fn separates_units(&self) -> bool {
        self.inner.separates_units()
    }

    fn draws_noise(&self) -> bool {
        self.inner.draws_noise()
    }

    fn draw_noise(&mut self, noise: &mut StepNoise) -> Result<(), TrainError> {
        self.inner.draw_noise(noise)
    }

    fn initial_weights(&self) -> Result<Vec<f32>, TrainError> {
        self.inner.initial_weights()
    }

    fn repeatable_weights(&self, bits: &mut Repeatable) -> Result<Vec<f32>, TrainError> {
        self.inner.repeatable_weights(bits)
    }

    fn check(&self, examples: &Examples) -> Result<(), TrainError> {
        self.inner.check(examples)
    }

    fn begin(&mut self, recipe: &Recipe) -> Result<(), TrainError> {
        self.inner.begin(recipe)
    }

    fn load_weights(&mut self, weights: &[f32]) -> Result<(), TrainError> {
        self.inner.load_weights(weights)
    }

    fn read_weights(&mut self, which: Weights) -> Result<Vec<f32>, TrainError> {
        self.inner.read_weights(which)
    }

    fn read_sum(&mut self) -> Result<Vec<f32>, TrainError> {
        self.inner.read_sum()
    }

    fn load_sum(&mut self, sum: &[f32]) -> Result<(), TrainError> {
        self.inner.load_sum(sum)
    }

    fn add_to_sum(&mut self, added: &[(usize, f32)]) -> Result<(), TrainError> {
        self.inner.add_to_sum(added)
    }

    fn add_noise(&mut self, noise: &mut StepNoise) -> Result<(), TrainError> {
        self.inner.add_noise(noise)
    }

    fn update(&mut self, input: StepInput) -> Result<(), TrainError> {
        self.inner.update(input)
    }

    fn read_state(&mut self) -> Result<EngineState, TrainError> {
        self.inner.read_state()
    }

    fn load_state(&mut self, state: EngineState) -> Result<(), TrainError> {
        self.inner.load_state(state)
    }

    fn outputs(
        &mut self,
        weights: Weights,
        examples: &Examples,
        which: &[usize],
    ) -> Result<Vec<f32>, TrainError> {
        self.inner.outputs(weights, examples, which)
    }
}
