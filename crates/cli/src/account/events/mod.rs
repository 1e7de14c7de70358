//! Files of events: a log, a certificate, what `release --json` prints, a bare list, or one event.

use crate::explain::Code;
use crate::fail::Fail;
use reticent::core::{EventLog, Neighboring, event};
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
    let found = event::read(text).map_err(|problem| refuse(&problem.to_string()))?;
    let neighboring = match (found.neighboring, neighboring) {
        (Some(file), Some(flag)) if file != flag => {
            let remedy = format!("leave it out: --events {name} is stated under {file}");
            return Err(Fail::conflict("--neighboring", &flag.to_string(), remedy));
        }
        (Some(stated), _) | (None, Some(stated)) => stated,
        (None, None) if found.is_bare => Neighboring::AddRemove,
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
