/** Gradients of several steps as one: a large batch in small parts. */
import { checkWhole } from "../../core/arguments.js";
import { type Tensor, where, zerosLike } from "../../tensor/index.js";
import { cond } from "../../transforms/control.js";
import { unflatten } from "../../transforms/trees.js";
import { firstCount, zerosFor } from "./leafwise.js";
import {
  besideParams,
  checkOptimizer,
  describedOptimizer,
  flatParams,
  type Optimizer,
  type OptimizerState,
  partOf,
  printedAs,
  scalarIn,
  stateIn,
  widened,
} from "./optimizer.js";

/** The optimiser on the mean gradient of every `steps` steps; updates are zero in between. */
export function accumulate(optimizer: Optimizer, steps: number): Optimizer {
  checkOptimizer("accumulate", optimizer);
  checkWhole("accumulate", "the number of steps", steps, 1);
  return printedAs(`accumulate(${describedOptimizer(optimizer)}, ${steps})`, {
    init(params) {
      const flat = flatParams("accumulate", params);
      const sum = unflatten(flat.structure, flat.leaves.map(zerosFor)) as OptimizerState;
      return { count: firstCount(flat), sum, inner: optimizer.init(params) };
    },
    update<P>(gradients: P, state: OptimizerState, params: P, extras = {}): [P, OptimizerState] {
      const flat = flatParams("accumulate", params);
      const given = besideParams("accumulate", "the gradients", flat, gradients).map(widened);
      const before = besideParams("accumulate", `"sum" of the state`, flat, partOf("accumulate", state, "sum"));
      const inner = stateIn("accumulate", state, "inner");
      const count = scalarIn("accumulate", state, "count").add(1);
      const isLast = count.greaterEqual(steps);
      const back = (values: readonly Tensor[]) => unflatten(flat.structure, values) as P;
      const sums = given.map((each, i) => each.add(before[i] as Tensor));
      const [updates, after] = cond(
        isLast,
        () => optimizer.update(back(sums.map((each) => each.div(steps))), inner, params, extras),
        () => [back(sums.map((each) => zerosLike(each))), inner] as [P, OptimizerState],
      );
      const kept = sums.map((each) => where(isLast, 0, each) as Tensor);
      const sum = back(kept) as OptimizerState;
      return [updates, { count: where(isLast, 0, count) as Tensor, sum, inner: after }];
    },
  });
}
