//! A keyed digest of the training data: whether data are those that a model was trained on.
//!
//! Every unit (a row, an image, all rows of a user) is hashed as it is encoded, with HMAC-SHA256 under a random key of the
//! folder's own; the hashes are added up modulo 2^256, so that the order of the rows does not matter, and the sum is hashed with
//! the number of units.
//!
//! A reader with the key and the digest can test whole tables, and so learns whether a given table *is* the training data;
//! if they know all rows but one, they can confirm a guess about that row. No certificate allows this. The file is therefore
//! private: only its owner may read it, the certificate does not cover it, and it must not be shared with the
//! model. Without it a model can predict and be evaluated, but not be audited or resumed. A digest without a key would reveal the same to everyone who sees it,
//! wherever it was copied to, and two folders with the same digest would be seen to have the same data; a keyed one without its key is
//! a random number.
//!
//! Data are compared as a whole, or as a part that has at least half of it, and never row by row: a refusal for a small part would answer
//! whether a row is among the private ones to someone who chooses the parts.

use super::layout::FINGERPRINT_FILE;
use super::seal::{hex, is_bound};
use super::writer::Writer;
use crate::refusal::Refusal;
use reticent_core::Code;
use reticent_data::FeatureMatrix;
use reticent_noise::Entropy;
use reticent_noise::entropy::Bits;
use reticent_train::{Examples, Inputs, Targets};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// The form of the digest.
const FORMAT: u32 = 1;

/// The length of a block of SHA-256.
const BLOCK: usize = 64;

/// Data whose content can be compared.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Content<'a> {
    /// Encoded rows, one a unit.
    Rows(&'a FeatureMatrix),
    /// Examples as they were read, and to which user each belongs where users are protected.
    Examples(&'a Examples, Option<&'a [u32]>),
}

impl Content<'_> {
    /// How many records there are.
    fn len(&self) -> usize {
        match self {
            Self::Rows(design) => design.rows(),
            Self::Examples(examples, _) => examples.raw().len(),
        }
    }
}

/// What was read of a table: what is trained on, and what is held out of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Divided<'a> {
    pub(crate) training: Content<'a>,
    pub(crate) held_out: Option<Content<'a>>,
}

impl<'a> Divided<'a> {
    /// Encoded rows.
    pub(crate) fn rows(training: &'a FeatureMatrix, held_out: Option<&'a FeatureMatrix>) -> Self {
        Self { training: Content::Rows(training), held_out: held_out.map(Content::Rows) }
    }

    /// Both parts.
    fn parts(self) -> impl Iterator<Item = Content<'a>> {
        std::iter::once(self.training).chain(self.held_out)
    }

    /// How many records there are.
    fn len(self) -> usize {
        self.parts().map(|part| part.len()).sum()
    }

    /// Whether a part has at least half of it.
    fn is_large(self, part: Content<'_>) -> bool {
        2 * part.len() >= self.len()
    }

    /// Whether a content is the whole of it or a large part, in whatever order.
    pub(crate) fn has(self, other: Content<'_>) -> Result<bool, Refusal> {
        let (whole, count) = (self.len(), other.len());
        let alike = |part: &Content<'_>| part.len() == count && self.is_large(*part);
        if count == 0 || (whole != count && !self.parts().any(|part| alike(&part))) {
            return Ok(false);
        }
        let key = Key::draw()?;
        let known = key.digest(other);
        let is_part = self.parts().filter(alike).any(|part| key.digest(part) == known);
        Ok(is_part || (whole == count && key.digest_of(self.parts()) == known))
    }
}

/// A key, under which contents have digests.
#[derive(Clone)]
pub(crate) struct Key {
    bytes: [u8; 32],
    /// SHA-256 after the first block of the inner and of the outer hash.
    inner: Sha256,
    outer: Sha256,
}

impl Key {
    /// A new one.
    pub(crate) fn draw() -> Result<Self, Refusal> {
        let mut entropy = Entropy::new()?;
        let mut bytes = [0; 32];
        for chunk in bytes.chunks_exact_mut(8) {
            chunk.copy_from_slice(&entropy.word().to_le_bytes());
        }
        Ok(Self::of(bytes))
    }

    fn of(bytes: [u8; 32]) -> Self {
        let padded = |pad: u8| {
            let mut block = [pad; BLOCK];
            block.iter_mut().zip(&bytes).for_each(|(place, byte)| *place ^= byte);
            Sha256::new_with_prefix(block)
        };
        Self { bytes, inner: padded(0x36), outer: padded(0x5c) }
    }

    /// HMAC-SHA256.
    fn mac(&self, write: impl FnOnce(&mut Sha256)) -> [u8; 32] {
        let mut inner = self.inner.clone();
        write(&mut inner);
        let mut outer = self.outer.clone();
        outer.update(inner.finalize());
        outer.finalize().into()
    }

    /// The digest of data.
    pub(crate) fn digest(&self, content: Content<'_>) -> String {
        self.digest_of([content])
    }

    /// The digest of data that come in parts, none of which shares a unit with another.
    fn digest_of<'a>(&self, parts: impl IntoIterator<Item = Content<'a>>) -> String {
        let mut sum = Sum::default();
        parts.into_iter().for_each(|part| self.add(part, &mut sum));
        hex(&self.mac(|hash| sum.write(b"all", hash)))
    }

    /// Adds the units of a part.
    fn add(&self, content: Content<'_>, sum: &mut Sum) {
        match content {
            Content::Rows(design) => {
                (0..design.rows()).for_each(|row| sum.add(&self.row(design, row)));
            }
            Content::Examples(examples, None) => {
                let examples = examples.raw();
                (0..examples.len()).for_each(|place| sum.add(&self.example(examples, place)));
            }
            Content::Examples(examples, Some(users)) => {
                let examples = examples.raw();
                let count = users.iter().max().map_or(0, |last| *last as usize + 1);
                let mut each = vec![Sum::default(); count];
                for (place, user) in users.iter().enumerate().take(examples.len()) {
                    each[*user as usize].add(&self.example(examples, place));
                }
                for own in each.iter().filter(|own| own.count > 0) {
                    sum.add(&self.mac(|hash| own.write(b"user", hash)));
                }
            }
        }
    }

    /// The hash of every record, regardless of its user.
    pub(crate) fn records(&self, content: Content<'_>) -> Vec<[u8; 32]> {
        match content {
            Content::Rows(design) => (0..design.rows()).map(|row| self.row(design, row)).collect(),
            Content::Examples(examples, _) => {
                let examples = examples.raw();
                (0..examples.len()).map(|place| self.example(examples, place)).collect()
            }
        }
    }

    fn row(&self, design: &FeatureMatrix, row: usize) -> [u8; 32] {
        let (columns, values) = design.row(row);
        self.mac(|hash| {
            hash.update(b"row");
            let label = design.labels().get(row).copied().unwrap_or_default();
            hash.update(label.to_bits().to_le_bytes());
            for (column, value) in columns.iter().zip(values) {
                hash.update(column.to_le_bytes());
                hash.update(value.to_bits().to_le_bytes());
            }
        })
    }

    fn example(&self, examples: &Examples, place: usize) -> [u8; 32] {
        let range = place * examples.size()..(place + 1) * examples.size();
        let mut bytes = Vec::new();
        match examples.targets() {
            Targets::Classes(classes) => bytes.extend(classes[place].to_le_bytes()),
            Targets::Numbers(numbers) => bytes.extend(numbers[place].to_bits().to_le_bytes()),
            Targets::Next(next) => bytes.extend(next[range.clone()].iter().flat_map(|id| id.to_le_bytes())),
        }
        match examples.inputs() {
            Inputs::Real(values) => {
                bytes.extend(values[range].iter().flat_map(|value| value.to_bits().to_le_bytes()));
            }
            Inputs::Pixels { values, .. } => bytes.extend_from_slice(&values[range]),
            Inputs::Tokens(ids) => bytes.extend(ids[range].iter().flat_map(|id| id.to_le_bytes())),
        }
        self.mac(|hash| {
            hash.update(b"example");
            hash.update(&bytes);
        })
    }
}

/// Hashes added up modulo 2^256.
#[derive(Debug, Clone, Default)]
struct Sum {
    words: [u64; 4],
    count: u64,
}

impl Sum {
    fn add(&mut self, hash: &[u8; 32]) {
        let mut carry = false;
        for (word, bytes) in self.words.iter_mut().zip(hash.as_chunks::<8>().0) {
            let (once, first) = word.overflowing_add(u64::from_le_bytes(*bytes));
            let (twice, second) = once.overflowing_add(u64::from(carry));
            (*word, carry) = (twice, first || second);
        }
        self.count += 1;
    }

    fn write(&self, what: &[u8], hash: &mut Sha256) {
        hash.update(what);
        hash.update(self.count.to_le_bytes());
        self.words.iter().for_each(|word| hash.update(word.to_le_bytes()));
    }
}

/// Whether two contents are the same, in whatever order.
pub(crate) fn is_same(one: Content<'_>, other: Content<'_>) -> Result<bool, Refusal> {
    Divided { training: one, held_out: None }.has(other)
}

#[derive(Debug, Serialize, Deserialize)]
struct Stored {
    format: u32,
    /// Explains the file to a reader.
    note: String,
    key: String,
    training: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    held_out: Option<String>,
    /// Of both together, where something was held out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    whole: Option<String>,
}

const NOTE: &str = "private: tells whether a table is the training data; not covered by the certificate, not to be given away";

/// Writes the digest of what a model is trained on, and of what was held out of the same table.
pub(crate) fn store(writer: &Writer, data: Divided<'_>) -> Result<(), Refusal> {
    let key = Key::draw()?;
    let stored = Stored {
        format: FORMAT,
        note: NOTE.to_owned(),
        key: hex(&key.bytes),
        training: key.digest(data.training),
        held_out: data.held_out.map(|content| key.digest(content)),
        whole: data.held_out.map(|_| key.digest_of(data.parts())),
    };
    let text = serde_json::to_string_pretty(&stored).map_err(Refusal::internal)?;
    writer.write_private(FINGERPRINT_FILE, format!("{text}\n").as_bytes())
}

/// What a folder knows about its training data.
pub(crate) struct Fingerprint {
    key: Key,
    training: String,
    held_out: Option<String>,
    whole: Option<String>,
}

impl Fingerprint {
    /// Reads the one of a folder; none where it was written without a fingerprint, or that was removed.
    pub(crate) fn read(folder: &Path) -> Result<Option<Self>, Refusal> {
        let path = folder.join(FINGERPRINT_FILE);
        let refuse = |why: String| Refusal::new(Code::Broken, format!("{}: {why}", path.display()));
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(refuse(format!("cannot be read: {error}")).coded(Code::Unreadable)),
        };
        let broken = || refuse("not a data fingerprint: restore it from a backup, or train again".to_owned());
        let stored: Stored = serde_json::from_slice(&text).map_err(|_| broken())?;
        if stored.format != FORMAT {
            return Err(refuse(format!(
                "format {} is not supported by this version: use a newer one",
                stored.format
            )));
        }
        let key = Key::of(unhex(&stored.key).ok_or_else(broken)?);
        let Stored { training, held_out, whole, .. } = stored;
        Ok(Some(Self { key, training, held_out, whole }))
    }

    /// Whether these are the data that the model was trained on, and what was held out of them as far as the file says.
    pub(crate) fn is_of(&self, Divided { training, held_out }: Divided<'_>) -> bool {
        let is_held = |known: &String| held_out.is_some_and(|content| self.key.digest(content) == *known);
        self.key.digest(training) == self.training && self.held_out.as_ref().is_none_or(is_held)
    }

    /// Whether the model was trained on these data: on all of them or on the part that is trained on here, if that is a large one, or on a
    /// part of the same whole.
    pub(crate) fn is_from(&self, data: Divided<'_>) -> bool {
        let known = [Some(&self.training), self.whole.as_ref()];
        let part = data.is_large(data.training).then(|| self.key.digest(data.training));
        let here = [part, Some(self.key.digest_of(data.parts()))];
        known.into_iter().flatten().any(|known| here.iter().flatten().any(|own| own == known))
    }

    /// The refusal where a folder should have a fingerprint and has none.
    pub(crate) fn missing(folder: &Path) -> Refusal {
        let path = folder.join(FINGERPRINT_FILE);
        let why = "no such file: without it nobody can tell whether data are those of the training: restore it from where the \
                   model was trained, or train again";
        Refusal::new(Code::Broken, format!("{}: {why}", path.display()))
    }

    /// Refuses data other than those that the folder's model was trained on, and a model that should know them and does not.
    pub(crate) fn check(folder: &Path, name: &str, data: Divided<'_>) -> Result<(), Refusal> {
        match Self::read(folder)? {
            Some(known) if !known.is_of(data) => {
                let text = format!(
                    "{name}: not the training data of the model in {}: give the original data, or train again",
                    folder.display()
                );
                Err(Refusal::new(Code::Changed, text))
            }
            None if is_bound(folder) => Err(Self::missing(folder)),
            _ => Ok(()),
        }
    }
}

fn unhex(text: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    for (place, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * place..2 * place + 2)?, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn examples(rows: &[[f32; 2]], classes: &[u32]) -> Examples {
        Examples::new(&[2], Inputs::Real(rows.concat()), Targets::Classes(classes.to_vec())).unwrap()
    }

    #[test]
    fn the_code_is_the_standard_one() {
        // RFC 4231, test case 2 with its key, which HMAC pads with zeros.
        let mut key = [0; 32];
        key[..4].copy_from_slice(b"Jefe");
        let found = Key::of(key).mac(|hash| hash.update(b"what do ya want for nothing?"));
        assert_eq!(hex(&found), "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    }

    #[test]
    fn order_does_not_matter_and_everything_else_does() {
        let one = examples(&[[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]], &[0, 1, 0]);
        let turned = examples(&[[3.0, 4.0], [1.0, 2.0], [1.0, 2.0]], &[1, 0, 0]);
        let plain = |examples| Content::Examples(examples, None);
        assert!(is_same(plain(&one), plain(&turned)).unwrap());
        for other in [
            examples(&[[3.0, 4.0], [1.0, 2.0]], &[1, 0]),
            examples(&[[3.0, 4.0], [1.0, 2.0], [1.0, 2.5]], &[1, 0, 0]),
            examples(&[[3.0, 4.0], [1.0, 2.0], [1.0, 2.0]], &[1, 0, 1]),
            examples(&[[3.0, 4.0], [3.0, 4.0], [1.0, 2.0]], &[1, 1, 0]),
        ] {
            assert!(!is_same(plain(&one), Content::Examples(&other, None)).unwrap());
        }
        // Whose rows they are counts, and not how users are numbered.
        let by = |users| Content::Examples(&one, Some(users));
        assert!(is_same(by(&[0, 1, 1]), by(&[1, 0, 0])).unwrap());
        assert!(is_same(by(&[0, 1, 1]), by(&[1, 1, 0])).unwrap(), "equal rows change places");
        assert!(!is_same(by(&[0, 1, 1]), by(&[0, 1, 0])).unwrap());
        assert!(!is_same(by(&[0, 1, 1]), plain(&one)).unwrap());
        let nothing = examples(&[], &[]);
        assert!(!is_same(plain(&nothing), plain(&nothing)).unwrap());
    }

    #[test]
    fn what_is_held_out_belongs_to_the_whole() {
        let whole = examples(&[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], &[0, 1, 0]);
        let (first, rest, last) = (whole.subset(&[1]), whole.subset(&[2, 0]), whole.subset(&[2]));
        let plain = |examples| Content::Examples(examples, None);
        let own = Divided { training: plain(&rest), held_out: Some(plain(&first)) };
        for part in [&whole, &rest] {
            assert!(own.has(plain(part)).unwrap());
        }
        // A small part would tell whether a row is in the table.
        assert!(!own.has(plain(&first)).unwrap());
        let turned = Divided { training: plain(&first), held_out: Some(plain(&rest)) };
        assert!(!turned.has(plain(&first)).unwrap() && turned.has(plain(&rest)).unwrap());
        let (other, more) = (whole.subset(&[0, 1]), whole.subset(&[0, 1, 1]));
        assert!(!own.has(plain(&other)).unwrap() && !own.has(plain(&more)).unwrap());
        // Users are numbered anew in no part.
        let by = |examples, users| Content::Examples(examples, Some(users));
        let own = Divided { training: by(&rest, &[1, 1]), held_out: Some(by(&first, &[0])) };
        assert!(own.has(by(&whole, &[4, 2, 4])).unwrap() && !own.has(by(&whole, &[4, 4, 4])).unwrap());
        let key = Key::draw().unwrap();
        let known = |data: Divided<'_>| Fingerprint {
            training: key.digest(data.training),
            held_out: data.held_out.map(|part| key.digest(part)),
            whole: data.held_out.map(|_| key.digest_of(data.parts())),
            key: key.clone(),
        };
        let all = |content| Divided { training: content, held_out: None };
        let own = Divided { training: plain(&rest), held_out: Some(plain(&first)) };
        assert!(known(all(plain(&whole))).is_from(own) && known(all(plain(&rest))).is_from(own));
        assert!(!known(all(plain(&first))).is_from(own) && !known(all(plain(&first))).is_of(own));
        // A model of a part was trained on the whole that it is a part of, and on every other division of it.
        let divided = Divided { training: plain(&other), held_out: Some(plain(&last)) };
        assert!(known(own).is_of(own) && !known(own).is_of(divided) && !known(own).is_of(all(plain(&rest))));
        for same in [own, divided, all(plain(&whole)), all(plain(&rest))] {
            assert!(known(own).is_from(same));
        }
        assert!(!known(own).is_from(all(plain(&first))) && !known(own).is_from(all(plain(&more))));
        assert!(!known(all(plain(&first))).is_from(turned));
    }

    #[test]
    fn rows_are_told_apart() {
        let design =
            |values: &[f64], labels: &[f64]| FeatureMatrix::dense(2, values, labels.to_vec(), 1.0).unwrap();
        let one = design(&[0.1, 0.2, 0.3, 0.4], &[1.0, -1.0]);
        let turned = design(&[0.3, 0.4, 0.1, 0.2], &[-1.0, 1.0]);
        let other = design(&[0.3, 0.4, 0.1, 0.2], &[1.0, -1.0]);
        assert!(is_same(Content::Rows(&one), Content::Rows(&turned)).unwrap());
        assert!(!is_same(Content::Rows(&one), Content::Rows(&other)).unwrap());
    }

    #[test]
    fn keys_come_back_and_differ() {
        let (one, other) = (Key::draw().unwrap(), Key::draw().unwrap());
        assert_ne!(one.bytes, other.bytes);
        assert_eq!(unhex(&hex(&one.bytes)), Some(one.bytes));
        for text in ["", "0", "zz", &"é".repeat(32), &"0".repeat(63), &"g".repeat(64)] {
            assert_eq!(unhex(text), None, "{text}");
        }
        let data = examples(&[[1.0, 2.0]], &[0]);
        assert_ne!(one.digest(Content::Examples(&data, None)), other.digest(Content::Examples(&data, None)));
    }
}
