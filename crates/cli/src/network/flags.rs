//! The flags of `train` for a network as a request.

use crate::args::learn::Train;
use crate::args::network::ComputingFlags;
use crate::explain::Code;
use crate::fail::Fail;
use crate::read;
use reticent::curator::train::{
    ClassNames, Device, Federated, OneOrMore, Train as Request, augmentation, device as device_named,
    token_kind,
};
use std::collections::BTreeMap;

/// The device of the flags.
pub(crate) fn device(flags: &ComputingFlags) -> Result<Option<Device>, Fail> {
    Ok(flags.device.as_deref().map(device_named).transpose()?)
}

/// The number of examples that are computed at once.
pub(crate) fn chunk(flags: &ComputingFlags) -> Result<Option<u64>, Fail> {
    flags.chunk.as_deref().map(|text| read::whole("--chunk", text, u32::MAX.into())).transpose()
}

/// Pairs of names, each an array of a file and a parameter.
fn init_map(text: &str) -> Result<BTreeMap<String, String>, Fail> {
    let refuse = || {
        let why =
            format!("--init-map {text}: give pairs of names, such as fc.weight=3.weight,fc.bias=3.bias");
        Fail::new(Code::List, why)
    };
    let mut pairs = BTreeMap::new();
    for part in text.split(',') {
        let (theirs, ours) = part.split_once('=').ok_or_else(refuse)?;
        let [theirs, ours] = [theirs, ours].map(|name| name.trim().to_owned());
        if theirs.is_empty() || ours.is_empty() || pairs.insert(theirs, ours).is_some() {
            return Err(refuse());
        }
    }
    Ok(pairs)
}

/// The request of the flags.
pub(crate) fn request(arguments: &Train) -> Result<Request, Fail> {
    let network = &arguments.network;
    let start = &network.start;
    let number =
        |flag: &str, text: &Option<String>| text.as_deref().map(|text| read::number(flag, text)).transpose();
    let whole = |flag: &str, text: &Option<String>| {
        text.as_deref().map(|text| read::whole(flag, text, u64::MAX)).transpose()
    };
    let several = |flag: &str, text: &Option<String>| -> Result<Option<OneOrMore>, Fail> {
        let Some(text) = text else { return Ok(None) };
        let values = text.split(',').map(|part| read::number(flag, part).map(|value| value as f32));
        Ok(Some(OneOrMore::More(values.collect::<Result<_, _>>()?)))
    };
    let classes = network.classes.as_deref().map(|text| match text.trim().parse() {
        Ok(count) => ClassNames::Count(count),
        Err(_) => ClassNames::Names(text.split(',').map(|name| name.trim().to_owned()).collect()),
    });
    Ok(Request {
        data: arguments.file.clone(),
        reading: arguments.reading.reading(),
        data_dir: arguments.data_dir.clone(),
        schema: arguments.schema.clone(),
        validation: network.validation.clone(),
        text_column: network.text_column.clone(),
        vocabulary: network.vocabulary.clone(),
        tokens: network.tokens.as_deref().map(token_kind).transpose()?,
        length: whole("--length", &network.length)?,
        label: network.label.clone(),
        classes,
        shift: several("--shift", &network.shift)?,
        scale: several("--scale", &network.scale)?,
        examples_per_user: whole("--examples-per-user", &network.examples_per_user)?,
        model: arguments.model.clone(),
        freeze: (!network.freeze.is_empty()).then(|| network.freeze.clone()),
        init: start.init.clone(),
        init_map: start.init_map.as_deref().map(init_map).transpose()?,
        init_partial: start.init_partial.then_some(true),
        init_public: start.init_public.then_some(true),
        init_digest: None,
        vectors: start.vectors.clone(),
        vectors_digest: None,
        pretrain: start.pretrain.clone(),
        pretrain_epochs: number("--pretrain-epochs", &start.pretrain_epochs)?,
        epsilon: number("--epsilon", &arguments.epsilon)?,
        delta: number("--delta", &arguments.delta)?,
        noise_multiplier: number("--noise-multiplier", &network.noise_multiplier)?,
        non_private: network.non_private.then_some(true),
        neighboring: arguments.neighboring.clone(),
        dataset_size: whole("--dataset-size", &arguments.size)?,
        clip: number("--clip", &network.clip)?,
        clipping: network.clipping.clone(),
        kept_share: number("--kept-share", &network.encoding.kept_share)?,
        encoding_gain: number("--encoding-gain", &network.encoding.encoding_gain)?,
        noise: network.encoding.noise.clone(),
        degrees_of_freedom: whole("--degrees-of-freedom", &network.encoding.degrees_of_freedom)?,
        denoise: network.encoding.denoise.clone(),
        epochs: number("--epochs", &network.epochs)?,
        steps: whole("--steps", &arguments.steps)?,
        batch_size: whole("--batch-size", &network.batch_size)?,
        batch_growth: whole("--batch-growth", &network.batch_growth)?,
        batching: network.batching.clone(),
        bands: whole("--bands", &network.bands)?,
        optimizer: network.optimizer.clone(),
        learning_rate: number("--learning-rate", &arguments.learning_rate)?,
        momentum: number("--momentum", &network.momentum)?,
        weight_decay: number("--weight-decay", &network.weight_decay)?,
        label_smoothing: number("--label-smoothing", &network.label_smoothing)?,
        augment: network.augment.as_deref().map(augmentation).transpose()?,
        adversarial: number("--adversarial", &network.adversarial)?,
        reference_share: number("--reference-share", &network.reference_share)?,
        reference_data: network.reference_data.clone(),
        schedule: network.schedule.clone(),
        warmup: whole("--warmup", &network.warmup)?,
        average: number("--average", &network.average)?,
        checkpoint_every: network.checkpoint_every.clone(),
        threads: whole("--threads", &network.threads)?,
        device: device(&network.computing)?,
        chunk: chunk(&network.computing)?,
        out: arguments.out.clone(),
        federated: network.federated.as_deref().map(Federated::read).transpose()?,
        clip_quantile: number("--clip-quantile", &network.clip_quantile)?,
        patience: whole("--patience", &network.patience)?,
        held_out: number("--held-out", &network.held_out)?,
        split_key: network.held_out.is_some().then(|| arguments.split_key.clone()),
        counted: None,
        observed_labels: None,
    })
}
