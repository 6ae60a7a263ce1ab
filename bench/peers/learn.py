"""Peers of the rows of classical learning, bench/rows/learn.ts: scikit-learn on the CPU, and the same fits for PyTorch and JAX."""

import warnings
from functools import partial

from data import (
    CLUSTERS,
    NEAREST,
    ROUNDS,
    clustered,
    jax_k_means,
    jax_neighbours,
    points,
    torch_k_means,
    torch_neighbours,
)
from tensors import Jax, Numpy, Torch, enter, length
from timing import the


class Sklearn(Numpy):
    """scikit-learn; its inputs are NumPy's."""

    name = "sklearn"

    def __init__(self):
        the("sklearn")
        super().__init__()
        # Rounds end where they are told to, which it warns of.
        warnings.filterwarnings("ignore")

    def uniform(self, shape, seed):
        return (self.centred(shape, seed) + self.np.float32(1)) / self.np.float32(2)


# ---------------------------------------------------------------------------------------- k-means


def k_means(library):
    from sklearn.cluster import KMeans

    def compute(x):
        fitted = KMeans(CLUSTERS, init=x[:CLUSTERS], n_init=1, max_iter=ROUNDS, tol=0).fit(x)
        return library.np.asarray(fitted.inertia_)

    return compute


def inertia_of(k_means):
    """The inertia of the means that a function gives."""

    def of(library):
        fit = k_means(library)

        def compute(x):
            means = fit(x)
            squares = (means**2).sum(1) - 2 * (x @ means.T) + (x**2).sum(1)[:, None]
            least = squares.min(1)
            return (least if library.name == "jax" else least.values).sum()

        return compute

    return of


def mixture(library):
    from sklearn.mixture import GaussianMixture

    k, np = 16, library.np

    def compute(x):
        precisions = np.broadcast_to(np.eye(x.shape[1], dtype=x.dtype) * 12, (k, x.shape[1], x.shape[1]))
        start = {"means_init": x[:k], "weights_init": np.full(k, 1 / k), "precisions_init": precisions}
        fitted = GaussianMixture(k, tol=0, max_iter=5, init_params="random", **start).fit(x)
        return np.asarray(fitted.lower_bound_)

    return compute


def neighbors(library):
    from sklearn.neighbors import NearestNeighbors

    def compute(queries, points):
        fitted = NearestNeighbors(n_neighbors=NEAREST, metric="sqeuclidean", algorithm="brute").fit(points)
        return fitted.kneighbors(queries)

    return compute


def torch_components(t):
    def compute(x):
        apart = x - x.mean(0)
        values, vectors = t.torch.linalg.eigh(apart.T @ apart)
        rows = vectors.T.flip(0)
        largest = rows.gather(1, rows.abs().argmax(1, keepdim=True))
        return values.flip(0).clamp(min=0) / (x.shape[0] - 1), t.torch.where(largest < 0, -rows, rows)

    return compute


def jax_components(j):
    def compute(x):
        apart = x - x.mean(0)
        values, vectors = j.np.linalg.eigh(apart.T @ apart)
        rows = vectors.T[::-1]
        largest = j.np.take_along_axis(rows, j.np.abs(rows).argmax(1, keepdims=True), 1)
        return j.np.maximum(values[::-1], 0) / (x.shape[0] - 1), j.np.where(largest < 0, -rows, rows)

    return compute


def variances(components):
    """The first result alone is compared: directions of equal variances have no order."""
    return lambda library: lambda x: components(library)(x)[0]


def samples(count, features):
    return lambda library: [library.uniform((length(count), features), 0)]


SKLEARN = {
    "k-means": (k_means, samples(100_000, 32)),
    "gaussian-mixture": (mixture, samples(100_000, 16)),
    "neighbors": (neighbors, points),
}
def centred(count, features):
    return lambda library: [library.centred((length(count), features), 0)]


TORCH = {"k-means": (inertia_of(torch_k_means), clustered), "neighbors": (torch_neighbours, points), "pca": (variances(torch_components), centred(100_000, 256))}
JAX = {"k-means": (inertia_of(jax_k_means), clustered), "neighbors": (jax_neighbours, points), "pca": (variances(jax_components), centred(100_000, 256))}


def work(compute, inputs, library):
    given = inputs(library)
    return compute(library), given


for library_, of_ in ((Sklearn, SKLEARN), (Torch, TORCH), (Jax, JAX)):
    for name_, (compute_, inputs_) in of_.items():
        enter(library_, f"learn-{name_}", partial(work, compute_, inputs_))
