/** Inputs of attention layers: tokens alone, tokens and a memory, or queries, keys and values; with a mask or a bias of the scores. */
import { ArgumentError, DTypeError, ShapeError } from "../../core/errors.js";
import { formatShape } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { isTensor, type Tensor } from "../../tensor/index.js";

/** What may stand beside the tokens. */
interface Beside {
  /** Bools, true where a key is seen: [batch, keys], [batch, queries, keys] or [batch, heads, queries, keys]. */
  readonly mask?: Tensor;
  /** Floats that are added to the scores: [batch, queries, keys] or [batch, heads, queries, keys]; extents of 1 broadcast. */
  readonly bias?: Tensor;
}

/** Tokens that look at each other, or at a memory. */
export interface TokensAndMemory extends Beside {
  readonly x: Tensor;
  readonly memory?: Tensor;
}

/** Queries, keys and values from three places. */
export interface QueriesAndKeys extends Beside {
  readonly query: Tensor;
  readonly key: Tensor;
  /** The keys' tokens unless told. */
  readonly value?: Tensor;
}

/** An input of an attention layer: [batch, tokens, features], alone or with a memory or a mask. */
export type AttentionInput = Tensor | TokensAndMemory | QueriesAndKeys;

interface Given extends Beside {
  readonly query: Tensor;
  readonly key: Tensor;
  readonly value: Tensor;
  /** Tokens look at each other, at a memory, or queries at keys from elsewhere. */
  readonly kind: "self" | "memory" | "apart";
}

const FIELDS = ["x", "memory", "query", "key", "value", "mask", "bias"];
const EXAMPLE = "a tensor [batch, tokens, features], { x, memory, mask } or { query, key, value, mask }";

/** The input's queries, keys and values. */
export function attentionInput(input: AttentionInput): Given {
  const name = "multiHeadAttention";
  if (isTensor(input)) return checked({ query: input, key: input, value: input, kind: "self" });
  if (typeof input !== "object" || input === null) {
    throw new ArgumentError(`${name}: takes ${EXAMPLE}; not ${shown(input)}.`);
  }
  for (const [field, value] of Object.entries(input)) {
    const isKnown = FIELDS.includes(field);
    if (isKnown && (isTensor(value) || value === undefined)) continue;
    throw new ArgumentError(
      `${name}: the input's ${field} is ${isTensor(value) ? "a tensor" : shown(value)}; it takes ${EXAMPLE}.`,
    );
  }
  const { x, memory, query, key, value, mask, bias } = input as Partial<TokensAndMemory & QueriesAndKeys>;
  if (x && !query && !key && !value)
    return checked({ query: x, key: memory ?? x, value: memory ?? x, kind: memory ? "memory" : "self", mask, bias });
  if (query && key && !x && !memory) return checked({ query, key, value: value ?? key, kind: "apart", mask, bias });
  throw new ArgumentError(`${name}: the input has ${Object.keys(input).join(", ")}; it takes ${EXAMPLE}.`);
}

function checked(given: Given): Given {
  const { query, key, value } = given;
  const lead = (x: Tensor): string => formatShape(x.shape.slice(0, -2));
  const isWrong = [query, key, value].some((x) => x.rank < 2) || lead(query) !== lead(key);
  if (isWrong || formatShape(key.shape.slice(0, -1)) !== formatShape(value.shape.slice(0, -1))) {
    throw new ShapeError(
      `multiHeadAttention: queries ${formatShape(query.shape)}, keys ${formatShape(key.shape)}, values ${formatShape(value.shape)}; all are ` +
        "[batch, tokens, features] of one batch, keys and values with as many tokens.",
    );
  }
  return given;
}

/** A mask or bias with the axes of the scores, [batch, heads, queries, keys]; `lead` is the number of axes before the heads. */
export function overKeys(what: "mask" | "bias", given: Tensor, lead: number): Tensor {
  if (what === "mask" && given.dtype !== "bool") {
    throw new DTypeError(
      `multiHeadAttention: the mask takes bools, true where a key is seen, not ${given.dtype}; numbers to add are the bias.`,
    );
  }
  const axes = given.rank - lead;
  if (axes === 1 && what === "mask") return given.expandDims(lead).expandDims(lead) as Tensor;
  if (axes === 2) return given.expandDims(lead) as Tensor;
  if (axes === 3) return given;
  throw new ShapeError(
    `multiHeadAttention: a ${what} of ${formatShape(given.shape)}; it is ${what === "mask" ? "[batch, keys], " : ""}[batch, queries, keys] or ` +
      "[batch, heads, queries, keys].",
  );
}
