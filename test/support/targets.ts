/** A target without a device: for tests of what is compiled, up to writing code. */
import type { GpuDescription } from "../../src/compiler/emit/spirv/target.js";
import { isWhole, type Kernel, type KernelOutline } from "../../src/compiler/ir/ir.js";
import { gpuProfile, type TargetProfile } from "../../src/compiler/target/profile.js";
import type { Target } from "../../src/compiler/target/target.js";

export const codelessTarget = (profile: TargetProfile = gpuProfile): Target => ({
  language: "spirv",
  identity: "none",
  profile,
  settings: { division: "native" },
  maxLoopRounds: Number.POSITIVE_INFINITY,
  encode: () => ({ bytes: new Uint8Array(0), numbers: [] }),
  mappingOf: () => "nowhere",
  disassemble: () => "",
});

/** The code of a kernel is the kernel. */
export const asKernel = (_encoded: unknown, kernel: KernelOutline): Kernel => {
  if (!isWhole(kernel)) throw new Error(`${kernel.name} is written for another target`);
  return kernel;
};

/** A GPU such as many are, for what must not depend on the machine of the tests. */
export const commonGpu: GpuDescription = {
  isSoftware: false,
  units: 64,
  sharedBytes: 32768,
  maxThreads: 1024,
  memoryBytes: 2 ** 33,
  maxColumns: 65535,
  subgroupSize: 32,
  votingLanes: 32,
  floatControls: {},
  fusesMultiplyAdds: false,
  atomicFloats: [],
  fragments: [],
};
