"""scikit-learn's mini-batch k-means, written to mini-batch-cases.json. Run with a Python that has scikit-learn 1.2."""
import json
import os
import warnings

import numpy as np
from sklearn import cluster, datasets
from sklearn.cluster._kmeans import _mini_batch_step

warnings.filterwarnings("ignore")
rng = np.random.default_rng(11)
blobs = np.round(datasets.make_blobs(90, centers=4, n_features=3, random_state=2)[0], 3)


def streams(name, x, clusters, size, weights):
    """partial_fit on batches from given centres, nothing reassigned."""
    w = np.round(rng.uniform(0, 2, len(x)) * 8) / 8 if weights else None
    first = x[rng.permutation(len(x))[:clusters]]
    model = cluster.MiniBatchKMeans(clusters, init=first, n_init=1, reassignment_ratio=0, batch_size=size)
    steps = []
    for at in range(0, len(x), size):
        batch = x[at:at + size]
        model.partial_fit(batch, sample_weight=None if w is None else w[at:at + size])
        steps.append({
            "centers": model.cluster_centers_.tolist(), "counts": model._counts.tolist(), "labels": model.labels_.tolist(),
            "inertia": model.inertia_, "sinceReassignment": int(model._n_since_last_reassign),
        })
    return {"name": name, "x": x.tolist(), "weights": None if w is None else w.tolist(), "init": first.tolist(),
            "batchSize": size, "steps": steps, "distances": model.transform(x[:4]).tolist(), "score": model.score(x)}


def reassigns(rows, counts, ratio):
    """One step in which centres with small counts get samples."""
    centers = np.round(rng.normal(size=(len(counts), 2)) * 4, 2)
    x = np.round(rng.normal(size=(rows, 2)) * 4, 3)
    after, sums = np.empty_like(centers), np.array(counts, float)
    plain, plain_sums = np.empty_like(centers), np.array(counts, float)
    ones = np.ones(rows)
    inertia = _mini_batch_step(x, ones, centers, after, sums, np.random.RandomState(0), True, ratio)
    _mini_batch_step(x, ones, centers, plain, plain_sums, np.random.RandomState(0), False, ratio)
    assert len(set(plain_sums)) == len(plain_sums), "ties are cut in no order"
    return {"x": x.tolist(), "centers": centers.tolist(), "counts": counts, "ratio": ratio, "inertia": inertia,
            "after": {"means": plain.tolist(), "counts": sums.tolist(), "isReassigned": (sums != plain_sums).tolist()}}


def ends(**options):
    """Fits of two points, each many times: batches say the same whatever is drawn, so the number of steps is certain."""
    x = np.repeat([[0.0], [8.0]], 16, axis=0)
    model = cluster.MiniBatchKMeans(2, init=[[1.0], [6.0]], n_init=1, **options).fit(x)
    return {"options": options, "steps": int(model.n_steps_), "centers": model.cluster_centers_.tolist()}


cases = {
    "streams": [
        streams("blobs", blobs, 4, 18, False),
        streams("weighted blobs", blobs, 5, 30, True),
        streams("far blobs", blobs[:60] + [1000, -20000, 500], 3, 20, False),
    ],
    "reassigns": [
        reassigns(12, [40.0, 0.25, 7.5, 90.0, 2.125], 0.05),
        reassigns(5, [0.5, 3.25, 1.125, 300.0, 2.75, 8.375], 0.4),
        reassigns(9, [5.5, 6.25, 7.125], 0.01),
    ],
    "ends": [ends(batch_size=32), ends(batch_size=32, max_no_improvement=3), ends(batch_size=32, max_no_improvement=0),
             ends(batch_size=32, tol=1e-4), ends(batch_size=32, max_no_improvement=None, max_iter=7),
             ends(batch_size=24, max_no_improvement=None, max_iter=4), ends(batch_size=12, max_no_improvement=3)],
}
with open(os.path.join(os.path.dirname(__file__), "mini-batch-cases.json"), "w") as file:
    json.dump(cases, file, separators=(",", ":"))
    file.write("\n")
