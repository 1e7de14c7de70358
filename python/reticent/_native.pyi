from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Budget",
    "Pictures",
    "Table",
    "__version__",
    "account",
    "attacks",
    "audit",
    "choose",
    "coins",
    "estimate",
    "estimate_shares",
    "evaluate",
    "explain",
    "find_labels",
    "fit",
    "formula",
    "import_dp_event",
    "import_opacus",
    "learn_schema",
    "manage_budget",
    "perturb_integers",
    "perturb_reals",
    "predict",
    "preview",
    "randomize",
    "randomize_answers",
    "read_certificate",
    "read_events",
    "release",
    "report",
    "resume",
    "roc",
    "train",
    "uniform",
    "verify",
    "voids",
]

__version__: str

_Progress = Callable[[list[tuple[str, str, int]]], object] | None
_Cost = tuple[str, float, float]

@final
class Budget:
    def __new__(cls, epsilon: float, delta: float, neighboring: str, unit: str, data: str) -> Budget: ...
    @staticmethod
    def stored(
        path: str, analyst: str | None = None, purpose: str | None = None, refresh: bool = False
    ) -> Budget: ...
    def left(self) -> float: ...
    def spent(self) -> tuple[float, float] | None: ...
    def plans(self) -> str: ...
    def terms(self) -> tuple[float, float, str, str, str]: ...

@final
class Table:
    @staticmethod
    def from_arrow(name: str, data: object) -> Table: ...
    @staticmethod
    def from_columns(name: str, columns: Sequence[tuple[str, Any]]) -> Table: ...
    @staticmethod
    def open(path: str, reading: str = "{}") -> Table: ...
    def derived(self, reading: str) -> Table: ...
    @staticmethod
    def bundled() -> tuple[Table, str]: ...
    def columns(self) -> list[tuple[str, str]]: ...

@final
class Pictures:
    def __new__(cls, name: str, pixels: NDArray[np.uint8], labels: NDArray[np.uint8]) -> Pictures: ...

def account(request: str) -> str: ...
def manage_budget(verb: str, request: str) -> str: ...
def formula(request: str) -> str: ...
def read_events(text: str) -> str: ...
def verify(certificate: str) -> tuple[bool, str]: ...
def import_opacus(history: str) -> str: ...
def import_dp_event(printed: str, relation: str | None) -> str: ...
def perturb_reals(
    request: str, values: NDArray[np.float64], budget: Budget | None = None
) -> tuple[NDArray[np.float64], _Cost, float, float]: ...
def perturb_integers(
    request: str, values: NDArray[np.int64], budget: Budget | None = None
) -> tuple[NDArray[np.int64], _Cost, float, float]: ...
def randomize_answers(
    request: str, codes: NDArray[np.uint64], budget: Budget | None = None
) -> tuple[NDArray[np.uint64], _Cost, float, float]: ...
def estimate_shares(
    request: str, reported: Sequence[int], confidence: float
) -> list[tuple[float, float, list[float]]]: ...
def choose(
    request: str, scores: NDArray[np.float64], budget: Budget | None = None
) -> tuple[int, _Cost]: ...
def find_labels(
    request: str, counts: dict[str, int], budget: Budget | None = None
) -> tuple[dict[str, int], int, _Cost, float]: ...
def release(
    request: str, table: Table | None = None, budget: Budget | None = None, progress: _Progress = None
) -> str: ...
def preview(request: str, table: Table | None = None) -> str: ...
def randomize(request: str, budget: Budget | None = None, progress: _Progress = None) -> str: ...
def estimate(request: str, progress: _Progress = None) -> str: ...
def learn_schema(
    request: str, table: Table | None = None, budget: Budget | None = None, progress: _Progress = None
) -> tuple[str, str]: ...
def fit(
    request: str,
    train: Table | None = None,
    test: Table | None = None,
    budget: Budget | None = None,
    progress: _Progress = None,
) -> str: ...
def train(
    request: str,
    train: Table | Pictures | None = None,
    validation: Table | Pictures | None = None,
    budget: Budget | None = None,
    progress: _Progress = None,
) -> str: ...
def resume(
    request: str,
    train: Table | Pictures | None = None,
    validation: Table | Pictures | None = None,
    budget: Budget | None = None,
    progress: _Progress = None,
) -> str: ...
def predict(
    request: str,
    data: Table | Pictures | None = None,
    budget: Budget | None = None,
    progress: _Progress = None,
) -> tuple[list[str], list[str], NDArray[np.float64], list[str]]: ...
def evaluate(request: str, data: Table | Pictures | None = None, progress: _Progress = None) -> str: ...
def read_certificate(folder: str) -> str | None: ...
def audit(request: str, progress: _Progress = None) -> tuple[str, str]: ...
def attacks() -> str: ...
def coins(records: int) -> NDArray[np.bool_]: ...
def uniform(records: int, below: int) -> NDArray[np.uint64]: ...
def voids(facts: list[str]) -> bool: ...
def roc(findings: str) -> str: ...
def report(request: str, progress: _Progress = None) -> str: ...
def explain(code: int) -> str | None: ...
