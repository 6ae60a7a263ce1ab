"""Writes umap-cases.json: the parts of UMAP that have one answer, each computed here plainly in f64. Widths come from a root finder, the
graph is a full matrix, the curve is scipy's least squares, and eigenvectors are those of the full Laplacian."""

import json
from pathlib import Path

import numpy as np
from scipy.optimize import brentq, curve_fit
from scipy.spatial.distance import cdist
from sklearn import datasets

rng = np.random.default_rng(5)


def nearest_of(distances, connectivity):
    """The interpolated distance to the neighbour of that number, among those that lie elsewhere."""
    elsewhere = distances[distances > 0]
    if len(elsewhere) == 0:
        return 0.0
    if len(elsewhere) < connectivity:
        return elsewhere[-1]
    padded = np.concatenate([[0.0], elsewhere])
    return float(np.interp(connectivity, np.arange(len(padded)), padded))


def graph(x, n_neighbors, connectivity=1.0, mix=1.0):
    n = len(x)
    distances = cdist(x, x)
    np.fill_diagonal(distances, np.inf)
    indices = np.argsort(distances, axis=1, kind="stable")[:, : n_neighbors - 1]
    near = np.take_along_axis(distances, indices, axis=1)
    memberships = np.zeros_like(near)
    for i, row in enumerate(near):
        first = nearest_of(row, connectivity)
        beyond = np.maximum(row - first, 0)

        def excess(log):
            return np.exp(-beyond / np.exp(log)).sum() - np.log2(n_neighbors)

        low, high = np.log(near.mean()) - 30, np.log(near.mean()) + 30
        width = np.exp(brentq(excess, low, high, xtol=1e-14)) if excess(low) < 0 else 0.0
        # umap-learn's means count the sample itself, at no distance.
        share = 1e-3 * (n_neighbors - 1) / n_neighbors
        width = max(width, share * (row.mean() if first > 0 else near.mean()))
        memberships[i] = np.exp(-beyond / width)
    a = np.zeros((n, n))
    np.put_along_axis(a, indices, memberships, axis=1)
    both = a * a.T
    weights = mix * (a + a.T - both) + (1 - mix) * both
    return memberships, weights


def eigenvectors(weights, components):
    degrees = weights.sum(axis=1)
    laplacian = np.eye(len(weights)) - weights / np.sqrt(np.outer(degrees, degrees))
    values, vectors = np.linalg.eigh(laplacian)
    assert values[1] > 1e-6, "the graph is connected"
    vectors = vectors[:, 1 : components + 1]
    largest = np.take_along_axis(vectors, np.abs(vectors).argmax(axis=0)[None], axis=0)
    return values[1 : components + 1], vectors * np.sign(largest)


def curve(min_dist, spread):
    d = np.linspace(0, 3 * spread, 300)
    wanted = np.where(d < min_dist, 1.0, np.exp(-(d - min_dist) / spread))
    (a, b), _ = curve_fit(lambda d, a, b: 1 / (1 + a * d ** (2 * b)), d, wanted, xtol=1e-14, ftol=1e-14, gtol=1e-14)
    return {"minDist": min_dist, "spread": spread, "a": a, "b": b}


x = rng.standard_normal((40, 4)).round(3)
x[7] = x[3]
x[8] = x[3]
graphs = []
for n_neighbors, connectivity, mix in [(8, 1.0, 1.0), (12, 2.5, 0.3), (5, 0.5, 0.0)]:
    memberships, weights = graph(x, n_neighbors, connectivity, mix)
    graphs.append(
        {
            "options": {"nNeighbors": n_neighbors, "localConnectivity": connectivity, "setOpMixRatio": mix},
            "memberships": memberships.tolist(),
            "weights": weights.round(12).tolist(),
        }
    )
_, weights = graph(x, 8)
values, vectors = eigenvectors(weights, 3)
# Two groups that no edge connects, and the eigenvectors of each alone.
apart = np.concatenate([x[:15], x[15:] * 0.5 + 50]).round(3)
_, weights = graph(apart, 6)
assert np.abs(weights[:15, 15:]).max() == 0
groups = [eigenvectors(weights[part][:, part], 2)[1].tolist() for part in (slice(0, 15), slice(15, 40))]
cases = {
    "x": x.tolist(),
    "graphs": graphs,
    "eigenvalues": values.tolist(),
    "eigenvectors": vectors.tolist(),
    "apart": apart.tolist(),
    "ofGroups": groups,
    "digitLabels": "".join(map(str, datasets.load_digits().target[:400])),
    "curves": [curve(0.1, 1.0), curve(0.0, 1.0), curve(0.5, 2.0), curve(0.99, 1.0)],
}
Path(__file__).with_name("umap-cases.json").write_text(json.dumps(cases) + "\n")
