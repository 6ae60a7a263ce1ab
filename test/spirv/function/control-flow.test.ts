/** What control flow computes, by an interpreter that reads the words: the right branch, the right number of rounds. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { run } from "../building.js";

describe("branches", () => {
  test("if runs one side and yields its value", () => {
    const sign = (v: number) =>
      run([v, 0, 0], (f, x) => {
        const a = x.load(0);
        const y = f.if(
          f.less(a, 0),
          () => {
            x.store(2, 10);
            return -1;
          },
          () => {
            x.store(2, 20);
            return f.if(
              f.greater(a, 0),
              () => f.add(a, 100),
              () => 7,
            );
          },
        );
        x.store(1, y);
      });
    assert.deepEqual(sign(-5), [-5, -1, 10]);
    assert.deepEqual(sign(5), [5, 105, 20]);
    assert.deepEqual(sign(0), [0, 7, 20]);
  });

  test("if yields several values, in order", () => {
    const minMax = (a: number, b: number) =>
      run([a, b], (f, x) => {
        const [p, q] = [x.load(0), x.load(1)];
        const [low, high] = f.if(
          f.less(p, q),
          () => [p, q] as const,
          () => [q, p],
        );
        x.store(0, low);
        x.store(1, high);
      });
    assert.deepEqual(minMax(1, 2), [1, 2]);
    assert.deepEqual(minMax(2, 1), [1, 2]);
  });

  test("an early return leaves the rest undone", () => {
    const guarded = (v: number) =>
      run([v, 0], (f, x) => {
        f.if(f.less(x.load(0), 0), () => f.return());
        x.store(1, 1);
      });
    assert.deepEqual(guarded(-1), [-1, 0]);
    assert.deepEqual(guarded(1), [1, 1]);
  });

  test("switch takes the case of its label, or the default, and falls through nowhere", () => {
    const choose = (v: number) =>
      run([v, 0, 0], (f, x) => {
        const y = f.switch(
          x.load(0),
          [
            [1, () => f.add(x.load(0), 100)],
            [[-2, 3], () => f.add(x.load(0), 200)],
          ],
          () => 9,
        );
        x.store(1, y);
        f.switch(x.load(0), [[1, () => x.store(2, 5)]]);
      })[1];
    assert.deepEqual([0, 1, -2, 3, 4].map(choose), [9, 101, 198, 203, 9]);
  });
});

describe("loops", () => {
  const visited = (from: number, to: number, step: number) => {
    const data = run([0], (f, x) => {
      f.for(from, to, step, (i) => {
        const n = f.add(x.load(0), 1);
        x.store(0, n);
        x.store(n, f.bitcast(i, x.load(0).type));
      });
    });
    return data.slice(1);
  };
  test("for counts up to its end, which is left out", () => assert.deepEqual(visited(2, 9, 3), [2, 5, 8]));
  test("for counts down with a negative step", () => assert.deepEqual(visited(3, -2, -2), [3, 1, -1]));
  test("for over nothing runs nothing", () => assert.deepEqual(visited(3, 3, 1), []));

  test("nested loops with continue and break", () => {
    const [sum] = run([0], (f, x, m) => {
      const end = m.constant(m.i32, 6);
      f.for(0, end, 1, (i) => {
        f.continueIf(f.equal(i, 2));
        f.for(0, end, 1, (j) => {
          f.breakIf(f.greater(j, i));
          x.store(0, f.add(x.load(0), f.add(f.mul(i, 10), j)));
        });
      });
    });
    let expected = 0;
    for (let i = 0; i < 6; i++) if (i !== 2) for (let j = 0; j <= i; j++) expected += i * 10 + j;
    assert.equal(sum, expected);
  });

  test("break after an inner loop leaves the outer one", () => {
    const [rounds] = run([0], (f, x) => {
      f.for(0, 10, 1, () => {
        x.store(0, f.add(x.load(0), 1));
        f.for(0, 2, 1, () => {});
        f.breakIf(f.equal(x.load(0), 4));
      });
    });
    assert.equal(rounds, 4);
  });

  test("while looks before each round, loop does not", () => {
    const rounds = (limit: number) =>
      run([0, 0], (f, x) => {
        f.while(
          () => f.less(x.load(0), limit),
          () => x.store(0, f.add(x.load(0), 1)),
        );
        f.loop(() => {
          x.store(1, f.add(x.load(1), 1));
          f.breakIf(f.greaterEqual(x.load(1), limit));
        });
      });
    assert.deepEqual(rounds(3), [3, 3]);
    assert.deepEqual(rounds(0), [0, 1]);
  });

  test("fold carries state, also through continue and break", () => {
    const go = (n: number) =>
      run([n, 0, 0], (f, x, m) => {
        const [sum, count] = f.fold(0, x.load(0), 1, [m.constant(m.i32, 0), m.constant(m.i32, 0)], (i, [s, c]) => {
          f.if(f.equal(i, 2), () => f.continue(f.add(s, 1000), c));
          f.continueIf(f.equal(i, 3)); // with the state as it was
          f.if(f.equal(i, 6), () => f.break(f.neg(s), f.add(c, 50)));
          return [f.add(s, i), f.add(c, 1)];
        });
        x.store(1, sum);
        x.store(2, count);
      }).slice(1);
    const expected = (n: number) => {
      let [s, c] = [0, 0];
      for (let i = 0; i < n; i++) {
        if (i === 2) {
          s += 1000;
          continue;
        }
        if (i === 3) continue;
        if (i === 6) return [-s, c + 50];
        [s, c] = [s + i, c + 1];
      }
      return [s, c];
    };
    for (const n of [0, 1, 2, 3, 5, 6, 9]) assert.deepEqual(go(n), expected(n), `n = ${n}`);
  });

  test("iterate runs the Euclidean algorithm", () => {
    const gcd = (a: number, b: number) =>
      run([a, b], (f, x) => {
        const [d] = f.iterate(
          [x.load(0), x.load(1)],
          ([, q]) => f.notEqual(q, 0),
          ([p, q]) => [q, f.rem(p, q)],
        );
        x.store(0, d);
      })[0];
    assert.equal(gcd(252, 105), 21);
    assert.equal(gcd(7, 0), 7);
  });

  test("return from inside two loops ends the function", () => {
    const found = run([0, 0], (f, x) => {
      f.for(0, 10, 1, (i) => {
        f.for(0, 10, 1, (j) => {
          f.if(f.equal(f.mul(i, j), 42), () => {
            x.store(0, f.bitcast(i, x.load(0).type));
            f.return();
          });
        });
      });
      x.store(1, 1);
    });
    assert.deepEqual(found, [6, 0]);
  });

  test("a switch inside a loop can leave or continue it", () => {
    const [sum] = run([0], (f, x, m) => {
      f.for(0, m.constant(m.i32, 100), 1, (i) => {
        f.switch(i, [
          [1, () => f.continue()],
          [5, () => f.break()],
        ]);
        x.store(0, f.add(x.load(0), i));
      });
    });
    assert.equal(sum, 0 + 2 + 3 + 4);
  });
});
