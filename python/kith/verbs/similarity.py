"""kith similarity: which recorded programs are alike."""

import json
import os
import sys

SUMMARY = "which recorded programs are alike"
KINDS = (("all", None), ("graph", "graph"), ("tasks", "tasks"))
NAMES = {"all": "graphs and tasks", "graph": "graphs", "tasks": "tasks"}


def add_arguments(parser):
    parser.add_argument("file", metavar="FILE", nargs="+", help="recordings of programs, and of their inputs")
    parser.add_argument("-o", "--output", metavar="FOLDER", required=True, help="where pictures and tables are written")
    parser.add_argument("--json", action="store_true", help="write JSON")


def run(options):
    import numpy as np

    from kith.errors import KithError, printable
    from kith.metrics import Analysis
    from kith.progress import Progress
    from kith.recording import read
    from kith.similarity import FEATURES, features_of
    from kith.window import after_last_mark

    if os.path.exists(options.output) and not os.path.isdir(options.output):
        raise KithError(f"--output '{printable(options.output)}' is a file; expected a folder")
    progress = Progress()
    rows, damage = [], []
    for i, name in enumerate(options.file):
        progress(f"characterising {printable(name, 60)}", i / len(options.file))
        analysis = Analysis(after_last_mark(read(name)))
        if not len(analysis.recording.tasks):
            raise KithError(f"{printable(name)}: no tasks, so there is nothing to compare")
        rows.append(features_of(analysis))
        damage += analysis.recording.notes
    names = labels(options.file)
    found, studies = result(names, options.file, [f.name for f in FEATURES], [f.kind for f in FEATURES], np.array(rows))
    progress("drawing")
    os.makedirs(options.output, exist_ok=True)
    write(options.output, found, studies, names)
    progress.clear()
    print(json.dumps(found, indent=1) if options.json else text(found, options.output))
    for note in damage:
        print("note: " + note, file=sys.stderr)


def labels(files):
    """The names of the files without what they have in common; whole paths if names are not enough."""
    stems = [os.path.splitext(os.path.basename(f))[0] for f in files]
    return stems if len(set(stems)) == len(stems) else list(files)


def program_of(label):
    """heat of heat-large: inputs of one program are named PROGRAM-INPUT."""
    return label.rpartition("-")[0] or label


def result(names, files, features, kinds, values):
    """(what --json prints, the studies): of all features, of those of graphs, and of those of tasks."""
    from kith.similarity import sensitivity, study
    from kith.similarity.study import filled

    values = filled(values)
    groups = [program_of(n) for n in names]
    studies = {}
    for title, kind in KINDS:
        columns = [i for i, k in enumerate(kinds) if kind in (None, k)]
        studies[title] = study(names, [features[i] for i in columns], values[:, columns])

    def described(s):
        return {"features": s.features, "constant": s.constant, "components": s.loadings.tolist(),
                "explained": s.explained.tolist(), "scores": s.scores.tolist(),
                "clusters": dict(zip(names, s.clusters.tolist())), "cophenetic": s.cophenetic, "silhouette": s.silhouette,
                "inputs": {g: {"inputs": n, "spread": r} for g, (n, r) in sensitivity(s, groups).items()}}
    whole = described(studies["all"])
    return {"features": features, "rows": [{"file": f, "name": n, "values": v.tolist()} for f, n, v in zip(files, names, values)],
            "components": whole["components"], "explained": whole["explained"],
            "clusters": dict(zip(files, studies["all"].clusters.tolist())),
            "studies": {title: described(s) for title, s in studies.items()}}, studies


def write(folder, found, studies, names):
    """features.csv, and for each study map, dendrogram and loadings as SVG, and the tree as Newick."""
    import csv

    from kith.export.csv import safe
    from kith.similarity.pictures import draw_dendrogram, draw_loadings, draw_map
    from kith.similarity.study import newick

    groups = [program_of(n) for n in names]
    with open(os.path.join(folder, "features.csv"), "w", newline="", encoding="utf-8", errors="backslashreplace") as f:
        table = csv.writer(f)
        table.writerow(["name", *found["features"]])
        table.writerows([safe(n), *(f"{v:.6g}" for v in row["values"])]
                        for n, row in zip(names, found["rows"]))
    for title, s in studies.items():
        what = NAMES[title]
        with open(os.path.join(folder, f"{title}.nwk"), "w", encoding="utf-8", errors="backslashreplace") as f:
            f.write(newick(s) + "\n")
        if s.tree is None:
            continue
        draw_map(s, os.path.join(folder, f"{title}-map.svg"), f"Programs by their {what}", groups)
        draw_dendrogram(s, os.path.join(folder, f"{title}-tree.svg"), f"Programs by their {what}")
        draw_loadings(s, os.path.join(folder, f"{title}-loadings.svg"), f"Components of {what}")


def text(found, folder):
    from kith.errors import printable

    if len(found["rows"]) < 2:
        return f"one recording has nothing to be compared with, so there are no pictures; its features are in {printable(folder)}"
    lines = []
    for title, s in found["studies"].items():
        parts = ", ".join(f"{100 * e:.0f} %" for e in s["explained"])
        many = "s" if len(s["explained"]) != 1 else ""
        lines.append(f"{NAMES[title]}: {len(s['explained'])} component{many} with {parts} of the variance")
        clusters = {}
        for name, number in s["clusters"].items():
            clusters.setdefault(number, []).append(printable(name, 40))
        lines += [f"  cluster {n}: {', '.join(members)}" for n, members in sorted(clusters.items())]
    return "\n".join(lines + [f"pictures and tables are in {printable(folder)}"])
