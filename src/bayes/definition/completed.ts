/**
 * Completes a distribution: from its special members to all of `Distribution`, with log densities that are -Infinity outside the
 * support, checked shapes, and dtypes of draws. `bind` ends here, and so do distributions that are made of others.
 */
import { type DType, isFloat } from "../../core/dtype.js";
import { ArgumentError, ShapeError, UnsupportedError } from "../../core/errors.js";
import { broadcastShapes, checkBroadcastTo, formatShape, type Shape, sameShape } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { checkKey, type Key } from "../../random/key.js";
import { scalarLike, Tensor, where } from "../../tensor/index.js";
import { floatOf, tensorOf } from "../arguments/argument.js";
import { eachInside } from "../constraints/constraint.js";
import { allOverLast } from "../numerics/last-axes.js";
import { sumOfTerms, type Term } from "../numerics/terms.js";
import type { Distribution, DrawOptions, MomentOptions } from "../variables/distribution.js";

/** The draws that a definition is asked for. */
export interface DrawRequest {
  readonly key: Key;
  /** Of the draws, without the axes of one draw. */
  readonly shape: Shape;
  /** In which they are computed. */
  readonly dtype: "f32" | "f64";
  /** To which they are rounded in the end. */
  readonly rounded: DType;
}

/** The members of a distribution that cannot be derived from others. */
interface DistributionCore
  extends Omit<Distribution, "logDensity" | "sample" | "mean" | "variance" | "checkArguments"> {
  draw(request: DrawRequest): Tensor;
  readonly mean?: (options?: MomentOptions) => Tensor;
  readonly variance?: (options?: MomentOptions) => Tensor;
  readonly checkArguments?: () => void;
}

/** The distribution of a core. Getters stay getters: shapes of random variables are not asked for before they are used. */
export function completed(core: DistributionCore): Distribution {
  const absent = (what: string) => () => {
    throw new UnsupportedError(`${core.name}: no closed form of its ${what}; average draws of sample().`);
  };
  const rest = {
    mean: core.mean ?? absent("mean"),
    variance: core.variance ?? absent("variance"),
    checkArguments() {},
    logDensity: (x: Tensor): Tensor => logDensityOf(core, x),
    sample(key: Key, shape: Shape = core.batchShape, options: DrawOptions = {}): Tensor {
      const dtype = options.dtype ?? (core.support.isDiscrete ? "i32" : floatOf(core.arguments));
      const work = dtype === "f64" || floatOf(core.arguments) === "f64" ? "f64" : "f32";
      checkKey(key, `${core.name}.sample`, "");
      checkBroadcastTo(`${core.name}.sample`, core.batchShape, shape);
      return core.draw({ key, shape, dtype: work, rounded: dtype }).cast(dtype);
    },
  };
  return Object.defineProperties(rest, Object.getOwnPropertyDescriptors(core)) as unknown as Distribution;
}

function logDensityOf(core: DistributionCore, x: Tensor): Tensor {
  if (!(x instanceof Tensor)) throw new ArgumentError(`${core.name}.logDensity: x is ${shown(x)}; make it a tensor.`);
  const value = isFloat(x.dtype) ? x : x.cast(floatOf(core.arguments));
  const { eventShape } = core;
  checkEvent(core.name, eventShape, value.shape);
  const draws = value.shape.slice(0, value.rank - eventShape.length);
  const batch = broadcastShapes(`${core.name}.logDensity`, core.batchShape, draws);
  const each = value.broadcastTo([...batch, ...eventShape]);
  const isNumber = allOverLast(each.isNaN().logicalNot(), eventShape.length);
  return where(isNumber, insideOnly(each, core), Number.NaN);
}

/**
 * The log density, and what is added to it; -Infinity outside the support. The formula sees values inside only: what it makes of
 * others may be NaN, which gradients would not forget.
 */
export function insideOnly(
  x: Tensor,
  { support, eventShape, terms }: Pick<Distribution, "support" | "eventShape" | "terms">,
  more: Term = 0,
): Tensor {
  const inside = eachInside(support, x, eventShape.length);
  const isWhole = eventShape.reduce((each) => each.expandDims(-1), inside);
  const zero = scalarLike(x, 0);
  const { bijection } = support;
  const elsewhere = bijection ? bijection.forward(zero.broadcastTo(bijection.freeShape(x.shape)), x.shape).value : zero;
  const total = tensorOf(sumOfTerms([...terms(where(isWhole, x, elsewhere)), more]), x);
  return where(inside, total, -Infinity);
}

/** Draws of another size would broadcast. */
function checkEvent(name: string, eventShape: Shape, shape: Shape): void {
  if (shape.length >= eventShape.length && sameShape(shape.slice(shape.length - eventShape.length), eventShape)) return;
  throw new ShapeError(
    `${name}.logDensity: one draw has the shape ${formatShape(eventShape)}, and x has ${formatShape(shape)}; ` +
      "its last axes are those of a draw.",
  );
}
