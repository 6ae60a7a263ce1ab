/**
 * Singular values of small matrices by one-sided Jacobi rotations (Hestenes 1958), one matrix to a workgroup: rows are rotated
 * in pairs until all are orthogonal; their lengths are then the singular values. Small ones come out with relative accuracy
 * (Demmel and Veselić 1992). A few lanes share a pair: they add up its three products through shared memory.
 */
import { productOf } from "../../../../core/shape.js";
import type { Value } from "../../../ir/ir.js";
import { KernelBuilder } from "../../../ir/kernel-builder.js";
import type { TargetProfile } from "../../../target/profile.js";
import type { Routine } from "../../../target/routine.js";
import { bytesOf, Field, kindOf, type Num, type NumberKind, shapeOf } from "../field.js";
import {
  arrayBytes,
  arrayWorkspace,
  bufferWorkspace,
  eachByLane,
  epsilonOf,
  powerOfTwo,
  type Workspace,
} from "../workspace.js";
import { MOST_SWEEPS, pairAt, rotated, rotationOf } from "./jacobi-pairs.js";

/** Lanes that share a pair on a GPU. */
const PAIR_LANES = 8;

/**
 * Inputs: matrices X [.., r, c]. Results: the singular values [.., r], falling; the rotated rows Y [.., r, c], in that order;
 * and the rotations W [.., r, r], Y = W · X.
 */
export const jacobiSvdRoutine: Routine = (node, profile, settings) => {
  const kind = kindOf(node);
  const shape = shapeOf(node.inputs[0], kind.isComplex);
  const [r, c] = shape.slice(-2) as [number, number];
  const batch = productOf(shape.slice(0, -2));
  const layout = layoutOf(r, c, kind, profile);
  const k = new KernelBuilder(`jacobiSvd[${shape.join("×")}]`, r * c === 0 ? 0 : batch, layout.lanes);
  const field = new Field(k, kind, settings);
  const source = field.buffer(false);
  const [values, rows, turns] = [k.buffer(kind.type, true), field.buffer(true), field.buffer(true)];
  const outside = layout.words.flatMap((words, which) =>
    layout.isInside[which] ? [] : [{ which, words, buffer: field.buffer(true) }],
  );
  const [x, w] = layout.words.map((words, which) => {
    const found = outside.find((each) => each.which === which);
    if (!found) return arrayWorkspace(field, words);
    return bufferWorkspace(k, field, found.buffer, k.binary("mul", k.row, k.constant("i32", words)));
  });
  new JacobiSvd(k, field, r, c, layout, x, w).write(source, values, rows, turns);
  const parts = kind.isComplex ? [2] : [];
  return {
    temporaries: outside.map(({ words }) => ({ dtype: kind.type, shape: [batch, words, ...parts] })),
    steps: [
      {
        kernel: k.finish(),
        buffers: [
          { kind: "input", index: 0 },
          ...[0, 1, 2].map((part) => ({ kind: "result", part }) as const),
          ...outside.map((_, index) => ({ kind: "temporary", index }) as const),
        ],
        formula: ([a, s, y, turned]) => `${s}, ${y}, ${turned} = lengths of orthogonal rows ${y} = ${turned} · ${a}`,
      },
    ],
  };
};

interface Layout {
  readonly lanes: number;
  readonly perPair: number;
  readonly words: readonly [number, number];
  readonly isInside: readonly [boolean, boolean];
}

function layoutOf(r: number, c: number, kind: NumberKind, profile: TargetProfile): Layout {
  const players = r + (r % 2);
  const isAlone = profile.maxLanes === 1;
  const perPair = isAlone ? 1 : PAIR_LANES;
  const lanes = isAlone ? 1 : Math.min(profile.maxLanes, Math.max(32, powerOfTwo((players / 2) * perPair)));
  const words = [players * pitchOf(c), players * pitchOf(players)] as const;
  let room = arrayBytes(profile) - 5 * lanes * 8 - r * 12;
  const isInside = words.map((count) => {
    const bytes = count * bytesOf(kind);
    if (bytes > room) return false;
    room -= bytes;
    return true;
  });
  return { lanes, perPair, words, isInside: isInside as unknown as readonly [boolean, boolean] };
}

/** Odd, so that neighbouring rows lie in different banks. */
const pitchOf = (width: number): number => width + 1 - (width % 2);

class JacobiSvd {
  private readonly players: number;
  private readonly pairs: number;
  private readonly products: Workspace;
  private readonly squares: readonly [number, number];
  private readonly active: number;

  constructor(
    private readonly k: KernelBuilder,
    private readonly field: Field,
    private readonly r: number,
    private readonly c: number,
    private readonly layout: Layout,
    private readonly x: Workspace,
    private readonly w: Workspace,
  ) {
    this.players = r + (r % 2);
    this.pairs = this.players / 2;
    this.products = arrayWorkspace(field, k.lanes);
    this.squares = [k.array(field.type, k.lanes), k.array(field.type, k.lanes)];
    this.active = k.array("i32", 2);
  }

  write(source: number, values: number, rows: number, turns: number): void {
    const { k, r, c, players } = this;
    const i = (value: number) => k.constant("i32", value);
    this.fill(source, k.binary("mul", k.row, i(r * c)));
    k.barrier();
    if (r > 1) this.sweeps(players);
    this.store(values, rows, turns);
  }

  private fill(source: number, first: Value): void {
    const { k, field, r, c, players } = this;
    const i = (value: number) => k.constant("i32", value);
    eachByLane(k, players * c, (item) => {
      const [row, column] = [k.binary("idiv", item, i(c)), k.binary("irem", item, i(c))];
      const isThere = k.compare("lt", row, i(r));
      const loaded = field.load(source, k.binary("add", first, k.select(isThere, item, i(0))));
      this.x.set(at(k, row, column, pitchOf(c)), field.select(isThere, loaded, field.zero));
    });
    eachByLane(k, players * players, (item) => {
      const [row, column] = [k.binary("idiv", item, i(players)), k.binary("irem", item, i(players))];
      const isDiagonal = k.compare("eq", row, column);
      this.w.set(at(k, row, column, pitchOf(players)), field.select(isDiagonal, field.one, field.zero));
    });
  }

  private sweeps(players: number): void {
    const { k } = this;
    const i = (value: number) => k.constant("i32", value);
    k.loop(
      MOST_SWEEPS,
      [i(1)],
      () => {
        k.set(this.active, i(0), i(0), k.compare("eq", k.lane, i(0)));
        k.barrier();
        k.loop(players - 1, [], (turn) => {
          this.turn(turn);
          return [];
        });
        const found = k.get(this.active, i(0));
        k.barrier();
        return [found];
      },
      { exitWhen: ([found]) => k.compare("eq", found, i(0)) },
    );
  }

  /** All pairs of a turn, as many at once as there are lanes for. */
  private turn(turn: Value): void {
    const { k, pairs, layout } = this;
    const i = (value: number) => k.constant("i32", value);
    const atOnce = k.lanes / layout.perPair;
    const own = k.binary("idiv", k.lane, i(layout.perPair));
    const one = (pair: Value) => this.pair(turn, pair, k.binary("irem", k.lane, i(layout.perPair)));
    if (pairs <= atOnce) {
      one(own);
      return;
    }
    k.loop(Math.ceil(pairs / atOnce), [], (round) => {
      one(k.binary("add", own, k.binary("mul", round, i(atOnce))));
      return [];
    });
  }

  private pair(turn: Value, given: Value, lane: Value): void {
    const { k, field, pairs, players, c, r } = this;
    const i = (value: number) => k.constant("i32", value);
    const isThere = k.compare("lt", given, i(pairs));
    const [p, q] = pairAt(k, players, turn, k.select(isThere, given, i(0)));
    const [first, second, product] = this.products3(p, q, lane);
    const limit = k.binary(
      "mul",
      k.binary("mul", first, second),
      k.constant(field.type, c * epsilonOf(field.type) ** 2),
    );
    const square = field.squared(product);
    const isActive = k.binary("and", isThere, k.compare("gt", square, limit));
    const rotation = rotationOf(k, field, [first, second], product, isActive);
    k.when(isActive, () => {
      const turnRows = (space: Workspace, width: number, pitch: number) =>
        this.along(width, lane, (column) => {
          const [a, b] = [at(k, p, column, pitch), at(k, q, column, pitch)];
          const [left, right] = rotated(k, field, space.get(a), space.get(b), rotation);
          space.set(a, left);
          space.set(b, right);
        });
      turnRows(this.x, c, pitchOf(c));
      turnRows(this.w, r, pitchOf(players));
      k.set(this.active, i(0), i(1));
      return [];
    });
    k.barrier();
  }

  /** Positions along a row, shared out among the lanes of a pair. */
  private along(width: number, lane: Value, body: (column: Value) => void): void {
    const { k, layout } = this;
    const i = (value: number) => k.constant("i32", value);
    const { perPair } = layout;
    k.loop(Math.ceil(width / perPair), [], (round) => {
      const column = k.binary("add", lane, k.binary("mul", round, i(perPair)));
      if (width % perPair === 0) body(column);
      else {
        k.when(k.compare("lt", column, i(width)), () => {
          body(column);
          return [];
        });
      }
      return [];
    });
  }

  /** |p|², |q|² and p · conj(q), the same for all lanes of the pair. */
  private products3(p: Value, q: Value, lane: Value): [Value, Value, Num] {
    const { k, field, c, layout } = this;
    const { perPair } = layout;
    const i = (value: number) => k.constant("i32", value);
    const zero = k.constant(field.type, 0);
    const initial = [zero, zero, zero, ...(field.isComplex ? [zero] : [])];
    const isRagged = c % perPair !== 0;
    const sums = k.loop(Math.ceil(c / perPair), initial, (round, before) => {
      const column = k.binary("add", lane, k.binary("mul", round, i(perPair)));
      const isInside = isRagged ? k.compare("lt", column, i(c)) : null;
      const safe = isInside ? k.select(isInside, column, i(0)) : column;
      const read = (row: Value) => {
        const x = this.x.get(at(k, row, safe, pitchOf(c)));
        return isInside ? field.select(isInside, x, field.zero) : x;
      };
      const [a, b] = [read(p), read(q)];
      const product = field.mul(a, field.conj(b));
      const terms = [field.squared(a), field.squared(b), product.re, ...(product.im ? [product.im] : [])];
      return before.map((sum, which) => k.binary("add", sum, terms[which]));
    });
    if (perPair === 1) return [sums[0], sums[1], { re: sums[2], im: sums[3] ?? null }];
    k.set(this.squares[0], k.lane, sums[0]);
    k.set(this.squares[1], k.lane, sums[1]);
    this.products.set(k.lane, { re: sums[2], im: sums[3] ?? null });
    k.barrier();
    const begin = k.binary("sub", k.lane, lane);
    const all = Array.from({ length: perPair }, (_, each) => k.binary("add", begin, i(each)));
    const total = (array: number) => all.map((index) => k.get(array, index)).reduce((x, y) => k.binary("add", x, y));
    const product = all.map((index) => this.products.get(index)).reduce((x, y) => field.add(x, y));
    return [total(this.squares[0]), total(this.squares[1]), product];
  }

  /** Writes everything in falling order of the lengths. */
  private store(values: number, rows: number, turns: number): void {
    const { k, field, r, c, players } = this;
    const i = (value: number) => k.constant("i32", value);
    const [lengths, order] = [k.array(field.type, r), k.array("i32", r)];
    const zero = k.constant(field.type, 0);
    eachByLane(k, r, (row) => {
      const [sum] = k.loop(c, [zero], (column, [before]) => [
        k.binary("add", before, field.squared(this.x.get(at(k, row, column, pitchOf(c))))),
      ]);
      k.set(lengths, row, field.sqrtReal(sum));
    });
    k.barrier();
    eachByLane(k, r, (row) => {
      const own = k.get(lengths, row);
      const [rank] = k.loop(r, [i(0)], (other, [before]) => {
        const its = k.get(lengths, other);
        const isSame = k.binary("and", k.unary("not", k.compare("gt", own, its)), k.compare("lt", other, row));
        const isBefore = k.binary("or", k.compare("gt", its, own), isSame);
        return [k.binary("add", before, k.select(isBefore, i(1), i(0)))];
      });
      k.set(order, row, rank);
      k.store(values, k.binary("add", k.binary("mul", k.row, i(r)), rank), own, k.lanes === 1);
    });
    k.barrier();
    const write = (buffer: number, space: Workspace, width: number, pitch: number) =>
      eachByLane(k, r * width, (item) => {
        const [row, column] = [k.binary("idiv", item, i(width)), k.binary("irem", item, i(width))];
        const to = k.binary("add", k.binary("mul", k.get(order, row), i(width)), column);
        const first = k.binary("mul", k.row, i(r * width));
        field.store(buffer, k.binary("add", first, to), space.get(at(k, row, column, pitch)));
      });
    write(rows, this.x, c, pitchOf(c));
    write(turns, this.w, r, pitchOf(players));
  }
}

const at = (k: KernelBuilder, row: Value, column: Value, pitch: number): Value =>
  k.binary("add", k.binary("mul", row, k.constant("i32", pitch)), column);
