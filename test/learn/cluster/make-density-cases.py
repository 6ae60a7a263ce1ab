"""Clusters of HDBSCAN of the sets of cluster-cases.json, written to density-cases.json.

scikit-learn 1.2 has no HDBSCAN. The oracle is the plain implementation below, written from the papers (Campello, Moulavi & Sander 2013;
McInnes & Healy 2017; Malzer & Baum 2020) with sets and recursion, on SciPy's tree of single linkage. Labels of a tree whose only cluster is
its root, and the rule of equal distances, are those that scikit-learn documents.
"""
import json
import os

import numpy as np
from scipy.cluster import hierarchy
from scipy.spatial.distance import pdist, squareform

folder = os.path.dirname(os.path.abspath(__file__))
SETS = {name: np.array(x) for name, x in json.load(open(os.path.join(folder, "cluster-cases.json")))["sets"].items()}
rng = np.random.default_rng(3)
SETS["twice"] = np.concatenate([np.repeat([[0.0, 0], [5, 5]], 8, 0), np.round(rng.normal(size=(30, 2)) * 64) / 16 + [2.5, 2.5]])


class Cluster:
    """A set of samples from its birth on: who leaves when, and the two it splits into."""

    def __init__(self, birth, samples):
        self.birth, self.samples, self.left, self.children = birth, samples, {}, []

    @property
    def death(self):
        return max([*self.left.values(), *(c.birth for c in self.children)])

    @property
    def stability(self):
        return sum(l - self.birth for l in self.left.values()) + sum(len(c.samples) * (c.birth - self.birth) for c in self.children)

    def walk(self):
        yield self
        for child in self.children:
            yield from child.walk()


def condense(tree, least):
    n = len(tree) + 1
    members = {i: [i] for i in range(n)}
    for k, (a, b, _, _) in enumerate(tree):
        members[n + k] = members[int(a)] + members[int(b)]

    def follow(node, cluster):
        if node < n or tree[node - n][2] == 0:
            cluster.left.update((i, np.inf) for i in members[node])
            return
        a, b, distance = int(tree[node - n][0]), int(tree[node - n][1]), tree[node - n][2]
        lasting = [part for part in (a, b) if len(members[part]) >= least]
        for part in (a, b):
            if part not in lasting:
                cluster.left.update((i, 1 / distance) for i in members[part])
        if len(lasting) == 1:
            follow(lasting[0], cluster)
        for part in lasting if len(lasting) == 2 else []:
            child = Cluster(1 / distance, members[part])
            cluster.children.append(child)
            follow(part, child)

    root = Cluster(0.0, members[2 * n - 2])
    follow(2 * n - 2, root)
    return root


def best(cluster, root, single, most):
    """The clusters with the most excess of mass, and how much."""
    below = [best(child, root, single, most) for child in cluster.children]
    sum_below = sum(value for value, _ in below)
    chosen = [each for _, each_chosen in below for each in each_chosen]
    if (cluster is root and not single) or sum_below > cluster.stability or len(cluster.samples) > most:
        return sum_below, chosen
    return cluster.stability, [cluster]


def hdbscan(x, least, samples=None, method="eom", epsilon=0.0, single=False, most=np.inf, alpha=1.0, metric="euclidean"):
    samples = samples or least
    distances = squareform(pdist(x, {"manhattan": "cityblock"}.get(metric, metric)))
    cores = np.sort(distances, axis=1)[:, samples - 1]
    mutual = np.maximum(np.maximum(distances / alpha, cores[:, None]), cores[None, :])
    np.fill_diagonal(mutual, 0)
    root = condense(hierarchy.linkage(squareform(mutual), "single"), least)
    parents = {id(child): each for each in root.walk() for child in each.children}
    if method == "eom":
        chosen = best(root, root, single, most)[1]
    else:
        chosen = [each for each in root.walk() if not each.children and (each is not root or single)]
    if epsilon > 0:
        raised = []
        for each in chosen:
            while each is not root and 1 / each.birth < epsilon and (single or parents[id(each)] is not root):
                each = parents[id(each)]
            if all(each is not other for other in raised):
                raised.append(each)
        chosen = raised
    labels, probabilities = np.full(len(x), -1), np.zeros(len(x))
    for label, cluster in enumerate(chosen):
        for inner in cluster.walk():
            for i, leaving in inner.left.items():
                if cluster is root and leaving < (1 / epsilon if epsilon else root.death):
                    continue
                labels[i] = label
                probabilities[i] = 1.0 if np.isinf(leaving) else min(leaving, cluster.death) / cluster.death
    splits = sorted(float(1 / each.birth) for each in root.walk() if each is not root)
    return labels, probabilities, splits


def case(name, least, **options):
    labels, probabilities, splits = hdbscan(SETS[name], least, **options)
    names = {"samples": "minSamples", "method": "clusterSelectionMethod", "epsilon": "clusterSelectionEpsilon",
             "single": "allowSingleCluster", "most": "maxClusterSize"}
    print(name, options, "clusters", labels.max() + 1, "noise", (labels < 0).sum())
    return {"set": name, "options": {"minClusterSize": least, **{names.get(k, k): v for k, v in options.items()}},
            "labels": labels.tolist(), "probabilities": np.round(probabilities, 10).tolist(), "splits": splits}


cases = [
    case("blobs", 5),
    case("moons", 5),
    case("moons", 4, samples=2, method="leaf"),
    case("blobs", 4, method="leaf", epsilon=0.5),
    case("blobs", 8, samples=3, epsilon=1.0),
    case("blobs", 5, samples=4, most=25),
    case("blobs", 40, single=True),
    case("moons", 30, samples=5, single=True, epsilon=0.2),
    case("blobs", 4, single=True, epsilon=5.0),
    case("iris", 5, metric="manhattan"),
    case("iris", 6, samples=3, alpha=1.4),
    case("digits", 5, samples=3),
    case("digits", 4, samples=2, metric="cosine"),
    case("twice", 4, samples=2),
    case("twice", 4, samples=2, method="leaf"),
]
with open(os.path.join(folder, "density-cases.json"), "w") as file:
    json.dump({"sets": {"twice": SETS["twice"].tolist()}, "hdbscan": cases}, file, separators=(",", ":"))
    file.write("\n")
