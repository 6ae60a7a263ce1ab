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
  const { workgroups, lanes, teams, columnsPerLane, perTeam, unroll } = plan;
  const k = new KernelBuilder(`scatter ${op}[${count}×${inner}] by ${lanes} lanes`, workgroups, lanes);
  const type = computeType(dtype);
  const [places, values, target] = [k.buffer("i32", false), k.buffer(dtype, false), k.buffer(dtype, true)];
  const i = (value: number) => k.constant("i32", value);
  const add = (a: Value, b: Value) => k.binary("add", a, b);
  const mul = (a: Value, b: number) => k.binary("mul", a, i(b));
  const { neutral, combine } = reductionBy(op);
  const nothing = k.constant(type, neutral(dtype));
  const cells = k.array(type, rows * columnsPerLane * lanes);
  const cellOf = (line: Value) => add(mul(line, lanes), k.lane);
  const overColumns = (body: (column: Value) => void) => {
    if (columnsPerLane === 1) body(i(0));
    else {
      k.loop(columnsPerLane, [], (column) => {
        body(column);
        return [];
      });
    }
  };

  k.loop(rows * columnsPerLane, [], (line) => {
    k.set(cells, cellOf(line), nothing);
    return [];
  });
  const [team, ownColumn] =
    teams === 1 && inner >= lanes
      ? [i(0), k.lane]
      : [k.binary("idiv", k.lane, i(inner)), k.binary("irem", k.lane, i(inner))];
  const isOfTeam = k.compare("lt", team, i(teams));
  const first = add(mul(k.row, perTeam * teams), team);
  k.loop(Math.ceil(perTeam / unroll), [], (round) => {
    const found = Array.from({ length: unroll }, (_, turn) => {
      const step = add(mul(round, unroll), i(turn));
      const update = add(first, mul(step, teams));
      const isUpdate = k.binary("and", k.compare("lt", update, i(count)), k.compare("lt", step, i(perTeam)));
      const safe = k.select(k.binary("and", isUpdate, isOfTeam), update, i(0));
      const place = k.load(places, safe, "i32");
      const isInside = k.binary("and", k.compare("ge", place, i(0)), k.compare("lt", place, i(rows)));
      const isTaken = k.binary("and", k.binary("and", isUpdate, isOfTeam), isInside);
      return {
        isTaken,
        start: add(mul(safe, inner), ownColumn),
        line: mul(k.select(isTaken, place, i(0)), columnsPerLane),
      };
    });
    overColumns((column) => {
      // All loads first: they are under way together.
      const loaded = found.map(({ isTaken, start }) =>
        k.select(isTaken, k.load(values, add(start, mul(column, lanes)), type), nothing),
      );
      found.forEach(({ line }, turn) => {
        const cell = cellOf(add(line, column));
        k.set(cells, cell, k.binary(combine, k.get(cells, cell), loaded[turn]));
      });
    });
    return [];
  });
  k.barrier();
  // The lanes share out the totals; each begins with a team of its own, so that they read different banks.
  const outputs = rows * inner;
  const width = columnsPerLane * lanes;
  k.loop(Math.ceil(outputs / lanes), [], (round) => {
    const output = add(mul(round, lanes), k.lane);
    const isOutput = k.compare("lt", output, i(outputs));
    const safe = k.select(isOutput, output, i(0));
    const cell =
      teams === 1 && inner >= lanes
        ? safe
        : add(mul(k.binary("idiv", safe, i(inner)), width), k.binary("irem", safe, i(inner)));
    const totalOf = (from: Value) => k.get(cells, from);
    const [total] =
      teams === 1
        ? [totalOf(cell)]
        : k.loop(teams, [nothing], (turn, [sum]) => [
            k.binary(combine, sum, totalOf(add(cell, mul(k.binary("irem", add(turn, k.lane), i(teams)), inner)))),
          ]);
    k.atomic(op, target, safe, total, isOutput);
    return [];
  });
  return k.finish();
}
