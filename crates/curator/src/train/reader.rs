//! From data to examples, by what is public alone; kept beside the model, to read other data alike.

use super::describe::is_language_model;
use super::request::{ClassNames, Train};
use super::source::Source;
use super::start::vector_words;
use crate::fit::Task;
use crate::folder::Content;
use crate::refusal::Refusal;
use crate::table::no_schema;
use crate::watch::{Watch, reading};
use reticent_core::Code;
use reticent_data::encode::Feature;
use reticent_data::schema::{Categories, Label, LabelKind, PrivacyUnit};
use reticent_data::text::{TextPlan, TokenKind, Vocabulary};
use reticent_data::{Encoder, Images, Schema, Values, read_idx};
use reticent_train::{Augmentation, Examples, Units, load};
use serde::{Deserialize, Serialize};

/// Tokens per text unless another number is asked for.
const LENGTH: u64 = 64;

/// The most tokens per text.
const MOST_LENGTH: u64 = 1 << 16;

/// How inputs are made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(crate) enum Input {
    /// Pixels, as (pixel / 255 - shift) / scale, with the copies that scores are averaged over.
    Images {
        shift: Vec<f32>,
        scale: Vec<f32>,
        #[serde(default)]
        augment: Augmentation,
    },
    /// The columns of the schema.
    Table,
    /// The tokens of a column, a text an example.
    Text {
        column: String,
        length: usize,
        #[serde(default)]
        tokens: TokenKind,
    },
    /// The tokens of a column in pieces, for a language model.
    Language { column: String, length: usize, tokens: TokenKind },
}

/// Everything public that turns data into examples.
#[derive(Debug, Clone)]
pub(crate) struct Reader {
    pub(crate) input: Input,
    /// The names of the classes; none for a number.
    pub(crate) classes: Vec<String>,
    /// None for images.
    pub(crate) schema: Option<Schema>,
    /// For text.
    pub(crate) vocabulary: Option<Vocabulary>,
    /// Whether the classes are those that the data hold, declared to be public.
    pub(crate) observed_labels: bool,
}

/// Data in memory.
pub(crate) struct Loaded {
    pub(crate) examples: Examples,
    /// The user of every example, if the unit is a column.
    pub(crate) users: Option<Vec<u32>>,
    /// The row of every example, if a row can have several.
    pub(crate) rows: Option<Vec<u32>>,
}

impl Loaded {
    /// What can be compared of it.
    pub(crate) fn content(&self) -> Content<'_> {
        Content::Examples(&self.examples, self.users.as_deref())
    }

    fn new(examples: Examples, users: Option<Vec<u32>>) -> Self {
        Self { examples, users, rows: None }
    }

    /// The privacy units: those who share a value of the unit's column, or the rows. Of a row that has several examples, a step takes one
    /// at random unless `most` says otherwise. Without privacy, every example is drawn by itself.
    ///
    /// # Errors
    /// [`Refusal`] for a cap of 0.
    pub(crate) fn units(&self, most: Option<u64>, is_private: bool) -> Result<Units, Refusal> {
        let cap = most.map(|most| most as usize);
        Ok(match (&self.users, &self.rows) {
            (Some(users), _) => Units::users(users, cap)?,
            (None, Some(rows)) if is_private || cap.is_some() => Units::users(rows, cap.or(Some(1)))?,
            _ => Units::examples(self.examples.raw().len()),
        })
    }
}

impl Reader {
    /// What a run says about its data.
    pub(crate) fn of(run: &Train, source: &Source, known: Option<Schema>) -> Result<Self, Refusal> {
        let images = matches!(source, Source::Images(..) | Source::Pixels(_) | Source::Memory(..));
        let observed_labels = run.observed_labels == Some(true);
        let is_language = is_language_model(run)?;
        let is_text = is_language
            || run.vocabulary.is_some()
            || run.vectors.is_some()
            || run.text_column.is_some()
            || run.length.is_some()
            || run.tokens.is_some();
        for (field, given, fits) in [
            ("schema", run.schema.is_some(), !images),
            ("text_column", run.text_column.is_some(), !images),
            ("vocabulary", run.vocabulary.is_some(), !images),
            ("vectors", run.vectors.is_some(), !images),
            ("tokens", run.tokens.is_some(), !images),
            ("length", run.length.is_some(), !images),
            ("examples_per_user", run.examples_per_user.is_some(), !images),
            ("shift", run.shift.is_some(), images),
            ("scale", run.scale.is_some(), images),
            ("label", run.label.is_some(), is_text && !images),
            ("classes", run.classes.is_some(), is_text || images),
        ] {
            if given && !fits {
                let data = if images { "images" } else { "tables" };
                let text = format!("not for {data}: leave it out");
                return Err(Refusal::about(Code::Conflict, field, text));
            }
        }
        if images {
            let half = || vec![0.5];
            let shift = run.shift.as_ref().map_or_else(half, |shift| shift.values());
            let scale = run.scale.as_ref().map_or_else(half, |scale| scale.values());
            let augment = run.augment.unwrap_or_default();
            let input = Input::Images { shift, scale, augment };
            let classes = image_classes(run)?;
            return Ok(Self { input, classes, schema: None, vocabulary: None, observed_labels });
        }
        let own = run.schema.as_deref().map(Schema::read).transpose().map_err(Refusal::data("schema"))?;
        if !is_text {
            let schema = own.or(known).ok_or_else(no_schema)?;
            let classes = Task::of(&schema)?.classes();
            let input = Input::Table;
            return Ok(Self { input, classes, schema: Some(schema), vocabulary: None, observed_labels });
        }
        let Some(column) = run.text_column.clone() else {
            return Err(Refusal::missing(
                "text_column",
                "give the column that holds the texts, e.g. ⟦text_column⟧ text",
            ));
        };
        let vocabulary = vocabulary_of(run, is_language)?;
        let tokens = vocabulary.kind();
        let length = run.length.unwrap_or(LENGTH);
        let least = if is_language { 2 } else { 1 };
        if length < least || length > MOST_LENGTH {
            let remedy = format!("give a number from {least} to {MOST_LENGTH}");
            return Err(Refusal::value("length", length, remedy));
        }
        let length = length as usize;
        if is_language {
            for (field, given) in [
                ("label", run.label.is_some()),
                ("classes", run.classes.is_some()),
                ("observed_labels", observed_labels),
                ("federated", run.federated.is_some()),
            ] {
                if given {
                    let remedy = "not for language models, which predict the next token: leave it out";
                    return Err(Refusal::about(Code::Conflict, field, remedy));
                }
            }
            let schema = match own {
                Some(schema) => schema,
                None => Schema::new(PrivacyUnit::Row, None, Vec::new()).map_err(Refusal::data("schema"))?,
            };
            let input = Input::Language { column, length, tokens };
            let (classes, schema) = (Vec::new(), Some(schema));
            return Ok(Self { input, classes, schema, vocabulary: Some(vocabulary), observed_labels });
        }
        let schema = match own {
            Some(_) if run.label.is_some() || run.classes.is_some() => {
                let why =
                    "the schema already declares the label and its classes: leave these out, or the schema";
                return Err(Refusal::new(Code::Conflict, format!("⟦label⟧ or ⟦classes⟧: {why}")));
            }
            Some(schema) => schema,
            None => text_schema(run)?,
        };
        let classes = Task::of(&schema)?.classes();
        let input = Input::Text { column, length, tokens };
        Ok(Self { input, classes, schema: Some(schema), vocabulary: Some(vocabulary), observed_labels })
    }

    /// Checks what was stored against the shape that the network reads, before anything of that size is made.
    pub(crate) fn fits(&self, shape: &[usize]) -> Result<(), String> {
        match &self.input {
            Input::Text { length, .. } | Input::Language { length, .. } if shape != [*length] => {
                Err(format!("texts of length {length} do not fit the input {shape:?} of model.toml"))
            }
            Input::Images { shift, scale, .. } => {
                let channels = shape.first().copied().unwrap_or(1);
                let fits = |values: &[f32]| values.len() == 1 || values.len() == channels;
                let usable = shift.iter().all(|value| value.is_finite())
                    && scale.iter().all(|value| value.is_finite() && *value != 0.0);
                match fits(shift) && fits(scale) && usable {
                    true => Ok(()),
                    false => Err("shift or scale is not one finite number, or one per channel".to_owned()),
                }
            }
            _ => Ok(()),
        }
    }

    /// What every number of an example says; nothing for images and texts.
    pub(crate) fn features(&self) -> Result<Vec<Feature>, Refusal> {
        match (&self.input, &self.schema) {
            (Input::Table, Some(schema)) => {
                Ok(Encoder::new(schema).map_err(Refusal::data("schema"))?.features().to_vec())
            }
            _ => Ok(Vec::new()),
        }
    }

    /// The shape of an example, where that is known before one is read: that of images is not.
    pub(crate) fn shape(&self) -> Result<Option<Vec<usize>>, Refusal> {
        Ok(match (&self.input, &self.schema) {
            (Input::Table, Some(schema)) => {
                let encoder = Encoder::new(schema).map_err(Refusal::data("schema"))?;
                Some(vec![encoder.dimension()])
            }
            (Input::Text { length, .. } | Input::Language { length, .. }, _) => Some(vec![*length]),
            _ => None,
        })
    }

    /// How many outputs a network needs: one per class, one for a number, or one per token at every position.
    pub(crate) fn outputs(&self) -> usize {
        match (&self.input, &self.vocabulary) {
            (Input::Language { length, .. }, Some(vocabulary)) => length * vocabulary.size(),
            _ => self.classes.len().max(1),
        }
    }

    /// Whether it reads texts for a language model.
    pub(crate) fn is_language(&self) -> bool {
        matches!(self.input, Input::Language { .. })
    }

    /// The vocabulary file; none where there is none, or the vocabulary is built in.
    pub(crate) fn vocabulary_text(&self) -> Option<String> {
        self.vocabulary.as_ref().and_then(Vocabulary::to_text)
    }

    /// What a label is read as.
    pub(crate) fn target(&self) -> Option<&LabelKind> {
        self.schema.as_ref().and_then(Schema::label).map(|label| &label.target)
    }

    /// The column whose values are the units; none where a row or an image is one.
    pub(crate) fn unit_column(&self) -> Option<&str> {
        match self.schema.as_ref().map(Schema::unit) {
            Some(PrivacyUnit::Column(column)) => Some(column),
            _ => None,
        }
    }

    /// Who is protected.
    pub(crate) fn unit(&self) -> String {
        match (&self.input, self.schema.as_ref().map(Schema::unit)) {
            (_, Some(PrivacyUnit::Column(column))) => crate::quantity::unit_words(Some(column)),
            (Input::Images { .. }, _) => "image".to_owned(),
            _ => crate::quantity::unit_words(None),
        }
    }

    /// The name of several of what a step draws: units, or without them examples.
    pub(crate) fn unit_words(&self, by_units: bool) -> &'static str {
        match (&self.input, self.schema.as_ref().map(Schema::unit)) {
            (_, Some(PrivacyUnit::Column(_))) => "users",
            (Input::Images { .. }, _) => "images",
            (Input::Language { .. }, _) if !by_units => "pieces",
            _ => "rows",
        }
    }

    /// The copies of an image that its scores are averaged over: those that were trained on.
    pub(crate) fn augment(&self) -> Augmentation {
        match self.input {
            Input::Images { augment, .. } => augment,
            _ => Augmentation::None,
        }
    }

    /// Reads data, with labels and users or without.
    pub(crate) fn read(&self, source: &Source, labelled: bool, watch: &dyn Watch) -> Result<Loaded, Refusal> {
        let wrong = |remedy: &str| Err(Refusal::new(Code::Misfit, format!("{}: {remedy}", source.name())));
        match (&self.input, source) {
            (Input::Images { shift, scale, .. }, Source::Images(folder, part)) => {
                let images = Images::read(folder, *part)?;
                Ok(Loaded::new(load::images(&images, shift, scale)?, None))
            }
            (Input::Images { shift, scale, .. }, Source::Pixels(file)) if !labelled => {
                let array = read_idx(file)?;
                let &[count, height, width] = array.shape() else {
                    return wrong("not a file of images: give a file with three dimensions");
                };
                let Values::U8(values) = array.into_values() else { return wrong("not a file of images") };
                let examples = load::pixels([1, height, width], values, vec![0; count], shift, scale)?;
                Ok(Loaded::new(examples, None))
            }
            (Input::Images { shift, scale, .. }, Source::Memory(_, images)) => {
                Ok(Loaded::new(load::images(images, shift, scale)?, None))
            }
            (Input::Images { .. }, Source::Pixels(_)) => {
                wrong("labels are needed: give a folder with images and labels")
            }
            (Input::Images { .. }, Source::Table(_)) => wrong("not images: give a folder of images"),
            (_, Source::Images(..) | Source::Pixels(_) | Source::Memory(..)) => {
                wrong("these are images: give a table")
            }
            (Input::Table, Source::Table(table)) => {
                let (Some(schema), Some(target)) = (&self.schema, self.target()) else {
                    return wrong("the model has no schema");
                };
                let encoder = Encoder::new(schema).map_err(Refusal::data("schema"))?;
                let encoder = if labelled { encoder } else { encoder.without_label() };
                let bar = reading(watch, table);
                let (design, _) = encoder.encode(table, &mut |bytes| bar.at(bytes))?;
                let examples = load::rows(&design, target, encoder.l1_bound())?;
                Ok(Loaded::new(examples, design.users().map(<[u32]>::to_vec)))
            }
            (Input::Language { column, length, .. }, Source::Table(table)) => {
                let (Some(schema), Some(vocabulary)) = (&self.schema, &self.vocabulary) else {
                    return wrong("the model has no vocabulary");
                };
                let plan = TextPlan { column, schema, vocabulary, length: *length };
                let bar = reading(watch, table);
                let texts = plan.read_whole(table, labelled, &mut |bytes| bar.at(bytes))?;
                let (examples, rows) = load::pieces(&texts, *length)?;
                let users = texts.users.map(|users| rows.iter().map(|row| users[*row as usize]).collect());
                Ok(Loaded { examples, users, rows: Some(rows) })
            }
            (Input::Text { column, length, .. }, Source::Table(table)) => {
                let (Some(schema), Some(target), Some(vocabulary)) =
                    (&self.schema, self.target(), &self.vocabulary)
                else {
                    return wrong("the model has no vocabulary");
                };
                let plan = TextPlan { column, schema, vocabulary, length: *length };
                let bar = reading(watch, table);
                let mut texts = plan.read(table, labelled, &mut |bytes| bar.at(bytes))?;
                let users = texts.users.take();
                Ok(Loaded::new(load::texts(texts, target, *length)?, users))
            }
        }
    }
}

/// The kind of tokens of that name.
///
/// # Errors
/// [`Refusal`] for any other name.
pub fn token_kind(name: &str) -> Result<TokenKind, Refusal> {
    match name {
        "words" => Ok(TokenKind::Words),
        "characters" => Ok(TokenKind::Characters),
        other => Err(Refusal::unknown("tokens", other, "unknown: give words or characters")),
    }
}

/// The tokens of the texts: a public file of words, those of public vectors, or what is built in.
fn vocabulary_of(run: &Train, is_language: bool) -> Result<Vocabulary, Refusal> {
    match (run.tokens.unwrap_or_default(), &run.vocabulary) {
        (TokenKind::Characters, Some(file)) => {
            let remedy = "⟦tokens⟧ characters have a built-in vocabulary: give one of the two";
            Err(Refusal::conflict("vocabulary", file.display(), remedy))
        }
        (TokenKind::Characters, None) => Ok(Vocabulary::characters()),
        (TokenKind::Words, Some(file)) => Vocabulary::read(file).map_err(Refusal::data("vocabulary")),
        (TokenKind::Words, None) => match &run.vectors {
            Some(vectors) => vector_words(vectors),
            None if is_language => Err(Refusal::missing(
                "vocabulary",
                "language models need a PUBLIC file with one token per line; a vocabulary made from the private texts would reveal \
                 their words. ⟦tokens⟧ characters needs no file",
            )),
            None => Ok(Vocabulary::english()?),
        },
    }
}

fn image_classes(run: &Train) -> Result<Vec<String>, Refusal> {
    let names = match &run.classes {
        None => (0..10).map(|class| class.to_string()).collect(),
        Some(ClassNames::Count(count)) => {
            if !(2..=256).contains(count) {
                return Err(Refusal::value("classes", count, "give a number from 2 to 256, or names"));
            }
            (0..*count).map(|class| class.to_string()).collect()
        }
        Some(ClassNames::Names(names)) => names.clone(),
    };
    let found = Categories::new(&names);
    found.map_err(|problem| {
        Refusal::value("classes", names.join(","), problem.to_string()).coded(Code::List)
    })?;
    if names.len() < 2 {
        return Err(Refusal::value("classes", names.join(","), "give at least two").coded(Code::List));
    }
    Ok(names)
}

/// The schema of texts that have none: a label and its classes.
fn text_schema(run: &Train) -> Result<Schema, Refusal> {
    let Some(column) = run.label.clone() else {
        return Err(Refusal::missing(
            "label",
            "give the column to predict, with ⟦classes⟧ A,B (or a ⟦schema⟧ with a [label]); a language model has no label: give ⟦model⟧ \
             lstm-lm",
        ));
    };
    let Some(ClassNames::Names(names)) = &run.classes else {
        return Err(Refusal::missing(
            "classes",
            "give the public class names of the label, e.g. ⟦classes⟧ ham,spam",
        ));
    };
    let categories = Categories::new(names).map_err(|problem| {
        Refusal::value("classes", names.join(","), problem.to_string()).coded(Code::List)
    })?;
    let label = Label { column, target: LabelKind::Classes { categories, other: 0 } };
    Schema::new(PrivacyUnit::Row, Some(label), Vec::new())
        .map_err(|error| Refusal::value("classes", names.join(","), error.to_string()).coded(Code::List))
}

#[cfg(test)]
mod tests;
