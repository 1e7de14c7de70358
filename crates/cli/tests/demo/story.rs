use super::{reticent, stdout};
use serde_json::Value;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// Words that are paths below the demo's folder.
fn paths(text: &str) -> Vec<&str> {
    text.split_whitespace()
        .map(|word| word.trim_matches(['\'', '"', ',', '.', ':', ';', '(', ')']).trim_end_matches('/'))
        .filter(|word| *word == "demo" || word.starts_with("demo/"))
        .filter(|word| !word.is_empty())
        .collect()
}

/// Everything that the answer says can be typed.
fn commands(answer: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let each = |list: &Value| -> Vec<String> {
        list.as_array().unwrap().iter().map(|one| text(&one["command"])).collect()
    };
    let mut found = vec![text(&answer["statistic"]["command"]), text(&answer["accounting"]["command"])];
    found.extend(each(&answer["models"]["models"]));
    found.extend(each(&answer["next"]));
    for model in answer["membership"]["models"].as_array().unwrap() {
        found.extend(model["commands"].as_array().unwrap().iter().map(text));
    }
    found
}

/// Text without markup, every space a plain one.
fn visible(html: &str) -> String {
    html.replace("<span class=\"flag\">", "")
        .replace("</span>", "")
        .replace('\u{a0}', " ")
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&#39;", "'")
        .replace("&amp;", "&")
}

/// The first run: for a reader.
fn told(folder: &Path) {
    let output = reticent(folder, &["demo", "--quick"]);
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(told.chars().all(|c| c == '\n' || !c.is_control()), "{told:?}");
    let titles = [
        "1  A private",
        "2  Three models",
        "3  What the",
        "4  Who was",
        "5  All results",
        "What to try next",
    ];
    let places: Vec<usize> = titles.iter().map(|title| told.find(title).unwrap()).collect();
    assert!(places.is_sorted(), "{places:?}");
    let named = paths(&told);
    assert!(named.len() > 40, "{named:?}");
    for path in named {
        assert!(folder.join(path).exists(), "{path} is named and is not there");
    }
    for command in ["release mean", "train", "account compare", "audit", "report", "predict"] {
        assert!(told.contains(&format!("  reticent {command} ")), "{command}");
    }
}

#[test]
fn what_the_tour_says_is_there_and_a_second_one_replaces_it() {
    let place = TempDir::new().unwrap();
    let folder = place.path();
    told(folder);
    let first = fs::read_to_string(folder.join("demo/data/members.csv")).unwrap();
    fs::write(folder.join("demo/mine.txt"), "mine").unwrap();
    fs::write(folder.join("demo/twin-audit/references/reference-00099-00.safetensors"), "stale").unwrap();
    let text = stdout(folder, &["demo", "--quick", "--json"]);
    assert_eq!(text.lines().count(), 1, "{text}");
    let answer: Value = serde_json::from_str(&text).unwrap();

    // Coins are fresh, nothing stale is left, and what is not the demo's stays.
    assert_ne!(first, fs::read_to_string(folder.join("demo/data/members.csv")).unwrap());
    assert_eq!(fs::read_dir(folder.join("demo/twin-audit/references")).unwrap().count(), 4);
    assert_eq!(fs::read_to_string(folder.join("demo/mine.txt")).unwrap(), "mine");

    let stored: Value =
        serde_json::from_str(&fs::read_to_string(folder.join("demo/demo.json")).unwrap()).unwrap();
    assert_eq!(stored, answer);
    let files: Vec<&str> =
        answer["files"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()).collect();
    for path in &files {
        assert!(folder.join(path).exists(), "{path}");
    }
    // Nothing at the top or among the tables goes unmentioned.
    for inner in ["demo", "demo/data"] {
        for entry in fs::read_dir(folder.join(inner)).unwrap() {
            let name = format!("{inner}/{}", entry.unwrap().file_name().into_string().unwrap());
            assert!(
                files.contains(&name.as_str()) || ["demo/data", "demo/mine.txt"].contains(&name.as_str()),
                "{name}"
            );
        }
    }
    page(folder, &answer);
    numbers(&answer);
    for command in commands(&answer) {
        let words: Vec<&str> = command.split(' ').skip(1).collect();
        stdout(folder, &words);
    }
}

/// The page has every number of the headline and nothing to load.
fn page(folder: &Path, answer: &Value) {
    let html = fs::read_to_string(folder.join("demo/report.html")).unwrap();
    let shown = visible(&html);
    let headline = answer["headline"].as_object().unwrap();
    assert!(headline.len() >= 12, "{headline:?}");
    for (name, value) in headline {
        let value = value.as_str().unwrap().replace('\u{a0}', " ");
        assert!(shown.contains(&value), "{name}: {value}");
    }
    for command in commands(answer) {
        assert!(shown.contains(&command), "{command}");
    }
    assert!(!html.contains("<script") && !html.contains("http") && !html.contains("NaN"));
    for link in html.split("href=\"").skip(1).map(|rest| rest.split('"').next().unwrap()) {
        assert!(folder.join("demo").join(link).exists(), "{link}");
    }
}

/// What the numbers have to do with each other.
fn numbers(answer: &Value) {
    let models = answer["models"]["models"].as_array().unwrap();
    let promised = |model: &Value| model["promise"]["epsilon"].as_f64();
    assert_eq!(
        models.iter().map(promised).map(|epsilon| epsilon.is_some()).collect::<Vec<_>>(),
        [false, true, true]
    );
    assert!(promised(&models[1]).unwrap() <= 1.0 && promised(&models[2]).unwrap() <= 3.0);
    // The tight accountant says of the run what its certificate says.
    let by = |name: &str| {
        let rows = answer["accounting"]["accountants"].as_array().unwrap();
        let row = rows.iter().find(|row| row["name"] == name).unwrap();
        row["epsilon"].as_f64().unwrap()
    };
    assert!((by("pld") - promised(&models[2]).unwrap()).abs() < 1e-6);
    assert!(by("pld") <= by("rdp") && by("rdp") <= by("moments") && by("optimal") <= by("advanced"));
    let audits = answer["membership"]["models"].as_array().unwrap();
    assert!(audits[0]["promise"].is_null() && promised(&audits[1]).unwrap() <= 3.0);
    assert!(audits.iter().all(|model| model["epsilon_lower"]["method"] == "one-run"));
}
