"""scikit-learn's naive Bayes of discrete features, for the tests of src/learn/naive-bayes: python3 make-naive-bayes-cases.py OUT.json"""
import json, sys
import numpy as np
from sklearn.datasets import load_digits
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB

digits = load_digits()
rng = np.random.default_rng(2)
columns = [10, 18, 20, 27, 29, 36, 42, 44, 53, 60]
x, y = digits.data[:50, columns], digits.target[:50] % 4
weights = (np.arange(50) % 3 + 1) / 2
codes = np.stack([x[:, 0] // 6, x[:, 3] // 9, x[:, 5] // 4, np.zeros(50)], axis=1)


def case(kind, name, options, model, x=x, y=y, weights=None):
    model.fit(x, y, sample_weight=weights)
    return {
        "kind": kind, "name": name, "options": options, "x": x.tolist(), "y": y.tolist(),
        "weights": None if weights is None else weights.tolist(),
        "logs": model.predict_log_proba(x).tolist(), "predicted": model.predict(x).tolist(),
    }




def partial(kind, options, model, x=x, weighted=True):
    """A fit, batch by batch; the first has not all classes."""
    batches = [slice(0, 3), slice(3, 20), slice(20, 50)]
    for each in batches:
        model.partial_fit(x[each], y[each], classes=[0, 1, 2, 3], sample_weight=weights[each] if weighted else None)
    return {"kind": kind, "options": options, "x": x.tolist(), "y": y.tolist(), "weights": weights.tolist() if weighted else None,
            "batches": [[each.start, each.stop] for each in batches], "logs": model.predict_log_proba(x).tolist()}


json.dump({"batches": [
    partial("multinomialNaiveBayes", {"alpha": 0.5}, MultinomialNB(alpha=0.5)),
    partial("complementNaiveBayes", {}, ComplementNB()),
    partial("bernoulliNaiveBayes", {"binarize": 7.5}, BernoulliNB(binarize=7.5)),
    partial("categoricalNaiveBayes", {"nCategories": [3, 2, 5, 1]}, CategoricalNB(min_categories=[3, 2, 5, 1]), x=codes),
    partial("gaussianNaiveBayes", {"varSmoothing": 0}, GaussianNB(var_smoothing=0), x=x + np.arange(10) * 0.1 + rng.normal(size=x.shape)),
], "whole": [
    case("multinomialNaiveBayes", "plain", {}, MultinomialNB()),
    case("multinomialNaiveBayes", "little smoothing, weighted", {"alpha": 0.1}, MultinomialNB(alpha=0.1), weights=weights),
    case("multinomialNaiveBayes", "even priors", {"fitPrior": False}, MultinomialNB(fit_prior=False)),
    case("multinomialNaiveBayes", "no smoothing", {"alpha": 0}, MultinomialNB(alpha=0)),
    case("multinomialNaiveBayes", "given priors", {"priors": [0.1, 0.2, 0.3, 0.4]}, MultinomialNB(class_prior=[0.1, 0.2, 0.3, 0.4])),
    case("complementNaiveBayes", "plain", {}, ComplementNB()),
    case("complementNaiveBayes", "normed, weighted", {"norm": True, "alpha": 0.5}, ComplementNB(norm=True, alpha=0.5), weights=weights),
    case("complementNaiveBayes", "one class", {}, ComplementNB(), y=np.ones(50, int)),
    case("bernoulliNaiveBayes", "plain", {}, BernoulliNB()),
    case("bernoulliNaiveBayes", "another threshold, weighted", {"binarize": 7.5, "alpha": 2}, BernoulliNB(binarize=7.5, alpha=2), weights=weights),
    case("bernoulliNaiveBayes", "already 0 and 1", {"binarize": None}, BernoulliNB(binarize=None), x=(x > 8).astype(float)),
    case("categoricalNaiveBayes", "plain", {}, CategoricalNB(), x=codes),
    case("categoricalNaiveBayes", "more categories than seen, weighted", {"alpha": 0.3, "nCategories": [4, 2, 6, 3]},
         CategoricalNB(alpha=0.3, min_categories=[4, 2, 6, 3]), x=codes, weights=weights),
]}, open(sys.argv[1], "w"))
