/** SPIR-V as a target: kernels for one GPU, by its description. */
import { UnsupportedError } from "../../../core/errors.js";
import type { ModuleOptions } from "../../../spirv/module/module-values.js";
import { disassemble } from "../../../spirv/read/disassemble.js";
import { type IRType, isWhole, type Kernel, type KernelOutline } from "../../ir/ir.js";
import { roundsWithin, SOFTWARE_ROUNDS } from "../../ir/loop-rounds.js";
import { bufferNames } from "../../print/formula.js";
import { gpuProfile, type TargetProfile } from "../../target/profile.js";
import type { Target } from "../../target/target.js";
import type { FragmentShape } from "../../target/tile-profile.js";
import { type EmissionOptions, emitSpirv, INLINE_BUFFERS, vectorsOf } from "./emit-kernel.js";
import { mappingOf } from "./mapping.js";

/** The facts of a GPU that kernels depend on. */
export interface GpuDescription {
  /** A driver that runs on the CPU. */
  readonly isSoftware: boolean;
  /** Its maker's family of GPUs, where tilings are known for it (tiles/families.ts). */
  readonly family?: string;
  /** Multiprocessors, about. */
  readonly units: number;
  /** Most shared bytes and threads of a workgroup. */
  readonly sharedBytes: number;
  readonly maxThreads: number;
  /** Memory of its own. */
  readonly memoryBytes: number;
  /** Most workgroups along the first axis of a dispatch. */
  readonly maxColumns: number;
  /** Lanes that can read from one another; 0 where they cannot. */
  readonly subgroupSize: number;
  /** Lanes that can vote on a condition, where their number is known; 0 where they cannot, or it is not. */
  readonly votingLanes: number;
  readonly floatControls: NonNullable<ModuleOptions["floatControls"]>;
  /** Whether its multiply-add rounds once. */
  readonly fusesMultiplyAdds: boolean;
  /** Float types with atomic addition. */
  readonly atomicFloats: readonly IRType[];
  /** Products of fragments that its matrix units compute, the best first; none where it has no units, or none that we use. */
  readonly fragments: readonly FragmentShape[];
}

/**
 * Statements of a kernel whose loops llvmpipe may unroll. A sampler has thousands: with its loops unrolled it took twice as
 * long to compile, fifteen times as long where they are nested, and ran no faster.
 */
const MAX_UNROLLED_SIZE = 1000;

/** Workarounds for llvmpipe: it folds arithmetic with zeros wrongly, and ends long loops early. */
const SOFTWARE = { isCarelessOfZeros: true, maxLoopRounds: SOFTWARE_ROUNDS, maxUnrolledSize: MAX_UNROLLED_SIZE };
const HARDWARE = { isCarelessOfZeros: false, maxLoopRounds: undefined };

function spirvProfile(gpu: GpuDescription): TargetProfile {
  const { isSoftware, family, sharedBytes, maxThreads, units, subgroupSize, fragments } = gpu;

  return {
    ...gpuProfile,
    hasSlowBarriers: isSoftware,
    // A small share of the memory. Bands of 256 MiB kept an H200 less than busy: neighbours took 7.3 ms instead of 6.2.
    bandBytes: Math.min(2 ** 30, Math.max(2 ** 26, Math.floor(gpu.memoryBytes / 64))),
    // llvmpipe folds arithmetic with zeros (see SOFTWARE).
    hasNativeDivision: !isSoftware,
    tiles: {
      // Barriers cost a software driver more than shared memory saves: tiles with them were eight times as slow.
      kind: isSoftware ? "registers" : "shared",
      sharedBytes,
      maxLanes: maxThreads,
      units,
      ...(family !== undefined && { family }),
      ...(gpu.votingLanes > 0 && { subgroupSize: gpu.votingLanes }),
      ...(fragments.length > 0 && { matrices: { subgroupSize, shapes: fragments } }),
    },
    // Four bytes a number, and some between them against conflicts of banks.
    fft: { ...gpuProfile.fft, mostNumbers: Math.min(gpuProfile.fft.mostNumbers, Math.floor(sharedBytes / 5)) },
    sort: {
      ...gpuProfile.sort,
      // Barriers again: tiles of a workgroup were four times as slow on a software driver as tiles of a thread.
      lanes: isSoftware ? 1 : gpuProfile.sort.lanes,
      sharedBytes,
      ...(gpu.votingLanes > 0 && { subgroupSize: gpu.votingLanes }),
    },
  };
}

export function spirvTarget(gpu: GpuDescription, profile: TargetProfile = spirvProfile(gpu)): Target {
  const { floatControls, subgroupSize, atomicFloats, maxColumns } = gpu;
  const emission: EmissionOptions = {
    floatControls,
    subgroupSize,
    atomicFloats,
    ...(gpu.isSoftware ? SOFTWARE : HARDWARE),
  };
  return {
    language: "spirv",
    identity: JSON.stringify(["spirv", emission, maxColumns, gpu.fusesMultiplyAdds]),
    profile,
    // llvmpipe keeps denormals without being asked.
    settings: {
      division: "corrected",
      fusesMultiplyAdds: gpu.fusesMultiplyAdds,
      flushesDenormals: !gpu.isSoftware && floatControls[32]?.denormals !== "preserve",
    },
    maxLoopRounds: emission.maxLoopRounds ?? Number.POSITIVE_INFINITY,
    encode: (kernel, isIndirect) => {
      checkRounds(kernel, emission.maxLoopRounds);
      const { buffer, byteOffset, byteLength } = emitSpirv(kernel, { ...emission, isIndirect });
      const isTabled = kernel.buffers.length > INLINE_BUFFERS ? 1 : 0;
      return {
        bytes: new Uint8Array(buffer, byteOffset, byteLength),
        numbers: [...gridOf(kernel, subgroupSize, maxColumns), isTabled],
      };
    },
    mappingOf: (kernel, groups) => describeMapping(kernel, groups, gpu),
    disassemble: (bytes) => disassemble(new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4)),
  };
}

function checkRounds(kernel: Kernel, maxLoopRounds = Number.POSITIVE_INFINITY): void {
  if (maxLoopRounds === Number.POSITIVE_INFINITY) return;
  const rounds = roundsWithin(kernel, maxLoopRounds);
  if (rounds <= maxLoopRounds) return;
  throw new UnsupportedError(
    `${kernel.name} may take ${rounds} rounds of loops at a time, and a software Vulkan driver ends the loops of a thread ` +
      'after 65,535, done or not: the results would be wrong. Give { device: "cpu" }, which is faster, too, or use a GPU.',
  );
}

/** Workgroups along each axis of the dispatch: more than `maxColumns` of them form several rows. */
function gridOf(kernel: Kernel, subgroupSize: number, maxColumns: number): readonly [number, number, number] {
  const groups = Math.ceil(kernel.rows / mappingOf(kernel, subgroupSize).rowsPerGroup);
  const rows = Math.ceil(groups / maxColumns);
  return [Math.ceil(groups / rows), rows, 1];
}

function describeMapping(
  kernel: KernelOutline,
  groups: readonly number[],
  { subgroupSize, atomicFloats }: GpuDescription,
): string {
  const count = groups[1] > 1 ? `${groups[0]} × ${groups[1]}` : String(groups[0]);
  const grid = `${count} ${groups[0] * groups[1] === 1 ? "workgroup" : "workgroups"}`;
  if (!isWhole(kernel)) return `${grid}; its code was read from disk`;
  const { threads, rowsPerGroup } = mappingOf(kernel, subgroupSize);
  const share =
    kernel.lanes === 1
      ? "a row per thread"
      : rowsPerGroup === 1
        ? "a row per workgroup"
        : `${rowsPerGroup} rows of ${kernel.lanes} threads each`;
  const names = bufferNames(kernel.buffers);
  const vectors = [...vectorsOf(kernel, atomicFloats).buffers]
    .sort(([a], [b]) => a - b)
    .map(([buffer, widths]) => `${names[buffer]} in vectors of ${[...widths].sort((a, b) => b - a).join(" and ")}`);
  return [`${grid} of ${threads} threads, ${share}`, ...vectors].join("; ");
}
