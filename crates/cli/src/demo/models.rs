//! Part 2: three models.

use super::call::Call;
use super::data::Data;
use super::recipe::{NETWORK_DELTA, TRAINING_SIZE};
use super::{Halt, Tour};
use crate::explain::Code;
use crate::fail::Fail;
use reticent::curator::stored::read_certificate;
use reticent::curator::train::{Finished, Trained as Ended};
use reticent::report::story::{Models, Promise, TrainedModel, percent};
use std::path::Path;

/// Where the network of this part is.
pub(super) const NETWORK: &str = "network";

pub(super) fn tell(tour: &mut Tour, data: &Data) -> Result<Models, Halt> {
    tour.narrator.title("2  Three models")?;
    tour.narrator.say(&format!(
        "Who earns more than 50,000 dollars? Three models learn it from {} rows: one without privacy, one with noise in its \
         objective function (objective perturbation), and a neural network with noise in every gradient step (DP-SGD). All are \
         tested on the same {} other rows, selected by a hash of their content. These test rows count as public: the accuracies are \
         exact, and no certificate covers them.",
        data.training_rows, data.test_rows
    ))?;
    let (train, test, schema) = (tour.table("train.csv"), tour.table("test.csv"), tour.table("schema.toml"));
    let begin = Call::new("train").word(&train).flag("--schema", &schema);
    let linear = begin.clone().flag("--test", &test);
    let exact = linear.clone().words("--method exact");
    let logistic = linear.words("--method objective --epsilon 1").flag("--dataset-size", TRAINING_SIZE);
    let network = begin
        .flag("--validation", &test)
        .words("--model mlp --epsilon 3")
        .flag("--delta", NETWORK_DELTA)
        .flag("--dataset-size", TRAINING_SIZE)
        .words(tour.recipe.network)
        .words(&tour.threads);
    let models = vec![
        linear_model(tour, data, "exact", "logistic regression without privacy", &exact)?,
        linear_model(tour, data, "logistic", "logistic regression with objective perturbation", &logistic)?,
        {
            let call = network.clone().flag("--out", &tour.folder.shown(NETWORK));
            let finished = trained_network(tour, &call)?;
            let accuracy = finished.accuracy.ok_or_else(|| silent(&call))?;
            let about = "a network with two hidden layers, trained with DP-SGD";
            trained(tour, data, NETWORK, about, accuracy, &network)?
        },
    ];
    let mut rows: Vec<Vec<String>> = models
        .iter()
        .map(|model| {
            let promise = model.promise.map_or("not private".to_owned(), |promise| promise.words());
            vec![model.name.clone(), model.words(), promise, model.about.clone()]
        })
        .collect();
    rows.push(vec![
        "majority class".to_owned(),
        percent(data.majority),
        String::new(),
        "always predicting the larger class".to_owned(),
    ]);
    tour.narrator.table(&rows)?;
    tour.narrator.say(
        "The guarantee for each person: any consequence of a private model would have been about as likely without their row, up to \
         a factor of exp(ε) and an additional δ. The price is lower accuracy. The settings were tuned beforehand on the same \
         public data; on private data, tuning costs privacy too. Costs add up: for someone whose data are in part 1 and in both \
         private models, the total is the sum of the three ε. Publishing the exact model as well would void this guarantee.",
    )?;
    tour.narrator.say("The same commands, with output folders of your own:")?;
    for model in &models {
        tour.narrator.command(&model.command)?;
    }
    let Data { training_rows, test_rows, majority, .. } = *data;
    Ok(Models { training_rows, test_rows, majority, models })
}

fn linear_model(
    tour: &mut Tour,
    data: &Data,
    name: &str,
    about: &str,
    call: &Call,
) -> Result<TrainedModel, Halt> {
    let performed = call.clone().flag("--out", &tour.folder.shown(name));
    let request = performed.fit()?;
    let fitted = tour.waiting("training", |tour| tour.ask(&request, false))?;
    tour.note(&fitted.warnings);
    let accuracy = fitted.accuracy.ok_or_else(|| silent(&performed))?;
    trained(tour, data, name, about, accuracy, call)
}

/// Trains a network.
pub(super) fn trained_network(tour: &mut Tour, call: &Call) -> Result<Box<Finished>, Halt> {
    match tour.ask(&call.train()?, tour.progress)? {
        Ended::Finished(finished) => {
            tour.note(&finished.warnings);
            Ok(finished)
        }
        Ended::Interrupted(_) => Err(Halt::Interrupted),
    }
}

fn silent(call: &Call) -> Fail {
    Fail::new(Code::Internal, format!("{}: no accuracy", call.shown()))
}

fn trained(
    tour: &Tour,
    data: &Data,
    name: &str,
    about: &str,
    accuracy: f64,
    call: &Call,
) -> Result<TrainedModel, Halt> {
    Ok(TrainedModel {
        name: name.to_owned(),
        about: about.to_owned(),
        promise: promise(&tour.folder.path(name))?,
        right: (accuracy * data.test_rows as f64).round() as u64,
        accuracy,
        folder: tour.folder.shown(name),
        command: call.clone().flag("--out", &format!("my-{name}")).shown(),
    })
}

/// The guarantee in the certificate of a model.
pub(super) fn promise(folder: &Path) -> Result<Option<Promise>, Fail> {
    let promised = read_certificate(folder)?;
    Ok(promised.map(|certificate| Promise {
        epsilon: certificate.guarantee.epsilon.get(),
        delta: certificate.guarantee.delta.get(),
    }))
}
