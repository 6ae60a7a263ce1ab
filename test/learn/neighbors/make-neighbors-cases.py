"""scikit-learn's answers about neighbours, written to neighbors-cases.json. Run with a Python that has scikit-learn 1.2."""
import json
import os
import warnings

import numpy as np
from sklearn import datasets
from sklearn.metrics.pairwise import nan_euclidean_distances
from sklearn.neighbors import (
    KernelDensity,
    KNeighborsClassifier,
    KNeighborsRegressor,
    LocalOutlierFactor,
    NearestCentroid,
    NearestNeighbors,
    RadiusNeighborsClassifier,
    RadiusNeighborsRegressor,
)

warnings.filterwarnings("ignore")
rng = np.random.default_rng(7)
iris, wine, digits, diabetes = (
    f(return_X_y=True) for f in (datasets.load_iris, datasets.load_wine, datasets.load_digits, datasets.load_diabetes)
)
# Spread a little, by numbers that are exact in f32: no ties.
spread = lambda x: np.round(x * 8192 + rng.integers(-400, 401, x.shape)) / 8192
wide = wine[0] / wine[0].std(0)
SETS = {
    "iris": (spread(iris[0][::2]), iris[1][::2]),
    "wine": (spread(wide[::3]), wine[1][::3]),
    "digits": (spread(digits[0][:100, ::2] / 16), digits[1][:100]),
    "diabetes": (spread(diabetes[0][:90] * 20), diabetes[1][:90]),
    "places": (np.round(rng.uniform(-1, 1, (40, 2)) * [1.5, 3] * 1024) / 1024, np.arange(40) % 3),
}
twins = np.random.default_rng(11)
# Every sample twice, with labels of its own: equal distances and equal votes.
SETS["twins"] = (
    np.round(np.concatenate([np.repeat(twins.normal(size=(40, 3)), 2, 0), twins.normal(size=(15, 3))]) * 1024) / 1024,
    twins.integers(0, 3, 95),
)
METRICS = [("euclidean", 2), ("sqeuclidean", 2), ("manhattan", 1), ("chebyshev", 2), ("minkowski", 3), ("cosine", 2)]


def params(metric, p):
    return {"metric": metric, "p": p} if metric == "minkowski" else {"metric": metric}


def parts(name):
    x, y = SETS[name]
    cut = len(x) - 15
    return x[:cut], y[:cut], x[cut:], y[cut:]


def plain(value):
    if isinstance(value, np.ndarray):
        return np.where(np.isnan(value), None, value).tolist()
    return float(value) if isinstance(value, (float, np.floating)) else int(value)


def neighbors(name, metric, p, k, radius):
    x, _, q, _ = parts(name)
    model = NearestNeighbors(n_neighbors=k, radius=radius, algorithm="brute", **params(metric, p)).fit(x)
    own, _ = model.kneighbors()
    distances, indices = model.kneighbors(q)
    within = model.radius_neighbors(q, sort_results=True)
    return {
        "set": name, "metric": metric, "p": p, "k": k, "radius": radius,
        "distances": plain(distances), "indices": plain(indices), "own": plain(own[:5]),
        "within": [sorted(plain(row)) for row in within[1]],
    }


# Metrics that are compared by distances alone: flags have many equal ones.
flags = np.random.default_rng(12)
SETS["flags"] = ((flags.uniform(size=(45, 9)) < 0.5) * 1.0, np.arange(45) % 2)
SETS["flags"][0][:, 0] = 1
gaps = SETS["iris"][0][:45].copy()
gaps[np.arange(0, 45, 2), flags.integers(0, 4, 23)] = np.nan
SETS["gaps"] = (gaps, np.arange(45) % 2)


def pairs(name, metric, k, radius, ours=None, options={}, **more):
    x, _, q, _ = parts(name)
    if name == "flags" and metric != "hamming":
        x, q = x.astype(bool), q.astype(bool)
    if metric == "nan_euclidean":  # scikit-learn 1.2 refuses NaN in samples, but not its distances
        x, q, metric = nan_euclidean_distances(x), nan_euclidean_distances(q, x), "precomputed"
    model = NearestNeighbors(n_neighbors=k, radius=radius, algorithm="brute", metric=metric, **more).fit(x)
    near, _ = model.radius_neighbors(q)
    return {
        "set": name, "metric": ours or metric, "k": k, "radius": radius, "options": options,
        "distances": plain(model.kneighbors(q)[0]), "own": plain(model.kneighbors()[0][:5]),
        "counts": [len(row) for row in near], "sums": [float(sum(row)) for row in near],
    }


V, C = np.var(SETS["iris"][0], axis=0), np.cov(SETS["iris"][0].T)


def density(name, kernel, bandwidth, weighted=False, columns=4, metric="euclidean", **more):
    x, _, q, _ = parts(name)
    x, q = x[:, :columns], q[:, :columns]
    w = np.arange(len(x)) % 4 / 2 if weighted else None
    model = KernelDensity(kernel=kernel, bandwidth=bandwidth, rtol=1e-12, metric=metric, **more).fit(x, sample_weight=w)
    scores = model.score_samples(q)
    return {
        "set": name, "kernel": kernel, "bandwidth": bandwidth, "weighted": weighted, "columns": columns, "metric": metric,
        "scores": [None if np.isinf(each) else each for each in scores],
    }


def outliers(name, k, contamination, metric="minkowski", p=2):
    x, _, q, _ = parts(name)
    given = dict(n_neighbors=k, contamination=contamination, algorithm="brute", **params(metric, p))
    plainly = LocalOutlierFactor(**given)
    labels = plainly.fit_predict(x)
    novel = LocalOutlierFactor(novelty=True, **given).fit(x)
    return {
        "set": name, "k": k, "contamination": contamination, "metric": metric, "p": p,
        "factors": plain(plainly.negative_outlier_factor_), "labels": plain(labels), "offset": plain(plainly.offset_),
        "scores": plain(novel.score_samples(q)), "decisions": plain(novel.decision_function(q)),
        "predicted": plain(novel.predict(q)),
    }


def classifier(name, k, weights, metric="minkowski", p=2):
    x, y, q, t = parts(name)
    q = np.concatenate([q, x[:2]])  # distances of zero, too
    model = KNeighborsClassifier(k, weights=weights, algorithm="brute", **params(metric, p)).fit(x, y)
    return {
        "set": name, "k": k, "weights": weights, "metric": metric, "p": p,
        "probabilities": plain(model.predict_proba(q)), "predicted": plain(model.predict(q)),
        "score": plain(model.score(q[:15], t)),
    }


def regressor(name, k, weights, metric="minkowski", p=2):
    x, y, q, t = parts(name)
    q = np.concatenate([q, x[:2]])
    y = np.stack([y, y**2], 1) if metric == "cosine" else y
    model = KNeighborsRegressor(k, weights=weights, algorithm="brute", **params(metric, p)).fit(x, y)
    return {"set": name, "k": k, "weights": weights, "metric": metric, "p": p, "predicted": plain(model.predict(q))}


def radius_classifier(name, radius, weights, outlier):
    x, y, q, _ = parts(name)
    q = np.concatenate([q, x[:2], 50 + q[:1]])
    model = RadiusNeighborsClassifier(radius, weights=weights, algorithm="brute", outlier_label=outlier).fit(x, y)
    return {
        "set": name, "radius": radius, "weights": weights, "outlier": outlier,
        "probabilities": plain(model.predict_proba(q)), "predicted": plain(model.predict(q)),
    }


def radius_regressor(name, radius, weights):
    x, y, q, _ = parts(name)
    q = np.concatenate([q, x[:2]])
    model = RadiusNeighborsRegressor(radius, weights=weights, algorithm="brute").fit(x, y)
    return {"set": name, "radius": radius, "weights": weights, "predicted": plain(model.predict(q))}


def centroid(name, metric, shrink):
    x, y, q, _ = parts(name)
    model = NearestCentroid(metric=metric, shrink_threshold=shrink).fit(x, y)
    return {
        "set": name, "metric": metric, "shrink": shrink,
        "centroids": plain(model.centroids_), "predicted": plain(model.predict(q)),
    }


cases = {
    "sets": {name: {"x": plain(x), "y": plain(y)} for name, (x, y) in SETS.items()},
    "neighbors": [neighbors("iris", metric, p, 4, 0.8 if metric != "cosine" else 0.01) for metric, p in METRICS]
    + [neighbors("digits", "euclidean", 2, 6, 1.5), neighbors("wine", "cosine", 2, 3, 0.02)]
    + [neighbors("places", "haversine", 2, 3, 0.4)],
    "pairs": [
        pairs("iris", "canberra", 4, 0.2),
        pairs("flags", "jaccard", 3, 0.45),
        pairs("iris", "braycurtis", 4, 0.05),
        pairs("iris", "correlation", 4, 0.002),
        pairs("iris", "cityblock", 4, 0.8),
        pairs("iris", "l1", 2, 0.8),
        pairs("iris", "l2", 2, 0.8),
        pairs("iris", "seuclidean", 4, 0.6, options={"variances": plain(V)}, metric_params={"V": V}),
        pairs("iris", "mahalanobis", 4, 0.8, options={"covariance": plain(C)}, metric_params={"VI": np.linalg.inv(C)}),
        pairs("gaps", "nan_euclidean", 4, 0.8, "nanEuclidean"),
        pairs("flags", "hamming", 3, 0.3),
    ]
    + [pairs("flags", metric, 3, 0.55) for metric in ("dice", "rogerstanimoto", "russellrao", "sokalmichener", "sokalsneath", "yule")],
    "densities": [
        density("iris", "gaussian", 0.5),
        density("iris", "tophat", 0.9, True),
        density("iris", "epanechnikov", 1.2, columns=3),
        density("iris", "exponential", 0.3, True),
        density("iris", "linear", 1.1, columns=1),
        density("iris", "cosine", 1.2, columns=1),
        density("iris", "cosine", 0.8, columns=3),
        density("iris", "gaussian", "scott", columns=2),
        density("iris", "gaussian", "silverman", True),
        density("iris", "gaussian", 0.7, metric="manhattan"),
    ],
    "outliers": [
        outliers("iris", 10, "auto"),
        outliers("iris", 20, 0.1, "manhattan"),
        outliers("digits", 5, 0.2),
        outliers("wine", 500, "auto", "cosine"),
    ],
    "classifiers": [
        classifier("iris", 5, "uniform"),
        classifier("iris", 4, "distance"),
        classifier("digits", 3, "distance", "manhattan"),
        classifier("wine", 7, "uniform", "cosine"),
        classifier("twins", 2, "uniform"),
        classifier("twins", 4, "distance", "manhattan"),
    ],
    "regressors": [
        regressor("diabetes", 5, "uniform"),
        regressor("diabetes", 6, "distance", "chebyshev"),
        regressor("diabetes", 4, "distance", "cosine"),
        regressor("twins", 4, "distance"),
    ],
    "radiusClassifiers": [
        radius_classifier("iris", 0.9, "uniform", 1),
        radius_classifier("iris", 1.5, "distance", "most_frequent"),
    ],
    "radiusRegressors": [radius_regressor("diabetes", 3.5, "uniform"), radius_regressor("diabetes", 4.0, "distance")],
    "centroids": [centroid("wine", "chebyshev", None), centroid("iris", "euclidean", None), centroid("wine", "manhattan", None), centroid("wine", "euclidean", 0.5)],
}
with open(os.path.join(os.path.dirname(__file__), "neighbors-cases.json"), "w") as file:
    json.dump(cases, file, separators=(",", ":"))
    file.write("\n")

# All digits, for recall: a character for each pixel, 0 to 16 in base 36, and a text for each image.
images = ["".join("0123456789abcdefg"[int(pixel)] for pixel in image) for image in digits[0]]
with open(os.path.join(os.path.dirname(__file__), "digits.json"), "w") as file:
    json.dump(images, file, indent=2)
    file.write("\n")
