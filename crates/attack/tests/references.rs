//! Reference models: jobs, threads, interruptions, broken files, targets.

use crate::tiny::{auc, records, training};
use reticent_attack::learner::Halt;
use reticent_attack::{
    Artifact, ArtifactPart, AttackError, Job, JobProgress, JobSettings, Learner, NetworkLearner,
    NetworkTraining, Population, ReferenceDesign, ReferencePlan, ReferenceSettings, Store, Wanted, as_target,
    network_outputs, target_study,
};
use reticent_audit::{Reference, overfitting};
use reticent_core::{Code, Coded, Neighboring};
use reticent_train::describe::LayerKind;
use reticent_train::{Clipping, Device, PlanSettings, PrivacyPlan, Resources, TrainingTerms, engine};
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

fn settings(references: usize, design: ReferenceDesign) -> ReferenceSettings {
    ReferenceSettings { key: "seven".into(), references, design, wanted: Wanted::default() }
}

fn go(plan: &ReferencePlan<'_>, store: &Store, job: Job, threads: usize) -> reticent_attack::JobReport {
    let halt = AtomicBool::new(false);
    plan.fit(store, job, JobSettings { threads, progress: &|_| {}, halt: &halt }).unwrap()
}

fn learner() -> NetworkLearner {
    NetworkLearner::new(records(60, 3), training(3, 60)).unwrap()
}

fn whole(plan: &ReferencePlan<'_>, threads: usize) -> Vec<Reference> {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    assert_eq!(go(plan, &store, Job::WHOLE, threads).trained, (0..plan.len()).collect::<Vec<_>>());
    plan.collect(&store).unwrap()
}

#[test]
fn references_do_not_depend_on_jobs_or_threads() {
    let learner = learner();
    for design in [ReferenceDesign::Half, ReferenceDesign::Bernoulli] {
        let settings = settings(6, design);
        let plan = ReferencePlan::new(&settings, &learner).unwrap();
        let first = whole(&plan, 1);
        assert_eq!(first, whole(&plan, 4));
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        for index in [2, 0, 1] {
            let done = go(&plan, &store, Job { index, of: 3 }, 2);
            assert_eq!(done.trained, [index, index + 3]);
            let missing = plan.collect(&store);
            assert_eq!(missing.is_err(), index != 1);
        }
        assert_eq!(first, plan.collect(&store).unwrap());
        let again = go(&plan, &store, Job::WHOLE, 2);
        assert_eq!((again.trained.len(), again.present, again.left), (0, 6, 0));
        assert_ne!(first[0].outputs, first[2].outputs);
        // More references later keep those that are there.
        let more = ReferenceSettings { references: 7, ..settings.clone() };
        let plan = ReferencePlan::new(&more, &learner).unwrap();
        assert_eq!(go(&plan, &store, Job::WHOLE, 2).trained, [6]);
    }
}

/// Asks to stop in the middle of the third model.
struct Impatient<'a> {
    inner: &'a NetworkLearner,
    begun: AtomicUsize,
    halt: AtomicBool,
}

impl Learner for Impatient<'_> {
    fn records(&self) -> usize {
        self.inner.records()
    }

    fn identity(&self) -> String {
        self.inner.identity()
    }

    fn is_repeatable(&self) -> bool {
        self.inner.is_repeatable()
    }

    fn kind(&self) -> &'static str {
        self.inner.kind()
    }

    fn offers(&self, part: ArtifactPart) -> bool {
        self.inner.offers(part)
    }

    fn fit(
        &self,
        inside: &[usize],
        key: &str,
        wanted: &Wanted,
        halt: Halt<'_>,
    ) -> Result<Artifact, AttackError> {
        if self.begun.fetch_add(1, Ordering::Relaxed) == 2 {
            let steps = AtomicUsize::new(0);
            let now = || {
                self.halt.store(steps.fetch_add(1, Ordering::Relaxed) == 20, Ordering::Relaxed);
                halt()
            };
            return self.inner.fit(inside, key, wanted, &now);
        }
        self.inner.fit(inside, key, wanted, halt)
    }
}

#[test]
fn an_interruption_loses_nothing_that_was_finished() {
    let (inner, settings) = (learner(), settings(6, ReferenceDesign::Half));
    let (begun, halt) = (AtomicUsize::new(0), AtomicBool::new(false));
    let impatient = Impatient { inner: &inner, begun, halt };
    let plan = ReferencePlan::new(&settings, &impatient).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let seen = RefCell::new(Vec::new());
    let progress = |now: JobProgress| seen.borrow_mut().push((now.finished, now.total, now.current));
    let run = JobSettings { threads: 1, progress: &progress, halt: &impatient.halt };
    let done = plan.fit(&store, Job::WHOLE, run).unwrap();
    assert_eq!((&done.trained[..], done.present, done.left), (&[0, 1][..], 0, 4));
    assert_eq!(seen.into_inner(), [(0, 6, 0), (1, 6, 0), (1, 6, 1), (2, 6, 1), (2, 6, 2)]);
    let Err(AttackError::Missing { indices, of: 6, broken }) = plan.collect(&store) else { panic!() };
    assert_eq!((&indices[..], broken.len()), (&[2, 3, 4, 5][..], 0));
    let plan = ReferencePlan::new(&settings, &inner).unwrap();
    let rest = go(&plan, &store, Job::WHOLE, 2);
    assert_eq!((rest.present, rest.trained), (2, indices));
    assert_eq!(plan.collect(&store).unwrap(), whole(&plan, 2));
}

#[test]
fn broken_files_are_named_and_replaced() {
    let (learner, settings) = (learner(), settings(4, ReferenceDesign::Half));
    let plan = ReferencePlan::new(&settings, &learner).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    go(&plan, &store, Job::WHOLE, 2);
    let first = plan.collect(&store).unwrap();
    #[cfg(unix)]
    for index in 0..4 {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(store.path(&plan, index)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "reference {index} says who was in it");
    }
    let bytes = |index| std::fs::read(store.path(&plan, index)).unwrap();
    std::fs::write(store.path(&plan, 1), &bytes(1)[..300]).unwrap();
    let mut flipped = bytes(2);
    let last = flipped.len() - 5;
    flipped[last] ^= 16;
    std::fs::write(store.path(&plan, 2), flipped).unwrap();
    // A whole file, but of another reference.
    std::fs::write(store.path(&plan, 3), bytes(0)).unwrap();
    let refused = plan.collect(&store).unwrap_err();
    assert!(
        refused.to_string().contains("(1, 2, 3)") && refused.to_string().contains("corrupt"),
        "{refused}"
    );
    assert_eq!(go(&plan, &store, Job::WHOLE, 2).trained, [1, 2, 3]);
    assert_eq!(plan.collect(&store).unwrap(), first);
}

#[test]
fn other_data_settings_or_keys_have_other_files() {
    let base = learner();
    let settings_of = settings(2, ReferenceDesign::Half);
    let name = |settings: &ReferenceSettings, learner: &NetworkLearner| {
        ReferencePlan::new(settings, learner).unwrap().digest(0)
    };
    let own = name(&settings_of, &base);
    assert_eq!(own, name(&settings(9, ReferenceDesign::Half), &learner()));
    assert_ne!(own, name(&settings(2, ReferenceDesign::Bernoulli), &base));
    assert_ne!(own, name(&ReferenceSettings { key: "8".into(), ..settings_of.clone() }, &base));
    assert_ne!(own, name(&settings_of, &NetworkLearner::new(records(62, 3), training(3, 60)).unwrap()));
    assert_ne!(own, name(&settings_of, &NetworkLearner::new(records(60, 3), training(3, 61)).unwrap()));
    for odd in [settings(0, ReferenceDesign::Half), ReferenceSettings { key: String::new(), ..settings_of }] {
        assert!(ReferencePlan::new(&odd, &base).is_err());
    }
    assert!(base.is_repeatable());
    let drops = crate::tiny::network(12, 4, 3).then(LayerKind::Dropout { rate: 0.5 });
    let drops = NetworkLearner::new(records(60, 3), NetworkTraining { description: drops, ..training(3, 5) });
    let drops = drops.unwrap();
    assert!(!drops.is_repeatable() && drops.fit(&[1, 2, 3], "k", &Wanted::default(), &|| false).is_ok());
    let odd = NetworkTraining { description: crate::tiny::network(11, 4, 3), ..training(3, 5) };
    assert!(NetworkLearner::new(records(60, 3), odd).is_err());
}

#[test]
fn models_of_a_device_have_the_same_name_and_no_key() {
    let (here, there) = (learner(), learner().computed_on(Device::Cuda, Some(16)));
    assert_eq!(here.identity(), there.identity());
    assert!(here.is_repeatable() && !there.is_repeatable());
    // The same model in other pieces, on the CPU.
    let [whole, pieces] = [None, Some(7)].map(|chunk| {
        let learner = learner().computed_on(Device::Cpu, chunk);
        assert!(learner.is_repeatable());
        learner
            .fit(&[1, 2, 3, 4, 5, 6, 7, 8, 9], "k", &Wanted::default(), &|| false)
            .unwrap()
            .outputs
            .unwrap()
    });
    assert_eq!(whole.len(), pieces.len());
    // Where there is no GPU, the reference that needs it says so.
    let settings = settings(2, ReferenceDesign::Half);
    let plan = ReferencePlan::new(&settings, &there).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let (halt, threads) = (AtomicBool::new(false), 2);
    match plan.fit(&store, Job::WHOLE, JobSettings { threads, progress: &|_| {}, halt: &halt }) {
        Ok(done) => assert_eq!(done.trained, [0, 1]),
        Err(error) => {
            assert_eq!(error.code(), Code::Device);
            assert!(error.to_string().starts_with("reference "), "{error}");
        }
    }
}

#[test]
fn targets_have_fair_references_and_overfit() {
    let data = records(120, 3);
    let learner = NetworkLearner::new(data.clone(), training(3, 300)).unwrap();
    let settings = settings(4, ReferenceDesign::Half);
    let plan = ReferencePlan::new(&settings, &learner).unwrap();
    let references = whole(&plan, 2);
    let population = Population::of_examples(&data).unwrap();
    let study = as_target(&population, &references, 1).unwrap();
    // The other of the pair would tell who is a member.
    assert_eq!(
        study.parts().references.iter().map(|r| &r.name[..]).collect::<Vec<_>>(),
        ["reference 2", "reference 3"]
    );
    for record in 0..study.len() {
        assert_eq!(study.parts().references.iter().filter(|r| r.inside[record]).count(), 1);
    }
    assert_eq!(study.parts().members, references[1].inside);
    assert_eq!(study.parts().features.as_ref().unwrap().columns, 12);
    assert_eq!(study.parts().groups[0].1[4], "1");
    assert!(as_target(&population, &references, 4).is_err());
    let rows = overfitting(&references, &population.labels).unwrap();
    assert!(rows.iter().all(|row| row.train_accuracy > 0.9 && row.gap > 0.1), "{rows:?}");
    let advantage = rows.iter().map(|row| row.advantage).sum::<f64>() / 4.0;
    assert!(advantage > 0.1, "{rows:?}");
    // A target from its weights.
    let description = training(3, 1).description;
    let network = engine(&description, Device::Cpu, Resources::SINGLE).unwrap();
    let weights = network.initial_weights().unwrap();
    let resources = Resources { threads: 2, chunk: None };
    let outputs = network_outputs(&description, &weights, &data, Device::Cpu, resources).unwrap();
    let study = target_study(&population, references[0].inside.clone(), outputs, references.clone()).unwrap();
    assert_eq!((study.len(), study.parts().references.len()), (120, 4));
    let outputs = network_outputs(&description, &weights[1..], &data, Device::Cpu, resources);
    assert!(outputs.is_err());
}

#[test]
fn references_of_a_private_target_are_trained_by_its_plan_and_leak_less() {
    let data = records(80, 2);
    let description = crate::tiny::network(12, 8, 2);
    let network = engine(&description, Device::Cpu, Resources::SINGLE).unwrap();
    for neighboring in [Neighboring::AddRemove, Neighboring::ReplaceOne] {
        let plan = PlanSettings {
            neighboring,
            unit: "example".into(),
            size: 50,
            sampling_rate: 0.5,
            steps: 20,
            clipping: Clipping::Flat { norm: 1.0 },
            dimension: network.layout().gradients(),
            cyclic: None,
            growth: None,
        };
        let terms = TrainingTerms::Private(PrivacyPlan::new(plan, 4.0, 1e-5).unwrap());
        let how = NetworkTraining { description: description.clone(), terms, ..training(2, 1) };
        let learner = NetworkLearner::new(data.clone(), how).unwrap();
        let settings = settings(4, ReferenceDesign::Half);
        let plan = ReferencePlan::new(&settings, &learner).unwrap();
        let (first, second) = (whole(&plan, 2), whole(&plan, 2));
        assert_ne!(first[0].outputs, second[0].outputs, "private models are not repeatable");
        assert_eq!(first[0].inside, second[0].inside);
        let labels = Population::of_examples(&data).unwrap().labels;
        let gap: f64 = overfitting(&first, &labels).unwrap().iter().map(|row| row.gap).sum::<f64>() / 4.0;
        assert!(gap.abs() < 0.25, "{gap}");
    }
    assert!((auc(&[1.0, 0.0], &[true, false]) - 1.0).abs() < 1e-12);
}
