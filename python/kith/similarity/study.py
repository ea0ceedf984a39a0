"""Principal components and clusters of features (thesis 3.4): standardised features, components of their correlation
matrix, Ward's clustering of the scores, cut into as many clusters as are most apart (mean silhouette)."""

from dataclasses import dataclass

import numpy as np
from scipy.cluster.hierarchy import cophenet, fcluster, linkage
from scipy.spatial.distance import pdist
from sklearn.decomposition import PCA
from sklearn.metrics import silhouette_score

MOST_CLUSTERS = 12
ENOUGH = 0.9  # of the variance; components with an eigenvalue above 1 are kept as well


@dataclass
class Study:
    """names: of the rows; features: of the columns that vary (`constant`: those that do not)
    scores: rows by components;  loadings: components by features;  explained: each component's share of the variance
    tree: SciPy's linkage (None for one row);  clusters: a number from 1 for each row
    cophenetic: how well the tree keeps the distances (correlation)
    silhouette: how far apart the clusters are: the mean over the rows, from -1 to 1 (None: not defined)"""

    names: list
    features: list
    constant: list
    scores: np.ndarray
    loadings: np.ndarray
    explained: np.ndarray
    tree: np.ndarray | None
    clusters: np.ndarray
    cophenetic: float | None
    silhouette: float | None = None


def study(names, features, values):
    """The Study of rows of values. Deterministic: signs of components are such that their largest loading is positive."""
    values = filled(values)
    spread = values.std(axis=0)
    varies = spread > 1e-12 * np.maximum(1.0, np.abs(values).max(axis=0, initial=0.0))
    kept = [f for f, v in zip(features, varies) if v]
    constant = [f for f, v in zip(features, varies) if not v]
    if len(names) < 2 or not varies.any():
        return Study(list(names), kept, constant, np.zeros((len(names), 0)), np.zeros((0, len(kept))), np.zeros(0), None,
                     np.ones(len(names), int), None)
    standard = (values[:, varies] - values[:, varies].mean(axis=0)) / spread[varies]
    pca = PCA(svd_solver="full").fit(standard)
    eigenvalues = pca.explained_variance_ * (len(names) - 1) / len(names)  # of the correlation matrix
    enough = int(np.searchsorted(np.cumsum(pca.explained_variance_ratio_), ENOUGH - 1e-12)) + 1
    count = max(1, min(len(eigenvalues), max(enough, int((eigenvalues > 1).sum()))))
    loadings = pca.components_[:count]
    sign = np.sign(loadings[np.arange(count), np.abs(loadings).argmax(axis=1)])
    loadings = loadings * sign[:, None]
    scores = standard @ loadings.T
    tree = linkage(scores, "ward")
    kept_distances = cophenet(tree, pdist(scores))[0] if len(names) > 2 else 1.0
    clusters, silhouette = _cut(tree, scores)
    return Study(list(names), kept, constant, scores, loadings, pca.explained_variance_ratio_[:count], tree, clusters,
                 float(kept_distances), silhouette)


def filled(values):
    """The values, where NaN (not applicable) is replaced by the mean of the others in its column, so that it does not
    affect the result; 0 if there are none."""
    values = np.asarray(values, float)
    known = np.isfinite(values)
    mean = np.where(known, values, 0.0).sum(axis=0) / np.maximum(1, known.sum(axis=0))
    return np.where(known, values, mean)


def _cut(tree, scores):
    """(clusters, their mean silhouette): of 2 to half as many clusters as rows, the number with the greatest mean silhouette
    (Rousseeuw 1987); at most 12, which a person can read, and of eight rows or more at least three, since two often are one
    odd row and the rest."""
    rows = len(scores)
    if rows < 4:
        return np.arange(1, rows + 1), None
    least, most = 3 if rows >= 8 else 2, max(2, min(MOST_CLUSTERS, rows // 2))
    cuts = [fcluster(tree, k, "maxclust") for k in range(least, most + 1)]
    apart = [silhouette_score(scores, c) if 1 < len(set(c)) < rows else -1.0 for c in cuts]
    best = int(np.argmax(apart))
    found = cuts[best]
    # Numbered by the first row of each.
    order = {c: i + 1 for i, c in enumerate(dict.fromkeys(found.tolist()))}
    return np.array([order[c] for c in found]), float(apart[best])


def newick(study_):
    """The tree as Newick text."""
    if study_.tree is None:
        return "".join(_quoted(n) for n in study_.names) + ";"
    nodes = [(_quoted(n), 0.0) for n in study_.names]
    for left, right, height, _ in study_.tree:
        a, b = nodes[int(left)], nodes[int(right)]
        nodes.append((f"({a[0]}:{height - a[1]:.6g},{b[0]}:{height - b[1]:.6g})", height))
    return nodes[-1][0] + ";"


def _quoted(name):
    return "'" + str(name).replace("'", "''") + "'"


def sensitivity(study_, groups):
    """The influence of inputs: for each group (a program) with several rows the mean distance between its rows, over
    that between all rows. Below 1, its inputs are more alike than programs are. {group: (inputs, ratio)}."""
    if study_.scores.shape[1] == 0 or len(groups) < 2:
        return {}
    everything = pdist(study_.scores).mean()
    found = {}
    for group in dict.fromkeys(groups):
        rows = [i for i, g in enumerate(groups) if g == group]
        if len(rows) > 1 and everything > 0:
            found[group] = (len(rows), float(pdist(study_.scores[rows]).mean() / everything))
    return found
