"""scikit-learn's side of the fits of bench/fit-work.ts: the same samples, labels and options."""

from learn import Sklearn
from tensors import length, milliseconds, probes
from timing import peer

FEATURES, TREE_FEATURES = 50, 28
CLUSTERS, EXTENT, RADIUS = 20, 0.05, 0.004


def linear_targets(library, x):
    np = library.np
    weights = library.centred((x.shape[1],), 1).astype(np.float64)
    return x.astype(np.float64) @ weights + library.centred((len(x),), 2).astype(np.float64)


def ruled_labels(library, x):
    np = library.np
    a, b, c, d = (x[:, j].astype(np.float64) for j in range(4))
    noise = library.centred((len(x),), 2).astype(np.float64) * 0.25
    return (a * b + c**2 - d * 0.5 + noise > 0.3).astype(np.int32)


def components(library):
    from sklearn.decomposition import PCA

    x = library.centred((length(100_000), 256), 0)
    return lambda x: PCA().fit(x), [x]


def logistic(library):
    from sklearn.linear_model import LogisticRegression

    x = library.centred((length(100_000), FEATURES), 0)
    y = (linear_targets(library, x) > 0).astype(library.np.int32)
    return lambda x, y: LogisticRegression().fit(x, y), [x, y]


def ridge(library):
    from sklearn.linear_model import Ridge

    x = library.centred((length(100_000), FEATURES), 0)
    y = linear_targets(library, x).astype(library.np.float32)
    return lambda x, y: Ridge().fit(x, y), [x, y]


def placed(library, count, features, clusters, extent):
    """Samples around centres."""
    centres = library.centred((clusters, features), 3)
    return centres[library.positions(count, 4, clusters)] + library.centred((count, features), 0) * library.np.float32(extent)


def density(library):
    from sklearn.cluster import DBSCAN

    x = placed(library, length(100_000), 2, CLUSTERS, EXTENT / 2)
    return lambda x: DBSCAN(eps=RADIUS, min_samples=10).fit(x), [x]


def boosting(library):
    from sklearn.ensemble import HistGradientBoostingClassifier

    x = library.centred((length(100_000), TREE_FEATURES), 0)
    return lambda x, y: HistGradientBoostingClassifier(early_stopping=False).fit(x, y), [x, ruled_labels(library, x)]


def forest(library):
    from sklearn.ensemble import RandomForestClassifier

    x = library.centred((length(10_000), TREE_FEATURES), 0)
    return lambda x, y: RandomForestClassifier(100, n_jobs=2).fit(x, y), [x, ruled_labels(library, x)]


def embedding(library):
    from sklearn.manifold import TSNE

    x = placed(library, length(5_000), FEATURES, 10, 0.5)
    return lambda x: TSNE(n_iter=250, init="pca", n_jobs=2).fit(x), [x]


def arrays_of_density(fitted, x):
    return [len(fitted.core_sample_indices_)], [fitted.labels_.max() + 1]


# The fit, and what of the fitted estimator is compared with ours: nothing where other random numbers are drawn.
FITS = {
    "pca": (components, lambda fitted, x: [fitted.explained_variance_]),
    "logistic": (logistic, lambda fitted, x, y: [fitted.coef_]),
    "ridge": (ridge, lambda fitted, x, y: [fitted.coef_]),
    "dbscan": (density, arrays_of_density),
    "boosting": (boosting, lambda fitted, x, y: [fitted._baseline_prediction, fitted.score(x, y)]),
    "forest": (forest, None),
    "tsne": (embedding, None),
}


def enter_fit(name, fit, compared):
    @peer(f"sklearn/learn-{name}", "ms")
    def run():
        library = Sklearn()
        compute, inputs = fit(library)
        samples = milliseconds(lambda: compute(*inputs), lambda _: None)
        if compared is None:
            return samples, []
        flat = [library.np.ravel(each) for each in compared(compute(*inputs), *inputs)]
        return samples, [float(each[place]) for each in flat for place in probes(each.size)]


for name_, (fit_, compared_) in FITS.items():
    enter_fit(name_, fit_, compared_)
