/** Routines of the same shapes and parameters share their kernels; others do not. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { compile } from "../../../src/compiler/compile.js";
import { wasmTarget } from "../../../src/compiler/emit/wasm/target.js";
import { kernelsOf } from "../../../src/compiler/program/program.js";
import type { Node } from "../../../src/graph/node.js";
import { cumulate } from "../../../src/graph/primitives/cumulate.js";
import * as E from "../../../src/graph/primitives/elementwise.js";
import { make, stored } from "../../support/nodes.js";

/** How many kernels run, and how many different ones. */
function countKernels(
  roots: readonly Node[],
  leaves: readonly Node[],
): { readonly runs: number; readonly emitted: number } {
  let emitted = 0;
  const program = compile(roots, leaves, wasmTarget(2), () => ++emitted);
  return { runs: kernelsOf(program.steps).length, emitted };
}

const running = (
  x: Node,
  params: { readonly op?: string; readonly axis?: number; readonly isReverse?: boolean } = {},
) => make(cumulate, [x], { op: "sum", axis: 1, isReverse: false, isExclusive: false, ...params });

test("ten running sums one after another have the kernels of one", () => {
  const leaf = stored(8, 8);
  let x: Node = leaf;
  for (let i = 0; i < 10; i++) x = make(E.neg, [running(x)]);
  const once = countKernels([make(E.neg, [running(leaf)])], [leaf]);
  const often = countKernels([x], [leaf]);
  assert.equal(often.emitted, once.emitted);
  assert.equal(often.runs, 10 * once.runs);
});

test("running sums of other shapes, axes and directions have kernels of their own", () => {
  const leaves = [stored(8, 8), stored(8, 9)] as const;
  const one = countKernels([running(leaves[0])], leaves).emitted;
  for (const other of [running(leaves[1]), running(leaves[0], { axis: 0 }), running(leaves[0], { isReverse: true })]) {
    assert.ok(countKernels([running(leaves[0]), other], leaves).emitted > one);
  }
});
