"""The graph with its problem view: groups of tasks in layers, which problems they have; and the tree of creations."""

import numpy as np
import pandas as pd

from kith.graph.aggregate import contexts, groups
from kith.graph.tree import TASK, Tree, opened
from kith.problems import sentence
from kith.report import charts
from kith.units import count, percent, seconds

MOST_GROUPS, MOST_EDGES = 240, 1200
MOST_NODES = 1500  # of the tree that is opened
WIDTH, STEP_Y, GAP, MARGIN = 940, 46, 8, 24  # of the picture, in its units


def values(f):
    if not f.recording.tasks.ran.any():
        return None
    f.progress("drawing the graph")
    group, table, edges = groups(f.analysis, most=MOST_GROUPS)
    exact = len(table) == int((group >= 0).sum())
    shapes = _shapes(table, exact)
    x, y = layout(table, edges, shapes[0])
    chosen = np.flatnonzero(group >= 0)
    critical = {"on the critical path": np.bincount(group[chosen], f.graph.critical_tasks[chosen], len(table))}
    shares = critical | {p.name: np.bincount(group[chosen], which[chosen], len(table)) for p, which in f.problems.items()}
    order = edges.sort_values("count", ascending=False, kind="stable").head(MOST_EDGES)
    data = {"groups": [{"n": charts.printable(row.name_, 60), "c": int(row.count_), "w": seconds(row.work_s),
                        "m": seconds(row.median_s), "x": seconds(row.max_s), "k": int(row.critical), "t": int(f.recording.numbers[row.first_task])}
                       for row in table.rename(columns={"name": "name_", "count": "count_"}).itertuples()],
            "problems": {name: [int(v) for v in values_] for name, values_ in shares.items()}}
    data["tree"] = _opened(f)
    width, height = WIDTH, float(y.max()) + MARGIN
    whole = f.analysis.whole.graph
    return {"data": data, "svg": _svg(f, table, order, x, y, width, height, shapes),
            "opened": count(len(data["tree"])), "left": any(row[12] for row in data["tree"]),
            "groups": len(table), "tasks": count(len(chosen)), "exact": exact,
            "hidden": max(0, len(edges) - len(order)), "depth": count(whole.longest.depth.max(initial=0)),
            "nodes": count(len(whole.nodes)), "edges": count(len(whole.edges)),
            "problems": _problems(f), "missing": [p.name for p in f.thresholds if p not in f.problems], "tree": _tree(f)}


def _problems(f):
    ran = max(1, int(f.recording.tasks.ran.sum()))
    return [{"name": p.name, "condition": p.condition, "remedy": p.remedy, "count": count(which.sum()),
             "share": percent(which.sum() / ran), "critical": count((which & f.graph.critical_tasks).sum()),
             "sentence": sentence(p, which, f.graph.critical_tasks), "any": bool(which.any())}
            for p, which in sorted(f.problems.items(), key=lambda x: -int(x[1].sum()))]


def layout(table, edges, widths):
    """x and y of each group's middle: layers downwards; within a layer in the order of the mean position of the groups
    with which it has edges. A layer that is wider than the picture has several rows."""
    layer = np.unique(table.layer.to_numpy(), return_inverse=True)[1]
    place = _centred(pd.Series(np.arange(len(table)), dtype=float), layer)
    source, target = edges.source.to_numpy(), edges.target.to_numpy()
    degree = np.bincount(target, minlength=len(table)) + np.bincount(source, minlength=len(table))
    for _ in range(6):
        pull = np.bincount(target, place[source], len(table)) + np.bincount(source, place[target], len(table))
        place = _centred(pd.Series(np.where(degree > 0, pull / np.maximum(degree, 1), place)), layer)
    order = np.lexsort((place, layer))
    x, y = np.zeros(len(table)), np.zeros(len(table))
    row, at, members = 0, 0.0, []

    def finish():
        for i, left in members:
            x[i] = WIDTH / 2 - (at - GAP) / 2 + left + widths[i] / 2
            y[i] = MARGIN + STEP_Y * row
    for i in order.tolist():  # of at most MOST_GROUPS
        if members and (layer[i] != layer[members[-1][0]] or at + widths[i] > WIDTH):
            finish()
            row, at, members = row + 1, 0.0, []
        members.append((i, at))
        at += widths[i] + GAP
    finish()
    return x, y


def _centred(wanted, layer):
    """Places in the order of `wanted` in each layer, around 0."""
    rank = wanted.groupby(layer).rank(method="first").to_numpy()
    return rank - (np.bincount(layer)[layer] + 1) / 2


def _shapes(table, exact):
    """The width and height of each group: a task is a circle whose area grows with its work; a group is as wide as its
    share of the largest layer's tasks."""
    if exact:
        side = 8 + 18 * np.sqrt(table.work_s.to_numpy() / (table.work_s.max() or 1.0))
        return side, side
    largest = table.groupby("layer")["count"].sum().max()
    return np.maximum(9.0, (WIDTH - GAP * 4) * table["count"].to_numpy() / largest), np.full(len(table), 18.0)


def _svg(f, table, edges, x, y, width, height, shapes):
    parts = []
    most = np.log1p(edges["count"].max()) if len(edges) else 1.0
    for e in edges.rename(columns={"count": "count_"}).itertuples():
        x0, y0, x1, y1 = x[e.source], y[e.source], x[e.target], y[e.target]
        middle = (y0 + y1) / 2
        what = f"{e.count_} {'dependences' if e.kind == 'depend' else 'creations'}"
        parts.append(charts.Markup('<path class="e-{}" style="stroke-width:{:.2f}" d="M{:.0f} {:.0f}C{:.0f} {:.0f} {:.0f} {:.0f} '
                                   '{:.0f} {:.0f}"><title>{}</title></path>').format(
            e.kind, 0.6 + 2 * np.log1p(e.count_) / most, x0, y0, x0, middle, x1, middle, x1, y1, what))
    for i, row in enumerate(table.rename(columns={"name": "name_", "count": "count_"}).itertuples()):
        name = charts.printable(row.name_, 60)
        css = "others" if row.name_ == "others" else f"t-{f.colour_of_type[row.type]}"
        title = f"{name}: {row.count_} task{'s' if row.count_ != 1 else ''}, {seconds(row.work_s)}"
        w, h = shapes[0][i], shapes[1][i]
        parts.append(charts.Markup('<g class="g{}" data-g="{}" tabindex="-1" role="button" aria-label="{}"><rect class="{}" '
                                   'x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" rx="{:.1f}"/><title>{}</title></g>').format(
            " critical" if row.critical else "", i, title, css, x[i] - w / 2, y[i] - h / 2, w, h, h / 2, title))
    return charts.Markup('<svg id="graph-svg" viewBox="0 0 {:.0f} {:.0f}" role="group" '
                         'aria-label="Task graph in groups">{}</svg>').format(width, height, charts.join(parts))


def _opened(f):
    """The tree of groups, for the script: what it is opened into, where most time is first. A node is [the number of the
    node above, its kind, label, first task, members, tasks, their own seconds, seconds with all below, median, longest,
    critical tasks, type's colour or -1, whether more is below than is here, lineage, {problem: [tasks, share]}]."""
    marks = {p.name: which for p, which in f.problems.items()}
    tree = Tree(f.analysis, marks)
    nodes, parents, more = opened(tree, MOST_NODES)
    rows = []
    for node, parent, rest, lineage in zip(nodes, parents, more, tree.lineages(nodes)):
        d, kind = tree.described(node), tree.type_of(node)
        rows.append([parent, node.kind, charts.printable(d["label"], 80), d["task"], d["members"], d["tasks"],
                     *(float(f"{d[k]:.4g}") for k in ("work_s", "total_s", "median_s", "max_s")), d["critical"],
                     int(f.colour_of_type[kind]) if kind >= 0 else -1, int(rest), lineage if rest or node.kind == TASK else "",
                     {charts.printable(name): [count_, float(f"{share:.3g}")] for name, (count_, share) in d["marks"].items()}])
    return rows


def _tree(f, deepest=14, most=400):
    """The tree of creations as bars: as wide as the work of a context with all below it."""
    _, table = contexts(f.analysis)
    if len(table) == 0 or table.depth.max() < 2:
        return None
    total = table.total_s[table.parent < 0].sum()
    if total <= 0:
        return None
    ran = table.total_s / total
    left = np.zeros(len(table))
    inside = dict.fromkeys(table.index[table.parent < 0], 0.0)
    after, bars = 0.0, []
    for i in table.index[(ran > 0.0008) & (table.depth < deepest)][:most]:  # parents come first
        row = table.loc[i]
        if row.parent < 0:
            left[i], after = after, after + ran[i]
        else:
            left[i] = inside.get(row.parent, 0.0)
            inside[row.parent] = left[i] + ran[i]
        inside[i] = left[i]
        name = charts.printable(row["name"], 60)
        bars.append({"left": f"{100 * left[i]:.3f}", "width": f"{100 * ran[i]:.3f}", "top": f"{1.7 * row.depth:.2f}",
                     "colour": int(f.colour_of_type[row.type]), "name": name,
                     "title": f"{name}: {row['count']} tasks, {seconds(row.work_s)} of their own, {seconds(row.total_s)} with all below",
                     "wide": ran[i] > 0.05})
    return {"bars": bars, "height": f"{1.7 * (min(deepest, int(table.depth.max()) + 1)):.2f}", "contexts": count(len(table))}
