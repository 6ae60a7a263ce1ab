/**
 * SPIR-V words to text, in the syntax of spirv-dis, which spirv-as reads back to the same words.
 *
 * It is for error messages, tests and people: `pumice` shows kernels with it, and nothing else needs installing. It reads
 * modules from anywhere, so it trusts nothing: words that are no module throw a FormatError that says where. An opcode
 * or enumerant the tables do not know is not an error; it is shown by number.
 */
import { FormatError } from "../../core/errors.js";
import { HEADER_WORDS, MAGIC, Op } from "../enumerants.js";
import { floatText } from "./float-text.js";
import { FriendlyNames } from "./friendly-names.js";
import { ENUMERATIONS, type Enumeration, GLSL_INSTRUCTIONS, INSTRUCTIONS } from "./operands.js";

interface DisassembleOptions {
  /** Names for ids where they can be found (the default); false shows every id as its number. */
  readonly names?: boolean;
  /** Comment lines with version and id bound (the default). */
  readonly header?: boolean;
}

interface NumberType {
  readonly kind: "int" | "float";
  readonly width: number;
  readonly signed: boolean;
  readonly encoding: "ieee" | "bf16";
}

/** Column where the operation starts; results are right-aligned before it. */
const INDENT = 15;
const SWAPPED_MAGIC = 0x03022307;
const decoder = new TextDecoder("utf-8", { fatal: false });

/** A SPIR-V module as text, one instruction per line. */
export function disassemble(words: Uint32Array, options: DisassembleOptions = {}): string {
  return new Disassembler(words, options).run();
}

class Disassembler {
  private readonly lines: string[] = [];
  private readonly names = new FriendlyNames();
  private readonly numberTypes = new Map<number, NumberType>();
  /** Type of each result, to know how wide the labels of a switch are. */
  private readonly typeOf = new Map<number, number>();
  private readonly importedSets = new Map<number, string>();
  private readonly bound: number;
  private readonly useNames: boolean;

  // The instruction being read.
  private at = HEADER_WORDS;
  private end = HEADER_WORDS;
  private start = HEADER_WORDS;
  private resultType = 0;
  private result = 0;
  private operands: string[] = [];

  constructor(
    private readonly words: Uint32Array,
    private readonly options: DisassembleOptions,
  ) {
    if (words.length < HEADER_WORDS) {
      throw new FormatError(`SPIR-V: ${words.length} words at word 0; a module has at least ${HEADER_WORDS}`);
    }
    if (words[0] === SWAPPED_MAGIC) {
      throw new FormatError("SPIR-V: the words at word 0 are in the other byte order; swap them first");
    }
    if (words[0] !== MAGIC) {
      throw new FormatError(`SPIR-V: word 0 is ${hex(words[0])}, not the magic number ${hex(MAGIC)}`);
    }
    this.bound = words[3];
    this.useNames = options.names ?? true;
  }

  run(): string {
    if (this.useNames) this.collectNames();
    if (this.options.header ?? true) {
      const [, version, generator, bound, schema] = this.words;
      this.lines.push(
        "; SPIR-V",
        `; Version: ${(version >>> 16) & 0xff}.${(version >>> 8) & 0xff}`,
        `; Generator: ${generator >>> 16}; ${generator & 0xffff}`,
        `; Bound: ${bound}`,
        `; Schema: ${schema}`,
      );
    }
    this.each((opcode) => this.instruction(opcode));
    return `${this.lines.join("\n")}\n`;
  }

  /** Visits every instruction with `start`, `at` and `end` set around its words. */
  private each(visit: (opcode: number) => void): void {
    for (this.start = HEADER_WORDS; this.start < this.words.length; this.start = this.end) {
      const first = this.words[this.start];
      const count = first >>> 16;
      if (count === 0) throw this.error(this.start, "an instruction of 0 words");
      this.at = this.start + 1;
      this.end = this.start + count;
      if (this.end > this.words.length) {
        const left = this.words.length - this.start;
        throw this.error(this.start, `an instruction of ${count} words where ${left} are left`);
      }
      visit(first & 0xffff);
    }
  }

  private instruction(opcode: number): void {
    const known = INSTRUCTIONS.get(opcode);
    if (!known) {
      const raw = Array.from(this.words.subarray(this.at, this.end), hex);
      this.lines.push(`; unknown opcode ${opcode} ${raw.join(" ")}`.trimEnd());
      return;
    }
    this.resultType = 0;
    this.result = 0;
    this.operands = [];
    this.shape(known.shape);
    if (this.at < this.end) throw this.error(this.at, `Op${known.name} has ${this.end - this.at} words too many`);
    if (this.result !== 0 && this.resultType !== 0) this.typeOf.set(this.result, this.resultType);
    this.remember(opcode);

    let left = " ".repeat(INDENT);
    if (this.result !== 0) left = `%${this.nameOf(this.result)} = `.padStart(INDENT);
    const type = this.resultType !== 0 ? [`%${this.nameOf(this.resultType)}`] : [];
    this.lines.push(left + [`Op${known.name}`, ...type, ...this.operands].join(" "));
  }

  /** Reads operands by a shape string (see operands.ts). */
  private shape(shape: string): void {
    for (let i = 0; i < shape.length; i++) {
      let unit = shape[i];
      if (unit === "(") {
        unit = shape.slice(i + 1, shape.indexOf(")", i));
        i += unit.length + 1;
      }
      const quantifier = shape[i + 1];
      if (quantifier === "*") {
        i++;
        while (this.at < this.end) this.unit(unit);
      } else if (quantifier === "?") {
        i++;
        if (this.at < this.end) this.unit(unit);
      } else {
        this.unit(unit);
      }
    }
  }

  private unit(letters: string): void {
    for (const letter of letters) this.operand(letter);
  }

  private operand(letter: string): void {
    switch (letter) {
      case "T":
        this.resultType = this.id();
        return;
      case "R":
        this.result = this.id();
        return;
      case "I":
        this.operands.push(`%${this.nameOf(this.id())}`);
        return;
      case "L":
        this.operands.push(String(this.word()));
        return;
      case "S":
        this.operands.push(quoted(this.string()));
        return;
      case "N":
        this.operands.push(this.number(this.resultType));
        return;
      case "W": {
        const selector = this.words[this.start + 1];
        this.operands.push(this.number(this.typeOf.get(selector) ?? 0));
        this.operand("I");
        return;
      }
      case "X":
        this.extendedInstruction();
        return;
      case "O":
        this.specOperation();
        return;
      default:
        this.enumerant(ENUMERATIONS[letter]);
    }
  }

  private extendedInstruction(): void {
    const set = this.importedSets.get(this.words[this.at - 1]);
    const code = this.word();
    const name = set === "GLSL.std.450" ? GLSL_INSTRUCTIONS.get(code) : undefined;
    this.operands.push(name ?? String(code));
  }

  /** An OpSpecConstantOp carries the operands of the instruction it names, without result type and id. */
  private specOperation(): void {
    const code = this.word();
    const known = INSTRUCTIONS.get(code);
    if (!known?.shape.startsWith("TR")) {
      this.operands.push(`!${code}`);
      this.rawRest();
      return;
    }
    this.operands.push(known.name);
    this.shape(known.shape.slice(2));
  }

  private enumerant(enumeration: Enumeration): void {
    const code = this.word();
    if (!enumeration.isMask) {
      const name = enumeration.names.get(code);
      if (name === undefined) {
        this.operands.push(`!${code}`);
        this.rawRest();
        return;
      }
      this.operands.push(name);
      this.shape(enumeration.parameters[name] ?? "");
      return;
    }
    if (code === 0) {
      this.operands.push(enumeration.names.get(0) ?? "None");
      return;
    }
    const set: string[] = [];
    for (let bit = 0; bit < 32; bit++) {
      const mask = (1 << bit) >>> 0;
      if (!(code & mask)) continue;
      const name = enumeration.names.get(mask);
      if (name === undefined) {
        this.operands.push(`!${code}`);
        this.rawRest();
        return;
      }
      set.push(name);
    }
    this.operands.push(set.join("|"));
    // Operands of the bits follow in the order of the bits.
    for (const name of set) this.shape(enumeration.parameters[name] ?? "");
  }

  /** After an unknown enumerant the rest is shown as raw words, which spirv-as reads. */
  private rawRest(): void {
    while (this.at < this.end) this.operands.push(`!${this.word()}`);
  }

  private number(typeId: number): string {
    const type = this.numberTypes.get(typeId);
    if (!type) throw this.error(this.at, `a literal of type %${typeId}, which is not a number type declared before`);
    const low = this.word();
    const high = type.width === 64 ? this.word() : 0;
    if (type.kind === "float") return floatText(low, high, type.width as 16 | 32 | 64, type.encoding);
    if (type.width === 64) {
      const bits = (BigInt(high) << 32n) | BigInt(low);
      return String(type.signed ? BigInt.asIntN(64, bits) : bits);
    }
    return String(type.signed ? low | 0 : low);
  }

  /** Remembers types and sets that later instructions depend on. */
  private remember(opcode: number): void {
    const { words, start } = this;
    switch (opcode) {
      case Op.TypeInt:
        this.checkWidth([8, 16, 32, 64]);
        this.numberTypes.set(this.result, {
          kind: "int",
          width: words[start + 2],
          signed: words[start + 3] !== 0,
          encoding: "ieee",
        });
        return;
      case Op.TypeFloat:
        this.checkWidth([8, 16, 32, 64]);
        if (words[start + 2] === 8) return;
        this.numberTypes.set(this.result, {
          kind: "float",
          width: words[start + 2],
          signed: true,
          encoding: this.end - start > 3 ? "bf16" : "ieee",
        });
        return;
      case Op.ExtInstImport:
        this.at = start + 2;
        this.importedSets.set(this.result, this.string());
        return;
    }
  }

  private checkWidth(widths: readonly number[]): void {
    const width = this.words[this.start + 2];
    if (!widths.includes(width)) throw this.error(this.start + 2, `a number type of ${width} bits`);
  }

  /** A pass over the module for names only: types and constants are named by what they hold, before they are shown. */
  private collectNames(): void {
    this.each((opcode) => {
      const { start } = this;
      const operand = (i: number) => {
        if (start + i >= this.end) throw this.error(start, `an operand missing from opcode ${opcode}`);
        return this.words[start + i];
      };
      if (opcode === Op.TypeInt || opcode === Op.TypeFloat) {
        this.result = operand(1);
        this.remember(opcode);
      }
      this.names.learn({
        opcode,
        operand,
        count: this.end - start - 1,
        text: (i) => {
          this.at = start + i;
          return this.string();
        },
        literal: (i, typeId) => {
          this.at = start + i;
          return this.number(typeId);
        },
      });
    });
  }

  private nameOf(id: number): string {
    return this.useNames ? this.names.of(id) : String(id);
  }

  private id(): number {
    const id = this.word();
    if (id === 0 || id >= this.bound) {
      throw this.error(this.at - 1, `id ${id}, outside 1 to ${this.bound - 1} as the header has it`);
    }
    return id;
  }

  private word(): number {
    if (this.at >= this.end) {
      const name = INSTRUCTIONS.get(this.words[this.start] & 0xffff)?.name ?? "instruction";
      throw this.error(this.start, `an operand missing from Op${name}`);
    }
    return this.words[this.at++];
  }

  private string(): string {
    const bytes: number[] = [];
    const from = this.at;
    while (this.at < this.end) {
      const word = this.words[this.at++];
      for (let shift = 0; shift < 32; shift += 8) {
        const byte = (word >>> shift) & 0xff;
        if (byte === 0) return decoder.decode(Uint8Array.from(bytes));
        bytes.push(byte);
      }
    }
    throw this.error(from, "a string without an end");
  }

  private error(word: number, what: string): FormatError {
    return new FormatError(`SPIR-V: ${what}, at word ${word} of ${this.words.length}`);
  }
}

function hex(word: number): string {
  return `0x${(word >>> 0).toString(16).padStart(8, "0")}`;
}

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, "\\$&")}"`;
}
