/**
 * `await` gives way: while someone awaits tensors, timers tick, sockets are served and signals arrive. A busy machine may keep
 * a process waiting at any time, so the tests count turns; `npm run bench -- --only gap` measures the longest pause.
 */
import assert from "node:assert/strict";
import { createServer, get } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { halfNormal, model, normal } from "../../src/bayes/index.js";
import { isTurnDue, turn } from "../../src/engines/turns.js";
import { grad, jit, ones, scan, type Tensor, tensor, whileLoop, withDevice, zeros } from "../../src/index.js";
import { key, normal as normals } from "../../src/random/index.js";
import { describeGpu } from "../../src/runtime/open.js";
import { vulkanEngineOf } from "../support/engines.js";
import { runNode } from "../support/subprocess.js";
import { describeOnTensorDevices } from "../support/tensors.js";

/**
 * Runs a trial, which tells what is wrong, or null. A machine with other work may keep a process waiting for tenths of a second, so a
 * trial may be repeated: work that holds the loop does so every time.
 */
async function inOneOfThreeTrials(trial: () => Promise<string | null>): Promise<void> {
  const complaints: string[] = [];
  while (complaints.length < 3) {
    const complaint = await trial();
    if (complaint === null) return;
    complaints.push(complaint);
  }
  assert.fail(complaints.join("; "));
}

/** Runs work beside a timer of 5 ms, which must tick once in every tenth of a second, on average. */
function besideATimer(work: () => Promise<unknown>): Promise<void> {
  return inOneOfThreeTrials(async () => {
    let ticks = 0;
    const timer = setInterval(() => ticks++, 5);
    const began = performance.now();
    try {
      await work();
    } finally {
      clearInterval(timer);
    }
    const took = performance.now() - began;
    return ticks >= Math.max(3, took / 100) ? null : `${ticks} ticks in ${took.toFixed(0)} ms`;
  });
}

/** Repeats work for some tenths of a second, however fast the machine is. */
async function forAWhile(work: () => Promise<unknown>, milliseconds = 500): Promise<void> {
  for (const began = performance.now(); performance.now() - began < milliseconds; ) await work();
}

test("a turn is due some milliseconds after the last one", async ({ mock }) => {
  let now = performance.now();
  mock.method(performance, "now", () => now);
  await turn();
  assert.ok(!isTurnDue());
  now += 3;
  assert.ok(!isTurnDue());
  now += 2;
  assert.ok(isTurnDue());
  assert.ok(!isTurnDue(now), "or after the time given");
  let hasTurned = false;
  setImmediate(() => {
    hasTurned = true;
  });
  await turn();
  assert.ok(hasTurned);
  assert.ok(!isTurnDue());
});

describeOnTensorDevices("a timer ticks beside", (device) => {
  const isCpu = device === "cpu";

  test("tiny evaluations, each awaited", () =>
    besideATimer(async () => {
      let x = ones([16]);
      await forAWhile(async () => {
        x = x.add(1);
        await x.data();
      });
    }));

  test("a heavy element-wise loop", async () => {
    const x = normals(key(0), [1 << 20]).realize();
    const sum = () => x.sin().exp().cos().add(1).log().sum().item();
    await sum();
    await besideATimer(() => forAWhile(sum));
  });

  test("one long product", async () => {
    // Longer than three ticks on each kind of device; what is new is compiled first.
    const isGpu = !isCpu && !describeGpu(vulkanEngineOf(device)).isSoftware;
    const size = isCpu ? 1536 : isGpu ? 12_288 : 512;
    const [a, b] = [normals(key(1), [size, size]).realize(), normals(key(2), [size, size]).realize()];
    const sum = () => a.matmul(b).sum().item();
    await sum();
    await besideATimer(sum);
  });

  test("a training run", async () => {
    const loss = ([v, w]: readonly [Tensor, Tensor], x: Tensor, y: Tensor) =>
      x.matmul(v).tanh().matmul(w).sub(y).square().mean();
    const step = jit((weights: readonly [Tensor, Tensor], x: Tensor, y: Tensor) => {
      const [dv, dw] = grad(loss)(weights, x, y) as unknown as [Tensor, Tensor];
      return [weights[0].sub(dv.mul(0.1)), weights[1].sub(dw.mul(0.1))] as const;
    });
    const [x, y] = [normals(key(3), [256, 256]).realize(), zeros([256, 10]).realize()];
    let weights: readonly [Tensor, Tensor] = [
      normals(key(4), [256, 128]).mul(0.1),
      normals(key(5), [128, 10]).mul(0.1),
    ];
    const epoch = async () => {
      for (let i = 0; i < 5; i++) weights = step(weights, x, y);
      await loss(weights, x, y).item();
    };
    await epoch();
    await besideATimer(() => forAWhile(epoch));
  });

  test("a long scan in a jitted function", async () => {
    const f = jit((x: Tensor) => scan((c: Tensor, step: Tensor) => [c.mul(0.5).add(step), c], x.sum(), x)[0] as Tensor);
    const x = ones([isCpu ? 4000 : 1500]);
    await f(x).item();
    await besideATimer(() => forAWhile(() => f(x).item()));
  });

  test("a while loop of many rounds", async () => {
    const rounds = isCpu ? 100_000 : 20_000;
    const count = (to: number) =>
      whileLoop(
        (x: Tensor) => x.less(to),
        (x: Tensor) => x.add(1),
        tensor(0),
      );
    await count(10).item();
    await besideATimer(async () => assert.equal(await count(rounds).item(), rounds));
  });

  test("sampling", async () => {
    const x = normals(key(6), [2000, 5]).realize();
    const line = model(({ x }: { x: Tensor }) => {
      const slopes = normal(0, 1).shape(5);
      const sigma = halfNormal(1);
      return { slopes, sigma, y: normal(x.matmul(slopes), sigma) };
    });
    const y = x.sum({ axis: 1 }).add(normals(key(7), [2000]));
    const posterior = line.given({ y }, { x });
    const sampled = (draws: number) => posterior.sample({ chains: 2, warmup: 20, draws, seed: 1, progress: false });
    await sampled(5);
    await besideATimer(() => forAWhile(() => sampled(30)));
  });
});

test("a server answers while it computes", async () => {
  const server = createServer((_, response) => response.end("healthy")).listen(0);
  const { port } = server.address() as AddressInfo;
  const check = () =>
    new Promise<void>((resolve, reject) => {
      get({ port, path: "/health" }, (response) => response.resume().on("end", resolve)).on("error", reject);
    });
  const x = withDevice("cpu", () => normals(key(0), [1 << 20])).realize();
  await inOneOfThreeTrials(async () => {
    let isComputing = true;
    const computing = forAWhile(() => x.sin().exp().cos().sum().item(), 1000).then(() => {
      isComputing = false;
    });
    let answers = 0;
    for (; isComputing; answers++) await check();
    await computing;
    return answers >= 5 ? null : `${answers} answers in a second`;
  });
  server.close();
  server.closeAllConnections();
});

test("a signal is handled while tensors are computed", {
  skip: process.platform === "win32" && "no signals",
}, async () => {
  const program = `
    import { ones } from "SRC/tensor/index.js";
    let seen = false;
    process.on("SIGINT", () => { seen = true; });
    const x = ones([1 << 18]).realize();
    await x.sum().item();
    process.kill(process.pid, "SIGINT");
    const began = performance.now();
    while (!seen && performance.now() - began < 5000) await x.sin().exp().sum().item();
    console.log(seen);`;
  assert.deepEqual(await runNode(program, { env: { PUMICE_DEVICE: "cpu", PUMICE_CACHE: "off" } }), {
    code: 0,
    output: "true\n",
  });
});
