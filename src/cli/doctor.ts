/** `pumice doctor`: checks the machine and prints problems with their remedies. */
import type { Command } from "./command.js";
import { diagnose, type Finding, type Level, verdict } from "./diagnosis.js";
import { gatherFacts } from "./facts.js";
import { type Colour, type Terminal, toJson, wrap } from "./terminal.js";

const marks: Readonly<Record<Level, { mark: string; colour: Colour }>> = {
  ok: { mark: "✓", colour: "green" },
  info: { mark: "·", colour: "dim" },
  warning: { mark: "!", colour: "yellow" },
  problem: { mark: "✗", colour: "red" },
};

export const doctor: Command = {
  name: "doctor",
  summary: "finds what keeps Pumice from using the GPU, and says what to do about it",
  usage: "[--json]",
  switches: { json: "the findings and the facts behind them, as JSON" },
  help: `
Looks at Node, koffi, the Vulkan loader, the driver manifests and their libraries, the GPU's device files, NVIDIA's driver
in containers, each device (with a small computation on it) and the cache folder. It changes nothing.

✓ is as it should be, ! deserves a look, ✗ keeps something from working; → says what to do.

Exit code: 0 when some Vulkan device can be used, also a software one; 1 when there is none.`,

  async run(given, terminal) {
    const facts = await gatherFacts();
    const findings = diagnose(facts);
    const { ok, text } = verdict(facts);
    if (given.has("json")) terminal.print(toJson({ ok, verdict: text, findings, facts }));
    else {
      for (const finding of findings) printFinding(finding, terminal);
      terminal.print();
      for (const line of wrap(text, terminal.width)) terminal.print(line);
    }
    return ok ? 0 : 1;
  },
};

function printFinding({ level, text, details, remedies }: Finding, terminal: Terminal): void {
  const { mark, colour } = marks[level];
  const print = (first: string, body: string, paint: (line: string) => string) => {
    wrap(body, terminal.width - first.length).forEach((line, i) => {
      terminal.print(`${i === 0 ? first : " ".repeat(first.length)}${paint(line)}`);
    });
  };
  const [head = "", ...rest] = wrap(text, terminal.width - 2);
  terminal.print(`${terminal.paint(colour, mark)} ${head}`);
  for (const line of rest) terminal.print(`  ${line}`);
  for (const detail of details) print("    ", detail, (line) => terminal.paint("dim", line));
  for (const remedy of remedies) print("  → ", remedy, (line) => line);
}
