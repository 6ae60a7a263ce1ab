/**
 * Adaptation of many chains together, between dispatches: one dual-averaging update from the mean acceptance of all chains,
 * one metric from the scatter of all their draws, and for ChEES-HMC (Hoffman, Radul, Sountsov 2021) one trajectory length,
 * moved along the gradient of the expected change in squared distance. With a thousand chains a short warmup is enough.
 * Pure: `NutsChains` reads and writes the device.
 */

/** Nesterov's dual averaging with Stan's constants (Hoffman and Gelman 2014). */
export class DualAveraging {
  private count = 0;
  private sBar = 0;
  private xBar = 0;
  private mu: number;

  constructor(
    stepSize: number,
    private readonly target: number,
  ) {
    this.mu = Math.log(10 * stepSize);
  }

  /** The step size to try next. */
  update(acceptance: number): number {
    this.count++;
    const eta = 1 / (this.count + 10);
    this.sBar = (1 - eta) * this.sBar + eta * (this.target - acceptance);
    const x = this.mu - (this.sBar * Math.sqrt(this.count)) / 0.05;
    const rate = this.count ** -0.75;
    this.xBar = (1 - rate) * this.xBar + rate * x;
    return Math.exp(x);
  }

  /** The step size to keep. */
  get average(): number {
    return Math.exp(this.xBar);
  }

  restart(stepSize: number): void {
    this.mu = Math.log(10 * stepSize);
    this.count = 0;
    this.sBar = 0;
    this.xBar = 0;
  }
}

/** Variances of the draws of all chains together, regularised as Stan does. Means and scatters are [dim][chain]. */
export function pooledVariances(
  means: ArrayLike<number>,
  scatters: ArrayLike<number>,
  counts: ArrayLike<number>,
  dim: number,
): Float64Array {
  const chains = counts.length;
  let total = 0;
  for (let c = 0; c < chains; c++) total += counts[c];
  const variances = new Float64Array(dim).fill(1);
  if (total < 2) return variances;
  for (let d = 0; d < dim; d++) {
    let mean = 0;
    for (let c = 0; c < chains; c++) mean += (counts[c] * means[d * chains + c]) / total;
    let scatter = 0;
    for (let c = 0; c < chains; c++) {
      scatter += scatters[d * chains + c] + counts[c] * (means[d * chains + c] - mean) ** 2;
    }
    variances[d] = (total / (total + 5)) * (scatter / (total - 1)) + (1e-3 * 5) / (total + 5);
  }
  return variances;
}

/** What ChEES needs of the last transition of every chain; vectors are [dim][chain]. */
export interface Transitions {
  readonly start: ArrayLike<number>;
  readonly end: ArrayLike<number>;
  readonly momentum: ArrayLike<number>;
  readonly metric: ArrayLike<number>;
  readonly acceptances: ArrayLike<number>;
  /** The time the trajectories took. */
  readonly time: number;
}

/** The gradient of the ChEES criterion by the logarithm of the trajectory's time. */
export function cheesGradient({ start, end, momentum, metric, acceptances, time }: Transitions, dim: number): number {
  const chains = acceptances.length;
  const meanOf = (x: ArrayLike<number>, d: number, weigh: (c: number) => number) => {
    let [sum, weight] = [0, 0];
    for (let c = 0; c < chains; c++) {
      const w = weigh(c);
      // A divergent end may be anything.
      if (w === 0) continue;
      sum += w * x[d * chains + c];
      weight += w;
    }
    return weight > 0 ? sum / weight : 0;
  };
  const startMeans = Array.from({ length: dim }, (_, d) => meanOf(start, d, () => 1));
  const endMeans = Array.from({ length: dim }, (_, d) => meanOf(end, d, (c) => acceptances[c]));
  let [sum, weight] = [0, 0];
  for (let c = 0; c < chains; c++) {
    if (acceptances[c] === 0) continue;
    let [change, along] = [0, 0];
    for (let d = 0; d < dim; d++) {
      const at = d * chains + c;
      const after = end[at] - endMeans[d];
      change += after ** 2 - (start[at] - startMeans[d]) ** 2;
      along += after * metric[at] * momentum[at];
    }
    sum += acceptances[c] * change * along;
    weight += acceptances[c];
  }
  return weight > 0 ? (time * sum) / weight : 0;
}

/** Adam on the logarithm of the trajectory's time, and the mean of the later half of its steps. */
export class TrajectoryAdaptation {
  private logTime: number;
  private squares = 0;
  private count = 0;
  private later = 0;
  private laterCount = 0;

  constructor(
    time: number,
    private readonly rounds: number,
  ) {
    this.logTime = Math.log(time);
  }

  update(gradient: number, stepSize: number): number {
    if (Number.isFinite(gradient)) {
      this.count++;
      this.squares = 0.95 * this.squares + 0.05 * gradient * gradient;
      const scale = Math.sqrt(this.squares / (1 - 0.95 ** this.count)) + 1e-20;
      const step = (0.05 * gradient) / scale;
      // At least one step, at most a thousand.
      const [low, high] = [Math.log(stepSize), Math.log(1000 * stepSize)];
      this.logTime = Math.min(high, Math.max(low, this.logTime + step));
      if (this.count > this.rounds / 2) {
        this.later += this.logTime;
        this.laterCount++;
      }
    }
    return Math.exp(this.logTime);
  }

  get average(): number {
    return Math.exp(this.laterCount > 0 ? this.later / this.laterCount : this.logTime);
  }
}
