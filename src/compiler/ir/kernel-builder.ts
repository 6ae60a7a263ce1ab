/**
 * Writes kernels of the loop-nest language (ir.ts), operation by operation. The lowering of groups, the routines, the tiles
 * and the samplers use it.
 *
 * Asking for an equal value again returns the first one, and a value is placed in the outermost region where its operands
 * exist. This removes common subexpressions and hoists loop-invariant code.
 */
import type { DType } from "../../core/dtype.js";
import { ArgumentError } from "../../core/errors.js";
import {
  type ArrayDeclaration,
  type BinaryOp,
  type BufferParameter,
  type CombineOp,
  type CompareOp,
  type FragmentDeclaration,
  type FragmentPlace,
  type IROp,
  type IRType,
  type Kernel,
  MAX_I32,
  type Merge,
  type Statement,
  type UnaryOp,
  type Value,
  withBody,
} from "./ir.js";
import { hashOfValue, ValueTable } from "./value-table.js";

interface Region {
  readonly statements: Statement[];
  /** Values computed in this region, by operation and operands. */
  readonly known: ValueTable;
}

/** A value rounded to a narrow float. `isCheap`: at less cost than a store rounds. */
interface Rounding {
  readonly from: Value;
  readonly to: DType;
  readonly isCheap: boolean;
}

const newRegion = (): Region => ({ statements: [], known: new ValueTable() });

const isInteger = (type: IRType): boolean => type !== "bool" && type !== "f32" && type !== "f64";

/** Writes one kernel. Its methods are the operations of the language. */
export class KernelBuilder {
  private nextId = 0;
  private readonly regions: Region[] = [newRegion()];
  /** Values are not hoisted above this depth: that of the innermost open branch. */
  private floor = 0;
  private readonly buffers: BufferParameter[] = [];
  private readonly arrays: ArrayDeclaration[] = [];
  private readonly fragments: FragmentDeclaration[] = [];
  private readonly roundings = new Map<Value, Rounding>();
  /** Whether several rows store the same elements (`Kernel.isRepeating`). */
  isRepeating = false;
  readonly row: Value;
  readonly lane: Value;

  constructor(
    readonly name: string,
    readonly rows: number,
    readonly lanes = 1,
    /** Lanes of a subgroup; 0 in a kernel that has neither fragments nor matches of lanes. */
    readonly subgroupSize = 0,
  ) {
    this.row = this.make("row", rows > MAX_I32 ? "i64" : "i32", [], null);
    this.lane = this.make("lane", "i32", [], null);
  }

  /** The number of open loops and branches. */
  get depth(): number {
    return this.regions.length - 1;
  }

  finish(): Kernel {
    if (this.regions.length !== 1) throw new Error("KernelBuilder: a loop is still open");
    const { name, rows, lanes, buffers, arrays, fragments, subgroupSize, isRepeating } = this;
    const fragmentFields = {
      ...(fragments.length > 0 && { fragments }),
      ...(subgroupSize > 0 && { subgroupSize }),
    };
    return withBody(
      { name, rows, lanes, buffers, arrays, ...fragmentFields, isRepeating },
      (this.regions[0] as Region).statements,
    );
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

  /** Writes an element, narrowed. `isOnce`: the same for all lanes, so one of them writes it. */
  store(buffer: number, index: Value, given: Value, isOnce = this.lanes === 1, gate: Value | null = null): void {
    const rounding = this.roundings.get(given);
    const isOf = rounding?.to === this.buffers[buffer]?.dtype;
    const value = rounding && isOf && !rounding.isCheap ? rounding.from : given;
    const isCopied = this.buffers[buffer]?.dtype === "bf16" && this.isBrainLoad(given);
    const isRounded = (isOf && value === given) || isCopied;
    const statement = { kind: "store", buffer, index, value, isOnce, gate } as const;
    this.region().statements.push(isRounded ? { ...statement, isRounded } : statement);
  }

  /** Whether a value was loaded from a buffer of bf16. */
  isBrainLoad({ op, attribute }: Value): boolean {
    return op === "load" && this.buffers[attribute as number]?.dtype === "bf16";
  }

  /**
   * Notes that a value is another, rounded to a narrow float. Stores round as well, so they take the other, unless rounding here
   * is cheaper (`isCheap`).
   */
  noteRounding(rounded: Value, from: Value, to: DType, isCheap = false): Value {
    this.roundings.set(rounded, { from, to, isCheap });
    return rounded;
  }

  /** How a value was rounded to a narrow float, where that was noted. */
  roundingOf(value: Value): Rounding | undefined {
    return this.roundings.get(value);
  }

  /** buffer[index] = op(buffer[index], value), atomically, for each lane. */
  atomic(op: CombineOp, buffer: number, index: Value, value: Value, gate: Value | null = null): void {
    this.region().statements.push({ kind: "atomic", op, buffer, index, value, gate });
  }

  /** buffer[index] += 1, once for the row; what it was before, for all lanes. The buffer is of u32. */
  ticket(buffer: number, index: Value): Value {
    const result = this.fresh("result", "i32", this.depth);
    this.region().statements.push({ kind: "ticket", buffer, index, result });
    return result;
  }

  /** buffer[index], which rows update atomically meanwhile. The buffer is of u32. */
  observe(buffer: number, index: Value): Value {
    const result = this.fresh("result", "u32", this.depth);
    this.region().statements.push({ kind: "observe", buffer, index, result });
    return result;
  }

  /**
   * Reads an element, widened, of a buffer that the kernel also writes. `since`: loops deeper than this do not write to the
   * buffer, so the read may move out of them.
   */
  read(buffer: number, index: Value, type: IRType, since = this.depth): Value {
    return this.readNeighbours("buffer", buffer, index, type, 1, since)[0] as Value;
  }

  /** The 16 bytes from an element on, which is a multiple of as many, as four words. */
  loadWords(buffer: number, index: Value): Value[] {
    const results = Array.from({ length: 4 }, () => this.fresh("result", "u32", this.depth));
    this.region().statements.push({ kind: "loadWords", buffer, index, results });
    return results;
  }

  // ------------------------------------------------------------------------------------------------ fragments

  fragment(declaration: FragmentDeclaration): number {
    if (this.subgroupSize === 0) throw new ArgumentError("fragment: the kernel was made without a subgroup size");
    this.fragments.push(declaration);
    return this.fragments.length - 1;
  }

  fillFragment(fragment: number, value: number): void {
    this.region().statements.push({ kind: "fillFragment", fragment, value });
  }

  loadFragment(fragment: number, from: FragmentPlace): void {
    this.region().statements.push({ kind: "loadFragment", fragment, ...from });
  }

  storeFragment(fragment: number, to: FragmentPlace): void {
    this.region().statements.push({ kind: "storeFragment", fragment, ...to });
  }

  /** sum += left × right */
  multiplyFragments(left: number, right: number, sum: number): void {
    this.region().statements.push({ kind: "multiplyFragments", left, right, sum });
  }

  /** to += from */
  addFragments(to: number, from: number): void {
    this.region().statements.push({ kind: "addFragments", to, from });
  }

  /** The elements of a sum fragment of f32 that the lane holds. */
  getElements(fragment: number): Value[] {
    const { rows, columns } = this.fragments[fragment];
    const length = (rows * columns) / this.subgroupSize;
    const results = Array.from({ length }, () => this.fresh("result", "f32", this.depth));
    this.region().statements.push({ kind: "getElements", fragment, results });
    return results;
  }

  setElements(fragment: number, values: readonly Value[]): void {
    this.region().statements.push({ kind: "setElements", fragment, values });
  }

  /** Whether a bool is true in any lane of the subgroup. */
  anyLane(condition: Value): Value {
    return this.place("anyLane", "bool", [condition], null, this.regions.length - 1);
  }

  /** 2^x as the device computes it. */
  exp2(x: Value): Value {
    return this.make("exp2", "f32", [x], null);
  }

  // ------------------------------------------------------------------------------------------------ arrays

  /** Memory of the row, shared by its lanes unless it is private. */
  array(type: IRType, size: number, isPrivate = false): number {
    if (!Number.isInteger(size) || size < 1) throw new ArgumentError(`array: ${size} elements; give 1 or more`);
    this.arrays.push({ type, size, isPrivate });
    return this.arrays.length - 1;
  }

  /** `since` as for `read`. */
  get(array: number, index: Value, since = this.depth): Value {
    return this.readNeighbours("array", array, index, this.arrayType(array), 1, since)[0] as Value;
  }

  set(array: number, index: Value, value: Value, gate: Value | null = null): void {
    this.setMany(array, index, [value], gate);
  }

  /** Neighbours at once, from an index that is a multiple of their number. */
  getMany(array: number, index: Value, count: number): Value[] {
    return this.readNeighbours("array", array, index, this.arrayType(array), count, this.depth);
  }

  setMany(array: number, index: Value, values: readonly Value[], gate: Value | null = null): void {
    const type = this.arrayType(array);
    for (const value of values) {
      if (value.type !== type) throw new ArgumentError(`set: a value of ${value.type} in an array of ${type}`);
    }
    this.region().statements.push({ kind: "write", array, index, values, gate });
  }

  /** array[index] += value, atomically, for each lane. The array is of i32. */
  count(array: number, index: Value, value: Value, gate: Value | null = null): void {
    if (this.arrayType(array) !== "i32" || value.type !== "i32") {
      throw new ArgumentError(`count: ${value.type} in an array of ${this.arrayType(array)}; both must be i32`);
    }
    this.region().statements.push({ kind: "count", array, index, value, gate });
  }

  /** Lanes wait for each other, all or those of their subgroup; each then sees the earlier writes of the others. */
  barrier(scope: "row" | "subgroup" = "row"): void {
    if (this.lanes > 1) this.region().statements.push({ kind: "barrier", scope });
  }

  // ------------------------------------------------------------------------------------------------ control flow

  /** Runs the body for 0 … extent - 1. Accumulators are carried from round to round; their last values are returned. */
  loop(
    extent: number,
    initial: readonly Value[],
    body: (index: Value, accumulators: readonly Value[]) => readonly Value[],
    options: {
      readonly isLaneLoop?: boolean;
      /** Whether a finished round was the last, from its values. */
      readonly exitWhen?: (next: readonly Value[]) => Value;
      /** Values of two parts of the rounds as one (`Loop.merge`). */
      readonly merge?: (first: readonly Value[], second: readonly Value[]) => readonly Value[];
    } = {},
  ): Value[] {
    const parent = this.region();
    const region = newRegion();
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
    const merge = options.merge ? this.merging(initial, options.merge) : null;
    const { statements: statementsOf } = region;
    parent.statements.push({ kind: "loop", index, extent, isLaneLoop, accumulators, body: statementsOf, exit, merge });
    return accumulators.map(({ result }) => result);
  }

  private merging(
    initial: readonly Value[],
    merge: (first: readonly Value[], second: readonly Value[]) => readonly Value[],
  ): Merge {
    const depth = this.regions.length;
    const [first, second] = [0, 1].map(() => initial.map(({ type }) => this.fresh("accumulator", type, depth)));
    const { statements, values } = this.side(() => merge(first, second));
    return { first, second, body: statements, merged: values };
  }

  /** A branch. Both sides return equally many values; the results are those of the side taken. */
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
    const region = newRegion();
    const before = this.floor;
    this.floor = this.regions.length;
    this.regions.push(region);
    const values = write();
    this.regions.pop();
    this.floor = before;
    return { statements: region.statements, values };
  }

  /**
   * Combines a value of each lane into one that all have; or, where `count` is a smaller power of two, those of each group of so many
   * neighbours into one that these have.
   */
  combineLanes(op: CombineOp, value: Value, count = this.lanes): Value {
    if (count === 1) return value;
    if (this.lanes % count !== 0 || (count < this.lanes && !Number.isInteger(Math.log2(count)))) {
      throw new ArgumentError(`combineLanes: groups of ${count} among ${this.lanes} lanes; give a power of two`);
    }
    const args = count === this.lanes ? [value] : [value, this.constant("i32", count)];
    return this.place("combineLanes", value.type, args, op, this.regions.length - 1);
  }

  /** The value that another lane of the row has. `lane` must be one of them. */
  fromLane(value: Value, lane: Value): Value {
    if (this.lanes === 1) return value;
    return this.place("fromLane", value.type, [value, lane], null, this.regions.length - 1);
  }

  /** A bit for each lane of the subgroup whose value, of i32, has the same low bits. */
  matchLanes(value: Value, bits: number): Value {
    if (this.subgroupSize === 0 || this.subgroupSize > 32) {
      throw new ArgumentError(
        `matchLanes: the kernel was made for subgroups of ${this.subgroupSize}; 1 to 32 can match`,
      );
    }
    return this.place("matchLanes", "u32", [value], bits, this.regions.length - 1);
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

  /** a·b + c, rounded once or twice, whichever is faster on the target: for sums whose order is free anyway. */
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

  /** An index where a gate holds. Elsewhere it is near 0: what is read there must not matter. */
  within(gate: Value, index: Value): Value {
    if (gate.op === "constant") return this.select(gate, index, this.constant(index.type, 0));
    return this.make("select", index.type, [gate, index, this.constant(index.type, 0)], true);
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

  /** Two numbers of f16, held as f32, in one word: the first in the lower half. */
  packHalves(low: Value, high: Value): Value {
    return this.make("packHalves", "u32", [low, high], null);
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

  private readNeighbours(
    from: "buffer" | "array",
    memory: number,
    index: Value,
    type: IRType,
    count: number,
    since: number,
  ): Value[] {
    const depth = Math.max(index.depth, since, this.floor);
    const results = Array.from({ length: count }, () => this.fresh("result", type, depth));
    (this.regions[depth] as Region).statements.push({ kind: "read", from, memory, index, results });
    return results;
  }

  private make(op: IROp, type: IRType, args: readonly Value[], attribute: Value["attribute"]): Value {
    let depth = 0;
    for (const arg of args) if (arg.depth > depth) depth = arg.depth;
    return this.place(op, type, args, attribute, depth);
  }

  /**
   * The value, computed at depth `from`, or inside the innermost open branch if that is deeper. An equal value that was
   * computed before is reused.
   */
  private place(op: IROp, type: IRType, args: readonly Value[], attribute: Value["attribute"], from: number): Value {
    const hash = hashOfValue(op, type, args, attribute);
    const isFree = op === "constant" || op === "row" || op === "lane";
    const depth = isFree ? from : Math.max(from, this.floor);
    for (let i = from; i <= depth; i++) {
      const known = (this.regions[i] as Region).known.find(hash, op, type, args, attribute);
      if (known) return known;
    }
    const region = this.regions[depth] as Region;
    const value: Value = { id: this.nextId++, op, type, args, attribute, depth };
    region.known.add(hash, value);
    if (!isFree) region.statements.push({ kind: "let", value });
    return value;
  }

  /** Folds integer identities that index arithmetic produces. */
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
