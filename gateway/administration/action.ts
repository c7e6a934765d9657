/**
 * An action is what an operator or a merchant's user can do: what it takes, who may do it, and the
 * function that performs it. The command line, the portal's forms, their rights, the audit and the
 * documents are made from these rows.
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
  /** The command's words, like `endpoint set`. */
  readonly name: string;
  readonly does: Texts;
  readonly right: Right;
  /** Where the subject decides it: returns the right that takes the place of `right`. */
  readonly findRight?: Find<Right>;
  readonly mode: Mode;
  readonly fields: Fields;
  /**
   * Returns the merchant that the subject belongs to: users of that merchant may perform the action
   * within the rights of their role. An action without it is for operators.
   */
  readonly findOwner?: FindOwner;
  /** `true`: the command line asks for `--why`, as the portal does for every change but `false`. */
  readonly needsReason?: boolean;
  /** `true`: where GW_SECOND_PERSON is on. A function decides by what is given. */
  readonly needsSecondPerson?: true | NeedsSecondPerson<never>;
  /**
   * `minutes`: reads many rows or asks a host, so that it has no preview and a node performs one at
   * a time. `hours`: the portal only starts it; the audit has its end.
   */
  readonly duration?: "minutes" | "hours";
  /** Computes the hash of a password, for which few requests at a time get memory and a thread. */
  readonly computesPassword?: true;
  /** Says how far it is, like an action with a duration; it has a preview all the same. */
  readonly showsProgress?: true;
  /**
   * Says how a file for `gw apply` expresses the action, if it can: `exported` in the form that
   * `gw export` writes, `beside` by naming a file that contains the key, `otherwise` by other steps
   * with the same result.
   */
  readonly inFile?: "exported" | "beside" | "otherwise";
  /** Why the portal does not offer it. */
  readonly commandLineOnly?: string;
  /** Needs the engine of a running node, which the command line does not have. */
  readonly needsNode?: boolean;
  /** Takes the values that `readGiven` has read by the row's own fields. */
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
/** The row that an author of an action writes. */
export type ActionRow<Taken extends Fields> = Omit<Action, Made> & {
  /** Left out where the subject, which has no other action, says it. */
  readonly does?: Help;
  readonly fields?: Taken;
  readonly needsSecondPerson?: true | NeedsSecondPerson<Given<Taken>>;
  readonly findOwner?: Find<MerchantId, Given<Taken>>;
  readonly findRight?: Find<Right, Given<Taken>>;
  readonly perform: (session: Session, given: Given<Taken>) => Promise<Output> | Output;
};

/** Checks that `perform` takes what the fields give. */
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

/** Whether the portal performs it. */
export function isOffered({ commandLineOnly }: Action): boolean {
  return commandLineOnly === undefined;
}
