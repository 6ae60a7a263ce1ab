/** Operations of subgroups: which group operation each is. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { kernel, textOf } from "../building.js";

test("subgroup reductions and ballot counts: which group operation", () => {
  const text = textOf(
    kernel((f, m) => {
      const x = f.variable(m.f32).load();
      f.subgroup.reduce("add", x);
      f.subgroup.inclusiveScan("mul", x);
      f.subgroup.exclusiveScan("max", x);
      f.subgroup.clusteredReduce("min", x, 4);
      const ballot = f.subgroup.ballot(true);
      for (const which of ["all", "inclusive", "exclusive"] as const) f.subgroup.ballotCount(ballot, which);
    }),
  );
  const operations = [...text.matchAll(/OpGroupNonUniform(\w+) %\w+ %uint_3 ([A-Z]\w+)(?: %\w+ (%uint_4))?/g)];
  assert.deepEqual(
    operations.map((match) => match.slice(1).filter(Boolean).join(" ")),
    [
      "FAdd Reduce",
      "FMul InclusiveScan",
      "FMax ExclusiveScan",
      "FMin ClusteredReduce %uint_4",
      "BallotBitCount Reduce",
      "BallotBitCount InclusiveScan",
      "BallotBitCount ExclusiveScan",
    ],
  );
});
