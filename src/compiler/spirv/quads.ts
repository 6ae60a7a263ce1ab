/**
 * Four rows per thread: where a kernel is straight-line code over memory that lies side by side, each thread reads and
 * writes vectors of 16 bytes. Memory-bound kernels need it: a GPU moves vectors faster than words.
 */
import { DTYPES } from "../../core/dtype.js";
import type { Value as IRValue, Kernel, Statement } from "../ir.js";

export const QUAD = 4;
/** The body is written four times; beyond this many values that costs more than it gains. */
const MAX_SIZE = 800;

type Store = Extract<Statement, { kind: "store" }>;

/** Rows each thread computes. The emitter and whoever dispatches the kernel must agree on it. */
export function rowsPerThread(kernel: Kernel): 1 | 4 {
  if (kernel.lanes !== 1 || kernel.rows % QUAD !== 0 || kernel.size > MAX_SIZE || kernel.rows < 1 << 16) return 1;
  const isStraight = kernel.body.every((s) => s.kind === "let" || (s.kind === "store" && isVectorStore(kernel, s)));
  return isStraight ? QUAD : 1;
}

const isWord = (kernel: Kernel, buffer: number): boolean => {
  const { dtype, isUnaligned } = kernel.buffers[buffer];
  const { bytes, kind } = DTYPES[dtype];
  return bytes === 4 && kind !== "complex" && !isUnaligned;
};

/** The element of the row itself, in a buffer of words. */
export const isVectorLoad = (kernel: Kernel, { op, args, attribute }: IRValue): boolean =>
  op === "load" && args[0].op === "row" && isWord(kernel, attribute as number);

const isVectorStore = (kernel: Kernel, { index, buffer, gate }: Store): boolean =>
  index.op === "row" && gate === null && isWord(kernel, buffer);
