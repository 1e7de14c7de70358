"""The public interface as a whole: names, documentation, imports, results and errors."""

from __future__ import annotations

import copy
import importlib
import inspect
import json
import pickle
import re
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import reticent
from reticent import _native, errors

PACKAGE = Path(reticent.__file__).resolve().parent
ROOT = Path(__file__).resolve().parents[2]
MODULES = ["accounting", "audit", "errors", "mechanisms", "models", "preprocessing", "release", "train"]


def module(name: str) -> Any:
    return importlib.import_module(f"reticent.{name}" if name else "reticent")


NAMES = [(own, name) for own in ["", *MODULES] for name in module(own).__all__]


# Names


@pytest.mark.parametrize("own", ["", *MODULES])
def test_modules(own: str) -> None:
    names = module(own).__all__
    assert inspect.getdoc(module(own))
    assert len(set(names)) == len(names)
    assert set(names) <= set(dir(module(own)))
    namespace: dict[str, Any] = {}
    exec(f"from {module(own).__name__} import *", namespace)
    assert set(names) <= namespace.keys()


@pytest.mark.parametrize(("own", "name"), NAMES)
def test_every_name_is_there_and_documented(own: str, name: str) -> None:
    value = getattr(module(own), name)
    if name == "__version__":
        assert re.fullmatch(r"\d+\.\d+\.\d+.*", value)
        return
    text = inspect.getdoc(value)
    assert text and len(text) > 10, f"{own}.{name} has no docstring"
    if inspect.isclass(value) and value.__module__.startswith("reticent"):
        inherited = value.__mro__[1].__doc__
        assert value.__doc__ and value.__doc__ != inherited, f"{own}.{name} has the docstring of its base"
        for method, member in vars(value).items():
            if method.startswith("_") or not (inspect.isfunction(member) or isinstance(member, property)):
                continue
            assert inspect.getdoc(getattr(value, method)), f"{own}.{name}.{method} has no docstring"


@pytest.mark.parametrize(("own", "name"), NAMES)
def test_nothing_of_the_inside_shows(own: str, name: str) -> None:
    """What is public says that it comes from a public module, so documentation and pickles can name it."""
    value = getattr(module(own), name)
    if inspect.ismodule(value) or not hasattr(value, "__module__"):
        return
    signature = ""
    try:
        signature = str(inspect.signature(value))
    except (TypeError, ValueError):
        pass
    assert "_native" not in signature, f"{own}.{name}{signature}"


def test_unknown_names() -> None:
    for own in ["", *MODULES]:
        with pytest.raises(AttributeError, match="no attribute 'nothing'"):
            module(own).nothing  # noqa: B018


def test_the_stubs_have_every_native_name() -> None:
    stubs = (PACKAGE / "_native.pyi").read_text()
    for name in dir(_native):
        if not name.startswith("__"):
            assert re.search(rf"^(def|class) {name}\b", stubs, re.MULTILINE), name
    for name in re.findall(r"^(?:def|class) (\w+)", stubs, re.MULTILINE):
        assert hasattr(_native, name), name


def test_the_version_is_that_of_the_workspace() -> None:
    if not (ROOT / "Cargo.toml").exists():
        pytest.skip("not in a clone")
    found = re.search(r'^version = "([^"]+)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)
    assert found and found[1] == reticent.__version__


# Imports


def child(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
        env={"PYTHONPATH": str(PACKAGE.parent), "PATH": "/usr/bin:/bin"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


HEAVY = {
    "pandas",
    "sklearn",
    "torch",
    "scipy",
    "polars",
    "pyarrow",
    "duckdb",
    "matplotlib",
    "tqdm",
    "opacus",
    "joblib",
}


@pytest.mark.parametrize(
    "names", ["", "accounting", "mechanisms", "release", "accounting mechanisms release errors"]
)
def test_an_import_brings_only_numpy(names: str) -> None:
    imports = "".join(f"import reticent.{name}; " for name in names.split())
    loaded = set(child(f"import reticent; {imports}import sys; print(*sys.modules)").split())
    assert not loaded & HEAVY
    foreign = (
        {name.split(".")[0] for name in loaded}
        - set(sys.stdlib_module_names)
        - {"numpy", "reticent", "__main__"}
    )
    # What an installation adds to every interpreter at its start is not ours.
    at_start = {name.split(".")[0] for name in child("import numpy, sys; print(*sys.modules)").split()}
    assert foreign <= at_start, foreign - at_start


@pytest.mark.parametrize("name", ["audit", "train"])
def test_large_packages_are_imported_when_they_are_used(name: str) -> None:
    loaded = set(child(f"import reticent.{name}, sys; print(*sys.modules)").split())
    assert not loaded & (HEAVY - {"scipy", "joblib"})


def test_an_import_is_fast() -> None:
    """At most 100 ms without NumPy; the limit here leaves room for a busy machine."""
    code = "import numpy, time; a = time.perf_counter(); import reticent; print(time.perf_counter() - a)"
    seconds = min(float(child(code)) for _ in range(3))
    print(f"import reticent: {1000 * seconds:.1f} ms beside NumPy")
    assert seconds < 0.5


def test_an_import_writes_nothing() -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-X",
            "dev",
            "-W",
            "error",
            "-c",
            "import reticent; reticent.accounting; reticent.release",
        ],
        capture_output=True,
        text=True,
        timeout=60,
        env={"PYTHONPATH": str(PACKAGE.parent), "PATH": "/usr/bin:/bin"},
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


# Results


@cache
def results() -> dict[str, Any]:
    """One result of every kind that is quick to make."""
    from reticent import accounting, audit, mechanisms, release
    from reticent.accounting import Gaussian

    run = Gaussian(2.0).poisson(0.1) * 10
    people = {"age": [float(age % 80) for age in range(200)], "sex": ["f", "m"] * 100}
    scores = np.random.default_rng(0).normal(size=100)
    target = {"target_epsilon": 1.0, "target_delta": 1e-5}
    budgeted = {"epsilon": 1.0}
    bounds = {"bounds": (0, 100), **budgeted}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found: dict[str, Any] = {
            "noisy number": mechanisms.laplace(1.0, sensitivity=1.0, epsilon=1.0),
            "noisy integer": mechanisms.discrete_laplace(1, sensitivity=1, epsilon=1.0),
            "noisy array": mechanisms.gaussian(np.zeros((2, 3)), sensitivity=1.0, epsilon=1.0, delta=1e-6),
            "noisy without limit": mechanisms.laplace(1.0, sensitivity=1.7e308, epsilon=1.0),
            "randomized": mechanisms.randomized_response(["a", "b"], categories=["a", "b"], epsilon=1.0),
            "proportions": mechanisms.estimate_proportions(["a", "b"], categories=["a", "b"], epsilon=1.0),
            "selected": mechanisms.exponential([1.0, 2.0], sensitivity=1.0, epsilon=1.0),
            "events": run,
            "epsilon": run.epsilon(delta=1e-5),
            "delta": run.delta(epsilon=1.0),
            "rdp": run.rdp([2.0, 8.0], delta=1e-5),
            "tradeoff": run.tradeoff([0.1]),
            "reconstruction": run.reconstruction([0.1]),
            "compare": run.compare(delta=1e-5),
            "statement": run.statement(delta=1e-5),
            "group": run.group(2, delta=1e-5),
            "outcome": run.outcome(0.1, delta=1e-5),
            "beliefs": run.posterior([0.5], delta=1e-5),
            "noise": accounting.noise_multiplier(**target, sample_rate=0.1, steps=10),
            "steps": accounting.steps(**target, noise_multiplier=5.0, sample_rate=0.1),
            "rate": accounting.rate(**target, noise_multiplier=5.0, steps=10),
            "formula": accounting.formula("gaussian", epsilon=0.5, delta=1e-5, sensitivity=1.0),
            "count": release.count(people, **budgeted),
            "sum": release.sum(people, "age", **bounds),
            "mean": release.mean(people, "age", **bounds),
            "median": release.median(people, "age", **bounds),
            "histogram": release.histogram(people, "sex", categories=["f", "m"], **budgeted),
            "mode": release.mode(people, "sex", categories=["f", "m"], **budgeted),
            "proportion": release.proportion(people, "sex", value="f", **budgeted),
            "preview": release.sum.preview(people, "age", **bounds),
            "schema": release.learn_schema(people, epsilon=1.0, delta=1e-3),
            "draft": release.draft_schema(people),
            "audit": audit.audit(scores, np.arange(100) % 2 == 0),
        }
    found["certificate"] = found["count"].certificate
    found["attack"] = found["audit"].attack()
    return found


RESULTS = (
    "noisy number", "noisy integer", "noisy array", "noisy without limit", "randomized",
    "proportions", "selected", "events", "epsilon", "delta", "rdp", "tradeoff",
    "reconstruction", "compare", "statement", "group", "outcome", "beliefs", "noise", "steps", "rate", "formula", "count", "sum",
    "mean", "median", "histogram", "mode", "proportion", "preview", "schema", "draft", "audit",
    "certificate", "attack",
)  # fmt: skip


def test_all_results_are_listed() -> None:
    assert set(RESULTS) == results().keys()


@pytest.mark.parametrize("name", RESULTS)
def test_results_are_plain_data(name: str) -> None:
    fields = results()[name].to_dict()
    assert isinstance(fields, dict) and fields
    again = json.loads(json.dumps(fields, allow_nan=name == "noisy without limit"))
    assert again == fields or name in ("noisy array", "events")
    # It is a copy: changing it does not change the result.
    before = json.dumps(fields)
    for key in list(fields):
        fields[key] = None
    assert json.dumps(results()[name].to_dict()) == before


@pytest.mark.parametrize("name", RESULTS)
def test_results_can_be_read(name: str) -> None:
    result = results()[name]
    shown = repr(result)
    assert 0 < len(shown) < 5000 and " object at 0x" not in shown
    assert "NaN" not in shown and "None" not in shown.replace("None of", "")
    page = getattr(result, "_repr_html_", None)
    if page is None:
        assert name.split()[0] in ("noisy", "randomized", "selected"), (
            f"{type(result).__name__} has no _repr_html_"
        )
        return
    html = page()
    assert isinstance(html, str) and html.count("<table") == html.count("</table") and "<script" not in html


@pytest.mark.parametrize("name", RESULTS)
def test_results_can_be_stored_and_copied(name: str) -> None:
    result = results()[name]
    for again in (pickle.loads(pickle.dumps(result)), copy.copy(result), copy.deepcopy(result)):
        assert type(again) is type(result)
        assert json.dumps(again.to_dict(), default=str) == json.dumps(result.to_dict(), default=str)
        assert repr(again) == repr(result)


@pytest.mark.parametrize("name", RESULTS)
def test_results_cannot_be_changed(name: str) -> None:
    with pytest.raises(AttributeError):
        results()[name].epsilon = 0.0


def test_texts_in_pages_are_escaped() -> None:
    from reticent import release

    name = "<script>alert(1)</script>"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = release.histogram({name: ["<b>", "&"]}, name, categories=["<b>", "&"], epsilon=1.0)
    for page in (found._repr_html_(), found.plot(), found.certificate._repr_html_()):
        assert "<script>" not in page and "<b>" not in page


# Errors

KINDS = [getattr(errors, name) for name in errors.__all__]


@pytest.mark.parametrize("kind", KINDS)
def test_errors_survive_pickling(kind: type[errors.ReticentError]) -> None:
    error = kind("epsilon = -1: give more", code="R201", field="epsilon", value="-1", remedy="give more")
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert type(again) is kind and str(again) == str(error) and again.args == error.args
        for field in ("code", "field", "value", "remedy"):
            assert getattr(again, field) == getattr(error, field)


def test_errors_without_details() -> None:
    for kind in KINDS:
        error = kind("what is wrong")
        assert (str(error), error.field, error.value) == ("what is wrong", None, None)
        assert error.remedy == "what is wrong" and re.fullmatch(r"R\d{3}", error.code)
        assert issubclass(kind, errors.ReticentError) and issubclass(kind, Exception)


def raised(call: Callable[[], object]) -> errors.ReticentError:
    with pytest.raises(errors.ReticentError) as caught:
        call()
    return caught.value


def test_errors_of_the_library_survive_pickling() -> None:
    from reticent import mechanisms, release

    budget = reticent.Budget(epsilon=0.1)
    for call, kind, field in (
        (lambda: mechanisms.laplace(1.0, sensitivity=1.0, epsilon=-1.0), errors.InvalidValueError, "epsilon"),
        (
            lambda: mechanisms.laplace(1.0, sensitivity=1.0, epsilon=1.0, budget=budget),
            errors.BudgetError,
            None,
        ),
        (lambda: release.mean({"x": [1.0]}, "y", bounds=(0, 1), epsilon=1.0), errors.DataError, "column"),
        (lambda: _native.account("{}"), errors.RequestError, None),
    ):
        error = raised(call)
        assert type(error) is kind and (field is None or error.field == field), error
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again), again.code, again.field) == (
            kind,
            str(error),
            error.code,
            error.field,
        )


def codes() -> list[tuple[str, str]]:
    """All codes, as the source declares them."""
    source = ROOT / "crates" / "core" / "src" / "code" / "mod.rs"
    if not source.exists():
        return []
    return re.findall(r"^    (\w+) = (\d{3}),", source.read_text(), re.MULTILINE)


def test_every_code_is_explained() -> None:
    found = codes()
    if not found:
        pytest.skip("not in a clone")
    assert len(found) > 40 and len({number for _, number in found}) == len(found)
    for name, number in found:
        text = reticent.explain(f"R{number}")
        assert text.startswith(f"R{number}: ") and len(text.splitlines()) >= 3, name
        assert reticent.explain(f"r{number}") == text == reticent.explain(number)
        error = errors.from_refusal("x", code=int(number), field=None, value=None, remedy="")
        assert error.code == f"R{number}" and type(error) is not errors.ReticentError
        assert isinstance(error, errors.InternalError) == number.startswith("9"), name


def test_other_codes_are_not_explained() -> None:
    known = {number for _, number in codes()}
    others: list[Any] = [
        "",
        "R",
        "RR",
        "R20",
        "R2011",
        "-201",
        "R-01",
        "2 1",
        "R999",
        None,
        201,
        b"R201",
        "²01",
        1e9,
    ]
    for code in [
        *others,
        *(f"R{number}" for number in range(100, 1000) if known and str(number) not in known),
    ]:
        error = raised(lambda code=code: reticent.explain(code))  # type: ignore[misc]
        assert error.code == "R105" and error.field == "code"


def test_unknown_refusals_are_defects() -> None:
    assert (
        type(errors.from_refusal("x", code=999, field=None, value=None, remedy="y")) is errors.InternalError
    )
    for code in (405, 406):
        assert (
            type(errors.from_refusal("x", code=code, field=None, value=None, remedy="y"))
            is errors.BudgetError
        )


# Speed


def test_calls_are_cheap() -> None:
    """A release build takes at most 20 µs for a number, and 1 µs for each number of a long array."""
    from reticent import mechanisms

    def seconds(call: Callable[[], object], times: int) -> float:
        best = float("inf")
        for _ in range(3):
            began = time.perf_counter()
            for _ in range(times):
                call()
            best = min(best, (time.perf_counter() - began) / times)
        return best

    one = seconds(lambda: mechanisms.laplace(1.0, sensitivity=1.0, epsilon=1.0), 300)
    array = np.zeros(20_000)
    each = seconds(lambda: mechanisms.laplace(array, sensitivity=1.0, epsilon=1.0), 3) / len(array)
    print(f"a number: {1e6 * one:.1f} µs; of an array: {1e6 * each:.3f} µs")
    assert one < 400e-6 and each < 10e-6
