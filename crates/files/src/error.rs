//! What can go wrong with a file, one line each.

use crate::text::{shown, shown_path};
use reticent_core::{Cause, Code, Coded};
use std::path::Path;
use thiserror::Error;

/// A file could not be read or written.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FileError {
    /// The operating system refused.
    #[error("{file}: cannot {action}: {reason}")]
    Io {
        /// The path as given.
        file: String,
        /// What was attempted: `read`, `write`, ...
        action: &'static str,
        /// The system's message.
        reason: String,
        /// The system's error.
        #[source]
        cause: Cause,
    },
    /// The name of the file to be written belongs to something that is not a regular file.
    #[error("{file}: this is {kind}, and only a regular file is replaced: give another name")]
    NotReplaced {
        /// The path as given.
        file: String,
        /// What it is, such as `a folder`.
        kind: &'static str,
    },
}

impl FileError {
    /// The operating system refused an action, such as `read`.
    pub fn io(path: &Path, action: &'static str, error: &std::io::Error) -> Self {
        let (reason, cause) = (shown(&error.to_string()), Cause::of_system(error));
        Self::Io { file: shown_path(path), action, reason, cause }
    }

    pub(crate) fn not_replaced(path: &Path, kind: &'static str) -> Self {
        Self::NotReplaced { file: shown_path(path), kind }
    }
}

impl Coded for FileError {
    fn code(&self) -> Code {
        match self {
            Self::Io { action: "write", .. } => Code::Unwritable,
            Self::Io { .. } => Code::Unreadable,
            Self::NotReplaced { .. } => Code::Taken,
        }
    }
}
