//! Part 4: an overfitted model and its private twin under attack.

use super::call::Call;
use super::data::Data;
use super::models::{promise, trained_network};
use super::recipe::{TWIN_DELTA, TWIN_EPSILON};
use super::{Halt, Tour};
use crate::digits::{self, RoundingSide, significant};
use crate::explain::Code;
use crate::fail::Fail;
use reticent::audit::findings::RateAt;
use reticent::curator::audit::Outcome;
use reticent::report::story::{Attacked, MembershipStory, percent};

pub(super) fn tell(tour: &mut Tour, data: &Data) -> Result<MembershipStory, Halt> {
    let (records, references) = (tour.recipe.records as u64, tour.recipe.references);
    tour.narrator.title("4  Who was in the training data?")?;
    tour.narrator.say(&format!(
        "A model that memorizes its training data reveals who was in it. We flip a fair coin for each of {records} records and train \
         on the {} that it selects: once far too long and without privacy, once with DP-SGD at ε = {TWIN_EPSILON}. Then we play an \
         attacker who has the model, all records and {references} reference models, but not the coins of the target, and guesses who was a member \
         (membership inference).",
        data.members
    ))?;
    let begin = Call::new("train")
        .word(&tour.table("members.csv"))
        .flag("--schema", &tour.table("schema.toml"))
        .flag("--validation", &tour.table("others.csv"))
        .flag("--model", &tour.table("wide.toml"));
    let overfitted = begin.clone().words("--non-private").words(tour.recipe.overfitted).words(&tour.threads);
    let twin = begin
        .flag("--epsilon", TWIN_EPSILON)
        .flag("--delta", TWIN_DELTA)
        .flag("--dataset-size", &tour.recipe.size.to_string())
        .words(tour.recipe.twin)
        .words(&tour.threads);
    let models = vec![
        attacked(tour, "overfitted", "trained without privacy for many epochs", &overfitted)?,
        attacked(tour, "twin", "the same network and the same records, trained with DP-SGD", &twin)?,
    ];
    tour.narrator.table(&table(&models))?;
    for words in models.iter().map(meaning) {
        tour.narrator.say(&words)?;
    }
    tour.narrator.say(
        "An audit that finds little proves little, because a better attack may exist; the certificate holds against all attacks.",
    )?;
    let reports: Vec<&str> = models.iter().map(|model| model.report.as_str()).collect();
    tour.narrator.say(&format!("The full reports: {}", reports.join(" and ")))?;
    tour.narrator.say("The same by hand (existing reference models are reused):")?;
    for command in models.iter().flat_map(|model| &model.commands) {
        tour.narrator.command(command)?;
    }
    Ok(MembershipStory { records, members: data.members, models })
}

/// Trains a model, audits it and writes its report.
fn attacked(tour: &mut Tour, name: &str, about: &str, training: &Call) -> Result<Attacked, Halt> {
    let folder = tour.folder.shown(name);
    trained_network(tour, &training.clone().flag("--out", &folder))?;
    let audit = Call::new("audit")
        .word(&folder)
        .words("--drawn 0.5 --references")
        .word(&tour.recipe.references.to_string())
        .words(&tour.threads);
    let findings = match tour.ask(&audit.audit()?, tour.progress)? {
        Outcome::Found(found) => found.findings,
        Outcome::Interrupted(_) => return Err(Halt::Interrupted),
    };
    tour.note(&findings.warnings);
    let report = Call::new("report").word(&folder).flag("--declared", &tour.table(&format!("{name}.toml")));
    tour.ask(&report.report()?, false)?;
    let path = tour.folder.path(name);
    let missing = |what: &str| {
        Fail::new(Code::Internal, format!("{}: the audit has no {what}: please report it", path.display()))
    };
    let headline = findings
        .attacks
        .iter()
        .find(|attack| attack.name == findings.headline)
        .ok_or_else(|| missing("headline"))?;
    let fit = findings.overfitting.first().ok_or_else(|| missing("accuracy"))?;
    Ok(Attacked {
        name: name.to_owned(),
        about: about.to_owned(),
        promise: promise(&path)?,
        train_accuracy: fit.train_accuracy,
        test_accuracy: fit.test_accuracy,
        attack: headline.name.clone(),
        references: tour.recipe.references as u64,
        auc: headline.performance.auc,
        rate: lowest(&headline.performance.rates),
        epsilon_lower: findings.epsilon_lower.clone(),
        performance: headline.performance.clone(),
        report: tour.folder.shown(&format!("{name}-audit/report.html")),
        link: format!("{name}-audit/report.html"),
        commands: vec![
            training.clone().flag("--out", &format!("my-{name}")).shown(),
            audit.shown(),
            report.shown(),
        ],
    })
}

/// The rate at the lowest false-positive rate that can be measured.
fn lowest(rates: &[RateAt]) -> Option<RateAt> {
    let measured = rates.iter().filter(|rate| rate.tpr.is_some());
    measured.min_by(|a, b| a.fpr.total_cmp(&b.fpr)).cloned()
}

fn table(models: &[Attacked]) -> Vec<Vec<String>> {
    let row = |label: &str, of: &dyn Fn(&Attacked) -> String| {
        std::iter::once(label.to_owned()).chain(models.iter().map(of)).collect::<Vec<String>>()
    };
    let none = || "none".to_owned();
    let mut rows = vec![
        row("", &|model| model.name.clone()),
        row("accuracy on members", &|model| percent(model.train_accuracy)),
        row("accuracy on non-members", &|model| percent(model.test_accuracy)),
        row("AUC (0.5 is guessing)", &Attacked::auc_words),
    ];
    if let Some(rate) = models.iter().find_map(|model| model.rate.as_ref()) {
        let label = format!("TPR at {} % FPR", digits::brief(100.0 * rate.fpr));
        rows.push(row(&label, &|model| match &model.rate {
            Some(own) if own.fpr == rate.fpr => model.found_words(),
            _ => "not measurable".to_owned(),
        }));
    }
    rows.extend([
        row("lower bound on ε (audit)", &|model| model.lower_words().unwrap_or_else(none)),
        row("upper bound on ε (certificate)", &|model| {
            model.promise.map_or_else(none, |promise| promise.words())
        }),
    ]);
    rows
}

/// The numbers of one model in a sentence.
fn meaning(model: &Attacked) -> String {
    let name = &model.name;
    let told = match model.auc.lower <= 0.5 {
        true => "by its AUC, the attack is not distinguishable from guessing",
        false => "the attack separates members from non-members better than chance",
    };
    let proven = match &model.epsilon_lower {
        Some(bound) if bound.value > 0.0 => format!(
            "its most confident guesses show ε ≥ {} at δ = {} ({} % confidence), so any smaller claim would be wrong",
            significant(bound.value, 3, RoundingSide::Down),
            digits::exactly(bound.delta),
            digits::confidence(bound.confidence)
        ),
        _ => "it gives no lower bound on ε".to_owned(),
    };
    format!("The {name} model: {told}; {proven}.")
}
