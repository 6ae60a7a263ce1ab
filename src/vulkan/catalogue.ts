/**
 * The kernel catalogue: ready-made kernels over device buffers, with the seeds' op codes and argument order. Each takes
 * `{ type: "f64" }` for doubles, and `{ shader }`, SPIR-V of the caller's own that keeps the same contract:
 *
 * | function | bindings | push block | workgroups |
 * |---|---|---|---|
 * | applyBinary | a, b, out | n | ⌈n / local size⌉ |
 * | applyUnary | a, out | n | ⌈n / local size⌉ |
 * | reduceAxis | a, out | outer, reduce, inner, op | ⌈outer·inner / local size⌉ |
 * | matmul | a, b, out | m, n, k | ⌈n / local x⌉ × ⌈m / local y⌉ |
 * | transpose2d | a, out | m, n | ⌈n / local x⌉ × ⌈m / local y⌉ |
 * | leapfrogChain | q, p, extras, q chain, p chain, gradient chain, log-density chain | K, observations, d, 0, ε | 1 |
 *
 * The op code of elementwise kernels is specialisation constant 0.
 */

import { ArgumentError, SizeMismatchError } from "../core/errors.js";
import { asBytes, type ByteSource } from "../engines/byte-source.js";
import type { VulkanDevice } from "../engines/vulkan/device.js";
import { DeviceBuffer } from "../engines/vulkan/memory/buffer.js";
import type { Kernel } from "../engines/vulkan/pipelines/kernel.js";
import { floatControlsOf } from "../spirv/module/float-controls.js";
import {
  binaryShader,
  type CatalogueType,
  type FloatControls,
  MATMUL_TILE,
  matmulShader,
  reduceShader,
  TRANSPOSE_TILE,
  transposeShader,
  unaryShader,
} from "./shaders.js";

export { gaussianChainShader } from "./gaussian-chain.js";

/** Operations of the catalogue on two buffers. */
export const binaryOps = ["add", "mul", "sub", "div", "pow", "max", "min"] as const;
/** Operations of the catalogue on one buffer. */
export const unaryOps = [
  "exp",
  "log",
  "sqrt",
  "abs",
  "neg",
  "sigmoid",
  "tanh",
  "relu",
  "ceil",
  "floor",
  "sign",
  "reciprocal",
  "square",
] as const;
/** Reductions of the catalogue. */
export const reduceOps = ["sum", "max", "min"] as const;

/** Options of the catalogue's operations. */
export interface CatalogueOptions {
  /** Element type of the buffers; f32 unless told. */
  readonly type?: CatalogueType;
  /** SPIR-V (or the path of a file) to run instead of ours. */
  readonly shader?: Uint32Array | ByteSource | string;
}

/** out[i] = a[i] ∘ b[i] for i < n. Ops: 0 add, 1 mul, 2 sub, 3 div, 4 pow, 5 max, 6 min. */
export function applyBinary(
  out: DeviceBuffer,
  a: DeviceBuffer,
  b: DeviceBuffer,
  n: number,
  op: number,
  options: CatalogueOptions = {},
): void {
  checkOp("applyBinary", op, binaryOps);
  checkSameSize("applyBinary", n, options, { out, a, b });
  if (n === 0) return;
  const kernel = find(out.device, "binary", binaryShader, options, op, binaryOps);
  kernel.run({ buffers: [a, b, out], push: new Uint32Array([n]), groups: grid(kernel, n, options) });
}

/** out[i] = f(a[i]) for i < n. Ops: 0 exp, 1 log, 2 sqrt, 3 abs, 4 neg, 5 sigmoid, 6 tanh, 7 relu, 8 ceil, 9 floor,
 * 10 sign, 11 reciprocal, 12 square. */
export function applyUnary(
  out: DeviceBuffer,
  a: DeviceBuffer,
  n: number,
  op: number,
  options: CatalogueOptions = {},
): void {
  checkOp("applyUnary", op, unaryOps);
  checkSameSize("applyUnary", n, options, { out, a });
  if (n === 0) return;
  const kernel = find(out.device, "unary", unaryShader, options, op, unaryOps);
  kernel.run({ buffers: [a, out], push: new Uint32Array([n]), groups: grid(kernel, n, options) });
}

/** Enough workgroups to fill a large GPU; beyond it a longer chunk per group is cheaper than more groups. */
const ENOUGH_GROUPS = 1024;
const SHORTEST_CHUNK = 4096;

/** Reduces the middle axis of a seen as (outer, reduce, inner). Ops: 0 sum, 1 max, 2 min. */
export function reduceAxis(
  out: DeviceBuffer,
  a: DeviceBuffer,
  outer: number,
  reduce: number,
  inner: number,
  op: number,
  options: CatalogueOptions = {},
): void {
  checkOp("reduceAxis", op, reduceOps);
  checkCounts("reduceAxis", { outer, reduce, inner });
  checkHolds("reduceAxis", "a", a, outer * reduce * inner, options);
  checkHolds("reduceAxis", "out", out, outer * inner, options);
  const slots = outer * inner;
  if (slots === 0) return;
  if (options.shader !== undefined) {
    const kernel = find(out.device, "reduce", reduceShader, options, null, reduceOps);
    const push = new Uint32Array([outer, reduce, inner, op]);
    kernel.run({ buffers: [a, out], push, groups: grid(kernel, slots, options) });
    return;
  }
  const kernel = find(out.device, "reduce", reduceShader, options, op, reduceOps);
  const wanted = Math.ceil(ENOUGH_GROUPS / slots);
  const chunks = Math.max(1, Math.min(wanted, Math.ceil(reduce / SHORTEST_CHUNK)));
  const chunk = Math.ceil(reduce / chunks);
  const pass = (from: DeviceBuffer, to: DeviceBuffer, length: number, size: number, count: number) =>
    kernel.run({
      buffers: [from, to],
      push: new Uint32Array([outer, length, inner, op, size, count]),
      groups: groupGrid(out.device, slots * count),
    });
  if (chunks === 1) pass(a, out, reduce, chunk, 1);
  else {
    const partial = out.device.allocUninitialized(slots * chunks * bytesOf(options));
    try {
      pass(a, partial, reduce, chunk, chunks);
      pass(partial, out, chunks, chunks, 1);
    } finally {
      partial.dispose();
    }
  }
}

/** out (m×n) = a (m×k) · b (k×n), row-major. */
export function matmul(
  out: DeviceBuffer,
  a: DeviceBuffer,
  b: DeviceBuffer,
  m: number,
  n: number,
  k: number,
  options: CatalogueOptions = {},
): void {
  checkCounts("matmul", { m, n, k });
  checkHolds("matmul", "a", a, m * k, options);
  checkHolds("matmul", "b", b, k * n, options);
  checkHolds("matmul", "out", out, m * n, options);
  checkApart("matmul", out, { a, b });
  if (m * n === 0) return;
  const kernel = find(out.device, "matmul", matmulShader, options, null, []);
  const groups = tileGrid(kernel, m, n, MATMUL_TILE, options);
  kernel.run({ buffers: [a, b, out], push: new Uint32Array([m, n, k]), groups });
}

/** out (n×m) = aᵀ of a (m×n), row-major. */
export function transpose2d(
  out: DeviceBuffer,
  a: DeviceBuffer,
  m: number,
  n: number,
  options: CatalogueOptions = {},
): void {
  checkCounts("transpose2d", { m, n });
  checkHolds("transpose2d", "a", a, m * n, options);
  checkHolds("transpose2d", "out", out, m * n, options);
  checkApart("transpose2d", out, { a });
  if (m * n === 0) return;
  const kernel = find(out.device, "transpose", transposeShader, options, null, []);
  const groups = tileGrid(kernel, m, n, TRANSPOSE_TILE, options);
  kernel.run({ buffers: [a, out], push: new Uint32Array([m, n]), groups });
}

/** The positions of a chain of leapfrog steps, and what was computed there. */
export interface LeapfrogChain<A> {
  /** K × d positions, momenta and gradients, and K log densities. */
  readonly q: A;
  readonly p: A;
  readonly grad: A;
  readonly logp: A;
}

/**
 * Runs K leapfrog steps of a synthesised model in one dispatch. `q` and `p` hold d elements, `extras` the observations
 * followed by the d inverse masses, `push` 20 to 128 bytes: K, number of observations, d, 0, then ε (f32 at byte 16,
 * or f64 with `{ type: "f64" }`), then further parameters of the model.
 */
export async function leapfrogChain<T extends CatalogueType = "f32">(
  device: VulkanDevice,
  q: ByteSource,
  p: ByteSource,
  extras: ByteSource,
  push: ByteSource,
  k: number,
  shader: Uint32Array | ByteSource | string,
  options: { readonly type?: T } = {},
): Promise<LeapfrogChain<T extends "f64" ? Float64Array : Float32Array>> {
  const bytes = bytesOf(options);
  const pushed = asBytes(push);
  const least = bytes === 8 ? 24 : 20;
  if (pushed.byteLength < least || pushed.byteLength > 128) {
    throw new ArgumentError(`leapfrogChain: a push block of ${pushed.byteLength} bytes; it has ${least} to 128.`);
  }
  if (!Number.isInteger(k) || k < 1) throw new ArgumentError(`leapfrogChain: k is ${k}; it must be at least 1.`);
  const view = new DataView(pushed.buffer, pushed.byteOffset, pushed.byteLength);
  const [steps, observations, d] = [0, 4, 8].map((at) => view.getUint32(at, true)) as [number, number, number];
  if (steps !== k) throw new ArgumentError(`leapfrogChain: k is ${k}, but the push block says K = ${steps}.`);
  const expect = (name: string, source: ByteSource, elements: number) => {
    const given = asBytes(source).byteLength;
    if (given !== elements * bytes) {
      throw new SizeMismatchError(
        `leapfrogChain: ${name} has ${given} bytes; with d = ${d} and ${observations} observations it has ${elements * bytes}.`,
      );
    }
  };
  expect("q", q, d);
  expect("p", p, d);
  expect("extras", extras, observations + d);

  const kernel = device.kernel(shader, { name: "leapfrogChain" });
  const inputs = [q, p, extras].map((source) => device.upload(source));
  const outputs = [k * d, k * d, k * d, k].map((elements) => device.alloc(elements * bytes));
  try {
    kernel.run({ buffers: [...inputs, ...outputs], push: pushed, groups: [1] });
    const [qs, ps, grads, logps] = await Promise.all(outputs.map((buffer) => buffer.read()));
    type Elements = T extends "f64" ? Float64Array : Float32Array;
    const typed = (data: Uint8Array | undefined) => {
      const { buffer } = data as Uint8Array;
      return (bytes === 8 ? new Float64Array(buffer) : new Float32Array(buffer)) as Elements;
    };
    return { q: typed(qs), p: typed(ps), grad: typed(grads), logp: typed(logps) };
  } finally {
    for (const buffer of [...inputs, ...outputs]) buffer.dispose();
  }
}

// ------------------------------------------------------------------------------------------------ the common part

function bytesOf({ type = "f32" }: CatalogueOptions): number {
  if (type !== "f32" && type !== "f64") {
    throw new ArgumentError(`The catalogue has kernels for f32 and f64, not ${String(type)}.`);
  }
  return type === "f64" ? 8 : 4;
}

function checkBuffer(operation: string, name: string, buffer: DeviceBuffer): void {
  if (buffer instanceof DeviceBuffer) return;
  throw new ArgumentError(`${operation}: ${name} is not a buffer made by device.alloc or device.upload.`);
}

/** The words of our own shaders, made once per kind and type. */
const shaders = new Map<string, Uint32Array>();

function find(
  device: VulkanDevice,
  kind: string,
  make: (type: CatalogueType, floatControls: FloatControls) => Uint32Array,
  options: CatalogueOptions,
  op: number | null,
  names: readonly string[],
): Kernel {
  const type = options.type ?? "f32";
  const name = op === null ? `${kind} ${type}` : `${names[op]} ${type}`;
  const specialization: Record<number, number> = op === null ? {} : { 0: op };
  if (options.shader !== undefined) return device.kernel(options.shader, { name, specialization });
  const floatControls = floatControlsOf(device.properties.floatControls);
  const key = `${kind} ${type} ${JSON.stringify(floatControls)}`;
  let words = shaders.get(key);
  if (!words) {
    words = make(type, floatControls);
    shaders.set(key, words);
  }
  return device.kernel(words, { name, specialization });
}

/** Workgroups for n threads. Only our own kernels continue along y; a caller's kernel must fit into one row. */
function grid(kernel: Kernel, n: number, options: CatalogueOptions): readonly [number] | readonly [number, number] {
  const groups = Math.ceil(n / kernel.localSize[0]);
  return options.shader === undefined ? groupGrid(kernel.device, groups) : [groups];
}

/** Workgroups for the tiles of an m×n matrix: in a row for our own kernels, which find their tile by its number. */
function tileGrid(kernel: Kernel, m: number, n: number, tile: number, options: CatalogueOptions) {
  if (options.shader === undefined) return groupGrid(kernel.device, Math.ceil(n / tile) * Math.ceil(m / tile));
  const [x, y] = kernel.localSize;
  return [Math.ceil(n / x), Math.ceil(m / y)] as const;
}

function groupGrid(device: VulkanDevice, groups: number): readonly [number, number] {
  const [widest] = device.plan.limits.maxComputeWorkGroupCount;
  if (groups <= widest) return [groups, 1];
  const rows = Math.ceil(groups / widest);
  return [Math.ceil(groups / rows), rows];
}

function checkOp(operation: string, op: number, names: readonly string[]): void {
  if (Number.isInteger(op) && op >= 0 && op < names.length) return;
  throw new ArgumentError(
    `${operation}: there is no op ${op}; ops are ${names.map((name, i) => `${i} ${name}`).join(", ")}.`,
  );
}

function checkCounts(operation: string, counts: Readonly<Record<string, number>>): void {
  for (const [name, count] of Object.entries(counts)) {
    if (Number.isInteger(count) && count >= 0 && count < 2 ** 32) continue;
    throw new ArgumentError(`${operation}: ${name} is ${count}; it must be a whole number below 2^32.`);
  }
}

function checkHolds(operation: string, name: string, buffer: DeviceBuffer, n: number, options: CatalogueOptions): void {
  checkBuffer(operation, name, buffer);
  const needed = n * bytesOf(options);
  if (n < 2 ** 32 && buffer.byteLength === needed) return;
  throw new SizeMismatchError(`${operation}: ${name} has ${buffer.byteLength} bytes; ${needed} are needed.`);
}

/** Refuses an output that is also an input: other threads may not have read it yet. */
function checkApart(operation: string, out: DeviceBuffer, inputs: Readonly<Record<string, DeviceBuffer>>): void {
  for (const [name, input] of Object.entries(inputs)) {
    if (input !== out) continue;
    throw new ArgumentError(`${operation}: out and ${name} are one buffer; write the result to another.`);
  }
}

function checkSameSize(
  operation: string,
  n: number,
  options: CatalogueOptions,
  buffers: Readonly<Record<string, DeviceBuffer>>,
): void {
  for (const [name, buffer] of Object.entries(buffers)) checkBuffer(operation, name, buffer);
  checkCounts(operation, { n });
  const sizes = Object.entries(buffers).map(([name, buffer]) => `${name} ${buffer.byteLength}`);
  const lengths = new Set(Object.values(buffers).map((buffer) => buffer.byteLength));
  if (lengths.size > 1) {
    throw new SizeMismatchError(`${operation}: the buffers must be of one size; they have ${sizes.join(", ")} bytes.`);
  }
  const [length = 0] = lengths;
  if (n * bytesOf(options) > length) {
    throw new SizeMismatchError(
      `${operation}: ${n} elements need ${n * bytesOf(options)} bytes; the buffers have ${length}.`,
    );
  }
}
