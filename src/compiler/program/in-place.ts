/**
 * In-place updates: decides which results may overwrite an argument that the caller gives away. An optimiser's step then
 * needs no second copy of the parameters.
 *
 * A result may overwrite a leaf if the last kernel that reads the leaf writes the result, and each row of it reads only
 * elements that it writes itself. The kernel's code shows that: every load of the leaf has the index of one of the stores
 * and stands before all of them.
 */

import { bytesOf } from "../../core/bytes.js";
import { innerLists, type KernelOutline, type Statement, type Value } from "../ir/ir.js";
import { type Program, rootsOf, slotsIn } from "./program.js";

/** For each root the leaf whose memory it may take, or -1; no leaf is named twice. `leafBytes`: -1 for those not on offer. */
export function inPlaceOf(program: Program<unknown>, leafBytes: readonly number[]): number[] {
  const { steps, made } = program;
  /** The leaves still to be had, by size. */
  const onOffer = new Map<number, number[]>();
  leafBytes.forEach((bytes, leaf) => {
    const same = onOffer.get(bytes);
    if (same) same.push(leaf);
    else onOffer.set(bytes, [leaf]);
  });
  const lastRead = leafBytes.map(() => -1);
  /** The steps that touch each value. */
  const touching = made.map(() => new Set<number>());
  steps.forEach((step, position) => {
    for (const { from, index } of slotsIn(step)) {
      if (from === "leaf") lastRead[index] = position;
      else touching[index].add(position);
    }
  });
  return rootsOf(program).map((index) => {
    // Written once and read by nobody inside.
    if (touching[index].size !== 1) return -1;
    const [position] = touching[index];
    const step = steps[position];
    if (step.kind !== "kernel") return -1;
    const { kernel, slots } = step;
    const target = slots.findIndex((slot) => slot.from === "made" && slot.index === index);
    const leaves = onOffer.get(bytesOf(made[index])) ?? [];
    const found = leaves.findIndex((leaf) => {
      if (lastRead[leaf] > position) return false;
      if (lastRead[leaf] < position) return true;
      const readers = slots.flatMap((slot, i) => (slot.from === "leaf" && slot.index === leaf ? [i] : []));
      return (
        kernel.buffers[target].dtype === kernel.buffers[readers[0]].dtype &&
        isElementForElement(kernel, readers, target)
      );
    });
    return found < 0 ? -1 : leaves.splice(found, 1)[0];
  });
}

/** All loads of the leaf come before the stores, and have their indices; and no other row stores those elements. */
function isElementForElement(kernel: KernelOutline, readers: readonly number[], target: number): boolean {
  if (!kernel.body) return false;
  const loads: Value[] = [];
  const stores = new Set<Value>();
  let isPlain = true;
  const visit = (statements: readonly Statement[]) => {
    for (const statement of statements) {
      if (statement.kind === "let") {
        const { op, attribute, args } = statement.value;
        if (op !== "load" || !readers.includes(attribute as number)) continue;
        if (stores.size > 0) isPlain = false;
        loads.push(args[0]);
      } else if (statement.kind === "store") {
        if (statement.buffer === target) stores.add(statement.index);
      } else if (statement.kind === "loop" || statement.kind === "branch") {
        for (const list of innerLists(statement)) visit(list);
      } else isPlain = false;
    }
  };
  visit(kernel.body);
  return isPlain && !kernel.isRepeating && loads.every((index) => stores.has(index));
}
