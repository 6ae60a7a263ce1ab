/**
 * Reflections applied to the columns of a matrix one after another, where they are so short that a few lanes hold a column in registers:
 * the products in blocks that otherwise do this (graph/primitives/linalg/householder.ts) take longer to start than to compute. On
 * an H200 256 of them on 256 columns took 180 µs so.
 */
import type { Node } from "../../../../graph/node.js";
import type { Value } from "../../../ir/ir.js";
import { KernelBuilder } from "../../../ir/kernel-builder.js";
import type { Routine } from "../../../target/routine.js";
import type { TileProfile } from "../../../target/tile-profile.js";
import { bytesOf, Field, kindOf, type Num, shapeOf } from "../field.js";

/** Lanes that share a column; a column has so many registers of each of them at most. */
const [LANES, REGISTERS] = [32, 16];
/** Columns of a workgroup: while one waits for a sum, the others go on. */
const COLUMNS = 2;
/** Reflections whose vectors are loaded while others are applied, and registers for these. */
const [AHEAD, AHEAD_REGISTERS] = [4, 32];
/** Columns for which products of matrices are better: each workgroup reads all vectors. */
const MANY_COLUMNS = 1024;

/** Whether products of matrices rather than this routine apply a node's reflections. */
export function isExpandedReflections({ primitive, params, dtype, inputs }: Node, tiles: TileProfile): boolean {
  // Complex numbers that lie in memory by turns: this was decided before.
  if (primitive.name !== "reflectedColumns" || params.isComplex !== undefined) return false;
  const [rows, , x] = inputs;
  const [batch, count, n] = rows.shape;
  const columns = batch * x.shape[2];
  if (tiles.kind !== "shared" || count === 0 || columns === 0 || columns > MANY_COLUMNS) return true;
  const words = { f32: 1, f64: 2, c64: 2, c128: 4 }[dtype as "f32" | "f64" | "c64" | "c128"];
  return Math.ceil(n / LANES) * words > REGISTERS;
}

/** Inputs: vectors as rows [B, count, n], factors [B, count], X [B, n, k]. Result: H₁ H₂ … X. */
export const reflectedColumnsRoutine: Routine = (node, { maxLanes }, settings) => {
  const kind = kindOf(node);
  const [batch, count, n] = shapeOf(node.inputs[0], kind.isComplex);
  const columns = shapeOf(node.inputs[2], kind.isComplex)[2] as number;
  const groups = Math.ceil(columns / COLUMNS);
  const name = `reflectedColumns[${[batch, n, columns].join("×")}]`;
  const k = new KernelBuilder(name, batch * groups, Math.min(maxLanes, LANES));
  const field = new Field(k, kind, settings);
  const [vectors, factors, x] = [0, 1, 2].map(() => field.buffer(false));
  const result = field.buffer(true);
  const i = (value: number) => k.constant("i32", value);
  const held = Math.ceil(n / k.lanes);
  const [member, group] = [k.binary("idiv", k.row, i(groups)), k.binary("irem", k.row, i(groups))];
  /** The places of a lane in a column or vector, and whether they exist. */
  const places = Array.from({ length: held }, (_, at) => {
    const place = k.binary("add", k.lane, i(at * k.lanes));
    return { place, isThere: (at + 1) * k.lanes <= n ? null : k.compare("lt", place, i(n)) };
  });
  const loaded = (buffer: number, at: Value, isThere: Value | null): Num =>
    isThere
      ? field.select(isThere, field.load(buffer, k.select(isThere, at, i(0))), field.zero)
      : field.load(buffer, at);
  const columnOf = (which: number) => k.binary("add", k.binary("mul", group, i(COLUMNS)), i(which));
  const placeIn = (place: Value, which: number) =>
    k.binary(
      "add",
      k.binary("mul", k.binary("add", k.binary("mul", member, i(n)), place), i(columns)),
      k.binary("min", columnOf(which), i(columns - 1)),
    );
  const given = Array.from({ length: COLUMNS }, (_, which) =>
    places.map(({ place, isThere }) => loaded(x, placeIn(place, which), isThere)),
  ).flat();
  const ahead = Math.max(1, Math.min(AHEAD, Math.floor(AHEAD_REGISTERS / ((held * bytesOf(kind)) / 4)), count));
  const rounds = Math.ceil(count / ahead);
  /** τ and the vector of each reflection of a round. */
  const reflectionsOf = (round: Value): Num[] =>
    Array.from({ length: ahead }, (_, at) => {
      const number = k.binary("sub", i(count - 1 - at), k.binary("mul", round, i(ahead)));
      // Before the first there are none: one with factor zero changes nothing.
      const isThere = count % ahead === 0 ? null : k.compare("ge", number, i(0));
      const line = k.binary("add", k.binary("mul", member, i(count)), isThere ? k.binary("max", number, i(0)) : number);
      const first = k.binary("mul", line, i(n));
      return [
        loaded(factors, line, isThere),
        ...places.map((each) => loaded(vectors, k.binary("add", first, each.place), each.isThere)),
      ];
    }).flat();
  // A round is loaded while the one before is applied.
  const last = field.loop(rounds, [...given, ...reflectionsOf(i(0))], (round, carried) => {
    const next = reflectionsOf(k.binary("min", k.binary("add", round, i(1)), i(rounds - 1)));
    let elements = carried.slice(0, given.length);
    for (let at = 0; at < ahead; at++) {
      const [tau, ...v] = carried.slice(given.length + at * (held + 1), given.length + (at + 1) * (held + 1));
      elements = reflected(field, elements, tau, v);
    }
    return [...elements, ...next];
  });
  last.slice(0, given.length).forEach((value, at) => {
    const [which, { place, isThere }] = [Math.floor(at / held), places[at % held]];
    const isColumn = columns % COLUMNS === 0 ? null : k.compare("lt", columnOf(which), i(columns));
    const gate = isThere && isColumn ? k.binary("and", isThere, isColumn) : (isThere ?? isColumn);
    field.store(result, placeIn(place, which), value, gate, false);
  });
  return {
    temporaries: [],
    steps: [
      {
        kernel: k.finish(),
        buffers: [...[0, 1, 2].map((index) => ({ kind: "input", index }) as const), { kind: "result" }],
        formula: ([v, tau, from, to]) => `${to} = ${from} after the reflections with vectors ${v} and factors ${tau}`,
      },
    ],
  };
};

/** x - τ v (vᴴ x) of some columns, of which `elements` are this lane's. */
function reflected(field: Field, elements: readonly Num[], tau: Num, v: readonly Num[]): Num[] {
  const columns = Array.from({ length: elements.length / v.length }, (_, which) =>
    elements.slice(which * v.length, (which + 1) * v.length),
  );
  const sums = columns.map((column) =>
    field.sumLanes(column.reduce((sum, each, at) => field.mulAdd(field.conj(v[at]), each, sum), field.zero)),
  );
  return columns.flatMap((column, which) => {
    const back = field.neg(field.mul(tau, sums[which]));
    return column.map((each, at) => field.mulAdd(back, v[at], each));
  });
}
