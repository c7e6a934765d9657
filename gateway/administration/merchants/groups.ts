/**
 * Groups of endpoints: list, create and set them. A group chooses one of its endpoints by the
 * currency of the request.
 */
import type { Merchant } from "../../orders/merchant.ts";
import type { Configuration } from "../../storage/configuration/configuration.ts";
import { Problem } from "../../values/problem.ts";
import { type Action, action } from "../action.ts";
import { option, toggle, word, words } from "../field.ts";
import { endpointsOf, login, onMerchant } from "../find.ts";
import { printSwitch } from "../readers.ts";
import { readConfiguration } from "../session.ts";

export const groupActions: readonly Action[] = [
  action("look", "see_configuration", {
    name: "group list",
    does: ["list a merchant's groups"],
    commandLineOnly: "the portal lists groups on the screen of their merchant",
    fields: { login },
    perform: onMerchant(({ id: merchantId }, { configuration }) => {
      const own = configuration.groups.filter(({ merchant }) => merchant.id === merchantId);
      return own.map(({ id, name, enabled, endpoints }) => ({
        id,
        name,
        state: printSwitch(enabled),
        endpoints: endpoints.map((endpoint) => endpoint.id).join(", "),
      }));
    }),
  }),
  action("change", "change_merchants", {
    name: "group create",
    does: [
      "create a group of a merchant's endpoints, one per currency",
      "eine Gruppe von Endpunkten eines Händlers anlegen, einer je Währung",
    ],
    inFile: "exported",
    fields: {
      login,
      name: word("text", "name", ["the name of the group", "der Name der Gruppe"]),
      endpoints: words("endpoint", "endpoints", ["its endpoints", "ihre Endpunkte"]),
    },
    perform: onMerchant(async (merchant, session, { name, endpoints }) => {
      const members = readMembers(merchant, endpoints, session.configuration);
      if (members instanceof Problem) return members;
      const group = await session.administration.createGroup(merchant.id, name, members);
      return { login: merchant.login, group, name, endpoints: endpoints.join(", ") };
    }),
  }),
  action("change", "change_merchants", {
    name: "group set",
    does: ["change a group", "eine Gruppe ändern"],
    inFile: "exported",
    fields: {
      group: word("text", "groupid", ["the group", "die Gruppe"]),
      endpoints: option("text", "ids", [
        "these endpoints and no others, by commas",
        "diese Endpunkte und keine anderen, durch Kommas getrennt",
      ]),
      enable: toggle({ yes: "enable", no: "disable" }, [
        "accept requests, or begin nothing new through the group",
        "Anfragen annehmen, oder über die Gruppe nichts Neues beginnen",
      ]),
    },
    async perform(session, { group: id, endpoints, enable }) {
      const configuration = await readConfiguration(session);
      const group = configuration.groups.find((each) => each.id === id);
      if (group === undefined) return new Problem(`There is no group ${id}.`);
      if (endpoints === undefined && enable === undefined) {
        return new Problem(
          "Nothing to change: give the endpoints, or enable or disable the group.",
        );
      }
      const enabled = enable ?? group.enabled;
      const ids = endpoints?.split(",").map((each) => each.trim());
      const chosen = ids ?? group.endpoints.map((each) => each.id);
      const members = readMembers(group.merchant, chosen, configuration);
      if (members instanceof Problem) return members;
      await session.administration.setGroup(group.id, members, enabled);
      return {
        group: id,
        name: group.name,
        state: printSwitch(enabled),
        endpoints: chosen.join(", "),
      };
    },
  }),
];

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
