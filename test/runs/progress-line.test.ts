/** Lines of progress on a terminal and in a log. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Output, progressBar, progressLine } from "../../src/runs/progress-line.js";

const format = ({ milliseconds }: { readonly milliseconds: number }) =>
  `${progressBar(0.5)} of a rather long line · ${(milliseconds / 1000).toFixed(1)} s`;

function output(more: Partial<Output>): { readonly out: Output; readonly text: () => string } {
  let text = "";
  const write = (part: string | Uint8Array) => {
    text += part;
    return true;
  };
  return { out: { isTTY: true, columns: 200, write, ...more }, text: () => text };
}

test("a bar is full at 1 and empty at 0, and never longer", () => {
  assert.equal(progressBar(0.75), `${"█".repeat(18)}${"░".repeat(6)} 75 %`);
  assert.equal(progressBar(7), `${"█".repeat(24)} 100 %`);
  assert.equal(progressBar(-1), `${"░".repeat(24)} 0 %`);
});

test("a line is never longer than the terminal is wide", () => {
  const { out, text } = output({ columns: 30 });
  const line = progressLine(format, out);
  line.update({ milliseconds: 5 });
  line.done();
  const begin = "\r\x1b[K";
  assert.ok(text().startsWith(begin) && text().endsWith("\n"));
  assert.equal(text().length, begin.length + 29 + 1);
});

test("where there is no terminal, there is a line now and then, and one at the end", () => {
  const { out, text } = output({ isTTY: false });
  const line = progressLine(format, out);
  for (let milliseconds = 100; milliseconds <= 25_000; milliseconds += 100) line.update({ milliseconds });
  assert.equal(text().match(/\n/g)?.length, 2);
  line.done();
  const lines = text().trimEnd().split("\n");
  assert.deepEqual(
    lines.map((each) => / ([\d.]+) s$/.exec(each)?.[1]),
    ["10.0", "20.0", "25.0"],
  );
  const none = output({ isTTY: false });
  progressLine(format, none.out).done();
  assert.equal(none.text(), "");
});
