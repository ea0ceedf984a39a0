"""The similarity study: features by hand, components of data whose components are known, clusters, trees."""

import json
import os

import numpy as np
import pytest

from kith.command_line import main
from kith.metrics import Analysis
from kith.similarity import FEATURES, features_of, sensitivity, study
from kith.similarity.study import filled, newick
from kith.window import after_last_mark
from made import Made, diamond


def test_features_by_hand(tmp_path):
    m = diamond()
    regions = [m.add("region", address=4096 * i, bytes=100) for i in range(3)]
    for task, region, mode in ((1, 0, 0), (1, 1, 1), (2, 1, 0), (2, 2, 1), (3, 0, 1)):
        m.add("access", task=task, region=regions[region], mode=mode, bytes=100, touched=100)
    found = dict(zip((f.name for f in FEATURES), features_of(Analysis(m.read(tmp_path)))))
    assert found["tasks"] == pytest.approx(np.log10(4)) and found["work"] == pytest.approx(-4)
    assert (found["nesting"], found["leaves"], found["dependences"]) == (1, 0.75, 0.5)
    assert found["children"] == found["most_children"] == pytest.approx(np.log10(3))
    assert found["granularity"] == pytest.approx(np.log10(20e-6))  # the median of 20, 30 and 10
    assert found["variation"] == pytest.approx((28 - 12) / 20)
    assert found["footprint"] == pytest.approx(np.log10(200))
    assert found["reads"] == pytest.approx(200 / 500)
    # Tasks 1 and 2 share 100 of 200; 1 and 3 share 100 of 100.
    assert found["sharing"] == pytest.approx(0.75) and found["shared"] == pytest.approx(1)
    assert found["intensity"] == pytest.approx(-7)  # of 1e-7, 1.5e-7 and 1e-7 seconds a byte


def test_what_does_not_apply_says_nothing():
    values = filled([[1.0, np.nan], [3.0, 4.0], [5.0, 6.0]])
    assert values.tolist() == [[1, 5], [3, 4], [5, 6]] and filled([[np.nan], [np.nan]]).tolist() == [[0], [0]]


def test_components_of_known_data():
    rng = np.random.default_rng(11)
    a, b = rng.normal(size=200), rng.normal(size=200)
    values = np.column_stack([a, 3 * a + 5, -a, b, np.full(200, 7.0)])
    s = study([str(i) for i in range(200)], list("abcde"), values)
    assert s.features == list("abcd") and s.constant == ["e"]
    assert s.explained[:2] == pytest.approx([0.75, 0.25], abs=0.02) and len(s.explained) == 2
    assert np.abs(s.loadings[0, :3]) == pytest.approx([1 / np.sqrt(3)] * 3, abs=0.02)
    assert s.loadings[0, 0] * s.loadings[0, 2] < 0
    # Scores keep the distances of standardised values, but for what is left out.
    standard = (values[:, :4] - values[:, :4].mean(axis=0)) / values[:, :4].std(axis=0)
    assert (s.scores ** 2).sum() == pytest.approx((standard ** 2).sum())


def test_clusters_are_found():
    rng = np.random.default_rng(12)
    centres = np.array([[0, 0, 0], [20, 0, 0], [0, 20, 5]])
    values = np.concatenate([c + rng.normal(size=(6, 3)) for c in centres])
    names = [f"p{i // 6}-{i % 6}" for i in range(18)]
    s = study(names, list("xyz"), values)
    assert s.clusters.tolist() == [1] * 6 + [2] * 6 + [3] * 6 and s.cophenetic > 0.9
    spread = sensitivity(s, [n.split("-")[0] for n in names])
    assert {g: n for g, (n, _) in spread.items()} == {"p0": 6, "p1": 6, "p2": 6}
    assert all(r < 0.3 for _, r in spread.values())
    text = newick(s)
    assert text.endswith(");") and text.count(",") == 17 and all(f"'{n}'" in text for n in names)


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_few_rows(rows):
    s = study([str(i) for i in range(rows)], ["a", "b"], np.arange(2.0 * rows).reshape(rows, 2) ** 2)
    assert s.clusters.tolist() == list(range(1, rows + 1)) if rows > 1 else [1]
    assert newick(s).endswith(";")
    same = study(["x", "y"], ["a"], np.ones((2, 1)))
    assert same.scores.shape == (2, 0) and same.clusters.tolist() == [1, 1]


def test_what_follows_the_last_mark(tmp_path):
    m = diamond()
    region = m.add("region", address=0, bytes=8)
    m.add("access", task=1, region=region, bytes=8, touched=8)
    m.add("access", task=3, region=region, bytes=8, touched=8)
    m.add("mark", name="first", at=0)
    r = after_last_mark(m.read(tmp_path))
    assert len(r.tasks) == 4
    m.add("mark", name="solve", at=15)
    r = after_last_mark(m.read(tmp_path))
    assert r.tasks.work_s.tolist() == pytest.approx([30e-6, 10e-6]) and r.tasks.creator.tolist() == [-1, -1]
    assert r.accesses.task.tolist() == [1] and r.dependences[["task", "before"]].to_numpy().tolist() == [[1, 0]]
    assert len(r.waits) == 0 and Analysis(r).graph.span_s == pytest.approx(40e-6)


def test_the_verb(tmp_path, capsys):
    files = []
    for i in range(5):
        m = Made()
        kind = m.type("$x$ & <b>")
        m.task(0, 100, flags=1)
        for k in range(3 + 4 * i):
            m.task(k, k + 5 + i * k, creator=0, type=kind)
        files.append(m.save(tmp_path, f"=a$b_{i}-x.rec"))
    folder = tmp_path / "out"
    assert main(["similarity", *files, "-o", str(folder), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["features"] == [f.name for f in FEATURES] and [r["file"] for r in found["rows"]] == files
    assert len(found["components"]) == len(found["explained"]) and set(found["clusters"]) == set(files)
    assert set(found["studies"]) == {"all", "graph", "tasks"}
    made = set(os.listdir(folder))
    assert made == {"features.csv", *(f"{s}-{p}.svg" for s in found["studies"] for p in ("map", "tree", "loadings")),
                    *(f"{s}.nwk" for s in found["studies"])}
    assert (folder / "features.csv").read_text().splitlines()[1].startswith("'=a$b_0-x,")  # no formula
    first = {n: (folder / n).read_bytes() for n in made}
    assert main(["similarity", *files, "-o", str(folder)]) == 0
    assert {n: (folder / n).read_bytes() for n in made} == first  # the same every time
    capsys.readouterr()
    assert main(["similarity", Made().save(tmp_path), "-o", str(folder)]) == 2
    assert "no tasks" in capsys.readouterr().err


def test_names_that_would_lie_on_each_other_are_one():
    from kith.similarity.pictures import _joined

    assert _joined([("a", 0, 0), ("b", 5, 0), ("c", 0.9, -0.9), ("d", 0, 2)], 1, 1) == [["a, c", 0, 0], ["b", 5, 0], ["d", 0, 2]]
