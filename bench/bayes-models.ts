/** The models of the sampling rows and their data; tests hold the regime model against reference densities, too. */
import { bernoulliLogits, halfCauchy, mixtureLogits, model, normal } from "../src/bayes/index.js";
import { type Tensor, tensor } from "../src/index.js";

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

/** Numbers between 0 and 1 that Python makes in the same way. */
function unitNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48271) % 2147483647;
    return state / 2147483647;
  };
}

function normalNumbers(seed: number): () => number {
  const unit = unitNumbers(seed);
  return () => Math.sqrt(-2 * Math.log(unit())) * Math.cos(2 * Math.PI * unit());
}

/** Returns, each of one of three regimes at random: with these weights and scales the posterior has one mode. */
function returns(): { readonly y: number[]; readonly previous: number[] } {
  const [random, unit] = [normalNumbers(7), unitNumbers(6)];
  const all = [0];
  for (let t = 0; t < 200; t++) {
    const z = random();
    const before = all[t]!;
    const u = unit();
    if (u < 0.28) all.push(0.045 * z);
    else if (u < 0.81) all.push(0.009 + 0.0075 * z);
    else all.push(0.025 + 0.82 * (before - 0.025) + 0.0063 * z);
  }
  return { y: all.slice(1), previous: all.slice(0, -1) };
}

function design(): { readonly x: number[][]; readonly y: number[] } {
  const [random, unit] = [normalNumbers(11), unitNumbers(13)];
  const x = Array.from({ length: 5000 }, () => Array.from({ length: 20 }, random));
  const y = x.map((row) => {
    const eta = row.reduce((sum, value, j) => sum + value * 0.2 * Math.sin(j), 0);
    return unit() < 1 / (1 + Math.exp(-eta)) ? 1 : 0;
  });
  return { x, y };
}

/** Posteriors with their data on a device. */
export const posteriors = {
  schools: (device: string) =>
    schools.given(
      { y: tensor([28, 8, -3, 7, -1, 1, 18, 12], { device }) },
      { s: tensor([15, 10, 16, 11, 9, 11, 10, 18], { device }) },
    ),
  regime: (device: string) => {
    const { y, previous } = returns();
    return regimes.given({ y: tensor(y, { device }) }, { previous: tensor(previous, { device }) });
  },
  logistic: (device: string) => {
    const { x, y } = design();
    return logistic.given({ y: tensor(y, { device }) }, { x: tensor(x, { device }) });
  },
};

export type PosteriorName = keyof typeof posteriors;
