/** The batches that go to the GPU before anyone waits: by their length, by the memory they touch, and by what the GPU still has. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { SubmissionPace } from "../../../../src/engines/vulkan/submission/submission-pace.js";

const MIB = 2 ** 20;

/** Records commands that touch `bytes` each, and says after which ones a submission came. */
function submissionsOf(count: number, bytes: number, unfinished: (submissions: number) => number): number[] {
  const pace = new SubmissionPace();
  const due: number[] = [];
  let [length, touched] = [0, 0];
  for (let i = 1; i <= count; i++) {
    if (length === 0) pace.begin(unfinished(due.length) === 0);
    length++;
    touched += bytes;
    if (!pace.isDue(length, touched, () => unfinished(due.length))) continue;
    due.push(i);
    [length, touched] = [0, 0];
  }
  return due;
}

const idle = () => 0;
const neverDone = (submissions: number) => submissions;

describe("recorded commands are submitted", () => {
  test("by sixteens, thirty-twos, … where they are short and the GPU is idle", () => {
    assert.deepEqual(submissionsOf(400, 1024, idle), [16, 48, 112, 240, 368]);
  });

  test("by 128 where they are short and the GPU is busy", () => {
    assert.deepEqual(
      submissionsOf(400, 1024, (n) => (n === 0 ? 1 : n)),
      [128, 256, 384],
    );
  });

  test("at once where they touch much memory, then sixteen times as much, until the GPU has two batches", () => {
    assert.deepEqual(submissionsOf(8, 256 * MIB, neverDone), [1, 3]);
  });

  test("rarely while the GPU has one batch, at once when it has none", () => {
    const busy = (n: number) => Math.min(1, n);
    assert.deepEqual(submissionsOf(40, 256 * MIB, busy), [1, 3, 35]);
    assert.deepEqual(
      submissionsOf(40, 256 * MIB, (n) => (n === 2 ? 0 : busy(n))),
      [1, 3, 4],
    );
  });

  test("at once where they touch much memory and the GPU is done with the ones before, up to a limit", () => {
    assert.deepEqual(submissionsOf(8, 64 * MIB, idle), [1, 2, 4, 8]);
    assert.deepEqual(submissionsOf(6, 1024 * MIB, idle), [1, 2, 3, 4, 5, 6]);
  });

  test("less and less often where nobody waits", () => {
    const due = submissionsOf(200, 32 * MIB, idle);
    assert.deepEqual(due.slice(0, 6), [1, 3, 7, 15, 31, 47]);
  });

  test("soon again after a wait", () => {
    const pace = new SubmissionPace();
    pace.begin(true);
    assert.equal(pace.isDue(1, 32 * MIB, idle), true);
    assert.equal(pace.isDue(1, 32 * MIB, idle), false);
    pace.reset();
    assert.equal(pace.isDue(1, 32 * MIB, idle), true);
    pace.begin(true);
    assert.equal(pace.isDue(16, 0, idle), true);
  });

  test("without asking the driver where they are short", () => {
    const pace = new SubmissionPace();
    pace.begin(true);
    const asked = () => assert.fail("the driver was asked");
    assert.equal(pace.isDue(3, MIB, asked), false);
  });
});
