/**
 * Writes the statements of a kernel as SPIR-V: loops, branches, loads and stores, and exchanges between lanes. emit-kernel.ts
 * declares the memory.
 */
import { DTYPES } from "../../../core/dtype.js";
import type { FunctionBuilder } from "../../../spirv/function/function-builder.js";
import type { Ref } from "../../../spirv/function/ref.js";
import type { Value } from "../../../spirv/function/value.js";
import type { ModuleBuilder } from "../../../spirv/module/builder.js";
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
import { planLoop } from "../../ir/loop-rounds.js";
import { areInSubgroup, combineLanes, fromLaneOfSubgroup, isGroupInSubgroup, type Lanes } from "./combine-lanes.js";
import { binary, compute } from "./emit-value.js";
import type { Fragments } from "./fragments.js";
import { packBrains, unpackBrains } from "./packed-brains.js";
import { narrow, valueType, widen } from "./stored-elements.js";
import type { WideAccesses } from "./wide-accesses.js";

/** Shared memory of one value per lane. Exchanges alternate between two, so that one barrier each is enough. */
export type SharedMemory = (turn: 0 | 1, type: IRType) => Ref;
type StoreStatement = Extract<Statement, { kind: "store" }>;
type AtomicStatement = Extract<Statement, { kind: "atomic" }>;
type TicketStatement = Extract<Statement, { kind: "ticket" }>;
type ReadStatement = Extract<Statement, { kind: "read" }>;
type CountStatement = Extract<Statement, { kind: "count" }>;
type WriteStatement = Extract<Statement, { kind: "write" }>;
type LoadWordsStatement = Extract<Statement, { kind: "loadWords" }>;

/** Memory as the body of a kernel sees it. */
export interface RowMemory {
  readonly buffers: readonly Ref[];
  /** The buffers as vectors, by the number of their elements, where neighbours are accessed at once. */
  readonly vectors: readonly ReadonlyMap<number, Ref>[];
  /** The buffers as vectors of four words, where they are read so. */
  readonly words: readonly (Ref | null)[];
  readonly wide: WideAccesses;
  /** Arrays, declared as vectors of `width` where neighbours are accessed at once. */
  readonly arrays: readonly { readonly place: Ref; readonly width: number }[];
  readonly exchanged: ReadonlySet<number>;
  /** Lanes also exchange data through buffers. */
  readonly isExchanging: boolean;
}

/**
 * Statements of a loop with an exit, above which the driver is told to leave it as it is. NVIDIA's unrolls the loop over keys of
 * attention to 113 KB of code, more than caches of instructions hold; left alone it has 35, and the kernel takes 0.75 of the time.
 */
const MAX_UNROLLED_WITH_EXIT = 500;

/** Options for loops. */
interface LoopStyle {
  /** Steps of a round, where loops can have several: see ir/loop-rounds.ts. */
  readonly steps: number;
  /** False asks the driver to leave loops as they are; undefined leaves it to the driver. */
  readonly unroll?: boolean;
}

function isLong(body: readonly Statement[]): boolean {
  let size = 0;
  walkStatements(body, () => {
    size++;
  });
  return size > MAX_UNROLLED_WITH_EXIT;
}

export class BodyEmitter {
  private readonly values = new Map<number, Value>();
  private readonly lane: Value;
  /** Exchanges between lanes written so far. */
  private exchanges = 0;

  constructor(
    private readonly m: ModuleBuilder,
    private readonly f: FunctionBuilder,
    private readonly kernel: Kernel,
    private readonly memory: RowMemory,
    private readonly fragments: Fragments,
    private readonly row: Value,
    private readonly lanes: Lanes,
    private readonly sharedFor: SharedMemory,
    /** A zero word that the driver cannot recognise as zero (no row has so high a number); null where not needed. */
    private readonly zeroBits: Value | null,
    private readonly loopStyle: LoopStyle,
    /** The device converts to bf16. */
  ) {
    this.lane = lanes.own;
  }

  statements(list: readonly Statement[]): void {
    const { f } = this;
    const { wide, buffers } = this.memory;
    for (const statement of list) {
      switch (statement.kind) {
        case "let":
          if (!this.loadWide(statement.value)) this.values.set(statement.value.id, this.compute(statement.value));
          break;
        case "loop":
          this.loop(statement);
          break;
        case "branch":
          this.branch(statement);
          break;
        case "barrier":
          if (statement.scope === "subgroup") f.subgroupBarrier();
          else this.barrier();
          break;
        case "read":
          this.read(statement);
          break;
        case "loadWords":
          this.loadWords(statement);
          break;
        case "fillFragment":
        case "loadFragment":
        case "storeFragment":
        case "multiplyFragments":
        case "addFragments":
        case "getElements":
        case "setElements": {
          const keep = ({ id }: IRValue, value: Value) => this.values.set(id, value);
          this.fragments.write(statement, this.memory.arrays, (value) => this.get(value), keep);
          break;
        }
        case "write":
          this.gated(statement.gate, false, () => this.write(statement));
          break;
        case "count":
          this.gated(statement.gate, false, () => this.count(statement));
          break;
        case "store": {
          const run = wide.stores.get(statement);
          if (!run) this.gated(statement.gate, statement.isOnce, () => this.store(statement));
          else if (run[0] === statement) this.gated(statement.gate, false, () => this.storeWide(run));
          break;
        }
        case "ticket":
          this.ticket(statement);
          break;
        case "observe":
          this.values.set(statement.result.id, f.atomic.load(buffers[statement.buffer].at(this.get(statement.index))));
          break;
        case "atomic":
          this.gated(statement.gate, false, () => this.atomic(statement));
          break;
      }
    }
  }

  /** Loads the whole vector when the first of its elements is needed. */
  private loadWide(value: IRValue): boolean {
    const { f, m } = this;
    const run = this.memory.wide.loads.get(value);
    if (!run) return false;
    if (this.values.has(value.id)) return true;
    const slot = value.attribute as number;
    const { dtype } = this.kernel.buffers[slot] as Kernel["buffers"][number];
    const vectors = this.memory.vectors[slot].get(run.length) as Ref;
    const vector = vectors.load(this.bufferVector(value.args[0], run.length));
    const brains = dtype === "bf16" ? unpackBrains(f, m, vector, run.length) : null;
    run.forEach(({ id }, part) => {
      this.values.set(id, brains ? brains[part] : widen(f, m, f.extract(vector, part), dtype));
    });
    return true;
  }

  private storeWide(run: readonly StoreStatement[]): void {
    const { f, m } = this;
    const [{ buffer, index }] = run;
    const { dtype } = this.kernel.buffers[buffer] as Kernel["buffers"][number];
    const place = this.memory.vectors[buffer].get(run.length) as Ref;
    const stored = run.map(({ value, isRounded = false }) => ({ value: this.get(value), isRounded }));
    const vector =
      dtype === "bf16"
        ? packBrains(f, m, stored)
        : f.vector(...stored.map(({ value, isRounded }) => narrow(f, m, value, dtype, isRounded)));
    place.store(this.bufferVector(index, run.length), vector);
  }

  /** The number of the vector that begins at an index: the index with its factors divided, or shifted where it has none. */
  private bufferVector(index: IRValue, width: number): Value {
    return this.quotient(index, width) ?? this.f.shiftRight(this.get(index), Math.log2(width));
  }

  /** An index divided by a width, without a division; null where its factors do not show that it is a multiple. */
  private quotient(index: IRValue, width: number): Value | null {
    const { f, m } = this;
    const { op, args } = index;
    if (index.type !== "i32") return null;
    if (op === "constant") {
      const value = Number(index.attribute);
      return value % width === 0 ? m.constant(m.i32, value / width) : null;
    }
    const [a, b] = args;
    if (op === "mul" && b.op === "constant" && Number(b.attribute) % width === 0) {
      const factor = Number(b.attribute) / width;
      return factor === 1 ? this.get(a) : f.mul(this.get(a), factor);
    }
    if (op !== "add") return null;
    const x = this.quotient(a, width);
    const y = x && this.quotient(b, width);
    return x && y && f.add(x, y);
  }

  private gated(gate: IRValue | null, isOnce: boolean, write: () => void): void {
    const { f } = this;
    const isFirst = isOnce && this.kernel.lanes > 1 ? f.equal(this.lane, 0) : null;
    const isOpen = gate ? this.get(gate) : null;
    const condition = isOpen && isFirst ? f.and(isOpen, isFirst) : (isOpen ?? isFirst);
    if (condition) f.if(condition, write);
    else write();
  }

  private barrier(): void {
    this.f.workgroupBarrier({ shared: true, buffers: this.memory.isExchanging });
  }

  private read({ from, memory, index, results }: ReadStatement): void {
    const { f, m } = this;
    if (from === "buffer") {
      const [only] = results as readonly [IRValue];
      const { dtype } = this.kernel.buffers[memory] as Kernel["buffers"][number];
      this.values.set(only.id, widen(f, m, (this.memory.buffers[memory] as Ref).load(this.get(index)), dtype));
    } else if (results.length === 1) this.values.set((results[0] as IRValue).id, this.element(memory, index).load());
    else {
      const { place, width } = this.memory.arrays[memory] as RowMemory["arrays"][number];
      const vector = place.load(this.vectorIndex(index, width).vector);
      results.forEach(({ id }, part) => {
        this.values.set(id, f.extract(vector, part));
      });
    }
  }

  private loadWords({ buffer, index, results }: LoadWordsStatement): void {
    const { f } = this;
    const { dtype } = this.kernel.buffers[buffer] as Kernel["buffers"][number];
    const { bytes } = DTYPES[dtype];
    const at = this.get(index);
    const vectors = this.memory.words[buffer];
    const vector = vectors?.load(f.shiftRight(at, Math.log2(16 / bytes)));
    results.forEach(({ id }, part) => {
      const word = vector ? f.extract(vector, part) : this.wordOf(buffer, f.add(at, part * (4 / bytes)));
      this.values.set(id, word);
    });
  }

  /** A word of a buffer that may begin anywhere, put together from its elements. */
  private wordOf(buffer: number, at: Value): Value {
    const { f, m } = this;
    const { dtype } = this.kernel.buffers[buffer] as Kernel["buffers"][number];
    const { bytes } = DTYPES[dtype];
    const bitsOf = (part: number): Value => {
      const element = (this.memory.buffers[buffer] as Ref).load(f.add(at, part));
      const bits = f.convert(f.bitcast(element, bytes === 1 ? m.u8 : m.u16), m.u32);
      return f.shiftLeft(bits, part * 8 * bytes);
    };
    return Array.from({ length: 4 / bytes }, (_, part) => bitsOf(part)).reduce((word, bits) => f.or(word, bits));
  }

  private write({ array, index, values }: WriteStatement): void {
    const { f } = this;
    const parts = values.map((value) => this.get(value));
    if (parts.length === 1) this.element(array, index).store(parts[0] as Value);
    else {
      const { place, width } = this.memory.arrays[array] as RowMemory["arrays"][number];
      place.store(this.vectorIndex(index, width).vector, f.vector(...parts));
    }
  }

  private count({ array, index, value }: CountStatement): void {
    const { f } = this;
    const place = this.element(array, index);
    const added = this.get(value);
    if (this.kernel.lanes > 1) f.atomic.add(place, added);
    else place.store(f.add(place.load(), added));
  }

  private element(array: number, index: IRValue): Ref {
    const { place, width } = this.memory.arrays[array] as RowMemory["arrays"][number];
    if (width === 1) return place.at(this.get(index));
    const { vector, part } = this.vectorIndex(index, width);
    return place.at(vector, part());
  }

  /**
   * The vector of an element, and its part of it. A constant offset is added last, so that the driver can make it part of the
   * instruction and neighbouring accesses share the rest.
   */
  private vectorIndex(index: IRValue, width: number): { readonly vector: Value; readonly part: () => Value } {
    const { f } = this;
    const [base, offset] = index.args;
    const isApart = index.op === "add" && offset.op === "constant" && Number(offset.attribute) % width === 0;
    const at = this.get(isApart ? base : index);
    const first = f.shiftRight(at, Math.log2(width));
    const vector = isApart ? f.add(first, Number(offset.attribute) / width) : first;
    return { vector, part: () => f.and(at, width - 1) };
  }

  private branch({ condition, whenTrue, whenFalse, results }: Branch): void {
    const { f } = this;
    const side = (statements: readonly Statement[], values: readonly IRValue[]) => () => {
      this.statements(statements);
      return values.map((value) => this.get(value));
    };
    // The sides may have used the exchange memories in different turns.
    if (this.exchangesIn(whenTrue) || this.exchangesIn(whenFalse)) f.workgroupBarrier();
    if (whenFalse.length === 0 && results.length === 0) {
      f.if(this.get(condition), side(whenTrue, []));
      return;
    }
    const values = f.if(
      this.get(condition),
      side(
        whenTrue,
        results.map((result) => result.whenTrue),
      ),
      side(
        whenFalse,
        results.map((result) => result.whenFalse),
      ),
    );
    results.forEach(({ value }, i) => {
      this.values.set(value.id, values[i] as Value);
    });
  }

  private store({ buffer, index, value, isRounded }: StoreStatement): void {
    const { f, m } = this;
    const { dtype } = this.kernel.buffers[buffer] as Kernel["buffers"][number];
    (this.memory.buffers[buffer] as Ref).store(this.get(index), narrow(f, m, this.get(value), dtype, isRounded));
  }

  /**
   * Integers have atomic instructions, except for products, and many devices have them for sums of floats. The rest is a
   * compare-and-exchange loop, for which the buffer is declared as integers of the same bits.
   */
  private atomic({ op, buffer, index, value }: AtomicStatement): void {
    const { f, m } = this;
    const place = (this.memory.buffers[buffer] as Ref).at(this.get(index));
    const operand = this.get(value);
    if (op !== "mul" && !this.memory.exchanged.has(buffer)) {
      f.atomic[op](place, operand);
      return;
    }
    f.iterate(
      [f.atomic.load(place), m.constant(m.bool, false)],
      ([, isDone]) => f.not(isDone),
      ([expected]) => {
        const combined = binary(f, op, value.type, f.bitcast(expected, operand.type), operand);
        const seen = f.atomic.compareExchange(place, expected, f.bitcast(combined, place.type));
        return [seen, f.equal(seen, expected)];
      },
    );
  }

  /** One lane takes the ticket; the others read it from shared memory. */
  private ticket({ buffer, index, result }: TicketStatement): void {
    const { f, m } = this;
    const place = (this.memory.buffers[buffer] as Ref).at(this.get(index));
    const memory = this.nextMemory("i32");
    f.if(f.equal(this.lane, 0), () => memory.store(0, f.bitcast(f.atomic.add(place, 1), m.i32)));
    f.workgroupBarrier();
    this.values.set(result.id, memory.load(0));
  }

  private get(value: IRValue): Value {
    if (value.op === "constant") return this.m.constant(valueType(this.m, value.type), value.attribute as number);
    if (value.op === "row") return this.row;
    if (value.op === "lane") return this.lane;
    return this.values.get(value.id) as Value;
  }

  private loop(loop: Loop): void {
    const { index, extent, isLaneLoop, accumulators, body, exit } = loop;
    if (isLaneLoop && extent <= this.kernel.lanes && !exit) {
      this.roundOfEachLane(loop);
      return;
    }
    const { f, m } = this;
    const loopStyle = exit && isLong(body) ? { ...this.loopStyle, unroll: false } : this.loopStyle;
    const step = isLaneLoop ? this.kernel.lanes : 1;
    const start = isLaneLoop ? this.lane : m.constant(m.i32, 0);
    const { steps, whole } = planLoop(loop, this.kernel.lanes, this.loopStyle.steps);
    const stride = steps * step;
    const round = (i: Value, state: readonly Value[]) => {
      // The first exchange of a round may use the same memory as the last one of the round before.
      if (this.exchangesIn(body)) f.workgroupBarrier();
      this.values.set(index.id, i);
      accumulators.forEach(({ value }, k) => {
        this.values.set(value.id, state[k] as Value);
      });
      this.statements(body);
      const next = accumulators.map((accumulator) => this.get(accumulator.next));
      if (exit) f.if(this.get(exit), () => f.break(...next));
      return next;
    };
    const wholeRound = (i: Value, state: readonly Value[]) => {
      let next = state;
      for (let s = 0; s < steps; s++) {
        next = round(s === 0 ? i : f.add(i, s * step), next);
        this.forget(body);
      }
      return next;
    };
    let state: readonly Value[] = accumulators.map((accumulator) => this.get(accumulator.initial));
    if (whole === 1) state = wholeRound(start, state);
    else if (whole > 1) state = f.fold(start, m.constant(m.i32, whole * stride), stride, state, wholeRound, loopStyle);
    if (whole * stride < extent) {
      const from = whole === 0 ? start : f.add(start, whole * stride);
      state = f.fold(from, m.constant(m.i32, extent), step, state, round, loopStyle);
    }
    accumulators.forEach(({ result }, k) => {
      this.values.set(result.id, state[k] as Value);
    });
  }

  /** Forgets the values of these statements: the next unrolled step computes them again. */
  private forget(statements: readonly Statement[]): void {
    walkStatements(statements, (statement) => {
      if (statement.kind === "let") this.values.delete(statement.value.id);
    });
  }

  /** A lane loop with at most one round per lane, written without a loop. */
  private roundOfEachLane({ index, extent, accumulators, body }: Loop): void {
    const { f } = this;
    const initial = accumulators.map((accumulator) => this.get(accumulator.initial));
    const round = () => {
      this.values.set(index.id, this.lane);
      accumulators.forEach(({ value }, k) => {
        this.values.set(value.id, initial[k] as Value);
      });
      this.statements(body);
      return accumulators.map(({ next }) => this.get(next));
    };
    const isAll = extent === this.kernel.lanes;
    const results = isAll ? round() : f.if(f.less(this.lane, extent), round, () => initial);
    accumulators.forEach(({ result }, k) => {
      this.values.set(result.id, results[k] as Value);
    });
  }

  /** A constant zero that the driver cannot recognise as one. */
  private hidden({ op, type, attribute }: IRValue): Value | null {
    const { f, m, zeroBits } = this;
    if (!zeroBits || op !== "constant" || attribute !== 0 || (type !== "f32" && type !== "f64")) return null;
    const high = Object.is(attribute, -0) ? f.or(zeroBits, 0x80000000) : zeroBits;
    return type === "f64" ? f.bitcast(f.vector(zeroBits, high), m.f64) : f.bitcast(high, m.f32);
  }

  private compute(value: IRValue): Value {
    // Also for selects, comparisons and casts: their results become operands of arithmetic.
    const operands = value.args.map((arg) => this.hidden(arg) ?? this.get(arg));
    return compute(this.f, this.m, value, operands, () => this.fetched(value, operands));
  }

  /** A value from memory or from other lanes. */
  private fetched({ op, type, args, attribute }: IRValue, [a, b]: readonly Value[]): Value {
    const { f, m } = this;
    switch (op) {
      case "load": {
        const { dtype } = this.kernel.buffers[attribute as number] as Kernel["buffers"][number];
        return widen(f, m, (this.memory.buffers[attribute as number] as Ref).load(a), dtype);
      }
      case "combineLanes":
        return combineLanes(f, attribute as CombineOp, a, type, this.lanes, () => this.nextMemory(type), groupOf(args));
      case "fromLane": {
        if (areInSubgroup(this.lanes)) return fromLaneOfSubgroup(f, a, type, this.lanes, b);
        const memory = this.nextMemory(type);
        memory.store(this.lane, a);
        f.workgroupBarrier();
        return memory.load(b);
      }
      case "matchLanes":
        return this.matchLanes(a, attribute as number);
      default:
        throw new Error(`emitSpirv: ${op} is not computed`);
    }
  }

  /** Bit by bit: the lanes that have it set, or those that have not. Subgroups have 32 lanes at most. */
  private matchLanes(value: Value, bits: number): Value {
    const { f, m } = this;
    let same: Value = m.constant(m.u32, 2 ** this.lanes.subgroupSize - 1);
    for (let bit = 0; bit < bits; bit++) {
      const isSet = f.notEqual(f.and(value, 1 << bit), 0);
      const setLanes = f.extract(f.subgroup.ballot(isSet), 0);
      const alike = f.xor(setLanes, f.select(isSet, m.constant(m.u32, 0), m.constant(m.u32, 0xffffffff)));
      same = f.and(same, alike);
    }
    return same;
  }

  /** Whether lanes exchange values through memory in some statements. With arrays, barriers are kept where they always were. */
  private exchangesIn(statements: readonly Statement[]): boolean {
    const isFree = areInSubgroup(this.lanes) && this.kernel.arrays.every(({ isPrivate }) => isPrivate);
    return hasExchange(statements, isFree, this.lanes);
  }

  /** Exchange memory for the next turn. No lane still reads it: all have passed a barrier since its last use. */
  private nextMemory(type: IRType): Ref {
    return this.sharedFor((this.exchanges++ % 2) as 0 | 1, type);
  }
}

/** Neighbours that a `combineLanes` combines; null where it combines all lanes. */
const groupOf = ([, count]: readonly IRValue[]): number | null => (count ? Number(count.attribute) : null);

/** `isFree`: lanes read values of one another without memory. */
function hasExchange(statements: readonly Statement[], isFree: boolean, lanes: Lanes): boolean {
  let isFound = false;
  walkStatements(statements, (statement) => {
    if (statement.kind === "ticket") isFound = true;
    if (statement.kind !== "let" || isFree) return;
    const { op, args } = statement.value;
    const group = op === "combineLanes" ? groupOf(args) : null;
    if (group !== null && isGroupInSubgroup(lanes, group)) return;
    if (op === "fromLane" || op === "combineLanes") isFound = true;
  });
  return isFound;
}
