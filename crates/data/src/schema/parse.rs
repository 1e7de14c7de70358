//! From TOML to a schema, with the line of every mistake.

use std::ops::Range;

use ::toml::Spanned;
use ::toml::de::{DeArray, DeTable, DeValue};

use super::{
    Bounds, Categories, Column, FeatureKind, Label, LabelKind, Part, PrivacyUnit, Schema, SchemaError,
    SchemaProblem, SpentBudget,
};
use crate::error::closest;
use crate::toml::Span;

const TOP: &[&str] = &["unit", "draft", "budget", "label", "columns", "spent"];
const LABEL: &[&str] = &["column", "positive", "categories", "other", "bounds"];
const TARGETS: &[&str] = &["positive", "categories", "bounds"];
const COLUMN: &[&str] = &["bounds", "categories"];
const SPENT: &[&str] = &["epsilon", "delta", "neighboring", "events"];

const UNIT_ADVICE: &str = "write unit = \"row\" or unit = { column = \"user_id\" }";
const DRAFT_ADVICE: &str = "write draft = true while bounds or categories are read off the records";
const BUDGET_ADVICE: &str = "write budget = \"people.budget\", a file made by 'reticent budget create'";
const LABEL_ADVICE: &str = "write [label] and below it column = \"name\"";
const COLUMNS_ADVICE: &str = "write [columns] and below it one line per column";
const COLUMN_ADVICE: &str = "write { bounds = [low, high] }, { categories = [\"a\", \"b\"] } or \"ignore\"";
const BOUNDS_ADVICE: &str = "write bounds = [low, high]";
const CATEGORIES_ADVICE: &str = "write categories = [\"a\", \"b\"]";
const SPENT_ADVICE: &str = "write [spent] and below it epsilon, delta, neighboring and events";
const CATEGORY_ADVICE: &str = "write it in quotes";

type Value<'t> = Spanned<DeValue<'t>>;
/// A problem and the bytes it is about.
type Fault = (Range<usize>, SchemaProblem);

/// Reads a schema.
pub(super) fn schema(text: &str, file: &str) -> Result<Schema, SchemaError> {
    read(text).map_err(|(span, problem)| {
        let place = Some(Box::new(Span::of(text, span)));
        SchemaError { file: file.to_owned(), place, problem }
    })
}

fn read(text: &str) -> Result<Schema, Fault> {
    let document = DeTable::parse(text).map_err(|error| {
        let span = error.span().unwrap_or(0..0);
        (span, SchemaProblem::Syntax { reason: error.message().to_owned() })
    })?;
    let top = Entries::of(document.get_ref(), 0..0, "the schema");
    top.allow(TOP)?;
    let unit_value = top.get("unit").ok_or_else(|| top.missing("unit", UNIT_ADVICE))?;
    let unit = unit(unit_value)?;
    let label_value = top.get("label");
    let label = label_value.map(label).transpose()?;
    let columns_value = top.get("columns").ok_or_else(|| top.missing("columns", COLUMNS_ADVICE))?;
    let DeValue::Table(table) = columns_value.get_ref() else {
        return Err(wrong("columns", columns_value, COLUMNS_ADVICE));
    };
    let entries = Entries::of(table, columns_value.span(), "[columns]");
    let columns = entries.all().map(|(name, _, value)| column(name, value)).collect::<Result<_, _>>()?;
    let spent = top.get("spent").map(spent).transpose()?;
    let draft = match top.get("draft") {
        None => false,
        Some(value) => match value.get_ref() {
            DeValue::Boolean(draft) => *draft,
            _ => return Err(wrong("draft", value, DRAFT_ADVICE)),
        },
    };
    let budget = match top.get("budget") {
        None => None,
        Some(value) => match value.get_ref() {
            DeValue::String(file) if !file.trim().is_empty() => Some(file.to_string()),
            _ => return Err(wrong("budget", value, BUDGET_ADVICE)),
        },
    };
    let schema = Schema { unit, label, columns, spent, draft, budget };
    match schema.fault() {
        None => Ok(schema),
        Some((part, problem)) => Err((
            match part {
                Part::Unit => unit_value.span(),
                Part::Label => label_value.map_or(0..0, |value| label_part(value, &problem)),
                Part::Column(at) => entries.all().nth(at).map_or(0..0, |(_, span, _)| span),
            },
            problem,
        )),
    }
}

/// The value in a label that a problem is about, or the label itself.
fn label_part(label: &Value<'_>, problem: &SchemaProblem) -> Range<usize> {
    let key = match problem {
        SchemaProblem::BlankName | SchemaProblem::LabelIsUnit { .. } => "column",
        SchemaProblem::BlankCategory => "positive",
        SchemaProblem::OneClass => "categories",
        _ => "other",
    };
    let inner = label.get_ref().as_table().and_then(|table| Entries::of(table, 0..0, "").get(key));
    inner.unwrap_or(label).span()
}

fn unit(value: &Value<'_>) -> Result<PrivacyUnit, Fault> {
    match value.get_ref() {
        DeValue::String(text) if text == "row" => Ok(PrivacyUnit::Row),
        DeValue::Table(table) => {
            let entries = Entries::of(table, value.span(), "unit");
            entries.allow(&["column"])?;
            let column = entries.get("column").ok_or_else(|| entries.missing("column", UNIT_ADVICE))?;
            Ok(PrivacyUnit::Column(name("the column of the unit", column)?))
        }
        _ => Err(wrong("unit", value, UNIT_ADVICE)),
    }
}

fn label(value: &Value<'_>) -> Result<Label, Fault> {
    let DeValue::Table(table) = value.get_ref() else {
        return Err(wrong("label", value, LABEL_ADVICE));
    };
    let entries = Entries::of(table, value.span(), "[label]");
    entries.allow(LABEL)?;
    let column = entries.get("column").ok_or_else(|| entries.missing("column", LABEL_ADVICE))?;
    let column = name("the column of the label", column)?;
    let other = entries.get("other");
    let target = match (entries.get("positive"), entries.get("categories"), entries.get("bounds")) {
        (Some(positive), None, None) => LabelKind::Binary { positive: category("positive", positive)? },
        (None, Some(value), None) => {
            let categories = categories(value)?;
            let position = match other {
                None => 0,
                Some(value) => {
                    let other = category("other", value)?;
                    let undeclared =
                        || (value.span(), SchemaProblem::OtherUndeclared { other: other.clone() });
                    categories.position(&other).ok_or_else(undeclared)?
                }
            };
            return Ok(Label { column, target: LabelKind::Classes { categories, other: position } });
        }
        (None, None, Some(value)) => LabelKind::Number(bounds(value)?),
        _ => return Err(entries.not_one_of(TARGETS)),
    };
    match other {
        None => Ok(Label { column, target }),
        Some(value) => Err((value.span(), SchemaProblem::OtherWithoutCategories)),
    }
}

fn column(column_name: &str, value: &Value<'_>) -> Result<Column, Fault> {
    let place = format!("column \"{}\"", crate::error::shown(column_name));
    let kind = match value.get_ref() {
        DeValue::String(text) if text == "ignore" => FeatureKind::Ignored,
        DeValue::Table(table) => {
            let entries = Entries::of(table, value.span(), &place);
            let nested =
                entries.all().find(|(key, _, value)| !COLUMN.contains(key) && value.get_ref().is_table());
            if let Some((key, span, _)) = nested {
                let (first, second) = (column_name.to_owned(), key.to_owned());
                return Err((span, SchemaProblem::DottedName { first, second }));
            }
            entries.allow(COLUMN)?;
            match (entries.get("bounds"), entries.get("categories")) {
                (Some(value), None) => FeatureKind::Numeric(bounds(value)?),
                (None, Some(value)) => FeatureKind::Categorical(categories(value)?),
                _ => return Err(entries.not_one_of(COLUMN)),
            }
        }
        _ => return Err(wrong(&place, value, COLUMN_ADVICE)),
    };
    Ok(Column { name: column_name.to_owned(), kind })
}

fn spent(value: &Value<'_>) -> Result<SpentBudget, Fault> {
    let DeValue::Table(table) = value.get_ref() else {
        return Err(wrong("spent", value, SPENT_ADVICE));
    };
    let entries = Entries::of(table, value.span(), "[spent]");
    entries.allow(SPENT)?;
    let get = |key: &'static str| entries.get(key).ok_or_else(|| entries.missing(key, SPENT_ADVICE));
    let amount =
        |key| get(key).and_then(|value| number(value).ok_or_else(|| wrong(key, value, SPENT_ADVICE)));
    let text = |key| get(key).and_then(|value| name(key, value));
    let (epsilon, delta) = (amount("epsilon")?, amount("delta")?);
    let (neighboring, events) = (text("neighboring")?, text("events")?);
    SpentBudget::new(epsilon, delta, &neighboring, &events).map_err(|problem| {
        let key = if let SchemaProblem::SpentOutOfRange { key, .. } = problem { key } else { "epsilon" };
        (entries.get(key).map_or(entries.at.clone(), |value| value.span()), problem)
    })
}

fn bounds(value: &Value<'_>) -> Result<Bounds, Fault> {
    let items = array("bounds", value, BOUNDS_ADVICE)?;
    let ends = items.iter().map(|item| number(item).ok_or_else(|| wrong("a bound", item, BOUNDS_ADVICE)));
    let ends = ends.collect::<Result<Vec<f64>, Fault>>()?;
    let [low, high] = ends[..] else {
        let (place, found) = ("bounds".to_owned(), "not a list of two numbers");
        return Err((value.span(), SchemaProblem::WrongType { place, found, advice: BOUNDS_ADVICE }));
    };
    Bounds::new(low, high).map_err(|problem| (value.span(), problem))
}

fn categories(value: &Value<'_>) -> Result<Categories, Fault> {
    let items = array("categories", value, CATEGORIES_ADVICE)?;
    let labels = items.iter().map(|item| category("a category", item)).collect::<Result<_, _>>()?;
    Categories::checked(labels).map_err(|(at, problem)| {
        let item = items.get(at).map_or(value.span(), Spanned::span);
        (item, problem)
    })
}

fn array<'v, 't>(place: &str, value: &'v Value<'t>, advice: &'static str) -> Result<&'v DeArray<'t>, Fault> {
    match value.get_ref() {
        DeValue::Array(items) => Ok(items),
        _ => Err(wrong(place, value, advice)),
    }
}

fn name(place: &str, value: &Value<'_>) -> Result<String, Fault> {
    match value.get_ref() {
        DeValue::String(text) => Ok(text.clone().into_owned()),
        _ => Err(wrong(place, value, CATEGORY_ADVICE)),
    }
}

/// The label that a category stands for.
fn category(place: &str, value: &Value<'_>) -> Result<String, Fault> {
    let label = match value.get_ref() {
        DeValue::String(text) => Some(text.trim().to_owned()),
        DeValue::Integer(integer) => {
            i64::from_str_radix(integer.as_str(), integer.radix()).ok().map(|integer| integer.to_string())
        }
        DeValue::Boolean(truth) => Some(truth.to_string()),
        _ => None,
    };
    label.ok_or_else(|| wrong(place, value, CATEGORY_ADVICE))
}

fn number(value: &Value<'_>) -> Option<f64> {
    match value.get_ref() {
        DeValue::Float(float) => float.as_str().parse().ok(),
        DeValue::Integer(integer) if integer.radix() == 10 => integer.as_str().parse().ok(),
        DeValue::Integer(integer) => {
            i64::from_str_radix(integer.as_str(), integer.radix()).ok().map(|integer| integer as f64)
        }
        _ => None,
    }
}

fn wrong(place: &str, value: &Value<'_>, advice: &'static str) -> Fault {
    let found = match value.get_ref() {
        DeValue::String(_) => "some other text",
        DeValue::Integer(_) => "an integer",
        DeValue::Float(_) => "a float",
        DeValue::Boolean(_) => "a boolean",
        DeValue::Datetime(_) => "a date or time",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    };
    (value.span(), SchemaProblem::WrongType { place: place.to_owned(), found, advice })
}

/// The entries of a table in the order of the text.
struct Entries<'v, 't> {
    entries: Vec<(&'v str, Range<usize>, &'v Value<'t>)>,
    /// The bytes where the table starts.
    at: Range<usize>,
    place: String,
}

impl<'v, 't> Entries<'v, 't> {
    fn of(table: &'v DeTable<'t>, at: Range<usize>, place: &str) -> Self {
        let mut entries: Vec<_> =
            table.iter().map(|(key, value)| (key.get_ref().as_ref(), key.span(), value)).collect();
        entries.sort_by_key(|(_, span, _)| span.start);
        Self { entries, at, place: place.to_owned() }
    }

    fn all(&self) -> impl Iterator<Item = (&'v str, Range<usize>, &'v Value<'t>)> {
        self.entries.iter().cloned()
    }

    fn get(&self, wanted: &str) -> Option<&'v Value<'t>> {
        self.entries.iter().find(|(key, ..)| *key == wanted).map(|(_, _, value)| *value)
    }

    /// Refuses any key that is not one of these.
    fn allow(&self, known: &'static [&'static str]) -> Result<(), Fault> {
        match self.entries.iter().find(|(key, ..)| !known.contains(key)) {
            None => Ok(()),
            Some((key, span, _)) => {
                let suggestion = closest(key, known);
                let (key, place) = ((*key).to_owned(), self.place.clone());
                Err((span.clone(), SchemaProblem::UnknownKey { key, place, known, suggestion }))
            }
        }
    }

    fn missing(&self, key: &'static str, advice: &'static str) -> Fault {
        (self.at.clone(), SchemaProblem::MissingKey { key, place: self.place.clone(), advice })
    }

    fn not_one_of(&self, choices: &'static [&'static str]) -> Fault {
        (self.at.clone(), SchemaProblem::NotOneOf { place: self.place.clone(), choices })
    }
}

#[cfg(test)]
mod page {
    use super::*;
    use std::sync::LazyLock;

    static PAGE: LazyLock<String> = LazyLock::new(|| {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/schema.md");
        std::fs::read_to_string(page).unwrap()
    });

    #[test]
    fn every_key_stands_on_the_page_and_its_examples_are_schemas() {
        for key in [TOP, LABEL, SPENT].concat() {
            assert!(PAGE.contains(&format!("| `{key}` | ")), "{key}");
        }
        for key in COLUMN {
            assert!(PAGE.contains(&format!("| `{{ {key} = [")), "{key}");
        }
        let blocks = PAGE.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next());
        let written = PAGE.split("<<'END'\n").skip(1).filter_map(|rest| rest.split("\nEND\n").next());
        let examples: Vec<&str> = blocks.chain(written).collect();
        assert_eq!(examples.len(), 2);
        for text in examples {
            schema(text, "schema.toml").unwrap();
        }
    }
}
