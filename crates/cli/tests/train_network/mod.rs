//! `reticent train`, `predict` and `evaluate` for networks, as a user runs them.

mod cyclic;
mod device;
mod features;
mod growth;
mod images;
mod language;
mod refusals;
mod resume;
mod tables;
mod texts;

use crate::temporary::Folder;
use serde_json::Value;
use std::process::{Command, Output};

fn command(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_reticent"));
    command.env("RETICENT_QUIET", "1").env_remove("RETICENT_DATA").args(words);
    command
}

fn reticent(words: &[&str]) -> Output {
    command(words).output().unwrap()
}

/// The standard output of a command that must succeed.
fn stdout(words: &[&str]) -> String {
    let output = reticent(words);
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The JSON of a command that must succeed: exactly one line.
fn json(words: &[&str]) -> Value {
    let text = stdout(&[words, &["--json"]].concat());
    assert_eq!(text.lines().count(), 1, "{text}");
    serde_json::from_str(&text).unwrap()
}

/// The one line of a command that must be refused, and what it shows of a TOML file; nothing may be on standard output.
fn refusal(words: &[&str]) -> String {
    let output = reticent(words);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{words:?}: {stderr}");
    let has_form =
        stderr.lines().skip(1).all(|line| line.contains(" |")) && [1, 4].contains(&stderr.lines().count());
    assert!(output.stdout.is_empty() && has_form, "{words:?}: {stderr}");
    stderr
}

impl Folder {
    /// A folder of images as MNIST's: `side` pixels square, class c with a bright quadrant c.
    fn images(&self, name: &str, side: u8, train: usize, test: usize) -> String {
        std::fs::create_dir_all(self.path(name)).unwrap();
        for (part, count) in [("train", train), ("t10k", test)] {
            let labels: Vec<u8> = (0..count).map(|image| (image % 3) as u8).collect();
            self.idx(&format!("{name}/{part}-labels-idx1-ubyte"), &[count], &labels);
            let (side, mut pixels) = (usize::from(side), Vec::new());
            for (image, label) in labels.iter().enumerate() {
                for place in 0..side * side {
                    let quadrant = 2 * (place / side * 2 / side) + place % side * 2 / side;
                    let grain = (image * 31 + place * 17) % 60;
                    pixels.push((if quadrant == usize::from(*label) { 180 } else { 20 } + grain) as u8);
                }
            }
            self.idx(&format!("{name}/{part}-images-idx3-ubyte"), &[count, side, side], &pixels);
        }
        self.path(name)
    }

    fn idx(&self, name: &str, shape: &[usize], bytes: &[u8]) {
        let mut file = vec![0, 0, 8, shape.len() as u8];
        shape.iter().for_each(|size| file.extend((*size as u32).to_be_bytes()));
        file.extend(bytes);
        self.file(name, file);
    }
}

/// Flags of a run that takes no time.
const QUICK: &[&str] = &["--epsilon", "8", "--delta", "1e-4", "--batch-size", "60", "--epochs", "8"];
