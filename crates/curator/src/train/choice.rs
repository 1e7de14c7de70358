//! Networks and linear models share a command: which of them is meant, and which fields only networks have.

use super::describe::{check_name, is_network};
use super::request::Train;
use super::source::image_folder;
use crate::refusal::Refusal;
use reticent_core::Code;
use reticent_train::Device;
use std::path::{Path, PathBuf};

impl Train {
    /// Whether a network is meant rather than a linear model of [`fit`](crate::fit): by the model's name, by texts or images,
    /// by what only networks are trained with, or by a `run.toml` in place of the data.
    ///
    /// # Errors
    /// [`Refusal`] where the model's name is neither, or a dataset cannot be found.
    pub fn is_network(&self) -> Result<bool, Refusal> {
        if let Some(model) = &self.model {
            check_name(model)?;
            if is_network(model) {
                return Ok(true);
            }
        }
        if self.federated.is_some()
            || self.adversarial.is_some()
            || self.label_smoothing.is_some()
            || self.augment.is_some()
            || self.vocabulary.is_some()
            || self.init.is_some()
            || self.vectors.is_some()
            || self.pretrain.is_some()
            || self.text_column.is_some()
            || self.tokens.is_some()
            || self.length.is_some()
        {
            return Ok(true);
        }
        match &self.data {
            Some(file) if is_run(file) || file.is_dir() => Ok(true),
            Some(file) => Ok(image_folder(file, self.data_dir.as_deref())?.is_some()),
            None => Ok(false),
        }
    }

    /// Refuses fields that a linear model does not have.
    ///
    /// # Errors
    /// [`Refusal`] of the first such field.
    pub fn check_linear(&self) -> Result<(), Refusal> {
        let common = Self {
            data: self.data.clone(),
            data_dir: self.data_dir.clone(),
            schema: self.schema.clone(),
            model: self.model.clone(),
            epsilon: self.epsilon,
            delta: self.delta,
            neighboring: self.neighboring.clone(),
            dataset_size: self.dataset_size,
            steps: self.steps,
            learning_rate: self.learning_rate,
            // Every model can be computed there.
            device: self.device.filter(|device| *device == Device::Cpu),
            out: self.out.clone(),
            ..Self::default()
        };
        if *self == common {
            return Ok(());
        }
        if self.non_private.is_some() {
            let remedy = "only for networks: give ⟦method⟧ exact for a linear model without privacy";
            return Err(Refusal::about(Code::Conflict, "non_private", remedy));
        }
        let (text, own) = (self.to_toml()?, common.to_toml()?);
        let key = text.lines().find(|line| !own.contains(line)).and_then(|line| line.split(' ').next());
        let remedy = "only for networks: give ⟦model⟧ mlp or another network, or leave it out";
        Err(Refusal::about(Code::Conflict, &key.unwrap_or_default().replace('-', "_"), remedy))
    }

    /// Where the data are a `run.toml`: that file, and the request with everything that it leaves open as the file says.
    ///
    /// # Errors
    /// [`Refusal`] with the place of what is wrong in the file.
    pub fn with_file(mut self) -> Result<(Self, Option<PathBuf>), Refusal> {
        let file = self.data.take_if(|file| is_run(file));
        let request = match &file {
            Some(file) => self.over(Self::read(file)?)?,
            None => self,
        };
        Ok((request, file))
    }
}

fn is_run(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "toml")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_networks_are_told_from_those_of_linear_models() {
        let network = |request: Train| request.is_network().unwrap();
        assert!(!network(Train::default()));
        assert!(network(Train { model: Some("mlp".to_owned()), ..Train::default() }));
        assert!(!network(Train { model: Some("logistic".to_owned()), ..Train::default() }));
        assert!(network(Train { length: Some(9), ..Train::default() }));
        assert!(network(Train { adversarial: Some(3.0), ..Train::default() }));
        assert!(network(Train { data: Some("first/run.toml".into()), ..Train::default() }));
        let unknown = Train { model: Some("mpl".to_owned()), ..Train::default() };
        assert_eq!(unknown.is_network().unwrap_err().field(), Some("model"));
    }

    #[test]
    fn a_linear_model_refuses_what_networks_have() {
        let linear = Train { epsilon: Some(1.0), steps: Some(3), ..Train::default() };
        linear.check_linear().unwrap();
        Train { device: Some(Device::Cpu), ..linear.clone() }.check_linear().unwrap();
        for (request, field) in [
            (Train { batch_size: Some(9), ..linear.clone() }, "batch_size"),
            (Train { clip: Some(1.0), ..linear.clone() }, "clip"),
            (Train { device: Some(Device::Cuda), ..linear.clone() }, "device"),
            (Train { chunk: Some(8), ..linear.clone() }, "chunk"),
            (Train { non_private: Some(true), clip: Some(1.0), ..linear }, "non_private"),
        ] {
            let refusal = request.check_linear().unwrap_err();
            assert_eq!((refusal.code(), refusal.field()), (Code::Conflict, Some(field)));
        }
    }

    #[test]
    fn a_file_says_what_the_request_leaves_open() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("run.toml");
        std::fs::write(&file, "epsilon = 3\ndelta = 1e-5\nclip = 0.5\n").unwrap();
        let given = Train { data: Some(file.clone()), epsilon: Some(1.0), ..Train::default() };
        let (request, named) = given.with_file().unwrap();
        assert_eq!(named, Some(file));
        assert_eq!((request.epsilon, request.clip, request.data), (Some(1.0), Some(0.5), None));
    }
}
