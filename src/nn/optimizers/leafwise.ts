/**
 * Optimisers that treat one parameter at a time: almost all. A definition lists what is kept for each parameter and gives the
 * update of one; this file walks the trees, counts steps, resolves the learning rate, and computes in f32 where parameters
 * are narrower. Scalars are computed once for all parameters.
 */
import type { DType } from "../../core/dtype.js";
import { type Tensor, zeros, zerosLike } from "../../tensor/index.js";
import { unflatten } from "../../transforms/trees.js";
import {
  besideParams,
  type FlatParams,
  flatParams,
  type Optimizer,
  type OptimizerState,
  partOf,
  printedAs,
  scalarDType,
  scalarIn,
  shownOptions,
  takingFactor,
  type UpdateExtras,
  wideDType,
  widened,
} from "./optimizer.js";
import { type Amount, checkRate, type MaybeRate, NO_RATE, rateAt, times } from "./rate.js";

/** One parameter at one step. All tensors are in f32 or wider. */
export interface Leaf {
  readonly param: Tensor;
  readonly path: string;
  readonly index: number;
}

/** Tensors that are kept for a parameter, by name. */
export type Slots<N extends string> = { readonly [K in N]: Tensor };

/** Scalars of a step. */
export interface StepScalars {
  /** 1 at the first step; a float. */
  readonly count: Tensor;
  readonly rate: Amount;
  readonly params: FlatParams;
  /** Scalars that are kept, after this step. */
  readonly kept: Readonly<Record<string, Tensor>>;
}

/** A scalar that is kept once for all parameters. */
interface KeptScalar {
  readonly first: number;
  next(before: Tensor, count: Tensor): Tensor;
}

/** Definition of an optimiser by one parameter. C are the scalars that all parameters share. */
interface LeafRule<N extends string, C> {
  readonly rate: MaybeRate;
  /** The rate is a factor of either sign. */
  readonly hasFactor?: boolean;
  /** First values of what is kept, given the parameter. */
  readonly slots: { readonly [K in N]: (param: Tensor) => Tensor };
  /** The state has shapes of its own. */
  readonly hasOwnShapes?: boolean;
  readonly scalars?: Readonly<Record<string, KeptScalar>>;
  /** Options as the user gave them, to print. */
  readonly options?: object;
  /** Updates are proportional to the rate, and nothing that is kept depends on it: a factor of all updates is one of the rate. */
  readonly isProportional?: boolean;
  /** Whether `shared` looks at the count. Schedules count anyway. */
  readonly isCounting?: boolean;
  shared(step: StepScalars): C;
  rule(gradient: Tensor, slots: Slots<N>, shared: C, leaf: Leaf): [update: Tensor, slots: Slots<N>];
}

/** First values: zeros in the dtype of averages. */
export const zerosFor = (param: Tensor): Tensor => zerosLike(param, { dtype: wideDType(param.dtype) }) as Tensor;

/** A count of steps, 0, where the parameters are. */
export const firstCount = ({ leaves }: FlatParams): Tensor =>
  zeros([], { dtype: "i32", device: leaves[0]?.device }) as Tensor;

/** An optimiser from the rule for one parameter. */
export function leafwise<N extends string, C>(operation: string, definition: LeafRule<N, C>): Optimizer {
  const { slots, shared, rule, scalars = {}, hasOwnShapes = false, hasFactor = false } = definition;
  // Rules step against their direction: a rate of -1 gives the direction itself, without rounding.
  const rate = definition.rate === NO_RATE ? -1 : definition.rate;
  if (definition.rate !== NO_RATE) checkRate(operation, rate, hasFactor);
  const isCounting = definition.isCounting === true || typeof rate === "function";
  const names = Object.keys(slots) as N[];
  const shownRate = typeof rate === "number" ? String(rate) : typeof rate === "function" ? "a schedule" : "a tensor";
  const made: Optimizer = {
    init(params) {
      const flat = flatParams(operation, params);
      const kept = names.map((name) => [name, unflatten(flat.structure, flat.leaves.map(slots[name]))]);
      const single = mapValues(scalars, ({ first }) => firstCount(flat).add(first).cast(scalarDType(flat.leaves)));
      return { ...(isCounting ? { count: firstCount(flat) } : {}), ...single, ...Object.fromEntries(kept) };
    },
    update<P>(gradients: P, state: OptimizerState, params: P, extras: UpdateExtras = {}): [P, OptimizerState] {
      const flat = flatParams(operation, params);
      const given = besideParams(operation, "the gradients", flat, gradients);
      const before = names.map((name) =>
        besideParams(operation, `"${name}" of the state`, flat, partOf(operation, state, name), !hasOwnShapes),
      );
      const dtype = scalarDType(flat.leaves);
      const whole = isCounting ? scalarIn(operation, state, "count").add(1) : null;
      const count = (whole ?? firstCount(flat)).cast(dtype) as Tensor;
      const single = mapValues(scalars, ({ next }, name) => next(scalarIn(operation, state, name), count));
      const own = rateAt(rate, count, dtype);
      const factor = definition.isProportional ? extras.factor : undefined;
      const now = factor === undefined ? own : times(own, factor.cast(dtype) as Tensor);
      const common = shared({ count, rate: now, params: flat, kept: single });
      const results = flat.leaves.map((param, index) => {
        const own = Object.fromEntries(names.map((name, k) => [name, before[k]?.[index]])) as Slots<N>;
        const leaf = { param: widened(param), path: flat.paths[index] as string, index };
        return rule(widened(given[index] as Tensor), own, common, leaf);
      });
      const back = (values: readonly Tensor[]) => unflatten(flat.structure, values);
      const updates = results.map(([update], i) => inDType(update, wideDType((flat.leaves[i] as Tensor).dtype)));
      const after = names.map((name, k) => [
        name,
        back(results.map(([, own], i) => inDType(own[name], ((before[k] as Tensor[])[i] as Tensor).dtype))),
      ]);
      return [back(updates) as P, { ...(whole ? { count: whole } : {}), ...single, ...Object.fromEntries(after) }];
    },
  };
  const text = `${operation}(${shownRate}${shownOptions(definition.options ?? {})})`;
  return printedAs(text, takingFactor(definition.isProportional === true, made));
}

/** Scalars of f64 beside parameters of f32 do not widen what is kept. */
const inDType = (x: Tensor, dtype: DType): Tensor => (x.dtype === dtype ? x : (x.cast(dtype) as Tensor));

const mapValues = <V>(
  object: Readonly<Record<string, V>>,
  f: (value: V, name: string) => Tensor,
): Record<string, Tensor> => Object.fromEntries(Object.entries(object).map(([name, value]) => [name, f(value, name)]));
