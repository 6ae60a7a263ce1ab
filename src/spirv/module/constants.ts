/**
 * Constants of one module, each value of each type once, keyed by its bits (so 0 and -0 are two constants).
 *
 * A literal that does not fit its type is refused here: 1.5 as an integer, 300 as a u8, -1 as a u32.
 */
import { ArgumentError } from "../../core/errors.js";
import { encodeBf16, encodeF16 } from "../../core/half.js";
import { Decoration, Op } from "../enumerants.js";
import { type Region, Value } from "../function/value.js";
import { arithmeticCapabilities } from "./capabilities.js";
import type { Sections } from "./sections.js";
import type { ScalarType, Type } from "./types.js";

/** A JavaScript value that becomes a constant. */
export type Literal = number | bigint | boolean;

const float32 = new Float32Array(1);
const float32Bits = new Uint32Array(float32.buffer);
const float64 = new Float64Array(1);
const float64Bits = new Uint32Array(float64.buffer);

/** The words of a literal as `type`: [low, high], high being 0 up to 32 bits. */
export function encodeLiteral(type: ScalarType, literal: Literal): readonly [number, number] {
  switch (type.kind) {
    case "bool":
      if (typeof literal !== "boolean") return doesNotFit(type, literal, "write true or false");
      return [literal ? 1 : 0, 0];
    case "int": {
      if (typeof literal === "boolean") return doesNotFit(type, literal, "write 0 or 1");
      if (typeof literal === "number" && !Number.isSafeInteger(literal)) {
        return doesNotFit(type, literal, "integers take whole numbers; use a bigint beyond 2^53");
      }
      const bits = BigInt(type.width);
      const value = BigInt(literal);
      const low = type.signed ? -(1n << (bits - 1n)) : 0n;
      const high = low + (1n << bits) - 1n;
      if (value < low || value > high) return doesNotFit(type, literal, `the range is ${low} to ${high}`);
      // Narrow signed constants are sign-extended to their word.
      return [Number(BigInt.asUintN(32, value)), type.width === 64 ? Number(BigInt.asUintN(32, value >> 32n)) : 0];
    }
    case "float": {
      if (typeof literal === "boolean") return doesNotFit(type, literal, "write 0 or 1");
      const value = Number(literal);
      if (type.encoding === "bf16") return [encodeBf16(value), 0];
      if (type.width === 16) return [encodeF16(value), 0];
      if (type.width === 32) {
        float32[0] = value;
        return [float32Bits[0], 0];
      }
      float64[0] = value;
      return [float64Bits[0], float64Bits[1]];
    }
  }
}

export class ConstantTable {
  /** By type, then by bits; 64-bit constants by text, as two words do not fit a number. */
  private readonly scalars = new Map<ScalarType, Map<number | string, Value>>();
  private readonly composites = new Map<string, Value>();
  private readonly specIds = new Set<number>();
  private readonly specConstants = new Set<number>();

  constructor(
    private readonly sections: Sections,
    private readonly region: Region,
  ) {}

  /** True for a value decided when the pipeline is made. */
  isSpecConstant(value: Value): boolean {
    return this.specConstants.has(value.id);
  }

  scalar(type: ScalarType, literal: Literal): Value {
    if (type.kind === "int" && type.width === 32 && typeof literal === "number") {
      // The common case, without the detour through bigint.
      const word = literal >>> 0;
      if ((type.signed ? literal | 0 : word) === literal) return this.bits(type, word, 0);
    }
    const [low, high] = encodeLiteral(type, literal);
    return this.bits(type, low, high);
  }

  /** The constant with exactly these bits, for example a NaN with a payload. */
  bits(type: ScalarType, low: number, high: number): Value {
    let known = this.scalars.get(type);
    if (!known) {
      known = new Map();
      this.scalars.set(type, known);
    }
    const isWide = type.kind !== "bool" && type.width === 64;
    const key = isWide ? `${high}:${low}` : low;
    const found = known.get(key);
    if (found) return found;
    this.sections.requireAll(arithmeticCapabilities(type));
    const id = this.sections.newId();
    if (type.kind === "bool") this.sections.globals.op2(low ? Op.ConstantTrue : Op.ConstantFalse, type.id, id);
    else if (isWide) this.sections.globals.op4(Op.Constant, type.id, id, low, high);
    else this.sections.globals.op3(Op.Constant, type.id, id, low);
    const value = new Value(id, type, this.region);
    known.set(key, value);
    return value;
  }

  /** A vector, array or struct of constants; of specialisation constants when one part is one. */
  composite(type: Type, parts: readonly Value[]): Value {
    return this.keyed(`${type.id} ${parts.map((p) => p.id).join(" ")}`, type, (id) => {
      const isSpec = parts.some((part) => this.isSpecConstant(part));
      if (isSpec) this.specConstants.add(id);
      const { globals } = this.sections;
      const mark = globals.open(isSpec ? Op.SpecConstantComposite : Op.ConstantComposite);
      globals.push(type.id);
      globals.push(id);
      for (const part of parts) globals.push(part.id);
      globals.close(mark);
    });
  }

  /** All zeros, of any type that has a zero. */
  zero(type: Type): Value {
    return this.keyed(`zero ${type.id}`, type, (id) => this.sections.globals.op2(Op.ConstantNull, type.id, id));
  }

  /** A scalar that `specId` replaces when the pipeline is made. */
  spec(type: ScalarType, specId: number, fallback: Literal, name: string | undefined): Value {
    if (this.specIds.has(specId)) {
      throw new ArgumentError(`specialisation constant ${specId} is declared twice; keep the value of the first call`);
    }
    const [low, high] = encodeLiteral(type, fallback);
    this.sections.requireAll(arithmeticCapabilities(type));
    const id = this.sections.newId();
    if (type.kind === "bool") this.sections.globals.op2(low ? Op.SpecConstantTrue : Op.SpecConstantFalse, type.id, id);
    else if (type.width === 64) this.sections.globals.op4(Op.SpecConstant, type.id, id, low, high);
    else this.sections.globals.op3(Op.SpecConstant, type.id, id, low);
    this.sections.decorateWith(id, Decoration.SpecId, specId);
    this.sections.name(id, name);
    this.specIds.add(specId);
    this.specConstants.add(id);
    return new Value(id, type, this.region);
  }

  /** An instruction over constants, done when the pipeline is made. */
  specOperation(opcode: number, type: Type, operands: readonly Value[]): Value {
    return this.keyed(`op ${opcode} ${type.id} ${operands.map((o) => o.id).join(" ")}`, type, (id) => {
      const { globals } = this.sections;
      const mark = globals.open(Op.SpecConstantOp);
      globals.push(type.id);
      globals.push(id);
      globals.push(opcode);
      for (const operand of operands) globals.push(operand.id);
      globals.close(mark);
      this.specConstants.add(id);
    });
  }

  private keyed(key: string, type: Type, declare: (id: number) => void): Value {
    const found = this.composites.get(key);
    if (found) return found;
    this.sections.requireAll(arithmeticCapabilities(type));
    const id = this.sections.newId();
    declare(id);
    const value = new Value(id, type, this.region);
    this.composites.set(key, value);
    return value;
  }
}

function doesNotFit(type: ScalarType, literal: Literal, remedy: string): never {
  throw new ArgumentError(`the literal ${literal} does not fit ${type.name}: ${remedy}`);
}
