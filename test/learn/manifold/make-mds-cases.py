"""Writes mds-cases.json: scikit-learn's SMACOF from given first places, and the stress where it ends.

The rounds in which only the order counts are written out here: scikit-learn 1.2 forgets one half of the matrix (a pair's number in the upper
triangle is that of the order, in the lower one its length as it is), which later versions mend. The script checks that these rounds, with
that half forgotten, are scikit-learn's."""

import json
from pathlib import Path

import numpy as np
from sklearn.isotonic import IsotonicRegression
from sklearn.manifold import smacof
from sklearn.metrics import pairwise_distances

rng = np.random.default_rng(1)
x = rng.standard_normal((20, 4)).round(3)
cases = []
for metric, components, rounds, eps in [("euclidean", 2, 300, 1e-3), ("manhattan", 3, 25, 1e-9)]:
    start = rng.standard_normal((20, components)).round(3)
    distances = pairwise_distances(x, metric=metric)
    places, _, iterations = smacof(
        distances, init=start, n_init=1, max_iter=rounds, eps=eps, return_n_iter=True, normalized_stress=False
    )
    stress = ((pairwise_distances(places) - distances) ** 2).sum() / 2
    cases.append(
        {
            "options": {"metric": metric, "nComponents": components, "maxIter": rounds, "tol": eps, "init": start.tolist()},
            "embedding": places.tolist(),
            "stress": stress,
            "iterations": iterations,
        }
    )


def order_rounds(distances, places, rounds, forgets_half):
    n = len(distances)
    upper = np.triu_indices(n, 1)

    def wanted(lengths):
        found = IsotonicRegression().fit_transform(distances[upper], lengths[upper])
        numbers = lengths.copy() if forgets_half else np.zeros_like(lengths)
        numbers[upper] = found
        numbers *= np.sqrt((n * (n - 1) / 2) / (numbers**2).sum())
        return numbers if forgets_half else numbers + numbers.T

    def stress(lengths):
        numbers = wanted(lengths)
        return np.sqrt(((lengths - numbers) ** 2).sum() / (numbers**2).sum())

    for _ in range(rounds):
        lengths = pairwise_distances(places)
        last = stress(lengths)
        ratio = wanted(lengths) / np.where(lengths == 0, 1e-5, lengths)
        b = -ratio
        b[np.arange(n), np.arange(n)] += ratio.sum(axis=1)
        places = b @ places / n
    return places, last, stress(pairwise_distances(places))


ordered = []
for metric, rounds, digits in [("euclidean", 40, 3), ("manhattan", 25, 0)]:
    start = rng.standard_normal((20, 2)).round(3)
    # Whole numbers: many pairs at one distance.
    distances = pairwise_distances(x, metric=metric).round(digits)
    places, last, _ = order_rounds(distances, start, rounds, forgets_half=True)
    theirs, stress, _ = smacof(
        distances, metric=False, init=start, n_init=1, max_iter=rounds, eps=-1, return_n_iter=True, normalized_stress=True
    )
    assert np.abs(places - theirs).max() < 1e-9 and abs(last - stress) < 1e-9
    places, _, stress = order_rounds(distances, start, rounds, forgets_half=False)
    ordered.append(
        {
            "options": {"metric": "precomputed", "method": "nonMetric", "maxIter": rounds, "tol": 0, "init": start.tolist()},
            "distances": distances.tolist(),
            "embedding": places.tolist(),
            "stress": stress,
        }
    )
Path(__file__).with_name("mds-cases.json").write_text(json.dumps({"x": x.tolist(), "cases": cases, "ordered": ordered}) + "\n")
