/** CSV against the rules of RFC 4180, what pandas infers, and lines that are wrong. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { FormatError } from "../../../src/core/errors.js";
import { csvText, parseCsv, readCsv, table, writeCsv } from "../../../src/learn/index.js";
import { temporaryFolders } from "../../support/temporary-folder.js";

const folder = temporaryFolders();

test("quotes hold separators, line ends and doubled quotes; CRLF, CR, a byte order mark and empty lines are no cells", () => {
  const made = parseCsv('\ufeffa,b\r\n"x, ""y""\r\nz",1\r\r\n\n"",2\n"NA",3');
  assert.deepEqual(made.toRows(), [
    { a: 'x, "y"\r\nz', b: 1 },
    { a: "", b: 2 },
    { a: "NA", b: 3 },
  ]);
});

test("columns of numbers, flags and missing cells are numbers; other texts are categories", () => {
  const made = parseCsv("n,e,f,c,m\n1, 2e-3 ,true,x,\n.5,-inf,False,NA,nan\n+3.,NaN,,2020-01-01,NULL\n");
  assert.deepEqual(made.toColumns(), {
    n: [1, 0.5, 3],
    e: [0.002, Number.NEGATIVE_INFINITY, null],
    f: [1, 0, null],
    c: ["x", null, "2020-01-01"],
    m: [null, null, null],
  });
  assert.deepEqual(
    made.names.map((name) => made.column(name).kind),
    ["number", "number", "number", "category", "number"],
  );
});

test("separator, header, missing, columns, types, comment and maxRows", () => {
  const text = "# a note\n1;x;2020-01-02\n2;?;2020-01-03\n3;y;\n";
  const made = parseCsv(text, {
    separator: ";",
    header: ["id", "c", "when"],
    missing: ["?", ""],
    columns: ["when", "id"],
    types: { id: "category", when: "date" },
    comment: "#",
    maxRows: 2,
  });
  assert.deepEqual(made.toColumns(), { when: [Date.UTC(2020, 0, 2), Date.UTC(2020, 0, 3)], id: ["1", "2"] });
  assert.deepEqual(parseCsv("1,2\n", { header: false }).toRows(), [{ 0: 1, 1: 2 }]);
});

test("an empty text and a header alone are tables without rows", () => {
  assert.equal(parseCsv("").rows, 0);
  const made = parseCsv("a,b\n");
  assert.deepEqual([made.rows, made.names], [0, ["a", "b"]]);
});

test("mistakes are named with their line", () => {
  assert.throws(() => parseCsv('a,b\n"x\ny",1\n1\n'), /line 4 has 1 cells, and there are 2 columns/);
  assert.throws(() => parseCsv('a\n\n"x'), /opens on line 3 is not closed/);
  assert.throws(() => parseCsv('a\n"x"y\n'), /line 2 goes on after a closing quote/);
  assert.throws(() => parseCsv("a,a\n1,2\n"), /two columns are called "a"/);
  assert.throws(() => parseCsv("a\nx\n", { types: { a: "number" } }), /row 0 of the column "a" is "x", no number/);
  assert.throws(() => parseCsv("a\nx\n", { types: { a: "date" } }), /no date/);
  assert.throws(() => parseCsv("a\nx\n", { columns: ["b"] }), /no column "b"; there are a/);
  assert.throws(() => parseCsv("a\n", { separator: ",," }), /it is one character/);
});

test("time grows with the length of the text alone: long cells, many quotes, digits without end", () => {
  const texts = [`a\n${"1".repeat(1e6)}x\n`, `a\n"${'""'.repeat(5e5)}"\n`, `a\n${"1,".repeat(0)}${"1\n".repeat(3e5)}`];
  const began = performance.now();
  for (const text of texts) parseCsv(text);
  assert.ok(performance.now() - began < 4000);
});

test("files come back; bytes that are no UTF-8 are refused", async () => {
  const path = join(folder(), "t.csv");
  const made = table({ n: [1.5, null, -2], c: ["a,b", 'q"q', null], m: ["NA", "x\ny", null] });
  await writeCsv(path, made);
  assert.deepEqual(await readCsv(path), made);
  assert.equal(csvText(table({ a: [1] }), { separator: ";" }), "a\n1\n");
  writeFileSync(path, Buffer.from([0x61, 0x0a, 0xff, 0xfe]));
  await assert.rejects(readCsv(path), (error: Error) => error instanceof FormatError && /no UTF-8/.test(error.message));
  await assert.rejects(readCsv(join(folder(), "none.csv")), /none\.csv/);
});

test("dates that name no zone are of UTC, wherever the machine stands", () => {
  const zone = process.env.TZ;
  process.env.TZ = "Asia/Tokyo";
  try {
    const ten = Date.UTC(2024, 0, 15, 10);
    const texts: [string, number][] = [
      ["2024-01-15", ten - 36e6],
      ["2024-01-15T10:00", ten],
      ["2024-01-15 10:00:00.25", ten + 250],
      ["Jan 15 2024 10:00 AM", ten],
      ["01-15-2024", ten - 36e6],
      ["2024-01-15T10:00:00Z", ten],
      ["2024-01-15 10:00:00+02:00", ten - 72e5],
      ["Mon, 15 Jan 2024 10:00:00 GMT", ten],
      ["Mon Jan 15 2024 10:00:00 GMT+0200 (CEST)", ten - 72e5],
    ];
    const made = parseCsv(`d\n${texts.map(([text]) => `"${text}"`).join("\n")}\n`, { types: { d: "date" } });
    texts.forEach(([text, want], i) => {
      assert.equal(made.cells("d")[i], want, text);
    });
  } finally {
    if (zone === undefined) delete process.env.TZ;
    else process.env.TZ = zone;
  }
});

test("a column may have any name, such as constructor", () => {
  assert.deepEqual(parseCsv("constructor,toString\nFerrari,1\n").toRows(), [{ constructor: "Ferrari", toString: 1 }]);
});

test("a comma before fractions is read where it is told, and needs another separator", () => {
  const text = "a;b;c\n1,5;x;1.5\n-,25e1;y;2\n";
  assert.deepEqual(parseCsv(text, { separator: ";", decimal: "," }).toColumns(), {
    a: [1.5, -2.5],
    b: ["x", "y"],
    c: ["1.5", "2"],
  });
  assert.throws(() => parseCsv(text, { decimal: "," }), /"," is the separator and the option decimal/);
});

test("missing cells of a lone column come back", () => {
  for (const made of [table({ a: [1, null, 3] }), table({ c: ["NA", null, ""] })]) {
    assert.deepEqual(parseCsv(csvText(made)), made);
  }
});
