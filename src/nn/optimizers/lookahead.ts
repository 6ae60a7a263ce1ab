/** Averages of weights: lookahead, which trains with them, and an exponential moving average to evaluate with. */
import { checkOptions, checkWhole } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { isTensor, type Tensor, where } from "../../tensor/index.js";
import { stopGradient } from "../../transforms/grad.js";
import { unflatten } from "../../transforms/trees.js";
import { firstCount } from "./leafwise.js";
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
  scalarIn,
  shownOptions,
  stateIn,
  widened,
} from "./optimizer.js";
import { checkShare } from "./options.js";

/** Options of `lookahead`. */
export interface LookaheadOptions {
  /** Steps between two looks; 6. */
  readonly every?: number;
  /** The share of the way that slow weights go; 0.5. */
  readonly share?: number;
}

/** Weights as state: handles of their own, so that a program may be given the parameters. */
export const copyOf = ({ structure, leaves }: FlatParams): OptimizerState =>
  unflatten(
    structure,
    leaves.map((leaf) => stopGradient(widened(leaf))),
  ) as OptimizerState;

/** Slow weights that go part of the way to the fast ones every few steps, which then begin there (Zhang et al. 2019). */
export function lookahead(optimizer: Optimizer, options: LookaheadOptions = {}): Optimizer {
  checkOptimizer("lookahead", optimizer);
  checkOptions("lookahead", options, { every: "number", share: "number" });
  const { every = 6, share = 0.5 } = options;
  checkWhole("lookahead", "every", every, 1);
  if (!(share > 0 && share <= 1))
    throw new ArgumentError(`lookahead: the option share is above 0 and at most 1, not ${shown(share)}.`);
  return printedAs(`lookahead(${describedOptimizer(optimizer)}${shownOptions(options)})`, {
    init(params) {
      const flat = flatParams("lookahead", params);
      return { count: firstCount(flat), slow: copyOf(flat), inner: optimizer.init(params) };
    },
    update<P>(gradients: P, state: OptimizerState, params: P, extras = {}): [P, OptimizerState] {
      const flat = flatParams("lookahead", params);
      const [fast, inner] = optimizer.update(gradients, stateIn("lookahead", state, "inner"), params, extras);
      const slow = besideParams("lookahead", `"slow" of the state`, flat, partOf("lookahead", state, "slow"));
      const moves = besideParams("lookahead", "the updates", flat, fast);
      const count = scalarIn("lookahead", state, "count").add(1);
      const isLook = count.greaterEqual(every);
      const results = flat.leaves.map((leaf, i) => {
        const [param, before, move] = [widened(leaf), slow[i] as Tensor, widened(moves[i] as Tensor)];
        const next = before.add(param.add(move).sub(before).mul(share));
        return { slow: where(isLook, next, before) as Tensor, update: where(isLook, next.sub(param), move) as Tensor };
      });
      const back = (values: readonly Tensor[]) => unflatten(flat.structure, values);
      return [
        back(results.map(({ update }) => update)) as P,
        {
          count: where(isLook, 0, count) as Tensor,
          slow: back(results.map((each) => each.slow)) as OptimizerState,
          inner,
        },
      ];
    },
  });
}

/** A moving average of the weights, to evaluate with: put it last in a chain. `averagedWeights(state)` are the weights. */
export function emaOfWeights(options: { readonly decay?: number } = {}): Optimizer {
  checkOptions("emaOfWeights", options, { decay: "number" });
  const { decay = 0.999 } = options;
  checkShare("emaOfWeights", "decay", decay);
  return printedAs(`emaOfWeights(${shownOptions(options).slice(2)})`, {
    init: (params) => ({ averagedWeights: copyOf(flatParams("emaOfWeights", params)) }),
    update(updates, state, params) {
      const flat = flatParams("emaOfWeights", params);
      const moves = besideParams("emaOfWeights", "the updates", flat, updates);
      const part = partOf("emaOfWeights", state, "averagedWeights");
      const before = besideParams("emaOfWeights", `"averagedWeights" of the state`, flat, part);
      const next = flat.leaves.map((leaf, i) => {
        const [old, param] = [before[i] as Tensor, widened(leaf).add(widened(moves[i] as Tensor))];
        // In this form the average of weights that stay is these weights, to the last bit.
        return old.add(param.sub(old).mul(1 - decay));
      });
      return [updates, { averagedWeights: unflatten(flat.structure, next) as OptimizerState }];
    },
  });
}

/**
 * The averaged weights in the state of an optimiser that has `emaOfWeights` in it. `params`: where the rest comes from, since
 * training shows frozen parameters to no optimiser: `averagedWeights(trained.optimizerState, trained.params)`.
 */
export function averagedWeights<P>(state: OptimizerState, params?: P): P {
  const found = findAverage(state);
  if (found !== undefined) return (params === undefined ? found : filled(found, params)) as P;
  throw new ArgumentError("averagedWeights: this state has none; put emaOfWeights() last in the chain.");
}

/** A tree of parameters, with averages in the place of those that have one. */
function filled(averages: unknown, params: unknown): unknown {
  if (isTensor(params) || typeof params !== "object" || params === null) return averages ?? params;
  const own = (averages ?? {}) as Readonly<Record<string, unknown>>;
  return Object.fromEntries(Object.entries(params).map(([name, each]) => [name, filled(own[name], each)]));
}

function findAverage(state: Tensor | OptimizerState): Tensor | OptimizerState | undefined {
  if (typeof state !== "object" || state === null || isTensor(state)) return undefined;
  if (Object.hasOwn(state, "averagedWeights")) return state.averagedWeights;
  for (const part of Object.values(state)) {
    const found = findAverage(part);
    if (found !== undefined) return found;
  }
  return undefined;
}
