/** Masks of padded sequences: which tokens count, from the number that fills up the others. */
import { checkOptions } from "../../core/arguments.js";
import { isInteger } from "../../core/dtype.js";
import { DTypeError } from "../../core/errors.js";
import { checkTensor, type Tensor } from "../../tensor/index.js";
import { type Layer, layer } from "../core/layer.js";

/** Options of `masking` and `maskOf`. */
export interface MaskingOptions {
  /** The token that stands where a sequence has ended; 0. */
  readonly padding?: number;
}

/** Tokens with their mask, as recurrent and attention layers take them. */
export interface Masked {
  readonly x: Tensor;
  readonly mask: Tensor;
}

/** The mask of tokens: bools of their shape, false where the token is the padding, 0 unless told. For blocks: `lstm({ x, mask })`. */
export function maskOf(tokens: Tensor, options: MaskingOptions = {}): Tensor {
  return masked("maskOf", tokens, options).mask;
}

/**
 * Tokens [batch, time] become `{ x, mask }`: `sequential(masking({ padding: 0 }), embedding(1000, 64), lstm(64))`. In a `sequential` the mask
 * goes past layers that act step by step to the first layer that uses it.
 */
export function masking(options: MaskingOptions = {}): Layer<Tensor, Masked> {
  checkOptions("masking", options, { padding: "number" });
  return layer("masking", { ...options }, (_, tokens: Tensor) => masked("masking", tokens, options));
}

function masked(operation: string, tokens: Tensor, options: MaskingOptions): Masked {
  checkOptions(operation, options, { padding: "number" });
  checkTensor(operation, "the input", tokens);
  if (!isInteger(tokens.dtype)) {
    throw new DTypeError(
      `${operation} takes integers, the numbers of tokens, but the input is ${tokens.dtype}; cast it, or give { x, mask } yourself.`,
    );
  }
  return { x: tokens, mask: tokens.notEqual(options.padding ?? 0) as Tensor };
}
