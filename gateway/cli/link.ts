/**
 * `gw link`: payment links. A link is stored in the merchant's cell; its URL is computed from the
 * vault's key and stored nowhere.
 */
import { randomInt } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { type Command, Option } from "commander";
import { makeFindAddressFault } from "../callbacks/addresses.ts";
import { baseUrlOf } from "../config/config.ts";
import { findEnd, linkUsesMax, type PaymentLink } from "../orders/payment-link.ts";
import { readDatabaseTime } from "../storage/database-clock.ts";
import { routeLinks } from "../storage/payment-links.ts";
import { asLinkId, isNumericId } from "../values/ids.ts";
import { getCurrency } from "../values/iso-codes.ts";
import { formatAmount, isZero, type Money, parseAmount } from "../values/money.ts";
import { messageOf, Problem } from "../values/problem.ts";
import { renderQrSvg, renderQrText } from "../values/qr-code.ts";
import { type Instant, makePrintDate } from "../values/time.ts";
import { addCommands, type Output, print, type Session } from "./command.ts";
import { findEndpoint } from "./endpoint.ts";
import { openVault, readConfiguration } from "./installation.ts";
import { findMerchant } from "./merchant-set.ts";
import { expiresOption, readMoment } from "./options.ts";

/** Fifteen digits: a typing error does not lead to another link. */
const [idMin, idMax] = [10 ** 14, 10 ** 14 + 2 ** 47];
const urlCharactersMax = 1024;
const descriptionForm = /^\P{Cc}{1,500}$/u;

export function addLinkCommands(link: Command): void {
  const svg = new Option("--svg <file>", "write the QR code to this file");
  const create = [
    new Option("--endpoint <id>", "the endpoint that is paid to").makeOptionMandatory(),
    new Option("--amount <amount>", "what is to be paid").makeOptionMandatory(),
    new Option("--currency <code>", "the endpoint's currency").makeOptionMandatory(),
    new Option("--description <text>", "what is bought, as the payment page shows it"),
    new Option(
      "--uses <single|many|n>",
      `how often it can be paid: once, any number of times, or 2 to ${linkUsesMax} times`,
    ).default("single"),
    expiresOption,
    new Option("--return-url <url>", "where the cardholder's browser goes afterwards"),
    new Option("--callback-url <url>", "where the results of its orders are sent"),
    svg,
  ];
  const limit = new Option("--limit <n>", "so many, the latest first").default("100");
  const merchant = new Option("--merchant <login>", "only of one merchant");
  // biome-ignore format: a table
  addCommands(link, [
    ["create",       "create a payment link; prints its URL and its QR code",     createLink, create],
    ["list",         "list payment links, the latest first",                      listLinks, [merchant, limit]],
    ["show <link>",  "show a payment link with its URL and its QR code",          showLink, [svg]],
    ["close <link>", "close a payment link: no payment begins with it any more",  closeLink],
  ]);
}

type Given = Partial<Record<string, string>>;

async function createLink(session: Session, given: Given): Promise<Output> {
  const link = await readLink(session, given);
  if (link instanceof Problem) return link;
  const links = routeLinks(session.cells);
  const known = session.once && (await links.findById(link.id));
  if (known) return presentAgain(session, known);
  // Before it happens: a command that is interrupted has left its entry.
  const { uses: _, amount, ...rest } = link;
  const after = { ...rest, amount: printMoney(amount) };
  await session.audit.write({ action: "link create", subject: `link ${link.id}`, after });
  if (session.isTrial || (await links.add(link))) return present(session, link, given["svg"]);
  // The same request, a moment earlier.
  const other = session.once && (await links.findById(link.id));
  return other ? presentAgain(session, other) : new Problem(idTaken);
}

const idTaken = "The id is taken by chance: try again.";

/** The request was sent before: its link is answered, and no other is made. */
async function presentAgain(session: Session, link: PaymentLink): Promise<Output> {
  if (link.createdBy !== session.actor.who) return new Problem(idTaken);
  const subject = `link ${link.id}`;
  await session.audit.write({ action: "link create", subject, after: { repeated: true } });
  return present(session, link, undefined);
}

function newId({ once }: Session): string {
  if (once === undefined) return String(randomInt(idMin, idMax));
  return String(idMin + (Number.parseInt(once.slice(0, 12), 16) % (idMax - idMin)));
}

async function readLink(session: Session, given: Given): Promise<PaymentLink | Problem> {
  const { endpoint: endpointId = "", amount: amountText = "", currency } = given;
  const endpoint = findEndpoint(await readConfiguration(session), endpointId);
  if (endpoint instanceof Problem) return endpoint;
  if (currency !== endpoint.currency) {
    return new Problem(`The endpoint ${endpointId} takes ${endpoint.currency}, not ${currency}.`);
  }
  const amount = parseAmount(amountText, getCurrency(endpoint.currency));
  if (amount === undefined || isZero(amount) || amountText.length > amountDigitsMax) {
    return new Problem(`${amountText} is no amount in ${endpoint.currency}.`);
  }
  const now = await readDatabaseTime(session.database.query);
  const expires = given["expires"];
  const expiresAt = expires === undefined ? undefined : readMoment(expires, now);
  if (expiresAt instanceof Problem) return expiresAt;
  const usesMax = readUses(given["uses"] ?? "");
  if (usesMax instanceof Problem) return usesMax;
  const description = given["description"] ?? "";
  if (description !== "" && !descriptionForm.test(description)) {
    return new Problem("--description is up to 500 characters, without line ends.");
  }
  const [returnUrl, callbackUrl] = [given["returnUrl"], given["callbackUrl"]];
  const unusable = [returnUrl, callbackUrl].find((url) => url !== undefined && !isUrl(url));
  if (unusable !== undefined) return new Problem(`${unusable} is no http or https URL.`);
  const findFault = makeFindAddressFault(session.config);
  const refused =
    (returnUrl && findFault(returnUrl, "return", [endpoint])) ??
    (callbackUrl && findFault(callbackUrl, "callback", [endpoint]));
  if (refused) return new Problem(`An address of the link cannot be used: ${refused}.`);
  return {
    ...{ id: asLinkId(newId(session)), merchantId: endpoint.merchant.id },
    ...{ endpointId: endpoint.id, amount, description, returnUrl, callbackUrl },
    ...{ createdAt: now, createdBy: session.actor.who, expiresAt, usesMax, uses: [] },
  };
}

/** As the merchant interface has it. */
const amountDigitsMax = 10;

/** Nothing for any number. */
function readUses(text: string): number | undefined | Problem {
  if (text === "many") return undefined;
  if (text === "single") return 1;
  const count = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= linkUsesMax) return count;
  return new Problem(`--uses is single, many or a number up to ${linkUsesMax}, not ${text}.`);
}

function isUrl(text: string): boolean {
  return text.length <= urlCharactersMax && /^https?:$/.test(URL.parse(text)?.protocol ?? "");
}

async function listLinks(session: Session, given: Given): Promise<Output> {
  const { merchant: login, limit = "100" } = given;
  if (!/^[1-9]\d{0,5}$/.test(limit)) return new Problem("--limit is a number from 1.");
  const configuration = await readConfiguration(session);
  const merchant = login === undefined ? undefined : findMerchant(configuration, login);
  if (merchant instanceof Problem) return merchant;
  const { list } = routeLinks(session.cells);
  const found = await list({ merchantId: merchant?.id, limit: Number(limit) });
  const now = await readDatabaseTime(session.database.query);
  const describe = makeDescribe(session, now);
  const logins = new Map(configuration.merchants.map(({ id, login: name }) => [id, name]));
  return found.map((link) => ({ merchant: logins.get(link.merchantId) ?? "", ...describe(link) }));
}

async function showLink(session: Session, id: string, given: Given): Promise<Output> {
  const link = await findLink(session, id);
  return link instanceof Problem ? link : present(session, link, given["svg"]);
}

async function closeLink(session: Session, id: string): Promise<Output> {
  const link = await findLink(session, id);
  if (link instanceof Problem) return link;
  const now = await readDatabaseTime(session.database.query);
  await session.audit.write({ action: "link close", subject: `link ${id}` });
  const isClosed = session.isTrial
    ? link.closedAt === undefined
    : await routeLinks(session.cells).close(link, now);
  return isClosed
    ? { link: id, state: "closed" }
    : new Problem(`The link ${id} was closed before.`);
}

async function findLink({ cells }: Session, id: string): Promise<PaymentLink | Problem> {
  const link = isNumericId(id) ? await routeLinks(cells).findById(id) : undefined;
  return link ?? new Problem(`There is no payment link ${id}: see \`gw link list\`.`);
}

async function present(session: Session, link: PaymentLink, svgFile: string | undefined) {
  const { config } = session;
  const { linkTokenOf } = await openVault(session);
  const url = `${baseUrlOf(config, config.port)}/pay/${linkTokenOf(link)}`;
  const now = await readDatabaseTime(session.database.query);
  if (svgFile !== undefined) {
    const fault = await writeFile(svgFile, renderQrSvg(url)).catch((error: unknown) => error);
    if (fault !== undefined) {
      return new Problem(`The file ${svgFile} cannot be written: ${messageOf(fault)}.`);
    }
  }
  const described = { ...makeDescribe(session, now)(link), url };
  if (session.json) return described;
  print(described);
  return `\n${renderQrText(url)}`;
}

function makeDescribe({ config }: Session, now: Instant) {
  const printDate = makePrintDate(config.zone);
  return (link: PaymentLink) => ({
    link: link.id,
    endpoint: link.endpointId,
    amount: printMoney(link.amount),
    description: link.description,
    /** Those begun: an order that ends unpaid makes room for another. */
    uses: link.usesMax === undefined ? "many" : `${link.uses.length} of ${link.usesMax}`,
    created: printDate(link.createdAt),
    by: link.createdBy,
    expires: link.expiresAt === undefined ? "never" : printDate(link.expiresAt),
    state: findEnd(link, now) ?? "open",
  });
}

function printMoney(amount: Money): string {
  return `${formatAmount(amount)} ${amount.currency.code}`;
}
