/** Words of SPIR-V: instructions with their counts, strings in their bytes, and no limit but SPIR-V's own. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { WordStream } from "../../src/spirv/word-stream.js";

const wordsOf = (write: (stream: WordStream) => void): number[] => {
  const stream = new WordStream();
  write(stream);
  return [...stream.view()];
};

test("an instruction is its count and opcode, then its operands", () => {
  assert.deepEqual(
    wordsOf((s) => s.op0(253)),
    [0x100fd],
  );
  assert.deepEqual(
    wordsOf((s) => s.op1(17, 1)),
    [0x20011, 1],
  );
  assert.deepEqual(
    wordsOf((s) => s.op2(19, 1, 2)),
    [0x30013, 1, 2],
  );
  assert.deepEqual(
    wordsOf((s) => s.op3(43, 1, 2, 3)),
    [0x4002b, 1, 2, 3],
  );
  assert.deepEqual(
    wordsOf((s) => s.op4(43, 1, 2, 3, 4)),
    [0x5002b, 1, 2, 3, 4],
  );
  assert.deepEqual(
    wordsOf((s) => s.op5(12, 1, 2, 3, 4, 5)),
    [0x6000c, 1, 2, 3, 4, 5],
  );
});

test("one of unknown length gets its count when it is closed", () => {
  const words = wordsOf((s) => {
    s.op0(1);
    const mark = s.open(44);
    for (const word of [9, 8, 7]) s.push(word);
    s.close(mark);
    s.op0(2);
  });
  assert.deepEqual(words, [0x10001, 0x4002c, 9, 8, 7, 0x10002]);
});

test("more words than a count can hold are refused", () => {
  const stream = new WordStream();
  const mark = stream.open(44);
  for (let i = 0; i < 65534; i++) stream.push(i);
  stream.close(mark);
  assert.equal(stream.view()[0]! >>> 16, 65535);
  const longer = new WordStream();
  const start = longer.open(44);
  for (let i = 0; i < 65535; i++) longer.push(i);
  assert.throws(() => longer.close(start), /has 65536 words; SPIR-V allows 65535/);
});

test("a string ends with a NUL and fills its last word, in UTF-8 with the first byte lowest", () => {
  assert.deepEqual(
    wordsOf((s) => s.string("")),
    [0],
  );
  assert.deepEqual(
    wordsOf((s) => s.string("abc")),
    [0x00636261],
  );
  assert.deepEqual(
    wordsOf((s) => s.string("main")),
    [0x6e69616d, 0],
  );
  // é is C3 A9; € is E2 82 AC.
  assert.deepEqual(
    wordsOf((s) => s.string("é€")),
    [0x82e2a9c3, 0xac],
  );
  assert.throws(() => wordsOf((s) => s.string("a\0b")), /cannot hold a NUL/);
});

test("streams grow and are appended", () => {
  const [a, b] = [new WordStream(), new WordStream()];
  for (let i = 0; i < 100; i++) a.push(i);
  for (let i = 100; i < 250; i++) b.push(i);
  a.append(b);
  assert.deepEqual(
    [...a.view()],
    Array.from({ length: 250 }, (_, i) => i),
  );
  assert.equal(a.length, 250);
});
