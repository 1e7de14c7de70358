//! Weights to start from, out of a file of this or another tool.

use crate::{Layout, TrainError};
use safetensors::tensor::{Dtype, SafeTensors};
use std::collections::BTreeMap;
use std::path::Path;

/// The most bytes of a file of weights.
const MOST_BYTES: u64 = 1 << 33;

/// The arrays of a safetensors file. Those in single, half and brain precision can be taken.
#[derive(Debug, Clone)]
pub struct GivenWeights {
    /// As messages name the file.
    name: String,
    arrays: Vec<GivenArray>,
}

#[derive(Debug, Clone)]
struct GivenArray {
    name: String,
    shape: Vec<usize>,
    /// The kind of numbers that cannot be taken, or the numbers.
    values: Result<Vec<f32>, String>,
}

/// Which arrays of a file go to which parameters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mapping {
    /// The name in the file, and the parameter.
    pub names: BTreeMap<String, String>,
    /// Whether parameters may stay at their random start: those that the file does not have, and those of another shape.
    pub is_partial: bool,
}

/// What became of the arrays of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WarmStart {
    /// The array of the file and the parameter it went to, in the order of the layout.
    pub taken: Vec<(String, String)>,
    /// Parameters that stay at their random start.
    pub random: Vec<String>,
    /// Arrays of the file that have no part in the network.
    pub unused: Vec<String>,
}

fn refused(name: &str, why: String) -> TrainError {
    TrainError::file(Path::new(name), why)
}

/// The numbers of an array in single precision.
fn numbers(dtype: Dtype, bytes: &[u8]) -> Result<Vec<f32>, String> {
    match dtype {
        Dtype::F32 => Ok(bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()),
        Dtype::F16 => {
            Ok(bytes.as_chunks::<2>().0.iter().map(|bytes| half(u16::from_le_bytes(*bytes))).collect())
        }
        Dtype::BF16 => {
            let wide = |bytes: &[u8; 2]| f32::from_bits(u32::from(u16::from_le_bytes(*bytes)) << 16);
            Ok(bytes.as_chunks::<2>().0.iter().map(wide).collect())
        }
        other => Err(format!("{other:?}")),
    }
}

/// A number in half precision (IEEE 754 binary16).
fn half(bits: u16) -> f32 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f32::from(bits & 0x3ff));
    match exponent {
        0 => sign * fraction * 2f32.powi(-24),
        31 if fraction == 0.0 => sign * f32::INFINITY,
        31 => f32::NAN,
        _ => sign * (1024.0 + fraction) * 2f32.powi(exponent - 25),
    }
}

impl GivenWeights {
    /// Reads a safetensors file.
    ///
    /// # Errors
    /// [`TrainError::File`] when it cannot be read or is not one.
    pub fn read(path: &Path) -> Result<Self, TrainError> {
        let name = path.display().to_string();
        let size = std::fs::metadata(path).map(|about| about.len()).unwrap_or(0);
        if size > MOST_BYTES {
            return Err(refused(&name, format!("{size} bytes: give a file of at most {MOST_BYTES}")));
        }
        let bytes = std::fs::read(path)
            .map_err(|error| refused(&name, format!("cannot be read: {error}")).because(error))?;
        Self::parse(&name, &bytes)
    }

    /// The arrays of the bytes of a file.
    ///
    /// # Errors
    /// [`TrainError::File`] when they are not a safetensors file.
    pub fn parse(name: &str, bytes: &[u8]) -> Result<Self, TrainError> {
        let read = SafeTensors::deserialize(bytes).map_err(|error| {
            refused(name, format!("not a safetensors file ({error}): save the weights with safetensors"))
                .because(error)
        })?;
        let mut arrays: Vec<GivenArray> = read
            .tensors()
            .into_iter()
            .map(|(name, view)| GivenArray {
                name,
                shape: view.shape().to_vec(),
                values: numbers(view.dtype(), view.data()),
            })
            .collect();
        arrays.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(Self { name: name.to_owned(), arrays })
    }

    /// The only matrix of the file: its shape and numbers.
    ///
    /// # Errors
    /// [`TrainError::File`] when there is none or more than one, or its numbers cannot be taken.
    pub fn matrix(&self) -> Result<(&[usize], &[f32]), TrainError> {
        let mut matrices = self.arrays.iter().filter(|array| array.shape.len() == 2);
        match (matrices.next(), matrices.next()) {
            (Some(only), None) => Ok((&only.shape, self.values(only)?)),
            _ => Err(refused(&self.name, "give a file with one matrix: a row for each word".to_owned())),
        }
    }

    /// The numbers of an array.
    ///
    /// # Errors
    /// [`TrainError::File`] when there is none of this name, or its numbers cannot be taken.
    pub fn array(&self, name: &str) -> Result<&[f32], TrainError> {
        match self.arrays.iter().find(|array| array.name == name) {
            Some(array) => self.values(array),
            None => Err(refused(&self.name, format!("it has no {name}"))),
        }
    }

    fn values<'a>(&self, array: &'a GivenArray) -> Result<&'a [f32], TrainError> {
        let name = &array.name;
        match &array.values {
            Ok(values) if values.iter().all(|value| value.is_finite()) => Ok(values),
            Ok(_) => Err(refused(&self.name, format!("{name} has a number that is not finite"))),
            Err(kind) => {
                Err(refused(&self.name, format!("{name} is in {kind}: store it as F32, F16 or BF16")))
            }
        }
    }

    /// Writes the arrays of the file over the weights of a network, and says what went where.
    ///
    /// An array goes to the parameter that `mapping` names, or else to the one of its own name, or of which it has the end of the name
    /// (`encoder.0.weight` for `0.weight`, or the other way round), or the last part of the name and the shape; the last two only where
    /// nothing else fits. Shapes have to be equal.
    ///
    /// # Errors
    /// [`TrainError::Invalid`] for names in the mapping that the file or the network does not have; [`TrainError::File`] when a
    /// parameter is left without weights, or has another shape in the file, and the mapping is not partial; and for numbers that
    /// cannot be taken. Low-rank updates may always stay at their start. The weights have not changed then.
    pub fn apply(
        &self,
        mapping: &Mapping,
        layout: &Layout,
        weights: &mut [f32],
    ) -> Result<WarmStart, TrainError> {
        let pairs = self.pairs(mapping, layout)?;
        let mut start = WarmStart::default();
        let mut writes = Vec::new();
        let mut faults = Vec::new();
        for (place, parameter) in layout.parameters().iter().enumerate() {
            let is_update = parameter.name.ends_with(".lora_a") || parameter.name.ends_with(".lora_b");
            match pairs[place].map(|array| &self.arrays[array]) {
                Some(array) if array.shape == parameter.shape => {
                    writes.push((place, self.values(array)?));
                    start.taken.push((array.name.clone(), parameter.name.clone()));
                    continue;
                }
                Some(array) => faults.push(format!(
                    "{} has the shape {:?}, and {} needs {:?}",
                    array.name, array.shape, parameter.name, parameter.shape
                )),
                None if is_update => {}
                None => faults.push(format!("nothing for {}", parameter.name)),
            }
            start.random.push(parameter.name.clone());
        }
        if let (Some(fault), false) = (faults.first(), mapping.is_partial) {
            let more =
                if faults.len() > 1 { format!(" (and {} more)", faults.len() - 1) } else { String::new() };
            let names: Vec<&str> = self.arrays.iter().take(8).map(|array| array.name.as_str()).collect();
            let why = format!(
                "{fault}{more}: name the arrays with init-map, such as theirs=ours, or give init-partial to leave these at random; \
                 the file has {}{}",
                names.join(", "),
                if self.arrays.len() > names.len() { ", …" } else { "" }
            );
            return Err(refused(&self.name, why));
        }
        if start.taken.is_empty() {
            let why = "no array fits a parameter of this network: name them with init-map".to_owned();
            return Err(refused(&self.name, why));
        }
        for (place, values) in writes {
            weights[layout.weight_range(place)].copy_from_slice(values);
        }
        let taken = |array: &&GivenArray| start.taken.iter().any(|(theirs, _)| *theirs == array.name);
        start.unused =
            self.arrays.iter().filter(|array| !taken(array)).map(|array| array.name.clone()).collect();
        Ok(start)
    }

    /// The array of each parameter.
    fn pairs(&self, mapping: &Mapping, layout: &Layout) -> Result<Vec<Option<usize>>, TrainError> {
        let parameters = layout.parameters();
        let mut pairs: Vec<Option<usize>> = vec![None; parameters.len()];
        let mut is_free = vec![true; self.arrays.len()];
        for (theirs, ours) in &mapping.names {
            let array = self.arrays.iter().position(|array| array.name == *theirs).ok_or_else(|| {
                TrainError::invalid("init_map", theirs, format!("{} has no array of this name", self.name))
            })?;
            let place = parameters.iter().position(|own| own.name == *ours).ok_or_else(|| {
                TrainError::invalid("init_map", ours, "the network has no weights of this name")
            })?;
            if pairs[place].is_some() {
                return Err(TrainError::invalid("init_map", ours, "name it once"));
            }
            pairs[place] = Some(array);
            is_free[array] = false;
        }
        let exact = |place: usize, array: usize| parameters[place].name == self.arrays[array].name;
        let ending = |place: usize, array: usize| {
            let (ours, theirs) = (&parameters[place].name, &self.arrays[array].name);
            parameters[place].shape == self.arrays[array].shape && (ends(ours, theirs) || ends(theirs, ours))
        };
        let alike = |place: usize, array: usize| {
            let (ours, theirs) = (&parameters[place].name, &self.arrays[array].name);
            parameters[place].shape == self.arrays[array].shape && last(ours) == last(theirs)
        };
        let rules: [&dyn Fn(usize, usize) -> bool; 3] = [&exact, &ending, &alike];
        for fits in rules {
            // A pair counts if nothing else that is left fits either of the two.
            let ours: Vec<usize> = (0..parameters.len()).filter(|place| pairs[*place].is_none()).collect();
            let theirs: Vec<usize> = (0..self.arrays.len()).filter(|array| is_free[*array]).collect();
            for place in &ours {
                let mut found = theirs.iter().filter(|array| fits(*place, **array));
                let (Some(array), None) = (found.next(), found.next()) else { continue };
                if ours.iter().filter(|other| fits(**other, *array)).count() == 1 {
                    pairs[*place] = Some(*array);
                    is_free[*array] = false;
                }
            }
        }
        Ok(pairs)
    }
}

/// Whether a name ends in another, after a dot.
fn ends(name: &str, end: &str) -> bool {
    name.strip_suffix(end).is_some_and(|before| before.ends_with('.'))
}

fn last(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Parameter;
    use safetensors::tensor::{TensorView, serialize};

    fn file(arrays: &[(&str, &[usize], Dtype, Vec<u8>)]) -> GivenWeights {
        let views = arrays.iter().map(|(name, shape, dtype, bytes)| {
            (*name, TensorView::new(*dtype, shape.to_vec(), bytes).unwrap())
        });
        GivenWeights::parse("w.safetensors", &serialize(views, None).unwrap()).unwrap()
    }

    fn single(values: &[f32]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    fn layout(parameters: &[(&str, &[usize])]) -> Layout {
        let parameter = |(name, shape): &(&str, &[usize])| Parameter {
            name: (*name).to_owned(),
            shape: shape.to_vec(),
            group: 0,
            trainable: true,
        };
        Layout::new(parameters.iter().map(parameter).collect())
    }

    fn named(pairs: &[(&str, &str)], is_partial: bool) -> Mapping {
        let names = pairs.iter().map(|(theirs, ours)| ((*theirs).to_owned(), (*ours).to_owned())).collect();
        Mapping { names, is_partial }
    }

    #[test]
    fn names_ends_of_names_and_shapes_lead_to_parameters() {
        let own =
            layout(&[("0.weight", &[2, 1]), ("0.bias", &[2]), ("head.weight", &[1, 2]), ("head.bias", &[1])]);
        let given = file(&[
            ("0.weight", &[2, 1], Dtype::F32, single(&[1.0, 2.0])),
            ("model.0.bias", &[2], Dtype::F32, single(&[3.0, 4.0])),
            ("fc.weight", &[1, 2], Dtype::F32, single(&[5.0, 6.0])),
            ("fc.bias", &[1], Dtype::F32, single(&[7.0])),
            ("batches", &[1], Dtype::I64, vec![0; 8]),
        ]);
        let mut weights = vec![0.0; 7];
        let start = given.apply(&Mapping::default(), &own, &mut weights).unwrap();
        assert_eq!(weights, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
        assert_eq!(start.taken[1], ("model.0.bias".to_owned(), "0.bias".to_owned()));
        assert_eq!((start.taken.len(), start.random.len(), start.unused), (4, 0, vec!["batches".to_owned()]));
    }

    #[test]
    fn nothing_is_guessed_and_nothing_stays_random_in_silence() {
        let own = layout(&[("0.weight", &[2, 2]), ("1.weight", &[2, 2])]);
        let two = [("a.weight", [1.0; 4]), ("b.weight", [2.0; 4])];
        let arrays: Vec<_> =
            two.iter().map(|(name, values)| (*name, &[2usize, 2][..], Dtype::F32, single(values))).collect();
        let given = file(&arrays);
        let mut weights = vec![9.0; 8];
        // Both arrays fit both parameters.
        let error = given.apply(&Mapping::default(), &own, &mut weights).unwrap_err().to_string();
        assert!(error.contains("nothing for 0.weight (and 1 more)"), "{error}");
        assert_eq!(weights, [9.0; 8]);
        let mapping = named(&[("b.weight", "0.weight")], false);
        given.apply(&mapping, &own, &mut weights).unwrap();
        assert_eq!(weights, [2.0, 2.0, 2.0, 2.0, 1.0, 1.0, 1.0, 1.0], "what is left is clear");
        for (mapping, part) in [
            (named(&[("c", "0.weight")], false), "init_map = c"),
            (named(&[("a.weight", "2.weight")], false), "init_map = 2.weight"),
            (named(&[("a.weight", "0.weight"), ("b.weight", "0.weight")], false), "once"),
        ] {
            let error = given.apply(&mapping, &own, &mut weights).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn another_shape_stays_random_only_if_that_is_asked_for() {
        let own = layout(&[("0.weight", &[2]), ("fc.weight", &[3]), ("fc.lora_a", &[1])]);
        let given = file(&[
            ("0.weight", &[2], Dtype::F32, single(&[1.0, 2.0])),
            ("fc.weight", &[4], Dtype::F32, single(&[1.0; 4])),
        ]);
        let mut weights = vec![9.0; 6];
        let error = given.apply(&Mapping::default(), &own, &mut weights).unwrap_err().to_string();
        assert!(error.contains("fc.weight has the shape [4], and fc.weight needs [3]"), "{error}");
        let start = given.apply(&named(&[], true), &own, &mut weights).unwrap();
        assert_eq!(weights, [1.0, 2.0, 9.0, 9.0, 9.0, 9.0]);
        assert_eq!(start.random, ["fc.weight", "fc.lora_a"]);
        assert_eq!(start.unused, ["fc.weight"]);
    }

    #[test]
    fn short_numbers_are_read_exactly() {
        // 1, -2, the least positive number, the largest one, and 1/3 rounded.
        let halves: [(u16, f32); 5] = [
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x0001, 5.960_464_5e-8),
            (0x7bff, 65504.0),
            (0x3555, 0.333_251_95),
        ];
        for (bits, value) in halves {
            assert_eq!(half(bits), value);
        }
        assert!(half(0x7e00).is_nan() && half(0xfc00) == f32::NEG_INFINITY);
        let own = layout(&[("a", &[2]), ("b", &[2])]);
        let bytes = |words: [u16; 2]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
        let given = file(&[
            ("a", &[2], Dtype::F16, bytes([0x3c00, 0xc000])),
            ("b", &[2], Dtype::BF16, bytes([0x3f80, 0xc000])),
        ]);
        let mut weights = vec![0.0; 4];
        given.apply(&Mapping::default(), &own, &mut weights).unwrap();
        assert_eq!(weights, [1.0, -2.0, 1.0, -2.0]);
        for (dtype, bytes) in [(Dtype::I32, vec![0; 8]), (Dtype::F16, bytes([0x7e00, 0]))] {
            let given = file(&[("a", &[2], dtype, bytes), ("b", &[2], Dtype::F16, vec![0; 4])]);
            assert!(given.apply(&Mapping::default(), &own, &mut weights).is_err());
        }
        assert!(GivenWeights::parse("w", b"not weights").is_err());
    }
}
