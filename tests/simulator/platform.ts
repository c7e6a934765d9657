/**
 * Gives the gateway's code the platform of the simulation instead of Node's: timers, clocks, random
 * numbers and TCP sockets. The code runs unchanged, and neither it nor the packages that it uses
 * can reach the real ones. Only a process that does nothing but simulate may do this.
 */
import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import net from "node:net";
import timers from "node:timers/promises";
import type { Network } from "./network.ts";
import type { Random } from "./random.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** The time is 2026-11-16 00:00 UTC. */
export const startOfTime = 1_794_787_200_000;

type Task = (...given: unknown[]) => void;

/** Replaces the platform, and returns a function that restores Node's own. */
export function replacePlatform(time: VirtualTime, random: Random, network: Network): () => void {
  replaceTimers(time);
  replaceRandom(random);
  performance.now = () => time.now();
  Date.now = () => startOfTime + Math.floor(time.now());
  Object.assign(net, {
    connect: ({ host, port }: { host: string; port: number }) => network.connect(host, port),
  });
  syncBuiltinESMExports();
  return restorePlatform;
}

function restorePlatform(): void {
  for (const { target, own } of originals) Object.assign(target, own);
  syncBuiltinESMExports();
}

const take = <Target extends object>(target: Target, names: readonly (keyof Target)[]) => ({
  target,
  own: Object.fromEntries(names.map((name) => [name, target[name]])),
});
const originals = [
  take(globalThis, ["setTimeout", "setImmediate", "setInterval"]),
  take(globalThis, ["clearTimeout", "clearImmediate"]),
  take(timers, ["setTimeout", "setImmediate"]),
  take(crypto, ["randomBytes", "randomInt", "randomUUID", "randomUUIDv7", "randomFillSync"]),
  take(net, ["connect"]),
  take(Math, ["random"]),
  { target: Date, own: { now: Date.now } },
  { target: performance, own: { now: performance.now.bind(performance) } },
];

function replaceTimers(time: VirtualTime): void {
  const start = (task: Task, delayMs: number, given: readonly unknown[]) => {
    const cancel = time.startTimer(delayMs, () => task(...given));
    const timer = { cancel, ref: () => timer, unref: () => timer, hasRef: () => true };
    return timer;
  };
  const stop = (timer: { cancel?: () => void } | undefined) => timer?.cancel?.();
  Object.assign(globalThis, {
    setTimeout: (task: Task, delayMs = 1, ...given: unknown[]) =>
      start(task, Math.max(1, delayMs), given),
    setImmediate: (task: Task, ...given: unknown[]) => start(task, 0, given),
    setInterval: () => {
      throw new Error("no part of the simulation uses an interval");
    },
    clearTimeout: stop,
    clearImmediate: stop,
  });
  Object.assign(timers, {
    setTimeout: (delayMs = 1, value?: unknown) =>
      new Promise((resolve) => {
        time.startTimer(Math.max(1, delayMs), () => resolve(value));
      }),
    setImmediate: (value?: unknown) =>
      new Promise((resolve) => {
        time.startTimer(0, () => resolve(value));
      }),
  });
}

function replaceRandom(random: Random): void {
  const bytes = (count: number) => {
    const drawn = Buffer.alloc(count);
    random.fill(drawn);
    return drawn;
  };
  // Nonces have random numbers of their own, because they are drawn into a pool that outlives a
  // simulation.
  const nonces = random.fork("nonces");
  Math.random = random.fork("fractions").next;
  Object.assign(crypto, {
    randomBytes: bytes,
    randomInt: (low: number, high?: number) =>
      high === undefined ? random.below(low) : low + random.below(high - low),
    randomUUID: () => uuidOf(bytes(16), "4"),
    randomUUIDv7: () => uuidOf(bytes(16), "7"),
    randomFillSync: (target: Uint8Array) => {
      nonces.fill(target);
      return target;
    },
  });
}

function uuidOf(bytes: Buffer, version: string): string {
  const hex = bytes.toString("hex");
  const parts = [hex.slice(0, 8), hex.slice(8, 12), version + hex.slice(13, 16)];
  return [...parts, `8${hex.slice(17, 20)}`, hex.slice(20)].join("-");
}
