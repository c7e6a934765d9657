/** Wallets wired together: keys, roots, what was paid with before. Part of what `main.ts` wires. */
import { join, resolve } from "node:path";
import type { Config } from "../config/config.ts";
import { signingWindowMaxMs } from "../config/settings.ts";
import type { Log } from "../observability/log.ts";
import type { Metrics } from "../observability/metrics.ts";
import type { Database } from "../storage/database.ts";
import { loadWalletKeys } from "../storage/wallet-keys.ts";
import { makeLetGoOfMessage, makeTakeMessage } from "../storage/wallet-messages.ts";
import { eciOf } from "../threeds/authentication-outcome.ts";
import type { Clock } from "../values/time.ts";
import type { Vault } from "../vault/vault.ts";
import { openLiveKeys } from "../wallets/live-keys.ts";
import { makeLiveRoots } from "../wallets/live-roots.ts";
import { makeOpenWallet, type OpenWallet } from "../wallets/open-wallet.ts";
import { startWalletWorker } from "../wallets/wallet-worker.ts";

export type Wallets = {
  readonly open: OpenWallet;
  /** Keys may have been made, certified or removed. */
  reload(): Promise<void>;
  stop(): Promise<void>;
};

type Dependencies = {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly databases: { readonly node: Database; readonly vault: Database };
  readonly vault: Vault;
};

export async function openWallets({ config, clock, log, metrics, databases, vault }: Dependencies) {
  const staging = config.environment === "staging";
  const roots = makeLiveRoots({
    sources: rootPlaces(config),
    clock,
    // A staging gateway without the sandbox bank has none.
    warn: (wallet, cause) => log("wallet.roots_unreadable", { wallet, cause }),
  });
  const keys = await openLiveKeys({
    read: () => loadWalletKeys(databases.vault.query, vault.openSecret),
    clock,
    warn: (cause, id) =>
      id === undefined
        ? log("wallet.keys_reload_failed", { err: cause })
        : log("wallet.key_unreadable", { key: id, cause }),
  });
  const walletWorker = startWalletWorker({
    clock,
    observe: (wallet, tookMs) => metrics.walletMs.observe({ wallet }, tookMs),
    onLost: (cause) => log("wallet.worker_lost", { cause }),
  });
  let callOff = () => {};
  await refresh();

  const letGo = makeLetGoOfMessage(databases.node.query);
  const open = makeOpenWallet({
    clock,
    keysOf: (merchant, wallet) =>
      keys.current().filter((key) => key.merchantId === merchant && key.wallet === wallet),
    roots,
    walletWorker,
    signingWindowMs: config.walletSigningWindowMs,
    signingWindowMaxMs,
    allowSandboxSigner: staging,
    digest: vault.digest,
    letGoOfMessage: (message) =>
      // The request is answered either way: what is not let go of stays used up.
      letGo(message).catch((error) => log("wallet.token_release_failed", { err: error })),
    takeMessage: makeTakeMessage(databases.node.hot, { batchMax: 256, inFlightMax: 1, clock }),
    // The order tells it to the merchant; an operator sees by it that all of one fail.
    onRefused: ({ type, endpoint }, { code, detail }) =>
      log("wallet.token_refused", { merchant: endpoint.merchant.login, type, code, detail }),
    eciOf: ({ number }) => eciOf(number.network, "full"),
  });
  const wallets: Wallets = {
    open,
    reload: keys.reload,
    async stop() {
      callOff();
      keys.stop();
      await walletWorker.stop();
    },
  };
  return wallets;

  async function refresh(): Promise<void> {
    const againMs = await roots.refresh();
    callOff = clock.after(againMs, () => void refresh());
  }
}

/** In staging those of the sandbox bank, unless others are set. */
function rootPlaces(config: Config) {
  const sandbox = join(resolve(config.dataDir), "bank", "wallets");
  const staged = config.environment === "staging";
  const otherwise = (place: string, file: string) =>
    place === "" && staged ? join(sandbox, file) : place;
  return {
    walletaFile: otherwise(config.walletaRootsFile, "walleta-root.pem"),
    walletbPlace: otherwise(config.walletbRootKeys, "walletb-root-keys.json"),
  };
}
