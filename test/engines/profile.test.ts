/** Profiles: the arithmetic of the table and the form of the trace. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { inspect } from "node:util";
import { Profile } from "../../src/engines/profile.js";

const events = [
  { name: "matmul", start: 0, duration: 30 },
  { name: "add", start: 40, duration: 2 },
  { name: "add", start: 50, duration: 6 },
  { name: "copy", start: 60, duration: 2 },
];

test("rows add up each kernel's times, the longest total first", () => {
  assert.deepEqual(new Profile(events).rows, [
    { name: "matmul", count: 1, total: 30, mean: 30, min: 30, max: 30, share: 0.75 },
    { name: "add", count: 2, total: 8, mean: 4, min: 2, max: 6, share: 0.2 },
    { name: "copy", count: 1, total: 2, mean: 2, min: 2, max: 2, share: 0.05 },
  ]);
});

test("the table lines its columns up and is what inspecting a profile shows", () => {
  const profile = new Profile(events);
  const lines = profile.table().split("\n");
  assert.equal(lines.length, 4);
  assert.equal(new Set(lines.map((line) => line.length)).size, 1, profile.table());
  assert.match(lines[0]!, /^kernel +calls +total µs +mean +min +max +share$/);
  assert.match(lines[1]!, /^matmul +1 +30\.0 +30\.00 +30\.00 +30\.00 +75\.0 %$/);
  assert.match(lines[2]!, /^add +2 +8\.0 +4\.00 +2\.00 +6\.00 +20\.0 %$/);
  assert.equal(inspect(profile), profile.table());
});

const spans = [
  { name: "matmul", by: "engine", start: 1004, end: 1006 },
  { name: "program 1, 2 kernels", by: "pumice", start: 1001, end: 1010, busy: 7 },
  { name: "program 2, 1 kernel", by: "pumice", start: 1020, end: 1021 },
] as const;

test("compiling has rows of its own, ours without the time that the engine took", () => {
  const profile = new Profile(events, spans, { on: "GPU", began: 1000, firstCommand: 1012 });
  assert.deepEqual(profile.compileRows, [
    { name: "(compiling)", by: "pumice", count: 2, total: 8000, mean: 4000, min: 1000, max: 7000 },
    { name: "(compiling: driver)", by: "engine", count: 1, total: 2000, mean: 2000, min: 2000, max: 2000 },
  ]);
  assert.equal(profile.rows.length, 3);
  const lines = profile.table().split("\n");
  assert.equal(lines.length, 6);
  assert.equal(new Set(lines.map((line) => line.length)).size, 1, profile.table());
  assert.match(lines[4]!, /^\(compiling\) +2 +8000\.0 +4000\.00 +1000\.00 +7000\.00 +$/);
  assert.match(lines[5]!, /^\(compiling: driver\) +1 +2000\.0 /);
});

test("the trace has compilations beside the kernels, which begin where the first was recorded", () => {
  const { traceEvents } = new Profile(events, spans, { on: "GPU", began: 1000, firstCommand: 1012 }).chromeTrace() as {
    traceEvents: { ph: string; pid: number; tid: number; name: string; ts: number; dur: number }[];
  };
  const complete = traceEvents.filter(({ ph }) => ph === "X");
  const at = (name: string) => complete.find((event) => event.name === name);
  const program = "compile program 1, 2 kernels";
  assert.deepEqual(at(program), { ph: "X", pid: 2, tid: 1, name: program, ts: 1000, dur: 9000 });
  assert.deepEqual(at("compile matmul"), { ph: "X", pid: 2, tid: 2, name: "compile matmul", ts: 4000, dur: 2000 });
  assert.equal(at("matmul")?.ts, 12_000);
  assert.deepEqual(traceEvents[0], { ph: "M", pid: 1, name: "process_name", args: { name: "GPU" } });
});

test("compilations of the layer above join those of the engine, in the order of time", () => {
  const [engine, ...ours] = spans;
  const profile = new Profile(events, [engine], { on: "GPU", began: 1000, firstCommand: 1012 }).with(ours);
  const whole = new Profile(events, spans, { on: "GPU", began: 1000, firstCommand: 1012 });
  assert.deepEqual(profile.compilations, whole.compilations);
  assert.deepEqual(profile.chromeTrace(), whole.chromeTrace());
});

test("an empty profile is a table with a head only", () => {
  const profile = new Profile([]);
  assert.deepEqual(profile.rows, []);
  assert.equal(profile.table().split("\n").length, 1);
  assert.equal((profile.chromeTrace() as { traceEvents: unknown[] }).traceEvents.length, 1);
});

test("commands that took no time have a share, not NaN", () => {
  const [row] = new Profile([{ name: "x", start: 0, duration: 0 }]).rows;
  assert.equal(row?.share, 0);
});

test("a profile of very many commands is put into rows", () => {
  const many = Array.from({ length: 200_000 }, (_, i) => ({ name: "k", start: i, duration: 1 }));
  const [row] = new Profile(many).rows;
  assert.equal(row?.count, 200_000);
  assert.equal(row?.max, 1);
});

test("the trace is in the Trace Event Format, and saved as JSON", () => {
  const folder = mkdtempSync(join(tmpdir(), "pumice-trace-"));
  try {
    const path = join(folder, "trace.json");
    new Profile(events).save(path);
    const trace = JSON.parse(readFileSync(path, "utf8"));
    const complete = trace.traceEvents.filter((event: { ph: string }) => event.ph === "X");
    assert.equal(complete.length, events.length);
    assert.deepEqual(complete[1], { ph: "X", pid: 1, tid: 1, name: "add", ts: 40, dur: 2 });
    for (const event of trace.traceEvents) assert.ok("pid" in event && "name" in event && "ph" in event);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
