/**
 * WebAssembly bytes to text, in the flat form of the text format: one instruction per line, indented by nesting.
 *
 * It is for error messages, tests and people. It reads the part of the format that the assembler writes (types, imports,
 * functions, globals, exports, code and names) from modules of anywhere, so it trusts nothing: bytes that are no module
 * throw a FormatError that says where. Sections it does not know are shown as a comment.
 */
import { CONTROL } from "./body.js";
import { SECTION } from "./builder.js";
import { ByteReader } from "./byte-reader.js";
import { INSTRUCTION_BY_OPCODE, opcodeOf } from "./instructions.js";
import { TYPE_CODE, type ValueType } from "./types.js";

const TYPES = new Map(Object.entries(TYPE_CODE).map(([type, code]) => [code, type as ValueType]));
const CONTROL_NAMES = new Map<number, string>(Object.entries(CONTROL).map(([name, code]) => [code, name]));
const EMPTY_BLOCK_TYPE = 0x40;

interface Signature {
  readonly parameters: readonly ValueType[];
  readonly results: readonly ValueType[];
}

export function disassemble(bytes: Uint8Array): string {
  return new Disassembler(bytes).run();
}

class Disassembler {
  private readonly lines: string[] = [];
  private readonly signatures: Signature[] = [];
  private readonly functionTypes: number[] = [];
  private readonly names = new Map<number, string>();
  private importedFunctions = 0;

  constructor(private readonly bytes: Uint8Array) {}

  run(): string {
    const reader = new ByteReader(this.bytes);
    const header = reader.take(8, "the header");
    const magic = new TextDecoder().decode(header.subarray(0, 4));
    if (magic !== "\0asm") throw new ByteReader(this.bytes).error("these bytes do not begin with \\0asm");
    if (header[4] !== 1) throw new ByteReader(this.bytes, 4).error(`version ${header[4]}; this reads version 1`);
    const sections: { id: number; content: ByteReader }[] = [];
    while (!reader.isAtEnd) {
      const id = reader.byte("a section");
      sections.push({ id, content: reader.part(reader.unsigned("a section's size"), "a section") });
    }
    // Names come last in a module, but are needed first.
    for (const { id, content } of sections) {
      if (id === SECTION.custom) this.readNames(new ByteReader(this.bytes, content.at, content.end));
    }
    this.lines.push("(module");
    for (const { id, content } of sections) this.section(id, content);
    this.lines.push(")");
    return `${this.lines.join("\n")}\n`;
  }

  private section(id: number, s: ByteReader): void {
    switch (id) {
      case SECTION.custom:
        this.lines.push(`  ;; custom section ${JSON.stringify(s.name("a section's name"))}`);
        return;
      case SECTION.type:
        s.vector("types", (i) => this.type(s, i));
        break;
      case SECTION.import:
        s.vector("imports", () => this.import(s));
        break;
      case SECTION.function:
        s.vector("functions", () => this.functionTypes.push(s.unsigned("a function's type")));
        break;
      case SECTION.global:
        s.vector("globals", (i) => this.global(s, i));
        break;
      case SECTION.export:
        s.vector("exports", () => this.export(s));
        break;
      case SECTION.code:
        s.vector("bodies", (i) => {
          const size = s.unsigned("a body's size");
          this.body(s.part(size, "a body"), i);
        });
        break;
      default:
        this.lines.push(`  ;; section ${id} of ${s.end - s.at} bytes`);
        return;
    }
    if (!s.isAtEnd) throw s.error(`section ${id} has ${s.end - s.at} bytes too many`);
  }

  private type(s: ByteReader, index: number): void {
    if (s.byte("a type") !== 0x60) throw s.error("not a function type");
    const parameters = s.vector("parameters", () => this.valueType(s));
    const results = s.vector("results", () => this.valueType(s));
    this.signatures.push({ parameters, results });
    this.lines.push(`  (type (;${index};) (func${shape({ parameters, results })}))`);
  }

  private import(s: ByteReader): void {
    const from = `${JSON.stringify(s.name("an import"))} ${JSON.stringify(s.name("an import"))}`;
    const kind = s.byte("an import's kind");
    if (kind === 0x00) {
      const type = s.unsigned("an import's type");
      this.functionTypes.push(type);
      const index = this.importedFunctions++;
      this.lines.push(`  (import ${from} (func ${this.functionName(index)} (type ${type})))`);
    } else if (kind === 0x02) {
      const flags = s.byte("memory limits");
      const min = s.unsigned("memory limits");
      const max = flags & 1 ? ` ${s.unsigned("memory limits")}` : "";
      this.lines.push(`  (import ${from} (memory ${min}${max}${flags & 2 ? " shared" : ""}))`);
    } else throw s.error(`an import of kind ${kind}`);
  }

  private global(s: ByteReader, index: number): void {
    const type = this.valueType(s);
    const isMutable = s.byte("a global") === 1;
    const opcode = s.byte("a global's value");
    const value = this.instruction(s, opcode);
    if (s.byte("a global's value") !== CONTROL.end) throw s.error("a global's value is more than a constant");
    this.lines.push(`  (global (;${index};) ${isMutable ? `(mut ${type})` : type} (${value}))`);
  }

  private export(s: ByteReader): void {
    const name = JSON.stringify(s.name("an export"));
    const kinds = ["func", "table", "memory", "global"];
    const kind = kinds[s.byte("an export's kind")];
    if (!kind) throw s.error("an export of unknown kind");
    const index = s.unsigned("an export");
    this.lines.push(`  (export ${name} (${kind} ${kind === "func" ? this.functionName(index) : index}))`);
  }

  private body(s: ByteReader, position: number): void {
    const index = this.importedFunctions + position;
    const type = this.functionTypes[index];
    if (type === undefined) throw s.error(`a body without a function`);
    const signature = this.signatures[type];
    this.lines.push(`  (func ${this.functionName(index)} (type ${type})${signature ? shape(signature) : ""}`);
    const locals: string[] = [];
    s.vector("locals", () => {
      const count = s.unsigned("locals");
      if (count > 50000) throw s.error(`${count} locals`);
      const name = this.valueType(s);
      for (let i = 0; i < count; i++) locals.push(name);
    });
    if (locals.length > 0) this.lines.push(`    (local ${locals.join(" ")})`);
    let depth = 0;
    while (!s.isAtEnd) {
      const opcode = s.byte("an instruction");
      if (opcode === CONTROL.end || opcode === CONTROL.else) depth--;
      const text = this.instruction(s, opcode);
      if (depth < 0) break;
      this.lines.push(`${"  ".repeat(depth + 2)}${text}`);
      const opens =
        opcode === CONTROL.block || opcode === CONTROL.loop || opcode === CONTROL.if || opcode === CONTROL.else;
      if (opens) depth++;
    }
    if (depth >= 0 || !s.isAtEnd) throw s.error("a body whose ends do not match its blocks");
    this.lines.push("  )");
  }

  private instruction(s: ByteReader, first: number): string {
    const isPrefix = first === 0xfc || first === 0xfd || first === 0xfe;
    const opcode = isPrefix ? opcodeOf(first, s.unsigned("an opcode")) : first;
    const control = CONTROL_NAMES.get(opcode);
    if (control) return `${control}${this.controlImmediates(s, opcode)}`;
    const known = INSTRUCTION_BY_OPCODE.get(opcode);
    if (!known) throw s.error(`opcode 0x${opcode.toString(16)} is unknown`);
    const { name, immediates, extent } = known;
    switch (immediates) {
      case "none":
        return name;
      case "zeros":
        s.take(extent, name);
        return name;
      case "lane":
        return `${name} ${s.byte(name)}`;
      case "lanes":
        return `${name} ${[...s.take(16, name)].join(" ")}`;
      case "access":
        return `${name}${this.access(s, extent)}`;
      case "access lane":
        return `${name}${this.access(s, extent)} ${s.byte(name)}`;
    }
  }

  private controlImmediates(s: ByteReader, opcode: number): string {
    switch (opcode) {
      case CONTROL.block:
      case CONTROL.loop:
      case CONTROL.if:
        return this.blockType(s);
      case CONTROL.br:
      case CONTROL.br_if:
      case CONTROL["local.get"]:
      case CONTROL["local.set"]:
      case CONTROL["local.tee"]:
      case CONTROL["global.get"]:
      case CONTROL["global.set"]:
        return ` ${s.unsigned("an index")}`;
      case CONTROL.call:
        return ` ${this.functionName(s.unsigned("a function"))}`;
      case CONTROL.br_table: {
        const targets = s.vector("targets", () => s.unsigned("a target"));
        return ` ${[...targets, s.unsigned("a target")].join(" ")}`;
      }
      case CONTROL["i32.const"]:
        return ` ${s.signed(32, "a constant")}`;
      case CONTROL["i64.const"]:
        return ` ${s.signed(64, "a constant")}`;
      case CONTROL["f32.const"]:
        return ` ${numberText(s.f32("a constant"))}`;
      case CONTROL["f64.const"]:
        return ` ${numberText(s.f64("a constant"))}`;
      case CONTROL["v128.const"]: {
        const bytes = s.take(16, "a constant");
        const words = [0, 4, 8, 12].map((at) => [...bytes.subarray(at, at + 4)].reverse());
        const hex = words.map((word) => `0x${word.map((byte) => byte.toString(16).padStart(2, "0")).join("")}`);
        return ` i32x4 ${hex.join(" ")}`;
      }
      default:
        return "";
    }
  }

  private blockType(s: ByteReader): string {
    const code = s.byte("a block type");
    if (code === EMPTY_BLOCK_TYPE) return "";
    const type = TYPES.get(code);
    if (type) return ` (result ${type})`;
    s.at--;
    return ` (type ${s.signed(32, "a block type")})`;
  }

  private access(s: ByteReader, natural: number): string {
    const align = s.unsigned("an alignment");
    const offset = s.unsigned("an offset");
    return `${offset === 0 ? "" : ` offset=${offset}`}${2 ** align === natural ? "" : ` align=${2 ** align}`}`;
  }

  private valueType(s: ByteReader): ValueType {
    const code = s.byte("a type");
    const type = TYPES.get(code);
    if (!type) throw s.error(`0x${code.toString(16)} is no value type`);
    return type;
  }

  private functionName(index: number): string {
    const name = this.names.get(index);
    return name === undefined ? String(index) : `$${name.replace(/[^\w.!#$%&'*+\-/:<=>?@\\^`|~]/g, "_")}`;
  }

  private readNames(s: ByteReader): void {
    if (s.name("a section's name") !== "name") return;
    while (!s.isAtEnd) {
      const id = s.byte("a subsection");
      const part = s.part(s.unsigned("a subsection"), "a subsection");
      if (id === 1) part.vector("names", () => this.names.set(part.unsigned("a function"), part.name("a name")));
    }
  }
}

function shape({ parameters, results }: Signature): string {
  const take = parameters.length > 0 ? ` (param ${parameters.join(" ")})` : "";
  return `${take}${results.length > 0 ? ` (result ${results.join(" ")})` : ""}`;
}

function numberText(value: number): string {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  return Object.is(value, -0) ? "-0" : String(value);
}
