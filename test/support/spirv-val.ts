/**
 * Runs the Khronos SPIR-V tools on a module, so that tests have an opinion on our words other than ours.
 * They are optional on a developer's machine: a test that needs one skips itself and names the package.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { disassemble } from "../../src/spirv/index.js";

export type Tool = "spirv-val" | "spirv-dis" | "spirv-as" | "glslangValidator";

const PACKAGES: { readonly [tool in Tool]: string } = {
  "spirv-val": "spirv-tools",
  "spirv-dis": "spirv-tools",
  "spirv-as": "spirv-tools",
  glslangValidator: "glslang-tools",
};

/** The `skip` option of a test: false when the tool is there, else the reason. */
export function without(tool: Tool): string | false {
  const { error } = spawnSync(tool, ["--version"]);
  return error ? `missing: ${tool}, which is in the package ${PACKAGES[tool]}` : false;
}

/** Fails with the validator's complaint and our disassembly when the module is not valid SPIR-V for `environment`. */
export function assertValid(words: Uint32Array, environment = "vulkan1.2"): void {
  const complaint = validate(words, environment);
  if (complaint !== "") assert.fail(`spirv-val --target-env ${environment}:\n${complaint}\n${disassemble(words)}`);
}

/** Modules found valid, by a hash of them and the environment. Starting the validator takes longer than its work. */
const valid = new Set<string>();

/** What spirv-val says of a module; empty when it is valid. */
export function validate(words: Uint32Array, environment = "vulkan1.2"): string {
  const key = createHash("sha256").update(`${environment}\0`).update(bytesOf(words)).digest("hex");
  if (valid.has(key)) return "";
  const complaint = complaintOf(words, environment);
  if (complaint === "") valid.add(key);
  return complaint;
}

function complaintOf(words: Uint32Array, environment: string): string {
  const flags = ["--target-env", environment, "--scalar-block-layout"];
  const { status, stdout, stderr } = spawnSync("spirv-val", [...flags, "-"], { input: bytesOf(words) });
  return status === 0 ? "" : `${stdout}${stderr}`.trim() || `exit status ${status}`;
}

/** spirv-dis text of a module, without the header. */
export function referenceText(words: Uint32Array, ...flags: string[]): string {
  const { status, stdout, stderr } = spawnSync("spirv-dis", ["--no-color", "--no-header", ...flags, "-"], {
    input: bytesOf(words),
    maxBuffer: 64 * 2 ** 20,
  });
  assert.equal(status, 0, `spirv-dis: ${stderr}`);
  return String(stdout);
}

/** Assembles text with the ids it is written with. */
export function assemble(text: string, environment = "spv1.5"): Uint32Array {
  return withFolder((folder) => {
    const file = join(folder, "module.spv");
    const { status, stderr } = spawnSync(
      "spirv-as",
      ["--preserve-numeric-ids", "--target-env", environment, "-o", file, "-"],
      { input: text },
    );
    assert.equal(status, 0, `spirv-as: ${stderr}\n${text}`);
    return wordsOf(readFileSync(file));
  });
}

/** Compiles a GLSL compute shader. */
export function compileGlsl(source: string, environment = "vulkan1.2"): Uint32Array {
  return withFolder((folder) => {
    const [input, output] = [join(folder, "shader.comp"), join(folder, "shader.spv")];
    writeFileSync(input, source);
    const { status, stdout } = spawnSync("glslangValidator", ["--target-env", environment, "-o", output, input]);
    assert.equal(status, 0, `glslangValidator: ${stdout}`);
    return wordsOf(readFileSync(output));
  });
}

function withFolder<T>(run: (folder: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), "pumice-spirv-"));
  try {
    return run(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function bytesOf(words: Uint32Array): Uint8Array {
  return new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
}

function wordsOf(bytes: Uint8Array): Uint32Array {
  return new Uint32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
}
