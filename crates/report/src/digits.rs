//! Numbers for readers: no more digits than the noise or the proof supports.

/// Decimal places to show: two digits of the error; negative to the left of the point.
fn places(error: f64, whole: bool) -> i32 {
    let places = 1 - error.log10().floor() as i32;
    if whole { places.min(0) } else { places }
}

/// `value` rounded by `round` at `places`, written out or, far from 1, in powers of ten.
fn written(value: f64, places: i32, round: fn(f64) -> f64) -> String {
    let unit = 10f64.powi(places.abs());
    let rounded = if places >= 0 { round(value * unit) / unit } else { round(value / unit) * unit };
    // Adding zero turns -0 into 0.
    let rounded = if rounded.is_finite() { rounded } else { value } + 0.0;
    if places > 12 || rounded.abs() >= 1e15 {
        let significant = rounded.abs().log10().floor() as i32 + places;
        return format!("{rounded:.*e}", significant.clamp(0, 16) as usize);
    }
    format!("{rounded:.*}", places.max(0) as usize)
}

/// A value and its interval, the ends rounded outwards.
pub fn with_interval(value: f64, [low, high]: [f64; 2], whole: bool) -> [String; 3] {
    let error = (value - low).abs().max((high - value).abs());
    if error <= 0.0 || !error.is_finite() {
        return [value, low, high].map(brief);
    }
    let places = places(error, whole);
    [written(value, places, f64::round), written(low, places, f64::floor), written(high, places, f64::ceil)]
}

/// A number rounded up at two digits, for errors.
pub fn error(value: f64) -> String {
    if value > 0.0 && value.is_finite() {
        written(value, places(value, value.fract() == 0.0), f64::ceil)
    } else {
        brief(value)
    }
}

/// Four significant digits.
pub fn brief(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return (value + 0.0).to_string();
    }
    let rounded: f64 = format!("{value:.3e}").parse().unwrap_or(value);
    if (1e-4..1e15).contains(&rounded.abs()) { rounded.to_string() } else { format!("{rounded:e}") }
}

/// All digits of a number the user gave, in powers of ten far from 1.
pub fn exactly(value: f64) -> String {
    if value == 0.0 || (1e-4..1e15).contains(&value.abs()) {
        (value + 0.0).to_string()
    } else {
        format!("{value:e}")
    }
}

/// A privacy parameter: four significant digits, rounded up unless that is only the last bits.
pub fn spent(value: f64) -> String {
    if value <= 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let nearest: f64 = format!("{value:.3e}").parse().unwrap_or(value);
    if nearest >= value * (1.0 - 1e-9) {
        return brief(nearest);
    }
    brief(value + 10f64.powi(value.log10().floor() as i32 - 3))
}

/// The ends of a bracket, rounded outwards, with as many digits as tell them apart (four to nine).
pub fn bracket(lower: f64, upper: f64) -> [String; 2] {
    let width = ((upper - lower) / upper).max(1e-16);
    let digits = (2.0 - width.log10()).clamp(4.0, 9.0) as usize;
    [significant(lower, digits, RoundingSide::Down), significant(upper, digits, RoundingSide::Up)]
}

/// The side to which a number is rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoundingSide {
    /// Never above the number.
    Down,
    /// Never below it.
    Up,
}

/// A confidence in percent, without the sign: rounded down, with four digits of its distance from certainty, and 100 only for
/// certainty. A binary fraction that stands for 0.95 is shown as 95.
pub fn confidence(share: f64) -> String {
    // Digits of what is missing; the error of the binary fraction is not shown.
    const DIGITS: i32 = 4;
    let miss = (1.0 - share) * 100.0 * (1.0 - 1e-9);
    if !(miss > 0.0 && miss < 100.0) {
        return brief(share * 100.0);
    }
    let exponent = miss.log10().floor() as i32;
    let places = (DIGITS - 1 - exponent).max(0);
    let (scale, missing) = (10u128.pow(places as u32), (miss * 10f64.powi(places)).ceil() as u128);
    let left = (100 * scale).saturating_sub(missing);
    let text = format!("{}.{:0width$}", left / scale, left % scale, width = places as usize);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A number that is not negative, rounded to one side at so many significant digits.
pub fn significant(value: f64, digits: usize, side: RoundingSide) -> String {
    if value <= 0.0 || !value.is_finite() {
        return brief(value);
    }
    let places = digits.clamp(1, 17) - 1;
    let nearest = format!("{value:.places$e}");
    let Some((mantissa, exponent)) = nearest.split_once('e') else { return nearest };
    let whole: Result<u64, _> = mantissa.replace('.', "").parse();
    let (Ok(mut whole), Ok(exponent), Ok(rounded)) = (whole, exponent.parse::<i32>(), nearest.parse::<f64>())
    else {
        return nearest;
    };
    match side {
        RoundingSide::Up if rounded < value => whole += 1,
        RoundingSide::Down if rounded > value => whole -= 1,
        _ => {}
    }
    decimal(whole, exponent - places as i32)
}

/// `whole` · 10^`power`, written out or, far from 1, in powers of ten.
fn decimal(whole: u64, power: i32) -> String {
    let digits = whole.to_string();
    let leading = digits.len() as i32 - 1 + power;
    if !(-4..15).contains(&leading) {
        let (first, rest) = digits.split_at(1);
        let rest = rest.trim_end_matches('0');
        let point = if rest.is_empty() { "" } else { "." };
        return format!("{first}{point}{rest}e{leading}");
    }
    if power >= 0 {
        return digits + &"0".repeat(power as usize);
    }
    let decimals = power.unsigned_abs() as usize;
    let padded = format!("{digits:0>width$}", width = decimals + 1);
    let (before, after) = padded.split_at(padded.len() - decimals);
    format!("{before}.{after}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn confidence_is_never_rounded_up() {
        for (share, shown) in [
            (0.95, "95"),
            (0.5, "50"),
            (0.99, "99"),
            (0.999, "99.9"),
            (0.94996, "94.996"),
            (0.9999975, "99.99975"),
            (0.999999999999, "99.9999999999"),
            (1.0, "100"),
        ] {
            assert_eq!(confidence(share), shown);
        }
        assert!(confidence(1.0f64.next_down()).starts_with("99.99999999999"));
    }

    #[test]
    fn digits_follow_the_noise() {
        let shown = |value, low, high, whole| with_interval(value, [low, high], whole).join(" ");
        assert_eq!(shown(38.581_234, 38.411, 38.752, false), "38.58 38.41 38.76");
        assert_eq!(shown(32_561.0, 32_558.0, 32_564.0, true), "32561 32558 32564");
        assert_eq!(shown(1_256_257.0, 1_253_557.0, 1_258_957.0, false), "1256300 1253500 1259000");
        assert_eq!(shown(0.240_81, 0.240_4, 0.241_2, false), "0.24081 0.24040 0.24120");
        assert_eq!(shown(-0.2, -40.0, 40.0, false), "0 -40 40");
        assert_eq!(shown(37.0, 37.0, 37.0, true), "37 37 37");
        assert_eq!(shown(1e-20, 0.0, 2e-20, false), "1.0e-20 0e0 2.0e-20");
    }

    #[test]
    fn privacy_is_never_shown_smaller_than_it_is() {
        assert_eq!(spent(1.000_000_000_000_000_2), "1");
        assert_eq!(spent(0.1), "0.1");
        assert_eq!(spent(0.123_41), "0.1235");
        assert_eq!(spent(1e-6), "1e-6");
        assert_eq!(spent(2.0 / 3.0), "0.6667");
    }

    #[test]
    fn brackets_are_rounded_outwards() {
        let shown = |lower, upper| bracket(lower, upper).join(" ");
        assert_eq!(shown(6.187_712_389, 6.187_712_392), "6.18771238 6.18771240");
        assert_eq!(shown(0.2, 0.498_246_7), "0.2000 0.4983");
        assert_eq!(shown(0.0, 3.3), "0 3.300");
        assert_eq!(shown(5.351_478_1e-13, 5.351_479e-13), "5.3514781e-13 5.351479e-13");
        assert_eq!(shown(4.04e-320, 4.05e-320), "4.04e-320 4.05e-320");
        assert_eq!(shown(12_345.678, 99_999.999), "12340 100000");
        assert_eq!(shown(0.0, 0.0), "0 0");
        for (digits, value) in [(4, 0.1), (1, 9.99), (3, 1e300), (7, 123_456.5), (17, 0.3)] {
            let read = |side| significant(value, digits, side).parse::<f64>().unwrap();
            assert!(
                read(RoundingSide::Down) <= value && value <= read(RoundingSide::Up),
                "{value} at {digits}"
            );
        }
    }
}
