//! The sections of the page.

use super::{Attacked, Promise, Story, WrittenFile, figures, percent, surer};
use crate::digits;
use crate::markup::{Element, Markup};
use crate::page::section::{Body, Cell, numbered};
use crate::words;

/// The box at the top: one card for each part.
pub(super) fn summary(story: &Story) -> Element {
    let accuracies: Vec<(String, String)> =
        story.models.models.iter().map(|model| (model.name.clone(), model.words())).collect();
    let accounts = &story.accounting.accountants;
    let accounted: Vec<(String, String)> = accounts
        .iter()
        .filter(|one| one.bound)
        .map(|one| (one.name.clone(), format!("ε = {}", one.words())))
        .collect();
    let attacked: Vec<(String, String)> = story
        .membership
        .models
        .iter()
        .map(|model| (model.name.clone(), format!("AUC {}", model.auc_words())))
        .collect();
    let statistic = [(story.statistic.what.clone(), story.statistic.words())];
    let card = |title: &str, lines: &[(String, String)]| {
        let line = |(name, value): &(String, String)| {
            let value = Element::new("strong").child(value.as_str());
            Element::new("li").child(name.as_str()).child(": ").child(value)
        };
        let lines: Markup = lines.iter().map(line).collect();
        Element::of_class("div", "card measured")
            .child(Element::new("h3").child(title))
            .child(Element::new("ul").child(lines))
    };
    let cards = Element::of_class("div", "cards two")
        .child(card("1 A private statistic", &statistic))
        .child(card("2 Accuracy of three models", &accuracies))
        .child(card("3 Privacy cost of the training", &accounted))
        .child(card("4 Membership inference", &attacked));
    Element::of_class("div", "summary").child(Element::new("h2").child("Summary")).child(cards)
}

pub(super) fn sections(story: &Story) -> Markup {
    let parts: [(&str, &str, Body); 7] = [
        ("statistic", "A private statistic", statistic(story)),
        ("models", "Three models", models(story)),
        ("accounting", "Privacy cost of the training", accounting(story)),
        ("membership", "Who was in the training data?", membership(story)),
        ("files", "Files", files(story)),
        ("next", "What to try next", next(story)),
        ("notes", "Fine print", notes(story)),
    ];
    let section = |((id, title, body), number): ((&str, &str, Body), usize)| {
        let heading = format!("{id}-h");
        Element::new("section")
            .with_all(&[("id", id), ("class", "measured"), ("aria-labelledby", &heading)])
            .child(numbered(&heading, number, title))
            .child(body.finish())
    };
    parts.into_iter().zip(1..).map(section).collect()
}

/// Commands in boxes; a line does not break inside the name of a flag.
fn commands<'a>(body: &mut Body, commands: impl IntoIterator<Item = &'a String>) {
    for command in commands {
        let mut code = Element::new("code");
        for (place, word) in command.split(' ').enumerate() {
            if place > 0 {
                code.push(" ");
            }
            match word.starts_with("--") {
                true => code.push(Element::of_class("span", "flag").child(word)),
                false => code.push(word),
            }
        }
        body.push(Element::new("pre").child(code));
    }
}

fn statistic(story: &Story) -> Body {
    let statistic = &story.statistic;
    let mut body = Body::default();
    body.p(&format!(
        "The {} of {} people, with noise that hides each of them: {}. An attacker who knows everyone else and starts at 50:50 on whether \
         a person is in the table can become at most {} sure.",
        statistic.what,
        statistic.rows,
        statistic.promise.words(),
        surer(statistic.promise.epsilon)
    ));
    body.figures([figures::statistic(statistic)]);
    commands(&mut body, [&statistic.command]);
    body
}

fn models(story: &Story) -> Body {
    let models = &story.models;
    let mut body = Body::default();
    body.p(&format!(
        "All three were trained on the same {} rows to predict who earns more than 50,000 dollars, and tested on the same {} others. \
         The test rows are treated as public: their scores are exact, and no certificate covers those rows.",
        models.training_rows, models.test_rows
    ));
    body.figures([figures::accuracy(models)]);
    let rows: Vec<Vec<Cell>> = models
        .models
        .iter()
        .map(|model| {
            vec![
                Cell::text(&model.name),
                Cell::text(&model.about),
                model
                    .promise
                    .map_or(Cell::Missing("none".to_owned()), |promise| Cell::number(promise.words())),
                Cell::number(model.words()),
            ]
        })
        .collect();
    let caption =
        format!("Always predicting the larger class gives an accuracy of {}", percent(models.majority));
    body.table(&caption, &["Model", "How", "Guarantee of this model alone", "Accuracy"], &rows);
    let private = models.models.iter().filter_map(|model| model.promise);
    let all = Promise::together(private.chain([story.statistic.promise]));
    body.p(&format!(
        "Costs add up: for a person who is in the statistic and in both private models, all three together guarantee {}. The exact \
         model has no guarantee, and publishing it would void the others.",
        all.words()
    ));
    commands(&mut body, models.models.iter().map(|model| &model.command));
    body
}

fn accounting(story: &Story) -> Body {
    let accounting = &story.accounting;
    let mut body = Body::default();
    body.p(&format!(
        "The network took {} steps. In each, every row took part with probability {}, and noise of {} times the clipping norm was \
         added. An accountant computes what all steps together cost, at δ = {}.",
        accounting.steps,
        digits::brief(accounting.sampling_rate),
        digits::brief(accounting.noise_multiplier),
        digits::exactly(accounting.delta)
    ));
    body.figures([figures::accounting(accounting)]);
    let rows: Vec<Vec<Cell>> = accounting
        .accountants
        .iter()
        .map(|one| vec![Cell::text(&one.name), Cell::number(one.words()), Cell::text(&one.about)])
        .collect();
    body.table("ε of exactly this run", &["Accountant", "ε", "What it is"], &rows);
    commands(&mut body, [&accounting.command]);
    body
}

fn membership(story: &Story) -> Body {
    let membership = &story.membership;
    let mut body = Body::default();
    body.p(&format!(
        "For each of {} records a fair coin decided whether it was used for training: {} were. An attacker who has the model and trains \
         reference models like it guesses which. The lower bounds below rest on the coin flips.",
        membership.records, membership.members
    ));
    let mut charts = figures::curves(membership);
    charts.extend(figures::bounds(membership));
    body.figures(charts);
    let row = |model: &Attacked| {
        vec![
            Cell::text(&model.name),
            Cell::number(format!("{} / {}", percent(model.train_accuracy), percent(model.test_accuracy))),
            Cell::number(model.auc_words()),
            Cell::text(model.rate_words()),
            model.lower_words().map_or(Cell::Missing("no bound".to_owned()), Cell::number),
            model
                .promise
                .map_or(Cell::Missing("no guarantee".to_owned()), |promise| Cell::number(promise.words())),
        ]
    };
    let rows: Vec<Vec<Cell>> = membership.models.iter().map(row).collect();
    body.table(
        "A fixed rule chose the attack before any score of the model was computed",
        &[
            "Model",
            "Accuracy on members / non-members",
            "AUC",
            "True-positive rate",
            "Lower bound",
            "Certificate",
        ],
        &rows,
    );
    for model in &membership.models {
        let about = format!("{}: {}; {} reference models. ", model.name, model.about, model.references);
        let link = Element::link(&model.link).child("Its full privacy report");
        body.push(Element::new("p").child(about).child(link));
        commands(&mut body, &model.commands);
    }
    body.note("An audit that finds little proves little: a better attack may exist. Only the certificate holds against all attacks.");
    body
}

fn files(story: &Story) -> Body {
    let mut body = Body::default();
    let file = |file: &WrittenFile| {
        let link = Element::link(&file.link).child(file.path.as_str());
        let about = Element::new("dd").child(file.about.as_str());
        Element::new("div").child(Element::new("dt").child(link)).child(about)
    };
    body.push(Element::new("dl").child(story.files.iter().map(file).collect::<Markup>()));
    body
}

fn next(story: &Story) -> Body {
    let mut body = Body::default();
    for next in &story.next {
        body.p(&next.about);
        commands(&mut body, [&next.command]);
    }
    body
}

fn notes(story: &Story) -> Body {
    let mut body = Body::default();
    if let Some(bound) = story.membership.models.iter().find_map(|model| model.epsilon_lower.as_ref()) {
        body.p(&format!(
            "Lower bounds hold with {} confidence each, at δ = {}. Premise: {}.",
            words::level(bound.confidence),
            digits::exactly(bound.delta),
            bound.premise
        ));
    }
    body.p("The training settings were tuned beforehand on the same public data. On private data such a search costs privacy too.");
    body.p("Warnings of the commands of this tour:");
    body.list(&story.notes);
    body
}
