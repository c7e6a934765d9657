/**
 * Makes the commands that concern one machine or the terminal. The rows of these commands have the
 * same form as the administration's actions, so that the help, the parser and the documents of the
 * command line are made from both kinds of rows.
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

/**
 * The session that a command of the machine gets: the session of an action, together with the
 * complete installation that the command line has opened.
 */
export type MachineSession = Session &
  Installation & {
    /** Whether the user has given `--json`, which makes the command print JSON for programs. */
    readonly json: boolean;
  };

type Described = Pick<Action, "name" | "does" | "fields" | "showsProgress" | "needsReason">;
/** The options that every command has in addition to the fields of its own row. */
export type Terminal = {
  readonly json: boolean;
  readonly reason: string | undefined;
};

/**
 * A command that needs no installation, or that opens the installation itself and then checks the
 * user's right.
 */
export type OwnCommand = Described &
  Partial<Pick<Action, "right" | "mode">> & {
    readonly run: (given: never, terminal: Terminal) => Promise<Output> | Output;
  };

type Installed<Taken extends Fields> = Omit<ActionRow<Taken>, "perform"> & {
  readonly perform: (session: MachineSession, given: Given<Taken>) => Promise<Output> | Output;
};

/**
 * Makes a command that works on an opened installation. Like an action of the administration, the
 * command needs a right and writes its changes to the audit.
 */
export function installed<const Taken extends Fields = typeof noFields>(
  mode: Mode,
  right: Right,
  row: Installed<Taken>,
): Action {
  return action(mode, right, {
    ...row,
    commandLineOnly: "it belongs to a machine",
    // The command line always passes a session with an opened installation, so this type assertion
    // is correct.
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
