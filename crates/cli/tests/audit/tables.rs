use super::*;

#[test]
fn two_columns_are_enough() {
    let folder = Folder::new();
    let table = folder.file("s.csv", scores(4000, 0.3));
    // Nobody says how members were drawn: rates, and no bound.
    assert!(json(&["audit", "--scores", &table])["epsilon_lower"].is_null());
    let found = json(&["audit", "--scores", &table, "--drawn", "0.5"]);
    // Uniforms that are 0.3 apart: AUC 1 - 0.7²/2.
    assert!((found["auc"].as_f64().unwrap() - 0.755).abs() < 0.03, "{}", found["auc"]);
    // A tenth of the non-members lies above 0.9, and four tenths of the members.
    assert!((found["tpr_at_fpr"]["0.1"].as_f64().unwrap() - 0.4).abs() < 0.06);
    assert!(found["tpr_at_fpr"]["0.001"].is_null() && found["tpr_at_fpr"]["0.0001"].is_null());
    let bound = &found["epsilon_lower"];
    // Scores above 1 are members for sure, and those below 0.3 are not: no ε is large enough.
    assert!(bound["value"].as_f64().unwrap() > 2.0, "{bound}");
    assert_eq!((bound["confidence"].as_f64(), bound["method"].as_str()), (Some(0.95), Some("one-run")));
    assert_eq!((bound["unit"].as_str(), bound["neighboring"].as_str()), (Some("record"), Some("add-remove")));
    assert_eq!(found["headline"], "given-score");
    let text = stdout(&["audit", "--scores", &table, "--drawn", "0.5", "--prior", "0.01"]);
    for part in ["lower bound on ε", "not measurable", "AUC", "PPV", "without the model", "lira-online"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn nothing_is_claimed_where_nothing_leaks() {
    let folder = Folder::new();
    let table = folder.file("s.csv", scores(3000, 0.0));
    for method in ["one-run", "f-dp", "clopper-pearson"] {
        let mut words = vec!["audit", "--scores", &table, "--bound", method, "--confidence", "0.999"];
        if method != "clopper-pearson" {
            words.extend(["--drawn", "0.5"]);
        }
        let found = json(&words);
        assert_eq!(found["epsilon_lower"]["value"], 0.0, "{method}");
    }
    let none = json(&["audit", "--scores", &table, "--bound", "none"]);
    assert!(none["epsilon_lower"].is_null());
}

#[test]
fn an_audit_is_repeatable_and_its_report_stands_alone() {
    let folder = Folder::new();
    let table = folder.file("s.csv", scores(3000, 0.2));
    let out = folder.path("audit");
    let first = json(&["audit", "--scores", &table, "--out", &out]);
    assert_eq!(first, json(&["audit", "--scores", &table]));
    let mut stored: Value =
        serde_json::from_str(&std::fs::read_to_string(folder.path("audit/audit.json")).unwrap()).unwrap();
    // A file says which model it is about; of a score table nobody knows.
    assert_eq!(stored.as_object_mut().unwrap().remove("model"), Some(Value::Null));
    assert_eq!(first, stored);
    assert_eq!(std::fs::read_to_string(folder.path("audit/scores.csv")).unwrap().lines().count(), 3001);
    let private: Value =
        serde_json::from_str(&std::fs::read_to_string(folder.path("audit/private.json")).unwrap()).unwrap();
    assert!(private["what"].as_str().unwrap().starts_with("PRIVATE"));
    assert_eq!(private["records"]["worst"].as_array().unwrap().len(), 20);
    #[cfg(unix)]
    for file in ["private.json", "scores.csv"] {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(folder.path(&format!("audit/{file}"))).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
    let declared =
        folder.file("d.toml", "title = \"A <b>test</b>\"\nrelease = \"open-weights\"\nsubjects = 1500\n");
    let said = json(&["report", &out, "--declared", &declared]);
    let page = std::fs::read_to_string(said["html"].as_str().unwrap()).unwrap();
    assert!(
        page.contains("A &lt;b&gt;test&lt;/b&gt;")
            && !page.contains("<b>test</b>")
            && !page.contains("<script")
    );
    let data: Value =
        serde_json::from_str(&std::fs::read_to_string(said["json"].as_str().unwrap()).unwrap()).unwrap();
    assert_eq!(data["findings"], first);
    assert_eq!(data["declared"]["subjects"], 1500);
    // Neither says of any record whether it was a member.
    assert!(!data.to_string().contains("\"member\"") && !data.to_string().contains("\"score\""));
}

#[test]
fn probabilities_groups_users_and_references_are_read() {
    let folder = Folder::new();
    let mut table = "id,member,label,probability_0,probability_1,sex,user,feature_age\n".to_owned();
    let mut references = "reference,id,in,probability_0,probability_1\n".to_owned();
    for place in 0..600u64 {
        let member = noise(7 * place) < 0.5;
        let label = u8::from(noise(7 * place + 1) < 0.5);
        let sure = |inside: bool, draw: u64| 0.5 + 0.3 * noise(draw) + if inside { 0.15 } else { 0.0 };
        let both = |own: f64| {
            if label == 0 { format!("{own},{}", 1.0 - own) } else { format!("{},{own}", 1.0 - own) }
        };
        let sex = if noise(7 * place + 2) < 0.5 { "f" } else { "m" };
        let said = both(sure(member, 7 * place + 3));
        table += &format!(
            "r{place},{},{label},{said},{sex},u{},{}\n",
            u8::from(member),
            place / 3,
            noise(7 * place + 4)
        );
        for reference in 0..4u64 {
            let inside = noise(1_000_000 + place * 2 + reference / 2) < 0.5;
            let inside = if reference % 2 == 0 { inside } else { !inside };
            let said = both(sure(inside, 2_000_000 + place * 4 + reference));
            references += &format!("m{reference},r{place},{},{said}\n", u8::from(inside));
        }
    }
    let (table, references) = (folder.file("t.csv", &table), folder.file("r.csv", &references));
    let words = ["audit", "--scores", &table, "--references-from", &references, "--groups", "sex"];
    let found = json(&words);
    assert_eq!(found["headline"], "rmia-offline");
    assert!(found["auc"].as_f64().unwrap() > 0.6);
    let names: Vec<&str> =
        found["attacks"].as_array().unwrap().iter().map(|attack| attack["name"].as_str().unwrap()).collect();
    for name in ["yeom-loss", "shokri", "lira-online", "rmia-online", "base", "quantile-regression"] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    assert!(found["groups"].as_array().unwrap().iter().any(|group| group["group"] == "f"));
    assert!(found["users"]["performance"].is_object() && found["baseline"]["performance"].is_object());
    assert_eq!(found["overfitting"].as_array().unwrap().len(), 5);
    let single =
        json(&["attack", "run", "lira-online", "--scores", &table, "--references-from", &references]);
    assert_eq!(single["headline"], "lira-online");
    assert_eq!(single["attacks"].as_array().unwrap().len(), 1);
}

#[test]
fn a_misspelt_column_is_named() {
    let folder = Folder::new();
    let text = scores(1000, 0.3).replace("score,member", "score,member,lable").replace('\n', ",0\n");
    let table = folder.file("s.csv", text.replacen("lable,0", "lable", 1));
    let found = json(&["audit", "--scores", &table]);
    let warnings = found["warnings"].to_string();
    assert!(warnings.contains("nothing uses the column") && warnings.contains("lable"), "{warnings}");
}

#[test]
fn curves_are_drawn() {
    let folder = Folder::new();
    let (table, plot) = (folder.file("s.csv", scores(1000, 0.3)), folder.path("roc.svg"));
    assert!(stdout(&["audit", "--scores", &table, "--plot", &plot]).contains("plot: "));
    let svg = std::fs::read_to_string(&plot).unwrap();
    assert!(svg.contains("given-score") && svg.contains("guessing") && !svg.contains("NaN"));
    assert!(refusal(&["audit", "--scores", &table, "--plot", "roc.png"]).contains("ends in .svg"));
}

/// 500 users with 20 rows each, every row with ε = 0.5 by itself: the bound is about users, and says so.
#[test]
fn a_bound_with_users_is_about_users_and_contradicts_no_certificate_for_rows() {
    let folder = Folder::new();
    let keep = 1.0 / (1.0 + (-0.5_f64).exp());
    let row = |place: u64| {
        let member = noise(7_000_000 + place / 20) < 0.5;
        let told = (noise(place) < keep) == member;
        format!(
            "{},{},u{}\n",
            f64::from(u8::from(told)) + 1e-3 * noise(3 * place + 1),
            u8::from(member),
            place / 20
        )
    };
    let table =
        folder.file("s.csv", "score,member,user\n".to_owned() + &(0..10_000).map(row).collect::<String>());
    let out = folder.path("audit");
    let found = json(&["audit", "--scores", &table, "--drawn", "0.5", "--out", &out]);
    let bound = &found["epsilon_lower"];
    assert!(bound["value"].as_f64().unwrap() > 0.5, "{bound}");
    assert_eq!((bound["unit"].as_str(), bound["unit_records"].as_u64()), (Some("user"), Some(20)));
    let certificate = folder.file(
        "certificate.json",
        "{\"unit\": \"row\", \"neighboring\": \"add-remove\", \"events\": [{\"pure\": {\"epsilon\": 0.5}}], \"epsilon\": 0.5, \
         \"delta\": 0.0, \"accountant\": \"basic\", \"public\": []}",
    );
    let said = json(&["report", &out, "--certificate", &certificate]);
    let page = std::fs::read_to_string(said["html"].as_str().unwrap()).unwrap();
    assert!(!page.contains("contradict") && page.contains("group privacy"));
}

/// Members that differ by themselves: the declared coins are not believed, and rates stay.
#[test]
fn a_declaration_that_the_baseline_refutes_is_not_believed() {
    let folder = Folder::new();
    let row = |place: u64| {
        let member = noise(2 * place) < 0.5;
        let shift = if member { 0.6 } else { 0.0 };
        format!(
            "{},{},{}\n",
            noise(2 * place + 1) + shift,
            u8::from(member),
            noise(9_000_000 + place) + shift
        )
    };
    let table = folder
        .file("s.csv", "score,member,feature_age\n".to_owned() + &(0..2000).map(row).collect::<String>());
    let found = json(&["audit", "--scores", &table, "--drawn", "0.5"]);
    assert!(found["epsilon_lower"].is_null() && found["auc"].as_f64().unwrap() > 0.8);
    assert!(found["warnings"].to_string().contains("not drawn as declared"), "{}", found["warnings"]);
}

#[test]
fn draws_are_declared_by_a_column_or_as_pairs_or_as_a_fixed_number() {
    let folder = Folder::new();
    let row = |place: u64| {
        let member = (noise(place / 2) < 0.5) ^ place.is_multiple_of(2);
        let score = noise(5_000_000 + place) + 0.8 * f64::from(u8::from(member));
        format!("{score},{},p{},0.5\n", u8::from(member), place / 2)
    };
    let rows: String = (0..2000).map(row).collect();
    let columns = folder.file("drawn.csv", format!("score,member,pair,drawn\n{rows}"));
    assert_eq!(json(&["audit", "--scores", &columns])["epsilon_lower"]["neighboring"], "add-remove");
    let pairs = folder.file("pairs.csv", format!("score,member,pair,other\n{rows}"));
    for draw in ["pairs", "fixed"] {
        let found = json(&["audit", "--scores", &pairs, "--drawn", draw]);
        let bound = &found["epsilon_lower"];
        assert_eq!(bound["neighboring"], "replace-one");
        assert!(bound["value"].as_f64().unwrap() > 0.5 && bound["counts"]["randomised"] == 1000, "{bound}");
    }
    for value in ["0.4", "pairs", "fixed"] {
        let said = refusal(&["audit", "--scores", &columns, "--drawn", value]);
        assert!(said.contains(&format!("--drawn {value}: contradicts the column")), "{said}");
    }
    let said = refusal(&["audit", "--scores", &pairs, "--drawn", "0.4", "--bound", "none"]);
    assert!(said.contains("--drawn 0.4: is for a bound"), "{said}");
    assert!(refusal(&["audit", "--scores", &columns, "--drawn", "half"]).contains("--drawn"));
}

/// A group's name that turns the text around it is written as its number; scores beside memberships are for their owner.
#[test]
fn files_hold_no_unseen_characters_and_scores_are_private() {
    let folder = Folder::new();
    let row = |place: u64| {
        let member = noise(place) < 0.5;
        format!(
            "{},{},{}\n",
            noise(9_000_000 + place),
            u8::from(member),
            if place.is_multiple_of(2) { "a\u{202e}b" } else { "c" }
        )
    };
    let rows: String = (0..400).map(row).collect();
    let table = folder.file("s.csv", format!("score,member,kind\n{rows}"));
    let (out, scored) = (folder.path("audit"), folder.path("scored.csv"));
    let said = json(&["audit", "--scores", &table, "--groups", "kind", "--out", &out]);
    let text = std::fs::read_to_string(folder.path("audit/audit.json")).unwrap();
    assert!(!text.contains('\u{202e}') && text.contains("a\\u202eb"));
    let mut stored = serde_json::from_str::<Value>(&text).unwrap();
    stored.as_object_mut().unwrap().remove("model");
    assert_eq!(stored, said);
    json(&["attack", "run", "given-score", "--scores", &table, "--out", &scored]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&scored).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
