/**
 * The WebAssembly assembler: a module is described by calls and comes out as bytes.
 *
 *     const m = new ModuleBuilder();
 *     const run = m.function("run", ["i32", "i32", "i32"], [], (f, args, start, end) => {
 *       const x = f.i32.load(args);
 *       f.for(start, end, 1, (i) => {
 *         const at = f.i32.add(x, f.i32.shl(i, 2));
 *         f.f32.store(at, f.f32.mul(f.f32.load(at), 2));
 *       });
 *     });
 *     m.export(run);
 *     const module = new WebAssembly.Module(m.build());
 *
 * Memory is imported, shared by default: all kernels of an engine work on one memory. The same calls give the same bytes. The
 * emitter of kernels calls it.
 */
import { ArgumentError } from "../core/errors.js";
import { listOf, type Yield } from "./branches.js";
import { ByteStream } from "./bytes.js";
import { encodeLiteral } from "./constants.js";
import { FunctionBuilder } from "./function-builder.js";
import { type FunctionHandle, type Global, type Results, resultList } from "./handles.js";
import { type Literal, TYPE_CODE, type ValueType } from "./types.js";
import type { Value } from "./value.js";

interface MemoryOptions {
  readonly module?: string;
  readonly name?: string;
  /** Pages of 64 KiB: the memory given must have at least `min`, and be limited to at most `max`. */
  readonly min?: number;
  readonly max?: number;
  readonly shared?: boolean;
}

interface ModuleOptions {
  /** The imported memory, `env.memory` unless told; null for a module without one. */
  readonly memory?: MemoryOptions | null;
  /** Keep function names in the module, for stack traces and profiles. Default true. */
  readonly names?: boolean;
  /** The engine has relaxed SIMD; says so to whoever writes the functions. Default false. */
  readonly relaxedSimd?: boolean;
}

interface GlobalOptions {
  readonly name?: string;
  /** False makes a constant. Default true. */
  readonly mutable?: boolean;
}

interface Signature {
  readonly parameters: readonly ValueType[];
  readonly results: readonly ValueType[];
}

/** Sections by their number in the binary format. */
export const SECTION = { custom: 0, type: 1, import: 2, function: 3, global: 6, export: 7, code: 10 } as const;

const MAGIC_AND_VERSION = [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
const MAX_PAGES = 65536;

const CONSTANT_OPCODE = { i32: 0x41, i64: 0x42, f32: 0x43, f64: 0x44 } as const;

export class ModuleBuilder {
  private readonly memory: Required<MemoryOptions> | null;
  private readonly signatures: Signature[] = [];
  private readonly signatureIndex = new Map<string, number>();
  private readonly imports: { handle: FunctionHandle; from: readonly [string, string]; type: number }[] = [];
  private readonly functions: { handle: FunctionHandle; type: number; body: Uint8Array }[] = [];
  private readonly globals: { global: Global; initial: Literal }[] = [];
  private readonly exports = new Map<string, number>();
  private writing: string | undefined;

  constructor(private readonly options: ModuleOptions = {}) {
    this.memory =
      options.memory === null
        ? null
        : { module: "env", name: "memory", min: 1, max: MAX_PAGES, shared: true, ...options.memory };
    if (!this.memory) return;
    const { min, max } = this.memory;
    if (!(Number.isInteger(min) && Number.isInteger(max) && min >= 0 && min <= max && max <= MAX_PAGES)) {
      throw new ArgumentError(
        `memory: from ${min} to ${max} pages; both are whole, up to ${MAX_PAGES}, the first less`,
      );
    }
  }

  /** A function of the host. Imports come before the module's own functions. */
  importFunction<const P extends readonly ValueType[], const R extends Results>(
    module: string,
    name: string,
    parameters: P,
    results: R,
  ): FunctionHandle<P, R> {
    if (this.functions.length > 0 || this.writing !== undefined) {
      throw new ArgumentError(`importFunction "${module}.${name}": imports come before the first m.function(…)`);
    }
    const handle = { name, parameters, results, module: this, index: this.imports.length };
    this.imports.push({ handle, from: [module, name], type: this.signature(parameters, results) });
    return handle;
  }

  /** The closure gets the parameters as values and returns the result: one, a list of several, or nothing. */
  function<const P extends readonly ValueType[], const R extends Results>(
    name: string,
    parameters: P,
    results: R,
    body: (f: FunctionBuilder, ...parameters: { [K in keyof P]: Value<P[K]> }) => Yield,
  ): FunctionHandle<P, R> {
    if (this.writing !== undefined) {
      throw new ArgumentError(`function "${name}": "${this.writing}" is still being written`);
    }
    this.writing = name;
    try {
      const f = new FunctionBuilder(this, name, parameters, results, this.options.relaxedSimd);
      const outcome = body(f, ...(f.parameters as { [K in keyof P]: Value<P[K]> }));
      const handle = { name, parameters, results, module: this, index: this.imports.length + this.functions.length };
      this.functions.push({ handle, type: this.signature(parameters, results), body: f.finish(listOf(outcome)) });
      return handle;
    } finally {
      this.writing = undefined;
    }
  }

  /** A global of the module, reached in functions through `f.global(…)`. */
  global<T extends Exclude<ValueType, "v128">>(type: T, initial: Literal, options: GlobalOptions = {}): Global<T> {
    const index = this.globals.length;
    const { name = `global${index}`, mutable = true } = options;
    const global = { name, type, isMutable: mutable, module: this, index };
    this.globals.push({ global, initial });
    return global;
  }

  /** Makes a function visible outside, under its own name unless another is given. */
  export(handle: FunctionHandle, as = handle.name): void {
    if (handle.module !== this) throw new ArgumentError(`export: "${handle.name}" belongs to another module`);
    if (this.exports.has(as)) throw new ArgumentError(`export: there is a function "${as}" already`);
    this.exports.set(as, handle.index);
  }

  /** The module as bytes. It may be called again after more was added. */
  build(): Uint8Array {
    if (this.writing !== undefined) throw new ArgumentError(`build: "${this.writing}" is still being written`);
    const out = new ByteStream(1024);
    for (const byte of MAGIC_AND_VERSION) out.byte(byte);
    section(out, SECTION.type, this.signatures, (s, { parameters, results }) => {
      s.byte(0x60);
      for (const types of [parameters, results]) {
        s.unsigned(types.length);
        for (const type of types) s.byte(TYPE_CODE[type]);
      }
    });
    const imports: ((s: ByteStream) => void)[] = this.imports.map(({ from, type }) => (s) => {
      s.name(from[0]);
      s.name(from[1]);
      s.byte(0x00);
      s.unsigned(type);
    });
    const { memory } = this;
    if (memory) imports.push((s) => writeMemory(s, memory));
    section(out, SECTION.import, imports, (s, write) => write(s));
    section(out, SECTION.function, this.functions, (s, { type }) => s.unsigned(type));
    section(out, SECTION.global, this.globals, writeGlobal);
    section(out, SECTION.export, [...this.exports], (s, [name, index]) => {
      s.name(name);
      s.byte(0x00);
      s.unsigned(index);
    });
    section(out, SECTION.code, this.functions, (s, { body }) => {
      s.unsigned(body.length);
      s.append(body);
    });
    if (this.options.names ?? true) this.writeNames(out);
    return out.view().slice();
  }

  private signature(parameters: readonly ValueType[], results: Results): number {
    const list = resultList(results);
    const key = `${parameters.join()}>${list.join()}`;
    let index = this.signatureIndex.get(key);
    if (index === undefined) {
      index = this.signatures.push({ parameters, results: list }) - 1;
      this.signatureIndex.set(key, index);
    }
    return index;
  }

  /** The custom section "name", with the names of functions. */
  private writeNames(out: ByteStream): void {
    const handles = [...this.imports, ...this.functions].map(({ handle }) => handle);
    if (handles.length === 0) return;
    const names = new ByteStream();
    names.unsigned(handles.length);
    for (const { index, name } of handles) {
      names.unsigned(index);
      names.name(name);
    }
    const content = new ByteStream();
    content.name("name");
    content.byte(1);
    content.sized(names);
    out.byte(SECTION.custom);
    out.sized(content);
  }
}

/** A section that is a vector; an empty one is left out. */
function section<T>(
  out: ByteStream,
  id: number,
  items: readonly T[],
  write: (content: ByteStream, item: T) => void,
): void {
  if (items.length === 0) return;
  const content = new ByteStream(256);
  content.unsigned(items.length);
  for (const item of items) write(content, item);
  out.byte(id);
  out.sized(content);
}

function writeMemory(s: ByteStream, { module, name, min, max, shared }: Required<MemoryOptions>): void {
  s.name(module);
  s.name(name);
  s.byte(0x02);
  s.byte(shared ? 0x03 : 0x01);
  s.unsigned(min);
  s.unsigned(max);
}

function writeGlobal(s: ByteStream, { global, initial }: { global: Global; initial: Literal }): void {
  const type = global.type as keyof typeof CONSTANT_OPCODE;
  const value = encodeLiteral(type, initial, `global "${global.name}"`);
  s.byte(TYPE_CODE[type]);
  s.byte(global.isMutable ? 1 : 0);
  s.byte(CONSTANT_OPCODE[type]);
  if (typeof value === "bigint") s.signed64(value);
  else if (type === "i32") s.signed(value);
  else if (type === "f32") s.f32(value);
  else s.f64(value);
  s.byte(0x0b);
}
