/** What the tests of the assembler share: modules as text, kernels around a body, and what a body adds to a kernel. */
import {
  disassemble,
  type FunctionBuilder,
  ModuleBuilder,
  type ModuleOptions,
  type Ref,
  type Value,
} from "../../src/spirv/index.js";
import { interpret } from "../support/spirv-interpreter.js";

export function textOf(fill: (m: ModuleBuilder) => void, options?: ModuleOptions): string {
  const m = new ModuleBuilder(options);
  fill(m);
  return disassemble(m.build(), { header: false });
}

export const kernel = (body: (f: FunctionBuilder, m: ModuleBuilder) => void) => (m: ModuleBuilder) =>
  m.entry("main", { localSize: [1] }, (f) => body(f, m));

export function count(text: string, pattern: RegExp): number {
  return text.match(new RegExp(pattern, "gm"))?.length ?? 0;
}

export type TypeName =
  | "i8"
  | "u8"
  | "i16"
  | "u16"
  | "i32"
  | "u32"
  | "i64"
  | "u64"
  | "f16"
  | "f32"
  | "f64"
  | "bf16"
  | "bool";
export type Call = (f: FunctionBuilder, a: Value, b: Value, c: Value) => unknown;

/** The instructions a call adds to a kernel, operands left out: "FAdd float", "ExtInst float Sqrt". */
export function instructions(type: TypeName, call: Call): string[] {
  const m = new ModuleBuilder();
  m.entry("main", { localSize: [1] }, (f) => {
    const place = f.variable(m[type]);
    const [a, b, c] = [place.load(), place.load(), place.load()];
    f.line(m.source("mark", ""), 1);
    call(f, a, b, c);
  });
  const lines = disassemble(m.build()).split("\n");
  const body = lines.slice(lines.findIndex((line) => line.includes("OpLine")) + 1);
  return body
    .slice(
      0,
      body.findIndex((line) => line.includes("OpReturn")),
    )
    .map((line) => (/Op(\w+)( %[a-z]\w*)?(?: %\d+ ([A-Z]\w+))?/.exec(line) ?? []).slice(1))
    .map(([name, result = "", glsl = ""]) => `${name}${result.replace("%", "")}${glsl && ` ${glsl}`}`);
}

/** Runs a body over one i32 buffer `x` and returns what it left there. */
export function run(x: readonly number[], body: (f: FunctionBuilder, x: Ref, m: ModuleBuilder) => void): number[] {
  const m = new ModuleBuilder();
  const buffer = m.storageBuffer(m.i32, { binding: 0 });
  m.entry("main", { localSize: [1] }, (f) => body(f, buffer, m));
  const data = [...x];
  interpret(m.build(), { 0: data });
  return data;
}
