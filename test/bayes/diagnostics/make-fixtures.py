"""Writes fixtures/arviz.json: small draws, and what ArviZ (0.23) and SciPy say of them.

    python3 make-fixtures.py && npm run format
"""

import json
import pathlib
import warnings

import numpy as np

warnings.simplefilter("ignore")
import arviz as az
from arviz.stats.stats import _gpdfit
from scipy import optimize, stats

rng = np.random.default_rng(20240615)


def autoregressive(chains, draws, rho, sd=1.0):
    x = np.empty((chains, draws))
    x[:, 0] = rng.normal(size=chains)
    for t in range(1, draws):
        x[:, t] = rho * x[:, t - 1] + np.sqrt(1 - rho**2) * rng.normal(size=chains)
    return np.round(sd * x, 6)


def diagnostics(x):
    probabilities = [0.05, 0.1, 0.5, 0.9]
    return {
        "draws": x.tolist(),
        "essBulk": float(az.ess(x, method="bulk")),
        "essTail": float(az.ess(x, method="tail")),
        "essMean": float(az.ess(x, method="mean")),
        "essSd": float(az.ess(x, method="sd")),
        "essQuantile": [float(az.ess(x, method="quantile", prob=p)) for p in probabilities],
        "rHat": float(az.rhat(x, method="rank")),
        "mcseMean": float(az.mcse(x, method="mean")),
        "mcseSd": float(az.mcse(x, method="sd")),
        "mcseQuantile": [float(az.mcse(x, method="quantile", prob=p)) for p in probabilities],
        "quantiles": [float(q) for q in np.quantile(x, probabilities)],
        "probabilities": probabilities,
    }


cases = {
    "independent": autoregressive(4, 60, 0.0),
    "antithetic": autoregressive(4, 60, -0.6),
    "correlated": autoregressive(3, 150, 0.7, sd=1000.0),
    "slow": autoregressive(2, 300, 0.95),
    "odd number of draws": autoregressive(4, 61, 0.3),
    "counts with ties": np.floor(np.exp(autoregressive(4, 80, 0.2))),
    "heavy tails": np.round(np.tan(np.pi * stats.norm.cdf(autoregressive(4, 60, 0.4)) - np.pi / 2), 6),
    # Halves of 26 draws: where correlations stay positive to the end, ArviZ looks one lag further than Stan if they are odd.
    "chains apart": autoregressive(4, 52, 0.2) + np.array([[0.0], [0.0], [2.0], [0.5]]),
}
energy = 50 + autoregressive(4, 60, 0.5)

# Observations of which three are far out, under draws of their mean.
y = np.round(np.append(rng.normal(size=4), [4.0, -3.5, 8.0]), 3)
mu = rng.normal(y.mean(), 1 / np.sqrt(len(y)), size=(2, 100))
log_lik = np.round(stats.norm.logpdf(y, mu[..., None], 1.0), 6)
logs, k = az.psislw(-log_lik.reshape(-1, len(y)).T, reff=0.8)
elpd = np.logaddexp.reduce(logs + log_lik.reshape(-1, len(y)).T, axis=1)


def stacking(densities):
    """By a route of its own: minimise over softmax coordinates, from many starts."""
    n_models = densities.shape[0]

    def loss(u):
        w = np.exp(np.append(u, 0) - np.logaddexp.reduce(np.append(u, 0)))
        return -np.mean(np.log(w @ densities)), w

    best = min(
        (optimize.minimize(lambda u: loss(u)[0], start, tol=1e-14) for start in rng.normal(size=(10, n_models - 1))),
        key=lambda r: r.fun,
    )
    return loss(best.x)[1].tolist(), float(-best.fun)


points = np.round(rng.normal(-1.5, 0.6, size=(3, 40)), 6)
weights, optimum = stacking(np.exp(points))
exceedances = np.sort(np.round(stats.genpareto.rvs(0.6, scale=2.0, size=50, random_state=rng), 6))
shape, sigma = _gpdfit(exceedances)

fixture = {
    "cases": {name: diagnostics(x) for name, x in cases.items()},
    "energy": {"draws": energy.tolist(), "numerators": np.square(np.diff(energy)).sum(1).tolist(),
               "denominators": np.square(energy - energy.mean(1, keepdims=True)).sum(1).tolist()},
    "loo": {"logLikelihood": log_lik.tolist(), "relativeEfficiency": 0.8, "elpd": elpd.tolist(), "k": k.tolist(),
            "largestWeights": logs.max(axis=1).tolist()},
    "stacking": {"pointwise": points.tolist(), "weights": weights, "optimum": optimum},
    "pareto": {"exceedances": exceedances.tolist(), "shrunkK": float(shape), "sigma": float(sigma)},
    "normalQuantiles": [[p, float(stats.norm.ppf(p))] for p in [1e-300, 1e-20, 1e-5, 0.01, 0.0749, 0.3, 0.5, 0.9, 1 - 1e-9]],
    "betaQuantiles": [[p, a, b, float(stats.beta.ppf(p, a, b))] for p, a, b in
                      [(0.16, 2, 5), (0.84, 51, 951), (0.16, 1.0, 4001.0), (0.5, 25000, 475000), (0.9, 0.5, 0.5)]],
}
text = json.dumps(fixture, separators=(",", ":"))
(pathlib.Path(__file__).parent / "fixtures" / "arviz.json").write_text(text + "\n")
print(len(text))
