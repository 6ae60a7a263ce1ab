/** Loops that somebody awaits: others run meanwhile, and may dispose of what the loop reads, or compute the same. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { turn } from "../../src/engines/turns.js";
import { type Tensor, tensor, whileLoop } from "../../src/index.js";

const count = (x: Tensor, to: number) =>
  whileLoop(
    (n: Tensor) => n.less(to),
    (n: Tensor) => n.add(1),
    x,
  );
const start = () => tensor(0, { device: "cpu" }).add(0).realize();

test("hold what they read, and are computed once for all who wait", async () => {
  const x = start();
  const y = count(x, 50_000);
  const both = [y.item(), y.data()] as const;
  x.dispose();
  await turn();
  // Memory that is given out anew would be theirs.
  const others = Array.from({ length: 100 }, () => tensor(-1e9, { device: "cpu" }));
  assert.equal(await both[0], 50_000);
  assert.deepEqual([...(await both[1])], [50_000]);
  assert.equal(others.length, 100);
});

test("may be overtaken by a caller that blocks, and outlive their tensor", async () => {
  const y = count(start(), 50_000);
  const reading = y.item();
  await turn();
  assert.equal(y.itemSync(), 50_000);
  y.dispose();
  assert.equal(await reading, 50_000);
});

test("leave the memory of a result that somebody else has computed meanwhile", async () => {
  const y = count(start(), 50_000);
  const reading = y.item();
  await turn();
  assert.equal(y.itemSync(), 50_000);
  const { node } = y as unknown as { readonly node: { readonly storage: object } };
  const { storage } = node;
  assert.equal(await reading, 50_000);
  assert.equal(node.storage, storage);
});

test("give their values to what is asked for beside them, and after them", async () => {
  const y = count(start(), 20_000);
  const [sum, product] = await Promise.all([y.add(1).item(), y.mul(2).item()]);
  assert.deepEqual([sum, product], [20_001, 40_000]);
  assert.equal(await count(y.sub(19_000), 1500).item(), 1500);
});

test("that go on beyond their limit reject", async () => {
  const endless = whileLoop(
    () => tensor(true, { device: "cpu" }),
    (n: Tensor) => n.add(1),
    start(),
    { maxRounds: 20_000 },
  );
  await assert.rejects(endless.item(), /still held after 20000 rounds/);
});
