/** Where the loader looks for drivers, and what their manifests say. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { manifestSearch, parseManifest } from "../../src/cli/manifests.js";

test("on Linux the loader looks in the XDG folders and in the system's, in its documented order", () => {
  assert.deepEqual(manifestSearch("linux", {}, "/home/me"), {
    forcedBy: null,
    places: [
      "/home/me/.config/vulkan/icd.d",
      "/etc/xdg/vulkan/icd.d",
      "/usr/local/etc/vulkan/icd.d",
      "/etc/vulkan/icd.d",
      "/home/me/.local/share/vulkan/icd.d",
      "/usr/local/share/vulkan/icd.d",
      "/usr/share/vulkan/icd.d",
    ],
  });
});

test("the XDG variables move the folders, and none is looked at twice", () => {
  const env = {
    XDG_CONFIG_HOME: "/c",
    XDG_DATA_HOME: "/d",
    XDG_DATA_DIRS: "/snap/share:/usr/share/",
    XDG_CONFIG_DIRS: "/etc",
  };
  assert.deepEqual(manifestSearch("linux", env, "/home/me").places, [
    "/c/vulkan/icd.d",
    "/etc/vulkan/icd.d",
    "/usr/local/etc/vulkan/icd.d",
    "/d/vulkan/icd.d",
    "/snap/share/vulkan/icd.d",
    "/usr/share/vulkan/icd.d",
  ]);
});

test("VK_DRIVER_FILES replaces the search, before VK_ICD_FILENAMES; VK_ADD_DRIVER_FILES adds to it", () => {
  const forced = manifestSearch("linux", { VK_DRIVER_FILES: "/a.json:/b", VK_ICD_FILENAMES: "/c.json" }, "/home/me");
  assert.deepEqual(forced, { forcedBy: "VK_DRIVER_FILES", places: ["/a.json", "/b"] });
  assert.equal(manifestSearch("linux", { VK_ICD_FILENAMES: "/c.json" }, "/home/me").forcedBy, "VK_ICD_FILENAMES");
  const added = manifestSearch("linux", { VK_ADD_DRIVER_FILES: "/a.json" }, "/home/me");
  assert.equal(added.forcedBy, null);
  assert.equal(added.places[0], "/a.json");
  assert.equal(added.places.length, 8);
});

test("macOS adds Homebrew's folders, FreeBSD keeps to /usr/local, Windows has only what variables name", () => {
  assert.ok(manifestSearch("darwin", {}, "/Users/me").places.includes("/opt/homebrew/share/vulkan/icd.d"));
  assert.ok(manifestSearch("freebsd", {}, "/home/me").places.includes("/usr/local/share/vulkan/icd.d"));
  assert.deepEqual(manifestSearch("win32", {}, "C:\\Users\\me").places, []);
  assert.deepEqual(manifestSearch("win32", { VK_DRIVER_FILES: "C:\\a.json;D:\\b.json" }, "").places, [
    "C:\\a.json",
    "D:\\b.json",
  ]);
});

const icd = (library_path: unknown, more = {}) =>
  JSON.stringify({ file_format_version: "1.0.0", ICD: { library_path, ...more } });

test("a library is a name for the linker, an absolute path, or relative to the manifest", () => {
  const path = "/usr/share/vulkan/icd.d/x.json";
  assert.equal(parseManifest(path, icd("libGLX_nvidia.so.0"), "linux").library, "libGLX_nvidia.so.0");
  assert.equal(parseManifest(path, icd("/usr/lib/libvulkan_lvp.so"), "linux").library, "/usr/lib/libvulkan_lvp.so");
  assert.equal(
    parseManifest(path, icd("../../../lib/libMoltenVK.dylib"), "darwin").library,
    "/usr/lib/libMoltenVK.dylib",
  );
  assert.equal(parseManifest("C:\\d\\x.json", icd(".\\nvoglv64.dll"), "win32").library, "C:\\d\\nvoglv64.dll");
});

test("a manifest for 32-bit programs is foreign", () => {
  assert.ok(parseManifest("/x.json", icd("libx.so", { library_arch: "32" }), "linux").isForeign);
  assert.ok(!parseManifest("/x.json", icd("libx.so", { library_arch: "64" }), "linux").isForeign);
});

test("what is no manifest is told apart", () => {
  assert.match(parseManifest("/x.json", "{", "linux").problem ?? "", /not JSON/);
  for (const text of ["null", "[]", "{}", '{"ICD": {}}', icd(7), icd("")]) {
    assert.match(parseManifest("/x.json", text, "linux").problem ?? "", /names no library/, text);
  }
});
