/**
 * Runs kernels of the loop-nest language in JavaScript, by the rules that ir.ts states and nothing else: lanes in step, shared
 * arrays, barriers, fragments. It is how kernels for hardware that is not there are checked, and it reports what no device
 * would: lanes that touch what another lane wrote without a barrier between, rows that touch what another row writes, indices
 * outside memory, lanes of a subgroup that do not agree.
 */
import assert from "node:assert/strict";
import type { Branch, FragmentStatement, Kernel, Loop, Statement, Value } from "../../src/compiler/ir/ir.js";
import { FragmentMemory } from "./kernel-fragments.js";
import { ArrayMemory, BufferMemory } from "./kernel-memory.js";
import { bitsOf, numberOf, operate, type Scalar, wrapped } from "./kernel-operations.js";
import type { Visitor } from "./kernel-races.js";

type Lanes = readonly Scalar[];
type Active = readonly boolean[];

/**
 * Runs all rows; the buffers that the kernel writes are changed in place. `openRounds`: rounds of loops that may end early, of all
 * rows together, for tests of how soon something converges.
 */
export function interpretKernel(kernel: Kernel, buffers: readonly Uint8Array[]): { readonly openRounds: number } {
  assert.equal(buffers.length, kernel.buffers.length, "buffers");
  const memory = buffers.map((bytes, number) => new BufferMemory(kernel, number, bytes));
  let openRounds = 0;
  for (let row = 0; row < kernel.rows; row++) openRounds += new RowInterpreter(kernel, memory, row).run();
  return { openRounds };
}

class RowInterpreter {
  private readonly values: Lanes[] = [];
  private readonly arrays: readonly ArrayMemory[];
  private readonly fragments: FragmentMemory;
  private readonly lanes: readonly number[];
  /** Barriers that each subgroup has passed, and those of all lanes. */
  private readonly passed: number[];
  private epoch = 0;
  private openRounds = 0;
  /** The lanes as they touch memory since the last barrier. */
  private readonly visitors: Visitor[] = [];

  constructor(
    private readonly kernel: Kernel,
    private readonly buffers: readonly BufferMemory[],
    private readonly row: number,
  ) {
    this.arrays = kernel.arrays.map((declaration, number) => new ArrayMemory(kernel, number, declaration));
    this.fragments = new FragmentMemory(kernel, this.arrays);
    this.lanes = Array.from({ length: kernel.lanes }, (_, lane) => lane);
    const subgroups = kernel.subgroupSize ? kernel.lanes / kernel.subgroupSize : 1;
    this.passed = new Array(subgroups).fill(0);
  }

  run(): number {
    this.statements(this.kernel.body, new Array(this.kernel.lanes).fill(true));
    return this.openRounds;
  }

  private statements(list: readonly Statement[], active: Active): void {
    for (const statement of list) this.statement(statement, active);
  }

  private statement(statement: Statement, active: Active): void {
    switch (statement.kind) {
      case "let":
        this.values[statement.value.id] = this.compute(statement.value, active);
        break;
      case "loop":
        this.loop(statement, active);
        break;
      case "branch":
        this.branch(statement, active);
        break;
      case "barrier":
        this.barrier(statement.scope, active);
        break;
      case "read":
      case "loadWords":
      case "observe":
      case "ticket":
        this.input(statement, active);
        break;
      case "write":
      case "count":
      case "store":
      case "atomic":
        this.output(statement, active);
        break;
      default:
        this.fragmentStatement(statement, active);
    }
  }

  // ------------------------------------------------------------------------------------------------ control flow

  private branch({ condition, whenTrue, whenFalse, results }: Branch, active: Active): void {
    const holds = this.get(condition);
    const inside = active.map((is, lane) => is && Boolean(holds[lane]));
    const outside = active.map((is, lane) => is && !holds[lane]);
    if (inside.some(Boolean)) this.statements(whenTrue, inside);
    if (outside.some(Boolean)) this.statements(whenFalse, outside);
    for (const { value, whenTrue: yes, whenFalse: no } of results) {
      this.values[value.id] = active.map((is, lane) => (is ? this.get(holds[lane] ? yes : no)[lane]! : 0));
    }
  }

  private barrier(scope: "row" | "subgroup", active: Active): void {
    if (scope === "subgroup") for (const at of this.subgroupsIn(active)) this.passed[at]!++;
    else {
      assert.ok(active.every(Boolean), `${this.kernel.name}: a barrier that not all lanes reach`);
      this.epoch++;
    }
  }

  /** Lanes that have left a loop take no part in further rounds; an operation of all lanes then fails. */
  private loop({ index, extent, isLaneLoop, accumulators, body, exit }: Loop, active: Active): void {
    let state = accumulators.map(({ initial }) => this.get(initial));
    let inside = active;
    const step = isLaneLoop ? this.kernel.lanes : 1;
    for (let round = 0; round < extent && inside.some(Boolean); round += step) {
      const at = this.lanes.map((lane) => (isLaneLoop ? round + lane : round));
      this.values[index.id] = at;
      if (isLaneLoop) inside = inside.map((is, lane) => is && at[lane]! < extent);
      accumulators.forEach(({ value }, i) => {
        this.values[value.id] = state[i]!;
      });
      this.statements(body, inside);
      const before = state;
      state = accumulators.map(({ next }, i) => {
        const reached = this.get(next);
        return before[i]!.map((old, lane) => (inside[lane] ? reached[lane]! : old));
      });
      if (exit) {
        this.openRounds++;
        const leaving = this.get(exit);
        inside = inside.map((is, lane) => is && !leaving[lane]);
      }
    }
    accumulators.forEach(({ result }, i) => {
      this.values[result.id] = state[i]!;
    });
  }

  // ------------------------------------------------------------------------------------------------ memory

  private input(
    statement: Extract<Statement, { kind: "read" | "loadWords" | "observe" | "ticket" }>,
    active: Active,
  ): void {
    const index = this.get(statement.index);
    const keep = ({ id }: Value, read: (at: number, lane: number) => number) => {
      this.values[id] = active.map((is, lane) => (is ? read(Number(index[lane]), lane) : 0));
    };
    switch (statement.kind) {
      case "read":
        statement.results.forEach((result, part) => {
          keep(result, (first, lane) => {
            assert.equal(
              first % statement.results.length,
              0,
              `${statement.results.length} neighbours from ${first} on`,
            );
            const [at, visitor] = [first + part, this.visitor(lane)];
            if (statement.from === "buffer") {
              const buffer = this.buffers[statement.memory]!;
              return this.isSpare(statement.index, lane) ? buffer.spare(at) : buffer.read(at, visitor);
            }
            return this.arrays[statement.memory]!.get(at, visitor);
          });
        });
        break;
      case "loadWords":
        statement.results.forEach((result, part) => {
          keep(result, (at) => this.buffers[statement.buffer]!.wordAt(at, part));
        });
        break;
      case "observe": {
        const words = this.buffers[statement.buffer]!.words();
        keep(statement.result, (at) => {
          assert.ok(at >= 0 && at < words.length, `observe ${at} of ${words.length}`);
          return words[at]!;
        });
        break;
      }
      case "ticket": {
        assert.ok(active.every(Boolean), "a ticket that not all lanes reach");
        const taken = this.buffers[statement.buffer]!.words()[Number(index[0])]!++;
        keep(statement.result, () => taken);
        break;
      }
    }
  }

  /** Whether an index is a constant in place of one that the lane does not have: what is read there must not matter. */
  private isSpare({ op, args }: Value, lane: number): boolean {
    if (op === "add" || op === "mul") return args.some((arg) => this.isSpare(arg, lane));
    return op === "select" && args[2]!.op === "constant" && !this.get(args[0]!)[lane];
  }

  private output(
    statement: Extract<Statement, { kind: "write" | "count" | "store" | "atomic" }>,
    active: Active,
  ): void {
    const index = this.get(statement.index);
    const gate = statement.gate && this.get(statement.gate);
    const given = statement.kind === "write" ? statement.values : [statement.value];
    const values = given.map((value) => this.get(value));
    const each = (write: (at: number, lane: number) => void) => {
      active.forEach((is, lane) => {
        if (is && (!gate || gate[lane])) write(Number(index[lane]), lane);
      });
    };
    switch (statement.kind) {
      case "write":
        each((at, lane) => {
          assert.equal(at % values.length, 0, `${values.length} neighbours from ${at} on`);
          values.forEach((lanes, part) => {
            this.arrays[statement.array]!.set(at + part, lanes[lane]!, this.visitor(lane));
          });
        });
        break;
      case "count":
        each((at, lane) => this.arrays[statement.array]!.count(at, Number(values[0]![lane]), this.visitor(lane)));
        break;
      case "store": {
        const first = active.indexOf(true);
        each((at, lane) => {
          if (!statement.isOnce) this.buffers[statement.buffer]!.store(at, values[0]![lane]!, this.visitor(lane));
          else if (lane === 0) this.buffers[statement.buffer]!.store(at, values[0]![0]!, this.visitor(0));
          else {
            const isSame = at === Number(index[first]) && Object.is(values[0]![lane], values[0]![first]);
            assert.ok(isSame && active[0], `${this.kernel.name}: lane ${lane} does not agree on what is stored once`);
          }
        });
        break;
      }
      case "atomic":
        each((at, lane) => this.atomic(statement, at, values[0]![lane]!));
    }
  }

  private atomic({ buffer, op, value }: Extract<Statement, { kind: "atomic" }>, at: number, given: Scalar): void {
    const words = this.buffers[buffer]!.words();
    const { type } = value;
    assert.ok(at >= 0 && at < words.length, `atomic ${op} at ${at} of ${words.length}`);
    const combined = operate({ ...value, op } as Value, numberOf(type, words[at]!), given, 0);
    words[at] = bitsOf(type, wrapped(type, combined));
  }

  private fragmentStatement(statement: FragmentStatement, active: Active): void {
    const { fragments } = this;
    const subgroups = this.subgroupsIn(active);
    switch (statement.kind) {
      case "fillFragment":
        for (const at of subgroups) fragments.fill(at, statement.fragment, statement.value);
        break;
      case "loadFragment":
      case "storeFragment":
        for (const at of subgroups) fragments.move(statement, this.get(statement.index), this.visitor(-1 - at));
        break;
      case "multiplyFragments":
        for (const at of subgroups) fragments.multiply(at, statement.left, statement.right, statement.sum);
        break;
      case "addFragments":
        for (const at of subgroups) fragments.add(at, statement.to, statement.from);
        break;
      case "getElements":
        statement.results.forEach(({ id }, at) => {
          this.values[id] = active.map((is, lane) => (is ? fragments.get(statement.fragment, lane, at) : 0));
        });
        break;
      case "setElements":
        statement.values.forEach((value, at) => {
          const given = this.get(value);
          active.forEach((is, lane) => {
            if (is) fragments.set(statement.fragment, lane, at, Number(given[lane]));
          });
        });
    }
  }

  /** A lane, or a subgroup as -1 - its number. */
  private visitor(who: number): Visitor {
    const known = this.visitors[who];
    if (known && known.epoch === this.epoch && known.passed === this.passed[known.subgroup]) return known;
    const subgroup = who < 0 ? -1 - who : Math.floor(who / (this.kernel.subgroupSize ?? this.kernel.lanes));
    const visitor = { row: this.row, who, subgroup, epoch: this.epoch, passed: this.passed[subgroup]! };
    if (who >= 0) this.visitors[who] = visitor;
    return visitor;
  }

  /** The subgroups that are active; all lanes of a subgroup must do what it does. */
  private subgroupsIn(active: Active): number[] {
    const size = this.kernel.subgroupSize ?? this.kernel.lanes;
    return this.passed.flatMap((_, subgroup) => {
      const lanes = active.slice(subgroup * size, (subgroup + 1) * size);
      const isActive = lanes.some(Boolean);
      assert.ok(!isActive || lanes.every(Boolean), "an operation of a subgroup that not all of its lanes reach");
      return isActive ? [subgroup] : [];
    });
  }

  // ------------------------------------------------------------------------------------------------ values

  private get(value: Value): Lanes {
    const known = this.values[value.id];
    if (known) return known;
    const given = value.op === "constant" ? (value.attribute as Scalar) : value.op === "row" ? this.row : null;
    if (given === null) assert.equal(value.op, "lane", `%${value.id} (${value.op}) is used before it is computed`);
    const lanes = given === null ? this.lanes : this.lanes.map(() => given);
    this.values[value.id] = lanes;
    return lanes;
  }

  private compute(value: Value, active: Active): Lanes {
    const { op, type, attribute, args } = value;
    const [a, b, c] = args.map((arg) => this.get(arg));
    if (op === "combineLanes" || op === "fromLane") return this.acrossLanes(value, active);
    if (op === "anyLane" || op === "matchLanes") return this.acrossSubgroup(value, active);
    if (op === "load") {
      const buffer = this.buffers[attribute as number]!;
      return active.map((is, lane) => (is ? buffer.load(Number(a![lane])) : 0));
    }
    return active.map((is, lane) => {
      if (!is) return 0;
      return wrapped(type, operate(value, a![lane]!, b ? b[lane]! : 0, c ? c[lane]! : 0));
    });
  }

  private acrossLanes(value: Value, active: Active): Lanes {
    const { op, type, attribute, args } = value;
    const [given, from] = args.map((arg) => this.get(arg));
    assert.ok(active.every(Boolean), `${this.kernel.name}: ${op} that not all lanes reach`);
    if (op === "fromLane") {
      return active.map((_, lane) => {
        const at = Number(from![lane]);
        assert.ok(at in given!, `fromLane: lane ${at} of ${active.length}`);
        return given![at]!;
      });
    }
    const operation = { ...value, op: attribute } as Value;
    const count = from ? Number(from[0]) : active.length;
    const combined = Array.from({ length: active.length / count }, (_, group) =>
      given!.slice(group * count, (group + 1) * count).reduce((a, b) => wrapped(type, operate(operation, a, b, 0))),
    );
    return active.map((_, lane) => combined[Math.floor(lane / count)]!);
  }

  private acrossSubgroup({ op, attribute, args }: Value, active: Active): Lanes {
    const size = this.kernel.subgroupSize!;
    const given = this.get(args[0]!);
    this.subgroupsIn(active);
    const first = (lane: number) => lane - (lane % size);
    if (op === "anyLane") {
      return active.map((_, lane) =>
        given.slice(first(lane), first(lane) + size).some((is, at) => active[first(lane) + at] && Boolean(is)),
      );
    }
    const mask = 2 ** Number(attribute) - 1;
    const partOf = (lane: number) => Number(given[lane]) & mask;
    return active.map((is, lane) => {
      let word = 0;
      for (let bit = 0; is && bit < size; bit++) if (partOf(first(lane) + bit) === partOf(lane)) word |= 1 << bit;
      return word >>> 0;
    });
  }
}
