/** A device to the layers above, on an engine that only takes notes: what runs, what is compiled again, what is a view. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { KernelBuilder } from "../../src/compiler/ir/kernel-builder.js";
import { gpuProfile } from "../../src/compiler/target/profile.js";
import { OutOfMemoryError, TraceError } from "../../src/core/errors.js";
import { makeNode } from "../../src/graph/build.js";
import { GraphFunction, makePlaceholder } from "../../src/graph/function.js";
import { computeTogether, Node } from "../../src/graph/node.js";
import { whileNode } from "../../src/graph/primitives/control/while.js";
import { exp, neg } from "../../src/graph/primitives/elementwise.js";
import { buffer } from "../../src/graph/primitives/leaf.js";
import { slice } from "../../src/graph/primitives/movement.js";
import { Backend } from "../../src/runtime/backend.js";
import { NotedMemory, notingEngine } from "../support/noting-engine.js";
import { codelessTarget } from "../support/targets.js";

function open() {
  const noting = notingEngine();
  const backend = new Backend("nowhere", noting.engine, codelessTarget(), null);
  /** A tensor of f32 in memory. */
  const leaf = (name: string, ...shape: number[]): Node => {
    const node = new Node(buffer, { shape, dtype: "f32" }, [], shape, "f32", backend);
    node.realize(new NotedMemory(name, 4 * shape.reduce((a, b) => a * b, 1)));
    return node;
  };
  const of = (primitive: typeof exp, input: Node) => makeNode(primitive, [input], {}, backend);
  const part = (input: Node, from: number, to: number) =>
    makeNode(slice, [input], { start: [from], step: [1], shape: [to - from] }, backend);
  return { ...noting, backend, leaf, of, part };
}

const nameOf = (node: Node) => (node.storage as NotedMemory | null)?.name;

test("a node that was computed is not computed again, and one that is asked for twice runs once", () => {
  const { backend, leaf, of, dispatched } = open();
  const [y, z] = [of(exp, leaf("x", 8)), of(neg, leaf("w", 8))];
  backend.realize([y, z, y]);
  assert.equal(dispatched.length, backend.counters.kernels);
  assert.ok(nameOf(y) && nameOf(z) && nameOf(y) !== nameOf(z));
  const before = backend.counters.kernels;
  backend.realize([z, y]);
  assert.equal(backend.counters.kernels, before);
});

test("a result that another result was the last to read keeps its memory", () => {
  const { backend, leaf, of } = open();
  const y = of(exp, leaf("x", 8));
  const z = of(neg, y);
  backend.realize([y, z]);
  assert.equal((y.storage as NotedMemory).isDisposed, false);
  assert.deepEqual([y.handles, z.handles], [0, 0]);
});

test("where memory is short, what is computed together with a value is left out", () => {
  const { backend, engine, leaf, of } = open();
  const [loss, slope] = [of(exp, leaf("x", 8)), of(neg, leaf("w", 1000))];
  computeTogether([loss, slope]);
  slope.handles = 1;
  const alloc = engine.allocUninitialized;
  engine.allocUninitialized = (bytes) => {
    if (bytes > 100) throw new OutOfMemoryError(`${bytes} bytes`);
    return alloc(bytes);
  };
  backend.realize([loss]);
  assert.ok(nameOf(loss));
  assert.equal(slope.storage, null);
  assert.throws(() => backend.realize([slope]), OutOfMemoryError);
  engine.allocUninitialized = alloc;
  backend.realize([slope]);
  assert.ok(nameOf(slope));
});

test("a graph of the same form runs the same program on other memory; another form is compiled", () => {
  const { backend, leaf, of, dispatched, loaded } = open();
  for (const name of ["x", "y", "z"]) backend.realize([of(exp, leaf(name, 8))]);
  assert.equal(backend.counters.compiled, 1);
  assert.equal(loaded.length, 1);
  assert.deepEqual(
    dispatched.map((text) => text.match(/\b([xyz])\+0/)?.[1]),
    ["x", "y", "z"],
  );
  backend.realize([of(neg, leaf("x", 8))]);
  backend.realize([of(exp, leaf("x", 9))]);
  assert.equal(backend.counters.compiled, 3);
});

test("a contiguous slice is a view where vectors can load from it, else a copy, and needs no kernel", () => {
  const { backend, leaf, part } = open();
  const x = leaf("x", 4096);
  const [aligned, askew, empty] = [part(x, 8, 100), part(x, 9, 100), part(x, 5, 5)];
  for (const node of [aligned, askew, empty]) backend.realize([node]);
  assert.equal(nameOf(aligned), "x[32..400]");
  assert.deepEqual(
    (askew.storage as NotedMemory).copiedFrom.map((memory) => (memory as NotedMemory).name),
    ["x[36..400]"],
  );
  assert.ok((askew.storage as NotedMemory).copiedFrom.every((memory) => (memory as NotedMemory).isDisposed));
  assert.equal(empty.storage?.byteLength, 0);
  assert.equal(backend.counters.kernels, 0);
});

test("a small slice of large memory is copied, so that it does not keep all of it", () => {
  const { backend, leaf, part } = open();
  const x = leaf("x", 2 ** 20);
  const [small, large] = [part(x, 1024, 2048), part(x, 1024, 1024 + 2 ** 15)];
  backend.realize([small]);
  backend.realize([large]);
  assert.equal((small.storage as NotedMemory).keptBytes, 4096);
  assert.match(String(nameOf(large)), /^x\[/);
});

test("a tensor of a traced function has no value", () => {
  const { backend } = open();
  const x = makePlaceholder({ shape: [2], dtype: "f32", device: backend });
  assert.throws(() => backend.realize([x]), TraceError);
});

test("explaining runs nothing, counts kernels and keeps the program for the run", () => {
  const { backend, leaf, of, dispatched } = open();
  const y = of(exp, leaf("x", 8));
  const { kernels, text } = backend.explain([y]);
  assert.equal(kernels, 1);
  assert.match(text, /^1\. exp\[8\]: /);
  assert.deepEqual(dispatched, []);
  backend.realize([y]);
  assert.equal(backend.counters.compiled, 1);
  assert.equal(dispatched.length, 1);
});

test("a prepared program with a while loop is compiled once, and each of its kernels loaded once", () => {
  const { backend, of, loaded } = open();
  const placeholder = () => makePlaceholder({ shape: [8], dtype: "f32", device: backend });
  const [argument, carry] = [placeholder(), placeholder()];
  const goesOn = makePlaceholder({ shape: [], dtype: "bool", device: backend });
  const parameters = [goesOn, carry];
  const [result] = whileNode([goesOn, of(exp, argument)], {
    test: new GraphFunction(parameters, [goesOn]),
    body: new GraphFunction(parameters, [of(neg, carry)]),
    constants: 1,
    maxRounds: 10,
  });
  const prepared = backend.prepare([of(exp, result)], [goesOn, argument], [memory, memory]);
  assert.ok(prepared.program.steps.some(({ kind }) => kind === "while"));
  for (const name of ["begin", "gate", "neg[8]", "exp[8]"]) {
    assert.equal(loaded.filter((each) => each === name).length, 1, name);
  }
  assert.equal(backend.counters.compiled, 1);
});

const memory = { kind: "memory", isDonated: false } as const;

test("a kernel written by hand is made once for a key, and forgotten when a hundred others came after", () => {
  const { backend, dispatched } = open();
  const writes: string[] = [];
  const get = (key: string) =>
    backend.handWritten(key, ({ profile }) => {
      writes.push(key);
      assert.equal(profile, gpuProfile);
      const k = new KernelBuilder(key, 4);
      k.store(k.buffer("f32", true), k.row, k.constant("f32", 1));
      return { kernel: k.finish() };
    });
  get("first");
  get("second");
  for (let i = 0; i < 98; i++) get(`key ${i}`);
  get("first").run([new NotedMemory("out", 16)]);
  assert.deepEqual(dispatched, ["first(out+0)"]);
  assert.equal(writes.length, 100);
  // "first" was used last, so "second" is the one that goes.
  get("one more");
  get("first");
  assert.equal(writes.length, 101);
  get("second");
  assert.deepEqual(writes.slice(101), ["second"]);
});

test("a profile holds what was compiled while it was open", async () => {
  const { backend, leaf, of } = open();
  backend.realize([of(neg, leaf("x", 8))]);
  const profile = await backend.profile(() => backend.realize([of(exp, leaf("x", 8))]));
  backend.realize([of(exp, leaf("x", 9))]);
  assert.deepEqual(
    profile.compilations.map(({ name }) => name),
    ["program 2, 1 kernel"],
  );
});
