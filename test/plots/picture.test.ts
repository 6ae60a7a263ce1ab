/** Pictures and pages as files; texts in them that try to be more than texts. */
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { ArgumentError } from "../../src/core/errors.js";
import { legendElement, legendWidth } from "../../src/plots/legend.js";
import { Picture, page } from "../../src/plots/picture.js";
import { fitText, textElement, textWidth } from "../../src/plots/text.js";
import { readXml } from "../bayes/report/xml.js";

const hostile = `</text></style><script>alert("1")</script>&'\u0000`;
const picture = new Picture({ title: hostile, width: 200, height: 100, body: '<path class="line" d="M0 0L1 1"/>' });

describe("a picture", () => {
  test("is well-formed SVG with its size, a description, and styles in light and dark", () => {
    const elements = readXml(picture.svg);
    const [root] = elements;
    assert.equal(root!.name, "svg");
    assert.deepEqual(
      ["width", "height", "viewBox", "role"].map((name) => root!.attributes.get(name)),
      ["200", "100", "0 0 200 100", "img"],
    );
    assert.deepEqual(elements.map(({ name }) => name), ["svg", "title", "style", "rect", "path"]); // biome-ignore format: names
    assert.match(picture.svg, /prefers-color-scheme: dark/);
    assert.doesNotMatch(
      picture.svg,
      /var\(|undefined|<script/,
      "colours are written out for viewers without properties",
    );
    assert.equal(String(picture), picture.svg);
  });

  test("is saved as SVG or as a page, by the name of the file", async () => {
    const folder = mkdtempSync(join(tmpdir(), "pumice-picture-"));
    try {
      await picture.save(join(folder, "a.svg"));
      await picture.save(join(folder, "a.HTML"));
      await page([picture]).save(join(folder, "b.html"));
      assert.equal(readFileSync(join(folder, "a.svg"), "utf8"), picture.svg);
      assert.match(readFileSync(join(folder, "a.HTML"), "utf8"), /^<!doctype html>.*<svg /s);
      await assert.rejects(picture.save(join(folder, "a.png")), /a\.png" ends neither in "\.svg" nor in "\.html"/);
      await assert.rejects(page([picture]).save(join(folder, "a.svg")), ArgumentError);
      await assert.rejects(picture.save(join(folder, "none", "a.svg")), /picture\.save: the picture cannot be written/);
      assert.deepEqual(readdirSync(folder).sort(), ["a.HTML", "a.svg", "b.html"]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe("a page", () => {
  const { html } = page([picture, picture], { title: hostile });

  test("holds its pictures, fetches nothing, and takes texts for texts", () => {
    const pictures = [...html.matchAll(/<svg.*?<\/svg>/gs)].map(([each]) => each);
    assert.equal(pictures.length, 2);
    for (const each of pictures) assert.deepEqual(readXml(each).map(({ name }) => name), ["svg", "title", "path"]); // biome-ignore format: names
    assert.equal(html.match(/<script>/g)?.length, 1, "the page's own script alone");
    assert.match(html, /&lt;script&gt;alert\(&quot;1&quot;\)/);
    assert.match(html, /default-src 'none'/);
    assert.deepEqual([...new Set(html.match(/https?:[^"' )]*/g))], ["http://www.w3.org/2000/svg"]);
  });

  test("refuses what are no pictures, and options there are none of", () => {
    assert.throws(() => page([picture.svg as never]), /plots\.page: takes a list of pictures/);
    assert.throws(() => page(picture as never), ArgumentError);
    assert.throws(() => page([picture], { titel: "a" } as never), /no option "titel"/);
  });
});

describe("texts", () => {
  test("that are too long are cut to the room there is, with the whole as a tip", () => {
    const long = "a rather long name of a class that nobody can read";
    assert.equal(fitText("short", 100), "short");
    for (const room of [30, 60, 120]) {
      const cut = fitText(long, room);
      assert.ok(textWidth(cut) <= room && cut.endsWith("…") && long.startsWith(cut.slice(0, -1)), cut);
    }
    const element = textElement(`<i>${long}`, { x: 1, y: 2, className: "tick", width: 60 });
    readXml(element);
    assert.match(element, /<title>&lt;i&gt;a rather long name of a class that nobody can read<\/title>&lt;i&gt;/);
    assert.doesNotMatch(textElement("a\n b", { x: 1, y: 2, className: "tick", width: 60 }), /<title>/);
  });

  test("of a legend stay inside it, and the last line counts those without room", () => {
    const mark = () => "";
    const entries = Array.from({ length: 9 }, (_, k) => ({ name: `name ${k}`, mark }));
    const drawn = (bottom: number) =>
      [...legendElement(entries, 0, { top: 0, bottom }).matchAll(/>([^<]+)</g)].map(([, text]) => text);
    assert.equal(drawn(200).length, 9);
    assert.deepEqual(drawn(70), ["name 0", "name 1", "name 2", "and 6 more"]);
    assert.equal(legendWidth([]), 0);
    assert.ok(legendWidth([{ name: "x".repeat(500), mark }]) < 200);
  });
});
