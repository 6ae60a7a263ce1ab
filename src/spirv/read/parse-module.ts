/**
 * Reads a SPIR-V module into tables: entry points, execution modes, global definitions, decorations, and the ids that each
 * function mentions. It refuses modules that are cut off or have instructions out of place, because drivers crash on them.
 * reflect.ts reads these tables.
 */
import { FormatError } from "../../core/errors.js";
import { HEADER_WORDS, MAGIC, Op } from "../enumerants.js";

/** An opcode and its operands. */
export type Instruction = readonly number[];

export interface EntryPoint {
  readonly name: string;
  readonly id: number;
  readonly model: number;
  /** Ids of the global variables it lists. */
  readonly interfaces: readonly number[];
}

/** The declarations of a module, by id. A decoration is kept without its target: [decoration, ...operands]. */
export interface ParsedModule {
  readonly version: readonly [number, number];
  readonly capabilities: readonly number[];
  readonly entries: readonly EntryPoint[];
  readonly modes: readonly Instruction[];
  /** Types, constants and global variables by result id. */
  readonly definitions: ReadonlyMap<number, Instruction>;
  readonly decorations: ReadonlyMap<number, readonly Instruction[]>;
  readonly memberDecorations: ReadonlyMap<number, ReadonlyMap<number, readonly Instruction[]>>;
  /** The ids each function mentions; empty sets where the entry points list their variables. */
  readonly functions: ReadonlyMap<number, ReadonlySet<number>>;
  /** True from SPIR-V 1.4 on: an entry point lists all variables it uses. Before, they are found in the functions. */
  readonly listsAllGlobals: boolean;
}

/** The universal limit of the SPIR-V specification on result ids. */
const MAX_BOUND = 4194303;
/** Instructions whose operands are partly plain numbers, which must not be taken for the ids of variables. */
const WITH_LITERALS = new Set<number>([Op.Line, Op.CompositeExtract, Op.CompositeInsert, Op.VectorShuffle, Op.Switch]);

/** SPIR-V words from bytes, checked for length, magic number and byte order. */
export function toWords(bytes: Uint8Array): Uint32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const magic = bytes.byteLength < 4 ? 0 : view.getUint32(0, true);
  const isSwapped = bytes.byteLength >= 4 && view.getUint32(0, false) === MAGIC;
  if (bytes.byteLength < HEADER_WORDS * 4 || (bytes.byteLength % 4 !== 0 && (magic === MAGIC || isSwapped))) {
    throw new FormatError(`Not SPIR-V: ${bytes.byteLength} bytes is not a whole number of words holding a header.`);
  }
  if (magic !== MAGIC && !isSwapped) {
    throw new FormatError(
      `Not SPIR-V: it starts with 0x${magic.toString(16).padStart(8, "0")}, not 0x07230203. GLSL must be compiled first (glslangValidator -V).`,
    );
  }
  const words = new Uint32Array(new Uint8Array(bytes).buffer);
  return isSwapped ? words.map(swapped) : words;
}

/** A word with its bytes in the other order. */
const swapped = (word: number): number =>
  (word << 24) | ((word & 0xff00) << 8) | ((word >>> 8) & 0xff00) | (word >>> 24);

export function parseModule(words: Uint32Array): ParsedModule {
  checkHeader(words);
  const listsAllGlobals = (words[1] as number) >= 0x00010400;
  const globals = new GlobalTables();
  const functions = new Map<number, Set<number>>();
  const called = new Set<number>();
  const blocks = new BlockOrder();
  let mentioned: Set<number> | null = null;
  for (let at = HEADER_WORDS; at < words.length; ) {
    const start = at;
    const count = (words[start] as number) >>> 16;
    const op = (words[start] as number) & 0xffff;
    if (count === 0 || start + count > words.length) {
      throw new FormatError(`Not SPIR-V: the instruction at word ${start} runs past the end of the module.`);
    }
    at += count;
    blocks.see(op, start);
    if (op === Op.FunctionCall) called.add(count > 3 ? (words[start + 3] as number) : 0);
    if (op === Op.Function) {
      mentioned = new Set();
      functions.set(count > 2 ? (words[start + 2] as number) : 0, mentioned);
    }
    if (!mentioned) globals.add(op, words.subarray(start + 1, at));
    else if (!listsAllGlobals && !WITH_LITERALS.has(op)) {
      // Plain words, no view per instruction: most of a module is function bodies, and views took most of the time.
      for (let i = start + 1; i < at; i++) mentioned.add(words[i] as number);
    }
  }
  blocks.end();
  checkFunctions(globals.entries, called, functions);
  const [major, minor] = [((words[1] as number) >>> 16) & 0xff, ((words[1] as number) >>> 8) & 0xff];
  return {
    version: [major, minor],
    capabilities: globals.capabilities,
    entries: globals.entries,
    modes: globals.modes,
    definitions: globals.definitions,
    decorations: globals.decorations,
    memberDecorations: globals.memberDecorations,
    functions,
    listsAllGlobals,
  };
}

function checkHeader(words: Uint32Array): void {
  if (words.length < HEADER_WORDS || words[0] !== MAGIC) throw new FormatError("Not SPIR-V: no header.");
  const bound = words[3] as number;
  if (bound === 0 || bound > MAX_BOUND) throw new FormatError(`Not SPIR-V: the id bound is ${bound}.`);
}

function checkFunctions(
  entries: readonly EntryPoint[],
  called: ReadonlySet<number>,
  functions: ReadonlyMap<number, unknown>,
): void {
  for (const id of called) {
    if (!functions.has(id))
      throw new FormatError(`Not SPIR-V: function %${id} is called and not there; is it cut off?`);
  }
  for (const { id, name } of entries) {
    if (!functions.has(id))
      throw new FormatError(`Not SPIR-V: the entry point "${name}" has no function; is it cut off?`);
  }
}

/** Collects the instructions before the first function. */
class GlobalTables {
  readonly capabilities: number[] = [];
  readonly entries: EntryPoint[] = [];
  readonly modes: Instruction[] = [];
  readonly definitions = new Map<number, Instruction>();
  readonly decorations = new Map<number, Instruction[]>();
  readonly memberDecorations = new Map<number, Map<number, Instruction[]>>();

  add(op: number, operands: Uint32Array): void {
    const [first = 0, second = 0] = operands;
    switch (op) {
      case Op.Capability:
        this.capabilities.push(first);
        break;
      case Op.EntryPoint: {
        const { text, words } = literalString(operands, 2);
        this.entries.push({ model: first, id: second, name: text, interfaces: [...operands.subarray(2 + words)] });
        break;
      }
      case Op.ExecutionMode:
      case Op.ExecutionModeId:
        this.modes.push([op, ...operands]);
        break;
      case Op.Decorate:
        pushTo(this.decorations, first, [...operands.subarray(1)]);
        break;
      case Op.MemberDecorate: {
        const members = this.memberDecorations.get(first) ?? new Map<number, Instruction[]>();
        this.memberDecorations.set(first, members);
        pushTo(members, second, [...operands.subarray(2)]);
        break;
      }
      default:
        if (isType(op)) this.definitions.set(first, [op, ...operands]);
        else if (isConstantOrVariable(op)) this.definitions.set(second, [op, ...operands]);
    }
  }
}

const isType = (op: number): boolean =>
  (op >= Op.TypeVoid && op <= Op.TypeFunction) || op === Op.TypeCooperativeMatrixKHR;

const isConstantOrVariable = (op: number): boolean =>
  (op >= Op.ConstantTrue && op <= Op.SpecConstantOp) || op === Op.Variable;

function pushTo(map: Map<number, Instruction[]>, key: number, value: Instruction): void {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

function literalString(operands: Uint32Array, start: number): { text: string; words: number } {
  const bytes: number[] = [];
  for (let i = start; i < operands.length; i++) {
    for (let shift = 0; shift < 32; shift += 8) {
      const byte = ((operands[i] as number) >>> shift) & 0xff;
      if (byte === 0) return { text: decoder.decode(new Uint8Array(bytes)), words: i - start + 1 };
      bytes.push(byte);
    }
  }
  throw new FormatError("Not SPIR-V: a name is not terminated.");
}

/** Instructions that end a block. */
const TERMINATORS: ReadonlySet<number> = new Set<number>([
  Op.Branch,
  Op.BranchConditional,
  Op.Switch,
  Op.Return,
  Op.ReturnValue,
  Op.Unreachable,
]);

/** Checks that functions end and that blocks end with a branch or a return: a module cut off in between kills drivers. */
class BlockOrder {
  private position: "outside" | "function" | "block" = "outside";

  see(op: number, at: number): void {
    if (op === Op.Function) this.move("outside", "function", op, at);
    else if (op === Op.FunctionEnd) this.move("function", "outside", op, at);
    else if (op === Op.Label) this.move("function", "block", op, at);
    else if (TERMINATORS.has(op)) this.move("block", "function", op, at);
  }

  private move(from: BlockOrder["position"], to: BlockOrder["position"], op: number, at: number): void {
    if (this.position !== from) {
      throw new FormatError(
        `Not SPIR-V: instruction ${op} at word ${at} is out of place; is something missing before it?`,
      );
    }
    this.position = to;
  }

  end(): void {
    if (this.position !== "outside") throw new FormatError("Not SPIR-V: it ends inside a function; is it cut off?");
  }
}
