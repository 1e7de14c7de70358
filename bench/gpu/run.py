"""Times starts and training steps on a GPU, private and plain, beside PyTorch and Opacus, in one go.

The machine with the GPU needs Python with PyTorch and the working tree; neither Rust nor a network. Here, first:

    cargo build --release -p reticent-bench-gpu
    python3 bench/gpu/run.py --fetch                 puts Opacus into target/gpu-peers

Then take along, besides the tracked files, what git ignores: `target/release/reticent-bench-gpu` and
`target/gpu-peers`. There, from the root of the working tree (it takes about six minutes):

    python3 bench/gpu/run.py --binary target/release/reticent-bench-gpu --out "$OUT"

`--out` gets `results.json`, written anew after every network, and logs of what failed. Back here:

    cp results.json bench/gpu/results.json && python3 bench/gpu/page.py

writes the section of `docs/benchmarks.md`. Trials, which the page does not take: `--quick` (two short blocks each),
`--ours` (without the peers), `--models mlp,lstm`.

The compiled modes of PyTorch are compiled for all networks at once before anything is timed. Then, network by network:
our steps, the peers, our steps again.
"""

import argparse
import contextlib
import datetime
import importlib.metadata
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))
import harness  # noqa: E402
import page  # noqa: E402

HERE = Path(__file__).resolve().parent
PEERS = harness.TARGET / "gpu-peers"
BATCHES = {"logreg": (512, 4096), "mlp": (512, 4096), "mnist_cnn": (1024,), "cifar_cnn": (1024,), "transformer": (1024,), "lstm": (1024,)}
START_LIMIT, COMPILE_LIMIT = 60, 100  # seconds
RESERVE = 14  # seconds of a network that are not the peers'


def fetch():
    """Puts Opacus, which is pure Python, where it can be carried from; the rest comes with PyTorch and JAX."""
    shutil.rmtree(PEERS, ignore_errors=True)
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    subprocess.run([*install, "--target", str(PEERS), "-r", str(HERE / "requirements.txt")], check=True)


class Run:
    """Everything that is measured, and where it goes."""

    def __init__(self, asked, scratch):
        self.asked, self.scratch, self.begun = asked, scratch, time.monotonic()
        self.options = ["--blocks", 2, "--seconds", 0.02] if asked.quick else ["--blocks", 7, "--seconds", 0.15]
        self.peers_environment = os.environ | {
            "PYTHONPATH": os.pathsep.join([str(PEERS), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep),
            "PYTHONWARNINGS": "ignore",
            "TORCHINDUCTOR_CACHE_DIR": str(scratch / "inductor"),
            "TRITON_CACHE_DIR": str(scratch / "triton"),
        }
        self.results = {
            "machine": machine(self.peers_environment),
            "trial": asked.quick or asked.ours or len(asked.models) < len(BATCHES),
            "blocks": self.options[1],
            "seconds": self.options[3],
            "starts": [],
            "measurements": [],
        }

    def left(self):
        return self.asked.limit - (time.monotonic() - self.begun)

    def say(self, text):
        print(f"{time.monotonic() - self.begun:4.0f} s: {text}", file=sys.stderr, flush=True)

    def add(self, row, state=None):
        """Takes a line of a binary or a peer, a start if it has a state, and says what it is."""
        self.results["starts" if state else "measurements"].append({"state": state, **row} if state else row)
        what = " ".join(str(row[key]) for key in ("model", "batch", "mode") if key in row)
        if row.get("error"):
            figure = row["error"]
        elif state:
            figure = f"{state} start {row['start_s']:.2f} s, engine {row['engine_s']:.2f} s"
        else:
            figure = f"{1e3 * row['step_s']:.4f} ms, best {1e3 * row['best_step_s']:.4f} ms"
        self.say(f"{what}: {figure}")

    def ours(self, model, mode, batch, cache, options):
        """What one process of our binary says, with its kernels in this folder."""
        row = {"model": model, "mode": mode, "batch": batch}
        settings = os.environ | {"RETICENT_CACHE": str(cache), "CUDA_CACHE_PATH": str(cache / "driver")}
        command = [str(self.asked.binary), model, mode, "--batch", batch, *options]
        command += ["--device", self.asked.device]
        try:
            done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=START_LIMIT, env=settings)
        except subprocess.TimeoutExpired:
            return {**row, "error": f"no answer within {START_LIMIT} s"}
        if done.returncode:
            with (self.asked.out / "ours.log").open("a") as log:
                log.write(f"{command}\n{done.stderr}\n")
            message = (done.stderr.strip().splitlines() or ["no message"])[-1]
            return {**row, "error": f"status {done.returncode}: {message}"}
        return json.loads(done.stdout)

    def cache(self, model):
        folder = self.scratch / f"kernels-{model}"
        folder.mkdir(exist_ok=True)
        return folder

    def starts(self, model):
        """A start without cached kernels, then two with them. The first of all also reads the libraries from disk."""
        batch, nothing = BATCHES[model][0], ["--blocks", 0]
        if not self.results["starts"]:
            self.add(self.ours(model, "private", batch, self.cache("cold"), nothing), "cold")
        for state in ("empty", "cached", "cached"):
            self.add(self.ours(model, "private", batch, self.cache(model), nothing), state)

    def steps(self, model, batches, number):
        """Our private and plain steps."""
        for batch in batches:
            for mode in page.OURS:
                self.add({"round": number, **self.ours(model, mode, batch, self.cache(model), self.options)})

    def peer_command(self, model, *options):
        batches = ",".join(str(batch) for batch in BATCHES[model])
        words = [sys.executable, HERE / "peers.py", model, "--batches", batches, "--device", self.asked.device, *options]
        return [str(word) for word in words]

    def compile(self):
        """Compiles what PyTorch compiles, all networks at once: nothing is timed meanwhile."""
        only = ["--modes", "compiled,compiled_graphs", "--blocks", 0, "--limit", COMPILE_LIMIT]
        settings = self.peers_environment | {"TORCHINDUCTOR_COMPILE_THREADS": "4"}
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        started = [subprocess.Popen(self.peer_command(model, *only), env=settings, **quiet) for model in self.asked.models]
        until = time.monotonic() + COMPILE_LIMIT
        for process in started:
            try:
                process.wait(max(0.0, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.say("compiled")

    def peers(self, model, remaining):
        """The lines of all modes of PyTorch and Opacus; `remaining` networks are still to be measured, this one too."""
        share = max(10.0, self.left() / remaining - RESERVE)
        command = self.peer_command(model, *self.options, "--deadline", f"{share:.0f}")
        kept = b""
        with (self.asked.out / "peers.log").open("ab") as log:
            try:
                done = subprocess.run(command, stdout=subprocess.PIPE, stderr=log, env=self.peers_environment, timeout=share + 30)
                kept, failed = done.stdout, f"the peers ended with status {done.returncode}" if done.returncode else None
            except subprocess.TimeoutExpired as late:
                kept, failed = late.stdout or b"", "the peers were stopped: no time left"
        lines = [line for line in kept.decode().splitlines() if line.startswith("{") and line.endswith("}")]
        rows = [json.loads(line) for line in lines]
        for row in rows:
            self.add(row)
        if failed:
            self.add({"model": model, "error": failed})
        return rows

    def save(self):
        self.results["machine"]["seconds"] = round(time.monotonic() - self.begun)
        self.results["ratios"] = page.ratios(self.results)
        self.results["targets"] = page.targets(self.results)
        (self.asked.out / "results.json").write_text(json.dumps(self.results, indent=1) + "\n")

    def everything(self):
        models = self.asked.models
        for model in models:
            self.starts(model)
        if not self.asked.ours and not self.asked.quick:
            self.compile()
        for place, model in enumerate(models):
            self.steps(model, BATCHES[model], 0)
            if not self.asked.ours:
                rows = self.peers(model, len(models) - place)
                batches = sorted({*BATCHES[model], *(row["batch"] for row in rows)})
                self.steps(model, batches, 1)
            self.save()


def machine(settings):
    """What the figures depend on."""
    asked = ["nvidia-smi", "--id=0", "--query-gpu=name,driver_version,memory.total,memory.used", "--format=csv,noheader,nounits"]
    gpu, driver, total, used = "no GPU", "none", 0, 0
    with contextlib.suppress(OSError, subprocess.CalledProcessError, ValueError):
        told = subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()
        gpu, driver, total, used = told.split(", ")
    code = "import json, torch; print(json.dumps([torch.__version__, torch.version.cuda, torch.backends.cudnn.version() or 0]))"
    versions = {}
    with contextlib.suppress(subprocess.CalledProcessError, ValueError):
        told = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, env=settings).stdout
        torch, cuda, cudnn = json.loads(told)
        versions = {"torch": torch, "CUDA": cuda, "cuDNN": f"{cudnn // 10000}.{cudnn // 100 % 100}.{cudnn % 100}"}
    for name, folder in (("triton", None), ("opacus", str(PEERS))):
        found = importlib.metadata.distributions(name=name, **({"path": [folder, *sys.path]} if folder else {}))
        versions |= {name: each.version for each in list(found)[:1]}
    return {
        "gpu": gpu,
        "driver": driver,
        "memory_mb": float(total),
        "idle_mb": float(used),
        "cpu": harness.processor(),
        "cores": os.cpu_count(),
        "os": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "versions": versions,
        "date": datetime.date.today().isoformat(),
    }


def listed(text):
    names = text.split(",")
    for name in names:
        if name not in BATCHES:
            raise argparse.ArgumentTypeError(f"{name}: give some of {','.join(BATCHES)}")
    return names


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fetch", action="store_true", help="put Opacus into target/gpu-peers, and nothing else")
    parser.add_argument("--binary", type=Path, default=harness.TARGET / "release" / "reticent-bench-gpu")
    parser.add_argument("--out", type=Path, default=harness.TARGET / "bench-gpu", help="folder for results and logs")
    parser.add_argument("--models", type=listed, default=list(BATCHES))
    parser.add_argument("--quick", action="store_true", help="two short blocks each, to see that everything runs")
    parser.add_argument("--ours", action="store_true", help="without the peers")
    parser.add_argument("--limit", type=float, default=500.0, help="seconds for everything, about")
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda", help="cpu: a trial of the scripts")
    asked = parser.parse_args()
    if asked.fetch:
        fetch()
        return
    if not asked.binary.is_file():
        parser.error(f"--binary {asked.binary}: no such file; build it with cargo build --release -p reticent-bench-gpu")
    asked.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        run = Run(asked, Path(scratch))
        run.everything()
    print(page.section(run.results))


if __name__ == "__main__":
    main()
