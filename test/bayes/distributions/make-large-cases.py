#!/usr/bin/env python3
"""Makes large-cases.json: log densities where parameters are so large that the usual formulas cancel, with 60 digits by mpmath.

Arguments and values are rounded to f32 first, so that no error comes from them; those that are huge are for f64 alone and are
not. A case is {name, args, x, isHuge, logDensity, steps, gradient}: for each value the log density, and its derivatives by the arguments that may vary (null for the others). Steps
are about what one draw leaves unknown of an argument: gradients times these are what samplers see.

    python3 test/bayes/distributions/make-large-cases.py     (written with NumPy 2.4, mpmath 1.3)
"""
import json
import pathlib

import mpmath as mp
import numpy as np

mp.mp.dps = 60
log, lg = mp.log, mp.loggamma


def x_log(x, y):
    return mp.mpf(0) if x == 0 else x * log(y)


def binomial(x, n, p):
    return lg(n + 1) - lg(x + 1) - lg(n - x + 1) + x_log(x, p) + x_log(n - x, 1 - p)


def beta_binomial(x, n, a, b):
    whole = lg(n + 1) - lg(x + 1) - lg(n - x + 1)
    return whole + lg(x + a) + lg(n - x + b) - lg(n + a + b) - lg(a) - lg(b) + lg(a + b)


def gamma(x, a, b):
    return a * log(b) + (a - 1) * log(x) - b * x - lg(a)


def student(x, v, m, s):
    return lg((v + 1) / 2) - lg(v / 2) - log(v * mp.pi) / 2 - log(s) - (v + 1) / 2 * log(1 + ((x - m) / s) ** 2 / v)


def von_mises(x, m, k):
    # I0(k) exp(-k) by its asymptotic series, exact to 60 digits for the k below.
    series, term = mp.mpf(0), mp.mpf(1)
    for n in range(1, 40):
        series += term
        term *= mp.mpf(2 * n - 1) ** 2 / (n * 8 * k)
    return k * (mp.cos(x - m) - 1) - log(2 * mp.pi) - log(series / mp.sqrt(2 * mp.pi * k))


densities = {
    "poisson": lambda x, r: x_log(x, r) - r - lg(x + 1),
    "poissonLog": lambda x, r: x * r - mp.e**r - lg(x + 1),
    "binomial": binomial,
    "binomialLogits": lambda x, n, l: binomial(x, n, 1 / (1 + mp.e**-l)),
    "gamma": gamma,
    "inverseGamma": lambda x, a, s: a * log(s) - (a + 1) * log(x) - s / x - lg(a),
    "chiSquared": lambda x, v: gamma(x, v / 2, mp.mpf(1) / 2),
    "beta": lambda x, a, b: (a - 1) * log(x) + (b - 1) * log(1 - x) + lg(a + b) - lg(a) - lg(b),
    "negativeBinomial": lambda x, m, c: x * log(m / (m + c)) - c * log(1 + m / c) + lg(x + c) - lg(c) - lg(x + 1),
    "studentT": student,
    "vonMises": von_mises,
    "betaBinomial": beta_binomial,
}
whole = {"binomial": 1, "binomialLogits": 1, "betaBinomial": 1}

cases = [
    ("poisson", [1e6], [1000000, 999000, 1002000, 500000, 1]),
    ("poisson", [30], [0, 1, 7, 8, 30, 45, 1000]),
    ("poisson", [1e-4], [0, 3, 100]),
    ("poissonLog", [13.8], [990000, 980000, 0]),
    ("poissonLog", [-60], [0, 2]),
    ("binomial", [1e6, 0.001], [1000, 0, 1100, 950, 500000]),
    ("binomial", [1e6, 0.9999], [999900, 1000000, 999880]),
    ("binomial", [100, 0.3], [0, 1, 30, 99, 100]),
    ("binomialLogits", [1e6, -6.9], [1000, 0, 1100]),
    ("binomialLogits", [1e6, 9], [999900, 1000000, 999870]),
    ("gamma", [1e6, 1e3], [1000, 998, 1003, 500]),
    ("gamma", [50, 0.25], [200, 100, 1]),
    ("inverseGamma", [1e6, 1e6], [1, 1.002, 0.75]),
    ("chiSquared", [2e5], [200000, 199000, 300000]),
    ("beta", [1e4, 2e4], [0.3333, 0.34, 0.1]),
    ("beta", [3e5, 20], [0.9999, 0.99995]),
    ("negativeBinomial", [10, 1e8], [0, 10, 25]),
    ("negativeBinomial", [1e5, 3], [0, 90000, 300000]),
    ("negativeBinomial", [1e5, 1e6], [100000, 99000]),
    ("studentT", [1e6, 0, 1], [0, 1, -3]),
    ("studentT", [31, 0.5, 2], [0.5, 3]),
    ("studentT", [33, 0.5, 2], [0.5, 3]),
    ("vonMises", [0.5, 1e6], [0.5, 0.501, 0.4985]),
    ("betaBinomial", [1e6, 3, 500], [5000, 0, 12000, 900000]),
    ("betaBinomial", [1e5, 2e5, 6e5], [25000, 24000, 26500]),
    ("betaBinomial", [20, 1e6, 3e6], [0, 5, 20]),
]

huge = [
    ("poisson", [1e15], [1e15, 1e15 + 4e7, 9.9e14, 3]),
    ("poissonLog", [25], [72004899337, 72004600000, 7e10, 0]),
    ("binomial", [1e12, 0.3], [3e11, 3e11 + 7e5, 1e11]),
    ("binomial", [1e12, 1e-9], [1000, 0, 1100]),
    ("binomialLogits", [1e12, -3], [47425873178, 47426000000, 4e10]),
    ("gamma", [1e8, 1e4], [1e4, 9999, 10002, 5000]),
    ("gamma", [1e12, 1], [1e12, 1e12 + 1e6]),
    ("inverseGamma", [1e8, 1e8], [1, 1.0002, 0.75]),
    ("chiSquared", [2e10], [2e10, 2e10 - 3e5]),
    ("beta", [1e10, 2e10], [0.333333, 0.3333366, 0.1]),
    ("beta", [1e10, 3], [0.9999999997, 0.9999999999]),
    ("negativeBinomial", [10, 1e12], [0, 10, 25]),
    ("negativeBinomial", [1e9, 1e14], [1e9, 1e9 + 5e4]),
    ("negativeBinomial", [1e12, 5], [0, 9e11, 3e12]),
    ("studentT", [1e10, 0, 1], [0, 1, -3]),
    ("vonMises", [0.5, 1e12], [0.5, 0.500001, 0.4999985]),
    ("betaBinomial", [1e12, 5e9, 2e9], [714285714285, 714300000000, 7e11]),
    ("betaBinomial", [1e9, 2.5, 30], [0, 70000000, 1e9]),
]

f32 = lambda v: float(np.float32(v))
result = []
for is_huge, (name, args, xs) in [(False, case) for case in cases] + [(True, case) for case in huge]:
    if not is_huge:
        args, xs = [f32(a) for a in args], [f32(x) for x in xs]
    density = densities[name]
    exact = [mp.mpf(a) for a in args]
    steps = [max(1, abs(a)) ** 0.5 for a in args]
    if name == "binomial":
        steps[1] = (args[1] * (1 - args[1]) / args[0]) ** 0.5

    if is_huge and name == "poissonLog":
        steps[0] = float(mp.e ** (-exact[0] / 2))
    if is_huge and name == "binomialLogits":
        steps[1] = float(2 * mp.cosh(exact[1] / 2) / mp.sqrt(exact[0]))

    def slope(x, i):
        if i < whole.get(name, 0):
            return None
        step = mp.mpf(10) ** -25 * max(1, abs(exact[i]))
        moved = lambda by: density(x, *[a + by if j == i else a for j, a in enumerate(exact)])
        return float((moved(step) - moved(-step)) / (2 * step))

    result.append({
        "name": name,
        "args": args,
        "x": xs,
        "isHuge": is_huge,
        "logDensity": [float(density(mp.mpf(x), *exact)) for x in xs],
        "steps": steps,
        "gradient": [[slope(mp.mpf(x), i) for i in range(len(args))] for x in xs],
    })

target = pathlib.Path(__file__).with_name("large-cases.json")
target.write_text("[\n" + ",\n".join("  " + json.dumps(case) for case in result) + "\n]\n")
print(target, len(result), "cases")
