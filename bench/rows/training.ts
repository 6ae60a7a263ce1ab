/**
 * Whole training steps (forward, backward, Adam) as one jitted function, on the GPU beside PyTorch and JAX and on the CPU
 * engine beside JavaScript libraries, and what a jitted function costs besides its kernels: a call, and the first call.
 */
import { jit, type Tensor } from "../../src/index.js";
import { type Context, repeat, timedSync } from "../harness.js";
import { cnnWork, mlpWork } from "../networks.js";
import { runProgram } from "../programs.js";
import type { Row } from "../row.js";
import { median } from "../statistics.js";
import { engineOf, free, type TensorContext, uniform } from "../tensor-work.js";
import { stepMilliseconds, type TrainingWork } from "../training-work.js";
import { withCacheFolders } from "./start.js";

// ---------------------------------------------------------------------------------------------- calls

/** Calls between waits: fewer than a program has turns, so that none waits for the device. */
const CALLS = 16;

/** Microseconds of CPU time per call of a one-kernel function whose result is not read. */
async function calls(context: TensorContext): Promise<number[]> {
  const { tensors } = context;
  const engine = engineOf(tensors);
  const x = uniform(tensors, [16], 0);
  const f = jit((a: Tensor) => a.mul(2).add(1));
  const samples = await context.sample(() => {
    engine.finishSync();
    return (
      (1000 / CALLS) *
      timedSync(() => {
        for (let i = 0; i < CALLS; i++) f(x).dispose();
      })
    );
  });
  free(tensors, [x]);
  return samples;
}

/** What first-step.ts prints. */
interface FirstStep {
  readonly call: number;
  readonly parts: Readonly<Record<string, number>>;
  readonly loss: number;
}

/** Milliseconds of the first call of the training step: traced, found on disk or compiled, and sent off. */
const firstCalls = (isCold: boolean) => (context: Context) =>
  withCacheFolders(isCold, async (environment) => {
    const seen: FirstStep[] = [];
    const samples = await repeat(context.isQuick ? 3 : 9, async () => {
      seen.push(await runProgram<FirstStep>("first-step", [context.tensors], environment()));
      return seen.at(-1)!.call;
    });
    // As of the samples, the first is left out: it may have filled the caches for the others.
    const counted = seen.slice(1);
    const middle = (of: (step: FirstStep) => number) => median(counted.map(of)).toFixed(1);
    const parts = Object.keys(counted[0]!.parts).map((part) => `${part} ${middle((step) => step.parts[part]!)}`);
    context.note(`of it, in ms: ${parts.join(", ")}; the loss was read after ${middle(({ loss }) => loss)}`);
    return samples;
  });

// ---------------------------------------------------------------------------------------------- rows

const LARGE_BATCH = 4096;
const SMALL_BATCH = 128;

/** The batch at the size of this run: small where the device is. */
const sized = (full: number, { halvings }: TensorContext): number => Math.max(16, Math.floor(full / 4 ** halvings));

const step = (work: TrainingWork, batch: number) => (context: TensorContext) => {
  if (context.halvings > 0) context.note(`a batch of ${sized(batch, context)} at this pace or on this device`);
  return stepMilliseconds(context, work, sized(batch, context));
};

const onGpu = (name: string, title: string, work: TrainingWork, batch: number, targets: Row["targets"]): Row => ({
  name: `training-${name}`,
  title,
  unit: "ms",
  better: "lower",
  targets,
  peers: { "torch graph": `torch/${name}-graph`, "torch eager": `torch/${name}-eager`, jax: `jax/${name}` },
  run: step(work, batch),
});

const both = ["torch graph", "jax"];

export const trainingRows: readonly Row[] = [
  {
    name: "jit-first-cold",
    title: "first call of the training step of an MLP: trace, compile, send off; caches empty",
    unit: "ms",
    better: "lower",
    targets: [{ atMost: 300 }],
    run: firstCalls(true),
  },
  {
    name: "jit-first-warm",
    title: "the same with the driver's and our caches filled",
    unit: "ms",
    better: "lower",
    targets: [{ atMost: 60 }],
    run: firstCalls(false),
  },
  {
    name: "jit-call",
    title: "CPU time of a call of a jitted one-kernel function, result not read",
    unit: "µs",
    better: "lower",
    targets: [{ atMost: 10 }],
    run: calls,
  },
  onGpu("mlp-128", "training step of an MLP 784-256-128-10, batch 128, Adam", mlpWork, SMALL_BATCH, [
    { ratio: 1, to: ["torch graph"] },
    { ratio: 2, to: ["jax"] },
  ]),
  onGpu("mlp-4096", "training step of an MLP 784-256-128-10, batch 4096, Adam", mlpWork, LARGE_BATCH, [
    { ratio: 1, to: both },
  ]),
  onGpu("cnn-128", "training step of a CNN 1-32-64 3×3, dense 128, batch 128, Adam", cnnWork, SMALL_BATCH, [
    { ratio: 0.7, to: both },
  ]),
  {
    name: "cpu-jit-call",
    title: "time of a call of a jitted one-kernel function of 16 elements, kernel included",
    unit: "µs",
    better: "lower",
    place: "cpu",
    targets: [{ atMost: 10 }],
    run: calls,
  },
  {
    name: "cpu-mlp-128",
    title: "training step of an MLP 784-256-128-10, batch 128, Adam, 2 threads",
    unit: "ms",
    better: "lower",
    place: "cpu",
    targets: [{ ratio: 1, to: ["jax-js"] }],
    peers: { "jax-js": "js:jax-js/mlp-128", tfjs: "js:tfjs/mlp-128", "tfjs threads": "js:tfjs-threads/mlp-128" },
    run: step(mlpWork, SMALL_BATCH),
  },
  {
    name: "cpu-cnn-128",
    title: "training step of a CNN 1-32-64 3×3, dense 128, batch 128, Adam, 2 threads",
    unit: "ms",
    better: "lower",
    place: "cpu",
    targets: [],
    peers: { tfjs: "js:tfjs/cnn-128", "tfjs threads": "js:tfjs-threads/cnn-128" },
    run: step(cnnWork, SMALL_BATCH),
  },
];
