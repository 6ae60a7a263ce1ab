/**
 * Models: `model(fn)` keeps a function that says how data come about; `.given(observed, data)` joins it with data to a
 * `Posterior`. Names come from the keys of what the function returns.
 */

import { checkFunction, checkOptions, type OptionKinds } from "../../core/arguments.js";
import { checkCount } from "../../core/arity.js";
import type { DType } from "../../core/dtype.js";
import { ArgumentError } from "../../core/errors.js";
import { checkKey, type Key } from "../../random/key.js";
import type { Tensor } from "../../tensor/index.js";
import type { RandomVariable } from "../variables/variable.js";
import type { Observation } from "./given-data.js";
import type { Returned } from "./given-model.js";
import { Posterior } from "./posterior.js";
import { simulate } from "./predictive.js";

export type { Returned } from "./given-model.js";

/** The keys of random variables, which are those that can be observed. */
export type RandomKeys<R> = { [K in keyof R]: R[K] extends RandomVariable ? K : never }[keyof R] & string;

/** The data; optional if the function takes none. */
type DataArgument<D> = unknown extends D ? [data?: D] : [data: D];

/** Options of `model.simulate`. */
export interface SimulateOptions {
  /** The dtype of floats: f32, or f64 if some data are f64, or tensors that the function computes with. */
  readonly dtype?: DType;
}

const simulateOptions: OptionKinds<SimulateOptions> = { dtype: "dtype" };

/** A model: a function that declares random variables. `model(f)` makes it. */
export interface Model<D, R extends Returned> {
  /**
   * The distribution of everything else, given values of some variables. `data` is what the function takes; tensors in it
   * may be replaced by others of the same shape without compiling again.
   */
  given<O extends RandomKeys<R> = never>(
    observed: Readonly<Record<O, Observation>>,
    ...data: DataArgument<D>
  ): Posterior<R, O>;
  /** One draw of everything from the prior. */
  simulate(key: Key, ...dataAndOptions: [...DataArgument<D>, options?: SimulateOptions]): Simulated<R>;
}

/** A value for each name. */
export type Simulated<R> = { readonly [K in keyof R]: Tensor };

/**
 * A model: a function of data that makes random variables and returns those worth a name.
 *
 * ```ts
 * const schools = model(({ s }: { s: Tensor }) => {
 *   const mu = normal(0, 5), tau = halfCauchy(5);
 *   const theta = normal(mu, tau).shape(8).noncentered();
 *   return { mu, tau, theta, y: normal(theta, s) };
 * });
 * ```
 *
 * Variables that are used but not returned are sampled under a name of their own ("normal_1"); returned tensors that are
 * no random variables are recorded as they are. The function runs again for every evaluation, so it makes the same
 * variables in the same order each time.
 */
export function model<D, R extends Returned>(fn: (data: D) => R): Model<D, R> {
  checkFunction("model", fn);
  const made: Model<D, R> = {
    given: (...args) => {
      checkCount("given", 2, args);
      const [observed, data] = args;
      return new Posterior(fn, observed, data);
    },
    simulate(key, ...rest) {
      const [data, options = {}] = rest as unknown as [D, SimulateOptions?];
      checkKey(key, "simulate", "");
      checkOptions("simulate", options, simulateOptions);
      return simulate(fn, data, key, options.dtype) as Simulated<R>;
    },
  };
  return Object.defineProperties(made, withoutData);
}

/** Methods of `Posterior`, which a model has only when it has data: calling one on the model says so. */
const withoutData = Object.fromEntries(
  Object.entries(Object.getOwnPropertyDescriptors(Posterior.prototype)).flatMap(([name, { value }]) => {
    if (typeof value !== "function" || name === "constructor") return [];
    const refuse = () => {
      throw new ArgumentError(
        `model: ${name} needs to know what is observed; call given first: model(fn).given({ y }, { x }).${name}(…), ` +
          "or given({}) where nothing is.",
      );
    };
    return [[name, { value: refuse }]];
  }),
);
