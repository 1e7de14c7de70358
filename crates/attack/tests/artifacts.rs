//! What learners give back of their models besides outputs, and what is kept of it.

use crate::tiny::{auc, records, training};
use reticent_attack::{
    ArtifactPart, AttackError, GRADIENT_NORM, GRADIENT_NORMS, Job, JobReport, JobSettings, LOSS_TRAJECTORY,
    Learner, LinearLearner, LinearSettings, NetworkLearner, Population, ReferenceDesign, ReferencePlan,
    ReferenceSettings, Store, Wanted, WithBackground, activations_of, as_target, network_outputs,
};
use reticent_audit::{Signal, SignalSource};
use reticent_core::{Code, Coded};
use reticent_data::FeatureMatrix;
use reticent_erm::{FitMethod, MarginLoss, Settings};
use reticent_train::{Device, Resources};
use std::sync::atomic::AtomicBool;

const STEPS: u64 = 120;

fn learner() -> NetworkLearner {
    NetworkLearner::new(records(60, 3), training(3, STEPS)).unwrap()
}

fn settings(references: usize, wanted: &Wanted) -> ReferenceSettings {
    let (key, design) = ("artifacts".to_owned(), ReferenceDesign::Half);
    ReferenceSettings { key, references, design, wanted: wanted.clone() }
}

fn fit(plan: &ReferencePlan<'_>, store: &Store, job: Job) -> JobReport {
    let halt = AtomicBool::new(false);
    plan.fit(store, job, JobSettings { threads: 2, progress: &|_| {}, halt: &halt }).unwrap()
}

fn everything() -> Wanted {
    Wanted { weights: true, snapshots: vec![1, 40, STEPS], ..Wanted::default() }
}

#[test]
fn a_network_gives_weights_and_snapshots_without_changing_its_training() {
    let (learner, inside) = (learner(), (0..30).collect::<Vec<_>>());
    let go = |wanted: &Wanted| learner.fit(&inside, "k", wanted, &|| false).unwrap();
    let (plain, found) = (go(&Wanted::default()), go(&everything()));
    assert!(plain.weights.is_none() && plain.signals.is_empty() && plain.snapshots.is_empty());
    assert_eq!(plain.outputs, found.outputs);
    assert_eq!(found.snapshots.iter().map(|snapshot| snapshot.step).collect::<Vec<_>>(), [1, 40, STEPS]);
    // The last snapshot is the model itself, and every snapshot says what its weights say.
    let (last, weights) = (found.snapshots.last().unwrap(), found.weights.as_ref().unwrap());
    assert_eq!((Some(&last.outputs), &last.weights), (found.outputs.as_ref(), weights));
    let resources = Resources { threads: 1, chunk: None };
    let description = &learner.training().description;
    for snapshot in &found.snapshots {
        let said =
            network_outputs(description, &snapshot.weights, learner.population(), Device::Cpu, resources)
                .unwrap();
        assert_eq!(said, snapshot.outputs);
    }
    assert_ne!(found.snapshots[0].outputs, found.snapshots[1].outputs);
    // The trajectory is the loss at every snapshot.
    let trajectory = found.signals.get(LOSS_TRAJECTORY).unwrap();
    assert_eq!((trajectory.width(), trajectory.provenance()), (3, SignalSource::Snapshots));
    let labels = Population::of_examples(learner.population()).unwrap().labels;
    let loss = Signal::Loss.compute(&found.snapshots[1].outputs, &labels).unwrap();
    assert_eq!(trajectory.values()[3 * 7 + 1], loss[7]);
}

#[test]
fn what_a_learner_cannot_give_is_refused_before_anything_is_trained() {
    let network = learner();
    let wanted = Wanted { snapshots: vec![STEPS + 1], ..Wanted::default() };
    let refusal = network.fit(&[0, 1, 2], "k", &wanted, &|| false).unwrap_err();
    assert!(refusal.to_string().contains(&format!("up to {STEPS}")), "{refusal}");
    for odd in [vec![0], vec![3, 3], vec![4, 2]] {
        let settings = settings(2, &Wanted { snapshots: odd, ..Wanted::default() });
        assert!(ReferencePlan::new(&settings, &network).is_err());
    }
    let rows = FeatureMatrix::dense(1, &[0.1, 0.9, 0.2, 0.8], vec![-1.0, 1.0, -1.0, 1.0], 1.0).unwrap();
    let how = LinearSettings {
        classes: 2,
        loss: MarginLoss::Logistic,
        method: FitMethod::Exact,
        budget: None,
        settings: Settings::default(),
        l1_bound: None,
    };
    let linear = LinearLearner::new(rows, how).unwrap();
    let found = linear.fit(&[0, 1], "k", &Wanted { weights: true, ..Wanted::default() }, &|| false).unwrap();
    assert_eq!(found.weights.unwrap().len(), 2, "a weight and the intercept");
    let behind = WithBackground::new(&linear, vec![0, 1, 2], vec![3]).unwrap();
    for learner in [&linear as &dyn Learner, &behind] {
        let settings = settings(2, &everything());
        let refusal = ReferencePlan::new(&settings, learner).err().unwrap();
        assert!(
            matches!(refusal, AttackError::NotOffered { part: ArtifactPart::Snapshots, .. }),
            "{refusal}"
        );
        assert_eq!(refusal.code(), Code::Premise);
        assert!(refusal.to_string().contains("linear models does not give snapshots"), "{refusal}");
    }
}

#[test]
fn references_keep_what_was_asked_for_whichever_job_trained_them() {
    let learner = learner();
    let (plain, rich) = (settings(4, &Wanted::default()), settings(4, &everything()));
    let plan = ReferencePlan::new(&rich, &learner).unwrap();
    let usual = ReferencePlan::new(&plain, &learner).unwrap();
    assert_ne!(plan.digest(0), usual.digest(0), "a reference with less does not stand in for one with more");
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let [whole, divided] = folders.each_ref().map(|folder| Store::open(folder.path()).unwrap());
    fit(&plan, &whole, Job::WHOLE);
    assert_eq!(fit(&plan, &divided, Job { index: 1, of: 2 }).trained, [1, 3]);
    assert!(plan.collect(&divided).is_err());
    assert_eq!(fit(&plan, &divided, Job::WHOLE).present, 2);
    assert_eq!(plan.collect(&whole).unwrap(), plan.collect(&divided).unwrap());
    // What is read back is what was given.
    let inside: Vec<usize> = (0..60).filter(|record| plan.mask(2)[*record]).collect();
    let given = learner.fit(&inside, "artifacts: reference 2", &everything(), &|| false).unwrap();
    let stored = whole.artifact(&plan, 2).unwrap().unwrap();
    assert_eq!((&stored.outputs, &stored.weights), (&given.outputs, &given.weights));
    assert_eq!(stored.snapshots, given.snapshots);
    let (kept, own) =
        (stored.signals.get(LOSS_TRAJECTORY).unwrap(), given.signals.get(LOSS_TRAJECTORY).unwrap());
    let is_near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-6 * (1.0 + b.abs());
    assert!(kept.values().iter().zip(own.values()).all(is_near), "in single precision");
    // A study of references has the signal, of the target and of all others.
    let population = Population::of_examples(learner.population()).unwrap();
    let study = as_target(&population, &plan.collect(&whole).unwrap(), 0).unwrap();
    let trajectory = study.signal(LOSS_TRAJECTORY).unwrap();
    assert!(trajectory.is_of_all() && trajectory.provenance() == SignalSource::Snapshots);
    let column = |step: usize| trajectory.target().iter().skip(step).step_by(3).copied().collect::<Vec<_>>();
    let (early, late) = (auc(&column(0), &study.parts().members), auc(&column(2), &study.parts().members));
    assert!(late > early + 0.1, "late snapshots leak more: {early} {late}");
}

/// Gradients by finite differences of the stored weights, activations by the outputs, and what both tell of members.
#[test]
fn gradients_and_activations_are_signals_of_references() {
    let learner = learner();
    let last = "2".to_owned();
    let wanted =
        Wanted { gradients: true, activations: vec![last.clone()], weights: true, ..Wanted::default() };
    let rich = settings(2, &wanted);
    let plan = ReferencePlan::new(&rich, &learner).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    fit(&plan, &store, Job::WHOLE);
    let found = store.artifact(&plan, 0).unwrap().unwrap();
    let (norm, norms) =
        (found.signals.get(GRADIENT_NORM).unwrap(), found.signals.get(GRADIENT_NORMS).unwrap());
    assert_eq!((norm.width(), norms.width(), norm.provenance()), (1, 2, SignalSource::Gradients));
    // The outputs of the last layer are the logits.
    let logits = found.signals.get(&activations_of(&last)).unwrap();
    assert_eq!((logits.width(), logits.provenance()), (3, SignalSource::Activations));
    let said = found.outputs.as_ref().unwrap().values();
    assert!(logits.values().iter().zip(said).all(|(a, b)| (a - f64::from(*b)).abs() < 1e-4));
    // The slope of the loss along the gradient of one record, by differences, is the norm.
    let weights = found.weights.clone().unwrap();
    let labels = Population::of_examples(learner.population()).unwrap().labels;
    let description = &learner.training().description;
    let resources = Resources { threads: 1, chunk: None };
    let loss = |weights: &[f32], record: usize| {
        let outputs =
            network_outputs(description, weights, learner.population(), Device::Cpu, resources).unwrap();
        -Signal::Loss.compute(&outputs, &labels).unwrap()[record]
    };
    let record = (0..60).min_by(|a, b| norm.values()[*a].total_cmp(&norm.values()[*b])).unwrap();
    let mut squares = 0.0;
    for place in 0..weights.len() {
        let at = |step: f32| {
            let mut moved = weights.clone();
            moved[place] += step;
            loss(&moved, record)
        };
        let slope = (at(1e-2) - at(-1e-2)) / 2e-2;
        squares += slope * slope;
    }
    let slope = squares.sqrt();
    assert!((slope + norm.values()[record]).abs() < 0.05 * slope, "{slope} {}", norm.values()[record]);
    // A trained network has smaller gradients at its members.
    let members = plan.mask(0);
    let leak = auc(norm.values(), &members);
    assert!(leak > 0.6, "{leak}");
    // The same from the weights alone, as for a stored target; without snapshots.
    let again = learner.artifact(weights.clone(), &wanted).unwrap();
    assert_eq!(again.outputs, found.outputs);
    let (fresh, kept) = (again.signals.get(GRADIENT_NORM).unwrap().values()[3], norm.values()[3]);
    assert!((fresh - kept).abs() < 1e-5 * (1.0 + kept.abs()), "{fresh} {kept}");
    let refusal = learner.artifact(weights, &everything()).unwrap_err();
    assert!(matches!(refusal, AttackError::NotOffered { part: ArtifactPart::Snapshots, .. }), "{refusal}");
    let odd = Wanted { activations: vec!["none".to_owned()], ..Wanted::default() };
    assert!(learner.fit(&[0, 1, 2], "k", &odd, &|| false).is_err());
}
