/** The plan of a run is a function of its seed, and the report shows what happened. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { seed, testInLongRun } from "../support/series.ts";
import { untilTrue } from "../support/until.ts";
import { startLine } from "./line.ts";
import { kinds, partsOf, planOf } from "./plan.ts";
import { type Done, type Run, recoveryOf, toMarkdown, toSvg } from "./report.ts";

testInLongRun("five minutes of faults leave books that agree", async (t) => {
  const program = join(import.meta.dirname, "chaos.ts");
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const child = spawn(process.execPath, [program, "--seed", `${seed}`], {
    env,
    signal: t.signal,
  });
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, "exit")]);

  t.diagnostic(`npm run chaos -- --seed ${seed}`);
  assert.equal(code, 0, output);
});

test("a seed gives the same faults each time, and another seed gives different faults", () => {
  const plan = planOf(7, 60);

  assert.deepEqual(planOf(7, 60), plan);
  assert.notDeepEqual(planOf(8, 60), plan);
  assert.deepEqual(
    plan.slice(0, 2).map(({ kind, part, atMs, forMs }) => [kind, part, atMs, forMs]),
    [
      ["primary stopped", "database", 3_000, 1_517],
      ["node stopped", "left", 15_484, 8_142],
    ],
  );
});

test("an hour has every kind of fault, several at a time, and never two of one part", () => {
  const plan = planOf(7, 60);

  assert.deepEqual(new Set(plan.map(({ kind }) => kind)), new Set(Object.keys(kinds)));
  const overlaps = plan.filter((fault, index) => (plan[index + 1]?.atMs ?? 0) < endOf(fault));
  assert.ok(overlaps.length > 50, `${overlaps.length} overlap`);
  for (const [index, fault] of plan.entries()) {
    assert.ok(endOf(fault) <= 3_600_000);
    const met = plan.slice(index + 1).filter((next) => next.atMs < endOf(fault));
    const parts = new Set(partsOf(fault));
    assert.ok(met.every((next) => partsOf(next).every((part) => !parts.has(part))));
  }
});

const endOf = ({ atMs, forMs }: { readonly atMs: number; readonly forMs: number }) => atMs + forMs;

const killed: Done = {
  kind: "node killed",
  part: "left",
  way: "one",
  atMs: 1_000,
  forMs: 2_000,
  beganMs: 1_000,
  overMs: 3_000,
};
const run: Run = {
  seed: 7,
  minutes: 1,
  faults: [killed],
  findings: [],
  figures: { purchases: 4 },
  acknowledged: [
    { atMs: 900, node: "left" },
    { atMs: 1_500, node: "right" },
    { atMs: 3_200, node: "right" },
    { atMs: 3_700, node: "left" },
  ],
};

test("a node recovers with its own first sale, and a sale at any node ends the quiet time", () => {
  assert.deepEqual(recoveryOf(killed, run.acknowledged), { recoveryMs: 700, quietMs: 1_700 });
  assert.deepEqual(recoveryOf({ ...killed, part: "bank" }, run.acknowledged).recoveryMs, 200);
  assert.deepEqual(recoveryOf(killed, []), { recoveryMs: undefined, quietMs: 2_000 });
});

test("the report names every fault, what was found, and draws both", () => {
  const found = { ...run, findings: ["order 1 is lost"] };

  assert.match(toMarkdown(run), /Nothing was lost\./);
  assert.match(toMarkdown(found), /^- order 1 is lost$/m);
  assert.match(
    toMarkdown(run),
    /^\| 1\.0 \| left \| node killed: one \| 2\.0 \| 0\.7 \| 1\.7 \|$/m,
  );
  assert.match(toSvg(run), /^<svg .*<title>node killed one<\/title>.*<\/svg>\n$/s);
});

test("data in a silent line arrives when it is back, and a reset line breaks", async (t) => {
  const heard: string[] = [];
  const server = createServer((socket) => {
    socket.on("data", (piece) => heard.push(String(piece))).on("error", () => undefined);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const target = { host: "127.0.0.1", port: (server.address() as AddressInfo).port };
  const [line, open] = [await startLine(target), await startLine(target)];
  t.after(async () => {
    await Promise.all([line.close(), open.close()]);
    server.close();
  });
  const socket = connect(line.port, "127.0.0.1");
  const other = connect(open.port, "127.0.0.1");
  socket.on("error", () => undefined);

  line.cut("silent, then late");
  await new Promise((written) => socket.write("late", written));
  other.write("soon");
  await untilTrue("the open line passes", () => heard.includes("soon"));
  assert.deepEqual(heard, ["soon"]);
  line.restore();
  await untilTrue("the other bytes arrive", () => heard.includes("late"));
  line.cut("reset");
  await untilTrue("the connection breaks", () => socket.destroyed);
  other.destroy();
});
