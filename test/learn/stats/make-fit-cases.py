"""
Writes fit-cases.json: tests of Kolmogorov & Smirnov, and of Shapiro & Wilk. P values of two samples and of one side are SciPy 1.10's; those of
the two-sided distance of one sample come from Durbin's matrix in fractions, where SciPy has only some digits. SciPy's Shapiro & Wilk
reckons in 32 bits: here it is in doubles, and SciPy's is asked whether they agree. Run: python3 make-fit-cases.py
"""
import json
import warnings
from math import ceil, log, sqrt
import mpmath as mp
import numpy as np
from scipy import special, stats

warnings.simplefilter("ignore")
rng = np.random.default_rng(11)
SIDES = {"twoSided": "two-sided", "less": "less", "greater": "greater"}


def plain(value):
    return float(value)


mp.mp.dps = 60


def durbin(d, n):
    """P(D < d)."""
    d = mp.mpf(d)
    k = ceil(n * d)
    h = k - n * d
    m = 2 * k - 1
    H = np.array([[mp.mpf(1 if i - j + 1 >= 0 else 0) for j in range(m)] for i in range(m)])
    for i in range(m):
        H[i][0] -= h ** (i + 1)
        H[m - 1][i] -= h ** (m - i)
    H[m - 1][0] += max(mp.mpf(0), 2 * h - 1) ** m
    for i in range(m):
        for j in range(m):
            if i - j + 1 > 0:
                H[i][j] /= mp.factorial(i - j + 1)
    row = np.array([mp.mpf(int(j == k - 1)) for j in range(m)])
    for _ in range(n):
        row = row @ H
    return row[k - 1] * mp.factorial(n) / mp.mpf(n) ** n


distances = []
for n, d in [(1, "0.7"), (2, "0.3"), (5, "0.11"), (5, "0.25"), (5, "0.9"), (10, "0.2"), (10, "0.41"), (20, "0.15"), (20, "0.35"), (30, "0.1"),
             (30, "0.22"), (30, "0.4"), (200, "0.1"), (1000, "0.03")]:
    distances.append({"n": n, "d": float(d), "alternative": "twoSided", "want": float(1 - durbin(d, n)), "within": 1e-11})
for n, d in [(100, 0.05), (100, 0.12), (1000, 0.02), (1000, 0.08), (1300, 0.058), (5000, 0.012), (5000, 0.03), (100000, 0.004), (100000, 0.02)]:
    # In the middle SciPy has some digits; far in the tail it is right again.
    distances.append({"n": n, "d": d, "alternative": "twoSided", "want": stats.kstwo.sf(d, n), "within": 1e-9 if n <= 140 or n * d * d > 5 else 1e-5})
for n, d in [(1, 0.3), (4, 0.6), (20, 0.05), (20, 0.5), (150, 0.1), (1000, 0.03), (1000, 0.2), (10000, 0.02)]:
    distances.append({"n": n, "d": d, "alternative": "greater", "want": stats.ksone.sf(d, n), "within": 1e-10})

normal = np.round(rng.normal(0.1, 1.1, 30), 4)
other = np.round(rng.normal(0.5, 1, 22), 4)
large = np.round(rng.normal(0.02, 1, 400), 4)
ties = np.round(rng.normal(0, 1, 24), 0)
uniform = np.round(rng.uniform(size=9), 3)
one, two = [], []
for alternative, said in SIDES.items():
    for x, name in [(normal, "normal"), (other, "normal"), (large, "normal"), (uniform, "uniform"), ([0.3], "uniform")]:
        cdf = stats.norm.cdf if name == "normal" else stats.uniform.cdf
        for method, tells in [("auto", "exact"), ("asymptotic", "asymp")]:
            found = stats.kstest(x, cdf, alternative=said, method=tells)
            p = found.pvalue
            if alternative == "twoSided" and method == "auto" and len(x) > 140:
                p = 1 - durbin(float(found.statistic), len(x))
            if alternative != "twoSided" and method == "asymptotic":
                p = np.exp(-2 * len(x) * found.statistic**2)
            one.append({"x": list(map(float, x)), "distribution": name, "options": {"alternative": alternative, "method": method},
                        "statistic": plain(found.statistic), "pValue": plain(p)})
    for x, y in [(normal, other), (normal, normal[:30] + 1), (ties, other), (ties, ties[:12]), (large, normal), (uniform, [0.5]), (uniform, uniform)]:
        found = stats.ks_2samp(x, y, alternative=said)
        both = len(x) * len(y) / (len(x) + len(y))
        limit = stats.kstwobign.sf(found.statistic * sqrt(both)) if alternative == "twoSided" else np.exp(-2 * both * found.statistic**2)
        for method, p in [("auto", found.pvalue), ("asymptotic", limit)]:
            two.append({"x": list(map(float, x)), "y": list(map(float, y)), "options": {"alternative": alternative, "method": method},
                        "statistic": plain(found.statistic), "pValue": plain(p)})

# Samples too large for exact values, by a rule that the test follows, too.
many = (np.arange(12000) * 7919 % 12007) / 12007
few = ((np.arange(3000) * 104729 % 3001) / 3001) ** 1.05
wide = {}
for alternative, said in SIDES.items():
    found = stats.ks_2samp(many, few, alternative=said)
    wide[alternative] = {"statistic": plain(found.statistic), "pValue": plain(found.pvalue)}


def swilk(x):
    """Royston's AS R94, in doubles."""
    x = np.sort(np.asarray(x, dtype=float))
    n = len(x)
    m = special.ndtri((np.arange(1, n + 1) - 0.375) / (n + 0.25))
    ss = np.sum(m**2)
    u = 1 / sqrt(n)
    a = np.empty(n)
    if n == 3:
        a[:] = [-sqrt(0.5), 0, sqrt(0.5)]
    else:
        last = np.polyval([-2.706056, 4.434685, -2.07119, -0.147981, 0.221157, 0], u) + m[-1] / sqrt(ss)
        if n > 5:
            before = np.polyval([-3.582633, 5.682633, -1.752461, -0.293762, 0.042981, 0], u) + m[-2] / sqrt(ss)
            a[:] = m / sqrt((ss - 2 * m[-1] ** 2 - 2 * m[-2] ** 2) / (1 - 2 * last**2 - 2 * before**2))
            a[-2], a[1] = before, -before
        else:
            a[:] = m / sqrt((ss - 2 * m[-1] ** 2) / (1 - 2 * last**2))
        a[-1], a[0] = last, -last
    w = np.sum(a * x) ** 2 / (np.sum(a**2) * np.sum((x - x.mean()) ** 2))
    if n == 3:
        return w, max(0, 6 / np.pi * (np.arcsin(sqrt(w)) - np.arcsin(sqrt(0.75))))
    y = log(1 - w)
    if n <= 11:
        gamma = 0.459 * n - 2.273
        if y >= gamma:
            return w, 0
        y = -log(gamma - y)
        mean = np.polyval([-6.714e-4, 0.025054, -0.39978, 0.544], n)
        sd = np.exp(np.polyval([-0.0020322, 0.062767, -0.77857, 1.3822], n))
    else:
        mean = np.polyval([0.0038915, -0.083751, -0.31082, -1.5861], log(n))
        sd = np.exp(np.polyval([0.0030302, -0.082676, -0.4803], log(n)))
    return w, stats.norm.sf((y - mean) / sd)


shapiro = []
for x in [[1.0, 2.0, 4.5], [0.0, 0.2, 1.0], normal[:4], normal[:5], normal[:6], normal[:11], normal[:12], normal, other, large, ties, np.exp(normal),
          [0, 0, 0, 0, 0, 100.0], 1000 + normal]:
    w, p = swilk(x)
    scipy_w, scipy_p = stats.shapiro(x)
    assert abs(w - scipy_w) < 2e-5 * w and abs(p - scipy_p) < 1e-4, (w, scipy_w, p, scipy_p)
    shapiro.append({"x": list(map(float, x)), "statistic": float(w), "pValue": float(p)})

with open("fit-cases.json", "w") as out:
    parts = {"distances": distances, "one": one, "two": two, "shapiro": shapiro}
    lines = [f'"{name}": [\n' + ",\n".join(json.dumps(each) for each in cases) + "\n]" for name, cases in parts.items()]
    out.write("{\n" + ",\n".join(lines) + ',\n"wide": ' + json.dumps(wide) + "\n}\n")
