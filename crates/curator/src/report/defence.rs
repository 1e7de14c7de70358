//! Which defence an audited model has, and models beside each other.

use super::Folders;
use crate::Refusal;
use crate::folder::is_network;
use crate::folder::layout::{DESCRIPTION_FILE, RUN_FILE};
use crate::stored::read_certificate;
use crate::train::Train;
use reticent_audit::defence::{DefenceComparison, DefenceLabel, DefendedModel};
use reticent_core::Code;
use reticent_train::Description;
use reticent_train::describe::{Layer, LayerKind};
use std::path::{Path, PathBuf};

/// An audited model beside others; none where there are no others.
pub(super) fn compared(folder: &Path, others: &[PathBuf]) -> Result<Option<DefenceComparison>, Refusal> {
    if others.is_empty() {
        return Ok(None);
    }
    let mut models = Vec::new();
    let mut runs: Vec<PathBuf> = Vec::new();
    for folder in std::iter::once(folder).chain(others.iter().map(PathBuf::as_path)) {
        let Folders { findings, run, .. } = Folders::find(folder)?;
        let Some(run) = run.filter(|run| is_network(run)) else {
            let text = format!(
                "{}: not an audit of a network of ours: give audited models of 'reticent train'",
                folder.display()
            );
            return Err(Refusal::new(Code::NoAudit, text));
        };
        if runs.contains(&run) {
            let remedy = "named twice: give every model once";
            return Err(Refusal::conflict("compare", folder.display(), remedy));
        }
        models.push(DefendedModel::new(label(&run)?, &findings)?);
        runs.push(run);
    }
    Ok(Some(DefenceComparison::new(models)?))
}

/// The defence of a run: what it was trained with besides the loss. A run without any is one of so many epochs.
fn label(run: &Path) -> Result<DefenceLabel, Refusal> {
    let request = Train::read(&run.join(RUN_FILE))?;
    let path = run.join(DESCRIPTION_FILE);
    let text = std::fs::read_to_string(&path).map_err(|error| {
        Refusal::new(Code::Unreadable, format!("{}: cannot be read: {error}", path.display())).because(error)
    })?;
    let description = Description::from_toml(&text, &path.display().to_string())?;
    let epsilon = read_certificate(run)?.map(|certificate| certificate.guarantee.epsilon.get());
    let decay = request.weight_decay.filter(|decay| *decay > 0.0);
    let smoothing = Some(f64::from(description.label_smoothing)).filter(|share| *share > 0.0);
    // From single precision, as it was written.
    let short = |share: f64| (share * 1e6).round() / 1e6;
    let (defence, strength) = if let Some(epsilon) = epsilon {
        ("dp-sgd", epsilon)
    } else if let Some(strength) = request.adversarial.filter(|strength| *strength > 0.0) {
        ("adversarial", strength)
    } else if let Some(share) = smoothing {
        ("label smoothing", short(share))
    } else if let Some(rate) = dropout(&description.layers) {
        ("dropout", short(f64::from(rate)))
    } else if let Some(decay) = decay {
        ("weight decay", decay)
    } else {
        let epochs = request.epochs.or(request.steps.map(|steps| steps as f64));
        ("early stopping", epochs.unwrap_or_default())
    };
    let name = run.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    Ok(DefenceLabel { name, defence: defence.to_owned(), strength, epsilon })
}

/// The largest rate of dropout; none without dropout.
fn dropout(layers: &[Layer]) -> Option<f32> {
    let rate = |layer: &Layer| match &layer.kind {
        LayerKind::Dropout { rate } | LayerKind::Transformer { dropout: rate, .. } => Some(*rate),
        LayerKind::Residual { layer } => dropout(layer),
        _ => None,
    };
    layers.iter().filter_map(rate).filter(|rate| *rate > 0.0).reduce(f32::max)
}
