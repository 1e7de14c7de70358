//! Fields collected to a column of a batch.

use std::sync::Arc;

use arrow_array::{ArrayRef, LargeStringArray};
use arrow_buffer::{Buffer, NullBuffer, NullBufferBuilder, OffsetBuffer, ScalarBuffer};

use super::super::BATCH_ROWS;

/// The bytes of a column, row by row.
pub(super) struct Column {
    bytes: Vec<u8>,
    /// Where each field ends, after a 0.
    ends: Vec<i64>,
    values: NullBufferBuilder,
}

impl Column {
    /// An empty column with room for that many bytes.
    pub(super) fn with_capacity(bytes: usize) -> Self {
        let mut ends = Vec::with_capacity(BATCH_ROWS + 1);
        ends.push(0);
        Self { bytes: Vec::with_capacity(bytes), ends, values: NullBufferBuilder::new(BATCH_ROWS) }
    }

    /// A field without a value.
    pub(super) fn push_null(&mut self) {
        self.ends.push(self.bytes.len() as i64);
        self.values.append_null();
    }

    /// A field with these bytes.
    pub(super) fn push(&mut self, field: &[u8]) {
        self.bytes.extend_from_slice(field);
        self.ends.push(self.bytes.len() as i64);
        self.values.append_non_null();
    }

    /// The column as it is, and an empty one in its place.
    pub(super) fn take(&mut self) -> Finished {
        let next = Self::with_capacity(self.bytes.len() + self.bytes.len() / 8);
        let Self { bytes, ends, mut values } = std::mem::replace(self, next);
        Finished {
            bytes: Buffer::from_vec(bytes),
            ends: OffsetBuffer::new(ScalarBuffer::from(ends)),
            values: values.finish(),
        }
    }
}

/// A column of a batch.
pub(super) struct Finished {
    bytes: Buffer,
    ends: OffsetBuffer<i64>,
    values: Option<NullBuffer>,
}

impl Finished {
    /// The first `rows` rows as text; `None` if they are not UTF-8.
    pub(super) fn text(&self, rows: usize) -> Option<ArrayRef> {
        let ends = self.ends.slice(0, rows);
        let bytes = self.bytes.slice_with_length(0, ends.last() as usize);
        let values = self.values.as_ref().map(|values| values.slice(0, rows));
        // One check for the bytes of all rows, and one that no character lies in two of them.
        let text = LargeStringArray::try_new(ends, bytes, values);
        text.ok().map(|text| Arc::new(text) as ArrayRef)
    }

    /// The first row that is not UTF-8.
    pub(super) fn first_not_text(&self) -> Option<usize> {
        let is_text =
            |ends: &[i64]| std::str::from_utf8(&self.bytes[ends[0] as usize..ends[1] as usize]).is_ok();
        self.ends.windows(2).position(|ends| !is_text(ends))
    }
}

/// A number with a decimal comma, such as `1,5` or `-1.234,5e3`, as it is written with a decimal point and without groups of
/// thousands; `None` for every other text, and for a number that is the same in both.
pub(super) fn decimal_point(field: &[u8]) -> Option<Vec<u8>> {
    let trimmed = field.trim_ascii();
    let unsigned = match trimmed {
        [b'+' | b'-', rest @ ..] => rest,
        rest => rest,
    };
    let (mantissa, exponent) = match unsigned.iter().position(|byte| matches!(byte, b'e' | b'E')) {
        Some(at) => (&unsigned[..at], Some(&unsigned[at + 1..])),
        None => (unsigned, None),
    };
    let (whole, fraction) = match mantissa.iter().position(|byte| *byte == b',') {
        Some(at) => (&mantissa[..at], Some(&mantissa[at + 1..])),
        None => (mantissa, None),
    };
    let digits = |bytes: &[u8]| bytes.iter().all(u8::is_ascii_digit);
    let grouped = whole.contains(&b'.');
    if grouped {
        let mut groups = whole.split(|byte| *byte == b'.');
        let first = groups.next().unwrap_or_default();
        let sound = matches!(first.len(), 1..=3)
            && digits(first)
            && groups.all(|group| group.len() == 3 && digits(group));
        if !sound {
            return None;
        }
    } else if !digits(whole) {
        return None;
    }
    let exponent_is_sound = exponent.is_none_or(|exponent| {
        let unsigned = match exponent {
            [b'+' | b'-', rest @ ..] => rest,
            rest => rest,
        };
        !unsigned.is_empty() && digits(unsigned)
    });
    let has_digits = !whole.is_empty() || fraction.is_some_and(|fraction| !fraction.is_empty());
    if !exponent_is_sound || !has_digits || !fraction.is_none_or(digits) || (!grouped && fraction.is_none()) {
        return None;
    }
    let point = |byte: &u8| match byte {
        b'.' => None,
        b',' => Some(b'.'),
        other => Some(*other),
    };
    Some(trimmed.iter().filter_map(point).collect())
}

#[cfg(test)]
mod tests {
    use super::decimal_point;

    #[test]
    fn decimal_commas_become_points() {
        for (text, expected) in [
            ("1,5", "1.5"),
            (" -0,25 ", "-0.25"),
            ("1.234,5", "1234.5"),
            ("1.234", "1234"),
            ("12.345.678", "12345678"),
            (",5", ".5"),
            ("5,", "5."),
            ("+1,5e-3", "+1.5e-3"),
        ] {
            let read = decimal_point(text.as_bytes()).unwrap();
            assert_eq!(std::str::from_utf8(&read).unwrap(), expected);
            assert!(expected.parse::<f64>().is_ok());
        }
        for text in [
            "",
            ",",
            "12",
            "1.5",
            "1,2,3",
            "1.23,5",
            "1234.567",
            "01.03.2024",
            "a,b",
            "1,5x",
            "1,5e",
            "-",
            "1,-5",
            "é,5",
        ] {
            assert_eq!(decimal_point(text.as_bytes()), None, "{text}");
        }
    }
}
