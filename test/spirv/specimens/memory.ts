/** Every kind of memory, by every kind of access. */
import type { FunctionBuilder, ModuleBuilder } from "../../../src/spirv/index.js";
import { kernel, type Specimen, specimen } from "./specimen.js";

/** A kernel over addresses, as 64-bit integers or pairs of words, in every way to get from one to a place. */
function addresses(
  f: FunctionBuilder,
  m: ModuleBuilder,
  push: { words: ReturnType<FunctionBuilder["builtin"]> },
): void {
  const i = f.builtin("GlobalInvocationId").x;
  const floats = m.bufferPointer(m.f32);
  const place = f.ref(f.pointer(push.words, floats));
  place.store(i, f.add(place.load(i), 1));
  const quads = f.ref(f.pointer(push.words, m.bufferPointer(m.vec(m.f32, 4), { align: 16, writable: false })));
  place.store(0, f.dot(quads.load(i), quads.load(f.add(i, 1))));
  place.store(1, quads.at(i, 2).load());
  const elements = m.elementPointer(m.f32);
  const third = f.step(f.pointer(push.words, elements), 3);
  f.ref(third).store(f.ref(f.step(third, i)).load());
  f.address(place.at(i), m.vec(m.u32, 2));
}

function sharedReduction(f: FunctionBuilder, m: ModuleBuilder): void {
  const tile = m.shared(m.array(m.f32, 64), "tile");
  const grid = m.shared(m.array(m.array(m.vec(m.f32, 2), 8), 8));
  const lane = f.builtin("LocalInvocationIndex");
  tile.store(lane, f.convert(lane, m.f32));
  grid.store(f.rem(lane, 8), 3, m.constant(m.vec(m.f32, 2), [1, 2]));
  grid.store(f.rem(lane, 8), 3, 1, 5);
  f.workgroupBarrier();
  f.for(0, 6, 1, (step) => {
    const stride = f.shiftRight(m.constant(m.u32, 32), step);
    f.if(f.less(lane, stride), () => {
      tile.store(lane, f.add(tile.load(lane), tile.load(f.add(lane, stride))));
    });
    f.workgroupBarrier();
  });
  f.workgroupBarrier({ shared: true, buffers: true });
  f.workgroupBarrier({});
  f.subgroupBarrier();
  f.memoryBarrier("Workgroup", { shared: true });
  f.memoryBarrier("Device", { buffers: true });
  f.subgroupBarrier({ buffers: true });
}

function localMemory(f: FunctionBuilder, m: ModuleBuilder): void {
  const pair = m.struct([
    ["count", m.u32],
    ["values", m.array(m.vec(m.f32, 4), 3)],
  ]);
  const place = f.variable(pair, m.zero(pair), "pair");
  place.store("count", 3);
  place.store("values", place.load("count"), 2, 1.5);
  const whole = place.load();
  place.at("values").store(0, f.extract(whole, "values", 1));
  place.at(1, 2).store(place.at(1).load(1));
  f.variable(m.u32, place.at("values").length());
}

/** Narrow numbers that are only stored: load, widen, narrow, store. */
function storageOnly(m: ModuleBuilder): void {
  const bytes = m.storageBuffer(m.u8, { binding: 0 });
  const signedBytes = m.storageBuffer(m.i8, { binding: 1 });
  const halves = m.storageBuffer(m.vec(m.f16, 4), { binding: 2 });
  const shorts = m.storageBuffer(m.i16, { binding: 3 });
  m.entry("main", { localSize: [1] }, (f) => {
    bytes.store(1, f.convert(f.add(f.convert(bytes.load(0), m.u32), 1), m.u8));
    signedBytes.store(1, f.convert(f.convert(bytes.load(2), m.i32), m.i8));
    signedBytes.store(2, f.convert(f.convert(signedBytes.load(2), m.u32), m.i8));
    halves.store(1, f.convert(f.mul(f.convert(halves.load(0), m.f32), 2), m.f16));
    shorts.store(0, f.convert(f.convert(shorts.load(1), m.i32), m.i16));
  });
}

export const memory: readonly Specimen[] = [
  specimen("storage buffers with every qualifier", (m) => {
    const a = m.storageBuffer(m.f32, { set: 1, binding: 0, writable: false, restrict: true, name: "a" });
    const b = m.storageBuffer(m.vec(m.f32, 3), { binding: 1, readable: false, restrict: false, name: "b" });
    const c = m.storageBuffer(m.f32, { binding: 2, coherent: true });
    const d = m.storageBuffer(
      m.struct([
        ["x", m.f32],
        ["list", m.array(m.u32, 3)],
      ]),
      { binding: 3 },
    );
    m.entry("main", { localSize: [1] }, (f) => {
      b.store(0, f.vector(a.load(1), c.load(2), 3));
      c.store(0, f.convert(a.length(), m.f32));
      d.store(2, "list", 1, d.load(0, "list", 2));
      d.at(1).store("x", d.at(1).load("x"));
    });
  }),
  specimen("blocks with named fields", (m) => {
    const table = m.storageBlock(
      [
        ["count", m.u32],
        ["scale", m.vec(m.f32, 3)],
        ["rows", m.runtimeArray(m.f64)],
      ],
      {
        binding: 0,
        name: "table",
      },
    );
    const settings = m.uniformBlock(
      [
        ["gain", m.f32],
        ["matrix", m.array(m.vec(m.f32, 4), 4)],
      ],
      { set: 1, binding: 2 },
    );
    m.entry("main", { localSize: [1] }, (f) => {
      table.rows.store(table.count.load(), f.convert(settings.gain.load(), m.f64));
      table.scale.store(1, settings.matrix.load(2, 3));
      table.count.store(table.rows.length());
    });
  }),
  specimen("push constants of every kind", (m) => {
    const push = m.pushConstants([
      ["n", m.u32],
      ["wide", m.u64],
      ["eps", m.f32],
      ["vector", m.vec(m.f32, 3)],
      ["list", m.array(m.i32, 4)],
      ["input", m.bufferPointer(m.f32, { writable: false })],
      ["output", m.bufferPointer(m.f32)],
    ]);
    m.entry("main", { localSize: [64] }, (f) => {
      const i = f.builtin("GlobalInvocationId").x;
      f.if(f.less(i, push.n), () => {
        const scale = f.convert(push.list.load(f.rem(i, 4)), m.f32);
        push.output.store(i, f.fma(push.input.load(i), f.mul(scale, push.vector.y), push.eps));
      });
      f.for(0, push.n, 1, (k) => push.output.store(k, f.convert(push.wide, m.f32)));
    });
  }),
  kernel("shared memory and barriers", sharedReduction),
  kernel("shared memory and barriers, Vulkan memory model", sharedReduction, { vulkanMemoryModel: true }),
  specimen(
    "coherent buffers in the Vulkan memory model",
    (m) => {
      const a = m.storageBuffer(m.u32, { binding: 0, coherent: true });
      m.entry("main", { localSize: [64] }, (f) => {
        a.store(0, f.add(a.load(1), 1));
        f.memoryBarrier("Device", { buffers: true });
        f.atomic.add(a.at(2), 1, { order: "acquireRelease" });
      });
    },
    { vulkanMemoryModel: true },
  ),
  kernel("local structs and arrays", localMemory),
  specimen("buffer addresses as 64-bit integers", (m) => {
    const push = m.pushConstants([["words", m.u64]]);
    m.entry("main", { localSize: [64] }, (f) => {
      addresses(f, m, push);
      f.address(f.pointer(push.words, m.elementPointer(m.u32)));
    });
  }),
  specimen("buffer addresses as pairs of 32-bit words", (m) => {
    const push = m.pushConstants([["words", m.vec(m.u32, 2)]]);
    m.entry("main", { localSize: [64] }, (f) => addresses(f, m, push));
  }),
  specimen(
    "buffer addresses, SPIR-V 1.3",
    (m) => {
      const push = m.pushConstants([["words", m.vec(m.u32, 2)]]);
      m.entry("main", { localSize: [64] }, (f) => addresses(f, m, push));
    },
    { version: [1, 3] },
  ),
  specimen("elements of large buffers, by 64-bit arithmetic", (m) => {
    const record = m.struct([
      ["x", m.f32],
      ["list", m.array(m.u32, 3)],
    ]);
    const push = m.pushConstants([
      ["a", m.bufferPointer(m.f32, { large: true })],
      ["b", m.bufferPointer(m.vec(m.f32, 4), { large: true, align: 16 })],
      ["c", m.bufferPointer(record, { large: true, writable: false })],
      ["i", m.i32],
      ["k", m.u64],
    ]);
    m.entry("main", { localSize: [64] }, (f) => {
      push.a.store(push.k, push.a.load(push.i));
      push.a.store(2 ** 40, push.a.load(-1));
      push.b.store(push.k, push.b.load(f.builtin("GlobalInvocationId").x));
      push.b.store(push.k, 2, f.convert(push.c.load(push.i, "list", 1), m.f32));
      f.atomic.add(push.c.at(push.k, "list", 0), 1);
      const element = f.pointer(push.k, m.elementPointer(m.f32));
      for (const by of [-3, push.i, push.k, 4]) push.a.store(0, f.ref(f.step(element, by)).load());
    });
  }),
  specimen("a linked list through forward pointers", (m) => {
    const node = m.recursivePointer("Node", (self) => [
      ["value", m.f32],
      ["next", self],
    ]);
    const push = m.pushConstants([
      ["head", node],
      ["total", m.bufferPointer(m.f32)],
      ["length", m.u32],
    ]);
    const sumOf = m.function("sumOf", [node, m.u32], m.f32, (f, head, length) => {
      const at = f.variable(node, head);
      return f.fold(0, length, 1, m.constant(m.f32, 0), (_i, sum) => {
        const here = f.ref(at.load());
        at.store(here.load("next"));
        return f.add(sum, here.load("value"));
      });
    });
    m.entry("main", { localSize: [1] }, (f) => push.total.store(0, f.call(sumOf, push.head.pointer(), push.length)));
  }),
  specimen("narrow numbers that are only stored", storageOnly),
  specimen("narrow numbers that are only stored, SPIR-V 1.3", storageOnly, { version: [1, 3] }),
  specimen("narrow numbers in every storage class", (m) => {
    const uniform = m.uniformBlock(
      [
        ["h", m.f16],
        ["b", m.i8],
      ],
      { binding: 0 },
    );
    const push = m.pushConstants([
      ["s", m.u16],
      ["b", m.u8],
      ["p", m.bufferPointer(m.f16)],
    ]);
    const tile = m.shared(m.array(m.f16, 4));
    m.entry("main", { localSize: [1] }, (f) => {
      tile.store(0, f.add(uniform.h.load(), push.p.load(0)));
      tile.store(1, f.convert(f.add(f.convert(push.s, m.u32), f.convert(push.b, m.u32)), m.f16));
      push.p.store(0, f.convert(uniform.b.load(), m.f16));
    });
  }),
  specimen("specialisation constants, one of them an array length", (m) => {
    const size = m.specConstant(m.u32, 0, 64, "size");
    const flag = m.specConstant(m.bool, 1, true);
    const gain = m.specConstant(m.f32, 2, 0.5);
    const wide = m.specConstant(m.f64, 3, 1e300);
    const offset = m.specConstant(m.i64, 4, -5);
    const doubled = m.specOp("IMul", m.u32, size, 2);
    const tile = m.shared(m.array(m.f32, doubled));
    const out = m.storageBuffer(m.f64, { binding: 0 });
    m.entry("main", { localSize: [size, 2] }, (f) => {
      tile.store(f.builtin("LocalInvocationIndex"), f.select(flag, gain, 1));
      out.store(0, f.add(wide, f.convert(offset, m.f64)));
      out.store(1, f.convert(f.mul(f.localSize?.[0] ?? 0, tile.length()), m.f64));
    });
  }),
  specimen(
    "workgroup size by specialisation constants, SPIR-V 1.6",
    (m) => {
      const size = m.specConstant(m.u32, 0, 64);
      m.entry("one", { localSize: [size] }, () => {});
      m.entry("two", { localSize: [4, size, 2] }, () => {});
      m.entry("three", { localSize: [4] }, () => {});
    },
    { version: [1, 6] },
  ),
];
