//! One attack on a table of scores, and the list of attacks.

use crate::Output;
use crate::args::audit::AttackRun;
use crate::audit::{request, session, shown};
use crate::fail::Fail;
use crate::file::Target;
use crate::text::{aligned, json_line};
use reticent::curator::audit::{Audit, Listed, Outcome, attacks};
use reticent::curator::{Planned, Request};

/// All attacks.
pub(super) fn list(json: bool) -> Result<Output, Fail> {
    let known = attacks();
    let stdout = if json {
        json_line(&known)?
    } else {
        let line =
            |attack: &Listed| (attack.name.to_owned(), format!("{} (needs {})", attack.about, attack.needs));
        aligned(&known.attacks.iter().map(line).collect::<Vec<_>>())
    };
    Ok(Output { stdout, ..Output::default() })
}

/// One attack.
pub(super) fn run(arguments: &AttackRun, progress: bool) -> Result<Output, Fail> {
    let file = arguments.out.as_deref().map(Target::csv);
    file.iter().try_for_each(Target::check)?;
    let plan = Audit::Scores(request::single(arguments)?).check()?;
    let outcome = plan.run(&mut session(progress && !arguments.json)?)?;
    if let (Some(file), Outcome::Found(found)) = (&file, &outcome) {
        found.write_scores(file.path)?;
    }
    shown(&outcome, arguments.statement.plot.as_deref(), arguments.json)
}
