/**
 * The types of a SPIR-V module as TypeScript values: a discriminated union on `kind`.
 *
 * Within one module a type exists once (the type table interns it), so `===` compares types. Each carries the id it was
 * declared under and a name for messages, in the spelling kernels use: `f32`, `vec4<u32>`, `ptr<Workgroup, f32>`.
 */
import type { StorageClass } from "../enumerants.js";
import type { Value } from "../function/value.js";

/** The name of a storage class, such as "StorageBuffer". */
export type StorageClassName = keyof typeof StorageClass;

/** Bits of `Type.contents`: the narrow numbers inside a type, which need capabilities to be stored or computed with. */
export const CONTAINS_INT8 = 1;
/** See `CONTAINS_INT8`. */
export const CONTAINS_INT16 = 2;
/** See `CONTAINS_INT8`. */
export const CONTAINS_FLOAT16 = 4;
/** See `CONTAINS_INT8`. */
export const CONTAINS_BFLOAT16 = 8;

interface Declared {
  readonly id: number;
  readonly name: string;
  /** Which narrow numbers a value of this type holds: a mask of the CONTAINS bits. */
  readonly contents: number;
}

/** The type of functions that return nothing. */
export interface VoidType extends Declared {
  readonly kind: "void";
}

/** The type of truth values. */
export interface BoolType extends Declared {
  readonly kind: "bool";
}

/** An integer type. */
export interface IntType extends Declared {
  readonly kind: "int";
  readonly width: 8 | 16 | 32 | 64;
  readonly signed: boolean;
}

/** A floating-point type. */
export interface FloatType extends Declared {
  readonly kind: "float";
  readonly width: 16 | 32 | 64;
  readonly encoding: "ieee" | "bf16";
}

/** The type of a single value. */
export type ScalarType = BoolType | IntType | FloatType;

/** A vector of two to four scalars. */
export interface VectorType extends Declared {
  readonly kind: "vector";
  readonly element: ScalarType;
  readonly length: number;
}

/** The operand of a product that a cooperative matrix is. */
export type MatrixUse = "A" | "B" | "accumulator";

/** A cooperative matrix: its elements are spread over the invocations of a scope. */
export interface MatrixType extends Declared {
  readonly kind: "matrix";
  readonly element: IntType | FloatType;
  readonly rows: number;
  readonly columns: number;
  readonly use: MatrixUse;
}

/** An array whose length is fixed. */
export interface ArrayType extends Declared {
  readonly kind: "array";
  readonly element: Type;
  /** A number, or the specialisation constant that decides it when the pipeline is made. */
  readonly length: number | Value;
  /** Bytes from one element to the next; absent where memory has no layout (shared and private memory). */
  readonly stride: number | undefined;
}

/** An array as long as the rest of its buffer. */
export interface RuntimeArrayType extends Declared {
  readonly kind: "runtimeArray";
  readonly element: Type;
  readonly stride: number;
}

/** A member of a struct. */
export interface Member {
  readonly name: string;
  readonly type: Type;
  readonly offset: number | undefined;
}

/** A struct. */
export interface StructType extends Declared {
  readonly kind: "struct";
  readonly members: readonly Member[];
}

/** A pointer into a storage class. */
export interface PointerType extends Declared {
  readonly kind: "pointer";
  readonly storage: StorageClassName;
  readonly pointee: Type;
  /** Facts that accesses through the pointer may rely on. */
  readonly access: PointerAccess;
}

/** Facts about the memory behind a pointer that change how it is accessed. */
export interface PointerAccess {
  /** Alignment in bytes that every element is known to have; that of its largest scalar when absent. */
  readonly align?: number | undefined;
  /** Elements may lie beyond 4 GiB, or before the pointer: reach them by 64-bit arithmetic (see Ref.at). */
  readonly large?: boolean | undefined;
  /** Other invocations see the accesses without a barrier of the whole dispatch. */
  readonly coherent?: boolean | undefined;
}

/** The type of a function. */
export interface FunctionType extends Declared {
  readonly kind: "function";
  readonly result: Type;
  readonly parameters: readonly Type[];
}

/** Any type of SPIR-V that the assembler writes. */
export type Type =
  | VoidType
  | ScalarType
  | VectorType
  | MatrixType
  | ArrayType
  | RuntimeArrayType
  | StructType
  | PointerType
  | FunctionType;

/** The scalar an arithmetic instruction works on, for a scalar, vector or matrix; undefined for any other type. */
export function scalarOf(type: Type): ScalarType | undefined {
  switch (type.kind) {
    case "bool":
    case "int":
    case "float":
      return type;
    case "vector":
    case "matrix":
      return type.element;
    default:
      return undefined;
  }
}

/** The number of scalars of a scalar or vector; 0 for every other type. */
export function componentsOf(type: Type): number {
  switch (type.kind) {
    case "bool":
    case "int":
    case "float":
      return 1;
    case "vector":
      return type.length;
    default:
      return 0;
  }
}

/** The type that an index into `type` selects; undefined when it takes no index. */
export function elementOf(type: Type): Type | undefined {
  switch (type.kind) {
    case "vector":
    case "matrix":
    case "array":
    case "runtimeArray":
      return type.element;
    default:
      return undefined;
  }
}
