/**
 * Work whose first evaluation in a process is compiling, for the `compile-` rows: a way back through a long chain, a long
 * jitted function of many kinds of operations, a training step, a small expression at one shape after another.
 */
import { grad, jit, type Tensor } from "../src/index.js";
import { mlpWork } from "./networks.js";
import { positionAt, uniform } from "./tensor-work.js";
import { startTraining } from "./training-work.js";

export interface CompileWork {
  /** Sends everything off. */
  run(): void;
  /** Operations of the graph that was compiled. */
  operations(): number;
}

/** The gradient of the sum of sin(sin(… sin(x))): each sine has a cosine and a product on the way back. */
function sines(device: string, count: number): CompileWork {
  const x = uniform(device, [64], 0);
  const chain = (from: Tensor) => {
    let at = from;
    for (let i = 0; i < count; i++) at = at.sin();
    return at.sum();
  };
  return { run: () => grad(chain)(x).realize(), operations: () => 3 * count };
}

/** Operations that keep numbers small, some of them two. */
const STEPS: readonly { readonly operations: number; apply(x: Tensor, y: Tensor): Tensor }[] = [
  { operations: 1, apply: (x, y) => x.add(y) },
  { operations: 1, apply: (x, y) => x.sub(y) },
  { operations: 1, apply: (x, y) => x.mul(y) },
  { operations: 1, apply: (x, y) => x.maximum(y) },
  { operations: 1, apply: (x) => x.tanh() },
  { operations: 1, apply: (x) => x.cos() },
  { operations: 1, apply: (x) => x.T },
  { operations: 2, apply: (x) => x.abs().sqrt() },
  { operations: 2, apply: (x) => x.sub(x.sum({ axis: 1, keepDims: true })) },
  { operations: 2, apply: (x, y) => x.matmul(y).tanh() },
];

/** A jitted function of many operations, which come in no order that repeats. */
function mixed(device: string, count: number): CompileWork {
  const x = uniform(device, [16, 16], 0);
  const f = jit((from: Tensor) => {
    let [before, at] = [from, from];
    for (let done = 0, i = 0; done < count; i++) {
      const { operations, apply } = STEPS[positionAt(i, STEPS.length, 1)]!;
      [before, at] = [at, apply(at, before)];
      done += operations;
    }
    return at;
  });
  return { run: () => f(x), operations: () => count };
}

/** A step of the MLP's training: forward, backward, Adam. */
function training(device: string): CompileWork {
  const { step, lower } = startTraining(device, mlpWork, 128);
  return { run: step, operations: () => lower().graph.split("\n").length };
}

/** A small expression with a reduction, at as many shapes; at another one the process has seen it. */
function shapes(device: string, count: number): CompileWork {
  const inputs = Array.from({ length: count + 1 }, (_, i) => [0, 1].map((seed) => uniform(device, [5 + i, 37], seed)));
  const evaluate = ([a, b]: readonly Tensor[]) => void a!.mul(b!).add(1).tanh().sum({ axis: 1 }).realize();
  evaluate(inputs[count]!);
  return { run: () => inputs.slice(0, count).forEach(evaluate), operations: () => count };
}

/** What first-compile.ts is asked for, by name. */
export const compileWorks: Readonly<Record<string, (device: string, count: number) => CompileWork>> = {
  sines,
  mixed,
  training,
  shapes,
};
