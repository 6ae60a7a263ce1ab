/** Diagrams: one box for each layer, boxes around models, and arrows along which values go. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Tensor } from "../../../src/index.js";
import {
  activations,
  add,
  block,
  concatenate,
  cond,
  conv,
  dense,
  diagram,
  dropout,
  embedding,
  type Layer,
  sequential,
  transformerDecoder,
  transformerEncoder,
} from "../../../src/nn/index.js";

/**
 * The text, if every line is one of the forms that Mermaid's grammar has for a flowchart, labels hold nothing that it would read otherwise,
 * boxes have ids of their own, models end where they begin, and arrows lead from box to box.
 */
function checked(text: string): string {
  const [head, ...lines] = text.split("\n");
  assert.equal(head, "flowchart TD");
  const label = '"(?:[^"#<>&`\\p{Cc}]|#\\d+;|<br/>)+"';
  const box = new RegExp(`^ *(n\\d+)(?:\\[${label}\\]|\\(${label}\\)|\\(\\[${label}\\]\\))$`, "u");
  const begin = new RegExp(`^ *subgraph (g\\d+)\\[${label}\\]$`, "u");
  const [ids, depth] = [new Set<string>(), { now: 0 }];
  for (const line of lines) {
    const id = (box.exec(line) ?? begin.exec(line))?.[1];
    const arrow = /^ {2}(n\d+) --> (n\d+)$/.exec(line);
    if (id !== undefined) {
      assert.ok(!ids.has(id), line);
      ids.add(id);
      if (id.startsWith("g")) depth.now++;
    } else if (arrow) assert.ok(depth.now === 0 && ids.has(arrow[1]!) && ids.has(arrow[2]!), line);
    else {
      assert.match(line, /^ *end$/);
      assert.ok(--depth.now >= 0);
    }
  }
  assert.equal(depth.now, 0);
  return text;
}

/** The boxes directly inside a model, in their order, by labels. */
function boxesIn(text: string, title: string): string[] {
  const lines = text.split("\n");
  const at = lines.findIndex((line) => line.includes(`["${title}"]`) && line.includes("subgraph"));
  const indent = /^ */.exec(lines[at]!)![0];
  const end = lines.findIndex((line, i) => i > at && line === `${indent}end`);
  const inside = lines.slice(at + 1, end).filter((line) => line.startsWith(`${indent}  n`));
  return inside.map((line) => /"([^"]*?)<br/.exec(line)![1]!);
}

/** Arrows by the labels of their boxes. */
function arrowsOf(text: string): string[] {
  const labels = new Map(
    [...checked(text).matchAll(/(n\d+)\(?\[?"([^"]*?)<br\/>/g)].map(([, id, label]) => [id as string, label as string]),
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
    "add > output [1]",
    "add > sum: add",
    "input ids > look: embedding",
    "input x > add",
    "input x > turn: dense",
    "look: embedding > sum: add",
    "relu > add",
    "sum: add > output [0]",
    "turn: dense > relu",
    "turn: dense > turn: dense",
  ]);
  assert.match(text, /"output \[1\]<br\/>\[1, 4\]"/);
});

test("names cannot end a label, and a single layer is a diagram", () => {
  const text = diagram(sequential({ 'a"<b>': dense(2) }), [null, 3]);
  assert.match(text, /n1\["a#34;#60;b#62;: dense<br\/>/);
  assert.deepEqual(arrowsOf(diagram(dense(2), [null, 3])), ["input > dense", "dense > output"]);
  // Whatever a name may hold: what ends a string, what begins Markdown, a word of Mermaid's, what this file joins names by.
  const names = ["`a`", "a<b", "end", "(input)", "n0", "add(operation)3", "#quot;", "x\\"];
  const odd = sequential(Object.fromEntries(names.map((name) => [name, sequential({ [name]: dense(2) })])));
  const arrows = arrowsOf(diagram(odd, [null, 3]));
  assert.equal(arrows.length, names.length + 1);
  assert.equal(arrows[1], "#96;a#96;: dense > a#60;b: dense");
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

test("a residual network: each block holds its own sum, which reads what the block was given", () => {
  const convolution = (name: string) => ({ [name]: conv(4, 3, { padding: "same" }) });
  const residual = () =>
    block(
      { body: sequential({ ...convolution("c"), act: activations.relu, ...convolution("d") }) as Layer },
      ({ body }, x: Tensor) => body(x).add(x).relu(),
    );
  const model = sequential({
    ...convolution("stem"),
    one: residual(),
    two: residual(),
    three: residual(),
    head: dense(3),
  });
  const text = diagram(model, [null, 3, 8, 8]);
  for (const name of ["one", "two", "three"]) assert.deepEqual(boxesIn(text, `${name}: block`), ["add, relu"], text);
  assert.deepEqual(arrowsOf(text), [
    "input > stem: conv",
    ...["stem: conv", "add, relu", "add, relu"].flatMap((before) => [
      `${before} > c: conv`,
      "c: conv > act: relu",
      "act: relu > d: conv",
      "d: conv > add, relu",
      `${before} > add, relu`,
    ]),
    "add, relu > head: dense",
    "head: dense > output",
  ]);
});

test("a decoder: its inputs by name, and what attends to which", () => {
  const text = diagram(transformerDecoder(8, { heads: 2, layers: 2 }), { x: [null, 5, 8], memory: [null, 4, 8] });
  const arrows = arrowsOf(text);
  const from = (name: string) => arrows.filter((arrow) => arrow.startsWith(`${name} > `)).sort();
  assert.deepEqual(from("input x"), ["input x > add", "input x > attentionNorm: layerNorm"]);
  // Keys and values of both blocks' attention to the memory.
  assert.deepEqual(from("input memory"), [
    "input memory > key: dense",
    "input memory > key: dense",
    "input memory > value: dense",
    "input memory > value: dense",
  ]);
  for (const name of ["block0", "block1"]) {
    const inside = boxesIn(text, `${name}: decoderBlock`);
    assert.deepEqual(
      inside,
      ["attentionNorm", "add", "crossAttentionNorm", "add", "feedForwardNorm", "add"].map((each) =>
        each === "add" ? each : `${each}: layerNorm`,
      ),
    );
  }
});

test("joined inputs, inputs that nobody reads, inputs that are outputs, and functions show", () => {
  const model = block(
    { a: dense(2), join: concatenate(), own: sequential((h: Tensor) => h.sin().mul(2) as Tensor) as Layer<Tensor> },
    ({ a, join, own }, { x, y }: { x: Tensor; y: Tensor; unread: Tensor }) => ({
      joined: own(join([a(x), y])),
      same: x,
    }),
  );
  const text = diagram(model as never, { x: [null, 3], y: [null, 3], unread: [null, 1] });
  assert.deepEqual(arrowsOf(text).sort(), [
    "a: dense > join: concatenate",
    "function0 > output joined",
    "input x > a: dense",
    "input x > output same",
    "input y > join: concatenate",
    "join: concatenate > function0",
  ]);
  assert.match(text, /"input unread<br\/>\[1, 1\]"/);
});

test("both branches of a choice lead to it, and so does what it depends on", () => {
  const model = sequential({ pick: cond((x: Tensor) => x.mean().greater(0), dense(2), dense(2)), head: dense(1) });
  const text = diagram(model, [null, 3]);
  assert.deepEqual(arrowsOf(text).sort(), [
    "choice > head: dense",
    "head: dense > output",
    "input > sum, div, greater",
    "input > whenFalse: dense",
    "input > whenTrue: dense",
    "sum, div, greater > choice",
    "whenFalse: dense > choice",
    "whenTrue: dense > choice",
  ]);
  assert.match(text, /"choice<br\/>\[1, 2\]"/);
});
