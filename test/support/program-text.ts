/** Counts kernels in the text of a program, where equal kernels in a row are one line: "3 to 5. tanh[…]". */
export function kernelCount(text: string, name = /./): number {
  return [...text.matchAll(/^ *(\d+)(?: to (\d+))?\. (.*)$/gm)]
    .filter(([, , , rest]) => name.test(rest as string))
    .reduce((sum, [, first, last]) => sum + Number(last ?? first) - Number(first) + 1, 0);
}
