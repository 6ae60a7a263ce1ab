/** Stan CSV from anywhere: files that were damaged or made to do harm are refused by name, in time. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parseStanCsv } from "../../../src/bayes/export/stan-csv-reader.js";
import { FormatError } from "../../../src/core/errors.js";
import { growthOf } from "../../support/growth.js";

const refuses = (text: string, message: RegExp) =>
  assert.throws(
    () => parseStanCsv([text], ["file"]),
    (error) => error instanceof FormatError && message.test(error.message),
    `${message} of ${text.slice(0, 80)}`,
  );

test("numbers are read as CmdStan writes them, and with the line ends of every system", () => {
  const cells = ["1", "-2.5", "+3", ".5", "7.", "1e3", "2.5E-3", "nan", "-nan", "inf", "+inf", "-inf", " 4 "];
  const expected = [1, -2.5, 3, 0.5, 7, 1000, 0.0025, Number.NaN, Number.NaN, Infinity, Infinity, -Infinity, 4];
  for (const end of ["\n", "\r\n"]) {
    for (const mark of ["", "\ufeff"]) {
      const draws = parseStanCsv([mark + ["# thin = 1 (Default)", "x", ...cells, ""].join(end)]);
      assert.deepEqual([...draws.values("x")], expected);
    }
  }
});

describe("refused by name:", () => {
  test("cells that are no numbers", () => {
    const cells = [
      "abc",
      "0x10",
      "0b1",
      "1_0",
      "1,",
      "--1",
      "1e",
      "e5",
      ".",
      "__proto__",
      "constructor",
      "toString",
      "null",
    ];
    for (const cell of cells) refuses(`a\n${cell}\n`, /^file, line 2: /);
    refuses("a,b\n1,\n", /^file, line 2: "" is no number/);
  });

  test("settings that are no whole numbers of their kind", () => {
    for (const saved of [0, 1]) {
      const told = (line: string) => `# save_warmup = ${saved}\n# ${line}\na\n1\n2\n`;
      for (const value of ["-2", "1.5", "1e3", "abc", "99999999999999999999"])
        refuses(told(`num_warmup = ${value}`), /^file: num_warmup is "/);
      for (const value of ["0", "-1", "x"]) refuses(told(`thin = ${value}`), /^file: thin is "/);
      for (const value of ["0", "-1", "deep"]) refuses(told(`max_depth = ${value}`), /^file: max_depth is "/);
    }
  });

  test("columns with names that have a meaning of their own, or none", () => {
    for (const name of ["__proto__", "__proto__.1", "constructor", "prototype.1.2", "", ".1"])
      refuses(`a,${name}\n1,2\n`, /^file: column 2: /);
  });

  test("columns that fill no array, however large it would be", () => {
    for (const columns of [
      "x.0",
      "x.2",
      "x.1,x.1",
      "x,x",
      "x.1,x.1.1",
      "x.4000000000",
      "x.9007199254740993",
      "x.1,x.3",
    ]) {
      const cells = columns.replace(/[^,]+/g, "1");
      refuses(`${columns}\n${cells}\n`, /^file: the columns of "x" do not fill an array; /);
    }
    refuses(`x${".1".repeat(33)}\n1\n`, /they have 33 axes/);
    refuses(`${"x.100000".concat(".100000".repeat(5))}\n1\n`, /some are missing/);
  });

  test("rows that are longer or shorter than the columns, and files without columns", () => {
    refuses("a,b\n1\n", /^file, line 2: 1 numbers for 2 columns/);
    refuses("a\n1,2\n", /^file, line 2: 2 numbers for 1 columns/);
    for (const text of ["", "\n\n", "# thin = 1\n"]) refuses(text, /no line with the names of columns/);
  });
});

describe("the time grows with the length of the text, for", () => {
  const texts: Readonly<Record<string, (length: number) => string>> = {
    "indices of a column that end in something else": (n) => `a${".1".repeat(n / 2)}x\n1\n`,
    "indices of a column": (n) => `a${".1".repeat(n / 2)}\n1\n`,
    "points of a column": (n) => `a${".".repeat(n)}\n1\n`,
    "a comment of spaces": (n) => `#${" ".repeat(n)}x\na\n1\n`,
    "a comment of letters": (n) => `#${"a".repeat(n)}\na\n1\n`,
    "a comment of equal signs": (n) => `#a${"=".repeat(n)}\na\n1\n`,
    "a number of digits": (n) => `a\n${"1".repeat(n)}x\n`,
    "many columns": (n) =>
      `${Array.from({ length: n / 8 }, (_, i) => `x.${i + 1}`).join()}\n${"1,".repeat(n / 8 - 1)}1\n`,
    "many variables": (n) => `${Array.from({ length: n / 8 }, (_, i) => `x${i}`).join()}\n${"1,".repeat(n / 8 - 1)}1\n`,
    "many rows": (n) => `a\n${"1\n".repeat(n / 2)}`,
    "line ends": (n) => `a\n${"\r".repeat(n)}1\n`,
  };
  for (const [title, text] of Object.entries(texts)) {
    test(title, () => {
      growthOf((length) => {
        try {
          parseStanCsv([text(length)]);
        } catch (error) {
          assert.ok(error instanceof FormatError, `${error}`);
        }
      });
    });
  }
});
