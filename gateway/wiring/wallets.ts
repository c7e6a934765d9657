/** Wallets, wired: keys, roots, the wallet worker, and the tokens that were used before. */
import { makeAddressRules, makeLookup, makeResolve } from "../callbacks/addresses.ts";
import { partsOf, signingWindowMaxMs } from "../config/settings.ts";
import { makeSummary } from "../http/rate-limit.ts";
import { loadWalletKeys } from "../storage/cards/wallets.ts";
import { routeTokens } from "../storage/cells/routed-stores.ts";
import { eciOfToken } from "../threeds/authentication-outcome.ts";
import { makeMerchantSessions, portsOf, readAuthorities } from "../wallets/merchant-session.ts";
import { makeOpenWallets } from "../wallets/open-wallet.ts";
import {
  openWalletKeys,
  openWalletRoots,
  rootSourcesOf,
  sandboxAuthorityOf,
  type WalletKeys,
} from "../wallets/wallet-trust.ts";
import { startWalletWorker } from "../wallets/wallet-worker.ts";
import type { Resources } from "./resources.ts";

export type Wallets = Awaited<ReturnType<typeof openWallets>>;

export async function openWallets(resources: Resources) {
  const { config, clock, log, metrics, cells, vaultDatabase, vault } = resources;
  const roots = await openWalletRoots({
    sources: rootSourcesOf(config),
    clock,
    onError: (wallet, cause) => log("wallet.roots_unreadable", { wallet, cause }),
  });
  const keys = await openWalletKeys({
    read: () => loadWalletKeys(vaultDatabase.query, vault.openSecret),
    clock,
    onUnreadable: (key, cause) => log("wallet.key_unreadable", { key, cause }),
    onError: (error) => log("wallet.keys_reload_failed", { err: error }),
  });
  const walletWorker = startWalletWorker({
    clock,
    observe: (wallet, tookMs) => metrics.walletMs.observe({ wallet }, tookMs),
    onLost: (cause) => log("wallet.worker_lost", { cause }),
  });
  const opening = makeOpenWallets({
    clock,
    keysOf: keys.keysOf,
    trust: {
      roots,
      walletWorker,
      signingWindowMs: config.walletSigningWindowMs,
      signingWindowMaxMs,
      allowSandboxSigner: config.environment === "staging",
    },
    digest: vault.digest,
    ...routeTokens(cells, clock, { retryMs: config.acceptRetryMs }),
    onReleaseFailed: (error) => log("wallet.token_release_failed", { err: error }),
    onRefused: ({ type, endpoint }, { code, detail }) =>
      log("wallet.token_refused", { merchant: endpoint.merchant.login, type, code, detail }),
    eciOf: (wallet, { number }) => eciOfToken(wallet, number.network),
  });
  return {
    ...opening,
    sessions: makeSessions(resources, keys.keysOf),
    /** Keys may have been made, certified or removed. */
    reload: keys.reload,
    async stop() {
      roots.stop();
      keys.stop();
      await walletWorker.stop();
    },
  };
}

/** As for callbacks: no address inside the operator's network, except the sandbox's in staging. */
function makeSessions({ config, clock, log }: Resources, keysOf: WalletKeys["keysOf"]) {
  const isStaging = config.environment === "staging";
  const hosts = partsOf(config.walletaHosts);
  const rules = makeAddressRules({
    ports: portsOf(hosts),
    allowsLoopback: isStaging,
    privateNetworks: [],
    names: [],
  });
  const refusals = makeSummary(clock, (cause, count) =>
    log("wallet.session_refused", { cause, count }),
  );
  return makeMerchantSessions({
    hosts,
    allowsAnyPort: isStaging,
    findUrlFault: (url) => rules.findUrlFault(url),
    lookup: makeLookup(rules, makeResolve(rules.isNamed)),
    authorities: () => readAuthorities(sandboxAuthorityOf(config)),
    identitiesOf: (merchant) => keysOf(merchant, "walleta-identity"),
    onRefused: ({ login }, cause) => refusals.add(`${login}: ${cause}`),
  });
}
