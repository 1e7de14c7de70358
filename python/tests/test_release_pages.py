"""Pages of statistics: answers, limits, groups, files, Arrow, and what they refuse."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reticent import Budget, release
from reticent.errors import BudgetError, InvalidValueError, RequestError, ReticentError
from reticent.release import Question

ROOT = Path(__file__).resolve().parents[2]
FLIGHTS = ROOT / "testdata" / "flights" / "flights.parquet"

# At ε = 50 noise of one row is far below 1.
SHARP = 50.0

VISITS: dict[str, Any] = {
    "patient": np.arange(1000) % 300,
    "ward": ["a", "b", "c", "d"] * 250,
    "age": (np.arange(1000) % 80).astype(float),
    "cost": np.linspace(0.0, 10.0, 1000),
}

QUESTIONS: dict[str, Question] = {
    "count": Question.count(),
    "sum": Question.sum("age", bounds=(0, 100)),
    "mean": Question.mean("age", bounds=(0, 100)),
    "variance": Question.variance("age", bounds=(0, 100)),
    "stddev": Question.stddev("age", bounds=(0, 100)),
    "median": Question.median("age", bounds=(0, 100)),
    "quantiles": Question.quantiles("age", [0.1, 0.9], bounds=(0, 100)),
    "histogram": Question.histogram("ward", categories=["a", "b", "c", "d"]),
    "bins": Question.histogram("age", bins=[0, 40, 80]),
    "mode": Question.mode("ward", categories=["a", "b"]),
    "top": Question.top("ward", 2, categories=["a", "b", "c"]),
    "proportion": Question.proportion("ward", "a"),
    "distinct": Question.distinct("ward", categories=["a", "x"]),
    "covariance": Question.covariance("age", "cost", bounds=[(0, 100), (0, 10)]),
    "correlation": Question.correlation("age", "cost", bounds=[(0, 100), (0, 10)]),
    "trend": Question.trend("age", "cost", bounds=[(0, 100), (0, 10)]),
    "contingency": Question.contingency({"ward": ["a", "b"], "age": [0, 40, 80]}),
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_question_has_figures_and_a_certificate(name: str) -> None:
    page = release.page(VISITS, [QUESTIONS[name]], epsilon=2.0)
    assert page.rows and page.certificate.epsilon <= 2.0 and page.certificate.verify()
    for row in page.rows:
        low, high = row["interval"]
        if row["estimate"] is not None and low is not None and high is not None:
            assert low <= row["estimate"] <= high
    plan = release.preview_page(VISITS, [QUESTIONS[name]], epsilon=2.0)
    assert plan.dry_run and plan.epsilon <= 2.0 and "error" in repr(plan)


def test_a_page_is_near_the_truth() -> None:
    page = release.page(VISITS, [Question.count(), Question.mean("cost", bounds=(0, 10))], epsilon=SHARP)
    assert abs(page["count"].estimate - 1000) <= 3
    assert abs(float(page["mean of cost"]) - 5.0) <= 0.1


def test_groups_are_lists_rows_files_or_selected(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    asked = [Question.count()]
    listed = release.page(VISITS, asked, epsilon=SHARP, group_by="ward", keys=["a", "b"])
    assert [row["group"] for row in listed.rows] == [["a"], ["b"]]
    assert all(abs(row["estimate"] - 250) <= 3 for row in listed.rows)
    mapped = release.page(VISITS, asked, epsilon=SHARP, group_by=["ward"], keys={"ward": ["a"]})
    assert len(mapped.rows) == 1
    rows = release.page(
        VISITS, asked, epsilon=SHARP, group_by=["ward", "patient"], keys=[("a", "0"), ("b", "1")]
    )
    assert [row["group"] for row in rows.rows] == [["a", "0"], ["b", "1"]]
    (tmp_path / "keys.csv").write_text("ward\na\nd\n")
    filed = release.page(VISITS, asked, epsilon=SHARP, group_by="ward", keys=tmp_path / "keys.csv")
    assert [row["group"] for row in filed.rows] == [["a"], ["d"]]
    found = release.page(VISITS, asked, epsilon=10.0, delta=1e-6, group_by="ward", keys="select")
    assert {row["group"][0] for row in found.rows} <= {"a", "b", "c", "d"}
    assert found.certificate.delta <= 1e-6


def test_people_are_protected_with_all_their_rows() -> None:
    limits: dict[str, Any] = {"unit": "patient", "rows_per_person": 4}
    page = release.page(VISITS, [Question.count(), Question.people()], epsilon=SHARP, **limits)
    assert abs(page["people"].estimate - 300) <= 3
    assert "patient" in page.certificate.unit
    again = release.page(VISITS, [Question.count()], epsilon=SHARP, unit="patient", rows_per_person=1)
    assert abs(again["count"].estimate - 300) <= 3
    suggested = release.suggest_limits(VISITS, unit="patient", epsilon=5.0)
    assert suggested.rows in (2, 4, 8) and suggested.certificate.epsilon <= 5.0


def test_a_budget_is_charged() -> None:
    budget = Budget(epsilon=1.0)
    release.page(VISITS, [Question.count()], epsilon=0.75, budget=budget)
    with pytest.raises(BudgetError):
        release.page(VISITS, [Question.count()], epsilon=0.75, budget=budget)


def test_data_may_be_frames_arrays_and_files(tmp_path: Path) -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    asked = [Question.mean("age", bounds=(0, 100))]
    for data in (pandas.DataFrame(VISITS), polars.DataFrame(VISITS), VISITS):
        assert abs(float(release.page(data, asked, epsilon=SHARP)["mean of age"]) - 39) <= 2
    csv = tmp_path / "visits.csv"
    pandas.DataFrame(VISITS).to_csv(csv, index=False)
    assert abs(float(release.page(csv, asked, epsilon=SHARP)["mean of age"]) - 39) <= 2
    page = release.page(np.ones((10, 2)), [Question.count("x1")], epsilon=SHARP)
    assert page.questions[0]["columns"] == ["x1"]


def test_a_page_is_a_frame_a_stream_and_files(tmp_path: Path) -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    pyarrow = pytest.importorskip("pyarrow")
    asked = [Question.count(), Question.histogram("ward", categories=["a", "b"])]
    page = release.page(VISITS, asked, epsilon=1.0, group_by="ward", keys=["a", "b"])
    columns = ["ward", "question", "cell", "estimate", "low", "high", "unit"]
    frame = page.to_frame()
    assert isinstance(frame, pandas.DataFrame) and list(frame.columns) == columns and len(frame) == 6
    for library, kind in (("polars", polars.DataFrame), ("pyarrow", pyarrow.Table)):
        own = page.to_frame(library)
        assert isinstance(own, kind) and own.shape == (6, 7)
    table = pyarrow.table(page)
    assert table.column_names == columns
    assert table["estimate"].to_pylist() == frame["estimate"].tolist()
    # A stream is made anew for every consumer, and one that is dropped unread does no harm.
    page.__arrow_c_stream__()
    assert polars.DataFrame(page)["low"].to_list() == frame["low"].tolist()
    for name in ("page.csv", "page.parquet", "page.html", "page.json"):
        page.save(tmp_path / name)
    assert pandas.read_csv(tmp_path / "page.csv").shape == (6, 7)
    assert pandas.read_parquet(tmp_path / "page.parquet").shape == (6, 7)
    assert json.loads((tmp_path / "page.json").read_text()) == page.to_dict()
    text = (tmp_path / "page.html").read_text()
    assert "<svg" in text and "<script" not in text
    assert pickle.loads(pickle.dumps(page)) == page
    assert "count" in repr(page) and "<table>" in page._repr_html_()


def test_a_report_is_read_and_overridden(tmp_path: Path) -> None:
    report = tmp_path / "report.toml"
    report.write_text('epsilon = 1.0\n[[questions]]\nkind = "mean"\ncolumn = "age"\nbounds = [0, 100]\n')
    page = release.page(VISITS, report=report)
    assert page.questions[0]["name"] == "mean of age" and page.epsilon <= 1.0
    assert release.page(VISITS, report=report, epsilon=0.5).epsilon <= 0.5
    report.write_text("epsilon = \n")
    with pytest.raises(ReticentError):
        release.page(VISITS, report=report)


def test_the_command_and_python_have_the_same_questions() -> None:
    page = release.page(
        FLIGHTS,
        [Question.count(), Question.mean("arr_delay", bounds=(-60, 180))],
        epsilon=20.0,
        unit="tailnum",
        rows_per_person=67,
        groups_per_person=3,
        group_by="origin",
        keys=["EWR", "JFK", "LGA"],
    )
    counts = {row["group"][0]: row["estimate"] for row in page.rows if row["question"] == "count"}
    assert abs(counts["EWR"] - 10175) <= 400
    assert page.figures("count", "EWR")[0].estimate == counts["EWR"]


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"questions": None}, "questions"),
        ({"questions": "count"}, "questions"),
        ({"questions": [1]}, "questions"),
        ({"questions": [Question.count()], "epsilon": float("nan")}, "epsilon"),
        ({"questions": [Question.count()], "epsilon": "1"}, "epsilon"),
        ({"questions": [Question.count()], "epsilon": 1.0, "split": "evenly"}, "split"),
        ({"questions": [Question.count()], "epsilon": 1.0, "keys": ["a"]}, "group_by"),
        ({"questions": [Question.count()], "epsilon": 1.0, "where": 3}, "where"),
        ({"questions": [Question.count()], "epsilon": 1.0, "unit": "patient"}, "rows_per_person"),
        ({"questions": [Question.count()], "epsilon": 1.0, "unit": "patient", "rows_per_person": 0.5}, "rows_per_person"),
        ({"questions": [Question.count()], "epsilon": 1.0, "totals_per_person": 3}, "totals_per_person"),
        ({"questions": [Question.count()], "epsilon": 1.0, "group_by": "ward", "keys": "select"}, "delta"),
        ({"questions": [Question.count()], "epsilon": 1.0, "consistent": 1}, "consistent"),
        ({"questions": [Question.people()], "epsilon": 1.0}, "unit"),
        ({"questions": [Question.mean("age")], "epsilon": 1.0}, "bounds"),
    ],
)
def test_bad_arguments_are_refused_by_name(arguments: dict[str, Any], field: str) -> None:
    with pytest.raises(ReticentError) as caught:
        release.page(VISITS, **arguments)
    assert caught.value.field == field, caught.value


def test_bad_questions_are_refused_where_they_are_made() -> None:
    for make in (
        lambda: Question.mean("age", bounds=(1, 2, 3)),
        lambda: Question.mean("age", bounds="ab"),
        lambda: Question.mean("age", weigth=2),
        lambda: Question.mean(None, bounds=(0, 1)),  # type: ignore[arg-type]
        lambda: Question.quantiles("age", "half"),  # type: ignore[arg-type]
        lambda: Question.top("age", 1.5),  # type: ignore[arg-type]
        lambda: Question.covariance("a", "b", bounds=(0, 1)),
        lambda: Question.contingency(["a"]),  # type: ignore[arg-type]
        lambda: Question.histogram("age", dates=[object()]),
    ):
        with pytest.raises((InvalidValueError, RequestError)):
            make()
    with pytest.raises(AttributeError):
        Question.count().kind = "sum"  # type: ignore[attr-defined]
    with pytest.raises(InvalidValueError):
        release.preview_page(VISITS, [Question.count()], epsilom=1.0)


def test_new_statistics_are_pages_of_one_question() -> None:
    pair: dict[str, Any] = {"bounds": [(0, 100), (0, 10)], "epsilon": 1.0}
    pages = [
        release.people(VISITS, unit="patient", epsilon=1.0),
        release.variance(VISITS, "age", bounds=(0, 100), epsilon=1.0),
        release.stddev(VISITS, "age", bounds=(0, 100), epsilon=1.0),
        release.quantiles(VISITS, "age", [0.5], bounds=(0, 100), epsilon=1.0),
        release.covariance(VISITS, "age", "cost", **pair),
        release.correlation(VISITS, "age", "cost", **pair),
        release.trend(VISITS, "age", "cost", **pair),
        release.distinct(VISITS, "ward", categories=["a", "b"], epsilon=1.0),
        release.top(VISITS, "ward", 2, categories=["a", "b", "c"], epsilon=1.0),
        release.contingency(VISITS, {"ward": ["a", "b"], "age": [0, 40, 80]}, epsilon=1.0),
    ]
    assert all(len(page.questions) == 1 and page.rows for page in pages)
