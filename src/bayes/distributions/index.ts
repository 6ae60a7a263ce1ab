/**
 * The distributions. A new one is a file here and a line below. The sweep of test/bayes/distributions finds it by itself and tests
 * density, draws, moments and gradients; `npm run docs` adds it to the table in docs/bayes.md.
 */
export { type AutoregressionOptions, ar } from "./autoregression.js";
export { bernoulli, bernoulliLogits } from "./bernoulli.js";
export { beta } from "./beta.js";
export { betaBinomial } from "./beta-binomial.js";
export { binomial, binomialLogits } from "./binomial.js";
export { categorical, categoricalLogits } from "./categorical.js";
export { cauchy, halfCauchy } from "./cauchy.js";
export { censored } from "./censored.js";
export { type CustomDistribution, custom } from "./custom.js";
export { dirichlet } from "./dirichlet.js";
export { exponential } from "./exponential.js";
export { flat } from "./flat.js";
export { chiSquared, gamma, inverseGamma } from "./gamma.js";
export { gumbel } from "./gumbel.js";
export { type HmmOptions, hmm } from "./hidden-markov.js";
export { laplace } from "./laplace.js";
export { lkjCholesky } from "./lkj-cholesky.js";
export { logistic } from "./logistic.js";
export { type Components, mixture, mixtureLogits } from "./mixture.js";
export { multinomial } from "./multinomial.js";
export { mvNormal, type Spread } from "./mv-normal.js";
export { geometric, negativeBinomial } from "./negative-binomial.js";
export { halfNormal, logNormal, normal } from "./normal.js";
export { orderedLogistic } from "./ordered-logistic.js";
export { pareto } from "./pareto.js";
export { poisson, poissonLog } from "./poisson.js";
export { gaussianRandomWalk, type RandomWalkOptions } from "./random-walk.js";
export { skewNormal } from "./skew-normal.js";
export { halfStudentT, studentT } from "./student-t.js";
export { type Transformation, transformed } from "./transformed.js";
export { type Bounds, truncatedNormal } from "./truncated-normal.js";
export { uniform } from "./uniform.js";
export { vonMises } from "./von-mises.js";
export { weibull } from "./weibull.js";
export { inverseWishart, wishart } from "./wishart.js";
export { zeroSumNormal } from "./zero-sum-normal.js";
