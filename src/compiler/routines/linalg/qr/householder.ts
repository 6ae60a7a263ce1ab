/**
 * A panel of Householder reflections: one workgroup makes the columns of a panel upper triangular, one after another. A whole
 * small matrix is one panel, and there are thousands of them in a dispatch; of a large matrix the panels follow each other, with
 * products of matrices in between (graph/primitives/linalg/qr.ts).
 *
 * Column j needs the products of its part below the diagonal with itself and with the columns behind it, in one pass; from
 * them follow the reflection and its effect on every column. So a column takes two barriers. Lanes form a grid: neighbours
 * along a row, `groups` of them below each other.
 */
import { productOf } from "../../../../core/shape.js";
import type { Value } from "../../../ir/ir.js";
import { KernelBuilder } from "../../../ir/kernel-builder.js";
import type { TargetProfile } from "../../../target/profile.js";
import type { Routine } from "../../../target/routine.js";
import { bytesOf, Field, kindOf, type Num, shapeOf } from "../field.js";
import { reflectionOf } from "../reflection.js";
import { arrayBytes, arrayWorkspace, bufferWorkspace, eachByLane, powerOfTwo, type Workspace } from "../workspace.js";

/**
 * Inputs: matrices [.., m, n], and i32 [1], the number of the panel. Params: width. The panel has the columns from number · width
 * on, as many as `width`, and the rows from there on. Results: the reflections' vectors [.., m, width], with ones on the diagonal and zeros
 * above; their factors τ [.., width]; and the triangle R [.., width, width].
 */
export const householderRoutine: Routine = (node, profile, settings) => {
  const kind = kindOf(node);
  const shape = shapeOf(node.inputs[0], kind.isComplex);
  const [m, n] = shape.slice(-2) as [number, number];
  const width = node.params.width as number;
  const batch = productOf(shape.slice(0, -2));
  const [lanes, columns] = lanesFor(m, width, profile);
  const k = new KernelBuilder(`householder[${shape.join("×")}]`, m * width === 0 ? 0 : batch, lanes);
  const field = new Field(k, kind, settings);
  const [source, number] = [field.buffer(false), k.buffer("i32", false)];
  const [vectors, factors, triangle] = [field.buffer(true), field.buffer(true), field.buffer(true)];
  const isInside = (m * pitchOf(width) + 2 * lanes + 4 * width) * bytesOf(kind) <= arrayBytes(profile);
  const pitch = isInside ? pitchOf(width) : width;
  const space = isInside
    ? arrayWorkspace(field, m * pitch)
    : bufferWorkspace(k, field, vectors, k.binary("mul", k.row, k.constant("i32", m * width)));
  const first = k.binary("mul", k.load(number, k.constant("i32", 0), "i32"), k.constant("i32", width));
  const panel = new Panel(k, field, { m, n, width, pitch, columns, first }, space);
  panel.load(source);
  k.barrier();
  panel.reduce();
  panel.store(vectors, factors, triangle);
  return {
    temporaries: [],
    steps: [
      {
        kernel: k.finish(),
        buffers: [
          { kind: "input", index: 0 },
          { kind: "input", index: 1 },
          ...[0, 1, 2].map((part) => ({ kind: "result", part }) as const),
        ],
        formula: ([a, which, v, tau, r]) =>
          `${v}, ${tau}, ${r} = Householder reflections of ${width} columns of ${a} from ${which} · ${width} on, and their triangle`,
      },
    ],
  };
};

const pitchOf = (width: number): number => width + 1 - (width % 2);

/** Lanes, and how many of them lie along a row. */
function lanesFor(m: number, width: number, { maxLanes }: TargetProfile): [number, number] {
  if (maxLanes === 1) return [1, 1];
  const columns = Math.min(maxLanes, powerOfTwo(width));
  const lanes = Math.min(maxLanes, Math.max(32, powerOfTwo((m * width) / 8)), columns * powerOfTwo(m));
  return [Math.max(lanes, columns), columns];
}

interface PanelShape {
  readonly m: number;
  readonly n: number;
  readonly width: number;
  readonly pitch: number;
  readonly columns: number;
  /** The first row and column. */
  readonly first: Value;
}

class Panel {
  private readonly taus: Workspace;
  private readonly inverses: Workspace;
  private readonly sums: Workspace;
  /** Rows from the first of the panel on. */
  private readonly rows: Value;

  constructor(
    private readonly k: KernelBuilder,
    private readonly field: Field,
    private readonly shape: PanelShape,
    private readonly a: Workspace,
  ) {
    const { width, m, first } = shape;
    this.taus = arrayWorkspace(field, width);
    this.inverses = arrayWorkspace(field, width);
    this.sums = arrayWorkspace(field, Math.max(k.lanes, width));
    this.rows = k.binary("sub", k.constant("i32", m), first);
  }

  private at(row: Value, column: Value): Value {
    return this.k.binary("add", this.k.binary("mul", row, this.k.constant("i32", this.shape.pitch)), column);
  }

  /** The panel, from its first row on. */
  load(source: number): void {
    const { k, field } = this;
    const { m, n, width, first } = this.shape;
    const i = (value: number) => k.constant("i32", value);
    eachByLane(k, m * width, (item) => {
      const [row, column] = [k.binary("idiv", item, i(width)), k.binary("irem", item, i(width))];
      const [fromRow, fromColumn] = [k.binary("add", row, first), k.binary("add", column, first)];
      const isThere = k.binary("and", k.compare("lt", fromRow, i(m)), k.compare("lt", fromColumn, i(n)));
      const line = k.binary("add", k.binary("mul", k.row, i(m)), fromRow);
      const place = k.binary("add", k.binary("mul", line, i(n)), fromColumn);
      const loaded = field.load(source, k.select(isThere, place, i(0)));
      this.a.set(this.at(row, column), field.select(isThere, loaded, field.zero));
    });
  }

  reduce(): void {
    const { k } = this;
    k.loop(this.shape.width, [], (j) => {
      k.when(
        k.compare("lt", j, this.rows),
        () => {
          if (k.lanes === 1) this.columnAlone(j);
          else this.column(j);
          return [];
        },
        () => {
          this.taus.set(j, this.field.zero);
          this.inverses.set(j, this.field.zero);
          return [];
        },
      );
      return [];
    });
    k.barrier();
  }

  private column(j: Value): void {
    const { k, field } = this;
    const { width, columns } = this.shape;
    const i = (value: number) => k.constant("i32", value);
    const groups = k.lanes / columns;
    const [group, own] = [k.binary("idiv", k.lane, i(columns)), k.binary("irem", k.lane, i(columns))];
    const isColumn = k.binary("and", k.compare("lt", own, i(width)), k.compare("ge", own, j));
    const column = k.select(isColumn, own, j);
    const begin = k.binary("add", k.binary("add", j, i(1)), group);
    const partial = this.belowDiagonal(begin, groups, field.zero, (row, sum) => {
      return field.mulAdd(field.conj(this.a.get(this.at(row, j))), this.a.get(this.at(row, column)), sum);
    });
    this.sums.set(k.lane, partial);
    const [head, top] = [this.a.get(this.at(j, j)), this.a.get(this.at(j, column))];
    k.barrier();
    const total = (which: Value) =>
      Array.from({ length: groups }, (_, g) => this.sums.get(k.binary("add", which, i(g * columns)))).reduce((x, y) =>
        field.add(x, y),
      );
    const { beta, tau, inverse } = reflectionOf(k, field, head, total(j).re);
    const along = field.add(top, field.mul(field.conj(inverse), total(column)));
    const change = field.mul(field.conj(tau), along);
    const isBehind = k.binary("and", isColumn, k.compare("gt", own, j));
    const isFirst = k.compare("eq", group, i(0));
    const isHead = k.binary("and", isFirst, k.compare("eq", own, j));
    this.a.set(
      this.at(j, column),
      field.select(isHead, beta, field.sub(top, change)),
      k.binary("and", isFirst, isColumn),
    );
    this.taus.set(j, tau, isHead);
    this.inverses.set(j, inverse, isHead);
    const coefficient = field.mul(change, inverse);
    k.when(isBehind, () => {
      this.belowDiagonal(begin, groups, null, (row) => {
        const place = this.at(row, column);
        this.a.set(place, field.mulSub(coefficient, this.a.get(this.at(row, j)), this.a.get(place)));
        return field.zero;
      });
      return [];
    });
    k.barrier();
  }

  /** Rows from `begin` on in steps of `groups`; `initial` is carried where it is given. */
  private belowDiagonal(begin: Value, groups: number, initial: Num | null, body: (row: Value, sum: Num) => Num): Num {
    const { k, field, rows } = this;
    const i = (value: number) => k.constant("i32", value);
    const flat = (x: Num) => (x.im ? [x.re, x.im] : [x.re]);
    const [, ...last] = k.loop(
      Math.ceil(this.shape.m / groups),
      [begin, ...(initial ? flat(initial) : [])],
      (_, [row, re, im]) => {
        const found = k.when(
          k.compare("lt", row, rows),
          () => {
            const made = body(row, { re, im: im ?? null });
            return initial ? flat(made) : [];
          },
          () => (initial ? [re, ...(im ? [im] : [])] : []),
        );
        return [k.binary("add", row, i(groups)), ...found];
      },
      { exitWhen: ([next]) => k.compare("ge", next, rows) },
    );
    return last.length === 0 ? field.zero : { re: last[0], im: last[1] ?? null };
  }

  /** One thread goes along the rows, whose elements lie side by side. */
  private columnAlone(j: Value): void {
    const { k, field } = this;
    const { m, width } = this.shape;
    const each = (count: number, body: (at: Value) => void) =>
      k.loop(count, [], (at) => {
        body(at);
        return [];
      });
    const eachBelow = (body: (row: Value) => void) =>
      each(m, (row) => {
        const isBelow = k.binary("and", k.compare("gt", row, j), k.compare("lt", row, this.rows));
        k.when(isBelow, () => {
          body(row);
          return [];
        });
      });
    each(width, (column) => this.sums.set(column, field.zero));
    eachBelow((row) => {
      const own = field.conj(this.a.get(this.at(row, j)));
      each(width, (column) =>
        this.sums.set(column, field.mulAdd(own, this.a.get(this.at(row, column)), this.sums.get(column))),
      );
    });
    const { beta, tau, inverse } = reflectionOf(k, field, this.a.get(this.at(j, j)), this.sums.get(j).re);
    each(width, (column) => {
      const top = this.a.get(this.at(j, column));
      const along = field.add(top, field.mul(field.conj(inverse), this.sums.get(column)));
      const change = field.select(k.compare("gt", column, j), field.mul(field.conj(tau), along), field.zero);
      this.a.set(this.at(j, column), field.sub(top, change));
      this.sums.set(column, field.mul(change, inverse));
    });
    this.a.set(this.at(j, j), beta);
    this.taus.set(j, tau);
    this.inverses.set(j, inverse);
    eachBelow((row) => {
      const own = this.a.get(this.at(row, j));
      each(width, (column) => {
        const place = this.at(row, column);
        this.a.set(place, field.mulSub(own, this.sums.get(column), this.a.get(place)));
      });
    });
  }

  /** The triangle first: the vectors may lie where the panel does. */
  store(vectors: number, factors: number, triangle: number): void {
    const { k, field } = this;
    const { m, width, first } = this.shape;
    const i = (value: number) => k.constant("i32", value);
    const start = (size: number) => k.binary("mul", k.row, i(size));
    eachByLane(k, width * width, (item) => {
      const [row, column] = [k.binary("idiv", item, i(width)), k.binary("irem", item, i(width))];
      const isThere = k.binary("and", k.compare("le", row, column), k.compare("lt", row, this.rows));
      const x = this.a.get(this.at(k.select(isThere, row, i(0)), column));
      field.store(triangle, k.binary("add", start(width * width), item), field.select(isThere, x, field.zero));
    });
    eachByLane(k, width, (column) => {
      field.store(factors, k.binary("add", start(width), column), this.taus.get(column));
    });
    k.barrier();
    // Rows move down by `first`, so the last rows go first: a row is read before it is written over.
    const lines = Math.ceil((m * width) / k.lanes);
    k.loop(lines, [], (round) => {
      const item = k.binary("sub", i((lines - 1) * k.lanes), k.binary("mul", round, i(k.lanes)));
      const place = k.binary("add", item, k.lane);
      const isPlace = k.compare("lt", place, i(m * width));
      const safe = k.select(isPlace, place, i(0));
      const [to, column] = [k.binary("idiv", safe, i(width)), k.binary("irem", safe, i(width))];
      const row = k.binary("sub", to, first);
      const isThere = k.compare("ge", row, column);
      const x = field.mul(this.a.get(this.at(k.select(isThere, row, i(0)), column)), this.inverses.get(column));
      const isLast = k.compare("ge", column, this.rows);
      const unit = field.select(k.compare("eq", row, column), field.select(isLast, field.zero, field.one), x);
      k.barrier();
      field.store(vectors, k.binary("add", start(m * width), place), field.select(isThere, unit, field.zero), isPlace);
      return [];
    });
  }
}
