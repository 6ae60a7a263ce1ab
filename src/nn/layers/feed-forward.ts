/** The dense part of transformer blocks: two products with an activation between them, or three with a gate (Shazeer 2020). */
import { checkChoice, checkOptions, checkWhole, type OptionKinds } from "../../core/arguments.js";
import type { Tensor } from "../../tensor/index.js";
import { sigmoid } from "../activations/curves.js";
import { gelu, silu } from "../activations/gates.js";
import { relu } from "../activations/rectifiers.js";
import type { Initializer } from "../core/initializer.js";
import { type AnyLayer, type Definition, Layer } from "../core/layer.js";
import { dense } from "./dense.js";
import { checkRate, dropped } from "./dropout.js";

type Curve = (x: Tensor) => Tensor;

/** Functions of the hidden features. With a gate, hidden features are multiplied by the function of another product. */
const ACTIVATIONS = {
  relu: { curve: relu, isGated: false },
  gelu: { curve: (x: Tensor) => gelu(x), isGated: false },
  geluTanh: { curve: (x: Tensor) => gelu(x, { approximate: "tanh" }), isGated: false },
  silu: { curve: silu, isGated: false },
  swiglu: { curve: silu, isGated: true },
  geglu: { curve: (x: Tensor) => gelu(x), isGated: true },
  reglu: { curve: relu, isGated: true },
  glu: { curve: sigmoid, isGated: true },
} as const satisfies Record<string, { curve: Curve; isGated: boolean }>;

/** The function of a feed-forward layer by name; those that end in "glu" have a gate. */
export type FeedForwardActivation = keyof typeof ACTIVATIONS;

/** Options of `feedForward`. */
export interface FeedForwardOptions {
  /** "gelu" unless told. */
  readonly activation?: FeedForwardActivation;
  /** Whether the products add vectors; true. */
  readonly useBias?: boolean;
  /** The share of hidden features that is dropped while training; 0. */
  readonly dropout?: number;
  /** First values of the matrices. */
  readonly weights?: Initializer;
}

const KINDS: OptionKinds<FeedForwardOptions> = {
  activation: "text",
  useBias: "flag",
  dropout: "number",
  weights: "function",
};

/** The function of an activation's name, and whether it has a gate. */
export function activationOf(
  operation: string,
  name: FeedForwardActivation = "gelu",
): { curve: Curve; isGated: boolean } {
  checkChoice(operation, "the option activation", name, Object.keys(ACTIVATIONS));
  return ACTIVATIONS[name];
}

/** down(activation(up(x))), or with a gate down(activation(gate(x)) · up(x)): `feedForward(512, 2048, { activation: "swiglu" })`. */
export function feedForward(features: number, hidden: number, options: FeedForwardOptions = {}): Layer {
  checkWhole("feedForward", "the number of features", features, 1);
  checkWhole("feedForward", "the number of hidden features", hidden, 1);
  checkOptions("feedForward", options, KINDS);
  checkRate("feedForward", options.dropout ?? 0);
  const { isGated } = activationOf("feedForward", options.activation);
  const { useBias = true, weights } = options;
  const product = (units: number) => dense(units, { useBias, ...(weights && { weights }) }) as unknown as AnyLayer;
  const parts = { up: product(hidden), ...(isGated && { gate: product(hidden) }), down: product(features) };
  return new Layer(definitionOf(features, hidden, options, parts));
}

const definitionOf = (
  features: number,
  hidden: number,
  options: FeedForwardOptions,
  parts: Readonly<Record<string, AnyLayer>>,
): Definition<Tensor, Tensor> => ({
  kind: "feedForward",
  options: { features, hidden, ...options },
  parts,
  run(scope, x) {
    const part = (name: string, input: Tensor): Tensor => {
      const own = parts[name] as unknown as Layer;
      return own.call(scope.inside(name, own.kind), input);
    };
    const { curve, isGated } = activationOf("feedForward", options.activation);
    const up = part("up", x);
    const between = isGated ? curve(part("gate", x)).mul(up) : curve(up);
    return part("down", dropped(scope, between, options.dropout ?? 0, between.shape));
  },
  withParts: (others) => definitionOf(features, hidden, options, others),
});
