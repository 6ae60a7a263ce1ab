/**
 * The SPIR-V assembler: a module is described by calls and comes out as words.
 *
 *     const m = new ModuleBuilder({ noContraction: true });
 *     const a = m.storageBuffer(m.f32, { binding: 0 });
 *     const push = m.pushConstants([["n", m.u32]]);
 *     m.entry("main", { localSize: [64] }, (f) => {
 *       const i = f.builtin("GlobalInvocationId").x;
 *       f.if(f.less(i, push.n), () => a.store(i, f.mul(a.load(i), 2)));
 *     });
 *     const words = m.build();
 *
 * Types and constants are in module-values.ts, buffers and other memory in module-memory.ts; here are functions, entry
 * points and the finished module. The builder declares the capabilities and extensions that are used. The same calls give
 * the same words. The emitter of fused kernels and the catalogue's shaders call it.
 */
import { ArgumentError } from "../../core/errors.js";
import { BuiltIn, Capability, Decoration, ExecutionMode, ExecutionModel, Op } from "../enumerants.js";
import { FunctionBuilder, type FunctionHandle } from "../function/function-builder.js";
import { type Operand, Value } from "../function/value.js";
import { WordStream } from "../word-stream.js";
import { ModuleMemory } from "./module-memory.js";
import type { FloatControl, ModuleOptions } from "./module-values.js";
import type { FunctionType, Type } from "./types.js";

/** Options of an entry point. */
export interface EntryOptions {
  /** Invocations per workgroup along x, y, z: numbers, or u32 specialisation constants. */
  readonly localSize: readonly (number | Value)[];
}

interface EntryPoint {
  readonly name: string;
  readonly builder: FunctionBuilder;
}

type LocalSize = readonly [Value, Value, Value];

/** Builds a SPIR-V module: types, constants, buffers, functions and entry points. */
export class ModuleBuilder extends ModuleMemory {
  private readonly entries: EntryPoint[] = [];
  private readonly open: FunctionBuilder[] = [];
  private specializedSize: LocalSize | undefined;
  /** Name of a function whose closure threw: half of it is in the sections already. */
  private abandoned: string | undefined;

  constructor(options: ModuleOptions = {}) {
    super(options);
  }

  /** A function others can call. The closure gets the parameters as values and returns the result, if there is one. */
  function(
    name: string,
    parameters: readonly Type[],
    result: Type,
    // biome-ignore lint/suspicious/noConfusingVoidType: a closure without a return statement is common
    body: (f: FunctionBuilder, ...parameters: Value[]) => Operand | void,
  ): FunctionHandle {
    const type = this.types.function(result, parameters);
    const builder = new FunctionBuilder(this, name, type);
    this.write(builder, () => {
      const returned = body(builder, ...builder.parameters);
      if (result.kind !== "void" && returned !== undefined && !builder.isTerminated) builder.return(returned);
    });
    return { name, type, builder };
  }

  /** An entry point: the kernel of a pipeline. */
  entry(name: string, options: EntryOptions, body: (f: FunctionBuilder) => void): void {
    if (this.entries.some((entry) => entry.name === name)) {
      throw new ArgumentError(`entry point "${name}" is defined twice`);
    }
    const size = this.localSizeConstants(options.localSize);
    const type: FunctionType = this.types.function(this.void, []);
    const builder = new FunctionBuilder(this, name, type, size);
    this.localSizeMode(builder.id, options.localSize, size);
    this.floatModes(builder.id);
    this.write(builder, () => body(builder));
    this.entries.push({ name, builder });
  }

  /** Keeps source text in the module; the number it returns goes to `f.line`. */
  source(file: string, text: string): number {
    return this.sections.source(file, text);
  }

  /** The function being written, for calls that emit without naming one: buffers, push constants, `.x` of a vector. */
  current(what: string): FunctionBuilder {
    const builder = this.open[this.open.length - 1];
    if (!builder) throw new ArgumentError(`${what}: instructions go inside m.entry(…) or m.function(…)`);
    return builder;
  }

  /** The module as words. It may be called again after more was added. */
  build(): Uint32Array {
    const unfinished = this.open[this.open.length - 1];
    if (unfinished) throw new ArgumentError(`build: "${unfinished.name}" is still being written`);
    if (this.abandoned !== undefined) {
      throw new ArgumentError(`build: writing "${this.abandoned}" failed; start over with a new ModuleBuilder`);
    }
    if (this.entries.length === 0) throw new ArgumentError("build: the module has no entry point; add m.entry(…)");
    const words = new WordStream();
    for (const { name, builder } of this.entries) {
      const mark = words.open(Op.EntryPoint);
      words.push(ExecutionModel.GLCompute);
      words.push(builder.id);
      words.string(name);
      for (const id of this.interfaceOf(builder)) words.push(id);
      words.close(mark);
    }
    return this.sections.assemble(words);
  }

  /** For console.log. */
  [Symbol.for("nodejs.util.inspect.custom")](): string {
    const names = this.entries.map((entry) => `"${entry.name}"`).join(", ");
    return `SPIR-V ${this.sections.version.join(".")} module with entry points ${names}`;
  }

  private write(builder: FunctionBuilder, body: () => void): void {
    this.hasFunctions = true;
    this.open.push(builder);
    try {
      body();
      builder.finish();
    } catch (error) {
      this.abandoned ??= builder.name;
      throw error;
    } finally {
      this.open.pop();
    }
  }

  /** Module variables an entry point uses, itself or through what it calls; before SPIR-V 1.4 only those of class Input. */
  private interfaceOf(entry: FunctionBuilder): number[] {
    const reached = new Set([entry]);
    for (const builder of reached) for (const callee of builder.callees) reached.add(callee);
    const used = new Set<number>();
    for (const builder of reached) for (const id of builder.touched) used.add(id);
    const listed = this.sections.atLeast(4) ? [...used] : [...used].filter((id) => this.isInput(id));
    return listed.sort((a, b) => a - b);
  }

  private localSizeConstants(size: readonly (number | Value)[]): LocalSize {
    if (size.length < 1 || size.length > 3) {
      throw new ArgumentError(`localSize has 1 to 3 dimensions, got ${size.length}`);
    }
    const [x, y = 1, z = 1] = size;
    const [a, b, c] = [x, y, z].map((n) => {
      if (n instanceof Value) {
        if (n.type === this.u32 && this.isConstant(n)) return n;
        throw new ArgumentError(`localSize: ${n} is not a u32 constant`);
      }
      if (!Number.isInteger(n) || n < 1) throw new ArgumentError(`localSize: ${n} is not a positive whole number`);
      return this.constant(this.u32, n);
    });
    return [a, b, c];
  }

  /** Declares the workgroup size: numbers, or the specialisation constants that set it when the pipeline is made. */
  private localSizeMode(id: number, given: readonly (number | Value)[], size: LocalSize): void {
    const modes = this.sections.executionModes;
    const isFixed = given.every((n) => typeof n === "number");
    if (isFixed && !this.specializedSize) {
      const [x, y = 1, z = 1] = given as readonly number[];
      modes.op5(Op.ExecutionMode, id, ExecutionMode.LocalSize, x, y, z);
    } else if (this.sections.atLeast(6)) {
      modes.op5(Op.ExecutionModeId, id, ExecutionMode.LocalSizeId, size[0].id, size[1].id, size[2].id);
    } else {
      this.specializeSize(size);
      modes.op5(Op.ExecutionMode, id, ExecutionMode.LocalSize, 1, 1, 1);
    }
  }

  /** Before SPIR-V 1.6 this takes a constant decorated WorkgroupSize, which overrides the size of every entry point. */
  private specializeSize(size: LocalSize): void {
    const same = this.specializedSize?.every((value, i) => value === size[i]);
    if (same) return;
    if (this.specializedSize || this.entries.length > 0) {
      throw new ArgumentError(
        "before SPIR-V 1.6 a workgroup size by specialisation constants holds for every entry point of the module; " +
          "use one size, one module per entry point, or version [1, 6]",
      );
    }
    const whole = this.constants.composite(this.vec(this.u32, 3), size);
    this.sections.decorateWith(whole.id, Decoration.BuiltIn, BuiltIn.WorkgroupSize);
    this.specializedSize = size;
  }

  private floatModes(id: number): void {
    for (const width of [16, 32, 64] as const) {
      const control = this.options.floatControls?.[width];
      if (!control) continue;
      for (const [capability, mode] of floatModesOf(control)) {
        this.sections.require(capability);
        this.sections.executionModes.op3(Op.ExecutionMode, id, mode, width);
      }
    }
  }
}

function floatModesOf(control: FloatControl): (readonly [capability: number, mode: number])[] {
  const modes: (readonly [number, number])[] = [];
  if (control.denormals === "preserve") modes.push([Capability.DenormPreserve, ExecutionMode.DenormPreserve]);
  if (control.denormals === "flush") modes.push([Capability.DenormFlushToZero, ExecutionMode.DenormFlushToZero]);
  if (control.signedZeroInfNanPreserve) {
    modes.push([Capability.SignedZeroInfNanPreserve, ExecutionMode.SignedZeroInfNanPreserve]);
  }
  if (control.rounding === "RTE") modes.push([Capability.RoundingModeRTE, ExecutionMode.RoundingModeRTE]);
  if (control.rounding === "RTZ") modes.push([Capability.RoundingModeRTZ, ExecutionMode.RoundingModeRTZ]);
  return modes;
}
