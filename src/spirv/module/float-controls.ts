/**
 * The float controls of a device. Kernels ask for these wherever the device offers them:
 * - SignedZeroInfNanPreserve: without it, a driver may assume that there are no NaNs and infinities and that zero has no sign.
 * - DenormPreserve: without it, a driver may take denormals for zeros. It is asked for only where a width may have it by itself:
 *   on some devices all widths must agree, and 16 bits are left to the driver.
 */
import type { ModuleOptions } from "./module-values.js";

/** @param offered what the driver reports, by Vulkan's names: "shaderSignedZeroInfNanPreserveFloat32" …; "ownDenormsFloat32" */
export function floatControlsOf(
  offered: Readonly<Record<string, boolean>>,
): NonNullable<ModuleOptions["floatControls"]> {
  const control = (width: 32 | 64) => ({
    signedZeroInfNanPreserve: offered[`shaderSignedZeroInfNanPreserveFloat${width}`] === true,
    ...(offered[`shaderDenormPreserveFloat${width}`] &&
      offered[`ownDenormsFloat${width}`] && { denormals: "preserve" as const }),
  });
  return { 32: control(32), 64: control(64) };
}
