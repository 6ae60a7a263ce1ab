/**
 * Atomic operations on a place in memory. Reached as `f.atomic`; each returns the previous value.
 *
 * The default is relaxed order over the widest scope the memory has (the workgroup for shared memory, else the device), as
 * counters and reductions need. Give an order where other accesses must be ordered too.
 */
import { ArgumentError } from "../../core/errors.js";
import { Capability, MemorySemantics, Op } from "../enumerants.js";
import type { Type } from "../module/types.js";
import type { FunctionBuilder } from "./function-builder.js";
import type { Ref } from "./ref.js";
import type { Operand, Value } from "./value.js";

/** The memory order of an atomic operation. */
export type MemoryOrder = "relaxed" | "acquire" | "release" | "acquireRelease";

/** The invocations that an operation is ordered for. */
export type ScopeName = "Device" | "Workgroup" | "Subgroup" | "Invocation";

/** Options of an atomic operation. */
export interface AtomicOptions {
  readonly order?: MemoryOrder;
  readonly scope?: ScopeName;
}

const SEMANTICS_OF_ORDER: Record<MemoryOrder, number> = {
  relaxed: MemorySemantics.Relaxed,
  acquire: MemorySemantics.Acquire,
  release: MemorySemantics.Release,
  acquireRelease: MemorySemantics.AcquireRelease,
};

const FLOAT_ADD: Record<number, number> = {
  16: Capability.AtomicFloat16AddEXT,
  32: Capability.AtomicFloat32AddEXT,
  64: Capability.AtomicFloat64AddEXT,
};
const FLOAT_MIN_MAX: Record<number, number> = {
  16: Capability.AtomicFloat16MinMaxEXT,
  32: Capability.AtomicFloat32MinMaxEXT,
  64: Capability.AtomicFloat64MinMaxEXT,
};

export class AtomicOperations {
  constructor(private readonly f: FunctionBuilder) {}

  load(place: Ref, options?: AtomicOptions): Value {
    this.requireFor(place.type, "load");
    return this.f.emitMany(Op.AtomicLoad, place.type, [place.pointer(), ...this.semantics(place, options)]);
  }

  store(place: Ref, value: Operand, options?: AtomicOptions): void {
    this.requireFor(place.type, "store");
    const stored = this.f.as(value, place.type, "atomic store");
    this.f.emitVoid(Op.AtomicStore, [place.pointer(), ...this.semantics(place, options), stored]);
  }

  /** Integers, or floats with SPV_EXT_shader_atomic_float_add. */
  add(place: Ref, value: Operand, options?: AtomicOptions): Value {
    const { type } = place;
    if (type.kind === "float" && type.encoding === "ieee") {
      this.f.module.sections.require(FLOAT_ADD[type.width]);
      return this.update(Op.AtomicFAddEXT, "add", place, value, options);
    }
    return this.integer(Op.AtomicIAdd, "add", place, value, options);
  }

  sub(place: Ref, value: Operand, options?: AtomicOptions): Value {
    return this.integer(Op.AtomicISub, "sub", place, value, options);
  }

  /** Integers, or floats with SPV_EXT_shader_atomic_float_min_max. */
  min(place: Ref, value: Operand, options?: AtomicOptions): Value {
    return this.extremum([Op.AtomicFMinEXT, Op.AtomicSMin, Op.AtomicUMin], "min", place, value, options);
  }

  max(place: Ref, value: Operand, options?: AtomicOptions): Value {
    return this.extremum([Op.AtomicFMaxEXT, Op.AtomicSMax, Op.AtomicUMax], "max", place, value, options);
  }

  and(place: Ref, value: Operand, options?: AtomicOptions): Value {
    return this.integer(Op.AtomicAnd, "and", place, value, options);
  }

  or(place: Ref, value: Operand, options?: AtomicOptions): Value {
    return this.integer(Op.AtomicOr, "or", place, value, options);
  }

  xor(place: Ref, value: Operand, options?: AtomicOptions): Value {
    return this.integer(Op.AtomicXor, "xor", place, value, options);
  }

  exchange(place: Ref, value: Operand, options?: AtomicOptions): Value {
    this.requireFor(place.type, "exchange");
    return this.update(Op.AtomicExchange, "exchange", place, value, options);
  }

  /** Stores `desired` if the place holds `expected`; returns the previous value. Integers only. */
  compareExchange(place: Ref, expected: Operand, desired: Operand, options?: AtomicOptions): Value {
    this.requireInteger(place.type, "compareExchange");
    const [scope, whenEqual] = this.semantics(place, options);
    // A comparison that fails stores nothing, so it has nothing to release.
    const order = options?.order === "acquire" || options?.order === "acquireRelease" ? "acquire" : "relaxed";
    const [, whenDifferent] = this.semantics(place, { ...options, order });
    const [value, comparator] = [desired, expected].map((x) => this.f.as(x, place.type, "atomic compareExchange"));
    const operands = [place.pointer(), scope, whenEqual, whenDifferent, value, comparator];
    return this.f.emitMany(Op.AtomicCompareExchange, place.type, operands);
  }

  private extremum(
    [float, signed, unsigned]: readonly [number, number, number],
    name: string,
    place: Ref,
    value: Operand,
    options: AtomicOptions | undefined,
  ): Value {
    const { type } = place;
    if (type.kind === "float" && type.encoding === "ieee") {
      this.f.module.sections.require(FLOAT_MIN_MAX[type.width]);
      return this.update(float, name, place, value, options);
    }
    return this.integer(type.kind === "int" && type.signed ? signed : unsigned, name, place, value, options);
  }

  private integer(opcode: number, name: string, place: Ref, value: Operand, options?: AtomicOptions): Value {
    this.requireInteger(place.type, name);
    return this.update(opcode, name, place, value, options);
  }

  private update(opcode: number, name: string, place: Ref, value: Operand, options?: AtomicOptions): Value {
    const operand = this.f.as(value, place.type, `atomic ${name}`);
    return this.f.emitMany(opcode, place.type, [place.pointer(), ...this.semantics(place, options), operand]);
  }

  private semantics(place: Ref, options: AtomicOptions | undefined): [scope: Value, semantics: Value] {
    const { module } = this.f;
    const isShared = place.storage === "Workgroup";
    const scope = module.scope(options?.scope ?? (isShared ? "Workgroup" : "Device"));
    const order = SEMANTICS_OF_ORDER[options?.order ?? "relaxed"];
    const memory = isShared ? MemorySemantics.WorkgroupMemory : MemorySemantics.UniformMemory;
    const bits = order === MemorySemantics.Relaxed ? order : module.ordered(order | memory);
    return [scope, module.constant(module.u32, bits)];
  }

  private requireFor(type: Type, name: string): void {
    if (type.kind === "float" && type.encoding === "ieee") return;
    this.requireInteger(type, name);
  }

  private requireInteger(type: Type, name: string): void {
    if (type.kind !== "int" || type.width < 32) {
      throw new ArgumentError(`atomic ${name}: takes 32- and 64-bit integers, got ${type.name}`);
    }
    if (type.width === 64) this.f.module.sections.require(Capability.Int64Atomics);
  }
}
