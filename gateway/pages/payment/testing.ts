/** Parts that several tests of this folder use: a payment page over HTTP, and payments with it. */
import { findSubmissionFaults } from "../../engine/page-submission.ts";
import { serveRoutes } from "../../http/testing.ts";
import type { Merchant } from "../../orders/merchant.ts";
import { inStage } from "../../orders/testing.ts";
import { Failure } from "../../values/failure.ts";
import { asMerchantId } from "../../values/ids.ts";
import { getCurrency } from "../../values/iso-codes.ts";
import { Money } from "../../values/money.ts";
import { Secret } from "../../values/secret.ts";
import { asInstant } from "../../values/time.ts";
import { plainTheme, type Theme } from "../design.ts";
import { makeAssets } from "./assets.ts";
import type { Entered } from "./form-fields.ts";
import type { PaymentView } from "./payment-page.ts";
import { readViolations } from "./policy-reports.ts";
import { type Payable, paymentRoutes, type ShownPage } from "./routes.ts";

const now = asInstant(Date.UTC(2026, 10, 16));

export const shop: Merchant = {
  id: asMerchantId("7"),
  login: "acme",
  name: "Acme",
  controlKey: new Secret("key"),
  cell: "main",
  enabled: true,
  oauthKeys: [],
  settings: {},
};

export const plainView: PaymentView = {
  shop: { name: "Harbour Coffee" },
  kind: "sale",
  amount: new Money(4890n, getCurrency("EUR")),
  description: "Two bags of coffee",
  wanted: [],
  needsCvv: true,
  secondsLeft: 1800,
};

export const filled: Readonly<Record<string, string>> = {
  "cc-number": "4111 1111 1111 1111",
  "cc-exp-month": "4",
  "cc-exp-year": "2030",
  "cc-csc": "123",
  "cc-name": "Anna Example",
};

/** Serves the page at `/pay/t0ken`. Returns a function that posts the form, and the payments. */
export function servePage(
  t: { after(clean: () => unknown): void },
  view: PaymentView = plainView,
  result: Awaited<ReturnType<Payable["pay"]>> = { goTo: "t0ken" },
  assets = makeAssets(),
  theme: Theme = plainTheme,
) {
  const paid: (Entered & ShownPage)[] = [];
  const reported: string[] = [];
  const pay = async (entered: Entered, page: ShownPage) => {
    paid.push({ ...entered, ...page });
    return result;
  };
  const asked = { ...view, order: inStage("awaiting_card") };
  const findFaults = (entered: Entered) => findSubmissionFaults(asked, entered, now);
  const found = { merchant: shop, view, findFaults, pay };
  const server = serveRoutes(t, {
    routes: paymentRoutes({
      find: async (token) => {
        if (token === "gone") return { goTo: "../gw/form/redirect/1/2" };
        if (token === "away") return new Failure("storage_unavailable");
        return token === "t0ken" ? found : undefined;
      },
      assets,
      theme,
      operator: "Harbour Payments",
      addressOf: () => "192.0.2.7",
      takeReport: ({ body }) =>
        reported.push(...readViolations(body).map((each) => `${each.directive} ${each.blocked}`)),
      isTooFast: ({ headers }) => headers["user-agent"] === "Flood/1",
      findCode: async (token) => {
        if (token === "away") return new Failure("storage_unavailable");
        return token === "l1nk" ? "<svg/>" : undefined;
      },
    }),
  });
  const post = (
    fields: Readonly<Record<string, string>>,
    url = "/pay/t0ken",
    headers: Readonly<Record<string, string>> = {},
  ) =>
    server.inject({
      method: "POST",
      url,
      payload: new URLSearchParams(fields).toString(),
      headers: {
        "content-type": "application/x-www-form-urlencoded",
        "user-agent": "Test/1",
        ...headers,
      },
    });
  return { server, post, paid, reported };
}
