/** Threefry-2x32-20 on plain numbers, from the paper's description: what the tensor version is compared with. */
const ROTATIONS = [13, 15, 26, 6, 17, 29, 16, 24] as const;

export type Pair = readonly [number, number];

export function threefryOracle(key: Pair, counter: Pair): Pair {
  const schedule = [key[0], key[1], (key[0] ^ key[1] ^ 0x1bd11bda) >>> 0];
  let x = (counter[0] + key[0]) >>> 0;
  let y = (counter[1] + key[1]) >>> 0;
  for (let round = 0; round < 20; round++) {
    x = (x + y) >>> 0;
    const distance = ROTATIONS[round % 8]!;
    y = ((y << distance) | (y >>> (32 - distance))) >>> 0;
    y = (y ^ x) >>> 0;
    if (round % 4 === 3) {
      const injection = (round + 1) / 4;
      x = (x + schedule[injection % 3]!) >>> 0;
      y = (y + schedule[(injection + 1) % 3]! + injection) >>> 0;
    }
  }
  return [x, y];
}
