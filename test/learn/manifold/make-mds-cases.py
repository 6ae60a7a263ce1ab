"""Writes mds-cases.json: scikit-learn's SMACOF from given first places, and the stress where it ends."""

import json
from pathlib import Path

import numpy as np
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
Path(__file__).with_name("mds-cases.json").write_text(json.dumps({"x": x.tolist(), "cases": cases}) + "\n")
