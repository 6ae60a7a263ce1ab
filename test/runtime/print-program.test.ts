/** Programs as text: kernels are numbered, equal ones in a row are one line, and sizes are those of what is touched. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type KernelStep, type Made, type Step, withSteps } from "../../src/compiler/program/program.js";
import { printProgram } from "../../src/runtime/print-program.js";
import { kernelStep, leaf, made, value } from "../support/steps.js";

const mapping = ({ code }: KernelStep<string>) => `as ${code}`;
const MiB = 2 ** 20;

function print(steps: readonly Step<string>[], values: readonly Made[], leaves: readonly Made[] = []): string[] {
  return printProgram(withSteps({ made: values, leaves }, steps), mapping).split("\n");
}

test("a kernel is told with its rows, what it reads and writes, its formula and its mapping", () => {
  const lines = print([kernelStep("a", [leaf(0)], [made(0)], 5)], [value(1536)], [value(1000)]);
  assert.deepEqual(lines, [
    "1. a: 5 rows, 1 values; reads a f32[250]; writes out f32[384]; 1000 B read, 1.5 KiB written",
    "   a",
    "   as a",
  ]);
});

test("sizes go up to GiB, and 1024 of a unit are one of the next", () => {
  const sizes = [0, 1020, 1024, MiB - 1024, MiB, 1.5 * 1024 * MiB, 5000 * 1024 * MiB];
  const told = sizes.map((bytes) => {
    const [line] = print([kernelStep("a", [], [made(0)])], [value(bytes)]);
    return line!.match(/read, (.*) written/)?.[1];
  });
  assert.deepEqual(told, ["0 B", "1020 B", "1.0 KiB", "1023.0 KiB", "1.0 MiB", "1.5 GiB", "5000.0 GiB"]);
});

test("one kernel many times in a row is one line that says which", () => {
  const step = kernelStep("pass", [made(0)], [made(1)]);
  const other = { ...step, formula: { text: "another formula" } };
  const heads = print([step, step, step, other, step, kernelStep("end", [made(1)], [made(0)])], [value(4), value(4)])
    .filter((line) => !line.startsWith(" "))
    .map((line) => line.replace(/:.*/, ""));
  assert.deepEqual(heads, ["1 to 3. pass", "4. pass", "5. pass", "6. end"]);
});

test("steps of loops are indented under how often they run, and numbered on", () => {
  const step = (name: string) => kernelStep(name, [made(0)], [made(0)]);
  const loop: Step<string> = { kind: "loop", loop: 0, count: 12, steps: [step("b")] };
  const until: Step<string> = {
    kind: "while",
    loop: 1,
    maxRounds: 9,
    ahead: null,
    test: [step("t")],
    flag: made(0),
    steps: [loop],
    finish: [step("f")],
  };
  const heads = print([step("a"), loop, until], [value(4)]).filter((line) => /times|while|test|\d\./.test(line));
  assert.deepEqual(
    heads.map((line) => line.replace(/(\d\. .):.*/, "$1")),
    ["1. a", "12 times:", "   2. b", "test:", "   3. t", "while it holds:", "   12 times:", "      4. b", "5. f"],
  );
});

test("a buffer that moves through a value is a part of it, and its bytes are not counted", () => {
  const moving = { ...leaf(0), moves: [{ loop: 0, bytes: 40 }] };
  const [line] = print([kernelStep("a", [moving], [made(0)])], [value(40)], [value(400)]);
  assert.match(line!, /reads a a part of f32\[100\]; writes out f32\[10\]; 0 B read, 40 B written/);
});

test("a kernel behind a gate names the flag; one without rows is not run", () => {
  const { kernel, ...rest } = kernelStep("a", [leaf(0), leaf(1)], [made(0)]);
  const gated = { ...rest, kernel: { ...kernel, gate: { buffer: 1, value: 2 } } };
  assert.equal(print([gated], [value(4)], [value(4), value(4)])[2], "   does nothing unless b is 2");
  const empty = print([kernelStep("e", [leaf(0)], [made(0)], 0)], [value(0)], [value(0)]);
  assert.equal(empty.at(-1), "   not run: there is nothing to compute");
});

test("a kernel that reads nothing says so, and lanes are told where rows share them", () => {
  const { kernel, ...rest } = kernelStep("a", [], [made(0)], 3);
  const [line] = print([{ ...rest, kernel: { ...kernel, lanes: 8 } }], [value(4)]);
  assert.match(line!, /^1\. a: 3 rows of 8 lanes, 1 values; reads nothing; writes/);
});

test("loops of kernels are shown when they are asked for", () => {
  const program = withSteps({ made: [value(4)], leaves: [] }, [kernelStep("a", [], [made(0)], 5)]);
  const brief = printProgram(program, mapping);
  const verbose = printProgram(program, mapping, { verbose: true });
  assert.ok(verbose.startsWith(`${brief}\n`));
  assert.match(verbose.slice(brief.length), /kernel a: 5 rows/);
});
