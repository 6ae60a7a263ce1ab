/**
 * Writes the statements of a kernel as WebAssembly. Values are lane values (lane-values.ts): one number where all lanes agree,
 * four where they do not. emit-kernel.ts decides for which rows the body is written.
 */
import { UnsupportedError } from "../../../core/errors.js";
import type { FunctionBuilder } from "../../../wasm/function-builder.js";
import type { Value } from "../../../wasm/value.js";
import {
  type Branch,
  type CombineOp,
  type IRType,
  type Value as IRValue,
  type Kernel,
  type Loop,
  type Statement,
  walkStatements,
} from "../../ir/ir.js";
import { addressOf, type ElementMemory, loadLanes, offsetOf, storeLanes, updateAtomically } from "./element-access.js";
import {
  exchanged,
  joined,
  type LaneValue,
  laneOf,
  pairOf,
  single,
  united,
  vector,
  vectorOf,
  wasmValuesOf,
} from "./lane-values.js";
import { counted, rising } from "./rising.js";
import { binary, scalar } from "./scalars.js";
import { spreadValues, valuesOfAllRows, varyingValues } from "./varying-values.js";
import { canTakeTurns, combiningOp, leastTurns, NARROW, TURNS, VECTOR_LANES, type VectorPlan } from "./vector-plan.js";

type StoreStatement = Extract<Statement, { kind: "store" }>;
type AtomicStatement = Extract<Statement, { kind: "atomic" }>;
type ReadStatement = Extract<Statement, { kind: "read" }>;
type CountStatement = Extract<Statement, { kind: "count" }>;
type WriteStatement = Extract<Statement, { kind: "write" }>;

export class BodyEmitter {
  /** By the id of the IR value. */
  private readonly laneValues: LaneValue[];
  /** Constants that the body has used, by id. */
  private readonly constants = new Map<number, LaneValue>();
  private readonly varying: ReadonlySet<number>;
  private readonly spread: ReadonlySet<number>;
  private readonly known: readonly LaneValue[];
  private row: LaneValue | null = null;
  /** Delayed writes; null: writes happen at once. */
  private writeLater: (() => void)[] | null = null;
  /** The number of the turn that is written, where vectors take turns; else 0. */
  private turn = 0;

  constructor(
    private readonly f: FunctionBuilder,
    private readonly kernel: Kernel,
    private readonly addresses: readonly Value<"i32">[],
    private readonly arrays: readonly Value<"i32">[],
    private readonly plan: VectorPlan,
    /** Values that are computed already, by id. */
    known: readonly LaneValue[] = [],
  ) {
    this.laneValues = [...known];
    this.known = known;
    this.varying = varyingValues(kernel);
    this.spread = spreadValues(kernel, this.varying);
  }

  /** Computes what is the same for all rows: the bodies that are written afterwards know it. */
  beforeRows(): readonly LaneValue[] {
    for (const value of valuesOfAllRows(this.kernel)) this.laneValues[value.id] = this.compute(value);
    return this.laneValues;
  }

  /** One row, or four from a multiple of four on. */
  rows(row: Value<"i32"> | Value<"i64">, lanes: 1 | 4): void {
    this.row = lanes === 1 ? { kind: "uniform", value: row } : counted(row as Value<"i32">, VECTOR_LANES);
    this.statements(this.kernel.body);
  }

  /** Several groups of four rows, one after another, from a multiple of all of them on. */
  rowsInTurns(row: Value<"i32">): void {
    this.inTurns((turn) => {
      this.row = counted(row, VECTOR_LANES * TURNS, turn * VECTOR_LANES);
      this.statements(this.kernel.body);
    });
  }

  private statements(list: readonly Statement[]): void {
    for (const statement of list) {
      switch (statement.kind) {
        case "let":
          if (!this.known[statement.value.id]) this.let(statement.value);
          break;
        case "loop":
          this.loop(statement);
          break;
        case "branch":
          this.branch(statement);
          break;
        case "barrier":
          break;
        case "read":
          this.read(statement);
          break;
        case "write":
          this.gated(statement.gate, (lane) => this.write(statement, lane));
          break;
        case "count":
          if (this.kernel.lanes > 1) this.eachLane(statement.gate, (lane) => this.count(statement, lane));
          else this.gated(statement.gate, () => this.count(statement, 0));
          break;
        case "store":
          this.gated(statement.gate, (lane) => this.store(statement, lane));
          break;
        case "ticket":
        case "observe":
          throw new Error(`emitWasm: ${this.kernel.name}: rows run one after another, so none can watch another`);
        case "atomic":
          if (this.kernel.lanes > 1) this.eachLane(statement.gate, (lane) => this.atomic(statement, lane));
          else this.gated(statement.gate, () => this.atomic(statement, 0));
          break;
      }
    }
  }

  /** Writes once for all lanes where they agree on whether to, and lane by lane where they do not. */
  private gated(gate: IRValue | null, write: (lane: number | null) => void): void {
    const test = gate ? this.laneValue(gate) : null;
    if (!test) write(null);
    else if (test.kind === "lanes") this.eachLane(gate, write);
    else this.f.if(single(test) as Value<"i32">, () => write(null));
  }

  private eachLane(gate: IRValue | null, write: (lane: number) => void): void {
    for (let lane = 0; lane < VECTOR_LANES; lane++) {
      if (gate) this.f.if(laneOf(this.f, this.laneValue(gate), "bool", lane) as Value<"i32">, () => write(lane));
      else write(lane);
    }
  }

  private laneValue(value: IRValue): LaneValue {
    if (value.op === "constant") return this.constantValue(value);
    if (value.op === "row") return this.row as LaneValue;
    if (value.op === "lane") return this.laneIndex();
    return this.laneValues[value.id] as LaneValue;
  }

  private constantValue(value: IRValue): LaneValue {
    const known = this.constants.get(value.id);
    if (known) return known;
    const made: LaneValue = { kind: "uniform", value: this.constant(value) };
    this.constants.set(value.id, made);
    return made;
  }

  private laneIndex(): LaneValue {
    const zero = this.f.i32.const(0);
    return this.kernel.lanes === 1 ? { kind: "uniform", value: zero } : counted(zero, VECTOR_LANES);
  }

  private constant({ type, attribute }: IRValue): Value {
    const { f } = this;
    if (type === "bool") return f.i32.const(attribute ? 1 : 0);
    if (type === "f32") return f.f32.const(attribute as number);
    if (type === "f64") return f.f64.const(attribute as number);
    if (type === "i64" || type === "u64") return f.i64.const(BigInt.asIntN(64, attribute as bigint));
    return f.i32.const((attribute as number) | 0);
  }

  // ---------------------------------------------------------------------------------------------- loops

  private loop(loop: Loop): void {
    if (this.plan.loops.has(loop)) {
      this.vectorLoop(loop);
      return;
    }
    const initial = loop.accumulators.map(({ initial: given, value }) =>
      this.as(this.kindOf(value), this.laneValue(given), value.type),
    );
    if (loop.isLaneLoop && loop.extent % VECTOR_LANES !== 0) {
      throw new UnsupportedError(
        `${this.kernel.name}: ${loop.extent} rounds do not divide among ${VECTOR_LANES} lanes`,
      );
    }
    const results = loop.isLaneLoop
      ? this.rounds(loop, 0, loop.extent, VECTOR_LANES, initial, "rising")
      : this.rounds(loop, 0, loop.extent, 1, initial, "uniform");
    this.finish(loop, results);
  }

  /** The kind of lane value that leaves a loop or a branch: four numbers if lanes, or rows, may differ. */
  private kindOf({ id, type }: IRValue): "uniform" | "lanes" | "pair" | "each" {
    const isFour = (this.row as LaneValue).kind === "rising" || this.varying.has(id);
    if (!isFour) return "uniform";
    return NARROW.has(type) ? "lanes" : type === "f64" ? "pair" : "each";
  }

  private as(kind: LaneValue["kind"], x: LaneValue, type: IRType): LaneValue {
    if (kind === "each") return { kind, values: [0, 1, 2, 3].map((lane) => laneOf(this.f, x, type, lane)) };
    if (kind === "pair") return { kind, values: pairOf(this.f, x) };
    return kind === "lanes" ? { kind, value: vectorOf(this.f, x, type) } : { kind: "uniform", value: single(x) };
  }

  private branch({ condition, whenTrue, whenFalse, results }: Branch): void {
    const { f } = this;
    const test = single(this.laneValue(condition)) as Value<"i32">;
    const side = (statements: readonly Statement[], values: readonly IRValue[]) => () => {
      this.statements(statements);
      return values.flatMap((value, i) => {
        const { value: result } = results[i];
        return wasmValuesOf(this.as(this.kindOf(result), this.laneValue(value), result.type));
      });
    };
    if (whenFalse.length === 0 && results.length === 0) {
      f.if(test, side(whenTrue, []));
      return;
    }
    const values = f.if(
      test,
      side(
        whenTrue,
        results.map((result) => result.whenTrue),
      ),
      side(
        whenFalse,
        results.map((result) => result.whenFalse),
      ),
    );
    const laneValues = joined(
      results.map(({ value }) => this.kindOf(value)),
      values,
    );
    results.forEach(({ value }, i) => {
      this.laneValues[value.id] = laneValues[i];
    });
  }

  private rounds(
    loop: Loop,
    from: number,
    to: number,
    step: number,
    initial: readonly LaneValue[],
    index: "uniform" | "rising",
  ): LaneValue[] {
    const { f } = this;
    const kinds = initial.map(({ kind }) => kind);
    const { exit } = loop;
    const isUneven = exit !== null && ((this.row as LaneValue).kind === "rising" || this.varying.has(exit.id));
    const first = isUneven ? [f.i32x4.const([0, 0, 0, 0])] : [];
    const results = f.fold(f.i32.const(from), to, step, [...initial.flatMap(wasmValuesOf), ...first], (i, state) => {
      this.laneValues[loop.index.id] = index === "uniform" ? { kind: "uniform", value: i } : counted(i, VECTOR_LANES);
      const carried = joined(kinds, state);
      loop.accumulators.forEach(({ value }, k) => {
        this.laneValues[value.id] = carried[k];
      });
      this.statements(loop.body);
      const made = loop.accumulators.map(({ next }, k) => this.as(kinds[k], this.laneValue(next), next.type));
      if (exit && isUneven) return this.leaveOneByOne(loop, exit, state.at(-1) as Value<"v128">, carried, made);
      const next = made.flatMap(wasmValuesOf);
      if (exit) f.if(single(this.laneValue(exit)) as Value<"i32">, () => f.break(...next));
      return next;
    });
    return joined(kinds, results);
  }

  /** The end of a round that some lanes have left: those keep their values until the last lane leaves. */
  private leaveOneByOne(
    { accumulators, body }: Loop,
    exit: IRValue,
    left: Value<"v128">,
    carried: readonly LaneValue[],
    made: readonly LaneValue[],
  ): Value[] {
    const { f } = this;
    walkStatements(body, ({ kind }) => {
      if (kind === "let" || kind === "loop" || kind === "branch" || kind === "read") return;
      throw new UnsupportedError(`${this.kernel.name}: ${kind} in a loop that lanes leave one by one, on the CPU`);
    });
    const next = accumulators.flatMap(({ value }, k) => {
      const choice: IRValue = { ...value, op: "select", args: [exit, value, value] };
      return wasmValuesOf(
        this.as(
          made[k].kind,
          vector(this.f, choice, [{ kind: "lanes", value: left }, carried[k], made[k]]),
          value.type,
        ),
      );
    });
    const leaving = f.v128.or(left, vectorOf(this.f, this.laneValue(exit), "bool"));
    f.if(f.i32x4.all_true(leaving), () => f.break(...next, leaving));
    return [...next, leaving];
  }

  /** Four rounds at once, the lanes combined at the end, then the rounds that are left. */
  private vectorLoop(loop: Loop): void {
    const whole = loop.extent - (loop.extent % VECTOR_LANES);
    const initial = loop.accumulators.map(({ initial: given, value: { type } }) =>
      this.as(type === "f64" ? "pair" : "lanes", this.laneValue(given), type),
    );
    const isVector = ({ kind }: LaneValue) => kind === "lanes" || kind === "pair";
    const takesTurns = canTakeTurns(loop.body) && initial.every(isVector) && whole >= leastTurns(loop);
    const taken = takesTurns ? whole - (whole % (VECTOR_LANES * TURNS)) : 0;
    const begun = taken > 0 ? this.roundsInTurns(loop, taken, initial) : initial;
    const vectors = taken === whole ? begun : this.rounds(loop, taken, whole, VECTOR_LANES, begun, "rising");
    const combined = loop.merge ? this.mergedLanes(loop, vectors) : this.combinedLanes(loop, vectors);
    const results = whole === loop.extent ? combined : this.rounds(loop, whole, loop.extent, 1, combined, "uniform");
    this.finish(loop, results);
  }

  /** Each accumulator of four lanes as one number. */
  private combinedLanes({ accumulators }: Loop, vectors: readonly LaneValue[]): readonly LaneValue[] {
    return vectors.map((x, k): LaneValue => {
      const op = combiningOp(accumulators[k]) as CombineOp;
      const { type } = accumulators[k].value;
      const parts = [0, 1, 2, 3].map((lane) => laneOf(this.f, x, type, lane));
      return { kind: "uniform", value: this.pairs(parts, (a, b) => binary(this.f, op, type, a, b)) };
    });
  }

  /** The accumulators of four lanes as those of one: merged with the other half, and then with the neighbour. */
  private mergedLanes(loop: Loop, vectors: readonly LaneValue[]): readonly LaneValue[] {
    const typeOf = (k: number) => loop.accumulators[k].value.type;
    const beside = (lanes: readonly LaneValue[], distance: 1 | 2) =>
      lanes.map((x, k) => exchanged(this.f, x, typeOf(k), distance));
    const halves = this.merge(loop, vectors, beside(vectors, 2));
    const all = this.merge(loop, halves, beside(halves, 1));
    return all.map((x, k) => ({ kind: "uniform", value: laneOf(this.f, x, typeOf(k), 0) }));
  }

  /** Vectors of rounds that take turns, with accumulators of their own. */
  private roundsInTurns(loop: Loop, to: number, initial: readonly LaneValue[]): readonly LaneValue[] {
    const { f } = this;
    const kinds = initial.map(({ kind }) => kind);
    const first = initial.flatMap(wasmValuesOf);
    const partOf = (turn: number, values: readonly Value[]): LaneValue[] =>
      joined(kinds, values.slice(turn * first.length, (turn + 1) * first.length));
    const state = Array.from({ length: TURNS }, () => first).flat();
    const sums = f.fold(f.i32.const(0), to, VECTOR_LANES * TURNS, state, (i, carried) =>
      this.inTurns((turn) => {
        this.laneValues[loop.index.id] = counted(i, VECTOR_LANES * TURNS, turn * VECTOR_LANES);
        const before = partOf(turn, carried);
        loop.accumulators.forEach(({ value }, k) => {
          this.laneValues[value.id] = before[k];
        });
        this.statements(loop.body);
        return loop.accumulators.flatMap(({ next }, k) =>
          wasmValuesOf(this.as(kinds[k], this.laneValue(next), next.type)),
        );
      }).flat(),
    );
    const parts = Array.from({ length: TURNS }, (_, turn) => partOf(turn, sums));
    return this.pairs<readonly LaneValue[]>(parts, (a, b) => this.merge(loop, a, b));
  }

  /** The accumulators of two parts of a loop's rounds as one: of four lanes each, or of one. */
  private merge(
    { accumulators, merge }: Loop,
    first: readonly LaneValue[],
    second: readonly LaneValue[],
  ): readonly LaneValue[] {
    if (merge) {
      const give = (value: IRValue, given: LaneValue) => {
        this.laneValues[value.id] = given;
      };
      merge.first.forEach((value, k) => {
        give(value, first[k]);
      });
      merge.second.forEach((value, k) => {
        give(value, second[k]);
      });
      this.statements(merge.body);
      return merge.merged.map((value) => this.laneValue(value));
    }
    return accumulators.map(({ value, next }, k) =>
      vector(this.f, { ...next, args: [value, value] }, [first[k], second[k]]),
    );
  }

  /**
   * Runs several turns. All turns read before any writes, so that their computations can overlap: engines do not move a load
   * before a store.
   */
  private inTurns<T>(take: (turn: number) => T): T[] {
    const writes: (() => void)[] = [];
    this.writeLater = writes;
    const found = Array.from({ length: TURNS }, (_, turn) => {
      this.turn = turn;
      return take(turn);
    });
    this.turn = 0;
    this.writeLater = null;
    for (const write of writes) write();
    return found;
  }

  /** The order of combining four lanes, wherever they come from. */
  private pairs<T>(parts: readonly T[], pair: (a: T, b: T) => T): T {
    return pair(pair(parts[0], parts[1]), pair(parts[2], parts[3]));
  }

  private finish(loop: Loop, results: readonly LaneValue[]): void {
    loop.accumulators.forEach(({ result }, k) => {
      this.laneValues[result.id] = results[k];
    });
  }

  // ---------------------------------------------------------------------------------------------- values

  /**
   * Computes a value. What one turn computes as the turn before it did is computed once: the place of a row among sixteen elements of it, say.
   */
  private let(value: IRValue): void {
    const before = this.turn > 0 ? this.laneValues[value.id] : undefined;
    const made = this.compute(value);
    this.laneValues[value.id] = before ? united(before, made) : made;
  }

  private compute(value: IRValue): LaneValue {
    const { args } = value;
    const operands = new Array<LaneValue>(args.length);
    let isUniform = true;
    for (let i = 0; i < args.length; i++) {
      const operand = this.laneValue(args[i]);
      operands[i] = operand;
      if (operand.kind !== "uniform") isUniform = false;
    }
    if (value.op === "load") {
      return this.load(this.memoryOf("buffer", value.attribute as number), value.type, value.args[0], 0);
    }
    if (value.op === "combineLanes" && this.kernel.lanes > 1) return this.combine(value, operands[0]);
    if (value.op === "fromLane") return this.fromLane(value, operands);
    if (isUniform) return { kind: "uniform", value: scalar(this.f, value, operands.map(single)) };
    return rising(this.f, value, operands) ?? vector(this.f, value, operands);
  }

  private combine({ attribute, type, args }: IRValue, x: LaneValue): LaneValue {
    if (args.length > 1) throw new UnsupportedError(`${this.kernel.name}: groups of lanes on the CPU`);
    const parts = [0, 1, 2, 3].map((lane) => laneOf(this.f, x, type, lane));
    const pair = (a: Value, b: Value) => binary(this.f, attribute as CombineOp, type, a, b);
    return { kind: "uniform", value: this.pairs(parts, pair) };
  }

  /** Permutes the words of a vector by its bytes: word i has the bytes 4 i … 4 i + 3. */
  private fromLane({ type, args }: IRValue, [x, from]: readonly LaneValue[]): LaneValue {
    const { f } = this;
    if (x.kind === "uniform") return x;
    if ("values" in x) throw new UnsupportedError(`${this.kernel.name}: exchanges of ${type} on the CPU`);
    const words = f.i32x4.mul(vectorOf(this.f, from, args[1].type), f.i32x4.splat(f.i32.const(0x04040404)));
    const bytes = f.i32x4.add(words, f.i32x4.splat(f.i32.const(0x03020100)));
    return { kind: "lanes", value: f.i8x16.swizzle(vectorOf(this.f, x, type), bytes) };
  }

  private memoryOf(from: "buffer" | "array", slot: number): ElementMemory {
    if (from === "buffer") {
      return { start: this.addresses[slot], dtype: this.kernel.buffers[slot].dtype, isOfRows: false };
    }
    const isOfRows = (this.row as LaneValue).kind === "rising";
    return { start: this.arrays[slot], dtype: this.kernel.arrays[slot].type, isOfRows };
  }

  /** An index, and a constant that is added to it: memory instructions have room for one. */
  private indexOf(index: IRValue): { readonly base: LaneValue; readonly by: number } {
    const [first, offset] = index.args;
    const by = index.op === "add" && offset.op === "constant" ? Number(offset.attribute) : 0;
    // The offset in an instruction does not wrap, so both parts must be non-negative.
    return by > 0 && index.type === "i32" && isCount(first)
      ? { base: this.laneValue(first), by }
      : { base: this.laneValue(index), by: 0 };
  }

  private load(memory: ElementMemory, type: IRType, index: IRValue, part: number): LaneValue {
    const { base, by } = this.indexOf(index);
    return loadLanes(this.f, memory, type, base, by + part);
  }

  private read({ from, memory, index, results }: ReadStatement): void {
    const elements = this.memoryOf(from, memory);
    results.forEach((result, part) => {
      this.laneValues[result.id] =
        this.splat(elements, result, index, part) ?? this.load(elements, result.type, index, part);
    });
  }

  /** Loads a number that all lanes need straight into all lanes. */
  private splat(memory: ElementMemory, { id }: IRValue, index: IRValue, part: number): LaneValue | null {
    const { f } = this;
    const { base, by } = this.indexOf(index);
    const isFloat = memory.dtype === "f32" || memory.dtype === "f64";
    if (base.kind !== "uniform" || !isFloat || !this.spread.has(id)) return null;
    const at = addressOf(this.f, memory, base.value as Value<"i32">);
    const offset = offsetOf(memory, by + part);
    if (memory.dtype === "f32") return { kind: "lanes", value: f.v128.load32_splat(at, offset) };
    const both = f.v128.load64_splat(at, offset);
    return { kind: "pair", values: [both, both] };
  }

  private write({ array, index, values }: WriteStatement, lane: number | null): void {
    const memory = this.memoryOf("array", array);
    values.forEach((value, part) => {
      this.put(memory, index, value, lane, part);
    });
  }

  private store({ buffer, index, value }: StoreStatement, lane: number | null): void {
    this.put(this.memoryOf("buffer", buffer), index, value, lane);
  }

  /** Called for one lane after the other, so no atomics are needed. */
  private count({ array, index, value }: CountStatement, lane: number): void {
    const { f } = this;
    const at = addressOf(this.f, this.memoryOf("array", array), laneOf(this.f, this.laneValue(index), "i32", lane));
    f.i32.store(at, f.i32.add(f.i32.load(at), laneOf(this.f, this.laneValue(value), "i32", lane) as Value<"i32">));
  }

  private put(memory: ElementMemory, at: IRValue, value: IRValue, lane: number | null, part = 0): void {
    const { base, by } = this.indexOf(at);
    const stored = this.laneValue(value);
    const write = () => storeLanes(this.f, memory, base, by + part, stored, value.type, lane);
    if (this.writeLater) this.writeLater.push(write);
    else write();
  }

  private atomic({ op, buffer, index, value }: AtomicStatement, lane: number): void {
    const { f } = this;
    const at = addressOf(
      f,
      this.memoryOf("buffer", buffer),
      laneOf(f, this.laneValue(index), "i32", lane) as Value<"i32">,
    );
    updateAtomically(f, op, value.type, at, laneOf(f, this.laneValue(value), value.type, lane));
  }
}

/** Whether a number counts elements, so that it is never negative. */
function isCount({ op, args, attribute }: IRValue, depth = 0): boolean {
  const all = () => depth < 8 && args.every((arg) => isCount(arg, depth + 1));
  switch (op) {
    case "row":
    case "lane":
    case "index":
      return true;
    case "constant":
      return Number(attribute) >= 0;
    case "and":
      return args.some(({ op: each, attribute: mask }) => each === "constant" && Number(mask) >= 0);
    case "add":
    case "mul":
    case "min":
    case "idiv":
    case "bitcast":
      return all();
    default:
      return false;
  }
}
