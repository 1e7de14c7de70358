//! Which rows and groups of one person count.
//!
//! Every person keeps the groups that come first in a keyed order of (person, group), and in each of them the rows that come
//! first in a keyed order of (person, what the row adds). Both orders look at one person only, and rows that add the same are
//! interchangeable: so the kept rows are a function of each person's own rows, whatever their order, the files they come from or
//! the rows of other people. The proof of the page builds on that.

use reticent_data::KeyedHash;
use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};

/// What a row adds: one word for each input of the page.
pub(super) type RowInputs = Box<[u64]>;

/// How much of one person counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Caps {
    /// The most rows in one group; 0 where no question is about rows.
    pub(super) rows: usize,
    /// The most groups.
    pub(super) groups: usize,
}

/// The kept rows of everyone, in memory of the kept rows.
pub(super) struct Bounding {
    order: KeyedHash,
    caps: Caps,
    /// The number of totals of each person and group.
    totals: usize,
    people: HashMap<Box<str>, Vec<Held>>,
    /// What is hashed, kept to save allocations.
    bytes: Vec<u8>,
}

/// A group that a person counts in.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Held {
    /// Its place in the person's order.
    order: u64,
    /// The group's key, which breaks ties.
    pub(super) key: Box<str>,
    /// The kept rows, in their order.
    rows: Vec<(u64, RowInputs)>,
    /// Totals of all rows of the person in the group.
    pub(super) totals: Vec<i128>,
}

impl Held {
    /// What the kept rows add.
    pub(super) fn rows(&self) -> impl Iterator<Item = &[u64]> + Clone {
        self.rows.iter().map(|(_, inputs)| &**inputs)
    }
}

impl Bounding {
    /// Nobody yet.
    pub(super) fn new(key: &str, caps: Caps, totals: usize) -> Self {
        Self { order: KeyedHash::new(key), caps, totals, people: HashMap::new(), bytes: Vec::new() }
    }

    /// Takes in one row of a person, in the group of this key; `totals` is what it adds to the person's totals there.
    pub(super) fn add(&mut self, person: &str, key: &str, inputs: &[u64], totals: &[i128]) {
        if self.caps.groups == 0 {
            return;
        }
        if !self.people.contains_key(person) {
            self.people.insert(person.into(), Vec::new());
        }
        let Some(groups) = self.people.get_mut(person) else { return };
        let place = match groups.iter().position(|held| &*held.key == key) {
            Some(place) => place,
            None => {
                let order = hash(&self.order, &mut self.bytes, b"group", person, key.bytes());
                let comes_after = |held: &Held| {
                    held.order.cmp(&order).then_with(|| (*held.key).cmp(key)) == Ordering::Greater
                };
                let place = groups.iter().position(comes_after).unwrap_or(groups.len());
                if place >= self.caps.groups {
                    return;
                }
                let rows = Vec::new();
                groups.insert(place, Held { order, key: key.into(), rows, totals: vec![0; self.totals] });
                groups.truncate(self.caps.groups);
                place
            }
        };
        let held = &mut groups[place];
        for (own, more) in held.totals.iter_mut().zip(totals) {
            *own = own.saturating_add(*more);
        }
        if self.caps.rows == 0 {
            return;
        }
        let content = inputs.iter().flat_map(|word| word.to_le_bytes());
        let order = hash(&self.order, &mut self.bytes, b"row", person, content);
        let is_before = |(own, row): &(u64, RowInputs)| {
            own.cmp(&order).then_with(|| (**row).cmp(inputs)) != Ordering::Greater
        };
        let place = held.rows.partition_point(is_before);
        if place < self.caps.rows {
            held.rows.insert(place, (order, inputs.into()));
            held.rows.truncate(self.caps.rows);
        }
    }

    /// The groups of each person, in no order that means anything.
    pub(super) fn people(&self) -> impl Iterator<Item = &[Held]> {
        self.people.values().map(Vec::as_slice)
    }

    /// The number of people who count in each group.
    pub(super) fn people_by_group(&self) -> BTreeMap<String, u64> {
        let mut counts = BTreeMap::new();
        for held in self.people().flatten() {
            match counts.get_mut(&*held.key) {
                Some(count) => *count += 1,
                None => drop(counts.insert(held.key.to_string(), 1)),
            }
        }
        counts
    }
}

/// A hash of a person and of what they have; neither runs into the other.
fn hash(
    order: &KeyedHash,
    bytes: &mut Vec<u8>,
    what: &[u8],
    person: &str,
    content: impl Iterator<Item = u8>,
) -> u64 {
    bytes.clear();
    bytes.extend_from_slice(what);
    bytes.extend((person.len() as u64).to_le_bytes());
    bytes.extend_from_slice(person.as_bytes());
    bytes.extend(content);
    order.of(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    type Kept = BTreeMap<(String, String), (Vec<Vec<u64>>, Vec<i128>)>;

    fn kept(rows: &[(&str, &str, u64)], caps: Caps) -> Kept {
        let mut bounding = Bounding::new("k", caps, 1);
        for (person, key, value) in rows {
            bounding.add(person, key, &[*value], &[i128::from(*value)]);
        }
        let groups =
            bounding.people.iter().flat_map(|(person, groups)| groups.iter().map(move |held| (person, held)));
        groups
            .map(|(person, held)| {
                let rows = held.rows().map(<[u64]>::to_vec).collect();
                ((person.to_string(), held.key.to_string()), (rows, held.totals.clone()))
            })
            .collect()
    }

    fn visits() -> Vec<(&'static str, &'static str, u64)> {
        let (people, wards) = (["ada", "bob", "eve"], ["a", "b", "c", "d", "e"]);
        (0..300u64)
            .map(|n| (people[(n * n % 7 % 3) as usize], wards[(n % 5) as usize], n * 37 % 11))
            .collect()
    }

    #[test]
    fn limits_hold_and_no_order_of_rows_matters() {
        for caps in [Caps { rows: 1, groups: 1 }, Caps { rows: 3, groups: 2 }, Caps { rows: 100, groups: 5 }]
        {
            let mut rows = visits();
            let expected = kept(&rows, caps);
            for turn in 0..20 {
                rows.rotate_left(7 + turn);
                rows.swap(turn, 200 + turn);
                assert_eq!(kept(&rows, caps), expected);
            }
            for person in ["ada", "bob", "eve"] {
                let groups: Vec<_> = expected.iter().filter(|((of, _), _)| of == person).collect();
                assert!(
                    groups.len() <= caps.groups
                        && groups.iter().all(|(_, (rows, _))| rows.len() <= caps.rows)
                );
            }
            // Totals are of all rows of a group, not of the kept ones alone.
            let of_all: i128 =
                kept(&rows, Caps { rows: 0, groups: 5 }).values().map(|(_, totals)| totals[0]).sum();
            assert_eq!(of_all, rows.iter().map(|(.., value)| i128::from(*value)).sum::<i128>());
        }
    }

    #[test]
    fn what_one_person_keeps_does_not_depend_on_others() {
        let caps = Caps { rows: 2, groups: 2 };
        let all = kept(&visits(), caps);
        let alone: Vec<_> = visits().into_iter().filter(|(person, ..)| *person == "bob").collect();
        let of_bob: Kept = all.into_iter().filter(|((person, _), _)| person == "bob").collect();
        assert_eq!(kept(&alone, caps), of_bob);
    }

    #[test]
    fn another_key_keeps_other_rows() {
        let keep = |key: &str| {
            let mut bounding = Bounding::new(key, Caps { rows: 1, groups: 1 }, 0);
            for value in 0..50 {
                bounding.add("ada", "a", &[value], &[]);
            }
            bounding.people().next().unwrap()[0].rows().next().unwrap()[0]
        };
        assert_eq!(keep("one"), keep("one"));
        assert!(["two", "three", "four"].iter().any(|key| keep(key) != keep("one")));
    }
}
