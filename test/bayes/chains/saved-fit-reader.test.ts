/** Saved fits that somebody has changed, checksum and all: nothing in them reaches a prototype, a file or memory. */
import assert from "node:assert/strict";
import { existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { readFit } from "../../../src/bayes/chains/saved-fit-reader.js";
import { model, normal } from "../../../src/bayes/index.js";
import { ArgumentError, FormatError } from "../../../src/core/errors.js";
import { onlyUnix } from "../../support/foreign-user.js";
import { type FitFile, partOf, putTogether, signed, takeApart } from "../../support/forged-fit.js";
import { temporaryFolders } from "../../support/temporary-folder.js";
import { sampled } from "./support.js";

const newFolder = temporaryFolders();
const posterior = model(() => {
  const mu = normal(0, 1);
  return { mu, theta: normal(mu, 1).shape(2) };
}).given({});
let whole: Uint8Array;

before(async () => {
  const path = join(newFolder(), "fit");
  const fit = await sampled(posterior, { chains: 2, draws: 12, warmup: 20, seed: 3, dtype: "f64", device: "cpu" });
  await fit.save(path);
  whole = readFileSync(path);
});

async function resumed(bytes: Uint8Array) {
  const path = join(newFolder(), "forged");
  writeFileSync(path, bytes);
  return posterior.resume(path);
}

/** A fit with something changed, read. */
const forged = (change: (file: FitFile) => void): Promise<unknown> => {
  const file = takeApart(whole);
  change(file);
  return resumed(putTogether(file));
};

async function refused(change: (file: FitFile) => void, why: RegExp, Class: typeof FormatError = FormatError) {
  const keys = Reflect.ownKeys(Object.prototype);
  await assert.rejects(forged(change), (error) => {
    assert.ok(error instanceof Class, `${error}`);
    assert.match(error.message, why);
    return true;
  });
  assert.deepEqual(Reflect.ownKeys(Object.prototype), keys, "no prototype is changed");
}

test("a fit that is taken apart and put together again is resumed", async () => {
  assert.deepEqual(Buffer.compare(putTogether(takeApart(whole)), whole), 0);
  assert.equal((await resumed(whole)).draws.length, 12);
});

describe("a fit is refused", () => {
  test("that has groups or names which are none", async () => {
    for (const group of ["__proto__", "constructor", "toString", "", null, 3, ["values"]]) {
      const part = { group, name: "polluted", bytes: new Uint8Array(8) };
      await refused((file) => file.parts.push(part), /it is damaged: there is no group/);
    }
    for (const name of ["__proto__", "constructor", "prototype", "", null, 3, {}]) {
      for (const group of ["values", "stats", "buffers"]) {
        await refused((file) => file.parts.push({ group, name, bytes: new Uint8Array(8) }), /name/);
      }
    }
    assert.equal(({} as { polluted?: unknown }).polluted, undefined);
  });

  test("that has draws, statistics or memory which a fit has not", async () => {
    const add = (group: string, name: string) => (file: FitFile) =>
      file.parts.push({ group, name, bytes: new Uint8Array(8) });
    await refused(add("values", "other"), /there is no variable "other"/);
    await refused(add("stats", "other"), /there is no statistic "other"/);
    await refused(add("buffers", "other"), /chains have no "other"/);
    await refused(add("values", "mu"), /there are two values named "mu"/);
    const drop = (name: string) => (file: FitFile) => {
      file.parts = file.parts.filter((part) => part.name !== name);
    };
    await refused(drop("mu"), /there are no draws of "mu"/);
    await refused(drop("ints"), /no state of 2 chains/);
    await refused(drop("metric"), /metric has undefined bytes/, ArgumentError);
  });

  test("that would have a file overwritten", async () => {
    const victim = join(newFolder(), "victim");
    for (const [name, value] of Object.entries({
      checkpoint: victim,
      checkpointSeconds: 1,
      progress: true,
      signal: {},
    })) {
      await refused(
        (file) => {
          Object.assign(file.header.options as object, { [name]: value });
        },
        new RegExp(`it has the option ${name}`),
      );
    }
    assert.ok(!existsSync(victim));
  });

  test("of which a part is longer or shorter than it says", async () => {
    const header = (change: (parts: { bytes: unknown }[]) => void) => {
      const bytes = Buffer.from(whole);
      const [first, second] = [bytes.indexOf("\n"), bytes.indexOf("\n", bytes.indexOf("\n") + 1)];
      const parsed = JSON.parse(bytes.toString("utf8", first + 1, second));
      change(parsed.parts);
      return signed(Buffer.concat([Buffer.from(JSON.stringify(parsed)), bytes.subarray(second)]));
    };
    for (const size of [-8, 1.5, 1e15, 2 ** 60, "8", null, {}, [8]]) {
      const bytes = header((parts) => {
        parts[0].bytes = size;
      });
      await assert.rejects(resumed(bytes), {
        name: "FormatError",
        message: /the size of "\w+" is none|ends after the file/,
      });
    }
    const short = header((parts) => parts.pop());
    await assert.rejects(resumed(short), { name: "FormatError", message: /\d+ bytes at its end belong to nothing/ });
  });

  test("that claims more chains or scalars than it has, before there is room for them", async () => {
    const began = performance.now();
    for (const chains of [0, -1, 1.5, 3, 1e9, "2", null]) {
      await refused(({ header }) => {
        Object.assign(header.options as object, { chains });
      }, /chains/);
    }
    for (const shape of [[1e12], [-1], [1.5], "2", null, new Array(40).fill(1)]) {
      const change = ({ header }: FitFile) => {
        (header.variables as [string, unknown][])[0][1] = shape;
      };
      await assert.rejects(forged(change), { message: /shape|the saved fit is of/ });
    }
    assert.ok(performance.now() - began < 20_000);
  });

  test("of variables with one name, or of other variables", async () => {
    await refused(({ header }) => {
      header.variables = [...(header.variables as unknown[]), ["mu", []]];
    }, /two variables have one name/);
    await refused(
      ({ header }) => {
        header.variables = [["mu", []]];
      },
      /the saved fit is of mu; this posterior has mu, theta \[2\]/,
      ArgumentError,
    );
  });

  test("whose header is of another kind, or nested without an end", async () => {
    for (const name of ["options", "spent", "variables", "parts", "kernel", "data"]) {
      for (const value of [null, 3, [null], { __proto__: null }]) {
        const body = Buffer.from(`${JSON.stringify({ ...takeApart(whole).header, [name]: value })}\n`);
        await assert.rejects(resumed(signed(body)), { name: /FormatError|ArgumentError/ });
      }
    }
    for (const text of ["", "\n", "null\n", "[]\n", "3\n", `${"[".repeat(1e5)}\n`, `{"options":${"[".repeat(1e5)}`]) {
      await assert.rejects(resumed(signed(Buffer.from(text))), { name: "FormatError", message: /it is damaged/ });
    }
    await refused(({ header }) => {
      (header.spent as Record<string, unknown>).warmup = -1;
    }, /spent\.warmup is no time/);
  });

  test("with numbers that are no doubles, or not as many as there are draws", async () => {
    const change = (name: string, length: number) => (file: FitFile) => {
      const part = file.parts.find((each) => each.name === name);
      if (part) part.bytes = new Uint8Array(length);
    };
    await refused(change("mu", 2 * 12 * 8 - 1), /which are no doubles/);
    await refused(change("mu", 2 * 12 * 8 - 8), /"mu" has 23 numbers/);
    await refused(change("lp", 8), /"lp" has 1 numbers/);
    await assert.rejects(forged(change("vectors", 8)), { name: "ArgumentError", message: /vectors has 8 bytes/ });
  });

  test("that is a link to a device, a pipe or a folder", { skip: onlyUnix }, async () => {
    const folder = newFolder();
    symlinkSync("/dev/zero", join(folder, "zero"));
    await assert.rejects(posterior.resume(join(folder, "zero")), { name: "FormatError", message: /it is a device/ });
    await assert.rejects(posterior.resume(folder), { name: "FormatError", message: /it is a folder/ });
  });
});

test("what is read has no prototype that a name could reach", async () => {
  const path = join(newFolder(), "fit");
  writeFileSync(path, whole);
  const { chains } = await readFit(path);
  assert.equal(Object.getPrototypeOf(chains.buffers), null);
  assert.ok(partOf(takeApart(whole), "ints").byteLength > 0);
});
