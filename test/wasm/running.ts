/** Builds, validates and runs small modules for the tests of the assembler. */
import assert from "node:assert/strict";
import { type WasmMemory, WebAssembly } from "../../src/core/webassembly.js";
import { ModuleBuilder } from "../../src/wasm/builder.js";
import { disassemble } from "../../src/wasm/disassemble.js";
import type { FunctionBuilder } from "../../src/wasm/function-builder.js";
import type { Value } from "../../src/wasm/value.js";

export interface Running {
  readonly memory: WasmMemory;
  readonly view: DataView;
  readonly bytes: Uint8Array;
  readonly exports: Readonly<Record<string, (...args: unknown[]) => unknown>>;
}

/** Instantiates a module over fresh memory, with its text in the message when the engine refuses it. */
export function start(
  m: ModuleBuilder,
  options: { shared?: boolean; imports?: ConstructorParameters<typeof WebAssembly.Instance>[1] } = {},
): Running {
  const { shared = true, imports = {} } = options;
  const module = m.build();
  if (!WebAssembly.validate(module)) assert.fail(`not a valid module:\n${why(module)}\n${disassemble(module)}`);
  const memory = new WebAssembly.Memory({ initial: 2, maximum: 16, shared });
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(module), {
    ...imports,
    env: { ...imports.env, memory },
  });
  return {
    memory,
    view: new DataView(memory.buffer),
    bytes: new Uint8Array(memory.buffer),
    exports: exports as Running["exports"],
  };
}

function why(module: Uint8Array): string {
  try {
    new WebAssembly.Module(module);
    return "";
  } catch (error) {
    return (error as Error).message;
  }
}

/** Runs a body that takes i32 parameters and returns an i32. */
export function compute(
  args: readonly number[],
  body: (f: FunctionBuilder, ...parameters: Value<"i32">[]) => Value<"i32"> | number | undefined,
): number {
  const m = new ModuleBuilder();
  const parameters = args.map(() => "i32" as const);
  m.export(m.function("run", parameters, "i32", (f, ...values) => body(f, ...values)));
  return start(m).exports.run?.(...args) as number;
}

/** The lines of a function's body, without indentation. */
export function instructions(body: (f: FunctionBuilder, ...p: Value<"i32">[]) => Value | undefined): string[] {
  const m = new ModuleBuilder({ names: false });
  m.function("run", ["i32", "i32"], "i32", (f, a, b) => body(f, a, b) as Value<"i32">);
  const text = disassemble(m.build());
  const lines = text.split("\n").map((line) => line.trim());
  return lines.slice(lines.findIndex((line) => line.startsWith("(func")) + 1, lines.lastIndexOf(")") - 1);
}
