"""Keys of stored models: what they tell apart, and what they cannot."""

from __future__ import annotations

import functools
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import reticent
from reticent import errors
from reticent.audit.design import drawn_design
from reticent.audit.digests import Unknown, digest_of, estimator_tokens, factory_tokens, hash_of

RATE: Any = 0.1
RECORD: list[int] = []


def key(function: Any) -> str:
    return hash_of(factory_tokens(function))


def inner() -> Any:
    return RATE


def reads_a_global(subset: Any = None, seed: int = 0) -> Any:
    return inner()


class Settings:
    def __init__(self, rate: Any) -> None:
        self.rate = rate


class Maker:
    def __init__(self, rate: Any) -> None:
        self.settings = Settings(rate)

    def __call__(self) -> Any:
        return self.settings.rate


def closed(value: Any) -> Any:
    return lambda: value


LARGE = np.zeros(5000)
OTHER = LARGE.copy()
OTHER[2500] = 1.0


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (0.1, 0.2),
        (1, 1.0),
        (LARGE, OTHER),
        (LARGE, LARGE.reshape(50, 100)),
        (np.zeros(4, np.int32), np.zeros(4, np.float32)),
        ([LARGE], [OTHER]),
        ({"weights": LARGE}, {"weights": OTHER}),
        (Settings(1), Settings(2)),
        (Settings([LARGE]), Settings([OTHER])),
        (Maker(1), Maker(2)),
        (functools.partial(Settings, 1), functools.partial(Settings, 2)),
        ({1, 2}, {1, 3}),
        (Settings(1).__init__, Settings(2).__init__),
        (Path("a"), Path("b")),
        (int, float),
        (len, max),
    ],
)
def test_other_content_is_another_function(first: Any, second: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert key(closed(first)) == key(closed(first)) != key(closed(second))
    assert key(lambda own=first: own) != key(lambda own=second: own)
    # By a global of a function that is called.
    monkeypatch.setattr(sys.modules[__name__], "RATE", first)
    one = key(reads_a_global)
    assert one == key(reads_a_global)
    monkeypatch.setattr(sys.modules[__name__], "RATE", second)
    assert key(reads_a_global) != one
    estimators = [estimator_tokens(Settings(value)) for value in (first, second)]
    assert estimators[0] != estimators[1] and not isinstance(hash_of(estimators[0]), Unknown)


def test_tensors_are_told_apart() -> None:
    torch = pytest.importorskip("torch")
    zeros, ones = torch.zeros(5000), torch.zeros(5000)
    ones[2500] = 1.0
    assert key(closed(zeros)) == key(closed(zeros.clone())) != key(closed(ones))
    assert key(closed(zeros)) != key(closed(zeros.double()))
    first, second = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
    assert key(closed(first)) == key(closed(first)) != key(closed(second))
    second.load_state_dict(first.state_dict())
    assert key(closed(first)) == key(closed(second))

    def decorated(value: Any) -> Any:
        @torch.no_grad()
        def make(subset: Any, seed: int) -> Any:
            return value

        return make

    assert key(decorated(1)) == key(decorated(1)) != key(decorated(2))
    assert not isinstance(key(decorated(1)), Unknown)


def test_tables_are_told_apart() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": LARGE, "b": "x"})
    assert key(closed(frame)) == key(closed(frame.copy())) != key(closed(frame.assign(a=OTHER)))
    assert key(closed(frame.a)) != key(closed(pandas.Series(OTHER)))
    masked = [np.ma.masked_array([1.0, 2.0], mask=mask) for mask in ([0, 1], [0, 0])]
    assert digest_of(masked[0]) != digest_of(masked[1])
    first, second = (digest_of(np.array([own, None], dtype=object)) for own in (LARGE, OTHER))
    assert first != second


def test_estimators_are_told_apart() -> None:
    pytest.importorskip("sklearn")
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    # Texts of arrays of more than 1000 numbers are cut.
    priors = [np.full(2000, 1 / 2000), np.full(2000, 1 / 2000)]
    priors[1][1000] = 0.5
    first, second = (estimator_tokens(GaussianNB(priors=own)) for own in priors)
    assert first != second and first == estimator_tokens(GaussianNB(priors=priors[0].copy()))
    pipes = [estimator_tokens(make_pipeline(StandardScaler(), LogisticRegression(C=C))) for C in (1, 1, 2)]
    assert pipes[0] == pipes[1] != pipes[2]
    assert key(GaussianNB) == key(GaussianNB) != key(StandardScaler)
    # What a given estimator was fitted to does not matter, since it is cloned; that of another one does.
    fitted = GaussianNB().fit([[0.0], [1.0]], [0, 1])
    assert key(fitted) == key(GaussianNB()) and key(closed(fitted)) != key(closed(GaussianNB()))
    assert not isinstance(key(closed(fitted)), Unknown)
    rng = np.random.RandomState(0)
    before = estimator_tokens(LogisticRegression(random_state=rng))
    rng.normal()
    assert estimator_tokens(LogisticRegression(random_state=rng)) == before


def test_changed_code_is_another_function() -> None:
    def of(source: str) -> Any:
        scope: dict[str, Any] = {"__name__": "__main__"}
        exec(source, scope)
        return scope["make"]

    helper = "def help():\n    return {}\ndef make():\n    return help()"
    assert key(of(helper.format(1))) == key(of("\n\n" + helper.format(1))) != key(of(helper.format(2)))
    own = "class Own:\n    rate = {}\n    def fit(self):\n        return {}\ndef make():\n    return Own()"
    assert len({key(of(own.format(*pair))) for pair in ((1, 1), (1, 2), (2, 1))}) == 3
    again = "def make(n=3):\n    return n and make(n - 1)"
    assert key(of(again)) == key(of(again))


def test_a_record_of_what_was_done_does_not_matter() -> None:
    def make() -> None:
        RECORD.append(1)

    def reader() -> int:
        RECORD.append(1)
        return len(RECORD)

    keys = key(make), key(reader)
    make()
    assert key(make) == keys[0] and key(reader) != keys[1]


def test_keys_are_the_same_in_every_process() -> None:
    source = (
        "from test_audit_digests import *\n"
        "print(key(closed({'a', 'b', 'c'})), key(Maker([1, 'x'])), key(reads_a_global), key(closed(OTHER)))"
    )
    here, package = Path(__file__).parent, Path(reticent.__file__).parents[1]
    found = set()
    for seed in ("1", "2"):
        paths = f"{package}:{here}"
        environment = {"PYTHONPATH": paths, "PYTHONHASHSEED": seed}
        call = [sys.executable, "-c", source]
        found.add(subprocess.run(call, env=environment, capture_output=True, check=True).stdout)
    assert len(found) == 1


def test_what_cannot_be_keyed_cannot_be_stored(tmp_path: Path) -> None:
    nested: Any = []
    for _ in range(200):
        nested = [nested]
    with open(__file__, encoding="utf-8") as file:
        for value in (threading.Lock(), file, (own for own in "ab"), memoryview(b"ab"), nested):
            unknown = hash_of(factory_tokens(closed(Settings(value))))
            assert isinstance(unknown, Unknown)
            settings = {"make_estimator": unknown}
            with pytest.raises(errors.RequestError) as caught:
                drawn_design(40, None, None, tmp_path / "audit", {}, settings)
            assert caught.value.field == "out" and "make_estimator" in str(caught.value)
            assert not (tmp_path / "audit").exists()
            # Nothing is stored without a folder, so nothing can be taken for something else.
            assert drawn_design(40, None, None, None, {}, settings).member.size == 40
    cycle: Any = Settings(1)
    cycle.own = cycle
    assert key(closed(cycle)) == key(closed(cycle)) and not isinstance(key(closed(cycle)), Unknown)


def test_models_of_another_global_are_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sklearn")
    from sklearn.tree import DecisionTreeClassifier

    from reticent.audit import audit_sklearn

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.arange(60) % 2

    class Own:
        """An estimator that has no parameters."""

        def __init__(self) -> None:
            self.own = DecisionTreeClassifier(max_depth=RATE, random_state=0)

        def fit(self, X: Any, y: Any) -> Any:
            self.own.fit(X, y)
            return self

        def predict(self, X: Any) -> Any:
            return self.own.predict(X)

    monkeypatch.setattr(sys.modules[__name__], "RATE", 2)
    for _ in range(2):
        audit_sklearn(lambda: Own(), X, y, references=0, out=tmp_path / "audit")
    monkeypatch.setattr(sys.modules[__name__], "RATE", 3)
    with pytest.raises(errors.ModelError) as caught:
        audit_sklearn(lambda: Own(), X, y, references=0, out=tmp_path / "audit")
    assert caught.value.field == "make_estimator" and caught.value.code == "R503"


def test_users_whose_names_end_in_nul_are_two_users() -> None:
    texts = drawn_design(42, [0, 1] * 21, ["a", "a\0", "b"] * 14, None, {}, {}).units
    assert texts.tolist() == [0, 1, 2] * 14
    numbers = drawn_design(42, [0, 1] * 21, np.arange(42) // 3, None, {}, {}).units
    assert numbers.tolist() == (np.arange(42) // 3).tolist()
