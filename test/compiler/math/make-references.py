"""Writes references.json: exact values of the math functions, computed with mpmath (https://mpmath.org) at 80 digits.

    python3 make-references.py > references.json

A number after it is how many random arguments each function gets; accuracy.test.ts asks for thousands in its long form.

A row is [x, result, fraction] or [x, y, result, fraction]: the result is the nearest double, and the exact value is the
result plus `fraction` times the spacing of floats there, so that errors can be measured to a thousandth of an ulp.
"f32" rows have f32 arguments, and results to be compared with f32; there are some only where JavaScript has no function
to compare with. "left" rows are f64, with negative arguments.
"""
import json
import math
import random
import struct
import sys

import mpmath
from mpmath import mp, mpf

mp.dps = 80
COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 150


def f32(x):
    try:
        return struct.unpack("f", struct.pack("f", x))[0]
    except OverflowError:
        return math.copysign(math.inf, x)


# Functions mpmath does not have by the same name, or not with the same behaviour.
def log_gamma(x):
    return mpmath.loggamma(x).real if x > 0 else mpmath.log(abs(mpmath.gamma(x)))


def inverse_erf(x):
    """Halley's method on erfc, because mpmath's own loses digits next to 1."""
    if x == 0:
        return x
    if x < 0:
        return -inverse_erf(-x)
    complement = 1 - x
    y = mpmath.erfinv(mpf(float(x))) if x < 0.999 else mpmath.sqrt(-mpmath.log(complement * mpmath.sqrt(mpmath.pi)))
    for _ in range(60):
        step = (complement - mpmath.erfc(y)) / (2 / mpmath.sqrt(mpmath.pi) * mpmath.exp(-y * y))
        y -= step / (1 + y * step)
        if abs(step) < abs(y) * mpf(10) ** -60:
            break
    return y


def scaled(rng, low, high, sign=True):
    """Uniform in the exponent, from 2^low to 2^high."""
    x = math.ldexp(1 + rng.random(), rng.randrange(low, high))
    return -x if sign and rng.random() < 0.5 else x


def uniform(low, high):
    return lambda rng: rng.uniform(low, high)


def logscale(low, high, sign=True):
    return lambda rng: scaled(rng, low, high, sign)


def near(*points):
    """Within a few thousand ulp, or a few percent, of one of the points."""

    def sample(rng):
        p = rng.choice(points)
        if rng.random() < 0.5:
            return p + (abs(p) or 1) * rng.uniform(-1, 1) * 2.0 ** rng.randrange(-45, -4)
        return p * (1 + rng.randrange(-50, 50) * 2.0**-52)

    return sample


def near_multiples_of_half_pi(rng):
    """The doubles nearest to k pi/2, for k of any size: the hardest arguments there are for range reduction."""
    k = rng.randrange(1, 2 ** rng.randrange(1, 1000))
    mp.prec = 2200
    x = float(k * mpmath.pi / 2)
    mp.dps = 80
    return x


# 6381956970095103 * 2^797 is 2^-61 from a multiple of pi/2 (Kahan and McDonald; Muller, Elementary Functions, ch. 11).
HARDEST_FOR_HALF_PI = 6381956970095103.0 * 2.0**797

TINY = [5e-324, -5e-324, 2.0**-1040 * 1.3, -(2.0**-1022), 2.0**-1022, 1e-300, -1e-200, 1e-30, -1e-17, 1e-8]

any_positive = logscale(-1074, 1023, False)
around_logs_zero = [any_positive, uniform(0.5, 2), near(1.0)]
angles = [uniform(-8, 8), logscale(-30, 1023), near_multiples_of_half_pi]
logistic = [uniform(-745, 40), uniform(-4, 4), uniform(-745, -700)]
next_to_one = lambda low: lambda rng: 1 - scaled(rng, low, -3, False)

# name: function, samplers, further points.
UNARY = {
    "exp": (
        mpmath.exp,
        [uniform(-745, 709.7), uniform(-2, 2), uniform(-745.1, -708)],
        [*TINY, 709.782712893384, -745.13],
    ),
    "exp2": (
        lambda x: mpf(2) ** x,
        [uniform(-1074, 1023.9), uniform(-2, 2), uniform(-1075, -1022)],
        [*TINY, 0.5, 10, -1074],
    ),
    "expm1": (
        mpmath.expm1,
        [uniform(-40, 709), uniform(-2, 2), logscale(-60, 2)],
        [*TINY, 36.7, 37.5, 17.3, -0.35, 0.35],
    ),
    "log": (mpmath.log, around_logs_zero, [5e-324, 2.0**-1030, 1.7e308, 2, 0.5]),
    "log2": (lambda x: mpmath.log(x) / mpmath.log(2), around_logs_zero, [5e-324, 8, 0.25]),
    "log10": (lambda x: mpmath.log(x) / mpmath.log(10), around_logs_zero, [5e-324, 1000, 1e22]),
    "log1p": (
        mpmath.log1p,
        [logscale(-60, 1023, False), uniform(-0.999, 1), near(-0.5, 0.4, -0.29)],
        [*TINY, -1 + 2.0**-53, 1e300],
    ),
    "sin": (mpmath.sin, angles, [*TINY, HARDEST_FOR_HALF_PI, 1e22]),
    "cos": (mpmath.cos, angles, [*TINY, HARDEST_FOR_HALF_PI, 1e22]),
    "tan": (mpmath.tan, angles, [*TINY, HARDEST_FOR_HALF_PI, 1e22]),
    "asin": (mpmath.asin, [uniform(-1, 1), near(0.5, 0.52), near(0.99)], [*TINY, 1, -1, 1 - 2.0**-53, 0.5]),
    "acos": (mpmath.acos, [uniform(-1, 1), near(0.5, -0.5), near(0.99, -0.99)], [*TINY, -1, 1 - 2.0**-53, 0.5, -0.5]),
    "atan": (mpmath.atan, [uniform(-3, 3), logscale(-60, 70), near(0.4142, 0.42, 1.0, 2.414)], [*TINY, 1, 1e300]),
    "sinh": (mpmath.sinh, [uniform(-710, 710), uniform(-2, 2), near(1.0, 1.4)], [*TINY, 710.4, 711]),
    "cosh": (mpmath.cosh, [uniform(-710, 710), uniform(-2, 2), uniform(4, 7)], [*TINY, 710.4]),
    "tanh": (mpmath.tanh, [uniform(-20, 20), uniform(-1, 1), near(0.55, 0.56)], [*TINY, 19.1, 30]),
    "asinh": (mpmath.asinh, [uniform(-3, 3), logscale(-30, 1023), near(1.1, 0.5)], [*TINY, 1e155, 2.0**500]),
    "acosh": (
        mpmath.acosh,
        [uniform(1, 2), logscale(0, 1023, False), near(1.0, 1.03)],
        [1 + 2.0**-52, 1.5, 2.0**500, 1.7e308],
    ),
    "atanh": (mpmath.atanh, [uniform(-1, 1), logscale(-40, -1), near(0.99, 0.12)], [*TINY, 1 - 2.0**-53, 0.5]),
    "sigmoid": (lambda x: 1 / (1 + mpmath.exp(-x)), logistic, [*TINY, 37, -0.19192885357076328]),
    "softplus": (lambda x: mpmath.log1p(mpmath.exp(x)), logistic, [*TINY, 800.5]),
    "erf": (mpmath.erf, [uniform(-6, 6), uniform(-1, 1), near(0.9)], [*TINY, 5.92, 3]),
    "erfc": (mpmath.erfc, [uniform(-6, 27), uniform(0, 2), near(0.5, 1.0, 26.5)], [*TINY, 27.2, -7, 26.6]),
    "erfInv": (inverse_erf, [uniform(-1, 1), next_to_one(-50), logscale(-40, -1)], [*TINY, 1 - 2.0**-53, 1 - 2.0**-30]),
    "lgamma": (
        log_gamma,
        [uniform(0, 10), logscale(-60, 1000, False), near(1.0, 2.0)],
        [5e-324, 0.5, 3, 1e-10, 2.5e305],
    ),
    "digamma": (
        mpmath.digamma,
        [uniform(0, 10), logscale(-60, 1000, False), near(1.4616321449683622, 1.0, 2.0)],
        [5e-308, 0.5, 3],
    ),
    "trigamma": (
        lambda x: mpmath.psi(1, x),
        [uniform(0, 10), logscale(-60, 1000, False), near(1.0, 2.0), uniform(-10, 0)],
        [5e-308, 0.5, 3, 1e160, -0.5, -1e-10],
    ),
    "cbrt": (
        lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)),
        [uniform(-30, 30), logscale(-1074, 1023), near(1.0)],
        [*TINY, 27, -8],
    ),
    "rsqrt": (
        lambda x: 1 / mpmath.sqrt(x),
        [uniform(0, 30), logscale(-1074, 1023, False), near(1.0, 4.0)],
        [*[abs(x) for x in TINY], 4, 9],
    ),
}


def power_near_ends(rng):
    """A base, and an exponent that takes it anywhere up to overflow or underflow."""
    x = scaled(rng, -1000, 1000, False) if rng.random() < 0.5 else rng.uniform(0.7, 1.42)
    return x, rng.uniform(-740, 709) / math.log(x)


BINARY = {
    "pow": (
        lambda x, y: x**y,
        [power_near_ends, lambda rng: (rng.uniform(0, 10), rng.uniform(-10, 10)), power_near_ends],
        [(1 + 2.0**-52, 2.0**58), (5e-324, 0.7), (0.98, 35e3), (-3.0, 5.0), (-2.5, -301.0), (10.0, -320.0), (2.0, 0.5)],
    ),
    "atan2": (
        lambda y, x: mpmath.atan2(y, x),
        [
            lambda rng: (rng.uniform(-3, 3), rng.uniform(-3, 3)),
            lambda rng: (scaled(rng, -1000, 1000), scaled(rng, -1000, 1000)),
            lambda rng: (lambda s: (s * rng.uniform(-2, 2), s))(scaled(rng, -1020, 1020)),
        ],
        [(5e-324, 1.0), (1.0, 5e-324), (1e-308, 1e10), (1.7e308, 1.7e308), (5e-324, -5e-324), (1e-300, -1.0)],
    ),
    "hypot": (
        lambda x, y: mpmath.sqrt(x**2 + y**2),
        [
            lambda rng: (rng.uniform(-3, 3), rng.uniform(-3, 3)),
            lambda rng: (scaled(rng, -1060, 1022), scaled(rng, -1060, 1022)),
            lambda rng: (lambda s: (s * rng.uniform(-2, 2), s))(scaled(rng, -1060, 1020)),
        ],
        [(3.0, 4.0), (5e-324, 5e-324), (1e308, 1e308), (3e-310, 4e-310)],
    ),
}

# Functions f32 is checked for against these values, with the arguments to sample.
F32 = {
    "erf": [uniform(-4, 4), logscale(-20, 2)],
    "erfc": [uniform(-4, 10), uniform(0.4, 2)],
    "erfInv": [uniform(-1, 1), next_to_one(-24)],
    "lgamma": [uniform(0, 10), logscale(-20, 100, False)],
    "digamma": [uniform(0, 10), logscale(-20, 100, False)],
    "trigamma": [uniform(0, 10), logscale(-20, 100, False), uniform(-10, 0)],
}


# Left of zero, between the poles: measured apart, since next to the zeros there only the absolute error is small.
LEFT = [uniform(-5, 0), uniform(-60, 0), logscale(-40, 4)]


def spacing(x, precision, lowest):
    if x == 0:
        return mpf(2) ** lowest
    exponent = math.frexp(x)[1] - precision
    return mpf(2) ** max(exponent, lowest)


def row(arguments, exact, precision, lowest):
    result = float(exact)
    if math.isinf(result):
        return [*arguments, result, 0]
    fraction = (exact - mpf(result)) / spacing(result, precision, lowest)
    return [*arguments, result, round(float(fraction), 4)]


def rows_of(function, points, precision, lowest):
    """Points outside the domain, where mpmath goes complex, are for the tests of special values."""
    values = [(p, function(*map(mpf, p))) for p in points]
    return [row(list(p), v, precision, lowest) for p, v in values if isinstance(v, mpf) and mpmath.isfinite(v)]


def number(x):
    """As short as it goes, and as the repository's formatter writes it."""
    # 1e999 is how JSON says infinity: every parser reads it so.
    if math.isinf(x):
        return "1e999" if x > 0 else "-1e999"
    if x == int(x) and abs(x) < 1e15 and not (x == 0 and math.copysign(1, x) < 0):
        return str(int(x))
    return repr(x).replace("e+", "e").replace("e-0", "e-")


def show(value, indent=""):
    """JSON with a row of numbers to a line."""
    if isinstance(value, dict):
        entries = [f'{indent}  "{key}": {show(entry, indent + "  ")}' for key, entry in value.items()]
        return "{\n" + ",\n".join(entries) + f"\n{indent}}}"
    rows = [f"{indent}  [{', '.join(map(number, row))}]" for row in value]
    return "[\n" + ",\n".join(rows) + f"\n{indent}]"


def main():
    rows = {"f64": {}, "f32": {}, "left": {}}
    for name, (function, samplers, extra) in UNARY.items():
        rng = random.Random(name)
        points = list(extra) + [samplers[i % len(samplers)](rng) for i in range(COUNT)]
        rows["f64"][name] = rows_of(function, [(x,) for x in points], 53, -1074)
    for name, (function, samplers, extra) in BINARY.items():
        rng = random.Random(name)
        points = list(extra) + [samplers[i % len(samplers)](rng) for i in range(COUNT)]
        rows["f64"][name] = rows_of(function, points, 53, -1074)
    for name, samplers in F32.items():
        rng = random.Random(name + " f32")
        points = [f32(samplers[i % len(samplers)](rng)) for i in range(COUNT)]
        points = [(x,) for x in points if name != "erfInv" or abs(x) < 1]
        rows["f32"][name] = rows_of(UNARY[name][0], points, 24, -149)

    for name in ("lgamma", "digamma"):
        rng = random.Random(name + " left")
        points = [(-abs(LEFT[i % len(LEFT)](rng)),) for i in range(COUNT)]
        rows["left"][name] = rows_of(UNARY[name][0], points, 53, -1074)
    print(show(rows))


main()
