"""Hostile input to the public interface: it answers, or raises an error that says what is wrong.

Each case is one call with one or two hostile arguments. ``RETICENT_FUZZ=10`` makes ten times as many.
"""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hostile import DRAWN, FRAME, attempt, few, fuzz, patience, place  # noqa: F401
from hypothesis import given
from hypothesis import strategies as st

import reticent
from reticent import accounting, audit, mechanisms, models, preprocessing, release, train
from reticent.accounting import Events, Gaussian

# The public interface: name, function, arguments that are fine

X = np.random.default_rng(0).uniform(0.0, 1.0, (30, 2))
Y = (X[:, 0] > 0.5).astype(np.int64)
SCORES = np.arange(20.0)
MEMBER = np.arange(20) % 2 == 0
RUN = Gaussian(2.0) * 10
DP_TERMS = {"sensitivity": 1.0, "epsilon": 1.0}
RESPONSES = {"categories": ["a", "b"], "epsilon": 1.0}
TARGET = {"target_epsilon": 1.0, "target_delta": 1e-5}


class Entry:
    """An entry point with arguments that are fine."""

    def __init__(self, call: Callable[..., Any], fine: dict[str, Any], cases: int = 40, **small: Any) -> None:
        self.call = call
        self.fine = fine
        self.cases = cases
        parameters = inspect.signature(call).parameters.values()
        kinds = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
        names = [own.name for own in parameters if own.kind not in kinds and own.name != "self"]
        #: What hostile values are put in place of.
        self.slots = [
            name for name in [*names, *(name for name in fine if name not in names)] if name not in small
        ]


def fit(kind: Any, *, X: Any = X, y: Any = Y, budget: Any = None, **settings: Any) -> Any:
    return kind(**settings).fit(X, y, budget=budget)


def _estimator(kind: Any, **fine: Any) -> Entry:
    def call(**arguments: Any) -> Any:
        return fit(kind, **arguments)

    entry = Entry(call, {"X": X, "y": Y, **fine}, 60)
    own = [
        name
        for name in inspect.signature(kind.__init__).parameters
        if name not in ("self", "steps", "verbose")
    ]
    entry.slots = ["X", "y", "X", "y", "budget", *own]
    return entry


def _layer(make: Callable[..., Any]) -> Entry:
    def call(**arguments: Any) -> Any:
        return train.Network([make(**arguments)], input=(4,)).to_toml()

    entry = Entry(call, {}, 12)
    names = [name for name in inspect.signature(make).parameters if name != "fields"]
    entry.slots = [*names, "other"]
    return entry


def _fit_network(X: Any = X, y: Any = Y, layers: Any = None, **settings: Any) -> Any:
    layers = [train.Linear(2)] if layers is None else layers
    return train.Network(layers).fit(X, y, **settings)


def _network() -> Entry:
    fine = {
        "noise_multiplier": 2.0,
        "delta": 1e-3,
        "dataset_size": 30,
        "bounds": (0.0, 1.0),
        "classes": [0, 1],
    }
    fine |= {"steps": 1, "batch_size": 8, "threads": 1, "X": X, "y": Y}
    entry = Entry(_fit_network, fine, 150)
    own = inspect.signature(train.Network.fit).parameters
    endless = ("self", "steps", "epochs", "threads", "progress")
    entry.slots = ["X", "y", "layers", "X", "y", *(name for name in own if name not in endless)]
    return entry


_stored: dict[str, Any] = {}


def stored(name: str) -> Any:
    """Something that is costly to make, made once."""
    if name not in _stored:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if name == "classifier":
                _stored[name] = fit(models.LogisticRegression, epsilon=1.0, bounds=(0.0, 1.0), classes=[0, 1])
            elif name == "network":
                entry = _network()
                _stored[name] = entry.call(**entry.fine)
            elif name == "audit":
                _stored[name] = audit.audit(SCORES, MEMBER)
            elif name == "release":
                _stored[name] = release.histogram(FRAME, "s", categories=["a", "b"], epsilon=1.0)
    return _stored[name]


def _verify(data: Any) -> Any:
    return reticent.Certificate(data).verify()


CERTIFICATE: dict[str, Any] = release.count({"x": [1.0]}, epsilon=1.0).certificate.to_dict()

PUBLIC: dict[str, Entry] = {
    # reticent
    "Budget": Entry(reticent.Budget, {"epsilon": 1.0}),
    "explain": Entry(reticent.explain, {"code": "R201"}, 60),
    "Certificate.load": Entry(reticent.Certificate.load, {"path": "binary.json"}),
    # reticent.mechanisms
    "laplace": Entry(mechanisms.laplace, {"value": 1.0, **DP_TERMS}, 120),
    "gaussian": Entry(mechanisms.gaussian, {"value": [1.0], **DP_TERMS, "delta": 1e-6}, 80),
    "student_t": Entry(mechanisms.student_t, {"value": 1.0, **DP_TERMS}, 80),
    "discrete_laplace": Entry(
        mechanisms.discrete_laplace, {"value": 1, "sensitivity": 1, "epsilon": 1.0}, 80
    ),
    "discrete_gaussian": Entry(mechanisms.discrete_gaussian, {"value": [1], **DP_TERMS, "delta": 1e-6}, 80),
    "exponential": Entry(mechanisms.exponential, {"scores": [1.0, 2.0], **DP_TERMS}, 80),
    "permute_and_flip": Entry(mechanisms.permute_and_flip, {"scores": [1.0, 2.0], **DP_TERMS}),
    "report_noisy_max": Entry(mechanisms.report_noisy_max, {"scores": [1.0, 2.0], **DP_TERMS}),
    "randomized_response": Entry(mechanisms.randomized_response, {"values": ["a", "b"], **RESPONSES}, 80),
    "estimate_proportions": Entry(mechanisms.estimate_proportions, {"reported": ["a", "b"], **RESPONSES}, 80),
    # reticent.accounting
    **{
        kind: Entry(getattr(accounting, kind), fine, 30)
        for kind, fine in {
            "Gaussian": {"noise_multiplier": 1.0},
            "ClippedSum": {"noise_multiplier": 1.0},
            "Laplace": {"noise_multiplier": 1.0},
            "DiscreteGaussian": {"noise_multiplier": 1.0},
            "DiscreteLaplace": {"noise_multiplier": 1.0},
            "StudentT": {"noise_multiplier": 1.0, "degrees_of_freedom": 3},
            "EncodedStudentT": {"noise_multiplier": 1.0, "degrees_of_freedom": 3, "levels": [1.0], "counts": [2]},
            "MixtureOfGaussians": {
                "sensitivities": [0.0, 1.0],
                "probabilities": [0.5, 0.5],
                "noise_multiplier": 1.0,
            },
            "TreeAggregation": {"noise_multiplier": 1.0, "steps": 8},
            "RandomizedResponse": {"keep_probability": 0.7},
            "Exponential": {"epsilon": 1.0},
            "Pure": {"epsilon": 1.0},
            "Approximate": {"epsilon": 1.0, "delta": 1e-6},
            "ZCDP": {"rho": 0.1},
            "RDP": {"order": 2.0, "epsilon": 0.1},
            "GDP": {"mu": 0.5},
        }.items()
    },
    "Events.epsilon": Entry(RUN.epsilon, {"delta": 1e-5}),
    "Events.delta": Entry(RUN.delta, {"epsilon": 1.0}),
    "Events.rdp": Entry(RUN.rdp, {"orders": [2.0]}),
    "Events.tradeoff": Entry(RUN.tradeoff, {"fpr": [0.1]}),
    "Events.reconstruction": Entry(RUN.reconstruction, {"prior": [0.1]}),
    "Events.beta": Entry(RUN.beta, {"alpha": 0.1}),
    "Events.compare": Entry(RUN.compare, {"delta": 1e-5}, 20, curves=...),
    "Events.statement": Entry(RUN.statement, {"delta": 1e-5}),
    "Events.group": Entry(RUN.group, {"size": 2, "delta": 1e-5}),
    "Events.outcome": Entry(RUN.outcome, {"probability": 0.1}),
    "Events.posterior": Entry(RUN.posterior, {"prior": [0.1], "delta": 1e-5}),
    "Events.poisson": Entry(RUN.poisson, {"rate": 0.1}, 20),
    "Events.without_replacement": Entry(RUN.without_replacement, {"dataset_size": 10, "batch_size": 2}, 20),
    "Events.truncated_poisson": Entry(
        RUN.truncated_poisson, {"rate": 0.1, "dataset_size": 10, "max_batch": 2}, 20
    ),
    "Events.shuffled": Entry(RUN.shuffled, {"steps_per_epoch": 3}, 20),
    "Events.balls_in_bins": Entry(RUN.balls_in_bins, {"bins": 3}, 20),
    "Events.repeat_and_select": Entry(RUN.repeat_and_select, {"mean": 2.0}, 20),
    "Events.under": Entry(RUN.under, {"neighboring": "replace-one"}, 20),
    "Events.from_json": Entry(Events.from_json, {"events": "[]"}, 60),
    "Events.load": Entry(Events.load, {"path": "binary.json"}, 60),
    "Events(...)": Entry(Events, {"events": []}, 40),
    "Parallel": Entry(lambda one, two: accounting.Parallel(one, two), {"one": RUN, "two": RUN}),
    "from_opacus": Entry(accounting.from_opacus, {"history": [(1.0, 0.01, 10)]}, 60),
    "from_dp_accounting": Entry(accounting.from_dp_accounting, {"event": None}, 40),
    "dpsgd": Entry(accounting.dpsgd, {"noise_multiplier": 1.0, "sample_rate": 0.1, "steps": 10}, 60),
    "noise_multiplier": Entry(accounting.noise_multiplier, {**TARGET, "sample_rate": 1.0, "steps": 3}, 40),
    "steps": Entry(accounting.steps, {**TARGET, "noise_multiplier": 10.0, "sample_rate": 1.0}, 40),
    "rate": Entry(accounting.rate, {**TARGET, "noise_multiplier": 10.0, "steps": 3}, 20),
    "posterior": Entry(accounting.posterior, {"prior": [0.1], "epsilon": [1.0]}),
    "formula": Entry(
        lambda name, epsilon, delta, sensitivity, **more: accounting.formula(
            name, epsilon=epsilon, delta=delta, sensitivity=sensitivity, **more
        ),
        {"name": "gaussian", "epsilon": 0.5, "delta": 1e-5, "sensitivity": 1.0},
        60,
    ),
    # reticent.release
    "count": Entry(release.count, {"data": FRAME, "epsilon": 1.0}, 80),
    "sum": Entry(release.sum, {"data": FRAME, "column": "x", "bounds": (0.0, 7.0), "epsilon": 1.0}, 120),
    "mean": Entry(release.mean, {"data": FRAME, "column": "x", "bounds": (0.0, 7.0), "epsilon": 1.0}, 60),
    "histogram": Entry(
        release.histogram, {"data": FRAME, "column": "s", "categories": ["a"], "epsilon": 1.0}, 80
    ),
    "histogram of bins": Entry(
        release.histogram, {"data": FRAME, "column": "x", "bins": [0, 1], "epsilon": 1.0}
    ),
    "quantile": Entry(
        release.quantile,
        {"data": FRAME, "column": "x", "quantile": 0.5, "bounds": (0.0, 7.0), "epsilon": 1.0},
        80,
    ),
    "median": Entry(release.median, {"data": FRAME, "column": "x", "bounds": (0.0, 7.0), "epsilon": 1.0}),
    "mode": Entry(release.mode, {"data": FRAME, "column": "s", "categories": ["a", "b"], "epsilon": 1.0}),
    "proportion": Entry(release.proportion, {"data": FRAME, "column": "s", "value": "a", "epsilon": 1.0}),
    "sum.preview": Entry(
        release.sum.preview, {"data": FRAME, "column": "x", "bounds": (0, 7), "epsilon": 1.0}
    ),
    "randomize": Entry(release.randomize, {"data": FRAME, "column": "s", **RESPONSES}, 60),
    "randomize a file": Entry(
        release.randomize, {"data": "people.csv", "column": "s", **RESPONSES, "out": "randomized.csv"}, 60
    ),
    "estimate": Entry(release.estimate, {"data": FRAME, "column": "s", **RESPONSES}, 60),
    "learn_schema": Entry(release.learn_schema, {"data": FRAME, "epsilon": 1.0, "delta": 1e-3}, 80),
    "draft_schema": Entry(release.draft_schema, {"data": FRAME}, 80),
    # reticent.models, reticent.preprocessing
    "LogisticRegression": _estimator(models.LogisticRegression, bounds=(0.0, 1.0), classes=[0, 1]),
    "SoftmaxRegression": _estimator(
        models.SoftmaxRegression, delta=1e-3, bounds=(0.0, 1.0), classes=[0, 1, 2]
    ),
    "LinearSVC": _estimator(models.LinearSVC, bounds=(0.0, 1.0), classes=[0, 1]),
    "Ridge": _estimator(models.Ridge, bounds=(0.0, 1.0), target_bounds=(0.0, 1.0)),
    "classifier.predict": Entry(lambda X: stored("classifier").predict(X), {"X": X}, 80),
    "classifier.predict_proba": Entry(lambda X: stored("classifier").predict_proba(X), {"X": X}, 30),
    "LogisticRegression.load": Entry(models.LogisticRegression.load, {"path": "."}, 30),
    "SchemaEncoder": Entry(
        lambda schema, X: preprocessing.SchemaEncoder(schema=schema).fit(X).transform(X),
        {"schema": 'unit = "row"\n[columns]\nx = { bounds = [0, 1] }', "X": {"x": [0.5]}},
        120,
    ),
    "make_pipeline": Entry(lambda one, two: preprocessing.make_pipeline(one, two), {"one": 1, "two": 2}, 20),
    # reticent.train
    **{
        name: _layer(getattr(train, name))
        for name in train.__all__
        if inspect.isfunction(getattr(train, name)) and name[0].isupper()
    },
    "Network": Entry(
        lambda layers, input, loss: train.Network(layers, input=input, loss=loss).to_toml(),
        {
            "layers": [train.Relu()],
            "input": (4,),
            "loss": None,
        },
        60,
    ),
    "Network.preset": Entry(lambda name: repr(train.Network.preset(name)), {"name": "mlp"}, 20),
    "Network.from_toml": Entry(train.Network.from_toml, {"path": "schema.toml"}, 30),
    "Network.fit": _network(),
    "network.predict": Entry(lambda X: stored("network").predict(X), {"X": X}, 60),
    "network.evaluate": Entry(lambda X, y: stored("network").evaluate(X, y), {"X": X, "y": Y}, 60),
    "train.load": Entry(train.load, {"path": "."}, 30),
    "train.resume": Entry(train.resume, {"folder": "."}, 30),
    # reticent.audit
    "audit": Entry(audit.audit, {"scores": SCORES, "member": MEMBER}, 120, out=...),
    "audit of logits": Entry(
        audit.audit,
        {
            "target_logits": np.arange(40.0).reshape(20, 2) % 7,
            "labels": np.zeros(20, dtype=np.int64),
            "member": MEMBER,
        },
        60,
        out=...,
    ),
    "audit.load": Entry(audit.load, {"folder": "."}, 30),
    "audit_model": Entry(audit.audit_model, {"model": "."}, 30, out=...),
    "audit_canaries": Entry(audit.audit_canaries, {"model": "."}, 30, out=...),
    "infer_attribute": Entry(audit.infer_attribute, {"model": ".", "column": "sex"}, 30, out=...),
    "reconstruct": Entry(audit.reconstruct, {"model": "."}, 30, out=...),
    "difference": Entry(audit.difference, {"first": ".", "second": "."}, 30, out=...),
    "audit.coins": Entry(lambda records: audit.coins(few(records)), {"records": 10}, 40),
    "Audit.tpr_at": Entry(lambda fpr: stored("audit").tpr_at(fpr), {"fpr": 0.1}, 30),
    "Audit.attack": Entry(lambda name: stored("audit").attack(name), {"name": None}, 30),
    "Audit.report": Entry(
        lambda declared, certificate: stored("audit").report(declared=declared, certificate=certificate),
        {"declared": None, "certificate": None},
        30,
    ),
}


@pytest.mark.parametrize("name", PUBLIC)
def test_public(name: str) -> None:
    entry = PUBLIC[name]

    @fuzz(entry.cases)
    @given(
        st.sampled_from(range(len(entry.slots))),
        DRAWN,
        st.one_of(st.none(), st.tuples(st.sampled_from(range(len(entry.slots))), DRAWN)),
    )
    def case(slot: int, hostile: tuple[str, Any], more: tuple[int, tuple[str, Any]] | None) -> None:
        arguments = {**entry.fine, entry.slots[slot]: hostile[1]()}
        if more is not None:
            arguments[entry.slots[more[0]]] = more[1][1]()
        # What scikit-learn says about arrays, and its checks demand, has several lines.
        sklearn = name.startswith(("LogisticR", "Softmax", "LinearSVC", "Ridge", "classifier"))
        texts = (str, bytes, os.PathLike, list, dict, np.str_)
        one_line = not sklearn and not any(
            isinstance(own, texts) and own is not entry.fine.get(key) for key, own in arguments.items()
        )
        attempt(name, lambda: entry.call(**arguments), one_line=one_line)

    case()


def test_certificates() -> None:
    @fuzz(60)
    @given(st.sampled_from(sorted(CERTIFICATE)), DRAWN)
    def case(key: str, hostile: tuple[str, Any]) -> None:
        attempt("Certificate.verify", lambda: _verify({**CERTIFICATE, key: hostile[1]()}))

    assert _verify(CERTIFICATE)
    case()


def test_fine_arguments_are_fine() -> None:
    """Otherwise everything is refused for the wrong reason."""
    refused = []
    hopeless = {
        "Certificate.load",
        "Events.load",
        "from_dp_accounting",
        "LogisticRegression.load",
        "make_pipeline",
    }
    hopeless |= {
        "Network.from_toml",
        "train.load",
        "train.resume",
        "audit.load",
        "audit_model",
        "audit_canaries",
        "infer_attribute",
        "reconstruct",
        "difference",
    }
    for name, entry in PUBLIC.items():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                entry.call(**entry.fine)
        except Exception as error:
            if name not in hopeless:
                refused.append(f"{name}: {type(error).__name__}: {error}")
    assert not refused, "\n".join(refused)
