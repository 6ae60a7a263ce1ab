/** Tables as text: the first column to the left, numbers to the right. */
export function alignColumns(table: readonly (readonly string[])[]): string {
  const widths = table[0].map((_, column) => table.reduce((width, line) => Math.max(width, line[column].length), 0));
  const align = (cell: string, column: number) =>
    column === 0 ? cell.padEnd(widths[column]) : cell.padStart(widths[column]);
  return table.map((line) => line.map(align).join("  ")).join("\n");
}
