/**
 * Concatenates many tensors. A few inputs are fused into the kernel that reads them, which tests every input for each element;
 * with many, that is slow to run and slower to compile. So they are copied side by side: large inputs by a kernel each, small
 * neighbours by one kernel that finds the input by bisection. The offset in the result is no part of a kernel, so inputs of
 * one shape share a kernel.
 *
 * The compiler substitutes it for long concatenations (rewrite/implementations.ts).
 */
import { DTYPES, type DType } from "../../core/dtype.js";
import { sizeOf } from "../../core/shape.js";
import type { RoutinePrimitive } from "../../graph/primitive.js";
import { concat } from "../../graph/primitives/movement.js";
import { computeType } from "../elements/elements.js";
import type { Kernel, Value } from "../ir/ir.js";
import { KernelBuilder } from "../ir/kernel-builder.js";
import type { Routine, RoutineStep } from "../target/routine.js";

/** Most inputs that are fused. */
export const MAX_FUSED_INPUTS = 16;
/** Inputs that one kernel copies: with the result their addresses fit the push block. */
const MAX_TOGETHER = 12;
/** Inputs of this many elements or more get a kernel of their own. */
const LARGE = 1 << 14;

/** `concat` as a routine. Params: axis. */
export const join: RoutinePrimitive = { name: "join", kind: "routine", infer: concat.infer };

/** Neighbouring inputs that one kernel copies, and how many elements each has for one place on the axes before. */
interface CopiedInputs {
  readonly inputs: readonly number[];
  readonly lengths: readonly number[];
}

export const joinRoutine: Routine = ({ inputs, shape, dtype, params }) => {
  const axis = params.axis as number;
  const outer = sizeOf(shape.slice(0, axis));
  const inner = sizeOf(shape.slice(axis + 1));
  const lengths = inputs.map((input) => sizeOf(input.shape.slice(axis)));
  const total = sizeOf(shape.slice(axis));
  const isLarge = outer * total * DTYPES[dtype].bytes > 2 ** 32;
  const kernels = new Map<string, Kernel>();
  let offset = 0;
  const steps = copiesOf(lengths, outer).map((copied): RoutineStep => {
    const key = copied.lengths.join();
    const kernel = kernels.get(key) ?? copyKernel(dtype, outer, copied.lengths, total, isLarge);
    kernels.set(key, kernel);
    const start = offset;
    offset += sum(copied.lengths) * DTYPES[dtype].bytes;
    const sources = copied.inputs.map((index) => ({ kind: "input", index }) as const);
    const [from, to] = [start, offset].map((bytes) => bytes / DTYPES[dtype].bytes / inner);
    const formula = (names: readonly string[]) => {
      const parts = names.slice(0, -1);
      const how = parts.length > 1 ? ` one after another along axis ${axis}` : "";
      return `${names.at(-1)}[${":, ".repeat(axis)}${from}:${to}] = ${parts.join(", ")}${how}`;
    };
    return { kernel, buffers: [...sources, { kind: "result", offset: start }], formula };
  });
  return { temporaries: [], steps };
};

const sum = (lengths: readonly number[]): number => lengths.reduce((total, length) => total + length, 0);

function copiesOf(lengths: readonly number[], outer: number): CopiedInputs[] {
  const copies: { inputs: number[]; lengths: number[] }[] = [];
  let room = 0;
  lengths.forEach((length, input) => {
    if (length === 0) return;
    const last = copies.at(-1);
    const isLarge = outer * length >= LARGE;
    if (last && room > 0 && !isLarge) {
      last.inputs.push(input);
      last.lengths.push(length);
      room--;
    } else {
      copies.push({ inputs: [input], lengths: [length] });
      room = isLarge ? 0 : MAX_TOGETHER - 1;
    }
  });
  return copies;
}

/** Rows of a result are `total` long; the kernel writes the first part of each, from as many inputs as there are lengths. */
function copyKernel(dtype: DType, outer: number, lengths: readonly number[], total: number, isLarge: boolean): Kernel {
  const length = sum(lengths);
  const k = new KernelBuilder(`join[${outer}×${lengths.join("+")}]`, outer * length);
  const i = (value: number) => k.constant("i32", value);
  const sources = lengths.map(() => k.buffer(dtype, false));
  const target = k.buffer(dtype, true, isLarge);
  const isOneRow = outer === 1;
  const row = isOneRow ? i(0) : k.binary("idiv", k.row, i(length));
  const at = isOneRow ? k.row : k.binary("irem", k.row, i(length));
  /** The element at a place among inputs from … to - 1, of which the first begins at `start`. */
  const element = (from: number, to: number, start: number): Value => {
    if (to - from === 1) {
      const before = k.binary("mul", row, i(lengths[from]));
      return k.load(sources[from], k.binary("add", before, k.binary("sub", at, i(start))), computeType(dtype));
    }
    const middle = (from + to) >> 1;
    const end = start + sum(lengths.slice(from, middle));
    const [value] = k.when(
      k.compare("lt", at, i(end)),
      () => [element(from, middle, start)],
      () => [element(middle, to, end)],
    );
    return value;
  };
  const value = element(0, lengths.length, 0);
  k.store(target, k.binary("add", k.binary("mul", row, i(total)), at), value);
  return k.finish();
}
