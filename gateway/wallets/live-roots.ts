/**
 * The roots of the wallets, from files or, for walletb, from the address at which it publishes
 * them. They are read again regularly: at the time that the publisher names, and when that fails
 * the ones that are known stay in force until they expire by themselves.
 */
import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { type RootKey, readRootKeys, WalletFault } from "@tollgate/protocols/walletb";
import type { Clock } from "../values/time.ts";
import type { WalletRoots } from "./wallet-trust.ts";

type Sources = {
  /** Empty: none. */
  readonly walletaFile: string;
  /** A file, or an https address. */
  readonly walletbPlace: string;
};

type Dependencies = {
  readonly sources: Sources;
  readonly clock: Clock;
  readonly warn: (wallet: string, cause: string) => void;
};

export type LiveRoots = WalletRoots & {
  /** Reads those anew whose time has come; the milliseconds until there are others. */
  refresh(): Promise<number>;
};

const fetchTimeoutMs = 10_000;
const hourMs = 3_600_000;
const retryMs = 60_000;
const freshMinMs = 300_000;
const freshMaxMs = 7 * 24 * hourMs;

export function makeLiveRoots({ sources, clock, warn }: Dependencies): LiveRoots {
  let walleta: readonly string[] = [];
  let walletb: readonly RootKey[] = [];

  // Each has a time of its own: one that cannot be read is no reason to fetch the other.
  const reads = [makeDue(refreshWalletA, clock), makeDue(refreshWalletB, clock)];

  return {
    walleta: () => walleta,
    walletb: () => walletb,
    async refresh() {
      const waits = await Promise.all(reads.map((readWhenDue) => readWhenDue()));
      return Math.min(...waits);
    },
  };

  async function refreshWalletA(): Promise<number> {
    if (sources.walletaFile === "") return freshMaxMs;
    try {
      const text = await readFile(sources.walletaFile, "utf8");
      walleta = readCertificates(text);
      return hourMs;
    } catch (error) {
      warn("walleta", messageOf(error));
      return retryMs;
    }
  }

  async function refreshWalletB(): Promise<number> {
    if (sources.walletbPlace === "") return freshMaxMs;
    try {
      const { text, freshMs } = await readPlace(sources.walletbPlace);
      const keys = readRootKeys(text);
      if (keys instanceof WalletFault) throw new Error(keys.reason);
      walletb = keys;
      return freshMs;
    } catch (error) {
      warn("walletb", messageOf(error));
      return retryMs;
    }
  }
}

/** Does it when its time has come; the milliseconds until it comes again. */
function makeDue(work: () => Promise<number>, clock: Clock): () => Promise<number> {
  let dueAt: number = clock.now();
  return async () => {
    if (clock.now() >= dueAt) dueAt = clock.now() + (await work());
    return Math.max(0, dueAt - clock.now());
  };
}

/** All of them, or an error: a file that is being written must not take the known ones away. */
function readCertificates(text: string): readonly string[] {
  const found = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (found.length === 0) throw new Error("there is no certificate in it");
  return found.map((pem) => new X509Certificate(pem).toString());
}

async function readPlace(place: string) {
  if (!place.startsWith("https://")) {
    return { text: await readFile(place, "utf8"), freshMs: hourMs };
  }
  const answer = await fetch(place, {
    redirect: "error",
    signal: AbortSignal.timeout(fetchTimeoutMs),
  });
  if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
  return { text: await answer.text(), freshMs: freshnessOf(answer.headers) };
}

/** As the publisher's caching header says, within sense. */
export function freshnessOf(headers: Headers): number {
  const [, seconds] = /(?:^|[\s,])max-age=(\d+)/i.exec(headers.get("cache-control") ?? "") ?? [];
  const age = headers.get("age") ?? "";
  // Whatever stands between us may write anything there.
  const ageMs = /^\d{1,10}$/.test(age) ? Number(age) * 1000 : 0;
  const freshMs = seconds === undefined ? hourMs : Number(seconds) * 1000 - ageMs;
  return Math.min(Math.max(freshMs, freshMinMs), freshMaxMs);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
