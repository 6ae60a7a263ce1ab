"""scikit-learn's k-means, written to k-means-cases.json. Run with a Python that has scikit-learn 1.2."""
import json
import os
import warnings

import numpy as np
from sklearn import cluster, datasets

warnings.filterwarnings("ignore")
rng = np.random.default_rng(7)
blobs = np.round(datasets.make_blobs(120, centers=5, n_features=3, random_state=1)[0], 3)
digits = datasets.load_digits()
SETS = {
    "iris": datasets.load_iris().data,
    "wine": datasets.load_wine().data,
    "digits": digits.data[:160],
    "blobs": blobs,
    "far": blobs + [1000, -20000, 500],
}


def k_means(name, clusters, init=None, weights=False, **options):
    x = SETS[name]
    w = np.round(rng.uniform(0, 2, len(x)) * 8) / 8 if weights else None
    first = x[rng.permutation(len(x))[:clusters]] if init is None else np.array(init, float)
    model = cluster.KMeans(clusters, init=first, n_init=1, **options).fit(x, sample_weight=w)
    best = cluster.KMeans(clusters, n_init=20, random_state=0).fit(x, sample_weight=w)
    return {
        "set": name, "init": first.tolist(), "weights": None if w is None else w.tolist(),
        "options": {"maxIter": options.get("max_iter", 300), "tol": options.get("tol", 1e-4)},
        "centers": model.cluster_centers_.tolist(), "labels": model.labels_.tolist(),
        "inertia": model.inertia_, "iterations": int(model.n_iter_), "best": best.inertia_,
        "distances": np.round(model.transform(x[:5]), 12).tolist(), "score": model.score(x),
    }


cases = {
    "sets": {name: x.tolist() for name, x in SETS.items()},
    "kMeans": [
        k_means("iris", 3),
        k_means("blobs", 4, init=[blobs[0], blobs[1], [100, 100, 0], [200, 200, 9]]),
        k_means("far", 5),
        k_means("blobs", 5, weights=True),
        k_means("wine", 3),
        k_means("digits", 10, tol=0),
        k_means("blobs", 5, max_iter=3),
        k_means("blobs", 1),
    ],
}
with open(os.path.join(os.path.dirname(__file__), "k-means-cases.json"), "w") as file:
    json.dump(cases, file, separators=(",", ":"))
    file.write("\n")
