"""Accounting: what a sequence of private mechanisms costs, with certified upper and lower bounds.

Events describe mechanisms by what they cost and nothing else. Operators build lists of them, and a list
answers questions:

>>> from reticent.accounting import Gaussian, Laplace
>>> events = Gaussian(1.1).poisson(0.01) * 10_000 + Laplace(20)
>>> events
Gaussian(1.1).poisson(0.01) * 10000 + Laplace(20)
>>> epsilon = events.epsilon(delta=1e-5)
>>> f"{epsilon:.3f}"
'5.198'
>>> epsilon.lower <= epsilon.upper == float(epsilon)
True

The inverse questions have functions of their own:

>>> from reticent.accounting import noise_multiplier
>>> noise = noise_multiplier(target_epsilon=2.0, target_delta=1e-5, sample_rate=0.01, steps=1000)
>>> f"{noise:.3f}"
'0.960'

Accounting reads no data and spends nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .events import Events
from .formulas import formula
from .imports import from_dp_accounting, from_opacus
from .kinds import (
    GDP,
    RDP,
    ZCDP,
    Approximate,
    ClippedSum,
    DiscreteGaussian,
    DiscreteLaplace,
    EncodedStudentT,
    Exponential,
    Gaussian,
    Laplace,
    MixtureOfGaussians,
    Parallel,
    Pure,
    RandomizedResponse,
    StudentT,
    TreeAggregation,
)
from .opacus import opacus_accountant
from .questions import posterior
from .results import (
    Beliefs,
    Comparison,
    DeltaBounds,
    EpsilonBounds,
    FormulaResult,
    GroupGuarantee,
    NoiseMultiplier,
    OutcomeBounds,
    ReconstructionRates,
    RenyiCurve,
    SamplingRate,
    Statement,
    Steps,
    Tradeoff,
)
from .targets import noise_multiplier, rate, steps
from .training import dpsgd

__all__ = [
    "GDP",
    "RDP",
    "ZCDP",
    "Approximate",
    "Beliefs",
    "ClippedSum",
    "Comparison",
    "DeltaBounds",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "EncodedStudentT",
    "EpsilonBounds",
    "Events",
    "Exponential",
    "FormulaResult",
    "Gaussian",
    "GroupGuarantee",
    "Laplace",
    "MixtureOfGaussians",
    "NoiseMultiplier",
    "OutcomeBounds",
    "Parallel",
    "Pure",
    "RandomizedResponse",
    "ReconstructionRates",
    "RenyiCurve",
    "SamplingRate",
    "Statement",
    "Steps",
    "StudentT",
    "Tradeoff",
    "TreeAggregation",
    "dpsgd",
    "formula",
    "from_dp_accounting",
    "from_opacus",
    "noise_multiplier",
    "opacus_accountant",
    "posterior",
    "rate",
    "steps",
]

if TYPE_CHECKING:
    Accountant: Any
else:

    def __getattr__(name: str) -> Any:
        # The accountant for Opacus exists where Opacus does.
        if name == "Accountant":
            try:
                return opacus_accountant()
            except ImportError as error:
                raise AttributeError(f"module {__name__!r} has no attribute {name!r}: {error}") from None
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
