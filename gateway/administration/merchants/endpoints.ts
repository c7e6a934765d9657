/**
 * Endpoints and their groups: list, create and change them. An endpoint processes one currency of
 * one merchant, through one gate or several. A group chooses an endpoint by the request's currency.
 */
import type { Endpoint, Merchant } from "../../orders/merchant.ts";
import type { Configuration } from "../../storage/configuration/configuration.ts";
import { findCurrency, getCurrency } from "../../values/iso-codes.ts";
import { Problem } from "../../values/problem.ts";
import { type Action, action } from "../action.ts";
import { list, option, required, texts, toggle, word, words } from "../field.ts";
import { endpointsOf, login, onEndpoint, onMerchant } from "../find.ts";
import { printSwitch } from "../readers.ts";
import { Report, readConfiguration } from "../session.ts";
import { fieldsOf, findNothing, showSettings } from "../settings.ts";
import { printCallbackUrls } from "./endpoint-callbacks.ts";
import {
  endpointTable,
  placesOf,
  readEndpointSettings,
  readGatesFor,
} from "./endpoint-settings.ts";
import { sandboxGate } from "./merchant-set.ts";
import { findRoutesFault, placeIn, printRoutes } from "./routes.ts";

const settings = fieldsOf(endpointTable());
const endpoint = word("endpoint", "endpointid", ["the endpoint", "der Endpunkt"]);
const sharing = texts(
  "the lowest rank comes first, gates of one rank share payments by weight",
  "der kleinste Rang kommt zuerst, Gates eines Ranges teilen sich die Zahlungen nach Gewicht",
);

export const endpointActions: readonly Action[] = [
  action("look", "see_configuration", {
    name: "endpoint list",
    does: ["list a merchant's endpoints with their gates"],
    commandLineOnly: "the portal lists endpoints on the screen of their merchant",
    fields: { login },
    perform: onMerchant((merchant, { configuration }) => {
      const own = endpointsOf(merchant, configuration);
      return new Report(own.map(describe), own.map(describeShortly));
    }),
  }),
  action("look", "see_configuration", {
    name: "endpoint show",
    does: ["show an endpoint with its settings and gates"],
    commandLineOnly: "the portal shows an endpoint on the screen of its merchant",
    fields: { endpoint },
    perform: onEndpoint((known) => new Report(describe(known), describeWhole(known))),
  }),
  action("change", "change_merchants", {
    name: "endpoint create",
    does: ["create an endpoint of a merchant", "einen Endpunkt eines Händlers anlegen"],
    inFile: "exported",
    fields: {
      login,
      name: word("text", "name", ["the name of the endpoint", "der Name des Endpunkts"]),
      ...settings,
      currency: required("currency", "code", [
        "three-letter currency code",
        "Währung, drei Buchstaben",
      ]),
      gate: list("gate-place", "name:rank:weight", [
        `its gates; where there is one gate only, that; ${sharing.en}`,
        `seine Gates; gibt es nur eines, dann dieses; ${sharing.de}`,
      ]),
    },
    perform: onMerchant(async (merchant, { administration, config, configuration }, given) => {
      const currency = findCurrency(given.currency);
      if (currency === undefined) return new Problem(`${given.currency} is no currency.`);
      const { code } = currency;
      const gates = readGatesFor(code, given.gate ?? usualGates(configuration), configuration);
      if (gates instanceof Problem) return gates;
      const read = readEndpointSettings(given, currency, undefined, config);
      if (read instanceof Problem) return read;

      const made = {
        merchantId: merchant.id,
        name: given.name,
        currency: code,
        gates,
        settings: read,
      };
      const id = await administration.createEndpoint(made);
      return { login: merchant.login, endpoint: id, name: given.name, currency: code };
    }),
  }),
  action("change", "change_merchants", {
    name: "endpoint set",
    does: [
      "change the given settings of an endpoint; `none` removes one",
      "die angegebenen Einstellungen eines Endpunkts ändern; none entfernt eine",
    ],
    inFile: "exported",
    fields: {
      endpoint,
      ...settings,
      enable: toggle({ yes: "enable", no: "disable" }, [
        "accept requests, or refuse them as if the endpoint did not exist",
        "Anfragen annehmen, oder ablehnen, als gäbe es den Endpunkt nicht",
      ]),
    },
    perform: onEndpoint(async (known, session, given) => {
      const { enable: enabled = known.enabled } = given;
      const nothing = given.enable === undefined ? findNothing(endpointTable(), given) : undefined;
      const currency = getCurrency(known.currency);
      const read = nothing ?? readEndpointSettings(given, currency, known.settings, session.config);
      if (read instanceof Problem) return read;

      await session.administration.setEndpoint(known.id, read, enabled);
      const changed = { ...known, settings: read, enabled };
      return new Report(describe(changed), describeWhole(changed));
    }),
  }),
  action("change", "change_merchants", {
    name: "endpoint gates",
    does: [
      "replace the gates of an endpoint: lowest rank first, distributed by weight",
      "die Gates eines Endpunkts ersetzen: zuerst der kleinste Rang, verteilt nach Gewicht",
    ],
    inFile: "exported",
    fields: {
      endpoint,
      gates: words("gate-place", "name:rank:weight", [
        `its gates; ${sharing.en}`,
        `seine Gates; ${sharing.de}`,
      ]),
    },
    perform: onEndpoint(async (known, session, given) => {
      const { id, name, currency, settings: own } = known;
      const gates = readGatesFor(currency, given.gates, session.configuration);
      if (gates instanceof Problem) return gates;
      const fault = findRoutesFault(own.routes, placeIn(session.configuration, known, gates));
      if (fault !== undefined) return fault;
      await session.administration.setEndpointGates(id, gates);
      return { endpoint: id, name, gates: given.gates.join(", ") };
    }),
  }),
];

/** Without a given gate, a new endpoint uses the sandbox gate in staging, or the only gate. */
function usualGates({ gates }: Configuration): readonly string[] {
  const names = [...gates.values()].map(({ name }) => name);
  if (names.includes(sandboxGate)) return [sandboxGate];
  return names.length === 1 ? names : [];
}

function describe({ id, name, currency, enabled, settings: own, gates }: Endpoint) {
  const places = gates.map(({ name: gate, rank, weight }) => ({ gate, rank, weight }));
  return { id, name, currency, enabled, settings: own, gates: places };
}

function describeWhole(known: Endpoint) {
  const { id, name, merchant, currency, enabled, settings: own } = known;
  const { "callback-urls": callbackUrls } = printCallbackUrls(own);
  const { routes } = printRoutes(own);
  return {
    id,
    name,
    merchant: merchant.login,
    currency,
    state: printSwitch(enabled),
    gates: placesOf(known).join(", "),
    ...(callbackUrls && { "callback-urls": callbackUrls.join(", ") }),
    ...(routes && { routes: routes.join("; ") }),
    ...showSettings(endpointTable(getCurrency(currency)), own, usualSettings),
  };
}

const usualSettings = {
  min: "none",
  max: "none",
  descriptor: "the gate's",
  optional: "none",
  fee: "none",
  "partial-approvals": "off",
  callbacks: "GET",
  chargebacks: "off",
  "void-as": "void",
  profiles: "off",
  moto: "off",
  exemptions: "off",
  "oauth-only": "off",
  "plain-addresses": "off",
  "private-callbacks": "off",
  "hosted-fields": "off",
};

function describeShortly(known: Endpoint) {
  const { id, name, currency, state, gates, ...printed } = describeWhole(known);
  const { "3ds": policy, min, max, fee }: Readonly<Record<string, string>> = printed;
  return { id, name, currency, state, "3ds": policy, min, max, fee, gates };
}

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
