//! Derivatives of scalar computations in double precision, by reverse accumulation. Slow and simple.

/// A number on a tape.
pub type Number = usize;

/// The numbers of a computation, each with the numbers it was made of and its slope in each.
#[derive(Debug, Default)]
pub struct Tape {
    values: Vec<f64>,
    made_of: Vec<Vec<(Number, f64)>>,
}

impl Tape {
    /// A number that was made of these.
    pub fn push(&mut self, value: f64, made_of: Vec<(Number, f64)>) -> Number {
        self.values.push(value);
        self.made_of.push(made_of);
        self.values.len() - 1
    }

    /// A number that was made of nothing.
    pub fn leaf(&mut self, value: f64) -> Number {
        self.push(value, Vec::new())
    }

    /// Several of them.
    pub fn leaves(&mut self, values: impl IntoIterator<Item = f64>) -> Vec<Number> {
        values.into_iter().map(|value| self.leaf(value)).collect()
    }

    /// The value of a number.
    pub fn value(&self, number: Number) -> f64 {
        self.values[number]
    }

    /// a + b.
    pub fn add(&mut self, a: Number, b: Number) -> Number {
        self.push(self.values[a] + self.values[b], vec![(a, 1.0), (b, 1.0)])
    }

    /// a − b.
    pub fn subtract(&mut self, a: Number, b: Number) -> Number {
        self.push(self.values[a] - self.values[b], vec![(a, 1.0), (b, -1.0)])
    }

    /// a·b.
    pub fn multiply(&mut self, a: Number, b: Number) -> Number {
        self.push(self.values[a] * self.values[b], vec![(a, self.values[b]), (b, self.values[a])])
    }

    /// The sum of numbers, times a constant, plus a constant.
    pub fn sum(&mut self, numbers: &[Number], times: f64, plus: f64) -> Number {
        let total: f64 = numbers.iter().map(|number| self.values[*number]).sum();
        self.push(times * total + plus, numbers.iter().map(|number| (*number, times)).collect())
    }

    /// Σ aᵢ·bᵢ.
    pub fn dot(&mut self, a: &[Number], b: &[Number]) -> Number {
        let (mut total, mut made_of) = (0.0, Vec::with_capacity(2 * a.len()));
        for (a, b) in a.iter().zip(b) {
            total += self.values[*a] * self.values[*b];
            made_of.extend([(*a, self.values[*b]), (*b, self.values[*a])]);
        }
        self.push(total, made_of)
    }

    /// A function of one number, from its value and slope.
    pub fn function(&mut self, x: Number, f: impl FnOnce(f64) -> (f64, f64)) -> Number {
        let (value, slope) = f(self.values[x]);
        self.push(value, vec![(x, slope)])
    }

    /// 1/(1 + e^−x).
    pub fn sigmoid(&mut self, x: Number) -> Number {
        self.function(x, |x| {
            let y = 1.0 / (1.0 + libm::exp(-x));
            (y, y * (1.0 - y))
        })
    }

    /// The hyperbolic tangent.
    pub fn tanh(&mut self, x: Number) -> Number {
        self.function(x, |x| {
            let y = libm::tanh(x);
            (y, 1.0 - y * y)
        })
    }

    /// The slope of a number in all numbers before it.
    pub fn slopes(&self, of: Number) -> Vec<f64> {
        let mut slopes = vec![0.0; self.values.len()];
        slopes[of] = 1.0;
        for number in (0..=of).rev() {
            let slope = slopes[number];
            if slope != 0.0 {
                self.made_of[number].iter().for_each(|(part, own)| slopes[*part] += slope * own);
            }
        }
        slopes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_are_those_of_differences() {
        let run = |x: [f64; 3]| {
            let mut tape = Tape::default();
            let leaves = tape.leaves(x);
            let product = tape.multiply(leaves[0], leaves[1]);
            let squashed = tape.tanh(product);
            let (gate, difference) = (tape.sigmoid(leaves[2]), tape.subtract(squashed, leaves[0]));
            let dot = tape.dot(&[gate, difference], &[difference, leaves[1]]);
            let both = tape.add(dot, gate);
            let out = tape.sum(&[both, leaves[2]], 0.5, 3.0);
            (tape.value(out), tape.slopes(out)[..3].to_vec())
        };
        let x = [0.3, -1.2, 0.8];
        let slopes = run(x).1;
        for (i, expected) in slopes.into_iter().enumerate() {
            let at = |step: f64| run(std::array::from_fn(|j| if i == j { x[j] + step } else { x[j] })).0;
            let slope = (at(1e-6) - at(-1e-6)) / 2e-6;
            assert!((slope - expected).abs() < 1e-8, "{i}: {slope} {expected}");
        }
    }
}
