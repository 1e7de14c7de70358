"""Networks: layers, training, stored models, runs that stop and go on."""

from __future__ import annotations

import copy
import gc
import json
import multiprocessing
import os
import pickle
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

import reticent
from networks import ARRAY, IMAGES, KINDS, NOISY, PLAIN, RNG, ROOT, SCHEMA, TEXTS, TWO, WORDS, X, Y, refused
from reticent import _folder, _toml, errors, train
from reticent.train import (
    Conv2d,
    Embedding,
    Features,
    Flatten,
    Linear,
    MaxPool,
    MeanTime,
    Network,
    Relu,
    Residual,
    Tanh,
    Transformer,
)

pytestmark = pytest.mark.filterwarnings("ignore::reticent.PrivacyWarning")


def toml_reader():
    return pytest.importorskip("tomllib") if sys.version_info >= (3, 11) else pytest.importorskip("tomli")


@pytest.fixture(scope="module")
def model():
    return train.fit([Linear(out=3), Tanh(), Linear(out=2, name="head")], X, Y, **ARRAY, **NOISY)


# ---------------------------------------------------------------- layers and TOML


def test_every_layer_of_the_reference_has_a_function():
    reference = (ROOT / "docs/reference/model.md").read_text()
    tables = re.findall(r"^\| `kind` \| fields .*?\n\n", reference, re.MULTILINE | re.DOTALL)
    listed = [
        row for table in tables for row in re.findall(r"^\| `([a-z0-9-]+)` \| (.*?) \|", table, re.MULTILINE)
    ]
    kinds = {kind: re.findall(r"`([a-z_]+)`", fields) for kind, fields in listed if kind != "kind"}
    made = {}
    for name in train.__all__:
        function = getattr(train, name)
        if name[0].isupper() and not isinstance(function, type) and not isinstance(function(), Features):
            made[function()["kind"]] = function
    assert set(kinds) == set(made) and len(kinds) == 27
    for kind, fields in kinds.items():
        given = {"layers": []} if kind == "residual" else dict.fromkeys(fields, 3)
        assert set(made[kind](**given)) == {"kind", *fields}, kind


def test_networks_of_the_reference_read_back():
    toml = toml_reader()
    reference = (ROOT / "docs/reference/model.md").read_text()
    for text in re.findall(r"```toml\n(.*?)```", reference, re.DOTALL):
        own = Network._of(text)
        again = Network(own.layers, input=own.input, loss=own.loss, features=own.features)
        assert toml.loads(again.to_toml()) == toml.loads(text)
        assert own.to_toml() == text


def test_toml_holds_any_text_and_number():
    toml = toml_reader()
    values = {
        "text": 'a "quoted" \\ text\n\twith é 🎉 \x00\x1f\x7f',
        "numbers": [1, -2, 2.5, 1e300, 1e-7, float("inf"), np.float32(0.5), np.int64(3), True],
        "inner": {"odd key": [{"a": 1}], "none": None},
    }
    text = "\n".join(f"{_toml.key(key, key)} = {_toml.written(value, key)}" for key, value in values.items())
    read = toml.loads(text)
    assert read["text"] == values["text"]
    assert read["numbers"] == [1, -2, 2.5, 1e300, 1e-7, float("inf"), 0.5, 3, True]
    assert read["inner"] == {"odd key": [{"a": 1}]}
    refused(lambda: _toml.written("\ud800", "name"), errors.RequestError, "name")
    refused(lambda: _toml.written(b"x", "name"), errors.RequestError, "name")


def test_without_a_module_for_toml(tmp_path, monkeypatch):
    monkeypatch.setattr(_toml, "parsed", lambda text: None)
    path = tmp_path / "model.toml"
    path.write_text(Network(TWO, input=(4,)).to_toml())
    network = Network.from_toml(path)
    assert network.input == (4,) and network.to_toml() == path.read_text() and "from_toml" in repr(network)
    made = train.fit(network, X, Y, **ARRAY, **PLAIN)
    assert made.predict(X).shape == (60,) and train.load(made.folder).evaluate(X, Y).rows == 60
    columns = {"a": X[:, 0], "b c": X[:, 1]}
    with pytest.raises(ImportError, match="tomli"):
        train.fit(TWO, columns, Y, schema=SCHEMA, **PLAIN)
    labelled = {**columns, "kind": Y}
    refused(lambda: train.fit(TWO, labelled, schema=SCHEMA, **PLAIN), errors.RequestError, "input")
    made = train.fit(Network(TWO, input=(4,)), labelled, schema=SCHEMA, **PLAIN)
    assert made.evaluate(columns, Y).rows == 60


def test_networks_are_values(tmp_path):
    network = Network(
        [Conv2d(out=4, kernel=3), Relu(), MaxPool(2), Flatten(), Linear(out=10)], input=(1, 28, 28)
    )
    assert network == pickle.loads(pickle.dumps(network)) == copy.deepcopy(network)
    path = tmp_path / "model.toml"
    path.write_text(network.to_toml())
    assert Network.from_toml(path).to_toml() == network.to_toml()
    assert Network("mlp").name == "mlp" and Network("mlp") != network
    assert repr(Network([Residual([Linear(out=2)])])) == "Network([Residual(layer=[Linear(out=2)])])"
    refused(Network("mlp").to_toml, errors.RequestError, "network")
    refused(Network(TWO).to_toml, errors.RequestError, "input")
    refused(lambda: Network("mlp", input=(3,)), errors.RequestError, "input")
    refused(lambda: Network(3), errors.RequestError, "layers")
    refused(lambda: Network([3]), errors.RequestError, "layers")
    refused(lambda: Network([{"out": 3}]), errors.RequestError, "layers")
    refused(lambda: Network(TWO, input=(2.5,)), errors.InvalidValueError, "input")
    refused(lambda: Network.from_toml(tmp_path / "no.toml"), errors.DataError, "path", "R301")


@pytest.mark.parametrize(
    ("layers", "words"),
    [
        ([Linear(ot=2)], 'unknown key "ot" (did you mean "out"?)'),
        ([Linear(out=-1)], "out"),
        ([Linear(out="two")], "out"),
        ([Linear()], "out"),
        ([Linear(out=3)], "3 outputs, but the data need 2"),
        ([{"kind": "liner", "out": 2}], '"liner": unknown'),
        ([{"kind": "batch-norm"}, Linear(out=2)], "group-norm"),
        ([Conv2d(out=2, kernel=3), Linear(out=2)], "conv2d"),
        ([Linear(out=2, name="a b")], '"a b"'),
        ([Linear(out=2, lora={"alpha": 2})], "lora: give a table such as { rank = 8, alpha = 16 }"),
        ([Linear(out=2), Tanh(lora={"rank": 2})], "only linear, attention and transformer layers have lora"),
    ],
)
def test_a_wrong_layer_is_named(layers, words):
    with pytest.raises(errors.ReticentError) as caught:
        train.fit(layers, X, Y, **ARRAY, **PLAIN)
    assert caught.value.field == "network" and words in str(caught.value)
    assert str(caught.value).startswith("model.toml"), "the private folder is not named"


# ---------------------------------------------------------------- training


def test_a_private_network_learns_and_its_certificate_holds():
    rows = RNG.uniform(-1, 1, (1500, 2))
    labels = np.where(rows[:, 0] + rows[:, 1] > 0, "up", "down")
    seen = []
    made = Network([Linear(out=8), Tanh(), Linear(out=2)]).fit(
        rows,
        labels,
        bounds=(-1, 1),
        classes=["down", "up"],
        epsilon=3,
        delta=1e-5,
        batch_size=300,
        epochs=6,
        learning_rate=2,
        validation=(rows[:200] * 0.9, labels[:200]),
        callbacks=[seen.append, lambda metrics: metrics.clear()],
    )
    assert made.epsilon <= 3 and made.delta == 1e-5 and made.certificate.verify()
    # Nobody said how many rows there are, so a noisy count is part of what was paid for.
    assert "counted with noise" in made.certificate.accountant
    assert [metrics["step"] for metrics in seen] == [metrics["step"] for metrics in made.history]
    assert seen[-1]["epsilon"] <= 3 and made.metrics["validation_accuracy"] == made.accuracy
    assert made.evaluate(rows, labels).accuracy > 0.85
    assert (made.predict(rows) == labels).mean() > 0.85
    shares = made.predict_proba(rows)
    assert np.allclose(shares.sum(axis=1), 1)
    assert (made.classes[shares.argmax(axis=1)] == made.predict(rows)).all()
    assert "ε ≤ " in repr(made) and "<table>" in made._repr_html_() and made.to_dict()["steps"] == made.steps


def test_a_number_as_the_label():
    target = X.sum(axis=1)
    settings = {"bounds": (0, 1), "target_bounds": (0, 2)}
    made = train.fit(
        [Linear(out=1)], X, target, **settings, non_private=True, epochs=60, batch_size=30, learning_rate=1
    )
    assert made.classes is None and made.certificate is None and made.epsilon is None and made.delta is None
    assert "without privacy" in repr(made)
    assert abs(made.predict(X) - target).mean() < 0.2
    assert made.evaluate(X, target).r2 > 0.5
    refused(lambda: made.predict_proba(X), errors.ModelError, "predict_proba")
    wide = train.fit("logistic", X, target, bounds=[(0, 1), (0, 2)], target_bounds=(0, 1), **NOISY)
    assert wide.predict(X).max() <= 1


def test_low_rank_updates_are_trained_beside_public_weights(tmp_path):
    def network(**fields):
        return Network([Embedding(out=4), Transformer(heads=2, hidden=6, **fields), MeanTime(), Linear(out=2)])

    train.fit(network(), TEXTS[:40], KINDS[:40], **WORDS, **PLAIN, out=tmp_path / "public")
    public = (tmp_path / "public/model.safetensors").rename(tmp_path / "public.safetensors")
    own = {**WORDS, **NOISY, "init": public, "freeze": [0, 3], "out": tmp_path / "private"}
    adapted = network(lora={"rank": 1, "alpha": 2})
    missing = refused(lambda: train.fit(adapted, TEXTS, KINDS, **own), errors.RequestError, "init_public")
    assert "init_public" in str(missing)
    train.fit(adapted, TEXTS, KINDS, **own, init_public=True)
    before, after = arrays(public), arrays(tmp_path / "private/model.safetensors")
    parts = ("in_proj.lora_a", "in_proj.lora_b", "out_proj.lora_a", "out_proj.lora_b")
    assert set(after) - set(before) == {f"1.self_attn.{part}" for part in parts}
    assert {name: after[name] for name in before} == before


def arrays(path):
    """The bytes of the arrays of a safetensors file."""
    whole = path.read_bytes()
    start = 8 + int.from_bytes(whole[:8], "little")
    header = json.loads(whole[8:start])
    places = {name: about["data_offsets"] for name, about in header.items() if name != "__metadata__"}
    return {name: whole[start + first : start + last] for name, (first, last) in places.items()}


def test_settings_reach_the_run(tmp_path):
    out = tmp_path / "run"
    made = train.fit(
        [Linear(out=4, name="body"), Linear(out=2)],
        X,
        Y,
        **ARRAY,
        **{**NOISY, "dataset_size": None},
        clip=0.5,
        clipping="automatic",
        optimizer="adam",
        learning_rate=np.float32(0.25),
        weight_decay=0.125,
        schedule="cosine",
        warmup=1,
        average=0.5,
        neighboring="replace-one",
        freeze="body",
        threads=1,
        checkpoint_every=1,
        out=out,
    )
    run = (out / "run.toml").read_text()
    for line in (
        "clip = 0.5",
        'clipping = "automatic"',
        'optimizer = "adam"',
        "learning-rate = 0.25",
        "weight-decay = 0.125",
        'schedule = "cosine"',
        "warmup = 1",
        "average = 0.5",
        'neighboring = "replace-one"',
        'freeze = ["body"]',
        "threads = 1",
        'checkpoint-every = "1"',
        "noise-multiplier = 2.0",
        "batch-size = 30",
    ):
        assert line in run.splitlines(), line
    assert made.folder == out and made.certificate.neighboring == "replace-one"
    assert 'name = "body"\nfrozen = true' in (out / "model.toml").read_text()


def test_warnings_are_raised_as_warnings():
    with pytest.warns(reticent.PrivacyWarning, match="noise") as caught:
        train.fit(
            "mlp", X, Y, **ARRAY, noise_multiplier=30.0, delta=1e-5, dataset_size=60, batch_size=2, steps=1
        )
    assert caught[0].filename == __file__


def test_budgets_are_charged_and_hold():
    terms = {"epsilon": 1.0, "delta": 1e-6, "dataset_size": 60, "batch_size": 30, "steps": 2}
    budget = reticent.Budget(epsilon=1.2, delta=1e-5)
    refused(
        lambda: train.fit(TWO, X, Y, **ARRAY, **terms, budget=budget, validation=(X, Y)),
        errors.RequestError,
        "validation",
    )
    assert budget.events == []
    train.fit(TWO, X, Y, **ARRAY, **terms, budget=budget)
    assert len(budget.events) == 1
    refused(
        lambda: train.fit(TWO, X, Y, **ARRAY, **terms, budget=budget), errors.BudgetError, "budget", "R405"
    )
    assert len(budget.events) == 1
    with pytest.raises(errors.PrivacyError):
        train.fit(TWO, X, Y, **ARRAY, **PLAIN, budget=budget)
    # The same rows in other memory are recognized without a budget.
    refused(
        lambda: train.fit(TWO, X, Y, **ARRAY, **NOISY, validation=(X.copy(), Y)),
        errors.RequestError,
        "validation",
    )


# ---------------------------------------------------------------- stored networks


def test_save_load_pickle(model, tmp_path):
    model.save(tmp_path / "saved")
    files = {path.name for path in (tmp_path / "saved").iterdir()}
    assert "certificate.json" in files and not files & set(_folder.LEFT_OUT)
    for again in (
        train.load(tmp_path / "saved"),
        train.load(str(model.folder)),
        pickle.loads(pickle.dumps(model)),
        copy.deepcopy(model),
    ):
        assert (again.predict_proba(X) == model.predict_proba(X)).all()
        assert again.certificate == model.certificate and again.history == model.history
        assert (
            again.steps == model.steps and again.weights == model.weights and again.network == model.network
        )
        assert again.batch_size == 30 and "2 steps" in repr(again)
    refused(lambda: model.save(tmp_path / "saved"), errors.DataError, "path", "R304")
    refused(lambda: model.save(3), errors.RequestError, "path")
    refused(lambda: model.save("/proc/nowhere"), errors.DataError, "path")
    refused(lambda: train.load(3), errors.RequestError, "path")
    refused(lambda: train.load(tmp_path), errors.ModelError, "path", "R501")
    weights = tmp_path / "saved" / "model.safetensors"
    content = weights.read_bytes()
    weights.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(errors.ModelError):
        train.load(tmp_path / "saved").predict(X)


def test_predictions_refuse_other_data(model):
    refused(lambda: model.predict(X[:, :1]), errors.ModelError, "X", "R504")
    refused(lambda: model.predict(np.hstack([X, X])), errors.ModelError, "X", "R504")
    refused(lambda: model.predict(X * np.nan), errors.DataError, "X")
    refused(lambda: model.predict(X[:0]), errors.DataError, "X")
    refused(lambda: model.predict(TEXTS), errors.ReticentError, "X")
    refused(lambda: model.predict(IMAGES), errors.ReticentError, "X")
    refused(lambda: model.predict(X, part="both"), errors.InvalidValueError, "part")
    refused(lambda: model.predict(X, channels="last"), errors.RequestError, "channels")
    refused(lambda: model.evaluate(X), errors.RequestError, "y")
    refused(lambda: model.evaluate(X, Y + 3), errors.DataError, "y")
    refused(lambda: model.evaluate(X, Y[1:]), errors.DataError, "y")
    with pytest.raises(AttributeError):
        model.nothing
    with pytest.raises(AttributeError):
        model.steps = 3


def test_temporary_folders_go_with_the_object(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    made = train.fit(TWO, X, Y, **ARRAY, **PLAIN)
    assert len(list(tmp_path.iterdir())) == 1, "only the run"
    twin = pickle.loads(pickle.dumps(made))
    folders = {made.folder, twin.folder}
    assert len(folders) == 2 and oct(made.folder.parent.stat().st_mode)[-3:] == "700"
    del made, twin
    gc.collect()
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(errors.ReticentError):
        train.fit(TWO, X, Y, **{**ARRAY, "classes": [0, 1, 2]}, **PLAIN)
    with pytest.raises(ZeroDivisionError):
        train.fit(TWO, X, Y, **ARRAY, **PLAIN, callbacks=lambda metrics: 1 / 0)
    assert list(tmp_path.iterdir()) == []


def test_a_diverged_network_predicts_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = train.fit(
            [Linear(out=50), Linear(out=50), Linear(out=2)],
            X,
            Y,
            **ARRAY,
            non_private=True,
            batch_size=30,
            steps=60,
            learning_rate=1e6,
        )
    for predict in (made.predict, made.predict_proba):
        with pytest.raises(errors.ModelError, match="diverged"):
            predict(X)


def test_state_dict_loads_in_torch(model):
    torch = pytest.importorskip("torch")
    from collections import OrderedDict

    module = torch.nn.Sequential(
        OrderedDict([("0", torch.nn.Linear(4, 3)), ("1", torch.nn.Tanh()), ("head", torch.nn.Linear(3, 2))])
    )
    module.load_state_dict({name: torch.from_numpy(array) for name, array in model.state_dict().items()})
    # A column with bounds is its value and whether it is missing.
    features = np.zeros((60, 4), dtype=np.float32)
    features[:, ::2] = X
    with torch.no_grad():
        theirs = torch.softmax(module(torch.from_numpy(features)), dim=1).numpy()
    assert np.abs(theirs - model.predict_proba(X)).max() < 1e-5


# ---------------------------------------------------------------- runs that stop and go on


def test_a_callback_that_raises_stops_the_run(tmp_path):
    out = tmp_path / "run"
    steps = []

    def stop(metrics):
        steps.append(metrics["step"])
        if len(steps) == 2:
            raise RuntimeError("enough")

    terms = {**NOISY, "steps": None, "epochs": 60, "threads": 1}
    with pytest.raises(RuntimeError, match="enough"):
        train.fit(TWO, X, Y, **ARRAY, **terms, out=out, callbacks=stop)
    assert len(steps) == 2 and not (out / "model.json").exists()
    with pytest.raises(errors.ModelError):
        train.load(out)
    refused(lambda: train.fit(TWO, X, Y, **ARRAY, **terms, out=out), errors.DataError, "out")
    refused(lambda: train.resume(out), errors.RequestError, "X")
    refused(lambda: train.resume(out, X * 0.5, Y), errors.ModelError, "folder", "R503")
    refused(lambda: train.resume(out, X, Y, stopped_by="boredom"), errors.InvalidValueError, "stopped_by")
    refused(lambda: train.resume(out, X, Y, finish=3), errors.RequestError, "finish")
    refused(lambda: train.resume(tmp_path, X, Y), errors.ModelError, "folder", "R501")
    refused(lambda: train.resume(3, X, Y), errors.RequestError, "folder")
    budget = reticent.Budget(epsilon=50, delta=1e-4)
    made = train.resume(out, X, Y, finish=True, budget=budget)
    assert steps[-1] <= made.steps < 120 and len(budget.events) == 1
    # A choice to stop may depend on the results: the whole plan counts.
    whole = reticent.accounting.Gaussian(2.0).poisson(0.5) * 120 if hasattr(reticent, "accounting") else None
    if whole is not None:
        assert made.epsilon >= whole.epsilon(delta=1e-5).lower * 0.999


def test_images_and_texts_resume(tmp_path):
    def stop(metrics):
        raise RuntimeError("enough")

    for place, data, labels, own, network in (
        ("images", IMAGES, np.where(Y, "cat", "dog"), {"classes": ["dog", "cat"]}, "logistic"),
        ("texts", TEXTS, KINDS, WORDS, [Embedding(out=2), MeanTime(), Linear(out=2)]),
    ):
        out = tmp_path / place
        with pytest.raises(RuntimeError):
            train.fit(
                network, data, labels, **own, **{**PLAIN, "steps": 60, "threads": 1}, out=out, callbacks=stop
            )
        made = train.resume(out, data, labels, threads=1)
        assert made.steps == 60 and made.predict(data).shape == (60,)


SCRIPT = """
import sys
import numpy as np
import reticent
from reticent import train

rows = np.random.default_rng(7).uniform(0, 1, (60, 2))
labels = rows[:, 0] > 0.5
out = sys.argv[1] or None
budget = reticent.Budget(epsilon=10, delta=1e-4)

def tell(metrics):
    print("step", metrics["step"], flush=True)

try:
    train.fit([train.Linear(out=2)], rows, labels, bounds=(0, 1), classes=[False, True], epsilon=1,
              delta=1e-5, dataset_size=60, batch_size=30, epochs=60, threads=1, out=out,
              callbacks=tell, budget=budget)
except KeyboardInterrupt as stop:
    print("stopped:", stop, "| charged:", len(budget.events))
    sys.exit(7)
print("not stopped")
"""


def interrupted(out):
    """Trains in another process, which gets Ctrl-C after its first epoch: what it says at its end."""
    # The package that is tested here, installed or not.
    environment = {**os.environ, "PYTHONPATH": str(Path(reticent.__file__).parents[1])}
    call = [sys.executable, "-c", SCRIPT, out]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(call, env=environment, **pipes) as process:
        assert process.stdout.readline().startswith("step "), process.communicate()
        process.send_signal(signal.SIGINT)
        said, wrong = process.communicate(timeout=50)
    assert process.returncode == 7, said + wrong
    return said


def test_ctrl_c_leaves_a_run_that_goes_on(tmp_path):
    out = tmp_path / "run"
    said = interrupted(str(out))
    assert f"resume({str(out)!r}, X, y)" in said and "charged: 1" in said
    rows = np.random.default_rng(7).uniform(0, 1, (60, 2))
    before = len((out / "metrics.jsonl").read_text().splitlines())
    assert 1 <= before < 60
    made = train.resume(out, rows, rows[:, 0] > 0.5)
    assert made.steps == 120 and made.epsilon <= 1 and made.certificate.verify()
    assert len(made.history) > before and made.predict(rows).dtype == bool


def test_ctrl_c_without_a_folder_keeps_the_charge():
    said = interrupted("")
    assert "nothing was stored" in said and "charged: 1" in said


# ---------------------------------------------------------------- threads and processes


def small_fit(seed):
    rows = np.random.default_rng(seed).uniform(0, 1, (40, 2))
    made = train.fit(
        TWO,
        rows,
        rows[:, 0] > 0.5,
        bounds=(0, 1),
        classes=[False, True],
        **{**NOISY, "dataset_size": 40, "batch_size": 20},
    )
    return made


def small_job(seed):
    made = small_fit(seed)
    return made.steps, made.predict(np.eye(2)).shape


def test_other_threads_run_while_a_network_trains():
    counted, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            counted[0] += 1
            time.sleep(0.0005)

    other = threading.Thread(target=count)
    other.start()
    started = time.perf_counter()
    train.fit(
        [Linear(out=64), Tanh(), Linear(out=2)], X, Y, **ARRAY, **{**PLAIN, "steps": 1500, "threads": 1}
    )
    seconds = time.perf_counter() - started
    stop.set()
    other.join()
    assert counted[0] > 50 * min(seconds, 2), (counted, seconds)


def test_two_threads_train_at_once():
    found = {}
    workers = [
        threading.Thread(target=lambda seed=seed: found.update({seed: small_job(seed)})) for seed in (1, 2)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert found == {1: (2, (2,)), 2: (2, (2,))}


@pytest.mark.parametrize("way", ["fork", "spawn"])
def test_other_processes_train(way, tmp_path, monkeypatch):
    if way not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {way} here")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    here = small_fit(3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        pool = multiprocessing.get_context(way).Pool(2)
    assert pool.map(small_job, [4, 5]) == [(2, (2,))] * 2
    # A model travels as its files.
    there = pool.apply(small_fit, (6,))
    pool.close()
    pool.join()
    for model in (here, there):
        assert model.predict(np.eye(2)).shape == (2,)
    left = {path for path in tmp_path.iterdir() if path.name.startswith("reticent-")}
    assert left == {here.folder.parent, there.folder.parent}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_copy_leaves_the_folder(model):
    own = copy.deepcopy(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        del own
        gc.collect()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert own.predict(X).shape == (60,)
    assert signal.getsignal(signal.SIGINT) is not None and json.dumps(own.to_dict())
