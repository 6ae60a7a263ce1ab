/** Where stacks begin: with the code that called the library, whatever lies between. */
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import * as errors from "../../src/core/errors.js";
import { einsum, jit, PumiceError, ShapeError, setDefaultDevice, type Tensor, tensor, zeros } from "../../src/index.js";
import { runNode } from "../support/subprocess.js";

before(() => setDefaultDevice("cpu"));

function thrownBy(use: () => unknown): PumiceError {
  try {
    use();
  } catch (error) {
    assert.ok(error instanceof PumiceError);
    return error;
  }
  throw new Error("nothing was thrown");
}

const frames = (error: Error): string[] => (error.stack ?? "").split("\n").filter((line) => /^ {4}at /.test(line));
const x = () => tensor([1, 2, 3]);

describe("a stack begins with the caller's frame", () => {
  const mistakes: Readonly<Record<string, () => unknown>> = {
    "a method": () => x().add(tensor([1, 2])),
    "a method made of others": () => x().softmax({ axis: 4 }),
    "surplus arguments": () => (x().exp as (...args: unknown[]) => unknown)(5),
    "a function": () => zeros([-1]),
    "steps under another name": () => einsum("i->", zeros([2, 2])),
    "a value that is read": () => x().itemSync(),
    "a tensor that is disposed of": () => {
      const gone = x();
      gone.dispose();
      return gone.add(1);
    },
    "a function that is traced": () => jit((y: Tensor) => y.at(7))(x()),
  };
  for (const [what, mistake] of Object.entries(mistakes)) {
    test(what, () => {
      const [first = ""] = frames(thrownBy(mistake));
      assert.match(first, /test\/core\/errors\.test/);
    });
  }

  test("and has as many frames as Node was asked for", () => {
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 2;
    const error = thrownBy(() => x().softmax({ axis: 4 }));
    assert.equal(Error.stackTraceLimit, 2);
    Error.stackTraceLimit = limit;
    assert.equal(frames(error).length, 2);
  });

  test("below the whole message, which may have several lines", () => {
    const error = new ShapeError("one\n    at the start of a line\nthree");
    const header = `ShapeError: ${error.message}\n`;
    assert.ok(error.stack?.startsWith(header));
    assert.match((error.stack ?? "").slice(header.length), /^ {4}at .*test\/core\/errors\.test/);
  });
});

test("PUMICE_DEBUG keeps the frames inside the library", async () => {
  const program = `
    import { zeros } from "SRC/index.js";
    try { zeros([-1]); } catch (error) { console.log(error.stack.split("\\n")[1].includes("checkShape")); }`;
  for (const [debug, kept] of [
    ["", "false"],
    ["graph", "true"],
  ] as const) {
    // biome-ignore format: pairs
    const { output } = await runNode(program, { env: { PUMICE_DEVICE: "cpu", PUMICE_DEBUG: debug } });
    assert.equal(output.trim(), kept);
  }
});

test("every class is an error of ours, by the name of the class, and may have a cause", () => {
  const classes = Object.entries(errors).filter(([name]) => name.endsWith("Error"));
  assert.ok(classes.length >= 10);
  for (const [name, Class] of classes as [string, typeof errors.PumiceError][]) {
    const cause = new Error("the cause");
    const error = new Class("what, and what would work", { cause });
    assert.ok(error instanceof errors.PumiceError && error instanceof Error);
    assert.equal(error.name, name);
    assert.equal(error.cause, cause);
    assert.equal(String(error), `${name}: what, and what would work`);
  }
  assert.ok(!(new errors.ShapeError("") instanceof errors.DTypeError));
});
