//! Events on disjoint parts of the data.
//!
//! Under add-remove a record is in one part, so in each direction δ(ε) is the largest of the parts' own. Which part it
//! is may depend on earlier answers, so what composes is the pair whose profile is that largest one (see the proof).
//! Under replace-one a record may leave one part and enter another: the parts are then all pairs of parts, one after the
//! other.

use super::compound::compound;
use super::events::{End, Found, Pair, unsupported};
use super::loss::{Direction, PrivacyLoss};
use super::{AccountingError, Side};
use reticent_core::{Event, Neighboring};

/// Parts that are told apart at most, after those that another is worse than everywhere are left out.
const MOST_PARTS: usize = 24;

/// Where parts are compared to choose one for the floor.
const COMPARED: f64 = 1e-6;

impl Found {
    /// What a record may meet, each possibility a list of its own; none that certainly loses no more than another.
    pub(crate) fn possibilities(&self, events: &[Event]) -> Result<Vec<Self>, AccountingError> {
        let mut parts = Vec::new();
        for event in events {
            let mut part = Self::new(self.neighboring, self.end);
            part.collect(event, 1)?;
            if !part.is_empty() {
                parts.push(part);
            }
        }
        let met = match self.neighboring {
            Neighboring::AddRemove => 1,
            Neighboring::ReplaceOne => 2,
        };
        let parts = worst_of_each_kind(parts, met);
        if parts.len() > MOST_PARTS {
            return Err(unsupported("parallel", "it has too many different parts: use rdp"));
        }
        if self.neighboring == Neighboring::AddRemove || parts.len() < 2 {
            return Ok(parts);
        }
        let mut pairs = Vec::new();
        for (i, left) in parts.iter().enumerate() {
            for entered in &parts[i + 1..] {
                let mut both = left.clone();
                both.absorb(entered, 1.0);
                pairs.push(both);
            }
        }
        Ok(pairs)
    }

    /// The same list with every choice of a part replaced by what is never better (for the floor: by one of the parts).
    pub(super) fn settled(&self) -> Result<Self, AccountingError> {
        let mut list = Self { parallels: Vec::new(), ..self.clone() };
        for (count, parts) in &self.parallels {
            let settled = parts.iter().map(Self::settled).collect::<Result<Vec<Self>, AccountingError>>()?;
            match self.end {
                End::Floor => {
                    if let Some(worst) = worst(&settled) {
                        list.absorb(worst, *count);
                    }
                }
                End::Ceiling => {
                    let (pair, leak) = envelope(&settled)?;
                    list.log_kept += count * libm::log1p(-leak);
                    list.parts.push((*count, pair));
                }
            }
        }
        Ok(list)
    }

    /// The whole list as a single loss that is the same both ways, if it is one.
    pub(super) fn single(&self) -> Result<Option<PrivacyLoss>, AccountingError> {
        let list = self.settled()?;
        if list.is_empty() {
            return Ok(None);
        }
        let unknown = || unsupported("this list of events", "it is not known as a single loss");
        if list.log_kept != 0.0 || !list.shuffled.is_empty() {
            return Err(unknown());
        }
        let losses: Vec<(f64, PrivacyLoss)> = list.losses(Direction::Remove).collect();
        if losses != list.losses(Direction::Add).collect::<Vec<(f64, PrivacyLoss)>>() {
            return Err(unknown());
        }
        match compound(&losses, self.end) {
            Some(one) if one.leak == 0.0 => Ok(Some(one.loss)),
            _ => Err(unknown()),
        }
    }
}

/// How strong a part is among those of its kind, which differ in one number only.
fn kind(part: &Found) -> Option<(u8, f64)> {
    match &part.parts[..] {
        [(1.0, Pair::Same(loss))] if part.log_kept == 0.0 && part.parallels.is_empty() => match loss {
            PrivacyLoss::Gaussian(sigma) => Some((0, -sigma)),
            PrivacyLoss::Laplace(epsilon) => Some((1, *epsilon)),
            PrivacyLoss::Response { epsilon, plus, minus } if (plus + minus - 1.0).abs() < 1e-15 => {
                Some((2, *epsilon))
            }
            _ => None,
        },
        _ => None,
    }
}

/// At most `met` of every kind and of equals: the others lose no more.
fn worst_of_each_kind(mut parts: Vec<Found>, met: usize) -> Vec<Found> {
    let strength = |part: &Found| kind(part).map_or(0.0, |(_, strength)| strength);
    parts.sort_by(|a, b| strength(b).total_cmp(&strength(a)));
    let mut kept: Vec<Found> = Vec::new();
    for part in parts {
        let alike = |other: &&Found| match (kind(other), kind(&part)) {
            (Some((one, _)), Some((two, _))) => one == two,
            _ => **other == part,
        };
        if kept.iter().filter(alike).count() < met {
            kept.push(part);
        }
    }
    kept
}

/// The part that loses most at a usual δ; any of them is one that a record may meet.
fn worst(parts: &[Found]) -> Option<&Found> {
    let cost = |part: &Found| {
        let mut side = Side::default();
        match side.extend(part) {
            Err(_) => 0.0,
            Ok(()) => match side.epsilon(COMPARED) {
                Ok(bracket) => bracket.lower,
                Err(AccountingError::Impossible(_)) => -1e300 * part.log_kept,
                Err(_) => 0.0,
            },
        }
    };
    let costs: Vec<f64> = parts.iter().map(cost).collect();
    parts.iter().zip(costs).max_by(|a, b| a.1.total_cmp(&b.1)).map(|(part, _)| part)
}

/// The pair whose δ(ε) is the largest of the parts', given that nothing is revealed outright, and the probability that
/// everything is.
fn envelope(parts: &[Found]) -> Result<(Pair, f64), AccountingError> {
    let unknown = || unsupported("parallel", "a part has a loss that is out of reach: use rdp");
    let mut branches = Vec::new();
    for part in parts {
        let own = -libm::expm1(part.log_kept);
        let one = |direction: Direction| -> Result<(f64, PrivacyLoss), AccountingError> {
            let losses: Vec<(f64, PrivacyLoss)> = part.losses(direction).collect();
            // A part without a loss is one of loss 0.
            let Some(found) =
                (if losses.is_empty() { Some(nothing()) } else { compound(&losses, End::Ceiling) })
            else {
                return Err(unknown());
            };
            Ok((own + (1.0 - own) * found.leak, found.loss))
        };
        branches.push((one(Direction::Remove)?, one(Direction::Add)?));
    }
    let leak = branches.iter().map(|(remove, add)| remove.0.max(add.0)).fold(0.0, f64::max);
    // Room for what rounding does where a part that reveals less decides.
    let leak = (leak * (1.0 + 1e-13)).min(1.0);
    Ok((Pair::Envelope { leak, branches }, leak))
}

fn nothing() -> super::compound::Compound {
    super::compound::Compound {
        loss: PrivacyLoss::Response { epsilon: 0.0, plus: 0.5, minus: 0.5 },
        leak: 0.0,
    }
}
