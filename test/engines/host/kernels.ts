/** Small kernels for the tests of the host engine. All take rows of f32 or i32. */

import { ModuleBuilder } from "../../../src/wasm/builder.js";
import type { FunctionBuilder } from "../../../src/wasm/function-builder.js";
import type { Value } from "../../../src/wasm/value.js";

type Body = (f: FunctionBuilder, args: Value<"i32">, start: Value<"i32">, end: Value<"i32">) => void;

export function kernel(body: Body): Uint8Array {
  const m = new ModuleBuilder();
  m.export(m.function("run", ["i32", "i32", "i32"], [], body));
  return m.build();
}

/** Sleeps: waits for a change of a word that does not change. */
function sleep(f: FunctionBuilder, args: Value<"i32">, nanoseconds: bigint): void {
  f.memory.atomic.wait32(args, f.i32.load(args), nanoseconds);
}

/** y[i] = x[i] * scale + i; arguments: x, y, scale. */
export const scaleAndCount = kernel((f, args, start, end) => {
  const [x, y, scale] = [f.i32.load(args), f.i32.load(args, { offset: 4 }), f.f32.load(args, { offset: 8 })];
  f.for(start, end, 1, (i) => {
    const at = f.i32.shl(i, 2);
    const scaled = f.f32.mul(f.f32.load(f.i32.add(x, at)), scale);
    f.f32.store(f.i32.add(y, at), f.f32.add(scaled, f.f32.convert_i32_s(i)));
  });
});

/** Adds 1 to counts[i], atomically; arguments: counts. */
export const countRows = kernel((f, args, start, end) => {
  const counts = f.i32.load(args);
  f.for(start, end, 1, (i) => {
    f.i32.atomic.rmw.add(f.i32.add(counts, f.i32.shl(i, 2)), 1);
  });
});

/** Like countRows, but each row takes long enough for every thread to come. */
export const slowRows = kernel((f, args, start, end) => {
  const counts = f.i32.load(args);
  f.for(start, end, 1, (i) => {
    const at = f.i32.add(counts, f.i32.shl(i, 2));
    sleep(f, args, 2_000_000n);
    f.i32.atomic.rmw.add(at, 1);
  });
});

/** Fills rows of 64 KiB with their number, by memory.fill; arguments: target. */
export const fillPages = kernel((f, args, start, end) => {
  const target = f.i32.load(args);
  f.for(start, end, 1, (i) => f.memory.fill(f.i32.add(target, f.i32.shl(i, 16)), i, 65536));
});

export const nothing = kernel(() => {});

/** Traps in the row given as the first argument; the rows before it take a while. */
export const traps = {
  unreachable: trap((f) => f.unreachable()),
  "memory access out of bounds": trap((f) => f.i32.store(0xffff_fff0, 1)),
  "divide by zero": trap((f, zero) => f.i32.store(128, f.i32.div_s(1, zero))),
  "stack size exceeded": overflow(),
};

function trap(fail: (f: FunctionBuilder, zero: Value<"i32">) => void): Uint8Array {
  return kernel((f, args, start, end) => {
    const culprit = f.i32.load(args);
    f.for(start, end, 1, (i) => {
      sleep(f, args, 500_000n);
      f.if(f.i32.eq(i, culprit), () => fail(f, f.i32.sub(i, culprit)));
    });
  });
}

/** A function that calls itself for ever. It names itself by hand: it is function 0. */
function overflow(): Uint8Array {
  const m = new ModuleBuilder();
  const self = { name: "run", parameters: ["i32", "i32", "i32"], results: [], module: m, index: 0 } as const;
  m.export(m.function("run", self.parameters, [], (f, args, start, end) => f.call(self, args, start, end)));
  return m.build();
}
