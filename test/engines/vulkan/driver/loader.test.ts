/** Where the Vulkan loader is looked for on each system, and what is said when it is not there. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { cacheFolder } from "../../../../src/engines/disk/cache-folder.js";
import { loaderNames, loaderRemedy } from "../../../../src/engines/vulkan/driver/loader.js";
import { runNode } from "../../../support/subprocess.js";

test("each platform's own name comes first", () => {
  assert.deepEqual(loaderNames("linux", {}), ["libvulkan.so.1", "libvulkan.so"]);
  assert.deepEqual(loaderNames("freebsd", {}), ["libvulkan.so.1", "libvulkan.so"]);
  assert.deepEqual(loaderNames("win32", {}), ["vulkan-1.dll"]);
  assert.equal(loaderNames("darwin", {})[0], "libvulkan.1.dylib");
});

test("on macOS the loader, Homebrew's folders and MoltenVK itself are tried, the SDK before them", () => {
  const names = loaderNames("darwin", { VULKAN_SDK: "/sdk/macOS" });
  assert.equal(names[0], "/sdk/macOS/lib/libvulkan.1.dylib");
  for (const name of ["/opt/homebrew/lib/libvulkan.1.dylib", "/usr/local/lib/libvulkan.1.dylib", "libMoltenVK.dylib"]) {
    assert.ok(names.includes(name), name);
  }
  assert.ok(names.indexOf("libvulkan.1.dylib") < names.indexOf("libMoltenVK.dylib"));
});

test("PUMICE_VULKAN_LIBRARY is the only name tried when set", () => {
  for (const platform of ["linux", "win32", "darwin"] as const) {
    assert.deepEqual(loaderNames(platform, { PUMICE_VULKAN_LIBRARY: "/x/y.so" }), ["/x/y.so"]);
  }
});

test("every platform gets a remedy it can carry out", () => {
  assert.match(loaderRemedy("linux"), /apt-get install libvulkan1/);
  assert.match(loaderRemedy("darwin"), /brew install/);
  assert.match(loaderRemedy("freebsd"), /pkg install/);
  assert.match(loaderRemedy("win32"), /driver/);
});

test("without a loader, opening a device says what was tried and how to get one", async () => {
  for (const library of ["/nowhere/libvulkan.so.1", process.execPath]) {
    const { code, output } = await runNode(
      `import { openDevice } from "SRC/vulkan/index.js";
       try { await openDevice(); } catch (error) { console.log(error.name, error.message); }`,
      { env: { PUMICE_VULKAN_LIBRARY: library } },
    );
    assert.equal(code, 0, output);
    assert.match(output, /^DeviceError No Vulkan loader could be opened/);
    assert.ok(output.includes(library), output);
    assert.match(output, /pumice doctor/);
  }
});

test("without a driver, opening a device says so and points to the doctor", async () => {
  const { code, output } = await runNode(
    `import { listDevices, openDevice } from "SRC/vulkan/index.js";
     for (const use of [async () => listDevices(), () => openDevice()]) {
       try { console.log(JSON.stringify(await use())); } catch (error) { console.log(error.name, error.message); }
     }`,
    { env: { VK_ICD_FILENAMES: "/nowhere.json", VK_DRIVER_FILES: "/nowhere.json" } },
  );
  assert.equal(code, 0, output);
  assert.match(output, /DeviceError.*(No Vulkan driver is installed|No Vulkan device was found|No Vulkan loader)/);
  assert.match(output, /doctor/);
});

test("caches live where each platform keeps them, or where PUMICE_CACHE says, or nowhere", () => {
  assert.equal(cacheFolder({ PUMICE_CACHE: "/x" }, "linux"), "/x");
  assert.equal(cacheFolder({ PUMICE_CACHE: "off" }, "linux"), null);
  assert.equal(cacheFolder({ XDG_CACHE_HOME: "/c" }, "linux"), "/c/pumice");
  assert.match(cacheFolder({}, "linux") ?? "", /\.cache\/pumice$/);
  assert.match(cacheFolder({}, "darwin") ?? "", /Library\/Caches\/pumice$/);
  assert.match(cacheFolder({ LOCALAPPDATA: "C:\\L" }, "win32") ?? "", /^C:.L.pumice$/);
});
