//! Files of events: a log, a certificate, what `release --json` prints, a bare list, or one event.

mod json;
mod problem;
mod shape;

use crate::explain::Code;
use crate::fail::Fail;
use json::Json;
use problem::Problem;
use reticent::core::{Event, EventLog, Neighboring};
use shape::{EVENTS, event, events, known_once};
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

/// Files larger than this are no lists of events.
const MOST_BYTES: u64 = 64 << 20;

/// What a file of events says.
pub(super) struct Listed {
    pub(super) log: EventLog,
    /// What one unit of protection is, where a certificate says so.
    pub(super) unit: Option<String>,
}

/// Reads `path`, or standard input for `-`. `neighboring` is the relation the flags state, if they do.
pub(super) fn read(path: &Path, neighboring: Option<Neighboring>) -> Result<Listed, Fail> {
    let name = path.display();
    let named = |code: Code, problem: &str| Fail::new(code, format!("--events {name}: {problem}"));
    let refuse = |problem: &str| named(Code::Json, problem);
    let text = contents(path).map_err(|(code, problem)| named(code, &problem))?;
    let text = text.trim_start_matches('\u{feff}');
    if text.trim().is_empty() {
        return Err(refuse(
            "it is empty: give a list of events, such as {\"neighboring\": \"add-remove\", \"events\": []}",
        ));
    }
    let found = Json::parse(text).and_then(listed).map_err(|problem| refuse(&problem.to_string()))?;
    let neighboring = match (found.neighboring, neighboring) {
        (Some(file), Some(flag)) if file != flag => {
            let remedy = format!("leave it out: --events {name} is stated under {file}");
            return Err(Fail::conflict("--neighboring", &flag.to_string(), remedy));
        }
        (Some(stated), _) | (None, Some(stated)) => stated,
        (None, None) if found.bare => Neighboring::AddRemove,
        (None, None) => {
            return Err(refuse(
                "missing \"neighboring\": add \"add-remove\" or \"replace-one\", or give --neighboring",
            ));
        }
    };
    Ok(Listed { log: EventLog { neighboring, events: found.events }, unit: found.unit })
}

/// The text of the file.
fn contents(path: &Path) -> Result<String, (Code, String)> {
    let mut bytes = Vec::new();
    let read = if path.as_os_str() == "-" {
        std::io::stdin().take(MOST_BYTES + 1).read_to_end(&mut bytes)
    } else if path.is_dir() {
        return Err((Code::Format, "it is a folder: give a JSON file".to_owned()));
    } else {
        File::open(path).and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes))
    };
    match read {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Err((Code::NotFound, "no such file: check the path".to_owned()))
        }
        Err(error) => Err((Code::Unreadable, format!("cannot be read: {error}"))),
        Ok(_) if bytes.len() as u64 > MOST_BYTES => {
            let remedy = "put equal events together with \"repeated\"";
            Err((Code::TooLarge, format!("larger than {} MiB: {remedy}", MOST_BYTES >> 20)))
        }
        Ok(_) => String::from_utf8(bytes)
            .map_err(|_| (Code::Format, "it is not UTF-8 text: give a JSON file".to_owned())),
    }
}

struct Found {
    neighboring: Option<Neighboring>,
    events: Vec<Event>,
    unit: Option<String>,
    /// Without an object around it that could name the relation.
    bare: bool,
}

/// The fields of a certificate, of which a log has the first two.
const FIELDS: [&str; 8] =
    ["neighboring", "events", "unit", "epsilon", "delta", "accountant", "public", "adaptive"];

/// How the `accountant` of a certificate begins where an earlier answer decided later events.
const DECIDED: [&str; 2] = ["rows counted with noise", "the schema's own cost"];

/// The claim of a certificate whose events were decided by earlier answers among them: composing those proves nothing, so
/// its own sum stands for them. None where `adaptive` holds such events apart.
fn sum_of(entries: &[(String, Json)]) -> Option<Json> {
    let field = |name: &str| entries.iter().find(|(own, _)| own == name).map(|(_, value)| value.clone());
    let Some(Json::Text(how)) = field("accountant") else { return None };
    if field("adaptive").is_some() || !DECIDED.iter().any(|start| how.starts_with(start)) {
        return None;
    }
    let epsilon = ("epsilon".to_owned(), field("epsilon")?);
    let (name, fields) = match field("delta")? {
        Json::Whole(0) | Json::Real(0.0) => ("pure", vec![epsilon]),
        delta => ("approximate", vec![epsilon, ("delta".to_owned(), delta)]),
    };
    Some(Json::List(vec![Json::Object(vec![(name.to_owned(), Json::Object(fields))])]))
}

fn listed(json: Json) -> Result<Found, Problem> {
    let bare = |events| Found { neighboring: None, events, unit: None, bare: true };
    let entries = match json {
        Json::List(_) => return events(json).map(bare).map_err(|p| p.under("events")),
        Json::Object(mut entries) => {
            // What `release --json` prints holds its certificate.
            match entries.iter().position(|(name, _)| name == "certificate") {
                Some(place) => match entries.swap_remove(place).1 {
                    Json::Object(inner) => inner,
                    other => {
                        let text = format!("{}: give an object", other.shown());
                        return Err(Problem::new(text).under("certificate"));
                    }
                },
                None => entries,
            }
        }
        other => {
            let example = "give {\"neighboring\": \"add-remove\", \"events\": [ ]}";
            return Err(Problem::new(format!("{}: {example}", other.shown())));
        }
    };
    let is_event = |name: &str| EVENTS.iter().any(|(known, _)| *known == name);
    if entries.len() == 1 && is_event(&entries[0].0) {
        return event(Json::Object(entries)).map(|one| bare(vec![one]));
    }
    known_once(&entries, &FIELDS)?;
    let mut found = Found { neighboring: None, events: Vec::new(), unit: None, bare: false };
    let (mut missing, mut sum) = (true, sum_of(&entries));
    for (name, value) in entries {
        match (name.as_str(), value) {
            ("neighboring", value) => found.neighboring = Some(relation(value).map_err(|p| p.under(&name))?),
            ("events", value) => {
                missing = false;
                found.events = events(sum.take().unwrap_or(value)).map_err(|p| p.under(&name))?;
            }
            ("unit", Json::Text(unit)) => found.unit = Some(unit),
            // The claims of a certificate are not taken on trust: they are worked out again from events that may be composed.
            _ => {}
        }
    }
    if missing {
        return Err(Problem::new("missing field \"events\": add a list of events"));
    }
    Ok(found)
}

fn relation(json: Json) -> Result<Neighboring, Problem> {
    match &json {
        Json::Text(name) if name == "add-remove" => Ok(Neighboring::AddRemove),
        Json::Text(name) if name == "replace-one" => Ok(Neighboring::ReplaceOne),
        Json::Text(name) => Err(problem::unknown("relation", name, &["add-remove", "replace-one"])),
        other => Err(Problem::new(format!("{}: give \"add-remove\" or \"replace-one\"", other.shown()))),
    }
}

#[cfg(test)]
mod tests;
