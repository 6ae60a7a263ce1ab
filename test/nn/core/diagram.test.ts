/** Diagrams: one box for each layer, boxes around models, and arrows along which values go. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Tensor } from "../../../src/index.js";
import {
  activations,
  add,
  block,
  dense,
  diagram,
  dropout,
  embedding,
  type Layer,
  sequential,
  transformerEncoder,
} from "../../../src/nn/index.js";

/** Arrows by the labels of their boxes. */
function arrowsOf(text: string): string[] {
  const labels = new Map(
    [...text.matchAll(/(n\d+)\(?\[?"([^"]*?)<br\/>/g)].map(([, id, label]) => [id as string, label as string]),
  );
  return [...text.matchAll(/(n\d+) --> (n\d+)/g)].map(
    ([, from, to]) => `${labels.get(from as string)} > ${labels.get(to as string)}`,
  );
}

test("a sequence is a chain, with shapes", () => {
  const model = sequential({ body: sequential(dense(8), activations.relu), drop: dropout(0.5), head: dense(2) });
  assert.equal(
    diagram(model, [null, 4]),
    [
      "flowchart TD",
      '  n0(["input<br/>[1, 4]"])',
      '  subgraph g0["body: sequential"]',
      '    n1["dense0<br/>[1, 8]"]',
      '    n2["relu0<br/>[1, 8]"]',
      "  end",
      '  n3["drop: dropout<br/>[1, 8]"]',
      '  n4["head: dense<br/>[1, 2]"]',
      '  n5(["output<br/>[1, 2]"])',
      "  n0 --> n1",
      "  n1 --> n2",
      "  n2 --> n3",
      "  n3 --> n4",
      "  n4 --> n5",
    ].join("\n"),
  );
});

test("residuals, several inputs and outputs, and layers that are called twice show as they are", () => {
  const model = block(
    { turn: dense(4), look: embedding(9, 4), sum: add() },
    ({ turn, look, sum }, { x, ids }: { x: Tensor; ids: Tensor }) => {
      const h = activations.relu(turn(turn(x))).add(x);
      return [sum([h, look(ids)] as never), h];
    },
  );
  const text = diagram(model as never, { x: [null, 4], ids: { shape: [null], dtype: "i32" } });
  assert.deepEqual(arrowsOf(text).sort(), [
    "add > output",
    "add > sum: add",
    "input > add",
    "input > look: embedding",
    "input > turn: dense",
    "look: embedding > sum: add",
    "relu > add",
    "sum: add > output",
    "turn: dense > relu",
    "turn: dense > turn: dense",
  ]);
  assert.match(text, /output<br\/>\[1, 4\] \[1, 4\]/);
});

test("names cannot end a label, and a single layer is a diagram", () => {
  const text = diagram(sequential({ 'a"<b>': dense(2) }), [null, 3]);
  assert.match(text, /n1\["a#34;#60;b#62;: dense<br\/>/);
  assert.deepEqual(arrowsOf(diagram(dense(2), [null, 3])), ["input > dense", "dense > output"]);
});

test("what the function of a block does by itself shows as round boxes inside the block, chains of it as one", () => {
  const residual = block({ inner: sequential(dense(4), activations.tanh) as Layer }, ({ inner }, x: Tensor) =>
    inner(x.mul(2).exp()).add(x),
  );
  const model = sequential({ first: residual, last: dense(2) });
  assert.equal(
    diagram(model, [null, 4]),
    [
      "flowchart TD",
      '  n0(["input<br/>[1, 4]"])',
      '  subgraph g0["first: block"]',
      '    n2("mul, exp<br/>[1, 4]")',
      '    subgraph g1["inner: sequential"]',
      '      n3["dense0<br/>[1, 4]"]',
      '      n4["tanh0<br/>[1, 4]"]',
      "    end",
      '    n5("add<br/>[1, 4]")',
      "  end",
      '  n6["last: dense<br/>[1, 2]"]',
      '  n7(["output<br/>[1, 2]"])',
      "  n0 --> n2",
      "  n2 --> n3",
      "  n3 --> n4",
      "  n4 --> n5",
      "  n0 --> n5",
      "  n5 --> n6",
      "  n6 --> n7",
    ].join("\n"),
  );
});

test("the residuals of a transformer show", () => {
  const model = transformerEncoder(8, { heads: 2, layers: 2 });
  const text = diagram(model as never, [null, 5, 8]);
  // Each block adds what attention gives, and what the layers behind it give.
  assert.equal(text.match(/\("add<br\/>\[1, 5, 8\]"\)/g)?.length, 4, text);
});
