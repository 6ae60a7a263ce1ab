/** The subscripts of `einsum`, as in "ij,jk->ik": parsed, and the extent of each letter. */
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { formatShape } from "../../core/shape.js";
import type { Tensor } from "../tensor.js";

/** An axis by name: a letter, or for axes under an ellipsis their distance from the end, as ".0". */
export type Label = string;

/** The labels of each operand and of the result. `ranks` says how many axes an ellipsis stands for. */
export function parseSubscripts(
  subscripts: string,
  ranks: readonly number[],
): { inputs: readonly (readonly Label[])[]; output: readonly Label[] } {
  const fail = (why: string): never => {
    throw new ArgumentError(`einsum "${subscripts}": ${why}`);
  };
  const text = subscripts.replaceAll(" ", "");
  const [left, right, ...more] = text.split("->");
  if (more.length > 0) fail("there is more than one ->.");
  const parts = left.split(",");
  if (ranks.length === 0) fail("there is no operand.");
  if (parts.length !== ranks.length) {
    fail(`it describes ${parts.length} operands, and ${ranks.length} are given; separate operands by commas.`);
  }
  const lettersOf = (part: string): { before: Label[]; after: Label[] | null } => {
    const [before, after, ...extra] = part.split("...");
    if (extra.length > 0) fail(`"${part}" has more than one ellipsis.`);
    const strange = [...before, ...(after ?? "")].find((letter) => !/[A-Za-z]/.test(letter));
    if (strange) fail(`"${strange}" in "${part}" is no letter; axes are named a to z and A to Z.`);
    return { before: [...before], after: after === undefined ? null : [...after] };
  };
  const ellipsis = (count: number): Label[] => Array.from({ length: count }, (_, i) => `.${count - 1 - i}`);
  let widest = 0;
  const inputs = parts.map((part, i) => {
    const { before, after } = lettersOf(part);
    const rest = ranks[i] - before.length - (after?.length ?? 0);
    if (rest < 0 || (rest > 0 && after === null)) {
      fail(
        `"${part}" names ${before.length + (after?.length ?? 0)} axes of operand ${i + 1}, which has ${ranks[i]}` +
          `${rest > 0 ? '; add "..." for the rest' : ""}.`,
      );
    }
    if (after === null) return before;
    widest = Math.max(widest, rest);
    return [...before, ...ellipsis(rest), ...after];
  });
  if (right === undefined) {
    const counts = new Map<Label, number>();
    for (const label of inputs.flat()) counts.set(label, (counts.get(label) ?? 0) + 1);
    const once = [...counts].filter(([label, count]) => count === 1 && !label.startsWith(".")).map(([label]) => label);
    return { inputs, output: [...ellipsis(widest), ...once.sort()] };
  }
  const { before, after } = lettersOf(right);
  if (after === null && widest > 0) fail('axes under "..." cannot be summed over; write "..." in the result too.');
  const output = [...before, ...(after === null ? [] : ellipsis(widest)), ...(after ?? [])];
  for (const [i, label] of output.entries()) {
    if (output.indexOf(label) !== i)
      fail(`the result names "${label}" twice; take the diagonal of an operand instead.`);
    if (!label.startsWith(".") && !inputs.some((labels) => labels.includes(label))) {
      fail(`the result names "${label}", which no operand has.`);
    }
  }
  return { inputs, output };
}

/** The extent behind each label. An extent of 1 stretches to what another operand has there. */
export function labelSizes(
  subscripts: string,
  inputs: readonly (readonly Label[])[],
  tensors: readonly Tensor[],
): Map<Label, number> {
  const sizes = new Map<Label, number>();
  for (const [i, labels] of inputs.entries()) {
    const { shape } = tensors[i];
    for (const [axis, label] of labels.entries()) {
      const twin = labels.indexOf(label);
      const known = sizes.get(label) ?? 1;
      const fits = shape[axis] === known || shape[axis] === 1 || known === 1;
      if (!fits || shape[axis] !== shape[twin]) {
        const name = label.startsWith(".") ? "an axis of the ellipsis" : `"${label}"`;
        throw new ShapeError(
          `einsum "${subscripts}": ${name} is ${fits ? shape[twin] : known} and ${shape[axis]}; ` +
            `the operands have the shapes ${tensors.map((tensor) => formatShape(tensor.shape)).join(", ")}.`,
        );
      }
      if (known === 1) sizes.set(label, shape[axis]);
    }
  }
  return sizes;
}
