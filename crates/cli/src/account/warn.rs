//! What to mind about an answer: lines for standard error.

use super::source::Source;
use crate::digits;
use reticent::core::Event;

/// Above this ε an output may tell nearly everything.
const HARDLY: f64 = 10.0;

/// The δ and ε of a claim, as far as there is one.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Claim {
    pub(super) epsilon: Option<f64>,
    pub(super) delta: Option<f64>,
    /// The ε that is certainly lost, where that is known.
    pub(super) lower: Option<f64>,
}

/// One line for each thing to mind.
pub(super) fn warnings(source: &Source, claim: Claim) -> String {
    let mut lines = Vec::new();
    if source.any(&|event| matches!(event, Event::Shuffled { .. })) {
        let least = match claim.lower {
            Some(lower) if lower > 0.0 => {
                let lower = digits::significant(lower, 4, digits::Side::Down);
                format!("; they lose at least epsilon = {lower}")
            }
            _ => String::new(),
        };
        lines.push(format!("shuffled batches: no amplification by sampling is claimed for them{least}"));
    }
    if source.any(&|event| matches!(event, Event::BallsInBins { .. })) {
        lines.push(
            "balls in bins: holds only if every record really drew its batch at random, by itself, anew each epoch"
                .to_owned(),
        );
        let other = |event: &Event| match event {
            Event::BallsInBins { event, .. } => !matches!(**event, Event::Gaussian { .. }),
            _ => false,
        };
        if source.is_replace_one() || source.any(&other) {
            lines.push(
                "balls in bins: amplification is known for gaussian events under add-remove; elsewhere an epoch \
                 is charged as the event itself"
                    .to_owned(),
            );
        }
    }
    let records = source.training().and_then(|training| training.dataset_size);
    if let (Some(records), Some(delta)) = (records, claim.delta)
        && delta * records as f64 >= 1.0
    {
        let share = digits::brief(1.0 / records as f64);
        lines.push(format!(
            "delta = {} is not below 1 / number of records = {share}: it would allow giving one record away",
            digits::exactly(delta)
        ));
    }
    if let Some(epsilon) = claim.epsilon.filter(|epsilon| *epsilon > HARDLY) {
        let shown = digits::spent(epsilon);
        lines.push(format!("epsilon = {shown} hardly protects: outputs may become e^{shown} times likelier"));
    }
    lines.iter().map(|line| format!("warning: {line}\n")).collect()
}
