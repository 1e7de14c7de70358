//! Part 3: what the network's training cost, by several accountants.

use super::call::Call;
use super::models::NETWORK;
use super::recipe::NETWORK_DELTA;
use super::{Halt, Tour};
use crate::digits;
use crate::explain::Code;
use crate::fail::Fail;
use reticent::curator::account::{AccountantComparison, Curves, TrainingShorthand};
use reticent::curator::stored::read_certificate;
use reticent::report::story::{AccountedEpsilon, Accounting};

/// The chart as a file.
pub(super) const PICTURE: &str = "accounting.svg";

/// Accountants by name, the tightest first; the last one is not a bound.
const ABOUT: [(&str, &str, bool); 7] = [
    ("pld", "tight: the whole privacy loss distribution", true),
    ("rdp", "Rényi divergences of all orders", true),
    ("moments", "the moments accountant of Abadi et al. (2016)", true),
    ("optimal", "optimal composition of the (ε, δ) of single steps", true),
    ("advanced", "advanced composition of the (ε, δ) of single steps", true),
    ("basic", "basic composition: the sum over all steps", true),
    ("published", "not a bound: strong composition as published by Abadi et al. (2016)", false),
];

pub(super) fn tell(tour: &mut Tour) -> Result<Accounting, Halt> {
    tour.narrator.title("3  What the training cost")?;
    let (noise, rate, steps) = run(tour)?;
    tour.narrator.say(&format!(
        "The network was trained for {steps} steps with sampling rate {} and noise multiplier {}. How much do all steps together reveal \
         about one person? The bound depends on the accountant: the noise is the same, but some proofs are tighter than others.",
        digits::brief(rate),
        digits::brief(noise)
    ))?;
    let call = Call::new("account compare")
        .flag("--noise-multiplier", &noise.to_string())
        .flag("--sampling-rate", &rate.to_string())
        .flag("--steps", &steps.to_string())
        .flag("--delta", NETWORK_DELTA)
        .flag("--plot", &tour.folder.shown(PICTURE));
    let (found, warnings) = tour.waiting("composing the steps", |_| Ok(call.compared()?))?;
    let warnings = warnings.lines().map(|line| line.trim_start_matches("warning: ").to_owned());
    tour.note(&warnings.collect::<Vec<_>>());
    let accounting = Accounting {
        steps,
        sampling_rate: rate,
        noise_multiplier: noise,
        delta: found.delta,
        accountants: ABOUT.iter().map(|about| accounted(about, &found)).collect(),
        picture: tour.folder.shown(PICTURE),
        command: call.shown(),
    };
    let rows: Vec<Vec<String>> = accounting
        .accountants
        .iter()
        .map(|one| vec![one.name.clone(), format!("ε = {}", one.words()), one.about.clone()])
        .collect();
    tour.narrator.table(&rows)?;
    tour.narrator.say(&format!(
        "All at δ = {}. The certificate of the network states the first one. The plot: {}",
        digits::exactly(accounting.delta),
        accounting.picture
    ))?;
    tour.narrator.say("The same by hand, and from the certificate:")?;
    tour.narrator.command(&accounting.command)?;
    let certificate = tour.folder.shown(&format!("{NETWORK}/certificate.json"));
    let whole = Call::new("account compare").flag("--events", &certificate).flag("--delta", NETWORK_DELTA);
    tour.narrator.command(&whole.shown())?;
    Ok(accounting)
}

fn accounted((name, about, bound): &(&str, &str, bool), found: &AccountantComparison) -> AccountedEpsilon {
    let of = |name: &str| {
        found.accountants.iter().find(|row| row.accountant.name() == name).and_then(|row| row.epsilon)
    };
    let epsilon = match bound {
        true => of(name),
        false => found.not_bounds.as_ref().and_then(|numbers| numbers.strong_composition_as_published),
    };
    let curve = found.curves.as_ref().map_or_else(Vec::new, |curves| {
        let points = curves.steps.iter().zip(values(curves, name));
        let points = points.filter_map(|(steps, value)| value.map(|value| (*steps as f64, value)));
        points.filter(|(_, value)| *value > 0.0).collect()
    });
    let about = match (*name, of("advanced") == of("basic")) {
        ("advanced", true) => format!("{about}: no better than basic composition here"),
        _ => (*about).to_owned(),
    };
    AccountedEpsilon { name: (*name).to_owned(), about, epsilon, bound: *bound, curve }
}

/// The curve of an accountant.
fn values<'a>(curves: &'a Curves, name: &str) -> &'a [Option<f64>] {
    match name {
        "pld" => &curves.pld,
        "rdp" => &curves.rdp,
        "moments" => &curves.moments,
        "optimal" => &curves.optimal,
        "advanced" => &curves.advanced,
        "basic" => &curves.basic,
        _ => &curves.strong_composition_as_published,
    }
}

/// Noise, rate and steps of exactly the run that the network's certificate covers.
fn run(tour: &Tour) -> Result<(f64, f64, u64), Fail> {
    let other = || {
        Fail::new(
            Code::Internal,
            "the network's certificate is not about sampled Gaussian steps: please report it",
        )
    };
    let certificate = read_certificate(&tour.folder.path(NETWORK))?.ok_or_else(other)?;
    match TrainingShorthand::of(&certificate) {
        Some(TrainingShorthand {
            noise_multiplier: Some(noise),
            sampling_rate: Some(rate),
            steps: Some(steps),
            ..
        }) => Ok((noise, rate, steps)),
        _ => Err(other()),
    }
}
