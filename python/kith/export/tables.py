"""The tables of a recording, for formats that keep all of them: csv and parquet."""

import pandas as pd

NAMES = ("tasks", "types", "regions", "homes", "accesses", "dependences", "workers", "waits", "steals", "idles", "jobs",
         "calibration", "counts", "marks", "allocations", "sites", "blocks", "streams", "places",
         "messages")


def tables(recording):
    """(name, table) of each table with rows, with its row's number as the column `id`; and of `meta`."""
    yield "meta", pd.DataFrame({"key": list(recording.meta), "value": list(recording.meta.values())}).rename_axis("id")
    for name in NAMES:
        table = getattr(recording, name)
        if len(table):
            yield name, table.rename_axis("id")
