/**
 * Makes the commands that concern one machine or the terminal. They are declared in the same form
 * as the administration's actions, so that help, parser and documents are made in the same way.
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

/** An action's session, with the complete installation that the command line has opened. */
export type MachineSession = Session &
  Installation & {
    readonly json: boolean;
  };

type Described = Pick<Action, "name" | "does" | "fields" | "showsProgress" | "needsReason">;
export type Terminal = {
  readonly json: boolean;
  readonly reason: string | undefined;
};

/** A command that needs no installation, or that opens one and checks the user's right itself. */
export type OwnCommand = Described &
  Partial<Pick<Action, "right" | "mode">> & {
    readonly run: (given: never, terminal: Terminal) => Promise<Output> | Output;
  };

type Installed<Taken extends Fields> = Omit<ActionRow<Taken>, "perform"> & {
  readonly perform: (session: MachineSession, given: Given<Taken>) => Promise<Output> | Output;
};

/** Like an action, the command needs a right and writes its changes to the audit. */
export function installed<const Taken extends Fields = typeof noFields>(
  mode: Mode,
  right: Right,
  row: Installed<Taken>,
): Action {
  return action(mode, right, {
    ...row,
    commandLineOnly: "it belongs to a machine",
    // The command line always passes a session with an opened installation.
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
