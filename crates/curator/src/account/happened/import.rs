//! Events of other tools: the history of an Opacus accountant, and events of Google's dp_accounting as Python prints them.

use super::Events;
use super::file::contents;
use crate::Refusal;
use reticent_core::event::read;
use reticent_core::rounding::div_down;
use reticent_core::{Code, EventLog, Neighboring};
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::Path;

/// Deeper events are a mistake.
const DEEPEST: usize = 64;

/// A history of Opacus: noise multiplier, sampling rate and number of steps of every stretch.
type History = Vec<(f64, f64, u64)>;

#[derive(Deserialize)]
#[serde(untagged)]
enum Opacus {
    Bare(History),
    State { history: History },
}

impl Events {
    /// The events of an Opacus accountant: the JSON of its `history`, or of its `state_dict()`. Opacus states the noise of sums of
    /// clipped gradients over Poisson samples, under add-remove.
    ///
    /// # Errors
    /// [`Refusal`] where the text is not such a history, or a number has no meaning.
    pub fn from_opacus(text: &str) -> Result<Self, Refusal> {
        let refuse = |problem: String| Refusal::new(Code::Json, problem);
        let expected =
            "give the JSON of the accountant's history, a list of [noise multiplier, sampling rate, steps]";
        let history = match serde_json::from_str(text) {
            Ok(Opacus::Bare(history) | Opacus::State { history }) => history,
            Err(_) => return Err(refuse(format!("not a history of Opacus: {expected}"))),
        };
        let step = |(noise, rate, count): (f64, f64, u64)| {
            let step = json!({"clipped_sum": {"noise_multiplier": noise}});
            json!({"repeated": {"count": count, "event": {"poisson_sampled": {"rate": rate, "event": step}}}})
        };
        let events = history.into_iter().map(step).collect();
        // Their places are those of the history.
        let named = |problem: String| refuse(problem.replacen("events[", "history[", 1));
        Ok(Self { log: log(Neighboring::AddRemove, events).map_err(named)?, unit: None, file: None })
    }

    /// The events of a `DpEvent` of dp_accounting, as Python's `repr` prints it. `neighboring` is the relation that its
    /// accountant was created with; none is add-remove, as there.
    ///
    /// # Guarantee
    /// Noise multipliers are translated as dp_accounting defines them: noise on a sum of values of norm at most C, in units of C. So
    /// replacing a record moves the sum by up to 2C. What is rounded is rounded to the side that costs more.
    ///
    /// # Reference
    /// The documentation of `dp_accounting.dp_event`, version 0.6.
    ///
    /// # Errors
    /// [`Refusal`] where the text is not a `DpEvent`, where an event has no counterpart with a proven bound, and where an event
    /// needs another relation.
    pub fn from_dp_event(text: &str, neighboring: Option<Neighboring>) -> Result<Self, Refusal> {
        let neighboring = neighboring.unwrap_or(Neighboring::AddRemove);
        let refuse = |problem: String| Refusal::new(Code::Json, problem);
        let mut reader = Reader { rest: text.trim(), depth: 0 };
        let tree = reader.value().map_err(refuse)?;
        if !reader.rest.is_empty() {
            return Err(refuse(format!("not a DpEvent: {} after its end", shown(reader.rest))));
        }
        let events = translated(&tree, neighboring)?;
        Ok(Self { log: log(neighboring, events).map_err(refuse)?, unit: None, file: None })
    }

    /// As [`from_opacus`](Self::from_opacus), of a file; `-` is standard input.
    ///
    /// # Errors
    /// As [`from_opacus`](Self::from_opacus), and where the file cannot be read.
    pub fn read_opacus(path: &Path) -> Result<Self, Refusal> {
        Self::of_file("opacus", path, Self::from_opacus)
    }

    /// As [`from_dp_event`](Self::from_dp_event), of a file; `-` is standard input.
    ///
    /// # Errors
    /// As [`from_dp_event`](Self::from_dp_event), and where the file cannot be read.
    pub fn read_dp_event(path: &Path, neighboring: Option<Neighboring>) -> Result<Self, Refusal> {
        Self::of_file("dp_event", path, |text| Self::from_dp_event(text, neighboring))
    }

    fn of_file(
        field: &str,
        path: &Path,
        read: impl FnOnce(&str) -> Result<Self, Refusal>,
    ) -> Result<Self, Refusal> {
        let name = path.display().to_string();
        let found = contents(path).and_then(|text| read(&text));
        let found = found.map_err(|refusal| refusal.within(&format!("⟦{field}⟧ {name}")))?;
        Ok(Self { file: Some(name), ..found })
    }
}

/// Checked events of this relation.
fn log(neighboring: Neighboring, events: Vec<Value>) -> Result<EventLog, String> {
    let written = json!({"neighboring": neighboring, "events": events}).to_string();
    let found = read(&written).map_err(|problem| problem.to_string())?;
    Ok(EventLog { neighboring, events: found.events })
}

/// What Python prints.
#[derive(Debug, Clone, PartialEq)]
enum Printed {
    Number(f64),
    List(Vec<Printed>),
    Object(String, Vec<(String, Printed)>),
    /// A text, `None`, `True` or `False`.
    Word(String),
}

/// A reader of what Python prints.
struct Reader<'a> {
    rest: &'a str,
    depth: usize,
}

impl Reader<'_> {
    fn skip(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn take(&mut self, mark: char) -> bool {
        self.skip();
        match self.rest.strip_prefix(mark) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, mark: char) -> Result<(), String> {
        match self.take(mark) {
            true => Ok(()),
            false => Err(format!("not a DpEvent: expected '{mark}' at {}", shown(self.rest))),
        }
    }

    /// The longest start of what is left that is made of such letters.
    fn while_true(&mut self, is_part: impl Fn(char) -> bool) -> String {
        self.skip();
        let end = self.rest.find(|letter| !is_part(letter)).unwrap_or(self.rest.len());
        let (own, rest) = self.rest.split_at(end);
        self.rest = rest;
        own.to_owned()
    }

    fn value(&mut self) -> Result<Printed, String> {
        if self.depth == DEEPEST {
            return Err(format!("more than {DEEPEST} events inside of each other"));
        }
        self.depth += 1;
        let value = self.inner();
        self.depth -= 1;
        value
    }

    fn inner(&mut self) -> Result<Printed, String> {
        for (open, close) in [('[', ']'), ('(', ')')] {
            if self.take(open) {
                let mut items = Vec::new();
                while !self.take(close) {
                    items.push(self.value()?);
                    if !self.take(',') {
                        self.expect(close)?;
                        break;
                    }
                }
                return Ok(Printed::List(items));
            }
        }
        self.skip();
        let first = self.rest.chars().next();
        if first.is_some_and(|letter| letter.is_ascii_digit() || "+-.".contains(letter)) {
            let text = self.while_true(|letter| letter.is_ascii_alphanumeric() || "+-._".contains(letter));
            let number = text.replace('_', "").parse::<f64>();
            return number.map(Printed::Number).map_err(|_| format!("not a number: {}", shown(&text)));
        }
        let name = self.while_true(|letter| letter.is_alphanumeric() || "_.".contains(letter));
        if name.is_empty() {
            return Err(format!("not a DpEvent: nothing can be read at {}", shown(self.rest)));
        }
        if name == "inf" || name == "nan" {
            return name.parse().map(Printed::Number).map_err(|_| name);
        }
        if !self.take('(') {
            return Ok(Printed::Word(name));
        }
        // NumPy prints np.float64(0.1) and array([0.1], dtype=float32).
        if name.starts_with("np.") || name.starts_with("numpy.") || name == "array" {
            let own = self.value()?;
            while !self.take(')') {
                self.expect(',')?;
                self.while_true(|letter| letter.is_alphanumeric() || "_=. '<>".contains(letter));
            }
            return Ok(own);
        }
        let mut fields = Vec::new();
        while !self.take(')') {
            let key = self.while_true(|letter| letter.is_alphanumeric() || letter == '_');
            self.expect('=')?;
            fields.push((key, self.value()?));
            if !self.take(',') {
                self.expect(')')?;
                break;
            }
        }
        // Names may be printed with those of their modules.
        let name = name.rsplit('.').next().unwrap_or_default().to_owned();
        Ok(Printed::Object(name, fields))
    }
}

fn shown(text: &str) -> String {
    let start: String = text.chars().take(40).collect();
    if start.is_empty() { "the end".to_owned() } else { format!("\"{start}\"") }
}

/// A whole number that a double holds exactly.
fn whole(number: f64) -> Option<u64> {
    (number.fract() == 0.0 && (0.0..2f64.powi(53)).contains(&number)).then_some(number as u64)
}

/// The fields of one event.
struct Fields<'a> {
    name: &'a str,
    fields: &'a [(String, Printed)],
}

impl Fields<'_> {
    fn field(&self, key: &str) -> Result<&Printed, Refusal> {
        let found = self.fields.iter().find(|(own, _)| own == key).map(|(_, value)| value);
        found.ok_or_else(|| Refusal::new(Code::Json, format!("{}: missing {key}", self.name)))
    }

    fn wrong(&self, key: &str, expected: &str) -> Refusal {
        Refusal::new(Code::Json, format!("{}: {key} is not {expected}", self.name))
    }

    fn number(&self, key: &str) -> Result<f64, Refusal> {
        match self.field(key)? {
            Printed::Number(number) if number.is_finite() => Ok(*number),
            _ => Err(self.wrong(key, "a finite number")),
        }
    }

    fn whole(&self, key: &str) -> Result<u64, Refusal> {
        whole(self.number(key)?).ok_or_else(|| self.wrong(key, "a whole number"))
    }

    fn numbers(&self, key: &str) -> Result<Vec<f64>, Refusal> {
        let number = |item: &Printed| match item {
            Printed::Number(number) => Ok(*number),
            _ => Err(self.wrong(key, "a list of numbers")),
        };
        match self.field(key)? {
            Printed::List(items) => items.iter().map(number).collect(),
            _ => Err(self.wrong(key, "a list of numbers")),
        }
    }

    /// The event inside, as one.
    fn event(&self, neighboring: Neighboring) -> Result<Value, Refusal> {
        let inside = translated(self.field("event")?, neighboring);
        let mut inside = inside.map_err(|refusal| refusal.within("event"))?;
        match inside.len() {
            1 => Ok(inside.remove(0)),
            _ => Ok(json!({"composed": {"events": inside}})),
        }
    }
}

/// The events in their wire form, in sequence.
fn translated(tree: &Printed, neighboring: Neighboring) -> Result<Vec<Value>, Refusal> {
    let Printed::Object(name, fields) = tree else {
        return Err(Refusal::new(
            Code::Json,
            "not a DpEvent: give an event of dp_accounting, as Python prints it",
        ));
    };
    let own = Fields { name, fields };
    let needs = |relation: Neighboring, why: &str| {
        if neighboring == relation {
            return Ok(());
        }
        let text = format!("{name}: {why}: give ⟦neighboring⟧ {relation}");
        Err(Refusal::about(Code::Relation, "neighboring", text))
    };
    // How far a record moves a sum, in units of the norm of a value.
    let moved: u32 = if neighboring == Neighboring::AddRemove { 1 } else { 2 };
    Ok(vec![match name.as_str() {
        "NoOpDpEvent" => return Ok(Vec::new()),
        "GaussianDpEvent" => json!({"clipped_sum": {"noise_multiplier": own.number("noise_multiplier")?}}),
        // Halving is exact.
        "LaplaceDpEvent" => {
            json!({"laplace": {"noise_multiplier": own.number("noise_multiplier")? / f64::from(moved)}})
        }
        "DiscreteLaplaceDpEvent" => {
            // Probabilities fall by e^-a from one integer to the next: the scale is 1/a.
            let rate = own.number("noise_parameter")?;
            if rate <= 0.0 {
                return Err(own.wrong("noise_parameter", "a number above 0"));
            }
            let sensitivity = own.whole("sensitivity")?.saturating_mul(u64::from(moved));
            let noise = div_down(div_down(1.0, rate), sensitivity as f64);
            json!({"discrete_laplace": {"noise_multiplier": noise, "sensitivity": sensitivity}})
        }
        "RandomizedResponseDpEvent" => {
            needs(Neighboring::ReplaceOne, "randomized response is about what a record holds")?;
            let (random, count) = (own.number("noise_parameter")?, own.whole("num_buckets")?);
            if count == 1 {
                return Ok(Vec::new());
            }
            // With this probability the answer is drawn evenly from all, the true one included. Three roundings, each of at most
            // half a unit in the last place of a number of at most 1.
            let keep = (1.0 - random + random / count as f64 + 4.0 * f64::EPSILON).min(1.0);
            json!({"randomized_response": {"keep_probability": keep, "categories": count}})
        }
        "EpsilonDeltaDpEvent" => match (own.number("epsilon")?, own.number("delta")?) {
            (epsilon, 0.0) => json!({"pure": {"epsilon": epsilon}}),
            (epsilon, delta) => json!({"approximate": {"epsilon": epsilon, "delta": delta}}),
        },
        "ZCDpEvent" => {
            if own.number("xi")? != 0.0 {
                return Err(unsupported(name, "xi above 0 has no counterpart"));
            }
            json!({"zcdp": {"rho": own.number("rho")?}})
        }
        "MixtureOfGaussiansDpEvent" => {
            needs(Neighboring::AddRemove, "it states what adding a record does")?;
            json!({"mixture_of_gaussians": {
                "sensitivities": own.numbers("sensitivities")?,
                "probabilities": own.numbers("sampling_probs")?,
                "noise_multiplier": own.number("standard_deviation")?,
            }})
        }
        "SelfComposedDpEvent" => {
            json!({"repeated": {"count": own.whole("count")?, "event": own.event(neighboring)?}})
        }
        "ComposedDpEvent" => {
            let Printed::List(items) = own.field("events")? else {
                return Err(own.wrong("events", "a list"));
            };
            let mut all = Vec::new();
            for (place, item) in items.iter().enumerate() {
                let inside = translated(item, neighboring);
                all.extend(inside.map_err(|refusal| refusal.within(&format!("events[{place}]")))?);
            }
            return Ok(all);
        }
        "PoissonSampledDpEvent" => {
            let rate = own.number("sampling_probability")?;
            json!({"poisson_sampled": {"rate": rate, "event": own.event(neighboring)?}})
        }
        "SampledWithoutReplacementDpEvent" => {
            needs(
                Neighboring::ReplaceOne,
                "samples without replacement are accounted for under replace-one",
            )?;
            json!({"sampled_without_replacement": {
                "dataset_size": own.whole("source_dataset_size")?,
                "batch_size": own.whole("sample_size")?,
                "event": own.event(neighboring)?,
            }})
        }
        "TruncatedSubsampledGaussianDpEvent" => json!({"truncated_poisson": {
            "dataset_size": own.whole("dataset_size")?,
            "rate": own.number("sampling_probability")?,
            "max_batch": own.whole("truncated_batch_size")?,
            "event": {"clipped_sum": {"noise_multiplier": own.number("noise_multiplier")?}},
        }}),
        "SingleEpochTreeAggregationDpEvent" => {
            needs(Neighboring::AddRemove, "trees are accounted for under add-remove")?;
            let noise = own.number("noise_multiplier")?;
            let counts = match own.field("step_counts")? {
                Printed::List(_) => own.numbers("step_counts")?,
                _ => vec![own.number("step_counts")?],
            };
            if counts.iter().any(|steps| whole(*steps).is_none()) {
                return Err(own.wrong("step_counts", "a list of whole numbers"));
            }
            let tree = |steps: u64| json!({"tree_aggregation": {"noise_multiplier": noise, "steps": steps}});
            let counts = counts.into_iter().filter_map(whole).filter(|steps| *steps > 0);
            let mut trees: Vec<Value> = counts.map(tree).collect();
            match trees.len() {
                0 | 1 => return Ok(trees),
                // A record is in one tree only.
                _ => json!({"parallel": {"events": std::mem::take(&mut trees)}}),
            }
        }
        "RepeatAndSelectDpEvent" => {
            let shape = match own.field("shape")? {
                Printed::Number(shape) if *shape == f64::INFINITY => json!("poisson"),
                _ => json!(own.number("shape")?),
            };
            json!({"repeat_and_select": {
                "mean": own.number("mean")?, "shape": shape, "event": own.event(neighboring)?,
            }})
        }
        "NonPrivateDpEvent" => return Err(unsupported(name, "without privacy no epsilon is finite")),
        _ => return Err(unsupported(name, "it has no counterpart with a proven bound")),
    }])
}

fn unsupported(name: &str, why: &str) -> Refusal {
    let remedy =
        "describe it by an event of 'reticent account', or as approximate with its own epsilon and delta";
    Refusal::new(Code::Unsupported, format!("{name}: {why}: {remedy}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRAINING: &str = "ComposedDpEvent(events=[SelfComposedDpEvent(event=PoissonSampledDpEvent(sampling_probability=0.01, \
                            event=GaussianDpEvent(noise_multiplier=1.1)), count=1000), LaplaceDpEvent(noise_multiplier=20), NoOpDpEvent()])";

    fn wire(events: &Events) -> Value {
        serde_json::to_value(&events.log.events).unwrap()
    }

    #[test]
    fn a_history_of_opacus_is_a_list_of_sampled_sums() {
        let step = json!({"clipped_sum": {"noise_multiplier": 1.1}});
        let step = json!({"poisson_sampled": {"rate": 0.01, "event": step}});
        let expected = json!([{"repeated": {"count": 1000, "event": step}}]);
        for text in ["[[1.1, 0.01, 1000]]", r#"{"history": [[1.1, 0.01, 1000]], "mechanism": "rdp"}"#] {
            let events = Events::from_opacus(text).unwrap();
            assert_eq!((wire(&events), events.log.neighboring), (expected.clone(), Neighboring::AddRemove));
        }
        assert_eq!(Events::from_opacus("[]").unwrap().log.events, []);
        for text in
            ["", "{}", "[[1, 2]]", "[[0, 0.1, 3]]", "[[1, 1.5, 3]]", "[[1, 0.1, -3]]", "[[1, 0.1, 2.5]]"]
        {
            assert_eq!(Events::from_opacus(text).unwrap_err().code(), Code::Json, "{text}");
        }
    }

    #[test]
    fn a_printed_event_is_translated() {
        let events = Events::from_dp_event(TRAINING, None).unwrap();
        let step = json!({"clipped_sum": {"noise_multiplier": 1.1}});
        let step = json!({"poisson_sampled": {"rate": 0.01, "event": step}});
        let expected =
            json!([{"repeated": {"count": 1000, "event": step}}, {"laplace": {"noise_multiplier": 20.0}}]);
        assert_eq!(wire(&events), expected);
        let modules = "dp_accounting.GaussianDpEvent(noise_multiplier=np.float64(2.0))";
        assert_eq!(
            wire(&Events::from_dp_event(modules, None).unwrap()),
            json!([{"clipped_sum": {"noise_multiplier": 2.0}}])
        );
        let without = "SampledWithoutReplacementDpEvent(source_dataset_size=100, sample_size=10, event=GaussianDpEvent(noise_multiplier=2))";
        assert_eq!(Events::from_dp_event(without, None).unwrap_err().code(), Code::Relation);
        assert!(Events::from_dp_event(without, Some(Neighboring::ReplaceOne)).is_ok());
    }

    #[test]
    fn replacing_a_record_moves_a_sum_twice_as_far() {
        let replaced =
            |text: &str| wire(&Events::from_dp_event(text, Some(Neighboring::ReplaceOne)).unwrap());
        let added = |text: &str| wire(&Events::from_dp_event(text, None).unwrap());
        let laplace = "LaplaceDpEvent(noise_multiplier=20)";
        assert_eq!(added(laplace), json!([{"laplace": {"noise_multiplier": 20.0}}]));
        assert_eq!(replaced(laplace), json!([{"laplace": {"noise_multiplier": 10.0}}]));
        let discrete = "DiscreteLaplaceDpEvent(noise_parameter=0.5, sensitivity=1)";
        assert_eq!(replaced(discrete)[0]["discrete_laplace"]["sensitivity"], 2);
        assert_eq!(replaced(discrete)[0]["discrete_laplace"]["noise_multiplier"], 1.0);
        assert_eq!(added(discrete)[0]["discrete_laplace"]["noise_multiplier"], 2.0);
        // A clipped sum has the multiplier of C under both relations.
        let gaussian = "GaussianDpEvent(noise_multiplier=3)";
        assert_eq!(added(gaussian), replaced(gaussian));
    }

    #[test]
    fn the_other_kinds_have_their_counterparts() {
        let added = |text: &str| wire(&Events::from_dp_event(text, None).unwrap());
        let tree = |steps: u64| json!({"tree_aggregation": {"noise_multiplier": 2.0, "steps": steps}});
        let trees = "SingleEpochTreeAggregationDpEvent(noise_multiplier=2, step_counts=";
        assert_eq!(added(&format!("{trees}8)")), json!([tree(8)]));
        assert_eq!(added(&format!("{trees}[8, 4])")), json!([{"parallel": {"events": [tree(8), tree(4)]}}]));
        let select = "RepeatAndSelectDpEvent(event=GaussianDpEvent(noise_multiplier=3), mean=10, shape=inf)";
        assert_eq!(added(select)[0]["repeat_and_select"]["shape"], "poisson");
        let mixture = "MixtureOfGaussiansDpEvent(standard_deviation=1.0, sensitivities=array([0., 1.], dtype=float32), \
                       sampling_probs=[0.5, 0.5])";
        assert_eq!(added(mixture)[0]["mixture_of_gaussians"]["probabilities"], json!([0.5, 0.5]));
        assert_eq!(added("EpsilonDeltaDpEvent(epsilon=1.0, delta=0.0)"), json!([{"pure": {"epsilon": 1.0}}]));
    }

    #[test]
    fn what_has_no_counterpart_is_refused() {
        for (text, code) in [
            ("NonPrivateDpEvent()", Code::Unsupported),
            ("TreeDpEvent(noise=1)", Code::Unsupported),
            ("ZCDpEvent(rho=0.1, xi=0.2)", Code::Unsupported),
            ("GaussianDpEvent()", Code::Json),
            ("GaussianDpEvent(noise_multiplier=inf)", Code::Json),
            ("GaussianDpEvent(noise_multiplier=0)", Code::Json),
            ("GaussianDpEvent(noise_multiplier=1) and more", Code::Json),
            ("GaussianDpEvent(noise_multiplier=1", Code::Json),
            ("DiscreteLaplaceDpEvent(noise_parameter=0, sensitivity=1)", Code::Json),
            ("DiscreteLaplaceDpEvent(noise_parameter=1, sensitivity=0)", Code::Json),
            (
                "PoissonSampledDpEvent(sampling_probability=1.5, event=GaussianDpEvent(noise_multiplier=1))",
                Code::Json,
            ),
            (
                "SelfComposedDpEvent(event=GaussianDpEvent(noise_multiplier=1), count=9007199254740993)",
                Code::Json,
            ),
            ("3", Code::Json),
            ("", Code::Json),
        ] {
            assert_eq!(Events::from_dp_event(text, None).unwrap_err().code(), code, "{text}");
        }
        let deep = "SelfComposedDpEvent(event=".repeat(1000);
        assert_eq!(Events::from_dp_event(&deep, None).unwrap_err().code(), Code::Json);
        let random = "RandomizedResponseDpEvent(noise_parameter=0.5, num_buckets=4)";
        assert_eq!(Events::from_dp_event(random, None).unwrap_err().code(), Code::Relation);
        assert!(Events::from_dp_event(random, Some(Neighboring::ReplaceOne)).is_ok());
        for (parameter, buckets) in [("1.5", "2"), ("0", "2"), ("0.5", "0")] {
            let odd =
                format!("RandomizedResponseDpEvent(noise_parameter={parameter}, num_buckets={buckets})");
            let refusal = Events::from_dp_event(&odd, Some(Neighboring::ReplaceOne)).unwrap_err();
            assert_eq!(refusal.code(), Code::Json, "{odd}");
        }
        let inner = "ComposedDpEvent(events=[NoOpDpEvent(), SelfComposedDpEvent(event=NonPrivateDpEvent(), count=2)])";
        let refusal = Events::from_dp_event(inner, None).unwrap_err();
        assert!(refusal.to_string().starts_with("events[1]: event: NonPrivateDpEvent: "), "{refusal}");
    }
}
