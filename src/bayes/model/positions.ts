/**
 * Positions that data hold: groups, classes, times. One that is outside its axis would read the axis' end, and the model would be
 * another than the one written down. `plan` checks those that are known, which are those that nothing sampled is behind.
 */
import { ArgumentError } from "../../core/errors.js";
import { type NotePositions, notingPositions, Tensor } from "../../tensor/index.js";

/** A model's function that checks the positions it uses. */
export const checkingPositions =
  <D, R>(fn: (data: D) => R): ((data: D) => R) =>
  (data) =>
    notingPositions(checkIn(data), () => fn(data));

const checkIn =
  (data: unknown): NotePositions =>
  (operation, positions, extent) => {
    if (positions.node.isAbstract) return;
    const values = positions.dataSync() as ArrayLike<number | bigint>;
    for (let i = 0; i < values.length; i++) {
      const value = Number(values[i]);
      if (value >= -extent && value < extent) continue;
      const name = nameOf(positions, data);
      throw new ArgumentError(
        `${operation}: ${name ? `${name}${values.length > 1 ? `[${i}]` : ""}` : "a position"} is ${value}, and the axis has ` +
          `${extent} elements: positions go from 0 to ${extent - 1}, or from -${extent} to -1 counted from the end.`,
      );
    }
  };

/** Under which name data have a tensor: "g", "school.index". */
function nameOf(tensor: Tensor, data: unknown): string | null {
  if (data instanceof Tensor) return null;
  if (typeof data !== "object" || data === null || ArrayBuffer.isView(data)) return null;
  for (const [key, part] of Object.entries(data)) {
    if (part instanceof Tensor && part.node === tensor.node) return key;
    const inside = nameOf(tensor, part);
    if (inside !== null) return `${key}.${inside}`;
  }
  return null;
}
