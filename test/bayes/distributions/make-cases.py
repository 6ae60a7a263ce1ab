#!/usr/bin/env python3
"""Makes cases.json: log densities, moments and probabilities of bins for the distributions of pumice/bayes.

From SciPy where it has the distribution, else from closed forms written out here with NumPy and mpmath. Infinite values and
NaN are strings. A case is {args, x, logDensity, mean?, variance?, bins?}; args are as users write them, a nested
distribution being {"distribution": name, "args": [...]}. Bins are edges of a linear functional of draws ("weights"; the
draw itself for numbers) and the probabilities of what lies between them.

    python3 test/bayes/distributions/make-cases.py     (written with SciPy 1.17, NumPy 2.4, mpmath 1.3)
"""
import json
import math
import pathlib

import mpmath
import numpy as np
from scipy import integrate, special, stats

cases = {}


def add(name, args, x, log_density, mean=None, variance=None, bins=None):
    case = {"args": args, "x": x, "logDensity": log_density}
    if mean is not None:
        case["mean"] = mean
    if variance is not None:
        case["variance"] = variance
    if bins is not None:
        case["bins"] = bins
    cases.setdefault(name, []).append(case)


def continuous_bins(dist, weights=None):
    edges = [float(q) for q in dist.ppf(np.linspace(0.05, 0.95, 19))]
    cdf = np.concatenate([[0], dist.cdf(edges), [1]])
    bins = {"edges": edges, "probabilities": list(np.diff(cdf))}
    return {**bins, "weights": weights} if weights is not None else bins


def discrete_bins(dist, weights=None):
    edges = sorted({float(q) + 0.5 for q in dist.ppf([0.001, 0.01, *np.linspace(0.05, 0.95, 19), 0.99, 0.999])})
    cdf = np.concatenate([[0], dist.cdf(edges), [1]])
    bins = {"edges": edges, "probabilities": list(np.diff(cdf))}
    return {**bins, "weights": weights} if weights is not None else bins


def scipy_case(name, args, x, dist, moments=True, outside=()):
    x = list(x) + list(outside)
    mean, variance = (float(v) for v in dist.stats("mv")) if moments else (None, None)
    add(name, args, x, list(dist.logpdf(x)), mean, variance, continuous_bins(dist))


def scipy_counts(name, args, x, dist, outside=()):
    x = list(x) + list(outside)
    mean, variance = (float(v) for v in dist.stats("mv"))
    add(name, args, x, list(dist.logpmf(x)), mean, variance, discrete_bins(dist))


line = [-7.5, -1.2, 0.0, 0.3, 4.75]
for loc, scale in [(0, 1), (0.5, 2), (-3, 0.04)]:
    scipy_case("normal", [loc, scale], line, stats.norm(loc, scale))
    scipy_case("cauchy", [loc, scale], line, stats.cauchy(loc, scale))
    scipy_case("laplace", [loc, scale], line, stats.laplace(loc, scale))
    scipy_case("logistic", [loc, scale], line, stats.logistic(loc, scale))
for loc, scale in [(0, 1), (0.5, 2), (-3, 0.4)]:
    scipy_case("gumbel", [loc, scale], line, stats.gumbel_r(loc, scale))
for freedom, loc, scale in [(1, 0, 1), (2.5, 0.5, 2), (300, -3, 0.4)]:
    scipy_case("studentT", [freedom, loc, scale], line, stats.t(freedom, loc, scale), moments=freedom > 2)

half = [0.0, 0.01, 0.7, 3, 12]
for scale in [1, 0.3, 40]:
    scipy_case("halfNormal", [scale], half, stats.halfnorm(scale=scale), outside=[-1])
    scipy_case("halfCauchy", [scale], half, stats.halfcauchy(scale=scale), moments=False, outside=[-1])


class HalfT:
    def __init__(self, freedom, scale):
        self.t = stats.t(freedom, 0, scale)

    def logpdf(self, x):
        return np.where(np.array(x) < 0, -np.inf, math.log(2) + self.t.logpdf(x))

    def cdf(self, x):
        return 2 * self.t.cdf(x) - 1

    def ppf(self, q):
        return self.t.ppf((1 + np.array(q)) / 2)

    def stats(self, _):
        moment = lambda n: integrate.quad(lambda x: x**n * 2 * self.t.pdf(x), 0, np.inf, epsabs=0, epsrel=1e-12)[0]
        return moment(1), moment(2) - moment(1) ** 2


for freedom, scale in [(3.5, 1), (7, 0.3), (40, 5)]:
    scipy_case("halfStudentT", [freedom, scale], half, HalfT(freedom, scale), outside=[-1])

plus = [0.001, 0.2, 1, 2.5, 9]
for mu, sigma in [(0, 1), (0.5, 0.3), (-1, 2)]:
    scipy_case("logNormal", [mu, sigma], plus, stats.lognorm(sigma, scale=math.exp(mu)), outside=[0, -1])
for rate in [1, 0.25, 30]:
    scipy_case("exponential", [rate], plus, stats.expon(scale=1 / rate), outside=[-1])
for a, b in [(1, 1), (0.3, 2), (25, 4)]:
    scipy_case("gamma", [a, b], plus, stats.gamma(a, scale=1 / b), outside=[-1])
for a, b in [(3, 1), (2.5, 2), (9, 12)]:
    scipy_case("inverseGamma", [a, b], plus, stats.invgamma(a, scale=b), outside=[-1])
for freedom in [1, 4, 11.5]:
    scipy_case("chiSquared", [freedom], plus, stats.chi2(freedom), outside=[-1])
for k, scale in [(1, 1), (0.7, 2), (4, 3)]:
    scipy_case("weibull", [k, scale], plus, stats.weibull_min(k, scale=scale), outside=[-1])
for b, least in [(3, 1), (2.5, 0.2), (7, 2)]:
    scipy_case("pareto", [b, least], [2.001, 2.2, 3, 8, 100], stats.pareto(b, scale=least), outside=[0.1])
for a, b in [(1, 1), (0.5, 2), (5, 5)]:
    scipy_case("beta", [a, b], [0.001, 0.2, 0.5, 0.97, 0.9999], stats.beta(a, b), outside=[-0.1, 1.5])
for low, high in [(0, 1), (-2, 5), (10, 10.5)]:
    inside = [low, low + 0.1 * (high - low), (low + high) / 2, high]
    scipy_case("uniform", [low, high], inside, stats.uniform(low, high - low), outside=[low - 1, high + 1])


def truncated(loc, scale, low, high):
    a = -np.inf if low is None else (low - loc) / scale
    b = np.inf if high is None else (high - loc) / scale
    dist = stats.truncnorm(a, b, loc=loc, scale=scale)
    bounds = {k: v for k, v in (("low", low), ("high", high)) if v is not None}
    start = low if low is not None else high - 4 * scale
    stop = high if high is not None else low + 4 * scale
    inside = [start + t * (stop - start) for t in (0.01, 0.3, 0.6, 0.99)]
    scipy_case("truncatedNormal", [loc, scale, bounds], inside, dist, outside=[start - 1] if low is not None else [])


truncated(0, 1, -1, 2)
truncated(1, 2, 0, None)
truncated(1, 2, None, -3)
truncated(0, 1, 4, 6)
truncated(0, 1, -5, -4)

for loc, kappa in [(0, 1), (1, 0.01), (-2, 30), (0.5, 500)]:
    x = [-3, -1.5, 0, 0.4, 3.1]
    dist = stats.vonmises(kappa, loc=loc)
    # Draws are angles from -π to π: probabilities of those, from the density.
    edges = list(np.linspace(-3, 3, 13)) if kappa < 100 else [loc + s / math.sqrt(kappa) for s in (-2, -1, -0.5, 0, 0.5, 1, 2)]
    around = [-math.pi, *edges, math.pi]
    wrapped = lambda t: float(mpmath.exp(kappa * mpmath.cos(t - loc)) / (2 * mpmath.pi * mpmath.besseli(0, kappa)))
    masses = [integrate.quad(wrapped, p, q, epsabs=1e-13)[0] for p, q in zip(around, around[1:])]
    add("vonMises", [loc, kappa], x, [float(kappa * mpmath.cos(t - loc) - mpmath.log(2 * mpmath.pi * mpmath.besseli(0, kappa))) for t in x],
        None, None, {"edges": edges, "probabilities": masses})

for p in [0.3, 0.999]:
    logit = float(special.logit(p))
    scipy_counts("bernoulli", [p], [0, 1], stats.bernoulli(p), outside=[2, 0.5])
    scipy_counts("bernoulliLogits", [logit], [0, 1], stats.bernoulli(float(special.expit(logit))), outside=[-1])
for n, p in [(1, 0.5), (12, 0.3), (40, 0.9), (200, 0.4)]:
    logit = float(special.logit(p))
    x = [0, 1, n // 2, n]
    scipy_counts("binomial", [n, p], x, stats.binom(n, p), outside=[-1, n + 1, 0.5])
    scipy_counts("binomialLogits", [n, logit], x, stats.binom(n, float(special.expit(logit))), outside=[n + 1])
scipy_counts("binomial", [5, 0], [0], stats.binom(5, 0))
for rate in [0.4, 7, 90]:
    scipy_counts("poisson", [rate], [0, 1, 8, 100], stats.poisson(rate), outside=[-1, 0.5])
    eta = math.log(rate)
    scipy_counts("poissonLog", [eta], [0, 1, 8, 100], stats.poisson(math.exp(eta)), outside=[-1])
for mean, phi in [(1, 1), (8, 0.5), (30, 20)]:
    scipy_counts("negativeBinomial", [mean, phi], [0, 1, 8, 100], stats.nbinom(phi, phi / (phi + mean)), outside=[-1])
for p in [0.2, 0.75]:
    scipy_counts("geometric", [p], [0, 1, 5], stats.geom(p, loc=-1), outside=[-1])

weights = [0.1, 0.6, 0.3]
add("categorical", [weights], [0, 1, 2, 3, -1], [math.log(p) for p in weights] + [-math.inf] * 2, None, None,
    {"edges": [0.5, 1.5], "probabilities": weights})
logits = [0.5, -1, 2, 0]
p = special.softmax(logits)
add("categoricalLogits", [logits], [0, 1, 2, 3, 4], [float(math.log(q)) for q in p] + [-math.inf], None, None,
    {"edges": [0.5, 1.5, 2.5], "probabilities": list(p)})

for n, w in [(5, weights), (40, [0.25, 0.05, 0.5, 0.2])]:
    dist = stats.multinomial(n, w)
    x = [[int(c) for c in dist.rvs(random_state=s)[0]] for s in range(3)]
    first = [1] + [0] * (len(w) - 1)
    pair = [0, 1, 1] + [0] * (len(w) - 3)
    for functional, q in ((first, w[0]), (pair, w[1] + w[2])):
        add("multinomial", [n, w], x + [[n + 1] + [0] * (len(w) - 1)], list(dist.logpmf(x)) + [-math.inf],
            [n * v for v in w], [n * v * (1 - v) for v in w], discrete_bins(stats.binom(n, q), functional))

for alpha in [[1, 1, 1], [0.5, 2, 7.5, 1.2]]:
    dist = stats.dirichlet(alpha)
    x = [list(v) for v in dist.rvs(3, random_state=1)]
    total = sum(alpha)
    for k in (0, len(alpha) - 1):
        add("dirichlet", [alpha], x, [float(dist.logpdf(np.array(v) / sum(v))) for v in x], list(dist.mean()), list(dist.var()),
            continuous_bins(stats.beta(alpha[k], total - alpha[k]), [float(i == k) for i in range(len(alpha))]))

rng = np.random.default_rng(7)
for n in (1, 2, 5):
    root = rng.normal(size=(n, n)) / 2 + np.eye(n)
    covariance = root @ root.T
    mean = rng.normal(size=n)
    x = rng.normal(size=(4, n))
    dist = stats.multivariate_normal(mean, covariance)
    log_density = [float(v) for v in np.atleast_1d(dist.logpdf(x))]
    w = rng.normal(size=n)
    bins = continuous_bins(stats.norm(w @ mean, math.sqrt(w @ covariance @ w)), list(w))
    for spread in ({"covariance": covariance.tolist()}, {"cholesky": np.linalg.cholesky(covariance).tolist()},
                   {"precision": np.linalg.inv(covariance).tolist()}):
        add("mvNormal", [mean.tolist(), spread], x.tolist(), log_density, mean.tolist(), np.diag(covariance).tolist(), bins)


def lkj_log_volume(n, eta):
    """∫ det(R)^(η-1) dR over correlation matrices (Lewandowski et al. 2009, theorem 5; Joe 2006)."""
    total = mpmath.mpf(0)
    for k in range(1, n):
        total += (2 * eta - 2 + n - k) * (n - k) * mpmath.log(2)
        b = eta + mpmath.mpf(n - k - 1) / 2
        total += (n - k) * mpmath.log(mpmath.beta(b, b))
    return total


# The volume of 3×3 correlation matrices is known to be π²/2.
assert abs(lkj_log_volume(3, 1) - mpmath.log(mpmath.pi**2 / 2)) < 1e-14
for n, eta in [(2, 1), (2, 3.5), (3, 1), (4, 2)]:
    x, log_density = [], []
    for _ in range(3):
        factor = np.tril(rng.normal(size=(n, n)))
        factor[np.diag_indices(n)] = np.abs(np.diag(factor)) + 0.1
        factor /= np.linalg.norm(factor, axis=1, keepdims=True)
        # p(L) = det(R)^(η-1) |∂R/∂L| / volume, with the Jacobian by brute force.
        place = [(i, j) for i in range(n) for j in range(i)]

        def corr(lower):
            matrix = np.eye(n)
            for (i, j), value in zip(place, lower):
                matrix[i, j] = value
            for i in range(n):
                matrix[i, i] = math.sqrt(1 - sum(matrix[i, :i] ** 2))
            product = matrix @ matrix.T
            return np.array([product[i, j] for i, j in place])

        at = np.array([factor[i, j] for i, j in place])
        step = 1e-6
        jacobian = np.array([(corr(at + step * e) - corr(at - step * e)) / (2 * step) for e in np.eye(len(at))])
        value = (eta - 1) * np.log(np.linalg.det(factor @ factor.T)) + np.linalg.slogdet(jacobian)[1] - float(lkj_log_volume(n, eta))
        x.append(factor.tolist())
        log_density.append(float(value))
    b = eta + (n - 2) / 2
    marginal = stats.beta(b, b, loc=-1, scale=2)
    pick = np.zeros((n, n))
    pick[n - 1, 0] = 1
    add("lkjCholesky", [n, eta], x, log_density, None, None, continuous_bins(marginal, pick.flatten().tolist()))


class Mix:
    def __init__(self, weights, parts):
        self.weights, self.parts = weights, parts

    def logpdf(self, x):
        return special.logsumexp([np.log(w) + p.logpdf(x) for w, p in zip(self.weights, self.parts)], axis=0)

    def cdf(self, x):
        return sum(w * p.cdf(x) for w, p in zip(self.weights, self.parts))

    def ppf(self, q):
        from scipy.optimize import brentq
        return np.array([brentq(lambda t: self.cdf(t) - v, -60, 60, xtol=1e-12) for v in q])


def nested(name, *args):
    return {"distribution": name, "args": list(args)}


mix = Mix([0.2, 0.5, 0.3], [stats.norm(-3, 0.5), stats.cauchy(1, 2), stats.norm(4, 1)])
parts = [nested("normal", -3, 0.5), nested("cauchy", 1, 2), nested("normal", 4, 1)]
x = [-30, -3, 0, 1, 4.5, 60]
add("mixture", [[0.2, 0.5, 0.3], parts], x, list(mix.logpdf(x)), None, None, continuous_bins(mix))
add("mixtureLogits", [[math.log(0.2) + 1, math.log(0.5) + 1, math.log(0.3) + 1], parts], x, list(mix.logpdf(x)), None, None,
    continuous_bins(mix))
same = Mix([0.25, 0.75], [stats.norm(-1, 0.5), stats.norm(2, 3)])
one = nested("normal", [-1, 2], [0.5, 3])
add("mixture", [[0.25, 0.75], one], x, list(same.logpdf(x)), None, None, continuous_bins(same))
add("mixtureLogits", [[0, math.log(3)], one], x, list(same.logpdf(x)), None, None, continuous_bins(same))
union = Mix([0.4, 0.6], [stats.expon(scale=2), stats.uniform(-1, 2)])
add("mixture", [[0.4, 0.6], [nested("exponential", 0.5), nested("uniform", -1, 1)]], [-2, -0.5, 0.5, 1.5],
    list(union.logpdf([-2, -0.5, 0.5, 1.5])), None, None, continuous_bins(union))

bases = {
    "normal": ([0.5, 2], stats.norm(0.5, 2)),
    "logNormal": ([0.5, 0.8], stats.lognorm(0.8, scale=math.exp(0.5))),
    "cauchy": ([0.5, 2], stats.cauchy(0.5, 2)),
    "laplace": ([0.5, 2], stats.laplace(0.5, 2)),
    "logistic": ([0.5, 2], stats.logistic(0.5, 2)),
    "gumbel": ([0.5, 2], stats.gumbel_r(0.5, 2)),
    "exponential": ([0.5], stats.expon(scale=2)),
    "weibull": ([1.5, 2], stats.weibull_min(1.5, scale=2)),
    "pareto": ([1.5, 0.2], stats.pareto(1.5, scale=0.2)),
    "uniform": ([-1, 4], stats.uniform(-1, 5)),
}
for name, (args, dist) in bases.items():
    low, high = 0.4, 2.7
    inside = [0.5, 1.1, 2.6]
    log_density = [float(dist.logcdf(low)), *dist.logpdf(inside), float(dist.logsf(high)), -math.inf]
    edges = [0.41, 1, 1.5, 2, 2.69]
    cdf = [0, *dist.cdf(edges), 1]
    add("censored", [nested(name, *args), {"low": low, "high": high}], [low, *inside, high, 0.3], log_density, None, None,
        {"edges": edges, "probabilities": list(np.diff(cdf))})
far = stats.norm(0, 1)
add("censored", [nested("normal", 0, 1), {"low": -30}], [-30, 0], [float(far.logcdf(-30)), float(far.logpdf(0))])
add("censored", [nested("normal", 0, 1), {"high": 12}], [12, 0], [float(far.logsf(12)), float(far.logpdf(0))])

for scale, drift, steps, start in [(0.5, 0, 4, None), (2, 0.3, 5, (1, 3)), (1, 0, 1, None)]:
    x = rng.normal(size=(3, steps))
    loc0, scale0 = start or (0, scale)
    log_density = [float(stats.norm(loc0, scale0).logpdf(v[0]) + stats.norm(drift, scale).logpdf(np.diff(v)).sum()) for v in x]
    last = stats.norm(loc0 + drift * (steps - 1), math.sqrt(scale0**2 + scale**2 * (steps - 1)))
    options = {"steps": steps, "drift": drift}
    if start:
        options["start"] = nested("normal", *start)
    add("gaussianRandomWalk", [scale, options], x.tolist(), log_density, None, None,
        continuous_bins(last, [0] * (steps - 1) + [1]))

for phi, scale, intercept, steps, start in [([0.7], 0.5, 0, 6, None), ([0.5, -0.3, 0.2], 2, 1.5, 7, (1, 3))]:
    x = rng.normal(size=(3, steps))
    p = len(phi)
    loc0, scale0 = start or (0, scale)
    log_density = []
    for v in x:
        total = stats.norm(loc0, scale0).logpdf(v[:p]).sum()
        for t in range(p, steps):
            total += stats.norm(intercept + sum(phi[i] * v[t - 1 - i] for i in range(p)), scale).logpdf(v[t])
        log_density.append(float(total))
    # x is linear in independent normal numbers: its mean and covariance by the recursion.
    mean, load = np.zeros(steps), np.zeros((steps, steps))
    for t in range(steps):
        if t < p:
            mean[t], load[t, t] = loc0, scale0
        else:
            mean[t] = intercept + sum(phi[i] * mean[t - 1 - i] for i in range(p))
            load[t] = sum(phi[i] * load[t - 1 - i] for i in range(p))
            load[t, t] = scale
    w = rng.normal(size=steps)
    options = {"steps": steps, "intercept": intercept}
    if start:
        options["start"] = nested("normal", *start)
    add("ar", [phi, scale, options], x.tolist(), log_density, None, None,
        continuous_bins(stats.norm(w @ mean, np.linalg.norm(w @ load)), w.tolist()))

for n, a, b in [(1, 1, 1), (12, 0.5, 3), (40, 6, 2), (7, 400, 300)]:
    scipy_counts("betaBinomial", [n, a, b], [0, 1, n // 2, n], stats.betabinom(n, a, b), outside=[-1, n + 1, 0.5])

for loc, scale, slant in [(0, 1, 0), (0.5, 2, 3), (-3, 0.4, -8), (1, 1, 0.3)]:
    dist = stats.skewnorm(slant, loc, scale)
    # SciPy's logpdf is inaccurate in the far tail of a large slant: the density by 40 digits.
    with mpmath.workdps(40):
        z = [(mpmath.mpf(v) - loc) / scale for v in line]
        log_density = [float(mpmath.log(2) - mpmath.log(scale) + mpmath.log(mpmath.npdf(t)) + mpmath.log(mpmath.ncdf(slant * t))) for t in z]
    mean, variance = (float(v) for v in dist.stats("mv"))
    add("skewNormal", [loc, scale, slant], line, log_density, mean, variance, continuous_bins(dist))

for eta, cuts in [(0, [0]), (0.7, [-1, 0.5, 2]), (-3, [-0.1, 0, 0.1, 9]), (30, [-1, 1])]:
    with mpmath.workdps(60):
        upper = [1 / (1 + mpmath.exp(eta - mpmath.mpf(c))) for c in cuts] + [mpmath.mpf(1)]
        masses = [hi - lo for hi, lo in zip(upper, [mpmath.mpf(0)] + upper)]
        mean = sum(k * m for k, m in enumerate(masses))
        variance = sum((k - mean) ** 2 * m for k, m in enumerate(masses))
        log_density = [float(mpmath.log(m)) for m in masses]
    k = len(cuts)
    add("orderedLogistic", [eta, cuts], list(range(k + 1)) + [-1, k + 1, 0.5], log_density + [-math.inf] * 3, float(mean), float(variance),
        {"edges": [i + 0.5 for i in range(k)], "probabilities": [float(m) for m in masses]} if eta < 10 else None)

more = np.random.default_rng(11)
for n, freedom in [(1, 2.5), (2, 1.5), (3, 7), (4, 40.5)]:
    root = more.normal(size=(n, n)) / 2 + np.eye(n)
    scale = root @ root.T
    x = []
    for _ in range(3):
        factor = np.tril(more.normal(size=(n, n))) + 2 * np.eye(n)
        x.append((factor @ factor.T).tolist())
    w = more.normal(size=n)
    pick = np.outer(w, w).flatten().tolist()
    size = float(w @ scale @ w)
    crossed = np.outer(np.diag(scale), np.diag(scale))
    direct, inverse = stats.wishart(freedom, scale), stats.invwishart(freedom, scale)
    # SciPy wants freedom ≥ n of Wishart matrices; the formula holds above n - 1.
    def log_wishart(v):
        v = np.atleast_2d(v)
        return float((freedom - n - 1) / 2 * np.linalg.slogdet(v)[1] - np.trace(np.linalg.solve(scale, v)) / 2 - freedom * n / 2 * math.log(2)
                     - freedom / 2 * np.linalg.slogdet(scale)[1] - special.multigammaln(freedom / 2, n))
    if freedom >= n:
        assert abs(log_wishart(x[0]) - float(direct.logpdf(np.array(x[0])))) < 1e-9
    crooked = [[1.0, 2.0], [2.0, 1.0]] if n == 2 else None
    outside = [crooked] if crooked else []
    add("wishart", [freedom, scale.tolist()], x + outside, [log_wishart(v) for v in x] + [-math.inf] * len(outside),
        (freedom * scale).tolist(), (freedom * (scale**2 + crossed)).tolist(), continuous_bins(stats.chi2(freedom, scale=size), pick))
    excess = freedom - n - 1
    mean = (scale / excess).tolist() if excess > 0 else None
    variance = (((excess + 2) * scale**2 + excess * crossed) / ((excess + 1) * excess**2 * (excess - 2))).tolist() if excess > 2 else None
    def log_inverse(v):
        v = np.atleast_2d(v)
        return float(-(freedom + n + 1) / 2 * np.linalg.slogdet(v)[1] - np.trace(scale @ np.linalg.inv(v)) / 2 - freedom * n / 2 * math.log(2)
                     + freedom / 2 * np.linalg.slogdet(scale)[1] - special.multigammaln(freedom / 2, n))
    if freedom >= n:
        assert abs(log_inverse(x[0]) - float(inverse.logpdf(np.array(x[0])))) < 1e-9
    add("inverseWishart", [freedom, scale.tolist()], x + outside, [log_inverse(v) for v in x] + [-math.inf] * len(outside), mean, variance,
        continuous_bins(stats.invgamma((freedom - n + 1) / 2, scale=size / 2), pick))

for n, scale in [(2, 1), (4, 0.3), (40, 5)]:
    x = more.normal(size=(3, n)) * scale
    x -= x.mean(axis=1, keepdims=True)
    # Coordinates in an orthonormal basis of the vectors that sum to 0 are independent normal numbers.
    basis = np.linalg.svd(np.eye(n) - 1 / n)[0][:, : n - 1]
    log_density = [float(stats.norm(0, scale).logpdf(v @ basis).sum()) for v in x]
    w = more.normal(size=n)
    lone = float(np.linalg.norm(w - w.mean())) * scale
    off = [1.0] + [0.0] * (n - 1)
    add("zeroSumNormal", [n, scale], x.tolist() + [off], log_density + [-math.inf], [0.0] * n, [scale**2 * (1 - 1 / n)] * n,
        continuous_bins(stats.norm(0, lone), w.tolist()))


def hidden_paths(initial, moves, steps):
    """All paths of states with their log probabilities."""
    k = len(initial)
    for path in np.ndindex(*([k] * steps)):
        p = initial[path[0]] * np.prod([moves[a][b] for a, b in zip(path, path[1:])])
        if p > 0:
            yield path, math.log(p)


two = ([0.3, 0.7], [[0.9, 0.1], [0.25, 0.75]])
three = ([1, 0, 0], [[0.8, 0.2, 0], [0, 0.6, 0.4], [0.1, 0, 0.9]])
for (initial, moves), steps, parts, described in [
    (two, 1, [stats.norm(-1, 0.5), stats.norm(2, 1)], nested("normal", [-1, 2], [0.5, 1])),
    (two, 5, [stats.norm(-1, 0.5), stats.norm(2, 1)], nested("normal", [-1, 2], [0.5, 1])),
    (two, 4, [stats.norm(-1, 0.5), stats.cauchy(2, 1)], [nested("normal", -1, 0.5), nested("cauchy", 2, 1)]),
    (three, 6, [stats.norm(m, 1) for m in (-2, 0, 3)], nested("normal", [-2, 0, 3], 1)),
]:
    x = more.normal(size=(3, steps)) * 2
    log_density = [float(special.logsumexp([log + sum(parts[s].logpdf(value) for s, value in zip(path, v))
                                            for path, log in hidden_paths(initial, moves, steps)])) for v in x]
    last = np.array(initial) @ np.linalg.matrix_power(np.array(moves), steps - 1)
    add("hmm", [initial, moves, described, {"steps": steps}], x.tolist(), log_density, None, None,
        continuous_bins(Mix(list(last), parts), [0] * (steps - 1) + [1]))


def plain(value):
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(v) for v in value]
    if isinstance(value, (bool, str)) or value is None:
        return value
    number = float(value)
    if math.isnan(number):
        return "NaN"
    if math.isinf(number):
        return "Infinity" if number > 0 else "-Infinity"
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


lines = [f'  "{name}": [\n' + ",\n".join("    " + json.dumps(plain(case)) for case in group) + "\n  ]" for name, group in cases.items()]
target = pathlib.Path(__file__).with_name("cases.json")
target.write_text("{\n" + ",\n".join(lines) + "\n}\n")
print(target, sum(len(group) for group in cases.values()), "cases")
