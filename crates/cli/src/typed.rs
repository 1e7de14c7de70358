//! The texts of flags, and the errors in them.
//!
//! A request is checked as a whole, in its own order. A text that is not a number therefore does not end the command at once:
//! the request gets a value that it must refuse, and its refusal is replaced by the error about the text.

use crate::fail::Fail;
use crate::read;
use reticent::core::Code;
use reticent::curator::Refusal;
use reticent::curator::refusal::Subject;

/// The texts of flags by field, and the errors in them.
#[derive(Debug, Default)]
pub(crate) struct Typed {
    texts: Vec<(&'static str, String)>,
    mistakes: Vec<Mistake>,
}

#[derive(Debug)]
struct Mistake {
    field: &'static str,
    failure: Fail,
    /// The fields that are checked before this one, if the request cannot refuse it itself.
    after: Option<&'static [&'static str]>,
}

impl Typed {
    /// A number; NaN, which every request refuses, if the text is not one.
    pub(crate) fn number(&mut self, field: &'static str, text: &str) -> f64 {
        self.texts.push((field, text.to_owned()));
        let flag = format!("--{}", field.replace('_', "-"));
        read::number(&flag, text).unwrap_or_else(|failure| self.refused(field, failure, f64::NAN))
    }

    /// The number of an optional flag.
    pub(crate) fn optional(&mut self, field: &'static str, text: Option<&str>) -> Option<f64> {
        text.map(|text| self.number(field, text))
    }

    /// A whole number; 0 if the text is not one.
    pub(crate) fn whole(&mut self, field: &'static str, text: &str) -> u64 {
        let number = self.number(field, text);
        if number.fract() == 0.0 && (0.0..1e18).contains(&number) { number as u64 } else { 0 }
    }

    /// Two bounds. A text that is not a number is refused as such, and the word NaN as not finite.
    pub(crate) fn bounds(&mut self, text: &str) -> [f64; 2] {
        self.texts.push(("bounds", text.to_owned()));
        let end = |part: &str| match part.trim().parse::<f64>() {
            Ok(end) if end.is_nan() => f64::INFINITY,
            Ok(end) => end,
            Err(_) => f64::NAN,
        };
        let ends = text.split_once(',').filter(|(_, rest)| !rest.contains(','));
        ends.map_or([f64::NAN; 2], |(low, high)| [end(low), end(high)])
    }

    /// Comma-separated numbers.
    pub(crate) fn numbers(&mut self, field: &'static str, text: &str) -> Vec<f64> {
        let flag = format!("--{}", field.replace('_', "-"));
        self.texts.push((field, text.to_owned()));
        let numbers: Result<Vec<f64>, Fail> =
            text.split(',').map(|part| read::number(&flag, part.trim())).collect();
        numbers.unwrap_or_else(|failure| self.refused(field, failure, vec![f64::NAN]))
    }

    /// Comma-separated names; a name in double quotes may contain commas (and `""` for a quote).
    pub(crate) fn names(&mut self, field: &'static str, text: &str) -> Vec<String> {
        self.texts.push((field, text.to_owned()));
        names(text).unwrap_or_else(|remedy| {
            let flag = format!("--{}", field.replace('_', "-"));
            let failure = Fail::flag(&flag, text, remedy).coded(Code::List);
            self.refused(field, failure, Vec::new())
        })
    }

    /// A choice by name; the error about an unknown name is reported after those about the fields `after`.
    pub(crate) fn chosen<T>(
        &mut self,
        field: &'static str,
        chosen: Result<T, impl Into<Fail>>,
        after: &'static [&'static str],
    ) -> Option<T> {
        chosen
            .map_err(|refusal| {
                self.mistakes.push(Mistake { field, failure: refusal.into(), after: Some(after) });
            })
            .ok()
    }

    fn refused<T>(&mut self, field: &'static str, failure: Fail, instead: T) -> T {
        self.mistakes.push(Mistake { field, failure, after: None });
        instead
    }

    /// The checked request, or its refusal in terms of the texts.
    pub(crate) fn checked<T>(mut self, checked: Result<T, Refusal>) -> Result<T, Fail> {
        let refused = checked.as_ref().err().and_then(Refusal::field);
        if let Some(failure) = self.first_chosen(refused) {
            return Err(failure);
        }
        let refusal = match checked {
            Ok(planned) => {
                return self.mistakes.pop().map_or(Ok(planned), |mistake| Err(mistake.failure));
            }
            Err(refusal) => refusal,
        };
        let Subject::Value { field, value } = refusal.subject() else { return Err(refusal.into()) };
        // A flag that does not go with the others is refused whatever it says.
        if refusal.code() != Code::Conflict
            && let Some(at) = self.mistakes.iter().position(|mistake| mistake.field == field)
        {
            return Err(self.mistakes.swap_remove(at).failure);
        }
        let is_list = matches!(refusal.code(), Code::List | Code::Bounds);
        let shown_as_typed = is_list || field == "candidates" || value == "NaN";
        let text = self.texts.into_iter().find(|(known, _)| shown_as_typed && known == field);
        Err(match text {
            Some((_, text)) => Fail::from(refusal).shown(text),
            None => refusal.into(),
        })
    }
}

impl Typed {
    /// The first error among names, unless an earlier field is refused.
    fn first_chosen(&mut self, refused: Option<&str>) -> Option<Fail> {
        let after =
            |mistake: &Mistake, field: &str| mistake.after.is_some_and(|before| before.contains(&field));
        let is_next = |mistake: &&Mistake| {
            mistake.after.is_some() && !refused.is_some_and(|field| after(mistake, field))
        };
        let open: Vec<&Mistake> = self.mistakes.iter().filter(is_next).collect();
        let first = open.iter().find(|mistake| !open.iter().any(|other| after(mistake, other.field)))?;
        let field = first.field;
        let at =
            self.mistakes.iter().position(|mistake| mistake.after.is_some() && mistake.field == field)?;
        Some(self.mistakes.swap_remove(at).failure)
    }
}

/// Comma-separated names; a name in double quotes may contain commas (and `""` for a quote). An empty name ends the list: whoever
/// gets it refuses it.
pub(crate) fn names(text: &str) -> Result<Vec<String>, &'static str> {
    let (mut names, mut rest) = (Vec::new(), Some(text));
    while let Some(left) = rest {
        let (name, after) = name(left)?;
        rest = after.filter(|_| !name.is_empty());
        names.push(name);
    }
    Ok(names)
}

/// The first name, and the text after its comma, if any.
fn name(text: &str) -> Result<(String, Option<&str>), &'static str> {
    let text = text.trim_start();
    let Some(mut inside) = text.strip_prefix('"') else {
        return Ok(match text.split_once(',') {
            Some((name, after)) => (name.trim().to_owned(), Some(after)),
            None => (text.trim().to_owned(), None),
        });
    };
    let mut name = String::new();
    loop {
        let Some((part, after)) = inside.split_once('"') else {
            return Err("a double quote is not closed: close it");
        };
        name.push_str(part);
        if let Some(more) = after.strip_prefix('"') {
            name.push('"');
            inside = more;
            continue;
        }
        let after = after.trim_start();
        let name = name.trim().to_owned();
        return match after.strip_prefix(',') {
            Some(after) => Ok((name, Some(after))),
            None if after.is_empty() => Ok((name, None)),
            None => Err("text follows a double quote: put a comma between names"),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reticent::curator::Request;
    use reticent::curator::release::{Release, ReleaseQuestion, join_names};

    /// What a histogram of these categories or bins is refused for, before its file is opened.
    fn refused(fill: impl FnOnce(&mut Typed) -> ReleaseQuestion) -> String {
        let mut typed = Typed::default();
        let request = Release::new("none.csv", fill(&mut typed), 1.0);
        typed.checked(request.check()).map(drop).unwrap_err().to_string()
    }

    fn categories(text: &str) -> String {
        refused(|typed| {
            let categories = Some(typed.names("categories", text));
            ReleaseQuestion::Histogram { column: "a".to_owned(), categories, bins: None }
        })
    }

    #[test]
    fn names_may_be_quoted() {
        let read = |text: &str| {
            let mut typed = Typed::default();
            let names = typed.names("categories", text);
            assert!(typed.mistakes.is_empty(), "{text}");
            names
        };
        assert_eq!(read(" a, b ,c"), ["a", "b", "c"]);
        assert_eq!(read(r#""a,b", "say ""hi""",c"#), ["a,b", "say \"hi\"", "c"]);
        assert_eq!(read(&join_names(&read(r#""a,b",c"#))), ["a,b", "c"]);
        assert!(categories("a,b,a").contains("\"a\" is listed twice"));
        assert!(categories("a,,b").starts_with("--categories a,,b: "));
        assert!(categories("\"a").contains("not closed"));
        // The first mistake of a list is told.
        assert!(categories("a,,\"b").contains("is empty"));
    }

    #[test]
    fn bounds_rise() {
        let read = |text: &str| {
            refused(|typed| ReleaseQuestion::Mean {
                column: "a".to_owned(),
                bounds: typed.bounds(text),
                integers: false,
                count_clamped: false,
                schema: None,
            })
        };
        assert!(read("-5, 5").contains("none.csv"));
        assert_eq!(read("90,17"), "--bounds 90,17: give the lower bound first: --bounds 17,90");
        for bad in ["1,1", "1", "1,2,3", "a,b", "0,inf", "0,NaN", "-1e308,1e308"] {
            assert!(read(bad).starts_with(&format!("--bounds {bad}: give")), "{bad}");
        }
    }

    #[test]
    fn mistakes_are_told_in_the_order_of_the_request() {
        let mut typed = Typed::default();
        let bins = Some(typed.numbers("bins", "0,x,10"));
        let question = ReleaseQuestion::Histogram { column: "a".to_owned(), categories: None, bins };
        let mut request = Release::new("none.csv", question, typed.number("epsilon", "0"));
        assert_eq!(
            typed.checked(request.check()).unwrap_err().to_string(),
            "--epsilon 0: give a number above 0, such as 1"
        );
        let mut typed = Typed::default();
        request.epsilon = typed.optional("epsilon", Some("1"));
        typed.numbers("bins", "0,x,10");
        let told = typed.checked(request.check()).unwrap_err().to_string();
        assert_eq!(told, "--bins x: not a number: give one, such as 1 or 0.5 or 1e-6");
    }
}
