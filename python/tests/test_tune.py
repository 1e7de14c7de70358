"""Searches for the settings of a network."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest

import reticent
from networks import IMAGES, SCHEMA, TEXTS, KINDS, WORDS, X, Y, refused
from reticent import train
from reticent.errors import BudgetError, ReticentError
from reticent.train import Linear, Network, Tanh, tuning

SHORT = {"epsilon": 4, "delta": 1e-4, "dataset_size": 54, "batch_size": 27, "steps": 2, "trials": 2}
ARRAY = {"bounds": (0, 1), "classes": [0, 1]}
RATES = {"learning_rate": (0.1, 1, "log"), "clip": [0.5, 1]}

pytestmark = pytest.mark.filterwarnings("ignore::reticent.PrivacyWarning")


def event_of(tuned):
    (event,) = tuned.certificate.events
    return event["repeat_and_select"]


def test_a_search_gives_settings_model_and_the_whole_cost(tmp_path):
    network = Network([Linear(out=4), Tanh(), Linear(out=2)])
    tuned = reticent.tune(network, X, Y, search=RATES, **ARRAY, **SHORT, out=tmp_path / "best")
    assert 0.1 <= tuned.chosen["learning_rate"] <= 1 and tuned.chosen["clip"] in (0.5, 1)
    assert tuned.epsilon <= 4 and tuned.delta == 1e-4 and tuned.certificate.verify()
    assert event_of(tuned)["mean"] == 2
    # The certificate is that of the search, for the model and in its folder, too.
    assert tuned.model.certificate == tuned.certificate == train.load(tmp_path / "best").certificate
    assert tuned.model.predict(X).shape == (60,) and tuned.model.steps == 2
    assert tuned.model.noise_multiplier == tuned.noise_multiplier > 0
    assert tuned.held_out["is_noisy"] and tuned.select_on == "held-out"
    # Nothing tells how many trials there were.
    kept = json.loads((tmp_path / "best" / "tuned.json").read_text())
    assert set(kept) == {"chosen", "distribution", "held_out", "search", "select_on", "trials"}
    assert kept["trials"] == 2


def test_a_claim_of_one_trial_is_refuted():
    """The broken twin states the cost of one trial for the best of several."""
    tuned = reticent.tune("logistic", X, Y, search=RATES, **ARRAY, **{**SHORT, "trials": 5})
    claimed = tuned.certificate.to_dict()
    claimed["epsilon"] = 0.5 * tuned.epsilon
    assert tuned.certificate.verify() and not reticent.Certificate(claimed).verify()


def test_what_a_trial_costs_is_searched():
    search = {"steps": [1, 4], "batch_size": [10, 30]}
    tuned = reticent.tune("logistic", X, Y, search=search, **ARRAY, **SHORT)
    assert tuned.steps == tuned.chosen["steps"] and tuned.batch_size == tuned.chosen["batch_size"]
    # Every combination is in the certificate, and the test beside them.
    assert len(event_of(tuned)["event"]["parallel"]["events"]) == 5
    assert tuned.epsilon <= 4 and tuned.certificate.verify()


@pytest.mark.parametrize(
    ("data", "settings"),
    [
        ((IMAGES, Y), {"classes": 2}),
        ((TEXTS, KINDS), WORDS),
        (({"a": X[:, 0], "b c": X[:, 1], "kind": Y},), {"schema": SCHEMA}),
    ],
    ids=["images", "texts", "table"],
)
def test_data_are_those_of_a_training(data, settings):
    tuned = reticent.tune("logistic", *data, search="lr=0.1|1", **settings, **SHORT)
    assert tuned.chosen["learning_rate"] in (0.1, 1) and tuned.certificate.verify()


def test_public_data_score_without_noise():
    tuned = reticent.tune("logistic", X, Y, search=RATES, select_on="validation", validation=(X[:20] / 2, Y[:20]),
                          **ARRAY, **SHORT)
    assert tuned.accuracy is not None and "held_out" not in tuned.to_dict()


def test_a_budget_pays_for_the_whole_search():
    budget = reticent.Budget(epsilon=5, delta=1e-3)
    reticent.tune("logistic", X, Y, search=RATES, budget=budget, **ARRAY, **SHORT)
    assert 3 < 5 - budget.left <= 4
    with pytest.raises(BudgetError):
        reticent.tune("logistic", X, Y, search=RATES, budget=budget, **ARRAY, **SHORT)


def test_a_search_is_pickled_with_its_model():
    tuned = reticent.tune("logistic", X, Y, search=RATES, **ARRAY, **SHORT)
    again = pickle.loads(pickle.dumps(tuned))
    assert again == tuned and np.array_equal(again.model.predict(X), tuned.model.predict(X))


def test_searches_are_written_as_the_command_reads_them():
    assert tuning.search_text(RATES) == "learning_rate=0.1..1 log, clip=0.5|1"
    assert tuning.search_text({"lr": (1, 2.5), "optimizer": "adam"}) == "lr=1..2.5, optimizer=adam"
    assert tuning.search_text({"batch_size": np.array([16, 32])}) == "batch_size=16|32"
    assert tuning.search_text("clip=1|2") == "clip=1|2"


@pytest.mark.parametrize(
    "search",
    [None, {}, [], {"clip": None}, {"clip": []}, {"clip": (1, 2, 3)}, {"clip": (1,)}, {3: [1]}, {"clip": [None]},
     {"optimizer": ["sgd|adam"]}, {"epochs": (1, 5)}, {"epsilon": [1, 2]}, {"color": ["red"]}, {"steps": [1.5]}],
)
def test_searches_without_meaning_are_refused(search):
    refused(lambda: reticent.tune("logistic", X, Y, search=search, **ARRAY, **SHORT), ReticentError, "search")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"noise_multiplier": 1.0}, "noise_multiplier"),
        ({"patience": 2}, "patience"),
        ({"callbacks": print}, "callbacks"),
        ({"trails": 3}, "trails"),
        ({"trials": 0.5}, "trials"),
        ({"trials_distribution": "poisson"}, "trials_distribution"),
        ({"select_on": "test"}, "select_on"),
    ],
)
def test_arguments_without_meaning_are_refused(change, field):
    given = {**ARRAY, **SHORT, **change}
    refused(lambda: reticent.tune("logistic", X, Y, search=RATES, **given), ReticentError, field)


def test_patience_on_held_out_rows_pays_for_its_plan(tmp_path):
    seen: list[dict] = []
    rng = np.random.default_rng(3)
    rows = rng.uniform(0, 1, (20_000, 2))
    model = train.fit("logistic", rows, rows[:, 0] > 0.5, bounds=(0, 1), classes=[False, True], epsilon=2,
                      delta=1e-5, dataset_size=18_000, batch_size=100, steps=20, learning_rate=1e-6, held_out=0.1,
                      patience=1, callbacks=seen.append, out=tmp_path / "run")
    # It learns nothing, so the noise decides which score is the best.
    assert model.steps < 20 and len(model.evaluations) == model.steps
    assert all(own["score"]["accuracy_doubt"] > 0 for own in model.evaluations)
    scores = [own["held_out_accuracy"] for own in seen if "held_out_accuracy" in own]
    assert scores == [own["score"]["accuracy"] for own in model.evaluations]
    assert {own["epsilon"] for own in seen} == {model.epsilon}
    (event,) = model.certificate.events
    steps, beside = event["parallel"]["events"]
    assert steps["composed"]["events"][0]["repeated"]["count"] == 20
    assert beside["composed"]["events"][0]["repeated"]["count"] == 19
    assert model.epsilon <= 2 and model.certificate.verify()
    again = train.resume(tmp_path / "run", rows, rows[:, 0] > 0.5)
    assert again.evaluations == model.evaluations and again.certificate == model.certificate
