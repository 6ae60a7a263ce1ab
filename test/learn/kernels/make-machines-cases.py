"""scikit-learn's support vector machines (LIBSVM), for the tests beside: python3 make-machines-cases.py OUT.json"""
import json, sys
import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine
from sklearn.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM

scaled = lambda x, step=64: np.round((x - x.mean(axis=0)) / np.where(x.std(axis=0) == 0, 1, x.std(axis=0)) * step) / step
iris, wine, cancer, digits, diabetes = load_iris(), load_wine(), load_breast_cancer(), load_digits(), load_diabetes()
SETS = {
    "iris": (scaled(iris.data)[::2], iris.target[::2]),
    "wine": (scaled(wine.data)[::3, :8], wine.target[::3]),
    "cancer": (scaled(cancer.data)[::6, :8], cancer.target[::6]),
    "digits": (digits.data[:100], digits.target[:100]),
    "diabetes": (scaled(diabetes.data)[:70, :6], np.round(diabetes.target[:70]) / 64),
}
TIGHT = 1e-10


def case(kind, name, data, options, model, weights=None, samples=None):
    x, y = SETS[data]
    x = x if samples is None else samples
    model.set_params(tol=TIGHT)
    model.fit(x, y if kind != "oneClassSvm" else None, sample_weight=weights)
    some = x[::5]
    found = {"kind": kind, "name": name, "data": data, "options": options, "weights": None if weights is None else weights.tolist(),
             "gram": None if samples is None else samples.tolist(),
             "support": sorted(model.support_.tolist()), "predicted": model.predict(some).tolist()}
    # Weights in the order of the samples: LIBSVM has them by class.
    order = np.argsort(model.support_)
    found["dual"] = model.dual_coef_[:, order].tolist()
    if kind not in ("svr", "nuSvr"):
        found["decisions"] = model.decision_function(some).tolist()
    return found


weighted = 1 + np.arange(75) % 3 / 2
wide = SETS["diabetes"][0]
gram = np.round(SETS["iris"][0] @ SETS["iris"][0].T * 64) / 64
cases = [
    case("svc", "two classes", "cancer", {}, SVC()),
    case("svc", "two classes, weighted", "cancer", {"c": 4, "classWeight": "balanced", "gamma": 0.05}, SVC(C=4, class_weight="balanced", gamma=0.05)),
    case("svc", "three classes", "iris", {"c": 2, "gamma": "auto"}, SVC(C=2, gamma="auto")),
    case("svc", "three classes, weights, pairs", "iris", {"decisionFunctionShape": "ovo", "kernel": "linear"}, SVC(decision_function_shape="ovo", kernel="linear"), weighted),
    case("svc", "weights of classes", "wine", {"classWeight": {"1": 3}, "kernel": "polynomial", "coef0": 1, "degree": 2, "breakTies": True},
         SVC(class_weight={1: 3}, kernel="poly", coef0=1, degree=2, break_ties=True)),
    case("svc", "sigmoid", "wine", {"kernel": "sigmoid", "gamma": 0.02, "c": 0.5}, SVC(kernel="sigmoid", gamma=0.02, C=0.5)),
    case("svc", "ten classes", "digits", {"c": 3}, SVC(C=3)),
    case("svc", "precomputed", "iris", {"kernel": "precomputed"}, SVC(kernel="precomputed"), None, gram),
    case("svr", "rbf", "diabetes", {}, SVR()),
    case("svr", "linear, weights", "diabetes", {"kernel": "linear", "c": 0.5, "epsilon": 0.3}, SVR(kernel="linear", C=0.5, epsilon=0.3), weighted[:70]),
    case("oneClassSvm", "rbf", "iris", {"nu": 0.2}, OneClassSVM(nu=0.2)),
    case("nuSvc", "two classes", "cancer", {}, NuSVC()),
    case("nuSvc", "three classes, weights, pairs", "iris", {"nu": 0.2, "kernel": "linear", "decisionFunctionShape": "ovo"},
         NuSVC(nu=0.2, kernel="linear", decision_function_shape="ovo"), weighted),
    case("nuSvc", "polynomial", "wine", {"nu": 0.3, "kernel": "polynomial", "coef0": 1, "degree": 2}, NuSVC(nu=0.3, kernel="poly", coef0=1, degree=2)),
    case("nuSvr", "rbf", "diabetes", {}, NuSVR()),
    case("nuSvr", "linear, weights", "diabetes", {"nu": 0.3, "kernel": "linear", "c": 0.5}, NuSVR(nu=0.3, kernel="linear", C=0.5), weighted[:70]),
    case("oneClassSvm", "weights", "diabetes", {"gamma": 0.1}, OneClassSVM(gamma=0.1), weighted[:70]),
]


def likely(data, options, made):
    """Probabilities of scikit-learn over twenty ways to hold samples out: their means, and the logarithmic loss with its spread."""
    x, y = SETS[data]
    found = [made(seed).set_params(tol=TIGHT).fit(x, y).predict_proba(x) for seed in range(20)]
    losses = [-np.log(each[np.arange(len(y)), y]).mean() for each in found]
    spread = np.abs(np.array(found) - np.mean(found, axis=0)).max(axis=(1, 2))
    return {"data": data, "options": options, "mean": np.mean(found, axis=0)[::5].tolist(), "loss": float(np.mean(losses)),
            "deviation": float(np.std(losses, ddof=1)), "furthest": float(spread.max())}


probabilities = [
    likely("cancer", {"c": 2, "gamma": 0.05}, lambda seed: SVC(C=2, gamma=0.05, probability=True, random_state=seed)),
    likely("iris", {"gamma": 0.1}, lambda seed: SVC(gamma=0.1, probability=True, random_state=seed)),
    likely("wine", {"kernel": "linear", "c": 0.1}, lambda seed: SVC(kernel="linear", C=0.1, probability=True, random_state=seed)),
]


def short(value):
    """Ten digits; numbers of the data have fewer."""
    if isinstance(value, dict):
        return {name: short(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [short(each) for each in value]
    return float(f"{value:.10g}") if isinstance(value, float) else value


json.dump(short({
    "sets": {name: {"x": x.tolist(), "y": y.tolist()} for name, (x, y) in SETS.items()}, "cases": cases, "probabilities": probabilities,
}), open(sys.argv[1], "w"))
