/**
 * Random programs, run twice: as WebAssembly, and by an interpreter that does each step in the order it was written. They
 * differ where the assembler moves a load past a store, reuses a local too early, or jumps to the wrong place.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { WebAssembly } from "../../src/core/webassembly.js";
import { ModuleBuilder } from "../../src/wasm/builder.js";
import { disassemble } from "../../src/wasm/disassemble.js";
import type { FunctionBuilder, Variable } from "../../src/wasm/function-builder.js";
import type { FunctionHandle, Global } from "../../src/wasm/handles.js";
import type { Value } from "../../src/wasm/value.js";
import { type Random, randomFrom } from "../support/random.js";

/** Values are named by how many there were before them on the path to here. */
type Statement =
  | { kind: "binary"; name: string; a: number; b: number }
  | { kind: "load"; address: number }
  | { kind: "store"; address: number; value: number }
  | { kind: "get"; variable: number }
  | { kind: "set"; variable: number; value: number }
  | { kind: "globalGet" }
  | { kind: "globalSet"; value: number }
  | { kind: "add"; address: number; value: number }
  | { kind: "call"; value: number }
  | { kind: "variable"; value: number }
  | { kind: "if"; condition: number; whenOdd: Block; otherwise: Block }
  | { kind: "switch"; selector: number; cases: Block[]; otherwise: Block }
  | { kind: "fold"; count: number; initial: number[]; body: Block; leave: Leave | undefined };
/** Leave the round early when a value of it is odd. */
type Leave = { how: "break" | "continue"; when: number; state: number[] };
type Block = { statements: Statement[]; yields: number[] };

const BINARY: Record<string, (a: number, b: number) => number> = {
  "i32.add": (a, b) => (a + b) | 0,
  "i32.sub": (a, b) => (a - b) | 0,
  "i32.mul": Math.imul,
  "i32.xor": (a, b) => a ^ b,
  "i32.lt_s": (a, b) => Number(a < b),
  "i32.shr_u": (a, b) => (a >>> b) | 0,
};
const WORDS = 8;

/** A program with `values` values and `variables` variables at hand. */
function block(random: Random, depth: number, values: number, variables: number, yields: number): Block {
  const statements: Statement[] = [];
  let [v, x] = [values, variables];
  const any = () => random.below(v);
  const length = 2 + random.below(depth === 0 ? 12 : 6);
  for (let i = 0; i < length; i++) {
    const kind = random.below(depth < 3 ? 16 : 11);
    if ((kind === 5 || kind === 6) && x === 0) continue;
    if (kind < 3) statements.push({ kind: "binary", name: random.pick(Object.keys(BINARY)), a: any(), b: any() });
    else if (kind === 3) statements.push({ kind: "load", address: any() });
    else if (kind === 4) statements.push({ kind: "store", address: any(), value: any() });
    else if (kind === 5) statements.push({ kind: "get", variable: random.below(x) });
    else if (kind === 6) statements.push({ kind: "set", variable: random.below(x), value: any() });
    else if (kind === 7) statements.push({ kind: "globalGet" });
    else if (kind === 8) statements.push({ kind: "globalSet", value: any() });
    else if (kind === 9) statements.push({ kind: "add", address: any(), value: any() });
    else if (kind === 10) statements.push({ kind: "call", value: any() });
    else if (kind === 11) statements.push({ kind: "variable", value: any() });
    else if (kind < 14) {
      const count = random.below(3);
      const arm = () => block(random, depth + 1, v, x, count);
      statements.push({ kind: "if", condition: any(), whenOdd: arm(), otherwise: arm() });
    } else if (kind === 14) {
      const count = random.below(3);
      const cases = Array.from({ length: 1 + random.below(3) }, () => block(random, depth + 1, v, x, count));
      statements.push({ kind: "switch", selector: any(), cases, otherwise: block(random, depth + 1, v, x, count) });
    } else {
      const initial = Array.from({ length: 1 + random.below(3) }, any);
      const body = block(random, depth + 1, v + 1 + initial.length, x, initial.length);
      const inside = v + 1 + initial.length;
      const leave: Leave | undefined = random.below(2)
        ? {
            how: random.pick(["break", "continue"]),
            when: random.below(inside),
            state: initial.map(() => random.below(inside)),
          }
        : undefined;
      statements.push({ kind: "fold", count: random.below(4), initial, body, leave });
    }
    const last = statements.at(-1) as Statement | undefined;
    if (last) v += made(last);
    if (last?.kind === "variable") x++;
  }
  return { statements, yields: Array.from({ length: yields }, () => random.below(v)) };
}

function made(statement: Statement): number {
  switch (statement.kind) {
    case "store":
    case "set":
    case "globalSet":
    case "variable":
      return 0;
    case "if":
      return statement.whenOdd.yields.length;
    case "switch":
      return statement.otherwise.yields.length;
    case "fold":
      return statement.initial.length;
    default:
      return 1;
  }
}

class Interpreter {
  readonly memory = new Int32Array(WORDS);
  global = 1;

  run({ statements, yields }: Block, given: readonly number[], variables: { value: number }[]): number[] {
    const values = [...given];
    const own = [...variables];
    const at = (i: number) => values[i] as number;
    for (const s of statements) {
      switch (s.kind) {
        case "binary":
          values.push(BINARY[s.name]?.(at(s.a), at(s.b)) as number);
          break;
        case "load":
          values.push(this.memory[at(s.address) & (WORDS - 1)] as number);
          break;
        case "store":
          this.memory[at(s.address) & (WORDS - 1)] = at(s.value);
          break;
        case "add": {
          const word = at(s.address) & (WORDS - 1);
          values.push(this.memory[word] as number);
          this.memory[word] += at(s.value);
          break;
        }
        case "get":
          values.push((own[s.variable] as { value: number }).value);
          break;
        case "set":
          (own[s.variable] as { value: number }).value = at(s.value);
          break;
        case "variable":
          own.push({ value: at(s.value) });
          break;
        case "globalGet":
          values.push(this.global);
          break;
        case "globalSet":
          this.global = at(s.value);
          break;
        case "call":
          this.memory[0] = (this.memory[0] as number) ^ at(s.value);
          this.global = (this.global + 1) | 0;
          values.push((at(s.value) + this.global) | 0);
          break;
        case "if":
          values.push(...this.run(at(s.condition) & 1 ? s.whenOdd : s.otherwise, values, own));
          break;
        case "switch":
          values.push(...this.run(s.cases[at(s.selector) & 3] ?? s.otherwise, values, own));
          break;
        case "fold": {
          let state = s.initial.map(at);
          for (let i = 0; i < s.count; i++) {
            const inside = [...values, i, ...state];
            if (s.leave && (inside[s.leave.when] as number) & 1) {
              state = s.leave.state.map((k) => inside[k] as number);
              if (s.leave.how === "break") break;
              continue;
            }
            state = this.run(s.body, inside, own);
          }
          values.push(...state);
        }
      }
    }
    return yields.map(at);
  }
}

class Assembler {
  constructor(
    private readonly f: FunctionBuilder,
    private readonly counter: Global<"i32">,
    private readonly helper: FunctionHandle<readonly ["i32"], "i32">,
  ) {}

  run({ statements, yields }: Block, given: readonly Value<"i32">[], variables: readonly Variable<"i32">[]) {
    const { f } = this;
    const values = [...given];
    const own = [...variables];
    const at = (i: number) => values[i] as Value<"i32">;
    const address = (i: number) => f.i32.shl(f.i32.and(at(i), WORDS - 1), 2);
    for (const s of statements) {
      switch (s.kind) {
        case "binary":
          values.push(f.op(s.name, at(s.a), at(s.b)) as Value<"i32">);
          break;
        case "load":
          values.push(f.i32.load(address(s.address)));
          break;
        case "store":
          f.i32.store(address(s.address), at(s.value));
          break;
        case "add":
          values.push(f.i32.atomic.rmw.add(address(s.address), at(s.value)));
          break;
        case "get":
          values.push((own[s.variable] as Variable<"i32">).get());
          break;
        case "set":
          (own[s.variable] as Variable<"i32">).set(at(s.value));
          break;
        case "variable":
          own.push(f.variable("i32", at(s.value)));
          break;
        case "globalGet":
          values.push(f.global(this.counter).get());
          break;
        case "globalSet":
          f.global(this.counter).set(at(s.value));
          break;
        case "call":
          values.push(f.call(this.helper, at(s.value)));
          break;
        case "if":
          values.push(
            ...f.if(
              f.i32.and(at(s.condition), 1),
              () => this.run(s.whenOdd, values, own),
              () => this.run(s.otherwise, values, own),
            ),
          );
          break;
        case "switch":
          values.push(
            ...f.switch(
              f.i32.and(at(s.selector), 3),
              s.cases.map((inner, i) => [i, () => this.run(inner, values, own)] as const),
              () => this.run(s.otherwise, values, own),
            ),
          );
          break;
        case "fold":
          values.push(
            ...f.fold(0, s.count, 1, s.initial.map(at), (i, state) => {
              const inside = [...values, i, ...state];
              const { leave } = s;
              if (leave) {
                f.if(f.i32.and(inside[leave.when] as Value<"i32">, 1), () =>
                  f[leave.how](...leave.state.map((k) => inside[k] as Value<"i32">)),
                );
              }
              return this.run(s.body, inside, own);
            }),
          );
      }
    }
    return yields.map(at);
  }
}

function check(seed: number): void {
  const program = block(randomFrom(seed), 0, 2, 0, 3);
  const interpreter = new Interpreter();
  const expected = interpreter.run(program, [seed, -7], []);

  const m = new ModuleBuilder();
  const counter = m.global("i32", 1);
  const helper = m.function("helper", ["i32"], "i32", (f, x) => {
    const g = f.global(counter);
    f.i32.store(0, f.i32.xor(f.i32.load(0), x));
    g.set(f.i32.add(g.get(), 1));
    return f.i32.add(x, g.get());
  });
  const run = m.function("run", ["i32", "i32"], ["i32", "i32", "i32", "i32"], (f, a, b) => {
    const yields = new Assembler(f, counter, helper).run(program, [a, b], []);
    return [...yields, f.global(counter).get()];
  });
  m.export(run);
  const module = m.build();
  const label = () => `seed ${seed}\n${JSON.stringify(program)}\n${disassemble(module)}`;
  if (!WebAssembly.validate(module)) assert.fail(`invalid module: ${label()}`);
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(module), { env: { memory } });
  const actual = (exports.run as (a: number, b: number) => number[])(seed, -7);
  const words = new Int32Array(memory.buffer, 0, WORDS);
  if (`${actual}|${words}` !== `${[...expected, interpreter.global]}|${interpreter.memory}`) {
    assert.fail(
      `got ${actual} | ${words}, expected ${[...expected, interpreter.global]} | ${interpreter.memory}: ${label()}`,
    );
  }
}

test("random programs compute what they say, in the order they say it", () => {
  const seeds = Number(process.env.PUMICE_FUZZ ?? 1500);
  for (let seed = 1; seed <= seeds; seed++) check(seed);
});
