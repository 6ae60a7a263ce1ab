"""Writes inspection-cases.json: scikit-learn's partial dependence. Run with Debian's python3 (scikit-learn 1.2.1)."""
import json
import pathlib

import numpy as np
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.inspection import partial_dependence
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.naive_bayes import GaussianNB

d = load_diabetes(scaled=False)
i = load_iris()
rows = np.random.default_rng(1).permutation(442)[:90]
data = {
    "diabetes": (np.round(d.data[rows][:, :5], 2), d.target[rows]),
    "several": (np.round(d.data[rows][:, :5], 2), np.stack([d.target[rows], d.data[rows][:, 5].round(2)], 1)),
    "iris": (i.data[::2], i.target[::2]),
    "two": (i.data[50::2], i.target[50::2]),
}
boosting = dict(max_iter=15, early_stopping=False, min_samples_leaf=5, max_leaf_nodes=6)
wanted = [
    ("ridge", Ridge(alpha=3.0), "diabetes", [2], 7, {}),
    ("ridge", Ridge(alpha=3.0), "diabetes", [1, 3], 4, {}),
    ("linearRegression", LinearRegression(), "several", [0], 5, {}),
    ("gaussianNaiveBayes", GaussianNB(), "iris", [2], 9, {}),
    ("gaussianNaiveBayes", GaussianNB(), "two", [3, 0], 3, dict(percentiles=(0.2, 0.7))),
    ("histGradientBoostingRegressor", HistGradientBoostingRegressor(**boosting), "diabetes", [2, 4], 5, {}),
]
cases = []
for kind, estimator, name, features, count, given in wanted:
    x, y = data[name]
    got = partial_dependence(
        estimator.fit(x, y), x, features, grid_resolution=count, kind="both", method="brute", **given
    )
    cases.append(
        dict(
            kind=kind,
            data=name,
            features=features,
            grid=count,
            percentiles=list(given.get("percentiles", (0.05, 0.95))),
            values=[v.round(10).tolist() for v in got["values"]],
            average=got["average"].round(9).tolist(),
            # Every tenth sample.
            individual=got["individual"][:, ::10].round(8).tolist(),
        )
    )

out = dict(data={k: dict(x=x.tolist(), y=np.asarray(y, float).tolist()) for k, (x, y) in data.items()}, cases=cases)
path = pathlib.Path(__file__).with_name("inspection-cases.json")
path.write_text(json.dumps(out, separators=(",", ":")))
print(path.stat().st_size)
