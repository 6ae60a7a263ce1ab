"""Writes chain-cases.json: scikit-learn's chains of estimators, on the data of ensemble-cases.json.
Run with Debian's python3 (scikit-learn 1.2.1)."""
import json
import pathlib

import numpy as np
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.multioutput import ClassifierChain, RegressorChain

here = pathlib.Path(__file__).parent
known = json.loads(here.joinpath("ensemble-cases.json").read_text())
x, y = np.array(known["cancer"]["x"]), np.array(known["cancer"]["y"])
targets = np.stack([y, (x[:, 1] + np.sin(9 * x[:, 2]) > 0).astype(int), (y + (x[:, 3] > 0.2) > 1).astype(int)], axis=1)
logistic = lambda: LogisticRegression(solver="newton-cg", tol=1e-11, max_iter=1000)
some = x[::7]


def classified(**options):
    model = ClassifierChain(logistic(), **options).fit(x, targets)
    return {
        "predicted": model.predict(some).astype(int).tolist(),
        "probabilities": np.round(model.predict_proba(some), 10).tolist(),
        "decisions": np.round(model.decision_function(some), 10).tolist(),
        "score": float(model.score(x, targets)),
    }


d = known["diabetes"]
numbers = RegressorChain(Ridge(2), order=[1, 0], cv=4).fit(np.array(d["x"]), np.array(d["two"]))
out = {
    "targets": targets.tolist(),
    "plain": classified(),
    "ordered": classified(order=[2, 0, 1]),
    "heldOut": classified(order=[1, 2, 0], cv=3),
    "numbers": np.round(numbers.predict(np.array(d["x"])[::5]), 10).tolist(),
}
target = here / "chain-cases.json"
target.write_text(json.dumps(out, separators=(",", ":")))
print(target.stat().st_size)
