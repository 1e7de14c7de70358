//! The data sets: records that are attacked, of which every model has half, and reference records that none has.

use crate::location;
use anyhow::{Context, Result, ensure};
use reticent_data::{DatasetPart, Encoder, Images, Schema, bundled, keyed_hash, open_table};
use reticent_train::{Examples, load};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

/// One data set.
pub(crate) struct Dataset {
    pub(crate) name: &'static str,
    pub(crate) attacked: Arc<Examples>,
    pub(crate) references: Arc<Examples>,
    pub(crate) classes: usize,
    /// Epochs of training to the end.
    pub(crate) epochs: usize,
}

impl Dataset {
    /// Divides records, in the order of a keyed hash, into so many that are attacked and so many reference records.
    fn of(
        name: &'static str,
        all: &Examples,
        (attacked, references): (usize, usize),
        classes: usize,
        epochs: usize,
    ) -> Result<Self> {
        let mut order: Vec<usize> = (0..all.len()).collect();
        order.sort_by_cached_key(|place| {
            (keyed_hash("defences", format!("record {place}").as_bytes()), *place)
        });
        ensure!(attacked + references <= order.len(), "{name}: {} records are too few", order.len());
        let own = |places: &[usize]| Arc::new(all.subset(places));
        let (first, rest) = order.split_at(attacked);
        Ok(Self { name, attacked: own(first), references: own(&rest[..references]), classes, epochs })
    }

    pub(crate) fn json(&self) -> Value {
        json!({
            "name": self.name, "attacked": self.attacked.len(), "training": self.attacked.len() / 2,
            "references": self.references.len(), "classes": self.classes, "epochs": self.epochs,
        })
    }
}

/// Sizes for a trial.
fn sizes(quick: bool, attacked: usize, references: usize) -> (usize, usize) {
    if quick { (400, 200) } else { (attacked, references) }
}

/// Location-30: two thirds are attacked.
pub(crate) fn location30(folder: &Path, quick: bool) -> Result<Dataset> {
    let (all, _) = location::read(&folder.join("location30"))?;
    let epochs = if quick { 5 } else { 50 };
    Dataset::of("location-30", &all, sizes(quick, 3340, 1670), location::CLASSES, epochs)
}

/// Fashion-MNIST: 6 000 training images.
pub(crate) fn fashion(folder: &Path, quick: bool) -> Result<Dataset> {
    let images = Images::read(&folder.join("fashion_mnist"), DatasetPart::Train)?;
    let all = load::images(&images, &[0.5], &[0.5])?;
    Dataset::of("fashion-mnist", &all, sizes(quick, 4000, 2000), 10, if quick { 5 } else { 50 })
}

/// Adult: 6 000 training rows.
pub(crate) fn adult(folder: &Path, quick: bool) -> Result<Dataset> {
    let schema = Schema::parse(bundled::ADULT_SCHEMA, "adult")?;
    let encoder = Encoder::new(&schema)?;
    let path = folder.join("adult").join("adult_train.parquet");
    let (design, _) = encoder.encode(&open_table(&path)?, &mut |_| {})?;
    let target = &schema.label().context("a schema without a label")?.target;
    let all = load::rows(&design, target, encoder.l1_bound())?;
    Dataset::of("adult", &all, sizes(quick, 4000, 2000), 2, if quick { 5 } else { 60 })
}
