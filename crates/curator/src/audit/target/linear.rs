//! A stored linear model as the target of an audit.

use crate::Request;
use crate::audit::{Case, Chosen, Wanted};
use crate::fit::{Task, encode, read as read_table, reference_terms};
use crate::folder::linear::Stored;
use crate::folder::{Content, Fingerprint, is_same, read_certificate, request};
use crate::refusal::Refusal;
use crate::table::tables;
use reticent_attack::{LinearLearner, LinearSettings, Population};
use reticent_audit::{Draw, Features};
use reticent_core::Code;
use reticent_data::Design;
use reticent_data::schema::Unit;
use reticent_erm::{Linear, Method, Model};
use std::path::Path;

/// The model of a folder with its training rows and others.
pub(crate) fn target(folder: &Path, wanted: &Wanted<'_>) -> Result<Case, Refusal> {
    let watch = wanted.watch;
    let stored = Stored::read(folder)?;
    let refuse = |why: String| Refusal::new(Code::Premise, format!("{}: {why}", folder.display()));
    if let Task::Number(_) = stored.task {
        return Err(refuse("the label is a number, and attacks here are on classifiers".to_owned()));
    }
    if let Unit::Column(column) = stored.encoder.schema().unit() {
        return Err(refuse(format!(
            "the unit is all rows of one {column}, and references here leave out single rows: audit it from a score table \
             with a column user (reticent audit --scores)"
        )));
    }
    let request = request::read(folder)?;
    let plan = request.check()?;
    let (members, held_out) = encode(&plan, watch)?;
    let content = Content::Rows(&members);
    Fingerprint::check(folder, &plan.data, content, held_out.as_ref().map(Content::Rows))?;
    let (mut known, others) = (None, wanted.others);
    let (rest, name) = match (others, held_out, &plan.test) {
        (Some(data), _, _) => {
            let (table, official, _) = tables(Some(data), request.data_dir.as_deref())?;
            let table = official.unwrap_or(table);
            plan.encoder.check(&table).map_err(Refusal::data("non_members"))?;
            (read_table(&plan, &table, watch)?, table.path().display().to_string())
        }
        (None, Some(held_out), _) => {
            // A keyed hash of its content, and of how many equal rows came before it, sent every row to one of the sides.
            known = plan.split.as_ref().map(|split| Draw::Coins(1.0 - split.test_share()));
            (held_out, format!("rows of {} that were held out", plan.data))
        }
        (None, None, Some(test)) => (read_table(&plan, test, watch)?, test.path().display().to_string()),
        (None, None, None) => {
            return Err(Refusal::missing(
                "non_members",
                "nothing was held out: give a table of the same kind that the model was not trained on",
            ));
        }
    };
    if is_same(Content::Rows(&members), Content::Rows(&rest))? {
        return Err(super::same_data(&name));
    }
    let count = members.rows();
    let draw = wanted.declared.or(known).unwrap_or(Draw::Undeclared);
    let (method, size, models) = parts(&stored.model);
    let terms = reference_terms(&plan, method, &members, size)?;
    let how = LinearSettings {
        classes: plan.task.classes().len() as u32,
        loss: plan.loss,
        method,
        budget: terms.budget,
        settings: terms.settings,
        l1_bound: Some(plan.encoder.l1_bound()),
    };
    let others = rest.rows();
    let all = members.followed_by(&rest)?;
    // Of equal rows nobody can say which is a member: none of them is audited.
    let repeated = repeated(&all);
    let left_out = repeated.iter().filter(|repeated| **repeated).count();
    let chosen = Chosen::of((count, others), draw, wanted.most, wanted.key, |row| !repeated[row])?;
    let audited = all.subset(&chosen.audited);
    let labels: Vec<u32> = audited.labels().iter().map(|label| plan.task.class_of(*label) as u32).collect();
    let names = plan.task.classes();
    let group = |label: &u32| names.get(*label as usize).cloned().unwrap_or_default();
    let population = Population {
        ids: chosen.ids(wanted.key),
        groups: vec![("class".to_owned(), labels.iter().map(group).collect())],
        labels,
        users: None,
        features: Some(dense(&audited)),
    };
    let outputs = LinearLearner::new(audited, how.clone())?.outputs(&models)?;
    let learner = Box::new(LinearLearner::new(all, how)?);
    Ok(Case {
        learner,
        chosen,
        population,
        outputs,
        certificate: read_certificate(folder)?,
        draw,
        others: name,
        left_out,
    })
}

/// How a model was fitted, on how many rows as far as is public, and its weights: one set for two classes, one a class for
/// several.
fn parts(model: &Model) -> (Method, u64, Vec<Linear>) {
    match model {
        Model::Binary(fit) => {
            let weights = Linear { weights: fit.weights.clone(), intercept: fit.intercept };
            (fit.method, fit.report.size, vec![weights])
        }
        Model::Multiclass(many) => (many.method, many.report.size, many.models.clone()),
    }
}

/// Which rows have the features and the label of another one.
fn repeated(design: &Design) -> Vec<bool> {
    let content = |row: usize| -> (&[u32], Vec<u64>, u64) {
        let (columns, values) = design.row(row);
        (columns, values.iter().map(|value| value.to_bits()).collect(), design.labels()[row].to_bits())
    };
    let mut order: Vec<usize> = (0..design.rows()).collect();
    order.sort_by_cached_key(|row| content(*row));
    let mut repeated = vec![false; design.rows()];
    for pair in order.windows(2) {
        if content(pair[0]) == content(pair[1]) {
            (repeated[pair[0]], repeated[pair[1]]) = (true, true);
        }
    }
    repeated
}

/// Rows with their zeros.
fn dense(design: &Design) -> Features {
    let columns = design.dimension();
    let mut values = vec![0.0; columns * design.rows()];
    for row in 0..design.rows() {
        let (own, entries) = design.row(row);
        for (column, value) in own.iter().zip(entries) {
            values[row * columns + *column as usize] = *value as f32;
        }
    }
    Features { columns, values }
}
