//! Arguments to a checked plan. The file is opened, no values are read.

use crate::args::schema::Infer;
use crate::explain::Code;
use crate::fail::Fail;
use crate::file::Target;
use crate::read;
use reticent::core::{Delta, Epsilon};
use reticent::data::schema::Unit;
use reticent::data::{ColumnInfo, ColumnKind, TableFile};
use std::path::PathBuf;

/// Divided among more columns than this, an ε of 1 is all noise; a quarter of a column's share is what a private choice
/// must still be able to draw with.
const COLUMNS_PER_EPSILON: f64 = 1e5;

/// What is to be done.
pub(super) struct Plan {
    pub(super) table: TableFile,
    pub(super) unit: Unit,
    pub(super) label: Option<String>,
    /// The label's positive value, if it was given.
    pub(super) positive: Option<String>,
    /// Columns to leave out unseen.
    pub(super) ignored: Vec<String>,
    /// The columns to look at, in the order of the file.
    pub(super) subjects: Vec<Subject>,
    /// There if the schema is to be private.
    pub(super) budget: Option<Budget>,
    pub(super) out: Option<PathBuf>,
    pub(super) json: bool,
}

/// A column to look at, with what is known of it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Subject {
    pub(super) name: String,
    pub(super) holds: Holds,
}

/// What a column may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    /// Numbers, the file says.
    Numbers,
    /// Text, the file says.
    Text,
    /// Either: the file does not say.
    Either,
}

/// What may be spent on all subjects together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Budget {
    pub(super) epsilon: Epsilon,
    /// 0 if no subject can be text.
    pub(super) delta: Delta,
}

impl Plan {
    /// The file to write, if one was asked for.
    pub(super) fn target(&self) -> Option<Target<'_>> {
        self.out.as_deref().map(|path| Target { flag: "--out", path, extension: "toml" })
    }
}

/// Checks everything that can be checked without reading values.
pub(super) fn plan(arguments: &Infer) -> Result<Plan, Fail> {
    let table = TableFile::open(&arguments.file)?;
    let known = |flag: &str, name: &str| table.column(name).map(drop).map_err(Fail::data(flag));
    for name in &arguments.ignore {
        known("--ignore", name)?;
        let needed = [("label", &arguments.label), ("unit", &arguments.unit)];
        if let Some((role, _)) = needed.iter().find(|(_, column)| column.as_ref() == Some(name)) {
            return Err(Fail::conflict(
                "--ignore",
                name,
                format!("it is the {role}: ignore other columns only"),
            ));
        }
    }
    if let Some(label) = &arguments.label {
        known("--label", label)?;
        if let ColumnKind::Other(kind) = &table.column(label)?.kind {
            return Err(Fail::flag(
                "--label",
                label,
                format!("a {kind} cannot be predicted: name another column"),
            )
            .coded(Code::Type));
        }
    }
    if let Some(positive) = arguments.positive.as_deref().filter(|positive| positive.trim().is_empty()) {
        return Err(Fail::flag(
            "--positive",
            positive,
            "blank cells are missing: give a value that is not blank",
        ));
    }
    let unit = match &arguments.unit {
        None => Unit::Row,
        Some(column) => {
            known("--unit", column)?;
            if arguments.label.as_ref() == Some(column) {
                return Err(Fail::conflict("--unit", column, "it is the label: name another column"));
            }
            Unit::Column(column.clone())
        }
    };
    let private = arguments.epsilon.is_some();
    let read = |column: &&ColumnInfo| {
        let name = Some(&column.name);
        // A label whose positive value is given is as public as a schema can make it.
        let settled = private && arguments.positive.is_some() && arguments.label.as_ref() == name;
        !settled && arguments.unit.as_ref() != name && !arguments.ignore.contains(&column.name)
    };
    let declared = table.declares_kinds();
    let subjects: Vec<Subject> =
        table.columns().iter().filter(read).filter_map(|c| subject(c, declared)).collect();
    let budget = budget(arguments, &subjects, declared)?;
    let plan = Plan {
        unit,
        label: arguments.label.clone(),
        positive: arguments.positive.as_deref().map(|positive| positive.trim().to_owned()),
        ignored: arguments.ignore.clone(),
        subjects,
        budget,
        out: arguments.out.clone(),
        json: arguments.json,
        table,
    };
    match plan.target() {
        Some(target) if arguments.force => target.check()?,
        Some(target) => target.check_new()?,
        None => {}
    }
    Ok(plan)
}

/// A column about which the file leaves something open.
fn subject(column: &ColumnInfo, declared: bool) -> Option<Subject> {
    let holds = match &column.kind {
        ColumnKind::Integer | ColumnKind::Float => Holds::Numbers,
        ColumnKind::Text if declared => Holds::Text,
        ColumnKind::Text => Holds::Either,
        ColumnKind::Boolean | ColumnKind::Other(_) => return None,
    };
    Some(Subject { name: column.name.clone(), holds })
}

fn budget(arguments: &Infer, subjects: &[Subject], declared: bool) -> Result<Option<Budget>, Fail> {
    let delta = arguments.delta.as_deref();
    let Some(epsilon) = &arguments.epsilon else {
        return match delta {
            None => Ok(None),
            Some(delta) => {
                Err(Fail::conflict("--delta", delta, "nothing is spent without --epsilon: give both"))
            }
        };
    };
    let epsilon = read::epsilon(epsilon, subjects.len() as f64 / COLUMNS_PER_EPSILON)?;
    if let Some(unit) = &arguments.unit {
        let remedy = "a schema can be learnt privately for rows only, and one user may have many: leave out --unit or --epsilon";
        return Err(Fail::conflict("--unit", unit, remedy));
    }
    if subjects.is_empty() {
        return Err(Fail::new(Code::Conflict, "--epsilon: there is no column to spend it on: leave it out"));
    }
    let text = subjects.iter().any(|subject| subject.holds != Holds::Numbers);
    let delta = match (delta, text) {
        (Some(delta), true) => read::delta(delta)?,
        (None, false) => Delta::ZERO,
        (Some(given), false) => {
            read::delta(given)?;
            return Err(Fail::conflict(
                "--delta",
                given,
                "leave it out: no column is text, and bounds need none",
            ));
        }
        (None, true) => {
            let why =
                if declared { "text columns need one" } else { "the columns of a CSV file may be text" };
            let remedy = format!("{why}, so that rare labels stay hidden: give e.g. --delta 1e-6");
            return Err(Fail::missing("--delta", remedy));
        }
    };
    Ok(Some(Budget { epsilon, delta }))
}
