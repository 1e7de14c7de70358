"""Times a training step of PyTorch modules: plain, by ``reticent.torch``, and by Opacus and FastDP where they can be imported.

    python bench/torch/run.py --device cpu --threads 2 --out bench/torch/results/cpu.json

Where nothing can be installed, put the sources of the package with its native module and those of the peers on the path:

    PYTHONPATH=python:opacus_unzipped python bench/torch/run.py --device cuda --out bench/torch/results/h200.json

One process times everything, in turns, so that all see the same machine. A step is forward, backward, noise and update of SGD on one
batch that stays in memory; sampling is not part of it. Results are the best of the rounds, in milliseconds, with the peak of GPU memory.
"""

from __future__ import annotations

import argparse
import copy
import datetime
import gc
import importlib.metadata
import json
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

sys.path.insert(0, str(Path(__file__).parent))

from models import MODELS

NORM, NOISE = 1.0, 1.0


def loader_of(x: Any, y: Any) -> DataLoader[Any]:
    return DataLoader(TensorDataset(x.cpu(), y.cpu()), batch_size=len(x))


def plain(model: nn.Module, x: Any, y: Any) -> Callable[[], None]:
    optimizer = torch.optim.SGD((own for own in model.parameters() if own.requires_grad), lr=1e-3)

    def step() -> None:
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


def reticent(model: nn.Module, x: Any, y: Any) -> Callable[[], None]:
    from reticent.torch import PrivacyEngine
    from reticent.torch.sampling import Batch

    engine = PrivacyEngine()
    optimizer = torch.optim.SGD((own for own in model.parameters() if own.requires_grad), lr=1e-3)
    engine.make_private(
        module=model, optimizer=optimizer, data_loader=loader_of(x, y), noise_multiplier=NOISE, max_grad_norm=NORM,
        dataset_size=100 * len(x), epochs=100,
    )  # fmt: skip
    run = engine.own_run
    batch = Batch(len(x), None, len(x), False, True, True)

    def step() -> None:
        run.own_steps.sample()
        run.announce(batch)
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


def opacus(mode: str) -> Callable[..., Callable[[], None]]:
    def make(model: nn.Module, x: Any, y: Any) -> Callable[[], None]:
        from opacus import PrivacyEngine
        from opacus.validators import ModuleValidator

        model = ModuleValidator.fix(model)
        optimizer = torch.optim.SGD((own for own in model.parameters() if own.requires_grad), lr=1e-3)
        criterion = nn.CrossEntropyLoss()
        made = PrivacyEngine().make_private(
            module=model, optimizer=optimizer, data_loader=loader_of(x, y), noise_multiplier=NOISE, max_grad_norm=NORM,
            poisson_sampling=False, grad_sample_mode=mode, criterion=criterion,
        )  # fmt: skip
        if mode == "ghost":
            private, optimizer, criterion, _ = made
        else:
            private, optimizer, _ = made
        private.train()

        def step() -> None:
            optimizer.zero_grad()
            criterion(private(x), y).backward()
            optimizer.step()

        return step

    return make


def fastdp(model: nn.Module, x: Any, y: Any) -> Callable[[], None]:
    from fastDP import PrivacyEngine

    optimizer = torch.optim.SGD((own for own in model.parameters() if own.requires_grad), lr=1e-3)
    engine = PrivacyEngine(
        model, batch_size=len(x), sample_size=100 * len(x), epochs=1, noise_multiplier=NOISE, max_grad_norm=NORM,
        clipping_fn="Abadi", clipping_mode="MixOpt", clipping_style="all-layer", loss_reduction="mean",
    )  # fmt: skip
    engine.attach(optimizer)

    def step() -> None:
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


WAYS: dict[str, Callable[..., Callable[[], None]]] = {
    "plain": plain,
    "reticent": reticent,
    "opacus_hooks": opacus("hooks"),
    "opacus_ghost": opacus("ghost"),
    "opacus_functorch": opacus("functorch"),
    "fastdp": fastdp,
}


def timed(step: Callable[[], None], count: int, device: str) -> float:
    start = time.perf_counter()
    for _ in range(count):
        step()
    if device == "cuda":
        torch.cuda.synchronize()
    return 1e3 * (time.perf_counter() - start) / count


def measure(name: str, device: str, ways: list[str], rounds: int, seconds: float, rows: int | None) -> dict[str, Any]:
    make, data, on_cpu, on_gpu = MODELS[name]
    rows = rows or (on_cpu if device == "cpu" else on_gpu)
    torch.manual_seed(0)
    first = make()
    x, y = (own.to(device) for own in data(rows))
    steps: dict[str, Callable[[], None]] = {}
    found: dict[str, Any] = {"batch": rows, "weights": sum(own.numel() for own in first.parameters() if own.requires_grad)}
    peaks: dict[str, int] = {}
    for way in ways:
        try:
            step = WAYS[way](copy.deepcopy(first).to(device).train(), x, y)
            step()
            if device == "cuda":
                gc.collect()
                torch.cuda.synchronize()
                torch.cuda.reset_peak_memory_stats()
                before = torch.cuda.memory_allocated()
                step()
                torch.cuda.synchronize()
                peaks[way] = torch.cuda.max_memory_allocated() - before
            steps[way] = step
        except ImportError as error:
            found[way] = {"skipped": f"cannot be imported: {error}"}
        except Exception as error:
            found[way] = {"skipped": f"{type(error).__name__}: {str(error)[:200]}"}
    best = dict.fromkeys(steps, float("inf"))
    for _ in range(rounds):
        for way, step in steps.items():
            once = timed(step, 1, device)
            count = max(1, min(200, int(1e3 * seconds / max(once, 1e-3))))
            best[way] = min(best[way], timed(step, count, device))
    for way, value in best.items():
        found[way] = {"milliseconds": round(value, 3), "ratio": round(value / best["plain"], 3)}
        if way in peaks:
            found[way]["peak_mib"] = round(peaks[way] / 2**20, 1)
    return found


def version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu", choices=["cpu", "cuda"])
    parser.add_argument("--threads", type=int, default=2, help="threads of a CPU")
    parser.add_argument("--models", nargs="*", default=list(MODELS), choices=list(MODELS))
    parser.add_argument("--ways", nargs="*", default=list(WAYS), choices=list(WAYS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1.0, help="time for each model, way and round")
    parser.add_argument("--rows", type=int, help="examples in a batch; each model's own if it is not given")
    parser.add_argument("--out", type=Path, help="a JSON file for the results")
    given = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    if given.device == "cpu":
        torch.set_num_threads(given.threads)
    result: dict[str, Any] = {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "device": torch.cuda.get_device_name() if given.device == "cuda" else platform.processor() or platform.machine(),
        "threads": torch.get_num_threads(),
        "python": platform.python_version(),
        "versions": {name: version(name) for name in ("torch", "opacus", "fastDP", "reticent")} | {"torch": torch.__version__},
        "precision": "float32 without TF32",
        "models": {},
    }
    ways = ["plain", *(way for way in given.ways if way != "plain")]
    for name in given.models:
        found = measure(name, given.device, ways, given.rounds, given.seconds, given.rows)
        result["models"][name] = found
        shown = "  ".join(
            f"{way} {own['milliseconds']} ms ({own['ratio']})" if "ratio" in own else f"{way} skipped"
            for way, own in found.items()
            if isinstance(own, dict)
        )
        print(f"{name}, {found['batch']} examples: {shown}", flush=True)
        gc.collect()
    if given.out:
        given.out.parent.mkdir(parents=True, exist_ok=True)
        given.out.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
