//! A statistic in words: a column and clauses.
//!
//! ```text
//! age in 0,120                        bounds that values are clamped to
//! age in 0,120 at 0.25,0.5,0.75       which quantiles
//! sex of Female,Male                  categories
//! age by 0,20,40,60,120               edges of bins; dates such as 2013-06-01 are edges too
//! income is >50K                      a value
//! 3 carrier of AA,UA,DL,B6            the three most common
//! age in 17,90 and hours in 0,99      two columns
//! delay in 0,300 on distance in 0,5000   the line of the first on the second
//! ```
//!
//! Any of them may end with `weight 2` (its share of the budget), `within 20` (the wanted error), `size 1000` (the number of rows
//! for which that error is to hold) and, last, `as NAME`. A column whose name has blanks or commas stands in double quotes.

use crate::explain::Code;
use crate::fail::Fail;
use crate::read::number;
use reticent::curator::page::{
    CellColumn, ColumnPair, NumberColumn, PageQuestion, PageStatistic, RankedColumn,
};

/// The words that begin a clause.
const CLAUSES: [&str; 8] = ["in", "of", "by", "at", "is", "weight", "within", "size"];
/// The words between two columns.
const JOINS: [&str; 2] = ["and", "on"];

/// One column with its clauses.
#[derive(Debug, Default)]
struct Described {
    column: String,
    bounds: Option<[f64; 2]>,
    categories: Option<Vec<String>>,
    edges: Option<String>,
    levels: Option<Vec<f64>>,
    value: Option<String>,
}

/// A text read word by word.
struct Reader<'a> {
    flag: String,
    text: &'a str,
    rest: &'a str,
}

/// The question of a flag such as `--mean`, whose name is given without hyphens.
pub(super) fn question(name: &str, text: &str) -> Result<PageQuestion, Fail> {
    let mut reader = Reader { flag: format!("--{name}"), text, rest: text.trim() };
    reader.question(name)
}

/// `COLUMN in LO,HI`, for a flag that is not a statistic.
pub(super) fn bounded(flag: &str, text: &str) -> Result<(String, [f64; 2]), Fail> {
    let mut reader = Reader { flag: flag.to_owned(), text, rest: text.trim() };
    let mut terms = PageQuestion::from(PageStatistic::People);
    let described = reader.described(&mut terms)?;
    match described.bounds {
        Some(bounds) if reader.rest.is_empty() => Ok((described.column, bounds)),
        _ => Err(reader.wrong("give a column and its bounds, e.g. 'visits in 0,20'")),
    }
}

impl<'a> Reader<'a> {
    fn wrong(&self, remedy: &str) -> Fail {
        Fail::flag(&self.flag, self.text, remedy).coded(Code::List)
    }

    /// The next word; a name in double quotes is one word.
    fn word(&mut self) -> Result<Option<String>, Fail> {
        let text = self.rest.trim_start();
        if text.is_empty() {
            self.rest = text;
            return Ok(None);
        }
        if let Some(quoted) = text.strip_prefix('"') {
            let (word, rest) =
                quoted.split_once('"').ok_or_else(|| self.wrong("a double quote is not closed: close it"))?;
            self.rest = rest;
            return Ok(Some(word.to_owned()));
        }
        let end = text.find(char::is_whitespace).unwrap_or(text.len());
        self.rest = &text[end..];
        Ok(Some(text[..end].to_owned()))
    }

    /// The next word without taking it.
    fn next(&self) -> &'a str {
        self.rest.split_whitespace().next().unwrap_or_default()
    }

    /// Everything up to the next clause or the end.
    fn until_clause(&mut self) -> &'a str {
        let text = self.rest.trim_start();
        let (mut at, mut is_quoted) = (0, false);
        while at < text.len() {
            let rest = &text[at..];
            if rest.starts_with('"') {
                is_quoted = !is_quoted;
            }
            let word = rest.split_whitespace().next().unwrap_or_default();
            let begins = at > 0 && text[..at].ends_with(char::is_whitespace) && !is_quoted;
            if begins && (CLAUSES.contains(&word) || JOINS.contains(&word) || word == "as") {
                break;
            }
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
        self.rest = &text[at..];
        text[..at].trim()
    }

    fn numbers(&mut self) -> Result<Vec<f64>, Fail> {
        let flag = self.flag.clone();
        self.until_clause().split(',').map(|part| number(&flag, part.trim())).collect()
    }

    fn names(&mut self) -> Result<Vec<String>, Fail> {
        let text = self.until_clause();
        crate::typed::names(text).map_err(|remedy| self.wrong(remedy))
    }

    /// A column and its clauses.
    fn described(&mut self, terms: &mut PageQuestion) -> Result<Described, Fail> {
        let mut found = Described::default();
        let next = self.next();
        if !CLAUSES.contains(&next) && next != "as" {
            found.column = self.word()?.unwrap_or_default();
        }
        loop {
            match self.next() {
                word if JOINS.contains(&word) => return Ok(found),
                "" => return Ok(found),
                _ => {}
            }
            let clause = self.word()?.unwrap_or_default();
            match clause.as_str() {
                "in" => {
                    let ends = self.numbers()?;
                    let bounds = <[f64; 2]>::try_from(ends).map_err(|_| {
                        self.wrong("give two bounds after 'in', the lower one first: 'in 0,120'")
                    })?;
                    found.bounds = Some(bounds);
                }
                "of" => found.categories = Some(self.names()?),
                "by" => found.edges = Some(self.until_clause().to_owned()),
                "at" => found.levels = Some(self.numbers()?),
                "is" => found.value = Some(self.until_clause().to_owned()),
                "weight" | "within" | "size" => {
                    let word = self.word()?.unwrap_or_default();
                    let value = number(&self.flag, &word)?;
                    match clause.as_str() {
                        "weight" => terms.weight = Some(value),
                        "within" => terms.error = Some(value),
                        _ if value.fract() == 0.0 && (1.0..1e18).contains(&value) => {
                            terms.size = Some(value as u64);
                        }
                        _ => return Err(self.wrong("give a whole number of rows after 'size'")),
                    }
                }
                // A name may hold any word, so it comes last.
                "as" => {
                    terms.name = Some(self.rest.trim().trim_matches('"').to_owned());
                    self.rest = "";
                }
                other => {
                    let remedy = format!("'{other}' begins no clause: write a column, then {}", clauses());
                    return Err(self.wrong(&remedy));
                }
            }
        }
    }

    fn question(&mut self, name: &str) -> Result<PageQuestion, Fail> {
        // The statistic is put in below.
        let mut terms = PageQuestion::from(PageStatistic::People);
        let top = if name == "top" { Some(self.leading_count()?) } else { None };
        let first = self.described(&mut terms)?;
        let mut others = Vec::new();
        while JOINS.contains(&self.next()) {
            let join = self.word()?.unwrap_or_default();
            if (join == "on") != (name == "trend") {
                let remedy = if name == "trend" {
                    "write 'on' between the column and the one it depends on"
                } else {
                    "write 'and' between columns"
                };
                return Err(self.wrong(remedy));
            }
            others.push(self.described(&mut terms)?);
        }
        terms.statistic = self.statistic(name, top, first, others)?;
        Ok(terms)
    }

    /// The number in front of the column of `--top`.
    fn leading_count(&mut self) -> Result<u64, Fail> {
        let word = self.word()?.unwrap_or_default();
        word.parse()
            .map_err(|_| self.wrong("begin with how many are wanted, e.g. '3 carrier of AA,UA,DL,B6'"))
    }

    fn statistic(
        &self,
        name: &str,
        top: Option<u64>,
        first: Described,
        others: Vec<Described>,
    ) -> Result<PageStatistic, Fail> {
        let wanted_columns = match name {
            "covariance" | "correlation" | "trend" => 2..=2,
            "contingency" => 2..=8,
            _ => 1..=1,
        };
        if !wanted_columns.contains(&(1 + others.len())) {
            let remedy = match name {
                "trend" => "give two columns, e.g. 'arr_delay in -60,300 on dep_delay in -60,300'",
                "covariance" | "correlation" => {
                    "give two columns, e.g. 'age in 17,90 and hours_per_week in 0,99'"
                }
                "contingency" => {
                    "give two columns or more, e.g. 'sex of Female,Male and income of <=50K,>50K'"
                }
                _ => "give one column",
            };
            return Err(self.wrong(remedy));
        }
        if first.column.is_empty() && !["count", "people"].contains(&name) {
            return Err(self.wrong("begin with the column, e.g. 'age in 0,120'"));
        }
        self.check_clauses(name, std::iter::once(&first).chain(&others))?;
        let numbers =
            |from: Described| NumberColumn { column: from.column, bounds: from.bounds, integers: false };
        Ok(match name {
            "count" => {
                PageStatistic::Count { column: Some(first.column).filter(|column| !column.is_empty()) }
            }
            "people" => PageStatistic::People,
            "sum" => PageStatistic::Sum(numbers(first)),
            "mean" => PageStatistic::Mean(numbers(first)),
            "variance" => PageStatistic::Variance(numbers(first)),
            "stddev" => PageStatistic::StandardDeviation(numbers(first)),
            "median" => PageStatistic::Median(RankedColumn {
                column: first.column,
                bounds: first.bounds,
                integers: false,
                candidates: None,
            }),
            "quantiles" => PageStatistic::Quantiles {
                column: first.column,
                bounds: first.bounds,
                integers: false,
                quantiles: first.levels.ok_or_else(|| {
                    self.wrong("say which after 'at', e.g. 'age in 0,120 at 0.25,0.5,0.75'")
                })?,
                candidates: None,
            },
            "histogram" => PageStatistic::Histogram(self.cells(first)?),
            "mode" => PageStatistic::Mode(self.cells(first)?),
            "top" => PageStatistic::TopK {
                k: top.unwrap_or_default(),
                column: first.column,
                categories: first.categories,
            },
            "proportion" => PageStatistic::Proportion {
                column: first.column,
                value: first.value.ok_or_else(|| self.wrong("say which value, e.g. 'income is >50K'"))?,
            },
            "distinct" => PageStatistic::DistinctCount { column: first.column, categories: first.categories },
            "contingency" => {
                let columns = std::iter::once(first).chain(others).map(|one| self.cells(one));
                PageStatistic::Contingency { columns: columns.collect::<Result<_, _>>()?, margins: true }
            }
            _ => self.pair(name, first, others)?,
        })
    }

    fn pair(&self, name: &str, first: Described, others: Vec<Described>) -> Result<PageStatistic, Fail> {
        let Some(second) = others.into_iter().next() else {
            return Err(Fail::new(Code::Internal, format!("{name}: a statistic without a request")));
        };
        // A trend is typed as `y on x`, and asked as the line of the second column on the first.
        let (one, two) = if name == "trend" { (second, first) } else { (first, second) };
        let bounds = match (one.bounds, two.bounds) {
            (Some(one), Some(two)) => Some([one, two]),
            (None, None) => None,
            _ => return Err(self.wrong("give bounds of both columns, or of none with --schema")),
        };
        let pair = ColumnPair { columns: [one.column, two.column], bounds };
        Ok(match name {
            "covariance" => PageStatistic::Covariance(pair),
            "correlation" => PageStatistic::Correlation(pair),
            _ => PageStatistic::Trend(pair),
        })
    }

    /// Refuses clauses that mean nothing for a statistic.
    fn check_clauses<'d>(
        &self,
        name: &str,
        columns: impl Iterator<Item = &'d Described>,
    ) -> Result<(), Fail> {
        let takes: &[&str] = match name {
            "sum" | "mean" | "variance" | "stddev" | "median" | "covariance" | "correlation" | "trend" => {
                &["in"]
            }
            "quantiles" => &["in", "at"],
            "histogram" | "contingency" => &["of", "by"],
            "mode" | "top" | "distinct" => &["of"],
            "proportion" => &["is"],
            _ => &[],
        };
        for column in columns {
            let given = [
                ("in", column.bounds.is_some()),
                ("of", column.categories.is_some()),
                ("by", column.edges.is_some()),
                ("at", column.levels.is_some()),
                ("is", column.value.is_some()),
            ];
            if let Some((clause, _)) = given.iter().find(|(clause, given)| *given && !takes.contains(clause))
            {
                let remedy = match takes {
                    [] => format!("'{clause}' means nothing here: leave it out"),
                    takes => format!("'{clause}' means nothing here: use '{}'", takes.join("' or '")),
                };
                return Err(self.wrong(&remedy));
            }
            if name == "people" && !column.column.is_empty() {
                return Err(self.wrong("leave it out: people are counted by --unit"));
            }
        }
        Ok(())
    }

    /// Categories, or edges of numbers or dates.
    fn cells(&self, from: Described) -> Result<CellColumn, Fail> {
        let Described { column, categories, edges, .. } = from;
        let mut cells = CellColumn { column, categories, ..CellColumn::default() };
        if let Some(edges) = edges {
            let parts: Vec<&str> = edges.split(',').map(str::trim).collect();
            match parts.iter().all(|part| is_date(part)) {
                true => cells.dates = Some(parts.into_iter().map(str::to_owned).collect()),
                false => {
                    let numbers = parts.iter().map(|part| number(&self.flag, part));
                    cells.bins = Some(numbers.collect::<Result<_, _>>()?);
                }
            }
        }
        Ok(cells)
    }
}

/// Whether a text begins like 2013-06-01.
fn is_date(text: &str) -> bool {
    let mut parts = text.splitn(3, '-');
    let year = parts.next().is_some_and(|year| year.len() == 4 && year.bytes().all(|b| b.is_ascii_digit()));
    year && parts.clone().count() == 2
}

/// The clause of a statistic that has the place of a flag.
pub(super) fn clause(flag: &str) -> Option<&'static str> {
    Some(match flag {
        "--bounds" => "in",
        "--categories" => "of",
        "--bins" | "--dates" => "by",
        "--quantiles" => "at",
        "--value" => "is",
        "--weight" => "weight",
        "--error" => "within",
        "--size" => "size",
        "--name" => "as",
        _ => return None,
    })
}

fn clauses() -> String {
    CLAUSES.map(|clause| format!("'{clause}'")).join(", ") + " or 'as'"
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn read(name: &str, text: &str) -> Value {
        let asked = question(name, text).unwrap_or_else(|failure| panic!("{failure}"));
        let Value::Object(mut fields) = serde_json::to_value(asked).unwrap() else { panic!("{text}") };
        fields.retain(|_, value| !value.is_null() && value != &json!(false));
        Value::Object(fields)
    }

    #[test]
    fn a_statistic_is_a_column_and_clauses() {
        for (name, text, asked) in [
            ("count", "", json!({"kind": "count"})),
            ("count", "age weight 2", json!({"kind": "count", "column": "age", "weight": 2.0})),
            ("count", "within 20", json!({"kind": "count", "error": 20.0})),
            ("mean", "age in -5,120", json!({"kind": "mean", "column": "age", "bounds": [-5.0, 120.0]})),
            (
                "stddev",
                "\"body mass, index\" in 0, 5 as spread of bmi",
                json!({"kind": "standard-deviation", "column": "body mass, index", "bounds": [0.0, 5.0],
                       "name": "spread of bmi"}),
            ),
            (
                "quantiles",
                "age in 0,120 at 0.25,0.5 within 1 size 500",
                json!({"kind": "quantiles", "column": "age", "bounds": [0.0, 120.0], "quantiles": [0.25, 0.5],
                       "error": 1.0, "size": 500}),
            ),
            (
                "histogram",
                "sex of Female, \"not, known\"",
                json!({"kind": "histogram", "column": "sex", "categories": ["Female", "not, known"]}),
            ),
            (
                "histogram",
                "age by 0,20,120",
                json!({"kind": "histogram", "column": "age", "bins": [0.0, 20.0, 120.0]}),
            ),
            (
                "histogram",
                "time_hour by 2013-06-01,2013-06-15",
                json!({"kind": "histogram", "column": "time_hour", "dates": ["2013-06-01", "2013-06-15"]}),
            ),
            (
                "proportion",
                "income is >50K",
                json!({"kind": "proportion", "column": "income", "value": ">50K"}),
            ),
            (
                "top",
                "2 c of a,b,c",
                json!({"kind": "top-k", "k": 2, "column": "c", "categories": ["a", "b", "c"]}),
            ),
            (
                "trend",
                "y in 0,1 on x in 0,9",
                json!({"kind": "trend", "columns": ["x", "y"], "bounds": [[0.0, 9.0], [0.0, 1.0]]}),
            ),
            ("correlation", "x and y", json!({"kind": "correlation", "columns": ["x", "y"]})),
        ] {
            assert_eq!(read(name, text), asked, "{name} {text}");
        }
    }

    #[test]
    fn mistakes_say_what_to_write() {
        for (name, text, told) in [
            ("mean", "", "begin with the column"),
            ("mean", "age in 0", "two bounds"),
            ("mean", "age in 0,x", "not a number"),
            ("mean", "age of a,b", "use 'in'"),
            ("mean", "age between 0,1", "begins no clause"),
            ("mean", "\"age in 0,1", "not closed"),
            ("quantiles", "age in 0,1", "after 'at'"),
            ("top", "carrier of a", "how many"),
            ("trend", "x in 0,1 and y in 0,1", "'on'"),
            ("covariance", "x in 0,1", "two columns"),
            ("covariance", "x in 0,1 and y", "both columns"),
            ("people", "age", "--unit"),
            ("proportion", "age", "which value"),
            ("count", "age size x", "not a number"),
        ] {
            let failure = question(name, text).map(drop).unwrap_err().to_string();
            assert!(failure.contains(told) && failure.starts_with(&format!("--{name} ")), "{failure}");
        }
        assert!(bounded("--total-per-person", "visits in 0,20").is_ok());
        assert!(bounded("--total-per-person", "visits").is_err());
    }
}
