/** Gradients of several steps as one: a large batch in small parts. */
import { checkWhole } from "../../core/arguments.js";
import { ShapeError } from "../../core/errors.js";
import { formatShape } from "../../core/shape.js";
import { full, type Tensor, where, zeros, zerosLike } from "../../tensor/index.js";
import { cond } from "../../transforms/control.js";
import { unflatten } from "../../transforms/trees.js";
import { firstCount, zerosFor } from "./leafwise.js";
import {
  besideParams,
  checkOptimizer,
  describedOptimizer,
  type FlatParams,
  flatParams,
  type Optimizer,
  type OptimizerState,
  partOf,
  printedAs,
  scalarDType,
  scalarIn,
  stateIn,
  type UpdateExtras,
  widened,
} from "./optimizer.js";

/**
 * The optimiser on the mean gradient of every `steps` steps; updates are zero in between. Where steps tell their `count`, as `train` does, a
 * step counts by it: the mean is the gradient of all the steps' examples.
 */
export function accumulate(optimizer: Optimizer, steps: number): Optimizer {
  checkOptimizer("accumulate", optimizer);
  checkWhole("accumulate", "the number of steps", steps, 1);
  return printedAs(`accumulate(${describedOptimizer(optimizer)}, ${steps})`, {
    init(params) {
      const flat = flatParams("accumulate", params);
      const sum = unflatten(flat.structure, flat.leaves.map(zerosFor)) as OptimizerState;
      return { count: firstCount(flat), weight: noWeight(flat), sum, inner: optimizer.init(params) };
    },
    update<P>(gradients: P, state: OptimizerState, params: P, extras: UpdateExtras = {}): [P, OptimizerState] {
      const flat = flatParams("accumulate", params);
      const given = besideParams("accumulate", "the gradients", flat, gradients).map(widened);
      const before = besideParams("accumulate", `"sum" of the state`, flat, partOf("accumulate", state, "sum"));
      const inner = stateIn("accumulate", state, "inner");
      const count = scalarIn("accumulate", state, "count").add(1);
      const isLast = count.greaterEqual(steps);
      const back = (values: readonly Tensor[]) => unflatten(flat.structure, values) as P;
      const weight = weightIn(flat, extras.count);
      const isEmpty = weight.equal(0);
      const sums = given.map((each, i) =>
        (before[i] as Tensor).add(where(isEmpty, 0, each.mul(weight.cast(each.dtype)))),
      );
      const total = scalarIn("accumulate", state, "weight").add(weight) as Tensor;
      const divisor = where(total.equal(0), 1, total) as Tensor;
      const mean = () => back(sums.map((each) => each.div(divisor.cast(each.dtype)) as Tensor));
      const [updates, after] = cond(
        isLast,
        () => optimizer.update(mean(), inner, params, { ...extras, count: total }),
        () => [back(sums.map((each) => zerosLike(each))), inner] as [P, OptimizerState],
      );
      const kept = sums.map((each) => where(isLast, 0, each) as Tensor);
      const sum = back(kept) as OptimizerState;
      const [nextCount, nextWeight] = [count, total].map((each) => where(isLast, 0, each)) as [Tensor, Tensor];
      return [updates, { count: nextCount, weight: nextWeight, sum, inner: after }];
    },
  });
}

const noWeight = ({ leaves }: FlatParams): Tensor =>
  zeros([], { dtype: scalarDType(leaves), device: leaves[0]?.device }) as Tensor;

/** How much a step counts. */
function weightIn({ leaves }: FlatParams, count: Tensor | number = 1): Tensor {
  const dtype = scalarDType(leaves);
  if (typeof count === "number") return full([], count, { dtype, device: leaves[0]?.device }) as Tensor;
  if (count.rank === 0) return count.cast(dtype) as Tensor;
  throw new ShapeError(
    `accumulate: the count of a step is one number, not a tensor of shape ${formatShape(count.shape)}.`,
  );
}
