//! The strongest attack at every level of access, chosen without the target.

use crate::attacks::{AccessLevel, Attack, Headline};
use crate::findings::AccessFinding;
use crate::{Registry, Study};

/// For every level of access that an attack had, the attack that found most where references stood in for the target, among those
/// of the level and below it; where none could, the first by rank of the level itself. Empty where predictions are all that was seen.
pub(super) fn by_access(
    study: &Study,
    registry: &Registry,
    headline: &Headline,
    ran: &[&'static dyn Attack],
) -> Vec<AccessFinding> {
    let level = |attack: &'static dyn Attack| AccessLevel::of(attack.source(study));
    let own: Vec<&'static dyn Attack> =
        registry.by_rank().into_iter().filter(|attack| ran.contains(attack)).collect();
    let seen = AccessLevel::ALL
        .into_iter()
        .filter(|access| own.iter().any(|attack| level(*attack) == Some(*access)));
    let chosen = |access: AccessLevel| match &headline.plays {
        Some(plays) => {
            let is_meant = |attack| own.contains(&attack) && level(attack).is_some_and(|own| own <= access);
            let (attack, found) = plays.best(is_meant)?;
            Some((attack, format!("{} ({:.1} %)", plays.how, 100.0 * found)))
        }
        None => {
            let first = own.iter().copied().find(|attack| level(*attack) == Some(access))?;
            Some((first, "the first by rank: no reference model could stand in for the target".to_owned()))
        }
    };
    let finding = |access: AccessLevel| {
        let (attack, chosen) = chosen(access)?;
        Some(AccessFinding { access, attack: attack.name().to_owned(), chosen })
    };
    let found: Vec<AccessFinding> = seen.filter_map(finding).collect();
    if found.iter().any(|own| own.access != AccessLevel::Predictions) { found } else { Vec::new() }
}
