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

/** Programs of tiny tensors that also run for long, where compiling is a small part: their rounds by engine. */
const LONG: readonly string[] = ["rotation", "interest", "kalman", "metropolis", "rnn", "heat"];
const LONG_ROUNDS = { gpu: 3000, cpu: 30_000 } as const;

/** `rounds`: those of the program unless told. */
const ratio = (name: string, rounds?: number) => async (context: Context) => {
  const seen: { readonly plain: Ran; readonly expert: Ran }[] = [];
  const run = (way: string) =>
    runProgram<Ran>("first-everyday", [context.tensors, name, way, ...(rounds ? [String(rounds)] : [])], process.env);
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
  const row = { unit: "×", better: "lower", targets: [{ atMost: 2 }] } as const;
  const short: readonly Row[] = [
    { ...row, name: `everyday-${name}`, title, run: ratio(name) },
    { ...row, name: `cpu-everyday-${name}`, title: `${title}; on the CPU engine`, place: "cpu", run: ratio(name) },
  ];
  if (!LONG.includes(name)) return short;
  const long = (rounds: number) => ({ ...row, title: `${title}; ${rounds} rounds`, run: ratio(name, rounds) });
  return [
    ...short,
    { ...long(LONG_ROUNDS.gpu), name: `everyday-long-${name}` },
    { ...long(LONG_ROUNDS.cpu), name: `cpu-everyday-long-${name}`, place: "cpu" },
  ];
});
