/** Programs of the benchmarks that a row starts in a process of their own, to measure what a user waits for in a new one. */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

/** What a program beside this file prints: one line of JSON. */
export function runProgram<T>(name: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<T> {
  const path = fileURLToPath(new URL(`./${name}.js`, import.meta.url));
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [path, ...args], { env, stdio: ["ignore", "pipe", "inherit"] });
    let line = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      line += text;
    });
    child.on("error", reject).on("close", (code) => {
      if (code === 0) resolve(JSON.parse(line) as T);
      else reject(new Error(`${name} ended with ${code}: ${line}`));
    });
  });
}
