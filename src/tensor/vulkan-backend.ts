/** Tensors on a Vulkan device: kernels become SPIR-V and find their buffers by address. */
import type { Step } from "../compiler/program.js";
import { gpuProfile, type TargetProfile } from "../compiler/schedule.js";
import { emitSpirv, INLINE_BUFFERS } from "../compiler/spirv/emit-kernel.js";
import { floatControlsOf } from "../compiler/spirv/float-controls.js";
import { mappingOf } from "../compiler/spirv/mapping.js";
import type { DeviceBuffer } from "../engines/vulkan/buffer.js";
import type { VulkanDevice } from "../engines/vulkan/device.js";
import type { Pipeline } from "../engines/vulkan/kernels.js";
import { type DeviceType, isSoftware, type PhysicalDevice } from "../engines/vulkan/plan.js";
import type { Profile } from "../engines/vulkan/profile.js";
import { Backend } from "./backend.js";

/** Multiprocessors by kind of device: Vulkan does not say, and the choice of tiles asks for no more than a guess. */
const UNITS: Readonly<Record<DeviceType, number>> = { discrete: 128, virtual: 64, integrated: 16, other: 16, cpu: 4 };

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
  };
}

/** VK_SUBGROUP_FEATURE_SHUFFLE_BIT */
const SHUFFLE = 0x10;

/** Lanes that can read from one another. */
const shufflingSubgroup = ({ size, operations }: PhysicalDevice["subgroup"]): number =>
  operations & SHUFFLE ? size : 0;

interface VulkanCode {
  readonly pipeline: Pipeline;
  /** Workgroups to dispatch. */
  readonly groups: number;
}

export class VulkanBackend extends Backend<VulkanCode, DeviceBuffer> {
  constructor(
    id: string,
    readonly device: VulkanDevice,
    profile = profileOf(device),
  ) {
    const floatControls = floatControlsOf(device.properties.floatControls);
    const subgroupSize = shufflingSubgroup(device.properties.subgroup);
    super(id, {
      profile,
      settings: { isCorrectlyRounded: false },
      emit: (kernel) => ({
        pipeline: device.pipeline(emitSpirv(kernel, { floatControls, subgroupSize }), { name: kernel.name }),
        groups: Math.ceil(kernel.rows / mappingOf(kernel, subgroupSize).rowsPerGroup),
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

  protected dispatch({ kernel, code: { pipeline, groups } }: Step<VulkanCode>, memory: readonly DeviceBuffer[]): void {
    const { stream, plan } = this.device;
    const rows = Math.ceil(groups / plan.limits.maxComputeWorkGroupCount[0]);
    const columns = Math.ceil(groups / rows);
    const allocations = memory.map((buffer) => buffer.contents(kernel.name));
    const reads = allocations.filter((_, i) => !kernel.buffers[i].isWritten);
    const writes = allocations.filter((_, i) => kernel.buffers[i].isWritten);
    const addresses = allocations.map(({ block, offset }) => block.address + BigInt(offset));
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
