/**
 * How long the event loop stands still while tensors are awaited: the largest gap between two ticks of a timer of 5 ms, beside
 * work that takes far longer, and the time in which a server answers that computes. On a machine with other things to do the
 * main thread waits for a processor as well; a remark has the most that it was busy itself between two ticks.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Worker } from "node:worker_threads";
import { jit, type Tensor, tensor, whileLoop } from "../../src/index.js";
import { posteriors } from "../bayes-models.js";
import { compileWorks } from "../compile-work.js";
import { mlpWork } from "../networks.js";
import type { Row } from "../row.js";
import { free, type TensorContext, uniform } from "../tensor-work.js";
import { threadMilliseconds } from "../thread-time.js";
import { startTraining } from "../training-work.js";

const TICK = 5;
/** How long the work of a sample goes on, in milliseconds. */
const SAMPLE = 400;
const ROUNDS = 20_000;

/** The work of a row: called again and again, awaited each time. */
interface Beside {
  once(): Promise<unknown>;
  end?(): void;
}

async function forAWhile({ once }: Beside): Promise<void> {
  const began = performance.now();
  do await once();
  while (performance.now() - began < SAMPLE);
}

/** Milliseconds: the figure, and between two ticks the most in which the main thread was busy, which others do not lengthen. */
interface Seen {
  readonly figure: number;
  readonly busy: number;
}

/** Runs work beside a timer: the largest gap between its ticks. */
async function largestGap(work: Beside): Promise<Seen> {
  let [last, lastBusy] = [performance.now(), threadMilliseconds()];
  let [figure, busy] = [0, 0];
  const tick = () => {
    const [now, nowBusy] = [performance.now(), threadMilliseconds()];
    figure = Math.max(figure, now - last);
    busy = Math.max(busy, nowBusy - lastBusy);
    [last, lastBusy] = [now, nowBusy];
  };
  const timer = setInterval(tick, TICK);
  await forAWhile(work);
  tick();
  clearInterval(timer);
  return { figure, busy };
}

// ---------------------------------------------------------------------------------------------- work

const loop = ({ tensors }: TensorContext): Beside => {
  const x = uniform(tensors, [1 << 20], 0);
  return { once: () => x.sin().exp().cos().add(1).log().sum().item(), end: () => free(tensors, [x]) };
};

const product = ({ tensors, halvings }: TensorContext): Beside => {
  const edge = 2048 >> halvings;
  const inputs = [0, 1].map((seed) => uniform(tensors, [edge, edge], seed));
  return { once: () => inputs[0]!.matmul(inputs[1]!).sum().item(), end: () => free(tensors, inputs) };
};

const training = ({ tensors, halvings }: TensorContext): Beside => {
  const { step, free: end } = startTraining(tensors, mlpWork, 128 >> halvings);
  return { once: () => step().item(), end };
};

const count = (from: Tensor): Tensor =>
  whileLoop(
    (x: Tensor) => x.less(ROUNDS),
    (x: Tensor) => x.add(1),
    from,
  );

const rounds =
  (counted: typeof count) =>
  ({ tensors: device }: TensorContext): Beside => ({ once: () => counted(tensor(0, { device })).item() });

const sampling = ({ tensors }: TensorContext): Beside => {
  const posterior = posteriors.logistic(tensors);
  return { once: () => posterior.sample({ chains: 4, warmup: 50, draws: 100, seed: 1 }) };
};

/** Programs that were never seen: what compiles one is not interrupted. */
const compiling = ({ tensors }: TensorContext): Beside => {
  let count = 100;
  return { once: async () => compileWorks.sines!(tensors, count++).run() };
};

// ---------------------------------------------------------------------------------------------- a server

/** Asks a server for its health until it is told to stop; runs in a thread of its own. */
const ASKING = `
  const { get, Agent } = require("node:http");
  const { parentPort, workerData: port } = require("node:worker_threads");
  const agent = new Agent({ keepAlive: true });
  const times = [];
  let isOver = false;
  parentPort.on("message", () => { isOver = true; });
  const ask = () => {
    const began = performance.now();
    get({ port, agent }, (answer) => answer.resume().on("end", () => {
      times.push(performance.now() - began);
      if (!isOver) return setTimeout(ask, 1);
      agent.destroy();
      parentPort.postMessage(times);
      parentPort.close();
    }));
  };
  ask();`;

/** Runs work beside a server: the time within which 99 of 100 health checks are answered. */
async function slowAnswer(work: Beside): Promise<Seen> {
  const server = createServer((_, response) => response.end("healthy")).listen(0);
  await new Promise((resolve) => server.once("listening", resolve));
  const client = new Worker(ASKING, { eval: true, workerData: (server.address() as AddressInfo).port });
  await new Promise((resolve) => server.once("request", resolve));
  const told = new Promise<number[]>((resolve) => client.once("message", resolve));
  const { busy } = await largestGap(work);
  client.postMessage("stop");
  const times = (await told).sort((a, b) => a - b);
  server.close();
  server.closeAllConnections();
  return { figure: times[Math.ceil(0.99 * times.length) - 1]!, busy };
}

// ---------------------------------------------------------------------------------------------- rows

const row = (
  name: string,
  title: string,
  atMost: number | null,
  measure: (work: Beside) => Promise<Seen>,
  start: (context: TensorContext) => Beside,
): Row[] =>
  [{}, { place: "cpu" } as const].map((where) => ({
    name: `${"place" in where ? "cpu-" : ""}${name}`,
    title,
    unit: "ms",
    better: "lower",
    targets: atMost === null ? [] : [{ atMost }],
    ...where,
    run: async (context: TensorContext) => {
      const work = start(context);
      try {
        let seen: Seen[] = [];
        const samples = await context.sample(async () => {
          seen.push(await measure(work));
          return seen.at(-1)!.figure;
        });
        // Those before were taken to warm up, and the first one compiles.
        seen = seen.slice(-samples.length);
        const most = (of: (each: Seen) => number) => Math.max(...seen.map(of)).toFixed(1);
        context.note(
          `in ${seen.length} samples ${most(({ figure }) => figure)} ms at most; between two ticks the main thread was busy for ` +
            `${most(({ busy }) => busy)} ms at most`,
        );
        return samples;
      } finally {
        work.end?.();
      }
    },
  }));

const gapBeside = (name: string, what: string, start: (context: TensorContext) => Beside, atMost: number | null = 30) =>
  row(`gap-${name}`, `largest gap of a 5 ms timer in 0.4 s beside ${what}`, atMost, largestGap, start);

export const eventLoopRows: readonly Row[] = [
  ...gapBeside("loop", "a loop of element-wise work on 2^20 numbers, each round awaited", loop),
  ...gapBeside("product", "products of 2048×2048 matrices", product),
  ...gapBeside("training", "training steps of an MLP, batch 128, each loss awaited", training),
  ...gapBeside("while", `while loops of ${ROUNDS} rounds`, rounds(count)),
  ...gapBeside("jitted-while", `jitted while loops of ${ROUNDS} rounds`, rounds(jit(count))),
  ...gapBeside("sampling", "sampling, four chains", sampling),
  ...gapBeside("compiling", "first gradients of 100 chained sines and more, compiled", compiling, null),
  ...row("health-p99", "99th percentile of a server's answers beside products of matrices", 20, slowAnswer, product),
];
