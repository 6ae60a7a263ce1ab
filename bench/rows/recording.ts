/**
 * What the CPU pays: recording a dispatch in each of the ways there are, submitting, and allocating from the pool. The
 * GPU is never waited for inside a measurement. Also the cost of a dependent dispatch end to end, which is the larger
 * of what the CPU pays and what the GPU needs between two kernels.
 */
import type { Pipeline } from "../../src/engines/vulkan/pipelines/pipeline-compiler.js";
import type { DeviceBuffer, Kernel, VulkanDevice } from "../../src/vulkan/index.js";
import { type Context, randomFloats, timedSync } from "../harness.js";
import { addByAddress, addByBinding } from "../kernels.js";
import type { Row } from "../row.js";

/** A vector that a single workgroup adds. */
const ELEMENTS = 16;
const PUSH_WORDS = 8;

/**
 * Dispatches per sample. The stream holds at most 32 batches of at least 16 dispatches; one more than fit, and recording
 * would wait for the GPU.
 */
const RECORDED = 480;
const OUTPUTS = 128;
const MAX_BATCHES = 32;

/** One addition over small vectors, as kernel.run takes it. */
interface Step {
  readonly push: Uint32Array;
  readonly reads: readonly DeviceBuffer[];
  readonly writes: readonly DeviceBuffer[];
  readonly groups: readonly [1];
}

/** The kernels and buffers of these rows: out = a + b, by address and by binding. */
class Adder {
  readonly kernel: Kernel;
  readonly bound: Kernel;
  readonly pipeline: Pipeline;
  readonly a: DeviceBuffer;
  readonly b: DeviceBuffer;
  readonly outs: readonly DeviceBuffer[];

  constructor(
    readonly device: VulkanDevice,
    outputs: number,
  ) {
    const words = addByAddress();
    this.kernel = device.kernel(words, { name: "add" });
    this.pipeline = device.pipeline(words, { name: "add" });
    this.bound = device.kernel(addByBinding(), { name: "add-bound" });
    const vector = () => device.upload(randomFloats(ELEMENTS));
    this.a = vector();
    this.b = vector();
    this.outs = Array.from({ length: outputs }, vector);
  }

  /** out = a + b. */
  step(a: DeviceBuffer, out: DeviceBuffer): Step {
    const push = new Uint32Array(PUSH_WORDS);
    new BigUint64Array(push.buffer, 0, 3).set([a.address, this.b.address, out.address]);
    push[6] = ELEMENTS;
    return { push, reads: [a, this.b], writes: [out], groups: [1] };
  }

  /** Steps that depend on nothing, or each on the one before and the first on the last. */
  steps(isDependent: boolean): Step[] {
    const { outs } = this;
    return outs.map((out, i) => this.step(isDependent ? outs[(i + outs.length - 1) % outs.length]! : this.a, out));
  }

  [Symbol.dispose](): void {
    for (const buffer of [this.a, this.b, ...this.outs]) buffer.dispose();
  }
}

/** A way to record `count` dispatches, going round the steps. */
type Way = (add: Adder, steps: readonly Step[], count: number) => () => void;

/** As the compiler's programs are dispatched: nothing is checked, the push words are written in place. */
const fast: Way = ({ device, pipeline }, steps, count) => {
  const { stream } = device;
  const { u8 } = stream.push;
  const pushed = new Uint32Array(u8.buffer, u8.byteOffset, PUSH_WORDS);
  const prepared = steps.map(({ push, reads, writes }) => ({
    push,
    reads: reads.map((buffer) => buffer.contents("bench")),
    writes: writes.map((buffer) => buffer.contents("bench")),
  }));
  return () => {
    for (let i = 0; i < count; i++) {
      const { push, reads, writes } = prepared[i % prepared.length]!;
      for (let w = 0; w < PUSH_WORDS; w++) pushed[w] = push[w]!;
      stream.dispatch(pipeline, reads, writes, 1, 1, 1);
    }
  };
};

const run: Way =
  ({ kernel }, steps, count) =>
  () => {
    for (let i = 0; i < count; i++) kernel.run(steps[i % steps.length]!);
  };

const runBound: Way = ({ bound }, steps, count) => {
  const push = new Uint32Array([ELEMENTS]);
  const prepared = steps.map(({ reads, writes, groups }) => ({ push, buffers: [...reads, ...writes], groups }));
  return () => {
    for (let i = 0; i < count; i++) bound.run(prepared[i % prepared.length]!);
  };
};

/** Microseconds of CPU time per dispatch. */
async function recording({ device, sample }: Context, way: Way, isDependent = false): Promise<number[]> {
  using add = new Adder(device, OUTPUTS);
  const record = way(add, add.steps(isDependent), RECORDED);
  return await sample(() => {
    device.finishSync();
    const before = device.stats().submissions;
    const ms = timedSync(record);
    if (device.stats().submissions - before > MAX_BATCHES) throw new Error("Recording had to wait for the GPU.");
    device.finishSync();
    return (1000 * ms) / RECORDED;
  });
}

/** Microseconds of CPU time for one dispatch and its own submission, the GPU idle. */
async function submission({ device, sample }: Context): Promise<number[]> {
  using add = new Adder(device, 1);
  const record = run(add, add.steps(false), 1);
  return await sample(() => {
    device.finishSync();
    const ms = timedSync(() => {
      record();
      device.stream.flush();
    });
    device.finishSync();
    return 1000 * ms;
  });
}

const CHAIN = 1000;

/** Microseconds per dispatch of a chain in which each reads what the one before wrote, the final wait included. */
async function chain({ device, sample }: Context, way: Way): Promise<number[]> {
  using add = new Adder(device, 2);
  const record = way(add, add.steps(true), CHAIN);
  const samples = await sample(() => {
    const ms = timedSync(() => {
      record();
      device.finishSync();
    });
    return (1000 * ms) / CHAIN;
  });
  const start = randomFloats(ELEMENTS);
  const last = add.outs[1]!;
  last.write(start);
  record();
  checkChain(start, floats(add.b.readSync()), floats(last.readSync()));
  return samples;
}

const floats = (bytes: Uint8Array) => new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);

/** Each step rounds once, so the host's own f32 additions give the same bits. */
function checkChain(start: Float32Array, step: Float32Array, end: Float32Array): void {
  for (let i = 0; i < ELEMENTS; i++) {
    let value = start[i]!;
    for (let k = 0; k < CHAIN; k++) value = Math.fround(value + step[i]!);
    if (value !== end[i]) throw new Error(`Element ${i} of the chain is ${end[i]}; ${value} is right.`);
  }
}

const ALLOCATIONS = 10_000;
const ALLOCATED_BYTES = 4096;

/** Microseconds per buffer that is allocated and disposed at once; long enough to contain V8's minor collections. */
async function allocation({ device, sample }: Context): Promise<number[]> {
  return await sample(() => {
    const ms = timedSync(() => {
      for (let i = 0; i < ALLOCATIONS; i++) device.allocUninitialized(ALLOCATED_BYTES).dispose();
    });
    return (1000 * ms) / ALLOCATIONS;
  });
}

const atMost = (limit: number) => ({ unit: "µs", better: "lower", targets: [{ atMost: limit }] }) as const;

export const recordingRows: readonly Row[] = [
  {
    name: "record",
    title: "CPU time per recorded dispatch, by address, independent dispatches, submissions included",
    ...atMost(2.5),
    run: (context) => recording(context, fast),
  },
  {
    name: "record-dependent",
    title: "the same where each dispatch depends on the one before, so that each needs a barrier",
    ...atMost(2.5),
    run: (context) => recording(context, fast, true),
  },
  {
    name: "record-run",
    title: "the same through the public kernel.run with reads and writes, its checks included",
    ...atMost(2.5),
    run: (context) => recording(context, run),
  },
  {
    name: "record-bound",
    title: "the same through kernel.run with three buffers in descriptors",
    ...atMost(2.5),
    run: (context) => recording(context, runBound),
  },
  {
    name: "submit",
    title: "CPU time for one dispatch and its submission to an idle GPU",
    unit: "µs",
    better: "lower",
    run: submission,
  },
  {
    name: "dependent-1000",
    title: "per dispatch, end to end: 1000 additions of 16 elements, each reading the one before, then a wait",
    ...atMost(3),
    peers: {
      "torch eager": "torch/dependent-eager",
      "torch CUDA graph": "torch/dependent-graph",
      "jax eager": "jax/dependent-eager",
      "jax jit loop": "jax/dependent-loop",
    },
    run: (context) => chain(context, fast),
  },
  {
    name: "dependent-1000-run",
    title: "the same through the public kernel.run",
    ...atMost(3),
    run: (context) => chain(context, run),
  },
  {
    name: "alloc-free",
    title: "allocating 4 KiB from the pool and disposing of it",
    ...atMost(1),
    peers: { torch: "torch/alloc-free" },
    run: allocation,
  },
];
