//! Secrets of a stated format planted in the texts of a language model: how exposed they are after training.

use super::disclosed::Disclosed;
use super::folder::{self, Subject};
use super::statement::{share, whole};
use super::target::RepeatedTexts;
use crate::folder::is_network;
use crate::train::{Computing, Device};
use crate::watch::Work;
use crate::{Planned, Refusal, Request, Session};
use reticent_attack::canary::{
    ExposedGroup, ExposureRun, ExposureSettings, SecretFormat, TrainingTexts, exposure,
};
use reticent_audit::attacks::AttackKind;
use reticent_audit::disclosure::{Disclosure, DisclosureBound, DisclosureMeasure};
use reticent_audit::exposure::{MOST_RANKED, RankMethod, UNSEEN, median_exposure};
use reticent_audit::findings::Threat;
use reticent_audit::interval;
use reticent_core::Code;
use reticent_data::text::{TokenKind, UNKNOWN, Vocabulary};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

/// How often a secret may be planted.
pub const REPETITIONS: RangeInclusive<u64> = 1..=65_536;
/// How many secrets a group may have.
pub const SECRETS: RangeInclusive<u64> = 1..=4096;
/// How many candidates may be drawn where there are too many to rank all.
pub const CANDIDATES: RangeInclusive<u64> = 100..=10_000_000;
/// How many continuations may be drawn from the model.
pub const CONTINUATIONS: RangeInclusive<u64> = 0..=1_000_000;

/// The training of a language model repeated with planted secrets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct PlantSecrets {
    /// The folder of a language model.
    pub model: PathBuf,
    /// What a secret looks like: a text with one place such as `{digits:4}`, `{lower:6}`, `{hex:8}` or `{abc:5}`, which is five of the
    /// symbols a, b and c.
    pub format: String,
    /// How often a secret is in the training data: a group of secrets for each number.
    pub repetitions: Vec<u64>,
    /// How many secrets each group has. As many that are never planted are ranked beside them.
    pub secrets: u64,
    /// How many candidates are drawn where there are more than a million of the format, and the rank is estimated.
    pub candidates: u64,
    /// How many continuations of the text before the secret are drawn from the model.
    pub continuations: u64,
    /// Confidence of intervals.
    pub confidence: f64,
    /// The key of the secrets; the same key gives the same secrets.
    pub key: String,
    /// The device that computes the network: `cpu` or `cuda`.
    pub device: Device,
    /// The number of examples that are computed at once; as many as fit if none is given.
    pub chunk: Option<u64>,
    /// The folder of the audit; by default a folder beside the model's, of its name and `-audit`.
    pub out: Option<PathBuf>,
}

impl Default for PlantSecrets {
    fn default() -> Self {
        Self {
            model: PathBuf::new(),
            format: "my pin is {digits:4}".to_owned(),
            repetitions: vec![1, 4, 16],
            secrets: 8,
            candidates: 100_000,
            continuations: 1000,
            confidence: 0.95,
            key: super::KEY.to_owned(),
            device: Device::Cpu,
            chunk: None,
            out: None,
        }
    }
}

/// A checked training with secrets.
pub struct PlantSecretsPlan {
    request: PlantSecrets,
    target: RepeatedTexts,
    settings: ExposureSettings,
    computing: Computing,
    subject: Subject,
    out: PathBuf,
}

impl Request for PlantSecrets {
    type Planned = PlantSecretsPlan;

    fn check(&self) -> Result<PlantSecretsPlan, Refusal> {
        if self.repetitions.is_empty() {
            return Err(Refusal::missing("repetitions", "give at least one number, e.g. 1,4,16"));
        }
        self.repetitions.iter().try_for_each(|times| whole("repetitions", *times, &REPETITIONS).map(drop))?;
        let secrets = whole("secrets", self.secrets, &SECRETS)?;
        let drawn = whole("candidates", self.candidates, &CANDIDATES)?;
        let continuations = whole("continuations", self.continuations, &CONTINUATIONS)?;
        share("confidence", self.confidence)?;
        let parsed = Parsed::of(&self.format)?;
        if !is_network(&self.model) {
            let why = "no network there: secrets are planted in language models that were trained with ⟦out⟧";
            return Err(Refusal::new(Code::NoModel, format!("{}: {why}", self.model.display())));
        }
        let out = folder::place(&self.model, self.out.as_deref())?;
        let computing = Computing::new(self.device, None, self.chunk);
        let target = RepeatedTexts::open(&self.model, computing)?;
        let settings = ExposureSettings {
            format: parsed.in_vocabulary(target.vocabulary())?,
            repetitions: self.repetitions.clone(),
            secrets,
            drawn,
            continuations,
            confidence: self.confidence,
            key: self.key.clone(),
        };
        let subject = Subject::of_model(&self.model)?;
        Ok(PlantSecretsPlan { request: self.clone(), target, settings, computing, subject, out })
    }
}

impl Planned for PlantSecretsPlan {
    type Outcome = Disclosed;

    /// Trains once with secrets, and ranks them. The training draws as the first one did; its model is thrown away.
    fn run(self, session: &mut Session) -> Result<Disclosed, Refusal> {
        session.unprotected("a training with planted secrets, whose model is attacked,")?;
        let Self { request, target, settings, computing, subject, out } = self;
        let repeated = target.training(session)?;
        let watch = session.watch();
        let stage = watch.begin(Work::Thinking);
        stage.say("training with secrets");
        watch.listen();
        let halt = watch.halt();
        let is_halted = || halt.load(Ordering::SeqCst);
        let texts = TrainingTexts {
            examples: &repeated.examples,
            owners: repeated.owners.as_ref().map(|(owners, unit)| (&owners[..], *unit)),
            is_shared: repeated.is_by_author,
        };
        let how = (computing.device, computing.resources);
        let ran = exposure(&settings, texts, &repeated.training, how, &is_halted)?;
        drop(stage);
        let disclosure = disclosure(&request, &ran, repeated.is_by_author)?;
        Disclosed::written(vec![disclosure], Vec::new(), ran.certificate, &subject, out)
    }
}

/// What is said about a run.
fn disclosure(request: &PlantSecrets, ran: &ExposureRun, is_by_author: bool) -> Result<Disclosure, Refusal> {
    let [never, planted @ ..] = &ran.groups[..] else { return Err(Refusal::internal("no group of secrets")) };
    let confidence = request.confidence;
    let condition = |group: &ExposedGroup| match group.repetitions {
        1 => "planted once".to_owned(),
        times => format!("planted {times} times"),
    };
    let without = median_exposure(&never.secrets, confidence)?;
    let mut measures = Vec::new();
    for group in planted {
        measures.push(DisclosureMeasure {
            what: "median exposure (bits)".to_owned(),
            condition: condition(group),
            rises: true,
            attack: median_exposure(&group.secrets, confidence)?,
            baseline: Some(without),
            difference: None,
        });
    }
    let found = |group: &ExposedGroup, count: usize| {
        interval::proportion(count as u64, group.secrets.len() as u64, confidence)
    };
    let first = |group: &ExposedGroup| group.secrets.iter().filter(|secret| secret.rank <= 1.0).count();
    let is_exact = never.secrets.iter().all(|secret| secret.method == RankMethod::Exact);
    for group in planted.iter().filter(|_| is_exact) {
        measures.push(DisclosureMeasure {
            what: "share of secrets that rank first of all".to_owned(),
            condition: condition(group),
            rises: true,
            attack: found(group, first(group)),
            baseline: Some(found(never, first(never))),
            difference: None,
        });
    }
    for group in planted.iter().filter(|_| ran.continuations > 0) {
        measures.push(DisclosureMeasure {
            what: format!("share of secrets among {} sampled continuations", ran.continuations),
            condition: condition(group),
            rises: true,
            attack: found(group, group.extracted),
            baseline: Some(found(never, never.extracted)),
            difference: None,
        });
    }
    // A unit holds all repetitions, or there is one: else the certificate speaks of fewer than a secret's texts.
    let is_one_unit = is_by_author || request.repetitions.iter().all(|times| *times == 1);
    let bound = ran.certificate.as_ref().filter(|_| is_one_unit);
    let method = match is_exact {
        true => "exact: all candidates were ranked".to_owned(),
        false => format!("estimated from {} drawn candidates", request.candidates),
    };
    let unit = if is_by_author {
        "all repetitions of a secret are one author's"
    } else {
        "every repetition is a row of its own"
    };
    let mut warnings = vec![
        "the training was repeated with secrets: the figures are about that run, and the model in the folder is from another run".to_owned(),
        format!("a model that has not seen a secret exposes it by {UNSEEN:.2} bits in the mean"),
        "no bound on epsilon: secrets were not planted by coin flips".to_owned(),
    ];
    if !is_exact {
        warnings.push(format!(
            "there are more than {MOST_RANKED} secrets of this format: exposures are estimated, and none above {:.1} bits can be seen",
            (request.candidates as f64 + 1.0).log2()
        ));
    }
    Ok(Disclosure {
        name: "secret-exposure".to_owned(),
        kind: AttackKind::Regurgitation,
        about: "secrets of a stated format, planted in the training texts and ranked by the model's loss among all others of the format \
                (Carlini et al. 2019)"
            .to_owned(),
        settings: BTreeMap::from([
            ("format".to_owned(), request.format.clone()),
            ("secrets of each group".to_owned(), request.secrets.to_string()),
            ("possible secrets".to_owned(), format!("2^{:.1}", ran.bits)),
            ("rank".to_owned(), method),
            ("unit".to_owned(), unit.to_owned()),
            ("key".to_owned(), request.key.clone()),
        ]),
        threat: Threat {
            access: "the probability of each next token".to_owned(),
            knowledge: "the format of the secret and the text before it".to_owned(),
            goal: AttackKind::Regurgitation.goal().to_owned(),
        },
        records: planted.iter().map(|group| group.secrets.len() as u64).sum(),
        measures,
        // Bits are off by less than 2⁻⁴⁴: the prior is rounded up.
        bound: bound.map(|certificate| {
            DisclosureBound::of(certificate, ((-ran.bits).exp2() * (1.0 + 1e-13)).min(1.0))
        }),
        warnings,
    })
}

/// A format as it was written.
#[derive(Debug, PartialEq, Eq)]
struct Parsed<'a> {
    before: &'a str,
    alphabet: Vec<char>,
    length: usize,
    after: &'a str,
}

impl<'a> Parsed<'a> {
    fn of(format: &'a str) -> Result<Self, Refusal> {
        let refuse = |why: &str| {
            let remedy =
                format!("{why}: give a text with one place for the secret, e.g. \"my pin is {{digits:4}}\"");
            Err(Refusal::value("format", format, remedy))
        };
        let (Some(open), Some(close)) = (format.find('{'), format.find('}')) else {
            return refuse("it has no {…}");
        };
        if close < open || format[close + 1..].contains(['{', '}']) || format[open + 1..close].contains('{') {
            return refuse("it has more than one {…}");
        }
        let Some((symbols, length)) = format[open + 1..close].rsplit_once(':') else {
            return refuse("the place has no length");
        };
        let Ok(length) = length.trim().parse::<usize>() else { return refuse("the length is not a number") };
        let alphabet: Vec<char> = match symbols {
            "digits" => ('0'..='9').collect(),
            "lower" => ('a'..='z').collect(),
            "upper" => ('A'..='Z').collect(),
            "letters" => ('a'..='z').chain('A'..='Z').collect(),
            "hex" => ('0'..='9').chain('a'..='f').collect(),
            own => own.chars().collect(),
        };
        Ok(Self { before: &format[..open], alphabet, length, after: &format[close + 1..] })
    }

    /// The format as tokens.
    fn in_vocabulary(&self, vocabulary: &Vocabulary) -> Result<SecretFormat, Refusal> {
        let missing = |what: String| {
            let remedy = "the vocabulary of the model does not have it: give symbols and words that it has";
            Refusal::value("format", what, remedy)
        };
        let mut alphabet = Vec::with_capacity(self.alphabet.len());
        for symbol in &self.alphabet {
            match vocabulary.positions_of(&symbol.to_string())[..] {
                [position] if position != UNKNOWN => alphabet.push(position),
                _ => return Err(missing(format!("the symbol \"{symbol}\""))),
            }
        }
        let text = |text: &str| -> Result<Vec<u32>, Refusal> {
            let found = vocabulary.positions_of(text);
            if found.contains(&UNKNOWN) {
                let what = if vocabulary.kind() == TokenKind::Words { "a word" } else { "a character" };
                return Err(missing(format!("{what} of \"{text}\"")));
            }
            Ok(found)
        };
        Ok(SecretFormat::new(text(self.before)?, alphabet, self.length, text(self.after)?)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_read() {
        let found = Parsed::of("my pin is {digits:4}.").unwrap();
        assert_eq!(
            (found.before, found.alphabet.len(), found.length, found.after),
            ("my pin is ", 10, 4, ".")
        );
        assert_eq!(Parsed::of("{x:y:3}").unwrap().alphabet, ['x', ':', 'y']);
        let format = found.in_vocabulary(&Vocabulary::characters()).unwrap();
        assert_eq!(format.count(), Some(10_000));
        for (format, why) in [
            ("my pin", "no {…}"),
            ("{digits:4} and {digits:4}", "more than one"),
            ("}{", "more than one"),
            ("{digits}", "no length"),
            ("{digits:four}", "not a number"),
        ] {
            let refusal = Parsed::of(format).unwrap_err();
            assert!(refusal.to_string().contains(why) && refusal.field() == Some("format"), "{refusal}");
        }
    }

    #[test]
    fn an_alphabet_that_is_not_in_the_vocabulary_is_refused() {
        let characters = Vocabulary::characters();
        let refuse =
            |format: &str| Parsed::of(format).unwrap().in_vocabulary(&characters).unwrap_err().to_string();
        assert!(refuse("pin {äöü:4}").contains("the symbol \"ä\""));
        assert!(refuse("größe {digits:4}").contains("a character of"));
        assert!(refuse("pin {aa:4}").contains("at least 2 symbols"));
        assert!(refuse("pin {digits:0}").contains("1 to 64"));
    }

    #[test]
    fn requests_without_meaning_are_refused_before_a_folder_is_opened() {
        let base = PlantSecrets::default;
        for (field, request) in [
            ("repetitions", PlantSecrets { repetitions: Vec::new(), ..base() }),
            ("repetitions", PlantSecrets { repetitions: vec![1, 0], ..base() }),
            ("secrets", PlantSecrets { secrets: 0, ..base() }),
            ("candidates", PlantSecrets { candidates: 1, ..base() }),
            ("confidence", PlantSecrets { confidence: 1.0, ..base() }),
            ("format", PlantSecrets { format: String::new(), ..base() }),
        ] {
            let refusal = request.check().err().unwrap();
            assert_eq!(refusal.field(), Some(field), "{refusal}");
        }
        assert_eq!(base().check().err().unwrap().code(), Code::NoModel);
    }
}
