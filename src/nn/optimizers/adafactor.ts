/**
 * Adafactor (Shazeer & Stern 2018), as PyTorch has it: squares of the gradients of a matrix are kept as one average for each
 * row and column, so that the state of a large model is small. Steps are relative to the size of the parameter.
 */
import { checkOptions } from "../../core/arguments.js";
import { type Tensor, zeros } from "../../tensor/index.js";
import { leafwise, zerosFor } from "./leafwise.js";
import { type Optimizer, wideDType } from "./optimizer.js";
import { checkNotNegative, checkPair } from "./options.js";
import { type Amount, type Rate, times } from "./rate.js";
import { type Mask, selected } from "./selection.js";

/** Options of `adafactor`. */
export interface AdafactorOptions {
  /** The newest squares count by step^decay; -0.8. */
  readonly decay?: number;
  /** Squares count as at least the first one's square; parameters are as large as the second one at least; [2e-16 or 1e-7, 1e-3]. */
  readonly epsilons?: readonly [square: number, size: number];
  /** Updates whose root mean square is larger are made so small; 1. */
  readonly clip?: number;
  /** Weights shrink by this share of the rate; 0. */
  readonly weightDecay?: number;
  /** Parameters whose weights shrink; all. */
  readonly mask?: Mask;
}

const isFactored = (param: Tensor): boolean => param.rank > 1;

/** Averages over the last axis, or over the one before it. A vector has no columns: one number stands for them. */
function emptySums(param: Tensor, axis: -1 | -2): Tensor {
  if (!isFactored(param)) return axis === -1 ? zerosFor(param) : zeros([], optionsOf(param));
  const shape = param.shape.map((extent, i) => (i === param.rank + axis ? 1 : extent));
  return zeros(shape, optionsOf(param)) as Tensor;
}

const optionsOf = (param: Tensor) => ({ dtype: wideDType(param.dtype), device: param.device });

/** The smallest step of a dtype at 1, as PyTorch's default has it. */
const stepOf = (x: Tensor): number => (x.dtype === "f64" ? 2 ** -52 : 2 ** -23);

const rootMeanSquare = (x: Tensor): Tensor => x.square().mean().sqrt();

/** Adafactor: `adafactor(1e-2)`. The rate is relative to the size of each parameter. */
export function adafactor(rate: Rate = 1e-2, options: AdafactorOptions = {}): Optimizer {
  checkOptions("adafactor", options, {
    decay: "number",
    epsilons: "list",
    clip: "number",
    weightDecay: "number",
    mask: "any",
  });
  const { decay = -0.8, epsilons, clip = 1, weightDecay = 0, mask = true } = options;
  if (epsilons) checkPair("adafactor", "epsilons", epsilons);
  for (const epsilon of epsilons ?? []) checkNotNegative("adafactor", "epsilons", epsilon);
  return leafwise("adafactor", {
    rate,
    options,
    isCounting: true,
    hasOwnShapes: true,
    slots: { rows: (param) => emptySums(param, -1), columns: (param) => emptySums(param, -2) },
    shared: ({ count, rate, params }) => ({
      newest: count.log().mul(decay).exp(),
      length: least(count.rsqrt(), rate),
      shrink: times(rate, -weightDecay),
      isDecayed: selected("adafactor", mask, params),
    }),
    rule(g, slots, { newest, length, shrink, isDecayed }, { param, index }) {
      const small = epsilons?.[0] ?? stepOf(param);
      const [estimate, next] = squaresOf(g, slots, newest, small);
      const direction = g.mul(estimate.maximum(small * small).rsqrt());
      const excess = rootMeanSquare(direction).div(clip).maximum(1);
      const size = rootMeanSquare(param).maximum(epsilons?.[1] ?? 1e-3);
      const update = direction.mul(size.mul(length).div(excess).neg());
      return [weightDecay !== 0 && isDecayed[index] ? update.add(param.mul(shrink)) : update, next];
    },
  });
}

const least = (a: Tensor, b: Amount): Tensor => a.minimum(b);

type Sums = { readonly rows: Tensor; readonly columns: Tensor };

/** The estimate of squared gradients, and the averages that it is made of. */
function squaresOf(g: Tensor, { rows, columns }: Sums, newest: Tensor, small: number): [Tensor, Sums] {
  const toward = (before: Tensor, now: Tensor) => before.add(now.sub(before).mul(newest));
  const squares = g.square();
  if (!isFactored(g)) {
    const next = toward(rows, squares);
    return [next, { rows: next, columns }];
  }
  const nextRows = toward(rows, squares.mean({ axis: -1, keepDims: true }));
  const nextColumns = toward(columns, squares.mean({ axis: -2, keepDims: true }));
  const total = nextRows.mean({ axis: -2, keepDims: true }).maximum(small);
  return [nextRows.mul(nextColumns).div(total), { rows: nextRows, columns: nextColumns }];
}
