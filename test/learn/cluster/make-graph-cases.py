"""scikit-learn's spectral clusters and embeddings, and affinity propagation, of the sets of cluster-cases.json: graph-cases.json."""
import json
import os

import numpy as np
from sklearn import datasets
from sklearn.cluster import AffinityPropagation, SpectralClustering
from sklearn.manifold import SpectralEmbedding

folder = os.path.dirname(os.path.abspath(__file__))
SETS = {name: np.array(x) for name, x in json.load(open(os.path.join(folder, "cluster-cases.json")))["sets"].items()}
SETS["circles"] = np.round(datasets.make_circles(80, factor=0.35, noise=0.04, random_state=2)[0] * 256) / 256
wine = datasets.load_wine().data[::3]
SETS["wine"] = np.round((wine - wine.mean(0)) / wine.std(0) * 256) / 256


def spectral(name, clusters, **options):
    model = SpectralClustering(clusters, affinity=options.get("affinity", "rbf"), gamma=options.get("gamma", 1.0),
                               n_neighbors=options.get("neighbors", 10), assign_labels=options.get("assign", "kmeans"),
                               random_state=0).fit(SETS[name])
    names = {"affinity": {"rbf": "rbf", "nearest_neighbors": "nearestNeighbors"}, "assign": {"kmeans": "kMeans", "cluster_qr": "clusterQr", "discretize": "discretize"}}
    print(name, np.bincount(model.labels_))
    settings = {"nClusters": clusters}
    for key, value in options.items():
        settings[{"assign": "assignLabels", "neighbors": "nNeighbors"}.get(key, key)] = names.get(key, {}).get(value, value)
    return {"set": name, "options": settings, "labels": model.labels_.tolist()}


def embedding(name, components, **options):
    model = SpectralEmbedding(components, affinity=options["affinity"], gamma=options.get("gamma"), n_neighbors=options.get("neighbors"), random_state=0, eigen_solver="arpack")
    places = model.fit_transform(SETS[name])
    settings = {"nComponents": components, "affinity": {"nearest_neighbors": "nearestNeighbors"}.get(options["affinity"], options["affinity"])}
    if "gamma" in options:
        settings["gamma"] = options["gamma"]
    if "neighbors" in options:
        settings["nNeighbors"] = options["neighbors"]
    return {"set": name, "options": settings, "places": np.round(places, 12).tolist()}


def propagation(name, **options):
    model = AffinityPropagation(random_state=0, **options).fit(SETS[name])
    print(name, options, len(model.cluster_centers_indices_), model.n_iter_)
    new = SETS[name][:12] + 0.07
    names = {"max_iter": "maxIter", "convergence_iter": "convergenceIter"}
    return {"set": name, "options": {names.get(k, k): v for k, v in options.items()}, "labels": model.labels_.tolist(),
            "centers": model.cluster_centers_indices_.tolist(), "iterations": int(model.n_iter_),
            "new": new.tolist(), "predicted": model.predict(new).tolist()}


cases = {
    "sets": {n: SETS[n].tolist() for n in ("circles", "wine")},
    "spectral": [
        spectral("blobs", 4, gamma=0.5, assign="cluster_qr"),
        spectral("blobs", 4, gamma=0.5),
        spectral("moons", 2, affinity="nearest_neighbors", neighbors=8, assign="cluster_qr"),
        spectral("moons", 2, affinity="nearest_neighbors", neighbors=8),
        spectral("moons", 2, affinity="nearest_neighbors", neighbors=8, assign="discretize"),
        spectral("circles", 2, gamma=30.0, assign="discretize"),
        spectral("circles", 2, gamma=30.0, assign="cluster_qr"),
        spectral("iris", 3, affinity="nearest_neighbors", assign="cluster_qr"),
        spectral("iris", 3, assign="discretize"),
        spectral("wine", 3, gamma=0.05),
        spectral("digits", 4, gamma=0.002, assign="cluster_qr"),
    ],
    "embedding": [
        embedding("iris", 2, affinity="rbf", gamma=0.4),
        embedding("moons", 3, affinity="nearest_neighbors", neighbors=12),
        embedding("wine", 2, affinity="rbf"),
    ],
    "propagation": [
        propagation("blobs"),
        propagation("blobs", preference=-30.0, damping=0.7),
        propagation("iris", damping=0.8, preference=-20.0),
        propagation("digits", damping=0.9, max_iter=400, convergence_iter=20),
        propagation("moons", damping=0.6, preference=-3.0),
    ],
}
with open(os.path.join(folder, "graph-cases.json"), "w") as file:
    json.dump(cases, file, separators=(",", ":"))
    file.write("\n")
