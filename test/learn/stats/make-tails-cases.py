"""Writes tails-cases.json: distribution functions in 340 digits, so that 1 - p keeps enough of them, by mpmath. Run: python3 make-tails-cases.py"""
import json
import mpmath as mp

mp.mp.dps = 340
f = mp.mpf


def lower_beta(a, b, x, rest):
    """I_x(a, b), by the series that has positive terms alone."""
    a, b, x, rest = map(f, (a, b, x, rest))
    if x == 0:
        return f(0)
    if x > rest:
        return 1 - lower_beta(b, a, rest, x)
    front = mp.exp(a * mp.log(x) + b * mp.log(rest) - mp.log(a) - mp.loggamma(a) - mp.loggamma(b) + mp.loggamma(a + b))
    total = term = f(1)
    n = 0
    while term > total * f(10) ** -mp.mp.dps:
        term *= (a + b + n) / (a + 1 + n) * x
        total += term
        n += 1
    return front * total


def gamma_p(a, x):
    """P(a, x), by the series that has positive terms alone."""
    a, x = f(a), f(x)
    total = term = f(1)
    n = 0
    while term > total * f(10) ** -mp.mp.dps:
        n += 1
        term *= x / (a + n)
        total += term
    return mp.exp(a * mp.log(x) - x - mp.loggamma(a + 1)) * total


def gamma_q(a, x):
    """Its complement."""
    return 1 - gamma_p(a, x)


def t_sf(t, df):
    t, df = f(t), f(df)
    share = lower_beta(df / 2, f(1) / 2, df / (df + t * t), t * t / (df + t * t)) / 2 if t else f(1) / 2
    return share if t >= 0 else 1 - share


def f_sf(x, m, n):
    x, m, n = f(x), f(m), f(n)
    return lower_beta(n / 2, m / 2, n / (n + m * x), m * x / (n + m * x)) if x > 0 else f(1)


def f_cdf(x, m, n):
    x, m, n = f(x), f(m), f(n)
    return lower_beta(m / 2, n / 2, m * x / (n + m * x), n / (n + m * x)) if x > 0 else f(0)


def kolmogorov(x):
    return 2 * sum((-1) ** (k - 1) * mp.exp(-2 * k * k * f(x) ** 2) for k in range(1, 300))


cases = []


def add(name, args, value):
    if value == 0 or abs(mp.log(abs(value))) < 690:
        cases.append({"name": name, "args": args, "want": float(value)})


normals = [-38, -30, -20, -8, -1.5, -0.1, 0, 0.3, 1, 3, 6, 12, 25, 37]
for x in normals:
    add("normalSf", [x], mp.erfc(f(x) / mp.sqrt(2)) / 2)
    add("normalCdf", [x], mp.erfc(-f(x) / mp.sqrt(2)) / 2)
for df in [0.5, 1, 2, 2.7, 5, 11.3, 30, 100, 997, 1e5]:
    for t in [-3, 0, 1e-8, 0.1, 0.7, 1, 1.0001, 2, 4, 10, 30] + ([1e3, 1e6] if df < 40 else []):
        add("tSf", [t, df], t_sf(t, df))
    add("tCdf", [-5, df], t_sf(5, df))
for df in [0.2, 1, 2, 3.5, 10, 60, 500, 1e4]:
    for share in [1e-8, 1e-3, 0.1, 0.5, 0.9, 1, 1.02, 1.1, 1.5, 2, 5, 20, 100]:
        x = df * share
        if x > 2e4 and share > 1.2:
            continue  # beyond floats
        add("chiSquareSf", [x, df], gamma_q(f(df) / 2, f(x) / 2))
        add("chiSquareCdf", [x, df], gamma_p(f(df) / 2, f(x) / 2))
for m, n in [(1, 1), (1, 2), (1, 20), (2, 7.5), (3, 3), (10, 4), (1, 5000), (5, 1000), (200, 3), (40, 40), (3000, 700)]:
    for x in [1e-10, 1e-3, 0.2, 0.8, 1, 1.1, 2, 5, 30, 1000]:
        add("fSf", [x, m, n], f_sf(x, m, n))
        add("fCdf", [x, m, n], f_cdf(x, m, n))
for x in [0.1, 0.3, 0.6, 0.8, 0.82, 0.83, 1, 1.5, 2, 4, 10, 18]:
    add("kolmogorovSf", [x], kolmogorov(x))
    add("kolmogorovCdf", [x], 1 - kolmogorov(x))
for a, b, x in [(0.5, 0.5, 0.25), (2, 3, 0.125), (30, 2, 0.75), (5, 5, 0.5)]:
    add("betainc", [a, b, x], lower_beta(a, b, x, 1 - x))
for a, x in [(0.5, 0.25), (3, 9), (100, 70)]:
    add("gammainc", [a, x], gamma_p(a, x))
    add("gammaincc", [a, x], gamma_q(a, x))

with open("tails-cases.json", "w") as out:
    out.write("[\n" + ",\n".join(json.dumps(each) for each in cases) + "\n]\n")
