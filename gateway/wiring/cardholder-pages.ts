/** What cardholders meet, wired together: the pages of 3-D Secure, the way back, and receipts. */
import type { FastifyInstance } from "fastify";
import type { Config } from "../config/config.ts";
import { signFor } from "../merchant-api/control.ts";
import type { Log } from "../observability/log.ts";
import type { Order } from "../orders/order.ts";
import { addReceiptRoutes } from "../pages/cardholder/receipts.ts";
import { addCardholderRoutes } from "../pages/cardholder/routes.ts";
import type { Look } from "../pages/design.ts";
import { openLook } from "../pages/operator-look.ts";
import type { LiveConfiguration } from "../storage/live-configuration.ts";
import { type Clock, makePrintDate } from "../values/time.ts";
import { type BrowserReturn, browserReturnOf } from "../views/result.ts";
import type { BrowserAuthentication, ReceiptServices } from "./services.ts";

export type CardholderDependencies = {
  readonly config: Config;
  readonly log: Log;
  readonly clock: Pick<Clock, "now">;
  readonly configuration: LiveConfiguration;
  readonly threeds: BrowserAuthentication;
  readonly receipts: ReceiptServices;
};

export function addCardholderPages(
  server: FastifyInstance,
  dependencies: CardholderDependencies,
): void {
  const { config, clock, configuration, threeds, receipts } = dependencies;
  const { pathWord } = config;
  const look = lookOf(dependencies);
  addCardholderRoutes(server, { pathWord, threeds, returnOf, look });
  const printDate = makePrintDate(config.zone);
  addReceiptRoutes(server, { pathWord, receipts, look, printDate, clock });

  function returnOf(order: Order): BrowserReturn {
    const { merchant } = configuration.getEndpoint(order.endpointId);
    const sign = (text: string) => signFor(merchant, text);
    return browserReturnOf(order, { sign, merchantName: merchant.name });
  }
}

function lookOf({ config, log }: CardholderDependencies): Look {
  const file = config.pageLogoFile;
  return openLook({
    name: config.pageName,
    host: URL.parse(config.baseUrl)?.host ?? "",
    accent: config.pageAccent,
    logoFile: file,
    onBadLogo: (cause) => log("page.logo_unusable", { file, cause }),
  });
}
