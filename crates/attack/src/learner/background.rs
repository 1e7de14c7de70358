use super::{Artifact, ArtifactPart, Halt, Learner, Wanted};
use crate::AttackError;
use reticent_train::digest::digest;

/// A learner over some of its records, while others are in every model.
///
/// So models can be trained on as many records as a target was, although only few of them are audited.
#[derive(Clone)]
pub struct WithBackground<'a> {
    inner: &'a dyn Learner,
    /// The records of this learner, by their number in the inner one.
    audited: Vec<usize>,
    /// Records of the inner one that are always in.
    background: Vec<usize>,
    identity: String,
}

impl<'a> WithBackground<'a> {
    /// Records of `inner` to audit, and records that are always in.
    ///
    /// # Errors
    /// [`AttackError::Invalid`] when a record is named twice or is not there.
    pub fn new(
        inner: &'a dyn Learner,
        audited: Vec<usize>,
        background: Vec<usize>,
    ) -> Result<Self, AttackError> {
        let mut named = vec![false; inner.records()];
        for record in audited.iter().chain(&background) {
            match named.get_mut(*record) {
                Some(named) if !*named => *named = true,
                Some(_) => {
                    let remedy = "name every record once, among the audited or in the background";
                    return Err(AttackError::invalid("record", record, remedy));
                }
                None => {
                    let remedy = format!("give numbers below {}", inner.records());
                    return Err(AttackError::invalid("record", record, remedy));
                }
            }
        }
        let identity = digest(&("background", inner.identity(), &audited, &background));
        Ok(Self { inner, audited, background, identity })
    }
}

impl Learner for WithBackground<'_> {
    fn records(&self) -> usize {
        self.audited.len()
    }

    fn identity(&self) -> String {
        self.identity.clone()
    }

    fn is_repeatable(&self) -> bool {
        self.inner.is_repeatable()
    }

    fn kind(&self) -> &'static str {
        self.inner.kind()
    }

    fn offers(&self, part: ArtifactPart) -> bool {
        self.inner.offers(part)
    }

    fn white_box(&self) -> Wanted {
        self.inner.white_box()
    }

    fn fit(
        &self,
        inside: &[usize],
        key: &str,
        wanted: &Wanted,
        halt: Halt<'_>,
    ) -> Result<Artifact, AttackError> {
        let mut records: Vec<usize> = inside.iter().map(|record| self.audited[*record]).collect();
        records.extend_from_slice(&self.background);
        records.sort_unstable();
        self.inner.fit_about(&records, &self.audited, key, wanted, halt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reticent_audit::{Outputs, OutputsKind};

    /// Says which records it was trained on.
    struct Confessing;

    impl Learner for Confessing {
        fn records(&self) -> usize {
            6
        }

        fn identity(&self) -> String {
            "confessing".to_owned()
        }

        fn is_repeatable(&self) -> bool {
            true
        }

        fn kind(&self) -> &'static str {
            "confessing models"
        }

        fn offers(&self, part: ArtifactPart) -> bool {
            part == ArtifactPart::Weights
        }

        fn fit(
            &self,
            inside: &[usize],
            _key: &str,
            wanted: &Wanted,
            _halt: Halt<'_>,
        ) -> Result<Artifact, AttackError> {
            assert!(inside.is_sorted());
            let said = |record| [f32::from(u8::from(inside.contains(&record))), record as f32];
            let outputs = Outputs::new(OutputsKind::Logits, 2, (0..6).flat_map(said).collect())?;
            let weights = wanted.weights.then(|| vec![inside.len() as f32]);
            Ok(Artifact { weights, ..outputs.into() })
        }
    }

    #[test]
    fn the_background_is_always_in_and_never_asked_about() {
        let learner = WithBackground::new(&Confessing, vec![5, 1], vec![0, 4]).unwrap();
        let wanted = Wanted { weights: true, ..Wanted::default() };
        let found = learner.fit(&[0], "k", &wanted, &|| false).unwrap();
        assert_eq!(found.weights, Some(vec![3.0]), "the audited record and the background");
        let outputs = found.outputs.unwrap();
        assert_eq!((outputs.len(), learner.records()), (2, 2));
        assert_eq!((outputs.record(0), outputs.record(1)), (&[1.0, 5.0][..], &[0.0, 1.0][..]));
        let all = Confessing.fit(&[0, 4, 5], "k", &Wanted::default(), &|| false).unwrap().outputs.unwrap();
        assert_eq!(all.record(0), &[1.0, 0.0]);
        assert!(WithBackground::new(&Confessing, vec![5, 1], vec![1]).is_err());
        assert!(WithBackground::new(&Confessing, vec![6], vec![]).is_err());
        let other = WithBackground::new(&Confessing, vec![5, 1], vec![0]).unwrap();
        assert_ne!(learner.identity(), other.identity());
    }

    #[test]
    fn what_the_inner_learner_cannot_give_is_refused() {
        let learner = WithBackground::new(&Confessing, vec![5, 1], vec![0]).unwrap();
        assert!(Wanted { weights: true, ..Wanted::default() }.check(&learner).is_ok());
        let wanted = Wanted { weights: true, gradients: true, ..Wanted::default() };
        let refusal = wanted.check(&learner).unwrap_err();
        assert!(
            matches!(refusal, AttackError::NotOffered { part: ArtifactPart::Gradients, .. }),
            "{refusal}"
        );
        assert!(refusal.to_string().contains("confessing models"), "{refusal}");
    }
}
