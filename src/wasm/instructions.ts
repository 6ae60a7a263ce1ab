/**
 * The instruction tables as one list, by name and by opcode, for the builder, the writer and the disassembler. A new
 * instruction is a new entry in a table; nothing else changes.
 */
import { ATOMIC, BULK, LANE_LOAD, LANE_STORE, LOAD, STORE } from "./memory-table.js";
import { SCALAR } from "./scalar-table.js";
import { LANES, type LaneShape, type ValueType } from "./types.js";
import { LANE, RELAXED, SHUFFLE, VECTOR } from "./vector-table.js";

/**
 * The effect of an instruction besides its result. A pure one may be computed later, or not at all; a load too, if no effect
 * comes in between. Traps do not count: an instruction that would trap is dropped if its result is unused.
 */
type Effect = "pure" | "load" | "effect";

/** Operands after the opcode: none, alignment and offset, a lane, both, sixteen lanes, or zero bytes. */
type Immediates = "none" | "access" | "lane" | "access lane" | "lanes" | "zeros";

export interface Instruction {
  readonly name: string;
  readonly opcode: number;
  readonly parameters: readonly ValueType[];
  readonly result: ValueType | "none";
  readonly effect: Effect;
  readonly immediates: Immediates;
  /** Bytes accessed, number of lanes, or number of zero bytes, by the kind of immediates. */
  readonly extent: number;
  /** Accesses trap unless they are aligned, and say so in the encoding. */
  readonly isAtomic: boolean;
  /** The step that a use without immediates is; all uses share it. */
  readonly step: InstructionStep;
  /** The lanes over which a literal operand is spread; undefined where the name does not tell. */
  readonly literalLanes: LaneShape | undefined;
}

/** A use of an instruction. */
export interface InstructionStep {
  readonly kind: "instruction";
  readonly instruction: Instruction;
  readonly access: MemoryAccess | undefined;
  readonly lanes: readonly number[] | undefined;
}

/** Offset and alignment of a memory access; `align` is an exponent of two. */
export interface MemoryAccess {
  readonly offset: number;
  readonly align: number;
}

/** A row of the table, and the step that belongs to it. */
function instructionOf(row: Omit<Instruction, "step">): Instruction {
  const instruction = { ...row, step: null as unknown as InstructionStep };
  instruction.step = { kind: "instruction", instruction, access: undefined, lanes: undefined };
  return instruction;
}

type Letter = "i" | "l" | "f" | "d" | "v";
const LETTERS: { readonly [letter in Letter]: ValueType } = { i: "i32", l: "i64", f: "f32", d: "f64", v: "v128" };

type Table = Readonly<Record<string, Readonly<Record<string, number | readonly [number, number]>>>>;

const byName = new Map<string, Instruction>();
const byOpcode = new Map<number, Instruction>();

function addTable(table: Table, effect: Effect, immediates: Immediates, isAtomic = false): void {
  for (const [signature, rows] of Object.entries(table)) {
    const [operands, result] = signature.split(">") as [string, string];
    for (const [name, row] of Object.entries(rows)) {
      const [opcode, extent] = typeof row === "number" ? [row, lanesNamed(name)] : row;
      const instruction = instructionOf({
        name,
        opcode,
        parameters: [...operands].map((letter) => LETTERS[letter as Letter]),
        result: result === "" ? "none" : LETTERS[result as Letter],
        effect,
        immediates,
        extent,
        isAtomic,
        literalLanes: literalLanesOf(name),
      });
      byName.set(name, instruction);
      byOpcode.set(opcode, instruction);
    }
  }
}

function lanesNamed(name: string): number {
  const shape = name.split(".")[0] as LaneShape;
  return LANES[shape]?.count ?? 0;
}

/** A conversion's operand has the lanes named last (`f32x4.convert_i32x4_s`), every other instruction's those named first. */
function literalLanesOf(name: string): LaneShape | undefined {
  return name.match(/[if]\d+x\d+/g)?.at(-1) as LaneShape | undefined;
}

addTable(SCALAR, "pure", "none");
addTable(VECTOR, "pure", "none");
addTable(RELAXED, "pure", "none");
addTable(LANE, "pure", "lane");
addTable(SHUFFLE, "pure", "lanes");
addTable(LOAD, "load", "access");
addTable(STORE, "effect", "access");
addTable(LANE_LOAD, "load", "access lane");
addTable(LANE_STORE, "effect", "access lane");
addTable(ATOMIC, "effect", "access", true);
addTable(BULK, "effect", "zeros");

export const INSTRUCTIONS: ReadonlyMap<string, Instruction> = byName;

const byParts = new Map<string, Map<string, Map<string, Instruction>>>();

/** The instruction whose name is put together of three parts, as "i32", "lt" and "_u". Putting texts together is slow. */
export function instructionOfParts(type: string, name: string, ending: string): Instruction | undefined {
  const known = byParts.get(type)?.get(name)?.get(ending);
  if (known) return known;
  const found = byName.get(`${type}.${name}${ending}`);
  if (!found) return undefined;
  const names = byParts.get(type) ?? new Map<string, Map<string, Instruction>>();
  byParts.set(type, names);
  names.set(name, (names.get(name) ?? new Map<string, Instruction>()).set(ending, found));
  return found;
}

/** The prefix of an opcode, null where it has none, and what follows it. */
export function opcodeParts(opcode: number): readonly [prefix: number | null, rest: number] {
  if (opcode <= 0xff) return [null, opcode];
  return opcode <= 0xffff ? [opcode >> 8, opcode & 0xff] : [opcode >> 12, opcode & 0xfff];
}

export const opcodeOf = (prefix: number, rest: number): number => (prefix << (rest > 0xff ? 12 : 8)) + rest;

export const INSTRUCTION_BY_OPCODE: ReadonlyMap<number, Instruction> = byOpcode;

/** The number of lanes of `load16_lane` and its like; for other lane instructions their extent. */
export function laneCount({ immediates, extent }: Instruction): number {
  return immediates === "access lane" ? 16 / extent : extent;
}

/** `select` by the type it chooses between; one opcode serves all of them. */
export const SELECT: { readonly [type in ValueType]: Instruction } = {
  i32: selectOf("i32"),
  i64: selectOf("i64"),
  f32: selectOf("f32"),
  f64: selectOf("f64"),
  v128: selectOf("v128"),
};

function selectOf(type: ValueType): Instruction {
  return instructionOf({
    name: "select",
    opcode: 0x1b,
    parameters: [type, type, "i32"],
    result: type,
    effect: "pure",
    immediates: "none",
    extent: 0,
    isAtomic: false,
    literalLanes: undefined,
  });
}
