/** The program as a whole: how it is called, what it refuses, and that it survives what it is there to diagnose. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { version } from "../../src/index.js";
import { program, pumice, withKoffi } from "./cli.js";

const commands = ["info", "doctor", "cache", "tour"];

test("without arguments it lists its commands", () => {
  for (const args of [[], ["--help"], ["-h"], ["help"]]) {
    const { code, stdout } = pumice(args);
    assert.equal(code, 0);
    for (const command of commands) assert.match(stdout, new RegExp(`^ {2}${command} `, "m"));
  }
});

test("every command has help that shows its usage and exit without doing anything", () => {
  for (const command of commands) {
    const { code, stdout } = pumice([command, "--help"]);
    assert.equal(code, 0);
    assert.match(stdout, new RegExp(`^Usage: pumice ${command}`, "m"));
    assert.equal(stdout, pumice(["help", command]).stdout);
    assert.equal(stdout, pumice([command, "-h"]).stdout);
  }
});

test("--version prints the package's", () => {
  assert.equal(pumice(["--version"]).stdout, `${version}\n`);
});

const misuses: [args: string[], says: RegExp][] = [
  [["inof"], /no command "inof".*info, doctor, cache, tune, tour/],
  [["help", "inof"], /no command "inof"/],
  [["--json"], /no option --json/],
  [["info", "--jsno"], /info has no option --jsno.*info --help/],
  [["info", "-x"], /info has no option -x/],
  [["info", "--json=yes"], /--json takes no value/],
  [["info", "extra"], /info does not know "extra"/],
  [["cache", "clean"], /cache does not know "clean"/],
];
for (const [args, says] of misuses) {
  test(`pumice ${args.join(" ")} is answered with exit code 2 and one line`, () => {
    const { code, stdout, stderr } = pumice(args);
    assert.equal(code, 2);
    assert.equal(stdout, "");
    assert.match(stderr, says);
    assert.equal(stderr.trimEnd().split("\n").length, 1);
  });
}

test("output that goes to a file has no colours", () => {
  assert.ok(!pumice(["doctor"]).stdout.includes("\x1b"));
});

test("the compiled program keeps its #! line, which makes it a command", () => {
  assert.ok(readFileSync(program, "utf8").startsWith("#!/usr/bin/env node\n"));
});

test("where koffi does not load, the doctor says so, and commands that need a driver name the doctor", () => {
  const NODE_OPTIONS = withKoffi(`throw new Error("Cannot find the native module")`);
  const { code, stdout } = pumice(["doctor"], { NODE_OPTIONS });
  assert.equal(code, 1);
  assert.match(stdout, /✗ koffi, which calls the driver, does not load\n +Cannot find the native module/);
  assert.match(stdout, /→ .*delete node_modules/);
  const info = pumice(["info"], { NODE_OPTIONS });
  assert.equal(info.code, 1);
  assert.match(info.stderr, /Cannot find the native module.*pumice doctor/);
  assert.ok(!info.stderr.includes("    at "), "no stack trace");
});

test("without koffi there is the CPU engine, and files are still looked after", () => {
  const NODE_OPTIONS = withKoffi(`throw new Error("Cannot find the native module")`);
  assert.equal(pumice(["cache"], { NODE_OPTIONS }).code, 0);
  const tour = pumice(["tour"], { NODE_OPTIONS });
  assert.equal(tour.code, 0);
  assert.match(
    tour.stdout.replace(/\s+/g, " "),
    /only tensors on the CPU are shown: .*native module\)\. `pumice doctor`/,
  );
});

test("the doctor outlives a crash in native code", { skip: process.platform === "win32" && "signals" }, () => {
  const { code, stdout } = pumice(["doctor"], { NODE_OPTIONS: withKoffi(`process.kill(process.pid, "SIGSEGV")`) });
  assert.equal(code, 1);
  assert.match(stdout, /✗ koffi.*\n +it crashed \(SIGSEGV\)/);
});

test("a reader that has seen enough is no error", async () => {
  const child = spawn(process.execPath, [program, "doctor"], { stdio: ["ignore", "pipe", "pipe"] });
  child.stdout.destroy();
  let complaints = "";
  child.stderr.setEncoding("utf8").on("data", (text) => {
    complaints += text;
  });
  const [code] = await once(child, "close");
  assert.equal(code, 0);
  assert.equal(complaints, "");
});
