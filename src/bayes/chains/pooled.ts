/**
 * Adaptation of many chains together, between dispatches: one dual-averaging update from the mean acceptance of all chains,
 * one metric from the scatter of all their draws, and for ChEES-HMC (Hoffman, Radul, Sountsov 2021) one trajectory length,
 * moved along the gradient that `chees.ts` has of it. With a thousand chains a short warmup is enough.
 * Pure: `NutsChains` reads and writes the device.
 */

/** How far the warmup of chains together has come: numbers, which are saved with the chains. */
export interface PooledState {
  /** Draws of the warmup that have been adapted to. */
  draw: number;
  dual: DualState | null;
  time: TimeState | null;
}

interface DualState {
  mu: number;
  count: number;
  sBar: number;
  xBar: number;
}

/** Nesterov's dual averaging with Stan's constants (Hoffman and Gelman 2014). */
export class DualAveraging {
  constructor(
    readonly state: DualState,
    private readonly target: number,
  ) {}

  static from(stepSize: number): DualState {
    return { mu: Math.log(10 * stepSize), count: 0, sBar: 0, xBar: 0 };
  }

  /** The step size to try next. */
  update(acceptance: number): number {
    const { state } = this;
    state.count++;
    const eta = 1 / (state.count + 10);
    state.sBar = (1 - eta) * state.sBar + eta * (this.target - acceptance);
    const x = state.mu - (state.sBar * Math.sqrt(state.count)) / 0.05;
    const rate = state.count ** -0.75;
    state.xBar = (1 - rate) * state.xBar + rate * x;
    return Math.exp(x);
  }

  /** The step size to keep. */
  get average(): number {
    return Math.exp(this.state.xBar);
  }

  restart(stepSize: number): void {
    Object.assign(this.state, DualAveraging.from(stepSize));
  }
}

/** What chains have counted in a window: means are [dim][chain], and as many draws of each chain. */
export interface Counted {
  readonly means: ArrayLike<number>;
  readonly counts: ArrayLike<number>;
  readonly dim: number;
}

/** Variances of the draws of all chains together, regularised as Stan does. Scatters are [dim][chain]. */
export function pooledVariances(counted: Counted, scatters: ArrayLike<number>): Float64Array {
  const { total, meanOf, between } = together(counted);
  const variances = new Float64Array(counted.dim).fill(1);
  if (total < 2) return variances;
  const chains = counted.counts.length;
  for (let d = 0; d < counted.dim; d++) {
    const mean = meanOf(d);
    let scatter = between(d, mean, d, mean);
    for (let c = 0; c < chains; c++) scatter += scatters[d * chains + c];
    variances[d] = regularised(scatter, total) + floorOf(total);
  }
  return variances;
}

/** The covariance of the draws of all chains together, [dim, dim], regularised the same way. Scatters are [dim][dim][chain]. */
export function pooledCovariance(counted: Counted, scatters: ArrayLike<number>): Float64Array {
  const { total, meanOf, between } = together(counted);
  const { dim } = counted;
  const covariance = Float64Array.from({ length: dim * dim }, (_, at) => Number(at % (dim + 1) === 0));
  if (total < 2) return covariance;
  const chains = counted.counts.length;
  const sumOf = (at: number) => {
    let sum = 0;
    for (let c = 0; c < chains; c++) sum += scatters[at * chains + c];
    return sum;
  };
  const means = Float64Array.from({ length: dim }, (_, d) => meanOf(d));
  for (let row = 0; row < dim; row++) {
    for (let column = 0; column <= row; column++) {
      // A chain's own scatter is symmetric up to rounding.
      const own = (sumOf(row * dim + column) + sumOf(column * dim + row)) / 2;
      const value = regularised(own + between(row, means[row], column, means[column]), total);
      covariance[row * dim + column] = covariance[column * dim + row] = value + (row === column ? floorOf(total) : 0);
    }
  }
  return covariance;
}

const regularised = (scatter: number, total: number): number => (total / (total + 5)) * (scatter / (total - 1));
const floorOf = (total: number): number => (1e-3 * 5) / (total + 5);

/** How many draws there are of all chains, their means, and what the chains' means scatter by around those. */
function together({ means, counts }: Counted) {
  const chains = counts.length;
  let total = 0;
  for (let c = 0; c < chains; c++) total += counts[c];
  return {
    total,
    meanOf(d: number): number {
      let mean = 0;
      for (let c = 0; c < chains; c++) mean += (counts[c] * means[d * chains + c]) / total;
      return mean;
    },
    between(row: number, rowMean: number, column: number, columnMean: number): number {
      let sum = 0;
      for (let c = 0; c < chains; c++) {
        sum += counts[c] * (means[row * chains + c] - rowMean) * (means[column * chains + c] - columnMean);
      }
      return sum;
    },
  };
}

/** The lower triangle L with L·Lᵀ = matrix [dim, dim]; null where there is none. */
export function choleskyFactor(matrix: ArrayLike<number>, dim: number): Float64Array | null {
  const factor = new Float64Array(dim * dim);
  for (let row = 0; row < dim; row++) {
    for (let column = 0; column <= row; column++) {
      let rest = matrix[row * dim + column];
      for (let j = 0; j < column; j++) rest -= factor[row * dim + j] * factor[column * dim + j];
      if (row === column && !(rest > 0)) return null;
      factor[row * dim + column] = row === column ? Math.sqrt(rest) : rest / factor[column * dim + column];
    }
  }
  return factor;
}

interface TimeState {
  logTime: number;
  squares: number;
  count: number;
  later: number;
  laterCount: number;
}

/** Adam on the logarithm of the trajectory's time, and the mean of the later half of its steps. */
export class TrajectoryAdaptation {
  constructor(
    readonly state: TimeState,
    private readonly rounds: number,
  ) {}

  static from(time: number): TimeState {
    return { logTime: Math.log(time), squares: 0, count: 0, later: 0, laterCount: 0 };
  }

  update(gradient: number, stepSize: number): number {
    const { state } = this;
    if (Number.isFinite(gradient)) {
      state.count++;
      state.squares = 0.95 * state.squares + 0.05 * gradient * gradient;
      const scale = Math.sqrt(state.squares / (1 - 0.95 ** state.count)) + 1e-20;
      const step = (0.05 * gradient) / scale;
      // At least one step, at most a thousand.
      const [low, high] = [Math.log(stepSize), Math.log(1000 * stepSize)];
      state.logTime = Math.min(high, Math.max(low, state.logTime + step));
      if (state.count > this.rounds / 2) {
        state.later += state.logTime;
        state.laterCount++;
      }
    }
    return Math.exp(state.logTime);
  }

  get average(): number {
    const { later, laterCount, logTime } = this.state;
    return Math.exp(laterCount > 0 ? later / laterCount : logTime);
  }
}
