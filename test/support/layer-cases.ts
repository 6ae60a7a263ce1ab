/**
 * Layers against PyTorch: outputs, new state and gradients of layer-cases.json and sequence-cases.json in test/nn/layers, which the scripts
 * make-….py there describe. Each test file of test/nn/layers runs the cases of its layers, on every device in f32, in f64 where there is that, and forwards in bf16.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { concat, grad, random, type Tensor, tensor, tree } from "../../src/index.js";
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

/** Numbers that are written out: masks and lengths. */
interface Written {
  readonly shape: readonly number[];
  readonly dtype: "bool" | "i32";
  readonly values: readonly number[];
}

/** Where inputs stand: a position in the list, or an object of these. */
type Places = number | { readonly [name: string]: Places };

interface LayerCase {
  readonly name: string;
  readonly layer: string;
  readonly args: readonly unknown[];
  readonly training: boolean;
  readonly inputs: readonly (Seeded | Written)[];
  readonly input?: Places;
  readonly params: Readonly<Record<string, Seeded>>;
  readonly state: Readonly<Record<string, Seeded>>;
  /** A shape for each output where there are several. */
  readonly shape: readonly number[] | readonly (readonly number[])[];
  readonly output: readonly number[];
  readonly newState: Readonly<Record<string, readonly number[]>>;
  readonly inputGradients: readonly (readonly number[])[];
  readonly paramGradients: Readonly<Record<string, readonly number[]>>;
}

type Float = "f32" | "f64" | "bf16";

const casesIn = (name: string): readonly LayerCase[] =>
  JSON.parse(readFileSync(new URL(`../../../test/nn/layers/${name}`, import.meta.url), "utf8"));
const cases = [...casesIn("layer-cases.json"), ...casesIn("sequence-cases.json")];

/** The numbers that make-layer-cases.py makes of a seed: distinct, and exact in f32. */
export const seeded = ({ shape, seed, scale = 1, shift = 0 }: Seeded): number[] =>
  Array.from({ length: count(shape) }, (_, i) => (((i * 397 + seed * 31) % 1021) - 510) / 256).map(
    (value) => value * scale + shift,
  );

const tensorOf = (given: Seeded | Written, dtype: Float, device: string): Tensor =>
  "values" in given
    ? tensor([...given.values], { dtype: given.dtype, shape: given.shape, device })
    : tensor(seeded(given), { dtype, shape: given.shape, device });

/** Tensors at paths, as a tree: `layer.weights` is `{ layer: { weights } }`. */
function treeOf(given: Readonly<Record<string, Seeded>>, dtype: Float, device: string): nn.VariableTree {
  const result: Record<string, unknown> = {};
  for (const [path, each] of Object.entries(given)) {
    const names = path.split(".");
    let at = result;
    for (const name of names.slice(0, -1)) {
      at[name] ??= {};
      at = at[name] as Record<string, unknown>;
    }
    at[names.at(-1)!] = tensorOf(each, dtype, device);
  }
  return result as nn.VariableTree;
}

/** The input of a model from the list of tensors. */
function inputOf(list: readonly Tensor[], places: Places | undefined): unknown {
  if (places === undefined) return list.length === 1 ? list[0] : list;
  if (typeof places === "number") return list[places];
  return Object.fromEntries(Object.entries(places).map(([name, place]) => [name, inputOf(list, place)]));
}

const at = (values: nn.VariableTree, path: string): Tensor =>
  path.split(".").reduce<unknown>((so, name) => (so as nn.VariableTree)[name], values) as Tensor;

/** The layer of a case. A layer among the arguments is `{ layer, args }`. */
function layerOf(kind: string, args: readonly unknown[]): nn.Layer<unknown, unknown> {
  const make = (nn as unknown as Record<string, (...args: unknown[]) => nn.Layer<unknown, unknown>>)[kind]!;
  return make(...args.map(withLayers));
}

function withLayers(arg: unknown): unknown {
  if (Array.isArray(arg)) return arg.map(withLayers);
  if (typeof arg !== "object" || arg === null || !("layer" in arg)) return arg;
  const { layer, args } = arg as unknown as { layer: string; args: readonly unknown[] };
  return layerOf(layer, args);
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
  const isFloat = each.inputs.map((input) => !("values" in input));
  const floats = inputs.filter((_, i) => isFloat[i]);
  const params = treeOf(each.params, dtype, device);
  const state = treeOf(each.state, dtype === "bf16" ? "f32" : dtype, device);
  const options = { training: each.training, state, key: random.key(0, { device }) };
  const withFloats = (list: readonly Tensor[]): unknown => {
    let next = 0;
    return inputOf(
      inputs.map((input, i) => (isFloat[i] ? list[next++]! : input)),
      each.input,
    );
  };
  if (dtype === "f32" && device === "cpu") {
    const made = model.init(random.key(0, { device }), withFloats(floats) as never);
    assert.deepEqual(shapesOf(made.params), shapesOf(params), "init makes the parameters of the case");
    assert.deepEqual(shapesOf(made.state), shapesOf(state), "init makes the state of the case");
  }
  const loss = (p: nn.VariableTree, x: readonly Tensor[]) => {
    const [result, newState] = model.applyWithState(p, withFloats(x), options);
    const outputs = tree.leaves(result);
    const output = outputs.length === 1 ? outputs[0]! : concat(outputs.map((part) => part.flatten()));
    const shapes = outputs.map((part) => [...part.shape]);
    return [output.mul(cosines(each, output, dtype, device)).sum(), { output, newState, shapes }] as const;
  };
  const { output, newState, shapes, slopes } =
    dtype === "bf16" ? forward(loss, params, floats) : backward(loss, params, floats);
  const tolerance = TOLERANCE[dtype];
  assert.equal(output.dtype, dtype);
  assert.deepEqual(shapes, Array.isArray(each.shape[0]) ? each.shape : [each.shape]);
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
  readonly shapes: readonly (readonly number[])[];
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
const cosines = (each: LayerCase, { shape }: Tensor, dtype: Float, device: string): Tensor =>
  tensor(
    each.output.map((_, i) => Math.cos(i)),
    { dtype, shape, device },
  );

const shapesOf = (values: nn.VariableTree): unknown => {
  const sorted = Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(
    sorted.map(([name, value]) => [
      name,
      "dtype" in value ? [...(value as Tensor).shape] : shapesOf(value as nn.VariableTree),
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
