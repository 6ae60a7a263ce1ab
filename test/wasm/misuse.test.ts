/** Mistakes are refused where they are made, with the instruction, the types and what would work in the message. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ArgumentError } from "../../src/core/errors.js";
import { ModuleBuilder } from "../../src/wasm/builder.js";
import type { FunctionBuilder } from "../../src/wasm/function-builder.js";
import type { Value } from "../../src/wasm/value.js";

describe("misuse is refused with the instruction and the types in the message", () => {
  const refuses = (message: RegExp, body: (f: FunctionBuilder, a: Value<"i32">, x: Value<"f32">) => unknown) => () => {
    const m = new ModuleBuilder();
    assert.throws(
      () => m.function("run", ["i32", "f32"], [], (f, a, x) => void body(f, a, x)),
      (error) => error instanceof ArgumentError && message.test(error.message),
    );
  };
  test(
    "operand types",
    refuses(/i32\.add, operand 2 of 2: expected i32, got f32/, (f, a, x) => f.op("i32.add", a, x)),
  );
  test(
    "operand count",
    refuses(/i32\.add: takes 2 operands, got 1/, (f, a) => f.op("i32.add", a)),
  );
  test(
    "unknown instruction",
    refuses(/"i32\.plus" is not an instruction/, (f, a) => f.op("i32.plus", a, a)),
  );
  test(
    "a literal out of range",
    refuses(/i32\.add.*4294967296 is not an integer of 32 bits/, (f, a) => f.i32.add(a, 2 ** 32)),
  );
  test(
    "a fraction for an integer",
    refuses(/0\.5 is not an integer/, (f, a) => f.i32.add(a, 0.5)),
  );
  test(
    "a bigint for a float",
    refuses(/a float constant is a number, got the bigint 1/, (f, _a, x) => f.f32.add(x, 1n)),
  );
  test(
    "a literal vector without lanes",
    refuses(/v128\.and.*has no lanes here/, (f, a) => f.v128.and(f.i32x4.splat(a), 1)),
  );
  test(
    "lane out of range",
    refuses(/f32x4\.extract_lane: lane 4 of 4/, (f) => f.f32x4.extract_lane(f.f32x4.const(0), 4)),
  );
  test(
    "lanes of a constant",
    refuses(/3 lanes for f32x4/, (f) => f.f32x4.const([1, 2, 3])),
  );
  test(
    "shuffle lanes",
    refuses(/names 16 lanes, got 2/, (f) => f.i8x16.shuffle(f.f32x4.const(0), f.f32x4.const(0), [0, 1])),
  );
  test(
    "alignment",
    refuses(/i32\.load: the alignment must be a power of two up to 4, got 8/, (f, a) => f.i32.load(a, { align: 8 })),
  );
  test(
    "alignment of an atomic",
    refuses(/the alignment must be 4, got 2/, (f, a) => f.i32.atomic.load(a, { align: 2 })),
  );
  test(
    "offset",
    refuses(/offset is a whole number.*got -4/, (f, a) => f.i32.load(a, { offset: -4 })),
  );
  test(
    "select of two types",
    refuses(/select, operand 2 of 3: expected f32, got i32/, (f, a, x) => f.select(a, x, a as never)),
  );
  test(
    "a condition that is no i32",
    refuses(/if condition: expected i32, got f32/, (f, _a, x) => f.if(x as never, () => {})),
  );
  test(
    "branches of different types",
    refuses(/one branch yields i32, another f32/, (f, a, x) =>
      f.if(
        a,
        () => a,
        () => x,
      ),
    ),
  );
  test(
    "branches of different lengths",
    refuses(/yield 1 and 2 values/, (f, a, x) =>
      f.if(
        a,
        () => [a],
        () => [a, x],
      ),
    ),
  );
  test(
    "a value that has gone out of scope",
    refuses(/made inside a branch or loop that has ended/, (f, a) => {
      let inner: Value<"i32"> = a;
      f.if(a, () => {
        inner = f.i32.add(a, 1);
      });
      f.i32.add(inner, 1);
    }),
  );
  test(
    "a variable that has gone out of scope",
    refuses(/variable\.get: the variable was made inside/, (f, a) => {
      let get: (() => unknown) | undefined;
      f.if(a, () => {
        get = f.variable("i32", 1).get;
      });
      get?.();
    }),
  );
  test(
    "code after a return",
    refuses(/i32\.add in "run" follows a return/, (f, a) => {
      f.return();
      f.i32.add(a, 1);
    }),
  );
  test(
    "break outside a loop",
    refuses(/break outside a loop/, (f) => f.break()),
  );
  test(
    "a loop body that forgets its state",
    refuses(/carries 1 values, but its body returns none/, (f, a) => f.fold(0, 3, 1, a, () => {})),
  );
  test(
    "a break with too much state",
    refuses(/break passes 2 values; the loop carries 1/, (f, a) =>
      f.fold(0, 3, 1, a, (_i, s) => {
        f.if(s, () => f.break(s, s));
        return s;
      }),
    ),
  );
  test(
    "a step of zero",
    refuses(/a step of 0 never ends/, (f) => f.for(0, 3, 0, () => {})),
  );
  test(
    "two cases with one label",
    refuses(/two cases for 1/, (f, a) =>
      f.switch(a, [
        [1, () => {}],
        [[2, 1], () => {}],
      ]),
    ),
  );
  test(
    "only literals",
    refuses(/only literals/, (f, a) =>
      f.if(
        a,
        () => 1,
        () => 2,
      ),
    ),
  );
  test(
    "return values",
    refuses(/"run" returns nothing, got 1 values/, (f, a) => f.return(a)),
  );

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
