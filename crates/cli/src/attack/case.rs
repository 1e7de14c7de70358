//! A model of ours under attack: its members, as many non-members, and how models like it are made.

use crate::args::audit::Fitting;
use crate::audit::count;
use crate::fail::Fail;
use crate::{learn, network};
use reticent::attack::{Design, Learner, Population, ReferenceSettings, WithBackground};
use reticent::audit::Outputs;
use reticent::core::Certificate;
use reticent::data::keyed_hash;
use std::path::Path;

/// Which records are audited. Members come first among all records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chosen {
    /// Their places among all records: members, then non-members.
    pub(crate) audited: Vec<usize>,
    /// How many of them are members.
    pub(crate) members: usize,
    /// The places of members that are not audited: they are in every model.
    pub(crate) background: Vec<usize>,
}

impl Chosen {
    /// As many members as non-members, at most `most` together, by a keyed hash.
    pub(crate) fn of(members: usize, non_members: usize, most: usize, key: &str) -> Result<Self, Fail> {
        let half = members.min(non_members).min(most / 2);
        if half < 2 {
            return Err(Fail::new(format!(
                "not measurable: {members} records were in the training data and {non_members} were not: at least 2 of each are needed"
            )));
        }
        let first = |from: usize, count: usize, kind: &str| {
            let mut order: Vec<(u64, usize)> = (from..from + count)
                .map(|place| (keyed_hash(key, format!("audited {kind} {place}").as_bytes()), place))
                .collect();
            order.sort_unstable();
            let mut places: Vec<usize> = order.into_iter().map(|(_, place)| place).collect();
            let mut rest = places.split_off(half);
            places.sort_unstable();
            rest.sort_unstable();
            (places, rest)
        };
        let (mut audited, background) = first(0, members, "member");
        audited.extend(first(members, non_members, "non-member").0);
        Ok(Self { audited, members: half, background })
    }

    /// Names of the audited records: where they are from and their row from 1.
    pub(crate) fn ids(&self, members: usize) -> Vec<String> {
        let name = |place: &usize| match place.checked_sub(members) {
            None => format!("train:{}", place + 1),
            Some(row) => format!("other:{}", row + 1),
        };
        self.audited.iter().map(name).collect()
    }

    /// Who of the audited is a member.
    pub(crate) fn flags(&self) -> Vec<bool> {
        (0..self.audited.len()).map(|place| place < self.members).collect()
    }
}

/// A model under attack.
pub(crate) struct Case {
    /// Makes models of all records.
    pub(crate) learner: Box<dyn Learner>,
    pub(crate) chosen: Chosen,
    /// The audited records.
    pub(crate) population: Population,
    /// What the model says about the audited records.
    pub(crate) outputs: Outputs,
    pub(crate) certificate: Option<Certificate>,
    /// Where non-members come from.
    pub(crate) others: String,
}

impl Case {
    /// Reads the folder of a model, linear or a network.
    pub(crate) fn read(run: &Path, fitting: &Fitting, key: &str, progress: bool) -> Result<Self, Fail> {
        let most = count("--records", &fitting.records, 4, 100_000_000)?;
        let others = fitting.non_members.as_deref();
        match network::is_network(run) {
            true => network::target(run, others, most, key, progress),
            false => learn::target(run, others, most, key, progress),
        }
    }

    /// The learner over the audited records; the rest of the training data is in every model.
    pub(crate) fn audited(&self) -> Result<WithBackground<'_>, Fail> {
        let Chosen { audited, background, .. } = &self.chosen;
        Ok(WithBackground::new(&*self.learner, audited.clone(), background.clone())?)
    }

    /// How many references there are, and on what.
    pub(crate) fn settings(fitting: &Fitting, key: &str) -> Result<ReferenceSettings, Fail> {
        let references = count("--references", &fitting.references, 0, 65_536)?;
        Ok(ReferenceSettings { key: key.to_owned(), references, design: Design::Half })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_of_one_as_of_the_other_are_audited() {
        let chosen = Chosen::of(100, 30, 40, "k").unwrap();
        assert_eq!((chosen.audited.len(), chosen.members, chosen.background.len()), (40, 20, 80));
        assert!(chosen.audited[..20].iter().all(|place| *place < 100));
        assert!(chosen.audited[20..].iter().all(|place| (100..130).contains(place)));
        assert!(chosen.background.iter().all(|place| !chosen.audited.contains(place)));
        assert_eq!(chosen, Chosen::of(100, 30, 40, "k").unwrap());
        assert_ne!(chosen, Chosen::of(100, 30, 40, "l").unwrap());
        assert_eq!(Chosen::of(5, 9, 1000, "k").unwrap().audited.len(), 10);
        assert!(Chosen::of(1, 9, 1000, "k").is_err());
    }
}
