/**
 * Rejection sampling without loops that end when they please: a fixed number of candidates is looked at, and the first
 * that is accepted counts. Counters tell the candidates apart, so none is stored: the accepted one is made again. When
 * none is accepted the last one counts; users of this choose rounds enough to make that irrelevant, and say how rare it is.
 */
import { countingLike, type Tensor, where } from "../tensor/index.js";
import type { Key } from "./key.js";

/** For each element, the first round whose candidate is accepted. `accepts` gets the rounds along a new first axis. */
export function firstAccepted(key: Key, rounds: number, rank: number, accepts: (round: Tensor) => Tensor): Tensor {
  const round = countingLike(key, rounds).reshape([rounds, ...new Array<number>(rank).fill(1)]);
  return where(accepts(round), round, rounds - 1).min({ axis: 0 });
}
