//! A stored network as the target of an audit by author: all samples of an author are in a model, or none.

use super::network::{Compared, NetworkTarget, Trained, source_of};
use crate::audit::case::{AuthorCase, Case, Chosen, RecordChoice};
use crate::refusal::Refusal;
use crate::session::Session;
use crate::train::{Computing, Loaded, Source, Stored};
use crate::watch::Watch;
use reticent_attack::{AuthorLearner, AuthorUnit, Authors, COMPARED_SAMPLES, Population, Wanted};
use reticent_audit::findings::AuthorSamples;
use reticent_audit::{Draw, Features};
use reticent_core::Code;
use reticent_data::encode::user_names;
use reticent_data::keyed_hash;
use reticent_data::text::PADDING;
use reticent_train::{Examples, Inputs};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// How many numbers besides the counts the baseline sees of an author's tokens.
const BUCKETS: usize = 16;

/// One file of samples.
struct Part {
    file: String,
    loaded: Loaded,
    /// The name of every author, by its number in this file.
    names: Vec<String>,
}

impl Part {
    fn of(stored: &Stored, source: &Source, loaded: Loaded) -> Result<Self, Refusal> {
        let (Source::Table(table), Some(schema)) = (source, &stored.reader.schema) else {
            return Err(Refusal::internal("authors without a table"));
        };
        let file = source.name();
        let name = |(number, name): (usize, Option<String>)| {
            name.unwrap_or_else(|| format!("(number {} of {file}, without a name)", number + 1))
        };
        let names = user_names(&**table, schema)?.into_iter().enumerate().map(name).collect();
        Ok(Self { file, loaded, names })
    }

    fn read(stored: &Stored, source: &Source, watch: &dyn Watch) -> Result<Self, Refusal> {
        let loaded = stored.reader.read(source, true, watch)?;
        stored.network.check(&loaded.examples)?;
        Self::of(stored, source, loaded)
    }

    /// The row of a piece.
    fn row(&self, piece: usize) -> u32 {
        self.loaded.rows.as_ref().map_or(piece as u32, |rows| rows[piece])
    }

    /// The pieces of every author, numbered from `first` on.
    fn pieces(&self, first: usize) -> Vec<Vec<usize>> {
        let mut own = vec![Vec::new(); self.names.len()];
        for (piece, author) in self.loaded.users.iter().flatten().enumerate() {
            own[*author as usize].push(first + piece);
        }
        own
    }
}

/// All files, one after the other.
struct Corpus {
    parts: Vec<Part>,
    starts: Vec<usize>,
}

impl Corpus {
    /// The file and the row of a piece.
    fn place(&self, piece: usize) -> (usize, u32) {
        let part = self.starts.iter().rposition(|start| *start <= piece).unwrap_or(0);
        (part, self.parts[part].row(piece - self.starts[part]))
    }

    /// The pieces of at most `most` rows, by a key.
    fn some_rows(&self, pieces: &[usize], most: Option<usize>, key: &str) -> Vec<usize> {
        let Some(most) = most else { return pieces.to_vec() };
        let hash =
            |place: &(usize, u32)| keyed_hash(key, format!("sample {} {}", place.0, place.1).as_bytes());
        let mut rows: Vec<(usize, u32)> =
            pieces.iter().map(|piece| self.place(*piece)).collect::<BTreeSet<_>>().into_iter().collect();
        rows.sort_by_cached_key(|place| (hash(place), *place));
        rows.truncate(most);
        pieces.iter().copied().filter(|piece| rows.contains(&self.place(*piece))).collect()
    }

    fn rows(&self, pieces: &[usize]) -> usize {
        pieces.iter().map(|piece| self.place(*piece)).collect::<BTreeSet<_>>().len()
    }
}

impl Compared {
    /// Reads samples of both kinds of authors, and chooses whom to audit.
    pub(super) fn authors(
        self,
        column: &str,
        choice: &RecordChoice,
        session: &mut Session,
    ) -> Result<Case, Refusal> {
        let Self { target, source, flag } = self;
        if let Some(share) = target.run.held_out {
            let text = format!(
                "{}: {share} of the users were held out of the training, and an audit by {column} takes all users of the data for \
                 members: train without ⟦held_out⟧ to audit by {column}",
                target.folder.display()
            );
            return Err(Refusal::new(Code::Premise, text));
        }
        let others_name = format!("authors of {} ({flag})", source.name());
        let fresh = choice.samples.as_deref().map(|path| source_of(path, &target.run)).transpose()?;
        let watch = session.watch();
        let loaded = target.loaded(watch)?;
        let per_step = target.run.examples_per_user.map(|most| most as usize);
        let own = Part::of(&target.stored, &target.found.source, loaded)?;
        let rest = Part::read(&target.stored, &source, watch)?;
        let asked = fresh.map(|source| Part::read(&target.stored, &source, watch)).transpose()?;
        let samples = if asked.is_some() { AuthorSamples::Fresh } else { AuthorSamples::TrainedOn };
        // Who is in both files is a member, and its samples in the second are nobody's.
        let members: BTreeSet<&String> = own.names.iter().collect();
        let is_new = |name: &String| !members.contains(name);
        let others: Vec<usize> = (0..rest.names.len()).filter(|place| is_new(&rest.names[*place])).collect();
        let known = rest.names.len() - others.len();
        if others.is_empty() {
            let remedy = format!("every {column} there is in the training data: give samples of others");
            return Err(Refusal::conflict("non_members", source.name(), remedy));
        }
        let units = own.names.len();
        let names: Vec<String> =
            own.names.iter().cloned().chain(others.iter().map(|place| rest.names[*place].clone())).collect();
        let mut starts = vec![0, own.loaded.examples.len()];
        let mut all = own.loaded.examples.clone().followed_by(&rest.loaded.examples)?;
        let mut trained = own.pieces(0);
        let of_rest = rest.pieces(starts[1]);
        trained.extend(others.iter().map(|place| of_rest[*place].clone()));
        let mut parts = vec![own, rest];
        let mut of_fresh: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        if let Some(part) = asked {
            starts.push(all.len());
            all = all.followed_by(&part.loaded.examples)?;
            of_fresh = part.names.iter().cloned().zip(part.pieces(starts[2])).collect();
            parts.push(part);
        }
        let corpus = Corpus { parts, starts };
        let available: Vec<Vec<usize>> = match samples {
            AuthorSamples::TrainedOn => trained.clone(),
            AuthorSamples::Fresh => {
                names.iter().map(|name| of_fresh.get(name).cloned().unwrap_or_default()).collect()
            }
        };
        if trained.iter().all(|pieces| corpus.rows(pieces) < 2) {
            let text = format!(
                "every {column} has one sample, so there is nothing to gather by {column}: give the column that says who wrote several of \
                 them as the schema's unit"
            );
            return Err(Refusal::new(Code::Premise, text));
        }
        let least = choice.samples_per_author.unwrap_or(1);
        let may: Vec<bool> = available.iter().map(|pieces| corpus.rows(pieces) >= least).collect();
        let (inside, outside) = may.split_at(units);
        let count = |side: &[bool]| side.iter().filter(|may| **may).count();
        if count(inside) < 2 || count(outside) < 2 {
            let needed = if least > 1 { format!("{least} samples") } else { "a sample".to_owned() };
            let text = format!(
                "not measurable: {} of {units} authors of the training data and {} of {} others have {needed} to ask about: at least 2 of \
                 each are needed to be audited",
                count(inside),
                count(outside),
                outside.len()
            );
            return Err(Refusal::new(Code::NotMeasurable, text));
        }
        let asked: Vec<Vec<usize>> = available
            .iter()
            .zip(&trained)
            .zip(&may)
            .map(|((pieces, own), may)| match may {
                true => corpus.some_rows(pieces, choice.samples_per_author, &choice.key),
                // Never asked about.
                false => own.clone(),
            })
            .collect();
        let draw = choice.declared.unwrap_or(Draw::Undeclared);
        let chosen = Chosen::of((units, others.len()), draw, choice.most, &choice.key, |place| may[place])?;
        let rows_of = |author: &usize| corpus.rows(&trained[*author]) as u64;
        let trained_most = chosen.audited.iter().map(rows_of).max().unwrap_or(1);
        let weights = target.stored.weights.clone();
        let Trained { training, certificate, computing, .. } =
            target.trained((Examples::clone(&all), None), units)?;
        let authors =
            Authors { trained, asked: asked.clone(), unit: Some(AuthorUnit { samples_per_step: per_step }) };
        let all = Arc::new(all);
        let Computing { device, resources } = computing;
        let learner =
            AuthorLearner::new(all.clone(), authors, training)?.computed_on(device, resources.chunk);
        if choice.white_box {
            let remedy = "attacks on authors use what the model says: leave it out";
            return Err(Refusal::conflict("white_box", "true", remedy));
        }
        let found = learner.artifact(&weights, &chosen.audited)?;
        let audited: Vec<&[usize]> = chosen.audited.iter().map(|author| asked[*author].as_slice()).collect();
        let rows: Vec<u64> = audited.iter().map(|pieces| corpus.rows(pieces) as u64).collect();
        let (fewest, most) =
            (rows.iter().min().copied().unwrap_or(0), rows.iter().max().copied().unwrap_or(0));
        let ids = chosen.ids(&choice.key).iter().map(|id| id.replace("record", "author")).collect();
        // What one coin decides on are the samples that an author is trained on, however few the auditor has.
        let population = Population::of_authors(ids, trained_most, features(&all, &audited, &rows));
        let places = |pieces: &&[usize]| {
            pieces.iter().take(COMPARED_SAMPLES).map(|piece| corpus.place(*piece)).collect::<Vec<_>>()
        };
        let authors = AuthorCase {
            column: column.to_owned(),
            names: chosen.audited.iter().map(|author| names[*author].clone()).collect(),
            samples,
            samples_per_author: choice.samples_per_author.map(|most| most as u64),
            fewest,
            most,
            places: audited.iter().map(places).collect(),
            files: corpus.parts.iter().map(|part| part.file.clone()).collect(),
            trained: units,
            known,
            left_out: may.iter().filter(|may| !**may).count(),
        };
        Ok(Case {
            references_are_central: false,
            learner: Box::new(learner),
            chosen,
            population,
            target: found,
            wanted: Wanted::default(),
            certificate,
            draw,
            others: others_name,
            left_out: 0,
            authors: Some(authors),
        })
    }
}

/// What is known of authors without a model: how many samples, how long they are, and how often tokens of some kinds occur.
fn features(examples: &Examples, audited: &[&[usize]], rows: &[u64]) -> Features {
    let size = examples.size();
    let mut values = Vec::with_capacity(audited.len() * (BUCKETS + 2));
    for (pieces, rows) in audited.iter().zip(rows) {
        let (mut shares, mut all) = ([0.0_f32; BUCKETS], 0.0_f32);
        if let Inputs::Tokens(tokens) = examples.inputs() {
            let own = pieces.iter().flat_map(|piece| &tokens[piece * size..(piece + 1) * size]);
            for token in own.filter(|token| **token != PADDING) {
                shares[*token as usize % BUCKETS] += 1.0;
                all += 1.0;
            }
        }
        values.extend(shares.iter().map(|share| share / all.max(1.0)));
        values.extend([(*rows as f32).ln_1p(), all / *rows as f32]);
    }
    Features { columns: BUCKETS + 2, values }
}

impl NetworkTarget {
    /// The column whose values are the units of the run; none where a row is one.
    pub(super) fn unit_column(&self) -> Option<&str> {
        self.stored.reader.unit_column()
    }
}
