/**
 * Rows on tensors, on the GPU beside PyTorch and JAX and on the CPU engine beside JavaScript libraries: the speed of the
 * compiler's kernels, and what an operation costs when there is next to nothing to compute. The work itself, with its
 * proof, is in bench/tensor-work.ts; the peers' in bench/peers/tensors.py and bench/peers/works.mjs.
 */
import type { Tensor } from "../../src/index.js";
import { timedSync } from "../harness.js";
import type { Row, Target } from "../row.js";
import { edge, length, noteSize, pythonPeers, type Sized, timeOf, to } from "../sizes.js";
import {
  chain,
  cumsum,
  engineOf,
  free,
  gather,
  layerNorm,
  matmul,
  milliseconds,
  scatterAdd,
  softmax,
  sort,
  sum,
  type TensorContext,
  transpose,
  uniform,
  uniformAt,
} from "../tensor-work.js";

const F32 = 4;

// ---------------------------------------------------------------------------------------------- tiny operations

const TINY = 16;
const ADDITIONS = 1000;

/** Microseconds per addition of a chain that is materialised one by one, the final wait included. */
async function additions(context: TensorContext): Promise<number[]> {
  const { tensors } = context;
  const engine = engineOf(tensors);
  using first = uniform(tensors, [TINY], 0);
  using step = uniform(tensors, [TINY], 1);
  const add = (): Tensor => {
    let x = first.add(step).realize();
    for (let i = 1; i < ADDITIONS; i++) {
      const next = x.add(step).realize();
      x.dispose();
      x = next;
    }
    return x;
  };
  const samples = await context.sample(() => {
    engine.finishSync();
    return (
      (1000 / ADDITIONS) *
      timedSync(() => {
        add().dispose();
        engine.finishSync();
      })
    );
  });
  using last = add();
  // Each addition rounds once, so the host's own f32 additions give the same bits.
  (await last.data()).forEach((value: number, i: number) => {
    let right = uniformAt(i, 0);
    for (let k = 0; k < ADDITIONS; k++) right = Math.fround(right + uniformAt(i, 1));
    if (value !== right) throw new Error(`Element ${i} of the chain is ${value}; ${right} is right.`);
  });
  return samples;
}

const EXPRESSION_OPERATIONS = 20;
const EXPRESSIONS = 100;

/** A step of Adam with decay and clipping, as a user writes it: twenty operations, one kernel. */
function adamStep(p: Tensor, gradient: Tensor, m: Tensor, v: Tensor, rate = 0.01): Tensor {
  const g = gradient.add(p.mul(1e-4)).maximum(-1).minimum(1);
  const mean = m.mul(0.9).add(g.mul(0.1));
  const square = v.mul(0.999).add(g.square().mul(0.001));
  const slope = mean.div(0.19).div(square.div(0.002).sqrt().add(1e-8));
  return p.sub(slope.tanh().mul(rate)).mul(0.999);
}

/** Microseconds of CPU time per operation to build and submit an expression whose program is compiled. */
async function building(context: TensorContext): Promise<number[]> {
  const { tensors } = context;
  const engine = engineOf(tensors);
  const inputs = [0, 1, 2, 3].map((seed) => uniform(tensors, [TINY], seed));
  const [p, gradient, m, v] = inputs;
  const samples = await context.sample(() => {
    engine.finishSync();
    const ms = timedSync(() => {
      for (let i = 0; i < EXPRESSIONS; i++) adamStep(p, gradient, m, v).realize().dispose();
    });
    engine.finishSync();
    return (1000 * ms) / (EXPRESSIONS * EXPRESSION_OPERATIONS);
  });
  free(tensors, inputs);
  return samples;
}

/** How many times as long such an expression takes, kernel included, when its rate is another in every step. */
async function changing(context: TensorContext): Promise<number[]> {
  const { tensors } = context;
  const engine = engineOf(tensors);
  const inputs = [0, 1, 2, 3].map((seed) => uniform(tensors, [TINY], seed));
  const [p, gradient, m, v] = inputs;
  const steps = (rateAt: (step: number) => number): number => {
    engine.finishSync();
    return timedSync(() => {
      for (let i = 0; i < EXPRESSIONS; i++) adamStep(p, gradient, m, v, rateAt(i)).realize().dispose();
      engine.finishSync();
    });
  };
  let step = 0;
  const samples = await context.sample(() => {
    const held = steps(() => 0.01);
    return steps(() => 0.01 / (2 + step++)) / held;
  });
  // What is subtracted is proportional to the rate.
  using none = adamStep(p, gradient, m, v, 0);
  using one = adamStep(p, gradient, m, v, 1);
  using half = adamStep(p, gradient, m, v, 0.5);
  const [at0, at1, atHalf] = [none, one, half].map((x) => x.dataSync() as Float32Array);
  at0.forEach((value, i) => {
    const isRight =
      Math.abs(value - 0.999 * uniformAt(i, 0)) < 1e-6 && Math.abs((value + at1[i]) / 2 - atHalf[i]) < 1e-6;
    if (!isRight) throw new Error(`Element ${i} is ${value}, ${atHalf[i]}, ${at1[i]} for rates of 0, ½ and 1.`);
  });
  free(tensors, inputs);
  return samples;
}

// ---------------------------------------------------------------------------------------------- rows

interface Definition {
  readonly name: string;
  readonly title: string;
  readonly work: Sized;
  readonly targets?: readonly Target[];
  /** Bytes that must be read and written. */
  bytes?(context: TensorContext): number;
}

const onGpu: readonly Definition[] = [
  {
    name: "chain",
    title: "tanh(a*b+c)*sigmoid(d) of 1e8 f32",
    work: (device, context) => chain(device, length(1e8, context)),
    bytes: (context) => 5 * F32 * length(1e8, context),
    targets: [{ share: 0.85 }, to(1.3, "jax")],
  },
  {
    name: "sum-rows",
    title: "sum of 16384×16384 f32 over axis 1",
    work: (device, context) => sum(device, edge(16384, context), 1),
    bytes: (context) => F32 * edge(16384, context) ** 2,
    targets: [to(0.9, "torch")],
  },
  {
    name: "sum-columns",
    title: "sum of 16384×16384 f32 over axis 0",
    work: (device, context) => sum(device, edge(16384, context), 0),
    bytes: (context) => F32 * edge(16384, context) ** 2,
    targets: [to(0.9, "torch")],
  },
  {
    name: "sum-all",
    title: "sum of 16384×16384 f32 over both axes",
    work: (device, context) => sum(device, edge(16384, context), null),
    bytes: (context) => F32 * edge(16384, context) ** 2,
    targets: [to(0.9, "torch")],
  },
  {
    name: "softmax",
    title: "softmax of 16384×4096 f32 along its rows",
    work: (device, context) => softmax(device, edge(16384, context), edge(4096, context)),
    bytes: (context) => 2 * F32 * edge(16384, context) * edge(4096, context),
    targets: [to(0.9, "torch")],
  },
  {
    name: "layer-norm",
    title: "layer norm of 16384×4096 f32 along its rows, without weights",
    work: (device, context) => layerNorm(device, edge(16384, context), edge(4096, context)),
    bytes: (context) => 2 * F32 * edge(16384, context) * edge(4096, context),
    targets: [to(0.9, "torch")],
  },
  {
    name: "transpose",
    title: "transpose of 16384×16384 f32, materialised",
    work: (device, context) => transpose(device, edge(16384, context)),
    bytes: (context) => 2 * F32 * edge(16384, context) ** 2,
    targets: [to(1, "jax")],
  },
  {
    name: "gather",
    title: "1e7 f32 taken from random places of 1e7",
    work: (device, context) => gather(device, length(1e7, context)),
    targets: [to(0.7, "torch", "jax")],
  },
  {
    name: "scatter-add",
    title: "1e7 f32 added at random places to a copy of 1e7",
    work: (device, context) => scatterAdd(device, length(1e7, context)),
    targets: [to(0.7, "torch", "jax")],
  },
  {
    name: "cumsum",
    title: "cumulative sum of 1e8 f32",
    work: (device, context) => cumsum(device, length(1e8, context)),
    bytes: (context) => 2 * F32 * length(1e8, context),
    targets: [to(1, "torch", "jax")],
  },
  {
    name: "sort",
    title: "sort of 1e7 f32",
    work: (device, context) => sort(device, length(1e7, context)),
    targets: [to(0.9, "torch", "jax")],
  },
];

const onCpu: readonly Definition[] = [
  {
    name: "chain",
    title: "tanh(a*b+c)*sigmoid(d) of 1e7 f32, 2 threads",
    work: (device, context) => chain(device, length(1e7, context)),
    targets: [to(1.5, "jax-js"), to(1, "tfjs")],
  },
  {
    name: "sum-rows",
    title: "sum of 4096×4096 f32 over axis 1, 2 threads",
    work: (device, context) => sum(device, edge(4096, context), 1),
  },
  {
    name: "sum-columns",
    title: "sum of 4096×4096 f32 over axis 0, 2 threads",
    work: (device, context) => sum(device, edge(4096, context), 0),
  },
  {
    name: "sum-all",
    title: "sum of 4096×4096 f32 over both axes, 2 threads",
    work: (device, context) => sum(device, edge(4096, context), null),
  },
  {
    name: "softmax",
    title: "softmax of 4096×1024 f32 along its rows, 2 threads",
    work: (device, context) => softmax(device, edge(4096, context), edge(1024, context)),
  },
];

const gpuRow = ({ name, title, work, targets, bytes }: Definition): Row => ({
  name: `tensor-${name}`,
  title,
  unit: "ms",
  better: "lower",
  targets,
  ...(bytes ? { limit: { of: "bandwidth", work: bytes } } : {}),
  peers: pythonPeers(name),
  run: timeOf(work),
});

const gpuProduct = (full: number, ratio = 0.6): Row => ({
  name: `tensor-matmul-${full}`,
  title: `product of two ${full}×${full} f32 matrices`,
  unit: "TFLOP/s",
  better: "higher",
  limit: { of: "flops" },
  targets: [to(ratio, "torch")],
  peers: pythonPeers(`matmul-${full}`),
  async run(context) {
    noteSize(context);
    const size = edge(full, context);
    const samples = await milliseconds(context, matmul(context.tensors, size));
    return samples.map((ms) => (2 * size ** 3) / (1e9 * ms));
  },
});

const cpuRow = ({ name, title, work, targets }: Definition, peers: Row["peers"] = {}): Row => ({
  name: `cpu-${name}`,
  title,
  unit: "ms",
  better: "lower",
  place: "cpu",
  targets: targets ?? [to(1, "jax-js", "tfjs")],
  peers: { "jax-js": `js:jax-js/${name}`, tfjs: `js:tfjs/${name}`, ...peers },
  run: timeOf(work),
});

/** Native code beside ours, for what bench/peers/onnxruntime.mjs has a model of. */
const nativePeer = (name: string): Row["peers"] =>
  /^(chain|softmax|matmul-\d+)$/.test(name) ? { onnxruntime: `js:onnxruntime/${name}` } : {};

const cpuProduct = (full: number): Row =>
  cpuRow(
    {
      name: `matmul-${full}`,
      title: `product of two ${full}×${full} f32 matrices, 2 threads`,
      work: (device, context) => matmul(device, edge(full, context)),
    },
    // In Node, TensorFlow.js has one thread; bench/peers talks it into several, as it has in browsers.
    { "tfjs threads": `js:tfjs-threads/matmul-${full}`, ...nativePeer(`matmul-${full}`) },
  );

const perOperation = { unit: "µs", better: "lower" } as const;
const timesAsLong = { unit: "×", better: "lower", targets: [{ atMost: 2 }] } as const;

export const tensorRows: readonly Row[] = [
  ...onGpu.map(gpuRow),
  gpuProduct(1024),
  gpuProduct(2048),
  gpuProduct(4096, 0.97),
  {
    name: "tensor-adds-1000",
    title: "per addition: 1000 dependent additions of 16 elements, materialised one by one, then a wait",
    ...perOperation,
    targets: [{ atMost: 12 }, to(1, "torch eager")],
    peers: { "torch eager": "torch/dependent-eager", "jax eager": "jax/dependent-eager" },
    run: additions,
  },
  {
    name: "tensor-build",
    title: "CPU time per operation to build and submit an expression of 20 whose program is compiled",
    ...perOperation,
    targets: [{ atMost: 5 }],
    run: building,
  },
  {
    name: "tensor-changing",
    title: "how many times as long an expression of 20 takes when one of its numbers is another in every step",
    ...timesAsLong,
    run: changing,
  },
  ...onCpu.map((definition) => cpuRow(definition, nativePeer(definition.name))),
  ...[256, 512, 1024, 2048].map(cpuProduct),
  {
    name: "cpu-adds-1000",
    title: "per addition: 1000 dependent additions of 16 elements, materialised one by one",
    ...perOperation,
    place: "cpu",
    targets: [to(1, "tfjs")],
    peers: { "jax-js": "js:jax-js/adds-1000", tfjs: "js:tfjs/adds-1000" },
    run: additions,
  },
  {
    name: "cpu-build",
    title: "CPU time per operation to build and run an expression of 20, of 16 elements, whose program is compiled",
    ...perOperation,
    place: "cpu",
    targets: [{ atMost: 5 }],
    run: building,
  },
  {
    name: "cpu-changing",
    title: "how many times as long an expression of 20 takes when one of its numbers is another in every step",
    ...timesAsLong,
    place: "cpu",
    run: changing,
  },
];
