/** Mixtures of experts: against a loop over tokens, with and without a capacity; losses, gradients, options and errors. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { grad, jit, random, type Tensor, tree } from "../../../src/index.js";
import {
  auxiliaryLoss,
  type MixtureOfExpertsOptions,
  mixtureOfExperts,
  summary,
  type VariableTree,
} from "../../../src/nn/index.js";
import { assertNear, assertSlopes } from "../../support/parameter-slopes.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";

const key = random.key(0, { device: "cpu" });

type Row = readonly number[];
const product = (row: Row, matrix: readonly Row[]): number[] =>
  matrix[0]!.map((_, j) => row.reduce((sum, value, i) => sum + value * matrix[i]![j]!, 0));
const sum = (row: Row): number => row.reduce((a, b) => a + b, 0);

/** Every token by itself, expert after expert, in the order of GShard: first choices of all tokens, then second ones. */
async function loop(
  params: VariableTree,
  x: Tensor,
  options: MixtureOfExpertsOptions,
): Promise<{ output: number[]; losses: number[]; dropped: number }> {
  const {
    top = 2,
    capacityFactor = Infinity,
    activation = "gelu",
    normalize = top > 1,
    balance = 0.01,
    routerZ = 0.001,
  } = options;
  const arrays = Object.fromEntries(
    await Promise.all(Object.entries(params).map(async ([name, value]) => [name, await (value as Tensor).array()])),
  );
  const rows = (await x.reshape([-1, x.shape.at(-1)!]).array()) as number[][];
  const experts = arrays.router[0].length as number;
  const scores = rows.map((row) => product(row, arrays.router));
  const shares = scores.map((row) => {
    const terms = row.map((value) => Math.exp(value - Math.max(...row)));
    return terms.map((value) => value / sum(terms));
  });
  const chosen = shares.map((row) =>
    row
      .map((_, e) => e)
      .sort((a, b) => row[b]! - row[a]!)
      .slice(0, top),
  );
  const room = Math.ceil(((rows.length * top) / experts) * capacityFactor);
  const taken = new Array<number>(experts).fill(0);
  const output = rows.map((row) => row.map(() => 0));
  let dropped = 0;
  for (let choice = 0; choice < top; choice++) {
    rows.forEach((row, token) => {
      const e = chosen[token]![choice]!;
      if (taken[e]! >= room) {
        dropped++;
        return;
      }
      taken[e]!++;
      const share = shares[token]![e]! / (normalize ? sum(chosen[token]!.map((each) => shares[token]![each]!)) : 1);
      const up = product(row, arrays.up[e]).map((value, i) => value + (arrays.upBiases?.[e][i] ?? 0));
      const between =
        activation === "swiglu"
          ? product(row, arrays.gate[e]).map((value, i) => (up[i]! * value) / (1 + Math.exp(-value)))
          : up.map((value) => Math.max(0, value));
      product(between, arrays.down[e]).forEach((value, j) => {
        output[token]![j]! += share * (value + (arrays.downBiases?.[e][j] ?? 0));
      });
    });
  }
  const used = taken.map(
    (_, e) => sum(chosen.map((list) => list.filter((each) => each === e).length)) / rows.length / top,
  );
  const mean = taken.map((_, e) => sum(shares.map((row) => row[e]!)) / rows.length);
  const balanceLoss = balance * experts * sum(used.map((share, e) => share * mean[e]!));
  const z = sum(scores.map((row) => Math.log(sum(row.map(Math.exp))) ** 2)) / rows.length;
  return { output: output.flat(), losses: [balanceLoss, routerZ * z], dropped };
}

const choices: readonly MixtureOfExpertsOptions[] = [
  { hidden: 3, activation: "relu" },
  { hidden: 3, activation: "swiglu", useBias: false },
  { hidden: 3, activation: "relu", top: 1, capacityFactor: 1 },
  { hidden: 3, activation: "swiglu", top: 2, capacityFactor: 0.75, balance: 1, routerZ: 1 },
  { hidden: 3, activation: "relu", top: 2, capacityFactor: 1.25, normalize: false },
];

describeOnTensorDevices("mixtureOfExperts", (device) => {
  const x = random.normal(random.key(1, { device }), [2, 8, 4]);
  for (const options of choices) {
    test(`${JSON.stringify(options)} is a loop over tokens`, async () => {
      const model = mixtureOfExperts(4, options);
      const made = model.init(random.key(0, { device }), x);
      const params = tree.map(
        (leaf: Tensor) => leaf.add(random.normal(random.key(3, { device }), leaf.shape).mul(0.3)),
        made.params,
      ) as VariableTree;
      const [y, state] = model.applyWithState(params, x, { state: made.state, training: true });
      const wanted = await loop(params, x, options);
      const losses = state.losses as VariableTree;
      if (options.capacityFactor !== undefined && options.capacityFactor <= 1)
        assert.ok(wanted.dropped > 0, "some are dropped");
      assertNear(numbersOf(y), wanted.output, 2e-5, "output");
      assertNear(
        [numbersOf(losses.balance as Tensor)[0]!, numbersOf(losses.routerZ as Tensor)[0]!],
        wanted.losses,
        1e-5,
        "losses",
      );
      assertNear(numbersOf(auxiliaryLoss(state)), [sum(wanted.losses)], 1e-5);
    });
  }
});

test("gradients are those of differences, with the losses, with and without a capacity", () => {
  const x = random.normal(key, [6, 4], { dtype: "f64" });
  for (const options of [{ hidden: 3 }, { hidden: 3, activation: "swiglu", top: 1, capacityFactor: 1 }] as const) {
    const model = mixtureOfExperts(3, options).withDTypes({ parameters: "f64" });
    const { params, state } = model.init(key, x);
    const loss = (p: VariableTree): Tensor => {
      const [y, next] = model.applyWithState(p, x, { state, training: true });
      return y.square().sum().add(auxiliaryLoss(next).mul(100));
    };
    assertSlopes(loss, params, 1e-6);
  }
});

test("a large capacity is no limit; without one a token's result does not depend on the others", () => {
  const x = random.normal(key, [10, 4]);
  const model = mixtureOfExperts(4, { hidden: 3 });
  const { params } = model.init(key, x);
  const all = model.apply(params, x);
  assertNear(numbersOf(model.apply(params, x.at("3:4"))), numbersOf(all.at(3)), 1e-6);
  assertNear(numbersOf(mixtureOfExperts(4, { hidden: 3, capacityFactor: 2 }).apply(params, x)), numbersOf(all), 1e-5);
  assertNear(numbersOf(mixtureOfExperts(4, { hidden: 3, capacityFactor: 1.9 }).apply(params, x)), numbersOf(all), 1e-5);
  assert.deepEqual(mixtureOfExperts(4, { hidden: 3, capacityFactor: 1 }).apply(params, x.at(":0")).shape, [0, 4]);
});

test("jit, bf16 with a router in f32, freezing and summaries", () => {
  const x = random.normal(key, [6, 4]);
  const model = mixtureOfExperts(4, { hidden: 3, capacityFactor: 1.5 });
  const { params } = model.init(key, x);
  const wanted = numbersOf(model.apply(params, x));
  assertNear(numbersOf(jit((p: VariableTree) => model.apply(p, x))(params)), wanted, 1e-6);
  const narrow = model.withDTypes({ compute: "bf16" }).apply(params, x);
  assert.equal(narrow.dtype, "bf16");
  const exact = model.apply(
    tree.map((leaf: Tensor) => leaf, params) as VariableTree,
    x.cast("bf16").cast("f32") as Tensor,
  );
  assertNear(numbersOf(narrow), numbersOf(exact), 0.03);
  const slopes = grad((p: VariableTree) => model.frozen().apply(p, x).sum())(params);
  assert.ok(tree.leaves(slopes).every((leaf) => numbersOf(leaf).every((value) => value === 0)));
  const table = summary(mixtureOfExperts(4, { hidden: 3 }), [6, 4]);
  assert.equal(table.parameters, 16 + 4 * (12 + 12 + 3 + 4));
  assert.equal(table.multiplyAdds, 6 * 16 + 6 * 4 * 2 * 12);
  assert.equal(summary(model, [6, 4]).multiplyAdds, 6 * 16 + 4 * 5 * 2 * 12);
});

test("wrong arguments are refused by name", () => {
  assert.throws(() => mixtureOfExperts(2, {} as never), { message: /mixtureOfExperts: the option hidden/ });
  assert.throws(() => mixtureOfExperts(2, { hidden: 2, top: 3 }), { message: /mixtureOfExperts: top 3 of 2 experts/ });
  assert.throws(() => mixtureOfExperts(2, { hidden: 2, capacityFactor: 0 }), {
    message: /capacityFactor is a positive number/,
  });
  assert.throws(() => mixtureOfExperts(2, { hidden: 2, activation: "x" as "relu" }), {
    message: /the option activation is "x"/,
  });
  assert.throws(() => auxiliaryLoss({}), { message: /auxiliaryLoss: the state has no losses of layers/ });
});
