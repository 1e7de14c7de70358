//! Who attacks and what they have.

use super::Attack;
use crate::Study;
use crate::findings::Threat;

pub(super) fn of(attack: Attack, study: &Study) -> Threat {
    let parts = study.parts();
    let count = parts.references.len();
    let models = if count == 1 { "1 model".to_owned() } else { format!("{count} models") };
    let scored = attack == Attack::GivenScore || parts.target.is_none() || parts.labels.is_none();
    let access = if scored {
        "a score of each record, computed by whoever ran the audit"
    } else {
        "probabilities of all classes for each record"
    };
    let knowledge = match attack {
        Attack::GivenScore => "whatever the given score was made of".to_owned(),
        Attack::YeomLoss | Attack::ModifiedEntropy => "the record and its true class".to_owned(),
        Attack::YeomPerClass if count == 0 => {
            "the record, its true class, and other records of the class".to_owned()
        }
        Attack::YeomPerClass => {
            format!("the record, its true class, and {models} trained on data like the target's")
        }
        Attack::QuantileRegression => {
            "the record, and records that are known not to be in the training data".to_owned()
        }
        Attack::Shokri | Attack::LiraOnline | Attack::Base => {
            format!("the record, and {models} trained on data like the target's, with it and without it")
        }
        Attack::LiraOffline | Attack::LiraOfflineTwoTailed | Attack::BaseOffline => {
            format!("the record, and {models} trained on data like the target's, some without it")
        }
        Attack::RmiaOffline => format!(
            "the record, {models} trained on data like the target's, some without it, and other records to \
             compare with"
        ),
        Attack::RmiaOnline => format!(
            "the record, {models} trained on data like the target's, with it and without it, and other \
             records to compare with"
        ),
    };
    let goal = "tell whether the record was in the training data".to_owned();
    Threat { access: access.to_owned(), knowledge, goal }
}
