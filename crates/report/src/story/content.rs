//! What a story is made of.

use reticent_audit::findings::{EpsilonLower, Estimate, Performance, RateAt};
use serde::Serialize;

/// A guarantee of differential privacy.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Promise {
    /// ε, an upper bound.
    pub epsilon: f64,
    /// δ.
    pub delta: f64,
}

impl Promise {
    /// The guarantee of several results together, by basic composition; rounded up.
    pub fn together(all: impl IntoIterator<Item = Self>) -> Self {
        all.into_iter().fold(Self { epsilon: 0.0, delta: 0.0 }, |sum, one| Self {
            epsilon: (sum.epsilon + one.epsilon).next_up(),
            delta: if one.delta == 0.0 { sum.delta } else { (sum.delta + one.delta).next_up() },
        })
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
    /// The confidence of the interval.
    pub confidence: f64,
    /// What it cost.
    pub promise: Promise,
    /// What it would be without noise: only where the data are public.
    pub exact: f64,
    /// Rows of the table.
    pub rows: u64,
    /// The command that does it.
    pub command: String,
}

/// A trained model and how well it does.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TrainedModel {
    /// A short name.
    pub name: String,
    /// How it was trained, in words.
    pub about: String,
    /// Its guarantee; none without privacy.
    pub promise: Option<Promise>,
    /// Test rows that it classifies correctly.
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
    pub models: Vec<TrainedModel>,
}

/// What one way of adding up says.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AccountedEpsilon {
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
    pub accountants: Vec<AccountedEpsilon>,
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
pub struct MembershipStory {
    /// Records for which a fair coin was tossed.
    pub records: u64,
    /// Those that were trained on.
    pub members: u64,
    /// The two models.
    pub models: Vec<Attacked>,
}

/// A file or folder that was written.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WrittenFile {
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
    pub membership: MembershipStory,
    /// Everything that was written.
    pub files: Vec<WrittenFile>,
    /// What to try next.
    pub next: Vec<Next>,
    /// What the commands warned of.
    pub notes: Vec<String>,
}
