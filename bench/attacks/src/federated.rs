//! Four parties train one network on Location-30 by FedAvg, and an observer of some rounds asks who was in.

use crate::location;
use crate::recipe::RecipeName;
use anyhow::{Result, ensure};
use clap::Args;
use reticent_attack::federated::{
    ActiveAttacker, ActiveSettings, FederatedSetup, ObservedModel, Observer, attack, observe,
    snapshot_signals,
};
use reticent_audit::attacks::{AttackSettings, observed};
use reticent_audit::metrics::{MetricSettings, measure as strength};
use reticent_audit::{Membership, Study, StudyParts};
use reticent_data::keyed_hash;
use reticent_train::federated::LocalTraining;
use reticent_train::{
    Baseline, Batching, Device, Examples, FederatedTerms, OptimizerSettings, Recipe, Resources, Schedule,
};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;

const PARTIES: usize = 4;
const ROUNDS: u64 = 100;
/// Observed rounds: five early ones, five of the first half, five over the whole run, the last five of those.
const SETS: [[u64; 5]; 4] =
    [[5, 10, 15, 20, 25], [10, 20, 30, 40, 50], [20, 40, 60, 80, 100], [60, 70, 80, 90, 100]];

#[derive(Args)]
pub(crate) struct Asked {
    /// Holds `location30`.
    folder: PathBuf,
    /// Federations, each with members and parties of its own.
    #[arg(long, default_value_t = 5)]
    runs: usize,
    #[arg(long, default_value_t = 2)]
    threads: usize,
    /// Everything random follows from it.
    #[arg(long, default_value = "judged")]
    key: String,
}

/// A federation, and records to ask about: members first, then as many others.
struct Case {
    setup: FederatedSetup,
    others: Vec<usize>,
    parties: Vec<Vec<usize>>,
}

fn case(all: &Examples, key: &str, threads: usize) -> Case {
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by_cached_key(|place| (keyed_hash(key, format!("record {place}").as_bytes()), *place));
    let others = order.split_off(all.len() / 2);
    let parties: Vec<Vec<usize>> =
        order.chunks(order.len().div_ceil(PARTIES)).map(<[usize]>::to_vec).collect();
    let local = LocalTraining {
        epochs: 1,
        batch: 32,
        recipe: Recipe {
            optimizer: OptimizerSettings::sgd(0.0),
            schedule: Schedule::constant(0.2),
            average: None,
            denoise: None,
        },
    };
    let everybody = Baseline::new(Batching::Poisson { rate: 1.0 }, ROUNDS);
    let setup = FederatedSetup {
        description: RecipeName::LocationDense.training(1).description,
        parties: parties.iter().map(|own| Arc::new(all.subset(own))).collect(),
        terms: FederatedTerms::Averages(everybody, local),
        recipe: Recipe {
            optimizer: OptimizerSettings::sgd(0.0),
            schedule: Schedule::constant(1.0),
            average: None,
            denoise: None,
        },
        device: Device::Cpu,
        resources: Resources { threads, ..Resources::default() },
        key: key.to_owned(),
    };
    Case { setup, others, parties }
}

/// Who is asked about, and who of them was in.
fn asked_about(members: Vec<usize>, others: &[usize]) -> (Vec<usize>, Vec<bool>) {
    let count = members.len().min(others.len());
    let places: Vec<usize> = members[..count].iter().chain(&others[..count]).copied().collect();
    (places, (0..2 * count).map(|place| place < count).collect())
}

pub(crate) fn measure(asked: &Asked) -> Result<Value> {
    ensure!(asked.runs > 0, "--runs 0: give at least 1");
    let (all, _) = location::read(&asked.folder.join("location30"))?;
    let mut rows = Vec::new();
    for run in 0..asked.runs {
        let key = format!("{} {run}", asked.key);
        let Case { setup, others, parties } = case(&all, &key, asked.threads);
        let mut rounds: Vec<u64> = SETS.concat();
        rounds.sort_unstable();
        rounds.dedup();
        for (word, observer) in
            [("server", Observer::Server { victim: 0 }), ("party", Observer::Party { own: 1 })]
        {
            let members = match observer {
                Observer::Server { victim } => parties[victim].clone(),
                Observer::Party { own } => {
                    (0..PARTIES).filter(|p| *p != own).flat_map(|p| parties[p].clone()).collect()
                }
            };
            let (places, truth) = asked_about(members, &others);
            let examples = all.subset(&places);
            let (models, _) = observe(&setup, observer, &rounds, &|| false)?;
            for set in SETS {
                let some: Vec<ObservedModel> =
                    models.iter().filter(|model| set.contains(&model.round)).cloned().collect();
                let signals = snapshot_signals(&setup.description, &some, &examples, setup.resources)?;
                let study =
                    Study::new(StudyParts { members: truth.clone(), signals, ..StudyParts::default() })?;
                let settings = AttackSettings { key: key.clone(), ..AttackSettings::default() };
                let found = observed(&study, &set, &settings, 0.95)?;
                rows.push(json!({
                    "run": run, "observer": word, "rounds": set, "accuracy": found.accuracy.value, "auc": found.auc.value,
                    "records": found.records,
                }));
            }
        }
        let (places, truth) = asked_about(parties[0].clone(), &others);
        let targets = all.subset(&places);
        for (word, attacker) in [
            ("server", ActiveAttacker::Server { victim: 0 }),
            ("isolating server", ActiveAttacker::Isolating { victim: 0 }),
            ("party", ActiveAttacker::Party { own: 1 }),
        ] {
            // The command's defaults.
            let settings = ActiveSettings { attacker, rounds: 81..=100, rate: 0.05, steps: 5, group: 40 };
            let found = attack(&setup, &settings, &targets, &|| false)?;
            let auc = |scores: &[f64]| -> Result<f64> {
                let membership = Membership::new(scores.to_vec(), truth.clone())?;
                Ok(strength(&membership, &MetricSettings::default())?.auc.value)
            };
            rows.push(json!({
                "run": run, "attacker": word, "auc": auc(&found.run.likelihood)?, "watching": auc(&found.honest.likelihood)?,
                "records": truth.len(),
            }));
        }
    }
    Ok(json!({"parties": PARTIES, "rounds": ROUNDS, "rows": rows}))
}
