//! What table files have in common: a path, a size, and that they do not change during a pass.

use std::fs::{self, File};
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::reading::{Format, Reading};
use super::spool::{STANDARD_INPUT, Spool, standard_input};
use crate::error::{DataError, shown, shown_path};

/// The path that stands for standard input.
pub(super) const DASH: &str = "-";

/// A regular file that is not empty, or standard input.
#[derive(Clone, Debug)]
pub(super) struct TableFile {
    pub(super) path: PathBuf,
    /// The path as messages show it.
    pub(super) name: String,
    pub(super) size_bytes: u64,
    /// Where the bytes of standard input are kept.
    spool: Option<Arc<Spool>>,
    /// How its text is read.
    pub(super) reading: Reading,
}

impl TableFile {
    /// Opens a file; with it, its format.
    pub(super) fn open(path: &Path, reading: &Reading) -> Result<(Self, File, Format), DataError> {
        if path.as_os_str() == DASH {
            return Self::open_input(path, reading);
        }
        let name = shown_path(path);
        let about = fs::metadata(path).map_err(|error| match error.kind() {
            ErrorKind::NotFound => DataError::NotFound { file: name.clone() },
            _ => DataError::io(&name, "read", &error),
        })?;
        if !about.is_file() {
            return Err(DataError::NotAFile { file: name });
        }
        let format = match reading.format {
            Some(format) => format,
            None => format_of(path)
                .map_err(|extension| DataError::UnknownFormat { file: name.clone(), extension })?,
        };
        let opened = File::open(path).map_err(|error| DataError::io(&name, "read", &error))?;
        if about.len() == 0 {
            return Err(DataError::Empty { file: name });
        }
        let (path, reading) = (path.to_owned(), reading.dialect_only());
        Ok((Self { path, name, size_bytes: about.len(), spool: None, reading }, opened, format))
    }

    fn open_input(path: &Path, reading: &Reading) -> Result<(Self, File, Format), DataError> {
        let spool = standard_input()?;
        let name = STANDARD_INPUT.to_owned();
        let size_bytes = spool.size_bytes;
        if size_bytes == 0 {
            return Err(DataError::Empty { file: name });
        }
        let own = reading.dialect_only();
        let file = Self { path: path.to_owned(), name, size_bytes, spool: Some(spool), reading: own };
        let mut opened = file.reopen()?;
        let format = match reading.format {
            Some(format) => format,
            None => {
                let failed = |error: std::io::Error| DataError::io(&file.name, "read", &error);
                let mut start = Vec::new();
                (&mut opened).take(8).read_to_end(&mut start).map_err(failed)?;
                opened.seek(SeekFrom::Start(0)).map_err(failed)?;
                format_by_start(&start)
            }
        };
        Ok((file, opened, format))
    }

    /// The file once more, if it still has its size.
    pub(super) fn reopen(&self) -> Result<File, DataError> {
        let failed = |error: std::io::Error| DataError::io(&self.name, "read", &error);
        let opened = match &self.spool {
            Some(spool) => spool.reopen().map_err(failed)?,
            None => File::open(&self.path).map_err(failed)?,
        };
        if opened.metadata().map_err(failed)?.len() != self.size_bytes {
            return Err(self.changed());
        }
        Ok(opened)
    }

    pub(super) fn changed(&self) -> DataError {
        DataError::Changed { file: self.name.clone() }
    }
}

/// The format that the ending of a name tells, in any case; else that ending with its dot, empty if there is none.
pub(super) fn format_of(path: &Path) -> Result<Format, String> {
    let extension = |path: &Path| path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    let last = extension(path);
    let packed = matches!(last.as_str(), "gz" | "zst" | "zstd");
    let inner = if packed { extension(Path::new(path.file_stem().unwrap_or_default())) } else { last };
    let text = packed.then_some([Format::Csv, Format::Tsv]);
    let format = Format::named(&inner).filter(|format| text.is_none_or(|text| text.contains(format)));
    format.ok_or_else(|| {
        path.extension()
            .map_or(String::new(), |end| shown(&format!(".{}", end.to_string_lossy().to_lowercase())))
    })
}

/// The format of bytes without a name. CSV has no sign of its own.
fn format_by_start(start: &[u8]) -> Format {
    if start.starts_with(b"PAR1") {
        Format::Parquet
    } else if start.starts_with(b"ARROW1") || start.starts_with(&[0xff; 4]) {
        Format::Arrow
    } else {
        Format::Csv
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_formats() {
        let format = |name: &str| format_of(Path::new(name));
        assert_eq!(format("a/B.CSV"), Ok(Format::Csv));
        assert_eq!(format("b.csv.gz"), Ok(Format::Csv));
        assert_eq!(format("b.tsv.ZST"), Ok(Format::Tsv));
        assert_eq!(format("b.gz"), Err(".gz".to_owned()));
        assert_eq!(format("b.parquet.gz"), Err(".gz".to_owned()));
        assert_eq!(format("b.parquet"), Ok(Format::Parquet));
        assert_eq!(format("b.feather"), Ok(Format::Arrow));
        assert_eq!(format("b.tar.gz"), Err(".gz".to_owned()));
        assert_eq!(format("b"), Err(String::new()));
        assert_eq!(format("b.xlsx"), Err(".xlsx".to_owned()));
    }

    #[test]
    fn bytes_without_a_name_tell_their_format() {
        assert_eq!(format_by_start(b"PAR1\x15"), Format::Parquet);
        assert_eq!(format_by_start(b"ARROW1\0\0"), Format::Arrow);
        assert_eq!(format_by_start(&[0xff, 0xff, 0xff, 0xff, 9]), Format::Arrow);
        assert_eq!(format_by_start(b"age,sex\n"), Format::Csv);
        assert_eq!(format_by_start(b"\x1f\x8b"), Format::Csv);
    }
}
