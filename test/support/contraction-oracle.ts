/** Einstein summation as the definition says: one loop per letter, f64 numbers, one axis per letter. */
import { indicesOf, type Plain, read } from "./tensors.js";

/** Letters per operand and of the result, as in ["ij", "jk"] → "ik". No ellipsis; extents of a letter agree. */
export function sumOfProducts(inputs: readonly string[], output: string, operands: readonly Plain[]): Plain {
  const sizes = new Map<string, number>();
  inputs.forEach((letters, i) => {
    [...letters].forEach((letter, axis) => {
      sizes.set(letter, operands[i]!.shape[axis]!);
    });
  });
  const summed = [...sizes.keys()].filter((letter) => !output.includes(letter));
  const extents = (letters: Iterable<string>) => [...letters].map((letter) => sizes.get(letter)!);
  const shape = extents(output);
  const values = indicesOf(shape).map((kept) => {
    let total = 0;
    for (const rest of indicesOf(extents(summed))) {
      const at = (letter: string) =>
        output.includes(letter) ? kept[output.indexOf(letter)]! : rest[summed.indexOf(letter)]!;
      total += operands.reduce((product, operand, i) => product * read(operand, [...inputs[i]!].map(at)), 1);
    }
    return total;
  });
  return { shape, values };
}
