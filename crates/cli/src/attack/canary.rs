//! A training with canaries, and what it proves about ε.

use crate::args::audit::{Canary, CanaryKind};
use crate::audit::{Asked, Shown, answer, count, write};
use crate::bar::{Stage, Terminal};
use crate::explain::Code;
use crate::fail::Fail;
use crate::{INTERRUPTED, Output, interrupt};
use reticent::attack::AttackError;
use reticent::attack::canary::{self, Canaries, CanarySettings, Coins};
use reticent::audit::bound::Method;
use reticent::audit::{Draw, Game, Study, StudyParts, examine};
use reticent::curator::audit::canary_training;
use reticent::curator::folder::is_network;
use reticent::train::{Effort, Terms};

/// Trains once with canaries, and attacks them.
pub(super) fn canary(arguments: &Canary, progress: bool) -> Result<Output, Fail> {
    let canaries = count("--canaries", &arguments.canaries, 2, 1 << 24)?;
    Asked::of(&arguments.statement, &[], None)?;
    if !is_network(&arguments.run) {
        let why = "no network there: canaries are for networks trained by 'reticent train --out'";
        return Err(Fail::new(Code::NoModel, format!("{}: {why}", arguments.run.display())));
    }
    let quiet = !progress || arguments.json;
    let stage = Stage::new(!quiet);
    stage.say("reading the data");
    let (examples, classes, training) = canary_training(&arguments.run, &Terminal::new(!quiet))?;
    if let (CanaryKind::Dirac, Terms::NonPrivate(_)) = (arguments.kind, &training.terms) {
        let remedy =
            "goes with a run that was trained with privacy: such a canary is as long as the clipping norm";
        return Err(Fail::conflict("--kind", "dirac", remedy));
    }
    let kind = match arguments.kind {
        CanaryKind::Mislabelled => canary::CanaryKind::Mislabelled,
        CanaryKind::Blank => canary::CanaryKind::Blank,
        CanaryKind::Dirac => canary::CanaryKind::Dirac,
    };
    let settings =
        CanarySettings { kind, count: canaries, key: arguments.statement.key.clone(), coins: Coins::Fresh };
    let planted = Canaries::plant(&examples, classes, settings)?;
    stage.say("training with canaries");
    interrupt::listen();
    let ran = match canary::run(&planted, &training, Effort::default(), &interrupt::is_asked) {
        Ok(ran) => ran,
        Err(AttackError::Interrupted) => {
            let stdout = "Interrupted: a training with canaries is one piece, and begins anew.\n".to_owned();
            return Ok(Output { stdout, status: INTERRUPTED, ..Output::default() });
        }
        Err(error) => return Err(error.into()),
    };
    let asked = Asked::of(&arguments.statement, &[], ran.certificate.as_ref())?;
    let study = Study::new(StudyParts {
        ids: (1..=canaries).map(|canary| format!("canary:{canary}")).collect(),
        members: ran.membership.members().to_vec(),
        scores: Some(ran.membership.scores().to_vec()),
        draw: match asked.settings.bound {
            // Whoever asks for these declares that canaries do not influence each other.
            Some((Method::ClopperPearson | Method::Gaussian, _)) => Draw::Runs(Game::RECORDS),
            _ => Draw::Coins(0.5),
        },
        ..StudyParts::default()
    })?;
    let mut examination = examine(&study, &asked.settings, &|words| stage.say(words))?;
    drop(stage);
    // Fair coins say who is in: canaries do not differ by themselves.
    examination.findings.warnings.retain(|warning| !warning.starts_with("no baseline"));
    examination.findings.warnings.extend(ran.notes);
    examination.findings.warnings.push(
        "the training was repeated with canaries: the bound is on its guarantee, and the model in the folder is another one"
            .to_owned(),
    );
    if let Some(folder) = &arguments.out {
        write(folder, &study, &examination)?;
    }
    let shown = Shown {
        certificate: ran.certificate.as_ref(),
        folder: arguments.out.as_deref(),
        plot: arguments.statement.plot.as_deref(),
        json: arguments.json,
    };
    answer(&examination.findings, &shown)
}
