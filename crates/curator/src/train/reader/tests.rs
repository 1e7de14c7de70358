use super::*;
use crate::Request;
use crate::train::{Finished, Trained};
use crate::{Planned, Session};
use std::path::{Path, PathBuf};

/// Three rows by two people, with a row that has many pieces.
fn table(folder: &Path) -> PathBuf {
    let path = folder.join("t.csv");
    std::fs::write(&path, format!("who,say\nann,{}\nbob,hi\nann,\n", "ab".repeat(20))).unwrap();
    path
}

fn request(folder: &Path) -> Train {
    let text = |text: &str| Some(text.to_owned());
    Train {
        data: Some(table(folder)),
        text_column: text("say"),
        tokens: Some(TokenKind::Characters),
        length: Some(4),
        model: text("lstm-lm"),
        steps: Some(1),
        ..Train::default()
    }
}

fn loaded(run: &Train) -> Loaded {
    let source = super::super::found(run).unwrap().source;
    let reader = Reader::of(run, &source, None).unwrap();
    reader.read(&source, true, Session::without_limit().unwrap().watch()).unwrap()
}

#[test]
fn all_pieces_of_a_row_are_one_unit() {
    let folder = tempfile::tempdir().unwrap();
    let found = loaded(&request(folder.path()));
    // 41, 3 and 1 scored tokens in pieces of 4.
    let rows = [vec![0; 11], vec![1], vec![2]].concat();
    assert_eq!((found.rows.as_deref(), found.users.as_deref()), (Some(&rows[..]), None));
    let units = found.units(None, true).unwrap();
    assert_eq!((units.len(), units.example_count()), (3, 13));
    assert_eq!(units, Units::users(&rows, Some(1)).unwrap());
    assert_eq!(found.units(Some(5), true).unwrap(), Units::users(&rows, Some(5)).unwrap());
    // Without a guarantee, pieces are drawn one by one.
    assert_eq!(found.units(None, false).unwrap(), Units::examples(13));
}

#[test]
fn all_pieces_of_an_author_are_one_unit_and_the_certificate_names_the_column() {
    let folder = tempfile::tempdir().unwrap();
    let schema = folder.path().join("schema.toml");
    std::fs::write(&schema, "unit = { column = \"who\" }\n[columns]\n").unwrap();
    let by_author = Train { schema: Some(schema), ..request(folder.path()) };
    let found = loaded(&by_author);
    let authors = [vec![0; 11], vec![1], vec![0]].concat();
    assert_eq!(found.units(None, true).unwrap(), Units::users(&authors, None).unwrap());
    assert_eq!(found.units(Some(2), false).unwrap(), Units::users(&authors, Some(2)).unwrap());
    let noisy = |run: Train, size: u64| Train {
        noise_multiplier: Some(2.0),
        delta: Some(1e-3),
        dataset_size: Some(size),
        batch_size: Some(1),
        ..run
    };
    for (run, size, unit) in [(by_author, 2, "who"), (request(folder.path()), 3, "row")] {
        let mut session = Session::without_limit().unwrap();
        let Trained::Finished(run) = noisy(run, size).check().unwrap().run(&mut session).unwrap() else {
            panic!("nobody stopped it")
        };
        let Finished { certificate, .. } = *run;
        assert!(certificate.unwrap().unit.contains(unit));
    }
}

#[test]
fn what_language_models_do_not_take_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let good = request(folder.path());
    let words = folder.path().join("words.txt");
    std::fs::write(&words, "").unwrap();
    for (bad, field) in [
        (Train { length: Some(1), ..good.clone() }, "length"),
        (Train { label: Some("who".to_owned()), ..good.clone() }, "label"),
        (Train { classes: Some(ClassNames::Count(2)), ..good.clone() }, "classes"),
        (Train { text_column: None, ..good.clone() }, "text_column"),
        (Train { vocabulary: Some(words.clone()), ..good.clone() }, "vocabulary"),
        (Train { tokens: None, ..good.clone() }, "vocabulary"),
        (Train { tokens: None, vocabulary: Some(words), ..good.clone() }, "vocabulary"),
    ] {
        let bad = Train { non_private: Some(true), ..bad };
        let refusal = bad.check().err().unwrap();
        assert_eq!(refusal.field(), Some(field), "{refusal}");
    }
    assert_eq!(token_kind("letters").unwrap_err().field(), Some("tokens"));
}
