/** Misuse is refused where it happens, with the operation and the types in the message. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ArgumentError } from "../../src/core/errors.js";
import { type FunctionBuilder, ModuleBuilder, type Value } from "../../src/spirv/index.js";

function inKernel(body: (f: FunctionBuilder, m: ModuleBuilder) => unknown): () => void {
  return () => {
    const m = new ModuleBuilder();
    m.entry("main", { localSize: [1] }, (f) => void body(f, m));
  };
}

function onModule(body: (m: ModuleBuilder) => unknown): () => void {
  return () => void body(new ModuleBuilder());
}

/** An unknown value of a type. */
const some = (f: FunctionBuilder, type: Value["type"]) => f.variable(type).load();

const CASES: { readonly [group: string]: readonly (readonly [string, () => void, RegExp])[] } = {
  "operand types": [
    ["add f32 and u32", inKernel((f, m) => f.add(some(f, m.f32), some(f, m.u32))), /^add: .*f32 and u32; convert/],
    ["add scalar and vector", inKernel((f, m) => f.mul(some(f, m.vec(m.f32, 4)), some(f, m.f32))), /vec4<f32> and f32/],
    ["less i32 and u32", inKernel((f, m) => f.less(some(f, m.i32), some(f, m.u32))), /^less: .*i32 and u32/],
    [
      "and of floats",
      inKernel((f, m) => f.and(some(f, m.f32), 1)),
      /^and: takes signed, unsigned, bool operands, got f32/,
    ],
    ["sqrt of an integer", inKernel((f, m) => f.sqrt(some(f, m.i32))), /^sqrt: takes float operands, got i32/],
    ["add of booleans", inKernel((f, m) => f.add(some(f, m.bool), true)), /^add: .*got bool/],
    ["two literals", inKernel((f) => f.add(1, 2)), /^add: the literal 2 has no type here; write m.constant/],
    ["bf16 arithmetic", inKernel((f, m) => f.add(f.convert(some(f, m.f32), m.bf16), 1)), /^add: bf16 .*convert to f32/],
    ["bitCount of 64 bits", inKernel((f, m) => f.bitCount(some(f, m.u64))), /^bitCount: Vulkan takes 32-bit.*u64/],
    [
      "addCarry of signed",
      inKernel((f, m) => f.addCarry(some(f, m.i32), 1)),
      /^addCarry: takes unsigned integers, got i32/,
    ],
    [
      "shift by a vector",
      inKernel((f, m) => f.shiftLeft(some(f, m.u32), some(f, m.vec(m.u32, 2)))),
      /u32 by vec2<u32>/,
    ],
    ["select by a number", inKernel((f, m) => f.select(some(f, m.u32), some(f, m.f32), 1)), /OpSelect.*u32 condition/],
    [
      "select with a 2-vector among 3",
      inKernel((f, m) => f.select(some(f, m.vec(m.bool, 2)), some(f, m.vec(m.f32, 3)), 0)),
      /vec2<bool> condition/,
    ],
    ["if on a number", inKernel((f, m) => f.if(some(f, m.u32), () => {})), /^if condition: expected bool, got u32/],
    [
      "any of floats",
      inKernel((f, m) => f.any(some(f, m.vec(m.f32, 2)))),
      /^any: takes a vector of bool, got vec2<f32>/,
    ],
    ["dot of integers", inKernel((f, m) => f.dot(some(f, m.vec(m.i32, 2)), 1)), /OpDot.*vec2<i32>; see dotPacked/],
    [
      "bitcast of unequal size",
      inKernel((f, m) => f.bitcast(some(f, m.f32), m.u64)),
      /OpBitcast.*f32 has 32 bits.*u64 64/,
    ],
    ["bitcast of a bool", inKernel((f, m) => f.bitcast(some(f, m.bool), m.u32)), /bool has no bits/],
    [
      "convert vec3 to vec4",
      inKernel((f, m) => f.convert(some(f, m.vec(m.f32, 3)), m.vec(m.u32, 4))),
      /different shapes/,
    ],
    ["dotPacked of floats", inKernel((f, m) => f.dotPacked(some(f, m.f32), some(f, m.f32))), /got f32 and f32/],
    ["subgroup and of floats", inKernel((f, m) => f.subgroup.reduce("and", some(f, m.f32))), /subgroup and: .*got f32/],
  ],
  literals: [
    ["a fraction as an integer", onModule((m) => m.constant(m.i32, 1.5)), /1\.5 does not fit i32/],
    ["300 as u8", onModule((m) => m.constant(m.u8, 300)), /300 does not fit u8: the range is 0 to 255/],
    ["-1 as u32", inKernel((f, m) => f.add(some(f, m.u32), -1)), /-1 does not fit u32/],
    ["2^31 as i32", onModule((m) => m.constant(m.i32, 2 ** 31)), /2147483648 does not fit i32/],
    ["2^64 as u64", onModule((m) => m.constant(m.u64, 2n ** 64n)), /does not fit u64/],
    ["a boolean as f32", onModule((m) => m.constant(m.f32, true)), /true does not fit f32/],
    ["a number as bool", onModule((m) => m.constant(m.bool, 1)), /1 does not fit bool/],
    [
      "three numbers as vec2",
      onModule((m) => m.constant(m.vec(m.f32, 2), [1, 2, 3])),
      /list of 3 does not make vec2<f32>/,
    ],
    ["a number as a struct", onModule((m) => m.constant(m.struct([["a", m.f32]]), 1)), /m\.zero/],
  ],
  memory: [
    [
      "store of another type",
      inKernel((f, m) => f.variable(m.f32).store(some(f, m.i32))),
      /OpStore.*expected f32, got i32/,
    ],
    ["index into a scalar", inKernel((f, m) => f.variable(m.f32).load(0)), /OpAccessChain.*f32 has nothing to index/],
    [
      "a float as index",
      inKernel((f, m) => f.variable(m.array(m.f32, 2)).load(some(f, m.f32))),
      /must be an integer, got f32/,
    ],
    ["no such member", inKernel((f, m) => f.variable(m.struct([["a", m.f32]])).load("b")), /no member "b"; it has a/],
    [
      "a computed member",
      inKernel((f, m) => f.variable(m.struct([["a", m.f32]])).load(some(f, m.u32))),
      /named, or counted, not computed/,
    ],
    ["load of a whole buffer", inKernel((_f, m) => m.storageBuffer(m.f32, { binding: 0 }).load()), /OpLoad.*no size/],
    [
      "length of an address",
      inKernel((f, m) => f.ref(f.pointer(some(f, m.u64), m.bufferPointer(m.f32))).length()),
      /OpArrayLength.*pass it/,
    ],
    [
      "bool in a buffer",
      onModule((m) => m.storageBuffer(m.bool, { binding: 0 })),
      /bool has no layout in a buffer; store it as u8 or u32/,
    ],
    [
      "an alignment that cannot hold",
      onModule((m) => m.bufferPointer(m.vec(m.f32, 3), { align: 16 })),
      /12 bytes apart.*16/,
    ],
    [
      "a buffer neither read nor written",
      onModule((m) => m.storageBuffer(m.f32, { binding: 0, readable: false, writable: false })),
      /no use/,
    ],
    [
      "an f32 as address",
      inKernel((f, m) => f.pointer(some(f, m.f32), m.bufferPointer(m.f32))),
      /u64 or vec2<u32>, got f32/,
    ],
    [
      "address of a local variable",
      inKernel((f, m) => f.address(f.variable(m.f32))),
      /OpConvertPtrToU.*not in PhysicalStorageBuffer/,
    ],
    [
      "atomics on f32 bits",
      inKernel((f, m) => f.atomic.or(m.storageBuffer(m.f32, { binding: 0 }).at(0), 1)),
      /atomic or: .*got f32/,
    ],
    [
      "atomics on u8",
      inKernel((f, m) => f.atomic.add(m.storageBuffer(m.u8, { binding: 0 }).at(0), 1)),
      /atomic add: .*got u8/,
    ],
  ],
  scope: [
    [
      "a value from a finished branch",
      inKernel((f, m) => {
        let inner: Value | undefined;
        f.if(true, () => {
          inner = f.add(some(f, m.f32), 1);
        });
        f.add(inner ?? 0, 1);
      }),
      /OpFAdd: %\d+: f32 was made inside a branch or loop that has ended/,
    ],
    [
      "a value from a finished loop",
      inKernel((f) => {
        let counter: Value | undefined;
        f.for(0, 3, 1, (i) => {
          counter = i;
        });
        f.add(counter ?? 0, 1);
      }),
      /OpIAdd: .*branch or loop that has ended/,
    ],
    [
      "a value of another function",
      onModule((m) => {
        let outer: Value | undefined;
        m.entry("one", { localSize: [1] }, (f) => {
          outer = f.variable(m.f32).load();
        });
        m.entry("two", { localSize: [1] }, (f) => f.add(outer ?? 0, 1));
      }),
      /belongs to another function; pass it as a parameter/,
    ],
    [
      "a value of another module",
      onModule((m) => {
        const other = new ModuleBuilder();
        const one = other.constant(other.f32, 1);
        m.entry("main", { localSize: [1] }, (f) => f.neg(one));
      }),
      /OpFNegate: .*another module/,
    ],
    ["a load outside any function", onModule((m) => m.storageBuffer(m.f32, { binding: 0 }).load(0)), /inside m\.entry/],
    [
      "code after return",
      inKernel((f, m) => [f.return(), f.add(m.constant(m.f32, 1), 1)]),
      /OpFAdd in "main" follows a return/,
    ],
    [
      "code after both sides of an if left",
      inKernel((f) => [
        f.if(
          true,
          () => f.return(),
          () => f.return(),
        ),
        f.workgroupBarrier(),
      ]),
      /OpControlBarrier in "main" follows/,
    ],
    ["code after an endless loop", inKernel((f) => [f.loop(() => {}), f.workgroupBarrier()]), /can never run/],
  ],
  "control flow": [
    ["break outside a loop", inKernel((f) => f.break()), /^break outside a loop/],
    ["break after the loop", inKernel((f) => [f.for(0, 3, 1, () => {}), f.break()]), /^break outside a loop/],
    ["continue outside a loop", inKernel((f) => f.if(true, () => f.continue())), /^continue outside a loop/],
    [
      "branches that yield different types",
      inKernel((f, m) =>
        f.if(
          true,
          () => some(f, m.f32),
          () => some(f, m.i32),
        ),
      ),
      /if, value 0: expected f32, got i32/,
    ],
    [
      "branches that yield different counts",
      inKernel((f, m) =>
        f.if(
          true,
          () => some(f, m.f32),
          () => {},
        ),
      ),
      /yield 1 and 0 values/,
    ],
    [
      "a switch that yields without a default",
      inKernel((f, m) => f.switch(some(f, m.u32), [[0, () => some(f, m.f32)]])),
      /yield 1 and 0 values/,
    ],
    [
      "two cases with one label",
      inKernel((f, m) =>
        f.switch(some(f, m.u32), [
          [0, () => {}],
          [[1, 0], () => {}],
        ]),
      ),
      /two cases for 0/,
    ],
    [
      "a case that does not fit the selector",
      inKernel((f, m) => f.switch(some(f, m.u32), [[-1, () => {}]])),
      /-1 does not fit u32/,
    ],
    ["a switch on a float", inKernel((f, m) => f.switch(some(f, m.f32), [])), /OpSwitch.*f32, not an integer/],
    [
      "a fold whose body forgets to return",
      inKernel((f, m) => f.fold(0, 3, 1, m.constant(m.f32, 0), () => {})),
      /carries 1 values, but its body returns none/,
    ],
    [
      "a fold that changes type",
      inKernel((f, m) => f.fold(0, 3, 1, m.constant(m.f32, 0), (i) => i)),
      /expected f32, got u32/,
    ],
    [
      "a break with too many values",
      inKernel((f, m) => f.fold(0, 3, 1, m.constant(m.f32, 0), (_i, s) => f.break(s, s))),
      /break passes 2 values; the loop carries 1/,
    ],
    [
      "a loop over floats",
      inKernel((f, m) => f.for(0, some(f, m.f32), 1, () => {})),
      /for: counts in integers, got a bound of type f32/,
    ],
    ["a loop that does not move", inKernel((f) => f.for(0, 3, 0, () => {})), /step of 0/],
  ],
  functions: [
    [
      "too few arguments",
      onModule((m) => {
        const g = m.function("g", [m.f32], m.f32, (_f, x) => x);
        m.entry("main", { localSize: [1] }, (f) => f.call(g));
      }),
      /call: "g" takes 1 arguments, got 0/,
    ],
    [
      "an argument of another type",
      onModule((m) => {
        const g = m.function("g", [m.f32], m.f32, (_f, x) => x);
        m.entry("main", { localSize: [1] }, (f) => f.call(g, m.constant(m.u32, 1)));
      }),
      /call "g", argument 0: expected f32, got u32/,
    ],
    ["no result", onModule((m) => m.function("g", [], m.f32, () => {})), /"g" can end without returning f32/],
    [
      "a result of another type",
      onModule((m) => m.function("g", [m.u32], m.f32, (_f, x) => x)),
      /return from "g": expected f32, got u32/,
    ],
    ["a result from void", inKernel((f) => f.return(1)), /"main" returns nothing/],
    [
      "two entry points of one name",
      onModule((m) => {
        m.entry("main", { localSize: [1] }, () => {});
        m.entry("main", { localSize: [1] }, () => {});
      }),
      /"main" is defined twice/,
    ],
    [
      "build inside a function",
      onModule((m) => m.entry("main", { localSize: [1] }, () => m.build())),
      /"main" is still being written/,
    ],
    ["a module without entry point", onModule((m) => m.build()), /no entry point/],
  ],
  "types and constants": [
    ["a vector of 5", onModule((m) => m.vec(m.f32, 5)), /2, 3 or 4 components, not 5/],
    ["an array of 0", onModule((m) => m.array(m.f32, 0)), /0 is not a positive whole number/],
    [
      "an array sized by a plain constant",
      onModule((m) => m.array(m.f32, m.constant(m.u32, 4))),
      /not a specialisation constant/,
    ],
    [
      "a specialisation constant twice",
      onModule((m) => [m.specConstant(m.u32, 1, 0), m.specConstant(m.u32, 1, 0)]),
      /specialisation constant 1 is declared twice/,
    ],
    [
      "a specialisation op on a running value",
      inKernel((f, m) => m.specOp("IAdd", m.u32, some(f, m.u32), 1)),
      /OpSpecConstantOp IAdd.*not a constant/,
    ],
    ["a workgroup of 0", onModule((m) => m.entry("main", { localSize: [0] }, () => {})), /localSize: 0/],
    [
      "a workgroup of four dimensions",
      onModule((m) => m.entry("main", { localSize: [1, 1, 1, 1] }, () => {})),
      /1 to 3 dimensions/,
    ],
    [
      "two sizes by constants before 1.6",
      onModule((m) => {
        const size = m.specConstant(m.u32, 0, 1);
        m.entry("one", { localSize: [size] }, () => {});
        m.entry("two", { localSize: [1, size] }, () => {});
      }),
      /one module per entry point/,
    ],
    [
      "a matrix after functions without the memory model",
      onModule((m) => {
        m.entry("main", { localSize: [1] }, () => {});
        m.matrix(m.f16, 16, 16, "A");
      }),
      /vulkanMemoryModel: true/,
    ],
    [
      "a product of matrices that do not fit",
      onModule((m) => {
        const [A, B, C] = [
          m.matrix(m.f16, 16, 8, "A"),
          m.matrix(m.f16, 16, 16, "B"),
          m.matrix(m.f32, 16, 16, "accumulator"),
        ];
        m.entry("main", { localSize: [32] }, (f) => f.matrix.mulAdd(f.splat(A, 0), f.splat(B, 0), f.splat(C, 0)));
      }),
      /matrixA<f16, 16x8> by matrixB<f16, 16x16> into matrixC<f32, 16x16>/,
    ],
    ["SPIR-V 1.2", () => void new ModuleBuilder({ version: [1, 2] as never }), /1\.2 is not written here/],
    ["a NUL in a name", onModule((m) => m.storageBuffer(m.f32, { binding: 0, name: "a\0b" })), /NUL/],
    [
      "broadcast from a computed lane before 1.5",
      () => {
        const m = new ModuleBuilder({ version: [1, 4] });
        m.entry("main", { localSize: [1] }, (f) =>
          f.subgroup.broadcast(f.variable(m.f32).load(), f.variable(m.u32).load()),
        );
      },
      /constant before SPIR-V 1\.5; use shuffle/,
    ],
    [
      "a cluster of 3",
      inKernel((f, m) => f.subgroup.clusteredReduce("add", m.constant(m.f32, 1), 3)),
      /power of two, got 3/,
    ],
  ],
};

for (const [group, cases] of Object.entries(CASES)) {
  describe(`${group}: a mistake is an ArgumentError that names it`, () => {
    for (const [name, run, message] of cases) {
      test(name, () => {
        assert.throws(run, (error) => {
          assert(error instanceof ArgumentError, String(error));
          assert.match(error.message, message);
          return true;
        });
      });
    }
  });
}

test("a module in which a function failed is not built from its remains", () => {
  const m = new ModuleBuilder();
  assert.throws(() => m.entry("bad", { localSize: [1] }, (f) => f.break()), ArgumentError);
  m.entry("good", { localSize: [1] }, () => {});
  assert.throws(() => m.build(), /writing "bad" failed; start over/);
});

test("a module built twice is the same, and grows by what was added in between", () => {
  const m = new ModuleBuilder();
  m.entry("one", { localSize: [1] }, () => {});
  const first = m.build();
  assert.deepEqual(m.build(), first);
  m.entry("two", { localSize: [1] }, () => {});
  assert(m.build().length > first.length);
});
