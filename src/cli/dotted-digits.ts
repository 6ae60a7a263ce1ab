/** The ten digits in 5×7 dots, as on an old display. The tour's network learns to read them. */
import type { Tensor } from "../index.js";

const DIGITS = [
  "01110 10001 10011 10101 11001 10001 01110",
  "00100 01100 00100 00100 00100 00100 01110",
  "01110 10001 00001 00010 00100 01000 11111",
  "11111 00010 00100 00010 00001 10001 01110",
  "00010 00110 01010 10010 11111 00010 00010",
  "11111 10000 11110 00001 00001 10001 01110",
  "00110 01000 10000 11110 10001 10001 01110",
  "11111 00001 00010 00100 01000 01000 01000",
  "01110 10001 10001 01110 10001 10001 01110",
  "01110 10001 10001 01111 00001 00010 01100",
];

/** [10, 35]: a digit per row, 1 where there is a dot, with a tenth of all dots flipped at random. */
export function noisyDigits({ tensor, random }: typeof import("../index.js"), key: Tensor<"u32">): Tensor {
  const digits = tensor(DIGITS.map((dots) => [...dots.replaceAll(" ", "")].map(Number)));
  const isFlipped = random.bernoulli(key, 0.1, digits.shape);
  return digits.sub(isFlipped.cast("f32")).abs();
}

/** A digit as text. */
export function drawDots(digit: Tensor): string {
  const values = digit.dataSync();
  const rows = Array.from({ length: 7 }, (_, row) => Array.from({ length: 5 }, (_, i) => values[5 * row + i]));
  return rows.map((row) => row.map((value) => (Number(value) > 0.5 ? "●" : "·")).join(" ")).join("\n");
}
