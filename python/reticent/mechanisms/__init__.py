"""Mechanisms on numbers and arrays, each with the privacy event that it costs.

>>> from reticent import mechanisms
>>> noisy = mechanisms.laplace(120.0, sensitivity=1.0, epsilon=0.5)
>>> noisy.epsilon
0.5
>>> noisy.interval[0] < noisy.value < noisy.interval[1]
True
>>> noisy.event
{'laplace': {'noise_multiplier': 2.0}}

The sensitivity is the largest change that one unit of privacy (under the neighboring relation) can make to
the **whole** array: its ℓ1 norm for Laplace noise, its ℓ2 norm for Gaussian and Student-t noise. What the
sensitivity claims cannot be checked here: statistics whose sensitivity follows from declared bounds are in
:mod:`reticent.release`.

Samplers are exact or have an error that is part of δ, and outputs lie on a grid that does not depend on the
data, so floating-point attacks do not apply.
"""

from __future__ import annotations

from .additive import discrete_gaussian, discrete_laplace, gaussian, laplace, student_t
from .choice import exponential, permute_and_flip, report_noisy_max
from .labels import stable_histogram
from .response import estimate_proportions, randomized_response
from .results import FoundLabels, Noisy, Proportions, Randomized, Selected

__all__ = [
    "FoundLabels",
    "Noisy",
    "Proportions",
    "Randomized",
    "Selected",
    "discrete_gaussian",
    "discrete_laplace",
    "estimate_proportions",
    "exponential",
    "gaussian",
    "laplace",
    "permute_and_flip",
    "randomized_response",
    "report_noisy_max",
    "stable_histogram",
    "student_t",
]
