/** A strict little reader of XML, to find out whether a picture is well-formed. */

export interface Element {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
}

const NAME = /[A-Za-z_][\w.:-]*/y;
const ATTRIBUTE = /\s+([A-Za-z_][\w.:-]*)="([^"<]*)"/y;
const TEXT = /[^<]*/y;

/** The elements of a document in order; throws where it is not well-formed. */
export function readXml(text: string): Element[] {
  const elements: Element[] = [];
  const open: string[] = [];
  let at = 0;
  const fail = (problem: string): never => {
    throw new Error(`${problem} at ${at}: ${text.slice(Math.max(0, at - 30), at + 30)}`);
  };
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found) at += found[0].length;
    return found;
  };
  while (at < text.length) {
    const content = take(TEXT)![0];
    if (/&(?!(?:amp|lt|gt|quot|#\d+);)/.test(content)) fail("a bare &");
    if (at >= text.length) break;
    at++;
    if (text[at] === "/") {
      at++;
      const name = take(NAME)?.[0];
      if (name !== open.pop() || text[at] !== ">") fail(`</${name}> closes nothing`);
      at++;
      continue;
    }
    const name = take(NAME)?.[0] ?? fail("a bare <");
    const attributes = new Map<string, string>();
    for (let found = take(ATTRIBUTE); found; found = take(ATTRIBUTE)) {
      if (attributes.has(found[1]!)) fail(`${found[1]} twice`);
      if (/&(?!(?:amp|lt|gt|quot|#\d+);)/.test(found[2]!)) fail("a bare &");
      attributes.set(found[1]!, found[2]!);
    }
    elements.push({ name, attributes });
    if (text.startsWith("/>", at)) at += 2;
    else if (text[at] === ">") {
      open.push(name);
      at++;
    } else fail(`<${name}> does not end`);
  }
  if (open.length > 0) fail(`<${open.at(-1)}> is not closed`);
  return elements;
}

/** The numbers of a path's data; throws where it is no path. */
export function pathNumbers(data: string): number[] {
  if (!/^M(?:[MLHVZhv ]|-?\d+(?:\.\d+)?)*$/.test(data)) throw new Error(`no path: ${data.slice(0, 200)}`);
  return [...data.matchAll(/-?\d+(?:\.\d+)?/g)].map(Number);
}
