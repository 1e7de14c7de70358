//! Attacks that learn what members look like from outputs, gradients and activations together.
//!
//! They are attacks of `reticent-audit`, registered by [`registry`], and live here because they learn with a
//! [`Perceptron`].
//!
//! # Reference
//! Nasr, Shokri, Houmansadr, *Comprehensive privacy analysis of deep learning: passive and active white-box inference attacks
//! against centralized and federated learning*, 2019.

mod cluster;
mod features;
#[cfg(test)]
mod tests;

use crate::AttackError;
use crate::perceptron::{Hidden, Perceptron, PerceptronLoss, PerceptronSettings};
use cluster::two_means;
use features::{Model, Seen, Sight, seen};
use reticent_audit::attacks::{AccessLevel, Candidacy, CannotRun, ReferenceNeed, Requirements};
use reticent_audit::{
    Attack, AttackScores, AttackSettings, AuditError, GRADIENT_NORM, GRADIENT_NORMS, OUTPUTS, Registry,
    SignalSource, SignalView, Study,
};
use reticent_data::keyed_hash;

/// The most rows to learn from; whole references are left out beyond them.
const MOST_ROWS: usize = 40_000;
/// The fewest records of each kind to learn from.
const FEWEST: usize = 50;

/// Learns from the membership of half of the records.
pub const NASR_SUPERVISED: &dyn Attack = &Nasr {
    name: "nasr-supervised",
    about: "a network that learned from known members and non-members what outputs and gradients on members look like",
    needs: "gradients of the target, and the membership of half of the records",
    way: Way::Supervised,
    reach: AccessLevel::Snapshots,
};

/// The same without gradients, to compare with.
pub const NASR_SUPERVISED_OUTPUTS: &dyn Attack = &Nasr {
    name: "nasr-supervised-outputs",
    about: "the network of nasr-supervised without gradients, to compare with",
    needs: "as nasr-supervised",
    way: Way::Supervised,
    reach: AccessLevel::Predictions,
};

/// Learns from no membership at all.
pub const NASR_UNSUPERVISED: &dyn Attack = &Nasr {
    name: "nasr-unsupervised",
    about: "two clusters in the code of an autoencoder of gradients; that with smaller gradients is members",
    needs: "gradients of the target",
    way: Way::Unsupervised,
    reach: AccessLevel::Snapshots,
};

/// Learns from reference models.
pub const NASR_SHADOW: &dyn Attack = &Nasr {
    name: "nasr-shadow",
    about: "a network that learned from reference models what outputs and gradients on members look like",
    needs: "gradients of the target and of references",
    way: Way::Shadow { rank: 48 },
    reach: AccessLevel::Snapshots,
};

/// Learns from reference models how far a record is from what they say with and without it.
pub const NASR_CALIBRATED: &dyn Attack = &Nasr {
    name: "nasr-calibrated",
    about: "a network that learned from reference models how far signals are from models with and without the record",
    needs: "gradients at references with and without each record",
    way: Way::Calibrated { rank: 13 },
    reach: AccessLevel::Snapshots,
};

/// The same without gradients, to compare with.
pub const NASR_CALIBRATED_ACTIVATIONS: &dyn Attack = &Nasr {
    name: "nasr-calibrated-activations",
    about: "the network of nasr-calibrated without gradients but with activations, to compare with",
    needs: "as nasr-calibrated, and activations",
    way: Way::Calibrated { rank: 12 },
    reach: AccessLevel::Activations,
};

/// The same without gradients and activations, to compare with.
pub const NASR_CALIBRATED_OUTPUTS: &dyn Attack = &Nasr {
    name: "nasr-calibrated-outputs",
    about: "the network of nasr-calibrated without gradients and activations, to compare with",
    needs: "as nasr-calibrated",
    way: Way::Calibrated { rank: 11 },
    reach: AccessLevel::Predictions,
};

/// The attacks of this crate, after those of `reticent-audit`.
pub const LEARNED: &[&dyn Attack] = &[
    NASR_SUPERVISED_OUTPUTS,
    NASR_SUPERVISED,
    NASR_UNSUPERVISED,
    NASR_SHADOW,
    NASR_CALIBRATED_OUTPUTS,
    NASR_CALIBRATED_ACTIVATIONS,
    NASR_CALIBRATED,
];

/// All attacks: those of `reticent-audit` and those that learn.
pub fn registry() -> Registry {
    let add =
        |registry: Registry, attack: &&'static dyn Attack| registry.clone().with(*attack).unwrap_or(registry);
    LEARNED.iter().fold(Registry::standard(), add)
}

/// From what it learns; with which rank it may be the headline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Supervised,
    Unsupervised,
    Shadow { rank: u32 },
    Calibrated { rank: u32 },
}

/// The attack of Nasr et al.: a network with a component for every kind of evidence.
#[derive(Debug)]
struct Nasr {
    name: &'static str,
    about: &'static str,
    needs: &'static str,
    way: Way,
    /// The most that it sees of a model.
    reach: AccessLevel,
}

impl Nasr {
    fn sight(&self) -> Sight {
        let is_shadow = matches!(self.way, Way::Shadow { .. } | Way::Calibrated { .. });
        Sight {
            outputs: self.way != Way::Unsupervised,
            reach: self.reach,
            label: self.way != Way::Unsupervised,
            sorted: is_shadow,
            calibrated: matches!(self.way, Way::Calibrated { .. }),
        }
    }
}

impl Attack for Nasr {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn needs(&self) -> &'static str {
        self.needs
    }

    fn requirements(&self) -> Requirements {
        let references = match self.way {
            Way::Shadow { .. } => ReferenceNeed::Any,
            Way::Calibrated { .. } => ReferenceNeed::WithAndWithout,
            Way::Supervised | Way::Unsupervised => ReferenceNeed::None,
        };
        let is_whole = self.reach == AccessLevel::Snapshots;
        Requirements { signals: if is_whole { &[GRADIENT_NORMS] } else { &[OUTPUTS] }, references }
    }

    fn access(&self, study: &Study) -> Option<SignalSource> {
        let seen = study.signals().filter(|view| self.sight().sees(view)).map(|view| view.provenance());
        seen.max_by_key(|source| AccessLevel::of(*source))
    }

    fn knowledge(&self, study: &Study) -> String {
        let models = study.parts().references.len();
        match self.way {
            Way::Supervised => {
                "the record and its true class, and for half of the records whether they were in the training data".to_owned()
            }
            Way::Shadow { .. } | Way::Calibrated { .. } => {
                format!("the record, and {models} models trained on data like the target's, with it and without it")
            }
            Way::Unsupervised => "the record and its true class, and other records of which about half are members".to_owned(),
        }
    }

    fn sees_members(&self) -> bool {
        self.way == Way::Supervised
    }

    fn candidacy(&self) -> Option<Candidacy> {
        match self.way {
            Way::Shadow { rank } | Way::Calibrated { rank } => {
                Some(Candidacy { rank, plays: true, by_evidence: None })
            }
            Way::Supervised | Way::Unsupervised => None,
        }
    }

    fn check(&self, study: &Study) -> Result<(), CannotRun> {
        if study.signal(GRADIENT_NORMS).is_none() {
            return Err(CannotRun::NoGradients);
        }
        let is_layer =
            |view: SignalView<'_>| view.provenance() == SignalSource::Activations && view.is_of_all();
        if self.reach == AccessLevel::Activations && !study.signals().any(is_layer) {
            return Err(CannotRun::Other(
                "it needs activations of the target and of references: name layers".to_owned(),
            ));
        }
        match self.way {
            Way::Supervised => {
                let known = known(study, "check");
                let members = known.iter().filter(|record| study.parts().members[**record]).count();
                let fewest = members.min(known.len() - members);
                if fewest >= FEWEST {
                    return Ok(());
                }
                Err(CannotRun::Other(format!(
                    "it needs about {} members and as many non-members to learn from",
                    2 * FEWEST
                )))
            }
            Way::Shadow { .. } | Way::Calibrated { .. } => {
                let (mut inside, mut outside) = (0, 0);
                for flag in study.parts().references.iter().flat_map(|reference| &reference.inside) {
                    if *flag { inside += 1 } else { outside += 1 }
                }
                if inside.min(outside) >= FEWEST { Ok(()) } else { Err(CannotRun::OneKindOfReference) }
            }
            Way::Unsupervised => Ok(()),
        }
    }

    fn score(&self, study: &Study, settings: &AttackSettings) -> Result<AttackScores, AuditError> {
        let (key, sight) = (format!("{}: {}", settings.key, self.name), self.sight());
        match self.way {
            Way::Supervised => supervised(study, sight, &key),
            Way::Shadow { .. } | Way::Calibrated { .. } => shadow(study, sight, &key),
            Way::Unsupervised => unsupervised(study, sight, &key),
        }
        .map_err(refused)
    }
}

/// What went wrong as an audit says it.
fn refused(error: AttackError) -> AuditError {
    match error {
        AttackError::Audit(error) => error,
        other => AuditError::not_measurable(other.to_string()),
    }
}

/// Half of the records, by a keyed hash of their user or name: those of which the attacker knows whether they are members.
fn known(study: &Study, key: &str) -> Vec<usize> {
    let names = study.parts().users.as_ref().unwrap_or(&study.parts().ids);
    (0..study.len()).filter(|record| keyed_hash(key, names[*record].as_bytes()) >> 63 == 1).collect()
}

/// How a network of components is trained to tell members.
fn training(seen: &Seen, key: &str) -> PerceptronSettings {
    PerceptronSettings {
        components: seen.components.clone(),
        trunk: vec![32],
        loss: PerceptronLoss::Logistic,
        epochs: 40,
        batch: 128,
        rate: 1e-3,
        weight_decay: 1e-2,
        held_out: 0.2,
        patience: 4,
        key: key.to_owned(),
        ..PerceptronSettings::default()
    }
}

/// Log-odds of membership for all records of a study's target.
fn scores(network: &Perceptron, asked: &Seen) -> Result<Vec<f64>, AttackError> {
    Ok(network.predict(&asked.values)?.into_iter().map(f64::from).collect())
}

fn flags(inside: impl Iterator<Item = bool>) -> Vec<f32> {
    inside.map(|inside| f32::from(u8::from(inside))).collect()
}

fn supervised(study: &Study, sight: Sight, key: &str) -> Result<AttackScores, AttackError> {
    let asked = seen(study, Model::Target, sight);
    let known = known(study, key);
    let rows: Vec<f32> = known
        .iter()
        .flat_map(|record| &asked.values[record * asked.columns..][..asked.columns])
        .copied()
        .collect();
    let truth = flags(known.iter().map(|record| study.parts().members[*record]));
    let network = Perceptron::fit(&rows, asked.columns, &truth, &training(&asked, key))?;
    let mut is_known = vec![false; study.len()];
    known.iter().for_each(|record| is_known[*record] = true);
    let found = AttackScores::new(
        scores(&network, &asked)?,
        [("learned from", format!("the membership of {} records; judged by the others", known.len()))],
    );
    Ok(AttackScores { judged: Some((0..study.len()).filter(|record| !is_known[*record]).collect()), ..found })
}

fn shadow(study: &Study, sight: Sight, key: &str) -> Result<AttackScores, AttackError> {
    let asked = seen(study, Model::Target, sight);
    let (mut rows, mut truth, mut shadows) = (Vec::new(), Vec::new(), 0);
    for (place, reference) in study.parts().references.iter().enumerate() {
        if truth.len() >= MOST_ROWS {
            break;
        }
        let own = seen(study, Model::Reference(place), sight);
        if own.columns != asked.columns {
            continue;
        }
        rows.extend(own.values);
        truth.extend(flags(reference.inside.iter().copied()));
        shadows += 1;
    }
    let network = Perceptron::fit(&rows, asked.columns, &truth, &training(&asked, key))?;
    Ok(AttackScores::new(
        scores(&network, &asked)?,
        [("shadow models", shadows.to_string()), ("columns", asked.columns.to_string())],
    ))
}

fn unsupervised(study: &Study, sight: Sight, key: &str) -> Result<AttackScores, AttackError> {
    let asked = seen(study, Model::Target, sight);
    let settings = PerceptronSettings {
        trunk: vec![32, CODE, 32],
        hidden: Hidden::Tanh,
        loss: PerceptronLoss::Squared,
        ..training(&asked, key)
    };
    let network = Perceptron::fit(&asked.values, asked.columns, &asked.values, &settings)?;
    let code = network.encode(&asked.values)?;
    let centers = two_means(&code, CODE, key);
    let near = |row: &[f32], center: &[f64]| -> f64 {
        row.iter().zip(center).map(|(value, center)| (f64::from(*value) - center).powi(2)).sum::<f64>().sqrt()
    };
    // Larger for records nearer to the first center.
    let ahead: Vec<f64> =
        code.chunks_exact(CODE).map(|row| near(row, &centers[1]) - near(row, &centers[0])).collect();
    let sign = match study.signal(GRADIENT_NORM) {
        Some(norms) => side_with_larger(norms.target(), &ahead),
        None => 1.0,
    };
    Ok(AttackScores::new(
        ahead.into_iter().map(|score| sign * score).collect(),
        [("code", format!("{CODE} numbers")), ("clusters", "2".to_owned())],
    ))
}

/// Numbers in the code of the autoencoder.
const CODE: usize = 4;

/// 1 where the records nearer to the first center have the larger mean rank of a signal, else -1.
fn side_with_larger(signal: &[f64], ahead: &[f64]) -> f64 {
    let mut order: Vec<usize> = (0..signal.len()).collect();
    order.sort_by(|a, b| signal[*a].total_cmp(&signal[*b]));
    let (mut sums, mut counts) = ([0.0; 2], [0.0_f64; 2]);
    for (rank, record) in order.into_iter().enumerate() {
        let side = usize::from(ahead[record] < 0.0);
        sums[side] += rank as f64;
        counts[side] += 1.0;
    }
    if sums[0] / counts[0].max(1.0) >= sums[1] / counts[1].max(1.0) { 1.0 } else { -1.0 }
}
