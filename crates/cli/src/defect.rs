//! Defects of the program: panics that reach the top, with their place.
//!
//! A panic's own words may hold values of private data: they are kept nowhere and never shown. Its place is public.

use crate::explain::Code;
use crate::fail::Fail;
use crate::{DEFECT, Finished, refusal};
use std::ffi::OsString;
use std::panic::{UnwindSafe, catch_unwind, set_hook};
use std::sync::Mutex;

/// Where the last panic was.
static PLACE: Mutex<Option<String>> = Mutex::new(None);

/// From now on panics print nothing and leave their place behind. Those inside the Parquet reader are caught there and become
/// errors; nobody asks for their place.
pub(crate) fn record() {
    set_hook(Box::new(|panic| {
        if let (Some(location), Ok(mut place)) = (panic.location(), PLACE.lock()) {
            *place = Some(location.to_string());
        }
    }));
}

/// What the run prints, or the line about a defect where it panics.
pub(crate) fn caught(words: &[OsString], run: impl FnOnce() -> Finished + UnwindSafe) -> Finished {
    catch_unwind(run).unwrap_or_else(|_| {
        let place = PLACE.lock().ok().and_then(|mut place| place.take());
        finished(words, place.as_deref())
    })
}

/// The end of a command that met a defect: the line that every error has, then the place and the version.
fn finished(words: &[OsString], place: Option<&str>) -> Finished {
    let failure = Fail::new(Code::Internal, "internal error: please report it, with the command you ran");
    let place = place.map(|place| format!("{place}, reticent {}", env!("CARGO_PKG_VERSION")));
    Finished { status: DEFECT, stdout: String::new(), stderr: refusal(&failure, words, place.as_deref()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::take_hook;

    fn words(words: &[&str]) -> Vec<OsString> {
        words.iter().map(OsString::from).collect()
    }

    #[test]
    fn the_place_follows_the_line_of_every_error() {
        let version = env!("CARGO_PKG_VERSION");
        let Finished { status, stdout, stderr } =
            finished(&words(&["reticent", "demo"]), Some("crates/x/src/y.rs:12:5"));
        let expected = format!(
            "error[R901]: internal error: please report it, with the command you ran\n\
             place: crates/x/src/y.rs:12:5, reticent {version}\n"
        );
        assert_eq!((status, stdout.as_str(), stderr), (DEFECT, "", expected));
        let json = finished(&words(&["reticent", "demo", "--json"]), Some("y.rs:12:5")).stderr;
        let error = &serde_json::from_str::<serde_json::Value>(&json).unwrap()["error"];
        assert_eq!(error["place"], format!("y.rs:12:5, reticent {version}"));
        assert_eq!(error["code"], Code::Internal.to_string());
        let unplaced = finished(&words(&["reticent"]), None).stderr;
        assert_eq!(unplaced.lines().count(), 1);
    }

    #[test]
    fn a_panic_at_the_top_is_recorded_without_its_words() {
        record();
        let caught = caught(&words(&["reticent"]), || panic!("row 7 of the data is 42"));
        drop(take_hook());
        assert_eq!(caught.status, DEFECT);
        let place = caught.stderr.lines().nth(1).unwrap();
        assert!(place.starts_with("place: ") && place.contains("defect.rs:"), "{place}");
        assert!(!caught.stderr.contains("42"), "{}", caught.stderr);
    }
}
