/** SPIR-V as users give it: files are regular ones, and spirv-val judges a module where it is asked to. */
import assert from "node:assert/strict";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { wordsOf } from "../../../../src/engines/vulkan/pipelines/given-module.js";
import { copyKernel } from "../../../../src/spirv/copy-kernel.js";
import { describeOnOpenDevices, underValidation, withEnvironment } from "../../../support/devices.js";
import { onlyUnix } from "../../../support/foreign-user.js";
import { without } from "../../../support/spirv-val.js";
import { temporaryFolders } from "../../../support/temporary-folder.js";

const newFolder = temporaryFolders();
const VERSION = [1, 5] as const;

test("a path that is no regular file is refused with the reason", { skip: onlyUnix }, () => {
  const folder = newFolder();
  const refused = (path: string, message: RegExp) =>
    assert.throws(() => wordsOf(path, false, VERSION), { name: "ArgumentError", message });
  refused(folder, /^kernel: cannot read the SPIR-V file .*: it is a folder\.$/);
  refused(join(folder, "absent.spv"), /: there is no such file\.$/);
  refused("/dev/zero", /: it is a device/);
});

describe("with { validate: true }", () => {
  test("a good module passes, and one that breaks a rule is refused with the rule", {
    skip: without("spirv-val"),
  }, () => {
    const good = copyKernel();
    for (const minor of [5, 6]) assert.deepEqual(wordsOf(good, true, [1, minor]), good);
    // The first word behind the header belongs to an instruction: with another length it swallows the next.
    const bad = Uint32Array.from(good);
    bad[5] += 1 << 16;
    assert.throws(() => wordsOf(bad, true, VERSION), {
      name: "FormatError",
      message: /^kernel: spirv-val refuses the module for vulkan1\.2: .+/,
    });
  });

  test("without spirv-val, the error says where to get it", async () => {
    await withEnvironment({ PATH: newFolder() }, async () => {
      assert.throws(() => wordsOf(copyKernel(), true, VERSION), {
        name: "UnsupportedError",
        message: /needs spirv-val, and no folder of PATH has it; it is in the package spirv-tools/,
      });
    });
  });

  test("no program of the working directory is run", { skip: onlyUnix }, async () => {
    const folder = newFolder();
    writeFileSync(join(folder, "spirv-val"), "#!/bin/sh\nexit 0\n");
    chmodSync(join(folder, "spirv-val"), 0o755);
    const before = process.cwd();
    process.chdir(folder);
    try {
      for (const PATH of ["", ".", ":", "./"]) {
        await withEnvironment({ PATH }, async () => {
          assert.throws(() => wordsOf(copyKernel(), true, VERSION), { name: "UnsupportedError" });
        });
      }
      await withEnvironment({ PATH: folder }, async () => assert.ok(wordsOf(copyKernel(), true, VERSION)));
    } finally {
      process.chdir(before);
    }
  });
});

describeOnOpenDevices(
  "a kernel that is judged first",
  without("spirv-val") || underValidation("it judges too"),
  (device) => {
    test("is the same kernel", () => {
      const kernel = device().kernel(copyKernel(), { validate: true, name: "judged" });
      assert.equal(kernel.pushBytes, device().kernel(copyKernel()).pushBytes);
    });

    test("is refused where it breaks a rule", () => {
      const bad = Uint32Array.from(copyKernel());
      // A version that the header claims and that there is not.
      bad[1] = 0x0001_0900;
      assert.throws(() => device().kernel(bad, { validate: true }), { name: "FormatError" });
    });
  },
);
