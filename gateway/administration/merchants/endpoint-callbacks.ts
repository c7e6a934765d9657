/**
 * The callback URLs of endpoints: add, remove and list them, and send a sample callback to one. The
 * gateway calls these URLs in addition to the URLs that an order itself brings.
 */
import { randomUUIDv7 } from "node:crypto";
import { makeAddressChecks } from "../../callbacks/addresses.ts";
import {
  callbackStatuses,
  callbackTypes,
  callbackUrlsMax,
  isSameEntry,
  readMacros,
} from "../../callbacks/callback-urls.ts";
import { sendOnce } from "../../callbacks/callbacks.ts";
import { writeSample } from "../../callbacks/message.ts";
import type { Config } from "../../config/config.ts";
import { signFor } from "../../merchant-api/control.ts";
import type { CallbackUrl, Endpoint, EndpointSettings } from "../../orders/merchant.ts";
import { disputeTypes } from "../../orders/transactions.ts";
import { Problem } from "../../values/problem.ts";
import { systemClock } from "../../values/time.ts";
import { type Action, action } from "../action.ts";
import { option, preset, required, word } from "../field.ts";
import { onEndpoint, ownerByEndpoint } from "../find.ts";
import { openVault, Report, type Session } from "../session.ts";

const endpoint = word("endpoint", "endpointid", ["the endpoint", "der Endpunkt"]);
const statuses = ["all", ...callbackStatuses] as const;
const macro = "$!{STATUS}";
const url = required("url", "url", [
  `the address; values of its query may have macros like ${macro}`,
  `die Adresse; Werte ihrer Abfrage dürfen Makros wie ${macro} enthalten`,
]);
const choice = {
  type: preset(callbackTypes, "type", "all", [
    "only results of this type of transaction",
    "nur Ergebnisse dieser Art von Transaktion",
  ]),
  status: preset(statuses, "status", "all", [
    "only results with this status",
    "nur Ergebnisse mit diesem Status",
  ]),
};

export const endpointCallbackActions: readonly Action[] = [
  action("change", "change_merchants", {
    name: "endpoint callback add",
    does: [
      "call a URL with the results of an endpoint, besides the URLs of its orders",
      "eine Adresse mit den Ergebnissen eines Endpunkts aufrufen, neben denen der Zahlungen",
    ],
    inFile: "otherwise",
    fields: { endpoint, url, ...choice },
    perform: onEndpoint(async (known, session, given) => {
      const { callbackUrls = [], tellsChargebacks = false } = known.settings;
      const urls = withCallbackUrl(callbackUrls, given, known.settings, session.config);
      if (urls instanceof Problem) return urls;
      if (disputeTypes.includes(given.type) && tellsChargebacks === false) {
        session.warn(`The endpoint ${known.id} does not report chargebacks, so none is sent.`);
      }
      return setCallbackUrls("endpoint callback add", session, known, urls);
    }),
  }),
  action("change", "change_merchants", {
    name: "endpoint callback remove",
    does: ["no longer call a URL", "eine Adresse nicht mehr aufrufen"],
    inFile: "otherwise",
    fields: {
      endpoint,
      url: required("url", "url", ["the address, as the list has it", "die Adresse wie gelistet"]),
      type: option(callbackTypes, "type", [
        "only its entry for this type",
        "nur ihr Eintrag für diese Art",
      ]),
      status: option(statuses, "status", [
        "only its entry for this status",
        "nur ihr Eintrag für diesen Status",
      ]),
    },
    perform: onEndpoint(async (known, session, { url: address, type, status }) => {
      const { callbackUrls = [] } = known.settings;
      const left = callbackUrls.filter((each) => {
        const { type: itsType, status: itsStatus, url: own } = describe(each);
        return (
          own !== address || (type ?? itsType) !== itsType || (status ?? itsStatus) !== itsStatus
        );
      });
      if (left.length < callbackUrls.length) {
        return setCallbackUrls("endpoint callback remove", session, known, left);
      }
      return new Problem(`The endpoint ${known.id} has no such callback URL.`).about("url");
    }),
  }),
  action("look", "see_configuration", {
    name: "endpoint callback list",
    does: ["list the callback URLs of an endpoint", "die Callback-Adressen eines Endpunkts"],
    findOwner: ownerByEndpoint,
    fields: { endpoint },
    perform: onEndpoint(({ settings }) => listOf(settings.callbackUrls ?? [])),
  }),
  action("record", "resend_callbacks", {
    name: "endpoint callback test",
    does: [
      "send a signed sample callback to a URL, and show the status code that comes back",
      "einen signierten Test-Callback an eine Adresse senden und die Statusnummer zeigen",
    ],
    findOwner: ownerByEndpoint,
    fields: { endpoint, url, ...choice },
    perform: onEndpoint(async (known, session, given) => {
      const { config } = session;
      const read = readCallbackUrl(given, known.settings, config);
      if (read instanceof Problem) return read;
      const { secretFor } = await openVault(session);
      const keys = { clock: systemClock, secretFor, sign: signFor };
      const message = writeSample(known, read, randomUUIDv7(), keys);
      const { node, user } = session;
      const sent = await (node?.sendTest(message, user?.merchantId) ?? sendOnce(config, message));
      if (sent instanceof Problem) return sent;
      const { status, failure = "", durationMs } = sent;
      const isAccepted = status !== undefined && status >= 200 && status < 300;
      if (!isAccepted) session.findings.note();
      const outcome = isAccepted ? "accepted" : "not accepted";
      return { url: read.url, outcome, "status code": status ?? "none", failure, ms: durationMs };
    }),
  }),
];

type Given = {
  readonly type: string;
  readonly status: string;
  readonly url: string;
};

async function setCallbackUrls(
  name: "endpoint callback add" | "endpoint callback remove",
  { administration }: Pick<Session, "administration">,
  { id, settings, enabled }: Endpoint,
  urls: readonly CallbackUrl[],
) {
  await administration.setEndpoint(id, putCallbackUrls(settings, urls), enabled, name);
  return listOf(urls);
}

export function putCallbackUrls(
  { callbackUrls: _, ...settings }: EndpointSettings,
  urls: readonly CallbackUrl[],
): EndpointSettings {
  return urls.length === 0 ? settings : { ...settings, callbackUrls: urls };
}

function listOf(urls: readonly CallbackUrl[]) {
  const rows = urls.map(describe);
  return rows.length > 0 ? rows : new Report(rows, "The endpoint has no callback URL.");
}

function describe({ type, status = "all", url: address }: CallbackUrl) {
  return { type, status, url: address };
}

/** Reads texts with a callback type, a status and a URL. A missing status means every status. */
export function readCallbackUrls(
  texts: readonly string[],
  settings: EndpointSettings,
  config: Config,
): readonly CallbackUrl[] | Problem {
  let urls: readonly CallbackUrl[] = [];
  for (const each of texts) {
    const [type = "", ...rest] = each.trim().split(/\s+/);
    const [status = "", address = ""] = rest.length > 1 ? rest : ["all", ...rest];
    const isKnown = callbackTypes.includes(type) && statuses.some((one) => one === status);
    if (!isKnown || rest.length > 2) {
      return new Problem(`${each} is no callback URL: write a type, a status and the address.`);
    }
    const added = withCallbackUrl(urls, { type, status, url: address }, settings, config);
    if (added instanceof Problem) return added;
    urls = added;
  }
  return urls;
}

/** The configuration file omits the list of an endpoint without callback URLs. */
export function printCallbackUrls({ callbackUrls = [] }: Pick<EndpointSettings, "callbackUrls">) {
  const printed = callbackUrls.map(({ type, status, url: address }) =>
    [type, status, address].filter((part) => part !== undefined).join(" "),
  );
  return printed.length === 0 ? {} : { "callback-urls": printed };
}

function withCallbackUrl(
  known: readonly CallbackUrl[],
  given: Given,
  settings: EndpointSettings,
  config: Config,
): readonly CallbackUrl[] | Problem {
  const added = readCallbackUrl(given, settings, config);
  if (added instanceof Problem) return added;
  if (known.some((each) => isSameEntry(each, added))) {
    return new Problem("The endpoint has this callback URL already.").about("url");
  }
  if (known.length < callbackUrlsMax) return [...known, added];
  return new Problem(`An endpoint has at most ${callbackUrlsMax} callback URLs.`);
}

function readCallbackUrl(
  { type, status, url: text }: Given,
  settings: EndpointSettings,
  config: Config,
): CallbackUrl | Problem {
  const read = readMacros(text, config);
  const { findAddressFault } = makeAddressChecks(config);
  const fault =
    "fault" in read ? read.fault : findAddressFault(read.url, "callback", [{ settings }]);
  if ("fault" in read || fault !== undefined) {
    return new Problem(`The callback URL cannot be used: ${fault}.`).about("url");
  }
  return { type, ...(status !== "all" && { status }), url: read.url };
}
