/**
 * The kernels that the rows on the native layer dispatch, written with the SPIR-V assembler so that no shader compiler
 * is needed where the benchmarks run.
 */
import { ModuleBuilder } from "../src/spirv/module/builder.js";

export const THREADS = 64;

/** out[i] = a[i] + b[i]; the buffers' addresses come in the push block, as in every kernel of the compiler. */
export function addByAddress(): Uint32Array {
  const m = new ModuleBuilder();
  const input = m.bufferPointer(m.f32, { writable: false });
  const output = m.bufferPointer(m.f32);
  const push = m.pushConstants([
    ["a", input],
    ["b", input],
    ["out", output],
    ["n", m.u32],
  ]);
  m.entry("main", { localSize: [THREADS] }, (f) => {
    const i = f.builtin("GlobalInvocationId").x;
    f.if(f.less(i, push.n), () => push.out.store(i, f.add(push.a.load(i), push.b.load(i))));
  });
  return m.build();
}

/** The same with buffers in descriptors: the contract of foreign SPIR-V. */
export function addByBinding(): Uint32Array {
  const m = new ModuleBuilder();
  const a = m.storageBuffer(m.f32, { binding: 0, writable: false });
  const b = m.storageBuffer(m.f32, { binding: 1, writable: false });
  const out = m.storageBuffer(m.f32, { binding: 2 });
  const push = m.pushConstants([["n", m.u32]]);
  m.entry("main", { localSize: [THREADS] }, (f) => {
    const i = f.builtin("GlobalInvocationId").x;
    f.if(f.less(i, push.n), () => out.store(i, f.add(a.load(i), b.load(i))));
  });
  return m.build();
}

const COPY_THREADS = 256;
const COPY_VECTORS = 8;

/** Bytes that one workgroup of `copyVectors` moves; the whole must be a multiple. */
export const COPY_GROUP_BYTES = COPY_THREADS * COPY_VECTORS * 16;

/** Copies 16 bytes at a time, eight per thread, neighbours together; all loads are under way before the first store. */
export function copyVectors(): Uint32Array {
  const m = new ModuleBuilder();
  const vector = m.vec(m.u32, 4);
  const push = m.pushConstants([
    ["from", m.bufferPointer(vector, { align: 16, writable: false })],
    ["to", m.bufferPointer(vector, { align: 16 })],
  ]);
  m.entry("main", { localSize: [COPY_THREADS] }, (f) => {
    const first = f.add(
      f.mul(f.builtin("WorkgroupId").x, COPY_THREADS * COPY_VECTORS),
      f.builtin("LocalInvocationIndex"),
    );
    const indices = Array.from({ length: COPY_VECTORS }, (_, k) => f.add(first, k * COPY_THREADS));
    const loaded = indices.map((i) => push.from.load(i));
    indices.forEach((i, k) => {
      push.to.store(i, loaded[k]!);
    });
  });
  return m.build();
}

const FMA_THREADS = 256;
const FMA_CHAINS = 16;
const FMA_UNROLLED = 4;

/** Floating-point operations of `groups` workgroups of `multiplyAdds`, each going `rounds` times round. */
export const fmaOperations = (groups: number, rounds: number): number =>
  groups * FMA_THREADS * rounds * FMA_CHAINS * FMA_UNROLLED * 2;

/** Nothing but multiply-adds, sixteen independent chains per thread: the f32 rate of the arithmetic units. */
export function multiplyAdds(): Uint32Array {
  const m = new ModuleBuilder();
  const push = m.pushConstants([
    ["out", m.bufferPointer(m.f32)],
    ["rounds", m.u32],
    ["scale", m.f32],
    ["shift", m.f32],
  ]);
  m.entry("main", { localSize: [FMA_THREADS] }, (f) => {
    const thread = f.builtin("GlobalInvocationId").x;
    const start = f.mul(f.convert(thread, m.f32), 1e-6);
    const chains = Array.from({ length: FMA_CHAINS }, (_, k) => f.add(start, k / FMA_CHAINS));
    const ends = f.fold(0, push.rounds, 1, chains, (_round, values) => {
      let next = [...values];
      for (let i = 0; i < FMA_UNROLLED; i++) next = next.map((value) => f.fma(value, push.scale, push.shift));
      return next;
    });
    push.out.store(
      thread,
      ends.reduce((sum, value) => f.add(sum, value)),
    );
  });
  return m.build();
}

export const FMA_OUTPUTS_PER_GROUP = FMA_THREADS;

/** What thread 0 stores: its chains start at k/16 and tend to the fixed point of x → scale·x + shift. */
export function fmaResultOfFirstThread(rounds: number, scale: number, shift: number): number {
  const fixedPoint = shift / (1 - scale);
  const decay = scale ** (rounds * FMA_UNROLLED);
  let sum = 0;
  for (let k = 0; k < FMA_CHAINS; k++) sum += fixedPoint + (k / FMA_CHAINS - fixedPoint) * decay;
  return sum;
}
