//! `reticent schema`: flags → request of the curator → output.

mod render;

use crate::Output;
use crate::args::schema::Question;
use crate::budget::charged;
use crate::fail::Fail;
use crate::typed::Typed;
use reticent::curator::Request;
use reticent::curator::schema::LearnSchema;

/// Runs `schema infer`.
pub(crate) fn run(question: &Question, progress: bool) -> Result<Output, Fail> {
    let Question::Infer(arguments) = question;
    let mut typed = Typed::default();
    let request = LearnSchema {
        file: arguments.file.clone(),
        reading: arguments.reading.reading(),
        label: arguments.label.clone(),
        positive: arguments.positive.clone(),
        unit: arguments.unit.clone(),
        ignore: arguments.ignore.clone(),
        epsilon: typed.optional("epsilon", arguments.epsilon.as_deref()),
        delta: typed.optional("delta", arguments.delta.as_deref()),
        out: arguments.out.clone(),
        force: arguments.force,
    };
    let planned = typed.checked(request.check())?;
    let (learnt, standing) = charged(&request, planned, &arguments.budget, None, progress)?;
    render::output(learnt, arguments.json, standing.as_ref())
}

#[cfg(test)]
mod tests;
