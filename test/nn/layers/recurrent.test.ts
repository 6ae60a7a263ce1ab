/** Recurrent layers: numbers against PyTorch by sequence-cases.json; masks, peepholes, dropout, steps by hand and errors here. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { explain, grad, jit, random, scan, type Tensor, tensor, tree, vmap, where, zeros } from "../../../src/index.js";
import {
  gru,
  gruCell,
  initializers,
  type Layer,
  lstm,
  lstmCell,
  type RecurrentInput,
  rnn,
  rnnCell,
  summary,
  type VariableTree,
} from "../../../src/nn/index.js";
import { describeLayerCases, seeded } from "../../support/layer-cases.js";
import { assertNear, assertSlopes } from "../../support/parameter-slopes.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";

describeLayerCases("rnn", "lstm", "gru");

const key = random.key(0, { device: "cpu" });
const f64 = (shape: readonly number[], seed: number, scale = 0.4): Tensor =>
  tensor(seeded({ shape, seed, scale }), { shape, dtype: "f64", device: "cpu" });

type Matrix = number[][];
const matrixOf = async (x: Tensor): Promise<Matrix> => (await x.array()) as Matrix;
const product = (row: readonly number[], matrix: Matrix, from = 0, to = matrix[0]!.length): number[] =>
  Array.from({ length: to - from }, (_, j) => row.reduce((sum, value, i) => sum + value * matrix[i]![from + j]!, 0));
const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));

/** Parameters with values that follow from a seed. */
function filled(layer: Layer<RecurrentInput<never>, unknown>, features: number): VariableTree {
  let seed = 10;
  const { params } = layer.withDTypes({ parameters: "f64" }).init(key, { shape: [1, 1, features], dtype: "f64" });
  return tree.map((leaf: Tensor) => f64(leaf.shape, ++seed), params) as VariableTree;
}

test("an LSTM with peepholes is its formulas, step by step", async () => {
  const model = lstm(3, { peephole: true, returnSequences: true });
  const params = filled(model, 2);
  const x = f64([1, 4, 2], 1, 1);
  const [w, u, p] = await Promise.all(
    ["weights", "recurrent", "peepholes"].map((name) => matrixOf(params[name] as Tensor)),
  );
  const b = numbersOf(params.biases as Tensor);
  let [h, c] = [
    [0, 0, 0],
    [0, 0, 0],
  ];
  const wanted: number[] = [];
  for (const row of ((await x.array()) as number[][][])[0]!) {
    const [fromX, fromH] = [product(row, w!), product(h!, u!)];
    const sum = (gate: number, k: number) => fromX[3 * gate + k]! + fromH[3 * gate + k]! + b[3 * gate + k]!;
    const next = c!.map((cell, k) => {
      const [input, forget] = [sigmoid(sum(0, k) + p![0]![k]! * cell), sigmoid(sum(1, k) + p![1]![k]! * cell)];
      return forget * cell + input * Math.tanh(sum(2, k));
    });
    h = next.map((cell, k) => sigmoid(sum(3, k) + p![2]![k]! * cell) * Math.tanh(cell));
    c = next;
    wanted.push(...h);
  }
  assertNear(numbersOf(model.apply(params, x)), wanted, 1e-14);
});

test("a GRU that resets before the product is its formulas, step by step", async () => {
  const model = gru(2, { resetAfter: false, returnSequences: true });
  const params = filled(model, 3);
  assert.deepEqual(Object.keys(params).sort(), ["biases", "recurrent", "weights"]);
  const x = f64([1, 4, 3], 1, 1);
  const [w, u] = await Promise.all(["weights", "recurrent"].map((name) => matrixOf(params[name] as Tensor)));
  const b = numbersOf(params.biases as Tensor);
  let h = [0, 0];
  const wanted: number[] = [];
  for (const row of ((await x.array()) as number[][][])[0]!) {
    const fromX = product(row, w!).map((value, i) => value + b[i]!);
    const fromH = product(h, u!);
    const [r, z] = [0, 2].map((at) => [0, 1].map((k) => sigmoid(fromX[at + k]! + fromH[at + k]!)));
    const again = product(
      h.map((value, k) => value * r![k]!),
      u!,
      4,
      6,
    );
    const n = [0, 1].map((k) => Math.tanh(fromX[4 + k]! + again[k]!));
    h = n.map((value, k) => (1 - z![k]!) * value + z![k]! * h[k]!);
    wanted.push(...h);
  }
  assertNear(numbersOf(model.apply(params, x)), wanted, 1e-14);
});

const kinds = { rnn, lstm, gru } as unknown as Record<string, typeof lstm>;

describeOnTensorDevices("recurrent layers", (device) => {
  const x = random.normal(random.key(1, { device }), [3, 5, 2]);
  const mask = tensor(
    [
      [true, true, true, true, true],
      [true, false, true, true, false],
      [false, false, false, false, false],
    ],
    { device },
  );

  for (const [name, make] of Object.entries(kinds)) {
    test(`${name}: masked steps keep the state and repeat the output; reverse is the mirrored sequence`, async () => {
      const model = make(4, { returnSequences: true, returnState: true });
      const { params } = model.init(random.key(0, { device }), x);
      const { output, state } = model.apply(params, { x, mask });
      const whole = model.apply(params, x).output;
      const short = model.apply(params, x.at([1]).take([0, 2, 3], { axis: 1 })).output;
      assertNear(numbersOf(output.at(0)), numbersOf(whole.at(0)), 1e-6, "nothing masked");
      const [a, b, c] = (await short.at(0).array()) as number[][];
      assertNear(numbersOf(output.at(1)), [a!, a!, b!, c!, c!].flat(), 1e-6, "masked");
      assertNear(numbersOf(state.hidden.at(1)), c!, 1e-6, "the last state");
      assertNear(numbersOf(output.at(2)), new Array(20).fill(0), 0, "all masked");
      const zeroed = make(4, { returnSequences: true, zeroMasked: true }).apply(params, { x, mask });
      assertNear(numbersOf(zeroed.at(1, 1)), [0, 0, 0, 0], 0, "zeros where masked");
      const mirrored = make(4, { returnSequences: true, reverse: true }).apply(params, {
        x: x.flip(1),
        mask: mask.flip(1),
      });
      assertNear(numbersOf(mirrored.flip(1)), numbersOf(output), 1e-6, "reverse");
      const last = make(4, { reverse: true }).apply(params, x.flip(1));
      assertNear(numbersOf(last), numbersOf(whole.at(":", -1)), 1e-6, "the last output of a reversed layer");
    });

    test(`${name}: what stands at masked steps, NaN too, reaches neither the output nor a slope`, () => {
      const model = make(4, { returnSequences: true });
      const { params } = model.init(random.key(0, { device }), x);
      const loss = (input: Tensor) => (p: VariableTree) => model.apply(p, { x: input, mask }).square().sum();
      const filled = (value: number) => where(mask.expandDims(-1), x, value).cast(x.dtype) as Tensor;
      for (const value of [Number.NaN, Infinity]) {
        const [found, wanted] = [filled(value), filled(0)].map((input) => [
          ...tree.leaves(grad(loss(input))(params)),
          grad((given: Tensor) => loss(given)(params))(input),
          model.apply(params, { x: input, mask }),
        ]) as [Tensor[], Tensor[]];
        found.forEach((each, i) => {
          assert.deepEqual(numbersOf(each), numbersOf(wanted[i]!));
        });
      }
    });

    test(`${name}: unrolled, time-major, jitted and vectorised, it gives the same`, () => {
      const model = make(4, { returnSequences: true });
      const { params } = model.init(random.key(0, { device }), x);
      const wanted = numbersOf(model.apply(params, { x, mask }));
      const unrolled = make(4, { returnSequences: true, unroll: true });
      assertNear(numbersOf(unrolled.apply(params, { x, mask })), wanted, 1e-6, "unrolled");
      const timeMajor = make(4, { returnSequences: true, timeMajor: true });
      const turned = timeMajor.apply(params, { x: x.moveAxis(1, 0), mask: mask.T });
      assertNear(numbersOf(turned.moveAxis(0, 1)), wanted, 1e-6, "time-major");
      assertNear(numbersOf(jit((p: VariableTree) => model.apply(p, { x, mask }))(params)), wanted, 1e-6, "jit");
      const each = vmap((one: Tensor, own: Tensor) =>
        model.apply(params, { x: one.expandDims(0), mask: own.expandDims(0) }).at(0),
      )(x, mask);
      assertNear(numbersOf(each), wanted, 1e-6, "vmap");
      const loss = (by: typeof model) => (p: VariableTree) => by.apply(p, { x, mask }).square().sum();
      const [a, b] = [model, unrolled].map((by) =>
        tree.leaves(grad(loss(by))(params)).flatMap((leaf) => numbersOf(leaf)),
      );
      assertNear(a!, b!, 1e-5, "gradients of the loop");
    });
  }

  test("a cell steps through a sequence to the outputs of the layer, with its parameters", () => {
    for (const [layer, cell] of [
      [rnn(3, { returnSequences: true }), rnnCell(3)],
      [lstm(3, { returnSequences: true, peephole: true }), lstmCell(3, { peephole: true })],
      [lstm(3, { returnSequences: true, projection: 2 }), lstmCell(3, { projection: 2 })],
      [gru(3, { returnSequences: true }), gruCell(3)],
    ] as [ReturnType<typeof lstm>, ReturnType<typeof lstmCell>][]) {
      const { params } = layer.init(random.key(0, { device }), x);
      const step = jit((p: VariableTree, now: Tensor, state: { hidden: Tensor; cell: Tensor }) =>
        cell.apply(p, { x: now, state }),
      );
      let { output, state } = cell.apply(params, x.at(":", 0));
      const outputs = [numbersOf(output)];
      for (let t = 1; t < 5; t++) {
        ({ output, state } = step(params, x.at(":", t), state));
        outputs.push(numbersOf(output));
      }
      const wanted = numbersOf(layer.apply(params, x).moveAxis(1, 0));
      assertNear(outputs.flat(), wanted, 1e-6, cell.kind);
      assert.deepEqual(
        Object.keys(cell.init(random.key(0, { device }), [1, 2]).params).sort(),
        Object.keys(params).sort(),
      );
    }
  });

  test("an LSTM costs as many kernels as the loop that one would write by hand, there and back", () => {
    const turned = x.moveAxis(1, 0).realize();
    const model = lstm(8, { timeMajor: true, returnSequences: true });
    const { params } = model.init(random.key(0, { device }), turned);
    const byHand = (p: VariableTree): Tensor => {
      const { weights, recurrent, biases } = p as Record<"weights" | "recurrent" | "biases", Tensor>;
      const start = zeros([3, 8], { device });
      const step = ([hidden, cell]: [Tensor, Tensor], now: Tensor): [[Tensor, Tensor], Tensor] => {
        const [i, f, g, o] = now.add(hidden.matmul(recurrent)).split(4, { axis: 1 }) as [
          Tensor,
          Tensor,
          Tensor,
          Tensor,
        ];
        const next = f.sigmoid().mul(cell).add(i.sigmoid().mul(g.tanh()));
        const out = o.sigmoid().mul(next.tanh());
        return [[out, next], out];
      };
      return scan(step, [start, start] as [Tensor, Tensor], turned.matmul(weights).add(biases))[1];
    };
    const kernels = (result: Tensor): number => Number(/(\d+) kernels?/.exec(String(explain(result)))?.[1]);
    const layer = (p: VariableTree): Tensor => model.apply(p, turned);
    assert.equal(kernels(layer(params)), kernels(byHand(params)));
    const slope = (f: (p: VariableTree) => Tensor): Tensor =>
      grad((p: VariableTree) => f(p).square().sum())(params).recurrent as Tensor;
    assert.equal(kernels(slope(layer)), kernels(slope(byHand)));
    assertNear(numbersOf(slope(layer)), numbersOf(slope(byHand)), 1e-5);
  });

  test("bf16 by the policy of the layer; f32 parameters stay", () => {
    const model = lstm(8).withDTypes({ compute: "bf16" });
    const { params } = model.init(random.key(0, { device }), x);
    assert.equal((params.weights as Tensor).dtype, "f32");
    const y = model.apply(params, x);
    assert.equal(y.dtype, "bf16");
    assertNear(numbersOf(y), numbersOf(lstm(8).apply(params, x)), 0.02);
    const slopes = grad((p: VariableTree) => model.apply(p, x).sum())(params);
    assert.equal((slopes.recurrent as Tensor).dtype, "f32");
  });
});

test("dropout is the same at all steps, and recurrent dropout hides the same units at all steps", () => {
  const wide = random.normal(key, [2, 6, 8]).abs().add(0.1);
  const seen = { x: wide } as const;
  const identity = { weights: initializers.identity, recurrent: initializers.zeros, activation: "linear" } as const;
  const dropped = rnn(8, { ...identity, dropout: 0.5, returnSequences: true });
  const { params } = dropped.init(key, wide);
  const share = numbersOf(dropped.apply(params, seen, { training: true, key }).div(wide).moveAxis(1, 0));
  for (let t = 1; t < 6; t++) assertNear(share.slice(16 * t, 16 * t + 16), share.slice(0, 16), 1e-6);
  assert.deepEqual([...new Set(share.map((value) => Math.round(value)))].sort(), [0, 2]);
  assert.throws(() => dropped.apply(params, seen, { training: true }), {
    message: /rnn: dropout needs random numbers/,
  });
  assertNear(numbersOf(dropped.apply(params, seen)), numbersOf(wide), 1e-6);

  const sums = rnn(8, { ...identity, recurrent: initializers.identity, recurrentDropout: 0.5, returnSequences: true });
  const before = { x: wide, initialState: { hidden: tensor(new Array(16).fill(1), { shape: [2, 8], device: "cpu" }) } };
  const steps = sums.apply(sums.init(key, wide).params, before, { training: true, key });
  // h(t) - x(t) is twice h(t - 1) where the unit is seen, and 0 where it is not: the same units at all steps.
  const carried = numbersOf(steps.at(":", "1:").sub(wide.at(":", "1:")).div(steps.at(":", ":-1")).moveAxis(1, 0));
  for (let t = 0; t < 5; t++) assertNear(carried.slice(16 * t, 16 * t + 16), carried.slice(0, 16), 1e-4);
  assert.deepEqual([...new Set(carried.slice(0, 16).map((value) => Math.round(value)))].sort(), [0, 2]);
});

test("first values: glorot for inputs, orthogonal for the state, 1 for the forget gate unless told", async () => {
  const { params } = lstm(4).init(key, [null, 3, 5]);
  assert.deepEqual(numbersOf(params.biases as Tensor), [0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
  const plain = lstm(4, { forgetBias: 0 }).init(key, [null, 3, 5]).params;
  assert.ok(numbersOf(plain.biases as Tensor).every((value) => value === 0));
  const u = params.recurrent as Tensor;
  assertNear(numbersOf(u.matmul(u.T)), [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1], 1e-5);
  const limit = Math.sqrt(6 / (5 + 16));
  assert.ok(numbersOf(params.weights as Tensor).every((value) => Math.abs(value) <= limit));
  assert.deepEqual(Object.keys(gru(4, { useBias: false }).init(key, [1, 1, 2]).params), ["weights", "recurrent"]);
});

test("summaries count both products; empty and single sequences work", () => {
  const table = summary(lstm(4, { projection: 2 }), [3, 5, 2]);
  assert.equal(table.multiplyAdds, 15 * (2 * 16 + 2 * 16 + 4 * 2));
  assert.equal(table.parameters, 2 * 16 + 2 * 16 + 16 + 4 * 2);
  const model = gru(4, { returnSequences: true, returnState: true });
  const { params } = model.init(key, [1, 1, 2]);
  for (const shape of [
    [0, 3, 2],
    [2, 0, 2],
    [1, 1, 2],
  ]) {
    const mask = random.normal(key, shape.slice(0, 2)).greater(0) as Tensor;
    const { output, state } = model.apply(params, { x: random.normal(key, shape), mask });
    assert.deepEqual(
      [output.shape, state.hidden.shape],
      [
        [shape[0], shape[1], 4],
        [shape[0], 4],
      ],
    );
  }
  assert.deepEqual(
    gru(4, { returnSequences: true, unroll: true }).apply(params, random.normal(key, [2, 0, 2])).shape,
    [2, 0, 4],
  );
});

test("gradients of options that PyTorch lacks are those of differences", () => {
  const x = f64([2, 4, 3], 1, 1);
  const mask = tensor([true, false, true, true, true, true, false, false], { shape: [2, 4], device: "cpu" });
  const models = [
    lstm(3, { peephole: true, projection: 2, reverse: true }),
    gru(3, { resetAfter: false }),
    gru(3, { gate: "hardSigmoid", activation: "silu", unroll: true }),
  ];
  for (const model of models as ReturnType<typeof gru>[]) {
    assertSlopes((p) => model.apply(p, { x, mask }).square().sum(), filled(model, 3));
  }
});

test("frozen layers get zero gradients", () => {
  const model = gru(2).frozen();
  const { params } = model.init(key, [1, 3, 2]);
  const slopes = grad((p: VariableTree) => model.apply(p, random.normal(key, [1, 3, 2])).sum())(params);
  assert.ok(tree.leaves(slopes).every((leaf) => numbersOf(leaf).every((value) => value === 0)));
});

test("wrong arguments are refused by name", () => {
  const x = random.normal(key, [2, 3, 4]);
  const { params } = lstm(2).init(key, x);
  const run = (input: unknown) => () => lstm(2).apply(params, input as Tensor);
  assert.throws(() => lstm(0), { message: /lstm: the number of units is a whole number from 1 on/ });
  assert.throws(() => lstm(2, { activation: "tan" as "tanh" }), {
    message: /lstm: the option activation is "tan"; it is "tanh"/,
  });
  assert.throws(() => gru(2, { dropout: 1 }), { message: /gru: the option dropout is a probability/ });
  assert.throws(() => lstm(2, { projection: 0 }), { message: /lstm: the width of the projection/ });
  assert.throws(() => rnn(2, { gate: "tanh" } as never), { message: /rnn: there is no option "gate"/ });
  assert.throws(run(x.at(0)), {
    name: "ShapeError",
    message: /lstm takes \[batch, time, features\], but the input is \[3, 4\]/,
  });
  assert.throws(run({ x, masks: x }), { message: /lstm: the input has "masks"/ });
  assert.throws(run({ mask: x }), { message: /lstm: the input's x is undefined/ });
  assert.throws(run({ x, mask: x.at("...", 0) }), {
    name: "DTypeError",
    message: /the mask takes bools \[batch, time\]/,
  });
  assert.throws(run({ x, mask: x.at(0).greater(0) }), {
    message: /a mask of \[3, 4\] for an input with \[batch, time\] = \[2, 3\]/,
  });
  const lengths = tensor([1, 2, 3], { dtype: "i32", device: "cpu" });
  assert.throws(run({ x, lengths }), { message: /lstm: lengths of \[3\] for a batch of 2/ });
  assert.throws(run({ x, lengths: x.at(":", 0, 0) }), { name: "DTypeError", message: /lengths are integers/ });
  assert.throws(run({ x, lengths: lengths.at(":2"), mask: x.at("...", 0).greater(0) }), {
    message: /a mask and lengths/,
  });
  assert.throws(run({ x, initialState: { hidden: x } }), {
    message: /lstm: the state's hidden has shape \[2, 3, 4\]; here it is \[2, 2\]/,
  });
  assert.throws(run({ x, initialState: { hidden: x.at(":", 0, ":2") } }), { message: /the state's cell is undefined/ });
  assert.throws(() => lstmCell(2).apply(params, x), { message: /lstmCell takes one step/ });
});
