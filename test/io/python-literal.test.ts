/** Python literals, as .npy headers contain them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { FormatError } from "../../src/core/errors.js";
import { type PythonLiteral, parsePythonLiteral } from "../../src/io/python-literal.js";

const parse = (text: string) => parsePythonLiteral(text, "test");
const tuple = (...items: PythonLiteral[]) => ({ kind: "tuple", items }) as const;
const list = (...items: PythonLiteral[]) => ({ kind: "list", items }) as const;

test("values are read as Python reads them", () => {
  const cases: [string, unknown][] = [
    ["3", 3],
    ["-12", -12],
    ["10L", 10],
    ["True", true],
    ["False", false],
    ["None", null],
    ["'a'", "a"],
    [`"it's"`, "it's"],
    [String.raw`'\'\\\n\x41\u00e9'`, "'\\\nAé"],
    ["()", tuple()],
    ["(1,)", tuple(1)],
    ["(1)", 1],
    ["( 1 , 2 )", tuple(1, 2)],
    ["(1, 2,)", tuple(1, 2)],
    ["[]", list()],
    ["[1]", list(1)],
    ["[('x', '<f4'), ('y', '<i4', (2,))]", list(tuple("x", "<f4"), tuple("y", "<i4", tuple(2)))],
    ["{}", new Map()],
    [" {'a': 1, \"b\": (2, 3),} \n", new Map<string, unknown>(Object.entries({ a: 1, b: tuple(2, 3) }))],
  ];
  for (const [text, value] of cases) assert.deepEqual(parse(text), value, text);
});

test("anything else is a FormatError that names the place", () => {
  // biome-ignore format: rows read best
  const bad = [
    "", " ", "{", "{'a'", "{'a':", "{'a': 1", "{'a' 1}", "{1: 2}", "{'a': 1 'b': 2}", "(1 2)", "(1", "(,)", "[1, 2)",
    "'abc", "'a\nb'", String.raw`'\q'`, "1.5", "1e5", "0x10", "1 + 1", "abc", "__import__('os')", "True1", "- 1", "1 2",
    "{'a': 1}x", "\u0000", "b'x'",
  ];
  for (const text of bad) {
    assert.throws(
      () => parse(text),
      (error) => error instanceof FormatError && /at character \d+/.test(error.message),
      text,
    );
  }
  assert.throws(() => parse("{'a': 1, 'a': 2}"), /the key 'a' comes twice/);
});

test("deep nesting is refused, not followed", () => {
  assert.throws(() => parse("(".repeat(100_000)), /more than 32 nested values/);
  assert.doesNotThrow(() => parse(`${"[".repeat(30)}${"]".repeat(30)}`));
});
