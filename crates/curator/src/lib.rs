//! The verbs as a library: requests that are checked, planned, paid for and run.
//!
//! A request is plain data. [`check`](Request::check) reads what is public (flags, schemas, the columns of a file) and
//! gives a plan; running the plan in a [`Session`] charges its cost, reads the private data and gives an outcome, which is data
//! as well. The command, the demo and bindings turn words into requests and outcomes into words; they decide nothing.
//!
//! | room | what is in it |
//! |---|---|
//! | [`account`] | what events add up to; spends nothing |
//! | [`fit`] | linear models from tables |
//! | [`train`] | networks |
//! | [`stored`] | models of either kind, read back |
//! | [`predict`], [`evaluate`] | a stored model on other data |
//! | [`folder`] | models and runs on disk |
//! | [`audit`] | what a model leaks about who was in its training data |
//! | [`report`] | an audit and a certificate as one page |
//! | [`release`] | questions about a table, and surveys in the local model |
//! | [`schema`] | what a schema says of a table, drafted or learnt with noise |
//! | [`session`] | whose data, who pays, who watches |
//! | [`refusal`] | why a request is refused: a code, the field, the remedy |
//! | [`watch`] | progress, and being asked to stop |
//! | [`quantity`] | numbers and names that several requests share, checked |
//! | [`file`] | where a file may be written |

pub mod account;
pub mod audit;
mod bill;
#[cfg(test)]
mod certificate_tests;
pub mod evaluate;
pub mod file;
pub mod fit;
pub mod folder;
pub mod predict;
pub mod quantity;
pub mod refusal;
pub mod release;
pub mod report;
mod scan;
pub mod schema;
pub mod session;
pub mod stored;
mod table;
pub mod train;
pub mod watch;

pub use quantity::neighboring;
pub use refusal::Refusal;
pub use session::Session;
pub use watch::Watch;

/// Something that can be asked.
pub trait Request {
    /// The request with everything checked but the private data.
    type Planned: Planned;

    /// Checks the request. Files are opened for what is public of them (their columns); no value is read.
    ///
    /// # Errors
    /// [`Refusal`] naming the field and the remedy.
    fn check(&self) -> Result<Self::Planned, Refusal>;
}

/// A request about which nothing is left to check but the data.
pub trait Planned {
    /// What comes out: data, in the form of the command's JSON.
    type Outcome;

    /// Charges the session, reads the data, and answers.
    ///
    /// # Errors
    /// [`Refusal`].
    fn run(self, session: &mut Session) -> Result<Self::Outcome, Refusal>;
}
