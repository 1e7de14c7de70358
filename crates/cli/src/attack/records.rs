//! `reticent attack reconstruct` and `attack difference`: flags to requests.

use super::disclosed::shown;
use crate::Output;
use crate::args::audit::{Difference, Reconstruct};
use crate::audit::request::count;
use crate::fail::Fail;
use crate::learn;
use crate::read::number;
use reticent::curator::audit as curator;
use reticent::curator::audit::{ATTACKED, BATCH, SHADOWS, STEPS};

/// Recovers training records.
pub(crate) fn reconstruct(arguments: &Reconstruct, progress: bool) -> Result<Output, Fail> {
    let stated = &arguments.stated;
    let batches = arguments.batches.split(',').map(|size| count("--batches", size, &BATCH));
    let epsilons = match arguments.epsilons.as_str() {
        "none" => Vec::new(),
        list => list.split(',').map(|one| number("--epsilons", one)).collect::<Result<_, _>>()?,
    };
    let attacked = arguments.attacked.as_deref().map(|text| count("--attacked", text, &ATTACKED));
    let request = curator::Reconstruct {
        model: arguments.run.clone(),
        batches: batches.collect::<Result<_, _>>()?,
        attacked: attacked.transpose()?,
        epsilons,
        delta: number("--delta", &arguments.delta)?,
        steps: count("--steps", &arguments.steps, &STEPS)?,
        shadows: count("--shadows", &arguments.shadows, &SHADOWS)?,
        prior: number("--prior", &arguments.prior)?,
        confidence: number("--confidence", &stated.confidence)?,
        key: arguments.key.clone(),
        out: stated.out.clone(),
    };
    shown(&learn::run(&request, progress && !stated.json)?, stated.json)
}

/// Compares two models or two releases.
pub(crate) fn difference(arguments: &Difference, progress: bool) -> Result<Output, Fail> {
    let stated = &arguments.stated;
    let request = curator::Difference {
        first: arguments.first.clone(),
        second: arguments.second.clone(),
        non_members: arguments.non_members.clone(),
        confidence: number("--confidence", &stated.confidence)?,
        out: stated.out.clone(),
    };
    shown(&learn::run(&request, progress && !stated.json)?, stated.json)
}
