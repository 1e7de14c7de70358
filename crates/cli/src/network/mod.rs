//! `reticent train` for networks: which words go with them, and what a run prints.
//!
//! | file | step |
//! |---|---|
//! | `flags` | the words as a request |
//! | `render` | text and JSON |

mod flags;
mod render;

use crate::Output;
use crate::args::learn::Train;
use crate::explain::Code;
use crate::fail::Fail;
use crate::learn::asked;
use reticent::curator::train::{Resume, Train as Request, check_name, image_folder, is_network, stop_cause};
use std::path::{Path, PathBuf};

/// Whether the arguments ask for a network rather than a linear model.
pub(crate) fn is_asked(arguments: &Train) -> Result<bool, Fail> {
    if let Some(model) = &arguments.model {
        check_name(model)?;
        if is_network(model) {
            return Ok(true);
        }
    }
    let flags = &arguments.network;
    let is_run = |file: &Path| file.extension().is_some_and(|extension| extension == "toml");
    let is_text = flags.vocabulary.is_some() || flags.text_column.is_some() || flags.length.is_some();
    if flags.resume.is_some()
        || flags.finish.is_some()
        || is_text
        || arguments.file.as_deref().is_some_and(is_run)
    {
        return Ok(true);
    }
    match &arguments.file {
        Some(file) if file.is_dir() => Ok(true),
        Some(file) => Ok(image_folder(file, arguments.data_dir.as_deref())?.is_some()),
        None => Ok(false),
    }
}

/// Refuses flags of networks that were given with a linear model.
pub(crate) fn refuse_flags(arguments: &Train) -> Result<(), Fail> {
    let flags = flags::request(arguments)?;
    let common = Request {
        data: flags.data.clone(),
        data_dir: flags.data_dir.clone(),
        schema: flags.schema.clone(),
        model: flags.model.clone(),
        epsilon: flags.epsilon,
        delta: flags.delta,
        neighboring: flags.neighboring.clone(),
        dataset_size: flags.dataset_size,
        steps: flags.steps,
        learning_rate: flags.learning_rate,
        out: flags.out.clone(),
        ..Request::default()
    };
    if flags == common {
        return Ok(());
    }
    if flags.non_private.is_some() {
        return Err(Fail::new(
            Code::Conflict,
            "--non-private: goes with networks: give --method exact for a linear model without privacy",
        ));
    }
    let text = flags.to_toml()?;
    let own = common.to_toml()?;
    let key = text.lines().find(|line| !own.contains(line)).and_then(|line| line.split(' ').next());
    let flag = key.unwrap_or_default();
    let text =
        format!("--{flag}: goes with networks only: give --model mlp or another network, or leave it out");
    Err(Fail::new(Code::Conflict, text))
}

/// Refuses flags of linear models that were given with a network.
fn refuse_linear(arguments: &Train) -> Result<(), Fail> {
    let refuse = |flag: &str, remedy: &str| {
        Err(Fail::new(Code::Conflict, format!("{flag}: goes with linear models only: {remedy}")))
    };
    if arguments.method != "auto" {
        return refuse("--method", "leave it out, or give --non-private for a network without privacy");
    }
    for (flag, given, remedy) in [
        ("--regularization", arguments.regularization.is_some(), "give --weight-decay"),
        ("--no-intercept", arguments.no_intercept, "write a model.toml with bias = false"),
        ("--sampling-rate", arguments.sampling_rate.is_some(), "give --batch-size"),
        ("--test-share", arguments.test_share.is_some(), "give --validation with public data"),
        ("--test", arguments.test.is_some(), "give --validation with public data"),
    ] {
        if given {
            return refuse(flag, remedy);
        }
    }
    Ok(())
}

/// Trains a network.
pub(crate) fn train(arguments: &Train, progress: bool) -> Result<Output, Fail> {
    refuse_linear(arguments)?;
    let mut given = flags::request(arguments)?;
    let flags = given.to_toml()?;
    let known = &arguments.network;
    let finish = known.finish.is_some();
    let progress = progress && !arguments.json;
    let (file, trained) = if let Some(folder) = known.resume.as_ref().or(known.finish.as_ref()) {
        let stopped_by = known.stopped_by.as_deref().map(stop_cause).transpose()?;
        let resume = Resume { folder: folder.clone(), changes: given, finish, stopped_by };
        (Some(resume.file()), asked(&resume, progress))
    } else {
        let is_run = |file: &PathBuf| file.extension().is_some_and(|extension| extension == "toml");
        let file = given.data.take_if(|file| is_run(file));
        let request = match &file {
            Some(file) => given.over(Request::read(file)?)?,
            None => given,
        };
        let checked = request.check_values().map_err(Fail::from).and_then(|()| match request.out {
            None if !arguments.json => {
                Err(Fail::missing("--out", "say where the run is kept, e.g. --out runs/first"))
            }
            _ => asked(&request, progress),
        });
        (file, checked)
    };
    let trained =
        trained.map_err(|failure| match file.map(|file| (std::fs::read_to_string(&file), file)) {
            // A flag replaces what the file says, and is refused as a flag.
            Some((Ok(text), file)) if !failure.is_about_key(&flags) => {
                failure.in_file(&file.display().to_string(), &text)
            }
            _ => failure,
        })?;
    render::trained(trained, arguments.json)
}
