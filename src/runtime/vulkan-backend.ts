/** Tensors on a Vulkan device: kernels become SPIR-V and find their buffers by address. */

import { emitSpirv, INLINE_BUFFERS, vectorsOf } from "../compiler/emit/spirv/emit-kernel.js";
import { mappingOf } from "../compiler/emit/spirv/mapping.js";
import { widthOf } from "../compiler/emit/spirv/wide-accesses.js";
import { type IRType, isWhole, type Kernel } from "../compiler/ir/ir.js";
import { roundsWithin, SOFTWARE_ROUNDS } from "../compiler/ir/loop-rounds.js";
import { bufferNames } from "../compiler/print/formula.js";
import { printKernel } from "../compiler/print/print-kernel.js";
import { overlapped } from "../compiler/program/overlap.js";
import type { KernelStep, Program } from "../compiler/program/program.js";
import { gpuProfile, type TargetProfile } from "../compiler/target/profile.js";
import { UnsupportedError } from "../core/errors.js";
import { asBytes } from "../engines/byte-source.js";
import { debugText } from "../engines/debug.js";
import type { Profile } from "../engines/profile.js";
import type { DeviceBuffer } from "../engines/vulkan/buffer.js";
import type { VulkanDevice } from "../engines/vulkan/device.js";
import { type Allocation, putAddress } from "../engines/vulkan/memory.js";
import type { Pipeline } from "../engines/vulkan/pipelines.js";
import { type DeviceType, isSoftware, type PhysicalDevice } from "../engines/vulkan/plan.js";
import { disassemble } from "../spirv/disassemble.js";
import { floatControlsOf } from "../spirv/float-controls.js";
import { type Argument, Backend, type Prepared } from "./backend.js";
import { programCache } from "./program-cache.js";
import type { PlannedProgram } from "./program-file.js";
import { VulkanProgram } from "./vulkan-program.js";

/** Multiprocessors by kind of device: Vulkan does not say, and the choice of tiles asks for no more than a guess. */
const UNITS: Readonly<Record<DeviceType, number>> = { discrete: 128, virtual: 64, integrated: 16, other: 16, cpu: 4 };

/**
 * Statements of a kernel whose loops llvmpipe may unroll. A sampler has thousands: with its loops unrolled it took twice as
 * long to compile, fifteen times as long where they are nested, and ran no faster.
 */
const MAX_UNROLLED_SIZE = 1000;

/** What is good on a device. */
export function profileOf({ plan: { limits }, properties }: VulkanDevice): TargetProfile {
  const [maxSide] = limits.maxComputeWorkGroupSize;
  return {
    ...gpuProfile,
    tiles: {
      // Barriers cost a software driver more than shared memory saves: tiles with them were eight times as slow.
      kind: isSoftware(properties) ? "registers" : "shared",
      sharedBytes: limits.maxComputeSharedMemorySize,
      maxLanes: Math.min(maxSide, limits.maxComputeWorkGroupInvocations),
      units: UNITS[properties.type],
    },
    sort: {
      ...gpuProfile.sort,
      // Barriers again: tiles of a workgroup were four times as slow on a software driver as tiles of a thread.
      lanes: isSoftware(properties) ? 1 : gpuProfile.sort.lanes,
      sharedBytes: limits.maxComputeSharedMemorySize,
    },
  };
}

/** VK_SUBGROUP_FEATURE_SHUFFLE_BIT */
const SHUFFLE = 0x10;

/** Lanes that can read from one another. */
const shufflingSubgroup = ({ size, operations }: PhysicalDevice["subgroup"]): number =>
  operations & SHUFFLE ? size : 0;

/** Floats that the device's memory can add to by itself. */
function atomicFloatsOf({ plan: { features } }: VulkanDevice): IRType[] {
  const has = (bits: 32 | 64) => features.includes(`shaderBufferFloat${bits}AtomicAdd`);
  return [...(has(32) ? (["f32"] as const) : []), ...(has(64) ? (["f64"] as const) : [])];
}

/** A kernel as it is dispatched. */
export interface VulkanCode {
  readonly pipeline: Pipeline;
  readonly groups: readonly [number, number, number];
  /** What a dispatch reads and writes is listed here: making lists for every one is slow. */
  readonly reads: Allocation[];
  readonly writes: Allocation[];
}

export class VulkanBackend extends Backend<VulkanCode, DeviceBuffer> {
  private readonly subgroupSize: number;

  constructor(
    id: string,
    readonly device: VulkanDevice,
    profile = profileOf(device),
    private readonly atomicFloats = atomicFloatsOf(device),
    files = programCache(),
  ) {
    const floatControls = floatControlsOf(device.properties.floatControls);
    const subgroupSize = shufflingSubgroup(device.properties.subgroup);
    // llvmpipe's arithmetic, and its loops.
    const ofSoftware = { isCarelessOfZeros: true, maxRounds: SOFTWARE_ROUNDS, maxUnrolledSize: MAX_UNROLLED_SIZE };
    const careful = isSoftware(device.properties) ? ofSoftware : { isCarelessOfZeros: false, maxRounds: undefined };
    const emission = { floatControls, subgroupSize, atomicFloats, ...careful };
    const [maxColumns] = device.plan.limits.maxComputeWorkGroupCount;
    super(
      id,
      {
        profile,
        settings: { isCorrectlyRounded: false },
        identity: JSON.stringify(["spirv", emission, maxColumns]),
        encode: (kernel, isIndirect) => {
          debugText("loops", kernel.name, () => printKernel(kernel));
          checkRounds(kernel, emission.maxRounds);
          const words = emitSpirv(kernel, { ...emission, isIndirect });
          debugText("spirv", kernel.name, () => disassemble(words));
          return { bytes: asBytes(words), numbers: gridOf(kernel, subgroupSize, maxColumns) };
        },
        load: ({ bytes, numbers }, name) => ({
          pipeline: device.pipeline(bytes, { name, ahead: !isSoftware(device.properties) }),
          groups: numbers as VulkanCode["groups"],
          reads: [],
          writes: [],
        }),
      },
      files,
    );
    this.subgroupSize = subgroupSize;
  }

  get hasDoubles(): boolean {
    return this.device.plan.features.includes("shaderFloat64");
  }

  get isSoftware(): boolean {
    return isSoftware(this.device.properties);
  }

  override get maxRounds(): number {
    return this.isSoftware ? SOFTWARE_ROUNDS : Infinity;
  }

  protected allocate(byteLength: number): DeviceBuffer {
    return this.device.allocUninitialized(byteLength);
  }

  zeros(byteLength: number): DeviceBuffer {
    return this.device.alloc(byteLength);
  }

  upload(bytes: Uint8Array): DeviceBuffer {
    return this.device.upload(bytes);
  }

  protected withBytes<T>(contents: readonly Uint8Array[], work: (memory: readonly DeviceBuffer[]) => T): T {
    const lent: DeviceBuffer[] = [];
    try {
      for (const bytes of contents) lent.push(this.device.lend(bytes));
      return work(lent);
    } finally {
      for (const buffer of lent) buffer.dispose();
    }
  }

  read(storage: DeviceBuffer): Promise<Uint8Array> {
    return storage.read();
  }

  readSync(storage: DeviceBuffer): Uint8Array {
    return storage.readSync();
  }

  profile(work: () => unknown): Promise<Profile> {
    return this.device.profile(work);
  }

  mappingOf({ kernel, code: { groups } }: KernelStep<VulkanCode>): string {
    const count = groups[1] > 1 ? `${groups[0]} × ${groups[1]}` : String(groups[0]);
    const grid = `${count} ${groups[0] * groups[1] === 1 ? "workgroup" : "workgroups"}`;
    if (!isWhole(kernel)) return `${grid}; its code was read from disk`;
    const { threads, rowsPerGroup } = mappingOf(kernel, this.subgroupSize);
    const share =
      kernel.lanes === 1
        ? "a row per thread"
        : rowsPerGroup === 1
          ? "a row per workgroup"
          : `${rowsPerGroup} rows of ${kernel.lanes} threads each`;
    const names = bufferNames(kernel.buffers);
    const vectors = [...vectorsOf(kernel, this.atomicFloats).buffers]
      .sort((a, b) => a - b)
      .map((buffer) => `${names[buffer]} in vectors of ${widthOf(kernel.buffers[buffer].dtype)}`);
    return [`${grid} of ${threads} threads, ${share}`, ...vectors].join("; ");
  }

  protected arranged(program: Program<VulkanCode>) {
    return overlapped(program);
  }

  protected prepared(
    planned: PlannedProgram<VulkanCode>,
    args: readonly Argument<DeviceBuffer>[],
  ): Prepared<DeviceBuffer> {
    return new VulkanProgram(this.device, planned, args);
  }

  protected dispatch(
    { kernel, code }: KernelStep<VulkanCode>,
    memory: readonly DeviceBuffer[],
    offsets: readonly number[],
  ): void {
    const { pipeline, groups, reads, writes } = code;
    const { stream } = this.device;
    const { view } = stream.push;
    // Addresses stand in the push block, or, when there are many, in a table whose address stands there.
    const table = memory.length > INLINE_BUFFERS ? new DataView(new ArrayBuffer(8 * memory.length)) : null;
    let readCount = 0;
    let writeCount = 0;
    for (let i = 0; i < memory.length; i++) {
      const allocation = memory[i].contents(kernel.name);
      putAddress(table ?? view, 8 * i, allocation, offsets[i]);
      if (kernel.buffers[i].isWritten) writes[writeCount++] = allocation;
      else reads[readCount++] = allocation;
    }
    const uploaded = table && this.device.upload(table);
    if (uploaded) {
      const allocation = uploaded.contents(kernel.name);
      putAddress(view, 0, allocation);
      reads[readCount] = allocation;
    }
    stream.dispatch(pipeline, reads, writes, groups[0], groups[1], groups[2]);
    uploaded?.dispose();
  }
}

function checkRounds(kernel: Kernel, maxRounds = Infinity): void {
  if (maxRounds === Infinity) return;
  const rounds = roundsWithin(kernel, maxRounds);
  if (rounds <= maxRounds) return;
  throw new UnsupportedError(
    `${kernel.name} may take ${rounds} rounds of loops at a time, and a software Vulkan driver ends the loops of a thread ` +
      'after 65,535, done or not: the results would be wrong. Give { device: "cpu" }, which is faster, too, or use a GPU.',
  );
}

/** Workgroups along each axis; in rows, where there are more than a device takes side by side. */
function gridOf(kernel: Kernel, subgroupSize: number, maxColumns: number): readonly [number, number, number] {
  const groups = Math.ceil(kernel.rows / mappingOf(kernel, subgroupSize).rowsPerGroup);
  const rows = Math.ceil(groups / maxColumns);
  return [Math.ceil(groups / rows), rows, 1];
}
