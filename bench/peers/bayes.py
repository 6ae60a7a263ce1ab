"""NumPyro's effective draws per second, on the GPU and on the processor's cores: models, data and numbers of draws as in
bench/rows/bayes.ts. On the processor a few chains have a device of XLA's each, which is NumPyro's way to use several cores.
"""

import math
import time

from timing import Pace, peer, the

DRAWS = 500
ENOUGH_SECONDS = 30


def unit_numbers(seed):
    state = seed
    while True:
        state = state * 48271 % 2147483647
        yield state / 2147483647


def normal_numbers(seed):
    unit = unit_numbers(seed)
    while True:
        radius = math.sqrt(-2 * math.log(next(unit)))
        yield radius * math.cos(2 * math.pi * next(unit))


def returns():
    random, unit = normal_numbers(7), unit_numbers(6)
    series = [0.0]
    for t in range(200):
        z = next(random)
        before = series[t]
        u = next(unit)
        if u < 0.28:
            series.append(0.045 * z)
        elif u < 0.81:
            series.append(0.009 + 0.0075 * z)
        else:
            series.append(0.025 + 0.82 * (before - 0.025) + 0.0063 * z)
    return series[1:], series[:-1]


def design():
    random, unit = normal_numbers(11), unit_numbers(13)
    x = [[next(random) for _ in range(20)] for _ in range(5000)]
    y = []
    for row in x:
        eta = sum(value * 0.2 * math.sin(j) for j, value in enumerate(row))
        y.append(1.0 if next(unit) < 1 / (1 + math.exp(-eta)) else 0.0)
    return x, y


def models():
    import jax
    import jax.numpy as jnp
    import numpyro
    import numpyro.distributions as dist

    def schools(y, s):
        mu = numpyro.sample("mu", dist.Normal(0, 5))
        tau = numpyro.sample("tau", dist.HalfCauchy(5))
        z = numpyro.sample("z", dist.Normal(0, 1).expand([8]))
        theta = numpyro.deterministic("theta", mu + tau * z)
        numpyro.sample("y", dist.Normal(theta, s), obs=y)

    def regime(y, previous):
        mu_trend = numpyro.sample("mu_trend", dist.Normal(0, 0.02))
        mu_mr = numpyro.sample("mu_mr", dist.Normal(0, 0.02))
        w1 = numpyro.sample("logit_w1", dist.Normal(0, 1))
        w2 = numpyro.sample("logit_w2", dist.Normal(0, 1))
        s_trend = numpyro.sample("sigma_trend", dist.HalfCauchy(0.02))
        s_mr = numpyro.sample("sigma_mr", dist.HalfCauchy(0.02))
        s_vol = numpyro.sample("sigma_vol", dist.HalfCauchy(0.02))
        theta = numpyro.sample("theta_mr", dist.HalfCauchy(0.5))
        weights = jax.nn.log_softmax(jnp.stack([0.0 * w1, w1, w2]))
        terms = jnp.stack(
            [
                dist.Normal(0, s_vol).log_prob(y),
                dist.Normal(mu_trend, s_trend).log_prob(y),
                dist.Normal(mu_mr + jnp.exp(-theta) * (previous - mu_mr), s_mr).log_prob(y),
            ]
        )
        numpyro.factor("y", jax.scipy.special.logsumexp(terms + weights[:, None], axis=0).sum())

    def logistic(y, x):
        b = numpyro.sample("b", dist.Normal(0, 1).expand([20]))
        numpyro.sample("y", dist.Bernoulli(logits=x @ b), obs=y)

    def schools_data():
        return jnp.array([28.0, 8, -3, 7, -1, 1, 18, 12]), jnp.array([15.0, 10, 16, 11, 9, 11, 10, 18])

    def arrays(make):
        return lambda: tuple(jnp.array(values, dtype=jnp.float32) for values in make())

    def logistic_data():
        x, y = design()
        return jnp.array(y, dtype=jnp.float32), jnp.array(x, dtype=jnp.float32)

    return {"schools": (schools, schools_data), "regime": (regime, arrays(returns)), "logistic": (logistic, logistic_data)}


def enter(package, name, chains):
    @peer(f"{package}/{name}-{chains}", "ESS/s")
    def run():
        the(package)
        import jax
        import numpy
        from numpyro.diagnostics import effective_sample_size
        from numpyro.infer import MCMC, NUTS

        model, data = models()[name]
        arguments = data()
        draws = DRAWS // 2 if chains > 100 else 2 * DRAWS
        mcmc = MCMC(
            NUTS(model),
            num_warmup=DRAWS,
            num_samples=draws,
            num_chains=chains,
            chain_method="parallel" if chains <= jax.local_device_count() else "vectorized",
            progress_bar=False,
        )
        samples, spent = [], 0
        # The first run compiles and does not count.
        while len(samples) < 2 or (len(samples) < 4 and spent < ENOUGH_SECONDS):
            start = time.perf_counter()
            mcmc.run(jax.random.key(len(samples)), *arguments)
            found = jax.block_until_ready(mcmc.get_samples(group_by_chain=True))
            seconds = time.perf_counter() - start
            spent += seconds
            least = min(float(numpy.min(effective_sample_size(numpy.asarray(value)))) for value in found.values())
            samples.append(least / seconds)
        return samples[1:]


for name_, chains_ in [("schools", 4), ("schools", 4096), ("regime", 4), ("regime", 1024), ("logistic", 256)]:
    enter("numpyro", name_, chains_)
# Thousands of chains side by side, or hundreds with much data, do not end in four minutes on a processor.
for name_, chains_ in [("schools", 4), ("regime", 4), ("logistic", 16)]:
    enter("numpyro-cpu", name_, chains_)
