//! The units of a step in chunks of bounded size.

use crate::Selection;
use std::collections::BTreeMap;

/// Some units, each with its examples.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Chunk {
    /// Units that are computed together, each as `width` examples.
    Together {
        /// The examples, unit by unit; short units are filled up with their own first example.
        examples: Vec<usize>,
        /// Which of them count; empty if all do.
        fillers: Vec<bool>,
        /// Examples per unit.
        width: usize,
    },
    /// One unit with more examples than a chunk holds.
    Large(usize),
}

/// The units of a selection in chunks of at most `room` examples. Units without examples add nothing and are left out.
pub(super) fn chunks(selection: &Selection, room: usize) -> Vec<Chunk> {
    let mut by_width: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut chunks = Vec::new();
    for unit in 0..selection.units() {
        match selection.unit(unit).len() {
            0 => {}
            size if size > room => chunks.push(Chunk::Large(unit)),
            size => by_width.entry(size.next_power_of_two().min(room)).or_default().push(unit),
        }
    }
    for (width, units) in by_width {
        for units in units.chunks((room / width).max(1)) {
            let (mut examples, mut fillers) = (Vec::new(), Vec::new());
            for &unit in units {
                let own = selection.unit(unit);
                examples.extend((0..width).map(|i| own[if i < own.len() { i } else { 0 }]));
                fillers.extend((0..width).map(|i| i >= own.len()));
            }
            if !fillers.contains(&true) {
                fillers.clear();
            }
            chunks.push(Chunk::Together { examples, fillers, width });
        }
    }
    chunks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_example_counts_once_in_its_own_unit() {
        let mut selection = Selection::default();
        let units: [&[usize]; 6] = [&[0], &[1, 2, 3], &[], &[4, 5], &[6, 7, 8, 9, 10, 11, 12], &[13]];
        for unit in units {
            selection.push(unit.iter().copied());
        }
        for room in [1, 2, 3, 4, 7, 100] {
            let (mut seen, mut large) = (Vec::new(), Vec::new());
            for chunk in chunks(&selection, room) {
                match chunk {
                    Chunk::Large(unit) => {
                        assert!(units[unit].len() > room);
                        large.push(unit);
                    }
                    Chunk::Together { examples, fillers, width } => {
                        assert!(examples.len() <= room && examples.len().is_multiple_of(width));
                        for (i, own) in examples.chunks(width).enumerate() {
                            let filler = |j: usize| fillers.get(i * width + j).copied().unwrap_or(false);
                            let counted: Vec<usize> =
                                (0..width).filter(|j| !filler(*j)).map(|j| own[j]).collect();
                            assert!(own.iter().all(|example| counted.contains(example)));
                            seen.push(counted);
                        }
                    }
                }
            }
            seen.extend(large.iter().map(|unit| units[*unit].to_vec()));
            seen.sort();
            let mut expected: Vec<Vec<usize>> =
                units.iter().filter(|u| !u.is_empty()).map(|u| u.to_vec()).collect();
            expected.sort();
            assert_eq!(seen, expected, "room {room}");
        }
    }
}
