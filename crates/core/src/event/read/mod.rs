//! The reader of events that people wrote: a log, a certificate, what `release --json` prints, a bare list, or one event.
//!
//! It reads the same JSON as `serde` does for [`Event`], and says of every mistake where it is and what to write instead. Names
//! that come twice, which `serde` may pass over in other parts of a document, are refused.

mod fields;
mod json;
mod problem;

pub(super) use fields::Fields;
pub use problem::{ReadProblem, Step};

use super::Event;
use crate::Neighboring;
use crate::certificate::{Version, are_decided};
use fields::{FromJson, known_once};
use json::Json;
use problem::unknown;

/// What a text of events says.
#[derive(Debug, Clone, PartialEq)]
pub struct EventList {
    /// The relation, where it is stated.
    pub neighboring: Option<Neighboring>,
    /// What happened, in sequence.
    pub events: Vec<Event>,
    /// What one unit of protection is, where a certificate says so.
    pub unit: Option<String>,
    /// Whether it is without an object around it that could name the relation.
    pub is_bare: bool,
}

/// Reads a text of events.
///
/// # Errors
/// [`ReadProblem`] with the place of the first mistake.
pub fn read(text: &str) -> Result<EventList, ReadProblem> {
    listed(Json::parse(text)?)
}

/// The fields of a certificate, of which a log has the first two.
const FIELDS: [&str; 9] =
    ["neighboring", "events", "unit", "epsilon", "delta", "accountant", "public", "adaptive", "version"];

/// The claim of a certificate whose events were decided by earlier answers among them: composing those proves nothing, so
/// its own sum stands for them. None for certificates that hold such events apart.
fn sum_of(entries: &[(String, Json)]) -> Option<Json> {
    let field = |name: &str| entries.iter().find(|(own, _)| own == name).map(|(_, value)| value.clone());
    let Some(Json::Text(how)) = field("accountant") else { return None };
    let is_held_apart = matches!(field("adaptive"), Some(Json::List(events)) if !events.is_empty());
    if field("version").is_some() || !are_decided(&how, is_held_apart) {
        return None;
    }
    let epsilon = ("epsilon".to_owned(), field("epsilon")?);
    let (name, fields) = match field("delta")? {
        Json::Whole(0) | Json::Real(0.0) => ("pure", vec![epsilon]),
        delta => ("approximate", vec![epsilon, ("delta".to_owned(), delta)]),
    };
    Some(Json::List(vec![Json::Object(vec![(name.to_owned(), Json::Object(fields))])]))
}

fn listed(json: Json) -> Result<EventList, ReadProblem> {
    let bare = |events| EventList { neighboring: None, events, unit: None, is_bare: true };
    let entries = match json {
        Json::List(_) => return events(json).map(bare).map_err(|p| p.under("events")),
        Json::Object(mut entries) => {
            // What `release --json` prints holds its certificate.
            match entries.iter().position(|(name, _)| name == "certificate") {
                Some(place) => match entries.swap_remove(place).1 {
                    Json::Object(inner) => inner,
                    other => {
                        let problem = ReadProblem::new(other.shown(), "give an object");
                        return Err(problem.under("certificate"));
                    }
                },
                None => entries,
            }
        }
        other => {
            let example = "give {\"neighboring\": \"add-remove\", \"events\": [ ]}";
            return Err(ReadProblem::new(other.shown(), example));
        }
    };
    let is_event = |name: &str| Event::KINDS.iter().any(|shape| shape.name == name);
    if entries.len() == 1 && is_event(&entries[0].0) {
        return event(Json::Object(entries)).map(|one| bare(vec![one]));
    }
    known_once(&entries, &FIELDS)?;
    let mut found = EventList { neighboring: None, events: Vec::new(), unit: None, is_bare: false };
    let (mut missing, mut sum) = (true, sum_of(&entries));
    for (name, value) in entries {
        match (name.as_str(), value) {
            ("neighboring", value) => found.neighboring = Some(relation(value).map_err(|p| p.under(&name))?),
            ("events", value) => {
                missing = false;
                found.events = events(sum.take().unwrap_or(value)).map_err(|p| p.under(&name))?;
            }
            ("unit", Json::Text(unit)) => found.unit = Some(unit),
            ("version", value) => {
                let version = u64::from_json(value).map_err(|p| p.under(&name))?;
                Version::check(version).map_err(|invalid| ReadProblem::refused(invalid).under(&name))?;
            }
            // The claims of a certificate are not taken on trust: they are worked out again from events that may be composed.
            _ => {}
        }
    }
    if missing {
        return Err(ReadProblem::new("missing field \"events\"", "add a list of events"));
    }
    Ok(found)
}

fn relation(json: Json) -> Result<Neighboring, ReadProblem> {
    match &json {
        Json::Text(name) if name == "add-remove" => Ok(Neighboring::AddRemove),
        Json::Text(name) if name == "replace-one" => Ok(Neighboring::ReplaceOne),
        Json::Text(name) => Err(unknown("relation", name, &["add-remove", "replace-one"])),
        other => Err(ReadProblem::new(other.shown(), "give \"add-remove\" or \"replace-one\"")),
    }
}

/// Reads a list of events.
fn events(json: Json) -> Result<Vec<Event>, ReadProblem> {
    let Json::List(items) = json else {
        return Err(ReadProblem::new(json.shown(), "give a list of events in [ ]"));
    };
    items.into_iter().enumerate().map(|(index, item)| event(item).map_err(|p| p.at(index))).collect()
}

/// Reads one event.
fn event(json: Json) -> Result<Event, ReadProblem> {
    let example = "give an event such as {\"gaussian\": {\"noise_multiplier\": 1}}";
    let Json::Object(mut entries) = json else {
        return Err(ReadProblem::new(json.shown(), example));
    };
    let Some((name, body)) = entries.pop() else {
        return Err(ReadProblem::new("an object without an event", example));
    };
    if let Some((first, _)) = entries.first() {
        let both = format!("\"{first}\" and \"{name}\" in one object");
        return Err(ReadProblem::new(both, "put each event in braces of its own"));
    }
    let fields = match Event::KINDS.iter().find(|shape| shape.name == name) {
        Some(shape) => Fields::new(body, shape.fields).map_err(|p| p.under(&name))?,
        None => return Err(unknown_event(&name)),
    };
    let read = Event::from_fields(&name, fields).map_err(|p| p.under(&name))?;
    let event = read.ok_or_else(|| unknown_event(&name))?;
    event.validate().map_err(|invalid| ReadProblem::unfit(invalid).under(&name))?;
    Ok(event)
}

fn unknown_event(name: &str) -> ReadProblem {
    let known: Vec<&str> = Event::KINDS.iter().map(|shape| shape.name).collect();
    unknown("event", name, &known)
}

#[cfg(test)]
mod tests;
