"""Writes values.json: results of SciPy and LAPACK for small matrices. Run: python3 test/linalg/make-values.py"""

import json
from pathlib import Path

import numpy as np
import scipy.linalg as sl

rng = np.random.default_rng(14)


def plain(x):
    x = np.asarray(x)
    if np.iscomplexobj(x):
        return {"re": x.real.tolist(), "im": x.imag.tolist()}
    return x.tolist()


cases = []
for kind in ("real", "complex", "hilbert", "graded"):
    n = 6
    a = rng.standard_normal((n, n))
    if kind == "complex":
        a = a + 1j * rng.standard_normal((n, n))
    if kind == "hilbert":
        a = sl.hilbert(n)
    if kind == "graded":
        a = a * np.logspace(-6, 6, n)[:, None]
    b = rng.standard_normal((n, 2)) + (1j * rng.standard_normal((n, 2)) if kind == "complex" else 0)
    h = a @ a.conj().T + np.eye(n)
    factors, pivots = sl.lu_factor(a)
    sign, logabs = np.linalg.slogdet(a)
    small = a / max(1.0, np.abs(a).max()) * 3
    cases.append({
        "kind": kind,
        "a": plain(a),
        "b": plain(b),
        "h": plain(h),
        "small": plain(small),
        "eigvalsh": plain(sl.eigvalsh(h)),
        "eigvals": plain(np.sort_complex(sl.eigvals(a))),
        "sylvester": plain(sl.solve_sylvester(h, small[:2, :2], b)),
        "sqrtm": plain(sl.sqrtm(h)),
        "svdvals": plain(sl.svdvals(a)),
        "pinv": plain(sl.pinv(a)),
        "lstsq": plain(sl.lstsq(a[:, :4], b)[0]),
        "cholesky": plain(sl.cholesky(h, lower=True)),
        "lu": plain(factors),
        "pivots": pivots.tolist(),
        "solve": plain(sl.solve(a, b)),
        "inv": plain(sl.inv(h)),
        "sign": plain(sign),
        "logAbsDet": float(logabs),
        "expm": plain(sl.expm(small)),
        "power": plain(np.linalg.matrix_power(small, 5)),
        "norms": {str(order): float(np.linalg.norm(a, order)) for order in ("fro", 1, -1, np.inf, -np.inf)},
    })
Path(__file__).with_name("values.json").write_text(json.dumps(cases) + "\n")
