//! Numbers for people: no more digits than the noise warrants.

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
pub(super) fn with_interval(value: f64, [low, high]: [f64; 2], whole: bool) -> [String; 3] {
    let error = (value - low).abs().max((high - value).abs());
    if error <= 0.0 || !error.is_finite() {
        return [value, low, high].map(brief);
    }
    let places = places(error, whole);
    [written(value, places, f64::round), written(low, places, f64::floor), written(high, places, f64::ceil)]
}

/// A number rounded up at two digits, for errors.
pub(super) fn error(value: f64) -> String {
    if value > 0.0 && value.is_finite() {
        written(value, places(value, value.fract() == 0.0), f64::ceil)
    } else {
        brief(value)
    }
}

/// Four significant digits.
pub(super) fn brief(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return (value + 0.0).to_string();
    }
    let rounded: f64 = format!("{value:.3e}").parse().unwrap_or(value);
    if (1e-4..1e15).contains(&rounded.abs()) { rounded.to_string() } else { format!("{rounded:e}") }
}

/// All digits of a number the user gave, in powers of ten far from 1.
pub(super) fn exactly(value: f64) -> String {
    if value == 0.0 || (1e-5..1e15).contains(&value.abs()) {
        (value + 0.0).to_string()
    } else {
        format!("{value:e}")
    }
}

/// A privacy parameter: four significant digits, rounded up unless that is only the last bits.
pub(super) fn spent(value: f64) -> String {
    if value <= 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let nearest: f64 = format!("{value:.3e}").parse().unwrap_or(value);
    if nearest >= value * (1.0 - 1e-9) {
        return brief(nearest);
    }
    brief(value + 10f64.powi(value.log10().floor() as i32 - 3))
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
