//! Scales and their ticks.

/// How values become places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scale {
    Linear,
    Log,
}

/// One axis: what it shows, from where to where.
#[derive(Debug, Clone)]
pub struct Axis {
    pub(super) label: String,
    scale: Scale,
    low: f64,
    high: f64,
}

impl Axis {
    /// From 0 to 1.
    pub fn unit(label: &str) -> Self {
        Self { label: label.to_owned(), scale: Scale::Linear, low: 0.0, high: 1.0 }
    }

    /// Even steps, widened outwards to round numbers.
    pub fn linear(label: &str, low: f64, high: f64) -> Self {
        let low = if low.is_finite() { low } else { 0.0 };
        let high = if high.is_finite() && high > low { high } else { low + 1.0 };
        let step = step(high - low);
        let (low, high) = ((low / step + 1e-9).floor() * step, (high / step - 1e-9).ceil() * step);
        Self { label: label.to_owned(), scale: Scale::Linear, low, high }
    }

    /// Where it begins and ends.
    pub fn ends(&self) -> (f64, f64) {
        (self.low, self.high)
    }

    /// Logarithmic, from a number above 0 to a larger one; widened where they are too close.
    pub fn log(label: &str, low: f64, high: f64) -> Self {
        let low = if low > 0.0 && low.is_finite() { low } else { 1.0 };
        let high = if high.is_finite() { high.max(low * 2.0) } else { low * 10.0 };
        Self { label: label.to_owned(), scale: Scale::Log, low, high }
    }

    /// The same axis with a little room at both ends.
    pub(super) fn roomy(mut self) -> Self {
        if self.scale == Scale::Log {
            let room = (self.high / self.low).powf(0.04);
            (self.low, self.high) = (self.low / room, self.high * room);
        }
        self
    }

    /// Where a value lies, as a share of the way from the low end to the high one.
    pub(super) fn share(&self, value: f64) -> f64 {
        let share = match self.scale {
            Scale::Linear => (value - self.low) / (self.high - self.low),
            Scale::Log => (value / self.low).ln() / (self.high / self.low).ln(),
        };
        share.clamp(0.0, 1.0)
    }

    /// Values to mark, with their texts.
    pub(super) fn ticks(&self) -> Vec<(f64, String)> {
        match self.scale {
            Scale::Linear => {
                let step = step(self.high - self.low);
                let steps = ((self.high - self.low) / step).round() as u32;
                let value = |i| self.low + step * f64::from(i);
                (0..=steps).map(value).map(|value| (value, written(value))).collect()
            }
            Scale::Log => self.decades(),
        }
    }

    fn decades(&self) -> Vec<(f64, String)> {
        let (first, last) = (self.low.log10().floor() as i32, self.high.log10().ceil() as i32);
        let decades = (self.high / self.low).log10();
        let within: &[f64] = match decades {
            d if d < 0.7 => &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0],
            d if d < 2.2 => &[1.0, 2.0, 5.0],
            _ => &[1.0],
        };
        let apart = (decades / 8.0).ceil().max(1.0) as i32;
        let inside = |value: &f64| *value >= self.low * (1.0 - 1e-9) && *value <= self.high * (1.0 + 1e-9);
        (first..=last)
            .filter(|power| power.rem_euclid(apart) == 0)
            .flat_map(|power| within.iter().map(move |factor| factor * 10f64.powi(power)))
            .filter(inside)
            .map(|value| (value, written(value)))
            .collect()
    }
}

/// A round number that goes into `width` four to ten times.
fn step(width: f64) -> f64 {
    let least = width / 7.0;
    let unit = 10f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0].map(|factor| factor * unit).into_iter().find(|step| *step >= least).unwrap_or(10.0 * unit)
}

/// `0.02`, `5`, `10 000`, `10⁹`.
fn written(value: f64) -> String {
    // Steps from a low end that is no power of two leave dust at 0.
    if value.abs() < 1e-300 {
        return "0".to_owned();
    }
    let power = value.abs().log10();
    let nearest = power.round();
    if (power - nearest).abs() < 1e-9 && !(-3.0..6.0).contains(&nearest) {
        let digits = (nearest as i32).to_string();
        return format!("10{}", digits.chars().map(superscript).collect::<String>());
    }
    let rounded: f64 = format!("{value:.3e}").parse().unwrap_or(value);
    if !(1e-3..1e6).contains(&rounded.abs()) {
        return format!("{rounded:e}");
    }
    let text = rounded.to_string();
    let (whole, rest) = text.split_once('.').map_or((text.as_str(), None), |(w, r)| (w, Some(r)));
    let mut grouped = String::new();
    for (place, digit) in whole.chars().enumerate() {
        if place > 0 && (whole.len() - place).is_multiple_of(3) && whole.len() > 4 {
            grouped.push('\u{2009}');
        }
        grouped.push(digit);
    }
    rest.map_or(grouped.clone(), |rest| format!("{grouped}.{rest}"))
}

fn superscript(digit: char) -> char {
    match digit {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        other => other.to_digit(10).and_then(|d| char::from_u32(0x2070 + d)).unwrap_or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_few_and_inside() {
        for (low, high) in [(1.0, 1e4), (0.03, 250.0), (5.0, 6.0), (1e-30, 1.0), (1.0, 1e12), (2.0, 2.0)] {
            let axis = Axis::log("x", low, high).roomy();
            let ticks = axis.ticks();
            assert!((1..=10).contains(&ticks.len()), "{low} {high}: {ticks:?}");
            assert!(ticks.iter().all(|(value, _)| *value >= axis.low * 0.999 && *value <= axis.high * 1.001));
        }
        assert_eq!(Axis::unit("p").ticks().len(), 6);
        for (low, high) in
            [(0.0, 8.3), (-3.2, 4.9), (0.0, 1e-4), (5.0, 5.0), (0.0, 123_456.0), (0.0, f64::NAN)]
        {
            let axis = Axis::linear("x", low, high);
            let ticks = axis.ticks();
            assert!((3..=11).contains(&ticks.len()), "{low} {high}: {ticks:?}");
            assert!(axis.low <= low + 1e-9 && (high.is_nan() || axis.high >= high - 1e-9), "{axis:?}");
        }
    }

    #[test]
    fn numbers_are_short() {
        let shown = [0.001, 0.2, 5.0, 1000.0, 10_000.0, 1e6, 1e-5, 1e12].map(written);
        assert_eq!(shown, ["0.001", "0.2", "5", "1000", "10\u{2009}000", "10⁶", "10⁻⁵", "10¹²"]);
    }
}
