/**
 * Parts that several tests of this folder use: orders in each step, and a server with one order.
 */
import { clientAddressOf, makeIsTrusted } from "../../http/client-network.ts";
import type { HttpRequest } from "../../http/router.ts";
import { serveRoutes } from "../../http/testing.ts";
import type { PendingStep } from "../../orders/authentication.ts";
import type { Order } from "../../orders/order.ts";
import type {
  BrowserAuthentication,
  MethodUpload,
  PaResUpload,
} from "../../threeds/browser-steps.ts";
import { Failure } from "../../values/failure.ts";
import { asInstant, makePrintDate } from "../../values/time.ts";
import { browserReturnOf } from "../../views/result.ts";
import { plainTheme, type Theme } from "../design.ts";
import { type Receipts, receiptRoute } from "./receipts.ts";
import { cardholderRoutes } from "./routes.ts";

const redirectTo = "https://pay.example/gw/form/redirect/42000001/t0ken";
export const onward = "../../redirect/42000001/t0ken";

export const method: PendingStep = {
  kind: "method",
  redirectTo,
  transactionId: "id-1",
  methodUrl: "http://acs.example:8090/m",
  methodData: "b3du",
  framedMethodData: "ZnJhbWVk",
};
export const challenge: PendingStep = {
  kind: "challenge",
  redirectTo,
  acsUrl: "https://acs.example/c",
  creq: "Y3JlcQ",
  creqFor: (size: string) => `Y3JlcQ-${size}`,
};
export const pares: PendingStep = {
  kind: "pares",
  redirectTo,
  acsUrl: "https://acs.example/p",
  pareq: "eJx+/=",
  md: "m-1",
  termUrl: "https://pay.example/gw/form/pares/42000001/t0ken",
};

export type Journey = {
  readonly order: Order | Failure;
  readonly step?: PendingStep;
  readonly merchantName?: string;
  readonly refusal?: Failure;
  readonly theme?: Theme;
  /** The network of trusted proxies. The tests connect from this machine. */
  readonly proxy?: string;
};

export function linkOf(page: string): string {
  return `/gw/form/${page}/42000001/t0ken`;
}

export function serve(t: { after(clean: () => unknown): void }, journey: Journey) {
  const { order, step, refusal, merchantName = "Shop" } = journey;
  const taken: (string | MethodUpload | PaResUpload)[] = [];
  const take = async (found: Order, upload: (typeof taken)[number]) => {
    taken.push(upload);
    return refusal ?? found;
  };
  const threeds: BrowserAuthentication = {
    find: async (id, token) => {
      return id === "42000001" && token === "t0ken" ? order : undefined;
    },
    stepOf: () => step,
    pathOf: ({ id }) => `gw/form/redirect/${id}/t0ken`,
    uploadMethod: take,
    uploadChallenge: take,
    uploadPares: take,
  };
  const sign = (text: string) => `signed:${text}`;
  const returnOf = (final: Order) => browserReturnOf(final, { sign, merchantName });
  const { theme = plainTheme } = journey;
  const payPageOf = ({ id }: Order) => `https://pay.example/pay/${id}.pr00f`;
  const embedOriginsOf = ({ page }: Order) => (page ? ["https://shop.example"] : []);
  const receipts: Receipts = {
    find: async (endpointId, receiptId) => {
      if (endpointId !== "1001" || receiptId !== "814660") return undefined;
      return order instanceof Failure ? order : { order, merchantName };
    },
  };
  const printDate = makePrintDate("UTC");
  const clock = { now: () => asInstant(0) };
  const isTrusted = makeIsTrusted([journey.proxy ?? "127.0.0.1/32"]);
  const addressOf = (request: HttpRequest) =>
    clientAddressOf(request, isTrusted, "x-forwarded-for");
  const server = serveRoutes(t, {
    routes: [
      ...cardholderRoutes({ pathWord: "gw", threeds, returnOf, theme, payPageOf, embedOriginsOf }),
      receiptRoute({ pathWord: "gw", receipts, theme, printDate, clock, addressOf }),
    ],
  });
  return { server, taken };
}
