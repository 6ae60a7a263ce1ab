/**
 * The warmup of chains together: that the host waits for few of its draws, and what the kernels between transitions make of
 * numbers that were put into the chains' memory, against the formulas of the papers and of statistics, in plain loops.
 */
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { nextPace } from "../../../src/bayes/chains/pace.js";
import { PooledWarmup } from "../../../src/bayes/chains/pooled-warmup.js";
import { halfNormal, model, normal } from "../../../src/bayes/index.js";
import {
  DISPATCH_INTS,
  INTS,
  POOLED_INTS,
  POOLED_REALS,
  REALS,
  RUN_REALS,
  SCHEDULE,
  VECTORS,
} from "../../../src/bayes/kernels/layout.js";
import { lanesOfPooled, pooledLanes } from "../../../src/bayes/kernels/pooled/lanes.js";
import type { FloatDType } from "../../../src/bayes/target/target.js";
import { SOFTWARE_ROUNDS } from "../../../src/compiler/ir/loop-rounds.js";
import type { Backend, DeviceStorage } from "../../../src/runtime/backend.js";
import { backendFor, setDefaultDevice } from "../../../src/tensor/index.js";
import { describeOnTensorDevices } from "../../support/tensors.js";
import { normals, sampled } from "./support.js";

before(() => setDefaultDevice("cpu"));

describeOnTensorDevices("a warmup of chains together", (device) => {
  for (const kernel of ["nuts", "hmc", "chees"] as const) {
    test(`has the host wait for few of its draws: ${kernel}`, async () => {
      const spread = model(() => ({ mu: normal(0, 1), tau: halfNormal(1) })).given({});
      const backend = backendFor(device);
      const { read, readSync } = backend;
      let reads = 0;
      backend.read = (storage) => {
        reads++;
        return read.call(backend, storage);
      };
      backend.readSync = (storage) => {
        reads++;
        return readSync.call(backend, storage);
      };
      const warmup = 400;
      const options = { chains: 8, draws: 1, warmup, seed: 3, dtype: "f32", device, kernel, pooled: true } as const;
      try {
        await sampled(spread, options);
      } finally {
        Object.assign(backend, { read, readSync });
      }
      // Two for a look, a look every 60 ms, which are hundreds of draws of so small a model.
      assert.ok(reads < warmup / 4, `${reads} reads for ${warmup} draws`);
    });
  }
});

test("the host looks every 60 ms, and a transition may take four times the steps that were usual", () => {
  assert.deepEqual(nextPace({ transitions: 1, budget: 16 }, 3, 1), { transitions: 4, budget: 16 });
  assert.deepEqual(nextPace({ transitions: 10, budget: 64 }, 100, 30), { transitions: 20, budget: 40 });
  assert.deepEqual(nextPace({ transitions: 10, budget: 16 }, 160, 60), { transitions: 10, budget: 64 });
  assert.deepEqual(nextPace({ transitions: 10, budget: 16 }, 1e6, 6000), { transitions: 3, budget: 64 });
});

test("lanes share the chains of a GPU; of a software driver, only where its loops would end too early", () => {
  const lanes = (chains: number, hasSlowBarriers: boolean, maxLanes = 256) =>
    pooledLanes(
      { abilities: { maxLanes, hasSlowBarriers }, maxLoopRounds: SOFTWARE_ROUNDS } as unknown as Backend,
      chains,
    );
  assert.deepEqual(
    [1, 5, 100, 4096].map((chains) => lanes(chains, false)),
    [1, 8, 128, 128],
  );
  assert.deepEqual(
    [256, 4096, 20000, 1e6].map((chains) => lanes(chains, true)),
    [1, 1, 4, 128],
  );
  assert.equal(lanes(4096, false, 1), 1);
});

/** What a chain has to show. */
interface Setting {
  readonly chains: number;
  readonly dim: number;
  readonly dtype: FloatDType;
  readonly energyDType: FloatDType;
  readonly isDense?: boolean;
  readonly isTimed?: boolean;
  readonly lanes?: number;
  readonly schedule: readonly number[];
  readonly targetAcceptance?: number;
  readonly vectors?: Partial<Record<(typeof VECTORS)[number], readonly number[]>>;
  /** Of the metric: ones unless told. */
  readonly variances?: readonly number[];
  /** Behind a dense metric, [dim][dim][chain]. */
  readonly scatters?: readonly number[];
}

/** Memory of chains without a density, and what adapts them. */
class Bench {
  private readonly memory;
  private readonly warmup: PooledWarmup;
  private readonly backend;

  constructor(
    device: string,
    private readonly setting: Setting,
  ) {
    const { chains, dim, dtype, energyDType, isDense = false, isTimed = false, lanes, schedule } = setting;
    this.backend = backendFor(device);
    const flags = Int32Array.from(schedule);
    const vectors = VECTORS.flatMap((name) => [
      ...(setting.vectors?.[name] ?? new Array<number>(dim * chains).fill(0)),
    ]);
    const { variances = new Array<number>(dim).fill(1) } = setting;
    const elements = isDense
      ? variances.flatMap((variance, row) => variances.map((_, column) => (row === column ? variance : 0)))
      : variances;
    const metric = [...elements.flatMap((value) => new Array<number>(chains).fill(value)), ...(setting.scatters ?? [])];
    const runReals = RUN_REALS.map((name) => (name === "targetAcceptance" ? (setting.targetAcceptance ?? 0.8) : 1));
    this.memory = {
      dispatchInts: this.upload(
        "i32",
        DISPATCH_INTS.map((name) => ({ warmup: schedule.length, asked: 1000 })[name as "asked"] ?? 0),
      ),
      schedule: this.backend.upload(new Uint8Array(flags.buffer)),
      runReals: this.upload(energyDType, runReals),
      vectors: this.upload(dtype, vectors),
      reals: this.upload(energyDType, new Array<number>(REALS.length * chains).fill(1)),
      ints: this.upload("i32", new Array<number>(INTS.length * chains).fill(0)),
      metric: this.upload(dtype, metric),
      factor: this.upload(dtype, new Array<number>(dim * dim * chains).fill(0)),
    };
    const shared = lanes ? { overChains: lanes, root: lanes } : lanesOfPooled(this.backend, { chains, dim });
    const options = { chains, dim, dtype, energyDType, isDense, isTimed, lanes: shared };
    this.warmup = new PooledWarmup(this.backend, flags, options);
  }

  private upload(dtype: FloatDType | "i32", values: readonly number[]) {
    const kinds = { i32: Int32Array, f32: Float32Array, f64: Float64Array };
    return this.backend.upload(new Uint8Array(kinds[dtype].from(values).buffer));
  }

  /** All chains have made as many draws, the last of them with such acceptances and steps. */
  async transition(
    draws: readonly number[],
    acceptances: readonly number[],
    leapfrogs: readonly number[],
  ): Promise<void> {
    const { chains, energyDType } = this.setting;
    const reals = (await this.read("reals")).map((value, at) => {
      const c = at - REALS.indexOf("acceptance") * chains;
      return c >= 0 && c < chains ? acceptances[c]! * leapfrogs[c]! : value;
    });
    const ints = INTS.flatMap((name) => {
      if (name === "draw") return [...draws];
      return name === "leapfrogs" ? [...leapfrogs] : new Array<number>(chains).fill(name === "counted" ? 7 : 0);
    });
    this.memory.reals = this.upload(energyDType, reals);
    this.memory.ints = this.upload("i32", ints);
  }

  adapt(): void {
    this.warmup.adapt(this.memory);
  }

  async read(name: keyof typeof this.memory | "pooledInts" | "pooledReals"): Promise<number[]> {
    const { dtype, energyDType } = this.setting;
    const all: Readonly<Record<string, DeviceStorage>> = { ...this.memory, ...this.warmup.state };
    const { buffer, byteOffset, byteLength } = await this.backend.read(all[name]!);
    const bytes = buffer.slice(byteOffset, byteOffset + byteLength);
    if (["dispatchInts", "schedule", "ints", "pooledInts"].includes(name)) return [...new Int32Array(bytes)];
    const type = ["vectors", "metric", "factor"].includes(name) ? dtype : energyDType;
    return [...(type === "f64" ? new Float64Array(bytes) : new Float32Array(bytes))];
  }

  /** The step size of every chain, which is one. */
  async stepSize(): Promise<number> {
    const { chains } = this.setting;
    const all = (await this.read("reals")).slice(
      REALS.indexOf("stepSize") * chains,
      (REALS.indexOf("stepSize") + 1) * chains,
    );
    assert.equal(new Set(all).size, 1, "chains differ");
    return all[0]!;
  }

  async pooledReal(name: (typeof POOLED_REALS)[number]): Promise<number> {
    return (await this.read("pooledReals"))[POOLED_REALS.indexOf(name)]!;
  }

  async dispatchInt(name: (typeof DISPATCH_INTS)[number]): Promise<number> {
    return (await this.read("dispatchInts"))[DISPATCH_INTS.indexOf(name)]!;
  }
}

const sum = (values: readonly number[]): number => values.reduce((total, x) => total + x, 0);
const expectNear = (found: number, expected: number, dtype: FloatDType, what = "value") => {
  const tolerance = (dtype === "f64" ? 1e-12 : 2e-5) * Math.max(1e-3, Math.abs(expected));
  assert.ok(Math.abs(found - expected) <= tolerance, `${what}: ${found}, not ${expected}`);
};

/** Hoffman and Gelman 2014, equation 6, with γ = 0.05, t0 = 10, κ = 0.75. */
function dualAveraging(mu: number, target: number, acceptances: readonly number[]): { tried: number; kept: number } {
  let [errors, tried, kept] = [0, 0, 0];
  acceptances.forEach((acceptance, n) => {
    const m = n + 1;
    errors = (1 - 1 / (m + 10)) * errors + (target - acceptance) / (m + 10);
    tried = mu - (Math.sqrt(m) / 0.05) * errors;
    kept = m ** -0.75 * tried + (1 - m ** -0.75) * kept;
  });
  return { tried: Math.exp(tried), kept: Math.exp(kept) };
}

describeOnTensorDevices("what adapts chains together", (device) => {
  const { hasDoubles } = backendFor(device);
  const energies = hasDoubles ? (["f64", "f32"] as const) : (["f32"] as const);
  // Of a software driver, one lane is the default, and a GPU has many.
  const lanes = device === "cpu" ? [undefined] : [undefined, 4, 128];
  for (const energyDType of energies)
    for (const count of lanes) {
      describe(`in ${energyDType}${count ? ` on ${count} lanes` : ""}`, () => testKernels(device, energyDType, count));
    }
});

function testKernels(device: string, energyDType: FloatDType, lanes: number | undefined): void {
  const dtype = energyDType;
  const usual = { dtype, energyDType, lanes };

  test("averages the step size by the mean acceptance of all, anew under a new metric, and keeps the average", async () => {
    const chains = 11;
    const schedule = [0, SCHEDULE.counts, SCHEDULE.counts, SCHEDULE.counts | SCHEDULE.closes, 0, 0];
    const bench = new Bench(device, { ...usual, chains, dim: 2, schedule });
    const random = normals(1);
    const means: number[] = [];
    for (let draw = 1; draw <= schedule.length; draw++) {
      const acceptances = Array.from({ length: chains }, () => Math.fround(Math.min(1, Math.abs(random()))));
      const leapfrogs = Array.from({ length: chains }, (_, c) => 2 ** (c % 3));
      await bench.transition(new Array<number>(chains).fill(draw), acceptances, leapfrogs);
      bench.adapt();
      means.push(sum(acceptances) / chains);
      // Chains began with a step size of 1.
      const first = dualAveraging(Math.log(10), 0.8, means.slice(0, 4));
      const again = dualAveraging(Math.log(10 * first.kept), 0.8, means.slice(4));
      const expected = draw < 4 ? first.tried : draw === 4 ? first.kept : draw === 5 ? again.tried : again.kept;
      expectNear(await bench.stepSize(), expected, energyDType, `draw ${draw}`);
      // One draw at a time, and after the warmup what was asked.
      assert.equal(await bench.dispatchInt("until"), draw < schedule.length ? draw + 1 : 1000);
    }
    const before = await bench.read("pooledReals");
    bench.adapt();
    assert.deepEqual(await bench.read("pooledReals"), before, "a warmup that is over goes on");
  });

  test("does nothing until all chains have made the draw", async () => {
    const bench = new Bench(device, { ...usual, chains: 5, dim: 1, isTimed: true, schedule: [0, 0, 0] });
    const [half, two] = [new Array<number>(5).fill(0.5), new Array<number>(5).fill(2)];
    await bench.transition([1, 1, 1, 1, 0], half, two);
    const before = [await bench.read("reals"), await bench.read("pooledReals"), await bench.read("runReals")];
    bench.adapt();
    assert.deepEqual(
      [await bench.read("reals"), await bench.read("pooledReals"), await bench.read("runReals")],
      before,
    );
    assert.equal(await bench.dispatchInt("until"), 1);
    await bench.transition([1, 1, 1, 1, 1], half, two);
    bench.adapt();
    // Once more is not twice.
    bench.adapt();
    expectNear(await bench.stepSize(), dualAveraging(Math.log(10), 0.8, [0.5]).tried, energyDType);
    assert.equal((await bench.read("pooledInts"))[POOLED_INTS.indexOf("adapted")], 1);
    assert.equal(await bench.dispatchInt("until"), 2);
  });

  for (const isDense of [false, true]) {
    const what = isDense ? "the covariance, with its factor," : "the variances";
    test(`finds ${what} of the draws of all chains, regularised, and counts anew`, async () => {
      const [chains, dim, count] = [7, 3, 6];
      const random = normals(4);
      const draws = Array.from({ length: chains }, (_, c) =>
        Array.from({ length: count }, () => {
          const x = c + random();
          return [x, 2 * x + random(), random() - x];
        }),
      );
      const pairs = Array.from({ length: dim * dim }, (_, at) => [Math.floor(at / dim), at % dim] as const);
      const meanOf = (rows: readonly number[][], d: number) => sum(rows.map((row) => row[d]!)) / rows.length;
      const scatterOf = (rows: readonly number[][], [a, b]: readonly [number, number]) =>
        sum(rows.map((row) => (row[a]! - meanOf(rows, a)) * (row[b]! - meanOf(rows, b))));
      const dims = Array.from({ length: dim }, (_, d) => d);
      const mean = dims.flatMap((d) => draws.map((rows) => meanOf(rows, d)));
      const scatter = dims.flatMap((d) => draws.map((rows) => scatterOf(rows, [d, d])));
      const scatters = pairs.flatMap((pair) => draws.map((rows) => scatterOf(rows, pair)));
      const schedule = new Array<number>(count).fill(SCHEDULE.counts);
      schedule[count - 1]! |= SCHEDULE.closes;
      const vectors = { mean, scatter };
      const bench = new Bench(device, {
        ...{ ...usual, chains, dim, isDense, vectors, schedule: [...schedule, 0] },
        ...(isDense && { scatters }),
      });
      const ones = new Array<number>(chains).fill(1);
      await bench.transition(new Array<number>(chains).fill(count), ones, ones);
      for (let n = 0; n < count; n++) bench.adapt();
      const total = chains * count;
      const metric = await bench.read("metric");
      const factor = await bench.read("factor");
      const element = (all: readonly number[], at: number) => {
        const found = all.slice(at * chains, (at + 1) * chains);
        assert.equal(new Set(found).size, 1, "chains differ");
        return found[0]!;
      };
      for (const [at, pair] of (isDense ? pairs : dims.map((d) => [d, d] as const)).entries()) {
        const whole = scatterOf(draws.flat(), pair) / (total - 1);
        const floor = pair[0] === pair[1] ? 1e-3 * (5 / (total + 5)) : 0;
        expectNear(element(metric, at), (total / (total + 5)) * whole + floor, dtype, `element ${pair}`);
        if (!isDense) continue;
        if (pair[1] > pair[0]) assert.equal(element(factor, at), 0);
        const row = (a: number) => dims.map((d) => element(factor, a * dim + d));
        const product = sum(dims.map((d) => row(pair[0])[d]! * row(pair[1])[d]!));
        expectNear(product, element(metric, at), dtype, `factor at ${pair}`);
      }
      if (isDense) assert.deepEqual(new Set(metric.slice(dim * dim * chains)), new Set([0]));
      const after = await bench.read("vectors");
      for (const name of ["mean", "scatter"] as const) {
        const first = VECTORS.indexOf(name) * dim * chains;
        assert.deepEqual(new Set(after.slice(first, first + dim * chains)), new Set([0]), name);
      }
      const counted = INTS.indexOf("counted") * chains;
      assert.deepEqual(new Set((await bench.read("ints")).slice(counted, counted + chains)), new Set([0]));
    });
  }

  test("takes variances where the covariance has no factor, and ones after a single draw", async () => {
    const closing = [SCHEDULE.counts | SCHEDULE.closes, 0];
    const dense = { ...usual, dim: 2, isDense: true, schedule: closing };
    const twisted = new Bench(device, { ...dense, chains: 2, scatters: [1, 1, 2, 2, 2, 2, 1, 1] });
    await twisted.transition([1, 1], [1, 1], [1, 1]);
    twisted.adapt();
    // Of two draws: 2/7 of a scatter of 2, and a floor.
    const variance = (2 / 7) * 2 + 5e-3 / 7;
    const metric = (await twisted.read("metric")).slice(0, 8);
    const factor = await twisted.read("factor");
    for (const [at, value] of [variance, variance, 0, 0, 0, 0, variance, variance].entries()) {
      expectNear(metric[at]!, value, dtype);
      expectNear(factor[at]!, Math.sqrt(value), dtype);
    }
    const single = new Bench(device, { ...dense, chains: 1, vectors: { mean: [3, 4] }, scatters: [0, 0, 0, 0] });
    await single.transition([1], [1], [1]);
    single.adapt();
    assert.deepEqual((await single.read("metric")).slice(0, 4), [1, 0, 0, 1]);
  });

  describe("by ChEES", () => testTime(device, energyDType, lanes));
}

function testTime(device: string, energyDType: FloatDType, lanes: number | undefined): void {
  const [dim, chains] = [2, 400];
  const usual = { chains, dim, dtype: energyDType, energyDType, lanes, isTimed: true };
  const random = normals(9);
  const draw = () => Array.from({ length: dim * chains }, () => Math.fround(random()));
  const [start, velocity] = [draw(), draw()];
  const time = 0.8;
  // Free motion: the end is the start plus time times velocity, so that the criterion has a plain derivative.
  const endAt = (time: number) => start.map((q, i) => q + time * velocity[i]!);
  const fill = (value: number) => new Array<number>(chains).fill(value);

  /** The gradient that Adam's first step saw: of steps of size 1, one in each trajectory. */
  async function found(
    end: number[],
    acceptances: number[],
    isDense = false,
    more: Partial<Setting> = {},
  ): Promise<number> {
    const vectors = { qLeft: start, q: end, p: velocity };
    const scatters = isDense ? new Array<number>(dim * dim * chains).fill(0) : undefined;
    const setting = { ...usual, vectors, isDense, scatters, schedule: [0, 0, 0], targetAcceptance: 3, ...more };
    const bench = new Bench(device, setting);
    await bench.transition(fill(1), acceptances, fill(1));
    bench.adapt();
    return Math.sign(await bench.pooledReal("logTime")) * Math.sqrt((await bench.pooledReal("squares")) / 0.05);
  }

  test("has the gradient of the mean squared change of squared distances, by chances to be accepted", async () => {
    const acceptances = Array.from({ length: chains }, (_, c) => (c % 3) / 2);
    const weight = sum(acceptances);
    const meanOf = (x: number[], d: number, weigh: (c: number) => number) =>
      sum(Array.from({ length: chains }, (_, c) => weigh(c) * x[d * chains + c]!));
    const dims = Array.from({ length: dim }, (_, d) => d);
    const before = dims.map((d) => meanOf(start, d, () => 1 / chains));
    const means = dims.map((d) => meanOf(endAt(time), d, (c) => acceptances[c]! / weight));
    const criterion = (time: number) => {
      const end = endAt(time);
      let total = 0;
      for (let c = 0; c < chains; c++) {
        const changes = dims.map((d) => {
          const at = d * chains + c;
          return (end[at]! - means[d]!) ** 2 - (start[at]! - before[d]!) ** 2;
        });
        total += (acceptances[c]! * sum(changes) ** 2) / 4 / weight;
      }
      return total;
    };
    const slope = (criterion(time + 1e-5) - criterion(time - 1e-5)) / 2e-5;
    for (const isDense of [false, true]) {
      const gradient = await found(endAt(time), acceptances, isDense);
      const tolerance = (energyDType === "f64" ? 1e-6 : 1e-3) * Math.abs(slope);
      assert.ok(Math.abs(gradient - slope) < tolerance, `${gradient}, not ${slope}`);
    }
  });

  test("knows nothing of ends that diverged, and stays where all did", async () => {
    const acceptances = Array.from({ length: chains }, (_, c) => (c === 7 ? 0 : 1));
    const astray = endAt(time).map((q, i) => (i % chains === 7 ? Number.NaN : q));
    assert.equal(await found(astray, acceptances), await found(endAt(time), acceptances));
    assert.notEqual(await found(astray, acceptances), 0);
    assert.equal(await found(endAt(time), fill(0)), 0);
  });

  test("measures distances in the metric's units", async () => {
    const scale = (d: number) => [8, 0.25][d]!;
    const scaled = (x: readonly number[], power: number) =>
      x.map((value, i) => value * scale(Math.floor(i / chains)) ** power);
    const end = endAt(time);
    const vectors = { qLeft: scaled(start, 1), q: scaled(end, 1), p: scaled(velocity, -1) };
    const variances = [0, 1].map((d) => scale(d) ** 2);
    for (const isDense of [false, true]) {
      const plain = await found(end, fill(1), isDense);
      const inUnits = await found(end, fill(1), isDense, { vectors, variances });
      assert.ok(Math.abs(inUnits - plain) < (energyDType === "f64" ? 1e-10 : 1e-3) * Math.abs(plain));
    }
  });

  test("moves the logarithm of the time by Adam's steps, from 1 under a new metric, and keeps the average", async () => {
    const schedule = [0, 0, 0, SCHEDULE.closes, 0, 0, 0, 0];
    const rounds = schedule.length;
    const vectors = { qLeft: start, q: endAt(time), p: velocity };
    const bench = new Bench(device, { ...usual, vectors, schedule, targetAcceptance: 3 });
    const gradient = await found(endAt(time), fill(1));
    const storedLogTime = async () => Math.log((await bench.read("runReals"))[RUN_REALS.indexOf("trajectory")]!);
    const tolerance = energyDType === "f64" ? 1e-10 : 1e-4;
    let [logTime, squares, stepSize, moved, average] = [0, 0, 1, 0, 0];
    for (const [n, flags] of schedule.entries()) {
      const draw = n + 1;
      // The last transition ends nowhere, which tells nothing: the time stays.
      const isLost = draw === rounds;
      await bench.transition(fill(draw), fill(isLost ? Number.NaN : 1), fill(draw));
      bench.adapt();
      if (isLost) break;
      // By the logarithm of the time: the longest trajectory's, in steps of the size that it had.
      const slope = draw * stepSize * gradient;
      stepSize = await bench.stepSize();
      moved++;
      squares = 0.95 * squares + 0.05 * slope ** 2;
      logTime += (0.05 * slope) / Math.sqrt(squares / (1 - 0.95 ** moved));
      logTime = Math.min(logTime, Math.log(1000 * stepSize));
      average += (logTime - average) / Math.sqrt(moved);
      if (flags) [logTime, squares, moved] = [0, 0, 0];
      const found = await storedLogTime();
      assert.ok(Math.abs(found - logTime) < tolerance, `${found} at ${draw}, not ${logTime}`);
    }
    assert.ok(Math.abs((await storedLogTime()) - average) < tolerance, `${await storedLogTime()}, not ${average}`);
  });

  test("may be less than a step, since steps that are tried after a new metric are too long", async () => {
    const bench = new Bench(device, {
      ...usual,
      schedule: [0, 0, 0],
      vectors: { qLeft: start, q: start, p: velocity },
    });
    await bench.transition(fill(1), fill(1), fill(1));
    bench.adapt();
    const time = (await bench.read("runReals"))[RUN_REALS.indexOf("trajectory")]!;
    assert.ok((await bench.stepSize()) > 9 && time < 1.1, `a time of ${time}`);
  });
}
