use crate::Session;
use reticent_noise::entropy::Bits;
use reticent_noise::sampler::uniform_below;

/// One fair coin for each of so many records, from the session's generator: who is to be in the training data of a model whose
/// audit may then say `drawn = 0.5` and state a bound.
///
/// ```
/// use reticent_curator::{Session, audit::coins};
///
/// let inside = coins(1000, &mut Session::without_limit()?);
/// let train_on: Vec<usize> = (0..1000).filter(|record| inside[*record]).collect();
/// // Nine standard deviations around a half.
/// assert!((350..=650).contains(&train_on.len()));
/// # Ok::<(), reticent_curator::Refusal>(())
/// ```
///
/// # Guarantee
/// The coins are fair, independent of each other and of what is in the records: the premise of a bound from one run.
pub fn coins(records: usize, session: &mut Session) -> Vec<bool> {
    (0..records).map(|_| session.entropy().bit()).collect()
}

/// A number from 0 up to but not including `below` for each of so many records, from the session's generator: folds of a
/// cross-validation, and keys. Below 1, every number is 0.
///
/// # Guarantee
/// The numbers are uniform and independent of each other and of what is in the records.
pub fn uniform(records: usize, below: u64, session: &mut Session) -> Vec<u64> {
    (0..records).map(|_| uniform_below(session.entropy(), below.max(1))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn about_half_are_in() {
        let mut session = Session::without_limit().unwrap();
        let inside = coins(4096, &mut session).into_iter().filter(|inside| *inside).count();
        // Six deviations of 32.
        assert!((1856..=2240).contains(&inside), "{inside}");
        assert!(coins(0, &mut session).is_empty());
        let folds = uniform(5000, 5, &mut session);
        for fold in 0..5 {
            // Seven deviations of 28.
            let size = folds.iter().filter(|own| **own == fold).count();
            assert!((800..=1200).contains(&size), "{size}");
        }
        assert_eq!(uniform(3, 1, &mut session), [0, 0, 0]);
    }
}
