/** ArviZ's JSON from anywhere: files that were damaged or made to do harm are refused by name, in time. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parseArviz } from "../../../src/bayes/export/arviz-reader.js";
import { FormatError } from "../../../src/core/errors.js";
import { growthOf } from "../../support/growth.js";

const posterior = (json: string, more = "") => `{"posterior":{${json}}${more}}`;
const refuses = (text: string, message: RegExp) =>
  assert.throws(
    () => parseArviz(text, "file"),
    (error) => error instanceof FormatError && message.test(error.message),
    `${message} of ${text.slice(0, 80)}`,
  );

test("the numbers that JSON lacks are read where they stand for numbers, and not in texts", () => {
  const { posterior: draws, coords } = parseArviz(
    `\ufeff${posterior('"x":[[NaN,Infinity,-Infinity,null,true,-0.0]]', ',"coords":{"s":["NaN","\\"Infinity\\"",NaN,3]}')}`,
  );
  assert.deepEqual([...draws.values("x")], [Number.NaN, Infinity, -Infinity, Number.NaN, 1, -0]);
  assert.deepEqual(coords, { s: ["NaN", '"Infinity"', Number.NaN, 3] });
});

describe("refused by name:", () => {
  test("cells that are no numbers", () => {
    for (const cell of ['"abc"', '"1"', '"NaN"', "{}", '{"0":1}']) {
      refuses(posterior(`"mu":[[1,${cell}]]`), /^file: posterior: "mu" has .* where a number belongs/);
      refuses(posterior('"mu":[[1]]', `,"observed_data":{"y":[1,${cell}]}`), /^file: observed_data: "y" has/);
      refuses(posterior('"mu":[[1]]', `,"sample_stats":{"lp":[[${cell}]]}`), /^file: sample_stats: "lp" has/);
    }
  });

  test("ragged arrays", () => {
    refuses(posterior('"mu":[[1,2],[3]]'), /"mu" is ragged: a list of 1 beside one of 2/);
    refuses(posterior('"mu":[[1,[2]]]'), /"mu" has lists beside numbers/);
    refuses(posterior('"mu":[[[1],2]]'), /"mu" has lists beside numbers/);
    refuses(posterior('"mu":[[1]]', ',"observed_data":{"y":[[1,2],[3]]}'), /observed_data: "y" is ragged/);
    refuses(posterior('"mu":[[1]]', ',"log_likelihood":{"y":[[[1,2]],[[3]]]}'), /log_likelihood: "y" is ragged/);
  });

  test("arrays that agree in their numbers and not in their chains", () => {
    refuses(
      posterior('"a":[[1,2,3],[4,5,6]],"b":[[1,2],[3,4],[5,6]]'),
      /"b" is an array of \[3, ?2\], and "a" one of \[2, ?3\]/,
    );
    refuses(posterior('"a":[[1,2,3],[4,5,6]]', ',"sample_stats":{"lp":[[1,2],[3,4],[5,6]]}'), /"lp" is an array of/);
    refuses(posterior('"a":[1,2]'), /"a" is an array of/);
    refuses(posterior('"a":3'), /"a" is an array of/);
    refuses(posterior('"a":[]'), /"a" is an array of/);
  });

  test("nesting that is too deep, however deep", () => {
    for (const depth of [33, 1000, 200_000]) {
      const nested = "[".repeat(depth) + "]".repeat(depth);
      refuses(posterior(`"mu":${nested}`), /"mu" is nested more than 32 deep/);
      refuses(posterior('"mu":[[1]]', `,"constant_data":{"x":${nested}}`), /"x" is nested more than 32 deep/);
      refuses(posterior('"mu":[[1]]', `,"coords":{"x":[${nested}]}`), /coords: "x" has the label/);
    }
  });

  test("names that have a meaning of their own", () => {
    for (const name of ["__proto__", "constructor", "prototype", ""]) {
      refuses(posterior(`"${name}":[[1]]`), /is no name for a variable|a name is empty/);
      refuses(posterior('"mu":[[1]]', `,"observed_data":{"${name}":[1]}`), /observed_data: /);
      refuses(posterior('"mu":[[1]]', `,"dims":{"${name}":["a"]}`), /dims: /);
      refuses(posterior('"mu":[[1]]', `,"coords":{"${name}":["a"]}`), /coords: /);
    }
    refuses('{"__proto__":{"posterior":{"mu":[[1]]}}}', /no group "posterior"/);
    assert.equal(({} as { posterior?: unknown }).posterior, undefined);
  });

  test("labels and attributes of another kind", () => {
    refuses(posterior('"mu":[[1]]', ',"dims":{"mu":"school"}'), /dims: "mu" is no list/);
    refuses(posterior('"mu":[[1]]', ',"dims":{"mu":[1]}'), /dims: "mu" has the label 1/);
    refuses(posterior('"mu":[[1]]', ',"coords":{"s":[{}]}'), /coords: "s" has the label/);
    for (const depth of ["-1", "0", "1.5", "Infinity"])
      refuses(posterior('"mu":[[1]]', `,"sample_stats_attrs":{"max_tree_depth":${depth}}`), /max_tree_depth is/);
    refuses(posterior('"mu":[[1]]', ',"posterior_attrs":{"superchains":3}'), /1 chains cannot be 3 superchains/);
  });

  test("groups without anything", () => {
    refuses("{}", /no group "posterior"/);
    refuses(posterior(""), /no variables in the group "posterior"/);
    refuses('{"posterior":[]}', /no group "posterior"/);
    refuses("NaN", /no group "posterior"/);
    refuses("1NaN", /no JSON/);
  });
});

describe("the time grows with the length of the text, for", () => {
  const texts: Readonly<Record<string, (length: number) => string>> = {
    "a string of escaped quotes that does not end": (n) => `{"a":NaN,"${'\\"'.repeat(n / 2)}`,
    "quotes and nothing else": (n) => `NaN${'"'.repeat(n)}`,
    "backslashes in a string": (n) => `NaN"${"\\".repeat(n)}`,
    "minus signs": (n) => `NaN${"-".repeat(n)}`,
    "many numbers": (n) => posterior(`"x":[[${"NaN,".repeat(n / 4)}1]]`),
    "many variables": (n) => posterior(Array.from({ length: n / 16 }, (_, i) => `"v${i}":[[NaN]]`).join()),
    "lists that open and do not close": (n) => posterior(`"x":${"[".repeat(n)}`),
  };
  for (const [title, text] of Object.entries(texts)) {
    test(title, () => {
      const read = (length: number) => {
        try {
          parseArviz(text(length));
        } catch (error) {
          assert.ok(error instanceof FormatError, `${error}`);
        }
      };
      growthOf(read);
    });
  }
});
