/** Makes all routes of the portal: its API, the OpenAPI document of the API, and the front end. */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { makeBuiltFiles, noSuchFile } from "../http/built-files.ts";
import type { HttpReply, HttpRequest, HttpRoute } from "../http/router.ts";
import type { Clock } from "../values/time.ts";
import { type AccountOptions, accountHandlers } from "./account.ts";
import { type AdministrationOptions, administrationHandlers } from "./administration.ts";
import { type CallbackOptions, callbackHandlers, resendHandlers } from "./callbacks.ts";
import {
  type ConfigurationOptions,
  configurationHandlers,
  type GateOptions,
  gateHandlers,
} from "./configuration.ts";
import { codeHandlers, type FactorOptions, passkeyHandlers } from "./factors.ts";
import { type HomeOptions, homeHandlers } from "./home.ts";
import { type LinkHandlerOptions, linkHandlers } from "./links.ts";
import { openApiRoute } from "./openapi.ts";
import { type OrderOptions, orderHandlers, previewHandlers } from "./orders.ts";
import { type PipelineOptions, portalApiRoutes } from "./pipeline.ts";
import { type ReconciliationOptions, reconciliationHandlers } from "./reconciliations.ts";
import { type RequestOptions, requestHandlers } from "./requests.ts";
import type { SandboxHandlers } from "./sandbox-routes.ts";
import { makeDevices, makeGuard, makeRecordSignIn, type SignInOptions } from "./sign-in.ts";
import {
  type ApprovalOptions,
  type AuditOptions,
  approvalHandlers,
  auditHandlers,
  type TeamOptions,
  teamHandlers,
} from "./team.ts";
import { type ReportHandlerOptions, reportHandlers } from "./transaction-report.ts";
import { type ViewOptions, viewHandlers } from "./views.ts";

type Handled = AccountOptions &
  FactorOptions &
  OrderOptions &
  HomeOptions &
  TeamOptions &
  AdministrationOptions &
  LinkHandlerOptions &
  ConfigurationOptions &
  GateOptions &
  CallbackOptions &
  RequestOptions &
  ReconciliationOptions &
  AuditOptions &
  ApprovalOptions &
  ReportHandlerOptions &
  ViewOptions &
  PipelineOptions;

type Made = "guard" | "newDevice" | "isDevice" | "onSignIn" | "origin" | "now" | "onFailed";

type Options = Omit<Handled, Made> &
  SignInOptions & {
    readonly clock: Pick<Clock, "now">;
    readonly recordSignIn: Parameters<typeof makeRecordSignIn>[0]["write"];
    /** Undefined in production, which has no sandbox. */
    readonly sandbox: SandboxHandlers | undefined;
    readonly frontEnd: string;
    readonly log: (
      event: "portal.signed_in" | "portal.sign_in_refused" | "portal.request_failed",
      facts: object,
    ) => void;
  };

export function portalRoutes(given: Options): readonly HttpRoute[] {
  const { clock, log, origins, loadActions } = given;
  const options = {
    ...given,
    ...makeDevices(given),
    guard: makeGuard(given),
    now: clock.now,
    origin: () => origins()[0] ?? "",
    onSignIn: makeRecordSignIn({
      clock,
      onSignedIn: (signIn) => log("portal.signed_in", signIn),
      onRefused: (signIn) => log("portal.sign_in_refused", signIn),
      write: given.recordSignIn,
    }),
    onFailed: (route: string, error: unknown) =>
      log("portal.request_failed", { route, err: error }),
  };
  const handlers = {
    ...accountHandlers(options),
    ...codeHandlers(options),
    ...passkeyHandlers(options),
    ...orderHandlers(options),
    ...homeHandlers(options),
    ...previewHandlers(options),
    ...teamHandlers(options),
    ...administrationHandlers(options),
    ...linkHandlers(options),
    ...configurationHandlers(options),
    ...gateHandlers(options),
    ...callbackHandlers(options),
    ...resendHandlers(options),
    ...requestHandlers(options),
    ...reconciliationHandlers(options),
    ...auditHandlers(options),
    ...approvalHandlers(options),
    ...viewHandlers(options),
    ...reportHandlers(options),
    ...given.sandbox,
  };
  return [
    ...portalApiRoutes(handlers, options),
    openApiRoute(Object.keys(handlers), async () => (await loadActions()).describeSchemas()),
    ...portalPageRoutes(given.frontEnd),
  ];
}

/** In each reply, a new nonce for the content security policy replaces this text of the page. */
const noncePlace = "__NONCE__";

const notBuilt = `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Tollgate portal</title>
<p>The portal is not built on this machine. Its API is described at
<a href="/portal/api/openapi.json">/portal/api/openapi.json</a>.</p>
`;

/**
 * Serves the portal's front end from `folder`. The names in `assets/` contain a hash of the
 * content, so browsers may cache these files for ever. The page is never cached, because its new
 * nonce permits the styles that it makes at run time. Every path of the portal returns the same
 * page.
 */
function portalPageRoutes(folder: string): readonly HttpRoute[] {
  const files = makeBuiltFiles(folder);
  const page = async ({ params: [screen] }: HttpRequest) =>
    screen === "api" ? noSuchFile : pageReply((await files.read("index.html"))?.toString());
  const asset = async (request: HttpRequest) => {
    const [name = ""] = request.params;
    // A name that could lead out of the folder `assets`, such as `..`, is refused.
    if (!/^[\w-][\w.-]*$/.test(name)) return noSuchFile;
    return files.serveImmutable(join("assets", name), request);
  };
  return [
    { method: "GET", path: "/portal", answer: page },
    { method: "GET", path: "/portal/:screen", answer: page },
    { method: "GET", path: "/portal/:screen/:item", answer: page },
    { method: "GET", path: "/portal/assets/:file", answer: asset },
  ];
}

function pageReply(built: string | undefined): HttpReply {
  const nonce = randomBytes(16).toString("base64");
  const policy = [
    ...["default-src 'none'", "script-src 'self'", `style-src 'self' 'nonce-${nonce}'`],
    ...["img-src 'self' data:", "font-src 'self'", "connect-src 'self'", "manifest-src 'self'"],
    ...["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
  ];
  const headers = {
    "content-type": "text/html;charset=utf-8",
    "cache-control": "no-store",
    "content-security-policy": policy.join("; "),
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "publickey-credentials-get=(self), publickey-credentials-create=(self)",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
  };
  if (built === undefined) return { status: 200, headers, body: notBuilt };
  return { status: 200, headers, body: built.replaceAll(noncePlace, nonce) };
}
