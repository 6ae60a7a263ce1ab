/**
 * Equations with lower triangular matrices on a GPU: a workgroup has a strip of columns of the solution in shared memory, and goes
 * down the rows, a block of them at a time. The rows before are known: their products with the block's part of the matrix are
 * subtracted, which all lanes share, and a lane for each column solves with the block on the diagonal. Workgroups never
 * wait for one another, so one kernel does it all. Matrices whose strips do not fit are cut into such ones (rewrite/blocked.ts).
 */
import type { Node } from "../../../../graph/node.js";
import type { ElementSettings } from "../../../elements/elements.js";
import type { Kernel, Value } from "../../../ir/ir.js";
import type { RoutinePlan } from "../../../target/routine.js";
import type { TileProfile } from "../../../target/tile-profile.js";
import { bytesOf, type Num, type NumberKind } from "../field.js";
import { MatrixKernel } from "../matrix-kernel.js";

/** Rows of a block, and columns of a strip. */
const BLOCK = 16;
/** Rows and columns of a block that a lane sums up, and steps of the sums that it takes at once. */
const TILE = 4;
/** Lanes that share a block. */
const SHARE = (BLOCK / TILE) ** 2;

/** Bytes of shared memory beside the strip: sums of half the lanes, and the block on the diagonal. */
const bytesBeside = (lanes: number, kind: NumberKind): number =>
  (lanes / SHARE / 2 + 1) * BLOCK * BLOCK * bytesOf(kind);

/** Lanes of a workgroup. */
const lanesOf = ({ maxLanes }: TileProfile): number => Math.min(256, maxLanes);

/** Rows of the largest matrices that a kernel takes; 0 on devices that would not gain by it. */
export function stripRows(kind: NumberKind, tiles: TileProfile): number {
  if (tiles.kind !== "shared" || tiles.maxLanes < SHARE) return 0;
  let rows = 512;
  const room = tiles.sharedBytes - bytesBeside(lanesOf(tiles), kind);
  while (rows >= 64 && rows * BLOCK * bytesOf(kind) > room) rows /= 2;
  return rows >= 64 ? rows : 0;
}

export function stripSolve(
  node: Node,
  batch: number,
  [n, m]: readonly [number, number],
  lanes: number,
  settings: ElementSettings,
): RoutinePlan {
  const strips = Math.ceil(m / BLOCK);
  const kernel = new MatrixKernel(`solveLower[${node.shape.join("×")}]`, batch * strips, lanes, node, settings);
  const isUnit = node.params.isUnit === true;
  return {
    temporaries: [],
    steps: [
      {
        kernel: new StripSolve(kernel, n, m, strips, isUnit).write(),
        buffers: [{ kind: "input", index: 0 }, { kind: "input", index: 1 }, { kind: "result" }],
        formula: ([l, b, x]) =>
          `${x} = the X with ${l} · X = ${b}${isUnit ? `, with ones for the diagonal of ${l}` : ""}`,
      },
    ],
  };
}

/** Lanes for a device. */
export const stripLanes = lanesOf;

class StripSolve {
  private readonly buffers;
  private readonly strip;
  private readonly partial;
  private readonly diagonal;
  private readonly matrix: Value;
  private readonly left: Value;
  /** Lanes in groups: a group sums up a part of the products. */
  private readonly groups: number;

  constructor(
    private readonly kernel: MatrixKernel,
    private readonly n: number,
    private readonly m: number,
    strips: number,
    private readonly isUnit: boolean,
  ) {
    const { k, f } = kernel;
    this.buffers = { l: f.buffer(false), b: f.buffer(false), x: f.buffer(true) };
    this.groups = k.lanes / SHARE;
    this.strip = f.array(Math.ceil(n / BLOCK) * BLOCK * BLOCK);
    this.partial = f.array(Math.max(1, this.groups / 2) * BLOCK * BLOCK);
    this.diagonal = f.array(BLOCK * BLOCK);
    this.matrix = k.binary("idiv", k.row, kernel.i(strips));
    this.left = kernel.mul(k.binary("irem", k.row, kernel.i(strips)), BLOCK);
  }

  write(): Kernel {
    const { kernel, n } = this;
    const { k } = kernel;
    kernel.each(Math.ceil(n / BLOCK), (block) => {
      const top = kernel.mul(block, BLOCK);
      const given = this.given(top);
      this.loadDiagonal(top);
      const sums = this.products(top);
      this.subtract(top, given, sums);
      k.barrier();
      kernel.when(kernel.less(k.lane, BLOCK), () => this.substitute(top));
      k.barrier();
      this.storeRows(top);
    });
    return k.finish();
  }

  /** The lane's elements of a block: as many rounds as it takes, with their row and column. */
  private elements(): { readonly row: Value; readonly column: Value; readonly at: Value }[] {
    const { kernel } = this;
    const { k } = kernel;
    return Array.from({ length: Math.ceil((BLOCK * BLOCK) / k.lanes) }, (_, turn) => {
      const at = kernel.add(k.lane, turn * k.lanes);
      return { row: k.binary("idiv", at, kernel.i(BLOCK)), column: k.binary("irem", at, kernel.i(BLOCK)), at };
    });
  }

  private isInside(row: Value, column: Value): Value {
    const { kernel, n, m } = this;
    return kernel.k.binary("and", kernel.less(row, n), kernel.less(column, m));
  }

  private inSides(row: Value, column: Value): Value {
    const { kernel, n, m } = this;
    return kernel.add(kernel.mul(kernel.add(kernel.mul(this.matrix, n), row), m), column);
  }

  private inMatrix(row: Value, column: Value): Value {
    const { kernel, n } = this;
    return kernel.add(kernel.mul(kernel.add(kernel.mul(this.matrix, n), row), n), column);
  }

  /** The right sides of the lane's elements. */
  private given(top: Value): Num[] {
    const { kernel } = this;
    const { k, f } = kernel;
    return this.elements().map(({ row, column }) => {
      const [i, j] = [kernel.add(top, row), kernel.add(this.left, column)];
      const gate = this.isInside(i, j);
      return f.select(gate, f.load(this.buffers.b, k.select(gate, this.inSides(i, j), kernel.i(0))), f.zero);
    });
  }

  private loadDiagonal(top: Value): void {
    const { kernel, n } = this;
    const { k, f } = kernel;
    for (const { row, column, at } of this.elements()) {
      const [i, j] = [kernel.add(top, row), kernel.add(top, column)];
      const gate = n % BLOCK === 0 ? null : k.binary("and", kernel.less(i, n), kernel.less(j, n));
      const place = this.inMatrix(i, j);
      const value = f.load(this.buffers.l, gate ? k.select(gate, place, kernel.i(0)) : place);
      f.set(this.diagonal, at, gate ? f.select(gate, value, f.one) : value);
    }
  }

  /** The lane's part of the products of the block's rows with the rows that are known. */
  private products(top: Value): Num[] {
    const { kernel, n } = this;
    const { k, f } = kernel;
    const within = k.binary("irem", k.lane, kernel.i(SHARE));
    const group = k.binary("idiv", k.lane, kernel.i(SHARE));
    const side = BLOCK / TILE;
    const [down, across] = [k.binary("idiv", within, kernel.i(side)), k.binary("irem", within, kernel.i(side))];
    const rows = Array.from({ length: TILE }, (_, r) => kernel.add(top, kernel.add(kernel.mul(down, TILE), r)));
    const column = kernel.mul(across, TILE);
    const flat = (numbers: readonly Num[]) => numbers.flatMap(({ re, im }) => (im ? [re, im] : [re]));
    const unflat = (values: readonly Value[]): Num[] =>
      f.isComplex
        ? Array.from({ length: TILE * TILE }, (_, i) => ({ re: values[2 * i], im: values[2 * i + 1] }))
        : values.map((re) => ({ re, im: null }));
    const zeros = Array.from({ length: TILE * TILE }, () => f.zero);
    const chunk = this.groups * TILE;
    const sums = k.loop(
      Math.ceil(n / chunk),
      [...flat(zeros), kernel.i(0)],
      (round, carried) => {
        const before = carried.slice(0, -1);
        const at = kernel.add(kernel.mul(round, chunk), kernel.mul(group, TILE));
        const next = k.when(
          kernel.less(at, top),
          () => flat(this.tileProducts(unflat(before), rows, at, column)),
          () => before,
        );
        return [...next, kernel.mul(kernel.add(round, 1), chunk)];
      },
      { exitWhen: (next) => k.compare("ge", next.at(-1) as Value, top) },
    );
    return unflat(sums.slice(0, -1));
  }

  /** Adds the products of a lane's rows at TILE steps of the summation. */
  private tileProducts(before: readonly Num[], rows: readonly Value[], at: Value, column: Value): Num[] {
    const { kernel, n } = this;
    const { k, f } = kernel;
    const factors = rows.map((row) => {
      const gate = n % BLOCK === 0 ? null : kernel.less(row, n);
      return Array.from({ length: TILE }, (_, d) => {
        const place = this.inMatrix(row, kernel.add(at, d));
        return f.load(this.buffers.l, gate ? k.select(gate, place, kernel.i(0)) : place);
      });
    });
    let sums = [...before];
    for (let d = 0; d < TILE; d++) {
      const known = f.getMany(this.strip, kernel.add(kernel.mul(kernel.add(at, d), BLOCK), column), TILE);
      sums = sums.map((sum, which) => f.mulAdd(factors[Math.floor(which / TILE)][d], known[which % TILE], sum));
    }
    return sums;
  }

  /** The right sides less the sums of all groups, into the strip. Half of the groups hand theirs over to the others first. */
  private subtract(top: Value, given: readonly Num[], sums: readonly Num[]): void {
    const { kernel, groups } = this;
    const { k, f } = kernel;
    const half = Math.max(1, groups / 2);
    const group = k.binary("idiv", k.lane, kernel.i(SHARE));
    const within = k.binary("irem", k.lane, kernel.i(SHARE));
    const side = BLOCK / TILE;
    const [down, across] = [k.binary("idiv", within, kernel.i(side)), k.binary("irem", within, kernel.i(side))];
    const slot = groups > 1 ? k.binary("irem", group, kernel.i(half)) : kernel.i(0);
    const line = (r: number) =>
      kernel.add(
        kernel.mul(slot, BLOCK * BLOCK),
        kernel.add(kernel.mul(kernel.add(kernel.mul(down, TILE), r), BLOCK), kernel.mul(across, TILE)),
      );
    const lines = Array.from({ length: TILE }, (_, r) => sums.slice(r * TILE, (r + 1) * TILE));
    if (groups > 1) {
      kernel.when(k.compare("ge", group, kernel.i(half)), () => {
        for (const [r, values] of lines.entries()) f.setMany(this.partial, line(r), values);
      });
      k.barrier();
    }
    kernel.when(kernel.less(group, half), () => {
      for (const [r, values] of lines.entries()) {
        const others = groups > 1 ? f.getMany(this.partial, line(r), TILE) : values.map(() => f.zero);
        f.setMany(
          this.partial,
          line(r),
          values.map((value, c) => f.add(value, others[c])),
        );
      }
    });
    k.barrier();
    this.elements().forEach(({ at }, turn) => {
      const parts = Array.from({ length: half }, (_, g) => f.get(this.partial, kernel.add(at, g * BLOCK * BLOCK)));
      const total = parts.reduce((x, y) => f.add(x, y));
      f.set(this.strip, kernel.add(kernel.mul(top, BLOCK), at), f.sub(given[turn], total));
    });
  }

  /** A lane solves for its column, whose elements it has in registers. */
  private substitute(top: Value): void {
    const { kernel, isUnit } = this;
    const { k, f } = kernel;
    const place = (i: number) => kernel.add(kernel.mul(kernel.add(top, i), BLOCK), k.lane);
    let values = Array.from({ length: BLOCK }, (_, i) => f.get(this.strip, place(i)));
    for (let j = 0; j < BLOCK; j++) {
      const known = isUnit ? values[j] : f.div(values[j], f.get(this.diagonal, kernel.i(j * BLOCK + j)));
      f.set(this.strip, place(j), known);
      values = values.map((value, i) =>
        i > j ? f.mulSub(f.get(this.diagonal, kernel.i(i * BLOCK + j)), known, value) : value,
      );
    }
  }

  private storeRows(top: Value): void {
    const { kernel } = this;
    const { f } = kernel;
    for (const { row, column, at } of this.elements()) {
      const [i, j] = [kernel.add(top, row), kernel.add(this.left, column)];
      const value = f.get(this.strip, kernel.add(kernel.mul(top, BLOCK), at));
      f.store(this.buffers.x, this.inSides(i, j), value, this.isInside(i, j));
    }
  }
}
