"""Writes boosting-options-cases.json: scikit-learn's boosting with interaction constraints, and round by round, on the data of trees-cases.json.
Run with Debian's python3 (scikit-learn 1.2.1)."""
import json
import pathlib

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

here = pathlib.Path(__file__).parent
known = json.loads(here.joinpath("trees-cases.json").read_text())
data = {name: (np.array(d["x"], float), np.array(d["y"])) for name, d in known["data"].items()}
base = dict(max_iter=6, early_stopping=False)


def interaction(name, **options):
    model = HistGradientBoostingRegressor(**base, **options).fit(*data[name])
    predicted = np.round(model.predict(data[name][0]), 8)[:40].tolist()
    return {"data": name, "predicted": predicted, "leaves": [int(p.get_n_leaf_nodes()) for [p] in model._predictors]}


def staged(model, name):
    x, y = data[name]
    model.fit(x, y)
    some = x[:8]
    found = {"data": name, "predicted": np.array(list(model.staged_predict(some))).tolist()}
    if hasattr(model, "predict_proba"):
        found["probabilities"] = np.array(list(model.staged_predict_proba(some))).tolist()
        found["decisions"] = np.array(list(model.staged_decision_function(some))).tolist()
        found["decision"] = model.decision_function(some).tolist()
    return found


out = {
    "interactions": {
        "sets": interaction("made", interaction_cst=[[0, 1], [1, 2, 3]], max_leaf_nodes=12),
        "rest": interaction("made", interaction_cst=[[1, 2]], min_samples_leaf=8),
        "pairwise": interaction("made", interaction_cst="pairwise", max_leaf_nodes=12),
        "noInteractions": interaction("made", interaction_cst="no_interactions", max_leaf_nodes=12),
        "categories": interaction("categories", interaction_cst=[[0, 3], [1, 2, 4]], categorical_features=[3, 4], min_samples_leaf=6),
    },
    "staged": {
        "numbers": staged(HistGradientBoostingRegressor(**base, max_leaf_nodes=8), "made"),
        "counts": staged(HistGradientBoostingRegressor(**base, loss="poisson", max_leaf_nodes=10), "diabetes"),
        "two": staged(HistGradientBoostingClassifier(**base, max_depth=3), "noisy"),
        "three": staged(HistGradientBoostingClassifier(**base, max_leaf_nodes=7), "noisy three"),
    },
}
target = here / "boosting-options-cases.json"
target.write_text(json.dumps(out, separators=(",", ":")))
print(target.stat().st_size)
