/**
 * Makes the portal's routes: every handler of its API, the description of the API, and the front
 * end.
 */
import type { HttpRoute } from "../http/router.ts";
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
import { portalPageRoutes } from "./pages.ts";
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
  ViewOptions &
  PipelineOptions;

type Made = "guard" | "newDevice" | "isDevice" | "onSignIn" | "origin" | "now" | "onFailed";

type Options = Omit<Handled, Made> &
  SignInOptions & {
    readonly clock: Pick<Clock, "now">;
    readonly recordSignIn: Parameters<typeof makeRecordSignIn>[0]["write"];
    /** The sandbox's handlers, in staging only. */
    readonly sandbox: SandboxHandlers | undefined;
    /** The folder of the built front end. */
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
    ...given.sandbox,
  };
  return [
    ...portalApiRoutes(handlers, options),
    openApiRoute(Object.keys(handlers), async () => (await loadActions()).describeSchemas()),
    ...portalPageRoutes(given.frontEnd),
  ];
}
