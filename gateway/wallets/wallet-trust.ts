/**
 * The keys and roots that wallet tokens are decrypted and verified with. Merchants' keys come from
 * the vault and are read again when they change; the wallets' roots come from files or, for
 * walletb, from the address that publishes them, and are read again when they may be stale. A read
 * that fails leaves the previous ones in force and is tried again.
 */
import { type KeyObject, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type RootKey, readRootKeys, WalletFault } from "@tollgate/protocols/walletb";
import type { MerchantId } from "../values/ids.ts";
import { openReloadable } from "../values/reloadable.ts";
import type { Clock } from "../values/time.ts";

export type Wallet = "walleta" | "walletb";
/** The purpose of a key: a wallet's tokens, or the merchant's identity at walleta. */
export type KeyUse = Wallet | "walleta-identity";

/** One generation of a merchant's key. Two are valid while it is renewed. */
export type WalletKey = {
  readonly id: string;
  readonly merchantId: MerchantId;
  readonly wallet: KeyUse;
  readonly privateKey: KeyObject;
  /** The certificate in PEM, for walleta; absent until the merchant has had it signed. */
  readonly certificate: string | undefined;
};

export type ReadKeys = {
  readonly keys: readonly WalletKey[];
  readonly unreadable: readonly { readonly id: string; readonly cause: string }[];
};

type KeyDependencies = {
  readonly read: () => Promise<ReadKeys>;
  readonly clock: Clock;
  readonly onUnreadable: (id: string, cause: string) => void;
  readonly onError: (error: unknown) => void;
};

export type WalletKeys = Awaited<ReturnType<typeof openWalletKeys>>;

const keyRetryMs = 10_000;

/**
 * Opens the trust. Rejects if the first read fails, because a gateway does not start without its
 * database.
 */
export async function openWalletKeys(dependencies: KeyDependencies) {
  const { clock, onUnreadable, onError } = dependencies;
  let cancelRetry = () => {};
  let stopped = false;
  const keys = await openReloadable<readonly WalletKey[]>({
    async read(present = []) {
      const { keys: opened, unreadable } = await dependencies.read();
      for (const { id, cause } of unreadable) onUnreadable(id, cause);
      if (unreadable.length > 0) retryLater();
      const missing = new Set(unreadable.map(({ id }) => id));
      return [...opened, ...present.filter(({ id }) => missing.has(id))];
    },
    onError(error) {
      onError(error);
      retryLater();
    },
  });

  return {
    keysOf: (merchant: MerchantId, wallet: KeyUse) =>
      keys.current().filter((key) => key.merchantId === merchant && key.wallet === wallet),
    reload: keys.reload,
    stop() {
      stopped = true;
      cancelRetry();
    },
  };

  function retryLater(): void {
    cancelRetry();
    if (!stopped) cancelRetry = clock.after(keyRetryMs, () => void keys.reload());
  }
}

/** The root certificates and keys of the wallets. */
export type WalletRoots = {
  /** The certificates in PEM, one in each text. */
  walleta(): readonly string[];
  walletb(): readonly RootKey[];
};

export type TrustSettings = {
  readonly environment: string;
  readonly dataDir: string;
  readonly walletaRootsFile: string;
  readonly walletbRootKeys: string;
};

/**
 * Returns the sources of the roots: files, or walletb's https URL; empty for none. The default in
 * staging is the sandbox's.
 */
export function rootSourcesOf(settings: TrustSettings) {
  const sandbox = join(resolve(settings.dataDir), "bank", "wallets");
  const isStaging = settings.environment === "staging";
  const sourceOf = (source: string, file: string) =>
    source === "" && isStaging ? join(sandbox, file) : source;
  return {
    walleta: sourceOf(settings.walletaRootsFile, "walleta-root.pem"),
    walletb: sourceOf(settings.walletbRootKeys, "walletb-root-keys.json"),
  };
}

/**
 * Returns the authority of walleta's server in staging, which the sandbox simulates with a
 * certificate of its own.
 */
export function sandboxAuthorityOf({ environment, dataDir }: TrustSettings): string | undefined {
  const file = join(resolve(dataDir), "bank", "tls", "directory-ca.pem");
  return environment === "staging" ? file : undefined;
}

type RootDependencies = {
  readonly sources: ReturnType<typeof rootSourcesOf>;
  readonly clock: Clock;
  readonly onError: (wallet: Wallet, cause: string) => void;
};

const fetchTimeoutMs = 10_000;
const hourMs = 3_600_000;
const rootRetryMs = 60_000;
const freshMinMs = 300_000;
const freshMaxMs = 7 * 24 * hourMs;

export async function openWalletRoots({ sources, clock, onError }: RootDependencies) {
  const walleta = await openRoots("walleta", readCertificates);
  const walletb = await openRoots("walletb", readRootKeysAt);
  return {
    walleta: walleta.current,
    walletb: walletb.current,
    stop() {
      walleta.stop();
      walletb.stop();
    },
  };

  /** Each wallet has its own timer, because a failure of one must not delay the other. */
  async function openRoots<Root>(wallet: Wallet, read: (source: string) => Promise<Fresh<Root>>) {
    const source = sources[wallet];
    let cancelRefresh = () => {};
    const roots = await openReloadable<readonly Root[]>({
      async read(present = []) {
        if (source === "") return present;
        const fresh = await read(source).catch((error) => {
          onError(wallet, error instanceof Error ? error.message : String(error));
          return { roots: present, freshMs: rootRetryMs };
        });
        cancelRefresh = clock.after(fresh.freshMs, () => void roots.reload());
        return fresh.roots;
      },
      onError: (error) => onError(wallet, String(error)),
    });
    return { current: roots.current, stop: () => cancelRefresh() };
  }
}

type Fresh<Root> = { readonly roots: readonly Root[]; readonly freshMs: number };

/**
 * Returns all certificates or throws, because a file that is being written must not replace the
 * known certificates.
 */
async function readCertificates(file: string): Promise<Fresh<string>> {
  const text = await readFile(file, "utf8");
  const found = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (found.length === 0) throw new Error("there is no certificate in it");
  return { roots: found.map((pem) => new X509Certificate(pem).toString()), freshMs: hourMs };
}

async function readRootKeysAt(source: string): Promise<Fresh<RootKey>> {
  const { text, freshMs } = source.startsWith("https://")
    ? await fetchText(source)
    : { text: await readFile(source, "utf8"), freshMs: hourMs };
  const roots = readRootKeys(text);
  if (roots instanceof WalletFault) throw new Error(roots.reason);
  return { roots, freshMs };
}

async function fetchText(url: string) {
  const signal = AbortSignal.timeout(fetchTimeoutMs);
  const response = await fetch(url, { redirect: "error", signal });
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  return { text: await response.text(), freshMs: freshnessOf(response.headers) };
}

/** Returns the duration in the publisher's caching header, within limits. */
export function freshnessOf(headers: Headers): number {
  const [, seconds] = /(?:^|[\s,])max-age=(\d+)/i.exec(headers.get("cache-control") ?? "") ?? [];
  const age = headers.get("age") ?? "";
  // The text is checked, because a proxy may have written anything there.
  const ageMs = /^\d{1,10}$/.test(age) ? Number(age) * 1000 : 0;
  const freshMs = seconds === undefined ? hourMs : Number(seconds) * 1000 - ageMs;
  return Math.min(Math.max(freshMs, freshMinMs), freshMaxMs);
}
