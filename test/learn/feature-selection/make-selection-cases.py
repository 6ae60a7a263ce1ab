"""scikit-learn's selections of columns on its own data sets: python3 make-selection-cases.py OUT.json"""
import json, sys, warnings
import numpy as np
from scipy.special import digamma
from sklearn.datasets import load_diabetes, load_wine
from sklearn.feature_selection import (GenericUnivariateSelect, RFE, RFECV, SelectFdr, SelectFpr, SelectFromModel, SelectFwe, SelectKBest, SelectPercentile, SequentialFeatureSelector,
                                       VarianceThreshold, chi2, f_classif, f_regression, mutual_info_classif, mutual_info_regression)
from sklearn.feature_selection._mutual_info import _compute_mi_cc, _compute_mi_cd
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


rng = np.random.default_rng(5)
smooth = np.round(rng.normal(size=(150, 4)) * [1, 10, 0.01, 1], 7)  # no two are equal, so that scikit-learn's noise decides nothing
smooth[:, 3] = np.round(smooth[:, 3] * 1.5)  # but for a column of classes
numbers = np.round(smooth[:, 0] ** 2 + 0.1 * smooth[:, 1] + 0.5 * smooth[:, 3] + 0.2 * rng.normal(size=150), 7)
answers = (numbers > 1).astype(int) + (smooth[:, 1] > 5)
answers[7] = 3  # a class of one sample
ties = np.round(smooth * [2, 0.2, 200, 1]) / 2
coarse = np.round(smooth * [30, 3, 3000, 1]) / 16
discrete = [False, False, False, True]
scale = lambda a: a / a.std(axis=0)


def ross(c, d, k):
    """Ross's estimator by all distances. scikit-learn compares squares, whose rounding lets some samples on the border count as inside."""
    distance = np.abs(c[:, None] - c[None, :])
    counts = np.array([np.sum(d == each) for each in d])
    kept = np.flatnonzero(counts > 1)
    near = np.minimum(k, counts - 1)
    inside = []
    for i in kept:
        radius = np.sort(distance[i, d == d[i]])[near[i]]
        inside.append(np.sum((distance[i, kept] < radius) | (distance[i, kept] == 0)))
    found = max(0, digamma(len(kept)) + np.mean(digamma(near[kept])) - np.mean(digamma(counts[kept])) - np.mean(digamma(inside)))
    assert abs(found - _compute_mi_cd(c, d, k)) < 0.01, (found, _compute_mi_cd(c, d, k))
    return found


columns = scale(smooth).T
wanted = scale(numbers)
information = {
    "x": smooth.tolist(), "y": numbers.tolist(), "labels": answers.tolist(), "ties": ties.tolist(), "coarse": coarse.tolist(),
    "regression": mutual_info_regression(smooth, numbers, discrete_features=discrete, random_state=0).tolist()[:3] + [ross(wanted, smooth[:, 3], 3)],
    "regression5": mutual_info_regression(smooth, numbers, discrete_features=discrete, n_neighbors=5, random_state=0).tolist()[:3]
                   + [ross(wanted, smooth[:, 3], 5)],
    "classification": [ross(a, answers, 3) for a in columns[:3]] + mutual_info_classif(smooth, answers, discrete_features=discrete).tolist()[3:],
    "discrete": mutual_info_classif(ties, answers, discrete_features=True).tolist(),
    # Without noise equal values stay equal: the functions that scikit-learn runs after adding it.
    "tiesRegression": [_compute_mi_cc(a, wanted, 3) for a in scale(ties).T],
    "tiesClassification": [ross(a, answers, 4) for a in scale(coarse).T],
}

json.dump({
    "information": information,
    "diabetes": {"x": x.tolist(), "y": y.tolist()},
    "wine": {"x": wine_x.tolist(), "y": wine_y.tolist(), "counts": counts.tolist()},
    "scores": {"fClassif": scored(f_classif, wine_x, wine_y), "fRegression": scored(f_regression, x, y), "chi2": scored(chi2, counts, wine_y)},
    "kept": {
        "variance": kept(VarianceThreshold(0.6), x),
        "best": kept(SelectKBest(f_classif, k=4), wine_x, wine_y),
        "percentile": kept(SelectPercentile(f_regression, percentile=35), x, y),
        "percentileChi2": kept(SelectPercentile(chi2, percentile=50), counts, wine_y),
        "fpr": kept(SelectFpr(f_regression, alpha=0.15), x, y),
        "fdr": kept(SelectFdr(f_regression, alpha=0.13), x, y),
        "fwe": kept(SelectFwe(f_regression, alpha=0.02), x, y),
        "fdrChi2": kept(SelectFdr(chi2, alpha=0.01), counts, wine_y),
        "genericBest": kept(GenericUnivariateSelect(f_classif, mode="k_best", param=5), wine_x, wine_y),
        "genericFwe": kept(GenericUnivariateSelect(chi2, mode="fwe", param=0.001), counts, wine_y),
        "genericPercentile": kept(GenericUnivariateSelect(f_regression, param=40), x, y),
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
