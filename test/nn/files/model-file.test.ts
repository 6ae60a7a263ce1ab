/** Models in files: every kind of layer comes back and gives the same bits; what a file cannot hold is refused by name. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, test } from "node:test";
import { ArgumentError, FormatError } from "../../../src/core/errors.js";
import { io, jit, random, type Tensor } from "../../../src/index.js";
import { writeTree } from "../../../src/io/trees/tree-file.js";
import { OWN_KINDS } from "../../../src/nn/files/kinds.js";
import * as nn from "../../../src/nn/index.js";
import { isTensor } from "../../../src/tensor/index.js";
import { leaves } from "../../../src/transforms/tree.js";
import { temporaryFolders } from "../../support/temporary-folder.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";

const newFolder = temporaryFolders();
const pathOf = (): string => join(newFolder(), "model.safetensors");
const { activations, initializers } = nn;

const image = [2, 4, 6, 5];
const rows = [3, 4];
const tokens = [2, 3, 4];
const isPositive = nn.registerFunction("test.isPositive", (x: Tensor) => x.mean().greater(0));
const residual = nn.registerFunction("test.residual", ({ turn }: { turn: (x: Tensor) => Tensor }, x: Tensor) =>
  turn(x).add(x),
);
const ownInitializer: nn.Initializer = (key, shape) => random.normal(key, shape).mul(3) as Tensor;

type Shapes = readonly number[] | readonly (readonly number[])[];

/** A layer of each kind, with options, and the shapes of its inputs. */
// biome-ignore format: rows read best
const SPECIMENS: Readonly<Record<string, readonly [nn.AnyLayer, Shapes, dtype?: "i32"]>> = {
  sequential: [nn.sequential(nn.dense(3).named("first"), activations.gelu, nn.dense(2).frozen()) as never, rows],
  block: [nn.block({ turn: nn.dense(4) }, residual as never) as never, rows],
  cond: [nn.cond(isPositive, nn.dense(2), nn.sequential({ one: nn.dense(2) })) as never, rows],
  dense: [nn.dense(3, { weights: initializers.heNormal, biases: ownInitializer }) as never, rows],
  bias: [nn.bias({ biases: initializers.ones }) as never, rows],
  bilinear: [nn.bilinear(2, { useBias: false }) as never, [rows, rows]],
  masking: [nn.masking({ padding: 3 }) as never, rows, "i32"],
  embedding: [nn.embedding(7, 3) as never, rows, "i32"],
  lora: [nn.lora(nn.dense(3), { rank: 2, alpha: 4, weights: ownInitializer }) as never, rows],
  quantizedDense: [nn.quantizedDense(3, { bits: 4, group: 3, symmetric: false }) as never, rows],
  quantizedEmbedding: [nn.quantizedEmbedding(7, 5, { bits: 8, group: 2 }) as never, rows, "i32"],
  conv: [nn.conv(6, [3, 2], { stride: [1, 2], padding: [[1, 0], 1], groups: 2, channels: "first" }) as never, image],
  convTranspose: [nn.convTranspose(3, 2, { stride: 2, outputPadding: 1, dilation: 2, channels: "last" }) as never, image],
  depthwiseConv: [nn.depthwiseConv(3, { padding: "same", multiplier: 2, useBias: false }) as never, image],
  separableConv: [nn.separableConv(5, 2, { pointwise: initializers.glorotNormal }) as never, image],
  maxPool: [nn.maxPool(2, { stride: 1, padding: 1 }) as never, image],
  averagePool: [nn.averagePool([2, 1], { padding: "same", countPadding: false }) as never, image],
  lpPool: [nn.lpPool(2, { norm: Infinity }) as never, image],
  blurPool: [nn.blurPool({ stride: 2, size: 4 }) as never, image],
  adaptiveAveragePool: [nn.adaptiveAveragePool([2, 3]) as never, image],
  adaptiveMaxPool: [nn.adaptiveMaxPool(2, { channels: "last" }) as never, image],
  adaptiveLpPool: [nn.adaptiveLpPool(2, { norm: 3 }) as never, image],
  globalAveragePool: [nn.globalAveragePool({ keepDims: true }) as never, image],
  globalMaxPool: [nn.globalMaxPool() as never, image],
  globalLpPool: [nn.globalLpPool({ norm: 1.5 }) as never, image],
  batchNorm: [nn.batchNorm({ momentum: 0.5, eps: 1e-3 }) as never, image],
  layerNorm: [nn.layerNorm({ axis: [-2, -1], scale: ownInitializer }) as never, image],
  groupNorm: [nn.groupNorm(2, { useBias: false }) as never, image],
  instanceNorm: [nn.instanceNorm() as never, image],
  rmsNorm: [nn.rmsNorm({ eps: 0 }) as never, rows],
  weightNorm: [nn.weightNorm(nn.dense(3), { axis: 0 }) as never, rows],
  spectralNorm: [nn.spectralNorm(nn.conv(3, 2), { iterations: 2 }) as never, image],
  dropout: [nn.dropout(0.3) as never, rows],
  spatialDropout: [nn.spatialDropout(0.5) as never, image],
  alphaDropout: [nn.alphaDropout(0.25) as never, rows],
  featureAlphaDropout: [nn.featureAlphaDropout(0.25, { channels: "last" }) as never, image],
  flatten: [nn.flatten() as never, image],
  reshape: [nn.reshape([-1, 2]) as never, image],
  transpose: [nn.transpose([0, 2, 3, 1]) as never, image],
  pad: [nn.pad([[1, 0], 2], { mode: "constant", value: -0 }) as never, image],
  resize: [nn.resize([3, 7], { method: "bicubic", antialias: false }) as never, image],
  prelu: [nn.prelu({ perChannel: true, slopes: ownInitializer }) as never, image],
  add: [nn.add() as never, [rows, rows]],
  subtract: [nn.subtract() as never, [rows, rows, rows]],
  multiply: [nn.multiply() as never, [rows, rows]],
  concatenate: [nn.concatenate({ axis: 0 }) as never, [rows, rows]],
  split: [nn.split({ sizes: [1, 3] }) as never, rows],
  rnn: [nn.rnn(3, { activation: "relu", returnSequences: true, recurrent: ownInitializer }) as never, tokens],
  lstm: [nn.lstm(3, { peephole: true, projection: 2, returnState: true, forgetBias: 0 }) as never, tokens],
  gru: [nn.gru(3, { resetAfter: false, reverse: true, dropout: 0.5, recurrentDropout: 0.5 }) as never, tokens],
  rnnCell: [nn.rnnCell(3) as never, rows],
  lstmCell: [nn.lstmCell(3, { gate: "hardSigmoid" }) as never, rows],
  gruCell: [nn.gruCell(3, { useBias: false }) as never, rows],
  convLstm: [nn.convLstm(2, [3], { channels: "last", stride: 2 }) as never, image],
  bidirectional: [nn.bidirectional(nn.gru(3), { merge: "sum" }).replace("backward", nn.gru(3, { useBias: false }) as never) as never, tokens],
  stacked: [nn.stacked([nn.lstm(3), nn.gru(2)], { dropout: 0.5 }).replace("lstm0", nn.rnn(3) as never) as never, tokens],
  multiHeadAttention: [nn.multiHeadAttention(2, { headSize: 4, keyValueHeads: 1, causal: true, window: [Infinity, 0], rotary: { base: 50, scaling: { kind: "ntk", factor: 2 } } }) as never, tokens],
  sinusoidalPositions: [nn.sinusoidalPositions({ base: 100 }) as never, tokens],
  learnedPositions: [nn.learnedPositions(9) as never, tokens],
  feedForward: [nn.feedForward(4, 5, { activation: "geglu", dropout: 0.5 }) as never, tokens],
  encoderBlock: [nn.encoderBlock(4, { heads: 2, norm: "rmsNorm", attentionDropout: 0.5 }) as never, tokens],
  decoderBlock: [nn.decoderBlock(4, { heads: 2, cross: false, alibi: true }).replace("attention.query", nn.lora(nn.dense(4), { rank: 1 }) as never) as never, tokens],
  transformerEncoder: [nn.transformerEncoder(4, { heads: 1, layers: 2, preNorm: false, hidden: 3 }) as never, tokens],
  transformerDecoder: [nn.transformerDecoder(4, { heads: 1, layers: 1, cross: false, experts: { count: 2, top: 1 } }) as never, tokens],
  mixtureOfExperts: [nn.mixtureOfExperts(3, { hidden: 2, top: 2, capacityFactor: 1 }) as never, tokens],
};

/** Functions of `pumice/nn` that make no layer by themselves. */
// biome-ignore format: one row
const OTHERS = [
  "Layer", "layer", "summary", "Summary", "attend", "mergeLora", "readTree", "writeTree", "loadModel", "saveModel",
  "registerFunction", "registerLayer", "diagram", "mergeTrees", "parameterAt", "maskOf", "rematerialize", "quantized", "dequantized", "loadParameters", "LoadReport", "torchNames", "loader", "openRows", "splitData",
  "rotary", "alibiSlopes", "attentionCache", "auxiliaryLoss",
  "evaluate", "predict", "train", "trainer", "rematerialize", "Trained", "TrainingResult", "TrainingRun", "NonFiniteLossError",
];

const inputsOf = (shapes: Shapes, dtype: "f32" | "i32", device: string): unknown => {
  const key = random.key(1, { device });
  const made = (shape: readonly number[], i: number) =>
    dtype === "i32" ? random.randint(random.foldIn(key, i), shape, 0, 7) : random.normal(random.foldIn(key, i), shape);
  return typeof shapes[0] === "number" ? made(shapes as number[], 0) : (shapes as number[][]).map(made);
};

const bits = async (tree: unknown): Promise<unknown> =>
  Promise.all(leaves(tree).map(async (x) => [x.dtype, [...x.shape], [...(await x.bytes())]]));

describeOnTensorDevices("saveModel and loadModel", (device) => {
  const key = random.key(3, { device });

  for (const kind of OWN_KINDS) {
    test(`${kind}: the same outputs and state, bit by bit`, async () => {
      assert.ok(Object.hasOwn(SPECIMENS, kind), `add a layer of the kind ${kind} to SPECIMENS`);
      const [model, shapes, dtype = "f32"] = SPECIMENS[kind] as (typeof SPECIMENS)[string];
      assert.equal(model.kind, kind);
      const input = inputsOf(shapes, dtype, device);
      const { params, state } = model.init(key, input as never);
      const path = pathOf();
      await nn.saveModel(path, model, { params, state });
      const loaded = await nn.loadModel<unknown, unknown>(path, { device });
      assert.equal(loaded.model.kind, kind);
      for (const training of [false, true]) {
        const wanted = (model as unknown as nn.Layer<unknown, unknown>).applyWithState(params, input, {
          state,
          training,
          key,
        });
        const found = loaded.model.applyWithState(loaded.params, input, { state: loaded.state, training, key });
        assert.deepEqual(await bits(found), await bits(wanted));
      }
      // What was loaded can be saved, too, and describes itself in the same way.
      const again = pathOf();
      await nn.saveModel(again, loaded.model, loaded);
      await using first = await io.openSafetensors(path, { device });
      await using second = await io.openSafetensors(again, { device });
      assert.deepEqual(second.metadata, first.metadata);
    });
  }

  test("names, dtypes, frozen parts and metadata come back", async () => {
    const model = nn
      .sequential({
        body: nn.sequential(nn.dense(4).named("first"), activations.relu, nn.batchNorm()).frozen(),
        head: nn.dense(2).frozen(false).withDTypes({ parameters: "bf16", output: "f32" }),
      })
      .withDTypes({ compute: "bf16" });
    const x = random.normal(key, [5, 3]);
    const variables = model.init(key, x);
    const path = pathOf();
    await nn.saveModel(path, model, variables, { metadata: { classes: ["a", "b"] } });
    const loaded = await nn.loadModel(path, { device });
    assert.deepEqual(loaded.metadata, { classes: ["a", "b"] });
    assert.equal(loaded.model.at("body").parts.first?.name, "first");
    assert.deepEqual(loaded.model.modifiers, model.modifiers);
    assert.deepEqual(loaded.model.at("head").modifiers, model.at("head").modifiers);
    assert.deepEqual(loaded.model.at("body").modifiers, model.at("body").modifiers);
    assert.deepEqual(
      String(nn.summary(loaded.model as never, [null, 3])),
      String(nn.summary(model as never, [null, 3])),
    );
    const run = (each: typeof loaded.model, { params, state }: nn.Variables) => each.apply(params, x, { state });
    assert.deepEqual(
      await bits(jit((p: nn.VariableTree) => run(loaded.model, { ...loaded, params: p }))(loaded.params)),
      await bits(run(model, variables)),
    );
  });

  test("a model whose parts are rematerialised is saved as the plain one", async () => {
    const plain = nn.sequential({ body: nn.sequential(nn.dense(4), activations.relu), head: nn.dense(2) });
    const model = plain.replace("body", nn.rematerialize as never);
    const variables = model.init(key, [null, 3]);
    const path = pathOf();
    await nn.saveModel(path, model, variables);
    const loaded = await nn.loadModel(path, { device });
    const x = random.normal(key, [4, 3]);
    assert.deepEqual(await bits(loaded.model.apply(loaded.params, x)), await bits(model.apply(variables.params, x)));
  });

  test("a layer of the user's own comes back by the function that is registered for its kind", async () => {
    const scale = (by: number) =>
      nn.layer(`test.scale on ${device}`, { by }, (scope, x: Tensor) =>
        x.mul(scope.parameter("gain", [], initializers.ones)).mul(by),
      );
    const model = nn.sequential(scale(3), nn.dense(2));
    const variables = model.init(key, [null, 3]);
    await assert.rejects(
      nn.saveModel(pathOf(), model, variables),
      /saveModel: the layer "test.*, is one of your own, and a file holds no code.*registerLayer\("test/s,
    );
    nn.registerLayer(`test.scale on ${device}`, ({ by }) => scale(by as number) as never);
    const path = pathOf();
    await nn.saveModel(path, model, variables);
    const loaded = await nn.loadModel(path, { device });
    const x = random.normal(key, [4, 3]);
    assert.deepEqual(await bits(loaded.model.apply(loaded.params, x)), await bits(model.apply(variables.params, x)));
  });
});

test("every function of pumice/nn that makes a layer is known to files", () => {
  const made = Object.entries(nn)
    .filter(([, value]) => typeof value === "function")
    .map(([name]) => name)
    .filter((name) => !OTHERS.includes(name));
  for (const name of made)
    assert.ok(OWN_KINDS.includes(name), `${name}: add it to KINDS of src/nn/files/kinds.ts, or to OTHERS here`);
});

test("what train gave is saved, with its optimiser's state, and loaded", async () => {
  const key = random.key(0, { device: "cpu" });
  const x = random.normal(key, [8, 3]);
  const model = nn.sequential({ body: nn.dense(4), norm: nn.batchNorm(), head: nn.dense(1) });
  const checkpoint = pathOf();
  const trained = await nn.train(model, {
    data: { x, y: x.sum({ axis: 1, keepDims: true }) },
    loss: "huber",
    optimizer: nn.optimizers.adam(0.1),
    epochs: 2,
    checkpoint,
  });
  const path = pathOf();
  await nn.saveModel(path, model, trained, { extra: trained.optimizerState });
  const loaded = await nn.loadModel(path, { device: "cpu" });
  const numbers = (tree: unknown) => leaves(tree).map((leaf) => numbersOf(leaf));
  assert.deepEqual(numbers(loaded.params), numbers(trained.params));
  assert.deepEqual(numbers(loaded.state), numbers(trained.state));
  assert.deepEqual(numbers(loaded.extra), numbers(trained.optimizerState));
  assert.ok(leaves(loaded.extra).length > 0);
  // Both kinds of files hold the parameters; the extra tree and the rest of a checkpoint are left out.
  const fresh = model.init(random.key(1, { device: "cpu" }), x);
  for (const file of [path, checkpoint]) {
    for (const into of [fresh, trained]) {
      const { params, state, report } = await nn.loadParameters(file, into);
      assert.deepEqual(numbers([params, state]), numbers([trained.params, trained.state]));
      assert.ok(report.isComplete);
    }
    const { params } = await nn.loadParameters(file, fresh.params);
    assert.deepEqual(numbers(params), numbers(trained.params));
  }
  const small = nn.quantized(model, trained, { bits: 8 });
  assert.equal(nn.dequantized(small.model, small).model.at("head").kind, "dense");
  assert.equal((await nn.loadModel(await plainFile(model, trained))).extra, undefined);
});

const plainFile = async (model: nn.Layer, variables: nn.Variables): Promise<string> => {
  const path = pathOf();
  await nn.saveModel(path, model, variables);
  return path;
};

describe("saveModel refuses", () => {
  const key = random.key(0, { device: "cpu" });
  const dense = nn.dense(2);
  const relu = (x: Tensor): Tensor => x.relu().mul(2);
  // biome-ignore format: rows read best
  const cases: [string, nn.Layer, RegExp][] = [
    ["a function of the user's own, also one that is called like an activation", nn.sequential({ body: nn.sequential(dense, relu) }),
      /saveModel: the layer "body\.relu0", relu, computes with a function of your own.*registerFunction\("name", f\).*loadParameters/s],
    ["a block with a function that has no name", nn.sequential(nn.block({ dense }, ({ dense: inner }, x: Tensor) => inner(x))),
      /the layer "block0", block, by its option forward computes with a function of your own.*registerFunction/s],
    ["a condition", nn.cond((x) => x.sum().greater(0), dense, dense), /cond.*registerFunction/s],
    ["a layer of the user's own that has one of our kinds", nn.layer("flatten", {}, (_, x: Tensor) => x.mul(2)),
      /the layer flatten is one of your own.*registerLayer\("flatten"/s],
    ["an option that is a tensor", nn.layer("test.tensor", { table: key }, (_, x: Tensor) => x), /by its option table needs .*which a file cannot hold/s],
  ];
  for (const [title, model, message] of cases) {
    test(title, async () => {
      const variables = model.init(key, [null, 3]);
      await assert.rejects(nn.saveModel(pathOf(), model, variables), (error) => {
        assert.ok(error instanceof ArgumentError);
        assert.match(error.message, message);
        return true;
      });
    });
  }

  test("arguments that are none", async () => {
    const { params } = dense.init(key, [null, 3]);
    await assert.rejects(nn.saveModel(pathOf(), {} as never, { params }), /saveModel: takes a model/);
    await assert.rejects(
      nn.saveModel(pathOf(), dense, params as never),
      /saveModel: takes the variables that init or train gave/,
    );
    await assert.rejects(nn.saveModel(3 as never, dense, { params }), /the path is a string/);
    await assert.rejects(nn.loadModel(pathOf(), { devise: "cpu" } as never), /no option "devise"/);
  });

  test("variables of another model, by path", async () => {
    const model = nn.sequential({ body: nn.dense(4), head: nn.dense(2, { useBias: false }) });
    const { params } = model.init(key, [null, 3]) as unknown as { params: Record<string, Record<string, Tensor>> };
    const wrong: [unknown, RegExp][] = [
      [
        { params: nn.sequential(nn.dense(4)).init(key, [null, 3]).params },
        /params\.dense0 belongs to no layer; the parts of the model are body, head/,
      ],
      [{ params, state: { tail: { mean: key } } }, /state\.tail belongs to no layer/],
      [{ params: { body: params.body } }, /params\.head\.weights is missing, which dense has/],
      [{ params: { ...params, body: { weights: params.body!.weights } } }, /params\.body\.biases is missing/],
      [
        { params: { ...params, head: { ...params.head, biases: key } } },
        /params\.head\.biases is no parameter of dense/,
      ],
      [{ params: { ...params, head: params.body!.weights } }, /params\.head is .*, not the variables of a layer/],
      [
        { params: { body: params.body, head: { weights: params.body!.weights } } },
        /params\.head\.weights has shape \[3, 4\], but dense needs \[any, 2\]/,
      ],
    ];
    for (const [variables, message] of wrong) {
      await assert.rejects(nn.saveModel(pathOf(), model, variables as never), (error) => {
        assert.ok(error instanceof ArgumentError);
        assert.match(error.message, message);
        assert.match(error.message, /^saveModel: .*give the variables of this model\.$/);
        return true;
      });
    }
    // A part that is never called has no parameters.
    const first = nn.registerFunction("test.first", ({ one }: { one: (x: Tensor) => Tensor }, x: Tensor) => one(x));
    const half = nn.block({ one: nn.dense(2), other: nn.dense(2) }, first as never);
    const path = pathOf();
    await nn.saveModel(path, half, half.init(key, [null, 3]));
    assert.deepEqual(Object.keys((await nn.loadModel(path)).params), ["one"]);
  });

  test("two functions under one name", () => {
    nn.registerFunction("test.relu", relu);
    assert.equal(nn.registerFunction("test.relu", relu), relu);
    assert.throws(() => nn.registerFunction("test.relu", (x: Tensor) => x), /another function is called "test\.relu"/);
    assert.throws(
      () => nn.registerFunction("activations.relu", relu),
      /another function is called "activations\.relu"/,
    );
    assert.throws(() => nn.registerLayer("test.none", 3 as never), ArgumentError);
  });
});

describe("loadModel refuses", () => {
  const one = random.key(0, { device: "cpu" });
  const forged = async (
    architecture: unknown,
    tree: unknown = { params: {}, state: {} },
    model: unknown = 1,
  ): Promise<string> => {
    const path = pathOf();
    await writeTree(path, tree as never, { model, architecture });
    return path;
  };
  const dense = { kind: "dense", options: { units: 2 } };
  // biome-ignore format: rows read best
  const cases: [string, () => Promise<string>, RegExp][] = [
    ["a file of tensors alone", async () => { const path = pathOf(); await io.saveSafetensors(path, { one }); return path; }, /there is no model in this file, only tensors; loadParameters/],
    ["a later version", () => forged(dense, undefined, 2), /a model of version 2; this version of Pumice reads 1/],
    ["an architecture that is a list", () => forged([]), /the layer at the top is no JSON object/],
    ["an unknown kind", () => forged({ kind: "dance" }), /is of the kind "dance", which is not known here.*registerLayer/],
    ["a kind that every object has", () => forged({ kind: "constructor" }), /is of the kind "constructor", which is not known/],
    ["a member that is not known", () => forged({ ...dense, more: 1 }), /has "more", which this version of Pumice does not know/],
    ["an unknown function", () => forged({ kind: "sequential", parts: { f: { function: "evil" } } }), /the layer "f" computes with the function "evil", which is not known here; registerFunction/],
    ["an option of the wrong kind", () => forged({ kind: "dense", options: { units: "2" } }), /the layer at the top cannot be made: dense: the number of units/],
    ["an option that is not known", () => forged({ kind: "dense", options: { units: 2, unit: 3 } }), /there is no option "unit"/],
    ["a block without its function", () => forged({ kind: "block", parts: {} }), /cannot be made: block: takes a function/],
    ["an inner layer that is missing", () => forged({ kind: "lora", options: { rank: 2 } }), /cannot be made: lora: takes a dense layer/],
    ["a part too many", () => forged({ ...dense, parts: { inner: dense } }), /No layer "inner": dense has no part/],
    ["a value that is not known", () => forged({ kind: "dense", options: { units: { $eval: "1" } } }), /the option \{ \$eval: "1" \} is not known/],
    ["a number that is none", () => forged({ kind: "dense", options: { units: { $number: "2" } } }), /the option \{ \$number: "2" \} is not known/],
    ["an initialiser that is not known", () => forged({ kind: "dense", options: { units: 2, weights: { $initializer: "toString" } } }), /is not known here/],
    ["a name with a full stop", () => forged({ ...dense, name: "a.b" }), /named: a layer's name/],
    ["dtypes that are none", () => forged({ ...dense, dtypes: { compute: "f31" } }), /its dtypes have compute: "f31"/],
    ["weights of other units", () => forged({ ...dense, options: { units: 5 } }, { params: nn.dense(4).init(one, [null, 4]).params, state: {} }), /params\.weights has shape \[4, 4\], but dense needs \[any, 5\]: the file's architecture/],
    ["parameters of another model", () => forged({ kind: "sequential", parts: { body: dense } }, { params: nn.sequential(nn.dense(2)).init(one, [null, 4]).params, state: {} }), /params\.dense0 belongs to no layer; the parts of the model are body/],
    ["parameters that are a list", () => forged(dense, { params: [], state: {} }), /params is no object of tensors/],
    ["parameters with a hole", () => forged(dense, { params: { weights: null }, state: {} }), /params\.weights is no object of tensors/],
    ["a state that is missing", () => forged(dense, { params: {} }), /state is no object of tensors/],
  ];
  for (const [title, make, message] of cases) {
    test(title, async () => {
      await assert.rejects(nn.loadModel(await make(), { device: "cpu" }), (error) => {
        assert.ok(error instanceof FormatError, String(error));
        assert.match(error.message, message);
        return true;
      });
    });
  }
});

test("a tensor is no layer", () => assert.ok(!isTensor(nn.dense(2))));
