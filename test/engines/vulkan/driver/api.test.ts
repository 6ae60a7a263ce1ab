/** The function table against the Vulkan registry: signatures, and the names of the codes functions return. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { DeviceError, DeviceLostError, OutOfMemoryError } from "../../../../src/core/errors.js";
import {
  deviceSignatures,
  globalSignatures,
  instanceSignatures,
  optionalFunctions,
  resultNames,
} from "../../../../src/engines/vulkan/driver/api.js";
import { check, isOutOfMemory, resultError } from "../../../../src/engines/vulkan/driver/results.js";
import registry from "./error-codes.json" with { type: "json" };

type Registered = Record<string, { signature: string; errors: Record<string, number> }>;
const functions = registry.functions as unknown as Registered;
const signatures: Record<string, string> = { ...globalSignatures, ...instanceSignatures, ...deviceSignatures };

/** Newer than the registry the JSON was made from. */
const TOO_NEW = ["vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR"];

test("every function is declared with the widths the registry gives its parameters and result", () => {
  for (const [name, signature] of Object.entries(signatures)) {
    if (TOO_NEW.includes(name)) continue;
    assert.ok(functions[name], `${name} is not in error-codes.json: run make-error-codes.mjs`);
    assert.equal(signature, functions[name]?.signature, name);
  }
});

test("every error code that a function may return has its name in messages", () => {
  for (const [name, { errors }] of Object.entries(functions)) {
    for (const [error, code] of Object.entries(errors)) {
      assert.ok(code < 0, `${error} is negative`);
      assert.equal(resultNames[code], error.replace(/(OPAQUE_CAPTURE_ADDRESS|FRAGMENTATION)_(KHR|EXT)$/, "$1"), name);
    }
  }
});

test("optional functions are ones of the table", () => {
  for (const name of optionalFunctions) assert.ok(name in signatures, name);
});

test("a failed call becomes the error class of its code, with call, code and detail in the message", () => {
  assert.ok(resultError("vkAllocateMemory", -1) instanceof OutOfMemoryError);
  assert.ok(resultError("vkAllocateMemory", -2) instanceof OutOfMemoryError);
  assert.ok(resultError("vkQueueSubmit", -4) instanceof DeviceLostError);
  assert.ok(resultError("vkCreateDevice", -8) instanceof DeviceError);
  assert.equal(
    resultError("vkCreateDevice", -8, "x").message,
    "vkCreateDevice failed: VK_ERROR_FEATURE_NOT_PRESENT (x)",
  );
  assert.match(resultError("vkCreateDevice", -123456).message, /VkResult -123456/);
  assert.deepEqual([-1, -2, -3, 0].map(isOutOfMemory), [true, true, false, false]);
});

test("statuses are not errors", () => {
  for (const status of [0, 1, 2, 5, 1000297000]) check("vkWaitSemaphores", status);
  assert.throws(() => check("vkWaitSemaphores", -13), /vkWaitSemaphores failed: VK_ERROR_UNKNOWN/);
});
