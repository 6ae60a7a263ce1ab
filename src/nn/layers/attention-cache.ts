/**
 * Caches for generation: the keys and values that attention layers have seen, in tensors of fixed size, so that one compiled program computes
 * token after token. A cache is state: `attentionCache` makes it, `applyWithState` takes it and gives the next one.
 */
import { checkOptions, checkWhole } from "../../core/arguments.js";
import type { DType } from "../../core/dtype.js";
import { ArgumentError, ShapeError } from "../../core/errors.js";
import type { Shape } from "../../core/shape.js";
import { key as keyOf } from "../../random/index.js";
import { arange, type Tensor, where, zeros } from "../../tensor/index.js";
import { cond } from "../../transforms/control.js";
import { leaves } from "../../transforms/tree.js";
import type { Initializer } from "../core/initializer.js";
import type { InputSpec } from "../core/input-spec.js";
import type { AnyLayer } from "../core/layer.js";
import type { Scope } from "../core/scope.js";
import { finished, isSubtree, type VariableTree } from "../core/variables.js";

/** Options of `attentionCache`. */
export interface AttentionCacheOptions {
  /** The most tokens that the cache holds, those of the prompt included. */
  readonly capacity: number;
  readonly device?: string;
}

/** The name of a layer's cache among its state. */
const CACHE = "cache";

/**
 * Empty caches for a model's layers of attention and of positions, as state: `attentionCache(model, { shape: [1, 1], dtype: "i32" }, { capacity:
 * 1024 })`. The input is that of one call, with its batch; its number of tokens does not matter. Each layer's cache is { keys, values, length }.
 */
export function attentionCache(model: AnyLayer, input: InputSpec, options: AttentionCacheOptions): VariableTree {
  checkOptions("attentionCache", options, { capacity: "number", device: "text" });
  const capacity = checkWhole("attentionCache", "the capacity", options.capacity, 1);
  const key = options.device === undefined ? keyOf(0) : keyOf(0, { device: options.device });
  const { newState } = model.initialized(key, input, [], capacity);
  const caches = cachesIn(finished(newState));
  if (caches) {
    for (const leaf of leaves(caches)) leaf.realize();
    return caches;
  }
  throw new ArgumentError(`attentionCache: the model ${model.kind} has no layers of attention or of positions.`);
}

/** The caches of a tree of state, without the other state; null where there are none. */
function cachesIn(state: VariableTree): VariableTree | null {
  const found = Object.entries(state).flatMap(([name, value]) => {
    if (!isSubtree(value)) return [];
    const below = name === CACHE ? value : cachesIn(value);
    return below ? [[name, below] as const] : [];
  });
  return found.length > 0 ? Object.fromEntries(found) : null;
}

/** Where a run stands in a sequence: positions of its tokens, from 0 on, and how many there are with those before. */
export interface Place {
  readonly positions: Tensor;
  /** Null without a cache: then positions begin at 0. */
  readonly length: Tensor | null;
}

/** Tokens of the cache with the new ones. */
export interface Remembered extends Place {
  readonly keys: Tensor;
  readonly values: Tensor;
  /** NaN instead of results that the cache had no room for. */
  checked(result: Tensor): Tensor;
}

/** The positions of so many tokens; the layer's cache, if the run has one, counts on. */
export function placeOf(scope: Scope, tokens: number, device: string): Place {
  const own = arange(tokens, { dtype: "i32", device }) as Tensor;
  const cache = cacheOf(scope, "length");
  if (!cache) return { positions: own, length: null };
  const before = cache.state("length", [], emptyOf("i32"));
  const length = before.add(tokens) as Tensor;
  keep(cache, "length", length);
  return { positions: own.add(before) as Tensor, length };
}

/** The keys and values of all tokens so far, by the layer's cache; null where the run has none. */
export function remembered(scope: Scope, place: Place, keys: Tensor, values: Tensor): Remembered | null {
  const cache = scope.inside(CACHE, CACHE);
  const capacity = cache.stateIfAny("keys")?.value.shape.at(-2) ?? scope.run.cacheCapacity;
  if (place.length === null || capacity === null) return null;
  const tokens = keys.shape[keys.rank - 2] as number;
  if (tokens > capacity) {
    throw new ShapeError(
      `${scope.kind}: ${tokens} tokens for a cache of ${capacity}; make one with a larger capacity by attentionCache.`,
    );
  }
  const together = (name: string, now: Tensor): Tensor => {
    const shape = [...now.shape.slice(0, -2), capacity, now.shape[now.rank - 1] as number];
    const next = withNew(cache.state(name, shape, emptyOf(now.dtype)), now, place.positions);
    keep(cache, name, next);
    return next;
  };
  const fits = place.length.lessEqual(capacity);
  const checked = (result: Tensor): Tensor => where(fits, result, Number.NaN).cast(result.dtype) as Tensor;
  return { ...place, keys: together("keys", keys), values: together("values", values), checked };
}

/**
 * The keys and values of a memory. The first run with a cache computes and keeps them, and those that follow read them; `place` is that of the
 * tokens that look at the memory.
 */
export function keptForMemory(scope: Scope, place: Place, tokens: number, make: () => Projected): Projected {
  if (place.length === null) return make();
  const cache = scope.inside(CACHE, CACHE);
  const kept = [cache.stateIfAny("keys")?.value, cache.stateIfAny("values")?.value];
  if (scope.isInitializing) {
    const made = make();
    for (const name of ["keys", "values"] as const) cache.state(name, made[name].shape, emptyOf(made[name].dtype));
    return made;
  }
  const [keys, values] = kept;
  if (!keys || !values)
    throw new ArgumentError(`${scope.label}: its cache has no keys; make it by attentionCache with { x, memory }.`);
  const now = cond(place.length.equal(tokens), make, () => ({ keys, values }));
  keep(cache, "keys", now.keys);
  keep(cache, "values", now.values);
  return now;
}

/** Keys and values by head. */
export interface Projected {
  readonly keys: Tensor;
  readonly values: Tensor;
}

/**
 * The cache [..., capacity, size] with new tokens at their positions, which follow one another. Each place looks for its token: one kernel, where
 * writing at positions would take several.
 */
function withNew(old: Tensor, now: Tensor, positions: Tensor): Tensor {
  const [capacity, tokens] = [old.shape[old.rank - 2], now.shape[now.rank - 2]] as [number, number];
  if (tokens === 0) return old;
  const token = arange(capacity, { dtype: "i32", device: old.device }).sub(positions.at(0));
  const isNew = token.greaterEqual(0).logicalAnd(token.less(tokens)).expandDims(1);
  const found = tokens === 1 ? now : now.take(token.clip(0, tokens - 1), { axis: now.rank - 2 });
  return where(isNew, found, old) as Tensor;
}

/** The scope of a layer's cache, if the run has one or makes one. */
function cacheOf(scope: Scope, name: string): Scope | null {
  const cache = scope.inside(CACHE, CACHE);
  const found = cache.stateIfAny(name);
  if (!found) return scope.run.cacheCapacity === null ? null : cache;
  if (!found.isNew) return cache;
  throw new ArgumentError(
    `${scope.label} is called twice in a run with a cache, which holds the tokens of one call; give each call a layer of its own.`,
  );
}

/** Sets the state of a cache. A run that makes caches leaves them empty. */
function keep(cache: Scope, name: string, value: Tensor): void {
  if (!cache.isInitializing) cache.setState(name, value);
}

const emptyOf =
  (dtype: DType): Initializer =>
  (key, shape: Shape) =>
    zeros(shape, { dtype, device: key.device });
