/**
 * Combines a value of each lane of a row into one that all have: neighbours first, then pairs of neighbours, and so on, so
 * that the order depends on the number of lanes alone. Inside a subgroup lanes use shuffles; the results of subgroups go
 * through shared memory.
 */

import { reductionBy } from "../../../graph/reduction.js";
import type { FunctionBuilder } from "../../../spirv/function/function-builder.js";
import type { Ref } from "../../../spirv/function/ref.js";
import type { Value } from "../../../spirv/function/value.js";
import type { CombineOp, IRType } from "../../ir/ir.js";
import { binary } from "./emit-value.js";

export interface Lanes {
  readonly count: number;
  /** This thread's lane, as i32. */
  readonly own: Value;
  /** 0 where lanes cannot read from one another. */
  readonly subgroupSize: number;
}

/** Whether the lanes of a row belong to one subgroup. */
export const areInSubgroup = ({ count, subgroupSize }: Pick<Lanes, "count" | "subgroupSize">): boolean =>
  subgroupSize > 1 && count <= subgroupSize;

/** Whether groups of neighbours combine values by shuffles alone. */
export const isGroupInSubgroup = ({ subgroupSize }: Pick<Lanes, "subgroupSize">, group: number): boolean =>
  group <= subgroupSize;

/** The value that another lane of the row has, all of whose lanes are in one subgroup, beside those of other rows. */
export function fromLaneOfSubgroup(f: FunctionBuilder, x: Value, type: IRType, { own }: Lanes, lane: Value): Value {
  const first = f.sub(f.bitcast(f.builtin("SubgroupLocalInvocationId"), own.type), own);
  const from = f.bitcast(f.add(first, lane), f.module.u32);
  if (!isWide(type)) return f.subgroup.shuffle(x, from);
  return f.bitcast(f.subgroup.shuffle(f.bitcast(x, f.module.vec(f.module.u32, 2)), from), x.type);
}

/**
 * `memory` is shared memory for a value per lane that no lane reads or writes at the moment. `group`: neighbours that are combined,
 * fewer than all lanes.
 */
export function combineLanes(
  f: FunctionBuilder,
  op: CombineOp,
  x: Value,
  type: IRType,
  lanes: Lanes,
  memory: () => Ref,
  group: number | null = null,
): Value {
  if (group !== null) {
    return isGroupInSubgroup(lanes, group)
      ? withinSubgroup(f, op, x, type, lanes.own, group)
      : throughMemory(f, op, x, type, { own: lanes.own, count: group }, memory());
  }
  const inSubgroup = Math.min(lanes.count, lanes.subgroupSize);
  if (inSubgroup <= 1) return throughMemory(f, op, x, type, lanes, memory());
  const total = withinSubgroup(f, op, x, type, lanes.own, inSubgroup);
  const subgroups = lanes.count / inSubgroup;
  if (subgroups === 1) return total;
  const place = memory();
  const [which, position] = [f.div(lanes.own, inSubgroup), f.and(lanes.own, inSubgroup - 1)];
  f.if(f.equal(position, 0), () => place.store(which, total));
  f.workgroupBarrier();
  if (subgroups > inSubgroup) {
    return inPairs(
      Array.from({ length: subgroups }, (_, i) => place.load(i)),
      (a, b) => binary(f, op, type, a, b),
    );
  }
  const found = place.load(f.and(lanes.own, subgroups - 1));
  return withinSubgroup(f, op, found, type, lanes.own, subgroups);
}

function withinSubgroup(f: FunctionBuilder, op: CombineOp, x: Value, type: IRType, lane: Value, count: number): Value {
  const { isSymmetric } = reductionBy(op);
  let total = x;
  for (let distance = 1; distance < count; distance *= 2) {
    const other = fromPartner(f, total, type, distance);
    // If the order matters (0 and -0 are equal but differ in bits), all lanes must combine in the same order.
    const isSecond = isSymmetric ? null : f.notEqual(f.and(lane, distance), 0);
    const [a, b] = isSecond ? [f.select(isSecond, other, total), f.select(isSecond, total, other)] : [total, other];
    total = binary(f, op, type, a, b);
  }
  return total;
}

const isWide = (type: IRType): boolean => type === "i64" || type === "u64" || type === "f64";

/** 64-bit numbers are exchanged as two words: not every device can shuffle them whole. */
function fromPartner(f: FunctionBuilder, x: Value, type: IRType, distance: number): Value {
  if (!isWide(type)) return f.subgroup.shuffleXor(x, distance);
  const words = f.bitcast(x, f.module.vec(f.module.u32, 2));
  return f.bitcast(f.subgroup.shuffleXor(words, distance), x.type);
}

function throughMemory(
  f: FunctionBuilder,
  op: CombineOp,
  x: Value,
  type: IRType,
  { own, count }: Pick<Lanes, "own" | "count">,
  memory: Ref,
): Value {
  memory.store(own, x);
  for (let distance = 1; distance < count; distance *= 2) {
    f.workgroupBarrier();
    f.if(f.equal(f.and(own, 2 * distance - 1), 0), () => {
      memory.store(own, binary(f, op, type, memory.load(own), memory.load(f.add(own, distance))));
    });
  }
  f.workgroupBarrier();
  return memory.load(f.and(own, -count));
}

function inPairs(values: readonly Value[], combine: (a: Value, b: Value) => Value): Value {
  let rest = values;
  while (rest.length > 1) rest = rest.flatMap((a, i) => (i % 2 === 0 ? combine(a, rest[i + 1] as Value) : []));
  return rest[0] as Value;
}
