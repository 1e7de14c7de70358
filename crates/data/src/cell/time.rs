//! Days and points in time as ISO 8601 text, and back (proleptic Gregorian calendar, UTC).

/// Microseconds in a second.
pub(super) const MICROSECONDS: i64 = 1_000_000;
/// Milliseconds in a day.
pub(crate) const DAY_MILLISECONDS: i64 = 86_400_000;
/// Microseconds in a day.
const DAY: i64 = 86_400 * MICROSECONDS;

/// The day of a point in time, in UTC.
pub(super) fn day_of(at: i64) -> i32 {
    // 2^63 microseconds are some 107 million days.
    at.div_euclid(DAY) as i32
}

/// The first microsecond of a day; the ends of 64 bits stand for days beyond them.
pub(super) fn midnight(days: i32) -> i64 {
    i64::from(days).saturating_mul(DAY)
}

/// The ISO 8601 text of a day since 1970-01-01, such as `2024-03-01`. A year that does not have four digits has a sign and at
/// least five: `+12024-03-01`.
pub fn date_label(days: i32) -> String {
    let (year, month, day) = civil(i64::from(days));
    if (0..=9999).contains(&year) {
        format!("{year:04}-{month:02}-{day:02}")
    } else {
        format!("{year:+06}-{month:02}-{day:02}")
    }
}

/// The ISO 8601 text of microseconds since 1970-01-01 00:00 UTC, such as `2024-03-01T12:30:00` or `2024-03-01T12:30:00.25`.
/// It is in UTC and does not name a zone.
pub fn timestamp_label(at: i64) -> String {
    let (date, within) = (date_label(day_of(at)), at.rem_euclid(DAY));
    let (second, fraction) = (within / MICROSECONDS, within % MICROSECONDS);
    let clock = format!("{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60);
    if fraction == 0 {
        return format!("{date}T{clock}");
    }
    let digits = format!("{fraction:06}");
    format!("{date}T{clock}.{}", digits.trim_end_matches('0'))
}

/// Days since 1970-01-01 from `2024-03-01` (blanks around it do not count); a year of more than four digits has a sign. `None`
/// for everything else, also for days that the calendar does not have.
pub fn parse_date(text: &str) -> Option<i32> {
    let text = text.trim();
    let (negative, unsigned) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let (year, rest) = unsigned.split_once('-')?;
    let (month, day) = rest.split_once('-')?;
    let signed = unsigned.len() < text.len();
    let fits = if signed { (5..=7).contains(&year.len()) } else { year.len() == 4 };
    if !fits || month.len() != 2 || day.len() != 2 {
        return None;
    }
    let year = if negative { -digits(year)? } else { digits(year)? };
    let (month, day) = (digits(month)?, digits(day)?);
    if !(1..=12).contains(&month) || day < 1 {
        return None;
    }
    let days = days_from_civil(year, month, day);
    // A day that the month does not have comes back as another.
    if civil(days) != (year, month, day) {
        return None;
    }
    i32::try_from(days).ok()
}

/// Microseconds since 1970-01-01 00:00 UTC from `2024-03-01T12:30`, with or without seconds and their fraction, with a blank
/// instead of `T`, and with `Z` or an offset such as `+02:00` at the end; without one it is UTC. Digits after the sixth of a
/// fraction are dropped. `None` for everything else.
pub fn parse_timestamp(text: &str) -> Option<i64> {
    let text = text.trim();
    let at = text.find(['T', 't', ' '])?;
    let (date, rest) = (parse_date(&text[..at])?, &text[at + 1..]);
    let (clock, offset) = match rest.find(['Z', 'z', '+', '-']) {
        Some(end) => (&rest[..end], offset(&rest[end..])?),
        None => (rest, 0),
    };
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let (hour, rest) = clock.split_once(':')?;
    let (minute, second) = match rest.split_once(':') {
        Some((minute, second)) => (minute, second),
        None if clock.len() == 5 => (rest, "00"),
        None => return None,
    };
    let (hour, minute, second) = (two(hour, 23)?, two(minute, 59)?, two(second, 59)?);
    if fraction.is_empty() || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let fraction: String = fraction.chars().chain("00000".chars()).take(6).collect();
    let within = (hour * 3600 + minute * 60 + second) * MICROSECONDS + digits(&fraction)?;
    let at = i128::from(date) * i128::from(DAY) + i128::from(within - offset * 60 * MICROSECONDS);
    i64::try_from(at).ok()
}

/// The minutes of `Z`, `+02:00`, `-0530` or `+02`.
fn offset(text: &str) -> Option<i64> {
    let (sign, rest) = match text.as_bytes().first()? {
        b'Z' | b'z' => return (text.len() == 1).then_some(0),
        b'+' => (1, &text[1..]),
        _ => (-1, &text[1..]),
    };
    let (hours, minutes) = match rest.as_bytes() {
        [_, _] => (two(rest, 23)?, 0),
        [_, _, b':', _, _] => (two(rest.get(..2)?, 23)?, two(rest.get(3..)?, 59)?),
        [_, _, _, _] => (two(rest.get(..2)?, 23)?, two(rest.get(2..)?, 59)?),
        _ => return None,
    };
    Some(sign * (hours * 60 + minutes))
}

/// Two digits up to `most`.
fn two(text: &str, most: i64) -> Option<i64> {
    (text.len() == 2).then(|| digits(text))?.filter(|value| *value <= most)
}

/// The value of at most eighteen digits and nothing else.
fn digits(text: &str) -> Option<i64> {
    let all = !text.is_empty() && text.len() <= 18 && text.bytes().all(|byte| byte.is_ascii_digit());
    all.then(|| text.bytes().fold(0, |value, digit| value * 10 + i64::from(digit - b'0')))
}

/// Year, month and day of a day since 1970-01-01. Years are counted from March, so that a leap day is the last of its year.
pub(crate) fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

/// The inverse of [`civil`].
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let from_march = if month > 2 { month - 3 } else { month + 9 };
    let day_of_year = (153 * from_march + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}
