//! Whose texts a model learned: attacks on studies in which every row is an author with some samples.
//!
//! A model says of every token of a sample how likely it was, and how many tokens it found at least as likely: its rank. The mean over
//! all tokens of an author's samples is one number per author; the histogram of ranks is what an attack can learn from.
//!
//! # Reference
//! Song, Shmatikov, *Auditing data provenance in text-generation models*, 2019 (histograms of ranks, and a classifier trained on shadow
//! models); Carlini et al., *Membership inference attacks from first principles*, 2022 (the likelihood ratio).

use super::{
    Attack, AttackScores, AttackSettings, Candidacy, CannotRun, Lira, LiraForm, ReferenceNeed, Registry,
    Requirements, Threshold, evidence,
};
use crate::boost::{Boost, BoostLoss, BoostSettings};
use crate::{AuditError, Features, Study};

/// The name of the signal with the mean log-probability of a token over all samples of an author.
pub const AUTHOR_LIKELIHOOD: &str = "author-likelihood";

/// The name of the signal with the share of an author's tokens in each [bin of ranks](rank_bin).
pub const AUTHOR_RANKS: &str = "author-ranks";

/// The name of the signal with the mean log-probability of a token of each sample of an author, 0 where there is no such sample.
pub const AUTHOR_SAMPLES: &str = "author-samples";

/// How many bins a histogram of ranks has.
pub const RANK_BINS: usize = 24;

/// What attackers of authors want to learn.
const GOAL: &str = "tell whether texts of the author were in the training data";

/// The bin of a rank, from 1 on: one for each of the first three, then two for every doubling, and the last for all that is beyond.
pub fn rank_bin(rank: usize) -> usize {
    let rank = rank.max(1);
    let doublings = rank.ilog2() as usize;
    let is_upper = doublings > 0 && 2 * (rank - (1 << doublings)) >= 1 << doublings;
    // Rank 1 is by itself; of the ranks from 2^k on, the upper half has a bin of its own.
    let bin = if doublings == 0 { 0 } else { 2 * doublings - 1 + usize::from(is_upper) };
    bin.min(RANK_BINS - 1)
}

/// A threshold on the mean loss of an author's samples.
pub const AUTHOR_LOSS: &dyn Attack = &OfAuthors {
    inner: Inner::Threshold(Threshold {
        name: "author-loss",
        about: "a threshold on the mean loss of a token over the samples of the author",
        needs: "samples by author",
        signals: &[AUTHOR_LIKELIHOOD],
        knowledge: "samples of the author",
        candidacy: Some(Candidacy { rank: 50, plays: true, by_evidence: Some(0) }),
    }),
};

/// A classifier of the histogram of ranks, trained on shadow models.
pub const AUTHOR_RANK_HISTOGRAM: &dyn Attack = &Histogram;

/// The one-sided likelihood of the author's mean loss under references trained without the author.
pub const AUTHOR_LIRA_OFFLINE: &dyn Attack = &OfAuthors {
    inner: Inner::Lira(Lira {
        name: "author-lira-offline",
        form: LiraForm::Offline,
        signals: &[AUTHOR_LIKELIHOOD],
        is_norm: false,
        candidacy: Some(Candidacy { rank: 40, plays: true, by_evidence: Some(1) }),
    }),
};

/// The likelihood ratio of the author's mean loss between references trained with and without the author.
pub const AUTHOR_LIRA_ONLINE: &dyn Attack = &OfAuthors {
    inner: Inner::Lira(Lira {
        name: "author-lira-online",
        form: LiraForm::Online,
        signals: &[AUTHOR_LIKELIHOOD],
        is_norm: false,
        candidacy: Some(Candidacy { rank: 10, plays: true, by_evidence: Some(8) }),
    }),
};

/// The attacks on authors, from those that need least.
pub const AUTHOR_ATTACKS: &[&dyn Attack] =
    &[AUTHOR_LOSS, AUTHOR_RANK_HISTOGRAM, AUTHOR_LIRA_OFFLINE, AUTHOR_LIRA_ONLINE];

impl Registry {
    /// The attacks on authors alone: what an audit runs whose rows are authors.
    pub fn authors() -> Self {
        Self::of(AUTHOR_ATTACKS)
    }
}

/// An attack on a signal of authors, told in words about authors.
#[derive(Debug)]
struct OfAuthors {
    inner: Inner,
}

#[derive(Debug)]
enum Inner {
    Threshold(Threshold),
    Lira(Lira),
}

impl OfAuthors {
    fn attack(&self) -> &dyn Attack {
        match &self.inner {
            Inner::Threshold(own) => own,
            Inner::Lira(own) => own,
        }
    }
}

impl Attack for OfAuthors {
    fn name(&self) -> &'static str {
        self.attack().name()
    }

    fn about(&self) -> &'static str {
        match &self.inner {
            Inner::Threshold(own) => own.about,
            Inner::Lira(own) if own.form == LiraForm::Online => {
                "the likelihood ratio of the author's mean loss between reference models trained with and without the author"
            }
            Inner::Lira(_) => {
                "how much likelier the target finds the author's samples than reference models trained without the author"
            }
        }
    }

    fn needs(&self) -> &'static str {
        match &self.inner {
            Inner::Threshold(own) => own.needs,
            Inner::Lira(own) if own.form == LiraForm::Online => "references with and without each author",
            Inner::Lira(_) => "a reference without each author",
        }
    }

    fn requirements(&self) -> Requirements {
        self.attack().requirements()
    }

    fn knowledge(&self, study: &Study) -> String {
        match &self.inner {
            Inner::Threshold(own) => own.knowledge(study),
            Inner::Lira(own) => {
                let sides = if own.form == LiraForm::Online {
                    "with the author and without"
                } else {
                    "some without the author"
                };
                let models = evidence::models(study);
                format!("samples of the author, and {models} trained on texts like the target's, {sides}")
            }
        }
    }

    fn goal(&self) -> &'static str {
        GOAL
    }

    fn candidacy(&self) -> Option<Candidacy> {
        self.attack().candidacy()
    }

    fn score(&self, study: &Study, settings: &AttackSettings) -> Result<AttackScores, AuditError> {
        self.attack().score(study, settings)
    }
}

#[derive(Debug)]
struct Histogram;

impl Attack for Histogram {
    fn name(&self) -> &'static str {
        "author-ranks"
    }

    fn about(&self) -> &'static str {
        "a classifier of the histogram of ranks of the author's tokens, trained on shadow models (Song and Shmatikov)"
    }

    fn needs(&self) -> &'static str {
        "samples by author, and references"
    }

    fn requirements(&self) -> Requirements {
        Requirements { signals: &[AUTHOR_RANKS], references: ReferenceNeed::Any }
    }

    fn knowledge(&self, study: &Study) -> String {
        let models = evidence::models(study);
        format!(
            "samples of the author, and {models} trained on texts like the target's, of which the authors are known"
        )
    }

    fn goal(&self) -> &'static str {
        GOAL
    }

    fn candidacy(&self) -> Option<Candidacy> {
        Some(Candidacy { rank: 45, plays: true, by_evidence: None })
    }

    fn check(&self, study: &Study) -> Result<(), CannotRun> {
        let flags = || study.parts().references.iter().flat_map(|reference| &reference.inside);
        match flags().any(|inside| *inside) && flags().any(|inside| !inside) {
            true => Ok(()),
            false => Err(CannotRun::OneKindOfReference),
        }
    }

    fn score(&self, study: &Study, settings: &AttackSettings) -> Result<AttackScores, AuditError> {
        let Some(signal) = study.signal(AUTHOR_RANKS) else {
            return Err(CannotRun::NoSignal(AUTHOR_RANKS).into());
        };
        let columns = signal.width();
        let single = |values: &[f64]| values.iter().map(|value| *value as f32).collect::<Vec<f32>>();
        let (mut values, mut truth, mut shadows) = (Vec::new(), Vec::new(), 0);
        for (place, reference) in study.parts().references.iter().enumerate() {
            let Some(own) = signal.reference(place) else { continue };
            values.extend(single(own));
            truth.extend(reference.inside.iter().map(|inside| f64::from(u8::from(*inside))));
            shadows += 1;
        }
        let boost = BoostSettings {
            key: format!("{}: author ranks", settings.key),
            leaf: 20,
            rounds: 60,
            ..BoostSettings::default()
        };
        let model = Boost::fit(&Features { columns, values }, &truth, BoostLoss::Logistic, &boost)?;
        let asked = Features { columns, values: single(signal.target()) };
        Ok(AttackScores::new(
            model.predict(&asked)?,
            [
                ("shadow models", shadows.to_string()),
                ("bins of ranks", columns.to_string()),
                ("classifier", format!("{} boosted trees of depth {}", boost.rounds, boost.depth)),
            ],
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Reference, SignalSource, SignalValues, Signals, StudyParts};
    use reticent_data::keyed_hash;

    /// 120 authors and references on halves of them; members' tokens are likelier by `shift`, and rank first more often.
    fn study(references: usize, shift: f64) -> Study {
        let authors = 120;
        let uniform = |what: String| keyed_hash("authors", what.as_bytes()) as f64 / u64::MAX as f64;
        let inside = |model: usize, author: usize| uniform(format!("in {model} {author}")) < 0.5;
        let signals = |model: usize| {
            let (mut likelihood, mut ranks) = (Vec::new(), Vec::new());
            for author in 0..authors {
                let own = if inside(model, author) { shift } else { 0.0 };
                // Authors differ among each other more than by membership.
                let usual = 3.0 * uniform(format!("author {author}"));
                likelihood.push(usual + own + 0.3 * uniform(format!("noise {model} {author}")));
                let first = 0.2 + 0.5 * own + 0.1 * uniform(format!("rank {model} {author}"));
                ranks.extend([first, 1.0 - first]);
            }
            let ranks = SignalValues::rows(SignalSource::Outputs, 2, ranks).unwrap();
            Signals::none()
                .with(AUTHOR_LIKELIHOOD, SignalValues::scalar(SignalSource::Loss, likelihood))
                .with(AUTHOR_RANKS, ranks)
        };
        let flags = |model: usize| (0..authors).map(|author| inside(model, author)).collect::<Vec<_>>();
        let reference = |model: usize| Reference {
            name: format!("reference {model}"),
            outputs: None,
            signals: signals(model),
            inside: flags(model),
        };
        Study::new(StudyParts {
            members: flags(0),
            signals: signals(0),
            references: (1..=references).map(reference).collect(),
            user_records: Some(7),
            ..StudyParts::default()
        })
        .unwrap()
    }

    fn area(attack: &'static dyn Attack, study: &Study) -> f64 {
        let found = attack.run(study, &AttackSettings::default()).unwrap();
        crate::rank::auc(&found.scores, &study.parts().members).unwrap()
    }

    #[test]
    fn every_attack_finds_a_leak_and_none_where_there_is_none() {
        let (leaking, tight) = (study(16, 0.4), study(16, 0.0));
        for attack in AUTHOR_ATTACKS {
            let (strong, none) = (area(*attack, &leaking), area(*attack, &tight));
            // Authors differ by more than membership does: an attack without references is weak.
            let least = if attack.needs_references() { 0.9 } else { 0.53 };
            assert!(strong > least, "{}: {strong}", attack.name());
            // Six deviations of an area over 60 members and 60 others.
            assert!((none - 0.5).abs() < 0.32, "{}: {none}", attack.name());
            assert!(attack.threat(&leaking).goal.contains("author"), "{}", attack.name());
        }
        let without = leaking.without_references();
        assert!(AUTHOR_LOSS.can_run(&without).is_ok());
        assert!(AUTHOR_RANK_HISTOGRAM.can_run(&without).is_err());
        assert_eq!(Registry::authors().names().len(), AUTHOR_ATTACKS.len());
    }

    #[test]
    fn bins_of_ranks_rise_and_cover_everything() {
        let bins: Vec<usize> = (1..=20_000).map(rank_bin).collect();
        assert_eq!(bins[..8], [0, 1, 2, 3, 3, 4, 4, 5]);
        assert!(
            bins.windows(2).all(|pair| pair[0] == pair[1] || pair[0] + 1 == pair[1]),
            "{:?}",
            &bins[..40]
        );
        assert_eq!(bins.last(), Some(&(RANK_BINS - 1)));
    }
}
