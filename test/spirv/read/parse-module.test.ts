/** Reading modules into tables, in either byte order, and refusing those that drivers would crash on. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { FormatError } from "../../../src/core/errors.js";
import { Decoration, Op } from "../../../src/spirv/enumerants.js";
import { ModuleBuilder } from "../../../src/spirv/index.js";
import { parseModule, toWords } from "../../../src/spirv/read/parse-module.js";

function specimen(version: [1, number] = [1, 5]): Uint32Array {
  const m = new ModuleBuilder({ version: version as never });
  const a = m.storageBuffer(m.u32, { binding: 3, name: "a" });
  const write = m.function("write", [], m.void, () => a.store(0, 1));
  m.entry("begin", { localSize: [4, 2] }, (f) => void f.call(write));
  return m.build();
}
const bytesOf = (words: Uint32Array) =>
  new Uint8Array(words.buffer.slice(words.byteOffset, words.byteOffset + words.byteLength));

test("bytes become words in either order, from any offset", () => {
  const words = specimen();
  assert.deepEqual(toWords(bytesOf(words)), words);
  const swapped = Buffer.from(bytesOf(words)).swap32();
  assert.deepEqual(toWords(swapped), words);
  const askew = Buffer.concat([Buffer.alloc(1), bytesOf(words)]).subarray(1);
  assert.deepEqual(toWords(askew), words);
});

test("what is no SPIR-V is refused, GLSL with a hint", () => {
  assert.throws(() => toWords(new Uint8Array(3)), FormatError);
  assert.throws(() => toWords(bytesOf(specimen()).subarray(0, -1)), /not a whole number of words/);
  assert.throws(() => toWords(Buffer.from("#version 450\nvoid main() {}")), /GLSL must be compiled first/);
});

test("entry points, modes, decorations and definitions are found by id", () => {
  const parsed = parseModule(specimen());
  assert.deepEqual(parsed.version, [1, 5]);
  const [entry] = parsed.entries;
  assert.equal(entry?.name, "begin");
  assert.ok(parsed.functions.has(entry!.id));
  const mode = parsed.modes.find(([op]) => op === Op.ExecutionMode);
  assert.deepEqual(mode?.slice(3), [4, 2, 1]);
  const [buffer] =
    [...parsed.decorations].find(([, list]) => list.some(([d, n]) => d === Decoration.Binding && n === 3)) ?? [];
  assert.equal(parsed.definitions.get(buffer!)?.[0], Op.Variable);
  assert.deepEqual(entry?.interfaces, [buffer]);
  assert.equal(parsed.listsAllGlobals, true);
});

test("before 1.4 the variables are found in the functions that mention them", () => {
  const parsed = parseModule(specimen([1, 3]));
  assert.equal(parsed.listsAllGlobals, false);
  const [variable] = [...parsed.definitions].find(([, [op]]) => op === Op.Variable) ?? [];
  assert.ok([...parsed.functions.values()].some((ids) => ids.has(variable!)));
});

test("a module that is cut off, or has a function without its end, is refused", () => {
  const words = specimen();
  assert.throws(() => parseModule(words.subarray(0, words.length - 1)), /ends inside a function/);
  const inside = words.slice();
  inside[5] = (2000 << 16) | Op.Capability;
  assert.throws(() => parseModule(inside), /runs past the end/);
  const bound = words.slice();
  bound[3] = 0;
  assert.throws(() => parseModule(bound), /id bound is 0/);
  const end = words.lastIndexOf((1 << 16) | Op.Return);
  const withoutReturn = Uint32Array.from([...words.subarray(0, end), ...words.subarray(end + 1)]);
  assert.throws(() => parseModule(withoutReturn), /out of place/);
});
