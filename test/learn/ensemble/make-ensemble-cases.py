"""scikit-learn's ensembles on its own data sets, for the tests of src/learn/ensemble: python3 make-ensemble-cases.py OUT.json"""
import json, sys, warnings
import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import StackingClassifier, StackingRegressor, VotingClassifier, VotingRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import brier_score_loss
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.multioutput import MultiOutputRegressor, RegressorChain
from sklearn.naive_bayes import GaussianNB

warnings.filterwarnings("ignore")


def rounded(values, digits=10):
    return np.round(np.asarray(values, dtype=float), digits).tolist()


x = np.round(load_diabetes().data[:60, [0, 2, 3, 4, 6]] * 64) / 16
y = load_diabetes().target[:60] / 100
two = np.stack([y, np.round(64 * np.sin(3 * x[:, 1])) / 64], axis=1)
chosen = np.arange(0, 178, 2)
wine = load_wine().data[chosen][:, [0, 1, 6, 9]]
wine_x = np.round((wine - wine.mean(0)) / wine.std(0) * 64) / 64
wine_y = load_wine().target[chosen]
cancer = load_breast_cancer()
columns = np.round((cancer.data[:, [0, 2, 3, 5]] - cancer.data[:, [0, 2, 3, 5]].mean(0)) / cancer.data[:, [0, 2, 3, 5]].std(0) * 64) / 64
cancer_x, cancer_y = columns[:160], cancer.target[:160]
later_x, later_y = columns[160:220], cancer.target[160:220]
logistic = lambda: LogisticRegression(solver="newton-cg", tol=1e-11, max_iter=1000)
weights = (np.arange(60) % 4 + 1) / 2

regressions = {
    "voting": rounded(VotingRegressor([("a", LinearRegression()), ("b", Ridge(10))], weights=[1, 3]).fit(x, y).predict(x)),
    "weighted": rounded(VotingRegressor([("a", LinearRegression()), ("b", Ridge(10))]).fit(x, y, weights).predict(x)),
    "stacking": rounded(StackingRegressor([("a", LinearRegression()), ("b", Ridge(30))], final_estimator=Ridge(0.1), cv=4).fit(x, y).predict(x)),
    "passthrough": rounded(StackingRegressor([("a", LinearRegression()), ("b", Ridge(30))], final_estimator=Ridge(1), passthrough=True).fit(x, y).predict(x)),
    "outputs": rounded(MultiOutputRegressor(Ridge(2)).fit(x, two).predict(x)),
    "chain": rounded(RegressorChain(Ridge(2), order=[1, 0]).fit(x, two).predict(x)),
    "dummies": {
        "mean": float(DummyRegressor().fit(x, y, weights).predict(x[:1])[0]),
        "median": float(DummyRegressor(strategy="median").fit(x, y).predict(x[:1])[0]),
        "quantile": float(DummyRegressor(strategy="quantile", quantile=0.2).fit(x, y).predict(x[:1])[0]),
    },
}


def classified(model, data=wine_x, target=wine_y):
    model.fit(data, target)
    found = {"labels": model.predict(data).tolist()}
    if hasattr(model, "predict_proba"):
        found["probabilities"] = rounded(model.predict_proba(data))
    if hasattr(model, "decision_function"):
        found["decisions"] = rounded(model.decision_function(data))
    return found


pair = [("a", logistic()), ("b", GaussianNB())]
is_binary = cancer_y
classifications = {
    "hard": classified(VotingClassifier(pair + [("c", GaussianNB(var_smoothing=0.5))], voting="hard")),
    "soft": classified(VotingClassifier(pair, voting="soft", weights=[1, 2])),
    "stacking": classified(StackingClassifier(pair, final_estimator=logistic(), cv=4)),
    "stackingOfTwo": classified(StackingClassifier(pair, final_estimator=logistic(), cv=4), cancer_x, cancer_y),
    "rest": classified(OneVsRestClassifier(logistic())),
    "restOfTwo": classified(OneVsRestClassifier(logistic()), cancer_x, cancer_y),
    "restByProbability": classified(OneVsRestClassifier(GaussianNB())),
    "pairs": classified(OneVsOneClassifier(logistic())),
    "pairsByProbability": classified(OneVsOneClassifier(GaussianNB())),
    "pairsOfTwo": classified(OneVsOneClassifier(logistic()), cancer_x, cancer_y),
}
dummies = {s: {"labels": m.predict(wine_x[:2]).tolist(), "probabilities": rounded(m.predict_proba(wine_x[:2]))}
           for s in ["prior", "most_frequent"] for m in [DummyClassifier(strategy=s).fit(wine_x, wine_y)]}


def calibrated(estimator, data, target, new, new_target, **options):
    model = CalibratedClassifierCV(estimator, **options).fit(data, target)
    p = model.predict_proba(new)
    plain = estimator.fit(data, target).predict_proba(new)
    found = {"probabilities": rounded(p)}
    if p.shape[1] == 2:
        found["brier"] = brier_score_loss(new_target, p[:, 1])
        found["plainBrier"] = brier_score_loss(new_target, plain[:, 1])
    return found


prefit = GaussianNB().fit(cancer_x[:80], cancer_y[:80])
held = CalibratedClassifierCV(prefit, cv="prefit").fit(cancer_x[80:], cancer_y[80:])
calibrations = {
    "sigmoid": calibrated(GaussianNB(), cancer_x, cancer_y, later_x, later_y, cv=4),
    "isotonic": calibrated(GaussianNB(), cancer_x, cancer_y, later_x, later_y, cv=4, method="isotonic"),
    "one": calibrated(GaussianNB(), cancer_x, cancer_y, later_x, later_y, cv=4, ensemble=False),
    "decisions": calibrated(logistic(), cancer_x, cancer_y, later_x, later_y, cv=3),
    "several": calibrated(GaussianNB(), wine_x, wine_y, wine_x, wine_y, cv=3),
    "severalIsotonic": calibrated(GaussianNB(), wine_x, wine_y, wine_x, wine_y, cv=3, method="isotonic"),
    "prefit": {"probabilities": rounded(held.predict_proba(later_x))},
}

json.dump({
    "diabetes": {"x": x.tolist(), "y": y.tolist(), "two": two.tolist(), "weights": weights.tolist()},
    "wine": {"x": wine_x.tolist(), "y": wine_y.tolist()},
    "cancer": {"x": cancer_x.tolist(), "y": cancer_y.tolist(), "laterX": later_x.tolist(), "laterY": later_y.tolist()},
    "regressions": regressions, "classifications": classifications, "dummies": dummies, "calibrations": calibrations,
}, open(sys.argv[1], "w"))
