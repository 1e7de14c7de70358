//! Trainings that can be repeated.

use crate::model::{examples, model, plan, private, recipe};
use reticent_train::describe::preset;
use reticent_train::{Baseline, Batching, Device, Engine, Resources, Trainer, Units, engine};

fn network() -> Box<dyn Engine> {
    engine(&preset("mlp", &[2], None, 3).unwrap(), Device::Cpu, Resources::SINGLE).unwrap()
}

fn trained(key: &str, batches: Batching) -> Vec<f32> {
    let baseline = Baseline::new(batches, 25);
    let (examples, units) = (examples(120), Units::examples(120));
    let mut trainer = Trainer::repeatable(network(), examples, units, baseline, recipe(), key).unwrap();
    while !trainer.is_finished() {
        trainer.step().unwrap();
    }
    assert!(trainer.certificate().unwrap().is_none());
    trainer.final_weights().unwrap()
}

#[test]
fn a_key_gives_the_same_weights_on_any_number_of_threads() {
    for batches in [Batching::Shuffled { size: 16 }, Batching::Poisson { rate: 0.1 }] {
        let first = trained("a", batches);
        assert_eq!(first, trained("a", batches));
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        assert_eq!(first, pool.install(|| trained("a", batches)));
        assert_ne!(first, trained("b", batches));
    }
}

#[test]
fn only_a_training_without_a_key_is_kept_in_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let baseline = Baseline::new(Batching::Shuffled { size: 16 }, 5);
    let (data, units) = (examples(60), Units::examples(60));
    let mut trainer =
        Trainer::repeatable(network(), data.clone(), units.clone(), baseline, recipe(), "a").unwrap();
    assert!(trainer.begin_in(&folder.path().join("run")).unwrap_err().to_string().contains("repeat it"));
    assert!(trainer.resume_from(folder.path()).is_err());
    let refused = Trainer::repeatable(model(), data.clone(), units.clone(), baseline, recipe(), "a");
    assert!(refused.is_err_and(|error| error.to_string().contains("initial weights itself")));
    let plan = plan(60, 0.2, 5);
    let mut fresh = private(model(), data, units, plan, recipe()).unwrap();
    fresh.begin_in(&folder.path().join("run")).unwrap();
}

#[test]
fn a_subset_keeps_its_order_and_has_a_name_of_its_own() {
    let all = examples(30);
    let (some, mut row, mut own) = (all.subset(&[7, 3]), [0.0; 2], [0.0; 2]);
    some.read(0, &mut row);
    all.read(7, &mut own);
    assert_eq!((some.len(), row), (2, own));
    assert_eq!(all.digest(), all.subset(&(0..30).collect::<Vec<_>>()).digest());
    assert_ne!(some.digest(), all.subset(&[3, 7]).digest());
}
