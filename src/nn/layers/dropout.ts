/**
 * Layers that drop at random while training, and pass everything on otherwise: elements, whole channels, and both in the way that keeps
 * mean and variance under selu (Klambauer et al. 2017). Their random numbers come from the key of `apply`.
 */
import { checkOptions } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import type { Shape } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { bernoulli } from "../../random/index.js";
import { type Tensor, where, zerosLike } from "../../tensor/index.js";
import { type Layer, layer } from "../core/layer.js";
import type { Scope } from "../core/scope.js";
import { type Channels, channelAxes, checkChannels } from "./spatial.js";

/** Options of dropouts of whole channels. */
export interface ChannelDropoutOptions {
  readonly channels?: Channels;
}

/** Elements become 0 with probability `rate`, the others are divided by 1 - rate: `dropout(0.1)`. */
export function dropout(rate: number): Layer {
  checkRate("dropout", rate);
  return layer("dropout", { rate }, (scope, x: Tensor) => dropped(scope, x, rate, x.shape));
}

/** The same with whole channels of examples. */
export function spatialDropout(rate: number, options: ChannelDropoutOptions = {}): Layer {
  checkRate("spatialDropout", rate);
  checkOptions("spatialDropout", options, { channels: "text" });
  checkChannels("spatialDropout", options.channels);
  return layer("spatialDropout", { rate, ...options }, (scope, x: Tensor) =>
    dropped(scope, x, rate, channelShape("spatialDropout", x, options)),
  );
}

/** Elements become the limit of selu with probability `rate`; all are then scaled and shifted so that mean and variance stay. */
export function alphaDropout(rate: number): Layer {
  checkRate("alphaDropout", rate);
  return layer("alphaDropout", { rate }, (scope, x: Tensor) => saturated(scope, x, rate, x.shape));
}

/** The same with whole channels of examples. */
export function featureAlphaDropout(rate: number, options: ChannelDropoutOptions = {}): Layer {
  checkRate("featureAlphaDropout", rate);
  checkOptions("featureAlphaDropout", options, { channels: "text" });
  checkChannels("featureAlphaDropout", options.channels);
  return layer("featureAlphaDropout", { rate, ...options }, (scope, x: Tensor) =>
    saturated(scope, x, rate, channelShape("featureAlphaDropout", x, options)),
  );
}

/** Elements dropped at random, one draw for each place of `shape`, while the run trains. */
export function dropped(scope: Scope, x: Tensor, rate: number, shape: Shape): Tensor {
  if (!scope.isTraining || rate === 0) return x;
  if (rate === 1) return zerosLike(x) as Tensor;
  const isKept = bernoulli(scope.key("dropout"), 1 - rate, shape);
  return where(isKept, x.mul(1 / (1 - rate)), 0).cast(x.dtype) as Tensor;
}

/** The limit of selu at -∞: -λα. */
const SELU_LIMIT = -1.7580993408473766;

function saturated(scope: Scope, x: Tensor, rate: number, shape: Shape): Tensor {
  if (!scope.isTraining || rate === 0) return x;
  if (rate === 1) return zerosLike(x) as Tensor;
  const isKept = bernoulli(scope.key("dropout"), 1 - rate, shape);
  const scale = ((1 - rate) * (1 + rate * SELU_LIMIT ** 2)) ** -0.5;
  const shift = -scale * SELU_LIMIT * rate;
  return where(isKept, x.mul(scale).add(shift), SELU_LIMIT * scale + shift).cast(x.dtype) as Tensor;
}

/** One draw for each channel of each example. */
function channelShape(operation: string, x: Tensor, { channels }: ChannelDropoutOptions): Shape {
  const { spatial } = channelAxes(operation, x, channels, 1);
  return x.shape.map((extent, axis) => (spatial.includes(axis) ? 1 : extent));
}

export function checkRate(operation: string, rate: number): void {
  if (typeof rate === "number" && rate >= 0 && rate <= 1) return;
  throw new ArgumentError(`${operation}: the rate is a probability from 0 to 1, not ${shown(rate)}.`);
}
