/** The module as a whole: errors that teach, sharing, determinism, size, speed, and functions of great length. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { disassemble, type FunctionBuilder, ModuleBuilder, type Value } from "../../../src/compiler/wasm/index.js";
import { INSTRUCTIONS } from "../../../src/compiler/wasm/instructions.js";
import { WebAssembly } from "../../../src/core/webassembly.js";
import { ArgumentError } from "../../../src/core/errors.js";
import { start } from "./running.js";

/** The lines of a function's body, without indentation. */
function instructions(body: (f: FunctionBuilder, ...p: Value<"i32">[]) => Value | undefined): string[] {
  const m = new ModuleBuilder({ names: false });
  m.function("run", ["i32", "i32"], "i32", (f, a, b) => body(f, a, b) as Value<"i32">);
  const text = disassemble(m.build());
  const lines = text.split("\n").map((line) => line.trim());
  return lines.slice(lines.findIndex((line) => line.startsWith("(func")) + 1, lines.lastIndexOf(")") - 1);
}

describe("code is compact", () => {
  test("an expression used once becomes part of its user", () => {
    assert.deepEqual(
      instructions((f, a, b) => f.i32.mul(f.i32.add(a, 1), f.i32.sub(b, f.i32.load(a)))),
      ["local.get 0", "i32.const 1", "i32.add", "local.get 1", "local.get 0", "i32.load", "i32.sub", "i32.mul"],
    );
  });

  test("one used again is kept in a local where it is first used", () => {
    assert.deepEqual(
      instructions((f, a, b) => {
        const sum = f.i32.add(a, b);
        return f.i32.mul(sum, sum);
      }),
      ["(local i32)", "local.get 0", "local.get 1", "i32.add", "local.tee 2", "local.get 2", "i32.mul"],
    );
  });

  test("what nobody uses is not there", () => {
    assert.deepEqual(
      instructions((f, a) => {
        f.i32.load(f.i32.mul(a, a));
        return a;
      }),
      ["local.get 0"],
    );
  });

  test("a result used by the next statement stays on the stack; one nobody wants is dropped", () => {
    assert.deepEqual(
      instructions((f, a) => {
        const old = f.i32.atomic.rmw.add(a, 1);
        f.if(f.i32.eq(old, 3), () => {
          f.i32.atomic.rmw.add(a, 2);
        });
        return a;
      }),
      ["(local i32)", "local.get 0", "i32.const 1", "i32.atomic.rmw.add", "i32.const 3", "i32.eq", "if", "local.get 0", "i32.const 2"].concat(
        ["i32.atomic.rmw.add", "drop", "end", "local.get 0"],
      ),
    );
  });

  test("values whose lives do not overlap share a local", () => {
    const lines = instructions((f, a) => {
      let x = a;
      for (let i = 0; i < 50; i++) x = f.i32.mul(f.i32.add(x, i), f.i32.add(x, i + 1));
      return x;
    });
    assert.equal(lines[0], "(local i32)", "fifty values, one alive at a time");
  });

  test("a vector constant used in a loop is made once, before it", () => {
    const lines = instructions((f, a, b) => {
      f.for(a, b, 16, (at) => f.v128.store(at, f.f32x4.add(f.v128.load(at), 1)));
      return a;
    });
    assert.ok(lines.findIndex((line) => line.startsWith("v128.const")) < lines.indexOf("loop"));
    assert.equal(lines.filter((line) => line.startsWith("v128.const")).length, 1);
  });

  test("function types are shared", () => {
    const m = new ModuleBuilder();
    for (let i = 0; i < 5; i++) m.function(`f${i}`, ["i32"], "i32", (_f, x) => x);
    m.function("g", ["i32"], [], () => {});
    assert.equal(disassemble(m.build()).match(/\(type \(;/g)?.length, 2);
  });
});

describe("the same calls give the same bytes", () => {
  test("twice over, and again after adding a function", () => {
    const make = () => {
      const m = new ModuleBuilder();
      m.importFunction("env", "log", ["f64"], []);
      const g = m.global("i64", 3n);
      const run = m.function("run", ["i32", "f32"], "f32", (f, n, x) => {
        f.global(g).set(f.i64.add(f.global(g).get(), 1n));
        const v = f.f32x4.splat(x);
        return f.fold(0, n, 1, x, (i, sum) =>
          f.if(
            f.i32.and(i, 1),
            () => f.f32.add(sum, f.f32x4.extract_lane(f.f32x4.mul(v, Number.NaN), 2)),
            () => f.f32.mul(sum, 2),
          ),
        );
      });
      m.export(run);
      return m;
    };
    const m = make();
    const first = m.build();
    assert.deepEqual(first, make().build());
    assert.deepEqual(first, m.build());
    m.function("more", [], [], () => {});
    assert.notDeepEqual(first, m.build());
    assert.ok(WebAssembly.validate(m.build()));
  });
});

describe("functions of great length", () => {
  const lengths = 10_000;
  const chain = (step: (f: FunctionBuilder, x: Value<"i32">, i: number) => Value<"i32">) => {
    const m = new ModuleBuilder();
    m.export(
      m.function("run", ["i32"], "i32", (f, seed) => {
        let x = seed;
        for (let i = 0; i < lengths; i++) x = step(f, x, i);
        return x;
      }),
    );
    return start(m).exports.run?.(1);
  };

  test("10,000 operations that lean left: one expression, no recursion", () => {
    let expected = 1;
    for (let i = 0; i < lengths; i++) expected = (Math.imul(expected, 3) + i) | 0;
    assert.equal(chain((f, x, i) => f.i32.add(f.i32.mul(x, 3), i)), expected);
  });

  test("10,000 operations that lean right are cut before the stack gets deep", () => {
    let expected = 1;
    for (let i = 0; i < lengths; i++) expected = (i - expected) | 0;
    assert.equal(chain((f, x, i) => f.i32.sub(i, x)), expected);
  });

  test("10,000 values that are all used again", () => {
    let expected = 1;
    for (let i = 0; i < lengths; i++) expected = Math.imul(expected, expected + i);
    assert.equal(chain((f, x, i) => f.i32.mul(x, f.i32.add(x, i))), expected);
  });

  test("10,000 statements, every value alive to the end", () => {
    const m = new ModuleBuilder();
    m.export(
      m.function("run", ["i32"], "i32", (f, seed) => {
        const loads = Array.from({ length: lengths }, (_, i) => {
          f.i32.store(4 * (i % 100), f.i32.add(seed, i));
          return f.i32.load(4 * (i % 100));
        });
        return loads.reduceRight((sum, x) => f.i32.add(x, sum));
      }),
    );
    assert.equal(start(m).exports.run?.(1), lengths + (lengths * (lengths - 1)) / 2);
  });
});

test("2,000 instructions are written in less than 5 ms once warm", () => {
  const write = () => {
    const m = new ModuleBuilder();
    m.function("run", ["i32", "i32"], [], (f, from, to) => {
      f.for(from, to, 16, (at) => {
        let v = f.v128.load(at);
        for (let i = 0; i < 500; i++) v = f.f32x4.add(f.f32x4.mul(v, v), f.f32x4.sub(v, i % 10));
        f.v128.store(at, v);
      });
    });
    return m.build();
  };
  let best = Infinity;
  for (let i = 0; i < 30; i++) {
    const begin = performance.now();
    write();
    best = Math.min(best, performance.now() - begin);
  }
  assert.ok(best < 5, `${best.toFixed(2)} ms`);
});

describe("misuse is refused with the instruction and the types in the message", () => {
  const refuses = (message: RegExp, body: (f: FunctionBuilder, a: Value<"i32">, x: Value<"f32">) => unknown) => () => {
    const m = new ModuleBuilder();
    assert.throws(
      () => m.function("run", ["i32", "f32"], [], (f, a, x) => void body(f, a, x)),
      (error) => error instanceof ArgumentError && message.test(error.message),
    );
  };
  test("operand types", refuses(/i32\.add, operand 2 of 2: expected i32, got f32/, (f, a, x) => f.op("i32.add", a, x)));
  test("operand count", refuses(/i32\.add: takes 2 operands, got 1/, (f, a) => f.op("i32.add", a)));
  test("unknown instruction", refuses(/"i32\.plus" is not an instruction/, (f, a) => f.op("i32.plus", a, a)));
  test("a literal out of range", refuses(/i32\.add.*4294967296 is not an integer of 32 bits/, (f, a) => f.i32.add(a, 2 ** 32)));
  test("a fraction for an integer", refuses(/0\.5 is not an integer/, (f, a) => f.i32.add(a, 0.5)));
  test("a bigint for a float", refuses(/a float constant is a number, got the bigint 1/, (f, _a, x) => f.f32.add(x, 1n)));
  test("a literal vector without lanes", refuses(/v128\.and.*has no lanes here/, (f, a) => f.v128.and(f.i32x4.splat(a), 1)));
  test("lane out of range", refuses(/f32x4\.extract_lane: lane 4 of 4/, (f) => f.f32x4.extract_lane(f.f32x4.const(0), 4)));
  test("lanes of a constant", refuses(/3 lanes for f32x4/, (f) => f.f32x4.const([1, 2, 3])));
  test("shuffle lanes", refuses(/names 16 lanes, got 2/, (f) => f.i8x16.shuffle(f.f32x4.const(0), f.f32x4.const(0), [0, 1])));
  test("alignment", refuses(/i32\.load: the alignment must be a power of two up to 4, got 8/, (f, a) => f.i32.load(a, { align: 8 })));
  test("alignment of an atomic", refuses(/the alignment must be 4, got 2/, (f, a) => f.i32.atomic.load(a, { align: 2 })));
  test("offset", refuses(/offset is a whole number.*got -4/, (f, a) => f.i32.load(a, { offset: -4 })));
  test("select of two types", refuses(/select, operand 2 of 3: expected f32, got i32/, (f, a, x) => f.select(a, x, a as never)));
  test("a condition that is no i32", refuses(/if condition: expected i32, got f32/, (f, _a, x) => f.if(x as never, () => {})));
  test("branches of different types", refuses(/one branch yields i32, another f32/, (f, a, x) => f.if(a, () => a, () => x)));
  test("branches of different lengths", refuses(/yield 1 and 2 values/, (f, a, x) => f.if(a, () => [a], () => [a, x])));
  test("a value that has gone out of scope", refuses(/made inside a branch or loop that has ended/, (f, a) => {
    let inner: Value<"i32"> = a;
    f.if(a, () => {
      inner = f.i32.add(a, 1);
    });
    f.i32.add(inner, 1);
  }));
  test("a variable that has gone out of scope", refuses(/variable\.get: the variable was made inside/, (f, a) => {
    let get: (() => unknown) | undefined;
    f.if(a, () => {
      get = f.variable("i32", 1).get;
    });
    get?.();
  }));
  test("code after a return", refuses(/i32\.add in "run" follows a return/, (f, a) => {
    f.return();
    f.i32.add(a, 1);
  }));
  test("break outside a loop", refuses(/break outside a loop/, (f) => f.break()));
  test("a loop body that forgets its state", refuses(/carries 1 values, but its body returns none/, (f, a) => f.fold(0, 3, 1, a, () => {})));
  test("a break with too much state", refuses(/break passes 2 values; the loop carries 1/, (f, a) =>
    f.fold(0, 3, 1, a, (_i, s) => {
      f.if(s, () => f.break(s, s));
      return s;
    }),
  ));
  test("a step of zero", refuses(/a step of 0 never ends/, (f) => f.for(0, 3, 0, () => {})));
  test("two cases with one label", refuses(/two cases for 1/, (f, a) => f.switch(a, [[1, () => {}], [[2, 1], () => {}]])));
  test("only literals", refuses(/only literals/, (f, a) => f.if(a, () => 1, () => 2)));
  test("return values", refuses(/"run" returns nothing, got 1 values/, (f, a) => f.return(a)));

  test("a function that can end without its result", () => {
    const m = new ModuleBuilder();
    assert.throws(() => m.function("run", [], "i32", () => {}), /"run" can end without returning i32/);
  });
  test("values, functions and globals of another function or module", () => {
    const [m, other] = [new ModuleBuilder(), new ModuleBuilder()];
    let stolen: Value<"i32"> | undefined;
    m.function("a", ["i32"], "i32", (_f, x) => {
      stolen = x;
      return x;
    });
    assert.throws(() => m.function("b", [], "i32", () => stolen as Value<"i32">), /belongs to another function/);
    const foreign = other.function("f", [], [], () => {});
    const global = other.global("i32", 0, { name: "g" });
    assert.throws(() => m.function("c", [], [], (f) => f.call(foreign)), /"f" belongs to another module/);
    assert.throws(() => m.function("d", [], [], (f) => f.global(global).set(1)), /"g" belongs to another module/);
    assert.throws(() => m.export(foreign), /belongs to another module/);
  });
  test("module misuse", () => {
    const m = new ModuleBuilder();
    const constant = m.global("i32", 1, { mutable: false, name: "one" });
    assert.throws(() => m.function("f", [], [], (f) => f.global(constant).set(2)), /"one" is a constant/);
    const g = m.function("g", [], [], () => {});
    m.export(g);
    assert.throws(() => m.export(g), /there is a function "g" already/);
    assert.throws(() => m.importFunction("env", "x", [], []), /imports come before/);
    assert.throws(() => m.function("h", [], [], () => void m.build()), /"h" is still being written/);
    assert.throws(() => new ModuleBuilder({ memory: { min: 5, max: 2 } }), /from 5 to 2 pages/);
  });
});

describe("the disassembler", () => {
  test("knows every instruction by its name", () => {
    const m = new ModuleBuilder();
    m.function("run", [], [], (f) => {
      for (const { name, parameters, immediates, result } of INSTRUCTIONS.values()) {
        const method = name.split(".").reduce((at: object, step) => (at as never)[step], f) as never as (
          ...given: unknown[]
        ) => Value | undefined;
        const operands: unknown[] = parameters.map((type) => (type === "v128" ? f.i32x4.const(1) : f.constant(type, 1)));
        if (immediates.includes("lanes")) operands.push(Array(16).fill(3));
        else if (immediates.includes("lane")) operands.push(1);
        const value = method(...operands);
        if (result !== "none" && value) f.op(`${result}.store`, 0, value);
      }
    });
    const text = disassemble(m.build());
    for (const name of INSTRUCTIONS.keys()) assert.ok(text.includes(`  ${name}`), name);
    assert.ok(WebAssembly.validate(m.build()));
  });

  test("refuses what is no module, saying where", () => {
    const m = new ModuleBuilder();
    m.export(m.function("run", ["i32"], "i32", (f, x) => f.if(x, () => f.i32.load(x), () => 5)));
    const good = m.build();
    assert.throws(() => disassemble(new Uint8Array([1, 2, 3])), /WebAssembly: byte 0: the header needs 8 bytes/);
    assert.throws(() => disassemble(new Uint8Array(8)), /do not begin with/);
    for (let length = 9; length < good.length; length++) {
      try {
        disassemble(good.subarray(0, length));
      } catch (error) {
        assert.match((error as Error).message, /^WebAssembly: byte \d+: /);
      }
    }
    for (let at = 8; at < good.length; at++) {
      for (const flip of [1, 0x80, 0xff]) {
        const bad = good.slice();
        bad[at] = (bad[at] as number) ^ flip;
        try {
          disassemble(bad);
        } catch (error) {
          assert.match((error as Error).message, /^WebAssembly: byte \d+: /, `byte ${at} ^ ${flip}`);
        }
      }
    }
  });

  test("shows nesting by indentation", () => {
    const m = new ModuleBuilder({ memory: { min: 1, max: 2 } });
    m.export(m.function("twice", ["i32"], "i32", (f, x) => f.if(f.i32.gt_s(x, 0), () => f.i32.mul(x, 2), () => x)));
    assert.equal(
      disassemble(m.build()),
      `(module
  (type (;0;) (func (param i32) (result i32)))
  (import "env" "memory" (memory 1 2 shared))
  (export "twice" (func $twice))
  (func $twice (type 0) (param i32) (result i32)
    (local i32)
    local.get 0
    i32.const 0
    i32.gt_s
    if
      local.get 0
      i32.const 2
      i32.mul
      local.set 1
    else
      local.get 0
      local.set 1
    end
    local.get 1
  )
  ;; custom section "name"
)
`,
    );
  });
});
