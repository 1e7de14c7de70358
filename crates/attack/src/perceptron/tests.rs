use super::*;

/// Numbers from -1 to 1.
fn noise(count: usize, key: &str) -> Vec<f32> {
    let mut bits = Repeatable::new([keyed_hash(key, b"noise"), 0, 0, 0]);
    (0..count).map(|_| (uniform_below(&mut bits, 1 << 24) as f32) / (1 << 23) as f32 - 1.0).collect()
}

fn parts(columns: [Range<usize>; 2], widths: &[usize]) -> Vec<PerceptronComponent> {
    columns.into_iter().map(|columns| PerceptronComponent { columns, widths: widths.to_vec() }).collect()
}

#[test]
fn gradients_are_those_of_the_loss() {
    let (rows, targets) = (noise(7 * 5, "rows"), noise(7 * 2, "targets"));
    let kinds = targets.iter().map(|target| f32::from(u8::from(*target > 0.0))).collect::<Vec<_>>();
    for (loss, targets) in [(PerceptronLoss::Squared, &targets), (PerceptronLoss::Logistic, &kinds)] {
        let settings = PerceptronSettings {
            components: parts([0..3, 2..5], &[4]),
            trunk: vec![6, 3],
            hidden: Hidden::Tanh,
            loss,
            ..PerceptronSettings::default()
        };
        let components = settings.check(5).unwrap();
        let mut bits = Repeatable::new([1, 2, 3, 4]);
        let scales = (Scale::none(5), Scale::none(2));
        let mut network = Perceptron::new(&components, &settings, 5, scales, &mut bits).unwrap();
        let mut sum = vec![0.0; network.weights.len()];
        network.add_gradient(&rows, targets, 7, loss, &mut sum);
        for (place, found) in sum.into_iter().enumerate() {
            let (kept, step) = (network.weights[place], 1e-2);
            let mut at = |weight| {
                network.weights[place] = weight;
                // The loss is a mean over rows and outputs, the gradient a sum.
                14.0 * network.loss(&rows, targets, loss)
            };
            let slope = (at(kept + step) - at(kept - step)) / (2.0 * f64::from(step));
            network.weights[place] = kept;
            assert!((slope - f64::from(found)).abs() < 2e-3, "{place}: {slope} {found}");
        }
    }
}

#[test]
fn a_product_of_columns_is_learned_and_noise_is_not() {
    let rows = noise(2000 * 4, "rows");
    let product: Vec<f32> = rows.chunks(4).map(|row| f32::from(u8::from(row[0] * row[3] > 0.0))).collect();
    let settings = PerceptronSettings {
        components: parts([0..2, 2..4], &[16]),
        trunk: vec![16],
        loss: PerceptronLoss::Logistic,
        rate: 1e-2,
        ..PerceptronSettings::default()
    };
    let right = |network: &Perceptron, rows: &[f32], truth: &[f32]| {
        let said = network.predict(rows).unwrap();
        said.iter().zip(truth).filter(|(said, truth)| (**said > 0.0) == (**truth > 0.5)).count()
    };
    let (seen, asked) = rows.split_at(1000 * 4);
    let network = Perceptron::fit(seen, 4, &product[..1000], &settings).unwrap();
    assert!(right(&network, asked, &product[1000..]) > 900);
    let coins: Vec<f32> = noise(2000, "coins").iter().map(|coin| f32::from(u8::from(*coin > 0.0))).collect();
    let network = Perceptron::fit(seen, 4, &coins[..1000], &settings).unwrap();
    // Six standard deviations.
    assert!(right(&network, asked, &coins[1000..]).abs_diff(500) < 95);
    // Training stopped early: nothing much is claimed of coins that were not seen.
    let loss = network.loss(&network.inputs.apply(asked), &coins[1000..], PerceptronLoss::Logistic);
    assert!(loss < 0.72, "{loss}");
}

#[test]
fn an_autoencoder_finds_the_line_that_rows_lie_on() {
    let along = noise(1000, "along");
    let rows: Vec<f32> = along.iter().flat_map(|t| [3.0 * t + 7.0, -t, 100.0 * t]).collect();
    let settings = PerceptronSettings {
        trunk: vec![8, 1, 8],
        hidden: Hidden::Tanh,
        rate: 1e-2,
        ..PerceptronSettings::default()
    };
    let network = Perceptron::fit(&rows, 3, &rows, &settings).unwrap();
    let code = network.encode(&rows).unwrap();
    assert_eq!(code.len(), 1000);
    let mut order: Vec<usize> = (0..1000).collect();
    order.sort_by(|a, b| along[*a].total_cmp(&along[*b]));
    let rises = order.windows(2).filter(|pair| code[pair[1]] >= code[pair[0]]).count();
    assert!(!(50..950).contains(&rises), "{rises}");
    let back = network.predict(&rows).unwrap();
    let worst = back.iter().zip(&rows).skip(2).step_by(3).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(worst < 20.0, "{worst}");
}

#[test]
fn the_same_key_gives_the_same_network() {
    let (rows, targets) = (noise(300 * 3, "rows"), noise(300, "targets"));
    let settings = PerceptronSettings { epochs: 3, ..PerceptronSettings::default() };
    let fit = |key: &str| {
        let settings = PerceptronSettings { key: key.to_owned(), ..settings.clone() };
        Perceptron::fit(&rows, 3, &targets, &settings).unwrap().weights
    };
    assert_eq!(fit("a"), fit("a"));
    assert_ne!(fit("a"), fit("b"));
}

#[test]
fn what_does_not_fit_is_refused() {
    let rows = noise(12, "rows");
    let refusal = |rows: &[f32], targets: &[f32], settings: &PerceptronSettings| {
        Perceptron::fit(rows, 3, targets, settings).unwrap_err().to_string()
    };
    let usual = PerceptronSettings::default();
    assert!(refusal(&rows[..11], &rows[..4], &usual).contains("rows"));
    assert!(refusal(&rows, &rows[..3], &usual).contains("targets"));
    assert!(refusal(&[f32::NAN; 3], &rows[..1], &usual).contains("finite"));
    let logistic = PerceptronSettings { loss: PerceptronLoss::Logistic, ..usual.clone() };
    assert!(refusal(&rows, &rows[..4], &logistic).contains("0 or 1"));
    let wide = PerceptronSettings { trunk: vec![1 << 20, 1 << 20], ..usual.clone() };
    assert!(refusal(&rows, &rows[..4], &wide).contains("weights"));
    let outside = PerceptronSettings { components: parts([0..2, 2..4], &[2]), ..usual };
    assert!(refusal(&rows, &rows[..4], &outside).contains("columns 2 to 4"));
}
