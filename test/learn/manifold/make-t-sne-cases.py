"""Writes t-sne-cases.json: scikit-learn's t-SNE, its gradient and its trustworthiness. Probabilities are computed here to the last digit,
since scikit-learn's search for widths ends at 1e-5; the script checks that both agree that far."""

import json
from pathlib import Path

import numpy as np
from scipy.optimize import brentq
from scipy.spatial.distance import squareform
from sklearn import datasets
from sklearn.manifold import TSNE, trustworthiness
from sklearn.manifold._t_sne import _gradient_descent, _joint_probabilities, _kl_divergence
from sklearn.metrics import pairwise_distances

rng = np.random.default_rng(0)


def joint(x, perplexity):
    squares = pairwise_distances(x, squared=True, metric="euclidean")
    p = np.zeros_like(squares)
    for i, row in enumerate(squares):
        others = np.delete(row, i)
        others = others - others.min()

        def shares(log):
            w = np.exp(-others * np.exp(log))
            return w / w.sum()

        def excess(log):
            q = shares(log)
            return -np.sum(q * np.log(np.maximum(q, 1e-300))) - np.log(perplexity)

        p[i, np.arange(len(x)) != i] = shares(brentq(excess, -20, 20, xtol=1e-14))
    p = (p + p.T) / (2 * len(x))
    theirs = squareform(_joint_probabilities(squares, perplexity, 0))
    assert np.abs(p - theirs).max() < 1e-4 * p.max()
    return p


x = rng.standard_normal((24, 4)).round(3)
y = rng.standard_normal((24, 2)).round(3)
p = joint(x, 5)
flat = squareform(p, checks=False)
divergence, gradient = _kl_divergence(y.ravel(), flat, 1, 24, 2)
start = y * 1e-2
places, _, _ = _gradient_descent(
    _kl_divergence, start.ravel(), 0, 30, n_iter_check=100, momentum=0.5, learning_rate=2, args=[flat * 12, 1, 24, 2]
)

iris = datasets.load_iris().data
jittered = iris + 1e-3 * rng.standard_normal(iris.shape)
jittered = jittered.round(6)
digits = datasets.load_digits().data[:300]


def quality(data, **options):
    model = TSNE(init="pca", random_state=0, **options).fit(data)
    return {
        "options": options,
        "klDivergence": round(float(model.kl_divergence_), 5),
        "trustworthiness": round(trustworthiness(data, model.embedding_), 5),
    }


cases = {
    "x": x.tolist(),
    "places": y.tolist(),
    "perplexity": 5,
    "joint": p.round(12).tolist(),
    "klDivergence": divergence,
    "gradient": gradient.reshape(24, 2).tolist(),
    "start": start.tolist(),
    "afterThirty": places.reshape(24, 2).tolist(),
    "iris": jittered.tolist(),
    "quality": {"iris": quality(jittered), "digits": quality(digits, perplexity=20)},
    "trust": [
        {"options": {"nNeighbors": k, "metric": metric}, "value": trustworthiness(jittered, jittered[:, 1:3], n_neighbors=k, metric=metric)}
        for k, metric in [(5, "euclidean"), (12, "manhattan"), (74, "euclidean")]
    ],
}
Path(__file__).with_name("t-sne-cases.json").write_text(json.dumps(cases) + "\n")
