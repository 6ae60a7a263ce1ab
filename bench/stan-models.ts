/**
 * Six models of posteriordb whose gradients a general compiler easily makes slow: tables of logits, gathers, marginalised
 * sums, a renewal equation step by step. The gradient rows time them beside Stan's own programs; a test holds their gradients
 * against CmdStan's. Programs and data lie beside the repository, in the folder `stan` of the reference data.
 */
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import * as b from "../src/bayes/index.js";
import { arange, concat, ones, scan, stack, type Tensor, tensor, where, zeros } from "../src/index.js";

export interface StanModel {
  /** Variables in the order of Stan's free numbers, where it is not ours. */
  readonly order?: readonly string[];
  /** Data as Stan reads them, on a device. */
  posterior(data: StanData, device: string): b.Posterior<Readonly<Record<string, Tensor>>, string>;
}

// biome-ignore lint/suspicious/noExplicitAny: each program has data of its own, in a JSON file
export type StanData = any;

const FOLDER = resolve(process.env.PUMICE_REFERENCE || "../shared/data", "stan");

/** The data of a program; null where they are not there. */
export function stanData(name: string): StanData | null {
  const file = join(FOLDER, name, "data.json");
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : null;
}

const dtype = "f64";
const floats = (values: StanData, device: string) => tensor(values, { dtype, device });
const integers = (values: StanData, device: string) => tensor(values, { dtype: "i32", device });
/** Stan counts from 1. */
const places = (values: readonly number[], device: string) =>
  integers(
    values.map((value) => value - 1),
    device,
  );
const without = (x: Tensor) => x.neg().add(1);

/** Two-parameter item response: a table of items × persons. */
const irt: StanModel = {
  posterior: ({ I, J, y }, device) =>
    b
      .model(() => {
        const sigma_theta = b.halfCauchy(2);
        const theta = b.normal(0, sigma_theta).shape(J);
        const sigma_a = b.halfCauchy(2);
        const a = b.logNormal(0, sigma_a).shape(I);
        const mu_b = b.normal(0, 5);
        const sigma_b = b.halfCauchy(2);
        const difficulty = b.normal(mu_b, sigma_b).shape(I);
        const logits = a.expandDims(1).mul(theta.sub(difficulty.expandDims(1)));
        return { sigma_theta, theta, sigma_a, a, mu_b, sigma_b, b: difficulty, y: b.bernoulliLogits(logits) };
      })
      .given({ y: floats(y, device) }),
};

/** Two topics: the log of a sum for every word, over gathered simplexes. */
const topics: StanModel = {
  posterior: ({ M, V, w, doc }, device) =>
    b
      .model(({ word, document }: { word: Tensor; document: Tensor }) => {
        const theta = b.dirichlet(ones([M, 2], { dtype, device }));
        const phi = b.dirichlet(ones([2, V], { dtype, device }));
        b.factor(theta.log().at(document).add(phi.T.log().at(word)).logsumexp({ axis: 1 }).sum());
        return { theta, phi };
      })
      .given({}, { word: places(w, device), document: places(doc, device) }),
};

/** Losses of cohorts over time: powers of a small grid, gathered. */
const losses: StanModel = {
  order: ["omega", "theta", "LR", "mu_LR", "sd_LR", "loss_sd"],
  posterior: (d, device) =>
    b
      .model(({ cohort, time, t, premium }: Record<"cohort" | "time" | "t" | "premium", Tensor>) => {
        const omega = b.logNormal(0, 0.5);
        const theta = b.logNormal(0, 0.5);
        const mu_LR = b.normal(0, 0.5);
        const sd_LR = b.logNormal(0, 0.5);
        const LR = b.logNormal(mu_LR, sd_LR).shape(d.n_cohort);
        const loss_sd = b.logNormal(0, 0.7);
        const grown =
          d.growthmodel_id === 1
            ? without(t.div(theta).pow(omega).neg().exp())
            : t.pow(omega).div(t.pow(omega).add(theta.pow(omega)));
        const mean = LR.mul(premium).at(cohort).mul(grown.at(time));
        return { omega, theta, LR, mu_LR, sd_LR, loss_sd, loss: b.normal(mean, loss_sd.mul(premium).at(cohort)) };
      })
      .given(
        { loss: floats(d.loss, device) },
        {
          cohort: places(d.cohort_id, device),
          time: places(d.t_idx, device),
          t: floats(d.t_value, device),
          premium: floats(d.premium, device),
        },
      ),
};

/** Captures of animals that may not be there: presence is summed out. */
const captures: StanModel = {
  posterior: ({ M, T, y }, device) =>
    b
      .model(({ seen, before, isSeen }: Record<"seen" | "before" | "isSeen", Tensor>) => {
        const omega = b.flat(b.unitInterval);
        const mean_p = b.flat(b.unitInterval).shape(T);
        const gamma = b.normal(0, 10);
        const sigma = b.flat(b.interval(0, 3));
        const eps_raw = b.normal(0, 1).shape(M);
        const alpha = mean_p.log().sub(without(mean_p).log());
        const logits = alpha.add(eps_raw.mul(sigma).expandDims(1)).add(gamma.mul(before));
        const here = b.bernoulliLogits(logits).distribution.logDensity(seen).sum({ axis: 1 }).add(omega.log());
        b.factor(where(isSeen, here, here.logaddexp(without(omega).log())).sum());
        return { omega, mean_p, gamma, sigma, eps_raw };
      })
      .given(
        {},
        {
          seen: integers(y, device),
          before: floats(
            y.map((row: number[]) => [0, ...row.slice(0, -1)]),
            device,
          ),
          isSeen: tensor(
            y.map((row: number[]) => row.includes(1)),
            { device },
          ),
        },
      ),
};

/** Species at sites: binomial counts where they occur, and occurrence is summed out. */
const occupancy: StanModel = {
  posterior: ({ J, K, n, S, X: counts }, device) =>
    b
      .model(({ X }: { X: Tensor }) => {
        const alpha = b.cauchy(0, 2.5);
        const beta = b.cauchy(0, 2.5);
        const Omega = b.beta(2, 2);
        const rho = b.flat(b.interval(-1, 1));
        const sigma = b.halfCauchy(2.5).shape(2);
        const uv1 = b.flat().shape(S);
        const uv2 = b.flat().shape(S);
        b.factor(b.beta(2, 2).distribution.logDensity(rho.add(1).div(2)));
        const [s1, s2] = [sigma.at(0), sigma.at(1)];
        const both = s1.mul(s2).mul(rho);
        const covariance = stack([stack([s1.square(), both]), stack([both, s2.square()])]);
        const pairs = b.mvNormal(zeros([2], { dtype, device }), { covariance }).distribution;
        b.factor(pairs.logDensity(stack([uv1, uv2], { axis: 1 })).sum());
        const [psi, theta] = [uv1.add(alpha), uv2.add(beta)];
        const [occurs, lacks] = [psi.neg().softplus().neg(), psi.softplus().neg()];
        const seen = (x: Tensor, logit: Tensor, log: Tensor) =>
          log.add(b.binomialLogits(K, logit).distribution.logDensity(x));
        const observed = (x: Tensor) => x.at(`:${n}`).expandDims(1);
        const unseen = seen(integers(0, device), theta, occurs).logaddexp(lacks);
        const known = where(X.greater(0), seen(X, observed(theta), observed(occurs)), observed(unseen)).sum();
        const never = Omega.log().add(unseen.at(`${n}:`).mul(J));
        b.factor(Omega.log().mul(n).add(known).add(without(Omega).log().logaddexp(never).sum()));
        return { alpha, beta, Omega, rho, sigma, uv1, uv2 };
      })
      .given({}, { X: integers(counts, device) }),
};

/** The days on which each country's deaths count: places in a table of days × countries, and the deaths. */
function countedDeaths({ M, N, EpidemicStart, deaths }: StanData): {
  readonly at: number[];
  readonly counts: number[];
} {
  const [at, counts]: number[][] = [[], []];
  for (let m = 0; m < M; m++) {
    for (let day = EpidemicStart[m] - 1; day < N[m]; day++) {
      at.push(day * M + m);
      counts.push(deaths[day][m]);
    }
  }
  return { at, counts };
}

/** An epidemic in several countries: a renewal equation by scan, then a convolution with a delay. */
const epidemic: StanModel = {
  order: ["mu", "alpha_hier", "kappa", "y", "phi", "tau", "ifr"],
  posterior: (d, device) => {
    const { M, P, N0, N2 } = d;
    const { at: days, counts } = countedDeaths(d);
    return b
      .model(({ X, SI, delay, pop, from }: Record<"X" | "SI" | "delay" | "pop" | "from", Tensor>) => {
        const kappa = b.halfNormal(0.5);
        const mu = b.normal(3.28, kappa).shape(M).constrained(b.positive);
        const alpha_hier = b.gamma(0.1667, 1).shape(P);
        const tau = b.exponential(0.03);
        const y = b.exponential(tau.reciprocal()).shape(M);
        const phi = b.halfNormal(5);
        const ifr = b.normal(1, 0.1).shape(M).constrained(b.positive);
        const R = X.matmul(alpha_hier.sub(Math.log(1.05) / 6))
          .neg()
          .exp()
          .mul(mu.expandDims(1)).T;
        const day = arange(N2, { dtype: "i32", device });
        const first = where(day.less(N0).expandDims(1), y, 0);
        // Stan's running sum begins on the second day.
        const begun = y.mul(N0 - 1);
        const [[infected]] = scan(
          ([all, sum]: [Tensor, Tensor], [today, r]: [Tensor, Tensor]) => {
            const lag = today.sub(1).sub(day);
            const weights = where(lag.greaterEqual(0), SI.at(lag.clip(0)), 0).expandDims(1);
            const yesterday = where(day.equal(today.sub(1)).expandDims(1), all, 0).sum({ axis: 0 });
            const more = sum.add(yesterday);
            const now = pop
              .sub(more)
              .div(pop)
              .mul(r)
              .mul(all.mul(weights).sum({ axis: 0 }));
            return [[where(day.equal(today).expandDims(1), now, all), more] as [Tensor, Tensor], null];
          },
          [first, begun] as [Tensor, Tensor],
          [arange(N0, N2, { dtype: "i32", device }), R.at(`${N0}:`)] as [Tensor, Tensor],
        );
        const back = day.expandDims(1).sub(1).sub(day);
        const kernel = where(back.greaterEqual(0).expandDims(2), delay.at(back.clip(0)), 0);
        const deaths = kernel.mul(infected).sum({ axis: 1 }).mul(ifr);
        const expected = concat([infected.at("0:1").mul(1e-15), deaths.at("1:")]);
        return {
          mu,
          alpha_hier,
          kappa,
          y,
          phi,
          tau,
          ifr,
          deaths: b.negativeBinomial(expected.flatten().at(from), phi),
        };
      })
      .given(
        { deaths: floats(counts, device) },
        {
          X: floats(d.X, device),
          SI: floats(d.SI, device),
          delay: floats(d.f, device),
          pop: floats(d.pop, device),
          from: integers(days, device),
        },
      );
  },
};

/** By the names of posteriordb. */
export const stanModels: Readonly<Record<string, StanModel>> = {
  irt_2pl: irt,
  ldaK2: topics,
  losscurve_sislob: losses,
  Mtbh_model: captures,
  multi_occupancy: occupancy,
  covid19imperial_v2: epidemic,
};
