"""scikit-learn's results on its own data sets, for the tests of src/learn: python3 make-learn-cases.py OUT.json"""
import json, sys
import numpy as np
from sklearn.datasets import load_diabetes, load_wine
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import (GroupKFold, KFold, LeaveOneGroupOut, PredefinedSplit, StratifiedGroupKFold, StratifiedKFold,
                                     TimeSeriesSplit, cross_val_predict, cross_val_score)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler


def listed(a):
    return np.asarray(a, dtype=float).tolist()


# Columns of different size, rounded so that the file holds them exactly.
x = np.round(load_diabetes(scaled=False).data[:60, [0, 2, 3, 4, 6]] * 16) / 16
y = load_diabetes().target[:60]
two = np.stack([y, np.round(64 * np.sin(x[:, 1])) / 64], axis=1)
weights = (np.arange(60) % 4) / 2
wide, wide_y = x[:4], y[:4]


def linear(name, kind, options, model, x=x, y=y, weights=None, **more):
    model.fit(x, y, sample_weight=weights)
    return {
        "name": name, "kind": kind, "options": options, "x": listed(x), "y": listed(y),
        "weights": None if weights is None else listed(weights),
        "coefficients": listed(model.coef_.T), "intercept": listed(model.intercept_),
        "predicted": listed(model.predict(x)), "score": float(model.score(x, y)),
    }


linears = [
    linear("plain", "linearRegression", {}, LinearRegression()),
    linear("without intercept", "linearRegression", {"fitIntercept": False}, LinearRegression(fit_intercept=False)),
    linear("weighted", "linearRegression", {}, LinearRegression(), weights=weights),
    linear("two outputs", "linearRegression", {}, LinearRegression(), y=two),
    linear("more features than samples", "linearRegression", {}, LinearRegression(), x=wide, y=wide_y),
    linear("a column twice", "linearRegression", {}, LinearRegression(), x=np.concatenate([x, x[:, :1]], axis=1)),
    linear("plain", "ridge", {}, Ridge()),
    linear("strong", "ridge", {"alpha": 1000}, Ridge(alpha=1000)),
    linear("without intercept", "ridge", {"fitIntercept": False, "alpha": 0.5}, Ridge(alpha=0.5, fit_intercept=False)),
    linear("weighted, two outputs", "ridge", {"alpha": 3}, Ridge(alpha=3), y=two, weights=weights),
    linear("more features than samples", "ridge", {"alpha": 0.1}, Ridge(alpha=0.1), x=wide, y=wide_y),
    linear("positive", "linearRegression", {"positive": True}, LinearRegression(positive=True)),
    linear("positive, two outputs, weighted", "linearRegression", {"positive": True, "fitIntercept": False},
           LinearRegression(positive=True, fit_intercept=False), y=two + [0, 3], weights=weights),
    linear("positive", "ridge", {"positive": True, "alpha": 50}, Ridge(alpha=50, positive=True, tol=1e-14, max_iter=100000)),
    linear("no penalty", "ridge", {"alpha": 0}, Ridge(alpha=0)),
]


def gaps(a):
    """Rows of numbers, None where they are missing."""
    return [[None if np.isnan(v) else float(v) for v in row] for row in a]


def scaler(name, kind, options, model, weights=None, missing=False):
    table = np.concatenate([x[:20], np.full((20, 1), 3.5)], axis=1)
    if missing:
        table[np.arange(20) % 3 == 0, 1] = np.nan
        table[np.arange(20) % 7 == 2, 3] = np.nan
        table[4, 5] = np.nan
    out = model.fit_transform(table) if weights is None else model.fit(table, sample_weight=weights).transform(table)
    return {"name": name, "kind": kind, "options": options, "x": gaps(table), "transformed": gaps(out),
            "weights": None if weights is None else listed(weights)}


scalers = [
    scaler("plain", "standardScaler", {}, StandardScaler()),
    scaler("weighted", "standardScaler", {}, StandardScaler(), weights=weights[:20]),
    scaler("mean alone", "standardScaler", {"withStd": False}, StandardScaler(with_std=False)),
    scaler("spread alone", "standardScaler", {"withMean": False}, StandardScaler(with_mean=False)),
    scaler("plain", "minMaxScaler", {}, MinMaxScaler()),
    scaler("other range", "minMaxScaler", {"range": [-2, 5]}, MinMaxScaler(feature_range=(-2, 5))),
    scaler("plain", "maxAbsScaler", {}, MaxAbsScaler()),
    scaler("plain", "robustScaler", {}, RobustScaler()),
    scaler("as of a normal distribution", "robustScaler", {"quantileRange": [20, 70], "unitVariance": True},
           RobustScaler(quantile_range=(20, 70), unit_variance=True)),
    scaler("other percentiles", "robustScaler", {"quantileRange": [10, 80], "withCentering": False},
           RobustScaler(quantile_range=(10, 80), with_centering=False)),
    scaler("missing values", "standardScaler", {}, StandardScaler(), missing=True),
    scaler("missing values, weighted", "standardScaler", {}, StandardScaler(), weights=weights[:20], missing=True),
    scaler("missing values", "minMaxScaler", {}, MinMaxScaler(), missing=True),
    scaler("missing values", "maxAbsScaler", {}, MaxAbsScaler(), missing=True),
    scaler("missing values", "robustScaler", {}, RobustScaler(), missing=True),
]

chosen = np.arange(0, 178, 4)
wine_x, wine_y = np.round(load_wine().data[chosen][:, [0, 1, 6, 12]] * 64) / 64, load_wine().target[chosen]


def bayes(name, options, model, weights=None):
    model.fit(wine_x, wine_y, sample_weight=weights)
    return {"name": name, "kind": "gaussianNaiveBayes", "options": options, "x": listed(wine_x), "y": wine_y.tolist(),
            "weights": None if weights is None else listed(weights), "means": listed(model.theta_),
            "variances": listed(model.var_), "logs": listed(model.predict_log_proba(wine_x)),
            "predicted": model.predict(wine_x).tolist(), "score": float(model.score(wine_x, wine_y))}


bayeses = [
    bayes("plain", {}, GaussianNB()),
    bayes("weighted", {}, GaussianNB(), weights=(np.arange(len(chosen)) % 3) / 2),
    bayes("priors, smoothed", {"priors": [0.5, 0.25, 0.25], "varSmoothing": 0.01},
          GaussianNB(priors=[0.5, 0.25, 0.25], var_smoothing=0.01)),
]

labels = load_wine().target[np.arange(0, 178, 5)]
groups = [int(g) for g in np.array([3, 1, 1, 2, 3, 3, 4, 5, 5, 5, 5, 1, 2, 6, 6])]


def folds(splitter, n, **more):
    return [te.tolist() for _, te in splitter.split(np.zeros((n, 1)), more.get("labels"), more.get("groups"))]


torn = np.array([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4, 6, 2, 6, 4, 3, 3])
torn_labels = np.array([2, 7, 1, 8, 2, 8, 1, 8, 2, 8, 4, 5, 9, 0, 4, 5, 2, 3, 5, 3, 6, 0, 2, 8, 7, 4]) % 3
splits = {
    "kFold": {"samples": 23, "folds": 4, "tests": folds(KFold(4), 23)},
    "stratifiedKFold": {"samples": len(labels), "folds": 3, "labels": labels.tolist(),
                        "tests": folds(StratifiedKFold(3), len(labels), labels=labels)},
    "groupKFold": {"samples": len(groups), "folds": 3, "groups": groups,
                   "tests": folds(GroupKFold(3), len(groups), groups=groups)},
    "stratifiedGroupKFold": {"samples": len(torn), "folds": 3, "labels": torn_labels.tolist(), "groups": torn.tolist(),
                             "tests": folds(StratifiedGroupKFold(3), len(torn), labels=torn_labels, groups=torn)},
    "leaveOneGroupOut": {"samples": len(groups), "folds": 0, "groups": groups,
                         "tests": folds(LeaveOneGroupOut(), len(groups), groups=groups)},
    "timeSeriesSplit": {"samples": 23, "folds": 4, "tests": folds(TimeSeriesSplit(4), 23)},
}

pipe = make_pipeline(StandardScaler(), Ridge(alpha=2.0))
pipelines = {"x": listed(x), "y": listed(y), "alpha": 2, "predicted": listed(pipe.fit(x, y).predict(x)),
             "scores": listed(cross_val_score(pipe, x, y, cv=KFold(5))),
             "crossPredicted": listed(cross_val_predict(pipe, x, y, cv=KFold(5)))}

json.dump({"linears": linears, "bayeses": bayeses, "scalers": scalers, "splits": splits, "pipelines": pipelines}, open(sys.argv[1], "w"))
