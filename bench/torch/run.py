"""Times a training step of PyTorch modules: plain, by ``reticent.torch``, and by Opacus and FastDP where they can be imported.

On a CPU, in an environment with PyTorch, Opacus and the package built for release (about ten minutes):

    python bench/torch/run.py --device cpu --threads 2 --out bench/torch/results/cpu.json

On a machine with a GPU and PyTorch, where nothing can be installed and nothing compiled (about five minutes): bring along the native
module that `maturin develop --release` puts into `python/reticent`, and Opacus, whose sources

    pip install --no-deps --target target/torch-peers opacus

puts where they can be carried from. FastDP is not in the package index: where the folder `fastDP` of its repository
(awslabs/fast-differential-privacy; measured were `privacy_engine.py` of 053a82df69e4 and the other files of 30f097a17781, without its
accounting) is put beside it, it is timed as well. There, from the root of the working tree:

    PYTHONPATH=python:target/torch-peers python3 bench/torch/run.py --device cuda --out "$OUT/h200.json"

Results are written after every model. `python3 bench/torch/page.py` writes the pages from all files in `bench/torch/results`.

One process times a model, in turns, so that all see the same machine. A step is forward, backward, noise and update of SGD on one batch
that stays in memory; drawing the next sample is part of our step. Results are the best of the rounds, in milliseconds. Memory on a GPU
is the most that tensors hold in a step more than before it. On a CPU it is the most that a process of its own holds in its first ten
steps more than before them (resident memory), the median of three processes: between processes it differs by a tenth.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import datetime
import gc
import importlib
import importlib.metadata
import io
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parent.parent)]

import harness  # noqa: E402
from models import MODELS, Transformer  # noqa: E402

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


def fastdp(with_origin: bool) -> Callable[..., Callable[[], None]]:
    def make(model: nn.Module, x: Any, y: Any) -> Callable[[], None]:
        from fastDP import PrivacyEngine

        trained = {name: own for name, own in model.named_parameters() if own.requires_grad}
        optimizer = torch.optim.SGD(trained.values(), lr=1e-3)
        # It prints what it does.
        with contextlib.redirect_stdout(io.StringIO()):
            engine = PrivacyEngine(
                model, batch_size=len(x), sample_size=100 * len(x), epochs=1, noise_multiplier=NOISE, max_grad_norm=NORM,
                clipping_fn="Abadi", clipping_mode="MixOpt", clipping_style="all-layer", loss_reduction="mean",
                origin_params=origins(model) if with_origin else None,
            )  # fmt: skip
            engine.attach(optimizer)
        covered = {id(own) for _, layer in engine.named_layers for own in layer.parameters()}
        missing = [name for name, own in trained.items() if id(own) not in covered]
        if missing:
            raise NotImplementedError(f"trains without {missing[0]} and {len(missing) - 1} others")

        def step() -> None:
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
            optimizer.zero_grad()

        return step

    return make


def origins(model: nn.Module) -> list[str]:
    """The parameters that backpropagation of FastDP has to reach: with them it does not compute ordinary gradients of the others."""
    if isinstance(model, nn.Sequential) and getattr(model[0], "bias", None) is not None:
        return ["0.bias"]
    if isinstance(model, Transformer) and model.words.weight.requires_grad:
        return ["words", "places"]
    raise NotImplementedError("no such parameters are known to give all gradients")


WAYS: dict[str, Callable[..., Callable[[], None]]] = {
    "plain": plain,
    "reticent": reticent,
    "opacus_hooks": opacus("hooks"),
    "opacus_ghost": opacus("ghost"),
    "opacus_functorch": opacus("functorch"),
    "fastdp": fastdp(False),
    "fastdp_origin": fastdp(True),
}


#: Replaced by the time of the processor where the machine is shared.
clock = time.perf_counter


def timed(step: Callable[[], None], count: int, device: str) -> float:
    start = clock()
    for _ in range(count):
        step()
    if device == "cuda":
        torch.cuda.synchronize()
    return 1e3 * (clock() - start) / count


def tracked() -> list[nn.Parameter]:
    """The weights of all optimizers that autograd tracks."""
    found = [own for own in gc.get_objects() if issubclass(type(own), torch.optim.Optimizer)]
    groups = [group for own in found for group in getattr(own, "param_groups", [])]
    return [weight for group in groups for weight in group["params"] if weight.requires_grad]


def alone(way: str, trained: dict[str, list[nn.Parameter]]) -> None:
    """Has no other way's weights be tracked: a loop that trains one module has none beside it."""
    for other, weights in trained.items():
        for own in weights:
            own.requires_grad_(other == way)


def measure(name: str, device: str, ways: list[str], rounds: int, seconds: float, rows: int | None) -> dict[str, Any]:
    make, data, on_cpu, on_gpu = MODELS[name]
    rows = rows or (on_cpu if device == "cpu" else on_gpu)
    torch.manual_seed(0)
    first = make()
    x, y = (own.to(device) for own in data(rows))
    steps: dict[str, Callable[[], None]] = {}
    trained: dict[str, list[nn.Parameter]] = {}
    found: dict[str, Any] = {"batch": rows, "weights": sum(own.numel() for own in first.parameters() if own.requires_grad)}
    peaks: dict[str, int] = {}
    for way in ways:
        try:
            alone("", trained)
            model = copy.deepcopy(first).to(device).train()
            before = [(own, own.detach().clone()) for own in model.parameters() if own.requires_grad]
            step = WAYS[way](model, x, y)
            trained[way] = tracked()
            alone(way, trained)
            step()
            # Opacus trains a copy.
            if not way.startswith("opacus") and any(torch.equal(own, other) for own, other in before):
                raise NotImplementedError("some weights do not move")
            del before
            if device == "cuda":
                gc.collect()
                torch.cuda.synchronize()
                torch.cuda.reset_peak_memory_stats()
                held = torch.cuda.memory_allocated()
                step()
                torch.cuda.synchronize()
                peaks[way] = torch.cuda.max_memory_allocated() - held
            steps[way] = step
        except ImportError as error:
            found[way] = {"skipped": f"cannot be imported: {error}"}
        except Exception as error:
            found[way] = {"skipped": f"{type(error).__name__}: {str(error)[:200]}"}
    best = dict.fromkeys(steps, float("inf"))
    for _ in range(rounds):
        for way, step in steps.items():
            alone(way, trained)
            once = timed(step, 1, device)
            count = max(1, min(200, int(1e3 * seconds / max(once, 1e-3))))
            best[way] = min(best[way], timed(step, count, device))
    for way, value in best.items():
        found[way] = {"milliseconds": round(value, 3), "ratio": round(value / best["plain"], 3)}
        if way in peaks:
            found[way]["peak_mib"] = round(peaks[way] / 2**20, 1)
    return found


def resident(field: str) -> int:
    """Resident memory of this process in KiB, now (VmRSS) or at its peak (VmHWM)."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(field))
    return int(line.split()[1])


def remember(name: str, way: str, rows: int | None) -> None:
    """Prints by how many KiB ten steps raise the memory of this process."""
    make, data, on_cpu, _ = MODELS[name]
    torch.manual_seed(0)
    model = make().train()
    x, y = data(rows or on_cpu)
    step = WAYS[way](model, x, y)
    gc.collect()
    # Resets the peak; processes without the right keep the higher of both.
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    before = resident("VmRSS")
    for _ in range(10):
        step()
    print("peak", resident("VmHWM") - before)


def memory_of(name: str, way: str, threads: int, rows: int | None) -> float | None:
    """The memory of steps in a process of its own, in MiB: the median of three."""
    command = [sys.executable, __file__, "--remember", name, way, "--threads", str(threads)]
    command += ["--rows", str(rows)] if rows else []
    found = []
    for _ in range(3):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=300)
        found += [int(line.split()[1]) / 1024 for line in done.stdout.splitlines() if line.startswith("peak ")]
    return statistics.median(found) if len(found) == 3 else None


def version(name: str) -> str | None:
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        return importlib.metadata.version(name)
    with contextlib.suppress(ImportError):
        return str(importlib.import_module(name).__version__)
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
    parser.add_argument("--no-memory", action="store_true", help="leaves out the processes that measure memory on a CPU")
    parser.add_argument(
        "--cpu-time", action="store_true", help="counts the processor's time, for a machine that is shared; with --threads 1"
    )
    parser.add_argument("--remember", nargs=2, metavar=("MODEL", "WAY"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    if given.device == "cpu":
        torch.set_num_threads(given.threads)
    if given.remember:
        remember(*given.remember, given.rows)
        return
    if given.cpu_time:
        global clock
        clock = time.process_time
    result: dict[str, Any] = {
        "clock": "processor" if given.cpu_time else "wall",
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "device": torch.cuda.get_device_name() if given.device == "cuda" else harness.processor(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2),
        "threads": torch.get_num_threads(),
        "python": platform.python_version(),
        "versions": {name: version(name) for name in ("torch", "opacus", "fastDP", "reticent")} | {"torch": torch.__version__},
        "precision": "float32 without TF32",
        "models": {},
    }
    ways = ["plain", *(way for way in given.ways if way != "plain")]
    for name in given.models:
        found = measure(name, given.device, ways, given.rounds, given.seconds, given.rows)
        gc.collect()
        if given.device == "cpu" and not given.no_memory:
            for way in (way for way in ways if "ratio" in found.get(way, {})):
                peak = memory_of(name, way, given.threads, given.rows)
                if peak is not None:
                    found[way]["peak_mib"] = round(peak, 1)
        base = found["plain"].get("peak_mib")
        for way in (way for way in ways if base and "peak_mib" in found.get(way, {})):
            found[way]["memory_ratio"] = round(found[way]["peak_mib"] / base, 3)
        result["models"][name] = found
        shown = "  ".join(
            f"{way} {own['milliseconds']} ms ({own['ratio']}), {own.get('peak_mib')} MiB ({own.get('memory_ratio')})"
            if "ratio" in own
            else f"{way} skipped"
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
