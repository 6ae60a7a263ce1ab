/** The layout of numbers among the arguments of a recorded program, in the memory that its kernels read. */
import { castScalar } from "../core/cast.js";
import { encodeValues } from "../core/storage.js";
import type { ProgramArgument } from "./engine.js";

/** Bytes from one number to the next: those of a vector. */
export const SCALAR_STRIDE = 16;

/** Bytes that the numbers among arguments take. */
export const scalarBytes = (args: readonly ProgramArgument<unknown>[]): number =>
  SCALAR_STRIDE * args.filter(({ kind }) => kind === "scalar").length;

/** Writes the numbers of a call, each in the dtype of its argument. */
export function writeScalars(
  view: DataView,
  at: number,
  numbers: readonly number[],
  args: readonly ProgramArgument<unknown>[],
): void {
  let next = 0;
  for (const arg of args) {
    if (arg.kind !== "scalar") continue;
    const position = at + SCALAR_STRIDE * next;
    const value = numbers[next++];
    if (arg.dtype === "f32") view.setFloat32(position, value, true);
    else bytesAt(view, position).set(encodeValues([castScalar(value, "f64", arg.dtype)], arg.dtype, "jit"));
  }
}

const bytesAt = ({ buffer, byteOffset }: DataView, at: number): Uint8Array =>
  new Uint8Array(buffer, byteOffset + at, SCALAR_STRIDE);

/** For each argument, its place among those that are memory given with a call; -1 for the others. */
export function memoryPositions(args: readonly ProgramArgument<unknown>[]): number[] {
  let count = 0;
  return args.map(({ kind }) => (kind === "memory" ? count++ : -1));
}
