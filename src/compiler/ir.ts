/**
 * The loop-nest language: what the scheduler writes and both emitters read.
 *
 * A kernel runs its body once per row, for rows 0 … rows - 1, all in parallel. A row is worked on by `lanes` lanes: one
 * thread, or a whole workgroup that shares the loops marked as lane loops and combines its accumulators with
 * `combineLanes`. The body is straight-line code, counted loops with accumulators, and stores; a value is computed once,
 * in the outermost place where its operands exist, so loop-invariant code and common subexpressions take care of
 * themselves.
 *
 * Values have seven types. Memory has more: a load widens (i8 → i32, f16 → f32 …), a store narrows. Indices are i32, or
 * i64 where they count further; so is the row where there are more than 2^31.
 *
 * Most values are pure, and where the code stands that asks for one says nothing about where it is computed. Four things
 * happen in the order they are written: stores, reads of what a kernel itself writes, accesses to arrays, and barriers.
 *
 * What emitters must know beyond that:
 *
 * - A gated store or atomic happens only where its gate is true; its index may be invalid elsewhere.
 * - An atomic changes one element indivisibly with respect to the other atomics of the kernel, in no particular order,
 *   and returns nothing. Its buffer is of i32, u32, i64, u64, f32 or f64; integers wrap, float min and max let NaN win.
 *   A kernel that updates a buffer atomically neither loads from it nor stores to it. A target that runs rows one after
 *   another may load, combine and store.
 * - `count` adds to one element of an array of integers, indivisibly with respect to the other lanes.
 * - `fromLane` gives each lane the value another lane of its row has at this point. It stands, like `combineLanes`, only
 *   where all lanes of the row come by together, and not at all in a kernel of one lane.
 * - A loop with `exit` ends after the round in which that value is true; accumulators leave with that round's values.
 *   Such a loop is no lane loop. It may hold what all lanes do together only if they all leave it in the same round.
 * - An array belongs to a row and is shared by its lanes, or to each lane if it is private; when the row begins its
 *   contents are undefined. Of several neighbours that are accessed at once the first has an index that is a multiple of their number.
 * - A lane sees what other lanes have written, to arrays and to buffers, after a barrier. A barrier is something all lanes
 *   do together.
 * - `load` is for buffers that the kernel does not write, `read` for those it does.
 * - What is computed inside a branch stays inside it: it may be costly, or fail, where the condition does not hold. What
 *   all lanes do together stands in a branch only if the condition is the same for all of them.
 */
import type { DType } from "../core/dtype.js";
import { ArgumentError } from "../core/errors.js";

export type IRType = "bool" | "i32" | "u32" | "i64" | "u64" | "f32" | "f64";

export const binaryOps = [
  "add",
  "sub",
  "mul",
  "div",
  "idiv",
  "irem",
  "min",
  "max",
  "and",
  "or",
  "xor",
  "shl",
  "shr",
] as const;
export const compareOps = ["eq", "ne", "lt", "le", "gt", "ge"] as const;
export const unaryOps = ["neg", "abs", "floor", "ceil", "trunc", "roundEven", "sqrt", "not"] as const;

export type BinaryOp = (typeof binaryOps)[number];
export type CompareOp = (typeof compareOps)[number];
export type UnaryOp = (typeof unaryOps)[number];
export type CombineOp = "add" | "mul" | "min" | "max" | "and" | "or";
export type AtomicOp = "add" | "mul" | "min" | "max";

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
  | "mulAdd";

export interface Value {
  readonly id: number;
  readonly op: IROp;
  readonly type: IRType;
  readonly args: readonly Value[];
  /** A constant's value, a load's buffer, the width of a sign extension, the operation of a combination. */
  readonly attribute: number | bigint | boolean | CombineOp | null;
  /** How many regions enclose the place where it is computed. */
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
}

export interface Branch {
  readonly kind: "branch";
  readonly condition: Value;
  readonly whenTrue: readonly Statement[];
  readonly whenFalse: readonly Statement[];
  /** What comes out of it, by the side that was taken. */
  readonly results: readonly { readonly value: Value; readonly whenTrue: Value; readonly whenFalse: Value }[];
}

export type Statement =
  | { readonly kind: "let"; readonly value: Value }
  | Loop
  | Branch
  | { readonly kind: "barrier" }
  | {
      /** Neighbours, in the order of what is written around it. */
      readonly kind: "read";
      readonly from: "buffer" | "array";
      readonly memory: number;
      readonly index: Value;
      readonly results: readonly Value[];
    }
  | {
      /** Neighbours in an array. */
      readonly kind: "write";
      readonly array: number;
      readonly index: Value;
      readonly values: readonly Value[];
      readonly gate: Value | null;
    }
  | {
      /** An element of an array is added to, whichever lanes add to it. */
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
    }
  | {
      readonly kind: "atomic";
      readonly op: AtomicOp;
      readonly buffer: number;
      readonly index: Value;
      readonly value: Value;
      readonly gate: Value | null;
    };

export interface BufferParameter {
  readonly dtype: DType;
  readonly isWritten: boolean;
  /** It has more bytes than 32 bits count. */
  readonly isLarge: boolean;
  /** It may begin anywhere, not at a multiple of 16 bytes as others do. */
  readonly isUnaligned?: boolean;
}

export interface ArrayDeclaration {
  readonly type: IRType;
  readonly size: number;
  /** Every lane has one of its own. */
  readonly isPrivate?: boolean;
}

export interface Kernel {
  readonly name: string;
  readonly rows: number;
  readonly lanes: number;
  readonly buffers: readonly BufferParameter[];
  readonly arrays: readonly ArrayDeclaration[];
  readonly body: readonly Statement[];
  /** Number of statements, a measure of its size. */
  readonly size: number;
  /** Some elements are stored by several rows, each to the same value. What it stores must not be what it loads. */
  readonly isRepeating: boolean;
  /** It does nothing unless the first element of this buffer, of i32, is this value. */
  readonly gate?: { readonly buffer: number; readonly value: number };
}

/** A kernel as those who run it know it. What it computes is not known of one whose code was read from a file. */
export type KernelOutline = Omit<Kernel, "body"> & { readonly body: Kernel["body"] | null };

export const isWhole = (kernel: KernelOutline): kernel is Kernel => kernel.body !== null;

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

/** The values a statement needs itself, not counting what the statements inside it do. */
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
      return [statement.index];
    case "barrier":
      return [];
  }
}

/** Statements without the values that nothing needs: some functions compute more than every caller wants. */
function withoutUnused(statements: readonly Statement[], used: Set<number>): Statement[] {
  const kept: Statement[] = [];
  for (let i = statements.length - 1; i >= 0; i--) {
    const statement = statements[i] as Statement;
    if (statement.kind === "let" && !used.has(statement.value.id)) continue;
    for (const { id } of usedBy(statement)) used.add(id);
    if (statement.kind === "loop") kept.push({ ...statement, body: withoutUnused(statement.body, used) });
    else if (statement.kind === "branch") {
      const [whenTrue, whenFalse] = [statement.whenTrue, statement.whenFalse].map((side) => withoutUnused(side, used));
      kept.push({ ...statement, whenTrue, whenFalse });
    } else kept.push(statement);
  }
  return kept.reverse();
}

/** A kernel of these statements, or of those among them that do anything. */
export function withBody(kernel: Omit<Kernel, "body" | "size">, statements: readonly Statement[]): Kernel {
  const body = withoutUnused(statements, new Set());
  let size = 0;
  walkStatements(body, () => {
    size++;
  });
  return { ...kernel, body, size };
}

interface Region {
  readonly statements: Statement[];
  /** Values computed here, by what they are. */
  readonly known: Map<string, Value>;
}

/** The largest number an i32 holds. */
export const MAX_I32 = 2 ** 31 - 1;

const isInteger = (type: IRType): boolean => type !== "bool" && type !== "f32" && type !== "f64";

/** Writes one kernel. Its methods are the operations of the language. */
export class KernelBuilder {
  private nextId = 0;
  private readonly regions: Region[] = [{ statements: [], known: new Map() }];
  /** The depth that values do not rise above: that of the innermost open branch. */
  private floor = 0;
  private readonly buffers: BufferParameter[] = [];
  private readonly arrays: ArrayDeclaration[] = [];
  /** Whether rows store elements of one another, too. */
  isRepeating = false;
  readonly row: Value;
  readonly lane: Value;

  constructor(
    readonly name: string,
    readonly rows: number,
    readonly lanes = 1,
  ) {
    this.row = this.make("row", rows > MAX_I32 ? "i64" : "i32", [], null);
    this.lane = this.make("lane", "i32", [], null);
  }

  /** How many loops and branches are open. */
  get depth(): number {
    return this.regions.length - 1;
  }

  finish(): Kernel {
    if (this.regions.length !== 1) throw new Error("KernelBuilder: a loop is still open");
    const { name, rows, lanes, buffers, arrays, isRepeating } = this;
    return withBody({ name, rows, lanes, buffers, arrays, isRepeating }, (this.regions[0] as Region).statements);
  }

  // ------------------------------------------------------------------------------------------------ memory

  buffer(dtype: DType, isWritten: boolean, isLarge = false): number {
    this.buffers.push({ dtype, isWritten, isLarge });
    return this.buffers.length - 1;
  }

  /** Reads an element, widened. The address must be valid wherever the operands are known. */
  load(buffer: number, index: Value, type: IRType): Value {
    return this.make("load", type, [index], buffer);
  }

  /** Writes an element, narrowed. `isOnce`: the same for all lanes, so that one of them writes it. */
  store(buffer: number, index: Value, value: Value, isOnce = this.lanes === 1, gate: Value | null = null): void {
    this.region().statements.push({ kind: "store", buffer, index, value, isOnce, gate });
  }

  /** buffer[index] = op(buffer[index], value), indivisibly; each lane does it for itself. */
  atomic(op: AtomicOp, buffer: number, index: Value, value: Value, gate: Value | null = null): void {
    this.region().statements.push({ kind: "atomic", op, buffer, index, value, gate });
  }

  /** Reads an element, widened, of a buffer that the kernel writes, too. */
  read(buffer: number, index: Value, type: IRType): Value {
    return this.readNeighbours("buffer", buffer, index, type, 1)[0] as Value;
  }

  /** Memory of the row, shared by its lanes unless it is private. */
  array(type: IRType, size: number, isPrivate = false): number {
    if (!Number.isInteger(size) || size < 1) throw new ArgumentError(`array: ${size} elements; give 1 or more`);
    this.arrays.push({ type, size, isPrivate });
    return this.arrays.length - 1;
  }

  get(array: number, index: Value): Value {
    return this.getMany(array, index, 1)[0] as Value;
  }

  set(array: number, index: Value, value: Value, gate: Value | null = null): void {
    this.setMany(array, index, [value], gate);
  }

  /** Neighbours at once, from an index that is a multiple of their number. */
  getMany(array: number, index: Value, count: number): Value[] {
    return this.readNeighbours("array", array, index, this.arrayType(array), count);
  }

  setMany(array: number, index: Value, values: readonly Value[], gate: Value | null = null): void {
    const type = this.arrayType(array);
    for (const value of values) {
      if (value.type !== type) throw new ArgumentError(`set: a value of ${value.type} in an array of ${type}`);
    }
    this.region().statements.push({ kind: "write", array, index, values, gate });
  }

  /** array[index] += value, indivisibly; each lane does it for itself. The array is of i32. */
  count(array: number, index: Value, value: Value, gate: Value | null = null): void {
    if (this.arrayType(array) !== "i32" || value.type !== "i32") {
      throw new ArgumentError(`count: ${value.type} in an array of ${this.arrayType(array)}; both must be i32`);
    }
    this.region().statements.push({ kind: "count", array, index, value, gate });
  }

  /** Lanes wait for each other; each then sees what the others wrote before. */
  barrier(): void {
    if (this.lanes > 1) this.region().statements.push({ kind: "barrier" });
  }

  // ------------------------------------------------------------------------------------------------ control flow

  /** Runs the body for 0 … extent - 1. Accumulators are carried from round to round; their last values are returned. */
  loop(
    extent: number,
    initial: readonly Value[],
    body: (index: Value, accumulators: readonly Value[]) => readonly Value[],
    options: {
      readonly isLaneLoop?: boolean;
      /** From the values a round ends with: whether it was the last. */
      readonly exitWhen?: (next: readonly Value[]) => Value;
    } = {},
  ): Value[] {
    const parent = this.region();
    const region: Region = { statements: [], known: new Map() };
    const depth = this.regions.length;
    this.regions.push(region);
    const index = this.fresh("index", "i32", depth);
    const accumulators = initial.map((value) => ({
      value: this.fresh("accumulator", value.type, depth),
      initial: value,
      next: value,
      result: this.fresh("result", value.type, depth - 1),
    }));
    const next = body(
      index,
      accumulators.map(({ value }) => value),
    );
    if (next.length !== initial.length) throw new Error("loop: the body must return one value per accumulator");
    accumulators.forEach((accumulator, i) => {
      accumulator.next = next[i] as Value;
    });
    const exit = options.exitWhen?.(next) ?? null;
    this.regions.pop();
    const isLaneLoop = options.isLaneLoop === true && this.lanes > 1;
    parent.statements.push({ kind: "loop", index, extent, isLaneLoop, accumulators, body: region.statements, exit });
    return accumulators.map(({ result }) => result);
  }

  /** Does one thing or another. Both sides return as many values; those of the side taken are returned. */
  when(condition: Value, whenTrue: () => readonly Value[], whenFalse: () => readonly Value[] = () => []): Value[] {
    if (condition.op === "constant") return [...(condition.attribute ? whenTrue() : whenFalse())];
    const [yes, no] = [this.side(whenTrue), this.side(whenFalse)];
    const types = (values: readonly Value[]) => values.map(({ type }) => type).join(", ");
    if (types(yes.values) !== types(no.values)) {
      throw new ArgumentError(`when: sides of (${types(yes.values)}) and (${types(no.values)})`);
    }
    const results = yes.values.map((value, i) => ({
      value: this.fresh("result", value.type, this.depth),
      whenTrue: value,
      whenFalse: no.values[i] as Value,
    }));
    const [a, b] = [yes.statements, no.statements];
    this.region().statements.push({ kind: "branch", condition, whenTrue: a, whenFalse: b, results });
    return results.map(({ value }) => value);
  }

  private side(write: () => readonly Value[]): { statements: Statement[]; values: readonly Value[] } {
    const region: Region = { statements: [], known: new Map() };
    const before = this.floor;
    this.floor = this.regions.length;
    this.regions.push(region);
    const values = write();
    this.regions.pop();
    this.floor = before;
    return { statements: region.statements, values };
  }

  /** Combines a value of each lane into one that all have. */
  combineLanes(op: CombineOp, value: Value): Value {
    if (this.lanes === 1) return value;
    return this.place("combineLanes", value.type, [value], op, this.regions.length - 1);
  }

  /** The value that another lane of the row has. `lane` must be one of them. */
  fromLane(value: Value, lane: Value): Value {
    if (this.lanes === 1) return value;
    return this.place("fromLane", value.type, [value, lane], null, this.regions.length - 1);
  }

  // ------------------------------------------------------------------------------------------------ values

  constant(type: IRType, value: number | bigint | boolean): Value {
    const wide = type === "i64" || type === "u64";
    const stored = type === "bool" ? Boolean(value) : wide ? BigInt(value) : Number(value);
    return this.make("constant", type, [], type === "f32" ? Math.fround(stored as number) : stored);
  }

  binary(op: BinaryOp, a: Value, b: Value): Value {
    if (a.type !== b.type && op !== "shl" && op !== "shr") {
      throw new ArgumentError(`${op}: operands of ${a.type} and ${b.type}`);
    }
    return this.foldInteger(op, a, b) ?? this.make(op, a.type, [a, b], null);
  }

  compare(op: CompareOp, a: Value, b: Value): Value {
    if (a.type !== b.type) throw new ArgumentError(`${op}: operands of ${a.type} and ${b.type}`);
    return this.make(op, "bool", [a, b], null);
  }

  unary(op: UnaryOp, x: Value): Value {
    return this.make(op, x.type, [x], null);
  }

  /** a·b + c, rounded once or twice, whichever the target does faster: for sums whose order is free anyway. */
  mulAdd(a: Value, b: Value, c: Value): Value {
    if (a.type !== b.type || a.type !== c.type) {
      throw new ArgumentError(`mulAdd: operands of ${a.type}, ${b.type} and ${c.type}`);
    }
    return this.make("mulAdd", a.type, [a, b, c], null);
  }

  select(condition: Value, whenTrue: Value, whenFalse: Value): Value {
    if (whenTrue.type !== whenFalse.type) {
      throw new ArgumentError(`select: sides of ${whenTrue.type} and ${whenFalse.type}`);
    }
    if (whenTrue === whenFalse) return whenTrue;
    if (condition.op === "constant") return condition.attribute ? whenTrue : whenFalse;
    return this.make("select", whenTrue.type, [condition, whenTrue, whenFalse], null);
  }

  convert(to: IRType, x: Value): Value {
    if (x.op === "constant" && x.type === "i32" && to === "i64")
      return this.constant("i64", BigInt(x.attribute as number));
    return x.type === to ? x : this.make("convert", to, [x], null);
  }

  bitcast(to: IRType, x: Value): Value {
    return x.type === to ? x : this.make("bitcast", to, [x], null);
  }

  /** Halves of an f64, and back. */
  word(which: "highWord" | "lowWord", x: Value): Value {
    return this.make(which, "u32", [x], null);
  }

  fromWords(high: Value, low: Value): Value {
    return this.make("fromWords", "f64", [high, low], null);
  }

  /** The low `bits` of an i32, sign-extended: how i8 and i16 arithmetic wraps. */
  signExtend(x: Value, bits: 8 | 16): Value {
    return this.make("signExtend", "i32", [x], bits);
  }

  // ------------------------------------------------------------------------------------------------ placement

  private region(): Region {
    return this.regions[this.regions.length - 1] as Region;
  }

  private fresh(op: IROp, type: IRType, depth: number): Value {
    return { id: this.nextId++, op, type, args: [], attribute: null, depth };
  }

  private arrayType(array: number): IRType {
    const declared = this.arrays[array];
    if (!declared) throw new ArgumentError(`there is no array ${array}`);
    return declared.type;
  }

  private readNeighbours(from: "buffer" | "array", memory: number, index: Value, type: IRType, count: number): Value[] {
    const results = Array.from({ length: count }, () => this.fresh("result", type, this.depth));
    this.region().statements.push({ kind: "read", from, memory, index, results });
    return results;
  }

  private make(op: IROp, type: IRType, args: readonly Value[], attribute: Value["attribute"]): Value {
    let depth = 0;
    for (const arg of args) if (arg.depth > depth) depth = arg.depth;
    return this.place(op, type, args, attribute, depth);
  }

  /**
   * The value, computed at the given depth, or as near to it as the open branches allow; the one there is when it was
   * computed before.
   */
  private place(op: IROp, type: IRType, args: readonly Value[], attribute: Value["attribute"], from: number): Value {
    let key = `${op}:${type}:${attributeKey(attribute)}`;
    for (const arg of args) key += `,${arg.id}`;
    const isFree = op === "constant" || op === "row" || op === "lane";
    const depth = isFree ? from : Math.max(from, this.floor);
    for (let i = from; i <= depth; i++) {
      const known = (this.regions[i] as Region).known.get(key);
      if (known) return known;
    }
    const region = this.regions[depth] as Region;
    const value: Value = { id: this.nextId++, op, type, args, attribute, depth };
    region.known.set(key, value);
    if (!isFree) region.statements.push({ kind: "let", value });
    return value;
  }

  /** Integer identities that index arithmetic leaves behind. */
  private foldInteger(op: BinaryOp, a: Value, b: Value): Value | null {
    if (!isInteger(a.type)) return null;
    const x = a.op === "constant" ? Number(a.attribute) : null;
    const y = b.op === "constant" ? Number(b.attribute) : null;
    if (op === "add" && x === 0) return b;
    if ((op === "add" || op === "sub") && y === 0) return a;
    if (op === "mul" && x === 1) return b;
    if ((op === "mul" || op === "idiv") && y === 1) return a;
    if (op === "mul" && (x === 0 || y === 0)) return this.constant(a.type, 0);
    if (x === null || y === null) return null;
    if (a.type === "i64") return this.foldWide(op, BigInt(a.attribute as bigint), BigInt(b.attribute as bigint));
    if (a.type !== "i32") return null;
    if (op === "add") return this.constant("i32", (x + y) | 0);
    if (op === "sub") return this.constant("i32", (x - y) | 0);
    if (op === "mul") return this.constant("i32", Math.imul(x, y));
    return null;
  }

  private foldWide(op: BinaryOp, x: bigint, y: bigint): Value | null {
    const result = op === "add" ? x + y : op === "sub" ? x - y : op === "mul" ? x * y : null;
    return result === null ? null : this.constant("i64", BigInt.asIntN(64, result));
  }
}

/** -0 and 0, and the many NaNs, are different constants. */
function attributeKey(attribute: Value["attribute"]): string {
  return Object.is(attribute, -0) ? "-0" : String(attribute);
}

// -------------------------------------------------------------------------------------------------- for people

/** The kernel as text, for `explain` and `PUMICE_DEBUG`. */
export function printKernel(kernel: KernelOutline): string {
  const lines = [`kernel ${kernel.name}: ${kernel.rows} rows × ${kernel.lanes} lanes`];
  kernel.buffers.forEach(({ dtype, isWritten }, i) => {
    lines.push(`  b${i}: ${dtype}${isWritten ? ", written" : ""}`);
  });
  kernel.arrays.forEach(({ type, size }, i) => {
    lines.push(`  a${i}: ${type}[${size}]`);
  });
  if (kernel.gate) lines.push(`  only if b${kernel.gate.buffer}[0] is ${kernel.gate.value}`);
  const name = (value: Value): string =>
    value.op === "constant"
      ? String(value.attribute)
      : value.op === "row" || value.op === "lane"
        ? value.op
        : `%${value.id}`;
  const print = (statements: readonly Statement[], indent: string) => {
    for (const statement of statements) {
      switch (statement.kind) {
        case "let": {
          const { value } = statement;
          const args = value.args.map(name).join(", ");
          const head = value.op === "load" ? `load b${value.attribute}[${args}]` : `${value.op} ${args}`;
          const tail = value.op === "combineLanes" || value.op === "signExtend" ? ` (${value.attribute})` : "";
          lines.push(`${indent}%${value.id}: ${value.type} = ${head}${tail}`);
          break;
        }
        case "loop": {
          const carried = statement.accumulators
            .map(({ value, initial }) => `%${value.id} = ${name(initial)}`)
            .join(", ");
          const how = statement.isLaneLoop ? "lane loop" : "loop";
          lines.push(
            `${indent}${how} %${statement.index.id} < ${statement.extent}${carried ? ` with ${carried}` : ""}`,
          );
          print(statement.body, `${indent}  `);
          for (const { next, result } of statement.accumulators)
            lines.push(`${indent}  → ${name(next)} as %${result.id}`);
          if (statement.exit) lines.push(`${indent}  exit if ${name(statement.exit)}`);
          break;
        }
        case "branch": {
          lines.push(`${indent}if ${name(statement.condition)}`);
          print(statement.whenTrue, `${indent}  `);
          if (statement.whenFalse.length > 0) {
            lines.push(`${indent}else`);
            print(statement.whenFalse, `${indent}  `);
          }
          for (const { value, whenTrue, whenFalse } of statement.results) {
            lines.push(`${indent}→ ${name(whenTrue)} or ${name(whenFalse)} as %${value.id}`);
          }
          break;
        }
        case "barrier":
          lines.push(`${indent}barrier`);
          break;
        case "read": {
          const { from, memory, index, results } = statement;
          const to = results.map(({ id, type }) => `%${id}: ${type}`).join(", ");
          lines.push(`${indent}${to} = read ${from === "buffer" ? "b" : "a"}${memory}[${name(index)}]`);
          break;
        }
        case "write": {
          const { array, index, values, gate } = statement;
          const when = gate ? ` if ${name(gate)}` : "";
          lines.push(`${indent}write a${array}[${name(index)}] = ${values.map(name).join(", ")}${when}`);
          break;
        }
        case "count": {
          const { array, index, value, gate } = statement;
          const when = gate ? ` if ${name(gate)}` : "";
          lines.push(`${indent}count a${array}[${name(index)}] += ${name(value)}${when} (each lane)`);
          break;
        }
        case "store":
        case "atomic": {
          const { buffer, index, value, gate } = statement;
          const how = statement.kind === "store" ? "store" : `atomic ${statement.op}`;
          const each = statement.kind === "store" && statement.isOnce ? "" : " (each lane)";
          const when = gate ? ` if ${name(gate)}` : "";
          lines.push(`${indent}${how} b${buffer}[${name(index)}] = ${name(value)}${when}${each}`);
          break;
        }
      }
    }
  };
  if (kernel.body) print(kernel.body, "  ");
  else lines.push("  its code was read from a file; what it computes is not known");
  return lines.join("\n");
}
