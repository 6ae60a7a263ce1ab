/** The models of the sampling rows; tests hold the regime model against reference densities, too. */
import { bernoulliLogits, halfCauchy, mixtureLogits, model, normal } from "../src/bayes/index.js";
import type { Tensor } from "../src/index.js";

export const schools = model(({ s }: { s: Tensor }) => {
  const mu = normal(0, 5);
  const tau = halfCauchy(5);
  const theta = normal(mu, tau).shape(8).noncentered();
  return { mu, tau, theta, y: normal(theta, s) };
});

export const regimes = model(({ previous }: { previous: Tensor }) => {
  const mu_trend = normal(0, 0.02);
  const mu_mr = normal(0, 0.02);
  const logit_w1 = normal(0, 1);
  const logit_w2 = normal(0, 1);
  const sigma_trend = halfCauchy(0.02);
  const sigma_mr = halfCauchy(0.02);
  const sigma_vol = halfCauchy(0.02);
  const theta_mr = halfCauchy(0.5);
  const reverting = previous.sub(mu_mr).mul(theta_mr.neg().exp()).add(mu_mr);
  const y = mixtureLogits(
    [0, logit_w1, logit_w2],
    [normal(0, sigma_vol), normal(mu_trend, sigma_trend), normal(reverting, sigma_mr)],
  );
  return { mu_trend, mu_mr, logit_w1, logit_w2, sigma_trend, sigma_mr, sigma_vol, theta_mr, y };
});

export const logistic = model(({ x }: { x: Tensor }) => {
  const b = normal(0, 1).shape(20);
  return { b, y: bernoulliLogits(x.matmul(b)) };
});
