//! `reticent attack exposure`: flags to a request.

use super::disclosed::shown;
use crate::Output;
use crate::args::exposure::Exposure;
use crate::audit::request::count;
use crate::fail::Fail;
use crate::read::number;
use crate::{learn, network};
use reticent::curator::audit::{CANDIDATES, CONTINUATIONS, PlantSecrets, REPETITIONS, SECRETS};

/// Trains with planted secrets.
pub(crate) fn run(arguments: &Exposure, progress: bool) -> Result<Output, Fail> {
    let repetitions =
        arguments.repetitions.split(',').map(|times| count("--repetitions", times, &REPETITIONS));
    let request = PlantSecrets {
        model: arguments.run.clone(),
        format: arguments.format.clone(),
        repetitions: repetitions.collect::<Result<_, _>>()?,
        secrets: count("--secrets", &arguments.secrets, &SECRETS)?,
        candidates: count("--candidates", &arguments.candidates, &CANDIDATES)?,
        continuations: count("--continuations", &arguments.continuations, &CONTINUATIONS)?,
        confidence: number("--confidence", &arguments.confidence)?,
        key: arguments.key.clone(),
        device: network::device(&arguments.computing)?.unwrap_or_default(),
        chunk: network::chunk(&arguments.computing)?,
        out: arguments.out.clone(),
    };
    shown(&learn::run(&request, progress && !arguments.json)?, arguments.json)
}
