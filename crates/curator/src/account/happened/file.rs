//! Files of events: a log, a certificate, what `release` prints as JSON, a bare list, or one event.

use super::Events;
use crate::Refusal;
use reticent_core::{Code, EventLog, Neighboring, event};
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

/// Files larger than this are not lists of events.
const MOST_BYTES: u64 = 64 << 20;

impl Events {
    /// Reads the JSON file at `path`, or standard input for `-`. `neighboring` is the relation to take where the file states
    /// none; a bare list without either is one under add-remove.
    ///
    /// # Errors
    /// [`Refusal`] where the file cannot be read or is not a list of events, where it states another relation, or where
    /// nothing states one.
    pub fn read(path: &Path, neighboring: Option<Neighboring>) -> Result<Self, Refusal> {
        let name = path.display().to_string();
        let named = |refusal: Refusal| refusal.within(&format!("⟦events⟧ {name}"));
        let refuse = |problem: &str| named(Refusal::new(Code::Json, problem));
        let text = contents(path).map_err(named)?;
        let text = text.trim_start_matches('\u{feff}');
        if text.trim().is_empty() {
            return Err(refuse(
                "it is empty: give a list of events, such as {\"neighboring\": \"add-remove\", \"events\": []}",
            ));
        }
        let found = event::read(text).map_err(|problem| refuse(&problem.to_string()))?;
        let neighboring = match (found.neighboring, neighboring) {
            (Some(file), Some(given)) if file != given => {
                let remedy = format!("leave it out: ⟦events⟧ {name} is stated under {file}");
                return Err(Refusal::conflict("neighboring", given, remedy));
            }
            (Some(stated), _) | (None, Some(stated)) => stated,
            (None, None) if found.is_bare => Neighboring::AddRemove,
            (None, None) => {
                return Err(refuse(
                    "missing \"neighboring\": add \"add-remove\" or \"replace-one\", or give ⟦neighboring⟧",
                ));
            }
        };
        Ok(Self { log: EventLog { neighboring, events: found.events }, unit: found.unit, file: Some(name) })
    }
}

/// The text of the file.
pub(super) fn contents(path: &Path) -> Result<String, Refusal> {
    let mut bytes = Vec::new();
    let read = if path.as_os_str() == "-" {
        std::io::stdin().take(MOST_BYTES + 1).read_to_end(&mut bytes)
    } else if path.is_dir() {
        return Err(Refusal::new(Code::Format, "it is a folder: give a JSON file"));
    } else {
        File::open(path).and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes))
    };
    match read {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Err(Refusal::new(Code::NotFound, "no such file: check the path"))
        }
        Err(error) => Err(Refusal::new(Code::Unreadable, format!("cannot be read: {error}"))),
        Ok(_) if bytes.len() as u64 > MOST_BYTES => {
            let remedy = "put equal events together with \"repeated\"";
            Err(Refusal::new(Code::TooLarge, format!("larger than {} MiB: {remedy}", MOST_BYTES >> 20)))
        }
        Ok(_) => String::from_utf8(bytes)
            .map_err(|_| Refusal::new(Code::Format, "it is not UTF-8 text: give a JSON file")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_relation_is_the_files_or_the_given_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.json");
        let read = |text: &str, given| {
            std::fs::write(&path, text).unwrap();
            Events::read(&path, given)
        };
        let (bare, stated) = ("[]", r#"{"neighboring": "replace-one", "events": []}"#);
        assert_eq!(read(bare, None).unwrap().log.neighboring, Neighboring::AddRemove);
        let given = Some(Neighboring::ReplaceOne);
        assert_eq!(read(bare, given).unwrap().log.neighboring, Neighboring::ReplaceOne);
        assert_eq!(read(stated, None).unwrap().log.neighboring, Neighboring::ReplaceOne);
        let refusal = read(stated, Some(Neighboring::AddRemove)).unwrap_err();
        assert_eq!((refusal.code(), refusal.field()), (Code::Conflict, Some("neighboring")));
        assert_eq!(read(r#"{"events": []}"#, None).unwrap_err().code(), Code::Json);
        assert_eq!(read("", None).unwrap_err().code(), Code::Json);
        assert_eq!(Events::read(folder.path(), None).unwrap_err().code(), Code::Format);
        let missing = Events::read(&folder.path().join("none.json"), None).unwrap_err();
        assert_eq!(missing.code(), Code::NotFound);
        assert!(missing.to_string().starts_with("`events` "), "{missing}");
    }
}
