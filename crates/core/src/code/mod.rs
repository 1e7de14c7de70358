//! The codes of all errors, shared by the libraries, the command and its bindings.
//!
//! Codes are append-only: a code keeps its number and its meaning for good, scripts may rely on it. A new kind of mistake
//! gets a new number at the end of its group; a code that nothing uses any more stays here and is explained as retired.
//!
//! What a code means stands here too, so the command, its pages and every binding agree.
//!
//! | module | explains |
//! |---|---|
//! | `command` | R1xx: the command line |
//! | `value` | R2xx: values |
//! | `file` | R3xx: files and tables |
//! | `guarantee` | R4xx: what no guarantee covers |
//! | `model` | R5xx: stored models and runs |
//! | `audit` | R6xx: audits |
//! | `budget` | R7xx: stored budgets |
//! | `machine` | R9xx: the machine and defects |

mod audit;
mod budget;
mod command;
mod file;
mod guarantee;
mod machine;
mod model;
mod value;

use std::fmt;

macro_rules! codes {
    ($($(#[$about:meta])+ $name:ident = $number:literal,)+) => {
        /// What kind of mistake an error is.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u16)]
        pub enum Code {
            $($(#[$about])+ $name = $number,)+
        }

        impl Code {
            /// All codes, in order.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];
        }
    };
}

codes! {
    /// A flag, a command or a word that is not known.
    UnknownWord = 101,
    /// A flag or an argument that is needed.
    Missing = 102,
    /// A flag that does not go with another one, or with what is asked.
    Conflict = 103,
    /// A flag without its value, or with one too many.
    Words = 104,
    /// No error has that code.
    Unexplained = 105,
    /// A value outside its range.
    Range = 201,
    /// Text where a number belongs.
    NotANumber = 202,
    /// An unknown name.
    UnknownName = 203,
    /// Invalid bounds.
    Bounds = 204,
    /// A list with an item too few, too many, empty or twice.
    List = 205,
    /// A filter that cannot be read.
    Filter = 206,
    /// An ε that protects nobody, or whose answer is all noise.
    Useless = 207,
    /// No such file.
    NotFound = 301,
    /// A file that cannot be read.
    Unreadable = 302,
    /// A file or folder that cannot be written.
    Unwritable = 303,
    /// A place for output that something else has.
    Taken = 304,
    /// A file of another format, or a broken one.
    Format = 305,
    /// A column or an array that is not there, or there twice.
    Column = 306,
    /// A row or a cell that does not fit.
    Row = 307,
    /// No rows.
    NoRows = 308,
    /// A column of a type that does not fit.
    Type = 309,
    /// A dataset or a folder of images that is not there.
    Dataset = 310,
    /// Text that is not TOML.
    TomlSyntax = 311,
    /// A value in a TOML file that means nothing.
    TomlValue = 312,
    /// A key in a TOML file that means nothing.
    TomlKey = 313,
    /// A JSON file of events or a certificate that cannot be read.
    Json = 314,
    /// A schema that does not do for what is asked.
    Schema = 315,
    /// An invalid vocabulary.
    Vocabulary = 316,
    /// A file that is too large.
    TooLarge = 317,
    /// A layer of a network that does not fit, or that has no private gradient.
    Layer = 318,
    /// An accountant without a valid bound.
    Unsupported = 401,
    /// A theorem about other neighbours.
    Relation = 402,
    /// A method that gives another kind of guarantee.
    Kind = 403,
    /// A solver too far from the minimum.
    NotConverged = 404,
    /// A budget that is spent already.
    Spent = 405,
    /// Nothing keeps within the budget.
    Unreachable = 406,
    /// No model in the folder.
    NoModel = 501,
    /// Stored files that are broken or do not belong together.
    Broken = 502,
    /// A run that is resumed with something else.
    Changed = 503,
    /// Data that do not fit the model.
    Misfit = 504,
    /// A question that the records cannot answer.
    NotMeasurable = 601,
    /// A model that these attacks are not about.
    Premise = 602,
    /// References that are not trained.
    References = 603,
    /// No findings of an audit.
    NoAudit = 604,
    /// A column of scores or memberships without meaning.
    Scores = 605,
    /// A budget that is closed or expired.
    BudgetClosed = 701,
    /// A record of a budget that was altered, rolled back or copied.
    BudgetAltered = 702,
    /// A budget that others keep locked.
    BudgetBusy = 703,
    /// A sub-budget that is missing, or there already.
    SubBudget = 704,
    /// Data that do not belong to a budget.
    OtherData = 705,
    /// A defect of the program.
    Internal = 901,
    /// No randomness.
    Entropy = 902,
    /// No thread.
    Thread = 903,
    /// A device that failed.
    Device = 904,
    /// Standard output that cannot be written.
    Output = 905,
}

/// What a code means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Explanation {
    /// A few words.
    pub title: &'static str,
    /// What went wrong, in whole sentences.
    pub cause: &'static str,
    /// What to do about it, in whole sentences.
    pub remedy: &'static str,
}

impl Code {
    /// The groups of codes: the first digit of their numbers, and what they are about.
    pub const GROUPS: [(u16, &'static str); 8] = [
        (1, "The command line"),
        (2, "Values"),
        (3, "Files and tables"),
        (4, "What no guarantee covers"),
        (5, "Stored models and runs"),
        (6, "Audits"),
        (7, "Stored budgets"),
        (9, "The machine and defects"),
    ];

    /// What it means.
    pub fn explanation(self) -> Explanation {
        match self {
            Self::UnknownWord => command::UNKNOWN_WORD,
            Self::Missing => command::MISSING,
            Self::Conflict => command::CONFLICT,
            Self::Words => command::WORDS,
            Self::Unexplained => command::UNEXPLAINED,
            Self::Range => value::RANGE,
            Self::NotANumber => value::NOT_A_NUMBER,
            Self::UnknownName => value::UNKNOWN_NAME,
            Self::Bounds => value::BOUNDS,
            Self::List => value::LIST,
            Self::Filter => value::FILTER,
            Self::Useless => value::USELESS,
            Self::NotFound => file::NOT_FOUND,
            Self::Unreadable => file::UNREADABLE,
            Self::Unwritable => file::UNWRITABLE,
            Self::Taken => file::TAKEN,
            Self::Format => file::FORMAT,
            Self::Column => file::COLUMN,
            Self::Row => file::ROW,
            Self::NoRows => file::NO_ROWS,
            Self::Type => file::TYPE,
            Self::Dataset => file::DATASET,
            Self::TomlSyntax => file::TOML_SYNTAX,
            Self::TomlValue => file::TOML_VALUE,
            Self::TomlKey => file::TOML_KEY,
            Self::Json => file::JSON,
            Self::Schema => file::SCHEMA,
            Self::Vocabulary => file::VOCABULARY,
            Self::TooLarge => file::TOO_LARGE,
            Self::Layer => file::LAYER,
            Self::Unsupported => guarantee::UNSUPPORTED,
            Self::Relation => guarantee::RELATION,
            Self::Kind => guarantee::KIND,
            Self::NotConverged => guarantee::NOT_CONVERGED,
            Self::Spent => guarantee::SPENT,
            Self::Unreachable => guarantee::UNREACHABLE,
            Self::NoModel => model::NO_MODEL,
            Self::Broken => model::BROKEN,
            Self::Changed => model::CHANGED,
            Self::Misfit => model::MISFIT,
            Self::NotMeasurable => audit::NOT_MEASURABLE,
            Self::Premise => audit::PREMISE,
            Self::References => audit::REFERENCES,
            Self::NoAudit => audit::NO_AUDIT,
            Self::Scores => audit::SCORES,
            Self::BudgetClosed => budget::CLOSED,
            Self::BudgetAltered => budget::ALTERED,
            Self::BudgetBusy => budget::BUSY,
            Self::SubBudget => budget::SUB_BUDGET,
            Self::OtherData => budget::OTHER_DATA,
            Self::Internal => machine::INTERNAL,
            Self::Entropy => machine::ENTROPY,
            Self::Thread => machine::THREAD,
            Self::Device => machine::DEVICE,
            Self::Output => machine::OUTPUT,
        }
    }

    /// Its number.
    pub fn number(self) -> u16 {
        self as u16
    }

    /// The code that `text` names: `R201`, `r201` or `201`.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.trim().trim_start_matches(['r', 'R']);
        let number: u16 = digits.parse().ok()?;
        Self::ALL.iter().copied().find(|code| code.number() == number)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "R{}", self.number())
    }
}

/// An error that has a code: every error of the libraries does.
pub trait Coded: std::error::Error {
    /// What kind of mistake it is.
    fn code(&self) -> Code;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_distinct_in_order_and_explained() {
        assert!(Code::ALL.windows(2).all(|pair| pair[0].number() < pair[1].number()));
        for code in Code::ALL {
            let Explanation { title, cause, remedy } = code.explanation();
            assert!(title.len() > 5 && cause.ends_with('.') && remedy.ends_with('.'), "{code}");
            assert!(Code::GROUPS.iter().any(|(digit, _)| *digit == code.number() / 100), "{code}");
        }
    }

    #[test]
    fn codes_are_read_in_several_ways() {
        for text in ["R201", "r201", "201", " R201 "] {
            assert_eq!(Code::parse(text), Some(Code::Range), "{text}");
        }
        for text in ["", "R", "R2", "2010", "RR", "R-1", "range"] {
            assert_eq!(Code::parse(text), None, "{text}");
        }
    }
}
