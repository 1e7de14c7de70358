//! The story of a guided tour: a private statistic, three models, what the training cost, an audit of two more models, and
//! what was written.
//!
//! | file | what is in it |
//! |---|---|
//! | `parts` | the sections of the page |
//! | `figures` | their charts |

mod figures;
mod parts;

use crate::digits;
use crate::escape::escaped;
use crate::page::shell;
use crate::words;
use reticent_audit::findings::{EpsilonLower, Estimate, Performance, RateAt};
use reticent_audit::interval::two_sided;
use serde::Serialize;
use std::collections::BTreeMap;

/// A promise of differential privacy.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Promise {
    /// ε, an upper bound.
    pub epsilon: f64,
    /// δ.
    pub delta: f64,
}

impl Promise {
    /// `ε ≤ 3, δ = 1e-6`, rounded up.
    pub fn words(&self) -> String {
        let epsilon = format!("ε ≤ {}", digits::spent(self.epsilon));
        match self.delta {
            0.0 => epsilon,
            delta => format!("{epsilon}, δ = {}", digits::spent(delta)),
        }
    }
}

/// A number that was released with noise.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Statistic {
    /// What it is, as in `mean age`.
    pub what: String,
    /// The released value.
    pub value: f64,
    /// Its interval for the noise.
    pub interval: [f64; 2],
    /// How sure the interval is.
    pub confidence: f64,
    /// What it cost.
    pub promise: Promise,
    /// What it would be without noise: only where the data are public.
    pub exact: f64,
    /// Rows of the table.
    pub rows: u64,
    /// What does it again.
    pub command: String,
}

/// A trained model and how well it does.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Trained {
    /// A short name.
    pub name: String,
    /// How it was trained, in words.
    pub about: String,
    /// What is promised to the people in its training data; none without privacy.
    pub promise: Option<Promise>,
    /// Test rows that it gets right.
    pub right: u64,
    /// Their share.
    pub accuracy: f64,
    /// Where it is.
    pub folder: String,
    /// What does it again.
    pub command: String,
}

/// Models that were trained on the same rows and tested on the same others.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Models {
    /// Rows for training.
    pub training_rows: u64,
    /// Rows for testing.
    pub test_rows: u64,
    /// The share of the larger class among them.
    pub majority: f64,
    /// The models.
    pub models: Vec<Trained>,
}

/// What one way of adding up says.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Accounted {
    /// Its name on the command line.
    pub name: String,
    /// What it is.
    pub about: String,
    /// ε of the whole run; none where it cannot say.
    pub epsilon: Option<f64>,
    /// Whether that is proven.
    pub bound: bool,
    /// ε after so many steps, for drawing.
    #[serde(skip)]
    pub curve: Vec<(f64, f64)>,
}

/// The cost of one training run by several accountants.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Accounting {
    /// Steps of the run.
    pub steps: u64,
    /// The probability of each row to be in a step.
    pub sampling_rate: f64,
    /// Noise in units of the clipping norm.
    pub noise_multiplier: f64,
    /// δ of every number.
    pub delta: f64,
    /// The tightest first.
    pub accountants: Vec<Accounted>,
    /// The chart as a file.
    pub picture: String,
    /// What does it again.
    pub command: String,
}

/// A model under attack.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Attacked {
    /// A short name.
    pub name: String,
    /// How it was trained, in words.
    pub about: String,
    /// What is promised to the people in its training data; none without privacy.
    pub promise: Option<Promise>,
    /// Accuracy on its members.
    pub train_accuracy: f64,
    /// Accuracy on the others.
    pub test_accuracy: f64,
    /// The attack that was chosen beforehand.
    pub attack: String,
    /// How many models like it the attacker trained.
    pub references: u64,
    /// The area under the curve.
    pub auc: Estimate,
    /// Members found at the lowest false-positive rate that can be measured.
    pub rate: Option<RateAt>,
    /// What the attack proves about ε.
    pub epsilon_lower: Option<EpsilonLower>,
    /// The curve, for drawing.
    #[serde(skip)]
    pub performance: Performance,
    /// The full report of the audit.
    pub report: String,
    /// The report's place beside the page.
    #[serde(skip)]
    pub link: String,
    /// What does it again.
    pub commands: Vec<String>,
}

/// Models whose members were drawn by coins.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Membership {
    /// Records for which a fair coin was tossed.
    pub records: u64,
    /// Those that were trained on.
    pub members: u64,
    /// The two models.
    pub models: Vec<Attacked>,
}

/// A file or folder that was written.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Made {
    /// Where it is.
    pub path: String,
    /// Its place beside the page.
    #[serde(skip)]
    pub link: String,
    /// What it is.
    pub about: String,
}

/// Something to do next.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Next {
    /// The command.
    pub command: String,
    /// What it does.
    pub about: String,
}

/// The whole tour.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Story {
    /// Part 1.
    pub statistic: Statistic,
    /// Part 2.
    pub models: Models,
    /// Part 3.
    pub accounting: Accounting,
    /// Part 4.
    pub membership: Membership,
    /// Everything that was written.
    pub files: Vec<Made>,
    /// What to try next.
    pub next: Vec<Next>,
    /// What the commands warned of.
    pub notes: Vec<String>,
}

impl Statistic {
    /// `38.58 (95 %: 38.50 to 38.67)`, the ends rounded outwards.
    pub fn words(&self) -> String {
        let [value, low, high] = digits::with_interval(self.value, self.interval, false);
        words::interval(&value, self.confidence, &low, &high)
    }

    /// Whether the interval holds the exact value.
    pub fn holds(&self) -> bool {
        (self.interval[0]..=self.interval[1]).contains(&self.exact)
    }
}

impl Trained {
    /// `84.3 %`.
    pub fn words(&self) -> String {
        percent(self.accuracy)
    }

    /// What the number of test rows leaves open of the accuracy on people like them, at 95 %.
    fn interval(&self, rows: u64) -> (f64, f64) {
        two_sided(self.right.min(rows), rows.max(1), 0.05)
    }
}

impl Attacked {
    /// `0.69 (95 %: 0.67 to 0.71)`.
    pub fn auc_words(&self) -> String {
        words::estimate(&self.auc)
    }

    /// `13 % (95 %: 7 to 18 %)`: the members found at the false-positive rate of [`Attacked::rate`].
    pub fn found_words(&self) -> String {
        match &self.rate {
            Some(rate) => words::rate(rate).unwrap_or_else(|reason| reason),
            None => "not measurable: too few records".to_owned(),
        }
    }

    /// Members found at a false-positive rate, in words.
    pub fn rate_words(&self) -> String {
        match &self.rate {
            Some(rate) => {
                format!("{} of the members at {} false alarms", self.found_words(), words::percent(rate.fpr))
            }
            None => self.found_words(),
        }
    }

    /// `ε ≥ 2.81`, rounded down; none where no bound was asked for.
    pub fn lower_words(&self) -> Option<String> {
        self.epsilon_lower.as_ref().map(|bound| match bound.value > 0.0 {
            true => format!("ε ≥ {}", words::at_least(bound.value)),
            false => "nothing (ε ≥ 0)".to_owned(),
        })
    }
}

impl Accounted {
    /// ε of the run, rounded up where it is a bound.
    pub fn words(&self) -> String {
        match (self.epsilon, self.bound) {
            (None, _) => "-".to_owned(),
            (Some(epsilon), true) => digits::spent(epsilon),
            (Some(epsilon), false) => digits::brief(epsilon),
        }
    }
}

/// One decimal of a percentage.
pub fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

impl Story {
    /// The numbers that matter most, as they are shown everywhere.
    pub fn headline(&self) -> BTreeMap<String, String> {
        let mut lines = BTreeMap::from([(self.statistic.what.clone(), self.statistic.words())]);
        lines.extend(
            self.models.models.iter().map(|model| (format!("accuracy of {}", model.name), model.words())),
        );
        lines.extend(
            self.accounting
                .accountants
                .iter()
                .filter(|one| one.epsilon.is_some())
                .map(|one| (format!("epsilon by {}", one.name), one.words())),
        );
        for model in &self.membership.models {
            lines.insert(format!("AUC against {}", model.name), model.auc_words());
            lines.insert(format!("members found of {}", model.name), model.rate_words());
            if let Some(lower) = model.lower_words() {
                lines.insert(format!("epsilon proven of {}", model.name), lower);
            }
        }
        lines
    }

    /// The tour as one page of HTML: no script, nothing to load.
    pub fn html(&self) -> String {
        let title = escaped("A guided tour of private learning");
        let header = format!(
            "<p class=\"kicker\">reticent demo</p>\n<h1>{title}</h1>\n<p class=\"by\">The 1994 census extract “Adult” (Becker \
             and Kohavi 1996, CC BY 4.0): who earns more than 50,000 dollars?</p>\n"
        );
        let main = parts::summary(self) + &parts::sections(self);
        let footer = "Every number on this page comes from one run of <code>reticent demo</code>. Noise is fresh in every run: \
                      another one gives other numbers.";
        shell(&title, &header, &main, footer)
    }
}
