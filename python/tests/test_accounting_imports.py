# mypy: ignore-errors
"""Accounting: the histories and events of other libraries."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import json
import math
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reticent import accounting, errors
from reticent.accounting import (
    ZCDP,
    Approximate,
    ClippedSum,
    Events,
    Laplace,
    MixtureOfGaussians,
    Parallel,
    Pure,
    TreeAggregation,
    from_dp_accounting,
    from_opacus,
    noise_multiplier,
)

ADDITION = "ADD_OR_REMOVE_ONE"


def test_histories_of_opacus(tmp_path: Path) -> None:
    history = [(1.3, 0.004, 2500), (1.1, 0.004, 5000), (0.9, 0.008, 500)]
    events = from_opacus(history)
    assert 1.976 < events.epsilon(1e-5) < 1.977
    step = {"poisson_sampled": {"rate": 0.004, "event": {"clipped_sum": {"noise_multiplier": 1.3}}}}
    assert events.events[0] == {"repeated": {"count": 2500, "event": step}}
    path = tmp_path / "history.json"
    path.write_text(json.dumps(history))

    class Accountant:
        def __init__(self) -> None:
            self.history = history

    class Engine:
        accountant = Accountant()

    state = {"history": history, "mechanism": "prv"}
    checkpoint = {"privacy_accountant_state_dict": state}
    lists = [list(entry) for entry in history]
    for form in (lists, np.array(history), state, checkpoint, Accountant(), Engine(), path, str(path)):
        assert from_opacus(form) == events
    assert from_opacus([]) == Events()
    assert events.under("replace-one").epsilon(1e-5) > events.epsilon(1e-5)
    path.write_text("{")
    with pytest.raises(errors.DataError, match="not JSON"):
        from_opacus(path)


def test_an_accountant_for_opacus() -> None:
    if importlib.util.find_spec("opacus") is None:
        assert not hasattr(accounting, "Accountant")
        pytest.skip("Opacus is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import torch
        from opacus import PrivacyEngine
        from opacus.accountants import IAccountant, PRVAccountant, RDPAccountant, create_accountant
        from opacus.accountants.utils import get_noise_multiplier

    made = accounting.opacus_accountant()
    assert made is accounting.Accountant is accounting.opacus_accountant()
    assert issubclass(made, IAccountant) and made.mechanism() == "reticent"
    own, rdp, prv = create_accountant("reticent"), RDPAccountant(), PRVAccountant()
    assert type(own) is made and own.get_epsilon(1e-5) == 0 and len(own) == 0
    for accountant in (own, rdp, prv):
        for noise, count in ((1.1, 30), (0.9, 20)):
            for _ in range(count):
                accountant.step(noise_multiplier=noise, sample_rate=0.02)
    assert own.history == rdp.history == [(1.1, 0.02, 30), (0.9, 0.02, 20)] and len(own) == 50
    bounds = own.events().epsilon(1e-5)
    assert own.get_epsilon(1e-5) == own.get_epsilon(delta=1e-5) == bounds.upper
    assert type(own.get_epsilon(1e-5)) is float
    assert bounds.lower <= bounds.upper <= rdp.get_epsilon(1e-5)
    assert bounds.upper <= prv.get_epsilon(1e-5) and bounds.lower >= prv.get_epsilon(1e-5) - 0.05
    # States of any of its accountants are histories, and ours can be stored and loaded.
    assert from_opacus(rdp) == from_opacus(rdp.state_dict()) == own.events()
    restored = made()
    restored.load_state_dict(own.state_dict())
    assert restored.events() == own.events()
    assert pickle.loads(pickle.dumps(own)).history == own.history
    own.step(noise_multiplier=0.0, sample_rate=0.02)
    assert own.get_epsilon(1e-5) == math.inf
    with pytest.raises(errors.DataError, match=r"^history\[2\].*noise_multiplier: 0: give"):
        from_opacus(own)
    # Calibration by Opacus itself with this accountant.
    run: dict[str, Any] = {"target_epsilon": 3, "target_delta": 1e-5, "sample_rate": 0.02, "steps": 200}
    noise = get_noise_multiplier(**run, accountant="reticent", epsilon_tolerance=0.1)
    ours = noise_multiplier(**run)
    assert ours <= noise < ours * 1.1
    # Inside the engine.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.manual_seed(0)
        data = torch.utils.data.TensorDataset(torch.randn(64, 3), torch.randint(0, 2, (64,)))
        loader = torch.utils.data.DataLoader(data, batch_size=16)
        model = torch.nn.Linear(3, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        engine = PrivacyEngine(accountant="reticent")
        model, optimizer, loader = engine.make_private(
            module=model, optimizer=optimizer, data_loader=loader, noise_multiplier=1.2, max_grad_norm=1.0
        )
        for rows, labels in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(rows), labels).backward()
            optimizer.step()
        taken = len(engine.accountant)
        assert 1 <= taken <= 4
        assert engine.get_epsilon(1e-5) == from_opacus(engine).epsilon(1e-5).upper
        assert from_opacus(engine) == ClippedSum(1.2).poisson(0.25) * taken


def dp_event() -> Any:
    """The module of events."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("dp_accounting").dp_event


def relations() -> Any:
    return importlib.import_module("dp_accounting").NeighboringRelation


def test_events_of_dp_accounting() -> None:
    dp = dp_event()
    gaussian = dp.GaussianDpEvent(1.1)
    step = dp.PoissonSampledDpEvent(0.01, gaussian)
    training = dp.SelfComposedDpEvent(step, 1000)
    inner = dp.ComposedDpEvent([gaussian])
    everything = dp.ComposedDpEvent([training, dp.LaplaceDpEvent(20), dp.NoOpDpEvent(), inner])
    expected = ClippedSum(1.1).poisson(0.01) * 1000 + Laplace(20) + ClippedSum(1.1)
    assert from_dp_accounting(everything) == expected
    assert from_dp_accounting(everything.to_named_tuple()) == expected
    assert from_dp_accounting(dp.NoOpDpEvent()) == Events()
    assert from_dp_accounting(dp.SelfComposedDpEvent(dp.NoOpDpEvent(), 3)).epsilon(1e-5) == 0
    assert from_dp_accounting(dp.LaplaceDpEvent(np.float64(2))) == Laplace(2)
    assert from_dp_accounting(dp.ZCDpEvent(0.1)) == ZCDP(0.1)
    replaced = from_dp_accounting(everything, neighboring="replace-one")
    twice = ClippedSum(1.1).poisson(0.01) * 1000 + Laplace(10) + ClippedSum(1.1)
    assert replaced == twice.under("replace-one")
    relation = relations()
    assert from_dp_accounting(everything, neighboring=relation.REPLACE_ONE) == replaced
    assert from_dp_accounting(everything, neighboring=relation.ADD_OR_REMOVE_ONE) == expected
    with pytest.raises(errors.InvalidValueError):
        from_dp_accounting(everything, neighboring=relation.REPLACE_SPECIAL)
    without = dp.SampledWithoutReplacementDpEvent(1000, 10, gaussian)
    batch = ClippedSum(1.1).without_replacement(dataset_size=1000, batch_size=10).under("replace-one")
    assert from_dp_accounting(without, neighboring="replace-one") == batch
    trees = dp.SingleEpochTreeAggregationDpEvent(2.0, [7, 15])
    assert from_dp_accounting(trees) == Parallel(TreeAggregation(2, steps=7), TreeAggregation(2, steps=15))
    assert from_dp_accounting(dp.SingleEpochTreeAggregationDpEvent(2.0, 7)) == TreeAggregation(2, steps=7)
    search = dp.RepeatAndSelectDpEvent(gaussian, 8, math.inf)
    assert from_dp_accounting(search) == ClippedSum(1.1).repeat_and_select(8, shape="poisson")
    mixture = dp.MixtureOfGaussiansDpEvent(3.0, [0.0, 1.0], [0.9, 0.1])
    expected = MixtureOfGaussians(3, sensitivities=[0, 1], probabilities=[0.9, 0.1])
    assert from_dp_accounting(mixture) == expected
    truncated = dp.TruncatedSubsampledGaussianDpEvent(20_000, 0.01, 240, 1.4)
    expected = ClippedSum(1.4).truncated_poisson(0.01, dataset_size=20_000, max_batch=240)
    assert from_dp_accounting(truncated) == expected

    class EpsilonDeltaDpEvent:
        epsilon, delta = 0.5, 1e-7

    assert from_dp_accounting(EpsilonDeltaDpEvent()) == Approximate(0.5, 1e-7)
    EpsilonDeltaDpEvent.delta = 0
    assert from_dp_accounting(EpsilonDeltaDpEvent()) == Pure(0.5)


def test_every_event_of_dp_accounting_is_read_or_refused_by_name() -> None:
    dp = dp_event()
    gaussian = dp.GaussianDpEvent(1.1)
    values = {
        "noise_multiplier": 2.0, "noise_parameter": 0.5, "num_buckets": 4, "sensitivity": 2,
        "event": gaussian, "count": 3, "events": [gaussian], "sampling_probability": 0.1,
        "source_dataset_size": 100, "sample_size": 10, "step_counts": 7, "mean": 3.0, "shape": 1.0,
        "standard_deviation": 2.0, "sensitivities": [0.0, 1.0], "sampling_probs": [0.5, 0.5], "rho": 0.1,
        "xi": 0.0, "dataset_size": 1000, "truncated_batch_size": 30,
        "epsilon": 0.5, "delta": 1e-6,
    }
    refused = set()
    for name, kind in inspect.getmembers(dp, inspect.isclass):
        if not issubclass(kind, dp.DpEvent) or kind is dp.DpEvent:
            continue
        fields = inspect.signature(kind).parameters
        event = kind(**{field: values[field] for field in fields})
        relation = "replace-one" if "Replacement" in name or "Randomized" in name else "add-remove"
        try:
            bounds = from_dp_accounting(event, neighboring=relation).epsilon(1e-5)
            assert bounds.lower <= bounds.upper
        except errors.PrivacyError as error:
            assert name in str(error) and error.field == "event"
            refused.add(name)
    assert refused == {"NonPrivateDpEvent", "UnsupportedDpEvent", "SampledWithReplacementDpEvent"}


def test_events_of_dp_accounting_that_are_refused() -> None:
    dp = dp_event()
    gaussian = dp.GaussianDpEvent(1.1)
    without = dp.SampledWithoutReplacementDpEvent(1000, 10, gaussian)
    response = dp.RandomizedResponseDpEvent(0.5, 4)
    replaced = {"neighboring": "replace-one"}
    cases = [
        (dp.ComposedDpEvent([gaussian, dp.NonPrivateDpEvent()]), {}, "R401", "NonPrivateDpEvent"),
        (dp.SelfComposedDpEvent(dp.UnsupportedDpEvent(), 3), {}, "R401", "UnsupportedDpEvent"),
        (dp.SampledWithReplacementDpEvent(100, 10, gaussian), {}, "R401", "SampledWithReplacementDpEvent"),
        (without, {}, "R402", "SampledWithoutReplacementDpEvent.*replace-one"),
        (response, {}, "R402", "RandomizedResponseDpEvent.*replace-one"),
        (dp.SingleEpochTreeAggregationDpEvent(1.0, 7), replaced, "R402", "add-remove"),
        (dp.MixtureOfGaussiansDpEvent(1.0, [1.0], [1.0]), replaced, "R402", "add-remove"),
        (dp.ZCDpEvent(0.1, 0.2), {}, "R401", "ZCDpEvent: xi above 0"),
        (dp.GaussianDpEvent(0.0), {}, "R314", "noise_multiplier: 0"),
        (dp.GaussianDpEvent(math.nan), {}, "R314", "GaussianDpEvent: noise_multiplier"),
        (dp.GaussianDpEvent(math.inf), {}, "R314", "GaussianDpEvent: noise_multiplier"),
        (dp.GaussianDpEvent("1"), {}, "R314", "GaussianDpEvent: noise_multiplier"),
        (dp.GaussianDpEvent(True), {}, "R314", "GaussianDpEvent: noise_multiplier"),
        (dp.SelfComposedDpEvent(gaussian, -1), {}, "R314", "SelfComposedDpEvent: count"),
        (dp.SelfComposedDpEvent(gaussian, 1.5), {}, "R314", "SelfComposedDpEvent: count"),
        (dp.SelfComposedDpEvent(gaussian, 10**5000), {}, "R314", "SelfComposedDpEvent: count"),
        (dp.SelfComposedDpEvent(3, 3), {}, "R314", "not a DpEvent"),
        (dp.ComposedDpEvent(gaussian), {}, "R314", "ComposedDpEvent: events"),
        (dp.PoissonSampledDpEvent(1.5, gaussian), {}, "R314", "rate: 1.5"),
        (dp.SingleEpochTreeAggregationDpEvent(1.0, [7, 1.5]), {}, "R314", "step_counts"),
        (dp.DiscreteLaplaceDpEvent(-1.0, 1), {}, "R314", "noise_parameter"),
        (dp.DiscreteLaplaceDpEvent(0.5, 0), {}, "R314", "sensitivity"),
        (dp.RandomizedResponseDpEvent(0.0, 2), replaced, "R314", "keep_probability|noise_parameter"),
        (dp.RandomizedResponseDpEvent(1.5, 2), replaced, "R314", "keep_probability|noise_parameter"),
    ]
    for event, arguments, code, message in cases:
        with pytest.raises(errors.ReticentError, match=message) as caught:
            from_dp_accounting(event, **arguments)
        assert caught.value.code == code, caught.value
        assert caught.value.field == ("neighboring" if code == "R402" else "event")

    class GaussianDpEvent:
        sigma = 3

    with pytest.raises(errors.DataError, match="GaussianDpEvent: missing noise_multiplier"):
        from_dp_accounting(GaussianDpEvent())
    # An event inside of itself.
    loop = dp.ComposedDpEvent([])
    loop.events.append(loop)
    with pytest.raises(errors.DataError, match="inside of each other"):
        from_dp_accounting(loop)


def test_discrete_noise_without_a_scale_is_refused() -> None:
    event = dp_event().DiscreteLaplaceDpEvent(0.0, 1)
    with pytest.raises(errors.ReticentError, match="noise_parameter") as caught:
        from_dp_accounting(event)
    assert caught.value.field == "event"


def test_costs_agree_with_dp_accounting() -> None:
    dp = dp_event()
    from dp_accounting import pld, rdp

    gaussian = dp.GaussianDpEvent(1.1)
    training = dp.SelfComposedDpEvent(dp.PoissonSampledDpEvent(0.02, gaussian), 500)
    relation = relations()
    cases = [
        (training, ADDITION),
        (training, "REPLACE_ONE"),
        (dp.ComposedDpEvent([training, dp.LaplaceDpEvent(5.0)]), ADDITION),
        (dp.SelfComposedDpEvent(dp.LaplaceDpEvent(10.0), 20), ADDITION),
        (dp.SelfComposedDpEvent(dp.DiscreteLaplaceDpEvent(0.1, 3), 5), ADDITION),
        (dp.SelfComposedDpEvent(dp.PoissonSampledDpEvent(0.1, dp.LaplaceDpEvent(2.0)), 20), ADDITION),
        (gaussian, ADDITION),
        (gaussian, "REPLACE_ONE"),
        # The PLD accountant of dp_accounting 0.6.0 ignores the count of repeated randomized response.
        (dp.ComposedDpEvent([dp.RandomizedResponseDpEvent(0.7, 4)] * 3), "REPLACE_ONE"),
        (dp.MixtureOfGaussiansDpEvent(2.0, [0.0, 1.0, 2.0], [0.9, 0.07, 0.03]), ADDITION),
        (dp.TruncatedSubsampledGaussianDpEvent(20_000, 0.01, 240, 1.4), ADDITION),
    ]
    for event, name in cases:
        neighboring = relation[name]
        bounds = from_dp_accounting(event, neighboring=neighboring).epsilon(1e-5)
        theirs = pld.PLDAccountant(neighboring, 1e-3).compose(event).get_epsilon(1e-5)
        # Theirs is an upper bound with the error of its grid.
        assert bounds.lower <= theirs * (1 + 1e-6) + 1e-6, (event, name)
        assert bounds.upper <= theirs * (1 + 1e-6) + 1e-6, (event, name)
        if bounds.lower:
            assert theirs <= bounds.upper * 1.01 + 0.02, (event, name)
    orders = [1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128, 256]
    for event, name in [
        (training, ADDITION),
        (dp.ZCDpEvent(0.1), ADDITION),
        (dp.RepeatAndSelectDpEvent(dp.GaussianDpEvent(2.0), 4, 1), ADDITION),
        (dp.SingleEpochTreeAggregationDpEvent(5.0, [3, 700]), "REPLACE_SPECIAL"),
    ]:
        bounds = from_dp_accounting(event).epsilon(1e-5)
        theirs = rdp.RdpAccountant(orders, relation[name]).compose(event).get_epsilon(1e-5)
        assert bounds.lower <= bounds.upper <= theirs * (1 + 1e-9), (event, name)


def test_samples_without_replacement_count_twice_the_norm() -> None:
    # dp_accounting takes C as the sensitivity of replacing a record here, where its event says 2C.
    dp = dp_event()
    from dp_accounting import rdp

    def step(noise: float) -> Any:
        batch = dp.SampledWithoutReplacementDpEvent(1000, 10, dp.GaussianDpEvent(noise))
        return dp.SelfComposedDpEvent(batch, 50)

    replaced = relations().REPLACE_ONE
    theirs = rdp.RdpAccountant(None, replaced).compose(step(2.0)).get_epsilon(1e-5)
    ours = from_dp_accounting(step(4.0), neighboring=replaced).epsilon(1e-5)
    assert ours.upper <= theirs
    assert from_dp_accounting(step(2.0), neighboring=replaced).epsilon(1e-5).lower > 0
