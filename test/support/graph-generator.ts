/**
 * Random graphs of every kind of primitive, as specs. The generator interprets what it builds as it goes, and keeps values
 * tame: floats are brought back to a coarse grid before they grow, divisors are not zero, sums of floats are exact.
 */
import { DTYPES, type DType, isFloat } from "../../src/core/dtype.js";
import type { Params } from "../../src/graph/primitive.js";
import { REDUCE_OPS, reductionOf } from "../../src/graph/reduction.js";
import type { Value } from "./element-oracle.js";
import { evaluate, inferred, type Plain, type Spec, type SpecNode } from "./graph-specs.js";
import { sizeOf } from "./plain-views.js";
import { type Random, randomFrom } from "./random.js";
import { tameValue } from "./sweep-samples.js";

export interface GraphOptions {
  /** Operations to choose, each of which may take a few nodes. */
  readonly steps: number;
  /** Elements of a tensor, at most. */
  readonly maxSize: number;
  /** Extents to choose from; small ones unless told. */
  readonly extents?: readonly number[];
  /** Only operations that move elements. */
  readonly onlyMovement?: boolean;
  /** Products of matrices as well, often. */
  readonly products?: boolean;
  /** Values to ask for besides those that nobody uses, at most; 2 unless told. */
  readonly extraRoots?: number;
}

const leafDTypes: readonly DType[] = [
  "f32",
  "f32",
  "f32",
  "i32",
  "i32",
  "f64",
  "u8",
  "bool",
  "i64",
  "u32",
  "i8",
  "i16",
  "u16",
  "u64",
  "f16",
  "bf16",
  "i4",
  "u4",
  "i2",
  "u2",
  "f8e5m2",
  "f8e4m3",
];
const MATRIX_EXTENTS = [1, 3, 8, 9, 17, 20, 32, 34];
const EXTENTS = [1, 1, 2, 3, 4, 5, 7, 8, 13, 33];

const isWhole = (dtype: DType): boolean => DTYPES[dtype].kind === "int" || DTYPES[dtype].kind === "uint";

export function randomSpec(seed: number, options: GraphOptions): Spec {
  return new Generator(randomFrom(seed), options).run();
}

class Generator {
  private readonly nodes: SpecNode[] = [];
  private readonly values: Plain[] = [];
  /** Nodes that may be used by others: all but what is on the way to the grid. */
  private readonly pool: number[] = [];
  private readonly used = new Set<number>();

  constructor(
    private readonly random: Random,
    private readonly options: GraphOptions,
  ) {}

  run(): Spec {
    const { random } = this;
    const leaves = 2 + random.below(4);
    for (let i = 0; i < leaves; i++) this.pool.push(this.leaf(this.anyShape(), random.pick(leafDTypes)));
    for (let i = 0; i < this.options.steps; i++) {
      const made = this.step();
      if (made !== null) this.pool.push(this.tame(made));
    }
    // What nobody uses would not be computed; with it some values that others use too.
    const unused = this.pool.filter((i) => !this.used.has(i)).slice(-8);
    const roots = new Set([this.pool.at(-1) as number, ...unused]);
    for (let i = random.below((this.options.extraRoots ?? 2) + 1); i > 0; i--) roots.add(random.pick(this.pool));
    return { nodes: this.nodes, roots: [...roots] };
  }

  // ---------------------------------------------------------------------------------------------- nodes

  private add(op: string, inputs: readonly number[], params: Params = {}, values?: readonly Value[]): number {
    const given = inputs.map((input) => this.nodes[input] as SpecNode);
    const { shape, dtype } = inferred(op, given, params);
    const node: SpecNode = { op, inputs, params, shape, dtype, ...(values ? { values } : {}) };
    this.nodes.push(node);
    for (const input of inputs) this.used.add(input);
    this.values.push(
      evaluate(
        node,
        inputs.map((input) => this.values[input] as Plain),
      ),
    );
    return this.nodes.length - 1;
  }

  private node(i: number): SpecNode {
    return this.nodes[i] as SpecNode;
  }

  private anyShape(): number[] {
    const { random } = this;
    const rank = random.pick([0, 1, 1, 2, 2, 2, 3, 3, 4, 5, 6]);
    const shape: number[] = [];
    for (let i = 0; i < rank; i++) {
      const extent = random.below(40) === 0 ? 0 : random.pick(this.options.extents ?? EXTENTS);
      shape.push(sizeOf(shape) * extent > this.options.maxSize ? 1 : extent);
    }
    if (rank === 1 && random.below(3) === 0) shape[0] = random.pick([64, 257, Math.min(1000, this.options.maxSize)]);
    return shape;
  }

  private leaf(shape: readonly number[], dtype: DType): number {
    const values = Array.from({ length: sizeOf(shape) }, () => {
      const value = tameValue(dtype, this.random);
      return isFloat(dtype) ? Math.round(Number(value) * 4) / 4 + 0 : value;
    });
    return this.add("buffer", [], { shape, dtype }, values);
  }

  /** One number as a tensor: a constant in the program, seen as often as wanted. */
  private constant(value: Value | boolean, shape: readonly number[], dtype: DType): number {
    const given = dtype === "bool" ? Boolean(value) : value;
    if (this.random.below(3) > 0) return this.add("constant", [], { value: given, dtype, shape: [...shape] });
    return this.stretch(this.add("constant", [], { value: given, dtype, shape: [] }), shape);
  }

  /** A tensor of one element seen as often as wanted. */
  private stretch(node: number, shape: readonly number[]): number {
    const ones = shape.map(() => 1);
    const shaped = this.node(node).shape.length === ones.length ? node : this.add("reshape", [node], { shape: ones });
    return shape.every((extent) => extent === 1) ? shaped : this.add("expand", [shaped], { shape: [...shape] });
  }

  private cast(node: number, dtype: DType): number {
    return this.node(node).dtype === dtype ? node : this.add("cast", [node], { dtype });
  }

  private pick(accept: (node: SpecNode) => boolean = () => true): number | null {
    const found = this.pool.filter((i) => accept(this.node(i)));
    if (found.length === 0) return null;
    // Often what nobody uses yet, else mostly recent ones, so that graphs grow deep and little is left over.
    const unused = found.filter((i) => !this.used.has(i));
    if (unused.length > 0 && this.random.below(2) === 0) return this.random.pick(unused);
    const from = this.random.below(3) > 0 ? Math.max(0, found.length - 8) : 0;
    return found[from + this.random.below(found.length - from)] as number;
  }

  /** Some node's elements under another shape and dtype: reshaped, repeated, cut or wrapped around as needed. */
  private fitted(shape: readonly number[], dtype: DType, accept?: (node: SpecNode) => boolean): number {
    const { random } = this;
    const same = this.pick(
      (node) =>
        node.dtype === dtype && node.shape.length === shape.length && node.shape.every((n, i) => n === shape[i]),
    );
    if (same !== null && random.below(3) > 0) return same;
    const source = this.pick((node) => sizeOf(node.shape) > 0 && (accept?.(node) ?? true));
    if (source === null) return this.leaf(shape, dtype);
    const typed = this.cast(source, dtype);
    const size = sizeOf(shape);
    const from = this.node(typed).shape;
    if (sizeOf(from) === 1) return this.stretch(typed, shape);
    if (sizeOf(from) === size) return this.add("reshape", [typed], { shape: [...shape] });
    const flat = from.length === 1 ? typed : this.add("reshape", [typed], { shape: [sizeOf(from)] });
    const wrapped = this.add("wrap", [flat], { start: [random.below(7) - 3], shape: [size] });
    return this.add("reshape", [wrapped], { shape: [...shape] });
  }

  // ---------------------------------------------------------------------------------------------- keeping values tame

  /** Clipped, and rounded to multiples of a step. */
  private toGrid(node: number, limit: number, step: number): number {
    const { shape, dtype } = this.node(node);
    const constant = (value: number) => this.constant(value, shape, dtype);
    const clipped = this.add("minimum", [this.add("maximum", [node, constant(-limit)]), constant(limit)]);
    const scaled = step === 1 ? clipped : this.add("mul", [clipped, constant(1 / step)]);
    const rounded = this.add("round", [scaled]);
    return step === 1 ? rounded : this.add("mul", [rounded, constant(step)]);
  }

  /** Floats that have grown or shrunk much are brought back. */
  private tame(node: number): number {
    const { dtype } = this.node(node);
    if (!isFloat(dtype)) return node;
    const { values, isApproximate } = this.values[node] as Plain;
    if (isApproximate)
      return this.add("mul", [this.add("round", [this.times(node, 16)]), this.constantLike(node, 1 / 16)]);
    const isWild = values.some((value) => {
      const size = Math.abs(value as number);
      return !(size <= 4096) || (size !== 0 && size < 1e-6);
    });
    return isWild ? this.toGrid(node, 64, 1 / 16) : node;
  }

  private constantLike(node: number, value: Value): number {
    const { shape, dtype } = this.node(node);
    return this.constant(value, shape, dtype);
  }

  private times(node: number, factor: number): number {
    return this.add("mul", [node, this.constantLike(node, factor)]);
  }

  /** With ones for zeros: what may be divided by. */
  private nonzero(node: number): number {
    const wide = this.node(node).dtype === "i64" || this.node(node).dtype === "u64";
    const isZero = this.add("equal", [node, this.constantLike(node, wide ? 0n : 0)]);
    return this.add("where", [isZero, this.constantLike(node, wide ? 1n : 1), node]);
  }

  // ---------------------------------------------------------------------------------------------- steps

  private step(): number | null {
    const { random } = this;
    if (this.options.onlyMovement) return this.movement();
    const kinds = [
      () => this.unary(),
      () => this.binary(),
      () => this.binary(),
      () => this.comparison(),
      () => this.where(),
      () => this.conversion(),
      () => this.movement(),
      () => this.movement(),
      () => this.movement(),
      () => this.reduction(),
      () => this.reduction(),
      () => this.function(),
      () => this.counting(),
      () => this.routine(),
      ...(this.options.products ? new Array(5).fill(() => this.product()) : []),
    ];
    return random.pick(kinds)();
  }

  private unary(): number | null {
    const { random } = this;
    const x = this.pick();
    if (x === null) return null;
    const { dtype } = this.node(x);
    if (dtype === "bool") return this.add("not", [x]);
    if (isWhole(dtype)) return this.add(random.pick(["neg", "abs", "sign", "square", "not"]), [x]);
    const op = random.pick(["neg", "abs", "sign", "square", "floor", "ceil", "trunc", "round", "sqrt", "reciprocal"]);
    if (op === "sqrt") return this.add("sqrt", [this.add("abs", [x])]);
    if (op === "reciprocal") return this.add("reciprocal", [this.nonzero(x)]);
    return this.add(op, [x]);
  }

  private binary(): number | null {
    const { random } = this;
    const a = this.pick();
    if (a === null) return null;
    const { shape, dtype } = this.node(a);
    const useConstant = random.below(4) === 0;
    const b = useConstant ? this.constant(this.someNumber(dtype), shape, dtype) : this.fitted(shape, dtype);
    const order = random.below(2) === 0 ? [a, b] : [b, a];
    if (dtype === "bool") return this.add(random.pick(["and", "or", "xor"]), order);
    if (isWhole(dtype)) {
      const op = random.pick([
        "add",
        "sub",
        "mul",
        "quotient",
        "rem",
        "maximum",
        "minimum",
        "and",
        "or",
        "xor",
        "shiftLeft",
        "shiftRight",
      ]);
      return this.add(op, order);
    }
    const op = random.pick(["add", "add", "sub", "mul", "div", "rem", "maximum", "minimum"]);
    if (op === "div" || op === "rem") return this.add(op, [order[0]!, this.nonzero(order[1]!)]);
    return this.add(op, order);
  }

  private someNumber(dtype: DType): Value {
    const value = tameValue(dtype, this.random);
    return isFloat(dtype) ? Math.round(Number(value) * 2) / 2 + 0 : value;
  }

  private comparison(): number | null {
    const a = this.pick();
    if (a === null) return null;
    const { shape, dtype } = this.node(a);
    const op = this.random.pick([
      "equal",
      "notEqual",
      "less",
      "lessEqual",
      "greater",
      "greaterEqual",
      "isNan",
      "isInf",
    ]);
    if (op.startsWith("is")) return isFloat(dtype) ? this.add(op, [a]) : null;
    return this.add(op, [a, this.fitted(shape, dtype)]);
  }

  private where(): number | null {
    const a = this.pick();
    if (a === null) return null;
    const { shape, dtype } = this.node(a);
    return this.add("where", [this.fitted(shape, "bool"), a, this.fitted(shape, dtype)]);
  }

  private conversion(): number | null {
    const { random } = this;
    const x = this.pick();
    if (x === null) return null;
    const { dtype } = this.node(x);
    const groups: readonly DType[][] = [
      ["f32", "i32", "u32"],
      ["f64", "i64", "u64"],
    ];
    const group = groups.find((each) => each.includes(dtype));
    if (group && random.below(4) === 0) {
      const to = random.pick(group.filter((each) => !isFloat(each)));
      // Which zero it is would show.
      const plain = isFloat(dtype) ? this.add("add", [x, this.fullZero(x)]) : x;
      return this.add("bitcast", [plain], { dtype: to });
    }
    return this.cast(x, random.pick(leafDTypes));
  }

  /** Zeros that are no constant, which drivers simplify: a leaf of one element. */
  private fullZero(like: number): number {
    const { shape, dtype } = this.node(like);
    return this.stretch(this.add("buffer", [], { shape: [], dtype }, [0]), shape);
  }

  /** A transcendental function, on the grid and back to it. */
  private function(): number | null {
    const { random } = this;
    const x = this.pick(({ dtype }) => dtype === "f32" || dtype === "f64");
    if (x === null) return null;
    const op = random.pick([
      "exp",
      "exp2",
      "expm1",
      "sin",
      "cos",
      "tanh",
      "sigmoid",
      "softplus",
      "erf",
      "log",
      "log1p",
      "sinh",
    ]);
    const grid = this.toGrid(x, 4, 1 / 16);
    const positive = op.startsWith("log")
      ? this.add("add", [this.add("abs", [grid]), this.constantLike(grid, 0.5)])
      : grid;
    return this.add(op, [positive]);
  }

  private counting(): number | null {
    const { random } = this;
    const x = this.pick(({ shape }) => shape.length > 0);
    if (x === null) return null;
    const { shape } = this.node(x);
    const axis = random.below(shape.length);
    const extent = shape[axis]!;
    const counter = this.add("iota", [], { shape: [extent], dtype: random.pick(["i32", "f32", "u8", "i64"]) });
    const shaped = this.add("reshape", [counter], { shape: shape.map((_, i) => (i === axis ? extent : 1)) });
    return this.add("expand", [shaped], { shape: [...shape] });
  }

  private reduction(): number | null {
    const { random } = this;
    const x = this.pick(({ shape }) => shape.length > 0);
    if (x === null) return null;
    const { shape, dtype } = this.node(x);
    const axes = shape.map((_, axis) => axis).filter(() => random.below(2) === 0);
    if (axes.length === 0) axes.push(random.below(shape.length));
    const isEmpty = axes.some((axis) => shape[axis] === 0);
    const { kind } = DTYPES[dtype];
    const taken = REDUCE_OPS.filter((each) => reductionOf(each).kinds.includes(kind));
    // Sums are what most graphs reduce by.
    const op = random.pick(kind === "bool" ? taken : ["sum", ...taken]);
    if (isEmpty && (op === "max" || op === "min")) return null;
    let source = x;
    if (isFloat(dtype) && op === "sum") source = this.toGrid(x, 8, 1 / 8);
    if (isFloat(dtype) && op === "product") {
      const isNegative = this.add("less", [x, this.constantLike(x, 0)]);
      source = this.add("where", [isNegative, this.constantLike(x, -1), this.constantLike(x, 1)]);
    }
    const reduced = this.add(op, [source], { axes });
    if (random.below(2) === 0) return reduced;
    // Back to the shape it came from, as softmax and means do.
    const kept = this.add("reshape", [reduced], { shape: shape.map((n, axis) => (axes.includes(axis) ? 1 : n)) });
    const spread = this.add("expand", [kept], { shape: [...shape] });
    if (dtype === "bool") return this.add("xor", [x, spread]);
    return this.add(random.pick(["maximum", "minimum", "sub", "add"]), [x, spread]);
  }

  /** A product of matrices, of numbers small enough that sums of them are exact in any order. */
  private product(): number | null {
    const { random } = this;
    const x = this.pick(({ dtype }) => DTYPES[dtype].kind !== "complex");
    if (x === null) return null;
    const { dtype } = this.node(x);
    const [batch, m, k, n] = [random.pick([1, 1, 2, 3]), ...[0, 1, 2].map(() => random.pick(MATRIX_EXTENTS))];
    const operand = (shape: readonly number[]) => {
      const fitted = this.fitted(shape, dtype);
      const calm = isFloat(dtype) ? this.toGrid(fitted, 4, 1 / 4) : fitted;
      if (random.below(3) > 0) return calm;
      const [b, i, j] = shape as [number, number, number];
      return this.add("permute", [this.add("reshape", [calm], { shape: [b, j, i] })], { axes: [0, 2, 1] });
    };
    return this.add("dot", [operand([batch!, m!, k!]), operand([batch!, k!, n!])]);
  }

  private routine(): number | null {
    const { random } = this;
    const which = random.below(3);
    if (which === 0) {
      const x = this.pick(({ shape, dtype }) => shape.length > 0 && dtype !== "bool");
      if (x === null) return null;
      const { shape, dtype } = this.node(x);
      const op = random.pick(["sum", "max", "min"]);
      const source = isFloat(dtype) && op === "sum" ? this.toGrid(x, 8, 1 / 8) : x;
      const isExclusive = op === "sum" && random.below(3) === 0;
      const params = { axis: random.below(shape.length), op, isReverse: random.below(2) === 0, isExclusive };
      return this.add("cumulate", [source], params);
    }
    if (which === 1) {
      const x = this.pick(({ shape }) => shape.length > 0);
      return x === null ? null : this.add("argsort", [this.cast(x, random.pick(["u32", "u64"]))]);
    }
    const x = this.pick(({ shape }) => shape.length === 2);
    if (x === null) return null;
    const dtype = random.pick(["i32", "u32", "i64"] as const);
    const [, inner] = this.node(x).shape as [number, number];
    const count = random.pick([1, 3, 8]);
    const positions = this.fitted([count], "i32", ({ dtype: d }) => isWhole(d));
    const updates = this.fitted([count, inner], dtype);
    return this.add("scatter", [this.cast(x, dtype), positions, updates], {
      op: random.pick(["add", "mul", "min", "max"]),
    });
  }

  private movement(): number | null {
    const { random } = this;
    const x = this.pick();
    if (x === null) return null;
    const { shape, dtype } = this.node(x);
    const rank = shape.length;
    const size = sizeOf(shape);
    const axis = rank > 0 ? random.below(rank) : -1;
    const { maxSize } = this.options;
    switch (random.below(12)) {
      case 0:
        return this.add("reshape", [x], { shape: this.anotherShape(shape) });
      case 1: {
        const axes = shape.map((_, i) => i);
        for (let i = rank - 1; i > 0; i--) {
          const j = random.below(i + 1);
          [axes[i], axes[j]] = [axes[j]!, axes[i]!];
        }
        return this.add("permute", [x], { axes });
      }
      case 2: {
        const grown = shape.map((n) => (n === 1 && random.below(2) === 0 ? random.pick([2, 3, 5]) : n));
        return sizeOf(grown) > maxSize ? null : this.add("expand", [x], { shape: grown });
      }
      case 3:
      case 4: {
        const parts = shape.map((extent) => {
          const step = random.pick([1, 1, 2, 3, -1, -1, -2]);
          const count = extent === 0 ? 0 : 1 + random.below(Math.ceil(extent / Math.abs(step)));
          const room = extent - 1 - (count - 1) * Math.abs(step);
          const low = count === 0 ? 0 : random.below(Math.max(1, room + 1));
          return { step, count, start: step > 0 || count === 0 ? low : low + (count - 1) * -step };
        });
        const params = {
          start: parts.map(({ start }) => start),
          step: parts.map(({ step }) => step),
          shape: parts.map(({ count }) => count),
        };
        return this.add("slice", [x], params);
      }
      case 5:
      case 6: {
        const low = shape.map(() => random.below(4) - 1);
        const interior = shape.map(() => (random.below(4) === 0 ? 1 + random.below(2) : 0));
        const spread = shape.map((n, i) => (n === 0 ? 0 : n + (n - 1) * interior[i]!));
        const high = shape.map((_, i) => Math.max(-low[i]! - spread[i]!, random.below(4) - 1));
        const value = dtype === "bool" ? random.below(2) === 1 : this.someNumber(dtype);
        const total = spread.reduce((product, n, i) => product * (n + low[i]! + high[i]!), 1);
        return total > maxSize ? null : this.add("pad", [x], { low, high, interior, value });
      }
      case 7: {
        if (rank === 0) return null;
        const others = Array.from({ length: 1 + random.below(2) }, () => {
          const extent = random.below(4);
          return this.fitted(shape.with(axis, extent), dtype);
        });
        const parts = [x, ...others];
        return size * 2 > maxSize ? null : this.add("concat", random.below(2) ? parts : parts.reverse(), { axis });
      }
      case 8: {
        if (rank === 0 || shape[axis] === 0) return null;
        const positions = this.fitted(random.pick([[], [1], [5], [2, 3]]), "i32", (node) => isWhole(node.dtype));
        const count = sizeOf(this.node(positions).shape);
        return (size / shape[axis]!) * count > maxSize ? null : this.add("take", [x, positions], { axis });
      }
      case 9: {
        if (rank === 0 || shape[axis] === 0) return null;
        const extent = random.pick([1, 2, 4]);
        const positions = this.fitted(shape.with(axis, extent), "i32", (node) => isWhole(node.dtype));
        return this.add("takeAlongAxis", [x, positions], { axis });
      }
      case 10: {
        if (rank === 0 || size === 0) return null;
        if (random.below(2) === 0) {
          const length = Math.min(shape[axis]!, 1 + random.below(3));
          const dilation = 1 + random.below(2);
          const params = { axes: [axis], size: [length], stride: [1 + random.below(2)], dilation: [dilation] };
          return size * length > maxSize ? null : this.add("window", [x], params);
        }
        const axes = shape.map((_, i) => i).filter(() => random.below(2) === 0);
        if (axes.length === 0) axes.push(axis);
        const common = random.pick([[], [3], [2, 2]]);
        const positions = axes.map(() => this.fitted(common, "i32", (node) => isWhole(node.dtype)));
        const rest = rank - axes.length;
        return this.add("gather", [x, ...positions], { axes, at: random.below(rest + 1) });
      }
      default: {
        if (size === 0) return null;
        if (random.below(6) === 0) return this.add("stored", [x]);
        const wanted = shape.map((n) => Math.max(1, n + random.below(4) - 1));
        const start = shape.map(() => random.below(9) - 4);
        return sizeOf(wanted) > maxSize ? null : this.add("wrap", [x], { start, shape: wanted });
      }
    }
  }

  /** As many elements in other axes: some merged, some split, ones put in. */
  private anotherShape(shape: readonly number[]): number[] {
    const { random } = this;
    const split: number[] = [];
    for (const extent of shape) {
      const divisor = [2, 3, 5, 7].find((prime) => extent > prime && extent % prime === 0 && random.below(2) === 0);
      if (divisor) split.push(divisor, extent / divisor);
      else split.push(extent);
    }
    const merged: number[] = [];
    for (const extent of split) {
      if (merged.length > 0 && random.below(3) === 0) merged.push((merged.pop() as number) * extent);
      else merged.push(extent);
    }
    if (random.below(3) === 0) merged.splice(random.below(merged.length + 1), 0, 1);
    return merged.length > 6 ? [sizeOf(shape)] : merged;
  }
}
