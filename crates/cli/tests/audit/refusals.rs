use super::*;

#[test]
fn bad_tables_are_named_and_never_measured() {
    let folder = Folder::new();
    let cases = [
        ("all.csv", "score,member\n1,1\n2,1\n3,1\n", "every record is a member"),
        ("none.csv", "score,member\n1,0\n2,0\n", "no record is a member"),
        ("same.csv", "score,member\n1,0\n1,1\n1,0\n1,1\n", "all 4 scores are 1"),
        ("nan.csv", "score,member\n1,0\nNaN,1\n", "score"),
        ("odd.csv", "score,member\n1,0\n2,maybe\n", "maybe"),
        ("blank.csv", "score,member\n1,0\n,1\n", "score"),
        ("name.csv", "scores,member\n1,0\n2,1\n", "score"),
        ("member.csv", "score,membr\n1,0\n2,1\n", "member"),
        ("empty.csv", "score,member\n", "record"),
        ("twice.csv", "id,score,member\na,1,0\na,2,1\n", "a"),
        ("sum.csv", "member,label,probability_0,probability_1\n0,0,0.9,0.4\n1,1,0.5,0.5\n", "add up"),
    ];
    for (name, text, part) in cases {
        let line = refusal(&["audit", "--scores", &folder.file(name, text)]);
        assert!(line.contains(part), "{name}: {line}");
    }
    let missing = folder.path("missing.csv");
    assert!(refusal(&["audit", "--scores", &missing]).contains("missing.csv"));
}

#[test]
fn three_records_are_too_few_for_any_number_that_needs_more() {
    let folder = Folder::new();
    let table = folder.file("three.csv", "score,member\n1,0\n2,1\n3,1\n");
    let output = reticent(&["audit", "--scores", &table, "--json"]);
    if output.status.success() {
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(found["tpr_at_fpr"].as_object().unwrap().values().all(Value::is_null));
        let bound = &found["epsilon_lower"];
        assert!(bound.is_null() || bound["value"] == 0.0, "{bound}");
    } else {
        let line = String::from_utf8(output.stderr).unwrap();
        assert!(line.contains("not measurable"), "{line}");
    }
}

#[test]
fn references_must_know_every_record() {
    let folder = Folder::new();
    let table = folder.file("t.csv", "id,score,member\na,1,0\nb,2,1\nc,3,1\nd,2.5,0\n");
    let words = |references: &str| {
        let references = folder.file("r.csv", format!("reference,id,in,score\n{references}"));
        refusal(&["audit", "--scores", &table, "--references-from", &references])
    };
    assert!(words("m,a,1,1\nm,b,0,2\nm,c,1,1\nm,x,1,1\nm,d,1,2\n").contains('x'));
    assert!(words("m,a,1,1\nm,b,0,2\nm,c,1,1\n").contains('d'));
    // Every reference had every record: an attack that was asked for by name says how many lack one without them.
    let references = folder.file("in.csv", "reference,id,in,score\nm,a,1,1\nm,b,1,2\nm,c,1,1\nm,d,1,2\n");
    let line =
        refusal(&["attack", "run", "lira-offline", "--scores", &table, "--references-from", &references]);
    assert!(line.contains("without"), "{line}");
}

#[test]
fn flags_are_checked_before_anything_is_read() {
    for (words, part) in [
        (&["audit", "--scores", "x.csv", "--confidence", "1.5"][..], "--confidence"),
        (&["audit", "--scores", "x.csv", "--delta", "-1"], "--delta"),
        (&["audit", "--scores", "x.csv", "--prior", "0"], "--prior"),
        (&["audit", "--scores", "x.csv", "--bound", "katz"], "--bound"),
        (&["audit", "--scores", "x.csv", "--attacks", "lira-onlin"], "lira-online"),
        (&["attack", "run", "lire", "--scores", "x.csv"], "lire"),
        (&["attack", "fit", "nowhere", "--index", "3", "--of", "3", "--out", "x"], "--index"),
        (&["audit", "--scores", "x.csv", "--references", "4"], "--references"),
        (&["audit", "--scores", "x.csv", "--non-members", "y.csv"], "--non-members"),
        (&["audit", "--scores", "x.csv", "--records", "100"], "--records"),
        (&["audit", "--scores", "x.csv", "--threads", "2"], "--threads"),
        (&["audit", "--scores", "x.csv", "--drawn", "1.5"], "--drawn"),
        (&["audit", "nowhere"], "nowhere"),
        (&["report", "nowhere"], "nowhere"),
    ] {
        let line = refusal(words);
        assert!(line.contains(part), "{words:?}: {line}");
    }
}

/// What is about a bound needs a draw; a flag is used or refused.
#[test]
fn flags_about_a_bound_need_to_know_how_members_were_drawn() {
    let folder = Folder::new();
    let table = folder.file("s.csv", scores(200, 0.3));
    for flag in [["--bound", "one-run"], ["--guesses", "0.1"], ["--delta", "1e-6"]] {
        let line = refusal(&["audit", "--scores", &table, flag[0], flag[1]]);
        assert!(line.contains(flag[0]) && line.contains("--drawn P"), "{line}");
    }
    let line = refusal(&["audit", "--scores", &table, "--drawn", "0.5", "--bound", "gaussian"]);
    assert!(line.contains("a training run of its own"), "{line}");
    let line =
        refusal(&["attack", "run", "given-score", "--scores", &table, "--drawn", "0.5", "--bound", "none"]);
    assert!(line.contains("--drawn"), "{line}");
}

#[test]
fn columns_of_score_tables_are_not_ignored_for_models() {
    for flag in ["--groups", "--features"] {
        let line = refusal(&["audit", "some-model", flag, "sex"]);
        assert!(line.contains(flag) && line.contains("leave it out"), "{line}");
    }
}
