//! Charts: written whole or not at all, and never over something that is no file.

use super::{account_with, json_of, refused};

const RUN: [&str; 6] = ["--noise-multiplier", "4", "--sampling-rate", "0.01", "--steps", "200"];

#[test]
fn charts_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chart.svg");
    let file = path.to_str().unwrap();
    let words = [&["compare", "--delta", "1e-5", "--plot", file, "--json"], &RUN[..]].concat();
    let found = json_of(&account_with(&words, ""), "compare");
    let curves = &found["curves"];
    let steps = curves["steps"].as_array().unwrap();
    assert_eq!((steps.first().unwrap().as_u64(), steps.last().unwrap().as_u64()), (Some(1), Some(200)));
    for name in ["pld", "rdp", "moments", "optimal", "advanced", "basic", "clt_estimate"] {
        assert_eq!(curves[name].as_array().unwrap().len(), steps.len(), "{name}");
    }
    let pld: Vec<f64> = curves["pld"].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect();
    assert!(pld.windows(2).all(|pair| pair[0] < pair[1]), "{pld:?}");
    assert_eq!(found["accountants"][0]["epsilon"], *pld.last().unwrap());
    let svg = std::fs::read_to_string(&path).unwrap();
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    assert!(svg.contains(">pld<") && svg.contains("stroke-dasharray") && !svg.contains("NaN"));

    // An older chart is replaced, and nothing else is left in the folder.
    let words = [&["tradeoff", "--fpr", "0.03", "--plot", file], &RUN[..]].concat();
    assert!(account_with(&words, "").status.success());
    assert!(std::fs::read_to_string(&path).unwrap().contains("perfect privacy"));
    let words = [&["reconstruction", "--prior", "0,0.001", "--plot", file], &RUN[..]].concat();
    assert!(account_with(&words, "").status.success());
    let svg = std::fs::read_to_string(&path).unwrap();
    assert!(svg.contains("no attack is above this line") && !svg.contains("NaN"));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn lists_are_drawn_against_repetitions() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("list.svg");
    let words = ["compare", "--delta", "1e-6", "--events", "-", "--json", "--plot", file.to_str().unwrap()];
    let log = r#"{"neighboring": "replace-one", "events": [{"laplace": {"noise_multiplier": 50}}]}"#;
    let found = json_of(&account_with(&words, log), "compare");
    assert!(found["curves"]["clt_estimate"].is_null());
    assert!(std::fs::read_to_string(&file).unwrap().contains("repetitions of the list"));
}

#[test]
fn places_where_no_chart_can_go() {
    let folder = tempfile::tempdir().unwrap();
    let taken = folder.path().join("taken.svg");
    std::fs::create_dir(&taken).unwrap();
    let line = |plot: &str| format!("tradeoff {} --fpr 0.1 --plot {plot}", RUN.join(" "));
    let taken = taken.to_str().unwrap();
    refused(&line(taken), &format!("--plot {}", &taken[..taken.len().min(60)]));
    refused(&line("/nowhere/at/all.svg"), "--plot /nowhere/at/all.svg: no such folder: ");
    refused(&line("chart.png"), "--plot chart.png: give a name that ends in .svg");
    let one = "compare --noise-multiplier 1 --delta 1e-5 --plot one.svg";
    refused(one, "--plot one.svg: one step makes no curve: ");
    #[cfg(unix)]
    {
        let link = folder.path().join("l.svg");
        std::os::unix::fs::symlink("/dev/null", &link).unwrap();
        let link = link.to_str().unwrap();
        refused(
            &line(link),
            &format!("--plot {link}: this is a symbolic link, and only regular files are overwritten: "),
        );
    }
}

#[test]
fn beliefs_are_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("beliefs.svg");
    let words = ["posterior", "--epsilon", "0.5,2", "--plot", path.to_str().unwrap()];
    assert!(account_with(&words, "").status.success());
    let svg = std::fs::read_to_string(&path).unwrap();
    assert!(svg.contains("ε = 0.5") && svg.contains("belief before") && !svg.contains("NaN"));
}
