"""Events as Python writes them: the expression that builds them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .shown import plain

#: How events are written in Python: a function or method, and its fields by position; others are by name.
_FUNCTIONS: dict[str, tuple[str, tuple[str, ...]]] = {
    "gaussian": ("Gaussian", ("noise_multiplier",)),
    "clipped_sum": ("ClippedSum", ("noise_multiplier",)),
    "laplace": ("Laplace", ("noise_multiplier",)),
    "discrete_gaussian": ("DiscreteGaussian", ("noise_multiplier",)),
    "discrete_laplace": ("DiscreteLaplace", ("noise_multiplier",)),
    "student_t": ("StudentT", ("noise_multiplier",)),
    "encoded_student_t": ("EncodedStudentT", ("noise_multiplier",)),
    "mixture_of_gaussians": ("MixtureOfGaussians", ("noise_multiplier",)),
    "tree_aggregation": ("TreeAggregation", ("noise_multiplier",)),
    "randomized_response": ("RandomizedResponse", ("keep_probability",)),
    "exponential": ("Exponential", ("epsilon",)),
    "pure": ("Pure", ("epsilon",)),
    "approximate": ("Approximate", ("epsilon", "delta")),
    "zcdp": ("ZCDP", ("rho",)),
    "rdp": ("RDP", ("order", "epsilon")),
    "gdp": ("GDP", ("mu",)),
    "poisson_sampled": ("poisson", ("rate",)),
    "sampled_without_replacement": ("without_replacement", ()),
    "truncated_poisson": ("truncated_poisson", ("rate",)),
    "shuffled": ("shuffled", ()),
    "balls_in_bins": ("balls_in_bins", ()),
    "repeat_and_select": ("repeat_and_select", ("mean",)),
}
#: The order of fields by name.
_ORDER = (
    "dataset_size",
    "batch_size",
    "max_batch",
    "steps_per_epoch",
    "bins",
    "epochs",
    "shape",
    "degrees_of_freedom",
    "categories",
    "sensitivity",
    "sensitivities",
    "probabilities",
    "levels",
    "counts",
    "steps",
)


def term(event: Mapping[str, Any]) -> str:
    """An event as Python writes it."""
    (kind, fields), *_ = event.items()
    if kind == "repeated":
        return f"{_operand(fields['event'])} * {fields['count']}"
    if kind == "composed":
        return " + ".join(term(own) for own in fields["events"]) or "Events()"
    if kind == "parallel":
        return f"Parallel({', '.join(term(own) for own in fields['events'])})"
    name, first = _FUNCTIONS[kind]
    named = sorted((own for own in fields if own not in (*first, "event")), key=_ORDER.index)
    arguments = [_value(fields[own]) for own in first] + [f"{own}={_value(fields[own])}" for own in named]
    call = f"{name}({', '.join(arguments)})"
    return f"{_operand(fields['event'])}.{call}" if "event" in fields else call


def _operand(event: Mapping[str, Any]) -> str:
    """An event as the operand of * or of a method."""
    text = term(event)
    return f"({text})" if {"repeated", "composed"} & event.keys() else text


def _value(value: Any) -> str:
    if isinstance(value, float):
        return plain(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    return repr(value)
