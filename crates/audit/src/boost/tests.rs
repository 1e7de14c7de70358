use super::*;
use crate::rank::auc;

fn noise(place: usize, what: &str) -> f64 {
    (hash("test", what, 0, place) >> 11) as f64 / (1u64 << 53) as f64
}

fn features(rows: usize, columns: usize) -> Features {
    Features { columns, values: (0..rows * columns).map(|place| noise(place, "x") as f32).collect() }
}

#[test]
fn learns_an_interaction() {
    let x = features(2000, 10);
    let inside = |row: &[f32]| (row[2] > 0.5) != (row[7] > 0.3);
    let y: Vec<f64> = x.values.chunks_exact(10).map(|row| f64::from(u8::from(inside(row)))).collect();
    let boost = Boost::fit(&x, &y, BoostLoss::Logistic, &BoostSettings::default()).unwrap();
    let fresh = Features { columns: 10, values: (0..10_000).map(|p| noise(p, "fresh") as f32).collect() };
    let truth: Vec<bool> = fresh.values.chunks_exact(10).map(inside).collect();
    let found = auc(&boost.predict(&fresh).unwrap(), &truth).unwrap();
    assert!(found > 0.97, "{found}");
}

#[test]
fn learns_a_quantile() {
    let x = features(4000, 4);
    let y: Vec<f64> = x
        .values
        .chunks_exact(4)
        .enumerate()
        .map(|(row, x)| {
            let scale = if x[1] > 0.5 { 4.0 } else { 1.0 };
            10.0 * f64::from(x[0]) + scale * noise(row, "y")
        })
        .collect();
    let boost = Boost::fit(&x, &y, BoostLoss::Pinball(0.9), &BoostSettings::default()).unwrap();
    let q = boost.predict(&x).unwrap();
    for wide in [false, true] {
        let rows: Vec<usize> = (0..4000).filter(|r| (x.values[r * 4 + 1] > 0.5) == wide).collect();
        let below = rows.iter().filter(|r| y[**r] <= q[**r]).count() as f64 / rows.len() as f64;
        assert!((below - 0.9).abs() < 0.03, "{wide}: {below}");
    }
}

#[test]
fn same_rows_same_trees() {
    let x = features(300, 200);
    let y: Vec<f64> = (0..300).map(|row| f64::from(u8::from(noise(row, "y") > 0.5))).collect();
    let fit = |key: &str| {
        let settings = BoostSettings { key: key.to_owned(), rounds: 10, ..BoostSettings::default() };
        Boost::fit(&x, &y, BoostLoss::Logistic, &settings).unwrap().predict(&x).unwrap()
    };
    assert_eq!(fit("a"), fit("a"));
    assert_ne!(fit("a"), fit("b"));
}

#[test]
fn no_columns_predict_the_base() {
    let x = Features { columns: 1, values: vec![1.0; 20] };
    let y: Vec<f64> = (0..20).map(|row| f64::from(u8::from(row < 5))).collect();
    let boost = Boost::fit(&x, &y, BoostLoss::Logistic, &BoostSettings::default()).unwrap();
    assert!(boost.predict(&x).unwrap().iter().all(|p| (p - (1.0f64 / 3.0).ln()).abs() < 0.5));
}

#[test]
fn refuses_what_it_cannot_learn() {
    let x = features(4, 1);
    let fit = |y: &[f64], loss| Boost::fit(&x, y, loss, &BoostSettings::default()).unwrap_err().to_string();
    assert!(fit(&[1.0; 4], BoostLoss::Logistic).contains("one kind"));
    assert!(fit(&[0.0, 1.0, 2.0, 0.0], BoostLoss::Logistic).contains("0 or 1"));
    assert!(fit(&[0.0; 3], BoostLoss::Logistic).contains("4 rows"));
    assert!(fit(&[0.0; 4], BoostLoss::Pinball(1.0)).contains("between 0 and 1"));
    assert!(fit(&[f64::NAN; 4], BoostLoss::Pinball(0.5)).contains("finite"));
}
