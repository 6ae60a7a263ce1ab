/**
 * Layers against PyTorch: outputs, new state and gradients of test/nn/layers/layer-cases.json, which make-layer-cases.py describes. Each test file of
 * test/nn/layers runs the cases of its layers, on every device in f32, in f64 where there is that, and forwards in bf16.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { grad, random, type Tensor, tensor, tree } from "../../src/index.js";
import * as nn from "../../src/nn/index.js";
import { backendFor } from "../../src/tensor/index.js";
import { valuesOf } from "./gradient-check.js";
import { count, describeOnTensorDevices, numbersOf } from "./tensors.js";

interface Seeded {
  readonly shape: readonly number[];
  readonly seed: number;
  readonly scale?: number;
  readonly shift?: number;
}

interface LayerCase {
  readonly name: string;
  readonly layer: string;
  readonly args: readonly unknown[];
  readonly training: boolean;
  readonly inputs: readonly Seeded[];
  readonly params: Readonly<Record<string, Seeded>>;
  readonly state: Readonly<Record<string, Seeded>>;
  readonly shape: readonly number[];
  readonly output: readonly number[];
  readonly newState: Readonly<Record<string, readonly number[]>>;
  readonly inputGradients: readonly (readonly number[])[];
  readonly paramGradients: Readonly<Record<string, readonly number[]>>;
}

type Float = "f32" | "f64" | "bf16";

const file = new URL("../../../test/nn/layers/layer-cases.json", import.meta.url);
const cases: readonly LayerCase[] = JSON.parse(readFileSync(file, "utf8"));

/** The numbers that make-layer-cases.py makes of a seed: distinct, and exact in f32. */
export const seeded = ({ shape, seed, scale = 1, shift = 0 }: Seeded): number[] =>
  Array.from({ length: count(shape) }, (_, i) => (((i * 397 + seed * 31) % 1021) - 510) / 256).map(
    (value) => value * scale + shift,
  );

const tensorOf = (given: Seeded, dtype: Float, device: string): Tensor =>
  tensor(seeded(given), { dtype, shape: given.shape, device });

/** Tensors at paths, as a tree: `layer.weights` is `{ layer: { weights } }`. */
function treeOf(given: Readonly<Record<string, Seeded>>, dtype: Float, device: string): nn.VariableTree {
  const result: Record<string, Tensor | Record<string, Tensor>> = {};
  for (const [path, each] of Object.entries(given)) {
    const [name, below] = path.split(".") as [string, string | undefined];
    const value = tensorOf(each, dtype, device);
    if (below === undefined) result[name] = value;
    else result[name] = { ...(result[name] as Record<string, Tensor> | undefined), [below]: value };
  }
  return result as nn.VariableTree;
}

const at = (values: nn.VariableTree, path: string): Tensor =>
  path.split(".").reduce<unknown>((so, name) => (so as nn.VariableTree)[name], values) as Tensor;

/** The layer of a case. A layer among the arguments is `{ layer, args }`. */
function layerOf(kind: string, args: readonly unknown[]): nn.Layer<unknown, Tensor> {
  const make = (nn as unknown as Record<string, (...args: unknown[]) => nn.Layer<unknown, Tensor>>)[kind]!;
  const isLayer = (arg: unknown): arg is { layer: string; args: readonly unknown[] } =>
    typeof arg === "object" && arg !== null && "layer" in arg;
  return make(...args.map((arg) => (isLayer(arg) ? layerOf(arg.layer, arg.args) : arg)));
}

/** Close by the largest of the numbers: sums of many terms are no more exact than their terms. */
function assertClose(found: Tensor, wanted: readonly number[], tolerance: number, what: string): void {
  const got = numbersOf(found);
  assert.equal(got.length, wanted.length, `${what}: ${found.shape}`);
  const largest = Math.max(1, ...wanted.map(Math.abs));
  wanted.forEach((value, i) => {
    assert.ok(Math.abs(got[i]! - value) <= tolerance * largest, `${what}: ${got[i]} for ${value} at ${i}`);
  });
}

const TOLERANCE: Readonly<Record<Float, number>> = { f32: 4e-6, f64: 6e-8, bf16: 0.03 };

async function check(each: LayerCase, dtype: Float, device: string): Promise<void> {
  const model = layerOf(each.layer, each.args);
  const inputs = each.inputs.map((input) => tensorOf(input, dtype, device));
  const params = treeOf(each.params, dtype, device);
  const state = treeOf(each.state, dtype === "bf16" ? "f32" : dtype, device);
  const options = { training: each.training, state, key: random.key(0, { device }) };
  const inputOf = (list: readonly Tensor[]): unknown => (list.length === 1 ? list[0] : list);
  if (dtype === "f32" && device === "cpu") {
    const made = model.init(random.key(0, { device }), inputOf(inputs) as never);
    assert.deepEqual(shapes(made.params), shapes(params), "init makes the parameters of the case");
    assert.deepEqual(shapes(made.state), shapes(state), "init makes the state of the case");
  }
  const loss = (p: nn.VariableTree, x: readonly Tensor[]) => {
    const [output, newState] = model.applyWithState(p, inputOf(x), options);
    return [output.mul(cosines(each, dtype, device)).sum(), { output, newState }] as const;
  };
  const { output, newState, slopes } =
    dtype === "bf16" ? forward(loss, params, inputs) : backward(loss, params, inputs);
  const tolerance = TOLERANCE[dtype];
  assert.equal(output.dtype, dtype);
  assert.deepEqual([...output.shape], each.shape);
  // All results of a case are one graph.
  valuesOf([output, ...Object.keys(each.newState).map((name) => at(newState, name)), ...tree.leaves(slopes ?? [])]);
  assertClose(output, each.output, tolerance, "output");
  for (const [name, wanted] of Object.entries(each.newState)) assertClose(at(newState, name), wanted, tolerance, name);
  if (slopes === null) return;
  each.inputGradients.forEach((wanted, i) => {
    assertClose(slopes[1][i]!, wanted, 4 * tolerance, `gradient of input ${i}`);
  });
  for (const [path, wanted] of Object.entries(each.paramGradients)) {
    assertClose(at(slopes[0], path), wanted, 4 * tolerance, `gradient of ${path}`);
  }
}

interface Results {
  readonly output: Tensor;
  readonly newState: nn.VariableTree;
}
type Loss = (p: nn.VariableTree, x: readonly Tensor[]) => readonly [Tensor, Results];

const forward = (loss: Loss, params: nn.VariableTree, inputs: readonly Tensor[]) => ({
  ...loss(params, inputs)[1],
  slopes: null,
});

function backward(loss: Loss, params: nn.VariableTree, inputs: readonly Tensor[]) {
  const [slopes, results] = grad(loss, { argument: [0, 1], aux: true })(params, inputs);
  return { ...results, slopes };
}

/** The weights of the loss: cos(0), cos(1), … */
const cosines = (each: LayerCase, dtype: Float, device: string): Tensor =>
  tensor(
    each.output.map((_, i) => Math.cos(i)),
    { dtype, shape: each.shape, device },
  );

const shapes = (values: nn.VariableTree): unknown => {
  const sorted = Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(
    sorted.map(([name, value]) => [
      name,
      "dtype" in value ? [...(value as Tensor).shape] : shapes(value as nn.VariableTree),
    ]),
  );
};

/** A test for each device and dtype, of all cases of some layers. */
export function describeLayerCases(...layers: readonly string[]): void {
  const own = cases.filter(({ layer }) => layers.includes(layer));
  describeOnTensorDevices(`${layers.join(", ")} as in PyTorch`, (device) => {
    const dtypes: Float[] = backendFor(device).hasDoubles ? ["f32", "f64", "bf16"] : ["f32", "bf16"];
    for (const dtype of dtypes) {
      test(`outputs${dtype === "bf16" ? "" : ", state and gradients"} in ${dtype}`, async () => {
        assert.deepEqual(
          layers.filter((layer) => !own.some((each) => each.layer === layer)),
          [],
          "each has a case",
        );
        for (const each of own) {
          try {
            await check(each, dtype, device);
          } catch (error) {
            (error as Error).message = `${each.layer} ${each.name}: ${(error as Error).message}`;
            throw error;
          }
        }
      });
    }
  });
}
