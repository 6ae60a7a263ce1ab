/** JSON headers: JSON.parse's answers where it has one, and errors where it is too lenient. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { FormatError } from "../../src/core/errors.js";
import { type JsonValue, parseStrictJson } from "../../src/io/strict-json.js";

const parse = (text: string) => parseStrictJson(text, 8, "test");

function plain(value: JsonValue): unknown {
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, item]) => [key, plain(item)]));
  return Array.isArray(value) ? value.map(plain) : value;
}

test("what JSON.parse reads is read alike", () => {
  // biome-ignore format: rows read best
  const texts = [
    "1", "-0", "1.5e3", "-1E-2", "0.25", '""',
    '"a\\"b\\\\c\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude00"', '"größe 😀"', "true", "false",
    "null", "[]", "[1,[2,[3]]]", "{}", '{"a":{"b":[null,true]},"":0}', ' { "a" : [ 1 , 2 ] } \n\t\r', '{"__proto__":1}',
  ];
  for (const text of texts) assert.deepEqual(plain(parse(text)), JSON.parse(text), text);
});

test("what JSON.parse refuses is refused, with the place", () => {
  // biome-ignore format: rows read best
  const texts = [
    "", " ", "{", "[", "[1,]", '{"a":1,}', "{a:1}", "{'a':1}",
    '{"a"}', '{"a":}', "01", "1.", ".5", "+1", "1e", "tru", "nul",
    '"', '"a', '"\\x"', '"\\u12"', '"\n"', "[1 2]", '{"a":1 "b":2}', "1 2", "NaN",
    "Infinity", "\ufeff{}", "[1]]", "/**/1", "\u00a01",
  ];
  for (const text of texts) {
    assert.throws(() => JSON.parse(text), SyntaxError, text);
    assert.throws(
      () => parse(text),
      (error) => error instanceof FormatError && /at character \d+/.test(error.message),
      text,
    );
  }
});

test("beyond JSON.parse: keys that come twice, half a surrogate pair, deep nesting", () => {
  assert.throws(() => parse('{"a":1,"b":2,"a":3}'), /the key "a" comes twice at character 16/);
  assert.throws(() => parse('{"a":1,"\\u0061":3}'), /comes twice/);
  assert.throws(() => parse('"\\ud800"'), /half a surrogate pair/);
  assert.throws(() => parse("[".repeat(1_000_000)), /more than 8 nested values/);
  assert.throws(() => parse('{"a":'.repeat(1_000_000)), /more than 8 nested values/);
});
