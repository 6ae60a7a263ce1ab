/**
 * The method and function `conv`: convolution (cross-correlation, as everywhere in learning: the kernel is not flipped) over
 * one to three spatial axes. Checks and options; graph/primitives/convolution.ts has the definition.
 */

import { checkOptions, type OptionKinds } from "../../core/arguments.js";
import { checkCount } from "../../core/arity.js";
import type { DType } from "../../core/dtype.js";
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { formatShape } from "../../core/shape.js";
import type { Node } from "../../graph/node.js";
import { convolutionNode } from "../../graph/primitives/convolution.js";
import { type MatmulPrecision, precisionParams, withPrecision } from "../../graph/product-precision.js";
import { castNode, checkOneDevice, commonDType, permuteNode } from "../build.js";
import type { MeetingOf } from "../result-dtypes.js";
import type { Tensor } from "../tensor.js";
import { checkTensor } from "../tensor-checks.js";
import { type Padding, positivePerAxis, windowsOver } from "../windows.js";

export interface ConvOptions {
  /** Distance between windows; 1. */
  readonly stride?: number | readonly number[];
  /** Of the spatial axes; "valid". */
  readonly padding?: Padding;
  /** Distance between elements of the input after zeros were put between them; more than 1 is a transposed convolution. */
  readonly inputDilation?: number | readonly number[];
  /** Distance between the elements a kernel looks at; 1. */
  readonly kernelDilation?: number | readonly number[];
  /** Channels in groups, each of which sees its own kernels only; as many as channels is a depthwise convolution. */
  readonly featureGroups?: number;
  /** The batch in groups, each of which sees its own kernels only, and whose results become channels. */
  readonly batchGroups?: number;
  /** The order of axes, one letter each: N batch, C channel, the rest spatial. "NCW", "NCHW" or "NCDHW". */
  readonly inputLayout?: string;
  /** The order of the kernel's axes: O results, I inputs, the rest spatial. "OIW", "OIHW" or "OIDHW". */
  readonly kernelLayout?: string;
  /** The order of the result's axes; as the input's. */
  readonly outputLayout?: string;
  /** The precision of products of f32: "highest", "high" or "fast"; that of `setMatmulPrecision` unless told. */
  readonly precision?: MatmulPrecision;
}

export class ConvMethods<D extends DType> {
  /** Convolution with a kernel of [results, channels, …]: `x.conv(kernel, { stride: 2, padding: "same" })`. */
  conv<E extends DType>(this: Tensor, kernel: Tensor<E>, options?: ConvOptions): Tensor<MeetingOf<D, E>> {
    return conv(this as Tensor<D>, kernel, options);
  }
}

const SPATIAL = "DHW";

// biome-ignore format: a row for each kind
const CONV: OptionKinds<ConvOptions> = {
  stride: "numbers", inputDilation: "numbers", kernelDilation: "numbers", padding: "any",
  featureGroups: "number", batchGroups: "number",
  inputLayout: "text", kernelLayout: "text", outputLayout: "text", precision: "text",
};

/** Convolution; as the method of the same name. */
export function conv<D extends DType, E extends DType>(
  input: Tensor<D>,
  kernel: Tensor<E>,
  options: ConvOptions = {},
): Tensor<MeetingOf<D, E>> {
  checkCount("conv", 3, arguments);
  checkOptions("conv", options, CONV);
  checkTensor("conv", "the input", input);
  checkTensor("conv", "the kernel", kernel);
  checkOneDevice("conv", [input.node, kernel.node]);
  const count = input.rank - 2;
  if (count < 1 || count > 3 || kernel.rank !== input.rank) {
    throw new ShapeError(
      `conv: an input of ${formatShape(input.shape)} and a kernel of ${formatShape(kernel.shape)}; ` +
        "both have two axes and one to three spatial ones, as in [N, C, H, W] and [O, I, H, W].",
    );
  }
  const inputLayout = options.inputLayout ?? `NC${SPATIAL.slice(-count)}`;
  const spatial = [...inputLayout].filter((letter) => !"NC".includes(letter)).join("");
  const layout = (what: string, given: string, roles: string): string => {
    const sorted = (text: string) => [...text].sort().join("");
    if (sorted(given) === sorted(roles + spatial) && new Set(given).size === input.rank) return given;
    throw new ArgumentError(
      `conv: ${what} "${given}" for ${input.rank} axes; it orders ${[...roles].join(", ")} and the spatial axes ` +
        `${[...spatial].join(", ")}, as in "${roles}${spatial}".`,
    );
  };
  layout("inputLayout", inputLayout, "NC");
  const kernelLayout = layout("kernelLayout", options.kernelLayout ?? `OI${spatial}`, "OI");
  const outputLayout = layout("outputLayout", options.outputLayout ?? inputLayout, "NC");

  const dtype = commonDType("conv", [input.node, kernel.node]);
  const ordered = (node: Node, from: string, to: string) =>
    permuteNode(
      node,
      [...to].map((letter) => from.indexOf(letter)),
    );
  const x = ordered(castNode(input.node, dtype), inputLayout, `NC${spatial}`);
  const w = ordered(castNode(kernel.node, dtype), kernelLayout, `OI${spatial}`);
  const result = withPrecision("conv", options.precision, () => convolved(x, w, options));
  return input.tensorOf(ordered(result, `NC${spatial}`, outputLayout));
}

/** [N, C, …] and [O, I, …] → [N, O, …]. */
function convolved(x: Node, w: Node, options: ConvOptions): Node {
  const [, , ...extents] = x.shape;
  const [, , ...size] = w.shape;
  const { groups, isBatch } = groupsOf(options, x, w);
  const axes = extents.map((_, i) => 2 + i);
  const gaps = positivePerAxis("conv", "inputDilation", options.inputDilation ?? 1, axes.length).map((n) => n - 1);
  const spread = extents.map((extent, i) => (extent === 0 ? 0 : extent + (extent - 1) * gaps[i]));
  const { stride, padding, dilation } = windowsOver("conv", axes, spread, size, {
    stride: options.stride,
    padding: options.padding,
    dilation: options.kernelDilation,
  });
  const precision = x.dtype === "f32" ? precisionParams() : {};
  return convolutionNode(x, w, { stride, padding, dilation, gaps, groups, isBatch, ...precision });
}

function groupsOf(options: ConvOptions, x: Node, w: Node): { groups: number; isBatch: boolean } {
  const { featureGroups = 1, batchGroups = 1 } = options;
  const [batch, channels] = x.shape;
  const [results, inner] = w.shape;
  for (const [name, count] of Object.entries({ featureGroups, batchGroups })) {
    if (!Number.isSafeInteger(count) || count < 1)
      throw new ArgumentError(`conv: ${name} of ${count}; give 1 or more.`);
  }
  if (featureGroups > 1 && batchGroups > 1) {
    throw new ArgumentError(`conv: ${featureGroups} featureGroups and ${batchGroups} batchGroups; one of them is 1.`);
  }
  const groups = featureGroups * batchGroups;
  if (channels !== inner * featureGroups) {
    throw new ShapeError(
      `conv: the input has ${channels} channels, the kernel is for ${inner}` +
        `${featureGroups > 1 ? ` in each of ${featureGroups} groups` : ""}; they must agree.`,
    );
  }
  if (results % groups !== 0) {
    throw new ShapeError(`conv: ${results} kernels do not divide into ${groups} groups.`);
  }
  if (batch % batchGroups !== 0) {
    throw new ShapeError(`conv: a batch of ${batch} does not divide into ${batchGroups} groups.`);
  }
  return { groups, isBatch: batchGroups > 1 };
}
