/**
 * What a primitive is: one entry in one table, with every rule that is its own. Elementwise primitives say how one
 * element follows from its operands' elements; movement primitives say where an element is read; reductions name the
 * way two partial results combine. The compiler knows these kinds and no primitive of them by name; only routines, which
 * have kernels of their own, are looked up.
 */
import type { DType } from "../core/dtype.js";
import type { IndexExpr, IndexSpace } from "../core/index-expr.js";
import type { ElementOps } from "./element-ops.js";
import type { Node } from "./node.js";

export type Params = Readonly<Record<string, unknown>>;

interface Common {
  readonly name: string;
  /** Shape and dtype of the result; throws a ShapeError or DTypeError that names the operation. */
  infer(inputs: readonly Node[], params: Params): { readonly shape: readonly number[]; readonly dtype: DType };
}

/** Values that come from nowhere: memory, constants, counters. */
export interface LeafPrimitive extends Common {
  readonly kind: "leaf";
}

export interface ElementwisePrimitive extends Common {
  readonly kind: "elementwise";
  /** The result's element. Operands have the dtypes of the inputs. */
  lower<V>(k: ElementOps<V>, operands: readonly V[], params: Params, dtype: DType): V;
  /** Rough cost in additions, to weigh computing again against storing. */
  readonly cost: number;
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
  readonly bounds: readonly { readonly value: IndexExpr; readonly low: number; readonly high: number }[];
}

export interface MovementPrimitive extends Common {
  readonly kind: "movement";
  /** Several readings: the first whose bounds hold counts. */
  read(space: IndexSpace, index: readonly IndexExpr[], node: Node): readonly Reading[];
  /** The element where no reading's bounds hold. */
  otherwise?(params: Params): number | bigint | boolean;
}

export type ReduceOp = "sum" | "product" | "max" | "min" | "all" | "any";

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
  expand(inputs: readonly Node[], params: Params): Node;
}

export type Primitive =
  | LeafPrimitive
  | ElementwisePrimitive
  | MovementPrimitive
  | ReducePrimitive
  | RoutinePrimitive
  | CompositePrimitive;
