/**
 * The kinds of primitives. A primitive is one entry in one table, with all its rules. Elementwise primitives compute one
 * element from the elements of the operands; movement primitives give the index at which an element is read; reductions
 * name an entry of the table in reduction.ts. The compiler handles these kinds without knowing any primitive by name; only
 * routines, which have kernels of their own, are looked up by name.
 */
import type { DType } from "../core/dtype.js";
import type { Bound, IndexExpr, IndexSpace } from "../core/index-expr.js";
import type { ElementOps } from "./element-ops.js";
import type { Node } from "./node.js";
import type { ReduceOp } from "./reduction.js";
import type { GraphOps } from "./vocabulary.js";

export type Params = Readonly<Record<string, unknown>>;

/** An input of a node under vectorisation: with the batch as its first axis, or shared by all members. */
export interface BatchedInput {
  readonly node: Node;
  readonly isBatched: boolean;
}

interface Common {
  readonly name: string;
  /** The public name, where it differs: errors use it. */
  readonly called?: string;
  /** Shape and dtype of the result; throws a ShapeError or DTypeError that names the operation. */
  infer(inputs: readonly Node[], params: Params): { readonly shape: readonly number[]; readonly dtype: DType };
  /** The tangent of the result from those of the inputs; null stands for zero. */
  jvp?(g: GraphOps, node: Node, tangents: readonly (Node | null)[]): Node | null;
  /**
   * The cotangents of the inputs from that of the result; null stands for zero. Those of inputs that are not wanted may be left
   * out; all are wanted unless told.
   */
  vjp?(g: GraphOps, node: Node, cotangent: Node, isWanted?: (input: number) => boolean): readonly (Node | null)[];
  /** The same operation on each member of a batch of `size`; the result has the batch as its first axis. */
  batch?(g: GraphOps, node: Node, inputs: readonly BatchedInput[], size: number): Node;
  /** An operation with several results (see primitives/bundle.ts) has these rules instead. */
  readonly bundle?: BundleRules;
}

/** The rules of an operation with several results handle all of them at once. */
interface BundleRules {
  jvp(g: GraphOps, node: Node, tangents: readonly (Node | null)[]): readonly (Node | null)[];
  vjp(
    g: GraphOps,
    node: Node,
    cotangents: readonly (Node | null)[],
    isWanted?: (input: number) => boolean,
  ): readonly (Node | null)[];
  batch(g: GraphOps, node: Node, inputs: readonly BatchedInput[], size: number): readonly BatchedInput[];
}

/**
 * The change of the result for a small change t of one operand, element by element. Such a map is its own transpose, so it
 * serves both modes of differentiation.
 */
export type Slope = (g: GraphOps, t: Node, node: Node) => Node;

/** Nodes without inputs: memory, constants, counters. */
export interface LeafPrimitive extends Common {
  readonly kind: "leaf";
}

export interface ElementwisePrimitive extends Common {
  readonly kind: "elementwise";
  /** The result's element. Operands have the dtypes of the inputs. */
  lower<V>(k: ElementOps<V>, operands: readonly V[], params: Params, dtype: DType): V;
  /** Its results need no rounding to the dtype: it selects, negates or truncates values of that dtype. */
  readonly isExact?: boolean;
  /** Rough cost in additions, to weigh recomputing against storing. */
  readonly cost: number;
  /** One per operand; null where the derivative is zero. A primitive without slopes has no derivative. */
  readonly slopes?: readonly (Slope | null)[];
}

/** An index that is itself an element of an input, of integer dtype. It is clamped to the axis it indexes. */
export interface ElementIndex {
  readonly input: number;
  readonly index: readonly IndexExpr[];
}

/** An index into one of the inputs of a movement, perhaps only under conditions. */
export interface Reading {
  readonly input: number;
  readonly index: readonly (IndexExpr | ElementIndex)[];
  /** The reading counts only where all bounds hold, each as low ≤ expression < high. */
  readonly bounds: readonly Bound[];
}

export interface MovementPrimitive extends Common {
  readonly kind: "movement";
  /** Of several readings the first whose bounds hold counts. */
  read(space: IndexSpace, index: readonly IndexExpr[], node: Node): readonly Reading[];
  /** The element where no reading's bounds hold. */
  otherwise?(params: Params): number | bigint | boolean;
  /**
   * The position in the input of its first element, if its elements lie side by side there in row-major order; null if not.
   * Without this rule they never do.
   */
  beginsAt?(node: Node): number | null;
  /** For movements whose result is a part of something: which part may be data of a program. */
  readonly begins?: Beginning;
}

/**
 * Where the result of a movement begins. The same movement from elsewhere has other values of `params`, and the same shape.
 * A result is the slice of `around` that begins at `at`; what lies around does not depend on that.
 */
export interface Beginning {
  /** The parameters that follow from where it begins and from the shapes. */
  readonly params: readonly string[];
  /** The position of the first element along an axis of what lies around. */
  at(node: Node, axis: number): number;
  around(g: GraphOps, node: Node, input: Node): Node;
  /** The distance of neighbours along an axis of what lies around. */
  step(node: Node, axis: number): number;
}

export interface ReducePrimitive extends Common {
  readonly kind: "reduce";
  readonly op: ReduceOp;
}

/** Computed by hand-written kernels, which the compiler finds by name: sorting, scans, scattering. */
export interface RoutinePrimitive extends Common {
  readonly kind: "routine";
  /**
   * Its kernels take complex numbers as they lie in memory: complex inputs and results have a last axis of two more, real and
   * imaginary part, and `isComplex` is among the params (compiler/rewrite/complex.ts).
   */
  readonly takesComplex?: true;
  /** Its definition by other primitives, where it has one: for functions inside larger kernels, which run no routines. */
  expand?(g: GraphOps, node: Node, inputs: readonly Node[]): Node | readonly Node[];
}

/** Defined by other primitives, which the compiler substitutes for it. It still has derivative and batching rules. */
export interface CompositePrimitive extends Common {
  readonly kind: "composite";
  /** Its definition has a while loop, which ends by itself whatever the inputs are. */
  readonly hasWhileLoop?: true;
  /** Its definition; a list for an operation with several results. */
  expand(g: GraphOps, node: Node, inputs: readonly Node[]): Node | readonly Node[];
}

/** The product of matrices: tiled kernels compute large ones, `expand` writes the others as sums of products. */
export interface ContractionPrimitive extends Common {
  readonly kind: "contraction";
  expand(g: GraphOps, node: Node, inputs: readonly Node[]): Node;
}

export type Primitive =
  | LeafPrimitive
  | ElementwisePrimitive
  | MovementPrimitive
  | ReducePrimitive
  | RoutinePrimitive
  | ContractionPrimitive
  | CompositePrimitive;
