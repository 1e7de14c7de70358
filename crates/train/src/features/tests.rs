use super::*;
use crate::describe::{LayerKind, MOST_NUMBERS};
use crate::{Targets, engine};
use serde::Deserialize;

#[derive(Deserialize)]
struct Case {
    height: usize,
    width: usize,
    scales: usize,
    orientations: usize,
    image: Vec<f32>,
    shape: Vec<usize>,
    every: usize,
    features: Vec<f32>,
}

/// Made by `scattering.py` beside it.
const VECTORS: &str = include_str!("../../tests/vectors/scattering.json");

fn scatternet(scales: usize, orientations: usize, groups: Option<usize>) -> FixedFeatures {
    FixedFeatures::Scatternet { scales, orientations, groups }
}

fn network(input: &[usize], features: FixedFeatures) -> Description {
    let linear = LayerKind::Linear { out: 2, bias: true };
    Description::reading(input).with_features(features).then(LayerKind::Flatten).then(linear)
}

fn of(description: &Description, images: &[Vec<f32>]) -> Vec<f32> {
    let targets = Targets::Classes(vec![0; images.len()]);
    let raw = Examples::new(&description.input, Inputs::Real(images.concat()), targets).unwrap();
    let made = description.prepared(raw, Resources::SINGLE, &mut |_| ()).unwrap();
    assert_eq!(made.shape(), description.first_shape().unwrap());
    match made.inputs() {
        Inputs::Real(values) => values.clone(),
        other => panic!("{other:?}"),
    }
}

/// Numbers without a pattern.
fn noise(count: usize, start: u32) -> Vec<f32> {
    let mut state = start.wrapping_mul(2_654_435_761).wrapping_add(12_345);
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1u32 << 23) as f32 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

#[test]
fn the_scattering_transform_is_that_of_its_definition() {
    let cases: Vec<Case> = serde_json::from_str(VECTORS).unwrap();
    assert_eq!(cases.len(), 5);
    for case in cases {
        let description =
            network(&[1, case.height, case.width], scatternet(case.scales, case.orientations, None));
        assert_eq!(description.first_shape().unwrap(), case.shape);
        let found = of(&description, std::slice::from_ref(&case.image));
        let shown: Vec<f32> = found.into_iter().step_by(case.every).collect();
        assert_eq!(shown.len(), case.features.len());
        for (place, (ours, theirs)) in shown.iter().zip(&case.features).enumerate() {
            assert!((ours - theirs).abs() < 1e-5, "{:?} at {place}: {ours} {theirs}", case.shape);
        }
    }
}

#[test]
fn shapes_are_those_of_the_papers() {
    let usual = scatternet(2, 8, Some(27));
    assert_eq!(usual.shape(&[1, 28, 28]).unwrap(), [81, 7, 7]);
    assert_eq!(usual.shape(&[3, 32, 32]).unwrap(), [243, 8, 8]);
    // Sides that 4 does not divide are rounded down.
    assert_eq!(usual.shape(&[1, 30, 17]).unwrap(), [81, 7, 4]);
    let random = FixedFeatures::RandomConvolutions { filters: 64, size: 5, pool: 6, seed: 1, groups: None };
    assert_eq!(random.shape(&[3, 32, 32]).unwrap(), [64, 4, 4]);
}

#[test]
fn what_has_no_features_is_refused_by_name() {
    let usual = || scatternet(2, 8, None);
    let random = |filters, size, pool| FixedFeatures::RandomConvolutions {
        filters,
        size,
        pool,
        seed: 0,
        groups: None,
    };
    for (features, input, field, words) in [
        (usual(), vec![784], "input", "[channels, height, width]"),
        (usual(), vec![1, 7, 28], "input", "8 x 8"),
        (usual(), vec![1, 28, 2048], "input", "1024 x 1024"),
        (scatternet(0, 8, None), vec![1, 28, 28], "scales", "from 1 to 4"),
        (scatternet(3, 8, None), vec![1, 8, 28], "scales", "at most 8"),
        (scatternet(2, 17, None), vec![1, 28, 28], "orientations", "from 1 to 16"),
        (scatternet(2, 8, Some(80)), vec![1, 28, 28], "groups", "81 channels"),
        (scatternet(2, 8, Some(0)), vec![1, 28, 28], "groups", "81 channels"),
        (random(0, 5, 2), vec![1, 28, 28], "filters", "65536"),
        (random(8, 29, 2), vec![1, 28, 28], "size", "from 1 to 28"),
        (random(8, 5, 25), vec![1, 28, 28], "pool", "from 1 to 24"),
    ] {
        let error = network(&input, features).check().unwrap_err();
        let TrainError::Invalid(invalid) = &error else { panic!("{error}") };
        assert_eq!(invalid.field, field, "{error}");
        assert!(error.to_string().contains(words), "{error}");
    }
    // Each is possible by itself, and together they are too much.
    let large = network(&[60, 1024, 1024], scatternet(1, 16, None)).check().unwrap_err().to_string();
    assert!(large.contains(&MOST_NUMBERS.to_string()), "{large}");
}

#[test]
fn a_description_with_features_is_written_and_read_back() {
    for features in [
        scatternet(2, 8, Some(27)),
        scatternet(1, 4, None),
        FixedFeatures::RandomConvolutions { filters: 16, size: 5, pool: 4, seed: 7, groups: Some(4) },
    ] {
        let written = network(&[1, 28, 28], features);
        let text = written.to_toml().unwrap();
        assert_eq!(Description::from_toml(&text, "model.toml").unwrap(), written, "{text}");
    }
    let text = "input = [1, 28, 28]\n[features]\nkind = \"scatternet\"\n[[layer]]\nkind = \"flatten\"\n[[layer]]\nkind = \
                \"linear\"\nout = 10\n";
    let read = Description::from_toml(text, "model.toml").unwrap();
    assert_eq!(read.features, Some(scatternet(2, 8, None)));
    for (old, new, words) in [
        ("scatternet", "scaternet", "scaternet"),
        ("\"scatternet\"", "\"scatternet\"\nscale = 3", "scale"),
        ("\"scatternet\"", "\"scatternet\"\ngroups = 5", "groups"),
        ("\"scatternet\"", "\"random-convolutions\"", "filters"),
    ] {
        let error = Description::from_toml(&text.replace(old, new), "model.toml").unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn the_first_layer_reads_the_features() {
    let description = network(&[3, 16, 16], scatternet(2, 8, Some(27)));
    let engine = engine(&description, crate::Device::Cpu, Resources::SINGLE).unwrap();
    assert_eq!(engine.layout().weights(), 2 * 243 * 16 + 2);
    let targets = Targets::Classes(vec![0]);
    let raw = Examples::new(&[3, 16, 16], Inputs::Real(vec![0.0; 768]), targets).unwrap();
    // Who forgets the features is told.
    assert!(engine.check(&raw).unwrap_err().to_string().contains("[243, 4, 4]"));
    let made = description.prepared(raw.clone(), Resources::SINGLE, &mut |_| ()).unwrap();
    engine.check(&made).unwrap();
    assert_eq!((made.raw(), made.subset(&[0]).raw()), (&raw, &raw));
    assert_ne!(made.digest(), raw.digest());
    let after = description.after_features().unwrap();
    assert_eq!(after.outputs().unwrap(), description.outputs().unwrap());
    assert_eq!(after.prepared(made.clone(), Resources::SINGLE, &mut |_| ()).unwrap(), made);
    let twice = description.prepared(made, Resources::SINGLE, &mut |_| ()).unwrap_err().to_string();
    assert!(twice.contains("[3, 16, 16]"), "{twice}");
}

#[test]
fn features_of_an_example_do_not_depend_on_its_neighbours_or_threads() {
    let images: Vec<Vec<f32>> = (0..40).map(|image| noise(3 * 12 * 13, image)).collect();
    for features in [
        scatternet(2, 8, Some(27)),
        scatternet(1, 3, None),
        FixedFeatures::RandomConvolutions { filters: 24, size: 5, pool: 3, seed: 0, groups: Some(8) },
    ] {
        let description = network(&[3, 12, 13], features);
        let size: usize = description.first_shape().unwrap().iter().product();
        let all = of(&description, &images);
        for (image, own) in images.iter().zip(all.chunks_exact(size)) {
            assert_eq!(of(&description, std::slice::from_ref(image)), own);
        }
        let targets = Targets::Classes(vec![0; 40]);
        let raw = Examples::new(&[3, 12, 13], Inputs::Real(images.concat()), targets).unwrap();
        let threads = Resources { threads: 3, chunk: None };
        let mut told = Vec::new();
        let made = description.prepared(raw, threads, &mut |done| told.push(done)).unwrap();
        assert_eq!((made.inputs(), told), (&Inputs::Real(all), vec![40]));
    }
}

#[test]
fn groups_are_normalised_in_every_example() {
    let images = [noise(28 * 28, 1), vec![0.25; 28 * 28]];
    let found = of(&network(&[1, 28, 28], scatternet(2, 8, Some(27))), &images);
    for group in found[..81 * 49].chunks_exact(3 * 49) {
        let mean = group.iter().sum::<f32>() / 147.0;
        let variance = group.iter().map(|value| (value - mean).powi(2)).sum::<f32>() / 147.0;
        assert!(mean.abs() < 1e-4 && variance > 0.3 && variance < 1.001, "{mean} {variance}");
    }
    // A constant image has nothing to normalise by, and stays finite.
    assert!(found[81 * 49..].iter().all(|value| value.is_finite()));
}

#[test]
fn random_convolutions_are_those_of_their_definition() {
    let shape = [2, 9, 10];
    let map = RandomConvolutions::new(shape, 5, 4, 3, 11);
    let image = noise(180, 3);
    let description = network(
        &shape,
        FixedFeatures::RandomConvolutions { filters: 5, size: 4, pool: 3, seed: 11, groups: None },
    );
    let found = of(&description, std::slice::from_ref(&image));
    assert_eq!(found.len(), 5 * 2 * 2);
    let weight = |filter: usize, channel: usize, y: usize, x: usize| {
        f64::from(map.weights()[((filter * 2 + channel) * 4 + y) * 4 + x])
    };
    for (place, ours) in found.iter().enumerate() {
        let (filter, row, column) = (place / 4, place / 2 % 2, place % 2);
        let mut mean = 0.0;
        for (y, x) in (0..9).map(|at| (row * 3 + at / 3, column * 3 + at % 3)) {
            let mut sum = 0.0;
            for at in 0..32 {
                let (channel, down, across) = (at / 16, at / 4 % 4, at % 4);
                sum += weight(filter, channel, down, across)
                    * f64::from(image[(channel * 9 + y + down) * 10 + x + across]);
            }
            mean += f64::max(sum, 0.0) / 9.0;
        }
        assert!((mean - f64::from(*ours)).abs() < 1e-5, "{place}: {mean} {ours}");
    }
    // Another seed has other filters; their variance is 1/32, within six deviations of a mean of 64 000 squares.
    assert_ne!(RandomConvolutions::new(shape, 5, 4, 3, 12).weights(), map.weights());
    let wide = RandomConvolutions::new(shape, 2000, 4, 3, 11);
    let mean = wide.weights().iter().map(|value| f64::from(*value).powi(2)).sum::<f64>() / 64_000.0;
    assert!((mean * 32.0 - 1.0).abs() < 6.0 * (2.0f64 / 64_000.0).sqrt(), "{mean}");
}
