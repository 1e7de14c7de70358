"""Two processes train one module: one sample, sums as of one process, noise once."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from test_torch_engine import clipped_loop  # noqa: E402
from torch_processes import SCENARIOS, Numbered, network  # noqa: E402

pytestmark = pytest.mark.skipif(not torch.distributed.is_available(), reason="PyTorch was built without torch.distributed")


def ran(folder, names):
    """Runs scenarios in two processes; what each of them saw."""
    command = [sys.executable, str(Path(__file__).with_name("torch_processes.py"))]
    started = [
        subprocess.Popen([*command, str(rank), "2", str(folder), *names], stderr=subprocess.PIPE, text=True) for rank in range(2)
    ]
    try:
        errors = [own.communicate(timeout=300)[1] for own in started]
    finally:
        for own in started:
            own.kill()
    assert all(own.returncode == 0 for own in started), "\n".join(errors)
    return {name: [torch.load(folder / f"{name}-{rank}.pt") for rank in range(2)] for name in names}


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """What each of two processes saw, scenario by scenario."""
    folder = tmp_path_factory.mktemp("processes")
    return {**ran(folder, SCENARIOS), "folder": folder}


def by_step(rows):
    """The examples of every step, from those of its parts."""
    steps, now = [], []
    for is_last, places in rows:
        now.extend(places)
        if is_last:
            steps.append(now)
            now = []
    return steps


def is_one_sample(pair):
    """Whether every example of a sample is computed by one process, and no other one."""
    first, second = (by_step(own["rows"]) for own in pair)
    drawn = pair[0]["drawn"]
    both = zip(drawn, first, second, strict=True)
    return all(sorted(own.tolist()) == sorted([*one, *two]) for own, one, two in both)


@pytest.mark.parametrize("name", ["sums", "parts", "units", "small", "workers"])
def test_sums_are_those_of_one_process(seen, name):
    pair = seen[name]
    assert is_one_sample(pair)
    model, data = network(seed=0), Numbered(3 if name == "small" else 40)
    assert pair[0]["steps"] == pair[1]["steps"] == len(pair[0]["drawn"])
    blank = 0
    for drawn, total, released in zip(pair[0]["drawn"], pair[0]["total"], pair[0]["released"], strict=True):
        unit = drawn // 3 if name == "units" else None
        expected = torch.zeros(total.shape)
        if len(drawn):
            expected = clipped_loop(model, data.x[drawn], data.y[drawn], 1.0, unit)
        blank += not len(drawn)
        assert torch.allclose(total.float(), expected, atol=1e-5)
        assert not torch.allclose(released, expected / 16, atol=1e-3)
    if name != "small":
        assert blank == 0
    if name == "parts":
        # Both processes have as many parts, made-up ones included.
        assert [is_last for is_last, _ in pair[0]["rows"]] == [is_last for is_last, _ in pair[1]["rows"]]
        assert len(pair[0]["rows"]) > 2 * len(pair[0]["drawn"])


def test_a_process_that_draws_its_own_sample_is_caught(seen):
    assert not is_one_sample(seen["own-sample"])
    pair = seen["sums"]
    first, second = (by_step(own["rows"]) for own in pair)
    assert not any(set(one) & set(two) for one, two in zip(first, second, strict=True))


def test_weights_start_and_stay_the_same(seen):
    for name in ("sums", "training"):
        for one, two in zip(seen[name][0]["weights"], seen[name][1]["weights"], strict=True):
            assert torch.equal(one, two)
    for one, two in zip(seen["sums"][0]["released"], seen["sums"][1]["released"], strict=True):
        assert torch.equal(one, two)


def spread(pair):
    """The standard deviation of the noise, of what process 1 sees of it, and whether both processes got the same."""
    noises = torch.cat(pair[0]["released"]) * 10
    known = torch.cat(pair[1]["sent"])
    return float(noises.std()), float((noises - known).std()), torch.equal(*(torch.cat(own["released"]) for own in pair))


def test_noise_is_added_once_and_by_process_0(seen):
    # 400 000 numbers: the standard error is 0.0022.
    whole, unknown, is_same = spread(seen["noise"])
    assert abs(whole / 2 - 1) < 0.01 and abs(unknown / 2 - 1) < 0.01 and is_same
    # Twins: noise in every process, of all the noise or of a share that adds up to it. Process 1 knows its own.
    whole, _, _ = spread(seen["noise-everywhere"])
    assert abs(whole / 2 - 1) > 0.3
    whole, unknown, _ = spread(seen["noise-shared"])
    assert abs(whole / 2 - 1) < 0.01 < 0.2 < abs(unknown / 2 - 1)


def test_claims_are_made_once(seen):
    one, two = seen["training"]
    assert one["steps"] == two["steps"] == 6 and one["epsilon"] == two["epsilon"] and one["rate"] == two["rate"] == 0.4
    certificate = json.loads(one["certificate"])
    assert any("2 processes" in fact for fact in certificate["public"])
    assert "process 0 makes it" in two["certificate"]
    # The budget, the count and the checkpoint are those of process 0.
    assert one["left"] < 50.0 and two["left"] == 50.0
    folder = seen["folder"]
    assert json.loads((folder / "steps.json").read_text())["counted"] == 6 and (folder / "kept.pt").exists()
    assert "finished" in one["end"] and "finished" in two["end"]


def test_what_one_process_does_wrong_all_refuse(seen):
    one, two = seen["failures"]
    for found in (one, two):
        assert "initialized after" in found["late"] and found["alone"]
        assert "same arguments" in found["size"] and "loss_reduction" in found["argument"]
        assert "same module" in found["module"]
        assert all(found["grads"])
        assert "same number of steps" in found["place"]
        assert "module.module" in found["wrapped"]
        assert "weights are not those" in found["weights"]
    assert "process 1 refused" in one["argument"]
    assert "process 0 refused" in two["budget"] and one["budget"]
    assert "another process refused" in one["by hand"] and "by hand" in two["by hand"]
    assert "disk is full" in one["noise"] and "process 0 could not add" in two["noise"]


def test_the_backend_that_pytorch_chooses(tmp_path):
    assert is_one_sample(ran(tmp_path, ["sums"])["sums"])


def test_parts_of_a_sample_are_divided_by_units():
    from reticent.torch.distributed import shares

    for units in range(9):
        for size in (2, 3, 5):
            parts = list(shares(units, size))
            assert parts[0][0] == 0 and parts[-1][1] == units
            assert all(first[1] == second[0] for first, second in zip(parts, parts[1:], strict=False))
            sizes = np.array([stop - start for start, stop in parts])
            assert sizes.max() - sizes.min() <= 1
