"""Near-minimax polynomials with coefficients rounded to f32 or f64, for the math library.

`fit` solves weighted least squares on Chebyshev points in high precision and sharpens the result towards the minimax
polynomial by Lawson's reweighting (1961), which needs no sign pattern and so copes with any weight. Coefficients are
rounded one at a time, lowest power first, and the remaining ones are fitted again around the rounded value; this keeps
nearly all of the accuracy that rounding them all at the end would lose (a simple form of Brisebarre and Chevillard's
fpminimax, 2007).
"""
import struct

from mpmath import mp, mpf, cos, pi, matrix, lu_solve, log

mp.dps = 80


def round_to(x, kind):
    """x rounded to nearest f32 or f64, as an mpf; kind None leaves it alone."""
    if kind is None:
        return x
    d = float(x)  # mpf to float is correctly rounded
    if kind == "f64":
        return mpf(d)
    f = struct.unpack("f", struct.pack("f", d))[0]
    bits = struct.unpack("I", struct.pack("f", f))[0]
    near = [struct.unpack("f", struct.pack("I", b & 0xFFFFFFFF))[0] for b in (bits - 1, bits, bits + 1)]
    return min((mpf(c) for c in near), key=lambda c: abs(c - x))


def chebyshev_points(lo, hi, count):
    lo, hi = mpf(lo), mpf(hi)
    return [(lo + hi) / 2 - (hi - lo) / 2 * cos(pi * (2 * i + 1) / (2 * count)) for i in range(count)]


def least_squares(rows, values, weights):
    n = len(rows[0])
    a, b = matrix(n, n), matrix(n, 1)
    for row, v, w in zip(rows, values, weights):
        for i in range(n):
            wi = w * row[i]
            b[i] += wi * v
            for j in range(i, n):
                a[i, j] += wi * row[j]
    for i in range(n):
        for j in range(i):
            a[i, j] = a[j, i]
    return list(lu_solve(a, b))


def fit(name, g, powers, lo, hi, kind, weight=lambda x: mpf(1), fixed=(), sharpen=5, show=True):
    """Minimises max |(g(x) - sum c_j x^powers[j]) weight(x)| on [lo, hi]; the leading coefficients may be given.

    Prints the coefficients as TypeScript numbers and the error reached, as a power of two.
    """
    powers, done = list(powers), [mpf(c) for c in fixed]
    points = chebyshev_points(lo, hi, 5 * len(powers) + 7)
    weights = [weight(x) for x in points]
    rows = [[x**p * w for p in powers] for x, w in zip(points, weights)]
    target = [g(x) * w for x, w in zip(points, weights)]
    importance = [mpf(1)] * len(points)
    while len(done) < len(powers):
        known = len(done)
        values = [t - sum(c * r for c, r in zip(done, row)) for t, row in zip(target, rows)]
        free = [row[known:] for row in rows]
        for _ in range(sharpen if known == len(fixed) else 2):
            c = least_squares(free, values, importance)
            errors = [abs(v - sum(ci * r for ci, r in zip(c, row))) for v, row in zip(values, free)]
            mean = sum(i * e for i, e in zip(importance, errors)) / sum(importance)
            importance = [i * (e / mean + mpf("0.02")) for i, e in zip(importance, errors)]
        c = least_squares(free, values, importance)
        done.append(round_to(c[0], kind))
    error = mpf(0)
    for x in chebyshev_points(lo, hi, 997):
        error = max(error, abs((g(x) - sum(c * x**p for c, p in zip(done, powers))) * weight(x)))
    if show:
        numbers = ", ".join(repr(float(c)) for c in done)
        reached = f"error 2^{float(log(error, 2)):.1f} on [{float(lo):.6g}, {float(hi):.6g}]"
        print(f"// {name} {kind}: {len(powers)} coefficients, {reached}\n[{numbers}]\n", flush=True)
    return done, error


def fit_quotient(name, g, terms, lo, hi, kind, weight=lambda x: mpf(1), rounds=12):
    """The same for p(x) / q(x), each of so many coefficients, the first of q being 1.

    p - g (q - 1) = g is linear in the coefficients; dividing by the q of the round before makes its error that of the quotient.
    The denominator is rounded first, and the numerator fitted again around it.
    """
    above, below = terms
    points = chebyshev_points(lo, hi, 60)
    q = [mpf(0)] * (below - 1)
    denominator = lambda x: 1 + sum(c * x ** (j + 1) for j, c in enumerate(q))
    importance, best = [mpf(1)] * len(points), None
    for _ in range(rounds):
        scales = [weight(x) / denominator(x) for x in points]
        rows = [
            [x**j * w for j in range(above)] + [-g(x) * x ** (j + 1) * w for j in range(below - 1)]
            for x, w in zip(points, scales)
        ]
        c = least_squares(rows, [g(x) * w for x, w in zip(points, scales)], importance)
        p, q = c[:above], c[above:]
        errors = [abs((sum(pj * x**j for j, pj in enumerate(p)) / denominator(x) - g(x)) * weight(x)) for x in points]
        worst = max(errors)
        if best is None or worst < best[0]:
            best = worst, q
        importance = [i * (e / worst + mpf("0.001")) for i, e in zip(importance, errors)]
        mean = sum(importance) / len(importance)
        importance = [i / mean for i in importance]
    q = [round_to(c, kind) for c in best[1]]
    scaled = lambda x: weight(x) / denominator(x)
    p, error = fit(name, lambda x: g(x) * denominator(x), range(above), lo, hi, kind, scaled)
    print(f"over\n[{', '.join(repr(float(c)) for c in [mpf(1)] + q)}]\n", flush=True)
    return p, q, error
