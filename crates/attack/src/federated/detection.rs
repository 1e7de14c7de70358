//! What the honest side of a federation could have noticed.

use reticent_audit::disclosure::{Trajectory, TrajectoryLine};

/// What an honest participant saw round by round. The victim of a server compares the weights that it is sent with those before; a
/// server compares what a party sends with the mean of the others.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Watched {
    /// The rounds.
    pub rounds: Vec<u64>,
    /// The length of what came in: of the change of the weights that were sent, or of a party's update, over the mean of the others.
    pub norm: Vec<f64>,
    /// Its cosine with what would be expected: with the participant's own last update, or with the mean update of the others.
    pub cosine: Vec<f64>,
    /// How far the mean loss on the participant's own data rose since its own last model; for a server nothing.
    pub loss_jump: Vec<f64>,
}

impl Watched {
    /// The three statistics beside those of an honest run: a trajectory for each that was measured.
    pub fn beside(&self, honest: &Self, who: &str) -> Vec<Trajectory> {
        let statistics = [
            ("norm of what it received", &self.norm, &honest.norm),
            ("cosine of what it received with what it expected", &self.cosine, &honest.cosine),
            ("rise of the loss on its own data", &self.loss_jump, &honest.loss_jump),
        ];
        let line = |label: &str, values: &[f64]| TrajectoryLine {
            label: label.to_owned(),
            records: 0,
            value: values.to_vec(),
            lower: values.to_vec(),
            upper: values.to_vec(),
        };
        let drawn = |(what, attacked, plain): (&str, &Vec<f64>, &Vec<f64>)| {
            let count = attacked.len().min(plain.len());
            (count > 0).then(|| Trajectory {
                about: format!("What {who} could notice: {what}"),
                unit: "round".to_owned(),
                what: what.to_owned(),
                at: self.rounds[..count].iter().map(|round| *round as f64).collect(),
                lines: vec![
                    line("under attack", &attacked[..count]),
                    line("without the attack", &plain[..count]),
                ],
            })
        };
        statistics.into_iter().filter_map(drawn).collect()
    }
}

/// Length of a vector.
pub(super) fn norm(vector: &[f32]) -> f64 {
    vector.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt()
}

/// The cosine of two vectors; 0 where one has no length.
pub(super) fn cosine(one: &[f32], other: &[f32]) -> f64 {
    let product: f64 = one.iter().zip(other).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
    let lengths = norm(one) * norm(other);
    if lengths > 0.0 { product / lengths } else { 0.0 }
}

/// Entry by entry.
pub(super) fn difference(one: &[f32], other: &[f32]) -> Vec<f32> {
    one.iter().zip(other).map(|(a, b)| a - b).collect()
}
