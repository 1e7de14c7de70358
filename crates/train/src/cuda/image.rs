//! The kernels as a GPU runs them.
//!
//! The driver and the compiler of kernels are C libraries: calling them is unsafe. Their promises are kept here: a device that exists, and
//! programs and buffers that live until the calls return.
#![allow(unsafe_code)]

use super::driver::failed;
use super::kernels::source;
use super::library::Library;
use crate::TrainError;
use crate::digest::digest;
use cudarc::driver::{result as driver, sys};
use cudarc::nvrtc::{result as compiler, sys as compiler_sys};
use std::ffi::CString;
use std::path::PathBuf;

/// The compiled kernels for a device: from the folder of kernels compiled before, or compiled now.
pub(super) fn image(device: sys::CUdevice) -> Result<Vec<u8>, TrainError> {
    // SAFETY: the device exists.
    let part = |attribute| unsafe { driver::device::get_attribute(device, attribute) };
    let asked = |error| failed("the GPU's architecture", error);
    use sys::CUdevice_attribute_enum as Attribute;
    let major = part(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR).map_err(asked)?;
    let minor = part(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR).map_err(asked)?;
    let source = source();
    let stored = cache_folder().map(|folder| {
        let name = digest(&(&source, major, minor));
        folder.join(format!("kernels-{name}-sm{major}{minor}.cubin"))
    });
    if let Some(bytes) = stored.as_ref().and_then(|path| std::fs::read(path).ok())
        && let Some((sum, image)) = bytes.split_at_checked(8)
        && sum == crate::digest::checksum(image).to_le_bytes()
    {
        return Ok(image.to_vec());
    }
    let image = compile(&source, major, minor)?;
    if let Some(path) = stored {
        // Without a folder to write to, kernels are compiled at every start.
        let sum = crate::digest::checksum(&image).to_le_bytes();
        let _ = path.parent().map(std::fs::create_dir_all);
        let _ = reticent_files::write_atomic(&path, &[&sum[..], &image].concat());
    }
    Ok(image)
}

/// Where compiled kernels are kept: `RETICENT_CACHE`, or `reticent` in the user's folder for such files.
fn cache_folder() -> Option<PathBuf> {
    let own = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    own("RETICENT_CACHE")
        .or_else(|| own("XDG_CACHE_HOME").map(|folder| folder.join("reticent")))
        .or_else(|| own("HOME").map(|folder| folder.join(".cache").join("reticent")))
}

/// Compiles the kernels for an architecture.
fn compile(source: &str, major: i32, minor: i32) -> Result<Vec<u8>, TrainError> {
    Library::Compiler.load()?;
    let text = CString::new(source).map_err(|error| failed("the kernels' source", error))?;
    let program = compiler::create_program(&text, None).map_err(|error| failed("the compiler", error))?;
    let options = [format!("--gpu-architecture=sm_{major}{minor}"), "--std=c++14".to_owned()];
    // SAFETY: the program exists until it is destroyed below, and the buffer has the length that the compiler states.
    unsafe {
        let compiled = compiler::compile_program(program, &options);
        let result = match compiled {
            Ok(()) => {
                let mut size = 0usize;
                let mut image = Vec::new();
                let mut state = compiler_sys::nvrtcGetCUBINSize(program, &mut size).result();
                if state.is_ok() {
                    image.resize(size, 0u8);
                    state = compiler_sys::nvrtcGetCUBIN(program, image.as_mut_ptr().cast()).result();
                }
                state.map(|()| image).map_err(|error| failed("the compiled kernels", error))
            }
            Err(error) => {
                let log = compiler::get_program_log(program).unwrap_or_default();
                let log: String = log.iter().map(|byte| *byte as u8 as char).collect();
                Err(TrainError::Device(format!("the kernels do not compile: {error:?}\n{log}")))
            }
        };
        let _ = compiler::destroy_program(program);
        result
    }
}
