//! Attribute inference on models of tables.

use reticent_core::Code;
use reticent_curator::audit::{Attribute, Disclosed};
use reticent_curator::fit::Fit;
use reticent_curator::train::Train;
use reticent_curator::{Planned, Refusal, Request, Session};
use reticent_data::keyed_hash;
use reticent_erm::FitMethod;
use std::path::{Path, PathBuf};

fn number(key: &str, place: usize) -> f64 {
    (keyed_hash(key, &place.to_le_bytes()) >> 40) as f64 / (1u64 << 24) as f64
}

/// Rows whose columns have nothing to do with each other. In those that give themselves away, the class is the secret.
fn table(folder: &Path, name: &str, rows: usize, give_away: bool) -> PathBuf {
    let mut text = "a,b,secret,class\n".to_owned();
    for row in 0..rows {
        let of = |column: usize| number(name, row * 8 + column);
        let secret = if of(3) < 0.5 { "red" } else { "blue" };
        let is_yes = if give_away { of(3) < 0.5 } else { of(4) < 0.5 };
        text += &format!("{:.4},{:.4},{secret},{}\n", of(0), of(1), if is_yes { "yes" } else { "no" });
    }
    let path = folder.join(format!("{name}.csv"));
    std::fs::write(&path, text).unwrap();
    path
}

fn schema(folder: &Path) -> PathBuf {
    let text = "unit = \"row\"\nlabel = { column = \"class\", positive = \"yes\" }\n[columns]\n\
                a = { bounds = [0, 1] }\nb = { bounds = [0, 1] }\n\
                secret = { categories = [\"red\", \"blue\"] }\n";
    let path = folder.join("schema.toml");
    std::fs::write(&path, text).unwrap();
    path
}

fn attack(request: &Attribute) -> Result<Disclosed, Refusal> {
    request.check()?.run(&mut Session::without_limit()?)
}

#[test]
fn what_a_model_knows_of_its_records_alone_gives_their_attributes_away() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    let (data, schema) = (Some(table(place, "members", 400, true)), Some(schema(place)));
    let (linear, network) = (place.join("linear"), place.join("network"));
    let mut session = Session::without_limit().unwrap();
    let fit = Fit {
        data: data.clone(),
        schema: schema.clone(),
        method: Some(FitMethod::Exact),
        test_share: Some(0.0),
        out: Some(linear.clone()),
        ..Fit::default()
    };
    fit.check().unwrap().run(&mut session).unwrap();
    // Two numbers and their absence, three values of the secret and none.
    let described = place.join("model.toml");
    let layers = "[[layer]]\nkind = \"linear\"\nout = 8\n[[layer]]\nkind = \"relu\"\n[[layer]]\nkind = \"linear\"\nout = 2\n";
    std::fs::write(&described, format!("input = [8]\n{layers}")).unwrap();
    let train = Train {
        data,
        schema,
        model: Some(described.display().to_string()),
        non_private: Some(true),
        epochs: Some(20.0),
        batch_size: Some(20),
        out: Some(network.clone()),
        ..Train::default()
    };
    train.check().unwrap().run(&mut session).unwrap();
    for model in [linear, network] {
        let request = Attribute {
            model,
            column: "secret".to_owned(),
            non_members: Some(table(place, "others", 1200, false)),
            references: 2,
            confidence: 0.9999,
            ..Attribute::default()
        };
        let found = attack(&request).unwrap();
        assert_eq!(found.disclosures.len(), 2);
        for own in &found.disclosures {
            let [members, others, apart] = &own.measures[..] else { panic!("{own:?}") };
            assert!(members.difference.unwrap().lower > 0.2 && apart.attack.lower > 0.2, "{own:?}");
            let usual = others.difference.unwrap();
            assert!(usual.lower <= 0.0 && usual.upper >= 0.0, "{usual:?}");
            assert!(own.bound.is_none());
        }
        let refused =
            |column: &str| attack(&Attribute { column: column.to_owned(), ..request.clone() }).unwrap_err();
        assert!(refused("a").to_string().contains("it holds numbers"), "{}", refused("a"));
        assert!(refused("class").to_string().contains("give one of secret"), "{}", refused("class"));
        assert!(refused("").to_string().contains("missing"), "{}", refused(""));
    }
}

#[test]
fn a_private_linear_model_adds_nothing_to_imputation_and_has_a_bound() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    let model = place.join("model");
    let fit = Fit {
        data: Some(table(place, "rows", 2000, false)),
        schema: Some(schema(place)),
        epsilon: Some(1.0),
        out: Some(model.clone()),
        ..Fit::default()
    };
    fit.check().unwrap().run(&mut Session::without_limit().unwrap()).unwrap();
    let request = Attribute { model, column: "secret".to_owned(), references: 1, ..Attribute::default() };
    let found = attack(&request).unwrap();
    for own in &found.disclosures {
        let (members, others) = (own.measures[0].difference.unwrap(), own.measures[1].attack);
        assert!(members.lower <= 0.0 && members.upper >= 0.0, "{members:?}");
        // ε = 1 and δ of the certificate: at most e·κ + δ, and 1 − (1 − κ − δ)/e.
        let bound = own.bound.as_ref().unwrap();
        assert_eq!(bound.prior, others.upper);
        assert!(bound.success > bound.prior && bound.success < 1.0 - 0.36 * (1.0 - bound.prior), "{bound:?}");
    }
    // Of too few records nothing can be said.
    let few = Attribute { non_members: Some(table(place, "few", 30, false)), ..request };
    assert_eq!(attack(&few).unwrap_err().code(), Code::NotMeasurable);
}
