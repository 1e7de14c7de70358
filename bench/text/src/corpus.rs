//! Speeches as pieces of characters, speaker by speaker.

use anyhow::{Context, Result, ensure};
use reticent_attack::{AuthorUnit, Authors};
use reticent_data::encode::user_names;
use reticent_data::schema::PrivacyUnit;
use reticent_data::text::{PADDING, TextPlan, Vocabulary};
use reticent_data::{Schema, open_table};
use reticent_train::{Examples, Inputs, Targets, UNSCORED, load};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

/// Characters of a piece.
pub(crate) const LENGTH: usize = 64;
/// The most pieces of a speaker that a model is trained on, and as many fresh ones: those who say most would fill the data.
const MOST_PIECES: usize = 24;

/// The speeches.
pub(crate) struct Corpus {
    /// All pieces.
    pub(crate) examples: Arc<Examples>,
    pub(crate) vocabulary: Vocabulary,
    /// The pieces of every speaker that models are trained on.
    pub(crate) trained: Vec<Vec<usize>>,
    /// Others of the same speaker, of other speeches.
    pub(crate) fresh: Vec<Vec<usize>>,
    speeches: usize,
    speakers: usize,
}

impl Corpus {
    /// Reads the speeches. Every second one of a speaker is to train on, the others are fresh; who has fewer than two speeches is left out.
    pub(crate) fn read(folder: &Path, quick: bool) -> Result<Self> {
        let file = [folder.join("speeches.parquet"), folder.join("shakespeare").join("speeches.parquet")];
        let file = file.iter().find(|file| file.is_file()).context("no speeches.parquet in the folder")?;
        let table = open_table(file)?;
        let vocabulary = Vocabulary::characters();
        let schema = Schema::new(PrivacyUnit::Column("speaker".to_owned()), None, Vec::new())?;
        let plan = TextPlan { column: "text", schema: &schema, vocabulary: &vocabulary, length: LENGTH };
        let texts = plan.read_whole(&*table, true, &mut |_| {})?;
        let users = texts.users.clone().context("no speakers")?;
        let speakers = user_names(&*table, &schema)?.len();
        let (examples, owners) = load::pieces(&texts, LENGTH)?;
        let (mut trained, mut fresh) = (vec![Vec::new(); speakers], vec![Vec::new(); speakers]);
        let most = if quick { 2 } else { MOST_PIECES };
        let mut said = vec![0_usize; speakers];
        let mut last = None;
        for (piece, text) in owners.iter().enumerate() {
            let speaker = users[*text as usize] as usize;
            if last != Some(*text) {
                said[speaker] += 1;
                last = Some(*text);
            }
            let side = if said[speaker] % 2 == 1 { &mut trained[speaker] } else { &mut fresh[speaker] };
            if side.len() < most {
                side.push(piece);
            }
        }
        let both: Vec<bool> =
            trained.iter().zip(&fresh).map(|(a, b)| !a.is_empty() && !b.is_empty()).collect();
        let kept = |sides: Vec<Vec<usize>>| -> Vec<Vec<usize>> {
            sides.into_iter().zip(&both).filter(|(_, both)| **both).map(|(own, _)| own).collect()
        };
        let (trained, fresh) = (kept(trained), kept(fresh));
        ensure!(trained.len() >= 4, "too few speakers with two speeches");
        let speeches = texts.ends.len();
        Ok(Self { examples: Arc::new(examples), vocabulary, trained, fresh, speeches, speakers })
    }

    /// Everybody, with the samples that the auditor has.
    pub(crate) fn authors(&self, asked: &[Vec<usize>], unit: Option<AuthorUnit>) -> Authors {
        Authors { trained: self.trained.clone(), asked: asked.to_vec(), unit }
    }

    /// How many pieces half of the speakers have, in the mean.
    pub(crate) fn half(&self) -> usize {
        self.trained.iter().map(Vec::len).sum::<usize>() / 2
    }

    /// How many characters are scored in some pieces.
    pub(crate) fn tokens(&self, pieces: &[usize]) -> usize {
        let Targets::Next(next) = self.examples.targets() else { return 0 };
        pieces
            .iter()
            .flat_map(|piece| &next[piece * LENGTH..(piece + 1) * LENGTH])
            .filter(|t| **t != UNSCORED)
            .count()
    }

    /// The share of each of the first characters in an author's pieces: what is known without a model.
    pub(crate) fn shares(&self, pieces: &[usize]) -> Vec<f32> {
        let Inputs::Tokens(inputs) = self.examples.inputs() else { return Vec::new() };
        let mut counts = vec![0.0_f32; self.vocabulary.size()];
        let mut all = 1.0_f32;
        for token in pieces.iter().flat_map(|piece| &inputs[piece * LENGTH..(piece + 1) * LENGTH]) {
            if *token != PADDING {
                counts[*token as usize] += 1.0;
                all += 1.0;
            }
        }
        counts.iter_mut().for_each(|count| *count /= all);
        counts.extend([pieces.len() as f32, all / pieces.len().max(1) as f32]);
        counts
    }

    pub(crate) fn described(&self) -> Value {
        let counts = |sides: &[Vec<usize>]| {
            let mut counts: Vec<usize> = sides.iter().map(Vec::len).collect();
            counts.sort_unstable();
            json!({"least": counts.first(), "median": counts.get(counts.len() / 2), "most": counts.last(), "all": counts.iter().sum::<usize>()})
        };
        json!({
            "speeches": self.speeches, "speakers": self.speakers, "audited_speakers": self.trained.len(),
            "characters_of_a_piece": LENGTH, "vocabulary": self.vocabulary.size(),
            "pieces_trained_on": counts(&self.trained), "fresh_pieces": counts(&self.fresh),
            "smallest_sensible_delta": 2.0 / self.trained.len() as f64,
        })
    }
}
