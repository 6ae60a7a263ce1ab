/**
 * Densities and gradients as chains evaluate them inside a kernel, by one thread and by lanes that share the work in this way
 * or that: elements that every lane computes, elements of its own, passes over data, sums inside them. Against plain
 * JavaScript and central differences of it.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { arithmeticOf } from "../../../src/bayes/kernels/arithmetic.js";
import { ChainBuilder, densityOf } from "../../../src/bayes/kernels/density.js";
import type { TargetDensity } from "../../../src/bayes/target/target.js";
import { columnPlace } from "../../../src/compiler/inline/place.js";
import { walkStatements } from "../../../src/compiler/ir/ir.js";
import { backendFor, full, type Tensor, tensor } from "../../../src/tensor/index.js";
import { valueAndGrad } from "../../../src/transforms/grad.js";
import { describeOnTensorDevices } from "../../support/tensors.js";
import { normals } from "../chains/support.js";

interface Case {
  readonly density: (u: Tensor, data: (values: unknown) => Tensor) => Tensor;
  readonly plain: (u: readonly number[]) => number;
}

const random = normals(31);
const numbers = (count: number) => Array.from({ length: count }, random);
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
const CHAINS = 3;

/** Independent elements: each lane may have its own. */
function elements(dim: number): Case {
  const weights = numbers(dim).map((z) => Math.exp(z));
  return {
    density: (u, data) => u.square().mul(data(weights)).sum().mul(-0.5),
    plain: (u) => -0.5 * sum(u.map((value, i) => weights[i]! * value ** 2)),
  };
}

/** Eight schools with any number of them: two scalars, a vector, and short sums over it. */
function schools(dim: number): Case {
  const [y, s] = [numbers(dim - 2), numbers(dim - 2).map((z) => Math.exp(z))];
  return {
    density: (u, data) => {
      const [mu, tau, z] = [u.at(0), u.at(1).exp(), u.at("2:")];
      const residuals = data(y).sub(z.mul(tau).add(mu)).div(data(s));
      return residuals.square().sum().add(z.square().sum()).add(mu.square()).mul(-0.5).sub(tau.square().log1p());
    },
    plain: ([mu, logTau, ...z]) => {
      const tau = Math.exp(logTau!);
      const squares = z.map((value, i) => ((y[i]! - mu! - tau * value) / s[i]!) ** 2 + value ** 2);
      return -0.5 * (sum(squares) + mu! ** 2) - Math.log1p(tau ** 2);
    },
  };
}

/** A regression: a product of every observation with all elements, inside the pass over observations. */
function regression(dim: number, count: number): Case {
  const rows = Array.from({ length: count }, () => numbers(dim));
  const y = numbers(count);
  return {
    density: (u, data) => data(y).sub(data(rows).matmul(u)).square().sum().add(u.square().sum()).mul(-0.5),
    plain: (u) => {
      const squares = rows.map((row, n) => (y[n]! - sum(row.map((value, i) => value * u[i]!))) ** 2);
      return -0.5 * (sum(squares) + sum(u.map((value) => value ** 2)));
    },
  };
}

/** Every element depends on a sum over all of them, and the sum is inside another. */
const coupled: Case = {
  density: (u) => u.logsumexp().neg().sub(u.sub(u.mean()).square().sum().sqrt()),
  plain: (u) => {
    const mean = sum([...u]) / u.length;
    return -Math.log(sum(u.map(Math.exp))) - Math.sqrt(sum(u.map((value) => (value - mean) ** 2)));
  },
};

/** A density that depends on nothing, and so does its gradient. */
const level: Case = {
  density: (u) => full(u.shape, -1.5, { dtype: "f64", device: u.device }).sum(),
  plain: (u) => -1.5 * u.length,
};
/** A density with a constant slope. */
const slope: Case = { density: (u) => u.sum(), plain: (u) => sum([...u]) };

const cases: Record<string, Case & { readonly dim: number }> = {};
for (const dim of [1, 3, 4, 5, 8, 33, 64, 65]) cases[`elements of ${dim}`] = { dim, ...elements(dim) };
for (const dim of [3, 6, 10, 34, 70]) cases[`schools of ${dim}`] = { dim, ...schools(dim) };
for (const [dim, count] of [
  [2, 5],
  [5, 3],
  [4, 40],
  [20, 50],
  [40, 8],
  [66, 10],
] as const) {
  cases[`regression of ${dim} by ${count}`] = { dim, ...regression(dim, count) };
}
for (const dim of [1, 3, 8, 65]) {
  cases[`a constant density of ${dim}`] = { dim, ...level };
  cases[`a constant slope of ${dim}`] = { dim, ...slope };
}
for (const dim of [2, 4, 9, 65]) cases[`coupled elements of ${dim}`] = { dim, ...coupled };

/** A kernel of so many lanes that evaluates a density at points of columns. */
function evaluation(target: TargetDensity, device: string, lanes: number) {
  const { dim } = target;
  const density = densityOf(target, "f64", device);
  return backendFor(device).handWritten(`evaluate ${lanes} ${density.fn.key}`, (context) => {
    const builder = new ChainBuilder("evaluate", density, CHAINS, lanes, context);
    const { k, scratch } = builder;
    const ops = arithmeticOf(k, builder.settings);
    const [from, to] = [k.buffer("f64", true), k.buffer("f64", true)].map((buffer) =>
      columnPlace(k, buffer, "f64", ops.i(0)),
    );
    const [q, gradient] = [scratch.place("f64", dim), scratch.place("f64", dim)];
    ops.each(dim, (d) => q.store(d, from.load(d)));
    k.barrier();
    const value = builder.evaluate(q, gradient);
    ops.each(dim, (d) => to.store(d, gradient.load(d)));
    to.store(ops.i(dim), value, lanes > 1 ? k.compare("eq", k.lane, ops.i(0)) : null);
    return { kernel: k.finish(), scratch: scratch.buffers };
  });
}

/** The density and its gradient at points [chain][element]. */
async function evaluated(target: TargetDensity, device: string, lanes: number, points: readonly (readonly number[])[]) {
  const backend = backendFor(device);
  const { dim } = target;
  const density = densityOf(target, "f64", device);
  const { written, run } = evaluation(target, device, lanes);
  const columns = Float64Array.from(
    { length: dim * CHAINS },
    (_, at) => points[at % CHAINS]![Math.floor(at / CHAINS)]!,
  );
  const results = backend.zeros((dim + 1) * CHAINS * 8);
  const lent = written.scratch.map(({ elements: count }) => backend.zeros(count * CHAINS * 8));
  run([...density.data, backend.upload(new Uint8Array(columns.buffer)), results, ...lent]);
  const found = new Float64Array((await backend.read(results)).buffer);
  return points.map((_, chain) => ({
    value: found[dim * CHAINS + chain]!,
    gradient: Array.from({ length: dim }, (_, d) => found[d * CHAINS + chain]!),
  }));
}

const targetOf = ({ dim, density }: Case & { readonly dim: number }, device: string): TargetDensity => {
  const data = (values: unknown) => tensor(values as number[], { dtype: "f64", device });
  return { dim, logDensityAndGrad: (u) => valueAndGrad((v: Tensor) => density(v, data))(u) };
};

const STEP = 1e-5;

describeOnTensorDevices("densities inside kernels", (device) => {
  const skip = backendFor(device).hasDoubles ? false : "missing: f64";
  for (const [name, one] of Object.entries(cases)) {
    test(name, { skip }, async () => {
      const { dim, plain } = one;
      const points = Array.from({ length: CHAINS }, () => numbers(dim));
      const target = targetOf(one, device);
      for (const lanes of device === "cpu" ? [1] : [1, 2, 8, 32, 64]) {
        const found = await evaluated(target, device, lanes, points);
        points.forEach((point, chain) => {
          const { value, gradient } = found[chain]!;
          const wanted = plain(point);
          assert.ok(
            Math.abs(value - wanted) <= 1e-12 * Math.max(1, Math.abs(wanted)),
            `${lanes} lanes: ${value}, not ${wanted}`,
          );
          gradient.forEach((slope, d) => {
            const at = (change: number) => plain(point.map((x, i) => (i === d ? x + change : x)));
            const steepness = (at(STEP) - at(-STEP)) / (2 * STEP);
            const scale = Math.max(1, Math.abs(wanted), Math.abs(steepness));
            assert.ok(
              Math.abs(slope - steepness) <= 1e-7 * scale,
              `${lanes} lanes, by ${d}: ${slope}, not ${steepness}`,
            );
          });
        });
      }
    });
  }

  test("several lanes share sums and vectors of a few elements", { skip }, (t) => {
    if (device === "cpu") return t.skip("the CPU has one lane");
    const counts = (name: string, lanes: number) => {
      const { written } = evaluation(targetOf(cases[name]!, device), device, lanes);
      let [sums, values] = [0, 0];
      walkStatements(written.kernel.body, (statement) => {
        if (statement.kind !== "let") return;
        values++;
        if (statement.value.op === "combineLanes") sums++;
      });
      return { sums, values };
    };
    // Two sums of the density, and two that the gradients by the scalars need.
    assert.equal(counts("schools of 10", 32).sums, 4);
    const [shared, alone] = [32, 1].map((lanes) => counts("schools of 10", lanes).values) as [number, number];
    assert.ok(shared < 0.8 * alone, `${shared} values of schools where lanes share them, ${alone} where not`);
    assert.equal(counts("elements of 33", 32).sums, 1);
    // A gradient of a pass over observations has a sum for each element, besides those of the density.
    assert.equal(counts("regression of 4 by 40", 32).sums, 2 + 4);
  });

  test("a constant that is read after the density was traced", { skip }, async () => {
    const twos = full([3], 2, { dtype: "f64", device });
    const target: TargetDensity = {
      dim: 3,
      logDensityAndGrad: valueAndGrad((u: Tensor) => u.mul(twos.reshape([3])).sum()),
    };
    densityOf(target, "f64", device);
    twos.dataSync();
    const found = await evaluated(
      target,
      device,
      1,
      [1, 2, 3].map((x) => [x, x, x]),
    );
    assert.deepEqual(
      found,
      [6, 12, 18].map((value) => ({ value, gradient: [2, 2, 2] })),
    );
  });
});
