//! How table files are read: which files, and the dialect of their text.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::encoding::Encoding;
use crate::error::{DataError, shown};

/// What counts as missing in CSV text unless a list is given. Blank text counts always.
const MISSING: [&str; 3] = ["NA", "N/A", "null"];

/// How the files of a table are read. The default suits CSV, Parquet and Arrow files as most programs write them.
///
/// All fields but `also`, `derive` and `format` are about CSV text. They are as public as the name of the file: none is guessed
/// from a row, and the separator is detected from the header line alone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Reading {
    /// Further files of the same columns, read after the first; each may be a glob or a folder.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<PathBuf>,
    /// The character between fields; by default the one of `,` `;` tab and `|` that the header line has most of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub separator: Option<char>,
    /// What quotes mean; by default [`Quoting::Double`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quoting: Option<Quoting>,
    /// The texts that count as missing, besides blank; by default `NA`, `N/A` and `null`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<Vec<String>>,
    /// Whether numbers have a decimal comma: `1,5` is 1.5, and dots group thousands, as in `1.234,5`.
    #[serde(alias = "decimal-comma", skip_serializing_if = "std::ops::Not::not")]
    pub decimal_comma: bool,
    /// The encoding: `utf-8` (default), `windows-1252`, `latin1` or `utf-16`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoding: Option<String>,
    /// Columns that are computed from others, such as `bmi = weight / (height*height) in 10,60`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub derive: Vec<String>,
    /// The format, for names that do not tell it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<Format>,
}

/// What quotes mean in CSV text. Outside of a quoted field a quote is a character like any other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quoting {
    /// A field that starts with `"` ends at the next `"`; inside of it a quote is written twice (RFC 4180).
    #[default]
    Double,
    /// As `double`; inside of a quoted field `\"` is a quote too, and `\\` a backslash.
    Backslash,
    /// Quotes have no meaning.
    None,
}

/// The format of a table file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// Text with a header line; also with gzip or zstd compression.
    Csv,
    /// The same with tabs between fields.
    Tsv,
    /// Apache Parquet.
    Parquet,
    /// Arrow IPC, as a file or as a stream.
    Arrow,
}

impl Format {
    /// The words that name a format, and the endings of file names.
    pub(super) fn named(word: &str) -> Option<Self> {
        Some(match word {
            "csv" => Self::Csv,
            "tsv" => Self::Tsv,
            "parquet" => Self::Parquet,
            "arrow" | "feather" | "ipc" | "arrows" => Self::Arrow,
            _ => return None,
        })
    }
}

impl Reading {
    /// Whether nothing is set.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// The same for one file alone: without the further files.
    pub fn of_one_file(&self) -> Self {
        Self { also: Vec::new(), ..self.clone() }
    }

    /// Checks the options about text by themselves, without a file.
    ///
    /// # Errors
    /// [`DataError::ReadingOption`] for one that has no meaning.
    pub fn check(&self) -> Result<(), DataError> {
        self.dialect().map(drop)
    }

    /// How the text of a file is read, and nothing else: without further files and derived columns, and without options that say the default. Two
    /// readings with the same result read the same rows from a file.
    pub fn dialect_only(&self) -> Self {
        let settled = Self { also: Vec::new(), derive: Vec::new(), ..self.clone() };
        let is_usual = self.missing.as_ref().is_some_and(|_| self.missing() == MISSING);
        Self {
            quoting: self.quoting.filter(|quoting| *quoting != Quoting::Double),
            missing: if is_usual { None } else { self.missing.as_ref().map(|_| self.missing()) },
            encoding: self.encoding.clone().filter(|name| Encoding::named(name) != Some(Encoding::Utf8)),
            ..settled
        }
    }

    /// The texts that count as missing in CSV files, without blanks around them; blank text is not among them.
    pub fn missing(&self) -> Vec<String> {
        let list = match &self.missing {
            Some(list) => list.iter().map(|marker| marker.trim().to_owned()).collect(),
            None => MISSING.map(str::to_owned).to_vec(),
        };
        list.into_iter().filter(|marker: &String| !marker.is_empty()).collect()
    }

    /// The checked dialect of CSV text.
    pub(super) fn dialect(&self) -> Result<Dialect, DataError> {
        let separator = self.separator.map(|separator| {
            u8::try_from(separator).ok().filter(|byte| byte.is_ascii() && !b"\"\n\r\\".contains(byte)).ok_or_else(
                || DataError::ReadingOption {
                    option: "separator",
                    value: shown(&separator.to_string()),
                    remedy: "give one ASCII character, such as ; or a tab, that is neither a quote, a backslash nor a line end",
                },
            )
        });
        let encoding = self.encoding.as_deref().map_or(Ok(Encoding::Utf8), |name| {
            Encoding::named(name).ok_or_else(|| DataError::ReadingOption {
                option: "encoding",
                value: shown(name),
                remedy: "give utf-8, windows-1252, latin1 or utf-16, or save the file as UTF-8",
            })
        });
        Ok(Dialect {
            separator: separator.transpose()?,
            quoting: self.quoting.unwrap_or_default(),
            missing: Markers::new(&self.missing()),
            decimal_comma: self.decimal_comma,
            encoding: encoding?,
        })
    }
}

/// How CSV text is read, checked.
#[derive(Clone, Debug)]
pub(super) struct Dialect {
    /// `None`: detected from the header line.
    pub(super) separator: Option<u8>,
    pub(super) quoting: Quoting,
    pub(super) missing: Markers,
    pub(super) decimal_comma: bool,
    pub(super) encoding: Encoding,
}

/// The texts that count as missing.
#[derive(Clone, Debug)]
pub(super) struct Markers {
    texts: Vec<String>,
    /// Whether a marker, or blank text, may start with that byte.
    starts: [bool; 256],
}

impl Markers {
    fn new(texts: &[String]) -> Self {
        let mut starts = [false; 256];
        for text in texts {
            if let Some(first) = text.bytes().next() {
                starts[usize::from(first)] = true;
            }
        }
        for blank in b" \t\n\r\x0c" {
            starts[usize::from(*blank)] = true;
        }
        Self { texts: texts.to_vec(), starts }
    }

    pub(super) fn texts(&self) -> &[String] {
        &self.texts
    }

    /// Whether a field has no value: it is blank, or a marker once trimmed.
    pub(super) fn hold(&self, field: &[u8]) -> bool {
        match field.first() {
            None => true,
            Some(first) if !self.starts[usize::from(*first)] => false,
            Some(_) => {
                let trimmed = field.trim_ascii();
                trimmed.is_empty() || self.texts.iter().any(|text| text.as_bytes() == trimmed)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reading_is_plain_data_with_defaults() {
        let plain: Reading = toml::from_str("").unwrap();
        assert!(plain.is_default());
        assert_eq!(toml::to_string(&plain).unwrap(), "");
        let text = "also = [\"b.csv\"]\nseparator = \";\"\nquoting = \"none\"\nmissing = [\"-9\"]\ndecimal_comma = true\n\
                    encoding = \"latin1\"\nderive = [\"a = b in 0,1\"]\nformat = \"tsv\"\n";
        let full: Reading = toml::from_str(text).unwrap();
        assert_eq!(toml::from_str::<Reading>(&toml::to_string(&full).unwrap()).unwrap(), full);
        assert_eq!(toml::from_str::<Reading>(&text.replace('_', "-")).unwrap(), full);
        assert!(toml::from_str::<Reading>("separater = \";\"").is_err());
        assert!(full.of_one_file().also.is_empty());
    }

    #[test]
    fn what_is_missing_is_decided_on_trimmed_text() {
        let markers = |reading: Reading| reading.dialect().unwrap().missing;
        let plain = markers(Reading::default());
        for text in ["", "  ", "\t", "NA", " N/A ", "null"] {
            assert!(plain.hold(text.as_bytes()), "{text:?}");
        }
        for text in ["0", "na", "NAN", "N", "nullx", "x NA"] {
            assert!(!plain.hold(text.as_bytes()), "{text:?}");
        }
        let own =
            markers(Reading { missing: Some(vec![String::new(), " -9 ".into()]), ..Reading::default() });
        assert_eq!(own.texts(), ["-9"]);
        assert!(own.hold(b"-9") && own.hold(b" ") && !own.hold(b"NA"));
        let none = markers(Reading { missing: Some(Vec::new()), ..Reading::default() });
        assert!(!none.hold(b"NA") && none.hold(b""));
    }

    #[test]
    fn separators_and_encodings_are_checked() {
        for separator in ['"', '\n', '\r', '\\', 'é'] {
            let error = Reading { separator: Some(separator), ..Reading::default() }.dialect().unwrap_err();
            assert!(error.to_string().starts_with("separator "), "{error}");
        }
        let reading = Reading { encoding: Some("ebcdic".into()), ..Reading::default() };
        assert_eq!(
            reading.dialect().unwrap_err().to_string(),
            "encoding \"ebcdic\": give utf-8, windows-1252, latin1 or utf-16, or save the file as UTF-8"
        );
    }
}
