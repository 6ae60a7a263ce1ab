/**
 * Removes complex numbers from the graph. Each complex node becomes two real nodes, its real and imaginary parts, so the
 * scheduler and the kernels see real numbers only. In memory the parts alternate: c64 of [..., n] is f32 of [..., n, 2].
 * Leaves are read and roots are written in that order.
 *
 * complex-arithmetic.ts holds the rules of elementwise operations that mix the parts. Other operations (sums, movement,
 * choice) apply to each part by itself.
 */
import { type DType, isComplex, realDType, type Scalar } from "../../core/dtype.js";
import { UnsupportedError } from "../../core/errors.js";
import { broadcastNode, castNode, derive, makeNode, permuteNode, reshapeNode, scalarNode } from "../../graph/build.js";
import { Node, pendingInOrder } from "../../graph/node.js";
import type { ElementwisePrimitive, Params, Primitive } from "../../graph/primitive.js";
import { type Output, part } from "../../graph/primitives/bundle.js";
import { scan } from "../../graph/primitives/control/scan.js";
import { whileLoop } from "../../graph/primitives/control/while.js";
import { byDoubling, type CumulateOp, cumulate, runningTotal } from "../../graph/primitives/cumulate.js";
import { dft } from "../../graph/primitives/dft.js";
import { dot } from "../../graph/primitives/dot.js";
import * as E from "../../graph/primitives/elementwise.js";
import { constant, iota } from "../../graph/primitives/leaf.js";
import { expand, pad, permute, reshape, slice } from "../../graph/primitives/movement.js";
import { scatter } from "../../graph/primitives/scatter.js";
import { type ReductionEntry, reductionOf } from "../../graph/reduction.js";
import { g } from "../../graph/vocabulary.js";
import {
  type Complex,
  type ComplexFunction,
  complexRules,
  type RealFunction,
  type Rule,
  realRules,
  wholePower,
} from "./complex-arithmetic.js";
import { isNumber } from "./given-numbers.js";

// ------------------------------------------------------------------------------------------------ memory

/** A complex node over real memory of [..., 2]. */
export function complexOfMemory(memory: Node): Node {
  const shape = memory.shape.slice(0, -1);
  const zeros = shape.map(() => 0);
  const every = (which: 0 | 1) => {
    const params = { start: [...zeros, which], step: memory.shape.map(() => 1), shape: [...shape, 1] };
    return reshapeNode(derive(slice, memory, params), shape);
  };
  return makeNode(E.complex, [every(0), every(1)], { isInMemory: true }, memory.device);
}

/** The memory that `complexOfMemory` was given, or that of a copy of what it made; null of other nodes. */
function memoryBehind({ params, inputs: [re] }: Node): Node | null {
  return params.isInMemory ? re.inputs[0].inputs[0] : null;
}

/** A complex node as it lies in memory. What only changes the order of axes or their number is done there. */
export function memoryOfComplex(node: Node): Node {
  const path: Node[] = [];
  let source = node;
  while (source.primitive === reshape || source.primitive === permute) {
    path.push(source);
    [source] = source.inputs;
  }
  const start =
    memoryBehind(source) ?? alternating(derive(E.real, source, {}), derive(E.imag, source, {}), source.shape.length);
  return path.reduceRight((memory, { primitive, params, shape }) => {
    if (primitive === reshape) return reshapeNode(memory, [...shape, 2]);
    return permuteNode(memory, [...(params.axes as readonly number[]), shape.length]);
  }, start);
}

/** Two nodes of one shape by turns, along a new axis. A choice, not a concatenation, so that they share what they compute. */
function alternating(even: Node, odd: Node, axis: number): Node {
  const inserted = (extent: number) => [...even.shape.slice(0, axis), extent, ...even.shape.slice(axis)];
  const spread = (node: Node) => broadcastNode(reshapeNode(node, inserted(1)), inserted(2));
  const counter = makeNode(iota, [], { shape: [2], dtype: "i32" }, even.device);
  const after = even.shape.slice(axis).map(() => 1);
  const isOdd = broadcastNode(reshapeNode(castNode(counter, "bool"), [2, ...after]), inserted(2));
  return makeNode(E.where, [isOdd, spread(odd), spread(even)], {}, even.device);
}

// ------------------------------------------------------------------------------------------------ products and loops

/** Whether an operation on complex numbers needs more than a rule for each part, so that `expandComplex` replaces it. */
export function isExpandedComplex({ primitive, params, inputs, dtype }: Node): boolean {
  if (primitive === dft) return [dtype, inputs[0].dtype].some(isComplex);
  if (!inputs.some((input) => isComplex(input.dtype))) return false;
  if (primitive.kind === "reduce") return reductionOf(primitive.op).complex === "halves";
  if (primitive === cumulate) return runningTotal(params.op as CumulateOp).complex === "halves";
  return primitive === scan || primitive === whileLoop || primitive === dot || takesMemory(primitive);
}

const takesMemory = (primitive: Primitive): boolean => primitive.kind === "routine" && primitive.takesComplex === true;

/** Operations that need more than a rule for each part (products, loops, running totals); null for all others. */
export function expandComplex({ primitive, params, shape, dtype, device }: Node, inputs: readonly Node[]): Node | null {
  if (primitive === part && isComplex(dtype)) {
    return complexOfMemory(owned(new Node(part, params, inputs, [...shape, 2], realDType(dtype), device)));
  }
  if (primitive === dft) {
    const isPlain = !isComplex(dtype) && !isComplex(inputs[0].dtype);
    return isPlain ? null : routineInMemory(primitive, params, inputs, { shape, dtype });
  }
  if (!inputs.some((input) => isComplex(input.dtype))) return null;
  if (primitive === scan || primitive === whileLoop) {
    const given = inputs.map((input) => (isComplex(input.dtype) ? memoryOfComplex(input) : input));
    return owned(new Node(primitive, params, given, shape, dtype, device));
  }
  if (primitive === dot) return matrixProduct(inputs[0], inputs[1]);
  if (takesMemory(primitive)) return routineInMemory(primitive, params, inputs, { shape, dtype });
  if (primitive.kind === "reduce") {
    const entry = reductionOf(primitive.op);
    return entry.complex === "halves" ? reducedByHalves(entry, inputs[0], params.axes as readonly number[]) : null;
  }
  if (primitive !== cumulate) return null;
  return runningTotal(params.op as CumulateOp).complex === "halves" ? byDoubling(g, { params, inputs }) : null;
}

/** A routine of complex numbers as they lie in memory; its results too. */
function routineInMemory(
  primitive: Primitive,
  { outputs, ...params }: Params,
  inputs: readonly Node[],
  result: Output,
): Node {
  const inMemory = ({ shape, dtype }: Output): Output =>
    isComplex(dtype) ? { shape: [...shape, 2], dtype: realDType(dtype) } : { shape, dtype };
  const given = inputs.map((input) => (isComplex(input.dtype) ? memoryOfComplex(input) : input));
  const [{ device }] = inputs;
  const several = outputs === undefined ? {} : { outputs: (outputs as readonly Output[]).map(inMemory) };
  const { shape, dtype } = inMemory(result);
  const node = owned(new Node(primitive, { ...params, ...several, isComplex: true }, given, shape, dtype, device));
  return isComplex(result.dtype) ? complexOfMemory(node) : node;
}

/**
 * One real product of twice the size: rows of a as they lie in memory, (re, im) by turns, times b with each element
 * spread over a square, (re, im) in one row and (-im, re) below it, give rows of the result as they lie in memory.
 */
function matrixProduct(a: Node, b: Node): Node {
  const [batch, m, k] = a.shape;
  const n = b.shape[2];
  const [re, im] = [derive(E.real, b, {}), derive(E.imag, b, {})];
  const left = reshapeNode(memoryOfComplex(a), [batch, m, 2 * k]);
  const rows = [alternating(re, im, 3), alternating(derive(E.neg, im, {}), re, 3)] as const;
  const right = reshapeNode(alternating(...rows, 2), [batch, 2 * k, 2 * n]);
  return complexOfMemory(reshapeNode(makeNode(dot, [left, right], {}, a.device), [batch, m, n, 2]));
}

/** One half combined with the other until one is left; where they do not match, what changes nothing is added. */
function reducedByHalves({ elementwise, identity }: ReductionEntry, x: Node, axes: readonly number[]): Node {
  const kept = x.shape.flatMap((_, axis) => (axes.includes(axis) ? [] : [axis]));
  const shape = kept.map((axis) => x.shape[axis]);
  const zeros = shape.map(() => 0);
  let count = axes.reduce((total, axis) => total * x.shape[axis], 1);
  let line = reshapeNode(permuteNode(x, [...kept, ...axes]), [...shape, count]);
  while (count !== 1) {
    const none = [...zeros, 0];
    if (count === 0 || count % 2 === 1) {
      line = derive(pad, line, { low: none, high: [...zeros, 1], interior: none, value: identity(x.dtype) });
      count++;
      continue;
    }
    count /= 2;
    const half = (start: number) =>
      derive(slice, line, { start: [...zeros, start], step: none.map(() => 1), shape: [...shape, count] });
    line = makeNode(elementwise, [half(0), half(count)], {}, x.device);
  }
  return reshapeNode(line, shape);
}

// ------------------------------------------------------------------------------------------------ parts

/** The replacement of a node: a real node, or the parts of a complex one. */
type Taken = Node | Complex<Node>;

/** The roots computed without complex nodes; complex roots as real numbers in memory, their parts by turns. */
export function removeComplex(complexRoots: readonly Node[]): Node[] {
  const roots = complexRoots.map((root) => (isComplex(root.dtype) ? memoryOfComplex(root) : root));
  const taken = new Map<Node, Taken>();
  for (const node of pendingInOrder(roots)) {
    const inputs = node.inputs.map((input) => taken.get(input) as Taken);
    const isTouched = isComplex(node.dtype) || inputs.some((input, i) => input !== node.inputs[i]);
    taken.set(node, isTouched ? takeApart(node, inputs) : node);
  }
  return roots.map((root) => taken.get(root) as Node);
}

function takeApart(node: Node, inputs: readonly Taken[]): Taken {
  const { primitive, dtype } = node;
  const isReal = !isComplex(dtype) && inputs.every((input) => input instanceof Node);
  if (isReal) return ownNode(node, primitive, node.params, inputs as readonly Node[], dtype);
  const rule = nodeRules.get(primitive);
  if (rule) return rule(node, inputs);
  if (isSeparable(primitive)) return { re: partOf(node, inputs, "re"), im: partOf(node, inputs, "im") };
  const ofReal = realRules[primitive.name];
  if (ofReal) return mixing(node, inputs, primitive.name, dtype, ofReal);
  const ofComplex = complexRules[primitive.name];
  if (ofComplex) return mixedParts(node, inputs, ofComplex);
  throw new UnsupportedError(`${primitive.name}: it has no rule for complex numbers.`);
}

type NodeRule = (node: Node, inputs: readonly Taken[]) => Taken;
const pair = (taken: Taken): Complex<Node> => taken as Complex<Node>;

const nodeRules: ReadonlyMap<Primitive, NodeRule> = new Map<Primitive, NodeRule>([
  [
    E.complex,
    ({ dtype }, inputs) => {
      const [re, im] = inputs.map((input) => castNode(input as Node, realDType(dtype)));
      return { re, im };
    },
  ],
  [E.real, (_node, [z]) => pair(z).re],
  [E.imag, (_node, [z]) => pair(z).im],
  [E.conj, (_node, [z]) => ({ re: pair(z).re, im: derive(E.neg, pair(z).im, {}) })],
  [E.cast, castRule],
  [E.pow, powerRule],
]);

/** From real numbers the imaginary part is 0; to real ones it is dropped, except that a bool is true for either. */
function castRule({ dtype, shape, device }: Node, [from]: readonly Taken[]): Taken {
  const real = realDType(dtype);
  if (from instanceof Node) return { re: castNode(from, real), im: owned(scalarNode(0, real, device, shape)) };
  const [re, im] = [castNode(from.re, real), castNode(from.im, real)];
  if (dtype === "bool") return makeNode(E.or, [re, im], {}, device);
  return isComplex(dtype) ? { re, im } : re;
}

/** Beyond this, squaring costs more than it gains over logarithms. */
const MAX_WHOLE_POWER = 64;

function powerRule(node: Node, inputs: readonly Taken[]): Taken {
  const exponent = wholeExponent(node);
  if (exponent === null) return mixedParts(node, inputs, complexRules.pow);
  const rule: Rule<ComplexFunction> = { cost: 20, apply: (k, z) => wholePower(k, z, exponent) };
  return mixedParts(node, inputs.slice(0, 1), rule, { exponent });
}

/** The constant that is the exponent of a power, perhaps repeated; null where it is something else. */
export function constantExponent(node: Node): Node | null {
  let source = node.inputs[1];
  while (source.storage === null && (source.primitive === expand || source.primitive === reshape))
    [source] = source.inputs;
  return isNumber(source) ? source : null;
}

/** The exponent, where it is a small whole number and part of the program. */
function wholeExponent(node: Node): number | null {
  const source = constantExponent(node);
  if (!source) return null;
  const value = source.params.value as Scalar;
  const exponent = typeof value !== "object" ? Number(value) : value.im === 0 ? value.re : Number.NaN;
  return Number.isInteger(exponent) && Math.abs(exponent) <= MAX_WHOLE_POWER ? exponent : null;
}

// ------------------------------------------------------------------------------------------------ making nodes

/**
 * Linear in its complex inputs, or without arithmetic: each part of the result is that of one part of the inputs. Running
 * totals and scattering of complex numbers take no operations but such.
 */
const separable = new Set<Primitive>([constant, E.add, E.sub, E.neg, E.where, cumulate, scatter]);
const isSeparable = (primitive: Primitive): boolean => {
  if (primitive.kind === "reduce") return reductionOf(primitive.op).complex === "parts";
  return primitive.kind === "movement" || separable.has(primitive);
};

function partOf(node: Node, inputs: readonly Taken[], which: "re" | "im"): Node {
  const { primitive, params, dtype } = node;
  const parts = inputs.map((input) => (input instanceof Node ? input : input[which]));
  return ownNode(node, primitive, partParams(params, which), parts, realDType(dtype));
}

/** The parameters that hold a value or a dtype are those of the part: of constants and of padding. */
function partParams(params: Params, which: "re" | "im"): Params {
  const value = params.value as Scalar | undefined;
  const own = typeof value === "object" ? value[which] : which === "re" ? value : 0;
  return {
    ...params,
    ...(value === undefined ? {} : { value: own }),
    ...(params.dtype === undefined ? {} : { dtype: realDType(params.dtype as DType) }),
  };
}

/** `params` tells rules of one name apart. */
function mixedParts(
  node: Node,
  inputs: readonly Taken[],
  { cost, apply }: Rule<ComplexFunction>,
  params: Params = {},
): Complex<Node> {
  const { name } = node.primitive;
  const dtype = realDType(node.dtype);
  return {
    re: mixing(node, inputs, `${name}.re`, dtype, { cost, apply: (k, ...z) => apply(k, ...z).re() }, params),
    im: mixing(node, inputs, `${name}.im`, dtype, { cost, apply: (k, ...z) => apply(k, ...z).im() }, params),
  };
}

/** A real node whose elements follow from both parts of the inputs. */
function mixing(
  node: Node,
  inputs: readonly Taken[],
  name: string,
  dtype: DType,
  { cost, apply }: Rule<RealFunction>,
  params: Params = {},
): Node {
  const primitive: ElementwisePrimitive = {
    name,
    kind: "elementwise",
    cost,
    infer: () => ({ shape: node.shape, dtype }),
    lower: (k, operands) => {
      const pairs = inputs.map((_, i) => ({ re: operands[2 * i], im: operands[2 * i + 1] }));
      return apply(k, ...pairs);
    },
  };
  const parts = inputs.flatMap((input) => [pair(input).re, pair(input).im]);
  return ownNode(node, primitive, params, parts, dtype);
}

function ownNode(like: Node, primitive: Primitive, params: Params, inputs: readonly Node[], dtype: DType): Node {
  return owned(new Node(primitive, params, inputs, like.shape, dtype, like.device));
}

/** Nodes made here are only inspected; nothing may start computing them. */
function owned(node: Node): Node {
  node.isAbstract = true;
  return node;
}
