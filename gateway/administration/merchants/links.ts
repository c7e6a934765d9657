/**
 * Payment links: create, list, show and close them. A link is stored in the merchant's cell. Its
 * URL is not stored but computed with a key of the vault.
 */
import { randomInt } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { makeAddressChecks } from "../../callbacks/addresses.ts";
import { baseUrlOf } from "../../config/config.ts";
import { findEnd, linkUsesMax, type PaymentLink } from "../../orders/payment-page.ts";
import { routeLinks } from "../../storage/orders/payment-links.ts";
import { asLinkId, isNumericId } from "../../values/ids.ts";
import { getCurrency } from "../../values/iso-codes.ts";
import { isZero, parseAmount, printMoney } from "../../values/money.ts";
import { messageOf, Problem } from "../../values/problem.ts";
import { renderQrSvg, renderQrText } from "../../values/qr-code.ts";
import { type Instant, later, minutes } from "../../values/time.ts";
import { type Action, action } from "../action.ts";
import { type Given, onlyOnCommandLine, option, preset, required, word } from "../field.ts";
import {
  findEndpoint,
  findLimitFault,
  findMerchant,
  limit,
  loginsOf,
  ofMerchant,
  ownerByEndpoint,
} from "../find.ts";
import { ends, readMoment } from "../readers.ts";
import { type Output, openVault, Report, readConfiguration, type Session } from "../session.ts";

/** The id has fifteen digits, so that a mistyped id hardly ever names another link. */
const [idMin, idMax] = [10 ** 14, 10 ** 14 + 2 ** 47];
const urlCharactersMax = 1024;
const descriptionForm = /^\P{Cc}{1,500}$/u;

const svg = onlyOnCommandLine(option("path", "file", ["write the QR code to this file"]));
const link = word("text", "link", ["the number of the link", "die Nummer des Links"]);

const linkFields = {
  endpoint: required("endpoint", "id", [
    "the endpoint that is paid to",
    "der Endpunkt, an den gezahlt wird",
  ]),
  amount: required("amount", "amount", ["what is to be paid", "der zu zahlende Betrag"]),
  currency: required("currency", "code", ["the endpoint's currency", "die Währung des Endpunkts"]),
  description: option("text", "text", [
    "what is bought, as the payment page shows it",
    "was gekauft wird, wie die Zahlungsseite es zeigt",
  ]),
  uses: preset("text", "single|many|n", "single", [
    `how often it can be paid: once, any number of times, or 2 to ${linkUsesMax} times`,
    `wie oft bezahlt werden kann: einmal, beliebig oft (many) oder 2 bis ${linkUsesMax} Mal`,
  ]),
  expires: ends,
  returnUrl: option("url", "url", [
    "where the cardholder's browser goes afterwards",
    "wohin der Browser des Karteninhabers danach geht",
  ]),
  callbackUrl: option("url", "url", [
    "where the results of its orders are sent",
    "wohin die Ergebnisse seiner Zahlungen gesendet werden",
  ]),
  svg,
};

async function ownerOfLink({ cells }: Pick<Session, "cells">, given: { readonly link: string }) {
  return isNumericId(given.link)
    ? (await routeLinks(cells).findById(given.link))?.merchantId
    : undefined;
}

export const linkActions: readonly Action[] = [
  action("change", "move_money", {
    name: "link create",
    does: [
      "create a payment link; prints its URL and its QR code",
      "einen Zahlungslink anlegen; zeigt seine Adresse und seinen QR-Code",
    ],
    findOwner: ownerByEndpoint,
    fields: linkFields,
    async perform(session, given) {
      const link = await readLink(session, given);
      return link instanceof Problem ? link : addLink(session, link, "link create", given.svg);
    },
  }),
  action("look", "see_orders", {
    name: "link list",
    does: ["list payment links, the latest first"],
    commandLineOnly: "the portal lists links on a screen of its own",
    fields: { merchant: ofMerchant, limit },
    async perform(session, { merchant: login, limit: most }) {
      const configuration = await readConfiguration(session);
      const named = login === undefined ? undefined : findMerchant(configuration, login);
      const merchant = findLimitFault(most) ?? named;
      if (merchant instanceof Problem) return merchant;
      const { list } = routeLinks(session.cells);
      const found = await list({ merchantId: merchant?.id, limit: Number(most) });
      const now = await session.now();
      const describe = makeDescribe(session, now);
      const logins = loginsOf(configuration);
      return found.map((link) => ({
        merchant: logins.get(link.merchantId) ?? "",
        ...describe(link),
      }));
    },
  }),
  action("keys", "see_orders", {
    name: "link show",
    does: ["show a payment link with its URL and its QR code"],
    commandLineOnly: "the portal shows a link on a screen of its own",
    fields: { link, svg },
    async perform(session, given) {
      const found = await findLink(session, given.link);
      if (found instanceof Problem) return found;
      return found.channel === undefined
        ? present(session, found, given.svg)
        : new Problem("The page of an order by telephone is shown only when it is opened.");
    },
  }),
  action("change", "move_money", {
    name: "link close",
    does: [
      "close a payment link: no payment begins with it any more",
      "einen Zahlungslink schließen: keine Zahlung beginnt mehr mit ihm",
    ],
    findOwner: ownerOfLink,
    fields: { link },
    async perform(session, { link: id }) {
      const found = await findLink(session, id);
      if (found instanceof Problem) return found;
      const now = await session.now();
      await session.audit.write({ action: "link close", subject: `link ${id}` });
      const isClosed = session.isTrial
        ? found.closedAt === undefined
        : await routeLinks(session.cells).close(found, now);
      return isClosed
        ? { link: id, state: "closed" }
        : new Problem(`The link ${id} was closed before.`);
    },
  }),
];

/** The virtual terminal: a payment page for the merchant's staff. */
export const terminalActions: readonly Action[] = [
  action("change", "enter_orders", {
    name: "terminal open",
    does: [
      "open the payment page for one order by mail or telephone; prints its URL",
      "die Zahlungsseite für eine Bestellung per Post oder Telefon öffnen; zeigt ihre Adresse",
    ],
    findOwner: ownerByEndpoint,
    fields: {
      endpoint: linkFields.endpoint,
      amount: linkFields.amount,
      currency: linkFields.currency,
      description: linkFields.description,
    },
    async perform(session, given) {
      const bare = { expires: undefined, returnUrl: undefined, callbackUrl: undefined };
      const link = await readLink(session, { ...given, ...bare, uses: "single", svg: undefined });
      if (link instanceof Problem) return link;
      const { endpoints } = await readConfiguration(session);
      if (endpoints.get(link.endpointId)?.settings.moto !== true) {
        const sentence = `The endpoint ${given.endpoint} takes no orders by mail or telephone.`;
        return new Problem(sentence).about("endpoint");
      }
      const expiresAt = later(link.createdAt, terminalMs);
      return addLink(session, { ...link, channel: "MOTO", expiresAt }, "terminal open", undefined);
    },
  }),
];

/** The URL is as good as the right, so it does not live for long. */
const terminalMs = minutes(30);

async function addLink(
  session: Session,
  link: PaymentLink,
  name: "link create" | "terminal open",
  svg: string | undefined,
): Promise<Output> {
  const links = routeLinks(session.cells);
  const known = session.once && (await links.findById(link.id));
  if (known) return presentAgain(session, known, name);
  // The audit entry comes before the work, so that it exists even after an interruption.
  const { uses: _, amount, ...rest } = link;
  const after = { ...rest, amount: printMoney(amount) };
  await session.audit.write({ action: name, subject: `link ${link.id}`, after });
  if (session.isTrial || (await links.add(link))) return present(session, link, svg);
  // The insert failed. A simultaneous request of the same form may have stored the link.
  const other = session.once && (await links.findById(link.id));
  return other ? presentAgain(session, other, name) : new Problem(idTaken);
}

type NewLink = Given<typeof linkFields>;

const idTaken = "The id is taken by chance: try again.";

/** Shows the link that an earlier request with the same form has created. */
async function presentAgain(session: Session, link: PaymentLink, name: string): Promise<Output> {
  if (link.createdBy !== session.actor.who) return new Problem(idTaken);
  const subject = `link ${link.id}`;
  await session.audit.write({ action: name, subject, after: { repeated: true } });
  return present(session, link, undefined);
}

function newId({ once }: Session): string {
  if (once === undefined) return String(randomInt(idMin, idMax));
  return String(idMin + (Number.parseInt(once.slice(0, 12), 16) % (idMax - idMin)));
}

async function readLink(session: Session, given: NewLink): Promise<PaymentLink | Problem> {
  const { endpoint: endpointId, amount: amountText, currency, expires } = given;
  const endpoint = findEndpoint(await readConfiguration(session), endpointId);
  if (endpoint instanceof Problem) return endpoint.about("endpoint");
  if (currency !== endpoint.currency) {
    const sentence = `The endpoint ${endpointId} takes ${endpoint.currency}, not ${currency}.`;
    return new Problem(sentence).about("currency");
  }
  const amount = parseAmount(amountText, getCurrency(endpoint.currency));
  if (amount === undefined || isZero(amount) || amountText.length > amountDigitsMax) {
    return new Problem(`${amountText} is no amount in ${endpoint.currency}.`).about("amount");
  }
  const now = await session.now();
  const expiresAt = expires === undefined ? undefined : readMoment(expires, now);
  if (expiresAt instanceof Problem) return expiresAt.about("expires");
  const usesMax = readUses(given.uses);
  if (usesMax instanceof Problem) return usesMax;
  const description = given.description ?? "";
  if (description !== "" && !descriptionForm.test(description)) {
    const sentence = "description is up to 500 characters, without line ends.";
    return new Problem(sentence).about("description");
  }
  const { returnUrl, callbackUrl } = given;
  const { findAddressFault } = makeAddressChecks(session.config);
  for (const use of ["return", "callback"] as const) {
    const [field, url] = [`${use}Url` as const, given[`${use}Url`]];
    if (url === undefined) continue;
    if (!isUrl(url)) return new Problem(`${url} is no http or https URL.`).about(field);
    const fault = findAddressFault(url, use, [endpoint]);
    if (fault) return new Problem(`An address of the link cannot be used: ${fault}.`).about(field);
  }
  return {
    id: asLinkId(newId(session)),
    merchantId: endpoint.merchant.id,
    endpointId: endpoint.id,
    amount,
    description,
    returnUrl,
    callbackUrl,
    createdAt: now,
    createdBy: session.actor.who,
    expiresAt,
    usesMax,
    uses: [],
  };
}

/** An amount may have as many digits as on the merchant interface. */
const amountDigitsMax = 10;

/** Returns undefined if the link can be paid any number of times. */
function readUses(text: string): number | undefined | Problem {
  if (text === "many") return undefined;
  if (text === "single") return 1;
  const count = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= linkUsesMax) return count;
  return new Problem(`uses is single, many or a number up to ${linkUsesMax}, not ${text}.`).about(
    "uses",
  );
}

function isUrl(text: string): boolean {
  return text.length <= urlCharactersMax && /^https?:$/.test(URL.parse(text)?.protocol ?? "");
}

async function findLink({ cells }: Session, id: string): Promise<PaymentLink | Problem> {
  const found = isNumericId(id) ? await routeLinks(cells).findById(id) : undefined;
  return found ?? new Problem(`There is no payment link ${id}.`);
}

async function present(session: Session, link: PaymentLink, svgFile: string | undefined) {
  const { config } = session;
  const { linkTokenOf } = await openVault(session);
  const url = `${baseUrlOf(config, config.port)}/pay/${linkTokenOf(link)}`;
  const now = await session.now();
  if (svgFile !== undefined) {
    const fault = await writeFile(svgFile, renderQrSvg(url)).catch((error: unknown) => error);
    if (fault !== undefined) {
      return new Problem(`The file ${svgFile} cannot be written: ${messageOf(fault)}.`);
    }
  }
  const described = { ...makeDescribe(session, now)(link), url };
  return new Report(described, described, renderQrText(url));
}

function makeDescribe({ printDate }: Session, now: Instant) {
  return (link: PaymentLink) => ({
    link: link.id,
    endpoint: link.endpointId,
    amount: printMoney(link.amount),
    description: link.description,
    /** An order that ended unpaid counts as a use until the next buyer needs that use. */
    uses: link.usesMax === undefined ? "many" : `${link.uses.length} of ${link.usesMax}`,
    created: printDate(link.createdAt),
    by: link.createdBy,
    expires: link.expiresAt === undefined ? "never" : printDate(link.expiresAt),
    state: findEnd(link, now) ?? "open",
  });
}
