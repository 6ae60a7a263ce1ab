/**
 * The discrete Fourier transform along one axis: y[k] = scale · Σ x[j] exp(sign · 2πi jk/n). Inputs: x, and the table of
 * constants of its length (dft-plan.ts). The axis of x is cut to what the length takes, or filled with zeros.
 *
 * Kinds: "complex", from real or complex numbers to all n; "real", from n real numbers to the first n/2 + 1, of which the
 * others are conjugates; "half", from those back to real numbers. Each is linear, and its transpose is made of the same kinds
 * with the same table.
 */
import { complexDType, isComplex, isFloat, realDType } from "../../core/dtype.js";
import { DTypeError } from "../../core/errors.js";
import type { DftFloat, DftKind } from "../dft-plan.js";
import type { Node } from "../node.js";
import type { Params, RoutinePrimitive } from "../primitive.js";
import type { GraphOps } from "../vocabulary.js";

export interface DftParams {
  readonly kind: DftKind;
  readonly axis: number;
  /** n: real numbers, or complex ones, of the transform. */
  readonly length: number;
  readonly sign: 1 | -1;
  readonly scale: number;
  /** x has complex numbers. In programs they are pairs of real ones, and the dtype does not tell. */
  readonly isOfComplex: boolean;
  /** The lengths of the passes, where they are not the device's usual ones (passesBehindRows in dft-plan.ts). */
  readonly passes?: readonly number[];
  /**
   * A transform of rows of x, which are transformed first; in programs (compiler/rewrite/transform-views.ts). A third input is
   * its table.
   */
  readonly rows?: DftParams;
  /** x seen through a view, in programs (compiler/rewrite/transform-views.ts): its shape, and distances of complex or real numbers. */
  readonly view?: { readonly shape: readonly number[]; readonly strides: readonly number[]; readonly offset: number };
  /** A third input, with a number for each place of the axis, that x is multiplied by; in programs. */
  readonly isWindowed?: boolean;
  /** The order of the result's axes in memory, where it is not their own; in programs. */
  readonly order?: readonly number[];
}

export const dftParams = ({ params }: Pick<Node, "params">): DftParams => params as unknown as DftParams;

/** The numbers of half a spectrum. */
const halfOf = (length: number): number => Math.floor(length / 2) + 1;

/** Elements along the axis that a transform takes and gives. */
export function dftExtents({ kind, length }: DftParams): { readonly taken: number; readonly given: number } {
  return {
    taken: kind === "half" ? halfOf(length) : length,
    given: kind === "real" ? halfOf(length) : length,
  };
}

export const dft: RoutinePrimitive = {
  name: "dft",
  kind: "routine",
  infer: ([x, table], params) => {
    const own = params as unknown as DftParams;
    const real = realDType(x.dtype);
    const isRight =
      own.isOfComplex === isComplex(x.dtype) && (own.kind === "complex" || (own.kind === "half") === own.isOfComplex);
    if (!isRight || !isFloat(real) || table.dtype !== real) {
      throw new DTypeError(`dft, ${own.kind}: takes no ${x.dtype} with constants of ${table.dtype}.`);
    }
    const shape = x.shape.map((extent, axis) => (axis === own.axis ? dftExtents(own).given : extent));
    return { shape, dtype: own.kind === "half" ? real : complexDType(real) };
  },
  jvp: (g, { primitive, params, inputs: [, table] }, [t]) => t && g.move(primitive, [t, table], params),
  vjp: (g, node, ct) => [cotangent(g, node, ct), null],
  batch: (g, { primitive, params }, [x, table], size) => {
    const whole = x.isBatched ? x.node : g.broadcast(x.node, [size, ...x.node.shape]);
    return g.move(primitive, [whole, table.node], { ...params, axis: (params.axis as number) + 1 });
  },
};

/** The dtype that the constants of a transform have. */
export const dftFloat = (x: Pick<Node, "dtype">): DftFloat => realDType(x.dtype) as DftFloat;

/**
 * The transpose, with respect to the real part of Σ ct·t. The matrix of the complex transform is symmetric. Of half a spectrum
 * the numbers within stand for their conjugates as well, so they count twice, or half.
 */
function cotangent(g: GraphOps, node: Node, ct: Node): Node {
  const [x, table] = node.inputs;
  const own = dftParams(node);
  const turned = (y: Node, kind: DftKind): Node => {
    const params: DftParams = { ...own, kind, isOfComplex: kind !== "real" };
    return g.move(dft, [y, table], params as unknown as Params);
  };
  const whole = () => {
    if (own.kind === "real") return turned(weighted(g, ct, own, 0.5), "half");
    if (own.kind === "half") return weighted(g, turned(ct, "real"), own, 2);
    const transformed = turned(ct, "complex");
    return own.isOfComplex ? transformed : g.real(transformed);
  };
  return fitted(g, whole(), own.axis, x.shape[own.axis]);
}

/** Half a spectrum with the numbers between the first and the middle times a weight. */
function weighted(g: GraphOps, half: Node, { axis, length }: DftParams, weight: number): Node {
  const place = g.counting(half.shape, axis, half);
  const isFirst = g.equal(place, 0);
  const isOwn = length % 2 === 0 ? g.or(isFirst, g.equal(place, length / 2)) : isFirst;
  return g.where(isOwn, half, g.mul(half, weight));
}

/** The first elements of an axis, with zeros behind them where there are too few. */
function fitted(g: GraphOps, x: Node, axis: number, extent: number): Node {
  const zeros = x.shape.map(() => 0);
  return g.pad(
    x,
    zeros,
    x.shape.map((own, i) => (i === axis ? extent - own : 0)),
  );
}
