/** Parameters from files into a model made in code: by path, in part, and from names and layouts of PyTorch. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, test } from "node:test";
import { inspect } from "node:util";
import { ArgumentError } from "../../../src/core/errors.js";
import { io, random, type Tensor, tensor } from "../../../src/index.js";
import * as nn from "../../../src/nn/index.js";
import { leaves } from "../../../src/transforms/tree.js";
import { temporaryFolders } from "../../support/temporary-folder.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";

const newFolder = temporaryFolders();
const pathOf = (): string => join(newFolder(), "x.safetensors");
const numbers = (tree: unknown): number[][] => leaves(tree).map(numbersOf);

describeOnTensorDevices("loadParameters", (device) => {
  const [one, other] = [random.key(1, { device }), random.key(2, { device })];
  const model = nn.sequential({ body: nn.sequential(nn.dense(4), nn.batchNorm()), head: nn.dense(2) });

  test("takes all parameters from a model's file, and state where it is asked for", async () => {
    const statistics = { mean: random.normal(one, [4]), variance: random.uniform(one, [4]) };
    const saved = { ...model.init(one, [null, 3]), state: { body: { batchNorm0: statistics } } };
    const into = model.init(other, [null, 3]);
    const path = pathOf();
    await nn.saveModel(path, model, saved);
    const params = await nn.loadParameters(path, into.params);
    assert.deepEqual(numbers(params.params), numbers(saved.params));
    assert.deepEqual(params.report.ignored, ["state.body.batchNorm0.mean", "state.body.batchNorm0.variance"]);
    assert.ok(params.report.isComplete);
    const both = await nn.loadParameters(path, into);
    assert.deepEqual(numbers([both.params, both.state]), numbers([saved.params, saved.state]));
    assert.equal(both.report.matched.length, 8);
    assert.deepEqual(both.report.ignored, []);
    // Neither the given trees nor their tensors changed.
    assert.notDeepEqual(numbers(into.params), numbers(saved.params));
  });

  test("reports what is missing, unexpected and of another shape, and loads the rest where that is allowed", async () => {
    const { params } = model.init(one, [null, 3]);
    const path = pathOf();
    const body = (params.body as nn.VariableTree).dense0 as { weights: Tensor; biases: Tensor };
    await nn.writeTree(path, {
      body: { dense0: body },
      head: { weights: tensor([[1, 2]], { device }) },
      tail: { w: body.biases },
    });
    const into = model.init(other, [null, 3]).params;
    const { params: found, report } = await nn.loadParameters(path, into, { strict: false });
    assert.deepEqual(report.matched.map(({ path: to }) => to).sort(), ["body.dense0.biases", "body.dense0.weights"]);
    assert.deepEqual(report.missing, ["body.batchNorm0.scale", "body.batchNorm0.biases", "head.biases"]);
    assert.deepEqual(report.unexpected, ["tail.w"]);
    assert.deepEqual(report.mismatched, [
      { name: "head.weights", path: "head.weights", found: "f32 [1, 2]", wanted: "f32 [4, 2]" },
    ]);
    assert.deepEqual(numbers((found.body as nn.VariableTree).dense0), numbers(body));
    assert.deepEqual(numbers(found.head), numbers(into.head));
    const text = [
      "2 of 6 parameters loaded",
      "missing in the file: body.batchNorm0.scale, body.batchNorm0.biases, head.biases",
      "unexpected in the file: tail.w",
      "of another shape: head.weights is f32 [4, 2], but head.weights is f32 [1, 2]",
    ].join("\n");
    assert.equal(String(report), text);
    assert.equal(inspect(report), text);
    await assert.rejects(nn.loadParameters(path, into), (error) => {
      assert.ok(error instanceof ArgumentError && error.message.endsWith(text));
      assert.match(error.message, /does not fit the parameters; \{ strict: false \} loads what fits/);
      return true;
    });
  });

  test("PyTorch's attention is ours with one product for queries, keys and values", async () => {
    const values = (seed: number, shape: number[]) => random.normal(random.key(seed, { device }), shape) as Tensor;
    const [projection, biases, output, last] = [values(1, [18, 6]), values(2, [18]), values(3, [6, 6]), values(4, [6])];
    const path = pathOf();
    const stored = {
      "attn.in_proj_weight": projection,
      "attn.in_proj_bias": biases,
      "attn.out_proj.weight": output,
      "attn.out_proj.bias": last,
    };
    await io.saveSafetensors(path, stored as Record<string, Tensor>, { format: "pt" });
    const model = nn.sequential({ attention: nn.multiHeadAttention(2, { headSize: 3, fused: true }) });
    const map = nn.torchNames(model as never, { attn: "attention" });
    const { params } = await nn.loadParameters(path, model.init(one, [null, 4, 6]), { map });
    const rows = (i: number) => `${6 * i}:${6 * i + 6}` as const;
    const part = (i: number) => ({
      weights: (projection!.at(rows(i)) as Tensor).T,
      biases: biases!.at(rows(i)) as Tensor,
    });
    const apart = { query: part(0), key: part(1), value: part(2), output: { weights: output!.T, biases: last! } };
    const x = values(5, [2, 4, 6]);
    const wanted = numbersOf(nn.multiHeadAttention(2, { headSize: 3 }).apply(apart as nn.VariableTree, x));
    numbersOf(model.apply(params, x)).forEach((value, i) => {
      assert.ok(Math.abs(value - wanted[i]!) < 1e-4, `${value} for ${wanted[i]}`);
    });
  });

  test("names and layouts of PyTorch become those of the model", async () => {
    const torch = nn.sequential({
      conv: nn.conv(2, 2),
      norm: nn.batchNorm(),
      flat: nn.flatten(),
      fc: nn.dense(3),
      act: nn.prelu(),
    });
    const values = (seed: number, shape: number[]) => random.normal(random.key(seed, { device }), shape) as Tensor;
    const stored = {
      "features.0.weight": values(1, [2, 1, 2, 2]),
      "features.0.bias": values(2, [2]),
      "features.1.weight": values(3, [2]),
      "features.1.bias": values(4, [2]),
      "features.1.running_mean": values(5, [2]),
      "features.1.running_var": values(6, [2]).square() as Tensor,
      "features.1.num_batches_tracked": tensor([7n], { device, dtype: "i64" }).reshape([]) as Tensor,
      "fc1.weight": values(8, [3, 8]),
      "fc1.bias": values(9, [3]),
      "act.weight": values(10, [1]),
    };
    const path = pathOf();
    await io.saveSafetensors(path, stored, { format: "pt" });
    const map = nn.torchNames(torch as never, { "features.0": "conv", "features.1": "norm", fc1: "fc", act: "act" });
    const { params, state, report } = await nn.loadParameters(path, torch.init(one, [null, 1, 3, 3]), { map });
    assert.deepEqual(report.ignored, ["features.1.num_batches_tracked"]);
    // The network by loops over PyTorch's tensors: a convolution of 3×3 with 2×2, a norm, a matrix [units, inputs], a slope.
    const x = values(11, [2, 1, 3, 3]);
    const at = Object.fromEntries(Object.entries(stored).map(([name, each]) => [name, numbersOf(each)])) as Record<
      string,
      number[]
    >;
    const pixels = numbersOf(x);
    const wanted: number[] = [];
    for (let n = 0; n < 2; n++) {
      const flat: number[] = [];
      for (let c = 0; c < 2; c++) {
        for (let i = 0; i < 4; i++) {
          let sum = at["features.0.bias"]![c]!;
          for (let k = 0; k < 4; k++) {
            const place = (Math.floor(i / 2) + Math.floor(k / 2)) * 3 + (i % 2) + (k % 2);
            sum += at["features.0.weight"]![c * 4 + k]! * pixels[n * 9 + place]!;
          }
          const unit = (sum - at["features.1.running_mean"]![c]!) / Math.sqrt(at["features.1.running_var"]![c]! + 1e-5);
          flat.push(unit * at["features.1.weight"]![c]! + at["features.1.bias"]![c]!);
        }
      }
      for (let u = 0; u < 3; u++) {
        const sum = flat.reduce((total, each, i) => total + each * at["fc1.weight"]![u * 8 + i]!, at["fc1.bias"]![u]!);
        wanted.push(sum > 0 ? sum : sum * at["act.weight"]![0]!);
      }
    }
    const found = numbersOf(torch.apply(params, x, { state }));
    for (const [i, value] of wanted.entries())
      assert.ok(Math.abs(found[i]! - value) < 1e-4 * (1 + Math.abs(value)), `${found[i]} ${value}`);
  });

  test("floats of another width are converted; integers are not", async () => {
    const path = pathOf();
    const dense = nn.dense(2);
    const { params } = dense.init(one, [null, 3]);
    await nn.writeTree(path, {
      weights: (params.weights as Tensor).cast("f16"),
      biases: tensor([1, 2], { dtype: "i32", device }),
    } as never);
    const { params: found, report } = await nn.loadParameters(path, dense.init(other, [null, 3]).params, {
      strict: false,
    });
    assert.equal((found.weights as Tensor).dtype, "f32");
    assert.deepEqual(numbersOf(found.weights as Tensor), numbersOf((params.weights as Tensor).cast("f16").cast("f32")));
    assert.deepEqual(
      report.mismatched.map(({ path: to, found: is }) => [to, is]),
      [["biases", "i32 [2]"]],
    );
  });

  test("a map is an object or a function, and a model may lie in several files", async () => {
    const dense = nn.dense(2);
    const { params } = dense.init(one, [null, 3]);
    const [first, second] = [pathOf(), pathOf()];
    await nn.writeTree(first, { fc: { w: (params.weights as Tensor).T } });
    await nn.writeTree(second, { fc: { b: params.biases, junk: params.biases } } as never);
    const into = dense.init(other, [null, 3]).params;
    const byObject = { "fc.w": ["weights", (x: Tensor) => x.T], "fc.b": "biases", "fc.junk": null } as const;
    const byFunction = (name: string) => (byObject as Record<string, nn.Destination>)[name];
    for (const map of [byObject, byFunction]) {
      const found = await nn.loadParameters([first, second], into, { map });
      assert.deepEqual(numbers(found.params), numbers(params));
      assert.deepEqual(found.report.ignored, ["fc.junk"]);
    }
  });
});

describe("loadParameters refuses", () => {
  const key = random.key(0, { device: "cpu" });
  const dense = nn.dense(2);
  const { params } = dense.init(key, [null, 3]);
  const saved = (async () => {
    const path = pathOf();
    await nn.writeTree(path, params as never);
    return path;
  })();
  // biome-ignore format: rows read best
  const cases: [string, (path: string) => Promise<unknown>, RegExp][] = [
    ["two tensors for one parameter", (path) => nn.loadParameters(path, params, { map: { weights: "biases" }, strict: false }), /"biases" and "weights" both lead to "biases"|"weights" and "biases" both lead to "biases"/],
    ["a map to something else", (path) => nn.loadParameters(path, params, { map: { weights: 3 as never } }), /the map leads from "weights" to 3; a destination is a path/],
    ["a map that is none", (path) => nn.loadParameters(path, params, { map: 3 as never }), /the option map is an object or a function, not 3/],
    ["a conversion to no tensor", (path) => nn.loadParameters(path, params, { map: { weights: ["weights", () => 3 as never] } }), /the function of the map for "weights" gives 3, no tensor/],
    ["parameters that are none", (path) => nn.loadParameters(path, key as never), /takes the parameters that init or train gave/],
    ["no file", () => nn.loadParameters([], params), /takes the path of a file, or a list of them/],
    ["a file that is not there", () => nn.loadParameters("none.safetensors", params), /loadParameters: none\.safetensors cannot be read/],
    ["a layer whose layout is not known", async () => nn.torchNames(nn.sequential(nn.flatten()) as never, { a: "flatten0" }), /"flatten0" is flatten, whose layout in PyTorch is not known/],
    ["a layer that is not there", async () => nn.torchNames(dense as never, { a: "b" }), /No layer "b"/],
  ];
  for (const [title, run, message] of cases) {
    test(title, async () => assert.rejects(run(await saved), message));
  }
});
