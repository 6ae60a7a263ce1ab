/** Text output: colours where they are wanted, wrapped text, aligned columns, and sizes in human units. */

const codes = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
} as const;

export type Colour = keyof typeof codes;

export interface Terminal {
  print(line?: string): void;
  /** The text in a colour, or as it is where colours are not wanted. */
  paint(colour: Colour, text: string): string;
  readonly width: number;
}

/** The parts of an output stream that a terminal uses. */
interface Output {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

const WIDEST = 110;
const WIDTH_OF_A_FILE = 100;

export function openTerminal(output: Output, env: NodeJS.ProcessEnv): Terminal {
  // https://no-color.org: set and not empty, whatever its value.
  const isColoured = output.isTTY === true && !env.NO_COLOR && env.TERM !== "dumb";
  return {
    print: (line = "") => output.write(`${line}\n`),
    paint: (colour, text) => {
      const [on, off] = codes[colour];
      return isColoured ? `\x1b[${on}m${text}\x1b[${off}m` : text;
    },
    width: Math.min(WIDEST, output.columns || WIDTH_OF_A_FILE),
  };
}

/** Breaks a text at spaces into lines of at most `width`; a longer word gets a line of its own. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

/** Lines with their cells padded to columns; the cells of the last column are left as they are. */
export function columns(rows: readonly (readonly string[])[]): string[] {
  const count = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: count }, (_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
  return rows.map((row) =>
    row.map((cell, i) => (i === row.length - 1 ? cell : cell.padEnd(widths[i] ?? 0))).join("  "),
  );
}

/** `bytes(1536)` is "1.5 KiB". */
export function bytes(count: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  const power = count < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(count) / 10));
  const value = (count / 2 ** (10 * power)).toFixed(1).replace(/\.0$/, "");
  return `${value} ${units[power]}`;
}

/** `plural(2, "file")` is "2 files". */
export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** JSON of anything the commands report: big integers become hexadecimal strings. */
export function toJson(value: unknown): string {
  return JSON.stringify(value, (_key, part) => (typeof part === "bigint" ? `0x${part.toString(16)}` : part), 2);
}
