/** Linear regressions, with priors and scales that differ: well-behaved, flat, on raw scales, nearly collinear. */
import { positive } from "../../../src/bayes/constraints/index.js";
import { flat, halfCauchy, halfNormal, normal } from "../../../src/bayes/distributions/index.js";
import { model } from "../../../src/bayes/model/model.js";
import type { RandomVariable } from "../../../src/bayes/variables/variable.js";
import type { Tensor } from "../../../src/tensor/index.js";
import { normalConstant, posteriorData, type ReferenceModel } from "./reference-model.js";

/** y ~ N(X·beta, sigma), with columns of X one after another. */
function regression(
  name: string,
  stan: string,
  read: () => { readonly y: number[]; readonly columns: readonly (readonly number[])[] },
  priors: { readonly beta: () => RandomVariable; readonly sigma: () => RandomVariable },
  keptByStan = 0,
): ReferenceModel {
  return {
    name,
    stan,
    keptByStan,
    order: ["beta", "sigma"],
    posterior(make) {
      const { y, columns } = read();
      const x = make(y.map((_, row) => columns.map((column) => column[row]!)));
      const linear = model(({ x }: { x: Tensor }) => {
        const beta = priors.beta().shape(columns.length);
        const sigma = priors.sigma();
        return { beta, sigma, y: normal(x.matmul(beta), sigma) };
      });
      return linear.given({ y: make(y) }, { x });
    },
  };
}

const ones = (like: readonly number[]): number[] => like.map(() => 1);

export const blr = regression(
  "sblrc-blr",
  "blr",
  () => {
    const { y, X } = posteriorData<{ y: number[]; X: number[][] }>("sblrc-blr");
    return { y, columns: X[0]!.map((_, column) => X.map((row) => row[column]!)) };
  },
  { beta: () => normal(0, 10), sigma: () => halfNormal(10) },
  // 100 observations of unknown scale; 5 coefficients and sigma of scale 10, sigma as if it were not cut at 0.
  100 * normalConstant(1) + 6 * normalConstant(10),
);

interface Kids {
  readonly kid_score: number[];
  readonly mom_hs: number[];
  readonly mom_iq: number[];
}

export const kidscoreMomiq = regression(
  "kidiq-kidscore_momiq",
  "kidscore_momiq",
  () => {
    const data = posteriorData<Kids>("kidiq-kidscore_momiq");
    return { y: data.kid_score, columns: [ones(data.mom_iq), data.mom_iq] };
  },
  { beta: () => flat(), sigma: () => halfCauchy(2.5) },
);

export const kidscoreInteraction = regression(
  "kidiq-kidscore_interaction",
  "kidscore_interaction",
  () => {
    const { kid_score, mom_hs, mom_iq } = posteriorData<Kids>("kidiq-kidscore_interaction");
    return { y: kid_score, columns: [ones(mom_iq), mom_hs, mom_iq, mom_hs.map((hs, i) => hs * mom_iq[i]!)] };
  },
  { beta: () => flat(), sigma: () => halfCauchy(2.5) },
);

export const earnHeight = regression(
  "earnings-earn_height",
  "earn_height",
  () => {
    const { earn, height } = posteriorData<{ earn: number[]; height: number[] }>("earnings-earn_height");
    return { y: earn, columns: [ones(height), height] };
  },
  { beta: () => flat(), sigma: () => flat(positive) },
);

export const mesquite = regression(
  "mesquite-mesquite",
  "mesquite",
  () => {
    const data = posteriorData<Record<string, number[]>>("mesquite-mesquite");
    const names = ["diam1", "diam2", "canopy_height", "total_height", "density", "group"];
    return { y: data.weight!, columns: [ones(data.weight!), ...names.map((name) => data[name]!)] };
  },
  { beta: () => flat(), sigma: () => flat(positive) },
);

interface Summers {
  readonly x: number[];
  readonly y: number[];
  readonly pmualpha: number;
  readonly psalpha: number;
  readonly pmubeta: number;
  readonly psbeta: number;
}

type Priors = Readonly<Record<"mualpha" | "salpha" | "mubeta" | "sbeta", Tensor>>;

const trend = model(({ x, p }: { x: Tensor; p: Priors }) => {
  const alpha = normal(p.mualpha, p.salpha);
  const beta = normal(p.mubeta, p.sbeta);
  const sigma = flat(positive);
  return { alpha, beta, sigma, y: normal(x.mul(beta).add(alpha), sigma) };
});

/** Summer temperatures against the year, which is not centred. */
export const kilpisjarvi: ReferenceModel = {
  name: "kilpisjarvi_mod-kilpisjarvi",
  stan: "kilpisjarvi",
  order: ["alpha", "beta", "sigma"],
  posterior(make) {
    const data = posteriorData<Summers>("kilpisjarvi_mod-kilpisjarvi");
    const p = {
      mualpha: make(data.pmualpha),
      salpha: make(data.psalpha),
      mubeta: make(data.pmubeta),
      sbeta: make(data.psbeta),
    };
    return trend.given({ y: make(data.y) }, { x: make(data.x), p });
  },
};
