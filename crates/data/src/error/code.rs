//! The codes of errors about data.

use super::DataError;
use crate::cell::NumberError;
use crate::schema::{SchemaError, SchemaProblem};
use crate::toml::{TomlError, TomlFault};
use reticent_core::{Code, Coded};

impl Coded for DataError {
    fn code(&self) -> Code {
        match self {
            Self::NotFound { .. } | Self::NoMatch { .. } => Code::NotFound,
            Self::NotAFile { .. }
            | Self::NotRegular { .. }
            | Self::UnknownFormat { .. }
            | Self::Empty { .. }
            | Self::MixedBatches { .. }
            | Self::Malformed { .. }
            | Self::HeaderNotText { .. }
            | Self::Utf16 { .. }
            | Self::AmbiguousSeparator { .. }
            | Self::NoTables { .. }
            | Self::Partitioned { .. }
            | Self::Terminal
            | Self::UnsupportedCompression { .. }
            | Self::Unsupported { .. } => Code::Format,
            Self::File(error) => error.code(),
            Self::OutputNotCsv { .. } => Code::Unwritable,
            Self::Changed { .. } => Code::Unreadable,
            Self::DuplicateColumn { .. }
            | Self::UnknownColumn { .. }
            | Self::UnknownArray { .. }
            | Self::DifferentColumns { .. } => Code::Column,
            Self::ReadingOption { .. } => Code::UnknownName,
            Self::MissingMarker { .. } | Self::SameFile { .. } => Code::Conflict,
            Self::UnclosedQuote { .. }
            | Self::StrayQuote { .. }
            | Self::Ragged { .. }
            | Self::NotText { .. }
            | Self::NotANumber { .. }
            | Self::NotFinite { .. } => Code::Row,
            Self::UnsupportedType { .. } | Self::NotNumeric { .. } => Code::Type,
            Self::Filter { .. } | Self::Derivation { .. } => Code::Filter,
            Self::TooLarge { .. } => Code::TooLarge,
            Self::UnequalParts { .. }
            | Self::NoImages { .. }
            | Self::NoDataFolder { .. }
            | Self::UnknownDataset { .. } => Code::Dataset,
            Self::Schema(error) => error.code(),
            Self::Vocabulary { .. } | Self::Vectors { .. } => Code::Vocabulary,
            Self::NoFeatures | Self::TooManyFeatures { .. } => Code::Schema,
            Self::TestShare { .. } => Code::Range,
            Self::OutputRow { .. } | Self::InvalidMatrix { .. } => Code::Internal,
        }
    }
}

impl Coded for SchemaError {
    fn code(&self) -> Code {
        self.problem.code()
    }
}

impl Coded for SchemaProblem {
    fn code(&self) -> Code {
        match self {
            Self::Syntax { .. } => Code::TomlSyntax,
            Self::UnknownKey { .. } => Code::TomlKey,
            _ => Code::TomlValue,
        }
    }
}

impl Coded for NumberError {
    fn code(&self) -> Code {
        Code::Row
    }
}

impl Coded for TomlError {
    fn code(&self) -> Code {
        match self.fault {
            TomlFault::Syntax => Code::TomlSyntax,
            TomlFault::Key => Code::TomlKey,
            TomlFault::Value => Code::TomlValue,
        }
    }
}
