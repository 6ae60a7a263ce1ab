/** What the benchmarks' command line accepts, and which rows and device it selects. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { chooseDevice, halvingsFor } from "../../bench/machine.js";
import { parseOptions, UsageError } from "../../bench/options.js";
import { selectRows } from "../../bench/row.js";
import { rows } from "../../bench/rows/index.js";
import type { ListedDevice } from "../../src/vulkan/index.js";

test("without arguments: every row, the best device, no peers", () => {
  assert.deepEqual(parseOptions([]), {
    device: null,
    only: [],
    list: false,
    json: null,
    peers: false,
    jsPeers: false,
    budget: null,
    quick: false,
    help: false,
  });
});

test("all options together", () => {
  const args =
    "--device software --only record,alloc --only start --json out.json --peers --js-peers --budget 0.5 --quick".split(
      " ",
    );
  assert.deepEqual(parseOptions(args), {
    device: "software",
    only: ["record", "alloc", "start"],
    list: false,
    json: "out.json",
    peers: true,
    jsPeers: true,
    budget: 0.5,
    quick: true,
    help: false,
  });
});

test("a mistake is answered with the help text", () => {
  assert.throws(() => parseOptions(["--onyl", "record"]), UsageError);
  assert.throws(() => parseOptions(["--device"]), /Usage: npm run bench/);
  assert.throws(() => parseOptions(["record"]), UsageError);
  assert.throws(() => parseOptions(["--budget", "0"]), /--budget 0/);
});

const named = (...names: string[]) => names.map((name) => ({ name }));
const select = (...patterns: string[]) =>
  selectRows(named("record", "record-bound", "upload-1GiB", "upload-plain", "a.b"), patterns).map(({ name }) => name);

test("a pattern selects the rows whose names contain it, in the order of the rows", () => {
  assert.deepEqual(select("upload", "record"), ["record", "record-bound", "upload-1GiB", "upload-plain"]);
  assert.deepEqual(select(), ["record", "record-bound", "upload-1GiB", "upload-plain", "a.b"]);
  assert.deepEqual(select("nothing"), []);
});

test("a pattern with a star must match the whole name, and a dot is a dot", () => {
  assert.deepEqual(select("*-plain"), ["upload-plain"]);
  assert.deepEqual(select("rec*ord"), ["record"]);
  assert.deepEqual(select("a.*"), ["a.b"]);
  assert.deepEqual(select("u.*"), []);
});

test("row names are unique and in kebab case, and their peers are named package/row", () => {
  assert.equal(new Set(rows.map(({ name }) => name)).size, rows.length);
  for (const { name, peers = {}, targets = [] } of rows) {
    assert.match(name, /^[a-z0-9]+(-[a-zA-Z0-9]+)*$/);
    for (const peer of Object.values(peers)) assert.match(peer, /^(js:)?[a-z0-9-]+\/[a-zA-Z0-9_-]+$/);
    for (const target of targets) {
      if (!("to" in target)) continue;
      for (const label of target.to) assert.ok(label in peers, `${name}: the target speaks of ${label}`);
    }
  }
});

test("tensors are of full size on a GPU with room, smaller at a quick pace, on software Vulkan and where memory is short", () => {
  const GiB = 2 ** 30;
  assert.equal(halvingsFor("gpu", false, 8 * GiB), 0);
  assert.equal(halvingsFor("gpu", false, 2 * GiB), 1);
  assert.equal(halvingsFor("gpu", false, 0.3 * GiB), 2);
  assert.equal(halvingsFor("gpu", true, 8 * GiB), 2);
  assert.equal(halvingsFor("software", false, 8 * GiB), 2);
  assert.equal(halvingsFor("cpu", false, Infinity), 0);
});

const listed = (index: number, name: string, type: string, refusal: string | null = null) =>
  ({ index, properties: { name, type }, refusal }) as unknown as ListedDevice;

const machine = [
  listed(0, "NVIDIA Old", "discrete", "its driver offers Vulkan 1.1"),
  listed(1, "NVIDIA H200", "discrete"),
  listed(2, "Intel UHD", "integrated"),
  listed(3, "llvmpipe", "cpu"),
];

test("a device is chosen by position, part of its name, or kind; by itself the best that can be used", () => {
  const choose = (wish: string | null) => chooseDevice(machine, wish).index;
  assert.equal(choose(null), 1);
  assert.equal(choose("2"), 2);
  assert.equal(choose("h200"), 1);
  assert.equal(choose("software"), 3);
  assert.equal(chooseDevice(machine.slice(3), null).index, 3);
});

test("a device that is not there, or cannot be used, is refused with the list of those that are", () => {
  assert.throws(() => chooseDevice(machine, "radeon"), /"radeon".*1: NVIDIA H200/);
  assert.throws(() => chooseDevice(machine, "0"), /No usable Vulkan device "0"/);
  assert.throws(() => chooseDevice([], null), /there are: none/);
});
