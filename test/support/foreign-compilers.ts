/** Other ways to SPIR-V than glsl.ts: glslang's HLSL front end, and what spirv-opt makes of a module. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** For a test's `skip`: false when spirv-opt is installed. */
export const withoutSpirvOpt: string | false =
  spawnSync("spirv-opt", ["--version"]).error === undefined ? false : "missing: spirv-tools";

/** The SPIR-V of an HLSL compute shader whose entry point is `main`. */
export function hlsl(source: string, target = "vulkan1.1"): Uint8Array {
  const flags = ["--stdin", "-D", "-V", "-S", "comp", "-e", "main", "--target-env", target];
  return run((folder) => ["glslangValidator", [...flags, "-o", join(folder, "out.spv")]], source);
}

/** GLSL with the source and its lines in the module (-g), as a debugging user has it. */
export function glslWithDebugInfo(source: string, target = "vulkan1.2"): Uint8Array {
  const flags = ["--stdin", "-g", "-S", "comp", "--target-env", target];
  return run((folder) => ["glslangValidator", [...flags, "-o", join(folder, "out.spv")]], source);
}

/** A module after spirv-opt, for instance with "-O" or "--strip-debug". */
export function optimized(module: Uint8Array, ...flags: string[]): Uint8Array {
  return run((folder) => {
    writeFileSync(join(folder, "in.spv"), module);
    return ["spirv-opt", [...flags, join(folder, "in.spv"), "-o", join(folder, "out.spv")]];
  });
}

function run(command: (folder: string) => [tool: string, args: string[]], input = ""): Uint8Array {
  const folder = mkdtempSync(join(tmpdir(), "pumice-foreign-"));
  try {
    const [tool, args] = command(folder);
    const { status, stdout, stderr } = spawnSync(tool, args, { input, encoding: "utf8" });
    if (status !== 0) throw new Error(`${tool} ${args.join(" ")}: ${stdout}${stderr}\n${input}`);
    return new Uint8Array(readFileSync(join(folder, "out.spv")));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
