"""scikit-learn's clusters by density, written to cluster-cases.json. Run with a Python that has scikit-learn 1.2."""
import json
import os

import numpy as np
from sklearn import cluster, datasets
from sklearn.cluster import _optics



def correct_predecessor(reachability_plot, predecessor_plot, ordering, s, e):
    """As in scikit-learn 1.6. Versions before took the predecessor, which is a sample, for a place of the order."""
    while s < e:
        if reachability_plot[s] > reachability_plot[e] or predecessor_plot[e] in ordering[s:e]:
            return s, e
        e -= 1
    return None, None


_optics._correct_predecessor = correct_predecessor
rng = np.random.default_rng(5)
rounded = lambda x: np.round(x * 256) / 256
moons = rounded(datasets.make_moons(120, noise=0.08, random_state=1)[0])
blobs = rounded(datasets.make_blobs(110, centers=4, cluster_std=[0.4, 0.8, 1.2, 0.5], random_state=3)[0])
SETS = {
    "iris": rounded(datasets.load_iris().data + rng.uniform(-0.03, 0.03, (150, 4)))[::2],
    "digits": np.concatenate([d[:25] for d in (datasets.load_digits(n_class=4).data[datasets.load_digits(n_class=4).target == i] for i in range(4))])[:, 1::2],
    "moons": moons,
    "blobs": blobs,
    "places": rounded(rng.uniform(-1, 1, (60, 2)) * [1, 2]),
}


def dbscan(name, eps, least, metric="euclidean", p=None, weights=None):
    x = SETS[name]
    w = None if weights is None else np.round(rng.uniform(0, 2, len(x)) * 8) / 8
    model = cluster.DBSCAN(eps=eps, min_samples=least, metric=metric, p=p).fit(x, sample_weight=w)
    return {
        "set": name, "eps": eps, "minSamples": least, "metric": metric, "p": p,
        "weights": None if w is None else w.tolist(),
        "labels": model.labels_.tolist(), "cores": model.core_sample_indices_.tolist(),
    }


def finite(values):
    return [float(v) if np.isfinite(v) else None for v in values]


def optics(name, least, **options):
    model = cluster.OPTICS(min_samples=least, **options).fit(SETS[name])
    return {
        "set": name, "minSamples": least, "options": options,
        "ordering": model.ordering_.tolist(), "predecessor": model.predecessor_.tolist(),
        "reachability": finite(model.reachability_), "coreDistances": finite(model.core_distances_),
        "labels": model.labels_.tolist(),
    }


cases = {
    "sets": {name: x.tolist() for name, x in SETS.items()},
    "dbscan": [
        dbscan("moons", 0.2, 5),
        dbscan("moons", 0.12, 4, weights=True),
        dbscan("blobs", 0.6, 6, "manhattan"),
        dbscan("blobs", 0.35, 3, "chebyshev"),
        dbscan("blobs", 0.5, 5, "minkowski", 3),
        dbscan("iris", 0.5, 5),
        dbscan("iris", 0.0015, 4, "cosine"),
        dbscan("digits", 14.2, 5),
        dbscan("digits", 15.0, 4, weights=True),
        dbscan("digits", 0.09, 4, "cosine"),
        dbscan("places", 0.25, 4, "haversine"),
    ],
    "optics": [
        optics("moons", 5),
        optics("blobs", 8, xi=0.1),
        optics("blobs", 5, xi=0.05, predecessor_correction=False, min_cluster_size=10),
        optics("iris", 6, metric="manhattan", max_eps=1.2),
        optics("moons", 5, cluster_method="dbscan", eps=0.2),
        optics("digits", 4, xi=0.03, min_cluster_size=0.1),
        optics("blobs", 0.04, xi=0.15),
        optics("moons", 3, xi=0.02, max_eps=0.3, metric="chebyshev"),
    ],
}
with open(os.path.join(os.path.dirname(__file__), "cluster-cases.json"), "w") as file:
    json.dump(cases, file, separators=(",", ":"))
    file.write("\n")
