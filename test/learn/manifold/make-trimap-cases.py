"""Writes trimap-cases.json: the loss of triplets at given places and its gradient, in plain f64; the script checks the gradient by
finite differences. Weights of given triplets come from the definitions, too."""

import json
from pathlib import Path

import numpy as np
from scipy.spatial.distance import cdist

rng = np.random.default_rng(11)
n, per_sample = 30, 9
x = rng.standard_normal((n, 5)).round(3)
places = rng.standard_normal((n, 2)).round(3)
# The first sample is in most triplets, so that it fills several rows.
nearer = np.array([rng.choice(np.delete(np.arange(n), i), per_sample) for i in range(n)])
farther = np.array([rng.choice(np.delete(np.arange(n), i), per_sample) for i in range(n)])
nearer[1:, :4] = 0
weights = rng.uniform(0, 3, (n, per_sample)).round(3)


def loss(y):
    d = 1 + ((y[:, None] - y[nearer]) ** 2).sum(axis=2)
    e = 1 + ((y[:, None] - y[farther]) ** 2).sum(axis=2)
    return (weights * d / (d + e)).sum()


def gradient(y):
    found = np.zeros_like(y)
    for i in range(n):
        for t in range(per_sample):
            j, k = nearer[i, t], farther[i, t]
            inward, outward = y[i] - y[j], y[i] - y[k]
            d, e = 1 + inward @ inward, 1 + outward @ outward
            scale = 2 * weights[i, t] / (d + e) ** 2
            found[i] += scale * (e * inward - d * outward)
            found[j] -= scale * e * inward
            found[k] += scale * d * outward
    return found


slopes = gradient(places)
for i, c in [(0, 0), (0, 1), (7, 0), (29, 1)]:
    step = np.zeros_like(places)
    step[i, c] = 1e-6
    assert abs((loss(places + step) - loss(places - step)) / 2e-6 - slopes[i, c]) < 1e-7

# Widths of samples, and squares of distances over them.
distances = cdist(x, x)
widths = np.sort(distances, axis=1)[:, 3:6].mean(axis=1)
scaled = distances**2 / np.outer(widths, widths)
cases = {
    "x": x.tolist(),
    "places": places.tolist(),
    "nearer": nearer.tolist(),
    "farther": farther.tolist(),
    "weights": weights.tolist(),
    "loss": loss(places) / (n * per_sample),
    "gradient": slopes.tolist(),
    "scaled": scaled.tolist(),
}
Path(__file__).with_name("trimap-cases.json").write_text(json.dumps(cases) + "\n")
