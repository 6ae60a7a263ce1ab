/** Models of series: an autoregression, changing volatility, and a hidden Markov model. */
import { interval, positive, positiveOrdered, simplex, unitInterval } from "../../../src/bayes/constraints/index.js";
import { ar, flat, halfCauchy, normal } from "../../../src/bayes/distributions/index.js";
import { factor, model } from "../../../src/bayes/index.js";
import { stack, type Tensor } from "../../../src/tensor/index.js";
import { scan } from "../../../src/transforms/control.js";
import { normalConstant, posteriorData, type ReferenceModel } from "./reference-model.js";

const autoregression = model(() => {
  const alpha = normal(0, 10);
  const beta = normal(0, 10).shape(5);
  const sigma = halfCauchy(2.5);
  return { alpha, beta, sigma, y: ar(beta, sigma, { steps: 200, intercept: alpha, start: flat() }) };
});

export const arK: ReferenceModel = {
  name: "arK-arK",
  stan: "arK",
  order: ["alpha", "beta", "sigma"],
  posterior: (make) => autoregression.given({ y: make(posteriorData<{ y: number[] }>("arK-arK").y) }),
};

/** The variance of a day follows from the day before, step by step. */
const volatility = model(({ past, sigma1 }: { past: Tensor; sigma1: Tensor }) => {
  const mu = flat();
  const alpha0 = flat(positive);
  const alpha1 = flat(unitInterval);
  const beta1 = flat(interval(0, alpha1.neg().add(1)));
  const shocks = past.sub(mu).square().mul(alpha1).add(alpha0);
  const next = (variance: Tensor, shock: Tensor) => [variance.mul(beta1).add(shock), variance] as const;
  const [, variances] = scan(next, sigma1.square() as Tensor, shocks as Tensor);
  return { mu, alpha0, alpha1, beta1, y: normal(mu, variances.sqrt()) };
});

export const garch11: ReferenceModel = {
  name: "garch-garch11",
  stan: "garch11",
  order: ["mu", "alpha0", "alpha1", "beta1"],
  posterior(make) {
    const data = posteriorData<{ y: number[]; sigma1: number }>("garch-garch11");
    const y = make(data.y);
    return volatility.given({ y }, { past: y, sigma1: make(data.sigma1) });
  },
};

/** Two states with normal emissions; the states are summed out by the forward algorithm. */
const hidden = model(({ y }: { y: Tensor }) => {
  const theta1 = flat(simplex).shape(2);
  const theta2 = flat(simplex).shape(2);
  const mu = normal([3, 10], 1).constrained(positiveOrdered);
  const moves = stack([theta1, theta2]).log();
  const emissions = normal(mu, 1).distribution.logDensity(y.expandDims(1));
  const step = (forward: Tensor, emission: Tensor) =>
    [forward.expandDims(1).add(moves).logsumexp({ axis: 0 }).add(emission) as Tensor, null] as const;
  const [last] = scan(step, emissions.at(0) as Tensor, emissions.at("1:"));
  factor(last.logsumexp());
  return { theta1, theta2, mu };
});

export const hmmExample: ReferenceModel = {
  name: "hmm_example-hmm_example",
  stan: "hmm_example",
  keptByStan: 2 * normalConstant(1),
  order: ["theta1", "theta2", "mu"],
  posterior: (make) => hidden.given({}, { y: make(posteriorData<{ y: number[] }>("hmm_example-hmm_example").y) }),
};
