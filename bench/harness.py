"""What the runners of benches share: an environment with the peers, and what the figures depend on."""

import datetime
import os
import platform
import subprocess
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))


def environment(name, requirements):
    """The Python of an environment that holds the peers, made anew when the requirements have changed."""
    folder = TARGET / f"bench-{name}-venv"
    python, stamp = folder / "bin" / "python", folder / "installed-requirements.txt"
    if not (stamp.exists() and stamp.read_text() == requirements.read_text()):
        venv.create(folder, with_pip=True, clear=True)
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, "-r", requirements], check=True)
        stamp.write_text(requirements.read_text())
    return python


def machine(python, requirements):
    """Processor, system and versions."""
    pinned = [line.split("==")[0] for line in requirements.read_text().split()]
    code = f"import importlib.metadata as m; print(*[m.version(n) for n in {pinned!r}])"
    found = subprocess.run([python, "-c", code], check=True, stdout=subprocess.PIPE, text=True).stdout.split()
    rustc = subprocess.run(["rustc", "--version"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return {
        "cpu": processor(),
        "cores": os.cpu_count(),
        "os": f"{platform.system()} {platform.release()}",
        "rustc": rustc.stdout.strip(),
        "python": platform.python_version(),
        "versions": dict(zip(pinned, found)),
        "date": datetime.date.today().isoformat(),
        "load": round(os.getloadavg()[0], 2),
    }


def processor():
    """The model, and the widest vector instructions."""
    lines = [line.split(":", 1) for line in Path("/proc/cpuinfo").read_text().splitlines() if ":" in line]
    fields = {name.strip(): value.strip() for name, value in lines}
    flags = fields.get("flags", "").split()
    widest = next((flag for flag in ("avx512f", "avx2") if flag in flags), "no avx2")
    return f"{fields.get('model name', platform.processor())}, family {fields.get('cpu family')}, {widest}"


def write_section(docs, marks, section):
    """Replaces what stands between two marks in the page of benchmarks, or adds it at the end."""
    (start, end), path = marks, docs / "benchmarks.md"
    text = path.read_text()
    if start not in text:
        text = f"{text.rstrip()}\n\n{start}\n{end}\n"
    before, rest = text.split(start, 1)
    after = rest.split(end, 1)[1]
    path.write_text(f"{before}{start}\n{section}{end}{after}")
