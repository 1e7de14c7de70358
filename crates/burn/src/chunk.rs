//! The units of a step in chunks of bounded size.

use reticent_train::Selection;
use std::ops::Range;

/// Successive units.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Chunk {
    /// Units that are computed together.
    Together(Range<usize>),
    /// One unit with more examples than a chunk holds.
    Large(usize),
}

/// The units of a selection in chunks of at most `room` examples, in order. Chunks without examples are left out.
pub(crate) fn chunks(selection: &Selection, room: usize) -> Vec<Chunk> {
    let mut chunks = Vec::new();
    let (mut start, mut held) = (0, 0);
    for unit in 0..selection.units() {
        let size = selection.unit(unit).len();
        if held > 0 && held + size > room {
            chunks.push(Chunk::Together(start..unit));
            (start, held) = (unit, 0);
        }
        if size > room {
            chunks.push(Chunk::Large(unit));
            start = unit + 1;
        } else {
            held += size;
        }
    }
    if held > 0 {
        chunks.push(Chunk::Together(start..selection.units()));
    }
    chunks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit_with_examples_is_in_one_chunk_that_it_fits_in() {
        let mut selection = Selection::default();
        let units: [&[usize]; 8] =
            [&[], &[0], &[1, 2, 3], &[], &[4, 5], &[6, 7, 8, 9, 10, 11, 12], &[13], &[]];
        for unit in units {
            selection.push(unit.iter().copied());
        }
        for room in [1, 2, 3, 4, 7, 100] {
            let mut seen = vec![0; units.len()];
            for chunk in chunks(&selection, room) {
                match chunk {
                    Chunk::Large(unit) => {
                        assert!(units[unit].len() > room);
                        seen[unit] += 1;
                    }
                    Chunk::Together(range) => {
                        let held: usize = range.clone().map(|unit| units[unit].len()).sum();
                        assert!((1..=room).contains(&held), "{range:?} in {room}");
                        range.for_each(|unit| seen[unit] += 1);
                    }
                }
            }
            for (unit, seen) in seen.iter().enumerate() {
                assert!(*seen == 1 || (*seen == 0 && units[unit].is_empty()), "unit {unit}, room {room}");
            }
        }
    }
}
