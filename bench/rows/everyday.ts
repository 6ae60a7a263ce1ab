/**
 * Programs as people write them (bench/everyday) against the same by someone who puts in jit, realize and dispose: how many
 * times as long they take, compiling included. Every sample is two new processes.
 */
import { everydayPrograms } from "../everyday/index.js";
import { type Context, repeat } from "../harness.js";
import { runProgram } from "../programs.js";
import type { Row } from "../row.js";
import { median } from "../statistics.js";

/** What first-everyday.ts prints. */
interface Ran {
  readonly ms: number;
  readonly busy: number;
  readonly compiled: number;
  readonly result: number;
}

const ratio = (name: string) => async (context: Context) => {
  const seen: { readonly plain: Ran; readonly expert: Ran }[] = [];
  const run = (way: string) => runProgram<Ran>("first-everyday", [context.tensors, name, way], process.env);
  const samples = await repeat(context.isQuick ? 1 : 5, async () => {
    const [plain, expert] = [await run("plain"), await run("expert")];
    if (!(Math.abs(plain.result - expert.result) <= 1e-3 * Math.abs(expert.result) + 1e-6)) {
      throw new Error(`${name}: ${plain.result}, and ${expert.result} by the expert.`);
    }
    seen.push({ plain, expert });
    return plain.ms / expert.ms;
  });
  const middle = (of: (one: (typeof seen)[number]) => number, digits = 0) =>
    median(seen.slice(1).map(of)).toFixed(digits);
  const [{ plain, expert }] = seen as [(typeof seen)[number]];
  // Other programs on the machine lengthen the clock's time, and V8's own threads do where there are few cores.
  context.note(
    `${middle((one) => one.plain.ms)} ms with ${plain.compiled} programs, ${middle((one) => one.expert.ms)} with ${expert.compiled}; ` +
      `${middle((one) => one.plain.busy / one.expert.busy, 2)}× by the main thread's time`,
  );
  return samples;
};

export const everydayRows: readonly Row[] = everydayPrograms.flatMap(({ name, title }) => {
  const row = { unit: "×", better: "lower", targets: [{ atMost: 2 }], run: ratio(name) } as const;
  return [
    { ...row, name: `everyday-${name}`, title },
    { ...row, name: `cpu-everyday-${name}`, title: `${title}; on the CPU engine`, place: "cpu" },
  ];
});
