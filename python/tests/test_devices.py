"""Networks on a device: requests, refusals where there is none, and what they leave behind."""

from __future__ import annotations

import pickle

import pytest

import reticent
from networks import ARRAY, IMAGES, NOISY, TWO, X, Y, refused
from reticent import _native, errors, train
from reticent._core import request
from reticent.audit import audit_canaries, audit_model


@pytest.fixture(autouse=True)
def no_gpu(monkeypatch):
    """All machines are without a GPU here."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")


def missing(call):
    """The refusal of a GPU that is not there says what to do."""
    error = refused(call, errors.InternalError, "device", "R904")
    assert isinstance(error, RuntimeError) and error.value == "cuda"
    assert "`device` cpu" in str(error) and "NVIDIA" in str(error), error
    assert "--device" not in str(error) and "--device" not in error.remedy, error


def test_a_missing_gpu_is_refused_before_anything_is_charged(tmp_path):
    out = tmp_path / "run"
    terms = {"epsilon": 1.0, "delta": 1e-6, "batch_size": 30, "steps": 2}
    for data, own, unit in ((X, ARRAY, "row"), (IMAGES, {"classes": 2}, "image")):
        for size in (None, 60):
            budget = reticent.Budget(epsilon=1.5, delta=1e-5, unit=unit)
            missing(
                lambda: train.fit(
                    "logistic",
                    data,
                    Y,
                    **own,
                    **terms,
                    dataset_size=size,
                    budget=budget,
                    out=out,
                    device="cuda",
                )
            )
            assert not budget.events and not out.exists()


def test_a_network_is_computed_where_it_is_asked_for(tmp_path):
    out = tmp_path / "run"
    model = train.fit(TWO, X, Y, **ARRAY, **NOISY, out=out, device="cpu", chunk=7)
    assert model.device == "cpu" and "chunk" not in (out / "run.toml").read_text()
    expected = model.predict_proba(X)
    for chunk in (1, 1000):
        assert abs(model.predict_proba(X, device="cpu", chunk=chunk) - expected).max() < 1e-6
        assert model.evaluate(X, Y, chunk=chunk).rows == 60
    loaded = train.load(out, chunk=3)
    assert (loaded.predict(X) == model.predict(X)).all()
    missing(lambda: model.predict(X, device="cuda"))
    missing(lambda: model.predict_proba(X, device="cuda"))
    missing(lambda: model.evaluate(X, Y, device="cuda"))
    missing(lambda: train.load(out, device="cuda").predict(X))
    # What a call says comes first, and another machine need not have the device.
    elsewhere = train.load(out, device="cuda")
    assert (elsewhere.predict(X, device="cpu") == model.predict(X)).all()
    assert (pickle.loads(pickle.dumps(elsewhere)).predict(X) == model.predict(X)).all()


def test_a_run_goes_on_on_another_device(tmp_path):
    out = tmp_path / "run"
    model = train.fit(TWO, X, Y, **ARRAY, **NOISY, out=out)
    missing(lambda: train.resume(out, X, Y, device="cuda"))
    again = train.resume(out, X, Y, device="cpu", chunk=16)
    assert again.certificate == model.certificate


def test_unknown_devices_are_named(tmp_path):
    model = train.fit(TWO, X, Y, **ARRAY, **NOISY, out=tmp_path / "run")
    for call in (
        lambda: train.fit(TWO, X, Y, **ARRAY, **NOISY, device="tpu"),
        lambda: train.resume(model.folder, X, Y, device="tpu"),
        lambda: train.load(model.folder, device="tpu"),
        lambda: model.predict(X, device="tpu"),
        lambda: model.predict_proba(X, device="tpu"),
        lambda: model.evaluate(X, Y, device="tpu"),
        lambda: audit_model(model, device="tpu"),
        lambda: audit_canaries(model, device="tpu"),
    ):
        error = refused(call, errors.InvalidValueError, "device", "R203")
        assert "cpu or cuda" in str(error), error
    for call in (
        lambda: train.fit(TWO, X, Y, **ARRAY, **NOISY, chunk=0),
        lambda: model.predict(X, chunk=0),
        lambda: audit_model(model, chunk=0),
        lambda: audit_canaries(model, chunk=0),
    ):
        refused(call, errors.InvalidValueError, "chunk", "R201")


def test_audits_on_a_device(tmp_path):
    def table(name, side):
        rows = "".join(f"{abs(side - x[0])},{x[1]},{y}\n" for x, y in zip(X, Y, strict=True))
        (tmp_path / name).write_text("a,b,kind\n" + rows)
        return tmp_path / name

    members, others = table("members.csv", 0), table("others.csv", 1)
    own = {"schema": {"a": (0, 1), "b": (0, 1)}, "label": "kind", "classes": [0, 1]}
    model = train.fit(TWO, members, **own, **NOISY, out=tmp_path / "run")
    missing(lambda: audit_model(model, non_members=others, references=2, device="cuda"))
    missing(lambda: audit_canaries(model, canaries=20, device="cuda"))
    assert not (tmp_path / "run-audit").exists()
    found = audit_model(model, non_members=others, references=2, device="cpu", chunk=8, progress=False)
    assert found.attacks
    linear = tmp_path / "linear"
    _native.fit(request({"epsilon": 1.0, "out": linear}))
    refused(lambda: audit_model(linear, device="cuda"), errors.RequestError, "device", "R103")
