//! `reticent tune`: flags to a request, and its outcome to text or JSON.

use crate::args::tune::Tune;
use crate::budget::{self, charged};
use crate::cost::{Whole, cost};
use crate::explain::Code;
use crate::fail::{Fail, words};
use crate::learn::warned;
use crate::network;
use crate::read::number;
use crate::screen::present;
use crate::text::aligned;
use crate::{Output, digits};
use reticent::curator::Request as _;
use reticent::curator::budget::BudgetStanding;
use reticent::curator::folder::CERTIFICATE_FILE;
use reticent::curator::train::Sizing;
use reticent::curator::tune::{Tune as Request, Tuned};

/// Searches the settings of a network.
pub(crate) fn tune(arguments: &Tune, progress: bool) -> Result<Output, Fail> {
    let flags = &arguments.train;
    network::refuse_linear(flags)?;
    for (flag, given) in [("--resume", &flags.network.resume), ("--finish", &flags.network.finish)] {
        if given.is_some() {
            let text =
                format!("{flag}: a search does not go on, and is spent when it is stopped: leave it out");
            return Err(Fail::new(Code::Conflict, text));
        }
    }
    let Some(search) = arguments.search.clone() else {
        return Err(Fail::missing(
            "--search",
            "give the settings to search, e.g. --search \"lr=0.1..4 log\"",
        ));
    };
    let (train, _) = network::request(flags)?.with_file()?;
    if !train.is_network()? {
        let text = "--model: a search is for networks: give --model mlp or another network";
        return Err(Fail::new(Code::Conflict, text));
    }
    if train.out.is_none() && !flags.json {
        return Err(Fail::missing("--out", "give the folder of the best model, e.g. --out tuned"));
    }
    let request = Request {
        train,
        search,
        trials: arguments.trials.as_deref().map(|text| number("--trials", text)).transpose()?,
        trials_distribution: arguments.trials_distribution.clone(),
        select_on: arguments.select_on.clone(),
    };
    let planned = request.check()?;
    let schema = request.train.schema.as_deref();
    let (mut tuned, standing) = charged(&request, planned, &flags.budget, schema, progress && !flags.json)?;
    let warnings = warned(&tuned.warnings);
    let stdout = if flags.json {
        tuned.warnings.iter_mut().for_each(|warning| *warning = words(warning));
        budget::json(&tuned, standing.as_ref())?
    } else {
        text(&tuned, standing.as_ref())
    };
    Ok(Output { stdout, warnings, ..Output::default() })
}

fn text(tuned: &Tuned, standing: Option<&BudgetStanding>) -> String {
    let units = tuned.units;
    let size = match tuned.sizing {
        Sizing::Counted => format!("about {} {units}, counted with noise", tuned.dataset_size),
        Sizing::Declared => format!("declared size {}", tuned.dataset_size),
        Sizing::Known => format!("{} {units}", tuned.dataset_size),
    };
    let chosen: Vec<String> = tuned
        .chosen
        .iter()
        .map(|(key, value)| {
            format!("{key} {}", value.as_str().map_or_else(|| value.to_string(), str::to_owned))
        })
        .collect();
    let model = tuned.model.as_deref().unwrap_or("network");
    let mut lines = vec![
        ("model".to_owned(), format!("{model}, {} weights", tuned.weights)),
        ("chosen".to_owned(), chosen.join(", ")),
        (
            "search".to_owned(),
            format!(
                "the best of {} trials on average ({}), scored on {}",
                digits::brief(tuned.trials),
                tuned.distribution,
                match tuned.select_on {
                    "validation" => "public validation data",
                    _ => "held-out data with noise",
                }
            ),
        ),
        ("trained on".to_owned(), format!("{} ({size})", tuned.data)),
        ("steps".to_owned(), format!("{}, expected batch size {} {units}", tuned.steps, tuned.batch_size)),
        (
            "noise".to_owned(),
            format!(
                "noise multiplier {}, clipping norm {} ({})",
                digits::brief(tuned.noise_multiplier),
                digits::brief(tuned.clipping.0),
                tuned.clipping.1
            ),
        ),
    ];
    if let Some(score) = &tuned.held_out {
        let (name, text) = network::held_out(score, units);
        lines.push((name, format!("{text}; the best of several, so too good on average")));
    }
    if let (Some(loss), Some(data)) = (tuned.loss, &tuned.validation) {
        let note = format!("on {data}, public and not protected");
        if let Some(accuracy) = tuned.accuracy {
            lines.push(("accuracy".to_owned(), format!("{:.2} % ({note})", 100.0 * accuracy)));
        }
        let loss = if loss.is_finite() { digits::brief(loss) } else { "not a finite number".to_owned() };
        lines.push(("loss".to_owned(), format!("{loss} ({note})")));
    }
    let file = tuned.out.as_ref().map(|folder| folder.join(CERTIFICATE_FILE));
    let whole = file.as_deref().map_or(Whole::Flag("--out DIR"), Whole::File);
    lines.extend(cost(&tuned.certificate, tuned.certificate.accountant.clone(), whole));
    lines.extend(budget::lines(standing));
    let place = tuned.out.as_ref().map(|folder| folder.display().to_string());
    lines.push(("saved to".to_owned(), place.unwrap_or_else(|| "not saved".to_owned())));
    present(&aligned(&lines))
}
