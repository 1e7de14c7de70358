//! Where data are: an image folder, a table, or the name of a dataset.

use crate::refusal::Refusal;
use crate::table::{is_same_table, origin, tables};
use reticent_core::Code;
use reticent_data::{
    DATA_FOLDER, DatasetPart, Images, Reading, Schema, Table, find_dataset, is_table_file, is_table_folder,
};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A part of a set of images or of a dataset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SourcePart {
    /// What models are trained on.
    Train,
    /// What its authors set aside.
    Test,
}

impl SourcePart {
    /// The part of that name.
    ///
    /// # Errors
    /// [`Refusal`] for any other name.
    pub fn named(name: &str) -> Result<Self, Refusal> {
        match name {
            "train" => Ok(Self::Train),
            "test" => Ok(Self::Test),
            other => Err(Refusal::unknown("part", other, "unknown: give train or test")),
        }
    }
}

/// Data that are given beside a request, such as data in memory.
#[derive(Debug, Clone)]
pub enum GivenData {
    /// A table.
    Table(Arc<dyn Table>),
    /// Images and their classes, under a name for messages.
    Images(String, Arc<Images>),
}

/// The data of a training that are given beside the request.
#[derive(Debug, Clone)]
pub struct TrainData {
    /// The private examples.
    pub train: GivenData,
    /// Public labelled examples, which are not protected.
    pub validation: Option<GivenData>,
}

impl GivenData {
    /// Where the data come from, as a stored request names it.
    pub(crate) fn origin(&self) -> PathBuf {
        match self {
            Self::Table(table) => origin(&**table),
            Self::Images(name, _) => format!("memory:{name}").into(),
        }
    }
}

impl From<GivenData> for Source {
    fn from(given: GivenData) -> Self {
        match given {
            GivenData::Table(table) => Self::Table(table),
            GivenData::Images(name, images) => Self::Memory(name, images),
        }
    }
}

/// Data that can be read.
#[derive(Debug, Clone)]
pub(crate) enum Source {
    /// One part of the images in a folder.
    Images(PathBuf, DatasetPart),
    /// A single idx file of images, which has no labels.
    Pixels(PathBuf),
    /// Images in memory, with their name in messages.
    Memory(String, Arc<Images>),
    Table(Arc<dyn Table>),
}

impl Source {
    /// Whether both are the same files, as far as their paths tell.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let same = |a: &Path, b: &Path| match (a.canonicalize(), b.canonicalize()) {
            (Ok(a), Ok(b)) => a == b,
            _ => false,
        };
        match (self, other) {
            (Self::Images(a, part), Self::Images(b, other)) => part == other && same(a, b),
            (Self::Memory(_, a), Self::Memory(_, b)) => Arc::ptr_eq(a, b),
            (Self::Table(a), Self::Table(b)) => is_same_table(a, b),
            _ => false,
        }
    }

    /// As messages name it.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Images(folder, DatasetPart::Train) => format!("{} (training split)", folder.display()),
            Self::Images(folder, DatasetPart::Test) => format!("{} (test split)", folder.display()),
            Self::Pixels(file) => file.display().to_string(),
            Self::Memory(name, _) => name.clone(),
            Self::Table(table) => table.name().to_owned(),
        }
    }
}

/// Data, the test part that their authors set aside, and the schema that comes with them.
#[derive(Debug)]
pub(crate) struct DataSources {
    pub(crate) source: Source,
    pub(crate) official: Option<Source>,
    pub(crate) schema: Option<Schema>,
}

/// Finds data by path or name; none is the bundled table.
pub(crate) fn find(
    file: Option<&Path>,
    data_dir: Option<&Path>,
    reading: &Reading,
) -> Result<DataSources, Refusal> {
    if let Some(folder) = file.map(|file| image_folder(file, data_dir)).transpose()?.flatten() {
        let official =
            has_images(&folder, DatasetPart::Test).then(|| Source::Images(folder.clone(), DatasetPart::Test));
        return Ok(DataSources {
            source: Source::Images(folder, DatasetPart::Train),
            official,
            schema: None,
        });
    }
    if let Some(folder) = file.filter(|file| file.is_dir() && !is_table_folder(file, reading)) {
        let why = "no images in this folder: give a folder with train-images-idx3-ubyte.gz or data_batch_1.bin, or a table";
        return Err(Refusal::new(Code::Dataset, format!("{}: {why}", folder.display())));
    }
    let (table, official, schema) = tables(file, data_dir, reading)?;
    Ok(DataSources { source: Source::Table(table), official: official.map(Source::Table), schema })
}

/// The folder of images that a path or name stands for; none if it stands for something else.
pub(super) fn image_folder(file: &Path, data_dir: Option<&Path>) -> Result<Option<PathBuf>, Refusal> {
    let holds =
        |folder: &Path| has_images(folder, DatasetPart::Train) || has_images(folder, DatasetPart::Test);
    if file.is_dir() {
        return Ok(Some(file.to_owned()).filter(|folder| holds(folder)));
    }
    let is_name = file.extension().is_none() && file.as_os_str() != "-" && !file.exists();
    let has_place = data_dir.is_some() || std::env::var_os(DATA_FOLDER).is_some();
    let Some(name) = file.to_str().filter(|_| is_name && has_place) else { return Ok(None) };
    let folder = find_dataset(name, data_dir).map_err(Refusal::data("data_dir"))?;
    Ok(Some(folder).filter(|folder| holds(folder)))
}

fn has_images(folder: &Path, part: DatasetPart) -> bool {
    let names: &[&str] = match part {
        DatasetPart::Train => &[
            "train-images-idx3-ubyte.gz",
            "train-images-idx3-ubyte",
            "data_batch_1.bin",
            "data_batch_1.webp",
        ],
        DatasetPart::Test => {
            &["t10k-images-idx3-ubyte.gz", "t10k-images-idx3-ubyte", "test_batch.bin", "test_batch.webp"]
        }
    };
    names.iter().any(|name| folder.join(name).is_file())
}

/// The data of a path or name, in the part that was asked for.
pub(crate) fn part_source(
    file: &Path,
    part: Option<SourcePart>,
    reading: &Reading,
) -> Result<Source, Refusal> {
    if file.is_file() && !is_table_file(file, reading) {
        return Ok(Source::Pixels(file.to_owned()));
    }
    let found = find(Some(file), None, reading)?;
    match (part, found.official) {
        (None | Some(SourcePart::Test), Some(official)) => Ok(official),
        (Some(SourcePart::Test), None) => {
            Err(Refusal::conflict("part", "test", "these data have no test split: leave it out"))
        }
        _ => Ok(found.source),
    }
}
