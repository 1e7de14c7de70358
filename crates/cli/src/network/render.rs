//! Text and JSON of a training run.

use crate::budget;
use crate::cost::{Whole, cost};
use crate::digits;
use crate::explain::Code;
use crate::fail::{Fail, words};
use crate::learn::{scored, warned};
use crate::screen::present;
use crate::text::{aligned, json_line};
use crate::{INTERRUPTED, Output};
use reticent::curator::budget::BudgetStanding;
use reticent::curator::folder::CERTIFICATE_FILE;
use reticent::curator::train::{
    Device, FederatedMethod, FederatedSummary, Finished, HeldOutEvaluation, HeldOutScore, InitSummary,
    InterruptedTraining, NoiseLaw, PretrainSummary, Sizing, StartSummary, Trained, VectorsSummary,
};
use serde_json::json;

pub(super) fn trained(
    trained: Trained,
    json: bool,
    standing: Option<&BudgetStanding>,
) -> Result<Output, Fail> {
    match trained {
        Trained::Finished(run) => finished(*run, json, standing),
        Trained::Interrupted(run) => interrupted(&run, json),
    }
}

fn finished(mut run: Finished, json: bool, standing: Option<&BudgetStanding>) -> Result<Output, Fail> {
    let warnings = warned(&run.warnings);
    let stdout = if json {
        run.warnings.iter_mut().for_each(|warning| *warning = words(warning));
        budget::json(&run, standing)?
    } else {
        text(&run, standing)?
    };
    Ok(Output { stdout, warnings, ..Output::default() })
}

fn text(run: &Finished, standing: Option<&BudgetStanding>) -> Result<String, Fail> {
    let model = run.model.as_deref().unwrap_or("network");
    let words = run.units;
    let size = match run.sizing {
        Sizing::Counted => format!("about {} {words}, counted with noise", run.dataset_size),
        Sizing::Declared => format!("declared size {}", run.dataset_size),
        Sizing::Known => format!("{} {words}", run.dataset_size),
    };
    let pace = run.examples_per_second.map(|pace| format!(", {} {words}/s", digits::brief(pace)));
    let mut lines = vec![
        ("model".to_owned(), format!("{model}, {} weights{}", run.weights, trained_weights(run))),
        ("trained on".to_owned(), format!("{} ({size})", run.data)),
        ("device".to_owned(), device(run)),
        (
            "steps".to_owned(),
            format!(
                "{}, expected batch size {}, {} epochs{}{}",
                run.steps,
                batches(run),
                digits::brief(run.epochs),
                run.cyclic.map_or_else(String::new, |own| format!(" of {} cyclic batches", own.per_epoch)),
                pace.unwrap_or_default()
            ),
        ),
    ];
    if let Some(federated) = &run.federated {
        lines[3] = ("rounds".to_owned(), rounds(federated, run));
    }
    lines.extend(run.start.iter().flat_map(start));
    if let (Some(multiplier), Some(noise)) = (run.noise_multiplier, &run.noise) {
        let correlated = match run.cyclic {
            Some(own) if own.bands > 1 => format!(", correlated over {} steps (BandMF)", own.bands),
            _ => String::new(),
        };
        let law = if noise.law == NoiseLaw::Gaussian { String::new() } else { format!(" ({})", noise.law) };
        let denoised = noise.denoise.map_or_else(String::new, |rule| format!(", denoised ({rule})"));
        let noise = format!(
            "noise multiplier {}{law}{correlated}, clipping norm {} ({}){denoised}",
            digits::brief(multiplier),
            digits::brief(noise.norm),
            noise.clipping
        );
        lines.push(("noise".to_owned(), noise));
    }
    if let (Some(loss), Some(data)) = (run.loss, &run.validation) {
        let note = format!("on {data}, public and not protected");
        if let Some(accuracy) = run.accuracy {
            lines.push(("accuracy".to_owned(), format!("{:.2} % ({note})", 100.0 * accuracy)));
        }
        if let Some(perplexity) = run.perplexity.filter(|found| found.is_finite()) {
            lines
                .push(("perplexity".to_owned(), format!("{} per token ({note})", digits::brief(perplexity))));
        }
        let loss = if loss.is_finite() { digits::brief(loss) } else { "not a finite number".to_owned() };
        lines.push(("loss".to_owned(), format!("{loss} ({note})")));
    }
    lines.extend(run.held_out.as_ref().map(|score| held_out(score, words)));
    lines.extend(evaluations(&run.evaluations));
    if let Some(own) = &run.adversarial {
        let accuracy = own.inference_accuracy.map_or_else(String::new, |accuracy| {
            format!("; its inference network is right {:.1} % of the time (guessing: 50 %)", 100.0 * accuracy)
        });
        let strength = digits::brief(own.strength);
        lines.push((
            "adversarial".to_owned(),
            format!("strength {strength} against {} reference {words}{accuracy}", own.references),
        ));
    }
    match &run.certificate {
        Some(certificate) => {
            let file = run.out.as_ref().map(|folder| folder.join(CERTIFICATE_FILE));
            let whole = file.as_deref().map_or(Whole::Flag("--out DIR"), Whole::File);
            lines.extend(cost(certificate, certificate.accountant.clone(), whole));
        }
        None if run.adversarial.is_some() => {
            let text = "no guarantee: adversarial training resists the attack it was trained against, not every attack";
            lines.push(("privacy".to_owned(), text.to_owned()));
        }
        None => lines.push(("privacy".to_owned(), "none: this model may leak its training data".into())),
    }
    lines.extend(budget::lines(standing));
    let place = run.out.as_ref().map(|folder| folder.display().to_string());
    lines.push(("saved to".to_owned(), place.unwrap_or_else(|| "not saved".to_owned())));
    Ok(present(&aligned(&lines)))
}

/// The expected batch size, of every stage where it grows.
fn batches(run: &Finished) -> String {
    let words = run.units;
    match run.batch_growth.as_ref().and_then(|own| own.stages.last().map(|last| (own.stages.len(), last))) {
        Some((stages, last)) => {
            format!("{} to {} {words} ({stages} stages)", run.batch_size, last.batch_size)
        }
        None => format!("{} {words}", run.batch_size),
    }
}

/// How many weights are trained, where some are frozen.
fn trained_weights(run: &Finished) -> String {
    run.trained_weights.map_or_else(String::new, |trained| format!(" ({trained} trained, the others frozen)"))
}

/// What the weights started from.
fn start(start: &StartSummary) -> Vec<(String, String)> {
    let names = |names: &[String]| match names.len() {
        0..=8 => names.join(", "),
        more => format!("{}, … ({more} in all)", names[..8].join(", ")),
    };
    let mut lines = Vec::new();
    if let Some(InitSummary { file, random, taken, unused }) = &start.init {
        lines.push(("started from".to_owned(), format!("{}, {} arrays taken", file.display(), taken.len())));
        let renamed: Vec<String> = taken
            .iter()
            .filter(|(theirs, ours)| theirs != ours)
            .map(|(theirs, ours)| format!("{theirs} as {ours}"))
            .collect();
        for (title, list) in [("renamed", &renamed), ("at random", random), ("not used", unused)] {
            if !list.is_empty() {
                lines.push((title.to_owned(), names(list)));
            }
        }
    }
    if let Some(VectorsSummary { covered, file, tokens, width }) = &start.vectors {
        let text = format!("{} of {tokens} tokens have a vector of {width} numbers", covered);
        lines.push(("word vectors".to_owned(), format!("{}: {text}", file.display())));
    }
    if let Some(PretrainSummary { data, epochs, examples }) = &start.pretrain {
        let epochs = digits::brief(*epochs);
        let text = format!("{epochs} epochs on {data} ({examples} examples), public and not protected");
        lines.push(("pre-trained".to_owned(), text));
    }
    lines
}

/// The score on held-out units.
pub(crate) fn held_out(score: &HeldOutScore, words: &str) -> (String, String) {
    let noise = if score.is_noisy { ", with noise" } else { ", not protected" };
    let how = format!("on {} % of the {words}, held out{noise}", digits::brief(100.0 * score.share));
    scored(&score.into(), &how)
}

/// The held-out scores that a run could end by, each with what the noise may have done to it.
fn evaluations(scores: &[HeldOutEvaluation]) -> Option<(String, String)> {
    let one = |HeldOutEvaluation { step, score, .. }: &HeldOutEvaluation| {
        let found = match (score.accuracy, score.rmse) {
            (Some(accuracy), _) => {
                let noise = score.accuracy_doubt.map(|doubt| format!(" ± {:.1} %", 100.0 * doubt));
                format!("{:.1} %{}", 100.0 * accuracy, noise.unwrap_or_default())
            }
            (None, Some(rmse)) => match score.rmse_interval.filter(|_| score.is_noisy) {
                Some([low, high]) => {
                    format!("{} ({} to {})", digits::brief(rmse), digits::brief(low), digits::brief(high))
                }
                None => digits::brief(rmse),
            },
            (None, None) => "too noisy to tell".to_owned(),
        };
        format!("step {step}: {found}")
    };
    let shown: Vec<String> = scores.iter().map(one).collect();
    (!shown.is_empty()).then(|| ("held-out scores".to_owned(), shown.join(", ")))
}

/// Who trained together, and how.
fn rounds(federated: &FederatedSummary, run: &Finished) -> String {
    let FederatedSummary { method, parties, rounds, .. } = federated;
    match method {
        FederatedMethod::Gradient => format!(
            "{rounds} of FedSGD by {parties} parties, expected batch size {} {} of all parties together",
            run.batch_size, run.units
        ),
        FederatedMethod::Average => {
            format!("{rounds} of FedAvg by {parties} parties, {} epochs in all", digits::brief(run.epochs))
        }
    }
}

/// The device, and where it draws the noise: the claim is the same on every one of them.
fn device(run: &Finished) -> String {
    match (run.device, &run.noise) {
        (Device::Cpu, _) => "cpu".to_owned(),
        (_, Some(_)) => "cuda, noise drawn on the GPU by the sampler of the CPU (same claim)".to_owned(),
        (_, None) => "cuda".to_owned(),
    }
}

/// The output after Ctrl-C.
fn interrupted(run: &InterruptedTraining, json: bool) -> Result<Output, Fail> {
    let command =
        |flag: &str| run.out.as_ref().map(|folder| format!("reticent train --{flag} {}", folder.display()));
    let (resume, finish) = (command("resume").filter(|_| run.can_resume), command("finish"));
    let mut stdout = String::new();
    if json {
        let strange = |error: serde_json::Error| Fail::new(Code::Internal, error.to_string());
        let mut value = serde_json::to_value(run).map_err(strange)?;
        (value["resume"], value["finish"]) = (json!(resume), json!(finish));
        stdout = json_line(&value)?;
    }
    let spent = run.certificate.as_ref().map_or_else(String::new, |certificate| {
        format!(", {} of the whole plan is counted as spent", crate::text::spent(&certificate.guarantee))
    });
    let next = match (&resume, &finish) {
        (Some(resume), Some(finish)) => {
            format!("saved; to continue: {resume}; to use the model as it is: {finish}")
        }
        (None, Some(finish)) => {
            format!("saved; a run with cyclic batches cannot continue; to use the model as it is: {finish}")
        }
        _ => "nothing was saved, because --out was not given".to_owned(),
    };
    let warnings = format!("stopped after step {} of {}{spent}: {next}\n", run.steps, run.of);
    Ok(Output { stdout, warnings, status: INTERRUPTED })
}
