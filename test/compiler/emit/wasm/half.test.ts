/** f16 and bf16 in WebAssembly, one at a time and four at a time, against core/half.ts: every code, and every kind of f32. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  decodeBrain,
  decodeHalf,
  encodeBrain,
  encodeHalf,
  fourWords,
  oneWord,
} from "../../../../src/compiler/emit/wasm/half.js";
import { decodeBf16, decodeF16, encodeBf16, encodeF16 } from "../../../../src/core/half.js";
import { ModuleBuilder } from "../../../../src/wasm/builder.js";
import { start } from "../../../wasm/running.js";

type Rule = typeof decodeHalf;

const COUNT = 65536;
/** Pages of 64 KiB for the words given and the words made. */
const SOURCE = 0;
const TARGET = 4 * COUNT;

function mapped(rule: Rule, words: Uint32Array, isVector: boolean): Uint32Array {
  const m = new ModuleBuilder({ memory: { min: 1 } });
  const run = m.function("run", ["i32"], [], (f, end) => {
    f.for(0, end, isVector ? 16 : 4, (at) => {
      if (isVector) {
        f.v128.store(f.i32.add(at, TARGET), rule(fourWords(f), f.v128.load(f.i32.add(at, SOURCE))));
      } else f.i32.store(f.i32.add(at, TARGET), rule(oneWord(f), f.i32.load(f.i32.add(at, SOURCE))));
    });
  });
  m.export(run);
  const { memory, exports } = start(m);
  memory.grow(7);
  new Uint32Array(memory.buffer, SOURCE, COUNT).set(words);
  exports.run!(4 * COUNT);
  return new Uint32Array(memory.buffer, TARGET, COUNT).slice();
}

const codes = Uint32Array.from({ length: COUNT }, (_, code) => code);
const asFloats = (words: Uint32Array) => new Float32Array(words.buffer);
/** The upper half counts through all exponents and signs, the lower half is around a tie. */
const floats = (lower: number) => Uint32Array.from(codes, (code) => ((code << 16) | lower) >>> 0);

for (const isVector of [false, true]) {
  describe(isVector ? "four at a time" : "one at a time", () => {
    for (const [name, decode, encode, value, bits] of [
      ["f16", decodeHalf, encodeHalf, decodeF16, encodeF16],
      ["bf16", decodeBrain, encodeBrain, decodeBf16, encodeBf16],
    ] as const) {
      test(`every ${name} is decoded`, () => {
        const got = asFloats(mapped(decode as Rule, codes, isVector));
        for (const code of codes) assert.ok(Object.is(got[code], value(code)), `${code}: ${got[code]}`);
      });

      for (const lower of [0, 0x1000, 0x7fff, 0x8000, 0x8001, 0xefff, 0xf000]) {
        test(`${name} is encoded from floats that end in 0x${lower.toString(16)}`, () => {
          const given = floats(lower);
          const got = mapped(encode as Rule, given, isVector);
          asFloats(given).forEach((x, i) => {
            if (Number.isNaN(x)) assert.ok(Number.isNaN(value(got[i]! & 0xffff)));
            else assert.equal(got[i]! & 0xffff, bits(x), `${x}`);
          });
        });
      }
    }
  });
}
