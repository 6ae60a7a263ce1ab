"""Computes the coefficients of the math library (src/compiler/math) with mpmath; prints them as TypeScript numbers.

    python3 scripts/fit-math.py            all of them (some minutes)
    python3 scripts/fit-math.py exp tanh   those that serve the functions named

Each fit says what is approximated, in which variable, on which interval, and in which measure: weights turn the error
of the polynomial into the relative error of the function it serves. See minimax.py for the method.
"""
import sys

import mpmath
from minimax import fit, fit_quotient, round_to
from mpmath import (asin, atan, atanh, cbrt, cos, erf, erfc, exp, expm1, findroot, floor, log, log1p, loggamma, mp,
                    mpf, nint, pi, psi, sin, sinh, sqrt, tanh)

LN2 = log(mpf(2))
MARGIN = mpf("1.0002")


def near_exact_centre(g, kind, centre, step, count):
    """Of 2 count + 1 centres, the one where g is closest to a float: then rounding the constant term costs nothing."""
    bits = 23 if kind == "f32" else 52

    def distance(c):
        v = g(c)
        return abs(v - round_to(v, kind)) / mpf(2) ** (floor(log(abs(v), 2)) - bits)

    best = min((centre + j * step for j in range(-count, count + 1)), key=distance)
    print(f"// centre {float(best)!r}")
    return best


def fit_centred(name, g, terms, low, high, kind, centre, step, count, sharpen=5):
    m = near_exact_centre(g, kind, centre, step, count)
    around = lambda d: g(m + d)
    fit(name, around, range(terms), low - m, high - m, kind, lambda d: 1 / around(d), [round_to(g(m), kind)], sharpen)


def fit_odd(name, f, limit, terms32, terms64):
    """(f(x) - x) / x³ as a polynomial in z = x²."""
    for kind, terms in (("f32", terms32), ("f64", terms64)):
        g = lambda z: (f(sqrt(z)) - sqrt(z)) / (z * sqrt(z))
        fit(name, g, range(terms), 0, mpf(limit) ** 2, kind, lambda z: z * sqrt(z) / f(sqrt(z)))


def exponentials():
    h = LN2 / 2 * MARGIN
    q = lambda r: (expm1(r) - r) / r**2
    for kind, terms in (("f32", 5), ("f64", 10)):
        fit("exp", q, range(terms), -h, h, kind, lambda r: r * r / exp(r))
    for kind, terms in (("f32", 6), ("f64", 11)):
        fit("expm1", q, range(terms), -h, h, kind, lambda r: abs(r * r / expm1(r)))
    for kind, terms in (("f32", 5), ("f64", 10)):
        c = round_to(LN2, kind)
        g = lambda r: (mpf(2) ** r - 1 - r * c) / r**2
        fit("exp2", g, range(terms), -mpf("0.5"), mpf("0.5"), kind, lambda r: r * r / mpf(2) ** r)


def logarithms():
    low, high = sqrt(mpf("0.5")) - 1, sqrt(mpf(2)) - 1
    g = lambda f: (log1p(f) - f + f * f / 2) / f**3
    fit("log, in f", g, range(9), low, high, "f32", lambda f: abs(f**3 / log1p(f)))
    s = high / (2 + high)
    g = lambda z: (2 * atanh(sqrt(z)) - 2 * sqrt(z)) / (z * sqrt(z))
    fit("log, in s²", g, range(7), 0, s * s * mpf("1.0001"), "f64", lambda z: z / 2)


def powers():
    """Intervals of z, a short reciprocal for each, its logarithm in two parts, and the polynomial for what is left."""
    for kind, start, step, count, denominator, bits, terms in (
        ("f32", 0x3F355555, 0x100000, 8, 64, 16, 5),
        ("f64", 0x3FE75555, 0x10000, 16, 128, 41, 9),
    ):
        fraction, bias = (23, 127) if kind == "f32" else (20, 1023)
        value = lambda w: mpf(2) ** ((w >> fraction) - bias) * (1 + mpf(w & (2**fraction - 1)) / 2**fraction)
        reciprocals, low, high = [], mpf(0), mpf(0)
        for i in range(count):
            a, b = value(start + i * step), value(start + (i + 1) * step)
            candidates = [mpf(j) / denominator for j in range(denominator // 2, 2 * denominator)]
            c = mpf(1) if a < 1 < b else min(candidates, key=lambda c: max(abs(a * c - 1), abs(b * c - 1)))
            reciprocals.append(c)
            low, high = min(low, a * c - 1), max(high, b * c - 1)
        highs = [nint(-log(c) * 2**bits) / mpf(2) ** bits for c in reciprocals]
        print(f"// pow {kind}: reciprocals, high and low parts of minus their logarithms")
        print([float(c) for c in reciprocals], [float(h) for h in highs], sep="\n")
        print([float(-log(c) - h) for c, h in zip(reciprocals, highs)], "\n")
        g = lambda r: (log1p(r) - r + r * r / 2) / r**3
        fit("pow", g, range(terms), low, high, kind, lambda r: r * r)


def trigonometry():
    limit = pi / 4 * mpf("1.0001")
    for kind, terms in (("f32", 3), ("f64", 6)):
        g = lambda z: (sin(sqrt(z)) - sqrt(z)) / (z * sqrt(z))
        fit("sin", g, range(terms), 0, limit**2, kind, lambda z: z * sqrt(z) / sin(sqrt(z)))
        g = lambda z: (cos(sqrt(z)) - 1 + z / 2) / z**2
        fit("cos", g, range(terms), 0, limit**2, kind, lambda z: z * z / cos(sqrt(z)))
    fit_odd("atan", atan, sqrt(mpf("0.250025")), 6, 13)
    fit_odd("asin", asin, "0.5", 6, 13)


def hyperbolics():
    g = lambda z: (tanh(sqrt(z)) - sqrt(z)) / (z * sqrt(z))
    near = {"lo": 0, "hi": mpf("0.55") ** 2, "weight": lambda z: z * sqrt(z) / tanh(sqrt(z))}
    fit("tanh", g, range(5), kind="f32", **near)
    fit_quotient("tanh", g, (3, 4), kind="f64", **near)
    fit_odd("sinh", sinh, 1, 4, 7)


def cube_root():
    for kind, terms in (("f32", 4), ("f64", 5)):
        fit("cbrt", lambda x: 1 / cbrt(x), range(terms), sqrt(mpf("0.5")), sqrt(mpf(2)), kind, cbrt)


def error_functions():
    for kind, inner, outer, end in (("f32", 7, 7, 4), ("f64", 12, 19, 6)):
        start = round_to(mpf("0.9"), kind)
        g = lambda z: erf(sqrt(z)) / sqrt(z) - 1
        fit("erf, inner", g, range(inner), 0, start**2, kind, lambda z: sqrt(z) / erf(sqrt(z)))
        g = lambda d: log(erfc(start + d))
        fit("erf, outer", g, range(outer), 0, end - start, kind, lambda d: erfc(start + d))
    step = mpf(2) ** -15
    for kind, end, terms, centre in (("f32", "10.1", 10, "0.14"), ("f64", "27.3", 21, "0.11")):
        g = lambda t: exp((1 / t - 3) ** 2) * erfc(1 / t - 3) / t
        start = floor(mpf(centre) * 4096) / 4096
        fit_centred("erfc", g, terms, 1 / (mpf(end) + 3), 1 / mpf("3.75"), kind, start, step, 300)


def brain_floats():
    """For bf16, which a test goes through number by number: as few terms as leave no number rounded wrongly."""
    g = lambda z: erf(sqrt(z)) / sqrt(z) if z else 2 / sqrt(pi)
    end = mpf("2.203125")
    fit("erf of bf16", g, range(8), 0, end**2, "f32", lambda z: 1 / g(z), [round_to(2 / sqrt(pi), "f32")])


def inverse_erf_over_x(w):
    """erfInv(x) / x for w = -log(1 - x²), by Halley's method on erf or erfc."""
    if w == 0:
        return sqrt(pi) / 2
    x = sqrt(-expm1(-w))
    y = mpmath.erfinv(mpf(float(x))) if x < 1 - 1e-9 else sqrt(w) - log(sqrt(pi * w)) / (2 * sqrt(w))
    for _ in range(40):
        error = erf(y) - x if x < 0.5 else (1 - x) - erfc(y)
        step = error / (2 / sqrt(pi) * exp(-y * y))
        y -= step / (1 + y * step)
        if abs(step) < abs(y) * mpf(10) ** -50:
            break
    return y / x


def inverse_error_function():
    in_w, in_root = inverse_erf_over_x, lambda s: inverse_erf_over_x(s * s)
    step = mpf(2) ** -10
    root5 = sqrt(mpf(5)) * mpf("0.9999")
    fit_centred("erfInv, 1", in_w, 11, 0, mpf(5), "f32", mpf("2.5"), step, 60)
    fit_centred("erfInv, 2", in_root, 11, root5, mpf("4.02"), "f32", mpf(3), step, 60)
    fit_centred("erfInv, 1", in_w, 25, 0, mpf("6.25"), "f64", mpf("3.125"), step, 60)
    fit_centred("erfInv, 2", in_root, 21, mpf("2.5") * mpf("0.99999"), mpf(4), "f64", mpf("3.25"), step, 60)
    fit_centred("erfInv, 3", in_root, 20, mpf(4) * mpf("0.9999"), mpf("6.03"), "f64", mpf(5), step, 60)


def gamma_functions():
    mp.dps = 50
    root = findroot(lambda x: psi(0, x), mpf("1.4616"))
    step = mpf(2) ** -11
    lgamma = lambda x: loggamma(x).real
    stirling = lambda x: (x - mpf("0.5")) * (log(x) - 1) + log(2 * pi) / 2 - mpf("0.5")
    for kind, s_terms, d_terms, large, terms in (("f32", 10, 11, 4, 3), ("f64", 22, 23, 8, 6)):
        g = lambda y: lgamma(y) / ((y - 1) * (y - 2))
        fit_centred("lgamma, middle", g, s_terms, 1, 2, kind, mpf("1.5"), step, 80, 3)
        g = lambda y: psi(0, y) / (y - root)
        fit_centred("digamma, middle", g, d_terms, 1, 2, kind, mpf("1.5"), step, 80, 3)
        ends = (mpf("1e-8"), mpf(1) / large**2)
        g = lambda v: (lgamma(1 / sqrt(v)) - stirling(1 / sqrt(v))) / sqrt(v)
        fit("lgamma, large", g, range(terms), *ends, kind, lambda v: sqrt(v) / lgamma(1 / sqrt(v)), sharpen=3)
        g = lambda v: (-log(v) / 2 - sqrt(v) / 2 - psi(0, 1 / sqrt(v))) / v
        fit("digamma, large", g, range(terms), *ends, kind, lambda v: v / psi(0, 1 / sqrt(v)), sharpen=3)
    for kind, s_terms, c_terms in (("f32", 6, 5), ("f64", 9, 9)):
        g = lambda v: sin(pi * sqrt(v)) / (pi * sqrt(v))
        fit("sin(pi r) / (pi r)", g, range(s_terms), 0, mpf("0.25"), kind, lambda v: 1 / g(v), [1])
        h = lambda v: cos(pi * sqrt(v)) / (1 - 4 * v)
        fit("cos(pi r) / (1 - 4 r²)", h, range(c_terms), 0, mpf("0.25"), kind, lambda v: 1 / h(v), [1])


def trigamma_function():
    """psi'(y) (y + 1/2) in z = 1 / (y + 1/2), for all y from 1 on."""
    mp.dps = 50
    g = lambda z: psi(1, 1 / z - mpf("0.5")) / z
    for kind, terms in (("f32", 11), ("f64", 23)):
        fit("trigamma", g, range(terms), mpf("1e-8"), mpf(2) / 3, kind, lambda z: 1 / g(z), [1], sharpen=3)


def split(name, x, bits, to_integer=nint):
    """x in two parts, the high one a multiple of 2^-bits."""
    high = to_integer(x * mpf(2) ** bits) / mpf(2) ** bits
    print(f"// {name}: {float(high)!r}, {float(x - high)!r}")


def nearest_pair(name, x):
    for kind in ("f32", "f64"):
        high = round_to(x, kind)
        print(f"// {name} {kind}: {float(high)!r}, {float(round_to(x - high, kind))!r}")


def constants():
    split("ln 2, f32", LN2, 16, floor)
    split("ln 2, f64", LN2, 41, floor)
    for kind, bits2, bits10, bits_two in (("f32", 11, 13, 17), ("f64", 31, 33, 43)):
        split(f"1 / ln 2, {kind}", 1 / LN2, bits2)
        split(f"1 / ln 10, {kind}", 1 / log(mpf(10)), bits10)
        split(f"log10(2), {kind}", LN2 / log(mpf(10)), bits_two)
    nearest_pair("log(2 pi) / 2 - 1/2", log(2 * pi) / 2 - mpf("0.5"))
    nearest_pair("pi / 2", pi / 2)
    nearest_pair("3 pi / 4", 3 * pi / 4)
    nearest_pair("the root of digamma", findroot(lambda x: psi(0, x), mpf("1.4616")))
    mp.prec = 1400
    bits = int(floor(2 / pi * mpf(2) ** (32 * 37)))
    mp.dps = 80
    print("// 2 / pi:", ", ".join(f"0x{(bits >> (32 * (36 - i))) & 0xFFFFFFFF:08x}" for i in range(37)), "\n")


FITS = {
    "constants": constants,
    "exp exp2 expm1": exponentials,
    "log log2 log10 log1p": logarithms,
    "pow": powers,
    "sin cos tan asin acos atan atan2": trigonometry,
    "sinh cosh tanh": hyperbolics,
    "cbrt": cube_root,
    "erf erfc": error_functions,
    "bf16": brain_floats,
    "erfInv": inverse_error_function,
    "lgamma digamma": gamma_functions,
    "trigamma": trigamma_function,
}

wanted = sys.argv[1:]
for names, compute in FITS.items():
    if not wanted or any(word in names.split() for word in wanted):
        compute()
