/** Walks over the statements of kernels. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { innerLists, type Statement, usedBy, walkStatements } from "../../../src/compiler/ir/ir.js";
import { KernelBuilder } from "../../../src/compiler/ir/kernel-builder.js";

/** A loop with an accumulator, and in it a branch with a gated store. */
function nested() {
  const k = new KernelBuilder("nested", 4);
  const [source, target] = [k.buffer("f32", false), k.buffer("f32", true)];
  const zero = k.constant("f32", 0);
  const [sum] = k.loop(3, [zero], (at, [total]) => {
    const x = k.load(source, k.binary("add", k.row, at), "f32");
    const isLarge = k.compare("gt", x, zero);
    k.when(isLarge, () => {
      k.store(target, at, x, true, isLarge);
      return [];
    });
    return [k.binary("add", total!, x)];
  });
  k.store(target, k.row, sum!);
  return k.finish();
}

test("a walk visits statements inside loops and branches, each once", () => {
  const kinds: string[] = [];
  walkStatements(nested().body, ({ kind }) => kinds.push(kind));
  assert.deepEqual(kinds.toSorted(), ["branch", "let", "let", "let", "let", "loop", "store", "store"]);
});

test("the size of a kernel counts all of them", () => {
  assert.equal(nested().size, 8);
});

test("a statement uses its own operands, not those of the statements inside it", () => {
  const { body } = nested();
  const loop = body.find(({ kind }) => kind === "loop") as Statement;
  const opsUsedBy = (statement: Statement) => usedBy(statement).map(({ op }) => op);
  assert.deepEqual(opsUsedBy(loop).toSorted(), ["add", "constant"]);
  const branch = innerLists(loop)
    .flat()
    .find(({ kind }) => kind === "branch") as Statement;
  assert.deepEqual(opsUsedBy(branch), ["gt"]);
  const [store] = innerLists(branch).flat();
  assert.deepEqual(opsUsedBy(store!).toSorted(), ["gt", "index", "load"]);
});
