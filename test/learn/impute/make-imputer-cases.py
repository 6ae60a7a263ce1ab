"""scikit-learn's answers about missing values, written to imputer-cases.json. Run with a Python that has scikit-learn 1.2."""
import json
import os

import numpy as np
from sklearn import datasets
from sklearn.impute import KNNImputer

rng = np.random.default_rng(5)
wine = datasets.load_wine().data[::3]
# Spread a little, by numbers that are exact in f32: no ties.
x = np.round((wine / wine.std(0))[:, :6] * 4096 + rng.integers(-400, 401, (60, 6))) / 4096
full = x.copy()
x[rng.uniform(size=x.shape) < 0.25] = np.nan
# A column that only queries lack, and samples that share features with few others.
x[:40, 5] = full[:40, 5]
x[3] = [1.5, np.nan, np.nan, np.nan, np.nan, full[3, 5]]
FIT, NEW = x[:40], x[40:]
NEW[0] = np.nan
NEW[1] = np.where(np.isnan(FIT[2]), np.nan, FIT[2])
NEW[1, 0] = np.nan
NEW[2] = [1.5, np.nan, np.nan, np.nan, np.nan, np.nan]


def plain(values):
    return [[None if np.isnan(value) else float(value) for value in row] for row in values]


def case(k, weights, indicator):
    model = KNNImputer(n_neighbors=k, weights=weights, add_indicator=indicator).fit(FIT)
    return {
        "k": k, "weights": weights, "indicator": indicator,
        "fitted": plain(model.transform(FIT)), "queried": plain(model.transform(NEW)),
    }


cases = {
    "fit": plain(FIT), "queries": plain(NEW),
    "cases": [case(5, "uniform", False), case(3, "distance", True), case(1, "uniform", False), case(100, "distance", False)],
}
with open(os.path.join(os.path.dirname(__file__), "imputer-cases.json"), "w") as file:
    json.dump(cases, file, separators=(",", ":"))
    file.write("\n")
