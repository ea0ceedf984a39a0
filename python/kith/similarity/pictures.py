"""Pictures of a study: a map of the first two components, the dendrogram, and the loadings. SVG, the same every time."""

import matplotlib

matplotlib.use("Agg")
matplotlib.rcParams.update({"svg.hashsalt": "kith", "svg.fonttype": "none", "font.size": 9, "font.family": "sans-serif"})

import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
from scipy.cluster.hierarchy import dendrogram  # noqa: E402

from kith.errors import printable  # noqa: E402


MOST_NAMES = 40  # in a map
NEAR = 0.022  # of the map: names that are as near are written in one line


def _text(name):
    """Matplotlib reads dollar signs as formulas."""
    return printable(name, 60).replace("$", r"\$")


def _save(figure, path):
    figure.savefig(path, metadata={"Date": None, "Creator": None}, bbox_inches="tight")
    plt.close(figure)


def draw_map(study, path, title, groups=None):
    """Rows in the plane of the first two components; the colour is the cluster, lines join the inputs of a program."""
    figure, axes = plt.subplots(figsize=(8.5, 6))
    x = study.scores[:, 0]
    y = study.scores[:, 1] if study.scores.shape[1] > 1 else x * 0
    colours = plt.get_cmap("tab10" if study.clusters.max() <= 10 else "tab20")
    for group in dict.fromkeys(groups or []):
        rows = [i for i, g in enumerate(groups) if g == group]
        if len(rows) > 1:
            axes.plot(x[rows], y[rows], color="#999999", linewidth=0.8, zorder=1)
    axes.scatter(x, y, c=[colours((c - 1) % colours.N) for c in study.clusters], s=36, zorder=2)
    named = list(zip(study.names, x, y))
    if groups and len(named) > MOST_NAMES:  # the program's name, at the last of its inputs
        named = list({g: (g, a, b) for g, a, b in zip(groups, x, y)}.values())
    for name, a, b in _joined(named, NEAR * np.ptp(x), NEAR * np.ptp(y)):
        axes.annotate(_text(name), (a, b), xytext=(4, 3), textcoords="offset points", fontsize=6.5)
    share = [f"{100 * e:.0f} %" for e in study.explained] + [""]
    axes.set_xlabel(f"component 1 ({share[0]} of the variance)")
    axes.set_ylabel(f"component 2 ({share[1]} of the variance)")
    axes.set_title(title)
    axes.axhline(0, color="#dddddd", zorder=0)
    axes.axvline(0, color="#dddddd", zorder=0)
    _save(figure, path)


def _joined(named, apart_x, apart_y):
    """Names and places, where names of places that are so near that they would lie on each other are one."""
    found = []
    for name, x, y in named:
        near = next((f for f in found if abs(f[1] - x) <= apart_x and abs(f[2] - y) <= apart_y), None)
        if near:
            near[0] += f", {name}"
        else:
            found.append([name, x, y])
    return found


def draw_dendrogram(study, path, title):
    """The similarity of rows: the further to the right two branches meet, the less alike."""
    figure, axes = plt.subplots(figsize=(8.5, 1 + 0.2 * len(study.names)))
    heights = study.tree[:, 2]
    clusters = int(study.clusters.max())
    cut = (heights[-clusters] + heights[-clusters + 1]) / 2 if 1 < clusters <= len(heights) else 0
    dendrogram(study.tree, labels=[_text(n) for n in study.names], orientation="right", color_threshold=cut, ax=axes,
               leaf_font_size=7.5, above_threshold_color="#555555")
    if cut:
        axes.axvline(cut, color="#bbbbbb", linestyle="--", linewidth=0.8)
    axes.set_xlabel("distance (Ward)")
    axes.set_title(title)
    _save(figure, path)


def draw_loadings(study, path, title):
    """The weight of each feature in each component."""
    figure, axes = plt.subplots(figsize=(1.8 + 0.55 * len(study.explained), 0.9 + 0.26 * len(study.features)))
    image = axes.imshow(study.loadings.T, cmap="RdBu_r", vmin=-1, vmax=1, aspect="auto")
    axes.set_yticks(range(len(study.features)), study.features)
    axes.set_xticks(range(len(study.explained)), [f"{i + 1}\n{100 * e:.0f} %" for i, e in enumerate(study.explained)])
    axes.set_title(title)
    figure.colorbar(image, ax=axes, label="loading")
    _save(figure, path)
