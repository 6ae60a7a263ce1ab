"""Solutions of equations by SciPy at its tightest, and integrals of samples: python3 make-integrate-cases.py"""
import json
import numpy as np
from scipy import integrate

def solved(f, y0, times, method="DOP853"):
    found = integrate.solve_ivp(f, [times[0], times[-1]], y0, method=method, rtol=1e-12, atol=1e-14, t_eval=times)
    assert found.success
    return {"y0": y0, "times": times, "y": [[float("%.13g" % v) for v in row] for row in found.y.T]}

def robertson(t, y):
    slow, back, fast = 0.04 * y[0], 1e4 * y[1] * y[2], 3e7 * y[1] ** 2
    return [back - slow, slow - back - fast, fast]

cases = {
    "lotkaVolterra": solved(lambda t, y: [y[0] * (0.55 - 0.028 * y[1]), y[1] * (0.024 * y[0] - 0.8)], [33, 6], [0, 1, 5, 20]),
    "forced": solved(lambda t, y: [y[1], np.cos(2 * t) - np.sin(y[0]) - 0.1 * y[1]], [0.5, 0], [0, 0.3, 4, 10]),
    "vanDerPol": solved(lambda t, y: [y[1], 1000 * (1 - y[0] ** 2) * y[1] - y[0]], [2, 0], [0, 500, 1000, 2000], "Radau"),
    "robertson": solved(robertson, [1, 0, 0], [0, 0.4, 40, 4e3, 4e6, 4e10], "Radau"),
}
random = np.random.default_rng(0)

def samples(n):
    x = np.cumsum(random.uniform(0.2, 1.5, n)).round(3)
    y = random.normal(size=(2, n)).round(3)
    sums = {
        "trapezoid": integrate.trapezoid(y, x),
        "simpson": integrate.simpson(y, x=x),
        "cumulativeTrapezoid": integrate.cumulative_trapezoid(y, x, initial=0),
        "cumulativeSimpson": integrate.cumulative_simpson(y, x=x, initial=0),  # SciPy 1.12 or later
    }
    return {"x": x.tolist(), "y": y.tolist(), **{name: value.ravel().tolist() for name, value in sums.items()}}

cases["samples"] = [samples(n) for n in (3, 6, 7)]
json.dump(cases, open("integrate-cases.json", "w"))
