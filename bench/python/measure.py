"""Measures one library in a process of its own: a line of JSON for each case.

    python measure.py calls reticent|opendp|diffprivlib SECONDS LARGEST LIMIT
    python measure.py epsilon METHOD SETTING REPEATS LIMIT
    python measure.py features TRAIN TEST FOLDER
    python measure.py fits reticent|diffprivlib FOLDER FITS EPSILON,...

Imports come before the clock starts. `features` writes what the public schema of Adult makes of its rows, for
libraries that take only numbers. Run by `run.py`.
"""

import json
import math
import os
import signal
import statistics
import sys
import time
import warnings
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.append(str(HERE.parent / "accounting"))
import peers  # noqa: E402

SCHEMA = ROOT / "testdata" / "adult" / "schema.toml"
SIZES = {"1e3": 1_000, "1e5": 100_000, "1e6": 1_000_000}
BATCH = 2e-3  # seconds of a batch of calls, so that reading the clock costs nothing beside it
LONG = 1.0  # seconds above which a call with noise is not repeated
SHORT = 5.0  # seconds below which a first call is repeated
GRID = [0.001, 0.01, 0.1, 1.0]  # diffprivlib's regularization C
HOURS = (1.0, 99.0)  # bounds of `hours_per_week` in the schema


def told(**line):
    print(json.dumps(line), flush=True)


# Calls


def per_call(call, seconds):
    """Median and least seconds of a call over batches of calls; a first call only warms up, unless it is long."""
    for _ in range(2):
        start = time.perf_counter()
        call()
        first = time.perf_counter() - start
        if first > LONG:
            return first, first, 1
    count, batches, begun = max(1, math.ceil(BATCH / max(first, 1e-6))), [], time.perf_counter()
    while not batches or time.perf_counter() - begun < seconds:
        start = time.perf_counter()
        for _ in range(count):
            call()
        batches.append((time.perf_counter() - start) / count)
    return statistics.median(batches), min(batches), count * len(batches)


def calls(library, seconds, largest, limit):
    """One number and arrays. A size that would take a call more than `limit` seconds is left out."""
    per_item = {}
    for case, items, call in CALLS[library]():
        if items > largest:
            continue
        kind = case.split("/")[0]
        if per_item.get(kind, 0) * items > limit:
            told(case=case, library=library, items=items, skipped=f"a call would take more than {limit:g} s")
            continue
        median, best, count = per_call(call, seconds)
        if items > 1:
            per_item[kind] = median / items
        told(case=case, library=library, items=items, call_s=median, best_s=best, calls=count)


def reticent_calls():
    import numpy
    from reticent import mechanisms

    ways = {
        "laplace": lambda value: mechanisms.laplace(value, sensitivity=1.0, epsilon=1.0),
        "gaussian": lambda value: mechanisms.gaussian(value, sensitivity=1.0, scale=4.0, delta=1e-6),
        "gaussian_calibrated": lambda value: mechanisms.gaussian(value, sensitivity=1.0, epsilon=1.0, delta=1e-6),
        "discrete_laplace": lambda value: mechanisms.discrete_laplace(value, sensitivity=1, epsilon=1.0),
    }
    for kind, way in ways.items():
        is_whole = kind.startswith("discrete")
        one = 1000 if is_whole else 1000.0
        yield f"{kind}/1", 1, lambda way=way, one=one: way(one)
        if kind == "gaussian_calibrated":
            continue
        for label, size in SIZES.items():
            values = numpy.zeros(size, dtype=numpy.int64 if is_whole else numpy.float64)
            yield f"{kind}/{label}", size, lambda way=way, values=values: way(values)


def opendp_calls():
    import numpy
    import opendp.prelude as dp

    dp.enable_features("contrib")
    real, whole = dp.atom_domain(T="f64", nan=False), dp.atom_domain(T="i64")
    ways = {
        "laplace": (dp.m.make_laplace, real, "f64", dp.absolute_distance, dp.l1_distance, "f64", 1.0),
        "gaussian": (dp.m.make_gaussian, real, "f64", dp.absolute_distance, dp.l2_distance, "f64", 4.0),
        "discrete_laplace": (dp.m.make_laplace, whole, "i64", dp.absolute_distance, dp.l1_distance, "i64", 1.0),
    }
    for kind, (make, atom, type_of_number, absolute, norm, type_of_distance, scale) in ways.items():
        one, distance = 1000.0 if type_of_number == "f64" else 1000, absolute(T=type_of_distance)
        built = make(atom, distance, scale)
        yield f"{kind}/1", 1, lambda m=make, a=atom, d=distance, s=scale, one=one: m(a, d, s)(one)
        yield f"{kind}/1/built", 1, lambda b=built, one=one: b(one)
        vector = make(dp.vector_domain(atom), norm(T=type_of_distance), scale)
        for label, size in SIZES.items():
            values = numpy.zeros(size, dtype=numpy.float64 if type_of_number == "f64" else numpy.int64)
            yield f"{kind}/{label}", size, lambda v=vector, values=values: v(values)


def diffprivlib_calls():
    from diffprivlib import mechanisms

    ways = {
        "laplace": (lambda: mechanisms.Laplace(epsilon=1.0, sensitivity=1.0), 1000.0),
        "gaussian_calibrated": (lambda: mechanisms.GaussianAnalytic(epsilon=1.0, delta=1e-6, sensitivity=1.0), 1000.0),
        "discrete_laplace": (lambda: mechanisms.Geometric(epsilon=1.0, sensitivity=1), 1000),
    }
    for kind, (make, one) in ways.items():
        built = make()
        yield f"{kind}/1", 1, lambda make=make, one=one: make().randomise(one)
        yield f"{kind}/1/built", 1, lambda b=built, one=one: b.randomise(one)
        # It takes one number at a time; its built Gaussian mechanism is comparable to one of known scale.
        name = kind.removesuffix("_calibrated")
        for label, size in SIZES.items():
            values = [one] * size
            yield f"{name}/{label}", size, lambda b=built, values=values: [b.randomise(value) for value in values]


CALLS = {"reticent": reticent_calls, "opendp": opendp_calls, "diffprivlib": diffprivlib_calls}


# Epsilon


def reticent_epsilon(setting):
    import functools
    import operator

    from reticent.accounting import Gaussian, Laplace

    def event(kind, count, noise, *rate):
        one = Laplace(noise) if kind == "laplace" else Gaussian(noise)
        return (one.poisson(rate[0]) if rate else one) * count

    events, delta = peers.known_setting(setting)

    def call():
        bounds = functools.reduce(operator.add, (event(*each) for each in events)).epsilon(delta=delta)
        return {"lower": float(bounds.lower), "upper": float(bounds.upper)}

    return call


def opacus_prv(error):
    def method(setting):
        from opacus.accountants import PRVAccountant

        events, delta = peers.known_setting(setting)
        if any(kind == "laplace" for kind, *_ in events):
            raise NotImplementedError("Opacus has no Laplace mechanism")

        def call():
            accountant = PRVAccountant()
            accountant.history = [(noise, rate[0] if rate else 1.0, count) for _, count, noise, *rate in events]
            return {"upper": float(accountant.get_epsilon(delta, eps_error=error))}

        return call

    return method


METHODS = {
    "reticent": reticent_epsilon,
    "dpa_rdp": peers.dpa_rdp,
    "dpa_pld_1e-4": peers.dpa_pld(1e-4),
    "dpa_pld_1e-5": peers.dpa_pld(1e-5),
    "prv_0.1": peers.prv(0.1),
    "prv_0.01": peers.prv(0.01),
    "opacus_rdp": peers.opacus("rdp"),
    "opacus_prv_0.1": opacus_prv(0.1),
    "opacus_prv_0.01": opacus_prv(0.01),
}


def timed(call):
    """Wall and CPU seconds of a call."""
    cpu, wall = time.process_time(), time.perf_counter()
    call()
    return {"wall_s": time.perf_counter() - wall, "cpu_s": time.process_time() - cpu}


def epsilon(method, setting, repeats, limit):
    """The answer of one method, its first call and the calls after it.

    The system ends a first call that has used the limit on every core: both its wall and its CPU time are above the limit.
    """
    line = {"method": method, "setting": setting}
    try:
        call = METHODS[method](setting)
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, limit * (os.cpu_count() or 1))
        first = timed(lambda: line.update(call()))
        signal.setitimer(signal.ITIMER_PROF, 0)
        runs = [timed(call) for _ in range(repeats if first["wall_s"] < SHORT else 0)]
        line |= {key: statistics.median(run[key] for run in runs or [first]) for key in ("wall_s", "cpu_s")}
        line |= {"first_s": first["wall_s"], "calls": len(runs) or 1}
    except Exception as error:
        line["error"] = f"{type(error).__name__}: {error}".strip(": ")
    told(**line)


# Fits


def schemas():
    """The public schema of Adult for the income, and for the hours worked per week without the income."""
    import tomllib

    text = SCHEMA.read_text()
    columns = dict(tomllib.loads(text)["columns"])
    bounds = columns.pop("hours_per_week")["bounds"]
    if tuple(bounds) != HOURS:
        raise ValueError(f"the schema bounds hours_per_week by {bounds}")
    columns["income"] = "ignore"
    lines = ['unit = "row"', "[label]", 'column = "hours_per_week"', f"bounds = {json.dumps(bounds)}", "[columns]"]
    for name, column in columns.items():
        if isinstance(column, str):
            lines.append(f"{name} = {json.dumps(column)}")
        else:
            fields = ", ".join(f"{key} = {json.dumps(value)}" for key, value in column.items())
            lines.append(f"{name} = {{ {fields} }}")
    return {"income": text, "hours": "\n".join(lines) + "\n"}


TARGETS = {"income": "income", "hours": "hours_per_week"}


def features(train, test, folder):
    """Both parts as Parquet, and their features as arrays: of norm at most 1 for the income, from 0 to 1 for the hours."""
    import numpy
    import pandas
    from reticent.preprocessing import SchemaEncoder

    Path(folder).mkdir(parents=True, exist_ok=True)
    parts = {"train": pandas.read_parquet(train)}
    if Path(test) == Path(train):
        rows = 4 * len(parts["train"]) // 5
        parts = {"train": parts["train"].iloc[:rows], "test": parts["train"].iloc[rows:]}
    else:
        parts["test"] = pandas.read_parquet(test)
    for part, frame in parts.items():
        frame = frame.reset_index(drop=True)
        frame.to_parquet(f"{folder}/{part}.parquet")
        for target, text in schemas().items():
            encoder = SchemaEncoder(schema=text)
            encoded = encoder.transform(frame)
            columns = {str(name).split("=")[0].split(":")[0] for name in encoder.get_feature_names_out()}
            scale = math.sqrt(len(columns)) if target == "income" else 1.0
            numpy.save(f"{folder}/{part}_{target}_x.npy", encoded / scale)
            values = frame[TARGETS[target]]
            values = (values == ">50K") if target == "income" else values
            numpy.save(f"{folder}/{part}_{target}_y.npy", values.to_numpy(dtype=numpy.float64))
    told(rows={part: len(frame) for part, frame in parts.items()})


def fitted(library, model, epsilon, fits, train, test, make, **about):
    """So many fits, each with its score on the test part, which is not timed."""
    for _ in range(fits):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            fresh = make()
            start = time.perf_counter()
            fresh.fit(*train)
            seconds = time.perf_counter() - start
        line = {"library": library, "model": model, "epsilon": epsilon, "seconds": seconds}
        line["score"] = float(fresh.score(*test))
        if library == "reticent":
            warned = any(one.category.__name__ == "PrivacyWarning" for one in caught)
            line |= {"method": fresh.method_, "warned": warned}
        told(**line, **about)


def reticent_fits(folder, fits, epsilons):
    import pandas
    import pyarrow.parquet
    from reticent import models

    text = schemas()
    frames = {part: pandas.read_parquet(f"{folder}/{part}.parquet") for part in ("train", "test")}
    tables = {part: pyarrow.parquet.read_table(f"{folder}/{part}.parquet") for part in ("train", "test")}
    kinds = {
        "logistic": (models.LogisticRegression, "income"),
        "svm": (models.LinearSVC, "income"),
        "ridge": (models.Ridge, "hours"),
    }
    for model, (kind, target) in kinds.items():
        for data, parts in (("pandas", frames), ("pyarrow", tables)):
            if data == "pyarrow" and model != "logistic":
                continue
            train, test = ((parts[part], frames[part][TARGETS[target]]) for part in ("train", "test"))
            for epsilon in epsilons:
                make = lambda: kind(epsilon=epsilon, schema=text[target], neighboring="replace-one", **declared(model))
                fitted("reticent", model, epsilon, fits, train, test, make, data=data)


def declared(model):
    return {} if model == "ridge" else {"classes": ("<=50K", ">50K")}


def diffprivlib_fits(folder, fits, epsilons):
    import numpy
    from diffprivlib.models import LinearRegression, LogisticRegression

    def part(name, target):
        return tuple(numpy.load(f"{folder}/{name}_{target}_{side}.npy") for side in "xy")

    train, test = part("train", "income"), part("test", "income")
    for epsilon in epsilons:
        for c in GRID:
            make = lambda: LogisticRegression(epsilon=epsilon, data_norm=1.0, C=c, max_iter=1000)
            fitted("diffprivlib", "logistic", epsilon, fits, train, test, make, C=c)
    train, test = part("train", "hours"), part("test", "hours")
    for epsilon in epsilons:
        make = lambda: LinearRegression(epsilon=epsilon, bounds_X=(0.0, 1.0), bounds_y=HOURS)
        fitted("diffprivlib", "ridge", epsilon, fits, train, test, make)


FITS = {"reticent": reticent_fits, "diffprivlib": diffprivlib_fits}


def main():
    part, *words = sys.argv[1:]
    if part == "calls":
        warnings.simplefilter("ignore")
        library, seconds, largest, limit = words
        calls(library, float(seconds), int(largest), float(limit))
    elif part == "epsilon":
        method, setting, repeats, limit = words
        epsilon(method, setting, int(repeats), float(limit))
    elif part == "features":
        features(*words)
    elif part == "fits":
        library, folder, fits, epsilons = words
        FITS[library](folder, int(fits), [float(word) for word in epsilons.split(",")])
    else:
        sys.exit(f"{part}: give calls, epsilon, features or fits")


if __name__ == "__main__":
    main()
