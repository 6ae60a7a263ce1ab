/**
 * A specimen is a small module that shows one feature of the assembler. Every specimen is validated, built twice,
 * disassembled and reassembled by the tests; a new feature needs a specimen here and no test of its own for that.
 */
import { type FunctionBuilder, ModuleBuilder, type ModuleOptions } from "../../../src/spirv/index.js";

export interface Specimen {
  readonly name: string;
  /** What spirv-val is asked to hold it to. */
  readonly environment: string;
  readonly build: () => Uint32Array;
  /** Extensions younger than the tools that distributions ship; where tools do not know them, they cannot judge. */
  readonly needsRecentTools?: true;
}

const ENVIRONMENTS = { 3: "vulkan1.1", 4: "vulkan1.1spv1.4", 5: "vulkan1.2", 6: "vulkan1.3" } as const;

/** A specimen from a function that fills a module. */
export function specimen(name: string, fill: (m: ModuleBuilder) => void, options: ModuleOptions = {}): Specimen {
  return {
    name,
    environment: ENVIRONMENTS[(options.version ?? [1, 5])[1]],
    build: () => {
      const m = new ModuleBuilder(options);
      fill(m);
      return m.build();
    },
  };
}

/** A specimen from the body of one entry point. */
export function kernel(
  name: string,
  body: (f: FunctionBuilder, m: ModuleBuilder) => void,
  options: ModuleOptions = {},
): Specimen {
  return specimen(name, (m) => m.entry("main", { localSize: [64] }, (f) => body(f, m)), options);
}
