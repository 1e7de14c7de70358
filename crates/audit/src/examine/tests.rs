use super::*;
use crate::attacks::tests::with_gradients;
use crate::attacks::{AccessLevel, LIRA_ONLINE, QUANTILE_REGRESSION, STANDARD, YEOM_LOSS};
use crate::bound::BoundMethod;
use crate::{
    Features, GRADIENT_NORM, Game, Outputs, OutputsKind, SignalSource, SignalValues, Signals, StudyParts,
};
use reticent_core::special::normal_tail_quantile;
use reticent_data::keyed_hash;

/// A number from 0 to 1.
fn uniform(place: usize, what: &str) -> f64 {
    (keyed_hash(what, &place.to_le_bytes()) >> 11) as f64 / (1u64 << 53) as f64
}

fn settings() -> ExamineSettings {
    ExamineSettings {
        metrics: MetricSettings::default(),
        bound: Some((
            BoundMethod::OneRun,
            BoundSettings { fresh: Some(11), ..BoundSettings::new(1e-5, "t") },
        )),
        registry: Registry::standard(),
        attacks: None,
        attack: AttackSettings::default(),
        worst: 5,
        key: "t".to_owned(),
        expects_baseline: true,
    }
}

#[test]
fn a_missing_baseline_is_a_warning_only_where_one_is_expected() {
    let signals = Signals::of_scores((0..40).map(|record| uniform(record, "s")).collect());
    let members = (0..40).map(|record| record % 2 == 0).collect();
    let study = Study::new(StudyParts { members, signals, ..StudyParts::default() }).unwrap();
    for expects_baseline in [true, false] {
        let found = examine(&study, &ExamineSettings { expects_baseline, ..settings() }, &|_| {}).unwrap();
        assert!(found.findings.baseline.performance.is_none());
        let warned = found.findings.warnings.iter().any(|warning| warning.contains("no baseline"));
        assert_eq!(warned, expects_baseline);
    }
}

#[test]
fn what_needs_references_cannot_run_without() {
    let mut parts = parts(400, 1.0, 0.0);
    parts.signals = Signals::of_scores((0..400).map(|record| uniform(record, "s")).collect());
    with_gradients(&mut parts);
    let study = Study::new(parts).unwrap();
    let bare = study.without_references();
    for attack in STANDARD {
        assert!(attack.can_run(&study).is_ok(), "{}", attack.name());
        assert_eq!(attack.can_run(&bare).is_err(), attack.needs_references(), "{}", attack.name());
    }
}

/// Two classes; whoever is in has logits that are `gap` higher; the feature follows membership by `shift`.
fn parts(records: usize, gap: f64, shift: f64) -> StudyParts {
    let said = |inside: &[bool], what: &str| {
        let values = inside.iter().enumerate().flat_map(|(record, inside)| {
            [0.0, (uniform(record, what) * 2.0 + if *inside { gap } else { 0.0 }) as f32]
        });
        Some(Outputs::new(OutputsKind::Logits, 2, values.collect()).unwrap())
    };
    let members: Vec<bool> = (0..records).map(|record| uniform(record, "coin") < 0.5).collect();
    let feature = |(record, member): (usize, &bool)| {
        (uniform(record, "feature") + if *member { shift } else { 0.0 }) as f32
    };
    let references = (0..16)
        .map(|reference| {
            let inside: Vec<bool> = (0..records)
                .map(|record| {
                    (uniform(record, &format!("half {}", reference / 2)) < 0.5) ^ (reference % 2 == 0)
                })
                .collect();
            let outputs = said(&inside, &format!("reference {reference}"));
            Reference { name: format!("reference {reference}"), outputs, signals: Signals::none(), inside }
        })
        .collect();
    StudyParts {
        target: said(&members, "target"),
        features: Some(Features { columns: 1, values: members.iter().enumerate().map(feature).collect() }),
        users: None,
        labels: Some(vec![1; records]),
        members,
        references,
        draw: Draw::Coins(0.5),
        ..StudyParts::default()
    }
}

#[test]
fn the_headline_is_chosen_beforehand_and_alone_has_a_bound() {
    let study = Study::new(parts(600, 1.5, 0.0)).unwrap();
    let found = examine(&study, &settings(), &|_| {}).unwrap();
    let findings = &found.findings;
    assert!(findings.headline_chosen.contains("4 reference models stood in for the target"), "{findings:?}");
    assert!(findings.auc > 0.9, "{}", findings.auc);
    assert!(findings.epsilon_lower.as_ref().unwrap().value > 1.0);
    let bounded: Vec<&str> =
        findings.attacks.iter().filter(|a| a.epsilon_lower.is_some()).map(|a| a.name.as_str()).collect();
    assert_eq!(bounded, [findings.headline.as_str()]);
    assert_eq!(findings.attacks.len() + findings.not_run.len(), STANDARD.len());
    assert_eq!(findings.baseline.shift, Some(false));
    assert!(findings.users.is_none());
    assert_eq!(findings.records.as_ref().unwrap().worst.len(), 5);
    assert_eq!(findings.overfitting.len(), 17);
    assert!(findings.tpr_at_fpr["0.1"].is_some() && findings.tpr_at_fpr["0.001"].is_none());
    let text = serde_json::to_string(findings).unwrap();
    assert_eq!(serde_json::from_str::<Findings>(&text).unwrap(), *findings);
}

#[test]
fn members_that_differ_by_themselves_are_noticed() {
    let study = Study::new(parts(600, 0.0, 0.5)).unwrap();
    let findings = examine(&study, &settings(), &|_| {}).unwrap().findings;
    assert_eq!(findings.baseline.shift, Some(true));
    assert!(findings.warnings.iter().any(|warning| warning.contains("without the model")));
    // And coins are refuted.
    assert!(findings.epsilon_lower.is_none());
}

/// One coin per user and scores that share the user's level but not the coin: records would be guessed in blocks.
#[test]
fn coins_of_users_are_guessed_by_user() {
    let mut claims = 0;
    for run in 0..60 {
        let coin = |user: usize| uniform(user, &format!("coin {run}")) < 0.5;
        let level = |user: usize| uniform(user, &format!("level {run}"));
        let users: Vec<usize> = (0..2000).map(|record| record / 10).collect();
        let study = Study::new(StudyParts {
            members: users.iter().map(|user| coin(*user)).collect(),
            signals: Signals::of_scores(
                users.iter().enumerate().map(|(r, u)| level(*u) + 0.1 * uniform(r, "own")).collect(),
            ),
            users: Some(users.iter().map(ToString::to_string).collect()),
            draw: Draw::Coins(0.5),
            ..StudyParts::default()
        });
        let found = examine(&study.unwrap(), &settings(), &|_| {}).unwrap().findings.epsilon_lower.unwrap();
        assert_eq!(found.counts["randomised"], 200);
        assert_eq!((found.unit, found.unit_records), (AuditUnit::User, 10));
        claims += usize::from(found.value > 0.0);
    }
    assert!(claims <= 8, "{claims} of 60");
}

#[test]
fn references_that_tell_members_are_not_used() {
    let mut told = parts(600, 1.5, 0.0);
    for reference in &mut told.references {
        for (inside, member) in reference.inside.iter_mut().zip(&told.members) {
            *inside &= !*member;
        }
    }
    let study = Study::new(told).unwrap();
    let findings = examine(&study, &settings(), &|_| {}).unwrap().findings;
    // What is left is the target's own confidence, which saw no coin.
    assert_eq!(findings.headline, "yeom-loss");
    assert!(findings.attacks.iter().all(|attack| attack.name != "lira-online"));
    assert!(
        findings.warnings.iter().any(|warning| warning.contains("tell who is a member")),
        "{:?}",
        findings.warnings
    );
    let mixed = Study::new(StudyParts {
        users: Some((0..600).map(|r| (r / 2).to_string()).collect()),
        ..parts(600, 1.5, 0.0)
    });
    let findings = examine(&mixed.unwrap(), &settings(), &|_| {}).unwrap().findings;
    assert!(
        findings.epsilon_lower.is_none()
            && findings.warnings.iter().any(|warning| warning.contains("both kinds"))
    );
}

#[test]
fn an_attack_that_sees_members_proves_nothing() {
    let study = Study::new(parts(400, 2.0, 0.0)).unwrap();
    let asked = ExamineSettings { attacks: Some(vec![QUANTILE_REGRESSION]), ..settings() };
    let findings = examine(&study, &asked, &|_| {}).unwrap().findings;
    assert_eq!(findings.headline, "quantile-regression");
    assert!(findings.epsilon_lower.is_none());
    assert!(findings.warnings.iter().any(|warning| warning.contains("not guesses")));
}

#[test]
fn attacks_by_name_must_be_possible_and_tables_must_have_records() {
    let mut without = parts(50, 1.0, 0.0);
    without.references.clear();
    let study = Study::new(without).unwrap();
    let asked = ExamineSettings { attacks: Some(vec![LIRA_ONLINE]), ..settings() };
    let line = examine(&study, &asked, &|_| {}).unwrap_err().to_string();
    assert!(line.contains("lira-online") && line.contains("reference"), "{line}");
    let empty =
        Study::new(StudyParts { signals: Signals::of_scores(Vec::new()), ..StudyParts::default() }).unwrap();
    assert!(examine(&empty, &settings(), &|_| {}).is_err());
    let none = ExamineSettings { attacks: Some(Vec::new()), ..settings() };
    assert!(examine(&study, &none, &|_| {}).is_err());
}

#[test]
fn a_table_without_a_declared_draw_gets_rates_and_no_bound() {
    let study = Study::new(StudyParts { draw: Draw::Undeclared, ..parts(600, 1.5, 0.0) }).unwrap();
    let findings = examine(&study, &settings(), &|_| {}).unwrap().findings;
    assert!(findings.epsilon_lower.is_none() && findings.auc > 0.9);
    assert!(
        findings.warnings.iter().any(|warning| warning.contains("it is not declared how members were drawn"))
    );
}

/// The target itself, its complement, and a model that saw most of its members, among the references of a target that leaks
/// nothing: every number made with them is withdrawn.
#[test]
fn references_that_know_the_target_are_used_by_nothing() {
    type Mask = fn(&[bool]) -> Vec<bool>;
    let poison: [(&str, Mask); 3] = [
        ("exactly the target's members", |members| members.to_vec()),
        ("exactly the records that the target was not", |members| members.iter().map(|m| !m).collect()),
        ("too close to be chance", |members| {
            members.iter().enumerate().map(|(r, m)| *m ^ (uniform(r, "leak") < 0.3)).collect()
        }),
    ];
    for (words, mask) in poison {
        let mut told = parts(600, 0.0, 0.0);
        told.references[3].inside = mask(&told.members);
        let study = Study::new(told).unwrap();
        let findings = examine(&study, &settings(), &|_| {}).unwrap().findings;
        assert_eq!(findings.headline, "yeom-loss");
        assert!(findings.attacks.iter().all(|attack| !attack.threat.knowledge.contains("models")));
        let lira = findings.not_run.iter().find(|other| other.name == "lira-online").unwrap();
        assert!(lira.reason.contains(words), "{}", lira.reason);
        let by_name = ExamineSettings { attacks: Some(vec![LIRA_ONLINE]), ..settings() };
        assert!(examine(&study, &by_name, &|_| {}).unwrap_err().to_string().contains(words));
    }
    // Its outputs under a mask that says nothing, to the precision of a table with few digits.
    let mut told = parts(600, 0.0, 0.0);
    let copied = told.target.clone().unwrap();
    let rounded = (0..600).flat_map(|r| copied.record(r).iter().map(|v| (v * 1e4).round() / 1e4)).collect();
    told.references[5].outputs = Some(Outputs::new(OutputsKind::Logits, 2, rounded).unwrap());
    let findings = examine(&Study::new(told).unwrap(), &settings(), &|_| {}).unwrap().findings;
    assert!(
        findings.warnings.iter().any(|warning| warning.contains("gives the same outputs as the target")),
        "{:?}",
        findings.warnings
    );
}

/// References drawn by user, as the target was: nothing is told, although records of a user go together.
#[test]
fn references_of_users_are_judged_by_user() {
    let mut by_user = parts(2000, 0.0, 0.0);
    let user = |record: usize| record / 20;
    by_user.users = Some((0..2000).map(|record| user(record).to_string()).collect());
    by_user.members = (0..2000).map(|record| uniform(user(record), "coin of user") < 0.5).collect();
    for (place, reference) in by_user.references.iter_mut().enumerate() {
        let half = format!("users {}", place / 2);
        reference.inside =
            (0..2000).map(|record| (uniform(user(record), &half) < 0.5) ^ (place % 2 == 0)).collect();
    }
    assert_eq!(references::telling(&Study::new(by_user).unwrap()), None);
}

/// One record of each pair by coin, and a fixed half: what one record in place of another does.
#[test]
fn pairs_and_fixed_halves_are_bounded_under_replace_one() {
    let bound = |gap: f64, draw: Draw, pairs: Option<Vec<String>>| {
        let coin = |record: usize| (uniform(record / 2, "pair") < 0.5) ^ record.is_multiple_of(2);
        let members: Vec<bool> = (0..1200).map(coin).collect();
        let score =
            |(record, member): (usize, &bool)| uniform(record, "own") + if *member { gap } else { 0.0 };
        let signals = Signals::of_scores(members.iter().enumerate().map(score).collect());
        let study =
            Study::new(StudyParts { members, signals, draw, pairs, ..StudyParts::default() }).unwrap();
        let found = examine(&study, &settings(), &|_| {}).unwrap().findings;
        found.epsilon_lower.ok_or_else(|| found.warnings.join(" "))
    };
    let names = || Some((0..1200).map(|record| (record / 2).to_string()).collect::<Vec<_>>());
    for (draw, pairs) in [(Draw::Pairs, names()), (Draw::Fixed, None)] {
        let found = bound(0.9, draw, pairs.clone()).unwrap();
        assert_eq!(found.neighboring, Some(reticent_core::Neighboring::ReplaceOne));
        assert!(found.value > 1.0 && found.counts["randomised"] == 600, "{found:?}");
        assert_eq!(found.premise.contains("of each pair"), draw == Draw::Pairs);
        assert_eq!(found.premise.contains("fixed in advance"), draw == Draw::Fixed);
        assert_eq!(bound(0.0, draw, pairs).unwrap().value, 0.0);
    }
    assert!(bound(0.9, Draw::Pairs, None).unwrap_err().contains("column `pair`"));
    let odd = Some((0..1200).map(|record| (record / 3).to_string()).collect());
    assert!(bound(0.9, Draw::Pairs, odd).unwrap_err().contains("400 of 400 pairs are invalid"));
    // One pair of two that were both put in, or both left out: the refusal names neither.
    let mut crossed = names().unwrap();
    (crossed[0], crossed[1], crossed[2], crossed[3]) =
        ("ann".into(), "bob".into(), "ann".into(), "bob".into());
    match bound(0.9, Draw::Pairs, Some(crossed)) {
        Ok(found) => assert_eq!(found.counts["randomised"], 600),
        Err(why) => {
            assert!(why.contains("2 of 600 pairs") && !why.contains("ann") && !why.contains("bob"), "{why}")
        }
    }
    let mut alone = names().unwrap();
    alone[7] = "carol".into();
    let why = bound(0.9, Draw::Pairs, Some(alone)).unwrap_err();
    assert!(why.contains("2 of 600 pairs") || why.contains("2 of 601 pairs"), "{why}");
    assert!(!why.contains("carol") && !why.contains("members:"), "{why}");
    // Records that are runs of their own are no coins of one run, and the other way round.
    assert!(bound(0.9, Draw::Runs(Game::RUNS), None).unwrap_err().contains("separate training runs"));
}

/// A number of members that the declared coins do not give refutes them.
#[test]
fn counts_that_contradict_the_coins_refute_them() {
    let study = Study::new(StudyParts { draw: Draw::Coins(0.7), ..parts(600, 1.5, 0.0) }).unwrap();
    let findings = examine(&study, &settings(), &|_| {}).unwrap().findings;
    assert!(findings.epsilon_lower.is_none());
    assert!(findings.warnings.iter().any(|warning| warning.contains("contradicts")));
}

/// What is shared of single records tells of none whether it was a member; the private part says what it is.
#[test]
fn membership_is_in_the_private_part_alone() {
    let study = Study::new(parts(600, 1.5, 0.0)).unwrap();
    let found = examine(&study, &settings(), &|_| {}).unwrap();
    let shared = serde_json::to_string(&found.findings).unwrap();
    assert!(!shared.contains("\"member\"") && !shared.contains("\"score\"") && !shared.contains("\"id\""));
    assert_eq!(found.findings.records.as_ref().unwrap().worst.len(), 5);
    let private = serde_json::to_string(&found.private).unwrap();
    assert!(private.starts_with("{\"what\":\"PRIVATE") && private.contains("\"member\""));
    // A list by score would name members.
    let mut alone = parts(600, 1.5, 0.0);
    alone.references.clear();
    let found = examine(&Study::new(alone).unwrap(), &settings(), &|_| {}).unwrap();
    assert!(found.findings.records.unwrap().worst.is_empty() && found.private.records.worst.len() == 5);
}

#[test]
fn a_headline_that_was_asked_for_is_said_to_be() {
    let study = Study::new(parts(400, 1.0, 0.0)).unwrap();
    let chosen = |attacks| {
        examine(&study, &ExamineSettings { attacks, ..settings() }, &|_| {}).unwrap().findings.headline_choice
    };
    assert_eq!(chosen(None), HeadlineChoice::Rule);
    assert_eq!(chosen(Some(vec![YEOM_LOSS])), HeadlineChoice::Name);
}

/// A column of names, or a rare group, would say of single records whether they were members.
#[test]
fn small_groups_are_counted_together() {
    let mut with = parts(600, 1.0, 0.0);
    let name =
        |record: usize| if record < 30 { format!("person {record}") } else { format!("g{}", record % 2) };
    let rare = |record: usize| if record < 3 { "rare".to_owned() } else { format!("g{}", record % 3) };
    with.groups = vec![
        ("name".to_owned(), (0..600).map(name).collect()),
        ("kind".to_owned(), (0..600).map(rare).collect()),
        ("half".to_owned(), (0..600).map(|record| (record % 2).to_string()).collect()),
    ];
    let findings = examine(&Study::new(with).unwrap(), &settings(), &|_| {}).unwrap().findings;
    assert!(findings.groups.iter().all(|group| group.members >= 10 && group.non_members >= 10));
    let of = |column: &str| -> Vec<&str> {
        let own = findings.groups.iter().filter(|group| group.column == column);
        own.map(|group| group.group.as_str()).collect()
    };
    assert_eq!(of("name"), ["g0", "g1", "30 groups together"]);
    assert_eq!(of("half"), ["0", "1"]);
    // The other groups would give the numbers of the rare one by difference.
    assert!(of("kind").len() == 3 && of("kind")[2] == "2 groups together", "{:?}", of("kind"));
    let all: u64 =
        findings.groups.iter().filter(|group| group.column == "kind").map(|group| group.members).sum();
    assert_eq!(all, findings.attacks[0].performance.members);
    let said = serde_json::to_string(&findings).unwrap();
    assert!(!said.contains("person") && !said.contains("\"rare\""));
}

/// Two references are no pair with and without every record: the reason does not say that there are none.
#[test]
fn too_few_references_are_not_called_none() {
    let mut two = parts(200, 1.0, 0.0);
    two.references.truncate(2);
    let found = examine(&Study::new(two).unwrap(), &settings(), &|_| {}).unwrap();
    let reason = found.findings.records.unwrap().reason.unwrap();
    assert!(reason.contains("too few reference models") && reason.contains("private.json"), "{reason}");
}

/// What stands in the way of an attack is counted, not named.
#[test]
fn nobody_is_named_in_findings() {
    let mut lacking = parts(200, 1.0, 0.0);
    lacking.ids = (0..200).map(|record| format!("person-{record}")).collect();
    lacking.references.truncate(1);
    let findings = examine(&Study::new(lacking).unwrap(), &settings(), &|_| {}).unwrap().findings;
    assert!(findings.not_run.iter().any(|attack| attack.reason.contains("of 200 records have no reference")));
    assert!(!serde_json::to_string(&findings).unwrap().contains("person-"));
}

/// Scores that leak nothing, and a column that says who is a member: no bound, whatever the column looks like.
#[test]
fn columns_that_tell_members_refute_coins_in_any_spelling() {
    type Cell = fn(usize, bool) -> String;
    type Spelled = (&'static str, Cell, Option<(usize, &'static str)>);
    let number: Cell =
        |record, member| format!("{:.3}", uniform(record, "number") + if member { 1.0 } else { 0.0 });
    let spelled: [Spelled; 6] = [
        ("one cell without a number", number, Some((17, "n/a"))),
        ("one infinite cell", number, Some((17, "inf"))),
        (
            "dates",
            |r, m| format!("202{}-{:02}-{:02} {r}", if m { 3 } else { 4 }, r % 12 + 1, r % 28 + 1),
            None,
        ),
        ("beginnings", |r, m| format!("{}/{r:05}.png", if m { "train" } else { "test" }), None),
        ("ends", |r, m| format!("{r:05}-{}", if m { "x" } else { "y" }), None),
        ("a category among free text", |r, m| if m { format!("text {r}") } else { "none".to_owned() }, None),
    ];
    let folder = tempfile::tempdir().unwrap();
    for (what, cell, odd) in spelled {
        for as_group in [false, true] {
            let name = if as_group { "town" } else { "feature_x" };
            let mut text = format!("score,member,{name}\n");
            for record in 0..600 {
                let member = uniform(record, "coin") < 0.5;
                let own = odd
                    .filter(|(row, _)| *row == record)
                    .map_or_else(|| cell(record, member), |o| o.1.to_owned());
                let score = uniform(record, "s") + if member { 1.0 } else { 0.0 };
                text += &format!("{score},{},{own}\n", u8::from(member));
            }
            let path = folder.path().join("scores.csv");
            std::fs::write(&path, text).unwrap();
            let groups = if as_group { vec![name.to_owned()] } else { Vec::new() };
            let table = crate::table::TableSettings { groups, ..Default::default() };
            let study = crate::table::read_scores(&path, &table).unwrap().drawn(Draw::Coins(0.5));
            let findings = examine(&study, &settings(), &|_| {}).unwrap().findings;
            assert!(findings.epsilon_lower.is_none(), "{what}, {name}: {:?}", findings.baseline);
            assert!(findings.warnings.iter().any(|w| w.contains("not drawn as declared")), "{what}, {name}");
        }
    }
}

/// Texts of which nothing is known are named beside the bound.
#[test]
fn texts_that_hardly_repeat_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scores.csv");
    let mut text = "score,member,feature_note\n".to_owned();
    for record in 0..600 {
        let member = uniform(record, "coin") < 0.5;
        let score = uniform(record, "s") + if member { 1.0 } else { 0.0 };
        text += &format!("{score},{},x{:x}\n", u8::from(member), keyed_hash("note", &record.to_le_bytes()));
    }
    std::fs::write(&path, text).unwrap();
    let study = crate::table::read_scores(&path, &crate::table::TableSettings::default()).unwrap();
    let findings = examine(&study.drawn(Draw::Coins(0.5)), &settings(), &|_| {}).unwrap().findings;
    assert!(findings.epsilon_lower.is_some());
    let named =
        |warning: &&String| warning.contains("\"feature_note\"") && warning.contains("not measurable");
    assert!(findings.warnings.iter().any(|warning| named(&warning)), "{:?}", findings.warnings);
}

/// A feature that decides every pair, on the scale of all records or only within the pair, refutes coins; one that says nothing does not.
#[test]
fn coins_of_pairs_are_judged_within_pairs() {
    let examined = |feature: &dyn Fn(usize, bool) -> f64, run: usize| {
        let coin =
            |record: usize| (uniform(record / 2, &format!("pair {run}")) < 0.5) ^ record.is_multiple_of(2);
        let members: Vec<bool> = (0..800).map(coin).collect();
        let values =
            members.iter().enumerate().map(|(record, member)| feature(record, *member) as f32).collect();
        let score =
            |(record, member): (usize, &bool)| uniform(record, "own") + if *member { 0.9 } else { 0.0 };
        let study = Study::new(StudyParts {
            signals: Signals::of_scores(members.iter().enumerate().map(score).collect()),
            features: Some(Features { columns: 1, values }),
            pairs: Some((0..800).map(|record| (record / 2).to_string()).collect()),
            draw: Draw::Pairs,
            members,
            ..StudyParts::default()
        });
        let findings = examine(&study.unwrap(), &settings(), &|_| {}).unwrap().findings;
        (findings.epsilon_lower.is_some(), findings.baseline.performance.map(|found| found.auc.value))
    };
    let step = |member: bool| if member { 1.0 } else { 0.0 };
    assert!(!examined(&|record, member| uniform(record, "x") + step(member), 0).0);
    assert!(!examined(&|record, member| (record / 2 * 4) as f64 + step(member), 0).0);
    assert!(!examined(&|record, member| (record / 2 * 4) as f64 - step(member), 0).0);
    for run in 0..12 {
        let alike = examined(&|record, _| (record / 2) as f64, run);
        // All that is known of both records is the same: nothing tells them apart.
        assert_eq!(alike, (true, None));
        let (is_bounded, auc) = examined(&|record, _| uniform(record, "x") + (record / 2) as f64, run);
        assert!(is_bounded && (auc.unwrap() - 0.5).abs() < 0.15, "{auc:?}");
    }
}

/// A score that is a public hash of the rows knows nothing, also of who is matched with whom.
#[test]
fn fixed_numbers_are_matched_by_fresh_bits() {
    let mut claims = 0;
    for run in 0..60_u64 {
        let mut order: Vec<usize> = (0..600).collect();
        order.sort_by_key(|record| keyed_hash(&format!("half {run}"), &record.to_le_bytes()));
        let mut members = vec![false; 600];
        order[..300].iter().for_each(|record| members[*record] = true);
        let hash = |record: u64| (keyed_hash("t: matched", &record.to_le_bytes()) >> 11) as f64;
        let signals = Signals::of_scores((0..600).map(hash).collect());
        let study =
            Study::new(StudyParts { members, signals, draw: Draw::Fixed, ..StudyParts::default() }).unwrap();
        let bound = |fresh| {
            let bound = BoundSettings { fresh, ..BoundSettings::new(0.0, "t") };
            let own = ExamineSettings { bound: Some((BoundMethod::OneRun, bound)), ..settings() };
            examine(&study, &own, &|_| {}).unwrap().findings
        };
        claims += usize::from(bound(Some(run)).epsilon_lower.unwrap().value > 0.0);
        if run == 0 {
            let without = bound(None);
            assert!(without.epsilon_lower.is_none());
            assert!(without.warnings.iter().any(|warning| warning.contains("random bits")));
        }
    }
    assert!(claims <= 8, "{claims} of 60");
}

/// References whose masks say nothing and whose outputs tell who is a member of the target.
#[test]
fn references_that_foresee_members_are_used_by_nothing() {
    let mut told = parts(600, 0.0, 0.0);
    let members = told.members.clone();
    for (place, reference) in told.references.iter_mut().enumerate() {
        let score = |(record, member): (usize, &bool)| {
            uniform(record, &format!("own {place}")) + if *member { 0.2 } else { 0.0 }
        };
        reference.outputs = None;
        reference.signals = Signals::of_scores(members.iter().enumerate().map(score).collect());
    }
    let why = references::telling(&Study::new(told.clone()).unwrap()).unwrap();
    assert!(why.contains("alone distinguish"), "{why}");
    // Where nobody declared coins, records may differ by themselves.
    told.draw = Draw::Undeclared;
    assert_eq!(references::telling(&Study::new(told).unwrap()), None);
    for gap in [0.0, 1.5] {
        assert_eq!(references::telling(&Study::new(parts(600, gap, 0.0)).unwrap()), None);
    }
}

/// Coins and pairs that were drawn as declared are left alone: what the classifier without the model finds varies by chance alone. Its
/// parts learn from each other's records, so it varies more than independent scores do, by which some of these draws would be refuted.
#[test]
fn true_draws_are_not_refuted() {
    for (draw, runs) in [(Draw::Coins(0.5), 1000), (Draw::Pairs, 300)] {
        let (mut squares, mut by_independent) = (0.0, 0);
        for run in 0..runs {
            let coin = |record: usize| match draw {
                Draw::Pairs => (uniform(record / 2, &format!("true {run}")) < 0.5) ^ record.is_multiple_of(2),
                _ => uniform(record, &format!("true {run}")) < 0.5,
            };
            let cell = |place| (4.0 * uniform(place, &format!("values {run}"))).floor() as f32;
            let study = Study::new(StudyParts {
                members: (0..300).map(coin).collect(),
                signals: Signals::of_scores((0..300).map(|record| uniform(record, "s")).collect()),
                features: Some(Features { columns: 6, values: (0..300 * 6).map(cell).collect() }),
                pairs: Some((0..300).map(|record| (record / 2).to_string()).collect()),
                draw,
                ..StudyParts::default()
            })
            .unwrap();
            let found = baseline::baseline(&study, "key").unwrap();
            let blind = Membership::new(found.scores, study.parts().members.clone()).unwrap();
            assert_eq!(bound::refuted(&study, &blind).unwrap(), None, "{draw:?}, run {run}");
            let apart = match draw {
                Draw::Pairs => {
                    let ahead = |pair: usize| {
                        let (a, b) = (blind.scores()[2 * pair], blind.scores()[2 * pair + 1]);
                        if blind.members()[2 * pair] { (a - b).signum() } else { (b - a).signum() }
                    };
                    (0..150).map(ahead).sum::<f64>() / 150.0_f64.sqrt()
                }
                _ => crate::rank::mann_whitney(blind.scores(), blind.members()).unwrap(),
            };
            squares += apart * apart;
            by_independent += usize::from(apart > normal_tail_quantile(1e-4));
        }
        let spread = (squares / f64::from(runs)).sqrt();
        assert!((1.25..1.5).contains(&spread) && by_independent > 0, "{draw:?}: {spread}, {by_independent}");
    }
}

/// The norm of the gradient tells members, the outputs do not: by access, the attack is chosen on references.
#[test]
fn what_more_access_finds_is_said_by_level() {
    let mut parts = parts(800, 0.0, 0.0);
    let plain = examine(&Study::new(parts.clone()).unwrap(), &settings(), &|_| {}).unwrap().findings;
    assert!(plain.by_access.is_empty(), "nothing but predictions was seen");
    let norms = |inside: &[bool], what: &str| {
        let norm =
            |(record, inside): (usize, &bool)| -uniform(record, what) * if *inside { 0.2 } else { 1.0 };
        SignalValues::scalar(SignalSource::Gradients, inside.iter().enumerate().map(norm).collect())
    };
    parts.signals.insert(GRADIENT_NORM, norms(&parts.members, "norm"));
    for reference in &mut parts.references {
        reference.signals.insert(GRADIENT_NORM, norms(&reference.inside, &reference.name));
    }
    let found = examine(&Study::new(parts.clone()).unwrap(), &settings(), &|_| {}).unwrap().findings;
    let levels: Vec<AccessLevel> = found.by_access.iter().map(|own| own.access).collect();
    assert_eq!(levels, [AccessLevel::Predictions, AccessLevel::Gradients]);
    let auc = |name: &str| found.attacks.iter().find(|attack| attack.name == name).unwrap().performance.auc;
    let [without, with] = [0, 1].map(|place: usize| auc(&found.by_access[place].attack));
    assert!(without.lower < 0.5 && with.lower > 0.7, "{without:?} {with:?}");
    assert!(found.by_access[1].chosen.contains("stood in for the target"));
    assert_eq!(found.headline, found.by_access[1].attack);
    // Without references the first attack of each level is taken.
    parts.references.clear();
    let found = examine(&Study::new(parts).unwrap(), &settings(), &|_| {}).unwrap().findings;
    assert_eq!(found.by_access[1].attack, "gradient-norm");
    assert!(found.by_access[1].chosen.contains("by rank"));
}
