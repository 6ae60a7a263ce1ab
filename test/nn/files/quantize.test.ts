/** Narrow weights: within half a scale, made wide inside the product, as accurate as the trained network, and saved like any model. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, test } from "node:test";
import { concat, explain, grad, jit, random, type Tensor, valueAndGrad } from "../../../src/index.js";
import * as nn from "../../../src/nn/index.js";
import { map } from "../../../src/transforms/tree.js";
import { temporaryFolders } from "../../support/temporary-folder.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";

const newFolder = temporaryFolders();
const FORMS: readonly nn.NarrowOptions[] = [
  { bits: 8 },
  { bits: 8, symmetric: false },
  { bits: 8, group: 16 },
  { bits: 4 },
  { bits: 4, group: 8 },
  { bits: 4, group: 16, symmetric: false },
];
const apply = (of: nn.QuantizedModel<Tensor, Tensor>, x: Tensor): Tensor =>
  of.model.apply(of.params, x, { state: of.state });

describeOnTensorDevices("quantized", (device) => {
  const key = random.key(2, { device });

  for (const form of FORMS) {
    test(`${JSON.stringify(form)}: each weight is within half a scale, and the output is that of the wide weights`, () => {
      const model = nn.dense(5);
      const x = random.normal(key, [3, 21]) as Tensor;
      const { params } = model.init(key, x);
      // One column lies to one side, and one is zero.
      const one = random.normal(random.key(1, { device }), [21, 3]);
      const shifted = random.uniform(key, [21, 1]).add(5);
      const weights = concat([one, shifted, shifted.mul(0)], { axis: 1 }) as Tensor;
      const small = nn.quantized(model, { params: { ...params, weights } }, form);
      assert.deepEqual(Object.keys(small.params), ["biases"]);
      const state = small.state as Record<string, Tensor>;
      assert.equal(state.weights!.dtype, `${form.symmetric === false ? "u" : "i"}${form.bits}`);
      const group = form.group ?? (form.bits === 4 ? 64 : 21);
      assert.deepEqual(state.scales!.shape, [Math.ceil(21 / group), 5]);

      const [w, q, s] = [weights, state.weights!.cast("f32") as Tensor, state.scales!].map(numbersOf) as [
        number[],
        number[],
        number[],
      ];
      const o = state.offsets ? numbersOf(state.offsets) : s.map(() => 0);
      const wide: number[] = [];
      for (let i = 0; i < 21; i++) {
        for (let j = 0; j < 5; j++) {
          const place = Math.floor(i / group) * 5 + j;
          wide.push(q[i * 5 + j]! * s[place]! + o[place]!);
          const error = Math.abs(wide.at(-1)! - w[i * 5 + j]!);
          assert.ok(error <= (s[place]! / 2) * (1 + 1e-5) + 1e-6, `${i}, ${j}: ${error} with a scale of ${s[place]}`);
        }
      }
      const back = nn.dequantized(small.model, small);
      assert.equal(back.model.kind, "dense");
      expectNear(numbersOf(back.params.weights as Tensor), wide, 1e-6);
      const [found, wanted] = [numbersOf(apply(small, x)), numbersOf(back.model.apply(back.params, x))];
      expectNear(found, wanted, 1e-4);
    });

    test(`${JSON.stringify(form)}: the wide matrix is not stored`, () => {
      const model = nn.dense(128);
      const x = random.normal(key, [8, 192]).realize() as Tensor;
      const small = nn.quantized(model, model.init(key, x), form);
      const text = explain(apply(small, x));
      assert.match(text, /: 1 kernel\n/);
      assert.match(text, form.bits === 8 ? /reads .*[iu]8\[192, 128\]/ : /reads .*u32\[3072\]/);
      assert.match(text, /writes out f32\[8, 128\];/);
    });
  }

  test("layers are chosen by path; embeddings where asked for; names, dtypes and other layers stay", () => {
    const model = nn.sequential({
      table: nn.embedding(9, 4),
      body: nn.sequential(
        nn.dense(8).named("first").withDTypes({ compute: "bf16", output: "f32" }),
        nn.activations.relu,
        nn.dense(8).frozen(),
      ),
      normed: nn.weightNorm(nn.dense(6)),
      tuned: nn.lora(nn.dense(4), { rank: 1 }),
      head: nn.dense(2, { useBias: false }),
    });
    const ids = random.randint(key, [5], 0, 9) as Tensor;
    const variables = model.init(key, ids);
    const kinds = (of: { model: nn.Layer }) =>
      ["table", "body.first", "body.dense0", "normed.layer", "tuned.base", "head"].map((path) =>
        of.model.at(path).kind.replace(/^quantized/, "q"),
      );
    const all = nn.quantized(model, variables, { bits: 8, embeddings: true });
    assert.deepEqual(kinds(all), ["qEmbedding", "qDense", "qDense", "dense", "qDense", "qDense"]);
    assert.deepEqual(kinds(nn.quantized(model, variables, { bits: 8 })), [
      "embedding",
      "qDense",
      "qDense",
      "dense",
      "qDense",
      "qDense",
    ]);
    assert.deepEqual(kinds(nn.quantized(model, variables, { bits: 8, include: ["body"] })), [
      "embedding",
      "qDense",
      "qDense",
      "dense",
      "dense",
      "dense",
    ]);
    const but = nn.quantized(model, variables, {
      bits: 4,
      exclude: (path) => path === "head" || path.endsWith("first"),
    });
    assert.deepEqual(kinds(but), ["embedding", "dense", "qDense", "dense", "qDense", "dense"]);
    assert.equal(all.model.at("body.first").name, "first");
    assert.deepEqual(all.model.at("body.first").modifiers, model.at("body.first").modifiers);
    assert.equal(all.params.head, undefined);
    const [found, wanted] = [numbersOf(apply(all, ids)), numbersOf(model.apply(variables.params, ids))];
    expectNear(found, wanted, 0.05);
    const back = nn.dequantized(all.model, all);
    assert.deepEqual(kinds(back), ["embedding", "dense", "dense", "dense", "dense", "dense"]);
    assert.deepEqual(back.state, {});
  });

  test("a summary shows a quarter and an eighth of the bytes", () => {
    const model = nn.dense(256, { useBias: false });
    const variables = model.init(key, [null, 512]);
    const bytes = (of: nn.Layer) => nn.summary(of as never, [null, 512]).bytes;
    assert.equal(bytes(model), 4 * 512 * 256);
    assert.equal(bytes(nn.quantized(model, variables, { bits: 8 }).model), 512 * 256 + 4 * 256);
    assert.equal(bytes(nn.quantized(model, variables, { bits: 4 }).model), (512 * 256) / 2 + 4 * 8 * 256);
  });

  test("a small trained network keeps its accuracy, and comes back from a file", async () => {
    const { model, params, x, y } = trained(device);
    const accuracy = async (of: nn.QuantizedModel<Tensor, Tensor>) =>
      (await apply(of, x).argmax({ axis: 1 }).equal(y).cast("f32").mean().item()) as number;
    const wide = await accuracy({ model, params, state: {} });
    assert.ok(wide > 0.95, `trained to ${wide}`);
    for (const [form, loss] of [
      [{ bits: 8 }, 0.005],
      [{ bits: 4, group: 16 }, 0.03],
      [{ bits: 4, group: 8, symmetric: false }, 0.03],
    ] as const) {
      const small = nn.quantized(model, { params }, form);
      const narrow = await accuracy(small);
      assert.ok(narrow >= wide - loss, `${JSON.stringify(form)}: ${narrow}, wide ${wide}`);
      const path = join(newFolder(), "small.safetensors");
      await nn.saveModel(path, small.model, small);
      const loaded = await nn.loadModel(path, { device });
      assert.deepEqual(numbersOf(apply(loaded, x)), numbersOf(apply(small, x)));
    }
  });

  test("LoRA on a quantised dense layer begins as it, trains its two matrices, and merges when the weights are wide again", () => {
    const { model, params, x, y } = trained(device, 2);
    const small = nn.quantized(model, { params }, { bits: 4, group: 16 });
    const tuned = small.model.replace("dense1", (layer) => nn.lora(layer as never, { rank: 2 }) as never);
    const fresh = tuned.init(key, x);
    const own = fresh.params.dense1 as nn.VariableTree;
    const start = { ...small.params, dense1: { ...own, base: small.params.dense1 as nn.VariableTree } };
    const state = { ...small.state, dense1: { base: small.state.dense1 as nn.VariableTree } };
    assert.deepEqual(numbersOf(tuned.apply(start, x, { state })), numbersOf(apply(small, x)));
    const loss = (p: nn.VariableTree, s: nn.VariableTree) =>
      nn.losses.categoricalCrossEntropy(tuned.apply(p, x, { state: s }), y, {
        fromLogits: true,
        reduction: "mean",
      } as never) as Tensor;
    const step = jit((p: nn.VariableTree, s: nn.VariableTree) => {
      const [value, slopes] = valueAndGrad((q: nn.VariableTree) => loss(q, s))(p);
      return {
        value,
        next: map((leaf, slope) => leaf.sub((slope as Tensor).mul(0.5)) as Tensor, p, slopes) as nn.VariableTree,
      };
    });
    let p: nn.VariableTree = start;
    const values: number[] = [];
    for (let i = 0; i < 20; i++) {
      const { value, next } = step(p, state);
      values.push(numbersOf(value)[0]!);
      p = next;
    }
    assert.ok(values.at(-1)! < 0.9 * values[0]!, values.join(" "));
    const wide = nn.dequantized(tuned, { params: p, state });
    const merged = nn.mergeLora(wide.model, wide.params);
    const [found, wanted] = [numbersOf(merged.model.apply(merged.params, x)), numbersOf(tuned.apply(p, x, { state }))];
    expectNear(found, wanted, 1e-3);
    assert.throws(() => nn.mergeLora(tuned, p), /call dequantized\(model, variables\) first/);
    assert.throws(() => grad((s: nn.VariableTree) => loss(start, s))(state), /only floats have gradients/);
  });
});

test("train tunes a LoRA around narrow weights, which stay", async () => {
  const { model, params, x, y } = trained("cpu", 2);
  const small = nn.quantized(model, { params }, { bits: 4, group: 16 });
  const tuned = small.model.replace("dense1", (layer) => nn.lora(layer, { rank: 2 }));
  const fresh = tuned.init(random.key(3, { device: "cpu" }), x);
  const start = nn.mergeTrees(fresh.params, {
    ...small.params,
    dense1: { base: small.params.dense1 as nn.VariableTree },
  });
  const state = nn.mergeTrees(fresh.state, { ...small.state, dense1: { base: small.state.dense1 as nn.VariableTree } });
  const result = await nn.train(tuned, {
    data: nn.loader({ x, y }, { batchSize: 100, shuffle: random.key(1, { device: "cpu" }) }),
    loss: (scores: Tensor, labels: Tensor) =>
      nn.losses.categoricalCrossEntropy(scores, labels, { fromLogits: true, reduction: "mean" }),
    optimizer: nn.optimizers.adam(0.05),
    variables: { params: start, state },
    epochs: 4,
    key: random.key(2, { device: "cpu" }),
  } as never);
  const accuracy = async (p: nn.VariableTree, s: nn.VariableTree) =>
    (await tuned.apply(p, x, { state: s }).argmax({ axis: 1 }).equal(y).cast("f32").mean().item()) as number;
  const [before, after] = [await accuracy(start, state), await accuracy(result.params, result.state)];
  assert.ok(after > 0.9 && after > before, `${before} → ${after}`);
  const narrow = (of: nn.VariableTree) =>
    numbersOf(((of.dense1 as nn.VariableTree).base as Record<string, Tensor>).weights!.cast("i32") as Tensor);
  assert.deepEqual(narrow(result.state), narrow(state));
  // What train gives is variables, too.
  const wide = nn.dequantized(tuned, result);
  assert.equal(wide.model.at("dense1.base").kind, "dense");
  const path = join(newFolder(), "tuned.safetensors");
  await nn.saveModel(path, tuned, result);
  const loaded = await nn.loadModel(path, { device: "cpu" });
  assert.deepEqual(narrow(loaded.state), narrow(result.state));
});

test("a quantised transformer generates with a cache beside its narrow weights", () => {
  const key = random.key(4, { device: "cpu" });
  const model = nn.sequential<Tensor, Tensor>(
    nn.embedding(11, 16),
    nn.transformerDecoder(16, { heads: 2, layers: 2, cross: false, rotary: true }) as never,
    nn.dense(11),
  );
  const ids = random.randint(key, [1, 6], 0, 11) as Tensor;
  const small = nn.quantized(model, model.init(key, ids), { bits: 8, group: 8 });
  assert.ok(Object.keys(small.params).length > 0);
  const whole = numbersOf(apply(small, ids).at(0, -1) as Tensor);
  let state = nn.mergeTrees(small.state, nn.attentionCache(small.model as never, ids, { capacity: 8, device: "cpu" }));
  let last: Tensor | undefined;
  for (let i = 0; i < 6; i++) {
    [last, state] = small.model.applyWithState(small.params, ids.at(":", `${i}:${i + 1}`) as Tensor, { state });
  }
  expectNear(numbersOf(last!.at(0, 0) as Tensor), whole, 1e-4);
});

/** Each number against the wanted one, within an error relative to its size or to one. */
function expectNear(found: readonly number[], wanted: readonly number[], tolerance: number): void {
  assert.equal(found.length, wanted.length);
  for (const [i, value] of found.entries()) {
    const error = Math.abs(value - wanted[i]!) / (1 + Math.abs(wanted[i]!));
    assert.ok(error <= tolerance, `${value} at ${i}, wanted ${wanted[i]}`);
  }
}

/** Three clusters on a ring, and a network of two dense layers that tells them apart. */
function trained(device: string, steps = 60) {
  const key = random.key(5, { device });
  const [one, two] = random.split(key);
  const y = random.randint(one, [300], 0, 3) as Tensor;
  const angle = y.cast("f32").mul((2 * Math.PI) / 3) as Tensor;
  const centres = concat([angle.cos().expandDims(1), angle.sin().expandDims(1)], { axis: 1 });
  const x = centres
    .mul(2)
    .add(random.normal(two, [300, 2]).mul(0.6))
    .realize() as Tensor;
  const model = nn.sequential(nn.dense(32), nn.activations.tanh, nn.dense(3));
  let { params } = model.init(key, x);
  const step = jit((p: nn.VariableTree) => {
    const loss = (q: nn.VariableTree) =>
      nn.losses.categoricalCrossEntropy(model.apply(q, x), y, {
        fromLogits: true,
        reduction: "mean",
      } as never) as Tensor;
    return map((leaf, slope) => leaf.sub((slope as Tensor).mul(0.5)) as Tensor, p, grad(loss)(p)) as nn.VariableTree;
  });
  for (let i = 0; i < steps; i++) params = step(params);
  return { model, params, x, y };
}

describe("quantized refuses", () => {
  const key = random.key(0, { device: "cpu" });
  const model = nn.dense(3);
  const variables = model.init(key, [null, 4]);
  // biome-ignore format: rows read best
  const cases: [string, () => unknown, RegExp][] = [
    ["bits that are neither", () => nn.quantized(model, variables, { bits: 5 as never }), /the option bits is 8 or 4, not 5/],
    ["a group of nothing", () => nn.quantized(model, variables, { bits: 4, group: 0 }), /the option group is a whole number from 1 on/],
    ["parameters alone", () => nn.quantized(model, variables.params as never, { bits: 8 }), /takes the variables that init or train gave, \{ params, state \}/],
    ["parameters of another model", () => nn.quantized(nn.sequential(model), variables, { bits: 8 }), /no weights for "dense0"/],
    ["a path to exclude that names no layer", () => nn.quantized(nn.sequential(model), nn.sequential(model).init(key, [null, 4]), { bits: 8, exclude: ["zz"] }), /^ArgumentError: quantized: the option exclude: No layer "zz": .*its parts are dense0/],
    ["a path to include that names no layer", () => nn.quantized(nn.sequential(model), nn.sequential(model).init(key, [null, 4]), { bits: 8, include: ["dense0.x"] }), /the option include: No layer "dense0.x"/],
    ["a path that is a number", () => nn.quantized(model, variables, { bits: 8, include: [3 as never] }), /the option include: paths are texts, not 3/],
    ["paths that are a text", () => nn.quantized(model, variables, { bits: 8, include: "dense0" as never }), /the option include is a function of the path, or a list/],
    ["a path at no layer", () => nn.quantized(nn.sequential(model), { params: { dense0: variables.params } }, { bits: 8, exclude: ["zz"] }), /No layer "zz".*its parts are dense0/],
    ["no model", () => nn.quantized({} as never, variables, { bits: 8 }), /takes a model/],
    ["a state that is missing", () => { const small = nn.quantized(model, variables, { bits: 8 }); return small.model.apply(small.params, random.normal(key, [1, 4])); }, /no state "weights".*Give the state/],
    ["weights of another width", () => { const small = nn.quantized(model, variables, { bits: 8 }); return nn.quantizedDense(3, { bits: 4 }).apply(small.params, random.normal(key, [1, 4]), { state: small.state }); }, /its weights are i8, but 4 bits are i4/],
  ];
  for (const [title, run, message] of cases) test(title, () => assert.throws(run, message));
});
