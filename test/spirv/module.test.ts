/** Structure of modules: things declared once, layouts, interfaces, decorations, constants. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { inspect } from "node:util";
import { decodeBf16, decodeF16, encodeBf16, encodeF16 } from "../../src/core/half.js";
import { encodeLiteral } from "../../src/spirv/constants.js";
import {
  alignOf,
  byteSizeOf,
  disassemble,
  type FunctionBuilder,
  ModuleBuilder,
  type ModuleOptions,
} from "../../src/spirv/index.js";

function textOf(fill: (m: ModuleBuilder) => void, options?: ModuleOptions): string {
  const m = new ModuleBuilder(options);
  fill(m);
  return disassemble(m.build(), { header: false });
}

const kernel = (body: (f: FunctionBuilder, m: ModuleBuilder) => void) => (m: ModuleBuilder) =>
  m.entry("main", { localSize: [1] }, (f) => body(f, m));

function count(text: string, pattern: RegExp): number {
  return text.match(new RegExp(pattern, "gm"))?.length ?? 0;
}

describe("types and constants exist once", () => {
  test("asking again gives the same type", () => {
    const m = new ModuleBuilder();
    assert.equal(m.vec(m.f32, 4), m.vec(m.f32, 4));
    assert.equal(m.array(m.u32, 3), m.array(m.u32, 3));
    assert.notEqual(m.array(m.u32, 3), m.array(m.u32, 3, { stride: 4 }));
    assert.equal(m.pointer("Function", m.f32), m.pointer("Function", m.f32));
    assert.notEqual(m.pointer("Function", m.f32), m.pointer("Private", m.f32));
    assert.equal(m.bufferPointer(m.f32), m.bufferPointer(m.f32));
    assert.notEqual(m.bufferPointer(m.f32).pointee, m.bufferPointer(m.f32, { writable: false }).pointee);
    assert.equal(m.struct([["a", m.f32]]), m.struct([["a", m.f32]]));
    assert.notEqual(m.struct([["a", m.f32]]), m.struct([["b", m.f32]]));
    assert.equal(m.int(16, true), m.i16);
  });

  test("a pointer known to be aligned is the same SPIR-V type", () => {
    const m = new ModuleBuilder();
    const vec4 = m.vec(m.f32, 4);
    assert.notEqual(m.bufferPointer(vec4), m.bufferPointer(vec4, { align: 16 }));
    assert.equal(m.bufferPointer(vec4).id, m.bufferPointer(vec4, { align: 16 }).id);
  });

  test("equal constants are one, 0 and -0 are two, and so are 1 as u32 and as i32", () => {
    const m = new ModuleBuilder();
    assert.equal(m.constant(m.f32, 0.1), m.constant(m.f32, 0.1));
    assert.equal(m.constant(m.u64, 5), m.constant(m.u64, 5n));
    assert.notEqual(m.constant(m.u64, 2n ** 32n), m.constant(m.u64, 1));
    assert.notEqual(m.constant(m.f32, 0), m.constant(m.f32, -0));
    assert.notEqual(m.constant(m.u32, 1), m.constant(m.i32, 1));
    assert.equal(m.constant(m.f32, NaN), m.bits(m.f32, 0x7fc00000));
    assert.notEqual(m.bits(m.f32, 0x7fc00001), m.bits(m.f32, 0x7fc00000));
    assert.equal(m.constant(m.vec(m.f32, 2), 3), m.constant(m.vec(m.f32, 2), [3, 3]));
    assert.equal(m.zero(m.f32), m.zero(m.f32));
  });

  test("a kernel that uses f32 and 1 a hundred times declares them once", () => {
    const text = textOf(
      kernel((f, m) => {
        let x = f.variable(m.f32).load();
        for (let i = 0; i < 100; i++) x = f.add(x, 1);
      }),
    );
    assert.equal(count(text, /OpTypeFloat/), 1);
    assert.equal(count(text, /OpConstant %float/), 1);
    assert.equal(count(text, /OpFAdd/), 100);
  });

  test("two buffers of one element type share their block type", () => {
    const text = textOf((m) => {
      m.storageBuffer(m.f32, { binding: 0 });
      m.storageBuffer(m.f32, { binding: 1 });
      kernel(() => {})(m);
    });
    assert.equal(count(text, /OpTypeStruct/), 1);
    assert.equal(count(text, /OpVariable/), 2);
  });

  test("a built-in or push constant is loaded once per function, wherever it is first used", () => {
    const text = textOf((m) => {
      const push = m.pushConstants([
        ["n", m.u32],
        ["p", m.bufferPointer(m.u32)],
      ]);
      m.entry("main", { localSize: [1] }, (f) => {
        f.if(true, () => push.p.store(0, f.add(f.builtin("LocalInvocationIndex"), push.n)));
        push.p.store(1, f.add(f.builtin("LocalInvocationIndex"), push.n));
      });
    });
    assert.equal(count(text, /OpLoad/), 3);
  });
});

describe("layout", () => {
  test("sizes and alignments are those of packed scalars", () => {
    const m = new ModuleBuilder();
    const record = m.struct([
      ["flag", m.u8],
      ["v", m.vec(m.f32, 3)],
      ["wide", m.f64],
      ["tail", m.u16],
    ]);
    const cases: [Parameters<typeof byteSizeOf>[0], number, number][] = [
      [m.u8, 1, 1],
      [m.f16, 2, 2],
      [m.f64, 8, 8],
      [m.vec(m.f32, 3), 12, 4],
      [m.vec(m.u8, 4), 4, 1],
      [m.array(m.vec(m.f32, 3), 5), 60, 4],
      [m.bufferPointer(m.f32), 8, 8],
      [record, 32, 8],
      [m.array(record, 2), 64, 8],
    ];
    for (const [type, size, align] of cases) {
      assert.deepEqual([byteSizeOf(type), alignOf(type)], [size, align], type.name);
    }
  });

  test("fields of a block get the next aligned offset, or the one they state", () => {
    const text = textOf((m) => {
      m.pushConstants([
        ["a", m.u32],
        ["b", m.u64],
        ["c", m.vec(m.f32, 3)],
        ["d", m.f32],
        ["e", m.f32, 100],
      ]);
      kernel(() => {})(m);
    });
    const offsets = [...text.matchAll(/OpMemberDecorate %_struct_\d+ \d Offset (\d+)/g)].map((match) =>
      Number(match[1]),
    );
    assert.deepEqual(offsets, [0, 8, 16, 28, 100]);
  });

  test("arrays and structs inside a block are laid out, those in shared memory are not", () => {
    const text = textOf((m) => {
      const pair = m.struct([
        ["x", m.f32],
        ["y", m.array(m.f64, 2)],
      ]);
      m.storageBuffer(pair, { binding: 0 });
      m.shared(m.array(pair, 4));
      kernel(() => {})(m);
    });
    assert.equal(count(text, /ArrayStride 8$/), 1);
    assert.equal(count(text, /ArrayStride 24$/), 1);
    assert.match(text, /OpTypePointer Workgroup %_arr__struct_/);
    assert.equal(count(text, /OpTypeStruct %float/), 2);
  });
});

describe("buffers", () => {
  test("qualifiers become decorations", () => {
    const text = textOf((m) => {
      m.storageBuffer(m.f32, { set: 2, binding: 3, writable: false, restrict: true, coherent: true, name: "a" });
      m.storageBuffer(m.f32, { binding: 4, readable: false, restrict: false, name: "b" });
      kernel(() => {})(m);
    });
    for (const decoration of ["DescriptorSet 2", "Binding 3", "NonWritable", "Restrict", "Coherent"]) {
      assert.match(text, new RegExp(`OpDecorate %a ${decoration}$`, "m"));
    }
    for (const decoration of ["DescriptorSet 0", "Binding 4", "NonReadable", "Aliased"]) {
      assert.match(text, new RegExp(`OpDecorate %b ${decoration}$`, "m"));
    }
    assert.doesNotMatch(text, /OpDecorate %b (NonWritable|Coherent)/);
  });

  test("loads and stores through an address state their alignment: the scalar's, or more where it is known", () => {
    const text = textOf((m) => {
      const vec4 = m.vec(m.f32, 4);
      const push = m.pushConstants([
        ["p", m.bufferPointer(vec4)],
        ["q", m.bufferPointer(vec4, { align: 16 })],
      ]);
      kernel((f) => {
        push.p.load(0);
        push.q.load(0);
        push.q.load(0, 1);
        push.q.store(0, f.splat(vec4, 1));
      })(m);
    });
    const alignments = [...text.matchAll(/Aligned (\d+)/g)].map((match) => Number(match[1]));
    assert.deepEqual(alignments, [4, 16, 4, 16]);
  });

  test("an element of a large buffer is reached from its address: distance in bytes, widened by the index's sign", () => {
    const text = textOf((m) => {
      const push = m.pushConstants([
        ["p", m.bufferPointer(m.vec(m.f32, 4), { large: true })],
        ["i", m.i32],
      ]);
      kernel(() => {
        push.p.load(push.i);
        push.p.load(-1);
      })(m);
    });
    assert.match(text, /(%\d+) = OpSConvert %ulong %\d+\n *%\d+ = OpIMul %ulong \1 %ulong_16\n/);
    assert.match(text, /OpIAdd %ulong %\d+ %ulong_18446744073709551600\n *%\d+ = OpConvertUToPtr/);
    assert.equal(count(text, /OpAccessChain %_ptr_PhysicalStorageBuffer/), 0);
  });

  test("an address read-only by type is decorated where it has no variable: on the member", () => {
    const text = textOf((m) => {
      m.pushConstants([["p", m.bufferPointer(m.f32, { writable: false })]]);
      kernel(() => {})(m);
    });
    assert.match(text, /OpMemberDecorate %_struct_\d+ 0 NonWritable/);
  });

  test("a place used twice writes its access chain once, and again where the first is out of scope", () => {
    const text = textOf((m) => {
      const a = m.storageBuffer(m.f32, { binding: 0 });
      kernel((f) => {
        const inside = a.at(1);
        f.if(true, () => inside.store(1));
        const cell = a.at(0);
        cell.store(f.add(cell.load(), inside.load()));
      })(m);
    });
    assert.equal(count(text, /OpAccessChain/), 3);
  });
});

describe("entry points", () => {
  const two = (m: ModuleBuilder) => {
    const a = m.storageBuffer(m.u32, { binding: 0, name: "a" });
    const b = m.storageBuffer(m.u32, { binding: 1, name: "b" });
    m.storageBuffer(m.u32, { binding: 2, name: "unused" });
    const viaFunction = m.function("f", [], m.void, () => b.store(0, 1));
    m.entry("first", { localSize: [2] }, (f) => a.store(0, f.builtin("LocalInvocationIndex")));
    m.entry("second", { localSize: [3, 4, 5] }, (f) => void f.call(viaFunction));
  };

  test("list the variables they use, directly or through calls", () => {
    const text = textOf(two);
    assert.match(text, /OpEntryPoint GLCompute %first "first" %a %gl_LocalInvocationIndex$/m);
    assert.match(text, /OpEntryPoint GLCompute %second "second" %b$/m);
  });

  test("list only inputs before SPIR-V 1.4", () => {
    const text = textOf(two, { version: [1, 3] });
    assert.match(text, /"first" %gl_LocalInvocationIndex$/m);
    assert.match(text, /"second"$/m);
  });

  test("have their own workgroup sizes", () => {
    const text = textOf(two);
    assert.match(text, /OpExecutionMode %first LocalSize 2 1 1/);
    assert.match(text, /OpExecutionMode %second LocalSize 3 4 5/);
  });

  test("take a size by specialisation constants: WorkgroupSize before 1.6, LocalSizeId after", () => {
    const specialized = (m: ModuleBuilder) => {
      const size = m.specConstant(m.u32, 7, 64, "size");
      m.entry("main", { localSize: [size, 2] }, () => {});
    };
    const old = textOf(specialized);
    assert.match(old, /%gl_WorkGroupSize = OpSpecConstantComposite %v3uint %size %uint_2 %uint_1/);
    assert.match(old, /OpDecorate %gl_WorkGroupSize BuiltIn WorkgroupSize/);
    assert.match(textOf(specialized, { version: [1, 6] }), /OpExecutionModeId %main LocalSizeId %size %uint_2 %uint_1/);
  });

  test("carry the float controls of the module, per width", () => {
    const text = textOf(
      kernel(() => {}),
      {
        floatControls: { 32: { denormals: "preserve", signedZeroInfNanPreserve: true }, 64: { rounding: "RTE" } },
      },
    );
    for (const mode of ["DenormPreserve 32", "SignedZeroInfNanPreserve 32", "RoundingModeRTE 64"]) {
      assert.match(text, new RegExp(`OpExecutionMode %main ${mode}`));
    }
  });
});

describe("contraction", () => {
  const sum = (contract?: boolean) =>
    kernel((f, m) => {
      const x = f.variable(m.f32).load();
      f.add(f.mul(x, x, { contract }), f.sqrt(x));
      f.add(f.variable(m.u32).load(), 1);
    });
  const decorated = (fill: (m: ModuleBuilder) => void, noContraction: boolean) =>
    count(textOf(fill, { noContraction }), /NoContraction/);

  test("is allowed by default", () => assert.equal(decorated(sum(), false), 0));
  test("is forbidden for every float operation by the module", () => assert.equal(decorated(sum(), true), 2));
  test("is allowed for one by its option", () => assert.equal(decorated(sum(true), true), 1));
  test("is forbidden for one by its option", () => assert.equal(decorated(sum(false), false), 1));
});

describe("memory model", () => {
  const share = (m: ModuleBuilder) => {
    const tile = m.shared(m.array(m.f32, 4));
    kernel((f) => {
      tile.store(0, 1);
      f.workgroupBarrier();
      tile.load(1);
    })(m);
  };
  test("GLSL450: plain accesses, barriers acquire and release", () => {
    const text = textOf(share);
    assert.match(text, /OpStore %\d+ %float_1$/m);
    assert.match(text, /OpControlBarrier %uint_2 %uint_2 %uint_264/);
  });
  test("Vulkan: shared memory is not private, barriers make available and visible", () => {
    const text = textOf(share, { vulkanMemoryModel: true });
    assert.match(text, /OpStore %\d+ %float_1 NonPrivatePointer/);
    assert.match(text, /OpLoad %float %\d+ NonPrivatePointer/);
    assert.match(text, new RegExp(`OpControlBarrier %uint_2 %uint_2 %uint_${8 | 0x100 | 0x2000 | 0x4000}`));
  });
  test("compareExchange passes the value before the comparator, as SPIR-V has them", () => {
    const text = textOf((m) => {
      const a = m.storageBuffer(m.u32, { binding: 0 });
      kernel((f) => void f.atomic.compareExchange(a.at(0), 11, 22))(m);
    });
    assert.match(text, /OpAtomicCompareExchange %uint %\d+ %uint_1 %uint_0 %uint_0 %uint_22 %uint_11/);
  });
});

describe("names", () => {
  const named = (m: ModuleBuilder) => {
    m.storageBuffer(m.f32, { binding: 0, name: "weights" });
    kernel((f) => void f.variable(m.f32, 0, "sum"))(m);
  };
  test("are kept", () => assert.match(textOf(named), /OpName %sum "sum"/));
  test("are dropped when asked", () => assert.equal(count(textOf(named, { names: false }), /Op(Member)?Name/), 0));
});

test("what console.log shows of values, places, functions and modules fits a line", () => {
  const m = new ModuleBuilder();
  const a = m.storageBuffer(m.f32, { binding: 0 });
  const shown = [inspect(m.constant(m.vec(m.u32, 2), 3)), inspect(a), inspect(a.at(1))];
  m.entry("main", { localSize: [1] }, (f) => shown.push(inspect(f), inspect(f.builtin("WorkgroupId").x)));
  shown.push(inspect(m));
  assert.deepEqual(shown, [
    "%10: vec2<u32>",
    "StorageBuffer place of array<f32>",
    "StorageBuffer place of f32",
    'function "main"',
    "%20: u32",
    'SPIR-V 1.5 module with entry points "main"',
  ]);
});

describe("literals as bits", () => {
  const m = new ModuleBuilder();
  test("integers are two's complement, narrow ones sign-extended to a word", () => {
    assert.deepEqual(encodeLiteral(m.i32, -1), [0xffffffff, 0]);
    assert.deepEqual(encodeLiteral(m.i8, -2), [0xfffffffe, 0]);
    assert.deepEqual(encodeLiteral(m.u16, 65535), [65535, 0]);
    assert.deepEqual(encodeLiteral(m.i64, -1), [0xffffffff, 0xffffffff]);
    assert.deepEqual(encodeLiteral(m.u64, 2 ** 40 + 5), [5, 256]);
  });
  test("floats are IEEE 754", () => {
    assert.deepEqual(encodeLiteral(m.f32, 0.1), [0x3dcccccd, 0]);
    assert.deepEqual(encodeLiteral(m.f64, 0.1), [0x9999999a, 0x3fb99999]);
    assert.deepEqual(encodeLiteral(m.f16, 0.1), [0x2e66, 0]);
    assert.deepEqual(encodeLiteral(m.f32, -0), [0x80000000, 0]);
  });

  for (const [name, encode, decode] of [
    ["f16", encodeF16, decodeF16],
    ["bf16", encodeBf16, decodeBf16],
  ] as const) {
    test(`every ${name} pattern reads back, and a number between two rounds to the nearer, ties to even`, () => {
      // all exponent bits set, no fraction
      const infinity = name === "f16" ? 0x7c00 : 0x7f80;
      for (let bits = 0; bits < infinity; bits++) {
        const x = decode(bits);
        assert.equal(encode(x), bits);
        assert.equal(encode(-x), bits | 0x8000);
        if (bits + 1 === infinity) continue;
        const next = decode(bits + 1);
        const middle = (x + next) / 2;
        assert.equal(encode(middle), bits % 2 === 0 ? bits : bits + 1, `tie after ${bits}`);
        assert.equal(encode(x + (middle - x) / 2), bits);
        assert.equal(encode(next - (next - middle) / 2), bits + 1);
      }
      assert.equal(encode(Infinity), infinity);
      assert.equal(encode(-1e300), infinity | 0x8000);
      assert.equal(encode(1e-300), 0);
      assert(Number.isNaN(decode(encode(NaN))));
    });
  }
});
