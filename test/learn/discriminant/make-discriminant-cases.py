"""scikit-learn's discriminants and covariances, for the tests beside: python3 make-discriminant-cases.py OUT.json"""
import json, sys
import numpy as np
from sklearn.covariance import OAS, EmpiricalCovariance, LedoitWolf, ShrunkCovariance
from sklearn.datasets import load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis

iris, wine = load_iris(), load_wine()
x, y = iris.data[::2], iris.target[::2]
w, v = np.round(wine.data[::4] * 64) / 64, wine.target[::4]
# A column twice, and one that does not vary.
flat = np.concatenate([x, x[:, :1], np.full((len(x), 1), 2.0)], axis=1)


def linear(name, options, x=x, y=y, **more):
    model = LinearDiscriminantAnalysis(**more).fit(x, y)
    return {"kind": "linearDiscriminantAnalysis", "name": name, "options": options, "x": x.tolist(), "y": y.tolist(),
            "logs": model.predict_log_proba(x).tolist(), "decisions": model.decision_function(x).tolist(), "transformed": model.transform(x).tolist(),
            "ratio": model.explained_variance_ratio_.tolist()}


def quadratic(name, options, x=x, y=y, **more):
    model = QuadraticDiscriminantAnalysis(**more).fit(x, y)
    return {"kind": "quadraticDiscriminantAnalysis", "name": name, "options": options, "x": x.tolist(), "y": y.tolist(),
            "logs": model.predict_log_proba(x).tolist(), "decisions": model.decision_function(x).tolist()}


def covariance(kind, name, options, model, x=x):
    model.fit(x)
    return {"kind": kind, "name": name, "options": options, "x": x.tolist(), "location": model.location_.tolist(),
            "covariance": model.covariance_.tolist(), "precision": model.precision_.tolist(),
            "shrinkage": float(getattr(model, "shrinkage_", getattr(model, "shrinkage", 0))),
            "mahalanobis": model.mahalanobis(x).tolist(), "score": float(model.score(x))}


few = w[:8, :6]
json.dump({
    "discriminants": [
        linear("plain", {}),
        linear("priors, one component", {"priors": [0.2, 0.3, 0.5], "nComponents": 1}, priors=[0.2, 0.3, 0.5], n_components=1),
        linear("dependent columns", {}, x=flat),
        linear("two classes", {}, x=x[25:], y=y[25:]),
        linear("columns of different size", {}, x=w, y=v),
        linear("shrunk", {"shrinkage": 0.3}, solver="eigen", shrinkage=0.3),
        linear("shrunk by rule", {"shrinkage": "auto"}, x=w, y=v, solver="eigen", shrinkage="auto"),
        quadratic("plain", {}),
        quadratic("two classes", {}, x=x[25:], y=y[25:]),
        quadratic("regular, priors", {"regParam": 0.2, "priors": [0.2, 0.3, 0.5]}, reg_param=0.2, priors=[0.2, 0.3, 0.5]),
    ],
    "covariances": [
        covariance("empiricalCovariance", "plain", {}, EmpiricalCovariance()),
        covariance("empiricalCovariance", "centred", {"assumeCentered": True}, EmpiricalCovariance(assume_centered=True)),
        covariance("shrunkCovariance", "plain", {}, ShrunkCovariance()),
        covariance("shrunkCovariance", "by half", {"shrinkage": 0.5}, ShrunkCovariance(shrinkage=0.5), x=few),
        covariance("ledoitWolf", "plain", {}, LedoitWolf()),
        covariance("ledoitWolf", "few samples", {}, LedoitWolf(), x=few),
        covariance("ledoitWolf", "one feature", {}, LedoitWolf(), x=x[:, :1]),
        covariance("oas", "plain", {}, OAS()),
        covariance("oas", "few samples", {}, OAS(), x=few),
    ],
}, open(sys.argv[1], "w"))
