//! `account formula`: closed formulas of the textbooks.

use super::typed::Typed;
use super::words;
use crate::Output;
use crate::args::formula::{Claim, Formula as Flags};
use crate::digits::{self, RoundingSide};
use crate::fail::Fail;
use crate::text::{aligned, columns, json_line};
use reticent::core::Neighboring;
use reticent::curator::account::{
    ChoiceMechanism, CompositionFormulas, Formula, FormulaResult, GaussianFormulas,
    OutputPerturbationFormulas, SelectionFormula, SensitivityFormulas,
};

/// Evaluates a formula.
pub(super) fn run(flags: &Flags) -> Result<Output, Fail> {
    let mut typed = Typed::default();
    let (formula, json) = read(flags, &mut typed)?;
    let found = formula.evaluate().map_err(|refusal| typed.fail(refusal))?;
    let stdout = if json { json_line(&found)? } else { crate::screen::present(&text(&found)) };
    Ok(Output { stdout, ..Output::default() })
}

/// The formula with its numbers, and whether one line of JSON is wanted.
fn read(flags: &Flags, typed: &mut Typed) -> Result<(Formula, bool), Fail> {
    Ok(match flags {
        Flags::PrivateChoice(own) => {
            let choices = choices(&own.choices)?;
            let epsilon = needed("epsilon", &own.epsilon, typed);
            let sensitivity = typed.needed("sensitivity", Some(&own.sensitivity), "");
            let shortfall = typed.number("shortfall", own.shortfall.as_deref());
            let (mechanism, monotone): (ChoiceMechanism, bool) = (own.mechanism.parse()?, own.monotone);
            (Formula::Selection { choices, epsilon, sensitivity, mechanism, monotone, shortfall }, own.json)
        }
        Flags::QuerySensitivity(own) => {
            let counts = own.counts.as_deref().map(|text| typed.count("counts", text));
            let overlap = own.overlap.as_deref().map(|text| typed.count("overlap", text));
            let dataset_size = own.dataset_size.as_deref().map(|text| typed.count("dataset_size", text));
            let bounds = match &own.bounds {
                None => None,
                Some(text) => match typed.list("bounds", text)[..] {
                    [low, high] => Some([low, high]),
                    _ => {
                        return Err(Fail::flag("--bounds", text, "give two numbers, the lower first: LO,HI"));
                    }
                },
            };
            (Formula::Sensitivity { counts, overlap, bounds, dataset_size }, own.json)
        }
        Flags::GaussianNoise(own) => {
            let (epsilon, delta) = claim(&own.claim, typed);
            let sensitivity = typed.needed("sensitivity", Some(&own.sensitivity), "");
            (Formula::Gaussian { epsilon, delta, sensitivity }, own.claim.json)
        }
        Flags::RandomRecord(own) => {
            (Formula::RandomRecord { dataset_size: typed.count("dataset_size", &own.dataset_size) }, own.json)
        }
        Flags::Composition(own) => {
            let (epsilon, delta) = claim(&own.claim, typed);
            let count = typed.count("count", &own.count);
            let probability = typed.number("probability", own.probability.as_deref());
            (Formula::Composition { epsilon, count, delta, probability }, own.claim.json)
        }
        Flags::OutputPerturbation(own) => {
            let (epsilon, delta) = claim(&own.claim, typed);
            let dataset_size = typed.count("dataset_size", &own.dataset_size);
            let regularization = typed.needed("regularization", Some(&own.regularization), "");
            let lipschitz = typed.needed("lipschitz", Some(&own.lipschitz), "");
            let formula =
                Formula::OutputPerturbation { epsilon, delta, dataset_size, regularization, lipschitz };
            (formula, own.claim.json)
        }
        Flags::SampleSize(own) => {
            let (epsilon, delta) = claim(&own.claim, typed);
            let excess = typed.needed("excess", Some(&own.excess), "");
            let failure = typed.needed("failure", Some(&own.failure), "");
            let dimension = typed.count("dimension", &own.dimension);
            let radius = typed.needed("radius", Some(&own.radius), "");
            let lipschitz = typed.needed("lipschitz", Some(&own.lipschitz), "");
            let formula =
                Formula::SampleSize { epsilon, delta, excess, failure, dimension, radius, lipschitz };
            (formula, own.claim.json)
        }
        Flags::ProjectedSgd(own) => {
            let (epsilon, delta) = claim(&own.claim, typed);
            let dataset_size = typed.count("dataset_size", &own.dataset_size);
            let steps = typed.count("steps", &own.steps);
            let lipschitz = typed.needed("lipschitz", Some(&own.lipschitz), "");
            (Formula::ProjectedSgd { epsilon, delta, dataset_size, steps, lipschitz }, own.claim.json)
        }
    })
}

fn needed(field: &'static str, text: &Option<String>, typed: &mut Typed) -> f64 {
    let example = if field == "delta" { "1e-5" } else { "0.5" };
    typed.needed(field, text.as_deref(), &format!("give the {field} of the claim, e.g. --{field} {example}"))
}

fn claim(flags: &Claim, typed: &mut Typed) -> (f64, f64) {
    (needed("epsilon", &flags.epsilon, typed), needed("delta", &flags.delta, typed))
}

/// Candidates with their scores.
fn choices(text: &str) -> Result<Vec<(String, f64)>, Fail> {
    let one = |part: &str| {
        let (name, score) = part.rsplit_once('=')?;
        let score: f64 = score.trim().parse().ok()?;
        (score.is_finite() && !name.trim().is_empty()).then(|| (name.trim().to_owned(), score))
    };
    let all: Option<Vec<_>> = text.split(',').map(one).collect();
    all.ok_or_else(|| {
        Fail::flag("--choices", text, "give names with finite scores, such as dark=500,brown=399")
    })
}

fn up(value: f64) -> String {
    digits::spent(value)
}

fn down(value: f64) -> String {
    digits::significant(value, 4, RoundingSide::Down)
}

fn pair(name: &str, text: String) -> (String, String) {
    (name.to_owned(), text)
}

/// The numbers in lines.
fn text(found: &FormulaResult) -> String {
    let relation = |neighboring: Neighboring| pair("neighboring", words::relation(neighboring));
    match found {
        FormulaResult::Selection(found) => selection(found),
        FormulaResult::Sensitivity(found) => sensitivity(found),
        FormulaResult::Gaussian(found) => gaussian(found),
        FormulaResult::RandomRecord(found) => {
            let headline = format!("epsilon = 0 at delta = {}\n", up(found.delta));
            let records = format!("one of {} records in full, chosen at random", found.dataset_size);
            headline + &aligned(&[pair("published", records), relation(found.neighboring)])
        }
        FormulaResult::Composition(found) => composition(found),
        FormulaResult::OutputPerturbation(found) => output_perturbation(found),
        FormulaResult::SampleSize(found) => aligned(&[
            pair("records", found.dataset_size.to_string()),
            pair("regularization", digits::exactly(found.regularization)),
            pair("excess risk", format!("at most {}", digits::exactly(found.excess))),
            pair(
                "may fail",
                format!("with probability at most {}", digits::exactly(found.failure_probability)),
            ),
            relation(found.neighboring),
        ]),
        FormulaResult::ProjectedSgd(found) => {
            let (epsilon, delta) = (digits::exactly(found.epsilon), digits::exactly(found.delta));
            let headline =
                format!("sigma = {} for epsilon = {epsilon} at delta = {delta}\n", up(found.sigma));
            let certified = format!("epsilon = {} for this sigma (pld)", up(found.pld));
            headline + &aligned(&[pair("certified", certified), relation(found.neighboring)])
        }
    }
}

fn lines(rows: &[Vec<String>]) -> String {
    columns(rows).iter().map(|line| format!("{line}\n")).collect()
}

fn selection(found: &SelectionFormula) -> String {
    let mut rows = vec![vec!["candidate".to_owned(), "score".to_owned(), "probability".to_owned()]];
    rows.extend(found.candidates.iter().map(|one| {
        let probability = match one.probability {
            share if share >= 1e-6 => format!("{share:.6}"),
            share => format!("{share:.2e}"),
        };
        vec![one.name.clone(), digits::exactly(one.score), probability]
    }));
    let monotone = if found.monotone { ", monotone scores" } else { "" };
    let bound = format!("less than {} below the best with probability", digits::exactly(found.shortfall));
    let details = [
        pair("any scores", format!("{bound} at least {}", down(found.bound))),
        pair("mechanism", format!("{}{monotone}", found.mechanism.name())),
        pair(
            "claim",
            format!(
                "epsilon = {} for sensitivity {}",
                digits::exactly(found.epsilon),
                digits::exactly(found.sensitivity)
            ),
        ),
    ];
    lines(&rows) + &aligned(&details)
}

fn sensitivity(found: &SensitivityFormulas) -> String {
    let mut rows = vec![["query", "neighboring", "L1", "L2"].map(str::to_owned).to_vec()];
    rows.extend(
        found
            .sensitivities
            .iter()
            .map(|row| vec![row.query.to_owned(), row.neighboring.to_string(), up(row.l1), up(row.l2)]),
    );
    lines(&rows)
}

fn gaussian(found: &GaussianFormulas) -> String {
    let mut rows = vec![["formula", "sigma", "true delta", "holds"].map(str::to_owned).to_vec()];
    let mut notes = Vec::new();
    for one in &found.formulas {
        let number = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), up);
        let holds = if one.holds { "yes" } else { "no" };
        rows.push(vec![one.formula.to_owned(), number(one.sigma), number(one.delta), holds.to_owned()]);
        notes.extend(one.reason.iter().map(|reason| pair(one.formula, reason.clone())));
    }
    lines(&rows) + &aligned(&notes)
}

fn composition(found: &CompositionFormulas) -> String {
    let headline = format!("epsilon at delta = {}\n", digits::exactly(found.delta));
    let renyi = match (found.renyi, &found.reason) {
        (Some(value), _) => up(value),
        (None, reason) => format!("refused: {}", reason.as_deref().unwrap_or_default()),
    };
    let mut rows = vec![
        pair("  Rényi form", renyi),
        pair("  advanced", up(found.advanced)),
        pair("  basic", up(found.basic)),
        pair("  pld", up(found.pld)),
    ];
    if let Some(outcome) = &found.outcome {
        let q = digits::exactly(outcome.probability);
        let text = format!("at most {} (Rényi form), {} (pld)", up(outcome.renyi), up(outcome.tight));
        rows.push(pair(&format!("  outcome of probability {q}"), text));
    }
    headline + &aligned(&rows)
}

fn output_perturbation(found: &OutputPerturbationFormulas) -> String {
    let classical = match (found.classical_sigma, &found.reason) {
        (Some(sigma), _) => up(sigma),
        (None, reason) => format!("refused: {}", reason.as_deref().unwrap_or_default()),
    };
    aligned(&[
        pair("sensitivity", up(found.sensitivity)),
        pair("sigma, analytic", up(found.sigma)),
        pair("sigma, classical", classical),
        pair("neighboring", words::relation(found.neighboring)),
    ])
}
