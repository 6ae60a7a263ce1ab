/** A consumer's program, third part: every function, class and constant of `pumice/bayes`. */
import { eye, random, type Tensor, tensor } from "pumice";
import * as bayes from "pumice/bayes";
import { type Draws, factor, flat, halfNormal, model, normal, type RandomVariable } from "pumice/bayes";
import { path } from "./folder.js";
import type { Calls } from "./methods.js";

const key = random.key(0, { device: "cpu" });
const shares = [0.2, 0.8];
const matrix = (): Tensor => eye(2, { device: "cpu" });

/** Draws of a variable; its distribution works without a model. */
const drawn = (variable: RandomVariable): Tensor => variable.distribution.sample(key, [2]);

/** A chain of two states, and what was seen in three steps. */
const hidden = () =>
  [
    tensor(shares, { device: "cpu" }),
    matrix(),
    tensor(
      [
        [0, -1],
        [-2, -1],
        [0, 0],
      ],
      { device: "cpu" },
    ),
  ] as const;

const distributions: Calls = {
  ar: () => drawn(bayes.ar([0.5], 1, { steps: 5, intercept: 1 })),
  bernoulli: () => drawn(bayes.bernoulli(0.5)),
  bernoulliLogits: () => drawn(bayes.bernoulliLogits(0.5)),
  beta: () => drawn(bayes.beta(2, 3)),
  betaBinomial: () => drawn(bayes.betaBinomial(10, 2, 3)),
  binomial: () => drawn(bayes.binomial(10, 0.5)),
  binomialLogits: () => drawn(bayes.binomialLogits(10, 0.5)),
  categorical: () => drawn(bayes.categorical(shares)),
  categoricalLogits: () => drawn(bayes.categoricalLogits([0, 1])),
  cauchy: () => drawn(bayes.cauchy(0, 1)),
  censored: () => drawn(bayes.censored(normal(0, 1), { high: 1 })),
  chiSquared: () => drawn(bayes.chiSquared(3)),
  custom: () =>
    bayes.custom({ name: "laplace", logDensity: (x) => x.abs().neg() }).distribution.logDensity(tensor([1])),
  dirichlet: () => drawn(bayes.dirichlet([1, 2])),
  exponential: () => drawn(bayes.exponential(2)),
  flat: () => flat(bayes.positive).distribution.logDensity(tensor([1])),
  gamma: () => drawn(bayes.gamma(2, 3)),
  gaussianRandomWalk: () => drawn(bayes.gaussianRandomWalk(1, { steps: 5, drift: 1 })),
  geometric: () => drawn(bayes.geometric(0.5)),
  gumbel: () => drawn(bayes.gumbel(0, 1)),
  halfCauchy: () => drawn(bayes.halfCauchy(1)),
  halfNormal: () => drawn(halfNormal(1)),
  halfStudentT: () => drawn(bayes.halfStudentT(3, 1)),
  hmm: () => drawn(bayes.hmm(shares, [shares, shares], normal([0, 5], 1), { steps: 4 })),
  hmmDrawStates: () => bayes.hmmDrawStates(key, ...hidden()),
  hmmLikeliestStates: () => bayes.hmmLikeliestStates(...hidden()),
  hmmLogDensity: () => bayes.hmmLogDensity(...hidden()),
  hmmStateProbabilities: () => bayes.hmmStateProbabilities(...hidden()),
  inverseGamma: () => drawn(bayes.inverseGamma(2, 3)),
  inverseWishart: () => drawn(bayes.inverseWishart(4, matrix())),
  laplace: () => drawn(bayes.laplace(0, 1)),
  lkjCholesky: () => drawn(bayes.lkjCholesky(2, 1)),
  logNormal: () => drawn(bayes.logNormal(0, 1)),
  logistic: () => drawn(bayes.logistic(0, 1)),
  mixture: () => drawn(bayes.mixture(shares, [normal(0, 1), normal(5, 1)])),
  mixtureLogits: () => drawn(bayes.mixtureLogits([0, 1], normal([0, 5], [1, 1]))),
  multinomial: () => drawn(bayes.multinomial(10, shares)),
  mvNormal: () => drawn(bayes.mvNormal([0, 0], { covariance: matrix() })),
  negativeBinomial: () => drawn(bayes.negativeBinomial(4, 2)),
  normal: () => drawn(normal(0, 1)),
  orderedLogistic: () => drawn(bayes.orderedLogistic(0.5, [-1, 1])),
  pareto: () => drawn(bayes.pareto(3, 1)),
  poisson: () => drawn(bayes.poisson(4)),
  poissonLog: () => drawn(bayes.poissonLog(1)),
  skewNormal: () => drawn(bayes.skewNormal(0, 1, 3)),
  studentT: () => drawn(bayes.studentT(3, 0, 1)),
  transformed: () => drawn(bayes.transformed(normal(0, 1), { to: (y) => y.sub(1), from: (e) => e.add(1) })),
  truncatedNormal: () => drawn(bayes.truncatedNormal(0, 1, { low: -1, high: 2 })),
  uniform: () => drawn(bayes.uniform(0, 1)),
  vonMises: () => drawn(bayes.vonMises(0, 1)),
  weibull: () => drawn(bayes.weibull(2, 1)),
  wishart: () => drawn(bayes.wishart(4, matrix())),
  withMissing: () =>
    model(() => ({ mu: normal(0, 1), y: normal(0, 1) })).given({ y: bayes.withMissing([1, Number.NaN]) }).dim,
  zeroSumNormal: () => drawn(bayes.zeroSumNormal(3, 1)),
};

const described = ({ description }: bayes.Constraint): string => description;

const constraints: Calls = {
  above: () => described(bayes.above(1)),
  affine: () => described(bayes.affine(1, 2)),
  angle: () => described(bayes.angle),
  below: () => described(bayes.below(1)),
  correlationCholesky: () => described(bayes.correlationCholesky),
  count: () => described(bayes.count),
  countUpTo: () => described(bayes.countUpTo(3)),
  countsOf: () => described(bayes.countsOf(3)),
  covarianceCholesky: () => described(bayes.covarianceCholesky),
  covarianceMatrix: () => described(bayes.covarianceMatrix),
  interval: () => described(bayes.interval(0, 1)),
  nonNegative: () => described(bayes.nonNegative),
  ordered: () => described(bayes.ordered),
  positive: () => described(bayes.positive),
  positiveOrdered: () => described(bayes.positiveOrdered),
  positiveSoftplus: () => described(bayes.positiveSoftplus),
  real: () => described(bayes.real),
  simplex: () => described(bayes.simplex),
  sumToZero: () => described(bayes.sumToZero),
  unitInterval: () => described(bayes.unitInterval),
  unitVector: () => described(bayes.unitVector),
  zeroOrOne: () => described(bayes.zeroOrOne),
};

const wave = (chain: number): number[] => Array.from({ length: 20 }, (_, i) => Math.sin(7 * i * i + chain));
const draws = (): Draws => bayes.Draws.from({ mu: [wave(0), wave(1)] });
const chains = (): bayes.Chains => draws().scalar("mu");
const likelihood = (): Draws => bayes.Draws.from({ y: [wave(0).map((v) => [v, 0.5 * v]), wave(1).map((v) => [v, v])] });

const diagnostics: Calls = {
  Check: (): boolean => bayes.check(draws()) instanceof bayes.Check,
  Comparison: (): boolean => bayes.compare({ a: bayes.loo(likelihood()) }) instanceof bayes.Comparison,
  Draws: () => new bayes.Draws({ chains: 1, variables: { mu: [] } }).append({ values: { mu: [1, 2] } }),
  Loo: (): boolean => bayes.loo(likelihood()) instanceof bayes.Loo,
  Summary: (): boolean => bayes.summary(draws(), "mu") instanceof bayes.Summary,
  autocorrelation: (): Float64Array => bayes.autocorrelation(chains().values, 3),
  check: (): string => bayes.check(draws()).toString(),
  compare: (): string => bayes.compare({ a: bayes.loo(likelihood()), b: bayes.loo(likelihood()) }).verdict,
  eBfmi: () => bayes.eBfmi(chains()),
  essBulk: (): number => bayes.essBulk(chains()),
  essMean: () => bayes.essMean(chains()),
  essQuantile: () => bayes.essQuantile(chains(), 0.9),
  essSd: () => bayes.essSd(chains()),
  essTail: () => bayes.essTail(chains()),
  loo: (): number => bayes.loo(likelihood(), { relativeEfficiency: 1 }).elpd,
  mcseMean: () => bayes.mcseMean(chains()),
  mcseQuantile: () => bayes.mcseQuantile(chains(), 0.9),
  mcseSd: () => bayes.mcseSd(chains()),
  nestedRHat: () => bayes.nestedRHat(chains(), 2),
  rHat: () => bayes.rHat(chains()),
  smoothWeights: () => bayes.smoothWeights(new Float64Array(wave(0)), 1).k,
  stackingWeights: () => bayes.stackingWeights([new Float64Array([1, 2]), new Float64Array([2, 1])]),
  summary: () => bayes.summary(draws()).get("mu")?.mean,
  arvizJson: () => [...bayes.arvizJson({ posterior: draws() })].join(""),
  parseArviz: () => bayes.parseArviz([...bayes.arvizJson({ posterior: draws() })].join("")).posterior,
  saveArviz: () => bayes.saveArviz(path("fit.json"), { posterior: draws() }),
  loadArviz: async () => (await bayes.loadArviz(path("fit.json"))).posterior,
  stanCsv: () => bayes.stanCsv(draws(), 0, { model: "mine" }),
  parseStanCsv: () => bayes.parseStanCsv([bayes.stanCsv(draws(), 0)]),
  saveStanCsv: () => bayes.saveStanCsv(path("fit"), draws()),
  loadStanCsv: () => bayes.loadStanCsv([path("fit_1.csv"), path("fit_2.csv")]),
  report: () => bayes.report(draws(), path("out.html"), { title: "mine" }),
  reportPage: (): string => bayes.reportPage(draws()),
};

const linear = model(({ x }: { x: Tensor }) => {
  const slope = normal(0, 1);
  const sigma = halfNormal(1);
  return { slope, sigma, y: normal(slope.mul(x), sigma) };
});
const posterior = () => linear.given({ y: [1, 2, 3] }, { x: tensor([1, 2, 3], { device: "cpu" }) });

const models: Calls = {
  RandomVariable: (): boolean => normal(0, 1) instanceof bayes.RandomVariable,
  factor: (): number =>
    model(() => {
      const rate = flat(bayes.positive);
      factor(rate.neg());
      return { rate };
    }).given({}).dim,
  model: () =>
    model(() => ({ mu: normal(0, 1) }))
      .given({})
      .logDensity(tensor([0], { device: "cpu" })),
};

/** Minutes of work in earnest: here the types are checked, and that the names are there. */
const sampling: Calls = {
  AdviFit: async (): Promise<boolean> => (await bayes.advi(posterior())) instanceof bayes.AdviFit,
  Approximation: async () => (await bayes.smc(posterior())) instanceof bayes.Approximation,
  Fit: async (): Promise<boolean> => {
    const fit = await posterior().sample({ chains: 2, draws: 10, warmup: 10, seed: 1, until: { essBulk: 400 } });
    fit.draws.tensor("slope").mean({ axis: [0, 1] });
    // @ts-expect-error the compiler knows the names of a model
    fit.draws.tensor("nonsense");
    return fit instanceof bayes.Fit;
  },
  PathfinderFit: async () => (await bayes.pathfinder(posterior())) instanceof bayes.PathfinderFit,
  SmcFit: async () => (await bayes.smc(posterior())) instanceof bayes.SmcFit,
  advi: async () => (await bayes.advi(posterior(), { family: "full-rank", draws: 100 })).elbo,
  pathfinder: async () => (await bayes.pathfinder(posterior(), { paths: 2, draws: 100 })).paths.length,
  smc: async (): Promise<number> => (await bayes.smc(posterior(), { particles: 128 })).logEvidence,
};

export const bayesCalls: Calls = { ...distributions, ...constraints, ...diagnostics, ...models, ...sampling };

/** Names whose calls are not made. */
export const longCalls: readonly string[] = Object.keys(sampling);
