"""Releases: what they return, what they cost, what they refuse, and that their intervals hold."""

from __future__ import annotations

import inspect
import json
import math
import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import reticent
from reticent import Budget, PrivacyWarning, mechanisms, release
from reticent.errors import BudgetError, DataError, InvalidValueError, ReticentError, RequestError
from reticent.mechanisms import Randomized

# At ε = 50 integer noise of sensitivity 1 is 0 but for a probability below 1e-21.
SHARP = 50.0

PEOPLE: dict[str, Any] = {
    "age": np.arange(1000) % 80,
    "height": np.linspace(1.5, 2.0, 1000),
    "sex": ["f", "m"] * 500,
    "smokes": np.arange(1000) % 4 == 0,
}

Ask = Callable[..., release.Release]

STATISTICS: dict[str, tuple[release.Statistic[...], dict[str, Any]]] = {
    "count": (release.count, {}),
    "sum": (release.sum, {"column": "age", "bounds": (0, 100)}),
    "mean": (release.mean, {"column": "age", "bounds": (0, 100)}),
    "histogram": (release.histogram, {"column": "sex", "categories": ["f", "m"]}),
    "bins": (release.histogram, {"column": "age", "bins": [0, 20, 40, 80]}),
    "quantile": (release.quantile, {"column": "age", "bounds": (0, 100), "quantile": 0.9}),
    "median": (release.median, {"column": "age", "bounds": (0, 100)}),
    "mode": (release.mode, {"column": "sex", "categories": ["f", "m"]}),
    "proportion": (release.proportion, {"column": "sex", "value": "f"}),
}
ADDITIVE = ("count", "sum", "mean", "histogram", "bins", "proportion")


def fewest(draws: int, probability: float, risk: float = 1e-7) -> int:
    """As many of these independent draws succeed at least, but for a probability below the risk."""
    below, count = 0.0, 0
    while True:
        below += math.comb(draws, count) * probability**count * (1 - probability) ** (draws - count)
        if below >= risk:
            return count
        count += 1


@pytest.mark.parametrize("name", STATISTICS)
def test_every_statistic_has_an_answer_and_a_certificate(name: str) -> None:
    ask, arguments = STATISTICS[name]
    answer = ask(PEOPLE, **arguments, epsilon=1.0)
    own = answer.certificate
    assert isinstance(own, reticent.Certificate) and own.verify()
    assert 0.99 < own.epsilon <= 1.0 and own.delta == 0.0 and own.unit == "row"
    assert answer.confidence == 0.95 and answer.warnings == []
    assert answer.query.get("column") == arguments.get("column")
    assert json.loads(json.dumps(answer.to_dict()))["certificate"]["epsilon"] == own.epsilon
    assert pickle.loads(pickle.dumps(answer)) == answer
    assert "ε ≤ 1" in repr(answer) and "<table" in answer._repr_html_()
    with pytest.raises(AttributeError):
        answer.value = 3


def test_values_are_the_statistics() -> None:
    count = release.count(PEOPLE, epsilon=SHARP)
    assert (count.value, count.interval, float(count), int(count)) == (1000, [1000, 1000], 1000.0, 1000)
    assert release.count(PEOPLE, where="sex=f and age>=40", epsilon=SHARP).value == 240
    assert release.count(PEOPLE, where="smokes=true", epsilon=SHARP).value == 250
    histogram = release.histogram(PEOPLE, "sex", categories=["m", "f", "x"], epsilon=SHARP)
    assert (histogram.value, histogram.labels) == ([500, 500, 0], ["m", "f", "x"])
    assert np.asarray(histogram).tolist() == [500, 500, 0]
    bins = release.histogram(PEOPLE, "age", bins=[0, 40, 79], epsilon=SHARP)
    assert (bins.value, bins.labels) == ([520, 480], ["[0,40)", "[40,79]"])
    assert release.mode(PEOPLE, "smokes", categories=[True, False], epsilon=SHARP).value == "false"
    # The errors are those of the previews at a confidence of 1 − 1e-9.
    for ask, arguments, truth in (
        (release.sum, {"column": "age", "bounds": (0, 100)}, PEOPLE["age"].sum()),
        (release.sum, {"column": "age", "bounds": (10, 20)}, PEOPLE["age"].clip(10, 20).sum()),
        (release.mean, {"column": "height", "bounds": (1, 2)}, PEOPLE["height"].mean()),
        (release.median, {"column": "age", "bounds": (0, 100)}, 38),
        (release.quantile, {"column": "age", "bounds": (0, 100), "quantile": 0.25}, 19),
        (release.proportion, {"column": "smokes", "value": True}, 0.25),
    ):
        answer = ask(PEOPLE, **arguments, epsilon=SHARP, confidence=1 - 1e-9)
        low, high = answer.interval
        assert low - 1e-9 <= truth <= high + 1e-9, (arguments, truth, answer)
        assert low <= answer.value <= high and high - low < 0.3 * max(abs(truth), 10)
    with pytest.raises(TypeError):
        float(histogram)
    with pytest.raises(TypeError):
        float(release.mode(PEOPLE, "sex", categories=["f", "m"], epsilon=1.0))


@pytest.mark.parametrize("name", ["count", "sum", "mean", "histogram", "proportion"])
def test_no_two_answers_are_the_same(name: str) -> None:
    ask, arguments = STATISTICS[name]
    # A draw at ε = 0.01 equals another one with probability below 0.003: 20 are alike with one below 1e-40.
    values = [json.dumps(ask(PEOPLE, **arguments, epsilon=0.01).value) for _ in range(20)]
    assert len(set(values)) > 1


@pytest.mark.parametrize("name", ["count", "sum", "mean", "histogram", "median", "proportion"])
def test_intervals_hold_at_the_confidence(name: str) -> None:
    ask, arguments = STATISTICS[name]
    truths = {
        "count": 1000,
        "sum": PEOPLE["age"].sum(),
        "mean": PEOPLE["age"].mean(),
        "histogram": 500,
        "median": 38,
        "proportion": 0.5,
    }
    draws, hits = 100, 0
    for _ in range(draws):
        interval = ask(PEOPLE, **arguments, epsilon=0.5, confidence=0.9).interval
        low, high = interval[0] if name == "histogram" else interval
        hits += low <= truths[name] <= high
    # Fails with probability below 1e-7 if each interval holds with probability 0.9.
    assert hits >= fewest(draws, 0.9)


@pytest.mark.parametrize("name", STATISTICS)
def test_a_preview_reads_and_spends_nothing(name: str) -> None:
    ask, arguments = STATISTICS[name]
    budget = Budget(epsilon=1.0)
    plan = ask.preview(PEOPLE, **arguments, epsilon=0.5, budget=budget)
    assert isinstance(plan, release.Preview) and plan.dry_run is True
    assert 0.49 < plan.epsilon <= 0.5 and plan.delta == 0.0 and plan.error > 0
    assert budget.left == 1.0 and budget.events == []
    assert "ε ≤ 0.5" in repr(plan)
    # The same whatever the data hold.
    nothing = {column: values[:0] for column, values in PEOPLE.items()}
    nothing["sex"] = np.array([], dtype=str)
    assert ask.preview(nothing, **arguments, epsilon=0.5) == plan


def test_statistics_are_functions_with_signatures() -> None:
    for ask, _ in STATISTICS.values():
        assert inspect.isroutine(ask) and ask.__doc__
        signature = inspect.signature(ask)
        assert "budget" in signature.parameters and signature.return_annotation == "Release"
        assert inspect.signature(ask.preview).return_annotation == "Preview"
        assert pickle.loads(pickle.dumps(ask)) is ask
    assert set(release.__all__) <= set(dir(release))


def test_mechanisms_and_relations() -> None:
    for name in ADDITIVE:
        ask, arguments = STATISTICS[name]
        answer = ask(PEOPLE, **arguments, epsilon=1.0, delta=1e-6)
        own = answer.certificate
        assert own.delta <= 1e-6 and own.epsilon <= 1.0 and own.verify()
        answer = ask(PEOPLE, **arguments, epsilon=1.0, delta=1e-6, mechanism="discrete-gaussian")
        assert "discrete_gaussian" in json.dumps(answer.certificate.events)
        plan = ask.preview(PEOPLE, **arguments, epsilon=1.0, delta=1e-6)
        assert "Gaussian" in plan.mechanism
    for ask, arguments in STATISTICS.values():
        answer = ask(PEOPLE, **arguments, epsilon=1.0, neighboring="replace-one")
        assert answer.certificate.neighboring == "replace-one"
        assert "rows" in json.dumps(answer.certificate.public)
    for rule in ("exponential", "permute-and-flip", "report-noisy-max"):
        answer = release.mode(PEOPLE, "sex", categories=["f", "m"], epsilon=1.0, rule=rule)
        assert answer.value in ("f", "m") and answer.interval is None and answer.shortfall > 0


def test_a_target_error_is_reached_with_the_least_epsilon() -> None:
    answer = release.count(PEOPLE, error=20)
    low, high = answer.interval
    assert high - low <= 40 and 0.1 < answer.certificate.epsilon < 0.2
    total = release.sum(PEOPLE, "age", bounds=(0, 100), error=2000)
    assert total.interval[1] - total.interval[0] <= 4000
    with pytest.raises(RequestError) as error:
        release.count(PEOPLE, error=20, epsilon=1.0)
    assert error.value.field == "error"


def test_clamped_values_are_counted_for_a_share() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answer = release.mean(PEOPLE, "age", bounds=(0, 10), epsilon=SHARP, count_clamped=True)
    # 5 % of ε = 50 on a count: its noise exceeds 12 with probability e^-30.
    assert abs(answer.clamped["value"] - int((PEOPLE["age"] > 10).sum())) <= 12
    assert len(answer.certificate.events) == 2 and 49.9 < answer.certificate.epsilon <= 50
    assert "clamped" in repr(answer)


def test_warnings_are_warnings(tmp_path: Path) -> None:
    schema = tmp_path / "schema.toml"
    schema.write_text('unit = "row"\n[columns]\nage = { bounds = [0, 120] }\n')
    with pytest.warns(PrivacyWarning) as caught:
        answer = release.mean(PEOPLE, "age", bounds=(0, 60), epsilon=1.0, schema=schema)
    assert len(answer.warnings) == len(caught) == 1 and answer.warnings[0] in repr(answer)
    assert caught[0].filename == __file__ and "⟦" not in str(caught[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        release.mean(PEOPLE, "age", bounds=(0, 120), epsilon=1.0, schema=schema)


def test_integers_are_declared_and_not_guessed() -> None:
    typed = release.sum({"n": np.array([1, 2, 3])}, "n", bounds=(0, 5), epsilon=1.0)
    listed = release.sum({"n": [1, 2, 3]}, "n", bounds=(0, 5), epsilon=1.0)
    declared = release.sum({"n": [1, 2, 3]}, "n", bounds=(0, 5), epsilon=1.0, integers=True)
    assert [type(answer.value) for answer in (typed, declared, listed)] == [int, int, float]
    assert "whole numbers" in typed.certificate.public and "whole numbers" not in listed.certificate.public


@pytest.mark.parametrize("name", STATISTICS)
def test_a_budget_adds_up_and_refuses_before_any_noise(name: str) -> None:
    ask, arguments = STATISTICS[name]
    budget = Budget(epsilon=1.0, name="people")
    ask(PEOPLE, **arguments, epsilon=0.6, budget=budget)
    left = budget.left
    assert 0.39 < left <= 0.4 + 1e-9 and len(budget.events) == 1
    with pytest.raises(BudgetError) as error:
        ask(PEOPLE, **arguments, epsilon=0.6, budget=budget)
    assert error.value.code in ("R405", "R406") and "\n" not in str(error.value)
    # A refusal comes before the data are read, and costs nothing.
    with pytest.raises(ReticentError):
        ask(PEOPLE, **{**arguments, "column": "no such column"}, epsilon=0.1, budget=budget)
    with pytest.raises(ReticentError) as relation:
        ask(PEOPLE, **arguments, epsilon=0.1, neighboring="replace-one", budget=budget)
    assert relation.value.field == "neighboring"
    assert (budget.left, len(budget.events)) == (left, 1)
    ask(PEOPLE, **arguments, epsilon=0.39, budget=budget)
    assert budget.left < 0.02


def test_a_budget_of_other_units_is_refused() -> None:
    budget = Budget(epsilon=1.0, unit="user")
    with pytest.raises(ReticentError):
        release.count(PEOPLE, epsilon=0.5, budget=budget)
    assert budget.left == 1.0


BAD: list[tuple[str, dict[str, Any], str, str]] = [
    ("count", {"epsilon": 0.0}, "epsilon", "R201"),
    ("count", {"epsilon": -1.0}, "epsilon", "R201"),
    ("count", {"epsilon": 51.0}, "epsilon", "R"),
    ("count", {"epsilon": math.nan}, "epsilon", "R201"),
    ("count", {"epsilon": math.inf}, "epsilon", "R201"),
    ("count", {"epsilon": "1"}, "epsilon", "R202"),
    ("count", {"epsilon": True}, "epsilon", "R202"),
    ("count", {"epsilon": None}, "epsilon", "R102"),
    ("mean", {"epsilon": None}, "epsilon", "R102"),
    ("mode", {"epsilon": None}, "epsilon", "R102"),
    ("count", {"delta": 0.0}, "delta", "R201"),
    ("count", {"delta": 1.0}, "delta", "R201"),
    ("count", {"delta": 1e-6, "mechanism": "laplace"}, "delta", "R103"),
    ("count", {"mechanism": "gaussian"}, "delta", "R102"),
    ("count", {"mechanism": "uniform"}, "mechanism", "R203"),
    ("count", {"mechanism": 3}, "mechanism", "R203"),
    ("count", {"neighboring": "swap"}, "neighboring", "R203"),
    ("count", {"confidence": 1.0}, "confidence", "R201"),
    ("count", {"confidence": None}, "confidence", "R102"),
    ("count", {"confidence": math.nan}, "confidence", "R201"),
    ("count", {"where": "age"}, "where", "R206"),
    ("count", {"where": ""}, "where", "R206"),
    ("count", {"where": "age>>3"}, "where", "R206"),
    ("count", {"where": "size>3"}, "where", "R306"),
    ("count", {"where": 3}, "where", "R201"),
    ("count", {"epsilon": None, "error": 0.0}, "error", "R201"),
    ("count", {"epsilon": None, "error": math.nan}, "error", "R201"),
    ("sum", {"epsilon": None, "error": 1e-3}, "error", "R"),
    ("mean", {"bounds": (100, 0)}, "bounds", "R204"),
    ("mean", {"bounds": (1, 1)}, "bounds", "R204"),
    ("mean", {"bounds": (0, math.inf)}, "bounds", "R201"),
    ("mean", {"bounds": (0, math.nan)}, "bounds", "R201"),
    ("mean", {"bounds": (0,)}, "bounds", "R201"),
    ("mean", {"bounds": (0, 1, 2)}, "bounds", "R201"),
    ("mean", {"bounds": 3}, "bounds", "R201"),
    ("mean", {"bounds": "01"}, "bounds", "R201"),
    ("mean", {"bounds": ("0", "1")}, "bounds", "R202"),
    ("mean", {"bounds": None}, "bounds", "R102"),
    ("mean", {"bounds": (None, 1)}, "bounds", "R201"),
    ("mean", {"column": "agee"}, "column", "R306"),
    ("mean", {"column": "sex"}, "column", "R309"),
    ("mean", {"column": "smokes"}, "column", "R309"),
    ("mean", {"column": None}, "column", "R102"),
    ("mean", {"integers": "yes"}, "integers", "R201"),
    ("mean", {"count_clamped": 1}, "count_clamped", "R201"),
    ("mean", {"schema": 3}, "schema", "R201"),
    ("histogram", {"categories": None}, "categories", "R102"),
    ("histogram", {"categories": []}, "categories", "R205"),
    ("histogram", {"categories": "fm"}, "categories", "R104"),
    ("histogram", {"categories": ["f", "f"]}, "categories", "R205"),
    ("histogram", {"categories": ["f", ""]}, "categories", "R205"),
    ("histogram", {"bins": [0, 1]}, "bins", "R103"),
    ("bins", {"bins": [0]}, "bins", "R205"),
    ("bins", {"bins": [1, 0]}, "bins", "R205"),
    ("bins", {"bins": [0, math.inf]}, "bins", "R201"),
    ("bins", {"bins": "012"}, "bins", "R201"),
    ("bins", {"bins": 3}, "bins", "R201"),
    ("quantile", {"quantile": 0.0}, "quantile", "R201"),
    ("quantile", {"quantile": 1.5}, "quantile", "R201"),
    ("quantile", {"quantile": "half"}, "quantile", "R202"),
    ("quantile", {"candidates": 1}, "candidates", "R201"),
    ("quantile", {"candidates": 2.5}, "candidates", "R201"),
    ("quantile", {"candidates": -1}, "candidates", "R201"),
    ("quantile", {"candidates": 10**30}, "candidates", "R201"),
    ("mode", {"categories": None}, "categories", "R104"),
    ("mode", {"rule": "largest"}, "rule", "R203"),
    ("proportion", {"value": ""}, "value", "R201"),
    ("proportion", {"value": None}, "value", "R104"),
    ("proportion", {"value": object()}, "value", "R309"),
]


@pytest.mark.parametrize(("name", "change", "field", "code"), BAD)
def test_bad_arguments_are_refused_by_name(name: str, change: dict[str, Any], field: str, code: str) -> None:
    ask, arguments = STATISTICS[name]
    budget = Budget(epsilon=40.0, delta=1e-3)
    for call in (ask, ask.preview):
        with pytest.raises(ReticentError) as error:
            call(PEOPLE, **{"epsilon": 1.0, **arguments, **change}, budget=budget)
        assert error.value.field == field and error.value.code.startswith(code), error.value
        assert "\n" not in str(error.value) and error.value.remedy
    assert budget.events == []


def test_refusals_name_arguments() -> None:
    with pytest.raises(InvalidValueError) as error:
        release.count(PEOPLE, where="age>>3", epsilon=1.0)
    assert str(error.value).startswith("where: ")
    with pytest.raises(DataError) as gone:
        release.count("no/such.csv", epsilon=1.0)
    assert gone.value.code == "R301" and "no/such.csv" in str(gone.value)
    assert pickle.loads(pickle.dumps(gone.value)).code == "R301"


def test_columns_by_number() -> None:
    pandas = pytest.importorskip("pandas")
    array = np.column_stack([np.arange(100), np.arange(100) % 2])
    assert release.histogram(array, 1, categories=[0, 1], epsilon=SHARP).value == [50, 50]
    frame = pandas.DataFrame(array)
    assert release.histogram(frame, 1, categories=[0, 1], epsilon=SHARP).value == [50, 50]
    assert release.histogram({0: [1, 2], 1: [3, 3]}, 1, categories=[3], epsilon=SHARP).value == [2]
    with pytest.raises(DataError) as error:
        release.count(array, 2, epsilon=1.0)
    assert (error.value.field, error.value.code) == ("column", "R306")


def test_histograms_are_drawn() -> None:
    answer = release.histogram(PEOPLE, "sex", categories=["f", "m", "<&>", "x" * 60], epsilon=1.0)
    svg = answer.plot()
    import xml.etree.ElementTree as tree

    root = tree.fromstring(svg)
    assert root.tag.endswith("svg") and len(root.findall("{http://www.w3.org/2000/svg}rect")) == 4
    assert "<svg" in answer._repr_html_() and "&lt;&amp;&gt;" in answer._repr_html_()
    frame = answer.to_pandas()
    assert list(frame.columns) == ["value", "low", "high"] and list(frame.index[:2]) == ["f", "m"]
    assert (frame["low"] <= frame["value"]).all()
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    assert answer.plot(ax=axes) is axes and len(axes.patches) == 4
    assert axes.get_title() == "sex" and axes.get_xlabel() == "rows"
    with pytest.raises(RequestError):
        release.count(PEOPLE, epsilon=1.0).plot()
    many = release.histogram(PEOPLE, "age", categories=range(80), epsilon=1.0)
    assert "60 more" in repr(many) and repr(many).count("\n") < 30


def test_surveys_in_memory() -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    pyarrow = pytest.importorskip("pyarrow")
    truth = ["yes"] * 700 + ["no"] * 300
    terms: dict[str, Any] = {"categories": ["yes", "no"], "epsilon": 60.0}
    for data in (
        {"smokes": truth},
        pandas.DataFrame({"smokes": truth}),
        polars.DataFrame({"smokes": truth}),
        pyarrow.table({"smokes": truth}),
    ):
        answers = release.randomize(data, "smokes", **terms)
        assert isinstance(answers, Randomized) and answers.value.tolist() == truth
        shares = release.estimate({"smokes": answers.value}, "smokes", **terms)
        assert shares.value == pytest.approx([0.7, 0.3]) and shares.rows == 1000
        with pytest.raises(DataError) as error:
            release.randomize(data, "drinks", **terms)
        assert (error.value.field, error.value.code) == ("column", "R306")
    for column in (truth, np.array(truth), pandas.Series(truth), polars.Series(truth)):
        assert release.randomize(column, **terms).value.tolist() == truth
        assert release.estimate(column, **terms).rows == 1000
    once = release.randomize(truth, categories=iter(["yes", "no"]), epsilon=60.0)
    assert once.value.tolist() == truth and once.categories == ["yes", "no"]
    array = np.array([[0, 1], [1, 1]])
    assert release.randomize(array, 1, categories=[0, 1], epsilon=60.0).value.tolist() == [1, 1]
    for change in ({"out": "x.csv"}, {"keep_columns": ["a"]}):
        with pytest.raises(RequestError) as wrong:
            release.randomize({"smokes": truth}, "smokes", **terms, **change)
        assert wrong.value.field == next(iter(change))
    with pytest.raises(RequestError) as missing:
        release.randomize({"smokes": truth}, **terms)
    assert missing.value.field == "column"


def test_surveys_in_files(tmp_path: Path) -> None:
    truth = tmp_path / "survey.csv"
    truth.write_text("smokes,town\n" + "yes,a\nno,b\nno,b\n,c\nmaybe,d\n" * 200)
    out = tmp_path / "randomized.csv"
    terms: dict[str, Any] = {"categories": ["yes", "no"], "epsilon": 1.0}
    found = release.randomize(truth, "smokes", **terms, out=out, keep_columns=["town"])
    assert isinstance(found, release.RandomizedFile) and found.rows == 1000 and Path(found.out) == out
    assert found.certificate.unit == "answer" and found.certificate.epsilon == pytest.approx(1.0)
    assert out.read_text().splitlines()[0] == "smokes,town" and "1000" in repr(found)
    shares = release.estimate(out, "smokes", **terms)
    assert shares.rows == 1000 and shares.categories == ["yes", "no"]
    reported = [line.split(",")[0] for line in out.read_text().splitlines()[1:]]
    in_memory = release.estimate({"smokes": reported}, "smokes", **terms)
    assert in_memory.value == pytest.approx(shares.value)
    assert in_memory.keep_probability == pytest.approx(shares.keep_probability)
    for change, field in (
        ({"out": None}, "out"),
        ({"out": truth}, "out"),
        ({"out": tmp_path / "x.txt"}, "out"),
        ({"column": "drinks"}, "column"),
        ({"column": None}, "column"),
        ({"categories": ["yes"]}, "categories"),
        ({"epsilon": 0.0}, "epsilon"),
        ({"epsilon": math.nan}, "epsilon"),
        ({"keep_columns": ["country"]}, "keep_columns"),
    ):
        arguments = {"column": "smokes", **terms, "out": tmp_path / "other.csv", **change}
        with pytest.raises(ReticentError) as error:
            release.randomize(truth, **arguments)
        assert error.value.field == field, change
    budget = Budget(epsilon=1.0, neighboring="replace-one", unit="answer")
    release.randomize(truth, "smokes", **{**terms, "epsilon": 0.75}, out=tmp_path / "b.csv", budget=budget)
    assert len(budget.events) == 1
    with pytest.raises(BudgetError):
        release.randomize(truth, "smokes", **terms, out=tmp_path / "c.csv", budget=budget)
    assert not (tmp_path / "c.csv").exists()


def test_schemas_are_learnt_within_their_budget(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    rows = 20_000
    data = {
        "age": np.arange(rows) % 80,
        "sex": ["f", "m"] * (rows // 2),
        "when": np.zeros(rows, "M8[s]"),
    }
    budget = Budget(epsilon=1.5, delta=1e-5)
    out = tmp_path / "schema.toml"
    schema = release.learn_schema(data, epsilon=1.0, delta=1e-6, ignore=["when"], out=out, budget=budget)
    assert schema.private and schema.certificate is not None and schema.certificate.epsilon <= 1.0
    assert out.read_text() == schema.toml and "age" in schema.toml and 'when = "ignore"' in schema.toml
    assert budget.left <= 0.51 and len(budget.events) == 1
    with pytest.raises(BudgetError):
        release.learn_schema(data, epsilon=1.0, delta=1e-6, ignore=["when"], budget=budget)
    with pytest.raises(ReticentError) as taken:
        release.learn_schema(data, epsilon=1.0, delta=1e-6, ignore=["when"], out=out)
    assert taken.value.field == "out"
    with pytest.raises(ReticentError) as unread:
        release.learn_schema(data, epsilon=1.0, delta=1e-6)
    assert unread.value.field == "data['when']"
    frame = release.learn_schema(pandas.DataFrame({"age": data["age"]}), epsilon=1.0)
    schema.save(tmp_path / "other.toml")
    assert (tmp_path / "other.toml").read_text() == schema.toml
    with pytest.raises(ReticentError):
        schema.save(tmp_path / "other.toml")
    frame.save(tmp_path / "other.toml", force=True)
    assert "ε ≤" in repr(schema) and "[columns]" in repr(schema) and "<pre>" in schema._repr_html_()
    for change, field in (
        ({"epsilon": None}, "epsilon"),
        ({"epsilon": 0.0}, "epsilon"),
        ({"delta": None}, "delta"),
        ({"label": "size"}, "label"),
        ({"ignore": ["size"]}, "ignore"),
        ({"ignore": "age"}, "ignore"),
        ({"unit": "size"}, "unit"),
        ({"positive": "f", "label": None}, "label"),
        ({"out": tmp_path / "schema.txt"}, "out"),
        ({"force": "yes"}, "force"),
    ):
        arguments: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-6, **change}
        with pytest.raises(ReticentError) as error:
            release.learn_schema({"age": data["age"], "sex": data["sex"]}, **arguments)
        assert error.value.field == field, (change, error.value)


def test_a_draft_says_that_it_is_not_private(tmp_path: Path) -> None:
    with pytest.warns(PrivacyWarning, match="NOT PRIVATE") as caught:
        draft = release.draft_schema(PEOPLE, label="smokes", positive=True)
    assert caught[0].filename == __file__
    assert not draft.private and draft.certificate is None and "draft = true" in draft.toml
    assert "none: this draft was computed from the data" in repr(draft)
    path = tmp_path / "people.csv"
    path.write_text("age,sex\n" + "31,f\n45,m\n" * 10)
    with pytest.warns(PrivacyWarning):
        assert "age" in release.draft_schema(path).toml


def test_files_and_frames_agree(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("age,sex\n" + "31,f\n45,m\n70,\n" * 100)
    assert release.count(path, epsilon=SHARP).value == 300
    assert release.count(str(path), "sex", epsilon=SHARP).value == 200
    assert release.count(path, where="age>40", epsilon=SHARP).value == 200
    assert release.mean(path, "age", bounds=(0, 100), epsilon=1.0, integers=True).certificate.verify()
    assert release.count.preview(path, epsilon=1.0).epsilon == 1.0


def test_progress_can_be_shown(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "people.csv"
    path.write_text("age\n" + "31\n" * 100)
    release.count(path, epsilon=1.0, progress=True)
    release.count(path, epsilon=1.0, progress=False)
    assert "Traceback" not in capfd.readouterr().err


JUNK: list[Any] = [
    None,
    True,
    math.nan,
    -1,
    10**400,
    1j,
    "x",
    "",
    "\ud800",
    b"x",
    [],
    {},
    object(),
    np.array([1, 2]),
    np.array([np.nan]),
    {1, 2},
    ["\ud800", 1, None],
    np.zeros((0, 2)),
    lambda: 1,
]

CALLS: list[tuple[Callable[..., Any], dict[str, Any]]] = [
    *((ask, {"data": PEOPLE, "epsilon": 1.0, **arguments}) for ask, arguments in STATISTICS.values()),
    (release.randomize, {"data": PEOPLE, "column": "sex", "categories": ["f", "m"], "epsilon": 1.0}),
    (release.estimate, {"data": PEOPLE, "column": "sex", "categories": ["f", "m"], "epsilon": 1.0}),
    (release.learn_schema, {"data": PEOPLE, "epsilon": 1.0, "delta": 1e-6}),
    (release.draft_schema, {"data": PEOPLE}),
    (mechanisms.laplace, {"value": 1.0, "sensitivity": 1.0, "epsilon": 1.0}),
    (mechanisms.gaussian, {"value": 1.0, "sensitivity": 1.0, "epsilon": 1.0, "delta": 1e-6}),
    (mechanisms.student_t, {"value": 1.0, "sensitivity": 1.0, "epsilon": 1.0}),
    (mechanisms.discrete_laplace, {"value": 1, "sensitivity": 1, "epsilon": 1.0}),
    (mechanisms.randomized_response, {"values": ["a"], "categories": ["a", "b"], "epsilon": 1.0}),
    (mechanisms.estimate_proportions, {"reported": ["a"], "categories": ["a", "b"], "epsilon": 1.0}),
    (mechanisms.exponential, {"scores": [1.0, 2.0], "sensitivity": 1.0, "epsilon": 1.0}),
]


@pytest.mark.parametrize(("call", "arguments"), CALLS)
@pytest.mark.filterwarnings("ignore")
def test_junk_is_refused_with_the_name_of_an_argument(
    call: Callable[..., Any], arguments: dict[str, Any], capfd: pytest.CaptureFixture[str]
) -> None:
    for name in inspect.signature(call).parameters:
        for junk in JUNK:
            if name == "budget":
                continue
            try:
                call(**{**arguments, name: junk})
            except ReticentError as error:
                assert error.field and "\n" not in str(error), (name, junk, error)
    assert "panicked" not in capfd.readouterr().err


NEEDED = [
    ("sum", "bounds"),
    ("mean", "bounds"),
    ("mean", "epsilon"),
    ("quantile", "quantile"),
    ("quantile", "bounds"),
    ("median", "bounds"),
    ("mode", "categories"),
    ("proportion", "value"),
]


@pytest.mark.parametrize(("name", "argument"), NEEDED)
def test_arguments_that_are_needed_are_named(name: str, argument: str) -> None:
    ask, arguments = STATISTICS[name]
    given = {own: value for own, value in {**arguments, "epsilon": 1.0}.items() if own != argument}
    for call in (ask, ask.preview):
        with pytest.raises(RequestError) as error:
            call(PEOPLE, **given)
        assert (error.value.code, error.value.field) == ("R102", argument)
        if argument in ("bounds", "categories"):
            assert "public" in error.value.remedy and "never read off the data" in error.value.remedy


def test_surveys_and_schemas_name_what_they_need() -> None:
    for call, argument in (
        (lambda: release.randomize(PEOPLE, "sex", epsilon=1.0), "categories"),  # type: ignore[call-overload]
        (lambda: release.estimate(PEOPLE, "sex", epsilon=1.0), "categories"),  # type: ignore[call-arg]
        (lambda: release.learn_schema(PEOPLE), "epsilon"),  # type: ignore[call-arg]
    ):
        with pytest.raises(RequestError) as error:
            call()
        assert (error.value.code, error.value.field) == ("R102", argument)


def test_schemas_name_arguments() -> None:
    with pytest.warns(PrivacyWarning) as caught:
        draft = release.draft_schema(PEOPLE)
    assert all("⟦" not in str(warning.message) for warning in caught)
    for text in (repr(draft), draft._repr_html_(), draft.toml, *draft.warnings):
        assert "⟦" not in text
    assert "`epsilon`" in repr(draft) and "`epsilon`" in draft.warnings[0]


def test_an_answer_is_formatted_and_rounded_as_its_value() -> None:
    answer = release.mean(PEOPLE, "height", bounds=(1, 3), epsilon=1.0)
    assert f"{answer:.1f}" == f"{answer.value:.1f}" and f"{answer}" == str(answer)
    assert round(answer, 2) == round(answer.value, 2) and isinstance(round(answer), int)
    assert (answer.epsilon, answer.delta) == (answer.certificate.epsilon, answer.certificate.delta) == (1, 0)
    count = release.count(PEOPLE, epsilon=1.0)
    assert f"{count:,d}" == f"{count.value:,d}" and round(count, -2) == round(count.value, -2)
    histogram = release.histogram(PEOPLE, "sex", categories=["f", "m"], epsilon=1.0)
    mode = release.mode(PEOPLE, "sex", categories=["f", "m"], epsilon=1.0)
    assert f"{mode:>3}" == f"{mode.value:>3}"
    for wrong in (lambda: f"{histogram:.1f}", lambda: round(histogram), lambda: round(mode)):
        with pytest.raises(TypeError, match="is not one number"):
            wrong()


def test_the_cells_of_a_histogram_are_aligned_and_labelled() -> None:
    answer = release.histogram({"n": [1] * 10_000 + [12] * 3}, "n", bins=[0, 10, 20], epsilon=SHARP)
    lines = [line for line in repr(answer).splitlines() if "   [" in line]
    assert len(lines) == 2 and len({line.rindex("[") for line in lines}) == 1
    assert len({line.rindex(",") for line in lines}) == len({len(line) for line in lines}) == 1
    assert ">n</text>" in answer.plot() and ">rows</text>" in answer.plot()
    name = "a category of forty characters, no less"
    assert f">{name}</text>" in release.histogram(PEOPLE, "sex", categories=[name], epsilon=1.0).plot()


def test_a_budget_says_what_is_known() -> None:
    budget = Budget(epsilon=1.0, delta=1e-6)
    assert (budget.epsilon, budget.delta) == (1.0, 1e-6)
    mechanisms.laplace(1.0, sensitivity=1.0, epsilon=0.2, budget=budget)
    assert budget.spent is not None and budget.spent[0] < 1
    assert "spent: at most ε 0.25 at δ 1e-6; left: ε 0.8 without δ" in repr(budget)
    pure = Budget(epsilon=1.0)
    release.count(PEOPLE, epsilon=0.5, budget=pure)
    assert repr(pure).endswith("spent: at most ε 0.5; left: ε 0.5")
    for nothing in (0, 0.0, np.float64(0)):
        with pytest.raises(InvalidValueError) as error:
            Budget(epsilon=nothing)
        assert (error.value.code, error.value.field) == ("R201", "epsilon")


def test_a_budget_whose_spending_is_unknown_names_its_limit() -> None:
    budget = Budget(epsilon=1.0, delta=1e-6)
    mechanisms.gaussian(1.0, sensitivity=1.0, epsilon=0.9, delta=9e-7, budget=budget)
    assert budget.spent is None and "spent: at most the limit; left: ε 0.04" in repr(budget)
