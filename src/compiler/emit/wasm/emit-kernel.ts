/**
 * Writes a kernel of the loop-nest language as WebAssembly.
 *
 * The module exports `run(args, start, end)`: `args` points to the addresses of the kernel's buffers, and the rows from
 * `start` to `end` are computed, so that threads can share them. Where the elements are 32 bits wide, or half floats, four
 * are computed at once: neighbouring rows, if those are neighbours in memory, or else neighbouring rounds of the innermost
 * loop. Where the code is short, several such vectors take turns. Kernels of chains, with branches between their loops, have
 * their inner loops in vectors one by one, of f64 too. Rows, or rounds, that are left over are computed one at a
 * time. The four lanes of a kernel of four lanes are also lanes of vectors: they run in lockstep, so a barrier is a no-op.
 *
 * Arrays lie in scratch memory that the caller provides: after the addresses of the buffers come its address and the number
 * of its slots, of `slotBytes(kernel)` each. A thread takes a free slot; the first word of a slot marks it as taken. The
 * arrays of four rows computed at once are interleaved there.
 */
import { DTYPES } from "../../../core/dtype.js";
import { UnsupportedError } from "../../../core/errors.js";
import { ModuleBuilder } from "../../../wasm/builder.js";
import type { FunctionBuilder } from "../../../wasm/function-builder.js";
import type { Value } from "../../../wasm/value.js";
import { type Kernel, MAX_I32 } from "../../ir/ir.js";
import { BodyEmitter } from "./emit-body.js";
import { canTakeTurns, planVectors, TURNS, VECTOR_LANES, type VectorPlan } from "./vector-plan.js";

/** A cache line: the header of a slot, and the alignment of arrays. */
const LINE = 64;

/** The offsets of a kernel's arrays in a slot, and the bytes of the slot; 0 where there are no arrays. */
function layOut({ arrays }: Kernel, plan: VectorPlan): { readonly starts: readonly number[]; readonly bytes: number } {
  let bytes = arrays.length > 0 ? LINE : 0;
  const rows = plan.isRowVector ? VECTOR_LANES : 1;
  const starts = arrays.map(({ type, size }) => {
    const start = bytes;
    bytes += Math.ceil((rows * size * DTYPES[type].bytes) / LINE) * LINE;
    return start;
  });
  return { starts, bytes };
}

/** Bytes each thread needs for the arrays of a kernel. */
export const slotBytes = (kernel: Kernel): number =>
  kernel.arrays.length === 0 ? 0 : layOut(kernel, planVectors(kernel)).bytes;

/** Values computed in about 20 µs. */
export const WORTH_A_THREAD = 32768;

/** Rows per unit of `start` and `end`, for kernels with more than 2^31 rows. */
const COUNTED_ROWS = 4;
export const rowsPerCount = ({ rows }: Pick<Kernel, "rows">): number => (rows > MAX_I32 ? COUNTED_ROWS : 1);

/** `relaxedSimd`: the engine has it, for multiply-adds that round once. */
export function emitWasm(kernel: Kernel, relaxedSimd = false): Uint8Array {
  if (kernel.lanes !== 1 && kernel.lanes !== VECTOR_LANES) {
    throw new UnsupportedError(
      `${kernel.name}: ${kernel.lanes} lanes share a row; on the CPU it is 1 or ${VECTOR_LANES}`,
    );
  }
  if (kernel.lanes > 1 && kernel.arrays.some(({ isPrivate }) => isPrivate)) {
    throw new UnsupportedError(`${kernel.name}: private arrays of several lanes; on the CPU lanes share all`);
  }
  if (kernel.fragments) throw new UnsupportedError(`${kernel.name}: WebAssembly has no matrix units`);
  const m = new ModuleBuilder({ relaxedSimd });
  const plan = planVectors(kernel);
  const run = m.function("run", ["i32", "i32", "i32"], [], (f, args, start, end) => {
    const addresses = kernel.buffers.map((_, i) => f.i32.load(args, { offset: 4 * i }));
    const { starts, bytes } = layOut(kernel, plan);
    const rows = () => {
      const scratch = bytes > 0 ? takeScratch(f, args, kernel.buffers.length, bytes) : null;
      const arrays = scratch ? starts.map((offset) => f.i32.add(scratch, offset)) : [];
      const known = new BodyEmitter(f, kernel, addresses, arrays, plan).beforeRows();
      const newBody = () => new BodyEmitter(f, kernel, addresses, arrays, plan, known);
      if (rowsPerCount(kernel) > 1) {
        f.for(start, end, 1, (count) => {
          f.for(0, COUNTED_ROWS, 1, (part) => {
            const first = f.i64.mul(f.i64.extend_i32_u(count), BigInt(COUNTED_ROWS));
            const row = f.i64.add(first, f.i64.extend_i32_u(part));
            f.if(f.i64.lt_u(row, BigInt(kernel.rows)), () => newBody().rows(row, 1));
          });
        });
      } else if (plan.isRowVector) {
        // Vectors begin at multiples of their length, and those that take turns at multiples of the length of all of them: threads
        // begin there, too. The rows before and after them are computed by the same code.
        const takesTurns = canTakeTurns(kernel.body);
        const unit = takesTurns ? VECTOR_LANES * TURNS : VECTOR_LANES;
        const next = f.i32.and(f.i32.add(start, unit - 1), -unit);
        const first = f.select(f.i32.lt_u(next, end), next, end);
        const count = f.i32.sub(end, first);
        const endOf = (step: number) => f.i32.add(first, f.i32.and(count, -step));
        const whole = endOf(VECTOR_LANES);
        f.for(0, 2, 1, (isAfter) => {
          const [from, to] = [f.select(isAfter, whole, start), f.select(isAfter, end, first)];
          f.for(from, to, 1, (row) => newBody().rows(row, 1));
          f.if(f.i32.eqz(isAfter), () => {
            let done = first;
            if (takesTurns) {
              done = endOf(VECTOR_LANES * TURNS);
              f.for(first, done, VECTOR_LANES * TURNS, (row) => newBody().rowsInTurns(row));
            }
            f.for(done, whole, VECTOR_LANES, (row) => newBody().rows(row, VECTOR_LANES));
          });
        });
      } else f.for(start, end, 1, (row) => newBody().rows(row, 1));
      if (scratch) f.i32.atomic.store(scratch, 0);
    };
    if (kernel.gate) f.if(f.i32.eq(f.i32.load(addresses[kernel.gate.buffer]), kernel.gate.value), rows);
    else rows();
  });
  m.export(run);
  return m.build();
}

/** Takes the first free slot. There are as many slots as threads, so one is free now or soon. */
export function takeScratch(f: FunctionBuilder, args: Value<"i32">, buffers: number, bytes: number): Value<"i32"> {
  const first = f.i32.load(args, { offset: 4 * buffers });
  const slots = f.i32.load(args, { offset: 4 * buffers + 4 });
  const end = f.i32.add(first, f.i32.mul(slots, bytes));
  const scratch = f.variable("i32", first);
  f.loop(() => {
    f.breakIf(f.i32.eqz(f.i32.atomic.rmw.cmpxchg(scratch.get(), 0, 1)));
    const next = f.i32.add(scratch.get(), bytes);
    scratch.set(f.select(f.i32.eq(next, end), first, next));
  });
  return scratch.get();
}
