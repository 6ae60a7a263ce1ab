/**
 * A place in memory: a variable, a buffer, shared memory, or a part of one. `at` goes inside, `load` and `store` access.
 *
 *     const row = matrix.at(i);            // nothing is written yet
 *     row.store(j, f.add(row.load(j), 1)); // two access chains, a load, an add, a store
 *
 * A place remembers the path from its base and writes one access chain when it is used. It emits into the function being
 * built at that moment, so buffers declared once on the module serve every function.
 */
import { ArgumentError } from "../../core/errors.js";
import { MemoryAccess, Op, Scope } from "../enumerants.js";
import { alignOf, strideOf } from "../module/layout.js";
import { elementOf, type PointerAccess, type PointerType, type Type } from "../module/types.js";
import { memberIndex } from "./composites.js";
import type { FunctionBuilder } from "./function-builder.js";
import { type Operand, Value } from "./value.js";

/** An index into an array or vector, or the name or position of a struct member. */
export type Index = Operand | string;

export class Ref {
  readonly storage: PointerType["storage"];
  private cached: Value | undefined;

  /** `type` is the type at the end of `path` from `base`. */
  constructor(
    private readonly base: Value,
    readonly type: Type,
    private readonly path: readonly Value[] = [],
    private readonly access: PointerAccess = pointerType(base).access,
  ) {
    this.storage = pointerType(base).storage;
  }

  /** The place a path of indices leads to. */
  at(...indices: readonly Index[]): Ref {
    if (indices.length === 0) return this;
    if (this.access.large && this.type.kind === "runtimeArray")
      return this.farElement(indices[0]).at(...indices.slice(1));
    const { module } = this.base.region;
    let { type, access } = this;
    const path = [...this.path];
    for (const index of indices) {
      // The alignment of an element says nothing about the parts inside it.
      if (type.kind !== "runtimeArray" && access.align !== undefined) access = { ...access, align: undefined };
      if (type.kind === "struct") {
        const position = memberIndex(type, asMember(index, type), "access");
        const member = type.members[position];
        if (!member) throw new ArgumentError(`access: ${type.name} has no member ${position}`);
        path.push(module.constant(module.u32, position));
        type = member.type;
        continue;
      }
      const element = elementOf(type);
      if (!element) throw new ArgumentError(`access (OpAccessChain): ${type.name} has nothing to index`);
      path.push(asIndex(index, this.base));
      type = element;
    }
    return new Ref(this.base, type, path, access);
  }

  /** Reads the place, or the one the indices lead to from it. */
  load(...indices: readonly Index[]): Value {
    if (indices.length > 0) return this.at(...indices).load();
    if (this.type.kind === "runtimeArray" || this.type.kind === "void") {
      throw new ArgumentError(`load (OpLoad): ${this.type.name} has no size; load an element with an index`);
    }
    const f = this.function("load");
    return f.emitStorage(Op.Load, this.type, [this.pointer(), ...this.memoryOperands("load")]);
  }

  /** Writes the place: store(value), or store(index, …, value). */
  store(...indicesThenValue: readonly [...Index[], Operand]): void {
    const value = indicesThenValue[indicesThenValue.length - 1];
    if (indicesThenValue.length > 1) {
      this.at(...indicesThenValue.slice(0, -1)).store(value as Operand);
      return;
    }
    const f = this.function("store");
    const stored = f.as(value as Operand, this.type, "store (OpStore)");
    f.emitVoid(Op.Store, [this.pointer(), stored, ...this.memoryOperands("store")]);
  }

  /** The number of elements of a buffer that ends in a runtime array (OpArrayLength; storage buffers only). */
  length(): Value {
    const { type } = this;
    if (type.kind === "array") {
      const { module } = this.base.region;
      return typeof type.length === "number" ? module.constant(module.u32, type.length) : type.length;
    }
    const block = pointerType(this.base).pointee;
    if (type.kind !== "runtimeArray" || this.storage !== "StorageBuffer" || block.kind !== "struct") {
      throw new ArgumentError(
        `length (OpArrayLength): ${type.name} in ${this.storage} does not know its length; pass it`,
      );
    }
    const f = this.function("length");
    const member = block.members.findIndex((m) => m.type === type);
    return f.emitMany(Op.ArrayLength, f.module.u32, [this.base, member]);
  }

  toString(): string {
    return `${this.storage} place of ${this.type.name}`;
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return this.toString();
  }

  /** The pointer itself, for atomics, cooperative matrices and calls. */
  pointer(): Value {
    if (this.path.length === 0) return this.base;
    const f = this.function("access");
    // A chain written earlier serves again as long as its region is open, for then it dominates this point.
    if (this.cached?.region.open && this.cached.region.root === f) return this.cached;
    const type = f.module.pointer(this.storage, this.type);
    this.cached = f.emitStorage(Op.AccessChain, type, [this.base, ...this.path]);
    return this.cached;
  }

  /** The memory-operand words of an access here: mask first, empty when the defaults hold. */
  memoryOperands(kind: "load" | "store"): (number | Value)[] {
    const { module } = this.base.region;
    let mask: number = MemoryAccess.None;
    const rest: (number | Value)[] = [];
    if (this.storage === "PhysicalStorageBuffer") {
      mask |= MemoryAccess.Aligned;
      rest.push(Math.max(alignOf(this.type), this.access.align ?? 0));
    }
    if (module.sections.usesVulkanMemoryModel) {
      // In the Vulkan model accesses are private unless they say otherwise; shared memory exists to be shared.
      if (this.storage === "Workgroup") mask |= MemoryAccess.NonPrivatePointer;
      if (this.access.coherent) {
        mask |= MemoryAccess.NonPrivatePointer;
        mask |= kind === "load" ? MemoryAccess.MakePointerVisible : MemoryAccess.MakePointerAvailable;
        rest.push(module.constant(module.u32, Scope.QueueFamily));
      }
    }
    return mask === MemoryAccess.None ? [] : [mask, ...rest];
  }

  /**
   * An element of a large buffer, by adding to its address. An access chain would say the same, but NVIDIA's compiler
   * works out the distance in 32 bits: on an H200, loads more than 4 GiB into a buffer, or before its start, gave zeros.
   */
  private farElement(index: Index | undefined): Ref {
    const f = this.function("access");
    const { type } = this;
    if (type.kind !== "runtimeArray" || index === undefined || typeof index === "string") {
      throw new ArgumentError(`access: an element of ${type.name} is counted, not named`);
    }
    const distance = byteDistance(f, index, type.stride);
    const pointer = f.module.elementPointer(type.element, this.access);
    return new Ref(f.pointer(f.add(f.address(this.base), distance), pointer), type.element);
  }

  private function(what: string): FunctionBuilder {
    return this.base.region.module.current(what);
  }
}

/**
 * Moves an element pointer by a number of elements: OpPtrAccessChain for an unsigned number, which means forwards, and
 * 64-bit arithmetic for a signed one, for the reason given at Ref.farElement.
 */
export function stepPointer(f: FunctionBuilder, pointer: Value, by: Operand): Value {
  const type = pointerType(pointer);
  if (type.storage !== "PhysicalStorageBuffer") {
    throw new ArgumentError(`step (OpPtrAccessChain): ${type.name} is not in buffer memory; index its array instead`);
  }
  const goesForward = by instanceof Value ? by.type.kind === "int" && !by.type.signed : Number(by) >= 0;
  if (goesForward && !type.access.large) return f.emitStorage(Op.PtrAccessChain, type, [pointer, asIndex(by, pointer)]);
  return f.pointer(f.add(f.address(pointer), byteDistance(f, by, strideOf(type.pointee))), type);
}

/** `count` elements in bytes, as a u64 that wraps where the count is negative. */
function byteDistance(f: FunctionBuilder, count: Operand, stride: number): Value {
  const { u64 } = f.module;
  if (!(count instanceof Value)) return f.module.constant(u64, BigInt.asUintN(64, BigInt(count) * BigInt(stride)));
  if (count.type.kind !== "int") throw new ArgumentError(`an index must be an integer, got ${count.type.name}`);
  return f.mul(f.convert(count, u64), stride);
}

export function pointerType(value: Value): PointerType {
  if (value.type.kind === "pointer") return value.type;
  throw new ArgumentError(`expected a pointer, got ${value.type.name}`);
}

function asMember(index: Index, type: Type): number | string {
  if (typeof index === "number" || typeof index === "string") return index;
  throw new ArgumentError(`access: a member of ${type.name} is named, or counted, not computed`);
}

function asIndex(index: Index, near: Value): Value {
  const { module } = near.region;
  if (typeof index === "string") throw new ArgumentError(`access: "${index}" names a member, but this is not a struct`);
  if (!(index instanceof Value)) return module.constant(module.u32, index);
  if (index.type.kind === "int") return index;
  throw new ArgumentError(`access (OpAccessChain): an index must be an integer, got ${index.type.name}`);
}
