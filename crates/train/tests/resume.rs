//! Runs that are stopped, broken and resumed.

use crate::model::{examples, model, plan, private, recipe, settings, softmax};
use reticent_train::checkpoint::{CHECKPOINT_FILE, LEDGER_FILE, status};
use reticent_train::{
    Denoising, PlanSettings, PrivacyPlan, Recipe, Schedule, StopCause, TrainError, Trainer, Units,
};
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const STEPS: u64 = 5000;

fn trainer() -> Trainer {
    trainer_with(plan(300, 0.05, STEPS), recipe())
}

fn trainer_with(plan: PrivacyPlan, recipe: Recipe) -> Trainer {
    private(model(), examples(300), Units::examples(300), plan, recipe).unwrap()
}

fn steps(trainer: &mut Trainer, count: u64) {
    for _ in 0..count {
        trainer.step().unwrap();
    }
}

fn begun(folder: &Path, count: u64) -> Trainer {
    let mut trainer = trainer();
    trainer.begin_in(folder).unwrap();
    steps(&mut trainer, count);
    trainer.save().unwrap();
    trainer
}

#[test]
fn a_resumed_run_goes_on_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let mut first = begun(folder.path(), 7);
    let weights = first.weights().unwrap().to_vec();
    let last = first.final_weights().unwrap();
    drop(first);
    let mut second = trainer();
    second.resume_from(folder.path()).unwrap();
    assert_eq!(second.weights().unwrap(), weights);
    assert_eq!(second.progress().taken, 7);
    assert_eq!(second.final_weights().unwrap(), last);
    assert_eq!(second.progress().counted, 7);
    second.step().unwrap();
    assert!(second.resume_from(folder.path()).is_err());
    let status = status(folder.path()).unwrap();
    assert_eq!((status.taken, status.counted), (7, 7));
    assert_eq!(status.recipe, recipe());
}

/// A checkpoint of a run that was resumed is the one that it was resumed from, with what the denoiser remembers.
#[test]
fn a_denoiser_goes_on_where_it_was() {
    for (name, rule) in Denoising::NAMES {
        let folder = tempfile::tempdir().unwrap();
        let make = |denoise| trainer_with(plan(300, 0.05, STEPS), Recipe { denoise, ..recipe() });
        let mut first = make(Some(rule));
        first.begin_in(folder.path()).unwrap();
        steps(&mut first, 7);
        first.save().unwrap();
        let certificate = first.certificate().unwrap();
        drop(first);
        let stored = std::fs::read(folder.path().join(CHECKPOINT_FILE)).unwrap();
        let has_squares = stored.windows(8).any(|part| part == b"denoiser");
        assert!(has_squares, "{name}");
        let mut second = make(Some(rule));
        second.resume_from(folder.path()).unwrap();
        second.save().unwrap();
        // The texts of the header come in any order.
        let parts = |bytes: &[u8]| {
            let (length, rest) = bytes.split_at(8);
            let (header, arrays) = rest.split_at(u64::from_le_bytes(length.try_into().unwrap()) as usize);
            let mut header = header.to_vec();
            header.sort_unstable();
            (header, arrays.to_vec())
        };
        let again = std::fs::read(folder.path().join(CHECKPOINT_FILE)).unwrap();
        assert!(parts(&again) == parts(&stored), "{name}");
        // Denoising changes nothing about what is guaranteed.
        assert_eq!(certificate, Some(plan(300, 0.05, STEPS).certificate(7).unwrap()), "{name}");
        drop(second);
        let changed = make(None).resume_from(folder.path()).unwrap_err().to_string();
        assert!(changed.contains("recipe.denoise"), "{changed}");
    }
}

#[test]
fn a_run_that_ends_early_counts_by_its_cause() {
    let plan = plan(300, 0.05, STEPS);
    for (name, cause) in StopCause::NAMES {
        let folder = tempfile::tempdir().unwrap();
        drop(begun(folder.path(), 7));
        let mut ended = trainer();
        ended.resume_from(folder.path()).unwrap();
        let asked = ended.certificate_if_stopped(cause).unwrap();
        ended.stop(cause).unwrap();
        let certificate = ended.certificate().unwrap();
        assert_eq!(certificate, asked);
        let certificate = certificate.unwrap();
        let counted = if cause == StopCause::Choice { STEPS } else { 7 };
        let plain = plan.certificate(counted).unwrap();
        assert_eq!((certificate.guarantee, &certificate.events), (plain.guarantee, &plain.events), "{name}");
        // The premise is a public fact beside the plan's own.
        assert_eq!(certificate.public.len(), plain.public.len() + 1);
        let premise = certificate.public.last().unwrap().to_string();
        assert!(premise.contains("after step 7 of 5000"), "{premise}");
        assert_eq!(premise.contains("declared not to depend"), cause.is_blind(), "{premise}");
        // It is the end, also for the next process.
        assert!(ended.step().is_err() && ended.stop(cause).is_err());
        let weights = ended.final_weights().unwrap();
        drop(ended);
        let mut again = trainer();
        again.resume_from(folder.path()).unwrap();
        assert!(again.is_finished() && again.step().is_err());
        assert_eq!(again.certificate().unwrap().unwrap(), certificate);
        assert_eq!(again.final_weights().unwrap(), weights);
    }
    assert!(trainer().stop(StopCause::Crash).is_err());
}

#[test]
fn steps_that_were_seen_count_again_after_going_back() {
    let folder = tempfile::tempdir().unwrap();
    let mut first = begun(folder.path(), 5);
    // Steps 6 to 8 are seen in an evaluation, 9 and 10 by nobody; the process ends without a checkpoint.
    steps(&mut first, 3);
    first.evaluate(&examples(30)).unwrap();
    steps(&mut first, 2);
    drop(first);
    let mut second = trainer();
    second.resume_from(folder.path()).unwrap();
    assert_eq!((second.progress().taken, second.progress().counted), (5, 8));
    // An older checkpoint comes back from a copy.
    let copy = std::fs::read(folder.path().join(CHECKPOINT_FILE)).unwrap();
    steps(&mut second, 4);
    second.save().unwrap();
    drop(second);
    std::fs::write(folder.path().join(CHECKPOINT_FILE), copy).unwrap();
    let mut third = trainer();
    third.resume_from(folder.path()).unwrap();
    assert_eq!((third.progress().taken, third.progress().counted), (5, 12));
    let certificate = third.certificate().unwrap().unwrap();
    assert_eq!(certificate, plan(300, 0.05, STEPS).certificate(12).unwrap());
}

#[test]
fn counted_steps_end_a_run_before_the_budget_is_exceeded() {
    let folder = tempfile::tempdir().unwrap();
    let make = || trainer_with(plan(300, 0.05, 6), recipe());
    let mut first = make();
    first.begin_in(folder.path()).unwrap();
    steps(&mut first, 4);
    first.weights().unwrap();
    drop(first);
    // There is no checkpoint: the run begins anew, with four of six steps counted.
    let mut second = make();
    second.resume_from(folder.path()).unwrap();
    assert_eq!((second.progress().taken, second.progress().counted), (0, 4));
    second.step().unwrap();
    second.step().unwrap();
    assert_eq!(second.step(), Err(TrainError::Finished { steps: 6 }));
}

#[test]
fn a_changed_plan_recipe_or_model_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    drop(begun(folder.path(), 2));
    let resume = |mut trainer: Trainer| trainer.resume_from(folder.path()).unwrap_err().to_string();
    let error = resume(trainer_with(plan(300, 0.05, STEPS + 1), recipe()));
    assert!(error.contains("terms.private.settings.steps: 5000 then, 5001 now"), "{error}");
    let noisier = PrivacyPlan::new(settings(300, 0.05, STEPS), 1.5, 1e-5).unwrap();
    assert!(resume(trainer_with(noisier, recipe())).contains("terms.private.sigma: 1.0 then, 1.5 now"));
    let error = resume(trainer_with(
        plan(300, 0.05, STEPS),
        Recipe { schedule: Schedule::constant(0.1), ..recipe() },
    ));
    assert!(error.contains("recipe.schedule.peak"), "{error}");
    let wide = PlanSettings { dimension: 12, ..settings(300, 0.05, STEPS) };
    let wide = PrivacyPlan::new(wide, 1.0, 1e-5).unwrap();
    let other = private(softmax(4), examples(300), Units::examples(300), wide, recipe());
    assert!(resume(other.unwrap()).contains("model"));
    let mut right = trainer();
    right.resume_from(folder.path()).unwrap();
    assert_eq!(right.progress().taken, 2);
}

#[test]
fn broken_files_are_refused_and_a_copy_saves_the_run() {
    let folder = tempfile::tempdir().unwrap();
    drop(begun(folder.path(), 3));
    let path = folder.path().join(CHECKPOINT_FILE);
    let good = std::fs::read(&path).unwrap();
    let refused = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        let mut trainer = trainer();
        let error = trainer.resume_from(folder.path()).unwrap_err();
        assert_eq!((trainer.progress().taken, trainer.progress().counted), (0, 0));
        assert!(status(folder.path()).is_err());
        let message = error.to_string();
        assert!(matches!(error, TrainError::File { .. }) && message.contains(CHECKPOINT_FILE), "{message}");
    };
    for length in [0, 4, 8, 100, good.len() / 2, good.len() - 1] {
        refused(&good[..length]);
    }
    refused(b"not a checkpoint at all, but long enough to have a header");
    refused(&[&good[..], b"more"].concat());
    for place in (8..good.len()).step_by(good.len() / 60).chain([good.len() - 1]) {
        let mut bytes = good.clone();
        bytes[place] ^= 4;
        refused(&bytes);
    }
    std::fs::write(&path, &good).unwrap();
    let mut trainer = trainer();
    trainer.resume_from(folder.path()).unwrap();
    assert_eq!(trainer.progress().taken, 3);
    drop(trainer);
    std::fs::remove_file(folder.path().join(LEDGER_FILE)).unwrap();
    let error = self::trainer().resume_from(folder.path()).unwrap_err().to_string();
    assert!(error.contains(LEDGER_FILE) && error.contains("no such file"), "{error}");
    let error = self::trainer().begin_in(folder.path()).unwrap_err().to_string();
    assert!(error.contains("holds a run already"), "{error}");
}

#[test]
fn a_folder_that_cannot_be_written_is_named_and_nothing_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let mut trainer = begun(folder.path(), 2);
    trainer.step().unwrap();
    // The checkpoint's place is taken by a folder: the write fails, the ledger has counted the step.
    let path = folder.path().join(CHECKPOINT_FILE);
    let good = std::fs::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    let error = trainer.save().unwrap_err().to_string();
    assert!(error.contains(CHECKPOINT_FILE), "{error}");
    std::fs::remove_dir(&path).unwrap();
    std::fs::write(&path, good).unwrap();
    trainer.save().unwrap();
    assert_eq!(status(folder.path()).unwrap().taken, 3);
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    assert!(self::trainer().begin_in(&file.join("run")).is_err());
}

/// Names the folder in which this process is to train until it is killed.
const CHILD: &str = "RETICENT_TEST_TRAIN_IN";

/// Not a test by itself: what the child processes run.
#[test]
fn child() {
    let Ok(folder) = std::env::var(CHILD) else { return };
    let folder = Path::new(&folder);
    let mut trainer = trainer();
    if folder.join(LEDGER_FILE).exists() {
        trainer.resume_from(folder).unwrap();
    } else {
        trainer.begin_in(folder).unwrap();
    }
    println!("ready");
    while !trainer.is_finished() {
        trainer.step().unwrap();
        if let Err(error) = trainer.save() {
            println!("{error}");
            return;
        }
    }
}

fn child_in(folder: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["resume::child", "--exact", "--nocapture", "--test-threads=1"]).env(CHILD, folder);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// What the two files say by themselves: the steps counted by the checkpoint, 0 without one, and then by the ledger.
fn look(run: &Path) -> Option<(u64, u64)> {
    let stored = std::fs::read(run.join(CHECKPOINT_FILE)).map_or(0, |bytes| {
        let (_, header) = safetensors::SafeTensors::read_metadata(&bytes).unwrap();
        let text: serde_json::Value =
            serde_json::from_str(&header.metadata().as_ref().unwrap()["state"]).unwrap();
        text["counted"].as_u64().unwrap()
    });
    let ledger: serde_json::Value =
        serde_json::from_slice(&std::fs::read(run.join(LEDGER_FILE)).ok()?).unwrap();
    Some((stored, ledger["counted"].as_u64().unwrap()))
}

#[test]
fn a_hundred_kills_lose_no_counted_step_and_corrupt_nothing() {
    use reticent_noise::entropy::Bits;
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let mut entropy = reticent_noise::Entropy::new().unwrap();
    let (mut kills, mut progress) = (0, 0);
    // What was visible at the last look: the lineage's length and the count.
    let mut seen = (0u64, 0u64);
    while kills < 100 || (progress < 50 && kills < 500) {
        let mut child = child_in(&run).spawn().unwrap();
        // A random moment: at times in the start, mostly between and in writes.
        let mut said = Vec::new();
        if kills % 5 > 0 {
            let output = child.stdout.as_mut().unwrap();
            let mut byte = [0];
            while !said.ends_with(b"ready") && output.read(&mut byte).unwrap() > 0 {
                said.push(byte[0]);
            }
        }
        let moment = Instant::now() + Duration::from_micros(entropy.word() % 25_000);
        while Instant::now() < moment {
            if let Some((stored, counted)) = look(&run) {
                assert!(counted >= stored, "visible with {stored} steps, of which {counted} are counted");
            }
        }
        child.kill().unwrap();
        let end = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&[&said[..], &end.stdout, &end.stderr].concat()).into_owned();
        assert!(!said.contains("panicked") && !said.contains("cannot"), "{said}");
        kills += 1;
        if !run.join(LEDGER_FILE).exists() {
            continue;
        }
        let now = status(&run).unwrap();
        let (stored, counted) = look(&run).unwrap();
        assert!(counted >= stored && now.counted == counted, "{now:?} {stored} {counted}");
        // No weights are visible whose steps are not counted, and what was counted stays counted. A step that a
        // child took on top of what it resumed from adds to the count it resumed with.
        assert!(now.counted >= now.taken && now.counted >= seen.1 && now.taken >= seen.0, "{now:?} {seen:?}");
        assert!(now.counted - seen.1 >= now.taken - seen.0, "{now:?} {seen:?}");
        // At most one announced step of a killed child was never visible.
        assert!(now.counted - seen.1 <= now.taken - seen.0 + 1, "{now:?} {seen:?}");
        progress += u32::from(now.taken > seen.0);
        seen = (now.taken, now.counted);
        let mut trainer = trainer();
        trainer.resume_from(&run).unwrap();
        assert_eq!((trainer.progress().taken, trainer.progress().counted), seen);
        assert!(trainer.final_weights().unwrap().iter().all(|w| w.is_finite()));
        assert_eq!(
            trainer.certificate().unwrap().unwrap(),
            plan(300, 0.05, STEPS).certificate(seen.1).unwrap()
        );
    }
    assert!(progress >= 50, "the kills came too early to mean anything: {progress} of {kills}");
    // Nothing half written is left after a resumption.
    let left: Vec<_> = std::fs::read_dir(&run).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.len() == 3 && left.iter().any(|name| name == CHECKPOINT_FILE), "{left:?}");
}

#[cfg(unix)]
#[test]
fn a_full_disk_is_reported_and_the_last_checkpoint_stays() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    drop(begun(&run, 2));
    // Files may not grow beyond one kilobyte in the child: the ledger fits, a checkpoint does not.
    let path = run.join(LEDGER_FILE);
    let size = std::fs::metadata(run.join(CHECKPOINT_FILE)).unwrap().len();
    assert!(size > 1024 && std::fs::metadata(&path).unwrap().len() < 1024, "{size}");
    let limited = child_in(&run);
    let mut shell = Command::new("bash");
    shell.args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$0\" \"$@\" | cat"]).arg(limited.get_program());
    let end = shell.args(limited.get_args()).env(CHILD, &run).output().unwrap();
    let said = String::from_utf8_lossy(&end.stdout).into_owned() + &String::from_utf8_lossy(&end.stderr);
    assert!(said.contains(CHECKPOINT_FILE) && said.contains("untouched"), "{said}");
    let now = status(&run).unwrap();
    assert_eq!((now.taken, now.counted), (2, 3));
    let mut trainer = trainer();
    trainer.resume_from(&run).unwrap();
    trainer.step().unwrap();
    trainer.save().unwrap();
    assert_eq!(status(&run).unwrap().counted, 4);
}
