//! `reticent audit`, `attack` and `report` as clap reads them.

use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

/// What is stated about an attack.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Statements")]
pub(crate) struct Statement {
    /// How epsilon is bounded from below: one-run, f-dp, f-dp-gaussian, clopper-pearson, gaussian, or none [default: one-run
    /// where it is known or declared how members were drawn, else none]
    #[arg(long, value_name = "METHOD")]
    pub(crate) bound: Option<String>,
    /// Bounds from one run: the share of records that is guessed, half from each end, fixed before any result is seen
    /// [default: 250 records, and from 5 % to 30 % of them; one-run also by a choice on a held-out tenth, and only by that
    /// with 4000 records or more or with many equal scores]
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true)]
    pub(crate) guesses: Option<String>,
    /// The delta of the bound on epsilon [default: the certificate's, or 1e-5]
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    pub(crate) delta: Option<String>,
    /// Confidence of intervals and bounds
    #[arg(long, value_name = "C", default_value = "0.95", allow_hyphen_values = true)]
    pub(crate) confidence: String,
    /// The share of members among those an attacker would try, for the share of true alarms (PPV)
    #[arg(long, value_name = "P", allow_hyphen_values = true)]
    pub(crate) prior: Option<String>,
    /// How many of the records most at risk are listed
    #[arg(long, value_name = "K", default_value = "20", allow_hyphen_values = true)]
    pub(crate) worst: String,
    /// The key of every split; the same key gives the same audit
    #[arg(long, value_name = "TEXT", default_value = "reticent")]
    pub(crate) key: String,
    /// Draw what every attack finds against what it wrongly accuses, on logarithmic axes
    #[arg(long, value_name = "FILE.svg", help_heading = "Output")]
    pub(crate) plot: Option<PathBuf>,
}

/// A table of scores.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Score tables")]
pub(crate) struct Table {
    /// Scores of anybody's model (.csv, .parquet or .npz): columns score and member, or probabilities or logits per class
    #[arg(long, value_name = "FILE")]
    pub(crate) scores: Option<PathBuf>,
    /// Reference models' outputs and who was in them (.npz, or a long table), matched by id
    #[arg(long, value_name = "FILE", requires = "scores")]
    pub(crate) references_from: Option<PathBuf>,
    /// Columns whose groups are compared, comma-separated
    #[arg(long, value_name = "A,B,…", requires = "scores", value_delimiter = ',')]
    pub(crate) groups: Vec<String>,
    /// Columns that are known without the model, comma-separated, for the baseline; those named feature_… are always taken
    #[arg(long, value_name = "A,B,…", requires = "scores", value_delimiter = ',')]
    pub(crate) features: Vec<String>,
}

/// The most records that are audited unless flags say otherwise.
pub(crate) const RECORDS: &str = "20000";
/// How many reference models are trained unless flags say otherwise.
const REFERENCES: &str = "16";

/// How reference models are trained.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Our own models")]
pub(crate) struct Fitting {
    /// How many reference models are trained like the target, each with a random half of the audited records [default: 16]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) references: Option<String>,
    /// Data of the same kind that the model was NOT trained on [default: the rows that were held out, or the test part]
    #[arg(long, value_name = "DATA")]
    pub(crate) non_members: Option<PathBuf>,
    /// Declare how members were drawn: P, each record by a coin of its own with this probability. For tables also 'pairs', one
    /// record of each pair (column pair) by a fair coin, or 'fixed', a fixed number of records, all such sets being equally
    /// likely. Without a draw, no bound on epsilon follows [default: known for rows that were held out]
    #[arg(
        long,
        value_name = "P",
        alias = "inclusion",
        allow_hyphen_values = true,
        help_heading = "Statements"
    )]
    pub(crate) drawn: Option<String>,
    /// The most records to audit, about half of them members [default: 20000]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) records: Option<String>,
    /// Threads to use [default: all processors]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) threads: Option<String>,
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
            ("--threads", self.threads.clone()),
        ];
        given.into_iter().find_map(|(flag, value)| Some((flag, value?)))
    }
}

#[derive(Debug, Args)]
pub(crate) struct Audit {
    /// The folder of a model that 'reticent train --out' wrote
    #[arg(value_name = "MODEL", conflicts_with = "scores", required_unless_present = "scores")]
    pub(crate) run: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) table: Table,
    #[command(flatten)]
    pub(crate) fitting: Fitting,
    /// Run only these, comma-separated; 'reticent attack list' names them [default: all that can be run]
    #[arg(long, value_name = "A,B,…", value_delimiter = ',', help_heading = "Statements")]
    pub(crate) attacks: Vec<String>,
    #[command(flatten)]
    pub(crate) statement: Statement,
    /// Where results go: audit.json, private.json, scores.csv, reference models [default: MODEL-audit; for tables, nowhere]
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub(crate) out: Option<PathBuf>,
    /// Print one line of JSON
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Attack {
    /// The attacks there are, and what each needs
    List {
        /// Print one line of JSON
        #[arg(long)]
        json: bool,
    },
    /// One attack on a table of scores
    Run(AttackRun),
    /// Train reference models: one of several independent jobs
    Fit(Fit),
    /// Gather the reference models of all jobs and audit
    Collect(Collect),
    /// Train once with canaries that were put in by coin, and bound epsilon from below
    Canary(Canary),
}

#[derive(Debug, Args)]
pub(crate) struct AttackRun {
    /// Which attack, as 'reticent attack list' names it
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) table: Table,
    /// Declare how members were drawn: P, each record by a coin of its own with this probability; 'pairs', one record of each
    /// pair (column pair) by a fair coin; 'fixed', a fixed number of records, all such sets being equally likely
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
    /// Where to write every record's score, as CSV
    #[arg(long, value_name = "FILE.csv", help_heading = "Output")]
    pub(crate) out: Option<PathBuf>,
    /// Print one line of JSON
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Fit {
    /// The folder of a model that 'reticent train --out' wrote
    #[arg(value_name = "MODEL")]
    pub(crate) run: PathBuf,
    /// Which job this is, from 0
    #[arg(long, value_name = "K", allow_hyphen_values = true)]
    pub(crate) index: String,
    /// How many jobs there are
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) of: String,
    #[command(flatten)]
    pub(crate) fitting: Fitting,
    /// The key of every split; the same key gives the same audit
    #[arg(long, value_name = "TEXT", default_value = "reticent", help_heading = "Statements")]
    pub(crate) key: String,
    /// The folder of the reference models, the same for all jobs
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub(crate) out: PathBuf,
    /// Print one line of JSON
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Collect {
    /// The folder of a model that 'reticent train --out' wrote
    #[arg(value_name = "MODEL")]
    pub(crate) run: PathBuf,
    #[command(flatten)]
    pub(crate) fitting: Fitting,
    #[command(flatten)]
    pub(crate) statement: Statement,
    /// The folder that the jobs filled; results go there too
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
    /// Gradients along one weight each: the strongest, and only for an auditor inside the training
    Dirac,
}

#[derive(Debug, Args)]
pub(crate) struct Canary {
    /// The folder of a private network that 'reticent train --out' wrote: its training is repeated, with canaries
    #[arg(value_name = "MODEL")]
    pub(crate) run: PathBuf,
    /// What a canary is
    #[arg(long, value_enum, value_name = "KIND", default_value = "mislabelled")]
    pub(crate) kind: CanaryKind,
    /// How many there are; each is put in by a fair coin
    #[arg(long, value_name = "M", default_value = "1000", allow_hyphen_values = true)]
    pub(crate) canaries: String,
    #[command(flatten)]
    pub(crate) statement: Statement,
    /// Where results go: audit.json, private.json, scores.csv
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub(crate) out: Option<PathBuf>,
    /// Print one line of JSON
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Report {
    /// A folder with audit.json: what 'reticent audit --out' wrote, or the folder of an audited model
    pub(crate) folder: PathBuf,
    /// What only people know: title, purpose, release context, prior, subjects (TOML; see below)
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) declared: Option<PathBuf>,
    /// The certificate to set beside the audit [default: the run's]
    #[arg(long, value_name = "FILE.json")]
    pub(crate) certificate: Option<PathBuf>,
    /// Where report.html and report.json go [default: the audit's folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Open the page in a browser
    #[arg(long)]
    pub(crate) open: bool,
    /// Print one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
}
