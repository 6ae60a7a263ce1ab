/**
 * The recording of a function: nodes in the order they were written, each an instruction, a constant, a use of a local or a
 * mark of control flow. Nodes with a type are the `Value`s that callers hold.
 *
 * WebAssembly is a stack machine, and a value has no name there. Whether a node's result is computed where it is used, or
 * earlier and kept in a local, is only known once all its uses are; so nothing is encoded until the function is complete
 * (placement.ts decides, body.ts writes).
 *
 * Values obey lexical scope: a value made inside a branch or a loop body ends with it. A use outside is refused at once.
 */
import type { FunctionHandle, Global } from "./handles.js";
import type { InstructionStep } from "./instructions.js";
import type { Literal, ValueType } from "./types.js";

/** A loop, to decide whether two nodes run equally often. The function's body counts as the outermost. */
export interface Loop {
  readonly parent: Loop | null;
  /** Locals that must stay untouched until the loop ends; filled by the writer. */
  readonly busyLocals: { readonly type: ValueType; readonly slot: number }[];
}

/** A part of the code: the function's body, a branch, or the body of a loop. */
export interface Scope {
  isOpen: boolean;
  readonly owner: object;
  readonly loop: Loop;
  /** Locals that end with the scope. */
  readonly locals: Local[];
}

/** Something writable: memory, a global, a variable. Holds the positions of the writes. */
export interface Written {
  readonly writes: number[];
}

/** A local with a fixed owner: a parameter, a variable, the state of a loop, the result of a branch. */
export interface Local extends Written {
  readonly type: ValueType;
  /** Index of the local; -1 until the writer has chosen one. */
  slot: number;
}

/** A block, loop or if of the encoding. Labels nobody jumps to are not written. */
export interface Construct {
  readonly kind: "block" | "loop" | "if";
  isTargeted: boolean;
}

/** The kinds of nodes. */
export type Step =
  | InstructionStep
  | { readonly kind: "constant"; readonly value: number | bigint | Uint8Array }
  /** A local that does not change while the value is in scope. */
  | { readonly kind: "local"; readonly local: Local }
  | { readonly kind: "get"; readonly local: Local }
  | { readonly kind: "globalGet"; readonly global: Global }
  /** Writes all locals at once: the operands are computed before the first is written. */
  | { readonly kind: "set"; readonly locals: Local[] }
  | { readonly kind: "globalSet"; readonly global: Global }
  | { readonly kind: "call"; readonly callee: FunctionHandle; readonly locals: readonly Local[] }
  | { readonly kind: "enter"; readonly construct: Construct; readonly loop?: Loop }
  | { readonly kind: "else"; readonly construct: Construct; readonly closes: Scope }
  | { readonly kind: "end"; readonly construct: Construct; readonly closes?: Scope; readonly loop?: Loop }
  | { readonly kind: "branch"; readonly target: Construct }
  | { readonly kind: "branchIf"; readonly target: Construct }
  | { readonly kind: "branchTable"; readonly targets: readonly Construct[]; readonly otherwise: Construct }
  | { readonly kind: "return" }
  | { readonly kind: "unreachable" }
  /** The results of a function that ends by running to its end. */
  | { readonly kind: "finish" };

export class Node<T extends ValueType | "none" = ValueType | "none"> {
  constructor(
    readonly type: T,
    /** @internal */
    readonly step: Step,
    /** @internal */
    readonly operands: readonly Node[],
    /** @internal */
    readonly scope: Scope,
    /** @internal Position among the nodes of the function; -1 for scalar constants and locals, from -2 downwards for vector constants. */
    readonly index: number,
    /** @internal The memory or variable that must not be written between here and the use. */
    readonly reads: Written | null,
  ) {}

  toString(): string {
    const { step } = this;
    const what = step.kind === "instruction" ? step.instruction.name : step.kind;
    return `${this.type} from ${what}`;
  }
}

/** A typed value; placement.ts decides how it gets onto the stack. */
export type Value<T extends ValueType = ValueType> = Node<T>;

/** A value, or a literal that takes the type of the place it stands in. */
export type Operand<T extends ValueType = ValueType> = Value<T> | Literal;

/** How deep two values are compared: an element's address takes three instructions. */
const COMPARED = 4;

/**
 * Whether the same instructions make both, of the same values: they are equal, unless something that a load reads is written in between.
 */
export function areMadeAlike(a: Node, b: Node, depth = COMPARED): boolean {
  if (a === b) return true;
  const [one, other] = [a.step, b.step];
  if (one.kind === "constant" && other.kind === "constant")
    return a.type === b.type && Object.is(one.value, other.value);
  if (depth === 0 || one.kind !== "instruction" || other.kind !== "instruction") return false;
  const { instruction, access, lanes } = one;
  if (instruction !== other.instruction || instruction.effect === "effect") return false;
  if (lanes || other.lanes || access?.offset !== other.access?.offset) return false;
  return a.operands.every((operand, i) => areMadeAlike(operand, b.operands[i] as Node, depth - 1));
}

export function newLocal(type: ValueType): Local {
  return { type, slot: -1, writes: [] };
}

/** True when something was written after position `from` and before position `to`. */
export function isWrittenBetween({ writes }: Written, from: number, to: number): boolean {
  let [low, high] = [0, writes.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((writes[middle] as number) <= from) low = middle + 1;
    else high = middle;
  }
  return low < writes.length && (writes[low] as number) < to;
}
