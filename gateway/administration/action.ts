/**
 * An action is something that an operator or a merchant's user can do. It is declared as a row of a
 * table, which says which fields it takes, which right it needs and which function performs it. The
 * command line, the portal's forms, the checks of rights, the audit and the documents are made from
 * these rows.
 */
import type { MerchantId } from "../values/ids.ts";
import type { Right } from "../values/roles.ts";
import { type Field, type Fields, type Given, type Help, type Texts, textsOf } from "./field.ts";
import type { Output, Session } from "./session.ts";

/**
 * The effect of an action on the installation. `look`: it only reads, and needs neither the
 * key-encryption key nor the vault. `keys`: it only reads, and needs both. `change`: it changes
 * something, and its audit entry is written in the transaction of the change. `record`: it takes
 * more than one transaction, and writes one audit entry before the work and another one with the
 * outcome.
 */
export type Mode = "look" | "keys" | "change" | "record";

export type Action = {
  /** The name as users type it after `gw`, like `endpoint set`. */
  readonly name: string;
  readonly does: Texts;
  readonly right: Right;
  /** Returns the right that replaces `right`, for an action whose right depends on its subject. */
  readonly findRight?: Find<Right>;
  readonly mode: Mode;
  readonly fields: Fields;
  /**
   * Returns the merchant that the subject belongs to: users of that merchant may perform the action
   * within the rights of their role. Only operators may perform an action that lacks this function.
   */
  readonly findOwner?: FindOwner;
  /**
   * If true, the command line requires a reason by `--why`. The portal requires a reason for every
   * change, except for actions for which this is false.
   */
  readonly needsReason?: boolean;
  /**
   * If true, the action needs the approval of a second person where GW_SECOND_PERSON is on. If it
   * is a function, the function decides this from the values that the user has given.
   */
  readonly needsSecondPerson?: true | NeedsSecondPerson<never>;
  /**
   * How long the action may take. An action of `minutes` reads many rows or asks a host: it has no
   * preview, and a node performs only one such action at a time. An action of `hours` continues
   * after the portal has answered its request, and the audit records its end.
   */
  readonly duration?: "minutes" | "hours";
  /**
   * If true, the action computes the hash of a password. A node computes only a few of these hashes
   * at the same time, because each takes much memory and a thread.
   */
  readonly computesPassword?: true;
  /**
   * If true, the action reports its progress, as actions with a `duration` do, and has a preview,
   * which they lack.
   */
  readonly showsProgress?: true;
  /**
   * How a configuration file for `gw apply` can have the same result as the action. `exported`: the
   * file contains the values in the form that `gw export` writes. `beside`: the file names another
   * file that contains the key. `otherwise`: the user changes other entries of the file. Undefined
   * if no configuration file can have this result.
   */
  readonly inFile?: "exported" | "beside" | "otherwise";
  /** The reason why the portal does not offer the action. */
  readonly commandLineOnly?: string;
  /**
   * If true, the action needs the engine of a running node: the portal offers it, and the command
   * line does not.
   */
  readonly needsNode?: boolean;
  /** Performs the action with the values that `readGiven` has read from the row's fields. */
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
/** An action as its subject's file declares it, before `action` completes it. */
export type ActionRow<Taken extends Fields> = Omit<Action, Made> & {
  /**
   * The help text of the action. It may be omitted if the action is the only one of its subject:
   * the help text of the subject is used then.
   */
  readonly does?: Help;
  readonly fields?: Taken;
  readonly needsSecondPerson?: true | NeedsSecondPerson<Given<Taken>>;
  readonly findOwner?: Find<MerchantId, Given<Taken>>;
  readonly findRight?: Find<Right, Given<Taken>>;
  readonly perform: (session: Session, given: Given<Taken>) => Promise<Output> | Output;
};

/**
 * Makes an action. The compiler checks that the function `perform` accepts the values of the
 * declared fields.
 */
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

/** Returns whether the portal offers the action. */
export function isOffered({ commandLineOnly }: Action): boolean {
  return commandLineOnly === undefined;
}
