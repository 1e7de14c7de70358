//! `reticent demo`: a guided tour on the bundled records.
//!
//! Each part runs the commands that it shows.
//!
//! | file | step |
//! |---|---|
//! | `recipe` | the numbers of the demo |
//! | `folder` | its folder: who made it, and how it is emptied |
//! | `data` | its tables |
//! | `call` | a command that is shown, and its request |
//! | `narrator` | the story on standard output |
//! | `statistic`, `models`, `accounting`, `membership` | parts 1 to 4 |
//! | `ending` | part 5: the page, the files and what to try next |

mod accounting;
mod call;
mod data;
mod ending;
mod folder;
mod membership;
mod models;
mod narrator;
mod recipe;
mod statistic;

use crate::args::demo::Demo;
use crate::bar;
use crate::fail::{Fail, words};
use crate::learn;
use crate::text::json_line;
use crate::{INTERRUPTED, Output, audit, interrupt, report};
use folder::Folder;
use narrator::Narrator;
use recipe::Recipe;
use reticent::curator::{Planned, Refusal, Request};
use serde_json::json;

/// Why a demo ends early.
enum Halt {
    /// Something went wrong.
    Failed(Fail),
    /// Ctrl-C.
    Interrupted,
    /// The reader of standard output closed it.
    Unread,
}

impl From<Fail> for Halt {
    fn from(failure: Fail) -> Self {
        Self::Failed(failure)
    }
}

impl From<Refusal> for Halt {
    fn from(refusal: Refusal) -> Self {
        Self::Failed(refusal.into())
    }
}

/// The state that all parts share.
struct Tour {
    folder: Folder,
    recipe: Recipe,
    narrator: Narrator,
    /// Whether bars are shown.
    progress: bool,
    /// Flags of every training and audit.
    threads: String,
    /// Warnings of the commands.
    notes: Vec<String>,
}

/// Runs the tour.
pub(crate) fn run(arguments: &Demo, progress: bool) -> Result<Output, Fail> {
    let threads = match &arguments.threads {
        Some(text) => format!("--threads {}", audit::request::count("--threads", text, &(1..=1024))?),
        None => String::new(),
    };
    let mut tour = Tour {
        folder: Folder::take(&arguments.out)?,
        recipe: if arguments.quick { recipe::QUICK } else { recipe::FULL },
        narrator: Narrator::new(arguments.json),
        progress: progress && !arguments.json,
        threads,
        notes: Vec::new(),
    };
    interrupt::listen();
    match tour.tell() {
        Ok(numbers) => Ok(Output {
            stdout: if arguments.json { json_line(&numbers)? } else { String::new() },
            warnings: if arguments.open {
                report::open(&tour.folder.path(ending::PAGE))
            } else {
                String::new()
            },
            status: 0,
        }),
        Err(Halt::Failed(failure)) => Err(failure),
        Err(Halt::Unread) => Ok(Output::default()),
        Err(Halt::Interrupted) => {
            let folder = tour.folder.name();
            let stdout = match arguments.json {
                true => json_line(&json!({"interrupted": true, "out": folder}))?,
                false => format!(
                    "\nInterrupted. Finished parts are kept in {folder}; the next 'reticent demo' replaces them and starts over.\n"
                ),
            };
            Ok(Output { stdout, status: INTERRUPTED, ..Output::default() })
        }
    }
}

impl Tour {
    /// All parts, one after the other.
    fn tell(&mut self) -> Result<serde_json::Value, Halt> {
        self.narrator.say("Reticent: statistics and models from private data, with differential privacy.")?;
        self.narrator.say("")?;
        self.narrator.say(&format!(
            "A tour in five parts; it takes about a minute on two cores. The data are a public extract of the 1994 US census (“Adult”), \
             bundled with this program; we treat them as if they were private. All files are written to {}/.",
            self.folder.name()
        ))?;
        let data = self.waiting("writing the tables", |tour| Ok(data::write(&tour.folder, &tour.recipe)?))?;
        let statistic = statistic::tell(self, &data)?;
        let models = models::tell(self, &data)?;
        let accounting = accounting::tell(self)?;
        let membership = membership::tell(self, &data)?;
        ending::tell(self, statistic, models, accounting, membership)
    }

    /// Runs work with a progress label. Ctrl-C ends the tour.
    fn waiting<T>(
        &mut self,
        words: &str,
        work: impl FnOnce(&mut Self) -> Result<T, Halt>,
    ) -> Result<T, Halt> {
        let stage = bar::stage(self.progress);
        stage.say(words);
        let done = work(self)?;
        drop(stage);
        if interrupt::is_requested() { Err(Halt::Interrupted) } else { Ok(done) }
    }

    /// Runs a request. Ctrl-C ends the tour.
    fn ask<R: Request>(&self, request: &R, progress: bool) -> Result<<R::Planned as Planned>::Outcome, Halt> {
        let outcome = learn::run(request, progress)?;
        if interrupt::is_requested() { Err(Halt::Interrupted) } else { Ok(outcome) }
    }

    /// Keeps the warnings of a request.
    fn note(&mut self, warnings: &[String]) {
        for note in warnings.iter().map(|warning| words(warning)) {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
    }

    /// The path of a table in commands.
    fn table(&self, name: &str) -> String {
        self.folder.shown(&format!("data/{name}"))
    }
}
