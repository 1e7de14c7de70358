//! Budgets, in memory and in files.

use crate::error::{Fault, guarded, json, parse};
use pyo3::prelude::*;
use reticent_core::{Delta, Epsilon, Guarantee};
use reticent_curator::budget::{
    AddData, AllotBudget, BudgetHistory, BudgetStanding, Budgeted, CloseBudget, CreateBudget, DrawSpending,
    ExportBudget, Remembered, SharedBudget, ShowBudget, StoredBudget, VerifyBudget,
};
use reticent_curator::{Planned, Refusal, Request, Session, Watch, neighboring};
use serde::de::DeserializeOwned;
use std::path::PathBuf;
use std::sync::Arc;

/// What a call is charged to.
pub(crate) enum Purse {
    /// A limit in memory.
    Memory(SharedBudget),
    /// A budget in a file; whether remembered answers are paid for anew.
    Stored(StoredBudget, bool),
}

/// A limit on what everything charged to it may cost together, also when questions are chosen by earlier answers.
#[pyclass(frozen, module = "reticent._native")]
pub(crate) struct Budget {
    pub(crate) inner: Arc<Purse>,
}

impl Budget {
    fn memory(&self) -> Result<&SharedBudget, Refusal> {
        match &*self.inner {
            Purse::Memory(budget) => Ok(budget),
            Purse::Stored(..) => Err(Refusal::internal("a budget in a file is not in memory")),
        }
    }
}

#[pymethods]
impl Budget {
    #[new]
    fn new(
        py: Python<'_>,
        epsilon: f64,
        delta: f64,
        neighboring: &str,
        unit: &str,
        data: &str,
    ) -> PyResult<Self> {
        guarded(py, || {
            let limit = Guarantee { epsilon: Epsilon::new(epsilon)?, delta: Delta::new(delta)? };
            let inner = SharedBudget::new(data, unit, limit, self::neighboring(neighboring)?)?;
            Ok(Self { inner: Arc::new(Purse::Memory(inner)) })
        })
    }

    /// The budget in a file.
    #[staticmethod]
    #[pyo3(signature = (path, analyst=None, purpose=None, refresh=false))]
    fn stored(
        py: Python<'_>,
        path: PathBuf,
        analyst: Option<String>,
        purpose: Option<String>,
        refresh: bool,
    ) -> PyResult<Self> {
        guarded(py, || {
            let budget = StoredBudget::open(path)?.asked_by(analyst, purpose)?;
            Ok(Self { inner: Arc::new(Purse::Stored(budget, refresh)) })
        })
    }

    /// The largest ε of one more pure release that fits.
    fn left(&self, py: Python<'_>) -> PyResult<f64> {
        guarded(py, || Ok(self.memory()?.own()?.left()?.get()))
    }

    /// What has been spent, as (ε, δ); none where only the limit is known to hold.
    fn spent(&self, py: Python<'_>) -> PyResult<Option<(f64, f64)>> {
        guarded(py, || {
            let spent = self.memory()?.own()?.spent()?;
            Ok(spent.map(|spent| (spent.epsilon.get(), spent.delta.get())))
        })
    }

    /// The events of everything that was charged, plan by plan, as JSON.
    fn plans(&self, py: Python<'_>) -> PyResult<String> {
        guarded(py, || {
            let budget = self.memory()?.own()?;
            let plans: Vec<_> = budget.plans().iter().map(|plan| plan.events()).collect();
            json(&plans)
        })
    }

    /// The limit: ε, δ, the neighboring relation, the unit and the name of the data.
    fn terms(&self, py: Python<'_>) -> PyResult<(f64, f64, String, String, String)> {
        guarded(py, || {
            let own = self.memory()?;
            let budget = own.own()?;
            let (limit, relation) = (budget.limit(), budget.neighboring().to_string());
            let (unit, data) = (own.unit().to_owned(), own.data().to_owned());
            Ok((limit.epsilon.get(), limit.delta.get(), relation, unit, data))
        })
    }
}

/// Runs a request about a budget in a file: `create`, `show`, `history`, `add_data`, `allot`, `close`, `verify`, `export` or `page`.
#[pyfunction]
pub(crate) fn manage_budget(py: Python<'_>, verb: &str, request: &str) -> PyResult<String> {
    guarded(py, || match verb {
        "create" => managed::<CreateBudget>(py, request),
        "show" => managed::<ShowBudget>(py, request),
        "history" => managed::<BudgetHistory>(py, request),
        "add_data" => managed::<AddData>(py, request),
        "allot" => managed::<AllotBudget>(py, request),
        "close" => managed::<CloseBudget>(py, request),
        "verify" => managed::<VerifyBudget>(py, request),
        "export" => managed::<ExportBudget>(py, request),
        "page" => managed::<DrawSpending>(py, request),
        _ => Err(Refusal::internal(format!("unknown verb {verb:?}")).into()),
    })
}

fn managed<R>(py: Python<'_>, request: &str) -> Result<String, Fault>
where
    R: Request + DeserializeOwned + Send,
    R::Planned: Planned<Outcome: serde::Serialize + Send>,
{
    let request: R = parse(request)?;
    let outcome = py.detach(move || request.check()?.run(&mut Session::without_limit()?))?;
    json(&outcome)
}

/// Where work of a call is charged, with its display of progress.
pub(crate) struct Desk {
    purse: Option<Arc<Purse>>,
    watch: Box<dyn Watch>,
}

/// An outcome, and how a stored budget stands after it.
pub(crate) type Paid<T> = (T, Option<BudgetStanding>);

impl Desk {
    pub(crate) fn new(purse: Option<Arc<Purse>>, watch: Box<dyn Watch>) -> Self {
        Self { purse, watch }
    }

    /// A session for work that no budget in a file is charged for by itself.
    pub(crate) fn session(self) -> Result<Session, Refusal> {
        let session = match self.purse.as_deref() {
            None => Session::without_limit()?,
            Some(Purse::Memory(budget)) => budget.session()?,
            Some(Purse::Stored(budget, _)) => budget.session("work in Python")?,
        };
        Ok(session.watched(self.watch))
    }

    /// Runs a request whose answer a budget in a file remembers.
    pub(crate) fn answer<R: Remembered>(
        self,
        request: &R,
        planned: R::Planned,
    ) -> Result<Paid<<R::Planned as Planned>::Outcome>, Refusal> {
        match self.purse.as_deref() {
            Some(Purse::Stored(budget, refresh)) => {
                let paid = budget.answer(request, planned, *refresh, Some(self.watch))?;
                Ok((paid.outcome, Some(paid.standing)))
            }
            _ => Ok((planned.run(&mut self.session()?)?, None)),
        }
    }

    /// Runs a request that is charged.
    pub(crate) fn run<R: Budgeted>(
        self,
        request: &R,
        planned: R::Planned,
    ) -> Result<<R::Planned as Planned>::Outcome, Refusal> {
        match self.purse.as_deref() {
            Some(Purse::Stored(budget, _)) => {
                Ok(budget.charge_for(request, planned, Some(self.watch))?.outcome)
            }
            _ => planned.run(&mut self.session()?),
        }
    }
}

/// Draws about numbers in memory, charged to a budget.
pub(crate) fn drawn<R>(
    purse: &Purse,
    draw: impl FnOnce(&mut Session) -> Result<R, Refusal>,
) -> Result<R, Refusal> {
    match purse {
        Purse::Memory(budget) => draw(&mut budget.session()?),
        Purse::Stored(budget, _) => budget.within("numbers in memory", None, draw),
    }
}
