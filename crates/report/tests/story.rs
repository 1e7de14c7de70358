//! The page of a guided tour: whole, with hostile text, and with numbers missing.

use reticent_report::story::{
    AccountedEpsilon, Accounting, Attacked, MembershipStory, Models, Next, Promise, Statistic, Story,
    TrainedModel, WrittenFile,
};

/// A story in which all words are `text`.
pub(crate) fn story(text: &str) -> Story {
    let findings = crate::sample::dossier().unwrap().findings;
    let attack = findings.attacks.first().unwrap().clone();
    let own = || text.to_owned();
    let promise = Promise { epsilon: 2.99991, delta: 1e-6 };
    let trained = |name: &str, promise| TrainedModel {
        name: format!("{name}{text}"),
        about: own(),
        promise,
        right: 5480,
        accuracy: 0.843,
        folder: own(),
        command: own(),
    };
    let accounted = |name: &str, epsilon, bound, curve| AccountedEpsilon {
        name: format!("{name}{text}"),
        about: own(),
        epsilon,
        bound,
        curve,
    };
    let attacked = |name: &str, promise| Attacked {
        name: format!("{name}{text}"),
        about: own(),
        promise,
        train_accuracy: 0.99,
        test_accuracy: 0.8,
        attack: own(),
        references: 8,
        auc: attack.performance.auc,
        rate: attack.performance.rates.first().cloned(),
        epsilon_lower: findings.epsilon_lower.clone(),
        performance: attack.performance.clone(),
        report: own(),
        link: own(),
        commands: vec![own(), own()],
    };
    Story {
        statistic: Statistic {
            what: format!("mean{text}"),
            value: 38.5812,
            interval: [38.4981, 38.6642],
            confidence: 0.95,
            promise: Promise { epsilon: 0.1, delta: 0.0 },
            exact: 38.58,
            rows: 32_561,
            command: own(),
        },
        models: Models {
            training_rows: 26_056,
            test_rows: 6505,
            majority: 0.759,
            models: vec![trained("a", None), trained("b", Some(promise))],
        },
        accounting: Accounting {
            steps: 508,
            sampling_rate: 0.039,
            noise_multiplier: 1.6,
            delta: 1e-6,
            accountants: vec![
                accounted("pld", Some(2.99991), true, vec![(1.0, 0.5), (508.0, 2.99991)]),
                accounted("rdp", None, true, Vec::new()),
                accounted("published", Some(29.24), false, vec![(1.0, 2.0), (508.0, 29.24)]),
            ],
            picture: own(),
            command: own(),
        },
        membership: MembershipStory {
            records: 2400,
            members: 1201,
            models: vec![attacked("overfitted", None), attacked("twin", Some(promise))],
        },
        files: vec![WrittenFile { path: own(), link: own(), about: own() }],
        next: vec![Next { command: own(), about: own() }],
        notes: vec![own()],
    }
}

fn is_well_formed(html: &str) {
    assert!(!html.contains("NaN") && !html.contains("<script") && !html.contains("src="));
    for tag in ["section", "svg", "table", "tr", "figure", "div", "pre", "dl", "ul", "text"] {
        let opened = html.matches(&format!("<{tag}>")).count() + html.matches(&format!("<{tag} ")).count();
        assert_eq!(opened, html.matches(&format!("</{tag}>")).count(), "{tag}");
    }
}

#[test]
fn the_page_has_every_number_of_the_headline() {
    let story = story("");
    let html = story.html();
    is_well_formed(&html);
    let headline = story.headline();
    assert_eq!(headline["mean"].replace('\u{a0}', " "), "38.581 (95 %: 38.498 to 38.665)");
    // Bounds are rounded to their own side, what is none to the nearest.
    assert_eq!(
        (headline["epsilon by pld"].as_str(), headline["epsilon by published"].as_str()),
        ("3", "29.24")
    );
    for (name, value) in &headline {
        assert!(html.contains(value.as_str()), "{name}: {value}");
    }
    let mut ids: Vec<&str> =
        html.split(" id=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count, "an id is there twice");
}

#[test]
fn hostile_text_stays_text() {
    let html = story("</code><script>alert('1')</script>\"onload=\"x&\u{1b}[31m").html();
    is_well_formed(&html);
    assert!(!html.contains("\"onload") && !html.contains('\u{1b}') && html.contains("&lt;script&gt;"));
}

#[test]
fn a_bound_of_nothing_is_said_to_be_one() {
    let mut story = story("");
    for model in &mut story.membership.models {
        if let Some(bound) = &mut model.epsilon_lower {
            bound.value = 0.0;
        }
        model.rate = None;
    }
    assert!(story.html().contains("nothing (ε ≥ 0)"));
    is_well_formed(&story.html());
    for model in &mut story.membership.models {
        (model.epsilon_lower, model.promise) = (None, None);
    }
    let html = story.html();
    is_well_formed(&html);
    assert!(html.contains("no bound") && !html.contains("bounds-chart"));
}
