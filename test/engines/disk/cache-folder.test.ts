/** Where caches live: never at a relative path, whatever the environment says. */
import assert from "node:assert/strict";
import { userInfo } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { cacheFolder, cachePlace, homeFolder } from "../../../src/engines/disk/cache-folder.js";

const NO_HOME = "the user has no home folder with an absolute path";

/** The home that the system knows; null for a user whom no file of passwords names, as containers have them. */
function knownHome(): string | null {
  try {
    return userInfo().homedir;
  } catch {
    return null;
  }
}

test("the folder follows the environment of each system", () => {
  const HOME = "/home/me";
  assert.equal(cacheFolder({ HOME }, "linux"), "/home/me/.cache/pumice");
  assert.equal(cacheFolder({ HOME, XDG_CACHE_HOME: "/scratch/me" }, "linux"), "/scratch/me/pumice");
  assert.equal(cacheFolder({ HOME }, "darwin"), "/home/me/Library/Caches/pumice");
  assert.equal(cacheFolder({ LOCALAPPDATA: "C:\\Local" }, "win32"), "C:\\Local\\pumice");
  assert.equal(cacheFolder({ USERPROFILE: "C:\\Users\\me" }, "win32"), "C:\\Users\\me\\AppData\\Local\\pumice");
  assert.equal(cacheFolder({ HOME, PUMICE_CACHE: "/elsewhere" }, "linux"), "/elsewhere");
  assert.deepEqual(cachePlace({ HOME, PUMICE_CACHE: "off" }, "linux"), { folder: null, why: null });
});

test("an empty or relative HOME gives way to the home that the system knows", {
  skip: process.platform === "win32" ? "HOME is of other systems" : false,
}, () => {
  const home = knownHome();
  for (const HOME of ["", ".", "home", undefined]) {
    assert.equal(homeFolder({ HOME }, "linux"), home);
    const expected = home === null ? { folder: null, why: NO_HOME } : { folder: join(home, ".cache", "pumice") };
    assert.deepEqual(cachePlace({ HOME }, "linux"), expected);
  }
});

test("a relative XDG_CACHE_HOME or LOCALAPPDATA is ignored", () => {
  for (const path of ["", ".", "cache", "../cache"]) {
    assert.equal(cacheFolder({ HOME: "/home/me", XDG_CACHE_HOME: path }, "linux"), "/home/me/.cache/pumice");
    const USERPROFILE = "C:\\Users\\me";
    assert.equal(cacheFolder({ USERPROFILE, LOCALAPPDATA: path }, "win32"), "C:\\Users\\me\\AppData\\Local\\pumice");
  }
});

test("a relative PUMICE_CACHE is refused with the reason", () => {
  for (const PUMICE_CACHE of [".", "cache", "./cache", "C:cache"]) {
    for (const platform of ["linux", "darwin", "win32"] as const) {
      const why = `PUMICE_CACHE=${PUMICE_CACHE} is no absolute path`;
      assert.deepEqual(cachePlace({ HOME: "/home/me", PUMICE_CACHE }, platform), { folder: null, why });
    }
  }
});
