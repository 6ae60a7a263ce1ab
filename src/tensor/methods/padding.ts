/** Methods of `Tensor`: `pad`, with a value or with the tensor's own elements. */
import { checkOptions } from "../../core/arguments.js";
import { type DType, positionDType, type Scalar } from "../../core/dtype.js";
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { checkShape, formatShape } from "../../core/shape.js";
import { remedyForTensor, shown } from "../../core/shown.js";
import { scalarIn } from "../../core/storage.js";
import * as M from "../../graph/primitives/movement.js";
import { derive, scalarNode } from "../build.js";
import type { Tensor } from "../tensor.js";
import { modulo, wrapped } from "./movement.js";
import { apartFrom, countingLike } from "./operands.js";
import { where } from "./where.js";

const PAD_MODES = ["constant", "edge", "reflect", "symmetric", "wrap"] as const;

/** The elements around a padded tensor. */
export type PadMode = (typeof PAD_MODES)[number];

/** Options of `pad`. */
export interface PadOptions {
  /**
   * "constant" unless told: `value`. The others pad with the tensor's own elements: the nearest ("edge"), those met on the
   * way back ("reflect" leaves the end out, "symmetric" repeats it), those at the other end ("wrap").
   */
  readonly mode?: PadMode;
  /** With mode "constant": 0 unless told. */
  readonly value?: Scalar;
  /** With mode "constant": how many values are put between neighbours, for each axis. */
  readonly interior?: readonly number[];
}

/** [before, after] for each axis. */
type Amounts = readonly (readonly [number, number])[];

export class PaddingMethods<D extends DType> {
  /**
   * Surrounds the tensor: [before, after] for each axis. `x.pad([[1, 1], [0, 2]], { value: 9 })`, or with its own elements,
   * `x.pad([[1, 1], [0, 2]], { mode: "edge" })`. Negative amounts cut off; what is added at the other end is as without.
   */
  pad(this: Tensor, amounts: Amounts, options: PadOptions = {}): Tensor<D> {
    checkOptions("pad", options, { mode: "text", value: "any", interior: "list" });
    checkPairs(this, amounts);
    const { mode = "constant", interior = [] } = options;
    if (options.interior && interior.length !== this.rank) {
      throw new ArgumentError(`pad: interior ${formatShape(interior)} for ${this.rank} axes; give a number for each.`);
    }
    checkShape(interior, "pad, interior");
    if (!PAD_MODES.includes(mode)) {
      throw new ArgumentError(`pad: there is no mode "${mode}"; use one of ${PAD_MODES.join(", ")}.`);
    }
    const unused =
      mode === "constant" ? undefined : (["value", "interior"] as const).find((name) => options[name] !== undefined);
    if (unused) throw new ArgumentError(`pad: ${unused} goes with mode "constant"; "${mode}" pads with what is there.`);
    return mode === "constant"
      ? padByValue(this, amounts, options)
      : (apartFrom(this, padBySelf(this, mode, amounts)) as Tensor<D>);
  }
}

function checkPairs(x: Tensor, amounts: Amounts): void {
  const isPair = (pair: unknown) => Array.isArray(pair) && pair.length === 2 && pair.every(Number.isSafeInteger);
  if (Array.isArray(amounts) && amounts.length === x.rank && amounts.every(isPair)) return;
  throw new ArgumentError(
    `pad: ${shown(amounts)} for ${x.rank} axes; give [before, after] for each, as in ` +
      `[${x.shape.map(() => "[0, 1]").join(", ")}].${remedyForTensor(amounts)}`,
  );
}

function padByValue<D extends DType>(x: Tensor, amounts: Amounts, options: PadOptions): Tensor<D> {
  const low = amounts.map(([before]) => before);
  const high = amounts.map(([, after]) => after);
  const interior = options.interior ?? x.node.shape.map(() => 0);
  const amount = { low, high, interior: [...interior] };
  const value = scalarIn(options.value ?? 0, x.dtype, "pad");
  const padded: Tensor<D> = x.tensorOf(derive(M.pad, x.node, { ...amount, value: scalarIn(0, x.dtype, "pad") }));
  if (Object.is(value, 0) || value === 0n || value === false) return padded;
  // A number beside the padding, not one in its parameters: another value takes no other program.
  const own = scalarNode(true, "bool", x.node.device, x.node.shape);
  return where(x.tensorOf(derive(M.pad, own, { ...amount, value: false })), padded, value) as Tensor<D>;
}

/** The positions along an axis of n elements that a padded axis reads. */
function paddedPositions(mode: "edge" | "reflect" | "symmetric", at: Tensor, n: number): Tensor {
  if (mode === "edge") return at.clip(0, n - 1);
  if (n === 1) return at.mul(0);
  // Going back and forth: the way there and back has 2n - 2 elements when the ends are not repeated, else 2n.
  const period = mode === "reflect" ? 2 * n - 2 : 2 * n;
  const into = at.remainder(period);
  const back = into.neg().add(mode === "reflect" ? period : period - 1);
  return into.minimum(back);
}

function padBySelf<D extends DType>(
  tensor: Tensor<D>,
  mode: Exclude<PadMode, "constant">,
  amounts: Amounts,
): Tensor<D> {
  for (const [axis, pair] of amounts.entries()) {
    if (tensor.shape[axis] === 0 && pair.some((amount) => amount > 0)) {
      throw new ShapeError(`pad: axis ${axis} of ${formatShape(tensor.shape)} has no elements to pad with.`);
    }
  }
  const shape = tensor.shape.map((extent, axis) => extent + amounts[axis][0] + amounts[axis][1]);
  const cut = shape.findIndex((extent) => extent < 0);
  if (cut >= 0) {
    throw new ShapeError(
      `pad: ${shown(amounts[cut])} cuts more off axis ${cut} of ${formatShape(tensor.shape)} than it has elements.`,
    );
  }
  if (mode === "wrap") {
    return wrapped(
      tensor,
      tensor.shape.map((extent, axis) => modulo(-amounts[axis][0], extent)),
      shape,
    );
  }
  return amounts.reduce<Tensor<D>>((x, [before, after], axis) => {
    if (before === 0 && after === 0) return x;
    const n = x.shape[axis];
    const counted = countingLike(x, shape[axis]).cast(positionDType(Math.max(shape[axis], 2 * n, n + after)));
    return x.take(paddedPositions(mode, counted.sub(before), n), { axis });
  }, tensor);
}
