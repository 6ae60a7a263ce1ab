"""Writes plots-cases.json: dendrograms of SciPy, learning and validation curves of scikit-learn."""
import json
from pathlib import Path

import numpy as np
from scipy.cluster.hierarchy import dendrogram, linkage
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold, learning_curve, validation_curve

random = np.random.default_rng(5)


def tree(method, count, most=None):
    z = linkage(random.normal(size=(count, 3)), method)
    cut = {"truncate_mode": "lastp", "p": most} if most else {}
    found = dendrogram(z, no_plot=True, **cut)
    return {
        "linkage": z.tolist(),
        "most": most or count,
        "leaves": [int(leaf) for leaf in found["leaves"]],
        "names": found["ivl"],
        "icoord": found["icoord"],
        "dcoord": found["dcoord"],
        # C0 is the colour above the cut; others number the clusters below it.
        "colours": [int(colour[1:]) for colour in found["color_list"]],
    }


def curves():
    x = random.normal(size=(60, 4)).round(6)
    y = x @ [1.0, -2.0, 0.5, 0.0] + random.normal(size=60)
    y = y.round(6)
    splits = KFold(5)
    sizes, train, test = learning_curve(Ridge(0.5), x, y, cv=splits, train_sizes=[0.1, 0.3, 0.55, 1.0])
    some, train2, test2 = learning_curve(Ridge(0.5), x, y, cv=splits, train_sizes=[5, 17, 40], scoring="neg_mean_squared_error")
    alphas = [0.001, 0.1, 1.0, 10.0, 1000.0]
    by_train, by_test = validation_curve(Ridge(), x, y, param_name="alpha", param_range=alphas, cv=splits)
    return {
        "x": x.tolist(), "y": y.tolist(), "shares": [0.1, 0.3, 0.55, 1.0],
        "sizes": sizes.tolist(), "train": train.tolist(), "test": test.tolist(),
        "numbers": some.tolist(), "trainErrors": train2.tolist(), "testErrors": test2.tolist(),
        "alphas": alphas, "trainByAlpha": by_train.tolist(), "testByAlpha": by_test.tolist(),
    }


cases = {
    "trees": [tree("average", 12), tree("ward", 30), tree("centroid", 25), tree("single", 40), tree("complete", 50, 9)],
    "curves": curves(),
}
text = json.dumps(cases, separators=(",", ":"))
Path(__file__).with_name("plots-cases.json").write_text(text + "\n")
