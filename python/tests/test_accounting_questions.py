# mypy: ignore-errors
"""Accounting: questions about events and training runs, and formulas."""

from __future__ import annotations

import math
import random
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import reticent
from reticent.accounting import (
    RDP,
    ClippedSum,
    Events,
    Gaussian,
    Laplace,
    Pure,
    dpsgd,
    formula,
    noise_multiplier,
    posterior,
    rate,
    steps,
)

TRAINING = Gaussian(1.1).poisson(0.01) * 1000


# Questions


def test_epsilon_and_delta_are_inverse() -> None:
    bounds = TRAINING.epsilon(delta=1e-5)
    at = TRAINING.delta(epsilon=bounds.upper)
    assert at.lower <= 1e-5 * (1 + 1e-6) and at.upper < 1.001e-5
    assert TRAINING.epsilon(1e-5, width=0.1).upper >= bounds.lower
    assert TRAINING.epsilon(1e-5, accountant="rdp").upper >= bounds.upper
    assert TRAINING.epsilon(1e-5, accountant="rdp").accountant == "rdp"


def test_renyi_curves() -> None:
    curve = Gaussian(2).rdp([1, 2, 8, math.inf], delta=1e-5)
    assert curve.orders == [1, 2, 8, math.inf]
    assert curve.rdp[:3] == pytest.approx([0.125, 0.25, 1.0], rel=1e-3) and curve.rdp[3] == math.inf
    assert curve.epsilon >= Gaussian(2).epsilon(1e-5).upper
    assert curve.to_dict()["orders"][-1] == "inf"
    assert Gaussian(2).rdp(2).rdp == Gaussian(2).rdp([2]).rdp == Gaussian(2).rdp(np.array([2])).rdp
    assert Gaussian(2).rdp(delta=1e-5).orders == []
    assert "order inf" in repr(curve)


def test_trade_offs() -> None:
    rates = Gaussian(1).tradeoff([0.05, 0.5])
    # Φ(Φ⁻¹(1 − α) − 1)
    assert rates.fnr == pytest.approx([0.7405, 0.1587], abs=1e-3)
    assert Gaussian(1).beta(0.05) == rates.fnr[0] <= 0.74051
    both = Gaussian(1).beta([0.05, 0.5])
    assert isinstance(both, np.ndarray) and both.tolist() == rates.fnr
    assert Gaussian(1).beta(np.array([0.05])).shape == (1,)
    assert isinstance(Gaussian(1).beta(np.float64(0.05)), float)
    assert len(Gaussian(1).tradeoff().fnr) == 6


def test_reconstruction() -> None:
    rates = Gaussian(1).reconstruction([0.01, 0.5])
    # Φ(Φ⁻¹(κ) + 1), never below
    assert rates.success == pytest.approx([0.0923623, 0.8413448], abs=1e-6)
    assert rates.success[0] >= 0.09236224807
    assert rates.advantage[1] == pytest.approx(rates.success[1] - 0.5)
    assert max(rates.advantage) <= rates.largest_advantage == pytest.approx(0.3829249)
    # With sampling, the record's absence is the null hypothesis: the other one would promise 0.0112.
    sampled = Gaussian(0.5).poisson(0.1).reconstruction(0.01)
    assert 0.04620805 <= sampled.success[0] < 0.0463
    assert len(Gaussian(1).reconstruction().success) == 3


def test_comparisons() -> None:
    compared = TRAINING.compare(delta=1e-5)
    assert list(compared.epsilons) == ["pld", "rdp", "moments", "optimal", "advanced", "basic"]
    assert compared.epsilons["pld"] == TRAINING.epsilon(1e-5).upper == min(compared.epsilons.values())
    assert "not a bound" in repr(compared)
    curves = (Laplace(30) * 10).compare(1e-5, curves=True).curves
    assert len(curves["steps"]) == len(curves["pld"]) > 10


def test_statements() -> None:
    text = str(TRAINING.statement(delta=1e-5, unit="patient"))
    assert "(ε = 1.516, δ = 1e-5)" in text and "one patient being added or removed" in text
    run = dpsgd(noise_multiplier=1.1, sample_rate=0.01, steps=1000)
    assert str(run.statement(1e-5)).startswith("Trained with differential privacy: in each of 1000 steps")
    certificate = {"neighboring": "add-remove", "unit": "user", "events": Laplace(2).events}
    assert "one user being" in str(Events.from_json(certificate).statement(1e-5))
    assert repr(run.statement(1e-5)) == str(run.statement(1e-5))
    assert run.statement(1e-5).unit == "record"


def test_groups_outcomes_and_beliefs() -> None:
    assert Pure(0.1).group(3).epsilon == pytest.approx(0.3)
    assert Gaussian(5).group(2, 1e-6).upper == pytest.approx(float(Gaussian(2.5).epsilon(1e-6)), rel=1e-6)
    one_order = RDP(8, 0.2).group(2)
    assert one_order.order < 8 and "Rényi" in repr(one_order)
    bounds = Pure(1).outcome(0.05, delta=1e-6)
    assert bounds.lower <= 0.05 / math.e <= 0.05 * math.e <= bounds.upper * 1.000001
    beliefs = TRAINING.posterior([0.1, 0.5], delta=1e-5, orders=[1, 2])
    assert beliefs.failure_probability == 1e-5 and len(beliefs.odds) == 2
    for belief in beliefs.claims[0]["beliefs"]:
        assert 0 <= belief["lower"] < belief["prior"] < belief["upper"] <= 1
    stated = posterior([0.5, 0.9], epsilon=[0.1, 1])
    assert len(stated.claims) == 2 and stated.neighboring is None
    assert stated.claims[1]["beliefs"][0]["upper"] == pytest.approx(math.e / (1 + math.e))
    assert "posterior from" in repr(stated)


def test_cautions_are_warnings_at_the_line_that_asked() -> None:
    with pytest.warns(reticent.PrivacyWarning, match=r"epsilon = 54\.05 hardly protects") as caught:
        run = dpsgd(
            noise_multiplier=1.1, dataset_size=60_000, batch_size=256, epochs=60, sampling="shuffled"
        )
        bounds = run.epsilon(1e-5)
    assert {Path(warning.filename).name for warning in caught} == {Path(__file__).name}
    assert "lose at least epsilon = 2.97" in "\n".join(str(warning.message) for warning in caught)
    assert bounds.lower < 2.98 < 54 < bounds
    with pytest.warns(reticent.PrivacyWarning, match="1/1000"):
        dpsgd(noise_multiplier=5, dataset_size=1000, batch_size=10, steps=3).epsilon(0.01)
    with pytest.warns(reticent.PrivacyWarning, match="balls in bins"):
        Gaussian(5).balls_in_bins(bins=10).epsilon(1e-6)
    with pytest.warns(reticent.PrivacyWarning, match="hardly any noise"):
        noise_multiplier(target_epsilon=1e6, target_delta=0.1, sample_rate=0.01, steps=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Gaussian(0.1).plot()
        Gaussian(0.1).plot("epsilon")


# Training runs


def test_training_runs_are_events() -> None:
    run = dpsgd(noise_multiplier=1.1, sample_rate=0.01, steps=1000)
    assert run == ClippedSum(1.1).poisson(0.01) * 1000
    assert run.epsilon(1e-5).upper == pytest.approx(float(TRAINING.epsilon(1e-5)), rel=1e-9)
    epochs = dpsgd(noise_multiplier=1.1, dataset_size=60_000, batch_size=256, epochs=60)
    assert epochs.events[0]["repeated"]["count"] == 14063
    assert 2.3816 < epochs.epsilon(1e-5) < 2.3817
    assert dpsgd(noise_multiplier=1.1, sample_rate=0.1, epochs=3) == ClippedSum(1.1).poisson(0.1) * 30
    assert dpsgd(noise_multiplier=2, sample_rate=1, steps=3) == ClippedSum(2) * 3
    assert (run + Laplace(20)).epsilon(1e-5) > run.epsilon(1e-5)
    assert run.under("replace-one").epsilon(1e-5) > run.epsilon(1e-5)
    replaced = dpsgd(noise_multiplier=1.1, sample_rate=0.01, steps=1000, neighboring="replace-one")
    assert replaced == run.under("replace-one")
    listed = run.under("replace-one").epsilon(1e-5)
    assert replaced.epsilon(1e-5).upper == pytest.approx(listed.upper, rel=1e-9)


@pytest.mark.filterwarnings("ignore::reticent.PrivacyWarning")
def test_events_of_a_run_cost_what_the_library_says_about_the_run() -> None:
    generator = random.Random(7)
    for _ in range(40):
        samplings = ["poisson", "poisson", "shuffled", "without-replacement", "balls-in-bins"]
        sampling = generator.choice(samplings)
        relation = generator.choice(["add-remove", "replace-one"])
        if sampling == "without-replacement":
            relation = "replace-one"
        arguments: dict[str, Any] = {
            "noise_multiplier": generator.uniform(2, 9),
            "sampling": sampling,
            "neighboring": relation,
        }
        if sampling == "poisson" and generator.random() < 0.4:
            arguments["sample_rate"] = generator.choice([1.0, 0.5, 0.1, 0.07, 1 / 3, generator.random()])
        else:
            records = generator.randint(10, 300)
            arguments |= {"dataset_size": records, "batch_size": generator.randint(1, records)}
        if generator.random() < 0.5:
            arguments["steps"] = generator.randint(1, 30)
        else:
            arguments["epochs"] = generator.choice([1, 2.0, 0.3, 1.5, generator.uniform(0.01, 3)])
        run = dpsgd(**arguments)
        stated, listed = run.delta(0.5), Events(run.events, neighboring=relation).delta(0.5)
        assert stated.upper == pytest.approx(listed.upper, rel=1e-6, abs=1e-15), arguments


def test_the_unknown_of_a_budget() -> None:
    run: dict[str, Any] = {"dataset_size": 50_000, "batch_size": 500, "epochs": 20}
    target = {"target_epsilon": 3.0, "target_delta": 1e-5}
    noise = noise_multiplier(**target, **run)
    assert noise.achieved["upper"] <= 3 and noise.epsilon == 3 and noise.delta == 1e-5
    assert 2.99 < dpsgd(noise_multiplier=noise, **run).epsilon(1e-5) <= 3
    assert dpsgd(noise_multiplier=noise * 0.999, **run).epsilon(1e-5) > 3
    count = steps(target_epsilon=3, target_delta=1e-5, noise_multiplier=1, sample_rate=0.01)
    assert dpsgd(noise_multiplier=1, sample_rate=0.01, steps=count).epsilon(1e-5) <= 3
    assert dpsgd(noise_multiplier=1, sample_rate=0.01, steps=count + 1).epsilon(1e-5) > 3
    largest = rate(target_epsilon=3, target_delta=1e-5, noise_multiplier=1, steps=500)
    assert 2.99 < dpsgd(noise_multiplier=1, sample_rate=largest, steps=500).epsilon(1e-5) <= 3
    # Of events: the number in them stands for the one to find.
    events = Gaussian(99).poisson(0.01) * 1000
    found = noise_multiplier(target_epsilon=3, target_delta=1e-5, events=events)
    assert (Gaussian(found).poisson(0.01) * 1000).epsilon(1e-5) <= 3
    assert rate(target_epsilon=3, target_delta=1e-5, events=TRAINING) > 0.01
    times = steps(target_epsilon=3, target_delta=1e-5, events=TRAINING)
    assert times >= 1 and (TRAINING * times).epsilon(1e-5) <= 3
    # A run is events, too.
    assert steps(**target, events=dpsgd(noise_multiplier=1.1, sample_rate=0.01, steps=1)) > 1000
    loose = noise_multiplier(**target, accountant="rdp", sample_rate=0.01, steps=100)
    assert loose > noise_multiplier(**target, sample_rate=0.01, steps=100)


def test_formulas() -> None:
    gaussian = formula("gaussian", epsilon=0.5, delta=1e-5, sensitivity=1)
    assert [row["formula"] for row in gaussian.formulas] == ["analytic", "classical", "short"]
    chosen = formula("selection", choices={"dark": 500, "brown": 399}, epsilon=0.1, sensitivity=1)
    assert sum(row["probability"] for row in chosen.candidates) == pytest.approx(1)
    same = formula("selection", choices=[("dark", 500), ["brown", 399]], epsilon=0.1, sensitivity=1)
    assert chosen == same
    how = {"mechanism": "permute_and_flip", "monotone": True}
    flip = formula("selection", choices={"a": 2, "b": 1}, epsilon=1, sensitivity=1, **how)
    assert flip.mechanism == "permute-and-flip" and flip.monotone is True
    moved = formula("sensitivity", counts=4, overlap=2, bounds=(0, 10), dataset_size=100)
    assert {row["query"] for row in moved.sensitivities} == {"counts", "sum", "mean"}
    assert formula("random_record", dataset_size=10).delta == pytest.approx(0.1)
    assert formula("composition", epsilon=0.1, count=10, delta=1e-5, probability=0.1).outcome["tight"] < 1
    common = {"epsilon": 0.5, "delta": 1e-5, "lipschitz": 1}
    assert formula("output-perturbation", dataset_size=1000, regularization=0.01, **common).sigma > 0
    assert formula("sample-size", excess=0.1, failure=0.05, dimension=10, radius=1, **common).dataset_size > 1
    assert formula("projected-sgd", dataset_size=1000, steps=1000, **common).pld <= 0.5
    for result in (gaussian, chosen, moved):
        assert "<table>" in result._repr_html_() and len(repr(result).split("\n")) > 3
