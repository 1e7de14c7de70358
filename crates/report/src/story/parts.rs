//! The sections of the page.

use super::{Attacked, Promise, Story, figures, percent, surer};
use crate::digits;
use crate::escape::escaped;
use crate::page::markup::{Body, Cell};
use crate::words;

/// The box at the top: one card for each part.
pub(super) fn summary(story: &Story) -> String {
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
        let items: String = lines
            .iter()
            .map(|(name, value)| format!("<li>{}: <strong>{}</strong></li>\n", escaped(name), escaped(value)))
            .collect();
        format!("<div class=\"card measured\"><h3>{}</h3>\n<ul>\n{items}</ul></div>\n", escaped(title))
    };
    format!(
        "<div class=\"summary\">\n<h2>In short</h2>\n<div class=\"cards two\">\n{}{}{}{}</div>\n</div>\n",
        card("1 A private statistic", &statistic),
        card("2 Accuracy of three models", &accuracies),
        card("3 What the training cost", &accounted),
        card("4 Finding the members", &attacked),
    )
}

pub(super) fn sections(story: &Story) -> String {
    let parts: [(&str, &str, Body); 7] = [
        ("statistic", "A private statistic", statistic(story)),
        ("models", "Three models", models(story)),
        ("accounting", "What the training cost", accounting(story)),
        ("membership", "Who was in the training data?", membership(story)),
        ("files", "Files", files(story)),
        ("next", "What to try next", next(story)),
        ("notes", "Fine print", notes(story)),
    ];
    parts
        .iter()
        .zip(1..)
        .map(|((id, title, body), number)| {
            format!(
                "<section id=\"{id}\" class=\"measured\" aria-labelledby=\"{id}-h\">\n\
                 <h2 id=\"{id}-h\"><span class=\"no\">{number}</span> {title}</h2>\n{}</section>\n",
                body.0
            )
        })
        .collect()
}

/// Commands in boxes; no line ends inside the name of a flag.
fn commands<'a>(body: &mut Body, commands: impl IntoIterator<Item = &'a String>) {
    let word = |word: &str| match word.starts_with("--") {
        true => format!("<span class=\"flag\">{word}</span>"),
        false => word.to_owned(),
    };
    for command in commands {
        let words: Vec<String> = escaped(command).split(' ').map(word).collect();
        body.0.push_str(&format!("<pre><code>{}</code></pre>\n", words.join(" ")));
    }
}

fn statistic(story: &Story) -> Body {
    let statistic = &story.statistic;
    let mut body = Body::default();
    body.p(&format!(
        "The {} of {} people, with noise that hides every single one of them: {}. Who knows all others, and would bet evenly on whether \
         one more was in the table, may be {} sure of it afterwards, and no more.",
        statistic.what,
        statistic.rows,
        statistic.promise.words(),
        surer(statistic.promise.epsilon)
    ));
    body.figures(&[figures::statistic(statistic)]);
    commands(&mut body, [&statistic.command]);
    body
}

fn models(story: &Story) -> Body {
    let models = &story.models;
    let mut body = Body::default();
    body.p(&format!(
        "All three learnt from the same {} rows to tell who earns more than 50,000 dollars, and were tested on the same {} others. \
         The test rows are treated as public: their scores are exact, and no certificate covers those rows.",
        models.training_rows, models.test_rows
    ));
    body.figures(&[figures::accuracy(models)]);
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
    let caption = format!("Always answering with the larger class is right for {}", percent(models.majority));
    body.table(&caption, &["Model", "How", "Promise by this model alone", "Accuracy"], &rows);
    let private = models.models.iter().filter_map(|model| model.promise);
    let all = Promise::together(private.chain([story.statistic.promise]));
    body.p(&format!(
        "Promises add up: to a person who is in the statistic and in both private models, all three together promise {}. The exact \
         model promises nothing, and given out beside them would void it.",
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
         added. An accountant adds up what all steps together tell about one person, at δ = {}.",
        accounting.steps,
        digits::brief(accounting.sampling_rate),
        digits::brief(accounting.noise_multiplier),
        digits::exactly(accounting.delta)
    ));
    body.figures(&[figures::accounting(accounting)]);
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
        "For each of {} records a fair coin decided whether it was trained on: {} were. Then an attacker, who has the model and \
         trains others like it, guesses which. The coins are what makes the bounds below hold.",
        membership.records, membership.members
    ));
    let mut charts = figures::curves(membership);
    charts.extend(figures::bounds(membership));
    body.figures(&charts);
    let row = |model: &Attacked| {
        vec![
            Cell::text(&model.name),
            Cell::number(format!("{} / {}", percent(model.train_accuracy), percent(model.test_accuracy))),
            Cell::number(model.auc_words()),
            Cell::text(model.rate_words()),
            model.lower_words().map_or(Cell::Missing("no bound".to_owned()), Cell::number),
            model
                .promise
                .map_or(Cell::Missing("no promise".to_owned()), |promise| Cell::number(promise.words())),
        ]
    };
    let rows: Vec<Vec<Cell>> = membership.models.iter().map(row).collect();
    body.table(
        "A fixed rule chose the attack before a score of the model was computed",
        &["Model", "Accuracy on members / others", "AUC", "Found", "Proven by attack", "Certificate"],
        &rows,
    );
    for model in &membership.models {
        let (name, about) = (escaped(&model.name), escaped(&model.about));
        let (link, references) = (escaped(&model.link), model.references);
        body.0.push_str(&format!(
            "<p>{name}: {about}; {references} reference models. <a href=\"{link}\">Its full privacy report</a></p>\n"
        ));
        commands(&mut body, &model.commands);
    }
    body.note("An audit that finds little proves little: a better attack may come. Only the certificate holds against all of them.");
    body
}

fn files(story: &Story) -> Body {
    let mut body = Body::default();
    body.0.push_str("<dl>\n");
    for file in &story.files {
        let (link, path, about) = (escaped(&file.link), escaped(&file.path), escaped(&file.about));
        body.0.push_str(&format!("<div><dt><a href=\"{link}\">{path}</a></dt><dd>{about}</dd></div>\n"));
    }
    body.0.push_str("</dl>\n");
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
            "Bounds from below hold with {} confidence each, at δ = {}. Premise: {}.",
            words::level(bound.confidence),
            digits::exactly(bound.delta),
            bound.premise
        ));
    }
    body.p("The settings of the trainings were chosen beforehand on the same public data. On private data such a search costs privacy \
            too.");
    body.p("What the commands of this tour warned of:");
    body.list(&story.notes);
    body
}
