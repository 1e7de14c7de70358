//! The exact state of a filter as text, for records that outlive a process.

use super::basic::Basic;
use super::{Filter, FilterRule, Open, Sum};
use reticent_core::{Delta, Epsilon, Guarantee, InvalidValue, Neighboring, Order};
use std::fmt;
use std::str::FromStr;

/// The first word of the text: what reads it.
const FORM: &str = "filter1";

/// Stands for a filter that is closed.
const NONE: &str = "-";

/// Everything that a [`Filter`] knows, with every bit of its numbers: the total, the relation, the rule, and limit and sum of
/// each filter that is open.
///
/// Its text is one line without secrets. A filter that is restored from it decides exactly as the one it was taken from.
///
/// # Guarantee
/// None of its own: what reads it must know that it is the state after all plans that were admitted.
///
/// # Reference
/// As [`Filter`].
#[derive(Debug, Clone, PartialEq)]
pub struct FilterState(Filter);

impl Filter {
    /// Its exact state.
    pub fn state(&self) -> FilterState {
        FilterState(self.clone())
    }

    /// The filter with this state.
    pub fn restore(state: FilterState) -> Self {
        state.0
    }
}

/// A number by its bits.
fn bits(value: f64) -> String {
    format!("{:016x}", value.to_bits())
}

fn list(values: &[f64]) -> String {
    values.iter().map(|value| bits(*value)).collect::<Vec<_>>().join(",")
}

impl fmt::Display for FilterState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Filter { total, neighboring, rule, open, is_fresh } = &self.0;
        let rule = match rule {
            FilterRule::Best => "best".to_owned(),
            FilterRule::Basic => "basic".to_owned(),
            FilterRule::Gaussian => "gaussian".to_owned(),
            FilterRule::Approximate => "approximate".to_owned(),
            FilterRule::Renyi(order) => format!("renyi:{}", bits(order.get())),
        };
        let age = if *is_fresh { "fresh" } else { "used" };
        let total = list(&[total.epsilon.get(), total.delta.get()]);
        let sum = |sum: Option<Sum>| sum.map_or(NONE.to_owned(), |sum| list(&[sum.limit, sum.spent]));
        let basic = open.basic.as_ref().map_or(NONE.to_owned(), |basic| {
            let Basic { total, epsilon, delta } = basic;
            list(&[total.epsilon.get(), total.delta.get(), *epsilon, *delta])
        });
        let renyi: Vec<String> =
            open.renyi.iter().map(|(order, sum)| list(&[*order, sum.limit, sum.spent])).collect();
        let renyi = if renyi.is_empty() { NONE.to_owned() } else { renyi.join(";") };
        let (leaks, gaussian) = (sum(Some(open.leaks)), sum(open.gaussian));
        let approximate = sum(open.approximate);
        write!(
            f,
            "{FORM} {neighboring} {rule} {age} {total} {basic} {leaks} {gaussian} {approximate} {renyi}"
        )
    }
}

impl FromStr for FilterState {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        read(text).ok_or_else(|| {
            let shown: String = text.chars().take(40).collect();
            InvalidValue::new("state", shown, "this is not the state of a filter that can be read")
        })
    }
}

fn read(text: &str) -> Option<FilterState> {
    let words: Vec<&str> = text.split(' ').collect();
    let [form, relation, rule, age, total, basic, leaks, gaussian, approximate, renyi] = words[..] else {
        return None;
    };
    if form != FORM {
        return None;
    }
    let neighboring = [Neighboring::AddRemove, Neighboring::ReplaceOne]
        .into_iter()
        .find(|neighboring| neighboring.to_string() == relation)?;
    let rule = match rule {
        "best" => FilterRule::Best,
        "basic" => FilterRule::Basic,
        "gaussian" => FilterRule::Gaussian,
        "approximate" => FilterRule::Approximate,
        other => FilterRule::Renyi(Order::new(number(other.strip_prefix("renyi:")?)?).ok()?),
    };
    let is_fresh = match age {
        "fresh" => true,
        "used" => false,
        _ => return None,
    };
    let total = guarantee(numbers(total)?)?;
    let orders = if renyi == NONE { Vec::new() } else { renyi.split(';').collect() };
    let renyi = orders.into_iter().map(|order| {
        let [order, limit, spent] = numbers(order)?;
        (order > 1.0).then_some((order, sum([limit, spent])?))
    });
    let open = Open {
        basic: optional(basic, |text| {
            let [whole_epsilon, whole_delta, epsilon, delta] = numbers(text)?;
            let whole = guarantee([whole_epsilon, whole_delta])?;
            let is_within = epsilon <= whole_epsilon
                && delta <= whole_delta
                && whole_epsilon <= total.epsilon.get()
                && whole_delta <= total.delta.get();
            is_within.then_some(Basic { total: whole, epsilon, delta })
        })?,
        leaks: sum(numbers(leaks)?)?,
        gaussian: optional(gaussian, |text| sum(numbers(text)?))?,
        approximate: optional(approximate, |text| sum(numbers(text)?))?,
        renyi: renyi.collect::<Option<_>>()?,
    };
    Some(FilterState(Filter { total, neighboring, rule, open, is_fresh }))
}

/// A finite number that is not negative, by its bits.
fn number(text: &str) -> Option<f64> {
    let is_plain = text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let value = f64::from_bits(is_plain.then(|| u64::from_str_radix(text, 16).ok()).flatten()?);
    (value.is_finite() && value.is_sign_positive()).then_some(value)
}

fn numbers<const COUNT: usize>(text: &str) -> Option<[f64; COUNT]> {
    let found: Vec<f64> = text.split(',').map(number).collect::<Option<_>>()?;
    found.try_into().ok()
}

fn guarantee([epsilon, delta]: [f64; 2]) -> Option<Guarantee> {
    Some(Guarantee { epsilon: Epsilon::new(epsilon).ok()?, delta: Delta::new(delta).ok()? })
}

fn sum([limit, spent]: [f64; 2]) -> Option<Sum> {
    (spent <= limit).then_some(Sum { limit, spent })
}

fn optional<T>(text: &str, read: impl Fn(&str) -> Option<T>) -> Option<Option<T>> {
    if text == NONE { Some(None) } else { read(text).map(Some) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reticent_core::{Event, NoiseMultiplier, Plan};

    fn total(epsilon: f64, delta: f64) -> Guarantee {
        guarantee([epsilon, delta]).unwrap()
    }

    fn plans() -> Vec<Plan> {
        let pure = Event::Pure { epsilon: Epsilon::new(0.01).unwrap() };
        let gaussian = Event::Gaussian { noise_multiplier: NoiseMultiplier::new(30.0).unwrap() };
        let leaky = total(0.1, 1e-9).claim();
        let all = vec![pure.clone(), gaussian.clone(), leaky.clone()];
        [vec![pure], vec![gaussian], vec![leaky], all].map(|events| Plan::new(events).unwrap()).to_vec()
    }

    #[test]
    fn a_restored_filter_decides_as_the_one_before() {
        let order = FilterRule::Renyi(Order::new(7.5).unwrap());
        for (rule, delta) in [
            (FilterRule::Best, 1e-6),
            (FilterRule::Best, 0.0),
            (FilterRule::Basic, 1e-6),
            (FilterRule::Gaussian, 1e-6),
            (FilterRule::Approximate, 1e-6),
            (order, 1e-6),
        ] {
            for neighboring in [Neighboring::AddRemove, Neighboring::ReplaceOne] {
                let mut filter = Filter::new(total(0.6, delta), neighboring, rule).unwrap();
                for plan in plans().iter().cycle().take(60) {
                    let text = filter.state().to_string();
                    let mut restored = Filter::restore(text.parse().unwrap());
                    assert_eq!(restored, filter);
                    assert_eq!(restored.admit(plan).unwrap(), filter.admit(plan).unwrap());
                    assert_eq!(restored.state().to_string(), filter.state().to_string());
                }
            }
        }
    }

    #[test]
    fn the_first_plan_that_takes_everything_is_kept() {
        // The whole δ goes to the basic filter.
        let mut filter = Filter::new(total(1.0, 1e-6), Neighboring::AddRemove, FilterRule::Best).unwrap();
        assert!(filter.admit(&Plan::new(vec![total(1.0, 1e-6).claim()]).unwrap()).unwrap());
        let restored = Filter::restore(filter.state().to_string().parse().unwrap());
        assert_eq!(restored, filter);
        assert!(!restored.fits(&plans()[0]).unwrap());
    }

    #[test]
    fn text_that_is_not_a_state_is_refused() {
        let filter = Filter::new(total(1.0, 1e-6), Neighboring::AddRemove, FilterRule::Best).unwrap();
        let good = filter.state().to_string();
        assert!(good.parse::<FilterState>().is_ok());
        let mut wrong: Vec<String> = ["", "filter1", "filter2 a b", "-"].map(str::to_owned).to_vec();
        wrong.push(good.replace("filter1", "filter2"));
        wrong.push(good.replace("add-remove", "add"));
        wrong.push(good.replace("fresh", "old"));
        wrong.push(good.replace("best", "renyi:0"));
        wrong.push(format!("{good} "));
        wrong.push(good.replace(',', ";"));
        // A sum above its limit, a negative number, an infinite one.
        let (limit, spent) = (bits(filter.open.leaks.limit), bits(0.0));
        for (from, to) in [
            (format!("{limit},{spent}"), format!("{spent},{limit}")),
            (limit.clone(), bits(-1.0)),
            (limit.clone(), bits(f64::INFINITY)),
            (limit.clone(), bits(f64::NAN)),
            (limit, "3ff".to_owned()),
        ] {
            wrong.push(good.replace(&from, &to));
        }
        for text in wrong {
            let error = text.parse::<FilterState>().unwrap_err();
            assert_eq!(error.field, "state", "{text}");
        }
    }
}
