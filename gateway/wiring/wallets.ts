/** Wallets, wired: keys, roots, the wallet worker, and the tokens that were used before. */
import type { Config } from "../config/config.ts";
import { signingWindowMaxMs } from "../config/settings.ts";
import type { Log } from "../observability/log.ts";
import type { Metrics } from "../observability/metrics.ts";
import type { Database } from "../storage/database.ts";
import { loadWalletKeys, makeClaimToken, makeReleaseToken } from "../storage/wallets.ts";
import { eciOf } from "../threeds/authentication-outcome.ts";
import type { Clock } from "../values/time.ts";
import type { Vault } from "../vault/vault.ts";
import { makeOpenWallet } from "../wallets/open-wallet.ts";
import { openWalletKeys, openWalletRoots, rootSourcesOf } from "../wallets/wallet-trust.ts";
import { startWalletWorker } from "../wallets/wallet-worker.ts";

export type Wallets = Awaited<ReturnType<typeof openWallets>>;

type Dependencies = {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly databases: { readonly node: Database; readonly vault: Database };
  readonly vault: Vault;
};

export async function openWallets(dependencies: Dependencies) {
  const { config, clock, log, metrics, databases, vault } = dependencies;
  const roots = await openWalletRoots({
    sources: rootSourcesOf(config),
    clock,
    onError: (wallet, cause) => log("wallet.roots_unreadable", { wallet, cause }),
  });
  const keys = await openWalletKeys({
    read: () => loadWalletKeys(databases.vault.query, vault.openSecret),
    clock,
    onUnreadable: (key, cause) => log("wallet.key_unreadable", { key, cause }),
    onError: (error) => log("wallet.keys_reload_failed", { err: error }),
  });
  const walletWorker = startWalletWorker({
    clock,
    observe: (wallet, tookMs) => metrics.walletMs.observe({ wallet }, tookMs),
    onLost: (cause) => log("wallet.worker_lost", { cause }),
  });
  const open = makeOpenWallet({
    clock,
    keysOf: keys.keysOf,
    trust: {
      ...{ roots, walletWorker, signingWindowMs: config.walletSigningWindowMs, signingWindowMaxMs },
      allowSandboxSigner: config.environment === "staging",
    },
    digest: vault.digest,
    claimToken: makeClaimToken(databases.node.hot, clock),
    releaseToken: makeReleaseToken(databases.node.query),
    onReleaseFailed: (error) => log("wallet.token_release_failed", { err: error }),
    onRefused: ({ type, endpoint }, { code, detail }) =>
      log("wallet.token_refused", { merchant: endpoint.merchant.login, type, code, detail }),
    eciOf: ({ number }) => eciOf(number.network, "full"),
  });
  return {
    open,
    /** Keys may have been made, certified or removed. */
    reload: keys.reload,
    async stop() {
      roots.stop();
      keys.stop();
      await walletWorker.stop();
    },
  };
}
