//! One attack on a table of scores, and the list of attacks.

use crate::Output;
use crate::args::audit::AttackRun;
use crate::audit::{Asked, Shown, answer, draw, drawn, study};
use crate::bar::Stage;
use crate::fail::Fail;
use crate::file::Target;
use crate::text::{aligned, json_line};
use reticent::audit::attacks::Attack;
use reticent::audit::examine;
use reticent::audit::table::write_scores;
use reticent::data::make_private;
use serde_json::json;

/// All attacks.
pub(super) fn list(json: bool) -> Result<Output, Fail> {
    let stdout = if json {
        let attacks: Vec<_> = Attack::ALL
            .iter()
            .map(|attack| json!({"name": attack.name(), "about": attack.about(), "needs": attack.needs()}))
            .collect();
        json_line(&json!({ "attacks": attacks }))?
    } else {
        let lines: Vec<(String, String)> = Attack::ALL
            .iter()
            .map(|attack| {
                (attack.name().to_owned(), format!("{} (needs {})", attack.about(), attack.needs()))
            })
            .collect();
        aligned(&lines)
    };
    Ok(Output { stdout, ..Output::default() })
}

/// One attack.
pub(super) fn run(arguments: &AttackRun, progress: bool) -> Result<Output, Fail> {
    let file = arguments.out.as_deref().map(|path| Target { flag: "--out", path, extension: "csv" });
    file.iter().try_for_each(Target::check)?;
    let asked = Asked::of(&arguments.statement, std::slice::from_ref(&arguments.name), None)?;
    let flag = draw(arguments.drawn.as_deref())?;
    let study = drawn(study(&arguments.table)?, flag, &arguments.statement)?;
    let stage = Stage::new(progress && !arguments.json);
    let examination = examine(&study, &asked.settings, &|words| stage.say(words))?;
    drop(stage);
    if let (Some(file), Some((_, scores))) = (&file, examination.scores.first()) {
        write_scores(file.path, &study, &[("score", scores)])?;
        // It says who is a member.
        make_private(file.path)?;
    }
    let plot = arguments.statement.plot.as_deref();
    answer(&examination.findings, &Shown { certificate: None, folder: None, plot, json: arguments.json })
}
