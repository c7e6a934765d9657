/**
 * A gateway in memory, without database and bank, for the examples in the documents: requests go
 * through the real checks and become real orders, so that no example can be wrong. Time stands
 * still in it and every bank says yes.
 */
import { makeScreen } from "../../gateway/filters/screen.ts";
import { makeAdvance } from "../../gateway/orders/advance.ts";
import type { Deadlines } from "../../gateway/orders/deadlines.ts";
import type { Endpoint, EntryPoint, Merchant } from "../../gateway/orders/merchant.ts";
import type { Order } from "../../gateway/orders/order.ts";
import type { Services } from "../../gateway/services.ts";
import { makeLookUp3ds } from "../../gateway/threeds/look-up-3ds.ts";
import { Failure } from "../../gateway/values/failure.ts";
import {
  asEndpointId,
  asGateId,
  asGroupId,
  asMerchantId,
  asOrderId,
  asReceiptId,
} from "../../gateway/values/ids.ts";
import { Secret } from "../../gateway/values/secret.ts";
import { asInstant, type Clock, makePrintDate, minutes } from "../../gateway/values/time.ts";
import { makeAccept } from "../../gateway/work/accept.ts";

export const sampleBaseUrl = "https://gateway.example";
export const sampleControlKey = "B6C1FA06-4E44-4B3F-9D44-2E0C5A7F9D31";

const now = asInstant(Date.UTC(2027, 2, 14, 9, 26, 53));
export const sampleClock: Clock = { now: () => now, after: () => () => undefined };

const merchant: Merchant = {
  id: asMerchantId("1"),
  login: "acme",
  name: "Acme",
  controlKey: new Secret(sampleControlKey),
};

const endpoint: Endpoint = {
  id: asEndpointId("1001"),
  merchant,
  name: "plain",
  currency: "USD",
  gate: {
    id: asGateId("1"),
    descriptor: "ACME*ONLINE",
    shownDescriptor: "ACME*ONLINE",
    terminalId: "10000018",
    partialReversal: true,
    partialCapture: true,
    worksWithoutCvv: false,
  },
  enabled: true,
  settings: { threeDSecure: "off" },
};

export const sampleEndpoint: EntryPoint = { id: endpoint.id, merchant, endpoints: [endpoint] };
export const sampleGroup: EntryPoint = { ...sampleEndpoint, id: asGroupId("1007") };
export const sampleOrderId = "1001734521";

/** Time stands still, so that no deadline is ever near. */
const limitMs = minutes(5);
const sampleDeadlines: Deadlines = {
  stageMs: {
    filtering: limitMs,
    authenticating: limitMs,
    awaiting_method: limitMs,
    awaiting_challenge: limitMs,
    awaiting_pares: limitMs,
    authorizing: limitMs,
    reversing: limitMs,
  },
  leaseMs: limitMs,
  reversalGapsMs: [limitMs],
};

/** The one order that it holds is the last one that was accepted, and is approved at once. */
export function makeSampleGateway(): Services {
  let held: Order | undefined;
  const advance = makeAdvance(sampleDeadlines, {
    screen: makeScreen(() => endpoint),
    look_up_3ds: makeLookUp3ds(() => endpoint),
  });
  const accept = makeAccept({
    advance,
    begin: async () => "done",
    findKnown: async () => [],
    vault: {
      seal: () => ({ keyId: 1, sealed: Buffer.alloc(0), fingerprint: Buffer.alloc(0) }),
      fingerprint: () => ({ bytes: Buffer.alloc(32), hashId: "613942087530214466" }),
      digest: () => Buffer.alloc(32),
    },
    nextOrderId: async () => asOrderId(sampleOrderId),
    carry: {
      start(order) {
        held = approve(order);
      },
      has: () => false,
      count: 0,
      idle: async () => undefined,
    },
    clock: sampleClock,
    inFlightMax: 1,
  });
  return {
    orders: { accept, find: async () => held ?? new Failure("order_not_found") },
    printDate: makePrintDate("UTC"),
  };

  function approve(order: Order): Order {
    const step = advance(
      order,
      {
        kind: "authorized",
        receiptId: asReceiptId("8146609321774035"),
        answer: {
          responseCode: "00",
          approvalCode: "731904",
          networkId: "107073092653001",
          approvedAmount: undefined,
          processedAt: now,
        },
      },
      now,
    );
    if (step instanceof Failure) throw new Error(step.cause);
    return step.order;
  }
}
