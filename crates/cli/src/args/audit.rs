//! `reticent audit`, `attack` and `report` as clap reads them.

pub(crate) use super::attribute::Attribute;
pub(crate) use super::disclosure::{Difference, Reconstruct};
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

/// The statements about an attack.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Statements")]
pub(crate) struct Statement {
    /// Method of the lower bound on epsilon: one-run, f-dp, f-dp-gaussian, clopper-pearson, gaussian or none
    ///
    /// [default: one-run if it is known or declared how members were sampled, else none]
    #[arg(long, value_name = "METHOD")]
    pub(crate) bound: Option<String>,
    /// Fraction of records that the attacker guesses, for bounds from one run
    ///
    /// Half of the guesses are the highest scores and half the lowest. The fraction is fixed before any result is seen.
    /// [default: 250 records, and from 5 % to 30 % of them; one-run also by a choice on a held-out tenth, and only by that
    /// with 4000 records or more or with many equal scores]
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true)]
    pub(crate) guesses: Option<String>,
    /// Delta of the lower bound on epsilon [default: the certificate's, or 1e-5]
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    pub(crate) delta: Option<String>,
    /// Confidence level of intervals and bounds
    #[arg(long, value_name = "C", default_value = "0.95", allow_hyphen_values = true)]
    pub(crate) confidence: String,
    /// Base rate of members among the records an attacker tries, for the positive predictive value (PPV)
    #[arg(long, value_name = "P", allow_hyphen_values = true)]
    pub(crate) prior: Option<String>,
    /// Number of most vulnerable records to list
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "K", default_value = "20", allow_hyphen_values = true)]
    pub(crate) worst: String,
    /// Key of all random splits; the same key gives the same audit
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "TEXT", default_value = "reticent")]
    pub(crate) key: String,
    /// Plot the ROC curves of all attacks on logarithmic axes
    #[arg(long, value_name = "FILE.svg", help_heading = "Output")]
    pub(crate) plot: Option<PathBuf>,
}

/// A table of scores.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Score tables")]
pub(crate) struct Table {
    /// Scores of any model (.csv, .parquet or .npz): columns score and member, or probabilities or logits per class
    #[arg(long, value_name = "FILE")]
    pub(crate) scores: Option<PathBuf>,
    /// Outputs and members of reference models (.npz, or a long table), matched by id
    #[arg(long, value_name = "FILE", requires = "scores", hide_short_help = true)]
    pub(crate) references_from: Option<PathBuf>,
    /// Columns that define subgroups to compare, comma-separated
    #[arg(long, value_name = "A,B,…", requires = "scores", value_delimiter = ',')]
    pub(crate) groups: Vec<String>,
    /// Columns known without the model, comma-separated, for the baseline; columns named feature_… are always used
    #[arg(long, value_name = "A,B,…", requires = "scores", value_delimiter = ',', hide_short_help = true)]
    pub(crate) features: Vec<String>,
}

/// The most records that are audited unless flags say otherwise.
pub(crate) const RECORDS: &str = "20000";
/// How many reference models are trained unless flags say otherwise.
const REFERENCES: &str = "16";

/// How reference models are trained.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Models of this tool")]
pub(crate) struct Fitting {
    /// Number of reference models, each trained on a random half of the audited records [default: 16]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) references: Option<String>,
    /// Data from the same distribution that the model was NOT trained on [default: held-out rows, or the test split]
    #[arg(long, value_name = "DATA")]
    pub(crate) non_members: Option<PathBuf>,
    /// Declare how members were sampled: P, pairs or fixed; without it there is no bound on epsilon
    ///
    /// P: each record independently with this probability. For tables also 'pairs': one record of each pair (column pair), by
    /// a fair coin; or 'fixed': a fixed number of records, every such set equally likely. [default: known if rows were held
    /// out]
    #[arg(
        long,
        value_name = "P",
        alias = "inclusion",
        allow_hyphen_values = true,
        help_heading = "Statements"
    )]
    pub(crate) drawn: Option<String>,
    /// Maximum number of records to audit, about half of them members [default: 20000]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) records: Option<String>,
    /// Attack with the weights too, by gradients of all models
    #[arg(long)]
    pub(crate) white_box: bool,
    /// Attack by predicted classes alone too, with noisy copies of the records; for networks
    #[arg(long, hide_short_help = true)]
    pub(crate) label_only: bool,
    /// Layers of a network whose outputs a white-box attacker sees too, comma-separated
    #[arg(long, value_name = "A,B,…", value_delimiter = ',', hide_short_help = true)]
    pub(crate) activations: Vec<String>,
    /// Column of authors, if it is the unit of the run: all samples of an author are in or out [default: the unit]
    #[arg(long, value_name = "COLUMN", hide_short_help = true)]
    pub(crate) unit: Option<String>,
    /// By author: fresh samples of the same authors, on which no model is trained
    #[arg(long, value_name = "DATA", hide_short_help = true)]
    pub(crate) samples: Option<PathBuf>,
    /// By author: number of samples that the auditor has of each; authors with fewer are left out [default: all]
    #[arg(long, value_name = "K", allow_hyphen_values = true, hide_short_help = true)]
    pub(crate) samples_per_author: Option<String>,
    /// Number of threads [default: all processors]
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) threads: Option<String>,
    #[command(flatten)]
    pub(crate) computing: super::network::ComputingFlags,
}

impl Fitting {
    /// How many reference models, as it was written.
    pub(crate) fn references(&self) -> &str {
        self.references.as_deref().unwrap_or(REFERENCES)
    }

    /// The most records, as it was written.
    pub(crate) fn records(&self) -> &str {
        self.records.as_deref().unwrap_or(RECORDS)
    }

    /// Flags that were given and are for models of ours alone, with their values.
    pub(crate) fn for_models(&self) -> Option<(&'static str, String)> {
        let path = self.non_members.as_ref().map(|path| path.display().to_string());
        let given = [
            ("--references", self.references.clone()),
            ("--non-members", path),
            ("--records", self.records.clone()),
            ("--white-box", self.white_box.then(String::new)),
            ("--label-only", self.label_only.then(String::new)),
            ("--activations", self.activations.first().cloned()),
            ("--unit", self.unit.clone()),
            ("--samples", self.samples.as_ref().map(|path| path.display().to_string())),
            ("--samples-per-author", self.samples_per_author.clone()),
            ("--threads", self.threads.clone()),
            ("--device", self.computing.device.clone()),
            ("--chunk", self.computing.chunk.clone()),
        ];
        given.into_iter().find_map(|(flag, value)| Some((flag, value?)))
    }
}

#[derive(Debug, Args)]
pub(crate) struct Audit {
    /// Folder of a model written by 'reticent train --out'
    #[arg(value_name = "MODEL", conflicts_with = "scores", required_unless_present = "scores")]
    pub(crate) run: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) table: Table,
    #[command(flatten)]
    pub(crate) fitting: Fitting,
    /// Run only these attacks, comma-separated; see 'reticent attack list' [default: all that can run]
    #[arg(long, value_name = "A,B,…", value_delimiter = ',', help_heading = "Statements")]
    pub(crate) attacks: Vec<String>,
    #[command(flatten)]
    pub(crate) statement: Statement,
    /// Output folder: audit.json, private.json, scores.csv, reference models [default: MODEL-audit; none for tables]
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub(crate) out: Option<PathBuf>,
    /// Print one line of JSON
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Attack {
    /// List the attacks and what each needs
    List {
        /// Print one line of JSON
        #[arg(long)]
        json: bool,
    },
    /// Run one attack on a table of scores
    Run(AttackRun),
    /// Train reference models as one of several independent jobs
    Fit(Fit),
    /// Collect the reference models of all jobs and audit the model
    Collect(Collect),
    /// Train once with randomly inserted canaries and bound epsilon from below
    Canary(Canary),
    /// Recover training records of a model from gradients, or as an attacker who knows all other records
    Reconstruct(Reconstruct),
    /// Guess one column of records, with the model and without it
    Attribute(Attribute),
    /// Compare two models or two releases, with and without somebody, and recover who differs
    Difference(Difference),
    /// Train a language model once with planted secrets, and measure how exposed they are
    Exposure(super::exposure::Exposure),
    /// Attack parties that trained together, as the server or as one of them
    Federated(super::federated::Federated),
}

#[derive(Debug, Args)]
pub(crate) struct AttackRun {
    /// Name of the attack; see 'reticent attack list'
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) table: Table,
    /// Declare how members were sampled: P, pairs or fixed; without it there is no bound on epsilon
    ///
    /// P: each record independently with this probability. 'pairs': one record of each pair (column pair), by a fair coin.
    /// 'fixed': a fixed number of records, every such set equally likely.
    #[arg(
        long,
        value_name = "P",
        alias = "inclusion",
        allow_hyphen_values = true,
        help_heading = "Statements"
    )]
    pub(crate) drawn: Option<String>,
    #[command(flatten)]
    pub(crate) statement: Statement,
    /// Write the score of every record to this CSV file
    #[arg(long, value_name = "FILE.csv", help_heading = "Output")]
    pub(crate) out: Option<PathBuf>,
    /// Print one line of JSON
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Fit {
    /// Folder of a model written by 'reticent train --out'
    #[arg(value_name = "MODEL")]
    pub(crate) run: PathBuf,
    /// Index of this job, from 0
    #[arg(long, value_name = "K", allow_hyphen_values = true)]
    pub(crate) index: String,
    /// Number of jobs
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) of: String,
    #[command(flatten)]
    pub(crate) fitting: Fitting,
    /// Key of all random splits; the same key gives the same audit
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "TEXT", default_value = "reticent", help_heading = "Statements")]
    pub(crate) key: String,
    /// Folder of the reference models, the same for all jobs
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub(crate) out: PathBuf,
    /// Print one line of JSON
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Collect {
    /// Folder of a model written by 'reticent train --out'
    #[arg(value_name = "MODEL")]
    pub(crate) run: PathBuf,
    #[command(flatten)]
    pub(crate) fitting: Fitting,
    #[command(flatten)]
    pub(crate) statement: Statement,
    /// Folder that the jobs wrote to; the results go there too
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub(crate) out: PathBuf,
    /// Print one line of JSON
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
}

/// The kinds of canaries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CanaryKind {
    /// Records with a wrong label
    Mislabelled,
    /// Empty inputs with a random label
    Blank,
    /// Gradients along a single weight each: the strongest canaries; they need access to the training itself
    Dirac,
}

#[derive(Debug, Args)]
pub(crate) struct Canary {
    /// Folder of a private network written by 'reticent train --out'; its training is repeated with canaries
    #[arg(value_name = "MODEL")]
    pub(crate) run: PathBuf,
    /// Kind of canary
    #[arg(long, value_enum, value_name = "KIND", default_value = "mislabelled")]
    pub(crate) kind: CanaryKind,
    /// Number of canaries; each is inserted with probability 1/2
    #[arg(long, value_name = "M", default_value = "1000", allow_hyphen_values = true)]
    pub(crate) canaries: String,
    #[command(flatten)]
    pub(crate) computing: super::network::ComputingFlags,
    #[command(flatten)]
    pub(crate) statement: Statement,
    /// Output folder: audit.json, private.json, scores.csv
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub(crate) out: Option<PathBuf>,
    /// Print one line of JSON
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Report {
    /// Folder with audit.json, written by 'reticent audit --out', or the folder of an audited model
    pub(crate) folder: PathBuf,
    /// Facts that the data do not contain: title, purpose, release context, prior, subjects (TOML; see --help)
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) declared: Option<PathBuf>,
    /// The certificate to compare with the audit [default: the model's]
    #[arg(long, value_name = "FILE.json")]
    pub(crate) certificate: Option<PathBuf>,
    /// Output folder of report.html and report.json [default: the audit's folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Show training records that an attack recovered; declares that these records may be shown to every reader
    #[arg(long)]
    pub(crate) pictures: bool,
    /// Compare with these audited models, comma-separated: a curve of accuracy against leakage per defence
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    pub(crate) compare: Vec<PathBuf>,
    /// Open the page in a browser
    #[arg(long)]
    pub(crate) open: bool,
    /// Print one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
}
