"""The examples that Opacus ships run with the import changed, and with nothing else changed.

They are in its source distribution, which is downloaded once per environment. Their data are made up here, in the files that the
examples read.
"""

from __future__ import annotations

import re
import struct
import subprocess
import sys
import tarfile
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("torchvision")

VERSION = "1.6.0"

#: Reads made-up images as the dataset: torchvision compares checksums with those of the original files.
ANY_IMAGES = "from torchvision.datasets import cifar\ncifar.check_integrity = lambda *given: True\n"


@pytest.fixture(scope="module")
def examples() -> Path:
    """The folder of the examples."""
    place = Path(sys.prefix) / f"opacus-{VERSION}"
    if not (place / "examples").is_dir():
        place.mkdir(exist_ok=True)
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        command += ["--no-binary", ":all:", "--dest", str(place), f"opacus=={VERSION}"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode:
            pytest.skip(f"the sources of Opacus cannot be had: {done.stderr.strip()[-200:]}")
        (archive,) = place.glob("opacus-*.tar.gz")
        with tarfile.open(archive) as packed:
            names = [own for own in packed.getmembers() if own.name.startswith(f"opacus-{VERSION}/examples/")]
            packed.extractall(place.parent, members=names, filter="data")
    return place / "examples"


def changed(text: str) -> str:
    """The program with its imports changed."""
    found, count = re.subn(r"^(from|import) opacus\b", r"\1 reticent.torch", text, flags=re.MULTILINE)
    assert count
    return found


def ran(examples: Path, name: str, folder: Path, *words: str, before: str = "") -> subprocess.CompletedProcess[str]:
    """Runs an example on the CPU in a folder."""
    program = folder / name
    program.write_text(before + changed((examples / name).read_text(encoding="utf-8")), encoding="utf-8")
    command = [sys.executable, str(program), "--device", "cpu", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)


def spent(printed: str) -> list[float]:
    """Every ε that was printed."""
    return [float(own) for own in re.findall(r"ε = ([0-9.]+)", printed)]


def bound(noise: float, rate: float, steps: int, delta: float) -> float:
    """ε of a training."""
    from reticent.accounting import Gaussian

    return (Gaussian(noise).poisson(rate) * steps).epsilon(delta=delta).upper


def images(seed: int, count: int, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Images with a bright column where the label says, and the labels."""
    generator = np.random.default_rng(seed)
    labels = generator.integers(0, 10, count).astype(np.uint8)
    pixels = generator.integers(0, 60, (count, *shape)).astype(np.uint8)
    for place, label in enumerate(labels):
        pixels[place, ..., 2 * label + 3 : 2 * label + 6] += 180
    return pixels, labels


def write_mnist(folder: Path) -> None:
    """Digits in the files of MNIST."""
    raw = folder / "MNIST" / "raw"
    raw.mkdir(parents=True)
    for part, seed, count in (("train", 1, 2400), ("t10k", 2, 500)):
        pixels, labels = images(seed, count, (28, 28))
        (raw / f"{part}-images-idx3-ubyte").write_bytes(struct.pack(">4i", 2051, count, 28, 28) + pixels.tobytes())
        (raw / f"{part}-labels-idx1-ubyte").write_bytes(struct.pack(">2i", 2049, count) + labels.tobytes())


def test_mnist(examples, tmp_path):
    write_mnist(tmp_path / "data")
    done = ran(examples, "mnist.py", tmp_path, "--data-root", "data", "-n", "3", "-b", "60", "--sigma", "0.8", "--lr", "0.3")
    assert done.returncode == 0, done.stderr
    assert spent(done.stdout) == [round(bound(0.8, 0.025, 40 * own, 1e-5), 2) for own in (1, 2, 3)]
    (accuracy,) = re.findall(r"\(([0-9.]+)%\)", done.stdout)
    # It learns: guessing has 10 %.
    assert float(accuracy) > 40


@pytest.mark.parametrize("words", [("--mode", "lstm"), ("--mode", "gru", "--n-layers", "2"), ("--mode", "rnn")])
def test_char_lstm(examples, tmp_path, words):
    names = tmp_path / "names"
    names.mkdir()
    generator = np.random.default_rng(3)
    for language, letters in (("Latin", "aeioumr"), ("Gothic", "kstgwzh"), ("Greek", "αβγδλος")):
        rows = ["".join(generator.choice(list(letters), generator.integers(3, 9))) for _ in range(400)]
        (names / f"{language}.txt").write_text("\n".join(rows) + "\n", encoding="utf-8")
    done = ran(
        examples, "char-lstm-classification.py", tmp_path, "--data-root", "names", "--epochs", "2", "-b", "96", "--test-every", "1",
        "--hidden-size", "32", *words,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = spent(done.stdout)
    # After an epoch in training, and in the test that follows it.
    one, two = (round(bound(1.0, 0.1, 10 * own, 8e-5), 2) for own in (1, 2))
    assert found == [one, one, two, two, two]
    assert "Test Accuracy" in done.stdout


@pytest.mark.parametrize("words", [(), ("--clip_per_layer",), ("--optim", "Adam", "--lr", "0.001"), ("--grad_sample_mode", "ew")])
def test_cifar10(examples, tmp_path, words):
    import pickle

    folder = tmp_path / "data" / "cifar-10-batches-py"
    folder.mkdir(parents=True)
    for place, name in enumerate([*(f"data_batch_{own}" for own in range(1, 6)), "test_batch"]):
        pixels, labels = images(place, 80, (3, 32, 32))
        content = {"data": pixels.reshape(80, -1), "labels": labels.tolist()}
        (folder / name).write_bytes(pickle.dumps(content))
    (folder / "batches.meta").write_bytes(pickle.dumps({"label_names": [str(own) for own in range(10)]}))
    done = ran(
        examples, "cifar10.py", tmp_path, "--data-root", "data", "--epochs", "1", "--batch-size", "40", "-j", "0", "--checkpoint-file", "kept",
        *words, before=ANY_IMAGES,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    # It is printed after the first of ten steps.
    assert spent(done.stdout) == [round(bound(1.5, 0.1, 1, 1e-5), 2)]
    assert (tmp_path / "kept.tar").exists()


def test_dcgan(examples, tmp_path):
    write_mnist(tmp_path / "data")
    done = ran(
        examples, "dcgan.py", tmp_path, "--data-root", "data", "--epochs", "1", "--batch-size", "80", "--ndf", "8", "--ngf", "8",
        "--workers", "0", "--outf", "out",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "netD_epoch_0.pth").exists()


def test_samples_that_are_not_poisson_are_refused(examples, tmp_path):
    done = ran(examples, "vision_benchmark.py", tmp_path, "--steps", "2", "-b", "4", "--height", "32", "--width", "32", "-j", "0")
    assert done.returncode != 0
    assert "poisson_sampling" in done.stderr.strip().splitlines()[-1]
