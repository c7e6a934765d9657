/** Builds the portal: its API over the system of record, and the pages of its front end. */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { baseUrlOf } from "../config/config.ts";
import { partsOf } from "../config/settings.ts";
import { makeIsTrusted } from "../http/client-network.ts";
import type { HttpRoute } from "../http/router.ts";
import { accountHandlers } from "../portal-api/account.ts";
import { codeHandlers, passkeyHandlers } from "../portal-api/factors.ts";
import { openApiRoute } from "../portal-api/openapi.ts";
import { portalPageRoutes } from "../portal-api/pages.ts";
import { portalApiRoutes } from "../portal-api/pipeline.ts";
import { makeGuard } from "../portal-api/sign-in.ts";
import { makeAccountStore, makeSessionStore, makeSignInTries } from "../storage/accounts.ts";
import { isUnavailable } from "../storage/faults.ts";
import { makeFactorStore } from "../storage/second-factors.ts";
import { findPasswordFault, hashPassword, isPassword } from "../vault/password.ts";
import {
  digestRecoveryCode,
  findTotpStep,
  newRecoveryCodes,
  newTotpSecret,
  showTotp,
} from "../vault/totp.ts";
import type { Resources } from "./resources.ts";

const builtPortal = join(import.meta.dirname, "../../portal/dist");

type Dependencies = Resources & {
  /** The port is known when the gateway listens. */
  readonly port: () => number;
};

export function portalRoutes(dependencies: Dependencies): readonly HttpRoute[] {
  const { config, clock, log } = dependencies;
  const origin = () => new URL(baseUrlOf(config, dependencies.port())).origin;
  const access = openAccess(dependencies);
  const options = { ...access, origin };
  const handlers = {
    ...{ ...accountHandlers(options), ...codeHandlers(options), ...passkeyHandlers(options) },
  };
  const sessions = makeSessionStore(access.stored);
  return [
    ...portalApiRoutes(handlers, {
      ...{ origin, isProduction: access.isProduction, now: clock.now, isUnavailable },
      isTrusted: makeIsTrusted(partsOf(config.trustedProxies)),
      proxyHeader: config.proxyHeader,
      findSession: (digest) => sessions.find(digest, clock.now()),
      touchSession: sessions.touch,
      isDevice: access.isDevice,
      onFailed: (route, error) => log("portal.request_failed", { route, err: error }),
    }),
    openApiRoute(),
    ...portalPageRoutes(builtPortal),
  ];
}

/** Sessions and counts of tries that are over. */
export function makeDeleteExpired(resources: Resources): () => Promise<void> {
  const sessions = makeSessionStore(storedAccess(resources));
  return () => sessions.deleteExpired(resources.clock.now());
}

function storedAccess({ config, database, auditAs }: Resources) {
  const { portalIdleMs: idleMs, portalSessionMs: sessionMs } = config;
  return { query: database.query, auditAs, hashPassword, idleMs, sessionMs };
}

/** Who may sign in, and with what. */
function openAccess(resources: Resources) {
  const { config, vault, log, database, auditAs } = resources;
  const stored = storedAccess(resources);
  const deviceText = (login: string, id: string) => `portal-device/${login.toLowerCase()}/${id}`;
  return {
    stored,
    isProduction: config.environment === "production",
    accounts: makeAccountStore(stored),
    factors: makeFactorStore({
      ...{ query: database.query, auditAs, newSecret: newTotpSecret, findStep: findTotpStep },
      ...{ seal: vault.sealSecret, open: vault.openSecret },
      show: (secret, login) => showTotp(secret, config.pageName || "Tollgate", login),
      ...{ newCodes: newRecoveryCodes, digestCode: digestRecoveryCode },
    }),
    guard: makeGuard({ tries: makeSignInTries(database.query), isPassword }),
    findPasswordFault: (...given: Parameters<typeof findPasswordFault>) =>
      findPasswordFault(...given)?.sentence,
    newDevice(login: string) {
      const id = randomBytes(12).toString("hex");
      return `${id}.${vault.tokenOf(deviceText(login, id))}`;
    },
    isDevice(login: string, device: string) {
      const [id = "", token = ""] = device.split(".");
      return id !== "" && vault.isToken(deviceText(login, id), token);
    },
    onSignIn: (login: string, outcome: "signed_in" | "refused", network: string) =>
      outcome === "signed_in"
        ? log("portal.signed_in", { login, network })
        : log("portal.sign_in_refused", { login, network }),
  };
}
