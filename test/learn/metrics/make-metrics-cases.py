"""scikit-learn's metrics, written to metrics-cases.json. Run with a Python that has scikit-learn 1.2 and SciPy 1.10."""
import json
import os
import warnings

import numpy as np
from scipy.spatial import distance
from sklearn import calibration, metrics as m
from sklearn.metrics import pairwise as pw

warnings.simplefilter("ignore")
rng = np.random.default_rng(7)
cases = []


def plain(value):
    """Lists and numbers; null for NaN, texts for infinities."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, (bool, np.bool_, str)) or value is None:
        return value if not isinstance(value, np.bool_) else bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    value = float(value)
    if np.isnan(value):
        return None
    return value if np.isfinite(value) else ("Infinity" if value > 0 else "-Infinity")


sets = []
known = {}


def interned(value):
    """A list is written once; cases name it by its place among the sets."""
    value = plain(value)
    if not isinstance(value, list):
        return value
    text = json.dumps(value)
    if text not in known:
        known[text] = len(sets)
        sets.append(value)
    return {"set": known[text]}


def case(name, args, want, **options):
    cases.append({
        "name": name, "args": [interned(a) for a in args],
        "options": {k: interned(v) for k, v in options.items()}, "want": plain(want),
    })


n = 40
eighths = lambda x: np.round(x * 8) / 8
w = eighths(rng.uniform(0, 2, n))
w[3] = 0

# ------------------------------------------------------------------------------------------------ labels
three = rng.integers(0, 3, n)
found = np.where(rng.uniform(size=n) < 0.6, three, rng.integers(0, 3, n))
absent = np.where(found == 2, 4, found)  # class 4 is never right, class 2 never predicted
two = rng.integers(0, 2, n)
said = np.where(rng.uniform(size=n) < 0.7, two, 1 - two)
texts = np.array(["ant", "bee", "cat"])[three]
text_found = np.array(["ant", "bee", "cat"])[found]
ones = np.ones(6, int)
flags = (rng.uniform(size=(20, 4)) < 0.4).astype(int)
flags[2] = 0
flags[5] = 1
flag_found = np.where(rng.uniform(size=(20, 4)) < 0.75, flags, 1 - flags)
flag_found[2] = 0
fw = eighths(rng.uniform(0, 2, 20))

for y, p, extra in [(three, found, {}), (three, absent, {"weights": w}), (texts, text_found, {})]:
    s = {"sample_weight": extra["weights"]} if extra else {}
    a = (p, y)
    case("accuracy", a, m.accuracy_score(y, p, **s), **extra)
    case("zeroOneLoss", a, m.zero_one_loss(y, p, normalize=False, **s), normalize=False, **extra)
    case("hammingLoss", a, m.hamming_loss(y, p, **s), **extra)
    case("balancedAccuracy", a, m.balanced_accuracy_score(y, p, **s), **extra)
    case("balancedAccuracy", a, m.balanced_accuracy_score(y, p, adjusted=True, **s), adjusted=True, **extra)
    case("confusionMatrix", a, m.confusion_matrix(y, p, **s), **extra)
    for ours, theirs in [("targets", "true"), ("predictions", "pred"), ("all", "all")]:
        case("confusionMatrix", a, m.confusion_matrix(y, p, normalize=theirs, **s), normalize=ours, **extra)
    case("multilabelConfusionMatrix", a, m.multilabel_confusion_matrix(y, p, **s), **extra)
    case("matthewsCorrelation", a, m.matthews_corrcoef(y, p, **s), **extra)
    case("cohenKappa", a, m.cohen_kappa_score(y, p, **s), **extra)
    for kind in ("linear", "quadratic"):
        case("cohenKappa", a, m.cohen_kappa_score(y, p, weights=kind, **s), weighting=kind, **extra)
    for average in ("micro", "macro", "weighted", None):
        o = {"average": average or "none", **extra}
        case("precision", a, m.precision_score(y, p, average=average, **s), **o)
        case("recall", a, m.recall_score(y, p, average=average, **s), **o)
        case("f1", a, m.f1_score(y, p, average=average, **s), **o)
        case("fBeta", a, m.fbeta_score(y, p, beta=0.5, average=average, **s), beta=0.5, **o)
        case("jaccard", a, m.jaccard_score(y, p, average=average, **s), **o)
case("precision", (absent, three), m.precision_score(three, absent, average=None, zero_division=1), average="none", zeroDivision=1)
case("recall", (absent, three), m.recall_score(three, absent, average="macro", zero_division=1), average="macro", zeroDivision=1)
case("f1", (found, three), m.f1_score(three, found, labels=[2, 0], average="micro"), labels=[2, 0], average="micro")
case("f1", (found, three), m.f1_score(three, found, labels=[2, 0, 7], average="macro"), labels=[2, 0, 7], average="macro")
case("confusionMatrix", (found, three), m.confusion_matrix(three, found, labels=[2, 0]), labels=[2, 0])
for s, extra in [({}, {}), ({"sample_weight": w}, {"weights": w})]:
    a = (said, two)
    case("precision", a, m.precision_score(two, said, **s), **extra)
    case("recall", a, m.recall_score(two, said, pos_label=0, **s), posLabel=0, **extra)
    case("f1", a, m.f1_score(two, said, **s), **extra)
    case("fBeta", a, m.fbeta_score(two, said, beta=2, **s), beta=2, **extra)
    case("jaccard", a, m.jaccard_score(two, said, **s), **extra)
    case("matthewsCorrelation", a, m.matthews_corrcoef(two, said, **s), **extra)
    r = m.class_likelihood_ratios(two, said, **s)
    case("classLikelihoodRatios", a, {"positive": r[0], "negative": r[1]}, **extra)
case("classLikelihoodRatios", ([0, 0, 1, 1], [0, 0, 1, 1]), dict(zip(("positive", "negative"), m.class_likelihood_ratios([0, 0, 1, 1], [0, 0, 1, 1]))))
case("matthewsCorrelation", (ones, ones), m.matthews_corrcoef(ones, ones))
case("cohenKappa", (ones, ones), m.cohen_kappa_score(ones, ones))
case("precision", (1 - ones, ones), m.precision_score(ones, 1 - ones))
case("f1", (1 - ones, 1 - ones), m.f1_score(1 - ones, 1 - ones))
p, r, f, s = m.precision_recall_fscore_support(three, absent, beta=0.7, sample_weight=w)
case("precisionRecallFScore", (absent, three), {"precision": p, "recall": r, "fBeta": f, "support": s}, beta=0.7, weights=w)

a = (flag_found, flags)
for s, extra in [({}, {}), ({"sample_weight": fw}, {"weights": fw})]:
    case("accuracy", a, m.accuracy_score(flags, flag_found, **s), **extra)
    case("zeroOneLoss", a, m.zero_one_loss(flags, flag_found, **s), **extra)
    case("hammingLoss", a, m.hamming_loss(flags, flag_found, **s), **extra)
    case("multilabelConfusionMatrix", a, m.multilabel_confusion_matrix(flags, flag_found, **s), **extra)
    case("multilabelConfusionMatrix", a, m.multilabel_confusion_matrix(flags, flag_found, samplewise=True, **s), samplewise=True, **extra)
    for average in ("micro", "macro", "weighted", "samples", None):
        o = {"average": average or "none", **extra}
        case("precision", a, m.precision_score(flags, flag_found, average=average, **s), **o)
        case("recall", a, m.recall_score(flags, flag_found, average=average, **s), **o)
        case("f1", a, m.f1_score(flags, flag_found, average=average, **s), **o)
        case("jaccard", a, m.jaccard_score(flags, flag_found, average=average, **s), **o)

# ------------------------------------------------------------------------------------------------ scores
score = np.clip(eighths(two * 0.3 + rng.uniform(0, 0.7, n)), 0, 1)  # with ties
table = rng.integers(1, 9, (n, 3)).astype(float) + 2 * (np.arange(3) == three[:, None])
table /= table.sum(1, keepdims=True)
flag_scores = eighths(rng.uniform(0, 1, (20, 4)) + 0.3 * flags)
for s, extra in [({}, {}), ({"sample_weight": w}, {"weights": w})]:
    a = (score, two)
    for drop in (True, False):
        fpr, tpr, t = m.roc_curve(two, score, drop_intermediate=drop, **s)
        t[0] = np.inf
        case("rocCurve", a, {"falsePositiveRate": fpr, "truePositiveRate": tpr, "thresholds": t}, dropIntermediate=drop, **extra)
    p, r, t = m.precision_recall_curve(two, score, **s)
    case("precisionRecallCurve", a, {"precision": p, "recall": r, "thresholds": t}, **extra)
    fpr, fnr, t = m.det_curve(two, score, **s)
    case("detCurve", a, {"falsePositiveRate": fpr, "falseNegativeRate": fnr, "thresholds": t}, **extra)
    case("rocAuc", a, m.roc_auc_score(two, score, **s), **extra)
    case("rocAuc", a, m.roc_auc_score(two, score, max_fpr=0.3, **s), maxFpr=0.3, **extra)
    case("averagePrecision", a, m.average_precision_score(two, score, **s), **extra)
    case("averagePrecision", a, m.average_precision_score(two, score, pos_label=0, **s), posLabel=0, **extra)
    case("logLoss", a, m.log_loss(two, score, **s), **extra)
    case("logLoss", (table, three), m.log_loss(three, table, normalize=False, **s), normalize=False, **extra)
    case("brierScore", a, m.brier_score_loss(two, score, **s), **extra)
    case("hingeLoss", (4 * score - 2, two), m.hinge_loss(two, 4 * score - 2, **s), **extra)
    case("hingeLoss", (8 * table, three), m.hinge_loss(three, 8 * table, **s), **extra)
    case("topKAccuracy", (eighths(table), three), m.top_k_accuracy_score(three, eighths(table), k=2, **s), k=2, **extra)
    case("topKAccuracy", (eighths(table), three), m.top_k_accuracy_score(three, eighths(table), k=1, normalize=False, **s), k=1, normalize=False, **extra)
    share = np.average(three[:, None] == np.arange(3), axis=0, weights=s.get("sample_weight"))
    plain_loss = m.log_loss(three, np.tile(share, (n, 1)), **s)
    case("d2LogLoss", (table, three), 1 - m.log_loss(three, table, **s) / plain_loss, **extra)
    for average in ("macro", "weighted", "micro", None):
        case("rocAuc", (table, three), m.roc_auc_score(three, table, multi_class="ovr", average=average, **s), multiClass="ovr", average=average or "none", **extra)
for average in ("macro", "weighted"):
    case("rocAuc", (table, three), m.roc_auc_score(three, table, multi_class="ovo", average=average), multiClass="ovo", average=average)
keep = [i for i in range(20) if 0 < flags[i].sum() < 4]
for s, extra in [({}, {}), ({"sample_weight": fw[keep]}, {"weights": fw[keep]})]:
    for average in ("macro", "weighted", "micro", "samples", None):
        a = (flag_scores[keep], flags[keep])
        case("rocAuc", a, m.roc_auc_score(flags[keep], flag_scores[keep], average=average, **s), average=average or "none", **extra)
        case("averagePrecision", a, m.average_precision_score(flags[keep], flag_scores[keep], average=average, **s), average=average or "none", **extra)
case("averagePrecision", ([0.1, 0.2, 0.3], [0, 0, 0]), m.average_precision_score([0, 0, 0], [0.1, 0.2, 0.3]))
case("logLoss", ([0, 1, 1], [0, 1, 0]), m.log_loss([0, 1, 0], np.array([0.0, 1.0, 1.0])))
for strategy in ("uniform", "quantile"):
    o, p = calibration.calibration_curve(two, score, n_bins=7, strategy=strategy)
    case("calibrationCurve", (score, two), {"observed": o, "predicted": p}, bins=7, strategy=strategy)
case("auc", ([0, 0.25, 0.5, 1], [0, 0.5, 0.75, 1]), m.auc([0, 0.25, 0.5, 1], [0, 0.5, 0.75, 1]))
case("auc", ([1, 0.5, 0], [1, 0.5, 2]), m.auc([1, 0.5, 0], [1, 0.5, 2]))

# ------------------------------------------------------------------------------------------------ rankings
relevance = rng.integers(0, 4, (8, 6)).astype(float)
relevance[3] = 0
ranking = eighths(relevance / 4 + rng.uniform(0, 1, (8, 6)))
rw = eighths(rng.uniform(0, 2, 8))
for s, extra in [({}, {}), ({"sample_weight": rw}, {"weights": rw})]:
    for k in (None, 3):
        o = {**({"k": k} if k else {}), **extra}
        for ties in (False, True):
            case("dcg", (ranking, relevance), m.dcg_score(relevance, ranking, k=k, ignore_ties=ties, **s), ignoreTies=ties, **o)
            case("ndcg", (ranking, relevance), m.ndcg_score(relevance, ranking, k=k, ignore_ties=ties, **s), ignoreTies=ties, **o)
    case("dcg", (ranking, relevance), m.dcg_score(relevance, ranking, log_base=3, **s), logBase=3, **extra)
for s, extra in [({}, {}), ({"sample_weight": fw}, {"weights": fw})]:
    a = (flag_scores, flags)
    case("coverageError", a, m.coverage_error(flags, flag_scores, **s), **extra)
    case("labelRankingAveragePrecision", a, m.label_ranking_average_precision_score(flags, flag_scores, **s), **extra)
    case("labelRankingLoss", a, m.label_ranking_loss(flags, flag_scores, **s), **extra)

# ------------------------------------------------------------------------------------------------ numbers
y = np.round(rng.gamma(2, 2, (n, 3)), 3) + 0.1
guess = np.round(y * rng.uniform(0.6, 1.5, (n, 3)), 3)
y[:, 2] = 1.5
REGRESSION = [
    ("meanSquaredError", m.mean_squared_error),
    ("rootMeanSquaredError", lambda *a, **k: m.mean_squared_error(*a, squared=False, **k)),
    ("meanAbsoluteError", m.mean_absolute_error),
    ("meanSquaredLogError", m.mean_squared_log_error),
    ("rootMeanSquaredLogError", lambda *a, **k: m.mean_squared_log_error(*a, squared=False, **k)),
    ("meanAbsolutePercentageError", m.mean_absolute_percentage_error),
    ("medianAbsoluteError", m.median_absolute_error),
    ("r2", m.r2_score),
    ("explainedVariance", m.explained_variance_score),
    ("d2AbsoluteError", m.d2_absolute_error_score),
]
for s, extra in [({}, {}), ({"sample_weight": w}, {"weights": w})]:
    for name, function in REGRESSION:
        case(name, (guess[:, 0], y[:, 0]), function(y[:, 0], guess[:, 0], **s), **extra)
        case(name, (guess, y), function(y, guess, **s), **extra)
        case(name, (guess, y), function(y, guess, multioutput="raw_values", **s), multiOutput="none", **extra)
        if "Log" not in name and "root" not in name:
            case(name, (guess, y), function(y, guess, multioutput=[1, 2, 0.5], **s), multiOutput=[1, 2, 0.5], **extra)
    for name, function in REGRESSION[-3:-1]:
        case(name, (guess, y), function(y, guess, multioutput="variance_weighted", **s), multiOutput="varianceWeighted", **extra)
        case(name, (guess, y), function(y, guess, multioutput="raw_values", force_finite=False, **s), multiOutput="none", forceFinite=False, **extra)
    for alpha in (0.2, 0.9):
        case("meanPinballLoss", (guess, y), m.mean_pinball_loss(y, guess, alpha=alpha, multioutput="raw_values", **s), alpha=alpha, multiOutput="none", **extra)
        case("d2Pinball", (guess, y), m.d2_pinball_score(y, guess, alpha=alpha, multioutput="raw_values", **s), alpha=alpha, multiOutput="none", **extra)
    a = (guess[:, 0], y[:, 0])
    for power in (-1, 0, 1, 1.5, 2, 3):
        case("meanTweedieDeviance", a, m.mean_tweedie_deviance(y[:, 0], guess[:, 0], power=power, **s), power=power, **extra)
        case("d2Tweedie", a, m.d2_tweedie_score(y[:, 0], guess[:, 0], power=power, **s), power=power, **extra)
    case("meanPoissonDeviance", (guess[:, 0], np.floor(y[:, 0])), m.mean_poisson_deviance(np.floor(y[:, 0]), guess[:, 0], **s), **extra)
    case("meanGammaDeviance", a, m.mean_gamma_deviance(y[:, 0], guess[:, 0], **s), **extra)
case("maxError", (guess[:, 0], y[:, 0]), m.max_error(y[:, 0], guess[:, 0]))
case("r2", ([1, 2], [3, 3]), m.r2_score([3, 3], [1, 2]))
case("r2", ([3, 3], [3, 3]), m.r2_score([3, 3], [3, 3]))
case("r2", ([1], [2]), m.r2_score([2], [1]))
case("d2AbsoluteError", ([1], [2]), m.d2_absolute_error_score([2], [1]))

# ------------------------------------------------------------------------------------------------ groupings
many = rng.integers(0, 12, n)
GROUPINGS = [(three, found), (three, absent), (texts, text_found), (three, many), (ones, ones), (ones, np.arange(6)), (np.arange(6), np.arange(6)), (np.arange(6), ones)]
for y, p in GROUPINGS:
    a = (p, y)
    case("contingencyMatrix", a, m.cluster.contingency_matrix(y, p))
    case("pairConfusionMatrix", a, m.cluster.pair_confusion_matrix(y, p))
    case("randScore", a, m.rand_score(y, p))
    case("adjustedRand", a, m.adjusted_rand_score(y, p))
    case("fowlkesMallows", a, m.fowlkes_mallows_score(y, p))
    case("mutualInfo", a, m.mutual_info_score(y, p))
    case("homogeneity", a, m.homogeneity_score(y, p))
    case("completeness", a, m.completeness_score(y, p))
    case("vMeasure", a, m.v_measure_score(y, p, beta=0.6), beta=0.6)
    case("homogeneityCompletenessVMeasure", a, dict(zip(("homogeneity", "completeness", "vMeasure"), m.homogeneity_completeness_v_measure(y, p))))
    for average in ("arithmetic", "geometric", "min", "max"):
        case("normalizedMutualInfo", a, m.normalized_mutual_info_score(y, p, average_method=average), average=average)
        case("adjustedMutualInfo", a, m.adjusted_mutual_info_score(y, p, average_method=average), average=average)
points = np.round(rng.normal(size=(n, 3)) + 2 * three[:, None], 3)
lonely = np.where(np.arange(n) == 5, 9, three)
for labels in (three, lonely):
    case("silhouetteSamples", (points, labels), m.silhouette_samples(points, labels))
    case("silhouetteScore", (points, labels), m.silhouette_score(points, labels, metric="manhattan"), metric="manhattan")
    case("calinskiHarabasz", (points, labels), m.calinski_harabasz_score(points, labels))
    case("daviesBouldin", (points, labels), m.davies_bouldin_score(points, labels))

# ------------------------------------------------------------------------------------------------ pairs of samples
A, B = np.round(rng.normal(size=(6, 4)), 3), np.round(rng.normal(size=(5, 4)), 3)
A[1] = 0
A[2] = B[3]
F, G = (rng.uniform(size=(6, 7)) < 0.5) * 1.0, (rng.uniform(size=(5, 7)) < 0.5) * 1.0
F[0], G[0] = 0, 0
F[1], G[1] = 1, 1
for metric in ("euclidean", "sqeuclidean", "manhattan", "cityblock", "l1", "l2", "chebyshev", "cosine", "canberra", "braycurtis"):
    case("pairwiseDistances", (A, B), distance.cdist(A, B, {"l1": "cityblock", "l2": "euclidean", "manhattan": "cityblock"}.get(metric, metric)) if metric != "cosine" else m.pairwise_distances(A, B, metric=metric), metric=metric)
case("pairwiseDistances", (A,), distance.cdist(A, A))
for metric in ["euclidean", "chebyshev"]:
    places, least = m.pairwise_distances_argmin_min(A, B, metric=metric)
    own = distance.cdist(A, B, metric).min(axis=1)  # scikit-learn has rounding in place of 0
    assert np.allclose(own, least, atol=1e-7)
    case("pairwiseNearest", (A, B), {"indices": places, "distances": own}, metric=metric)
case("pairwiseDistances", (A, B), m.pairwise_distances(A, B, metric="minkowski", p=3), metric="minkowski", p=3)
case("pairwiseDistances", (A[[0, 2, 3]], B), m.pairwise_distances(A[[0, 2, 3]], B, metric="correlation"), metric="correlation")
case("pairwiseDistances", (A, B), distance.cdist(A, B, "seuclidean"), metric="seuclidean")
case("pairwiseDistances", (A,), m.pairwise_distances(A, metric="seuclidean"), metric="seuclidean")
case("pairwiseDistances", (A, B), m.pairwise_distances(A, B, metric="seuclidean", V=[1, 2, 3, 4]), metric="seuclidean", variances=[1, 2, 3, 4])
covariance = np.cov(np.concatenate([A, B]).T)
case("pairwiseDistances", (A, B), m.pairwise_distances(A, B, metric="mahalanobis", VI=np.linalg.inv(covariance)), metric="mahalanobis")
case("pairwiseDistances", (A, B), m.pairwise_distances(A, B, metric="mahalanobis", VI=np.linalg.inv(np.diag([1, 2, 3, 4]) + 0.5)), metric="mahalanobis", covariance=np.diag([1, 2, 3, 4]) + 0.5)
case("pairwiseDistances", (A[:, :2], B[:, :2]), m.pairwise_distances(A[:, :2], B[:, :2], metric="haversine"), metric="haversine")
case("pairwiseDistances", (F, G), m.pairwise_distances(F, G, metric="hamming"), metric="hamming")
for metric in ("jaccard", "rogerstanimoto", "russellrao", "sokalmichener", "yule"):
    case("pairwiseDistances", (F, G), m.pairwise_distances(F.astype(bool), G.astype(bool), metric=metric), metric=metric)
for metric in ("dice", "sokalsneath"):
    case("pairwiseDistances", (F[1:], G[1:]), m.pairwise_distances(F[1:].astype(bool), G[1:].astype(bool), metric=metric), metric=metric)
for metric in ("linear", "rbf", "polynomial", "sigmoid", "laplacian", "cosine"):
    case("pairwiseKernels", (A, B), m.pairwise_kernels(A, B, metric=metric), metric=metric)
case("pairwiseKernels", (A, B), m.pairwise_kernels(A, B, metric="rbf", gamma=0.7), metric="rbf", gamma=0.7)
case("pairwiseKernels", (A, B), m.pairwise_kernels(A, B, metric="polynomial", gamma=0.7, coef0=0.5, degree=2), metric="polynomial", gamma=0.7, coef0=0.5, degree=2)
case("pairwiseKernels", (abs(A), abs(B)), m.pairwise_kernels(abs(A), abs(B), metric="chi2", gamma=0.4), metric="chi2", gamma=0.4)
case("pairwiseKernels", (abs(A),), m.pairwise_kernels(abs(A), metric="additive_chi2"), metric="additiveChi2")

report = m.classification_report(three, found, digits=3, output_dict=False).replace("f1-score", "      f1")
partial = m.classification_report(three, found, labels=[0, 2], target_names=["zero", "two"], digits=4).replace("f1-score", "      f1")
with open(os.path.join(os.path.dirname(__file__), "metrics-cases.json"), "w") as file:
    json.dump({"sets": sets, "cases": cases, "report": report, "partialReport": partial, "found": plain(found), "right": plain(three)}, file, separators=(",", ":"))
    file.write("\n")
