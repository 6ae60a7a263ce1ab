/**
 * Contractions as the rows measure them: matrix products of any shape, dtype and orientation, causal attention written by
 * hand, convolutions and their gradients. Inputs, and elements proved by plain loops, as in bench/tensor-work.ts; the rows
 * are in bench/rows/contractions.ts, the peers' side in bench/peers/contractions.py.
 */
import { arange, type DType, jit, type MatmulPrecision, type Tensor, vjp, where } from "../src/index.js";
import { centred, centredAt, closenessIn, total, type Work } from "./tensor-work.js";

export interface Product {
  /** [m, k] by [k, n]. */
  readonly m: number;
  readonly k: number;
  readonly n: number;
  readonly dtype: DType;
  /** As many products side by side. */
  readonly batch?: number;
  /** The operand that is stored transposed: a·bᵀ has "b". */
  readonly transposed?: "a" | "b";
  /** Of f32; "highest" unless told. */
  readonly precision?: MatmulPrecision;
}

export const operationsOf = ({ m, k, n, batch = 1 }: Product): number => 2 * batch * m * k * n;

export function matrixProduct(device: string, shape: Product): Work {
  const { m, k, n, dtype, batch, transposed, precision = "highest" } = shape;
  const stack = batch === undefined ? [] : [batch];
  const a = centred(device, [...stack, ...(transposed === "a" ? [k, m] : [m, k])], 0, dtype);
  const b = centred(device, [...stack, ...(transposed === "b" ? [n, k] : [k, n])], 1, dtype);
  const [aRow, aStep] = transposed === "a" ? [1, m] : [k, 1];
  const [bStep, bColumn] = transposed === "b" ? [1, k] : [n, 1];
  return {
    inputs: [a, b],
    closeness: closenessIn(dtype, 1),
    compute: () => (transposed === "a" ? a.mT : a).matmul(transposed === "b" ? b.mT : b, { precision }),
    expected(i) {
      const [product, row, column] = [Math.floor(i / (m * n)), Math.floor((i % (m * n)) / n), i % n];
      const aStart = product * m * k + row * aRow;
      const bStart = product * k * n + column * bColumn;
      return total(k, (j) => centredAt(aStart + j * aStep, 0, dtype) * centredAt(bStart + j * bStep, 1, dtype));
    },
  };
}

// ---------------------------------------------------------------------------------------------- attention

/** Each token attends to itself and those before it: product, mask, softmax, product. */
export function causalAttention(q: Tensor, k: Tensor, v: Tensor): Tensor {
  const [tokens, width] = q.shape.slice(-2) as [number, number];
  const at = arange(tokens, { device: q.device });
  const isSeen = at.expandDims(1).greaterEqual(at);
  const scores = q.matmul(k.mT).mul(1 / Math.sqrt(width));
  return where(isSeen, scores, -Infinity).softmax().matmul(v);
}

/** Of queries, keys and values of [batch, heads, tokens, width]. */
export function attention(device: string, shape: readonly number[], dtype: DType): Work {
  const [tokens, width] = shape.slice(-2) as [number, number];
  const inputs = [0, 1, 2].map((seed) => centred(device, shape, seed, dtype));
  const [q, k, v] = inputs as [Tensor, Tensor, Tensor];
  return {
    inputs,
    // Late tokens are means of many values, and small.
    closeness: closenessIn(dtype, 0.1),
    compute: () => causalAttention(q, k, v),
    expected(i) {
      const [column, token] = [i % width, Math.floor(i / width) % tokens];
      const [head, query] = [i - column - token * width, i - column];
      const weights = Array.from({ length: token + 1 }, (_, key) => {
        const start = head + key * width;
        const score = total(width, (j) => centredAt(query + j, 0, dtype) * centredAt(start + j, 1, dtype));
        return Math.exp(score / Math.sqrt(width));
      });
      const sum = total(weights.length, (key) => weights[key]!);
      return total(weights.length, (key) => weights[key]! * centredAt(head + key * width + column, 2, dtype)) / sum;
    },
  };
}

// ---------------------------------------------------------------------------------------------- convolution

/** Images of [batch, channels, side, side] by square kernels, with zeros around: as many results per axis as side / stride. */
export interface Convolution {
  readonly batch: number;
  readonly channels: number;
  readonly results: number;
  readonly side: number;
  readonly kernel: number;
  readonly stride: number;
  readonly dtype: DType;
}

/** Of the forward pass, and as many again for each gradient. */
export function convolutionOperations(shape: Convolution): number {
  const { batch, channels, results, kernel } = shape;
  return 2 * batch * results * outputSide(shape) ** 2 * channels * kernel ** 2;
}

const outputSide = ({ side, stride }: Convolution): number => Math.ceil(side / stride);

function convolved({ kernel, stride }: Convolution): (x: Tensor, w: Tensor) => Tensor {
  const around = Math.floor(kernel / 2);
  const padding = [around, around] as const;
  return (x, w) => x.conv(w, { stride, padding: [padding, padding] });
}

function operands(device: string, { batch, channels, results, side, kernel, dtype }: Convolution) {
  const x = centred(device, [batch, channels, side, side], 0, dtype);
  const w = centred(device, [results, channels, kernel, kernel], 1, dtype);
  return { x, w };
}

/** The sum over the pairs of an output pixel and a kernel element that see the same input pixel, along one axis each. */
function overWindows(shape: Convolution, term: (output: number, tap: number, input: number) => number): number {
  const { side, kernel, stride } = shape;
  let sum = 0;
  for (let output = 0; output < outputSide(shape); output++)
    for (let tap = 0; tap < kernel; tap++) {
      const input = output * stride + tap - Math.floor(kernel / 2);
      if (input >= 0 && input < side) sum += term(output, tap, input);
    }
  return sum;
}

export function convolution(device: string, shape: Convolution): Work {
  const { channels, results, side, kernel, dtype } = shape;
  const { x, w } = operands(device, shape);
  const conv = convolved(shape);
  const out = outputSide(shape);
  return {
    inputs: [x, w],
    closeness: closenessIn(dtype, 1),
    compute: () => conv(x, w),
    expected(i) {
      const [column, row] = [i % out, Math.floor(i / out) % out];
      const [result, image] = [Math.floor(i / out ** 2) % results, Math.floor(i / (out ** 2 * results))];
      return total(channels, (channel) =>
        overWindows(shape, (y, dy, inputY) => {
          if (y !== row) return 0;
          return overWindows(shape, (x, dx, inputX) => {
            if (x !== column) return 0;
            const pixel = ((image * channels + channel) * side + inputY) * side + inputX;
            const weight = ((result * channels + channel) * kernel + dy) * kernel + dx;
            return centredAt(pixel, 0, dtype) * centredAt(weight, 1, dtype);
          });
        }),
      );
    },
  };
}

/** The gradients by the images and by the kernels, of a convolution whose results have slopes of their own. */
export function convolutionGradients(device: string, shape: Convolution): Work {
  const { batch, channels, results, side, kernel, dtype } = shape;
  const { x, w } = operands(device, shape);
  const out = outputSide(shape);
  const slopes = centred(device, [batch, results, out, out], 2, dtype);
  const gradients = jit((x: Tensor, w: Tensor, slopes: Tensor) => vjp(convolved(shape), x, w)[1](slopes));
  const slopeAt = (image: number, result: number, y: number, x: number): number =>
    centredAt(((image * results + result) * out + y) * out + x, 2, dtype);
  const byPixel = (i: number): number => {
    const [column, row] = [i % side, Math.floor(i / side) % side];
    const [channel, image] = [Math.floor(i / side ** 2) % channels, Math.floor(i / (side ** 2 * channels))];
    return total(results, (result) =>
      overWindows(shape, (y, dy, inputY) => {
        if (inputY !== row) return 0;
        return overWindows(shape, (x, dx, inputX) => {
          if (inputX !== column) return 0;
          const weight = ((result * channels + channel) * kernel + dy) * kernel + dx;
          return slopeAt(image, result, y, x) * centredAt(weight, 1, dtype);
        });
      }),
    );
  };
  const byWeight = (i: number): number => {
    const [column, row] = [i % kernel, Math.floor(i / kernel) % kernel];
    const [channel, result] = [Math.floor(i / kernel ** 2) % channels, Math.floor(i / (kernel ** 2 * channels))];
    return total(batch, (image) =>
      overWindows(shape, (y, dy, inputY) => {
        if (dy !== row) return 0;
        return overWindows(shape, (x, dx, inputX) => {
          if (dx !== column) return 0;
          const pixel = ((image * channels + channel) * side + inputY) * side + inputX;
          return slopeAt(image, result, y, x) * centredAt(pixel, 0, dtype);
        });
      }),
    );
  };
  return {
    inputs: [x, w, slopes],
    closeness: closenessIn(dtype, 1),
    compute: () => gradients(x, w, slopes),
    expected: (i, result) => (result === 0 ? byPixel(i) : byWeight(i)),
  };
}
