/**
 * An action is something that an operator or a merchant's user can do. Its row says which fields it
 * takes, which right it needs and which function performs it. The command line, the portal's forms,
 * their rights, the audit and the documents are made from these rows.
 */
import type { MerchantId } from "../values/ids.ts";
import type { Right } from "../values/roles.ts";
import { type Field, type Fields, type Given, type Help, type Texts, textsOf } from "./field.ts";
import type { Output, Session } from "./session.ts";

/**
 * `look` needs neither the key-encryption key nor the vault. `keys` needs them and changes nothing.
 * `change` writes its audit entry in the transaction of the change. `record` takes more than one
 * transaction: it writes one entry before the work and one with the outcome.
 */
export type Mode = "look" | "keys" | "change" | "record";

export type Action = {
  /** The words of the command, like `endpoint set`. */
  readonly name: string;
  readonly does: Texts;
  readonly right: Right;
  /** Returns the right that replaces `right`, for an action whose right depends on its subject. */
  readonly findRight?: Find<Right>;
  readonly mode: Mode;
  readonly fields: Fields;
  /**
   * Returns the merchant that the subject belongs to: users of that merchant may perform the action
   * within the rights of their role. An action without it is for operators.
   */
  readonly findOwner?: FindOwner;
  /**
   * If true, the command line requires `--why`. The portal requires a reason for every change,
   * unless this is false.
   */
  readonly needsReason?: boolean;
  /**
   * If true, the action needs a second person where GW_SECOND_PERSON is on. A function decides from
   * the given values instead.
   */
  readonly needsSecondPerson?: true | NeedsSecondPerson<never>;
  /**
   * An action of `minutes` reads many rows or asks a host: it has no preview, and a node performs
   * one at a time. The portal only starts an action of `hours`, and the audit records its end.
   */
  readonly duration?: "minutes" | "hours";
  /**
   * If true, the action computes the hash of a password. Only a few requests at a time get the
   * memory and the thread for it.
   */
  readonly computesPassword?: true;
  /**
   * If true, the action reports its progress, like an action with a duration, but also has a
   * preview.
   */
  readonly showsProgress?: true;
  /**
   * Says how a file for `gw apply` can express the action: `exported` in the form that `gw export`
   * writes, `beside` by naming a file that contains the key, `otherwise` by other steps with the
   * same result. Undefined if a file cannot express it.
   */
  readonly inFile?: "exported" | "beside" | "otherwise";
  /** The reason why the portal does not offer the action. */
  readonly commandLineOnly?: string;
  /**
   * If true, the action needs the engine of a running node, which the command line does not have.
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
/** A row as it is written in the tables of actions. */
export type ActionRow<Taken extends Fields> = Omit<Action, Made> & {
  /**
   * The text of the action. It may be omitted if the action is the only one of its subject, whose
   * text then describes it.
   */
  readonly does?: Help;
  readonly fields?: Taken;
  readonly needsSecondPerson?: true | NeedsSecondPerson<Given<Taken>>;
  readonly findOwner?: Find<MerchantId, Given<Taken>>;
  readonly findRight?: Find<Right, Given<Taken>>;
  readonly perform: (session: Session, given: Given<Taken>) => Promise<Output> | Output;
};

/** Makes an action. The types check that `perform` takes the values that the fields give. */
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
