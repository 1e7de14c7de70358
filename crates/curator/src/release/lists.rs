//! Public lists: bounds, edges of bins, names.

use crate::quantity::finite;
use crate::refusal::Refusal;
use reticent_core::Code;
use reticent_report::digits::exactly;

/// The largest bound. A sum on the grid of such bounds is at most 2¹²⁷ steps of 2⁻⁴³ times this, which is a finite number: no
/// answer is refused after it was drawn.
const LARGEST_BOUND: f64 = 1e280;

/// Public bounds, the lower one first.
pub(crate) fn bounds([low, high]: [f64; 2]) -> Result<[f64; 2], Refusal> {
    let refuse = |remedy: &str| Refusal::value("bounds", format!("{low},{high}"), remedy).coded(Code::Bounds);
    for end in [low, high] {
        if end.is_nan() {
            return Err(refuse("give two numbers separated by a comma, such as 0,120"));
        }
        if end.is_infinite() {
            return Err(refuse("give two finite numbers"));
        }
    }
    if low > high {
        let remedy = format!("give the lower bound first: ⟦bounds⟧ {},{}", exactly(high), exactly(low));
        return Err(refuse(&remedy));
    }
    if low == high {
        return Err(refuse("give an upper bound above the lower one"));
    }
    if !(high - low).is_finite() {
        return Err(refuse("give bounds closer together: their difference overflows"));
    }
    if low.abs().max(high.abs()) > LARGEST_BOUND {
        return Err(refuse("give bounds of at most 1e280 in absolute value: larger sums overflow"));
    }
    Ok([low, high])
}

/// The edges of bins, rising.
pub(crate) fn edges(edges: &[f64]) -> Result<Vec<f64>, Refusal> {
    for edge in edges {
        finite("bins", *edge)?;
    }
    let text = || edges.iter().map(f64::to_string).collect::<Vec<_>>().join(",");
    let refuse = |remedy: &str| Refusal::value("bins", text(), remedy).coded(Code::List);
    if edges.len() < 2 {
        return Err(refuse("give at least two edges, such as 0,10,20"));
    }
    if edges.windows(2).any(|pair| pair[0] >= pair[1]) {
        return Err(refuse("give the edges in increasing order, such as 0,10,20"));
    }
    Ok(edges.to_vec())
}

/// Distinct names, without the blanks around them.
pub(crate) fn names(field: &str, names: &[String], least: usize) -> Result<Vec<String>, Refusal> {
    let refuse = |remedy: String| Refusal::value(field, join_names(names), remedy).coded(Code::List);
    let trimmed: Vec<String> = names.iter().map(|name| name.trim().to_owned()).collect();
    if trimmed.iter().any(String::is_empty) {
        return Err(refuse("one of the names is empty: separate names with single commas".to_owned()));
    }
    let mut sorted: Vec<&str> = trimmed.iter().map(String::as_str).collect();
    sorted.sort_unstable();
    if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(refuse(format!("\"{}\" is listed twice: list it once", twice[0])));
    }
    if names.len() < least {
        return Err(refuse(format!("give at least {least}, separated by commas")));
    }
    Ok(trimmed)
}

/// A list of names on one line; a name with a comma or a quote is put in double quotes.
pub fn join_names(names: &[String]) -> String {
    let quoted = |name: &String| {
        if name.contains([',', '"']) { format!("\"{}\"", name.replace('"', "\"\"")) } else { name.clone() }
    };
    names.iter().map(quoted).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_rise() {
        assert_eq!(bounds([-5.0, 5.0]).unwrap(), [-5.0, 5.0]);
        let refused = bounds([90.0, 17.0]).unwrap_err().to_string();
        assert_eq!(refused, "bounds = 90,17: give the lower bound first: `bounds` 17,90");
        assert_eq!(bounds([-LARGEST_BOUND, LARGEST_BOUND]).unwrap(), [-LARGEST_BOUND, LARGEST_BOUND]);
        for bad in [[1.0, 1.0], [0.0, f64::INFINITY], [-1e308, 1e308], [f64::NAN, 1.0], [0.0, 1e281]] {
            assert_eq!(bounds(bad).unwrap_err().code(), Code::Bounds, "{bad:?}");
        }
    }

    #[test]
    fn lists_that_no_flag_could_carry_are_refused() {
        let list = |list: &[&str]| list.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert_eq!(names("categories", &list(&[" a", "b,c"]), 2).unwrap(), ["a", "b,c"]);
        for bad in [&[][..], &["a", "a "], &["a", " "]] {
            assert_eq!(names("categories", &list(bad), 1).unwrap_err().code(), Code::List, "{bad:?}");
        }
        for bad in [&[][..], &[1.0], &[1.0, 1.0], &[2.0, 1.0]] {
            assert_eq!(edges(bad).unwrap_err().code(), Code::List, "{bad:?}");
        }
        assert!(edges(&[0.0, f64::NAN]).is_err() && edges(&[0.0, f64::INFINITY]).is_err());
    }
}
