/**
 * Groups of endpoints: list, create, set. A group chooses one of its endpoints by the currency of
 * the request.
 */
import type { Merchant } from "../../orders/merchant.ts";
import type { Configuration } from "../../storage/configuration/configuration.ts";
import { Problem } from "../../values/problem.ts";
import { type Action, action } from "../action.ts";
import { option, toggle, word, words } from "../field.ts";
import { endpointsOf, login, onMerchant } from "../find.ts";
import { printSwitch } from "../readers.ts";
import { type Output, readConfiguration, type Session } from "../session.ts";

export const groupActions: readonly Action[] = [
  action({
    name: "group list",
    does: ["list a merchant's groups", "die Gruppen eines Händlers auflisten"],
    right: "see_configuration",
    mode: "look",
    commandLineOnly: "the portal lists groups on the screen of their merchant",
    fields: { login },
    perform: onMerchant(listGroups),
  }),
  action({
    name: "group create",
    does: [
      "create a group of a merchant's endpoints, one per currency",
      "eine Gruppe von Endpunkten eines Händlers anlegen, einer je Währung",
    ],
    right: "change_merchants",
    mode: "change",
    inFile: "exported",
    fields: {
      login,
      name: word("text", "name", ["the name of the group", "der Name der Gruppe"]),
      endpoints: words("endpoint", "endpoints", ["its endpoints", "ihre Endpunkte"]),
    },
    perform: onMerchant(createGroup),
  }),
  action({
    name: "group set",
    does: ["change a group", "eine Gruppe ändern"],
    right: "change_merchants",
    mode: "change",
    inFile: "exported",
    fields: {
      group: word("text", "groupid", ["the group", "die Gruppe"]),
      endpoints: option("text", "ids", [
        "these endpoints and no others, by commas",
        "diese Endpunkte und keine anderen, mit Kommas",
      ]),
      enable: toggle({ yes: "enable", no: "disable" }, [
        "accept requests, or begin nothing new through the group",
        "Anfragen annehmen, oder über die Gruppe nichts Neues beginnen",
      ]),
    },
    perform: setGroup,
  }),
];

type NewGroup = { readonly name: string; readonly endpoints: readonly string[] };

async function createGroup(
  session: Session,
  merchant: Merchant,
  { name, endpoints }: NewGroup,
  configuration: Configuration,
): Promise<Output> {
  const members = readMembers(merchant, endpoints, configuration);
  if (members instanceof Problem) return members;
  const group = await session.administration.createGroup(merchant.id, name, members);
  return { login: merchant.login, group, name, endpoints: endpoints.join(", ") };
}

export function readMembers(
  merchant: Merchant,
  ids: readonly string[],
  configuration: Configuration,
) {
  const own = endpointsOf(merchant, configuration);
  const members = ids.flatMap((id) => own.filter((each) => each.id === id));
  if (members.length !== ids.length) {
    return new Problem(`Not all of these are endpoints of ${merchant.login}.`);
  }
  if (new Set(members.map(({ currency }) => currency)).size !== members.length) {
    return new Problem("A group can have one endpoint per currency only.");
  }
  return members.map(({ id }) => id);
}

function listGroups(
  _session: Session,
  merchant: Merchant,
  _given: object,
  { groups }: Configuration,
): Output {
  const own = groups.filter((group) => group.merchant.id === merchant.id);
  return own.map(({ id, name, enabled, endpoints }) => ({
    id,
    name,
    state: printSwitch(enabled),
    endpoints: endpoints.map((endpoint) => endpoint.id).join(", "),
  }));
}

type GroupChange = {
  readonly group: string;
  readonly endpoints?: string | undefined;
  readonly enable?: boolean | undefined;
};

async function setGroup(session: Session, given: GroupChange): Promise<Output> {
  const configuration = await readConfiguration(session);
  const group = configuration.groups.find(({ id }) => id === given.group);
  if (group === undefined) return new Problem(`There is no group ${given.group}.`);
  const { endpoints, enable: enabled = group.enabled } = given;
  if (endpoints === undefined && given.enable === undefined) {
    return new Problem("Nothing to change: give the endpoints, or enable or disable the group.");
  }
  const ids = endpoints?.split(",").map((each) => each.trim()) ?? group.endpoints.map((e) => e.id);
  const members = readMembers(group.merchant, ids, configuration);
  if (members instanceof Problem) return members;
  await session.administration.setGroup(group.id, members, enabled);
  return {
    group: group.id,
    name: group.name,
    state: printSwitch(enabled),
    endpoints: ids.join(", "),
  };
}
