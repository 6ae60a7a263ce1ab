/** Devices that compute every product of matrices in a certain tile, however small the product: for tests of the tiles. */
import type { TargetProfile } from "../../src/compiler/target/profile.js";
import type { TileProfile } from "../../src/compiler/target/tile-profile.js";
import type { DType } from "../../src/core/dtype.js";
import type { ProgramCache } from "../../src/engines/disk/program-cache.js";
import type { HostDevice } from "../../src/engines/host/device.js";
import { VulkanDevice } from "../../src/engines/vulkan/device.js";
import type { Backend, DeviceStorage } from "../../src/runtime/backend.js";
import { hostBackend, vulkanBackend } from "../../src/runtime/open.js";
import { backendOf, storedNode } from "../../src/tensor/build.js";
import { backendFor, Tensor } from "../../src/tensor/index.js";
import { type Plain, toTensor } from "./tensors.js";

/** A second way to use an open device, with another profile, or with another cache of programs. */
export function reopened(
  device: string,
  change: (profile: TargetProfile) => Partial<TargetProfile>,
  files?: ProgramCache | null,
): Backend {
  const { engine, target } = backendFor(device);
  const options = { profile: { ...target.profile, ...change(target.profile) }, files };
  const backend: unknown =
    engine instanceof VulkanDevice
      ? vulkanBackend("vulkan", engine, options)
      : hostBackend(engine as HostDevice, options);
  return backend as Backend;
}

export const withProfile = (device: string, change: (profile: TargetProfile) => Partial<TargetProfile>): Backend =>
  reopened(device, change);

export function withTiles(device: string, tiles: Partial<TileProfile>): Backend {
  return withProfile(device, (profile) => ({ tiles: { ...profile.tiles, ...tiles } }));
}

/** A tensor on such a device. */
export function tensorOn(backend: Backend, plain: Plain, dtype: DType): Tensor {
  const { node } = toTensor(plain, dtype);
  node.device.realize([node]);
  const bytes = backendOf(node).readSync(node.storage as DeviceStorage);
  return new Tensor(storedNode(backend, bytes, plain.shape, dtype));
}
