//! The outcome: a schema, its cost, and its file.

use super::plan::PlannedSchema;
use crate::file::OutputFile;
use crate::refusal::{Refusal, fields_named};
use reticent_core::Certificate;
use reticent_data::Schema;
use reticent_report::{digits, plain};
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use std::path::{Path, PathBuf};

/// The warning of a draft.
const NOT_PRIVATE: [&str; 4] = [
    "THIS SCHEMA IS NOT PRIVATE: its bounds and categories were computed from the data.",
    "Anything trained or released with it reveals the rows that set them, whatever its epsilon.",
    "Replace every bound and list with public knowledge (a questionnaire, a code book, a regulation),",
    "then delete the line draft = true; or learn the schema privately with ⟦epsilon⟧.",
];

/// A schema and its cost.
#[derive(Debug, Clone, PartialEq)]
pub struct LearntSchema {
    /// The schema. Without a certificate it is a draft: its bounds and categories were computed from the data.
    pub schema: Schema,
    /// The certificate, if it was learnt with differential privacy.
    pub certificate: Option<Certificate>,
    /// The file that it was written to.
    pub out: Option<PathBuf>,
    /// Caveats, for a draft first of all that it is not private; fields of the request are named between `⟦` and `⟧`.
    pub warnings: Vec<String>,
    /// The comment above the schema.
    head: String,
}

impl LearntSchema {
    /// Puts the notes on a schema where they are read: above it and among the warnings.
    pub(super) fn new(schema: Schema, certificate: Option<Certificate>, notes: Vec<String>) -> Self {
        let head = head(certificate.as_ref(), &notes);
        let is_draft = certificate.is_none();
        let warnings = is_draft.then(|| NOT_PRIVATE.join(" ")).into_iter().chain(notes).collect();
        Self { schema, certificate, out: None, warnings, head }
    }

    /// The text of a schema file: TOML, under a comment that says what it is worth.
    pub fn to_toml(&self) -> String {
        format!("{}\n{}", self.head, self.schema.to_toml())
    }

    /// The same, written where the request wants it.
    pub(super) fn written(mut self, plan: &PlannedSchema) -> Result<Self, Refusal> {
        if let Some(path) = &plan.out {
            target(path).write(&self.to_toml())?;
            self.out = Some(path.clone());
        }
        Ok(self)
    }
}

/// The file that a request asks for.
pub(super) fn target(path: &Path) -> OutputFile<'_> {
    OutputFile { field: "out", path, extension: "toml" }
}

/// The comment above a schema. It is for people who edit the file, and names fields as flags of the command.
fn head(certificate: Option<&Certificate>, notes: &[String]) -> String {
    let mut lines: Vec<String> = match certificate {
        None => NOT_PRIVATE.map(str::to_owned).to_vec(),
        Some(certificate) => vec![
            format!("Learnt from the data with differential privacy: {}.", cost(certificate)),
            "This cost is added to everything computed from the same data with this schema: see [spent]."
                .to_owned(),
        ],
    };
    lines.extend(notes.iter().cloned());
    let flag = |field: &str| format!("--{}", field.replace('_', "-"));
    lines.iter().map(|line| format!("# {}\n", plain(&fields_named(line, flag)))).collect()
}

fn cost(certificate: &Certificate) -> String {
    let Certificate { guarantee, neighboring, unit, .. } = certificate;
    let epsilon = digits::spent(guarantee.epsilon.get());
    let delta = match guarantee.delta.get() {
        0.0 => String::new(),
        delta => format!(", δ = {}", digits::spent(delta)),
    };
    format!("ε = {epsilon}{delta} ({neighboring}, unit: {unit})")
}

impl Serialize for LearntSchema {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("LearntSchema", 5)?;
        fields.serialize_field("schema", &self.to_toml())?;
        fields.serialize_field("private", &self.certificate.is_some())?;
        fields.serialize_field("certificate", &self.certificate)?;
        fields.serialize_field("out", &self.out)?;
        fields.serialize_field("warnings", &self.warnings)?;
        fields.end()
    }
}

#[cfg(test)]
mod tests {
    use crate::schema::LearnSchema;
    use crate::{Planned, Request, Session};
    use reticent_core::Code;

    #[test]
    fn a_draft_says_what_it_is_in_its_file_and_its_json() {
        let folder = tempfile::tempdir().unwrap();
        let (file, out) = (folder.path().join("t.csv"), folder.path().join("schema.toml"));
        std::fs::write(&file, "age,sex\n30,f\n41,m\n").unwrap();
        let request = LearnSchema { out: Some(out.clone()), ..LearnSchema::draft(&file) };
        let mut session = Session::without_limit().unwrap();
        let learnt = request.check().unwrap().run(&mut session).unwrap();
        let text = std::fs::read_to_string(&out).unwrap();
        assert!(
            text.starts_with("# THIS SCHEMA IS NOT PRIVATE") && text.contains("with --epsilon."),
            "{text}"
        );
        let json = serde_json::to_value(&learnt).unwrap();
        assert_eq!((&json["schema"], &json["private"]), (&text.into(), &false.into()));
        assert_eq!(json["out"], out.to_str().unwrap());
        assert!(learnt.warnings[0].ends_with("privately with ⟦epsilon⟧."), "{:?}", learnt.warnings);
        // It is there now, and stays unless that is asked for.
        let refusal = request.check().unwrap_err();
        assert_eq!((refusal.code(), refusal.field()), (Code::Taken, Some("out")));
        LearnSchema { force: true, ..request }.check().unwrap();
    }
}
