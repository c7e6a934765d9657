/**
 * The table of commands that concern the machine or the terminal. Its rows have the form of the
 * administration's actions, and the help, the parser and the documents of the command line are made
 * from both tables.
 */
import {
  type Action,
  type ActionRow,
  action,
  type Mode,
  noFields,
} from "../administration/action.ts";
import { type Fields, type Given, type Help, textsOf } from "../administration/field.ts";
import type { Output, Session } from "../administration/session.ts";
import type { Installation } from "../installation/installation.ts";
import type { Right } from "../values/roles.ts";

/** The session of an action with the complete installation that the command line has opened. */
export type MachineSession = Session &
  Installation & {
    /** Whether the user asks for output in the form for programs. */
    readonly json: boolean;
  };

type Described = Pick<Action, "name" | "does" | "fields" | "showsProgress" | "needsReason">;
/** Options of every command, which are not fields of a row. */
export type Terminal = {
  readonly json: boolean;
  readonly reason: string | undefined;
};

/**
 * A command that needs no installation, or that opens one itself and then checks the user's right.
 */
export type OwnCommand = Described &
  Partial<Pick<Action, "right" | "mode">> & {
    readonly run: (given: never, terminal: Terminal) => Promise<Output> | Output;
  };

type Installed<Taken extends Fields> = Omit<ActionRow<Taken>, "perform"> & {
  readonly perform: (session: MachineSession, given: Given<Taken>) => Promise<Output> | Output;
};

/** Makes a command that works on the installation, with the right and the audit of an action. */
export function installed<const Taken extends Fields = typeof noFields>(
  mode: Mode,
  right: Right,
  row: Installed<Taken>,
): Action {
  return action(mode, right, {
    ...row,
    commandLineOnly: "it belongs to a machine",
    // The command line has opened the installation, so the session is complete.
    perform: (session, given: Given<Taken>) => row.perform(session as MachineSession, given),
  });
}

type Own<Taken extends Fields> = Omit<OwnCommand, "does" | "fields" | "run"> & {
  readonly does?: Help;
  readonly fields?: Taken;
  readonly run: (given: Given<Taken>, terminal: Terminal) => Promise<Output> | Output;
};

export function ownCommand<const Taken extends Fields = typeof noFields>(
  row: Own<Taken>,
): OwnCommand {
  return { fields: noFields, ...row, does: textsOf(row.does) };
}
