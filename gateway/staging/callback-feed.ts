/**
 * The demonstration merchant's callbacks for a developer's machine without a public address, for
 * `gw callback listen` and `gw certify`, and an issuer that charges a payment back. The
 * merchant signs each request with its control key. The gateway's own delivery does not depend on
 * it.
 */
import { randomUUIDv7 } from "node:crypto";
import { FormFault, parseForm } from "@tollgate/protocols/form";
import { demonstrationLogin } from "../administration/merchants/merchant-set.ts";
import type { HttpReply, HttpRequest, HttpRoute } from "../http/router.ts";
import { findSigner } from "../merchant-api/control.ts";
import type { OrderEvent } from "../orders/events.ts";
import type { Order } from "../orders/order.ts";
import { initialOf } from "../orders/transactions.ts";
import { Failure } from "../values/failure.ts";
import { asOrderId, asSerialNumber, type MerchantId } from "../values/ids.ts";
import { asInstant, later } from "../values/time.ts";
import type { StagingParts } from "./parts.ts";

type Node = Parameters<NonNullable<StagingParts["routes"]>>[0];

/**
 * The time by which a list begins earlier, because commits end out of order. A listener recognises
 * the callbacks that it already has, and misses none.
 */
const overlapMs = 30_000;
const listedMax = 1_000;
const addressCharactersMax = 2_000;

/**
 * The operations: list the results since a moment, write the request of one of them, and charge a
 * payment back.
 */
export function callbackFeedRoutes(node: Node): readonly HttpRoute[] {
  const { clock, callbacks, findMerchant, report } = node;
  return [
    {
      method: "POST",
      path: "/sandbox/callbacks",
      async answer(request) {
        const { login, since = "", control } = readFields(request);
        const merchantId = findOwner({ login, control }, [since]);
        if (merchantId === undefined) return refused;
        const now = clock.now();
        const from = /^\d{1,15}$/.test(since) ? asInstant(Number(since)) : now;
        const found = await callbacks.find(
          { merchantId, since: later(from, -overlapMs) },
          listedMax,
        );
        const listed = found.map(({ order, sequence }) => ({ order, sequence }));
        return answerJson({ now, callbacks: listed });
      },
    },
    {
      method: "POST",
      path: "/sandbox/callbacks/:order/:sequence",
      async answer(request) {
        const [orderId = "", sequence = ""] = request.params;
        const { login, to = "", control } = readFields(request);
        const merchantId = findOwner({ login, control }, [orderId, sequence, to]);
        if (merchantId === undefined) return refused;
        if (!/^[1-9]\d{0,17}$/.test(orderId) || !/^[1-9]\d{0,5}$/.test(sequence)) return unknown;
        if (to !== "" && !isAddress(to)) return refused;
        const key = { merchantId, orderId, sequence: Number(sequence) };
        const written = await callbacks.write(key, (own) => (to === "" ? own : moveTo(to, own)));
        return written === undefined ? unknown : answerJson(written);
      },
    },
    {
      method: "POST",
      path: "/sandbox/chargebacks/:order",
      async answer(request) {
        const [id = ""] = request.params;
        const { login, control } = readFields(request);
        const merchantId = findOwner({ login, control }, ["chargeback", id]);
        if (merchantId === undefined) return refused;
        if (!/^[1-9]\d{0,17}$/.test(id)) return unknown;
        const key = { merchantId, orderId: asOrderId(id) };
        const find = () => callbacks.findOrder(key);
        const reported = await report(find, async (order) => chargeBack(order));
        const isDone = !(reported instanceof Failure) && reported?.chargebacks !== undefined;
        return isDone ? answerJson({}) : unknown;
      },
    },
  ];

  /** Charges back the whole amount of an approved payment, once. */
  function chargeBack(order: Order): OrderEvent | undefined {
    const { id, purchase, chargebacks } = order;
    const isApproved = initialOf(order).stage === "approved";
    if (!isApproved || chargebacks !== undefined) return undefined;
    const { amount } = purchase;
    const stage = { caseId: `SANDBOX-${id}`, stage: "first", reason: "10.4 fraud" } as const;
    const told = { at: clock.now(), serialNumber: asSerialNumber(randomUUIDv7()) };
    return { kind: "charged_back", chargeback: { ...stage, amount, ...told }, notify: true };
  }

  /**
   * Only the demonstration merchant gets callbacks here. Requests of all others are refused, even
   * with a valid signature.
   */
  function findOwner(
    { login, control = "" }: Fields,
    signed: readonly string[],
  ): MerchantId | undefined {
    const merchant = login === demonstrationLogin ? findMerchant(login) : undefined;
    if (merchant === undefined) return undefined;
    const text = ["callbacks", login, ...signed].join("/");
    return findSigner(merchant, text, control) === undefined ? undefined : merchant.id;
  }
}

type Fields = Readonly<Record<string, string | undefined>>;

function readFields({ body }: HttpRequest): Fields {
  const form = parseForm(body);
  return form instanceof FormFault ? {} : Object.fromEntries(form.pairs);
}

function isAddress(text: string): boolean {
  return text.length <= addressCharactersMax && /^https?:$/.test(URL.parse(text)?.protocol ?? "");
}

/** Returns the developer's address with the query of the order's own address. */
function moveTo(to: string, own: string): string {
  const [address = ""] = to.split("#");
  const query = URL.parse(own)?.search.slice(1) ?? "";
  if (query === "") return address;
  return `${address}${address.includes("?") ? "&" : "?"}${query}`;
}

function answerJson(content: object, status = 200): HttpReply {
  const headers = { "content-type": "application/json", "cache-control": "no-store" };
  return { status, headers, body: JSON.stringify(content) };
}

const refused = answerJson({ error: "the demonstration merchant has not signed this" }, 403);
const unknown = answerJson({ error: "there is no such callback" }, 404);
