/** The job board: who joins a job, who is woken for it, and what is left to claim. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, test } from "node:test";
import { Worker } from "node:worker_threads";
import { JobBoard } from "../../../src/engines/host/job-board.js";

describe("the job board", () => {
  const job = { kernel: 7, args: 8, length: 9, chunk: 10, limit: 1, done: 0, wakes: true, workers: 0 };
  test("a job is joined once by each, up to its limit, and not after it is closed", () => {
    const main = new JobBoard();
    const [a, b, c] = [1, 2, 3].map(() => new JobBoard(main.memory)) as [JobBoard, JobBoard, JobBoard];
    assert.equal(a.join(), null);
    main.open(job);
    assert.deepEqual(a.join(), { kernel: 7, args: 8, length: 9, chunk: 10, limit: 1 });
    assert.equal(a.join(), null);
    assert.equal(b.join(), null, "one is enough");
    assert.equal(main.workersInside, 1);
    main.close();
    assert.equal(c.join(), null);
    assert.equal(main.workersInside, 1);
    a.leave();
    assert.equal(main.workersInside, 0);
    main.open({ ...job, limit: 3 });
    assert.ok(a.join() && b.join() && c.join());
    assert.deepEqual([a.claim(), b.claim(), main.claim()], [0, 1, 2]);
    a.fail();
    assert.ok(b.claim() > 1e9, "after a failure there is nothing left to claim");
    main.close();
    assert.ok(main.hasFailed);
    for (const board of [a, b, c]) board.leave();
    main.open(job);
    assert.ok(!main.hasFailed);
  });

  test("a job that does not wake is joined by those who are awake", () => {
    const main = new JobBoard();
    const worker = new JobBoard(main.memory);
    const { news } = worker;
    main.open({ ...job, wakes: false });
    assert.notEqual(worker.news, news, "whoever polls sees it");
    assert.ok(worker.join());
    assert.equal(main.sleeping, 0);
  });

  test("numbers of jobs may go round", () => {
    const main = new JobBoard();
    const worker = new JobBoard(main.memory);
    for (let i = 0; i < 2 ** 21 + 10; i++) {
      main.open(job);
      if (i % 65536 < 2) {
        assert.ok(worker.join());
        worker.leave();
      }
      main.close();
      if (main.workersInside !== 0) assert.fail(`job ${i}`);
    }
  });

  test("a job may begin with chunks that are done already", () => {
    const main = new JobBoard();
    main.open({ ...job, done: 3 });
    assert.deepEqual([main.claim(), main.claim()], [3, 4]);
  });

  test("as many workers are woken as are not awake; those woken count as awake at once", async () => {
    const main = new JobBoard();
    const script = `
      import { parentPort, workerData } from "node:worker_threads";
      const { JobBoard } = await import(workerData.board);
      const board = new JobBoard(workerData.memory);
      board.sleepSince(board.news);
      parentPort.postMessage("woken");`;
    const url = new URL(`data:text/javascript,${encodeURIComponent(script)}`);
    const board = new URL("../../../src/engines/host/job-board.js", import.meta.url).href;
    const workers = [1, 2, 3].map(() => new Worker(url, { workerData: { board, memory: main.memory } }));
    let woken = 0;
    for (const worker of workers) worker.on("message", () => woken++);
    const exits = workers.map((worker) => once(worker, "exit"));
    while (main.sleeping < 3) await new Promise((resolve) => setTimeout(resolve, 1));
    // They count as sleeping a moment before they sleep.
    await new Promise((resolve) => setTimeout(resolve, 20));
    const open = (limit: number) => {
      main.open({ ...job, limit, workers: 3 });
      main.close();
      return main.sleeping;
    };
    assert.deepEqual([open(1), open(1), open(2), open(1)], [2, 2, 1, 1]);
    main.stop();
    await Promise.all(exits);
    assert.equal(woken, 3);
    assert.equal(main.sleeping, 0);
  });
});
