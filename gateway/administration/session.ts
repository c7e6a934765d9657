/** The values that an action works with, and the output that it returns. */
import { text } from "node:stream/consumers";
import { abilitiesOf } from "../acquirers/iso8583-host/connector.ts";
import type { CallbackRequest, DeliveryAttempt } from "../callbacks/callback.ts";
import type { Config } from "../config/config.ts";
import type { FollowUpTerms, Order } from "../orders/order.ts";
import type { Accepted } from "../orders/requests.ts";
import { makeKeyStore } from "../storage/cards/vault-keys.ts";
import type { Cells } from "../storage/cells/cells.ts";
import { routeFindSealedCard } from "../storage/cells/routed-stores.ts";
import type { makeAdministration } from "../storage/configuration/administration.ts";
import { type Configuration, loadConfiguration } from "../storage/configuration/configuration.ts";
import type { Actor, Audit } from "../storage/people/audit.ts";
import type { Database } from "../storage/server/database.ts";
import type { Failure } from "../values/failure.ts";
import type { MerchantId } from "../values/ids.ts";
import type { Problem } from "../values/problem.ts";
import type { Role } from "../values/roles.ts";
import { Secret } from "../values/secret.ts";
import type { Instant } from "../values/time.ts";
import { openKeys } from "../vault/keys.ts";
import { makeVault, type Vault } from "../vault/vault.ts";
import type { Content } from "./field.ts";

/** An open installation. It has the database rights of the login that opened it. */
export type Opened = {
  readonly config: Config;
  readonly database: Database;
  readonly cells: Cells;
  readonly masterKey: Uint8Array;
  /** The node's vault, for the portal's actions: a node's login may not read its tables. */
  readonly vault?: Vault | undefined;
  /** Returns undefined if the action only reads and no key-encryption key is available. */
  readonly openKnown: () => Promise<Vault["openSecret"] | undefined>;
  readonly actor: Actor;
  readonly audit: Audit;
  readonly auditAs: (by: Partial<Actor>) => Audit;
};

export type Lines = Readonly<Record<string, unknown>>;
export type Block = string | Lines | readonly Lines[];

/** The output of an action: blocks of text for people, and a value for programs. */
export class Report {
  readonly value: Lines | readonly Lines[];
  readonly blocks: readonly Block[];

  constructor(value: Lines | readonly Lines[], ...blocks: readonly Block[]) {
    this.value = value;
    this.blocks = blocks;
  }
}

/** The rows of a table that is printed row by row, because it may not fit into memory. */
export class Rows {
  readonly rows: AsyncIterable<Lines>;
  /** The names of the columns, so that even a CSV file without rows has its header line. */
  readonly names: readonly string[] | undefined;

  constructor(rows: AsyncIterable<Lines>, names?: readonly string[]) {
    this.rows = rows;
    this.names = names;
  }
}

export type Output = Block | Report | Rows | Problem | undefined;

export type Session = Opened & {
  readonly administration: ReturnType<typeof makeAdministration>;
  /**
   * If true, the audit's transaction is rolled back, so the action must not write outside of it.
   */
  readonly isTrial: boolean;
  readonly findings: Findings;
  readonly printDate: (instant: Instant) => string;
  /** Returns the time of the database's clock, which all nodes share. */
  readonly now: () => Promise<Instant>;
  readonly reason: string | undefined;
  /** Undefined on the command line. */
  readonly user?: PortalUser | undefined;
  readonly report: (sentence: string) => void;
  readonly warn: (sentence: string) => void;
  /** Asks the user at the terminal. Without a terminal, the answer is no. */
  readonly confirm: (question: string) => Promise<boolean>;
  readonly progress: (unit: string) => (count: number) => void;
  readonly node?: RunningNode | undefined;
  /** The id of a form, which a browser may send twice. Only one object is created for an id. */
  readonly once?: string | undefined;
  /** The version of the order that the user has seen. A later version is not changed. */
  readonly seen?: number | undefined;
};

export type PortalUser = {
  readonly role: Role;
  /** The user's merchant. Undefined for an operator. */
  readonly merchantId: MerchantId | undefined;
};

/** Operations that need a running node: its engine and its connections to the hosts. */
export type RunningNode = {
  /** Begins a capture, a return or a void as the merchant's own request would. */
  followUp(
    order: Order,
    terms: FollowUpTerms,
  ): Promise<Pick<Accepted, "transaction" | "repeated"> | Failure>;
  /** Updates the portal's index after an action has changed the order. */
  noteStep(order: Order): void;
  /** Sends a test callback for a user of this merchant, or for an operator. */
  sendTest(
    message: CallbackRequest,
    merchant: MerchantId | undefined,
  ): Promise<DeliveryAttempt | Problem>;
  now(): Instant;
};

/** A finding is a problem that a person has to examine, such as a difference in the books. */
type Findings = { note(): void; exist(): boolean };

export function makeFindings(): Findings {
  let found = false;
  return {
    note() {
      found = true;
    },
    exist: () => found,
  };
}

export function readContent({ open }: Content): Promise<string> {
  return text(open());
}

export async function openVault(
  opened: Pick<Opened, "database" | "masterKey" | "cells" | "vault">,
): Promise<Vault> {
  if (opened.vault !== undefined) return opened.vault;
  const { database, masterKey, cells } = opened;
  const keys = await openKeys(masterKey, makeKeyStore(database.query));
  return makeVault(keys, routeFindSealedCard(cells));
}

/** Replaces decryption for actions that only read and have no key: every secret is empty. */
export const leaveSealed: Vault["openSecret"] = () => new Secret("");

export async function readConfiguration({
  database,
  openKnown,
}: Pick<Opened, "database" | "openKnown">): Promise<Configuration> {
  const open = (await openKnown()) ?? leaveSealed;
  return database.snapshot((query) => loadConfiguration(query, open, abilitiesOf));
}
