/** `pumice info`: what it prints of devices, and which one it says would be used. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Candidate, chooseDevice } from "../../src/cli/choice.js";
import { describeDetails, describeDevice } from "../../src/cli/description.js";
import { bytes, columns, openTerminal, toJson, wrap } from "../../src/cli/terminal.js";
import { listDevices, type PhysicalDevice } from "../../src/vulkan/index.js";
import { withoutVulkan } from "../support/devices.js";
import * as known from "../support/physical-devices.js";
import { pumice } from "./cli.js";

const skip = withoutVulkan();

test("info names every device and says which would be used", { skip }, () => {
  const { code, stdout } = pumice(["info"]);
  assert.equal(code, 0);
  for (const { index, properties } of listDevices()) assert.ok(stdout.includes(`vulkan:${index}  ${properties.name}`));
  assert.match(stdout, /^(Would be used|No device is used by default)/m);
});

test("info --json holds what the driver said, the plan and the choice", { skip }, () => {
  const { code, stdout } = pumice(["info", "--json"], { PUMICE_DEVICE: "vulkan:0" });
  assert.equal(code, 0);
  const { loader, devices, chosen, error } = JSON.parse(stdout);
  assert.equal(error, null);
  assert.ok(loader.version[0] >= 1);
  const [first] = listDevices();
  assert.deepEqual(devices[0].properties, JSON.parse(JSON.stringify(first.properties)));
  assert.equal(devices[0].refusal, first.refusal);
  if (first.refusal === null) {
    assert.ok(devices[0].plan.features.includes("timelineSemaphore"));
    assert.match(devices[0].plan.timestampMask, /^0x[0-9a-f]+$/);
    assert.deepEqual(chosen, { device: "vulkan:0", index: 0, why: "PUMICE_DEVICE=vulkan:0 asks for it" });
  }
});

test("info --verbose adds the features Pumice switches on", { skip }, () => {
  assert.match(pumice(["info", "--verbose"]).stdout, /features .*timelineSemaphore/);
});

test("without a loader info says how to get one, without a stack trace", () => {
  const env = { PUMICE_VULKAN_LIBRARY: "/nowhere/libvulkan.so.1" };
  const { code, stdout, stderr } = pumice(["info"], env);
  assert.equal(code, 1);
  assert.equal(stdout, "");
  assert.match(stderr, /^pumice: No Vulkan loader could be opened.*pumice doctor/);
  assert.equal(stderr.trimEnd().split("\n").length, 1);

  const json = pumice(["info", "--json"], env);
  assert.equal(json.code, 1);
  const { devices, chosen, error } = JSON.parse(json.stdout);
  assert.deepEqual(devices, []);
  assert.equal(chosen.device, "cpu");
  assert.match(error, /No Vulkan loader/);
});

const device = (index: number, type: Candidate["type"], refusal: string | null = null): Candidate => ({
  index,
  name: `${type} ${index}`,
  type,
  refusal,
});
const discrete = device(0, "discrete");
const integrated = device(1, "integrated");
const software = device(2, "cpu");

const choices: [
  title: string,
  candidates: Candidate[],
  asked: string | undefined,
  chosen: string | null,
  why: RegExp,
][] = [
  [
    "a discrete GPU before an integrated one",
    [discrete, integrated, software],
    undefined,
    "vulkan:0",
    /discrete GPU is preferred over an? integrated/,
  ],
  [
    "the larger of two discrete GPUs",
    [discrete, device(1, "discrete")],
    undefined,
    "vulkan:0",
    /most memory of 2 discrete GPUs/,
  ],
  ["the only GPU", [discrete, software], undefined, "vulkan:0", /the only GPU/],
  [
    "the next GPU when the best is refused",
    [device(0, "discrete", "too old"), integrated],
    undefined,
    "vulkan:1",
    /only GPU that can be used/,
  ],
  [
    "the CPU rather than a software device",
    [software],
    undefined,
    "cpu",
    /only software Vulkan.*used only when asked for: PUMICE_DEVICE=vulkan/,
  ],
  [
    "the CPU rather than a refused device",
    [device(0, "discrete", "its driver is old")],
    undefined,
    "cpu",
    /discrete 0 cannot be used: its driver is old/,
  ],
  ["the CPU where there is nothing else", [], undefined, "cpu", /no Vulkan device was found.*doctor/],
  ["an empty PUMICE_DEVICE counts as none", [discrete], "", "vulkan:0", /only GPU/],
  ["PUMICE_DEVICE=vulkan takes the best GPU", [discrete, software], "vulkan", "vulkan:0", /asks for the best/],
  ["PUMICE_DEVICE=vulkan takes software where it is alone", [software], "vulkan", "vulkan:2", /asks for the best/],
  ["PUMICE_DEVICE=vulkan without a device", [], "vulkan", null, /asks for Vulkan, but no Vulkan device/],
  ["PUMICE_DEVICE=vulkan:1 takes that one", [discrete, integrated], "vulkan:1", "vulkan:1", /asks for it/],
  ["PUMICE_DEVICE=vulkan:7 is not there", [discrete], "vulkan:7", null, /not there: there are vulkan:0 \(discrete 0\)/],
  [
    "PUMICE_DEVICE of a refused device",
    [device(0, "discrete", "too old")],
    "vulkan:0",
    null,
    /cannot be used: too old/,
  ],
  ["PUMICE_DEVICE=cpu is the CPU engine", [discrete], "cpu", "cpu", /asks for it/],
  [
    "PUMICE_DEVICE=cuda names no device",
    [discrete],
    "cuda",
    null,
    /names no device: it takes cpu, vulkan or vulkan:<number>/,
  ],
];
for (const [title, candidates, asked, chosen, why] of choices) {
  test(`the choice: ${title}`, () => {
    const choice = chooseDevice(candidates, asked);
    assert.equal(choice.device, chosen);
    assert.match(choice.why, why);
  });
}

const anyDevice = Object.values(known).find(
  (value) => typeof value === "object" && "memoryHeaps" in value,
) as PhysicalDevice;
const listed = (properties: PhysicalDevice, more = {}) => ({
  index: 0,
  properties,
  refusal: null,
  availableBytes: null,
  ...more,
});
const line = (lines: readonly (readonly [string, string])[], label: string) =>
  lines.find(([name]) => name === label)?.[1];

test("free memory is shown where the driver tells", () => {
  const properties = {
    ...anyDevice,
    memoryHeaps: [
      { size: 8 * 2 ** 30, flags: 1 },
      { size: 2 ** 34, flags: 0 },
    ],
  };
  assert.equal(line(describeDevice(listed(properties)), "memory"), "8 GiB on the device, 16 GiB of the host");
  const told = describeDevice(listed(properties, { availableBytes: [3 * 2 ** 30, 2 ** 33] }));
  assert.equal(line(told, "memory"), "8 GiB (3 GiB free) on the device, 16 GiB (8 GiB free) of the host");
});

test("a number type counts only when it can also lie in a buffer", () => {
  const features = { ...anyDevice.features, shaderFloat16: true, storageBuffer16BitAccess: false, shaderFloat64: true };
  const numbers = line(describeDevice(listed({ ...anyDevice, features })), "numbers") ?? "";
  assert.match(numbers, /^f64.*; no f16/);
});

test("cooperative matrices are summed up, and listed with --verbose", () => {
  const shape = { m: 16, n: 16, k: 16, a: "f16", b: "f16", c: "f32", result: "f32", scope: "subgroup" };
  const properties = {
    ...anyDevice,
    features: { ...anyDevice.features, cooperativeMatrix: true },
    cooperativeMatrices: [shape, { ...shape, n: 8 }],
  };
  assert.match(line(describeDevice(listed(properties)), "matrices") ?? "", /f16×f16→f32 \(2 shapes/);
  const details = describeDetails({ ...listed(properties), plan: null });
  assert.equal(line(details, "matrix"), "16×16×16: f16 × f16 + f32 → f32, per subgroup");
});

test("a range of subgroup sizes and a refusal are said", () => {
  const lines = describeDevice(
    listed(
      { ...anyDevice, subgroup: { size: 32, min: 8, max: 32, operations: 0 } },
      { refusal: "it has no compute queue" },
    ),
  );
  assert.equal(line(lines, "subgroup"), "8 to 32 threads");
  assert.equal(line(lines, "state"), "cannot be used: it has no compute queue");
});

test("sizes are in human units", () => {
  const sizes: [number, string][] = [
    [0, "0 B"],
    [1, "1 B"],
    [1023, "1023 B"],
    [1024, "1 KiB"],
    [1536, "1.5 KiB"],
    [2 ** 32 - 1, "4 GiB"],
    [2 ** 40, "1 TiB"],
  ];
  for (const [count, text] of sizes) assert.equal(bytes(count), text);
});

test("text is wrapped at spaces, columns are padded, big integers go into JSON", () => {
  assert.deepEqual(wrap("one two three", 7), ["one two", "three"]);
  assert.deepEqual(wrap("incompressible a", 4), ["incompressible", "a"]);
  assert.deepEqual(
    columns([
      ["a", "b"],
      ["long", "c"],
    ]),
    ["a     b", "long  c"],
  );
  assert.equal(toJson({ mask: 255n }).replace(/\s/g, ""), '{"mask":"0xff"}');
});

test("colours only on a terminal, and never with NO_COLOR", () => {
  const write = () => true;
  const red = (isTTY: boolean, env: NodeJS.ProcessEnv) => openTerminal({ isTTY, write }, env).paint("red", "x");
  assert.equal(red(true, {}), "\x1b[31mx\x1b[39m");
  assert.equal(red(false, {}), "x");
  assert.equal(red(true, { NO_COLOR: "1" }), "x");
  assert.equal(red(true, { NO_COLOR: "" }), "\x1b[31mx\x1b[39m");
  assert.equal(red(true, { TERM: "dumb" }), "x");
});
