/** Loops that somebody awaits: others run meanwhile, and may dispose of what the loop reads, or compute the same. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { turn } from "../../src/engines/turns.js";
import { jit, type Tensor, tensor, whileLoop } from "../../src/index.js";
import { backendFor } from "../../src/tensor/index.js";
import { describeOnTensorDevices } from "../support/tensors.js";

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

describeOnTensorDevices("jitted functions with while loops", (device) => {
  /** Adds `step` until the limit is reached; returns the end and how many rounds it took. */
  const climb = (x: Tensor, step: number | Tensor, limit: number): [Tensor, Tensor] =>
    whileLoop(
      ([y]: [Tensor, Tensor]) => y.less(limit),
      ([y, rounds]: [Tensor, Tensor]): [Tensor, Tensor] => [y.add(step), rounds.add(1)],
      [x, tensor(0, { device })] as [Tensor, Tensor],
    );

  test("give way when they are awaited: a timer ticks while the loop runs", async () => {
    const rounds = device === "cpu" ? 60_000 : 6000;
    const f = jit((x: Tensor) => climb(x, 1, rounds)[0]);
    const x = tensor(0, { device }).realize();
    // The first call compiles.
    await f(tensor(rounds - 1, { device })).item();
    let ticks = 0;
    const timer = setInterval(() => ticks++, 1);
    const value = await f(x).item();
    clearInterval(timer);
    assert.equal(value, rounds);
    assert.ok(ticks >= 3, `${ticks} ticks`);
  });

  test("compute all results of a call at once, one program for every call, numbers as data", async () => {
    const f = jit((x: Tensor, step: Tensor) => climb(x, step, 40));
    const { counters } = backendFor(device);
    await Promise.all(f(tensor(0, { device }), 1).map((each) => each.item()));
    const before = { ...counters };
    const [end, rounds] = f(tensor(0, { device }), 4);
    const [[a, b], [c, d]] = await Promise.all([
      Promise.all([end.item(), rounds.item()]),
      Promise.all(f(tensor(10, { device }), 7).map((each) => each.item())),
    ]);
    assert.deepEqual([a, b, c, d], [40, 10, 45, 5]);
    assert.equal(counters.compiled, before.compiled);
    const [late, count] = f(end, 0.5);
    assert.deepEqual([late.itemSync(), count.itemSync()], [40, 0]);
  });

  test("follow one another without a read between them, and blocking readers agree", async () => {
    const f = jit((x: Tensor) => climb(x, 3, 20)[0].mul(0.5));
    let x: Tensor = tensor(0, { device });
    let want = 0;
    for (let i = 0; i < 5; i++) {
      x = f(x);
      while (want < 20) want += 3;
      want *= 0.5;
    }
    assert.equal(x.itemSync(), want);
    assert.equal(await f(x).item(), await f(x).item());
  });

  test("end donated arguments, whose memory lasts until the loop has run", async () => {
    const f = jit((x: Tensor) => climb(x, 1, 30)[0], { donate: 0 });
    const x = tensor(2, { device }).realize();
    const y = f(x);
    assert.throws(() => x.add(1), /was donated to jit/);
    const others = Array.from({ length: 50 }, () => tensor(-1e6, { device }).realize());
    assert.equal(await y.item(), 30);
    assert.equal(others.length, 50);
  });

  test("show their kernels, and reject where a loop does not end", async () => {
    const f = jit((x: Tensor) =>
      whileLoop(
        (y: Tensor) => y.less(1),
        (y: Tensor) => y.mul(0.5),
        x,
        { maxRounds: 100 },
      ),
    );
    assert.match(f.lower(tensor(0.5, { device })).graph, /whileLoop/);
    await assert.rejects(f(tensor(0.5, { device })).item(), /still held after 100 rounds/);
    assert.equal(await f(tensor(1.5, { device })).item(), 1.5);
  });
});
