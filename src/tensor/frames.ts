/** Frames of a signal: pieces of one length along the last axis, which may overlap. `signal` cuts and joins with them. */
import { overlapAdded, windowNode } from "../graph/windows.js";
import { Tensor } from "./tensor.js";

/** [.., n] → [.., count, length]: pieces that begin `hop` apart, as many as fit. Nothing is copied. */
export function framed(x: Tensor, length: number, hop: number): Tensor {
  const windows = { axes: [x.rank - 1], size: [length], stride: [hop], dilation: [1], padding: [[0, 0] as const] };
  return new Tensor(windowNode(x.node, windows, 0));
}

/** [.., count, length] → [.., (count - 1)·hop + length]: pieces that begin `hop` apart, summed where they overlap. */
export function joinedFrames(frames: Tensor, hop: number): Tensor {
  const [count, length] = frames.shape.slice(-2);
  const missing = Math.ceil(length / hop) * hop - length;
  const whole = missing > 0 ? frames.pad(frames.shape.map((_, i) => [0, i === frames.rank - 1 ? missing : 0])) : frames;
  const sum = new Tensor(overlapAdded(whole.node, whole.rank - 2, hop));
  return missing > 0 ? sum.at("...", `:${(count - 1) * hop + length}`) : sum;
}
