/**
 * Attacks on the cache of compiled programs, each on a process of its own that computes something: what others could have
 * written is not run, nothing lands in the working directory, and nothing keeps a program from starting.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { isAbsolute, join } from "node:path";
import { before, describe, test } from "node:test";
import { giveAway, onlyRoot, onlyUnix } from "../support/foreign-user.js";
import { runNode } from "../support/subprocess.js";
import { temporaryFolders } from "../support/temporary-folder.js";

const newFolder = temporaryFolders();
/** Prints its result and how it came by its program. It works in an empty folder. */
const program = `
  import { jit, tensor } from "SRC/index.js";
  import { backendFor } from "SRC/tensor/devices.js";
  process.chdir(process.env.THERE);
  const f = jit((w) => w.matmul(w.T).tanh().softmax({ axis: 1 }).log().cumsum({ axis: 0 }).sum());
  const result = await f(tensor([[0.1, 0.2, 0.3], [0.4, -0.5, 0.6]])).item();
  const { compiled, loaded } = backendFor().counters;
  console.log(JSON.stringify({ result, compiled, loaded }));
`;

async function run(
  env: NodeJS.ProcessEnv,
): Promise<{ result: number; compiled: number; loaded: number; there: string[] }> {
  const THERE = newFolder();
  const { code, output } = await runNode(program, { env: { PUMICE_DEVICE: "cpu", THERE, ...env }, timeoutMs: 60_000 });
  assert.equal(code, 0, output);
  return { ...JSON.parse(output), there: readdirSync(THERE) };
}

describe("programs are not run", { skip: onlyUnix }, () => {
  let expected = 0;
  let name = "";
  let bytes: Uint8Array;
  /** A cache with the program in it, mode 0700. */
  const cacheWith = (put: (path: string) => void): string => {
    const root = newFolder();
    mkdirSync(join(root, "programs"), { mode: 0o700 });
    put(join(root, "programs", name));
    return root;
  };
  const good = (path: string) => writeFileSync(path, bytes, { mode: 0o600 });

  before(async () => {
    const PUMICE_CACHE = newFolder();
    const { result } = await run({ PUMICE_CACHE });
    expected = result;
    [name = ""] = readdirSync(join(PUMICE_CACHE, "programs"));
    bytes = readFileSync(join(PUMICE_CACHE, "programs", name));
    assert.ok(bytes.length > 0);
    assert.equal(statSync(join(PUMICE_CACHE, "programs")).mode & 0o777, 0o700);
    assert.equal(statSync(join(PUMICE_CACHE, "programs", name)).mode & 0o777, 0o600);
  });

  test("but those of one's own folder are", async () => {
    const { result, loaded } = await run({ PUMICE_CACHE: cacheWith(good) });
    assert.deepEqual({ result, loaded }, { result: expected, loaded: 1 });
  });

  const isCompiled = async (PUMICE_CACHE: string) => {
    const { result, compiled, loaded } = await run({ PUMICE_CACHE });
    assert.deepEqual({ result, compiled, loaded }, { result: expected, compiled: 1, loaded: 0 });
  };

  test("from a folder that others may write to, nor is anything kept there", async () => {
    for (const place of ["programs", "."]) {
      const root = cacheWith(good);
      chmodSync(join(root, place), 0o777);
      const { mtimeMs } = statSync(join(root, "programs"));
      await isCompiled(root);
      assert.equal(statSync(join(root, "programs")).mtimeMs, mtimeMs);
    }
  });

  test("from a file that others may write to", async () => {
    await isCompiled(
      cacheWith((path) => {
        good(path);
        chmodSync(path, 0o666);
      }),
    );
  });

  test("from a file or a folder of another user", { skip: onlyRoot }, async () => {
    await isCompiled(
      cacheWith((path) => {
        good(path);
        giveAway(path);
      }),
    );
    const root = cacheWith(good);
    giveAway(join(root, "programs"));
    await isCompiled(root);
    chownSync(join(root, "programs"), 0, 0);
    giveAway(root);
    await isCompiled(root);
  });

  test("from a link, a pipe or a device, which do not hold up the start either", async () => {
    const elsewhere = join(newFolder(), "program");
    good(elsewhere);
    await isCompiled(cacheWith((path) => symlinkSync(elsewhere, path)));
    await isCompiled(cacheWith((path) => symlinkSync("/dev/zero", path)));
    await isCompiled(cacheWith((path) => void execFileSync("mkfifo", [path])));
  });
});

describe("nothing lands in the working directory", { skip: onlyUnix }, () => {
  const nowhere = { PUMICE_CACHE: "", XDG_CACHE_HOME: "" };

  test("with a relative PUMICE_CACHE", async () => {
    for (const PUMICE_CACHE of ["cache", ".", "./cache"]) {
      const { there, compiled } = await run({ PUMICE_CACHE });
      assert.deepEqual({ there, compiled }, { there: [], compiled: 1 });
    }
  });

  test("with a relative XDG_CACHE_HOME, which is ignored", async () => {
    const HOME = newFolder();
    const { there } = await run({ ...nowhere, HOME, XDG_CACHE_HOME: "cache" });
    assert.deepEqual(there, []);
    if (process.platform === "linux") assert.deepEqual(readdirSync(join(HOME, ".cache", "pumice")), ["programs"]);
  });

  test("with an empty or relative HOME, in whose place the system knows another", async () => {
    // Asked for, not used: a test has no business in the home of who runs it.
    const text = 'import { cacheFolder } from "SRC/vulkan/index.js"; console.log(cacheFolder());';
    for (const HOME of ["", "home", "."]) {
      const { output } = await runNode(text, { env: { ...nowhere, HOME } });
      assert.ok(isAbsolute(output.trim()) || output.trim() === "null", output);
    }
  });
});

test("a home of another user is no place for one's programs", { skip: onlyRoot }, async () => {
  const HOME = newFolder();
  giveAway(HOME);
  const { compiled } = await run({ PUMICE_CACHE: "", XDG_CACHE_HOME: "", HOME });
  assert.equal(compiled, 1);
  assert.deepEqual(readdirSync(HOME), []);
  rmSync(HOME, { recursive: true });
});
