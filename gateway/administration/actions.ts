/** All actions, by subject. A subject's rows are loaded when one of them is used. */
import type { Action } from "./action.ts";
import { type Texts, texts } from "./field.ts";

export type Subject = {
  /** The first word of its actions. */
  readonly name: string;
  readonly does: Texts;
  readonly load: () => Promise<readonly Action[]>;
  /** What words between the subject's name and an action's last word stand for. */
  readonly groups?: Readonly<Record<string, string>>;
};

// biome-ignore format: a table
export const subjects: readonly Subject[] = [
  { name: "audit",     does: texts("who changed what, from where, and why: list, verify", "wer was von wo und warum geändert hat: auflisten, prüfen"), load: async () => (await import("./installation/audit.ts")).auditActions },
  { name: "user",      does: texts("people and their roles", "Personen und ihre Rollen"), load: async () => (await import("./installation/users.ts")).userActions },
  { name: "access-review", does: texts("print all users with role, last use, factors and who admitted them", "alle Benutzer ausgeben: Rolle, letzte Nutzung, Faktoren, und wer sie zugelassen hat"), load: async () => (await import("./installation/users.ts")).accessReviewActions },
  { name: "approval",  does: texts("what waits for a second person: list, give", "was auf eine zweite Person wartet: auflisten, zulassen"), load: async () => (await import("./installation/approvals.ts")).approvalActions },
  { name: "apply",     does: texts("make the configuration what a file says, in one transaction", "die Konfiguration in einer Transaktion zu dem machen, was eine Datei sagt"), load: async () => (await import("./apply/apply.ts")).applyActions },
  { name: "export",    does: texts("write the configuration as a file for gw apply, without secrets", "die Konfiguration als Datei für gw apply schreiben, ohne Geheimnisse"), load: async () => (await import("./apply/apply.ts")).exportActions },
  { name: "merchant",  does: texts("create, show and change merchants", "Händler anlegen, zeigen und ändern"), load: async () => (await import("./merchants/merchants.ts")).merchantActions, groups: { "control-key": "the key of a merchant's checksums", key: "public keys of a merchant's OAuth signatures" } },
  { name: "cell",      does: texts("cells: the databases and schemas that merchants' orders are in", "Zellen: die Datenbanken und Schemas, in denen die Zahlungen der Händler liegen"), load: async () => (await import("./installation/cells.ts")).cellActions },
  { name: "directory", does: texts("directory servers of 3-D Secure, and their card ranges", "Directory-Server von 3-D Secure und ihre Kartenbereiche"), load: async () => (await import("./gates/directories.ts")).directoryActions },
  { name: "gate",      does: texts("gates: the connections to acquirers", "Gates: die Verbindungen zu Acquirern"), load: async () => (await import("./gates/gates.ts")).gateActions, groups: { "mac-key": "the keys that authenticate a gate's messages" } },
  { name: "endpoint",  does: texts("create and change endpoints", "Endpunkte anlegen und ändern"), load: async () => (await import("./merchants/endpoints.ts")).endpointActions },
  { name: "group",     does: texts("create and change endpoint groups", "Gruppen von Endpunkten anlegen und ändern"), load: async () => (await import("./merchants/groups.ts")).groupActions },
  { name: "wallet",    does: texts("merchants' identifiers at wallets, and the keys for their payment data", "Kennungen der Händler bei Wallets und die Schlüssel für ihre Zahlungsdaten"), load: async () => (await import("./installation/wallets.ts")).walletActions, groups: { "domain-file": "files by which wallets check the domain", key: "the keys that wallets encrypt for" } },
  { name: "filter",    does: texts("the rules of screening: add, list, change, try on past orders", "die Regeln der Prüfung: anlegen, auflisten, ändern, an früheren Zahlungen proben"), load: async () => (await import("./screening/filters.ts")).filterActions, groups: { add: "add a rule; its kinds are commands" } },
  { name: "list",      does: texts("the allow and block lists of screening: add, show, remove, import, export", "die Erlaubnis- und Sperrlisten der Prüfung: hinzufügen, zeigen, entfernen, importieren, exportieren"), load: async () => (await import("./screening/lists.ts")).listActions },
  { name: "order",     does: texts("list, export and show orders", "Zahlungen auflisten, exportieren und zeigen"), load: async () => (await import("./orders/orders.ts")).orderActions },
  { name: "link",      does: texts("payment links: create, list, show, close", "Zahlungslinks: anlegen, auflisten, zeigen, schließen"), load: async () => (await import("./merchants/links.ts")).linkActions },
  { name: "doubt",     does: texts("orders in doubt: it is not known whether the bank processed the transaction", "ungeklärte Zahlungen: es ist nicht bekannt, ob die Bank die Transaktion ausgeführt hat"), load: async () => (await import("./orders/doubts.ts")).doubtActions },
  { name: "reconcile", does: texts("compare a day of a gate with the acquirer's settlement file or its host", "einen Tag eines Gates mit der Abrechnungsdatei des Acquirers oder seinem Host vergleichen"), load: async () => (await import("./orders/reconcile.ts")).reconcileActions },
  { name: "chargeback", does: texts("chargebacks: import the acquirer's file, list", "Rückbelastungen: die Datei des Acquirers einlesen, auflisten"), load: async () => (await import("./orders/chargebacks.ts")).chargebackActions },
  { name: "bin",       does: texts("load and search the BIN table: which bank issued a card", "die BIN-Tabelle laden und durchsuchen: welche Bank eine Karte ausgegeben hat"), load: async () => (await import("./gates/bins.ts")).binActions },
  { name: "card",      does: texts("show and remove registered cards", "registrierte Karten zeigen und entfernen"), load: async () => (await import("./orders/cards.ts")).cardActions },
  { name: "privacy",   does: texts("erase a person's data on request", "die Daten einer Person auf Verlangen löschen"), load: async () => (await import("./orders/privacy.ts")).privacyActions },
  { name: "callback",  does: texts("callbacks to merchants: list, show every attempt, send again", "Callbacks an Händler: auflisten, alle Versuche zeigen, noch einmal senden"), load: async () => (await import("./orders/callbacks.ts")).callbackActions },
  { name: "key",       does: texts("the vault's keys, and the key-encryption key that seals them", "die Schlüssel des Tresors und der Hauptschlüssel, der sie versiegelt"), load: async () => (await import("./installation/keys.ts")).keyActions },
];

export async function findAction(name: string): Promise<Action | undefined> {
  const subject = subjects.find((each) => each.name === name.split(" ")[0]);
  return (await subject?.load())?.find((action) => action.name === name);
}

export async function loadAllActions(): Promise<readonly Action[]> {
  return (await Promise.all(subjects.map(({ load }) => load()))).flat();
}
