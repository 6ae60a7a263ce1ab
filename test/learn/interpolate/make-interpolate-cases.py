"""SciPy's curves through points: python3 make-interpolate-cases.py"""
import json
import numpy as np
from scipy import interpolate as si

random = np.random.default_rng(3)
plain = lambda a: np.asarray(a).ravel().tolist()

def curve(name, made, at):
    """Values, two derivatives, and integrals between neighbouring places."""
    return {
        "name": name,
        "value": plain(made(at)),
        "first": plain(made(at, 1)),
        "second": plain(made(at, 2)),
        "integral": plain([made.integrate(a, b) for a, b in zip(at[:-1], at[1:])]),
    }

def case(n):
    x = np.cumsum(random.uniform(0.2, 1.5, n)).round(3)
    y = random.normal(size=(n, 2)).round(3)
    closed = np.concatenate([y[:-1], y[:1]])
    at = np.concatenate([[x[0] - 0.7, x[0], x[-1], x[-1] + 0.4], random.uniform(x[0], x[-1], 6), x[1:-1][:2]]).round(4)
    spline = lambda ends, values=y: si.CubicSpline(x, values, bc_type=ends)
    curves = [curve(ends, spline(ends), at) for ends in ("not-a-knot", "natural", "clamped")]
    # A column at a time: SciPy 1.10 gives columns of three periodic points one common slope.
    columns = [spline("periodic", column).c for column in closed.T]
    curves.append(curve("periodic", si.PPoly(np.stack(columns, -1), x, extrapolate="periodic"), at))
    curves.append(curve("given", spline(((1, [0.5, -1.0]), (2, [2.0, 0.25]))), at))
    curves.append(curve("mixed", spline(("not-a-knot", "natural")), at))
    curves.append(curve("pchip", si.PchipInterpolator(x, y), at))
    if n > 2:
        # Akima1DInterpolator gives NaN outside; its polynomials go on.
        curves.append(curve("akima", si.PPoly(si.Akima1DInterpolator(x, y).c, x), at))
    steps = {
        side: plain(si.interp1d(x, y, axis=0, kind=side, bounds_error=False, fill_value=(y[0], y[-1]))(at))
        for side in ("nearest", "previous", "next")
    }
    return {"x": x.tolist(), "y": y.tolist(), "closed": closed.tolist(), "at": at.tolist(), "curves": curves, "steps": steps}

def flat_and_steep():
    """Points with plateaus, a peak and steep ends: every branch of PCHIP and Akima."""
    x = np.array([0.0, 1, 1.5, 2, 3, 4, 4.2, 6, 7, 8])
    y = np.array([[10.0, 1, 1, 1, 5, 2, 2, 2, 2, 30]]).T
    at = np.linspace(0, 8, 33)
    akima = si.PPoly(si.Akima1DInterpolator(x, y).c, x)
    curves = [curve("pchip", si.PchipInterpolator(x, y), at), curve("akima", akima, at)]
    return {"x": x.tolist(), "y": y.tolist(), "at": at.tolist(), "curves": curves}

cases = {"curves": [case(n) for n in (2, 3, 4, 9)], "flat": flat_and_steep()}
json.dump(cases, open("interpolate-cases.json", "w"))
