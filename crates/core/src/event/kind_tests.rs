//! Every kind has a name, a key and a JSON form.

use super::*;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Numbers that are easily taken for each other.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        prop::sample::select(vec![0.0, -0.0, 1.0, 0.5, f64::MIN_POSITIVE, 0.1 + 0.2, 0.3]),
        0.0..1.0f64,
    ]
}

/// Counts that are easily taken for each other, and for the words of numbers.
fn whole() -> impl Strategy<Value = u64> {
    prop_oneof![0u64..4, Just(u64::MAX), Just(1.0f64.to_bits())]
}

fn noise() -> impl Strategy<Value = NoiseMultiplier> {
    number().prop_filter_map("a multiplier is positive", |value| NoiseMultiplier::new(value).ok())
}

fn leaf() -> impl Strategy<Value = Event> {
    let epsilon = || number().prop_map(|value| Epsilon::new(value).unwrap());
    let delta = number().prop_filter_map("δ is below 1", |value| Delta::new(value).ok());
    let moved = number().prop_filter_map("it is positive", |value| Sensitivity::new(value).ok());
    let numbers = || prop::collection::vec(number(), 0..3);
    prop_oneof![
        noise().prop_map(|noise_multiplier| Event::Gaussian { noise_multiplier }),
        noise().prop_map(|noise_multiplier| Event::ClippedSum { noise_multiplier }),
        noise().prop_map(|noise_multiplier| Event::Laplace { noise_multiplier }),
        (number(), whole()).prop_map(|(keep, categories)| Event::RandomizedResponse {
            keep_probability: Probability::new(keep).unwrap(),
            categories,
        }),
        epsilon().prop_map(|epsilon| Event::Exponential { epsilon }),
        (noise(), prop::option::of(moved)).prop_map(|(noise_multiplier, sensitivity)| {
            Event::DiscreteGaussian { noise_multiplier, sensitivity }
        }),
        (noise(), prop::option::of(whole())).prop_map(|(noise_multiplier, sensitivity)| {
            Event::DiscreteLaplace { noise_multiplier, sensitivity }
        }),
        (noise(), whole()).prop_map(|(noise_multiplier, degrees_of_freedom)| {
            Event::StudentT { noise_multiplier, degrees_of_freedom }
        }),
        (noise(), whole(), numbers(), prop::collection::vec(whole(), 0..3)).prop_map(
            |(noise_multiplier, degrees_of_freedom, levels, counts)| Event::EncodedStudentT {
                noise_multiplier,
                degrees_of_freedom,
                levels,
                counts,
            }
        ),
        epsilon().prop_map(|epsilon| Event::Pure { epsilon }),
        (epsilon(), delta).prop_map(|(epsilon, delta)| Event::Approximate { epsilon, delta }),
        number().prop_map(|value| Event::Zcdp { rho: Rho::new(value).unwrap() }),
        (number(), epsilon())
            .prop_map(|(gap, epsilon)| Event::Rdp { order: Order::new(1.0 + gap).unwrap(), epsilon }),
        number().prop_map(|value| Event::Gdp { mu: Mu::new(value).unwrap() }),
        (numbers(), numbers(), noise()).prop_map(|(sensitivities, probabilities, noise_multiplier)| {
            Event::MixtureOfGaussians { sensitivities, probabilities, noise_multiplier }
        }),
        (noise(), whole())
            .prop_map(|(noise_multiplier, steps)| Event::TreeAggregation { noise_multiplier, steps }),
    ]
}

fn tree() -> impl Strategy<Value = Event> {
    leaf().prop_recursive(3, 8, 3, |inner| {
        let one = || inner.clone().prop_map(Box::new);
        let rate = || number().prop_map(|value| SamplingRate::new(value).unwrap());
        let shape = prop_oneof![number(), Just(f64::INFINITY)];
        prop_oneof![
            (rate(), one()).prop_map(|(rate, event)| Event::PoissonSampled { rate, event }),
            (whole(), whole(), one()).prop_map(|(dataset_size, batch_size, event)| {
                Event::SampledWithoutReplacement { dataset_size, batch_size, event }
            }),
            (whole(), one()).prop_map(|(count, event)| Event::Repeated { count, event }),
            (whole(), rate(), whole(), one()).prop_map(|(dataset_size, rate, max_batch, event)| {
                Event::TruncatedPoisson { dataset_size, rate, max_batch, event }
            }),
            (whole(), whole(), one()).prop_map(|(steps_per_epoch, epochs, event)| Event::Shuffled {
                steps_per_epoch,
                epochs,
                event
            }),
            (whole(), whole(), one()).prop_map(|(bins, epochs, event)| Event::BallsInBins {
                bins,
                epochs,
                event
            }),
            (number(), shape, one()).prop_map(|(mean, shape, event)| Event::RepeatAndSelect {
                mean,
                shape,
                event
            }),
            prop::collection::vec(inner.clone(), 0..3).prop_map(|events| Event::Composed { events }),
            prop::collection::vec(inner, 0..3).prop_map(|events| Event::Parallel { events }),
        ]
    })
}

/// The same event with a number changed to its neighbour, at a place.
fn nudged(event: &Event, place: usize) -> Event {
    let mut twin = event.clone();
    let mut left = place;
    twin.turn_knobs(&mut |knob| {
        if left == 0 {
            match knob {
                Knob::Noise(noise) => *noise = NoiseMultiplier::new(noise.get().next_up()).unwrap(),
                Knob::Rate(rate) => *rate = SamplingRate::new(1.0 - 0.5 * rate.get()).unwrap(),
            }
        }
        left = left.wrapping_sub(1);
    });
    twin
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn keys_are_equal_where_events_are(one in tree(), other in tree(), place in 0usize..3) {
        prop_assert_eq!(one.key() == other.key(), one == other, "{:?} {:?}", one, other);
        let twin = nudged(&one, place);
        prop_assert_eq!(one.key() == twin.key(), one == twin, "{:?} {:?}", one, twin);
        prop_assert_eq!(one.key(), one.clone().key());
        let same = one.try_map(&mut |inner| Ok::<_, ()>(inner.clone())).unwrap();
        prop_assert_eq!(&same, &one);
        let nested = Event::Composed { events: vec![one.clone(), other.clone()] };
        let swapped = Event::Composed { events: vec![other.clone(), one.clone()] };
        prop_assert_eq!(nested.key() == swapped.key(), one == other);
    }

    #[test]
    fn every_event_survives_json(event in tree()) {
        let text = serde_json::to_string(&event).unwrap();
        let back: Event = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(&back, &event);
        prop_assert_eq!(back.key(), event.key());
        prop_assert!(text.starts_with(&format!("{{\"{}\":", event.name())), "{}", text);
        match read(&text) {
            Ok(listed) => prop_assert_eq!(listed.events, vec![event]),
            Err(problem) => prop_assert!(event.validate().is_err(), "{}: {}", text, problem),
        }
    }

    #[test]
    fn the_walk_meets_every_event_once(event in tree()) {
        fn all<'a>(event: &'a Event, found: &mut Vec<&'a Event>) {
            found.push(event);
            event.children().iter().for_each(|child| all(child, found));
        }
        let mut expected = Vec::new();
        all(&event, &mut expected);
        prop_assert_eq!(event.walk().collect::<Vec<_>>(), expected);
    }
}

#[test]
fn zero_has_one_key() {
    let pure = |value: f64| Event::Pure { epsilon: Epsilon::new(value).unwrap() };
    assert_eq!(pure(0.0), pure(-0.0));
    assert_eq!(pure(0.0).key(), pure(-0.0).key());
}

/// Random trees hold every kind of the list, so that what is tested of them is tested of all kinds.
#[test]
fn every_kind_is_met_with_its_own_name_and_key() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut names, mut keys) = (BTreeSet::new(), BTreeMap::new());
    for _ in 0..2000 {
        let tree = tree().new_tree(&mut runner).unwrap().current();
        for event in tree.walk() {
            names.insert(event.name());
            let known = keys.entry(event.key()).or_insert_with(|| event.clone());
            assert_eq!(known, event);
        }
    }
    let list: Vec<&str> = Event::KINDS.iter().map(|shape| shape.name).collect();
    assert_eq!(names, list.iter().copied().collect());
    assert_eq!(names.len(), list.len(), "a name is there twice");
}

/// A visitor that answers with the name of the method that was called.
struct Named;

macro_rules! named {
    ($($name:ident $Kind:ident,)*) => {
        impl Visitor for Named {
            type Output = &'static str;
            $(fn $name(self, _: kind::$Kind<'_>) -> &'static str {
                stringify!($name)
            })*
        }
    };
}
event_kinds!(named);

proptest! {
    #[test]
    fn a_visitor_meets_the_kind_that_it_is(event in tree()) {
        prop_assert_eq!(event.visit(Named), event.name());
    }
}
