"""scikit-learn's results for the tests of src/learn/linear: /usr/bin/python3 make-linear-cases.py linear-cases.json"""
import json, sys, warnings
import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import (BayesianRidge, ElasticNet, GammaRegressor, HuberRegressor, Lasso, LinearRegression,
                                  LogisticRegression, PoissonRegressor, TweedieRegressor)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures
from sklearn.svm import LinearSVC, LinearSVR

warnings.filterwarnings("ignore")


def listed(a):
    return np.asarray(a, dtype=float).tolist()


def rounded(a, step=64):
    return np.round(np.asarray(a) * step) / step


def standard(a):
    return rounded((a - a.mean(0)) / a.std(0))


# Data, each stored once.
diabetes = rounded(load_diabetes(scaled=False).data[:60, [0, 2, 3, 4, 6]], 16)
iris_x, iris_y = rounded(load_iris().data[::2], 16), load_iris().target[::2]
cancer_x = standard(load_breast_cancer().data[:120, [0, 1, 4, 5, 8, 20]])
cancer_y = load_breast_cancer().target[:120]
wine_x, wine_y = standard(load_wine().data[::3, [0, 1, 6, 9, 12]]), load_wine().target[::3]
rng = np.random.RandomState(0)
counts_x = rounded(rng.randn(50, 4))
mean = np.exp(0.5 + counts_x @ [0.4, -0.3, 0, 0.2])
outlying = rounded(load_diabetes().target[:60], 1).copy()
outlying[::9] += 400
steps_x = rounded(rng.rand(40) * 10, 4)
data = {
    "diabetes": [diabetes, load_diabetes().target[:60]],
    "standard diabetes": [standard(diabetes), load_diabetes().target[:60]],
    "two targets": [standard(diabetes), np.stack([load_diabetes().target[:60], rounded(64 * np.sin(diabetes[:, 1]))], 1)],
    "wide": [standard(diabetes)[:4], load_diabetes().target[:4]],
    "iris": [iris_x, iris_y], "wine": [wine_x, wine_y], "cancer": [cancer_x, cancer_y],
    "counts": [counts_x, rng.poisson(mean)], "amounts": [counts_x, rounded(rng.gamma(2.0, mean / 2) + 1 / 16)],
    "outliers": [standard(diabetes), outlying],
    "steps": [steps_x[:, None], rounded(np.log1p(steps_x) + rng.randn(40) * 0.3)],
    "falling": [steps_x[:, None], rounded(-steps_x + rng.randn(40) * 2)],
}
weights = lambda n: (np.arange(n) % 4) / 2
cases = []


def polished(model, x, y, w):
    """Huber's regression stops at 1e-5: its own objective, minimised further from there."""
    from scipy.optimize import minimize
    from sklearn.linear_model._huber import _huber_loss_and_gradient

    start = np.r_[model.coef_, [model.intercept_] if model.fit_intercept else [], model.scale_]
    args = (x, y, model.epsilon, model.alpha, np.ones(len(y)) if w is None else w)
    for _ in range(20):
        start = minimize(_huber_loss_and_gradient, start, args=args, jac=True, method="BFGS", options={"gtol": 1e-12}).x
    model.coef_, model.scale_ = start[: x.shape[1]], start[-1]
    if model.fit_intercept:
        model.intercept_ = start[-2]
    model.outliers_ = np.abs(y - x @ model.coef_ - model.intercept_) > model.scale_ * model.epsilon


def case(name, kind, options, model, of, weighted=False, extra=lambda m, x: {}):
    x, y = data[of]
    given = {"sample_weight": weights(len(y))} if weighted else {}
    model.fit(x, y, **given)
    if kind == "huberRegressor":
        polished(model, x, y, given.get("sample_weight"))
    model.rows_weights = weights(len(y)) if weighted else np.ones(len(y))
    entry = {"name": name, "kind": kind, "options": options, "data": of, "weighted": weighted,
             "predicted": listed(model.predict(x))}
    if hasattr(model, "coef_"):
        entry["coefficients"] = listed(np.squeeze(model.coef_.T) if model.coef_.shape[0] == 1 else model.coef_.T)
        entry["intercept"] = listed(model.intercept_)
    entry["score"] = float(model.score(x, y))
    entry.update(extra(model, x))
    cases.append(entry)


probabilities = lambda m, x: {"probabilities": listed(m.predict_proba(x)[::7])}
tight = dict(tol=1e-12, max_iter=100000)


def logistic(name, options, of, weighted=False, **given):
    # L-BFGS stops at 1e-5; newton-cg goes on.
    how = {**tight, "solver": "newton-cg", **given}
    case(name, "logisticRegression", options, LogisticRegression(**how), of, weighted, probabilities)


logistic("plain", {}, "cancer")
logistic("strong penalty, weighted", {"c": 0.01}, "cancer", True, C=0.01)
logistic("without intercept", {"c": 10, "fitIntercept": False}, "cancer", C=10, fit_intercept=False)
logistic("softmax", {}, "iris")
logistic("softmax, weighted", {"c": 3}, "wine", True, C=3)
logistic("balanced", {"classWeight": "balanced"}, "wine", class_weight="balanced")
logistic("weights by class", {"classWeight": {"0": 1, "1": 3, "2": 0.5}}, "wine", class_weight={0: 1, 1: 3, 2: 0.5})
logistic("each against the rest", {"multiClass": "ovr"}, "iris", multi_class="ovr")
logistic("absolute values", {"penalty": "l1", "c": 0.3}, "cancer", penalty="l1", C=0.3, solver="saga")
logistic("elastic net", {"penalty": "elasticnet", "c": 0.2, "l1Ratio": 0.7}, "cancer", True, penalty="elasticnet",
         C=0.2, l1_ratio=0.7, solver="saga")
logistic("elastic net, softmax", {"penalty": "elasticnet", "c": 0.5}, "wine", penalty="elasticnet", C=0.5, l1_ratio=0.5,
         solver="saga")
logistic("no penalty", {"penalty": "none"}, "cancer", penalty=None)


def sparse(name, kind, options, model, of, weighted=False):
    case(name, kind, options, model, of, weighted, lambda m, x: {"iterations": listed(m.n_iter_)})


sparse("plain", "lasso", {}, Lasso(tol=1e-12), "standard diabetes")
sparse("raw columns", "lasso", {"alpha": 0.3}, Lasso(alpha=0.3, tol=1e-12, max_iter=100000), "diabetes")
sparse("default tolerance", "lasso", {"alpha": 2}, Lasso(alpha=2, precompute=True), "standard diabetes")
sparse("two outputs", "lasso", {"alpha": 3}, Lasso(alpha=3, tol=1e-12), "two targets")
sparse("positive, without intercept", "lasso", {"positive": True, "fitIntercept": False},
       Lasso(positive=True, fit_intercept=False, tol=1e-12), "standard diabetes")
sparse("weighted", "elasticNet", {"alpha": 0.5}, ElasticNet(alpha=0.5, tol=1e-12), "standard diabetes", True)
sparse("mostly squares", "elasticNet", {"alpha": 0.1, "l1Ratio": 0.05}, ElasticNet(alpha=0.1, l1_ratio=0.05, tol=1e-12),
       "standard diabetes")
sparse("more features than samples", "elasticNet", {"alpha": 0.2, "l1Ratio": 0.9},
       ElasticNet(alpha=0.2, l1_ratio=0.9, tol=1e-12, max_iter=100000), "wide")

glm = dict(tol=1e-10, max_iter=10000)
case("plain", "poissonRegressor", {}, PoissonRegressor(**glm), "counts")
case("weighted", "poissonRegressor", {"alpha": 0.01}, PoissonRegressor(alpha=0.01, **glm), "counts", True)
case("without intercept", "poissonRegressor", {"fitIntercept": False}, PoissonRegressor(fit_intercept=False, **glm), "counts")
case("plain", "gammaRegressor", {"alpha": 0.1}, GammaRegressor(alpha=0.1, **glm), "amounts")
case("compound Poisson", "tweedieRegressor", {"power": 1.5, "alpha": 0.2}, TweedieRegressor(power=1.5, alpha=0.2, **glm), "counts")
case("inverse Gaussian, weighted", "tweedieRegressor", {"power": 3, "alpha": 0.5}, TweedieRegressor(power=3, alpha=0.5, **glm), "amounts", True)
case("normal", "tweedieRegressor", {"alpha": 2}, TweedieRegressor(alpha=2, **glm), "standard diabetes")
case("normal, log", "tweedieRegressor", {"link": "log", "alpha": 0.5}, TweedieRegressor(link="log", alpha=0.5, **glm), "amounts")
case("gamma, identity", "tweedieRegressor", {"link": "identity", "power": 2, "alpha": 1},
     TweedieRegressor(link="identity", power=2, alpha=1, **glm), "amounts")

scale = lambda m, x: {"scale": float(m.scale_), "outliers": listed(m.outliers_)}
case("plain", "huberRegressor", {}, HuberRegressor(tol=1e-10, max_iter=10000), "outliers", False, scale)
case("weighted, tight", "huberRegressor", {"epsilon": 1.1, "alpha": 1}, HuberRegressor(epsilon=1.1, alpha=1, tol=1e-10, max_iter=10000),
     "outliers", True, scale)
case("without intercept", "huberRegressor", {"epsilon": 2, "fitIntercept": False},
     HuberRegressor(epsilon=2, fit_intercept=False, tol=1e-10, max_iter=10000), "outliers", False, scale)

def deviations(m, x):
    """By the whole covariance: scikit-learn 1.2 leaves out directions that fewer samples than features do not span."""
    centred = x - m.X_offset_
    rows = centred * np.sqrt(m.rows_weights)[:, None]
    covariance = np.linalg.inv(m.lambda_ * np.eye(x.shape[1]) + m.alpha_ * rows.T @ rows)
    if len(x) > x.shape[1]:
        assert np.allclose(covariance, m.sigma_, rtol=1e-6)
    return np.sqrt((x @ covariance * x).sum(1) + 1 / m.alpha_)


spread = lambda m, x: {"std": listed(deviations(m, x)), "noise": float(m.alpha_), "precision": float(m.lambda_),
                       "iterations": m.n_iter_}
case("plain", "bayesianRidge", {}, BayesianRidge(), "diabetes", False, spread)
case("weighted, other priors", "bayesianRidge", {"tol": 1e-8, "alpha1": 0.1, "alpha2": 0.2, "lambda1": 2, "lambda2": 0.3, "lambdaInit": 0.5},
     BayesianRidge(tol=1e-8, alpha_1=0.1, alpha_2=0.2, lambda_1=2, lambda_2=0.3, lambda_init=0.5), "standard diabetes", True, spread)
case("without intercept", "bayesianRidge", {"fitIntercept": False}, BayesianRidge(fit_intercept=False), "standard diabetes", False, spread)
case("more features than samples", "bayesianRidge", {}, BayesianRidge(), "wide", False, spread)

svm = dict(tol=1e-9, max_iter=10000000)
rows = lambda m, x: {"decisions": listed(m.decision_function(x)[::7])}
case("plain", "linearSvc", {}, LinearSVC(dual=False, **svm), "cancer", False, rows)
case("three classes, weighted", "linearSvc", {"c": 0.5}, LinearSVC(C=0.5, dual=False, **svm), "wine", True, rows)
case("scaled intercept, balanced", "linearSvc", {"interceptScaling": 4, "classWeight": "balanced"},
     LinearSVC(intercept_scaling=4, class_weight="balanced", dual=False, **svm), "cancer", False, rows)
case("absolute values", "linearSvc", {"penalty": "l1", "c": 0.1}, LinearSVC(penalty="l1", C=0.1, dual=False, **svm), "cancer", False, rows)
case("hinge", "linearSvc", {"loss": "hinge", "c": 0.5}, LinearSVC(loss="hinge", C=0.5, **svm), "cancer", False, rows)
case("hinge, weighted, without intercept", "linearSvc", {"loss": "hinge", "fitIntercept": False},
     LinearSVC(loss="hinge", fit_intercept=False, **svm), "cancer", True, rows)
case("hinge, three classes", "linearSvc", {"loss": "hinge", "c": 0.1}, LinearSVC(loss="hinge", C=0.1, **svm), "wine", False, rows)
case("plain", "linearSvr", {}, LinearSVR(**svm), "standard diabetes")
case("tube, weighted", "linearSvr", {"epsilon": 20, "c": 0.5}, LinearSVR(epsilon=20, C=0.5, **svm), "standard diabetes", True)
case("squares", "linearSvr", {"loss": "squaredEpsilonInsensitive", "epsilon": 5, "c": 0.1, "interceptScaling": 10},
     LinearSVR(loss="squared_epsilon_insensitive", epsilon=5, C=0.1, intercept_scaling=10, dual=False, **svm), "standard diabetes")

new = np.array([-1.0, 0.3, 2.05, 5.0, 9.99, 12.0])


def isotonic(name, options, of, weighted=False, **given):
    case(name, "isotonicRegression", options, IsotonicRegression(**given), of, weighted,
         lambda m, x: {"new": new.tolist(), "at": [None if np.isnan(v) else float(v) for v in m.predict(new)]})


isotonic("plain", {}, "steps")
isotonic("weighted, clipped", {"outOfBounds": "clip"}, "steps", True, out_of_bounds="clip")
isotonic("falling", {"increasing": False}, "falling", increasing=False)
isotonic("direction found", {"increasing": "auto", "outOfBounds": "clip"}, "falling", increasing="auto", out_of_bounds="clip")
isotonic("bounded", {"yMin": 0.8, "yMax": 1.9}, "steps", y_min=0.8, y_max=1.9)


def polynomial(name, options, degree, of, **given):
    x, y = data[of]
    model = make_pipeline(PolynomialFeatures(degree, include_bias=False), LinearRegression(**given)).fit(x, y)
    cases.append({"name": name, "kind": "polynomialRegression", "options": options, "data": of, "weighted": False,
                  "predicted": listed(model.predict(x)), "coefficients": listed(model[-1].coef_.T),
                  "intercept": listed(model[-1].intercept_), "score": float(model.score(x, y))})


polynomial("squares", {}, 2, "standard diabetes")
polynomial("cubes without intercept", {"degree": 3, "fitIntercept": False}, 3, "steps", fit_intercept=False)
polynomial("two outputs", {"degree": 2}, 2, "two targets")

json.dump({"data": {name: {"x": listed(x), "y": listed(y)} for name, (x, y) in data.items()}, "cases": cases},
          open(sys.argv[1], "w"))
