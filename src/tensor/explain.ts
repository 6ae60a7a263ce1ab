/** What a value would run as: `console.log(explain(x))`. */

import { printKernel } from "../compiler/ir.js";
import { type KernelStep, kernelsOf, type Program, type Step } from "../compiler/program.js";
import { checkOptions } from "../core/arguments.js";
import { bytesOf } from "../core/bytes.js";
import { formatShape } from "../core/shape.js";
import { backendOf } from "./build.js";
import { checkTensor, type Tensor } from "./tensor.js";

/** The kernels that computing a tensor would run, with the memory each moves. `{ verbose: true }` shows their loops. */
export function explain(x: Tensor, options: { readonly verbose?: boolean } = {}): string {
  checkOptions("explain", options, { verbose: "flag" });
  checkTensor("explain", "the argument", x);
  const { node } = x;
  if (node.storage) return `${x.toString()} is computed already: nothing would run.`;
  const program = backendOf(node).plan([node]);
  const { length } = kernelsOf(program.steps);
  const count = length === 1 ? "1 kernel" : `${length} kernels`;
  return [`${x.toString()} on ${x.device}: ${count}`, printProgram(program, options)].join("\n");
}

/** A line per kernel: what it computes, how it is laid out, what it reads and writes. Loops are indented. */
export function printProgram(program: Program<unknown>, options: { readonly verbose?: boolean } = {}): string {
  let count = 0;
  const print = (steps: readonly Step<unknown>[], indent: string): string[] =>
    steps.flatMap((step) => {
      if (step.kind === "loop") return [`${indent}${step.count} times:`, ...print(step.steps, `${indent}   `)];
      if (step.kind === "while") {
        return [
          `${indent}test:`,
          ...print(step.test, `${indent}   `),
          `${indent}while it holds:`,
          ...print(step.steps, `${indent}   `),
          ...print(step.finish, indent),
        ];
      }
      return [`${indent}${++count}. ${printStep(program, step, options)}`];
    });
  return print(program.steps, "").join("\n");
}

function printStep(
  { made, leaves }: Program<unknown>,
  { kernel, slots }: KernelStep<unknown>,
  options: { readonly verbose?: boolean },
): string {
  const buffers = kernel.buffers.map(({ dtype, isWritten }, i) => {
    const { from, index, moves } = slots[i];
    const value = from === "made" ? made[index] : leaves[index];
    // Inside a loop a slot is a part of the value.
    const isWhole = moves === undefined;
    return {
      value,
      isWhole,
      isWritten,
      text: isWhole ? `${dtype}${formatShape(value.shape)}` : `a part of ${dtype}${formatShape(value.shape)}`,
    };
  });
  const list = (isWritten: boolean) =>
    buffers.flatMap((buffer) => (buffer.isWritten === isWritten ? [buffer.text] : [])).join(", ") || "nothing";
  const bytes = buffers.reduce((sum, { value, isWhole }) => sum + (isWhole ? bytesOf(value) : 0), 0);
  const how = kernel.lanes > 1 ? `${kernel.rows} rows of ${kernel.lanes} lanes` : `${kernel.rows} rows`;
  const head = `${kernel.name}: ${how}, ${kernel.size} values; reads ${list(false)}; writes ${list(true)}; ${formatBytes(bytes)}`;
  return options.verbose ? `${head}\n${printKernel(kernel)}` : head;
}

function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const units = ["KiB", "MiB", "GiB"];
  let value = bytes / 1024;
  let unit = 0;
  for (; value >= 1024 && unit < units.length - 1; unit++) value /= 1024;
  return `${value.toFixed(1)} ${units[unit]}`;
}
