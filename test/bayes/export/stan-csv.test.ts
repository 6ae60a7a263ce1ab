/** Stan CSV: CmdStan's files are read, and what is written here comes back. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { Draws } from "../../../src/bayes/draws/draws.js";
import { saveStanCsv, stanCsv } from "../../../src/bayes/export/stan-csv.js";
import { loadStanCsv, parseStanCsv } from "../../../src/bayes/export/stan-csv-reader.js";
import { model, normal } from "../../../src/bayes/index.js";
import { ArgumentError, FormatError } from "../../../src/core/errors.js";

/** As CmdStan 2.35 writes it: two draws of warmup are in it, thinned by two. */
const CMDSTAN = `# stan_version_major = 2
# model = schools_model
# method = sample (Default)
#   sample
#     num_samples = 6
#     num_warmup = 3
#     save_warmup = true
#     thin = 2
#         engine = nuts (Default)
#           nuts
#             max_depth = 12
# id = 1 (Default)
lp__,accept_stat__,stepsize__,treedepth__,n_leapfrog__,divergent__,energy__,mu,m.1.1,m.2.1,m.1.2,m.2.2,m.1.3,m.2.3,z.real,z.imag
-9,0.5,1,1,1,0,9,0,0,0,0,0,0,0,0,0
-8,0.5,1,1,1,1,9,0,0,0,0,0,0,0,0,0
# Adaptation terminated
# Step size = 0.9
# Diagonal elements of inverse mass matrix:
# 1.5
-7.5,0.99,0.9,2,3,0,8.25,1.25,11,21,12,22,13,23,1,2
-7.25,1,0.9,2,3,1,8,-1e-05,nan,inf,-inf,4,5,6,3,4
-7,1,0.9,2,3,0,8,3,11,21,12,22,13,23,5,6

#  Elapsed Time: 0.01 seconds (Warm-up)
`;

describe("CmdStan's file", () => {
  const draws = parseStanCsv([CMDSTAN, CMDSTAN]);

  test("has its draws without the warmup, matrices in place", () => {
    assert.deepEqual([draws.chains, draws.length, draws.maxTreeDepth], [2, 3, 12]);
    assert.deepEqual([...draws.scalar("mu").values], [1.25, -1e-5, 3, 1.25, -1e-5, 3]);
    assert.deepEqual([...draws.values("m").subarray(0, 6)], [11, 12, 13, 21, 22, 23]);
    assert.deepEqual([...draws.values("m").subarray(6, 12)], [Number.NaN, -Infinity, 5, Infinity, 4, 6]);
  });

  test("has its statistics", () => {
    assert.deepEqual([...draws.stat("divergent")!.values], [0, 1, 0, 0, 1, 0]);
    assert.deepEqual([...draws.stat("energy")!.values.subarray(0, 3)], [8.25, 8, 8]);
    assert.equal(draws.stats.length, 7);
  });

  test("may have columns that are no elements: they are scalars of their own", () => {
    assert.deepEqual([...draws.scalar("z.imag").values.subarray(0, 3)], [2, 4, 6]);
  });
});

describe("files written here", () => {
  const energy = [
    [1, 2],
    [3, 4],
  ];
  const draws = Draws.from(
    {
      mu: [
        [0.1, Number.NaN],
        [-Infinity, 1e-17],
      ],
      m: [
        [
          [
            [1, 2, 3],
            [4, 5, 6],
          ],
          [
            [7, 8, 9],
            [10, 11, 12],
          ],
        ],
        [
          [
            [13, 14, 15],
            [16, 17, 18],
          ],
          [
            [19, 20, 21],
            [22, 23, 24],
          ],
        ],
      ],
    },
    { stats: { energy, stepSize: energy }, maxTreeDepth: 10 },
  );

  test("name columns as Stan does, the first index fastest, counted from 1", () => {
    const lines = stanCsv(draws, 1, { model: "m" }).split("\n");
    const header = lines.findIndex((line) => !line.startsWith("#"));
    assert.equal(lines[header], "stepsize__,energy__,mu,m.1.1,m.2.1,m.1.2,m.2.2,m.1.3,m.2.3");
    assert.deepEqual(lines.slice(header + 1), [
      "# Adaptation terminated",
      "# Step size = 4",
      "3,3,-inf,13,16,14,17,15,18",
      "4,4,1e-17,19,22,20,23,21,24",
      "",
    ]);
    for (const wanted of ["# model = m", "#     num_samples = 2", "# id = 2"]) assert.ok(lines.includes(wanted));
  });

  test("come back as they were, one file per chain", async () => {
    const folder = mkdtempSync(join(tmpdir(), "pumice-stan-"));
    try {
      const paths = await saveStanCsv(join(folder, "fit"), draws);
      assert.deepEqual(readdirSync(folder).sort(), ["fit_1.csv", "fit_2.csv"]);
      const back = await loadStanCsv(paths);
      for (const name of ["mu", "m"]) assert.deepEqual(back.values(name), draws.values(name));
      assert.deepEqual(back.stat("energy"), draws.stat("energy"));
      assert.equal(back.maxTreeDepth, 10);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("cannot have names that Stan's columns cannot", () => {
    for (const name of ["a.b", "a,b", "lp__", "a b", 'q"uote', "it's", ""]) {
      assert.throws(
        () => stanCsv(Draws.from({ [name]: [[1]] }), 0),
        (error: Error) => error instanceof ArgumentError && error.message.includes(`named ${JSON.stringify(name)}:`),
        name,
      );
    }
  });
});

describe("a fit's files", () => {
  const posterior = model(() => ({ mu: normal(0, 1), beta: normal(0, 3).shape(2) })).given({});
  const settings = { chains: 2, draws: 50, warmup: 150, seed: 7, targetAcceptance: 0.9, device: "cpu" } as const;
  const folder = mkdtempSync(join(tmpdir(), "pumice-stan-"));
  after(() => rmSync(folder, { recursive: true }));

  test("say what the run was told and found, as CmdStan does", async () => {
    const fit = await posterior.sample({ ...settings, metric: "dense" });
    const paths = await fit.saveStanCsv(join(folder, "dense"), { model: "normals" });
    const lines = readFileSync(paths[1]!, "utf8").split("\n");
    for (const wanted of [
      "# model = normals",
      "#     num_samples = 50",
      "#     num_warmup = 150",
      "#       delta = 0.9",
      "#         metric = dense_e",
      "# id = 2",
      "#   seed = 7",
    ]) {
      assert.ok(lines.includes(wanted), wanted);
    }
    const at = lines.indexOf("# Elements of inverse mass matrix:");
    const rows = lines.slice(at + 1, at + 4).map((line) => line.slice(2).split(", ").map(Number));
    assert.ok(rows.every((row, i) => row.length === 3 && row[i]! > 0));
    for (const [i, row] of rows.entries()) {
      for (const [j, mass] of row.entries()) assert.ok(Math.abs(mass - rows[j]![i]!) < 1e-5, "symmetric");
    }
    assert.equal(lines[at + 4]!.split(",").length, 7 + 3);
    assert.match(
      lines.slice(-6).join("\n"),
      /# {2}Elapsed Time: [\d.]+ seconds \(Warm-up\)\n.*\(Sampling\)\n.*\(Total\)\n# \n$/,
    );
    // The time a run took is saved with it.
    await fit.save(join(folder, "fit"));
    const again = await (await posterior.resume(join(folder, "fit"))).saveStanCsv(join(folder, "again"));
    assert.deepEqual(readFileSync(again[1]!, "utf8").split("\n").slice(-6), lines.slice(-6));
  });

  test("are read by rstan", { skip: lacksRstan(), timeout: 300_000 }, async () => {
    const fit = await posterior.sample(settings);
    const paths = await fit.saveStanCsv(join(folder, "fit"));
    const script = `
options(warn = 2)
suppressPackageStartupMessages(library(rstan))
fit <- read_stan_csv(commandArgs(TRUE))
draws <- extract(fit, permuted = FALSE, inc_warmup = FALSE)
cat(dim(draws), dimnames(draws)$parameters, "\\n")
cat(format(draws[50, 2, c("mu", "beta[2]", "lp__")], digits = 17), "\\n")
sampler <- get_sampler_params(fit, inc_warmup = FALSE)
cat(fit@sim$warmup, fit@sim$iter, length(sampler), sort(colnames(sampler[[1]])), "\\n")
cat(fit@stan_args[[1]]$sampler_t, fit@stan_args[[2]]$delta, fit@stan_args[[2]]$chain_id, "\\n")
cat(all(is.finite(get_elapsed_time(fit))), "\\n")
cat(sub("\\n.*", "", sub(".*matrix:\\n# ", "", get_adaptation_info(fit)[[1]])), "\\n")`;
    const { stdout, stderr, status } = spawnSync("Rscript", ["-", ...paths], { encoding: "utf8", input: script });
    assert.equal(status, 0, stderr);
    const [size, last, run, told, hasTimes, masses] = stdout.split("\n").map((line) => line.trim().replace(/ +/g, " "));
    assert.equal(size, "50 2 4 mu beta[1] beta[2] lp__");
    const { draws } = fit;
    const expected = ["mu", "beta[1]"].map((name) => draws.scalar(name as "mu").values[99]!);
    assert.deepEqual(last!.split(" ").map(Number), [...expected, draws.stat("lp")!.values[99]]);
    assert.equal(run, "150 200 2 accept_stat__ divergent__ energy__ n_leapfrog__ stepsize__ treedepth__");
    assert.equal(told, "NUTS(diag_e) 0.9 2");
    assert.equal(hasTimes, "TRUE");
    assert.equal(masses!.split(", ").filter((mass) => Number(mass) > 0).length, 3);
  });
});

function lacksRstan(): string | false {
  const { status } = spawnSync("Rscript", ["-e", "quit(status = !nzchar(system.file(package = 'rstan')))"]);
  return status === 0 ? false : "there is no R with rstan";
}

describe("files that are not right are refused, by name and line", () => {
  const cases: [string, string[], RegExp][] = [
    ["no header", ["# only\n# comments\n"], /one\.csv: no line with the names/],
    ["a line cut off", ["a,b\n1,2\n3\n"], /one\.csv, line 3: 1 numbers for 2 columns; was the file cut off\?/],
    ["words for numbers", ["a,b\n1,two\n"], /one\.csv, line 2: "two" is no number/],
    ["an empty cell", ["a,b\n1,\n"], /"" is no number/],
    ["a missing element", ["a.1,a.3\n1,2\n"], /the columns of "a" do not fill an array/],
    ["a repeated element", ["a.1,a.1,a.2\n1,2,3\n"], /do not fill an array/],
    ["elements of two ranks", ["a.1,a.1.2\n1,2\n"], /do not fill an array/],
    ["chains of two models", ["a\n1\n", "b\n1\n"], /two\.csv: its columns are not those of one\.csv/],
    [
      "chains of two lengths",
      ["a\n1\n2\n", "a\n1\n"],
      /two\.csv: 1 draws, but one\.csv has 2; did a chain stop early\?/,
    ],
  ];
  for (const [what, texts, message] of cases) {
    test(what, () => {
      assert.throws(
        () => parseStanCsv(texts, ["one.csv", "two.csv"]),
        (error) => error instanceof FormatError && message.test(error.message),
      );
    });
  }

  test("no files at all", async () => {
    assert.throws(() => parseStanCsv([]), ArgumentError);
    await assert.rejects(loadStanCsv([]), { name: "ArgumentError", message: /^loadStanCsv: no files/ });
  });
});
