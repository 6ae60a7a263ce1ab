/** The hash of program keys: no collisions among a million structured keys, and both lanes well mixed. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Hasher, hashOf } from "../../src/core/hash.js";

describe("collisions", () => {
  /** What program keys look like: an operation, a dtype, a few small sizes and references to earlier nodes. */
  function* structuredKeys(count: number): Generator<(string | number)[]> {
    const operations = ["add", "mul", "sum", "exp"];
    const dtypes = ["f32", "i32", "f16", "bool", "f64"];
    for (let i = 0; i < count; i++) {
      const [n, m, k] = [i % 50, Math.floor(i / 50) % 50, Math.floor(i / 2500) % 20];
      const rest = Math.floor(i / 50000);
      yield [operations[rest % 4], dtypes[Math.floor(rest / 4)], n, m, k, 1];
    }
  }

  test("there are none in 64 bits among a million structured keys, and as many as chance has it in 32", () => {
    const count = 1_000_000;
    const whole = new Set<string>();
    const lanes = [new Set<string>(), new Set<string>()];
    for (const key of structuredKeys(count)) {
      const hash = hashOf(...key);
      whole.add(hash);
      lanes[0].add(hash.slice(0, 8));
      lanes[1].add(hash.slice(8));
    }
    assert.equal(whole.size, count);
    // Birthday: n²/2^33 = 116.4 collisions expected, Poisson; five standard deviations on both sides.
    for (const lane of lanes)
      assert.ok(Math.abs(count - lane.size - 116.4) < 5 * Math.sqrt(116.4), `${count - lane.size}`);
  });

  test("small integers, consecutive and alone, spread over all bits", () => {
    const ones = new Array<number>(64).fill(0);
    const count = 4096;
    for (let i = 0; i < count; i++) {
      const bits = BigInt(`0x${hashOf(i)}`);
      for (let bit = 0; bit < 64; bit++) ones[bit] += Number((bits >> BigInt(bit)) & 1n);
    }
    // Binomial with mean 2048 and deviation 32; five of them, over 64 bits.
    for (const [bit, n] of ones.entries()) assert.ok(Math.abs(n - count / 2) < 5 * 32, `bit ${bit} is set ${n} times`);
  });

  test("one changed bit of input changes half of the output bits", () => {
    let flipped = 0;
    let trials = 0;
    for (let i = 0; i < 200; i++) {
      for (let bit = 0; bit < 31; bit++) {
        const difference = BigInt(`0x${hashOf(i, 5)}`) ^ BigInt(`0x${hashOf(i ^ (1 << bit), 5)}`);
        flipped += difference.toString(2).replaceAll("0", "").length;
        trials += 64;
      }
    }
    const share = flipped / trials;
    assert.ok(Math.abs(share - 0.5) < 0.005, `share ${share}`);
  });
});

describe("what is told apart", () => {
  const distinct = (...hashes: string[]) => assert.equal(new Set(hashes).size, hashes.length);

  test("types, signs of zero, and where one string ends", () => {
    distinct(hashOf(1), hashOf("1"), hashOf(1n), hashOf(1.5), hashOf("1", ""), hashOf());
    distinct(hashOf(0), hashOf(-0), hashOf(""), hashOf(0n), hashOf(Number.NaN), hashOf("\0"));
    distinct(hashOf("ab", "c"), hashOf("a", "bc"), hashOf("abc"), hashOf("", "abc"));
    distinct(hashOf(2 ** 31), hashOf(-(2 ** 31)), hashOf(2 ** 32), hashOf(2 ** 53));
    distinct(hashOf(1, 2), hashOf(2, 1), hashOf(1), hashOf(1, 2, 0));
    distinct(new Hasher().numbers([1, 2]).numbers([]).hex(), new Hasher().numbers([1]).numbers([2]).hex());
  });

  test("bytes, at every length", () => {
    const all = Array.from({ length: 20 }, (_, n) => new Hasher().bytes(new Uint8Array(n)).hex());
    distinct(...all);
    distinct(new Hasher().bytes(Uint8Array.of(1, 0)).hex(), new Hasher().bytes(Uint8Array.of(0, 1)).hex());
  });

  test("all NaNs are one", () => {
    const odd = new Float64Array(new BigUint64Array([0xfff8000000000123n]).buffer)[0];
    assert.equal(hashOf(odd), hashOf(Number.NaN));
  });
});

test("a hash is sixteen hexadecimal digits, reading it changes nothing, and it is the same in every process", () => {
  const hasher = new Hasher().string("matmul").number(4096);
  assert.match(hasher.hex(), /^[0-9a-f]{16}$/);
  assert.equal(hasher.hex(), hasher.hex());
  assert.equal(hasher.number(1).hex(), hashOf("matmul", 4096, 1));
  // Caches on disk rely on it: a change of this value must be a change of the cache's version.
  assert.equal(hashOf("matmul", 4096, 0.5, -1n), "31766723f2b9b36c");
});
