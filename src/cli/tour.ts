/**
 * `pumice tour`, also run by `npm start`: a guided run through Pumice, in well under a minute. A stop prints the text of the
 * function that it then runs. To add a stop, add its entry to the table; its function takes what it uses from the context by
 * name and reads like a user's program.
 */

import { format } from "node:util";
import type { Tensor } from "../index.js";
import type { VulkanDevice } from "../vulkan/index.js";
import { chooseDevice, kinds } from "./choice.js";
import { type Command, ExpectedError } from "./command.js";
import { drawDots, noisyDigits } from "./dotted-digits.js";
import { toCandidate } from "./info.js";
import { normalLeapfrog } from "./leapfrog-shader.js";
import { findMnist, type Mnist } from "./mnist.js";
import { sparkline } from "./sparkline.js";
import { firstLine, isExpected, loadVulkan, reason, type Vulkan } from "./surface.js";
import { type Terminal, wrap } from "./terminal.js";

interface Stop {
  readonly title: string;
  /** Introduction of the stop. */
  readonly about: string;
  /** Whether it needs a Vulkan device, or only tensors, which run on the CPU too. */
  readonly needs: "vulkan" | "tensors";
  /** Why it is left out here, or null. */
  readonly leftOut?: (given: Given) => string | null;
  readonly run: (context: Context) => void | Promise<void>;
}

/** Facts about this machine. Stops that need a Vulkan device are only visited with one. */
interface Given {
  readonly device: VulkanDevice;
  /** The example, or why there is none. */
  readonly mnist: Mnist | string;
}

/** Names that a stop's function may use. Its `console` prints under the stop's code. */
type Context = Vulkan &
  Pumice & {
    readonly device: VulkanDevice;
    readonly mnist: Mnist;
    readonly console: { log(...values: unknown[]): void };
    readonly assert: (claim: boolean) => void;
    readonly normalLeapfrog: () => Uint32Array;
    readonly noisyDigits: (key: Tensor<"u32">) => Tensor;
    readonly drawDots: typeof drawDots;
    readonly sparkline: typeof sparkline;
  };

/** @internal for tests: each stop runs by itself, without a terminal */
export const stops: readonly Stop[] = [
  {
    title: "Tensors",
    needs: "tensors",
    about: "NumPy's names in camelCase. Nothing is computed until a value is asked for.",
    run: ({ tensor, arange, console, assert }) => {
      const a = tensor([
        [1, 2],
        [3, 4],
      ]);
      const b = a.matmul(a.T).add(1).tanh().sum({ axis: 1 });
      console.log(b);
      console.log(arange(12).reshape(3, 4).at("::-1", "1:3"));
      assert(a.sum().itemSync() === 10);
    },
  },
  {
    title: "A fused kernel",
    needs: "tensors",
    about: "A softmax is two reductions and two passes over the data. The compiler makes one kernel of it.",
    run: ({ arange, explain, console, assert }) => {
      const x = arange(256 * 512)
        .reshape(256, 512)
        .mul(0.01)
        .sin()
        .realize();
      const y = x.softmax({ axis: 1 });
      console.log(explain(y));
      const rows = y.sum({ axis: 1 });
      assert(Math.abs(rows.mean().itemSync() - 1) < 1e-5);
    },
  },
  {
    title: "Gradients, and a training step as one program",
    needs: "tensors",
    about:
      "A network learns to read ten digits of 5×7 dots, a tenth of the dots flipped at random. Noise, loss, gradients and " +
      "update are compiled once, into one program; the learning rate is a number that changes with every step.",
    run: ({ noisyDigits, drawDots, random, jit, valueAndGrad, tree, sparkline, console, assert }) => {
      const [noise, ...keys] = random.split(random.key(0), 3);
      const logits = ([w, v]: Tensor[], x: Tensor) => x.matmul(w).tanh().matmul(v);
      const loss = (weights: Tensor[], step: Tensor) => {
        const z = logits(weights, noisyDigits(random.foldIn(noise, step)));
        return z.logsumexp({ axis: 1 }).sub(z.diagonal()).mean();
      };
      const train = jit((weights: Tensor[], step: Tensor, rate: Tensor): [Tensor[], Tensor] => {
        const [value, slopes] = valueAndGrad(loss)(weights, step);
        return [tree.map((w: Tensor, slope: Tensor) => w.sub(slope.mul(rate)), weights, slopes), value];
      });
      let weights: Tensor[] = [random.normal(keys[0], [35, 32]).mul(0.2), random.normal(keys[1], [32, 10]).mul(0.2)];
      const losses: Tensor[] = [];
      for (let step = 0; step < 240; step++) [weights, losses[step]] = train(weights, step, 0.5 / (1 + step / 200));
      const seen = noisyDigits(keys[0]);
      const read = [...logits(weights, seen).argmax({ axis: 1 }).dataSync()];
      console.log("loss", sparkline(losses.filter((_, i) => i % 6 === 0).map((value) => Number(value.itemSync()))));
      console.log(`${drawDots(seen.at(3))}\nis read as ${read[3]}; all ten as ${read.join(" ")}`);
      assert(read.filter((digit, i) => digit === i).length >= 9);
    },
  },
  {
    title: "Handwritten digits",
    needs: "tensors",
    about:
      "A dense network learns from 2,000 digits of the real MNIST and reads 2,000 others: a few seconds of examples/mnist, " +
      "which is a model of layers and `train` of pumice/nn.",
    leftOut: ({ mnist }) => (typeof mnist === "string" ? mnist : null),
    run: async ({ mnist, console, assert }) => {
      const { loadDigits, RECIPES, learn, accuracyOf } = mnist;
      const run = learn(RECIPES.mlp, loadDigits("train", 2000), { epochs: 2, batch: 32, seed: 0, progress: false });
      for await (const { step, steps, metrics, secondsLeft } of run) {
        const means = Object.entries(metrics).map(([name, value]) => `${name} ${value.toFixed(3)}`);
        console.log(`step ${step}/${steps}  ${means.join("  ")}  ${secondsLeft?.toFixed(0)} s left`);
      }
      const accuracy = await accuracyOf(await run, loadDigits("test", 2000));
      console.log(`digits never seen: ${(100 * accuracy).toFixed(1)} % read right`);
      assert(accuracy > 0.8);
    },
  },
  {
    title: "The devices of this machine",
    needs: "vulkan",
    about: "Pumice speaks Vulkan, so any maker's GPU will do. Nothing was installed for it but the driver.",
    run: ({ listDevices, console }) => {
      for (const { index, properties: gpu, refusal } of listDevices()) {
        console.log(`vulkan:${index}  ${gpu.name}, Vulkan ${gpu.apiVersion.join(".")}, ${refusal ?? "usable"}`);
      }
    },
  },
  {
    title: "Memory on the device",
    needs: "vulkan",
    about:
      "Buffers live on the device and are freed by the garbage collector. Reading one does not block the event loop.",
    run: async ({ device, console, assert }) => {
      const a = device.upload(new Float32Array([1, 2, 3, 4]));
      const b = device.alloc(a.byteLength); // zeros
      b.copyFrom(a); // on the device
      const copy = new Float32Array((await b.read()).buffer);
      console.log(b, copy);
      assert(copy.join() === "1,2,3,4");
    },
  },
  {
    title: "Ready-made kernels: π from a million numbers",
    needs: "vulkan",
    about: "The mean of 4 / (1 + x²) over [0, 1] is π. Four kernels of the catalogue, one result read back.",
    run: async ({ device, catalogue, console, assert }) => {
      const n = 1_000_000;
      const x = device.upload(Float32Array.from({ length: n }, (_, i) => (i + 0.5) / n));
      const one = device.upload(new Float32Array(n).fill(1));
      const y = device.alloc(4 * n);
      const sum = device.alloc(4);
      catalogue.applyUnary(y, x, n, 12); // square
      catalogue.applyBinary(y, y, one, n, 0); // add
      catalogue.applyUnary(y, y, n, 11); // reciprocal
      catalogue.reduceAxis(sum, y, 1, n, 1, 0); // sum
      const [total] = new Float32Array((await sum.read()).buffer);
      console.log("π ≈", (4 * total) / n);
      assert(Math.abs((4 * total) / n - Math.PI) < 1e-5);
    },
  },
  {
    title: "A kernel of your own",
    needs: "vulkan",
    about: "SPIR-V of any origin runs: compiled from GLSL, or assembled here, without a compiler on your machine.",
    run: async ({ device, spirv, console, assert }) => {
      const m = new spirv.ModuleBuilder();
      const x = m.storageBuffer(m.f32, { binding: 0, writable: false });
      const y = m.storageBuffer(m.f32, { binding: 1 });
      const push = m.pushConstants([["scale", m.f32]]);
      m.entry("main", { localSize: [4] }, (f) => {
        const i = f.builtin("GlobalInvocationId").x;
        y.store(i, f.add(f.mul(push.scale, x.load(i)), y.load(i)));
      });
      const saxpy = device.kernel(m.build(), { name: "saxpy" });
      const buffers = [
        [1, 2, 3, 4],
        [10, 20, 30, 40],
      ].map((values) => device.upload(new Float32Array(values)));
      saxpy.run({ buffers, push: new Float32Array([0.5]), groups: [1] });
      const result = new Float32Array((await buffers[1].read()).buffer);
      console.log(saxpy, result);
      assert(result.join() === "10.5,21,31.5,42");
    },
  },
  {
    title: "A sampler's inner loop: 64 leapfrog steps in one dispatch",
    needs: "vulkan",
    about: "The mean of five observations under a normal prior. A ball rolls through the posterior; its energy stays.",
    run: async ({ device, catalogue, normalLeapfrog, sparkline, console, assert }) => {
      const [steps, observations] = [64, [0.8, 1.1, 1.3, 0.9, 1.4]];
      const push = new Uint32Array([steps, observations.length, 1, 0, 0]);
      new Float32Array(push.buffer)[4] = 0.05; // the step size
      const [q, p, extras] = [[-1], [1], [...observations, 1]].map((values) => new Float32Array(values));
      const chain = await catalogue.leapfrogChain(device, q, p, extras, push, steps, normalLeapfrog());
      const energies = chain.logp.map((logp, i) => chain.p[i] ** 2 / 2 - logp);
      console.log("position", sparkline(chain.q));
      console.log("momentum", sparkline(chain.p));
      console.log("energy  ", Math.min(...energies).toFixed(3), "to", Math.max(...energies).toFixed(3));
      assert(Math.max(...energies) - Math.min(...energies) < 0.02 * Math.max(...energies));
    },
  },
  {
    title: "Where the time goes",
    needs: "vulkan",
    about: "Timestamps around every kernel, on the device's own clock; profile.save(path) writes a trace for Perfetto.",
    leftOut: ({ device: { plan } }) => (plan.timestampMask === 0n ? "this device has no timestamps" : null),
    run: async ({ device, catalogue, console }) => {
      const n = 512 * 512;
      const [a, b, out] = [1, 2, 3].map(() => device.alloc(4 * n));
      const profile = await device.profile(() => {
        for (let i = 0; i < 5; i++) catalogue.applyBinary(out, a, b, n, 0);
        for (let i = 0; i < 5; i++) catalogue.applyUnary(out, a, n, 0);
        catalogue.matmul(out, a, b, 512, 512, 512);
      });
      console.log(profile.table());
    },
  },
];

const NEXT =
  "Here today: the native layer; tensors with a fusing compiler for GPUs and CPUs; gradients, vmap, jit and control flow; " +
  "linear algebra and Fourier transforms; neural networks and their training (pumice/nn); classical learning " +
  "(pumice/learn); Bayesian models, sampling and diagnostics (pumice/bayes). `npm run example -- mnist` trains on all of " +
  "MNIST, `npm run example -- digits` searches a pipeline; the README's table says how far it all is.";

export const tour: Command = {
  name: "tour",
  summary: "a guided run of what Pumice does, in under a minute",
  usage: "",
  switches: {},
  help: `
Each stop shows the code it runs and what comes of it, on the best GPU; on software Vulkan when there is no GPU, or on
what PUMICE_DEVICE names (\`pumice info\` lists the devices).

Exit code: 0, or 1 when a stop did not give the right result.`,

  async run(_given, terminal) {
    const vulkan = await loadVulkan();
    const pumice = await import("../index.js");
    terminal.print(terminal.paint("bold", `Pumice ${pumice.version}: a tour`));
    const found = await openForTour(vulkan);
    const device = typeof found === "string" ? null : found.device;
    if (typeof found === "string") {
      say(
        `No Vulkan device, so only tensors on the CPU are shown: ${found.replace(/[.;\s]+$/, "")}. \`pumice doctor\` looks further.`,
        terminal,
      );
    } else say(found.note, terminal);
    const mnist = await findMnist();
    const shown = stops.filter(({ needs }) => needs === "tensors" || device);
    const start = performance.now();
    let failures = 0;
    try {
      for (const [i, stop] of shown.entries()) {
        terminal.print(`\n${terminal.paint("bold", `${i + 1}  ${stop.title}`)}`);
        const given = { device: device as VulkanDevice, mnist };
        if (!(await visit(stop, { ...vulkan, ...pumice }, given, terminal))) failures++;
      }
    } finally {
      await device?.close();
    }
    terminal.print(`\n${terminal.paint("bold", `${shown.length + 1}  What comes next`)}`);
    say(NEXT, terminal);
    const took = `${((performance.now() - start) / 1000).toFixed(1)} s`;
    terminal.print(`\n${failures === 0 ? `The end, after ${took}.` : `${failures} of ${shown.length} stops failed.`}`);
    return failures === 0 ? 0 : 1;
  },
};

type Pumice = typeof import("../index.js");

/** The device of the tour, with a note about it; or why there is none. */
async function openForTour(vulkan: Vulkan): Promise<{ device: VulkanDevice; note: string } | string> {
  let devices: ReturnType<Vulkan["listDevices"]>;
  try {
    devices = vulkan.listDevices();
  } catch (error) {
    if (!(await isExpected(error))) throw error;
    return `${reason(error)}.`;
  }
  const asked = process.env.PUMICE_DEVICE;
  const choice = chooseDevice(devices.map(toCandidate), asked);
  if (asked && choice.device === null) throw new ExpectedError(choice.why);
  if (asked === "cpu") return choice.why;
  const index = choice.index ?? devices.find(({ refusal }) => refusal === null)?.index;
  if (index === undefined) return choice.why;
  const device = await vulkan.openDevice({ index });
  const { type } = device.properties;
  const slow = type === "cpu" ? ": slow, but it computes the same" : "";
  const why = choice.index === null ? " No GPU can be used here; `pumice doctor` says why." : "";
  return { device, note: `On ${device.name}, ${kinds[type]}${slow}.${why}` };
}

/** Shows one stop. False when it failed. */
async function visit(stop: Stop, surface: Vulkan & Pumice, given: Given, terminal: Terminal): Promise<boolean> {
  say(stop.about, terminal);
  const why = stop.leftOut?.(given);
  if (why) {
    say(`Left out: ${why}.`, terminal);
    return true;
  }
  terminal.print();
  for (const line of codeOf(stop.run))
    terminal.print(`   ${terminal.paint("dim", "│")} ${terminal.paint("cyan", line)}`);
  terminal.print();
  const log = (...values: unknown[]) => {
    for (const line of format(...values).split("\n")) terminal.print(`   ${line}`);
  };
  try {
    const shader = () => normalLeapfrog(surface.spirv);
    await stop.run({
      ...surface,
      device: given.device,
      mnist: given.mnist as Mnist,
      console: { log },
      assert,
      sparkline,
      normalLeapfrog: shader,
      noisyDigits: (key) => noisyDigits(surface, key),
      drawDots,
    });
    return true;
  } catch (error) {
    const what = (await isExpected(error)) ? firstLine(error) : ((error as Error).stack ?? String(error));
    terminal.print(`   ${terminal.paint("red", `This stop failed: ${what}`)}`);
    return false;
  }
}

function assert(claim: boolean): void {
  if (!claim) throw new ExpectedError("the result is not what it should be");
}

function say(text: string, terminal: Terminal): void {
  for (const line of wrap(text, terminal.width - 3)) terminal.print(`   ${line}`);
}

/**
 * The lines of a function's body, as TypeScript's compiler wrote them, with our indentation.
 * @internal for tests: the code of each stop fits the page
 */
export function codeOf(run: Stop["run"]): string[] {
  const text = run.toString();
  const lines = text
    .slice(text.indexOf("=> {") + 4, text.lastIndexOf("}"))
    .split("\n")
    .slice(1, -1);
  const indents = lines.filter((line) => line.trim()).map((line) => line.length - line.trimStart().length);
  const shared = Math.min(...indents);
  return lines.map((line) => line.slice(shared).replace(/^ +/, (spaces) => " ".repeat(spaces.length / 2)));
}
