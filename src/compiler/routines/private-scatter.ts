/**
 * Scattering into few rows. Atomics on a few addresses wait for one another: a million counts into 64 cells are a queue. So
 * each lane has cells of its own, in memory of the workgroup: it combines its share of the updates there, without atomics, and
 * only the totals of a workgroup are combined into the tensor. scatter.ts calls this where `planPrivateScatter` finds it worth
 * while; it is a pure function of the shapes and the device.
 */
import type { DType } from "../../core/dtype.js";
import { DTYPES } from "../../core/dtype.js";
import type { ScatterOp } from "../../graph/primitives/scatter.js";
import { reductionBy } from "../../graph/reduction.js";
import { computeType } from "../elements/elements.js";
import { type Kernel, MAX_I32, type Value } from "../ir/ir.js";
import { KernelBuilder } from "../ir/kernel-builder.js";
import type { TargetProfile } from "../target/profile.js";

/** Updates [count, inner] of the rows [rows, inner] of a tensor. */
export interface Updates {
  readonly op: ScatterOp;
  readonly dtype: DType;
  readonly rows: number;
  readonly inner: number;
  readonly count: number;
}

/** The grid of a scatter: workgroups, and the updates of each. */
interface PrivateScatter {
  readonly workgroups: number;
  readonly lanes: number;
  /**
   * Teams of lanes, one lane to a column; a team takes an update at a time. A team of one workgroup has several columns to a
   * lane.
   */
  readonly teams: number;
  readonly columnsPerLane: number;
  /** Updates of a team, and of them those in a round of its loop. */
  readonly perTeam: number;
  readonly unroll: number;
}

/** Lanes of a workgroup, the most first: as many as have room for their cells. */
const LANES = [64, 32] as const;
/** Workgroups that a multiprocessor runs at the same time, or that a thread of the CPU takes turns at. */
const WORKGROUPS_PER_UNIT = 12;
/** Updates to a row of the tensor, on average, from which on atomics get in each other's way. */
const LEAST_TO_ROW = 64;
/** Updates of a team, at least and at most. */
const [LEAST_PER_TEAM, MOST_PER_TEAM] = [32, 1 << 14];

/** Null where updates are few for their rows, or the rows many: then atomics seldom meet. */
export function planPrivateScatter(updates: Updates, profile: TargetProfile): PrivateScatter | null {
  const { rows, inner, count, dtype } = updates;
  if (rows * inner === 0 || count < LEAST_TO_ROW * rows || count * inner > MAX_I32) return null;
  const isAlone = profile.maxLanes === 1;
  const room = (isAlone ? profile.rowCacheBytes : profile.tiles.sharedBytes) / DTYPES[dtype].bytes;
  const lanes = (isAlone ? [1] : LANES).find(
    (each) => (inner <= each || inner % each === 0) && rows * Math.max(inner, each) <= room,
  );
  if (lanes === undefined || lanes > profile.tiles.maxLanes) return null;
  const teams = Math.max(1, Math.floor(lanes / inner));
  // Clearing the cells and adding them up takes about as long as an update for each row.
  const worthwhile = Math.floor(count / (teams * Math.max(rows, LEAST_PER_TEAM)));
  const most = isAlone ? profile.split.parallelism : WORKGROUPS_PER_UNIT * profile.tiles.units;
  const least = Math.ceil(count / (teams * MOST_PER_TEAM));
  const workgroups = Math.max(1, least, Math.min(worthwhile, most));
  return {
    workgroups,
    lanes,
    teams,
    columnsPerLane: Math.max(1, inner / lanes),
    perTeam: Math.ceil(count / (workgroups * teams)),
    unroll: isAlone ? 1 : 4 * profile.width,
  };
}

/** Buffers: the positions, the updates, and the tensor. */
export function privateScatterKernel(updates: Updates, plan: PrivateScatter): Kernel {
  const { op, dtype, rows, inner, count } = updates;
  const { workgroups, lanes, columnsPerLane } = plan;
  const k = new KernelBuilder(`scatter ${op}[${count}×${inner}] by ${lanes} lanes`, workgroups, lanes);
  const type = computeType(dtype);
  const [places, values, target] = [k.buffer("i32", false), k.buffer(dtype, false), k.buffer(dtype, true)];
  const nothing = k.constant(type, reductionBy(op).neutral(dtype));
  const cells = k.array(type, rows * columnsPerLane * lanes);
  const scatter: ScatterKernel = { k, updates, plan, nothing, cells };
  k.loop(rows * columnsPerLane, [], (line) => {
    k.set(cells, cellOf(scatter, line), nothing);
    return [];
  });
  combineUpdates(scatter, places, values);
  k.barrier();
  combineTotals(scatter, target);
  return k.finish();
}

/** A kernel in the making: `nothing` changes no cell, `cells` are the workgroup's own copies of the rows. */
interface ScatterKernel {
  readonly k: KernelBuilder;
  readonly updates: Updates;
  readonly plan: PrivateScatter;
  readonly nothing: Value;
  readonly cells: number;
}

const integer = (k: KernelBuilder, value: number): Value => k.constant("i32", value);
const add = (k: KernelBuilder, a: Value, b: Value): Value => k.binary("add", a, b);
const mul = (k: KernelBuilder, a: Value, b: number): Value => k.binary("mul", a, integer(k, b));

/** The cell of a lane in a line of cells. */
const cellOf = ({ k, plan: { lanes } }: ScatterKernel, line: Value): Value => add(k, mul(k, line, lanes), k.lane);

/** Whether a lane's column is its own number, because all lanes are one team. */
const isOneTeam = ({ updates: { inner }, plan: { teams, lanes } }: ScatterKernel): boolean =>
  teams === 1 && inner >= lanes;

/** Every update of the workgroup, combined into the cells. */
function combineUpdates(scatter: ScatterKernel, places: number, values: number): void {
  const { k, nothing, cells, plan, updates } = scatter;
  const { inner, op, dtype } = updates;
  const { lanes, teams, columnsPerLane, perTeam, unroll } = plan;
  const [team, ownColumn] = isOneTeam(scatter)
    ? [integer(k, 0), k.lane]
    : [k.binary("idiv", k.lane, integer(k, inner)), k.binary("irem", k.lane, integer(k, inner))];
  const isOfTeam = k.compare("lt", team, integer(k, teams));
  const first = add(k, mul(k, k.row, perTeam * teams), team);
  k.loop(Math.ceil(perTeam / unroll), [], (round) => {
    const found = Array.from({ length: unroll }, (_, turn) => {
      const step = add(k, mul(k, round, unroll), integer(k, turn));
      const { isTaken, update, place } = updateAt(scatter, places, { first, step, isOfTeam });
      const start = add(k, mul(k, update, inner), ownColumn);
      return { isTaken, start, line: mul(k, k.select(isTaken, place, integer(k, 0)), columnsPerLane) };
    });
    overColumns(k, columnsPerLane, (column) => {
      // All loads first: they are under way together.
      const loaded = found.map(({ isTaken, start }) =>
        k.select(isTaken, k.load(values, add(k, start, mul(k, column, lanes)), computeType(dtype)), nothing),
      );
      found.forEach(({ line }, turn) => {
        const cell = cellOf(scatter, add(k, line, column));
        k.set(cells, cell, k.binary(reductionBy(op).combine, k.get(cells, cell), loaded[turn]));
      });
    });
    return [];
  });
}

/** A team's update at a step: whether there is one for a row of the tensor, its number (0 where there is none), and its row. */
function updateAt(
  { k, updates: { rows, count }, plan: { teams, perTeam } }: ScatterKernel,
  places: number,
  { first, step, isOfTeam }: { readonly first: Value; readonly step: Value; readonly isOfTeam: Value },
): { readonly isTaken: Value; readonly update: Value; readonly place: Value } {
  const update = add(k, first, mul(k, step, teams));
  const isUpdate = k.binary(
    "and",
    k.compare("lt", update, integer(k, count)),
    k.compare("lt", step, integer(k, perTeam)),
  );
  const safe = k.select(k.binary("and", isUpdate, isOfTeam), update, integer(k, 0));
  const place = k.load(places, safe, "i32");
  const isInside = k.binary("and", k.compare("ge", place, integer(k, 0)), k.compare("lt", place, integer(k, rows)));
  const isTaken = k.binary("and", k.binary("and", isUpdate, isOfTeam), isInside);
  return { isTaken, update: safe, place };
}

function overColumns(k: KernelBuilder, columnsPerLane: number, body: (column: Value) => void): void {
  if (columnsPerLane === 1) {
    body(integer(k, 0));
    return;
  }
  k.loop(columnsPerLane, [], (column) => {
    body(column);
    return [];
  });
}

/** The totals of the teams, combined into the tensor. */
function combineTotals(scatter: ScatterKernel, target: number): void {
  const { k, nothing, cells, plan, updates } = scatter;
  const { rows, inner, op } = updates;
  const { lanes, teams, columnsPerLane } = plan;
  const outputs = rows * inner;
  const width = columnsPerLane * lanes;
  const { combine } = reductionBy(op);
  // The lanes share out the totals; each begins with a team of its own, so that they read different banks.
  k.loop(Math.ceil(outputs / lanes), [], (round) => {
    const output = add(k, mul(k, round, lanes), k.lane);
    const isOutput = k.compare("lt", output, integer(k, outputs));
    const safe = k.select(isOutput, output, integer(k, 0));
    const cell = isOneTeam(scatter)
      ? safe
      : add(k, mul(k, k.binary("idiv", safe, integer(k, inner)), width), k.binary("irem", safe, integer(k, inner)));
    const totalOf = (from: Value) => k.get(cells, from);
    const turned = (turn: Value) => mul(k, k.binary("irem", add(k, turn, k.lane), integer(k, teams)), inner);
    const [total] =
      teams === 1
        ? [totalOf(cell)]
        : k.loop(teams, [nothing], (turn, [sum]) => [k.binary(combine, sum, totalOf(add(k, cell, turned(turn))))]);
    k.atomic(op, target, safe, total, isOutput);
    return [];
  });
}
