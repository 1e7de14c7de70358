use crate::AuditError;
use std::collections::BTreeMap;

/// Scores of one attack, larger for records that look like members, beside the truth.
///
/// Records are independent of each other unless users are given: then only records of different users are.
#[derive(Debug, Clone, PartialEq)]
pub struct Membership {
    scores: Vec<f64>,
    members: Vec<bool>,
    member_count: usize,
    users: Option<Vec<u32>>,
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
        Ok(Self { scores, members, member_count, users: None })
    }

    /// The same records, of which those of one user depend on each other. Intervals then hold for independent users.
    ///
    /// # Errors
    /// [`AuditError::Invalid`] for another number of users than of records.
    pub fn with_users(mut self, users: &[String]) -> Result<Self, AuditError> {
        if users.len() != self.len() {
            let remedy = format!("give one for each of the {} records", self.len());
            return Err(AuditError::invalid("user", format!("{} users", users.len()), remedy));
        }
        let mut numbers: BTreeMap<&str, u32> = BTreeMap::new();
        let mut own = Vec::with_capacity(users.len());
        for user in users {
            let next = numbers.len() as u32;
            own.push(*numbers.entry(user).or_insert(next));
        }
        self.users = (numbers.len() < users.len()).then_some(own);
        Ok(self)
    }

    /// The number of every record's user, from 0; none when no user has two records.
    pub fn users(&self) -> Option<&[u32]> {
        self.users.as_deref()
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
