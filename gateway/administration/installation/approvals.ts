/**
 * What waits for a second person (GW_SECOND_PERSON). A user approves what another user has asked
 * for, with the right that the work itself needs.
 */
import { findApproval, giveApproval, listApprovals } from "../../storage/people/approvals.ts";
import { isNumericId } from "../../values/ids.ts";
import { Problem } from "../../values/problem.ts";
import { asInstant, makePrintDate } from "../../values/time.ts";
import { type Action, action } from "../action.ts";
import { word } from "../field.ts";
import type { Output, Session } from "../session.ts";

type ById = { readonly id: string };

const find = async ({ database }: Pick<Session, "database">, { id }: ById) =>
  isNumericId(id) ? findApproval(database.query, id) : undefined;

export const approvalActions: readonly Action[] = [
  action({
    name: "approval list",
    does: ["list what waits for a second person", "auflisten, was auf eine zweite Person wartet"],
    right: "see_audit",
    mode: "look",
    commandLineOnly: "the portal lists what waits on a screen of its own",
    fields: {},
    perform: list,
  }),
  action({
    name: "approval give",
    does: [
      "approve what another user has asked for",
      "zulassen, worum ein anderer Benutzer gebeten hat",
    ],
    right: "operate",
    findRight: async (session, given) => (await find(session, given))?.right,
    findOwner: async (session, given) => (await find(session, given))?.merchantId ?? undefined,
    mode: "change",
    hasOwnRoute: true,
    fields: {
      id: word("text", "id", ["its number in the list", "die Nummer in der Liste"]),
    },
    perform: give,
  }),
];

async function list({ database, config }: Session): Promise<Output> {
  const printDate = makePrintDate(config.zone);
  return (await listApprovals(database.query)).map(({ askedAt, isGiven, ...approval }) => ({
    ...approval,
    askedAt: printDate(asInstant(askedAt)),
    state: isGiven ? "given" : "waits",
  }));
}

async function give({ audit, actor, config }: Session, { id }: ById): Promise<Output> {
  const wanted = { id, byAccount: config.usersOnly };
  const isGiven = isNumericId(id) && (await giveApproval(audit, actor, wanted));
  if (isGiven instanceof Problem) return isGiven;
  if (isGiven) return { approval: id, state: "given" };
  return new Problem(`Nothing of another user waits under the number ${id}.`, "not_found");
}
