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

    const [ours, engine] = found.compileRows;
    assert.ok(ours?.by === "pumice" && ours.count >= 2 && ours.total > 0, found.table());
    assert.ok(engine?.by === "engine" && engine.count >= 2 && engine.total > 0, found.table());
    assert.match(found.table(), /^\(compiling\) +\d+ [\s\S]*^\(compiling: driver\) +\d+ /m);

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

  test("what is compiled while a profile is open is listed with its kernels, and what is known already is not", async () => {
    const x = tensor(new Float32Array(33).fill(0.5));
    const compute = () => x.mul(3).add(0.25).sin().data();
    const first = await profile(compute);
    assert.ok(first.compilations.some(({ name, by }) => by === "pumice" && /^program \d+, 1 kernel$/.test(name)));
    assert.ok(first.compilations.some(({ name, by }) => by === "engine" && name === "sin[33]"));
    for (const { start, duration, busy } of first.compilations) assert.ok(start >= 0 && busy >= 0 && busy <= duration);
    const { traceEvents } = first.chromeTrace() as { traceEvents: TraceEvent[] };
    const [process] = traceEvents as unknown as { name: string; args: { name: string } }[];
    assert.deepEqual([process?.name, process?.args.name], ["process_name", x.device === "cpu" ? "CPU" : "GPU"]);
    const compiled = traceEvents.find(({ name }) => name.startsWith("compile program"));
    const kernel = traceEvents.find(({ name }) => name === "sin[33]");
    assert.ok(compiled && kernel && kernel.ts >= compiled.ts + compiled.dur, "the kernel comes after its compilation");
    const again = await profile(compute);
    assert.deepEqual([again.compilations, again.compileRows], [[], []]);
    assert.ok(again.rows.some(({ name }) => name === "sin[33]"));
  });
});
