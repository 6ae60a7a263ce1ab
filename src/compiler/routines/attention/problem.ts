/** An attention as its kernels see it: extents, and which keys a query sees with what score. */
import type { DType } from "../../../core/dtype.js";
import type { Node } from "../../../graph/node.js";
import { type AttentionParams, attentionInputs, attentionParams } from "../../../graph/primitives/attention.js";
import { accumulatorDType } from "../../../graph/primitives/dot.js";
import type { IRType, Value } from "../../ir/ir.js";
import type { KernelBuilder } from "../../ir/kernel-builder.js";

export interface AttentionProblem {
  readonly batch: number;
  readonly heads: number;
  readonly keyHeads: number;
  readonly queries: number;
  readonly keys: number;
  /** Numbers of a query or key, and of a value. */
  readonly depth: number;
  readonly width: number;
  readonly dtype: DType;
  /** The type that everything is computed in. */
  readonly type: "f32" | "f64";
  readonly params: AttentionParams;
  readonly bias: { readonly dtype: DType; readonly shape: readonly number[] } | null;
  readonly mask: { readonly dtype: DType; readonly shape: readonly number[] } | null;
}

export function problemOf(node: Node): AttentionProblem {
  const params = attentionParams(node);
  const { q, k, v, bias, mask } = attentionInputs(node.inputs, params);
  const [batch, heads, queries, depth] = q.shape;
  const [, keyHeads, keys] = k.shape;
  const type = accumulatorDType(q.dtype) as "f32" | "f64";
  return { batch, heads, keyHeads, queries, keys, depth, width: v.shape[3], dtype: q.dtype, type, params, bias, mask };
}

/** The buffers of the inputs that every kernel of an attention takes. */
export interface InputBuffers {
  readonly q: number;
  readonly k: number;
  readonly v: number;
  readonly bias: number | null;
  readonly mask: number | null;
  readonly length: number | null;
}

export function declareInputs(k: KernelBuilder, { dtype, bias, mask, params }: AttentionProblem): InputBuffers {
  const first = { q: k.buffer(dtype, false), k: k.buffer(dtype, false), v: k.buffer(dtype, false) };
  return {
    ...first,
    bias: bias && k.buffer(bias.dtype, false),
    mask: mask && k.buffer("bool", false),
    length: params.hasLength ? k.buffer("i32", false) : null,
  };
}

/** The inputs after those of attention: the cotangent of the output, the logarithms, and D. */
export function declareRest(k: KernelBuilder, { dtype, type }: AttentionProblem) {
  return { ct: k.buffer(dtype, false), logs: k.buffer(type, false), delta: k.buffer(type, false) };
}

/** A range of positions: from, inclusive, to, exclusive. It may be empty. */
export interface Range {
  readonly from: Value;
  readonly to: Value;
}

/** The queries or the keys of a tile: the first, how many, and that of each product. */
interface Side {
  readonly first: Value;
  readonly count: number;
  at(product: number): Value;
}

/** The keys that the queries of one member of the batch see. */
export class Visibility {
  /** Keys that count. */
  private readonly count: Value;

  constructor(
    private readonly k: KernelBuilder,
    private readonly problem: AttentionProblem,
    private readonly buffers: InputBuffers,
    private readonly member: Value,
    private readonly head: Value,
  ) {
    const all = k.constant("i32", problem.keys);
    this.count = buffers.length === null ? all : k.binary("min", k.load(buffers.length, member, "i32"), all);
  }

  /** The keys that queries from one on may see. */
  keysOf(first: Value, queries: number): Range {
    const { left, right } = this.problem.params;
    const { keys } = this.problem;
    return this.rangeOf(first, queries, left, right, keys, this.count);
  }

  /** The queries that may see keys from one on. */
  queriesOf(first: Value, keys: number): Range {
    const { k, problem } = this;
    const { left, right } = problem.params;
    const { queries } = problem;
    const range = this.rangeOf(first, keys, right, left, queries, k.constant("i32", queries));
    if (this.buffers.length === null) return range;
    return { from: range.from, to: k.select(k.compare("lt", first, this.count), range.to, k.constant("i32", 0)) };
  }

  private rangeOf(first: Value, count: number, before: number, behind: number, extent: number, end: Value): Range {
    const { k } = this;
    const i = (value: number) => k.constant("i32", value);
    const from = before >= extent + count ? i(0) : k.binary("max", k.binary("sub", first, i(before)), i(0));
    const to = behind >= extent ? end : k.binary("min", k.binary("add", first, i(count + behind)), end);
    return { from, to };
  }

  /** Whether every query of a tile sees every key of it; null where only the mask could say. */
  private seesAll(firstQuery: Value, queries: number, firstKey: Value, keys: number): Value | null {
    const { k, problem, buffers } = this;
    const { left, right } = problem.params;
    if (buffers.mask !== null) return null;
    const i = (value: number) => k.constant("i32", value);
    const [queryEnd, keyEnd] = [k.binary("add", firstQuery, i(queries)), k.binary("add", firstKey, i(keys))];
    return [
      k.compare("le", keyEnd, this.count),
      k.compare("le", queryEnd, i(problem.queries)),
      ...(left < problem.queries ? [k.compare("le", queryEnd, k.binary("add", firstKey, i(left + 1)))] : []),
      ...(right < problem.keys ? [k.compare("le", keyEnd, k.binary("add", firstQuery, i(right + 1)))] : []),
    ].reduce((a, b) => k.binary("and", a, b));
  }

  /** The scores of products of a tile's queries and keys. Most tiles are seen as a whole: they need no tests for each score. */
  scores(products: readonly Value[], [queries, keys]: readonly [Side, Side], unit = 1): readonly Value[] {
    const scored = (isSeen: boolean) =>
      products.map((product, at) => this.score(product, queries.at(at), keys.at(at), { unit, isSeen }));
    const isSeen = this.seesAll(queries.first, queries.count, keys.first, keys.count);
    if (!isSeen) return scored(false);
    return this.k.when(
      isSeen,
      () => scored(true),
      () => scored(false),
    );
  }

  /**
   * The score of a query with a key: their product, scaled and biased; -inf where the query does not see the key. `unit`: a
   * factor of all of it. `isSeen`: the query is known to see the key.
   */
  private score(product: Value, i: Value, j: Value, { unit, isSeen }: { unit: number; isSeen: boolean }): Value {
    const { k, problem, buffers } = this;
    const { type, bias, mask, params } = problem;
    const scaled = k.binary("mul", product, k.constant(type, params.scale * unit));
    const added = bias && buffers.bias !== null ? this.loaded(buffers.bias, bias, i, j, biasType(bias.dtype)) : null;
    const factor = k.constant(type, unit);
    const biased = added ? k.mulAdd(k.convert(type, added), factor, scaled) : scaled;
    if (isSeen) return biased;
    const seen = [
      k.compare("lt", j, this.count),
      k.compare("lt", i, k.constant("i32", problem.queries)),
      ...(params.left < problem.queries
        ? [k.compare("le", i, k.binary("add", j, k.constant("i32", params.left)))]
        : []),
      ...(params.right < problem.keys ? [k.compare("le", j, k.binary("add", i, k.constant("i32", params.right)))] : []),
      ...(mask && buffers.mask !== null ? [this.loaded(buffers.mask, mask, i, j, "bool")] : []),
    ];
    const isVisible = seen.reduce((a, b) => k.binary("and", a, b));
    return k.select(isVisible, biased, k.constant(type, -Infinity));
  }

  /** An element of what broadcasts to the scores. Positions beyond the ends read the last one. */
  private loaded(buffer: number, { shape }: { readonly shape: readonly number[] }, i: Value, j: Value, type: IRType) {
    const { k } = this;
    const at = [this.member, this.head, i, j];
    const index = shape.reduce(
      (sum, extent, axis) => {
        const whole = k.binary("mul", sum, k.constant("i32", extent));
        if (extent === 1) return whole;
        return k.binary("add", whole, k.binary("min", at[axis], k.constant("i32", extent - 1)));
      },
      k.constant("i32", 0),
    );
    return k.load(buffer, index, type);
  }
}

const biasType = (dtype: DType): IRType => (dtype === "f64" ? "f64" : "f32");
