//! A CSV or Parquet table with a row per record.

use super::{TableSettings, columns, unknown};
use crate::encode::encode;
use crate::{AuditError, Features, Reference, Signals, Study, StudyParts};
use reticent_data::{closest, open_table};
use std::path::Path;

/// Where each wanted column stands among those that are read.
#[derive(Default)]
struct Wanted {
    names: Vec<String>,
}

impl Wanted {
    fn add(&mut self, name: &str) -> usize {
        self.names.push(name.to_owned());
        self.names.len() - 1
    }
}

/// The places of a reference model's columns.
struct ReferencePlaces {
    name: String,
    score: usize,
    inside: usize,
}

pub(super) fn read(path: &Path, settings: &TableSettings) -> Result<Study, AuditError> {
    let table = open_table(path)?;
    let file = path.display().to_string();
    let names: Vec<String> = table.columns().iter().map(|column| column.name.clone()).collect();
    let has = |name: &str| names.iter().any(|known| known == name);
    table.column(&settings.member)?;
    let output_columns = columns::output_columns(&file, &names)?;
    if output_columns.is_none() && !has(&settings.score) {
        if closest(&settings.score, &names).is_some() {
            table.column(&settings.score)?;
        }
        let remedy = format!(
            "not in {file}: give it, or what the model said of each class as probability_0, probability_1, … or logit_0, …"
        );
        return Err(AuditError::invalid("column", format!("{:?}", settings.score), remedy));
    }
    let mut wanted = Wanted::default();
    let member = wanted.add(&settings.member);
    let mut optional = |name: &str| has(name).then(|| wanted.add(name));
    let score = optional(&settings.score);
    let id = optional(&settings.id);
    let label = optional(&settings.label);
    let user = optional(&settings.user);
    let drawn = optional(&settings.drawn);
    let pair = optional(&settings.pair);
    for group in settings.groups.iter().chain(&settings.features) {
        table.column(group)?;
    }
    let groups: Vec<usize> = settings.groups.iter().map(|name| wanted.add(name)).collect();
    let is_feature = |name: &&String| name.starts_with("feature_") && !settings.features.contains(*name);
    let features: Vec<&String> = names.iter().filter(is_feature).chain(&settings.features).collect();
    let features: Vec<usize> = features.into_iter().map(|name| wanted.add(name)).collect();
    let outputs: Vec<usize> =
        output_columns.iter().flat_map(|(_, c)| c).map(|name| wanted.add(name)).collect();
    let references = reference_columns(&file, &names, &mut wanted)?;

    let unused = names.iter().filter(|name| !wanted.names.contains(name)).cloned().collect();
    let mut parts = StudyParts { unused, ..StudyParts::default() };
    let (mut ids, mut labels, mut users) = (Vec::new(), Vec::new(), Vec::new());
    let (mut scores, mut output_values) = (Vec::new(), Vec::new());
    let (mut coins, mut pairs) = (Vec::new(), Vec::new());
    let mut group_values: Vec<Vec<String>> = vec![Vec::new(); groups.len()];
    let mut feature_values: Vec<Vec<String>> = vec![Vec::new(); features.len()];
    let mut reference_values: Vec<(Vec<f64>, Vec<bool>)> = vec![Default::default(); references.len()];
    let chosen: Vec<&str> = wanted.names.iter().map(String::as_str).collect();
    table.scan(&chosen, &mut |_| {}, &mut |row, cells| {
        let name = |place: usize| wanted.names[place].as_str();
        let text = |place: usize| columns::text(&cells[place], name(place), row);
        let number = |place: usize| columns::number(&cells[place], name(place), row);
        let flag = |place: usize| columns::flag(&cells[place], name(place), row);
        parts.members.push(flag(member)?);
        score.map(number).transpose()?.into_iter().for_each(|value| scores.push(value));
        id.map(text).transpose()?.into_iter().for_each(|value| ids.push(value));
        label.map(text).transpose()?.into_iter().for_each(|value| labels.push(value));
        user.map(text).transpose()?.into_iter().for_each(|value| users.push(value));
        drawn.map(number).transpose()?.into_iter().for_each(|value| coins.push(value));
        pair.map(text).transpose()?.into_iter().for_each(|value| pairs.push(value));
        for (to, place) in group_values.iter_mut().zip(&groups) {
            to.push(cells[*place].label().map_or_else(|| "(none)".to_owned(), |text| text.into_owned()));
        }
        for (to, place) in feature_values.iter_mut().zip(&features) {
            to.push(text(*place)?);
        }
        for place in &outputs {
            output_values.push(number(*place)? as f32);
        }
        for (to, reference) in reference_values.iter_mut().zip(&references) {
            to.0.push(number(reference.score)?);
            to.1.push(flag(reference.inside)?);
        }
        Ok::<(), AuditError>(())
    })?;
    parts.ids = ids;
    parts.signals = score.map_or_else(Signals::none, |_| Signals::of_scores(scores));
    parts.labels = label.map(|_| columns::classes(&labels));
    parts.users = user.map(|_| users);
    parts.pairs = pair.map(|_| pairs);
    parts.draw = columns::draw(&coins)?;
    parts.groups = settings.groups.iter().cloned().zip(group_values).collect();
    (parts.features, parts.free_text) = encoded(&wanted.names, &features, &feature_values);
    parts.target = columns::outputs(output_columns.as_ref(), output_values)?;
    let reference = |(places, (scores, inside)): (ReferencePlaces, _)| Reference {
        name: places.name,
        outputs: None,
        signals: Signals::of_scores(scores),
        inside,
    };
    parts.references = references.into_iter().zip(reference_values).map(reference).collect();
    Study::new(parts)
}

/// The columns `reference_K` and `reference_K_in`, in the order of the file.
fn reference_columns(
    file: &str,
    names: &[String],
    wanted: &mut Wanted,
) -> Result<Vec<ReferencePlaces>, AuditError> {
    let mut found = Vec::new();
    for name in names.iter().filter(|name| name.starts_with("reference_")) {
        let score = name.strip_suffix("_in").unwrap_or(name).to_owned();
        let inside = format!("{score}_in");
        if let Some(missing) = [&score, &inside].into_iter().find(|half| !names.contains(half)) {
            return Err(unknown(file, missing, names.to_vec()));
        }
        if *name == score {
            let (score_place, inside) = (wanted.add(&score), wanted.add(&inside));
            found.push(ReferencePlaces { name: score, score: score_place, inside });
        }
    }
    Ok(found)
}

/// All features as numbers, record by record, and the columns that are mostly different texts.
fn encoded(names: &[String], places: &[usize], values: &[Vec<String>]) -> (Option<Features>, Vec<String>) {
    if places.is_empty() {
        return (None, Vec::new());
    }
    let (mut columns, mut free_text) = (Vec::new(), Vec::new());
    for (place, cells) in places.iter().zip(values) {
        let own = encode(cells);
        if own.is_free_text {
            free_text.push(names[*place].clone());
        }
        columns.extend(own.columns);
    }
    (Some(Features::from_columns(&columns)), free_text)
}
