/**
 * An action is something that an operator or a merchant's user can do, declared as a row of a
 * table. The command line, the portal's forms, the checks of rights, the audit and the documents
 * are made from these rows.
 */
import type { MerchantId } from "../values/ids.ts";
import type { Right } from "../values/roles.ts";
import { type Field, type Fields, type Given, type Help, type Texts, textsOf } from "./field.ts";
import type { Output, Session } from "./session.ts";

/**
 * The effect of an action on the installation. `look` only reads, and needs neither the
 * key-encryption key nor the vault; `keys` only reads, and needs both. `change` writes its audit
 * entry in the transaction of the change. `record` takes more than one transaction, and writes one
 * audit entry before the work and another one with the outcome.
 */
export type Mode = "look" | "keys" | "change" | "record";

export type Action = {
  readonly name: string;
  readonly does: Texts;
  readonly right: Right;
  /** Replaces `right` for an action whose right depends on its subject. */
  readonly findRight?: Find<Right>;
  readonly mode: Mode;
  readonly fields: Fields;
  /**
   * Returns the merchant whose users may perform the action within the rights of their role. Only
   * operators may perform an action that lacks this function.
   */
  readonly findOwner?: FindOwner;
  /**
   * If undefined, only the portal requires a reason for a change. If true, the command line does
   * too. If false, neither does.
   */
  readonly needsReason?: boolean;
  /**
   * Whether a second person must approve the action where `GW_SECOND_PERSON` is on. A function
   * decides this from the values that the user has given.
   */
  readonly needsSecondPerson?: true | NeedsSecondPerson<never>;
  /**
   * An action of `minutes` reads many rows or asks a host: it has no preview, and a node performs
   * only one such action at a time. An action of `hours` continues after the portal has answered
   * its request, and the audit records its end.
   */
  readonly duration?: "minutes" | "hours";
  /**
   * If true, the action hashes a password. A node computes few of these hashes at the same time,
   * because each takes much memory and a thread.
   */
  readonly computesPassword?: true;
  /**
   * If true, the action reports its progress and has a preview. Actions with a `duration` report
   * their progress too, but have no preview.
   */
  readonly showsProgress?: true;
  /**
   * How a configuration file for `gw apply` can have the result of the action. `exported`: by the
   * values that `gw export` writes. `beside`: by the name of another file, which contains a key.
   * `otherwise`: by values that belong to another action. Undefined: not at all.
   */
  readonly inFile?: "exported" | "beside" | "otherwise";
  /** The reason why the portal does not offer the action. */
  readonly commandLineOnly?: string;
  /** If true, the action needs a running node's engine, so the command line does not offer it. */
  readonly needsNode?: boolean;
  readonly perform: (session: Session, given: never) => Promise<Output> | Output;
};

type Find<Found, Taken = never> = (
  session: Pick<Session, "database" | "cells" | "openKnown" | "config" | "masterKey">,
  given: Taken,
) => Promise<Found | undefined>;
export type FindOwner = Find<MerchantId>;

type NeedsSecondPerson<Values> = (session: Session, given: Values) => boolean | Promise<boolean>;

type Made =
  | "mode"
  | "right"
  | "does"
  | "fields"
  | "perform"
  | "findOwner"
  | "findRight"
  | "needsSecondPerson";
/** An action as its file declares it, before `action` adds what all actions have in common. */
export type ActionRow<Taken extends Fields> = Omit<Action, Made> & {
  /** May be omitted if the action is the only one of its subject, whose help text is then used. */
  readonly does?: Help;
  readonly fields?: Taken;
  readonly needsSecondPerson?: true | NeedsSecondPerson<Given<Taken>>;
  readonly findOwner?: Find<MerchantId, Given<Taken>>;
  readonly findRight?: Find<Right, Given<Taken>>;
  readonly perform: (session: Session, given: Given<Taken>) => Promise<Output> | Output;
};

/** Lets the compiler check that `perform` accepts the values of the declared fields. */
export function action<const Taken extends Fields = typeof noFields>(
  mode: Mode,
  right: Right,
  row: ActionRow<Taken>,
): Action {
  return { fields: noFields, ...row, mode, right, does: textsOf(row.does) };
}

export const noFields: Readonly<Record<never, Field>> = {};

export function isChange({ mode }: Partial<Pick<Action, "mode">>): boolean {
  return mode === "change" || mode === "record";
}

export function isOffered({ commandLineOnly }: Action): boolean {
  return commandLineOnly === undefined;
}
