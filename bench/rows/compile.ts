/**
 * How long a process is held up: compiling something it has not seen before, with nothing on disk, and importing the
 * package. Every sample is a new process. Of compiling the figure is our own time on the calling thread; the driver's, or
 * the WebAssembly engine's, is in a remark.
 */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { type Context, repeat } from "../harness.js";
import { runProgram } from "../programs.js";
import type { Row } from "../row.js";
import { median } from "../statistics.js";

/** What first-compile.ts prints. */
interface Compiled {
  readonly ours: number;
  readonly engine: number;
  readonly operations: number;
}

const processes = ({ isQuick }: Context): number => (isQuick ? 2 : 7);

/** Milliseconds per operation. */
const perOperation = (work: string, size: number) => async (context: Context) => {
  const seen: Compiled[] = [];
  const samples = await repeat(processes(context), async () => {
    seen.push(await runProgram<Compiled>("first-compile", [context.tensors, work, String(size)], process.env));
    const { ours, operations } = seen.at(-1)!;
    return ours / operations;
  });
  const middle = (of: (one: Compiled) => number) => median(seen.slice(1).map(of)).toFixed(0);
  const { operations } = seen[0]!;
  context.note(
    `${operations} operations, ${middle(({ ours }) => ours)} ms; the driver or WebAssembly engine took ${middle(({ engine }) => engine)}`,
  );
  return samples;
};

const ROOT = new URL("../../../", import.meta.url);

/** Milliseconds of importing a file of the tree, by the clock. */
async function imports(context: Context, path: string): Promise<number[]> {
  const url = new URL(path, ROOT).href;
  const seen: { readonly clock: number; readonly cpu: number; readonly node: number }[] = [];
  const samples = await repeat(context.isQuick ? 3 : 15, async () => {
    seen.push(await runProgram("first-import", [url], process.env));
    return seen.at(-1)!.clock;
  });
  const cpu = median(seen.slice(1).map((one) => one.cpu));
  const node = median(seen.slice(1).map((one) => one.node));
  context.note(`processor's time ${cpu.toFixed(0)} ms; Node had taken ${node.toFixed(0)} ms before`);
  return samples;
}

/** The same for the package as it is published. */
async function importsPackage(context: Context): Promise<number[]> {
  const { status } = spawnSync(process.execPath, [fileURLToPath(new URL("scripts/package.mjs", ROOT))]);
  if (status !== 0) throw new Error("The package could not be made; npm run package says why.");
  return imports(context, "dist/package/dist/src/index.js");
}

/** A row for Vulkan and one for the CPU engine. */
function both(name: string, title: string, [onGpu, onCpu]: readonly [number, number], run: Row["run"]): Row[] {
  const row = { unit: "ms", better: "lower", run } as const;
  return [
    { ...row, name, title, targets: [{ atMost: onGpu }] },
    { ...row, name: `cpu-${name}`, title: `${title}, on the CPU engine`, targets: [{ atMost: onCpu }], place: "cpu" },
  ];
}

const PER_OPERATION = [1.5, 1] as const;

export const compileRows: readonly Row[] = [
  {
    name: "import",
    title: 'import "pumice" in a new process, the package as it is published',
    unit: "ms",
    better: "lower",
    place: "cpu",
    targets: [{ atMost: 150 }],
    run: importsPackage,
  },
  {
    name: "import-files",
    title: "the same from the working tree, a file per module",
    unit: "ms",
    better: "lower",
    place: "cpu",
    run: (context) => imports(context, "dist/src/index.js"),
  },
  ...[250, 500].flatMap((count) =>
    both(
      `compile-sin-${count}`,
      `first gradient of ${count} chained sines: per operation, of ${3 * count}`,
      PER_OPERATION,
      perOperation("sines", count),
    ),
  ),
  ...both(
    "compile-jit-2000",
    "first call of a jitted function of 2000 mixed operations: per operation",
    PER_OPERATION,
    perOperation("mixed", 2000),
  ),
  ...both(
    "compile-mlp",
    "first call of a training step of an MLP: per operation",
    PER_OPERATION,
    perOperation("training", 0),
  ),
  ...both(
    "compile-new-shape",
    "a small expression at a shape never seen, at others it was: per shape, of 20",
    [5, 5],
    perOperation("shapes", 20),
  ),
];
