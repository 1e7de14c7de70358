//! Values outside the bounds: a warning before the release, and a noisy count.

use super::plan::PlannedRelease;
use crate::refusal::Refusal;
use reticent_core::rounding::{mul_down, sub_down};
use reticent_core::{Code, Epsilon};
use reticent_data::Schema;
use reticent_data::schema::{FeatureKind, PrivacyUnit};
use reticent_noise::Releaser;
use reticent_noise::query::{self, Answer, QueryTerms};
use serde::Serialize;
use std::path::Path;

/// The share of ε that a count of clamped values gets.
const COUNTING_SHARE: f64 = 0.05;

/// What was asked about clamping.
pub(super) struct Clamping {
    count: bool,
    warnings: Vec<String>,
}

impl Clamping {
    pub(super) fn of(
        count: bool,
        schema: Option<&Path>,
        column: &str,
        bounds: [f64; 2],
    ) -> Result<Self, Refusal> {
        let mut warnings = Vec::new();
        if let Some(path) = schema {
            let schema = Schema::read(path).map_err(Refusal::data("schema"))?;
            if schema.is_draft() {
                let remedy = "this schema is a draft computed from the data: replace its bounds with public ones first";
                return Err(Refusal::value("schema", path.display(), remedy).coded(Code::Schema));
            }
            if let PrivacyUnit::Column(unit) = schema.unit() {
                let remedy = format!(
                    "{} protects all rows of one {unit} together, and without a limit this statistic protects each row by itself: say \
                     how many rows of one {unit} count at most (in Python with release.page; `release limits` and suggest_limits estimate it), or give a schema whose unit is row",
                    path.display()
                );
                return Err(Refusal::missing("rows", remedy));
            }
            warnings.extend(inside(&schema, column, bounds));
        }
        Ok(Self { count, warnings })
    }

    /// The plan with part of its ε set aside.
    pub(super) fn into(self, mut plan: PlannedRelease) -> Result<PlannedRelease, Refusal> {
        plan.warnings = self.warnings;
        if self.count {
            let whole = plan.terms.epsilon.get();
            let counting = Epsilon::new(COUNTING_SHARE * whole)?;
            // A little less, so that the parts of the answer add up to no more than was asked for, rounded up each.
            plan.terms.epsilon = Epsilon::new(mul_down(sub_down(whole, counting.get()), 1.0 - 1e-15))?;
            plan.counting = Some(counting);
        }
        Ok(plan)
    }
}

/// Warns about bounds that exclude values allowed by the schema.
fn inside(schema: &Schema, column: &str, [low, high]: [f64; 2]) -> Option<String> {
    let declared = schema.columns().iter().find(|known| known.name == column)?;
    let FeatureKind::Numeric(allowed) = &declared.kind else { return None };
    (low > allowed.low() || high < allowed.high()).then(|| {
        format!(
            "⟦bounds⟧ {low},{high}: inside of the schema's bounds {} to {}: values between are clamped, and the answer is about \
             clamped values (⟦count_clamped⟧ counts them)",
            allowed.low(),
            allowed.high()
        )
    })
}

/// A noisy count of the values that are outside the bounds or not numbers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Clamped {
    /// The interval of the count, at the release's confidence.
    #[serde(serialize_with = "super::outcome::whole_pair")]
    pub interval: [f64; 2],
    /// The count, not below 0.
    #[serde(serialize_with = "super::outcome::whole")]
    pub value: f64,
}

impl Clamped {
    /// Counts them with a part of ε.
    ///
    /// A row is one of them or is not, so one more, less or another row moves the count by at most 1 under either relation.
    pub(super) fn count(
        plan: &PlannedRelease,
        epsilon: Epsilon,
        outside: u64,
        source: &mut impl Releaser,
    ) -> Result<Answer<i128>, Refusal> {
        let terms = QueryTerms {
            neighboring: plan.terms.neighboring,
            confidence: plan.terms.confidence,
            ..QueryTerms::pure(epsilon)
        };
        Ok(query::count(source, &terms, outside)?)
    }

    /// A warning if clamping changed the answer at the confidence level.
    pub(super) fn warning(&self) -> Option<String> {
        (self.interval[0] > 0.0).then(|| {
            format!(
                "at least {} values are outside of ⟦bounds⟧ or not numbers: the answer and its interval are about clamped \
                 values, and the values as they are may give another",
                self.interval[0]
            )
        })
    }
}
