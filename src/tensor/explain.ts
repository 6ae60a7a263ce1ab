/** The kernels that a value would run as: `console.log(explain(x))`. */

import { checkOptions } from "../core/arguments.js";
import { checkCount } from "../core/arity.js";
import { formatShape } from "../core/shape.js";
import { contiguousSliceOf } from "../graph/contiguous-slice.js";
import type { PrintOptions } from "../runtime/print-program.js";
import { backendOf } from "./build.js";
import type { Tensor } from "./tensor.js";
import { checkTensor } from "./tensor-checks.js";

/**
 * The kernels that computing a tensor would run: for each what it reads and writes, the formula it computes, and how its
 * rows are spread over the device. `{ verbose: true }` shows their loops, too.
 *
 * @example
 * console.log(explain(a.mul(b).add(c).tanh()));
 * // 1. tanh[1000]: 1000 rows, 60 values; reads a f32[1000], … ; writes out f32[1000]; 11.7 KiB read, 3.9 KiB written
 * //    out[i] = tanh(a[i] * b[i] + c[i])
 * //    16 workgroups of 64 threads, a row per thread
 */
export function explain(x: Tensor, options: PrintOptions = {}): string {
  checkCount("explain", 2, arguments);
  checkOptions("explain", options, { verbose: "flag" });
  checkTensor("explain", "the argument", x);
  const { node, shape, dtype, device } = x;
  const what = `Tensor(${formatShape(shape)}, ${dtype}, ${device})`;
  if (node.storage) return `${what} is computed already: nothing would run.`;
  if (contiguousSliceOf(node)) return `${what} is a part of memory that is there: nothing would run.`;
  const { kernels, text } = backendOf(node).explain([node], options);
  const count = kernels === 1 ? "1 kernel" : `${kernels} kernels`;
  return `${what} on ${device}: ${count}\n${text}`;
}
