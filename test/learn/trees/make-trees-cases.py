"""Writes trees-cases.json: what scikit-learn's trees and boosting predict. Run with Debian's python3 (scikit-learn 1.2.1)."""
import json
import pathlib

import numpy as np
from sklearn.datasets import load_diabetes, load_iris, load_wine
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

rng = np.random.default_rng(3)


def rounded(x, digits=3):
    return np.round(np.asarray(x, float), digits)


def numbers(x):
    return [[None if np.isnan(v) else float(v) for v in row] for row in x]


def made(n, f):
    x = rounded(rng.normal(size=(n, f)), 2)
    y = rounded(2 * x[:, 0] + np.sin(3 * x[:, 1]) + x[:, 2] * x[:, 1] + rng.normal(size=n) * 0.3, 3)
    return x, y


data = {}
x, y = made(300, 5)
data["made"] = (x, y)
xm = x.copy()
xm[rng.random(xm.shape) < 0.15] = np.nan
data["missing"] = (xm, y)
xc = x.copy()
xc[:, 3] = rng.integers(0, 7, 300)
xc[:, 4] = rng.integers(2, 30, 300)
yc = rounded(y + np.sin(xc[:, 3] * 5) * 2 + (xc[:, 4] % 3), 3)
data["categories"] = (xc, yc)
d = load_diabetes(scaled=False)
data["diabetes"] = (rounded(d.data[:250], 2), d.target[:250])
w = load_wine()
order = rng.permutation(178)
data["wine"] = (rounded(w.data[order][:, :6], 2), w.target[order])
i = load_iris()
data["iris two"] = (i.data[:100], i.target[:100])
data["noisy"] = (x, (y + rng.normal(size=300) > 0).astype(int))
data["noisy three"] = (x, np.digitize(y + rng.normal(size=300), [-1, 1]))

weights = rounded(rng.random(300) * 2 + 0.1, 2)
base = dict(max_iter=12, early_stopping=False)
regress = [
    ("made", {}),
    ("made", dict(max_leaf_nodes=8, min_samples_leaf=5, l2_regularization=1.5)),
    ("made", dict(max_depth=3, max_bins=16, learning_rate=0.3)),
    ("made", dict(loss="absolute_error", max_leaf_nodes=6)),
    ("made", dict(loss="quantile", quantile=0.8, max_leaf_nodes=6)),
    ("made", dict(weights=True, max_leaf_nodes=10)),
    ("made", dict(weights=True, loss="absolute_error", max_leaf_nodes=5)),
    ("made", dict(monotonic_cst=[1, 0, 0, -1, 0], max_leaf_nodes=12)),
    ("missing", dict(max_leaf_nodes=12, min_samples_leaf=8)),
    ("categories", dict(categorical_features=[3, 4], min_samples_leaf=6)),
    ("diabetes", dict(max_leaf_nodes=10)),
    ("diabetes", dict(loss="poisson", max_leaf_nodes=10)),
]
classify = [
    ("noisy", {}),
    ("noisy", dict(weights=True, max_depth=3, min_samples_leaf=4)),
    ("noisy three", dict(max_leaf_nodes=7)),
    ("wine", dict(max_leaf_nodes=6)),
    ("iris two", dict(max_leaf_nodes=4)),
]


def camel(name):
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


def options_of(options):
    shown = {camel(k): (camel(v) if isinstance(v, str) else v) for k, v in options.items() if k != "weights"}
    return {"maxIter": 12, "earlyStopping": False, **shown}


cases = []
for kind, maker, wanted in [
    ("histGradientBoostingRegressor", HistGradientBoostingRegressor, regress),
    ("histGradientBoostingClassifier", HistGradientBoostingClassifier, classify),
]:
    for name, options in wanted:
        x, y = data[name]
        given = {k: v for k, v in options.items() if k != "weights"}
        sw = weights[: len(y)] if options.get("weights") else None
        model = maker(**base, **given).fit(x, y, sample_weight=sw)
        predicted = model.predict_proba(x) if "Class" in kind else model.predict(x)
        cases.append(
            dict(
                kind=kind,
                data=name,
                options=options_of(options),
                weights=options.get("weights", False),
                predicted=[[round(float(v), 8) for v in row] for row in predicted.reshape(len(y), -1)[:60]],
                # Gradients of two values make gains that are equal but for rounding: which one is the largest is chance.
                hasTies=options.get("loss") == "quantile" or name == "wine" or (name == "noisy" and not options),
                leaves=[int(p.get_n_leaf_nodes()) for row in model._predictors for p in row],
            )
        )

out = dict(
    data={k: dict(x=numbers(x), y=[float(v) for v in y]) for k, (x, y) in data.items()},
    weights=[float(v) for v in weights],
    boosting=cases,
)
path = pathlib.Path(__file__).with_name("trees-cases.json")
path.write_text(json.dumps(out, separators=(",", ":")))
print(path.stat().st_size)
