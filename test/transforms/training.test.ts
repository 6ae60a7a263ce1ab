/**
 * Dense → sigmoid → Dense and the mean squared error, differentiated and trained: what NativeV's users checked first. Each
 * device in f32 is compared with the CPU engine in f64, and that with plain loops, over a hundred steps.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { jit, type Tensor, tensor, tree, valueAndGrad } from "../../src/index.js";
import { randomFrom } from "../support/random.js";
import { describeOnTensorDevices, numbersOf } from "../support/tensors.js";

const [SAMPLES, INPUTS, HIDDEN] = [32, 4, 16];
const [STEPS, RATE] = [100, 0.125];

interface Parameters<T> {
  readonly w1: T;
  readonly b1: T;
  readonly w2: T;
  readonly b2: T;
}

const random = randomFrom(11);
// Multiples of 2^-12: f32 and f64 begin with the same numbers.
const draw = (length: number, size: number): number[] =>
  Array.from({ length }, () => (size * (random.below(8193) - 4096)) / 4096);
const start: Parameters<number[]> = {
  w1: draw(INPUTS * HIDDEN, 1),
  b1: draw(HIDDEN, 0.5),
  w2: draw(HIDDEN, 0.5),
  b2: draw(1, 0.5),
};
const x = draw(SAMPLES * INPUTS, 2);
const y = Array.from({ length: SAMPLES }, (_, i) => Math.fround(Math.sin(x[4 * i]!) * 0.5 + 0.25 * x[4 * i + 1]!));

const shapes: Parameters<number[]> = { w1: [INPUTS, HIDDEN], b1: [HIDDEN], w2: [HIDDEN, 1], b2: [1] };

function loss({ w1, b1, w2, b2 }: Parameters<Tensor>, inputs: Tensor, targets: Tensor): Tensor {
  const hidden = inputs.matmul(w1).add(b1).sigmoid();
  return hidden.matmul(w2).add(b2).sub(targets).square().mean();
}

interface Trained {
  readonly gradients: Parameters<number[]>;
  readonly losses: readonly number[];
}

function trainedOn(device: string, dtype: "f32" | "f64"): Trained {
  const place = (values: number[], shape: number[]) => tensor(values, { dtype, device, shape });
  const [inputs, targets] = [place(x, [SAMPLES, INPUTS]), place(y, [SAMPLES, 1])];
  const names = Object.keys(start) as (keyof Parameters<unknown>)[];
  const named = <T>(of: (name: keyof Parameters<unknown>) => T) =>
    Object.fromEntries(names.map((name) => [name, of(name)])) as unknown as Parameters<T>;
  let parameters: Parameters<Tensor> = named((name) => place(start[name], shapes[name]));
  const [, gradient] = valueAndGrad(loss)(parameters, inputs, targets);
  const gradients = named((name) => numbersOf(gradient[name]));
  const step = jit(
    (p: Parameters<Tensor>, a: Tensor, b: Tensor, rate: Tensor): [Parameters<Tensor>, Tensor] => {
      const [value, slopes] = valueAndGrad(loss)(p, a, b);
      return [tree.map((w: Tensor, g: Tensor) => w.sub(g.mul(rate)), p, slopes) as Parameters<Tensor>, value];
    },
    { donate: 0 },
  );
  const losses: number[] = [];
  for (let i = 0; i < STEPS; i++) {
    let value: Tensor;
    [parameters, value] = step(parameters, inputs, targets, RATE);
    losses.push(Number(value.itemSync()));
  }
  return { gradients, losses };
}

/** The same by loops over numbers. */
function trainedByHand(): Trained {
  const p = { w1: [...start.w1], b1: [...start.b1], w2: [...start.w2], b2: [...start.b2] };
  const losses: number[] = [];
  let first: Parameters<number[]> | undefined;
  for (let step = 0; step < STEPS; step++) {
    const g = { w1: p.w1.map(() => 0), b1: p.b1.map(() => 0), w2: p.w2.map(() => 0), b2: [0] };
    let total = 0;
    for (let s = 0; s < SAMPLES; s++) {
      const hidden = p.b1.map((b, j) => {
        let sum = b;
        for (let i = 0; i < INPUTS; i++) sum += x[s * INPUTS + i]! * p.w1[i * HIDDEN + j]!;
        return 1 / (1 + Math.exp(-sum));
      });
      const error = hidden.reduce((sum, h, j) => sum + h * p.w2[j]!, p.b2[0]!) - y[s]!;
      total += error ** 2 / SAMPLES;
      const slope = (2 * error) / SAMPLES;
      g.b2[0]! += slope;
      hidden.forEach((h, j) => {
        g.w2[j]! += slope * h;
        const inner = slope * p.w2[j]! * h * (1 - h);
        g.b1[j]! += inner;
        for (let i = 0; i < INPUTS; i++) g.w1[i * HIDDEN + j]! += inner * x[s * INPUTS + i]!;
      });
    }
    first ??= g;
    losses.push(total);
    for (const name of ["w1", "b1", "w2", "b2"] as const) p[name] = p[name].map((w, i) => w - RATE * g[name][i]!);
  }
  return { gradients: first as Parameters<number[]>, losses };
}

function expectClose(actual: Trained, expected: Trained, tolerance: { loss: number; step: number; slope: number }) {
  const far = (a: number, b: number, allowed: number) => !(Math.abs(a - b) <= allowed);
  assert.ok(!far(actual.losses[0]!, expected.losses[0]!, tolerance.loss), `loss ${actual.losses[0]}`);
  const wrong = actual.losses.findIndex((loss, i) => far(loss, expected.losses[i]!, tolerance.step));
  assert.equal(wrong, -1, `after ${wrong} steps the loss is ${actual.losses[wrong]}, not ${expected.losses[wrong]}`);
  for (const [name, values] of Object.entries(expected.gradients) as [keyof Parameters<unknown>, number[]][]) {
    values.forEach((value, i) => {
      const got = actual.gradients[name][i]!;
      assert.ok(!far(got, value, tolerance.slope), `slope ${i} of ${name} is ${got}, not ${value}`);
    });
  }
}

test("in f64 the CPU engine trains as plain loops do, and well", () => {
  const byHand = trainedByHand();
  expectClose(trainedOn("cpu", "f64"), byHand, { loss: 1e-14, step: 1e-12, slope: 1e-14 });
  assert.ok(byHand.losses[STEPS - 1]! < 0.1 * byHand.losses[0]!, `${byHand.losses[STEPS - 1]}`);
});

describeOnTensorDevices("training in f32", (device) => {
  test("loss, gradients and a hundred steps are those of the CPU engine in f64", () => {
    expectClose(trainedOn(device, "f32"), trainedOn("cpu", "f64"), { loss: 1e-6, step: 2e-6, slope: 1e-6 });
  });
});
