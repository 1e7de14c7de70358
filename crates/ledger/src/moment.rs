//! Points in time, as budgets record them.

use reticent_core::InvalidValue;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

const DAY: i64 = 86_400_000;

/// A point in time: milliseconds since 1970-01-01T00:00:00Z, without leap seconds.
///
/// It is written as `2027-01-31T12:00:00Z`. A date alone, `2027-01-31`, means the end of that day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Moment(i64);

impl Moment {
    /// So many milliseconds after the start of 1970, UTC. Years before 1 and after 9999 become the nearest of these.
    pub fn new(milliseconds: i64) -> Self {
        Self(milliseconds.clamp(-62_135_596_800_000, 253_402_300_799_999))
    }

    /// Milliseconds since the start of 1970, UTC.
    pub fn milliseconds(self) -> i64 {
        self.0
    }
}

/// Days since 1970-01-01 of a date of the Gregorian calendar.
fn days(year: i64, month: i64, day: i64) -> i64 {
    // Years begin in March, so the leap day is the last one.
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Year, month and day of so many days since 1970-01-01.
fn date(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let (day, month) = (of_year - (153 * shifted + 2) / 5 + 1, (shifted + 2) % 12 + 1);
    (era * 400 + year + i64::from(month <= 2), month, day)
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = date(self.0.div_euclid(DAY));
        let of_day = self.0.rem_euclid(DAY);
        let (hour, minute, second) = (of_day / 3_600_000, of_day / 60_000 % 60, of_day / 1000 % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")?;
        match of_day % 1000 {
            0 => f.write_str("Z"),
            rest => write!(f, ".{rest:03}Z"),
        }
    }
}

impl FromStr for Moment {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        let wrong = || {
            let remedy = "give a date such as 2027-01-31, whose end is meant, or a time in UTC such as 2027-01-31T12:00:00Z";
            InvalidValue::new("time", text, remedy)
        };
        let number = |part: &str, digits: usize| -> Result<i64, InvalidValue> {
            let is_plain = part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit());
            is_plain.then(|| part.parse().ok()).flatten().ok_or_else(wrong)
        };
        let (day, time) = text.split_once('T').map_or((text, None), |(day, time)| (day, Some(time)));
        let mut parts = day.splitn(3, '-');
        let mut part = |digits: usize| number(parts.next().ok_or_else(wrong)?, digits);
        let given = (part(4)?, part(2)?, part(2)?);
        let days = days(given.0, given.1, given.2);
        if given.0 < 1 || date(days) != given {
            return Err(wrong());
        }
        let Some(time) = time else { return Ok(Self(days * DAY + DAY - 1)) };
        let time = time.strip_suffix('Z').ok_or_else(wrong)?;
        let (time, rest) = time.split_once('.').map_or((time, "000"), |(time, rest)| (time, rest));
        let mut parts = time.splitn(3, ':');
        let mut part = |most: i64| -> Result<i64, InvalidValue> {
            let found = number(parts.next().ok_or_else(wrong)?, 2)?;
            if found < most { Ok(found) } else { Err(wrong()) }
        };
        let (hour, minute, second) = (part(24)?, part(60)?, part(60)?);
        let of_day = ((hour * 60 + minute) * 60 + second) * 1000 + number(rest, 3)?;
        Ok(Self(days * DAY + of_day))
    }
}

impl TryFrom<String> for Moment {
    type Error = InvalidValue;

    fn try_from(text: String) -> Result<Self, InvalidValue> {
        text.parse()
    }
}

impl From<Moment> for String {
    fn from(moment: Moment) -> Self {
        moment.to_string()
    }
}

/// Where a store learns what time it is.
#[derive(Clone)]
pub struct BudgetClock(Arc<dyn Fn() -> Moment + Send + Sync>);

impl BudgetClock {
    /// The clock of the system.
    pub fn system() -> Self {
        Self::by(|| {
            let since = |span: std::time::Duration| i64::try_from(span.as_millis()).unwrap_or(i64::MAX);
            Moment::new(match SystemTime::now().duration_since(UNIX_EPOCH) {
                Ok(after) => since(after),
                Err(before) => -since(before.duration()),
            })
        })
    }

    /// A clock that a function reads, for tests.
    pub fn by(read: impl Fn() -> Moment + Send + Sync + 'static) -> Self {
        Self(Arc::new(read))
    }

    /// What time it is.
    pub fn now(&self) -> Moment {
        (self.0)()
    }
}

impl Default for BudgetClock {
    fn default() -> Self {
        Self::system()
    }
}

impl fmt::Debug for BudgetClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BudgetClock")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_read_as_they_are_written() {
        for (text, milliseconds) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2000-02-29T23:59:59Z", 951_868_799_000),
            ("2027-01-31T12:00:00.250Z", 1_801_396_800_250),
            ("1969-12-31T23:59:59.999Z", -1),
            ("9999-12-31T23:59:59.999Z", 253_402_300_799_999),
            ("0001-01-01T00:00:00Z", -62_135_596_800_000),
        ] {
            let moment: Moment = text.parse().unwrap();
            assert_eq!((moment.milliseconds(), moment.to_string()), (milliseconds, text.to_owned()));
        }
        for days in (-700_000..2_900_000).step_by(97) {
            let moment = Moment::new(days * DAY + 123);
            assert_eq!(moment.to_string().parse(), Ok(moment));
        }
        assert_eq!("2027-01-31".parse(), Ok(Moment::new(1_801_439_999_999)));
        assert!(Moment::new(i64::MAX) > Moment::new(i64::MIN));
    }

    #[test]
    fn what_is_not_a_moment_is_refused() {
        for text in [
            "",
            "tomorrow",
            "2027-1-31",
            "2027-02-29",
            "2027-13-01",
            "0000-01-01",
            "2027-01-31T12:00:00",
            "2027-01-31T24:00:00Z",
            "2027-01-31T12:00Z",
            "2027-01-31T12:00:00.5Z",
            "+027-01-31",
        ] {
            assert!(text.parse::<Moment>().is_err(), "{text}");
        }
    }
}
