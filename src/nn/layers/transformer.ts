/**
 * Transformer blocks and stacks of them (Vaswani et al. 2017): attention and a feed-forward part, each added to what came in, with norms before
 * them (Xiong et al. 2020) or after the sum. Decoders look at a memory, too. Every part is a layer that can be replaced by its path.
 */
import { checkChoice, checkOptions, checkWhole, type OptionKinds } from "../../core/arguments.js";
import type { DType } from "../../core/dtype.js";
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { formatShape } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { isTensor, type Tensor } from "../../tensor/index.js";
import { type AnyLayer, type Definition, Layer } from "../core/layer.js";
import type { Scope } from "../core/scope.js";
import { checkRate, dropped } from "./dropout.js";
import { type FeedForwardActivation, feedForward } from "./feed-forward.js";
import { type MixtureOfExpertsOptions, mixtureOfExperts } from "./mixture-of-experts.js";
import { type MultiHeadAttentionOptions, multiHeadAttention } from "./multi-head-attention.js";
import { layerNorm, rmsNorm } from "./norm.js";

/** Experts in place of the feed-forward part: how many, and the options of `mixtureOfExperts`. */
export interface BlockExperts extends Omit<MixtureOfExpertsOptions, "hidden" | "activation" | "useBias" | "weights"> {
  readonly count: number;
}

/** Options of `encoderBlock`. Those of attention go to `multiHeadAttention`. */
export interface EncoderBlockOptions extends Omit<MultiHeadAttentionOptions, "headSize" | "outputs" | "dropout"> {
  readonly heads: number;
  /** Features of each head; features / heads. */
  readonly headSize?: number;
  /** Features between the products of the feed-forward part; 4 · features. */
  readonly hidden?: number;
  /** "gelu" unless told. */
  readonly activation?: FeedForwardActivation;
  readonly norm?: "layerNorm" | "rmsNorm";
  /** Added to variances; that of the norm unless told. */
  readonly eps?: number;
  /** Norms come before attention and the feed-forward part, instead of after the sum; true. */
  readonly preNorm?: boolean;
  /** The share that is dropped while training: of each part's result, and of the hidden features; 0. */
  readonly dropout?: number;
  /** The share of attention weights that is dropped while training; 0. The weights are in memory then. */
  readonly attentionDropout?: number;
  /** The dtype of attention and the feed-forward part, while the sum stays in the input's: "bf16" is mixed precision; as the sum unless told. */
  readonly products?: DType;
  readonly experts?: BlockExperts;
}

/** Options of `decoderBlock`; a decoder is causal unless told. */
export interface DecoderBlockOptions extends EncoderBlockOptions {
  /** Whether tokens look at a memory, as in translation; true. */
  readonly cross?: boolean;
}

/** Options of `transformerEncoder`. */
export interface TransformerEncoderOptions extends EncoderBlockOptions {
  readonly layers: number;
  /** A norm after the last block; as `preNorm` unless told. */
  readonly finalNorm?: boolean;
}

/** Options of `transformerDecoder`. */
export interface TransformerDecoderOptions extends DecoderBlockOptions {
  readonly layers: number;
  /** A norm after the last block; as `preNorm` unless told. */
  readonly finalNorm?: boolean;
}

/** An input of transformers: tokens [batch, tokens, features], alone or with masks of keys, a bias of the scores, or a memory. */
export type TransformerInput =
  | Tensor
  | {
      readonly x: Tensor;
      readonly mask?: Tensor;
      readonly bias?: Tensor;
      readonly memory?: Tensor;
      readonly memoryMask?: Tensor;
    };

const ATTENTION = [
  "causal",
  "window",
  "rotary",
  "alibi",
  "queryKeyNorm",
  "softcap",
  "scale",
  "keyValueHeads",
  "fused",
  "useBias",
  "weights",
] as const;

// biome-ignore format: a row for each kind
const ENCODER: OptionKinds<EncoderBlockOptions> = {
  heads: "number", headSize: "number", hidden: "number", activation: "text", norm: "text", eps: "number", preNorm: "flag", dropout: "number",
  attentionDropout: "number", products: "dtype", fused: "flag", experts: "any", keyValueHeads: "number", causal: "flag", window: "numbers", rotary: "any", alibi: "flag",
  queryKeyNorm: "flag", softcap: "number", scale: "number", useBias: "flag", weights: "function",
};
const DECODER: OptionKinds<DecoderBlockOptions> = { ...ENCODER, cross: "flag" };
const STACK = { layers: "number", finalNorm: "flag" } as const;

/** Attention among tokens and a feed-forward part: `encoderBlock(512, { heads: 8 })`. */
export function encoderBlock(features: number, options: EncoderBlockOptions): Layer<TransformerInput> {
  checkOptions("encoderBlock", options, ENCODER);
  return blockOf("encoderBlock", features, options, { cross: false, causal: options.causal ?? false });
}

/** Causal attention among tokens, attention to a memory, and a feed-forward part: `decoderBlock(512, { heads: 8 })`. */
export function decoderBlock(features: number, options: DecoderBlockOptions): Layer<TransformerInput> {
  checkOptions("decoderBlock", options, DECODER);
  return blockOf("decoderBlock", features, options, { cross: options.cross ?? true, causal: options.causal ?? true });
}

/** Encoder blocks one on the other: `transformerEncoder(512, { heads: 8, layers: 6 })`. With `{ x, mask }`, bools [batch, tokens] hide padding. */
export function transformerEncoder(features: number, options: TransformerEncoderOptions): Layer<TransformerInput> {
  checkOptions("transformerEncoder", options, { ...ENCODER, ...STACK });
  return stackOf("transformerEncoder", features, options, encoderBlock);
}

/**
 * Decoder blocks one on the other: `transformerDecoder(512, { heads: 8, layers: 6 })` takes { x, memory }. With `cross: false` there is no memory, as in
 * GPT.
 */
export function transformerDecoder(features: number, options: TransformerDecoderOptions): Layer<TransformerInput> {
  checkOptions("transformerDecoder", options, { ...DECODER, ...STACK });
  return stackOf("transformerDecoder", features, options, decoderBlock);
}

/** What the kinds of blocks differ in. */
interface Kind {
  readonly cross: boolean;
  readonly causal: boolean;
}

function blockOf(name: string, features: number, options: EncoderBlockOptions, kind: Kind): Layer<TransformerInput> {
  checkWhole(name, "the number of features", features, 1);
  const { dropout = 0, experts } = options;
  checkRate(name, dropout);
  const overMemory = { causal: undefined, window: undefined, rotary: undefined, alibi: undefined, fused: undefined };
  const narrow = (part: AnyLayer): AnyLayer =>
    options.products ? (part.withDTypes({ compute: options.products }) as unknown as AnyLayer) : part;
  const attend = (changes: Partial<EncoderBlockOptions>) => attentionOf(name, features, { ...options, ...changes });
  const norm = () => normOf(name, options);
  const parts: Record<string, AnyLayer> = {
    attentionNorm: norm(),
    attention: narrow(attend({ causal: kind.causal })),
    ...(kind.cross && { crossAttentionNorm: norm(), crossAttention: narrow(attend(overMemory)) }),
    feedForwardNorm: norm(),
    feedForward: narrow(experts ? expertsOf(features, options, experts) : forwardOf(features, options)),
  };
  return new Layer(blockDefinition(name, features, options, parts));
}

/** Attention of a block. That over a memory has no positions of its own: neither order, windows, turns nor linear biases. */
function attentionOf(name: string, features: number, options: EncoderBlockOptions): AnyLayer {
  const { heads, attentionDropout = 0, headSize = features / heads } = options;
  checkWhole(name, "the option heads", heads, 1);
  if (!Number.isInteger(headSize)) {
    throw new ArgumentError(`${name}: ${features} features do not divide into ${heads} heads; give { headSize }.`);
  }
  const shared = Object.fromEntries(
    ATTENTION.flatMap((each) => (options[each] === undefined ? [] : [[each, options[each]]])),
  );
  const all = { ...shared, headSize, outputs: features, ...(attentionDropout > 0 && { dropout: attentionDropout }) };
  return multiHeadAttention(heads, all) as unknown as AnyLayer;
}

function normOf(name: string, { norm = "layerNorm", eps }: EncoderBlockOptions): AnyLayer {
  checkChoice(name, "the option norm", norm, ["layerNorm", "rmsNorm"]);
  const given = eps === undefined ? {} : { eps };
  return (norm === "layerNorm" ? layerNorm(given) : rmsNorm(given)) as unknown as AnyLayer;
}

function forwardOf(features: number, options: EncoderBlockOptions): AnyLayer {
  const { hidden = 4 * features, activation, useBias, dropout, weights } = options;
  return feedForward(features, hidden, given({ activation, useBias, dropout, weights })) as unknown as AnyLayer;
}

function expertsOf(features: number, options: EncoderBlockOptions, { count, ...rest }: BlockExperts): AnyLayer {
  const { hidden = 4 * features, activation, useBias, weights } = options;
  return mixtureOfExperts(count, {
    ...rest,
    hidden,
    ...given({ activation, useBias, weights }),
  }) as unknown as AnyLayer;
}

/** Options without those that were left out. */
const given = <T extends object>(options: T): T =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T;

const blockDefinition = (
  kind: string,
  features: number,
  options: EncoderBlockOptions,
  parts: Readonly<Record<string, AnyLayer>>,
): Definition<TransformerInput, Tensor> => ({
  kind,
  options: { features, ...options },
  parts,
  run(scope, input) {
    const { x, mask, bias, memory, memoryMask } = inputOf(kind, input);
    checkFeatures(scope, features, x);
    const { preNorm = true, dropout = 0 } = options;
    const hasMemory = parts.crossAttention !== undefined;
    checkMemory(kind, memory, hasMemory);
    /** The sum with the result of a part. */
    const plus = (sum: Tensor, name: string, f: (part: Layer<unknown>, own: Scope, y: Tensor) => Tensor): Tensor => {
      const [part, norm] = [parts[name], parts[`${name}Norm`]] as unknown as [Layer<unknown>, Layer];
      const normed = (y: Tensor) => norm.call(scope.inside(`${name}Norm`, norm.kind), y);
      const result = f(part, scope.inside(name, part.kind), preNorm ? normed(sum) : sum);
      const next = sum.add(dropped(scope, result, dropout, result.shape)) as Tensor;
      return preNorm ? next : normed(next);
    };
    const attended = plus(x, "attention", (part, own, y) => part.call(own, given({ x: y, mask, bias })));
    const remembering = hasMemory
      ? plus(attended, "crossAttention", (part, own, y) => part.call(own, given({ x: y, memory, mask: memoryMask })))
      : attended;
    return plus(remembering, "feedForward", (part, own, y) => part.call(own, y));
  },
  withParts: (others) => blockDefinition(kind, features, options, others),
});

function stackOf<O extends TransformerEncoderOptions>(
  name: string,
  features: number,
  options: O,
  block: (features: number, options: O) => Layer<TransformerInput>,
): Layer<TransformerInput> {
  const { layers, finalNorm = options.preNorm ?? true, ...own } = options;
  checkWhole(name, "the option layers", layers, 1);
  const blocks = Array.from({ length: layers }, (_, i) => [`block${i}`, block(features, own as unknown as O)] as const);
  const parts = { ...Object.fromEntries(blocks), ...(finalNorm && { norm: normOf(name, options) }) };
  return new Layer(stackDefinition(name, features, options, parts as unknown as Record<string, AnyLayer>));
}

const stackDefinition = (
  kind: string,
  features: number,
  options: TransformerEncoderOptions,
  parts: Readonly<Record<string, AnyLayer>>,
): Definition<TransformerInput, Tensor> => ({
  kind,
  options: { features, ...options },
  parts,
  run(scope, input) {
    const { x: first, ...rest } = inputOf(kind, input);
    let x = first;
    for (const [name, part] of Object.entries(parts) as unknown as [string, Layer<unknown>][]) {
      x = part.call(scope.inside(name, part.kind), name === "norm" ? x : { x, ...rest });
    }
    return x;
  },
  withParts: (others) => stackDefinition(kind, features, options, others),
});

const FIELDS = ["x", "mask", "bias", "memory", "memoryMask"];

function inputOf(kind: string, input: TransformerInput): Exclude<TransformerInput, Tensor> {
  if (isTensor(input)) return { x: input };
  const example = "a tensor [batch, tokens, features], or { x, mask, memory, memoryMask }";
  if (typeof input !== "object" || input === null)
    throw new ArgumentError(`${kind}: takes ${example}; not ${shown(input)}.`);
  const wrong = Object.entries(input).find(
    ([name, value]) => !FIELDS.includes(name) || !(isTensor(value) || value === undefined),
  );
  if (wrong === undefined && isTensor(input.x)) return input;
  const [name, value] = wrong ?? ["x", input.x];
  throw new ArgumentError(
    `${kind}: the input's ${name} is ${isTensor(value) ? "a tensor" : shown(value)}; it takes ${example}.`,
  );
}

/** A sum of x and a part's result would broadcast one feature, and name neither the block nor what it takes. */
function checkFeatures({ label }: Scope, features: number, x: Tensor): void {
  if (x.rank > 0 && x.shape[x.rank - 1] === features) return;
  throw new ShapeError(`${label} takes [batch, tokens, ${features}], but the input is ${formatShape(x.shape)}.`);
}

function checkMemory(kind: string, memory: Tensor | undefined, hasMemory: boolean): void {
  if (hasMemory === (memory !== undefined)) return;
  throw new ArgumentError(
    hasMemory
      ? `${kind}: there is no memory; give { x, memory }, or make the decoder with { cross: false }.`
      : `${kind}: the input has a memory, but tokens look at none here; a decoder does, with { cross: true }.`,
  );
}
