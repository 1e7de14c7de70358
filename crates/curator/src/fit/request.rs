//! The request for a linear model.

use super::plan::{FitPlan, FitTables, plan};
use crate::Request;
use crate::refusal::Refusal;
use reticent_core::Neighboring;
use reticent_data::Reading;
use reticent_erm::FitMethod;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A linear model to be trained on a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Fit {
    /// The table, or the name of a dataset in `data_dir`; none for the bundled census records.
    pub data: Option<PathBuf>,
    /// How its files are read: further files, the dialect of CSV text, derived columns. A test table is read in the same way,
    /// without the further files.
    #[serde(skip_serializing_if = "Reading::is_default")]
    pub reading: Reading,
    /// A folder of datasets.
    #[serde(alias = "data_dir")]
    pub data_dir: Option<PathBuf>,
    /// The public schema of the table; none if the dataset has its own.
    pub schema: Option<PathBuf>,
    /// The model; none for the default of the label.
    pub model: Option<LinearModel>,
    /// The privacy budget ε; none only for the exact method.
    pub epsilon: Option<f64>,
    /// The δ; none for a pure guarantee.
    pub delta: Option<f64>,
    /// The private method; none for the one with the best bound.
    pub method: Option<FitMethod>,
    /// The neighboring relation.
    pub neighboring: Neighboring,
    /// The public approximate number of training rows; without it, part of ε pays for a noisy count.
    #[serde(alias = "dataset_size")]
    pub dataset_size: Option<u64>,
    /// The L2 regularization strength; none for a value from public numbers.
    pub regularization: Option<f64>,
    /// Whether the intercept is left out.
    #[serde(alias = "no_intercept")]
    pub no_intercept: bool,
    /// The number of gradient steps.
    pub steps: Option<u64>,
    /// The learning rate of the gradient steps.
    #[serde(alias = "learning_rate")]
    pub learning_rate: Option<f64>,
    /// The sampling rate of sgd.
    #[serde(alias = "sampling_rate")]
    pub sampling_rate: Option<f64>,
    /// The fraction of rows held out for testing; none for a fifth, or for 0 with a test table or under
    /// replace-one.
    #[serde(alias = "test_share")]
    pub test_share: Option<f64>,
    /// The key of the hash that splits rows into training and held-out rows.
    #[serde(alias = "split_key")]
    pub split_key: String,
    /// Another labelled table to test on, whose rows are not protected.
    pub test: Option<PathBuf>,
    /// Whether the classes of the schema are the labels that the data hold, which are thereby declared to be public.
    #[serde(alias = "observed_labels")]
    pub observed_labels: bool,
    /// The folder to save the model to, which must be new.
    pub out: Option<PathBuf>,
}

impl Default for Fit {
    fn default() -> Self {
        Self {
            data: None,
            reading: Reading::default(),
            data_dir: None,
            schema: None,
            model: None,
            epsilon: None,
            delta: None,
            method: None,
            neighboring: Neighboring::AddRemove,
            dataset_size: None,
            regularization: None,
            no_intercept: false,
            steps: None,
            learning_rate: None,
            sampling_rate: None,
            test_share: None,
            split_key: "reticent".to_owned(),
            test: None,
            observed_labels: false,
            out: None,
        }
    }
}

impl Request for Fit {
    type Planned = FitPlan;

    fn check(&self) -> Result<FitPlan, Refusal> {
        plan(self, None)
    }
}

impl Fit {
    /// As [`check`](Request::check), about tables that are given beside the request, such as tables in memory. The request's
    /// `data` and `data_dir` must be left out, and so must `test` and `schema` where they are given here.
    ///
    /// # Errors
    /// As [`check`](Request::check), and if the request names what is given.
    pub fn check_tables(&self, tables: FitTables) -> Result<FitPlan, Refusal> {
        plan(self, Some(tables))
    }
}

/// The linear models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LinearModel {
    /// Logistic regression.
    Logistic,
    /// A support vector machine, with a smoothed hinge.
    Svm,
    /// Least squares.
    Ridge,
}

impl LinearModel {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Logistic, Self::Svm, Self::Ridge];

    /// The name in a request and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Logistic => "logistic",
            Self::Svm => "svm",
            Self::Ridge => "ridge",
        }
    }

    /// The model of that name.
    ///
    /// # Errors
    /// [`Refusal`] for any other name.
    pub fn named(name: &str) -> Result<Self, Refusal> {
        let found = Self::ALL.into_iter().find(|model| model.name() == name);
        found.ok_or_else(|| Refusal::unknown("model", name, "unknown: give logistic, svm or ridge"))
    }
}

/// The method of that name; none for `auto`.
///
/// # Errors
/// [`Refusal`] for any other name.
pub fn method(name: &str) -> Result<Option<FitMethod>, Refusal> {
    match name {
        "auto" => Ok(None),
        "gradient" => Ok(Some(FitMethod::Descent)),
        _ => name.parse().map(Some).map_err(|_| {
            let known = "unknown: give auto, output, objective, gradient, sgd, chaudhuri-2011, kifer-2012, \
                         iyengar-2019 or exact";
            Refusal::unknown("method", name, known)
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reticent_core::Code;

    /// The name of a method.
    fn method_name(method: Option<FitMethod>) -> &'static str {
        match method {
            None => "auto",
            Some(FitMethod::Descent) => "gradient",
            Some(method) => method.name(),
        }
    }

    #[test]
    fn what_no_flag_can_carry_is_refused_with_its_field() {
        let good = Fit { epsilon: Some(1.0), ..Fit::default() };
        assert!(good.check().is_ok());
        let sgd = Fit { method: Some(FitMethod::Sgd), delta: Some(1e-6), ..good.clone() };
        for (field, bad) in [
            ("epsilon", Fit { epsilon: Some(f64::NAN), ..good.clone() }),
            ("epsilon", Fit { epsilon: Some(f64::INFINITY), ..good.clone() }),
            ("delta", Fit { delta: Some(f64::NAN), ..good.clone() }),
            ("dataset_size", Fit { dataset_size: Some(0), ..good.clone() }),
            ("regularization", Fit { regularization: Some(f64::NAN), ..good.clone() }),
            ("steps", Fit { steps: Some(0), ..sgd.clone() }),
            ("learning_rate", Fit { learning_rate: Some(f64::INFINITY), ..sgd.clone() }),
            ("sampling_rate", Fit { sampling_rate: Some(f64::NAN), ..sgd.clone() }),
            ("test_share", Fit { test_share: Some(f64::NAN), ..good.clone() }),
        ] {
            let refusal = bad.check().unwrap_err();
            assert_eq!(refusal.field(), Some(field), "{refusal}");
            assert!(matches!(refusal.code(), Code::Range | Code::NotANumber), "{refusal}");
        }
    }

    #[test]
    fn a_request_is_read_back_as_it_was_written() {
        let request = Fit {
            data: Some("a.csv".into()),
            model: Some(LinearModel::Svm),
            epsilon: Some(0.1),
            delta: Some(1e-6),
            method: method("gradient").unwrap(),
            neighboring: Neighboring::ReplaceOne,
            steps: Some(7),
            ..Fit::default()
        };
        let text = serde_json::to_string(&request).unwrap();
        assert_eq!(serde_json::from_str::<Fit>(&text).unwrap(), request, "{text}");
        assert_eq!(serde_json::from_str::<Fit>("{}").unwrap(), Fit::default());
        assert!(serde_json::from_str::<Fit>(r#"{"epsilom": 1}"#).is_err());
        assert!(LinearModel::named("mlp").is_err() && method("mlp").is_err());
        for known in FitMethod::ALL.map(Some).into_iter().chain([None]) {
            assert_eq!(method(method_name(known)).unwrap(), known);
        }
    }
}
