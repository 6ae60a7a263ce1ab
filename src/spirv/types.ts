/**
 * The types of a SPIR-V module as TypeScript values: a discriminated union on `kind`.
 *
 * Within one module a type exists once (the type table interns it), so `===` compares types. Each carries the id it was
 * declared under and a name for messages, in the spelling kernels use: `f32`, `vec4<u32>`, `ptr<Workgroup, f32>`.
 */
import type { StorageClass } from "./enumerants.js";
import type { Value } from "./value.js";

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

export interface VoidType extends Declared {
  readonly kind: "void";
}

export interface BoolType extends Declared {
  readonly kind: "bool";
}

export interface IntType extends Declared {
  readonly kind: "int";
  readonly width: 8 | 16 | 32 | 64;
  readonly signed: boolean;
}

export interface FloatType extends Declared {
  readonly kind: "float";
  readonly width: 16 | 32 | 64;
  readonly encoding: "ieee" | "bf16";
}

export type ScalarType = BoolType | IntType | FloatType;

export interface VectorType extends Declared {
  readonly kind: "vector";
  readonly element: ScalarType;
  readonly length: number;
}

export type MatrixUse = "A" | "B" | "accumulator";

/** A cooperative matrix: its elements are spread over the invocations of a scope. */
export interface MatrixType extends Declared {
  readonly kind: "matrix";
  readonly element: IntType | FloatType;
  readonly rows: number;
  readonly columns: number;
  readonly use: MatrixUse;
}

export interface ArrayType extends Declared {
  readonly kind: "array";
  readonly element: Type;
  /** A number, or the specialisation constant that decides it when the pipeline is made. */
  readonly length: number | Value;
  /** Bytes from one element to the next; absent where memory has no layout (shared and private memory). */
  readonly stride: number | undefined;
}

export interface RuntimeArrayType extends Declared {
  readonly kind: "runtimeArray";
  readonly element: Type;
  readonly stride: number;
}

export interface Member {
  readonly name: string;
  readonly type: Type;
  readonly offset: number | undefined;
}

export interface StructType extends Declared {
  readonly kind: "struct";
  readonly members: readonly Member[];
}

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

export interface FunctionType extends Declared {
  readonly kind: "function";
  readonly result: Type;
  readonly parameters: readonly Type[];
}

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
