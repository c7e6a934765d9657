/** Builds 3-D Secure over the vault's cards and the configured endpoints. */
import { allowsHttp } from "../config/config.ts";
import type { Order } from "../orders/order.ts";
import type { Directories } from "../threeds/directories.ts";
import { makeThreeDs as make } from "../threeds/threeds.ts";
import type { Resources } from "./resources.ts";

type Used = Pick<Resources, "config" | "clock" | "log" | "vault" | "pendingCards"> &
  Pick<Resources, "configuration" | "baseUrl">;

type Parts = {
  /** The directory server and the enrolment of a card. */
  readonly directories: Pick<Directories, "find" | "findEnrolment">;
  readonly resultsUrl: (directory: string) => string;
};

export function makeThreeDs(
  { config, clock, log, vault, pendingCards, configuration, baseUrl }: Used,
  { directories, resultsUrl }: Parts,
) {
  return make({
    settings: config,
    clock,
    log,
    pendingCards,
    directories,
    resultsUrl,
    baseUrl,
    tokenOf: vault.tokenOf,
    isToken: vault.isToken,
    allowHttp: allowsHttp(config),
    timeoutMs: config.directoryTimeoutMs,
    getEndpoint: configuration.getEndpoint,
    findCard: ({ merchantId, card }: Order) => vault.findCard(merchantId, card.cardId),
    /** As the order's gate is configured now. */
    findMerchant: ({ transaction: { identifiers } }: Order) =>
      identifiers && configuration.current().gates.get(identifiers.gate.id)?.settings,
  });
}
