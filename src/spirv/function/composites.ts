/**
 * Vectors, arrays and structs as values: putting together, taking apart, shuffling; and the products of vectors.
 */
import { ArgumentError } from "../../core/errors.js";
import { Op } from "../enumerants.js";
import { componentsOf, elementOf, scalarOf, type Type } from "../module/types.js";
import { Conversion } from "./conversion.js";
import type { ArithmeticOptions } from "./emitter.js";
import { type Operand, Value } from "./value.js";

export class Composites extends Conversion {
  /** A vector of 2 to 4 scalars; literals take the type of the first value among them. */
  vector(...parts: readonly Operand[]): Value {
    const first = parts.find((part) => part instanceof Value);
    const element = first && scalarOf(first.type);
    if (!first || !element || first.type !== element) {
      throw new ArgumentError(
        "vector: needs scalar parts, at least one of them a value; see also m.constant(type, […])",
      );
    }
    return this.construct(this.module.vec(element, parts.length), ...parts);
  }

  /** A composite from one operand per component, element or member. */
  construct(type: Type, ...parts: readonly Operand[]): Value {
    const count = partCount(type);
    if (count !== parts.length) {
      throw new ArgumentError(`construct (OpCompositeConstruct): ${type.name} has ${count} parts, got ${parts.length}`);
    }
    const values = parts.map((part, i) => this.as(part, partType(type, i), `construct ${type.name} part ${i}`));
    return this.emitMany(Op.CompositeConstruct, type, values);
  }

  /** Every component of a vector, or element of a cooperative matrix, the same. */
  splat(type: Type, x: Operand): Value {
    const element = scalarOf(type);
    if (!element || element === type) throw new ArgumentError(`splat: takes a vector or matrix type, got ${type.name}`);
    if (!(x instanceof Value)) return this.module.constant(type, x);
    const value = this.as(x, element, "splat");
    // A cooperative matrix is constructed from the one value all its elements have.
    return this.emitMany(Op.CompositeConstruct, type, Array(type.kind === "vector" ? type.length : 1).fill(value));
  }

  /** A part by fixed position: a component, an array element, a member (by index or name), or one further inside. */
  extract(composite: Value, ...path: readonly (number | string)[]): Value {
    const { type, indices } = this.follow(composite.type, path, "extract (OpCompositeExtract)");
    return this.emitMany(Op.CompositeExtract, type, [composite, ...indices]);
  }

  /** `composite` with one part replaced. */
  insert(composite: Value, part: Operand, ...path: readonly (number | string)[]): Value {
    const { type, indices } = this.follow(composite.type, path, "insert (OpCompositeInsert)");
    return this.emitMany(Op.CompositeInsert, composite.type, [this.as(part, type, "insert"), composite, ...indices]);
  }

  /** A vector component by an index known only when the kernel runs. */
  extractDynamic(vector: Value, index: Operand): Value {
    if (vector.type.kind !== "vector") {
      throw new ArgumentError(`extractDynamic (OpVectorExtractDynamic): takes a vector, got ${vector.type.name}`);
    }
    return this.emit2(Op.VectorExtractDynamic, vector.type.element, vector, this.index(index));
  }

  insertDynamic(vector: Value, component: Operand, index: Operand): Value {
    if (vector.type.kind !== "vector") {
      throw new ArgumentError(`insertDynamic (OpVectorInsertDynamic): takes a vector, got ${vector.type.name}`);
    }
    const value = this.as(component, vector.type.element, "insertDynamic");
    return this.emit3(Op.VectorInsertDynamic, vector.type, vector, value, this.index(index));
  }

  /** Components of `a` followed by those of `b`, picked by position: shuffle(a, b, [0, 4]) is (a.x, b.x) of vec4s. */
  shuffle(a: Value, b: Value, picks: readonly number[]): Value {
    if (a.type.kind !== "vector" || b.type.kind !== "vector" || a.type.element !== b.type.element) {
      throw new ArgumentError(
        `shuffle (OpVectorShuffle): takes two vectors of one element type, got ${a.type.name} and ${b.type.name}`,
      );
    }
    const available = a.type.length + b.type.length;
    const wrong = picks.find((pick) => !Number.isInteger(pick) || pick < 0 || pick >= available);
    if (wrong !== undefined) {
      throw new ArgumentError(`shuffle (OpVectorShuffle): position ${wrong} is not one of the ${available} components`);
    }
    return this.emitMany(Op.VectorShuffle, this.module.vec(a.type.element, picks.length), [a, b, ...picks]);
  }

  /** Sum of products of two float vectors. */
  dot(a: Operand, b: Operand, options?: ArithmeticOptions): Value {
    const type = this.commonType(a, b, "dot");
    if (type.kind !== "vector" || type.element.kind !== "float") {
      throw new ArgumentError(`dot (OpDot): takes vectors of floats, got ${type.name}; see dotPacked for integers`);
    }
    const product = this.emit2(Op.Dot, type.element, this.as(a, type, "dot"), this.as(b, type, "dot"));
    return this.forbidContraction(product, Op.Dot, options);
  }

  /** A float vector, or a cooperative matrix, times a scalar. */
  scale(x: Value, by: Operand, options?: ArithmeticOptions): Value {
    const element = scalarOf(x.type);
    if (x.type.kind === "matrix")
      return this.emit2(Op.MatrixTimesScalar, x.type, x, this.as(by, x.type.element, "scale"));
    if (x.type.kind !== "vector" || element?.kind !== "float") {
      throw new ArgumentError(`scale (OpVectorTimesScalar): takes a vector of floats or a matrix, got ${x.type.name}`);
    }
    const scaled = this.emit2(Op.VectorTimesScalar, x.type, x, this.as(by, element, "scale"));
    return this.forbidContraction(scaled, Op.VectorTimesScalar, options);
  }

  /** An undefined value (OpUndef). */
  undefined(type: Type): Value {
    return this.emitMany(Op.Undef, type, []);
  }

  private follow(from: Type, path: readonly (number | string)[], what: string): { type: Type; indices: number[] } {
    if (path.length === 0) throw new ArgumentError(`${what}: say which part of ${from.name}`);
    let type = from;
    const indices: number[] = [];
    for (const step of path) {
      const index = memberIndex(type, step, what);
      const count = type.kind === "matrix" ? Number.POSITIVE_INFINITY : partCount(type);
      if (!Number.isInteger(index) || index < 0 || index >= count) {
        throw new ArgumentError(`${what}: ${type.name} has no part ${step}`);
      }
      indices.push(index);
      type = partType(type, index);
    }
    return { type, indices };
  }
}

/** Position of a struct member given by name; a number stands for itself. */
export function memberIndex(type: Type, step: number | string, what: string): number {
  if (typeof step === "number") return step;
  const index = type.kind === "struct" ? type.members.findIndex((member) => member.name === step) : -1;
  if (index < 0) {
    const known = type.kind === "struct" ? `; it has ${type.members.map((m) => m.name).join(", ")}` : "";
    throw new ArgumentError(`${what}: ${type.name} has no member "${step}"${known}`);
  }
  return index;
}

function partCount(type: Type): number {
  switch (type.kind) {
    case "vector":
      return componentsOf(type);
    case "array":
      return typeof type.length === "number" ? type.length : 0;
    case "struct":
      return type.members.length;
    default:
      return 0;
  }
}

function partType(type: Type, index: number): Type {
  const part = type.kind === "struct" ? type.members[index]?.type : elementOf(type);
  if (!part) throw new ArgumentError(`${type.name} has no parts`);
  return part;
}
