/**
 * The types and constants of a module, as a kernel writer names them: `m.f32`, `m.vec(m.u32, 3)`, `m.constant(m.f32, 1)`.
 * First layer of the module builder; memory and functions build on it.
 */
import { ArgumentError } from "../../core/errors.js";
import { Capability, CooperativeMatrixUse, MemorySemantics, Op, Scope } from "../enumerants.js";
import type { ScopeName } from "../function/atomics.js";
import { type Operand, type Region, Value } from "../function/value.js";
import type { ModuleBuilder } from "./builder.js";
import type { Version } from "./capabilities.js";
import { ConstantTable, type Literal } from "./constants.js";
import { alignOf, strideOf } from "./layout.js";
import { Sections } from "./sections.js";
import { type StructOptions, TypeTable } from "./type-table.js";
import {
  type ArrayType,
  type BoolType,
  elementOf,
  type FloatType,
  type IntType,
  type MatrixType,
  type MatrixUse,
  type PointerAccess,
  type PointerType,
  type RuntimeArrayType,
  type ScalarType,
  type StorageClassName,
  type StructType,
  scalarOf,
  type Type,
  type VectorType,
  type VoidType,
} from "./types.js";

/** Behaviour of float instructions of one width; each item is a device feature that must be queried first. */
export interface FloatControl {
  readonly denormals?: "preserve" | "flush";
  readonly rounding?: "RTE" | "RTZ";
  readonly signedZeroInfNanPreserve?: boolean;
}

/** Options of a module. */
export interface ModuleOptions {
  /** SPIR-V version: [1, 5] for Vulkan 1.2 (the default), [1, 3] for 1.1, [1, 6] for 1.3. */
  readonly version?: Version;
  /** Forbid fusing multiplications into additions everywhere, for the same bits on every device. */
  readonly noContraction?: boolean;
  /** Keep names of buffers, functions and members in the module (the default). */
  readonly names?: boolean;
  /** Use the Vulkan memory model; cooperative matrices turn it on by themselves when declared before any function. */
  readonly vulkanMemoryModel?: boolean;
  readonly floatControls?: { readonly [width in 16 | 32 | 64]?: FloatControl };
}

/** A struct member or block field: a name, a type, and an offset in bytes where the layout is someone else's. */
export type Field = readonly [name: string, type: Type, offset?: number];

/** A literal, or the parts of a composite as a list, which may hold lists. */
export type ConstantData = Literal | readonly ConstantData[];

/** Options of a pointer into a buffer. */
export interface BufferAccess extends PointerAccess {
  /** False promises that nothing is stored through it. */
  readonly writable?: boolean;
}

export class ModuleValues {
  readonly sections: Sections;
  readonly noContraction: boolean;
  /** The region of constants. Module variables have another one, because entry points must list them. */
  readonly constantRegion: Region;
  readonly variableRegion: Region;
  protected readonly types: TypeTable;
  protected readonly constants: ConstantTable;
  protected hasFunctions = false;
  private readonly scalars: { [name: string]: ScalarType } = {};

  constructor(protected readonly options: ModuleOptions) {
    const { version = [1, 5], names = true, vulkanMemoryModel = false, noContraction = false } = options;
    if (version[0] !== 1 || version[1] < 3 || version[1] > 6) {
      throw new ArgumentError(`SPIR-V ${version.join(".")} is not written here; choose 1.3 to 1.6`);
    }
    this.sections = new Sections(version, names, vulkanMemoryModel);
    this.noContraction = noContraction;
    // ModuleBuilder is the only class built on these layers.
    const module = this as unknown as ModuleBuilder;
    this.constantRegion = { open: true, root: this, module };
    this.variableRegion = { open: true, root: this, module };
    this.types = new TypeTable(this.sections);
    this.constants = new ConstantTable(this.sections, this.constantRegion);
  }

  get void(): VoidType {
    return this.types.void();
  }

  get bool(): BoolType {
    return this.scalar("bool", () => this.types.bool());
  }

  get i8(): IntType {
    return this.scalar("i8", () => this.types.int(8, true));
  }

  get u8(): IntType {
    return this.scalar("u8", () => this.types.int(8, false));
  }

  get i16(): IntType {
    return this.scalar("i16", () => this.types.int(16, true));
  }

  get u16(): IntType {
    return this.scalar("u16", () => this.types.int(16, false));
  }

  get i32(): IntType {
    return this.scalar("i32", () => this.types.int(32, true));
  }

  get u32(): IntType {
    return this.scalar("u32", () => this.types.int(32, false));
  }

  get i64(): IntType {
    return this.scalar("i64", () => this.types.int(64, true));
  }

  get u64(): IntType {
    return this.scalar("u64", () => this.types.int(64, false));
  }

  get f16(): FloatType {
    return this.scalar("f16", () => this.types.float(16));
  }

  get f32(): FloatType {
    return this.scalar("f32", () => this.types.float(32));
  }

  get f64(): FloatType {
    return this.scalar("f64", () => this.types.float(64));
  }

  /** bfloat16 (SPV_KHR_bfloat16): loads, stores, conversions and cooperative matrices. */
  get bf16(): FloatType {
    return this.scalar("bf16", () => this.types.bf16());
  }

  int(width: 8 | 16 | 32 | 64, signed: boolean): IntType {
    return this.types.int(width, signed);
  }

  vec(element: ScalarType, length: number): VectorType {
    return this.types.vector(element, length);
  }

  /** A fixed array; the length may be a specialisation constant. Give a stride to keep it in a buffer. */
  array(element: Type, length: number | Value, options: { readonly stride?: number } = {}): ArrayType {
    if (length instanceof Value && !this.constants.isSpecConstant(length)) {
      throw new ArgumentError(`array length: ${length} is not a specialisation constant; use a number`);
    }
    if (typeof length === "number" && (!Number.isInteger(length) || length < 1)) {
      throw new ArgumentError(`array length: ${length} is not a positive whole number`);
    }
    const count = length instanceof Value ? length : this.constant(this.u32, length);
    return this.types.array(element, length, count, options.stride);
  }

  /** The unbounded array at the end of a buffer. */
  runtimeArray(element: Type, options: { readonly stride?: number } = {}): RuntimeArrayType {
    const inBuffer = this.withLayout(element);
    return this.types.runtimeArray(inBuffer, options.stride ?? strideOf(inBuffer));
  }

  struct(fields: readonly Field[], options: StructOptions = {}): StructType {
    const members = fields.map(([name, type, offset]) => ({
      name,
      type: options.layout ? this.withLayout(type) : type,
      offset,
    }));
    return this.types.struct(members, options);
  }

  pointer(storage: StorageClassName, pointee: Type): PointerType {
    return this.types.pointer(storage, pointee);
  }

  /** The type of a buffer's address: a pointer to an unbounded array of `element`. */
  bufferPointer(element: Type, access: BufferAccess = {}): PointerType {
    const elements = this.runtimeArray(element);
    this.checkAlignment(elements.element, elements.stride, access.align);
    const readOnly = access.writable === false;
    // In the Vulkan memory model accesses declare it, not the memory.
    const coherent = access.coherent === true && !this.sections.usesVulkanMemoryModel;
    const block = this.struct([["elements", elements]], { block: true, layout: true, readOnly, coherent });
    return this.types.pointer("PhysicalStorageBuffer", block, pickAccess(access));
  }

  /** A pointer to one element of a buffer, which `f.step` can move along. */
  elementPointer(element: Type, access: PointerAccess = {}): PointerType {
    const inBuffer = this.withLayout(element);
    this.checkAlignment(inBuffer, strideOf(inBuffer), access.align);
    return this.types.pointer("PhysicalStorageBuffer", inBuffer, pickAccess(access), strideOf(inBuffer));
  }

  /** A pointer to a struct that contains pointers to its own kind; `describe` gets the pointer and returns the fields. */
  recursivePointer(name: string, describe: (self: PointerType) => readonly Field[]): PointerType {
    return this.types.recursivePointer(name, (self) => {
      return this.struct(describe(self), { name, block: true, layout: true });
    });
  }

  /** The rounding of floats of this width that the module asks for, if it does. */
  roundingOf(width: 16 | 32 | 64): FloatControl["rounding"] {
    return this.options.floatControls?.[width]?.rounding;
  }

  /** A cooperative matrix over a subgroup. */
  matrix(element: IntType | FloatType, rows: number, columns: number, use: MatrixUse): MatrixType {
    this.adoptVulkanMemoryModel();
    const use_ = {
      A: CooperativeMatrixUse.MatrixAKHR,
      B: CooperativeMatrixUse.MatrixBKHR,
      accumulator: CooperativeMatrixUse.MatrixAccumulatorKHR,
    }[use];
    const [scope, r, c, u] = [Scope.Subgroup, rows, columns, use_].map((n) => this.constant(this.u32, n));
    return this.types.matrix(element, { rows, columns, use }, [scope, r, c, u]);
  }

  /** The matrix type of the same shape and use with another element. */
  matrixLike(type: MatrixType, element: IntType | FloatType): MatrixType {
    return this.matrix(element, type.rows, type.columns, type.use);
  }

  /** A constant: a scalar, a vector from one number for all components, or a composite from a list of its parts. */
  constant(type: Type, value: ConstantData): Value {
    if (typeof value === "object") return this.compositeConstant(type, value);
    const scalar = scalarOf(type);
    if (!scalar) throw new ArgumentError(`constant: ${value} does not make ${type.name}; give a list, or use m.zero`);
    const one = this.constants.scalar(scalar, value);
    if (type === scalar) return one;
    // A cooperative matrix constant, like every matrix value, is made from the one value its elements share.
    return this.constants.composite(type, Array(type.kind === "vector" ? type.length : 1).fill(one));
  }

  /** All zeros, of any type. */
  zero(type: Type): Value {
    return this.constants.zero(type);
  }

  /** The constant with exactly these bits, low word first. */
  bits(type: ScalarType, low: number, high = 0): Value {
    return this.constants.bits(type, low >>> 0, high >>> 0);
  }

  /** A scalar to be replaced, by its number, when the pipeline is made. */
  specConstant(type: ScalarType, specId: number, fallback: Literal, name?: string): Value {
    return this.constants.spec(type, specId, fallback, name);
  }

  /** An instruction over constants, done when the pipeline is made: m.specOp("IMul", m.u32, size, 4). */
  specOp(name: keyof typeof Op, type: Type, ...operands: readonly Operand[]): Value {
    const values = operands.map((operand) => (operand instanceof Value ? operand : this.constant(type, operand)));
    const outsider = values.find((value) => !this.isConstant(value));
    if (outsider) throw new ArgumentError(`specOp (OpSpecConstantOp ${name}): ${outsider} is not a constant`);
    return this.constants.specOperation(Op[name], type, values);
  }

  /** True for constants, specialisation constants included. */
  isConstant(value: Value): boolean {
    return value.region === this.constantRegion;
  }

  /** The constant for a scope. The Vulkan model's name for "all of the device's queue" differs. */
  scope(name: ScopeName): Value {
    const code = name === "Device" && this.sections.usesVulkanMemoryModel ? Scope.QueueFamily : Scope[name];
    return this.constant(this.u32, code);
  }

  /** Memory semantics as the Vulkan memory model requires them: availability on release, visibility on acquire. */
  ordered(semantics: number): number {
    if (!this.sections.usesVulkanMemoryModel) return semantics;
    const { Acquire, Release, AcquireRelease, MakeAvailable, MakeVisible } = MemorySemantics;
    let bits = semantics;
    if (semantics & (Release | AcquireRelease)) bits |= MakeAvailable;
    if (semantics & (Acquire | AcquireRelease)) bits |= MakeVisible;
    return bits;
  }

  private compositeConstant(type: Type, parts: readonly ConstantData[]): Value {
    const isList = type.kind === "vector" || type.kind === "array";
    const length = isList ? type.length : type.kind === "struct" ? type.members.length : 0;
    if (length !== parts.length) {
      throw new ArgumentError(`constant: a list of ${parts.length} does not make ${type.name}`);
    }
    const typeOf = (i: number): Type => (type.kind === "struct" ? type.members[i].type : (elementOf(type) ?? type));
    return this.constants.composite(
      type,
      parts.map((part, i) => this.constant(typeOf(i), part)),
    );
  }

  /** `type` as it is in a buffer: arrays get a stride, structs get offsets. */
  protected withLayout(type: Type): Type {
    if (type.kind === "array" && type.stride === undefined) {
      const element = this.withLayout(type.element);
      return this.array(element, type.length, { stride: strideOf(element) });
    }
    if (type.kind === "struct" && type.members.some((member) => member.offset === undefined)) {
      const fields = type.members.map((m): Field => [m.name, m.type, m.offset]);
      return this.struct(fields, { layout: true });
    }
    return type;
  }

  private checkAlignment(element: Type, stride: number, align: number | undefined): void {
    if (align === undefined) return;
    const isPowerOfTwo = Number.isInteger(Math.log2(align));
    if (!isPowerOfTwo || align < alignOf(element) || stride % align !== 0) {
      throw new ArgumentError(
        `align: elements of ${element.name} lie ${stride} bytes apart and cannot all be aligned to ${align}`,
      );
    }
  }

  /** The cooperative matrix extension is defined in terms of the Vulkan memory model. */
  private adoptVulkanMemoryModel(): void {
    if (this.sections.usesVulkanMemoryModel) return;
    if (this.hasFunctions) {
      throw new ArgumentError(
        "cooperative matrices need the Vulkan memory model, and functions were written without it; " +
          "pass { vulkanMemoryModel: true } or declare the matrix types first",
      );
    }
    this.sections.usesVulkanMemoryModel = true;
    this.sections.require(Capability.VulkanMemoryModel);
  }

  /** Scalars are asked for with every literal, so they are kept by name rather than looked up by key. */
  private scalar<T extends ScalarType>(name: string, declare: () => T): T {
    const known = this.scalars[name];
    if (known) return known as T;
    const declared = declare();
    this.scalars[name] = declared;
    return declared;
  }
}

function pickAccess(access: PointerAccess): PointerAccess {
  return { align: access.align, coherent: access.coherent, large: access.large };
}
