/**
 * What a primitive is: one entry in one table, with every rule that is its own. Elementwise primitives say how one
 * element follows from its operands' elements; movement primitives say where an element is read; reductions name an
 * entry of the table in reduction.ts. The compiler knows these kinds and no primitive of them by name; only routines, which
 * have kernels of their own, are looked up.
 */
import type { DType } from "../core/dtype.js";
import type { Bound, IndexExpr, IndexSpace } from "../core/index-expr.js";
import type { ElementOps } from "./element-ops.js";
import type { Node } from "./node.js";
import type { ReduceOp } from "./reduction.js";
import type { GraphOps } from "./vocabulary.js";

export type Params = Readonly<Record<string, unknown>>;

/** An input of a node that is being vectorised: with the batch as its first axis, or the same for all. */
export interface BatchedInput {
  readonly node: Node;
  readonly isBatched: boolean;
}

interface Common {
  readonly name: string;
  /** What users call it, where that is another name: errors say this one. */
  readonly called?: string;
  /** Shape and dtype of the result; throws a ShapeError or DTypeError that names the operation. */
  infer(inputs: readonly Node[], params: Params): { readonly shape: readonly number[]; readonly dtype: DType };
  /** The tangent of the result from those of the inputs; null stands for zero. */
  jvp?(g: GraphOps, node: Node, tangents: readonly (Node | null)[]): Node | null;
  /** The cotangents of the inputs from that of the result; null stands for zero. */
  vjp?(g: GraphOps, node: Node, cotangent: Node): readonly (Node | null)[];
  /** The same operation on each member of a batch of `size`; the result has the batch as its first axis. */
  batch?(g: GraphOps, node: Node, inputs: readonly BatchedInput[], size: number): Node;
  /** An operation with several results (see primitives/control.ts) has these rules instead. */
  readonly bundle?: BundleRules;
}

/** The rules of an operation with several results speak of all of them at once. */
export interface BundleRules {
  jvp(g: GraphOps, node: Node, tangents: readonly (Node | null)[]): readonly (Node | null)[];
  vjp(g: GraphOps, node: Node, cotangents: readonly (Node | null)[]): readonly (Node | null)[];
  batch(g: GraphOps, node: Node, inputs: readonly BatchedInput[], size: number): readonly BatchedInput[];
}

/**
 * What a small change t of one operand does to the result, element by element. Such a map is its own transpose, so it
 * serves both directions of differentiation.
 */
export type Slope = (g: GraphOps, t: Node, node: Node) => Node;

/** Values that come from nowhere: memory, constants, counters. */
export interface LeafPrimitive extends Common {
  readonly kind: "leaf";
}

export interface ElementwisePrimitive extends Common {
  readonly kind: "elementwise";
  /** The result's element. Operands have the dtypes of the inputs. */
  lower<V>(k: ElementOps<V>, operands: readonly V[], params: Params, dtype: DType): V;
  /** What it makes of values of its dtype needs no rounding to be one: a choice among them, a sign, a whole part. */
  readonly isExact?: boolean;
  /** Rough cost in additions, to weigh computing again against storing. */
  readonly cost: number;
  /** One per operand; null where the result is flat. Without any it has no derivative. */
  readonly slopes?: readonly (Slope | null)[];
}

/** An index that is itself an element of an input, of integer dtype. It is kept inside the axis it indexes. */
export interface ElementIndex {
  readonly input: number;
  readonly index: readonly IndexExpr[];
}

/** Where a movement reads: an index into one of its inputs, perhaps only under conditions. */
export interface Reading {
  readonly input: number;
  readonly index: readonly (IndexExpr | ElementIndex)[];
  /** All must hold, each as low ≤ expression < high; where one does not, the element is `otherwise`. */
  readonly bounds: readonly Bound[];
}

export interface MovementPrimitive extends Common {
  readonly kind: "movement";
  /** Several readings: the first whose bounds hold counts. */
  read(space: IndexSpace, index: readonly IndexExpr[], node: Node): readonly Reading[];
  /** The element where no reading's bounds hold. */
  otherwise?(params: Params): number | bigint | boolean;
  /**
   * Where among the input's elements its own begin, if they lie there side by side in row-major order; null if they do not.
   * Without this rule they never do.
   */
  beginsAt?(node: Node): number | null;
}

export interface ReducePrimitive extends Common {
  readonly kind: "reduce";
  readonly op: ReduceOp;
}

/** Computed by kernels of its own, which the compiler keeps under its name: sorting, scans, scattering. */
export interface RoutinePrimitive extends Common {
  readonly kind: "routine";
}

/** Written in terms of other primitives, which the compiler puts in its place. It has rules of its own nevertheless. */
export interface CompositePrimitive extends Common {
  readonly kind: "composite";
  /** What it is made of; a list for an operation with several results. */
  expand(g: GraphOps, node: Node, inputs: readonly Node[]): Node | readonly Node[];
}

export type Primitive =
  | LeafPrimitive
  | ElementwisePrimitive
  | MovementPrimitive
  | ReducePrimitive
  | RoutinePrimitive
  | CompositePrimitive;
