/**
 * The lowest layer of a function under construction: where its instructions go, which block is open, and the checks every
 * instruction passes. The layers above (arithmetic, composites, control flow, memory) say which instruction to write.
 *
 * A function is three runs of words: its variables, a prologue, and the body. SPIR-V wants the variables first in the
 * first block; the prologue follows them and holds values that the whole function shares (built-in values, push constants),
 * so that a value first used deep inside a loop is also valid outside it.
 */
import { ArgumentError } from "../../core/errors.js";
import { Decoration, Op } from "../enumerants.js";
import type { ModuleBuilder } from "../module/builder.js";
import { arithmeticCapabilities } from "../module/capabilities.js";
import type { Sections } from "../module/sections.js";
import { scalarOf, type Type } from "../module/types.js";
import { WordStream } from "../word-stream.js";
import { type Operand, type Region, Value } from "./value.js";

/** Options of one arithmetic instruction. */
export interface ArithmeticOptions {
  /** False forbids fusing this instruction into a fused multiply-add; the default is the module's. */
  readonly contract?: boolean;
}

/** Float instructions that a compiler may contract, and that may therefore be told not to. */
const CONTRACTIBLE: ReadonlySet<number> = new Set([
  Op.FAdd,
  Op.FSub,
  Op.FMul,
  Op.FDiv,
  Op.FRem,
  Op.FMod,
  Op.FNegate,
  Op.Dot,
  Op.VectorTimesScalar,
]);

const NAMES: ReadonlyMap<number, string> = new Map(Object.entries(Op).map(([name, code]) => [code, `Op${name}`]));

/** "OpFAdd" for 129: how messages name an instruction. */
function instructionName(opcode: number): string {
  return NAMES.get(opcode) ?? `opcode ${opcode}`;
}

export class Emitter {
  readonly id: number;
  /** Ids of the module variables this function touches. */
  readonly touched = new Set<number>();

  protected readonly sections: Sections;
  protected readonly variables = new WordStream();
  protected readonly prologue = new WordStream();
  protected readonly entryBlock: number;
  protected readonly rootRegion: Region;
  protected out: WordStream = new WordStream();
  protected region: Region;
  /** Label of the open block; 0 after a return, break or continue. */
  protected block: number;

  constructor(
    readonly module: ModuleBuilder,
    readonly name: string,
  ) {
    this.sections = module.sections;
    this.id = this.sections.newId();
    this.entryBlock = this.sections.newId();
    this.block = this.entryBlock;
    this.rootRegion = { open: true, root: this, module };
    this.region = this.rootRegion;
  }

  toString(): string {
    return `function "${this.name}"`;
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return this.toString();
  }

  /** Writes one instruction with a result. The arity is in the name because these are the hot calls of the builder. */
  emit1(opcode: number, type: Type, a: Value): Value {
    this.check(opcode, type, a);
    const id = this.sections.newId();
    this.out.op3(opcode, type.id, id, this.use(a, opcode));
    return new Value(id, type, this.region);
  }

  emit2(opcode: number, type: Type, a: Value, b: Value): Value {
    this.check(opcode, type, a);
    const left = this.use(a, opcode);
    const right = this.use(b, opcode);
    const id = this.sections.newId();
    this.out.op4(opcode, type.id, id, left, right);
    return new Value(id, type, this.region);
  }

  emit3(opcode: number, type: Type, a: Value, b: Value, c: Value): Value {
    this.check(opcode, type, a);
    const first = this.use(a, opcode);
    const second = this.use(b, opcode);
    const third = this.use(c, opcode);
    const id = this.sections.newId();
    this.out.op5(opcode, type.id, id, first, second, third);
    return new Value(id, type, this.region);
  }

  /** As above with any number of operands; a number among them is written as it stands. */
  emitMany(opcode: number, type: Type, operands: readonly (Value | number)[]): Value {
    this.check(opcode, type);
    const id = this.sections.newId();
    const mark = this.out.open(opcode);
    this.out.push(type.id);
    this.out.push(id);
    this.pushOperands(opcode, operands, true);
    this.out.close(mark);
    return new Value(id, type, this.region);
  }

  /** An instruction of the GLSL.std.450 set. */
  emitGlsl(instruction: number, type: Type, operands: readonly Value[]): Value {
    return this.emitMany(Op.ExtInst, type, [this.sections.glsl(), instruction, ...operands]);
  }

  /** Writes an instruction that yields nothing; values and literal words as for `emitMany`. */
  emitVoid(opcode: number, operands: readonly (Value | number)[]): void {
    this.check(opcode);
    const mark = this.out.open(opcode);
    // Narrow numbers may be stored with storage capabilities alone.
    this.pushOperands(opcode, operands, opcode !== Op.Store);
    this.out.close(mark);
  }

  /**
   * An instruction that narrow numbers may take part in with no more than storage capabilities: loads, conversions
   * between widths, access chains.
   */
  emitStorage(opcode: number, type: Type, operands: readonly (Value | number)[]): Value {
    this.check(opcode);
    const id = this.sections.newId();
    const mark = this.out.open(opcode);
    this.out.push(type.id);
    this.out.push(id);
    this.pushOperands(opcode, operands, false);
    this.out.close(mark);
    return new Value(id, type, this.region);
  }

  /** The id of a value about to be used, once it is clear that it may be used here. */
  use(value: Value, opcode: number): number {
    const { region } = value;
    if (region.root === this) {
      if (region.open) return value.id;
      throw new ArgumentError(
        `${instructionName(opcode)}: ${value} was made inside a branch or loop that has ended. ` +
          "Return it from the branch, carry it through the loop, or keep it in a variable.",
      );
    }
    if (region.root !== this.module) {
      const place = region.module === this.module ? "another function; pass it as a parameter" : "another module";
      throw new ArgumentError(`${instructionName(opcode)}: ${value} belongs to ${place}`);
    }
    if (region === this.module.variableRegion) this.touched.add(value.id);
    return value.id;
  }

  /** `operand` as a value of `type`: a literal becomes a constant (splatted over a vector), a value must have the type. */
  as(operand: Operand, type: Type, what: string): Value {
    if (!(operand instanceof Value)) return this.module.constant(type, operand);
    if (operand.type === type || operand.type.id === type.id) return operand;
    throw new ArgumentError(`${what}: expected ${type.name}, got ${operand.type.name}${remedyFor(operand.type, type)}`);
  }

  /** A value as it is; a literal alone has no type to take. */
  value(operand: Operand, what: string): Value {
    if (operand instanceof Value) return operand;
    throw new ArgumentError(`${what}: the literal ${operand} has no type here; write m.constant(type, ${operand})`);
  }

  /** The one type of two operands, of which one may be a literal. */
  protected commonType(a: Operand, b: Operand, what: string): Type {
    if (a instanceof Value) {
      if (b instanceof Value && a.type !== b.type && a.type.id !== b.type.id) {
        const remedy = remedyFor(b.type, a.type);
        throw new ArgumentError(`${what}: the operands have types ${a.type.name} and ${b.type.name}${remedy}`);
      }
      return a.type;
    }
    return this.value(b, what).type;
  }

  /** Marks a float result as not to be contracted, by the option or the module's default. */
  protected forbidContraction(result: Value, opcode: number, options: ArithmeticOptions | undefined): Value {
    const forbidden = options?.contract === undefined ? this.module.noContraction : !options.contract;
    if (forbidden && CONTRACTIBLE.has(opcode) && result.type.kind !== "matrix") {
      this.sections.decorate(result.id, Decoration.NoContraction);
    }
    return result;
  }

  /** Runs `write` with its instructions going to the prologue, where the whole function sees them. */
  protected hoist(write: () => Value): Value {
    const { out, region, block } = this;
    this.out = this.prologue;
    this.region = this.rootRegion;
    this.block = this.entryBlock;
    try {
      return write();
    } finally {
      this.out = out;
      this.region = region;
      this.block = block;
    }
  }

  /** Runs `write` in a region of its own, whose values end with it. */
  protected within<T>(write: () => T): T {
    const outer = this.region;
    this.region = { open: true, root: this, module: this.module };
    try {
      return write();
    } finally {
      this.region.open = false;
      this.region = outer;
    }
  }

  private pushOperands(opcode: number, operands: readonly (Value | number)[], computes: boolean): void {
    for (const operand of operands) {
      if (typeof operand === "number") {
        this.out.push(operand);
        continue;
      }
      if (computes && operand.type.contents !== 0) this.sections.requireAll(arithmeticCapabilities(operand.type));
      this.out.push(this.use(operand, opcode));
    }
  }

  private check(opcode: number, result?: Type, operand?: Value): void {
    if (this.block === 0) {
      throw new ArgumentError(
        `${instructionName(opcode)} in "${this.name}" follows a return, break or continue and can never run; ` +
          "put the jump inside f.if(…), or drop what follows it",
      );
    }
    // Two tests of a field that is 0 for every wide type: the price of deriving Int8, Int16 and Float16.
    if (result && result.contents !== 0) this.sections.requireAll(arithmeticCapabilities(result));
    if (operand && operand.type.contents !== 0) this.sections.requireAll(arithmeticCapabilities(operand.type));
  }
}

function remedyFor(from: Type, to: Type): string {
  const bothNumeric = scalarOf(from) !== undefined && scalarOf(to) !== undefined;
  return bothNumeric ? "; convert one with f.convert or f.bitcast" : "";
}
