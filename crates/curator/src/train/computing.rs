//! Where networks are computed.

use crate::refusal::{Refusal, with_fields};
use reticent_core::Code;
use reticent_core::Permit;
use reticent_train::describe::preset;
use reticent_train::{
    Description, Device, Engine, Examples, FederatedTerms, Federation, Recipe, Resources, TrainError, engine,
};
use std::sync::Arc;

/// The device of that name.
///
/// # Errors
/// [`Refusal`] for any other name.
pub fn device(name: &str) -> Result<Device, Refusal> {
    match name {
        "cpu" => Ok(Device::Cpu),
        "cuda" => Ok(Device::Cuda),
        other => Err(Refusal::unknown("device", other, "unknown: give cpu, or cuda for an NVIDIA GPU")),
    }
}

/// What computes a network, and with how much. None of it changes what is guaranteed or what is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Computing {
    pub(crate) device: Device,
    pub(crate) resources: Resources,
}

impl Computing {
    /// So many threads, all processors if none are given; so many examples at once, as many as fit if none are given.
    pub(crate) fn new(device: Device, threads: Option<u64>, chunk: Option<u64>) -> Self {
        let whole = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let threads = threads.map_or(Resources::default().threads, whole);
        Self { device, resources: Resources { threads, chunk: chunk.map(whole) } }
    }

    /// An engine for a network.
    ///
    /// # Errors
    /// [`Refusal`] about the field `device` where the machine does not have it.
    pub(crate) fn engine(&self, description: &Description) -> Result<Box<dyn Engine>, Refusal> {
        engine(description, self.device, self.resources).map_err(|error| match &error {
            TrainError::Device(why) if self.device != Device::Cpu => {
                Refusal::value("device", name(self.device), with_fields(why))
                    .coded(Code::Device)
                    .because(error)
            }
            _ => error.into(),
        })
    }

    /// A federation of parties with these examples. Parties compute on one thread each, as many at a time as there are threads.
    ///
    /// # Errors
    /// What the parties and the engine refuse.
    pub(crate) fn federation(
        &self,
        description: &Description,
        parties: Vec<Arc<Examples>>,
        terms: FederatedTerms,
        recipe: Recipe,
        permit: Option<Permit>,
        key: Option<&str>,
    ) -> Result<Federation, TrainError> {
        let single = Resources { threads: 1, ..self.resources };
        let make = || engine(description, self.device, single);
        Federation::new(&make, parties, terms, recipe, permit, key)?.on_threads(self.resources)
    }

    /// Opens the device where the network is not known yet, so that one that is missing is refused before anything is charged. The
    /// device stays open for as long as the result lives. Nothing for the CPU.
    pub(crate) fn open(&self) -> Result<Option<Box<dyn Engine>>, Refusal> {
        match self.device {
            Device::Cpu => Ok(None),
            _ => self.engine(&preset("logistic", &[1], None, 2)?).map(Some),
        }
    }

    /// Refuses what a linear model does not have.
    pub(crate) fn check_linear(&self) -> Result<(), Refusal> {
        if self.device != Device::Cpu {
            let remedy =
                "only for networks, and this is a linear model, which the CPU computes: leave it out";
            return Err(Refusal::conflict("device", name(self.device), remedy));
        }
        match self.resources.chunk {
            None => Ok(()),
            Some(chunk) => {
                let remedy = "only for networks, and this is a linear model: leave it out";
                Err(Refusal::conflict("chunk", chunk, remedy))
            }
        }
    }

    /// How many examples are handed to an engine at once for their outputs. A GPU divides them by its own memory.
    pub(crate) fn rows(&self) -> usize {
        match self.device {
            Device::Cpu => 512,
            _ => 1 << 16,
        }
    }
}

/// What requests call a device.
fn name(device: Device) -> &'static str {
    match device {
        Device::Cpu => "cpu",
        _ => "cuda",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_have_the_names_that_requests_write() {
        for known in [Device::Cpu, Device::Cuda] {
            assert_eq!(device(name(known)).unwrap(), known);
            assert_eq!(serde_json::to_value(known).unwrap(), name(known));
        }
        let refusal = device("tpu").unwrap_err();
        assert_eq!((refusal.code(), refusal.field()), (Code::UnknownName, Some("device")));
        assert!(refusal.to_string().contains("cpu, or cuda"), "{refusal}");
    }

    #[test]
    fn a_linear_model_has_no_device() {
        let given = |device, chunk| Computing::new(device, Some(2), chunk).check_linear();
        given(Device::Cpu, None).unwrap();
        for (refused, field) in
            [(given(Device::Cuda, None), "device"), (given(Device::Cpu, Some(8)), "chunk")]
        {
            let refusal = refused.unwrap_err();
            assert_eq!((refusal.code(), refusal.field()), (Code::Conflict, Some(field)));
        }
    }

    #[test]
    fn numbers_without_meaning_are_refused() {
        let network = preset("logistic", &[1], None, 2).unwrap();
        for (threads, chunk, field) in [(Some(0), None, "threads"), (None, Some(0), "chunk")] {
            let refusal = Computing::new(Device::Cpu, threads, chunk).engine(&network).err().unwrap();
            assert_eq!((refusal.code(), refusal.field()), (Code::Range, Some(field)));
        }
        Computing::new(Device::Cpu, Some(1), Some(8)).engine(&network).unwrap();
        assert!(Computing::new(Device::Cpu, None, None).open().unwrap().is_none());
    }
}
