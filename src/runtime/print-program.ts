/** A compiled program as text: its kernels with what they compute and move. For `explain`, `lower` and `PUMICE_DEBUG`. */
import { bufferNames } from "../compiler/print/formula.js";
import { printKernel } from "../compiler/print/print-kernel.js";
import type { KernelStep, Program, Step } from "../compiler/program/program.js";
import { bytesOf } from "../core/bytes.js";
import { formatShape } from "../core/shape.js";

export interface PrintOptions {
  /** Also the loops of each kernel. */
  readonly verbose?: boolean;
}

type MappingOf<Code> = (step: KernelStep<Code>) => string;

/** The kernels, numbered; loops are indented. `mappingOf` says how the device runs one. */
export function printProgram<Code>(
  program: Program<Code>,
  mappingOf: MappingOf<Code>,
  options: PrintOptions = {},
): string {
  let count = 0;
  const print = (steps: readonly Step<Code>[], indent: string): string[] => {
    const lines: string[] = [];
    for (const [position, step] of steps.entries()) {
      if (step.kind === "loop") lines.push(`${indent}${step.count} times:`, ...print(step.steps, `${indent}   `));
      else if (step.kind === "while") {
        lines.push(
          `${indent}test:`,
          ...print(step.test, `${indent}   `),
          `${indent}while it holds:`,
          ...print(step.steps, `${indent}   `),
          ...print(step.finish, indent),
        );
      } else {
        count++;
        // Routines run one kernel many times in a row.
        if (isSameKernel(step, steps[position - 1])) continue;
        let last = position;
        while (isSameKernel(step, steps[last + 1])) last++;
        const numbers = last === position ? `${count}` : `${count} to ${count + last - position}`;
        const [head, ...rest] = printStep(program, step, mappingOf, options);
        lines.push(`${indent}${numbers}. ${head}`, ...rest.map((line) => `${indent}   ${line}`));
      }
    }
    return lines;
  };
  return print(program.steps, "").join("\n");
}

const isSameKernel = (step: KernelStep<unknown>, other?: Step<unknown>): boolean =>
  other?.kind === "kernel" && other.kernel === step.kernel && other.formula.text === step.formula.text;

function printStep<Code>(
  { made, leaves }: Program<Code>,
  step: KernelStep<Code>,
  mappingOf: MappingOf<Code>,
  options: PrintOptions,
): string[] {
  const { kernel, slots } = step;
  const { text: formula } = step.formula;
  const names = bufferNames(kernel.buffers);
  const buffers = kernel.buffers.map(({ dtype, isWritten }, i) => {
    const { from, index, moves } = slots[i];
    const value = from === "made" ? made[index] : leaves[index];
    // Inside a loop a slot is a part of the value.
    const text = `${dtype}${formatShape(value.shape)}`;
    return { isWritten, text: `${names[i]} ${moves ? `a part of ${text}` : text}`, bytes: moves ? 0 : bytesOf(value) };
  });
  const list = (isWritten: boolean) =>
    buffers.flatMap((buffer) => (buffer.isWritten === isWritten ? [buffer.text] : [])).join(", ") || "nothing";
  const bytes = (isWritten: boolean) =>
    formatBytes(buffers.reduce((sum, buffer) => sum + (buffer.isWritten === isWritten ? buffer.bytes : 0), 0));
  const how = kernel.lanes > 1 ? `${kernel.rows} rows of ${kernel.lanes} lanes` : `${kernel.rows} rows`;
  return [
    `${kernel.name}: ${how}, ${kernel.size} values; reads ${list(false)}; writes ${list(true)}; ` +
      `${bytes(false)} read, ${bytes(true)} written`,
    ...(formula ? formula.split("\n") : []),
    ...(kernel.gate ? [`does nothing unless ${names[kernel.gate.buffer]} is ${kernel.gate.value}`] : []),
    kernel.rows > 0 ? mappingOf(step) : "not run: there is nothing to compute",
    ...(options.verbose ? printKernel(kernel).split("\n") : []),
  ];
}

function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const units = ["KiB", "MiB", "GiB"];
  let value = bytes / 1024;
  let unit = 0;
  for (; value >= 1024 && unit < units.length - 1; unit++) value /= 1024;
  return `${value.toFixed(1)} ${units[unit]}`;
}
