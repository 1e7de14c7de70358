//! Word vectors from a file: `word v1 v2 …` per line, as GloVe and word2vec write them.

use super::{UNKNOWN, Vocabulary};
use crate::array::read_npy;
use crate::error::{DataError, shown, shown_path};
use crate::table::text_reader;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;

/// The most words that a file may have.
const MOST_WORDS: usize = 1 << 22;

/// The most numbers of a vector.
const MOST_WIDTH: usize = 1 << 12;

/// The most numbers of all vectors together: 2 GiB.
const MOST_NUMBERS: usize = 1 << 29;

/// Public vectors of words.
#[derive(Clone, Debug, PartialEq)]
pub struct Vectors {
    words: Vec<String>,
    width: usize,
    values: Vec<f32>,
}

/// How many tokens of a vocabulary have a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coverage {
    /// Those with a vector.
    pub found: usize,
    /// All of them.
    pub tokens: usize,
}

impl Vectors {
    /// Reads a text file with a word and its numbers on each line, between single spaces or tabs; a first line with the number of words
    /// and their width, as word2vec writes it, is passed over. Compressed files (gzip, zstd) are read as well.
    ///
    /// # Errors
    /// If the file cannot be read, or a line has another number of numbers than the first, or one that is not finite.
    pub fn read(path: &Path) -> Result<Self, DataError> {
        let file = shown_path(path);
        let refuse = |reason: String| DataError::Vectors { file: file.clone(), reason };
        let reader = text_reader(path)?;
        let (mut words, mut values, mut width) = (Vec::new(), Vec::new(), 0);
        for (place, line) in BufReader::with_capacity(1 << 16, reader).lines().enumerate() {
            let line = line.map_err(|error| refuse(format!("line {}: {error}", place + 1)))?;
            let line = line.trim_end();
            if line.is_empty() || (place == 0 && is_header(line)) {
                continue;
            }
            let start = values.len();
            let word = vector(line, width, &mut values)
                .map_err(|why| refuse(format!("line {}: {why}", place + 1)))?;
            width = values.len() - start;
            words.push(word.to_owned());
            if words.len() > MOST_WORDS || values.len() > MOST_NUMBERS {
                return Err(refuse(format!("more than {MOST_WORDS} words or {MOST_NUMBERS} numbers")));
            }
        }
        if words.is_empty() {
            return Err(refuse("it has no vectors: write a word and its numbers on each line".to_owned()));
        }
        Ok(Self { words, width, values })
    }

    /// Reads a NumPy array with a row for each token of a vocabulary, in its order.
    ///
    /// # Errors
    /// If the file cannot be read, or its array is not a matrix of finite numbers with as many rows as there are tokens.
    pub fn read_array(path: &Path, vocabulary: &Vocabulary) -> Result<Self, DataError> {
        let array = read_npy(path)?;
        let values = array.to_f64().iter().map(|value| *value as f32).collect();
        Self::of_rows(path, vocabulary, array.shape(), values)
    }

    /// Vectors of the tokens of a vocabulary, row by row.
    ///
    /// # Errors
    /// If there are not as many rows as tokens, or a number is not finite. The path is for messages.
    pub fn of_rows(
        path: &Path,
        vocabulary: &Vocabulary,
        shape: &[usize],
        values: Vec<f32>,
    ) -> Result<Self, DataError> {
        let tokens = vocabulary.tokens();
        let refuse = |reason: String| DataError::Vectors { file: shown_path(path), reason };
        let &[rows, width] = shape else {
            return Err(refuse(format!("an array of the shape {shape:?}: give a row for each token")));
        };
        if rows != tokens.len() || !(1..=MOST_WIDTH).contains(&width) || values.len() != rows * width {
            return Err(refuse(format!(
                "an array of the shape {shape:?}: give {} rows, one for each line of the vocabulary, of at most {MOST_WIDTH} numbers",
                tokens.len()
            )));
        }
        if values.iter().any(|value| !value.is_finite()) {
            return Err(refuse("a number is not finite".to_owned()));
        }
        Ok(Self { words: tokens.to_vec(), width, values })
    }

    /// The words, in the order of the file.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// The numbers of each vector.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Writes the vectors to a table `[vocabulary][width]`, position by position, and says how many tokens have one. A token without one
    /// keeps its row. Words are compared as they are, and else in lower case.
    pub fn fill(&self, vocabulary: &Vocabulary, table: &mut [f32]) -> Coverage {
        let mut places: BTreeMap<&str, usize> = BTreeMap::new();
        for (place, word) in self.words.iter().enumerate() {
            places.entry(word).or_insert(place);
        }
        let mut lower: BTreeMap<String, usize> = BTreeMap::new();
        for (place, word) in
            self.words.iter().enumerate().filter(|(_, word)| word.chars().any(char::is_uppercase))
        {
            lower.entry(word.to_lowercase()).or_insert(place);
        }
        let mut found = 0;
        let rows = table.chunks_exact_mut(self.width).skip(UNKNOWN as usize + 1);
        for (token, row) in vocabulary.tokens().iter().zip(rows) {
            if let Some(place) = places.get(token.as_str()).or_else(|| lower.get(token)) {
                row.copy_from_slice(&self.values[place * self.width..][..self.width]);
                found += 1;
            }
        }
        Coverage { found, tokens: vocabulary.tokens().len() }
    }
}

/// Whether a first line has two whole numbers, of words and of their width.
fn is_header(line: &str) -> bool {
    let mut parts = line.split_ascii_whitespace().map(str::parse::<u32>);
    matches!((parts.next(), parts.next(), parts.next()), (Some(Ok(_)), Some(Ok(_)), None))
}

/// The word of a line; its numbers are added to `values`.
fn vector<'a>(line: &'a str, width: usize, values: &mut Vec<f32>) -> Result<&'a str, String> {
    let mut parts = line.split([' ', '\t']);
    let word = parts.next().unwrap_or_default();
    let start = values.len();
    for part in parts {
        match part.parse::<f32>() {
            Ok(value) if value.is_finite() => values.push(value),
            _ => return Err(format!("\"{}\" is not a finite number", shown(part))),
        }
    }
    let found = values.len() - start;
    if word.is_empty() || found == 0 || found > MOST_WIDTH {
        return Err(format!("not a word and 1 to {MOST_WIDTH} numbers between single spaces"));
    }
    if width > 0 && found != width {
        return Err(format!("{found} numbers, but the first line has {width}"));
    }
    Ok(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Folder;

    #[test]
    fn vectors_fill_the_rows_of_their_words() {
        let folder = Folder::new();
        let plain = folder.file("v.txt", "win 1 2\nFree 0.5 -1e-1\n. 3 4\n");
        let headed = folder.file("w.txt", "3 2\nwin 1 2 \nFree 0.5 -1e-1\n. 3 4\n");
        let vectors = Vectors::read(&plain).unwrap();
        assert_eq!(vectors, Vectors::read(&headed).unwrap());
        assert_eq!(vectors.width(), 2);
        let words = Vocabulary::of_words(&["free".into(), "lost".into(), "win".into()], "w").unwrap();
        let mut table = vec![9.0; words.size() * 2];
        assert_eq!(vectors.fill(&words, &mut table), Coverage { found: 2, tokens: 3 });
        assert_eq!(table, [9.0, 9.0, 9.0, 9.0, 0.5, -0.1, 9.0, 9.0, 1.0, 2.0]);
        let own = Vocabulary::of_words(vectors.words(), "v").unwrap();
        assert_eq!((own.size(), own.position("win")), (5, 2));
    }

    #[test]
    fn rows_go_with_the_lines_of_a_vocabulary() {
        let words = Vocabulary::of_words(&["a".into(), "b".into()], "w").unwrap();
        let rows =
            |shape: &[usize], values: Vec<f32>| Vectors::of_rows(Path::new("v.npy"), &words, shape, values);
        let vectors = rows(&[2, 1], vec![1.0, 2.0]).unwrap();
        let mut table = vec![0.0; 4];
        assert_eq!(vectors.fill(&words, &mut table).found, 2);
        assert_eq!(table, [0.0, 0.0, 1.0, 2.0]);
        assert!(rows(&[3, 1], vec![1.0; 3]).is_err());
        assert!(rows(&[2], vec![1.0; 2]).is_err());
        assert!(rows(&[2, 1], vec![1.0, f32::NAN]).is_err());
    }

    #[test]
    fn poor_files_are_refused() {
        let folder = Folder::new();
        for (text, part) in [
            ("", "it is empty"),
            ("\n\n", "no vectors"),
            ("win 1 2\nlose 1\n", "line 2: 1 numbers, but the first line has 2"),
            ("win 1 x\n", "line 1: \"x\" is not a finite number"),
            ("win 1 inf\n", "not a finite number"),
            ("win\n", "not a word and"),
        ] {
            let error = Vectors::read(&folder.file("v.txt", text)).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
        assert!(Vectors::read(Path::new("/nowhere/v.txt")).is_err());
    }
}
