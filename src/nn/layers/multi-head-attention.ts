/**
 * Multi-head attention (Vaswani et al. 2017) over one sequence or from one to another, on the core's `attention`: heads that share keys and
 * values (Ainslie et al. 2023), rotary positions, linear biases, windows, masks, and caches for generation. Its four products are parts,
 * dense layers that can be replaced, by LoRA for example.
 */
import { checkOptions, checkWhole, type OptionKinds } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { sizeOf } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { arange, attention, type Tensor } from "../../tensor/index.js";
import type { Initializer } from "../core/initializer.js";
import { type AnyLayer, type Definition, Layer } from "../core/layer.js";
import type { Scope } from "../core/scope.js";
import { alibiBias } from "./alibi.js";
import { keptForMemory, type Place, type Projected, placeOf, type Remembered, remembered } from "./attention-cache.js";
import { type AttentionInput, attentionInput, overKeys } from "./attention-input.js";
import { attentionByWeights } from "./attention-weights.js";
import { dense } from "./dense.js";
import { checkRate, dropped } from "./dropout.js";
import { rmsNorm } from "./norm.js";
import { checkRotary, type RotaryOptions, rotary as turned } from "./rotary.js";

/** Options of `multiHeadAttention`. */
export interface MultiHeadAttentionOptions {
  /** Features of each head. */
  readonly headSize: number;
  /** Heads of keys and values, which neighbouring query heads share; as many as heads unless told. */
  readonly keyValueHeads?: number;
  /** Features of the result; heads · headSize unless told. */
  readonly outputs?: number;
  /** A token sees none behind itself; false. */
  readonly causal?: boolean;
  /** A token sees so many to either side of itself, or [before, behind]; all unless told. */
  readonly window?: number | readonly [before: number, behind: number];
  /** Rotary positions: true, or their options; none unless told. */
  readonly rotary?: boolean | RotaryOptions;
  /** Scores fall with the distance (ALiBi); false. */
  readonly alibi?: boolean;
  /** Queries and keys of each head are brought to mean square 1, with trained scales; false. */
  readonly queryKeyNorm?: boolean;
  /** Scores are cap · tanh(score / cap); no cap unless told. The scores are in memory then. */
  readonly softcap?: number;
  /** The factor of the scores; 1 / √headSize. */
  readonly scale?: number;
  /** The share of attention weights that is dropped while training; 0. The weights are in memory then. */
  readonly dropout?: number;
  /** Queries, keys and values are one product, the part `projection`, which is faster; only without a memory; false. */
  readonly fused?: boolean;
  /** Whether the products add vectors; true. */
  readonly useBias?: boolean;
  /** First values of all matrices. */
  readonly weights?: Initializer;
}

// biome-ignore format: a row for each kind
const KINDS: OptionKinds<MultiHeadAttentionOptions> = {
  headSize: "number", keyValueHeads: "number", outputs: "number", causal: "flag", window: "numbers", rotary: "any", alibi: "flag",
  queryKeyNorm: "flag", softcap: "number", scale: "number", dropout: "number", fused: "flag", useBias: "flag", weights: "function",
};

/**
 * Attention of tokens [batch, tokens, features] to each other, `multiHeadAttention(8, { headSize: 64, causal: true })`, or to a memory,
 * `apply(params, { x, memory })`. With `{ x, mask }` bools [batch, keys] say which keys are seen.
 */
export function multiHeadAttention(heads: number, options: MultiHeadAttentionOptions): Layer<AttentionInput> {
  const name = "multiHeadAttention";
  checkWhole(name, "the number of heads", heads, 1);
  checkOptions(name, options, KINDS);
  const size = checkWhole(name, "the option headSize", options.headSize, 1);
  const keyValueHeads = checkWhole(name, "the option keyValueHeads", options.keyValueHeads ?? heads, 1);
  const outputs = checkWhole(name, "the option outputs", options.outputs ?? heads * size, 1);
  checkMore(name, heads, keyValueHeads, options);
  const { useBias = true, weights, queryKeyNorm = false } = options;
  const product = (units: number) => dense(units, { useBias, ...(weights && { weights }) }) as unknown as AnyLayer;
  const norm = () => rmsNorm() as unknown as AnyLayer;
  const apart = () => ({
    query: product(heads * size),
    key: product(keyValueHeads * size),
    value: product(keyValueHeads * size),
  });
  const parts = {
    ...(options.fused ? { projection: product((heads + 2 * keyValueHeads) * size) } : apart()),
    ...(queryKeyNorm && { queryNorm: norm(), keyNorm: norm() }),
    output: product(outputs),
  };
  return new Layer(definitionOf(heads, options, parts));
}

function checkMore(name: string, heads: number, keyValueHeads: number, options: MultiHeadAttentionOptions): void {
  const { rotary, softcap, window } = options;
  if (heads % keyValueHeads !== 0) {
    throw new ArgumentError(`${name}: ${heads} heads cannot share ${keyValueHeads} heads of keys and values evenly.`);
  }
  if (typeof rotary === "object") checkRotary(name, rotary);
  else if (rotary !== undefined && typeof rotary !== "boolean") {
    throw new ArgumentError(
      `${name}: the option rotary is true or its options, as { base: 10000 }; not ${shown(rotary)}.`,
    );
  }
  if (softcap !== undefined && !(softcap > 0)) {
    throw new ArgumentError(`${name}: the option softcap is a positive number, not ${shown(softcap)}.`);
  }
  const sides = window === undefined ? [] : typeof window === "number" ? [window] : window;
  if (Array.isArray(window) && window.length !== 2)
    throw new ArgumentError(`${name}: the option window is a number or [before, behind].`);
  if (sides.some((side) => !(side >= 0))) {
    throw new ArgumentError(`${name}: the option window counts tokens, from 0 on; not ${shown(window)}.`);
  }
  checkRate(name, options.dropout ?? 0);
}

const definitionOf = (
  heads: number,
  options: MultiHeadAttentionOptions,
  parts: Readonly<Record<string, AnyLayer>>,
): Definition<AttentionInput, Tensor> => ({
  kind: "multiHeadAttention",
  options: { heads, ...options },
  parts,
  run: (scope, input) => run(scope, input, heads, options, parts),
  withParts: (others) => definitionOf(heads, options, others),
});

function run(
  scope: Scope,
  given: AttentionInput,
  heads: number,
  options: MultiHeadAttentionOptions,
  parts: Readonly<Record<string, AnyLayer>>,
): Tensor {
  const input = attentionInput(given);
  const part = (name: string, x: Tensor): Tensor => {
    const own = parts[name] as unknown as Layer;
    return own.call(scope.inside(name, own.kind), x);
  };
  const { headSize } = options;
  const tokens = input.query.shape[input.query.rank - 2] as number;
  const { device } = input.query;
  const none: Place = { positions: counted(tokens, device), length: null };
  const place = input.kind === "apart" ? none : placeOf(scope, tokens, device);
  const { q, keysAndValues } = projections(input, part, place, heads, options);
  const isOverMemory = input.kind === "memory";
  const { keys, values } = isOverMemory ? keptForMemory(scope, place, tokens, keysAndValues) : keysAndValues();
  const cache = input.kind === "self" ? remembered(scope, place, keys, values) : null;
  const around = { place, cache, mask: input.mask, bias: input.bias };
  const mixed = mixedValues(scope, q, cache?.keys ?? keys, cache?.values ?? values, around, heads, options);
  const together = mixed.moveAxis(-3, -2).reshape([...input.query.shape.slice(0, -1), heads * headSize]);
  const result = part("output", together);
  return cache ? cache.checked(result) : result;
}

/** Queries by head, [batch, heads, tokens, headSize], and a function that makes keys and values: those of a memory may be in a cache. */
function projections(
  { query, key, value, kind }: ReturnType<typeof attentionInput>,
  part: (name: string, x: Tensor) => Tensor,
  place: Place,
  heads: number,
  options: MultiHeadAttentionOptions,
): { readonly q: Tensor; readonly keysAndValues: () => Projected } {
  const { headSize, keyValueHeads = heads, fused = false, queryKeyNorm = false } = options;
  const counts = [heads, keyValueHeads, keyValueHeads] as const;
  const apart = (x: Tensor, count: number): Tensor =>
    x.reshape([...x.shape.slice(0, -1), count, headSize]).moveAxis(-2, -3);
  const turnedIn = (name: string, x: Tensor, positions: Tensor): Tensor =>
    rotated(queryKeyNorm ? part(name, x) : x, positions, options);
  if (fused && kind !== "self") {
    throw new ArgumentError(
      "multiHeadAttention: with { fused: true } tokens look at each other only; leave it out to give a memory or keys.",
    );
  }
  const sizes = counts.map((count) => count * headSize);
  const all = fused ? (part("projection", query).split({ sizes }, { axis: -1 }) as Tensor[]) : [];
  const keyPlaces = kind === "self" ? place.positions : counted(key.shape[key.rank - 2] as number, key.device);
  return {
    q: turnedIn("queryNorm", apart(all[0] ?? part("query", query), heads), place.positions),
    keysAndValues: () => ({
      keys: turnedIn("keyNorm", apart(all[1] ?? part("key", key), keyValueHeads), keyPlaces),
      values: apart(all[2] ?? part("value", value), keyValueHeads),
    }),
  };
}

const counted = (count: number, device: string): Tensor => arange(count, { dtype: "i32", device }) as Tensor;

function rotated(x: Tensor, positions: Tensor, { rotary }: MultiHeadAttentionOptions): Tensor {
  return rotary ? turned(x, positions, rotary === true ? {} : rotary) : x;
}

/** What says which keys are seen, and how scores are changed. */
interface Around {
  readonly place: Place;
  readonly cache: Remembered | null;
  readonly mask: Tensor | undefined;
  readonly bias: Tensor | undefined;
}

function mixedValues(
  scope: Scope,
  q: Tensor,
  k: Tensor,
  v: Tensor,
  { place, cache, mask: given, bias: added }: Around,
  heads: number,
  options: MultiHeadAttentionOptions,
): Tensor {
  const { headSize, causal = false, window, softcap, dropout = 0, alibi = false } = options;
  const lead = q.shape.slice(0, -3);
  const [queries, keys] = [q.shape[q.rank - 2], k.shape[k.rank - 2]] as [number, number];
  scope.countMultiplyAdds(sizeOf(lead) * heads * queries * keys * 2 * headSize);
  const mask = given && overKeys("mask", given, lead.length);
  const slopes = alibi ? alibiBias(heads, place.positions, counted(keys, k.device), causal, q) : undefined;
  const own = added && overKeys("bias", added, lead.length);
  const bias = slopes && own ? own.add(slopes) : (slopes ?? own);
  const scale = options.scale ?? 1 / Math.sqrt(headSize);
  const isDropping = dropout > 0 && scope.isTraining;
  if (place.length === null && !isDropping && softcap === undefined) {
    return attention(q, k, v, { causal, window, mask, bias, scale }) as Tensor;
  }
  const seen = seenKeys(place, counted(keys, k.device), options, cache !== null);
  const both = seen && mask ? seen.logicalAnd(mask) : (seen ?? mask);
  if (!isDropping && softcap === undefined) {
    return attention(q, k, v, {
      mask: both as Tensor | undefined,
      bias,
      scale,
      keyLength: cache?.length ?? undefined,
    }) as Tensor;
  }
  const drop = isDropping ? (weights: Tensor) => dropped(scope, weights, dropout, weights.shape) : undefined;
  return attentionByWeights(q, k, v, { scale, mask: both as Tensor | undefined, bias, softcap, dropped: drop });
}

/** Bools [queries, keys] by positions: what causality, a window and the end of the cache let a query see. */
function seenKeys(
  place: Place,
  keys: Tensor,
  { causal, window }: MultiHeadAttentionOptions,
  hasCache: boolean,
): Tensor | null {
  const ahead = keys.sub(place.positions.expandDims(1));
  const [before, behind] = window === undefined ? [] : typeof window === "number" ? [window, window] : window;
  const rules: Tensor[] = [];
  if (causal) rules.push(ahead.lessEqual(0) as Tensor);
  if (before !== undefined && before < Infinity) rules.push(ahead.greaterEqual(-before) as Tensor);
  if (behind !== undefined && behind < Infinity && !causal) rules.push(ahead.lessEqual(behind) as Tensor);
  if (hasCache && place.length && !causal) rules.push(keys.less(place.length).expandDims(0) as Tensor);
  return rules.length === 0 ? null : rules.reduce((all, rule) => all.logicalAnd(rule) as Tensor);
}
