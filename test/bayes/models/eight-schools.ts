/** The effects of coaching in eight schools, non-centred: the usual first hierarchical model. */
import { halfCauchy, normal } from "../../../src/bayes/distributions/index.js";
import { model } from "../../../src/bayes/model/model.js";
import type { Tensor } from "../../../src/tensor/index.js";
import { posteriorData, type ReferenceModel } from "./reference-model.js";

const name = "eight_schools-eight_schools_noncentered";

const schools = model(({ s }: { s: Tensor }) => {
  const mu = normal(0, 5);
  const tau = halfCauchy(5);
  const theta = normal(mu, tau).shape(8).noncentered();
  return { theta, mu, tau, y: normal(theta, s) };
});

export const eightSchools: ReferenceModel = {
  name,
  stan: "eight_schools_noncentered",
  order: ["theta", "mu", "tau"],
  posterior(make) {
    const data = posteriorData<{ y: number[]; sigma: number[] }>(name);
    return schools.given({ y: make(data.y) }, { s: make(data.sigma) });
  },
};
