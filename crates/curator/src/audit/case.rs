//! A model of ours under attack: its members, as many non-members, and how models like it are made.

use crate::refusal::Refusal;
use reticent_attack::{Artifact, Learner, Population, Wanted, WithBackground};
use reticent_audit::Draw;
use reticent_audit::findings::AuthorSamples;
use reticent_core::{Certificate, Code};
use reticent_data::keyed_hash;
use std::path::PathBuf;

/// Which records are audited. Members come first among all records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Chosen {
    /// Their places among all records: members, then non-members.
    pub(super) audited: Vec<usize>,
    /// How many of them are members.
    pub(super) members: usize,
    /// How many members there are in all.
    pub(super) trained: usize,
    /// The places of members that are not audited: they are in every model.
    pub(super) background: Vec<usize>,
}

impl Chosen {
    /// Records to audit, about `most` at most, by a keyed hash. Where coins were tossed, each record is kept by a coin of its own
    /// such that members and non-members are equally likely and still independent; otherwise as many of one as of the
    /// other are kept. Members that may not be audited are background.
    pub(super) fn of(
        (members, non_members): (usize, usize),
        draw: Draw,
        most: usize,
        key: &str,
        may: impl Fn(usize) -> bool,
    ) -> Result<Self, Refusal> {
        let hash = |place: usize| keyed_hash(key, format!("audited {place}").as_bytes());
        let side = |from: usize, count: usize| -> Vec<usize> {
            (from..from + count).filter(|place| may(*place)).collect()
        };
        let (own, others) = (side(0, members), side(members, non_members));
        let (single, other_single) = (own.len(), others.len());
        let (mut audited, rest) = match draw {
            Draw::Coins(p) => {
                let keep = [((1.0 - p) / p).min(1.0), (p / (1.0 - p)).min(1.0)];
                let expected = keep[0] * own.len() as f64 + keep[1] * others.len() as f64;
                let fewer = (most as f64 / expected).min(1.0);
                let is_kept = |place: &usize, keep: f64| {
                    (hash(*place) as f64) < keep * fewer * 18_446_744_073_709_551_616.0
                };
                (
                    own.into_iter().filter(|place| is_kept(place, keep[0])).collect::<Vec<_>>(),
                    others.into_iter().filter(|place| is_kept(place, keep[1])).collect::<Vec<_>>(),
                )
            }
            _ => {
                let half = own.len().min(others.len()).min(most / 2);
                let first = |mut places: Vec<usize>| {
                    places.sort_by_cached_key(|place| (hash(*place), *place));
                    places.truncate(half);
                    places.sort_unstable();
                    places
                };
                (first(own), first(others))
            }
        };
        if audited.len() < 2 || rest.len() < 2 {
            let which = match (single, other_single) == (members, non_members) {
                true => format!("{members} records were in the training data and {non_members} were not"),
                false => format!(
                    "of {members} records of the training data {single} occur only once, and of {non_members} others \
                     {other_single}"
                ),
            };
            let text = format!("not measurable: {which}: at least 2 of each are needed to be audited");
            return Err(Refusal::new(Code::NotMeasurable, text));
        }
        let mut is_audited = vec![false; members];
        audited.iter().for_each(|place| is_audited[*place] = true);
        let background = (0..members).filter(|place| !is_audited[*place]).collect();
        let count = audited.len();
        audited.extend(rest);
        Ok(Self { audited, members: count, trained: members, background })
    }

    /// Names of the audited records that do not tell who is a member.
    pub(super) fn ids(&self, key: &str) -> Vec<String> {
        let mut order: Vec<usize> = (0..self.audited.len()).collect();
        order.sort_by_cached_key(|place| {
            keyed_hash(key, format!("named {}", self.audited[*place]).as_bytes())
        });
        let mut ids = vec![String::new(); order.len()];
        for (number, place) in order.into_iter().enumerate() {
            ids[place] = format!("record {}", number + 1);
        }
        ids
    }

    /// Which row of what every audited record is, as CSV.
    pub(super) fn origins(&self, ids: &[String]) -> String {
        let line = |(id, place): (&String, &usize)| match place.checked_sub(self.trained) {
            None => format!("{id},training data,{}\n", place + 1),
            Some(row) => format!("{id},other data,{}\n", row + 1),
        };
        "id,from,row\n".to_owned() + &ids.iter().zip(&self.audited).map(line).collect::<String>()
    }

    /// Who of the audited is a member.
    pub(super) fn flags(&self) -> Vec<bool> {
        (0..self.audited.len()).map(|place| place < self.members).collect()
    }
}

/// What to audit of a model.
#[derive(Debug, Clone)]
pub(super) struct RecordChoice {
    /// The most records.
    pub(super) most: usize,
    /// How records came to be members, if somebody says so.
    pub(super) declared: Option<Draw>,
    /// What the choice of records is keyed by.
    pub(super) key: String,
    /// Whether attackers see the weights.
    pub(super) white_box: bool,
    /// Whether attackers ask for classes of noisy copies.
    pub(super) label_only: bool,
    /// Layers whose outputs they look at too.
    pub(super) activations: Vec<String>,
    /// Audits by author: samples that no model is trained on; by default those of the training data and of the others.
    pub(super) samples: Option<PathBuf>,
    /// The most samples of an author that the auditor has; all if none is given.
    pub(super) samples_per_author: Option<usize>,
}

/// What an audit by author knows besides the rows of its study.
#[derive(Debug, Clone)]
pub(super) struct AuthorCase {
    /// The column that names authors.
    pub(super) column: String,
    /// The names of the audited ones.
    pub(super) names: Vec<String>,
    /// Which samples the auditor has.
    pub(super) samples: AuthorSamples,
    /// The most of each that it uses.
    pub(super) samples_per_author: Option<u64>,
    /// The fewest samples that it has of one, and the most.
    pub(super) fewest: u64,
    pub(super) most: u64,
    /// The file and the row of every compared piece of a sample.
    pub(super) places: Vec<Vec<(usize, u32)>>,
    /// The files.
    pub(super) files: Vec<String>,
    /// How many authors the model was trained on.
    pub(super) trained: usize,
    /// How many authors of the other data are in the training data too.
    pub(super) known: usize,
    /// How many authors have too few samples to be asked about.
    pub(super) left_out: usize,
}

impl RecordChoice {
    /// What attackers see of models besides their outputs.
    pub(super) fn wanted(&self, learner: &dyn Learner) -> Result<Wanted, Refusal> {
        let mut wanted = Wanted { labels: self.label_only, ..Wanted::default() };
        if self.white_box {
            let activations = self.activations.clone();
            wanted = Wanted { gradients: true, activations, labels: self.label_only, ..learner.white_box() };
        }
        wanted.check(learner)?;
        Ok(wanted)
    }
}

/// A model under attack.
pub(super) struct Case {
    /// Makes models of all records.
    pub(super) learner: Box<dyn Learner>,
    /// Which of all records are audited.
    pub(super) chosen: Chosen,
    /// The audited records.
    pub(super) population: Population,
    /// What the model says about the audited records, and what else attackers see of it.
    pub(super) target: Artifact,
    /// What they see of reference models besides outputs.
    pub(super) wanted: Wanted,
    /// What is guaranteed for the model; none without privacy.
    pub(super) certificate: Option<Certificate>,
    /// How records came to be members.
    pub(super) draw: Draw,
    /// Where non-members come from.
    pub(super) others: String,
    /// Rows that are not audited because another one is equal.
    pub(super) left_out: usize,
    /// Whether parties trained the model by averages, while one party with all records trains the reference models.
    pub(super) references_are_central: bool,
    /// Whose samples are audited; none where every row is a record.
    pub(super) authors: Option<AuthorCase>,
}

impl Case {
    /// The learner over the audited records; the rest of the training data is in every model.
    pub(super) fn audited(&self) -> Result<WithBackground<'_>, Refusal> {
        let Chosen { audited, background, .. } = &self.chosen;
        Ok(WithBackground::new(&*self.learner, audited.clone(), background.clone())?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_of_one_as_of_the_other_are_audited() {
        let chosen = |most, key| Chosen::of((100, 30), Draw::Undeclared, most, key, |_| true);
        let found = chosen(40, "k").unwrap();
        assert_eq!((found.audited.len(), found.members, found.background.len()), (40, 20, 80));
        assert!(found.audited[..20].iter().all(|place| *place < 100));
        assert!(found.audited[20..].iter().all(|place| (100..130).contains(place)));
        assert!(found.background.iter().all(|place| !found.audited.contains(place)));
        assert_eq!(found, chosen(40, "k").unwrap());
        assert_ne!(found, chosen(40, "l").unwrap());
        assert_eq!(Chosen::of((5, 9), Draw::Undeclared, 1000, "k", |_| true).unwrap().audited.len(), 10);
        assert!(Chosen::of((1, 9), Draw::Undeclared, 1000, "k", |_| true).is_err());
        let refusal = Chosen::of((5, 9), Draw::Undeclared, 1000, "k", |place| place > 4).unwrap_err();
        assert!(refusal.to_string().contains("of 5 records of the training data 0 occur"), "{refusal}");
    }

    #[test]
    fn names_do_not_tell_members() {
        let found = Chosen::of((2000, 500), Draw::Coins(0.8), 100_000, "k", |_| true).unwrap();
        let ids = found.ids("k");
        let number = |id: &String| id.trim_start_matches("record ").parse::<f64>().unwrap();
        let mean = |ids: &[String]| ids.iter().map(number).sum::<f64>() / ids.len() as f64;
        // Means of about 500 of 1 000 numbers: six deviations of their difference are 110.
        assert!((mean(&ids[..found.members]) - mean(&ids[found.members..])).abs() < 110.0);
        let origins = found.origins(&ids);
        assert_eq!(origins.lines().count(), ids.len() + 1);
        assert_eq!(origins.matches("training data").count(), found.members);
    }

    #[test]
    fn coins_stay_coins() {
        let found = Chosen::of((8000, 2000), Draw::Coins(0.8), 100_000, "k", |place| place != 7).unwrap();
        // 2 000 members in the mean, by coins: six deviations of 39.
        assert!((found.members as f64 - 2000.0).abs() < 240.0, "{}", found.members);
        assert_eq!(found.audited.len() - found.members, 2000);
        assert!(found.background.contains(&7) && found.background.len() == 8000 - found.members);
        let fewer = Chosen::of((8000, 2000), Draw::Coins(0.8), 1000, "k", |_| true).unwrap();
        assert!((fewer.audited.len() as f64 - 1000.0).abs() < 200.0, "{}", fewer.audited.len());
    }
}
