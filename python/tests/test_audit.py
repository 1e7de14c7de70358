"""Audits: arrays, files, stored models, and models that are trained for them."""

from __future__ import annotations

import csv
import json
import pickle
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reticent import Certificate, _native, errors
from reticent import audit as audits
from reticent.audit import EpsilonLower, audit, audit_canaries, audit_model, audit_sklearn, audit_torch, coins

SURE = 0.999999


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Nothing is left where temporary files are made."""
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    yield place
    left = [path for path in place.iterdir() if path.name.startswith("reticent-")]
    assert left == []


@contextmanager
def refused(kind: type[errors.ReticentError], field: str | None, code: str | None = None) -> Iterator[Any]:
    """A refusal of this class about this argument, in one line."""
    with pytest.raises(kind) as caught:
        yield caught
    assert caught.value.field == field and code in (None, caught.value.code)
    assert "\n" not in str(caught.value)


def leaky(count: int = 400, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Scores that tell members from others, by fair coins."""
    member = coins(count)
    return np.random.default_rng(seed).normal(size=count) + 2 * member, member


def memorable(count: int = 300, classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Records whose classes can only be learned by heart."""
    rng = np.random.default_rng(3)
    return rng.normal(size=(count, 4)), rng.integers(classes, size=count)


# Arrays


def test_a_leak_is_found_and_random_scores_prove_nothing() -> None:
    scores, member = leaky()
    found = audit(scores, member, drawn=0.5)
    assert found.headline == "given-score" and 0.8 < found.auc < 1
    assert found.epsilon_lower is not None and found.epsilon_lower.value > 1
    assert found.epsilon_lower.confidence == 0.95 and found.epsilon_lower_reason is None
    noise = audit(np.random.default_rng(1).normal(size=400), member, drawn=0.5, confidence=SURE)
    assert noise.epsilon_lower is not None and noise.epsilon_lower.value == 0


def test_a_lower_bound_needs_the_draw() -> None:
    scores, member = leaky()
    found = audit(scores, member)
    assert found.epsilon_lower is None and "`drawn=P`" in str(found.epsilon_lower_reason)
    for name, value in {"delta": 1e-5, "bound": "one-run", "guesses": 0.1}.items():
        with refused(errors.RequestError, name):
            audit(scores, member, **{name: value})
    with refused(errors.RequestError, "drawn"):
        audit(scores, member, drawn=0.5, bound="none")
    assert audit(scores, member, bound="none").epsilon_lower is None
    contradicted = audit(scores, member, drawn=0.99)
    assert contradicted.epsilon_lower is None and "contradicts" in str(contradicted.epsilon_lower_reason)


def test_every_draw_has_its_relation() -> None:
    scores, member = leaky()
    assert audit(scores, member, drawn="fixed").epsilon_lower.neighboring == "replace-one"
    first = coins(200)
    pairs = np.repeat(np.arange(200), 2)
    member = np.column_stack([first, ~first]).reshape(-1)
    scores = np.random.default_rng(0).normal(size=400) + 2 * member
    found = audit(scores, member, drawn="pairs", pairs=pairs)
    assert found.epsilon_lower.neighboring == "replace-one"
    with refused(errors.RequestError, "pairs", "R102"):
        audit(scores, member, drawn="pairs")
    for odd in (1.0, 0.0, -1.0, 2):
        with refused(errors.InvalidValueError, "drawn"):
            audit(scores, member, drawn=odd)
    for odd in ("half", float("nan"), [0.5], True):
        with refused(errors.InvalidValueError, "drawn"):
            audit(scores, member, drawn=odd)


def test_outputs_and_references() -> None:
    member = coins(300)
    rng = np.random.default_rng(2)
    labels = rng.integers(3, size=300)
    inside = rng.random((8, 300)) < 0.5

    def logits(mask: np.ndarray) -> np.ndarray:
        return rng.normal(size=(300, 3)) + 3 * mask[:, None] * np.eye(3)[labels]

    target, references = logits(member), np.stack([logits(mask) for mask in inside])
    shape = {"member": member, "labels": labels, "reference_members": inside, "drawn": 0.5}
    found = audit(target_logits=target, reference_logits=references, **shape)
    names = {attack.name for attack in found.attacks}
    assert {"lira-online", "rmia-offline", "yeom-loss"} <= names and found.auc > 0.7

    def softmax(values: np.ndarray) -> np.ndarray:
        powers = np.exp(values - values.max(axis=-1, keepdims=True))
        return powers / powers.sum(axis=-1, keepdims=True)

    other = audit(target_probabilities=softmax(target), reference_probabilities=softmax(references), **shape)
    assert other.attack("yeom-loss").auc.value == pytest.approx(found.attack("yeom-loss").auc.value, abs=1e-6)
    # Texts are numbered in sorted order.
    texts = np.array(["a", "b", "c"])[labels]
    named = audit(target_logits=target, reference_logits=references, **{**shape, "labels": texts})
    assert named.attack("yeom-loss").auc == found.attack("yeom-loss").auc
    chosen = audit(target_logits=target, reference_logits=references, attacks="lira-online", **shape)
    assert [attack.name for attack in chosen.attacks] == ["lira-online"]
    scored = audit(target[:, 0], member, reference_scores=references[:, :, 0], reference_members=inside)
    assert scored.headline.startswith("lira")


def test_arrays_of_every_kind_are_read_alike() -> None:
    scores, member = leaky()
    found = audit(scores, member)
    twice = np.repeat(scores, 2)[::2]
    frozen = scores.copy()
    frozen.flags.writeable = False
    for own in (twice, frozen, scores.tolist(), scores.astype(">f8"), scores.astype(object)):
        assert audit(own, member) == found
    for own in (member.astype(int), member.astype(float), member.tolist(), member.astype(object)):
        assert audit(scores, own) == found
    torch = pytest.importorskip("torch")
    assert audit(torch.tensor(scores, requires_grad=True), torch.tensor(member)) == found
    pandas = pytest.importorskip("pandas")
    assert audit(pandas.Series(scores), pandas.Series(member)) == found


def test_texts_and_numbers_mean_the_same() -> None:
    scores, member = leaky()
    users = np.repeat(np.arange(200), 2)
    member = np.repeat(coins(200), 2)
    scores = np.random.default_rng(0).normal(size=400) + 2 * member
    sex = np.arange(400) % 2
    features = np.column_stack([scores, users]).astype(float)
    numbers = audit(scores, member, users=users, groups={"sex": sex}, ids=np.arange(400), drawn=0.5)
    texts = audit(
        scores,
        member,
        users=[f"u,{user}" for user in users],
        groups={"sex": np.where(sex == 1, 'a "b"', "c\nd")},
        ids=[f"r{place}" for place in range(400)],
        drawn=0.5,
    )
    assert numbers.auc == texts.auc and numbers.epsilon_lower == texts.epsilon_lower
    assert numbers.epsilon_lower.unit == "user" and numbers.users["performance"] == texts.users["performance"]
    assert {group["group"] for group in texts.groups if group["column"] == "sex"} == {'a "b"', "c\nd"}
    assert numbers.groups[0]["auc"] is not None and texts.worst[0]["id"].startswith("r")
    assert audit(scores, member, features=features).baseline["performance"] is not None
    mixed = {"city": np.where(sex == 1, "Bonn", "Rome"), "age": users}
    assert audit(scores, member, features=mixed).baseline["performance"] is not None
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"sex": sex}).astype("category")
    assert len(audit(scores, member, groups=frame).groups) == 2


def test_a_table_on_disk(tmp_path: Path) -> None:
    scores, member = leaky()
    path = tmp_path / "scores.csv"
    with open(path, "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["score", "member", "sex"])
        rows.writerows(zip(scores.tolist(), member.astype(int).tolist(), "ab" * 200))
    found = audit(path, drawn=0.5, groups=["sex"])
    assert found.auc == audit(scores, member).auc and len(found.groups) == 2
    assert audit(str(path)).member is None
    with refused(errors.RequestError, "member"):
        audit(path, member)
    with refused(errors.RequestError, "groups"):
        audit(path, groups={"sex": [1]})
    with refused(errors.DataError, "scores", "R301"):
        audit(tmp_path / "absent.csv")
    with refused(errors.RequestError, "references_from"):
        audit(scores, member, references_from=path)


BAD: list[tuple[str, type[errors.ReticentError], dict[str, Any]]] = [
    ("scores", errors.RequestError, {"scores": None}),
    ("member", errors.RequestError, {"member": None}),
    ("scores", errors.DataError, {"scores": [1.0, 2.0]}),
    ("scores", errors.DataError, {"scores": [1.0, float("nan"), 2.0, 3.0]}),
    ("scores", errors.DataError, {"scores": [1.0, float("inf"), 2.0, 3.0]}),
    ("scores", errors.DataError, {"scores": ["a", "b", "c", "d"]}),
    ("scores", errors.DataError, {"scores": [[1.0]] * 4}),
    ("scores", errors.DataError, {"scores": 1.0}),
    ("scores", errors.DataError, {"scores": np.array([object()] * 4)}),
    ("scores", errors.DataError, {"scores": np.zeros(4, dtype="datetime64[s]")}),
    ("scores", errors.DataError, {"scores": np.zeros(4, dtype=complex)}),
    ("member", errors.DataError, {"member": []}),
    ("member", errors.DataError, {"member": [0, 1, 2, 1]}),
    ("member", errors.DataError, {"member": [0, 1, float("nan"), 1]}),
    ("member", errors.DataError, {"member": ["yes", "no", "no", "no"]}),
    ("member", errors.DataError, {"member": [None, True, True, False]}),
    ("member", errors.DataError, {"member": [[1], [2, 3], [1], [1]]}),
    ("member", errors.AuditError, {"member": [1, 1, 1, 1]}),
    ("labels", errors.DataError, {"labels": [0, 1, -1, 0]}),
    ("labels", errors.DataError, {"labels": [0, 1, 0.5, 0]}),
    ("labels", errors.DataError, {"labels": [0, 1, None, 0]}),
    ("labels", errors.DataError, {"labels": [0, 1]}),
    ("labels", errors.DataError, {"labels": [0, 1, 2, 0], "target_logits": np.zeros((4, 2))}),
    ("labels", errors.DataError, {"labels": list("aaaa"), "target_logits": np.zeros((4, 2))}),
    ("labels", errors.DataError, {"labels": [0, 1, 2**70, 0]}),
    ("target_logits", errors.DataError, {"target_logits": np.zeros((3, 2))}),
    ("target_logits", errors.DataError, {"target_logits": np.zeros((4, 1))}),
    ("target_logits", errors.DataError, {"target_logits": np.zeros((4, 2, 2))}),
    ("target_logits", errors.DataError, {"target_logits": np.full((4, 2), np.nan)}),
    ("target_logits", errors.DataError, {"target_logits": np.full((4, 2), 1e300)}),
    ("target_probabilities", errors.DataError, {"target_probabilities": np.full((4, 2), 0.4)}),
    ("target_probabilities", errors.DataError, {"target_probabilities": np.array([[-0.5, 1.5]] * 4)}),
    (
        "target_logits",
        errors.RequestError,
        {"target_logits": np.zeros((4, 2)), "target_probabilities": np.full((4, 2), 0.5)},
    ),
    ("reference_members", errors.RequestError, {"reference_scores": np.zeros((2, 4))}),
    ("reference_members", errors.RequestError, {"reference_members": np.zeros((2, 4))}),
    (
        "reference_scores",
        errors.DataError,
        {"reference_scores": np.zeros((3, 4)), "reference_members": np.zeros((2, 4))},
    ),
    (
        "reference_logits",
        errors.RequestError,
        {"reference_logits": np.zeros((2, 4, 2)), "reference_members": np.zeros((2, 4))},
    ),
    ("users", errors.DataError, {"users": ["a", None, "b", "c"]}),
    ("users", errors.DataError, {"users": ["a", " a", "b", "c"]}),
    ("users", errors.DataError, {"users": ["a"]}),
    ("users", errors.DataError, {"users": np.zeros(4, dtype="datetime64[s]")}),
    ("ids", errors.DataError, {"ids": [1, 1, 2, 3]}),
    ("ids", errors.DataError, {"ids": [2**80, 1, 2, 3]}),
    ("groups", errors.RequestError, {"groups": [1, 2, 3, 4]}),
    ("groups", errors.RequestError, {"groups": {"member": [1, 2, 3, 4]}}),
    ("groups['sex']", errors.DataError, {"groups": {"sex": [1, 2, 3]}}),
    ("features", errors.DataError, {"features": [[1.0]]}),
    ("features", errors.DataError, {"features": [[1.0], [float("nan")], [1.0], [1.0]]}),
    ("features", errors.DataError, {"features": {}}),
    ("features['city']", errors.DataError, {"features": {"city": ["a", None, "b", "c"]}}),
    ("attacks", errors.InvalidValueError, {"attacks": ["lira"]}),
    ("attacks", errors.RequestError, {"attacks": []}),
    ("attacks", errors.AuditError, {"attacks": ["lira-online"]}),
    ("bound", errors.InvalidValueError, {"bound": "katz"}),
    ("confidence", errors.InvalidValueError, {"confidence": 0.1}),
    ("confidence", errors.InvalidValueError, {"confidence": None}),
    ("delta", errors.InvalidValueError, {"delta": float("nan"), "drawn": 0.5}),
    ("delta", errors.InvalidValueError, {"delta": "small", "drawn": 0.5}),
    ("prior", errors.InvalidValueError, {"prior": 2}),
    ("worst", errors.InvalidValueError, {"worst": -1}),
    ("worst", errors.InvalidValueError, {"worst": 1.5}),
    ("key", errors.InvalidValueError, {"key": 3}),
    ("out", errors.RequestError, {"out": 3}),
]


@pytest.mark.parametrize(("field", "kind", "change"), BAD)
def test_what_is_wrong_is_named(field: str, kind: type[errors.ReticentError], change: dict[str, Any]) -> None:
    good: dict[str, Any] = {"scores": [0.9, 0.1, 0.8, 0.2], "member": [1, 0, 1, 0]}
    with refused(kind, field):
        audit(**{**good, **change})


NAMES = sorted({field for field, _, _ in BAD if field.isidentifier()} - {"out"})
ANY = st.one_of(
    st.none(),
    st.floats(),
    st.text(max_size=3),
    st.integers(),
    st.lists(st.floats() | st.integers() | st.booleans() | st.none() | st.text(max_size=2), max_size=6),
    st.lists(st.lists(st.floats(width=32), max_size=3), max_size=4),
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.sampled_from(NAMES), ANY))
def test_nothing_but_refusals(change: dict[str, Any]) -> None:
    good: dict[str, Any] = {"scores": [0.9, 0.1, 0.8, 0.2], "member": [1, 0, 1, 0]}
    try:
        found = audit(**{**good, **change})
    except errors.ReticentError as error:
        assert error.code and error.remedy
    else:
        assert 0 <= found.auc <= 1


# Results


def test_a_result_can_be_read_kept_and_drawn() -> None:
    scores, member = leaky()
    found = audit(scores, member, drawn=0.5, worst=3)
    assert len(found.worst) == 3 and {"id", "member"} <= set(found.worst[0])
    assert np.array_equal(found.member, member)
    assert json.loads(json.dumps(found.to_dict()))["auc"] == found.auc
    again = pickle.loads(pickle.dumps(found))
    assert again == found and np.array_equal(again.member, member)
    text = repr(found)
    assert "given-score" in text and "ε ≥ " in text and "members" in text
    assert found.plot().startswith("<svg") and "<svg" in found._repr_html_()
    rate = found.tpr_at(0.1)
    assert rate is not None and rate.lower <= float(rate) <= rate.upper
    assert found.tpr_at(0.0001) is None
    with refused(errors.InvalidValueError, "fpr"):
        found.tpr_at(0.05)
    with refused(errors.InvalidValueError, "name"):
        found.attack("lira-online")
    with pytest.raises(AttributeError):
        found.auc = 1.0
    pyplot = pytest.importorskip("matplotlib.figure")
    ax = pyplot.Figure().add_subplot()
    assert found.plot(ax) is ax and len(ax.lines) == 2


def test_the_headline_attack_stands_out() -> None:
    member = coins(400)
    logits = np.random.default_rng(0).normal(size=(400, 2)) + 2 * member[:, None] * np.array([1, -1])
    found = audit(target_logits=logits, labels=np.zeros(400, dtype=int), member=member)
    assert len(found.attacks) > 2
    svg = found.plot()
    # Once as a curve, once in the legend.
    assert svg.count('stroke-width="3.5"') == 2
    assert svg.count('stroke-width="1.25"') == 2 * (len(found.attacks) - 1)
    curves = [line for line in svg.splitlines() if 'stroke-width="3.5"' in line or '="1.25"' in line]
    assert 'stroke-width="3.5"' in curves[len(found.attacks) - 1]
    pyplot = pytest.importorskip("matplotlib.figure")
    ax = pyplot.Figure().add_subplot()
    assert found.plot(ax) is ax
    thick = max(ax.lines, key=lambda line: line.get_linewidth())
    assert thick.get_label().startswith(found.headline) and thick.get_zorder() > ax.lines[-1].get_zorder()


def test_docstrings_say_that_a_bound_is_for_one_run() -> None:
    for documented in (audit, audit_sklearn, audit_torch, EpsilonLower):
        text = " ".join((documented.__doc__ or "").split())
        assert "one run, chosen beforehand" in text and "largest bound voids the confidence" in text


def test_a_report_is_a_page_or_a_folder(tmp_path: Path) -> None:
    found = audit(*leaky())
    for name in ("report.pdf", "report.txt", "report.htm"):
        with refused(errors.RequestError, "path") as error:
            found.report(tmp_path / name)
        assert "report.html" in error.value.remedy and not (tmp_path / name).exists()
    found.report(tmp_path / "page")
    (tmp_path / "v1.0").mkdir()
    found.report(tmp_path / "v1.0")
    assert (tmp_path / "page" / "report.html").is_file() and (tmp_path / "v1.0" / "report.json").is_file()


@given(st.floats(min_value=1e-12, max_value=1e12))
def test_bounds_are_shown_on_the_safe_side(value: float) -> None:
    down, up = audits.results.down, audits.results.up
    assert float(down(value)) <= value <= float(up(value))
    assert down(0.1) == up(0.1) == "0.1" and up(2.99947) == "3"


def test_a_report_is_written_where_it_may_be(tmp_path: Path) -> None:
    scores, member = leaky()
    found = audit(scores, member, drawn=0.5)
    report = found.report(tmp_path / "a" / "report.html", declared={"title": 'The "A" model', "notes": ["x"]})
    page = (tmp_path / "a" / "report.html").read_text(encoding="utf-8")
    assert page == report.html and "given-score" in page and "The &quot;A&quot; model" in page
    assert "⟦" not in page and "reticent-" + "tmp" not in page
    assert [path.name for path in report.save(tmp_path / "b")] == ["report.html", "report.json"]
    assert json.loads((tmp_path / "b" / "report.json").read_text())["findings"]["auc"] == found.auc
    assert pickle.loads(pickle.dumps(report)).html == page and "iframe" in report._repr_html_()
    for declared in ({"nope": 1}, {"prior": 3}, {"title": object()}, 3):
        with pytest.raises(errors.ReticentError) as caught:
            found.report(declared=declared)
        assert caught.value.field == "declared" and str(tempfile.gettempdir()) not in str(caught.value)
    model = tmp_path / "model"
    model.mkdir()
    (model / "model.json").write_text("{}")
    for place in (model, model / "report.html"):
        with refused(errors.DataError, "path", "R304"):
            found.report(place)
    (tmp_path / "file").write_text("")
    with refused(errors.DataError, "path", "R303"):
        report.save(tmp_path / "file" / "report.html")


def test_an_audit_in_a_folder_is_loaded_and_reported(tmp_path: Path) -> None:
    scores, member = leaky()
    found = audit(scores, member, drawn=0.5, out=tmp_path / "audit")
    assert {path.name for path in found.out.iterdir()} == {"audit.json", "private.json", "scores.csv"}
    assert stat.S_IMODE((found.out / "private.json").stat().st_mode) == 0o600
    loaded = audits.load(found.out)
    assert loaded == found and loaded.worst == found.worst
    assert loaded.report().to_dict()["provenance"]["files"]
    # Another audit took its place: the report is of this one.
    audit(scores[::-1], member, out=tmp_path / "audit")
    assert found.report().to_dict()["findings"]["auc"] == found.auc
    with refused(errors.AuditError, "folder", "R604"):
        audits.load(tmp_path)


# Models that are trained for an audit

FITS: list[int] = []


def tree(**settings: Any) -> Any:
    from sklearn.tree import DecisionTreeClassifier

    class Counted(DecisionTreeClassifier):
        def fit(self, X: Any, y: Any) -> Any:
            FITS.append(len(y))
            return super().fit(X, y)

    return Counted(random_state=0, **settings)


def test_a_memorizing_tree_leaks() -> None:
    X, y = memorable(600)
    found = audit_sklearn(tree, X, y, references=6, progress=False)
    assert found.auc > 0.65 and found.epsilon_lower.value > 0
    assert found.epsilon_lower.neighboring == "add-remove" and 200 < found.member.sum() < 400
    shallow = audit_sklearn(lambda: tree(max_depth=1), X, y, references=4, confidence=SURE)
    assert shallow.auc < found.auc


def test_members_of_the_caller_have_no_draw_unless_declared() -> None:
    X, y = memorable()
    member = coins(len(y))
    assert audit_sklearn(tree, X, y, references=2, member=member).epsilon_lower is None
    found = audit_sklearn(tree, X, y, references=2, member=member, drawn=0.5)
    assert found.epsilon_lower is not None and np.array_equal(found.member, member)
    assert audit_sklearn(tree, X, y, references=2, bound="none").epsilon_lower is None
    FITS.clear()
    for drawn in (0.3, "fixed", "pairs"):
        with refused(errors.RequestError, "drawn"):
            audit_sklearn(tree, X, y, drawn=drawn)
    with refused(errors.RequestError, "bound"):
        audit_sklearn(tree, X, y, bound="gaussian")
    assert FITS == []


def test_reference_models_are_balanced_and_independent_of_the_target() -> None:
    from reticent.audit.design import Design

    for units in (np.arange(101), np.repeat(np.arange(30), 3)):
        design = Design("key", b"0" * 32, coins(int(units.max()) + 1)[units], units)
        masks = np.stack([design.inside(model) for model in range(1, 17)])
        assert (masks.sum(axis=0) == 8).all()
        for user in np.unique(units):
            assert len(np.unique(masks[:, units == user], axis=1).T) == 1
        assert len({mask.tobytes() for mask in masks}) == 16
        assert len({design.seed_of(model) for model in range(17)}) == 17
    # The members do not enter into the halves.
    first = Design("key", b"0" * 32, np.zeros(101, dtype=bool), np.arange(101))
    second = Design("key", b"0" * 32, np.ones(101, dtype=bool), np.arange(101))
    assert np.array_equal(first.inside(3), second.inside(3))


def test_users_are_in_or_out_together() -> None:
    X, y = memorable()
    users = [f"user {place // 3}" for place in range(len(y))]
    found = audit_sklearn(tree, X, y, references=4, users=users)
    assert (found.member.reshape(-1, 3).min(axis=1) == found.member.reshape(-1, 3).max(axis=1)).all()
    assert found.epsilon_lower.unit == "user"


def test_stored_models_are_not_trained_again(tmp_path: Path) -> None:
    X, y = memorable()
    out = tmp_path / "audit"
    FITS.clear()
    first = audit_sklearn(tree, X, y, references=4, out=out)
    assert len(FITS) == 5
    models = out / "models"
    for path in models.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(models.stat().st_mode) == 0o700
    (models / "reference-00002.npz").unlink()
    FITS.clear()
    again = audit_sklearn(tree, X, y, references=4, out=out)
    assert len(FITS) == 1 and again.auc == first.auc and np.array_equal(again.member, first.member)
    FITS.clear()
    more = audit_sklearn(tree, X, y, references=6, out=out)
    assert len(FITS) == 2 and np.array_equal(more.member, first.member)
    # Other data and settings are refused, and so are members of the caller.
    with refused(errors.ModelError, "X", "R503"):
        audit_sklearn(tree, X + 1e-9, y, references=4, out=out)
    with refused(errors.ModelError, "y", "R503"):
        audit_sklearn(tree, X, 1 - y, references=4, out=out)
    with refused(errors.ModelError, "make_estimator", "R503"):
        audit_sklearn(lambda: tree(max_depth=3), X, y, references=4, out=out)
    with refused(errors.ModelError, "member", "R503"):
        audit_sklearn(tree, X, y, references=4, out=out, member=first.member)
    with refused(errors.ModelError, "users", "R503"):
        audit_sklearn(tree, X, y, references=4, out=out, users=np.arange(len(y)))
    # A file of another audit, and a broken one.
    other = tmp_path / "other"
    audit_sklearn(tree, X, y, references=1, out=other)
    place = models / "reference-00000.npz"
    place.write_bytes((other / "models" / "reference-00000.npz").read_bytes())
    with refused(errors.ModelError, "out", "R503"):
        audit_sklearn(tree, X, y, references=4, out=out)
    place.write_bytes(b"PK")
    with refused(errors.ModelError, "out", "R502"):
        audit_sklearn(tree, X, y, references=4, out=out)
    # What a killed process left is taken away.
    place.unlink()
    (models / ".reference-00000.npz.4194999-ab.tmp").write_bytes(b"half")
    audit_sklearn(tree, X, y, references=4, out=out)
    assert not list(models.glob(".*.tmp"))
    assert "rmia" in first.report().html


def test_members_given_once_are_not_tossed_later(tmp_path: Path) -> None:
    X, y = memorable(100)
    audit_sklearn(tree, X, y, references=0, member=np.arange(100) % 2, out=tmp_path / "audit")
    with refused(errors.ModelError, "member", "R503"):
        audit_sklearn(tree, X, y, references=0, out=tmp_path / "audit")


def test_two_at_a_time(tmp_path: Path) -> None:
    X, y = memorable(120)
    found = audit_sklearn(lambda: tree(), X, y, references=3, n_jobs=2, out=tmp_path / "audit")
    FITS.clear()
    again = audit_sklearn(lambda: tree(), X, y, references=3, out=tmp_path / "audit")
    assert FITS == [] and again.auc == found.auc
    for odd in (0, 1.5, True, "all"):
        with refused(errors.InvalidValueError, "n_jobs"):
            audit_sklearn(tree, X, y, n_jobs=odd)


def test_estimators_of_every_kind() -> None:
    from sklearn.linear_model import LinearRegression, RidgeClassifier
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import NearestCentroid

    X, y = memorable(200, classes=3)
    names = np.array(["a", "b", "c"])[y]
    assert audit_sklearn(GaussianNB(), X, names, references=2).attack("yeom-loss").auc
    assert audit_sklearn(RidgeClassifier, X, y, references=2).attack("yeom-loss").auc
    assert audit_sklearn(RidgeClassifier, X, y > 0, references=2).attack("yeom-loss").auc
    assert audit_sklearn(LinearRegression, X, y * 1.5, references=2).attack("given-score").auc
    assert audit_sklearn(NearestCentroid, X, y, references=0).attacks
    # A class that a model has not seen has probability 0.
    rare = np.where(np.arange(200) < 1, 7, y)
    assert audit_sklearn(tree, X, rare, references=2).auc
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcd"))
    classes = pandas.Series(names, dtype="category")
    grouped = audit_sklearn(tree, frame, classes, references=2, groups={"k": y})
    assert {group["column"] for group in grouped.groups} >= {"k"}
    sparse = pytest.importorskip("scipy.sparse")
    assert audit_sklearn(tree, sparse.csr_matrix(X), y, references=1).auc


def test_bad_estimators_and_data() -> None:
    X, y = memorable(40)
    for factory in (3, lambda: 3, lambda: object()):
        with refused(errors.RequestError, "make_estimator"):
            audit_sklearn(factory, X, y)
    with refused(errors.DataError, "y"):
        audit_sklearn(tree, X, y[:-1])
    with refused(errors.DataError, "y"):
        audit_sklearn(tree, X, np.where(y == 0, np.nan, 1.0))
    with refused(errors.DataError, "y"):
        audit_sklearn(tree, X, np.zeros(40))
    with refused(errors.DataError, "y"):
        audit_sklearn(tree, X, np.zeros((40, 2)))
    with refused(errors.DataError, "X", "R308"):
        audit_sklearn(tree, X[:0], y[:0])
    with refused(errors.DataError, "X"):
        audit_sklearn(tree, 3, y)
    with refused(errors.InvalidValueError, "references"):
        audit_sklearn(tree, X, y, references=-1)
    with refused(errors.DataError, "member"):
        audit_sklearn(tree, X, y, member=[1, 0])
    with refused(errors.AuditError, "member"):
        audit_sklearn(tree, X, y, member=np.ones(40))
    FITS.clear()
    for change in (
        {"groups": {"sex": [1]}},
        {"features": [[1.0]]},
        {"ids": [1]},
        {"attacks": ["lira"]},
        {"confidence": 7},
        {"drawn": float("nan")},
    ):
        with pytest.raises(errors.ReticentError):
            audit_sklearn(tree, X, y, **change)
    assert FITS == [], "refused before anything was trained"

    class Broken:
        def fit(self, X: Any, y: Any) -> Any:
            return self

        def predict(self, X: Any) -> Any:
            return np.zeros(len(X))

        def predict_proba(self, X: Any) -> Any:
            return np.full((len(X), 2), np.nan)

    with refused(errors.DataError, "make_estimator"):
        audit_sklearn(Broken, X, y, references=1)


def test_an_interrupted_audit_keeps_what_is_finished(tmp_path: Path) -> None:
    X, y = memorable(100)
    FITS.clear()

    def stopped() -> Any:
        if len(FITS) >= 3:
            raise KeyboardInterrupt
        return tree()

    with pytest.raises(KeyboardInterrupt):
        audit_sklearn(stopped, X, y, references=4, out=tmp_path / "audit")
    names = {path.name for path in (tmp_path / "audit" / "models").iterdir()}
    assert names == {"design.json", "target.npz", "reference-00000.npz", "reference-00001.npz"}


# PyTorch


def network(subset: Any, seed: int) -> Any:
    import torch

    FITS.append(len(subset))
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    x, y = (torch.stack(list(column)) for column in zip(*subset))
    layers = [torch.nn.Linear(4, 64), torch.nn.ReLU(), torch.nn.Dropout(0.1), torch.nn.Linear(64, 2)]
    module = torch.nn.Sequential(*layers)
    optimizer = torch.optim.Adam(module.parameters(), lr=0.05)
    for _ in range(60):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(module(x), y).backward()
        optimizer.step()
    return module


def test_networks_of_pytorch(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    X, y = memorable(200)
    tensors = torch.tensor(X, dtype=torch.float32), torch.tensor(y)
    FITS.clear()
    found = audit_torch(network, tensors, references=4, out=tmp_path / "audit")
    assert len(FITS) == 5 and found.auc > 0.55 and found.epsilon_lower is not None
    (tmp_path / "audit" / "models" / "target.npz").unlink()
    FITS.clear()
    audit_torch(network, torch.utils.data.TensorDataset(*tensors), references=4, out=tmp_path / "audit")
    assert len(FITS) == 1
    with refused(errors.ModelError, "dataset", "R503"):
        audit_torch(network, (tensors[0] * 2, tensors[1]), references=4, out=tmp_path / "audit")
    with refused(errors.ModelError, "make_and_train", "R503"):
        audit_torch(lambda subset, seed: network(subset, seed), tensors, references=4, out=tmp_path / "audit")


def test_datasets_of_pytorch() -> None:
    torch = pytest.importorskip("torch")
    X, y = memorable(60)

    class Pairs(torch.utils.data.Dataset):
        def __init__(self, is_random: bool = False) -> None:
            self.is_random = is_random

        def __len__(self) -> int:
            return 60

        def __getitem__(self, place: int) -> Any:
            noise = torch.rand(4) if self.is_random else torch.zeros(4)
            return torch.tensor(X[place], dtype=torch.float32) + noise, int(y[place])

    def single(subset: Any, seed: int) -> Any:
        torch.manual_seed(seed)
        return torch.nn.Linear(4, 1)

    for dataset in (Pairs(), Pairs(is_random=True)):
        assert audit_torch(single, dataset, references=2, batch_size=7).attack("yeom-loss").auc
    assert audit_torch(single, Pairs(), references=0, labels=y).auc is not None
    tensors = torch.zeros(60, 4), torch.zeros(60, dtype=torch.long)
    with refused(errors.DataError, "dataset"):
        audit_torch(single, (tensors[0], tensors[1] - 1))
    with refused(errors.DataError, "dataset"):
        audit_torch(single, (tensors[0], tensors[1][:-1]))
    with refused(errors.DataError, "make_and_train"):
        audit_torch(single, (tensors[0], tensors[1] + 2), references=0)
    with refused(errors.DataError, "make_and_train"):
        audit_torch(lambda subset, seed: lambda x: x * float("nan"), tensors, references=0)
    with refused(errors.RequestError, "make_and_train"):
        audit_torch(lambda subset, seed: 3, tensors, references=0)
    with refused(errors.RequestError, "make_and_train"):
        audit_torch(3, tensors)
    with refused(errors.RequestError, "dataset"):
        audit_torch(single, iter([]))
    with refused(errors.InvalidValueError, "batch_size"):
        audit_torch(single, tensors, batch_size=0)


# Stored models


def test_a_stored_model_is_audited_beside_its_certificate(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    _native.fit(json.dumps({"epsilon": 1.0, "out": str(folder)}))

    class Trained:
        pass

    trained = Trained()
    trained.folder = folder  # type: ignore[attr-defined]
    found = audit_model(trained, references=2, records=400, confidence=SURE)
    assert found.out == tmp_path / "model-audit" and found.epsilon_lower.value == 0
    assert found.comparison.upper == 1 and not found.comparison.contradiction
    assert isinstance(found.certificate, Certificate) and found.certificate.epsilon == 1
    assert "not contradicted" in repr(found)
    for own in (found, audit_model(folder, references=0, records=400, out=tmp_path / "elsewhere")):
        assert own.report().to_dict()["certificate"]["epsilon"] == 1
    with refused(errors.ModelError, "model", "R501"):
        audit_model(tmp_path / "absent")
    with refused(errors.RequestError, "model"):
        audit_model(object())
    with refused(errors.InvalidValueError, "drawn"):
        audit_model(folder, drawn="fixed")
    with refused(errors.ModelError, "model", "R501"):
        audit_canaries(folder)
    with refused(errors.InvalidValueError, "kind"):
        audit_canaries(folder, kind="gold")


def test_a_model_of_data_in_memory_is_refused_with_a_way_out(tmp_path: Path) -> None:
    X, _ = memorable(300)
    schema = tmp_path / "schema.toml"
    bounds = "".join(f"x{place} = {{ bounds = [-3, 3] }}\n" for place in range(4))
    schema.write_text(f'unit = "row"\n[label]\ncolumn = "y"\npositive = "a"\n[columns]\n{bounds}')
    columns = [(f"x{place}", X[:, place].copy()) for place in range(4)]
    table = _native.Table.from_columns("data", [*columns, ("y", ["a", "b"] * 150)])
    _native.fit(json.dumps({"epsilon": 1.0, "schema": str(schema), "out": str(tmp_path / "m")}), table)
    with refused(errors.ModelError, "model", "R504") as caught:
        audit_model(tmp_path / "m", references=0)
    assert "audit_sklearn" in caught.value.remedy


def test_canaries(tmp_path: Path) -> None:
    run = tmp_path / "run"
    _native.train(json.dumps({"epsilon": 1.0, "delta": 1e-6, "steps": 2, "out": str(run)}))
    found = audit_canaries(run, kind="blank", canaries=200, confidence=SURE)
    assert found.epsilon_lower.value <= found.comparison.upper and found.out is None
    assert found.report().to_dict()["certificate"]["epsilon"] == found.certificate.epsilon


def test_coins_are_fair() -> None:
    tossed = coins(4096)
    # Six standard deviations.
    assert tossed.dtype == np.bool_ and 1856 <= tossed.sum() <= 2240
    assert len(coins(0)) == 0
    for odd in (-1, 1.5, True, "9", None):
        with refused(errors.InvalidValueError, "records"):
            coins(odd)


def test_the_attacks_are_listed() -> None:
    assert {"name", "about", "needs"} == set(audits.attacks()[0]) and len(audits.attacks()) > 8
