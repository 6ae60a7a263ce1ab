"""Writes polygamma-cases.json: derivatives of trigamma by mpmath (https://mpmath.org) at 60 digits.

    python3 make-polygamma-cases.py > polygamma-cases.json

A row is [x, polygamma(2, x), polygamma(3, x), polygamma(4, x)]; every x is an f32. Left of zero are points between poles, and
not where a value crosses zero.
"""
import json
import random
import struct

import mpmath
from mpmath import mp, mpf

mp.dps = 60


def f32(x):
    return struct.unpack("f", struct.pack("f", x))[0]


rng = random.Random(19)
points = [0.5, 1, 2, 3, 10, 100, 1e-3, 1e4]
points += [rng.uniform(0, 1) for _ in range(12)] + [rng.uniform(1, 10) for _ in range(20)]
points += [10 ** rng.uniform(-4, 4) for _ in range(20)]
right = sorted({f32(x) for x in points})
left = [f32(x) for x in (-0.25, -0.75, -1.2, -2.8, -3.125, -0.001, -7.99, -20.3)]
rows = [[x, *(float(mpmath.psi(order, mpf(x))) for order in (2, 3, 4))] for x in [*left, *right]]
print("[\n" + ",\n".join("  " + json.dumps(row) for row in rows) + "\n]")
