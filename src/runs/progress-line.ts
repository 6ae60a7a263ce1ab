/**
 * The progress of a run as text: on a terminal a line that is written over itself, elsewhere, as in the log of a job, a
 * line now and then. The libraries say what the line tells; this writes it.
 */

/** Progress that knows when it was. */
interface Timed {
  readonly milliseconds: number;
}

export interface ProgressLine<P> {
  update(progress: P): void;
  done(): void;
}

/** The destination of lines. @internal for tests: a terminal that is none */
export type Output = Pick<NodeJS.WriteStream, "write" | "isTTY" | "columns">;

const WIDTH = 24;
/** Between lines where there is no terminal. */
const LOG_MS = 10_000;

/** A bar of 24 characters and the percentage: "██████░░ 75 %". */
export function progressBar(share: number): string {
  const part = Math.min(1, Math.max(0, share));
  return `${"█".repeat(Math.round(WIDTH * part)).padEnd(WIDTH, "░")} ${Math.floor(100 * part)} %`;
}

/** Writes lines of progress. `format` gives the text. */
export function progressLine<P extends Timed>(
  format: (progress: P) => string,
  out: Output = process.stderr,
): ProgressLine<P> {
  return out.isTTY ? terminalLine(format, out) : logLines(format, out);
}

function terminalLine<P>(format: (progress: P) => string, out: Output): ProgressLine<P> {
  let isBegun = false;
  return {
    update: (progress) => {
      isBegun = true;
      // A longer line would wrap, and its first part would stay on the terminal.
      const line = format(progress).slice(0, Math.max(1, (out.columns || 80) - 1));
      out.write(`\r\x1b[K${line}`);
    },
    done: () => {
      if (isBegun) out.write("\n");
    },
  };
}

function logLines<P extends Timed>(format: (progress: P) => string, out: Output): ProgressLine<P> {
  let last: P | null = null;
  let written = 0;
  const write = (progress: P) => {
    written = progress.milliseconds;
    out.write(`${format(progress)}\n`);
  };
  return {
    update: (progress) => {
      last = progress;
      if (progress.milliseconds - written >= LOG_MS) write(progress);
    },
    done: () => {
      if (last && last.milliseconds > written) write(last);
    },
  };
}
