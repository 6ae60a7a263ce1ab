/**
 * The first kernel of a real transform of planes on a GPU: a workgroup transforms rows that are equally far apart, and then makes
 * one butterfly of each of their columns. These are the first pass of the columns, whose numbers are in registers already, so that
 * the transform of a plane goes through memory twice instead of three times. The passes are those of passesBehindRows in
 * graph/dft-plan.ts; fft.ts calls this.
 */
import type { Kernel, Value } from "../../ir/ir.js";
import { KernelBuilder } from "../../ir/kernel-builder.js";
import type { TargetProfile } from "../../target/profile.js";
import type { ComplexValue } from "./complex-values.js";
import { countOf, type Pass, type Stage, stagesOf } from "./pass.js";
import { PassKernel, type Transform } from "./pass-kernel.js";
import { both, MOST_BYTES, type Sent, type Share, SharedRows, shareOfColumns } from "./shared-rows.js";

/** Buffers: the rows, the table of the columns, that of the rows, the result. Null where the rows do not fit a workgroup. */
export function rowsAndColumnsKernel(
  rows: Pass,
  columns: Pass,
  { tiles, fft, hasSlowBarriers }: TargetProfile,
): Kernel | null {
  const stages = stagesOf(rows);
  const lanes = Math.max(2, Math.min(tiles.maxLanes, fft.manyLanes, Math.ceil(rows.length / 2)));
  const room = Math.min(tiles.sharedBytes, MOST_BYTES);
  const share = shareOfColumns(rows, stages, columns.length, lanes, room, hasSlowBarriers);
  if (!share) return null;
  const k = new KernelBuilder(`${rows.name}, ${columns.name}`, countOf(rows) / columns.length, share.lanes);
  return new RowsAndColumns(k, rows, columns, stages, share).write();
}

class RowsAndColumns extends SharedRows {
  private readonly q: PassKernel;
  /** The plane, and the first row of the workgroup there. */
  private readonly plane: Value;
  private readonly first: Value;

  constructor(
    k: KernelBuilder,
    rows: Pass,
    private readonly columns: Pass,
    stages: readonly Stage[],
    share: Share,
  ) {
    const [source, tableOfColumns, table] = [0, 1, 2].map(() => k.buffer(rows.type, false));
    const target = k.buffer(rows.type, true);
    super(k, rows, stages, share, new PassKernel(k, rows, { source, table, target, window: null }));
    this.q = new PassKernel(k, columns, { source, table: tableOfColumns, target, window: null });
    [this.plane, this.first] = this.p.divided(k.row, columns.fromStep);
  }

  /** A row of the workgroup. */
  protected override transformOf(row: Value): { readonly transform: Transform; readonly gate: Value | null } {
    const { p, plane, columns } = this;
    const inPlane = p.add(p.mul(row, columns.fromStep), this.first);
    return { transform: p.numbered(p.add(p.mul(plane, columns.computed), inPlane)), gate: null };
  }

  /** Each lane takes numbers of all rows, in two columns that lie across the middle from each other. */
  protected override writeHalved(sent: readonly Sent[]): void {
    const { p, k, pass, columns } = this;
    const { pitch } = this.share.layouts[this.stages.length - 1];
    const middle = pass.length % 2 === 0 ? pass.length / 2 : 0;
    const turns = this.turns(Math.ceil(pass.length / 2));
    const isFirst = (at: Value) => k.compare("eq", at, p.i(0));
    const rows = Array.from({ length: columns.length }, (_, row) => row * pitch);
    const wanted = turns.flatMap(({ at }) => {
      const across = k.select(isFirst(at), p.i(middle), k.binary("sub", p.i(pass.length), at));
      return rows.flatMap((start) => [at, across].map((place) => p.add(place, p.i(start))));
    });
    const received = this.exchange(sent, wanted);
    turns.forEach(({ at, isInside }, turn) => {
      const given = rows.map((_, row) => received.slice(2 * (turn * rows.length + row)).slice(0, 2));
      const root = p.halfRoot(at);
      const found = given.map(([own, other]) => p.halved(own, p.ops.select(isFirst(at), own, other), root));
      this.writeColumn(at, found.map(([own]) => own), isInside); // biome-ignore format: one line
      this.writeColumn(k.binary("sub", p.i(pass.whole), at), found.map(([, other]) => other), isInside); // biome-ignore format: one line
      if (middle === 0 || turn > 0) return;
      k.when(both(k, isFirst(at), isInside) as Value, () => {
        const ofMiddle = p.halfRoot(p.i(middle));
        this.writeColumn(p.i(middle), given.map(([, other]) => p.halved(other, other, ofMiddle)[0]), null); // biome-ignore format: one line
        return [];
      });
    });
  }

  /** The butterfly of a column, with its twiddles. */
  private writeColumn(column: Value, values: readonly ComplexValue[], gate: Value | null): void {
    const { p, q, columns } = this;
    const [stage] = stagesOf(columns);
    const transform = q.transform([column, this.first, this.plane].slice(0, columns.digits.length));
    q.writeAll(stage, transform, p.i(0), q.butterfly(stage, values, []), gate);
  }
}
