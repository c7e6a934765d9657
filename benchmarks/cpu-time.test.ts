/** Processor time is read from the kernel, which must count a process and its children. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { findChild, readCpuTime, timeBetween } from "./cpu-time.ts";

const burn = "for (const end = process.cpuUsage().user + 2e5; process.cpuUsage().user < end;);";

test("the time of this process and of a child that has ended is counted", () => {
  const { pid } = process;
  const processes = { gateway: pid, bank: pid, postmaster: pid, load: pid, route: pid };
  const before = readCpuTime(processes);
  assert.equal(spawnSync(process.execPath, ["-e", burn]).status, 0);
  const spent = timeBetween(before, readCpuTime(processes));

  assert.ok(spent.database - spent.gateway >= 200_000, JSON.stringify(spent));
  assert.ok(spent.gateway < 200_000, JSON.stringify(spent));
});

test("a missing child is named", () => {
  assert.throws(() => findChild(process.pid, /no-such-program/), /no-such-program/);
});
