//! The training curves, from the files of a run.

use crate::Refusal;
use reticent_core::Code;
use reticent_report::{TrainingPoint, TrainingSummary, TrainingUnit};
use serde::Deserialize;
use std::fs;
use std::path::Path;

const METRICS_FILE: &str = "metrics.jsonl";

/// A line of the file; other keys are not needed.
#[derive(Deserialize)]
struct Line {
    epoch: f64,
    epsilon: Option<f64>,
    validation_loss: Option<f64>,
    validation_accuracy: Option<f64>,
}

/// The curves of a network's run; none where there are none.
pub(super) fn read(run: &Path) -> Result<Option<TrainingSummary>, Refusal> {
    let path = run.join(METRICS_FILE);
    let Ok(text) = fs::read_to_string(&path) else { return Ok(None) };
    let mut curve: Vec<TrainingPoint> = Vec::new();
    // A line without its end was being written when the process was killed.
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    for (number, line) in whole.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let line: Line = serde_json::from_str(line).map_err(|error| {
            Refusal::new(
                Code::Broken,
                format!("{}: line {}: not a line of metrics: {error}", path.display(), number + 1),
            )
        })?;
        // A resumed run may have gone back: what came later counts.
        curve.retain(|point| point.at < line.epoch);
        curve.push(TrainingPoint {
            at: line.epoch,
            epsilon: line.epsilon,
            test_loss: line.validation_loss,
            test_accuracy: line.validation_accuracy,
            ..TrainingPoint::default()
        });
    }
    let test_accuracy = curve.last().and_then(|point| point.test_accuracy);
    Ok(Some(TrainingSummary { unit: TrainingUnit::Epoch, curve, train_accuracy: None, test_accuracy }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_half_line_at_the_end_is_not_read_and_one_before_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let line = |epoch: u32| format!(r#"{{"epoch": {epoch}, "validation_accuracy": 0.{epoch}}}"#);
        let read_of = |text: String| {
            fs::write(folder.path().join(METRICS_FILE), text).unwrap();
            read(folder.path())
        };
        let found = read_of(format!("{}\n{}\n{{\"epo", line(1), line(2))).unwrap().unwrap();
        assert_eq!((found.curve.len(), found.test_accuracy), (2, Some(0.2)));
        assert_eq!(read_of("{\"epo".to_owned()).unwrap().unwrap().curve.len(), 0);
        let refusal = read_of(format!("{{\"epo\n{}\n", line(2))).err().unwrap();
        assert_eq!(refusal.code(), Code::Broken);
    }
}
