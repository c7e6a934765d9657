/**
 * The routes that walleta needs at the payment page's origin: one from which the page's script
 * requests the merchant session of the payment sheet, and a file by which walleta verifies the
 * domain.
 */
import { FormFault, parseForm } from "@tollgate/protocols/form";
import type { HttpReply, HttpRequest, HttpRoute } from "../../http/router.ts";
import type { Merchant } from "../../orders/merchant.ts";
import { Failure } from "../../values/failure.ts";
import { isDomainFileName } from "../../values/ids.ts";
import type { FindPayable, PaymentRouteOptions } from "./routes.ts";

export type WalletRouteOptions = Pick<PaymentRouteOptions, "isTooFast"> & {
  readonly find: FindPayable;
  /** Returns walleta's session as JSON that only the browser reads; undefined if it is refused. */
  readonly askSession: (
    merchant: Merchant,
    asked: { readonly url: string; readonly shopName: string },
  ) => Promise<string | undefined>;
  readonly findFile: (name: string) => Promise<string | Failure | undefined>;
};

export function walletRoutes(options: WalletRouteOptions): readonly HttpRoute[] {
  async function askSession(request: HttpRequest): Promise<HttpReply> {
    const [token = "", word] = request.params;
    if (word !== "wallet-session") return plain(404);
    if (options.isTooFast(request)) return plain(429);
    const found = await options.find(token, request);
    if (found instanceof Failure) return plain(503);
    const isOffered =
      found !== undefined &&
      "pay" in found &&
      found.view.wallets?.some(({ wallet }) => wallet === "walleta");
    if (!isOffered) return plain(404);
    const form = parseForm(request.body);
    const url = form instanceof FormFault ? "" : (new Map(form.pairs).get("url") ?? "");
    const asked = { url, shopName: found.view.shop.name };
    const session = await options.askSession(found.merchant, asked);
    return session === undefined ? plain(502) : { status: 200, headers: json, body: session };
  }

  async function showFile({ params: [name = ""] }: HttpRequest): Promise<HttpReply> {
    const content = isDomainFileName(name) ? await options.findFile(name) : undefined;
    if (content instanceof Failure) return plain(503);
    return content === undefined ? plain(404) : plain(200, content);
  }

  return [
    { method: "POST", path: "/pay/:token/:word", answer: askSession },
    { method: "GET", path: "/.well-known/:name", answer: showFile },
  ];
}

const guards = { "cache-control": "no-store", "x-content-type-options": "nosniff" };
const json = { "content-type": "application/json", ...guards };

function plain(status: number, body = ""): HttpReply {
  return { status, headers: { "content-type": "text/plain; charset=utf-8", ...guards }, body };
}
