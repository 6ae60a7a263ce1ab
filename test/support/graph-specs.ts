/**
 * Graphs as data, for the fuzzer: a list of operations on earlier entries of the list. A spec can be computed by a plain
 * interpreter (loops over arrays, nothing of the library), built as a lazy graph, and cut smaller.
 *
 * Values are exact: what the generator builds rounds the same way in any order. Two marks say where that ends. A tensor
 * from a transcendental function is `approximate`, until it is rounded to a coarse grid; an element that falls next to
 * the middle between two points of that grid is in `doubt`, as is all that is computed from it, and is not compared.
 */
import { roundTo } from "../../src/core/cast.js";
import { type DType, highestOf, isFloat, lowestOf } from "../../src/core/dtype.js";
import type { Node } from "../../src/graph/node.js";
import type { Params, Primitive } from "../../src/graph/primitive.js";
import { cumulate } from "../../src/graph/primitives/cumulate.js";
import { dot } from "../../src/graph/primitives/dot.js";
import * as L from "../../src/graph/primitives/leaf.js";
import * as M from "../../src/graph/primitives/movement.js";
import { argsort } from "../../src/graph/primitives/order.js";
import { reducePrimitives } from "../../src/graph/primitives/reduce.js";
import { scatter } from "../../src/graph/primitives/scatter.js";
import { type ReduceOp, reductionOf } from "../../src/graph/reduction.js";
import { makeNode } from "../../src/tensor/build.js";
import { backendFor } from "../../src/tensor/index.js";
import { elementOracle, entries, type Value, wrapped } from "./element-oracle.js";
import { flatAt, forEachIndex, sizeOf, tensorOf } from "./plain-views.js";

export interface SpecNode {
  readonly op: string;
  readonly inputs: readonly number[];
  readonly params: Params;
  readonly shape: readonly number[];
  readonly dtype: DType;
  /** A leaf's elements. */
  readonly values?: readonly Value[];
}

export interface Spec {
  readonly nodes: readonly SpecNode[];
  readonly roots: readonly number[];
}

export interface Plain {
  readonly shape: readonly number[];
  readonly dtype: DType;
  readonly values: readonly Value[];
  readonly doubt: Uint8Array | null;
  readonly isApproximate: boolean;
}

const elementwise = new Map(entries.map((entry) => [entry.name, entry]));
const primitives = new Map<string, Primitive>();
for (const primitive of [...entries, ...Object.values(L), ...Object.values(M), ...Object.values(reducePrimitives)]) {
  primitives.set(primitive.name, primitive);
}
for (const routine of [cumulate, argsort, scatter, dot]) primitives.set(routine.name, routine);

export const primitiveOf = (op: string): Primitive => primitives.get(op) as Primitive;

/** The shape and dtype an operation has; throws where its operands do not fit. */
export function inferred(
  op: string,
  inputs: readonly { readonly shape: readonly number[]; readonly dtype: DType }[],
  params: Params,
): { readonly shape: readonly number[]; readonly dtype: DType } {
  return primitiveOf(op).infer(inputs as readonly Node[], params);
}

// ------------------------------------------------------------------------------------------------ the interpreter

/** Every node's value. */
export function interpret({ nodes }: Spec): Plain[] {
  const done: Plain[] = [];
  for (const node of nodes) {
    done.push(
      evaluate(
        node,
        node.inputs.map((input) => done[input] as Plain),
      ),
    );
  }
  return done;
}

/** Near the middle between two grid points, in units of the grid: a few ulp of what came before, with room. */
const DOUBTFUL = 1e-3;

export function evaluate(node: SpecNode, inputs: readonly Plain[]): Plain {
  const { shape, dtype, op } = node;
  const plain = (values: readonly Value[], doubt: Uint8Array | null = null, isApproximate = false): Plain => ({
    shape,
    dtype,
    values,
    doubt: doubt?.some(Boolean) ? doubt : null,
    isApproximate,
  });
  const entry = elementwise.get(op);
  if (entry) {
    const dtypes = inputs.map((input) => input.dtype);
    const oracle = elementOracle(entry, dtypes, dtype) as (...args: Value[]) => Value;
    const values = Array.from({ length: sizeOf(shape) }, (_, i) =>
      oracle(...inputs.map((input) => input.values[i] as Value)),
    );
    const isApproximate = inputs.some((input) => input.isApproximate);
    const doubt = mergedDoubt(inputs, values.length);
    if (isApproximate && op === "round") {
      const middle = (i: number) => {
        const x = Number(inputs[0]!.values[i]);
        return Math.abs(Math.abs(x - Math.trunc(x)) - 0.5) < DOUBTFUL;
      };
      return plain(
        values,
        doubt.map((d, i) => (d || middle(i) ? 1 : 0)),
      );
    }
    const isFunction = entry.cost >= 20;
    if (isApproximate && op !== "mul") return plain(values, doubt.fill(1));
    return plain(values, doubt, isApproximate || isFunction);
  }
  if (op === "buffer") return plain(node.values as Value[]);
  if (op === "constant") {
    return plain(new Array<Value>(sizeOf(shape)).fill(filling(node.params.value as Value | boolean, dtype)));
  }
  if (op === "iota") return plain(Array.from({ length: sizeOf(shape) }, (_, i) => wrapped(BigInt(i), dtype)));
  if (op in reducePrimitives) return reduce(node, inputs[0]!, plain);
  if (op === "dot") return multiply(node, inputs, plain);
  if (op === "cumulate") return accumulate(node, inputs[0]!, plain);
  if (op === "argsort") return sortPositions(inputs[0]!, plain);
  if (op === "scatter") return scatterInto(node, inputs, plain);
  return move(node, inputs, plain);
}

type Maker = (values: readonly Value[], doubt?: Uint8Array | null, isApproximate?: boolean) => Plain;

function mergedDoubt(inputs: readonly Plain[], length: number): Uint8Array {
  const doubt = new Uint8Array(length);
  for (const input of inputs)
    input.doubt?.forEach((d, i) => {
      if (d) doubt[i] = 1;
    });
  return doubt;
}

/** Movement: for each element of the result, where it comes from. */
function move({ op, params, shape, dtype }: SpecNode, inputs: readonly Plain[], plain: Maker): Plain {
  const isApproximate = inputs.some((input) => input.isApproximate);
  const values: Value[] = [];
  const doubt = new Uint8Array(sizeOf(shape));
  const [x, positions] = inputs as [Plain, Plain];
  const numbers = params as Readonly<Record<string, readonly number[]>>;
  const copy = (input: Plain, index: readonly number[]) => {
    const flat = flatAt(input.shape, index);
    values.push(input.values[flat] as Value);
    if (input.doubt?.[flat]) doubt[values.length - 1] = 1;
  };
  const held = (at: Plain, index: readonly number[], extent: number): number => {
    const flat = flatAt(at.shape, index);
    if (at.doubt?.[flat]) doubt[values.length] = 1;
    return Math.max(0, Math.min(extent - 1, Number(at.values[flat])));
  };
  const axis = params.axis as number;
  switch (op) {
    case "reshape":
    case "stored":
      return plain(x.values, x.doubt, isApproximate);
    case "permute":
      forEachIndex(shape, (index) => {
        const at: number[] = [];
        numbers.axes!.forEach((to, i) => {
          at[to] = index[i]!;
        });
        copy(x, at);
      });
      break;
    case "expand":
      forEachIndex(shape, (index) =>
        copy(
          x,
          index.map((i, k) => (x.shape[k] === 1 ? 0 : i)),
        ),
      );
      break;
    case "slice":
      forEachIndex(shape, (index) =>
        copy(
          x,
          index.map((i, k) => numbers.start![k]! + i * numbers.step![k]!),
        ),
      );
      break;
    case "pad":
      forEachIndex(shape, (index) => {
        const at = index.map((i, k) => (i - numbers.low![k]!) / (numbers.interior![k]! + 1));
        if (at.every((i, k) => Number.isInteger(i) && i >= 0 && i < x.shape[k]!)) copy(x, at);
        else values.push(filling(params.value as Value | boolean, dtype));
      });
      break;
    case "concat":
      forEachIndex(shape, (index) => {
        let at = index[axis]!;
        let which = 0;
        while (at >= inputs[which]!.shape[axis]!) at -= inputs[which++]!.shape[axis]!;
        copy(inputs[which]!, index.with(axis, at));
      });
      break;
    case "take": {
      const rank = positions.shape.length;
      forEachIndex(shape, (index) => {
        const place = held(positions, index.slice(axis, axis + rank), x.shape[axis]!);
        copy(x, [...index.slice(0, axis), place, ...index.slice(axis + rank)]);
      });
      break;
    }
    case "takeAlongAxis":
      forEachIndex(shape, (index) => copy(x, index.with(axis, held(positions, index, x.shape[axis]!))));
      break;
    case "gather": {
      const at = params.at as number;
      const rank = positions.shape.length;
      forEachIndex(shape, (index) => {
        const rest = [...index.slice(0, at), ...index.slice(at + rank)];
        const place = index.slice(at, at + rank);
        copy(
          x,
          x.shape.map((extent, k) => {
            const which = numbers.axes!.indexOf(k);
            return which < 0 ? rest.shift()! : held(inputs[which + 1]!, place, extent);
          }),
        );
      });
      break;
    }
    case "window": {
      const rank = x.shape.length;
      forEachIndex(shape, (index) => {
        const at = index.slice(0, rank);
        numbers.axes!.forEach((k, i) => {
          at[k] = index[k]! * numbers.stride![i]! + index[rank + i]! * numbers.dilation![i]!;
        });
        copy(x, at);
      });
      break;
    }
    case "wrap":
      forEachIndex(shape, (index) =>
        copy(
          x,
          index.map((i, k) => {
            const extent = x.shape[k]!;
            return (((i + numbers.start![k]!) % extent) + extent) % extent;
          }),
        ),
      );
      break;
    default:
      throw new Error(`the interpreter has no ${op}`);
  }
  return plain(values, doubt, isApproximate);
}

function filling(value: Value | boolean, dtype: DType): Value {
  if (dtype === "i64" || dtype === "u64") return BigInt(value);
  return Number(value);
}

const reducers: Readonly<Record<string, (a: Value, b: Value, dtype: DType) => Value>> = {
  sum: (a, b, dtype) => (isFloat(dtype) ? (a as number) + (b as number) : wrapped(BigInt(a) + BigInt(b), dtype)),
  product: (a, b, dtype) => (isFloat(dtype) ? (a as number) * (b as number) : wrapped(BigInt(a) * BigInt(b), dtype)),
  max: (a, b) => (a > b ? a : b),
  min: (a, b) => (a < b ? a : b),
  all: (a, b) => Number(a && b),
  any: (a, b) => Number(a || b),
};

/** What is not written out above, by the elementwise operation that the table of reductions names for it. */
const reducerOf = (op: string): ((a: Value, b: Value, dtype: DType) => Value) =>
  reducers[op] ??
  ((a, b, dtype) => {
    const { elementwise } = reductionOf(op as ReduceOp);
    return (elementOracle(elementwise, [dtype, dtype], dtype) as (a: Value, b: Value) => Value)(a, b);
  });

function identity(op: string, dtype: DType): Value {
  const wide = dtype === "i64" || dtype === "u64";
  switch (op) {
    case "product":
    case "all":
      return wide ? 1n : 1;
    case "sum":
    case "any":
      return wide ? 0n : 0;
    case "max":
      return lowestOf(dtype);
    case "min":
      return highestOf(dtype);
    default: {
      const value = reductionOf(op as ReduceOp).identity(dtype);
      return wide ? BigInt(value) : Number(value);
    }
  }
}

/** Sums are exact until they are done, and then rounded. */
const roundedOnce = (value: Value, dtype: DType): Value => (isFloat(dtype) ? roundTo(dtype, Number(value)) : value);

function reduce({ op, params, dtype }: SpecNode, x: Plain, plain: Maker): Plain {
  const axes = params.axes as readonly number[];
  const shape = x.shape.filter((_, axis) => !axes.includes(axis));
  const values = new Array<Value>(sizeOf(shape)).fill(identity(op, dtype));
  const doubt = new Uint8Array(values.length);
  const combine = reducerOf(op);
  forEachIndex(x.shape, (index, flat) => {
    const at = flatAt(
      shape,
      index.filter((_, axis) => !axes.includes(axis)),
    );
    values[at] = combine(values[at]!, x.values[flat]!, dtype);
    if (x.doubt?.[flat] || x.isApproximate) doubt[at] = 1;
  });
  return plain(
    values.map((value) => roundedOnce(value, dtype)),
    doubt,
  );
}

/** [batch, m, k] × [batch, k, n]: sums of products, rounded once. */
function multiply({ dtype, shape }: SpecNode, [a, b]: readonly Plain[], plain: Maker): Plain {
  const extent = a!.shape[2]!;
  const values: Value[] = [];
  const doubt = new Uint8Array(sizeOf(shape));
  forEachIndex(shape, ([at, i, j], flat) => {
    let sum = identity(dtype === "bool" ? "any" : "sum", dtype);
    for (let k = 0; k < extent; k++) {
      const [x, y] = [flatAt(a!.shape, [at!, i!, k]), flatAt(b!.shape, [at!, k, j!])];
      const term = reducers[dtype === "bool" ? "all" : "product"]!(a!.values[x]!, b!.values[y]!, dtype);
      sum = reducers[dtype === "bool" ? "any" : "sum"]!(sum, term, dtype);
      if (a!.doubt?.[x] || b!.doubt?.[y] || a!.isApproximate || b!.isApproximate) doubt[flat] = 1;
    }
    values.push(roundedOnce(sum, dtype));
  });
  return plain(values, doubt);
}

function accumulate({ params, dtype, shape }: SpecNode, x: Plain, plain: Maker): Plain {
  const axis = params.axis as number;
  const op = params.op as string;
  const values = new Array<Value>(x.values.length);
  const doubt = new Uint8Array(x.values.length);
  const combine = reducerOf(op);
  const extent = shape[axis]!;
  forEachIndex(shape.with(axis, Math.min(1, extent)), (start) => {
    let total = identity(op, dtype);
    let isDoubtful = x.isApproximate;
    for (let k = 0; k < extent; k++) {
      const flat = flatAt(shape, start.with(axis, params.isReverse ? extent - 1 - k : k));
      if (params.isExclusive) values[flat] = roundedOnce(total, dtype);
      if (params.isExclusive && isDoubtful) doubt[flat] = 1;
      total = combine(total, x.values[flat]!, dtype);
      isDoubtful ||= x.doubt?.[flat] === 1;
      if (!params.isExclusive) values[flat] = roundedOnce(total, dtype);
      if (!params.isExclusive && isDoubtful) doubt[flat] = 1;
    }
  });
  return plain(values, doubt);
}

function sortPositions(x: Plain, plain: Maker): Plain {
  const extent = x.shape.at(-1)!;
  const values: Value[] = [];
  const doubt = new Uint8Array(x.values.length);
  for (let start = 0; start < x.values.length; start += extent) {
    const places = Array.from({ length: extent }, (_, i) => i);
    const key = (i: number) => x.values[start + i]!;
    places.sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : a - b));
    if (x.doubt?.subarray(start, start + extent).some(Boolean)) doubt.fill(1, start, start + extent);
    values.push(...places);
  }
  return plain(values, doubt);
}

function scatterInto({ params, dtype }: SpecNode, [x, positions, updates]: readonly Plain[], plain: Maker): Plain {
  const op = { add: "sum", mul: "product", min: "min", max: "max" }[params.op as string] as string;
  const [rows, inner] = x!.shape as [number, number];
  const values = [...x!.values];
  const doubt = mergedDoubt([x!], values.length);
  const isDoubtful = [positions, updates].some((input) => input!.doubt !== null || input!.isApproximate);
  if (isDoubtful) doubt.fill(1);
  positions!.values.forEach((row, k) => {
    if (Number(row) < 0 || Number(row) >= rows) return;
    for (let i = 0; i < inner; i++) {
      const at = Number(row) * inner + i;
      values[at] = reducers[op]!(values[at]!, updates!.values[k * inner + i]!, dtype);
    }
  });
  return plain(values, doubt);
}

// ------------------------------------------------------------------------------------------------ the library

/**
 * The spec as nodes of the lazy graph on a device. `each`, if given, sees every node as it is made; `leaves` has other nodes
 * for the spec's buffers, in their order.
 */
export function buildGraph(
  { nodes }: Spec,
  device: string,
  each: (node: Node, index: number) => void = () => {},
  backend = backendFor(device),
  leaves: readonly Node[] | null = null,
): Node[] {
  let leaf = 0;
  const made: Node[] = [];
  nodes.forEach(({ op, inputs, params, shape, dtype, values }, index) => {
    const node =
      op === "buffer"
        ? (leaves?.[leaf++] ?? tensorOf(values as Value[], shape, dtype, device).node)
        : makeNode(
            primitiveOf(op),
            inputs.map((input) => made[input] as Node),
            params,
            backend,
          );
    // Held, as by a tensor: what nobody holds is freed when the last operation has read it.
    node.handles++;
    made.push(node);
    each(node, index);
  });
  return made;
}

// ------------------------------------------------------------------------------------------------ for people

/** The spec as lines of text, one per node. */
export function printSpec({ nodes, roots }: Spec): string {
  const text = (value: unknown): string =>
    JSON.stringify(value, (_, x) => {
      if (typeof x === "bigint") return `${x}n`;
      return typeof x === "number" && !Number.isFinite(x) ? String(x) : Object.is(x, -0) ? "-0" : x;
    });
  const lines = nodes.map(({ op, inputs, params, shape, dtype, values }, i) => {
    const what = values ? text(values.length > 40 ? [...values.slice(0, 40), "…"] : values) : text(params);
    return `  n${i} = ${op}(${inputs.map((input) => `n${input}`).join(", ")}) ${what}  // ${dtype}[${shape}]`;
  });
  return [...lines, `  roots: ${roots.map((root) => `n${root}`).join(", ")}`].join("\n");
}
