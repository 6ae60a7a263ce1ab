/** Talking to the peers: whatever a peer does, its rows get an answer and the others get theirs. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { askPeers, javascriptPeers, type PeerFigure, parseNews, pythonPeers } from "../../bench/peers.js";
import { rows } from "../../bench/rows/index.js";

const folder = mkdtempSync(join(tmpdir(), "pumice-peers-"));
after(() => rmSync(folder, { recursive: true }));

const HURRIED = { isQuick: true, budget: null, halvings: 3 };
const python = pythonPeers(HURRIED);
const hasPython = spawnSync(python.command, ["--version"]).status === 0;
const skip = hasPython ? false : "no Python on this machine";

/** The Python peers with these modules in front of the installed ones. */
function withModules(modules: Record<string, string>) {
  const path = mkdtempSync(join(folder, "modules-"));
  for (const [name, text] of Object.entries(modules)) writeFileSync(join(path, `${name}.py`), text);
  return { ...python, env: { ...python.env, PYTHONPATH: path } };
}

const gone = (name: string) => `raise ModuleNotFoundError("No module named '${name}'")\n`;
const pythonRows = [...new Set(rows.flatMap(({ peers }) => Object.values(peers ?? {})))].filter(
  (row) => !row.startsWith("js:"),
);

test("without torch, jax, numpy, scikit-learn, numpyro and R every row is reported absent, with the reason", {
  skip,
}, async () => {
  const wanted = [...pythonRows, "numpyro/anything"];
  const program = withModules({
    torch: gone("torch"),
    jax: gone("jax"),
    numpy: gone("numpy"),
    sklearn: gone("sklearn"),
    numpyro: gone("numpyro"),
  });
  const withoutR = { ...program, env: { ...program.env, RSCRIPT: "no-such-program" } };
  const { packages, figures } = await askPeers(withoutR, wanted);
  assert.deepEqual(packages, []);
  assert.equal(figures.size, wanted.length);
  for (const row of pythonRows) {
    const name = row.split("/")[0];
    const module = name === "numpyro-cpu" ? "numpyro" : name;
    const absent = name === "rstan" ? "There is no no-such-program" : `No module named '${module}'`;
    assert.deepEqual(figures.get(row), { row, absent });
  }
});

test("a row that hangs is named, and those after it are measured", async () => {
  const answer = `const wanted = JSON.parse(require("fs").readFileSync(0, "utf8"));
    for (const row of wanted) {
      if (row === "p/endless") { setInterval(() => {}, 1000); break; }
      console.log(JSON.stringify({ row, unit: "ms", samples: [1] }));
    }`;
  const program = { command: process.execPath, args: ["-e", answer], silenceMs: 1500 };
  const { figures } = await askPeers(program, ["p/first", "p/endless", "p/last"]);
  assert.deepEqual(figures.get("p/endless"), { row: "p/endless", error: "no news for 1.5 s." });
  for (const row of ["p/first", "p/last"]) assert.deepEqual(figures.get(row), { row, unit: "ms", samples: [1] });
});

test("every peer that a row names exists in bench/peers", { skip }, async () => {
  const listed = [python, javascriptPeers(HURRIED)].map(({ command, args }) => {
    const { stdout } = spawnSync(command, [...args, "--list"], { encoding: "utf8" });
    return JSON.parse(stdout) as Record<string, string>;
  });
  const units: Record<string, string> = Object.assign({}, ...listed);
  for (const { name, unit, peers } of rows) {
    for (const peer of Object.values(peers ?? {})) assert.equal(units[peer], unit, `${name}: ${peer}`);
  }
});

/** As much of PyTorch as allocating takes. */
const FAKE_TORCH = `
__version__ = "9.9"
uint8 = None
def set_grad_enabled(on): pass
def empty(*size, **options): return object()
class cuda:
    is_available = staticmethod(lambda: True)
    get_device_name = staticmethod(lambda: "Fake GPU")
    @staticmethod
    def synchronize(): raise RuntimeError("the GPU fell off")
def rand(*size, **options): return object()
`;

test("a package that is there says its version and gives samples; a row that fails says why", { skip }, async () => {
  const seen: PeerFigure[] = [];
  const program = withModules({ torch: FAKE_TORCH });
  const wanted = ["torch/dependent-eager", "torch/alloc-free", "torch/none"];
  const { packages, figures } = await askPeers(program, wanted, (figure) => void seen.push(figure));
  assert.deepEqual(packages, [{ package: "torch", version: "9.9", device: "Fake GPU" }]);
  assert.deepEqual(figures.get("torch/dependent-eager"), {
    row: "torch/dependent-eager",
    error: "RuntimeError: the GPU fell off",
  });
  const allocation = figures.get("torch/alloc-free")!;
  assert.ok("samples" in allocation && allocation.samples.length >= 3 && allocation.unit === "µs");
  assert.ok(allocation.samples.every((value) => value > 0));
  assert.deepEqual(figures.get("torch/none"), { row: "torch/none", error: "bench/peers has no row torch/none" });
  assert.deepEqual(
    seen.map(({ row }) => row),
    wanted,
  );
});

test("a package installed without GPU support is absent", { skip }, async () => {
  const torch = FAKE_TORCH.replace("lambda: True", "lambda: False");
  const { figures } = await askPeers(withModules({ torch }), ["torch/clone"]);
  assert.deepEqual(figures.get("torch/clone"), { row: "torch/clone", absent: "torch 9.9 sees no CUDA device" });
});

test("a peer that crashes loses its remaining rows, and the next package is still asked", async () => {
  const script = `
    const rows = JSON.parse(require("fs").readFileSync(0, "utf8"));
    console.log("a banner");
    console.log(JSON.stringify({ row: rows[0], unit: "s", samples: [1] }));
    if (rows[0].startsWith("bad/")) { console.error("a complaint"); process.abort(); }`;
  const program = { command: process.execPath, args: ["-e", script] };
  const { figures } = await askPeers(program, ["bad/one", "good/one", "bad/two"]);
  assert.deepEqual(figures.get("bad/one"), { row: "bad/one", unit: "s", samples: [1] });
  assert.deepEqual(figures.get("good/one"), { row: "good/one", unit: "s", samples: [1] });
  const lost = figures.get("bad/two")!;
  assert.ok("error" in lost);
  assert.match(lost.error, /SIGABRT|exit code/);
  assert.match(lost.error, /a complaint/);
});

test("a program that cannot be started is an error of its rows, not of ours", async () => {
  const { figures } = await askPeers({ command: join(folder, "nothing"), args: [] }, ["torch/clone"]);
  const figure = figures.get("torch/clone")!;
  assert.ok("error" in figure);
  assert.match(figure.error, /ENOENT/);
});

test("an answer without usable samples is an error; what is not the protocol is ignored", () => {
  assert.equal(parseNews("WARNING: something"), null);
  assert.equal(parseNews("17"), null);
  assert.equal(parseNews('{"other": 1}'), null);
  for (const line of ['{"row": "a/b", "unit": "s", "samples": []}', '{"row": "a/b", "unit": "s", "samples": [null]}']) {
    assert.match((parseNews(line) as { error: string }).error, /an answer without samples/);
  }
});

test("JavaScript peers answer by the same protocol", async () => {
  const { figures } = await askPeers(javascriptPeers(HURRIED), ["js:nothing/row"]);
  assert.deepEqual(figures.get("js:nothing/row"), {
    row: "js:nothing/row",
    error: "bench/peers has no row js:nothing/row",
  });
});
