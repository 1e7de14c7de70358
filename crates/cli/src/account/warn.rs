//! What to mind about an answer: lines for standard error.

use crate::digits;
use reticent::curator::account::Warning;

/// One line for each thing to mind.
pub(super) fn lines(warnings: &[Warning]) -> String {
    warnings.iter().map(|warning| format!("warning: {}\n", text(*warning))).collect()
}

fn text(warning: Warning) -> String {
    match warning {
        Warning::Shuffled { lower } => {
            let least = lower.map_or_else(String::new, |lower| {
                let lower = digits::significant(lower, 4, digits::RoundingSide::Down);
                format!("; they lose at least epsilon = {lower}")
            });
            format!("shuffled batches: no amplification by sampling is claimed for them{least}")
        }
        Warning::BallsInBins => {
            "balls in bins: holds only if every record really drew its batch at random, by itself, anew each epoch"
                .to_owned()
        }
        Warning::BallsInBinsUnamplified => {
            "balls in bins: amplification is known for gaussian events under add-remove; elsewhere an epoch \
             is charged as the event itself"
                .to_owned()
        }
        Warning::LargeDelta { delta, records } => format!(
            "delta = {} is not below 1 / number of records = {}: it would allow giving one record away",
            digits::exactly(delta),
            digits::brief(1.0 / records as f64),
        ),
        Warning::LargeEpsilon { epsilon } => {
            let shown = digits::spent(epsilon);
            format!("epsilon = {shown} hardly protects: outputs may become e^{shown} times likelier")
        }
        Warning::MostSteps => "more steps than 2^40 were not looked for".to_owned(),
        Warning::LeastNoise => {
            "hardly any noise meets this budget: a smaller noise multiplier was not looked for".to_owned()
        }
    }
}
