"""Make adult.parquet and testdata/survey.csv from the raw Adult training CSV.

    python convert.py path/to/adult.csv

The CSV has a header line and UCI's 15 columns. adult.parquet is written beside this script and
survey.csv to the folder testdata of the repository.
"""

import csv
import pathlib
import sys

import pyarrow as pa
import pyarrow.parquet as pq

INTEGERS = {"age", "fnlwgt", "education_num", "capital_gain", "capital_loss", "hours_per_week"}
SURVEY_COLUMNS = ["age", "sex", "education", "income"]
SURVEY_ROWS = 2000


def column_name(raw):
    name = raw.strip().replace("-", "_")
    return "income" if name == "income_per_year" else name


def value(name, raw):
    text = raw.strip()
    if text == "?":
        return None
    return int(text) if name in INTEGERS else text


def main(source):
    here = pathlib.Path(__file__).resolve().parent
    with open(source, newline="", encoding="utf-8") as lines:
        reader = csv.reader(lines)
        names = [column_name(raw) for raw in next(reader)]
        rows = [[value(name, raw) for name, raw in zip(names, row, strict=True)] for row in reader]

    schema = pa.schema([(name, pa.int32() if name in INTEGERS else pa.string()) for name in names])
    columns = [pa.array(values, field.type) for values, field in zip(zip(*rows), schema, strict=True)]
    pq.write_table(
        pa.table(columns, schema=schema),
        here / "adult.parquet",
        compression="zstd",
        compression_level=22,
        store_schema=False,
    )

    chosen = [names.index(name) for name in SURVEY_COLUMNS]
    with open(here.parents[2] / "testdata" / "survey.csv", "w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(SURVEY_COLUMNS)
        for row in rows[:SURVEY_ROWS]:
            writer.writerow("" if row[i] is None else row[i] for i in chosen)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python convert.py path/to/adult.csv")
    main(sys.argv[1])
