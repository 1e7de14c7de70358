use super::*;

#[test]
fn a_release_tells_what_is_left() {
    let folder = Folder::new();
    let file = budget(&folder, &["--epsilon", "1"]);
    let count = ["release", "count", SURVEY, "--budget", &file, "--epsilon", "0.75"];
    let first = stdout(&count);
    assert!(first.contains("this count could still be asked at epsilon = 0.25 (limit: ε = 1)"), "{first}");
    let again = stdout(&count);
    assert!(again.contains("remembered; nothing was charged"), "{again}");
    let answer = |text: &str| text.lines().next().unwrap().to_owned();
    assert_eq!(answer(&first), answer(&again));
    let said = refusal(&[&count[..], &["--refresh"]].concat());
    assert!(said.starts_with("error[R405]") && said.contains("at epsilon = 0.25"), "{said}");
    let dry = stdout(&[&count[..], &["--dry-run"]].concat());
    assert!(dry.contains("nothing was charged") && dry.contains("at epsilon = 0.25"), "{dry}");
    let shown = stdout(&["budget", "show", &file]);
    assert!(shown.contains("by 1 charge; 1 answer remembered"), "{shown}");
    let history = stdout(&["budget", "history", &file]);
    assert!(history.lines().count() == 2 && history.contains("epsilon 0.75"), "{history}");
}

#[test]
fn every_verb_that_reads_private_data_is_charged() {
    let folder = Folder::new();
    let file = budget(&folder, &["--epsilon", "20", "--delta", "1e-5"]);
    let charges = || json(&["budget", "show", &file])["charges"].as_u64().unwrap();
    let with = |words: &[&str]| stdout(&[words, &["--budget", &file]].concat());
    for question in [
        "count --epsilon 0.1",
        "sum --column age --bounds 17,90 --epsilon 0.1",
        "mean --column age --bounds 17,90 --epsilon 0.1",
        "histogram --column sex --categories Male,Female --epsilon 0.1",
        "quantile --column age --bounds 0,120 --epsilon 0.1",
        "mode --column sex --categories Male,Female --epsilon 0.1",
        "proportion --column sex --value Male --epsilon 0.1",
    ] {
        let before = charges();
        let mut words = vec!["release"];
        words.extend(question.split(' '));
        words.insert(2, SURVEY);
        with(&words);
        with(&words);
        assert_eq!(charges(), before + 1, "{question}");
    }
    let before = charges();
    let schema = folder.path("schema.toml");
    let learnt = with(&["schema", "infer", SURVEY, "--epsilon", "2", "--delta", "1e-6", "--out", &schema]);
    assert!(learnt.contains("this schema could still be asked at epsilon = "), "{learnt}");
    let own = folder.file(
        "own.toml",
        "unit = \"row\"\n[label]\ncolumn = \"income\"\npositive = \">50K\"\n[columns]\nage = { bounds = [17, 90] }\n",
    );
    let fitted = with(&["train", SURVEY, "--schema", &own, "--epsilon", "1"]);
    assert!(fitted.contains("survey.budget, charge "), "{fitted}");
    let network =
        ["--model", "mlp", "--delta", "1e-6", "--dataset-size", "2000", "--steps", "2", "--batch-size", "20"];
    let run = folder.path("run");
    with(&[&["train", SURVEY, "--schema", &own, "--epsilon", "1", "--out", &run], &network[..]].concat());
    assert_eq!(charges(), before + 3);
    // What has no noise fits no budget.
    for words in
        [vec!["schema", "infer", SURVEY], vec!["train", SURVEY, "--schema", &own, "--method", "exact"]]
    {
        let said = refusal(&[&words[..], &["--budget", &file]].concat());
        assert!(said.starts_with("error[R406]"), "{said}");
    }
    assert_eq!(charges(), before + 3);
    // Answers of a survey are about what a row holds.
    let survey = folder.path("answers.budget");
    stdout(&[
        "budget",
        "create",
        &survey,
        "--data",
        SURVEY,
        "--epsilon",
        "1",
        "--neighboring",
        "replace-one",
    ]);
    let out = folder.path("randomized.csv");
    let randomize = [
        "release",
        "randomize",
        SURVEY,
        "--column",
        "sex",
        "--categories",
        "Male,Female",
        "--epsilon",
        "0.5",
    ];
    stdout(&[&randomize[..], &["--out", &out, "--budget", &survey]].concat());
    assert_eq!(json(&["budget", "show", &survey])["charges"], 1);
    let said = refusal(&[&randomize[..], &["--out", &out, "--budget", &file]].concat());
    assert!(said.starts_with("error[R402]"), "{said}");
}

#[test]
fn a_schema_names_the_budget() {
    let folder = Folder::new();
    let file = budget(&folder, &["--epsilon", "1"]);
    let schema = folder.file(
        "schema.toml",
        "unit = \"row\"\nbudget = \"survey.budget\"\n[columns]\nage = { bounds = [17, 90] }\n",
    );
    let mean = [
        "release",
        "mean",
        SURVEY,
        "--column",
        "age",
        "--bounds",
        "17,90",
        "--epsilon",
        "0.5",
        "--schema",
        &schema,
    ];
    assert!(stdout(&mean).contains("this mean could still be asked"));
    assert_eq!(json(&["budget", "show", &file])["charges"], 1);
    let said = refusal(&[&mean[..], &["--budget", &folder.path("other.budget")]].concat());
    assert!(said.contains("the schema names another budget"), "{said}");
    let said = refusal(&["release", "count", SURVEY, "--epsilon", "1", "--analyst", "ana"]);
    assert!(said.contains("only with a budget"), "{said}");
}

#[test]
fn names_are_those_of_the_folder() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("visits")).unwrap();
    for month in ["jan", "feb"] {
        folder.file(&format!("visits/{month}.csv"), "age\n30\n40\n");
    }
    let inside = |words: &[&str]| {
        let output = command(words).current_dir(folder.path("")).output().unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap(),
        )
    };
    let create = ["budget", "create", "h.budget", "--epsilon", "1", "--data", "visits/*.csv"];
    let (status, said) = inside(&create);
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("visits/*.csv") && !said.contains(&folder.path("")), "{said}");
    // From another folder, the same file is the same question.
    let (first, _) =
        inside(&["release", "count", "visits/jan.csv", "--epsilon", "0.5", "--budget", "h.budget"]);
    assert_eq!(first, Some(0));
    let count = ["release", "count", &folder.path("visits/jan.csv"), "--epsilon", "0.5", "--budget"];
    let again = json(&[&count[..], &[&folder.path("h.budget")]].concat());
    assert!(again["budget"]["remembered"].is_string(), "{again}");
    let other = folder.file("other.csv", "age\n30\n");
    let said =
        refusal(&["release", "count", &other, "--epsilon", "0.1", "--budget", &folder.path("h.budget")]);
    assert!(said.starts_with("error[R705]") && said.contains("reticent budget add-data"), "{said}");
    stdout(&["budget", "add-data", &folder.path("h.budget"), &other]);
    stdout(&["release", "count", &other, "--epsilon", "0.1", "--budget", &folder.path("h.budget")]);
}

#[test]
fn an_older_copy_is_refused_beside_its_seal() {
    let folder = Folder::new();
    let file = budget(&folder, &["--epsilon", "1"]);
    let count = |epsilon: &str| {
        reticent(&["release", "count", SURVEY, "--epsilon", epsilon, "--budget", &file]).status.code()
    };
    assert_eq!(count("0.1"), Some(0));
    let old = std::fs::read(&file).unwrap();
    let wal = folder.path("survey.budget-wal");
    let log = std::fs::read(&wal).ok();
    assert_eq!(count("0.2"), Some(0));
    for name in ["survey.budget-wal", "survey.budget-shm"] {
        let _ = std::fs::remove_file(folder.path(name));
    }
    std::fs::write(&file, old).unwrap();
    if let Some(log) = log {
        std::fs::write(&wal, log).unwrap();
    }
    let said = refusal(&["release", "count", SURVEY, "--epsilon", "0.3", "--budget", &file]);
    assert!(said.starts_with("error[R702]"), "{said}");
}

#[test]
fn a_page_about_people_is_charged_and_remembered() {
    let folder = Folder::new();
    let rows: String = (0..300).map(|row| format!("{},{},{}\n", row / 3, row % 2, 20 + row % 60)).collect();
    let visits = folder.file("visits.csv", format!("id,ward,age\n{rows}"));
    let file = folder.path("visits.budget");
    stdout(&["budget", "create", &file, "--data", &visits, "--epsilon", "2", "--unit", "id"]);
    let person = ["--unit", "id", "--rows-per-person", "3", "--groups-per-person", "2"];
    let groups = ["--group-by", "ward", "--keys", "ward=0,1", "--budget", &file];
    let words = ["release", "page", &visits, "--count", "--mean", "age in 0,120", "--epsilon", "0.5"];
    let words = [&words[..], &person, &groups].concat();
    let first = json(&words);
    let again = json(&words);
    assert_eq!((&first["rows"], &first["certificate"]), (&again["rows"], &again["certificate"]));
    assert!(again["budget"]["remembered"].is_string(), "{again}");
    assert_eq!(first["certificate"]["unit"], "all rows of one id");
    let count = ["release", "count", &visits, "--epsilon", "0.5"];
    stdout(&[&count[..], &person[..4], &["--budget", &file]].concat());
    let limits = ["release", "limits", &visits, "--unit", "id", "--epsilon", "0.25", "--budget", &file];
    assert!(stdout(&limits).contains("visits.budget, charge "));
    assert_eq!(json(&["budget", "show", &file])["charges"], 3);
    // What protects rows only is not covered.
    let said = refusal(&[&count[..], &["--budget", &file]].concat());
    assert!(said.starts_with("error[R402]") && said.contains("all rows of one id"), "{said}");
    // Nor is a delta, which Gaussian noise needs.
    let gaussian = ["--where", "age>=30", "--delta", "1e-9", "--mechanism", "gaussian"];
    let said = refusal(&[&words[..], &gaussian].concat());
    assert!(said.starts_with("error[") && said.contains("delta"), "{said}");
}

/// The command with this standard input.
fn piped(words: &[&str], input: &str) -> Output {
    use std::io::Write;
    use std::process::Stdio;
    let mut command = command(words);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn a_pipe_is_answered_and_never_remembered() {
    let folder = Folder::new();
    let file = folder.path("pipes.budget");
    stdout(&["budget", "create", &file, "--data", "-", "--epsilon", "50"]);
    let count = ["release", "count", "-", "--epsilon", "20", "--budget", &file, "--json"];
    let counted = |rows: usize| -> Value {
        let output = piped(&count, &format!("id\n{}", "1\n".repeat(rows)));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let (many, one) = (counted(1000), counted(1));
    assert!(one["budget"]["remembered"].is_null(), "{one}");
    assert!((many["value"].as_f64().unwrap() - 1000.0).abs() < 20.0, "{many}");
    assert!((one["value"].as_f64().unwrap() - 1.0).abs() < 20.0, "{one}");
    assert_eq!(json(&["budget", "show", &file])["charges"], 2);
    // The same pipe twice is one table that is read twice.
    let output = piped(&["release", "count", "-", "--also", "-", "--epsilon", "1"], "id\n1\n");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && said.contains("name each file once"), "{said}");
}

#[test]
fn a_file_is_not_read_twice_whatever_it_is_called() {
    let folder = Folder::new();
    let data = folder.file("d.csv", "id\n1\n2\n");
    for verb in [&["release", "count"][..], &["schema", "infer"]] {
        let words = [verb, &[&data, "--also", &data, "--epsilon", "1", "--delta", "1e-6"]].concat();
        let said = refusal(&words);
        assert!(said.starts_with("error[R103]") && said.contains("name each file once"), "{said}");
    }
}

#[test]
fn a_budget_says_how_its_files_are_read() {
    let folder = Folder::new();
    let data = folder.file("d.csv", "id;x\n1;2\n2;3\n");
    let file = folder.path("d.budget");
    stdout(&["budget", "create", &file, "--data", &data, "--epsilon", "1", "--separator", ";"]);
    let count = ["release", "count", &data, "--epsilon", "0.1", "--budget", &file];
    let said = refusal(&[&count[..], &["--quoting", "none", "--separator", "|"]].concat());
    assert!(said.starts_with("error[R705]") && said.contains("separator"), "{said}");
    assert!(refusal(&count).starts_with("error[R705]"));
    stdout(&[&count[..], &["--separator", ";"]].concat());
    stdout(&["budget", "add-data", &file, &data]);
    stdout(&count);
}

#[test]
fn a_part_pays_for_what_its_analyst_reads() {
    let folder = Folder::new();
    let file = budget(&folder, &["--epsilon", "25"]);
    for (name, epsilon) in [("ana", "21"), ("bob", "0.1")] {
        stdout(&["budget", "allot", &file, "--analyst", name, "--epsilon", epsilon]);
    }
    let ask = |name: &'static str| {
        ["release", "count", SURVEY, "--epsilon", "20", "--budget", &file, "--analyst", name]
            .map(str::to_owned)
    };
    let words = |own: &[String]| own.iter().map(String::as_str).map(str::to_owned).collect::<Vec<_>>();
    let run = |own: [String; 9]| reticent(&words(&own).iter().map(String::as_str).collect::<Vec<_>>());
    assert!(run(ask("ana")).status.success());
    let again = String::from_utf8(run(ask("ana")).stdout).unwrap();
    assert!(again.contains("remembered; nothing was charged"), "{again}");
    let refused = run(ask("bob"));
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(refused.status.code() == Some(2) && said.starts_with("error[R405]"), "{said}");
    assert!(refused.stdout.is_empty() && said.contains("the answer is remembered"), "{said}");
}
