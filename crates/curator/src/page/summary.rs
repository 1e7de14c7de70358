//! What is said of a page beside its figures: its parts, its preview, its certificate.

use super::answer::Drawn;
use super::expected;
use super::outcome::{AnsweredQuestion, ExpectedQuestion, PageOutcome, PagePreview, PageUnit, ReleasedPart};
use super::pieces::form;
use super::plan::PlannedPage;
use super::request::BudgetSplit;
use crate::refusal::Refusal;
use reticent_core::{Certificate, Event, Fact, Neighboring};
use reticent_noise::Mechanism;
use reticent_noise::mechanism::Accuracy;
use reticent_noise::query::NoiseKind;
use reticent_noise::query::parts::{ContributionLimits, Part};

impl PlannedPage {
    /// The events of the page, in sequence.
    pub(super) fn all_events(&self) -> Vec<Event> {
        self.terms().events(&self.priced.mechanisms)
    }

    /// What is released, and for which questions.
    fn released(&self) -> Vec<ReleasedPart> {
        let mut parts = Vec::new();
        if let Some(selection) = &self.selection {
            let sides = match self.neighboring {
                Neighboring::AddRemove => 1.0,
                Neighboring::ReplaceOne => 2.0,
            };
            let groups = sides * self.unit.limits.groups() as f64;
            parts.push(ReleasedPart {
                about: format!("groups of {}", self.groups.columns.join(", ")),
                questions: self.asked.iter().map(|asked| asked.name.clone()).collect(),
                weight: None,
                weight_from: "keys".to_owned(),
                mechanism: "selection".to_owned(),
                why: format!(
                    "groups are not declared: those with a noisy number of at least {} are named",
                    selection.threshold()
                ),
                width: 1,
                l1: groups,
                l2: groups.sqrt(),
                error: selection.error(self.confidence),
                event: selection.event(),
            });
        }
        let by_error = self.split == BudgetSplit::ByError;
        for (piece, mechanism) in self.pieces.iter().zip(&self.priced.mechanisms) {
            let name = |question: usize| self.asked[question].name.clone();
            let (noise, sensitivity) = (self.kind, mechanism.sensitivity());
            let row = unit_row(&piece.part);
            parts.push(ReleasedPart {
                about: piece.need.about(),
                questions: piece.questions.iter().map(|question| name(*question)).collect(),
                weight: (!by_error).then_some(piece.weight),
                weight_from: name(piece.weight_from),
                mechanism: if noise == NoiseKind::Laplace { "laplace" } else { "gaussian" }.to_owned(),
                why: format!("{}; {}", self.why, form(piece)),
                width: piece.part.width(),
                l1: sensitivity.l1 as f64 / row,
                l2: sensitivity.l2 / row,
                error: mechanism.error(self.confidence) / row,
                event: mechanism.event(),
            });
        }
        parts
    }

    /// What the page would be like.
    pub(super) fn previewed(&self) -> Result<PagePreview, Refusal> {
        let mut questions = Vec::with_capacity(self.asked.len());
        let terms = self.terms();
        for (place, asked) in self.asked.iter().enumerate() {
            let piece = self.serving[place];
            let noise = &self.priced.noises[piece];
            let found = expected::error(asked, &self.pieces[piece], noise, &terms, self.confidence)?;
            let unit = if found.in_ranks { PageUnit::Ranks } else { asked.form.unit() };
            questions.push(ExpectedQuestion {
                name: asked.name.clone(),
                error: found.error,
                size: found.size,
                unit,
            });
        }
        Ok(PagePreview {
            dry_run: true,
            questions,
            parts: self.released(),
            groups: self.groups.count(),
            keys_file: self.groups.file.clone(),
            confidence: self.confidence.get(),
            unit: self.unit.name(),
            neighboring: self.neighboring,
            guarantee: self.priced.guarantee,
            accountant: self.priced.accountant.clone(),
            public: self.public(),
            warnings: self.warnings.clone(),
        })
    }

    /// What was drawn as an outcome with its certificate.
    pub(super) fn outcome(&self, rows: u64, drawn: Drawn) -> PageOutcome {
        let mut public = self.public();
        if self.unit.is_row() && self.neighboring == Neighboring::ReplaceOne {
            public.push(Fact::Rows(rows));
        }
        let mut warnings = self.warnings.clone();
        if drawn.groups == 0 {
            warnings.push(
                "no group was selected: give ⟦epsilon⟧ or ⟦delta⟧ more room, or declare the groups"
                    .to_owned(),
            );
        }
        let offset = usize::from(self.selection.is_some());
        let question = |(place, asked): (usize, &super::asked::Asked)| AnsweredQuestion {
            name: asked.name.clone(),
            kind: asked.kind.to_owned(),
            columns: asked.columns.clone(),
            parts: (0..offset).chain([self.serving[place] + offset]).collect(),
            clamped: self.pieces[self.serving[place]].need.clamped(),
        };
        let Drawn { rows: figures, events, .. } = drawn;
        PageOutcome {
            group_columns: self.groups.columns.clone(),
            questions: self.asked.iter().enumerate().map(question).collect(),
            rows: figures,
            confidence: self.confidence.get(),
            parts: self.released(),
            certificate: Certificate::compose(
                self.unit.name(),
                self.neighboring,
                events,
                self.priced.guarantee,
                self.priced.accountant.clone(),
                public,
            ),
            warnings,
        }
    }
}

/// One row, or one unit of the column for sums, in the part's own integers.
fn unit_row(part: &Part) -> f64 {
    match part {
        Part::Sum(column) | Part::PersonSum(column) => 1.0 / column.step(),
        Part::Moments { .. } | Part::Joint(..) => part
            .sensitivity(&ContributionLimits::ROW, Neighboring::AddRemove, 1)
            .map_or(1.0, |sensitivity| sensitivity.l1 as f64),
        _ => 1.0,
    }
}
