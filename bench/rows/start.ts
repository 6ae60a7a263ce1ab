/**
 * From starting a process to its first result, with everything a user waits for: Node, the modules, the driver, the
 * pipeline. `start` finds its caches filled by a run before; `start-cold` gets empty ones, the driver's own included.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Context, repeat } from "../harness.js";
import type { Row } from "../row.js";
import { median } from "../statistics.js";

const PROGRAM = fileURLToPath(new URL("../first-result.js", import.meta.url));

type Stages = Record<string, number>;

/** Everything that caches compiled kernels between processes: ours, NVIDIA's, Mesa's. */
const cacheVariables = (folder: string): NodeJS.ProcessEnv => ({
  PUMICE_CACHE: join(folder, "pumice"),
  __GL_SHADER_DISK_CACHE_PATH: folder,
  MESA_SHADER_CACHE_DIR: folder,
});

/** Milliseconds from spawning the program to its line, and the times at which the program saw its stages end. */
async function firstResult(deviceIndex: number, env: NodeJS.ProcessEnv): Promise<{ ms: number; stages: Stages }> {
  const start = performance.now();
  const child = spawn(process.execPath, [PROGRAM, String(deviceIndex)], { env, stdio: ["ignore", "pipe", "pipe"] });
  let end = 0;
  let line = "";
  let complaints = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    end ||= performance.now();
    line += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    complaints += text;
  });
  const code = await new Promise<number | null>((resolve, reject) => child.on("error", reject).on("close", resolve));
  const [value, stages = "{}"] = line.split(" ", 2);
  if (code !== 0 || Number(value) !== 2) throw new Error(`first-result ended with ${code}: ${line}${complaints}`);
  return { ms: end - start, stages: JSON.parse(stages) };
}

/** Runs work whose processes get cache folders of their own: a new one each, or the same, which the first fills. */
export async function withCacheFolders<T>(
  isCold: boolean,
  work: (environment: () => NodeJS.ProcessEnv) => Promise<T>,
): Promise<T> {
  const folders: string[] = [];
  const newFolder = () => {
    folders.push(mkdtempSync(join(tmpdir(), "pumice-bench-")));
    return folders.at(-1)!;
  };
  const kept = newFolder();
  try {
    return await work(() => ({ ...process.env, ...cacheVariables(isCold ? newFolder() : kept) }));
  } finally {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  }
}

const starts = (context: Context, isCold: boolean): Promise<number[]> =>
  withCacheFolders(isCold, async (environment) => {
    const seen: Stages[] = [];
    const samples = await repeat(context.isQuick ? 3 : 9, async () => {
      const { ms, stages } = await firstResult(context.deviceIndex, environment());
      seen.push(stages);
      return ms;
    });
    context.note(`ends of the stages, in ms of the program's own clock: ${describeStages(seen.slice(1))}`);
    return samples;
  });

function describeStages(seen: readonly Stages[]): string {
  const names = Object.keys(seen[0] ?? {});
  return names.map((name) => `${name} ${median(seen.map((stages) => stages[name]!)).toFixed(0)}`).join(", ");
}

export const startRows: readonly Row[] = [
  {
    name: "start",
    title: "process start to first result, caches filled",
    unit: "ms",
    better: "lower",
    targets: [{ atMost: 600 }],
    peers: { torch: "torch/start", jax: "jax/start" },
    run: (context) => starts(context, false),
  },
  {
    name: "start-cold",
    title: "process start to first result, caches empty",
    unit: "ms",
    better: "lower",
    run: (context) => starts(context, true),
  },
];
