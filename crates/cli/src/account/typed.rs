//! What was typed for the fields of a request.
//!
//! A request holds numbers. A text that is not a number, or a number that is missing, stands in it as a value that every question
//! refuses (NaN, or 0 for a count), in its own turn; the line about the text is then shown in place of the refusal. Other refused
//! values are shown as they were typed.

use crate::explain::Code;
use crate::fail::Fail;
use crate::read;
use reticent::curator::Refusal;
use reticent::curator::refusal::Subject;

/// What was typed so far.
#[derive(Debug, Default)]
pub(super) struct Typed(Vec<Word>);

#[derive(Debug)]
struct Word {
    field: &'static str,
    flag: String,
    text: String,
    /// What the request has for it; nothing where the text is shown whatever is refused of the field.
    value: Option<f64>,
    /// The line about a text that could not be read.
    fail: Option<Fail>,
}

fn flag_of(field: &str) -> String {
    format!("--{}", field.replace('_', "-"))
}

impl Typed {
    fn push(&mut self, field: &'static str, text: &str, value: Option<f64>, fail: Option<Fail>) {
        self.0.push(Word { field, flag: flag_of(field), text: text.to_owned(), value, fail });
    }

    /// A number that may be left out.
    pub(super) fn number(&mut self, field: &'static str, text: Option<&str>) -> Option<f64> {
        text.map(|text| match read::number(&flag_of(field), text) {
            Ok(value) => {
                self.push(field, text, Some(value), None);
                value
            }
            Err(fail) => {
                self.push(field, text, Some(f64::NAN), Some(fail));
                f64::NAN
            }
        })
    }

    /// A number that is needed.
    pub(super) fn needed(&mut self, field: &'static str, text: Option<&str>, remedy: &str) -> f64 {
        self.number(field, text).unwrap_or_else(|| {
            self.push(field, "", Some(f64::NAN), Some(Fail::missing(&flag_of(field), remedy)));
            f64::NAN
        })
    }

    /// A whole number of at least 1; 1e6 is one too.
    pub(super) fn count(&mut self, field: &'static str, text: &str) -> u64 {
        let (value, fail) = match count(&flag_of(field), text) {
            Ok(value) => (value, None),
            Err(fail) => (0, Some(fail)),
        };
        self.push(field, text, Some(value as f64), fail);
        value
    }

    /// Numbers with commas between, shown all together when one is refused.
    pub(super) fn list(&mut self, field: &'static str, text: &str) -> Vec<f64> {
        self.shown(field, &flag_of(field), text);
        text.split(',').map(|part| part.trim().parse().unwrap_or(f64::NAN)).collect()
    }

    /// Numbers with commas between, each shown by itself when it is refused.
    pub(super) fn each(&mut self, field: &'static str, text: &str) -> Vec<f64> {
        text.split(',').filter_map(|part| self.number(field, Some(part))).collect()
    }

    /// A flag that is shown with this text whatever is refused of the field.
    pub(super) fn shown(&mut self, field: &'static str, flag: &str, text: &str) {
        self.0.push(Word { field, flag: flag.to_owned(), text: text.to_owned(), value: None, fail: None });
    }

    /// The line for a refusal.
    pub(super) fn fail(&mut self, refusal: Refusal) -> Fail {
        let Subject::Value { field, value } = refusal.subject() else { return refusal.into() };
        let value = value.parse::<f64>().ok();
        let is_meant = |word: &&mut Word| {
            let is_same = match (word.value, value) {
                (Some(own), Some(refused)) => own == refused || (own.is_nan() && refused.is_nan()),
                (own, _) => own.is_none(),
            };
            word.field == field && is_same
        };
        let Some(word) = self.0.iter_mut().find(is_meant) else { return refusal.into() };
        match word.fail.take() {
            Some(fail) if refusal.code() == Code::Range => fail,
            _ => Fail::from(refusal).typed(&word.flag, &word.text),
        }
    }
}

/// A whole number of at least 1.
fn count(flag: &str, text: &str) -> Result<u64, Fail> {
    let refuse = || Fail::flag(flag, text, "give a whole number of at least 1");
    match text.trim().parse::<u64>() {
        Ok(0) => Err(refuse()),
        Ok(count) => Ok(count),
        Err(_) => {
            let number = read::number(flag, text)?;
            if number < 1.0 || number.fract() != 0.0 {
                return Err(refuse());
            }
            if number > (1u64 << 53) as f64 {
                return Err(Fail::flag(flag, text, "give a smaller number, at most 2^53"));
            }
            Ok(number as u64)
        }
    }
}
