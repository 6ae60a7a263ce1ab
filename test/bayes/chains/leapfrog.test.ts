/** Chains of leapfrog steps against CmdStan's gradients and against dynamics written out by hand. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { leapfrog } from "../../../src/bayes/chains/leapfrog.js";
import { model, normal } from "../../../src/bayes/index.js";
import { densityOf } from "../../../src/bayes/kernels/density.js";
import type { TargetDensity } from "../../../src/bayes/target/target.js";
import { backendFor, type Tensor, tensor } from "../../../src/tensor/index.js";
import { valueAndGrad } from "../../../src/transforms/grad.js";
import { referenceJson, withoutReference } from "../../support/reference-data.js";
import { describeOnTensorDevices, devicesWithDoubles, numbersOf } from "../../support/tensors.js";
import { referenceModels } from "../models/index.js";
import { makeIn } from "../models/reference-model.js";
import { normals } from "./support.js";

const file = "cmdstan/log_density_gradients.json";
const skip = withoutReference(file);
const point = (i: number): number => 0.1 + 0.05 * (i % 7) - 0.15 * (i % 3);
/** On software Vulkan the others take the driver long to compile. */
const onVulkan = ["blr", "garch11"];

function close(actual: ArrayLike<number>, expected: ArrayLike<number>, tolerance: number, what: string): void {
  assert.equal(actual.length, expected.length, what);
  for (let i = 0; i < expected.length; i++) {
    const error = Math.abs(actual[i]! - expected[i]!) / Math.max(1, Math.abs(expected[i]!));
    assert.ok(error <= tolerance, `${what} ${i}: ${actual[i]}, not ${expected[i]}`);
  }
}

describeOnTensorDevices("gradients inside a kernel equal CmdStan's", (device) => {
  for (const one of referenceModels) {
    const { stan, order } = one;
    if (!stan || (device !== "cpu" && !onVulkan.includes(stan))) continue;
    test(one.name, { skip }, () => {
      const known = (referenceJson(file) as Record<string, { gradient: number[] }>)[stan]!;
      const posterior = one.posterior(makeIn("f64", device));
      const starts = new Map<string, number>();
      let next = 0;
      for (const name of order) {
        starts.set(name, next);
        const { freeShape } = posterior.latents.find((latent) => latent.name === name)!;
        next += freeShape.reduce((a, b) => a * b, 1);
      }
      const places = posterior.latents.flatMap(({ name, freeShape }) =>
        Array.from({ length: freeShape.reduce((a, b) => a * b, 1) }, (_, i) => starts.get(name)! + i),
      );
      const u = tensor(places.map(point), { dtype: "f64", device });
      const { grad } = posterior.leapfrog(u, u.mul(0), { eps: 0, steps: 1 });
      const expected = places.map((place) => known.gradient[place]!);
      numbersOf(grad).forEach((slope, i) => {
        const error = Math.abs(slope - expected[i]!) / Math.abs(expected[i]!);
        assert.ok(error <= 1e-8, `gradient ${i}: ${slope}, not ${expected[i]}`);
      });
    });
  }
});

describeOnTensorDevices("leapfrog", (device) => {
  const f64 = (values: number[] | number[][]) => tensor(values, { dtype: "f64", device });

  test("steps of a normal distribution are those of an oscillator, densities those of the point reached", () => {
    const posterior = model(() => ({ x: normal(1, 2).shape(2) })).given({});
    const [q, p] = [
      [0.5, -1],
      [1, 0.3],
    ];
    const invMass = [1, 4];
    const found = posterior.leapfrog(f64([q!, [2, 2]]), f64([p!, [0, 0]]), { eps: 0.3, invMass, steps: 5 });
    assert.deepEqual(found.q.shape, [5, 2, 2]);
    assert.deepEqual(found.logp.shape, [5, 2]);
    const slope = (x: number) => -(x - 1) / 4;
    const expected: number[] = [];
    for (let step = 0; step < 5; step++) {
      for (let d = 0; d < 2; d++) {
        p![d]! += 0.15 * slope(q![d]!);
        q![d]! += 0.3 * invMass[d]! * p![d]!;
        p![d]! += 0.15 * slope(q![d]!);
      }
      const logp = q!.reduce((sum, x) => sum - (x - 1) ** 2 / 8 - Math.log(2) - 0.5 * Math.log(2 * Math.PI), 0);
      expected.push(...q!, ...p!, ...q!.map(slope), logp);
    }
    const [qs, ps, gs, ls] = [found.q, found.p, found.grad, found.logp].map(numbersOf) as number[][];
    const actual = Array.from({ length: 5 }, (_, s) => [
      ...[qs!, ps!, gs!].flatMap((all) => all.slice(4 * s, 4 * s + 2)),
      ls![2 * s]!,
    ]).flat();
    close(actual, expected, 1e-13, "step");
  });

  test("momenta and masses from another device or in typed arrays are brought to the positions", () => {
    const posterior = model(() => ({ x: normal(1, 2).shape(2) })).given({});
    const q = f64([0.5, -1]);
    const steps = (p: Tensor, invMass: Parameters<typeof posterior.leapfrog>[2]["invMass"]) => {
      const found = posterior.leapfrog(q, p, { eps: 0.3, invMass, steps: 3 });
      assert.equal(found.p.device, q.device);
      return numbersOf(found.q);
    };
    const expected = steps(f64([1, 0.3]), [1, 4]);
    assert.deepEqual(steps(f64([1, 0.3]), Float64Array.of(1, 4)), expected);
    for (const id of devicesWithDoubles()) {
      const elsewhere = (values: number[]) => tensor(values, { dtype: "f64", device: id });
      assert.deepEqual(steps(elsewhere([1, 0.3]), elsewhere([1, 4])), expected, id);
    }
  });

  test("other data of the same shape reuse the kernel", () => {
    const trend = model(({ x }: { x: Tensor }) => {
      const slope = normal(0, 1);
      return { slope, y: normal(x.mul(slope), 1) };
    });
    const run = (x: number[], y: number[]) =>
      trend.given({ y: f64(y) }, { x: f64(x) }).leapfrog(f64([0.5]), f64([0]), { eps: 0.1, steps: 1 });
    const first = run([1, 2, 3], [1, 2, 3]);
    const backend = backendFor(device);
    const before = backend.counters.compiled;
    const second = run([3, 1, 4], [0, 1, 0]);
    assert.equal(backend.counters.compiled, before, "programs compiled for other data");
    assert.equal(second.address, first.address);
    assert.match(first.address, /^[0-9a-f]{64}$/);
    const q = numbersOf(second.q)[0]!;
    const slope = -q + [3, 1, 4].reduce((sum, x, i) => sum + x * ([0, 1, 0][i]! - x * q), 0);
    close(numbersOf(second.grad), [slope], 1e-13, "gradient");
  });

  /** The value and gradient of a function at a point, from inside a kernel. */
  const inside = (f: (u: Tensor) => Tensor, u: number[]) => {
    const target: TargetDensity = {
      dim: u.length,
      logDensityAndGrad: (x) => valueAndGrad(f)(x) as unknown as [Tensor, Tensor],
    };
    const { grad: slopes, logp } = leapfrog(target, f64(u), f64(u.map(() => 0)), { eps: 0, steps: 1 });
    return { value: numbersOf(logp)[0]!, slopes: numbersOf(slopes) };
  };

  test("running totals and scattered sums go step by step", () => {
    const u = [0.3, -1, 2, 0.5];
    const totals = u.map((_, i) => u.slice(0, i + 1).reduce((a, b) => a + b, 0));
    const cumulated = inside((x) => x.cumsum().square().sum().mul(-0.5), u);
    close([cumulated.value], [-0.5 * totals.reduce((sum, t) => sum + t * t, 0)], 1e-14, "value");
    close(
      cumulated.slopes,
      u.map((_, i) => -totals.slice(i).reduce((a, b) => a + b, 0)),
      1e-14,
      "slope",
    );
    const groups = [0, 2, 2, 3, 0];
    const weights = [1, 2, 3, 4, 5];
    const w = f64(weights);
    const index = tensor(groups, { dtype: "i32", device });
    const taken = inside((x) => x.take(index, { axis: 0 }).exp().mul(w).sum(), u);
    close([taken.value], [groups.reduce((sum, g, i) => sum + weights[i]! * Math.exp(u[g]!), 0)], 1e-13, "value");
    close(
      taken.slopes,
      u.map((x, g) => groups.reduce((sum, of, i) => sum + (of === g ? weights[i]! * Math.exp(x) : 0), 0)),
      1e-13,
      "slope",
    );
  });

  test("many free numbers go through memory of the row", () => {
    const random = normals(3);
    const [rows, columns] = [40, 100];
    const design = Array.from({ length: rows }, () => Array.from({ length: columns }, random));
    const u = Array.from({ length: columns }, () => 0.1 * random());
    const x = f64(design);
    const found = inside((b) => x.matmul(b).sigmoid().log().sum(), u);
    const eta = design.map((row) => row.reduce((sum, value, j) => sum + value * u[j]!, 0));
    const sigmoid = (t: number) => 1 / (1 + Math.exp(-t));
    close([found.value], [eta.reduce((sum, t) => sum + Math.log(sigmoid(t)), 0)], 1e-12, "value");
    const slopes = u.map((_, j) => design.reduce((sum, row, i) => sum + row[j]! * (1 - sigmoid(eta[i]!)), 0));
    close(found.slopes, slopes, 1e-12, "slope");
  });
});

test("a model without free numbers says so", () => {
  const nothing = { dim: 0, logDensityAndGrad: (u: Tensor) => [u.sum(), u] as const };
  assert.throws(() => densityOf(nothing, "f64", "cpu"), /no free numbers/);
});

test("leapfrog steps that cannot be say what they need", () => {
  const posterior = model(() => ({ x: normal(0, 1).shape(2) })).given({});
  const f64 = (values: number[]) => tensor(values, { dtype: "f64", device: "cpu" });
  const [q, p] = [f64([0, 0]), f64([1, 1])];
  const refused: readonly (readonly [object, RegExp])[] = [
    [{ steps: 3 }, /leapfrog: eps is undefined; it is a finite number, the size of a step/],
    [{ steps: 3, eps: Number.NaN }, /leapfrog: eps is NaN/],
    [{ steps: 3, eps: "0.1" }, /leapfrog: the option eps is a number, not "0.1"/],
    [{ eps: 0.1 }, /leapfrog: steps is undefined; it is a whole number of at least 1/],
    [{ eps: 0.1, steps: 0.5 }, /leapfrog: steps is 0.5/],
    [{ eps: 0.1, steps: 1, mass: [1, 1] }, /leapfrog: there is no option "mass"; there are eps, invMass, steps/],
    [{ eps: 0.1, steps: 1, invMass: [1, -1] }, /leapfrog: invMass\[1\] is -1; inverse masses are positive/],
    [{ eps: 0.1, steps: 1, invMass: f64([0, 1]) }, /leapfrog: invMass\[0\] is 0; inverse masses are positive/],
    [{ eps: 0.1, steps: 1, invMass: 1 }, /leapfrog: invMass is 1; it is a vector \[2\]/],
    [{ eps: 0.1, steps: 1, invMass: [1] }, /leapfrog: invMass is \[2\], not \[1\]/],
  ];
  for (const [options, message] of refused) {
    assert.throws(() => posterior.leapfrog(q, p, options as never), { name: /ArgumentError|ShapeError/, message });
  }
  const small = tensor([1, 1], { dtype: "f32", device: "cpu" });
  const whole = tensor([1, 1], { dtype: "i32", device: "cpu" });
  const options = { eps: 0.1, steps: 1 };
  assert.throws(() => posterior.leapfrog(q, small, options), /DTypeError: leapfrog: q is f64 and p is f32; .* cast/);
  assert.throws(() => posterior.leapfrog(whole, whole, options), /DTypeError: leapfrog: q is i32; .* f32 or f64/);
  assert.throws(
    () => posterior.leapfrog(q, undefined as never, options),
    /ArgumentError: leapfrog: q and p are tensors, not undefined/,
  );
  // Backwards is a direction, too.
  assert.equal(posterior.leapfrog(q, p, { eps: -0.1, steps: 1, invMass: [2, 3] }).q.dtype, "f64");
});
