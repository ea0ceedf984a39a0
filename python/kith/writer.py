"""Writes a recording from rows: for importers, and for tests that make one by hand."""

import os
import sqlite3
import tempfile

from kith.columns import APPLICATION, TABLES, VERSION

# What a column has where a row does not say: none, for references that may be none.
_OTHERWISE = {"creator": -1, "worker": -1, "explorer": -1, "color": -1, "node": -1, "home": -1, "victim": -1}


def write(path, meta, tables):
    """Writes the recording `path`; an older file of that name is replaced when the new one is complete. `tables` has
    rows by table, each a dictionary of columns as docs/recording-format.md has them; columns that are missing are 0, -1
    or empty. Rows get their ids by their order. Does not check what `kith.read` checks."""
    folder = os.path.dirname(os.path.abspath(path))
    handle, part = tempfile.mkstemp(dir=folder, prefix=".kith-")
    os.close(handle)
    try:
        db = sqlite3.connect(part)
        try:
            with db:
                _fill(db, meta, tables)
        finally:
            db.close()
        os.chmod(part, 0o644)
        os.replace(part, path)
    except BaseException:
        os.unlink(part)
        raise


def _fill(db, meta, tables):
    db.execute(f"PRAGMA application_id = {APPLICATION}")
    db.execute(f"PRAGMA user_version = {VERSION}")
    db.execute("CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID")
    db.executemany("INSERT INTO meta VALUES(?, ?)", [(k, str(v)) for k, v in meta.items()])
    for name, columns in TABLES.items():
        rows = tables.get(name, [])
        types = [c.name + (" INTEGER PRIMARY KEY" if c.name == "id" else " TEXT" if c.holds == "text" else
                           " BLOB" if c.holds == "blob" else " INTEGER") for c in columns]
        db.execute(f"CREATE TABLE {name}({', '.join(types)})")
        cells = ([_cell(row, c, i) for c in columns] for i, row in enumerate(rows))
        db.executemany(f"INSERT INTO {name} VALUES({', '.join('?' * len(columns))})", cells)


def _cell(row, column, number):
    if column.name == "id":
        return number
    value = row.get(column.name)
    if value is None:
        return "" if column.holds == "text" else b"" if column.holds == "blob" else _OTHERWISE.get(column.name, -1 if column.holds == "counted" else 0)
    if column.holds == "bits" and value >= 1 << 63:
        return value - (1 << 64)
    return value
