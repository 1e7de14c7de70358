//! `reticent schema`: flags → request of the curator → output.

mod render;

use crate::Output;
use crate::args::schema::{Infer, Question};
use crate::bar::Terminal;
use crate::fail::Fail;
use crate::file::Target;
use crate::typed::Typed;
use reticent::curator::schema::LearnSchema;
use reticent::curator::{Planned, Request, Session};

/// Answers one question.
pub(crate) fn run(question: &Question, progress: bool) -> Result<Output, Fail> {
    let Question::Infer(arguments) = question;
    let mut typed = Typed::default();
    let request = LearnSchema {
        file: arguments.file.clone(),
        label: arguments.label.clone(),
        positive: arguments.positive.clone(),
        unit: arguments.unit.clone(),
        ignore: arguments.ignore.clone(),
        epsilon: typed.optional("epsilon", arguments.epsilon.as_deref()),
        delta: typed.optional("delta", arguments.delta.as_deref()),
    };
    let planned = typed.checked(request.check())?;
    match target(arguments) {
        Some(target) if arguments.force => target.check()?,
        Some(target) => target.check_new()?,
        None => {}
    }
    let mut session = Session::without_limit()?.watched(Box::new(Terminal { progress }));
    render::output(arguments, &planned.run(&mut session)?)
}

/// The file to write, if one was asked for.
fn target(arguments: &Infer) -> Option<Target<'_>> {
    arguments.out.as_deref().map(|path| Target { flag: "--out", path, extension: "toml" })
}

#[cfg(test)]
mod tests;
