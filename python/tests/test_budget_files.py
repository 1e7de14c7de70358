"""Budgets in files: shared by processes, remembered answers, history."""

from __future__ import annotations

import copy
import json
import multiprocessing
import os
import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import reticent
from reticent import errors, mechanisms, release
from reticent.models import LogisticRegression


@pytest.fixture
def people(tmp_path: Path) -> str:
    path = tmp_path / "people.csv"
    path.write_text("age,sex\n" + "".join(f"{20 + row % 50},{row % 2}\n" for row in range(400)))
    return str(path)


@pytest.fixture
def budget(tmp_path: Path, people: str) -> reticent.Budget:
    return reticent.Budget.create(tmp_path / "people.budget", epsilon=1.0, data=people)


def test_the_same_question_is_free(budget: reticent.Budget, people: str) -> None:
    path = budget.path
    assert path is not None
    first = release.mean(people, "age", bounds=(0, 120), epsilon=0.5, budget=budget)
    again = release.mean(people, "age", bounds=(0, 120), epsilon=0.5, budget=reticent.Budget.open(path))
    assert (first.value, first.interval) == (again.value, again.interval)
    assert first.budget is not None and first.budget["still"]["question"] == "mean"
    assert 0.49 <= first.budget["still"]["epsilon"] <= 0.5
    assert again.budget is not None and again.budget["remembered"] and not again.budget["charges"]
    assert budget.spent == (0.5, 0.0)
    fresh = release.mean(
        people, "age", bounds=(0, 120), epsilon=0.5, budget=reticent.Budget.open(path, refresh=True)
    )
    assert len(budget.history()) == 2 and fresh.value != first.value
    with pytest.raises(errors.BudgetError) as refused:
        release.count(people, epsilon=0.25, budget=budget)
    assert refused.value.code == "R405"
    cells = release.histogram.preview(people, "sex", categories=["0", "1"], epsilon=0.1)
    assert cells.epsilon == 0.1


def test_a_histogram_comes_back_with_its_labels(budget: reticent.Budget, people: str) -> None:
    first, again = (
        release.histogram(people, "sex", categories=["0", "1"], epsilon=0.5, budget=budget) for _ in range(2)
    )
    assert first.value == again.value and first.query == again.query
    assert len(budget.events) == 1


def test_terms_and_history(budget: reticent.Budget, people: str, tmp_path: Path) -> None:
    assert (budget.epsilon, budget.delta, budget.left, budget.spent) == (1.0, 0.0, 1.0, (0.0, 0.0))
    release.count(people, epsilon=0.25, budget=budget)
    budget.allot(0.5, analyst="ana")
    ana = budget.asked_by("ana", "report")
    release.count(people, where="age>=30", epsilon=0.25, budget=ana)
    charges = budget.history()
    assert [charge["analyst"] for charge in charges] == [None, "ana"]
    assert charges[1]["purpose"] == "report" and charges[1]["cost"]["epsilon"] == 0.25
    assert len(budget.history(analyst="ana")) == 1 and len(budget.history(last=1)) == 1
    with pytest.raises(errors.BudgetError) as refused:
        release.count(people, where="age>=40", epsilon=0.1, budget=budget)
    assert refused.value.code == "R704"
    assert budget.verify() == []
    assert budget.export()["schema"] == "reticent-budget/1"
    assert "</html>" in Path(budget.page(tmp_path / "page.html")).read_text()
    assert "people" in repr(budget) and "Budget of people" in budget._repr_html_()
    budget.close()
    with pytest.raises(errors.BudgetError) as refused:
        release.count(people, where="age>=40", epsilon=0.1, budget=ana)
    assert refused.value.code == "R701"


def test_data_in_memory_have_a_budget_of_their_own(tmp_path: Path, people: str) -> None:
    frame = {"age": np.arange(100) % 60}
    memory = reticent.Budget.create(tmp_path / "memory.budget", epsilon=2.0)
    for _ in range(2):
        release.count(frame, epsilon=0.25, budget=memory)
    # Nothing tells one data frame from another: both were paid for.
    assert len(memory.history()) == 2
    mechanisms.laplace(10.0, sensitivity=1.0, epsilon=0.25, budget=memory)
    labels = np.arange(100) % 2
    model = LogisticRegression(epsilon=1.0, bounds=(0, 60), classes=(0, 1))
    model.fit(np.arange(100.0)[:, None] % 60, labels, budget=memory)
    assert len(memory.history()) == 4
    with pytest.raises(errors.BudgetError) as refused:
        release.count(people, epsilon=0.1, budget=memory)
    assert refused.value.code == "R705"
    memory.add_data(people)
    release.count(people, epsilon=0.1, budget=memory)


def test_processes_and_threads_share_it(budget: reticent.Budget, people: str) -> None:
    def ask(age: int) -> bool:
        try:
            release.count(people, where=f"age>={age}", epsilon=0.04, budget=budget)
        except errors.BudgetError as error:
            assert error.code == "R405"
            return False
        return True

    with ThreadPoolExecutor(4) as threads:
        done = sum(threads.map(ask, range(20, 30)))
    assert done == 10
    context = multiprocessing.get_context("fork")
    with context.Pool(4) as pool:
        done += sum(pool.map(_asked, [(budget.path, people, age) for age in range(30, 60)]))
    # 0.04 is a little more than 1/25, and sums are rounded up.
    assert done in (24, 25)
    assert len(budget.history()) == done


def _asked(given: tuple[str, str, int]) -> bool:
    path, people, age = given
    try:
        release.count(people, where=f"age>={age}", epsilon=0.04, budget=reticent.Budget.open(path))
    except errors.BudgetError:
        return False
    return True


def test_it_can_be_pickled_by_its_path(budget: reticent.Budget, people: str) -> None:
    release.count(people, epsilon=0.25, budget=budget)
    for again in (pickle.loads(pickle.dumps(budget)), copy.copy(budget), copy.deepcopy(budget)):
        assert again.left == budget.left == 0.75


def test_wrong_input_is_refused(tmp_path: Path, people: str) -> None:
    path = tmp_path / "b.budget"
    for fields in (
        {"epsilon": 0.0},
        {"epsilon": float("nan")},
        {"epsilon": 1.0, "delta": 2.0},
        {"epsilon": 1.0, "unit": ""},
        {"epsilon": 1.0, "valid_until": "tomorrow"},
        {"epsilon": 1.0, "data": []},
        {"epsilon": 1.0, "data": 7},
        {"epsilon": 1.0, "unit": "id", "neighboring": "replace-one"},
    ):
        with pytest.raises(errors.ReticentError):
            reticent.Budget.create(path, **fields)  # type: ignore[arg-type]
    assert not path.exists()
    with pytest.raises(errors.ReticentError):
        reticent.Budget.open(path)
    memory = reticent.Budget(epsilon=1.0)
    assert memory.path is None and "Budget of the data" in memory._repr_html_()
    with pytest.raises(errors.RequestError):
        memory.history()
    for fields in ({"analyst": 7}, {"purpose": ""}):
        with pytest.raises(errors.ReticentError):
            reticent.Budget.create(tmp_path / "c.budget", epsilon=1.0, data=people)
            reticent.Budget.open(tmp_path / "c.budget", **fields)  # type: ignore[arg-type]
        os.remove(tmp_path / "c.budget")
    assert json.dumps(errors.BudgetError.__doc__)


def test_how_a_table_is_read_is_part_of_the_question(tmp_path: Path) -> None:
    file = tmp_path / "v.csv"
    file.write_text("age,cost\n" + "".join(f"{20 + row % 50},{100 + row % 10}\n" for row in range(1000)))
    budget = reticent.Budget.create(tmp_path / "v.budget", epsilon=20.0, data=file)
    tables = [reticent.read_table(file, derive=[f"x = {own} in 0,120"]) for own in ("age", "cost")]
    ages, costs = [release.mean(own, "x", bounds=(0, 120), epsilon=5, budget=budget) for own in tables]
    assert abs(float(ages) - 44.5) < 5 and abs(float(costs) - 104.5) < 5
    again = release.mean(tables[0], "x", bounds=(0, 120), epsilon=5, budget=budget)
    assert again.value == ages.value and len(budget.history()) == 2
    assert all("v.csv" in charge["about"] for charge in budget.history())
    # What a row is was settled with the data.
    other = reticent.read_table(file, quoting="none")
    with pytest.raises(errors.ReticentError) as refused:
        release.count(other, epsilon=0.1, budget=budget)
    assert refused.value.code == "R705"
    budget.add_data(file, reading={"quoting": "none"})
    release.count(other, epsilon=0.1, budget=budget)


def test_a_unit_of_the_schema_needs_limits(tmp_path: Path) -> None:
    file, schema = tmp_path / "v.csv", tmp_path / "s.toml"
    file.write_text("user,age\n1,30\n1,31\n2,40\n")
    schema.write_text('unit = { column = "user" }\n[columns]\nage = { bounds = [0, 120] }\n')
    with pytest.raises(errors.RequestError) as refused:
        release.mean(file, "age", bounds=(0, 120), epsilon=1, schema=schema)
    assert refused.value.code == "R102" and "all rows of one user" in str(refused.value)
    page = release.page(
        file,
        [release.Question.mean("age", bounds=(0, 120))],
        epsilon=1,
        schema=schema,
        rows_per_person=2,
    )
    assert page.certificate.unit == "all rows of one user"
