"""SciPy's and scikit-learn's hierarchical clusters of the sets of cluster-cases.json, written to hierarchy-cases.json."""
import json
import os

import numpy as np
from scipy.cluster import hierarchy
from scipy.spatial.distance import pdist, squareform
from sklearn.cluster import AgglomerativeClustering
from sklearn.cluster._agglomerative import _hc_cut

folder = os.path.dirname(__file__)
SETS = {name: np.array(x) for name, x in json.load(open(os.path.join(folder, "cluster-cases.json")))["sets"].items()}
rng = np.random.default_rng(8)
# Distances that are equal many times over, and samples that stand twice.
SETS["grid"] = np.array([[i, j] for i in range(6) for j in range(6)], float)[rng.permutation(36)]
SETS["twice"] = np.round(rng.normal(size=(40, 3)) * 2) / 2


def case(name, method, metric="euclidean", p=2):
    x = SETS[name]
    scipy_metric = {"manhattan": "cityblock"}.get(metric, metric)
    pairs = pdist(x, scipy_metric, **({"p": p} if metric == "minkowski" else {}))
    tree = hierarchy.linkage(pairs, method)
    counts = [2, 3, 7]
    # Between two merges, so that below and at most are the same.
    heights = np.unique(np.maximum.accumulate(tree[:, 2]))
    threshold = (heights[-4] + heights[-3]) / 2 if len(heights) > 3 else heights[-1] / 2
    result = {
        "set": name, "linkage": method, "metric": metric, "p": p,
        "tree": tree.tolist(), "threshold": threshold,
        "atThreshold": hierarchy.fcluster(tree, threshold, "distance").tolist(),
        "cuts": [_hc_cut(n, tree[:, :2].astype(int), len(x)).tolist() for n in counts],
        "counts": counts,
        "cophenetic": hierarchy.cophenet(tree)[:: 41].tolist(),
    }
    if method in ("ward", "complete", "average", "single"):
        model = AgglomerativeClustering(3, linkage=method, affinity="precomputed" if method != "ward" else "euclidean")
        result["three"] = model.fit(x if method == "ward" else squareform(pairs)).labels_.tolist()
    return result


cases = [
    *[case("blobs", m) for m in ("single", "complete", "average", "weighted", "ward", "centroid", "median")],
    *[case("twice", m) for m in ("single", "complete", "average", "weighted", "ward", "centroid", "median")],
    *[case("grid", m) for m in ("single", "complete", "average", "weighted", "centroid", "median")],
    case("moons", "single"),
    case("iris", "ward"),
    case("iris", "average", "cosine"),
    case("digits", "ward"),
    case("digits", "single"),
    case("digits", "complete", "manhattan"),
    case("moons", "average", "chebyshev"),
    case("iris", "weighted", "minkowski", 3),
]
with open(os.path.join(folder, "hierarchy-cases.json"), "w") as file:
    json.dump({"sets": {n: SETS[n].tolist() for n in ("grid", "twice")}, "cases": cases}, file, separators=(",", ":"))
    file.write("\n")
