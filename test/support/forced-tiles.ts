/** Devices that compute every product of matrices in a certain tile, however small the product: for tests of the tiles. */
import type { TargetProfile } from "../../src/compiler/target/profile.js";
import type { TileProfile } from "../../src/compiler/target/tile-profile.js";
import type { DType } from "../../src/core/dtype.js";
import type { Backend, DeviceStorage } from "../../src/runtime/backend.js";
import { HostBackend, profileOf as hostProfile } from "../../src/runtime/host-backend.js";
import { VulkanBackend, profileOf as vulkanProfile } from "../../src/runtime/vulkan-backend.js";
import { backendOf, storedNode } from "../../src/tensor/build.js";
import { backendFor } from "../../src/tensor/devices.js";
import { Tensor } from "../../src/tensor/tensor.js";
import { type Plain, toTensor } from "./tensors.js";

/** A second way to use an open device, with another profile. */
export function withProfile(device: string, change: (profile: TargetProfile) => Partial<TargetProfile>): Backend {
  const plain: unknown = backendFor(device);
  const changed = (profile: TargetProfile) => ({ ...profile, ...change(profile) });
  if (plain instanceof HostBackend) {
    return new HostBackend(plain.device, changed(hostProfile(plain.device))) as unknown as Backend;
  }
  const { device: engine } = plain as VulkanBackend;
  return new VulkanBackend("vulkan", engine, changed(vulkanProfile(engine))) as unknown as Backend;
}

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
