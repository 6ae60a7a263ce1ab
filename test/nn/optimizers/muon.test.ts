import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { tensor } from "../../../src/index.js";
import { optimizers } from "../../../src/nn/index.js";
import { describeOnTensorDevices } from "../../support/tensors.js";
import { assertPlain, keptOf, norm, START } from "./trajectories.js";

const { muon } = optimizers;

/** Matrices as rows of numbers. */
type Matrix = readonly (readonly number[])[];
const product = (a: Matrix, b: Matrix): number[][] =>
  a.map((row) => b[0]!.map((_, c) => row.reduce((sum, value, k) => sum + value * b[k]![c]!, 0)));
const transposed = (a: Matrix): number[][] => a[0]!.map((_, c) => a.map((row) => row[c]!));
const mixed = (a: Matrix, s: number, b: Matrix, t: number): number[][] =>
  a.map((row, r) => row.map((value, c) => s * value + t * b[r]![c]!));

/** Five rounds of Newton and Schulz on a matrix of 3 by 4, written out. */
function orthogonalized(values: readonly number[]): number[] {
  const size = norm(values);
  let x: number[][] = [0, 1, 2].map((r) => values.slice(4 * r, 4 * r + 4).map((value) => value / size));
  for (let i = 0; i < 5; i++) {
    const gram = product(x, transposed(x));
    x = mixed(x, 3.4445, product(mixed(gram, -4.775, product(gram, gram), 2.0315), x), 1);
  }
  return x.flat();
}

/** Steps on the matrix; the rest has a rate of zero and stays. */
const rule = (leaf: Parameters<Parameters<typeof assertPlain>[1]>[0]): void => {
  if (leaf.name !== "w") return;
  const mean = keptOf(leaf, "mean");
  leaf.g.forEach((g, i) => {
    mean[i] = 0.95 * mean[i]! + (1 - 0.95) * g;
  });
  const direction = orthogonalized(leaf.g.map((g, i) => (1 - 0.95) * g + 0.95 * mean[i]!));
  leaf.p.forEach((p, i) => {
    leaf.p[i] = p * (1 - 0.02 * 0.1) - 0.02 * direction[i]!;
  });
};

describeOnTensorDevices("muon", (device) => {
  test("follows the written-out rule on matrices", () => assertPlain(muon(0.02, { otherRate: 0 }), rule, device));
});

test("the track of torch.optim.Muon is met as far as its bf16 goes", async () => {
  const { cases } = JSON.parse(readFileSync("test/nn/optimizers/optimizer-cases.json", "utf8")) as {
    cases: { muon?: { matrix: number[][][] } };
  };
  assert.ok(cases.muon, "the case file has muon");
  const optimizer = muon(0.02);
  const curve = tensor(
    START.w.map((_, i) => (i + 1) / 2),
    { dtype: "f32", device: "cpu" },
  ).reshape(3, 4);
  const aim = tensor(
    START.w.map((_, i) => Math.cos(i)),
    { dtype: "f32", device: "cpu" },
  ).reshape(3, 4);
  let w = tensor(START.w as number[], { device: "cpu" }).reshape(3, 4);
  let state = optimizer.init({ w });
  for (const [wanted] of cases.muon.matrix) {
    const [updates, next] = optimizer.update({ w: w.sub(aim).mul(curve) }, state, { w });
    w = optimizers.applyUpdates({ w }, updates).w;
    state = next;
    // A step is 0.02 times numbers up to 1.2; bf16 rounds those, and products of them, by shares of 0.4 %.
    for (const [i, value] of [...(await w.data())].entries()) {
      assert.ok(Math.abs(value - wanted![i]!) < 4e-3, `${value}, not ${wanted![i]}`);
    }
  }
});

test("a tall matrix takes longer steps, all singular values are about 1, and the rest goes to Adam", async () => {
  const tall = {
    w: tensor(
      [
        [3, 1],
        [1, 2],
        [0, 1],
        [2, 2],
      ],
      { dtype: "f64", device: "cpu" },
    ),
    b: tensor([1], { dtype: "f64", device: "cpu" }),
  };
  const optimizer = muon(1, { weightDecay: 0, otherRate: 0.5 });
  const [updates] = optimizer.update(tall, optimizer.init(tall), tall);
  const gram = (await updates.w.T.matmul(updates.w).div(2).array()) as number[][];
  for (const i of [0, 1]) assert.ok(gram[i]![i]! > 0.4 && gram[i]![i]! < 1.5, String(gram));
  assert.ok(Math.abs(gram[0]![1]!) < 0.4, String(gram));
  assert.ok(Math.abs((await updates.b.data())[0]! + 0.5) < 1e-7);
  assert.throws(() => muon(1, { matrices: () => true }).init(tall), { message: /muon: the parameter b has 1 axes/ });
  assert.throws(() => muon(1, { rounds: 0 }), { message: /muon: the number of rounds is a whole number from 1 on/ });
});
