"""CSV: each table of the recording, the tasks' metrics and the workers' states, as a file each. A text that a spreadsheet would compute gets an apostrophe in front."""

import os

from kith.export.tables import tables

_COMPUTED = ("=", "+", "-", "@", "\t", "\r")


def safe(text):
    """The text as a cell that no spreadsheet takes for a formula."""
    text = str(text).encode("utf-8", "backslashreplace").decode("utf-8").replace("\0", "\\x00")
    return "'" + text if text.startswith(_COMPUTED) or text.lstrip().startswith(_COMPUTED) else text


def write(analysis, out):
    for name, table in tables(analysis):
        texts = {}
        for column in table.columns:
            kept = table[column]
            if kept.dtype.name == "category":
                texts[column] = kept.cat.rename_categories(_distinct([safe(c) for c in kept.cat.categories]))
            elif kept.dtype.kind not in "biuf":
                texts[column] = [safe(v) for v in kept]
        table.assign(**texts).to_csv(os.path.join(out, name + ".csv"), float_format="%.9f", encoding="utf-8",
                                     lineterminator="\n")


def _distinct(names):
    """Categories must differ, also after escaping."""
    seen = set()
    found = []
    for i, name in enumerate(names):
        found.append(name if name not in seen else f"{name} ({i})")
        seen.add(found[-1])
    return found
