"""The tables of a recording, and what is computed from them, for formats that keep all of them: csv and parquet."""

import pandas as pd

NAMES = ("tasks", "types", "regions", "homes", "accesses", "dependences", "workers", "waits", "steals", "idles", "jobs",
         "calibration", "counts", "marks", "allocations", "sites", "blocks", "streams", "places", "messages")


def tables(analysis):
    """(name, table) of each table with rows, with its row's number as the column `id`; of `meta`; of the tasks' `metrics`
    (the id is the task's); and of the workers' `states`. Of some tasks of a run, the tasks have their `number` in it."""
    r = analysis.recording
    yield "meta", pd.DataFrame({"key": list(r.meta), "value": list(r.meta.values())}).rename_axis("id")
    for name in NAMES:
        table = getattr(r, name)
        if name == "tasks" and analysis.whole is not analysis:
            table = table.assign(number=r.numbers)
        if len(table):
            yield name, table.rename_axis("id")
    if len(r.tasks):
        yield "metrics", analysis.table.rename_axis("id")
        yield "states", analysis.states.rename_axis("id")
