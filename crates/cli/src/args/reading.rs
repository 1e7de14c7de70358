//! The flags that say how a table's files are read, shared by every command that reads one.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, value_parser};
use reticent::data::{Format, Quoting, Reading};
use std::path::PathBuf;

#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Reading the table")]
pub(crate) struct ReadingFlags {
    /// A further file of the same columns, read after the first; may be repeated
    ///
    /// As the first file, it may be a glob in quotes ('visits/*.csv') or a folder of Parquet files.
    #[arg(long, value_name = "FILE", hide_short_help = true, value_parser = value_parser!(PathBuf))]
    pub(crate) also: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) dialect: DialectFlags,
    /// A column computed from others, with public bounds, e.g. 'bmi = weight / (height*height) in 10,60'; may be repeated
    #[arg(long, value_name = "COLUMN", hide_short_help = true)]
    pub(crate) derive: Vec<String>,
}

/// The flags about the text of files, which a budget keeps.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Reading the table")]
pub(crate) struct DialectFlags {
    /// The character between the fields of CSV text, or tab [default: by the header line]
    ///
    /// By default it is the one of , ; tab and | that the header line has most of. Rows are never looked at.
    #[arg(long, value_name = "CHAR", hide_short_help = true, allow_hyphen_values = true, value_parser = separator)]
    pub(crate) separator: Option<char>,
    /// What quotes mean in CSV text [default: double]
    ///
    /// double: a quote inside a quoted field is written twice (RFC 4180). backslash: or after a backslash. none: quotes have no
    /// meaning.
    #[arg(long, value_name = "RULE", hide_short_help = true, value_parser = quoting())]
    pub(crate) quoting: Option<Quoting>,
    /// Texts that count as missing in CSV files, comma-separated, besides blank [default: NA,N/A,null]
    ///
    /// Give --missing '' if only blank text is missing.
    #[arg(long, value_name = "A,B,…", hide_short_help = true, allow_hyphen_values = true)]
    pub(crate) missing: Option<String>,
    /// Read numbers with a decimal comma in CSV text: 1,5 is 1.5 and 1.234,5 is 1234.5
    #[arg(long, hide_short_help = true)]
    pub(crate) decimal_comma: bool,
    /// The encoding of CSV text: utf-8, windows-1252, latin1 or utf-16 [default: utf-8]
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    pub(crate) encoding: Option<String>,
    /// The format of the files, if their names do not tell it [default: by the name]
    #[arg(long, value_name = "NAME", hide_short_help = true, value_parser = format())]
    pub(crate) format: Option<Format>,
}

impl ReadingFlags {
    /// The options as the library takes them.
    pub(crate) fn reading(&self) -> Reading {
        Reading { also: self.also.clone(), derive: self.derive.clone(), ..self.dialect.reading() }
    }
}

impl DialectFlags {
    /// The options as the library takes them.
    pub(crate) fn reading(&self) -> Reading {
        let missing = self.missing.as_deref();
        Reading {
            separator: self.separator,
            quoting: self.quoting,
            missing: missing.map(|list| list.split(',').map(|text| text.trim().to_owned()).collect()),
            decimal_comma: self.decimal_comma,
            encoding: self.encoding.clone(),
            format: self.format,
            ..Reading::default()
        }
    }
}

fn separator(text: &str) -> Result<char, String> {
    let mut characters = text.chars();
    match (text, characters.next(), characters.next()) {
        ("tab" | "\\t", ..) => Ok('\t'),
        (_, Some(only), None) => Ok(only),
        _ => Err("give one character, such as ';', or the word tab".to_owned()),
    }
}

fn quoting() -> impl TypedValueParser<Value = Quoting> {
    PossibleValuesParser::new(["double", "backslash", "none"]).map(|name| match name.as_str() {
        "backslash" => Quoting::Backslash,
        "none" => Quoting::None,
        _ => Quoting::Double,
    })
}

fn format() -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new(["csv", "tsv", "parquet", "arrow"]).map(|name| match name.as_str() {
        "tsv" => Format::Tsv,
        "parquet" => Format::Parquet,
        "arrow" => Format::Arrow,
        _ => Format::Csv,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        reading: ReadingFlags,
    }

    fn read(flags: &[&str]) -> Result<Reading, clap::Error> {
        Command::try_parse_from([&["x"], flags].concat()).map(|command| command.reading.reading())
    }

    #[test]
    fn flags_become_options() {
        assert!(read(&[]).unwrap().is_default());
        let reading =
            read(&["--also", "b.csv", "--also", "c.csv", "--separator", ";", "--quoting", "none"]).unwrap();
        assert_eq!(
            (reading.also.len(), reading.separator, reading.quoting),
            (2, Some(';'), Some(Quoting::None))
        );
        for tab in ["tab", "\\t", "\t"] {
            assert_eq!(read(&["--separator", tab]).unwrap().separator, Some('\t'));
        }
        assert!(read(&["--separator", "ab"]).is_err() && read(&["--format", "xlsx"]).is_err());
        let reading =
            read(&["--missing", "-9, .", "--decimal-comma", "--encoding", "latin1", "--format", "tsv"])
                .unwrap();
        assert_eq!(reading.missing, Some(vec!["-9".to_owned(), ".".to_owned()]));
        assert_eq!((reading.decimal_comma, reading.format), (true, Some(Format::Tsv)));
        assert!(read(&["--missing", ""]).unwrap().missing().is_empty());
    }
}
