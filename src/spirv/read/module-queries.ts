/**
 * Values and sizes in a parsed module: integer constants under a specialisation, the bytes of a type, decorations.
 * reflect.ts works out workgroup sizes, push blocks and shared memory with them. A module may be hostile, so cycles and
 * deep nesting are refused.
 */
import { FormatError } from "../../core/errors.js";
import { Decoration, Op } from "../enumerants.js";
import type { Instruction, ParsedModule } from "./parse-module.js";
import { integerOperation } from "./spec-constants.js";

/** Values of specialisation constants, by constant id. */
export type Specialization = ReadonlyMap<number, number | bigint | boolean>;

/** Deeper than any real module nests its types or constant expressions; a hostile one would exhaust the stack. */
const MAX_DEPTH = 1000;

export function decorationOf(module: ParsedModule, id: number, decoration: number): Instruction | undefined {
  return module.decorations.get(id)?.find((decorate) => decorate[0] === decoration);
}

export function memberDecorationOf(
  module: ParsedModule,
  id: number,
  member: number,
  decoration: number,
): Instruction | undefined {
  const decorations = module.memberDecorations.get(id)?.get(member);
  return decorations?.find((decorate) => decorate[0] === decoration);
}

/** The type of a constant or variable. */
export function typeOf(module: ParsedModule, id: number): Instruction | undefined {
  return module.definitions.get(module.definitions.get(id)?.[1] ?? 0);
}

/** Bytes of an integer or float type. */
export function bytesOfNumber(type: Instruction): 1 | 2 | 4 | 8 {
  const bits = type[2];
  if (bits !== 8 && bits !== 16 && bits !== 32 && bits !== 64) {
    throw new FormatError(`SPIR-V type %${type[1]} is ${bits} bits wide.`);
  }
  return (bits / 8) as 1 | 2 | 4 | 8;
}

/** The constant id of each specialisation constant, by result id. */
export function specIdsOf(module: ParsedModule): Map<number, number> {
  const ids = new Map<number, number>();
  for (const [id] of module.definitions) {
    const spec = decorationOf(module, id, Decoration.SpecId);
    if (spec) ids.set(id, spec[1] ?? 0);
  }
  return ids;
}

/** Integer and boolean constants of a module under one specialisation. */
export class ConstantValues {
  private readonly specIds: ReadonlyMap<number, number>;
  /** null while a constant is being evaluated. */
  private readonly values = new Map<number, bigint | null>();

  constructor(
    private readonly module: ParsedModule,
    private readonly specialization: Specialization,
  ) {
    this.specIds = specIdsOf(module);
  }

  /** The value of a constant that counts something. */
  count(id: number): number {
    const value = this.value(id);
    if (value < 0n || value > 0xffffffffn) throw new FormatError(`SPIR-V constant %${id} is ${value}, not a count.`);
    return Number(value);
  }

  private value(id: number, depth = 0): bigint {
    const known = this.values.get(id);
    if (typeof known === "bigint") return known;
    if (known === null || depth > MAX_DEPTH) throw new FormatError(`SPIR-V constant %${id} depends on itself.`);
    this.values.set(id, null);
    const value = wrapTo(typeOf(this.module, id), this.evaluate(id, depth));
    this.values.set(id, value);
    return value;
  }

  private evaluate(id: number, depth: number): bigint {
    const given = this.specialization.get(this.specIds.get(id) ?? -1);
    if (given !== undefined && Number.isInteger(Number(given))) return BigInt(given);
    const [op, , , ...operands] = this.module.definitions.get(id) ?? [];
    if (op === Op.Constant || op === Op.SpecConstant) return fromWords(operands);
    if (op === Op.SpecConstantTrue || op === Op.ConstantTrue) return 1n;
    if (op === Op.SpecConstantFalse || op === Op.ConstantFalse || op === Op.ConstantNull) return 0n;
    if (op !== Op.SpecConstantOp) throw new FormatError(`SPIR-V %${id} is not a constant that can be computed.`);
    const [operation = 0, ...parts] = operands;
    const extracted = operation === Op.CompositeExtract ? this.memberOf(parts) : undefined;
    if (extracted !== undefined) return this.value(extracted, depth + 1);
    const type = typeOf(this.module, parts[0] ?? 0);
    const bits = BigInt(type?.[0] === Op.TypeInt ? 8 * bytesOfNumber(type) : 32);
    const values = parts.map((part) => this.value(part, depth + 1));
    const result = integerOperation(operation, bits, values);
    if (result === undefined) throw new FormatError(`SPIR-V constant %${id} is computed by operation ${operation}.`);
    return result;
  }

  /** The id that CompositeExtract picks out of a constant vector or struct, when it is that simple. */
  private memberOf(parts: readonly number[]): number | undefined {
    const [composite = [], index = 0] = [this.module.definitions.get(parts[0] ?? 0), parts[1]];
    const isComposite = composite[0] === Op.ConstantComposite || composite[0] === Op.SpecConstantComposite;
    return isComposite && parts.length === 2 ? composite[3 + index] : undefined;
  }
}

/** Cuts a value to the bits of its type; a truth value becomes 0 or 1. */
function wrapTo(type: Instruction | undefined, value: bigint): bigint {
  if (type?.[0] !== Op.TypeInt) return value === 0n ? 0n : 1n;
  const bits = 8 * bytesOfNumber(type);
  return type[3] === 1 ? BigInt.asIntN(bits, value) : BigInt.asUintN(bits, value);
}

function fromWords(words: readonly number[]): bigint {
  return words.reduceRight((high, word) => (high << 32n) | BigInt(word), 0n);
}

/** Sizes of types: laid out by their decorations where they have them, else packed by natural alignment. */
export class TypeSizes {
  /** null while a type is being measured. */
  private readonly sizes = new Map<number, number | null>();

  constructor(
    private readonly module: ParsedModule,
    private readonly constants: ConstantValues,
  ) {}

  bytes(id: number, depth = 0): number {
    const known = this.sizes.get(id);
    if (typeof known === "number") return known;
    if (known === null || depth > MAX_DEPTH) throw new FormatError(`SPIR-V type %${id} contains itself.`);
    this.sizes.set(id, null);
    const bytes = this.measure(id, depth);
    if (!Number.isSafeInteger(bytes)) throw new FormatError(`SPIR-V type %${id} is ${bytes} bytes large.`);
    this.sizes.set(id, bytes);
    return bytes;
  }

  private measure(id: number, depth: number): number {
    const type = this.module.definitions.get(id);
    if (!type) throw new FormatError(`SPIR-V type %${id} is not defined.`);
    switch (type[0]) {
      case Op.TypeBool:
        return 4;
      case Op.TypeInt:
      case Op.TypeFloat:
        return bytesOfNumber(type);
      case Op.TypeVector:
      case Op.TypeMatrix:
        return this.bytes(type[2] ?? 0, depth + 1) * (type[3] ?? 1);
      case Op.TypePointer:
        return 8;
      case Op.TypeArray: {
        const stride = decorationOf(this.module, id, Decoration.ArrayStride)?.[1];
        return this.constants.count(type[3] ?? 0) * (stride ?? this.bytes(type[2] ?? 0, depth + 1));
      }
      case Op.TypeStruct:
        return this.measureStruct(id, type.slice(2), depth);
      default:
        return 0;
    }
  }

  private measureStruct(id: number, members: readonly number[], depth: number): number {
    let end = 0;
    for (const [index, member] of members.entries()) {
      const offset = memberDecorationOf(this.module, id, index, Decoration.Offset)?.[1];
      const packed = this.bytes(member, depth + 1);
      end = Math.max(end, (offset ?? end) + (this.stridedMatrixBytes(id, index, member) ?? packed));
    }
    return end;
  }

  /** Bytes of a matrix member whose columns or rows lie a stated distance apart; undefined for any other member. */
  private stridedMatrixBytes(struct: number, index: number, member: number): number | undefined {
    const stride = memberDecorationOf(this.module, struct, index, Decoration.MatrixStride)?.[1];
    const matrix = this.module.definitions.get(member);
    if (stride === undefined || matrix?.[0] !== Op.TypeMatrix) return undefined;
    const isRowMajor = memberDecorationOf(this.module, struct, index, Decoration.RowMajor) !== undefined;
    const rows = this.module.definitions.get(matrix[2] ?? 0)?.[3] ?? 1;
    return stride * (isRowMajor ? rows : (matrix[3] ?? 1));
  }
}
