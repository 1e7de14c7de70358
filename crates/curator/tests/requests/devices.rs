//! Requests about a device: one that is not there is refused before anything is charged or written, and a run is the same on all.

use reticent_accounting::filter::Budget;
use reticent_core::{Code, Delta, Epsilon, Guarantee, Ledger, LedgerError, Neighboring, Plan};
use reticent_curator::audit::{Audit, CanaryAudit, Fitting, ModelAudit};
use reticent_curator::evaluate::Evaluate;
use reticent_curator::predict::Predict;
use reticent_curator::train::{ClassNames, Device, GivenData, Resume, Train, TrainData, Trained};
use reticent_curator::{Planned, Refusal, Request, Session};
use reticent_data::Images;
use reticent_train::describe::preset;
use reticent_train::{Resources, engine};
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

/// Whether this machine has a GPU: then nothing is missing, and what a missing one leads to is not tested.
fn has_gpu() -> bool {
    let network = preset("logistic", &[1], None, 2).unwrap();
    let found = engine(&network, Device::Cuda, Resources::SINGLE).is_ok();
    if found {
        eprintln!("skipped: this machine has a GPU");
    }
    found
}

/// A budget that can be looked at while a session has it.
struct Shared(Rc<RefCell<Budget>>);

impl Ledger for Shared {
    fn reserve(&mut self, plan: &Plan) -> Result<(), LedgerError> {
        self.0.borrow_mut().reserve(plan)
    }

    fn neighboring(&self) -> Option<Neighboring> {
        Some(self.0.borrow().neighboring())
    }
}

fn session(unit: &str) -> (Session, Rc<RefCell<Budget>>) {
    let limit = Guarantee { epsilon: Epsilon::new(5.0).unwrap(), delta: Delta::new(1e-5).unwrap() };
    let budget = Rc::new(RefCell::new(Budget::new(limit, Neighboring::AddRemove).unwrap()));
    let session =
        Session::new("people", unit, Neighboring::AddRemove, Box::new(Shared(budget.clone()))).unwrap();
    (session, budget)
}

fn open() -> Session {
    Session::without_limit().unwrap()
}

/// A short training on the bundled records.
fn short(out: &Path) -> Train {
    Train {
        epsilon: Some(1.0),
        delta: Some(1e-6),
        steps: Some(2),
        batch_size: Some(64),
        dataset_size: Some(32_561),
        model: Some("mlp".to_owned()),
        out: Some(out.to_owned()),
        ..Train::default()
    }
}

/// A refusal that names the device and says what to do.
#[track_caller]
fn check(refusal: Refusal) {
    assert_eq!((refusal.code(), refusal.field()), (Code::Device, Some("device")), "{refusal}");
    assert!(refusal.message().contains("⟦device⟧ cpu"), "{refusal}");
}

fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let read = |path: PathBuf| (path.clone(), std::fs::read(path).unwrap());
    let mut found: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| read(entry.unwrap().path())).collect();
    found.sort();
    found
}

#[test]
fn a_device_that_is_missing_is_refused_before_anything_is_charged() {
    if has_gpu() {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("run");
    let declared = Train { device: Some(Device::Cuda), ..short(&out) };
    let counted = Train { dataset_size: None, ..declared.clone() };
    for request in [declared, counted] {
        let (mut session, budget) = session("row");
        check(request.check().unwrap().run(&mut session).err().unwrap());
        assert!(budget.borrow().plans().is_empty(), "{request:?}");
        assert!(!out.exists(), "{request:?}");
    }
    // Of images only the files say how large they are: the network is made when they are read, and the device is opened before.
    let pixels = || vec![0; 40 * 16];
    let images = Images::new((1, 4, 4), pixels(), vec![0; 40], "pictures").unwrap();
    let train = GivenData::Images("pictures".to_owned(), Arc::new(images));
    let request = Train {
        device: Some(Device::Cuda),
        classes: Some(ClassNames::Count(2)),
        dataset_size: Some(40),
        batch_size: Some(8),
        ..short(&out)
    };
    let (mut session, budget) = session("image");
    let planned = request.check_data(TrainData { train, validation: None }).unwrap();
    check(planned.run(&mut session).err().unwrap());
    assert!(budget.borrow().plans().is_empty() && !out.exists());
}

#[test]
fn a_run_goes_on_elsewhere_and_its_folder_names_no_device() {
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("run");
    let request = Train { device: Some(Device::Cpu), chunk: Some(16), ..short(&out) };
    let Trained::Finished(first) = request.check().unwrap().run(&mut open()).unwrap() else {
        panic!("nobody stopped it")
    };
    assert_eq!(first.device, Device::Cpu);
    assert_eq!(serde_json::to_value(&first).unwrap()["device"], "cpu");
    for name in ["run.toml", "ledger.json", "model.json", "certificate.json"] {
        let text = std::fs::read_to_string(out.join(name)).unwrap();
        assert!(!text.contains("device") && !text.contains("chunk"), "{name}: {text}");
    }
    let resume = |device, chunk| Resume {
        changes: Train { device, chunk, ..Train::default() },
        ..Resume::new(out.clone())
    };
    let Trained::Finished(again) = resume(None, Some(8)).check().unwrap().run(&mut open()).unwrap() else {
        panic!("nobody stopped it")
    };
    assert_eq!(again.certificate, first.certificate);
    if has_gpu() {
        let done = resume(Some(Device::Cuda), None).check().unwrap().run(&mut open()).unwrap();
        assert!(matches!(done, Trained::Finished(end) if end.device == Device::Cuda));
        return;
    }
    let before = files(&out);
    check(resume(Some(Device::Cuda), None).check().unwrap().run(&mut open()).err().unwrap());
    assert_eq!(files(&out), before);
    // A stored network is opened when the request is checked.
    check(Predict { device: Device::Cuda, ..Predict::new(&out, "t.csv") }.check().err().unwrap());
    check(Evaluate { device: Device::Cuda, ..Evaluate::new(&out, "t.csv") }.check().err().unwrap());
    let fitting = Fitting { device: Device::Cuda, ..Fitting::default() };
    let model = Audit::Model(ModelAudit { model: out.clone(), fitting, ..ModelAudit::default() });
    let canaries = CanaryAudit { model: out, device: Device::Cuda, ..CanaryAudit::default() };
    for audit in [model, Audit::Canaries(canaries)] {
        check(audit.check().err().unwrap());
    }
    let left: Vec<_> =
        std::fs::read_dir(place.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["run"]);
}

#[test]
fn a_file_may_name_the_device() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("run.toml");
    let read = |text: &str| {
        std::fs::write(&file, text).unwrap();
        Train::read(&file)
    };
    let run = read("epsilon = 1\ndevice = \"cuda\"\nchunk = 64\n").unwrap();
    assert_eq!((run.device, run.chunk), (Some(Device::Cuda), Some(64)));
    let over = Train { device: Some(Device::Cpu), ..Train::default() }.over(run).unwrap();
    assert_eq!((over.device, over.chunk, over.epsilon), (Some(Device::Cpu), Some(64), Some(1.0)));
    let refusal = read("device = \"tpu\"\n").unwrap_err().to_string();
    assert!(
        refusal.contains("run.toml:1") && refusal.contains("tpu") && refusal.contains("cuda"),
        "{refusal}"
    );
}
