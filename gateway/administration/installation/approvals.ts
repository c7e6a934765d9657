/**
 * Work that waits for the approval of a second person (GW_SECOND_PERSON). A user approves what
 * another user has requested, and needs the same right as the work itself.
 */
import { findApproval, giveApproval, listApprovals } from "../../storage/people/approvals.ts";
import { isNumericId } from "../../values/ids.ts";
import { Problem } from "../../values/problem.ts";
import { asInstant } from "../../values/time.ts";
import { type Action, action } from "../action.ts";
import { word } from "../field.ts";
import type { Session } from "../session.ts";

type ById = { readonly id: string };

const find = async ({ database }: Pick<Session, "database">, { id }: ById) =>
  isNumericId(id) ? findApproval(database.query, id) : undefined;

export const approvalActions: readonly Action[] = [
  action("look", "see_audit", {
    name: "approval list",
    does: ["list what waits for a second person"],
    commandLineOnly: "the portal lists what waits on a screen of its own",
    async perform({ database, printDate }) {
      return (await listApprovals(database.query)).map(({ askedAt, isGiven, ...approval }) => ({
        ...approval,
        askedAt: printDate(asInstant(askedAt)),
        state: isGiven ? "given" : "waits",
      }));
    },
  }),
  action("change", "operate", {
    name: "approval give",
    does: [
      "approve what another user has asked for",
      "freigeben, worum ein anderer Benutzer gebeten hat",
    ],
    findRight: async (session, given) => (await find(session, given))?.right,
    findOwner: async (session, given) => (await find(session, given))?.merchantId ?? undefined,
    needsReason: false,
    fields: {
      id: word("text", "id", ["its number in the list", "seine Nummer in der Liste"]),
    },
    async perform({ audit, actor, config }, { id }) {
      const wanted = { id, byAccount: config.usersOnly };
      const isGiven = isNumericId(id) && (await giveApproval(audit, actor, wanted));
      if (isGiven instanceof Problem) return isGiven;
      if (isGiven) return { approval: id, state: "given" };
      return new Problem(`Nothing of another user waits under the number ${id}.`, "not_found");
    },
  }),
];
