/**
 * The loop-nest language. The lowering, the tiles and the routines write it; both emitters read it.
 *
 * A kernel runs its body once per row, for rows 0 … rows - 1, all in parallel. A row is worked on by `lanes` lanes: one
 * thread, or a whole workgroup that shares the loops marked as lane loops and combines its accumulators with
 * `combineLanes`. The body is straight-line code, counted loops with accumulators, and stores; a value is computed once, in
 * the outermost region where its operands exist, which hoists loop-invariant code and merges common subexpressions.
 *
 * Values have seven types. Memory has more: a load widens (i8 → i32, f16 → f32 …), a store narrows, floats to nearest even.
 * Indices are i32, or i64 where their range needs it; the row is i64 in kernels of more than 2^31 rows.
 *
 * Most values are pure: they may be computed elsewhere than where the code asks for them. Four things happen in the order
 * they are written: stores, reads of buffers that the kernel also writes, accesses to arrays, and barriers.
 *
 * Further rules for emitters:
 *
 * - A gated store or atomic happens only where its gate is true; its index may be invalid elsewhere.
 * - An atomic changes one element indivisibly with respect to the other atomics of the kernel, in no particular order,
 *   and returns nothing. Its buffer is of i32, u32, i64, u64, f32 or f64; integers wrap, float min and max let NaN win.
 *   A kernel that updates a buffer atomically neither loads from it nor stores to it. A target that runs rows one after
 *   another may load, combine and store.
 * - `ticket` is an atomic addition of 1 to an element of u32 that gives one lane of the row the number before, and then all of
 *   them. `observe` reads an element of u32 that rows update atomically meanwhile: it sees one of the updates, and whoever
 *   looks again and again sees the last in the end. Neither orders other accesses. Only targets that run many rows at once
 *   get kernels with these two, and no kernel may count on another row's progress (routines/look-back.ts).
 * - `count` adds to one element of an array of integers, indivisibly with respect to the other lanes.
 * - `matchLanes` gives each lane a word with a bit for every lane of its subgroup, of 32 lanes at most, whose value has the
 *   same low bits as its own; the number of these bits is the attribute. All lanes of the subgroup execute it together.
 *   Only targets whose profile names the size of subgroups get kernels with it. `popCount` counts the bits of a u32.
 * - `combineLanes` with a second operand, a constant power of two, combines groups of so many neighbours.
 * - `fromLane` gives each lane the value another lane of its row has at this point. Like `combineLanes`, it is allowed only
 *   where all lanes of the row execute it together, and never in a kernel of one lane.
 * - A loop with `exit` ends after the round in which that value is true; its results are the accumulators of that round.
 *   It is never a lane loop. It may contain operations of all lanes only if they all leave it in the same round.
 * - An array belongs to a row and is shared by its lanes, or to each lane if it is private; when the row begins its
 *   contents are undefined. The index of the first of several neighbours accessed at once is a multiple of their number.
 * - A lane sees the writes of other lanes, to arrays and to buffers, after a barrier. All lanes of its scope, the row or
 *   the subgroup, must reach a barrier together.
 * - `load` is for buffers that the kernel does not write, `read` for those it does.
 * - Code inside a branch stays inside it: it may be costly, or fail, where the condition does not hold. Operations of all
 *   lanes may stand in a branch only if the condition is the same for all of them.
 * - A fragment is a small matrix in the registers of a subgroup: `subgroupSize` consecutive lanes that hold it together.
 *   Its statements are operations of all lanes of the subgroup; the index is the same for all of them. Only targets whose
 *   profile offers matrix units get kernels with fragments (tiles/matrix-product.ts).
 * - The lanes of a subgroup hold equal shares of a sum fragment. Which elements a lane holds is the device's choice, the same
 * for
 *   all fragments of one declaration; a kernel that must know loads a fragment whose elements say where they are.
 * - `anyLane` is whether a bool is true in any lane of the subgroup. `exp2` is the device's own: an error of 3 + 2|x| units in
 * the
 *   last place, 0 for denormal results. Both are for kernels with fragments alone.
 */
import type { DType } from "../../core/dtype.js";
import type { EncodedKernel } from "../../core/encoded-kernel.js";
import type { CombineOp } from "../../graph/reduction.js";

export type { CombineOp };

export type IRType = "bool" | "i32" | "u32" | "i64" | "u64" | "f32" | "f64";

const binaryOps = ["add", "sub", "mul", "div", "idiv", "irem", "min", "max", "and", "or", "xor", "shl", "shr"] as const;
const compareOps = ["eq", "ne", "lt", "le", "gt", "ge"] as const;
const unaryOps = ["neg", "abs", "floor", "ceil", "trunc", "roundEven", "sqrt", "not", "popCount"] as const;

export type BinaryOp = (typeof binaryOps)[number];
export type CompareOp = (typeof compareOps)[number];
export type UnaryOp = (typeof unaryOps)[number];

/** Whether an operation is one of a kind. Emitters write each kind in one place. */
const among = <T extends IROp>(ops: readonly T[]): ((op: IROp) => op is T) => {
  const names = new Set<IROp>(ops);
  return (op): op is T => names.has(op);
};
export const isBinaryOp = among(binaryOps);
export const isCompareOp = among(compareOps);
export const isUnaryOp = among(unaryOps);

export type IROp =
  | BinaryOp
  | CompareOp
  | UnaryOp
  | "constant"
  | "row"
  | "lane"
  | "index"
  | "accumulator"
  | "result"
  | "select"
  | "convert"
  | "bitcast"
  | "highWord"
  | "lowWord"
  | "fromWords"
  | "signExtend"
  | "load"
  | "combineLanes"
  | "fromLane"
  | "matchLanes"
  | "mulAdd"
  | "packHalves"
  | "exp2"
  | "anyLane";

export interface Value {
  readonly id: number;
  readonly op: IROp;
  readonly type: IRType;
  readonly args: readonly Value[];
  /** A constant's value, a load's buffer, true for an index that matters only where the condition of its select holds, the width of a sign extension, the operation of a combination, the bits of a match. */
  readonly attribute: number | bigint | boolean | CombineOp | null;
  /** The number of regions around the place where it is computed. */
  readonly depth: number;
}

export interface Loop {
  readonly kind: "loop";
  readonly index: Value;
  readonly extent: number;
  /** Shared among the lanes of a row: lane l runs the rounds l, l + lanes, … */
  readonly isLaneLoop: boolean;
  readonly accumulators: readonly {
    readonly value: Value;
    readonly initial: Value;
    next: Value;
    readonly result: Value;
  }[];
  readonly body: Statement[];
  /** Ends the loop after a round in which it is true. */
  readonly exit: Value | null;
  /**
   * How the accumulators of two parts of the rounds become those of all of them, where that is not one operation for each. An accumulator
   * begins with a value that changes nothing then.
   */
  readonly merge: Merge | null;
}

/** Statements that make the values of all accumulators of a loop from those of two parts of its rounds. */
export interface Merge {
  readonly first: readonly Value[];
  readonly second: readonly Value[];
  readonly body: readonly Statement[];
  readonly merged: readonly Value[];
}

export interface Branch {
  readonly kind: "branch";
  readonly condition: Value;
  readonly whenTrue: readonly Statement[];
  readonly whenFalse: readonly Statement[];
  /** Its results, by the side that was taken. */
  readonly results: readonly { readonly value: Value; readonly whenTrue: Value; readonly whenFalse: Value }[];
}

export type Statement =
  | { readonly kind: "let"; readonly value: Value }
  | Loop
  | Branch
  | { readonly kind: "barrier"; readonly scope: "row" | "subgroup" }
  | {
      /** Reads neighbours, in order with the writes around it. */
      readonly kind: "read";
      readonly from: "buffer" | "array";
      readonly memory: number;
      readonly index: Value;
      readonly results: readonly Value[];
    }
  | {
      /** Reads the 16 bytes that begin at an element, a multiple of as many, as words. The kernel does not write the buffer. */
      readonly kind: "loadWords";
      readonly buffer: number;
      readonly index: Value;
      readonly results: readonly Value[];
    }
  | FragmentStatement
  | {
      /** Writes neighbours in an array. */
      readonly kind: "write";
      readonly array: number;
      readonly index: Value;
      readonly values: readonly Value[];
      readonly gate: Value | null;
    }
  | {
      /** Adds to an element of an array, atomically among the lanes. */
      readonly kind: "count";
      readonly array: number;
      readonly index: Value;
      readonly value: Value;
      readonly gate: Value | null;
    }
  | {
      readonly kind: "store";
      readonly buffer: number;
      readonly index: Value;
      readonly value: Value;
      readonly isOnce: boolean;
      readonly gate: Value | null;
      /** The value is a number of the buffer's dtype already: a target need not round it. */
      readonly isRounded?: boolean;
    }
  | {
      /** Reads an element of u32 that rows update atomically. */
      readonly kind: "observe";
      readonly buffer: number;
      readonly index: Value;
      readonly result: Value;
    }
  | {
      /** Adds 1 to an element of u32, once for the row; the result is what it was before, as i32. */
      readonly kind: "ticket";
      readonly buffer: number;
      readonly index: Value;
      readonly result: Value;
    }
  | {
      readonly kind: "atomic";
      readonly op: CombineOp;
      readonly buffer: number;
      readonly index: Value;
      readonly value: Value;
      readonly gate: Value | null;
    };

/** Statements about fragments, which they name by their number in the kernel. */
export type FragmentStatement =
  | { readonly kind: "fillFragment"; readonly fragment: number; readonly value: number }
  | ({ readonly kind: "loadFragment" | "storeFragment"; readonly fragment: number } & FragmentPlace)
  | {
      /** sum += left × right */
      readonly kind: "multiplyFragments";
      readonly left: number;
      readonly right: number;
      readonly sum: number;
    }
  | {
      /** to += from */
      readonly kind: "addFragments";
      readonly to: number;
      readonly from: number;
    }
  | {
      /** The elements of a sum fragment that each lane holds. */
      readonly kind: "getElements";
      readonly fragment: number;
      readonly results: readonly Value[];
    }
  | {
      /** Changes the elements that each lane holds. */
      readonly kind: "setElements";
      readonly fragment: number;
      readonly values: readonly Value[];
    };

/** The place of a fragment in an array of words. Index and pitch, from line to line, count words: multiples of four. */
export interface FragmentPlace {
  readonly array: number;
  readonly index: Value;
  readonly pitch: number;
  /** Lines are the columns of the matrix; else they are its rows. */
  readonly isByColumns: boolean;
}

export interface FragmentDeclaration {
  /** The left or the right operand of a product, or a sum of products. */
  readonly use: "left" | "right" | "sum";
  readonly dtype: "f16" | "bf16" | "i8" | "u8" | "f32" | "i32";
  readonly rows: number;
  readonly columns: number;
  /** The kernel relies on lanes that hold pairs of neighbours (FragmentShape.pairs in target/tile-profile.ts). */
  readonly pairs?: boolean;
}

export interface BufferParameter {
  readonly dtype: DType;
  readonly isWritten: boolean;
  /** It has more than 2^32 bytes. */
  readonly isLarge: boolean;
  /** Its address may be any; other buffers begin at a multiple of 16 bytes. */
  readonly isUnaligned?: boolean;
}

export interface ArrayDeclaration {
  readonly type: IRType;
  readonly size: number;
  /** Every lane has its own. */
  readonly isPrivate?: boolean;
}

export interface Kernel {
  readonly name: string;
  readonly rows: number;
  readonly lanes: number;
  readonly buffers: readonly BufferParameter[];
  readonly arrays: readonly ArrayDeclaration[];
  readonly fragments?: readonly FragmentDeclaration[];
  /** Lanes of a subgroup, where the kernel has fragments or matches lanes; the lanes of a row are a multiple. */
  readonly subgroupSize?: number;
  readonly body: readonly Statement[];
  /** Number of statements, a measure of its size. */
  readonly size: number;
  /** Some elements are stored by several rows, with the same value. Such a kernel must not load from buffers it stores to. */
  readonly isRepeating: boolean;
  /** It runs only if the first element of this buffer, of i32, is this value. */
  readonly gate?: { readonly buffer: number; readonly value: number };
}

/** A kernel as engines and printers see it. The body is null for a kernel whose code was read from a file. */
export type KernelOutline = Omit<Kernel, "body"> & { readonly body: Kernel["body"] | null };

/**
 * A kernel whose code is written for one target alone, with instructions that the language above does not have. A target's
 * own routines make such kernels (target/target.ts); the other targets never see them.
 */
export interface NativeKernel extends KernelOutline {
  readonly body: null;
  /** Writes the code. It must honour the kernel's gate and the buffers that are reached indirectly. */
  encode(kernel: KernelOutline, isIndirect: readonly boolean[] | null): EncodedKernel;
}

export const isWhole = (kernel: KernelOutline | NativeKernel): kernel is Kernel => kernel.body !== null;

/** The largest number an i32 holds. */
export const MAX_I32 = 2 ** 31 - 1;

/** The lists of statements inside a statement. */
export function innerLists(statement: Statement): readonly (readonly Statement[])[] {
  if (statement.kind === "loop") return [statement.body];
  return statement.kind === "branch" ? [statement.whenTrue, statement.whenFalse] : [];
}

/** Visits every statement, those inside others included. */
export function walkStatements(statements: readonly Statement[], visit: (statement: Statement) => void): void {
  for (const statement of statements) {
    visit(statement);
    for (const list of innerLists(statement)) walkStatements(list, visit);
  }
}

/** The values that a statement itself uses, without those of the statements inside it. */
export function usedBy(statement: Statement): Value[] {
  const given = (...values: readonly (Value | null)[]): Value[] => values.filter((value) => value !== null);
  switch (statement.kind) {
    case "let":
      return [...statement.value.args];
    case "loop":
      return given(...statement.accumulators.flatMap(({ initial, next }) => [initial, next]), statement.exit);
    case "branch":
      return given(
        statement.condition,
        ...statement.results.flatMap(({ whenTrue, whenFalse }) => [whenTrue, whenFalse]),
      );
    case "store":
    case "atomic":
    case "count":
      return given(statement.index, statement.value, statement.gate);
    case "write":
      return given(statement.index, ...statement.values, statement.gate);
    case "read":
    case "observe":
    case "ticket":
    case "loadWords":
    case "loadFragment":
    case "storeFragment":
      return [statement.index];
    case "barrier":
    case "fillFragment":
    case "multiplyFragments":
    case "addFragments":
    case "getElements":
      return [];
    case "setElements":
      return [...statement.values];
  }
}

/** Statements without unused values: some functions compute more than every caller needs. */
function withoutUnused(statements: readonly Statement[], used: Set<number>): Statement[] {
  const remaining: Statement[] = [];
  for (let i = statements.length - 1; i >= 0; i--) {
    const statement = statements[i] as Statement;
    if (statement.kind === "let" && !used.has(statement.value.id)) continue;
    for (const { id } of usedBy(statement)) used.add(id);
    if (statement.kind === "loop") remaining.push({ ...statement, body: withoutUnused(statement.body, used) });
    else if (statement.kind === "branch") {
      const [whenTrue, whenFalse] = [statement.whenTrue, statement.whenFalse].map((side) => withoutUnused(side, used));
      remaining.push({ ...statement, whenTrue, whenFalse });
    } else remaining.push(statement);
  }
  return remaining.reverse();
}

/** A kernel of these statements, without unused values. */
export function withBody(kernel: Omit<Kernel, "body" | "size">, statements: readonly Statement[]): Kernel {
  const body = withoutUnused(statements, new Set());
  let size = 0;
  walkStatements(body, () => {
    size++;
  });
  return { ...kernel, body, size };
}
