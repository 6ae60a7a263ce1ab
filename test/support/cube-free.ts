/**
 * Whether the binary digits of a number have an odd sum: the sequence of Thue and Morse, in which nothing stands three times
 * in a row. Loops that choose their operations by it are not computed round by round.
 */
export const isOddWord = (i: number): boolean => [...i.toString(2)].filter((digit) => digit === "1").length % 2 === 1;
