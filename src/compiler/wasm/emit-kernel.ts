/**
 * Writes a kernel of the loop-nest language as WebAssembly.
 *
 * The module exports `run(args, start, end)`: `args` points to the addresses of the kernel's buffers, and the rows from
 * `start` to `end` are computed, so that threads can share them. Where the elements are 32 bits wide, or half floats, four
 * are computed at once: neighbouring rows, when those are what lies side by side in memory, or else neighbouring rounds of the innermost
 * loop. Rows, or rounds, that are left over are computed one at a time. The four lanes of a kernel of four lanes are the
 * lanes of vectors, too: they do everything together, and a barrier is nothing.
 *
 * Arrays lie in memory that the caller lends: behind the addresses of the buffers comes that of `slots` places of
 * `slotBytes(kernel)` each, and their number. A thread takes a place that is free, as its first word tells.
 */
import { DTYPES, type DType } from "../../core/dtype.js";
import { UnsupportedError } from "../../core/errors.js";
import {
  type BinaryOp,
  type Branch,
  type CombineOp,
  type CompareOp,
  type IRType,
  type Value as IRValue,
  type Kernel,
  type Loop,
  MAX_I32,
  type Statement,
  type UnaryOp,
  walkStatements,
} from "../ir.js";
import { ModuleBuilder } from "./builder.js";
import type { FunctionBuilder } from "./function-builder.js";
import { decodeBrain, decodeHalf, encodeBrain, encodeHalf, fourWords, oneWord } from "./half.js";
import type { Value } from "./value.js";

type StoreStatement = Extract<Statement, { kind: "store" }>;
type AtomicStatement = Extract<Statement, { kind: "atomic" }>;
type ReadStatement = Extract<Statement, { kind: "read" }>;
type CountStatement = Extract<Statement, { kind: "count" }>;
type WriteStatement = Extract<Statement, { kind: "write" }>;

const LANES = 4;
/** A cache line: what a place begins with, and what arrays are aligned to. */
const LINE = 64;

/** Where the arrays of a kernel begin in its place, and how long the place is; 0 where there are no arrays. */
function layOut({ arrays }: Kernel): { readonly starts: readonly number[]; readonly bytes: number } {
  let bytes = arrays.length > 0 ? LINE : 0;
  const starts = arrays.map(({ type, size }) => {
    const start = bytes;
    bytes += Math.ceil((size * DTYPES[type].bytes) / LINE) * LINE;
    return start;
  });
  return { starts, bytes };
}

/** Bytes each thread needs for the arrays of a kernel. */
export const slotBytes = (kernel: Kernel): number => layOut(kernel).bytes;

/** Rows that `start` and `end` count at a time, where there are more than 32 bits count. */
const COUNTED_ROWS = 4;
export const rowsPerCount = ({ rows }: Kernel): number => (rows > MAX_I32 ? COUNTED_ROWS : 1);

export function emitWasm(kernel: Kernel): Uint8Array {
  if (kernel.lanes !== 1 && kernel.lanes !== LANES) {
    throw new UnsupportedError(`${kernel.name}: ${kernel.lanes} lanes share a row; on the CPU it is 1 or ${LANES}`);
  }
  if (kernel.lanes > 1 && kernel.arrays.some(({ isPrivate }) => isPrivate)) {
    throw new UnsupportedError(`${kernel.name}: private arrays of several lanes; on the CPU lanes share all`);
  }
  const m = new ModuleBuilder();
  const plan = planVectors(kernel);
  const run = m.function("run", ["i32", "i32", "i32"], [], (f, args, start, end) => {
    const addresses = kernel.buffers.map((_, i) => f.i32.load(args, { offset: 4 * i }));
    const { starts, bytes } = layOut(kernel);
    const place = bytes > 0 ? takePlace(f, args, kernel.buffers.length, bytes) : null;
    const arrays = place ? starts.map((offset) => f.i32.add(place, offset)) : [];
    const body = (row: Value<"i32"> | Value<"i64">, lanes: 1 | 4) => {
      const emitter = new BodyEmitter(f, kernel, addresses, arrays, plan);
      emitter.rows(row, lanes);
    };
    if (rowsPerCount(kernel) > 1) {
      f.for(start, end, 1, (count) => {
        f.for(0, COUNTED_ROWS, 1, (part) => {
          const first = f.i64.mul(f.i64.extend_i32_u(count), BigInt(COUNTED_ROWS));
          const row = f.i64.add(first, f.i64.extend_i32_u(part));
          f.if(f.i64.lt_u(row, BigInt(kernel.rows)), () => body(row, 1));
        });
      });
    } else if (plan.isRowVector) {
      const count = f.i32.sub(end, start);
      const whole = f.i32.add(start, f.i32.and(count, -LANES));
      f.for(start, whole, LANES, (row) => body(row, 4));
      f.for(whole, end, 1, (row) => body(row, 1));
    } else f.for(start, end, 1, (row) => body(row, 1));
    if (place) f.i32.atomic.store(place, 0);
  });
  m.export(run);
  return m.build();
}

/** The first free place, now taken. There are as many as threads, so one is always free, or soon. */
function takePlace(f: FunctionBuilder, args: Value<"i32">, buffers: number, bytes: number): Value<"i32"> {
  const first = f.i32.load(args, { offset: 4 * buffers });
  const slots = f.i32.load(args, { offset: 4 * buffers + 4 });
  const end = f.i32.add(first, f.i32.mul(slots, bytes));
  const place = f.variable("i32", first);
  f.loop(() => {
    f.breakIf(f.i32.eqz(f.i32.atomic.rmw.cmpxchg(place.get(), 0, 1)));
    const next = f.i32.add(place.get(), bytes);
    place.set(f.select(f.i32.eq(next, end), first, next));
  });
  return place.get();
}

// ------------------------------------------------------------------------------------------------ what to do at once

interface VectorPlan {
  /** Four rows at once. */
  readonly isRowVector: boolean;
  /** Loops whose rounds are computed four at once. */
  readonly loops: ReadonlySet<Loop>;
}

/** How a value changes from one row, or round, to the next: by a constant, not at all (0), or in no simple way (null). */
function stepsIn(variable: IRValue): (value: IRValue) => number | null {
  const known = new Map<IRValue, number | null>();
  const step = (value: IRValue): number | null => {
    if (value === variable || (value.op === "row" && variable.op === "row")) return 1;
    const found = known.get(value);
    if (found !== undefined) return found;
    // Values without operands do not depend on the variable, except accumulators and results, which may.
    let result: number | null = value.op === "accumulator" || value.op === "result" ? null : 0;
    if (value.args.length > 0) {
      const [a, b] = value.args;
      const [x, y] = [step(a), b ? step(b) : 0];
      if (value.args.every((arg) => step(arg) === 0)) result = 0;
      else if (value.type !== "i32" || x === null || y === null) result = null;
      else if (value.op === "add") result = x + y;
      else if (value.op === "sub") result = x - y;
      else if (value.op === "mul" && a.op === "constant") result = y * Number(a.attribute);
      else if (value.op === "mul" && b.op === "constant") result = x * Number(b.attribute);
      else result = null;
    }
    known.set(value, result);
    return result;
  };
  return step;
}

/** Operations on f64 that two vectors do at once. */
const PAIRED: ReadonlySet<string> = new Set([
  "add",
  "sub",
  "mul",
  "div",
  "neg",
  "abs",
  "sqrt",
  "floor",
  "ceil",
  "trunc",
  "mulAdd",
]);
/** Vectors that a loop with accumulators takes in turn, and the longest body that is worth it. */
const TURNS = 4;
const SHORT_BODY = 16;

const NARROW: ReadonlySet<IRType> = new Set(["bool", "i32", "u32", "f32"]);

function planVectors(kernel: Kernel): VectorPlan {
  const loops: Loop[] = [];
  const values: IRValue[] = [];
  const stores: StoreStatement[] = [];
  // What may or may not happen, and what happens in a certain order, is left to one row at a time.
  let isOrdered = kernel.lanes > 1;
  walkStatements(kernel.body, (statement) => {
    if (statement.kind === "let") values.push(statement.value);
    else if (statement.kind === "store") {
      stores.push(statement);
      if (statement.gate) isOrdered = true;
    } else if (statement.kind === "loop") {
      loops.push(statement);
      if (statement.exit) isOrdered = true;
    } else isOrdered = true;
  });
  if (isOrdered || values.some(({ type }) => !NARROW.has(type))) return { isRowVector: false, loops: new Set() };
  const loads = values.filter(({ op }) => op === "load");
  const areVector = (dtype: DType) => DTYPES[dtype].bytes === 4 || isHalf(dtype);
  const sideBySide = (variable: IRValue, among: readonly IRValue[]) => {
    const step = stepsIn(variable);
    return among.filter(
      (value) => step(value.args[0]) === 1 && areVector(kernel.buffers[value.attribute as number].dtype),
    ).length;
  };
  const row: IRValue = { id: -1, op: "row", type: "i32", args: [], attribute: null, depth: 0 };
  const byRow = stepsIn(row);
  const isStoredByRow = stores.every(
    ({ index, buffer }) => byRow(index) === 1 && areVector(kernel.buffers[buffer].dtype),
  );
  const rowCount = sideBySide(row, loads);
  const innermost = loops.filter((loop) => loop.body.every((statement) => statement.kind !== "loop"));
  const chosen = innermost.filter((loop) => loop.extent >= 2 * LANES && isVectorizable(loop));
  const loopCount = chosen.reduce((sum, loop) => sum + sideBySide(loop.index, loads), 0);
  if (isStoredByRow && rowCount >= loopCount) return { isRowVector: true, loops: new Set() };
  return { isRowVector: false, loops: new Set(chosen) };
}

/** The ways to combine the four lanes of an accumulator, which must start from what they leave unchanged. */
const IDENTITY: Readonly<Record<string, readonly (number | boolean)[]>> = {
  add: [0],
  mul: [1],
  min: [Infinity, 2147483647, 4294967295],
  max: [-Infinity, -2147483648, 0],
  and: [true],
  or: [false],
};

function combiningOp({ value, next }: Loop["accumulators"][number]): BinaryOp | null {
  if (!(next.op in IDENTITY)) return null;
  return next.args.filter((arg) => arg === value).length === 1 ? (next.op as BinaryOp) : null;
}

function isVectorizable(loop: Loop): boolean {
  const combines = loop.accumulators.every((accumulator) => {
    const op = combiningOp(accumulator);
    const { initial } = accumulator;
    return op !== null && initial.op === "constant" && IDENTITY[op].includes(initial.attribute as number);
  });
  // A running total may only be used to make the next one: a lane does not know the others' share.
  const isPrivate = loop.accumulators.every(({ value, next }) =>
    loop.body.every((s) => {
      if (s.kind === "let") return !s.value.args.includes(next) && (s.value === next || !s.value.args.includes(value));
      return s.kind !== "store" || (s.value !== next && s.value !== value && s.index !== next && s.index !== value);
    }),
  );
  const step = stepsIn(loop.index);
  const stores = loop.body.every((s) => s.kind !== "store" || step(s.index) === 1);
  return combines && isPrivate && stores;
}

// ------------------------------------------------------------------------------------------------ the body

/**
 * A value as the emitter holds it: the same in all lanes, rising by a constant from lane to lane, four values in a vector,
 * four f64 in two vectors, or, where they are other things of 64 bits, four values one by one.
 */
type Form =
  | { readonly kind: "uniform"; readonly value: Value }
  | { readonly kind: "rising"; readonly value: Value<"i32">; readonly step: number }
  | { readonly kind: "lanes"; readonly value: Value<"v128"> }
  | { readonly kind: "pair"; readonly values: readonly [Value<"v128">, Value<"v128">] }
  | { readonly kind: "each"; readonly values: readonly Value[] };

/** The values a form is made of, and forms made of such. */
const partsOf = (form: Form): readonly Value[] => ("values" in form ? form.values : [form.value]);

function joined(kinds: readonly Form["kind"][], values: readonly Value[]): Form[] {
  let at = 0;
  return kinds.map((kind) => {
    const count = kind === "each" ? LANES : kind === "pair" ? 2 : 1;
    at += count;
    if (count === 1) return { kind, value: values[at - 1] } as Form;
    return { kind, values: values.slice(at - count, at) } as unknown as Form;
  });
}

const wasmType = { bool: "i32", i32: "i32", u32: "i32", i64: "i64", u64: "i64", f32: "f32", f64: "f64" } as const;
const isUnsigned = (type: IRType): boolean => type === "u32" || type === "u64";
const shapeOf = (type: IRType): "f32x4" | "i32x4" => (type === "f32" ? "f32x4" : "i32x4");

/** Elements side by side in memory: a buffer, or an array. */
interface Place {
  readonly start: Value<"i32">;
  readonly dtype: DType;
}

/** Four of them become a vector, and go back, in a few instructions. */
const isHalf = (dtype: DType): boolean => dtype === "f16" || dtype === "bf16";

/** Four of them are a vector as they lie. */
const isWord = ({ dtype }: Place): boolean => DTYPES[dtype].bytes === 4;

/** Whether a number is one of elements, and so never negative. */
function isCount({ op, args, attribute }: IRValue, depth = 0): boolean {
  const all = () => depth < 8 && args.every((arg) => isCount(arg, depth + 1));
  switch (op) {
    case "row":
    case "lane":
    case "index":
      return true;
    case "constant":
      return Number(attribute) >= 0;
    case "add":
    case "mul":
    case "min":
    case "idiv":
      return all();
    default:
      return false;
  }
}

/** Values that are the same in all lanes, but read to be combined with some that are not. */
function spreadValues(kernel: Kernel, varying: ReadonlySet<number>): ReadonlySet<number> {
  const spread = new Set<number>();
  if (kernel.lanes === 1) return spread;
  const kept = new Set<number>();
  const keep = (value: IRValue | null) => value && kept.add(value.id);
  walkStatements(kernel.body, (statement) => {
    switch (statement.kind) {
      case "let":
        for (const arg of statement.value.args) (varying.has(statement.value.id) ? spread : kept).add(arg.id);
        break;
      case "read":
        keep(statement.index);
        break;
      case "write":
        for (const value of [statement.index, statement.gate, ...statement.values]) keep(value);
        break;
      case "store":
      case "atomic":
      case "count":
        for (const value of [statement.index, statement.gate, statement.value]) keep(value);
        break;
      case "branch":
        for (const { whenTrue, whenFalse } of statement.results) for (const side of [whenTrue, whenFalse]) keep(side);
        keep(statement.condition);
        break;
      case "loop":
        for (const { initial, next } of statement.accumulators) for (const value of [initial, next]) keep(value);
        keep(statement.exit);
        break;
      case "barrier":
        break;
    }
  });
  for (const id of kept) spread.delete(id);
  return spread;
}

/** Values that may differ between the lanes of a row. */
function varyingValues(kernel: Kernel): ReadonlySet<number> {
  const varying = new Set<number>();
  if (kernel.lanes === 1) return varying;
  const varies = (value: IRValue) => value.op === "lane" || varying.has(value.id);
  // An accumulator may come to vary in a later round, so what depends on it is looked at again until nothing changes.
  for (let before = -1; before < varying.size; ) {
    before = varying.size;
    walkStatements(kernel.body, (statement) => {
      if (statement.kind === "let") {
        const { id, op, args } = statement.value;
        if (op !== "combineLanes" && args.some(varies)) varying.add(id);
      } else if (statement.kind === "read") {
        if (varies(statement.index)) for (const { id } of statement.results) varying.add(id);
      } else if (statement.kind === "loop") {
        const { isLaneLoop, exit } = statement;
        if (isLaneLoop) varying.add(statement.index.id);
        const isUneven = isLaneLoop || (exit !== null && varies(exit));
        for (const { value, initial, next, result } of statement.accumulators) {
          if (!isUneven && !varies(initial) && !varies(next)) continue;
          varying.add(value.id);
          varying.add(result.id);
        }
      } else if (statement.kind === "branch") {
        for (const { value, whenTrue, whenFalse } of statement.results) {
          if (varies(whenTrue) || varies(whenFalse)) varying.add(value.id);
        }
      }
    });
  }
  return varying;
}

class BodyEmitter {
  private readonly forms = new Map<number, Form>();
  private readonly varying: ReadonlySet<number>;
  private readonly spread: ReadonlySet<number>;
  private row: Form | null = null;

  constructor(
    private readonly f: FunctionBuilder,
    private readonly kernel: Kernel,
    private readonly addresses: readonly Value<"i32">[],
    private readonly arrays: readonly Value<"i32">[],
    private readonly plan: VectorPlan,
  ) {
    this.varying = varyingValues(kernel);
    this.spread = spreadValues(kernel, this.varying);
  }

  rows(row: Value<"i32"> | Value<"i64">, lanes: 1 | 4): void {
    this.row = lanes === 1 ? { kind: "uniform", value: row } : { kind: "rising", value: row as Value<"i32">, step: 1 };
    this.statements(this.kernel.body);
  }

  private statements(list: readonly Statement[]): void {
    for (const statement of list) {
      switch (statement.kind) {
        case "let":
          this.forms.set(statement.value.id, this.compute(statement.value));
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
        case "atomic":
          if (this.kernel.lanes > 1) this.eachLane(statement.gate, (lane) => this.atomic(statement, lane));
          else this.gated(statement.gate, () => this.atomic(statement, 0));
          break;
      }
    }
  }

  /** Writes once for all lanes where they agree on whether to, and lane by lane where they do not. */
  private gated(gate: IRValue | null, write: (lane: number | null) => void): void {
    const form = gate ? this.form(gate) : null;
    if (!form) write(null);
    else if (form.kind === "lanes") this.eachLane(gate, write);
    else this.f.if(this.single(form) as Value<"i32">, () => write(null));
  }

  private eachLane(gate: IRValue | null, write: (lane: number) => void): void {
    for (let lane = 0; lane < LANES; lane++) {
      if (gate) this.f.if(this.laneOf(this.form(gate), "bool", lane) as Value<"i32">, () => write(lane));
      else write(lane);
    }
  }

  private form(value: IRValue): Form {
    if (value.op === "constant") return { kind: "uniform", value: this.constant(value) };
    if (value.op === "row") return this.row as Form;
    if (value.op === "lane") return this.laneForm();
    return this.forms.get(value.id) as Form;
  }

  private laneForm(): Form {
    const zero = this.f.i32.const(0);
    return this.kernel.lanes === 1 ? { kind: "uniform", value: zero } : { kind: "rising", value: zero, step: 1 };
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
    const initial = loop.accumulators.map(({ initial: form, value }) =>
      this.as(this.formOf(value), this.form(form), value.type),
    );
    if (loop.isLaneLoop && loop.extent % LANES !== 0) {
      throw new UnsupportedError(`${this.kernel.name}: ${loop.extent} rounds do not divide among ${LANES} lanes`);
    }
    const results = loop.isLaneLoop
      ? this.rounds(loop, 0, loop.extent, LANES, initial, "rising")
      : this.rounds(loop, 0, loop.extent, 1, initial, "uniform");
    this.finish(loop, results);
  }

  /** How a value is held that comes out of a loop or a branch: as four where lanes, or rows, come to differ. */
  private formOf({ id, type }: IRValue): "uniform" | "lanes" | "pair" | "each" {
    const isFour = (this.row as Form).kind === "rising" || this.varying.has(id);
    if (!isFour) return "uniform";
    return NARROW.has(type) ? "lanes" : type === "f64" ? "pair" : "each";
  }

  private as(kind: Form["kind"], form: Form, type: IRType): Form {
    if (kind === "each") return { kind, values: [0, 1, 2, 3].map((lane) => this.laneOf(form, type, lane)) };
    if (kind === "pair") return { kind, values: this.pair(form) };
    return kind === "lanes" ? { kind, value: this.lanes(form, type) } : { kind: "uniform", value: this.single(form) };
  }

  private branch({ condition, whenTrue, whenFalse, results }: Branch): void {
    const { f } = this;
    const test = this.single(this.form(condition)) as Value<"i32">;
    const side = (statements: readonly Statement[], values: readonly IRValue[]) => () => {
      this.statements(statements);
      return values.flatMap((value, i) => {
        const { value: result } = results[i];
        return partsOf(this.as(this.formOf(result), this.form(value), result.type));
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
    const forms = joined(
      results.map(({ value }) => this.formOf(value)),
      values,
    );
    results.forEach(({ value }, i) => {
      this.forms.set(value.id, forms[i]);
    });
  }

  private rounds(
    loop: Loop,
    from: number,
    to: number,
    step: number,
    initial: readonly Form[],
    index: "uniform" | "rising",
  ): Form[] {
    const { f } = this;
    const kinds = initial.map(({ kind }) => kind);
    const { exit } = loop;
    const isUneven = exit !== null && this.varying.has(exit.id);
    const first = isUneven ? [f.i32x4.const([0, 0, 0, 0])] : [];
    const results = f.fold(f.i32.const(from), to, step, [...initial.flatMap(partsOf), ...first], (i, state) => {
      this.forms.set(
        loop.index.id,
        index === "uniform" ? { kind: "uniform", value: i } : { kind: "rising", value: i, step: 1 },
      );
      const carried = joined(kinds, state);
      loop.accumulators.forEach(({ value }, k) => {
        this.forms.set(value.id, carried[k]);
      });
      this.statements(loop.body);
      const made = loop.accumulators.map(({ next }, k) => this.as(kinds[k], this.form(next), next.type));
      if (exit && isUneven) return this.leaveOneByOne(loop, exit, state.at(-1) as Value<"v128">, carried, made);
      const next = made.flatMap(partsOf);
      if (exit) f.if(this.single(this.form(exit)) as Value<"i32">, () => f.break(...next));
      return next;
    });
    return joined(kinds, results);
  }

  /** The end of a round that not all lanes are in: those that have left keep what they had until the last one leaves. */
  private leaveOneByOne(
    { accumulators, body }: Loop,
    exit: IRValue,
    left: Value<"v128">,
    carried: readonly Form[],
    made: readonly Form[],
  ): Value[] {
    const { f } = this;
    walkStatements(body, ({ kind }) => {
      if (kind === "let" || kind === "loop" || kind === "branch" || kind === "read") return;
      throw new UnsupportedError(`${this.kernel.name}: ${kind} in a loop that lanes leave one by one, on the CPU`);
    });
    const next = accumulators.flatMap(({ value }, k) => {
      const choice: IRValue = { ...value, op: "select", args: [exit, value, value] };
      return partsOf(
        this.as(made[k].kind, this.vector(choice, [{ kind: "lanes", value: left }, carried[k], made[k]]), value.type),
      );
    });
    const leaving = f.v128.or(left, this.lanes(this.form(exit), "bool"));
    f.if(f.i32x4.all_true(leaving), () => f.break(...next, leaving));
    return [...next, leaving];
  }

  /** Four rounds at once, the lanes combined at the end, then the rounds that are left. */
  private vectorLoop(loop: Loop): void {
    const whole = loop.extent - (loop.extent % LANES);
    const initial = loop.accumulators.map((accumulator): Form => {
      return { kind: "lanes", value: this.lanes(this.form(accumulator.initial), accumulator.value.type) };
    });
    const isShort = loop.accumulators.length > 0 && loop.body.length <= SHORT_BODY && whole >= 4 * LANES * TURNS;
    const taken = isShort ? whole - (whole % (LANES * TURNS)) : 0;
    const begun = taken > 0 ? this.inTurns(loop, taken, initial) : initial;
    const vectors = taken === whole ? begun : this.rounds(loop, taken, whole, LANES, begun, "rising");
    const combined = vectors.map((form, k): Form => {
      const accumulator = loop.accumulators[k];
      const op = combiningOp(accumulator) as BinaryOp;
      const { type } = accumulator.value;
      const parts = [0, 1, 2, 3].map((lane) => this.laneOf(form, type, lane));
      return { kind: "uniform", value: this.pairwise(op, type, parts) };
    });
    const results = whole === loop.extent ? combined : this.rounds(loop, whole, loop.extent, 1, combined, "uniform");
    this.finish(loop, results);
  }

  /**
   * Vectors of rounds that take turns with accumulators of their own: a sum that waits for the one before it would be all
   * that a short body does.
   */
  private inTurns(loop: Loop, to: number, initial: readonly Form[]): Form[] {
    const { f } = this;
    const count = initial.length;
    const turns = Array.from({ length: TURNS }, (_, turn) => turn);
    const state = turns.flatMap(() => initial.flatMap(partsOf));
    const sums = f.fold(f.i32.const(0), to, LANES * TURNS, state, (i, carried) =>
      turns.flatMap((turn) => {
        this.forms.set(loop.index.id, { kind: "rising", value: f.i32.add(i, turn * LANES), step: 1 });
        loop.accumulators.forEach(({ value }, k) => {
          this.forms.set(value.id, { kind: "lanes", value: carried[turn * count + k] as Value<"v128"> });
        });
        this.statements(loop.body);
        return loop.accumulators.map(({ next }) => this.lanes(this.form(next), next.type));
      }),
    );
    return loop.accumulators.map(({ value, next }, k) => {
      const of = (turn: number): Form => ({ kind: "lanes", value: sums[turn * count + k] as Value<"v128"> });
      const merge = (a: Form, b: Form) => this.vector({ ...next, args: [value, value] }, [a, b]);
      return merge(merge(of(0), of(1)), merge(of(2), of(3)));
    });
  }

  /** The order of combining four lanes, wherever they come from. */
  private pairwise(op: CombineOp | BinaryOp, type: IRType, parts: readonly Value[]): Value {
    const pair = (a: Value, b: Value) => this.binary(op, type, a, b);
    return pair(pair(parts[0], parts[1]), pair(parts[2], parts[3]));
  }

  private finish(loop: Loop, results: readonly Form[]): void {
    loop.accumulators.forEach(({ result }, k) => {
      this.forms.set(result.id, results[k]);
    });
  }

  // ---------------------------------------------------------------------------------------------- forms

  private single(form: Form): Value {
    if (form.kind === "uniform" || form.kind === "rising") return form.value;
    throw new Error("emitWasm: four values where one is needed");
  }

  /** A value as four. Truth is a mask: all bits or none. */
  private lanes(form: Form, type: IRType): Value<"v128"> {
    const { f } = this;
    if (form.kind === "lanes") return form.value;
    if ("values" in form || !NARROW.has(type)) {
      throw new UnsupportedError(`${this.kernel.name}: ${type} in vectors of four on the CPU`);
    }
    if (form.kind === "rising") {
      const steps = f.i32x4.const([0, form.step, 2 * form.step, 3 * form.step]);
      return f.i32x4.add(f.i32x4.splat(form.value), steps);
    }
    if (type === "f32") return f.f32x4.splat(form.value as Value<"f32">);
    const word = form.value as Value<"i32">;
    return f.i32x4.splat(type === "bool" ? f.i32.sub(0, word) : word);
  }

  /** Four f64 as two vectors. */
  private pair(form: Form): [Value<"v128">, Value<"v128">] {
    const { f } = this;
    if (form.kind === "pair") return [...form.values];
    const one = (lane: number) => this.laneOf(form, "f64", lane) as Value<"f64">;
    const first = f.f64x2.splat(one(0));
    if (form.kind === "uniform") return [first, first];
    return [f.f64x2.replace_lane(first, one(1), 1), f.f64x2.replace_lane(f.f64x2.splat(one(2)), one(3), 1)];
  }

  private extract(vector: Value<"v128">, type: IRType, lane: number): Value {
    const { f } = this;
    if (type === "f32") return f.f32x4.extract_lane(vector, lane);
    const word = f.i32x4.extract_lane(vector, lane);
    return type === "bool" ? f.i32.and(word, 1) : word;
  }

  private laneOf(form: Form, type: IRType, lane: number): Value {
    if (form.kind === "uniform") return form.value;
    if (form.kind === "each") return form.values[lane];
    if (form.kind === "pair") return this.f.f64x2.extract_lane(form.values[lane >> 1], lane % 2);
    if (form.kind === "rising") return this.f.i32.add(form.value, lane * form.step);
    return this.extract(form.value, type, lane);
  }

  private gathered(type: IRType, part: (lane: number) => Value): Form {
    const { f } = this;
    if (!NARROW.has(type)) return { kind: "each", values: [0, 1, 2, 3].map(part) };
    let vector: Value<"v128"> =
      type === "f32" ? f.f32x4.splat(part(0) as Value<"f32">) : f.i32x4.splat(this.asMask(part(0), type));
    for (let lane = 1; lane < LANES; lane++) {
      vector =
        type === "f32"
          ? f.f32x4.replace_lane(vector, part(lane) as Value<"f32">, lane)
          : f.i32x4.replace_lane(vector, this.asMask(part(lane), type), lane);
    }
    return { kind: "lanes", value: vector };
  }

  private asMask(value: Value, type: IRType): Value<"i32"> {
    const word = value as Value<"i32">;
    return type === "bool" ? this.f.i32.sub(0, word) : word;
  }

  // ---------------------------------------------------------------------------------------------- values

  private compute(value: IRValue): Form {
    const operands = value.args.map((arg) => this.form(arg));
    if (value.op === "load") {
      return this.load(this.placeOf("buffer", value.attribute as number), value.type, value.args[0]);
    }
    if (value.op === "combineLanes" && this.kernel.lanes > 1) return this.combine(value, operands[0]);
    if (value.op === "fromLane") return this.fromLane(value, operands);
    if (operands.every(({ kind }) => kind === "uniform")) {
      return {
        kind: "uniform",
        value: this.scalar(
          value,
          operands.map((form) => this.single(form)),
        ),
      };
    }
    return this.rising(value, operands) ?? this.vector(value, operands);
  }

  private combine({ attribute, type }: IRValue, form: Form): Form {
    const parts = [0, 1, 2, 3].map((lane) => this.laneOf(form, type, lane));
    return { kind: "uniform", value: this.pairwise(attribute as CombineOp, type, parts) };
  }

  /** A vector's bytes in another order: those of word i are 4 i … 4 i + 3. */
  private fromLane({ type, args }: IRValue, [form, from]: readonly Form[]): Form {
    const { f } = this;
    if (form.kind === "uniform") return form;
    if ("values" in form) throw new UnsupportedError(`${this.kernel.name}: exchanges of ${type} on the CPU`);
    const words = f.i32x4.mul(this.lanes(from, args[1].type), f.i32x4.splat(f.i32.const(0x04040404)));
    const bytes = f.i32x4.add(words, f.i32x4.splat(f.i32.const(0x03020100)));
    return { kind: "lanes", value: f.i8x16.swizzle(this.lanes(form, type), bytes) };
  }

  /** Sums, differences and multiples of what rises by a constant rise by a constant. */
  private rising(value: IRValue, [a, b]: readonly Form[]): Form | null {
    const { f } = this;
    if (value.type !== "i32" || !b || a.kind === "lanes" || b.kind === "lanes") return null;
    if ("values" in a || "values" in b) return null;
    const stepOf = (form: Form) => (form.kind === "rising" ? form.step : 0);
    const [x, y] = [a.value as Value<"i32">, b.value as Value<"i32">];
    if (value.op === "add") return { kind: "rising", value: f.i32.add(x, y), step: stepOf(a) + stepOf(b) };
    if (value.op === "sub") return { kind: "rising", value: f.i32.sub(x, y), step: stepOf(a) - stepOf(b) };
    if (value.op !== "mul") return null;
    const [first, second] = value.args;
    const factor = second.op === "constant" ? second : first.op === "constant" ? first : null;
    if (!factor) return null;
    const times = Number(factor.attribute);
    const moving = factor === second ? a : b;
    return { kind: "rising", value: f.i32.mul(x, y), step: stepOf(moving) * times };
  }

  private placeOf(from: "buffer" | "array", memory: number): Place {
    if (from === "array") return { start: this.arrays[memory], dtype: this.kernel.arrays[memory].type };
    return { start: this.addresses[memory], dtype: this.kernel.buffers[memory].dtype };
  }

  /** An index, and a constant that is added to it: instructions have a place for that. */
  private indexOf(index: IRValue): { readonly form: Form; readonly by: number } {
    const [base, offset] = index.args;
    const by = index.op === "add" && offset.op === "constant" ? Number(offset.attribute) : 0;
    // The sum in an instruction does not wrap, so both parts must be numbers of elements.
    return by > 0 && index.type === "i32" && isCount(base)
      ? { form: this.form(base), by }
      : { form: this.form(index), by: 0 };
  }

  private load(place: Place, type: IRType, index: IRValue, part = 0): Form {
    const { f } = this;
    const { form, by: first } = this.indexOf(index);
    const by = first + part;
    const at = (i: Value<"i32">) => this.loadOne(place.dtype, this.addressOf(place, i), this.offsetOf(place, by));
    if (form.kind === "uniform") return { kind: "uniform", value: at(form.value as Value<"i32">) };
    if (form.kind === "rising" && form.step === 1 && isWord(place)) {
      return { kind: "lanes", value: f.v128.load(this.addressOf(place, form.value), this.offsetOf(place, by)) };
    }
    if (form.kind === "rising" && form.step === 1 && isHalf(place.dtype)) {
      const decode = place.dtype === "f16" ? decodeHalf : decodeBrain;
      const words = f.v128.load16x4_u(this.addressOf(place, form.value), this.offsetOf(place, by));
      return { kind: "lanes", value: decode(fourWords(f), words) };
    }
    if (form.kind === "rising" && form.step === 1 && place.dtype === "f64") {
      const start = this.addressOf(place, form.value);
      const half = (part: number) => f.v128.load(start, this.offsetOf(place, by + part));
      return { kind: "pair", values: [half(0), half(2)] };
    }
    return this.gathered(type, (lane) => at(this.laneOf(form, "i32", lane) as Value<"i32">));
  }

  private read({ from, memory, index, results }: ReadStatement): void {
    const place = this.placeOf(from, memory);
    results.forEach((result, part) => {
      this.forms.set(result.id, this.splat(place, result, index, part) ?? this.load(place, result.type, index, part));
    });
  }

  /** A number that is needed in every lane is loaded into every lane. */
  private splat(place: Place, { id }: IRValue, index: IRValue, part: number): Form | null {
    const { f } = this;
    const { form, by } = this.indexOf(index);
    const isFloat = place.dtype === "f32" || place.dtype === "f64";
    if (form.kind !== "uniform" || !isFloat || !this.spread.has(id)) return null;
    const at = this.addressOf(place, form.value as Value<"i32">);
    const offset = this.offsetOf(place, by + part);
    if (place.dtype === "f32") return { kind: "lanes", value: f.v128.load32_splat(at, offset) };
    const both = f.v128.load64_splat(at, offset);
    return { kind: "pair", values: [both, both] };
  }

  private write({ array, index, values }: WriteStatement, lane: number | null): void {
    const place = this.placeOf("array", array);
    values.forEach((value, part) => {
      this.put(place, index, value, lane, part);
    });
  }

  private store({ buffer, index, value }: StoreStatement, lane: number | null): void {
    this.put(this.placeOf("buffer", buffer), index, value, lane);
  }

  /** Lanes come by one after the other. */
  private count({ array, index, value }: CountStatement, lane: number): void {
    const { f } = this;
    const at = this.addressOf(this.placeOf("array", array), this.laneOf(this.form(index), "i32", lane));
    f.i32.store(at, f.i32.add(f.i32.load(at), this.laneOf(this.form(value), "i32", lane) as Value<"i32">));
  }

  private put(place: Place, at: IRValue, value: IRValue, lane: number | null, part = 0): void {
    const { f } = this;
    const { form: index, by: first } = this.indexOf(at);
    const by = first + part;
    const form = this.form(value);
    if (lane === null && index.kind === "rising" && index.step === 1 && place.dtype === "f64") {
      const start = this.addressOf(place, index.value);
      for (const [half, vector] of this.pair(form).entries()) {
        f.v128.store(start, vector, this.offsetOf(place, by + 2 * half));
      }
      return;
    }
    if (lane === null && index.kind === "rising" && index.step === 1 && isHalf(place.dtype)) {
      const encode = place.dtype === "f16" ? encodeHalf : encodeBrain;
      const words = encode(fourWords(f), this.lanes(form, value.type));
      const packed = f.i16x8.narrow_i32x4_u(words, words);
      f.v128.store64_lane(this.addressOf(place, index.value), packed, 0, this.offsetOf(place, by));
      return;
    }
    const isAll = lane === null && index.kind === "rising" && isWord(place);
    if (isAll && index.step === 1) {
      f.v128.store(this.addressOf(place, index.value), this.lanes(form, value.type), this.offsetOf(place, by));
    } else if (isAll && index.step > 0 && form.kind === "lanes" && value.type !== "bool") {
      const start = this.addressOf(place, index.value);
      for (const each of [0, 1, 2, 3]) {
        f.v128.store32_lane(start, form.value, each, this.offsetOf(place, by + each * index.step));
      }
    } else {
      for (const each of this.writers(index, lane)) {
        const to = this.addressOf(place, this.laneOf(index, "i32", each) as Value<"i32">);
        this.storeOne(place.dtype, to, this.laneOf(form, value.type, each), this.offsetOf(place, by));
      }
    }
  }

  /** The lanes that write one by one: a certain one, one where all write to the same place, or all. */
  private writers(index: Form, lane: number | null): readonly number[] {
    if (lane !== null) return [lane];
    return index.kind === "uniform" ? [0] : [0, 1, 2, 3];
  }

  /** Memory ends before 32 bits do, so the upper half of a longer index says nothing. */
  private addressOf({ start, dtype }: Place, index: Value): Value<"i32"> {
    const { f } = this;
    const shift = Math.log2(DTYPES[dtype].bytes);
    const at = index.type === "i64" ? f.i32.wrap_i64(index as Value<"i64">) : (index as Value<"i32">);
    return f.i32.add(start, shift === 0 ? at : f.i32.shl(at, shift));
  }

  private offsetOf({ dtype }: Place, elements: number): { readonly offset: number } {
    return { offset: elements * DTYPES[dtype].bytes };
  }

  private loadOne(dtype: DType, at: Value<"i32">, offset: { readonly offset: number }): Value {
    const { f } = this;
    switch (dtype) {
      case "bool":
        return f.i32.ne(f.i32.load8_u(at, offset), 0);
      case "i8":
        return f.i32.load8_s(at, offset);
      case "u8":
        return f.i32.load8_u(at, offset);
      case "i16":
        return f.i32.load16_s(at, offset);
      case "u16":
        return f.i32.load16_u(at, offset);
      case "i32":
      case "u32":
        return f.i32.load(at, offset);
      case "i64":
      case "u64":
        return f.i64.load(at, offset);
      case "f16":
        return f.f32.reinterpret_i32(decodeHalf(oneWord(f), f.i32.load16_u(at, offset)));
      case "bf16":
        return f.f32.reinterpret_i32(decodeBrain(oneWord(f), f.i32.load16_u(at, offset)));
      case "f32":
        return f.f32.load(at, offset);
      case "f64":
        return f.f64.load(at, offset);
      default:
        throw new UnsupportedError(`${dtype} is stored as pairs of floats and read one half at a time`);
    }
  }

  private storeOne(dtype: DType, at: Value<"i32">, value: Value, offset: { readonly offset: number }): void {
    const { f } = this;
    switch (dtype) {
      case "bool":
      case "i8":
      case "u8":
        f.i32.store8(at, value as Value<"i32">, offset);
        break;
      case "i16":
      case "u16":
        f.i32.store16(at, value as Value<"i32">, offset);
        break;
      case "i32":
      case "u32":
        f.i32.store(at, value as Value<"i32">, offset);
        break;
      case "i64":
      case "u64":
        f.i64.store(at, value as Value<"i64">, offset);
        break;
      case "f16":
        f.i32.store16(at, encodeHalf(oneWord(f), f.i32.reinterpret_f32(value as Value<"f32">)), offset);
        break;
      case "bf16":
        f.i32.store16(at, encodeBrain(oneWord(f), f.i32.reinterpret_f32(value as Value<"f32">)), offset);
        break;
      case "f32":
        f.f32.store(at, value as Value<"f32">, offset);
        break;
      case "f64":
        f.f64.store(at, value as Value<"f64">, offset);
        break;
      default:
        throw new UnsupportedError(`${dtype} is stored as pairs of floats and written one half at a time`);
    }
  }

  /** Several threads may change an element at once: each tries until nobody was faster. */
  private atomic({ op, buffer, index, value }: AtomicStatement, lane: number): void {
    const { f } = this;
    const at = this.addressOf(
      this.placeOf("buffer", buffer),
      this.laneOf(this.form(index), "i32", lane) as Value<"i32">,
    );
    const operand = this.laneOf(this.form(value), value.type, lane);
    const { type } = value;
    const wide = wasmType[type] === "i64" || wasmType[type] === "f64";
    const word = wide ? "i64" : "i32";
    const isFloat = type === "f32" || type === "f64";
    const asBits = (x: Value) => (isFloat ? f.op(`${word}.reinterpret_${wasmType[type]}`, x) : x);
    const fromBits = (x: Value) => (isFloat ? f.op(`${wasmType[type]}.reinterpret_${word}`, x) : x);
    const load = () => (wide ? f.i64.atomic.load(at) : f.i32.atomic.load(at)) as Value;
    const seen = f.variable(word, load() as Value<"i32">);
    f.loop(() => {
      const before = seen.get() as Value;
      const wanted = asBits(this.binary(op, type, fromBits(before), operand));
      const found = wide
        ? f.i64.atomic.rmw.cmpxchg(at, before as Value<"i64">, wanted as Value<"i64">)
        : f.i32.atomic.rmw.cmpxchg(at, before as Value<"i32">, wanted as Value<"i32">);
      f.breakIf(
        wide
          ? f.i64.eq(found as Value<"i64">, before as Value<"i64">)
          : f.i32.eq(found as Value<"i32">, before as Value<"i32">),
      );
      seen.set(found as Value<"i32">);
    });
  }

  // ---------------------------------------------------------------------------------------------- one at a time

  private scalar(value: IRValue, operands: readonly Value[]): Value {
    const { f } = this;
    const [a, b, c] = operands;
    const from = value.args[0].type;
    switch (value.op) {
      case "select":
        return f.select(a as Value<"i32">, b, c);
      case "mulAdd":
        return this.binary("add", value.type, this.binary("mul", value.type, a, b), c);
      case "convert":
        return this.convert(from, value.type, a);
      case "bitcast":
        return this.bitcast(from, value.type, a);
      case "highWord":
        return f.i32.wrap_i64(f.i64.shr_u(f.i64.reinterpret_f64(a as Value<"f64">), 32n));
      case "lowWord":
        return f.i32.wrap_i64(f.i64.reinterpret_f64(a as Value<"f64">));
      case "fromWords": {
        const high = f.i64.shl(f.i64.extend_i32_u(a as Value<"i32">), 32n);
        return f.f64.reinterpret_i64(f.i64.or(high, f.i64.extend_i32_u(b as Value<"i32">)));
      }
      case "signExtend":
        return value.attribute === 8 ? f.i32.extend8_s(a as Value<"i32">) : f.i32.extend16_s(a as Value<"i32">);
      case "combineLanes":
        return a;
      case "eq":
      case "ne":
      case "lt":
      case "le":
      case "gt":
      case "ge":
        return this.compare(value.op, from, a, b);
      case "neg":
      case "abs":
      case "floor":
      case "ceil":
      case "trunc":
      case "roundEven":
      case "sqrt":
      case "not":
        return this.unary(value.op, value.type, a);
      default:
        return this.binary(value.op as BinaryOp, value.type, a, b);
    }
  }

  private binary(op: BinaryOp, type: IRType, a: Value, b: Value): Value {
    const { f } = this;
    const wasm = wasmType[type];
    const isFloat = type === "f32" || type === "f64";
    const sign = isUnsigned(type) ? "_u" : "_s";
    switch (op) {
      case "div":
        return f.op(`${wasm}.div`, a, b);
      case "idiv":
        return f.op(`${wasm}.div${sign}`, a, b);
      case "irem":
        return f.op(`${wasm}.rem${sign}`, a, b);
      case "min":
      case "max": {
        const wins = this.compare(op === "min" ? "lt" : "gt", type, a, b) as Value<"i32">;
        const test = isFloat ? f.i32.or(f.op(`${wasm}.ne`, a, a) as Value<"i32">, wins) : wins;
        return f.select(test, a, b);
      }
      case "shl":
        return f.op(`${wasm}.shl`, a, b);
      case "shr":
        return f.op(`${wasm}.shr${sign}`, a, b);
      default:
        return f.op(`${wasm}.${op}`, a, b);
    }
  }

  private compare(op: CompareOp, type: IRType, a: Value, b: Value): Value {
    const { f } = this;
    const isFloat = type === "f32" || type === "f64";
    const sign = isFloat || op === "eq" || op === "ne" ? "" : isUnsigned(type) ? "_u" : "_s";
    return f.op(`${wasmType[type]}.${op}${sign}`, a, b);
  }

  private unary(op: UnaryOp, type: IRType, a: Value): Value {
    const { f } = this;
    if (op === "not") {
      if (type === "bool") return f.i32.eqz(a as Value<"i32">);
      return wasmType[type] === "i64" ? f.i64.xor(a as Value<"i64">, -1n) : f.i32.xor(a as Value<"i32">, -1);
    }
    return f.op(`${wasmType[type]}.${op === "roundEven" ? "nearest" : op}`, a);
  }

  private convert(from: IRType, to: IRType, a: Value): Value {
    const { f } = this;
    const [source, target] = [wasmType[from], wasmType[to]];
    const sign = (type: IRType) => (isUnsigned(type) ? "u" : "s");
    if (source === target) return a;
    if (target === "f64" && source === "f32") return f.f64.promote_f32(a as Value<"f32">);
    if (target === "f32" && source === "f64") return f.f32.demote_f64(a as Value<"f64">);
    if (target === "i64" && source === "i32") return f.op(`i64.extend_i32_${sign(from)}`, a);
    if (target === "i32" && source === "i64") return f.i32.wrap_i64(a as Value<"i64">);
    if (target === "f32" || target === "f64") return f.op(`${target}.convert_${source}_${sign(from)}`, a);
    return f.op(`${target}.trunc_sat_${source}_${sign(to)}`, a);
  }

  private bitcast(from: IRType, to: IRType, a: Value): Value {
    const [source, target] = [wasmType[from], wasmType[to]];
    return source === target ? a : this.f.op(`${target}.reinterpret_${source}`, a);
  }

  // ---------------------------------------------------------------------------------------------- four at a time

  private paired(op: IRValue["op"], operands: readonly Form[]): Form {
    const { f } = this;
    const halves = operands.map((form) => this.pair(form));
    const half = (i: 0 | 1): Value<"v128"> => {
      const [a, b, c] = halves.map((each) => each[i]);
      if (op === "mulAdd") return f.f64x2.add(f.f64x2.mul(a, b), c);
      return f.op(`f64x2.${op}`, ...(b ? [a, b] : [a])) as Value<"v128">;
    };
    return { kind: "pair", values: [half(0), half(1)] };
  }

  private vector(value: IRValue, operands: readonly Form[]): Form {
    const { f } = this;
    const { op, type, args } = value;
    const from = args[0].type;
    const lane = (i: number) => this.lanes(operands[i], args[i].type);
    const shape = shapeOf(from);
    const made = (vector: Value): Form => ({ kind: "lanes", value: vector as Value<"v128"> });
    const oneByOne = () =>
      this.gathered(type, (i) =>
        this.scalar(
          value,
          operands.map((form, k) => this.laneOf(form, args[k].type, i)),
        ),
      );
    const types = [type, ...args.map((arg) => arg.type)];
    if (types.every((each) => each === "f64") && PAIRED.has(op)) return this.paired(op, operands);
    if (!types.every((each) => NARROW.has(each))) return oneByOne();
    switch (op) {
      case "select":
        return made(f.v128.bitselect(lane(1), lane(2), lane(0)));
      case "eq":
      case "ne":
      case "lt":
      case "le":
      case "gt":
      case "ge": {
        const sign = shape === "f32x4" || op === "eq" || op === "ne" ? "" : isUnsigned(from) ? "_u" : "_s";
        return made(f.op(`${shape}.${op}${sign}`, lane(0), lane(1)));
      }
      case "min":
      case "max": {
        const [a, b] = [lane(0), lane(1)];
        const sign = shape === "f32x4" ? "" : isUnsigned(from) ? "_u" : "_s";
        const wins = f.op(`${shape}.${op === "min" ? "lt" : "gt"}${sign}`, a, b) as Value<"v128">;
        const test = shape === "f32x4" ? f.v128.or(f.f32x4.ne(a, a), wins) : wins;
        return made(f.v128.bitselect(a, b, test));
      }
      case "mulAdd":
        return made(f.op(`${shape}.add`, f.op(`${shape}.mul`, lane(0), lane(1)), lane(2)));
      case "add":
      case "sub":
      case "mul":
      case "div":
        return made(f.op(`${shape}.${op}`, lane(0), lane(1)));
      case "and":
      case "or":
      case "xor":
        return made(f.op(`v128.${op}`, lane(0), lane(1)));
      case "not":
        return made(f.v128.not(lane(0)));
      case "neg":
      case "abs":
      case "floor":
      case "ceil":
      case "trunc":
      case "sqrt":
        return made(f.op(`${shape}.${op}`, lane(0)));
      case "roundEven":
        return made(f.f32x4.nearest(lane(0)));
      case "shl":
      case "shr": {
        // One distance for all lanes is an instruction; a distance each is not.
        if (operands[1].kind !== "uniform") return oneByOne();
        const name = op === "shl" ? "i32x4.shl" : `i32x4.shr${isUnsigned(type) ? "_u" : "_s"}`;
        return made(f.op(name, lane(0), operands[1].value));
      }
      case "signExtend": {
        const distance = 32 - (value.attribute as number);
        return made(f.i32x4.shr_s(f.i32x4.shl(lane(0), distance), distance));
      }
      case "bitcast":
        return made(lane(0));
      case "convert": {
        if (shapeOf(type) === shape) return made(lane(0));
        if (type === "f32") return made(f.op(`f32x4.convert_i32x4_${isUnsigned(from) ? "u" : "s"}`, lane(0)));
        return made(f.op(`i32x4.trunc_sat_f32x4_${isUnsigned(type) ? "u" : "s"}`, lane(0)));
      }
      default:
        return oneByOne();
    }
  }
}
