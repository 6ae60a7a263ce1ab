"""scikit-learn's mixtures of normal distributions, written to mixture-cases.json. Run with a Python that has scikit-learn 1.2."""
import json
import os
import warnings

import numpy as np
from sklearn import datasets
from sklearn.mixture import GaussianMixture

warnings.filterwarnings("ignore")
wine = datasets.load_wine().data[:, [0, 6, 9]]
SETS = {
    "iris": datasets.load_iris().data,
    "wine": wine,
    "blobs": np.round(datasets.make_blobs(150, centers=4, n_features=2, random_state=3)[0], 3),
}
SETS["far"] = SETS["blobs"] + [1000, -500]


def mixture(name, k, kind, rounds=100, tol=1e-3):
    x = SETS[name]
    d = x.shape[1]
    precisions = {"full": np.array([np.eye(d) * (i + 1) / 2 for i in range(k)]), "tied": np.eye(d),
                  "diag": np.ones((k, d)), "spherical": np.arange(1.0, k + 1)}[kind]
    means = x[np.linspace(3, len(x) - 5, k).astype(int)]
    weights = np.arange(1.0, k + 1) / np.arange(1.0, k + 1).sum()
    model = GaussianMixture(k, covariance_type=kind, means_init=means, weights_init=weights, precisions_init=precisions,
                            init_params="random", max_iter=rounds, tol=tol, random_state=0).fit(x)
    best = GaussianMixture(k, covariance_type=kind, n_init=5, random_state=0).fit(x)
    return {
        "set": name, "kind": kind, "rounds": rounds, "tol": tol,
        "start": {"weights": weights.tolist(), "means": means.tolist(), "precisions": precisions.tolist()},
        "weights": model.weights_.tolist(), "means": model.means_.tolist(), "covariances": model.covariances_.tolist(),
        "precisions": model.precisions_.tolist(), "lowerBound": model.lower_bound_, "iterations": int(model.n_iter_),
        "converged": bool(model.converged_), "labels": model.predict(x).tolist(),
        "scores": model.score_samples(x[:6]).tolist(), "probabilities": model.predict_proba(x[:6]).tolist(),
        "bic": model.bic(x), "aic": model.aic(x), "best": best.score(x),
    }


cases = {
    "sets": {name: x.tolist() for name, x in SETS.items()},
    "mixtures": [
        *(mixture("iris", 3, kind) for kind in ("full", "tied", "diag", "spherical")),
        *(mixture("wine", 3, kind, rounds=6, tol=0) for kind in ("full", "tied", "diag", "spherical")),
        mixture("blobs", 4, "full"),
        mixture("far", 4, "diag"),
        mixture("blobs", 1, "full"),
    ],
}
with open(os.path.join(os.path.dirname(__file__), "mixture-cases.json"), "w") as file:
    json.dump(cases, file, separators=(",", ":"))
    file.write("\n")
