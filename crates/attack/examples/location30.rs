//! Reference models of the Location data (Shokri et al. 2017): networks of 446-128-30 on half of 5,010 records each.
//!
//! ```text
//! cargo run --release -p reticent-attack --example location30 -- FILE FOLDER [MODELS] [THREADS] [EPOCHS] [BATCH]
//! ```
//!
//! FILE is `location30.parquet`: a column `label` from 1 to 30, and `features` of 56 bytes, the most significant bit
//! first. FOLDER is where the references go. Accuracy on their own and on other records is printed.

use arrow::array::{Array, FixedSizeBinaryArray, UInt8Array};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use reticent_attack::{
    Design, Job, NetworkLearner, NetworkTraining, ReferencePlan, ReferenceSettings, Run, Store, overfitting,
};
use reticent_train::describe::Kind;
use reticent_train::{
    Baseline, Batches, Description, Examples, Inputs, OptimizerSettings, Recipe, Schedule, Targets, Terms,
};
use std::error::Error;
use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

const FEATURES: usize = 446;
const CLASSES: usize = 30;

fn read(file: &str) -> Result<(Examples, Vec<u32>), Box<dyn Error>> {
    let (mut inputs, mut labels) = (Vec::new(), Vec::new());
    for batch in ParquetRecordBatchReaderBuilder::try_new(File::open(file)?)?.build()? {
        let batch = batch?;
        let column = |name: &str| batch.column_by_name(name).ok_or(format!("no column {name}"));
        let classes = column("label")?.as_any().downcast_ref::<UInt8Array>().ok_or("labels are no bytes")?;
        let rows = column("features")?;
        let rows = rows.as_any().downcast_ref::<FixedSizeBinaryArray>().ok_or("features are no bytes")?;
        for row in 0..rows.len() {
            let bits = rows.value(row);
            inputs.extend((0..FEATURES).map(|place| f32::from(bits[place / 8] >> (7 - place % 8) & 1)));
            labels.push(u32::from(classes.value(row)) - 1);
        }
    }
    Ok((Examples::new(&[FEATURES], Inputs::Real(inputs), Targets::Classes(labels.clone()))?, labels))
}

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [file, folder, numbers @ ..] = &words[..] else {
        return Err("give the file, a folder and, if you like, models, threads, epochs, batch".into());
    };
    let number = |place: usize, usual: usize| numbers.get(place).map_or(Ok(usual), |word| word.parse());
    let (models, threads, epochs, batch) = (number(0, 33)?, number(1, 2)?, number(2, 50)?, number(3, 64)?);
    let (examples, labels) = read(file)?;
    let steps = (examples.len() / 2).div_ceil(batch) * epochs;
    let description = Description::reading(&[FEATURES])
        .then(Kind::Linear { out: 128, bias: true })
        .then(Kind::Relu)
        .then(Kind::Linear { out: CLASSES, bias: true });
    let terms =
        Terms::NonPrivate(Baseline { batches: Batches::Shuffled { size: batch }, steps: steps as u64 });
    let recipe =
        Recipe { optimizer: OptimizerSettings::adam(), schedule: Schedule::constant(1e-3), average: None };
    let learner = NetworkLearner::new(Arc::new(examples), NetworkTraining { description, terms, recipe })?;
    let settings = ReferenceSettings { key: "location".into(), references: models, design: Design::Half };
    let plan = ReferencePlan::new(&settings, &learner)?;
    let (store, halt, started) = (Store::open(folder.as_ref())?, AtomicBool::new(false), Instant::now());
    let fitted = plan.fit(&store, Job::WHOLE, Run { threads, progress: &|_| {}, halt: &halt })?;
    let seconds = started.elapsed().as_secs_f64();
    let taken = (fitted.trained.len() * steps) as f64;
    println!(
        "{} models of {steps} steps in {seconds:.2} s: {:.0} steps/s",
        fitted.trained.len(),
        taken / seconds
    );
    for row in overfitting(&plan.collect(&store)?, &labels)?.iter().take(3) {
        println!(
            "{}: train {:.3}, test {:.3}, advantage by loss {:.3}",
            row.name, row.train_accuracy, row.test_accuracy, row.advantage
        );
    }
    Ok(())
}
