/**
 * The No-U-Turn sampler in plain numbers, written from the papers with recursion and lists: one chain, warmup included, with
 * random words by the counters that the kernel is to use. What the kernel draws must be what this draws, draw by draw.
 *
 * It also keeps account of its words: none may be asked for twice.
 */
import { type Pair, threefryOracle } from "../../support/threefry-oracle.js";

export type Vector = readonly number[];
export type TargetDensity = (q: Vector) => { readonly logp: number; readonly slope: Vector };

export interface PlainSettings {
  readonly target: TargetDensity;
  readonly dim: number;
  readonly chain: number;
  readonly seed: number;
  readonly stepSize: number;
  readonly warmup: number;
  readonly draws: number;
  /** Draws of the warmup at which windows end, the first of them only beginning one. */
  readonly windows: readonly number[];
  readonly isDense: boolean;
  readonly maxTreeDepth: number;
  readonly targetAcceptance: number;
  readonly start: Vector | null;
}

export interface PlainDraw {
  readonly q: Vector;
  readonly lp: number;
  readonly energy: number;
  readonly acceptance: number;
  readonly stepSize: number;
  readonly treeDepth: number;
  readonly leapfrogs: number;
  readonly divergent: number;
}

interface Point {
  readonly q: Vector;
  readonly p: Vector;
  readonly logp: number;
  readonly slope: Vector;
}

const PURPOSES = ["momentum", "direction", "leaf", "merge", "init"] as const;

const dot = (a: Vector, b: Vector): number => a.reduce((sum, x, i) => sum + x * b[i]!, 0);
const plus = (a: Vector, b: Vector): Vector => a.map((x, i) => x + b[i]!);
const unit = (word: number): number => (word + 0.5) / 2 ** 32;
const logSum = (a: number, b: number): number => {
  const [most, least] = [Math.max(a, b), Math.min(a, b)];
  return least === Number.NEGATIVE_INFINITY ? most : most + Math.log1p(Math.exp(least - most));
};

/** Two normal numbers: a radius, and an angle within a quarter of the circle that two bits choose. */
function normalPair([a, b]: Pair): Pair {
  const radius = Math.sqrt(-2 * Math.log(unit(a))) * (b >>> 31 ? -1 : 1);
  const angle = (((b % 2 ** 30) + 0.5) / 2 ** 30 - 0.5) * (Math.PI / 2);
  const pair = [radius * Math.cos(angle), radius * Math.sin(angle)] as const;
  return (b >>> 30) & 1 ? [pair[1], pair[0]] : pair;
}

export class PlainNuts {
  /** Of every word that was asked for: which transition it belongs to, what it is for, and its number. */
  readonly used = new Set<string>();
  /** Step sizes with which searches have ended. */
  readonly searched: number[] = [];
  metric: Vector[];
  private stepSize: number;
  private transition = 0;
  private attempts = 0;

  constructor(private readonly settings: PlainSettings) {
    const { dim, stepSize } = settings;
    this.stepSize = stepSize;
    this.metric = Array.from({ length: dim }, (_, i) => Array.from({ length: dim }, (_, j) => Number(i === j)));
  }

  private words(purpose: (typeof PURPOSES)[number], number: number): Pair {
    const { seed, chain } = this.settings;
    const name = `chain ${chain}, transition ${this.transition}, ${purpose} ${number}`;
    if (this.used.has(name)) throw new Error(`words are used twice: ${name}`);
    this.used.add(name);
    const run = [seed % 2 ** 32, Math.floor(seed / 2 ** 32)] as const;
    const key = threefryOracle(run, [chain, this.transition >>> 0]);
    return threefryOracle(key, [PURPOSES.indexOf(purpose), number]);
  }

  run(): PlainDraw[] {
    const { warmup, draws, windows } = this.settings;
    let at = this.start();
    if (warmup > 0) this.search(at);
    let dual = this.dualAveraging();
    let window: Vector[] = [];
    const noted: PlainDraw[] = [];
    for (let draw = 0; draw < warmup + draws; draw++) {
      this.transition = draw;
      const next = this.draw(at);
      at = next.point;
      if (draw >= warmup) {
        noted.push(next.noted);
        continue;
      }
      this.stepSize = dual.next(next.noted.acceptance);
      if (draw >= windows[0]! && draw < windows.at(-1)!) window.push(at.q);
      if (windows.slice(1).includes(draw + 1)) {
        this.metric = this.metricOf(window);
        window = [];
        this.search(at);
        dual = this.dualAveraging();
      }
      if (draw + 1 === warmup) this.stepSize = dual.settled();
    }
    return noted;
  }

  private pointAt(q: Vector, p: Vector): Point {
    return { q, p, ...this.settings.target(q) };
  }

  private start(): Point {
    const { start, dim } = this.settings;
    this.transition = -1;
    for (; this.attempts < 100; this.attempts++) {
      const drawn = () =>
        Array.from({ length: dim }, (_, d) => 2 * (2 * unit(this.words("init", this.attempts * dim + d)[0]) - 1));
      const point = this.pointAt(start ?? drawn(), []);
      if ([point.logp, ...point.slope].every(Number.isFinite)) return point;
    }
    throw new Error("no point to start from");
  }

  // ------------------------------------------------------------------------------------------------ dynamics

  private velocity(p: Vector): Vector {
    return this.metric.map((row) => dot(row, p));
  }

  private energy({ p, logp }: Point): number {
    return dot(p, this.velocity(p)) / 2 - logp;
  }

  private leapfrog({ q, p, slope }: Point, step: number): Point {
    const half = p.map((x, d) => x + (step / 2) * slope[d]!);
    const velocity = this.velocity(half);
    const next = this.pointAt(
      q.map((x, d) => x + step * velocity[d]!),
      half,
    );
    return { ...next, p: half.map((x, d) => x + (step / 2) * next.slope[d]!) };
  }

  /** Of variance metric⁻¹: Lᵀp = z for metric LLᵀ. */
  private momenta(): Vector {
    const { dim } = this.settings;
    const z = Array.from({ length: Math.ceil(dim / 2) }, (_, n) => normalPair(this.words("momentum", n))).flat();
    const factor = cholesky(this.metric);
    const p = new Array<number>(dim).fill(0);
    for (let d = dim - 1; d >= 0; d--) {
      p[d] = (z[d]! - p.reduce((sum, x, j) => sum + (j > d ? factor[j]![d]! * x : 0), 0)) / factor[d]![d]!;
    }
    return p;
  }

  // ------------------------------------------------------------------------------------------------ trajectories

  private draw(from: Point): { readonly point: Point; readonly noted: PlainDraw } {
    const { maxTreeDepth } = this.settings;
    const first: Point = { ...from, p: this.momenta() };
    const h0 = this.energy(first);
    let [sample, points, logWeight, depth] = [first, [first], 0, 0];
    let [leapfrogs, acceptance, divergent] = [0, 0, 0];
    while (depth < maxTreeDepth) {
      const sign = this.words("direction", depth)[0] & 1 ? 1 : -1;
      let [chosen, subWeight] = [first, Number.NEGATIVE_INFINITY];
      const leaf = (before: Point): Point[] | null => {
        const point = this.leapfrog(before, sign * this.stepSize);
        const change = h0 - this.energy(point);
        leapfrogs++;
        if (!(change >= -1000)) {
          divergent = 1;
          return null;
        }
        acceptance += Math.min(1, Math.exp(change));
        subWeight = logSum(subWeight, change);
        if (Math.log(unit(this.words("leaf", leapfrogs)[0])) <= change - subWeight) chosen = point;
        return [point];
      };
      /** Twice as many points for each level, in the order of their making; null where they turn or diverge. */
      const grow = (before: Point, level: number): Point[] | null => {
        if (level === 0) return leaf(before);
        const near = grow(before, level - 1);
        const far = near && grow(near.at(-1)!, level - 1);
        return near && far && !this.turns(near, far) ? [...near, ...far] : null;
      };
      // From the far end to the side that grows.
      const old = sign > 0 ? points : [...points].reverse();
      const more = grow(old.at(-1)!, depth);
      if (!more) break;
      if (Math.log(unit(this.words("merge", depth)[0])) < subWeight - logWeight) sample = chosen;
      logWeight = logSum(logWeight, subWeight);
      depth++;
      const all = [...old, ...more];
      points = sign > 0 ? all : all.reverse();
      if (this.turns(old, more)) break;
    }
    const noted = {
      ...{ q: sample.q, lp: sample.logp, energy: this.energy(sample), acceptance: acceptance / leapfrogs },
      ...{ stepSize: this.stepSize, treeDepth: depth, leapfrogs, divergent },
    };
    return { point: sample, noted };
  }

  /** The criterion over the whole, and from each half to the first point of the other. */
  private turns(left: readonly Point[], right: readonly Point[]): boolean {
    const sum = (points: readonly Point[]) => points.map(({ p }) => p).reduce(plus);
    const ends = (points: readonly Point[]) => [points[0]!, points.at(-1)!];
    return [
      [...left, ...right],
      [...left, right[0]!],
      [left.at(-1)!, ...right],
    ].some((points) => {
      const rho = this.velocity(sum(points));
      return ends(points).some(({ p }) => !(dot(p, rho) > 0));
    });
  }

  // ------------------------------------------------------------------------------------------------ adaptation

  /** Doubles or halves the step until one changes whether a step is accepted with a chance of 0.8. */
  private search(from: Point): void {
    let side = 0;
    for (;;) {
      this.attempts++;
      this.transition = -2 - this.attempts;
      const point: Point = { ...from, p: this.momenta() };
      const change = this.energy(point) - this.energy(this.leapfrog(point, this.stepSize));
      const now = change > Math.log(0.8) ? 1 : -1;
      if (side !== 0 && now !== side) break;
      if (side !== 0) this.stepSize *= 2 ** now;
      side = now;
    }
    this.searched.push(this.stepSize);
  }

  /** Hoffman and Gelman (2014), algorithm 5, with γ = 0.05, t₀ = 10 and κ = 0.75. */
  private dualAveraging(): { next(acceptance: number): number; settled(): number } {
    const { targetAcceptance } = this.settings;
    const mu = Math.log(10 * this.stepSize);
    let [t, error, logAverage] = [0, 0, 0];
    return {
      next(acceptance) {
        t++;
        error += (targetAcceptance - acceptance - error) / (t + 10);
        const x = mu - (Math.sqrt(t) / 0.05) * error;
        logAverage = t ** -0.75 * x + (1 - t ** -0.75) * logAverage;
        return Math.exp(x);
      },
      settled: () => Math.exp(logAverage),
    };
  }

  /** Stan's: the covariance with the weight of five draws of variance 0.001. */
  private metricOf(window: readonly Vector[]): Vector[] {
    const { dim, isDense } = this.settings;
    const n = window.length;
    const mean = window.reduce(plus).map((x) => x / n);
    return Array.from({ length: dim }, (_, i) =>
      Array.from({ length: dim }, (_, j) => {
        if (i !== j && !isDense) return 0;
        const covariance = window.reduce((sum, q) => sum + (q[i]! - mean[i]!) * (q[j]! - mean[j]!), 0) / (n - 1);
        return (n / (n + 5)) * covariance + (i === j ? 1e-3 * (5 / (n + 5)) : 0);
      }),
    );
  }
}

function cholesky(matrix: readonly Vector[]): number[][] {
  const factor = matrix.map((row) => row.map(() => 0));
  for (const [i, row] of matrix.entries()) {
    for (let j = 0; j <= i; j++) {
      const rest = row[j]! - dot(factor[i]!.slice(0, j), factor[j]!.slice(0, j));
      factor[i]![j] = i === j ? Math.sqrt(rest) : rest / factor[j]![j]!;
    }
  }
  return factor;
}
