/** Tensors on a Vulkan device: kernels become SPIR-V and find their buffers by address. */
import type { MemoryPlan } from "../compiler/memory-plan.js";
import type { KernelStep, Program } from "../compiler/program.js";
import { gpuProfile } from "../compiler/schedule.js";
import { emitSpirv, INLINE_BUFFERS } from "../compiler/spirv/emit-kernel.js";
import { floatControlsOf } from "../compiler/spirv/float-controls.js";
import { mappingOf } from "../compiler/spirv/mapping.js";
import { rowsPerThread } from "../compiler/spirv/quads.js";
import type { DeviceBuffer } from "../engines/vulkan/buffer.js";
import type { VulkanDevice } from "../engines/vulkan/device.js";
import type { Pipeline } from "../engines/vulkan/kernels.js";
import type { PhysicalDevice } from "../engines/vulkan/plan.js";
import type { Profile } from "../engines/vulkan/profile.js";
import { type Argument, Backend, type Prepared } from "./backend.js";
import { VulkanProgram } from "./vulkan-program.js";

/** VK_SUBGROUP_FEATURE_SHUFFLE_BIT */
const SHUFFLE = 0x10;

/** Lanes that can read from one another. */
const shufflingSubgroup = ({ size, operations }: PhysicalDevice["subgroup"]): number =>
  operations & SHUFFLE ? size : 0;

export interface VulkanCode {
  readonly pipeline: Pipeline;
  /** Workgroups to dispatch. */
  readonly groups: number;
}

export class VulkanBackend extends Backend<VulkanCode, DeviceBuffer> {
  constructor(
    id: string,
    readonly device: VulkanDevice,
  ) {
    const floatControls = floatControlsOf(device.properties.floatControls);
    const subgroupSize = shufflingSubgroup(device.properties.subgroup);
    super(id, {
      profile: gpuProfile,
      settings: { isCorrectlyRounded: false },
      emit: (kernel, isIndirect) => ({
        pipeline: device.pipeline(emitSpirv(kernel, { floatControls, subgroupSize, isIndirect }), {
          name: kernel.name,
        }),
        groups: Math.ceil(kernel.rows / rowsPerThread(kernel) / mappingOf(kernel, subgroupSize).rowsPerGroup),
      }),
    });
  }

  protected allocate(byteLength: number): DeviceBuffer {
    return this.device.allocUninitialized(byteLength);
  }

  upload(bytes: Uint8Array): DeviceBuffer {
    return this.device.upload(bytes);
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

  protected prepared(
    program: Program<VulkanCode>,
    plan: MemoryPlan,
    args: readonly Argument<DeviceBuffer>[],
  ): Prepared<DeviceBuffer> {
    return new VulkanProgram(this.device, program, plan, args, ({ code }) => this.gridOf(code));
  }

  /** Workgroups along each axis. */
  private gridOf({ groups }: VulkanCode): readonly [number, number, number] {
    const rows = Math.ceil(groups / this.device.plan.limits.maxComputeWorkGroupCount[0]);
    return [Math.ceil(groups / rows), rows, 1];
  }

  protected dispatch(
    { kernel, code }: KernelStep<VulkanCode>,
    memory: readonly DeviceBuffer[],
    offsets: readonly number[],
  ): void {
    const { stream } = this.device;
    const { pipeline } = code;
    const [columns, rows] = this.gridOf(code);
    const allocations = memory.map((buffer) => buffer.contents(kernel.name));
    const reads = allocations.filter((_, i) => !kernel.buffers[i].isWritten);
    const writes = allocations.filter((_, i) => kernel.buffers[i].isWritten);
    const addresses = allocations.map(({ block, offset }, i) => block.address + BigInt(offset + offsets[i]));
    if (memory.length <= INLINE_BUFFERS) {
      addresses.forEach((address, i) => {
        stream.push.view.setBigUint64(8 * i, address, true);
      });
      stream.dispatch(pipeline, reads, writes, columns, rows, 1);
    } else {
      const table = this.device.upload(BigUint64Array.from(addresses));
      const place = table.contents(kernel.name);
      stream.push.view.setBigUint64(0, place.block.address + BigInt(place.offset), true);
      stream.dispatch(pipeline, [...reads, place], writes, columns, rows, 1);
      table.dispose();
    }
  }
}
