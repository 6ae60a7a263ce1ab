/**
 * Every function of `pumice/bayes`, `pumice/learn` and `pumice/nn` with arguments that are none: what comes back is a value, or an error
 * of ours. (Functions of tensors have a sweep of their own, tensor/misuse-sweep.test.ts.)
 */
import assert from "node:assert/strict";
import { before, test } from "node:test";
import * as bayes from "../src/bayes/index.js";
import { PumiceError, setDefaultDevice, Tensor, tensor } from "../src/index.js";
import * as learn from "../src/learn/index.js";
import * as nn from "../src/nn/index.js";
import { temporaryFolders } from "./support/temporary-folder.js";

const newFolder = temporaryFolders();
before(() => {
  setDefaultDevice("cpu");
  // A string may be the path of a file to write.
  process.chdir(newFolder());
});

type Call = (...args: readonly unknown[]) => unknown;

const ARGUMENTS: Readonly<Record<string, () => readonly unknown[]>> = {
  none: () => [],
  undefined: () => [undefined],
  null: () => [null],
  "a string": () => ["x"],
  "an object": () => [{}],
  NaN: () => [Number.NaN],
  "an empty list": () => [[]],
  "a negative number": () => [-1],
  "a function": () => [() => 1],
  "a symbol": () => [Symbol("no")],
  "a vector and nothing": () => [tensor([1, 2]), undefined],
  "two lists": () => [[1, 2], [3, 4]], // biome-ignore format: a row
  "tensors and an object": () => [tensor([[1, 2], [3, 4]]), tensor([1, 2]), {}], // biome-ignore format: a row
  numbers: () => [1, 2, 3],
  "an unknown option": () => [tensor([1, 2]), { nonsense: 1 }],
  "no elements": () => [tensor([])],
  "complex numbers": () => [tensor([{ re: 1, im: 2 }])],
};

/**
 * The functions of a namespace, and of those in it. The rules of constraints are called by models, and initialisers by layers, not by
 * users.
 */
function functionsOf(space: object, prefix = ""): [name: string, call: Call][] {
  return Object.entries(space).flatMap(([key, value]): [string, Call][] => {
    const name = prefix + key;
    if (typeof value === "function") return /^class/.test(String(value)) ? [] : [[name, value]];
    const isSpace = typeof value === "object" && value !== null && !(value instanceof Tensor) && !("holds" in value);
    return isSpace && key !== "initializers" && prefix === "" ? functionsOf(value, `${name}.`) : [];
  });
}

async function complaint(call: Call, args: readonly unknown[]): Promise<string | null> {
  try {
    await call(...args);
    return null;
  } catch (error) {
    return error instanceof PumiceError ? null : String(error);
  }
}

for (const [title, space] of Object.entries({ bayes, learn, nn })) {
  test(`functions of pumice/${title} refuse what is no argument of theirs by name`, async () => {
    const found: string[] = [];
    for (const [name, call] of functionsOf(space)) {
      for (const [what, args] of Object.entries(ARGUMENTS)) {
        const complained = await complaint(call, args());
        if (complained !== null) found.push(`${name} with ${what}: ${complained}`);
      }
    }
    assert.deepEqual(found, []);
  });
}
