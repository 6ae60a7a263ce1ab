/** Values of specialisation constants: those that a constant holds exactly, and their bytes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ArgumentError, UnsupportedError } from "../../../../src/core/errors.js";
import * as L from "../../../../src/engines/vulkan/driver/layouts.js";
import { Arena } from "../../../../src/engines/vulkan/driver/structs.js";
import {
  checkSpecialization,
  packSpecialization,
  type SpecializationValue,
} from "../../../../src/engines/vulkan/pipelines/specialization.js";
import type { SpecConstant } from "../../../../src/spirv/read/reflect.js";

const constant = (kind: SpecConstant["kind"], bytes: number, isSigned = false, constantId = 3) =>
  ({ constantId, kind, bytes, isSigned }) as SpecConstant;

test("values that a constant holds pass, others are refused with what it takes", () => {
  const rows: readonly [SpecConstant, readonly SpecializationValue[], readonly SpecializationValue[]][] = [
    [constant("int", 1), [0, 255, true], [-1, 256, 1.5]],
    [constant("int", 4, true), [-(2 ** 31), 2 ** 31 - 1], [2 ** 31, Number.NaN]],
    [constant("int", 8), [2n ** 64n - 1n], [2n ** 64n, -1n]],
    [constant("bool", 4), [true, false, 0, 1], [2, 0.5]],
    [constant("float", 4), [1.5, 3n, Number.NaN], []],
  ];
  for (const [own, good, bad] of rows) {
    for (const value of good) checkSpecialization(own, value);
    for (const value of bad)
      assert.throws(() => checkSpecialization(own, value), ArgumentError, `${own.kind} ${value}`);
  }
  assert.throws(
    () => checkSpecialization(constant("int", 1), 256),
    /constant 3 takes whole numbers from 0 to 255, not 256/,
  );
  assert.throws(() => checkSpecialization(constant("float", 2), 1), UnsupportedError);
});

test("the driver gets each value in the bytes of its constant", () => {
  const packed: { info: Record<string, unknown>; entries: unknown; data: Uint8Array }[] = [];
  let entries: unknown;
  let data = new Uint8Array(0);
  const arena = {
    packArray: (_layout: unknown, given: unknown) => {
      entries = given;
      return 7;
    },
    copy: (bytes: Uint8Array) => {
      data = bytes.slice();
      return 8;
    },
    pack: (layout: unknown, info: Record<string, unknown>) => {
      assert.equal(layout, L.VkSpecializationInfo);
      packed.push({ info, entries, data });
      return 9;
    },
  } as unknown as Arena;
  const constants = [constant("int", 4, true, 1), constant("float", 8, false, 2), constant("bool", 4, false, 5)];
  const values = new Map<number, SpecializationValue>([
    [2, 0.5],
    [1, -2],
    [5, true],
  ]);
  assert.equal(packSpecialization(arena, constants, values), 9);
  const [{ info, ...made }] = packed as [(typeof packed)[0]];
  assert.deepEqual(info, { mapEntryCount: 3, pMapEntries: 7, dataSize: 24, pData: 8 });
  assert.deepEqual(made.entries, [
    { constantID: 2, offset: 0, size: 8 },
    { constantID: 1, offset: 8, size: 4 },
    { constantID: 5, offset: 16, size: 4 },
  ]);
  const view = new DataView(made.data.buffer);
  assert.deepEqual([view.getFloat64(0, true), view.getInt32(8, true), view.getUint32(16, true)], [0.5, -2, 1]);
  assert.equal(packSpecialization(new Arena(64), constants, new Map()), 0);
});
