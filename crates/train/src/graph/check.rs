//! Whether examples fit a graph.

use super::Graph;
use crate::describe::Objective;
use crate::{Examples, Inputs, Targets, TrainError, UNSCORED};

impl Graph {
    /// Checks that every example fits: shape, kind, tokens and classes in range.
    ///
    /// # Errors
    /// [`TrainError::Shape`], or [`TrainError::Example`] naming the first example that does not fit.
    pub fn check(&self, examples: &Examples) -> Result<(), TrainError> {
        self.fits(examples)?;
        let bad = |example: usize, why: String| Err(TrainError::Example { example, why });
        if let (Some(vocabulary), Inputs::Tokens(ids)) = (self.vocabulary, examples.inputs())
            && let Some(place) = ids.iter().position(|id| *id as usize >= vocabulary)
        {
            let why = format!("token {} is outside the vocabulary of {vocabulary}", ids[place]);
            return bad(place / examples.size(), why);
        }
        match (examples.targets(), self.objective) {
            (Targets::Classes(classes), Objective::CrossEntropy) => {
                let outputs = self.outputs;
                match classes.iter().position(|class| *class as usize >= outputs) {
                    Some(example) => bad(
                        example,
                        format!(
                            "its label is {}: the network has the classes 0 to {}",
                            classes[example],
                            outputs - 1
                        ),
                    ),
                    None => Ok(()),
                }
            }
            (Targets::Next(next), Objective::NextToken) => {
                let vocabulary = self.vocabulary.unwrap_or(0);
                let outside = |token: &u32| *token != UNSCORED && *token as usize >= vocabulary;
                match next.iter().position(outside) {
                    Some(place) => {
                        let why =
                            format!("next token {} is outside the vocabulary of {vocabulary}", next[place]);
                        bad(place / examples.size(), why)
                    }
                    None => Ok(()),
                }
            }
            (Targets::Numbers(_), Objective::CrossEntropy) => Err(TrainError::Shape(
                "the targets are numbers: cross-entropy needs classes (or set loss = \"squared\")".to_owned(),
            )),
            _ => Ok(()),
        }
    }

    /// Checks shape and kinds, in a time that does not depend on the number of examples.
    ///
    /// # Errors
    /// [`TrainError::Shape`].
    pub fn fits(&self, examples: &Examples) -> Result<(), TrainError> {
        if examples.size() != self.sizes[0] {
            return Err(TrainError::Shape(format!(
                "the network reads {:?}, the examples have the shape {:?}",
                self.shapes[0],
                examples.shape()
            )));
        }
        match (examples.targets(), self.objective) {
            (Targets::Next(_), Objective::NextToken) => {}
            (Targets::Next(_), _) => {
                return Err(TrainError::Shape(
                    "the targets are next tokens: set loss = \"next-token\" in the model".to_owned(),
                ));
            }
            (_, Objective::NextToken) => {
                return Err(TrainError::Shape(
                    "next-token needs the next token of every position, not a label per example".to_owned(),
                ));
            }
            _ => {}
        }
        let tokens = matches!(examples.inputs(), Inputs::Tokens(_));
        match (self.vocabulary, tokens) {
            (Some(_), false) => Err(TrainError::Shape("the network reads tokens: give text".to_owned())),
            (None, true) => {
                Err(TrainError::Shape("the network has no embedding: text needs one first".to_owned()))
            }
            _ => Ok(()),
        }
    }
}
