"""Writes stats-cases.json: SciPy 1.10's moments and tests. Run: python3 make-stats-cases.py"""
import json
import warnings
import numpy as np
from scipy import stats

warnings.simplefilter("ignore")
rng = np.random.default_rng(7)
cases = []


def plain(value):
    value = np.asarray(value, dtype=float)
    return [None if np.isnan(v) else str(v).replace("inf", "Infinity") if np.isinf(v) else float(v) for v in np.atleast_1d(value).ravel()]


def add(name, args, options, want):
    cases.append({"name": name, "args": args, "options": options, "want": want})


def test(name, args, options, result, statistic=None):
    found = result.statistic if statistic is None else statistic
    add(name, args, options, {"statistic": plain(found), "pValue": plain(result.pvalue)})


def lists(*samples):
    return [np.asarray(s).tolist() for s in samples]


SIDES = {"twoSided": "two-sided", "less": "less", "greater": "greater"}
normal = np.round(rng.normal(2, 3, 25), 3)
other = np.round(0.5 * normal + rng.normal(0, 2, 25), 3)
table = np.round(rng.normal(0, 1, (9, 3)), 3)
shifted = np.round(rng.normal(0.7, 2, (7, 3)), 3)
coarse = rng.integers(0, 5, 30).astype(float)
coarser = (coarse + rng.integers(0, 4, 30)).astype(float)
constant = [0.1] * 6
few = [3.0, 1.0, 2.5]
wide = np.round(rng.standard_cauchy(40) * 100, 2)
large = 1e6 + np.round(rng.normal(0, 1, 16) * 8) / 8  # sums are exact

for x in [normal, table, coarse, few, wide, constant]:
    x = np.asarray(x)
    for k in [1, 2, 3, 4, 5]:
        add("moment", [x.tolist(), k], {}, plain(stats.moment(x, k)))
    for bias in [True, False]:
        add("skew", lists(x), {"bias": bias}, plain(stats.skew(x, bias=bias)))
        for excess in [True, False]:
            add("kurtosis", lists(x), {"bias": bias, "excess": excess}, plain(stats.kurtosis(x, bias=bias, fisher=excess)))
    add("zscore", lists(x), {}, plain(stats.zscore(x)))
    add("zscore", lists(x), {"correction": 1}, plain(stats.zscore(x, ddof=1)))
    add("sem", lists(x), {}, plain(stats.sem(x)))
    add("iqr", lists(x), {}, plain(stats.iqr(x, axis=0)))
    for share in [0, 0.1, 0.3]:
        add("trimmedMean", lists(x), {"share": share}, plain(stats.trim_mean(x, share)))
    d = stats.describe(x)
    add("describe", lists(x), {}, {"min": plain(d.minmax[0]), "max": plain(d.minmax[1]), "mean": plain(d.mean),
                                   "variance": plain(d.variance), "skew": plain(d.skewness), "kurtosis": plain(d.kurtosis)})
add("moment", [table.tolist(), 3], {"axis": 1}, plain(stats.moment(table, 3, axis=1)))
add("zscore", lists(table), {"axis": 1}, plain(stats.zscore(table, axis=1)))
add("entropy", lists([3, 0, 5, 1]), {"base": 2}, plain(stats.entropy([3, 0, 5, 1], base=2)))
add("entropy", lists(np.abs(table)), {}, plain(stats.entropy(np.abs(table))))

for alternative, said in SIDES.items():
    on = {"alternative": alternative}
    for x in [normal, table, few, large]:
        for mean in [0, 1.5, 1e6]:
            test("tTest", lists(x), {**on, "mean": mean}, stats.ttest_1samp(x, mean, alternative=said))
    test("tTest", lists([0.5] * 6), on, stats.ttest_1samp([0.5] * 6, 0, alternative=said))
    test("tTestPaired", lists(normal, other), on, stats.ttest_rel(normal, other, alternative=said))
    test("tTestPaired", lists(table[:7], shifted), on, stats.ttest_rel(table[:7], shifted, alternative=said))
    for equal in [True, False]:
        for x, y in [(normal, few), (table, shifted), (coarse, normal), (wide, coarse)]:
            r = stats.ttest_ind(x, y, equal_var=equal, alternative=said)
            test("tTestIndependent", lists(x, y), {**on, "equalVariances": equal}, r)
    for x, y in [(normal, other), (coarse, coarser), (few, [1.0, 5.0, 3.0]), (large, normal[:16]), ([1, 2], [5, 4])]:
        test("pearson", lists(x, y), on, stats.pearsonr(x, y, alternative=said))
    for x, y in [(normal, other), (coarse, coarser), (few, [1.0, 5.0, 2.0]), (normal, np.exp(normal)), (wide[:30], coarse)]:
        test("spearman", lists(x, y), on, stats.spearmanr(x, y, alternative=said))
    for x, y in [(normal, other), (coarse, coarser), (few, [1.0, 5.0, 2.0]), (normal, np.exp(normal)), (wide[:30], coarse),
                 (wide, np.sin(wide)), (normal[:2], other[:2]), (normal[:4], [1, 2, 4, 3])]:
        for method in ["auto", "asymptotic"]:
            if method == "asymptotic" and len(x) < 3:
                continue
            r = stats.kendalltau(x, y, method=method, alternative=said)
            test("kendall", lists(x, y), {**on, "method": method}, r)
    for x, y in [(normal, other), (coarse, coarser), (few, normal), (normal[:8], other[:8]), (wide, few), (normal, wide), (few, few)]:
        for continuity in [True, False]:
            r = stats.mannwhitneyu(x, y, use_continuity=continuity, alternative=said)
            test("mannWhitney", lists(x, y), {**on, "continuity": continuity}, r)
    test("mannWhitney", lists(normal[:20], wide[:11]), {**on, "method": "exact"},
         stats.mannwhitneyu(normal[:20], wide[:11], method="exact", alternative=said))
    test("mannWhitney", lists(table, shifted), {**on, "method": "asymptotic"},
         stats.mannwhitneyu(table, shifted, method="asymptotic", alternative=said))
    test("wilcoxon", lists(normal, other), on, stats.wilcoxon(normal, other, alternative=said))
    test("wilcoxon", lists(few), on, stats.wilcoxon(few, alternative=said))
    test("wilcoxon", lists(normal), on, stats.wilcoxon(normal, alternative=said))
    for continuity in [True, False]:
        for x in [coarse - 2, normal, coarse - coarser + 1, wide]:
            r = stats.wilcoxon(x, correction=continuity, method="approx", alternative=said)
            test("wilcoxon", lists(x), {**on, "continuity": continuity, "method": "asymptotic"}, r)
    for counts in [[[3, 1], [1, 3]], [[8, 2], [1, 5]], [[100, 3], [50, 30]], [[0, 5], [4, 0]], [[0, 0], [3, 4]], [[1000, 900], [800, 1100]]]:
        ratio, p = stats.fisher_exact(counts, alternative=said)
        add("fisherExact", [counts], on, {"statistic": plain(ratio), "pValue": plain(p)})

for counts in [[16, 18, 16, 14, 12, 12], [3, 900, 20], [5, 5]]:
    test("chiSquareTest", [counts], {}, stats.chisquare(counts))
test("chiSquareTest", [[16, 18, 16, 14, 12, 12]], {"expected": [16, 16, 16, 16, 16, 8], "fitted": 2},
     stats.chisquare([16, 18, 16, 14, 12, 12], [16, 16, 16, 16, 16, 8], ddof=2))
for counts in [[[10, 10, 20], [20, 20, 20]], [[12, 5], [3, 9]], [[7, 7], [8, 7]], [[100, 1, 30], [5, 60, 2], [9, 8, 7]], [[4, 5, 6]]]:
    for correction in [True, False]:
        r = stats.chi2_contingency(counts, correction=correction)
        add("contingencyTest", [counts], {"correction": correction},
            {"statistic": plain(r.statistic), "pValue": plain(r.pvalue), "degrees": plain(r.dof), "expected": plain(r.expected_freq)})

for groups in [[normal, other, few], [coarse, coarser], [table, shifted, table[:4] + 1], [wide, normal, coarse, few],
               [[1, 1, 1], [2, 2, 2]], [large, large + 1, large - 0.5]]:
    test("anova", [lists(*groups)], {}, stats.f_oneway(*groups))
    test("kruskal", [lists(*groups)], {}, stats.kruskal(*groups))
    if np.ndim(groups[0]) == 1 and len(groups[0]) > 3:
        for center, said in [("median", "median"), ("mean", "mean"), ("trimmed", "trimmed")]:
            test("levene", [lists(*groups)], {"center": center}, stats.levene(*groups, center=said))

with open("stats-cases.json", "w") as out:
    out.write("[\n" + ",\n".join(json.dumps(each) for each in cases) + "\n]\n")
print(len(cases))
