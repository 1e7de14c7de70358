//! The little complex arithmetic the contour needs.

use std::ops::{Add, Div, Mul, Sub};

/// x + iy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Complex {
    /// Real part.
    pub(super) re: f64,
    /// Imaginary part.
    pub(super) im: f64,
}

impl Complex {
    /// x + iy.
    pub(super) const fn new(re: f64, im: f64) -> Self {
        Self { re, im }
    }

    /// e^{iθ}.
    pub(super) fn unit(theta: f64) -> Self {
        let (sin, cos) = libm::sincos(theta);
        Self::new(cos, sin)
    }

    /// e^z.
    pub(super) fn exp(self) -> Self {
        Self::unit(self.im) * libm::exp(self.re)
    }

    /// The principal logarithm.
    pub(super) fn ln(self) -> Self {
        // ln|z| accurately also when |z| is close to 1.
        let (big, small) =
            if self.re.abs() > self.im.abs() { (self.re.abs(), self.im) } else { (self.im.abs(), self.re) };
        let excess = (big - 1.0) * (big + 1.0) + small * small;
        let log = if excess.abs() < 0.5 {
            0.5 * libm::log1p(excess)
        } else {
            libm::log(libm::hypot(self.re, self.im))
        };
        Self::new(log, libm::atan2(self.im, self.re))
    }

    /// |z|.
    pub(super) fn abs(self) -> f64 {
        libm::hypot(self.re, self.im)
    }
}

impl Add for Complex {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self::new(self.re + other.re, self.im + other.im)
    }
}

impl Sub for Complex {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self::new(self.re - other.re, self.im - other.im)
    }
}

impl Mul for Complex {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        Self::new(self.re * other.re - self.im * other.im, self.re * other.im + self.im * other.re)
    }
}

impl Mul<f64> for Complex {
    type Output = Self;
    fn mul(self, factor: f64) -> Self {
        Self::new(self.re * factor, self.im * factor)
    }
}

impl Div for Complex {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        let scale = other.re * other.re + other.im * other.im;
        Self::new(
            (self.re * other.re + self.im * other.im) / scale,
            (self.im * other.re - self.re * other.im) / scale,
        )
    }
}
