"""Writes ada-boost-cases.json: scikit-learn's AdaBoost on the data of ensemble-cases.json and on a made regression.
Run with Debian's python3 (scikit-learn 1.2.1)."""
import json
import pathlib

import numpy as np
from sklearn.ensemble import AdaBoostClassifier, AdaBoostRegressor
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

here = pathlib.Path(__file__).parent
known = json.loads(here.joinpath("ensemble-cases.json").read_text())
weights = (np.arange(160) % 3 + 1) / 2


def classified(name, make, rounds, weighted=False, **options):
    x, y = np.array(known[name]["x"]), np.array(known[name]["y"])
    w = weights[: len(y)] if weighted else None
    models = [AdaBoostClassifier(make(seed), n_estimators=rounds, random_state=seed, **options).fit(x, y, w) for seed in range(6)]
    m = models[0]
    for other in models[1:]:
        # Ties between splits are decided by chance.
        if not np.allclose(other.decision_function(x), m.decision_function(x)):
            raise SystemExit(f"tie: {name} {options}")
    some = x[::9]
    found = {
        "data": name,
        "weights": m.estimator_weights_[: len(m.estimators_)].tolist(),
        "errors": m.estimator_errors_[: len(m.estimators_)].tolist(),
        "decisions": m.decision_function(some).tolist(),
        "probabilities": m.predict_proba(some).tolist(),
        "staged": np.array(list(m.staged_decision_function(some)))[-2:].tolist(),
        "labels": np.array(list(m.staged_predict(some)))[-1].tolist(),
    }
    if getattr(m.estimators_[0], "max_depth", None) == 1:
        found["importances"] = m.feature_importances_.tolist()
    print(name, options, len(m.estimators_), found["errors"][-1])
    return found


stump = lambda seed: DecisionTreeClassifier(max_depth=1, random_state=seed)
rng = np.random.default_rng(2)
x = np.round(rng.normal(size=(240, 4)), 2)
y = np.round(3 * x[:, 0] + np.sin(2 * x[:, 1]) * 2 + x[:, 2] * x[:, 3] + rng.normal(size=240) * 0.5, 2)


def scores(**options):
    all_scores = [AdaBoostRegressor(n_estimators=12, random_state=seed, **options).fit(x[:160], y[:160]).score(x[160:], y[160:]) for seed in range(40)]
    return {"mean": float(np.mean(all_scores)), "deviation": float(np.std(all_scores, ddof=1))}


out = {
    "classes": {
        "two": classified("cancer", stump, 6),
        "twoWeighted": classified("cancer", stump, 6, weighted=True, learning_rate=0.5),
        "discrete": classified("cancer", stump, 5, algorithm="SAMME"),
        "three": classified("wine", stump, 4),
        "threeDiscrete": classified("wine", stump, 4, algorithm="SAMME", learning_rate=0.7),
        "bayes": classified("wine", lambda seed: GaussianNB(), 5, learning_rate=0.3),
        "perfect": classified("wine", lambda seed: DecisionTreeClassifier(random_state=0), 9),
    },
    "regression": {"x": x.tolist(), "y": y.tolist(), "scores": {loss: scores(loss=loss) for loss in ["linear", "square", "exponential"]}},
}
target = here / "ada-boost-cases.json"
target.write_text(json.dumps(out, separators=(",", ":")))
print(target.stat().st_size)
