//! The flags about a model under attack.

use crate::args::audit::Fitting;
use crate::audit::{count, share};
use crate::bar::Terminal;
use crate::fail::Fail;
use reticent::attack::{Design, ReferenceSettings};
use reticent::audit::Draw;
use reticent::curator::audit::{Case, Wanted};
use std::path::Path;

/// Reads the folder of a model, linear or a network.
pub(super) fn read(run: &Path, fitting: &Fitting, key: &str, progress: bool) -> Result<Case, Fail> {
    let wanted = Wanted {
        most: count("--records", fitting.records(), 4, 100_000_000)?,
        others: fitting.non_members.as_deref(),
        declared: match &fitting.drawn {
            Some(text) => Some(Draw::Coins(share("--drawn", text)?)),
            None => None,
        },
        key,
        watch: &Terminal::new(progress),
    };
    Ok(Case::read(run, &wanted)?)
}

/// How many references there are, and on what.
pub(super) fn settings(fitting: &Fitting, key: &str) -> Result<ReferenceSettings, Fail> {
    let references = count("--references", fitting.references(), 0, 65_536)?;
    Ok(ReferenceSettings { key: key.to_owned(), references, design: Design::Half })
}
