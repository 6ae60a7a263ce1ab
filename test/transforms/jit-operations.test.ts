/** jit of every operation is the operation: call after call, with other inputs and other numbers, one replay each. */
import { describe, test } from "node:test";
import { checkJit } from "../support/jit-check.js";
import { operationCases } from "../support/operation-cases.js";
import { testDevices } from "../support/tensors.js";

const methodOf = (name: string): string => name.split(" ")[0]!;

/** All on the CPU; where compiling takes long one case of each method, and those meant for everywhere. */
const casesFor = (device: string) =>
  operationCases.filter(({ name, isEverywhere }, i) => {
    const isFirst = operationCases.findIndex((other) => methodOf(other.name) === methodOf(name)) === i;
    return device === "cpu" || isEverywhere || isFirst;
  });

for (const device of testDevices()) {
  describe(`jit of an operation is the operation, ${device}`, () => {
    for (const operation of casesFor(device)) {
      test(operation.name, () => checkJit(operation, { device, dtype: device === "cpu" ? "f64" : "f32" }));
    }
  });
}
