/**
 * Programs in processes of their own: for what may crash, for environment variables read at start, for two processes at
 * once. The program is text; "SRC/" in it stands for the compiled sources.
 */
import { type ChildProcess, spawn } from "node:child_process";

const sources = new URL("../../src/", import.meta.url).href;

export interface RunNodeOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly args?: readonly string[];
  readonly timeoutMs?: number;
  /** Called with the process once it runs: to kill it. */
  readonly onStart?: (child: ChildProcess) => void;
}

export interface Ended {
  /** Exit code, or the name of the signal that ended it. */
  readonly code: number | string;
  /** What it printed to both streams. */
  readonly output: string;
}

export const programText = (text: string): string => text.replaceAll("SRC/", sources);

export function runNode(text: string, options: RunNodeOptions = {}): Promise<Ended> {
  const { NODE_TEST_CONTEXT: _, NODE_OPTIONS: __, ...env } = process.env;
  return new Promise((resolve, reject) => {
    const child = spawn(
      process.execPath,
      [...(options.args ?? []), "--input-type=module", "--eval", programText(text)],
      { env: { ...env, ...options.env }, stdio: ["ignore", "pipe", "pipe"], timeout: options.timeoutMs ?? 60_000 },
    );
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8");
      stream.on("data", (chunk: string) => {
        output += chunk;
      });
    }
    child.on("error", reject);
    child.on("close", (code, signal) => resolve({ code: code ?? signal ?? "?", output }));
    options.onStart?.(child);
  });
}
