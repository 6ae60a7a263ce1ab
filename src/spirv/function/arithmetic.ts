/**
 * Scalar and vector arithmetic: one method per operation, the instruction chosen by the operand type.
 *
 * `f.add(a, b)` is OpIAdd or OpFAdd, `f.less(a, b)` one of OpULessThan, OpSLessThan, OpFOrdLessThan, by the tables below. An
 * operand type missing from a row is an error that lists the types that would do. Float comparisons follow IEEE 754 as C
 * and JavaScript do: false when an operand is NaN, except `notEqual`, which is true. Methods with Ordered or Unordered in
 * their name follow the other convention.
 */
import { ArgumentError } from "../../core/errors.js";
import { Capability, GlslStd450, Op, PackedVectorFormat } from "../enumerants.js";
import { componentsOf, type IntType, scalarOf, type Type } from "../module/types.js";
import { type ArithmeticOptions, Emitter } from "./emitter.js";
import { type Operand, Value } from "./value.js";

/** The instruction for each kind of operand; GLSL.std.450 numbers when `glsl` is set. */
interface Variants {
  readonly name: string;
  readonly float?: number;
  readonly signed?: number;
  readonly unsigned?: number;
  readonly bool?: number;
  readonly glsl?: true;
  /** It also works element by element on cooperative matrices. */
  readonly matrix?: true;
}

// biome-ignore format: one operation per row
const BINARY = {
  add: { name: "add", float: Op.FAdd, signed: Op.IAdd, unsigned: Op.IAdd, matrix: true },
  sub: { name: "sub", float: Op.FSub, signed: Op.ISub, unsigned: Op.ISub, matrix: true },
  mul: { name: "mul", float: Op.FMul, signed: Op.IMul, unsigned: Op.IMul, matrix: true },
  div: { name: "div", float: Op.FDiv, signed: Op.SDiv, unsigned: Op.UDiv, matrix: true },
  rem: { name: "rem", float: Op.FRem, signed: Op.SRem, unsigned: Op.UMod },
  mod: { name: "mod", float: Op.FMod, signed: Op.SMod, unsigned: Op.UMod },
  and: { name: "and", signed: Op.BitwiseAnd, unsigned: Op.BitwiseAnd, bool: Op.LogicalAnd },
  or: { name: "or", signed: Op.BitwiseOr, unsigned: Op.BitwiseOr, bool: Op.LogicalOr },
  xor: { name: "xor", signed: Op.BitwiseXor, unsigned: Op.BitwiseXor, bool: Op.LogicalNotEqual },
  min: { name: "min", float: GlslStd450.FMin, signed: GlslStd450.SMin, unsigned: GlslStd450.UMin, glsl: true },
  max: { name: "max", float: GlslStd450.FMax, signed: GlslStd450.SMax, unsigned: GlslStd450.UMax, glsl: true },
  minNumber: { name: "minNumber", float: GlslStd450.NMin, glsl: true },
  maxNumber: { name: "maxNumber", float: GlslStd450.NMax, glsl: true },
} satisfies Record<string, Variants>;

// biome-ignore format: one operation per row
const COMPARE = {
  equal: { name: "equal", float: Op.FOrdEqual, signed: Op.IEqual, unsigned: Op.IEqual, bool: Op.LogicalEqual },
  notEqual: { name: "notEqual", float: Op.FUnordNotEqual, signed: Op.INotEqual, unsigned: Op.INotEqual, bool: Op.LogicalNotEqual },
  less: { name: "less", float: Op.FOrdLessThan, signed: Op.SLessThan, unsigned: Op.ULessThan },
  lessEqual: { name: "lessEqual", float: Op.FOrdLessThanEqual, signed: Op.SLessThanEqual, unsigned: Op.ULessThanEqual },
  greater: { name: "greater", float: Op.FOrdGreaterThan, signed: Op.SGreaterThan, unsigned: Op.UGreaterThan },
  greaterEqual: { name: "greaterEqual", float: Op.FOrdGreaterThanEqual, signed: Op.SGreaterThanEqual, unsigned: Op.UGreaterThanEqual },
  equalUnordered: { name: "equalUnordered", float: Op.FUnordEqual },
  notEqualOrdered: { name: "notEqualOrdered", float: Op.FOrdNotEqual },
  lessUnordered: { name: "lessUnordered", float: Op.FUnordLessThan },
  lessEqualUnordered: { name: "lessEqualUnordered", float: Op.FUnordLessThanEqual },
  greaterUnordered: { name: "greaterUnordered", float: Op.FUnordGreaterThan },
  greaterEqualUnordered: { name: "greaterEqualUnordered", float: Op.FUnordGreaterThanEqual },
} satisfies Record<string, Variants>;

// biome-ignore format: one operation per row
const UNARY = {
  neg: { name: "neg", float: Op.FNegate, signed: Op.SNegate, unsigned: Op.SNegate, matrix: true },
  not: { name: "not", signed: Op.Not, unsigned: Op.Not, bool: Op.LogicalNot },
  abs: { name: "abs", float: GlslStd450.FAbs, signed: GlslStd450.SAbs, glsl: true },
  sign: { name: "sign", float: GlslStd450.FSign, signed: GlslStd450.SSign, glsl: true },
  floor: { name: "floor", float: GlslStd450.Floor, glsl: true },
  ceil: { name: "ceil", float: GlslStd450.Ceil, glsl: true },
  trunc: { name: "trunc", float: GlslStd450.Trunc, glsl: true },
  roundEven: { name: "roundEven", float: GlslStd450.RoundEven, glsl: true },
  fract: { name: "fract", float: GlslStd450.Fract, glsl: true },
  sqrt: { name: "sqrt", float: GlslStd450.Sqrt, glsl: true },
  inverseSqrt: { name: "inverseSqrt", float: GlslStd450.InverseSqrt, glsl: true },
  exp2: { name: "exp2", float: GlslStd450.Exp2, glsl: true },
} satisfies Record<string, Variants>;

/** Integer operations that Vulkan takes on 32-bit operands only. */
// biome-ignore format: one operation per row
const BITS_32 = {
  bitCount: { name: "bitCount", signed: Op.BitCount, unsigned: Op.BitCount },
  bitReverse: { name: "bitReverse", signed: Op.BitReverse, unsigned: Op.BitReverse },
  bitExtract: { name: "bitExtract", signed: Op.BitFieldSExtract, unsigned: Op.BitFieldUExtract },
  bitInsert: { name: "bitInsert", signed: Op.BitFieldInsert, unsigned: Op.BitFieldInsert },
  findLowBit: { name: "findLowBit", signed: GlslStd450.FindILsb, unsigned: GlslStd450.FindILsb, glsl: true },
  findHighBit: { name: "findHighBit", signed: GlslStd450.FindSMsb, unsigned: GlslStd450.FindUMsb, glsl: true },
} satisfies Record<string, Variants>;

const CLAMP: Variants = {
  name: "clamp",
  float: GlslStd450.FClamp,
  signed: GlslStd450.SClamp,
  unsigned: GlslStd450.UClamp,
  glsl: true,
};
const SHIFT_LEFT: Variants = { name: "shiftLeft", signed: Op.ShiftLeftLogical, unsigned: Op.ShiftLeftLogical };
const SHIFT_RIGHT: Variants = { name: "shiftRight", signed: Op.ShiftRightArithmetic, unsigned: Op.ShiftRightLogical };
const SHIFT_RIGHT_LOGICAL: Variants = {
  name: "shiftRightLogical",
  signed: Op.ShiftRightLogical,
  unsigned: Op.ShiftRightLogical,
};

export class Arithmetic extends Emitter {
  add(a: Operand, b: Operand, options?: ArithmeticOptions): Value {
    return this.binary(BINARY.add, a, b, options);
  }

  sub(a: Operand, b: Operand, options?: ArithmeticOptions): Value {
    return this.binary(BINARY.sub, a, b, options);
  }

  mul(a: Operand, b: Operand, options?: ArithmeticOptions): Value {
    return this.binary(BINARY.mul, a, b, options);
  }

  /** Integer division truncates towards zero. */
  div(a: Operand, b: Operand, options?: ArithmeticOptions): Value {
    return this.binary(BINARY.div, a, b, options);
  }

  /** Remainder with the sign of `a`, as % in C and JavaScript. */
  rem(a: Operand, b: Operand, options?: ArithmeticOptions): Value {
    return this.binary(BINARY.rem, a, b, options);
  }

  /** Remainder with the sign of `b`, as % in Python. */
  mod(a: Operand, b: Operand, options?: ArithmeticOptions): Value {
    return this.binary(BINARY.mod, a, b, options);
  }

  /** Smaller of two; for floats the result is undefined when one is NaN (see `minNumber`). */
  min(a: Operand, b: Operand): Value {
    return this.binary(BINARY.min, a, b);
  }

  max(a: Operand, b: Operand): Value {
    return this.binary(BINARY.max, a, b);
  }

  /** Smaller of two floats; the other one when one is NaN. */
  minNumber(a: Operand, b: Operand): Value {
    return this.binary(BINARY.minNumber, a, b);
  }

  maxNumber(a: Operand, b: Operand): Value {
    return this.binary(BINARY.maxNumber, a, b);
  }

  /** Bitwise on integers, logical on booleans; so are `or`, `xor` and `not`. */
  and(a: Operand, b: Operand): Value {
    return this.binary(BINARY.and, a, b);
  }

  or(a: Operand, b: Operand): Value {
    return this.binary(BINARY.or, a, b);
  }

  xor(a: Operand, b: Operand): Value {
    return this.binary(BINARY.xor, a, b);
  }

  not(a: Operand): Value {
    return this.unary(UNARY.not, a);
  }

  neg(a: Operand, options?: ArithmeticOptions): Value {
    return this.unary(UNARY.neg, a, options);
  }

  abs(a: Operand): Value {
    return this.unary(UNARY.abs, a);
  }

  sign(a: Operand): Value {
    return this.unary(UNARY.sign, a);
  }

  floor(a: Operand): Value {
    return this.unary(UNARY.floor, a);
  }

  ceil(a: Operand): Value {
    return this.unary(UNARY.ceil, a);
  }

  trunc(a: Operand): Value {
    return this.unary(UNARY.trunc, a);
  }

  /** To the nearest integer, ties to even. */
  roundEven(a: Operand): Value {
    return this.unary(UNARY.roundEven, a);
  }

  fract(a: Operand): Value {
    return this.unary(UNARY.fract, a);
  }

  sqrt(a: Operand): Value {
    return this.unary(UNARY.sqrt, a);
  }

  inverseSqrt(a: Operand): Value {
    return this.unary(UNARY.inverseSqrt, a);
  }

  /** 2^a, with an error of 3 + 2|a| units in the last place. f16 and f32 only. */
  exp2(a: Operand): Value {
    return this.unary(UNARY.exp2, a);
  }

  /** GLSL's fma: the driver decides whether it is fused. */
  fma(a: Operand, b: Operand, c: Operand): Value {
    const type = a instanceof Value || b instanceof Value ? this.commonType(a, b, "fma") : this.value(c, "fma").type;
    return this.glsl("Fma", [this.as(a, type, "fma"), this.as(b, type, "fma"), this.as(c, type, "fma")]);
  }

  clamp(x: Operand, low: Operand, high: Operand): Value {
    const { type } = this.value(x, "clamp");
    const instruction = this.variant(CLAMP, type);
    return this.emitGlsl(instruction, type, [
      this.as(x, type, "clamp"),
      this.as(low, type, "clamp"),
      this.as(high, type, "clamp"),
    ]);
  }

  equal(a: Operand, b: Operand): Value {
    return this.compare(COMPARE.equal, a, b);
  }

  /** True when an operand is NaN. */
  notEqual(a: Operand, b: Operand): Value {
    return this.compare(COMPARE.notEqual, a, b);
  }

  less(a: Operand, b: Operand): Value {
    return this.compare(COMPARE.less, a, b);
  }

  lessEqual(a: Operand, b: Operand): Value {
    return this.compare(COMPARE.lessEqual, a, b);
  }

  greater(a: Operand, b: Operand): Value {
    return this.compare(COMPARE.greater, a, b);
  }

  greaterEqual(a: Operand, b: Operand): Value {
    return this.compare(COMPARE.greaterEqual, a, b);
  }

  /** As `equal`, but true when an operand is NaN; likewise the other unordered comparisons. */
  equalUnordered(a: Operand, b: Operand): Value {
    return this.compare(COMPARE.equalUnordered, a, b);
  }

  /** As `notEqual`, but false when an operand is NaN. */
  notEqualOrdered(a: Operand, b: Operand): Value {
    return this.compare(COMPARE.notEqualOrdered, a, b);
  }

  lessUnordered(a: Operand, b: Operand): Value {
    return this.compare(COMPARE.lessUnordered, a, b);
  }

  lessEqualUnordered(a: Operand, b: Operand): Value {
    return this.compare(COMPARE.lessEqualUnordered, a, b);
  }

  greaterUnordered(a: Operand, b: Operand): Value {
    return this.compare(COMPARE.greaterUnordered, a, b);
  }

  greaterEqualUnordered(a: Operand, b: Operand): Value {
    return this.compare(COMPARE.greaterEqualUnordered, a, b);
  }

  isNan(a: Operand): Value {
    return this.classify(Op.IsNan, "isNan", a);
  }

  isInf(a: Operand): Value {
    return this.classify(Op.IsInf, "isInf", a);
  }

  /** True when any component of a boolean vector is true. */
  any(a: Operand): Value {
    return this.emit1(Op.Any, this.module.bool, this.booleans(a, "any"));
  }

  all(a: Operand): Value {
    return this.emit1(Op.All, this.module.bool, this.booleans(a, "all"));
  }

  /** `a` where the condition holds, else `b`; both are evaluated. A vector condition chooses by component. */
  select(condition: Operand, a: Operand, b: Operand): Value {
    const type = this.commonType(a, b, "select");
    const { bool } = this.module;
    let test = condition instanceof Value ? condition : this.as(condition, bool, "select condition");
    const components = componentsOf(type);
    const perComponent = components > 1 && test.type === this.module.vec(bool, components);
    if (test.type !== bool && !perComponent) {
      throw new ArgumentError(`select (OpSelect): a ${test.type.name} condition cannot choose between ${type.name}s`);
    }
    if (components > 1 && !perComponent && !this.sections.atLeast(4)) {
      // Before SPIR-V 1.4 the condition had to have a component for each it chooses.
      test = this.emitMany(Op.CompositeConstruct, this.module.vec(bool, components), Array(components).fill(test));
    }
    return this.emit3(Op.Select, type, test, this.as(a, type, "select"), this.as(b, type, "select"));
  }

  shiftLeft(base: Operand, by: Operand): Value {
    return this.shift(SHIFT_LEFT, base, by);
  }

  /** Copies the sign bit of a signed base; brings in zeros for an unsigned one. */
  shiftRight(base: Operand, by: Operand): Value {
    return this.shift(SHIFT_RIGHT, base, by);
  }

  shiftRightLogical(base: Operand, by: Operand): Value {
    return this.shift(SHIFT_RIGHT_LOGICAL, base, by);
  }

  bitCount(a: Operand): Value {
    return this.bits32(BITS_32.bitCount, a);
  }

  bitReverse(a: Operand): Value {
    return this.bits32(BITS_32.bitReverse, a);
  }

  /** `count` bits from `offset` up, sign-extended for a signed base. */
  bitExtract(base: Operand, offset: Operand, count: Operand): Value {
    return this.bits32(BITS_32.bitExtract, base, [this.index(offset), this.index(count)]);
  }

  /** `base` with `count` bits from `offset` up replaced by the low bits of `insert`. */
  bitInsert(base: Operand, insert: Operand, offset: Operand, count: Operand): Value {
    const { type } = this.value(base, "bitInsert");
    const parts = [this.as(insert, type, "bitInsert"), this.index(offset), this.index(count)];
    return this.bits32(BITS_32.bitInsert, base, parts);
  }

  /** Index of the lowest 1 bit; -1 (all ones) when there is none. */
  findLowBit(a: Operand): Value {
    return this.bits32(BITS_32.findLowBit, a);
  }

  /** Index of the highest 1 bit, or for a negative number of the highest 0 bit; -1 when there is none. */
  findHighBit(a: Operand): Value {
    return this.bits32(BITS_32.findHighBit, a);
  }

  /** Sum and carry (0 or 1) of two unsigned integers. */
  addCarry(a: Operand, b: Operand): [sum: Value, carry: Value] {
    return this.twoResults(Op.IAddCarry, "addCarry", a, b);
  }

  /** Difference and borrow (0 or 1) of two unsigned integers. */
  subBorrow(a: Operand, b: Operand): [difference: Value, borrow: Value] {
    return this.twoResults(Op.ISubBorrow, "subBorrow", a, b);
  }

  /** Low and high half of a product twice as wide as its factors. */
  mulExtended(a: Operand, b: Operand): [low: Value, high: Value] {
    const scalar = scalarOf(this.commonType(a, b, "mulExtended"));
    const signed = scalar?.kind === "int" && scalar.signed;
    return this.twoResults(signed ? Op.SMulExtended : Op.UMulExtended, "mulExtended", a, b);
  }

  /**
   * Dot product of four 8-bit integers packed in each 32-bit operand, signed or unsigned as the operands are, added to
   * `accumulator` with saturation when one is given.
   */
  dotPacked(a: Value, b: Value, accumulator?: Value): Value {
    if (!isInt(a.type, 32) || !isInt(b.type, 32)) {
      throw new ArgumentError(`dotPacked (OpSDot): takes packed u32 or i32, got ${a.type.name} and ${b.type.name}`);
    }
    const flavour = a.type.signed ? (b.type.signed ? 0 : 2) : b.type.signed ? 3 : 1;
    if (flavour === 3) return this.dotPacked(b, a, accumulator);
    this.sections.requireAll([Capability.DotProduct, Capability.DotProductInput4x8BitPacked]);
    const type = flavour === 1 ? this.module.u32 : this.module.i32;
    const format = PackedVectorFormat.PackedVectorFormat4x8Bit;
    if (!accumulator) return this.emitMany(Op.SDot + flavour, type, [a, b, format]);
    return this.emitMany(Op.SDotAccSat + flavour, type, [a, b, this.as(accumulator, type, "dotPacked"), format]);
  }

  /**
   * Any instruction of GLSL.std.450. The result has the type of the first operand unless one is given, as for packing.
   * Precision is the driver's: several ulp, and f32 or f16 only for the transcendental ones.
   */
  glsl(name: keyof typeof GlslStd450, operands: readonly Operand[], result?: Type): Value {
    const what = `GLSL.std.450 ${name}`;
    const first = operands.find((o) => o instanceof Value);
    const type = result ?? this.value(first ?? operands[0], what).type;
    const values = operands.map((o) => (o instanceof Value ? o : this.as(o, first?.type ?? type, what)));
    return this.emitGlsl(GlslStd450[name], type, values);
  }

  /** An operand that counts or selects: any integer value, or a literal as u32. */
  protected index(operand: Operand): Value {
    if (!(operand instanceof Value)) return this.module.constant(this.module.u32, operand);
    if (operand.type.kind === "int") return operand;
    throw new ArgumentError(`an index must be an integer, got ${operand.type.name}`);
  }

  /** `bool`, or the boolean vector with as many components as `type`. */
  protected booleanLike(type: Type): Type {
    const components = componentsOf(type);
    return components > 1 ? this.module.vec(this.module.bool, components) : this.module.bool;
  }

  private unary(variants: Variants, a: Operand, options?: ArithmeticOptions): Value {
    const value = this.value(a, variants.name);
    const opcode = this.variant(variants, value.type);
    if (variants.glsl) return this.emitGlsl(opcode, value.type, [value]);
    return this.forbidContraction(this.emit1(opcode, value.type, value), opcode, options);
  }

  private binary(variants: Variants, a: Operand, b: Operand, options?: ArithmeticOptions): Value {
    const type = this.commonType(a, b, variants.name);
    const opcode = this.variant(variants, type);
    const left = this.as(a, type, variants.name);
    const right = this.as(b, type, variants.name);
    if (variants.glsl) return this.emitGlsl(opcode, type, [left, right]);
    return this.forbidContraction(this.emit2(opcode, type, left, right), opcode, options);
  }

  private compare(variants: Variants, a: Operand, b: Operand): Value {
    const type = this.commonType(a, b, variants.name);
    const opcode = this.variant(variants, type);
    const left = this.as(a, type, variants.name);
    return this.emit2(opcode, this.booleanLike(type), left, this.as(b, type, variants.name));
  }

  private classify(opcode: number, name: string, a: Operand): Value {
    const value = this.value(a, name);
    this.variant({ name, float: opcode }, value.type);
    return this.emit1(opcode, this.booleanLike(value.type), value);
  }

  private shift(variants: Variants, base: Operand, by: Operand): Value {
    const value = this.value(base, variants.name);
    const opcode = this.variant(variants, value.type);
    const amount = by instanceof Value ? by : this.as(by, value.type, variants.name);
    this.variant(variants, amount.type);
    if (componentsOf(amount.type) !== componentsOf(value.type)) {
      throw new ArgumentError(`${variants.name}: cannot shift ${value.type.name} by ${amount.type.name}`);
    }
    return this.emit2(opcode, value.type, value, amount);
  }

  private bits32(variants: Variants, a: Operand, more: readonly Value[] = []): Value {
    const value = this.value(a, variants.name);
    const opcode = this.variant(variants, value.type);
    const scalar = scalarOf(value.type);
    if (scalar?.kind !== "int" || scalar.width !== 32) {
      throw new ArgumentError(`${variants.name}: Vulkan takes 32-bit integers here, got ${value.type.name}`);
    }
    if (variants.glsl) return this.emitGlsl(opcode, value.type, [value]);
    return this.emitMany(opcode, value.type, [value, ...more]);
  }

  private twoResults(opcode: number, name: string, a: Operand, b: Operand): [Value, Value] {
    const type = this.commonType(a, b, name);
    const scalar = scalarOf(type);
    if (scalar?.kind !== "int" || (scalar.signed && opcode !== Op.SMulExtended)) {
      throw new ArgumentError(
        `${name}: takes ${opcode === Op.SMulExtended ? "" : "unsigned "}integers, got ${type.name}`,
      );
    }
    const pair = this.module.struct([
      ["low", type],
      ["high", type],
    ]);
    const both = this.emit2(opcode, pair, this.as(a, type, name), this.as(b, type, name));
    return [this.emitMany(Op.CompositeExtract, type, [both, 0]), this.emitMany(Op.CompositeExtract, type, [both, 1])];
  }

  private booleans(a: Operand, name: string): Value {
    const value = this.value(a, name);
    if (value.type.kind === "vector" && value.type.element.kind === "bool") return value;
    throw new ArgumentError(`${name}: takes a vector of bool, got ${value.type.name}`);
  }

  private variant(variants: Variants, type: Type): number {
    const scalar = scalarOf(type);
    let opcode: number | undefined;
    if (type.kind !== "matrix" || variants.matrix) {
      if (scalar?.kind === "float") opcode = scalar.encoding === "ieee" ? variants.float : undefined;
      else if (scalar?.kind === "int") opcode = scalar.signed ? variants.signed : variants.unsigned;
      else if (scalar?.kind === "bool") opcode = variants.bool;
    }
    if (opcode !== undefined) return opcode;
    if (scalar?.kind === "float" && scalar.encoding === "bf16" && variants.float !== undefined) {
      throw new ArgumentError(`${variants.name}: bf16 is for storage and cooperative matrices; convert to f32 first`);
    }
    const takes = (["float", "signed", "unsigned", "bool"] as const).filter((kind) => variants[kind] !== undefined);
    throw new ArgumentError(`${variants.name}: takes ${takes.join(", ")} operands, got ${type.name}`);
  }
}

function isInt(type: Type, width: number): type is IntType {
  return type.kind === "int" && type.width === width;
}
