/**
 * `GET …/services/transaction-report`: the report of the merchant whose key signed the request, as
 * streamed CSV. It names no endpoint and its reply is no form, so it is no row of the operations,
 * but shares their functions.
 */
import { randomUUIDv7 } from "node:crypto";
import { FormFault, parseForm } from "@tollgate/protocols/form";
import type { HttpReply, HttpRequest, HttpRoute } from "../http/router.ts";
import type { Merchant } from "../orders/merchant.ts";
import { type OpenReport, reportRetryAfterS } from "../report/open-report.ts";
import type { ReportQuery } from "../report/read-page.ts";
import { reportStatuses, reportTypes } from "../report/report.ts";
import { Failure } from "../values/failure.ts";
import { asSerialNumber, type MerchantId } from "../values/ids.ts";
import {
  asInstant,
  hours,
  type Instant,
  instantIn,
  isDay,
  later,
  monthStart,
  seconds,
} from "../values/time.ts";
import { AccessDenied, checkOAuth } from "./control.ts";
import { Fault, type Field, type Fields, optional, type Values } from "./fields.ts";
import type { Sent } from "./operation.ts";
import { collect, type RequestOutcome } from "./pipeline.ts";
import { logAnswer, type RoutesOptions, refuseMethod, replyOf } from "./routes.ts";

export type ReportRouteOptions = Pick<
  RoutesOptions,
  "pathWord" | "wire" | "clock" | "log" | "metrics" | "oauth" | "takeToken"
> & {
  readonly openReport: OpenReport;
  readonly merchants: () => readonly Merchant[];
  readonly isEndpointOf: (endpoint: string, merchant: MerchantId) => boolean;
  readonly zone: string;
  readonly historyKeepMonths: number;
};

/** The path after the operator's word. */
export const reportPath = "-ui/services/transaction-report";
const name = "transaction-report";

const daysMax = 31;

export function reportFields(zone: string) {
  const date = (documentation: string) => dateField(zone, documentation);
  return {
    createdFromDate: date("the earliest beginning of a transaction"),
    createdToDate: date(`the latest beginning, at most ${daysMax} days after createdFromDate`),
    bankFromDate: optional(date("the earliest `gw-processing-date`")),
    bankToDate: optional(date("the latest `gw-processing-date`")),
    transactionTypes: optional(
      listField(
        "types, separated by commas: `reversal` is every return of a charge, `refund` those that " +
          "travelled as a refund, `cancel` a cancelled preauthorisation; all types by default",
        reportTypes,
      ),
    ),
    transactionStatuses: optional(
      listField("statuses, separated by commas; all statuses by default", reportStatuses),
    ),
    endpoints: optional(
      listField("endpoint ids, separated by commas; all endpoints of the merchant by default"),
    ),
  } satisfies Fields;
}

export function reportRoutes(options: ReportRouteOptions): readonly HttpRoute[] {
  const { wire, merchants, openReport } = options;
  const fields = reportFields(options.zone);
  const path = `/${options.pathWord}${reportPath}`;
  const refuse = async (request: HttpRequest) => refuseMethod(request, wire, "GET");
  return [
    { method: "GET", path, answer },
    { method: "*", path, answerEarly: refuse, answer: refuse },
  ];

  async function answer(request: HttpRequest): Promise<HttpReply> {
    const startedAt = performance.now();
    const serialNumber = asSerialNumber(randomUUIDv7());
    const found = await begin(request);
    const outcome = "parts" in found ? begun : { authenticated: false, ...found };
    const handled = { operation: { name }, version: "v4" as const, serialNumber, outcome };
    logAnswer(handled, performance.now() - startedAt, options);
    if ("parts" in found) return { status: 200, headers: reportHeaders, body: "", ...found };
    const reply = replyOf(outcome, serialNumber, request.headers.accept, wire);
    // A program that expects CSV must not read a refusal as one.
    return reply.status === 200 ? { ...reply, status: 400 } : reply;
  }

  /** Checks in the order of every request. Returns the parts of the report or the refusal. */
  async function begin(
    request: HttpRequest,
  ): Promise<Pick<Required<HttpReply>, "parts"> | Refused> {
    const sent = readSent(request.url);
    if (sent instanceof Failure) return { answer: sent };
    const findMerchant = (login: string) => merchants().find((each) => each.login === login);
    const merchant = await findSigner(request, { pairs: [], findMerchant }, options);
    if ("answer" in merchant) return merchant;
    const query = readQuery(sent, merchant);
    if (query instanceof Failure) return { answer: query };
    const parts = await openReport(query);
    if (!(parts instanceof Failure)) return { parts };
    return { answer: parts, retryAfterSeconds: reportRetryAfterS };
  }

  function readQuery(sent: Sent, merchant: Merchant): ReportQuery | Failure {
    const unknown = [...sent.keys()].find((each) => !Object.hasOwn(fields, each));
    if (unknown !== undefined) return new Failure("invalid_parameter", "an unknown parameter");
    const values = readValues(fields, sent);
    if (values instanceof Failure) return values;
    return queryOf(values, merchant, options);
  }
}

export type Refused = Pick<RequestOutcome, "answer" | "retryAfterSeconds">;
type Signed = Omit<Parameters<typeof checkOAuth>[0], "call" | "takesHmac">;

/** Returns the enabled merchant that has signed a query, unless it sends too many. */
export async function findSigner(
  { method, url: target, headers: { authorization }, socket }: HttpRequest,
  { pairs, findMerchant }: Signed,
  { oauth, clock, takeToken }: Pick<RoutesOptions, "oauth" | "clock" | "takeToken">,
): Promise<Merchant | Refused> {
  const findEnabled = (login: string) => {
    const found = findMerchant(login);
    return found?.enabled === true ? found : undefined;
  };
  const call = { method, target, port: socket.localPort ?? 0, authorization };
  const signed = { call, pairs, findMerchant: findEnabled, takesHmac: true };
  const merchant = await checkOAuth(signed, oauth, clock);
  if (merchant instanceof Failure || merchant instanceof AccessDenied) return { answer: merchant };
  const retryAfterSeconds = takeToken(true, merchant.id);
  if (retryAfterSeconds === 0) return merchant;
  return { answer: new Failure("too_many_requests"), retryAfterSeconds };
}

const begun: RequestOutcome = { answer: { type: name, fields: [] }, authenticated: true };

const reportHeaders = {
  "content-type": "text/csv; charset=utf-8; header=present",
  "content-disposition": 'attachment; filename="transaction-report.csv"',
  "cache-control": "no-store",
};

function readSent(url: string): Sent | Failure {
  const [, query = ""] = /\?(.*)$/s.exec(url) ?? [];
  const form = parseForm(Buffer.from(query, "latin1"));
  if (form instanceof FormFault) return new Failure("malformed_request", "malformed query");
  return collect(form.pairs);
}

export function readValues<Request extends Fields>(
  fields: Request,
  sent: Sent,
): Values<Request> | Failure {
  const values: Record<string, unknown> = {};
  for (const [each, field] of Object.entries(fields)) {
    const text = sent.get(each) ?? "";
    if (text === "" && field.necessity === "mandatory") {
      return new Failure("missing_parameter", each);
    }
    const value = text === "" ? undefined : field.read(text);
    if (value instanceof Fault) {
      return new Failure("invalid_parameter", `${each}: ${value.sentence}`);
    }
    values[each] = value;
  }
  // Each value was read by the field of its name.
  return values as Values<Request>;
}

type Bounds = Pick<ReportRouteOptions, "clock" | "historyKeepMonths" | "isEndpointOf">;

function queryOf(
  values: Values<ReturnType<typeof reportFields>>,
  { id: merchantId }: Merchant,
  { clock, historyKeepMonths, isEndpointOf }: Bounds,
): ReportQuery | Failure {
  const { createdFromDate: from, createdToDate: to, bankFromDate, bankToDate, endpoints } = values;
  const refuse = (sentence: string) => new Failure("invalid_parameter", sentence);
  if (from.instant > to.instant) return refuse("createdFromDate: after createdToDate");
  if (to.shownMs - from.shownMs > hours(24 * daysMax)) {
    return refuse(`createdToDate: more than ${daysMax} days after createdFromDate`);
  }
  const kept = monthStart(clock.now(), -historyKeepMonths);
  if (historyKeepMonths > 0 && from.instant < kept) {
    return refuse(`createdFromDate: the history is kept for ${historyKeepMonths} months`);
  }
  const isOwn = (endpoint: string) => isEndpointOf(endpoint, merchantId);
  if (endpoints?.every(isOwn) === false) return new Failure("unknown_endpoint");
  return {
    merchantId,
    from: from.instant,
    until: endOf(to),
    bankFrom: bankFromDate?.instant,
    bankUntil: bankToDate && endOf(bankToDate),
    types: values.transactionTypes,
    statuses: values.transactionStatuses,
    endpoints,
  };
}

type ShownDate = {
  readonly instant: Instant;
  /** The clock on the wall, by which days are counted: a month with a change of clocks is whole. */
  readonly shownMs: number;
};

/** The last second counts as a whole. */
function endOf({ instant }: ShownDate): Instant {
  return later(instant, seconds(1));
}

function dateField(zone: string, documentation: string): Field<ShownDate> {
  const form = /^(\d{4}-\d\d-\d\d) ((?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d)$/;
  return {
    type: "19/String",
    necessity: "mandatory",
    documentation: `${documentation}, as \`YYYY-MM-DD HH:MM:SS\``,
    read(text) {
      const [, day = "", time = ""] = form.exec(text) ?? [];
      const shown = `${day}T${time}`;
      const instant = isDay(day) ? instantIn(zone, shown) : undefined;
      const shownMs = instantIn("UTC", shown) ?? asInstant(0);
      return instant === undefined ? new Fault("not YYYY-MM-DD HH:MM:SS") : { instant, shownMs };
    },
  };
}

const listItemsMax = 1_000;

function listField(documentation: string, words?: readonly string[]): Field<readonly string[]> {
  return {
    type: "4096/String",
    necessity: "mandatory",
    documentation: words === undefined ? documentation : `${documentation} (${words.join(", ")})`,
    read(text) {
      const items = text.split(",").map((item) => item.trim());
      if (items.length > listItemsMax) return new Fault(`more than ${listItemsMax} items`);
      const isKnown = (item: string) => words?.includes(item) ?? /^\d{1,18}$/.test(item);
      const allowed = words === undefined ? "endpoint ids" : words.join(", ");
      return items.every(isKnown) ? items : new Fault(`not a list of ${allowed}`);
    },
  };
}
