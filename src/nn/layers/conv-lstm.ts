/**
 * An LSTM whose products are convolutions (Shi et al. 2015), for sequences of images: inputs [batch, time, channels, …spatial] with one to
 * three spatial axes. The convolution of the inputs goes over all steps at once.
 */
import { checkChoice, checkOptions, type OptionKinds } from "../../core/arguments.js";
import { ShapeError } from "../../core/errors.js";
import { sizeOf } from "../../core/shape.js";
import type { Padding, Tensor } from "../../tensor/index.js";
import type { Layer } from "../core/layer.js";
import type { Scope } from "../core/scope.js";
import { glorotUniform, orthogonal } from "../initializers/random.js";
import {
  type BoundCell,
  CELL_ACTIVATIONS,
  type Cell,
  type CellOptions,
  forgetting,
  type LstmCellOptions,
  type LstmState,
  lstmStep,
} from "./recurrent-cells.js";
import {
  CELL_KINDS,
  checkRecurrent,
  RECURRENT_KINDS,
  type RecurrentOptions,
  recurrentLayer,
  type WithState,
} from "./recurrent-run.js";
import type { RecurrentInput } from "./sequence-input.js";
import {
  alongChannel,
  type Channels,
  checkChannels,
  checkPadding,
  checkPerAxis,
  layoutOf,
  type PerAxis,
  perAxis,
} from "./spatial.js";

/** Options of `convLstm`. Stride, padding and dilation are those of the input's convolution; the state's keeps its extents. */
export interface ConvLstmOptions
  extends CellOptions,
    RecurrentOptions,
    Pick<LstmCellOptions, "activation" | "gate" | "forgetBias"> {
  readonly stride?: PerAxis;
  /** "same" unless told. */
  readonly padding?: Padding;
  readonly dilation?: PerAxis;
  readonly channels?: Channels;
}

// biome-ignore format: a row for each kind
const KINDS: OptionKinds<ConvLstmOptions> = {
  ...CELL_KINDS, ...RECURRENT_KINDS,
  activation: "text", gate: "text", forgetBias: "number", stride: "numbers", padding: "any", dilation: "numbers", channels: "text",
};

/** A convolutional LSTM: `convLstm(16, 3)`. Weights are [4 · filters, channels, …kernel], gates in the order of `lstm`. */
export function convLstm(
  filters: number,
  kernel: PerAxis,
  options: ConvLstmOptions & { readonly returnState: true },
): Layer<RecurrentInput<LstmState>, WithState<LstmState>>;
export function convLstm(
  filters: number,
  kernel: PerAxis,
  options?: ConvLstmOptions,
): Layer<RecurrentInput<LstmState>, Tensor>;
export function convLstm(
  filters: number,
  kernel: PerAxis,
  options: ConvLstmOptions = {},
): Layer<RecurrentInput<LstmState>, unknown> {
  const kind = "convLstm";
  checkOptions(kind, options, KINDS);
  checkRecurrent(kind, filters, options, "filters");
  checkChoice(kind, "the option activation", options.activation, Object.keys(CELL_ACTIVATIONS));
  checkChoice(kind, "the option gate", options.gate, Object.keys(CELL_ACTIVATIONS));
  checkPerAxis(kind, "the size of the kernel", kernel);
  checkPerAxis(kind, "stride", options.stride ?? 1);
  checkPerAxis(kind, "dilation", options.dilation ?? 1);
  checkPadding(kind, options.padding);
  checkChannels(kind, options.channels);
  const axes = options.channels === "last" ? "…spatial, channels" : "channels, …spatial";
  const cell: Cell<LstmState> = {
    bind: (scope, x, positions) => bound(scope, x, positions, filters, kernel, options),
  };
  return recurrentLayer({ kind, given: { filters, kernel }, cell, axes }, options);
}

function bound(
  scope: Scope,
  x: Tensor,
  positions: number,
  filters: number,
  kernel: PerAxis,
  options: ConvLstmOptions,
): BoundCell<LstmState> {
  const isLast = options.channels === "last";
  const count = x.shape[isLast ? x.rank - 1 : 2] as number;
  const sizes = perAxis("convLstm", "a kernel of", kernel, x.rank - 3);
  if (sizes.length > 3) throw new ShapeError(`convLstm takes one to three spatial axes, not ${sizes.length}.`);
  const { weights = glorotUniform, recurrent = orthogonal(), useBias = true } = options;
  const places = sizeOf(sizes);
  const fans = (inputs: number) => ({ fanIn: inputs * places, fanOut: 4 * filters * places });
  const w = scope.parameter("weights", [4 * filters, count, ...sizes], weights, fans(count));
  const u = scope.parameter("recurrent", [4 * filters, filters, ...sizes], recurrent, fans(filters));
  const biases = options.biases ?? forgetting(filters, options.forgetBias ?? 1);
  const b = useBias ? scope.parameter("biases", [4 * filters], biases) : undefined;
  const channel = (each: Tensor): number => (isLast ? each.rank - 1 : 1);
  return {
    fromInput(all) {
      // Steps and examples are one batch.
      const merged = all.reshape([-1, ...all.shape.slice(2)]);
      const { stride, dilation, padding = "same" } = options;
      const inputLayout = layoutOf(merged, options.channels);
      const sums = merged.conv(w, { stride, padding, kernelDilation: dilation, inputLayout });
      const area = sizeOf(sums.shape.slice(1)) / (4 * filters);
      scope.countMultiplyAdds(positions * area * 4 * filters * places * (count + filters));
      const whole = b ? sums.add(alongChannel(b, sums, channel(sums))) : sums;
      return whole.reshape([...all.shape.slice(0, 2), ...whole.shape.slice(1)]);
    },
    shapes(given) {
      const at = isLast ? given.length - 1 : 1;
      const shape = given.map((extent, axis) => (axis === at ? filters : extent));
      return { hidden: shape, cell: shape };
    },
    step({ cell }, given, seen) {
      const product = seen.conv(u, { padding: "same", inputLayout: layoutOf(seen, options.channels) });
      return lstmStep(given.add(product), cell, channel(given), options);
    },
  };
}
