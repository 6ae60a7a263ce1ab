/** Branches, loops and functions, nested and jumped out of in every way the builder allows. */
import type { FunctionBuilder, ModuleBuilder } from "../../../src/spirv/index.js";
import { kernel, type Specimen, specimen } from "./specimen.js";

function branches(f: FunctionBuilder, m: ModuleBuilder): void {
  const x = f.variable(m.i32).load();
  f.if(f.less(x, 1), () => {});
  f.if(
    f.less(x, 2),
    () => {},
    () => {},
  );
  const y = f.if(
    f.less(x, 0),
    () => f.neg(x),
    () => x,
  );
  const [a, b] = f.if(
    f.less(y, 0),
    () => [y, f.mul(x, 2)] as const,
    () => [0, 1],
    { flatten: true },
  );
  // One side leaves: what the other yields is the value.
  const z = f.if(
    f.less(a, b),
    () => f.add(a, b),
    () => f.return(),
    { flatten: false },
  );
  f.if(f.greater(z, 3), () => {
    f.if(f.greater(z, 4), () => f.if(f.greater(z, 5), () => f.return()));
  });
  f.if(
    f.greater(z, 6),
    () => f.return(),
    () => f.return(),
  );
}

function switches(f: FunctionBuilder, m: ModuleBuilder): void {
  const place = f.variable(m.i32);
  const x = place.load();
  f.switch(x, []);
  f.switch(x, [[0, () => place.store(1)]]);
  const y = f.switch(
    x,
    [
      [[1, 2, -3], () => f.add(x, 1)],
      [4, () => f.mul(x, 2)],
    ],
    () => 0,
  );
  f.switch(f.convert(y, m.u64), [[2n ** 40n, () => place.store(2)]], () => place.store(3));
  f.switch(f.convert(y, m.i16), [[-5, () => place.store(4)]], () => f.return());
  f.loop(() => {
    f.switch(place.load(), [
      [0, () => f.break()],
      [1, () => f.continue()],
      [2, () => f.return()],
    ]);
    place.store(f.sub(place.load(), 1));
  });
}

function loops(f: FunctionBuilder, m: ModuleBuilder): void {
  const place = f.variable(m.u32, 0);
  const n = f.variable(m.u32).load();
  f.for(0, n, 1, (i) => place.store(f.add(place.load(), i)));
  f.for(10, 0, -2, (i) => place.store(f.convert(i, m.u32)), { unroll: true });
  f.for(n, 100, n, (i) => f.for(i, n, 1, (j) => f.for(j, 5, 1, () => {}, { unroll: false })));
  f.while(
    () => f.less(place.load(), 1000),
    () => {
      f.breakIf(f.equal(place.load(), 77));
      f.continueIf(f.equal(place.load(), 78));
      place.store(f.mul(place.load(), 2));
    },
  );
  f.loop(() => {
    f.if(
      f.less(place.load(), 5),
      () => f.break(),
      () => f.continue(),
    );
  });
  // A body that never comes round again.
  f.for(0, n, 1, () => f.break());
  // A condition with a branch inside.
  f.while(
    () =>
      f.if(
        f.less(n, 3),
        () => f.less(place.load(), 3),
        () => m.constant(m.bool, false),
      ),
    () => place.store(9),
  );
}

function carriedState(f: FunctionBuilder, m: ModuleBuilder): void {
  const n = f.variable(m.u32).load();
  const zero = m.constant(m.f32, 0);
  const sum = f.fold(0, n, 1, zero, (i, s) => f.add(s, f.convert(i, m.f32)));
  const [a, b] = f.fold(0, n, 1, [sum, m.constant(m.i32, 1)], (i, [a, b]) => {
    f.if(f.equal(i, 3), () => f.continue(a, f.add(b, 1)));
    f.if(f.equal(i, 7), () => f.break(0, b));
    f.continueIf(f.equal(i, 9));
    return [f.mul(a, 2), b];
  });
  const root = f.iterate(
    a,
    (x) => f.greater(x, 1),
    (x) => f.sqrt(x),
  );
  const [p, q] = f.iterate(
    [root, b],
    ([p, q]) => f.and(f.less(p, 10), f.less(q, 10)),
    ([p, q]) => [f.add(p, 1), f.add(q, 1)],
  );
  // Every path leaves in the first round.
  const once = f.fold(0, n, 1, f.add(p, f.convert(q, m.f32)), (_i, s) => f.break(f.neg(s)));
  f.variable(m.f32, once);
  // A narrow value carried round.
  f.fold(0, n, 1, f.convert(once, m.f16), (_i, h) => f.mul(h, 2));
}

export const controlFlow: readonly Specimen[] = [
  kernel("if", branches),
  kernel("switch", switches),
  kernel("for, while, loop", loops),
  kernel("loops that carry state", carriedState),
  kernel("a loop with no way out but return", (f, m) => {
    const place = f.variable(m.u32, 0);
    f.loop(() => {
      f.if(f.equal(place.load(), 3), () => f.return());
      place.store(f.add(place.load(), 1));
    });
  }),
  kernel("code in a thousand branches, one inside the other being at most four deep", (f, m) => {
    const place = f.variable(m.u32, 0);
    for (let i = 0; i < 1000; i++) {
      f.if(f.equal(place.load(), i), () => {
        f.for(0, 2, 1, () => {
          f.if(f.equal(place.load(), i + 1), () => f.if(f.equal(place.load(), i + 2), () => place.store(0)));
        });
      });
    }
  }),
  specimen("functions that call functions", (m) => {
    const out = m.storageBuffer(m.f32, { binding: 0 });
    const counter = m.privateVariable(m.u32, "counter");
    const square = m.function("square", [m.f32], m.f32, (f, x) => f.mul(x, x));
    const sign = m.function("sign", [m.f32], m.i32, (f, x) => {
      f.if(f.less(x, 0), () => f.return(-1));
      f.if(f.greater(x, 0), () => f.return(1));
      return 0;
    });
    const bump = m.function("bump", [m.pointer("Function", m.f32), m.u32], m.void, (f, place, by) => {
      const where = f.ref(place);
      where.store(f.add(where.load(), f.convert(by, m.f32)));
      counter.store(f.add(counter.load(), 1));
    });
    m.entry("main", { localSize: [1] }, (f) => {
      const place = f.variable(m.f32, 2);
      f.call(bump, place.pointer(), 3);
      out.store(0, f.call(square, place.load()));
      out.store(1, f.convert(f.call(sign, place.load()), m.f32));
    });
    m.entry("other", { localSize: [8, 8] }, (f) => {
      out.store(f.builtin("LocalInvocationIndex"), f.call(square, 3));
    });
  }),
  specimen(
    "two entry points, SPIR-V 1.3, each with its own built-ins",
    (m) => {
      const out = m.storageBuffer(m.u32, { binding: 0 });
      m.entry("one", { localSize: [4] }, (f) => out.store(0, f.builtin("GlobalInvocationId").x));
      m.entry("two", { localSize: [4, 2, 2] }, (f) => {
        out.store(1, f.add(f.builtin("WorkgroupId").y, f.builtin("NumWorkgroups").z));
        out.store(2, f.builtin("LocalInvocationId").x);
      });
    },
    { version: [1, 3] },
  ),
];
