use crate::entropy::Bits;

/// Uniform on {0, …, n − 1}, n ≥ 1 (Lemire's multiply and reject).
#[inline]
pub fn uniform_below<B: Bits>(bits: &mut B, n: u64) -> u64 {
    debug_assert!(n > 0);
    if n == 1 {
        return 0;
    }
    loop {
        let product = u128::from(bits.word()) * u128::from(n);
        let low = product as u64;
        // The lowest 2^64 mod n values of `low` are one too many for some results.
        if low >= n || low >= n.wrapping_neg() % n {
            return (product >> 64) as u64;
        }
    }
}
