/** `profile`: what ran, in a table and in a trace that Chrome and Perfetto read. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { profile, tensor } from "../../src/tensor/index.js";
import { describeOnTensorDevices } from "../support/tensors.js";

interface TraceEvent {
  readonly ph: string;
  readonly name: string;
  readonly ts: number;
  readonly dur: number;
}

describeOnTensorDevices("profile", () => {
  test("has a row per kernel, with its calls, and an event per call", async () => {
    const x = tensor(new Float32Array(4096).fill(0.5));
    const found = await profile(async () => {
      for (let i = 0; i < 3; i++) await x.exp().data();
      await x.sum().data();
    });
    const calls = new Map(found.rows.map(({ name, count }) => [name, count]));
    assert.equal(calls.get("exp[4096]"), 3);
    assert.ok([...calls.keys()].some((name) => name.startsWith("sum[")));
    for (const { total, min, max, mean, count } of found.rows) {
      assert.ok(min >= 0 && min <= mean && mean <= max && Math.abs(total - mean * count) < 1e-6 * total + 1e-9);
    }
    assert.equal(String(found), found.table());
    assert.match(found.table(), /^kernel +calls +total µs +mean +min +max +share\n[\s\S]*^exp\[4096\] +3 /m);

    const folder = mkdtempSync(join(tmpdir(), "pumice-profile-"));
    try {
      found.save(join(folder, "trace.json"));
      const trace = JSON.parse(readFileSync(join(folder, "trace.json"), "utf8")) as { traceEvents: TraceEvent[] };
      const events = trace.traceEvents.filter(({ ph, name }) => ph === "X" && name === "exp[4096]");
      assert.equal(events.length, 3);
      events.forEach(({ ts, dur }, i) => {
        assert.ok(dur >= 0 && ts >= 0 && (i === 0 || ts >= events[i - 1]!.ts + events[i - 1]!.dur));
      });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
