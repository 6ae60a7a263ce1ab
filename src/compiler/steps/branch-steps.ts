/**
 * The steps of a choice between branches: the kernels of all branches are sent off, and each checks a flag in memory, so
 * that only those of the branch taken do anything. Nothing has to be read back to choose.
 */
import type { GraphFunction } from "../../graph/function.js";
import type { Node } from "../../graph/node.js";
import { KernelBuilder } from "../ir/kernel-builder.js";
import type { Slot, Step } from "../program/program.js";
import type { Assembly, SlotOf } from "./assembly.js";

/** Kernels for all branches; each runs only if the index is that of its branch. */
export function branchSteps<Code>(
  assembly: Assembly<Code>,
  node: Node,
  parts: readonly Node[],
  slotOf: SlotOf,
  inputOf: SlotOf,
): Step<Code>[] {
  const branches = node.params.branches as readonly GraphFunction[];
  const [index, ...inputs] = node.inputs.map(inputOf);
  const { flag, steps } = flagBehindGate(assembly, index, "i32", -1);
  const inner = branches.flatMap(({ parameters, results }, value) => {
    const wanted = parts.map(({ params }) => results[params.index as number]);
    return assembly.within({ flag, value }, () =>
      assembly.compileBody(assembly, parameters, wanted, inputs, (root) => slotOf(parts[root])),
    );
  });
  return [...steps, ...inner];
}

/** A scalar flag that says `otherwise` where the branch around it is not taken, so that nobody has computed it. */
export function flagBehindGate<Code>(
  assembly: Assembly<Code>,
  slot: Slot,
  dtype: "bool" | "i32",
  otherwise: boolean | number,
  target?: Slot,
): { readonly flag: Slot; readonly steps: Step<Code>[] } {
  const { gate } = assembly;
  if (!gate) return { flag: slot, steps: [] };
  const flag = target ?? assembly.make({ shape: [], dtype });
  const k = new KernelBuilder("gate", 1);
  const [outer, inner] = [k.buffer("i32", false), k.buffer(dtype, false)];
  const isOpen = k.compare("eq", k.load(outer, k.row, "i32"), k.constant("i32", gate.value));
  const value = k.select(isOpen, k.load(inner, k.row, dtype), k.constant(dtype, otherwise));
  k.store(k.buffer(target ? "i32" : dtype, true), k.row, target ? k.convert("i32", value) : value);
  const text = `out = where(a == ${gate.value}, b, ${otherwise})`;
  return { flag, steps: [assembly.ungated(k.finish(), [gate.flag, slot, flag], { text })] };
}

/** Writes 1 into a slot of i32, but 0 in a branch that is not taken. */
export function raiseFlag<Code>(assembly: Assembly<Code>, slot: Slot): Step<Code> {
  const { gate } = assembly;
  const k = new KernelBuilder("begin", 1);
  const outer = gate && k.compare("eq", k.load(k.buffer("i32", false), k.row, "i32"), k.constant("i32", gate.value));
  k.store(k.buffer("i32", true), k.row, outer ? k.convert("i32", outer) : k.constant("i32", 1));
  const text = gate ? `out = where(a == ${gate.value}, 1, 0)` : "out = 1";
  return assembly.ungated(k.finish(), gate ? [gate.flag, slot] : [slot], { text });
}
