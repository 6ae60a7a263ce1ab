/** Supports of discrete distributions. They have no bijection: variables there are observed, or summed out. */
import type { Tensor } from "../../tensor/index.js";
import { type Argument, tensorOf } from "../arguments/argument.js";
import type { Constraint } from "./constraint.js";

const isWhole = (x: Tensor): Tensor => x.equal(x.floor()).logicalAnd(x.isFinite());

/** 0 and 1. */
export const zeroOrOne: Constraint = {
  name: "zeroOrOne",
  isDiscrete: true,
  description: "0 or 1",
  eventRank: 0,
  holds: (x) => x.equal(0).logicalOr(x.equal(1)),
};

/** 0, 1, 2 … */
export const count: Constraint = {
  name: "count",
  isDiscrete: true,
  description: "whole numbers from 0 on",
  eventRank: 0,
  holds: (x) => isWhole(x).logicalAnd(x.greaterEqual(0)),
};

/** 0, 1 … up to a number. */
export function countUpTo(most: Argument): Constraint {
  return {
    name: "countUpTo",
    isDiscrete: true,
    description: `whole numbers from 0 to ${typeof most === "number" ? most : "the number of trials"}`,
    eventRank: 0,
    bounds: [most],
    holds: (x) => count.holds(x).logicalAnd(x.lessEqual(tensorOf(most, x))),
  };
}

/** Vectors of counts with a given sum. */
export function countsOf(total: Argument): Constraint {
  return {
    name: "countsOf",
    isDiscrete: true,
    description: `vectors of whole numbers from 0 on that sum to ${typeof total === "number" ? total : "the total"}`,
    eventRank: 1,
    bounds: [total],
    holds: (x) =>
      count
        .holds(x)
        .all({ axis: -1 })
        .logicalAnd(x.sum({ axis: -1 }).equal(tensorOf(total, x))),
  };
}
