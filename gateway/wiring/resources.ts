/** What every part of a node uses: settings, databases, clock, log, metrics, vault. */
import type { Config } from "../config/config.ts";
import type { Log } from "../observability/log.ts";
import { makeMetrics } from "../observability/metrics.ts";
import { makeFindSealedCard, makePendingCardStore } from "../storage/cards.ts";
import type { Database } from "../storage/database.ts";
import { makeCvvKeyStore, makeKeyStore } from "../storage/vault-keys.ts";
import { type Clock, systemClock } from "../values/time.ts";
import { openKeys } from "../vault/keys.ts";
import { makePendingCards } from "../vault/pending-cards.ts";
import { makeRequestDigests } from "../vault/request-digests.ts";
import { makeVault } from "../vault/vault.ts";

export type ResourceOptions = {
  readonly config: Config;
  /** The vault reaches its tables by connections of its own. */
  readonly databases: { readonly node: Database; readonly vault: Database };
  readonly masterKey: Uint8Array;
  readonly log: Log;
  readonly clock?: Clock;
};

export type Resources = Awaited<ReturnType<typeof openResources>>;

export async function openResources(options: ResourceOptions) {
  const { config, databases, masterKey, log, clock = systemClock } = options;
  const { query, hot } = databases.vault;
  const keys = await openKeys(masterKey, makeKeyStore(query));
  const lasting = { retryMs: config.acceptRetryMs };
  return {
    ...{ config, log, clock, keys, metrics: makeMetrics() },
    database: databases.node,
    vaultDatabase: databases.vault,
    vault: makeVault(keys, makeFindSealedCard(hot, lasting)),
    pendingCards: makePendingCards(keys, makePendingCardStore(query, lasting)),
    digests: makeRequestDigests({ keys, clock, store: makeCvvKeyStore(query) }),
  };
}
