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
        let confidence =
            examination.findings.attacks.first().map_or(0.95, |own| own.performance.auc.confidence);
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
            warnings.push(format!(
                "{} authors have too few samples to be asked about and are not audited",
                self.left_out
            ));
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

#[cfg(test)]
mod tests {
    use crate::audit::{Audit, Audited, Fitting, ModelAudit, Outcome, PlantSecrets};
    use crate::train::Train;
    use crate::{Planned, Refusal, Request, Session};
    use reticent_audit::AuditUnit;
    use reticent_audit::findings::AuthorSamples;
    use reticent_core::Code;
    use reticent_data::text::TokenKind;
    use std::fs;
    use std::path::{Path, PathBuf};

    /// Lines of so many writers from a number on, each with words of its own.
    fn texts(file: &Path, writers: std::ops::Range<usize>, samples: usize, shift: usize) -> PathBuf {
        let line = |writer: usize, sample: usize| {
            let letter = |at: usize| {
                let word = super::keyed_hash("texts", format!("{writer} {} {at}", sample + shift).as_bytes());
                char::from(b'a' + (word % 20) as u8)
            };
            format!("writer {writer},{}\n", (0..9).map(letter).collect::<String>())
        };
        let lines = writers.flat_map(|writer| (0..samples).map(move |sample| line(writer, sample)));
        fs::write(file, "who,say\n".to_owned() + &lines.collect::<String>()).unwrap();
        file.to_owned()
    }

    struct Place {
        folder: tempfile::TempDir,
        model: PathBuf,
    }

    /// A model of ten writers that has learnt them by heart.
    fn trained() -> Place {
        let folder = tempfile::tempdir().unwrap();
        let (data, model) = (folder.path().join("own.csv"), folder.path().join("run"));
        texts(&data, 0..10, 3, 0);
        let schema = folder.path().join("schema.toml");
        fs::write(&schema, "unit = { column = \"who\" }\n[columns]\n").unwrap();
        let text = |text: &str| Some(text.to_owned());
        let train = Train {
            data: Some(data),
            schema: Some(schema),
            text_column: text("say"),
            tokens: Some(TokenKind::Characters),
            length: Some(12),
            model: text("lstm-lm"),
            optimizer: text("adam"),
            learning_rate: Some(0.02),
            steps: Some(40),
            batch_size: Some(8),
            non_private: Some(true),
            out: Some(model.clone()),
            ..Train::default()
        };
        train.check().unwrap().run(&mut Session::without_limit().unwrap()).unwrap();
        Place { folder, model }
    }

    impl Place {
        fn path(&self, name: &str) -> PathBuf {
            self.folder.path().join(name)
        }

        fn audit(&self, others: &Path, fitting: Fitting) -> Result<Audited, Refusal> {
            let out = Some(self.path("audit"));
            let fitting = Fitting { non_members: Some(others.to_owned()), threads: Some(1), ..fitting };
            let request =
                Audit::Model(ModelAudit { model: self.model.clone(), fitting, out, ..ModelAudit::default() });
            match request.check()?.run(&mut Session::without_limit()?)? {
                Outcome::Found(found) => Ok(*found),
                Outcome::Interrupted(_) => Err(Refusal::internal("interrupted")),
            }
        }
    }

    #[test]
    fn a_model_is_audited_by_author_and_names_nobody() {
        let place = trained();
        let others = texts(&place.path("others.csv"), 20..30, 3, 0);
        let fitting = Fitting { references: 6, unit: Some("who".to_owned()), ..Fitting::default() };
        let found = place.audit(&others, fitting.clone()).unwrap().findings;
        let authors = found.authors.as_ref().unwrap();
        assert_eq!(
            (authors.authors, authors.samples, authors.most_samples),
            (20, AuthorSamples::TrainedOn, 3)
        );
        assert!((authors.one_author - 0.1).abs() < 1e-12 && !authors.pages.is_empty());
        let names: Vec<&str> = found.attacks.iter().map(|own| own.name.as_str()).collect();
        assert_eq!(names, ["author-loss", "author-ranks", "author-lira-offline", "author-lira-online"]);
        let first = &found.attacks[0].performance;
        assert_eq!((first.unit, first.members, first.non_members), (AuditUnit::User, 10, 10));
        assert!(first.auc.value > 0.8, "{:?}", first.auc);
        // Twenty authors are too few for any rate.
        assert!(first.rates.iter().all(|rate| rate.tpr.is_none() && rate.reason.is_some()));
        assert!(found.epsilon_lower.is_none(), "no coins, no bound");
        let shared = fs::read_to_string(place.path("audit/audit.json")).unwrap();
        assert!(!shared.contains("writer"), "{shared}");
        let private = fs::read_to_string(place.path("audit/private.json")).unwrap();
        assert!(private.contains("writer 3") && private.contains("own.csv"));
        assert!(
            fs::read_to_string(place.path("audit/records.csv"))
                .unwrap()
                .contains("training data,\"writer 3\"")
        );
        // Fresh samples of everybody: the same question without the very texts.
        let fresh = texts(&place.path("fresh.csv"), 0..30, 2, 5);
        let fitting = Fitting { samples: Some(fresh), samples_per_author: Some(2), references: 0, ..fitting };
        let found = place.audit(&others, fitting).unwrap().findings;
        let authors = found.authors.unwrap();
        assert_eq!((authors.samples, authors.samples_per_author), (AuthorSamples::Fresh, Some(2)));
        assert!(
            authors.pages.is_empty()
                && found.warnings.iter().any(|text| text.contains("other samples of the author"))
        );
    }

    #[test]
    fn what_is_not_an_audit_of_authors_gets_one_clear_line() {
        let place = trained();
        let others = texts(&place.path("others.csv"), 20..30, 3, 0);
        let none = || Fitting { references: 0, ..Fitting::default() };
        let refuse = |others: &Path, fitting: Fitting| place.audit(others, fitting).err().unwrap();
        let wrong = refuse(&others, Fitting { unit: Some("speaker".to_owned()), ..none() });
        assert!(wrong.field() == Some("unit") && wrong.to_string().contains("the column who"), "{wrong}");
        let one = texts(&place.path("one.csv"), 20..21, 3, 0);
        let alone = refuse(&one, none());
        assert!(
            alone.code() == Code::NotMeasurable && alone.to_string().contains("1 of 1 others"),
            "{alone}"
        );
        let same = refuse(&place.path("own.csv"), none());
        assert!(
            same.field() == Some("non_members") && same.to_string().contains("is in the training data"),
            "{same}"
        );
        let few = refuse(&others, Fitting { samples_per_author: Some(4), ..none() });
        assert!(few.to_string().contains("0 of 10 authors of the training data"), "{few}");
        let zero = refuse(&others, Fitting { samples_per_author: Some(0), ..none() });
        assert_eq!(zero.field(), Some("samples_per_author"));
        let seen = refuse(&others, Fitting { white_box: true, ..none() });
        assert_eq!(seen.field(), Some("white_box"));
        for refusal in [wrong, alone, same, few, seen] {
            assert_eq!(refusal.to_string().lines().count(), 1, "{refusal}");
        }
    }

    #[test]
    fn planted_secrets_are_ranked_and_written_beside_the_model() {
        let place = trained();
        let request = PlantSecrets {
            model: place.model.clone(),
            format: "pin {digits:2}".to_owned(),
            repetitions: vec![30],
            secrets: 1,
            continuations: 50,
            out: Some(place.path("audit")),
            ..PlantSecrets::default()
        };
        let found = request.check().unwrap().run(&mut Session::without_limit().unwrap()).unwrap();
        let own = &found.disclosures[0];
        assert_eq!((own.name.as_str(), own.records, own.measures.len()), ("secret-exposure", 1, 3));
        assert!(own.measures[0].what.contains("exposure") && own.bound.is_none());
        assert!(own.measures[0].attack.value <= 100f64.log2() && own.measures[0].attack.value >= 0.0);
        assert!(place.path("audit/disclosures/secret-exposure.json").is_file());
        let long =
            PlantSecrets { format: "a text that is too long {digits:4}".to_owned(), ..request.clone() };
        let refusal = long.check().unwrap().run(&mut Session::without_limit().unwrap()).unwrap_err();
        assert!(refusal.to_string().contains("12 tokens at a time"), "{refusal}");
        let odd = PlantSecrets { format: "pin {äöü:3}".to_owned(), ..request };
        assert!(odd.check().err().unwrap().to_string().contains("the symbol \"ä\""));
    }
}
