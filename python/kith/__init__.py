"""Recordings of Kith as tables, and what can be computed from them.

    import kith
    r = kith.read("heat.rec")
    r.tasks.groupby("name").work_s.sum()

kith.read(PATH) gives a kith.Recording, and raises kith.KithError for a file that is none; help(kith.Recording) lists its tables.
What is computed from it:

    kith.metrics.Analysis(r)          .table has the metrics of tasks, .graph work, span and parallelism, .states what workers did
    kith.select.select(a, where=...)  some tasks of an Analysis
    kith.compare.compare(a, b)        why two runs differ
    kith.report.page.write_report(a, PATH)

`python3 -m kith VERB` has the verbs of the command line that are written in Python; `kith VERB` calls them.
"""

__version__ = "0.1.0"
__all__ = ["KithError", "Recording", "read"]


def __getattr__(name):
    # pandas takes half a second to import: `python3 -m kith --help` does without.
    if name in ("Recording", "read"):
        from kith import recording

        return getattr(recording, name)
    if name == "KithError":
        from kith.errors import KithError

        return KithError
    raise AttributeError(f"module 'kith' has no attribute '{name}'")
