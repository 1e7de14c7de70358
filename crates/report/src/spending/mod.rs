//! The page of a budget: what was spent over time, by whom, and what is left.

mod figures;

use crate::digits;
use crate::markup::{Element, Markup};
use crate::page::section::{Body, Cell, numbered};
use crate::page::{Opening, document};
use reticent_core::Guarantee;

/// The content of the page.
#[derive(Debug, Clone, PartialEq)]
pub struct SpendingPage {
    /// The name of the budget.
    pub name: String,
    /// Whom it protects, and under which neighboring relation.
    pub protects: String,
    /// The data it is about.
    pub data: Vec<String>,
    /// The limit.
    pub limit: Guarantee,
    /// What was spent at most; none where only the limit is known to hold.
    pub spent: Option<Guarantee>,
    /// The largest ε of one more pure question, rounded down.
    pub left: f64,
    /// When it was created.
    pub created: String,
    /// Whether it can be charged, and until when.
    pub state: String,
    /// How far each charge has led, in sequence.
    pub points: Vec<SpendingPoint>,
    /// Charges, the latest first.
    pub charges: Vec<SpendingRow>,
    /// The number of all charges.
    pub count: u64,
    /// Parts of the budget that were set aside for analysts and purposes.
    pub shares: Vec<SpendingShare>,
}

/// What is known after a charge.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpendingPoint {
    /// Days since the budget was created.
    pub days: f64,
    /// The number of charges.
    pub charges: u64,
    /// The ε of all charges added up one by one; infinite if one of them has none by itself.
    pub sum: f64,
    /// The largest ε of one more pure question, rounded down.
    pub left: f64,
}

/// One charge.
#[derive(Debug, Clone, PartialEq)]
pub struct SpendingRow {
    /// Its number.
    pub entry: u64,
    /// When.
    pub at: String,
    /// Who asked.
    pub analyst: Option<String>,
    /// What for.
    pub purpose: Option<String>,
    /// What was asked.
    pub question: String,
    /// Its cost by itself, where it has one.
    pub cost: Option<Guarantee>,
    /// Whether an answer was given, or may have been.
    pub state: String,
}

/// A part that was set aside.
#[derive(Debug, Clone, PartialEq)]
pub struct SpendingShare {
    /// The analyst, if it is for one.
    pub analyst: Option<String>,
    /// The purpose, if it is for one.
    pub purpose: Option<String>,
    /// Its limit.
    pub limit: Guarantee,
    /// The largest ε of one more pure question within it, rounded down.
    pub left: f64,
    /// The number of its charges.
    pub charges: u64,
}

impl SpendingPage {
    /// The page: one file of HTML without scripts, with nothing to load.
    pub fn html(&self) -> String {
        let parts: [(&str, &str, Option<Body>); 4] = [
            ("time", "Spending over time", Some(self.time())),
            ("shares", "Set aside", self.set_aside()),
            ("charges", "Charges", Some(self.table())),
            ("terms", "What the budget covers", Some(self.terms())),
        ];
        let section = |((id, title, body), number): ((&str, &str, Body), usize)| {
            let heading = format!("{id}-h");
            Element::new("section")
                .with_all(&[("id", id), ("class", "measured"), ("aria-labelledby", &heading)])
                .child(numbered(&heading, number, title))
                .child(body.finish())
        };
        let kept = parts.into_iter().filter_map(|(id, title, body)| Some((id, title, body?)));
        let mut main = Markup::default();
        main.push(self.summary());
        main.push(kept.zip(1..).map(section).collect::<Markup>());
        let by = format!("privacy unit: {} · created {} · {}", self.protects, self.created, self.state);
        let opening = Opening { kicker: "Privacy budget", title: &self.name, by: &by };
        let footer = "Every charge is on record before noise is drawn. A charge without an answer counts as spent. The ledger knows \
                      what was charged to it and nothing else: releases from the same data that were not charged are not covered.";
        document(&opening, main, footer.into())
    }

    fn summary(&self) -> Element {
        let spent = match &self.spent {
            Some(spent) if spent.epsilon.get() == 0.0 => "nothing".to_owned(),
            Some(spent) => format!("at most {}", promise(spent)),
            None => "at most the limit".to_owned(),
        };
        let card = |title: &str, value: &str, words: &str| {
            Element::of_class("div", "card measured").child(Element::new("h3").child(title)).child(
                Element::new("ul").child(
                    Element::new("li")
                        .child(Element::new("strong").child(value))
                        .child(Element::new("span").child(words)),
                ),
            )
        };
        let charges = match self.count {
            1 => "1 charge".to_owned(),
            count => format!("{count} charges"),
        };
        let cards = Element::of_class("div", "cards")
            .child(card("Limit", &promise(&self.limit), " for everything together"))
            .child(card("Spent", &spent, &format!(" by {charges}")))
            .child(card("Left", &format!("ε = {}", down(self.left)), " for one more question without δ"));
        Element::of_class("div", "summary").child(Element::new("h2").child("Summary")).child(cards)
    }

    fn time(&self) -> Body {
        let mut body = Body::default();
        if self.points.is_empty() {
            body.missing("Nothing was charged yet.");
            return body;
        }
        body.figures([figures::left(self), figures::sum(self)]);
        if let Some(last) = self.points.last().filter(|last| last.sum.is_finite()) {
            let text = format!(
                "Added up one by one, the charges have ε = {}; the limit is ε = {}. Questions may be chosen after seeing earlier \
                 answers: the filter that admits them bounds every path that the questions could have taken, and many small \
                 questions cost less than their sum.",
                digits::spent(last.sum),
                digits::brief(self.limit.epsilon.get())
            );
            body.p(&text);
        }
        body
    }

    fn set_aside(&self) -> Option<Body> {
        if self.shares.is_empty() {
            return None;
        }
        let mut body = Body::default();
        let row = |share: &SpendingShare| {
            vec![
                Cell::text(share.analyst.clone().unwrap_or_else(|| "anyone".to_owned())),
                Cell::text(share.purpose.clone().unwrap_or_else(|| "any purpose".to_owned())),
                Cell::number(promise(&share.limit)),
                Cell::number(format!("ε = {}", down(share.left))),
                Cell::number(share.charges.to_string()),
            ]
        };
        let rows: Vec<Vec<Cell>> = self.shares.iter().map(row).collect();
        body.table(
            "A charge in one of these names must fit its part and the whole budget.",
            &["Analyst", "Purpose", "Limit", "Left for one more question", "Charges"],
            &rows,
        );
        Some(body)
    }

    fn table(&self) -> Body {
        let mut body = Body::default();
        if self.charges.is_empty() {
            body.missing("None yet.");
            return body;
        }
        let row = |charge: &SpendingRow| {
            vec![
                Cell::number(charge.entry.to_string()),
                Cell::number(charge.at.clone()),
                Cell::text(charge.question.clone()),
                Cell::result(charge.cost.as_ref().map(promise).ok_or_else(|| "no ε by itself".to_owned())),
                Cell::Text(charge.analyst.clone().unwrap_or_default()),
                Cell::Text(charge.purpose.clone().unwrap_or_default()),
                Cell::text(charge.state.clone()),
            ]
        };
        let rows: Vec<Vec<Cell>> = self.charges.iter().map(row).collect();
        let caption = match self.count > rows.len() as u64 {
            true => format!("The latest {} of {} charges.", rows.len(), self.count),
            false => "All charges, the latest first.".to_owned(),
        };
        let head = ["No.", "When (UTC)", "Question", "Cost by itself", "Analyst", "Purpose", "State"];
        body.table(&caption, &head, &rows);
        body
    }

    fn terms(&self) -> Body {
        let mut body = Body::default();
        body.facts(&[
            ("Privacy unit", Some(self.protects.clone())),
            ("Data", Some(self.data.join(", "))),
            ("Limit", Some(promise(&self.limit))),
            ("Created", Some(self.created.clone())),
            ("State", Some(self.state.clone())),
        ]);
        body
    }
}

/// `ε = 3, δ = 1e-6`, rounded up.
fn promise(guarantee: &Guarantee) -> String {
    let epsilon = format!("ε = {}", digits::spent(guarantee.epsilon.get()));
    match guarantee.delta.get() {
        0.0 => epsilon,
        delta => format!("{epsilon}, δ = {}", digits::spent(delta)),
    }
}

/// At most four digits, rounded down, without zeros at the end.
fn down(value: f64) -> String {
    let text = digits::significant(value, 4, digits::RoundingSide::Down);
    text.parse::<f64>().map_or(text, |rounded| rounded.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use reticent_core::{Delta, Epsilon};

    fn page() -> SpendingPage {
        let limit = Guarantee { epsilon: Epsilon::new(3.0).unwrap(), delta: Delta::new(1e-6).unwrap() };
        let point = |charges: u64| SpendingPoint {
            days: charges as f64,
            charges,
            sum: 0.1 * charges as f64,
            left: 3.0 - 0.05 * charges as f64,
        };
        SpendingPage {
            name: "hospital <b>".to_owned(),
            protects: "all rows of one patient_id (add-remove)".to_owned(),
            data: vec!["visits/*.parquet".to_owned()],
            limit,
            spent: Some(limit),
            left: 0.5,
            created: "2026-11-17".to_owned(),
            state: "open until 2027-01-01".to_owned(),
            points: (1..=1000).map(point).collect(),
            charges: vec![SpendingRow {
                entry: 1000,
                at: "2026-11-17 12:00:00".to_owned(),
                analyst: Some("<script>".to_owned()),
                purpose: None,
                question: "count".to_owned(),
                cost: Some(Guarantee::pure(Epsilon::new(0.1).unwrap())),
                state: "answered".to_owned(),
            }],
            count: 1000,
            shares: vec![SpendingShare {
                analyst: Some("ana".to_owned()),
                purpose: None,
                limit,
                left: 0.25,
                charges: 3,
            }],
        }
    }

    #[test]
    fn the_page_holds_the_numbers_and_escapes_all_text() {
        let html = page().html();
        for text in ["hospital &lt;b&gt;", "&lt;script&gt;", "ε = 0.5<", "ε = 0.25<", "The latest 1 of 1000"]
        {
            assert!(html.contains(text), "{text}");
        }
        assert!(!html.contains("<script") && !html.contains("<b>"));
        // A thousand points are drawn as a few hundred.
        assert!(html.len() < 60_000, "{}", html.len());
    }

    #[test]
    fn an_unused_budget_has_a_page() {
        let unused = SpendingPage {
            points: Vec::new(),
            charges: Vec::new(),
            shares: Vec::new(),
            count: 0,
            spent: Some(Guarantee::pure(Epsilon::new(0.0).unwrap())),
            ..page()
        };
        let html = unused.html();
        assert!(html.contains("Nothing was charged yet") && html.contains("nothing"));
        assert!(!html.contains("Set aside"));
    }
}
