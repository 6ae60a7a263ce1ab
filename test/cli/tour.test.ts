/** The tour: every stop works on every kind of machine the tests run on, and shows the code it runs. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { findMnist } from "../../src/cli/mnist.js";
import { sparkline } from "../../src/cli/sparkline.js";
import { codeOf, stops } from "../../src/cli/tour.js";
import { withoutVulkan } from "../support/devices.js";
import { pumice } from "./cli.js";

test("the tour passes all its stops", { skip: withoutVulkan() }, () => {
  const { code, stdout, stderr } = pumice(["tour"]);
  assert.equal(code, 0, stdout + stderr);
  stops.forEach(({ title }, i) => {
    assert.ok(stdout.includes(`\n${i + 1}  ${title}\n`), title);
  });
  assert.match(stdout, /^ {3}π ≈ 3\.1415/m);
  assert.match(stdout, /The end, after/);
});

test("the stop at MNIST trains on the real digits, and says how to get them where they are not", async () => {
  const { code, stdout } = pumice(["tour"], { PUMICE_VULKAN_LIBRARY: "/nowhere/libvulkan.so.1" });
  assert.equal(code, 0, stdout);
  assert.match(stdout, /Handwritten digits[\s\S]*step 126\/126 {2}loss 0\.\d+ {2}accuracy 0\.\d+/);
  assert.match(stdout, /digits never seen: [89]\d\.\d % read right/);
  const folder = new URL("nowhere/", import.meta.url);
  assert.match(String(await findMnist(folder)), /part of a clone.*`npm start` shows it/);
});

test("without Vulkan the tour shows tensors on the CPU and says what to do", () => {
  const { code, stdout } = pumice(["tour"], { PUMICE_VULKAN_LIBRARY: "/nowhere/libvulkan.so.1" });
  assert.equal(code, 0);
  assert.match(stdout, /only tensors on the CPU[\s\S]*pumice doctor[\s\S]*1 {2}Tensors[\s\S]*The end/);
});

test("a device that was asked for and is not there ends the tour", { skip: withoutVulkan() }, () => {
  const { code, stderr } = pumice(["tour"], { PUMICE_DEVICE: "vulkan:99" });
  assert.equal(code, 1);
  assert.match(stderr, /PUMICE_DEVICE=vulkan:99 asks for a device that is not there/);
});

test("the code shown is the body of the function that runs", () => {
  for (const { run, title } of stops) {
    const code = codeOf(run);
    assert.ok(code.length > 0, title);
    assert.match(code.join("\n"), /console\.log/, title);
    assert.ok(
      code.every((line) => !/^ (?! )/.test(line)),
      `${title}: indented by twos`,
    );
    assert.ok(code.length <= 20, `${title}: short enough to read`);
  }
});

test("a sparkline spans its bars", () => {
  assert.equal(sparkline([0, 1, 0]), "▁█▁");
  assert.equal(sparkline([5, 5]), "▁▁");
});
