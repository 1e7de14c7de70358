//! The story of a guided tour: a private statistic, three models, what the training cost, an audit of two more models, and
//! what was written.
//!
//! | file | what is in it |
//! |---|---|
//! | `content` | what it is made of |
//! | `parts` | the sections of the page |
//! | `figures` | their charts |

mod content;
mod figures;
mod parts;

pub use content::{
    AccountedEpsilon, Accounting, Attacked, MembershipStory, Models, Next, Promise, Statistic, Story,
    TrainedModel, WrittenFile,
};

use crate::digits;
use crate::markup::{Element, Markup};
use crate::page::{Opening, document};
use crate::words;
use reticent_accounting::posterior::posterior;
use reticent_audit::interval::two_sided;
use reticent_core::{Epsilon, Probability};
use std::collections::BTreeMap;

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

impl TrainedModel {
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
                format!("{} TPR at {} FPR", self.found_words(), words::percent(rate.fpr))
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

impl AccountedEpsilon {
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

/// The largest posterior probability that one person is in the data, for an attacker who knows everyone else and starts at 50:50, under a
/// pure ε; rounded up.
pub fn surer(epsilon: f64) -> String {
    let even = Epsilon::new(epsilon).and_then(|epsilon| Ok(posterior(epsilon, Probability::new(0.5)?)));
    let share = even.map_or(1.0, |range| range.upper);
    format!("{} %", digits::significant(100.0 * share, 3, digits::RoundingSide::Up))
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
        let opening = Opening {
            kicker: "reticent demo",
            title: "A guided tour of private learning",
            by: "The 1994 census extract “Adult” (Becker and Kohavi 1996, CC BY 4.0): who earns more than 50,000 dollars?",
        };
        let mut main = Markup::default();
        main.push(parts::summary(self)).push(parts::sections(self));
        let mut footer = Markup::text("Every number on this page comes from one run of ");
        footer.push(Element::new("code").child("reticent demo"));
        footer.push(". Noise is drawn afresh in every run, so another run gives other numbers.");
        document(&opening, main, footer)
    }
}
