/** Attention and its gradients against plain loops, for any shape, options, dtype and device. */
import assert from "node:assert/strict";
import type { DType } from "../../src/core/dtype.js";
import { type AttentionOptions, attention, type Tensor, vjp } from "../../src/index.js";
import { type AttentionCase, attentionGradients, attentionOf } from "./attention-oracle.js";
import { randomFrom } from "./random.js";
import { count, numbersOf, type Plain, toTensor } from "./tensors.js";

export interface AttentionShapes {
  readonly batch: number;
  readonly heads: readonly [query: number, key: number];
  readonly tokens: readonly [queries: number, keys: number];
  readonly widths: readonly [d: number, e: number];
}

export interface AttentionChoices {
  readonly causal?: boolean;
  readonly window?: number | readonly [number, number];
  readonly scale?: number;
  readonly bias?: Plain;
  readonly mask?: Plain;
  readonly lengths?: readonly number[];
}

/** Numbers that bf16 holds exactly, so that no dtype changes them. */
export function sample(shape: readonly number[], seed: number, size = 2): Plain {
  const random = randomFrom(seed);
  return { shape, values: Array.from({ length: count(shape) }, () => ((random.below(65) - 32) / 32) * size) };
}

/** Two of three are true. */
export function bools(shape: readonly number[], seed: number): Plain {
  const random = randomFrom(seed);
  return { shape, values: Array.from({ length: count(shape) }, () => (random.below(3) > 0 ? 1 : 0)) };
}

export function attentionSample({ batch, heads, tokens, widths }: AttentionShapes, seed: number) {
  return {
    q: sample([batch, heads[0], tokens[0], widths[0]], seed),
    k: sample([batch, heads[1], tokens[1], widths[0]], seed + 1),
    v: sample([batch, heads[1], tokens[1], widths[1]], seed + 2),
  };
}

/** A case for the loops. */
export function caseOf(shapes: AttentionShapes, choices: AttentionChoices, seed: number): AttentionCase {
  const { causal, window, scale, bias, mask, lengths } = choices;
  const [before, behind] = typeof window === "number" ? [window, window] : (window ?? [Infinity, Infinity]);
  return { ...attentionSample(shapes, seed), scale, bias, mask, lengths, before, behind: causal ? 0 : behind };
}

/** Largest errors beside values of about 1: a few roundings of the dtype, and of what is kept in it on the way. */
const tolerance: Partial<Record<DType, number>> = { f64: 1e-13, f32: 3e-6, f16: 2e-3, bf16: 2e-2 };

export function expectNear(got: Tensor, want: Plain, within: number, what: string): void {
  assert.deepEqual(got.shape, want.shape, what);
  numbersOf(got).forEach((x, i) => {
    const expected = want.values[i]!;
    const isNear = Math.abs(x - expected) <= within * (1 + Math.abs(expected));
    assert.ok(isNear, `${what}: element ${i} is ${x}, not ${expected}`);
  });
}

/** `make` makes a tensor on the device to be tested. */
export function expectAttention(
  shapes: AttentionShapes,
  choices: AttentionChoices = {},
  dtype: DType = "f32",
  make: (plain: Plain, dtype: DType) => Tensor = toTensor,
  seed = 1,
): void {
  const given = caseOf(shapes, choices, seed);
  const { causal, window, scale, bias, mask, lengths } = choices;
  const fixed: AttentionOptions = {
    ...{ causal, window, scale, mask: mask && make(mask, "bool") },
    keyLength: lengths && make({ shape: [lengths.length], values: lengths }, "i32"),
  };
  const inputs = [given.q, given.k, given.v, ...(bias ? [bias] : [])].map((plain) => make(plain, dtype));
  const ct = sample([shapes.batch, shapes.heads[0], shapes.tokens[0], shapes.widths[1]], seed + 9, 1);
  const [out, pullback] = vjp(
    (x: Tensor, y: Tensor, z: Tensor, b?: Tensor) => attention(x, y, z, { ...fixed, bias: b }),
    ...(inputs as [Tensor, Tensor, Tensor]),
  );
  const within = tolerance[dtype]!;
  const what = JSON.stringify({ ...shapes, ...choices, bias: bias?.shape, mask: mask?.shape, dtype });
  assert.equal(out.dtype, dtype);
  expectNear(out, attentionOf(given), within, what);
  const found = pullback(make(ct, dtype)) as readonly Tensor[];
  const wanted = attentionGradients(given, ct);
  // Sums over all queries or keys, and factors: as many roundings more.
  const more = 4 * (1 + Math.abs(scale ?? 0));
  for (const [at, name] of ["q", "k", "v", "bias"].slice(0, wanted.length).entries()) {
    expectNear(found[at]!, wanted[at]!, more * within, `gradient of ${name}, ${what}`);
  }
}
