/**
 * `PUMICE_DEBUG` prints decisions, compiled code and commands to standard error. Its value lists topics, separated by commas:
 * `PUMICE_DEBUG=1,graph,loops`.
 *
 * - 1: devices, caches and memory blocks; 2: also pipelines and submissions; 3: also every command;
 * - graph, kernels: the operations of every program that is compiled, and the kernels they become, as `explain` shows them;
 * - loops, spirv, wasm: the loops of every kernel that is compiled, and its code for the GPU or the CPU;
 * - statistics: registers, spills and shared memory of every pipeline, where the driver tells.
 */
import { KERNEL_LANGUAGES } from "../core/encoded-kernel.js";
import { keepInnerFrames } from "../core/errors.js";

const TOPICS = ["graph", "kernels", "loops", ...KERNEL_LANGUAGES, "statistics"] as const;

type DebugTopic = (typeof TOPICS)[number];

const words = (process.env.PUMICE_DEBUG ?? "")
  .split(",")
  .map((word) => word.trim())
  .filter((word) => word !== "");
const topics = new Set(words);
const level = Math.max(0, ...words.map(Number).filter(Number.isInteger));

if (process.env.PUMICE_DEBUG) keepInnerFrames();

const print = (text: string) => process.stderr.write(`pumice: ${text}\n`);

for (const word of words) {
  if (Number.isInteger(Number(word)) || (TOPICS as readonly string[]).includes(word)) continue;
  print(`PUMICE_DEBUG: there is no "${word}"; it takes 1, 2 or 3 and the words ${TOPICS.join(", ")}.`);
}

export const debugLevel = level;

/** Whether compiled programs are printed. Then every program is compiled, and none is read from disk. */
export const showsPrograms = TOPICS.some((topic) => topics.has(topic));

export function debug(at: 1 | 2 | 3, message: () => string): void {
  if (level >= at) print(message());
}

/** Whether the driver is asked what it made of each pipeline. */
export const showsStatistics = topics.has("statistics");

interface DelayedText {
  readonly topic: DebugTopic;
  readonly text: string;
}

/** Texts of the program that is being compiled; they are printed when it is complete. */
let delayedTexts: DelayedText[] | null = null;

/** Prints a compiled graph, kernel or module: a title, and the text below it. */
export function debugText(topic: DebugTopic, title: string, text: () => string): void {
  if (!topics.has(topic)) return;
  const whole = `${topic} of ${title}\n${text()}`;
  if (delayedTexts) delayedTexts.push({ topic, text: whole });
  else print(whole);
}

/**
 * Holds the texts of a program that is being compiled. The function it returns prints them in reading order: the graph and
 * the kernels before their loops and code.
 */
export function holdTexts(): () => void {
  if (!showsPrograms || delayedTexts) return () => {};
  const texts: DelayedText[] = [];
  delayedTexts = texts;
  return () => {
    delayedTexts = null;
    for (const topic of TOPICS) for (const each of texts) if (each.topic === topic) print(each.text);
  };
}
