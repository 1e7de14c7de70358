use crate::AuditError;

/// Scores of one attack, larger for records that look like members, beside the truth.
#[derive(Debug, Clone, PartialEq)]
pub struct Membership {
    scores: Vec<f64>,
    members: Vec<bool>,
    member_count: usize,
}

impl Membership {
    /// Checked scores.
    ///
    /// # Errors
    /// [`AuditError::Invalid`] for scores that are not numbers and for lists of different lengths;
    /// [`AuditError::NotMeasurable`] when all records are members, none is, or all scores are the same.
    pub fn new(scores: Vec<f64>, members: Vec<bool>) -> Result<Self, AuditError> {
        if scores.len() != members.len() {
            let remedy = format!("give one for each of the {} scores", scores.len());
            return Err(AuditError::invalid("member", format!("{} values", members.len()), remedy));
        }
        if let Some(place) = scores.iter().position(|score| score.is_nan()) {
            let remedy = "give a number for every record, or leave the record out";
            return Err(AuditError::invalid("score", format!("NaN in record {}", place + 1), remedy));
        }
        let member_count = members.iter().filter(|member| **member).count();
        if member_count == 0 || member_count == members.len() {
            let who = if member_count == 0 { "no record is a member" } else { "every record is a member" };
            let reason = format!(
                "{who} ({} records): an audit compares members with non-members, so give both",
                members.len()
            );
            return Err(AuditError::not_measurable(reason));
        }
        if scores.iter().all(|score| *score == scores[0]) {
            let reason = format!("all {} scores are {}: they tell no records apart", scores.len(), scores[0]);
            return Err(AuditError::not_measurable(reason));
        }
        Ok(Self { scores, members, member_count })
    }

    /// The scores, record by record.
    pub fn scores(&self) -> &[f64] {
        &self.scores
    }

    /// Who is a member, record by record.
    pub fn members(&self) -> &[bool] {
        &self.members
    }

    /// How many records there are.
    pub fn len(&self) -> usize {
        self.scores.len()
    }

    /// Whether there are none; never so.
    pub fn is_empty(&self) -> bool {
        self.scores.is_empty()
    }

    /// How many of them are members; at least one.
    pub fn member_count(&self) -> usize {
        self.member_count
    }

    /// How many are not; at least one.
    pub fn non_member_count(&self) -> usize {
        self.len() - self.member_count
    }
}
