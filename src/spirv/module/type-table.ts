/**
 * Declares the types of one module, each once.
 *
 * SPIR-V forbids declaring a non-aggregate type twice, and the builder compares types by identity, so every type goes
 * through the one map here. Declaring a type also declares its capabilities: Int64 and Float64 (there is no storage-only
 * form of those), the storage capabilities of narrow numbers behind a pointer, bfloat16, cooperative matrices.
 */
import { ArgumentError } from "../../core/errors.js";
import { Capability, Decoration, FPEncoding, Op, StorageClass } from "../enumerants.js";
import type { Value } from "../function/value.js";
import { arithmeticCapabilities, storageCapabilities } from "./capabilities.js";
import { placeMembers, strideOf } from "./layout.js";
import type { Sections } from "./sections.js";
import {
  type ArrayType,
  type BoolType,
  CONTAINS_BFLOAT16,
  CONTAINS_FLOAT16,
  CONTAINS_INT8,
  CONTAINS_INT16,
  type FloatType,
  type FunctionType,
  type IntType,
  type MatrixType,
  type MatrixUse,
  type Member,
  type PointerAccess,
  type PointerType,
  type RuntimeArrayType,
  type ScalarType,
  type StorageClassName,
  type StructType,
  type Type,
  type VectorType,
  type VoidType,
} from "./types.js";

/** Options of a struct declaration. */
export interface StructOptions {
  readonly name?: string;
  /** It is the outermost type of a buffer or push-constant block. */
  readonly block?: boolean;
  /** Its members carry offsets (scalar layout); off for structs in shared or private memory. */
  readonly layout?: boolean;
  /** No member is written through it (used where the buffer has no variable to say so on). */
  readonly readOnly?: boolean;
  /** Invocations exchange data through it (likewise). */
  readonly coherent?: boolean;
}

const ACCESS_BY_DEFAULT: PointerAccess = Object.freeze({});

export class TypeTable {
  private readonly interned = new Map<string, Type>();
  /** Plain pointers by storage class and pointee: asked for with every access, so without building a key. */
  private readonly plainPointers = new Map<StorageClassName, Map<Type, PointerType>>();

  constructor(private readonly sections: Sections) {}

  void(): VoidType {
    return this.intern("void", (id) => {
      this.sections.globals.op1(Op.TypeVoid, id);
      return { kind: "void", id, name: "void", contents: 0 };
    });
  }

  bool(): BoolType {
    return this.intern("bool", (id) => {
      this.sections.globals.op1(Op.TypeBool, id);
      return { kind: "bool", id, name: "bool", contents: 0 };
    });
  }

  int(width: 8 | 16 | 32 | 64, signed: boolean): IntType {
    const name = `${signed ? "i" : "u"}${width}`;
    return this.intern(name, (id) => {
      if (width === 64) this.sections.require(Capability.Int64);
      this.sections.globals.op3(Op.TypeInt, id, width, signed ? 1 : 0);
      const contents = width === 8 ? CONTAINS_INT8 : width === 16 ? CONTAINS_INT16 : 0;
      this.sections.narrowTypes |= contents;
      return { kind: "int", id, name, contents, width, signed };
    });
  }

  float(width: 16 | 32 | 64): FloatType {
    const name = `f${width}`;
    return this.intern(name, (id) => {
      if (width === 64) this.sections.require(Capability.Float64);
      this.sections.globals.op2(Op.TypeFloat, id, width);
      const contents = width === 16 ? CONTAINS_FLOAT16 : 0;
      this.sections.narrowTypes |= contents;
      return { kind: "float", id, name, contents, width, encoding: "ieee" };
    });
  }

  bf16(): FloatType {
    return this.intern("bf16", (id) => {
      this.sections.require(Capability.BFloat16TypeKHR);
      this.sections.globals.op3(Op.TypeFloat, id, 16, FPEncoding.BFloat16KHR);
      return { kind: "float", id, name: "bf16", contents: CONTAINS_BFLOAT16, width: 16, encoding: "bf16" };
    });
  }

  vector(element: ScalarType, length: number): VectorType {
    if (length !== 2 && length !== 3 && length !== 4) {
      throw new ArgumentError(`a vector has 2, 3 or 4 components, not ${length}; use an array for more`);
    }
    const name = `vec${length}<${element.name}>`;
    return this.intern(name, (id) => {
      this.sections.globals.op3(Op.TypeVector, id, element.id, length);
      return { kind: "vector", id, name, contents: element.contents, element, length };
    });
  }

  /** `count` is the constant that holds `length`; a stride makes it an array for buffers. */
  array(element: Type, length: number | Value, count: Value, stride: number | undefined): ArrayType {
    return this.intern(`array ${element.id} ${count.id} ${stride}`, (id) => {
      this.sections.globals.op3(Op.TypeArray, id, element.id, count.id);
      if (stride !== undefined) this.sections.decorateWith(id, Decoration.ArrayStride, stride);
      const name = `array<${element.name}, ${typeof length === "number" ? length : `%${length.id}`}>`;
      return { kind: "array", id, name, contents: element.contents, element, length, stride };
    });
  }

  runtimeArray(element: Type, stride = strideOf(element)): RuntimeArrayType {
    return this.intern(`runtimeArray ${element.id} ${stride}`, (id) => {
      this.sections.globals.op2(Op.TypeRuntimeArray, id, element.id);
      this.sections.decorateWith(id, Decoration.ArrayStride, stride);
      const name = `array<${element.name}>`;
      return { kind: "runtimeArray", id, name, contents: element.contents, element, stride };
    });
  }

  struct(fields: readonly Member[], options: StructOptions = {}): StructType {
    const { block = false, layout = false, readOnly = false, coherent = false } = options;
    const members: readonly Member[] = layout ? placeMembers(fields) : fields;
    const parts = members.map((m) => `${m.name}:${m.type.id}@${m.offset}`);
    const key = `struct ${options.name ?? ""} ${block} ${readOnly} ${coherent} ${parts.join(" ")}`;
    return this.intern(key, (id) => {
      const { globals } = this.sections;
      const mark = globals.open(Op.TypeStruct);
      globals.push(id);
      for (const member of members) globals.push(member.type.id);
      globals.close(mark);
      this.sections.name(id, options.name);
      if (block) this.sections.decorate(id, Decoration.Block);
      let contents = 0;
      members.forEach((member, i) => {
        contents |= member.type.contents;
        this.sections.memberName(id, i, member.name);
        if (member.offset !== undefined) this.sections.decorateMemberWith(id, i, Decoration.Offset, member.offset);
        if (readOnly) this.sections.decorateMember(id, i, Decoration.NonWritable);
        if (coherent) this.sections.decorateMember(id, i, Decoration.Coherent);
      });
      const name = options.name ?? `struct{${members.map((m) => `${m.name}: ${m.type.name}`).join(", ")}}`;
      return { kind: "struct", id, name, contents, members };
    });
  }

  /**
   * A pointer type. `stride` makes it one that element arithmetic (OpPtrAccessChain) can step over. Pointer types that
   * differ only in `access` are one type to SPIR-V and share an id.
   */
  pointer(storage: StorageClassName, pointee: Type, access = ACCESS_BY_DEFAULT, stride?: number): PointerType {
    if (access === ACCESS_BY_DEFAULT && stride === undefined) return this.plainPointer(storage, pointee);
    return this.describedPointer(storage, pointee, access, stride);
  }

  private plainPointer(storage: StorageClassName, pointee: Type): PointerType {
    let byPointee = this.plainPointers.get(storage);
    if (!byPointee) {
      byPointee = new Map();
      this.plainPointers.set(storage, byPointee);
    }
    let type = byPointee.get(pointee);
    if (!type) {
      type = this.describedPointer(storage, pointee, ACCESS_BY_DEFAULT, undefined);
      byPointee.set(pointee, type);
    }
    return type;
  }

  private describedPointer(
    storage: StorageClassName,
    pointee: Type,
    access: PointerAccess,
    stride: number | undefined,
  ): PointerType {
    const key = `pointer ${storage} ${pointee.id} ${stride}`;
    const plain = this.intern(key, (id): PointerType => {
      this.requirePointer(storage, pointee);
      this.sections.globals.op3(Op.TypePointer, id, StorageClass[storage], pointee.id);
      if (stride !== undefined) this.sections.decorateWith(id, Decoration.ArrayStride, stride);
      return {
        kind: "pointer",
        id,
        name: `ptr<${storage}, ${pointee.name}>`,
        contents: 0,
        storage,
        pointee,
        access: ACCESS_BY_DEFAULT,
      };
    });
    if (access.align === undefined && !access.coherent && !access.large) return plain;
    return this.internAs(`${key} ${access.align} ${access.coherent} ${access.large}`, () => ({ ...plain, access }));
  }

  /** A pointer in buffer memory to a struct that contains such pointers: a list, a tree. */
  recursivePointer(name: string, describe: (self: PointerType) => StructType): PointerType {
    const storage = "PhysicalStorageBuffer";
    const id = this.sections.newId();
    this.sections.globals.op2(Op.TypeForwardPointer, id, StorageClass[storage]);
    let pointee: StructType | undefined;
    const self: PointerType = {
      kind: "pointer",
      id,
      name: `ptr<${storage}, ${name}>`,
      contents: 0,
      storage,
      get pointee(): StructType {
        if (!pointee) throw new ArgumentError(`${name} is still being described; it can only be pointed to here`);
        return pointee;
      },
      access: ACCESS_BY_DEFAULT,
    };
    pointee = describe(self);
    this.requirePointer(storage, pointee);
    this.sections.globals.op3(Op.TypePointer, id, StorageClass[storage], pointee.id);
    return this.internAs(`pointer ${storage} ${pointee.id} undefined`, () => self);
  }

  function(result: Type, parameters: readonly Type[]): FunctionType {
    const ids = parameters.map((p) => p.id);
    return this.intern(`function ${result.id} ${ids.join(" ")}`, (id) => {
      const { globals } = this.sections;
      const mark = globals.open(Op.TypeFunction);
      globals.push(id);
      globals.push(result.id);
      for (const parameter of ids) globals.push(parameter);
      globals.close(mark);
      const name = `(${parameters.map((p) => p.name).join(", ")}) => ${result.name}`;
      return { kind: "function", id, name, contents: 0, result, parameters };
    });
  }

  /** `ids` are the constants for scope, rows, columns and use, in the order of the instruction. */
  matrix(
    element: IntType | FloatType,
    shape: { readonly rows: number; readonly columns: number; readonly use: MatrixUse },
    ids: readonly [Value, Value, Value, Value],
  ): MatrixType {
    return this.intern(`matrix ${element.id} ${ids.map((v) => v.id).join(" ")}`, (id) => {
      this.sections.require(Capability.CooperativeMatrixKHR);
      if (element.contents & CONTAINS_BFLOAT16) this.sections.require(Capability.BFloat16CooperativeMatrixKHR);
      this.sections.requireAll(arithmeticCapabilities(element));
      const { globals } = this.sections;
      const mark = globals.open(Op.TypeCooperativeMatrixKHR);
      globals.push(id);
      globals.push(element.id);
      for (const constant of ids) globals.push(constant.id);
      globals.close(mark);
      const name = `matrix${shape.use === "accumulator" ? "C" : shape.use}<${element.name}, ${shape.rows}x${shape.columns}>`;
      return { kind: "matrix", id, name, contents: element.contents, element, ...shape };
    });
  }

  private requirePointer(storage: StorageClassName, pointee: Type): void {
    if (storage === "PhysicalStorageBuffer") this.sections.require(Capability.PhysicalStorageBufferAddresses);
    this.sections.requireAll(storageCapabilities(storage, pointee));
  }

  private intern<T extends Type>(key: string, declare: (id: number) => T): T {
    return this.internAs(key, () => declare(this.sections.newId()));
  }

  private internAs<T extends Type>(key: string, make: () => T): T {
    const known = this.interned.get(key);
    // The key begins with the kind and contains every parameter, so the result is a T.
    if (known) return known as T;
    const made = make();
    this.interned.set(key, made);
    return made;
  }
}
