//! `reticent train` for networks.
//!
//! | file | step |
//! |---|---|
//! | `flags` | flags to a request |
//! | `render` | text and JSON |

mod flags;
mod render;

pub(crate) use flags::{chunk, device, request};
pub(crate) use render::held_out;

use crate::Output;
use crate::args::learn::Train;
use crate::budget::charged;
use crate::explain::Code;
use crate::fail::Fail;
use reticent::curator::Request as _;
use reticent::curator::train::{Resume, Train as Request, stop_cause};
use std::path::Path;

/// Refuses flags of linear models that were given with a network.
pub(crate) fn refuse_linear(arguments: &Train) -> Result<(), Fail> {
    let refuse = |flag: &str, remedy: &str| {
        Err(Fail::new(Code::Conflict, format!("{flag}: only for linear models: {remedy}")))
    };
    if arguments.method != "auto" {
        return refuse("--method", "leave it out, or give --non-private to train a network without privacy");
    }
    for (flag, given, remedy) in [
        ("--regularization", arguments.regularization.is_some(), "give --weight-decay"),
        ("--no-intercept", arguments.no_intercept, "write a model.toml with bias = false"),
        ("--sampling-rate", arguments.sampling_rate.is_some(), "give --batch-size"),
        ("--test-share", arguments.test_share.is_some(), "give --held-out"),
        ("--test", arguments.test.is_some(), "give --validation with public data"),
    ] {
        if given {
            return refuse(flag, remedy);
        }
    }
    Ok(())
}

/// The failure with its place in the file of the parties, if it is about a key of it.
fn in_parties(failure: Fail, file: Option<&Path>) -> Fail {
    match file.map(|file| (std::fs::read_to_string(file), file)) {
        Some((Ok(text), file)) => failure.in_file(&file.display().to_string(), &text),
        _ => failure,
    }
}

/// Trains the network of the request `given`.
pub(crate) fn train(arguments: &Train, given: Request, progress: bool) -> Result<Output, Fail> {
    refuse_linear(arguments)?;
    let flags = given.to_toml()?;
    let known = &arguments.network;
    let finish = known.finish.is_some();
    let progress = progress && !arguments.json;
    let (file, trained) = if let Some(folder) = known.resume.as_ref().or(known.finish.as_ref()) {
        let stopped_by = known.stopped_by.as_deref().map(stop_cause).transpose()?;
        let resume = Resume { folder: folder.clone(), changes: given, finish, stopped_by };
        // The run was charged when it began; where another budget is named, it is charged there as a whole.
        let trained = resume
            .check()
            .map_err(Fail::from)
            .and_then(|planned| charged(&resume, planned, &arguments.budget, None, progress));
        (Some(resume.file()), trained)
    } else {
        let (request, file) = given.with_file()?;
        let checked = request.check_values().map_err(Fail::from).and_then(|()| match request.out {
            None if !arguments.json => {
                Err(Fail::missing("--out", "give the folder of the run, e.g. --out runs/first"))
            }
            _ => {
                let planned = request.check()?;
                charged(&request, planned, &arguments.budget, request.schema.as_deref(), progress)
            }
        });
        (file, checked)
    };
    let (trained, standing) = trained
        .map_err(|failure| in_parties(failure, known.federated.as_deref()))
        .map_err(|failure| match file.map(|file| (std::fs::read_to_string(&file), file)) {
            // A flag overrides the file, and is refused as a flag.
            Some((Ok(text), file)) if !failure.is_about_key(&flags) => {
                failure.in_file(&file.display().to_string(), &text)
            }
            _ => failure,
        })?;
    render::trained(trained, arguments.json, standing.as_ref())
}
