"""Parquet: each table of the recording, the tasks' metrics and the workers' states, as a file each, with the types of its columns."""

import os

from kith.export import need
from kith.export.tables import tables


def write(analysis, out):
    arrow, writer = need("pyarrow", "parquet"), need("pyarrow.parquet", "parquet")
    for name, table in tables(analysis):
        columns = {"id": arrow.array(table.index.to_numpy())}
        for column in table.columns:
            kept = table[column]
            if kept.dtype.name == "category":
                names = arrow.array([_text(c) for c in kept.cat.categories], arrow.string())
                columns[column] = arrow.DictionaryArray.from_arrays(arrow.array(kept.cat.codes.to_numpy().astype("int32")), names)
            elif kept.dtype.kind in "biuf":
                columns[column] = arrow.array(kept.to_numpy(), from_pandas=True)
            else:
                columns[column] = arrow.array([_text(v) for v in kept], arrow.string())
        writer.write_table(arrow.table(columns), os.path.join(out, name + ".parquet"))


def _text(value):
    """Arrow's texts are UTF-8, which has no lone surrogates."""
    return str(value).encode("utf-8", "backslashreplace").decode("utf-8")
