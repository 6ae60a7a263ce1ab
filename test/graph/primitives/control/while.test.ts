/** A loop that runs while a condition holds: values, forward derivatives, and batches whose members end at their own time. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { UnsupportedError } from "../../../../src/core/errors.js";
import { GraphFunction, makePlaceholder } from "../../../../src/graph/function.js";
import type { Node } from "../../../../src/graph/node.js";
import { whileNode } from "../../../../src/graph/primitives/control/while.js";
import { g } from "../../../../src/graph/vocabulary.js";
import { backendFor } from "../../../../src/tensor/index.js";
import { checkBatches, given, input, numbers, valuesOf } from "../../../support/node-rules.js";

const placeholder = (...shape: number[]) => makePlaceholder({ shape, dtype: "f64", device: backendFor("cpu") });

/** While c < 10: c → a c + 1, d → d c. */
function loop(...inputs: Node[]): Node[] {
  const [a, c, d] = [placeholder(), placeholder(), placeholder(2)];
  const wide = g.broadcast(g.reshape(c, [1]), [2]);
  const body = new GraphFunction([a, c, d], [g.add(g.mul(a, c), 1), g.mul(d, wide)]);
  const test_ = new GraphFunction([a, c, d], [g.less(c, 10)]);
  return whileNode(inputs, { test: test_, body, constants: 1, maxRounds: 100 });
}

function plainLoop(a: number, c: number, d: readonly number[]): [number, number[]] {
  let [now, list] = [c, [...d]];
  while (now < 10) [now, list] = [a * now + 1, list.map((x) => x * now)];
  return [now, list];
}

const inputs = [input([], [1.5]), input([], [0.8]), input([2], [1, -2])];

test("it is the loop, and runs not at all where the condition fails at once", () => {
  const [c, d] = valuesOf(loop, inputs);
  const [wantC, wantD] = plainLoop(1.5, 0.8, [1, -2]);
  assert.ok(Math.abs(c![0]! - wantC) < 1e-12);
  assert.ok(d!.every((x, i) => Math.abs(x - wantD[i]!) < 1e-9));
  assert.deepEqual(valuesOf(loop, [inputs[0]!, input([], [11]), inputs[2]!]), [[11], [1, -2]]);
});

test("forward derivatives are those of the rounds it takes", () => {
  const nodes = inputs.map(given);
  const tangents = [input([], [0.3]), input([], [-1]), input([2], [2, 0.5])];
  const made = g.pushForward(loop(...nodes), nodes, tangents.map(given)).map((t) => numbers(t!));
  const step = 1e-6;
  const at = (by: number) => {
    const [a, c, d] = inputs.map(({ values }, i) => values.map((x, k) => x + by * tangents[i]!.values[k]!));
    return plainLoop(a![0]!, c![0]!, d!);
  };
  const [up, down] = [at(step), at(-step)];
  const quotients = [[up[0] - down[0]], up[1].map((x, i) => x - down[1][i]!)].map((list) =>
    list.map((x) => x / (2 * step)),
  );
  made.forEach((list, part) => {
    list.forEach((t, i) => {
      assert.ok(Math.abs(t - quotients[part]![i]!) < 1e-5 * (1 + Math.abs(t)));
    });
  });
});

test("there is no reverse derivative, and the error names what there is", () => {
  const nodes = inputs.map(given);
  const [last] = loop(...nodes);
  assert.throws(
    () => g.pullBack([last!], [given(input([], [1]))], nodes),
    (error: Error) => error instanceof UnsupportedError && /scan or forLoop/.test(error.message),
  );
});

test("members of a batch end at their own time and keep their values from then on", () => {
  checkBatches(loop, inputs, (each, m) => ({ ...each, values: each.values.map((x) => x * (1 + 2 * m)) }));
});
