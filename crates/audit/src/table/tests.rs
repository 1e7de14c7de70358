use super::*;
use crate::attacks::{GIVEN_SCORE, Registry};
use crate::{AttackSettings, OutputsKind};
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    fn read(&self, text: &str) -> Result<Study, AuditError> {
        read_scores(&self.file("scores.csv", text), &TableSettings::default())
    }

    fn refusal(&self, text: &str) -> String {
        self.read(text).unwrap_err().to_string()
    }
}

#[test]
fn the_least_table() {
    let folder = Folder::new();
    let study = folder.read("score,member\n0.5,1\n-2,0\n3e-1,TRUE\n").unwrap();
    assert_eq!(study.parts().members, [true, false, true]);
    assert_eq!(study.parts().signals.score(), Some(&[0.5, -2.0, 0.3][..]));
    assert_eq!(study.parts().ids, ["0", "1", "2"]);
    assert_eq!(Registry::standard().by_evidence(&study), Some(GIVEN_SCORE));
}

#[test]
fn all_columns() {
    let folder = Folder::new();
    let text = "id,member,label,user,probability_0,probability_1,feature_age,town,sex,reference_a,reference_a_in\n\
                x,1,cat,u1,0.9,0.1,30,Rome,f,1.5,0\n\
                y,0,dog,u2,0.2,0.8,40,Bonn,m,2.5,1\n";
    let path = folder.file("all.csv", text);
    let settings = TableSettings {
        groups: vec!["sex".to_owned()],
        features: vec!["town".to_owned()],
        ..TableSettings::default()
    };
    let study = read_scores(&path, &settings).unwrap();
    let parts = study.parts();
    assert_eq!(parts.ids, ["x", "y"]);
    assert_eq!(parts.labels.as_deref(), Some(&[0, 1][..]));
    assert_eq!(parts.users.as_ref().unwrap(), &["u1", "u2"]);
    assert_eq!(parts.groups, [("sex".to_owned(), vec!["f".to_owned(), "m".to_owned()])]);
    let features = parts.features.as_ref().unwrap();
    assert_eq!((features.columns, features.values.as_slice()), (3, &[30.0, 0.0, 1.0, 40.0, 1.0, 0.0][..]));
    assert_eq!(parts.target.as_ref().unwrap().kind(), OutputsKind::Probabilities);
    assert_eq!(parts.target.as_ref().unwrap().record(1), [0.2, 0.8]);
    assert_eq!(parts.references[0].inside, [false, true]);
    assert_eq!(parts.references[0].signals.score(), Some(&[1.5, 2.5][..]));
}

#[test]
fn messages_name_the_place() {
    let folder = Folder::new();
    let cases = [
        ("score,member\n1,yes\n", "\"yes\" in column \"member\", row 1"),
        ("score,member\n1,1\n2,2\n", "\"2\" in column \"member\", row 2"),
        ("score,member\n1,\n", "row 1"),
        ("score,memebr\n1,1\n", "did you mean \"memebr\""),
        ("scores,member\n1,1\n", "did you mean \"scores\""),
        ("p_0,p_1,member\n0.5,0.5,1\n", "probability_0"),
        ("score,member\n1,1\nNaN,0\n", "column \"score\", row 2"),
        ("score,member\n1,1\nx,0\n", "column \"score\", row 2"),
        ("score,member\n1,1\n,0\n", "column \"score\", row 2"),
        ("id,score,member\na,1,1\na,2,0\n", "id = a"),
        ("member,probability_0,probability_2\n1,0.5,0.5\n", "\"probability_1\""),
        ("member,probability_0,probability_1\n1,0.5,0.6\n", "add up to"),
        ("member,probability_0,probability_1,logit_0\n1,0.5,0.6,1\n", "one of the two kinds"),
        ("score,member,reference_0\n1,1,1\n", "\"reference_0_in\""),
        ("score,member,reference_0_in\n1,1,1\n", "\"reference_0\""),
        ("member,label,logit_0,logit_1\n1,2,0.5,0.6\n", "label = 2"),
    ];
    for (text, wanted) in cases {
        let message = folder.refusal(text);
        assert!(message.contains(wanted), "{message}\nlacks {wanted}");
    }
    let settings = TableSettings { groups: vec!["sexx".to_owned()], ..TableSettings::default() };
    let path = folder.file("groups.csv", "score,member,sex\n1,1,f\n");
    let message = read_scores(&path, &settings).unwrap_err().to_string();
    assert!(message.contains("did you mean \"sex\""), "{message}");
    let message = read_scores(&folder.0.path().join("none.csv"), &TableSettings::default()).unwrap_err();
    assert!(message.to_string().contains("no such file"));
}

#[test]
fn long_references_are_matched_by_id() {
    let folder = Folder::new();
    let study = || folder.read("id,score,member\na,1,1\nb,2,0\nc,3,0\n").unwrap();
    let add = |text: &str| read_references(&folder.file("references.csv", text), study());
    let good =
        add("reference,id,in,score\nr,c,0,30\nr,a,1,10\nr,b,0,20\ns,a,0,1\ns,b,0,2\ns,c,1,3\n").unwrap();
    let references = &good.parts().references;
    assert_eq!(references.len(), 2);
    assert_eq!(references[0].signals.score(), Some(&[10.0, 20.0, 30.0][..]));
    assert_eq!(references[0].inside, [true, false, false]);
    let refusal = |text: &str| add(text).unwrap_err().to_string();
    let message = refusal("reference,id,in,score\nr,a,1,1\nr,b,0,1\nr,z,0,1\nr,y,0,1\n");
    assert!(message.contains("2 records of r that the study does not have: \"z\", \"y\""), "{message}");
    let message = refusal("reference,id,in,score\nr,a,1,1\nr,b,0,1\n");
    assert!(message.contains("1 records of r missing: \"c\""), "{message}");
    let message = refusal("reference,id,in,score\nr,a,1,1\nr,b,0,1\nr,c,0,1\nr,b,0,1\n");
    assert!(message.contains("given more than once: \"b\""), "{message}");
    assert!(refusal("reference,id,inn,score\nr,a,1,1\n").contains("did you mean \"inn\""));
    assert!(refusal("reference,id,in,score\nr,a,maybe,1\n").contains("row 1"));
    assert!(refusal("reference,id,in,score\n").contains("at least one"));
}

/// A stored npy file of little-endian doubles.
fn npy(shape: &[usize], values: &[f64]) -> Vec<u8> {
    let shape: Vec<String> = shape.iter().map(usize::to_string).collect();
    let mut header =
        format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({},), }}", shape.join(", "));
    while (header.len() + 11) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    values.iter().for_each(|value| bytes.extend(value.to_le_bytes()));
    bytes
}

fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0u32, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |c, _| if c & 1 == 1 { (c >> 1) ^ 0xEDB8_8320 } else { c >> 1 })
    })
}

/// A stored archive.
fn npz(arrays: &[(&str, &[usize], &[f64])]) -> Vec<u8> {
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for (name, shape, values) in arrays {
        let (data, name, at) = (npy(shape, values), format!("{name}.npy"), bytes.len() as u32);
        let mut middle = Vec::new();
        middle.extend([20, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        middle.extend(crc(&data).to_le_bytes());
        middle.extend((data.len() as u32).to_le_bytes());
        middle.extend((data.len() as u32).to_le_bytes());
        middle.extend((name.len() as u16).to_le_bytes());
        middle.extend([0, 0]);
        bytes.extend(b"PK\x03\x04");
        bytes.extend(&middle);
        bytes.extend(name.as_bytes());
        bytes.extend(data);
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(&middle);
        directory.extend([0; 10]);
        directory.extend(at.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let (start, count) = (bytes.len() as u32, arrays.len() as u16);
    let size = directory.len() as u32;
    bytes.extend(directory);
    bytes.extend(b"PK\x05\x06\x00\x00\x00\x00");
    bytes.extend(count.to_le_bytes());
    bytes.extend(count.to_le_bytes());
    bytes.extend(size.to_le_bytes());
    bytes.extend(start.to_le_bytes());
    bytes.extend([0, 0]);
    bytes
}

#[test]
fn archives() {
    let folder = Folder::new();
    let arrays: &[(&str, &[usize], &[f64])] = &[
        ("member", &[2], &[1.0, 0.0]),
        ("label", &[2], &[1.0, 0.0]),
        ("id", &[2], &[7.0, 8.0]),
        ("group_ward", &[2], &[3.0, 4.0]),
        ("features", &[2, 1], &[0.5, 1.5]),
        ("target_logits", &[2, 2], &[0.0, 1.0, 2.0, 3.0]),
        ("reference_probabilities", &[1, 2, 2], &[0.25, 0.75, 0.5, 0.5]),
        ("reference_member", &[1, 2], &[0.0, 1.0]),
    ];
    let path = folder.file("study.npz", npz(arrays));
    let study = read_scores(&path, &TableSettings::default()).unwrap();
    let parts = study.parts();
    assert_eq!(parts.ids, ["7", "8"]);
    assert_eq!(parts.groups, [("ward".to_owned(), vec!["3".to_owned(), "4".to_owned()])]);
    assert_eq!(parts.references[0].outputs.as_ref().unwrap().record(0), [0.25, 0.75]);
    assert_eq!(parts.target.as_ref().unwrap().record(1), [2.0, 3.0]);
    let swapped: &[(&str, &[usize], &[f64])] = &[
        ("id", &[2], &[8.0, 7.0]),
        ("reference_logits", &[1, 2, 2], &[1.0, 2.0, 3.0, 4.0]),
        ("reference_member", &[1, 2], &[1.0, 0.0]),
    ];
    let more = read_references(&folder.file("more.npz", npz(swapped)), study.clone()).unwrap();
    assert_eq!(more.parts().references[1].outputs.as_ref().unwrap().record(0), [3.0, 4.0]);
    assert_eq!(more.parts().references[1].inside, [false, true]);
    let refusal = |name: &str, shape: &[usize], values: &[f64]| {
        let mut arrays = arrays.to_vec();
        arrays.retain(|(known, _, _)| *known != name);
        arrays.push((name, shape, values));
        let path = folder.file("bad.npz", npz(&arrays));
        read_scores(&path, &TableSettings::default()).unwrap_err().to_string()
    };
    assert!(refusal("member", &[2], &[1.0, 0.5]).contains("0.5 at place 2"));
    assert!(refusal("score", &[3], &[1.0, 0.5, 2.0]).contains("\"score\" of 3: give 2"));
    assert!(refusal("score", &[2], &[1.0, f64::NAN]).contains("place 2"));
    assert!(refusal("label", &[2], &[1.0, 0.5]).contains("class numbers"));
    assert!(refusal("reference_member", &[1, 3], &[0.0, 1.0, 1.0]).contains("give 1 × 2"));
    // Answers to augmented copies: what to give is one answer per record, not so many classes.
    let augmented = refusal("target_logits", &[2, 4, 2], &[0.0; 16]);
    assert!(augmented.contains("records × classes") && augmented.contains("mean(axis=1)"), "{augmented}");
    let augmented = refusal("reference_probabilities", &[1, 2, 4, 2], &[0.5; 16]);
    assert!(
        augmented.contains("models × records × classes") && augmented.contains("mean(axis=2)"),
        "{augmented}"
    );
    assert!(refusal("drawn", &[2], &[0.5, 0.6]).contains("one probability"));
    assert!(refusal("drawn", &[2], &[1.0, 1.0]).contains("above 0 and below 1"));
    let path = folder.file("none.npz", npz(&[("members", &[1], &[1.0])]));
    let message = read_scores(&path, &TableSettings::default()).unwrap_err().to_string();
    assert!(message.contains("did you mean \"members\""), "{message}");
}

#[test]
fn scores_are_written_and_read_back() {
    let folder = Folder::new();
    let study = folder.read("id,score,member\na,0.1,1\nb,2,0\n").unwrap();
    let found = GIVEN_SCORE.run(&study, &AttackSettings::default()).unwrap();
    let path = folder.0.path().join("out.csv");
    write_scores(&path, &study, &[("given-score", &found.scores)]).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap().trim(), "id,member,given-score\na,1,0.1\nb,0,2.0");
    let settings = TableSettings { score: "given-score".to_owned(), ..TableSettings::default() };
    assert_eq!(read_scores(&path, &settings).unwrap().parts().signals, study.parts().signals);
    assert!(write_scores(&path, &study, &[("short", &[1.0])]).is_err());
}

#[test]
fn gradients_of_any_framework() {
    let folder = Folder::new();
    let base: Vec<(&str, &[usize], &[f64])> = vec![
        ("member", &[2], &[1.0, 0.0]),
        ("score", &[2], &[0.5, 0.25]),
        ("gradient_norms", &[2, 2], &[3.0, 4.0, 0.0, 1.0]),
        ("gradient_cosines", &[2], &[0.5, -0.5]),
        ("reference_member", &[1, 2], &[0.0, 1.0]),
        ("reference_gradient_norms", &[1, 2, 2], &[6.0, 8.0, 1.0, 0.0]),
    ];
    let study = read_scores(&folder.file("own.npz", npz(&base)), &TableSettings::default()).unwrap();
    let norm = study.signal(crate::GRADIENT_NORM).unwrap();
    assert_eq!((norm.target(), norm.reference(0)), (&[-5.0, -1.0][..], Some(&[-10.0, -1.0][..])));
    assert_eq!(study.signal(crate::GRADIENT_NORMS).unwrap().target(), [-3.0, -4.0, 0.0, -1.0]);
    assert_eq!(study.signal(crate::GRADIENT_COSINE).unwrap().target(), [-0.5, 0.5]);
    // The target's own may come with the references, matched by id.
    let scores = "id,score,member\na,0.5,1\nb,0.25,0\n";
    let second: Vec<(&str, &[usize], &[f64])> = base[2..].to_vec();
    let more = read_references(&folder.file("more.npz", npz(&second)), folder.read(scores).unwrap()).unwrap();
    assert_eq!(more.signal(crate::GRADIENT_NORM).unwrap().target(), [-5.0, -1.0]);
    let refusal = |odd: (&'static str, &'static [usize], &'static [f64])| {
        let mut arrays = base.clone();
        arrays.retain(|(name, ..)| *name != odd.0);
        arrays.push(odd);
        let path = folder.file("bad.npz", npz(&arrays));
        read_scores(&path, &TableSettings::default()).unwrap_err().to_string()
    };
    let cases = [
        (refusal(("gradient_norms", &[2], &[1.0, -1.0])), "give numbers from 0"),
        (refusal(("gradient_norms", &[3], &[1.0, 1.0, 1.0])), "give 2"),
        (refusal(("gradient_norms", &[2], &[1.0, f64::NAN])), "finite"),
        (refusal(("gradient_cosines", &[2, 2], &[1.0, 0.0, 1.0, 0.0])), "one number per record"),
        (refusal(("reference_gradient_norms", &[1, 2], &[1.0, 2.0])), "target's width"),
    ];
    for (found, words) in cases {
        assert!(found.contains(words), "{found}");
    }
}
