/** `tools/run.mjs` in an artificial clone, with an npm that only puts the pinned Node in place. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";

test("a fresh clone is installed once, and the program gets its parameters", async (t) => {
  const clone = makeClone(t);

  const first = await run(clone, "program.mjs", "say", "hello").ended;
  assert.equal(first.code, 0);
  assert.match(first.output, /^Installing packages …\nPackages installed in [\d.]+ s\.\n/);
  assert.match(first.output, /program was told say hello, \d{13}/);

  const second = await run(clone, "program.mjs", "say", "hello").ended;
  assert.doesNotMatch(second.output, /Installing/);
  assert.deepEqual(npmCalls(clone), ["ci"]);
});

test("packages are installed again after the lock file changed", async (t) => {
  const clone = makeClone(t);
  await run(clone, "program.mjs").ended;
  fs.writeFileSync(join(clone, "package-lock.json"), '{ "changed": true }');

  await run(clone, "program.mjs").ended;

  assert.deepEqual(npmCalls(clone), ["ci", "ci"]);
});

test("a lock file that npm ci refuses is never bypassed by npm install", async (t) => {
  const refusing = `${npmThatWorks} console.error("npm error code EUSAGE"); process.exit(1);`;
  const clone = makeClone(t, refusing);

  const { code, output } = await run(clone, "program.mjs").ended;

  assert.equal(code, 1);
  assert.match(output, /package-lock\.json does not belong to package\.json: run `npm install`/);
  assert.deepEqual(npmCalls(clone), ["ci"]);
});

test("two runs at once install one after the other, and only once", async (t) => {
  const clone = makeClone(t);

  const both = [run(clone, "program.mjs"), run(clone, "program.mjs")];
  const [one, other] = await Promise.all(both.map(({ ended }) => ended));

  assert.deepEqual([one?.code, other?.code], [0, 0]);
  assert.deepEqual(npmCalls(clone), ["ci"]);
  assert.deepEqual(
    fs.readdirSync(clone).filter((name) => name.startsWith(".installing")),
    [],
  );
});

test("the lock of an installation that was killed does not stop the next", async (t) => {
  const clone = makeClone(t);
  fs.mkdirSync(join(clone, ".installing"));
  fs.writeFileSync(join(clone, ".installing", "holder"), "99999999-1");

  const { code } = await run(clone, "program.mjs").ended;

  assert.equal(code, 0);
});

test("the compile cache is filled once, and again after a source has changed", async (t) => {
  const clone = makeClone(t);
  const source = join(clone, "gateway", "deep", "source.ts");
  fs.mkdirSync(join(source, ".."), { recursive: true });
  fs.writeFileSync(source, "");
  const warm = `import { appendFileSync } from "node:fs"; appendFileSync("filled", "once ");`;
  fs.writeFileSync(join(clone, "tools", "warm.ts"), warm);
  const filled = async () => {
    await run(clone, "program.mjs").ended;
    return fs.readFileSync(join(clone, "filled"), "utf8");
  };

  assert.equal(await filled(), "once ");
  assert.equal(await filled(), "once ");
  const later = Date.now() / 1000 + 60;
  fs.utimesSync(source, later, later);
  assert.equal(await filled(), "once once ");

  // Node has a folder for each set of flags; the cache was filled for those of the program.
  const kept = join(clone, "node_modules", ".cache", "compiled");
  const folders = fs
    .readdirSync(kept, { withFileTypes: true })
    .filter((each) => each.isDirectory());
  assert.equal(folders.length, 1);
});

test("in production nothing is installed, and there is no compile cache", async (t) => {
  const clone = makeClone(t);
  const production = { GW_ENV: "production" };
  const absent = await start(clone, production, "program.mjs").ended;
  assert.match(absent.output, /The pinned Node is missing .* run npm ci, then the same command/);
  assert.ok(!fs.existsSync(join(clone, "npm-calls")));

  fs.mkdirSync(join(clone, "node_modules/node/bin"), { recursive: true });
  fs.symlinkSync(process.execPath, join(clone, "node_modules/node/bin/node"));
  assert.equal((await start(clone, production, "program.mjs").ended).code, 0);
  assert.deepEqual(fs.readdirSync(join(clone, "node_modules")), ["node"]);
});

test("the program's exit code, or the signal that ended it, is passed on", async (t) => {
  const clone = makeClone(t);

  assert.equal((await run(clone, "program.mjs", "exit", "7").ended).code, 7);
  assert.equal((await run(clone, "program.mjs", "die").ended).code, 128 + 9);
});

test("a signal reaches the program once, which then ends by itself", async (t) => {
  const clone = makeClone(t);
  const running = run(clone, "program.mjs", "wait");
  await running.said(/waiting/);

  running.process.kill("SIGTERM");
  running.process.kill("SIGINT");
  await running.said(/SIGTERM/);
  await running.said(/SIGINT/);
  running.process.kill("SIGTERM");
  const { code, output } = await running.ended;

  assert.equal(code, 5);
  assert.equal(output.match(/SIGTERM/g)?.length, 1);
});

test("a missing file and a failed npm are each explained in a sentence", async (t) => {
  const clone = makeClone(t);
  const absent = await run(clone, "absent.ts").ended;
  assert.equal(absent.code, 1);
  assert.match(absent.output, /There is no file .*absent\.ts to run\.\n$/);

  const offline = makeClone(t, "console.error('getaddrinfo ENOTFOUND'); process.exit(1);");
  const failed = await run(offline, "program.mjs").ended;
  assert.equal(failed.code, 1);
  assert.match(failed.output, /could not be downloaded: check the network .* again\.\n$/);
});

const npmThatWorks = `
  import { appendFileSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
  appendFileSync("npm-calls", process.argv[2] + "\\n");
  mkdirSync("node_modules/node/bin", { recursive: true });
  rmSync("node_modules/node/bin/node", { force: true });
  symlinkSync(process.execPath, "node_modules/node/bin/node");
  writeFileSync("node_modules/.package-lock.json", "{}");`;

const program = `
  const [what, ...rest] = process.argv.slice(2);
  console.log("program was told", what, rest.join(" ") + ",", process.env.TOLLGATE_STARTED_AT);
  if (what === "exit") process.exit(Number(rest[0]));
  if (what === "die") process.kill(process.pid, "SIGKILL");
  if (what === "wait") {
    for (const name of ["SIGINT", "SIGTERM"]) process.on(name, () => console.log(name));
    process.once("SIGINT", () => setTimeout(() => process.exit(5), 300));
    console.log("waiting");
    setInterval(() => {}, 1000);
  }`;

function makeClone(t: TestContext, npm = npmThatWorks): string {
  const clone = fs.mkdtempSync(join(tmpdir(), "run-test-"));
  t.after(() => fs.rmSync(clone, { recursive: true }));
  fs.mkdirSync(join(clone, "tools"));
  fs.mkdirSync(join(clone, "gateway"));
  fs.writeFileSync(join(clone, "gateway", "node-flags"), "--disable-sigusr1\n");
  for (const name of ["run.mjs", "install.mjs"]) {
    fs.copyFileSync(join(import.meta.dirname, name), join(clone, "tools", name));
  }
  fs.writeFileSync(join(clone, "package.json"), '{ "type": "module", "workspaces": ["tools"] }');
  fs.writeFileSync(join(clone, "package-lock.json"), "{}");
  fs.writeFileSync(join(clone, "npm-cli.js"), npm);
  fs.writeFileSync(join(clone, "program.mjs"), program);
  return clone;
}

function npmCalls(clone: string): readonly string[] {
  return fs.readFileSync(join(clone, "npm-calls"), "utf8").trim().split("\n");
}

type Running = {
  readonly process: ChildProcess;
  readonly ended: Promise<{ readonly code: number; readonly output: string }>;
  said(pattern: RegExp): Promise<void>;
};

function run(clone: string, ...parameters: readonly string[]): Running {
  return start(clone, {}, ...parameters);
}

function start(clone: string, settings: object, ...parameters: readonly string[]): Running {
  const { npm_lifecycle_event: _, NODE_COMPILE_CACHE: __, ...environment } = process.env;
  const npm = { npm_execpath: join(clone, "npm-cli.js"), npm_node_execpath: process.execPath };
  const child = spawn(process.execPath, [join(clone, "tools", "run.mjs"), ...parameters], {
    env: { ...environment, ...npm, ...settings, TOLLGATE_STARTED_AT: undefined },
    cwd: clone,
    // The process has a group of its own, as under a service manager, so that no terminal reaches
    // it.
    detached: true,
  });
  let output = "";
  child.stdout.on("data", (chunk) => (output += String(chunk)));
  child.stderr.on("data", (chunk) => (output += String(chunk)));
  return {
    process: child,
    ended: once(child, "close").then(([code]) => ({ code: Number(code), output })),
    async said(pattern) {
      while (!pattern.test(output)) await once(child.stdout, "data");
    },
  };
}
