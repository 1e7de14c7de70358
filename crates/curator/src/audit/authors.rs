//! What an audit by author says besides rates: on whom it rests, whom it hits, and which samples leak.

use super::case::AuthorCase;
use crate::{Refusal, Session};
use reticent_audit::findings::{AuthorPage, AuthorsFinding};
use reticent_audit::private::{PrivateAuthor, PrivateSample};
use reticent_audit::vulnerability::{RecordSettings, SampleLeak, by_record, sample_leaks};
use reticent_audit::{AuditError, Examination, Study};
use reticent_core::Certificate;
use reticent_data::keyed_hash;
use reticent_noise::entropy::Bits;
use std::collections::{BTreeMap, BTreeSet};

/// Samples that are listed of an author.
const LISTED: usize = 5;

impl AuthorCase {
    /// Which author every id is, as CSV.
    pub(super) fn origins(&self, ids: &[String], members: &[bool]) -> String {
        let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
        let lines = ids.iter().zip(&self.names).zip(members).map(|((id, name), member)| {
            let from = if *member { "training data" } else { "other data" };
            format!("{id},{from},{}\n", quoted(name))
        });
        format!("id,from,{}\n{}", quoted(&self.column), lines.collect::<String>())
    }

    /// Adds what is said about authors.
    pub(super) fn state(
        &self,
        study: &Study,
        examination: &mut Examination,
        certificate: Option<&Certificate>,
        session: &mut Session,
    ) -> Result<(), Refusal> {
        let count = study.len();
        let counts: Vec<usize> = self.places.iter().map(Vec::len).collect();
        let most = counts.iter().copied().max().unwrap_or(0);
        let leaks = match sample_leaks(study, &counts, most) {
            Ok(leaks) => leaks,
            Err(AuditError::NotMeasurable(_)) => vec![Vec::new(); count],
            Err(error) => return Err(error.into()),
        };
        // The key of the pseudonyms is in no file: who knows all names cannot try them.
        let key = format!("{:016x}{:016x}", session.entropy().word(), session.entropy().word());
        let pseudonyms: Vec<String> =
            self.names.iter().map(|name| format!("{:016x}", keyed_hash(&key, name.as_bytes()))).collect();
        let scores = examination
            .scores
            .iter()
            .find(|(attack, _)| attack.name() == examination.findings.headline)
            .map_or_else(|| vec![0.0; count], |(_, scores)| scores.clone());
        let confidence = examination.findings.attacks.first().map_or(0.95, |own| own.performance.auc.confidence);
        let ranked = by_record(study, &scores, &RecordSettings { worst: count, confidence })?;
        let numbers: BTreeMap<&str, usize> =
            study.parts().ids.iter().enumerate().map(|(place, id)| (id.as_str(), place)).collect();
        let order: Vec<(usize, _)> =
            ranked.worst.iter().filter_map(|own| Some((*numbers.get(own.id.as_str())?, own))).collect();
        let shown = examination.findings.records.as_ref().map_or(0, |records| records.worst.len());
        let pages = (1..).zip(&order).take(shown).map(|(place, (author, own))| AuthorPage {
            author: pseudonyms[*author].clone(),
            place,
            separation: own.separation,
            accuracy: own.accuracy,
            gains: gains(&leaks[*author]),
        });
        examination.findings.authors = Some(AuthorsFinding {
            column: self.column.clone(),
            authors: count as u64,
            samples: self.samples,
            premise: self.samples.premise().to_owned(),
            samples_per_author: self.samples_per_author,
            fewest_samples: self.fewest,
            most_samples: self.most,
            one_author: 1.0 / self.trained.max(1) as f64,
            pages: pages.collect(),
        });
        let private = order.iter().map(|(author, own)| PrivateAuthor {
            pseudonym: pseudonyms[*author].clone(),
            id: own.id.clone(),
            author: self.names[*author].clone(),
            member: own.member,
            score: own.score,
            samples: self.listed(*author, &leaks[*author]),
        });
        examination.private.authors = private.collect();
        self.warn(certificate, &mut examination.findings.warnings);
        Ok(())
    }

    /// The rows that leak most; a row is as exposed as the most exposed of its pieces.
    fn listed(&self, author: usize, leaks: &[SampleLeak]) -> Vec<PrivateSample> {
        let mut seen = BTreeSet::new();
        let first = leaks.iter().filter(|leak| seen.insert(self.places[author][leak.sample])).take(LISTED);
        let sample = |leak: &SampleLeak| {
            let (file, row) = self.places[author][leak.sample];
            PrivateSample { from: self.files[file].clone(), row: u64::from(row) + 1, leak: leak.leak }
        };
        first.map(sample).collect()
    }

    fn warn(&self, certificate: Option<&Certificate>, warnings: &mut Vec<String>) {
        warnings.push(format!("every figure is about authors ({}): {}", self.column, self.samples.premise()));
        let delta = certificate.map(|certificate| certificate.guarantee.delta.get());
        if let Some(delta) = delta.filter(|delta| delta * self.trained as f64 >= 1.0) {
            warnings.push(format!(
                "the certificate's delta of {delta:e} is not below 1/{}, one over the authors of the training data: such a guarantee allows a \
                 model that gives one author away in full",
                self.trained
            ));
        }
        if self.known > 0 {
            warnings.push(format!(
                "{} authors of the other data are in the training data too: they are members, and these samples of theirs are not used",
                self.known
            ));
        }
        if self.left_out > 0 {
            warnings.push(format!("{} authors have too few samples to be asked about and are not audited", self.left_out));
        }
    }
}

/// The largest gains, the largest first.
fn gains(leaks: &[SampleLeak]) -> Vec<f64> {
    let mut gains: Vec<f64> = leaks.iter().filter_map(|leak| leak.gain).collect();
    gains.sort_unstable_by(|a, b| b.total_cmp(a));
    gains.truncate(LISTED);
    gains
}
