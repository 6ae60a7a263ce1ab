/**
 * The kernel of a pass on a CPU: a thread takes four neighbouring transforms, one in each lane of its vectors, or a single one
 * where there are few. Stages go back and forth between two arrays (Stockham), which stay in the first or second cache.
 */
import { DTYPES } from "../../../core/dtype.js";
import type { Kernel, Value } from "../../ir/ir.js";
import { KernelBuilder } from "../../ir/kernel-builder.js";
import type { ComplexValue } from "./complex-values.js";
import { countOf, type Pass, type Stage, stagesOf } from "./pass.js";
import { PassKernel, type Transform } from "./pass-kernel.js";

const LANES = 4;
/** Elements in an array of the kernel. */
interface Parts {
  readonly re: number;
  readonly im: number;
}

export function vectorRowsKernel(pass: Pass): Kernel {
  // The lanes take neighbours along the first digit that has enough.
  const along = Math.max(
    0,
    pass.digits.findIndex(({ extent }) => extent >= LANES),
  );
  const first = pass.digits[along]?.extent ?? 1;
  const lanes = first >= LANES ? LANES : 1;
  const groups = Math.ceil(first / lanes);
  const k = new KernelBuilder(pass.name, (countOf(pass) / first) * groups, lanes);
  // If lanes are left over, the last group begins earlier and computes some transforms again.
  k.isRepeating = first % lanes !== 0;
  const p = new PassKernel(k, pass);
  const transform = transformOf(p, along, groups);
  const stages = stagesOf(pass);
  const isHalved = pass.writing.kind === "halved";
  const turns = stages.length > 1 || isHalved ? Array.from({ length: 2 }, () => arrays(k, pass)) : [];
  stages.forEach((stage, at) => {
    const from = at === 0 ? null : turns[(at - 1) % 2];
    const to = at === stages.length - 1 && !isHalved ? null : turns[at % 2];
    stageLoop(p, stage, transform, from, to);
  });
  if (stages.length === 0) p.write(transform, p.i(0), p.read(transform, p.i(0)), null);
  else if (isHalved) halvedLoop(p, transform, turns[(stages.length - 1) % 2]);
  return k.finish();
}

/** Bytes between arrays: where their sizes are powers of two, the parts of a number would lie in the same set of a cache. */
const BETWEEN = 1024;

/** Numbers of the lanes are neighbours; where the parts of a number lie. */
function arrays(k: KernelBuilder, { type, length }: Pass): Parts {
  const size = length * k.lanes + BETWEEN / DTYPES[type].bytes;
  return { re: k.array(type, size), im: k.array(type, size) };
}

/** The transforms of a row: the lanes have neighbours along one digit, and share the others. */
function transformOf(p: PassKernel, along: number, groups: number): Transform {
  const { k, pass } = p;
  const isSingle = pass.digits.length <= 1;
  const [others, group] = isSingle ? [p.i(0), k.row] : p.divided(k.row, groups);
  let rest = others;
  const digits = pass.digits.map(({ extent }, at) => {
    if (at === along) {
      const start = p.mul(group, k.lanes);
      return p.add(extent % k.lanes === 0 ? start : k.binary("min", start, p.i(extent - k.lanes)), k.lane);
    }
    const [quotient, remainder] = p.divided(rest, extent);
    rest = quotient;
    return remainder;
  });
  return p.transform(digits);
}

const placeOf = (p: PassKernel, at: Value): Value => p.add(p.mul(at, p.k.lanes), p.k.lane);

const get = (p: PassKernel, { re, im }: Parts, at: Value): ComplexValue => {
  const place = placeOf(p, at);
  return { re: p.k.get(re, place), im: p.k.get(im, place) };
};

/** The butterflies of a stage; those with the same roots follow each other. */
function stageLoop(p: PassKernel, stage: Stage, transform: Transform, from: Parts | null, to: Parts | null): void {
  const { k, pass } = p;
  const { radix, done } = stage;
  const blocks = pass.length / (radix * done);
  const each = (within: Value, block: Value, roots: readonly ComplexValue[]) => {
    const b = p.add(p.mul(block, done), within);
    const given = p.places(stage, b).map((place) => (from ? get(p, from, place) : p.read(transform, place)));
    const results = p.butterfly(stage, given, roots);
    const first = p.add(p.mul(block, done * radix), within);
    const placeAt = (m: number) => p.add(first, p.i(m * done));
    const made = results.map((value, m) => p.factored(stage, value, placeAt(m)));
    if (!to) p.writeAll(stage, transform, first, made, null);
    else {
      made.forEach(({ re, im }, m) => {
        k.set(to.re, placeOf(p, placeAt(m)), re);
        k.set(to.im, placeOf(p, placeAt(m)), im);
      });
    }
  };
  times(p, done, (within) => {
    const roots = p.rootsFor(stage, within);
    times(p, blocks, (block) => each(within, block, roots));
  });
}

function times(p: PassKernel, count: number, body: (at: Value) => void): void {
  if (count === 1) body(p.i(0));
  else {
    p.k.loop(count, [], (at) => {
      body(at);
      return [];
    });
  }
}

function halvedLoop(p: PassKernel, transform: Transform, from: Parts): void {
  const { k, pass } = p;
  times(p, Math.floor(pass.length / 2) + 1, (at) => {
    const isFirst = k.compare("eq", at, p.i(0));
    const across = k.select(isFirst, p.i(0), k.binary("sub", p.i(pass.length), at));
    p.writeHalved(transform, at, get(p, from, at), get(p, from, across), null);
  });
}
