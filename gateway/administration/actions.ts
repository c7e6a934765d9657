/** All actions, by subject. A subject's file is loaded when one of its actions is used. */
import type { Action } from "./action.ts";

export type Subject = {
  /** The first word of the names of its actions, like `endpoint`. */
  readonly name: string;
  readonly does: string;
  readonly load: () => Promise<readonly Action[]>;
  /** Descriptions of the words in the middle of a name, like `mac-key` in `gate mac-key set`. */
  readonly groups?: Readonly<Record<string, string>>;
};

// biome-ignore format: a table
export const subjects: readonly Subject[] = [
  { name: "audit",     does: "who changed what, from where, and why: list, verify", load: async () => (await import("./installation/audit.ts")).auditActions },
  { name: "user",      does: "people and their roles", load: async () => (await import("./installation/users.ts")).userActions },
  { name: "access-review", does: "print all users with role, last use, factors and who admitted them", load: async () => (await import("./installation/users.ts")).accessReviewActions },
  { name: "approval",  does: "what waits for a second person: list, give", load: async () => (await import("./installation/users.ts")).approvalActions },
  { name: "apply",     does: "make the configuration what a file says, in one transaction", load: async () => (await import("./apply/apply.ts")).applyActions },
  { name: "export",    does: "write the configuration as a file for gw apply, without secrets", load: async () => (await import("./apply/apply.ts")).exportActions },
  { name: "merchant",  does: "create, show and change merchants", load: async () => (await import("./merchants/merchants.ts")).merchantActions, groups: { "control-key": "the key of a merchant's checksums", key: "public keys of a merchant's OAuth signatures", report: "the transaction report that is sent to a merchant each day" } },
  { name: "cell",      does: "cells: the databases and schemas that merchants' orders are in", load: async () => (await import("./installation/cells.ts")).cellActions },
  { name: "directory", does: "directory servers of 3-D Secure, and their card ranges", load: async () => (await import("./gates/directories.ts")).directoryActions },
  { name: "gate",      does: "gates: the connections to acquirers", load: async () => (await import("./gates/gates.ts")).gateActions, groups: { "mac-key": "the keys that authenticate a gate's messages" } },
  { name: "endpoint",  does: "create and change endpoints", load: async () => [...(await import("./merchants/endpoints.ts")).endpointActions, ...(await import("./merchants/endpoint-callbacks.ts")).endpointCallbackActions], groups: { callback: "an endpoint's own callback URLs" } },
  { name: "route",     does: "the routing rules of endpoints: add, list, change, try on past orders", load: async () => (await import("./merchants/routes.ts")).routeActions },
  { name: "group",     does: "create and change endpoint groups", load: async () => (await import("./merchants/endpoints.ts")).groupActions },
  { name: "wallet",    does: "merchants' identifiers at wallets, and the keys for their payment data", load: async () => (await import("./installation/wallets.ts")).walletActions, groups: { "domain-file": "files by which wallets check the domain", key: "the keys that wallets encrypt for" } },
  { name: "filter",    does: "the rules of screening: add, list, change, try on past orders", load: async () => (await import("./screening/filters.ts")).filterActions, groups: { add: "add a rule; its kinds are commands" } },
  { name: "list",      does: "the allow and block lists of screening: add, show, remove, import, export", load: async () => (await import("./screening/lists.ts")).listActions },
  { name: "order",     does: "list, export and show orders", load: async () => (await import("./orders/orders.ts")).orderActions },
  { name: "report",    does: "write the transaction report of a merchant to standard output, as CSV or JSON lines", load: async () => (await import("./orders/report.ts")).reportActions },
  { name: "statement", does: "print a merchant's statement by day and currency, and what it is owed", load: async () => (await import("./orders/statement.ts")).statementActions },
  { name: "settlement", does: "what the operator has paid to merchants: book, list", load: async () => (await import("./orders/statement.ts")).settlementActions },
  { name: "link",      does: "payment links: create, list, show, close", load: async () => (await import("./merchants/links.ts")).linkActions },
  { name: "terminal",  does: "orders by mail or telephone: open a payment page for staff", load: async () => (await import("./merchants/links.ts")).terminalActions },
  { name: "doubt",     does: "orders in doubt: the gateway does not know whether the acquirer processed them", load: async () => (await import("./orders/doubts.ts")).doubtActions },
  { name: "reconcile", does: "compare a day of a gate with the acquirer's settlement file or its host", load: async () => (await import("./orders/reconcile.ts")).reconcileActions },
  { name: "chargeback", does: "chargebacks: import the acquirer's file, list", load: async () => (await import("./orders/chargebacks.ts")).chargebackActions },
  { name: "bin",       does: "load and search the BIN table: who issued a card", load: async () => (await import("./gates/bins.ts")).binActions },
  { name: "card",      does: "registered cards: show, remove, import, export", load: async () => (await import("./orders/privacy.ts")).cardActions },
  { name: "privacy",   does: "erase a person's data on request", load: async () => (await import("./orders/privacy.ts")).privacyActions },
  { name: "callback",  does: "callbacks to merchants: list, show every attempt, send again", load: async () => (await import("./orders/callbacks.ts")).callbackActions },
  { name: "key",       does: "the vault's keys, and the key-encryption key that seals them", load: async () => (await import("./installation/keys.ts")).keyActions },
];

export async function findAction(name: string): Promise<Action | undefined> {
  const subject = subjects.find((each) => each.name === name.split(" ")[0]);
  return (await subject?.load())?.find((action) => action.name === name);
}

export async function loadAllActions(): Promise<readonly Action[]> {
  return (await Promise.all(subjects.map(({ load }) => load()))).flat();
}
