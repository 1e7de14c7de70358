//! Secrets of four digits, planted among the speeches and ranked among all 10 000.

use crate::authors::side_by_side;
use crate::corpus::Corpus;
use crate::recipe::{DELTA, RecipeName};
use crate::{AuthorsAsked, Place};
use anyhow::Result;
use reticent_attack::canary::{ExposureSettings, SecretFormat, TrainingTexts, exposure};
use reticent_audit::exposure::{SecretExposure, UNSEEN, median_exposure};
use reticent_audit::interval;
use reticent_train::Resources;
use serde_json::{Value, json};
use std::time::Instant;

const BEFORE: &str = "my pin is ";
const REPETITIONS: [u64; 3] = [1, 4, 16];
/// Secrets of each number of repetitions in a training.
const SECRETS: usize = 4;
const CONTINUATIONS: usize = 1000;
const CONFIDENCE: f64 = 0.95;

pub(crate) fn measure(asked: &AuthorsAsked, corpus: &Corpus, recipe: RecipeName) -> Result<Value> {
    let pieces: Vec<usize> = corpus.trained.concat();
    let owner = |(author, own): (usize, &Vec<usize>)| std::iter::repeat_n(author as u32, own.len());
    let owners: Vec<u32> = corpus.trained.iter().enumerate().flat_map(owner).collect();
    let examples = corpus.examples.subset(&pieces);
    let planted = SECRETS * REPETITIONS.len();
    let (authors, all) = (corpus.trained.len() + planted, pieces.len() + SECRETS * 21);
    let training = recipe.training(corpus, authors, all, asked.quick)?;
    let alphabet = corpus.vocabulary.positions_of("0123456789");
    let format = SecretFormat::new(
        corpus.vocabulary.positions_of(BEFORE),
        alphabet,
        if asked.quick { 2 } else { 4 },
        corpus.vocabulary.positions_of("."),
    )?;
    let chunk = (asked.device == Place::Cuda).then_some(1024);
    let how = (asked.device.into(), Resources { chunk, ..Resources::SINGLE });
    let begun = Instant::now();
    let run = |place: usize| {
        let settings = ExposureSettings {
            format: format.clone(),
            repetitions: REPETITIONS.to_vec(),
            secrets: SECRETS,
            drawn: 1,
            continuations: CONTINUATIONS,
            confidence: CONFIDENCE,
            key: format!("{}: secrets {place}", asked.key),
        };
        let owners = recipe.unit().map(|unit| (&owners[..], unit));
        let texts = TrainingTexts { examples: &examples, owners, is_shared: true };
        Ok(exposure(&settings, texts, &training, how, &|| false)?)
    };
    let runs = side_by_side(asked.runs, asked.threads, &run)?;
    let seconds = begun.elapsed().as_secs_f64();
    let mut rows = Vec::new();
    for (place, repetitions) in std::iter::once(0).chain(REPETITIONS).enumerate() {
        let secrets: Vec<SecretExposure> =
            runs.iter().flat_map(|run| run.groups[place].secrets.clone()).collect();
        let extracted: usize = runs.iter().map(|run| run.groups[place].extracted).sum();
        let first = secrets.iter().filter(|secret| secret.rank <= 1.0).count();
        let mean =
            secrets.iter().map(|secret| secret.exposure.value).sum::<f64>() / secrets.len().max(1) as f64;
        let share = |count: usize| interval::proportion(count as u64, secrets.len() as u64, CONFIDENCE);
        rows.push(json!({
            "repetitions": repetitions, "secrets": secrets.len(), "median_exposure": median_exposure(&secrets, CONFIDENCE)?,
            "mean_exposure": mean, "ranked_first": share(first), "extracted": share(extracted),
            "exposures": secrets.iter().map(|secret| secret.exposure.value).collect::<Vec<_>>(),
        }));
    }
    eprintln!("secrets {}: {seconds:.0} s", recipe.word());
    let guarantee =
        recipe.epsilon().map(|epsilon| json!({"unit": "speaker", "epsilon": epsilon, "delta": DELTA}));
    Ok(json!({
        "recipe": recipe.word(), "guarantee": guarantee, "runs": asked.runs, "training": RecipeName::described(&training)?,
        "format": format!("{BEFORE}{{digits:{}}}.", format.length()), "bits": format.bits(), "mean_of_unseen": UNSEEN,
        "continuations": CONTINUATIONS, "unit_of_a_secret": if recipe.unit().is_some() { "all repetitions are one speaker's" } else { "none" },
        "groups": rows, "seconds": seconds,
    }))
}
