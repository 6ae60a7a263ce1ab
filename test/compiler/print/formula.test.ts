/** Formulas of groups as people read them: names, precedence, shared parts, and what is cut short. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { lowerGroup } from "../../../src/compiler/lower/lower-group.js";
import { bufferNames, describeGroup } from "../../../src/compiler/print/formula.js";
import { schedule } from "../../../src/compiler/schedule/schedule.js";
import { gpuProfile } from "../../../src/compiler/target/profile.js";
import type { Node } from "../../../src/graph/node.js";
import * as E from "../../../src/graph/primitives/elementwise.js";
import * as M from "../../../src/graph/primitives/movement.js";
import * as R from "../../../src/graph/primitives/reduce.js";
import { make, stored } from "../../support/nodes.js";

/** The formula of a graph that is one kernel. */
function formulaOf(root: Node): string {
  const [task, ...others] = schedule([root], gpuProfile);
  assert.ok(task?.kind === "group" && others.length === 0, "one kernel");
  const { kernel, buffers } = lowerGroup(task.group, "test", { division: "native" });
  return describeGroup(task.group, buffers, kernel.buffers);
}

const [a, b, c] = [stored(4, 6), stored(4, 6), stored(4, 6)];

describe("formulas", () => {
  test("operators have brackets only where they are needed", () => {
    const sum = make(E.add, [a, b]);
    assert.equal(formulaOf(make(E.mul, [sum, c])), "out[i, j] = (a[i, j] + b[i, j]) * c[i, j]");
    assert.equal(formulaOf(make(E.add, [make(E.mul, [a, b]), c])), "out[i, j] = a[i, j] * b[i, j] + c[i, j]");
    assert.equal(formulaOf(make(E.sub, [a, make(E.sub, [b, c])])), "out[i, j] = a[i, j] - (b[i, j] - c[i, j])");
  });

  test("movement shows in the indices", () => {
    assert.equal(formulaOf(make(E.exp, [make(M.permute, [a], { axes: [1, 0] })])), "out[i, j] = exp(a[j, i])");
    const every = make(M.slice, [a], { start: [0, 1], step: [1, 2], shape: [4, 3] });
    assert.equal(formulaOf(make(E.exp, [every])), "out[i, j] = exp(a[i, 2*j + 1])");
  });

  test("a reduction counts with the next letter, and reaches to the end of the line", () => {
    const product = make(E.mul, [a, b]);
    assert.equal(formulaOf(make(R.sum, [product], { axes: [1] })), "out[i] = sum over j < 6 of a[i, j] * b[i, j]");
  });

  test("a part that is used twice gets a name, if it is long enough to be worth one", () => {
    const part = make(E.tanh, [make(E.add, [a, b])]);
    assert.deepEqual(formulaOf(make(E.div, [part, make(E.exp, [part])])).split("\n"), [
      "t1 = tanh(a[i, j] + b[i, j])",
      "out[i, j] = t1 / exp(t1)",
    ]);
    assert.equal(formulaOf(make(E.mul, [a, a])), "out[i, j] = a[i, j] * a[i, j]");
  });
});

test("buffers are named in order: those read a, b, c …, the one written out, several of them numbered", () => {
  const parameters = (...written: boolean[]) => written.map((isWritten) => ({ isWritten }));
  assert.deepEqual(bufferNames(parameters(false, true, false)), ["a", "out", "b"]);
  assert.deepEqual(bufferNames(parameters(false, true, true)), ["a", "out0", "out1"]);
});
