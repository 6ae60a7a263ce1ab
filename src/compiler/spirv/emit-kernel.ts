/**
 * Writes a kernel of the loop-nest language as SPIR-V.
 *
 * Buffers are 64-bit addresses in the push block, up to `INLINE_BUFFERS` of them; beyond, the push block holds the address
 * of a table of addresses.
 */
import { DTYPES, type DType } from "../../core/dtype.js";
import { UnsupportedError } from "../../core/errors.js";
import {
  type AtomicOp,
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
import { combineLanes, type Lanes, merge } from "./combine-lanes.js";
import type { FunctionBuilder } from "./function-builder.js";
import { mappingOf } from "./mapping.js";
import type { ModuleOptions } from "./module-values.js";
import type { Ref } from "./ref.js";
import type { ScalarType } from "./types.js";
import type { Value } from "./value.js";
import { type WideAccesses, wideAccesses, widthOf } from "./wide-accesses.js";

/** 128 bytes of push constants are guaranteed; eight of them are kept for the width of the grid. */
export const INLINE_BUFFERS = 14;

/** Shared memory of one value per lane. Those who use it take turns with two, so that one barrier each is enough. */
type SharedMemory = (turn: 0 | 1, type: IRType) => Ref;
type StoreStatement = Extract<Statement, { kind: "store" }>;
type AtomicStatement = Extract<Statement, { kind: "atomic" }>;
type ReadStatement = Extract<Statement, { kind: "read" }>;
type CountStatement = Extract<Statement, { kind: "count" }>;
type WriteStatement = Extract<Statement, { kind: "write" }>;

export interface SpirvTarget {
  readonly floatControls?: ModuleOptions["floatControls"];
  /** Lanes of a subgroup that can read from one another; 0 where they cannot. */
  readonly subgroupSize?: number;
  /** Floats that memory can add to by itself. */
  readonly atomicFloats?: readonly IRType[];
  /** Buffers of which the push block has not the address but the address of the address. */
  readonly isIndirect?: readonly boolean[] | null;
  /** The driver takes 0·x, 0/x and x + 0 for 0, 0 and x whatever x is, and x/0 for anything: it must not see the zeros. */
  readonly isCarelessOfZeros?: boolean;
}

/** What a kernel accesses in vectors. */
export const vectorsOf = (kernel: Kernel, atomicFloats: readonly IRType[]): WideAccesses =>
  wideAccesses(kernel, surveyAccesses(kernel, atomicFloats).sharedByLanes);

export function emitSpirv(
  kernel: Kernel,
  {
    floatControls = {},
    subgroupSize = 0,
    atomicFloats = [],
    isIndirect = null,
    isCarelessOfZeros = false,
  }: SpirvTarget = {},
): Uint32Array {
  const m = new ModuleBuilder({ noContraction: true, floatControls });
  const { exchanged, sharedByLanes, widths } = surveyAccesses(kernel, atomicFloats);
  const wide = wideAccesses(kernel, sharedByLanes);
  const pointers = kernel.buffers.map(({ dtype, isWritten, isLarge: large }, i) => {
    const type = exchanged.has(i) ? bitsType(m, dtype) : storageType(m, dtype);
    const coherent = sharedByLanes.has(i);
    return m.bufferPointer(type, isWritten ? { coherent, large } : { writable: false, large });
  });
  // Addresses travel as pairs of words and become pointers in the kernel: older validators take a pointer to 8- or 16-bit
  // elements in the push block for such elements themselves, and pairs need no 64-bit integers of the device.
  const address = m.vec(m.u32, 2);
  const isInline = pointers.length <= INLINE_BUFFERS;
  const names = isInline ? pointers.map((_, i) => `b${i}`) : ["table"];
  const push = m.pushConstants(names.map((name) => [name, address] as const)) as Readonly<Record<string, Value>>;
  const shared = new Map<string, Ref>();
  const sharedFor: SharedMemory = (turn, type) => {
    const name = `exchange${turn}_${type}`;
    const memory = shared.get(name) ?? m.shared(m.array(valueType(m, type), kernel.lanes), name);
    shared.set(name, memory);
    return memory;
  };

  const arrayType = (i: number) => {
    const { type, size } = kernel.arrays[i] as Kernel["arrays"][number];
    const width = widths[i] as number;
    const element = width > 1 ? m.vec(valueType(m, type), width) : valueType(m, type);
    return m.array(element, Math.ceil(size / width));
  };
  const sharedArrays = kernel.arrays.map(({ isPrivate }, i) =>
    kernel.lanes > 1 && !isPrivate ? m.shared(arrayType(i), `a${i}`) : null,
  );

  const { threads, rowsPerGroup } = mappingOf(kernel, subgroupSize);
  m.entry("main", { localSize: [threads] }, (f) => {
    const group = f.builtin("WorkgroupId");
    const flatGroup = f.add(group.x, f.mul(group.y, f.builtin("NumWorkgroups").x));
    const local = threadOfGroup(f, kernel.lanes > 1 ? subgroupSize : 0);
    const isShared = kernel.lanes > 1;
    const inGroup = isShared ? f.div(local, kernel.lanes) : local;
    const isWide = kernel.rows > MAX_I32;
    const counted = (x: Value) => (isWide ? f.convert(x, m.u64) : x);
    const flat = f.add(f.mul(counted(flatGroup), rowsPerGroup), counted(inGroup));
    const row = f.bitcast(flat, isWide ? m.i64 : m.i32);
    const lane = isShared ? f.bitcast(f.rem(local, kernel.lanes), m.i32) : m.constant(m.i32, 0);
    const lanes: Lanes = { count: kernel.lanes, own: lane, subgroupSize };
    f.if(f.less(flat, kernel.rows), () => {
      const addressAt = m.bufferPointer(address, { writable: false });
      const table = isInline ? null : f.ref(f.pointer(push.table, addressAt));
      const places = pointers.map((pointer, i) => {
        const given = table ? table.load(i) : push[`b${i}`];
        const at = isInline && isIndirect?.[i] ? f.ref(f.pointer(given, addressAt)).load(0) : given;
        // The same validators refuse to make such a pointer of a pair.
        const isNarrow = DTYPES[kernel.buffers[i].dtype].bytes < 4;
        return f.ref(f.pointer(isNarrow ? f.bitcast(at, m.u64) : at, pointer));
      });
      // What one thread has for itself it keeps for itself.
      const arrays = sharedArrays.map((shared, i) => ({
        place: shared ?? f.variable(arrayType(i), undefined, `a${i}`),
        width: widths[i] as number,
      }));
      const vectors = kernel.buffers.map((buffer, i) =>
        wide.buffers.has(i) ? vectorPlace(m, f, buffer, places[i]) : null,
      );
      const memory: RowMemory = {
        buffers: places,
        vectors,
        arrays,
        wide,
        exchanged,
        isExchanging: sharedByLanes.size > 0,
      };
      const zeros = isCarelessOfZeros ? f.shiftRight(flat, 31) : null;
      const write = () => new BodyEmitter(m, f, kernel, memory, row, lanes, sharedFor, zeros).statements(kernel.body);
      if (kernel.gate) f.if(f.equal(places[kernel.gate.buffer].load(0), kernel.gate.value), write);
      else write();
    });
  });
  return m.build();
}

/** The place of a thread in its workgroup, such that subgroups are stretches of it. */
function threadOfGroup(f: FunctionBuilder, subgroupSize: number): Value {
  if (subgroupSize === 0) return f.builtin("LocalInvocationIndex");
  return f.add(f.mul(f.builtin("SubgroupId"), subgroupSize), f.builtin("SubgroupLocalInvocationId"));
}

/** Memory as the body of a kernel sees it. */
interface RowMemory {
  readonly buffers: readonly Ref[];
  /** The buffers as vectors, where neighbours are accessed at once. */
  readonly vectors: readonly (Ref | null)[];
  readonly wide: WideAccesses;
  /** Arrays are kept as vectors of `width` where neighbours are accessed at once. */
  readonly arrays: readonly { readonly place: Ref; readonly width: number }[];
  readonly exchanged: ReadonlySet<number>;
  /** Lanes exchange data through buffers, too. */
  readonly isExchanging: boolean;
}

interface Accesses {
  /** Buffers that are updated by comparing and exchanging, which works on integers. */
  readonly exchanged: ReadonlySet<number>;
  /** Buffers through which lanes tell each other something. */
  readonly sharedByLanes: ReadonlySet<number>;
  /** Neighbours of each array that are accessed at once. */
  readonly widths: readonly number[];
}

function surveyAccesses(kernel: Kernel, atomicFloats: readonly IRType[]): Accesses {
  const exchanged = new Set<number>();
  const sharedByLanes = new Set<number>();
  const widths = kernel.arrays.map(() => 1);
  walkStatements(kernel.body, (statement) => {
    if (statement.kind === "atomic") {
      if (isExchanged(statement.op, statement.value.type, atomicFloats)) exchanged.add(statement.buffer);
    } else if (statement.kind === "read" && statement.from === "buffer") {
      if (kernel.lanes > 1) sharedByLanes.add(statement.memory);
    } else if (statement.kind === "read" || statement.kind === "write") {
      const [array, count] =
        statement.kind === "read"
          ? [statement.memory, statement.results.length]
          : [statement.array, statement.values.length];
      const width = widths[array] as number;
      if (width !== count && width > 1 && count > 1) {
        throw new Error(`emitSpirv: neighbours of array ${array} are accessed by ${width} and by ${count}`);
      }
      widths[array] = Math.max(width, count);
    }
  });
  return { exchanged, sharedByLanes, widths };
}

/** A buffer as vectors. */
function vectorPlace(
  m: ModuleBuilder,
  f: FunctionBuilder,
  { dtype, isWritten, isLarge: large }: Kernel["buffers"][number],
  place: Ref,
): Ref {
  const width = widthOf(dtype);
  const { bytes } = DTYPES[dtype];
  const type = m.bufferPointer(m.vec(storageType(m, dtype), width), {
    align: width * bytes,
    large,
    ...(isWritten ? {} : { writable: false }),
  });
  return f.ref(f.pointer(f.address(place.at(0), bytes < 4 ? m.u64 : m.vec(m.u32, 2)), type));
}

/** An atomic that there is no instruction for. */
function isExchanged(op: AtomicOp, type: IRType, atomicFloats: readonly IRType[]): boolean {
  const isFloat = type === "f32" || type === "f64";
  return op === "mul" || (isFloat && !(op === "add" && atomicFloats.includes(type)));
}

function hasExchange(statements: readonly Statement[]): boolean {
  let isFound = false;
  walkStatements(statements, (statement) => {
    if (statement.kind !== "let") return;
    const { op } = statement.value;
    if (op === "fromLane" || op === "combineLanes") isFound = true;
  });
  return isFound;
}

class BodyEmitter {
  private readonly values = new Map<number, Value>();
  private readonly lane: Value;
  /** Exchanges between lanes written so far. */
  private exchanges = 0;

  constructor(
    private readonly m: ModuleBuilder,
    private readonly f: FunctionBuilder,
    private readonly kernel: Kernel,
    private readonly memory: RowMemory,
    private readonly row: Value,
    private readonly lanes: Lanes,
    private readonly sharedFor: SharedMemory,
    /** A word of zero bits (no row is numbered that high) that the driver does not know to be one; null where it may. */
    private readonly zeroBits: Value | null,
  ) {
    this.lane = lanes.own;
  }

  statements(list: readonly Statement[]): void {
    const { wide } = this.memory;
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
          this.barrier();
          break;
        case "read":
          this.read(statement);
          break;
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
        case "atomic":
          this.gated(statement.gate, false, () => this.atomic(statement));
          break;
      }
    }
  }

  /** Loads that become one are all there once the first of them is asked for. */
  private loadWide(value: IRValue): boolean {
    const { f } = this;
    const run = this.memory.wide.loads.get(value);
    if (!run) return false;
    if (this.values.has(value.id)) return true;
    const slot = value.attribute as number;
    const { dtype } = this.kernel.buffers[slot] as Kernel["buffers"][number];
    const vector = (this.memory.vectors[slot] as Ref).load(
      f.shiftRight(this.get(value.args[0]), Math.log2(run.length)),
    );
    run.forEach(({ id }, part) => {
      this.values.set(id, this.widen(f.extract(vector, part), dtype));
    });
    return true;
  }

  private storeWide(run: readonly StoreStatement[]): void {
    const { f } = this;
    const [{ buffer, index }] = run;
    const { dtype } = this.kernel.buffers[buffer] as Kernel["buffers"][number];
    const parts = run.map(({ value }) => this.narrow(this.get(value), dtype));
    const place = this.memory.vectors[buffer] as Ref;
    place.store(f.shiftRight(this.get(index), Math.log2(run.length)), f.vector(...parts));
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
    const { f } = this;
    if (from === "buffer") {
      const [only] = results as readonly [IRValue];
      const { dtype } = this.kernel.buffers[memory] as Kernel["buffers"][number];
      this.values.set(only.id, this.widen((this.memory.buffers[memory] as Ref).load(this.get(index)), dtype));
    } else if (results.length === 1) this.values.set((results[0] as IRValue).id, this.element(memory, index).load());
    else {
      const { place, width } = this.memory.arrays[memory] as RowMemory["arrays"][number];
      const vector = place.load(this.vectorIndex(index, width).vector);
      results.forEach(({ id }, part) => {
        this.values.set(id, f.extract(vector, part));
      });
    }
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
   * The vector an element is in, and its part of it. A constant number of vectors is added last, so that a driver can make
   * it part of the instruction: accesses side by side then share what is before.
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
    // The turns of exchanges on either side are not those of what follows the other.
    if (hasExchange(whenTrue) || hasExchange(whenFalse)) f.workgroupBarrier();
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

  private store({ buffer, index, value }: StoreStatement): void {
    const { dtype } = this.kernel.buffers[buffer] as Kernel["buffers"][number];
    (this.memory.buffers[buffer] as Ref).store(this.get(index), this.narrow(this.get(value), dtype));
  }

  /**
   * Integers have instructions of their own, but for products, and on many devices so have sums of floats. The rest is
   * computed and exchanged, again and again until nobody else was faster: such a buffer is declared as its bits.
   */
  private atomic({ op, buffer, index, value }: AtomicStatement): void {
    const { f, m } = this;
    const place = (this.memory.buffers[buffer] as Ref).at(this.get(index));
    const operand = this.get(value);
    if (!this.memory.exchanged.has(buffer)) {
      f.atomic[op as "add" | "min" | "max"](place, operand);
      return;
    }
    f.iterate(
      [f.atomic.load(place), m.constant(m.bool, false)],
      ([, isDone]) => f.not(isDone),
      ([expected]) => {
        const combined = merge(f, op, f.bitcast(expected, operand.type), operand, value.type);
        const seen = f.atomic.compareExchange(place, expected, f.bitcast(combined, place.type));
        return [seen, f.equal(seen, expected)];
      },
    );
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
    const start = isLaneLoop ? this.lane : m.constant(m.i32, 0);
    const step = isLaneLoop ? this.kernel.lanes : 1;
    const initial = accumulators.map((accumulator) => this.get(accumulator.initial));
    const results = f.fold(start, m.constant(m.i32, extent), step, initial, (i, state) => {
      // The turns of a round's first exchanges may be those of the last round's last ones.
      if (hasExchange(body)) f.workgroupBarrier();
      this.values.set(index.id, i);
      accumulators.forEach(({ value }, k) => {
        this.values.set(value.id, state[k] as Value);
      });
      this.statements(body);
      const next = accumulators.map((accumulator) => this.get(accumulator.next));
      if (exit) f.if(this.get(exit), () => f.break(...next));
      return next;
    });
    accumulators.forEach(({ result }, k) => {
      this.values.set(result.id, results[k] as Value);
    });
  }

  /** A loop in which every lane has one round at most is none. */
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

  /** A constant zero made of bits that the driver cannot see through. */
  private hidden({ op, type, attribute }: IRValue): Value | null {
    const { f, m, zeroBits } = this;
    if (!zeroBits || op !== "constant" || attribute !== 0 || (type !== "f32" && type !== "f64")) return null;
    const high = Object.is(attribute, -0) ? f.or(zeroBits, 0x80000000) : zeroBits;
    return type === "f64" ? f.bitcast(f.vector(zeroBits, high), m.f64) : f.bitcast(high, m.f32);
  }

  private compute(value: IRValue): Value {
    const { f, m } = this;
    const isFloat = value.type === "f32" || value.type === "f64";
    // Also where no arithmetic is done: what is selected, compared or cast is soon an operand again.
    const operand = (arg: IRValue) => this.hidden(arg) ?? this.get(arg);
    const [a, b, c] = value.args.map(operand) as [Value, Value, Value];
    const type = valueType(m, value.type);
    switch (value.op) {
      case "add":
        return f.add(a, b);
      case "sub":
        return f.sub(a, b);
      case "mul":
        return f.mul(a, b);
      case "div":
      case "idiv":
        return f.div(a, b);
      case "irem":
        // Vulkan leaves OpSRem undefined for negative operands, and NVIDIA's drivers make use of it.
        return value.type === "i32" || value.type === "i64" ? f.sub(a, f.mul(f.div(a, b), b)) : f.rem(a, b);
      case "min":
        return isFloat ? f.select(f.or(f.isNan(a), f.less(a, b)), a, b) : f.min(a, b);
      case "max":
        return isFloat ? f.select(f.or(f.isNan(a), f.greater(a, b)), a, b) : f.max(a, b);
      case "and":
        return f.and(a, b);
      case "or":
        return f.or(a, b);
      case "xor":
        return value.type === "bool" ? f.notEqual(a, b) : f.xor(a, b);
      case "shl":
        return f.shiftLeft(a, b);
      case "shr":
        return f.shiftRight(a, b);
      case "eq":
        return f.equal(a, b);
      case "ne":
        return f.notEqual(a, b);
      case "lt":
        return f.less(a, b);
      case "le":
        return f.lessEqual(a, b);
      case "gt":
        return f.greater(a, b);
      case "ge":
        return f.greaterEqual(a, b);
      case "neg":
        return f.neg(a);
      case "abs":
        return f.abs(a);
      case "floor":
        return f.floor(a);
      case "ceil":
        return f.ceil(a);
      case "trunc":
        return f.trunc(a);
      case "roundEven":
        return f.roundEven(a);
      case "sqrt":
        return f.sqrt(a);
      case "not":
        return f.not(a);
      case "select":
        return f.select(a, b, c);
      case "mulAdd":
        return isFloat ? f.fma(a, b, c) : f.add(f.mul(a, b), c);
      case "convert":
        return this.convert(a, value.args[0].type, value.type);
      case "bitcast":
        return f.bitcast(a, type);
      case "highWord":
        return f.extract(f.bitcast(a, m.vec(m.u32, 2)), 1);
      case "lowWord":
        return f.extract(f.bitcast(a, m.vec(m.u32, 2)), 0);
      case "fromWords":
        return f.bitcast(f.vector(b, a), m.f64);
      case "signExtend": {
        const distance = m.constant(m.u32, 32 - (value.attribute as number));
        return f.shiftRight(f.shiftLeft(a, distance), distance);
      }
      case "load": {
        const { dtype } = this.kernel.buffers[value.attribute as number] as Kernel["buffers"][number];
        return this.widen((this.memory.buffers[value.attribute as number] as Ref).load(a), dtype);
      }
      case "combineLanes":
        return combineLanes(f, value.attribute as CombineOp, a, value.type, this.lanes, () =>
          this.nextMemory(value.type),
        );
      case "fromLane": {
        const memory = this.nextMemory(value.type);
        memory.store(this.lane, a);
        f.workgroupBarrier();
        return memory.load(b);
      }
      default:
        throw new Error(`emitSpirv: ${value.op} is not computed`);
    }
  }

  /**
   * Mesa up to 22.3 takes a comparison of a sign-extended i32 with a 64-bit constant for always false, so the extension is
   * written as the words it has.
   */
  private convert(x: Value, from: IRType, to: IRType): Value {
    const { f, m } = this;
    if (from !== "i32" || (to !== "i64" && to !== "u64")) return f.convert(x, valueType(m, to));
    return f.bitcast(f.vector(x, f.shiftRight(x, 31)), valueType(m, to));
  }

  /** Shared memory that is free: who still reads what was there has not passed the barrier of the last turn. */
  private nextMemory(type: IRType): Ref {
    return this.sharedFor((this.exchanges++ % 2) as 0 | 1, type);
  }

  private widen(x: Value, dtype: DType): Value {
    const { f, m } = this;
    switch (dtype) {
      case "bool":
        return f.notEqual(f.convert(x, m.u32), 0);
      case "i8":
      case "i16":
        return f.convert(x, m.i32);
      case "u8":
      case "u16":
        return f.convert(x, m.u32);
      case "f16":
        return f.convert(x, m.f32);
      case "bf16":
        return f.bitcast(f.shiftLeft(f.convert(x, m.u32), 16), m.f32);
      default:
        return x;
    }
  }

  private narrow(x: Value, dtype: DType): Value {
    const { f, m } = this;
    switch (dtype) {
      case "bool":
        return f.convert(f.select(x, m.constant(m.u32, 1), m.constant(m.u32, 0)), m.u8);
      case "i8":
      case "i16":
      case "u8":
      case "u16":
      case "f16":
        return f.convert(x, storageType(m, dtype));
      case "bf16":
        return f.convert(roundToBrain(f, m, x), m.u16);
      default:
        return x;
    }
  }
}

/** The upper half of an f32, rounded to nearest even; a NaN stays one. */
function roundToBrain(f: FunctionBuilder, m: ModuleBuilder, x: Value): Value {
  const bits = f.bitcast(x, m.u32);
  const odd = f.and(f.shiftRight(bits, 16), 1);
  const rounded = f.shiftRight(f.add(bits, f.add(odd, 0x7fff)), 16);
  const quiet = f.or(f.shiftRight(bits, 16), 0x40);
  return f.select(f.isNan(x), quiet, rounded);
}

/** Types are asked for one by one: naming a type makes the module require it of the device. */
function valueType(m: ModuleBuilder, type: IRType): ScalarType {
  return m[type];
}

function bitsType(m: ModuleBuilder, dtype: DType): ScalarType {
  return DTYPES[dtype].bytes === 8 ? m.u64 : m.u32;
}

function storageType(m: ModuleBuilder, dtype: DType): ScalarType {
  switch (dtype) {
    case "bool":
    case "u8":
      return m.u8;
    case "bf16":
      return m.u16;
    case "c64":
    case "c128":
      throw new UnsupportedError(`${dtype} is stored as pairs of floats and read one half at a time`);
    default:
      return m[dtype];
  }
}
