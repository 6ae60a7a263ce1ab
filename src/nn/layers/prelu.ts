/** Relu whose slope below zero is trained (He et al. 2015). */
import { checkOptions } from "../../core/arguments.js";
import { type Tensor, where } from "../../tensor/index.js";
import type { Initializer } from "../core/initializer.js";
import { type Layer, layer } from "../core/layer.js";
import { constant } from "../initializers/constants.js";
import { alongChannel, type Channels, channelAxes, checkChannels } from "./spatial.js";

/** Options of `prelu`. */
export interface PreluOptions {
  /** Whether each channel has a slope of its own; false: one slope for all. */
  readonly perChannel?: boolean;
  readonly channels?: Channels;
  /** 0.25 unless told. */
  readonly slopes?: Initializer;
}

/** x where it is positive, else a trained slope times x: `prelu()`. */
export function prelu(options: PreluOptions = {}): Layer {
  checkOptions("prelu", options, { perChannel: "flag", channels: "text", slopes: "function" });
  checkChannels("prelu", options.channels);
  const { perChannel = false, slopes = constant(0.25) } = options;
  return layer("prelu", { ...options }, (scope, x: Tensor) => {
    if (!perChannel) return bent(x, scope.parameter("slopes", [], slopes));
    const { channel, count } = channelAxes("prelu", x, options.channels);
    return bent(x, alongChannel(scope.parameter("slopes", [count], slopes), x, channel));
  });
}

const bent = (x: Tensor, slopes: Tensor): Tensor => where(x.greater(0), x, x.mul(slopes)) as Tensor;
