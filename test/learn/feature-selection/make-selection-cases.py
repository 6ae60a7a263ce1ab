"""scikit-learn's selections of columns on its own data sets: python3 make-selection-cases.py OUT.json"""
import json, sys, warnings
import numpy as np
from sklearn.datasets import load_diabetes, load_wine
from sklearn.feature_selection import (RFE, RFECV, SelectFromModel, SelectKBest, SelectPercentile, SequentialFeatureSelector,
                                       VarianceThreshold, chi2, f_classif, f_regression)
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import KFold

warnings.filterwarnings("ignore")
x = np.round(load_diabetes().data[:120] * 256) / 16
y = load_diabetes().target[:120]
wine = load_wine().data[::2]
wine_x = np.round((wine - wine.mean(0)) / wine.std(0) * 64) / 64
wine_y = load_wine().target[::2]
counts = np.round(np.abs(wine_x) * 4)
logistic = LogisticRegression(solver="newton-cg", tol=1e-11, max_iter=1000)


def scored(function, a, b):
    scores, p = function(a, b)
    return {"scores": scores.tolist(), "pValues": p.tolist()}


def kept(selector, a, b=None):
    return np.flatnonzero(selector.fit(a, b).get_support()).tolist()


def ranked(selector, a, b):
    return {"columns": kept(selector, a, b), "ranking": selector.ranking_.tolist()}


json.dump({
    "diabetes": {"x": x.tolist(), "y": y.tolist()},
    "wine": {"x": wine_x.tolist(), "y": wine_y.tolist(), "counts": counts.tolist()},
    "scores": {"fClassif": scored(f_classif, wine_x, wine_y), "fRegression": scored(f_regression, x, y), "chi2": scored(chi2, counts, wine_y)},
    "kept": {
        "variance": kept(VarianceThreshold(0.6), x),
        "best": kept(SelectKBest(f_classif, k=4), wine_x, wine_y),
        "percentile": kept(SelectPercentile(f_regression, percentile=35), x, y),
        "percentileChi2": kept(SelectPercentile(chi2, percentile=50), counts, wine_y),
        "mean": kept(SelectFromModel(Ridge()), x, y),
        "median": kept(SelectFromModel(logistic, threshold="1.1*median"), wine_x, wine_y),
        "lasso": kept(SelectFromModel(Lasso(alpha=4, tol=1e-10)), x, y),
        "most": kept(SelectFromModel(Ridge(), threshold=-np.inf, max_features=3), x, y),
        "forward": kept(SequentialFeatureSelector(LinearRegression(), n_features_to_select=3, cv=KFold(4)), x, y),
        "backward": kept(SequentialFeatureSelector(LinearRegression(), n_features_to_select=7, direction="backward", cv=KFold(4)), x, y),
    },
    "eliminations": {
        "half": ranked(RFE(Ridge()), x, y),
        "steps": ranked(RFE(Ridge(), n_features_to_select=3, step=3), x, y),
        "classes": ranked(RFE(logistic, n_features_to_select=5, step=0.2), wine_x, wine_y),
        "cross": ranked(RFECV(Ridge(), cv=KFold(4), min_features_to_select=2), x, y),
    },
}, open(sys.argv[1], "w"))
