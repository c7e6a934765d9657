/**
 * The routing rules of an endpoint: list, add, change, move and remove them. Their order counts, so
 * a rule is named by its place in the list.
 */
import { abilitiesOf } from "../../acquirers/iso8583-host/connector.ts";
import type { Endpoint, EndpointSettings, RouteTexts } from "../../orders/merchant.ts";
import {
  compileRoutes,
  conditionNames,
  printRoute,
  readRoute,
} from "../../orders/routing-rules.ts";
import type { RankedGate } from "../../storage/configuration/administration.ts";
import { type Configuration, endpointGateOf } from "../../storage/configuration/configuration.ts";
import { getCurrency } from "../../values/iso-codes.ts";
import { Problem } from "../../values/problem.ts";
import { type Action, action } from "../action.ts";
import { option, required, word, written } from "../field.ts";
import { onEndpoint } from "../find.ts";
import { Report, type Session } from "../session.ts";
import { tryFields, tryRoutes } from "./route-try.ts";

const endpoint = word("endpoint", "endpointid", ["the endpoint", "der Endpunkt"]);
const rule = word("whole", "rule", ["the number of the rule", "die Nummer der Regel"]);
const place = ["the rule's place in the list", "der Platz der Regel in der Liste"] as const;
const target = [
  "gates like first:1:70,second:1:30,third:2 (name:rank:weight), cheapest, or refuse",
  "Gates wie erstes:1:70,zweites:1:30,drittes:2 (Name:Rang:Gewicht), cheapest oder refuse",
] as const;

const conditionFields = {
  network: option("text", "names", [
    "card networks, like VISA,MASTERCARD",
    "Kartennetze, wie VISA,MASTERCARD",
  ]),
  bin: option("text", "ranges", [
    "first six digits of cards, like 400000..400099,412345",
    "die ersten sechs Ziffern von Karten, wie 400000..400099,412345",
  ]),
  issuerCountry: option("text", "codes", [
    "countries of issuers in three letters, like DEU,AUT",
    "Länder der Herausgeber in drei Buchstaben, wie DEU,AUT",
  ]),
  funding: option("text", "kinds", [
    "credit, debit or prepaid, also several by commas",
    "credit, debit oder prepaid, auch mehrere durch Kommas getrennt",
  ]),
  currency: option("text", "codes", [
    "currencies, like EUR,USD; an endpoint has one",
    "Währungen, wie EUR,USD; ein Endpunkt hat eine",
  ]),
  amount: option("text", "range", [
    "amounts from..to, like 100.., ..50 or 50..100",
    "Beträge von..bis, wie 100.., ..50 oder 50..100",
  ]),
  initiator: option("text", "word", ["cardholder or merchant", "cardholder oder merchant"]),
  wallet: option("text", "names", [
    "walleta, walletb, or card for no wallet, also several by commas",
    "walleta, walletb oder card für keins, auch mehrere durch Kommas getrennt",
  ]),
  "3ds": option("text", "outcomes", [
    "outcomes of 3-D Secure: authenticated, not_authenticated, unsupported, not_tried",
    "Ergebnisse von 3-D Secure: authenticated, not_authenticated, unsupported, not_tried",
  ]),
  time: option("text", "range", [
    "times of the day in UTC, like 22:00..06:00",
    "Tageszeiten in UTC, wie 22:00..06:00",
  ]),
};

export const routeActions: readonly Action[] = [
  action("look", "see_configuration", {
    name: "route list",
    does: ["list the routing rules of an endpoint", "die Routing-Regeln eines Endpunkts"],
    fields: { endpoint },
    perform: onEndpoint((known) => listOf(known.settings.routes ?? [])),
  }),
  action("change", "change_merchants", {
    name: "route add",
    does: [
      "add a routing rule, at the end of the list or at a place",
      "eine Routing-Regel anlegen, am Ende der Liste oder an einem Platz",
    ],
    inFile: "otherwise",
    fields: {
      endpoint,
      ...conditionFields,
      to: required("text", "result", target),
      place: option("whole", "n", place),
    },
    perform: onEndpoint((known, session, { place: at, ...given }) => {
      const { routes = [] } = known.settings;
      return put("route add", session, known, insert(routes, textsOf({}, given), at));
    }),
  }),
  action("change", "change_merchants", {
    name: "route set",
    does: [
      "change conditions or the result of a routing rule; `none` removes a condition",
      "Bedingungen oder das Ergebnis einer Routing-Regel ändern; none entfernt eine Bedingung",
    ],
    inFile: "otherwise",
    fields: { endpoint, rule, ...conditionFields, to: option("text", "result", target) },
    perform: onEndpoint((known, session, { rule: number, ...given }) => {
      const { routes = [] } = known.settings;
      const before = routes[Number(number) - 1];
      if (before === undefined) return unknown(number);
      const changed = routes.with(Number(number) - 1, textsOf(before, given));
      return put("route set", session, known, changed);
    }),
  }),
  action("change", "change_merchants", {
    name: "route move",
    does: [
      "move a routing rule to another place of the list",
      "eine Routing-Regel an einen anderen Platz der Liste setzen",
    ],
    inFile: "otherwise",
    fields: { endpoint, rule, place: required("whole", "n", place) },
    perform: onEndpoint((known, session, { rule: number, place: at }) => {
      const { routes = [] } = known.settings;
      const moved = routes[Number(number) - 1];
      if (moved === undefined) return unknown(number);
      const others = routes.toSpliced(Number(number) - 1, 1);
      return put("route move", session, known, insert(others, moved, at));
    }),
  }),
  action("change", "change_merchants", {
    name: "route remove",
    does: ["remove a routing rule", "eine Routing-Regel entfernen"],
    inFile: "otherwise",
    fields: { endpoint, rule },
    perform: onEndpoint((known, session, { rule: number }) => {
      const { routes = [] } = known.settings;
      if (routes[Number(number) - 1] === undefined) return unknown(number);
      return put("route remove", session, known, routes.toSpliced(Number(number) - 1, 1));
    }),
  }),
  action("look", "see_orders", {
    name: "route try",
    does: [
      "tell which gates past orders would have had by the rules of an endpoint, or by others",
      "zeigen, welche Gates frühere Zahlungen nach den Regeln eines Endpunkts gehabt hätten",
    ],
    duration: "minutes",
    fields: { endpoint, ...tryFields },
    perform: onEndpoint((known, session, { rule: texts, ...period }) => {
      const read = texts === undefined ? known.settings.routes : readRouteTexts(texts);
      if (read instanceof Problem) return read;
      const gates = placeIn(session.configuration, known, rankedOf(known));
      const fault = findRoutesFault(read, gates);
      return fault ?? tryRoutes(session, { ...known, routes: compileRoutes(read, gates) }, period);
    }),
  }),
];

const rulesMax = 100;

type Changing = "route add" | "route set" | "route move" | "route remove";

async function put(
  name: Changing,
  { administration, configuration }: Pick<Session, "administration"> & WithConfiguration,
  known: Endpoint,
  routes: readonly RouteTexts[] | Problem,
) {
  if (routes instanceof Problem) return routes;
  const fault = findRoutesFault(routes, placeIn(configuration, known, rankedOf(known)));
  if (fault !== undefined) return fault;
  const { id, settings, enabled } = known;
  await administration.setEndpoint(id, putRoutes(settings, routes), enabled, name);
  return listOf(routes);
}

type WithConfiguration = { readonly configuration: Configuration };

export function putRoutes(
  { routes: _, ...settings }: EndpointSettings,
  routes: readonly RouteTexts[],
): EndpointSettings {
  return routes.length === 0 ? settings : { ...settings, routes };
}

/** A place beyond the end of the list is its end. */
function insert(
  routes: readonly RouteTexts[],
  added: RouteTexts,
  at: string | undefined,
): readonly RouteTexts[] | Problem {
  if (at === undefined) return [...routes, added];
  if (!/^[1-9]\d{0,3}$/.test(at)) return new Problem("place is a number from 1.").about("place");
  return routes.toSpliced(Number(at) - 1, 0, added);
}

type Given = Readonly<Record<string, string | undefined>>;

function textsOf(before: RouteTexts, given: object): RouteTexts {
  const texts: Record<string, string> = { ...before };
  for (const [name, text] of Object.entries(given as Given)) {
    const key = written(name);
    if (text === undefined || (key !== "to" && !conditionNames.includes(key))) continue;
    if (text === "none") delete texts[key];
    else texts[key] = text;
  }
  return texts;
}

function listOf(routes: readonly RouteTexts[]) {
  const values = routes.map((texts, index) => ({ rule: String(index + 1), ...texts }));
  const rows = routes.map(({ to = "", ...texts }, index) => ({
    rule: index + 1,
    conditions: printRoute(texts) || "every payment",
    to,
  }));
  return new Report(values, rows.length > 0 ? rows : "The endpoint has no routing rules.");
}

function unknown(number: string): Problem {
  return new Problem(`The endpoint has no rule ${number}.`).about("rule");
}

/** Reads rules as a configuration file has them: conditions and result as `name=value`. */
export function readRouteTexts(texts: readonly string[]): readonly RouteTexts[] | Problem {
  const read: RouteTexts[] = [];
  for (const each of texts) {
    const pairs = each.split(/[\s;]+/).filter((part) => part !== "");
    const named = pairs.map((pair) => /^([a-z0-9-]+)=(.+)$/.exec(pair)?.slice(1));
    if (!named.every((pair) => pair !== undefined)) {
      return new Problem(`${each} is no routing rule: write it like network=VISA to=first:1:2.`);
    }
    read.push(Object.fromEntries(named));
  }
  return read;
}

/** The configuration file omits the list of an endpoint without routing rules. */
export function printRoutes({ routes = [] }: Pick<EndpointSettings, "routes">) {
  return routes.length === 0 ? {} : { routes: routes.map(printRoute) };
}

type Surroundings = Parameters<typeof readRoute>[2];

/** Returns the first fault of the rules at an endpoint that has these gates. */
export function findRoutesFault(
  routes: readonly RouteTexts[] = [],
  gates: Surroundings,
): Problem | undefined {
  if (routes.length > rulesMax) return new Problem(`An endpoint has at most ${rulesMax} rules.`);
  for (const [index, texts] of routes.entries()) {
    const read = readRoute(texts, index + 1, gates);
    if (read instanceof Problem) return new Problem(`Rule ${index + 1}: ${read.sentence}`);
  }
  return undefined;
}

export function placeIn(
  { gates }: Configuration,
  own: Pick<Endpoint, "settings" | "merchant" | "currency">,
  places: readonly RankedGate[],
): Surroundings {
  const found = places.flatMap(({ gateId, ...rest }) => {
    const gate = gates.get(gateId);
    if (gate === undefined) return [];
    return [{ ...endpointGateOf(gate, rest, own), ...abilitiesOf(gate.kind) }];
  });
  return { gates: found, currency: getCurrency(own.currency) };
}

export function rankedOf({ gates }: Pick<Endpoint, "gates">): readonly RankedGate[] {
  return gates.map(({ id, rank, weight }) => ({ gateId: id, rank, weight }));
}
