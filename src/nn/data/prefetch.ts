/**
 * Reading ahead: while one batch is being computed with, the next ones are read and uploaded. loader.ts wraps each epoch in this.
 */

/** The same elements, of which up to `ahead` are made before they are asked for. `drop` frees those that nobody takes. */
export async function* readAhead<T>(
  source: AsyncGenerator<T, void>,
  ahead: number,
  drop: (element: T) => void,
): AsyncGenerator<T, void> {
  // An async generator makes its elements one after the other, however many are asked for.
  const pending: Promise<IteratorResult<T, void>>[] = [];
  const ask = (): void => {
    const next = source.next();
    // An error is thrown where its element is taken; until then it must not end the process.
    next.catch(() => {});
    pending.push(next);
  };
  try {
    for (let i = 0; i < ahead; i++) ask();
    for (;;) {
      ask();
      const { value, done } = await (pending.shift() as Promise<IteratorResult<T, void>>);
      if (done) return;
      yield value;
    }
  } finally {
    const left = [...pending];
    await source.return().catch(() => {});
    for (const each of await Promise.allSettled(left)) {
      if (each.status === "fulfilled" && !each.value.done) drop(each.value.value);
    }
  }
}
