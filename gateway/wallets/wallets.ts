/**
 * The wallets of a node: keys, roots, the thread that opens payment data, and merchants' sessions.
 */
import {
  makeMerchantSessions,
  readAuthorities,
  type SessionDependencies,
} from "./merchant-session.ts";
import { makeOpenWallets, type OpeningDependencies } from "./open-wallet.ts";
import { startWalletWorker } from "./payment-data.ts";
import {
  openWalletKeys,
  openWalletRoots,
  type ReadKeys,
  rootSourcesOf,
  sandboxAuthorityOf,
  type TrustSettings,
} from "./wallet-trust.ts";

type Options = Pick<
  OpeningDependencies,
  "clock" | "digest" | "claimToken" | "releaseToken" | "eciOf"
> &
  Pick<SessionDependencies, "hosts" | "findUrlFault" | "lookup"> & {
    readonly settings: TrustSettings & { readonly walletSigningWindowMs: number };
    readonly signingWindowMaxMs: number;
    readonly readKeys: () => Promise<ReadKeys>;
    readonly observe: (wallet: "walleta" | "walletb", tookMs: number) => void;
    readonly onSessionRefused: (cause: string) => void;
    readonly log: (event: `wallet.${Event}`, facts: object) => void;
  };

type Event =
  | "roots_unreadable"
  | "key_unreadable"
  | "keys_reload_failed"
  | "worker_lost"
  | "token_release_failed"
  | "token_refused";

export type Wallets = Awaited<ReturnType<typeof openWallets>>;

export async function openWallets(options: Options) {
  const { clock, settings, signingWindowMaxMs, log } = options;
  const isStaging = settings.environment === "staging";
  const roots = await openWalletRoots({
    sources: rootSourcesOf(settings),
    clock,
    onError: (wallet, cause) => log("wallet.roots_unreadable", { wallet, cause }),
  });
  const keys = await openWalletKeys({
    read: options.readKeys,
    clock,
    onUnreadable: (key, cause) => log("wallet.key_unreadable", { key, cause }),
    onError: (error) => log("wallet.keys_reload_failed", { err: error }),
  });
  const walletWorker = startWalletWorker({
    clock,
    observe: options.observe,
    onLost: (cause) => log("wallet.worker_lost", { cause }),
  });
  return {
    ...makeOpenWallets({
      ...options,
      keysOf: keys.keysOf,
      trust: {
        roots,
        walletWorker,
        signingWindowMs: settings.walletSigningWindowMs,
        signingWindowMaxMs,
        allowSandboxSigner: isStaging,
      },
      onReleaseFailed: (error) => log("wallet.token_release_failed", { err: error }),
      onRefused: ({ type, endpoint }, { code, detail }) =>
        log("wallet.token_refused", { merchant: endpoint.merchant.login, type, code, detail }),
    }),
    sessions: makeMerchantSessions({
      ...options,
      allowsAnyPort: isStaging,
      authorities: () => readAuthorities(sandboxAuthorityOf(settings)),
      identitiesOf: (merchant) => keys.keysOf(merchant, "walleta-identity"),
      onRefused: ({ login }, cause) => options.onSessionRefused(`${login}: ${cause}`),
    }),
    /** Reads the keys again, because they may have been made, certified or removed. */
    reload: keys.reload,
    async stop() {
      roots.stop();
      keys.stop();
      await walletWorker.stop();
    },
  };
}
