/** A factor of all updates that is part of the optimiser's state: handlers and `reduceOnPlateau` set it without a new program. */
import { full, type Tensor } from "../../tensor/index.js";
import { unflatten } from "../../transforms/trees.js";
import { besideParams, flatParams, type Optimizer, type OptimizerState, scalarIn } from "../optimizers/optimizer.js";

const OPERATION = "train, the rate";

/** The optimiser, whose updates are multiplied by `factor` of its state. */
export function withRateFactor(optimizer: Optimizer): Optimizer {
  return {
    init(params) {
      const { leaves } = flatParams(OPERATION, params);
      const factor = full([], 1, { dtype: "f32", device: leaves[0]?.device }) as Tensor;
      return { factor, inner: optimizer.init(params) };
    },
    update<P>(gradients: P, state: OptimizerState, params: P, extras = {}): [P, OptimizerState] {
      const factor = scalarIn(OPERATION, state, "factor");
      const before = state.inner as OptimizerState;
      // As a part of the rate it costs nothing for each parameter.
      if (optimizer.takesFactor) {
        const [updates, inner] = optimizer.update(gradients, before, params, { ...extras, factor });
        return [updates, { factor, inner }];
      }
      const [updates, inner] = optimizer.update(gradients, before, params, extras);
      const flat = flatParams(OPERATION, params);
      const scaled = besideParams(OPERATION, "the updates", flat, updates).map((each) =>
        each.mul(factor.cast(each.dtype)),
      );
      return [unflatten(flat.structure, scaled) as P, { factor, inner }];
    },
  };
}

/** The same state with another factor; looked for below the wrappers of model-trainer.ts. */
export function withFactor(state: OptimizerState, factor: number): OptimizerState {
  const own = state.factor as Tensor | undefined;
  if (own === undefined) return { ...state, inner: withFactor(state.inner as OptimizerState, factor) };
  return { ...state, factor: full([], factor, { dtype: "f32", device: own.device }).realize() as Tensor };
}
