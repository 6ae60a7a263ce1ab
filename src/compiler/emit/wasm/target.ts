/** WebAssembly as a target: kernels for the host engine, whose rows are split over threads. */
import { chunkOf } from "../../../core/threads.js";
import { disassemble } from "../../../wasm/disassemble.js";
import { innerLists, isWhole, type Kernel, type KernelOutline, type Statement } from "../../ir/ir.js";
import { cpuProfile, type TargetProfile } from "../../target/profile.js";
import type { Target } from "../../target/target.js";
import { emitWasm, rowsPerCount, slotBytes, WORTH_A_THREAD } from "./emit-kernel.js";
import { listedHistogram } from "./listed-sums.js";
import { planVectors, VECTOR_LANES } from "./vector-plan.js";

/** A CPU with so many threads. */
function wasmProfile(threads: number): TargetProfile {
  return { ...cpuProfile, tiles: { ...cpuProfile.tiles, units: threads } };
}

/** `threads` that share the rows of a kernel. `relaxedSimd`: the engine has it (multiply-add.ts). */
export function wasmTarget(
  threads: number,
  profile: TargetProfile = wasmProfile(threads),
  { relaxedSimd = false }: { readonly relaxedSimd?: boolean } = {},
): Target {
  return {
    language: "wasm",
    identity: relaxedSimd ? "wasm, relaxed" : "wasm",
    profile,
    settings: { division: "native" },
    maxLoopRounds: Number.POSITIVE_INFINITY,
    encode: (kernel) => ({ bytes: emitWasm(kernel, relaxedSimd), numbers: numbersOf(kernel) }),
    mappingOf: (kernel, [length, grain]) => {
      const chunk = chunkOf(length, grain, threads);
      const where =
        chunk === null ? "on one thread" : `over ${threads} threads, ${chunk * rowsPerCount(kernel)} rows at a time`;
      return `${where}; ${vectorsIn(kernel)}`;
    },
    routines: { nodeHistogram: listedHistogram },
    disassemble,
  };
}

/**
 * The count of a kernel's rows, the rows worth a thread, the bytes a thread needs for its arrays, and how many times all its
 * work is worth a thread.
 */
function numbersOf(kernel: Kernel): number[] {
  const [count, work] = [Math.ceil(kernel.rows / rowsPerCount(kernel)), workPerRow(kernel)];
  const grain = Math.max(1, Math.ceil(WORTH_A_THREAD / work));
  return [
    count,
    planVectors(kernel).isRowVector ? inVectors(grain, count) : grain,
    slotBytes(kernel),
    Math.min(MOST_WORK, Math.ceil((count * work) / WORTH_A_THREAD)),
  ];
}

/**
 * Rows in whole vectors, and where there are many in whole lines of the cache: sums down the columns of a narrow matrix read it once for each
 * thread's columns.
 */
function inVectors(grain: number, count: number): number {
  const unit = count >= 2 * LINE ? LINE : VECTOR_LANES;
  return Math.ceil(grain / unit) * unit;
}

/** Numbers of 32 bits in a line of the cache. */
const LINE = 16;

/** Numbers of a kernel have 32 bits. */
const MOST_WORK = 2 ** 31 - 1;

/** Values a row computes, the rounds of its loops counted. */
function workPerRow({ body }: Kernel): number {
  const count = (statements: readonly Statement[]): number =>
    statements.reduce(
      (sum, statement) =>
        sum + (statement.kind === "loop" ? statement.extent : 1) * Math.max(1, count(innerLists(statement).flat())),
      0,
    );
  return Math.max(1, count(body));
}

/** The vectors of a kernel, as text. */
function vectorsIn(kernel: KernelOutline): string {
  if (kernel.lanes > 1) return `vectors of ${kernel.lanes} lanes of a row`;
  if (!isWhole(kernel)) return "its code was read from disk";
  const { isRowVector, loops } = planVectors(kernel);
  if (isRowVector) return "vectors of 4 rows";
  return loops.size > 0 ? "vectors of 4 rounds of a loop" : "one number at a time";
}
