/**
 * From one type to another: by value (`convert`) and by bits (`bitcast`).
 *
 * SPIR-V has an instruction per pair of families with restrictions on signedness; `convert` knows the path. Paths avoid
 * arithmetic on narrow integers where they can, so that a kernel which only stores u8 or f16 runs on devices that offer
 * no more than 8- and 16-bit storage.
 */
import { ArgumentError } from "../../core/errors.js";
import { Op } from "../enumerants.js";
import { componentsOf, type IntType, type ScalarType, scalarOf, type Type } from "../module/types.js";
import { Arithmetic } from "./arithmetic.js";
import { type Operand, Value } from "./value.js";

export class Conversion extends Arithmetic {
  /**
   * The same number in another type; `to` may be the scalar type for a vector or matrix. Floats to integers truncate,
   * integers to narrower ones wrap, numbers to bool ask "not zero", bool to numbers gives 0 and 1.
   */
  convert(x: Operand, to: Type): Value {
    if (!(x instanceof Value)) return this.module.constant(to, x);
    const target = this.shapedLike(x.type, to);
    const from = scalarOf(x.type);
    const into = scalarOf(target);
    if (!from || !into) throw new ArgumentError(`convert: no conversion from ${x.type.name} to ${to.name}`);
    if (x.type === target) return x;
    const through = x.type.kind === "matrix" ? undefined : this.wideStop(from, into);
    if (through) return this.convert(this.convert(x, through), target);
    if (into.kind === "bool") return this.notEqual(x, from.kind === "bool" ? false : 0);
    switch (from.kind) {
      case "bool":
        return this.select(x, this.module.constant(target, 1), this.module.constant(target, 0));
      case "int":
        if (into.kind === "int") return this.intToInt(x, from, into, target);
        return this.emit1(from.signed ? Op.ConvertSToF : Op.ConvertUToF, target, x);
      case "float":
        if (into.kind === "float") return this.emitStorage(Op.FConvert, target, [x]);
        return this.emit1(into.signed ? Op.ConvertFToS : Op.ConvertFToU, target, x);
    }
  }

  /** The same bits as another type of the same size: f32 and u32, f64 and vec2<u32> (low word first), vec2<f16> and u32. */
  bitcast(x: Value, to: Type): Value {
    if (x.type === to) return x;
    const [have, want] = [bitsOf(x.type), bitsOf(to)];
    if (have === 0 || have !== want) {
      throw new ArgumentError(
        `bitcast (OpBitcast): ${x.type.name} has ${have || "no"} bits to reinterpret, ${to.name} ${want || "none"}`,
      );
    }
    return this.emit1(Op.Bitcast, to, x);
  }

  /** f32 rounded to f16's precision and range, still as f32. */
  quantizeToHalf(x: Value): Value {
    if (scalarOf(x.type) !== this.module.f32) {
      throw new ArgumentError(`quantizeToHalf (OpQuantizeToF16): takes f32, got ${x.type.name}`);
    }
    return this.emit1(Op.QuantizeToF16, x.type, x);
  }

  private intToInt(x: Value, from: IntType, into: IntType, target: Type): Value {
    if (from.width === into.width) return this.emit1(Op.Bitcast, target, x);
    if (from.signed) return this.emitStorage(Op.SConvert, target, [x]);
    if (!into.signed) return this.emitStorage(Op.UConvert, target, [x]);
    // OpUConvert must yield an unsigned integer: change the sign on whichever side is wider.
    if (into.width > from.width) {
      const wide = this.shapedLike(x.type, this.module.int(into.width, false));
      return this.emit1(Op.Bitcast, target, this.emitStorage(Op.UConvert, wide, [x]));
    }
    const signed = this.shapedLike(x.type, this.module.int(from.width, true));
    return this.emitStorage(Op.SConvert, target, [this.emit1(Op.Bitcast, signed, x)]);
  }

  /**
   * The 32-bit type to pass through where a narrow number changes family or sign: only a change of width needs no
   * arithmetic on it. f16 is not rounded twice by that, as every integer it can hold is exact in f32; bf16 has no other way.
   */
  private wideStop(from: ScalarType, into: ScalarType): ScalarType | undefined {
    const isChangeOfWidth =
      from.kind === into.kind && from.kind !== "bool" && into.kind !== "bool" && from.width !== into.width;
    if (isChangeOfWidth || (from.kind === "float" && into.kind === "float")) return undefined;
    return this.widened(from) ?? this.widened(into);
  }

  private widened(type: ScalarType): ScalarType | undefined {
    if (type.kind === "bool" || type.width >= 32) return undefined;
    return type.kind === "float" ? this.module.f32 : this.module.int(32, type.signed);
  }

  /** `to` with the shape of `like`: a scalar type is spread over the components of a vector or matrix. */
  private shapedLike(like: Type, to: Type): Type {
    const isScalar = to.kind === "bool" || to.kind === "int" || to.kind === "float";
    if (like.kind === "vector" && isScalar) return this.module.vec(to, like.length);
    if (like.kind === "matrix" && isScalar && to.kind !== "bool") return this.module.matrixLike(like, to);
    const sameShape =
      like.kind === "matrix"
        ? to.kind === "matrix" && this.module.matrixLike(like, to.element) === to
        : componentsOf(like) === componentsOf(to) && componentsOf(to) > 0;
    if (sameShape) return to;
    throw new ArgumentError(`convert: ${like.name} and ${to.name} have different shapes`);
  }
}

/** Size in bits for a bitcast; 0 for types that cannot be reinterpreted. */
function bitsOf(type: Type): number {
  const scalar: ScalarType | undefined = scalarOf(type);
  if (!scalar || scalar.kind === "bool" || type.kind === "matrix") return 0;
  return scalar.width * componentsOf(type);
}
