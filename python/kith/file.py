"""A recording's file: opened without trust, and read table by table into columns. For recording.py, which makes tables of
them.

The file may be of any origin: it is opened read-only, SQLite is told not to trust it, and each value is checked against
its bounds. A fault raises a KithError that names the file, the table, the row and the column.
"""

import os
import sqlite3
from itertools import chain, islice

import numpy as np

from kith.columns import APPLICATION, BOUNDS, ESSENTIAL, FLAGS, SOMETIMES, TABLES, TEXT_END, VERSION, WORKERS
from kith.errors import KithError, printable

ROWS_AT_ONCE = 200_000
# What Python's sqlite3 raises for damaged files; its own messages may be no UTF-8.
FAULTS = (sqlite3.Error, UnicodeDecodeError, OverflowError)


def refuse_to_replace(path):
    """Raises KithError if `path` is there and has anything but a recording in it, which a mistyped name would replace."""
    if not os.path.isfile(path) or os.path.getsize(path) == 0:
        return
    try:
        with open(path, "rb") as f:
            head = f.read(72)  # SQLite's, up to the number of the application
    except OSError as e:
        raise KithError(f"{printable(path)}: exists and cannot be read, so that it may be no recording; choose another "
                        "name") from e
    if head[68:] != APPLICATION.to_bytes(4, "big"):
        raise KithError(f"{printable(path)}: exists and is not a recording; remove it, or choose another name")


def open_file(path):
    """The recording as a database opened read-only. Raises KithError if the file is no recording, or cut off."""
    if os.path.isdir(path):
        raise KithError(f"{printable(path)}: a folder, expected a recording")
    if not os.path.exists(path):
        if os.path.isdir(path + ".parts"):
            raise KithError(f"{printable(path)}: the run that was recorded has not ended, or was killed; "
                            f"`kith repair {printable(path)}` puts it together")
        raise KithError(f"{printable(path)}: no such file; `kith record -o FILE -- PROGRAM` makes a recording")
    size = os.path.getsize(path)
    if size == 0:
        raise KithError(f"{printable(path)}: empty, expected a recording")
    with open(path, "rb") as f:
        head = f.read(100)
    if not head.startswith(b"SQLite format 3\0"):
        raise KithError(f"{printable(path)}: no recording of Kith; `kith record -o FILE -- PROGRAM` makes one")
    page = int.from_bytes(head[16:18], "big")
    expected = int.from_bytes(head[28:32], "big") * (65536 if page == 1 else page)
    if size < max(expected, 512):
        raise KithError(f"{printable(path)}: cut off: {size} bytes, expected {expected}; record it again, or copy it "
                        "whole")
    quoted = "".join(c if c.isalnum() and c.isascii() or c in "/._-" else "".join(f"%{b:02x}" for b in os.fsencode(c))
                     for c in os.path.abspath(path))
    try:
        db = sqlite3.connect(f"file:{quoted}?mode=ro&immutable=1", uri=True)
    except FAULTS as e:
        raise KithError(f"{printable(path)}: {printable(e)}") from e
    db.text_factory = lambda raw: raw.decode("utf-8", "backslashreplace")
    steps = [10_000 + size // 10]

    def count_down():
        steps[0] -= 1
        return steps[0] <= 0

    db.set_progress_handler(count_down, 1000)
    if hasattr(db, "setlimit"):
        db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 16 << 20)
        db.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    try:
        for pragma in ("trusted_schema=OFF", "cell_size_check=ON", "mmap_size=0", "query_only=ON", "cache_size=-8000"):
            db.execute("PRAGMA " + pragma)
    except FAULTS as e:
        db.close()
        raise KithError(said(path, e)) from e
    return db


def said(path, e, table=None):
    """The fault as a sentence. `table`: the one that was being read."""
    text = str(e) if isinstance(e, sqlite3.Error) else "its schema is no text"
    if "not a database" in text:
        return f"{printable(path)}: no recording of Kith; `kith record -o FILE -- PROGRAM` makes one"
    if "interrupted" in text:
        return f"{printable(path)}: damaged: it takes more steps to read than a file of its size can need"
    where = f"table {table}: " if table else ""
    return f"{printable(path)}: damaged: {where}{printable(text)}"


def version_of(db, path):
    """The version of the file's format. Raises KithError if this Kith does not read it."""
    application, = db.execute("PRAGMA application_id").fetchone()
    version, = db.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION:
        raise KithError(f"{printable(path)}: a database, but no recording of Kith; `kith record -o FILE -- PROGRAM` "
                        "makes one")
    if not 1 <= version <= VERSION:
        raise KithError(f"{printable(path)}: a recording of version {version}; this Kith reads versions 1 to {VERSION}"
                        + ("; install a later Kith" if version > VERSION else ""))
    return version


def meta_of(db, path):
    """The table meta, as a dictionary of texts."""
    check_definition(db, path, "meta", ["key", "value"])
    rows = db.execute("SELECT key, value FROM meta LIMIT 10000").fetchall()
    if any(not isinstance(cell, str) for row in rows for cell in row):
        raise KithError(f"{printable(path)}: damaged: table meta: expected texts")
    return dict(rows)


def check_definition(db, path, table, expected):
    """True if the table is there. Raises KithError if it is a view, or has other columns."""
    found = db.execute("SELECT type FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    if found is None:
        return False
    if found[0] != "table":
        raise KithError(f"{printable(path)}: damaged: '{table}' is a {printable(found[0], 40)}, expected a table")
    columns = db.execute(f"PRAGMA table_xinfo({table})").fetchall()
    if [c[1] for c in columns] != expected or any(c[6] for c in columns):
        raise KithError(f"{printable(path)}: damaged: table {table} is not defined as by Kith: expected the columns "
                        + ", ".join(expected))
    return True


class Reader:
    """Reads the tables in their order; each checks its references against those before it."""

    def __init__(self, db, path, version, progress):
        self.db, self.path, self.version, self.progress = db, printable(path), version, progress
        self.rows = {}  # by table, how many
        self.roots = np.zeros(0, bool)  # of each task, whether it is one
        self.notes = []

    def table(self, name):
        """The table as columns of numbers or lists of texts; empty columns where it is not there."""
        columns = [c for c in TABLES[name] if c.since <= self.version]
        try:
            if not check_definition(self.db, self.path, name, [c.name for c in columns]):
                if name in SOMETIMES or name not in ESSENTIAL:
                    return self._nothing(name, columns)
                raise KithError(f"{self.path}: damaged: table {name} is missing")
            ok, = self.db.execute(f"PRAGMA quick_check({name})").fetchone()
            if ok != "ok":
                raise KithError(f"{self.path}: damaged: table {name}: {printable(ok, 300)}")
            return self._read(name, columns)
        except (KithError, *FAULTS) as e:
            text = str(e) if isinstance(e, KithError) else said(self.path, e, name)
            if name in ESSENTIAL or "more steps" in text:
                raise KithError(text) from e
            self.notes.append(f"{text}. What follows is without this table.")
            return self._nothing(name, columns)

    def _nothing(self, name, columns):
        self.rows[name] = 0
        return {c.name: [] if c.holds == "text" else np.zeros(0, np.int64) for c in columns}

    def _read(self, name, columns):
        count, = self.db.execute(f"SELECT count(*) FROM {name}").fetchone()
        if name == "worker" and not 0 < count <= WORKERS:
            raise KithError(f"{self.path}: damaged: table worker has {count} rows, expected 1 to {WORKERS}")
        self.rows[name] = count
        numbers = [c for c in columns if c.holds not in ("text", "blob")]
        texts = [c for c in columns if c.holds == "text"]
        wrong = " OR ".join([f"typeof({c.name}) <> 'integer'" for c in numbers] +
                            [f"typeof({c.name}) <> 'text' OR length({c.name}) > {TEXT_END}" for c in texts])
        bad = self.db.execute(f"SELECT rowid FROM {name} WHERE {wrong} LIMIT 1").fetchone()
        if bad is not None:
            raise KithError(f"{self.path}: damaged: table {name}, row {bad[0]}: expected "
                            + ", ".join(f"{c.name} {'a text' if c in texts else 'a whole number'}"
                                        for c in numbers + texts))
        found = self._numbers(name, [c.name for c in numbers], count)
        for c in numbers:
            self._check(name, c, found[c.name])
        if name == "task":
            self.roots = (found["flags"] & FLAGS["root"]) != 0
        if name == "dependence":
            before = next(c for c in columns if c.name == "before")
            self._refuse(name, before, found["before"], found["before"] == found["task"], "another task than the one that waits")
            self._refuse(name, before, found["before"], self.roots[found["before"]], "a task that is no root")
        for c in texts:
            found[c.name] = [row[0] for row in self.db.execute(f"SELECT {c.name} FROM {name} ORDER BY rowid")]
        return found

    def _numbers(self, name, columns, count):
        filled = np.empty((len(columns), count), np.int64)
        rows = self.db.execute(f"SELECT {', '.join(columns)} FROM {name} ORDER BY rowid")
        at = 0
        while at < count:
            n = min(ROWS_AT_ONCE, count - at)
            cells = np.fromiter(chain.from_iterable(islice(rows, n)), np.int64)
            if len(cells) != n * len(columns):
                raise KithError(f"{self.path}: damaged: table {name} has fewer rows than it says")
            filled[:, at:at + n] = cells.reshape(n, len(columns)).T
            at += n
            self.progress(f"reading {self.path}: {name}", at / count)
        return dict(zip(columns, filled))

    def _check(self, name, column, values):
        """Raises KithError that names the first row whose value is out of bounds."""
        if len(values) == 0:
            return
        if column.holds == "id":
            self._refuse(name, column, values, values != np.arange(len(values)), "ids from 0, in order")
            return
        if column.holds in TABLES:
            low, high = -1 if column.none else 0, self.rows[column.holds]
        elif column.holds in BOUNDS:
            low, high = BOUNDS[column.holds]
        else:
            return
        if low is not None:
            self._refuse(name, column, values, (values < low) | (values >= high), f"{low} to {high - 1}")
        if name == "task" and column.name == "creator":
            self._refuse(name, column, values, values >= np.arange(len(values)), "an earlier task")
        if name == "counts" and column.name == "task":
            self._refuse(name, column, values, np.diff(values, prepend=-1) <= 0, "the tasks in order, each once")
        if name in ("access", "dependence", "stream") and column.name == "task":
            self._refuse(name, column, values, np.diff(values, prepend=values[0]) < 0, "rows in the order of tasks")

    def _refuse(self, name, column, values, wrong, expected):
        if not wrong.any():
            return
        row = int(np.argmax(wrong))
        raise KithError(f"{self.path}: damaged: table {name}, row {row}: {column.name} is {values[row]}, expected "
                        f"{expected}")
