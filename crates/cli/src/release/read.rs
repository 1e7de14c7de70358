//! The text of single flags, read and checked.

use crate::digits::exactly;
use crate::explain::Code;
use crate::fail::Fail;
pub(super) use crate::read::{LARGEST_EPSILON, delta, epsilon, neighboring, number};
use reticent::core::{Confidence, Epsilon};

/// The ε that a wanted error needs, within the same limits.
pub(super) fn needed_epsilon(error: f64, needed: Epsilon, least: f64) -> Result<Epsilon, Fail> {
    if needed.get() > LARGEST_EPSILON {
        let remedy = format!(
            "this needs epsilon = {:.3}, and above {LARGEST_EPSILON} a release protects nobody: allow a larger error",
            needed.get()
        );
        return Err(Fail::flag("--error", &error.to_string(), remedy).coded(Code::Useless));
    }
    Ok(Epsilon::new(needed.get().max(least))?)
}

/// The coverage of intervals.
pub(super) fn confidence(text: &str) -> Result<Confidence, Fail> {
    Confidence::new(number("--confidence", text)?)
        .map_err(|invalid| Fail::flag("--confidence", text, invalid.remedy))
}

/// Public bounds, the lower one first.
pub(super) fn bounds(text: &str) -> Result<[f64; 2], Fail> {
    let refuse = |remedy: &str| Fail::flag("--bounds", text, remedy).coded(Code::Bounds);
    let Some((low, high)) = text.split_once(',').filter(|(_, rest)| !rest.contains(',')) else {
        return Err(refuse("give two numbers with a comma between, such as 0,120"));
    };
    let end = |part: &str| match part.trim().parse::<f64>() {
        Ok(end) if end.is_finite() => Ok(end),
        Ok(_) => Err(refuse("give two finite numbers")),
        Err(_) => Err(refuse("give two numbers with a comma between, such as 0,120")),
    };
    let (low, high) = (end(low)?, end(high)?);
    if low > high {
        return Err(refuse(&format!(
            "give the lower bound first: --bounds {},{}",
            exactly(high),
            exactly(low)
        )));
    }
    if low == high {
        return Err(refuse("give an upper bound above the lower one"));
    }
    if !(high - low).is_finite() {
        return Err(refuse("give bounds closer together: their distance is beyond what numbers can hold"));
    }
    Ok([low, high])
}

/// The edges of bins, rising.
pub(super) fn edges(text: &str) -> Result<Vec<f64>, Fail> {
    let edges = text.split(',').map(|edge| number("--bins", edge.trim())).collect::<Result<Vec<_>, _>>()?;
    if edges.len() < 2 {
        return Err(Fail::flag("--bins", text, "give at least two edges, such as 0,10,20").coded(Code::List));
    }
    if edges.windows(2).any(|pair| pair[0] >= pair[1]) {
        return Err(
            Fail::flag("--bins", text, "give the edges in rising order, such as 0,10,20").coded(Code::List)
        );
    }
    Ok(edges)
}

/// Distinct names separated by commas; one in double quotes may hold commas (and `""` for a quote).
pub(super) fn names(flag: &str, text: &str, least: usize) -> Result<Vec<String>, Fail> {
    let mut names: Vec<String> = Vec::new();
    let mut rest = Some(text);
    while let Some(text_left) = rest {
        let (name, after) =
            name(text_left).map_err(|remedy| Fail::flag(flag, text, remedy).coded(Code::List))?;
        if name.is_empty() {
            return Err(Fail::flag(
                flag,
                text,
                "one of the names is empty: give names with single commas between",
            )
            .coded(Code::List));
        }
        names.push(name);
        rest = after;
    }
    let mut sorted: Vec<&str> = names.iter().map(String::as_str).collect();
    sorted.sort_unstable();
    if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(Fail::flag(flag, text, format!("\"{}\" is there twice: name it once", twice[0]))
            .coded(Code::List));
    }
    if names.len() < least {
        return Err(
            Fail::flag(flag, text, format!("give at least {least}, with commas between")).coded(Code::List)
        );
    }
    Ok(names)
}

/// The first name, and what follows its comma, if there is one.
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

/// A list of names as [`names`] reads it.
pub(super) fn written(names: &[String]) -> String {
    let quoted = |name: &String| {
        if name.contains([',', '"']) { format!("\"{}\"", name.replace('"', "\"\"")) } else { name.clone() }
    };
    names.iter().map(quoted).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_may_be_quoted() {
        let read = |text: &str| names("--categories", text, 1).map_err(|fail| fail.to_string());
        assert_eq!(read(" a, b ,c").unwrap(), ["a", "b", "c"]);
        assert_eq!(read(r#""a,b", "say ""hi""",c"#).unwrap(), ["a,b", "say \"hi\"", "c"]);
        assert_eq!(names("--categories", &written(&read(r#""a,b",c"#).unwrap()), 1).unwrap(), ["a,b", "c"]);
        assert!(read("a,b,a").unwrap_err().contains("\"a\" is there twice"));
        assert!(read("a,,b").unwrap_err().starts_with("--categories a,,b: "));
        assert!(read("\"a").unwrap_err().contains("not closed"));
    }

    #[test]
    fn bounds_rise() {
        let read = |text: &str| bounds(text).map_err(|fail| fail.to_string());
        assert_eq!(read("-5, 5").unwrap(), [-5.0, 5.0]);
        assert_eq!(read("90,17").unwrap_err(), "--bounds 90,17: give the lower bound first: --bounds 17,90");
        for bad in ["1,1", "1", "1,2,3", "a,b", "0,inf", "-1e308,1e308"] {
            assert!(read(bad).unwrap_err().starts_with(&format!("--bounds {bad}: give")), "{bad}");
        }
    }
}
