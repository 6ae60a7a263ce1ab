/** Rest: told of events, it notices their absence, and keeps no process alive. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Rest } from "../../src/engines/rest.js";
import { runNode } from "../support/subprocess.js";

const passed = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test("it looks while there are events, then once in quiet, then no more until the next event", async () => {
  const looks: boolean[] = [];
  const rest = new Rest((isQuiet) => {
    looks.push(isQuiet);
    return !isQuiet;
  }, 30);
  await passed(100);
  assert.deepEqual(looks, [], "nothing has happened yet");
  rest.note();
  rest.note();
  while (looks.length < 2) await passed(10);
  assert.deepEqual(looks, [false, true]);
  await passed(100);
  assert.equal(looks.length, 2);
  rest.note();
  while (looks.length < 4) await passed(10);
  assert.deepEqual(looks.slice(2), [false, true]);
  rest.note();
  rest.end();
  rest.note();
  await passed(100);
  assert.equal(looks.length, 4, "after its end it is still");
});

test("a process ends although a look is due", async () => {
  const { code, output } = await runNode(`
    import { Rest } from "SRC/engines/rest.js";
    new Rest(() => console.log("looked"), 100_000).note();
    console.log("done");`);
  assert.deepEqual({ code, output }, { code: 0, output: "done\n" });
});
