/**
 * One function under construction. `m.entry` and `m.function` pass it to their closure, usually as `f`.
 *
 * The arithmetic, composites and control flow are inherited, one file each; here are the rest: built-in values, variables
 * and pointers, calls and returns, barriers. Subgroup operations, atomics and cooperative matrices hang off as
 * `f.subgroup`, `f.atomic` and `f.matrix`.
 */
import { ArgumentError } from "../../core/errors.js";
import { Capability, Decoration, FunctionControl, MemorySemantics, Op, StorageClass } from "../enumerants.js";
import type { ModuleBuilder } from "../module/builder.js";
import type { BuiltInName } from "../module/built-ins.js";
import type { FunctionType, PointerType, Type } from "../module/types.js";
import { AtomicOperations, type ScopeName } from "./atomics.js";
import { ControlFlow } from "./control-flow.js";
import { CooperativeMatrices } from "./cooperative-matrix.js";
import { Ref, stepPointer } from "./ref.js";
import { Subgroup } from "./subgroup.js";
import { type Operand, Value } from "./value.js";

/** The memory that a barrier orders. */
export interface BarrierOptions {
  /** Shared (workgroup) memory; the default of a workgroup barrier. */
  readonly shared?: boolean;
  /** Buffers, however they are reached. */
  readonly buffers?: boolean;
}

/** A finished function, to be called from others. */
export interface FunctionHandle {
  readonly name: string;
  readonly type: FunctionType;
  readonly builder: FunctionBuilder;
}

export class FunctionBuilder extends ControlFlow {
  readonly subgroup = new Subgroup(this);
  readonly atomic = new AtomicOperations(this);
  readonly matrix = new CooperativeMatrices(this);
  readonly parameters: readonly Value[];
  /** Workgroup size of the entry point, as constants; absent in other functions. */
  readonly localSize: readonly [Value, Value, Value] | undefined;
  /** Functions this one calls. */
  readonly callees = new Set<FunctionBuilder>();

  private readonly hoisted = new Map<unknown, Value>();

  constructor(
    module: ModuleBuilder,
    name: string,
    readonly type: FunctionType,
    localSize?: readonly [Value, Value, Value],
  ) {
    super(module, name);
    this.localSize = localSize;
    this.sections.name(this.id, name);
    this.parameters = type.parameters.map((parameter) => {
      const id = this.sections.newId();
      if (isBufferPointer(parameter)) this.sections.decorate(id, Decoration.Aliased);
      return new Value(id, parameter, this.rootRegion);
    });
  }

  /** A value the dispatch gives to each invocation; loaded once per function. */
  builtin(name: BuiltInName): Value {
    return this.once(name, () => {
      return this.emitStorage(Op.Load, this.module.builtInType(name), [this.module.builtInVariable(name)]);
    });
  }

  /** Memory of this invocation. `initial` is stored at this point, so again in every round of a loop. */
  variable(type: Type, initial?: Operand, name?: string): Ref {
    const id = this.sections.newId();
    const pointer = this.module.pointer("Function", type);
    this.variables.op3(Op.Variable, pointer.id, id, StorageClass.Function);
    this.sections.name(id, name);
    if (isBufferPointer(type)) this.sections.decorate(id, Decoration.AliasedPointer);
    const place = new Ref(new Value(id, pointer, this.rootRegion), type);
    if (initial !== undefined) place.store(initial);
    return place;
  }

  /** The place a pointer points to; for a pointer to a block of one runtime array, that array. */
  ref(pointer: Value): Ref {
    return this.module.place(pointer);
  }

  /** A pointer from a 64-bit address: a u64, or a vec2<u32> (low word first) where the device has no 64-bit integers. */
  pointer(address: Value, type: PointerType): Value {
    if (!isBufferPointer(type)) {
      throw new ArgumentError(`pointer: only buffer memory has addresses; ${type.name} is not PhysicalStorageBuffer`);
    }
    const from = address.type;
    if (from.kind === "int" && from.width === 64 && !from.signed) return this.emit1(Op.ConvertUToPtr, type, address);
    if (from === this.module.vec(this.module.u32, 2)) return this.emit1(Op.Bitcast, type, address);
    throw new ArgumentError(`pointer (OpConvertUToPtr): an address is u64 or vec2<u32>, got ${address.type.name}`);
  }

  /** The address of a place or pointer in buffer memory, as u64 or vec2<u32>. */
  address(of: Ref | Value, as: Type = this.module.u64): Value {
    const pointer = of instanceof Ref ? of.pointer() : of;
    if (!isBufferPointer(pointer.type)) {
      throw new ArgumentError(`address (OpConvertPtrToU): ${pointer.type.name} is not in PhysicalStorageBuffer memory`);
    }
    return this.emit1(as.kind === "vector" ? Op.Bitcast : Op.ConvertPtrToU, as, pointer);
  }

  /** An element pointer moved by a number of elements. */
  step(pointer: Value, by: Operand): Value {
    return stepPointer(this, pointer, by);
  }

  call(callee: FunctionHandle, ...args: readonly Operand[]): Value {
    const { type, name, builder } = callee;
    if (builder.module !== this.module) throw new ArgumentError(`call: "${name}" belongs to another module`);
    if (args.length !== type.parameters.length) {
      throw new ArgumentError(`call: "${name}" takes ${type.parameters.length} arguments, got ${args.length}`);
    }
    const values = args.map((arg, i) => this.as(arg, type.parameters[i], `call "${name}", argument ${i}`));
    this.callees.add(builder);
    return this.emitMany(Op.FunctionCall, type.result, [builder.id, ...values]);
  }

  /** Ends the function here: inside an `if`, an early return. */
  return(value?: Operand): void {
    const { result } = this.type;
    if (result.kind === "void") {
      if (value !== undefined) throw new ArgumentError(`return: "${this.name}" returns nothing`);
      this.emitVoid(Op.Return, []);
    } else {
      if (value === undefined) throw new ArgumentError(`return: "${this.name}" returns ${result.name}`);
      this.emitVoid(Op.ReturnValue, [this.as(value, result, `return from "${this.name}"`)]);
    }
    this.block = 0;
  }

  /** Waits for every invocation of the workgroup; by default their writes to shared memory are then visible. */
  workgroupBarrier(options: BarrierOptions = { shared: true }): void {
    const scope = this.module.scope("Workgroup");
    this.emitVoid(Op.ControlBarrier, [scope, scope, this.barrierSemantics(options)]);
  }

  /** Waits for the invocations of the subgroup. */
  subgroupBarrier(options: BarrierOptions = { shared: true }): void {
    this.sections.require(Capability.GroupNonUniform);
    const scope = this.module.scope("Subgroup");
    this.emitVoid(Op.ControlBarrier, [scope, scope, this.barrierSemantics(options)]);
  }

  /** Orders this invocation's accesses as seen by `scope`, without waiting. */
  memoryBarrier(scope: ScopeName, options: BarrierOptions): void {
    this.emitVoid(Op.MemoryBarrier, [this.module.scope(scope), this.barrierSemantics(options)]);
  }

  /** Marks the following instructions with a line of a source kept with `m.source`. */
  line(source: number, line: number, column = 0): void {
    this.emitVoid(Op.Line, [source, line, column]);
  }

  /** A value computed once per function, before its body. `key` identifies it. */
  once(key: unknown, write: () => Value): Value {
    let value = this.hoisted.get(key);
    if (!value) {
      value = this.hoist(write);
      this.hoisted.set(key, value);
    }
    return value;
  }

  /** Closes the function and moves its words to the module. */
  finish(): void {
    if (this.block !== 0) {
      if (this.type.result.kind !== "void") {
        throw new ArgumentError(`function "${this.name}" can end without returning ${this.type.result.name}`);
      }
      this.return();
    }
    this.rootRegion.open = false;
    const { functions } = this.sections;
    functions.op4(Op.Function, this.type.result.id, this.id, FunctionControl.None, this.type.id);
    for (const parameter of this.parameters) functions.op2(Op.FunctionParameter, parameter.type.id, parameter.id);
    functions.op1(Op.Label, this.entryBlock);
    functions.append(this.variables);
    functions.append(this.prologue);
    functions.append(this.out);
    functions.op0(Op.FunctionEnd);
  }

  private barrierSemantics(options: BarrierOptions): Value {
    let memory = 0;
    if (options.shared) memory |= MemorySemantics.WorkgroupMemory;
    if (options.buffers) memory |= MemorySemantics.UniformMemory;
    const bits = memory === 0 ? 0 : this.module.ordered(MemorySemantics.AcquireRelease | memory);
    return this.module.constant(this.module.u32, bits);
  }
}

function isBufferPointer(type: Type): boolean {
  return type.kind === "pointer" && type.storage === "PhysicalStorageBuffer";
}
