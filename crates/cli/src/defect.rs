//! Defects of the program: panics that reach the top, with their place.
//!
//! A panic's own words may hold values of private data: they are kept nowhere and never shown. Its place is public.

use crate::explain::Code;
use crate::fail::Fail;
use crate::{DEFECT, Finished, refusal};
use std::ffi::OsString;
use std::panic::{UnwindSafe, catch_unwind, set_hook};
use std::sync::Mutex;

/// Where panics were, in their order. After a worker of a scope has panicked the scope panics again, at its own place: the
/// first one is the cause.
static PLACES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// As many places are kept; the first ones are those that count.
const MOST_PLACES: usize = 8;

/// From now on panics print nothing and leave their place behind. Those inside the Parquet reader are caught there and become
/// errors; nobody asks for their place.
pub(crate) fn record() {
    set_hook(Box::new(|panic| {
        if let (Some(location), Ok(mut places)) = (panic.location(), PLACES.lock()) {
            let place = location.to_string();
            if places.len() < MOST_PLACES && !places.contains(&place) {
                places.push(place);
            }
        }
    }));
}

/// What the run prints, or the line about a defect where it panics.
pub(crate) fn caught(words: &[OsString], run: impl FnOnce() -> Finished + UnwindSafe) -> Finished {
    catch_unwind(run).unwrap_or_else(|_| {
        let places = PLACES.lock().map(|mut places| std::mem::take(&mut *places)).unwrap_or_default();
        finished(words, &places)
    })
}

/// The end of a command that met a defect: the line that every error has, then the places, the first panic first, and the
/// version.
fn finished(words: &[OsString], places: &[String]) -> Finished {
    let failure = Fail::new(Code::Internal, "internal error: please report it, with the command you ran");
    let place = (!places.is_empty())
        .then(|| format!("{}, reticent {}", places.join(", then "), env!("CARGO_PKG_VERSION")));
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
            finished(&words(&["reticent", "demo"]), &["crates/x/src/y.rs:12:5".to_owned()]);
        let expected = format!(
            "error[R901]: internal error: please report it, with the command you ran\n\
             place: crates/x/src/y.rs:12:5, reticent {version}\n"
        );
        assert_eq!((status, stdout.as_str(), stderr), (DEFECT, "", expected));
        let json = finished(&words(&["reticent", "demo", "--json"]), &["y.rs:12:5".to_owned()]).stderr;
        let error = &serde_json::from_str::<serde_json::Value>(&json).unwrap()["error"];
        assert_eq!(error["place"], format!("y.rs:12:5, reticent {version}"));
        assert_eq!(error["code"], Code::Internal.to_string());
        let unplaced = finished(&words(&["reticent"]), &[]).stderr;
        assert_eq!(unplaced.lines().count(), 1);
    }

    #[test]
    fn panics_are_recorded_in_their_order_without_their_words() {
        record();
        let top = caught(&words(&["reticent"]), || panic!("row 7 of the data is 42"));
        let (worker, scope) = (line!() + 3, line!() + 2);
        let inside = caught(&words(&["reticent"]), || {
            std::thread::scope(|scope| {
                scope.spawn(|| panic!("row 7 of the data is 42"));
            });
            unreachable!()
        });
        drop(take_hook());
        for caught in [&top, &inside] {
            assert_eq!(caught.status, DEFECT);
            let place = caught.stderr.lines().nth(1).unwrap();
            assert!(place.starts_with("place: ") && place.contains("defect.rs:"), "{place}");
            assert!(!caught.stderr.contains(" 42"), "{}", caught.stderr);
        }
        assert!(!top.stderr.contains(", then "), "{}", top.stderr);
        let place = |line: u32| inside.stderr.find(&format!("defect.rs:{line}:")).unwrap();
        assert!(place(worker) < place(scope), "{}", inside.stderr);
    }
}
