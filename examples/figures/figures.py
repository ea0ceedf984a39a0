"""Figures of a recording, by Matplotlib: python3 figures.py heat.rec FOLDER"""

import pathlib
import sys

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt
import numpy as np

import kith
from kith.graph.parallelism import actual, instantaneous
from kith.metrics import Analysis
from kith.select import select
from kith.states import STATES


def durations(analysis, axes):
    """How long tasks of each type work: a curve of the share of tasks that take at most so long."""
    tasks = analysis.recording.tasks.assign(work=analysis.column("work"))
    for name, work in tasks[tasks.ran & (tasks.work > 0)].groupby("name", observed=True).work:
        axes.step(np.sort(work) * 1e6, np.arange(1, len(work) + 1) / len(work), label=f"{name} ({len(work)})")
    axes.set(xlabel="work of a task, µs", ylabel="share of tasks", xscale="log")
    axes.legend()


def parallelism(analysis, axes):
    """What workers did over the run, and how many tasks the graph has for them in the mean."""
    r = analysis.recording
    did = actual(analysis.states, r.begin_s, r.end_s, bins=200)
    used = [s for s in STATES if s in did and did[s].any()]
    axes.stackplot((did.at_s - r.begin_s) * 1e3, *(did[s] for s in used), labels=used, step="post")
    axes.axhline(analysis.graph.parallelism, color="black", linestyle="--", label="work over span")
    axes.set(xlabel="ms", ylabel="workers", title=f"at most {instantaneous(analysis.graph)[0].max(initial=0)} tasks could run at once")
    axes.figure.legend(loc="outside right upper")


def homes(analysis, axes):
    """Bytes by the node that has them and the node that used them."""
    matrix = analysis.homes.matrix
    image = axes.imshow(matrix / 1e6, cmap="Blues")
    axes.set(xlabel="used on node", ylabel="home", xticks=range(len(matrix)), yticks=range(len(matrix)))
    axes.figure.colorbar(image, label="MB")


def main(file, folder):
    analysis = Analysis(kith.read(file))
    longest = select(analysis, top="10:work")  # some tasks, with the metrics of the whole run
    print("the longest tasks:", longest.recording.numbers.tolist())
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    for draw in (durations, parallelism, homes):
        figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
        draw(analysis, axes)
        figure.savefig(pathlib.Path(folder) / f"{draw.__name__}.svg")
        plt.close(figure)


if __name__ == "__main__":
    main(*sys.argv[1:])
