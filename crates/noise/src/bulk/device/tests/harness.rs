//! The kernels as a program for this processor.

use super::super::{SOURCE, table};
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A program that runs kernels on standard input; removed on drop.
pub(super) struct Harness {
    program: PathBuf,
}

impl Harness {
    /// The kernels as they are.
    pub(super) fn new() -> Self {
        Self::of(SOURCE)
    }

    /// The kernels with one passage replaced.
    pub(super) fn broken(passage: &str, by: &str) -> Self {
        assert_eq!(SOURCE.matches(passage).count(), 1, "`{passage}` must occur once in the source");
        Self::of(&SOURCE.replace(passage, by))
    }

    fn of(source: &str) -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let program = std::env::temp_dir().join(format!("reticent-noise-{}-{number}", std::process::id()));
        let text = [include_str!("header.h"), source, include_str!("main.cc")].concat();
        let mut compiler = Command::new("c++");
        compiler.args(["-std=c++17", "-O2", "-ffp-contract=off", "-x", "c++", "-", "-o"]).arg(&program);
        run(compiler, text.as_bytes(), "on Debian, `apt install g++` installs a C++ compiler");
        Self { program }
    }

    /// What the program writes: numbers of four bytes.
    fn output(&self, mode: &str, n: usize, step: f64, key: &[u32; 8], input: &[u8]) -> Vec<[u8; 4]> {
        let mut program = Command::new(&self.program);
        program.args([mode.to_owned(), n.to_string(), format!("{step:e}")]);
        program.args(key.map(|word| word.to_string()));
        let output = run(program, input, "it is the program of the kernels");
        assert_eq!(output.len(), 4 * n);
        output.as_chunks().0.to_vec()
    }

    /// The noise of n coordinates, in steps.
    pub(super) fn cells(&self, n: usize, key: &[u32; 8]) -> Vec<i32> {
        integers(self.output("cells", n, 1.0, key, &bytes(table())))
    }

    /// The values with noise.
    pub(super) fn add(&self, values: &[f32], step: f64, key: &[u32; 8]) -> Vec<f32> {
        let mut input = bytes(table());
        input.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        let output = self.output("add", values.len(), step, key, &input);
        output.into_iter().map(f32::from_le_bytes).collect()
    }

    /// The cell of each word; number i takes further words as group i does.
    pub(super) fn settle(&self, words: &[u64], key: &[u32; 8], table: &[u64]) -> Vec<i32> {
        integers(self.output("settle", words.len(), 1.0, key, &bytes(&[table, words].concat())))
    }

    /// The fixed-point comparison of each case: a layer, or 256 for the tail; a magnitude or a number of steps; a position; five
    /// words of height.
    pub(super) fn exact(&self, cases: &[[u64; 8]]) -> Vec<bool> {
        let input = bytes(&[table(), cases.as_flattened()].concat());
        let output = integers(self.output("exact", cases.len(), 1.0, &[0; 8], &input));
        output.into_iter().map(|result| result == 1).collect()
    }
}

impl Drop for Harness {
    fn drop(&mut self) {
        // What cannot be removed stays in the folder for temporary files.
        std::fs::remove_file(&self.program).unwrap_or(());
    }
}

fn bytes(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn integers(output: Vec<[u8; 4]>) -> Vec<i32> {
    output.into_iter().map(i32::from_le_bytes).collect()
}

/// Runs a program that reads all of its input before it writes.
fn run(mut command: Command, input: &[u8], hint: &str) -> Vec<u8> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}: {hint}"));
    let written = child.stdin.take().unwrap().write_all(input);
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && written.is_ok(), "{command:?}: {}: {said}", output.status);
    output.stdout
}
