/**
 * The float controls of a device. Without SignedZeroInfNanPreserve a driver may assume that there are no NaNs and infinities
 * and that zero has no sign; kernels request it wherever the device offers it.
 */
import type { ModuleOptions } from "./module-values.js";

/** @param offered what the driver reports, by Vulkan's names: "shaderSignedZeroInfNanPreserveFloat32" … */
export function floatControlsOf(
  offered: Readonly<Record<string, boolean>>,
): NonNullable<ModuleOptions["floatControls"]> {
  const control = (width: 16 | 32 | 64) => ({
    signedZeroInfNanPreserve: offered[`shaderSignedZeroInfNanPreserveFloat${width}`] === true,
  });
  return { 32: control(32), 64: control(64) };
}
