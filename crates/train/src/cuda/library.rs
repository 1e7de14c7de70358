//! Where the libraries of a GPU are found.
//!
//! The system's loader looks in its own folders only, and CUDA is often elsewhere: under `/usr/local/cuda`, in a folder that an
//! environment variable names, or in the wheels of a Python environment. A library that is loaded by its full name stays loaded, and
//! the loader then finds it by its short name.
//!
//! This module loads libraries, which runs their code: that is unsafe. It loads NVIDIA's by their names, as every program does that
//! uses a GPU.
#![allow(unsafe_code)]

use crate::TrainError;
use std::path::{Path, PathBuf};

/// A library that the engine needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Library {
    /// The driver, which comes with the GPU's kernel module.
    Driver,
    /// The compiler of kernels.
    Compiler,
    /// Products of matrices.
    Products,
}

impl Library {
    /// Its name without the system's prefix and suffix.
    fn stem(self) -> &'static str {
        match self {
            Self::Driver => "cuda",
            Self::Compiler => "nvrtc",
            Self::Products => "cublas",
        }
    }

    /// What it is and where it comes from.
    fn remedy(self) -> &'static str {
        match self {
            Self::Driver => {
                "the driver of an NVIDIA GPU, libcuda, was not found: train with --device cpu, or install the driver"
            }
            Self::Compiler => {
                "CUDA's compiler of kernels, libnvrtc, was not found: install it (pip install nvidia-cuda-nvrtc, or the CUDA \
                 toolkit), and name its folder in LD_LIBRARY_PATH or CUDA_HOME if it is in an unusual place"
            }
            Self::Products => {
                "CUDA's library for products of matrices, libcublas, was not found: install it (pip install nvidia-cublas, or \
                 the CUDA toolkit), and name its folder in LD_LIBRARY_PATH or CUDA_HOME if it is in an unusual place"
            }
        }
    }

    /// Whether the loader finds it by its short name.
    fn is_found(self) -> bool {
        // SAFETY: loads a library of NVIDIA; see the module.
        unsafe {
            match self {
                Self::Driver => cudarc::driver::sys::is_culib_present(),
                Self::Compiler => cudarc::nvrtc::sys::is_culib_present(),
                Self::Products => cudarc::cublas::sys::is_culib_present(),
            }
        }
    }

    /// Loads it.
    ///
    /// # Errors
    /// [`TrainError::Device`] when it is found nowhere.
    pub(super) fn load(self) -> Result<(), TrainError> {
        if self.is_found() {
            return Ok(());
        }
        for folder in folders() {
            for file in candidates(&folder, self.stem()) {
                // SAFETY: loads a library of NVIDIA; see the module.
                if let Ok(library) = unsafe { libloading::Library::new(&file) } {
                    // It must stay loaded.
                    std::mem::forget(library);
                    if self.is_found() {
                        return Ok(());
                    }
                }
            }
        }
        Err(TrainError::Device(self.remedy().to_owned()))
    }
}

/// Folders where the libraries may be, in the order in which they are tried.
fn folders() -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for name in ["CUDA_HOME", "CUDA_PATH"] {
        if let Some(home) = std::env::var_os(name) {
            folders.push(Path::new(&home).join("lib64"));
            folders.push(Path::new(&home).join("lib"));
        }
    }
    folders
        .extend(["/usr/local/cuda/lib64", "/usr/local/nvidia/lib64", "/usr/lib/wsl/lib"].map(PathBuf::from));
    let environments = ["VIRTUAL_ENV", "CONDA_PREFIX"].into_iter().filter_map(std::env::var_os);
    for environment in environments.map(PathBuf::from).chain([PathBuf::from("/usr/local")]) {
        for python in children(&environment.join("lib")) {
            for packages in ["site-packages", "dist-packages"] {
                for part in children(&python.join(packages).join("nvidia")) {
                    folders.push(part.join("lib"));
                }
            }
        }
    }
    folders
}

/// What is in a folder, in order of names; nothing for one that cannot be read.
fn children(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    found.sort();
    found
}

/// The files of a library in a folder: `lib<stem>.so`, with or without a version.
fn candidates(folder: &Path, stem: &str) -> Vec<PathBuf> {
    let name = format!("lib{stem}.so");
    let is_it = |path: &PathBuf| {
        let own = path.file_name().map(|own| own.to_string_lossy().into_owned()).unwrap_or_default();
        own == name || own.strip_prefix(&name).is_some_and(|rest| rest.starts_with('.'))
    };
    children(folder).into_iter().filter(is_it).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_a_library_are_found_and_others_are_not() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["libnvrtc.so.13", "libnvrtc.so", "libnvrtc-builtins.so.13", "libcublas.so.13"] {
            std::fs::write(folder.path().join(name), b"").unwrap();
        }
        let found: Vec<String> = candidates(folder.path(), "nvrtc")
            .iter()
            .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
            .collect();
        assert_eq!(found, ["libnvrtc.so", "libnvrtc.so.13"]);
        assert!(candidates(&folder.path().join("none"), "nvrtc").is_empty());
    }
}
