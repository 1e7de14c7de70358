"""Private machine learning: release statistics, train models, account for the privacy spent, and audit the result.

>>> import reticent
>>> from reticent.accounting import Gaussian
>>> training = Gaussian(1.1).poisson(0.01) * 10_000
>>> bounds = training.epsilon(delta=1e-5)
>>> bounds.lower <= bounds.upper < 5.5
True
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import TYPE_CHECKING

from . import errors
from ._budget import Budget
from ._core import Certificate, PrivacyWarning
from ._native import Table, __version__

if TYPE_CHECKING:
    from . import accounting, audit, mechanisms, models, preprocessing, release, torch, train
    from ._demo import demo
    from ._tables import read_table
    from .train import tune

__all__ = [
    "Budget",
    "Certificate",
    "PrivacyWarning",
    "Table",
    "__version__",
    "accounting",
    "audit",
    "demo",
    "errors",
    "explain",
    "mechanisms",
    "models",
    "preprocessing",
    "read_table",
    "release",
    "train",
    "tune",
]

#: ``torch`` needs PyTorch, and is no part of ``from reticent import *``.
_MODULES = ("accounting", "audit", "mechanisms", "models", "preprocessing", "release", "torch", "train")


def __getattr__(name: str) -> ModuleType | object:
    if name in _MODULES:
        return importlib.import_module(f".{name}", __name__)
    if name == "demo":
        demo: object = importlib.import_module("._demo", __name__).demo
        return demo
    if name == "read_table":
        read_table: object = importlib.import_module("._tables", __name__).read_table
        return read_table
    if name == "tune":
        tune: object = importlib.import_module(".train", __name__).tune
        return tune
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def explain(code: str) -> str:
    """What an error code means.

    >>> import reticent
    >>> reticent.explain("R405").splitlines()[0].startswith("R405")
    True
    """
    from . import _native

    from ._core import brief

    digits = code.lstrip("Rr") if isinstance(code, str) else ""
    text = _native.explain(int(digits)) if digits.isdecimal() and len(digits) == 3 else None
    if text is None:
        raise errors.RequestError(
            f"code = {brief(code)}: no error has that code: give one such as R201",
            code="R105",
            field="code",
            value=brief(code),
            remedy="give a code such as R201",
        )
    return text
