"""
Target encodings for the tests beside, by the formulas of scikit-learn 1.3, which this system's version lacks, in NumPy: the shrunk mean of the
targets in each category, and for the samples of a fit that of the other folds. Run: python3 make-target-cases.py OUT.json
"""
import json, sys
import numpy as np

rng = np.random.default_rng(3)


def encoding(codes, count, y, smooth):
    """scikit-learn's _target_encoder_fast.pyx: fit_encoding_fast and fit_encoding_fast_auto_smooth."""
    mean, variance = y.mean(), y.var()
    result = np.empty(count)
    for c in range(count):
        own = y[codes == c]
        if smooth != "auto":
            result[c] = mean if len(own) + smooth == 0 else (own.sum() + smooth * mean) / (len(own) + smooth)
        else:
            with np.errstate(all="ignore"):
                rest = np.sum((own - own.mean()) ** 2) if len(own) else np.float64(0)
                share = np.float64(variance * len(own)) / (variance * len(own) + rest / np.float64(len(own)))
            result[c] = mean if np.isnan(share) else share * own.mean() + (1 - share) * mean
    return result, mean


def encoded(x, outputs, smooth, train, other):
    """Columns by feature, then by output; what is not among the categories of all samples is unknown."""
    columns = []
    for j in range(x.shape[1]):
        found = sorted({v for v in x[:, j] if v is not None})
        codes = {v: c for c, v in enumerate(found)}
        codes[None] = len(found)
        coded = np.array([codes[v] for v in x[:, j]])
        for y in outputs:
            values, mean = encoding(coded[train], len(codes), y[train], smooth)
            columns.append([values[codes[v]] if v in codes else mean for v in other[:, j]])
    return np.array(columns).T


samples = 60
cities = np.array([["Rom", "Ulm", "Köln", "Bern"][k] for k in rng.integers(0, 4, samples)], dtype=object)
kinds = np.array([["a", "b", "c", "d", "e", "f", "g"][k] for k in np.minimum(rng.geometric(0.35, samples) - 1, 6)], dtype=object)
x = np.stack([cities, kinds], axis=1)
x[5, 0] = x[17, 0] = None
x[9, 1] = None
new = np.array([["Rom", "a"], ["Paris", "g"], [None, None], ["Bern", "z"]], dtype=object)
numbers = np.round(rng.normal(size=samples) + (cities == "Rom") * 2 + (kinds == "b"), 4)
binary = (numbers > 0.5).astype(int)
several = (numbers > 0).astype(int) + (numbers > 1.5)
folds = [list(range(k, samples, 4)) for k in range(4)]


def case(name, options, y, outputs, smooth):
    outputs = [np.asarray(each, dtype=float) for each in outputs]
    everything = np.arange(samples)
    crossed = np.empty((samples, 2 * len(outputs)))
    for test in folds:
        train = np.setdiff1d(everything, test)
        crossed[test] = encoded(x, outputs, smooth, train, x[test])
    return {"name": name, "options": options, "y": y, "transformed": encoded(x, outputs, smooth, everything, x).tolist(),
            "new": encoded(x, outputs, smooth, everything, new).tolist(), "crossed": crossed.tolist(), "mean": [each.mean() for each in outputs]}


words = [["low", "middle", "top"][k] for k in several]
cases = [
    case("numbers", {}, numbers.tolist(), [numbers], "auto"),
    case("numbers, smooth by a number", {"smooth": 2.5}, numbers.tolist(), [numbers], 2.5),
    case("numbers, not smooth", {"smooth": 0}, numbers.tolist(), [numbers], 0),
    case("two classes", {}, binary.tolist(), [binary], "auto"),
    case("two classes as texts", {"smooth": 4}, ["no" if each == 0 else "yes" for each in binary], [binary], 4),
    case("several classes", {}, several.tolist(), [several == k for k in range(3)], "auto"),
    case("several classes as texts", {"smooth": 1}, words, [several == k for k in range(3)], 1),
    case("whole numbers as numbers", {"targetType": "continuous"}, several.tolist(), [several], "auto"),
    case("targets that are all the same", {"targetType": "continuous"}, [2.5] * samples, [[2.5] * samples], "auto"),
]
json.dump({"x": x.tolist(), "new": new.tolist(), "folds": folds, "cases": cases}, open(sys.argv[1], "w"), ensure_ascii=False)
