//! `reticent demo`: a guided tour on the bundled records.
//!
//! Each part performs the very commands that it shows, so that what is shown is true.
//!
//! | file | step |
//! |---|---|
//! | `recipe` | the numbers of the demo |
//! | `folder` | its folder: whose it is, and how it is emptied |
//! | `data` | the tables it works on |
//! | `call` | a command that is shown, and the request that it is |
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
use crate::bar::Bar;
use crate::fail::{Fail, words};
use crate::learn::asked;
use crate::text::json_line;
use crate::{INTERRUPTED, Output, audit, interrupt, report};
use folder::Folder;
use narrator::Narrator;
use recipe::Recipe;
use reticent::curator::watch::Activity;
use reticent::curator::{Planned, Refusal, Request};
use serde_json::json;

/// Why a demo ends before its end.
enum Halt {
    /// Something went wrong.
    Failed(Fail),
    /// Ctrl-C.
    Interrupted,
    /// Nobody reads the story any more.
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

/// What all parts share.
struct Tour {
    folder: Folder,
    recipe: Recipe,
    narrator: Narrator,
    /// Whether bars are shown.
    progress: bool,
    /// Flags that go with every training and audit.
    threads: String,
    /// What commands warned of.
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
                    "\nInterrupted. What is finished is kept in {folder}; another 'reticent demo' replaces it and begins anew.\n"
                ),
            };
            Ok(Output { stdout, status: INTERRUPTED, ..Output::default() })
        }
    }
}

impl Tour {
    /// All parts, one after the other.
    fn tell(&mut self) -> Result<serde_json::Value, Halt> {
        self.narrator.say("Reticent: learning from people's data without telling on them.")?;
        self.narrator.say("")?;
        self.narrator.say(&format!(
            "A tour in five parts, about a minute on two cores. The data are a public extract of the 1994 US census (“Adult”), which \
             is part of this program; we treat it as if it were private. Everything is written to {}/.",
            self.folder.name()
        ))?;
        let data = self.waiting("writing the tables", |tour| Ok(data::write(&tour.folder, &tour.recipe)?))?;
        let statistic = statistic::tell(self, &data)?;
        let models = models::tell(self, &data)?;
        let accounting = accounting::tell(self)?;
        let membership = membership::tell(self, &data)?;
        ending::tell(self, statistic, models, accounting, membership)
    }

    /// Work with a line that says so on a terminal. Ctrl-C during the work ends the tour.
    fn waiting<T>(
        &mut self,
        words: &str,
        work: impl FnOnce(&mut Self) -> Result<T, Halt>,
    ) -> Result<T, Halt> {
        let stage = Bar::stage(self.progress);
        stage.say(words);
        let done = work(self)?;
        drop(stage);
        if interrupt::is_asked() { Err(Halt::Interrupted) } else { Ok(done) }
    }

    /// Does what a request asks for. Ctrl-C during the work ends the tour.
    fn ask<R: Request>(&self, request: &R, progress: bool) -> Result<<R::Planned as Planned>::Outcome, Halt> {
        let outcome = asked(request, progress)?;
        if interrupt::is_asked() { Err(Halt::Interrupted) } else { Ok(outcome) }
    }

    /// Keeps what a request warned of.
    fn note(&mut self, warnings: &[String]) {
        for note in warnings.iter().map(|warning| words(warning)) {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
    }

    /// Where a file of the tables is, as commands name it.
    fn table(&self, name: &str) -> String {
        self.folder.shown(&format!("data/{name}"))
    }
}
