/**
 * Convolution (cross-correlation: kernels are not flipped) of [N, C, …] with kernels [O, I, …] over all spatial axes. Its
 * definition sees the input through windows and multiplies by the kernels: a matrix product whose right side is read in place.
 *
 * It is a primitive for the sake of its gradient with respect to the input. The transpose of a window sums what was written to
 * memory for every place; a convolution with turned kernels reads the cotangent in place instead.
 */
import { type Shape, sizeOf } from "../../core/shape.js";
import { makeNode } from "../build.js";
import { makePlaceholder, substitute } from "../function.js";
import type { Node } from "../node.js";
import type { BatchedInput, CompositePrimitive } from "../primitive.js";
import type { MatmulPrecision } from "../product-precision.js";
import type { GraphOps } from "../vocabulary.js";
import { padNode, type Windows, windowNode } from "../windows.js";

/** @internal for tests: cases are lists of params */
export interface ConvolutionParams {
  /** Per spatial axis. */
  readonly stride: readonly number[];
  readonly padding: readonly (readonly [number, number])[];
  readonly dilation: readonly number[];
  /** Zeros put between elements of the input. */
  readonly gaps: readonly number[];
  readonly groups: number;
  /** The batch is in groups, each of which sees its own kernels, and whose results become channels; else the channels are. */
  readonly isBatch: boolean;
  readonly precision?: MatmulPrecision;
}

export function convolutionNode(x: Node, w: Node, params: ConvolutionParams): Node {
  return makeNode(convolution, [x, w], { ...params }, x.device);
}

const paramsOf = ({ params }: Node): ConvolutionParams => params as unknown as ConvolutionParams;

const convolution: CompositePrimitive = {
  name: "conv",
  kind: "composite",
  infer: ([x, w], params) => {
    const { stride, padding, dilation, gaps, groups, isBatch } = params as unknown as ConvolutionParams;
    const [batch, , ...extents] = x.shape;
    const [results, , ...size] = w.shape;
    const counts = extents.map((extent, i) => {
      const spread = extent === 0 ? 0 : extent + (extent - 1) * gaps[i];
      const reach = (size[i] - 1) * dilation[i] + 1;
      return Math.max(0, Math.floor((spread + padding[i][0] + padding[i][1] - reach) / stride[i]) + 1);
    });
    return { shape: [isBatch ? batch / groups : batch, results, ...counts], dtype: x.dtype };
  },
  expand: (g, node, [x, w]) => defined(g, x, w, paramsOf(node)),
  jvp: (g, node, [tx, tw]) => {
    const [x, w] = node.inputs;
    const fromX = tx && convolutionNode(tx, w, paramsOf(node));
    const fromW = tw && convolutionNode(x, tw, paramsOf(node));
    return fromX && fromW ? g.add(fromX, fromW) : (fromX ?? fromW);
  },
  vjp: (g, node, ct) => {
    const [ofInput, ofKernel] = byDefinition(g, node, ct);
    return [cotangentOfInput(g, node, ct) ?? ofInput, ofKernel];
  },
  batch: (g, node, inputs, size) => {
    const [x, w] = inputs;
    const { isBatch } = paramsOf(node);
    if (w.isBatched || isBatch) return vectorized(g, node, inputs, size);
    const [, batch, ...rest] = x.node.shape;
    const made = convolutionNode(g.reshape(x.node, [size * batch, ...rest]), w.node, paramsOf(node));
    return g.reshape(made, [size, batch, ...made.shape.slice(1)]);
  },
};

/** [N, C, …] and [O, I, …] → [N, O, …], by windows and a product. */
function defined(g: GraphOps, x: Node, w: Node, params: ConvolutionParams): Node {
  const { stride, padding, dilation, gaps, groups, isBatch, precision } = params;
  const [batch, channels] = x.shape;
  const [results, inner, ...size] = w.shape;
  const axes = size.map((_, i) => 2 + i);
  const none = axes.map(() => [0, 0] as const);
  const windows: Windows = { axes, size, stride, dilation, padding };
  const seen = windowNode(padNode(x, axes, none, 0, gaps), windows, x.dtype === "bool" ? false : 0);
  const outputs = seen.shape.slice(2, 2 + axes.length);

  // Both kinds of groups are batches of the product; the rest of the batch runs along with the places of the result.
  const rest = isBatch ? batch / groups : batch;
  const split = isBatch ? [groups, rest, channels] : [rest, groups, inner];
  const [group, others] = isBatch ? [0, 1] : [1, 0];
  const spatialAxes = outputs.map((_, i) => 3 + i);
  const placeAxes = size.map((_, i) => 3 + outputs.length + i);
  const depth = inner * sizeOf(size);
  // The summation runs over the channels of a place, then over places: neighbours then see the same part of the input.
  const order = [group, ...placeAxes, 2, others, ...spatialAxes];
  const columns = g.permute(g.reshape(seen, [...split, ...outputs, ...size]), order);
  const kernels = g.permute(w, [0, ...axes, 1]);
  const product = g.dot(
    g.reshape(kernels, [groups, results / groups, depth]),
    g.reshape(columns, [groups, depth, rest * sizeOf(outputs)]),
    precision ? { precision } : {},
  );
  const apart = g.reshape(product, [groups, results / groups, rest, ...outputs]);
  return g.reshape(g.permute(apart, [2, 0, 1, ...spatialAxes]), [rest, results, ...outputs]);
}

/** The cotangent of the input as a convolution with turned kernels; null where steps or gaps would multiply by many zeros. */
function cotangentOfInput(g: GraphOps, node: Node, ct: Node): Node | null {
  const { stride, padding, dilation, gaps, groups, isBatch, precision } = paramsOf(node);
  if (isBatch || stride.some((step) => step > 1) || gaps.some((gap) => gap > 0)) return null;
  const [x, w] = node.inputs;
  const [results, inner, ...size] = w.shape;
  if (sizeOf(ct.shape) === 0 || sizeOf(x.shape) === 0) return null;
  const axes = size.map((_, i) => 2 + i);
  const turned = g.flip(w, axes);
  const apart = g.reshape(turned, [groups, results / groups, inner, ...size]);
  const swapped = g.permute(apart, [0, 2, 1, ...axes.map((axis) => axis + 1)]);
  const margins = padding.map(([before, after], i) => {
    const reach = (size[i] - 1) * dilation[i];
    return [reach - before, reach - after] as const;
  });
  const params = { stride, padding: margins, dilation, gaps, groups, isBatch, precision };
  return convolutionNode(ct, g.reshape(swapped, [groups * inner, results / groups, ...size]), params);
}

/** Cotangents of the definition. It is written for placeholders: inputs may depend on one another. */
function byDefinition(g: GraphOps, node: Node, ct: Node): readonly (Node | null)[] {
  const stand = node.inputs.map(makePlaceholder);
  const made = g.pullBack([defined(g, stand[0], stand[1], paramsOf(node))], [ct], stand);
  const present = made.filter((each) => each !== null);
  const whole = substitute(present, stand, node.inputs);
  return made.map((each) => each && (whole.shift() as Node));
}

function vectorized(g: GraphOps, node: Node, inputs: readonly BatchedInput[], size: number): Node {
  const stand = node.inputs.map(makePlaceholder);
  const [{ node: made, isBatched }] = g.vectorize(
    [defined(g, stand[0], stand[1], paramsOf(node))],
    stand,
    inputs,
    size,
  );
  return isBatched ? made : g.broadcast(made, [size, ...(made.shape as Shape)]);
}
