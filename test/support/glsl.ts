/**
 * GLSL to SPIR-V at test time, by Khronos' reference compiler: the proof that kernels come from anywhere, not only from
 * our own assembler. Each source is compiled once per process. `PUMICE_GLSL_CACHE` names a folder in which modules are
 * also kept on disk: filled here, it lets the suites run on a machine with a GPU and no compiler.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface GlslOptions {
  /** The environment whose rules and SPIR-V version apply: vulkan1.2 gives SPIR-V 1.5. */
  readonly target?: "vulkan1.0" | "vulkan1.1" | "vulkan1.2" | "vulkan1.3";
  readonly stage?: "comp" | "vert" | "frag" | "geom" | "tesc" | "tese";
}

const shelf = process.env.PUMICE_GLSL_CACHE;
const isThere = (tool: string) => shelf !== undefined || spawnSync(tool, ["--version"]).error === undefined;

/** For a test's `skip`: false when glslangValidator is installed. */
export const withoutGlslang: string | false = isThere("glslangValidator") ? false : "missing: glslang-tools";

/** For a test's `skip`: false when spirv-as is installed. */
export const withoutSpirvAs: string | false = isThere("spirv-as") ? false : "missing: spirv-tools";

const compiled = new Map<string, Uint8Array>();

/** The SPIR-V of a GLSL shader. Throws the compiler's complaint. */
export function glsl(source: string, { target = "vulkan1.2", stage = "comp" }: GlslOptions = {}): Uint8Array {
  return once(`${target} ${stage} ${source}`, (file) => ({
    tool: "glslangValidator",
    args: ["--stdin", "-S", stage, "--target-env", target, "-o", file],
    input: source,
  }));
}

/** The SPIR-V of assembly as spirv-as reads it: for modules no GLSL compiles to. */
export function assemble(source: string, target = "spv1.5"): Uint8Array {
  return once(`asm ${target} ${source}`, (file) => ({
    tool: "spirv-as",
    args: ["--target-env", target, "-o", file, "-"],
    input: source,
  }));
}

function once(key: string, command: (file: string) => { tool: string; args: string[]; input: string }): Uint8Array {
  const known = compiled.get(key);
  if (known) return known;
  const kept = shelf && join(shelf, `${createHash("sha256").update(key).digest("hex").slice(0, 32)}.spv`);
  if (kept && existsSync(kept)) return new Uint8Array(readFileSync(kept));
  const folder = mkdtempSync(join(tmpdir(), "pumice-glsl-"));
  try {
    const file = join(folder, "module.spv");
    const { tool, args, input } = command(file);
    const child = spawnSync(tool, args, { input, encoding: "utf8" });
    if (child.status !== 0) throw new Error(`${tool}: ${child.stdout}${child.stderr}\n${input}`);
    const bytes = new Uint8Array(readFileSync(file));
    compiled.set(key, bytes);
    if (kept) {
      mkdirSync(shelf, { recursive: true });
      writeFileSync(kept, bytes);
    }
    return bytes;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Writes a module or any other bytes to a file of its own; returns its path and the way to remove it. */
export function temporaryFile(name: string, bytes: Uint8Array | string): { path: string; remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), "pumice-file-"));
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return { path, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
