"""A large recording: read, characterised and reported with bounded memory, into a page of bounded size. 100,000 tasks;
10^6 where KITH_TEST_SCALE is set (make test-full). Prints the seconds, and how long a browser takes to load the page,
which are no test."""

import importlib.util
import os
import resource
import sqlite3
import subprocess
import sys
import time

import numpy as np
import pytest

import chromium
from kith.writer import write
from made import Made

TASKS = 1_000_000 if os.environ.get("KITH_TEST_SCALE", "1") != "1" else 100_000
WORKERS, NODES, REGIONS = 16, 4, 20_000


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Tasks of a root, each with one of the regions, which depend on the last task of that region."""
    m = Made(workers=[w * NODES // WORKERS for w in range(WORKERS)], nodes=NODES)
    for name in ("gemm", "trsm", "potrf"):
        m.type(name)
    path = str(tmp_path_factory.mktemp("large") / "large.rec")
    for i in range(REGIONS):
        m.add("region", address=4096 * i, bytes=4096, home=i * NODES // REGIONS)
        m.add("home", region=i, node=i * NODES // REGIONS, bytes=4096, at=0)
    write(path, m.meta, m.tables)
    rng = np.random.default_rng(21)
    n = TASKS
    duration, worker = rng.integers(2000, 20000, n), np.arange(n) % WORKERS
    started = np.empty(n, np.int64)
    for w in range(WORKERS):
        mine = worker == w
        started[mine] = 2000 + np.cumsum(duration[mine] + 300) - duration[mine]
    ended = started + duration
    created = np.minimum(np.arange(n) * 300, started - 400)
    end = int(ended.max()) + 1000
    region = rng.integers(0, REGIONS, n)
    order = np.argsort(region, kind="stable")
    same = region[order][1:] == region[order][:-1]
    after, before = order[1:][same] + 1, order[:-1][same] + 1
    by = np.argsort(after, kind="stable")
    zeros, none = np.zeros(n, np.int64), np.full(n, -1)
    ids = np.arange(1, n + 1)
    rows = np.column_stack([ids, rng.integers(1, 4, n), zeros, zeros + 1, zeros, zeros, none, none, worker, created, created + 200,
                            zeros + 200, created + 200, started, ended, ended, duration, none, zeros, zeros, zeros])

    def insert(table, columns):
        for at in range(0, len(columns), 50_000):
            some = columns[at:at + 50_000].tolist()
            db.executemany(f"INSERT INTO {table} VALUES({', '.join('?' * columns.shape[1])})", some)
    with sqlite3.connect(path) as db:
        db.execute(f"INSERT INTO task VALUES(0,0,-1,0,1,0,-1,-1,0,0,0,0,0,0,{end},{end},100000,-1,0,0,0)")
        insert("task", rows)
        insert("access", np.column_stack([ids, region, zeros + 2, zeros + 4096, zeros + 4096, none]))
        insert("dependence", np.column_stack([after, before, zeros[:len(after)] + 4096])[by])
        db.execute(f"INSERT INTO wait VALUES(0, 1, 0, {end - 500}, {end - 400})")
        db.executemany("INSERT INTO idle VALUES(?, ?, ?)", [(w, end - 5000, end) for w in range(WORKERS)])
    return path


def test_report(large, tmp_path):
    page = tmp_path / "large.html"
    written(large, page)
    text = page.read_text(encoding="utf-8")
    assert "aggregated" in text and "in 240 groups" not in text
    if chromium.BROWSER and chromium.DRIVER and importlib.util.find_spec("selenium"):
        opened(page)


def opened(page):
    """Opens the page, and the tree of groups down to a task; prints how long the browser took to load it, which is no test."""
    with chromium.started() as browser:
        browser.get(page.as_uri())
        load, shown = browser.execute_script("""const t = performance.getEntriesByType("navigation")[0];
            return [t.loadEventEnd / 1000, document.querySelectorAll("#tree tbody tr").length];""")
        print(f"the browser loads {page.stat().st_size / 1e6:.2f} MB in {load:.2f} s")
        for _ in range(8):
            browser.execute_script("document.querySelector('[data-tree=more]').click()")
        assert browser.execute_script("return document.querySelectorAll('#tree tbody tr').length") > 10 * shown
        assert not browser.get_log("browser")


def written(large, page):
    began = time.monotonic()
    done = subprocess.run([sys.executable, "-m", "kith", "report", large, "-o", str(page), "--no-replay"], capture_output=True,
                          text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e6
    print(f"{TASKS} tasks: {time.monotonic() - began:.1f} s, at most {peak:.2f} GB, {page.stat().st_size / 1e6:.2f} MB")
    assert peak < 4 and page.stat().st_size < 10_000_000
