//! The codes of all errors, shared by the libraries, the command and its bindings.
//!
//! Codes are append-only: a code keeps its number and its meaning for good, scripts may rely on it. A new kind of mistake
//! gets a new number at the end of its group; a code that nothing uses any more stays here and is explained as retired.

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
    /// A name that is none of those that can be chosen.
    UnknownName = 203,
    /// Two bounds that are no interval.
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
    /// A vocabulary that is none.
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

impl Code {
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
