/** Checks of arguments: what passes, and messages that name the operation, the value and the remedy. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  checkChoice,
  checkFunction,
  checkNumber,
  checkOptions,
  checkString,
  checkWhole,
  inOperation,
  type OptionKinds,
} from "../../src/core/arguments.js";
import { ArgumentError, DTypeError, ShapeError } from "../../src/core/errors.js";

interface Options {
  readonly axis?: number;
  readonly axes?: number | number[];
  readonly keep?: boolean;
  readonly dtype?: string;
  readonly own?: unknown;
}
const KINDS: OptionKinds<Options> = { axis: "number", axes: "numbers", keep: "flag", dtype: "dtype", own: "any" };
const check = (options: unknown) => checkOptions<Options>("sum", options as Options, KINDS);

test("options of their kind pass, also those that are undefined", () => {
  for (const options of [{}, { axis: 1 }, { axes: [0, 1], keep: undefined }, { dtype: "f16", own: Symbol("x") }]) {
    assert.doesNotThrow(() => check(options));
  }
});

test("a misspelt option, one of another kind and a bare value are refused, each with its remedy", () => {
  const refused: readonly (readonly [unknown, RegExp])[] = [
    [{ axs: 1 }, /^sum: there is no option "axs"; there are axis, axes, keep, dtype, own\.$/],
    [{ axis: "1" }, /^sum: the option axis is a number, not "1"\.$/],
    [{ axes: [0, "1"] }, /a number or a list of numbers, not \[0, "1"\]/],
    [{ keep: 1 }, /the option keep is true or false, not 1/],
    [1, /^sum: 1 stands where options do.*write \{ axis: 1 \} or \{ axes: 1 \}\.$/],
    [true, /write \{ keep: true \}/],
    [[0, 1], /write \{ axes: \[0, 1\] \}/],
    [null, /null stands where options do/],
  ];
  for (const [options, message] of refused) {
    assert.throws(
      () => check(options),
      (error: Error) => error instanceof ArgumentError && message.test(error.message),
      String(message),
    );
  }
  assert.throws(() => check({ dtype: "f31" }), /f31/);
  class Foreign {
    readonly size = 3;
  }
  assert.throws(() => check(new Foreign()), /a Foreign stands where options do/);
  assert.throws(
    () => checkOptions<{ axis?: number }>("flip", { axes: 1 } as never, { axis: "number" }),
    /the only one is axis/,
  );
});

test("single values: choices, whole numbers with a least, numbers, strings, functions", () => {
  assert.doesNotThrow(() => checkChoice("pad", "the mode", undefined, ["edge", "wrap"]));
  assert.throws(() => checkChoice("pad", "the mode", "warp", ["edge", "wrap"]), /"warp"; it is "edge" or "wrap"/);
  assert.equal(checkWhole("tile", "the count", 0, 0), 0);
  for (const value of [-1, 1.5, 2 ** 53, Number.NaN]) {
    assert.throws(() => checkWhole("tile", "the count", value, 0), /a whole number from 0 on/);
  }
  assert.equal(checkWhole("roll", "the shift", -5), -5);
  assert.ok(Number.isNaN(checkNumber("full", "the value", Number.NaN)));
  assert.throws(() => checkNumber("full", "the value", "3" as never), /full: the value is a number, not "3"/);
  assert.throws(() => checkString("save", "the path", 3 as never), /the path is a string, not 3/);
  assert.throws(() => checkFunction("jit", 3), /jit: takes a function, not 3/);
  assert.throws(() => checkFunction("scan", null, "the step"), /scan: the step is a function, not null/);
});

test("an error of a step names the operation that was called, with its class and its cause", () => {
  const inner = new ShapeError("reshape: 6 elements do not fill [4].");
  assert.throws(
    () =>
      inOperation("flatten", () => {
        throw inner;
      }),
    (error: Error) =>
      error instanceof ShapeError && error.message === "flatten: 6 elements do not fill [4]." && error.cause === inner,
  );
  const engine = new DTypeError("The device has no doubles.");
  assert.throws(
    () =>
      inOperation("flatten", () => {
        throw engine;
      }),
    /^DTypeError: flatten: The device has no doubles\./,
  );
  const foreign = new RangeError("x: y");
  assert.throws(
    () =>
      inOperation("flatten", () => {
        throw foreign;
      }),
    (error) => error === foreign,
  );
  assert.equal(
    inOperation("flatten", () => 7),
    7,
  );
});
