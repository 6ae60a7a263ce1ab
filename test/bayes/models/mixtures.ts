/** Mixtures: two normal components with ordered means, and the regime model of returns. */
import { regimes } from "../../../bench/bayes-models.js";
import { ordered } from "../../../src/bayes/constraints/index.js";
import { beta, halfNormal, mixture, normal } from "../../../src/bayes/distributions/index.js";
import { model } from "../../../src/bayes/model/model.js";
import { stack } from "../../../src/tensor/index.js";
import { referenceJson } from "../../support/reference-data.js";
import { posteriorData, type ReferenceModel } from "./reference-model.js";

const twoComponents = model(() => {
  const mu = normal(0, 2).shape(2).constrained(ordered);
  const sigma = halfNormal(2).shape(2);
  const theta = beta(5, 5);
  return { mu, sigma, theta, y: mixture(stack([theta, theta.neg().add(1)]), normal(mu, sigma)) };
});

export const gaussMix: ReferenceModel = {
  name: "low_dim_gauss_mix-low_dim_gauss_mix",
  stan: "low_dim_gauss_mix",
  order: ["mu", "sigma", "theta"],
  posterior(make) {
    return twoComponents.given({ y: make(posteriorData<{ y: number[] }>("low_dim_gauss_mix-low_dim_gauss_mix").y) });
  },
};

/** Not of posteriordb: the data are beside it. */
export const regimeModel: ReferenceModel = {
  name: "regime_returns",
  order: ["mu_trend", "mu_mr", "logit_w1", "logit_w2", "sigma_trend", "sigma_mr", "sigma_vol", "theta_mr"],
  posterior(make) {
    const data = referenceJson("regime_returns.json") as { y: number[]; y_prev: number[] };
    return regimes.given({ y: make(data.y) }, { previous: make(data.y_prev) });
  },
};
