//! What a run prints.

use super::reader::Reader;
use super::run::Run;
use super::terms::Agreement;
use super::training::Metrics;
use crate::cost::cost;
use crate::digits;
use crate::fail::Fail;
use crate::file::CERTIFICATE_FILE;
use crate::text::{aligned, json_line};
use crate::{INTERRUPTED, Output};
use reticent::core::Certificate;
use reticent::train::{PrivacyPlan, Progress};
use serde_json::json;
use std::path::Path;

/// A finished run.
pub(super) struct Finished<'a> {
    pub(super) run: &'a Run,
    pub(super) data: String,
    pub(super) validation: Option<String>,
    pub(super) reader: &'a Reader,
    pub(super) agreement: &'a Agreement,
    pub(super) weights: usize,
    pub(super) progress: Progress,
    pub(super) metrics: Metrics,
    pub(super) certificate: Option<Certificate>,
    pub(super) folder: Option<&'a Path>,
    pub(super) warnings: Vec<String>,
    pub(super) json: bool,
}

impl Finished<'_> {
    pub(super) fn render(self) -> Result<Output, Fail> {
        let warnings = self.warnings.iter().map(|warning| format!("warning: {warning}\n")).collect();
        let stdout = if self.json { self.as_json()? } else { self.as_text()? };
        Ok(Output { stdout, warnings, ..Output::default() })
    }

    fn as_json(&self) -> Result<String, Fail> {
        let plan = self.agreement.plan();
        json_line(&json!({
            "model": self.run.model,
            "weights": self.weights,
            "steps": self.progress.taken,
            "counted_steps": self.progress.counted,
            "epochs": self.metrics.epoch,
            "batch_size": self.agreement.batch,
            "dataset_size": self.agreement.size,
            "noise_multiplier": plan.map(|plan| plan.noise_multiplier()),
            "loss": self.metrics.validation_loss,
            "accuracy": self.metrics.validation_accuracy,
            "tested": self.validation.as_ref().map_or("not at all", |_| "public data, not protected"),
            "examples_per_second": self.metrics.examples_per_second,
            "certificate": self.certificate,
            "out": self.folder,
            "warnings": self.warnings,
        }))
    }

    fn as_text(&self) -> Result<String, Fail> {
        let agreement = self.agreement;
        let model = self.run.model.as_deref().unwrap_or("network");
        let words = self.reader.unit_words();
        let size = match (agreement.plan(), agreement.is_counted(), self.run.size) {
            (Some(_), true, _) => format!("about {} {words}, counted with noise", agreement.size),
            (Some(_), false, Some(size)) => format!("declared size {size}"),
            _ => format!("{} {words}", agreement.size),
        };
        let mut lines = vec![
            ("model".to_owned(), format!("{model}, {} weights", self.weights)),
            ("trained on".to_owned(), format!("{} ({size})", self.data)),
            (
                "steps".to_owned(),
                format!(
                    "{} of {} {words} each, {} epochs{}",
                    self.progress.taken,
                    agreement.batch,
                    digits::brief(self.metrics.epoch),
                    self.metrics
                        .examples_per_second
                        .map_or(String::new(), |pace| format!(", {} {words}/s", digits::brief(pace)))
                ),
            ),
        ];
        if let Some(plan) = agreement.plan() {
            let noise = format!(
                "{} times the clipping norm {} ({})",
                digits::brief(plan.noise_multiplier()),
                digits::brief(plan.settings().clipping.norm()),
                self.run.clipping.as_deref().unwrap_or("flat")
            );
            lines.push(("noise".to_owned(), noise));
        }
        if let (Some(loss), Some(data)) = (self.metrics.validation_loss, &self.validation) {
            let note = format!("on {data}: public, not protected");
            if let Some(accuracy) = self.metrics.validation_accuracy {
                lines.push(("accuracy".to_owned(), format!("{:.2} % ({note})", 100.0 * accuracy)));
            }
            let loss = if loss.is_finite() { digits::brief(loss) } else { "not a finite number".to_owned() };
            lines.push(("loss".to_owned(), format!("{loss} ({note})")));
        }
        match &self.certificate {
            Some(certificate) => {
                let file = self.folder.map(|folder| folder.join(CERTIFICATE_FILE));
                lines.extend(cost(certificate, certificate.accountant.clone(), file.as_deref())?);
            }
            None => {
                lines.push(("privacy".to_owned(), "none: this model may tell what it was trained on".into()))
            }
        }
        let place = self.folder.map(|folder| folder.display().to_string());
        lines.push(("saved to".to_owned(), place.unwrap_or_else(|| "nowhere".to_owned())));
        Ok(aligned(&lines))
    }
}

/// What is said after Ctrl-C.
pub(super) fn interrupted(
    progress: Progress,
    certificate: Option<&Certificate>,
    folder: Option<&Path>,
    json: bool,
) -> Result<Output, Fail> {
    let resume = folder.map(|folder| format!("reticent train --resume {}", folder.display()));
    let finish = folder.map(|folder| format!("reticent train --finish {}", folder.display()));
    let stdout = match json {
        true => json_line(&json!({
            "interrupted": true, "steps": progress.taken, "of": progress.steps, "out": folder, "resume": resume,
            "finish": finish, "certificate": certificate,
        }))?,
        false => String::new(),
    };
    let spent = certificate.map_or_else(String::new, |certificate| {
        format!(", the plan's {} taken as spent", crate::text::spent(&certificate.guarantee))
    });
    let next = match &resume {
        Some(resume) => {
            let finish = finish.unwrap_or_default();
            format!("stored; go on with: {resume} (or use the model as it is with: {finish})")
        }
        None => "nothing was stored, for want of --out".to_owned(),
    };
    let warnings = format!("stopped after step {} of {}{spent}: {next}\n", progress.taken, progress.steps);
    Ok(Output { stdout, warnings, status: INTERRUPTED })
}

/// How many times as long as a batch's gradients the noise may be before it is said.
const DROWNED: f64 = 8.0;

/// Says that noise is much longer than all gradients of a batch together can be: from public numbers alone.
pub(super) fn drowned(plan: &PrivacyPlan, batch: u64) -> Option<String> {
    let times = plan.noise_multiplier() * (plan.settings().dimension as f64).sqrt() / batch.max(1) as f64;
    (times > DROWNED).then(|| {
        format!(
            "the noise of a step is about {} times as long as all gradients of a batch together can be: score the model on data it \
             has not seen before you rely on it; larger batches (--batch-size), a smaller network or a linear model need less noise",
            digits::brief(times.round())
        )
    })
}

/// Says that weights or scores are not finite numbers: the training has diverged.
pub(super) fn exploded(weights: &[f32], metrics: &Metrics) -> Option<String> {
    let is_broken = weights.iter().any(|weight| !weight.is_finite());
    (is_broken || metrics.validation_loss.is_some_and(|loss| !loss.is_finite())).then(|| {
        "the training has diverged: weights or scores are not finite numbers, and the model is of no use; give a smaller \
         learning rate (--lr)"
            .to_owned()
    })
}

/// What can be said against a run without looking at data.
pub(super) fn lost(progress: Progress) -> Option<String> {
    let lost = progress.counted.saturating_sub(progress.taken);
    (lost > 0).then(|| {
        format!(
            "{lost} steps were seen but lost when the run was stopped: they are paid for, and the model has fewer steps"
        )
    })
}
