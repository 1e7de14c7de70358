//! Laws of a loss on evenly spaced points counted from one end, multiplied as power series: only sums of products of
//! numbers that are not negative, so every error is relative.

/// Masses at the losses base ± i·step (+ a little more, see `lift`), i = 0, 1, …, and what lies beyond the last point.
#[derive(Debug, Clone)]
pub(super) struct Series {
    /// P-mass at each point.
    pub(super) mass: Vec<f64>,
    /// Σ p·(1 − e^{−d}) over the mass at each point, d ≥ 0 being how far above the point it lies; empty where d = 0.
    pub(super) lift: Vec<f64>,
    /// P-mass above the last point, counted upwards.
    pub(super) beyond: f64,
    /// Σ p·(1 − e^{−d}) of it, d being how far above the last point it lies.
    pub(super) beyond_lift: f64,
}

/// Sums over the points from one on to the last: index m holds Σ_{j ≥ m}.
struct Ahead {
    mass: Vec<f64>,
    lift: Vec<f64>,
    /// Σ_{j > m} rest_j·(1 − e^{−(j − m)·step}), rest = mass − lift.
    risen: Vec<f64>,
}

impl Series {
    /// A loss of 0 and nothing else.
    pub(super) fn one(length: usize, lifted: bool) -> Self {
        let mut mass = vec![0.0; length];
        mass[0] = 1.0;
        Self {
            mass,
            lift: if lifted { vec![0.0; length] } else { Vec::new() },
            beyond: 0.0,
            beyond_lift: 0.0,
        }
    }

    fn lift_at(&self, i: usize) -> f64 {
        self.lift.get(i).copied().unwrap_or(0.0)
    }

    fn rest_at(&self, i: usize) -> f64 {
        self.mass[i] - self.lift_at(i)
    }

    fn ahead(&self, step: f64) -> Ahead {
        let n = self.mass.len();
        let (mut mass, mut lift, mut risen) = (vec![0.0; n + 1], vec![0.0; n + 1], vec![0.0; n + 1]);
        let (keep, rise) = (libm::exp(-step), -libm::expm1(-step));
        let mut rest = 0.0;
        for m in (0..n).rev() {
            // From j > m + 1 seen from m + 1, to j > m seen from m.
            risen[m] = rise * rest + keep * risen[m + 1];
            rest += self.rest_at(m);
            mass[m] = mass[m + 1] + self.mass[m];
            lift[m] = lift[m + 1] + self.lift_at(m);
        }
        Ahead { mass, lift, risen }
    }

    /// The law of the sum of two independent losses. `upwards` says which way the points go: what is beyond the last
    /// one is kept where they go up, and dropped where they go down.
    pub(super) fn times(&self, other: &Self, step: f64, upwards: bool) -> Self {
        let n = self.mass.len();
        let mass = product(&self.mass, &other.mass);
        let lift = if self.lift.is_empty() {
            Vec::new()
        } else {
            // p·p′ − (p − d)(p′ − d′) = d·p′ + (p − d)·d′.
            let rest: Vec<f64> = (0..n).map(|i| self.rest_at(i)).collect();
            let mut lift = product(&self.lift, &other.mass);
            for (total, more) in lift.iter_mut().zip(product(&rest, &other.lift)) {
                *total += more;
            }
            lift
        };
        let (mut beyond, mut beyond_lift) = (0.0, 0.0);
        if upwards {
            let ahead = other.ahead(step);
            let reach = step * (n - 1) as f64;
            let (mut all, mut fallen) = (other.beyond, other.beyond_lift * libm::exp(-reach));
            fallen -= other.beyond * libm::expm1(-reach);
            for j in 0..n {
                all += other.mass[j];
                fallen += other.lift_at(j) - other.rest_at(j) * libm::expm1(-step * j as f64);
            }
            // Beyond already: all − fallen is E[e^{−y}] of the other.
            beyond += self.beyond * all;
            beyond_lift += self.beyond * fallen + self.beyond_lift * (all - fallen).max(0.0);
            for i in 0..n {
                let (p, d) = (self.mass[i], self.lift_at(i));
                if p == 0.0 {
                    continue;
                }
                let from = n - i;
                // Index i + j ≥ n: one point beyond the last at least.
                beyond += p * (ahead.mass[from] + other.beyond);
                let rest_ahead = ahead.mass[from] - ahead.lift[from];
                beyond_lift += p * ahead.lift[from] + d * rest_ahead + (p - d) * ahead.risen[from - 1];
                let kept = libm::exp(-step * i as f64);
                let lifted = other.beyond_lift * kept - other.beyond * libm::expm1(-step * i as f64);
                beyond_lift += d * other.beyond + (p - d) * lifted;
            }
        }
        Self { mass, lift, beyond, beyond_lift }
    }

    /// The law of the sum of `count` such losses.
    pub(super) fn power(&self, count: u64, step: f64, upwards: bool) -> Self {
        let mut result: Option<Self> = None;
        let (mut base, mut left) = (self.clone(), count);
        while left > 0 {
            if left & 1 == 1 {
                result = Some(match result {
                    None => base.clone(),
                    Some(result) => result.times(&base, step, upwards),
                });
            }
            left >>= 1;
            if left > 0 {
                base = base.times(&base, step, upwards);
            }
        }
        result.unwrap_or_else(|| Self::one(self.mass.len(), !self.lift.is_empty()))
    }
}

/// The first terms of a product of power series.
fn product(a: &[f64], b: &[f64]) -> Vec<f64> {
    let n = a.len();
    let mut sum = vec![0.0; n];
    for (i, x) in a.iter().enumerate() {
        if *x > 0.0 {
            for (total, y) in sum[i..].iter_mut().zip(b) {
                *total += x * y;
            }
        }
    }
    sum
}
