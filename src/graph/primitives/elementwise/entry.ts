/**
 * The form of an elementwise primitive's entry, the lists of dtypes that entries take, and functions that several files of
 * entries share.
 */
import { DTYPES, type DType, type DTypeKind, isComplex } from "../../../core/dtype.js";
import { DTypeError, ShapeError } from "../../../core/errors.js";
import { sameShape } from "../../../core/shape.js";
import type { ElementOps } from "../../element-ops.js";
import type { Node } from "../../node.js";
import type { ElementwisePrimitive, Params, Slope } from "../../primitive.js";

export interface ElementwiseEntry extends ElementwisePrimitive {
  readonly arity: number;
  readonly kinds: readonly DTypeKind[];
  readonly oracle?: (...args: number[]) => number | boolean;
  /** Interval the sweep samples floats from. */
  readonly domain?: readonly [number, number];
}

interface Entry {
  readonly called?: string;
  readonly kinds: readonly DTypeKind[];
  /** Dtype of the result; that of the first operand unless told. */
  readonly result?: (dtypes: readonly DType[], params: Params) => DType;
  readonly cost?: number;
  readonly isExact?: boolean;
  readonly oracle?: (...args: number[]) => number | boolean;
  readonly domain?: readonly [number, number];
  readonly slopes?: readonly (Slope | null)[];
  readonly jvp?: ElementwisePrimitive["jvp"];
  readonly vjp?: ElementwisePrimitive["vjp"];
  lower<V>(k: ElementOps<V>, operands: readonly V[], params: Params, dtype: DType): V;
}

export function elementwise(name: string, arity: number, entry: Entry): ElementwiseEntry {
  const called = entry.called ?? name;
  return {
    ...entry,
    name,
    arity,
    kind: "elementwise",
    cost: entry.cost ?? 1,
    infer: (inputs, params) => {
      const [first] = inputs as readonly [Node];
      for (const { shape, dtype } of inputs) {
        if (!sameShape(shape, first.shape)) {
          throw new ShapeError(`${called}: operands of [${first.shape}] and [${shape}].`);
        }
        if (!entry.kinds.includes(DTYPES[dtype].kind)) {
          const remedy = isComplex(dtype) ? "take its real(), imag() or abs()" : "cast it";
          throw new DTypeError(`${called}: takes ${entry.kinds.join(", ")}, not ${dtype}; ${remedy} first.`);
        }
      }
      const result = entry.result
        ? entry.result(
            inputs.map(({ dtype }) => dtype),
            params,
          )
        : first.dtype;
      return { shape: first.shape, dtype: result };
    },
  };
}

export const FLOAT: readonly DTypeKind[] = ["float"];
export const INTEGER: readonly DTypeKind[] = ["int", "uint"];
export const REAL: readonly DTypeKind[] = ["int", "uint", "float"];
export const ANY: readonly DTypeKind[] = ["bool", "int", "uint", "float"];
export const BITS: readonly DTypeKind[] = ["bool", "int", "uint"];
/** Floats and complex numbers. The compiler rewrites complex numbers as real ones (rewrite/complex.ts) before `lower`. */
export const INEXACT: readonly DTypeKind[] = ["float", "complex"];
export const NUMBER: readonly DTypeKind[] = [...REAL, "complex"];
export const EVERY: readonly DTypeKind[] = [...ANY, "complex"];
export const bool = (): DType => "bool";
/** Step functions: the derivative is zero wherever it exists. */
export const FLAT = [null, null] as const;

/** Derivative rules of a function that is not holomorphic: the map of a small change, and its transpose. */
export const notHolomorphic = (forward: Slope, backward: Slope): Pick<ElementwisePrimitive, "jvp" | "vjp"> => ({
  jvp: (g, node, [t]) => t && forward(g, t, node),
  vjp: (g, node, ct) => [backward(g, ct, node)],
});

export const zeroLike = <V>(k: ElementOps<V>, x: V): V => k.constant(k.dtypeOf(x), 0);
export const oneLike = <V>(k: ElementOps<V>, x: V): V => k.constant(k.dtypeOf(x), 1);
