/** A regression by a Gaussian process with unknown length, height and noise. */
import { gamma, halfNormal, mvNormal } from "../../../src/bayes/distributions/index.js";
import { model } from "../../../src/bayes/model/model.js";
import type { Tensor } from "../../../src/tensor/index.js";
import { posteriorData, type ReferenceModel } from "./reference-model.js";

const process = model(({ x }: { x: Tensor }) => {
  const rho = gamma(25, 4);
  const alpha = halfNormal(2);
  const sigma = halfNormal(1);
  const distance = x.expandDims(1).sub(x).div(rho);
  const covariance = distance.square().mul(-0.5).exp().mul(alpha.square());
  const noise = sigma.broadcastTo(x.shape).diagonalMatrix();
  return { rho, alpha, sigma, y: mvNormal(0, { covariance: covariance.add(noise) }) };
});

export const gpRegression: ReferenceModel = {
  name: "gp_pois_regr-gp_regr",
  stan: "gp_regr",
  order: ["rho", "alpha", "sigma"],
  posterior(make) {
    const data = posteriorData<{ x: number[]; y: number[] }>("gp_pois_regr-gp_regr");
    return process.given({ y: make(data.y) }, { x: make(data.x) });
  },
};
