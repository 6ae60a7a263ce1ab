/**
 * Runs kernels of the loop-nest language in JavaScript, by the rules that ir.ts states and nothing else: lanes in step, shared
 * arrays, barriers, fragments. It is how kernels for hardware that is not there are checked, and it reports what no device
 * would: lanes that read what another lane wrote without a barrier between, indices outside memory, lanes of a subgroup that
 * do not agree.
 */
import assert from "node:assert/strict";
import type { FragmentPlace, IRType, Kernel, Loop, Statement, Value } from "../../src/compiler/ir/ir.js";
import { DTYPES, type DType } from "../../src/core/dtype.js";
import { dataOf, elementAt, encodeValues } from "../../src/core/storage.js";

type Lanes = readonly (number | boolean)[];

/** Runs all rows; the buffers that the kernel writes are changed in place. */
export function interpretKernel(kernel: Kernel, buffers: readonly Uint8Array[]): void {
  assert.equal(buffers.length, kernel.buffers.length, "buffers");
  for (let row = 0; row < kernel.rows; row++) new RowInterpreter(kernel, buffers, row).run();
}

/** An access to a word of an array, and the barriers that its subgroup had passed by then. Subgroups have negative numbers. */
interface Access {
  readonly who: number;
  readonly subgroup: number;
  readonly passed: number;
  readonly isWrite: boolean;
  readonly isCount: boolean;
}

class RowInterpreter {
  private readonly values = new Map<number, Lanes>();
  private readonly arrays: Uint32Array[];
  /** The accesses to each word since the last barrier of all lanes. */
  private readonly touched: { epoch: number; readonly accesses: Access[] }[][];
  /** Barriers that each subgroup has passed. */
  private readonly passed: number[];
  private readonly fragments: Float64Array[][];
  private epoch = 0;

  constructor(
    private readonly kernel: Kernel,
    private readonly buffers: readonly Uint8Array[],
    private readonly row: number,
  ) {
    // Undefined contents are NaN and a large integer at once, so that using them shows.
    this.arrays = kernel.arrays.map(({ size }) => new Uint32Array(size).fill(0x7fc0_dead));
    this.touched = kernel.arrays.map(({ size }) => Array.from({ length: size }, () => ({ epoch: 0, accesses: [] })));
    const subgroups = kernel.subgroupSize ? kernel.lanes / kernel.subgroupSize : 0;
    this.passed = new Array(Math.max(1, subgroups)).fill(0);
    this.fragments = Array.from({ length: subgroups }, () =>
      (kernel.fragments ?? []).map(({ rows, columns }) => new Float64Array(rows * columns).fill(Number.NaN)),
    );
  }

  run(): void {
    this.statements(this.kernel.body, new Array(this.kernel.lanes).fill(true));
  }

  private statements(list: readonly Statement[], active: readonly boolean[]): void {
    for (const statement of list) this.statement(statement, active);
  }

  private statement(statement: Statement, active: readonly boolean[]): void {
    switch (statement.kind) {
      case "let":
        this.values.set(statement.value.id, this.compute(statement.value, active));
        break;
      case "loop":
        this.loop(statement, active);
        break;
      case "branch": {
        const condition = this.get(statement.condition);
        this.statements(
          statement.whenTrue,
          active.map((is, lane) => is && Boolean(condition[lane])),
        );
        this.statements(
          statement.whenFalse,
          active.map((is, lane) => is && !condition[lane]),
        );
        for (const { value, whenTrue, whenFalse } of statement.results) {
          const [yes, no] = [this.get(whenTrue), this.get(whenFalse)];
          this.values.set(
            value.id,
            condition.map((is, lane) => (is ? yes : no)[lane]!),
          );
        }
        break;
      }
      case "barrier":
        if (statement.scope === "subgroup") for (const at of this.subgroupsIn(active)) this.passed[at]!++;
        else if (active.some(Boolean)) {
          assert.ok(active.every(Boolean), "a barrier that not all lanes reach");
          this.epoch++;
        }
        break;
      case "read":
        this.read(statement, active);
        break;
      case "loadWords": {
        const index = this.get(statement.index);
        const { dtype } = this.kernel.buffers[statement.buffer]!;
        const start = (lane: number) => Number(index[lane]) * DTYPES[dtype].bytes;
        const bytes = this.buffers[statement.buffer]!;
        statement.results.forEach(({ id }, part) => {
          this.values.set(
            id,
            active.map((is, lane) => {
              if (!is) return 0;
              const at = start(lane);
              assert.ok(at % 16 === 0 && at >= 0 && at + 16 <= bytes.length, `words at byte ${at} of ${bytes.length}`);
              return new DataView(bytes.buffer, bytes.byteOffset).getUint32(at + 4 * part, true);
            }),
          );
        });
        break;
      }
      case "write": {
        const index = this.get(statement.index);
        const values = statement.values.map((value) => ({ lanes: this.get(value), type: value.type }));
        this.gated(statement.gate, active, (lane) => {
          const at = Number(index[lane]);
          assert.equal(at % values.length, 0, `${values.length} neighbours from ${at} on`);
          values.forEach(({ lanes, type }, part) => {
            this.touch(statement.array, at + part, lane, true);
            this.arrays[statement.array]![at + part] = bitsOf(type, lanes[lane]!);
          });
        });
        break;
      }
      case "store": {
        const [index, value] = [this.get(statement.index), this.get(statement.value)];
        const { dtype } = this.kernel.buffers[statement.buffer]!;
        this.gated(statement.gate, active, (lane) => {
          if (statement.isOnce && lane > 0) return;
          const bytes = encodeValues([value[lane]!], dtype, "store");
          const at = Number(index[lane]) * bytes.length;
          assert.ok(at >= 0 && at + bytes.length <= this.buffers[statement.buffer]!.length, `store at byte ${at}`);
          this.buffers[statement.buffer]!.set(bytes, at);
        });
        break;
      }
      case "fillFragment":
        for (const at of this.subgroupsIn(active)) this.fragments[at]![statement.fragment]!.fill(statement.value);
        break;
      case "loadFragment":
      case "storeFragment":
        this.moveFragment(statement.fragment, statement, statement.kind === "storeFragment", active);
        break;
      case "multiplyFragments":
        for (const at of this.subgroupsIn(active)) {
          this.multiply(this.fragments[at]!, statement.left, statement.right, statement.sum);
        }
        break;
      case "addFragments":
        for (const at of this.subgroupsIn(active)) {
          const [to, from] = [this.fragments[at]![statement.to]!, this.fragments[at]![statement.from]!];
          for (let i = 0; i < to.length; i++) to[i]! += from[i]!;
        }
        break;
      case "getElements":
        for (const [at, { id }] of statement.results.entries()) {
          const found = active.map((is, lane) =>
            is ? this.held(statement.fragment, lane)[this.element(statement.fragment, lane, at)]! : 0,
          );
          this.values.set(id, found);
        }
        this.subgroupsIn(active);
        break;
      case "setElements":
        this.subgroupsIn(active);
        for (const [at, value] of statement.values.entries()) {
          const given = this.get(value);
          active.forEach((is, lane) => {
            if (is)
              this.held(statement.fragment, lane)[this.element(statement.fragment, lane, at)] = Number(given[lane]);
          });
        }
        break;
      case "count": {
        const [index, value] = [this.get(statement.index), this.get(statement.value)];
        this.gated(statement.gate, active, (lane) => {
          const at = Number(index[lane]);
          this.touch(statement.array, at, lane, "count");
          this.arrays[statement.array]![at]! += Number(value[lane]);
        });
        break;
      }
      case "atomic": {
        const [index, value] = [this.get(statement.index), this.get(statement.value)];
        this.gated(statement.gate, active, (lane) => {
          const words = this.wordsOf(statement.buffer);
          const { type } = statement.value;
          const operation = { ...statement.value, op: statement.op } as Value;
          const at = Number(index[lane]);
          assert.ok(at >= 0 && at < words.length, `atomic ${statement.op} at ${at} of ${words.length}`);
          words[at] = bitsOf(type, wrapped(type, operate(operation, [numberOf(type, words[at]!), value[lane]!])));
        });
        break;
      }
      case "observe": {
        const index = this.get(statement.index);
        const words = this.wordsOf(statement.buffer);
        this.values.set(
          statement.result.id,
          active.map((is, lane) => {
            const at = Number(index[lane]);
            assert.ok(!is || (at >= 0 && at < words.length), `observe ${at} of ${words.length}`);
            return is ? words[at]! : 0;
          }),
        );
        break;
      }
      case "ticket": {
        assert.ok(active.every(Boolean), "a ticket that not all lanes reach");
        const taken = this.wordsOf(statement.buffer)[Number(this.get(statement.index)[0])]!++;
        this.values.set(
          statement.result.id,
          active.map(() => taken),
        );
        break;
      }
    }
  }

  private held(fragment: number, lane: number): Float64Array {
    return this.fragments[Math.floor(lane / this.kernel.subgroupSize!)]![fragment]!;
  }

  /**
   * Which element of a fragment a lane holds in a place. Kernels may rely on pairs of neighbours only where they say so; else
   * elements are scattered as no device does it.
   */
  private element(fragment: number, lane: number, at: number): number {
    const size = this.kernel.subgroupSize!;
    const { rows, columns, pairs } = this.kernel.fragments![fragment]!;
    const inSubgroup = lane % size;
    if (pairs) return 2 * (inSubgroup + (at >> 1) * size) + (at & 1);
    return (13 * (inSubgroup + at * size) + 5) % (rows * columns);
  }

  /** A buffer of words. */
  private wordsOf(buffer: number): Uint32Array {
    const bytes = this.buffers[buffer]!;
    assert.equal(DTYPES[this.kernel.buffers[buffer]!.dtype].bytes, 4, "updates of words only");
    return new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
  }

  /** The subgroups that are active; all lanes of a subgroup must do what it does. */
  private subgroupsIn(active: readonly boolean[]): number[] {
    const size = this.kernel.subgroupSize ?? this.kernel.lanes;
    return this.passed.flatMap((_, subgroup) => {
      const lanes = active.slice(subgroup * size, (subgroup + 1) * size);
      const isActive = lanes.some(Boolean);
      assert.ok(!isActive || lanes.every(Boolean), "an operation of a subgroup that not all of its lanes reach");
      return isActive ? [subgroup] : [];
    });
  }

  private gated(gate: Value | null, active: readonly boolean[], write: (lane: number) => void): void {
    const open = gate ? this.get(gate) : null;
    active.forEach((is, lane) => {
      if (is && (!open || open[lane])) write(lane);
    });
  }

  private loop({ index, extent, isLaneLoop, accumulators, body, exit }: Loop, active: readonly boolean[]): void {
    assert.ok(!isLaneLoop, "kernel interpreter: plain loops only");
    let state = accumulators.map(({ initial }) => this.get(initial));
    let inside = active;
    for (let round = 0; round < extent; round++) {
      this.values.set(index.id, new Array(this.kernel.lanes).fill(round));
      accumulators.forEach(({ value }, i) => {
        this.values.set(value.id, state[i]!);
      });
      this.statements(body, inside);
      const before = state;
      state = accumulators.map(({ next }, i) => {
        const reached = this.get(next);
        return before[i]!.map((old, lane) => (inside[lane] ? reached[lane]! : old));
      });
      // Lanes that have left take no part in further rounds; an operation of all lanes then fails.
      const leaving = exit ? this.get(exit) : [];
      inside = inside.map((is, lane) => is && !leaving[lane]);
      if (!inside.some(Boolean)) break;
    }
    accumulators.forEach(({ result }, i) => {
      this.values.set(result.id, state[i]!);
    });
  }

  private read(statement: Extract<Statement, { kind: "read" }>, active: readonly boolean[]): void {
    assert.equal(statement.from, "array", "kernel interpreter: reads of arrays only");
    const index = this.get(statement.index);
    statement.results.forEach(({ id, type }, part) => {
      this.values.set(
        id,
        active.map((is, lane) => {
          if (!is) return 0;
          const at = Number(index[lane]);
          assert.equal(at % statement.results.length, 0, `${statement.results.length} neighbours from ${at} on`);
          this.touch(statement.memory, at + part, lane, false);
          return numberOf(type, this.arrays[statement.memory]![at + part]!);
        }),
      );
    });
  }

  /** Notes an access to a word of an array; two accesses without a barrier between them must not conflict. */
  private touch(array: number, at: number, who: number, how: boolean | "count"): void {
    const size = this.arrays[array]!.length;
    assert.ok(at >= 0 && at < size, `word ${at} of an array of ${size}`);
    const seen = this.touched[array]![at]!;
    if (seen.epoch !== this.epoch) {
      seen.epoch = this.epoch;
      seen.accesses.length = 0;
    }
    const subgroup = who < 0 ? -1 - who : Math.floor(who / (this.kernel.subgroupSize ?? this.kernel.lanes));
    const passed = this.passed[subgroup]!;
    const [isWrite, isCount] = [how !== false, how === "count"];
    for (const other of seen.accesses) {
      const isApart = other.who === who || (other.subgroup === subgroup && other.passed < passed);
      const areCounts = isCount && other.isCount;
      assert.ok(
        isApart || areCounts || !(isWrite || other.isWrite),
        `word ${at}: ${who} meets ${other.who} without a barrier`,
      );
    }
    if (!seen.accesses.some((other) => other.who === who && other.passed === passed && other.isWrite === isWrite)) {
      seen.accesses.push({ who, subgroup, passed, isWrite, isCount });
    }
  }

  private moveFragment(fragment: number, place: FragmentPlace, isStore: boolean, active: readonly boolean[]): void {
    const { array, pitch, isByColumns } = place;
    const index = this.get(place.index);
    const size = this.kernel.subgroupSize!;
    const { rows, columns, dtype } = this.kernel.fragments![fragment]!;
    for (const subgroup of this.subgroupsIn(active)) {
      const held = this.fragments[subgroup]!;
      const lanes = index.slice(subgroup * size, (subgroup + 1) * size);
      const start = Number(lanes[0]);
      assert.ok(
        lanes.every((at) => at === start),
        "lanes of a subgroup do not agree on a fragment's place",
      );
      assert.ok(start % 4 === 0 && pitch % 4 === 0, `a fragment at word ${start}, ${pitch} apart`);
      const bytes = new Uint8Array(this.arrays[array]!.buffer);
      const width = DTYPES[dtype].bytes;
      for (let r = 0; r < rows; r++) {
        for (let c = 0; c < columns; c++) {
          const [line, along] = isByColumns ? [c, r] : [r, c];
          const byte = 4 * (start + line * pitch) + along * width;
          this.touch(array, Math.floor(byte / 4), -1 - subgroup, isStore);
          const at = r * columns + c;
          if (isStore) bytes.set(encodeValues([held[fragment]![at]!], dtype, "fragment"), byte);
          else held[fragment]![at] = numberAt(bytes.subarray(byte, byte + width), dtype);
        }
      }
    }
  }

  private multiply(held: readonly Float64Array[], left: number, right: number, sum: number): void {
    const { rows, columns: depth } = this.kernel.fragments![left]!;
    const { columns } = this.kernel.fragments![right]!;
    const isFloat = this.kernel.fragments![sum]!.dtype === "f32";
    for (let r = 0; r < rows; r++) {
      for (let c = 0; c < columns; c++) {
        let total = held[sum]![r * columns + c]!;
        for (let d = 0; d < depth; d++) total += held[left]![r * depth + d]! * held[right]![d * columns + c]!;
        held[sum]![r * columns + c] = isFloat ? Math.fround(total) : total | 0;
      }
    }
  }

  private get(value: Value): Lanes {
    const { lanes } = this.kernel;
    if (value.op === "constant") return new Array(lanes).fill(value.attribute as number | boolean);
    if (value.op === "row") return new Array(lanes).fill(this.row);
    if (value.op === "lane") return Array.from({ length: lanes }, (_, lane) => lane);
    const found = this.values.get(value.id);
    assert.ok(found, `%${value.id} (${value.op}) is used before it is computed`);
    return found;
  }

  private compute(value: Value, active: readonly boolean[]): Lanes {
    const { op, type, attribute } = value;
    const args = value.args.map((arg) => this.get(arg));
    if (op === "combineLanes" || op === "fromLane") {
      const isReached = active.some(Boolean);
      assert.ok(!isReached || active.every(Boolean), `${op} that not all lanes reach`);
      if (!isReached) return active.map(() => 0);
      if (op === "fromLane") {
        return active.map((_, lane) => {
          const from = Number(args[1]![lane]);
          assert.ok(from in args[0]!, `fromLane: lane ${from} of ${active.length}`);
          return args[0]![from]!;
        });
      }
      const combined = args[0]!.reduce((a, b) => wrapped(type, operate({ ...value, op: attribute } as Value, [a, b])));
      return active.map(() => combined);
    }
    if (op === "anyLane") {
      const size = this.kernel.subgroupSize!;
      this.subgroupsIn(active);
      return active.map((_, lane) => {
        const first = lane - (lane % size);
        return args[0]!.slice(first, first + size).some((is, at) => active[first + at] && Boolean(is));
      });
    }
    if (op === "beforeLane") {
      const isReached = active.some(Boolean);
      assert.ok(!isReached || active.every(Boolean), "a combination of lanes that not all of them reach");
      let before = args[1]![0]!;
      return args[0]!.map((own) => {
        const mine = before;
        before = wrapped(type, operate({ ...value, op: attribute } as Value, [before, own]));
        return mine;
      });
    }
    if (op === "matchLanes") {
      const size = this.kernel.subgroupSize!;
      this.subgroupsIn(active);
      const mask = 2 ** Number(attribute) - 1;
      const partOf = (lane: number) => Number(args[0]![lane]) & mask;
      return active.map((is, lane) => {
        const first = lane - (lane % size);
        let word = 0;
        for (let bit = 0; is && bit < size; bit++) if (partOf(first + bit) === partOf(lane)) word |= 1 << bit;
        return word >>> 0;
      });
    }
    return active.map((is, lane) => {
      if (!is) return 0;
      const operands = args.map((arg) => arg[lane]!);
      if (op === "load") {
        const { dtype } = this.kernel.buffers[attribute as number]!;
        const width = DTYPES[dtype].bytes;
        const at = Number(operands[0]) * width;
        const bytes = this.buffers[attribute as number]!;
        assert.ok(at >= 0 && at + width <= bytes.length, `load at byte ${at} of ${bytes.length}`);
        return numberAt(bytes.subarray(at, at + width), dtype);
      }
      return wrapped(type, operate(value, operands));
    });
  }
}

const numberAt = (bytes: Uint8Array, dtype: DType): number =>
  Number(elementAt(dataOf(Uint8Array.from(bytes), dtype), dtype, 0));

/** A result in its type. */
function wrapped(type: IRType, value: number | boolean): number | boolean {
  if (type === "bool") return Boolean(value);
  if (type === "f32") return Math.fround(Number(value));
  if (type === "i32") return Number(value) | 0;
  return type === "u32" ? Number(value) >>> 0 : value;
}

function bitsOf(type: IRType, value: number | boolean): number {
  if (type === "f32") return new Uint32Array(new Float32Array([Number(value)]).buffer)[0]!;
  return Number(value) >>> 0;
}

function numberOf(type: IRType, bits: number): number {
  if (type === "f32") return new Float32Array(new Uint32Array([bits]).buffer)[0]!;
  return type === "i32" ? bits | 0 : bits;
}

function operate({ op, type, args, attribute }: Value, [a, b, c]: readonly (number | boolean)[]): number | boolean {
  const [x, y] = [Number(a), Number(b)];
  switch (op) {
    case "add":
      return x + y;
    case "sub":
      return x - y;
    case "mul":
      return type === "f32" ? x * y : Math.imul(x, y);
    case "div":
      return x / y;
    case "idiv":
      return Math.trunc(x / y);
    case "irem":
      return x % y;
    case "min":
      return Math.min(x, y);
    case "max":
      return Math.max(x, y);
    case "and":
      return type === "bool" ? Boolean(a) && Boolean(b) : x & y;
    case "or":
      return type === "bool" ? Boolean(a) || Boolean(b) : x | y;
    case "xor":
      return x ^ y;
    case "shl":
      return x << y;
    case "shr":
      return type === "u32" ? x >>> y : x >> y;
    case "eq":
      return x === y;
    case "ne":
      return x !== y;
    case "lt":
      return x < y;
    case "le":
      return x <= y;
    case "gt":
      return x > y;
    case "ge":
      return x >= y;
    case "neg":
      return -x;
    case "abs":
      return Math.abs(x);
    case "not":
      return type === "bool" ? !a : ~x;
    case "select":
      return a ? b! : c!;
    case "mulAdd":
      return x * y + Number(c);
    case "convert":
      return type === "f32" ? x : Math.trunc(x);
    case "bitcast":
      return numberOf(type, bitsOf(args[0]!.type, a!));
    case "popCount": {
      let count = 0;
      for (let bits = x; bits > 0; bits = Math.floor(bits / 2)) count += bits % 2;
      return count;
    }
    case "signExtend":
      return (x << (32 - Number(attribute))) >> (32 - Number(attribute));
    case "exp2":
      return 2 ** x;
    case "packHalves": {
      const halves = [x, y].map((half) => dataOf(encodeValues([half], "f16", "packHalves"), "u16")[0]!);
      return (halves[0]! | (halves[1]! << 16)) >>> 0;
    }
    default:
      throw new Error(`kernel interpreter: ${op} is not written`);
  }
}
