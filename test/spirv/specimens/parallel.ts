/** What invocations do together: subgroups, atomics, cooperative matrices; and modes of a whole module. */
import type { FunctionBuilder, ModuleBuilder, Value } from "../../../src/spirv/index.js";
import { kernel, type Specimen, specimen } from "./specimen.js";

function subgroupEverything(f: FunctionBuilder, m: ModuleBuilder): void {
  const lane = f.builtin("SubgroupLocalInvocationId");
  const size = f.builtin("SubgroupSize");
  f.add(f.builtin("SubgroupId"), f.builtin("NumSubgroups"));
  f.and(f.builtin("SubgroupLtMask"), f.builtin("SubgroupEqMask"));
  const x = f.convert(lane, m.f32);
  const s = f.subgroup;
  f.if(s.elect(), () => {});
  s.all(f.less(lane, size));
  s.any(f.less(lane, 3));
  s.allEqual(x);
  const ballot = s.ballot(f.less(lane, 5));
  s.inverseBallot(ballot);
  s.ballotBit(ballot, lane);
  for (const which of ["all", "inclusive", "exclusive"] as const) s.ballotCount(ballot, which);
  s.ballotFindLow(ballot);
  s.ballotFindHigh(ballot);
  s.broadcast(x, 3);
  s.broadcastFirst(x);
  s.shuffle(x, f.xor(lane, 1));
  s.shuffleXor(x, 16);
  s.shuffleUp(f.vector(x, x), 1);
  s.shuffleDown(x, 1);
  s.quadBroadcast(x, 2);
  for (const direction of ["horizontal", "vertical", "diagonal"] as const) s.quadSwap(x, direction);
  const values: [Value, readonly ("add" | "mul" | "min" | "max" | "and" | "or" | "xor")[]][] = [
    [x, ["add", "mul", "min", "max"]],
    [lane, ["add", "mul", "min", "max", "and", "or", "xor"]],
    [f.convert(lane, m.i32), ["add", "mul", "min", "max", "and", "or", "xor"]],
    [f.vector(f.less(lane, 1), f.less(lane, 2)), ["and", "or", "xor"]],
    [f.convert(lane, m.f64), ["add"]],
  ];
  for (const [value, operations] of values) {
    for (const operation of operations) {
      s.reduce(operation, value);
      s.inclusiveScan(operation, value);
      s.exclusiveScan(operation, value);
      s.clusteredReduce(operation, value, 8);
    }
  }
}

function integerAtomics(m: ModuleBuilder): void {
  const cells = {
    u: m.storageBuffer(m.u32, { binding: 0 }),
    i: m.storageBuffer(m.i32, { binding: 1 }),
    wide: m.storageBuffer(m.u64, { binding: 2 }),
    long: m.storageBuffer(m.i64, { binding: 3 }),
    shared: m.shared(m.array(m.u32, 4)),
  };
  const push = m.pushConstants([["p", m.bufferPointer(m.u32)]]);
  m.entry("main", { localSize: [64] }, (f) => {
    const { atomic } = f;
    for (const cell of [...Object.values(cells), push.p]) {
      const place = cell.at(1);
      atomic.store(place, atomic.load(place));
      for (const name of ["add", "sub", "min", "max", "and", "or", "xor", "exchange"] as const) atomic[name](place, 3);
      atomic.compareExchange(place, 1, 2);
      atomic.compareExchange(place, 1, 2, { order: "acquireRelease", scope: "Workgroup" });
      atomic.add(place, 1, { order: "release" });
      atomic.load(place, { order: "acquire", scope: "Subgroup" });
    }
  });
}

function floatAtomics(m: ModuleBuilder, widths: readonly ("f16" | "f32" | "f64")[]): void {
  widths.forEach((width, binding) => {
    const cells = m.storageBuffer(m[width], { binding });
    m.entry(width, { localSize: [1] }, (f) => {
      f.atomic.add(cells.at(0), 1.5);
      f.atomic.min(cells.at(1), 0);
      f.atomic.max(cells.at(2), 0);
      if (width !== "f16") f.atomic.exchange(cells.at(3), f.atomic.load(cells.at(3)));
    });
  });
}

function matrixProduct(m: ModuleBuilder, input: "f16" | "bf16" | "i8", output: "f32" | "i32"): void {
  const A = m.matrix(m[input], 16, 8, "A");
  const B = m.matrix(m[input], 8, 16, "B");
  const C = m.matrix(m[output], 16, 16, "accumulator");
  const a = m.storageBuffer(m[input], { binding: 0, writable: false });
  const push = m.pushConstants([["b", m.bufferPointer(m[input])]]);
  const c = m.storageBuffer(m[output], { binding: 1 });
  const tile = m.shared(m.array(m[output], 256));
  m.entry("main", { localSize: [32] }, (f) => {
    const left = f.matrix.load(A, a.at(0), { stride: 8 });
    const right = f.matrix.load(B, push.b.at(f.builtin("WorkgroupId").x), { stride: 16, layout: "columnMajor" });
    let sum = f.matrix.mulAdd(left, right, f.splat(C, 0));
    sum = f.scale(f.add(sum, f.neg(sum)), 2);
    f.matrix.store(tile.at(0), sum, { stride: 16 });
    f.workgroupBarrier();
    f.if(f.less(tile.load(0), 1), () => f.matrix.store(c.at(0), sum, { stride: 16, layout: "columnMajor" }));
    const local = f.variable(C, sum);
    f.for(0, f.matrix.length(C), 1, (i) => local.store(i, f.add(local.load(i), 1)));
    f.matrix.store(c.at(256), local.load(), { stride: 16 });
  });
}

export const parallel: readonly Specimen[] = [
  kernel("subgroup operations", subgroupEverything),
  kernel("subgroup operations, SPIR-V 1.3", subgroupEverything, { version: [1, 3] }),
  kernel("subgroup operations in the Vulkan memory model", subgroupEverything, { vulkanMemoryModel: true }),
  kernel("subgroup rotate", (f, m) => void f.subgroup.rotate(m.constant(m.u32, 1), f.builtin("SubgroupSize"))),
  specimen("integer atomics", integerAtomics),
  specimen("integer atomics in the Vulkan memory model", integerAtomics, { vulkanMemoryModel: true }),
  specimen("float atomics", (m) => floatAtomics(m, ["f16", "f32", "f64"])),
  specimen(
    "float controls of every width",
    (m) => m.entry("main", { localSize: [1] }, (f) => void f.add(f.variable(m.f32).load(), 1)),
    {
      floatControls: {
        16: { denormals: "preserve", rounding: "RTE" },
        32: { denormals: "flush", rounding: "RTE", signedZeroInfNanPreserve: true },
        64: { rounding: "RTZ", signedZeroInfNanPreserve: true },
      },
    },
  ),
  specimen(
    "float controls, SPIR-V 1.3",
    (m) => m.entry("main", { localSize: [1] }, (f) => void f.add(f.variable(m.f32).load(), 1)),
    { version: [1, 3], floatControls: { 32: { denormals: "preserve", signedZeroInfNanPreserve: true } } },
  ),
  specimen("source text and line marks", (m) => {
    const file = m.source("kernel.ts", 'out.store(0, "é");\n'.repeat(20_000));
    const out = m.storageBuffer(m.u32, { binding: 0, name: 'odd "name" \\ é' });
    m.entry("main", { localSize: [1] }, (f) => {
      f.line(file, 1, 3);
      out.store(0, 1);
    });
  }),
  kernel("no names", (f, m) => void f.variable(m.f32, 1, "unseen"), { names: false }),
  ...(
    [
      ["f16", "f32"],
      ["i8", "i32"],
      ["bf16", "f32"],
    ] as const
  ).map(
    ([input, output]): Specimen => ({
      ...specimen(`cooperative matrices, ${input} to ${output}`, (m) => matrixProduct(m, input, output), {
        version: [1, 6],
      }),
      needsRecentTools: true,
    }),
  ),
  {
    ...specimen("bfloat16 storage and conversion", (m) => {
      const a = m.storageBuffer(m.bf16, { binding: 0 });
      m.entry("main", { localSize: [1] }, (f) => {
        a.store(0, f.convert(f.add(f.convert(a.load(1), m.f32), 1), m.bf16));
        a.store(1, 1.5);
        a.store(2, f.convert(m.constant(m.i32, 3), m.bf16));
      });
    }),
    needsRecentTools: true,
  },
];
