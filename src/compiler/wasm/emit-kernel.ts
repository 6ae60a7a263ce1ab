/**
 * Writes a kernel of the loop-nest language as WebAssembly.
 *
 * The module exports `run(args, start, end)`: `args` points to the addresses of the kernel's buffers, and the rows from
 * `start` to `end` are computed, so that threads can share them. Where the elements are 32 bits wide, or half floats, four
 * are computed at once: neighbouring rows, when those are what lies side by side in memory, or else neighbouring rounds of
 * the innermost loop. Several such vectors take turns where the code is not long. Rows, or rounds, that are left over are computed one
 * at a time. The four lanes of a kernel of four lanes are the lanes of vectors, too: they do everything together, and a
 * barrier is nothing.
 *
 * Arrays lie in memory that the caller lends: behind the addresses of the buffers comes that of `slots` places of
 * `slotBytes(kernel)` each, and their number. A thread takes a place that is free, as its first word tells. Four rows that
 * are computed at once have their arrays interleaved there.
 */
import { DTYPES, type DType } from "../../core/dtype.js";
import { UnsupportedError } from "../../core/errors.js";
import {
  type BinaryOp,
  type Branch,
  type CombineOp,
  type IRType,
  type Value as IRValue,
  type Kernel,
  type Loop,
  MAX_I32,
  type Statement,
  walkStatements,
} from "../ir.js";
import { ModuleBuilder } from "./builder.js";
import {
  areAhead,
  areNeighbours,
  counted,
  divided,
  type Form,
  gathered,
  joined,
  laneOf,
  lanesOf,
  pairOf,
  partsOf,
  type Rising,
  single,
  vector,
} from "./forms.js";
import type { FunctionBuilder } from "./function-builder.js";
import { decodeBrain, decodeHalf, encodeBrain, encodeHalf, fourWords } from "./half.js";
import { binary, loadElement, scalar, storeElement, wasmType } from "./scalars.js";
import type { Value } from "./value.js";
import { spreadValues, varyingValues } from "./varying-values.js";
import {
  canTakeTurns,
  combiningOp,
  isHalf,
  LANES,
  NARROW,
  planVectors,
  TURNS,
  type VectorPlan,
} from "./vector-plan.js";

type StoreStatement = Extract<Statement, { kind: "store" }>;
type AtomicStatement = Extract<Statement, { kind: "atomic" }>;
type ReadStatement = Extract<Statement, { kind: "read" }>;
type CountStatement = Extract<Statement, { kind: "count" }>;
type WriteStatement = Extract<Statement, { kind: "write" }>;

/** A cache line: what a place begins with, and what arrays are aligned to. */
const LINE = 64;

/** Where the arrays of a kernel begin in its place, and how long the place is; 0 where there are no arrays. */
function layOut({ arrays }: Kernel, plan: VectorPlan): { readonly starts: readonly number[]; readonly bytes: number } {
  let bytes = arrays.length > 0 ? LINE : 0;
  const rows = plan.isRowVector ? LANES : 1;
  const starts = arrays.map(({ type, size }) => {
    const start = bytes;
    bytes += Math.ceil((rows * size * DTYPES[type].bytes) / LINE) * LINE;
    return start;
  });
  return { starts, bytes };
}

/** Bytes each thread needs for the arrays of a kernel. */
export const slotBytes = (kernel: Kernel): number =>
  kernel.arrays.length === 0 ? 0 : layOut(kernel, planVectors(kernel)).bytes;

/** Rows that `start` and `end` count at a time, where there are more than 32 bits count. */
const COUNTED_ROWS = 4;
export const rowsPerCount = ({ rows }: Pick<Kernel, "rows">): number => (rows > MAX_I32 ? COUNTED_ROWS : 1);

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
    const { starts, bytes } = layOut(kernel, plan);
    const rows = () => {
      const place = bytes > 0 ? takePlace(f, args, kernel.buffers.length, bytes) : null;
      const arrays = place ? starts.map((offset) => f.i32.add(place, offset)) : [];
      const newBody = () => new BodyEmitter(f, kernel, addresses, arrays, plan);
      if (rowsPerCount(kernel) > 1) {
        f.for(start, end, 1, (count) => {
          f.for(0, COUNTED_ROWS, 1, (part) => {
            const first = f.i64.mul(f.i64.extend_i32_u(count), BigInt(COUNTED_ROWS));
            const row = f.i64.add(first, f.i64.extend_i32_u(part));
            f.if(f.i64.lt_u(row, BigInt(kernel.rows)), () => newBody().rows(row, 1));
          });
        });
      } else if (plan.isRowVector) {
        // Vectors begin at multiples of their length. The rows before and after them are computed by the same code.
        const next = f.i32.and(f.i32.add(start, LANES - 1), -LANES);
        const first = f.select(f.i32.lt_u(next, end), next, end);
        const count = f.i32.sub(end, first);
        const endOf = (step: number) => f.i32.add(first, f.i32.and(count, -step));
        const whole = endOf(LANES);
        f.for(0, 2, 1, (isAfter) => {
          const [from, to] = [f.select(isAfter, whole, start), f.select(isAfter, end, first)];
          f.for(from, to, 1, (row) => newBody().rows(row, 1));
          f.if(f.i32.eqz(isAfter), () => {
            let done = first;
            if (canTakeTurns(kernel.body)) {
              done = endOf(LANES * TURNS);
              f.for(first, done, LANES * TURNS, (row) => newBody().rowsInTurns(row));
            }
            f.for(done, whole, LANES, (row) => newBody().rows(row, LANES));
          });
        });
      } else f.for(start, end, 1, (row) => newBody().rows(row, 1));
      if (place) f.i32.atomic.store(place, 0);
    };
    if (kernel.gate) f.if(f.i32.eq(f.i32.load(addresses[kernel.gate.buffer]), kernel.gate.value), rows);
    else rows();
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

// ------------------------------------------------------------------------------------------------ the body

/** Elements side by side in memory: a buffer, or an array. */
interface Place {
  readonly start: Value<"i32">;
  readonly dtype: DType;
  /** Four rows have one of these each, and the same elements of all four lie side by side. */
  readonly isOfRows: boolean;
}

const bytesPerElement = ({ dtype, isOfRows }: Place): number => DTYPES[dtype].bytes * (isOfRows ? LANES : 1);

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

class BodyEmitter {
  private readonly forms = new Map<number, Form>();
  private readonly varying: ReadonlySet<number>;
  private readonly spread: ReadonlySet<number>;
  private row: Form | null = null;
  /** Where to leave what is to be written; null: it is written at once. */
  private writeLater: (() => void)[] | null = null;

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
    this.row = lanes === 1 ? { kind: "uniform", value: row } : counted(row as Value<"i32">, LANES);
    this.statements(this.kernel.body);
  }

  /** Several times four rows. */
  rowsInTurns(row: Value<"i32">): void {
    this.inTurns((turn) => this.rows(this.f.i32.add(row, turn * LANES), LANES));
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
    else this.f.if(single(form) as Value<"i32">, () => write(null));
  }

  private eachLane(gate: IRValue | null, write: (lane: number) => void): void {
    for (let lane = 0; lane < LANES; lane++) {
      if (gate) this.f.if(laneOf(this.f, this.form(gate), "bool", lane) as Value<"i32">, () => write(lane));
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
    return this.kernel.lanes === 1 ? { kind: "uniform", value: zero } : counted(zero, LANES);
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
    if (kind === "each") return { kind, values: [0, 1, 2, 3].map((lane) => laneOf(this.f, form, type, lane)) };
    if (kind === "pair") return { kind, values: pairOf(this.f, form) };
    return kind === "lanes" ? { kind, value: lanesOf(this.f, form, type) } : { kind: "uniform", value: single(form) };
  }

  private branch({ condition, whenTrue, whenFalse, results }: Branch): void {
    const { f } = this;
    const test = single(this.form(condition)) as Value<"i32">;
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
      this.forms.set(loop.index.id, index === "uniform" ? { kind: "uniform", value: i } : counted(i, LANES));
      const carried = joined(kinds, state);
      loop.accumulators.forEach(({ value }, k) => {
        this.forms.set(value.id, carried[k]);
      });
      this.statements(loop.body);
      const made = loop.accumulators.map(({ next }, k) => this.as(kinds[k], this.form(next), next.type));
      if (exit && isUneven) return this.leaveOneByOne(loop, exit, state.at(-1) as Value<"v128">, carried, made);
      const next = made.flatMap(partsOf);
      if (exit) f.if(single(this.form(exit)) as Value<"i32">, () => f.break(...next));
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
        this.as(
          made[k].kind,
          vector(this.f, choice, [{ kind: "lanes", value: left }, carried[k], made[k]]),
          value.type,
        ),
      );
    });
    const leaving = f.v128.or(left, lanesOf(this.f, this.form(exit), "bool"));
    f.if(f.i32x4.all_true(leaving), () => f.break(...next, leaving));
    return [...next, leaving];
  }

  /** Four rounds at once, the lanes combined at the end, then the rounds that are left. */
  private vectorLoop(loop: Loop): void {
    const whole = loop.extent - (loop.extent % LANES);
    const initial = loop.accumulators.map((accumulator): Form => {
      return { kind: "lanes", value: lanesOf(this.f, this.form(accumulator.initial), accumulator.value.type) };
    });
    const takesTurns = canTakeTurns(loop.body) && whole >= 4 * LANES * TURNS;
    const taken = takesTurns ? whole - (whole % (LANES * TURNS)) : 0;
    const begun = taken > 0 ? this.roundsInTurns(loop, taken, initial) : initial;
    const vectors = taken === whole ? begun : this.rounds(loop, taken, whole, LANES, begun, "rising");
    const combined = vectors.map((form, k): Form => {
      const accumulator = loop.accumulators[k];
      const op = combiningOp(accumulator) as BinaryOp;
      const { type } = accumulator.value;
      const parts = [0, 1, 2, 3].map((lane) => laneOf(this.f, form, type, lane));
      return { kind: "uniform", value: this.pairwise(op, type, parts) };
    });
    const results = whole === loop.extent ? combined : this.rounds(loop, whole, loop.extent, 1, combined, "uniform");
    this.finish(loop, results);
  }

  /** Vectors of rounds that take turns, with accumulators of their own. */
  private roundsInTurns(loop: Loop, to: number, initial: readonly Form[]): Form[] {
    const { f } = this;
    const count = initial.length;
    const state = Array.from({ length: TURNS }, () => initial.flatMap(partsOf)).flat();
    const sums = f.fold(f.i32.const(0), to, LANES * TURNS, state, (i, carried) =>
      this.inTurns((turn) => {
        this.forms.set(loop.index.id, counted(f.i32.add(i, turn * LANES), LANES));
        loop.accumulators.forEach(({ value }, k) => {
          this.forms.set(value.id, { kind: "lanes", value: carried[turn * count + k] as Value<"v128"> });
        });
        this.statements(loop.body);
        return loop.accumulators.map(({ next }) => lanesOf(this.f, this.form(next), next.type));
      }).flat(),
    );
    return loop.accumulators.map(({ value, next }, k) => {
      const of = (turn: number): Form => ({ kind: "lanes", value: sums[turn * count + k] as Value<"v128"> });
      const merge = (a: Form, b: Form) => vector(this.f, { ...next, args: [value, value] }, [a, b]);
      return merge(merge(of(0), of(1)), merge(of(2), of(3)));
    });
  }

  /**
   * What each turn finds. They write when all have read, so that their computations can overlap: engines do not move a load
   * before a store.
   */
  private inTurns<T>(take: (turn: number) => T): T[] {
    const writes: (() => void)[] = [];
    this.writeLater = writes;
    const found = Array.from({ length: TURNS }, (_, turn) => take(turn));
    this.writeLater = null;
    for (const write of writes) write();
    return found;
  }

  /** The order of combining four lanes, wherever they come from. */
  private pairwise(op: CombineOp | BinaryOp, type: IRType, parts: readonly Value[]): Value {
    const pair = (a: Value, b: Value) => binary(this.f, op, type, a, b);
    return pair(pair(parts[0], parts[1]), pair(parts[2], parts[3]));
  }

  private finish(loop: Loop, results: readonly Form[]): void {
    loop.accumulators.forEach(({ result }, k) => {
      this.forms.set(result.id, results[k]);
    });
  }

  // ---------------------------------------------------------------------------------------------- forms

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
        value: scalar(
          this.f,
          value,
          operands.map((form) => single(form)),
        ),
      };
    }
    return this.rising(value, operands) ?? vector(this.f, value, operands);
  }

  private combine({ attribute, type }: IRValue, form: Form): Form {
    const parts = [0, 1, 2, 3].map((lane) => laneOf(this.f, form, type, lane));
    return { kind: "uniform", value: this.pairwise(attribute as CombineOp, type, parts) };
  }

  /** A vector's bytes in another order: those of word i are 4 i … 4 i + 3. */
  private fromLane({ type, args }: IRValue, [form, from]: readonly Form[]): Form {
    const { f } = this;
    if (form.kind === "uniform") return form;
    if ("values" in form) throw new UnsupportedError(`${this.kernel.name}: exchanges of ${type} on the CPU`);
    const words = f.i32x4.mul(lanesOf(this.f, from, args[1].type), f.i32x4.splat(f.i32.const(0x04040404)));
    const bytes = f.i32x4.add(words, f.i32x4.splat(f.i32.const(0x03020100)));
    return { kind: "lanes", value: f.i8x16.swizzle(lanesOf(this.f, form, type), bytes) };
  }

  /** Sums, differences and multiples of what differs by constants differ by constants; so do some quotients. */
  private rising(value: IRValue, [a, b]: readonly Form[]): Form | null {
    const { f } = this;
    if (value.type !== "i32" || !b || a.kind === "lanes" || b.kind === "lanes") return null;
    if ("values" in a || "values" in b) return null;
    const stepsOf = (form: Form) => (form.kind === "rising" ? form.steps : [0, 0, 0, 0]);
    const [x, y] = [a.value as Value<"i32">, b.value as Value<"i32">];
    const [first, second] = value.args;
    const constant = second.op === "constant" ? Number(second.attribute) : null;
    if (value.op === "add" || value.op === "sub") {
      const sign = value.op === "add" ? 1 : -1;
      const steps = stepsOf(a).map((step, lane) => step + sign * stepsOf(b)[lane]);
      const isMultiple =
        a.kind === "rising" && constant !== null && sign * constant >= 0 && constant % a.multiple === 0;
      return { kind: "rising", value: f.i32[value.op](x, y), steps, multiple: isMultiple ? a.multiple : 1 };
    }
    if ((value.op === "idiv" || value.op === "irem") && a.kind === "rising" && constant !== null) {
      return divided(f, value.op, a, constant);
    }
    if (value.op !== "mul") return null;
    const factor = second.op === "constant" ? second : first.op === "constant" ? first : null;
    if (!factor) return null;
    const times = Number(factor.attribute);
    const moving = (factor === second ? a : b) as Rising;
    const steps = moving.steps.map((step) => step * times);
    return { kind: "rising", value: f.i32.mul(x, y), steps, multiple: times > 0 ? moving.multiple * times : 1 };
  }

  private placeOf(from: "buffer" | "array", memory: number): Place {
    if (from === "buffer") {
      return { start: this.addresses[memory], dtype: this.kernel.buffers[memory].dtype, isOfRows: false };
    }
    const isOfRows = (this.row as Form).kind === "rising";
    return { start: this.arrays[memory], dtype: this.kernel.arrays[memory].type, isOfRows };
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
    const { form, by: constant } = this.indexOf(index);
    const by = constant + part;
    if (place.isOfRows) {
      const start = this.addressOf(place, single(form));
      return { kind: "lanes", value: f.v128.load(start, this.offsetOf(place, by)) };
    }
    const at = (i: Value<"i32">) =>
      loadElement(this.f, place.dtype, this.addressOf(place, i), this.offsetOf(place, by));
    if (form.kind === "uniform") return { kind: "uniform", value: at(form.value as Value<"i32">) };
    if (areNeighbours(form) && isWord(place)) {
      return { kind: "lanes", value: f.v128.load(this.addressOf(place, form.value), this.offsetOf(place, by)) };
    }
    if (areNeighbours(form) && isHalf(place.dtype)) {
      const decode = place.dtype === "f16" ? decodeHalf : decodeBrain;
      const words = f.v128.load16x4_u(this.addressOf(place, form.value), this.offsetOf(place, by));
      return { kind: "lanes", value: decode(fourWords(f), words) };
    }
    if (areNeighbours(form) && place.dtype === "f64") {
      const start = this.addressOf(place, form.value);
      const half = (part: number) => f.v128.load(start, this.offsetOf(place, by + part));
      return { kind: "pair", values: [half(0), half(2)] };
    }
    const indexIn = (lane: number) => laneOf(this.f, form, "i32", lane) as Value<"i32">;
    if (!isWord(place)) return gathered(this.f, type, (lane) => at(indexIn(lane)));
    const start = areAhead(form) ? this.addressOf(place, form.value) : null;
    const addressIn = (lane: number) => start ?? this.addressOf(place, indexIn(lane));
    const offsetIn = (lane: number) => this.offsetOf(place, by + (areAhead(form) ? form.steps[lane] : 0));
    let value = f.v128.load32_zero(addressIn(0), offsetIn(0));
    for (let lane = 1; lane < LANES; lane++) value = f.v128.load32_lane(addressIn(lane), value, lane, offsetIn(lane));
    return { kind: "lanes", value };
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
    const at = this.addressOf(this.placeOf("array", array), laneOf(this.f, this.form(index), "i32", lane));
    f.i32.store(at, f.i32.add(f.i32.load(at), laneOf(this.f, this.form(value), "i32", lane) as Value<"i32">));
  }

  private put(place: Place, at: IRValue, value: IRValue, lane: number | null, part = 0): void {
    const { form: index, by: first } = this.indexOf(at);
    const form = this.form(value);
    const write = () => this.putForm(place, index, first + part, form, value.type, lane);
    if (this.writeLater) this.writeLater.push(write);
    else write();
  }

  private putForm(place: Place, index: Form, by: number, form: Form, type: IRType, lane: number | null): void {
    const { f } = this;
    if (place.isOfRows) {
      f.v128.store(this.addressOf(place, single(index)), lanesOf(this.f, form, type), this.offsetOf(place, by));
      return;
    }
    if (lane === null && areNeighbours(index) && place.dtype === "f64") {
      const start = this.addressOf(place, index.value);
      for (const [half, vector] of pairOf(this.f, form).entries()) {
        f.v128.store(start, vector, this.offsetOf(place, by + 2 * half));
      }
      return;
    }
    if (lane === null && areNeighbours(index) && isHalf(place.dtype)) {
      const encode = place.dtype === "f16" ? encodeHalf : encodeBrain;
      const words = encode(fourWords(f), lanesOf(this.f, form, type));
      const packed = f.i16x8.narrow_i32x4_u(words, words);
      f.v128.store64_lane(this.addressOf(place, index.value), packed, 0, this.offsetOf(place, by));
      return;
    }
    const isAll = lane === null && isWord(place);
    if (isAll && areNeighbours(index)) {
      f.v128.store(this.addressOf(place, index.value), lanesOf(this.f, form, type), this.offsetOf(place, by));
    } else if (isAll && areAhead(index) && form.kind === "lanes" && type !== "bool") {
      const start = this.addressOf(place, index.value);
      for (const each of [0, 1, 2, 3]) {
        f.v128.store32_lane(start, form.value, each, this.offsetOf(place, by + index.steps[each]));
      }
    } else {
      for (const each of this.writers(index, lane)) {
        const to = this.addressOf(place, laneOf(this.f, index, "i32", each) as Value<"i32">);
        storeElement(this.f, place.dtype, to, laneOf(this.f, form, type, each), this.offsetOf(place, by));
      }
    }
  }

  /** The lanes that write one by one: a certain one, one where all write to the same place, or all. */
  private writers(index: Form, lane: number | null): readonly number[] {
    if (lane !== null) return [lane];
    return index.kind === "uniform" ? [0] : [0, 1, 2, 3];
  }

  /** Memory ends before 32 bits do, so the upper half of a longer index says nothing. */
  private addressOf(place: Place, index: Value): Value<"i32"> {
    const { f } = this;
    const { start } = place;
    const shift = Math.log2(bytesPerElement(place));
    const at = index.type === "i64" ? f.i32.wrap_i64(index as Value<"i64">) : (index as Value<"i32">);
    return f.i32.add(start, shift === 0 ? at : f.i32.shl(at, shift));
  }

  private offsetOf(place: Place, elements: number): { readonly offset: number } {
    return { offset: elements * bytesPerElement(place) };
  }

  /** Several threads may change an element at once: each tries until nobody was faster. */
  private atomic({ op, buffer, index, value }: AtomicStatement, lane: number): void {
    const { f } = this;
    const at = this.addressOf(
      this.placeOf("buffer", buffer),
      laneOf(this.f, this.form(index), "i32", lane) as Value<"i32">,
    );
    const operand = laneOf(this.f, this.form(value), value.type, lane);
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
      const wanted = asBits(binary(this.f, op, type, fromBits(before), operand));
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

  // ---------------------------------------------------------------------------------------------- four at a time
}
